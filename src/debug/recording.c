/* recording.c - a recording: what a place is called, its life, and in the hands of a run. */
#include "recording_inside.h"

#include "json_build.h"
#include "mem.h"
#include "node_index.h"
#include "problems.h"
#include "suggest.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- places: where executions are, in words that two runs share ---- */

void place_add_again(Buf *out, int64_t count, int64_t attempt) {
    if (attempt) {
        buf_printf(out, "#%" PRId64 ".%" PRId64, count + 1, attempt);
    } else if (count > 0) {
        buf_printf(out, "#%" PRId64, count + 1);
    }
}

void place_add_child(Buf *out, const Buf *made_at, int64_t branch) {
    const char *end = memchr(made_at->data, '\n', made_at->len);
    size_t frame = (size_t)(end - made_at->data);
    buf_add(out, made_at->data, frame);
    buf_addc(out, '/');
    buf_add(out, end + 1, made_at->len - frame - 1);
    buf_printf(out, "[%" PRId64 "]", branch);
}

Json place_text(const Buf *b) {
    return json_string(b->data ? b->data : "", b->len);
}

static int64_t place_count(Json counts, const Buf *place) {
    Json key = place_text(place), n = json_object_get(counts, key);
    json_unref(key);
    return json_tag(n) == JSON_TAG_INT ? n.i : 0;
}

int64_t place_count_one(Json *counts, const Buf *place) {
    int64_t n = place_count(*counts, place);
    *counts = json_object_set(*counts, place_text(place), json_int(n + 1));
    return n;
}

Json place_key(const Buf *place, int64_t nth) {
    return json_string_fmt("%.*s\n%" PRId64, (int)place->len, place->data, nth);
}

static bool starts_with(Json key, const Buf *start) {
    return json_string_len(key) >= start->len &&
           !memcmp(json_string_data(&key), start->data, start->len);
}

/* How the places inside a node begin: in its levels "frame\nnode/", in its branches "frame/node[". */
static void add_start(Buf *out, const Buf *place, int64_t nth, bool branches, const char *end) {
    buf_add(out, place->data, place->len);
    place_add_again(out, nth, 0);
    char *between = branches ? memchr(out->data, '\n', out->len) : NULL;
    if (between) *between = '/';
    buf_adds(out, end);
}

Json place_forget_inside(Json object, const Buf *place, int64_t nth) {
    Buf levels = BUF_INIT, branches = BUF_INIT, attempts = BUF_INIT;
    Json out = json_object(), key, value;
    add_start(&levels, place, nth, false, "/");
    add_start(&branches, place, nth, true, "[");
    add_start(&attempts, place, nth, true, nth ? "." : "#1.");
    for (size_t pos = 0; json_object_next(object, &pos, &key, &value);) {
        if (!starts_with(key, &levels) && !starts_with(key, &branches) &&
            !starts_with(key, &attempts)) {
            out = json_object_set(out, json_ref(key), json_ref(value));
        }
    }
    buf_clear(&levels);
    buf_clear(&branches);
    buf_clear(&attempts);
    json_unref(object);
    return out;
}

bool place_is_called(const Node *node, const char *name) {
    return !strcmp(node->name, name) || (node->task && json_string_is(node->task->id, name));
}

/* ---- from where on it is live ---- */

static bool check_live_from(const RecordingSource *source, Error *err) {
    const char *name = source->live_from;
    Suggestion s = suggestion_for(name ? name : "", name ? strlen(name) : 0);
    NodeCursor at = {0};
    for (const Node *node; name && (node = nodes_next(source->replaying, &at));) {
        if (place_is_called(node, name)) return true;
        suggestion_offer(&s, node->name);
    }
    return !name || error_set(err, ERR_USAGE, "No node of `%s` is called `%s`, to be live from%s",
                              source->replaying->name, name, did_you_mean_this(s.best));
}

/* ---- life ---- */

/* live_from NULL: it never is. */
static Recording *recording_empty(const char *live_from) {
    Recording *r = mem_zalloc(sizeof *r);
    r->outcomes = json_object();
    r->changes = json_object();
    r->counts = json_object();
    r->last = json_object();
    r->missing = json_array();
    r->live_from = mem_strdup(live_from);
    return r;
}

Recording *recording_new(Store *store, const RecordingSource *source, Error *err) {
    if (!check_live_from(source, err)) return NULL;
    Recording *r = recording_empty(source->live_from);
    if (!recording_read(r, store, source, err)) {
        recording_free(r);
        return NULL;
    }
    json_put(&r->counts, json_object()); /* the run that takes from it counts for itself */
    json_put(&r->last, json_object());
    r->live = false;
    return r;
}

void recording_free(Recording *r) {
    if (!r) return;
    json_unref(r->outcomes);
    json_unref(r->changes);
    json_unref(r->counts);
    json_unref(r->last);
    json_unref(r->missing);
    mem_free(r->live_from);
    mem_free(r);
}

/* ---- for people ---- */

Json recording_report(const Recording *r) {
    return OBJECT(KEY("taken", r->taken), KEY("live", r->done),
                  KEY("missing", json_ref(r->missing)), KEY("more", r->more));
}

/* ---- in the hands of a run ---- */

/* The number in the name of a frame; the background of two is the second. */
static int64_t branch_of(const Frame *f) {
    char name[64];
    frame_name(f, name, sizeof name);
    const char *number = strchr(name, '[');
    return number ? strtoll(number + 1, NULL, 10) : !strcmp(name, "background");
}

/* "frame\nnodes": of all levels, with how often each was come to, or up to the node that is
 * next. */
static void add_live(const Recording *r, const Frame *f, bool whole, Buf *out);

static void add_frame(const Recording *r, const Frame *f, Buf *out) {
    const Frame *parent = frame_parent(f);
    if (!parent) {
        buf_adds(out, "main");
        return;
    }
    Buf made = BUF_INIT;
    add_live(r, parent, true, &made);
    place_add_child(out, &made, branch_of(f));
    buf_clear(&made);
}

static void add_live(const Recording *r, const Frame *f, bool whole, Buf *out) {
    uint32_t depth = frame_depth(f);
    add_frame(r, f, out);
    buf_addc(out, '\n');
    for (uint32_t i = 0; i < depth; i++) {
        const Node *node = frame_node(f, i);
        bool top = i + 1 == depth;
        int64_t count = 0;
        if (node) {
            buf_adds(out, node->name);
            count = place_count(r->counts, out) - 1;
        } else {
            buf_adds(out, "__start__");
        }
        if (!top || whole) place_add_again(out, count > 0 ? count : 0, top ? frame_attempt(f) : 0);
        if (!top) buf_addc(out, '/');
    }
}

static Json last_of(const Recording *r, const Frame *f) {
    Json frame = image_key(frame_id(f)), last = json_object_get(r->last, frame);
    json_unref(frame);
    return last;
}

static void set_last(Recording *r, const Frame *f, const Buf *at, LastStage stage) {
    r->last =
        json_object_set(r->last, image_key(frame_id(f)), ARRAY(place_text(at), json_int(stage)));
}

static LastStage stage_of(const Recording *r, const Frame *f) {
    return (LastStage)image_int(last_of(r, f), LAST_STAGE);
}

static void note_missing(Recording *r, const Buf *at, bool unfinished) {
    const char *end = memchr(at->data, '\n', at->len);
    size_t frame = (size_t)(end - at->data);
    if (json_array_len(r->missing) == RECORDING_MISSING_MAX) {
        r->more = true;
        return;
    }
    Json one = OBJECT(KEY("frame", json_string(at->data, frame)),
                      KEY("node", json_string(end + 1, at->len - frame - 1)),
                      KEY("unfinished", unfinished));
    r->missing = json_array_push(r->missing, one);
}

static Json changes_at(const Recording *r, const Buf *at, int64_t nth, const char *what) {
    Json key = place_key(at, nth),
         changes = json_object_get_c(json_object_get(r->changes, key), what);
    json_unref(key);
    return changes;
}

/* What was changed before or after an execution: HOOK_CHANGE if anything was. */
static HookVerdict change(const Recording *r, const Buf *at, int64_t nth, const char *when,
                          Json *info) {
    Json changes = changes_at(r, at, nth, when);
    if (json_is_none(changes)) return HOOK_GO;
    *info = json_ref(changes);
    return HOOK_CHANGE;
}

/* Where a person sent the frame from before or after an execution: HOOK_GOTO if anywhere. */
static HookVerdict go_elsewhere(const Recording *r, const Buf *at, const char *when, Json *info) {
    Json sent = changes_at(r, at, place_count(r->counts, at) - 1, "goto");
    Json from = json_array_get(sent, GOTO_FROM), node = json_array_get(sent, GOTO_NODE);
    if (r->live || json_kind(from) != JSON_STRING || !json_string_is(from, when)) return HOOK_GO;
    *info = json_ref(node);
    return HOOK_GOTO;
}

/* It was counted before when the frame was parked here and let go, or changed, and when it is a further
 * attempt. */
static HookVerdict come_to(Recording *r, const HookPlace *place, Json *info) {
    Buf at = BUF_INIT;
    HookVerdict verdict = HOOK_GO;
    r->live = r->live || (r->live_from && place_is_called(place->node, r->live_from));
    add_live(r, place->frame, false, &at);
    Json text = place_text(&at);
    bool last = !safe_differ(json_array_get(last_of(r, place->frame), LAST_AT), text);
    bool seen = last && stage_of(r, place->frame) == LAST_SEEN;
    bool counted =
        last && stage_of(r, place->frame) != LAST_ENDED &&
        (place->again || place->looked || place->changed || frame_attempt(place->frame) > 0);
    if (seen || !counted) {
        int64_t nth = seen ? place_count(r->counts, &at) - 1 : place_count_one(&r->counts, &at);
        set_last(r, place->frame, &at, LAST_COUNTED);
        verdict = r->live ? HOOK_GO : change(r, &at, nth, "before", info);
    }
    json_unref(text);
    verdict = verdict == HOOK_GO ? go_elsewhere(r, &at, "before", info) : verdict;
    buf_clear(&at);
    return verdict;
}

static HookVerdict do_it(Recording *r, const HookPlace *place, const Buf *at, Json outcome) {
    bool by_hand = frame_is_edited(place->frame) || stage_of(r, place->frame) == LAST_TAKEN;
    bool counts = node_leaves(place->node) && stage_of(r, place->frame) != LAST_DONE;
    r->done += counts;
    if (counts && !r->live && !by_hand) note_missing(r, at, !json_is_none(outcome));
    set_last(r, place->frame, at, LAST_DONE);
    return HOOK_GO;
}

/* What is recorded of an execution is taken, unless it is of a node of another kind. */
static HookVerdict take(Recording *r, const HookPlace *place, const Buf *at, Json *info) {
    Json key = place_key(at, place_count(r->counts, at) - 1);
    Json found = json_object_get(r->outcomes, key);
    bool same = image_int(found, OUTCOME_KIND) == (int64_t)place->node->kind->id;
    Json outcome = same ? json_array_get(found, OUTCOME_INFO) : json_none();
    json_unref(key);
    bool can = json_kind(outcome) == JSON_OBJECT && !r->live && !frame_is_edited(place->frame);
    if (!can || stage_of(r, place->frame) != LAST_COUNTED) return do_it(r, place, at, outcome);
    set_last(r, place->frame, at, LAST_TAKEN);
    r->taken++;
    *info = json_ref(outcome);
    return HOOK_TAKE;
}

static HookVerdict leave(Recording *r, const HookPlace *place, Json *info) {
    Buf at = BUF_INIT;
    add_live(r, place->frame, false, &at);
    HookVerdict verdict = HOOK_GO;
    if (!r->live && !place->changed) {
        verdict = change(r, &at, place_count(r->counts, &at) - 1, "after", info);
    }
    verdict = verdict == HOOK_GO ? go_elsewhere(r, &at, "after", info) : verdict;
    set_last(r, place->frame, &at, LAST_ENDED);
    buf_clear(&at);
    return verdict;
}

HookVerdict recording_come_to(Recording *r, const HookPlace *place, Json *info) {
    return frame_injected(place->frame)     ? HOOK_GO
           : place->position == HOOK_BEFORE ? come_to(r, place, info)
           : place->position == HOOK_AFTER  ? leave(r, place, info)
                                            : HOOK_GO;
}

HookVerdict recording_take(Recording *r, const HookPlace *place, Json *info) {
    if (frame_injected(place->frame) || place->position != HOOK_BEFORE) return HOOK_GO;
    Buf at = BUF_INIT;
    add_live(r, place->frame, false, &at);
    HookVerdict verdict = take(r, place, &at, info);
    buf_clear(&at);
    return verdict;
}

static HookVerdict at_place(void *ctx, const HookPlace *place, Json *info) {
    HookVerdict verdict = recording_come_to(ctx, place, info);
    return verdict == HOOK_GO ? recording_take(ctx, place, info) : verdict;
}

const RunHooks recording_hooks = {.at = at_place};

/* ---- going back ---- */

/* What the run would have counted up to there is what a reader of its history counts. */
Json recording_counts(Store *store, const RecordingSource *there, Error *err) {
    Recording *then = recording_empty(there->live_from);
    Json counts = json_none();
    if (recording_read(then, store, there, err)) {
        counts = OBJECT(KEY("counts", json_ref(then->counts)), KEY("last", json_ref(then->last)),
                        KEY("live", then->live));
    }
    recording_free(then);
    return counts;
}

void recording_go_back(Recording *r, Json counts) {
    json_put(&r->counts, json_ref(json_object_get_c(counts, "counts")));
    json_put(&r->last, json_ref(json_object_get_c(counts, "last")));
    r->live = json_truthy(json_object_get_c(counts, "live"));
}

const char *recording_live_from(const Recording *r) {
    return r->live_from;
}
