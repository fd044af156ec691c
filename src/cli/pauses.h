/* pauses.h - where a debugger has stopped a run, in words, and how to go on from there. */
#ifndef PAWL_PAUSES_H
#define PAWL_PAUSES_H

#include "json.h"

#include <stdbool.h>
#include <stdio.h>

/* "before build (frame 3): breakpoint 1 (review.yaml:12)". A pause is a `paused` event (session_api.h), or
 * what the image says of one with `node` and `frame`. named: the frame is said. */
void pause_words(Buf *out, Json pause, bool named);

/* "Paused ", that and the end of the line, for an event: the frame is said unless it is the first. */
void pause_say(FILE *out, Json event);

/* The two ways to go on, a line each. store: NULL when they find it anyway; held: another process has the run. */
void pause_advice(FILE *out, const char *thread, const char *store, bool held);

#endif
