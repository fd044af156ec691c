/* session_past.c - what is in the store: states of the past, differences, the history, the whole
 * of it.
 *
 * All of it reads what is durable; whoever asks waits until what was told of is (operation.c). */
#include "session_calls.h"

#include "export.h"
#include "inspect.h"
#include "lineage.h"
#include "mem.h"
#include "problems.h"
#include "suggest.h"

#include <inttypes.h>
#include <string.h>

enum {
    DIFF_LIMIT = 1000, /* of each of added, removed, changed */
    HISTORY_PAGE = 50,
};

/* ---- reading the store ---- */

/* NULL with a sentence. What is durable is there: debug_call() waits for the rest first. */
static Store *recorded(const Session *session, Error *err) {
    Engine *engine = run_engine(session_run(session));
    if (!engine_store(engine)) {
        error_set(err, ERR_USAGE,
                  "This run is not recorded, so it has no history: start it with a store (one in "
                  "memory is enough) to look back.");
        return NULL;
    }
    return engine_reader(engine, err);
}

Json debug_state_at(Session *session, int64_t checkpoint, int64_t frame, Error *err) {
    int64_t selected = session_selected(session);
    if (!recorded(session, err)) {
        return json_none();
    }
    Json state = session_state_at(session, checkpoint, frame ? frame : selected, err);
    if (json_is_none(state) && !frame && selected) {
        if (err) {
            error_clear(err);
        }
        state = session_state_at(session, checkpoint, 0, err);
    }
    return state;
}

/* ---- differences ---- */

const char *const debug_since_words[] = {"pause", "node", "start", NULL};
static const DiffSince diff_since[] = {DIFF_PAUSE, DIFF_NODE, DIFF_START};

static Json with_ends(Json diff, int64_t from, int64_t to) {
    static const char *const parts[] = {"added", "removed", "changed", "more"};
    Json out = json_object_with(json_object(), "from", json_int(from));
    out = json_object_with(out, "to", json_int(to));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        Json part = json_object_get_c(diff, parts[i]);
        out = json_is_none(part) ? out : json_object_with(out, parts[i], json_ref(part));
    }
    json_unref(diff);
    return out;
}

/* Without `to`: up to now, with what is pending. */
static Json later_state(Session *session, Json args, int64_t to, Error *err) {
    if (to) {
        return debug_state_at(session, to, args_frame_id(args), err);
    }
    Frame *f = args_frame(session, args, err);
    return f ? frame_will_see(f, err) : json_none();
}

static Json diff_between(Session *session, Json args, Error *err) {
    int64_t from = args_int(args, "from", 0), to = args_int(args, "to", 0);
    Json out = json_none(), before = debug_state_at(session, from, args_frame_id(args), err);
    Json after = json_is_none(before) ? before : later_state(session, args, to, err);
    if (!json_is_none(after)) {
        int64_t end = to ? to : run_checkpoint(session_run(session));
        out = with_ends(inspect_diff(before, after, DIFF_LIMIT), from, end);
    }
    json_unref(before);
    json_unref(after);
    return out;
}

Json debug_diff(Session *session, Json args, Error *err) {
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
    if (between) {
        return diff_between(session, args, err);
    }
    Frame *f = args_frame(session, args, err);
    DiffSince since = diff_since[args_word(args, "since", debug_since_words, 0)];
    return f ? session_diff(session, f, since, err) : json_none();
}

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

/* ---- one node again ---- */

/* The newest step of a node on a line; 0 when it made none, with the nearest that did. */
static int64_t step_of_node(const Lineage *line, const char *node, Error *err) {
    Suggestion nearest = suggestion_for(node, strlen(node));
    for (size_t i = line->n; i-- > 0;) {
        const LineageStep *c = &line->items[i];
        if (!lineage_is_step(c)) {
            continue;
        }
        if (strcmp(c->node, node) == 0) {
            return c->seq;
        }
        suggestion_offer(&nearest, c->node);
    }
    error_set(err, ERR_USAGE,
              "There is no execution of `%s` to replay on this line of the history%s",
              shown(node, strlen(node)), did_you_mean_this(nearest.best));
    return 0;
}

/* The step to replay: the last one of the node, up to the checkpoint if there is one. 0 on
 * error. */
static int64_t find_step(Session *session, const char *node, int64_t upto, Error *err) {
    const Run *run = session_run(session);
    Lineage line = {0};
    int64_t seq = 0;
    Store *store = recorded(session, err);
    if (!store) {
        return 0;
    }
    if (lineage_read(store, run_number(run), upto ? upto : run_durable_checkpoint(run), 0, &line,
                     err)) {
        seq = step_of_node(&line, node, err);
    }
    lineage_clear(&line);
    return seq;
}

/* A checkpoint needs no frame: that may have ended long ago. */
static Json replay_step(Session *session, int64_t checkpoint, const char *thread, Error *err) {
    Frame *f = session_frame(session, 0, err);
    if (!f && !checkpoint) {
        return json_none();
    }
    if (err) {
        error_clear(err);
    }
    return session_replay(session, f, checkpoint, thread, err);
}

Json debug_replay(Session *session, Json args, Error *err) {
    char *node = args_text(args, "node"), *thread = args_text(args, "new_thread");
    int64_t checkpoint = args_int(args, "checkpoint", 0);
    Json out = json_none();
    bool found = recorded(session, err) != NULL;
    if (found && node) {
        checkpoint = find_step(session, node, checkpoint, err);
        found = checkpoint != 0;
    }
    if (found) {
        out = replay_step(session, checkpoint, thread, err);
    }
    mem_free(node);
    mem_free(thread);
    return out;
}

/* ---- all of it ---- */

Json debug_export(Store *store, Json args, Error *err) {
    Json thread = json_object_get_c(args, "thread");
    return export_run(store, json_string_data(&thread), err);
}
