/* fuzz_place - the files of a place, as a hostile command leaves them, and the note of a worker.
 *
 * The first byte says how the files are made: as regular ones, or one of them as a link, a FIFO or a folder.
 * Then come the texts of the lock, the status, the output and the errors, each up to a byte of value 1. The
 * second byte chooses a number of a status that is right, and the third what becomes of it; with a second byte
 * of 0 the text is taken as it is.
 *
 * A process that is found there ends, with no more output than may be kept, and no process is signalled for the
 * numbers in its lock: those of us, whose loop this is, live on.
 */
#define _GNU_SOURCE
#include "process.h"
#include "process_place.h"
#include "worker_notes.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

enum { KEPT_MAX = 64, FILES = 4, NUMBERS_OF_STATUS = 8 };

static const char *const names[FILES] = {"lock", "status", "out", "err"};

static const char *const others[] = {"-1",
                                     "",
                                     "0",
                                     "1",
                                     "5",
                                     "6",
                                     "64",
                                     "65",
                                     "255",
                                     "65536",
                                     "2147483648",
                                     "4294967295",
                                     "4611686018427387904",
                                     "9223372036854775807",
                                     "18446744073709551615",
                                     "184467440737095516150",
                                     " ",
                                     "\n",
                                     "x",
                                     "0x10"};

static char root[64], place[80];

/* ---- making ---- */

static void path_of(const char *name, char out[120]) {
    snprintf(out, 120, "%s/%s", place, name);
}

static void make_file(const char *name, int how, const char *bytes, size_t len) {
    char path[120];
    path_of(name, path);
    if (how == 1) {
        CHECK(symlink("/etc/passwd", path) == 0);
    } else if (how == 2) {
        CHECK(mkfifo(path, 0600) == 0);
    } else if (how == 3) {
        CHECK(mkdir(path, 0700) == 0);
    } else if (how != 4) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
        close(fd);
    }
}

/* A status that is right, but for one of its numbers. */
static void make_status(unsigned which, unsigned what, char out[256]) {
    static const char *const right[NUMBERS_OF_STATUS] = {"0", "0", "70", "64", "3", "3", "1", "2"};
    size_t len = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < NUMBERS_OF_STATUS; i++) {
        const char *number =
            i == which ? others[what % (sizeof others / sizeof *others)] : right[i];
        len += (size_t)snprintf(out + len, 256 - len, "%s%c", number,
                                i + 1 < NUMBERS_OF_STATUS ? ' ' : '\n');
    }
}

static void clean(void) {
    char path[120];
    for (int i = 0; i < FILES; i++) {
        path_of(names[i], path);
        remove(path);
    }
    path_of("status.new", path);
    remove(path);
    rmdir(place);
}

/* ---- reading ---- */

static bool ended;

static void on_exit_(void *ctx, const ProcessResult *result) {
    (void)ctx;
    CHECK(result->out.len <= KEPT_MAX && result->err.len <= KEPT_MAX);
    CHECK(result->out_tail.len <= PROCESS_TAIL && result->err_tail.len <= PROCESS_TAIL);
    CHECK(result->out.len <= result->out_len && result->err.len <= result->err_len);
    CHECK(result->end <= PROCESS_FAILED && result->code >= 0);
    CHECK(result->started >= 0 && result->finished >= 0);
    CHECK(!result->damaged || result->end == PROCESS_LOST);
    ended = true;
}

static void parse(const char *text, size_t len) {
    PlaceStatus status;
    pid_t supervisor, child;
    WorkerNote note;
    if (process_place_parse_status(text, len, &status)) {
        CHECK(status.kept[0] <= status.len[0] && status.kept[1] <= status.len[1]);
        CHECK(status.len[0] <= INT64_MAX && status.len[1] <= INT64_MAX);
    }
    if (process_place_parse_lock(text, len, &supervisor, &child)) {
        CHECK(supervisor > 1 && child > 1);
    }
    if (worker_note_parse(text, len, &note)) {
        CHECK(note.pid > 1 && note.starter > 1 && strlen(note.boot) < WORKER_BOOT_MAX);
    }
}

/* One that has never been used would be started: not here. */
static void find(void) {
    static const char *const argv[] = {"true", NULL};
    char path[120];
    struct stat st;
    uv_loop_t loop;
    path_of("lock", path);
    if (lstat(path, &st) != 0 || (st.st_size == 0 && S_ISREG(st.st_mode))) return;
    Error err = ERROR_INIT;
    CHECK(uv_loop_init(&loop) == 0);
    ended = false;
    ProcessOptions options = {
        .place = place, .argv = argv, .max_output = KEPT_MAX, .on_exit = on_exit_};
    Process *p = process_start(&loop, &options, &err);
    CHECK(p || (err.code != ERR_NONE && err.msg[0]));
    if (p) {
        CHECK(process_attached(p) && process_pid(p) == 0);
        process_freeze(p, true);
        process_end(p);
        while (!ended) uv_run(&loop, UV_RUN_ONCE);
        process_free(p);
    }
    while (uv_run(&loop, UV_RUN_NOWAIT)) {}
    CHECK(uv_loop_close(&loop) == 0);
    CHECK(process_stop_place(place, &err) || err.msg[0]);
    for (int i = 1; i <= 2; i++) {
        Buf some = BUF_INIT;
        CHECK(process_place_read_some(place, i - 1, 1, KEPT_MAX, &some) <= KEPT_MAX);
        buf_clear(&some);
    }
}

static void remove_root(void) {
    rmdir(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!root[0]) {
        snprintf(root, sizeof root, "/tmp/fuzz_place.XXXXXX");
        CHECK(mkdtemp(root));
        snprintf(place, sizeof place, "%s/1-1", root);
        atexit(remove_root);
    }
    if (size < 3) return 0;
    const char *at = (const char *)data + 3, *end = (const char *)data + size;
    CHECK(mkdir(place, 0700) == 0);
    for (int i = 0; i < FILES; i++) {
        const char *stop = at < end ? memchr(at, 1, (size_t)(end - at)) : NULL;
        size_t len = (size_t)((stop ? stop : end) - at);
        char status[256];
        int how = data[0] % FILES == i ? data[0] / FILES % 5 : 0;
        parse(at, len);
        if (i == 1 && data[1]) {
            make_status(data[1] % (NUMBERS_OF_STATUS + 1), data[2], status);
            parse(status, strlen(status));
            make_file(names[i], how, status, strlen(status));
        } else {
            make_file(names[i], how, at, len);
        }
        at = stop ? stop + 1 : end;
    }
    find();
    process_forget(place);
    clean();
    return 0;
}
