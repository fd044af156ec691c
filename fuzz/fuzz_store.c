/* fuzz_store - any bytes as the file of a run, and any bytes as the indices beside it.
 *
 * The first two bytes say how long the index is (0: there is none); it follows them, and the rest is
 * the file. With their highest bit there is an index of the log too: two bytes behind the first two say how long, and
 * it follows the index. Whatever is in them: opening, listing, reading, checking and leasing never crash, a
 * checkpoint that is given out has its own number, and going on with the run leaves it readable. Half of the
 * mutations are sealed again with the checksums that they ought to have: otherwise nothing behind those is reached.
 */
#define _GNU_SOURCE /* mkdtemp */
#include "../tests/unit/store_run.h"
#include "crc32c.h"
#include "mem.h"
#include "run_file.h"
#include "store.h"
#include "store_chain.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

static char folder[64], url[96];

static void remove_folder(void) {
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    if (system(line) != 0) {
        fputs("fuzz_store: its folder stays.\n", stderr);
    }
}

/* A store with one run, whose file the cases replace. In memory where there is such a place. */
static void make_store(void) {
    RunRow row;
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/fuzz-XXXXXX" : "/tmp/fuzz-XXXXXX");
    CHECK(mkdtemp(folder));
    snprintf(url, sizeof url, "file:%s/s", folder);
    Store *s = store_open(url, STORE_CREATE, NULL);
    CHECK(s && store_create_run(s, "a", "w", "", &row, NULL));
    run_row_clear(&row);
    store_close(s);
    atexit(remove_folder);
}

static void put_file(const char *name, const uint8_t *data, size_t size) {
    char path[128];
    snprintf(path, sizeof path, "%s/s/runs/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static bool see_row(void *ctx, const RunRow *row) {
    (void)ctx;
    CHECK(row->thread && row->status && row->workflow && row->definition && row->owner);
    return true;
}

static bool see_checkpoint(void *ctx, const Checkpoint *c) {
    int64_t *last = ctx;
    CHECK(c->seq > *last && c->run == 1 && c->node && c->status && c->patch);
    *last = c->seq;
    return true;
}

static bool see_damage(void *ctx, int64_t seq, const Error *err) {
    (void)ctx, (void)seq;
    CHECK(err->code == ERR_DATA);
    return true;
}

static bool see_piece(void *ctx, const LogPiece *piece) {
    int64_t *last = ctx;
    CHECK(piece->n > *last && piece->run == 1 && piece->node && piece->stream < LOG_STREAMS &&
          piece->len <= STORE_PIECE_MAX);
    *last = piece->n;
    return true;
}

static void see_problem(void *ctx, const char *thread, int64_t seq, const char *sentence) {
    (void)ctx, (void)seq;
    CHECK(thread && *sentence);
}

static void read_all(Store *s) {
    Error err = ERROR_INIT;
    RunRow row;
    Checkpoint c;
    CheckReport report;
    CheckHost host = {.problem = see_problem};
    int64_t last = 0;
    CHECK(store_runs(s, see_row, NULL, &err));
    CHECK(store_history(s, 1, 0, see_checkpoint, see_damage, &last, &err));
    last = 0;
    CHECK(store_log(s, &(LogQuery){.run = 1}, see_piece, see_damage, &last, &err));
    last = 0;
    CHECK(store_log(s, &(LogQuery){.run = 1, .node = "n"}, see_piece, see_damage, &last, &err));
    CHECK(chain_check(s, 0, &host, &report, &err));
    if (store_find(s, "a", &row, &err)) {
        json_unref(chain_image(s, 1, row.head, NULL, NULL));
        CHECK(!store_checkpoint(s, 1, row.last, &c, NULL) || c.seq == row.last);
        run_row_clear(&row);
    }
}

/* A checkpoint more, where the run still takes one. */
static void go_on(Store *s) {
    RunRow row;
    Checkpoint c;
    StoreBatch b = STORE_BATCH_INIT;
    if (store_lease(s, 1, NULL) && store_find(s, "a", &row, NULL)) {
        if (row.last < (int64_t)1 << 60) {
            int64_t seq = row.last + 1;
            store_batch_checkpoint(
                &b,
                &(Checkpoint){
                    .run = 1, .seq = seq, .node = "", .status = "x", .patch = "p", .patch_len = 1});
            store_batch_run(&b, 1, seq, "running", 1);
            bool kept = store_commit(s, &b, NULL);
            CHECK(kept);
            /* a log may be out of numbers */
            store_batch_reset(&b);
            LogPiece piece = {.run = 1, .node = "n", .text = "x", .len = 1, .again = seq % 2};
            store_batch_log(&b, &piece);
            store_batch_trim_log(&b, 1, 3);
            store_commit(s, &b, NULL);
            CHECK(store_checkpoint(s, 1, seq, &c, NULL) && c.seq == seq);
        }
        run_row_clear(&row);
    }
    store_batch_clear(&b);
}

/* Where the parts of an input begin. */
typedef struct Parts {
    size_t index, log, file;
} Parts;

static Parts parts_of(const uint8_t *data, size_t size) {
    size_t index = size >= 2 ? (size_t)(data[0] | data[1] << 8) : 0, log = 0;
    size_t skip = size >= 2 ? 2 : 0;
    if (index & 0x8000 && size >= 4) {
        skip = 4;
        log = (size_t)(data[2] | data[3] << 8);
    }
    index &= 0x7FFF;
    index = index <= size - skip ? index : 0;
    log = log <= size - skip - index ? log : 0;
    return (Parts){skip, skip + index, skip + index + log};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!*folder) {
        make_store();
    }
    Parts p = parts_of(data, size);
    put_file("1.run", data + p.file, size - p.file);
    put_file("1.idx", data + p.index, p.log - p.index);
    put_file("1.lgx", data + p.log, p.file - p.log);
    Store *s = store_open(url, STORE_EXISTING, NULL);
    CHECK(s);
    read_all(s);
    go_on(s);
    store_close(s);
    s = store_open(url, STORE_READ, NULL);
    CHECK(s);
    read_all(s);
    store_close(s);
    CHECK(json_heap_bytes() == 0);
    return 0;
}

/* ---- mutations ---- */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
    __attribute__((weak)); /* libFuzzer's */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

static void seal(uint8_t *at, const uint8_t *bytes, size_t len) {
    uint32_t crc = crc32c((const char *)bytes, len);
    memcpy(at, &crc, sizeof crc);
}

/* The records of a file, as far as their lengths lead. */
static void seal_file(uint8_t *file, size_t size) {
    if (size >= RUN_HEAD) seal(file + 12, file, 12);
    for (size_t at = RUN_HEAD; at + RECORD_HEAD <= size && !memcmp(file + at, "PR", 2);) {
        uint32_t len;
        memcpy(&len, file + at + 4, sizeof len);
        size_t end = at + RECORD_HEAD + (size_t)len + 1;
        if (end <= size) {
            seal(file + at + 16, file + at + RECORD_HEAD, len);
            file[end - 1] = RECORD_END;
        }
        seal(file + at + 20, file + at, 20);
        at = end;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    size = LLVMFuzzerMutate(data, size, max);
    Parts p = parts_of(data, size);
    if (seed % 2 || size < 2) return size;
    if (p.log - p.index >= INDEX_HEAD) {
        seal(data + p.index + 48, data + p.index, 48);
        seal(data + p.index + 60, data + p.index + 52, 8);
    }
    seal_file(data + p.file, size - p.file);
    return size;
}
