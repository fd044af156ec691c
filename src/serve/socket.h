/* socket.h - the door for other processes of this machine: a socket beside the store.
 *
 * A host that holds runs of a durable store listens at FOLDER/host-PID.sock (store_folder()), a socket of the file
 * system that only its user (and root) can open; the owner of a run, which its row names, says which. Both sides
 * speak JSON, one value a line (lines.h):
 *
 *     server   {"hello": {"pid", "protocol": 1}}         or   {"error": {...}}, and it hangs up
 *     client   {"request_id": 1, "call": "step", "args": {"thread": "t", "kind": "over"}}
 *     server   {"request_id": 1, "answer": {...}}        or   {"request_id": 1, "error": {"code", "message", ...}}
 *
 * A call may say `by`, who asks for it: a server does, for whoever has a token. It is on record with what the call changes.
 * A line that has no request_id is answered without one. A call is any operation of the table (operation.h); of those that belong to a run only such as this process
 * holds, and another is refused as not_held. Calls are answered as they are done, not always in order.
 *
 *     client   {"request_id": 2, "call": "run_events", "args": {"thread": "t", "attach": true}}
 *     server   {"request_id": 2, "answer": {"subscription": 5}}
 *     server   {"subscription": 5, "event": "paused", ...}       as they happen
 *     server   {"subscription": 5, "over": true}                 nothing more will come
 *     client   {"request_id": 3, "call": "unsubscribe", "args": {"subscription": 5}}
 *
 * At most SOCKET_CLIENTS connections. One that has called nothing yet has SOCKET_SILENT_MS to do so, and makes way for
 * another when there are too many, the oldest first; where all have called, who comes is refused with a sentence. A line may be LINES_MAX
 * long; what is no JSON, or no call, is answered with an error and costs nothing else. Events wait in the
 * subscription's own queue while the other side does not read; a connection that goes takes its subscriptions
 * with it.
 */
#ifndef PAWL_SOCKET_H
#define PAWL_SOCKET_H

#include "host.h"

enum { SOCKET_CLIENTS = 256, SOCKET_SILENT_MS = 30000 };

typedef struct SocketServer SocketServer;

/* Does not keep the loop alive while there is no client. NULL on error; a host works without a socket all the
 * same. Removes what processes that are gone have left. */
SocketServer *socket_listen(Host *host, Error *err);
/* Instead of SOCKET_SILENT_MS, for those that come from now on. */
void socket_set_silence(SocketServer *server, int64_t ms);
/* Removes the socket. What was sent is still written, for at most LINES_FINISH_MS: the loop has to run.
 * Before the host is freed. Accepts NULL. */
void socket_close(SocketServer *server);

#endif
