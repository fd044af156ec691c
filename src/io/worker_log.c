#define _GNU_SOURCE
#include "worker_log.h"

#include <inttypes.h>
#include <stdio.h>

enum { CODE = 2 }; /* the stream of what the code itself logs */

static const char *const stream_names[WORKER_LOG_STREAMS] = {"stdout", "stderr", "log"};

static void keep_tail(WorkerLog *log, const char *bytes, size_t len) {
    if (len > WORKER_LOG_TAIL) {
        bytes += len - WORKER_LOG_TAIL;
        len = WORKER_LOG_TAIL;
    }
    size_t keep = log->tail_len + len > WORKER_LOG_TAIL ? WORKER_LOG_TAIL - len : log->tail_len;
    memmove(log->tail, log->tail + log->tail_len - keep, keep);
    memcpy(log->tail + keep, bytes, len);
    log->tail_len = keep + len;
}

/* Bytes of the end of each stream. */
static size_t end_max(const WorkerLog *log) {
    return log->max / 8 < WORKER_LOG_END ? log->max / 8 : WORKER_LOG_END;
}

/* The last bytes of what is not passed on are kept: in a buffer of up to twice as many. */
static void keep_end(WorkerLog *log, int stream, const char *bytes, size_t len) {
    Buf *end = &log->ends[stream];
    size_t most = end_max(log);
    if (len > most) {
        log->dropped[stream] += len - most + end->len;
        bytes += len - most;
        len = most;
        end->len = 0;
    }
    if (end->len + len > 2 * most) {
        size_t over = end->len + len - most;
        log->dropped[stream] += over;
        memmove(end->data, end->data + over, end->len - over);
        end->len -= over;
    }
    buf_add(end, bytes, len);
}

/* How much of it is to be passed on as it comes. */
static size_t admit(WorkerLog *log, int stream, const char *bytes, size_t len) {
    size_t most = log->max - WORKER_LOG_STREAMS * end_max(log);
    size_t left = most > log->passed ? most - log->passed : 0;
    size_t n = len < left ? len : left;
    log->passed += n;
    if (n < len) keep_end(log, stream, bytes + n, len - n);
    return n;
}

static void pass_on(const WorkerLog *log, const char *stream, const char *bytes, size_t len) {
    if (len && log->on_log) log->on_log(log->ctx, stream, bytes, len);
}

void worker_log_output(WorkerLog *log, int stream, const char *bytes, size_t len) {
    Buf text = BUF_INIT;
    if (stream == 1) keep_tail(log, bytes, len);
    utf8_pieces_add(&log->pieces[stream], bytes, admit(log, stream, bytes, len), &text);
    pass_on(log, stream_names[stream], text.data, text.len);
    buf_clear(&text);
}

void worker_log_text(WorkerLog *log, const char *text, size_t len) {
    pass_on(log, "log", text, admit(log, CODE, text, len));
}

/* The end of a stream, from the beginning of a character on. */
static void pass_end(WorkerLog *log, int stream) {
    char line[120];
    Buf *end = &log->ends[stream];
    size_t most = end_max(log), skip = end->len > most ? end->len - most : 0;
    while (skip && skip < end->len && ((unsigned char)end->data[skip] & 0xC0) == 0x80) skip++;
    uint64_t dropped = log->dropped[stream] + skip;
    if (dropped) {
        int n = snprintf(line, sizeof line, "... %" PRIu64 " bytes of %s are left out here ...\n",
                         dropped, stream_names[stream]);
        pass_on(log, "log", line, (size_t)n);
    }
    pass_on(log, stream_names[stream], end->data + skip, end->len - skip);
}

void worker_log_close(WorkerLog *log) {
    for (int i = 0; i < WORKER_LOG_STREAMS; i++) {
        Buf rest = BUF_INIT;
        if (i < CODE && !log->ends[i].len) utf8_pieces_end(&log->pieces[i], &rest);
        pass_on(log, stream_names[i], rest.data, rest.len);
        buf_clear(&rest);
        if (log->ends[i].len) pass_end(log, i);
    }
    worker_log_drop(log);
}

void worker_log_drop(WorkerLog *log) {
    for (int i = 0; i < WORKER_LOG_STREAMS; i++) buf_clear(&log->ends[i]);
}

bool worker_log_says(const WorkerLog *log, const char *words) {
    return memmem(log->tail, log->tail_len, words, strlen(words));
}

void worker_log_add_last_line(const WorkerLog *log, Buf *out) {
    size_t len = log->tail_len, from;
    while (len && (log->tail[len - 1] == '\n' || log->tail[len - 1] == ' ')) len--;
    for (from = len; from && log->tail[from - 1] != '\n';) from--;
    if (from == len) {
        buf_addc(out, '.');
        return;
    }
    buf_adds(out, ": ");
    utf8_repair(out, log->tail + from, len - from);
}
