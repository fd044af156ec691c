/* The promises of pawl.h about debuggers: a graph of functions is stopped, looked at, changed, stepped,
 * taken back and let go, from callbacks and without, in one process and the next; and whoever goes
 * first, nothing dangles. Leaks are the sanitizer's to find. */
#include "pawl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

enum { TEXT_MAX = 2000 };

/* ---- a graph ----
 *
 *     a -> b -> inner (x -> y) -> c        each adds its name to .seen; b also doubles .n
 *
 * with more of them for what one test needs. */

static int calls;

static PawlValue seen(PawlCall *call) {
    calls++;
    return pawl_object_set(pawl_object(), "seen", pawl_string(pawl_call_node(call)));
}

static PawlValue passes(void *ctx, PawlCall *call) {
    (void)ctx;
    return seen(call);
}

static PawlValue doubles(void *ctx, PawlCall *call) {
    int64_t n = pawl_value_int(pawl_object_get(pawl_call_state(call), "n"), 0);
    (void)ctx;
    return pawl_object_set(seen(call), "n", pawl_int(2 * n));
}

static PawlValue fails(void *ctx, PawlCall *call) {
    (void)ctx;
    return pawl_call_fail(call, "boom", "It always fails.");
}

static void asks(void *ctx, PawlCall *call, PawlToken *token) {
    PawlValue answers = pawl_call_answers(call);
    (void)ctx;
    if (pawl_array_len(answers)) {
        PawlValue answer = pawl_value_ref(pawl_array_get(answers, 0));
        pawl_token_succeed(token, pawl_object_set(pawl_object(), "answer", answer));
    } else {
        pawl_token_ask(token, pawl_string("Well?"), (PawlValue){{0}});
    }
}

static PawlFlow *compiled(PawlGraph *g) {
    PawlError err;
    PawlFlow *flow = pawl_graph_compile(g, &err);
    if (!flow) {
        fail_msg("%s", err.message);
    }
    pawl_graph_free(g);
    return flow;
}

static void add_seen(PawlGraph *g) {
    pawl_graph_add_key(g, "seen", PAWL_APPEND, pawl_array());
}

static PawlFlow *of_inner(void) {
    PawlGraph *g = pawl_graph_new("inner");
    add_seen(g);
    pawl_graph_add_node(g, "x", passes, NULL);
    pawl_graph_add_node(g, "y", passes, NULL);
    return compiled(g);
}

static PawlFlow *of_line(void) {
    PawlFlow *inner = of_inner();
    PawlGraph *g = pawl_graph_new("line");
    add_seen(g);
    pawl_graph_add_key(g, "n", PAWL_REPLACE, pawl_int(1));
    pawl_graph_add_node(g, "a", passes, NULL);
    pawl_graph_add_node(g, "b", doubles, NULL);
    pawl_graph_add_subgraph(g, "inner", inner, "{}");
    pawl_graph_add_node(g, "c", passes, NULL);
    PawlFlow *flow = compiled(g);
    pawl_flow_free(inner);
    return flow;
}

static PawlFlow *of_branches(void) {
    static const char *const both[] = {"left", "right", NULL};
    PawlGraph *g = pawl_graph_new("branches");
    add_seen(g);
    pawl_graph_add_node(g, "left", passes, NULL);
    pawl_graph_add_node(g, "right", passes, NULL);
    pawl_graph_add_node(g, "end", passes, NULL);
    pawl_graph_add_parallel_edge(g, PAWL_START, both, "end");
    pawl_graph_add_edge(g, "left", "end");
    pawl_graph_add_edge(g, "right", "end");
    pawl_graph_add_edge(g, "end", PAWL_END);
    return compiled(g);
}

static PawlFlow *of_one(const char *name, PawlNodeFn fn) {
    PawlGraph *g = pawl_graph_new(name);
    pawl_graph_add_node(g, name, fn, NULL);
    return compiled(g);
}

static PawlFlow *of_question(void) {
    PawlGraph *g = pawl_graph_new("question");
    pawl_graph_add_node_later(g, "ask", asks, NULL);
    return compiled(g);
}

/* ---- a desk: an engine, a run and its debugger, and what they tell ---- */

typedef struct Desk {
    char path[64]; /* of the store; "": it is in memory */
    PawlFlow *flow;
    PawlEngine *engine;
    PawlRun *run;
    PawlDebug *debug;
    char pauses[TEXT_MAX]; /* nodes, each with a space after it */
    char events[TEXT_MAX]; /* their names */
    PawlValue last;        /* pause */
    void (*then)(struct Desk *desk, PawlDebug *debug, PawlValue pause);
    int answer; /* of whatever `then` does */
} Desk;

static void append(char *list, PawlValue word) {
    char text[100];
    size_t len = strlen(list);
    pawl_value_copy_text(word, text, sizeof text);
    snprintf(list + len, TEXT_MAX - len, "%s ", text);
}

static void on_pause(void *ctx, PawlDebug *debug, PawlValue pause) {
    Desk *d = ctx;
    append(d->pauses, pawl_object_get(pause, "node"));
    pawl_value_unref(d->last);
    d->last = pawl_value_ref(pause);
    if (d->then) {
        d->then(d, debug, pause);
    }
}

static void on_event(void *ctx, PawlDebug *debug, PawlValue event) {
    Desk *d = ctx;
    (void)debug;
    append(d->events, pawl_object_get(event, "event"));
}

static PawlDebugOptions listening(Desk *d) {
    return (PawlDebugOptions){.on_pause = on_pause, .on_event = on_event, .ctx = d};
}

static void open_engine(Desk *d, PawlEngineOptions options) {
    PawlError err;
    char url[80] = "memory:";
    if (d->path[0]) {
        snprintf(url, sizeof url, "sqlite:%s", d->path);
    }
    d->engine = pawl_engine_open(url, &options, &err);
    if (!d->engine) {
        fail_msg("%s", err.message);
    }
}

static void start_run(Desk *d) {
    PawlError err;
    d->run = pawl_run_start(d->engine, d->flow, &(PawlStart){.thread = "t"}, &err);
    if (!d->run) {
        fail_msg("%s", err.message);
    }
}

static void attach(Desk *d, PawlDebugOptions options) {
    PawlError err;
    d->debug = pawl_debug_attach(d->run, &options, &err);
    if (!d->debug) {
        fail_msg("%s", err.message);
    }
}

static Desk *desk_of(PawlFlow *flow) {
    Desk *d = calloc(1, sizeof *d);
    calls = 0;
    d->flow = flow;
    open_engine(d, (PawlEngineOptions){0});
    start_run(d);
    attach(d, listening(d));
    return d;
}

static void clear_desk(Desk *d) {
    pawl_debug_free(d->debug);
    pawl_engine_close(d->engine);
    pawl_flow_free(d->flow);
    pawl_value_unref(d->last);
    if (d->path[0]) {
        unlink(d->path);
    }
    free(d);
}

static void run_on(Desk *d) {
    PawlError err;
    if (!pawl_engine_run(d->engine, &err)) {
        fail_msg("%s", err.message);
    }
}

#define done(call)                                   \
    do {                                             \
        PawlError err_ = {0};                        \
        if (!(call)) {                               \
            fail_msg("%s: %s", #call, err_.message); \
        }                                            \
    } while (0)

static void break_at(Desk *d, const char *spec) {
    done(pawl_debug_break(d->debug, spec, &err_));
}

static void go_on(Desk *d) {
    done(pawl_debug_continue(d->debug, &err_));
    run_on(d);
}

static void step(Desk *d, PawlStepKind kind) {
    done(pawl_debug_step(d->debug, kind, &err_));
    run_on(d);
}

static void assert_value(PawlValue value, const char *json) {
    char *text = pawl_value_print(value, 0);
    assert_string_equal(text, json);
    pawl_text_free(text);
}

static void assert_eval(Desk *d, const char *expression, const char *json) {
    PawlError err = {0};
    PawlValue value = pawl_debug_eval(d->debug, expression, &err);
    assert_string_equal(err.message, "");
    assert_value(value, json);
    pawl_value_unref(value);
}

static void assert_completed(Desk *d, const char *seen_json) {
    assert_int_equal(pawl_run_status(d->run), PAWL_COMPLETED);
    assert_value(pawl_object_get(pawl_run_state(d->run), "seen"), seen_json);
}

static const char all[] = "[\"a\",\"b\",\"x\",\"y\",\"c\"]";

/* ---- stopping and going on ---- */

static void go_on_then(Desk *d, PawlDebug *debug, PawlValue pause) {
    (void)d;
    (void)pause;
    done(pawl_debug_continue(debug, &err_));
}

static void a_callback_may_let_the_frame_go_on(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    d->then = go_on_then;
    break_at(d, "b");
    break_at(d, "y");
    run_on(d);
    assert_string_equal(d->pauses, "b y ");
    assert_completed(d, all);
    clear_desk(d);
}

static void runs_without_a_store_have_one_name_and_a_debugger_is_at_its_own(void **state) {
    (void)state;
    PawlFlow *flow = of_line();
    PawlEngine *engine = pawl_engine_open(NULL, NULL, NULL);
    PawlRun *first = pawl_run_start(engine, flow, NULL, NULL);
    PawlRun *second = pawl_run_start(engine, flow, NULL, NULL);
    assert_string_equal(pawl_run_thread(first), pawl_run_thread(second));
    PawlDebug *debug = pawl_debug_attach(first, &(PawlDebugOptions){.pause_on_start = true}, NULL);
    assert_non_null(debug);
    assert_true(pawl_engine_run(engine, NULL));
    assert_false(pawl_run_settled(first));
    assert_true(pawl_run_settled(second));
    pawl_debug_free(debug);
    pawl_engine_close(engine);
    pawl_flow_free(flow);
}

static void a_condition_decides_whether_it_pauses(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b if .n == 7");
    break_at(d, "c if .n == 2");
    run_on(d);
    assert_string_equal(d->pauses, "c ");
    assert_true(pawl_value_is(pawl_object_get(d->last, "reason"), "breakpoint"));
    go_on(d);
    assert_completed(d, all);
    clear_desk(d);
}

static void running_returns_when_nothing_goes_on_by_itself(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    run_on(d);
    assert_false(pawl_run_settled(d->run));
    assert_false(pawl_debug_is_over(d->debug));
    assert_int_equal(calls, 1);
    run_on(d); /* still nothing to do */
    assert_false(pawl_engine_turn(d->engine, -1));
    assert_int_equal(calls, 1);
    go_on(d);
    assert_completed(d, all);
    assert_true(pawl_debug_is_over(d->debug));
    clear_desk(d);
}

static void a_run_can_be_stopped_before_its_first_node(void **state) {
    Desk *d = calloc(1, sizeof *d);
    PawlDebugOptions options = listening(d);
    (void)state;
    calls = 0;
    options.pause_on_start = true;
    d->flow = of_line();
    open_engine(d, (PawlEngineOptions){0});
    start_run(d);
    attach(d, options);
    run_on(d);
    assert_string_equal(d->pauses, "a ");
    assert_true(pawl_value_is(pawl_object_get(d->last, "reason"), "initial"));
    assert_int_equal(calls, 0);
    clear_desk(d);
}

static void breakpoints_can_be_given_from_the_start(void **state) {
    static const char json[] = "[{\"node\": \"b\", \"position\": \"after\"}]";
    Desk *d = calloc(1, sizeof *d);
    PawlDebugOptions options = listening(d);
    (void)state;
    options.breakpoints = pawl_value_parse(json, sizeof json - 1, NULL);
    d->flow = of_line();
    open_engine(d, (PawlEngineOptions){0});
    start_run(d);
    attach(d, options);
    run_on(d);
    assert_string_equal(d->pauses, "b ");
    assert_eval(d, ".n", "2");
    clear_desk(d);
}

static void a_breakpoint_that_is_taken_away_stops_nothing(void **state) {
    Desk *d = desk_of(of_line());
    PawlError err = {0};
    (void)state;
    int64_t id = pawl_debug_break(d->debug, "b", &err);
    assert_true(id > 0);
    done(pawl_debug_unbreak(d->debug, id, &err_));
    run_on(d);
    assert_string_equal(d->pauses, "");
    assert_completed(d, all);
    clear_desk(d);
}

static void the_three_steps_differ_at_a_graph_in_a_graph(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "inner");
    run_on(d);
    step(d, PAWL_STEP_OVER);
    assert_string_equal(d->pauses, "inner c ");
    clear_desk(d);

    d = desk_of(of_line());
    break_at(d, "inner");
    run_on(d);
    step(d, PAWL_STEP_INTO);
    step(d, PAWL_STEP_OUT);
    assert_string_equal(d->pauses, "inner x c ");
    clear_desk(d);
}

static void pausing_by_hand_stops_what_is_about_to_run(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    done(pawl_debug_pause(d->debug, &err_));
    run_on(d);
    assert_false(pawl_run_settled(d->run));
    assert_int_equal(calls, 0);
    go_on(d);
    assert_completed(d, all);
    clear_desk(d);
}

/* ---- looking and changing ---- */

static void what_is_set_is_what_the_function_sees(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    run_on(d);
    done(pawl_debug_set(d->debug, ".n", pawl_int(21), &err_));
    assert_eval(d, ".n", "21");
    step(d, PAWL_STEP_OVER);
    assert_eval(d, ".n", "42");
    done(pawl_debug_set(d->debug, ".n", (PawlValue){{0}}, &err_));
    assert_eval(d, "has(\"n\")", "false");
    clear_desk(d);
}

static void state_diff_and_frames_show_where_it_stands(void **state) {
    Desk *d = desk_of(of_line());
    PawlError err = {0};
    (void)state;
    break_at(d, "b");
    run_on(d);
    PawlValue value = pawl_debug_state(d->debug, &err);
    assert_value(pawl_object_get(value, "seen"), "[\"a\"]");
    pawl_value_unref(value);
    step(d, PAWL_STEP_OVER);
    value = pawl_debug_diff(d->debug, &err);
    assert_value(pawl_object_get(value, "added"), "[{\"path\":[\"seen\",1],\"new\":\"b\"}]");
    assert_value(pawl_object_get(value, "changed"), "[{\"path\":[\"n\"],\"old\":1,\"new\":2}]");
    pawl_value_unref(value);
    value = pawl_debug_frames(d->debug, &err);
    assert_int_equal(pawl_array_len(value), 1);
    assert_true(pawl_value_is(pawl_object_get(pawl_array_get(value, 0), "node"), "inner"));
    pawl_value_unref(value);
    clear_desk(d);
}

static void an_expression_may_give_nothing(void **state) {
    Desk *d = desk_of(of_line());
    PawlError err = {.code = PAWL_OTHER};
    (void)state;
    break_at(d, "b");
    run_on(d);
    assert_int_equal(pawl_value_kind(pawl_debug_eval(d->debug, "empty", &err)), PAWL_NONE);
    assert_int_equal(err.code, PAWL_OK);
    assert_int_equal(pawl_value_kind(pawl_debug_eval(d->debug, ".n +", &err)), PAWL_NONE);
    assert_int_not_equal(err.code, PAWL_OK);
    clear_desk(d);
}

static void going_back_undoes_and_the_functions_run_again(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "inner");
    run_on(d);
    assert_int_equal(calls, 2);
    done(pawl_debug_back(d->debug, 1, &err_));
    run_on(d);
    assert_eval(d, "[.n, .seen]", "[1,[\"a\"]]");
    done(pawl_debug_set(d->debug, ".n", pawl_int(5), &err_));
    go_on(d);
    assert_eval(d, ".n", "10");
    go_on(d);
    assert_completed(d, all);
    assert_int_equal(calls, 6);
    clear_desk(d);
}

/* ---- operations by name ---- */

static PawlValue arguments(const char *json) {
    PawlError err = {0};
    PawlValue args = pawl_value_parse(json, strlen(json), &err);
    assert_string_equal(err.message, "");
    return args;
}

static void ask(Desk *d, const char *operation, const char *args) {
    PawlError err = {0};
    PawlValue answer = pawl_debug_call(d->debug, operation, arguments(args), &err);
    assert_string_equal(err.message, "");
    assert_int_equal(pawl_value_kind(answer), PAWL_OBJECT);
    pawl_value_unref(answer);
}

static void skipping_leaves_the_function_uncalled(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    run_on(d);
    ask(d, "skip", "{\"output\": {\"n\": 100}}");
    run_on(d);
    assert_completed(d, "[\"a\",\"x\",\"y\",\"c\"]");
    assert_value(pawl_object_get(pawl_run_state(d->run), "n"), "100");
    clear_desk(d);
}

static void an_injected_node_may_call_a_function_of_the_flow(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    run_on(d);
    ask(d, "inject", "{\"name\": \"more\", \"node\": {\"callback\": \"a\"}}");
    go_on(d);
    assert_completed(d, "[\"a\",\"more\",\"b\",\"x\",\"y\",\"c\"]");
    clear_desk(d);
}

static void a_replay_calls_the_function_once_more(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "inner");
    run_on(d);
    ask(d, "replay", "{\"new_thread\": \"again\"}");
    run_on(d);
    assert_int_equal(calls, 3);
    assert_non_null(strstr(d->events, "replayed "));
    assert_false(pawl_run_settled(d->run));
    clear_desk(d);
}

static void all_operations_are_listed(void **state) {
    PawlValue list = pawl_debug_operations();
    bool found = false;
    (void)state;
    for (size_t i = 0; i < pawl_array_len(list); i++) {
        PawlValue row = pawl_array_get(list, i);
        found = found || pawl_value_is(pawl_object_get(row, "name"), "reverse_continue");
        assert_int_equal(pawl_value_kind(pawl_object_get(row, "summary")), PAWL_STRING);
        assert_int_equal(pawl_value_kind(pawl_object_get(row, "arguments")), PAWL_ARRAY);
    }
    assert_true(found);
    pawl_value_unref(list);
}

static void assert_refused(Desk *d, const char *operation, const char *args, const char *word) {
    PawlError err = {0};
    PawlValue answer = pawl_debug_call(d->debug, operation, arguments(args), &err);
    assert_int_equal(pawl_value_kind(answer), PAWL_NONE);
    assert_int_not_equal(err.code, PAWL_OK);
    if (!strstr(err.message, word)) {
        fail_msg("`%s` says nothing of `%s`", err.message, word);
    }
}

static void what_cannot_be_done_is_refused_with_a_sentence(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    run_on(d);
    assert_refused(d, "fly", "{}", "fly");
    assert_refused(d, "step", "{\"kind\": \"sideways\"}", "sideways");
    assert_refused(d, "step", "{\"kind\": \"over\", \"far\": true}", "far");
    assert_refused(d, "evaluate", "{}", "expression");
    assert_refused(d, "continue", "{\"frame\": 77}", "77");
    assert_int_equal(pawl_debug_break(d->debug, "b if .n ==", NULL), 0);
    assert_false(pawl_debug_step(d->debug, (PawlStepKind)9, NULL));
    assert_int_equal(pawl_value_kind(pawl_debug_call(d->debug, "fly", (PawlValue){{0}}, NULL)),
                     PAWL_NONE);
    go_on(d);
    assert_completed(d, all);
    clear_desk(d);
}

/* ---- what is told ---- */

static void read_it_then(Desk *d, PawlDebug *debug, PawlValue pause) {
    PawlError err = {0};
    int64_t checkpoint = pawl_value_int(pawl_object_get(pause, "checkpoint"), 0);
    PawlValue stored = pawl_run_show(d->engine, "t", checkpoint, &err);
    (void)debug;
    assert_value(pawl_object_get(stored, "seen"), "[\"a\"]");
    pawl_value_unref(stored);
    d->answer++;
}

static void a_pause_that_is_told_is_in_the_store(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    d->then = read_it_then;
    break_at(d, "b");
    run_on(d);
    assert_int_equal(d->answer, 1);
    clear_desk(d);
}

static void everything_is_told_before_running_returns(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    run_on(d);
    assert_non_null(strstr(d->events, "paused "));
    go_on(d);
    assert_non_null(strstr(d->events, "resumed "));
    assert_non_null(strstr(d->events, "settled "));
    clear_desk(d);
}

static void note_frame_then(Desk *d, PawlDebug *debug, PawlValue pause) {
    PawlError err = {0};
    PawlValue session = pawl_debug_call(debug, "session", (PawlValue){{0}}, &err);
    assert_true(
        pawl_value_equal(pawl_object_get(session, "frame"), pawl_object_get(pause, "frame")));
    pawl_value_unref(session);
    d->answer++;
}

static void each_frame_is_the_selected_one_while_its_pause_is_told(void **state) {
    Desk *d = desk_of(of_branches());
    (void)state;
    d->then = note_frame_then;
    break_at(d, "left");
    break_at(d, "right");
    run_on(d);
    assert_int_equal(d->answer, 2);
    while (!pawl_run_settled(d->run)) { /* one of them comes to its own breakpoint only now */
        go_on(d);
    }
    assert_int_equal(pawl_run_status(d->run), PAWL_COMPLETED);
    clear_desk(d);
}

static void a_pause_that_a_callback_has_ended_is_not_told(void **state) {
    Desk *d = desk_of(of_branches());
    (void)state;
    d->then = go_on_then; /* both frames, at the first of the two */
    break_at(d, "left");
    break_at(d, "right");
    run_on(d);
    assert_true(!strncmp(d->pauses, "left ", 5) || !strncmp(d->pauses, "right ", 6));
    assert_int_equal(pawl_run_status(d->run), PAWL_COMPLETED);
    clear_desk(d);
}

/* ---- inside functions ---- */

static PawlDebug *meddled_with;

static PawlValue meddles(void *ctx, PawlCall *call) {
    PawlError err = {0};
    (void)ctx;
    assert_false(pawl_debug_pause(meddled_with, &err));
    assert_int_equal(err.code, PAWL_USAGE);
    assert_null(pawl_debug_attach(pawl_call_run(call), NULL, &err));
    assert_int_equal(pawl_value_kind(pawl_debug_state(meddled_with, &err)), PAWL_NONE);
    return pawl_null();
}

static void the_function_of_a_node_cannot_use_the_debugger(void **state) {
    Desk *d = desk_of(of_one("meddle", meddles));
    (void)state;
    meddled_with = d->debug;
    run_on(d);
    assert_int_equal(pawl_run_status(d->run), PAWL_COMPLETED);
    clear_desk(d);
}

/* ---- errors of nodes ---- */

static void a_function_that_fails_can_be_caught_and_skipped(void **state) {
    Desk *d = desk_of(of_one("fail", fails));
    (void)state;
    break_at(d, "error");
    run_on(d);
    assert_string_equal(d->pauses, "fail ");
    PawlValue error = pawl_object_get(d->last, "error");
    assert_true(pawl_value_is(pawl_object_get(error, "kind"), "boom"));
    ask(d, "skip", "{}");
    run_on(d);
    assert_int_equal(pawl_run_status(d->run), PAWL_COMPLETED);
    clear_desk(d);
}

/* ---- letting go, and who goes first ---- */

static void detaching_lets_it_run_to_the_end(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    break_at(d, "c");
    run_on(d);
    done(pawl_debug_detach(d->debug, &err_));
    assert_true(pawl_debug_is_over(d->debug));
    assert_false(pawl_debug_continue(d->debug, NULL));
    run_on(d);
    assert_string_equal(d->pauses, "b ");
    assert_completed(d, all);
    clear_desk(d);
}

static void aborting_cancels_the_run(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    run_on(d);
    ask(d, "abort", "{}");
    run_on(d);
    assert_int_equal(pawl_run_status(d->run), PAWL_CANCELLED);
    clear_desk(d);
}

static void a_paused_run_can_be_cancelled_beside_its_debugger(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    run_on(d);
    pawl_run_cancel(d->run);
    run_on(d);
    assert_int_equal(pawl_run_status(d->run), PAWL_CANCELLED);
    clear_desk(d);
}

static void freeing_leaves_it_paused(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    run_on(d);
    pawl_debug_free(d->debug);
    d->debug = NULL;
    run_on(d);
    assert_true(pawl_run_settled(d->run));
    assert_int_equal(pawl_run_status(d->run), PAWL_PAUSED);
    assert_string_equal(pawl_status_name(PAWL_PAUSED), "paused");
    clear_desk(d);
}

static void assert_listed(Desk *d, const char *status) {
    PawlError err = {0};
    PawlValue list = pawl_run_list(d->engine, &err), info = pawl_run_info(d->engine, "t", &err);
    PawlValue word = pawl_string(status);
    assert_true(pawl_value_equal(pawl_object_get(pawl_array_get(list, 0), "status"), word));
    assert_true(pawl_value_equal(pawl_object_get(info, "status"), word));
    pawl_value_unref(word);
    pawl_value_unref(list);
    pawl_value_unref(info);
}

static void a_paused_run_is_listed_as_paused_and_so_it_is_once_stopped(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    run_on(d);
    assert_listed(d, "paused");
    pawl_run_stop(d->run);
    run_on(d);
    assert_int_equal(pawl_run_status(d->run), PAWL_STOPPED);
    assert_listed(d, "paused");
    clear_desk(d);
}

static void free_then(Desk *d, PawlDebug *debug, PawlValue pause) {
    (void)pause;
    pawl_debug_free(debug);
    d->debug = NULL;
}

static void a_callback_may_free_its_own_debugger(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    d->then = free_then;
    break_at(d, "b");
    run_on(d);
    assert_int_equal(pawl_run_status(d->run), PAWL_PAUSED);
    clear_desk(d);
}

static void the_engine_may_be_closed_first(void **state) {
    Desk *d = desk_of(of_line());
    PawlError err = {0};
    (void)state;
    break_at(d, "b");
    run_on(d);
    pawl_engine_close(d->engine);
    d->engine = NULL;
    assert_true(pawl_debug_is_over(d->debug));
    assert_null(pawl_debug_run(d->debug));
    assert_false(pawl_debug_continue(d->debug, &err));
    assert_int_equal(err.code, PAWL_USAGE);
    clear_desk(d);
}

static void the_engine_may_be_closed_before_anything_was_told(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    pawl_engine_close(d->engine);
    d->engine = NULL;
    assert_string_equal(d->pauses, "");
    clear_desk(d);
}

static void a_run_that_was_freed_goes_on_under_its_debugger(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    pawl_run_free(d->run);
    run_on(d);
    assert_string_equal(d->pauses, "b ");
    go_on(d);
    assert_int_equal(calls, 5);
    assert_true(pawl_debug_is_over(d->debug));
    assert_non_null(strstr(d->events, "settled "));
    assert_int_equal(pawl_run_status(pawl_debug_run(d->debug)), PAWL_COMPLETED);
    clear_desk(d);
}

static void a_run_has_one_debugger_while_it_goes_on(void **state) {
    Desk *d = desk_of(of_line());
    PawlError err = {0};
    (void)state;
    assert_null(pawl_debug_attach(d->run, NULL, &err));
    assert_non_null(strstr(err.message, "already"));
    run_on(d);
    pawl_debug_free(d->debug);
    d->debug = NULL;
    assert_null(pawl_debug_attach(d->run, NULL, &err));
    assert_non_null(strstr(err.message, "pawl_debug_open"));
    clear_desk(d);
}

/* ---- runs of the store ---- */

/* The next process: the same store, and the flow built once more. */
static void next_process(Desk *d, PawlFlow *flow, bool functions) {
    PawlError err = {0};
    PawlDebugOptions options = listening(d);
    pawl_debug_free(d->debug);
    run_on(d); /* it settles */
    if (d->path[0]) {
        pawl_engine_close(d->engine);
        open_engine(d, (PawlEngineOptions){0});
    }
    pawl_flow_free(d->flow);
    d->flow = flow;
    options.flow = functions ? flow : NULL;
    d->debug = pawl_debug_open(d->engine, "t", &options, &err);
    if (!d->debug) {
        fail_msg("%s", err.message);
    }
    d->run = pawl_debug_run(d->debug);
    d->pauses[0] = d->events[0] = '\0';
}

static Desk *desk_on_disk(PawlFlow *flow) {
    Desk *d = calloc(1, sizeof *d);
    calls = 0;
    snprintf(d->path, sizeof d->path, "/tmp/test-pawl-debug-%d.db", (int)getpid());
    unlink(d->path);
    d->flow = flow;
    open_engine(d, (PawlEngineOptions){0});
    start_run(d);
    attach(d, listening(d));
    return d;
}

static void a_session_goes_on_in_the_next_process(void **state) {
    Desk *d = desk_on_disk(of_line());
    (void)state;
    break_at(d, "b");
    break_at(d, "c");
    run_on(d);
    done(pawl_debug_set(d->debug, ".n", pawl_int(50), &err_));
    step(d, PAWL_STEP_OVER);
    next_process(d, of_line(), true);
    run_on(d);
    assert_int_equal(calls, 2);
    assert_eval(d, ".n", "100");
    go_on(d);
    assert_string_equal(d->pauses, "c ");
    go_on(d);
    assert_completed(d, all);
    clear_desk(d);
}

static void a_run_that_waits_can_be_answered_under_a_debugger(void **state) {
    Desk *d = desk_of(of_question());
    (void)state;
    run_on(d);
    assert_false(pawl_run_settled(d->run));
    next_process(d, of_question(), true);
    ask(d, "answer", "{\"value\": 42}");
    run_on(d);
    assert_int_equal(pawl_run_status(d->run), PAWL_COMPLETED);
    assert_value(pawl_object_get(pawl_run_state(d->run), "answer"), "42");
    clear_desk(d);
}

static bool find_a(void *ctx, const PawlCheckpoint *c) {
    int64_t *found = ctx;
    *found = !strcmp(c->node, "a") && !strcmp(c->status, "completed") ? c->checkpoint : 0;
    return !*found;
}

static void a_run_that_completed_can_be_taken_back(void **state) {
    Desk *d = desk_of(of_line());
    char args[60];
    int64_t after_a = 0;
    (void)state;
    run_on(d);
    assert_completed(d, all);
    next_process(d, of_line(), true);
    run_on(d);
    assert_int_equal(calls, 5);
    done(pawl_run_history(d->engine, "t", find_a, &after_a, &err_));
    snprintf(args, sizeof args, "{\"checkpoint\": %d}", (int)after_a);
    ask(d, "goto", args);
    run_on(d);
    assert_eval(d, ".seen", "[\"a\"]");
    go_on(d);
    assert_completed(d, all);
    assert_int_equal(calls, 9);
    clear_desk(d);
}

static void looking_needs_no_functions_and_going_on_does(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    run_on(d);
    next_process(d, of_line(), false);
    assert_eval(d, ".seen", "[\"a\"]");
    go_on(d);
    assert_int_equal(pawl_run_status(d->run), PAWL_FAILED);
    clear_desk(d);
}

static void what_cannot_be_opened_says_why(void **state) {
    Desk *d = desk_of(of_line());
    PawlError err = {0};
    PawlFlow *other = of_branches();
    PawlDebugOptions changed = {.flow = other, .breakpoints = pawl_array()};
    (void)state;
    break_at(d, "b");
    run_on(d);
    assert_null(pawl_debug_open(d->engine, "t", NULL, &err)); /* it is here already */
    assert_int_not_equal(err.code, PAWL_OK);
    assert_null(pawl_debug_open(d->engine, "nobody", NULL, &err));
    assert_non_null(strstr(err.message, "nobody"));
    pawl_debug_free(d->debug);
    d->debug = NULL;
    run_on(d);
    assert_null(pawl_debug_open(d->engine, "t", &changed, &err));
    assert_non_null(strstr(err.message, "started with"));
    pawl_flow_free(other);
    clear_desk(d);
}

static void an_engine_without_a_store_has_nothing_to_open(void **state) {
    PawlError err = {0};
    PawlEngine *e = pawl_engine_open(NULL, NULL, &err);
    PawlDebugOptions options = {.breakpoints = pawl_array()};
    (void)state;
    assert_null(pawl_debug_open(e, "t", &options, &err));
    assert_non_null(strstr(err.message, "no store"));
    pawl_engine_close(e);
}

/* ---- loops ---- */

static void it_works_on_the_loop_of_the_program(void **state) {
    uv_loop_t loop;
    Desk *d = calloc(1, sizeof *d);
    (void)state;
    uv_loop_init(&loop);
    d->flow = of_line();
    open_engine(d, (PawlEngineOptions){.loop = &loop});
    start_run(d);
    attach(d, listening(d));
    d->then = go_on_then;
    break_at(d, "b");
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_string_equal(d->pauses, "b ");
    assert_completed(d, all);
    clear_desk(d);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void turns_end_when_it_is_paused_and_when_it_has_settled(void **state) {
    Desk *d = desk_of(of_line());
    (void)state;
    break_at(d, "b");
    while (pawl_engine_turn(d->engine, 1000)) {}
    assert_string_equal(d->pauses, "b ");
    done(pawl_debug_continue(d->debug, &err_));
    while (pawl_engine_turn(d->engine, 1000)) {}
    assert_completed(d, all);
    clear_desk(d);
}

static void other_runs_of_the_engine_are_not_held_up(void **state) {
    Desk *d = desk_of(of_line());
    PawlError err = {0};
    (void)state;
    break_at(d, "b");
    PawlRun *other = pawl_run_start(d->engine, d->flow, NULL, &err);
    run_on(d);
    assert_int_equal(pawl_run_status(other), PAWL_COMPLETED);
    assert_false(pawl_run_settled(d->run));
    clear_desk(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_callback_may_let_the_frame_go_on),
        cmocka_unit_test(runs_without_a_store_have_one_name_and_a_debugger_is_at_its_own),
        cmocka_unit_test(a_condition_decides_whether_it_pauses),
        cmocka_unit_test(running_returns_when_nothing_goes_on_by_itself),
        cmocka_unit_test(a_run_can_be_stopped_before_its_first_node),
        cmocka_unit_test(breakpoints_can_be_given_from_the_start),
        cmocka_unit_test(a_breakpoint_that_is_taken_away_stops_nothing),
        cmocka_unit_test(the_three_steps_differ_at_a_graph_in_a_graph),
        cmocka_unit_test(pausing_by_hand_stops_what_is_about_to_run),
        cmocka_unit_test(what_is_set_is_what_the_function_sees),
        cmocka_unit_test(state_diff_and_frames_show_where_it_stands),
        cmocka_unit_test(an_expression_may_give_nothing),
        cmocka_unit_test(going_back_undoes_and_the_functions_run_again),
        cmocka_unit_test(skipping_leaves_the_function_uncalled),
        cmocka_unit_test(an_injected_node_may_call_a_function_of_the_flow),
        cmocka_unit_test(a_replay_calls_the_function_once_more),
        cmocka_unit_test(all_operations_are_listed),
        cmocka_unit_test(what_cannot_be_done_is_refused_with_a_sentence),
        cmocka_unit_test(a_pause_that_is_told_is_in_the_store),
        cmocka_unit_test(everything_is_told_before_running_returns),
        cmocka_unit_test(each_frame_is_the_selected_one_while_its_pause_is_told),
        cmocka_unit_test(a_pause_that_a_callback_has_ended_is_not_told),
        cmocka_unit_test(the_function_of_a_node_cannot_use_the_debugger),
        cmocka_unit_test(a_function_that_fails_can_be_caught_and_skipped),
        cmocka_unit_test(detaching_lets_it_run_to_the_end),
        cmocka_unit_test(aborting_cancels_the_run),
        cmocka_unit_test(a_paused_run_can_be_cancelled_beside_its_debugger),
        cmocka_unit_test(freeing_leaves_it_paused),
        cmocka_unit_test(a_paused_run_is_listed_as_paused_and_so_it_is_once_stopped),
        cmocka_unit_test(a_callback_may_free_its_own_debugger),
        cmocka_unit_test(the_engine_may_be_closed_first),
        cmocka_unit_test(the_engine_may_be_closed_before_anything_was_told),
        cmocka_unit_test(a_run_that_was_freed_goes_on_under_its_debugger),
        cmocka_unit_test(a_run_has_one_debugger_while_it_goes_on),
        cmocka_unit_test(a_session_goes_on_in_the_next_process),
        cmocka_unit_test(a_run_that_waits_can_be_answered_under_a_debugger),
        cmocka_unit_test(a_run_that_completed_can_be_taken_back),
        cmocka_unit_test(looking_needs_no_functions_and_going_on_does),
        cmocka_unit_test(what_cannot_be_opened_says_why),
        cmocka_unit_test(an_engine_without_a_store_has_nothing_to_open),
        cmocka_unit_test(it_works_on_the_loop_of_the_program),
        cmocka_unit_test(turns_end_when_it_is_paused_and_when_it_has_settled),
        cmocka_unit_test(other_runs_of_the_engine_are_not_held_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
