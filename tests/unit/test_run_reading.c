/* Runs as the store has them: lists, one, its checkpoints, its state, two of them. */
#include "host_world.h"
#include "mem.h"
#include "run_reading.h"
#include "store.h"

static const char two[] =
    "name: two\nnodes:\n  - {name: a, jq: '{n: 1, list: [1, 2]}'}\n  - {name: b, jq: '{n: 2}'}\n";

typedef struct Desk {
    World w;
    Store *store;
} Desk;

/* Three runs: `done`, `asking` and `again`, the last one changed last. */
static void desk_up(Desk *d) {
    Error err = ERROR_INIT;
    world_up(&d->w, "sqlite");
    run_until(&d->w, "done", two, "completed");
    usleep(2000);
    run_until(&d->w, "asking", asks, "interrupted");
    usleep(2000);
    run_until(&d->w, "again", two, "completed");
    while (host_next(d->w.host, NULL)) {
        uv_run(&d->w.loop, UV_RUN_ONCE);
    }
    d->store = store_open(d->w.url, STORE_EXISTING, &err);
    if (!d->store) fail_msg("%s", err.msg);
}

static void desk_down(Desk *d) {
    store_close(d->store);
    world_down(&d->w);
}

/* Consumes args. */
static Json must(Desk *d, ReadCall *call, Json args) {
    Error err = ERROR_INIT;
    Json out = call(d->store, args, &err);
    if (json_is_none(out)) fail_msg("%s", err.msg);
    json_unref(args);
    return out;
}

static Error fails(Desk *d, ReadCall *call, Json args) {
    Error err = ERROR_INIT;
    Json out = call(d->store, args, &err);
    assert_true(json_is_none(out));
    assert_true(err.code != ERR_NONE);
    json_unref(args);
    return err;
}

static void expect_threads(Json list, const char *names) {
    Buf got = BUF_INIT;
    Json runs = json_object_get_c(list, "runs");
    for (size_t i = 0; i < json_array_len(runs); i++) {
        buf_printf(&got, "%s%s", i ? " " : "", text_of(json_array_get(runs, i), "thread"));
    }
    assert_string_equal(got.len ? got.data : "", names);
    buf_clear(&got);
    json_unref(list);
}

static void runs_are_listed_from_the_one_that_changed_last(void **state) {
    Desk d;
    (void)state;
    desk_up(&d);
    expect_threads(must(&d, stored_runs, json_object()), "again asking done");
    expect_threads(must(&d, stored_runs, OBJECT(KEY("status", "completed"))), "again done");
    expect_threads(must(&d, stored_runs, OBJECT(KEY("status", "failed"))), "");
    desk_down(&d);
}

static void a_list_goes_on_where_its_page_ended(void **state) {
    Desk d;
    (void)state;
    desk_up(&d);
    Json page = must(&d, stored_runs, OBJECT(KEY("limit", json_int(2))));
    Json next = json_ref(json_object_get_c(page, "next"));
    assert_int_equal(json_kind(next), JSON_STRING);
    expect_threads(page, "again asking");
    Json rest = must(&d, stored_runs, OBJECT(KEY("limit", json_int(2)), KEY("after", next)));
    assert_true(json_is_none(json_object_get_c(rest, "next")));
    expect_threads(rest, "done");
    Error err = fails(&d, stored_runs, OBJECT(KEY("after", "yesterday")));
    assert_int_equal(err.code, ERR_USAGE);
    desk_down(&d);
}

static void runs_are_found_by_their_workflow_and_by_text(void **state) {
    Desk d;
    (void)state;
    desk_up(&d);
    expect_threads(must(&d, stored_runs, OBJECT(KEY("workflow", "two"))), "again done");
    expect_threads(must(&d, stored_runs, OBJECT(KEY("workflow", "tw"))), "");
    expect_threads(must(&d, stored_runs, OBJECT(KEY("search", "DON"))), "done");
    expect_threads(must(&d, stored_runs, OBJECT(KEY("search", "ask"))), "asking");
    expect_threads(must(&d, stored_runs, OBJECT(KEY("search", "a"))), "again asking");
    expect_threads(must(&d, stored_runs, OBJECT(KEY("search", "n"), KEY("status", "interrupted"))),
                   "asking");
    Json page = must(&d, stored_runs, OBJECT(KEY("workflow", "two"), KEY("limit", json_int(1))));
    Json next = json_ref(json_object_get_c(page, "next"));
    expect_threads(page, "again");
    Json rest = must(&d, stored_runs, OBJECT(KEY("workflow", "two"), KEY("after", next)));
    assert_true(json_is_none(json_object_get_c(rest, "next")));
    expect_threads(rest, "done");
    desk_down(&d);
}

static void runs_are_found_by_when_they_changed(void **state) {
    Desk d;
    (void)state;
    desk_up(&d);
    Json run = must(&d, stored_run, OBJECT(KEY("thread", "asking")));
    Json at = json_object_get_c(run, "updated");
    expect_threads(must(&d, stored_runs, OBJECT(KEY("since", json_ref(at)))), "again asking");
    expect_threads(must(&d, stored_runs, OBJECT(KEY("before", json_ref(at)))), "done");
    expect_threads(
        must(&d, stored_runs, OBJECT(KEY("since", json_ref(at)), KEY("before", json_ref(at)))), "");
    Json page = must(&d, stored_runs, OBJECT(KEY("limit", json_int(2))));
    expect_threads(must(&d, stored_runs,
                        OBJECT(KEY("after", json_ref(json_object_get_c(page, "next"))),
                               KEY("before", "2999-01-01T00:00:00.000Z"))),
                   "done");
    json_unref(page);
    json_unref(run);
    Error err = fails(&d, stored_runs, OBJECT(KEY("since", "yesterday")));
    assert_int_equal(err.code, ERR_USAGE);
    desk_down(&d);
}

/* What is rare is not looked for in all of a large store at once: a page says where to go on. */
static void a_page_looks_at_so_many_runs_and_no_more(void **state) {
    enum { MANY = PAGE_MAX + 10 };
    Error err = ERROR_INIT;
    StoreBatch b = STORE_BATCH_INIT;
    (void)state;
    Desk d = {.store = store_open("memory:", STORE_CREATE, &err)};
    assert_non_null(d.store);
    Json none = json_object();
    char *key = store_define(d.store, none, &err);
    for (int i = 0; i < MANY; i++) {
        char thread[32];
        snprintf(thread, sizeof thread, "run-%d", i + 1);
        StoreCreate made = {.stand_in = -1 - i,
                            .thread = thread,
                            .workflow = "w",
                            .definition = json_none(),
                            .key = key,
                            .at = 1000 + i};
        store_batch_create(&b, &made);
        store_batch_run(&b, made.stand_in, 0, "completed", made.at);
    }
    assert_true(store_commit(d.store, &b, &err));
    Json page = must(&d, stored_runs, OBJECT(KEY("search", "RUN-7"), KEY("limit", json_int(9000))));
    Json next = json_ref(json_object_get_c(page, "next"));
    assert_int_equal(json_kind(next), JSON_STRING);
    assert_int_equal(json_array_len(json_object_get_c(page, "runs")), 1110);
    json_unref(page);
    expect_threads(must(&d, stored_runs, OBJECT(KEY("search", "run-7"), KEY("after", next))),
                   "run-7");
    mem_free(key);
    json_unref(none);
    store_batch_clear(&b);
    store_close(d.store);
}

static void a_run_is_shown_with_what_it_waits_for(void **state) {
    Desk d;
    (void)state;
    desk_up(&d);
    Json run = must(&d, stored_run, OBJECT(KEY("thread", "asking"), KEY("state", json_bool(true))));
    assert_string_equal(text_of(run, "status"), "interrupted");
    Json asked = json_array_get(json_object_get_c(run, "interrupts"), 0);
    assert_string_equal(text_of(asked, "prompt"), "Well?");
    expect_json(json_object_get_c(run, "state"), "{}");
    json_unref(run);
    run = must(&d, stored_run, json_object());
    assert_string_equal(text_of(run, "thread"), "again");
    json_unref(run);
    Error err = fails(&d, stored_run, OBJECT(KEY("thread", "don")));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    desk_down(&d);
}

static void checkpoints_come_in_pages_and_from_the_end(void **state) {
    Desk d;
    (void)state;
    desk_up(&d);
    Json all = must(&d, stored_history, OBJECT(KEY("thread", "done")));
    Json list = json_object_get_c(all, "checkpoints");
    size_t n = json_array_len(list);
    assert_true(n >= 3);
    assert_true(json_is_none(json_object_get_c(all, "next")));
    Json first = must(&d, stored_history, OBJECT(KEY("thread", "done"), KEY("limit", json_int(2))));
    assert_int_equal(json_array_len(json_object_get_c(first, "checkpoints")), 2);
    expect_json(json_object_get_c(first, "next"), "3");
    Json last = must(&d, stored_history, OBJECT(KEY("thread", "done"), KEY("last", json_int(1))));
    Json end = json_object_get_c(last, "checkpoints");
    assert_int_equal(json_array_len(end), 1);
    assert_true(json_equal(json_array_get(end, 0), json_array_get(list, n - 1)));
    json_unref(all);
    json_unref(first);
    json_unref(last);
    desk_down(&d);
}

static void a_state_is_given_whole_or_in_part(void **state) {
    Desk d;
    (void)state;
    desk_up(&d);
    Json whole = must(&d, stored_state, OBJECT(KEY("thread", "done")));
    expect_json(json_object_get_c(whole, "state"), "{\"n\": 2, \"list\": [1, 2]}");
    Json part =
        must(&d, stored_state, OBJECT(KEY("thread", "done"), KEY("path", parse("[\"list\", 1]"))));
    expect_json(json_object_get_c(part, "state"), "2");
    json_unref(whole);
    json_unref(part);
    desk_down(&d);
}

static void two_runs_and_two_checkpoints_are_compared(void **state) {
    Desk d;
    (void)state;
    desk_up(&d);
    Json diff =
        must(&d, stored_diff,
             OBJECT(KEY("thread", "done"), KEY("checkpoint", json_int(1)), KEY("other", "done")));
    assert_int_equal(json_array_len(json_object_get_c(diff, "added")), 2);
    Json same = must(&d, stored_compare, OBJECT(KEY("thread", "done"), KEY("other", "again")));
    expect_json(json_object_get_c(same, "same"), "true");
    Json other = must(&d, stored_compare, OBJECT(KEY("thread", "done"), KEY("other", "asking")));
    expect_json(json_object_get_c(other, "same"), "false");
    json_unref(diff);
    json_unref(same);
    json_unref(other);
    desk_down(&d);
}

static void runs_that_have_ended_are_pruned(void **state) {
    Desk d;
    (void)state;
    desk_up(&d);
    Json report =
        must(&d, prune_runs,
             OBJECT(KEY("older_than", json_int(0)), KEY("finished_runs", json_bool(true))));
    expect_json(json_object_get_c(report, "removed_runs"), "2");
    json_unref(report);
    expect_threads(must(&d, stored_runs, json_object()), "asking");
    desk_down(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(runs_are_listed_from_the_one_that_changed_last),
        JSON_TEST(a_list_goes_on_where_its_page_ended),
        JSON_TEST(runs_are_found_by_their_workflow_and_by_text),
        JSON_TEST(runs_are_found_by_when_they_changed),
        JSON_TEST(a_page_looks_at_so_many_runs_and_no_more),
        JSON_TEST(a_run_is_shown_with_what_it_waits_for),
        JSON_TEST(checkpoints_come_in_pages_and_from_the_end),
        JSON_TEST(a_state_is_given_whole_or_in_part),
        JSON_TEST(two_runs_and_two_checkpoints_are_compared),
        JSON_TEST(runs_that_have_ended_are_pruned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
