/* The pool: who does which call, and what workers say.
 *
 * A worker is in one of four phases:
 *
 *     idle      no call
 *     busy      a call is under way
 *     waiting   its call waits for an answer; neither counts nor keeps the loop alive
 *     ending    told to end, or ended; its call, if it still has one, ends with it
 *
 * A call is in the queue of its language (worker is NULL) or with a worker. Both are touched from
 * the loop's thread only. A callback may drop any call, so after each the worker is asked anew for
 * its call. The memory of a worker outlives all of that: it is freed when the last of its handles
 * is closed.
 *
 * Codes have slots: a call says the number of a slot, and brings the source when the worker's slot
 * has another one in it. Old codes lose their slots to new ones, in turn. */
#define _GNU_SOURCE
#include "workers.h"

#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "process.h"
#include "worker_log.h"
#include "worker_memory.h"
#include "worker_message.h"
#include "worker_program.h"
#include "worker_spawn.h"
#include "worker_texts.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CODES = 256,               /* compiled codes that a worker keeps */
    PIECE = 1 << 16,           /* read or written at once */
    PIECES_A_TURN = 16,        /* so that one worker does not keep the loop to itself */
    DRAIN_MAX = 1 << 20,       /* of a pipe that somebody goes on filling */
    RESULT_HEAP_MAX = 1 << 30, /* bytes that a result may take as a value */
    TICK_MS = 200,             /* memory and deadlines are looked at this often */
    LOOK_SHARE = 20,  /* looking at the memory of all takes at most such a part of the time */
    GRACE_MS = 300,   /* between SIGTERM and SIGKILL */
    CLOSED_MS = 1000, /* to end, after closing its socket */
    IDLE_MS = 60000,  /* unless the options say otherwise */
    BUSY_MIN = 4,     /* the same */
    BUSY_MAX = 1024,  /* whatever anybody says */
    MEMORY_DEFAULT = 1 << 30,  /* the same */
    OUTPUT_DEFAULT = 16 << 20, /* the same */
    TOKEN_BYTES = 16,
    RANDOM_BYTES = 32 * TOKEN_BYTES, /* that are asked for at once */
    CHANNEL = 0,
    FIRST_STREAM = 1, /* indices of a worker's polls */
    END = 3,
    POLLS = 4,
};

/* ---- data ---- */

typedef enum Phase { PHASE_IDLE, PHASE_BUSY, PHASE_FROZEN, PHASE_WAITING, PHASE_ENDING } Phase;

typedef struct Worker Worker;

struct Worker {
    WorkerPool *pool;
    WorkerProgram program;
    WorkerProcess process;
    uv_poll_t polls[POLLS];
    int npolls, open_polls;
    int events; /* that its socket is watched for */
    Phase phase;
    WorkerCall *call;
    bool retire; /* not to be used again */
    bool gone;   /* reaped */
    bool doomed; /* by us: how and why, for its call */
    WorkerEnd doom_end;
    char *doom_message;
    uint64_t kill_at; /* 0: not yet */
    uint64_t idle_since;
    uint64_t memory; /* the limit that it has now; 0: none */
    uint64_t others; /* bytes of what it started, when that was looked at last */
    uint64_t files;  /* bytes that they have in files without a name; the same */
    JsonParser *parser;
    uint64_t lines, values; /* that it wrote: as many of one as of the other */
    uint64_t line_bytes;    /* of the one that is not whole yet */
    Buf out;                /* what the socket did not take yet, from `written` on */
    size_t written;
    uint64_t known[CODES]; /* the code in each of its slots */
};

struct WorkerCall {
    WorkerPool *pool;
    Worker *worker;                  /* NULL while it queues */
    WorkerCall *next;                /* in the queue */
    char token[TOKEN_BYTES * 2 + 1]; /* names the call to its worker; nobody can guess it */
    WorkerProgram program;
    WorkerOptions options; /* with references and copies of its own */
    bool cancelled;
    bool frozen;
    WorkerLog log;
};

typedef struct Queue {
    WorkerCall *first, **last;
    bool dispatching;
} Queue;

typedef struct Code {
    uint64_t id; /* 0: free */
    WorkerLanguage language;
    Json source, names;
} Code;

struct WorkerPool {
    uv_loop_t *loop;
    uv_timer_t tick, sweep;
    int open_handles;
    bool freed;
    const char *const *environment;
    char *notes; /* the folder of them; NULL: none */
    int busy_max;
    uint64_t idle_ms;
    Worker **workers;
    size_t nworkers, cap;
    Queue queues[WORKER_LANGUAGES];
    uint64_t calls, calls_swept;
    int under_way; /* calls that keep the loop alive */
    Code codes[CODES];
    uint64_t ncodes; /* ever */
    WorkerTexts texts;
    char *piece;
    unsigned char chance[RANDOM_BYTES]; /* for tokens: bytes that are not used yet */
    size_t nchance;
    struct { /* memory; the work and the items are the other thread's while it looks */
        uv_work_t work;
        WorkerMemory *items;
        size_t n, cap;
        bool looking, all;
        uint64_t took, all_after; /* nanoseconds */
    } meter;
};

static void dispatch(WorkerPool *pool, WorkerLanguage language);

/* ---- the loop is kept alive while something is under way ---- */

static void on_tick(uv_timer_t *timer);

static void start_ticking(WorkerPool *pool) {
    if (!uv_is_active((uv_handle_t *)&pool->tick)) {
        uv_timer_start(&pool->tick, on_tick, TICK_MS, TICK_MS);
    }
}

static void tick_soon(WorkerPool *pool) {
    uv_timer_start(&pool->tick, on_tick, 0, TICK_MS);
}

static void hold(WorkerPool *pool) {
    if (pool->under_way++ == 0) uv_ref((uv_handle_t *)&pool->tick);
    start_ticking(pool);
}

static void let_go(WorkerPool *pool) {
    if (--pool->under_way == 0) uv_unref((uv_handle_t *)&pool->tick);
}

/* ---- calls ---- */

static char *copy_text(const char *text) {
    return text ? mem_strndup(text, strlen(text)) : NULL;
}

static void call_clear_input(WorkerCall *call) {
    json_clear(&call->options.state);
    json_clear(&call->options.env);
    json_clear(&call->options.vars);
    json_clear(&call->options.answers);
    json_clear(&call->options.code);
}

static void call_free(WorkerCall *call) {
    call_clear_input(call);
    mem_free((char *)(uintptr_t)call->options.function);
    mem_free((char *)(uintptr_t)call->options.folder);
    worker_program_clear(&call->program);
    worker_log_drop(&call->log);
    mem_free(call);
}

static void queue_remove(Queue *queue, const WorkerCall *call) {
    WorkerCall **at = &queue->first;
    while (*at && *at != call) at = &(*at)->next;
    if (!*at) return;
    *at = call->next;
    if (!*at) queue->last = at;
}

/* ---- ending a worker ---- */

static void on_poll_closed(uv_handle_t *handle);

static void kill_worker(Worker *w) {
    w->phase = PHASE_ENDING;
    w->kill_at = 0;
    worker_signal(&w->process, SIGKILL);
    start_ticking(w->pool);
}

/* Its call ends so once it is dead; the first reason counts. */
static void doom(Worker *w, WorkerEnd end, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void doom(Worker *w, WorkerEnd end, const char *fmt, ...) {
    if (!w->doomed) {
        char text[ERROR_MSG_MAX];
        va_list args;
        va_start(args, fmt);
        vsnprintf(text, sizeof text, fmt, args);
        va_end(args);
        w->doomed = true;
        w->doom_end = end;
        w->doom_message = copy_text(text);
    }
    kill_worker(w);
}

static void worker_close(Worker *w) {
    WorkerPool *pool = w->pool;
    for (size_t i = 0; i < pool->nworkers; i++) {
        if (pool->workers[i] == w) pool->workers[i] = pool->workers[--pool->nworkers];
    }
    for (int i = 0; i < w->npolls; i++) {
        if (!uv_is_closing((uv_handle_t *)&w->polls[i])) {
            uv_close((uv_handle_t *)&w->polls[i], on_poll_closed);
        }
    }
}

static void pool_closed_one(WorkerPool *pool) {
    if (--pool->open_handles > 0 || !pool->freed) return;
    mem_free(pool->workers);
    mem_free(pool->meter.items);
    mem_free(pool->piece);
    mem_free(pool->notes);
    mem_free(pool);
}

static void on_poll_closed(uv_handle_t *handle) {
    Worker *w = handle->data;
    WorkerPool *pool = w->pool;
    if (--w->open_polls == 0) {
        close(w->process.channel);
        close(w->process.streams[0]);
        close(w->process.streams[1]);
        if (w->process.pidfd >= 0) close(w->process.pidfd);
        json_parser_free(w->parser);
        buf_clear(&w->out);
        worker_program_clear(&w->program);
        mem_free(w->doom_message);
        mem_free(w);
    }
    pool_closed_one(pool);
}

/* ---- what it prints ---- */

/* One piece; 0 when there is nothing now, and the stream is left alone once it is at its end. */
static size_t read_stream(Worker *w, int index) {
    ssize_t n = read(w->process.streams[index], w->pool->piece, PIECE);
    if (n > 0) {
        if (w->call) worker_log_output(&w->call->log, index, w->pool->piece, (size_t)n);
        return (size_t)n;
    }
    if (n == 0 && !uv_is_closing((uv_handle_t *)&w->polls[FIRST_STREAM + index])) {
        uv_poll_stop(&w->polls[FIRST_STREAM + index]);
    }
    return 0;
}

static void on_stream(uv_poll_t *poll, int status, int events) {
    (void)status;
    (void)events;
    Worker *w = poll->data;
    int index = (int)(poll - w->polls) - FIRST_STREAM;
    for (int i = 0; i < PIECES_A_TURN && read_stream(w, index) == PIECE; i++) {}
}

/* What was printed before now. */
static void drain(Worker *w) {
    for (int i = 0; i < 2; i++) {
        for (size_t total = 0, n = 1; n > 0 && total < DRAIN_MAX; total += n) n = read_stream(w, i);
    }
}

/* ---- the end of a call ---- */

/* Nothing of the call is touched after on_end. */
static void call_end(WorkerCall *call, const WorkerResult *result) {
    WorkerPool *pool = call->pool;
    if (call->worker) call->worker->call = NULL;
    call->worker = NULL;
    worker_log_close(&call->log);
    let_go(pool);
    dispatch(pool, call->program.language);
    call->options.on_end(call->options.ctx, result);
    call_free(call);
}

static void call_end_with(WorkerCall *call, WorkerEnd end, const char *message) {
    WorkerResult result = {.end = end, .message = message, .type = "", .traceback = ""};
    call_end(call, &result);
}

static void call_cancelled(WorkerCall *call) {
    call_end_with(call, WORKER_CANCELLED, "The call was cancelled.");
}

static void on_sweep(uv_timer_t *timer);

static void rest(Worker *w) {
    WorkerPool *pool = w->pool;
    if (w->retire) {
        kill_worker(w);
        return;
    }
    w->phase = PHASE_IDLE;
    w->idle_since = uv_now(pool->loop);
    if (!uv_is_active((uv_handle_t *)&pool->sweep)) {
        uv_timer_start(&pool->sweep, on_sweep, pool->idle_ms, 0);
        uv_unref((uv_handle_t *)&pool->sweep);
    }
}

/* ---- what a worker says ---- */

static void take_result(Worker *w, const WorkerMessage *m) {
    WorkerResult result = {
        .end = WORKER_RETURNED, .value = m->value, .message = "", .type = "", .traceback = ""};
    WorkerCall *call = w->call;
    rest(w);
    call_end(call, &result);
}

static void memory_sentence(const WorkerCall *call, const char *did, const char *then, Buf *out) {
    uint64_t bytes = call->options.memory;
    bool whole = bytes % (1 << 30) == 0;
    buf_reset(out);
    buf_printf(out,
               "The code %s more memory than the %" PRIu64 "%s that it may use%s. Raise `memory`, "
               "or let it work on less at a time.",
               did, whole ? bytes >> 30 : bytes >> 20, whole ? "G" : "M", then);
}

static void take_error(Worker *w, const WorkerMessage *m) {
    WorkerCall *call = w->call;
    Buf type = BUF_INIT, traceback = BUF_INIT, message = BUF_INIT;
    worker_message_text(m->type, &type);
    worker_message_text(m->traceback, &traceback);
    worker_message_sentence(m, &message);
    if (m->limit) memory_sentence(call, "asked for", "", &message);
    WorkerResult result = {.end = m->limit ? WORKER_LIMIT : WORKER_RAISED,
                           .message = message.data,
                           .type = type.data,
                           .traceback = traceback.data,
                           .line = m->line};
    w->retire = w->retire || m->retire;
    rest(w);
    call_end(call, &result);
    buf_clear(&type);
    buf_clear(&traceback);
    buf_clear(&message);
}

static void take_interrupt(Worker *w, const WorkerMessage *m) {
    WorkerCall *call = w->call;
    if (!call->options.on_interrupt) {
        doom(w, WORKER_RUBBISH, "The code called interrupt(), and nobody can be asked here.");
        return;
    }
    w->phase = PHASE_WAITING;
    let_go(w->pool);
    dispatch(w->pool, w->program.language);
    call->options.on_interrupt(call->options.ctx, m->value);
}

static void take_log(Worker *w, const WorkerMessage *m) {
    worker_log_text(&w->call->log, json_string_data(&m->value), json_string_len(m->value));
}

static void take_rubbish(Worker *w, const char *why) {
    doom(w, WORKER_RUBBISH,
         "Something that is not for it was written to descriptor %d of %s, over which it speaks "
         "with Pawl. The code must leave that descriptor alone.%s%s",
         WORKER_FD, worker_interpreters[w->program.language].name,
         *why ? " What was written: " : "", why);
}

/* What was printed before a message comes before it. That may be told to somebody who drops the call. */
static void take_message(Worker *w, Json value) {
    static const struct {
        void (*take)(Worker *w, const WorkerMessage *m);
        bool at_once; /* whatever was printed */
    } rows[] = {
        [SAID_RESULT] = {take_result, false},
        [SAID_ERROR] = {take_error, false},
        [SAID_INTERRUPT] = {take_interrupt, false},
        [SAID_LOG] = {take_log, false},
    };
    WorkerCall *call = w->call;
    WorkerMessage m;
    Error err = ERROR_INIT;
    if (w->phase == PHASE_ENDING && (!call || w->doomed || call->cancelled)) return;
    if (!worker_message_read(value, &m, &err)) {
        take_rubbish(w, err.msg);
    } else if (m.said == SAID_UNSTARTED) {
        doom(w, WORKER_UNSTARTED, "Cannot start %s: %s.",
             worker_interpreters[w->program.language].name, strerror(m.why));
    } else if (!call || w->phase == PHASE_WAITING || !json_string_is(m.call, call->token)) {
        doom(w, WORKER_RUBBISH,
             "%s said something that belongs to no call: an earlier call left code behind that "
             "still runs, or the code wrote to descriptor %d, over which %s speaks with Pawl.",
             worker_interpreters[w->program.language].name, WORKER_FD,
             worker_interpreters[w->program.language].name);
    } else {
        if (!rows[m.said].at_once) drain(w);
        if (w->call == call) rows[m.said].take(w, &m);
    }
}

/* ---- reading ---- */

static void take_values(Worker *w) {
    Error err = ERROR_INIT;
    Json message;
    JsonParseStatus status;
    while ((status = json_parser_next(w->parser, &message, &err)) == JSON_PARSE_VALUE) {
        w->values++;
        w->line_bytes = 0;
        take_message(w, message);
        json_unref(message);
    }
    if (status == JSON_PARSE_ERROR && err.code == ERR_LIMIT) {
        doom(w, WORKER_LIMIT, "What the code gave back takes too much memory.");
    } else if (status == JSON_PARSE_ERROR && json_parse_too_deep(&err)) {
        doom(w, WORKER_LIMIT, "What the code gave back is nested more than %d levels deep.",
             JSON_DEPTH_MAX);
    } else if (status == JSON_PARSE_ERROR || w->values < w->lines) {
        take_rubbish(w, "");
    }
}

typedef enum Reading { READ_SOME, READ_NOTHING, READ_END } Reading;

static Reading read_channel(Worker *w) {
    char *piece = json_parser_reserve(w->parser, PIECE);
    ssize_t n = read(w->process.channel, piece, PIECE);
    bool later = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    json_parser_commit(w->parser, n > 0 ? (size_t)n : 0, false);
    if (n <= 0) return later ? READ_NOTHING : READ_END;
    for (const char *at = piece, *end = piece + n; (at = memchr(at, '\n', (size_t)(end - at)));
         at++) {
        w->lines++;
    }
    w->line_bytes += (uint64_t)n;
    if (w->line_bytes > WORKER_RESULT_MAX) {
        doom(w, WORKER_LIMIT, "What the code gave back is longer than %d MB.",
             WORKER_RESULT_MAX >> 20);
    } else {
        take_values(w);
    }
    return READ_SOME;
}

/* What a frozen one said before it stood still is heard when it goes on. */
static bool can_be_read(const Worker *w) {
    return !w->gone && w->phase != PHASE_FROZEN && !(w->phase == PHASE_ENDING && w->doomed);
}

/* ---- writing ---- */

static void on_channel(uv_poll_t *poll, int status, int events);

static void watch_channel(Worker *w) {
    int events = w->phase == PHASE_FROZEN ? 0 : UV_READABLE;
    if (w->out.len > w->written) events |= UV_WRITABLE;
    if (events && events != w->events) uv_poll_start(&w->polls[CHANNEL], events, on_channel);
    if (!events) uv_poll_stop(&w->polls[CHANNEL]);
    w->events = events;
}

static void write_channel(Worker *w) {
    while (w->written < w->out.len) {
        ssize_t n = send(w->process.channel, w->out.data + w->written, w->out.len - w->written,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n < 0) break; /* it is dying, as we shall be told */
        w->written += (size_t)n;
    }
    w->written = 0;
    if (w->out.cap > PIECE * 2) {
        buf_clear(&w->out);
    } else {
        buf_reset(&w->out);
    }
}

static void on_channel(uv_poll_t *poll, int status, int events) {
    Worker *w = poll->data;
    Reading reading = READ_SOME;
    if (status == 0 && (events & UV_WRITABLE)) {
        write_channel(w);
        watch_channel(w);
    }
    for (int i = 0; i < PIECES_A_TURN && reading == READ_SOME && can_be_read(w); i++) {
        reading = read_channel(w);
    }
    if (reading != READ_END || w->gone) return;
    uv_poll_stop(&w->polls[CHANNEL]); /* it closed its socket, or is about to end */
    w->events = 0;
    if (w->phase == PHASE_ENDING) return;
    w->kill_at = uv_now(w->pool->loop) + CLOSED_MS;
    start_ticking(w->pool);
}

/* The text goes to the socket while it is being made; what does not fit waits. */
static bool print_piece(void *ctx, const char *text, size_t len) {
    Worker *w = ctx;
    buf_add(&w->out, text, len);
    if (w->out.len - w->written >= PIECE / 2) write_channel(w);
    return true;
}

static void print_field(Worker *w, const char *key, Json value) {
    if (json_is_none(value)) return;
    buf_printf(&w->out, ",\"%s\":", key);
    json_print_to(value, NULL, print_piece, w);
}

static void print_text(Worker *w, const char *key, const char *text) {
    Json value = text ? json_string_c(text) : json_none();
    print_field(w, key, value);
    json_unref(value);
}

static void end_line(Worker *w) {
    buf_adds(&w->out, "}\n");
    write_channel(w);
    watch_channel(w);
}

/* ---- codes ---- */

static void code_clear(Code *code) {
    json_clear(&code->source);
    json_clear(&code->names);
    code->id = 0;
}

/* The slot of the call's code, new if need be. Consumes names. */
static size_t slot_of(WorkerPool *pool, const WorkerCall *call, Json names) {
    for (size_t i = 0; i < CODES; i++) {
        const Code *code = &pool->codes[i];
        if (code->id && code->language == call->program.language &&
            json_string_equal(code->source, call->options.code) && json_equal(code->names, names)) {
            json_unref(names);
            return i;
        }
    }
    size_t slot = pool->ncodes++ % CODES;
    Code *code = &pool->codes[slot];
    code_clear(code);
    *code = (Code){pool->ncodes, call->program.language, json_ref(call->options.code), names};
    return slot;
}

/* ---- giving a call to a worker ---- */

static void give(Worker *w, WorkerCall *call) {
    const WorkerOptions *o = &call->options;
    drain(w); /* what an earlier call left behind is nobody's */
    w->call = call;
    w->phase = PHASE_BUSY;
    call->worker = w;
    if (w->memory != o->memory) {
        w->memory = o->memory;
        worker_limit_data(&w->process,
                          o->memory + worker_interpreters[w->program.language].data_slack);
    }
    buf_printf(&w->out, "{\"call\":\"%s\"", call->token);
    if (o->file) {
        print_text(w, "function", o->function);
    } else {
        Json names = json_is_none(o->vars) ? json_array() : json_object_keys(o->vars, false);
        size_t slot = slot_of(w->pool, call, names);
        const Code *code = &w->pool->codes[slot];
        buf_printf(&w->out, ",\"code\":%zu", slot);
        if (w->known[slot] != code->id) {
            w->known[slot] = code->id;
            print_field(w, "source", code->source);
            print_field(w, "names", code->names);
        }
    }
    print_text(w, "folder", o->folder);
    print_field(w, "env", o->env);
    print_field(w, "vars", o->vars);
    print_field(w, "answers", o->answers);
    Json state = json_is_none(o->state) ? json_object() : json_ref(o->state);
    buf_adds(&w->out, ",\"state\":");
    worker_texts_print(&w->pool->texts, state, print_piece, w);
    json_unref(state);
    end_line(w);
    call_clear_input(call);
}

/* ---- new workers ---- */

static void on_end(uv_poll_t *poll, int status, int events);

static void watch(Worker *w, int index, int fd, uv_poll_cb callback) {
    uv_poll_t *poll = &w->polls[index];
    uv_poll_init(w->pool->loop, poll, fd);
    poll->data = w;
    uv_poll_start(poll, UV_READABLE, callback);
    uv_unref((uv_handle_t *)poll);
    w->npolls++;
    w->open_polls++;
    w->pool->open_handles++;
}

static Worker *start_worker(WorkerPool *pool, const WorkerProgram *program, Error *err) {
    const WorkerInterpreter *interpreter = &worker_interpreters[program->language];
    char path[PATH_MAX], heap[48];
    WorkerProcess process;
    if (!worker_find(pool->environment, interpreter->variable, interpreter->program, path, err)) {
        return NULL;
    }
    snprintf(heap, sizeof heap, "--max-old-space-size=%" PRIu64, program->heap >> 20);
    const char *argv[8] = {path}, *const *option = interpreter->options;
    int argc = 1;
    if (program->heap) argv[argc++] = heap;
    while (*option) argv[argc++] = *option++;
    argv[argc] = interpreter->boot;
    if (!worker_spawn(argv, pool->environment, pool->notes, &process, err)) return NULL;
    Worker *w = mem_zalloc(sizeof *w);
    w->pool = pool;
    w->program = worker_program_copy(program);
    w->process = process;
    w->parser = json_parser_new(&(JsonParseOptions){.max_bytes = RESULT_HEAP_MAX});
    watch(w, CHANNEL, process.channel, on_channel);
    watch(w, FIRST_STREAM, process.streams[0], on_stream);
    watch(w, FIRST_STREAM + 1, process.streams[1], on_stream);
    if (process.pidfd >= 0) watch(w, END, process.pidfd, on_end);
    pool->workers = mem_grow(pool->workers, pool->nworkers, &pool->cap, sizeof *pool->workers);
    pool->workers[pool->nworkers++] = w;
    Json runtime = json_string_valid(interpreter->runtime, *interpreter->runtime_len);
    buf_adds(&w->out, "{\"runtime\":");
    json_print(runtime, NULL, &w->out);
    json_unref(runtime);
    print_text(w, "file", w->program.file);
    print_text(w, "home", w->program.home);
    end_line(w);
    return w;
}

/* ---- choosing ---- */

/* The one that was busy last: it is warm, and the others may get old. Those that have an earlier
 * state of the same file are let go. */
static Worker *find_idle(WorkerPool *pool, const WorkerProgram *program) {
    Worker *best = NULL;
    for (size_t i = 0; i < pool->nworkers; i++) {
        Worker *w = pool->workers[i];
        if (w->phase != PHASE_IDLE || !worker_program_same_file(&w->program, program)) continue;
        if (!worker_program_same(&w->program, program)) {
            kill_worker(w);
        } else if (!best || w->idle_since >= best->idle_since) {
            best = w;
        }
    }
    return best;
}

/* Makes room if some other program's worker has nothing to do. */
static bool has_room(WorkerPool *pool, WorkerLanguage language) {
    Worker *oldest = NULL;
    int n = 0;
    for (size_t i = 0; i < pool->nworkers; i++) {
        Worker *w = pool->workers[i];
        bool idle = w->phase == PHASE_IDLE;
        if (w->program.language != language || (!idle && w->phase != PHASE_BUSY)) continue;
        if (idle && (!oldest || w->idle_since < oldest->idle_since)) oldest = w;
        n++;
    }
    if (n < pool->busy_max) return true;
    if (oldest) kill_worker(oldest);
    return oldest != NULL;
}

typedef enum Given { GIVEN, NO_ROOM, FAILED } Given;

static Given try_give(WorkerCall *call, Error *err) {
    Worker *w = find_idle(call->pool, &call->program);
    if (!w && !has_room(call->pool, call->program.language)) return NO_ROOM;
    if (!w) w = start_worker(call->pool, &call->program, err);
    if (!w) return FAILED;
    give(w, call);
    return GIVEN;
}

static WorkerCall *next_call(const Queue *queue) {
    WorkerCall *call = queue->first;
    while (call && call->frozen && !call->cancelled) call = call->next;
    return call;
}

/* Ending a call comes back here: the outermost goes on, however many there are. */
static void dispatch(WorkerPool *pool, WorkerLanguage language) {
    Queue *queue = &pool->queues[language];
    Error err = ERROR_INIT;
    if (queue->dispatching) return;
    queue->dispatching = true;
    for (WorkerCall *call; (call = next_call(queue));) {
        Given given = call->cancelled ? FAILED : try_give(call, &err);
        if (given == NO_ROOM) break;
        queue_remove(queue, call);
        if (given == GIVEN) continue;
        if (call->cancelled) {
            call_cancelled(call);
        } else {
            call_end_with(call, WORKER_UNSTARTED, err.msg);
        }
    }
    queue->dispatching = false;
}

/* ---- the end of a worker ---- */

static void end_died(WorkerCall *call, const char *name, int status) {
    WorkerResult result = {.end = WORKER_DIED, .type = "", .traceback = ""};
    Buf message = BUF_INIT;
    if (WIFSIGNALED(status)) {
        result.signal = WTERMSIG(status);
        buf_printf(&message, "%s was ended by signal %d (%s) before the code returned", name,
                   result.signal, strsignal(result.signal));
    } else {
        result.code = WEXITSTATUS(status);
        buf_printf(&message, "%s ended with exit code %d before the code returned", name,
                   result.code);
    }
    worker_log_add_last_line(&call->log, &message);
    result.message = message.data;
    call_end(call, &result);
    buf_clear(&message);
}

static void end_call_of(Worker *w, int status) {
    WorkerCall *call = w->call;
    Buf message = BUF_INIT;
    if (w->phase == PHASE_WAITING) hold(w->pool);
    w->phase = PHASE_ENDING;
    if (call->cancelled) {
        call_cancelled(call);
    } else if (w->doomed) {
        call_end_with(call, w->doom_end, w->doom_message);
    } else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL &&
               worker_log_says(&call->log, "out of memory")) {
        memory_sentence(call, "used", ", and was ended", &message);
        call_end_with(call, WORKER_LIMIT, message.data);
    } else {
        end_died(call, worker_interpreters[w->program.language].name, status);
    }
    buf_clear(&message);
}

static bool look_whether_gone(Worker *w) {
    int status;
    if (w->gone || !worker_reap(&w->process, false, &status)) return w->gone;
    /* What it said with its last breath still counts. */
    while (w->call && can_be_read(w) && !w->call->cancelled && read_channel(w) == READ_SOME) {}
    drain(w);
    w->gone = true;
    if (w->call) end_call_of(w, status);
    w->phase = PHASE_ENDING;
    worker_close(w);
    dispatch(w->pool, w->program.language);
    return true;
}

static void on_end(uv_poll_t *poll, int status, int events) {
    (void)status;
    (void)events;
    look_whether_gone(poll->data);
}

/* ---- memory ---- */

static void look_at_memory(uv_work_t *work) {
    WorkerPool *pool = work->data;
    uint64_t start = uv_hrtime();
    worker_memory_look(pool->meter.items, pool->meter.n, pool->meter.all);
    pool->meter.took = uv_hrtime() - start;
}

/* Its number is its own, since it was not reaped. */
static Worker *busy_worker(const WorkerPool *pool, pid_t pid) {
    for (size_t i = 0; i < pool->nworkers; i++) {
        Worker *w = pool->workers[i];
        if (w->process.pid == pid && !w->gone && w->phase == PHASE_BUSY) return w;
    }
    return NULL;
}

static void take_memory(uv_work_t *work, int status) {
    WorkerPool *pool = work->data;
    (void)status;
    pool->meter.looking = false;
    if (pool->meter.all) pool->meter.all_after = uv_hrtime() + pool->meter.took * LOOK_SHARE;
    for (size_t i = 0; i < pool->meter.n && !pool->freed; i++) {
        const WorkerMemory *item = &pool->meter.items[i];
        Worker *w = busy_worker(pool, item->leader);
        if (!w) continue;
        w->others = item->others;
        w->files = item->files;
        if (item->bytes > item->enough) w->retire = true;
        if (item->bytes <= w->call->options.memory) continue;
        Buf message = BUF_INIT;
        memory_sentence(w->call, "used", ", and was ended", &message);
        doom(w, WORKER_LIMIT, "%s", message.data);
        buf_clear(&message);
    }
    pool_closed_one(pool);
}

static void measure(WorkerPool *pool) {
    if (pool->meter.looking) return;
    pool->meter.n = 0;
    for (size_t i = 0; i < pool->nworkers; i++) {
        const Worker *w = pool->workers[i];
        if (w->phase != PHASE_BUSY || w->gone) continue;
        pool->meter.items =
            mem_grow(pool->meter.items, pool->meter.n, &pool->meter.cap, sizeof *pool->meter.items);
        pool->meter.items[pool->meter.n++] =
            (WorkerMemory){.leader = w->process.pid,
                           .enough = w->call->options.memory / 4 * 3,
                           .others = w->others,
                           .files = w->files};
    }
    if (!pool->meter.n) return;
    pool->meter.all = uv_hrtime() >= pool->meter.all_after;
    pool->meter.work.data = pool;
    pool->meter.looking =
        uv_queue_work(pool->loop, &pool->meter.work, look_at_memory, take_memory) == 0;
    pool->open_handles += pool->meter.looking;
}

/* ---- now and then ---- */

static void tick_worker(Worker *w) {
    if (look_whether_gone(w)) return;
    if (w->kill_at && uv_now(w->pool->loop) >= w->kill_at) {
        if (w->phase == PHASE_ENDING) {
            kill_worker(w);
        } else {
            take_rubbish(w, "");
        }
    }
}

static void end_cancelled(Queue *queue) {
    for (WorkerCall *call = queue->first; call; call = call->next) {
        if (!call->cancelled) continue;
        queue_remove(queue, call);
        call_cancelled(call);
        call = queue->first;
        if (!call) return;
    }
}

static void on_tick(uv_timer_t *timer) {
    WorkerPool *pool = timer->data;
    for (int i = 0; i < WORKER_LANGUAGES; i++) {
        end_cancelled(&pool->queues[i]);
        dispatch(pool, (WorkerLanguage)i);
    }
    for (size_t i = pool->nworkers; i-- > 0;) {
        if (i < pool->nworkers) tick_worker(pool->workers[i]);
    }
    measure(pool);
    bool more = pool->under_way > 0;
    for (size_t i = 0; !more && i < pool->nworkers; i++) {
        more = pool->workers[i]->phase == PHASE_ENDING || pool->workers[i]->kill_at;
    }
    if (!more) uv_timer_stop(timer);
}

/* Of each program one may stay. */
static void on_sweep(uv_timer_t *timer) {
    WorkerPool *pool = timer->data;
    bool twins = false;
    for (size_t i = 0; i < pool->nworkers; i++) {
        Worker *w = pool->workers[i];
        bool twin = false;
        for (size_t k = 0; k < pool->nworkers && !twin; k++) {
            const Worker *other = pool->workers[k];
            twin = other != w && other->phase == PHASE_IDLE &&
                   worker_program_same(&other->program, &w->program);
        }
        if (w->phase != PHASE_IDLE || !twin) continue;
        if (uv_now(pool->loop) - w->idle_since >= pool->idle_ms) {
            kill_worker(w);
        } else {
            twins = true;
        }
    }
    if (pool->calls == pool->calls_swept) worker_texts_clear(&pool->texts);
    pool->calls_swept = pool->calls;
    bool texts = pool->texts.bytes > 0;
    if (twins || texts) uv_timer_start(timer, on_sweep, pool->idle_ms / 2 + 1, 0);
}

/* ---- the interface ---- */

WorkerPool *worker_pool_new(uv_loop_t *loop, const WorkerPoolOptions *options) {
    WorkerPool *pool = mem_zalloc(sizeof *pool);
    WorkerPoolOptions o = options ? *options : (WorkerPoolOptions){0};
    const char *text = environment_get(o.environment, "PAWL_WORKERS");
    long busy = o.busy_max ? o.busy_max : text ? strtol(text, NULL, 10) : 0;
    if (busy < 1) {
        busy = sysconf(_SC_NPROCESSORS_ONLN);
        busy = busy < BUSY_MIN ? BUSY_MIN : busy;
    }
    pool->loop = loop;
    pool->environment = o.environment;
    pool->notes = mem_strdup(o.notes);
    pool->busy_max = busy < BUSY_MAX ? (int)busy : BUSY_MAX;
    pool->idle_ms = o.idle_ms ? o.idle_ms : IDLE_MS;
    pool->piece = mem_alloc(PIECE);
    for (int i = 0; i < WORKER_LANGUAGES; i++) pool->queues[i].last = &pool->queues[i].first;
    uv_timer_init(loop, &pool->tick);
    uv_timer_init(loop, &pool->sweep);
    pool->tick.data = pool->sweep.data = pool;
    uv_unref((uv_handle_t *)&pool->tick);
    pool->open_handles = 2;
    return pool;
}

static void on_timer_closed(uv_handle_t *handle) {
    pool_closed_one(handle->data);
}

void worker_pool_free(WorkerPool *pool) {
    if (!pool) return;
    int status;
    pool->freed = true;
    for (int i = 0; i < WORKER_LANGUAGES; i++) {
        for (WorkerCall *call; (call = pool->queues[i].first);) {
            queue_remove(&pool->queues[i], call);
            call_free(call);
        }
    }
    for (size_t i = 0; i < pool->nworkers; i++) worker_signal(&pool->workers[i]->process, SIGKILL);
    while (pool->nworkers) {
        Worker *w = pool->workers[0];
        worker_reap(&w->process, true, &status);
        w->gone = true;
        if (w->call) call_free(w->call);
        w->call = NULL;
        worker_close(w);
    }
    for (int i = 0; i < CODES; i++) code_clear(&pool->codes[i]);
    worker_texts_clear(&pool->texts);
    uv_close((uv_handle_t *)&pool->tick, on_timer_closed);
    uv_close((uv_handle_t *)&pool->sweep, on_timer_closed);
}

static void make_token(WorkerPool *pool, char out[TOKEN_BYTES * 2 + 1]) {
    static const char digits[] = "0123456789abcdef";
    for (size_t got = pool->nchance ? RANDOM_BYTES : 0; got < RANDOM_BYTES;) {
        ssize_t n = getrandom(pool->chance + got, RANDOM_BYTES - got, 0);
        if (n > 0) got += (size_t)n;
        if (n < 0 && errno != EINTR) abort(); /* no system that we run on is without */
        pool->nchance = RANDOM_BYTES;
    }
    for (int i = 0; i < TOKEN_BYTES; i++) {
        unsigned char byte = pool->chance[--pool->nchance];
        out[2 * i] = digits[byte >> 4];
        out[2 * i + 1] = digits[byte & 15];
    }
    out[2 * TOKEN_BYTES] = '\0';
}

WorkerCall *worker_call(WorkerPool *pool, const WorkerOptions *options, Error *err) {
    WorkerProgram program;
    uint64_t memory = options->memory ? options->memory : MEMORY_DEFAULT;
    if (memory < WORKER_MEMORY_MIN) memory = WORKER_MEMORY_MIN;
    if (!worker_program_init(&program, options, memory, err)) return NULL;
    WorkerCall *call = mem_zalloc(sizeof *call);
    WorkerOptions *own = &call->options;
    call->pool = pool;
    pool->calls++;
    make_token(pool, call->token);
    call->program = program;
    call->log = (WorkerLog){.max = options->max_output ? options->max_output : OUTPUT_DEFAULT,
                            .on_log = options->on_log,
                            .ctx = options->ctx};
    *own = *options;
    own->memory = memory;
    own->file = program.file;
    own->realm = program.realm;
    own->home = program.home;
    own->function = copy_text(options->function);
    own->folder = copy_text(options->folder ? options->folder : ".");
    json_ref(own->code);
    json_ref(own->state);
    json_ref(own->env);
    json_ref(own->vars);
    json_ref(own->answers);
    Queue *queue = &pool->queues[options->language];
    Given given = next_call(queue) ? NO_ROOM : try_give(call, err);
    if (given == FAILED) {
        call_free(call);
        return NULL;
    }
    hold(pool);
    if (given == NO_ROOM) {
        *queue->last = call;
        queue->last = &call->next;
    }
    return call;
}

bool worker_is_waiting(const WorkerCall *call) {
    return call->worker && call->worker->phase == PHASE_WAITING;
}

void worker_answer(WorkerCall *call, Json answer) {
    if (!worker_is_waiting(call)) return;
    Worker *w = call->worker;
    hold(w->pool);
    w->phase = PHASE_BUSY;
    buf_printf(&w->out, "{\"call\":\"%s\"", call->token);
    print_field(w, "answer", answer);
    end_line(w);
}

void worker_cancel(WorkerCall *call) {
    if (call->cancelled) return;
    call->cancelled = true;
    Worker *w = call->worker;
    if (!w) {
        tick_soon(call->pool);
        return;
    }
    if (w->phase == PHASE_WAITING) hold(w->pool);
    if (w->phase != PHASE_ENDING) w->kill_at = uv_now(w->pool->loop) + GRACE_MS;
    w->phase = PHASE_ENDING;
    worker_signal(&w->process, SIGTERM);
    if (call->frozen) {
        worker_signal(&w->process, SIGCONT); /* what is stopped cannot end */
        watch_channel(w);
    }
    start_ticking(w->pool);
}

/* The place of one that stands still is free for another. */
void worker_freeze(WorkerCall *call, bool frozen) {
    Worker *w = call->worker;
    call->frozen = frozen;
    if (w && w->phase == (frozen ? PHASE_BUSY : PHASE_FROZEN)) {
        w->phase = frozen ? PHASE_FROZEN : PHASE_BUSY;
        worker_signal(&w->process, frozen ? SIGSTOP : SIGCONT);
        watch_channel(w);
    }
    tick_soon(call->pool);
}

void worker_drop(WorkerCall *call) {
    if (!call) return;
    Worker *w = call->worker;
    WorkerPool *pool = call->pool;
    if (!w) queue_remove(&pool->queues[call->program.language], call);
    if (!worker_is_waiting(call)) let_go(pool);
    if (w) {
        w->call = NULL;
        kill_worker(w);
    }
    call_free(call);
}

int worker_pid(const WorkerCall *call) {
    return call->worker ? (int)call->worker->process.pid : 0;
}

int worker_pool_size(const WorkerPool *pool, WorkerLanguage language) {
    int n = 0;
    for (size_t i = 0; i < pool->nworkers; i++) n += pool->workers[i]->program.language == language;
    return n;
}
