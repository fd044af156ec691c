/* release.c - a program with a workflow inside: a release that is tested, approved and shipped.
 *
 *     release STORE            such as  release sqlite:release.db
 *
 *     plan -> tests (a graph of its own) -> tests.route -+-> fix -> tests ...
 *                                                        +-> approve -> ship
 *
 *     tests:  unit (on another thread) | lint  -> verdict
 *
 * The first half runs until `approve` has asked a person, and lets go of everything. The second
 * half is what another process would do, hours later: it builds the same graph, opens the store,
 * answers, and runs to the end. Then the history is printed. */
#include <pawl.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char thread[] = "release-1";

static void give_up(const PawlError *err) {
    fprintf(stderr, "release: %s\n", err->message);
    exit(1);
}

static void print_value(const char *what, PawlValue value) {
    char *text = pawl_value_print(value, 0);
    printf("%s%s\n", what, text);
    pawl_text_free(text);
}

/* ---- functions that finish at once ---- */

static int64_t number(const PawlCall *call, const char *key) {
    return pawl_value_int(pawl_object_get(pawl_call_state(call), key), 0);
}

static PawlValue one(const char *key, PawlValue value) {
    return pawl_object_set(pawl_object(), key, value);
}

static PawlValue plan(void *ctx, PawlCall *call) {
    (void)call;
    return pawl_object_set(one("version", pawl_string(ctx)), "bugs", pawl_int(1));
}

static PawlValue lint(void *ctx, PawlCall *call) {
    (void)ctx;
    (void)call;
    return one("checks", pawl_string("lint is clean"));
}

static PawlValue verdict(void *ctx, PawlCall *call) {
    (void)ctx;
    return one("passed", pawl_bool(number(call, "failures") == 0));
}

static PawlValue fix(void *ctx, PawlCall *call) {
    (void)ctx;
    return one("bugs", pawl_int(number(call, "bugs") - 1));
}

static PawlValue ship(void *ctx, PawlCall *call) {
    (void)ctx;
    PawlValue decision = pawl_object_get(pawl_call_state(call), "decision");
    if (!pawl_value_is(decision, "ship")) {
        return pawl_call_fail(call, "refused", "Somebody decided against it.");
    }
    return one("shipped", pawl_bool(true));
}

/* Where to go on after the tests. */
static const char *after_tests(void *ctx, PawlCall *call) {
    (void)ctx;
    return pawl_value_truthy(pawl_object_get(pawl_call_state(call), "passed")) ? "approve" : "fix";
}

/* ---- a function that finishes later, on another thread ---- */

typedef struct Tests {
    PawlToken *token;
    int64_t bugs; /* taken out of the state, which stays with its own thread */
} Tests;

static void *run_tests(void *arg) {
    Tests *tests = arg;
    usleep(10000);
    pawl_token_log(tests->token, "the unit tests are done");
    PawlValue result = one("failures", pawl_int(tests->bugs));
    result = pawl_object_set(result, "checks", pawl_string("unit tests ran"));
    pawl_token_succeed(tests->token, result);
    free(tests);
    return NULL;
}

static void unit(void *ctx, PawlCall *call, PawlToken *token) {
    pthread_t worker;
    Tests *tests = malloc(sizeof *tests);
    (void)ctx;
    *tests = (Tests){.token = token, .bugs = number(call, "bugs")};
    if (pthread_create(&worker, NULL, run_tests, tests) != 0) {
        free(tests);
        pawl_token_fail(token, "thread", "No thread could be started.");
        return;
    }
    pthread_detach(worker);
}

/* ---- a function that asks a person ---- */

static void approve(void *ctx, PawlCall *call, PawlToken *token) {
    PawlValue answers = pawl_call_answers(call);
    (void)ctx;
    if (pawl_array_len(answers) == 0) {
        PawlValue options = pawl_array_push(pawl_array(), pawl_string("ship"));
        options = pawl_array_push(options, pawl_string("hold"));
        pawl_token_ask(token, pawl_string("Ship it?"), options);
        return;
    }
    pawl_token_succeed(token, one("decision", pawl_value_ref(pawl_array_get(answers, 0))));
}

/* ---- the graphs ---- */

static PawlFlow *build_tests(PawlError *err) {
    static const char *const both[] = {"unit", "lint", NULL};
    PawlGraph *g = pawl_graph_new("tests");
    pawl_graph_add_key(g, "checks", PAWL_APPEND, (PawlValue){{0}});
    pawl_graph_add_node_later(g, "unit", unit, NULL);
    pawl_graph_set_node(g, "unit", &(PawlNodeOptions){.timeout_ms = 60000, .attempts = 2});
    pawl_graph_add_node(g, "lint", lint, NULL);
    pawl_graph_add_node(g, "verdict", verdict, NULL);
    pawl_graph_add_parallel_edge(g, PAWL_START, both, "verdict");
    pawl_graph_add_edge(g, "unit", "verdict");
    pawl_graph_add_edge(g, "lint", "verdict");
    pawl_graph_add_edge(g, "verdict", PAWL_END);
    PawlFlow *flow = pawl_graph_compile(g, err);
    pawl_graph_free(g);
    return flow;
}

static PawlFlow *build_release(PawlError *err) {
    static const char *const ways[] = {"approve", "fix", NULL};
    static char version[] = "1.2.0";
    PawlFlow *tests = build_tests(err);
    if (!tests) {
        return NULL;
    }
    PawlGraph *g = pawl_graph_new("release");
    pawl_graph_add_key(g, "checks", PAWL_APPEND, pawl_array());
    pawl_graph_add_node(g, "plan", plan, version);
    pawl_graph_add_subgraph(g, "tests", tests, "{bugs}");
    pawl_graph_add_node(g, "fix", fix, NULL);
    pawl_graph_add_node_later(g, "approve", approve, NULL);
    pawl_graph_add_node(g, "ship", ship, NULL);
    pawl_graph_set_entry(g, "plan");
    pawl_graph_add_edge(g, "plan", "tests");
    pawl_graph_add_router(g, "tests", after_tests, NULL, ways);
    pawl_graph_add_edge(g, "fix", "tests");
    pawl_graph_add_edge(g, "approve", "ship");
    pawl_graph_add_edge(g, "ship", PAWL_END);
    PawlFlow *flow = pawl_graph_compile(g, err);
    pawl_graph_free(g);
    pawl_flow_free(tests);
    return flow;
}

/* ---- the two halves ---- */

static void on_event(void *ctx, const PawlEvent *event) {
    char text[200];
    (void)ctx;
    if (event->type == PAWL_EVENT_LOG) {
        pawl_value_copy_text(pawl_object_get(event->data, "text"), text, sizeof text);
        printf("%s says: %s", event->node, text);
    }
}

static void start(const char *store) {
    PawlError err;
    PawlFlow *flow = build_release(&err);
    PawlEngine *engine =
        flow ? pawl_engine_open(store, &(PawlEngineOptions){.on_event = on_event}, &err) : NULL;
    PawlRun *run =
        engine ? pawl_run_start(engine, flow, &(PawlStart){.thread = thread}, &err) : NULL;
    if (!run || !pawl_engine_run(engine, &err)) {
        give_up(&err);
    }
    printf("%s is %s\n", pawl_run_thread(run), pawl_status_name(pawl_run_status(run)));
    PawlValue open = pawl_run_interrupts(run);
    print_value("it asks: ", pawl_object_get(pawl_array_get(open, 0), "prompt"));
    print_value("to choose from: ", pawl_object_get(pawl_array_get(open, 0), "options"));
    pawl_value_unref(open);
    pawl_engine_close(engine);
    pawl_flow_free(flow);
}

static bool print_checkpoint(void *ctx, const PawlCheckpoint *c) {
    (void)ctx;
    printf("%4d  %-12s %-12s ", (int)c->checkpoint, c->node, c->status);
    print_value("", c->changed);
    return true;
}

static void go_on(const char *store) {
    PawlError err;
    PawlFlow *flow = build_release(&err);
    PawlEngine *engine = flow ? pawl_engine_open(store, NULL, &err) : NULL;
    PawlResume resume = {.thread = thread, .flow = flow, .decision = "ship"};
    PawlRun *run = engine ? pawl_run_resume(engine, &resume, &err) : NULL;
    if (!run || !pawl_engine_run(engine, &err)) {
        give_up(&err);
    }
    printf("%s is %s\n", pawl_run_thread(run), pawl_status_name(pawl_run_status(run)));
    print_value("", pawl_run_state(run));
    if (!pawl_run_history(engine, thread, print_checkpoint, NULL, &err)) {
        give_up(&err);
    }
    pawl_engine_close(engine);
    pawl_flow_free(flow);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: release STORE, such as sqlite:release.db\n", stderr);
        return 2;
    }
    start(argv[1]);
    go_on(argv[1]);
    return 0;
}
