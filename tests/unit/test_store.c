/* Stores: each behaviour is tested with every backend. */
#include "store_fixture.h"

#include <signal.h>

/* ---- runs ---- */

static void a_run_is_found_by_its_thread_and_by_its_number(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "orders");
    char number[24];
    RunRow row = find_run(s, "orders");
    assert_int_equal(row.run, run);
    assert_string_equal(row.thread, "orders");
    assert_string_equal(row.workflow, "flow");
    assert_string_equal(row.status, "pending");
    assert_int_equal(row.head, 0);
    assert_int_equal(row.last, 0);
    assert_true(row.created > 0 && row.updated == row.created);
    assert_true(strstr(row.owner, "pid ") != NULL);
    assert_false(row.cancel);
    run_row_clear(&row);
    snprintf(number, sizeof number, "%lld", (long long)run);
    row = find_run(s, number);
    assert_string_equal(row.thread, "orders");
    run_row_clear(&row);
    store_close(s);
}

static void a_thread_that_is_a_number_comes_before_the_number_of_a_run(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t first = make_run(s, "a"), second = make_run(s, "1");
    RunRow row = find_run(s, "1");
    assert_int_equal(first, 1);
    assert_int_equal(row.run, second);
    run_row_clear(&row);
    store_close(s);
}

static void a_run_without_a_thread_is_named_by_its_number(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    RunRow row;
    make_run(s, "run-2");
    MUST(store_create_run(s, NULL, "w", "", &row, &why));
    assert_string_equal(row.thread, "run-2-2");
    run_row_clear(&row);
    MUST(store_create_run(s, NULL, "w", "", &row, &why));
    assert_string_equal(row.thread, "run-3");
    run_row_clear(&row);
    store_close(s);
}

static void a_thread_is_made_once(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    RunRow row;
    Error err = ERROR_INIT;
    make_run(s, "orders");
    assert_false(store_create_run(s, "orders", "w", "", &row, &err));
    expect_error(&err, ERR_EXISTS, "There is a thread `orders`");
    store_close(s);
}

static void names_of_threads_are_text(void **state) {
    static const struct {
        const char *name, *part;
    } bad[] = {
        {"", "empty"},     {"a\nb", "control characters"},     {"a\x7f", "control characters"},
        {"\xff", "UTF-8"}, {"\xc2\x85", "control characters"},
    };
    Store *s = open_store(*state, STORE_CREATE);
    RunRow row;
    char longest[STORE_THREAD_MAX + 2];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Error err = ERROR_INIT;
        assert_false(store_create_run(s, bad[i].name, "w", "", &row, &err));
        expect_error(&err, ERR_USAGE, bad[i].part);
    }
    Error err = ERROR_INIT;
    memset(longest, 'x', sizeof longest);
    longest[STORE_THREAD_MAX + 1] = '\0';
    assert_false(store_create_run(s, longest, "w", "", &row, &err));
    expect_error(&err, ERR_USAGE, "at most 200 bytes, and this one has 201");
    store_close(s);
}

static bool count_row(void *ctx, const RunRow *row) {
    (void)row;
    ++*(int *)ctx;
    return true;
}

static void any_text_is_a_name(void **state) {
    char wide[STORE_THREAD_MAX + 1] = "", wider[STORE_THREAD_MAX + 1] = "";
    for (int i = 0; i < STORE_THREAD_MAX / 2; i++) {
        strcat(wide, "\xc3\xa9");
        strcat(wider, i == STORE_THREAD_MAX / 2 - 1 ? "\xc3\xa8" : "\xc3\xa9");
    }
    const char *names[] = {"..", ".",     "../x", "a/b",   "a%2Fb",        "a b", "A",  "a",
                           "~",  "x.tmp", "-",    "a.run", "\xe2\x98\x83", wide,  wider};
    enum { N = sizeof names / sizeof *names };
    Store *s = open_store(*state, STORE_CREATE);
    int64_t runs[N];
    int count = 0;
    for (int i = 0; i < N; i++) {
        runs[i] = make_run(s, names[i]);
    }
    for (int i = 0; i < N; i++) {
        RunRow row = find_run(s, names[i]);
        assert_int_equal(row.run, runs[i]);
        assert_string_equal(row.thread, names[i]);
        run_row_clear(&row);
    }
    MUST(store_runs(s, count_row, &count, &why));
    assert_int_equal(count, N);
    store_close(s);
}

static void an_unknown_thread_brings_up_the_nearest(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    RunRow row;
    Error err = ERROR_INIT;
    assert_false(store_find(s, "orders", &row, &err));
    expect_error(&err, ERR_NOT_FOUND, "holds no runs yet");
    make_run(s, "customers");
    make_run(s, "orders");
    assert_false(store_find(s, "order", &row, &err));
    expect_error(&err, ERR_NOT_FOUND, "There is no thread `order`");
    expect_error(&err, ERR_NOT_FOUND, "; did you mean `orders`?");
    assert_string_equal(err.facts, "\"thread\":\"order\",\"suggestion\":\"orders\"");
    assert_false(store_find(s, "xyz", &row, &err));
    expect_error(&err, ERR_NOT_FOUND, "There is no thread `xyz`");
    assert_false(store_find(s, "99", &row, &err));
    store_close(s);
}

static int64_t find_number(Store *s, const char *thread) {
    RunRow row = find_run(s, thread);
    int64_t run = row.run;
    run_row_clear(&row);
    return run;
}

typedef struct Names {
    char text[256];
    int left;
} Names;

static bool add_name(void *ctx, const RunRow *row) {
    Names *n = ctx;
    strcat(n->text, row->thread);
    strcat(n->text, " ");
    return --n->left > 0;
}

static void runs_are_listed_the_one_updated_last_first(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t a = make_run(s, "a"), b = make_run(s, "b"), c = make_run(s, "c");
    StoreBatch batch = STORE_BATCH_INIT;
    store_batch_run(&batch, a, 0, "running", 3000);
    store_batch_run(&batch, b, 0, "running", 1000);
    store_batch_run(&batch, c, 0, "running", 2000);
    MUST(store_commit(s, &batch, &why));
    Names all = {.left = 9}, two = {.left = 2};
    MUST(store_runs(s, add_name, &all, &why));
    assert_string_equal(all.text, "a c b ");
    MUST(store_runs(s, add_name, &two, &why));
    assert_string_equal(two.text, "a c ");
    store_batch_clear(&batch);
    store_close(s);
}

static void runs_come_a_page_at_a_time(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    StoreBatch batch = STORE_BATCH_INIT;
    for (int i = 0; i < 7; i++) {
        char name[2] = {(char)('a' + i), 0};
        store_batch_run(&batch, make_run(s, name), 0, "running", 1000 * (i / 2)); /* some tie */
    }
    MUST(store_commit(s, &batch, &why));
    RunsPage page = {.limit = 3};
    Names first = {.left = 9}, second = {.left = 9}, third = {.left = 9};
    MUST(store_runs_page(s, &page, add_name, &first, &why));
    assert_string_equal(first.text, "g f e ");
    assert_true(page.more);
    store_batch_reset(&batch);
    store_batch_run(&batch, find_number(s, "a"), 0, "running", 9000); /* now before the cursor */
    MUST(store_commit(s, &batch, &why));
    MUST(store_runs_page(s, &page, add_name, &second, &why));
    assert_string_equal(second.text, "d c b ");
    assert_false(page.more);
    MUST(store_runs_page(s, &page, add_name, &third, &why));
    assert_string_equal(third.text, "");
    store_batch_clear(&batch);
    store_close(s);
}

static void a_wish_to_cancel_is_seen_until_the_next_lease(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    bool cancel = true;
    MUST(store_asked(s, run, &cancel, &why));
    assert_false(cancel);
    MUST(store_ask_cancel(s, run, &why));
    MUST(store_asked(s, run, &cancel, &why));
    assert_true(cancel);
    RunRow row = find_run(s, "a");
    assert_true(row.cancel);
    run_row_clear(&row);
    store_release(s, run);
    MUST(store_lease(s, run, &why));
    MUST(store_asked(s, run, &cancel, &why));
    assert_false(cancel);
    store_close(s);
}

static void a_definition_has_one_key(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Error err = ERROR_INIT;
    Json a = parse("{\"x\":[1,2.50,\"\\u0000\"]}"), b = parse("{\"x\":[1,2.50]}");
    char *first = store_define(s, a, &err), *again = store_define(s, a, &err);
    char *other = store_define(s, b, &err);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
    Json back = store_definition(s, first, &err);
    assert_true(exactly(a, back));
    assert_true(json_is_none(store_definition(s, "0123456789abcdef", &err)));
    expect_error(&err, ERR_DATA, "There is no definition 0123456789abcdef");
    assert_true(json_is_none(store_definition(s, "../format", &err)));
    json_unref(a);
    json_unref(b);
    json_unref(back);
    mem_free(first);
    mem_free(again);
    mem_free(other);
    store_close(s);
}

/* ---- checkpoints ---- */

static void put_plain(StoreBatch *b, int64_t run, int64_t seq, const char *patch,
                      const char *snapshot) {
    store_batch_checkpoint(b, &(Checkpoint){.run = run,
                                            .seq = seq,
                                            .parent = seq - 1,
                                            .step = 7 * seq,
                                            .frame = 3,
                                            .at = 1700000000000 + seq,
                                            .node = seq % 2 ? "n\xc3\xb6"
                                                              "de"
                                                            : "",
                                            .status = "completed",
                                            .patch = patch,
                                            .patch_len = strlen(patch),
                                            .snapshot = snapshot,
                                            .snapshot_len = snapshot ? strlen(snapshot) : 0});
}

static void a_checkpoint_comes_back_as_it_was(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    StoreBatch b = STORE_BATCH_INIT;
    Checkpoint c;
    put_plain(&b, run, 1, "first patch", "an image");
    put_plain(&b, run, 2, "", NULL);
    put_plain(&b, run, 3, "p", "");
    MUST(store_commit(s, &b, &why));
    MUST(store_checkpoint(s, run, 1, &c, &why));
    assert_int_equal(c.run, run);
    assert_int_equal(c.seq, 1);
    assert_int_equal(c.parent, 0);
    assert_int_equal(c.step, 7);
    assert_int_equal(c.frame, 3);
    assert_int_equal(c.at, 1700000000001);
    assert_string_equal(c.node, "n\xc3\xb6"
                                "de");
    assert_string_equal(c.status, "completed");
    assert_int_equal(c.patch_len, 11);
    assert_memory_equal(c.patch, "first patch", 11);
    assert_int_equal(c.snapshot_len, 8);
    assert_memory_equal(c.snapshot, "an image", 8);
    MUST(store_checkpoint(s, run, 2, &c, &why));
    assert_string_equal(c.node, "");
    assert_int_equal(c.parent, 1);
    assert_int_equal(c.patch_len, 0);
    assert_null(c.snapshot);
    MUST(store_checkpoint(s, run, 3, &c, &why));
    assert_non_null(c.snapshot);
    assert_int_equal(c.snapshot_len, 0);
    store_batch_clear(&b);
    store_close(s);
}

static void the_result_of_a_checkpoint_comes_back(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    StoreBatch b = STORE_BATCH_INIT;
    Checkpoint c = {.run = make_run(s, "a"), .node = "n", .status = "completed", .patch = "p"};
    static const char *const results[] = {NULL, "", "a result"};
    c.patch_len = 1;
    for (c.seq = 1; c.seq <= 6; c.seq++) {
        c.result = results[c.seq % 3];
        c.result_len = c.result ? strlen(c.result) : 0;
        c.snapshot = c.seq > 3 ? "an image" : NULL;
        c.snapshot_len = c.seq > 3 ? 8 : 0;
        store_batch_checkpoint(&b, &c);
    }
    MUST(store_commit(s, &b, &why));
    for (int64_t seq = 1; seq <= 6; seq++) {
        const char *want = results[seq % 3];
        MUST(store_checkpoint(s, c.run, seq, &c, &why));
        assert_int_equal(c.result != NULL, want != NULL);
        assert_int_equal(c.result_len, want ? strlen(want) : 0);
        assert_memory_equal(c.result ? c.result : "", want ? want : "", c.result_len);
        assert_memory_equal(c.patch, "p", 1);
        assert_int_equal(c.snapshot_len, seq > 3 ? 8 : 0);
    }
    store_batch_clear(&b);
    store_close(s);
}

static void a_large_checkpoint_comes_back_too(void **state) {
    enum { LARGE = 5 << 20 };
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    StoreBatch b = STORE_BATCH_INIT;
    Checkpoint c;
    char *large = malloc(LARGE + 1);
    for (int i = 0; i < LARGE; i++) {
        large[i] = (char)('a' + i % 23);
    }
    large[LARGE] = '\0';
    put_plain(&b, run, 1, "p", large);
    put_plain(&b, run, 2, large, NULL);
    MUST(store_commit(s, &b, &why));
    MUST(store_checkpoint(s, run, 1, &c, &why));
    assert_int_equal(c.snapshot_len, LARGE);
    assert_memory_equal(c.snapshot, large, LARGE);
    MUST(store_checkpoint(s, run, 2, &c, &why));
    assert_memory_equal(c.patch, large, LARGE);
    free(large);
    store_batch_clear(&b);
    store_close(s);
}

static void a_checkpoint_that_is_not_there_says_why(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    StoreBatch b = STORE_BATCH_INIT;
    Checkpoint c;
    Error err = ERROR_INIT;
    for (int64_t seq = 1; seq <= 4; seq++) {
        put_plain(&b, run, seq, "p", NULL);
    }
    store_batch_remove(&b, run, 2);
    MUST(store_commit(s, &b, &why));
    assert_false(store_checkpoint(s, run, 2, &c, &err));
    expect_error(&err, ERR_NOT_FOUND, "Checkpoint 2 of thread `a` was pruned");
    assert_false(store_checkpoint(s, run, 99, &c, &err));
    expect_error(&err, ERR_NOT_FOUND, "Thread `a` has no checkpoint 99: its last is 4.");
    assert_false(store_checkpoint(s, run, 0, &c, &err));
    assert_false(store_checkpoint(s, run, -1, &c, &err));
    assert_false(store_checkpoint(s, run, INT64_MAX, &c, &err));
    assert_false(store_checkpoint(s, 77, 1, &c, &err));
    expect_error(&err, ERR_NOT_FOUND, "There is no run 77");
    store_batch_clear(&b);
    store_close(s);
}

typedef struct Seen {
    Store *s;
    int64_t seqs[64];
    int count, stop;
    bool reads;
} Seen;

static bool see(void *ctx, const Checkpoint *c) {
    Seen *seen = ctx;
    Checkpoint other;
    int64_t seq = c->seq;
    if (seen->reads) {
        RunRow row = find_run(seen->s, "a");
        run_row_clear(&row);
        MUST(store_checkpoint(seen->s, c->run, 1, &other, &why));
    }
    assert_int_equal(c->seq, seq);
    assert_string_equal(c->status, "completed");
    seen->seqs[seen->count++] = seq;
    return seen->count != seen->stop;
}

static void history_is_in_order_from_where_it_is_asked(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a"), other = make_run(s, "b");
    StoreBatch b = STORE_BATCH_INIT;
    for (int64_t seq = 1; seq <= 9; seq++) {
        put_plain(&b, run, seq, "p", NULL);
        put_plain(&b, other, seq, "q", NULL);
    }
    store_batch_remove(&b, run, 5);
    MUST(store_commit(s, &b, &why));
    Seen all = {.s = s, .reads = true}, some = {.s = s, .stop = 2}, none = {.s = s};
    MUST(store_history(s, run, 0, see, NULL, &all, &why));
    assert_int_equal(all.count, 8);
    assert_int_equal(all.seqs[0], 1);
    assert_int_equal(all.seqs[7], 9);
    MUST(store_history(s, run, 5, see, NULL, &some, &why));
    assert_int_equal(some.count, 2);
    assert_int_equal(some.seqs[0], 6);
    MUST(store_history(s, run, 10, see, NULL, &none, &why));
    MUST(store_history(s, run, INT64_MAX, see, NULL, &none, &why));
    MUST(store_history(s, 99, 0, see, NULL, &none, &why));
    assert_int_equal(none.count, 0);
    store_batch_clear(&b);
    store_close(s);
}

static void a_batch_sets_head_status_and_last(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    StoreBatch b = STORE_BATCH_INIT;
    put_plain(&b, run, 1, "p", NULL);
    put_plain(&b, run, 2, "p", NULL);
    store_batch_run(&b, run, 1, "running", 5);
    put_plain(&b, run, 3, "p", NULL);
    store_batch_run(&b, run, 2, "interrupted", 6);
    assert_int_equal(b.count, 5);
    MUST(store_commit(s, &b, &why));
    RunRow row = find_run(s, "a");
    assert_int_equal(row.head, 2);
    assert_int_equal(row.last, 3);
    assert_int_equal(row.updated, 6);
    assert_string_equal(row.status, "interrupted");
    run_row_clear(&row);
    store_batch_reset(&b);
    assert_int_equal(b.count, 0);
    store_batch_remove(&b, run, 3);
    MUST(store_commit(s, &b, &why));
    row = find_run(s, "a");
    assert_int_equal(row.last, 3); /* never given again */
    assert_string_equal(row.status, "interrupted");
    run_row_clear(&row);
    store_batch_reset(&b);
    MUST(store_commit(s, &b, &why));
    store_batch_clear(&b);
    store_close(s);
}

static void a_checkpoint_without_facts_still_counts(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    StoreBatch b = STORE_BATCH_INIT;
    put_plain(&b, run, 1, "p", NULL);
    MUST(store_commit(s, &b, &why));
    RunRow row = find_run(s, "a");
    assert_int_equal(row.last, 1);
    assert_int_equal(row.head, 0);
    assert_string_equal(row.status, "pending");
    run_row_clear(&row);
    store_batch_clear(&b);
    store_close(s);
}

static void a_checkpoint_of_the_same_number_is_replaced(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    StoreBatch b = STORE_BATCH_INIT;
    Checkpoint c;
    for (int64_t seq = 1; seq <= 5; seq++) {
        put_plain(&b, run, seq, "old", NULL);
    }
    MUST(store_commit(s, &b, &why));
    store_batch_reset(&b);
    store_batch_remove(&b, run, 1);
    store_batch_remove(&b, run, 4);
    put_plain(&b, run, 3, "new", "image");
    MUST(store_commit(s, &b, &why));
    MUST(store_checkpoint(s, run, 3, &c, &why));
    assert_memory_equal(c.patch, "new", 3);
    assert_int_equal(c.snapshot_len, 5);
    Seen seen = {.s = s};
    MUST(store_history(s, run, 0, see, NULL, &seen, &why));
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.seqs[2], 5);
    store_batch_clear(&b);
    store_close(s);
}

static void one_batch_writes_several_runs(void **state) {
    enum { RUNS = 100 };
    Store *s = open_store(*state, STORE_CREATE);
    int64_t runs[RUNS];
    StoreBatch b = STORE_BATCH_INIT;
    Checkpoint c;
    for (int i = 0; i < RUNS; i++) {
        runs[i] = make_run(s, NULL);
    }
    for (int64_t seq = 1; seq <= 3; seq++) {
        for (int i = RUNS; i--;) {
            put_plain(&b, runs[i], seq, "p", NULL);
            store_batch_run(&b, runs[i], seq, "running", seq);
        }
    }
    MUST(store_commit(s, &b, &why));
    for (int i = 0; i < RUNS; i++) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)runs[i]);
        RunRow row = find_run(s, number);
        assert_int_equal(row.last, 3);
        assert_int_equal(row.head, 3);
        run_row_clear(&row);
        MUST(store_checkpoint(s, runs[i], 2, &c, &why));
        assert_int_equal(c.run, runs[i]);
    }
    store_batch_clear(&b);
    store_close(s);
}

static void removing_a_run_leaves_the_others(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t a = make_run(s, "a"), b = make_run(s, "b");
    StoreBatch batch = STORE_BATCH_INIT;
    RunRow row;
    Checkpoint c;
    Error err = ERROR_INIT;
    put_plain(&batch, a, 1, "p", NULL);
    put_plain(&batch, b, 1, "p", NULL);
    MUST(store_commit(s, &batch, &why));
    store_batch_reset(&batch);
    store_batch_remove_run(&batch, a);
    put_plain(&batch, b, 2, "p", NULL);
    MUST(store_commit(s, &batch, &why));
    assert_false(store_find(s, "a", &row, &err));
    assert_false(store_checkpoint(s, a, 1, &c, &err));
    MUST(store_checkpoint(s, b, 2, &c, &why));
    int64_t again = make_run(s, "a");
    assert_true(again > b); /* numbers are not used again */
    store_batch_clear(&batch);
    store_close(s);
}

static void writing_needs_the_lease(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    StoreBatch b = STORE_BATCH_INIT;
    Error err = ERROR_INIT;
    put_plain(&b, run, 1, "p", NULL);
    store_release(s, run);
    assert_false(store_commit(s, &b, &err));
    expect_error(&err, ERR_BUSY, "its lease is not held");
    MUST(store_lease(s, run, &why));
    MUST(store_lease(s, run, &why));
    MUST(store_commit(s, &b, &why));
    assert_false(store_lease(s, 99, &err));
    expect_error(&err, ERR_NOT_FOUND, "There is no run 99");
    store_batch_clear(&b);
    store_close(s);
}

static void the_folder_is_there(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Error err = ERROR_INIT;
    struct stat st;
    char path[256];
    const char *folder = store_folder(s, &err);
    assert_non_null(folder);
    assert_int_equal(stat(folder, &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_ptr_equal(store_folder(s, &err), folder);
    snprintf(path, sizeof path, "%s/x", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s", folder);
    bool durable = store_is_durable(s);
    store_close(s);
    assert_int_equal(stat(path, &st) == 0, durable);
}

/* ---- several handles and processes ---- */

static void everything_is_there_after_reopening(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree t;
    tree_init(&t, s, "a");
    tree_grow(&t, 300, 7);
    store_close(s);
    s = open_store(*state, STORE_READ);
    RunRow row = find_run(s, "a");
    assert_int_equal(row.last, 300);
    assert_int_equal(row.head, 300);
    run_row_clear(&row);
    for (int64_t seq = 1; seq <= 300; seq++) {
        tree_expect(&t, s, seq);
    }
    expect_sound(s);
    store_close(s);
    tree_clear(&t);
}

static void another_handle_is_refused_while_the_lease_is_held(void **state) {
    Store *a = open_store(*state, STORE_CREATE), *b = open_store(*state, STORE_EXISTING);
    Error err = ERROR_INIT;
    char pid[32];
    int64_t run = make_run(a, "orders");
    assert_false(store_lease(b, run, &err));
    snprintf(pid, sizeof pid, "pid %ld", (long)getpid());
    expect_error(&err, ERR_BUSY, "Thread `orders` is being run by pid ");
    expect_error(&err, ERR_BUSY, pid);
    assert_non_null(strstr(err.facts, "\"thread\":\"orders\",\"holder\":\"pid "));
    assert_true(store_is_leased(a, run) && store_is_leased(b, run));
    store_release(a, run);
    assert_false(store_is_leased(a, run) || store_is_leased(b, run));
    MUST(store_lease(b, run, &why));
    assert_true(store_is_leased(a, run));
    assert_false(store_lease(a, run, &err));
    store_close(b);
    MUST(store_lease(a, run, &why));
    store_close(a);
}

/* Until nothing is heard: a folder's clock has to tick first. */
static bool becomes_quiet(Store *s) {
    for (int i = 0; i < 200; i++) {
        if (!store_heard(s)) {
            return true;
        }
        usleep(50 * 1000);
    }
    return false;
}

static void what_is_asked_is_heard_and_what_is_written_here_is_not(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    StoreBatch batch = STORE_BATCH_INIT;
    assert_true(becomes_quiet(s));
    for (int64_t seq = 1; seq < 20; seq++) {
        put_plain(&batch, run, seq, "p", NULL);
        MUST(store_commit(s, &batch, &why));
        store_batch_reset(&batch);
        assert_false(store_heard(s));
    }
    MUST(store_ask_cancel(s, run, &why));
    assert_true(store_heard(s));
    assert_true(becomes_quiet(s));
    store_batch_clear(&batch);
    store_close(s);
}

static void what_is_asked_through_another_handle_is_heard(void **state) {
    Store *a = open_store(*state, STORE_CREATE);
    int64_t run = make_run(a, "a");
    assert_true(becomes_quiet(a));
    Store *b = open_store(*state, STORE_EXISTING);
    MUST(store_ask_cancel(b, run, &why));
    assert_true(store_heard(a));
    store_close(b);
    store_close(a);
}

static void a_handle_sees_what_another_wrote(void **state) {
    Store *a = open_store(*state, STORE_CREATE), *b = open_store(*state, STORE_EXISTING);
    Tree t;
    tree_init(&t, a, "x");
    for (int i = 0; i < 5; i++) {
        tree_grow(&t, 20, 3);
        RunRow row = find_run(b, "x");
        assert_int_equal(row.last, t.last);
        run_row_clear(&row);
        tree_expect(&t, b, t.last);
    }
    bool cancel = false;
    MUST(store_ask_cancel(b, t.run, &why));
    MUST(store_asked(a, t.run, &cancel, &why));
    assert_true(cancel);
    /* a prunes under b's eyes, and then b goes on */
    StoreBatch batch = STORE_BATCH_INIT;
    for (int64_t seq = 1; seq < 50; seq++) {
        store_batch_remove(&batch, t.run, seq);
    }
    MUST(store_commit(a, &batch, &why));
    Checkpoint c;
    Error err = ERROR_INIT;
    assert_false(store_checkpoint(b, t.run, 3, &c, &err));
    MUST(store_checkpoint(b, t.run, 60, &c, &why));
    store_release(a, t.run);
    MUST(store_lease(b, t.run, &why));
    t.s = b;
    tree_grow(&t, 5, 1);
    RunRow row = find_run(a, "x");
    assert_int_equal(row.last, 105);
    run_row_clear(&row);
    store_batch_clear(&batch);
    store_close(a);
    store_close(b);
    tree_clear(&t);
}

static void a_reader_beside_the_writer_sees_what_is_committed(void **state) {
    Store *s = open_store(*state, STORE_CREATE), *r = NULL;
    Error err = ERROR_INIT;
    MUST((r = store_reader(s, &why)) != NULL);
    assert_string_equal(store_url(r), store_url(s));
    Tree t;
    tree_init(&t, s, "x");
    for (int i = 0; i < 5; i++) {
        tree_grow(&t, 20, 3);
        assert_int_equal(find_number(r, "x"), t.run);
        tree_expect(&t, r, t.last);
    }
    assert_true(store_is_leased(r, t.run));
    assert_false(store_holds(r, t.run));
    assert_false(store_lease(r, t.run, &err));
    expect_error(&err, ERR_USAGE, "opened for reading only");
    store_release(s, t.run);
    assert_false(store_is_leased(r, t.run));
    store_close(s);
    tree_expect(&t, r, t.last);
    store_close(r);
    tree_clear(&t);
}

/* A child that makes a store of its own, does something and ends. */
static int in_child(const Fixture *f, void (*fn)(const Fixture *f, int fd), int *out) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        fn(f, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    *out = ends[0];
    return pid;
}

static void hold_lease(const Fixture *f, int fd) {
    Store *s = store_open(f->url, STORE_EXISTING, NULL);
    bool ok = s && store_lease(s, 1, NULL);
    if (write(fd, ok ? "y" : "n", 1) == 1) {
        pause();
    }
}

static void the_lease_of_a_killed_process_is_free_at_once(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    int fd;
    char answer = 0;
    Error err = ERROR_INIT;
    store_release(s, run);
    int pid = in_child(*state, hold_lease, &fd);
    assert_int_equal(read(fd, &answer, 1), 1);
    assert_int_equal(answer, 'y');
    assert_false(store_lease(s, run, &err));
    expect_error(&err, ERR_BUSY, "is being run by pid");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    MUST(store_lease(s, run, &why));
    close(fd);
    store_close(s);
}

/* Opens a new store in each round, as its siblings do, and says the first refusal. */
enum { MAKERS = 4, ROUNDS = 100 };

static void make_beside(const Fixture *f, int fd) {
    Error err = ERROR_INIT;
    char url[200];
    for (int i = 0; i < ROUNDS && err.code == ERR_NONE; i++) {
        snprintf(url, sizeof url, "%s-%d", f->url, i);
        store_close(store_open(url, STORE_CREATE, &err));
    }
    const char *said = err.code != ERR_NONE ? err.msg : "y";
    if (write(fd, said, strlen(said)) < 0) {
        _exit(1);
    }
}

static void processes_make_one_store_at_once(void **state) {
    int fds[MAKERS], pids[MAKERS];
    for (int i = 0; i < MAKERS; i++) {
        pids[i] = in_child(*state, make_beside, &fds[i]);
    }
    char answers[MAKERS][ERROR_MSG_MAX] = {{0}};
    for (int i = 0; i < MAKERS; i++) {
        assert_true(read(fds[i], answers[i], sizeof answers[i] - 1) > 0);
        close(fds[i]);
        waitpid(pids[i], NULL, 0);
    }
    for (int i = 0; i < MAKERS; i++) {
        assert_string_equal(answers[i], "y");
    }
}

/* Writes runs of its own beside other processes. */
static void write_beside(const Fixture *f, int fd) {
    Store *s = store_open(f->url, STORE_CREATE, NULL);
    char ok = 'y';
    for (int i = 0; i < 10 && s; i++) {
        Tree t;
        tree_init(&t, s, NULL);
        tree_grow(&t, 20, 4);
        tree_clear(&t);
    }
    ok = s ? 'y' : 'n';
    store_close(s);
    if (write(fd, &ok, 1) != 1) {
        _exit(1);
    }
}

static void processes_write_different_runs_at_once(void **state) {
    enum { PROCESSES = 4 };
    int fds[PROCESSES], pids[PROCESSES], count = 0;
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = in_child(*state, write_beside, &fds[i]);
    }
    for (int i = 0; i < PROCESSES; i++) {
        char answer = 0;
        assert_int_equal(read(fds[i], &answer, 1), 1);
        assert_int_equal(answer, 'y');
        close(fds[i]);
        waitpid(pids[i], NULL, 0);
    }
    Store *s = open_store(*state, STORE_EXISTING);
    MUST(store_runs(s, count_row, &count, &why));
    assert_int_equal(count, 10 * PROCESSES);
    expect_sound(s);
    store_close(s);
}

/* Commits without end and says after each how far it got. */
static void commit_without_end(const Fixture *f, int fd) {
    Store *s = store_open(f->url, STORE_EXISTING, NULL);
    Error err = ERROR_INIT;
    RunRow row;
    if (!s || !store_find(s, "a", &row, &err) || !store_lease(s, row.run, &err)) {
        return;
    }
    StoreBatch b = STORE_BATCH_INIT;
    Buf patch = BUF_INIT;
    for (int64_t seq = row.last + 1;;) {
        store_batch_reset(&b);
        for (int i = 0; i < 5; i++, seq++) {
            Json change = parse("[[[],0]]"), value = json_int(seq);
            change = json_array_set(
                change, 0, json_array_push(json_array_push(json_array(), json_array()), value));
            buf_reset(&patch);
            json_encode(change, &patch);
            json_unref(change);
            store_batch_checkpoint(&b, &(Checkpoint){.run = row.run,
                                                     .seq = seq,
                                                     .parent = seq - 1,
                                                     .step = seq,
                                                     .at = seq,
                                                     .node = "n",
                                                     .status = "completed",
                                                     .patch = patch.data,
                                                     .patch_len = patch.len});
        }
        store_batch_run(&b, row.run, seq - 1, "running", seq);
        int64_t done = seq - 1;
        if (!store_commit(s, &b, &err) || write(fd, &done, sizeof done) != sizeof done) {
            return;
        }
    }
}

static void nothing_acknowledged_is_lost_by_a_kill(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    make_run(s, "a");
    store_close(s);
    for (int round = 0; round < 12; round++) {
        int fd;
        int64_t acknowledged = 0, seen;
        int pid = in_child(*state, commit_without_end, &fd);
        for (int i = 0; i <= round * 3; i++) {
            assert_int_equal(read(fd, &acknowledged, sizeof acknowledged), sizeof acknowledged);
        }
        usleep((useconds_t)(round * 137));
        kill(pid, SIGKILL);
        while (read(fd, &seen, sizeof seen) == sizeof seen) {
            acknowledged = seen;
        }
        waitpid(pid, NULL, 0);
        close(fd);
        s = open_store(*state, STORE_EXISTING);
        RunRow row = find_run(s, "a");
        MUST(store_lease(s, row.run, &why));
        run_row_clear(&row);
        row = find_run(s, "a");
        assert_true(row.last >= acknowledged);
        assert_int_equal(row.last % 5, 0); /* all of a batch or nothing */
        assert_int_equal(row.head, row.last);
        Error err = ERROR_INIT;
        Json image = chain_image(s, row.run, row.last, NULL, &err);
        assert_true(json_tag(image) == JSON_TAG_INT && image.i == row.last);
        run_row_clear(&row);
        expect_sound(s);
        store_close(s);
    }
}

/* ---- opening ---- */

static void a_store_that_is_not_there_says_how_one_comes_about(void **state) {
    Fixture *f = *state;
    Error err = ERROR_INIT;
    assert_null(store_open(f->url, STORE_EXISTING, &err));
    expect_error(&err, ERR_NOT_FOUND, "There is no store ");
    expect_error(&err, ERR_NOT_FOUND, "nothing was run here yet");
    assert_non_null(strstr(err.facts, "\"store\":"));
    assert_null(store_open(f->url, STORE_READ, &err));
    struct stat st;
    assert_int_not_equal(stat(f->path, &st), 0);
}

static void folders_above_are_made(void **state) {
    Fixture f = **(Fixture **)state;
    snprintf(f.url, sizeof f.url, "%s:%s/x/y/z.db", f.scheme, f.folder);
    Store *s = open_store(&f, STORE_CREATE);
    assert_string_equal(store_url(s), f.url);
    store_close(s);
}

static void a_reader_does_not_write(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    store_close(s);
    s = open_store(*state, STORE_READ);
    Error err = ERROR_INIT;
    RunRow row;
    StoreBatch b = STORE_BATCH_INIT;
    put_plain(&b, run, 1, "p", NULL);
    assert_false(store_lease(s, run, &err));
    expect_error(&err, ERR_USAGE, "opened for reading only");
    assert_false(store_create_run(s, "b", "w", "", &row, &err));
    assert_false(store_commit(s, &b, &err));
    assert_false(store_ask_cancel(s, run, &err));
    assert_null(store_define(s, json_null(), &err));
    store_batch_clear(&b);
    store_close(s);
}

static void urls_are_understood(void **state) {
    (void)state;
    static const struct {
        const char *url, *part;
    } bad[] = {
        {"postgres://x/y", "not part of this build"},
        {"postgresql://x/y", "not part of this build"},
        {"redis:x",
         "There is no kind of store called `redis`; take sqlite:PATH, file:DIR or memory:"},
        {"sqlite:", "lacks a path"},
        {"file:", "lacks a path"},
        {"memory:x", "has no path"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Error err = ERROR_INIT;
        assert_null(store_open(bad[i].url, STORE_CREATE, &err));
        expect_error(&err, ERR_USAGE, bad[i].part);
    }
}

static void a_path_alone_is_sqlite(void **state) {
    Fixture *f = *state;
    Error err = ERROR_INIT;
    Store *s = store_open(f->path, STORE_CREATE, &err);
    assert_non_null(s);
    assert_string_equal(store_url(s), f->url);
    store_close(s);
}

/* ---- runs that a batch makes ---- */

static void add_new(StoreBatch *b, int64_t stand_in, const char *thread, int64_t checkpoints) {
    Json definition = parse("{\"main\":\"a.yaml\"}");
    store_batch_create(b, &(StoreCreate){.stand_in = stand_in,
                                         .thread = thread,
                                         .workflow = "flow",
                                         .definition = definition});
    json_unref(definition);
    for (int64_t seq = 1; seq <= checkpoints; seq++) {
        put_plain(b, stand_in, seq, "change", NULL);
    }
    store_batch_run(b, stand_in, checkpoints, "running", 1000);
}

static void expect_made(Store *s, StoreBatch *b, size_t n, const char *thread) {
    RunRow row;
    Error err = ERROR_INIT;
    bool made = store_batch_made(s, b, n, &row, &err);
    if (!thread) {
        assert_false(made);
        expect_error(&err, ERR_EXISTS, "There is a thread `");
        return;
    }
    if (!made) fail_msg("%s", err.msg);
    assert_string_equal(row.thread, thread);
    assert_true(row.run > 0 && store_holds(s, row.run));
    run_row_clear(&row);
}

static void a_batch_makes_a_run_with_all_that_it_did(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    StoreBatch b = STORE_BATCH_INIT;
    Checkpoint c;
    add_new(&b, -1, "a", 3);
    MUST(store_commit(s, &b, &why));
    expect_made(s, &b, 0, "a");
    RunRow row = find_run(s, "a");
    assert_int_equal(row.head, 3);
    assert_int_equal(row.last, 3);
    assert_string_equal(row.status, "running");
    assert_string_equal(row.workflow, "flow");
    MUST(store_checkpoint(s, row.run, 3, &c, &why));
    assert_int_equal(c.run, row.run);
    Json definition = store_definition(s, row.definition, NULL);
    assert_false(json_is_none(definition));
    json_unref(definition);
    run_row_clear(&row);
    store_batch_clear(&b);
    store_close(s);
}

static void many_runs_are_made_beside_others_that_go_on(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    StoreBatch b = STORE_BATCH_INIT;
    int64_t old = make_run(s, "old");
    char name[16];
    for (int64_t i = 1; i <= 50; i++) {
        snprintf(name, sizeof name, "t%d", (int)i);
        add_new(&b, -i, i % 2 ? name : NULL, 2);
        put_plain(&b, old, i, "change", NULL);
    }
    store_batch_run(&b, old, 50, "running", 2000);
    MUST(store_commit(s, &b, &why));
    expect_made(s, &b, 0, "t1");
    expect_made(s, &b, 1, "run-3");
    expect_made(s, &b, 48, "t49");
    RunRow row = find_run(s, "old");
    assert_int_equal(row.head, 50);
    run_row_clear(&row);
    row = find_run(s, "t49");
    assert_int_equal(row.head, 2);
    run_row_clear(&row);
    store_batch_clear(&b);
    store_close(s);
}

static void a_thread_that_is_there_fails_alone(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    StoreBatch b = STORE_BATCH_INIT;
    int64_t old = make_run(s, "old");
    put_plain(&b, old, 1, "change", NULL);
    store_batch_run(&b, old, 1, "running", 500);
    add_new(&b, -1, "new", 2);
    add_new(&b, -2, "old", 2); /* there before */
    add_new(&b, -3, "new", 2); /* there by now */
    store_batch_release(&b, -3);
    add_new(&b, -4, "last", 1);
    MUST(store_commit(s, &b, &why));
    expect_made(s, &b, 0, "new");
    expect_made(s, &b, 1, NULL);
    expect_made(s, &b, 2, NULL);
    expect_made(s, &b, 3, "last");
    int n = 0;
    MUST(store_runs(s, count_row, &n, &why));
    assert_int_equal(n, 3);
    RunRow row = find_run(s, "old");
    assert_int_equal(row.last, 1);
    run_row_clear(&row);
    /* those who are not told yet may still write */
    StoreBatch next = {.before = &b};
    put_plain(&next, -2, 3, "change", NULL);
    put_plain(&next, -4, 2, "change", NULL);
    store_batch_run(&next, -4, 2, "completed", 3000);
    store_batch_release(&next, -4);
    store_batch_reset(&b);
    MUST(store_commit(s, &next, &why));
    store_batch_clear(&next);
    row = find_run(s, "last");
    assert_int_equal(row.head, 2);
    assert_string_equal(row.status, "completed");
    assert_false(store_holds(s, row.run));
    run_row_clear(&row);
    row = find_run(s, "old");
    assert_int_equal(row.last, 1);
    run_row_clear(&row);
    store_batch_clear(&b);
    store_close(s);
}

static void a_batch_of_nothing_but_threads_that_are_there_changes_nothing(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    StoreBatch b = STORE_BATCH_INIT;
    make_run(s, "a");
    add_new(&b, -1, "a", 2);
    MUST(store_commit(s, &b, &why));
    expect_made(s, &b, 0, NULL);
    int64_t next = make_run(s, "b"); /* the store goes on */
    assert_true(next > 0);
    store_batch_clear(&b);
    store_close(s);
}

static void a_batch_that_fails_makes_no_runs(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    StoreBatch b = STORE_BATCH_INIT;
    Error err = ERROR_INIT;
    int64_t old = make_run(s, "old");
    store_release(s, old);
    add_new(&b, -1, "new", 2);
    put_plain(&b, old, 1, "change", NULL); /* without the lease */
    assert_false(store_commit(s, &b, &err));
    expect_error(&err, ERR_BUSY, "its lease is not held here");
    RunRow row;
    assert_false(store_find(s, "new", &row, NULL));
    MUST(store_lease(s, old, &why));
    MUST(store_commit(s, &b, &why)); /* the batch is still there */
    expect_made(s, &b, 0, "new");
    store_batch_clear(&b);
    store_close(s);
}

static void a_lease_is_released_by_the_batch(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    StoreBatch b = STORE_BATCH_INIT;
    int64_t run = make_run(s, "a");
    put_plain(&b, run, 1, "change", NULL);
    store_batch_run(&b, run, 1, "completed", 1000);
    store_batch_release(&b, run);
    assert_true(store_holds(s, run));
    MUST(store_commit(s, &b, &why));
    assert_false(store_holds(s, run));
    assert_false(store_is_leased(s, run));
    store_batch_clear(&b);
    store_close(s);
}

static void make_without_end(const Fixture *f, int fd) {
    Store *s = open_store(f, STORE_CREATE);
    StoreBatch b = STORE_BATCH_INIT;
    for (int i = 0;; i += 3) {
        store_batch_reset(&b);
        for (int k = 0; k < 3; k++) {
            char name[16];
            snprintf(name, sizeof name, "t%d", i + k);
            add_new(&b, -1 - k, name, 2);
        }
        if (!store_commit(s, &b, NULL) || write(fd, &i, sizeof i) != sizeof i) _exit(1);
    }
}

static void runs_that_were_acknowledged_outlive_a_kill(void **state) {
    const Fixture *f = *state;
    for (int round = 0; round < 5; round++) {
        int fd, acknowledged = -1, n;
        fixture_shell("rm -rf %s/*", f->folder);
        pid_t pid = in_child(f, make_without_end, &fd);
        for (int k = 0; k < 2 + 3 * round && read(fd, &n, sizeof n) == sizeof n; k++) {
            acknowledged = n;
        }
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        while (read(fd, &n, sizeof n) == sizeof n) acknowledged = n;
        close(fd);
        Store *s = open_store(f, STORE_EXISTING);
        int count = 0;
        MUST(store_runs(s, count_row, &count, &why));
        assert_int_equal(count % 3, 0); /* all of a batch or nothing of it */
        assert_true(count >= acknowledged + 3);
        for (int i = 0; i < count; i++) {
            char name[16];
            Checkpoint c;
            snprintf(name, sizeof name, "t%d", i);
            RunRow row = find_run(s, name);
            assert_int_equal(row.head, 2);
            MUST(store_checkpoint(s, row.run, 2, &c, &why));
            run_row_clear(&row);
        }
        make_run(s, "more");
        store_close(s);
    }
}

/* ---- the list ---- */

static const Behaviour behaviours[] = {
    BEHAVIOUR(a_run_is_found_by_its_thread_and_by_its_number, ALL),
    BEHAVIOUR(a_thread_that_is_a_number_comes_before_the_number_of_a_run, ALL),
    BEHAVIOUR(a_run_without_a_thread_is_named_by_its_number, ALL),
    BEHAVIOUR(a_thread_is_made_once, ALL),
    BEHAVIOUR(names_of_threads_are_text, ALL),
    BEHAVIOUR(any_text_is_a_name, ALL),
    BEHAVIOUR(an_unknown_thread_brings_up_the_nearest, ALL),
    BEHAVIOUR(runs_are_listed_the_one_updated_last_first, ALL),
    BEHAVIOUR(runs_come_a_page_at_a_time, ALL),
    BEHAVIOUR(a_wish_to_cancel_is_seen_until_the_next_lease, ALL),
    BEHAVIOUR(a_definition_has_one_key, ALL),
    BEHAVIOUR(a_checkpoint_comes_back_as_it_was, ALL),
    BEHAVIOUR(the_result_of_a_checkpoint_comes_back, ALL),
    BEHAVIOUR(a_large_checkpoint_comes_back_too, ALL),
    BEHAVIOUR(a_checkpoint_that_is_not_there_says_why, ALL),
    BEHAVIOUR(history_is_in_order_from_where_it_is_asked, ALL),
    BEHAVIOUR(a_batch_sets_head_status_and_last, ALL),
    BEHAVIOUR(a_checkpoint_without_facts_still_counts, ALL),
    BEHAVIOUR(a_checkpoint_of_the_same_number_is_replaced, ALL),
    BEHAVIOUR(one_batch_writes_several_runs, ALL),
    BEHAVIOUR(removing_a_run_leaves_the_others, ALL),
    BEHAVIOUR(writing_needs_the_lease, ALL),
    BEHAVIOUR(the_folder_is_there, ALL),
    BEHAVIOUR(a_batch_makes_a_run_with_all_that_it_did, ALL),
    BEHAVIOUR(many_runs_are_made_beside_others_that_go_on, ALL),
    BEHAVIOUR(a_thread_that_is_there_fails_alone, ALL),
    BEHAVIOUR(a_batch_of_nothing_but_threads_that_are_there_changes_nothing, ALL),
    BEHAVIOUR(a_batch_that_fails_makes_no_runs, ALL),
    BEHAVIOUR(a_lease_is_released_by_the_batch, ALL),
    BEHAVIOUR(runs_that_were_acknowledged_outlive_a_kill, DURABLE),
    BEHAVIOUR(everything_is_there_after_reopening, DURABLE),
    BEHAVIOUR(another_handle_is_refused_while_the_lease_is_held, DURABLE),
    BEHAVIOUR(what_is_asked_is_heard_and_what_is_written_here_is_not, ALL),
    BEHAVIOUR(what_is_asked_through_another_handle_is_heard, DURABLE),
    BEHAVIOUR(a_handle_sees_what_another_wrote, DURABLE),
    BEHAVIOUR(a_reader_beside_the_writer_sees_what_is_committed, ALL),
    BEHAVIOUR(the_lease_of_a_killed_process_is_free_at_once, DURABLE),
    BEHAVIOUR(processes_make_one_store_at_once, DURABLE),
    BEHAVIOUR(processes_write_different_runs_at_once, DURABLE),
    BEHAVIOUR(nothing_acknowledged_is_lost_by_a_kill, DURABLE),
    BEHAVIOUR(a_store_that_is_not_there_says_how_one_comes_about, DURABLE),
    BEHAVIOUR(folders_above_are_made, DURABLE),
    BEHAVIOUR(a_reader_does_not_write, DURABLE),
    BEHAVIOUR(urls_are_understood, ALL),
    BEHAVIOUR(a_path_alone_is_sqlite, SQLITE),
};

int main(void) {
    return run_behaviours("store", behaviours, sizeof behaviours / sizeof *behaviours);
}
