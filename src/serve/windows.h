/* windows.h - the debug sessions of those who ask and do not stay.
 *
 *     windows_want(windows, "t", ready, ctx);         before a session is asked to change something
 *
 * A session needs a window (host.h), or its run settles as paused. Whoever asks over REST or over the protocol of assistants
 * (mcp.h) opens none: here the process is the window, from the first change that is asked of a session until nobody has
 * asked for five minutes. What the session tells is let fall. Then the run settles as paused, and the next one who asks takes
 * it up again.
 *
 * With a client of a server (client.h) there is nothing to keep: that server is the window.
 *
 * All on the loop's thread.
 */
#ifndef PAWL_WINDOWS_H
#define PAWL_WINDOWS_H

#include "client.h"
#include "host.h"

typedef struct Windows Windows;

/* Both are borrowed. */
Windows *windows_new(uv_loop_t *loop, Client *client);
void windows_free(Windows *w); /* accepts NULL */

/* Sees to it that the session of a run has a window, and then calls then(), maybe before the call returns; with *err when the
 * run cannot be taken. */
typedef void (*WindowReady)(void *ctx, const Error *err);
void windows_want(Windows *w, const char *thread, WindowReady then, void *ctx);
/* What then() was told for is done; ok: it was not refused. A run that was taken only for what was refused is let go of. */
void windows_done(Windows *w, const char *thread, bool ok);
/* A run that was just begun with a session. */
void windows_keep(Windows *w, const char *thread);
/* Nobody needs its window any more: the run settles as paused, unless somebody else looks at it. */
void windows_leave(Windows *w, const char *thread);
/* Somebody has asked for something of it. */
void windows_touch(Windows *w, const char *thread);
size_t windows_count(const Windows *w);

/* The thread that an id of a session, "debug-17-...", a number or a name means; given. host: NULL: none of this process. */
char *thread_of_id(const Host *host, const char *id, size_t len);

#endif
