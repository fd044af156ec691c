/* session_past.c - what is in the record: states of the past, differences, the history, places to go back to.
 *
 * Each is a question of the session, a reader of the store for it (travel.h) and, where something is to be done, an
 * action: see OperationPast. */
#include "session_calls.h"

#include "export.h"
#include "inspect.h"
#include "json_build.h"
#include "lineage.h"
#include "mem.h"
#include "travel.h"

enum { HISTORY_PAGE = 50 };

/* ---- looks ---- */

bool debug_is_recorded(const Session *session, Error *err) {
    return engine_store(run_engine(session_run(session))) ||
           error_set(err, ERR_USAGE,
                     "This run is not recorded, so it has no history: start it with a store (one "
                     "in memory is enough) to look back.");
}

/* Without a checkpoint it is about now. */
static Json look_question(Session *session, Json args, Error *err) {
    return !args_has(args, "checkpoint")     ? json_null()
           : debug_is_recorded(session, err) ? session_ask_state(session, args, err)
                                             : json_none();
}

/* Reading has no session that says how it is computed. */
static Json evaluate_question(Session *session, Json args, Error *err) {
    Json fields = OBJECT_ADD(json_ref(args), KEY("exact", json_bool(debug_is_exact(session))));
    Json question = look_question(session, fields, err);
    json_unref(fields);
    return question;
}

/* A reader of the state at a checkpoint; look(): given a state and arguments, what is to be said of it. */
#define LOOK_BACK(name, ask, look)                                           \
    static Json name##_then(Store *store, Json question, Error *err) {       \
        Json state = travel_state(store, question, err);                     \
        Json out = json_is_none(state) ? state : look(state, question, err); \
        json_unref(state);                                                   \
        return out;                                                          \
    }                                                                        \
    const OperationPast past_##name = {.question = ask, .read = name##_then}

LOOK_BACK(variables, look_question, debug_variables_in);
LOOK_BACK(summary, look_question, debug_summary_of);
LOOK_BACK(search, look_question, debug_search_in);
LOOK_BACK(largest, look_question, debug_largest_of);
LOOK_BACK(evaluate, evaluate_question, debug_evaluate_on);

/* ---- differences ---- */

const char *const debug_since_words[] = {"pause", "node", "start", NULL};
static const DiffSince diff_since[] = {DIFF_PAUSE, DIFF_NODE, DIFF_START};

/* Without `to`: up to now, with what is pending. */
static Json between_question(Session *session, Json args, Error *err) {
    Json now = json_none();
    if (!debug_is_recorded(session, err)) return json_none();
    if (!args_has(args, "to")) {
        Frame *f = args_frame(session, args, err);
        now = f ? frame_will_see(f, err) : json_none();
        if (json_is_none(now)) return now;
    }
    Json fields = OBJECT_ADD(json_ref(args), KEY("now", now));
    Json question = session_ask_state(session, fields, err);
    json_unref(fields);
    return question;
}

static Json diff_question(Session *session, Json args, Error *err) {
    bool between = args_has(args, "from");
    if (args_has(args, "to") && !between) {
        error_set(err, ERR_USAGE,
                  "`diff` takes `to` only with `from`: the checkpoint to begin at.");
        return json_none();
    }
    if (between && args_has(args, "since")) {
        error_set(err, ERR_USAGE, "`diff` takes `since` or `from`, not both.");
        return json_none();
    }
    if (between) return between_question(session, args, err);
    Frame *f = args_frame(session, args, err);
    DiffSince since = diff_since[args_word(args, "since", debug_since_words, 0)];
    return f ? session_ask_changes(session, f, since, err) : json_none();
}

/* What the frame saw at its pauses is in memory. */
Json debug_diff(Session *session, Json args, Error *err) {
    Frame *f = args_frame(session, args, err);
    return f ? session_diff_pauses(f, err) : json_none();
}

const OperationPast past_diff = {.question = diff_question, .read = travel_changes};

/* ---- frames that have ended ---- */

static Json frames_question(Session *session, Json args, Error *err) {
    enum { ENDED_PAGE = 100, ENDED_MAX = 1000 }; /* an image is read for each */
    if (!args_bool(args, "all", false)) return json_null();
    if (!debug_is_recorded(session, err)) return json_none();
    Json live = debug_frames(session, args, err);
    int64_t limit = args_int(args, "limit", ENDED_PAGE);
    return session_ask_ended(session, live, limit < ENDED_MAX ? limit : ENDED_MAX, err);
}

const OperationPast past_frames = {.question = frames_question, .read = travel_ended};

/* ---- edges ---- */

static Json edges_question(Session *session, Json args, Error *err) {
    Frame *f = args_frame(session, args, err);
    return f ? session_ask_choice(session, f, err) : json_none();
}

Json debug_edges(Session *session, Json args, Error *err) {
    Frame *f = args_frame(session, args, err);
    return f ? session_edges(f) : json_none();
}

const OperationPast past_edges = {.question = edges_question, .read = travel_choice};

/* ---- who wrote a value ---- */

static Json written_question(Session *session, Json args, Error *err) {
    Frame *f = debug_is_recorded(session, err) ? args_frame(session, args, err) : NULL;
    Json path = f ? args_path(args, "written", err) : json_none();
    int64_t depth = args_int(args, "depth", 0);
    bool is_level = f && depth <= frame_depth(f);
    if (f && !is_level) {
        error_set(err, ERR_USAGE, "Frame %lld has no level %lld.", (long long)frame_id(f),
                  (long long)depth);
    }
    Json question = is_level && !json_is_none(path)
                        ? session_ask_written(session, f, depth, path, err)
                        : json_none();
    json_unref(path);
    return question;
}

const OperationPast past_written = {.question = written_question, .read = travel_written};

/* ---- history ---- */

/* Of where the run stands in the store: what is not there has not been told of. */
Json debug_history(Store *store, Json args, Error *err) {
    Json thread = json_object_get_c(args, "thread"), out = json_none();
    RunRow row = {0};
    if (store_find(store, json_string_data(&thread), &row, err)) {
        LineageQuery query = {
            .run = row.run,
            .head = row.head,
            .frame = args_frame_id(args),
            .before = args_int(args, "before", 0),
            .limit = args_size(args, "limit", HISTORY_PAGE),
            .all = args_bool(args, "all", false),
        };
        out = lineage_history(store, &query, err);
    }
    run_row_clear(&row);
    return out;
}

/* ---- going back ---- */

static Json back_question(Session *session, Json args, Error *err) {
    Frame *f = args_frame(session, args, err);
    int64_t depth = args_int(args, "depth", 0);
    if (depth && args_has(args, "count")) {
        error_set(err, ERR_USAGE, "`back` takes `count` or `depth`, not both.");
        return json_none();
    }
    return !f      ? json_none()
           : depth ? session_ask_level(session, f, depth, err)
                   : session_ask_back(session, f, args_int(args, "count", 1), err);
}

static Json reverse_question(Session *session, Json args, Error *err) {
    Frame *f = args_frame(session, args, err);
    return f ? session_ask_reverse(session, f, err) : json_none();
}

/* A checkpoint is one of the whole run: there is no frame to choose. */
static Json goto_question(Session *session, Json args, Error *err) {
    if (args_has(args, "node")) return json_null();
    if (args_has(args, "frame")) {
        error_set(
            err, ERR_USAGE,
            "`goto` takes `frame` only with `node`: to a checkpoint the whole run goes back.");
        return json_none();
    }
    return session_ask_checkpoint(session, args_int(args, "checkpoint", 0), err);
}

static Json go_there(Session *session, Json args, Json found, Error *err) {
    (void)args;
    return session_go_to(session, found, err);
}

static Json go_in_reverse(Session *session, Json args, Json found, Error *err) {
    (void)args;
    return session_reverse(session, found, err);
}

const OperationPast past_back = {.question = back_question, .read = travel_back, .act = go_there};
const OperationPast past_goto = {.question = goto_question, .read = travel_to, .act = go_there};
const OperationPast past_reverse = {
    .question = reverse_question, .read = travel_reverse, .act = go_in_reverse};

/* ---- one node again ---- */

/* A checkpoint needs no frame: that may have ended long ago. */
static Json replay_question(Session *session, Json args, Error *err) {
    if (!debug_is_recorded(session, err)) return json_none();
    bool said = args_has(args, "checkpoint") || args_has(args, "node");
    Frame *f = session_frame(session, 0, err);
    if (!f && !said) return json_none();
    if (err) error_clear(err);
    return session_ask_replay(session, f, args, err);
}

static SessionReplay replay_of(Json args, const char *by) {
    return (SessionReplay){json_object_text(args, "new_thread"), json_object_get_c(args, "input"),
                           json_object_get_c(args, "config"), by};
}

static Json replay_now(Session *session, Json args, Json found, Error *err) {
    SessionReplay replay = replay_of(args, NULL);
    return session_replay_now(session, found, &replay, err);
}

typedef struct Replay {
    Reply reply;
} Replay;

static void on_replaying(void *ctx, Json answer, const Error *err) {
    Replay *r = ctx;
    Reply reply = r->reply;
    mem_free(r);
    reply.give(reply.ctx, answer, err);
}

static void replay_later(Session *session, Json args, Json found, Reply reply) {
    Replay *r = mem_zalloc(sizeof *r);
    r->reply = reply;
    SessionReplay replay = replay_of(args, reply.by);
    session_replay(session, found, &replay, on_replaying, r);
}

const OperationPast past_replay = {
    .question = replay_question, .read = travel_step, .act = replay_now, .act_later = replay_later};

/* ---- all of it ---- */

Json debug_export(Store *store, Json args, Error *err) {
    return export_run(store, json_object_text(args, "thread"), err);
}
