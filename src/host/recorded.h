/* recorded.h - events, as the record has them.
 *
 * What a checkpoint can tell is told from it, equal to the event that was told when it was made: event_json()
 * makes both. Reading is done in pages, on a thread that reads the store (host_read()); a page costs what is on
 * it and one image, however long the history is.
 *
 * A place in the history of a run is a number, its *cursor*: checkpoint * 2, or one more for the question that
 * the checkpoint left open. A store has no order between the checkpoints of different runs, so a place in the
 * record of all runs is a cursor for each: {"since": time, "runs": {"17": 24, ...}}, by the numbers of the runs.
 * Of a run that it does not name, what was recorded at `since` or later comes after it.
 */
#ifndef PAWL_RECORDED_H
#define PAWL_RECORDED_H

#include "engine.h"

static inline int64_t cursor_of(EventType type, int64_t checkpoint) {
    return checkpoint * 2 + (type == EVENT_INTERRUPT);
}

/* The event of a run. Live ones come from the engine, others from here. */
Json event_json(int64_t run, const char *thread, const Event *event, bool values);

/* ---- for host_read() ---- */

/* {thread, run?, cursor, since?}: a run, and what of it has been told. Without `cursor` nothing that is older than
 * `since` is. A thread that another run has got meanwhile has nothing to tell. */

/* args {runs: [of the above], values, types}: a page of the events of some runs, one run after the other. The
 * answer: {events, read: of how many runs all was, cursor?: how far it came in the next one}. After the last
 * event of a run that no process has comes how it stands, as "settled". */
Json recorded_page(Store *store, Json args, Error *err);

/* args {since: ms, runs: {number: cursor}, after: number}: the runs behind `after`, by number, that have more to
 * tell than that, as recorded_page() takes them. No more than some at a time; none: that was all. */
Json recorded_runs(Store *store, Json args, Error *err);

#endif
