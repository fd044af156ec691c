/* fuzz_export - any bytes as the export of a run.
 *
 * What is no export is refused with a sentence and leaves no run behind. What is taken in is sound by
 * what `pawl store check` says, is the same as itself, can be looked at at every checkpoint in every
 * frame, and goes out as a document that comes in again. Mutations are of values (fuzz_values.h): of the facts, the
 * definitions and, mostly, the checkpoints.
 */
#include "fuzz_values.h"

#include "divergence.h"
#include "export.h"
#include "lineage.h"
#include "recording.h"
#include "result.h"

#include "../tests/unit/stored_flow.h"

#include <stdint.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

enum { DOCUMENT_MAX = 64 << 20, CHECKPOINTS_MAX = 200 };

static void on_problem(void *ctx, const char *thread, int64_t seq, const char *sentence) {
    (void)ctx, (void)thread, (void)seq, (void)sentence;
    abort();
}

static bool on_run(void *ctx, const RunRow *row) {
    (void)row;
    ++*(int *)ctx;
    return true;
}

static int count_runs(Store *s) {
    int n = 0;
    CHECK(store_runs(s, on_run, &n, NULL));
    return n;
}

/* Every frame that an image may have, and one that it has not. */
static void look_at(const Flow *flow, const LineageImage *at) {
    for (int64_t frame = 0; frame < 5; frame++) {
        Json state = lineage_state(flow, at->after, frame),
             path = lineage_frame_path(at->after, frame);
        CHECK(json_is_none(path) || json_kind(path) == JSON_STRING);
        CHECK(json_is_none(state) || json_kind(state) == JSON_OBJECT);
        json_unref(state);
        json_unref(path);
    }
}

static bool on_image(void *ctx, const LineageImage *at) {
    StepResult result;
    look_at(ctx, at);
    result_read(at->checkpoint, at->before, at->after, &result);
    result_clear(&result);
    return at->index < CHECKPOINTS_MAX;
}

static void look(Store *s, const RunRow *row) {
    Lineage line;
    Flow *flow = stored_flow(s, row, json_none(), NULL);
    DivergenceSide side = {row->run, row->head, flow};
    CHECK(flow && lineage_read(s, row->run, row->head, 0, &line, NULL));
    CHECK(lineage_images(s, row->run, &line, on_image, flow, NULL));
    lineage_clear(&line);
    Json history = lineage_history(
        s, &(LineageQuery){.run = row->run, .head = row->head, .all = true, .limit = 20}, NULL);
    Error err = ERROR_INIT;
    Json found = divergence_find(s, &side, &side, &err); /* none where results are not on record */
    CHECK(!json_is_none(history));
    CHECK(json_is_none(found) ? err.code == ERR_USAGE
                              : json_truthy(json_object_get_c(found, "same")));
    RecordingSource source = {row->run, row->head, flow, flow, NULL};
    recording_free(recording_new(s, &source, &err));
    json_unref(history);
    json_unref(found);
    flow_unref(flow);
}

static void out_and_in(Store *s, const RunRow *row) {
    RunRow again = {0};
    Error err = ERROR_INIT;
    Store *other = store_open("memory:", STORE_CREATE, NULL);
    Json document = export_run(s, row->thread, &err);
    CHECK(other && !json_is_none(document));
    CHECK(export_import(other, document, &again, &err));
    CHECK(again.head == row->head && again.last == row->last);
    json_unref(document);
    run_row_clear(&again);
    store_close(other);
}

static void take_in(Json document) {
    RunRow row = {0};
    Error err = ERROR_INIT;
    CheckReport report;
    CheckHost host = {.problem = on_problem};
    Store *s = store_open("memory:", STORE_CREATE, NULL);
    CHECK(s);
    if (export_import(s, document, &row, &err)) {
        CHECK(count_runs(s) == 1 && chain_check(s, 0, &host, &report, NULL));
        look(s, &row);
        out_and_in(s, &row);
        run_row_clear(&row);
    } else {
        CHECK(err.code != ERR_NONE && err.msg[0] && count_runs(s) == 0);
    }
    store_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = json_heap_bytes();
    JsonParseOptions options = {.max_bytes = DOCUMENT_MAX};
    Json document = json_parse((const char *)data, size, &options, NULL);
    if (!json_is_none(document)) {
        take_in(document);
        json_unref(document);
    }
    CHECK(json_heap_bytes() == before);
    return 0;
}

static Json change(Json document) {
    static const char *const words[] = {"\"copy\"", "[[1,\"1\"],\"copy\",[1]]",
                                        "[[1,\"1\",2,0,1,\"x\"],\"copy\",[1,\"1\",2,0,1]]",
                                        "[\"interrupt\",\"i1\",\"approval\",null,null]", NULL};
    Json rows = json_object_get_c(document, "checkpoints");
    if (json_kind(rows) != JSON_ARRAY || !dice(4)) return change_value(document, words);
    return json_object_with(document, "checkpoints", change_value(json_ref(rows), words));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    return mutate_document(data, size, max, seed, change);
}
