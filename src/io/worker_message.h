/* worker_message.h - what a worker says, checked before anybody uses it.
 *
 * The code of a node can write to the worker's socket whatever it likes. A message is compared with its shape
 * first; only then it becomes a WorkerMessage, in which everything is what it is declared to be.
 */
#ifndef PAWL_WORKER_MESSAGE_H
#define PAWL_WORKER_MESSAGE_H

#include "buf.h"
#include "error.h"
#include "json.h"

typedef enum WorkerSaid {
    SAID_RESULT,
    SAID_ERROR,
    SAID_INTERRUPT,
    SAID_LOG,
    SAID_UNSTARTED, /* of the program that was to become the worker: belongs to no call */
} WorkerSaid;

/* Everything is borrowed from the message. */
typedef struct WorkerMessage {
    WorkerSaid said;
    Json call;  /* a text: the token of the call that it belongs to */
    Json value; /* of a result and an interrupt; the text of a log */
    /* of an error */
    Json type, message, traceback; /* texts; JSON_NONE: none */
    int line;                      /* 0: none */
    bool limit, retire;
    int why; /* an errno: it could not be started */
} WorkerMessage;

enum { WORKER_TEXT_MAX = 64 << 10 }; /* bytes of the message and of the traceback that are kept */

/* False, with a sentence that says what is wrong with it, when it is none. */
bool worker_message_read(Json message, WorkerMessage *out, Error *err);

/* "TypeError: ...", never empty. */
void worker_message_sentence(const WorkerMessage *error, Buf *out);
/* Adds a text, or nothing for JSON_NONE: up to its first NUL, and no more than WORKER_TEXT_MAX bytes. The
 * buffer holds a C string after that. */
void worker_message_text(Json text, Buf *out);

#endif
