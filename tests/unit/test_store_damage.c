#define _GNU_SOURCE /* memmem */
/* Stores that something happened to: crashes and errors at every write, flipped and missing bytes,
 * other versions, folders that cannot be written. */
#include "store_fixture.h"
#include "sweep.h"

#include "crc32c.h"

#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>

/* ---- files ---- */

static void read_bytes(const char *path, Buf *out) {
    FILE *file = fopen(path, "rb");
    size_t n;
    assert_non_null(file);
    buf_reset(out);
    while ((n = fread(buf_reserve(out, 65536), 1, 65536, file)) > 0) {
        buf_advance(out, n);
    }
    fclose(file);
}

static void write_bytes(const char *path, const char *bytes, size_t len) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    fclose(file);
}

static void path_in(const Fixture *f, const char *name, char out[256]) {
    snprintf(out, 256, "%s%s", f->path, name);
}

static bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

/* Two runs of n checkpoints in batches of five; closed again. */
static void make_two(const Fixture *f, Tree *a, Tree *b, int64_t n) {
    Store *s = open_store(f, STORE_CREATE);
    tree_init(a, s, "a");
    tree_init(b, s, "b");
    tree_grow(a, n, 5);
    tree_grow(b, n, 5);
    store_close(s);
}

static void clear_two(Tree *a, Tree *b) {
    tree_clear(a);
    tree_clear(b);
}

/* Every image is the one that was put in, or a refusal that says that something is damaged. */
static int64_t expect_right_or_refused(Tree *t, Store *s) {
    int64_t refused = 0;
    for (int64_t seq = 1; seq <= t->last; seq++) {
        Error err = ERROR_INIT;
        Json image = chain_image(s, t->run, seq, NULL, &err);
        if (json_is_none(image)) {
            assert_true(err.code != ERR_NONE && strlen(err.msg) > 20);
            refused++;
        } else {
            assert_true(exactly(image, t->images[seq]));
        }
        json_unref(image);
    }
    return refused;
}

static void expect_all(Tree *t, Store *s) {
    for (int64_t seq = 1; seq <= t->last; seq++) {
        tree_expect(t, s, seq);
    }
}

/* ---- faults: the test is its own child ---- */

/* What the child does, whatever is there already: run `a` gets checkpoints, with a line of output each, in batches of two; every
 * third batch adds one to run `b` as well, and a's image then says how many b has; half way a is
 * pruned. */
enum { GOAL = 12, PRUNE_AT = 8 };

static int complain(const Error *err) {
    fprintf(stderr, "%s\n", err->msg);
    return 7;
}

static void put_image(StoreBatch *b, int64_t run, int64_t seq, Json image) {
    Buf patch = BUF_INIT;
    Json path = json_array(), change = json_array();
    change = json_array_push(change, json_array_push(json_array_push(json_array(), path), image));
    json_encode(change, &patch);
    json_unref(change);
    store_batch_checkpoint(b, &(Checkpoint){.run = run,
                                            .seq = seq,
                                            .parent = seq - 1,
                                            .step = seq,
                                            .at = seq,
                                            .node = "n",
                                            .status = "completed",
                                            .patch = patch.data,
                                            .patch_len = patch.len});
    store_batch_log(
        b, &(LogPiece){
               .run = run, .execution = seq, .at = seq, .node = "n", .text = "line\n", .len = 5});
    store_batch_run(b, run, seq, "running", seq);
    buf_clear(&patch);
}

static void put_next(StoreBatch *batch, const RunRow *a, const RunRow *b) {
    bool both = a->last / 2 % 3 == 2;
    for (int64_t seq = a->last + 1; seq <= a->last + 2; seq++) {
        Json image = json_object_set(json_object(), json_string_c("n"), json_int(seq));
        image = json_object_set(image, json_string_c("b"), json_int(b->last + both));
        put_image(batch, a->run, seq, image);
    }
    if (both) {
        put_image(batch, b->run, b->last + 1, json_int(b->last + 1));
    }
}

/* Does something up to twice: the first time the disk may fail. */
#define TWICE(call) ((call) || (said(&err), (call)))

static void said(Error *err) {
    if (err->code != ERR_IO || !strstr(err->msg, "failed")) {
        fprintf(stderr, "not a clear error: %s\n", err->msg);
        _exit(8);
    }
    error_clear(err);
}

static bool find_or_make(Store *s, const char *thread, RunRow *row, Error *err) {
    Error none = ERROR_INIT;
    if (store_find(s, thread, row, &none)) {
        return store_lease(s, row->run, err);
    }
    run_row_clear(row);
    return store_create_run(s, thread, "w", "", row, err);
}

static bool refresh(Store *s, RunRow *row, Error *err) {
    char *thread = row->thread;
    row->thread = NULL;
    run_row_clear(row);
    bool ok = store_find(s, thread, row, err);
    mem_free(thread);
    return ok;
}

static int fault_child(const char *url, const char *acknowledged) {
    Error err = ERROR_INIT;
    RunRow a = {0}, b = {0};
    StoreBatch batch = STORE_BATCH_INIT;
    int fd = open(acknowledged, O_WRONLY | O_CREAT, 0666);
    Store *s = store_open(url, STORE_CREATE, &err);
    if (!s) {
        said(&err);
        s = store_open(url, STORE_CREATE, &err);
    }
    if (!s || !TWICE(find_or_make(s, "a", &a, &err)) || !TWICE(find_or_make(s, "b", &b, &err))) {
        return complain(&err);
    }
    while (TWICE(refresh(s, &a, &err) && refresh(s, &b, &err)) && a.last < GOAL) {
        store_batch_reset(&batch);
        put_next(&batch, &a, &b);
        if (!TWICE(store_commit(s, &batch, &err)) ||
            pwrite(fd, (int64_t[]){a.last + 2}, 8, 0) != 8) {
            return complain(&err);
        }
        PruneReport report = {0};
        if (a.last + 2 == PRUNE_AT &&
            !TWICE(chain_prune(s, &a, &(PruneRule){.keep_last = 3}, &report, &err))) {
            return complain(&err);
        }
    }
    run_row_clear(&a);
    run_row_clear(&b);
    store_batch_clear(&batch);
    store_close(s);
    close(fd);
    return err.code ? complain(&err) : 0;
}

#ifdef PAWL_FAULTS
/* The exit code of the child, or minus the signal that ended it. */
static int run_child(const Fixture *f, const char *fault) {
    char acknowledged[256];
    int status = 0;
    snprintf(acknowledged, sizeof acknowledged, "%s/acknowledged", f->folder);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("PAWL_FAULT", fault, 1);
        setenv("ASAN_OPTIONS", "detect_leaks=0",
               1); /* of which there are hundreds: it takes long */
        execl("/proc/self/exe", "test", "child", f->url, acknowledged, (char *)NULL);
        _exit(9);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int64_t last_acknowledged(const Fixture *f) {
    char path[256];
    int64_t seq = 0;
    snprintf(path, sizeof path, "%s/acknowledged", f->folder);
    FILE *file = fopen(path, "rb");
    if (file) {
        if (fread(&seq, sizeof seq, 1, file) != 1) {
            seq = 0;
        }
        fclose(file);
    }
    return seq;
}

static void ignore_problem(void *ctx, const char *thread, int64_t seq, const char *sentence) {
    /* the runs of the child have no definition */
    if (!strstr(sentence, "definition")) {
        fail_msg("%s %s@%lld: %s", (const char *)ctx, thread, (long long)seq, sentence);
    }
}

typedef struct Lines {
    const char *fault;
    int64_t first, last;
} Lines;

static bool see_line(void *ctx, const LogPiece *piece) {
    Lines *l = ctx;
    if (piece->len != 5 || (l->last && piece->execution != l->last + 1)) {
        fail_msg("%s: output of %lld follows that of %lld", l->fault, (long long)piece->execution,
                 (long long)l->last);
    }
    l->first = l->first ? l->first : piece->execution;
    l->last = piece->execution;
    return true;
}

/* Each checkpoint has its line, once, but for those that were pruned. */
static void expect_lines(Store *s, const RunRow *row, const char *fault) {
    Lines l = {.fault = fault};
    MUST(store_log(s, &(LogQuery){.run = row->run}, see_line, NULL, &l, &why));
    if (l.last != row->last || (row->last && l.first != 1 && l.first != PRUNE_AT - 2)) {
        fail_msg("%s: output of %lld to %lld, and the last is %lld", fault, (long long)l.first,
                 (long long)l.last, (long long)row->last);
    }
}

/* Together or not at all: a says how many b has. */
static void expect_consistent(const Fixture *f, const char *fault) {
    CheckReport report;
    CheckHost host = {.problem = ignore_problem, .ctx = (void *)(uintptr_t)fault};
    RunRow a, b;
    Error err = ERROR_INIT;
    Store *s = store_open(f->url, STORE_CREATE, &err);
    if (!s) {
        fail_msg("%s: %s", fault, err.msg);
    }
    MUST(chain_check(s, 0, &host, &report, &why));
    if (store_find(s, "a", &a, &err)) {
        assert_true(a.last >= last_acknowledged(f));
        assert_int_equal(a.last % 2, 0);
        assert_int_equal(a.head, a.last);
        expect_lines(s, &a, fault);
        if (a.last && store_find(s, "b", &b, &err)) {
            Json image = chain_image(s, a.run, a.head, NULL, &err);
            if (json_object_get_c(image, "b").i != b.last) {
                fail_msg("%s: a says %lld, b has %lld", fault,
                         (long long)json_object_get_c(image, "b").i, (long long)b.last);
            }
            json_unref(image);
            expect_lines(s, &b, fault);
            run_row_clear(&b);
        }
        run_row_clear(&a);
    } else {
        assert_int_equal(last_acknowledged(f), 0);
    }
    store_close(s);
}

static void expect_done(const Fixture *f) {
    Store *s = open_store(f, STORE_READ);
    RunRow a = find_run(s, "a"), b = find_run(s, "b");
    assert_int_equal(a.last, GOAL);
    assert_int_equal(b.last, GOAL / 2 / 3);
    run_row_clear(&a);
    run_row_clear(&b);
    store_close(s);
}

/* How often the child passes a place. */
static int times_passed(const Fixture *f, const char *place) {
    char path[128], count[160], name[64] = "";
    int passed = 0;
    snprintf(path, sizeof path, "%s/count", f->folder);
    snprintf(count, sizeof count, "count:%s", path);
    assert_int_equal(run_child(f, count), 0);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (strcmp(name, place) && fscanf(file, "%63s %d", name, &passed) == 2) {}
    fclose(file);
    return passed;
}

/* Starts from nothing for each N that there is, or for some of them: all take minutes, and `make crash`
 * has them. A child that met a kill is followed by one that goes
 * on where it was. */
static void at_every(Fixture *f, const char *place, const char *action) {
    bool kills = !strcmp(action, "kill");
    int passed = times_passed(f, place);
    assert_true(passed > 10);
    for (int n = 1, by = getenv("PAWL_TEST_ALL") ? 1 : passed / sweep_of(12, 6) + 1; n <= passed;
         n += by) {
        char fault[64];
        snprintf(fault, sizeof fault, "%s:%s@%d", place, action, n);
        fixture_shell("rm -rf %s/*", f->folder);
        int code = run_child(f, fault);
        if (code != (kills ? -SIGKILL : 0)) {
            fail_msg("%s: the child ended with %d", fault, code);
        }
        if (kills) {
            expect_consistent(f, fault);
            assert_int_equal(run_child(f, ""), 0);
        }
        expect_consistent(f, fault);
        expect_done(f);
    }
}

static void a_kill_at_any_write_loses_nothing(void **state) {
    at_every(*state, "store.write", "kill");
}

static void a_kill_at_any_sync_loses_nothing(void **state) {
    at_every(*state, "store.sync", "kill");
}

static void a_full_disk_at_any_write_is_said_and_can_be_retried(void **state) {
    at_every(*state, "store.write", "enospc");
}

static void an_error_at_any_write_is_said_and_can_be_retried(void **state) {
    at_every(*state, "store.write", "eio");
}

static void a_short_write_anywhere_is_said_and_can_be_retried(void **state) {
    at_every(*state, "store.write", "short");
}

static void an_error_at_any_sync_is_said_and_can_be_retried(void **state) {
    at_every(*state, "store.sync", "eio");
}
#endif

/* ---- flipped bytes ---- */

static void expect_survives(const Fixture *f, Tree *a, Tree *b, bool separate, size_t offset) {
    Error err = ERROR_INIT;
    Store *s = store_open(f->url, STORE_READ, &err);
    RunRow row;
    CheckReport report;
    Problems p = {0};
    CheckHost host = {.problem = note_problem, .ctx = &p};
    if (!s) {
        assert_false(separate);
        assert_true(err.code == ERR_DATA || err.code == ERR_NOT_FOUND || err.code == ERR_IO);
        return;
    }
    if (store_find(s, "a", &row, &err)) {
        if (separate && (row.last != a->last || row.head != a->last)) {
            fail_msg("byte %zu: head %lld, last %lld", offset, (long long)row.head,
                     (long long)row.last);
        }
        run_row_clear(&row);
    }
    int64_t refused = expect_right_or_refused(a, s);
    bool checked = chain_check(s, 0, &host, &report, &err);
    assert_true(!separate || (checked && (!refused || p.count)));
    if (separate) {
        expect_all(b, s);
    } else {
        expect_right_or_refused(b, s);
    }
    store_close(s);
}

static void flip_all(const Fixture *f, const char *path, size_t step, bool separate) {
    Tree a, b;
    Buf bytes = BUF_INIT;
    make_two(f, &a, &b, 20);
    read_bytes(path, &bytes);
    for (size_t i = 0; i < bytes.len; i += step) {
        bytes.data[i] ^= 0x55;
        write_bytes(path, bytes.data, bytes.len);
        expect_survives(f, &a, &b, separate, i);
        bytes.data[i] ^= 0x55;
    }
    write_bytes(path, bytes.data, bytes.len);
    Store *s = open_store(f, STORE_READ);
    expect_all(&a, s);
    expect_sound(s);
    store_close(s);
    buf_clear(&bytes);
    clear_two(&a, &b);
}

static void a_flipped_byte_in_a_run_is_found_and_harms_no_other(void **state) {
    char path[256];
    path_in(*state, "/runs/1.run", path);
    flip_all(*state, path, 1, true);
}

static void a_flipped_byte_in_an_index_harms_nothing(void **state) {
    Fixture *f = *state;
    Tree a, b;
    Buf bytes = BUF_INIT;
    char path[256];
    path_in(f, "/runs/1.idx", path);
    make_two(f, &a, &b, 40);
    read_bytes(path, &bytes);
    for (size_t i = 0; i < bytes.len; i++) {
        bytes.data[i] ^= 0x55;
        write_bytes(path, bytes.data, bytes.len);
        Store *s = open_store(f, STORE_READ);
        RunRow row = find_run(s, "a");
        assert_int_equal(row.last, 40);
        run_row_clear(&row);
        expect_all(&a, s);
        store_close(s);
        bytes.data[i] ^= 0x55;
    }
    buf_clear(&bytes);
    clear_two(&a, &b);
}

static void a_flipped_byte_in_a_database_is_never_taken_for_data(void **state) {
    Fixture *f = *state;
    flip_all(f, f->path, 37, false);
}

static void damage_is_a_sentence_that_names_thread_and_checkpoint(void **state) {
    Fixture *f = *state;
    Tree a, b;
    Buf bytes = BUF_INIT;
    Error err = ERROR_INIT;
    Checkpoint c;
    char path[256];
    path_in(f, !strcmp(f->scheme, "file") ? "/runs/1.run" : "", path);
    make_two(f, &a, &b, 40);
    read_bytes(path, &bytes);
    char *text = memmem(bytes.data, bytes.len, "this is step number 23", 22);
    assert_non_null(text);
    text[20] = '9';
    write_bytes(path, bytes.data, bytes.len);
    Store *s = open_store(f, STORE_EXISTING);
    assert_false(store_checkpoint(s, a.run, 23, &c, &err));
    expect_error(&err, ERR_DATA, "Checkpoint 23 of thread `a` in ");
    expect_error(&err, ERR_DATA, f->url);
    expect_error(&err, ERR_DATA, "its checksum does not match");
    tree_expect(&a, s, 22);
    expect_all(&b, s);
    assert_true(json_is_none(chain_image(s, a.run, 40, NULL, &err)));
    expect_error(&err, ERR_DATA, "Checkpoint 40 cannot be rebuilt: Checkpoint 23 of thread `a`");
    Problems p = {0};
    check_store(s, 0, &p);
    assert_int_equal(p.count, 2);
    assert_int_equal(p.seq, 23);
    assert_string_equal(p.thread, "a");
    /* it can be gone on with from before the damage */
    MUST(store_lease(s, a.run, &why));
    StoreBatch batch = STORE_BATCH_INIT;
    tree_add(&a, &batch, 22, json_int(5), 1);
    MUST(store_commit(s, &batch, &why));
    tree_expect(&a, s, 41);
    store_close(s);
    s = open_store(f, STORE_READ);
    tree_expect(&a, s, 41);
    store_close(s);
    store_batch_clear(&batch);
    buf_clear(&bytes);
    clear_two(&a, &b);
}

/* ---- missing bytes ---- */

static void a_run_cut_off_anywhere_keeps_what_came_before(void **state) {
    Fixture *f = *state;
    Tree a, b;
    Buf bytes = BUF_INIT;
    char path[256], index[256];
    path_in(f, "/runs/1.run", path);
    path_in(f, "/runs/1.idx", index);
    make_two(f, &a, &b, 20);
    unlink(index); /* which would prove that something is missing */
    read_bytes(path, &bytes);
    int64_t before = 0;
    for (size_t len = 0; len <= bytes.len; len++) {
        RunRow row;
        Error err = ERROR_INIT;
        write_bytes(path, bytes.data, len);
        Store *s = open_store(f, STORE_EXISTING);
        if (store_find(s, "a", &row, &err)) {
            assert_int_equal(row.last % 5, 0);
            assert_true(row.last >= before);
            before = row.last;
            for (int64_t seq = 1; seq <= row.last; seq++) {
                tree_expect(&a, s, seq);
            }
            MUST(store_lease(s, row.run, &why)); /* cuts off the rest of a batch */
            run_row_clear(&row);
            expect_sound(s);
        } else {
            assert_int_equal(before, 0);
            expect_error(&err, ERR_DATA, "Thread `a`: The store ");
        }
        expect_all(&b, s);
        store_close(s);
        unlink(index);
    }
    assert_int_equal(before, 20);
    buf_clear(&bytes);
    clear_two(&a, &b);
}

static void a_run_shorter_than_its_index_knows_is_refused(void **state) {
    Fixture *f = *state;
    Tree a, b;
    Buf bytes = BUF_INIT;
    RunRow row;
    Error err = ERROR_INIT;
    char path[256];
    path_in(f, "/runs/1.run", path);
    make_two(f, &a, &b, 20);
    read_bytes(path, &bytes);
    write_bytes(path, bytes.data, bytes.len - 3);
    Store *s = open_store(f, STORE_EXISTING);
    assert_false(store_find(s, "a", &row, &err));
    expect_error(&err, ERR_DATA, "is cut off: it must have had at least");
    assert_false(store_lease(s, 1, &err));
    expect_all(&b, s);
    Problems p = {0};
    check_store(s, 0, &p);
    assert_true(p.count > 0);
    assert_string_equal(p.thread, "a");
    store_close(s);
    buf_clear(&bytes);
    clear_two(&a, &b);
}

static void a_database_cut_off_is_said_to_be(void **state) {
    Fixture *f = *state;
    Tree a, b;
    Buf bytes = BUF_INIT;
    make_two(f, &a, &b, 200);
    read_bytes(f->path, &bytes);
    for (size_t len = 0; len < bytes.len; len += len < 200 ? 7 : 1531) {
        Error err = ERROR_INIT;
        write_bytes(f->path, bytes.data, len);
        Store *s = store_open(f->url, STORE_EXISTING, &err);
        assert_null(s);
        expect_error(&err, len ? ERR_DATA : ERR_NOT_FOUND,
                     len ? "is cut off" : "There is no store");
    }
    buf_clear(&bytes);
    clear_two(&a, &b);
}

static void a_lost_index_is_made_again(void **state) {
    Fixture *f = *state;
    Tree a, b;
    Buf old = BUF_INIT;
    char index[256];
    path_in(f, "/runs/1.idx", index);
    make_two(f, &a, &b, 40);
    assert_true(exists(index));
    read_bytes(index, &old);
    unlink(index);
    Store *s = open_store(f, STORE_EXISTING);
    expect_all(&a, s);
    MUST(store_lease(s, a.run, &why));
    a.s = s;
    tree_grow(&a, 10, 5);
    store_close(s);
    assert_true(exists(index));
    /* one that is too old, one that is cut off, and one of a file that was since written anew */
    write_bytes(index, old.data, old.len);
    s = open_store(f, STORE_EXISTING);
    expect_all(&a, s);
    write_bytes(index, old.data, old.len / 2);
    store_close(s);
    s = open_store(f, STORE_EXISTING);
    expect_all(&a, s);
    RunRow row = find_run(s, "a");
    PruneReport report = {0};
    MUST(chain_prune(s, &row, &(PruneRule){.keep_last = 5}, &report, &why));
    run_row_clear(&row);
    store_close(s);
    write_bytes(index, old.data, old.len);
    s = open_store(f, STORE_EXISTING);
    for (int64_t seq = 46; seq <= 50; seq++) {
        tree_expect(&a, s, seq);
    }
    expect_sound(s);
    store_close(s);
    buf_clear(&old);
    clear_two(&a, &b);
}

/* ---- other versions and other files ---- */

static void run_sql(const char *path, const char *text) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void expect_refused(const Fixture *f, ErrorCode code, const char *part) {
    static const StoreMode modes[] = {STORE_CREATE, STORE_EXISTING, STORE_READ};
    for (int i = 0; i < 3; i++) {
        Error err = ERROR_INIT;
        assert_null(store_open(f->url, modes[i], &err));
        expect_error(&err, code, part);
    }
}

static void a_newer_store_is_refused_with_both_versions(void **state) {
    Fixture *f = *state;
    store_close(open_store(f, STORE_CREATE));
    if (!strcmp(f->scheme, "sqlite")) {
        run_sql(f->path, "PRAGMA user_version=7");
    } else {
        char path[256];
        path_in(f, "/format", path);
        write_bytes(path, "pawl file store, format 7\n", 26);
    }
    expect_refused(f, ERR_DATA,
                   "was written by a newer version of pawl (format 7; this one reads up to 4)");
}

static void an_older_store_is_migrated(void **state) {
    Fixture *f = *state;
    Error err = ERROR_INIT;
    run_sql(f->path, "PRAGMA application_id=0x5061776C");
    assert_null(store_open(f->url, STORE_READ, &err));
    expect_error(&err, ERR_DATA, "is of an older version (format 0; this one reads 2 and later)");
    Store *s = open_store(f, STORE_EXISTING);
    make_run(s, "a");
    store_close(s);
    s = open_store(f, STORE_READ);
    expect_sound(s);
    store_close(s);
}

/* As the version before results wrote it. */
static void make_format_1(const Fixture *f) {
    char path[256], head[16];
    if (!strcmp(f->scheme, "sqlite")) {
        run_sql(f->path, "DROP TABLE logs; DROP INDEX runs_running; DROP INDEX runs_resting;"
                         "ALTER TABLE checkpoints DROP COLUMN result; PRAGMA user_version=1");
        return;
    }
    path_in(f, "/format", path);
    write_bytes(path, "pawl file store, format 1\n", 26);
    path_in(f, "/runs/1.run", path);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
    head[7] = 1;
    uint32_t crc = crc32c(head, 12);
    memcpy(head + 12, &crc, 4);
    rewind(file);
    assert_int_equal(fwrite(head, 1, sizeof head, file), sizeof head);
    fclose(file);
}

static void a_store_without_results_opens_and_goes_on(void **state) {
    Fixture *f = *state;
    Store *s = open_store(f, STORE_CREATE);
    Tree t;
    Checkpoint c;
    tree_init(&t, s, "a");
    tree_grow(&t, 20, 10);
    store_close(s);
    make_format_1(f);
    s = open_store(f, STORE_EXISTING);
    MUST(store_lease(s, t.run, &why));
    t.s = s;
    tree_grow(&t, 5, 10);
    StoreBatch b = STORE_BATCH_INIT;
    MUST(store_checkpoint(s, t.run, 25, &c, &why));
    c.result = "";
    store_batch_checkpoint(&b, &c);
    MUST(store_commit(s, &b, &why));
    store_batch_clear(&b);
    store_close(s);
    s = open_store(f, STORE_READ);
    for (int64_t seq = 1; seq <= 25; seq++) {
        tree_expect(&t, s, seq);
        MUST(store_checkpoint(s, t.run, seq, &c, &why));
        assert_int_equal(c.result != NULL, seq == 25);
    }
    expect_sound(s);
    tree_clear(&t);
    store_close(s);
}

static bool count_row(void *ctx, const RunRow *row) {
    (void)row;
    ++*(int *)ctx;
    return true;
}

static void expect_runs(Store *s, int n) {
    int count = 0;
    MUST(store_runs(s, count_row, &count, &why));
    assert_int_equal(count, n);
}

/* As the version before indices of runs wrote it: who may not write to it reads it as it is. */
static void a_store_without_indices_of_runs_is_read_and_brought_up_to_date(void **state) {
    Fixture *f = *state;
    Store *s = open_store(f, STORE_CREATE);
    make_run(s, "a");
    make_run(s, "b");
    store_close(s);
    run_sql(f->path, "DROP TABLE logs; DROP INDEX runs_running; DROP INDEX runs_resting;"
                     "PRAGMA user_version=2");
    s = open_store(f, STORE_READ);
    expect_runs(s, 2);
    store_close(s);
    s = open_store(f, STORE_EXISTING);
    make_run(s, "c");
    store_close(s);
    run_sql(f->path, "SELECT count(*) FROM runs INDEXED BY runs_resting WHERE status <> 'running'");
    s = open_store(f, STORE_READ);
    expect_runs(s, 3);
    store_close(s);
}

/* What SQLite does is counted: steps of its machine, in every database that is opened. */
static long machine_steps;

static int count_steps(unsigned what, void *ctx, void *statement, void *ns) {
    (void)what, (void)ctx, (void)ns;
    machine_steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
    return 0;
}

static int watch_database(sqlite3 *db, const char **error, const struct sqlite3_api_routines *api) {
    (void)error;
    (void)api;
    sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, count_steps, NULL);
    return SQLITE_OK;
}

static void add_rows(const Fixture *f, int n) {
    char text[512];
    snprintf(text, sizeof text,
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
             "INSERT INTO runs (thread, workflow, definition, status, created, updated, owner)"
             " SELECT 't' || %d || '-' || i, 'w', '', 'completed', 1, 1 + i * 7919 %% 100000, ''"
             " FROM n",
             n, n);
    run_sql(f->path, text);
}

/* The first page, and one from the middle. */
static long steps_of_pages(const Fixture *f) {
    enum { PAGE = 100 };
    Store *s = open_store(f, STORE_READ);
    RunsPage first = {.limit = PAGE}, middle = {.limit = PAGE, .updated = 50000, .run = 1};
    int count = 0;
    machine_steps = 0;
    MUST(store_runs_page(s, &first, count_row, &count, &why));
    MUST(store_runs_page(s, &middle, count_row, &count, &why));
    long steps = machine_steps;
    assert_int_equal(count, 2 * PAGE);
    store_close(s);
    return steps;
}

static void a_page_of_runs_costs_what_is_on_it(void **state) {
    Fixture *f = *state;
    store_close(open_store(f, STORE_CREATE));
    add_rows(f, 500);
    sqlite3_auto_extension((void (*)(void))watch_database);
    long few = steps_of_pages(f);
    sqlite3_reset_auto_extension();
    add_rows(f, 50000);
    sqlite3_auto_extension((void (*)(void))watch_database);
    long many = steps_of_pages(f);
    sqlite3_reset_auto_extension();
    if (few <= 0 || many > few + few / 10) fail_msg("%ld steps, then %ld", few, many);
}

static void what_is_no_store_is_refused(void **state) {
    Fixture *f = *state;
    if (!strcmp(f->scheme, "sqlite")) {
        write_bytes(f->path, "This is a letter to my aunt.\n", 29);
        expect_refused(f, ERR_DATA, "is not a store of Pawl: it is no SQLite database");
        unlink(f->path);
        run_sql(f->path, "CREATE TABLE t(a)");
        expect_refused(f, ERR_DATA, "is an SQLite database of another program");
        unlink(f->path);
        mkdir(f->path, 0777);
        expect_refused(f, ERR_USAGE, "is not a file but a folder; a store in a folder is file:DIR");
    } else {
        char path[256];
        Error err = ERROR_INIT;
        mkdir(f->path, 0777);
        path_in(f, "/letter", path);
        write_bytes(path, "x", 1);
        assert_null(store_open(f->url, STORE_CREATE, &err));
        expect_error(&err, ERR_USAGE, "is not a store of Pawl, and not empty either");
        path_in(f, "/format", path);
        write_bytes(path, "x", 1);
        expect_refused(f, ERR_DATA, "is not a store of Pawl, or its file `format` is damaged");
    }
}

/* ---- folders that cannot be written ---- */

/* As somebody who may not: root may always. */
static bool as_nobody(bool (*fn)(const Fixture *f), const Fixture *f) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        bool left =
            geteuid() != 0 || (setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
        _exit(left && fn(f) ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Some folder above may be closed to others: then there is nothing to see here. */
static bool can_come_here(const Fixture *f) {
    return access(f->folder, X_OK) == 0;
}

static bool can_read(const Fixture *f) {
    Error err = ERROR_INIT;
    RunRow row;
    Store *s = store_open(f->url, STORE_READ, &err);
    bool ok = s && store_find(s, "a", &row, &err);
    Json image = ok ? chain_image(s, row.run, 20, NULL, &err) : json_none();
    ok = ok && !json_is_none(image);
    if (!ok) {
        fprintf(stderr, "# %s\n", err.msg);
    }
    json_unref(image);
    if (ok) {
        run_row_clear(&row);
    }
    store_close(s);
    return ok;
}

static bool is_told_where_to_write(const Fixture *f) {
    Error err = ERROR_INIT;
    Store *s = store_open(f->url, STORE_CREATE, &err);
    bool refused = s ? !store_lease(s, 1, &err) : true;
    store_close(s);
    bool ok = refused && err.code == ERR_IO && strstr(err.msg, f->folder) &&
              (strstr(err.facts, "\"folder\":") || strstr(err.facts, "\"store\":"));
    if (!ok) {
        fprintf(stderr, "# %s\n", err.msg);
    }
    return ok;
}

static void a_folder_that_cannot_be_written_can_be_read(void **state) {
    Fixture *f = *state;
    Tree a, b;
    make_two(f, &a, &b, 20);
    clear_two(&a, &b);
    char wal[256];
    path_in(f, "-wal", wal);
    assert_false(!strcmp(f->scheme, "sqlite") && exists(wal));
    fixture_shell("chmod -R a+rX,a-w %s", f->folder);
    if (!as_nobody(can_come_here, f)) {
        fixture_shell("chmod -R u+w %s", f->folder);
        skip();
    }
    assert_true(as_nobody(can_read, f));
    assert_true(as_nobody(is_told_where_to_write, f));
    fixture_shell("chmod -R u+w %s", f->folder);
}

static void a_new_store_in_such_a_folder_is_refused(void **state) {
    Fixture f = **(Fixture **)state;
    chmod(f.folder, 0555);
    snprintf(f.url, sizeof f.url, "%s:%s/x/y", f.scheme, f.folder);
    if (!as_nobody(can_come_here, &f)) {
        chmod(f.folder, 0755);
        skip();
    }
    assert_true(as_nobody(is_told_where_to_write, &f));
    chmod(f.folder, 0755);
}

/* ---- sizes that nobody has written ---- */

static void a_text_that_is_too_long_is_not_read(void **state) {
    Fixture *f = *state;
    Error err = ERROR_INIT;
    int count = 0;
    RunRow row;
    Tree a, b;
    make_two(f, &a, &b, 5);
    clear_two(&a, &b);
    run_sql(f->path, "UPDATE runs SET workflow = printf('%.*c', 30000000, 'x') WHERE thread = 'a'");
    Store *s = open_store(f, STORE_READ);
    assert_false(store_find(s, "a", &row, &err));
    expect_error(&err, ERR_LIMIT, "has a row that is longer than the 20971520 bytes");
    assert_false(store_runs(s, count_row, &count, &err));
    expect_error(&err, ERR_LIMIT, "listing the runs failed");
    MUST(store_find(s, "b", &row, &why));
    run_row_clear(&row);
    store_close(s);
}

static bool see_status(void *ctx, const RunRow *row) {
    if (!strcmp(row->thread, "a")) *(bool *)ctx = !strcmp(row->status, "damaged") && !row->updated;
    return true;
}

static void times_that_no_run_has_are_damage(void **state) {
    Fixture *f = *state;
    static const char *const times[] = {"-1", "-9223372036854775808", "9223372036854775807"};
    Tree a, b;
    make_two(f, &a, &b, 5);
    clear_two(&a, &b);
    for (size_t i = 0; i < 3; i++) {
        char sql[100];
        Error err = ERROR_INIT;
        RunRow row;
        bool damaged = false;
        snprintf(sql, sizeof sql, "UPDATE runs SET updated = %s WHERE thread = 'a'", times[i]);
        run_sql(f->path, sql);
        Store *s = open_store(f, STORE_READ);
        assert_false(store_find(s, "a", &row, &err));
        expect_error(&err, ERR_DATA, "the numbers of run 1 are none that a run has");
        MUST(store_runs(s, see_status, &damaged, &why));
        assert_true(damaged || i == 2); /* behind the end of the list there is nothing */
        MUST(store_find(s, "b", &row, &why));
        run_row_clear(&row);
        store_close(s);
    }
}

/* A tree of pages in which each has the next one many times, and the last has the rows: more of them than anybody
 * could count, in a file of a few pages. */
static void repeat_pages(const char *path, uint32_t root) {
    enum { PAGE = 4096, CHILDREN = 400, DEPTH = 8 };
    Buf bytes = BUF_INIT;
    read_bytes(path, &bytes);
    uint32_t pages = (uint32_t)(bytes.len / PAGE);
    char *leaf =
        buf_reserve(&bytes, (size_t)PAGE * DEPTH); /* the root's own rows, then DEPTH - 1 pages */
    memset(leaf, 0, (size_t)PAGE * DEPTH);
    memcpy(leaf, bytes.data + (size_t)PAGE * (root - 1), PAGE);
    buf_advance(&bytes, (size_t)PAGE * DEPTH);
    for (uint32_t i = 0; i < DEPTH; i++) { /* from the one above the leaf up to the root */
        uint32_t child = pages + 1 + i, at = i == DEPTH - 1 ? root : pages + 2 + i;
        unsigned char *p = (unsigned char *)bytes.data + (size_t)PAGE * (at - 1);
        unsigned cell = PAGE - 8;
        memset(p, 0, PAGE);
        p[0] = 5;
        p[3] = CHILDREN >> 8, p[4] = CHILDREN & 0xFF;
        p[5] = (unsigned char)(cell >> 8), p[6] = (unsigned char)cell;
        for (int k = 0; k < 4; k++) {
            p[8 + k] = p[cell + (unsigned)k] = (unsigned char)(child >> (24 - 8 * k));
        }
        p[cell + 4] = 0x7F; /* the key, whatever it is */
        for (unsigned k = 0; k < CHILDREN; k++) {
            p[12 + 2 * k] = (unsigned char)(cell >> 8);
            p[13 + 2 * k] = (unsigned char)cell;
        }
    }
    for (int k = 0; k < 4; k++) bytes.data[28 + k] = (char)((pages + DEPTH) >> (24 - 8 * k));
    write_bytes(path, bytes.data, bytes.len);
    buf_clear(&bytes);
}

static int64_t int_of(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return value;
}

static bool see_row(void *ctx, const Checkpoint *c) {
    (void)c;
    ++*(int *)ctx;
    return true;
}

static void make_endless(const Fixture *f, const char *table) {
    char sql[100];
    Tree a, b;
    make_two(f, &a, &b, 5);
    clear_two(&a, &b);
    run_sql(f->path, "PRAGMA journal_mode=DELETE");
    snprintf(sql, sizeof sql, "SELECT rootpage FROM sqlite_master WHERE name = '%s'", table);
    uint32_t root = (uint32_t)int_of(f->path, sql);
    repeat_pages(f->path, root);
}

static void a_list_of_runs_that_never_ends_is_given_up(void **state) {
    Fixture *f = *state;
    Error err = ERROR_INIT;
    int count = 0;
    make_endless(f, "runs");
    run_sql(f->path,
            "PRAGMA writable_schema=ON; DELETE FROM sqlite_master WHERE name LIKE 'runs_r%'");
    Store *s = open_store(f, STORE_READ);
    assert_false(
        store_runs(s, count_row, &count, &err)); /* without an index all rows are sorted first */
    expect_error(&err, ERR_LIMIT, "takes more steps than a sound file of its size could need");
    assert_int_equal(count, 0);
    store_close(s);
}

static void a_history_that_never_ends_ends_where_it_repeats_itself(void **state) {
    Fixture *f = *state;
    Error err = ERROR_INIT;
    int count = 0;
    make_endless(f, "checkpoints");
    Store *s = open_store(f, STORE_READ);
    store_history(s, 1, 0, see_row, NULL, &count, &err);
    assert_true(count <= 5);
    store_close(s);
}

static void *interrupt_soon(void *store) {
    usleep(20000);
    store_interrupt(store);
    return NULL;
}

static void a_statement_can_be_interrupted(void **state) {
    Fixture *f = *state;
    Error err = ERROR_INIT;
    int count = 0;
    pthread_t thread;
    make_endless(f, "runs");
    run_sql(f->path,
            "PRAGMA writable_schema=ON; DELETE FROM sqlite_master WHERE name LIKE 'runs_r%'");
    Store *s = open_store(f, STORE_READ);
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, s), 0);
    assert_false(store_runs(s, count_row, &count, &err));
    expect_error(&err, ERR_CANCELLED, "was given up");
    pthread_join(thread, NULL);
    Checkpoint c;
    assert_false(store_checkpoint(s, 1, 1, &c, &err));
    expect_error(&err, ERR_CANCELLED, "was given up");
    store_close(s);
}

static void put_le(char *at, uint64_t v, int n) {
    for (int i = 0; i < n; i++) at[i] = (char)(v >> 8 * i);
}

/* A head that checks, for a payload that nobody has written: the file is a hole. */
static void a_record_that_is_too_long_is_not_read(void **state) {
    Fixture *f = *state;
    static const struct {
        uint64_t len, size;
    } cases[] = {{0xFFFFFFFF, UINT64_C(1) << 33}, {UINT64_C(900) << 20 | 1, UINT64_C(1) << 40}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Tree a, b;
        char path[256], head[24] = {'P', 'R', 'C', 1};
        make_two(f, &a, &b, 5);
        path_in(f, "/runs/1.run", path);
        put_le(head + 4, cases[i].len, 4);
        put_le(head + 8, 6, 8);
        put_le(head + 20, crc32c(head, 20), 4);
        int fd = open(path, O_RDWR | O_APPEND);
        assert_true(fd >= 0 && write(fd, head, sizeof head) == (ssize_t)sizeof head);
        if (ftruncate(fd, (off_t)cases[i].size) != 0) { /* not every file system has such holes */
            close(fd);
            clear_two(&a, &b);
            skip();
        }
        close(fd);
        Store *s = open_store(f, STORE_READ);
        tree_expect(&a, s, 3);
        tree_expect(&b, s, 5);
        Problems p = {0};
        check_store(s, 0, &p);
        assert_true(p.count >= 1);
        store_close(s);
        clear_two(&a, &b);
        fixture_shell("rm -rf %s/*", f->folder);
    }
}

static void a_definition_without_end_is_not_read(void **state) {
    Fixture *f = *state;
    Tree a, b;
    char path[512];
    Error err = ERROR_INIT;
    make_two(f, &a, &b, 5);
    clear_two(&a, &b);
    Store *s = open_store(f, STORE_READ);
    RunRow row = find_run(s, "a");
    snprintf(path, sizeof path, "%s/definitions/%s", f->path, row.definition);
    if (truncate(path, (off_t)1 << 40) != 0) {
        run_row_clear(&row);
        store_close(s);
        skip();
    }
    assert_true(json_is_none(store_definition(s, row.definition, &err)));
    expect_error(&err, ERR_IO, "File too large");
    snprintf(path, sizeof path, "%s/threads/a", f->path);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    RunRow none;
    assert_false(store_find(s, "a", &none, &err));
    run_row_clear(&row);
    store_close(s);
}

/* ---- others ---- */

static unsigned mode_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

static void a_store_that_others_could_read_is_closed_to_them_by_its_owner(void **state) {
    Fixture *f = *state;
    static const char *const sqlite_parts[] = {"", "-lease", NULL};
    static const char *const file_parts[] = {"", "/format", "/lease", "/runs", "/threads", NULL};
    const char *const *parts = !strcmp(f->scheme, "sqlite") ? sqlite_parts : file_parts;
    static const StoreMode modes[] = {STORE_READ, STORE_EXISTING};
    char path[256];
    Tree a, b;
    make_two(f, &a, &b, 20);
    clear_two(&a, &b);
    for (size_t i = 0; i < 2; i++) {
        fixture_shell("chmod -R u=rwX,go=rX %s", f->folder);
        store_close(open_store(f, modes[i]));
        for (const char *const *part = parts; *part; part++) {
            path_in(f, *part, path);
            assert_int_equal(mode_of(path) & 077, 0);
        }
        assert_int_equal(mode_of(f->folder), 0755); /* which is not ours to close */
    }
    fixture_shell("chmod -R u=rwX,go=rX %s", f->folder);
    if (as_nobody(can_come_here, f)) { /* who looks at another's leaves it as it is */
        bool other = geteuid() == 0;
        assert_true(as_nobody(can_read, f));
        path_in(f, "", path);
        assert_int_equal((mode_of(path) & 044) != 0, other);
    }
}

/* Another user's: whoever could open the file for reading before it was closed to others. */
static pid_t held_by_nobody(const char *lease, int ready[2]) {
    pid_t pid = fork();
    if (pid == 0) {
        struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
        char done = 0;
        int fd = open(lease, O_RDONLY);
        bool held = (geteuid() != 0 ||
                     (setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0)) &&
                    fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0;
        if (write(ready[1], held ? "y" : "n", 1) != 1) _exit(1);
        close(ready[1]);
        if (read(ready[0], &done, 0) == 0) pause();
        _exit(0);
    }
    return pid;
}

static void a_lock_of_somebody_who_only_reads_is_told_for_what_it_is(void **state) {
    Fixture *f = *state;
    char path[256], said = 0, pid_text[32];
    int ready[2];
    Error err = ERROR_INIT;
    Tree a, b;
    make_two(f, &a, &b, 5);
    clear_two(&a, &b);
    path_in(f, !strcmp(f->scheme, "sqlite") ? "-lease" : "/lease", path);
    assert_int_equal(pipe(ready), 0);
    pid_t pid = held_by_nobody(path, ready);
    assert_int_equal(read(ready[0], &said, 1), 1);
    assert_int_equal(said, 'y');
    Store *s = open_store(f, STORE_EXISTING);
    snprintf(pid_text, sizeof pid_text, "(process %ld)", (long)pid);
    assert_false(store_is_leased(s, 1));
    assert_false(store_lease(s, 1, &err));
    expect_error(&err, ERR_IO, "which no process of Pawl does: nobody runs the thread");
    expect_error(&err, ERR_IO, pid_text);
    RunRow row;
    error_clear(&err);
    assert_false(store_create_run(s, "c", "flow", "", &row, &err)); /* and does not wait */
    expect_error(&err, ERR_IO, "which no process of Pawl does");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    MUST(store_lease(s, 1, &why));
    store_close(s);
    close(ready[0]);
    close(ready[1]);
}

/* ---- the list ---- */

static const Behaviour behaviours[] = {
#ifdef PAWL_FAULTS
    BEHAVIOUR(a_kill_at_any_write_loses_nothing, DURABLE),
    BEHAVIOUR(a_kill_at_any_sync_loses_nothing, DURABLE),
    BEHAVIOUR(a_full_disk_at_any_write_is_said_and_can_be_retried, DURABLE),
    BEHAVIOUR(an_error_at_any_write_is_said_and_can_be_retried, DURABLE),
    BEHAVIOUR(a_short_write_anywhere_is_said_and_can_be_retried, DURABLE),
    BEHAVIOUR(an_error_at_any_sync_is_said_and_can_be_retried, DURABLE),
#endif
    BEHAVIOUR(a_flipped_byte_in_a_run_is_found_and_harms_no_other, FILES),
    BEHAVIOUR(a_flipped_byte_in_an_index_harms_nothing, FILES),
    BEHAVIOUR(a_flipped_byte_in_a_database_is_never_taken_for_data, SQLITE),
    BEHAVIOUR(damage_is_a_sentence_that_names_thread_and_checkpoint, DURABLE),
    BEHAVIOUR(a_run_cut_off_anywhere_keeps_what_came_before, FILES),
    BEHAVIOUR(a_run_shorter_than_its_index_knows_is_refused, FILES),
    BEHAVIOUR(a_database_cut_off_is_said_to_be, SQLITE),
    BEHAVIOUR(a_lost_index_is_made_again, FILES),
    BEHAVIOUR(a_newer_store_is_refused_with_both_versions, DURABLE),
    BEHAVIOUR(an_older_store_is_migrated, SQLITE),
    BEHAVIOUR(a_store_without_results_opens_and_goes_on, DURABLE),
    BEHAVIOUR(a_store_without_indices_of_runs_is_read_and_brought_up_to_date, SQLITE),
    BEHAVIOUR(a_page_of_runs_costs_what_is_on_it, SQLITE),
    BEHAVIOUR(what_is_no_store_is_refused, DURABLE),
    BEHAVIOUR(a_folder_that_cannot_be_written_can_be_read, DURABLE),
    BEHAVIOUR(a_new_store_in_such_a_folder_is_refused, DURABLE),
    BEHAVIOUR(a_text_that_is_too_long_is_not_read, SQLITE),
    BEHAVIOUR(times_that_no_run_has_are_damage, SQLITE),
    BEHAVIOUR(a_list_of_runs_that_never_ends_is_given_up, SQLITE),
    BEHAVIOUR(a_history_that_never_ends_ends_where_it_repeats_itself, SQLITE),
    BEHAVIOUR(a_statement_can_be_interrupted, SQLITE),
    BEHAVIOUR(a_record_that_is_too_long_is_not_read, FILES),
    BEHAVIOUR(a_definition_without_end_is_not_read, FILES),
    BEHAVIOUR(a_store_that_others_could_read_is_closed_to_them_by_its_owner, DURABLE),
    BEHAVIOUR(a_lock_of_somebody_who_only_reads_is_told_for_what_it_is, DURABLE),
};

int main(int argc, char **argv) {
    if (argc > 3 && !strcmp(argv[1], "child")) {
        return fault_child(argv[2], argv[3]);
    }
    return run_behaviours("store_damage", behaviours, sizeof behaviours / sizeof *behaviours);
}
