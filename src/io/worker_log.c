#define _GNU_SOURCE
#include "worker_log.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const stream_names[2] = {"stdout", "stderr"};

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

/* How much of it is to be passed on; the rest is counted. */
static size_t admit(WorkerLog *log, size_t len) {
    size_t left = log->max - log->passed;
    size_t n = len < left ? len : left;
    log->passed += n;
    log->dropped += len - n;
    return n;
}

static void pass_on(const WorkerLog *log, const char *stream, const char *bytes, size_t len) {
    if (len && log->on_log) log->on_log(log->ctx, stream, bytes, len);
}

void worker_log_output(WorkerLog *log, int stream, const char *bytes, size_t len) {
    Buf text = BUF_INIT;
    if (stream == 1) keep_tail(log, bytes, len);
    utf8_pieces_add(&log->pieces[stream], bytes, admit(log, len), &text);
    pass_on(log, stream_names[stream], text.data, text.len);
    buf_clear(&text);
}

void worker_log_text(WorkerLog *log, const char *text, size_t len) {
    pass_on(log, "log", text, admit(log, len));
}

static void close_stream(WorkerLog *log, int stream) {
    Buf rest = BUF_INIT;
    utf8_pieces_end(&log->pieces[stream], &rest);
    pass_on(log, stream_names[stream], rest.data, rest.len);
    buf_clear(&rest);
}

void worker_log_close(WorkerLog *log) {
    char text[120];
    close_stream(log, 0);
    close_stream(log, 1);
    if (!log->dropped) return;
    int n = snprintf(text, sizeof text, "... and %" PRIu64 " more bytes, which are not kept.\n",
                     log->dropped);
    pass_on(log, "log", text, (size_t)n);
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
