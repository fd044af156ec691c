/* The promises of pawl.h about values, graphs of functions, engines and runs. */
#include "pawl.h"

#include "exec.h"
#include "hooks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

/* ---- helpers ---- */

static PawlValue parsed(const char *text) {
    PawlError err;
    PawlValue v = pawl_value_parse(text, strlen(text), &err);
    assert_int_not_equal(pawl_value_kind(v), PAWL_NONE);
    return v;
}

static void assert_json(PawlValue v, const char *expected) {
    char *text = pawl_value_print(v, 0);
    assert_string_equal(text, expected);
    pawl_text_free(text);
}

/* The same for a value that is given. */
static void assert_gives(PawlValue v, const char *expected) {
    assert_json(v, expected);
    pawl_value_unref(v);
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

static PawlEngine *opened(const char *store) {
    PawlError err;
    PawlEngine *e = pawl_engine_open(store, NULL, &err);
    if (!e) {
        fail_msg("%s", err.message);
    }
    return e;
}

static PawlRun *started(PawlEngine *e, PawlFlow *flow, const char *input) {
    PawlError err;
    PawlStart start = {.thread = "t"};
    if (input) {
        start.input = parsed(input);
    }
    PawlRun *run = pawl_run_start(e, flow, &start, &err);
    if (!run) {
        fail_msg("%s", err.message);
    }
    return run;
}

static void run_all(PawlEngine *e) {
    PawlError err;
    if (!pawl_engine_run(e, &err)) {
        fail_msg("%s", err.message);
    }
}

static void assert_status(const PawlRun *run, PawlStatus status) {
    if (pawl_run_status(run) != status) {
        char *why = pawl_value_print(pawl_run_error(run), 0);
        fail_msg("it is %s: %s", pawl_status_name(pawl_run_status(run)), why);
    }
}

/* A flow, an engine that runs it, and the run. */
typedef struct World {
    PawlFlow *flow;
    PawlEngine *e;
    PawlRun *run;
} World;

/* Starts a flow, which is then the world's. */
static World begun(PawlFlow *flow, const char *store, const char *input) {
    PawlEngine *e = opened(store);
    return (World){flow, e, started(e, flow, input)};
}

/* The same, as far as it goes by itself. */
static World ran(PawlFlow *flow, const char *store, const char *input) {
    World w = begun(flow, store, input);
    run_all(w.e);
    return w;
}

static void end(World *w) {
    pawl_engine_close(w->e);
    pawl_flow_free(w->flow);
}

/* Runs a flow without a store and compares the state at its end. Frees the flow. */
static void assert_ends(PawlFlow *flow, const char *input, const char *state) {
    World w = ran(flow, NULL, input);
    assert_status(w.run, PAWL_COMPLETED);
    assert_json(pawl_run_state(w.run), state);
    end(&w);
}

/* Runs it and compares why it failed. */
static void assert_fails(PawlFlow *flow, const char *kind, const char *message) {
    World w = ran(flow, NULL, NULL);
    assert_status(w.run, PAWL_FAILED);
    char text[300];
    assert_true(pawl_value_is(pawl_object_get(pawl_run_error(w.run), "kind"), kind));
    pawl_value_copy_text(pawl_object_get(pawl_run_error(w.run), "message"), text, sizeof text);
    if (!strstr(text, message)) {
        fail_msg("it says: %s", text);
    }
    end(&w);
}

static const char *resume_error(PawlEngine *e, PawlResume resume) {
    static PawlError err;
    assert_null(pawl_run_resume(e, &resume, &err));
    return err.message;
}

static PawlRun *resumed(PawlEngine *e, PawlResume resume) {
    PawlError err;
    PawlRun *run = pawl_run_resume(e, &resume, &err);
    if (!run) {
        fail_msg("%s", err.message);
    }
    return run;
}

/* A store in a folder that is there until the test ends. */
static char store_at[200], store_folder_path[150];

static int make_store(void **state) {
    (void)state;
    const char *tmp = getenv("TMPDIR");
    snprintf(store_folder_path, sizeof store_folder_path, "%s/pawl-test-XXXXXX",
             tmp ? tmp : "/tmp");
    if (!mkdtemp(store_folder_path)) {
        return -1;
    }
    snprintf(store_at, sizeof store_at, "sqlite:%s/runs.db", store_folder_path);
    return 0;
}

static int remove_store(void **state) {
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", store_folder_path);
    return system(command) == 0 ? 0 : -1;
}

/* ---- functions for nodes ---- */

/* Adds 1 to .n, and to what ctx points to. */
static PawlValue count(void *ctx, PawlCall *call) {
    int64_t n = pawl_value_int(pawl_object_get(pawl_call_state(call), "n"), 0);
    if (ctx) {
        ++*(int *)ctx;
    }
    return pawl_object_set(pawl_object(), "n", pawl_int(n + 1));
}

/* Adds its own name to .log. */
static PawlValue note(void *ctx, PawlCall *call) {
    (void)ctx;
    PawlValue names = pawl_array_push(pawl_array(), pawl_string(pawl_call_node(call)));
    return pawl_object_set(pawl_object(), "log", names);
}

/* Writes its ctx, a text, to .said. */
static PawlValue say(void *ctx, PawlCall *call) {
    (void)call;
    return pawl_object_set(pawl_object(), "said", pawl_string(ctx));
}

static void later_at_once(void *ctx, PawlCall *call, PawlToken *token) {
    pawl_token_succeed(token, count(ctx, call));
}

/* ---- values ---- */

static void values_keep_what_they_are_given(void **state) {
    (void)state;
    PawlValue o = pawl_object_set(pawl_object(), "short", pawl_string("abc"));
    o = pawl_object_set(o, "long", pawl_string("a text that does not fit into sixteen bytes"));
    o = pawl_object_set(o, "n", pawl_int(INT64_MAX));
    o = pawl_object_set(o, "d", pawl_double(0.5));
    o = pawl_object_set(o, "b", pawl_bool(true));
    PawlValue a = pawl_array_push(pawl_array_push(pawl_array(), pawl_null()), pawl_bool(false));
    o = pawl_object_set(o, "a", pawl_array_set(a, 3, pawl_string_len("x\0y", 3)));
    assert_json(o, "{\"short\":\"abc\",\"long\":\"a text that does not fit into sixteen bytes\","
                   "\"n\":9223372036854775807,\"d\":0.5,\"b\":true,"
                   "\"a\":[null,false,null,\"x\\u0000y\"]}");
    assert_int_equal(pawl_object_len(o), 6);
    assert_int_equal(pawl_value_int(pawl_object_get(o, "n"), 0), INT64_MAX);
    assert_true(pawl_value_double(pawl_object_get(o, "d"), 0) == 0.5);
    assert_true(pawl_value_truthy(pawl_object_get(o, "b")));
    o = pawl_object_remove(o, "long");
    assert_int_equal(pawl_value_kind(pawl_object_get(o, "long")), PAWL_NONE);
    pawl_value_unref(o);
}

static void the_text_of_a_string_is_lent(void **state) {
    (void)state;
    const char *texts[] = {"", "abc", "fourteen bytes", "a text of more than fourteen bytes"};
    for (size_t i = 0; i < 4; i++) {
        PawlValue v = pawl_string(texts[i]);
        size_t len;
        char copy[10];
        const char *text = pawl_value_text(&v, &len);
        assert_int_equal(len, strlen(texts[i]));
        assert_memory_equal(text, texts[i], len);
        assert_true(pawl_value_is(v, texts[i]));
        assert_false(pawl_value_is(v, "other"));
        assert_int_equal(pawl_value_copy_text(v, copy, sizeof copy), len);
        assert_int_equal(strlen(copy), len < 9 ? len : 9);
        pawl_value_unref(v);
    }
}

static void readers_take_any_value(void **state) {
    (void)state;
    PawlValue odd[] = {{{0}}, pawl_null(), pawl_int(1), pawl_string("x"), pawl_array()};
    size_t len, pos = 0;
    char text[4];
    PawlValue key, value;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(pawl_value_kind(pawl_object_get(odd[i], "k")), PAWL_NONE);
        assert_int_equal(pawl_value_kind(pawl_array_get(odd[i], 0)), PAWL_NONE);
        assert_int_equal(pawl_object_len(odd[i]), 0);
        assert_int_equal(pawl_array_len(odd[i]), 0);
        assert_false(pawl_object_next(odd[i], &pos, &key, &value));
        assert_int_equal(pawl_value_int(odd[i], 1), 1);
        assert_true(pawl_value_double(odd[i], 1) == 1);
    }
    assert_null(pawl_value_text(&odd[0], &len));
    assert_int_equal(pawl_value_copy_text(odd[1], text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(pawl_value_int(pawl_double(1e300), 0), INT64_MAX);
    assert_int_equal(pawl_value_int(pawl_double(-2.9), 0), -2);
    pawl_value_unref(odd[4]);
}

static void a_value_that_is_held_twice_does_not_change(void **state) {
    (void)state;
    PawlValue first = parsed("{\"list\":[1,2,3]}");
    PawlValue second = pawl_object_set(pawl_value_ref(first), "more", pawl_bool(true));
    assert_json(first, "{\"list\":[1,2,3]}");
    assert_false(pawl_value_equal(first, second));
    assert_gives(pawl_value_diff(first, second),
                 "{\"added\":[{\"path\":[\"more\"],\"new\":true}],\"removed\":[],\"changed\":[]}");
    pawl_value_unref(first);
    pawl_value_unref(second);
}

static void objects_are_walked_in_order(void **state) {
    (void)state;
    PawlValue o = parsed("{\"b\":1,\"a\":2}"), key, value;
    size_t pos = 0;
    assert_true(pawl_object_next(o, &pos, &key, &value));
    assert_true(pawl_value_is(key, "b"));
    assert_true(pawl_object_next(o, &pos, &key, &value));
    assert_int_equal(pawl_value_int(value, 0), 2);
    assert_false(pawl_object_next(o, &pos, &key, &value));
    pawl_value_unref(o);
}

static void text_that_is_no_json_says_where(void **state) {
    (void)state;
    PawlError err;
    assert_int_equal(pawl_value_kind(pawl_value_parse("[1,", 3, &err)), PAWL_NONE);
    assert_int_equal(err.code, PAWL_SYNTAX);
    assert_gives(pawl_value_parse("[1, 2]", 6, &err), "[1,2]");
    assert_int_equal(err.code, PAWL_OK);
}

static void an_expression_takes_values_without_text(void **state) {
    (void)state;
    PawlError err;
    PawlValue input = parsed("{\"a\":[1,2]}");
    PawlExpr *expr = pawl_expr_compile(".a | add, 99", &err);
    assert_gives(pawl_expr_first(expr, input, NULL, &err), "3");
    pawl_expr_free(expr);
    expr = pawl_expr_compile("empty", &err);
    assert_int_equal(pawl_value_kind(pawl_expr_first(expr, input, NULL, &err)), PAWL_NONE);
    assert_int_equal(err.code, PAWL_OK);
    pawl_expr_free(expr);
    expr = pawl_expr_compile("error(\"no\")", &err);
    assert_int_equal(pawl_value_kind(pawl_expr_first(expr, input, NULL, &err)), PAWL_NONE);
    assert_string_equal(err.message, "no");
    pawl_expr_free(expr);
    pawl_value_unref(input);
}

/* ---- graphs ---- */

static void nodes_without_edges_run_in_order(void **state) {
    (void)state;
    PawlGraph *g = pawl_graph_new("order");
    pawl_graph_add_key(g, "log", PAWL_APPEND, pawl_array());
    pawl_graph_add_node(g, "a", note, NULL);
    pawl_graph_add_node(g, "b", note, NULL);
    pawl_graph_add_node(g, "c", note, NULL);
    assert_ends(compiled(g), NULL, "{\"log\":[\"a\",\"b\",\"c\"]}");
}

static void a_condition_makes_a_loop(void **state) {
    (void)state;
    int calls = 0;
    PawlGraph *g = pawl_graph_new("loop");
    pawl_graph_add_node(g, "count", count, &calls);
    pawl_graph_set_entry(g, "count");
    pawl_graph_add_conditional_edge(g, "count", "count", ".n < .limit");
    pawl_graph_add_edge(g, "count", PAWL_END);
    assert_ends(compiled(g), "{\"limit\":5}", "{\"limit\":5,\"n\":5}");
    assert_int_equal(calls, 5);
}

static void a_loop_without_an_end_meets_the_limit(void **state) {
    (void)state;
    PawlGraph *g = pawl_graph_new("endless");
    pawl_graph_add_node(g, "count", count, NULL);
    pawl_graph_set_entry(g, "count");
    pawl_graph_add_conditional_edge(g, "count", "count", "true");
    pawl_graph_add_edge(g, "count", PAWL_END);
    pawl_graph_set_recursion_limit(g, 10);
    assert_fails(compiled(g), "recursion", "More than 10 steps");
}

static const char *by_size(void *ctx, PawlCall *call) {
    (void)ctx;
    return pawl_value_int(pawl_object_get(pawl_call_state(call), "n"), 0) < 3 ? "count" : "the-end";
}

static PawlGraph *routed(PawlRouterFn router) {
    static const char *const targets[] = {"count", "the-end", NULL};
    PawlGraph *g = pawl_graph_new("routed");
    pawl_graph_add_node(g, "count", count, NULL);
    pawl_graph_add_node(g, "the-end", note, NULL);
    pawl_graph_set_entry(g, "count");
    pawl_graph_add_router(g, "count", router, NULL, targets);
    pawl_graph_add_edge(g, "the-end", PAWL_END);
    return g;
}

static void a_router_chooses_and_its_choice_is_in_the_state(void **state) {
    (void)state;
    assert_ends(compiled(routed(by_size)), NULL,
                "{\"n\":3,\"__route__\":{\"count\":\"the-end\"},"
                "\"log\":[\"the-end\"]}");
}

static const char *nowhere(void *ctx, PawlCall *call) {
    (void)ctx;
    (void)call;
    return NULL;
}

static const char *astray(void *ctx, PawlCall *call) {
    (void)ctx;
    (void)call;
    return "elsewhere";
}

static void a_router_that_chooses_no_target_fails(void **state) {
    (void)state;
    assert_fails(compiled(routed(nowhere)), "route", "chose nothing");
    assert_fails(compiled(routed(astray)), "edge", "None of the edges from `count.route` holds");
}

static void branches_join_through_the_reducers(void **state) {
    (void)state;
    static const char *const branches[] = {"left", "right", NULL};
    PawlGraph *g = pawl_graph_new("parallel");
    pawl_graph_add_key(g, "log", PAWL_APPEND, parsed("[\"first\"]"));
    pawl_graph_add_node(g, "start", note, NULL);
    pawl_graph_add_node(g, "left", note, NULL);
    pawl_graph_add_node(g, "right", note, NULL);
    pawl_graph_add_node(g, "join", note, NULL);
    pawl_graph_set_entry(g, "start");
    pawl_graph_add_parallel_edge(g, "start", branches, "join");
    pawl_graph_add_edge(g, "left", "join");
    pawl_graph_add_edge(g, "right", "join");
    pawl_graph_add_edge(g, "join", PAWL_END);
    assert_ends(compiled(g), NULL, "{\"log\":[\"first\",\"start\",\"left\",\"right\",\"join\"]}");
}

static void a_key_can_have_an_expression_as_its_reducer(void **state) {
    (void)state;
    PawlGraph *g = pawl_graph_new("reduced");
    pawl_graph_add_key_expr(g, "n", "$old * 10 + $new", pawl_int(4));
    pawl_graph_add_node(g, "count", count, NULL);
    assert_ends(compiled(g), NULL, "{\"n\":45}");
}

static PawlFlow *speaker(const char *text) {
    PawlGraph *g = pawl_graph_new("speaker");
    pawl_graph_add_node(g, "say", say, (void *)text);
    return compiled(g);
}

static void graphs_are_nodes_of_graphs_with_their_own_functions(void **state) {
    (void)state;
    PawlFlow *one = speaker("one"), *two = speaker("two");
    PawlGraph *inner = pawl_graph_new("inner");
    pawl_graph_add_subgraph(inner, "deep", two, NULL);
    PawlFlow *deep = compiled(inner);
    PawlGraph *g = pawl_graph_new("outer");
    pawl_graph_add_key(g, "said", PAWL_APPEND, pawl_array());
    pawl_graph_add_subgraph(g, "first", one, "{}");
    pawl_graph_add_subgraph(g, "second", deep, "{}");
    pawl_graph_add_subgraph(g, "third", two, "{}");
    PawlFlow *flow = compiled(g);
    pawl_flow_free(one);
    pawl_flow_free(two);
    pawl_flow_free(deep);
    assert_ends(flow, NULL, "{\"said\":[\"one\",\"two\",\"two\"]}");
}

static void routers_in_branches_of_sub_graphs_do_not_meet(void **state) {
    (void)state;
    static const char *const branches[] = {"a", "b", NULL};
    PawlFlow *sub = compiled(routed(by_size));
    PawlGraph *g = pawl_graph_new("outer");
    pawl_graph_add_key(g, "log", PAWL_APPEND, pawl_array());
    pawl_graph_add_key(g, "n", PAWL_ADD, pawl_int(0));
    pawl_graph_add_subgraph(g, "a", sub, "{}");
    pawl_graph_add_subgraph(g, "b", sub, "{}");
    pawl_graph_add_parallel_edge(g, PAWL_START, branches, NULL);
    pawl_graph_add_edge(g, "a", PAWL_END);
    pawl_graph_add_edge(g, "b", PAWL_END);
    World w = ran(compiled(g), NULL, NULL);
    pawl_flow_free(sub);
    assert_status(w.run, PAWL_COMPLETED);
    end(&w);
}

static void other_kinds_of_nodes_stand_between_functions(void **state) {
    (void)state;
    PawlGraph *g = pawl_graph_new("mixed");
    pawl_graph_add_node(g, "count", count, NULL);
    pawl_graph_add_kind(g, "double", "jq", pawl_string(".n * 2"));
    pawl_graph_set_node(g, "double", &(PawlNodeOptions){.output = "n"});
    assert_ends(compiled(g), "{\"n\":4}", "{\"n\":10}");
}

static const char *compile_error(PawlGraph *g) {
    static PawlError err;
    assert_null(pawl_graph_compile(g, &err));
    assert_int_equal(err.line, 0);
    pawl_graph_free(g);
    return err.message;
}

static void assert_says(const char *message, const char *part) {
    bool found = message && strstr(message, part);
    if (!found) {
        fail_msg("it says: %s", message ? message : "(nothing)");
    }
}

static void what_is_wrong_with_a_graph_is_said_when_it_is_compiled(void **state) {
    (void)state;
    PawlGraph *g = pawl_graph_new("wrong");
    pawl_graph_add_node(g, "analyze", count, NULL);
    pawl_graph_add_edge(g, "analyse", PAWL_END);
    assert_says(compile_error(g), "There is no node `analyse`; did you mean `analyze`?");

    g = pawl_graph_new("wrong");
    pawl_graph_add_node(g, "a", count, NULL);
    pawl_graph_add_conditional_edge(g, "a", "a", ".n <");
    assert_says(compile_error(g), "");

    g = pawl_graph_new("wrong");
    pawl_graph_add_node(g, "a", NULL, NULL);
    assert_says(compile_error(g), "pawl_graph_add_node(\"a\"): it needs a function.");

    g = pawl_graph_new("wrong");
    pawl_graph_add_node(g, "a", count, NULL);
    pawl_graph_add_node(g, "a", count, NULL);
    assert_says(compile_error(g), "`a`");

    g = pawl_graph_new("wrong");
    pawl_graph_add_subgraph(g, "s", NULL, NULL);
    assert_says(compile_error(g), "it needs a flow");

    g = pawl_graph_new("wrong");
    pawl_graph_set_node(g, "later", &(PawlNodeOptions){.attempts = 2});
    assert_says(compile_error(g), "there is no such node yet");

    g = pawl_graph_new("wrong");
    pawl_graph_add_node(g, NULL, count, NULL);
    pawl_graph_add_edge(g, NULL, NULL);
    pawl_graph_add_kind(g, "k", NULL, (PawlValue){{0}});
    assert_says(compile_error(g), "");

    assert_says(compile_error(pawl_graph_new("empty")), "");
}

static void a_graph_may_have_any_name(void **state) {
    (void)state;
    PawlGraph *g = pawl_graph_new("../a/b \"c\" \\ : # \xf0\x9f\x99\x82");
    pawl_graph_add_node(g, "count", count, NULL);
    PawlFlow *sub = compiled(g);
    g = pawl_graph_new("");
    pawl_graph_add_subgraph(g, "sub", sub, NULL);
    PawlFlow *flow = compiled(g);
    pawl_flow_free(sub);
    assert_ends(flow, NULL, "{\"n\":1}");
}

static void a_graph_can_be_drawn(void **state) {
    (void)state;
    PawlGraph *g = pawl_graph_new("drawn");
    pawl_graph_add_node(g, "only", count, NULL);
    PawlFlow *flow = compiled(g);
    char *text = pawl_flow_draw(flow, "mermaid");
    assert_non_null(strstr(text, "only"));
    assert_null(pawl_flow_draw(flow, "nonsense"));
    pawl_text_free(text);
    pawl_flow_free(flow);
}

static void a_graph_of_thousands_of_nodes_compiles(void **state) {
    (void)state;
    enum { NODES = 3000 };
    int calls = 0;
    PawlGraph *g = pawl_graph_new("long");
    for (int i = 0; i < NODES; i++) {
        char name[20];
        snprintf(name, sizeof name, "n%d", i);
        pawl_graph_add_node(g, name, count, &calls);
    }
    pawl_graph_set_recursion_limit(g, NODES);
    assert_ends(compiled(g), NULL, "{\"n\":3000}");
    assert_int_equal(calls, NODES);
}

/* ---- failing ---- */

static PawlValue fails(void *ctx, PawlCall *call) {
    (void)ctx;
    return pawl_call_fail(call, "parse", "Line %d of %s has no date.", 3, pawl_call_node(call));
}

static PawlValue returns_nothing(void *ctx, PawlCall *call) {
    (void)ctx;
    return pawl_object_get(pawl_call_state(call), "nothing");
}

static PawlFlow *of_one(PawlNodeFn fn) {
    PawlGraph *g = pawl_graph_new("one");
    pawl_graph_add_node(g, "n", fn, NULL);
    return compiled(g);
}

static void a_function_fails_with_a_kind_and_a_sentence(void **state) {
    (void)state;
    assert_fails(of_one(fails), "parse", "Line 3 of n has no date.");
}

static void a_function_that_returns_nothing_fails(void **state) {
    (void)state;
    assert_fails(of_one(returns_nothing), "callback", "returned nothing");
}

static void an_error_edge_takes_over(void **state) {
    (void)state;
    PawlGraph *g = pawl_graph_new("caught");
    pawl_graph_add_node(g, "bad", fails, NULL);
    pawl_graph_add_kind(g, "mend", "jq", pawl_string("{mended: .error.kind, error: null}"));
    pawl_graph_set_entry(g, "bad");
    pawl_graph_add_edge(g, "bad", PAWL_END);
    pawl_graph_add_error_edge(g, "bad", "mend");
    pawl_graph_add_edge(g, "mend", PAWL_END);
    assert_ends(compiled(g), NULL, "{\"error\":null,\"mended\":\"parse\"}");
}

static PawlValue third_time(void *ctx, PawlCall *call) {
    (void)ctx;
    int attempt = pawl_call_attempt(call);
    if (attempt < 3) {
        return pawl_call_fail(call, "flaky", "Not yet.");
    }
    return pawl_object_set(pawl_object(), "attempt", pawl_int(attempt));
}

static void a_function_is_tried_again(void **state) {
    (void)state;
    PawlGraph *g = pawl_graph_new("flaky");
    pawl_graph_add_node(g, "n", third_time, NULL);
    pawl_graph_set_node(g, "n",
                        &(PawlNodeOptions){.attempts = 3,
                                           .delay_ms = 1,
                                           .factor = 1.5,
                                           .max_delay_ms = 5,
                                           .retry_if = ".error.kind == \"flaky\""});
    assert_ends(compiled(g), NULL, "{\"attempt\":3}");
}

/* ---- finishing later ---- */

typedef struct Worker {
    pthread_t thread;
    PawlToken *token;
    int64_t n;
    bool fail;
} Worker;

static void *work(void *arg) {
    Worker *w = arg;
    usleep(1000);
    pawl_token_log(w->token, "working");
    if (w->fail) {
        pawl_token_fail(w->token, "worker", "The worker %s.", "gave up");
    } else {
        PawlValue out = pawl_object_set(pawl_object(), "n", pawl_int(w->n * 2));
        out = pawl_object_set(out, "by", pawl_string("a thread other than that of the engine"));
        pawl_token_succeed(w->token, out);
    }
    return NULL;
}

static void start_worker(void *ctx, PawlCall *call, PawlToken *token) {
    Worker *w = ctx;
    w->token = token;
    w->n = pawl_value_int(pawl_object_get(pawl_call_state(call), "n"), 0);
    assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0);
}

static PawlFlow *of_worker(Worker *w) {
    PawlGraph *g = pawl_graph_new("threads");
    pawl_graph_add_node_later(g, "work", start_worker, w);
    return compiled(g);
}

static void a_node_is_finished_by_another_thread(void **state) {
    (void)state;
    Worker w = {0};
    assert_ends(of_worker(&w), "{\"n\":21}",
                "{\"n\":42,\"by\":\"a thread other than that of the engine\"}");
    pthread_join(w.thread, NULL);
    Worker bad = {.fail = true};
    assert_fails(of_worker(&bad), "worker", "The worker gave up.");
    pthread_join(bad.thread, NULL);
}

static void a_node_may_be_finished_inside_its_function(void **state) {
    (void)state;
    PawlGraph *g = pawl_graph_new("at_once");
    pawl_graph_add_node_later(g, "count", later_at_once, NULL);
    pawl_graph_set_entry(g, "count");
    pawl_graph_add_conditional_edge(g, "count", "count", ".n < 500");
    pawl_graph_add_edge(g, "count", PAWL_END);
    assert_ends(compiled(g), NULL, "{\"n\":500}");
}

typedef struct Kept {
    PawlToken *token;
    int cancelled;
} Kept;

static void keep_token(void *ctx, PawlCall *call, PawlToken *token) {
    Kept *k = ctx;
    (void)call;
    assert_false(pawl_token_is_cancelled(token));
    k->token = token;
}

static void await_token(const Kept *k, PawlEngine *e) {
    while (!k->token) {
        assert_true(pawl_engine_turn(e, 1000));
    }
}

static void on_cancel(void *ctx, PawlToken *token) {
    Kept *k = ctx;
    assert_ptr_equal(k->token, token);
    assert_true(pawl_token_is_cancelled(token));
    k->cancelled++;
}

static PawlFlow *of_keeper(Kept *k, int64_t timeout_ms) {
    PawlGraph *g = pawl_graph_new("keeper");
    pawl_graph_add_node_later(g, "keep", keep_token, k);
    pawl_graph_set_node(g, "keep",
                        &(PawlNodeOptions){.timeout_ms = timeout_ms, .on_cancel = on_cancel});
    return compiled(g);
}

static void a_node_whose_time_is_up_is_cancelled(void **state) {
    (void)state;
    Kept k = {0};
    assert_fails(of_keeper(&k, 20), "timeout", "");
    assert_int_equal(k.cancelled, 1);
    pawl_token_succeed(k.token, pawl_null()); /* into the void: its engine has gone, too */
}

static void a_run_that_is_cancelled_does_not_wait_for_its_tokens(void **state) {
    (void)state;
    Kept k = {0};
    World w = begun(of_keeper(&k, 0), "memory:", NULL);
    await_token(&k, w.e);
    pawl_run_cancel(w.run);
    run_all(w.e);
    assert_status(w.run, PAWL_CANCELLED);
    assert_int_equal(k.cancelled, 1);
    pawl_token_log(k.token, "Nobody hears this.");
    pawl_token_succeed(k.token, parsed("{\"late\":true}"));
    pawl_engine_turn(w.e, 0);
    assert_json(pawl_run_state(w.run), "{}");
    end(&w);
}

static void tokens_outlive_their_engine(void **state) {
    (void)state;
    Kept k = {0};
    World w = begun(of_keeper(&k, 0), "memory:", NULL);
    await_token(&k, w.e);
    end(&w);
    assert_int_equal(k.cancelled, 1);
    assert_true(pawl_token_is_cancelled(k.token));
    pawl_token_log(k.token, "Nobody hears this.");
    pawl_token_ask(k.token, pawl_string("Is anybody there?"), pawl_array());
}

static void *finish_from_elsewhere(void *arg) {
    PawlToken **tokens = arg;
    for (int i = 0; i < 100; i++) {
        pawl_token_succeed(tokens[i], pawl_null());
    }
    return NULL;
}

typedef struct Many {
    PawlToken *tokens[100];
    int n;
} Many;

static void collect_token(void *ctx, PawlCall *call, PawlToken *token) {
    Many *m = ctx;
    (void)call;
    m->tokens[m->n++] = token;
}

static void tokens_may_be_finished_while_their_engine_closes(void **state) {
    (void)state;
    for (int round = 0; round < 10; round++) {
        static Many m;
        pthread_t thread;
        m.n = 0;
        PawlEngine *e = opened("memory:");
        PawlGraph *g = pawl_graph_new("many");
        pawl_graph_add_node_later(g, "wait", collect_token, &m);
        PawlFlow *flow = compiled(g);
        for (int i = 0; i < 100; i++) {
            pawl_run_start(e, flow, NULL, NULL);
        }
        while (m.n < 100) {
            pawl_engine_turn(e, 1000);
        }
        pthread_create(&thread, NULL, finish_from_elsewhere, m.tokens);
        pawl_engine_turn(e, 0);
        pawl_engine_close(e);
        pthread_join(thread, NULL);
        pawl_flow_free(flow);
    }
}

/* ---- people ---- */

static PawlFlow *stopping(void) {
    PawlGraph *g = pawl_graph_new("stopping");
    pawl_graph_add_key(g, "log", PAWL_APPEND, pawl_array());
    pawl_graph_add_node(g, "a", note, NULL);
    pawl_graph_add_node(g, "b", note, NULL);
    pawl_graph_interrupt_before(g, "b");
    return compiled(g);
}

static void an_interrupted_run_goes_on_in_another_engine(void **state) {
    (void)state;
    PawlFlow *flow = stopping();
    PawlEngine *e = opened(store_at);
    PawlRun *run = started(e, flow, NULL);
    run_all(e);
    assert_status(run, PAWL_INTERRUPTED);
    PawlValue open = pawl_run_interrupts(run);
    assert_int_equal(pawl_array_len(open), 1);
    assert_true(pawl_value_is(pawl_object_get(pawl_array_get(open, 0), "node"), "b"));
    pawl_value_unref(open);
    pawl_engine_close(e);
    pawl_flow_free(flow);

    flow = stopping(); /* as the next process would build it */
    e = opened(store_at);
    run = resumed(e, (PawlResume){.thread = "t",
                                  .flow = flow,
                                  .set = pawl_object_set(pawl_object(), "edited", pawl_int(1)),
                                  .value = parsed("{\"given\":true}"),
                                  .data = &e});
    assert_ptr_equal(pawl_run_data(run), &e);
    run_all(e);
    assert_status(run, PAWL_COMPLETED);
    assert_json(pawl_run_state(run), "{\"log\":[\"a\",\"b\"],\"edited\":1,\"given\":true}");
    pawl_engine_close(e);
    pawl_flow_free(flow);
}

static void resuming_without_the_functions_is_refused(void **state) {
    (void)state;
    PawlFlow *other = of_one(count);
    World w = ran(stopping(), "memory:", NULL);
    assert_says(
        resume_error(w.e, (PawlResume){.thread = "t"}),
        "Node `a` of thread `t` is a function of the program that started it: build the same "
        "flow and give it in PawlResume.flow.");
    assert_says(resume_error(w.e, (PawlResume){.thread = "t", .flow = other}),
                "The flow is not the one that thread `t` was started with");
    assert_says(resume_error(w.e, (PawlResume){.thread = "nosuch", .flow = w.flow}), "nosuch");
    assert_says(resume_error(w.e, (PawlResume){.flow = w.flow}), "PawlResume.thread is missing");
    assert_says(resume_error(w.e, (PawlResume){.thread = "t", .flow = w.flow, .checkpoint = 99}),
                "99");
    assert_says(resume_error(w.e, (PawlResume){.thread = "t", .flow = w.flow, .set = pawl_int(1)}),
                "`set` is an object");
    assert_status(w.run, PAWL_INTERRUPTED);
    end(&w);
    pawl_flow_free(other);
}

static void a_changed_graph_is_taken_when_asked_for(void **state) {
    (void)state;
    World w = ran(stopping(), "memory:", NULL);
    PawlGraph *g = pawl_graph_new("stopping");
    pawl_graph_add_key(g, "log", PAWL_APPEND, pawl_array());
    pawl_graph_add_node(g, "a", note, NULL);
    pawl_graph_add_node(g, "b", note, NULL);
    pawl_graph_add_node(g, "new", note, NULL);
    pawl_graph_interrupt_before(g, "b");
    PawlFlow *longer = compiled(g);
    w.run = resumed(w.e, (PawlResume){.thread = "t", .flow = longer, .reload = true});
    run_all(w.e);
    assert_status(w.run, PAWL_COMPLETED);
    assert_json(pawl_run_state(w.run), "{\"log\":[\"a\",\"b\",\"new\"]}");
    end(&w);
    pawl_flow_free(longer);
}

static void an_approval_takes_a_decision(void **state) {
    (void)state;
    PawlGraph *g = pawl_graph_new("approved");
    pawl_graph_add_kind(g, "ask", "approval",
                        parsed("{\"prompt\":\"Ship?\",\"options\":[\"yes\",\"no\"]}"));
    pawl_graph_set_node(g, "ask", &(PawlNodeOptions){.output = "answer"});
    World w = ran(compiled(g), "memory:", NULL);
    assert_says(resume_error(w.e, (PawlResume){.thread = "t", .decision = "maybe"}), "`maybe`");
    /* There are no functions in it: the stored workflow is enough. */
    w.run = resumed(w.e, (PawlResume){.thread = "t", .decision = "yes"});
    run_all(w.e);
    assert_status(w.run, PAWL_COMPLETED);
    PawlValue answer = pawl_object_get(pawl_run_state(w.run), "answer");
    assert_true(pawl_value_is(pawl_object_get(answer, "decision"), "yes"));
    end(&w);
}

/* Asks twice, then gives back both answers. */
static void asks_twice(void *ctx, PawlCall *call, PawlToken *token) {
    static const char *const questions[] = {"First?", "Second?"};
    PawlValue answers = pawl_call_answers(call);
    size_t n = pawl_array_len(answers);
    ++*(int *)ctx;
    if (n < 2) {
        pawl_token_ask(token, pawl_string(questions[n]), (PawlValue){{0}});
    } else {
        pawl_token_succeed(token,
                           pawl_object_set(pawl_object(), "answers", pawl_value_ref(answers)));
    }
}

static void a_function_asks_and_is_called_again_with_the_answers(void **state) {
    (void)state;
    int calls = 0;
    PawlGraph *g = pawl_graph_new("asking");
    pawl_graph_add_node_later(g, "ask", asks_twice, &calls);
    PawlFlow *flow = compiled(g);
    PawlEngine *e = opened(store_at);
    PawlRun *run = started(e, flow, NULL);
    run_all(e);
    assert_status(run, PAWL_INTERRUPTED);
    PawlValue open = pawl_run_interrupts(run);
    assert_true(pawl_value_is(pawl_object_get(pawl_array_get(open, 0), "prompt"), "First?"));
    pawl_value_unref(open);
    pawl_engine_close(e);

    e = opened(store_at);
    run = resumed(e, (PawlResume){.thread = "t", .flow = flow, .value = pawl_int(1)});
    run_all(e);
    assert_status(run, PAWL_INTERRUPTED);
    run = resumed(e, (PawlResume){.thread = "t", .flow = flow, .value = pawl_string("two")});
    run_all(e);
    assert_status(run, PAWL_COMPLETED);
    assert_json(pawl_run_state(run), "{\"answers\":[1,\"two\"]}");
    assert_int_equal(calls, 3);
    pawl_engine_close(e);
    pawl_flow_free(flow);
}

/* What a program that does not have the functions does to a run: nothing. */
static void another_program_does_not_go_on_with_functions(void **state) {
    (void)state;
    int calls = 0;
    PawlGraph *g = pawl_graph_new("asking");
    pawl_graph_add_node_later(g, "ask", asks_twice, &calls);
    PawlFlow *flow = compiled(g);
    PawlEngine *e = opened(store_at);
    started(e, flow, NULL);
    run_all(e);
    resumed(e, (PawlResume){.thread = "t", .flow = flow, .value = pawl_int(1)});
    run_all(e);
    pawl_engine_close(e);

    uv_loop_t loop;
    Error err = ERROR_INIT;
    uv_loop_init(&loop);
    Store *store = store_open(store_at, 0, &err);
    assert_non_null(store);
    Engine *other =
        engine_new(&(EngineOptions){.loop = &loop, .store = store, .work = exec_work}, &err);
    assert_non_null(other);
    RunResume resume = {.thread = "t", .value = json_string_c("two")};
    assert_null(engine_resume_now(other, &resume, &err));
    assert_non_null(strstr(err.msg, "`ask` of thread `t` is a function"));
    assert_null(engine_open_now(other, "t", json_null(), &err));
    assert_non_null(strstr(err.msg, "is a function"));
    /* What is changed by hand leaves the answers where they are. */
    int64_t seq;
    Json path = json_array_push(json_array(), json_string_c("by"));
    Json pair = json_array_push(json_array_push(json_array(), path), json_string_c("hand"));
    RunUpdate update = {.thread = "t", .set = json_array_push(json_array(), pair)};
    assert_true(engine_update_now(other, &update, &seq, &err));
    json_unref(update.set);
    engine_free(other);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    store_close(store);

    e = opened(store_at);
    PawlRun *run =
        resumed(e, (PawlResume){.thread = "t", .flow = flow, .value = pawl_string("two")});
    run_all(e);
    assert_status(run, PAWL_COMPLETED);
    assert_json(pawl_run_state(run), "{\"by\":\"hand\",\"answers\":[1,\"two\"]}");
    assert_int_equal(calls, 3);
    pawl_engine_close(e);
    pawl_flow_free(flow);
}

/* ---- going on after the end of a process ---- */

static void a_node_that_was_not_finished_is_called_again(void **state) {
    (void)state;
    Kept k = {0};
    PawlFlow *flow = of_keeper(&k, 0);
    PawlEngine *e = opened(store_at);
    started(e, flow, NULL);
    await_token(&k, e);
    PawlToken *lost = k.token;
    pawl_engine_close(e); /* as if the process had died */
    k.token = NULL;
    e = opened(store_at);
    PawlRun *run = resumed(e, (PawlResume){.thread = "t", .flow = flow});
    await_token(&k, e);
    pawl_token_succeed(k.token, parsed("{\"second\":true}"));
    pawl_token_succeed(lost, parsed("{\"first\":true}"));
    run_all(e);
    assert_json(pawl_run_state(run), "{\"second\":true}");
    pawl_engine_close(e);
    pawl_flow_free(flow);
}

/* ---- what is kept ---- */

typedef struct Walk {
    char text[400];
    PawlEngine *engine;
    int limit;
} Walk;

static bool add_checkpoint(void *ctx, const PawlCheckpoint *c) {
    Walk *w = ctx;
    char *changed = pawl_value_print(c->changed, 0);
    size_t len = strlen(w->text);
    snprintf(w->text + len, sizeof w->text - len, "%d %s %s %s;", (int)c->checkpoint, c->node,
             c->status, changed);
    pawl_text_free(changed);
    if (w->engine) { /* the engine may be used on the way */
        pawl_value_unref(pawl_run_show(w->engine, "t", c->checkpoint, NULL));
    }
    return --w->limit != 0;
}

static void history_shows_every_step(void **state) {
    (void)state;
    PawlError err;
    World w = ran(stopping(), "memory:", NULL);
    Walk all = {.engine = w.e}, first = {.limit = 1};
    assert_true(pawl_run_history(w.e, "t", add_checkpoint, &all, &err));
    assert_string_equal(all.text,
                        "1  started [\"log\"];2 a completed [\"log\"];3 b interrupted [];");
    assert_true(pawl_run_history(w.e, "t", add_checkpoint, &first, &err));
    assert_string_equal(first.text, "1  started [\"log\"];");
    assert_false(pawl_run_history(w.e, "nosuch", add_checkpoint, &all, &err));
    assert_int_equal(err.code, PAWL_USAGE);
    end(&w);
}

static bool count_checkpoint(void *ctx, const PawlCheckpoint *c) {
    int64_t *n = ctx;
    return c->checkpoint == ++*n;
}

static void a_long_history_is_read_in_pieces(void **state) {
    (void)state;
    PawlGraph *g = pawl_graph_new("loop");
    pawl_graph_add_node(g, "count", count, NULL);
    pawl_graph_set_entry(g, "count");
    pawl_graph_add_conditional_edge(g, "count", "count", ".n < 900");
    pawl_graph_add_edge(g, "count", PAWL_END);
    World w = ran(compiled(g), "memory:", NULL);
    int64_t n = 0;
    assert_true(pawl_run_history(w.e, "t", count_checkpoint, &n, NULL));
    assert_int_equal(n, pawl_run_checkpoint(w.run));
    assert_int_equal(n, 901);
    end(&w);
}

static void states_of_the_past_can_be_shown_and_compared(void **state) {
    (void)state;
    PawlError err;
    World w = ran(stopping(), "memory:", NULL);
    PawlValue first = pawl_run_show(w.e, "t", 1, &err), last = pawl_run_show(w.e, "t", 0, &err);
    assert_json(first, "{\"log\":[]}");
    assert_json(last, "{\"log\":[\"a\"]}");
    assert_gives(
        pawl_value_diff(first, last),
        "{\"added\":[{\"path\":[\"log\",0],\"new\":\"a\"}],\"removed\":[],\"changed\":[]}");
    pawl_value_unref(first);
    pawl_value_unref(last);
    assert_int_equal(pawl_value_kind(pawl_run_show(w.e, "t", 77, &err)), PAWL_NONE);
    assert_int_equal(err.code, PAWL_USAGE);
    end(&w);
}

static void runs_are_listed_and_described(void **state) {
    (void)state;
    PawlError err;
    World w = ran(stopping(), "memory:", NULL);
    PawlValue list = pawl_run_list(w.e, &err);
    assert_int_equal(pawl_array_len(list), 1);
    assert_true(pawl_value_is(pawl_object_get(pawl_array_get(list, 0), "status"), "interrupted"));
    pawl_value_unref(list);
    PawlValue info = pawl_run_info(w.e, "t", &err);
    assert_int_equal(pawl_array_len(pawl_object_get(info, "interrupts")), 1);
    assert_true(pawl_value_is(pawl_object_get(info, "workflow"), "stopping"));
    pawl_value_unref(info);
    end(&w);
}

static void a_run_can_be_changed_forked_and_cancelled_by_hand(void **state) {
    (void)state;
    PawlError err;
    World w = begun(stopping(), "memory:", NULL);
    pawl_run_free(w.run);
    run_all(w.e);
    PawlValue path = parsed("[[[\"log\",0],\"changed\"]]");
    assert_int_equal(pawl_run_update(w.e, "t", path, NULL, &err), 4);
    assert_gives(pawl_run_show(w.e, "t", 0, &err), "{\"log\":[\"changed\"]}");
    assert_int_equal(pawl_run_update(w.e, "t", pawl_string("x"), NULL, &err), 0);
    assert_true(pawl_run_fork(w.e, "t", 2, "copy", &err));
    assert_gives(pawl_run_show(w.e, "copy", 0, &err), "{\"log\":[\"a\"]}");
    assert_true(pawl_run_ask_cancel(w.e, "t", &err));
    PawlValue info = pawl_run_info(w.e, "t", &err);
    assert_true(pawl_value_is(pawl_object_get(info, "status"), "cancelled"));
    pawl_value_unref(info);
    assert_false(pawl_run_ask_cancel(w.e, "t", &err));
    end(&w);
}

static void a_run_that_is_under_way_is_asked_to_cancel(void **state) {
    (void)state;
    Kept k = {0};
    PawlError err;
    World w = begun(of_keeper(&k, 0), "memory:", NULL);
    await_token(&k, w.e);
    assert_true(pawl_run_ask_cancel(w.e, "t", &err));
    run_all(w.e);
    assert_status(w.run, PAWL_CANCELLED);
    pawl_token_succeed(k.token, pawl_null());
    end(&w);
}

static void going_back_leaves_what_came_after(void **state) {
    (void)state;
    World w = ran(stopping(), "memory:", NULL);
    w.run = resumed(w.e, (PawlResume){.thread = "t", .flow = w.flow});
    run_all(w.e);
    assert_status(w.run, PAWL_COMPLETED);
    assert_says(resume_error(w.e, (PawlResume){.thread = "t", .flow = w.flow}), "has completed");
    w.run = resumed(w.e, (PawlResume){.thread = "t",
                                      .flow = w.flow,
                                      .checkpoint = 3,
                                      .set = parsed("{\"again\":true}")});
    run_all(w.e);
    assert_status(w.run, PAWL_COMPLETED);
    assert_json(pawl_run_state(w.run), "{\"log\":[\"a\",\"b\"],\"again\":true}");
    assert_gives(pawl_run_show(w.e, "t", 4, NULL), "{\"log\":[\"a\"]}");
    end(&w);
}

static void without_a_store_nothing_can_wait_or_be_looked_at(void **state) {
    (void)state;
    PawlError err;
    PawlFlow *flow = stopping();
    PawlEngine *e = opened(NULL);
    assert_null(pawl_run_start(e, flow, &(PawlStart){.input = parsed("{\"a\":[1]}")}, &err));
    assert_says(err.message, "has interrupts, and this engine has no store");
    assert_false(pawl_run_history(e, "t", count_checkpoint, NULL, &err));
    assert_int_equal(pawl_value_kind(pawl_run_show(e, "t", 0, &err)), PAWL_NONE);
    assert_int_equal(pawl_value_kind(pawl_run_list(e, &err)), PAWL_NONE);
    assert_says(resume_error(e, (PawlResume){.thread = "t", .value = parsed("[[1]]")}),
                "has no store");
    pawl_engine_close(e);
    pawl_flow_free(flow);
}

static void a_store_that_cannot_be_opened_says_why(void **state) {
    (void)state;
    PawlError err;
    assert_null(pawl_engine_open("nosuch:place", NULL, &err));
    assert_int_not_equal(err.code, PAWL_OK);
    assert_null(pawl_engine_open("file:/dev/null/x", NULL, &err));
    assert_true(strlen(err.message) > 10);
}

/* ---- files ---- */

static const char with_callbacks[] = "name: file\n"
                                     "nodes:\n"
                                     "  - {name: count, callback: counter}\n"
                                     "  - name: each\n"
                                     "    map: {over: '[1, 2, 3]', as: item}\n"
                                     "    do: {callback: doubler}\n"
                                     "  - {name: last, callback_later: finisher}\n";

static PawlValue doubles_item(void *ctx, PawlCall *call) {
    (void)ctx;
    assert_int_equal(pawl_value_kind(pawl_call_var(call, "nosuch")), PAWL_NONE);
    return pawl_int(pawl_value_int(pawl_call_var(call, "item"), 0) * 2);
}

static void a_file_calls_functions_by_name(void **state) {
    (void)state;
    PawlError err;
    PawlFlow *flow = pawl_flow_parse(with_callbacks, strlen(with_callbacks), &err);
    if (!flow) {
        fail_msg("%s", err.message);
    }
    assert_true(pawl_flow_bind(flow, "counter", count, NULL));
    assert_true(pawl_flow_bind_later(flow, "finisher", later_at_once, NULL, NULL));
    assert_false(pawl_flow_bind(flow, "nosuch", count, NULL));
    assert_false(pawl_flow_bind(flow, "finisher", count, NULL)); /* it is of the other sort */
    PawlEngine *e = opened("memory:");
    assert_null(pawl_run_start(e, flow, NULL, &err));
    assert_says(err.message, "`doubler`, which is not bound");
    assert_true(pawl_flow_bind(flow, "doubler", doubles_item, NULL));
    PawlRun *run = started(e, flow, NULL);
    run_all(e);
    assert_status(run, PAWL_COMPLETED);
    assert_json(pawl_run_state(run), "{\"n\":2,\"each\":[2,4,6]}");
    pawl_engine_close(e);
    pawl_flow_free(flow);
}

static void a_loaded_file_is_a_node_of_a_graph(void **state) {
    (void)state;
    PawlError err;
    PawlFlow *file = pawl_flow_parse(with_callbacks, strlen(with_callbacks), &err);
    pawl_flow_bind(file, "counter", count, NULL);
    pawl_flow_bind(file, "doubler", doubles_item, NULL);
    pawl_flow_bind_later(file, "finisher", later_at_once, NULL, NULL);
    PawlGraph *g = pawl_graph_new("around");
    pawl_graph_add_subgraph(g, "file", file, "{}");
    PawlFlow *flow = compiled(g);
    pawl_flow_free(file);
    assert_ends(flow, NULL, "{\"n\":2,\"each\":[2,4,6]}");
}

static void a_file_that_is_wrong_says_where(void **state) {
    (void)state;
    PawlError err;
    const char *text = "name: x\nnodes:\n  - {name: a, nosuchkind: 1}\n";
    assert_null(pawl_flow_parse(text, strlen(text), &err));
    assert_int_equal(err.code, PAWL_SYNTAX);
    assert_int_equal(err.line, 3);
    assert_null(pawl_flow_load("/nowhere/at/all.yaml", &err));
    assert_true(strlen(err.message) > 10);
}

/* ---- events and loops ---- */

typedef struct Heard {
    int counts[PAWL_EVENT_SETTLED + 1];
    char log[100];
    PawlRun *run;
    bool let_go;
} Heard;

static void hear(void *ctx, const PawlEvent *event) {
    Heard *h = ctx;
    h->counts[event->type]++;
    h->run = event->run;
    if (event->type == PAWL_EVENT_LOG) {
        pawl_value_copy_text(pawl_object_get(event->data, "text"), h->log, sizeof h->log);
    }
    if (event->type == PAWL_EVENT_STEP) {
        assert_int_equal(pawl_value_kind(event->state), PAWL_OBJECT);
    }
    if (event->type == PAWL_EVENT_SETTLED && h->let_go) {
        assert_string_equal(event->status, "completed");
        pawl_run_free(event->run);
    }
}

static PawlValue logs(void *ctx, PawlCall *call) {
    assert_ptr_equal(pawl_run_data(pawl_call_run(call)), ctx);
    pawl_call_log(call, "a line");
    return pawl_null();
}

static void those_who_listen_are_told(void **state) {
    (void)state;
    Heard h = {0};
    PawlError err;
    PawlEngine *e =
        pawl_engine_open("memory:", &(PawlEngineOptions){.on_event = hear, .ctx = &h}, &err);
    PawlGraph *g = pawl_graph_new("heard");
    pawl_graph_add_node(g, "log", logs, &h);
    PawlFlow *flow = compiled(g);
    PawlRun *run = pawl_run_start(e, flow, &(PawlStart){.data = &h}, &err);
    run_all(e);
    assert_int_equal(h.counts[PAWL_EVENT_START], 1);
    assert_int_equal(h.counts[PAWL_EVENT_NODE], 1);
    assert_int_equal(h.counts[PAWL_EVENT_LOG], 1);
    assert_int_equal(h.counts[PAWL_EVENT_STEP], 2);
    assert_int_equal(h.counts[PAWL_EVENT_SETTLED], 1);
    assert_string_equal(h.log, "a line\n");
    assert_ptr_equal(h.run, run);
    pawl_engine_close(e);
    pawl_flow_free(flow);
}

static void a_run_may_be_let_go_of_at_any_time(void **state) {
    (void)state;
    Heard h = {.let_go = true};
    PawlError err;
    PawlEngine *e =
        pawl_engine_open("memory:", &(PawlEngineOptions){.on_event = hear, .ctx = &h}, &err);
    PawlFlow *flow = of_one(count);
    for (int i = 0; i < 200; i++) {
        PawlRun *run = pawl_run_start(e, flow, NULL, &err);
        assert_non_null(run);
        if (i % 2) {
            pawl_run_free(run); /* it goes on */
        }
    }
    run_all(e);
    assert_int_equal(h.counts[PAWL_EVENT_SETTLED], 200);
    PawlValue list = pawl_run_list(e, &err);
    assert_int_equal(pawl_array_len(list), 200);
    pawl_value_unref(list);
    pawl_run_free(NULL);
    pawl_engine_close(e);
    pawl_engine_close(NULL);
    pawl_flow_free(flow);
}

typedef struct Chain {
    PawlFlow *flow;
    int left, settled;
} Chain;

static void start_next(void *ctx, const PawlEvent *event) {
    Chain *c = ctx;
    if (event->type == PAWL_EVENT_SETTLED) {
        c->settled++;
        PawlEngine *engine = pawl_run_engine(event->run);
        pawl_run_free(event->run);
        if (c->left-- > 0) {
            assert_non_null(pawl_run_start(engine, c->flow, NULL, NULL));
        }
    }
}

static void whoever_listens_may_start_runs(void **state) {
    (void)state;
    PawlError err;
    Chain c = {.flow = of_one(count), .left = 20};
    PawlEngine *e =
        pawl_engine_open("memory:", &(PawlEngineOptions){.on_event = start_next, .ctx = &c}, &err);
    pawl_run_start(e, c.flow, NULL, &err);
    run_all(e);
    assert_int_equal(c.settled, 21);
    pawl_engine_close(e);
    pawl_flow_free(c.flow);
}

static PawlValue cancels(void *ctx, PawlCall *call) {
    (void)ctx;
    pawl_run_cancel(pawl_call_run(call));
    return pawl_null();
}

static void a_function_may_cancel_its_run(void **state) {
    (void)state;
    Kept k = {0};
    PawlGraph *g = pawl_graph_new("changes_its_mind");
    pawl_graph_add_node(g, "cancel", cancels, NULL);
    pawl_graph_add_node_later(g, "keep", keep_token, &k);
    World w = ran(compiled(g), "memory:", NULL);
    assert_status(w.run, PAWL_CANCELLED);
    if (k.token) {
        pawl_token_succeed(k.token, pawl_null());
    }
    end(&w);
}

static void a_run_that_is_stopped_goes_on_later(void **state) {
    (void)state;
    Kept k = {0};
    World w = begun(of_keeper(&k, 0), "memory:", NULL);
    await_token(&k, w.e);
    pawl_run_stop(w.run);
    run_all(w.e);
    assert_status(w.run, PAWL_STOPPED);
    pawl_token_succeed(k.token, pawl_null());
    k.token = NULL;
    w.run = resumed(w.e, (PawlResume){.thread = "t", .flow = w.flow});
    await_token(&k, w.e);
    pawl_token_succeed(k.token, parsed("{\"done\":true}"));
    run_all(w.e);
    assert_json(pawl_run_state(w.run), "{\"done\":true}");
    end(&w);
}

static void an_engine_is_driven_by_the_loop_of_its_program(void **state) {
    (void)state;
    Worker worker = {0};
    World w = begun(of_worker(&worker), "memory:", "{\"n\":1}");
    int turns = 0;
    while (pawl_engine_turn(w.e, 0)) {
        struct pollfd fd = {.fd = pawl_engine_fd(w.e), .events = POLLIN};
        poll(&fd, 1, pawl_engine_timeout(w.e));
        assert_true(++turns < 1000);
    }
    assert_status(w.run, PAWL_COMPLETED);
    assert_false(pawl_engine_turn(w.e, 1000)); /* at once */
    pthread_join(worker.thread, NULL);
    end(&w);
}

static void an_engine_runs_on_a_loop_of_its_program(void **state) {
    (void)state;
    uv_loop_t loop;
    Worker w = {0};
    PawlError err;
    uv_loop_init(&loop);
    PawlEngine *e = pawl_engine_open("memory:", &(PawlEngineOptions){.loop = &loop}, &err);
    PawlFlow *flow = of_worker(&w);
    PawlRun *run = started(e, flow, "{\"n\":1}");
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_status(run, PAWL_COMPLETED);
    pthread_join(w.thread, NULL);
    pawl_engine_close(e);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    pawl_flow_free(flow);
}

static void a_turn_waits_no_longer_than_it_is_told(void **state) {
    (void)state;
    Kept k = {0};
    World w = begun(of_keeper(&k, 0), "memory:", NULL);
    for (int i = 0; i < 10; i++) {
        assert_true(pawl_engine_turn(w.e, 5));
    }
    assert_non_null(k.token);
    pawl_token_succeed(k.token, pawl_null());
    while (pawl_engine_turn(w.e, 1000)) {}
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_keep_what_they_are_given),
        cmocka_unit_test(the_text_of_a_string_is_lent),
        cmocka_unit_test(readers_take_any_value),
        cmocka_unit_test(a_value_that_is_held_twice_does_not_change),
        cmocka_unit_test(objects_are_walked_in_order),
        cmocka_unit_test(text_that_is_no_json_says_where),
        cmocka_unit_test(an_expression_takes_values_without_text),
        cmocka_unit_test(nodes_without_edges_run_in_order),
        cmocka_unit_test(a_condition_makes_a_loop),
        cmocka_unit_test(a_loop_without_an_end_meets_the_limit),
        cmocka_unit_test(a_router_chooses_and_its_choice_is_in_the_state),
        cmocka_unit_test(a_router_that_chooses_no_target_fails),
        cmocka_unit_test(branches_join_through_the_reducers),
        cmocka_unit_test(a_key_can_have_an_expression_as_its_reducer),
        cmocka_unit_test(graphs_are_nodes_of_graphs_with_their_own_functions),
        cmocka_unit_test(routers_in_branches_of_sub_graphs_do_not_meet),
        cmocka_unit_test(other_kinds_of_nodes_stand_between_functions),
        cmocka_unit_test(what_is_wrong_with_a_graph_is_said_when_it_is_compiled),
        cmocka_unit_test(a_graph_may_have_any_name),
        cmocka_unit_test(a_graph_can_be_drawn),
        cmocka_unit_test(a_graph_of_thousands_of_nodes_compiles),
        cmocka_unit_test(a_function_fails_with_a_kind_and_a_sentence),
        cmocka_unit_test(a_function_that_returns_nothing_fails),
        cmocka_unit_test(an_error_edge_takes_over),
        cmocka_unit_test(a_function_is_tried_again),
        cmocka_unit_test(a_node_is_finished_by_another_thread),
        cmocka_unit_test(a_node_may_be_finished_inside_its_function),
        cmocka_unit_test(a_node_whose_time_is_up_is_cancelled),
        cmocka_unit_test(a_run_that_is_cancelled_does_not_wait_for_its_tokens),
        cmocka_unit_test(tokens_outlive_their_engine),
        cmocka_unit_test(tokens_may_be_finished_while_their_engine_closes),
        cmocka_unit_test_setup_teardown(an_interrupted_run_goes_on_in_another_engine, make_store,
                                        remove_store),
        cmocka_unit_test(resuming_without_the_functions_is_refused),
        cmocka_unit_test(a_changed_graph_is_taken_when_asked_for),
        cmocka_unit_test(an_approval_takes_a_decision),
        cmocka_unit_test_setup_teardown(a_function_asks_and_is_called_again_with_the_answers,
                                        make_store, remove_store),
        cmocka_unit_test_setup_teardown(another_program_does_not_go_on_with_functions, make_store,
                                        remove_store),
        cmocka_unit_test_setup_teardown(a_node_that_was_not_finished_is_called_again, make_store,
                                        remove_store),
        cmocka_unit_test(history_shows_every_step),
        cmocka_unit_test(a_long_history_is_read_in_pieces),
        cmocka_unit_test(states_of_the_past_can_be_shown_and_compared),
        cmocka_unit_test(runs_are_listed_and_described),
        cmocka_unit_test(a_run_can_be_changed_forked_and_cancelled_by_hand),
        cmocka_unit_test(a_run_that_is_under_way_is_asked_to_cancel),
        cmocka_unit_test(going_back_leaves_what_came_after),
        cmocka_unit_test(without_a_store_nothing_can_wait_or_be_looked_at),
        cmocka_unit_test(a_store_that_cannot_be_opened_says_why),
        cmocka_unit_test(a_file_calls_functions_by_name),
        cmocka_unit_test(a_loaded_file_is_a_node_of_a_graph),
        cmocka_unit_test(a_file_that_is_wrong_says_where),
        cmocka_unit_test(those_who_listen_are_told),
        cmocka_unit_test(a_run_may_be_let_go_of_at_any_time),
        cmocka_unit_test(whoever_listens_may_start_runs),
        cmocka_unit_test(a_function_may_cancel_its_run),
        cmocka_unit_test(a_run_that_is_stopped_goes_on_later),
        cmocka_unit_test(an_engine_is_driven_by_the_loop_of_its_program),
        cmocka_unit_test(an_engine_runs_on_a_loop_of_its_program),
        cmocka_unit_test(a_turn_waits_no_longer_than_it_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
