/* worker_log.h - what the program behind one call prints, on its way to whoever listens.
 *
 *     WorkerLog log = {.max = 1 << 20, .on_log = on_log, .ctx = ctx};
 *     worker_log_output(&log, 0, bytes, len);      as it comes, from stdout (0) or stderr (1)
 *     worker_log_text(&log, text, len);            what the code itself logs
 *     worker_log_close(&log);
 *
 * Output is passed on in whole characters, as far as it is any. Of all of it together no more than
 * `max` bytes are passed on: as it comes until little is left of them, and the end of what follows when the
 * call is over, with a line before it that says how much is missing. The end of stderr is remembered beyond
 * that: when the program dies it is where the reason stands.
 */
#ifndef PAWL_WORKER_LOG_H
#define PAWL_WORKER_LOG_H

#include "utf8.h"

enum {
    WORKER_LOG_TAIL = 512, /* bytes of stderr that are remembered */
    WORKER_LOG_STREAMS = 3,
    WORKER_LOG_END = 64 << 10, /* bytes of the end of a stream; fewer where max is small */
};

typedef struct WorkerLog {
    size_t max;
    /* stream is "stdout", "stderr" or "log". May be NULL. */
    void (*on_log)(void *ctx, const char *stream, const char *bytes, size_t len);
    void *ctx;
    size_t passed;
    Buf ends[WORKER_LOG_STREAMS];         /* of what was not passed on */
    uint64_t dropped[WORKER_LOG_STREAMS]; /* bytes before that */
    Utf8Pieces pieces[2];
    char tail[WORKER_LOG_TAIL];
    size_t tail_len;
} WorkerLog;

void worker_log_output(WorkerLog *log, int stream, const char *bytes, size_t len);
void worker_log_text(WorkerLog *log, const char *text, size_t len);
void worker_log_close(WorkerLog *log); /* and frees what it holds */
void worker_log_drop(WorkerLog *log);  /* the same, and passes nothing on */

/* Whether the words stand in what is remembered of stderr. */
bool worker_log_says(const WorkerLog *log, const char *words);
/* Appends ": the last line of stderr", or a full stop when there is none. */
void worker_log_add_last_line(const WorkerLog *log, Buf *out);

#endif
