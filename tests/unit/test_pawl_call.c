/* Any operation by its name, from a program around pawl.h. */
#include "json_test.h"
#include "lib_inside.h"

#include <unistd.h>

#define DEFINITION                                                                       \
    "{\"main\": \"w.yaml\", \"files\": {\"w.yaml\": \"nodes: [{name: a, jq: '{n: 1}'}, " \
    "{name: b, jq: '{n: 2}'}]\"}}"

static PawlValue args_of(const char *text) {
    return value_of(parse(text));
}

static PawlValue start_args(const char *thread) {
    return pawl_object_set(args_of("{\"definition\": " DEFINITION "}"), "thread",
                           pawl_string(thread));
}

static PawlEngine *opened(const char *store, PawlEventFn on_event, void *ctx) {
    PawlError err;
    PawlEngine *e =
        pawl_engine_open(store, &(PawlEngineOptions){.on_event = on_event, .ctx = ctx}, &err);
    if (!e) fail_msg("%s", err.message);
    return e;
}

static void expect_part(PawlValue answer, const char *key, const char *want) {
    expect_json(json_object_get_c(json_of(answer), key), want);
}

static PawlValue called(PawlEngine *e, const char *operation, PawlValue args) {
    PawlError err;
    PawlValue answer = pawl_call(e, operation, args, &err);
    if (err.code || !pawl_value_kind(answer)) fail_msg("%s: %s", operation, err.message);
    return answer;
}

static void expect_refused(PawlEngine *e, const char *operation, PawlValue args, const char *part) {
    PawlError err;
    PawlValue answer = pawl_call(e, operation, args, &err);
    assert_int_equal(pawl_value_kind(answer), PAWL_NONE);
    assert_int_not_equal(err.code, PAWL_OK);
    expect_contains(err.message, part);
}

static size_t held_by(const PawlEngine *e) {
    size_t n = 0;
    for (const HostRun *r = host_next(e->host, NULL); r; r = host_next(e->host, r)) n++;
    return n;
}

/* ---- waiting for answers ---- */

static void what_acts_is_waited_for_and_what_looks_is_answered_at_once(void **state) {
    (void)state;
    PawlEngine *e = opened("memory:", NULL, NULL);
    PawlValue run = called(e, "run_start", start_args("t"));
    expect_part(run, "thread", "\"t\"");
    assert_true(pawl_engine_run(e, NULL));
    PawlValue now = called(e, "run_get", args_of("{\"thread\": \"t\", \"state\": true}"));
    expect_part(now, "status", "\"completed\"");
    expect_part(now, "state", "{\"n\":2}");
    pawl_value_unref(run);
    pawl_value_unref(now);
    pawl_engine_close(e);
}

static void an_error_has_a_code_a_sentence_and_facts(void **state) {
    (void)state;
    PawlError err;
    PawlEngine *e = opened("memory:", NULL, NULL);
    pawl_value_unref(pawl_call(e, "run_get", args_of("{\"thread\": \"t\"}"), &err));
    assert_int_equal(err.code, PAWL_USAGE);
    PawlValue error = pawl_error_value(&err);
    expect_part(error, "code", "\"not_found\"");
    expect_part(error, "thread", "\"t\"");
    assert_true(pawl_value_is(pawl_object_get(error, "message"), err.message));
    pawl_value_unref(error);
    expect_refused(e, "run_gett", value_of(json_none()), "did you mean `run_get`");
    expect_refused(e, "run_state", args_of("{\"thread\": 7}"), "`thread` of `run_state`");
    expect_refused(e, "run_state", args_of("[]"), "must be an object");
    expect_refused(e, "run_events", args_of("{}"), "subscribed to");
    pawl_engine_close(e);
}

static void a_run_that_was_started_by_name_is_nobodys_and_goes(void **state) {
    (void)state;
    PawlEngine *e = opened("memory:", NULL, NULL);
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        pawl_value_unref(called(e, "run_start", start_args(name)));
    }
    assert_true(pawl_engine_run(e, NULL));
    assert_int_equal(held_by(e), 0);
    pawl_engine_close(e);
}

static void what_a_change_is_made_of_is_checked(void **state) {
    static const char *const wrong[] = {"5",  "null",       "\"ab\"",
                                        "[]", "[\"a\", 1]", "[[\"a\"], 1, 2]"};
    PawlEngine *e = opened("memory:", NULL, NULL);
    (void)state;
    pawl_value_unref(called(e, "run_start", start_args("t")));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[80];
        snprintf(text, sizeof text, "{\"thread\": \"t\", \"set\": [%s]}", wrong[i]);
        expect_refused(e, "run_update", args_of(text), "`set`");
        expect_refused(e, "run_resume", args_of(text), "`set`");
    }
    expect_refused(e, "run_prune", args_of("{}"), "`keep_last`");
    expect_refused(e, "run_prune", args_of("{\"finished_runs\": true}"), "`older_than`");
    pawl_engine_close(e);
}

static void what_is_inside_an_argument_is_checked(void **state) {
    static const char *const wrong[][2] = {
        {"\"debug\": {\"pause\": true}", "`debug`"},
        {"\"debug\": {\"pause_on_start\": \"x\"}", ".pause_on_start"},
        {"\"debug\": {\"breakpoints\": 5}", ".breakpoints"},
        {"\"debug\": {\"breakpoints\": [\"two\"]}", ".breakpoints[0]"},
        {"\"debug\": {\"pause_all_on_breakpoint\": 7}", ".pause_all_on_breakpoint"},
        {"\"replay\": {\"x\": 1}", "`replay`"},
        {"\"replay\": {\"thread\": \"t\", \"checkpoint\": 0}", ".checkpoint"},
        {"\"definition\": {}", "`definition`"},
        {"\"definition\": {\"main\": \"w\", \"files\": {\"w\": 5}}", ".files.w"},
    };
    PawlEngine *e = opened("memory:", NULL, NULL);
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bool whole = strstr(wrong[i][0], "definition") != NULL;
        char text[400];
        snprintf(text, sizeof text, "{%s%s}", whole ? "" : "\"definition\": " DEFINITION ", ",
                 wrong[i][0]);
        expect_refused(e, "run_start", args_of(text), wrong[i][1]);
    }
    expect_refused(e, "runs", args_of("{\"after\": \"zzz\"}"), "`after`");
    expect_refused(e, "runs", args_of("{\"after\": \"1.2x\"}"), "`after`");
    PawlValue runs = called(e, "runs", args_of("{}"));
    assert_int_equal(pawl_array_len(pawl_object_get(runs, "runs")), 0);
    pawl_value_unref(runs);
    pawl_engine_close(e);
}

static void what_nobody_holds_is_not_said_to_go_on(void **state) {
    PawlError err;
    char folder[] = "/tmp/pawl-call-XXXXXX", url[40], gone[40];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(url, sizeof url, "file:%s", folder);
    snprintf(gone, sizeof gone, "rm -r %s", folder);
    PawlEngine *e = opened(url, NULL, NULL);
    PawlValue args = start_args("t");
    args = pawl_object_set(args, "debug", args_of("{\"pause_on_start\": true}"));
    pawl_value_unref(called(e, "run_start", args));
    assert_true(pawl_engine_run(e, NULL));
    pawl_engine_close(e);
    e = opened(url, NULL, NULL);
    pawl_value_unref(called(e, "run_open", args_of("{\"thread\": \"t\"}")));
    PawlValue went = pawl_call(e, "continue", args_of("{\"thread\": \"t\"}"), &err);
    bool goes = pawl_value_kind(went) != PAWL_NONE;
    pawl_value_unref(went);
    assert_true(pawl_engine_run(e, NULL));
    PawlValue run = called(e, "run_get", args_of("{\"thread\": \"t\"}"));
    expect_part(run, "status", goes ? "\"completed\"" : "\"paused\"");
    pawl_value_unref(run);
    pawl_engine_close(e);
    assert_int_equal(system(gone), 0);
}

static void all_operations_are_listed(void **state) {
    (void)state;
    PawlEngine *e = opened("memory:", NULL, NULL);
    PawlValue list = pawl_operations(), same = called(e, "operations", value_of(json_none()));
    assert_true(pawl_value_equal(list, pawl_object_get(same, "operations")));
    pawl_value_unref(list);
    pawl_value_unref(same);
    pawl_engine_close(e);
}

/* ---- answers that come later ---- */

typedef struct Told {
    PawlEngine *engine;
    int answers, errors, events;
    bool tried;
} Told;

static void on_answer(void *ctx, PawlValue answer, const PawlError *err) {
    Told *t = ctx;
    assert_int_equal(pawl_value_kind(answer) == PAWL_NONE, err != NULL);
    t->answers += !err;
    t->errors += err != NULL;
}

static void the_engine_runs_until_all_are_answered(void **state) {
    (void)state;
    Told told = {0};
    PawlEngine *e = opened("memory:", NULL, NULL);
    pawl_call_later(e, "run_start", start_args("t"), on_answer, &told);
    pawl_call_later(e, "store_info", value_of(json_none()), on_answer, &told);
    pawl_call_later(e, "nothing", value_of(json_none()), on_answer, &told);
    assert_true(pawl_engine_run(e, NULL));
    assert_int_equal(told.answers, 2);
    assert_int_equal(told.errors, 1);
    pawl_engine_close(e);
}

static void closing_waits_for_the_answers_that_are_left(void **state) {
    (void)state;
    Told told = {0};
    char folder[] = "/tmp/pawl-call-XXXXXX", url[64], command[64];
    assert_non_null(mkdtemp(folder));
    snprintf(url, sizeof url, "sqlite:%s/a.db", folder);
    PawlEngine *e = opened(url, NULL, NULL);
    for (int i = 0; i < 5; i++) {
        pawl_call_later(e, "store_check", args_of("{}"), on_answer, &told);
    }
    pawl_engine_close(e);
    assert_int_equal(told.answers + told.errors, 5);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- inside functions that the engine calls ---- */

static void ask_from_event(void *ctx, const PawlEvent *event) {
    Told *t = ctx;
    assert_non_null(event->run);
    t->events++;
    if (event->type == PAWL_EVENT_STEP && !t->tried) {
        t->tried = true;
        PawlValue args = pawl_object_set(pawl_object(), "thread", pawl_string("t"));
        pawl_value_unref(called(t->engine, "run_get", pawl_value_ref(args)));
        expect_refused(t->engine, "run_fork", pawl_value_ref(args), "pawl_call_later()");
        pawl_call_later(t->engine, "run_start", start_args("u"), on_answer, t);
        pawl_value_unref(args);
    }
}

static void those_who_listen_look_at_once_and_act_later(void **state) {
    (void)state;
    Told told = {0};
    told.engine = opened("memory:", ask_from_event, &told);
    pawl_value_unref(called(told.engine, "run_start", start_args("t")));
    assert_true(pawl_engine_run(told.engine, NULL));
    assert_true(told.tried);
    assert_int_equal(told.answers, 1);
    PawlValue second = called(told.engine, "run_get", args_of("{\"thread\": \"u\"}"));
    expect_part(second, "status", "\"completed\"");
    pawl_value_unref(second);
    pawl_engine_close(told.engine);
}

static PawlValue ask_from_node(void *ctx, PawlCall *call) {
    Told *t = ctx;
    PawlValue args =
        pawl_object_set(pawl_object(), "thread", pawl_string(pawl_run_thread(pawl_call_run(call))));
    pawl_value_unref(called(t->engine, "operations", value_of(json_none())));
    expect_refused(t->engine, "frames", pawl_value_ref(args), "inside the function of a node");
    pawl_call_later(t->engine, "run_cancel", args, on_answer, t);
    assert_int_equal(t->errors, 1);
    t->tried = true;
    return pawl_null();
}

static void the_function_of_a_node_may_only_look(void **state) {
    (void)state;
    Told told = {0};
    PawlGraph *graph = pawl_graph_new("g");
    pawl_graph_add_node(graph, "ask", ask_from_node, &told);
    PawlFlow *flow = pawl_graph_compile(graph, NULL);
    pawl_graph_free(graph);
    told.engine = opened("memory:", NULL, NULL);
    PawlRun *run = pawl_run_start(told.engine, flow, NULL, NULL);
    assert_true(pawl_engine_run(told.engine, NULL));
    assert_true(told.tried);
    assert_int_equal(pawl_run_status(run), PAWL_COMPLETED);
    pawl_engine_close(told.engine);
    pawl_flow_free(flow);
}

/* ---- without a store ---- */

static void every_operation_is_refused_or_answered_without_a_store(void **state) {
    (void)state;
    Told told = {0};
    PawlEngine *e = opened(NULL, NULL, NULL);
    PawlValue list = pawl_operations();
    for (size_t i = 0; i < pawl_array_len(list); i++) {
        char name[64];
        PawlError err;
        pawl_value_copy_text(pawl_object_get(pawl_array_get(list, i), "name"), name, sizeof name);
        for (int k = 0; k < 2; k++) {
            PawlValue args = k ? start_args("t") : args_of("{\"thread\": \"t\"}");
            PawlValue answer = pawl_call(e, name, pawl_value_ref(args), &err);
            assert_int_equal(pawl_value_kind(answer) == PAWL_NONE, err.code != PAWL_OK);
            pawl_value_unref(answer);
            pawl_call_later(e, name, args, on_answer, &told);
        }
    }
    assert_true(pawl_engine_run(e, NULL));
    assert_int_equal(told.answers + told.errors, 2 * (int)pawl_array_len(list));
    pawl_value_unref(list);
    pawl_engine_close(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_acts_is_waited_for_and_what_looks_is_answered_at_once),
        cmocka_unit_test(an_error_has_a_code_a_sentence_and_facts),
        cmocka_unit_test(a_run_that_was_started_by_name_is_nobodys_and_goes),
        cmocka_unit_test(what_nobody_holds_is_not_said_to_go_on),
        cmocka_unit_test(what_is_inside_an_argument_is_checked),
        cmocka_unit_test(what_a_change_is_made_of_is_checked),
        cmocka_unit_test(all_operations_are_listed),
        cmocka_unit_test(the_engine_runs_until_all_are_answered),
        cmocka_unit_test(closing_waits_for_the_answers_that_are_left),
        cmocka_unit_test(those_who_listen_look_at_once_and_act_later),
        cmocka_unit_test(the_function_of_a_node_may_only_look),
        cmocka_unit_test(every_operation_is_refused_or_answered_without_a_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
