/* debug.c - a program that debugs a workflow of its own functions.
 *
 *     debug STORE            such as  debug sqlite:bill.db
 *
 *     take (the next item) -> price (adds it to the total) -+-> take ...
 *                                                           +-> bill
 *
 * One of the items has a quantity that makes no sense. The first half attaches a debugger: a breakpoint
 * with a condition stops the run before that item is priced; there the state is printed, the quantity
 * is set, and one step shows what came of it. Then it lets go, in the middle. The second half is what
 * another process would do: it opens the run from the store, where it stands paused with its
 * breakpoints, goes back by one step, decides otherwise and runs to the end, without callbacks. */
#include <pawl.h>

#include <stdio.h>
#include <stdlib.h>

static const char thread[] = "bill-1";

static void give_up(const PawlError *err) {
    fprintf(stderr, "debug: %s\n", err->message);
    exit(1);
}

static void print_value(const char *what, PawlValue value) {
    char *text = pawl_value_print(value, 0);
    printf("%s%s\n", what, text);
    pawl_text_free(text);
}

/* ---- the workflow ---- */

static PawlValue at(const PawlCall *call, const char *key) {
    return pawl_object_get(pawl_call_state(call), key);
}

static int64_t number(PawlValue object, const char *key) {
    return pawl_value_int(pawl_object_get(object, key), 0);
}

static PawlValue take(void *ctx, PawlCall *call) {
    int64_t i = number(pawl_call_state(call), "i");
    (void)ctx;
    PawlValue item = pawl_value_ref(pawl_array_get(at(call, "items"), (size_t)i));
    PawlValue out = pawl_object_set(pawl_object(), "item", item);
    return pawl_object_set(out, "i", pawl_int(i + 1));
}

static PawlValue price(void *ctx, PawlCall *call) {
    PawlValue item = at(call, "item");
    int64_t cost = number(item, "quantity") * number(item, "price");
    (void)ctx;
    return pawl_object_set(pawl_object(), "total",
                           pawl_int(number(pawl_call_state(call), "total") + cost));
}

static PawlValue bill(void *ctx, PawlCall *call) {
    (void)ctx;
    (void)call;
    return pawl_object_set(pawl_object(), "billed", pawl_bool(true));
}

static PawlFlow *build(PawlError *err) {
    static const char items[] =
        "[{\"price\": 5, \"quantity\": 3}, {\"price\": 4, \"quantity\": -2}]";
    PawlGraph *g = pawl_graph_new("bill");
    pawl_graph_add_key(g, "items", PAWL_REPLACE, pawl_value_parse(items, sizeof items - 1, NULL));
    pawl_graph_add_key(g, "i", PAWL_REPLACE, pawl_int(0));
    pawl_graph_add_key(g, "total", PAWL_REPLACE, pawl_int(0));
    pawl_graph_add_node(g, "take", take, NULL);
    pawl_graph_add_node(g, "price", price, NULL);
    pawl_graph_add_node(g, "bill", bill, NULL);
    pawl_graph_set_entry(g, "take");
    pawl_graph_add_edge(g, "take", "price");
    pawl_graph_add_conditional_edge(g, "price", "take", ".i < (.items | length)");
    pawl_graph_add_edge(g, "price", "bill");
    pawl_graph_add_edge(g, "bill", PAWL_END);
    PawlFlow *flow = pawl_graph_compile(g, err);
    pawl_graph_free(g);
    return flow;
}

/* ---- the first half: callbacks ---- */

static void look_and_change(PawlDebug *debug, PawlError *err) {
    PawlValue item = pawl_debug_eval(debug, ".item", err);
    print_value("  the item: ", item);
    pawl_value_unref(item);
    if (!pawl_debug_set(debug, ".item.quantity", pawl_int(2), err) ||
        !pawl_debug_step(debug, PAWL_STEP_OVER, err)) {
        give_up(err);
    }
}

static void on_pause(void *ctx, PawlDebug *debug, PawlValue pause) {
    PawlError err;
    char node[100];
    (void)ctx;
    pawl_value_copy_text(pawl_object_get(pause, "node"), node, sizeof node);
    printf("paused before %s\n", node);
    PawlValue state = pawl_debug_state(debug, &err);
    print_value("  the total: ", pawl_object_get(state, "total"));
    pawl_value_unref(state);
    if (pawl_value_is(pawl_object_get(pause, "reason"), "breakpoint")) {
        look_and_change(debug, &err);
        return;
    }
    PawlValue diff = pawl_debug_diff(debug, &err);
    print_value("  changed: ", pawl_object_get(diff, "changed"));
    pawl_value_unref(diff);
    pawl_debug_free(debug); /* it stays paused here */
}

static void start(const char *store) {
    PawlError err;
    PawlFlow *flow = build(&err);
    PawlEngine *engine = flow ? pawl_engine_open(store, NULL, &err) : NULL;
    PawlRun *run =
        engine ? pawl_run_start(engine, flow, &(PawlStart){.thread = thread}, &err) : NULL;
    PawlDebug *debug =
        run ? pawl_debug_attach(run, &(PawlDebugOptions){.on_pause = on_pause}, &err) : NULL;
    if (!debug || !pawl_debug_break(debug, "price if .item.quantity < 0", &err) ||
        !pawl_engine_run(engine, &err)) {
        give_up(&err);
    }
    printf("%s is %s\n", thread, pawl_status_name(pawl_run_status(run)));
    pawl_engine_close(engine);
    pawl_flow_free(flow);
}

/* ---- the second half: no callbacks ---- */

static void print_place(PawlDebug *debug) {
    PawlError err;
    PawlValue frames = pawl_debug_frames(debug, &err);
    PawlValue frame = pawl_array_get(frames, 0);
    print_value("stands at ", pawl_object_get(frame, "node"));
    pawl_value_unref(frames);
}

static void go_on(const char *store) {
    PawlError err;
    PawlFlow *flow = build(&err);
    PawlEngine *engine = flow ? pawl_engine_open(store, NULL, &err) : NULL;
    PawlDebug *debug =
        engine ? pawl_debug_open(engine, thread, &(PawlDebugOptions){.flow = flow}, &err) : NULL;
    if (!debug) {
        give_up(&err);
    }
    print_place(debug);
    if (!pawl_debug_back(debug, 1, &err) || !pawl_engine_run(engine, &err)) {
        give_up(&err);
    }
    print_place(debug);
    if (!pawl_debug_set(debug, ".item.quantity", pawl_int(1), &err) ||
        !pawl_debug_continue(debug, &err) || !pawl_engine_run(engine, &err)) {
        give_up(&err);
    }
    PawlRun *run = pawl_debug_run(debug);
    printf("%s is %s\n", thread, pawl_status_name(pawl_run_status(run)));
    print_value("the total: ", pawl_object_get(pawl_run_state(run), "total"));
    pawl_debug_free(debug);
    pawl_engine_close(engine);
    pawl_flow_free(flow);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: debug STORE, such as sqlite:bill.db\n", stderr);
        return 2;
    }
    start(argv[1]);
    go_on(argv[1]);
    return 0;
}
