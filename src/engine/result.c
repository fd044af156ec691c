/* result.c - results, as they point at the change of their checkpoint.
 *
 * Pointing is checked where it is written: the writer walks the very keys that the reader will, and compares
 * values by what they are in memory. What the walk does not find is written by value. */
#include "result.h"

#include "choice.h"
#include "json_binary.h"
#include "json_build.h"
#include "store_chain.h"

#include <string.h>

static bool is_failure(const Checkpoint *c) {
    return !strcmp(c->status, "failed") || !strcmp(c->status, "retrying");
}

/* ---- where a result is, when the patch has it ---- */

static LevelAt usual_level(const ResultPlace *p) {
    size_t depth = json_array_len(json_array_get(p->now, IMAGE_LEVELS));
    return (LevelAt){p->c->frame, depth ? depth - 1 : 0};
}

static Json state_of(const ResultPlace *p, size_t level) {
    return json_array_get(json_array_get(json_array_get(p->now, IMAGE_LEVELS), level), IMAGE_STATE);
}

/* What the frame that made this one, which is gone, got from it. */
static Json left_with(const ResultPlace *p, WaitKind kind) {
    int64_t frame = p->c->frame,
            branch = json_is_none(p->now) ? image_branch(p->before, frame) : -1;
    Json wait = branch < 0 ? json_none() : image_wait(p->after, image_parent(p->before, frame));
    Json all = wait_is(wait, kind) ? json_array_get(wait, wait_rows[kind].left) : json_none();
    return json_array_get(all, (size_t)branch);
}

/* The keys that were set, one by one: of a level that is there, those that the patch names in its state; of
 * a branch that is gone, all that it leaves with its join. */
typedef struct Keys {
    Json source; /* the state, or the writes {key: [value, node]}; JSON_NONE: neither */
    bool left;   /* the writes */
    Json patch,
        frame; /* paths are [IMAGE_FRAMES, frame, IMAGE_LEVELS, level, IMAGE_STATE, key, ...] */
    size_t level, at;
    Json last; /* key */
} Keys;

enum { PATH_FRAME = 1, PATH_LEVEL = 3, PATH_KEY = 5 };
enum { CHANGE_PATH, CHANGE_VALUE, CHANGE_TO, CHANGE_ITEMS, CHANGE_SPLICE };

static Keys keys_of(const ResultPlace *p, size_t level) {
    Keys k = {.patch = p->patch, .frame = p->key, .level = level, .left = json_is_none(p->now)};
    Json source = k.left ? left_with(p, WAIT_JOIN) : state_of(p, level);
    k.source = json_kind(source) == JSON_OBJECT ? source : json_none();
    return k;
}

static Json key_value(const Keys *k, Json key) {
    Json value = json_object_get(k->source, key);
    return k->left ? json_array_get(value, 0) : value;
}

/* The key of the state that a change is of; JSON_NONE: of none. */
static Json changed_key(const Keys *k, Json change) {
    Json path = json_array_get(change, CHANGE_PATH);
    if (json_array_len(path) <= PATH_KEY || image_int(path, PATH_LEVEL) != (int64_t)k->level ||
        image_int(path, 0) != IMAGE_FRAMES || image_int(path, 2) != IMAGE_LEVELS ||
        image_int(path, 4) != IMAGE_STATE) {
        return json_none();
    }
    Json frame = json_array_get(path, PATH_FRAME), key = json_array_get(path, PATH_KEY);
    bool its = json_kind(frame) == JSON_STRING && json_string_equal(frame, k->frame);
    return its && json_kind(key) == JSON_STRING ? key : json_none();
}

static bool next_key(Keys *k, Json *key, Json *value) {
    Json entry;
    if (k->left) {
        bool more = !json_is_none(k->source) && json_object_next(k->source, &k->at, key, &entry);
        *value = more ? json_array_get(entry, 0) : json_none();
        return more;
    }
    for (size_t n = json_array_len(k->patch); k->at < n;) {
        *key = changed_key(k, json_array_get(k->patch, k->at++));
        bool again =
            json_is_none(*key) || (!json_is_none(k->last) && json_string_equal(k->last, *key));
        *value = again ? json_none() : key_value(k, *key);
        if (!json_is_none(*value)) {
            k->last = *key;
            return true;
        }
    }
    return false;
}

/* What a frame, or the run, is left with. */
static Json error_left(const ResultPlace *p) {
    Json wait = image_wait(p->after, p->c->frame);
    Json error = wait_is(wait, WAIT_FAILED)  ? json_array_get(wait, WAIT_FAILED_ERROR)
                 : wait_is(wait, WAIT_RETRY) ? json_array_get(wait, WAIT_UNTIL + 2)
                                             : json_none();
    return json_kind(error) == JSON_OBJECT
               ? error
               : json_array_get(json_array_get(p->after, IMAGE_RUN), IMAGE_ERROR);
}

/* ---- writing ---- */

static bool is_all_of(Keys keys, Json update) {
    Json key, value, name, given;
    size_t pos = 0;
    while (json_object_next(update, &pos, &name, &given)) {
        if (!next_key(&keys, &key, &value) || !json_string_equal(key, name) ||
            !json_identical(value, given)) {
            return false;
        }
    }
    return !next_key(&keys, &key, &value);
}

static bool are_items_of(Json items, Json array) {
    size_t n = json_array_len(items);
    bool same = json_kind(array) == JSON_ARRAY && json_array_len(array) == n;
    for (size_t i = 0; same && i < n; i++) {
        same = json_identical(json_array_get(items, i), json_array_get(array, i));
    }
    return same;
}

/* What a change puts to its key as a whole; JSON_NONE: it puts something inside it. */
static Json put_by(Json change) {
    bool whole = json_array_len(json_array_get(change, CHANGE_PATH)) == PATH_KEY + 1;
    size_t parts = json_array_len(change);
    return !whole                   ? json_none()
           : parts == CHANGE_SPLICE ? json_array_get(change, CHANGE_ITEMS)
           : parts == CHANGE_TO     ? json_array_get(change, CHANGE_VALUE)
                                    : json_none();
}

/* The number of the change that puts a value to a key; -1: none. */
static int64_t change_of(const Keys *k, Json key, Json given) {
    enum { LOOKED_AT_MAX = 64 };
    size_t n = k->left ? 0 : json_array_len(k->patch);
    for (size_t i = 0; i < n && i < LOOKED_AT_MAX; i++) {
        Json change = json_array_get(k->patch, i), name = changed_key(k, change);
        Json put = put_by(change);
        if (!json_is_none(name) && json_string_equal(name, key) &&
            (json_identical(put, given) || are_items_of(put, given))) {
            return (int64_t)i;
        }
    }
    return -1;
}

/* An object as entries; given. */
static Json entries_of(const Keys *k, Json object) {
    Json entries = json_array(), key, value;
    for (size_t pos = 0; json_object_next(object, &pos, &key, &value);) {
        int64_t change = change_of(k, key, value);
        Json entry = json_int(change);
        if (change < 0 && json_identical(key_value(k, key), value)) {
            entry = json_ref(key);
        } else if (change < 0) {
            entry = ARRAY(json_ref(key), json_ref(value));
        }
        entries = json_array_push(entries, entry);
    }
    return entries;
}

/* The scope that a task ran in, as a source of the variables that it set. */
static Keys scope_of(const ResultPlace *p, LevelAt at) {
    return (Keys){.source = json_is_none(p->now) ? p->now : image_seen(p->after, at)};
}

/* The parts, variables as entries of a scope; given. */
static Json parts_of(const ResultPlace *p, const StepResult *r, const Keys *scope) {
    LevelAt usual = usual_level(p);
    Json at = json_none();
    if (r->at.frame != usual.frame || r->at.level != usual.level) {
        at = ARRAY(json_int(r->at.frame), json_int((int64_t)r->at.level));
    }
    Json set = json_kind(r->set) == JSON_OBJECT ? entries_of(scope, r->set) : json_none();
    return OBJECT(KEY("update", json_ref(r->update)), KEY("error", json_ref(r->error)),
                  KEY("set", set), KEY("by_hand", json_ref(r->by_hand)),
                  KEY("after", r->after ? json_bool(true) : json_none()), KEY("at", at));
}

/* The form that is written, given; JSON_NONE: no bytes. */
static Json form_of(const ResultPlace *p, const StepResult *r) {
    LevelAt usual = usual_level(p);
    bool failed = is_failure(p->c), update = !json_is_none(r->update);
    bool plain = json_is_none(r->set) && json_is_none(r->by_hand) && r->at.frame == usual.frame &&
                 r->at.level == usual.level && json_is_none(r->error) == update;
    if (plain && update && !p->task && json_kind(r->update) == JSON_OBJECT &&
        !json_identical(state_of(p, r->at.level), r->update) && !p->element) {
        Keys keys = keys_of(p, r->at.level);
        return !failed && is_all_of(keys, r->update) ? json_none() : entries_of(&keys, r->update);
    }
    Json there = !plain       ? json_none()
                 : !update    ? error_left(p)
                 : p->element ? left_with(p, WAIT_MAP)
                              : state_of(p, r->at.level);
    Json given = update ? r->update : r->error;
    if (!json_is_none(given) && json_identical(there, given) && failed == !update) {
        return update && !p->element ? json_bool(true) : json_none();
    }
    if (plain && p->task && json_kind(r->update) == JSON_NULL) return json_null();
    Keys scope = scope_of(p, r->at);
    return parts_of(p, r, &scope);
}

bool checkpoint_ends_node(const char *node, const char *status) {
    static const char *const words[] = {"completed", "failed", "skipped"};
    bool ends = false;
    for (size_t i = 0; *node && !ends && i < sizeof words / sizeof words[0]; i++) {
        ends = !strcmp(status, words[i]);
    }
    return ends;
}

static bool is_own(const Checkpoint *c, LevelAt at, const Choice *choice) {
    return choice->at.frame == c->frame && at.frame == c->frame && choice->at.level == at.level &&
           !strcmp(choice->node->name, c->node);
}

/* With the edges that were chosen. Consumes form. */
static Json with_edges(Json form, Json edges) {
    return OBJECT(KEY("edges", edges), KEY("as", form));
}

static Json with_choices(const ResultPlace *p, LevelAt at, Json form) {
    if (p->nchoices == 1 && p->choices->edge >= 0 && json_is_none(form) &&
        choice_is_plain(p->choices) && is_own(p->c, at, p->choices)) {
        return json_int(p->choices->edge);
    }
    Json edges = json_array();
    for (size_t i = 0; i < p->nchoices; i++) {
        if (p->choices[i].edge >= 0) edges = json_array_push(edges, choice_json(&p->choices[i]));
    }
    if (json_array_len(edges)) return with_edges(form, edges);
    json_unref(edges);
    return form;
}

/* With who asked for it. Consumes form. */
static Json with_by(Json form, Json by) {
    return json_is_none(by) ? form : OBJECT(KEY("by", json_ref(by)), KEY("as", form));
}

void result_encode_by(const char *by, Buf *out) {
    Json form = OBJECT(KEY("by", by), KEY("as", json_object()));
    json_encode(form, out);
    json_unref(form);
}

bool result_encode(const ResultPlace *p, const StepResult *r, Buf *out) {
    bool any = !json_is_none(r->update) || !json_is_none(r->error) || !json_is_none(r->set) ||
               !json_is_none(r->by_hand);
    bool ends = any || checkpoint_ends_node(p->c->node, p->c->status);
    bool asked = !json_is_none(r->by);
    if (!ends && !p->nchoices && !asked) return false;
    Json form = ends ? form_of(p, r) : json_object();
    if (p->nchoices) form = with_choices(p, r->at, form);
    form = with_by(form, r->by);
    bool says = ends || json_object_len(form);
    if (!json_is_none(form) && says) json_encode(form, out);
    json_unref(form);
    return says;
}

/* ---- reading ---- */

/* What the patch has; given. */
static Json pointed_at(const ResultPlace *p, size_t level) {
    Json left = left_with(p, WAIT_MAP), update, key, value;
    if (!json_is_none(left)) return json_ref(left);
    Keys keys = keys_of(p, level);
    for (update = json_object(); next_key(&keys, &key, &value);) {
        update = json_object_set(update, json_ref(key), json_ref(value));
    }
    return update;
}

/* The object that entries stand for; given. */
static Json object_of(const Keys *k, Json entries) {
    Json object = json_object();
    for (size_t i = 0; i < json_array_len(entries); i++) {
        Json entry = json_array_get(entries, i), key = entry, value = json_none();
        if (json_tag(entry) == JSON_TAG_INT) {
            Json change = entry.i >= 0 ? json_array_get(k->patch, (size_t)entry.i) : json_none();
            key = changed_key(k, change);
            value = put_by(change);
        } else if (json_kind(entry) == JSON_STRING) {
            value = key_value(k, key);
        } else {
            key = json_array_get(entry, 0);
            value = json_array_get(entry, 1);
        }
        if (json_kind(key) == JSON_STRING && !json_is_none(value)) {
            object = json_object_set(object, json_ref(key), json_ref(value));
        }
    }
    return object;
}

/* Changes as HOOK_CHANGE has them: those that are none are left out. Given. */
static Json changes_in(Json list) {
    Json changes = json_array();
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json one = json_array_get(list, i);
        if (json_kind(one) == JSON_OBJECT || json_kind(json_array_get(one, 0)) == JSON_ARRAY) {
            changes = json_array_push(changes, json_ref(one));
        }
    }
    return changes;
}

static void read_parts(const ResultPlace *p, Json form, StepResult *out) {
    Json at = json_object_get_c(form, "at"), set = json_object_get_c(form, "set");
    if (json_array_len(at) == 2 && image_int(at, 0) > 0 && image_int(at, 1) >= 0) {
        out->at = (LevelAt){image_int(at, 0), (size_t)image_int(at, 1)};
    }
    out->update = json_ref(json_object_get_c(form, "update"));
    out->error = json_ref(json_object_get_c(form, "error"));
    if (!json_is_none(json_object_get_c(form, "by_hand"))) {
        out->by_hand = changes_in(json_object_get_c(form, "by_hand"));
    }
    out->after = json_truthy(json_object_get_c(form, "after"));
    if (json_kind(set) == JSON_ARRAY) {
        Keys scope = scope_of(p, out->at);
        out->set = object_of(&scope, set);
    }
}

static void read_form(const ResultPlace *p, Json form, StepResult *out) {
    if (json_is_none(form) && is_failure(p->c)) {
        out->error = json_ref(error_left(p));
    } else if (json_is_none(form)) {
        out->update = pointed_at(p, out->at.level);
    } else if (json_kind(form) == JSON_TRUE) {
        out->update = json_ref(state_of(p, out->at.level));
    } else if (json_kind(form) == JSON_ARRAY) {
        Keys keys = keys_of(p, out->at.level);
        out->update = object_of(&keys, form);
    } else if (json_kind(form) == JSON_OBJECT) {
        read_parts(p, form, out);
    } else {
        out->update = json_null();
    }
    if (is_failure(p->c) && json_is_none(out->error)) {
        out->error = json_ref(json_object_get_c(out->update, "error"));
    }
}

/* Takes the edges out of a form. Consumes it, and gives what is left. */
static Json read_edges(const Checkpoint *c, Json form, StepResult *out) {
    if (json_tag(form) == JSON_TAG_INT) {
        out->edges = ARRAY(ARRAY(json_bool(false), form, json_null(), json_int(c->frame),
                                 json_int((int64_t)out->at.level), json_string_c(c->node)));
        return json_none();
    }
    Json edges = json_object_get_c(form, "edges");
    if (json_kind(edges) != JSON_ARRAY) return form;
    Json as = json_ref(json_object_get_c(form, "as"));
    out->edges = json_ref(edges);
    json_unref(form);
    return as;
}

/* The same for who asked for it. */
static Json read_by(Json form, StepResult *out) {
    Json by = json_object_get_c(form, "by");
    if (json_kind(by) != JSON_STRING) return form;
    Json as = json_ref(json_object_get_c(form, "as"));
    out->by = json_ref(by);
    json_unref(form);
    return as;
}

bool result_read(const Checkpoint *c, Json before, Json after, StepResult *out) {
    Json form = c->result_len ? chain_decode(c->result, c->result_len, NULL) : json_none();
    ResultPlace p = {.c = c,
                     .before = before,
                     .after = after,
                     .patch = chain_decode(c->patch, c->patch_len, NULL),
                     .key = json_string_fmt("%lld", (long long)c->frame),
                     .now = image_frame(after, c->frame)};
    bool sound = c->result && (!c->result_len || !json_is_none(form));
    *out = (StepResult){.at = usual_level(&p)};
    if (sound) {
        form = read_edges(c, read_by(form, out), out);
        read_form(&p, form, out);
    }
    json_unref(p.patch);
    json_unref(p.key);
    json_unref(form);
    return sound;
}

bool result_has_edges(const Checkpoint *c) {
    StepResult r = {0};
    Json form =
        read_by(c->result_len ? chain_decode(c->result, c->result_len, NULL) : json_none(), &r);
    bool has = json_tag(form) == JSON_TAG_INT || !json_is_none(json_object_get_c(form, "edges"));
    json_unref(form);
    result_clear(&r);
    return has;
}

Json result_by(const Checkpoint *c) {
    StepResult r = {0};
    if (!c->result_len) return json_none();
    json_unref(read_by(chain_decode(c->result, c->result_len, NULL), &r));
    return r.by;
}

void result_clear(StepResult *r) {
    json_clear(&r->update);
    json_clear(&r->error);
    json_clear(&r->set);
    json_clear(&r->by_hand);
    json_clear(&r->edges);
    json_clear(&r->by);
}

bool result_by_value(const Checkpoint *c, Json before, Json after, Buf *out) {
    StepResult r;
    Keys nowhere = {0};
    if (!result_read(c, before, after, &r)) return false;
    Json form = parts_of(&(ResultPlace){.c = c, .now = image_frame(after, c->frame)}, &r, &nowhere);
    if (!json_is_none(r.edges)) form = with_edges(form, json_ref(r.edges));
    form = with_by(form, r.by);
    json_encode(form, out);
    json_unref(form);
    result_clear(&r);
    return true;
}
