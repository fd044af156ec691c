/* export.c - runs to documents and back.
 *
 * Nothing of a document is believed. Everything in it is read and checked first: the rows, then the
 * workflows, then the image of every checkpoint, made from its parent's. Only then is the run made,
 * and all of its checkpoints go to the store in one batch. */
#include "export.h"

#include "flow.h"
#include "image.h"
#include "json_binary.h"
#include "json_diff.h"
#include "json_print.h"
#include "lifecycle.h"
#include "mem.h"

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

typedef struct Writing {
    Json rows;
    Json definitions; /* {key: null} of those that images name */
    int64_t last;     /* what came after the row was read is left out */
    int64_t damaged;  /* a checkpoint that is no value; 0: none */
} Writing;

static Json decoded(const char *bytes, size_t len) {
    size_t used = 0;
    Json value = json_decode(bytes, len, &used, NULL);
    if (used != len) {
        json_clear(&value);
    }
    return value;
}

static Json in_array(Json array, size_t i) {
    return json_kind(array) == JSON_ARRAY ? json_array_get(array, i) : json_none();
}

/* The definition that a change puts into the run's part of the image; JSON_NONE: none. A change is
 * of the whole, of the run's part, of the field, or of a stretch of the fields. */
static Json definition_in(Json change) {
    Json path = in_array(change, 0), value = in_array(change, 1);
    size_t n = json_kind(path) == JSON_ARRAY ? json_array_len(path) : SIZE_MAX;
    if (n == 0) {
        return in_array(in_array(value, IMAGE_RUN), IMAGE_DEFINITION);
    }
    if (n > 2 || image_int(path, 0) != IMAGE_RUN ||
        json_tag(json_array_get(path, 0)) != JSON_TAG_INT) {
        return json_none();
    }
    if (n == 2) {
        return image_int(path, 1) == IMAGE_DEFINITION ? value : json_none();
    }
    int64_t from = image_int(change, 1);
    return json_array_len(change) == 2 ? in_array(value, IMAGE_DEFINITION)
           : from <= IMAGE_DEFINITION
               ? in_array(in_array(change, 3), (size_t)(IMAGE_DEFINITION - from))
               : json_none();
}

static void note_definitions(Writing *w, Json patch) {
    for (size_t i = 0; json_kind(patch) == JSON_ARRAY && i < json_array_len(patch); i++) {
        Json key = definition_in(json_array_get(patch, i));
        if (json_kind(key) == JSON_STRING) {
            w->definitions = json_object_set(w->definitions, json_ref(key), json_null());
        }
    }
}

static bool write_row(void *ctx, const Checkpoint *c) {
    Writing *w = ctx;
    if (c->seq > w->last) {
        return false;
    }
    Json patch = decoded(c->patch, c->patch_len);
    Json snapshot = c->snapshot ? decoded(c->snapshot, c->snapshot_len) : json_null();
    Json result = c->result_len ? decoded(c->result, c->result_len) : json_null();
    if (json_is_none(patch) || json_is_none(snapshot) || json_is_none(result)) {
        w->damaged = c->seq;
        json_unref(patch);
        json_unref(snapshot);
        json_unref(result);
        return false;
    }
    note_definitions(w, patch);
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

typedef struct Wanted {
    int64_t run;
    RunRow *out;
    bool found;
} Wanted;

static char *copy(const char *text) {
    return mem_strndup(text ? text : "", text ? strlen(text) : 0);
}

static bool take_row(void *ctx, const RunRow *row) {
    Wanted *w = ctx;
    w->found = row->run == w->run;
    if (w->found) {
        *w->out = *row;
        w->out->thread = copy(row->thread);
        w->out->workflow = copy(row->workflow);
        w->out->status = copy(row->status);
        w->out->definition = copy(row->definition);
        w->out->owner = copy(row->owner);
    }
    return !w->found;
}

/* By its number, though some thread may be called like that. */
static bool find_run(Store *store, int64_t run, RunRow *out, Error *err) {
    char number[24];
    Wanted wanted = {.run = run, .out = out};
    snprintf(number, sizeof number, "%" PRId64, run);
    if (!store_find(store, number, out, err)) {
        return false;
    }
    if (out->run == run) {
        return true;
    }
    run_row_clear(out);
    return store_runs(store, take_row, &wanted, err) &&
           (wanted.found || error_set(err, ERR_USAGE, "There is no run %s.", number));
}

static Json read_definitions(Store *store, Json keys, Error *err) {
    Json out = json_object(), key, ignored;
    for (size_t pos = 0; !json_is_none(out) && json_object_next(keys, &pos, &key, &ignored);) {
        char *name = mem_strndup(json_string_data(&key), json_string_len(key));
        Json value = store_definition(store, name, err);
        mem_free(name);
        if (json_is_none(value)) {
            json_clear(&out);
        } else {
            out = json_object_set(out, json_ref(key), value);
        }
    }
    return out;
}

static int64_t now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static Json document_of(const RunRow *row, Json definitions, Json rows) {
    Json d = json_object_with(json_object(), "pawl_export", json_int(EXPORT_FORMAT));
    d = json_object_with(d, "version", json_string_c(PAWL_VERSION));
    d = json_object_with(d, "exported_at", json_int(now()));
    d = json_object_with(d, "thread", json_string_c(row->thread));
    d = json_object_with(d, "workflow", json_string_c(row->workflow));
    d = json_object_with(d, "status", json_string_c(row->status));
    d = json_object_with(d, "head", json_int(row->head));
    d = json_object_with(d, "created", json_int(row->created));
    d = json_object_with(d, "updated", json_int(row->updated));
    d = json_object_with(d, "definition", json_string_c(row->definition));
    d = json_object_with(d, "definitions", definitions);
    return json_object_with(d, "checkpoints", rows);
}

static bool write_rows(Store *store, const RunRow *row, Writing *w, Error *err) {
    if (!row->head) {
        return error_set(err, ERR_USAGE,
                         "Thread %s has no checkpoint yet: there is nothing to export.",
                         row->thread);
    }
    if (!store_history(store, row->run, 1, write_row, NULL, w, err)) {
        return false;
    }
    if (!w->damaged) {
        return true;
    }
    error_set(err, ERR_DATA, "Checkpoint %" PRId64 " of thread %s is damaged: it is no value.",
              w->damaged, row->thread);
    error_fact(err, "damaged", store_url(store));
    return error_fact_int(err, "checkpoint", w->damaged);
}

Json export_run(Store *store, int64_t run, Error *err) {
    RunRow row = {0};
    if (!find_run(store, run, &row, err)) {
        return json_none();
    }
    Writing w = {.rows = json_array(), .last = row.last};
    w.definitions = json_object_with(json_object(), row.definition, json_null());
    bool ok = write_rows(store, &row, &w, err);
    Json definitions = ok ? read_definitions(store, w.definitions, err) : json_none();
    Json document = json_none();
    if (!json_is_none(definitions)) {
        document = document_of(&row, definitions, json_take(&w.rows));
    }
    json_unref(w.rows);
    json_unref(w.definitions);
    run_row_clear(&row);
    return document;
}

/* ---- reading: the parts of a document ---- */

enum {
    TEXT_MAX = 1 << 16,  /* bytes of a name */
    IMAGE_MAX = 1 << 30, /* of an image, as json_size() counts */
};

typedef struct Row {
    int64_t seq, parent, step, frame, at;
    char *node, *status;
    Json patch, snapshot, result; /* borrowed */
    size_t uses;                  /* of its image: checkpoints that are made from it */
    Json image;                   /* while somebody needs it */
} Row;

typedef struct Reading {
    Json definitions; /* borrowed */
    char *thread, *workflow, *status, *definition;
    int64_t head, updated;
    Row *rows;
    size_t n;
} Reading;

static void reading_clear(Reading *r) {
    for (size_t i = 0; i < r->n; i++) {
        mem_free(r->rows[i].node);
        mem_free(r->rows[i].status);
        json_unref(r->rows[i].image);
    }
    mem_free(r->rows);
    mem_free(r->thread);
    mem_free(r->workflow);
    mem_free(r->status);
    mem_free(r->definition);
}

/* A string without a NUL, as C has it; NULL when it is none. */
static char *text_of(Json value) {
    const char *data = json_kind(value) == JSON_STRING ? json_string_data(&value) : NULL;
    size_t len = data ? json_string_len(value) : 0;
    return data && len <= TEXT_MAX && !memchr(data, '\0', len) ? mem_strndup(data, len) : NULL;
}

static bool read_text(Json document, const char *name, char **out, Error *err) {
    *out = text_of(json_object_get_c(document, name));
    return *out ||
           error_set(err, ERR_DATA, "This export is damaged: its `%s` is not a text.", name);
}

static bool read_number(Json document, const char *name, int64_t *out, Error *err) {
    Json value = json_object_get_c(document, name);
    *out = json_tag(value) == JSON_TAG_INT ? value.i : 0;
    return json_tag(value) == JSON_TAG_INT ||
           error_set(err, ERR_DATA, "This export is damaged: its `%s` is not a whole number.",
                     name);
}

static bool read_format(Json document, Error *err) {
    Json format = json_kind(document) == JSON_OBJECT ? json_object_get_c(document, "pawl_export")
                                                     : json_none();
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

static bool read_facts(Json document, Reading *r, Error *err) {
    int64_t ignored;
    char *version = NULL;
    bool ok = read_text(document, "version", &version, err) &&
              read_number(document, "exported_at", &ignored, err) &&
              read_text(document, "thread", &r->thread, err) &&
              read_text(document, "workflow", &r->workflow, err) &&
              read_text(document, "status", &r->status, err) &&
              read_text(document, "definition", &r->definition, err) &&
              read_number(document, "head", &r->head, err) &&
              read_number(document, "created", &ignored, err) &&
              read_number(document, "updated", &r->updated, err);
    mem_free(version);
    return ok &&
           (run_status_find(r->status) >= 0 ||
            error_set(err, ERR_DATA, "This export is damaged: a run cannot be `%s`.", r->status));
}

/* ---- reading: checkpoints ---- */

static bool bad_row(const Reading *r, const char *why, Error *err) {
    return error_set(err, ERR_DATA, "This export is damaged: checkpoint %" PRId64 " %s.",
                     r->rows[r->n - 1].seq, why);
}

static bool has_numbers(Json row) {
    for (size_t i = ROW_SEQ; i <= ROW_AT; i++) {
        if (json_tag(json_array_get(row, i)) != JSON_TAG_INT) {
            return false;
        }
    }
    return true;
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

static bool link_row(Reading *r, Error *err) {
    Row *row = &r->rows[r->n - 1];
    int64_t previous = r->n > 1 ? row[-1].seq : 0;
    size_t parent = row->parent ? find_row(r, row->parent) : SIZE_MAX;
    if (row->seq <= previous) {
        return bad_row(r, "does not have a number that is higher than the one before", err);
    }
    if (row->parent < 0 || row->parent >= row->seq || (row->parent && parent == SIZE_MAX)) {
        return bad_row(r, "has a parent that is not one of those before it", err);
    }
    if (row->step < 0 || row->frame < 0 || row->at < 0) {
        return bad_row(r, "has a number below zero", err);
    }
    if (row->parent) {
        r->rows[parent].uses++;
    }
    return true;
}

static bool read_row(Reading *r, Json from, Error *err) {
    Row *row = &r->rows[r->n];
    if (json_kind(from) != JSON_ARRAY || json_array_len(from) < ROW_FIELDS || !has_numbers(from)) {
        return error_set(err, ERR_DATA,
                         "This export is damaged: item %zu of its `checkpoints` is no checkpoint.",
                         r->n);
    }
    *row = (Row){.seq = image_int(from, ROW_SEQ),
                 .parent = image_int(from, ROW_PARENT),
                 .step = image_int(from, ROW_STEP),
                 .frame = image_int(from, ROW_FRAME),
                 .at = image_int(from, ROW_AT),
                 .node = text_of(json_array_get(from, ROW_NODE)),
                 .status = text_of(json_array_get(from, ROW_STATUS)),
                 .patch = json_array_get(from, ROW_PATCH),
                 .snapshot = json_array_get(from, ROW_SNAPSHOT),
                 .result = json_array_get(from, ROW_RESULT)};
    r->n++;
    if (!row->node || !row->status || strlen(row->status) > STORE_STATUS_MAX) {
        return bad_row(r, "has a node or a status that is not a text, or too long", err);
    }
    return link_row(r, err);
}

static bool read_rows(Json document, Reading *r, Error *err) {
    Json rows = json_object_get_c(document, "checkpoints");
    if (json_kind(rows) != JSON_ARRAY || !json_array_len(rows)) {
        return error_set(err, ERR_DATA, "This export is damaged: there are no checkpoints in it.");
    }
    size_t n = json_array_len(rows);
    r->rows = mem_alloc(n * sizeof *r->rows);
    for (size_t i = 0; i < n; i++) {
        if (!read_row(r, json_array_get(rows, i), err)) {
            return false;
        }
    }
    return find_row(r, r->head) != SIZE_MAX ||
           error_set(err, ERR_DATA,
                     "This export is damaged: the run stands at checkpoint %" PRId64
                     ", which is not in it.",
                     r->head);
}

/* ---- reading: workflows ---- */

static bool read_definition(Json key, Json value, Error *err) {
    char name[JSON_DESCRIBE_MAX];
    FlowProblems problems = {0};
    Flow *flow = json_kind(value) == JSON_OBJECT ? flow_load_definition(value, &problems) : NULL;
    if (!flow) {
        error_set(err, ERR_DATA, "The workflow %s of this export does not load here: %s",
                  json_excerpt(key, name), problems.n ? problems.items[0].msg : "it is none.");
    }
    flow_problems_clear(&problems);
    bool ok = flow != NULL;
    flow_unref(flow);
    return ok;
}

static bool read_all_definitions(Json document, Reading *r, Error *err) {
    Json key, value;
    r->definitions = json_object_get_c(document, "definitions");
    if (json_kind(r->definitions) != JSON_OBJECT ||
        json_is_none(json_object_get_c(r->definitions, r->definition))) {
        return error_set(err, ERR_DATA, "This export is damaged: its workflow is not in it.");
    }
    for (size_t pos = 0; json_object_next(r->definitions, &pos, &key, &value);) {
        if (!read_definition(key, value, err)) {
            return false;
        }
    }
    return true;
}

/* ---- reading: images ---- */

/* The frame that a change is in; JSON_NONE: it is not inside of one. *whole: it may be of all of
 * them. */
static Json changed_frame(Json change, bool *whole) {
    Json path = in_array(change, 0);
    size_t n = json_kind(path) == JSON_ARRAY ? json_array_len(path) : 0;
    Json first = n ? json_array_get(path, 0) : json_none();
    Json key = n > 1 ? json_array_get(path, 1) : json_none();
    bool head = json_tag(first) == JSON_TAG_INT && first.i == IMAGE_RUN;
    bool frame =
        json_tag(first) == JSON_TAG_INT && first.i == IMAGE_FRAMES && json_kind(key) == JSON_STRING;
    *whole = *whole || (!head && !frame);
    return frame ? key : json_none();
}

/* The parent's image was a run's: only what the change touches has to be looked at. */
static bool is_still_run(Json image, Json patch) {
    Json frames = in_array(image, IMAGE_FRAMES), some = json_object();
    bool whole = json_kind(frames) != JSON_OBJECT;
    for (size_t i = 0; !whole && i < json_array_len(patch); i++) {
        Json key = changed_frame(json_array_get(patch, i), &whole);
        Json frame = json_is_none(key) ? key : json_object_get(frames, key);
        if (!json_is_none(frame)) {
            some = json_object_set(some, json_ref(key), json_ref(frame));
        }
    }
    Json root = whole ? json_none() : json_object_get_c(frames, "1");
    some = json_is_none(root) ? some : json_object_with(some, "1", json_ref(root));
    Json parts[] = {json_is_none(root) ? json_null() : json_ref(json_array_get(image, IMAGE_RUN)),
                    some};
    Json less = json_array_from(parts, 2);
    bool valid = whole ? image_valid(image) : image_valid(less);
    json_unref(less);
    return valid;
}

static bool has_definition(const Reading *r, Json image) {
    Json key = json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_DEFINITION);
    return json_kind(key) == JSON_NULL ||
           (json_kind(key) == JSON_STRING && !json_is_none(json_object_get(r->definitions, key)));
}

static bool is_same(Json a, Json b) {
    Json change = json_diff(a, b);
    bool same = json_array_len(change) == 0;
    json_unref(change);
    return same;
}

static bool bad_image(const Row *row, const char *why, Error *err) {
    return error_set(err, ERR_DATA, "This export is damaged: checkpoint %" PRId64 " %s", row->seq,
                     why);
}

static bool check_image(const Reading *r, const Row *row, Error *err) {
    if (json_size(row->image) > IMAGE_MAX) {
        return error_set(err, ERR_LIMIT,
                         "Checkpoint %" PRId64 " of this export takes more than %d MB.", row->seq,
                         IMAGE_MAX >> 20);
    }
    if (!is_still_run(row->image, row->patch)) {
        return bad_image(row, "does not hold a run.", err);
    }
    if (!has_definition(r, row->image)) {
        return bad_image(row, "is of a workflow that is not in it.", err);
    }
    bool snapshot = json_kind(row->snapshot) != JSON_NULL;
    return !snapshot || is_same(row->image, row->snapshot) ||
           bad_image(row, "has an image that is not what its change makes of its parent's.", err);
}

/* The image of the parent; moved out of it when nobody else needs it. */
static Json parent_image(Reading *r, const Row *row) {
    Row *parent = row->parent ? &r->rows[find_row(r, row->parent)] : NULL;
    return !parent          ? json_null()
           : --parent->uses ? json_ref(parent->image)
                            : json_take(&parent->image);
}

static bool make_images(Reading *r, Error *err) {
    for (size_t i = 0; i < r->n; i++) {
        Row *row = &r->rows[i];
        Error why = ERROR_INIT;
        row->image = json_patch(parent_image(r, row), row->patch, &why);
        if (json_is_none(row->image)) {
            return bad_image(row, why.msg, err);
        }
        if (!check_image(r, row, err)) {
            return false;
        }
        if (!row->uses) {
            json_clear(&row->image);
        }
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
    Buf patch = BUF_INIT, result = BUF_INIT, snapshot = BUF_INIT;
    bool whole = json_kind(row->snapshot) != JSON_NULL, said = json_kind(row->result) == JSON_ARRAY;
    json_encode(row->patch, &patch);
    if (whole) {
        json_encode(row->snapshot, &snapshot);
    }
    if (said && json_array_len(row->result)) {
        json_encode(json_array_get(row->result, 0), &result);
    }
    store_batch_checkpoint(batch, &(Checkpoint){.run = run,
                                                .seq = row->seq,
                                                .parent = row->parent,
                                                .step = row->step,
                                                .frame = row->frame,
                                                .at = row->at,
                                                .node = row->node,
                                                .status = row->status,
                                                .patch = patch.data,
                                                .patch_len = patch.len,
                                                .result = !said        ? NULL
                                                          : result.len ? result.data
                                                                       : "",
                                                .result_len = result.len,
                                                .snapshot = whole ? snapshot.data : NULL,
                                                .snapshot_len = snapshot.len});
    buf_clear(&patch);
    buf_clear(&result);
    buf_clear(&snapshot);
}

/* All of it is one commit. */
static bool make_run(Store *store, const Reading *r, RunRow *out, Error *err) {
    enum { NEW = -1 };
    StoreBatch batch = STORE_BATCH_INIT;
    RunRow made = {0};
    store_batch_create(&batch, &(StoreCreate){.stand_in = NEW,
                                              .thread = r->thread,
                                              .workflow = r->workflow,
                                              .definition = json_none(),
                                              .key = r->definition});
    for (size_t i = 0; i < r->n; i++) {
        add_checkpoint(&batch, NEW, &r->rows[i]);
    }
    store_batch_run(&batch, NEW, r->head, r->status, r->updated);
    store_batch_release(&batch, NEW);
    bool ok = store_check_thread(r->thread, err) && store_commit(store, &batch, err) &&
              store_batch_made(store, &batch, 0, &made, err) &&
              store_find(store, made.thread, out, err);
    run_row_clear(&made);
    store_batch_clear(&batch);
    return ok;
}

bool export_import(Store *store, Json document, RunRow *out, Error *err) {
    Reading r = {0};
    bool ok = read_format(document, err) && read_facts(document, &r, err) &&
              read_rows(document, &r, err) && read_all_definitions(document, &r, err) &&
              make_images(&r, err) && define_all(store, &r, err) && make_run(store, &r, out, err);
    reading_clear(&r);
    return ok;
}
