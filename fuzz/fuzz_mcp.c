/* fuzz_mcp - whatever an assistant's program says to the Model Context Protocol.
 *
 * The input is an array of messages. Each is said by somebody who stays, as on standard input; one in an array of its own by
 * somebody who does not, as over HTTP since 2026-07-28. A text is what a header of the message before it says. A host with two
 * runs (`t` asks somebody, `u` is paused) is there to be asked; nothing is started on it, so that no command can be.
 *
 * Whatever was said: what comes back is a message of JSON-RPC; a request is answered at most once, with its own id, and nothing
 * of it is told after its answer; when the door is closed, everything has been answered; no answer of a tool is too long; and
 * what is in the store is sound.
 */
#include "fuzz_host.h"

#include "json_build.h"
#include "mcp.h"
#include "mcp_headers.h"
#include "mem.h"
#include "windows.h"

enum { MESSAGES = 40, TURNS = 150, TOOL_MAX = 25000 };

static const char *const words[] = {
    "\"t\"",
    "\"u\"",
    "\".n\"",
    "\"get_run\"",
    "\"debug_step\"",
    "\"debug_set\"",
    "\"list_runs\"",
    "\"pawl://runs/t\"",
    "\"pawl://runs/u/state?path=.n\"",
    "\"pawl://docs/workflows\"",
    "\"debug_failed_run\"",
    "\"=?base64?bGlzdF9ydW5z?=\"",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
    "call\",\"params\":{\"name\":\"debug_where\",\"arguments\":{\"thread\":\"u\"}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
    "call\",\"params\":{\"name\":\"wait_for_run\",\"task\":{},\"arguments\":{\"thread\":\"u\"}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tasks/list\"}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
    "{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/"
    "clientCapabilities\":{}}",
    "{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/"
    "clientCapabilities\":{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}}",
    NULL,
};

/* ---- what comes back ---- */

/* A message that was said. */
typedef struct Said {
    Json id; /* JSON_NONE: it has none */
    bool tool;
    unsigned answers;
    McpCall *call; /* under way */
} Said;

static void look_at_frame(Json message) {
    CHECK(json_kind(message) == JSON_OBJECT &&
          json_string_is(json_object_get_c(message, "jsonrpc"), "2.0"));
}

static void on_note(void *ctx, Json message) {
    const Said *said = ctx;
    look_at_frame(message);
    CHECK(!said->answers && json_object_text(message, "method"));
    CHECK(json_is_none(json_object_get_c(message, "id")));
    json_unref(message);
}

static void on_answer_of(void *ctx, Json message, int status) {
    Said *said = ctx;
    CHECK(!said->answers++ && status >= 200 && status < 600);
    said->call = NULL;
    if (json_is_none(message)) return; /* it was cancelled */
    Json id = json_object_get_c(message, "id"), result = json_object_get_c(message, "result"),
         error = json_object_get_c(message, "error");
    look_at_frame(message);
    CHECK(json_is_none(id) || json_equal(id, said->id));
    CHECK(json_is_none(result) != json_is_none(error));
    if (!json_is_none(error)) {
        CHECK(json_tag(json_object_get_c(error, "code")) == JSON_TAG_INT);
        CHECK(json_object_text(error, "message"));
    }
    if (said->tool && !json_is_none(result)) {
        char *text = json_to_text(result);
        CHECK(strlen(text) <= TOOL_MAX);
        mem_free(text);
    }
    json_unref(message);
}

static void on_tell(void *ctx, Json message) {
    (void)ctx;
    look_at_frame(message);
    CHECK(json_object_text(message, "method"));
    json_unref(message);
}

/* ---- what may be asked: nothing that begins something ---- */

static bool allows(void *ctx, const Asker *who, const Operation *op, Json args, Error *err) {
    static const char *const not [] = {"run_start", "run_replay", "inject", "workflow_put", NULL};
    (void)ctx, (void)who, (void)args;
    for (int i = 0; not [i]; i++) {
        if (!strcmp(op->name, not [i])) return error_set(err, ERR_FORBIDDEN, "It is forbidden.");
    }
    return true;
}

/* ---- a conversation ---- */

static void read_header(Json text, Json message) {
    const char *says = json_string_data(&text);
    const McpHeaders headers[] = {{says, "tools/call", "get_run"},
                                  {"2026-07-28", says, "get_run"},
                                  {"2026-07-28", "tools/call", says}};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        Error err = ERROR_INIT;
        mcp_headers_are_modern(&headers[i]);
        CHECK(mcp_headers_match(&headers[i], message, &err) || err.msg[0]);
    }
}

static void converse(Json messages) {
    static Said all[MESSAGES];
    Windows *windows = windows_new(&at.loop, at.client);
    Mcp *mcp = mcp_new(
        &(McpOptions){.loop = &at.loop, .client = at.client, .windows = windows, .allows = allows});
    McpPeer *peer = mcp_peer_new(mcp, &(McpPeerHost){.tell = on_tell});
    size_t n = json_array_len(messages) < MESSAGES ? json_array_len(messages) : MESSAGES;
    Json last = json_none();
    for (size_t i = 0; i < n; i++) {
        Json one = json_array_get(messages, i);
        bool alone = json_kind(one) == JSON_ARRAY && json_array_len(one) == 1;
        if (alone) one = json_array_get(one, 0);
        all[i] = (Said){.id = json_none()};
        if (json_kind(one) == JSON_STRING && !alone) {
            read_header(one, last);
            continue;
        }
        last = one;
        if (json_kind(one) == JSON_OBJECT) {
            all[i].id = json_object_get_c(one, "id");
            all[i].tool = json_string_is(json_object_get_c(one, "method"), "tools/call");
        }
        McpFrom from = {.peer = alone ? NULL : peer,
                        .asker = {.scope = SCOPE_DEBUG},
                        .modern = alone,
                        .outlet = {.note = on_note, .answer = on_answer_of, .ctx = &all[i]}};
        McpCall *call = mcp_receive(mcp, &from, json_ref(one));
        CHECK(!call || !all[i].answers);
        all[i].call = call;
        for (int turn = 0; turn < 3; turn++) uv_run(&at.loop, UV_RUN_NOWAIT);
    }
    for (int turn = 0; turn < TURNS; turn++) uv_run(&at.loop, UV_RUN_NOWAIT);
    /* one of those that wait is given up */
    for (size_t i = 0; i < n; i++) {
        if (!all[i].call) continue;
        mcp_call_drop(all[i].call);
        all[i].call = NULL;
        all[i].answers++;
        break;
    }
    mcp_close(mcp);
    for (size_t i = 0; i < n; i++) CHECK(!all[i].call);
    mcp_peer_free(peer);
    mcp_free(mcp);
    windows_free(windows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = json_heap_bytes();
    Json document = read_document(data, size);
    if (json_kind(document) == JSON_ARRAY) {
        host_up();
        converse(document);
        host_down();
    }
    json_unref(document);
    CHECK(json_heap_bytes() == before);
    return 0;
}

/* ---- other inputs ---- */

static Json change(Json document) {
    if (json_kind(document) != JSON_ARRAY) {
        json_unref(document);
        return json_array();
    }
    if (!dice(6)) {
        Json again = any_value_of(document);
        return json_array_push(document, again);
    }
    return change_value(document, words);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    return mutate_document(data, size, max, seed, change);
}
