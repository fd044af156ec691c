/* fuzz_image - the export of a run, whatever is in it, taken up and debugged.
 *
 *     {"export": document, "calls": [[operation, arguments], ...]}       or a document alone
 *
 * What the store has may be anything that export.h takes in: an image is data from outside. A run that
 * cannot be gone on with is refused with a sentence. One that can is opened, looked at and driven by
 * what session_api.h has; leaves a store that is sound, and an image that can be opened again. The same
 * run is also resumed without a debugger.
 */
#include "fuzz_calls.h"
#include "fuzz_values.h"

#include "export.h"
#include "image.h"

enum { TURN_MS = 60 * 1000 };

/* What is done with a document that does not say. */
static const char usual_calls[] =
    "[[\"session\",{}],[\"frames\",{}],[\"frame\",{}],[\"node\",{}],[\"config\",{}],[\"variables\",{}],"
    "[\"pending\",{}],[\"injected\",{}],[\"step\",{\"kind\":\"over\"}],[\"back\",{}],[\"diff\",{}],"
    "[\"step\",{\"kind\":\"into\"}],[\"history\",{}],[\"continue\",{}],[\"retry\",{}],[\"continue\",{}]]";

static bool world_open(World *w, Json document) {
    Error err = ERROR_INIT;
    *w = (World){.store = store_open("memory:", STORE_CREATE, NULL),
                 .now = 1800000000000,
                 .turn_ms = TURN_MS};
    CHECK(w->store);
    if (!export_import(w->store, document, &w->row, &err)) {
        store_close(w->store);
        return false;
    }
    engine_up(w);
    return true;
}

/* ---- debugging ---- */

static Run *open_run(World *w, Error *err) {
    Run *run = engine_open_now(w->engine, w->row.thread, json_object(), err);
    CHECK(run || (err->code != ERR_NONE && err->msg[0]));
    return run;
}

/* What it came to can be opened as what it came from could. */
static void open_again(World *w) {
    Error err = ERROR_INIT;
    engine_down(w);
    engine_up(w);
    if (!open_run(w, &err)) {
        fprintf(stderr, "fuzz_image: it cannot be opened again: %s\n", err.msg);
        abort();
    }
}

static void debug(Json document, Json calls) {
    World w;
    Error err = ERROR_INIT;
    if (!world_open(&w, document)) return;
    Run *run = open_run(&w, &err);
    if (run) {
        debug_run(&w, run, calls, usual_calls);
        open_again(&w);
    }
    world_down(&w);
}

static void resume(Json document) {
    World w;
    Error err = ERROR_INIT;
    if (!world_open(&w, document)) return;
    RunResume how = {.thread = w.row.thread, .value = json_none(), .set = json_none()};
    Run *run = engine_resume_now(w.engine, &how, &err);
    CHECK(run || (err.code != ERR_NONE && err.msg[0]));
    turn(&w);
    turn(&w);
    world_down(&w);
}

/* ---- inputs ---- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = json_heap_bytes();
    Json input = read_document(data, size);
    if (json_kind(input) == JSON_OBJECT) {
        Json document = json_object_get_c(input, "export");
        bool wrapped = !json_is_none(document);
        debug(wrapped ? document : input,
              wrapped ? json_object_get_c(input, "calls") : json_none());
        resume(wrapped ? document : input);
    }
    json_unref(input);
    CHECK(json_heap_bytes() == before);
    return 0;
}

/* ---- mutations ---- */

/* Waits of frames, and keys of images. */
static const char *const words[] = {
    "1800000000000",
    "[null]",
    "[\"pause\",null,{},1,0]",
    "[\"join\",null,[null],[\"a\"]]",
    "[\"go\"]",
    "[\"after\"]",
    "[\"sleep\",1]",
    "[\"tasks\",[0],0,0,0,null]",
    "[\"map\",[1],0,[null],0]",
    "[\"looked\"]",
    "[\"failing\",{},1,null]",
    "[\"cleaning\",null,null]",
    "[\"work\",\"1.1\",{},[]]",
    "[\"interrupt\",\"i1\",\"approval\",null,null]",
    "[\"retry\",1,\"1.1\",{},{},[]]",
    "[\"finished\"]",
    "[\"ended\",1]",
    "[\"error\",{}]",
    "[\"again\"]",
    "[\"done\"]",
    "\"copy\"",
    "[[1,\"1\",2,0,1],\"copy\",[1,\"1\"]]",
    "\"2\"",
    "\"pending\"",
    NULL,
};

static Json add_call(Json calls) {
    uint32_t n = 0;
    while (session_operations[n].name) n++;
    Json row = json_array_push(json_array(), json_string_c(session_operations[dice(n)].name));
    if (json_kind(calls) != JSON_ARRAY) {
        json_unref(calls);
        calls = json_array();
    }
    return json_array_push(calls,
                           json_array_push(row, dice(2) ? json_object() : strange_value(words)));
}

/* Mostly in what was recorded, and now and then in what is called or in the definition. */
static Json change(Json input) {
    Json document = json_object_get_c(input, "export");
    Json records = json_object_get_c(document, "checkpoints");
    uint32_t where = dice(10);
    if (json_is_none(records) || where == 0) return change_value(input, words);
    if (where == 1) {
        return json_object_with(input, "calls",
                                add_call(json_ref(json_object_get_c(input, "calls"))));
    }
    document =
        json_object_with(json_ref(document), "checkpoints", change_value(json_ref(records), words));
    return json_object_with(input, "export", document);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    return mutate_document(data, size, max, seed, change);
}
