/* counting.c - a run that is held, and goes on whenever it is answered. */
#include "counting.h"

#include "hooks.h"

#include <string.h>

static bool read_text(void *text, const char *path, Buf *out, Error *err) {
    (void)path;
    (void)err;
    buf_adds(out, text);
    return true;
}

static void write_spares(Buf *text, const char *format, int first) {
    for (int i = first; i < COUNTING_SPARES; i++) {
        buf_printf(text, format, i, i - 1);
    }
}

static void write_flow(Buf *text) {
    buf_printf(text,
               "name: counting\nconfig: {recursion_limit: 1000000000}\n"
               "state: {count: {default: 0}, limit: {default: 0}, kept: {default: {a: {b: 1}}}}\n"
               "nodes:\n"
               "  - {name: step, jq: '{count: (.count + 1)}'}\n"
               "  - {name: rest, approval: {prompt: Go on?, options: [yes, no]}}\n"
               "  - {name: more, jq: '{limit: (.limit + %d)}'}\n",
               COUNTING_STEPS);
    write_spares(text, "  - {name: spare-%d, jq: '{}'}\n", 0);
    buf_adds(text, "edges:\n"
                   "  - {from: __start__, to: rest}\n"
                   "  - {from: rest, to: more}\n"
                   "  - {from: more, to: spare-0, when: .never}\n"
                   "  - {from: more, to: step}\n"
                   "  - {from: step, to: step, when: '.count < .limit'}\n"
                   "  - {from: step, to: rest}\n");
    write_spares(text, "  - {to: spare-%d, from: spare-%d}\n", 1);
    buf_printf(text, "  - {from: spare-%d, to: __end__}\n", COUNTING_SPARES - 1);
}

static Flow *new_flow(void) {
    FlowProblems problems = {0};
    Buf text = BUF_INIT;
    write_flow(&text);
    Flow *flow =
        flow_load("counting.yaml", &(FlowReader){.read = read_text, .ctx = text.data}, &problems);
    if (!flow) {
        give_up("%s", problems.items[0].msg);
    }
    flow_problems_clear(&problems);
    buf_clear(&text);
    return flow;
}

static void check_rests(const Counter *c) {
    if (run_settled(c->run) || run_store_error(c->run)) {
        give_up("The run that counts is %s.", run_status(c->run));
    }
}

void counter_open(Counter *c, Where where) {
    Error err = ERROR_INIT;
    c->bed = bed_open(where);
    c->flow = new_flow();
    c->run = engine_start_now(c->bed.engine, c->flow, &(RunStart){.input = json_none()}, &err);
    if (!c->run) {
        give_up("%s", err.msg);
    }
    run_hold(c->run, true);
    uv_run(c->bed.loop, UV_RUN_DEFAULT);
    check_rests(c);
}

void counter_run(void *counter, size_t times) {
    const Counter *c = counter;
    Error err = ERROR_INIT;
    for (size_t i = 0; i < times; i++) {
        if (!run_answer(c->run, &(RunResume){.decision = "yes"}, &err)) {
            give_up("%s", err.msg);
        }
        uv_run(c->bed.loop, UV_RUN_DEFAULT);
    }
    check_rests(c);
}

void counter_close(Counter *c) {
    bed_close(&c->bed);
    flow_unref(c->flow);
}
