/* What is said outside: names of events, and problem documents. */
#include "server_inside.h"

#include "json_test.h"

#include <errno.h>

static void events_have_names(void **state) {
    static const struct {
        const char *event, *name;
    } rows[] = {
        {"{\"event\":\"start\"}", "run.held"},
        {"{\"event\":\"step\",\"status\":\"started\"}", "run.started"},
        {"{\"event\":\"step\",\"status\":\"started\",\"node\":\"a\"}", "checkpoint"},
        {"{\"event\":\"settled\",\"status\":\"paused\"}", "run.paused"},
        {"{\"event\":\"settled\",\"status\":\"else\"}", "run.stopped"},
        {"{\"event\":\"step\",\"status\":\"completed\"}", "node.completed"},
        {"{\"event\":\"step\",\"status\":\"updated\"}", "checkpoint"},
        {"{\"event\":\"log\",\"breakpoint\":1}", "debug.log"},
        {"{\"event\":\"log\"}", "log"},
        {"{\"event\":\"resumed\",\"how\":\"skip\"}", "debug.task.skipped"},
        {"{\"event\":\"resumed\",\"how\":5}", "debug.frame.resumed"},
        {"{\"event\":\"unheard of\"}", "event"},
        {"{\"event\":5}", "event"},
        {"{}", "event"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Json event = parse(rows[i].event);
        assert_string_equal(event_name(event), rows[i].name);
        json_unref(event);
    }
}

/* What is wanted of `types`, and what is left of them for the operation. */
static void expect_taken(const char *types, const char *wanted, const char *left) {
    Json rest = parse(types), names = event_names_taken(&rest);
    expect_gives(names, wanted);
    expect_gives(rest, left);
}

static void types_have_two_vocabularies(void **state) {
    (void)state;
    expect_taken("[\"node\",\"step\"]", "[\"node\",\"step\"]", "(none)");
    expect_taken("[\"step\"]", "(none)", "[\"step\"]");
    expect_taken("[\"run.completed\",\"debug\"]", "[\"run.completed\",\"debug\"]", "(none)");
    expect_taken("[\"step\",\"run.*\"]", "[\"step\",\"run.*\"]", "(none)");
    expect_taken("[\"run.nonsense\"]", "(none)", "[\"run.nonsense\"]");
    expect_taken("[\"nonsense\",\"run\",5]", "[\"run\"]", "[\"nonsense\",5]");
    expect_taken("[\"\",\".*\",\".\"]", "(none)", "[\"\",\".*\",\".\"]");
    expect_taken("[]", "(none)", "(none)");
}

static bool wanted(const char *event, const char *types) {
    Json e = parse(event), t = parse(types);
    bool is = event_is_wanted(e, event_name(e), t, false);
    json_unref(e);
    json_unref(t);
    return is;
}

static void events_are_wanted_by_both(void **state) {
    static const char step[] = "{\"event\":\"step\",\"status\":\"completed\"}";
    (void)state;
    assert_true(wanted(step, "[\"node.completed\"]"));
    assert_true(wanted(step, "[\"node.*\"]"));
    assert_true(wanted(step, "[\"run\",\"step\"]"));
    assert_false(wanted(step, "[\"node.complete\"]"));
    assert_true(wanted(step, "[\"node\"]"));
    assert_false(wanted(step, "[\"run\",\"settled\"]"));
    assert_true(wanted("{\"event\":\"node\"}", "[\"node\"]"));
    assert_true(wanted("{\"event\":\"paused\"}", "[\"debug.frame\"]"));
    assert_false(wanted("{\"event\":\"paused\"}", "[]"));
    assert_true(event_is_wanted(json_none(), "x", json_none(), false));
}

static void problems_say_what_and_how(void **state) {
    Error err = ERROR_INIT;
    (void)state;
    error_set(&err, ERR_ENDED, "It has ended.");
    error_fact(&err, "thread", "t");
    error_fact(&err, "status", "completed");
    assert_int_equal(problem_status(&err), 409);
    expect_gives(
        problem_json(&err, 409),
        "{\"type\":\"about:blank\",\"title\":\"Conflict\",\"status\":409,\"detail\":\"It has ended.\","
        "\"code\":\"ended\",\"thread\":\"t\",\"run_status\":\"completed\",\"way_out\":"
        "\"POST /api/v1/runs/t/fork makes a new run from one of its checkpoints.\"}");
    error_set(&err, ERR_WRONG_STATE, "It is not paused.");
    assert_int_equal(problem_status(&err), 409);
    error_set(&err, ERR_IO, "No.");
    assert_int_equal(problem_status(&err), 500);
    error_fact(&err, "thread", "full");
    error_fact_full(&err, EACCES);
    assert_int_equal(problem_status(&err), 500);
    error_fact_full(&err, EDQUOT);
    assert_int_equal(problem_status(&err), 507);
    expect_gives(problem_json(&err, 507),
                 "{\"type\":\"about:blank\",\"title\":\"Insufficient Storage\",\"status\":507,"
                 "\"detail\":\"No.\",\"code\":\"io\",\"thread\":\"full\",\"full\":true}");
    for (int code = ERR_SYNTAX; code < ERR_CODES; code++) { /* each has a status of its own */
        error_set(&err, (ErrorCode)code, "x");
        assert_true(problem_status(&err) < 500 || code == ERR_IO);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(events_have_names),
        JSON_TEST(types_have_two_vocabularies),
        JSON_TEST(events_are_wanted_by_both),
        JSON_TEST(problems_say_what_and_how),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
