/* attach.h - a run that another process has, debugged from here: a socket beside the store.
 *
 * Whoever runs a run of a durable store listens at FOLDER/debug-RUN.sock (store_folder()), a socket of
 * the file system that only its user (and root) can open. Both sides speak JSON, one value a line
 * (lines.h):
 *
 *     server   {"hello": {"run", "thread", "pid"}}      or   {"error": {...}}, and it hangs up
 *     client   {"request_id": 1, "call": "step", "args": {"kind": "over"}}
 *     server   {"request_id": 1, "answer": {...}}       or   {"request_id": 1, "error": {"code",
 *                                                            "message", "line", "column"}}
 *     server   {"event": "paused", ...}     as debug_api.h lists them, whenever they happen
 *
 * One session, and as many as ATTACH_CLIENTS windows to it; who comes after those is refused with a
 * sentence. The first client makes the run's session, or goes on with the one that it has; the others
 * join it. Every client is told every event, whoever caused it; an answer goes to the one that called. All
 * else is the session's and so the same for all: breakpoints, watches, the selected frame. A call is done
 * at once and whole, so what two clients want at the same time happens one after the other, and the second
 * is told when it has come too late.
 *
 * While a client is there the run is held (hooks.h). A client that goes leaves the session, and the others,
 * as they are. When the session is detached or has expired all are told so, the one that called gets its
 * answer, and the server hangs up. A line may be LINES_MAX long; what is no JSON, or no call, is answered
 * with an error, and costs nothing else. A client that does not read is dropped, and nobody waits for it
 * until then.
 */
#ifndef PAWL_ATTACH_H
#define PAWL_ATTACH_H

#include "debug_api.h"
#include "store.h"

/* ---- the process that has the run ---- */

enum { ATTACH_CLIENTS = 16 }; /* at the same time */

typedef struct AttachServer AttachServer;

typedef struct AttachHost {
    uv_loop_t *loop; /* the engine's */
    /* The session of the run, made on the first call; NULL on error, which refuses the client. Its
     * events are to be handed to attach_event(). */
    Session *(*session)(void *ctx, Error *err);
    /* A client has come and was greeted: what it has missed is to be told to it alone, by events
     * with its number (attach_event()). May be NULL. */
    void (*greeted)(void *ctx, int64_t client);
    /* The first client has come (after it was greeted), or the last one went: run_hold(). Told from the
     * loop, never from inside attach_event(). May be NULL. */
    void (*connected)(void *ctx, bool connected);
    void *ctx;
} AttachHost;

/* The run's lease is ours, so a socket that is there belongs to a process that is gone: it is replaced.
 * Does not keep the loop alive while there is no client. NULL on error; a run must go on without a
 * socket all the same. */
AttachServer *attach_listen(Run *run, const AttachHost *host, Error *err);
/* An event of the session, for all clients; or for one alone, which has the number that the event has as
 * `to` and is not told that. Borrows it. Accepts a NULL server. */
void attach_event(AttachServer *server, Json event);
bool attach_is_connected(const AttachServer *server); /* anybody; false for NULL */
/* Removes the socket. What was sent is still written, for at most LINES_FINISH_MS: the loop has to run.
 * Nothing is told any more. Before the engine is freed. Accepts NULL. */
void attach_close(AttachServer *server);

/* The socket of a run that is removed from its store, or that no process has: one that was killed leaves
 * it behind. False when it is there and cannot be removed. */
bool attach_forget(Store *store, int64_t run, Error *err);

/* ---- the other one ---- */

enum { ATTACH_HELLO_MS = 10000, ATTACH_CALL_MS = 30000 };

typedef struct Attach Attach;

/* NULL on error: ERR_BUSY when somebody has the run but does not listen, or has too many clients;
 * ERR_USAGE when no process has it. event consumes what it is given; closed() says that the other side
 * has gone: the last that is told. Both are told while the loop runs, maybe before this returns, and
 * must not call attach_call(). */
Attach *attach_connect(uv_loop_t *loop, Store *store, int64_t run,
                       void (*event)(void *ctx, Json event), void (*closed)(void *ctx), void *ctx,
                       Error *err);
/* As debug_call(); runs the loop until the answer is there, for at most ATTACH_CALL_MS. Events that come
 * meanwhile are told first. Consumes args. */
Json attach_call(Attach *a, const char *operation, Json args, Error *err);
bool attach_is_open(const Attach *a);
/* {run, thread, pid} of the other side, borrowed. */
Json attach_peer(const Attach *a);
/* Nothing is told any more; the loop has to run once more. Accepts NULL. */
void attach_leave(Attach *a);

#endif
