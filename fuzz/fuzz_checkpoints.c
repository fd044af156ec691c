/* fuzz_checkpoints - a store in which anything is recorded.
 *
 * The input is an export (export.h), whose checkpoints are put into a store as they are, past all that an import
 * would refuse: with sound checksums, as somebody could make it who has read the formats. `backend` in it names one
 * (memory, file, sqlite). Whoever reads such a store finds a checkpoint, or is told why not: checking, history,
 * images, results, recordings, comparing, exporting, pruning, forking, opening it in a debugger, resuming.
 */
#define _GNU_SOURCE /* mkdtemp */
#include "fuzz_calls.h"
#include "fuzz_values.h"

#include "divergence.h"
#include "export.h"
#include "folders.h"
#include "json_binary.h"
#include "lineage.h"
#include "mem.h"
#include "recording.h"
#include "result.h"

#include "../tests/unit/stored_flow.h"

#include <unistd.h>

enum { SEQ, PARENT, STEP, FRAME, AT, NODE, STATUS, PATCH, SNAPSHOT, RESULT, CHECKPOINTS_MAX = 100 };

static const char *const words[] = {
    "[\"pause\",null,{},1,0]",
    "[\"join\",null,[null],[\"a\"]]",
    "[\"tasks\",[0],0,0,0,null]",
    "[\"map\",[1],0,[null],0]",
    "[\"work\",\"1.1\",{},[]]",
    "[\"interrupt\",\"i1\",\"approval\",null,null]",
    "\"copy\"",
    "[[1,\"1\",2,0,1],\"copy\",[1,\"1\"]]",
    "[[1,\"1\",2,0,1,\"x\"],\"copy\",[1,\"1\",2,0,1]]",
    "[[],[[null,null,2,\"autonomous\",0,null,null],{\"1\":[0,0,[[\"a\",{},null,0,0,0,0]],null]}]]",
    NULL,
};

/* ---- into the store ---- */

static const char *text_at(Json row, size_t i, size_t max, char *out) {
    Json text = json_array_get(row, i);
    size_t len = json_string_len(text);
    snprintf(out, max, "%.*s", (int)(len < max ? len : max - 1), json_string_data(&text));
    return out;
}

static int64_t int_at(Json row, size_t i) {
    Json n = json_array_get(row, i);
    return json_tag(n) == JSON_TAG_INT ? n.i : 0;
}

static void encode_at(Json row, size_t i, Buf *out) {
    Json value = json_array_get(row, i);
    json_encode(json_is_none(value) ? json_null() : value, out);
}

/* Numbers that a store gives out go up, and a parent is an earlier one; all else is as the document has it. */
static void add_row(StoreBatch *batch, Json row, int64_t seq) {
    char node[100], status[STORE_STATUS_MAX + 1];
    Buf patch = BUF_INIT, snapshot = BUF_INIT, result = BUF_INIT;
    bool whole = json_kind(json_array_get(row, SNAPSHOT)) > JSON_NULL;
    Json said = json_array_get(row, RESULT);
    encode_at(row, PATCH, &patch);
    encode_at(row, SNAPSHOT, &snapshot);
    if (json_array_len(said)) encode_at(said, 0, &result);
    int64_t parent = (int64_t)((uint64_t)int_at(row, PARENT) % (uint64_t)seq);
    store_batch_checkpoint(batch,
                           &(Checkpoint){.run = -1,
                                         .seq = seq,
                                         .parent = parent,
                                         .step = int_at(row, STEP),
                                         .frame = int_at(row, FRAME),
                                         .at = int_at(row, AT),
                                         .node = text_at(row, NODE, sizeof node, node),
                                         .status = text_at(row, STATUS, sizeof status, status),
                                         .patch = patch.data,
                                         .patch_len = patch.len,
                                         .snapshot = whole ? snapshot.data : NULL,
                                         .snapshot_len = whole ? snapshot.len : 0,
                                         .result = json_is_none(said) ? NULL
                                                   : result.len       ? result.data
                                                                      : "",
                                         .result_len = result.len});
    buf_clear(&patch);
    buf_clear(&snapshot);
    buf_clear(&result);
}

static bool fill(Store *s, Json document) {
    StoreBatch batch = STORE_BATCH_INIT;
    Json definitions = json_object_get_c(document, "definitions"), key, value;
    Json rows = json_object_get_c(document, "checkpoints"),
         own = json_object_get_c(document, "definition");
    Json head = json_object_get_c(document, "head"), status = json_object_get_c(document, "status");
    for (size_t pos = 0; json_object_next(definitions, &pos, &key, &value);) {
        mem_free(store_define(s, value, NULL));
    }
    store_batch_create(&batch, &(StoreCreate){.stand_in = -1,
                                              .thread = "t",
                                              .workflow = "w",
                                              .definition = json_none(),
                                              .key = json_string_data(&own)});
    int64_t last = 0;
    for (size_t i = 0; i < json_array_len(rows) && i < CHECKPOINTS_MAX; i++) {
        Json row = json_array_get(rows, i);
        int64_t seq = int_at(row, SEQ);
        last = seq > last && seq < 1 << 20 ? seq : last + 1;
        add_row(&batch, row, last);
    }
    store_batch_run(&batch, -1, json_tag(head) == JSON_TAG_INT ? head.i : last,
                    json_string_data(&status), 1);
    store_batch_release(&batch, -1);
    bool ok = store_commit(s, &batch, NULL);
    store_batch_clear(&batch);
    return ok;
}

/* ---- what reads it ---- */

static void see_problem(void *ctx, const char *thread, int64_t seq, const char *sentence) {
    (void)ctx, (void)seq;
    CHECK(thread && *sentence);
}

static bool see_image(void *ctx, const LineageImage *at) {
    StepResult result;
    for (int64_t frame = 0; frame < 4; frame++) {
        Json state = lineage_state(ctx, at->after, frame),
             path = lineage_frame_path(at->after, frame);
        json_unref(state);
        json_unref(path);
    }
    result_read(at->checkpoint, at->before, at->after, &result);
    result_clear(&result);
    return true;
}

static void read_all(Store *s, const RunRow *row) {
    Error err = ERROR_INIT;
    CheckReport report;
    Lineage line;
    CHECK(chain_check(s, 0, &(CheckHost){.problem = see_problem}, &report, &err));
    for (int64_t seq = 0; seq <= row->last && seq < CHECKPOINTS_MAX; seq++) {
        error_clear(&err);
        Json image = chain_image(s, row->run, seq, NULL, &err);
        CHECK(!json_is_none(image) || !seq || err.msg[0]);
        json_unref(image);
    }
    Json history = lineage_history(
        s, &(LineageQuery){.run = row->run, .head = row->head, .all = true, .limit = 50}, &err);
    json_unref(history);
    json_unref(export_run(s, row->thread, &err));
    Flow *flow = stored_flow(s, row, json_none(), NULL);
    if (lineage_read(s, row->run, row->head, 0, &line, &err)) {
        if (flow) lineage_images(s, row->run, &line, see_image, flow, &err);
        lineage_clear(&line);
    }
    if (flow) {
        DivergenceSide side = {row->run, row->head, flow};
        RecordingSource source = {row->run, row->head, flow, flow, NULL};
        json_unref(divergence_find(s, &side, &side, &err));
        recording_free(recording_new(s, &source, &err));
    }
    flow_unref(flow);
}

/* ---- what goes on with it ---- */

static const char calls[] =
    "[[\"session\",{}],[\"frames\",{}],[\"variables\",{}],[\"pending\",{}],[\"history\",{}],[\"diff\",{}],"
    "[\"back\",{}],[\"continue\",{}],[\"retry\",{}]]";

static void debug(World *w) {
    Error err = ERROR_INIT;
    Run *run = engine_open_now(w->engine, "t", json_object(), &err);
    CHECK(run || err.msg[0]);
    if (run) debug_run(w, run, json_none(), calls);
}

static void go_on(Store *s, const RunRow *row) {
    RunRow forked = {0};
    PruneReport report = {0};
    Error err = ERROR_INIT;
    World w = {.store = s, .now = 1800000000000, .turn_ms = 60 * 1000};
    engine_up(&w);
    bool ok =
        engine_fork_now(w.engine, "t", row->head > 0 ? row->head : 1, "forked", &forked, &err);
    CHECK(ok || err.msg[0]);
    run_row_clear(&forked);
    debug(&w);
    engine_down(&w);
    engine_up(&w);
    RunResume how = {.thread = "t", .value = json_none(), .set = json_none()};
    engine_resume_now(w.engine, &how, &err);
    turn(&w);
    engine_down(&w);
    chain_prune(s, row, &(PruneRule){.keep_last = 2, .result = result_by_value}, &report, &err);
}

/* ---- inputs ---- */

static char folder[64];

static void remove_folder(void) {
    folder_remove(folder);
}

static Store *open_store(Json document) {
    Json name = json_object_get_c(document, "backend");
    char url[128];
    bool file = json_string_is(name, "file");
    if (!file && !json_string_is(name, "sqlite")) return store_open("memory:", STORE_CREATE, NULL);
    if (!*folder) {
        strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/fuzz-XXXXXX" : "/tmp/fuzz-XXXXXX");
        CHECK(mkdtemp(folder));
        atexit(remove_folder);
    }
    folder_remove(folder);
    CHECK(folder_make(folder));
    snprintf(url, sizeof url, "%s:%s/s", file ? "file" : "sqlite", folder);
    return store_open(url, STORE_CREATE, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = json_heap_bytes();
    Json document = read_document(data, size);
    Store *s = json_kind(document) == JSON_OBJECT ? open_store(document) : NULL;
    RunRow row = {0};
    if (s && fill(s, document) && store_find(s, "t", &row, NULL)) {
        read_all(s, &row);
        go_on(s, &row);
        run_row_clear(&row);
    }
    store_close(s);
    json_unref(document);
    CHECK(json_heap_bytes() == before);
    return 0;
}

/* Mostly in what was recorded. */
static Json change(Json document) {
    Json rows = json_object_get_c(document, "checkpoints");
    if (json_kind(rows) != JSON_ARRAY || !dice(10)) return change_value(document, words);
    return json_object_with(document, "checkpoints", change_value(json_ref(rows), words));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    return mutate_document(data, size, max, seed, change);
}
