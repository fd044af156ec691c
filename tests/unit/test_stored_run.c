/* A run as the store has it: its row, its image, the workflow that it had. */
#include "host_world.h"
#include "image.h"
#include "store.h"
#include "store_run.h"

static Store *store_of(World *w) {
    Error err = ERROR_INIT;
    Store *store = store_open(w->url, STORE_READ, &err);
    if (!store) fail_msg("%s", err.msg);
    return store;
}

static StoredRun must_read(Store *store, const char *thread, int64_t seq) {
    StoredRun run;
    Error err = ERROR_INIT;
    if (!stored_run_read(store, thread, seq, &run, &err)) fail_msg("%s", err.msg);
    return run;
}

static void expect_state(const StoredRun *run, const char *state) {
    expect_gives(image_state(run->image), state);
}

static void a_run_is_read_where_it_stands_and_where_it_stood(void **state) {
    World w;
    (void)state;
    world_up(&w, "sqlite");
    run_until(&w, "t", counts, "completed");
    Store *store = store_of(&w);
    StoredRun now = must_read(store, "t", 0), then = must_read(store, "t", 1);
    assert_string_equal(now.row.thread, "t");
    assert_string_equal(now.row.status, "completed");
    assert_int_equal(now.seq, now.row.head);
    assert_int_equal(then.seq, 1);
    expect_state(&now, "{\"n\": 1}");
    expect_state(&then, "{}");
    assert_true(json_string_is(now.folder, w.folder));
    stored_run_clear(&now);
    stored_run_clear(&then);
    store_close(store);
    world_down(&w);
}

/* A run that was resumed with another workflow has each where it had it. */
static void its_workflow_is_the_one_that_it_had_there(void **state) {
    static const char more[] = "name: more\nnodes:\n  - {name: a, approval: {prompt: 'Well?'}}\n"
                               "  - {name: b, jq: '{n: 2}'}\n";
    World w;
    (void)state;
    world_up(&w, "sqlite");
    run_until(&w, "t", asks, "interrupted");
    while (host_find(w.host, "t")) {
        uv_run(&w.loop, UV_RUN_ONCE);
    }
    Json first = answer_of(&w, "run_get", OBJECT(KEY("thread", "t")));
    int64_t before = json_object_get_c(first, "checkpoint").i;
    json_unref(first);
    json_unref(answer_of(&w, "run_resume",
                         OBJECT(KEY("thread", "t"), KEY("decision", "approve"),
                                KEY("definition", definition(more)))));
    while (host_find(w.host, "t")) {
        uv_run(&w.loop, UV_RUN_ONCE);
    }
    Store *store = store_of(&w);
    StoredRun then = must_read(store, "t", before), now = must_read(store, "t", 0);
    Flow *had = stored_run_flow(&then, NULL), *has = stored_run_flow(&now, NULL);
    assert_string_equal(had->name, "asks");
    assert_string_equal(has->name, "more");
    flow_unref(had);
    flow_unref(has);
    stored_run_clear(&then);
    stored_run_clear(&now);
    store_close(store);
    world_down(&w);
}

static void what_is_not_there_is_said(void **state) {
    World w;
    StoredRun run;
    Error no_run = ERROR_INIT, no_checkpoint = ERROR_INIT;
    (void)state;
    world_up(&w, "sqlite");
    run_until(&w, "orders", counts, "completed");
    Store *store = store_of(&w);
    assert_false(stored_run_read(store, "order", 0, &run, &no_run));
    assert_int_equal(no_run.code, ERR_NOT_FOUND);
    assert_non_null(strstr(no_run.msg, "orders"));
    assert_false(stored_run_read(store, "orders", 99, &run, &no_checkpoint));
    assert_int_equal(no_checkpoint.code, ERR_NOT_FOUND);
    store_close(store);
    world_down(&w);
}

/* Its process died before it had one. */
static void a_run_without_a_checkpoint_is_said_to_have_none(void **state) {
    World w;
    StoredRun run;
    RunRow row;
    Error err = ERROR_INIT;
    (void)state;
    world_up(&w, "sqlite");
    Store *store = store_open(w.url, STORE_CREATE, &err);
    assert_non_null(store);
    assert_true(store_create_run(store, "t", "w", "", &row, &err));
    run_row_clear(&row);
    assert_false(stored_run_read(store, "t", 0, &run, &err));
    assert_int_equal(err.code, ERR_DATA);
    assert_string_equal(err.msg, "Thread t has no checkpoint yet.");
    store_close(store);
    world_down(&w);
}

static void a_workflow_that_does_not_load_is_said_with_its_problem(void **state) {
    StoredRun run = {.row = {.thread = (char *)"t"},
                     .definition = definition("nodes: [{name: a, jqq: .}]")};
    Error err = ERROR_INIT;
    (void)state;
    assert_null(stored_run_flow(&run, &err));
    assert_int_equal(err.code, ERR_DATA);
    assert_non_null(strstr(err.msg, "The workflow stored with thread `t` does not load here: "));
    json_unref(run.definition);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(a_run_is_read_where_it_stands_and_where_it_stood),
        JSON_TEST(its_workflow_is_the_one_that_it_had_there),
        JSON_TEST(what_is_not_there_is_said),
        JSON_TEST(a_run_without_a_checkpoint_is_said_to_have_none),
        JSON_TEST(a_workflow_that_does_not_load_is_said_with_its_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
