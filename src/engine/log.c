#include "log.h"

#include "hooks.h"
#include "mem.h"
#include "schedule.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- gathering ---- */

static void on_waited(uv_timer_t *timer) {
    Engine *e = timer->data;
    e->log_due = true;
    engine_set_idle(e, true);
}

static void gather(Step *s, LogStream stream, int64_t offset, const char *bytes, size_t len) {
    Engine *e = s->run->engine;
    Buf node = BUF_INIT;
    if (!e->log.count) {
        if (!e->log_timer) {
            e->log_timer = timer_new(e->options.loop, e);
            uv_unref((uv_handle_t *)e->log_timer);
        }
        uv_timer_start(e->log_timer, on_waited, LOG_WAIT_MS, 0);
    }
    if (s->frame) {
        frame_add_path(s->frame, &node);
    } else {
        buf_adds(&node, s->log->node);
    }
    store_batch_log(&e->log, &(LogPiece){.run = s->run->row.run,
                                         .execution = s->log->execution,
                                         .frame = s->frame ? s->frame->id : s->log->frame,
                                         .attempt = s->frame ? frame_top(s->frame)->attempt + 1
                                                             : s->log->attempt,
                                         .offset = offset,
                                         .at = engine_time(e),
                                         .stream = stream,
                                         .again = s->log->again,
                                         .node = node.data,
                                         .text = bytes,
                                         .len = len});
    buf_clear(&node);
    if (e->log.bytes.len > LOG_FULL && !e->log_due) {
        e->log_due = true;
        engine_set_idle(e, true);
    }
}

void log_flush(Engine *e) {
    if (!e->log.count || (!e->log_due && !storage_batch(e->storage)->count)) return;
    store_batch_add(storage_batch(e->storage), &e->log);
    if (e->log.bytes.cap > 4 * LOG_FULL) { /* so much is seldom needed again */
        store_batch_clear(&e->log);
    } else {
        store_batch_reset(&e->log);
    }
    e->log_due = false;
    uv_timer_stop(e->log_timer);
}

void log_close(Engine *e) {
    store_batch_clear(&e->log);
    timer_free(e->log_timer);
    e->log_timer = NULL;
}

/* ---- steps ---- */

/* Work outside has the checkpoint that led to it in the name of its place; an earlier process may have begun it, and
 * told what it printed so far. Pure work begins with the newest. */
static StepLog *log_of(Step *s) {
    if (s->log) return s->log;
    StepLog *log = s->log = mem_zalloc(sizeof *log);
    Json key = s->work->pure ? json_none() : work_part(s->frame->wait, WORK_KEY);
    bool named = json_kind(key) == JSON_STRING;
    int64_t execution = named ? strtoll(json_string_data(&key), NULL, 10) : 0;
    log->execution = execution > 0 ? execution : s->run->last ? s->run->last : 1;
    log->again = execution > 0 && execution <= s->run->loaded && s->work->forget &&
                 !json_array_len(step_answers(s));
    return log;
}

void log_leave(Step *s) {
    StepLog *log = log_of(s);
    Buf node = BUF_INIT;
    char name[40];
    frame_add_path(s->frame, &node);
    frame_name(s->frame, name, sizeof name);
    log->node = buf_detach(&node);
    log->frame_name = mem_strdup(name);
    log->frame = s->frame->id;
    log->attempt = frame_top(s->frame)->attempt + 1;
    log->depth = (int)s->frame->nlevels;
}

bool log_is_open(const Step *s) {
    return s->frame || (s->log && s->log->node);
}

static void keep_tail(LogTail *tail, int64_t offset, const char *bytes, size_t len) {
    if (!tail->begun) tail->from = offset;
    if (!tail->text.len) tail->offset = offset;
    tail->begun = true;
    buf_add(&tail->text, bytes, len);
    size_t over = tail->text.len > LOG_TAIL ? tail->text.len - LOG_TAIL : 0;
    if (over > LOG_TAIL) {
        memmove(tail->text.data, tail->text.data + over, LOG_TAIL);
        tail->text.len = LOG_TAIL;
        tail->offset += (int64_t)over;
    }
}

/* Whether the store takes output of the run: its lease goes back with its last batch. */
static bool is_recorded(const Run *run) {
    return run->engine->storage && !run->settled &&
           (run->leased || (run->row.run < 0 && !run->release_batch));
}

int64_t log_add(Step *s, LogStream stream, const char *bytes, size_t len) {
    if (!log_is_open(s) || !len || !is_recorded(s->run)) return -1;
    StepLog *log = log_of(s);
    int64_t offset = log->offsets[stream];
    log->offsets[stream] += (int64_t)len;
    size_t room = log->tails || log->kept >= LOG_HEAD ? 0 : (size_t)(LOG_HEAD - log->kept);
    size_t n = len < room ? len : room;
    log->kept += (int64_t)n;
    if (n) gather(s, stream, offset, bytes, n);
    if (n == len) return offset;
    if (!log->tails) log->tails = mem_zalloc(LOG_STREAMS * sizeof *log->tails);
    keep_tail(&log->tails[stream], offset + (int64_t)n, bytes + n, len - n);
    return offset;
}

void log_lose(Step *s, LogStream stream, int64_t len) {
    if (!log_is_open(s) || !is_recorded(s->run)) return;
    StepLog *log = log_of(s);
    if (!log->tails) log->tails = mem_zalloc(LOG_STREAMS * sizeof *log->tails);
    LogTail *tail = &log->tails[stream];
    if (!tail->begun) tail->from = log->offsets[stream];
    log->offsets[stream] += len;
    tail->begun = true;
    tail->offset = log->offsets[stream];
    buf_reset(&tail->text);
}

static void add_tail(Step *s, LogStream stream, LogTail *tail) {
    char line[100];
    size_t skip = tail->text.len > LOG_TAIL ? tail->text.len - LOG_TAIL : 0;
    while (skip && skip < tail->text.len && ((unsigned char)tail->text.data[skip] & 0xC0) == 0x80) {
        skip++;
    }
    int64_t offset = tail->offset + (int64_t)skip, left_out = offset - tail->from;
    if (left_out) {
        int n = snprintf(line, sizeof line, LOG_LEFT_OUT, left_out, log_stream_names[stream]);
        int64_t said = s->log->offsets[LOG_NOTES];
        s->log->offsets[LOG_NOTES] += n;
        gather(s, LOG_NOTES, said, line, (size_t)n);
    }
    if (tail->text.len > skip) {
        gather(s, stream, offset, tail->text.data + skip, tail->text.len - skip);
    }
}

static void clear_tails(StepLog *log) {
    for (int i = 0; log->tails && i < LOG_STREAMS; i++) buf_clear(&log->tails[i].text);
    mem_free(log->tails);
    log->tails = NULL;
}

void log_end(Step *s) {
    StepLog *log = s->log;
    if (!log || !log->tails) return;
    for (int i = 0; log_is_open(s) && is_recorded(s->run) && i < LOG_STREAMS; i++) {
        if (log->tails[i].begun) add_tail(s, (LogStream)i, &log->tails[i]);
    }
    clear_tails(log);
}

void log_free(StepLog *log) {
    if (!log) return;
    clear_tails(log);
    mem_free(log->node);
    mem_free(log->frame_name);
    mem_free(log);
}
