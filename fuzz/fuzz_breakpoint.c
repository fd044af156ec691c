/* fuzz_breakpoint - any bytes as a breakpoint: as somebody types it, and as JSON.
 *
 * What is refused has a sentence. What is accepted can be listed, and the listing given back makes the
 * same breakpoint; it can be tried at every node, and never takes more than its budget.
 */
#include "breakpoints.h"
#include "json_parse.h"
#include "mem.h"

#include <stdint.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

static const char main_text[] = "nodes:\n"
                                "- {name: build, jq: .}\n"
                                "- {name: sub, workflow: sub.yaml}\n"
                                "- {name: each, map: .files, as: file, do: {jq: $file}}\n";
static const char sub_text[] = "nodes: [{name: build, jq: .}]\n";

static const char tasks_text[] =
    "tasks:\n"
    "- {name: sleep, id: a, title: First thing, config: {duration: 0}}\n"
    "- {name: sleep, id: b, title: 'Greet ${group} and ${{ .metadata[] }}s', config: {duration: 0}}\n"
    "- {name: sleep, title: '${group}', config: {duration: 0}}\n";

static bool read_text(void *ctx, const char *path, Buf *out, Error *err) {
    (void)ctx;
    (void)err;
    buf_adds(out, strstr(path, "sub") ? sub_text : strstr(path, "test") ? tasks_text : main_text);
    return true;
}

enum { FLOWS = 2 };

static const Flow *the_flow(int which) {
    static const char *const paths[FLOWS] = {"main.yaml", "test.yaml"};
    static Flow *flows[FLOWS];
    if (!flows[which]) {
        FlowProblems problems = {0};
        FlowReader reader = {.read = read_text};
        flows[which] = flow_load(paths[which], &reader, &problems);
        CHECK(flows[which]);
        flow_problems_clear(&problems);
    }
    return flows[which];
}

static void try_at(Breakpoint *b, const Node *node, Json state) {
    Json vars[FRAME_VARS_MAX] = {state, json_int(1)};
    bool pauses;
    for (HookPosition position = HOOK_BEFORE; position < HOOK_POSITIONS; position++) {
        HookPlace place = {.node = node, .position = position, .error = state};
        breakpoint_hit(b, &place, state, vars, &pauses);
        if (b->log) {
            Json text = breakpoint_text(b, &place, state, vars);
            CHECK(json_kind(text) == JSON_STRING);
            CHECK(json_string_len(text) <= BREAK_LOG_MAX + ERROR_MSG_MAX);
            json_unref(text);
        }
    }
    Json value = breakpoint_value(b, state);
    CHECK(!breakpoint_changed(b, value, value));
    json_unref(value);
}

static void check_listing(const Flow *flow, const Breakpoints *p, const Breakpoint *b) {
    Error err = ERROR_INIT;
    Json listed = breakpoints_json(p, b);
    Breakpoint *again = breakpoint_new(2, listed, flow, &err);
    CHECK(again);
    Json a = breakpoint_stored(b), z = breakpoint_stored(again);
    Json merged = breakpoint_merge(a, z);
    CHECK(json_equal(merged, z));
    json_unref(merged);
    json_unref(a);
    json_unref(z);
    json_unref(listed);
    breakpoint_free(again);
}

static void check_in(const Flow *flow, Json spec) {
    Error err = ERROR_INIT;
    Breakpoint *b = breakpoint_new(1, spec, flow, &err);
    if (!b) {
        CHECK(err.code != ERR_NONE && err.msg[0]);
        return;
    }
    Breakpoints *p = breakpoints_new(flow);
    breakpoints_add(p, b);
    CHECK(b->verified || !json_is_none(b->message));
    check_listing(flow, p, b);
    for (size_t g = 0; g < flow->ngraphs; g++) {
        for (size_t i = 0; i < flow->graphs[g]->nnodes; i++) {
            try_at(b, &flow->graphs[g]->nodes[i], spec);
        }
    }
    const Node *body = node_body(&flow->main->nodes[2]);
    if (body) try_at(b, body, spec);
    breakpoints_free(p);
}

static void check_spec(Json spec) {
    for (int i = 0; i < FLOWS; i++) check_in(the_flow(i), spec);
}

static void check_typed(const char *text) {
    Error err = ERROR_INIT;
    Json spec = breakpoint_parse(text, &err);
    if (json_is_none(spec)) {
        CHECK(err.msg[0]);
        return;
    }
    check_spec(spec);
    json_unref(spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const JsonParseOptions options = {.max_bytes = 1 << 20};
    char *text = mem_strndup((const char *)data, size);
    check_typed(text);
    Json spec = json_parse(text, size, &options, NULL);
    if (!json_is_none(spec)) check_spec(spec);
    json_unref(spec);
    mem_free(text);
    return 0;
}
