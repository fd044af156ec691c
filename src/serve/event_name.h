/* event_name.h - what events are called outside, and what is told of them there.
 *
 * Inside, an event says what happened with a word and a few fields (subscription.h, api/session_api.h). Outside it has a name of
 * its own for each of them, so that a client can listen to just that: "node.completed", "debug.frame.paused".
 */
#ifndef PAWL_EVENT_NAME_H
#define PAWL_EVENT_NAME_H

#include "host.h"
#include "json.h"

/* What an event is called outside: "node.completed", "debug.frame.paused". */
const char *event_name(Json event);
/* Whether it is among those that somebody asked for by such names, "debug" and "node.*" meaning all of theirs; other words that
 * events have inside mean just those. plain: those go before names ("node"). name: of the event. */
bool event_is_wanted(Json event, const char *name, Json wanted, bool plain);
/* Takes such names out of `types`, which operations know nothing of, and with them the words from inside that stand beside
 * them; JSON_NONE: there were none. Consumes *types and sets it to what is left, JSON_NONE for nothing. */
Json event_names_taken(Json *types);
/* The event as it is told outside: with what somebody wants to know who sees a frame pause, or a breakpoint stop it. Of runs that
 * another process has it comes so from there (socket.c). Consumes it. */
Json event_told(const Host *host, Json event, const char *name);

#endif
