/* session_breakpoints.c - breakpoints and watches. */
#include "session_calls.h"

#include "json_build.h"
#include "mem.h"
#include "problems.h"
#include "saved.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- setting ---- */

/* The fields of one breakpoint, from however it is given: fields, a spec, or a spec with fields beside it that go
 * before what it says. Given. */
static Json fields_of(Json item, Error *err) {
    bool alone = json_kind(item) == JSON_STRING, object = json_kind(item) == JSON_OBJECT;
    Json spec = alone ? item : object ? json_object_get_c(item, "spec") : json_none();
    if (!alone && !object) {
        error_set(err, ERR_USAGE,
                  "A breakpoint is an object of fields or a text like `NODE if "
                  "EXPR`.");
        return json_none();
    }
    if (json_is_none(spec)) return json_ref(item);
    if (json_kind(spec) != JSON_STRING) {
        error_set(err, ERR_USAGE, "`spec` of a breakpoint must be a string.");
        return json_none();
    }
    Json fields = breakpoint_parse(json_string_data(&spec), err);
    if (!json_is_none(fields) && object) {
        Json beside = json_object_remove(json_ref(item), json_string_c("spec")), said = fields;
        fields = breakpoint_merge(said, beside);
        json_unref(said);
        json_unref(beside);
    }
    return fields;
}

/* Sets it; JSON_NONE on error. Consumes fields. */
static Json set_one(Session *session, Json fields, Error *err) {
    Breakpoint *b = json_is_none(fields) ? NULL : session_break(session, fields, err);
    json_unref(fields);
    return b ? breakpoints_json(session_breakpoints(session), b) : json_none();
}

/* The fields of each, tried without being set. JSON_NONE when one is wrong. Given. */
static Json try_all(const Session *session, Json items, Error *err) {
    Json all = json_array();
    const Flow *flow = run_flow(session_run(session));
    for (size_t i = 0; i < json_array_len(items); i++) {
        Json fields = fields_of(json_array_get(items, i), err);
        Breakpoint *b = json_is_none(fields) ? NULL : breakpoint_new(0, fields, flow, err);
        all = json_array_push(all, json_is_none(fields) ? json_null() : fields);
        if (!b) {
            char around[64];
            snprintf(around, sizeof around, "breakpoints[%zu]", i);
            error_wrap(err, "Breakpoint %zu of `breakpoints`", i + 1);
            error_field_inside(err, around);
            json_clear(&all);
            break;
        }
        breakpoint_free(b);
    }
    return all;
}

/* Takes back those that are set when a later one could not be: all of them or none. */
static void take_back(Session *session, Json *set) {
    for (size_t i = 0; i < json_array_len(*set); i++) {
        session_delete_break(session, args_int(json_array_get(*set, i), "id", 0));
    }
    json_clear(set);
}

static Json set_all(Session *session, Json items, Error *err) {
    Json all = try_all(session, items, err), out = json_array();
    if (json_is_none(all)) json_clear(&out);
    for (size_t i = 0; !json_is_none(out) && i < json_array_len(items); i++) {
        Json one = set_one(session, json_ref(json_array_get(all, i)), err);
        if (json_is_none(one)) {
            take_back(session, &out);
        } else {
            out = json_array_push(out, one);
        }
    }
    json_unref(all);
    return debug_answer_with("breakpoints", out);
}

Json debug_break_set(Session *session, Json args, Error *err) {
    Json several = json_object_get_c(args, "breakpoints");
    if (json_is_none(several)) {
        return debug_answer_with("breakpoint", set_one(session, fields_of(args, err), err));
    }
    if (json_object_len(args) > 1) {
        error_set(err, ERR_USAGE,
                  "`breakpoint_set` takes `breakpoints` alone: each of them has its own fields.");
        return json_none();
    }
    return set_all(session, several, err);
}

Json debug_break_change(Session *session, Json args, Error *err) {
    Json fields = json_object_remove(json_ref(args), json_string_c("id"));
    Breakpoint *b = session_change_break(session, args_int(args, "id", 0), fields, err);
    json_unref(fields);
    return b ? debug_answer_with("breakpoint", breakpoints_json(session_breakpoints(session), b))
             : json_none();
}

static bool is_value(Json field, Json value) {
    return !json_is_none(field) && json_equal(field, value);
}

static bool is_asked_for(const Breakpoint *b, Json args) {
    Json node = json_object_get_c(args, "node"), group = json_object_get_c(args, "group");
    Json enabled = json_object_get_c(args, "enabled");
    bool at = json_is_none(node) || is_value(json_object_get_c(b->spec, "node"), node);
    for (size_t i = 0; !at && i < b->places; i++) at = json_equal(b->at[i]->name_json, node);
    return at && (json_is_none(group) || is_value(json_object_get_c(b->spec, "group"), group)) &&
           (json_is_none(enabled) || json_truthy(enabled) == b->enabled);
}

Json debug_breaks(Session *session, Json args, Error *err) {
    const Breakpoints *points = session_breakpoints(session);
    Json all = json_array();
    (void)err;
    for (size_t i = 0; i < breakpoints_count(points); i++) {
        const Breakpoint *b = breakpoints_at(points, i);
        if (is_asked_for(b, args)) all = json_array_push(all, breakpoints_json(points, b));
    }
    return debug_answer_with("breakpoints", all);
}

/* ---- choosing: {id | ids | group | all} ---- */

/* group JSON_NONE: all. */
static Json ids_of_group(const Breakpoints *points, Json group, Error *err) {
    Json ids = json_array();
    for (size_t i = 0; i < breakpoints_count(points); i++) {
        const Breakpoint *b = breakpoints_at(points, i);
        if (json_is_none(group) || is_value(json_object_get_c(b->spec, "group"), group)) {
            ids = json_array_push(ids, json_int(b->id));
        }
    }
    if (!json_is_none(group) && json_array_len(ids) == 0) {
        error_set(err, ERR_NOT_FOUND, "No breakpoint is in the group `%s`.",
                  shown(json_string_data(&group), json_string_len(group)));
        json_clear(&ids);
    }
    return ids;
}

static bool is_there(const Breakpoints *points, Json id, Error *err) {
    if (json_tag(id) != JSON_TAG_INT) {
        return error_set(err, ERR_USAGE, "Each of `ids` must be the number of a breakpoint.");
    }
    bool found = breakpoints_find(points, id.i);
    if (!found) {
        debug_no_such(err, ids_of_group(points, json_none(), NULL),
                      "There is no breakpoint %" PRId64, id.i);
    }
    return found;
}

/* The numbers of those that are meant, all of which are there. Given; JSON_NONE on error. */
static Json chosen(const Session *session, Json args, Error *err) {
    const Breakpoints *points = session_breakpoints(session);
    Json ids = json_object_get_c(args, "ids");
    if (args_has(args, "id")) {
        ids = json_array_push(json_array(), json_int(args_int(args, "id", 0)));
    } else if (json_is_none(ids)) {
        return ids_of_group(points, json_object_get_c(args, "group"), err);
    } else {
        json_ref(ids);
    }
    for (size_t i = 0; i < json_array_len(ids); i++) {
        if (!is_there(points, json_array_get(ids, i), err)) {
            json_clear(&ids);
            break;
        }
    }
    return ids;
}

Json debug_break_delete(Session *session, Json args, Error *err) {
    Json ids = chosen(session, args, err), deleted = json_array();
    if (json_is_none(ids)) {
        json_unref(deleted);
        return ids;
    }
    for (size_t i = 0; i < json_array_len(ids); i++) {
        Json id = json_array_get(ids, i);
        if (session_delete_break(session, id.i)) deleted = json_array_push(deleted, id);
    }
    json_unref(ids);
    return debug_answer_with("deleted", deleted);
}

Json debug_break_enable(Session *session, Json args, Error *err) {
    Json ids = chosen(session, args, err);
    for (size_t i = 0; !json_is_none(ids) && i < json_array_len(ids); i++) {
        Breakpoint *b = breakpoints_find(session_breakpoints(session), json_array_get(ids, i).i);
        session_enable_break(session, b, args_bool(args, "enabled", true));
    }
    return debug_answer_with("changed", ids);
}

/* ---- watches ---- */

/* Keys of session_watches() are numbers as text. */
static int64_t watch_id(Json key) {
    return strtoll(json_string_data(&key), NULL, 10);
}

static Json watch_facts(int64_t id, Json expression) {
    return OBJECT(KEY("id", id), KEY("expression", json_ref(expression)));
}

Json debug_watch_add(Session *session, Json args, Error *err) {
    int64_t id = session_watch(session, json_object_text(args, "expression"), err);
    return id ? debug_answer_with("watch", watch_facts(id, json_object_get_c(args, "expression")))
              : json_none();
}

static Json watch_ids(const Session *session) {
    Json ids = json_array(), key, expression;
    for (size_t pos = 0; json_object_next(session_watches(session), &pos, &key, &expression);) {
        ids = json_array_push(ids, json_int(watch_id(key)));
    }
    return ids;
}

Json debug_watch_delete(Session *session, Json args, Error *err) {
    int64_t id = args_int(args, "id", 0);
    Json ids =
        args_has(args, "all") ? watch_ids(session) : json_array_push(json_array(), json_int(id));
    for (size_t i = 0; i < json_array_len(ids); i++) {
        if (!session_unwatch(session, json_array_get(ids, i).i)) {
            debug_no_such(err, watch_ids(session), "There is no watch %" PRId64, id);
            json_clear(&ids);
            break;
        }
    }
    return debug_answer_with("deleted", ids);
}

enum { WATCHES_MS = 5000, WATCH_NS = 1000000 /* of each at least */ };

/* Where watches are evaluated; why is what it says of all of them when there is nowhere. */
typedef struct WatchPlace {
    Frame *frame;
    Json state;
    Error why;
} WatchPlace;

/* A frame that was asked for must be there. When none was, and none is selected, each watch says
 * so: the list is wanted all the same. */
static bool find_place(Session *session, Json args, WatchPlace *place, Error *err) {
    place->frame = args_frame(session, args, &place->why);
    if (place->frame) place->state = frame_will_see(place->frame, &place->why);
    if (json_is_none(place->state)) place->frame = NULL;
    if (!place->frame && args_has(args, "frame")) {
        return error_set(err, place->why.code, "%s", place->why.msg);
    }
    return true;
}

/* A watch on its way to an answer: what is known of it, and its evaluation, or why there is none. */
typedef struct Watched {
    Json facts;
    InspectRun *run;
    Error why;
} Watched;

/* Watches that are evaluated, one after the other. There may be many, so they share a time: each has an even part of what those
 * before it have left. */
typedef struct Watching {
    HostWork work; /* first */
    Watched *items;
    size_t n, at;
    uint64_t left, worked; /* nanoseconds: of all, and what this one has used */
    Json list;             /* of those before it */
    Json around;
    Reply reply;
} Watching;

/* NULL: the frame that was asked for is not there. */
static Watching *watching(Session *session, Json args, Error *err) {
    WatchPlace place = {.why = ERROR_INIT};
    Json key, expression, watches = session_watches(session);
    if (!find_place(session, args, &place, err)) return NULL;
    Watching *w = mem_zalloc(sizeof *w);
    *w = (Watching){.items = mem_zalloc((json_object_len(watches) + 1) * sizeof *w->items),
                    .left = (uint64_t)WATCHES_MS * 1000000,
                    .list = json_array(),
                    .around = json_none()};
    for (size_t pos = 0; json_object_next(watches, &pos, &key, &expression);) {
        Watched *item = &w->items[w->n++];
        *item = (Watched){.facts = watch_facts(watch_id(key), expression), .why = place.why};
        if (place.frame) {
            DebugEval eval = {place.frame, place.state, expression, 0, debug_is_exact(session)};
            item->run = debug_eval_begin(&eval, &item->why);
        }
    }
    json_unref(place.state);
    return w;
}

/* Adds what came of one to the list. */
static void take_watched(Watching *w, Watched *item) {
    Json found = item->run ? inspect_eval_end(item->run, &item->why) : json_none(), key, value;
    Json out = json_take(&item->facts);
    if (json_is_none(found)) out = json_object_with(out, "error", json_string_c(item->why.msg));
    for (size_t pos = 0; json_object_next(found, &pos, &key, &value);) {
        if (json_truthy(value)) { /* `more` and what goes with it only where there is more */
            out = json_object_set(out, json_ref(key), json_ref(value));
        }
    }
    json_unref(found);
    w->list = json_array_push(w->list, out);
    item->run = NULL;
}

static bool watch_on(HostWork *work, uint64_t until) {
    Watching *w = (Watching *)work;
    for (uint64_t now = uv_hrtime(); w->at < w->n && now < until;) {
        Watched *item = &w->items[w->at];
        uint64_t share = w->left / (w->n - w->at), then = now;
        if (share < WATCH_NS) share = WATCH_NS;
        uint64_t own = share > w->worked ? share - w->worked : 0;
        bool ended =
            !item->run || inspect_eval_go_on(item->run, own < until - now ? now + own : until);
        now = uv_hrtime();
        w->worked += now - then;
        if (!ended && w->worked < share) continue;
        if (!ended) {
            inspect_eval_end(item->run, NULL);
            item->run = NULL;
            error_set(&item->why, ERR_LIMIT,
                      "The expression takes too long: %zu watches have %d s all together.", w->n,
                      WATCHES_MS / 1000);
        }
        take_watched(w, item);
        w->left -= w->worked < w->left ? w->worked : w->left;
        w->worked = 0;
        w->at++;
    }
    return w->at == w->n;
}

/* The answer, of one that has ended; frees it. */
static Json watched(Watching *w) {
    while (w->at < w->n) take_watched(w, &w->items[w->at++]);
    Json out = json_object_with(w->around, "watches", w->list);
    mem_free(w->items);
    mem_free(w);
    return out;
}

Json debug_with_watches(Session *session, Json args, Json around, Error *err) {
    Watching *w = watching(session, args, err);
    if (!w) {
        json_unref(around);
        return json_none();
    }
    w->around = around;
    watch_on(&w->work, UINT64_MAX);
    return watched(w);
}

static void on_watched(HostWork *work, const Error *given_up) {
    Watching *w = (Watching *)work;
    Reply reply = w->reply;
    Json out = watched(w);
    if (given_up) json_clear(&out);
    reply.give(reply.ctx, out, given_up);
}

void debug_with_watches_later(Host *host, Session *session, Json args, Json around, Reply reply) {
    Error err = ERROR_INIT;
    Watching *w = watching(session, args, &err);
    if (!w) {
        json_unref(around);
        reply_fail(reply, &err);
        return;
    }
    w->work = (HostWork){.go_on = watch_on, .done = on_watched};
    w->around = around;
    w->reply = reply;
    host_work(host, &w->work);
}

Json debug_watches(Session *session, Json args, Error *err) {
    return debug_with_watches(session, args, json_object(), err);
}

void debug_watches_later(Host *host, Session *session, Json args, Reply reply) {
    debug_with_watches_later(host, session, args, json_object(), reply);
}

/* ---- kept for later runs ---- */

static Json counts_of(Json document) {
    return OBJECT(
        KEY("breakpoints", (int64_t)json_array_len(json_object_get_c(document, "breakpoints"))),
        KEY("watches", (int64_t)json_array_len(json_object_get_c(document, "watches"))));
}

static Json save_question(Session *session, Json args, Error *err) {
    if (args_bool(args, "give", false)) return json_null();
    return debug_is_recorded(session, err) ? saved_document(session) : json_none();
}

static Json save_now(Store *store, Json document, Error *err) {
    return saved_write(store, document, err) ? counts_of(document) : json_none();
}

Json debug_break_save(Session *session, Json args, Error *err) {
    Json document = saved_document(session), counts = counts_of(document);
    (void)args;
    (void)err;
    return OBJECT_ADD(counts, KEY("document", document));
}

const OperationPast past_save = {.question = save_question, .read = save_now};

static Json file_question(Session *session, Json args, Error *err) {
    (void)args;
    if (!debug_is_recorded(session, err)) return json_none();
    char *file = saved_file(session);
    Json question = OBJECT(KEY("file", file));
    mem_free(file);
    return question;
}

static Json look_saved(Store *store, Json question, Error *err) {
    Json document = store_is_durable(store)
                        ? saved_read(store, json_object_text(question, "file"), err)
                        : json_null();
    if (json_is_none(document)) return document;
    Json out = OBJECT_ADD(counts_of(document),
                          KEY("saved", json_ref(json_object_get_c(document, "saved"))));
    json_unref(document);
    return out;
}

const OperationPast past_saved = {.question = file_question, .read = look_saved};

static Json load_question(Session *session, Json args, Error *err) {
    return args_has(args, "document") ? json_null() : file_question(session, args, err);
}

static Json read_saved(Store *store, Json question, Error *err) {
    const char *file = json_object_text(question, "file");
    Json document = saved_read(store, file, err);
    if (json_kind(document) != JSON_NULL) return document;
    error_set(err, ERR_NOT_FOUND, "No breakpoints were saved for %s.", file);
    return json_none();
}

Json debug_break_load(Session *session, Json args, Error *err) {
    Json document = json_object_get_c(args, "document");
    return saved_check(document, err) ? saved_load(session, document) : json_none();
}

static Json load_now(Session *session, Json args, Json found, Error *err) {
    (void)args;
    (void)err;
    return saved_load(session, found);
}

/* What was loaded, until it is on record. */
typedef struct Loaded {
    Reply reply;
    Json answer;
} Loaded;

static void on_loaded(void *ctx, const Error *err) {
    Loaded *l = ctx;
    if (err) {
        json_unref(l->answer);
        reply_fail(l->reply, err);
    } else {
        reply_give(l->reply, l->answer);
    }
    mem_free(l);
}

static void load_later(Session *session, Json args, Json found, Reply reply) {
    Loaded *l = mem_alloc(sizeof *l);
    (void)args;
    *l = (Loaded){reply, saved_load(session, found)};
    engine_when_durable(run_engine(session_run(session)), on_loaded, l);
}

const OperationPast past_load = {
    .question = load_question, .read = read_saved, .act = load_now, .act_later = load_later};
