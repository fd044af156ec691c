/* client_inside.h - what the files of client/ share. client.c finds the way; remote.c is a connection to another
 * process; server_link.c is the way to a server. */
#ifndef PAWL_CLIENT_INSIDE_H
#define PAWL_CLIENT_INSIDE_H

#include "client.h"
#include "host.h"
#include "server_link.h"

typedef struct Remote Remote;

struct Client {
    uv_loop_t *loop;
    Host *host;       /* NULL with a server */
    ServerLink *link; /* NULL without one */
    Remote *remotes;
    struct Errand *waiting; /* those that look again in a moment */
    bool asking;            /* client_ask() runs the loop */
    bool ending;
};

/* ---- remote.c ---- */

/* The connection to a process, made if there is none. NULL: nobody listens there. Calls may be made at once. */
Remote *remote_open(Client *client, int64_t pid);
void remote_call(Remote *remote, const char *operation, Json args, ClientAnswer done, void *ctx);
void remote_call_for(Remote *remote, const ClientCall *call);
/* the same for somebody else */ /* consumes args */
/* Events of a subscription that was made by a call on this connection. NULL takes it away. */
void remote_listen(Remote *remote, int64_t subscription, const ClientListener *listener);
void remote_unlisten(Remote *remote, int64_t subscription);
void remote_free(Remote *remote);
int64_t remote_pid(const Remote *remote);
Remote *remote_next(const Remote *remote);

#endif
