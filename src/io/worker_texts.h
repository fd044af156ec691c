/* worker_texts.h - printing a state again and again, of which little changes in between.
 *
 * The texts of large parts are kept beside the values that they are of. A value is immutable and
 * the cache holds it, so the same value is the same text: what did not change since the last call
 * is copied, not printed. A part is an array or a string, or an object none of whose members is
 * large itself; above these the members are gone through, down to a few levels.
 *
 * What is kept is bounded in number and in bytes; what was not used for longest goes first.
 */
#ifndef PAWL_WORKER_TEXTS_H
#define PAWL_WORKER_TEXTS_H

#include "json.h"
#include "json_print.h"

enum {
    WORKER_TEXTS = 16,             /* kept */
    WORKER_TEXT_LARGE = 64 << 10,  /* bytes of a value (json_size) from which its text is kept */
    WORKER_TEXTS_BYTES = 32 << 20, /* in all */
    WORKER_TEXT_LEVELS = 4,        /* of objects that are gone through */
};

typedef struct WorkerText {
    Json value; /* JSON_NONE: free */
    Buf text;
    uint64_t used;
} WorkerText;

typedef struct WorkerTexts {
    WorkerText items[WORKER_TEXTS];
    size_t bytes;
    uint64_t clock;
} WorkerTexts;

/* Prints a value, in pieces, to the sink. */
void worker_texts_print(WorkerTexts *texts, Json value, JsonSink sink, void *ctx);
void worker_texts_clear(WorkerTexts *texts);

#endif
