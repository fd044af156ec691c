/* dap_running.c - going on: to the next stop, a step, back, elsewhere. */
#include "dap_inside.h"

#include "mem.h"

/* ---- on ---- */

static bool is_thread(DapCall *call, int64_t id) {
    if (dap_thread(call->dap, id)) return true;
    dap_fail_with(call, "There is no thread %lld.", (long long)id);
    return false;
}

static void on_gone_on(DapCall *call, Json answer) {
    dap_expect(call->dap, answer);
    json_unref(answer);
    dap_answer(call, json_none());
}

static void on_continued(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    bool all = !dap->non_stop && !dap_bool(call->args, "singleThread");
    dap_expect(dap, answer);
    json_unref(answer);
    dap_answer(call, OBJECT(KEY("allThreadsContinued", json_bool(all))));
}

void dap_continue(DapCall *call) {
    Dap *dap = call->dap;
    int64_t id = dap_int(call->args, "threadId", 0);
    bool one = dap->non_stop || dap_bool(call->args, "singleThread");
    if (dap->post_mortem) { /* there is nothing to go on with: that was all there is to see */
        dap_answer(call, OBJECT(KEY("allThreadsContinued", json_bool(true))));
        dap_end(dap, dap->failed);
        return;
    }
    if (one && !is_thread(call, id)) return;
    dap_ask(call, "continue", OBJECT(KEY("frame", one ? json_int(id) : json_string_c("all"))),
            on_continued);
}

static void step(DapCall *call, const char *kind) {
    int64_t id = dap_int(call->args, "threadId", 0);
    if (!is_thread(call, id)) return;
    call->dap->focus = id;
    dap_ask(call, "step", OBJECT(KEY("kind", kind), KEY("frame", id)), on_gone_on);
}

void dap_next(DapCall *call) {
    step(call, "over");
}

void dap_step_in(DapCall *call) {
    step(call, "into");
}

void dap_step_out(DapCall *call) {
    step(call, "out");
}

/* ---- pausing ---- */

static void on_pausing(DapCall *call, Json answer) {
    json_unref(answer);
    dap_answer(call, json_none());
}

void dap_pause(DapCall *call) {
    Dap *dap = call->dap;
    int64_t id = dap_int(call->args, "threadId", 0);
    bool one = dap->non_stop && id;
    if (one && !is_thread(call, id)) return;
    dap_ask(call, "pause", OBJECT(KEY("frame", one ? json_int(id) : json_string_c("all"))),
            on_pausing);
}
