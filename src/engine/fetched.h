/* fetched.h - tests that are read when their task begins (`testFile` of a URL, of a query, or of a file that was not there).
 *
 * Each is a workflow of its own, which levels are inside of. Its text is in the head of the image for as long as a level
 * is, once for all of them, and those name it by its number: so the run goes on with what was read, whatever has
 * become of the file. One that was read before, and says the same, is the same.
 */
#ifndef PAWL_FETCHED_H
#define PAWL_FETCHED_H

#include "frame.h"

typedef struct Fetched {
    int64_t number;
    size_t levels; /* that are inside of it */
    Json definition;
    Flow *flow;
} Fetched;

/* For a level of the frame. Takes over the flow, whose numbers are changed. NULL on error. */
Fetched *fetched_add(const Frame *f, Flow *flow, Error *err);
/* The level, the last one of the frame, is inside of it; level_pop() ends that. */
void fetched_enter(Frame *f, Fetched *fetched);
void fetched_leave(Run *run, Fetched *fetched);
Fetched *fetched_of_flow(const Run *run, const Flow *flow); /* NULL: it is none of them */

Json fetched_image(const Run *run); /* for the head; null: there is none. Given */
bool fetched_load(Run *run, Json image, Error *err);
Fetched *fetched_find(const Run *run, int64_t number); /* NULL: there is none */
void fetched_free(Run *run);                           /* all of them */

#endif
