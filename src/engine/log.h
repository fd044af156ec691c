/* log.h - what the work of nodes prints, on its way into the store.
 *
 * A step tells what its work prints (step_log()), in whatever pieces that comes. They are gathered in the engine's
 * own batch and go into the next one that is handed to the storage anyway, so that output costs no commit of its own
 * and what a step printed is durable with the checkpoint that ends it. Work that prints for long without a checkpoint
 * is not kept waiting: after LOG_WAIT_MS, or when there is much of it, what was gathered makes a batch.
 *
 * Of one execution LOG_HEAD bytes are kept as they come. Of what comes after, the last LOG_TAIL bytes of each stream
 * are kept in memory until the step ends, and then added, with a line that says how much is missing before them.
 */
#ifndef PAWL_LOG_H
#define PAWL_LOG_H

#include "frame.h"

#include <inttypes.h>

enum {
    LOG_HEAD = 14 << 20,
    LOG_TAIL = 512 << 10,
    LOG_WAIT_MS = 250,
    LOG_FULL = 256 << 10, /* bytes that do not wait any longer */
    LOG_BEHIND = 8 << 20, /* bytes that wait when the disk is slower than those who print */
};

#define LOG_LEFT_OUT "... %" PRId64 " bytes of %s are left out here ...\n"

/* The end of what a stream had beyond what is kept of it. */
typedef struct LogTail {
    Buf text;       /* up to twice LOG_TAIL bytes, the last LOG_TAIL of which count */
    int64_t offset; /* where in the stream it begins */
    int64_t from;   /* where what was not kept begins */
    bool begun;     /* there is such a thing */
} LogTail;

/* Of a step that has printed something. */
typedef struct StepLog {
    int64_t execution; /* LogPiece.execution */
    int64_t offsets[LOG_STREAMS];
    int64_t kept;
    bool again; /* LogPiece.again */
    /* Of one that was cancelled and may still say how it tidies up; node: NULL: of none */
    char *node, *frame_name;
    int64_t frame;
    int32_t attempt;
    int depth;
    LogTail *tails; /* LOG_STREAMS of them; NULL: all of it was kept */
} StepLog;

/* The work of a step has printed this. Where in its stream it begins; -1: it is not recorded. */
int64_t log_add(Step *s, LogStream stream, const char *bytes, size_t len);
/* The same of bytes that nobody has any more: with them goes all that was not kept before them. */
void log_lose(Step *s, LogStream stream, int64_t len);
/* Its frame goes, and its work ends a little later: what it prints until then is kept. */
void log_leave(Step *s);
/* Whether anything is still kept of what it prints. */
bool log_is_open(const Step *s);
/* It prints no more: adds what is left. May be called more than once. */
void log_end(Step *s);
void log_free(StepLog *log); /* accepts NULL */

/* What was gathered goes into the batch that is about to be handed over. When that has nothing else in it, it does
 * so only if it has waited long enough. */
void log_flush(Engine *e);
void log_close(Engine *e);

#endif
