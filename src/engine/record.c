/* record.c - a checkpoint: the image renewed where frames are dirty, and the difference written. */
#include "record.h"

#include "choice.h"
#include "event.h"
#include "fetched.h"
#include "image_read.h"
#include "injected.h"
#include "json_binary.h"
#include "json_diff.h"
#include "json_path.h"
#include "result.h"

#include <assert.h>

static Json or_null(Json j) {
    return json_is_none(j) ? json_null() : json_ref(j);
}

static bool shares_state(const Frame *f, uint32_t level) {
    const Level *below = level ? &f->levels[level - 1] : f->parent ? frame_top(f->parent) : NULL;
    return below && !f->levels[level].graph->scoped && !below->graph->scoped &&
           json_identical(f->levels[level].state, below->state);
}

static Json level_image(const Frame *f, uint32_t level) {
    const Level *l = &f->levels[level];
    Json parts[IMAGE_LEVEL_FIELDS] = {
        [IMAGE_NODE] = l->node ? json_ref(l->node->name_json) : json_null(),
        [IMAGE_STATE] = shares_state(f, level) ? json_null() : or_null(l->state),
        [IMAGE_WRITES] = or_null(l->writes),
        [IMAGE_STEPS] = json_int(l->steps),
        [IMAGE_ATTEMPT] = json_int(l->attempt),
        [IMAGE_COUNT] = json_int(l->count),
        [IMAGE_LEVEL_DEADLINE] = json_int(l->deadline),
    };
    Json image = json_array_from(parts, IMAGE_LEVEL_FIELDS);
    return l->injected  ? json_array_push(image, injected_image(l->injected))
           : l->fetched ? json_array_push(image, json_int(l->fetched->number))
                        : image;
}

/* What else there is to say is null when that is nothing: the array keeps its length, so that its parts are
 * compared one by one. */
Json frame_image(const Frame *f) {
    Json levels = json_array(), extra = json_null();
    if (f->held_at || f->injections) {
        extra = OBJECT(KEY("held", f->held_at ? json_int(f->held_at) : json_none()),
                       KEY("inject", f->injections ? injections_image(f) : json_none()));
    }
    for (uint32_t i = 0; i < f->nlevels; i++) levels = json_array_push(levels, level_image(f, i));
    return ARRAY([IMAGE_PARENT] = json_int(f->parent ? f->parent->id : 0),
                 [IMAGE_BRANCH] = json_int(f->branch), [IMAGE_LEVELS] = levels,
                 [IMAGE_WAIT] = json_ref(f->wait), [IMAGE_EXTRA] = extra);
}

/* Only a status that ends the run is in the image: the others follow from what its frames wait
 * for. */
Json run_image_head(const Run *run) {
    bool ended =
        run->status == RUN_COMPLETED || run->status == RUN_FAILED || run->status == RUN_CANCELLED;
    Json fetched = fetched_image(run);
    bool has_fetched = json_kind(fetched) == JSON_ARRAY;
    const RunOnly *only = &run->only;
    Json parts[IMAGE_RUN_END] = {
        [IMAGE_STATUS] = ended ? json_string_c(run_status_names[run->status]) : json_null(),
        [IMAGE_ERROR] = or_null(run->error),
        [IMAGE_NEXT_FRAME] = json_int(run->next_frame),
        [IMAGE_MODE] = json_ref(run->mode),
        [IMAGE_DEADLINE] = json_int(run->deadline),
        [IMAGE_DEFINITION] = json_ref(run->definition),
        [IMAGE_FOLDER] = json_ref(run->folder),
        [IMAGE_DEBUG] = json_ref(run->debug),
        [IMAGE_ONLY] = !only->frame ? json_null()
                                    : ARRAY(json_int(only->frame), json_int(only->depth),
                                            json_int(only->step)),
        [IMAGE_FETCHED] = has_fetched ? fetched : json_null(),
        [IMAGE_TRACE] = run->trace ? run_trace_image(run) : json_null(),
        [IMAGE_STARTER] = or_null(run->starter),
    };
    size_t n = IMAGE_RUN_END;
    while (n > IMAGE_RUN_FIELDS && json_kind(parts[n - 1]) == JSON_NULL) n--;
    return json_array_from(parts, n);
}

static Json renewed_image(Run *run) {
    Json frames = json_is_none(run->image) ? json_object()
                                           : json_ref(json_array_get(run->image, IMAGE_FRAMES));
    for (Frame *f = run->dirty; f; f = f->dirty_next) {
        frames = f->gone ? json_object_remove(frames, f->key)
                         : json_object_set(frames, json_ref(f->key), frame_image(f));
    }
    return ARRAY(run_image_head(run), frames);
}

/* ---- levels that go their own way ---- */

typedef struct StateAt {
    Json frame; /* its key */
    Json image; /* of the frame, as last recorded */
    size_t level;
} StateAt;

static Json state_at(const StateAt *p) {
    return json_array_get(json_array_get(json_array_get(p->image, IMAGE_LEVELS), p->level),
                          IMAGE_STATE);
}

static Json path_to(const StateAt *p) {
    return ARRAY(json_int(IMAGE_FRAMES), json_ref(p->frame), json_int(IMAGE_LEVELS),
                 json_int((int64_t)p->level), json_int(IMAGE_STATE));
}

/* Where the state of a level that shares it was last recorded. */
static StateAt source_of(Json frames, const Frame *f, StateAt at) {
    while (json_kind(state_at(&at)) == JSON_NULL) {
        if (at.level) {
            at.level--;
            continue;
        }
        f = f->parent;
        at.frame = f->key;
        at.image = json_object_get(frames, f->key);
        at.level = json_array_len(json_array_get(at.image, IMAGE_LEVELS)) - 1;
    }
    return at;
}

/* Adds to changes what gives a level of its own to those that had shared one, and does it to *before. */
static Json add_copies(const Frame *f, Json frames, Json *before, Json changes) {
    Json image = json_object_get(frames, f->key), levels = json_array_get(image, IMAGE_LEVELS);
    for (uint32_t i = 0; i < f->nlevels && i < json_array_len(levels); i++) {
        StateAt to = {f->key, image, i};
        if (json_kind(state_at(&to)) != JSON_NULL || shares_state(f, i) ||
            f->levels[i].graph->scoped) {
            continue;
        }
        StateAt from = source_of(frames, f, to);
        changes =
            json_array_push(changes, ARRAY(path_to(&to), json_string_c("copy"), path_to(&from)));
        Json path = path_to(&to);
        *before = json_path_set(*before, path, json_ref(state_at(&from)), NULL);
        json_unref(path);
    }
    return changes;
}

/* ---- levels that come and go ---- */

/* One after the other; JSON_NONE: nothing to do. */
static Json chain(Json changes, Json more) {
    return json_is_none(changes) ? more : json_array_concat(changes, more);
}

/* Adds to changes what takes away the levels that a frame has left, or adds those that it has come to,
 * and does it to *before: those that stay are then compared one by one, and a patch has the keys of
 * their states that changed, not the states. Not so where they are small: to write one whole costs less. */
static Json add_levels(const Frame *f, Json image, Json *before, Json changes) {
    enum { SMALL = 1024 }; /* json_size() */
    Json was = json_object_get(json_array_get(*before, IMAGE_FRAMES), f->key);
    Json is = json_object_get(json_array_get(image, IMAGE_FRAMES), f->key);
    was = json_array_get(was, IMAGE_LEVELS);
    is = json_array_get(is, IMAGE_LEVELS);
    if (json_is_none(was) || json_array_len(was) == json_array_len(is) || json_size(was) < SMALL) {
        return changes;
    }
    size_t n = json_array_len(was), kept = n < f->nlevels ? n : f->nlevels;
    Json parts[] = {ARRAY(json_int(IMAGE_FRAMES), json_ref(f->key), json_int(IMAGE_LEVELS)),
                    json_int((int64_t)kept), json_int((int64_t)n),
                    json_array_slice(json_ref(is), kept, json_array_len(is))};
    Json change = ARRAY(json_array_from(parts, 4));
    *before = json_patch(*before, change, NULL);
    return chain(changes, change);
}

enum {
    DIFFERENCES_MAX = 20000
}; /* found in some milliseconds; where there are more, parts are written whole */

/* Consumes before. */
static Json changes_from(const Run *run, Json before, Json image) {
    Json levels = json_none();
    for (const Frame *f = run->dirty; f; f = f->dirty_next) {
        bool others = !f->gone && f->nrecorded != f->nlevels;
        levels = others ? add_levels(f, image, &before, levels) : levels;
    }
    Json changes = chain(levels, json_diff_within(before, image, DIFFERENCES_MAX));
    json_unref(before);
    return changes;
}

/* The same with copies of what the image before has, when that is less. Consumes before and changes. */
static Json with_copies(const Run *run, Json before, Json image, Json changes) {
    Json copies = copies_for(run, before, changes);
    Json copied = json_is_none(copies) ? copies : json_patch(json_ref(before), copies, NULL);
    json_unref(before);
    if (json_is_none(copied)) {
        json_unref(copies);
        return changes;
    }
    Json other = json_array_concat(copies, changes_from(run, copied, image));
    bool lighter = json_size(other) < json_size(changes);
    json_unref(lighter ? changes : other);
    return lighter ? other : changes;
}

static Json changes_to(const Run *run, Json image) {
    if (json_is_none(run->image)) return json_diff(json_null(), image);
    Json before = json_ref(run->image), own = json_none();
    Json frames = json_array_get(run->image, IMAGE_FRAMES);
    for (const Frame *f = run->dirty; f; f = f->dirty_next) {
        if (!f->gone && (f->parent || f->nlevels > 1)) own = add_copies(f, frames, &before, own);
    }
    Json changes = changes_from(run, json_ref(before), image);
    return chain(own, with_copies(run, before, image, changes));
}

#ifndef NDEBUG
/* What will be read is what goes on here. Both share what the patch puts: to look costs what changed. */
static bool leads_to(Json before, Json patch, Json image) {
    before = json_is_none(before) ? json_null() : json_ref(before);
    Json got = json_patch(before, patch, NULL);
    Json rest = json_is_none(got) ? json_null() : json_diff(got, image);
    bool same = json_kind(rest) == JSON_ARRAY && json_array_len(rest) == 0;
    json_unref(rest);
    json_unref(got);
    return same;
}
#endif

enum {
    DEBUG_WEIGHT = 3,  /* a debugger's own, however large, is to be written whole seldom */
    LARGE = 1 << 20,   /* json_size() that is encoded in about a millisecond */
    WHOLE_AT = 1 << 20 /* json_size() of a patch that may be heavier than the image itself */
};

/* Nodes fail before it comes to this (level_fits()); here is what they add up to all the same: many frames,
 * what they wait for, a debugger's own. Nothing that others would refuse to read is written; the run stops
 * where its record ends. */
static void refuse(Run *run, uint64_t size) {
    error_set(
        &run->store_error, ERR_LIMIT,
        "The run is too large to be recorded: about %llu MB, where at most %d MB are allowed.",
        (unsigned long long)(size >> 20), STORE_IMAGE_MAX >> 20);
    error_fact_int(&run->store_error, "size", (int64_t)size);
    error_fact_int(&run->store_error, "limit", STORE_IMAGE_MAX);
    run->halting = run->unrecorded = true;
    run_kick(run);
}

static void encode_checkpoint(Engine *e, Checkpoint *c, Json patch, Json image) {
    buf_reset(&e->patch);
    buf_reset(&e->snapshot);
    json_encode(patch, &e->patch);
    c->patch = e->patch.data;
    c->patch_len = e->patch.len;
    if (!json_is_none(image)) {
        json_encode(image, &e->snapshot);
        c->snapshot = e->snapshot.data;
        c->snapshot_len = e->snapshot.len;
    }
    checkpoint_fit(c);
}

/* Encodes the change, what came of the node, and the whole where the chain of changes has become too
 * heavy; what is large is encoded by the writer of the store. */
static bool write_checkpoint(Run *run, const Frame *f, const Node *node, const StepResult *result,
                             Checkpoint *c) {
    Engine *e = run->engine;
    Json image = renewed_image(run);
    uint64_t size = json_size(image);
    if (size > STORE_IMAGE_MAX || run->unrecorded) {
        if (!run->unrecorded) refuse(run, size);
        json_unref(image);
        return false;
    }
    Json patch = changes_to(run, image);
    if (json_size(patch) > WHOLE_AT && json_size(patch) > size) {
        json_unref(patch);
        patch = ARRAY(ARRAY(json_array(), json_ref(image)));
    }
    assert(leads_to(run->image, patch, image));
    ResultPlace place = {.c = c,
                         .before = run->image,
                         .after = image,
                         .patch = patch,
                         .key = f->key,
                         .now = json_object_get(json_array_get(image, IMAGE_FRAMES), f->key),
                         .choices = run->choices,
                         .nchoices = run->nchoices,
                         .task = node && node->task,
                         .element = f->is_element && !result->at.level};
    bool snapshot = chain_wants_snapshot(&run->weight, size + DEBUG_WEIGHT * json_size(run->debug));
    bool large = json_size(patch) + (snapshot ? size : 0) > LARGE;
    buf_reset(&e->result);
    if (result_encode(&place, result, &e->result)) {
        c->result = e->result.len ? e->result.data : "";
        c->result_len = e->result.len;
    }
    if (large) { /* the sizes are those that values have here, and not quite those of their bytes */
        storage_put_large(e->storage, c, patch, snapshot ? image : json_none());
        chain_weigh(&run->weight, json_size(patch), snapshot ? size : 0, size);
    } else {
        encode_checkpoint(e, c, patch, snapshot ? image : json_none());
        chain_weigh(&run->weight, c->patch_len, c->snapshot_len, size);
        store_batch_checkpoint(storage_batch(e->storage), c);
    }
    json_unref(patch);
    json_put(&run->image, image);
    return true;
}

/* Of an execution that failed; where an edge took the error, it is in the state. */
static Json error_of(const StepResult *result, const char *status) {
    bool taken = json_is_none(result->error) && !strcmp(status, "failed");
    return json_ref(taken ? json_object_get_c(result->update, "error") : result->error);
}

/* Events say only what can be read from their checkpoint, too (host/recorded.h): of a frame that has ended with it,
 * the state is that of the frame around. */
int64_t run_record_result(Run *run, Frame *f, const Node *node, const char *status,
                          StepResult result) {
    Checkpoint c = {
        .run = run->row.run,
        .seq = ++run->last,
        .parent = run->head,
        .step = run->step,
        .frame = f->id,
        .at = engine_time(run->engine),
        .node = node ? node->name : "",
        .status = status,
    };
    result.by_hand = json_take(&run->by_hand);
    result.after = run->by_hand_after;
    result.by = json_ref(run->by);
    run->by_told = true;
    if (run->by_once) json_clear(&run->by);
    run->by_hand_after = false;
    if (!result.at.frame) result.at = (LevelAt){f->id, f->gone ? 0 : f->nlevels - 1};
    bool recorded = !run->engine->storage || write_checkpoint(run, f, node, &result, &c);
    if (recorded) {
        run->head = c.seq;
    } else {
        run->last--;
    }
    if (run->engine->storage) run_enter(run, RUNS_UNSAVED);
    if (recorded && run_wants(run, EVENT_STEP)) {
        const Frame *seen = f;
        while (seen->gone && seen->parent) seen = seen->parent;
        engine_tell(run, f,
                    (Event){.type = EVENT_STEP,
                            .at = c.at,
                            .node = c.node,
                            .status = status,
                            .update = run->values ? json_ref(result.update) : json_none(),
                            .edges = run->values ? choices_tell(run) : json_none(),
                            .state = run->values ? frame_sees(seen) : json_none(),
                            .error = error_of(&result, status)});
    }
    result_clear(&result);
    run->engine->steps++;
    if (run->nchoices) choices_recorded(run);
    for (Frame *at = run->dirty, *next; at; at = next) {
        next = at->dirty_next;
        at->dirty = false;
        at->batch = engine_batch(run->engine);
        at->nrecorded = at->nlevels;
        if (at->gone) frame_free(at);
    }
    run->dirty = NULL;
    return c.at;
}

int64_t run_record(Run *run, Frame *f, const Node *node, const char *status, Json update) {
    return run_record_result(run, f, node, status, (StepResult){.update = update});
}
