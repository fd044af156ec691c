/* asking.h - how a command asks for operations: a loop, a client, and the sentences when something is wrong.
 *
 *     Asking a;
 *     asking_begin(&a, &common);
 *     Json runs = ask(&a, "runs", args);          JSON_NONE: it was said why, and a.code is the exit code
 *     ...
 *     return asking_end(&a);
 */
#ifndef PAWL_ASKING_H
#define PAWL_ASKING_H

#include "client.h"
#include "servers.h"
#include "socket.h"

typedef struct Asking {
    const Common *common;
    uv_loop_t loop;
    Client *client;
    SocketServer *server; /* other processes come in by it; NULL: none */
    int code;             /* exit code so far */
} Asking;

void asking_begin(Asking *a, const Common *common);
/* The same of a server with this token (servers.h), and no other. */
void asking_begin_as(Asking *a, const Common *common, const ServerLogin *login);
/* The same for a process that runs workflows for others. */
typedef struct ServingPlace {
    const char *workflows; /* the folder of those that have a name; NULL: there is none */
    const SafeRoot
        *folder; /* that runs are started in, and confined to; NULL: this one, and they are not */
    const bool *kinds; /* of nodes that run (bounds.h); NULL: all */
    bool apart;        /* those who start runs are told apart (bounds.h) */
} ServingPlace;
void asking_begin_serving(Asking *a, const Common *common, const ServingPlace *place);
int asking_end(Asking *a); /* a->code */

/* A client alone, on a loop of the caller's: of a store, or of a server with the token that is kept for it. NULL on error. */
Client *asking_client(uv_loop_t *loop, const Common *common, const char *store);
Client *asking_client_of_server(uv_loop_t *loop, const Common *common, const char *server,
                                Error *err);

/* Consumes args. */
Json ask(Asking *a, const char *operation, Json args);

/* Has a run stopped so that it can be resumed, and does not wait for it. */
void asking_stop_run(Asking *a, const char *thread);

/* Lets other processes in: for commands that hold runs. Without a socket they work all the same, and with a server nobody
 * has to come in. */
void asking_listen(Asking *a);

/* All that most commands do: asks for one operation and shows the answer, as a line with --json and by `show`
 * otherwise, which gets what the command took. Consumes args. Returns the exit code. */
int ask_and_show(const Common *common, const char *operation, Json args,
                 void (*show)(const void *command_args, Json answer));

#endif
