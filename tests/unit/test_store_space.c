/* What a store takes on disk, and copies of it: with every backend that has a disk. */
#include "store_fixture.h"
#include "store_space.h"

#include <sqlite3.h>
#include <sys/stat.h>

enum { STEPS = 300, WEIGHT = 4000 };

/* A run of some weight, whose facts are written with every step. */
static int64_t heavy_run(Store *s, const char *thread) {
    int64_t run = make_run(s, thread);
    char *text = mem_alloc(WEIGHT + 1);
    memset(text, 'x', WEIGHT);
    text[WEIGHT] = '\0';
    for (int64_t seq = 1; seq <= STEPS; seq++) {
        StoreBatch b = STORE_BATCH_INIT;
        Buf patch = BUF_INIT;
        Json value = json_string_fmt("%s%lld", text, (long long)seq);
        json_encode(value, &patch);
        json_unref(value);
        store_batch_checkpoint(&b, &(Checkpoint){.run = run,
                                                 .seq = seq,
                                                 .parent = seq - 1,
                                                 .node = "n",
                                                 .status = "completed",
                                                 .patch = patch.data,
                                                 .patch_len = patch.len,
                                                 .snapshot = patch.data,
                                                 .snapshot_len = patch.len});
        store_batch_run(&b, run, seq, "running", seq);
        MUST(store_commit(s, &b, &why));
        store_batch_clear(&b);
        buf_clear(&patch);
    }
    mem_free(text);
    return run;
}

static void remove_most(Store *s, int64_t run) {
    StoreBatch b = STORE_BATCH_INIT;
    for (int64_t seq = 1; seq < STEPS; seq++) store_batch_remove(&b, run, seq);
    MUST(store_commit(s, &b, &why));
    store_batch_clear(&b);
}

static int64_t size_of(const Fixture *f) {
    char path[200];
    struct stat st;
    bool folder = !strncmp(f->url, "file:", 5);
    snprintf(path, sizeof path, "%s%s", f->path, folder ? "/runs/1.run" : "");
    return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

static void what_was_removed_is_given_back(void **state) {
    Fixture f;
    fixture_init(&f, *state);
    Store *s = open_store(&f, STORE_CREATE);
    int64_t run = heavy_run(s, "t");
    remove_most(s, run);
    MUST(store_trim(s, &why));
    assert_true(size_of(&f) < STEPS * WEIGHT / 2);
    Checkpoint c;
    MUST(store_checkpoint(s, run, STEPS, &c, &why));
    store_close(s);
    fixture_clear(&f);
}

static void a_store_is_made_smaller(void **state) {
    Fixture f;
    fixture_init(&f, *state);
    Store *s = open_store(&f, STORE_CREATE);
    int64_t run = heavy_run(s, "t");
    SpaceReport report;
    store_release(s, run);
    MUST(store_compact(s, &report, &why));
    assert_true(report.after > 0 && report.after <= report.before);
    assert_int_equal(report.busy, 0);
    RunRow row = find_run(s, "t");
    assert_int_equal(row.head, STEPS);
    assert_int_equal(row.last, STEPS);
    assert_string_equal(row.status, "running");
    run_row_clear(&row);
    Checkpoint c;
    MUST(store_checkpoint(s, run, 1, &c, &why));
    store_close(s);
    fixture_clear(&f);
}

static void others_at_work_are_let_be(void **state) {
    Fixture f;
    fixture_init(&f, *state);
    Store *s = open_store(&f, STORE_CREATE), *other = open_store(&f, STORE_EXISTING);
    heavy_run(s, "t"); /* and has its lease */
    SpaceReport report;
    bool folder = !strncmp(f.url, "file:", 5);
    MUST(store_compact(other, &report, &why));
    assert_int_equal(report.busy, folder);
    store_close(other);
    store_close(s);
    fixture_clear(&f);
}

/* As an earlier version made it. */
static void make_old(const Fixture *f) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA auto_vacuum=NONE; VACUUM", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
}

static void an_old_database_is_written_anew_when_nothing_runs(void **state) {
    (void)state;
    Fixture f;
    Error err = ERROR_INIT;
    SpaceReport report;
    fixture_init(&f, "sqlite");
    Store *s = open_store(&f, STORE_CREATE);
    int64_t run = heavy_run(s, "t");
    store_close(s);
    make_old(&f);
    s = open_store(&f, STORE_EXISTING);
    MUST(store_lease(s, run, &why));
    Store *other = open_store(&f, STORE_EXISTING);
    assert_false(store_compact(other, &report, &err));
    assert_int_equal(err.code, ERR_BUSY);
    remove_most(s, run);
    MUST(store_trim(s, &why)); /* nothing that it could do */
    assert_true(size_of(&f) > STEPS * WEIGHT);
    store_release(s, run);
    MUST(store_compact(other, &report, &why));
    assert_true(report.after < report.before / 4);
    store_close(other);
    Checkpoint c;
    MUST(store_checkpoint(s, run, STEPS, &c, &why));
    store_close(s);
    fixture_clear(&f);
}

static void a_copy_is_a_store(void **state) {
    Fixture f, copy;
    fixture_init(&f, *state);
    Store *s = open_store(&f, STORE_CREATE);
    int64_t run = heavy_run(s, "t"), bytes;
    make_run(s, "u");
    Error err = ERROR_INIT;
    copy = f;
    snprintf(copy.path, sizeof copy.path, "%s/copy", f.folder);
    snprintf(copy.url, sizeof copy.url, "%s:%s", (const char *)*state, copy.path);
    Store *reader = store_reader(s, &err);
    assert_non_null(reader);
    MUST(store_backup(reader, copy.path, &bytes, &why));
    assert_true(bytes > STEPS * WEIGHT);
    assert_false(store_backup(reader, copy.path, &bytes, &err));
    assert_int_equal(err.code, ERR_EXISTS);
    assert_false(store_backup(reader, "copy", &bytes, &err));
    assert_int_equal(err.code, ERR_USAGE);
    store_close(reader);
    Store *other = open_store(&copy, STORE_EXISTING);
    RunRow row = find_run(other, "t");
    assert_int_equal(row.head, STEPS);
    run_row_clear(&row);
    MUST(store_lease(other, run, &why)); /* nobody has it there */
    Checkpoint c;
    MUST(store_checkpoint(other, run, 7, &c, &why));
    row = find_run(other, "u");
    Json definition = store_definition(other, row.definition, &err);
    assert_int_equal(json_kind(definition), JSON_OBJECT);
    json_unref(definition);
    run_row_clear(&row);
    assert_true(make_run(other, "v") > run + 1);
    store_close(other);
    store_close(s);
    fixture_clear(&f);
}

static void what_is_in_memory_has_no_disk(void **state) {
    (void)state;
    Fixture f;
    Error err = ERROR_INIT;
    SpaceReport report;
    int64_t bytes;
    fixture_init(&f, "memory");
    Store *s = open_store(&f, STORE_CREATE);
    assert_false(store_compact(s, &report, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_false(store_backup(s, "/tmp/nothing", &bytes, &err));
    assert_int_equal(err.code, ERR_USAGE);
    MUST(store_trim(s, &why));
    store_close(s);
    fixture_clear(&f);
}

static void a_reader_makes_nothing_smaller(void **state) {
    Fixture f;
    Error err = ERROR_INIT;
    SpaceReport report;
    fixture_init(&f, *state);
    store_close(open_store(&f, STORE_CREATE));
    Store *s = open_store(&f, STORE_READ);
    assert_false(store_compact(s, &report, &err));
    store_close(s);
    fixture_clear(&f);
}

static char sqlite_name[] = "sqlite", file_name[] = "file";

#define BOTH(f) cmocka_unit_test_prestate(f, sqlite_name), cmocka_unit_test_prestate(f, file_name)

int main(void) {
    const struct CMUnitTest tests[] = {
        BOTH(what_was_removed_is_given_back),
        BOTH(a_store_is_made_smaller),
        BOTH(others_at_work_are_let_be),
        cmocka_unit_test(an_old_database_is_written_anew_when_nothing_runs),
        BOTH(a_copy_is_a_store),
        BOTH(a_reader_makes_nothing_smaller),
        cmocka_unit_test(what_is_in_memory_has_no_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
