/* recording_take.c - a recording in the hands of a run. */
#include "recording_inside.h"

#include <stdlib.h>

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
        if (!top || whole) {
            place_add_again(out, count > 0 ? count : 0, top ? frame_attempt(f) : 0);
        }
        if (!top) {
            buf_addc(out, '/');
        }
    }
}

static Json last_of(const Recording *r, const Frame *f) {
    Json frame = place_frame_key(frame_id(f)), last = safe_get(r->last, frame);
    json_unref(frame);
    return last;
}

static bool is_last(const Recording *r, const Frame *f, Json text) {
    Json last = last_of(r, f);
    return !json_is_none(last) && json_string_equal(json_array_get(last, LAST_AT), text);
}

static void set_last(Recording *r, const Frame *f, Json text, LastStage stage) {
    Json parts[] = {json_ref(text), json_int(stage)};
    r->last = json_object_set(r->last, place_frame_key(frame_id(f)), json_array_from(parts, 2));
}

static LastStage stage_of(const Recording *r, const Frame *f) {
    return (LastStage)safe_int(last_of(r, f), LAST_STAGE);
}

/* It was counted before when the frame was parked here and let go, or changed, and when it is a further
 * attempt. */
static bool is_counted(const Recording *r, const HookPlace *place, Json text) {
    bool may_be =
        place->again || place->looked || place->changed || frame_attempt(place->frame) > 0;
    return may_be && is_last(r, place->frame, text) && stage_of(r, place->frame) != LAST_ENDED;
}

static void note_missing(Recording *r, const Buf *at, bool unfinished) {
    const char *end = memchr(at->data, '\n', at->len);
    size_t frame = (size_t)(end - at->data);
    if (json_array_len(r->missing) == RECORDING_MISSING_MAX) {
        r->more = true;
        return;
    }
    Json one = json_object_with(json_object(), "frame", json_string(at->data, frame));
    one = json_object_with(one, "node", json_string(end + 1, at->len - frame - 1));
    one = json_object_with(one, "unfinished", json_bool(unfinished));
    r->missing = json_array_push(r->missing, one);
}

/* What is recorded of an execution; JSON_NONE: nothing, or it is of a node of another kind. */
static Json found(const Recording *r, const Node *node, const Buf *at, int64_t nth) {
    Json key = place_key(at, nth), outcome = json_object_get(r->outcomes, key);
    json_unref(key);
    bool same =
        !json_is_none(outcome) && safe_int(outcome, OUTCOME_KIND) == (int64_t)node->kind->id;
    return same ? json_array_get(outcome, OUTCOME_INFO) : json_none();
}

static Json changes_at(const Recording *r, const Buf *at, int64_t nth, const char *what) {
    Json key = place_key(at, nth), changes = safe_get_c(safe_get(r->changes, key), what);
    json_unref(key);
    return changes;
}

/* What was changed before or after an execution: HOOK_CHANGE if anything was. */
static HookVerdict change(const Recording *r, const Buf *at, int64_t nth, const char *when,
                          Json *info) {
    Json changes = changes_at(r, at, nth, when);
    if (json_is_none(changes)) {
        return HOOK_GO;
    }
    *info = json_ref(changes);
    return HOOK_CHANGE;
}

/* Where a person sent the frame from before or after an execution: HOOK_GOTO if anywhere. */
static HookVerdict go_elsewhere(const Recording *r, const Buf *at, const char *when, Json *info) {
    Json sent = changes_at(r, at, place_count(r->counts, at) - 1, "goto");
    Json from = safe_item(sent, GOTO_FROM), node = safe_item(sent, GOTO_NODE);
    if (r->live || json_kind(from) != JSON_STRING || !json_string_is(from, when)) {
        return HOOK_GO;
    }
    *info = json_ref(node);
    return HOOK_GOTO;
}

static HookVerdict arrive(Recording *r, const HookPlace *place, const Buf *at, Json *info) {
    Json text = place_text(at);
    HookVerdict verdict = HOOK_GO;
    bool seen = is_last(r, place->frame, text) && stage_of(r, place->frame) == LAST_SEEN;
    if (seen || !is_counted(r, place, text)) {
        int64_t nth = seen ? place_count(r->counts, at) - 1 : place_count_one(&r->counts, at);
        set_last(r, place->frame, text, LAST_COUNTED);
        verdict = r->live ? HOOK_GO : change(r, at, nth, "before", info);
    }
    json_unref(text);
    return verdict;
}

static HookVerdict come_to(Recording *r, const HookPlace *place, Json *info) {
    Buf at = BUF_INIT;
    r->live = r->live || (r->live_from && place_is_called(place->node, r->live_from));
    add_live(r, place->frame, false, &at);
    HookVerdict verdict = arrive(r, place, &at, info);
    verdict = verdict == HOOK_GO ? go_elsewhere(r, &at, "before", info) : verdict;
    buf_clear(&at);
    return verdict;
}

static HookVerdict do_it(Recording *r, const HookPlace *place, const Buf *at, Json outcome) {
    Json text = place_text(at);
    bool by_hand = frame_is_edited(place->frame) || stage_of(r, place->frame) == LAST_TAKEN;
    bool counts = node_leaves(place->node) && stage_of(r, place->frame) != LAST_DONE;
    r->done += counts;
    if (counts && !r->live && !by_hand) {
        note_missing(r, at, !json_is_none(outcome));
    }
    set_last(r, place->frame, text, LAST_DONE);
    json_unref(text);
    return HOOK_GO;
}

static HookVerdict take(Recording *r, const HookPlace *place, const Buf *at, Json *info) {
    Json outcome = found(r, place->node, at, place_count(r->counts, at) - 1);
    bool can = json_kind(outcome) == JSON_OBJECT && !r->live && !frame_is_edited(place->frame);
    if (!can || stage_of(r, place->frame) != LAST_COUNTED) {
        return do_it(r, place, at, outcome);
    }
    Json text = place_text(at);
    set_last(r, place->frame, text, LAST_TAKEN);
    json_unref(text);
    r->taken++;
    *info = json_ref(outcome);
    return HOOK_TAKE;
}

static HookVerdict leave(Recording *r, const HookPlace *place, Json *info) {
    Buf at = BUF_INIT;
    add_live(r, place->frame, false, &at);
    Json text = place_text(&at);
    HookVerdict verdict = HOOK_GO;
    if (!r->live && !place->changed) {
        verdict = change(r, &at, place_count(r->counts, &at) - 1, "after", info);
    }
    verdict = verdict == HOOK_GO ? go_elsewhere(r, &at, "after", info) : verdict;
    set_last(r, place->frame, text, LAST_ENDED);
    json_unref(text);
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
    if (frame_injected(place->frame) || place->position != HOOK_BEFORE) {
        return HOOK_GO;
    }
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

static void see_nothing(void *ctx, Frame *frame) {
    (void)ctx;
    (void)frame;
}

const RunHooks recording_hooks = {
    .at = at_place, .frame_new = see_nothing, .frame_end = see_nothing};

/* ---- going back ---- */

/* What the run would have counted up to there is what a reader of its history counts. */
bool recording_go_back(Recording *r, Store *store, const RecordingSource *there, Error *err) {
    Recording *then = recording_empty(r->live_from);
    bool ok = recording_read(then, store, there, err);
    if (ok) {
        json_unref(r->counts);
        json_unref(r->last);
        r->counts = json_ref(then->counts);
        r->last = json_ref(then->last);
        r->live = then->live;
    }
    recording_free(then);
    return ok;
}
