/* travel.h - what the record says to those who go back in it: readers of the store, for any thread.
 *
 * A session (session.h) makes a question on the loop, where the run is; a reader answers it from the store alone,
 * on whichever thread; and the session goes on from the answer. So a question has everything in it that the
 * record has not:
 *
 *     of           {run, thread, head (the checkpoint that the run stood at), definition? (of its workflow: only where
 *                  it matters)}
 *     recording?   {live_from?}: the run takes from a recording, which has to go back with it
 *
 * and the fields that its reader names below. Everything up to `head` has to be durable. Readers keep nothing of
 * the question; answers are given, JSON_NONE with an error.
 */
#ifndef PAWL_TRAVEL_H
#define PAWL_TRAVEL_H

#include "session.h"

/* {checkpoint, frame?, selected?}: what the frame's node saw there, or else that of the selected one, or of the root. */
Json travel_state(Store *store, Json question, Error *err);

/* {from, to?, frame?, selected?, now?} between checkpoints, or up to now; {since (DiffSince), frames: [number, that of
 * the frame which made it, ...], now?} since then. What `diff` answers (session_api.h). */
Json travel_changes(Store *store, Json question, Error *err);
/* The same of two states and their checkpoints (0: none). Borrows them. */
Json travel_diff(Json from, Json to, int64_t from_seq, int64_t to_seq);

/* {frames (as above), answer}: the answer with `last`, the last choice of an edge that one of them made (EDGE, with its
 * checkpoint), as far back as CHOICES_LOOKED_AT checkpoints. */
enum { CHOICES_LOOKED_AT = 1000 };
Json travel_choice(Store *store, Json question, Error *err);

/* {frame, level, path}: who wrote last what that level of the frame sees at a path: {checkpoint, status, frame, node?, file?,
 * line?, at}; without any of it where that was there from the beginning, as far back as WRITERS_LOOKED_AT checkpoints. */
enum { WRITERS_LOOKED_AT = 20000 };
Json travel_written(Store *store, Json question, Error *err);

/* {answer, limit}: the answer with `ended`, frames of the line that have ended, oldest first: {frame, parent?, path, node
 * (its last), result, checkpoint, at}; at most so many, the newest of them, as far back as FRAMES_LOOKED_AT
 * checkpoints. `more_ended`: there may be others. */
enum { FRAMES_LOOKED_AT = 20000 };
Json travel_ended(Store *store, Json question, Error *err);

/* Where to go back to: {there (rewind_read()), checkpoint, frame, counts? (recording_counts())}.
 *
 *     travel_to        {checkpoint, frame}     that checkpoint
 *     travel_back      {frame, count}          by so many steps of the frame
 *                      {frame, depth, node}    to where it came to the node of that level last
 *     travel_reverse   {frame (0: any), breakpoints: [stored]}     to the last place where one of them would have stopped it, or to
 *                      the beginning; with hit? ([id]) and ended? ({frame, path, node}: it was hit after a node
 *                      whose frame is gone there) */
Json travel_to(Store *store, Json question, Error *err);
Json travel_back(Store *store, Json question, Error *err);
Json travel_reverse(Store *store, Json question, Error *err);

/* {node?, checkpoint?, frame?}: the step to do again: {checkpoint, frame, recorded? (what its frame saw then)}. */
Json travel_step(Store *store, Json question, Error *err);

#endif
