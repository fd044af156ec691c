/* stream.h - the events of a run as JSON on standard output, one a line, flushed.
 *
 *     updates   {"type": "update", run, thread, node, frame, checkpoint, update}     what each node gave back
 *     values    {"type": "value", run, thread, node, checkpoint, state}              the state after each node
 *     events    {"type": NAME, run, thread, node, frame, checkpoint, at, ...}        everything that happens
 *     debug     the same, with state, step, depth and the frame's name
 *
 * In the last two what a debugger does is told too, with the fields that session_api.h gives its events:
 * {"type": "paused", frame, node, position, reason, ...}, resumed, breakpoint, session, and logpoint for
 * what its log points say.
 *
 * In all of them the last line says how it ended. When the run waits for a person it is
 *
 *     {"type": "interrupt", run, thread, id, node, frame, checkpoint, reason, prompt, options, state}
 *
 * (one for each open interrupt), and otherwise {"type": "final", run, thread, status, checkpoint, state, error}.
 * Interrupts are held back until then, since other frames go on after the first of them stops. What there is
 * nothing to say of is left out.
 */
#ifndef PAWL_STREAM_H
#define PAWL_STREAM_H

#include "json.h"

typedef enum StreamMode {
    STREAM_NONE,
    STREAM_UPDATES,
    STREAM_VALUES,
    STREAM_EVENTS,
    STREAM_DEBUG,
} StreamMode;

#define STREAM_WORDS "updates|values|events|debug"

typedef struct Stream {
    StreamMode mode;
    Json held;   /* interrupts by id: the events */
    bool broken; /* nobody reads any more: nothing more is written */
} Stream;

void stream_init(Stream *s, StreamMode mode);
void stream_clear(Stream *s);

void stream_event(Stream *s, Json event); /* as subscription.h has them; borrows it */

/* How it ended: the `settled` event, with its state. status is the word of the contract ("interrupted" for a
 * run that was stopped). */
void stream_end(Stream *s, Json settled, const char *status);

#endif
