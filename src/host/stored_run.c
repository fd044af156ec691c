/* stored_run.c - a run as the store has it: its row, its image, its definition. */
#include "host.h"

#include "image.h"
#include "mem.h"
#include "store_chain.h"

static bool read_image(Store *store, StoredRun *out, Error *err) {
    const char *thread = out->row.thread;
    if (!out->seq) {
        error_set(err, ERR_DATA, "Thread %s has no checkpoint yet.", thread);
        error_fact(err, "thread", thread);
        return false;
    }
    out->image = image_load(store, &out->row, out->seq, NULL, err);
    return !json_is_none(out->image);
}

bool stored_run_read(Store *store, const char *thread, int64_t seq, StoredRun *out, Error *err) {
    *out = (StoredRun){.seq = seq};
    if (!store_find(store, thread, &out->row, err)) return false;
    out->seq = seq ? seq : out->row.head;
    if (!read_image(store, out, err)) {
        stored_run_clear(out);
        return false;
    }
    out->folder = image_folder(out->image);
    Json key = json_array_get(json_array_get(out->image, IMAGE_RUN), IMAGE_DEFINITION);
    bool replaced = json_kind(key) == JSON_STRING; /* it was reloaded on the way */
    out->definition =
        store_definition(store, replaced ? json_string_data(&key) : out->row.definition, err);
    if (json_is_none(out->definition)) {
        stored_run_clear(out);
        return false;
    }
    return true;
}

Flow *stored_run_flow(const StoredRun *run, Error *err) {
    FlowProblems problems = {0};
    Flow *flow = flow_load_definition(run->definition, &problems);
    if (!flow) {
        error_set(err, ERR_DATA, "The workflow stored with thread `%s` does not load here: %s",
                  run->row.thread, problems.n ? problems.items[0].msg : "it is damaged.");
    }
    flow_problems_clear(&problems);
    return flow;
}

void stored_run_clear(StoredRun *run) {
    run_row_clear(&run->row);
    json_clear(&run->image);
    json_clear(&run->definition);
    json_clear(&run->folder);
}

const Flow *flow_at(FlowAt *f, Json image) {
    Json key = json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_DEFINITION);
    key = json_is_none(key) ? json_null() : key;
    if (json_is_none(f->key) || !json_equal(f->key, key)) {
        const char *name =
            json_kind(key) == JSON_STRING ? json_string_data(&key) : f->row->definition;
        StoredRun run = {.row = *f->row, .definition = store_definition(f->store, name, NULL)};
        flow_at_clear(f);
        f->flow = json_is_none(run.definition) ? NULL : stored_run_flow(&run, NULL);
        f->key = json_ref(key);
        json_unref(run.definition);
    }
    return f->flow;
}

void flow_at_clear(FlowAt *f) {
    flow_unref(f->flow);
    f->flow = NULL;
    json_clear(&f->key);
}
