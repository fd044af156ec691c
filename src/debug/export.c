/* export.c - runs to documents and back.
 *
 * Nothing of a document is believed. Everything in it is read and checked first: the rows, then the
 * workflows, then the image of every checkpoint, made from its parent's. Only then is the run made,
 * and all of its checkpoints go to the store in one batch. */
#include "export.h"

#include "flow.h"
#include "image_read.h"
#include "json_binary.h"
#include "json_build.h"
#include "json_diff.h"
#include "json_print.h"
#include "lifecycle.h"
#include "mem.h"
#include "store_chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#ifndef PAWL_VERSION
#error "The build has to say which version this is."
#endif

enum {
    ROW_SEQ,
    ROW_PARENT,
    ROW_STEP,
    ROW_FRAME,
    ROW_AT,
    ROW_NODE,
    ROW_STATUS,
    ROW_PATCH,
    ROW_SNAPSHOT,
    ROW_FIELDS, /* at least */
    ROW_RESULT = ROW_FIELDS
};

/* ---- writing ---- */

#define EXPORT_MAX ((uint64_t)2 << 30) /* of all checkpoints, as json_size() counts */

typedef struct Writing {
    Json rows;
    Json definitions; /* {key: null} of those that images name */
    int64_t last;     /* what came after the row was read is left out */
    int64_t damaged;  /* a checkpoint that is no value, or the first that is too much; 0: none */
    uint64_t bytes;   /* of the rows, as json_size() counts */
    bool large;       /* more than EXPORT_MAX */
} Writing;

/* The definition that a change puts into the run's part of the image; JSON_NONE: none. A change is
 * of the whole, of the run's part, of the field, or of a stretch of the fields. */
static Json definition_in(Json change) {
    Json path = json_array_get(change, 0), value = json_array_get(change, 1);
    size_t n = json_kind(path) == JSON_ARRAY ? json_array_len(path) : SIZE_MAX;
    if (n == 0) return json_array_get(json_array_get(value, IMAGE_RUN), IMAGE_DEFINITION);
    if (n > 2 || image_int(path, 0) != IMAGE_RUN ||
        json_tag(json_array_get(path, 0)) != JSON_TAG_INT) {
        return json_none();
    }
    if (n == 2) return image_int(path, 1) == IMAGE_DEFINITION ? value : json_none();
    int64_t from = image_int(change, 1);
    return json_array_len(change) == 2 ? json_array_get(value, IMAGE_DEFINITION)
           : from <= IMAGE_DEFINITION
               ? json_array_get(json_array_get(change, 3), (size_t)(IMAGE_DEFINITION - from))
               : json_none();
}

/* Who started a run is known only to the store that it was started in. The starter is there from the first image to the
 * last, or not at all: a change says it where it writes all of the image or of the run's part. Consumes image. */
static Json without_starter(Json image) {
    bool says = json_array_len(json_array_get(image, IMAGE_RUN)) > IMAGE_STARTER;
    return says ? image_of_starter(image, NULL) : image;
}

static Json patch_without_starter(Json patch) {
    for (size_t i = 0; i < json_array_len(patch); i++) {
        Json change = json_array_get(patch, i), path = json_array_get(change, 0);
        Json value = json_array_get(change, 1), first = json_array_get(path, 0);
        bool is_path = json_kind(path) == JSON_ARRAY, whole = is_path && !json_array_len(path);
        bool head = json_array_len(path) == 1 && json_tag(first) == JSON_TAG_INT &&
                    first.i == IMAGE_RUN && json_array_len(change) == 2;
        if (whole) {
            value = without_starter(json_ref(value));
        } else if (head && json_array_len(value) > IMAGE_STARTER) {
            value = json_array_slice(json_ref(value), 0, IMAGE_STARTER);
        } else {
            continue;
        }
        patch = json_array_set(patch, i, json_array_set(json_ref(change), 1, value));
    }
    return patch;
}

static bool write_row(void *ctx, const Checkpoint *c) {
    Writing *w = ctx;
    if (c->seq > w->last) return false;
    Json patch = patch_without_starter(chain_decode(c->patch, c->patch_len, NULL));
    Json snapshot = c->snapshot ? without_starter(chain_decode(c->snapshot, c->snapshot_len, NULL))
                                : json_null();
    Json result = c->result_len ? chain_decode(c->result, c->result_len, NULL) : json_null();
    w->bytes += json_size(patch) + json_size(snapshot) + json_size(result);
    w->large = w->bytes > EXPORT_MAX;
    if (json_is_none(patch) || json_is_none(snapshot) || json_is_none(result) || w->large) {
        w->damaged = c->seq;
        json_unref(patch);
        json_unref(snapshot);
        json_unref(result);
        return false;
    }
    for (size_t i = 0; i < json_array_len(patch); i++) {
        Json key = definition_in(json_array_get(patch, i));
        if (json_kind(key) == JSON_STRING) {
            w->definitions = json_object_set(w->definitions, json_ref(key), json_null());
        }
    }
    Json parts[ROW_FIELDS] = {
        [ROW_SEQ] = json_int(c->seq),
        [ROW_PARENT] = json_int(c->parent),
        [ROW_STEP] = json_int(c->step),
        [ROW_FRAME] = json_int(c->frame),
        [ROW_AT] = json_int(c->at),
        [ROW_NODE] = json_string_c(c->node),
        [ROW_STATUS] = json_string_c(c->status),
        [ROW_PATCH] = patch,
        [ROW_SNAPSHOT] = snapshot,
    };
    Json row = json_array_from(parts, ROW_FIELDS);
    if (c->result) {
        Json said = c->result_len ? json_array_push(json_array(), result) : json_array();
        row = json_array_push(row, said);
    }
    w->rows = json_array_push(w->rows, row);
    return true;
}

static bool write_rows(Store *store, const RunRow *row, Writing *w, Error *err) {
    if (!row->head) {
        return error_set(err, ERR_USAGE,
                         "Thread %s has no checkpoint yet: there is nothing to export.",
                         row->thread);
    }
    if (!store_history(store, row->run, 1, write_row, NULL, w, err)) return false;
    if (!w->damaged) return true;
    if (w->large) {
        error_set(err, ERR_LIMIT,
                  "The history of thread %s up to checkpoint %" PRId64
                  " takes more than %llu MB: it cannot be exported as one document.",
                  row->thread, w->damaged, (unsigned long long)(EXPORT_MAX >> 20));
        error_fact(err, "thread", row->thread);
        return error_fact_int(err, "limit", (int64_t)EXPORT_MAX);
    }
    error_set(err, ERR_DATA, "Checkpoint %" PRId64 " of thread %s is damaged: it is no value.",
              w->damaged, row->thread);
    error_fact(err, "damaged", store_url(store));
    return error_fact_int(err, "checkpoint", w->damaged);
}

Json export_run(Store *store, const char *thread, Error *err) {
    RunRow row = {0};
    if (!store_find(store, thread, &row, err)) return json_none();
    Writing w = {.rows = json_array(), .last = row.last};
    w.definitions = json_object_with(json_object(), row.definition, json_null());
    bool ok = write_rows(store, &row, &w, err);
    Json definitions = json_object(), document = json_none(), key, ignored;
    for (size_t pos = 0; ok && json_object_next(w.definitions, &pos, &key, &ignored);) {
        Json value = store_definition(store, json_string_data(&key), err);
        ok = !json_is_none(value);
        definitions = ok ? json_object_set(definitions, json_ref(key), value) : definitions;
    }
    if (ok) {
        struct timespec t;
        timespec_get(&t, TIME_UTC);
        int64_t now = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
        document = OBJECT(
            KEY("pawl_export", json_int(EXPORT_FORMAT)), KEY("version", PAWL_VERSION),
            KEY("exported_at", now), KEY("thread", row.thread), KEY("workflow", row.workflow),
            KEY("status", row.status), KEY("head", row.head), KEY("created", row.created),
            KEY("updated", row.updated), KEY("definition", row.definition),
            KEY("definitions", json_take(&definitions)), KEY("checkpoints", json_take(&w.rows)));
    }
    json_unref(w.rows);
    json_unref(w.definitions);
    json_unref(definitions);
    run_row_clear(&row);
    return document;
}

/* ---- reading: the parts of a document ---- */

enum {
    TEXT_MAX = 1 << 16, /* bytes of a name */
};

/* A checkpoint of the document. */
typedef struct Row {
    Json fields; /* borrowed: ROW_SEQ and so on, and those that are numbers are */
    int64_t seq; /* of the fields */
    size_t uses; /* of its image: checkpoints that are made from it */
    Json image;  /* while somebody needs it */
} Row;

typedef struct Reading {
    Json document, definitions; /* borrowed */
    int64_t head;
    Row *rows;
    size_t n;
} Reading;

static int64_t row_int(const Row *row, size_t field) {
    return image_int(row->fields, field);
}

/* Whether it is a text without a NUL in it, and not too long. */
static bool is_text(Json value) {
    return json_kind(value) == JSON_STRING && json_string_len(value) <= TEXT_MAX &&
           !memchr(json_string_data(&value), '\0', json_string_len(value));
}

static bool read_format(Json document, Error *err) {
    Json format = json_object_get_c(document, "pawl_export");
    if (json_tag(format) != JSON_TAG_INT) {
        return error_set(err, ERR_DATA,
                         "This is not an export of a run: there is no `pawl_export` in it. The "
                         "debugger's `export` writes one.");
    }
    return format.i == EXPORT_FORMAT ||
           error_set(err, ERR_DATA,
                     "This export has the format %" PRId64 ", and this version of pawl reads %d: "
                     "read it with the version that wrote it.",
                     format.i, EXPORT_FORMAT);
}

/* The facts of the run, each of its kind. */
static bool read_facts(Json document, Reading *r, Error *err) {
    static const char *const texts[] = {"version", "thread", "workflow", "status", "definition"};
    static const char *const numbers[] = {"exported_at", "head", "created", "updated"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!is_text(json_object_get_c(document, texts[i]))) {
            return error_set(err, ERR_DATA, "This export is damaged: its `%s` is not a text.",
                             texts[i]);
        }
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        Json number = json_object_get_c(document, numbers[i]);
        if (json_tag(number) != JSON_TAG_INT || number.i < 0 || number.i > STORE_NUMBER_MAX) {
            return error_set(err, ERR_DATA,
                             "This export is damaged: its `%s` is not a whole number.", numbers[i]);
        }
    }
    Json status = json_object_get_c(document, "status");
    r->document = document;
    r->head = json_object_get_c(document, "head").i;
    return run_status_find(json_string_data(&status)) >= 0 ||
           error_set(err, ERR_DATA, "This export is damaged: a run cannot be `%s`.",
                     json_string_data(&status));
}

/* ---- reading: checkpoints ---- */

static bool bad_row(const Reading *r, const char *why, Error *err) {
    return error_set(err, ERR_DATA, "This export is damaged: checkpoint %" PRId64 " %s.",
                     r->rows[r->n - 1].seq, why);
}

static size_t find_row(const Reading *r, int64_t seq) {
    size_t low = 0, high = r->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->rows[middle].seq < seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < r->n && r->rows[low].seq == seq ? low : SIZE_MAX;
}

static bool read_row(Reading *r, Json fields, Error *err) {
    bool is_row = json_array_len(fields) >= ROW_FIELDS;
    for (size_t i = ROW_SEQ; is_row && i <= ROW_AT; i++) {
        is_row = json_tag(json_array_get(fields, i)) == JSON_TAG_INT;
    }
    if (!is_row) {
        return error_set(err, ERR_DATA,
                         "This export is damaged: item %zu of its `checkpoints` is no checkpoint.",
                         r->n);
    }
    Row *row = &r->rows[r->n++];
    *row = (Row){.fields = fields, .seq = image_int(fields, ROW_SEQ)};
    Json node = json_array_get(fields, ROW_NODE), status = json_array_get(fields, ROW_STATUS);
    if (!is_text(node) || !is_text(status) || json_string_len(status) > STORE_STATUS_MAX) {
        return bad_row(r, "has a node or a status that is not a text, or too long", err);
    }
    if (row->seq <= (r->n > 1 ? row[-1].seq : 0)) {
        return bad_row(r, "does not have a number that is higher than the one before", err);
    }
    int64_t parent = row_int(row, ROW_PARENT);
    size_t at = parent ? find_row(r, parent) : SIZE_MAX;
    if (parent < 0 || parent >= row->seq || (parent && at == SIZE_MAX)) {
        return bad_row(r, "has a parent that is not one of those before it", err);
    }
    for (size_t i = ROW_STEP; i <= ROW_AT; i++) {
        if (row_int(row, i) < 0) return bad_row(r, "has a number below zero", err);
        if (row_int(row, i) > STORE_NUMBER_MAX)
            return bad_row(r, "has a number that is too high", err);
    }
    for (size_t i = ROW_PATCH; i <= ROW_RESULT; i++) {
        if (json_size(json_array_get(fields, i)) > STORE_IMAGE_MAX) {
            return bad_row(r, "has a change, an image or a result that is too large", err);
        }
    }
    if (parent) r->rows[at].uses++;
    return true;
}

static bool read_rows(Json document, Reading *r, Error *err) {
    Json rows = json_object_get_c(document, "checkpoints");
    if (json_kind(rows) != JSON_ARRAY || !json_array_len(rows)) {
        return error_set(err, ERR_DATA, "This export is damaged: there are no checkpoints in it.");
    }
    size_t n = json_array_len(rows);
    r->rows = mem_alloc(n * sizeof *r->rows);
    for (size_t i = 0; i < n; i++) {
        if (!read_row(r, json_array_get(rows, i), err)) return false;
    }
    return find_row(r, r->head) != SIZE_MAX ||
           error_set(err, ERR_DATA,
                     "This export is damaged: the run stands at checkpoint %" PRId64
                     ", which is not in it.",
                     r->head);
}

/* ---- reading: workflows ---- */

static bool read_all_definitions(Reading *r, Error *err) {
    Json own = json_object_get_c(r->document, "definition"), key, value;
    r->definitions = json_object_get_c(r->document, "definitions");
    if (json_kind(r->definitions) != JSON_OBJECT ||
        json_is_none(json_object_get(r->definitions, own))) {
        return error_set(err, ERR_DATA, "This export is damaged: its workflow is not in it.");
    }
    bool ok = true;
    for (size_t pos = 0; ok && json_object_next(r->definitions, &pos, &key, &value);) {
        char name[JSON_DESCRIBE_MAX];
        FlowProblems problems = {0};
        bool object = json_kind(value) == JSON_OBJECT;
        Flow *flow = object ? flow_load_definition(value, &problems) : NULL;
        ok = flow ||
             error_set(err, ERR_DATA, "The workflow %s of this export does not load here: %s",
                       json_excerpt(key, name), problems.n ? problems.items[0].msg : "it is none.");
        flow_problems_clear(&problems);
        flow_unref(flow);
    }
    return ok;
}

/* ---- reading: images ---- */

/* The parent's image was a run's: only what the change touches has to be looked at, its frames and the run's
 * own part. */
static bool is_still_run(Json image, Json patch, Error *err) {
    Json frames = json_array_get(image, IMAGE_FRAMES), some = json_object();
    bool whole = json_kind(frames) != JSON_OBJECT;
    for (size_t i = 0; !whole && i < json_array_len(patch); i++) {
        Json path = json_array_get(json_array_get(patch, i), 0), first = json_array_get(path, 0);
        Json key = json_array_get(path, 1);
        int64_t part = json_tag(first) == JSON_TAG_INT ? first.i : -1;
        bool named = part == IMAGE_FRAMES && json_kind(key) == JSON_STRING;
        Json frame = named ? json_object_get(frames, key) : json_none();
        whole = part != IMAGE_RUN && !named;
        if (!json_is_none(frame)) some = json_object_set(some, json_ref(key), json_ref(frame));
    }
    Json root = whole ? json_none() : json_object_get_c(frames, "1");
    some = json_is_none(root) ? some : json_object_with(some, "1", json_ref(root));
    Json parts[] = {json_is_none(root) ? json_null() : json_ref(json_array_get(image, IMAGE_RUN)),
                    some};
    Json less = json_array_from(parts, 2);
    bool valid = image_check(whole ? image : less, err);
    json_unref(less);
    return valid;
}

static bool bad_image(const Row *row, const char *why, Error *err) {
    return error_set(err, ERR_DATA, "This export is damaged: checkpoint %" PRId64 " %s", row->seq,
                     why);
}

static bool too_large(const Row *row, const Error *why, Error *err) {
    error_set(err, ERR_LIMIT, "Checkpoint %" PRId64 " of this export is too large: its change %s.",
              row->seq, why->msg);
    error_fact_int(err, "checkpoint", row->seq);
    return error_fact_int(err, "limit", STORE_IMAGE_MAX);
}

static bool check_image(const Reading *r, const Row *row, Error *err) {
    Error why = ERROR_INIT;
    if (!is_still_run(row->image, json_array_get(row->fields, ROW_PATCH), &why)) {
        return error_set(err, ERR_DATA,
                         "This export is damaged: checkpoint %" PRId64 " does not hold a run (%s).",
                         row->seq, why.msg);
    }
    Json head = json_array_get(row->image, IMAGE_RUN);
    Json key = json_array_get(head, IMAGE_DEFINITION);
    Json snapshot = json_array_get(row->fields, ROW_SNAPSHOT);
    if (json_kind(key) != JSON_NULL && json_is_none(json_object_get(r->definitions, key))) {
        return bad_image(row, "is of a workflow that is not in it.", err);
    }
    if (json_array_len(head) > IMAGE_STARTER) {
        return bad_image(row, "says who started the run, which only its store knows.", err);
    }
    if (json_kind(snapshot) == JSON_NULL) return true;
    Json change = json_diff(row->image, snapshot);
    bool same = json_array_len(change) == 0;
    json_unref(change);
    return same ||
           bad_image(row, "has an image that is not what its change makes of its parent's.", err);
}

/* The image of a parent is moved out of it when nobody else needs it. */
static bool make_images(Reading *r, Error *err) {
    for (size_t i = 0; i < r->n; i++) {
        Row *row = &r->rows[i];
        int64_t seq = row_int(row, ROW_PARENT);
        Row *parent = seq ? &r->rows[find_row(r, seq)] : NULL;
        Error why = ERROR_INIT;
        Json before = !parent          ? json_null()
                      : --parent->uses ? json_ref(parent->image)
                                       : json_take(&parent->image);
        row->image = chain_patch(before, json_array_get(row->fields, ROW_PATCH), &why);
        if (why.code == ERR_LIMIT) return too_large(row, &why, err);
        if (json_is_none(row->image)) return bad_image(row, why.msg, err);
        if (!check_image(r, row, err)) return false;
        if (!row->uses) json_clear(&row->image);
    }
    return true;
}

/* ---- into the store ---- */

/* A workflow that has another key here is another one than the images mean. */
static bool define_all(Store *store, const Reading *r, Error *err) {
    char name[JSON_DESCRIBE_MAX];
    Json key, value;
    for (size_t pos = 0; json_object_next(r->definitions, &pos, &key, &value);) {
        char *made = store_define(store, value, err);
        bool defined = made != NULL, same = defined && json_string_is(key, made);
        mem_free(made);
        if (!same) {
            return defined && error_set(err, ERR_DATA,
                                        "This export is damaged: its workflow %s is not the one "
                                        "that it was.",
                                        json_excerpt(key, name));
        }
    }
    return true;
}

static void add_checkpoint(StoreBatch *batch, int64_t run, const Row *row) {
    Json node = json_array_get(row->fields, ROW_NODE);
    Json status = json_array_get(row->fields, ROW_STATUS);
    Json whole = json_array_get(row->fields, ROW_SNAPSHOT);
    Json said = json_array_get(row->fields, ROW_RESULT);
    Buf patch = BUF_INIT, result = BUF_INIT, snapshot = BUF_INIT;
    Checkpoint c = {.run = run,
                    .seq = row->seq,
                    .parent = row_int(row, ROW_PARENT),
                    .step = row_int(row, ROW_STEP),
                    .frame = row_int(row, ROW_FRAME),
                    .at = row_int(row, ROW_AT),
                    .node = json_string_data(&node),
                    .status = json_string_data(&status)};
    json_encode(json_array_get(row->fields, ROW_PATCH), &patch);
    c.patch = patch.data;
    c.patch_len = patch.len;
    if (json_kind(whole) != JSON_NULL) {
        json_encode(whole, &snapshot);
        c.snapshot = snapshot.data;
        c.snapshot_len = snapshot.len;
    }
    if (json_kind(said) == JSON_ARRAY && json_array_len(said)) {
        json_encode(json_array_get(said, 0), &result);
    }
    c.result = json_kind(said) != JSON_ARRAY ? NULL : result.len ? result.data : "";
    c.result_len = result.len;
    checkpoint_fit(&c);
    store_batch_checkpoint(batch, &c);
    buf_clear(&patch);
    buf_clear(&result);
    buf_clear(&snapshot);
}

/* All of it is one commit. */
static bool make_run(Store *store, const Reading *r, RunRow *out, Error *err) {
    enum { NEW = -1 };
    Json thread = json_object_get_c(r->document, "thread");
    Json workflow = json_object_get_c(r->document, "workflow");
    Json status = json_object_get_c(r->document, "status");
    Json definition = json_object_get_c(r->document, "definition");
    StoreBatch batch = STORE_BATCH_INIT;
    RunRow made = {0};
    store_batch_create(&batch, &(StoreCreate){.stand_in = NEW,
                                              .thread = json_string_data(&thread),
                                              .workflow = json_string_data(&workflow),
                                              .definition = json_none(),
                                              .key = json_string_data(&definition)});
    for (size_t i = 0; i < r->n; i++) add_checkpoint(&batch, NEW, &r->rows[i]);
    store_batch_run(&batch, NEW, r->head, json_string_data(&status),
                    json_object_get_c(r->document, "updated").i);
    store_batch_release(&batch, NEW);
    bool ok = store_check_new_thread(json_string_data(&thread), err) &&
              store_commit(store, &batch, err) && store_batch_made(store, &batch, 0, &made, err) &&
              store_find(store, made.thread, out, err);
    run_row_clear(&made);
    store_batch_clear(&batch);
    return ok;
}

bool export_import(Store *store, Json document, RunRow *out, Error *err) {
    Reading r = {0};
    bool ok = read_format(document, err) && read_facts(document, &r, err) &&
              read_rows(document, &r, err) && read_all_definitions(&r, err) &&
              make_images(&r, err) && define_all(store, &r, err) && make_run(store, &r, out, err);
    for (size_t i = 0; i < r.n; i++) json_unref(r.rows[i].image);
    mem_free(r.rows);
    return ok;
}
