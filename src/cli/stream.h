/* stream.h - the events of a run as JSON on standard output, one a line, flushed.
 *
 *     updates   {"type": "update", node, frame, checkpoint, update}     what each node gave back
 *     values    {"type": "value", node, checkpoint, state}              the state after each node
 *     events    {"type": NAME, node, frame, checkpoint, at, ...}        everything that happens
 *     debug     the same, with state, step and depth
 *
 * In the last two what a debugger does is told too, with the fields that debug_api.h gives its events:
 * {"type": "paused", frame, node, position, reason, ...}, resumed, breakpoint, session, and logpoint for
 * what its log points say.
 *
 * In all of them the last line says how it ended. When the run waits for a person it is
 *
 *     {"type": "interrupt", id, node, frame, checkpoint, prompt, options, state}
 *
 * (one for each open interrupt), and otherwise {"type": "final", status, checkpoint, state, error}.
 * Interrupts are held back until then, since other frames go on after the first of them stops.
 */
#ifndef PAWL_STREAM_H
#define PAWL_STREAM_H

#include "engine.h"

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
    Json held;   /* interrupts by id: {checkpoint, state} */
    bool broken; /* nobody reads any more: nothing more is written */
} Stream;

void stream_init(Stream *s, StreamMode mode);
void stream_clear(Stream *s);

void stream_event(Stream *s, const Event *event);
/* An event of a debug session; what the run itself tells as well is left out. Borrows it. */
void stream_debug(Stream *s, Json event);

/* What a run comes to, as the last line says it; both given. After an error of the store nobody knows
 * which part of the state was kept: then there is none, and the error is {"kind": "store", ...}. */
Json stream_state(const Run *run);
Json stream_error(const Run *run);

/* How it ended: status is the one of the contract ("interrupted" for a run that was stopped). */
void stream_end(Stream *s, const Run *run, const char *status);

#endif
