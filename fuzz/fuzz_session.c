/* fuzz_session - anything as what a debugger left in the image of a run.
 *
 *     {"session": value, "pause": info of a pause, "calls": [[operation, arguments], ...]}
 *
 * A run of a small workflow stands before its first node; what its image has of a session is replaced by the value,
 * and what is said of its pause by the info. Whoever opens it gets a session, or a sentence; what is called is
 * answered or refused; and what is written again can be opened again.
 */
#include "fuzz_calls.h"
#include "fuzz_values.h"

#include "image_read.h"
#include "json_binary.h"
#include "json_build.h"
#include "mem.h"
#include "wait.h"

static const char *const words[] = {
    "{\"id\":1,\"type\":\"node\",\"node\":\"a\"}",
    "{\"id\":2,\"type\":\"state\",\"path\":\".n\"}",
    "{\"id\":3,\"type\":\"line\",\"line\":2}",
    "{\"frame\":1,\"kind\":\"over\",\"depth\":1}",
    "[1,[\"n\"],5]",
    "[2,[\"log\",0]]",
    "\".n > 1\"",
    NULL,
};

static const char flow_text[] =
    "state: {n: 1, log: {reduce: append, default: []}}\n"
    "nodes:\n"
    "  - {name: a, jq: '{n: (.n + 1), log: [\"a\"]}'}\n"
    "  - {name: each, map: '[1, 2]', output: all, do: {jq: '$item + 1'}}\n"
    "  - {name: b, approval: {prompt: Go?}}\n";

/* ---- a run that is paused ---- */

static bool read_text(void *ctx, const char *path, Buf *out, Error *err) {
    (void)ctx, (void)path, (void)err;
    buf_adds(out, flow_text);
    return true;
}

/* With breakpoints, a watch and a change that is pending. */
static void leave_session(World *w) {
    static const char text[] =
        "[[\"breakpoint_set\",{\"spec\":\"b if .n > 0\"}],"
        "[\"breakpoint_set\",{\"breakpoints\":[{\"type\":\"state\",\"path\":\".n\"},{\"spec\":\"a\"}]}],"
        "[\"watch_add\",{\"expression\":\".n\"}],[\"set\",{\"path\":\".n\",\"value\":7}],"
        "[\"inject\",{\"node\":{\"jq\":\"{n: 3}\"},\"where\":\"before\"}]]";
    Json calls = json_parse(text, strlen(text), NULL, NULL);
    FlowProblems problems = {0};
    Error err = ERROR_INIT;
    Flow *flow = flow_load("flow.yaml", &(FlowReader){.read = read_text}, &problems);
    CHECK(flow);
    Run *run = engine_start_now(w->engine, flow, &(RunStart){.thread = "t"}, &err);
    CHECK(run);
    Session *s =
        session_attach(run, &(SessionOptions){.pause_on_start = true, .event = on_event}, &err);
    CHECK(s);
    turn(w);
    call_all(w, s, calls);
    json_unref(calls);
    session_free(s);
    turn(w);
    flow_unref(flow);
}

/* ---- with another session in it ---- */

static Json with_session(Json image, Json document) {
    Json session = json_object_get_c(document, "session"),
         info = json_object_get_c(document, "pause");
    Json head = json_ref(json_array_get(image, IMAGE_RUN));
    head =
        json_array_set(head, IMAGE_DEBUG, json_is_none(session) ? json_null() : json_ref(session));
    image = json_array_set(image, IMAGE_RUN, head);
    Json frames = json_ref(json_array_get(image, IMAGE_FRAMES));
    Json frame = json_ref(json_object_get_c(frames, "1"));
    Json wait = json_ref(json_array_get(frame, IMAGE_WAIT));
    if (!json_is_none(info) && json_kind(wait) == JSON_ARRAY &&
        json_array_len(wait) > WAIT_PAUSE_INFO) {
        wait = json_array_set(wait, WAIT_PAUSE_INFO, json_ref(info));
    }
    frames = json_object_with(frames, "1", json_array_set(frame, IMAGE_WAIT, wait));
    return json_array_set(image, IMAGE_FRAMES, frames);
}

static void put_session(Store *s, Json document) {
    RunRow row;
    StoreBatch batch = STORE_BATCH_INIT;
    Buf patch = BUF_INIT;
    CHECK(store_find(s, "t", &row, NULL) && store_lease(s, row.run, NULL));
    Json image = with_session(chain_image(s, row.run, row.head, NULL, NULL), document);
    Json change = ARRAY(ARRAY(json_array(), image));
    json_encode(change, &patch);
    store_batch_checkpoint(&batch, &(Checkpoint){.run = row.run,
                                                 .seq = row.last + 1,
                                                 .parent = row.head,
                                                 .frame = 1,
                                                 .at = 1,
                                                 .node = "",
                                                 .status = "paused",
                                                 .patch = patch.data,
                                                 .patch_len = patch.len});
    store_batch_run(&batch, row.run, row.last + 1, "paused", 1);
    CHECK(store_commit(s, &batch, NULL));
    store_release(s, row.run);
    store_batch_clear(&batch);
    buf_clear(&patch);
    json_unref(change);
    run_row_clear(&row);
}

/* ---- opening it ---- */

static const char usual[] =
    "[[\"session\",{}],[\"frames\",{}],[\"breakpoints\",{}],[\"watches\",{}],[\"pending\",{}],[\"variables\",{}],"
    "[\"step\",{\"kind\":\"over\"}],[\"continue\",{}],[\"back\",{}],[\"continue\",{}]]";

static bool open_it(World *w, Json calls) {
    Error err = ERROR_INIT;
    engine_up(w);
    Run *run = engine_open_now(w->engine, "t", json_object(), &err);
    CHECK(run || err.msg[0]);
    if (run) debug_run(w, run, calls, usual);
    return run != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = json_heap_bytes();
    Json document = read_document(data, size);
    if (json_kind(document) == JSON_OBJECT) {
        World w = {.store = store_open("memory:", STORE_CREATE, NULL),
                   .now = 1800000000000,
                   .turn_ms = 500};
        CHECK(w.store);
        engine_up(&w);
        leave_session(&w);
        engine_down(&w);
        put_session(w.store, document);
        bool opened = open_it(&w, json_object_get_c(document, "calls"));
        engine_down(&w);
        CHECK(!opened || open_it(&w, json_none()));
        if (!opened) engine_up(&w);
        world_down(&w);
    }
    json_unref(document);
    CHECK(json_heap_bytes() == before);
    return 0;
}

static Json change(Json document) {
    static const char *const parts[] = {"session", "session", "pause", "calls"};
    const char *part = parts[dice(sizeof parts / sizeof *parts)];
    if (json_kind(document) != JSON_OBJECT) {
        json_unref(document);
        return json_object();
    }
    Json value = json_object_get_c(document, part);
    return json_is_none(value)
               ? json_object_with(document, part, strange_value(words))
               : json_object_with(document, part, change_value(json_ref(value), words));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    return mutate_document(data, size, max, seed, change);
}
