/* session_calls.h - the functions behind the rows of session_operations[], by area, and what they
 * share.
 *
 * Each is as Operation.call says: args is an object that args_check() let pass, borrowed; the
 * answer is given, JSON_NONE with an error. Private to api/.
 */
#ifndef PAWL_SESSION_CALLS_H
#define PAWL_SESSION_CALLS_H

#include "args.h"
#include "inspect.h"
#include "session_api.h"

typedef Json DebugCall(Session *session, Json args, Error *err);
/* As Operation.ask_later says. */
typedef void DebugLater(Host *host, Session *session, Json args, Reply reply);

/* session_control.c: the session, frames that stop and go, and what is changed in them: variables, configs, nodes
 * that the workflow does not have */
DebugCall debug_session, debug_overview, debug_configure, debug_extend, debug_detach, debug_abort;
DebugLater debug_overview_later;
DebugCall debug_continue, debug_pause, debug_step, debug_goto;
DebugCall debug_skip, debug_retry, debug_end, debug_answer;
DebugCall debug_set, debug_unset, debug_pending, debug_revoke;
DebugCall debug_config_set, debug_config_reset, debug_inject, debug_injected, debug_inject_remove;
extern const char *const debug_step_words[], *const debug_inject_words[];

/* session_breakpoints.c: breakpoints and watches */
DebugCall debug_break_set, debug_break_change, debug_break_delete, debug_break_enable, debug_breaks;
DebugCall debug_watch_add, debug_watch_delete, debug_watches;
DebugCall debug_break_save, debug_break_load;
DebugLater debug_watches_later;
extern const OperationPast past_save, past_load, past_saved;

/* session_look.c: frames, nodes, values, text */
DebugCall debug_frames, debug_frame, debug_stack, debug_node, debug_config, debug_variables,
    debug_summary;
DebugCall debug_search, debug_largest, debug_evaluate, debug_complete, debug_source, debug_nodes;
DebugCall debug_graph;
DebugLater debug_evaluate_later;
extern const char *const debug_complete_words[], *const debug_graph_words[];

/* session_past.c: what is in the record. Those that need nothing of the session are as Operation.read says. */
extern const OperationPast past_variables, past_summary, past_search, past_largest, past_evaluate;
extern const OperationPast past_frames, past_diff, past_edges, past_written, past_back, past_goto,
    past_reverse, past_replay;
DebugCall debug_diff, debug_edges;
Json debug_history(Store *store, Json args, Error *err);
Json debug_export(Store *store, Json args, Error *err);
extern const char *const debug_since_words[];

/* ---- shared ---- */

/* What is said of a state, of now or of the past: `variables`, `summary`, ... without the rest of their arguments'
 * meaning. On any thread. */
typedef Json DebugLook(Json state, Json args, Error *err);
DebugLook debug_variables_in, debug_summary_of, debug_search_in, debug_largest_of,
    debug_evaluate_on;

/* Whether there is a store to look into; false with a sentence. */
bool debug_is_recorded(const Session *session, Error *err);

/* What `config` answers of a frame. */
Json debug_config_of(Frame *f, Error *err);

/* An expression on the state of a frame with the variables of the node that it stands at (f
 * NULL: none), begun: see inspect.h. It needs nothing of the frame any more. */
typedef struct DebugEval {
    Frame *frame;
    Json state;
    Json expression; /* a string */
    size_t limit;
    bool exact; /* debug_is_exact() */
} DebugEval;
/* Whether expressions compute with integers of any size, as those of the run's workflow do: it is a test. */
bool debug_is_exact(const Session *session);
InspectRun *debug_eval_begin(const DebugEval *eval, Error *err);

/* The watches, in a field of that object, which is consumed; JSON_NONE: the frame that was asked for is not there. The second answers,
 * and the loop goes on meanwhile. */
Json debug_with_watches(Session *session, Json args, Json around, Error *err);
void debug_with_watches_later(Host *host, Session *session, Json args, Json around, Reply reply);

/* An object of one field; consumes the value. A value that is JSON_NONE makes JSON_NONE. */
Json debug_answer_with(const char *key, Json value);

/* `There is no watch 7; the numbers are 1 and 2.`: the sentence up to the semicolon, and the numbers that
 * there are, or objects with an `id`. Every caller has its own name for the list. Consumes `there`. */
void debug_no_such(Error *err, Json there, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
