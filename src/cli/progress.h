/* progress.h - what a run is doing, on standard error, for the person who waits for it.
 *
 * On a terminal a few lines are drawn at the end of what was written: how far the run is, and what
 * each frame does and for how long. They are drawn again at most ten times a second and taken away
 * at the end. What nodes write stands above them, each line with the node's name before it.
 *
 * Elsewhere there is one line for each node that has finished, and, for a run with very many of
 * them, from PROGRESS_LINES on one line a second with the count.
 */
#ifndef PAWL_PROGRESS_H
#define PAWL_PROGRESS_H

#include "client.h"

enum { PROGRESS_LINES = 200, PROGRESS_FRAMES = 8, PROGRESS_REDRAW_MS = 100 };

typedef struct Progress Progress;

/* The client is asked what the frames of the run do now. */
Progress *progress_new(uv_loop_t *loop, Client *client, const char *thread);
void progress_event(Progress *p, Json event); /* as subscription.h has them; borrows it */
/* Takes what is drawn away; the next event draws it again. */
void progress_hide(Progress *p);
/* Ends it. The loop has to turn once more for its timer to close. Accepts NULL. */
void progress_free(Progress *p);

#endif
