/* Our side of a process: making or finding its place, starting the supervisor, and waiting.
 *
 * A process we started is watched through the supervisor's socket: its end is the supervisor's end,
 * and only then is the supervisor reaped, so that until then its number is its own. One that we
 * attached to is watched through the lock in the place, a few times a second; so is anything whose
 * end is known before process_start() returns, because callbacks come from the loop.
 *
 * Who holds the lock decides what a place is:
 *
 *     lock held                         runs
 *     lock free, child's number in it   over: as the status says, or the supervisor was killed, and it is lost
 *     lock free, nothing in it          never started, and maybe the status says why. Another status was
 *                                       planted. Ours to start, as we hold the lock now */
#include "process.h"

#include "mem.h"
#include "proc.h"
#include "process_place.h"
#include "spawn.h"
#include "supervisor.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ATTACHED_POLL_MS = 50,
    MESSAGES_A_TURN = 16, /* so that one that prints all day does not keep the loop to itself */
    STOP_POLL_MS = 20,
    STOP_MS = PROCESS_GRACE_MAX + 1000,
    LATE_MS = 5000, /* a supervisor that should have ended its child so long ago is of no use */
    LOOK_MS =
        200, /* once it should have, it is looked this often whether somebody has stopped it */
};

struct Process {
    uv_poll_t messages; /* of a process we started */
    uv_timer_t timer;   /* of one that we attached to, or that is over already */
    int open_handles;
    char *place;
    void (*on_output)(void *ctx, int stream, const char *bytes, size_t len);
    void (*on_exit)(void *ctx, const ProcessResult *result);
    void *ctx;
    size_t max_output;
    uint64_t timeout_ms, grace_ms;
    bool attached, over, freed;
    bool end_wanted;  /* said again until it is over: the supervisor may not be known yet */
    bool late;        /* its supervisor should have ended it, and did not */
    uint64_t due_at;  /* when it is to begin with that, in milliseconds of the loop; 0: never */
    uint64_t late_at; /* when it is late */
    uint64_t look_at; /* whether it was stopped */
    uint64_t left;    /* until it is due, while frozen */
    int stops;        /* how often it was found stopped */
    int report;       /* our end of the socket; -1: none */
    pid_t supervisor; /* ours to reap; 0: none */
    pid_t child;      /* by the word of its supervisor or of the kernel; 0: not known */
    uint64_t since;   /* no process of its group started earlier (proc.h) */
    int lock;         /* of an attached one; -1: none */
    int spawn_error;  /* an errno: it cannot even be tried */
    PlaceFile has_status;
    PlaceStatus status;
    ProcessResult result;
};

/* ---- supervisors that nobody waits for any more ---- */

typedef struct Abandoned {
    pid_t *pids;
    size_t n, cap;
} Abandoned;

/* Those that this thread let go of and that will need reaping if we live longer than they. */
static _Thread_local Abandoned abandoned;

static void reap_abandoned(void) {
    for (size_t i = abandoned.n; i-- > 0;) {
        if (waitpid(abandoned.pids[i], NULL, WNOHANG) != 0) {
            abandoned.pids[i] = abandoned.pids[--abandoned.n];
        }
    }
    if (abandoned.n == 0) {
        mem_free(abandoned.pids);
        abandoned = (Abandoned){0};
    }
}

/* ---- reading a place ---- */

/* How it ended, from what its status says. */
static bool read_result(Process *p, int place) {
    ProcessResult *r = &p->result;
    const PlaceStatus *s = &p->status;
    r->end = s->end;
    r->code = s->code;
    r->out_len = s->len[0];
    r->err_len = s->len[1];
    r->started = s->started;
    r->finished = s->finished;
    if (place < 0) return !s->kept[0] && !s->kept[1]; /* somebody has removed it */
    return process_place_read_stream(place, 0, s, p->max_output, &r->out, &r->out_tail) &&
           process_place_read_stream(place, 1, s, p->max_output, &r->err, &r->err_tail);
}

/* ---- the end ---- */

static int64_t wall_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void set_end(Process *p, ProcessEnd end, int code) {
    p->result.end = end;
    p->result.code = code;
    p->result.finished = wall_ms();
}

/* Its supervisor is gone, and with it the child. We saw it run a moment ago, so the number of its group is
 * still its own. */
static void set_lost(Process *p) {
    proc_kill_group(p->child, p->since);
    if (!p->late) {
        set_end(p, PROCESS_LOST, 0);
    } else {
        set_end(p, p->end_wanted ? PROCESS_ENDED : PROCESS_TIMEOUT, SIGKILL);
    }
}

static void set_damaged(Process *p) {
    buf_reset(&p->result.out);
    buf_reset(&p->result.err);
    buf_reset(&p->result.out_tail);
    buf_reset(&p->result.err_tail);
    p->result.out_len = p->result.err_len = 0;
    p->result.damaged = true;
    set_end(p, PROCESS_LOST, 0);
}

/* From what is in the place, now that nobody works there any more. */
static void set_from_place(Process *p) {
    int place = process_place_open(p->place, NULL, NULL);
    if (p->has_status == PLACE_NONE && place >= 0) {
        p->has_status = process_place_read_status(place, &p->status);
    }
    if (p->has_status == PLACE_NONE) {
        set_lost(p);
    } else if (p->has_status == PLACE_DAMAGED || !read_result(p, place)) {
        set_damaged(p);
    }
    if (place >= 0) close(place);
}

static void stop_watching(Process *p) {
    if (!uv_is_closing((uv_handle_t *)&p->timer)) uv_timer_stop(&p->timer);
    if (p->report >= 0) uv_poll_stop(&p->messages);
    if (p->lock >= 0) close(p->lock);
    p->lock = -1;
}

static void finish(Process *p) {
    stop_watching(p);
    p->over = true;
    p->child = 0;
    p->on_exit(p->ctx, &p->result);
}

/* ---- one that we started ---- */

static bool was_used(const Process *p) {
    int place = process_place_open(p->place, NULL, NULL);
    int lock = place < 0 ? -1 : process_place_open_lock(place, p->place, false, NULL);
    bool used = lock < 0 || process_place_was_used(lock);
    if (lock >= 0) close(lock);
    if (place >= 0) close(place);
    return used;
}

static void supervisor_is_gone(Process *p) {
    while (waitpid(p->supervisor, NULL, 0) < 0 && errno == EINTR) {}
    p->supervisor = 0;
    set_from_place(p);
    if (p->result.end == PROCESS_LOST && !p->result.damaged && !p->child && !was_used(p)) {
        set_end(p, PROCESS_FAILED,
                EAGAIN); /* killed, or out of descriptors, before it could begin */
    }
    finish(p);
}

static void take_message(Process *p, const char *message, size_t len) {
    const char *bytes = message + 1;
    size_t n = len - 1;
    if ((message[0] == MESSAGE_OUT || message[0] == MESSAGE_ERR) && p->on_output) {
        p->on_output(p->ctx, message[0], bytes, n);
    } else if (message[0] == MESSAGE_PID && n == sizeof p->child) {
        memcpy(&p->child, bytes, n);
    } else if (message[0] == MESSAGE_STATUS) {
        bool fine = process_place_parse_status(bytes, n, &p->status);
        p->has_status = fine ? PLACE_FINE : PLACE_DAMAGED;
    }
}

static void on_messages(uv_poll_t *handle, int status, int events) {
    (void)status;
    (void)events;
    Process *p = handle->data;
    char message[1 + MESSAGE_MAX];
    for (int i = 0; i < MESSAGES_A_TURN && !p->freed; i++) {
        ssize_t n = recv(p->report, message, sizeof message, MSG_DONTWAIT);
        if (n > 0) {
            take_message(p, message, (size_t)n);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            supervisor_is_gone(p);
            return;
        } else {
            return;
        }
    }
}

/* Whether the supervisor runs; otherwise errno says why not. place and lock stay the caller's. */
static bool start_supervisor(Process *p, const ProcessOptions *options, int place, int lock) {
    int ends[2] = {-1, -1}, input = -1, mask = -1, error = 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) error = errno;
    if (!error && options->input) {
        input = spawn_file(p->place, options->input, options->input_len);
        if (input < 0) error = errno;
    }
    if (!error && options->mask_len) {
        mask = spawn_file(p->place, options->mask, options->mask_len);
        if (mask < 0) error = errno;
    }
    if (!error) {
        int third = options->input_is_file ? options->input_file : input >= 0 ? input : mask;
        p->supervisor = spawn(&(SpawnTask){options, false, {place, lock, ends[1], third, mask}});
        error = errno;
    }
    if (p->supervisor) {
        p->report = ends[0];
        ends[0] = -1;
    }
    const int over[] = {ends[0], ends[1], input, mask};
    for (int i = 0; i < 4; i++) {
        if (over[i] >= 0) close(over[i]);
    }
    errno = error;
    return p->supervisor != 0;
}

/* A supervisor of ours has its number until we reap it; that of another's child is the kernel's word. */
static void order(const Process *p, int signal_number) {
    if (p->lock >= 0) {
        process_place_signal(p->lock, signal_number);
    } else if (!p->over && p->supervisor > 1) {
        kill(p->supervisor, signal_number);
    }
}

/* ---- one that we found ---- */

static void look_for_child(Process *p) {
    ProcStat stat;
    pid_t child = process_place_child(p->lock, process_place_supervisor(p->lock));
    if (child && proc_stat(child, &stat)) {
        p->child = child;
        p->since = stat.start;
    }
}

static bool is_late(Process *p, pid_t supervisor);

static void on_timer(uv_timer_t *timer) {
    Process *p = timer->data;
    bool runs = p->lock >= 0 && !process_place_take(p->lock);
    p->late = runs && is_late(p, process_place_supervisor(p->lock));
    if (runs && !p->late) {
        if (!p->child) look_for_child(p);
        if (p->end_wanted) process_end(p);
        return;
    }
    if (p->spawn_error) {
        set_end(p, PROCESS_FAILED, p->spawn_error);
    } else if (p->late) {
        process_place_signal(p->lock, SIGKILL);
        set_lost(p);
    } else {
        set_from_place(p);
    }
    finish(p);
}

/* ---- one that is overdue ---- */

/* The supervisor holds the timeout and the grace. A child may have stopped or tricked it, and must not be able
 * to run on for that. One that was stopped is let go on, so that it can do its work; when it is stopped once more,
 * it cannot. */
static bool is_late(Process *p, pid_t supervisor) {
    uint64_t now = uv_now(p->timer.loop);
    ProcStat stat;
    if (!p->due_at || now < p->look_at) return false;
    p->look_at = now + LOOK_MS;
    bool stopped = proc_stat(supervisor, &stat) && stat.state == 'T';
    if (stopped && p->stops++) return true;
    if (stopped) order(p, SIGCONT);
    return now >= p->late_at;
}

static void on_due(uv_timer_t *timer) {
    Process *p = timer->data;
    if (!is_late(p, p->supervisor)) return;
    int place = p->child ? -1 : process_place_open(p->place, NULL, NULL);
    int lock = place < 0 ? -1 : process_place_open_lock(place, p->place, false, NULL);
    if (lock >= 0) p->child = process_place_child(lock, p->supervisor); /* it could not tell us */
    if (lock >= 0) close(lock);
    if (place >= 0) close(place);
    p->late = true;
    kill(p->supervisor, SIGKILL); /* a child of ours that is not reaped yet; its end is told */
}

static void set_late(Process *p, uint64_t ms) {
    p->due_at = uv_now(p->timer.loop) + ms;
    p->look_at = p->due_at + LOOK_MS;
    p->late_at = p->due_at + (p->grace_ms ? p->grace_ms : GRACE_MS) + LATE_MS;
    if (p->report >= 0) uv_timer_start(&p->timer, on_due, ms + LOOK_MS, LOOK_MS);
}

/* ---- starting ---- */

/* Looks at what the place is (see above) and does what follows from it. False with *err set. */
static bool find_or_spawn(Process *p, const ProcessOptions *options, Error *err) {
    bool is_new = false;
    int place = process_place_open(p->place, &is_new, err);
    int lock = place < 0 ? -1 : process_place_open_lock(place, p->place, true, err);
    p->attached = true;
    if (lock < 0) {
        if (place >= 0) close(place);
        return false;
    }
    if (!process_place_take(lock)) {
        close(place);
        p->lock = lock;
        look_for_child(p);
        return true;
    }
    bool used = process_place_was_used(lock); /* also in a new one: others may have come and gone */
    if (used || !is_new) p->has_status = process_place_read_status(place, &p->status);
    bool refused = p->has_status == PLACE_FINE && p->status.end == PROCESS_FAILED;
    if (!used && !refused) {
        p->attached = false;
        p->has_status = PLACE_NONE;
        if (!is_new) process_place_clear(place);
        if (!start_supervisor(p, options, place, lock)) p->spawn_error = errno ? errno : EIO;
    }
    close(lock);
    close(place);
    return true;
}

Process *process_start(uv_loop_t *loop, const ProcessOptions *options, Error *err) {
    reap_abandoned();
    Process *p = mem_zalloc(sizeof *p);
    p->place = mem_strndup(options->place, strlen(options->place));
    p->on_output = options->on_output;
    p->on_exit = options->on_exit;
    p->ctx = options->ctx;
    p->max_output = options->max_output;
    p->timeout_ms = options->timeout_ms;
    p->grace_ms = options->grace_ms;
    p->report = p->lock = -1;
    p->since = proc_ticks();
    p->result.started = wall_ms();
    if (!find_or_spawn(p, options, err)) {
        mem_free(p->place);
        mem_free(p);
        return NULL;
    }
    uv_timer_init(loop, &p->timer);
    p->timer.data = p->messages.data = p;
    p->open_handles = 1;
    if (p->report < 0) {
        uv_timer_start(&p->timer, on_timer, 0, ATTACHED_POLL_MS);
    } else {
        uv_poll_init(loop, &p->messages, p->report);
        uv_poll_start(&p->messages, UV_READABLE, on_messages);
        p->open_handles = 2;
    }
    if (p->timeout_ms) set_late(p, p->timeout_ms);
    return p;
}

bool process_attached(const Process *p) {
    return p->attached;
}

int process_pid(const Process *p) {
    return (int)p->child;
}

/* ---- orders ---- */

void process_end(Process *p) {
    if (!p->end_wanted && !p->over) set_late(p, 0);
    p->end_wanted = true;
    order(p, SUPERVISOR_END);
}

void process_freeze(Process *p, bool frozen) {
    uint64_t now = uv_now(p->timer.loop);
    if (frozen && p->due_at) {
        p->left = p->due_at > now ? p->due_at - now : 0;
        p->due_at = 0;
        if (p->report >= 0) uv_timer_stop(&p->timer);
    } else if (!frozen && (p->timeout_ms || p->end_wanted) && !p->due_at && !p->over) {
        set_late(p, p->left);
    }
    order(p, frozen ? SUPERVISOR_FREEZE : SUPERVISOR_THAW);
}

/* ---- one that somebody else left behind ---- */

typedef struct Stopping {
    const char *path;
    int lock; /* -1: there is nothing to wait for any more */
    bool ordered;
} Stopping;

typedef struct StopsTold {
    void (*failed)(void *ctx, const char *place, const Error *err);
    void *ctx;
} StopsTold;

static void tell_stop(const StopsTold *told, const char *path, const Error *err) {
    if (told->failed && err->code != ERR_NONE) told->failed(told->ctx, path, err);
}

/* A place that is not there is fine. */
static Stopping begin_to_stop(const char *path, const StopsTold *told) {
    Error err = ERROR_INIT;
    int place = process_place_open(path, NULL, &err);
    bool missing = place < 0 && errno == ENOENT;
    int lock = place < 0 ? -1 : process_place_open_lock(place, path, false, &err);
    missing = missing || (place >= 0 && lock < 0 && errno == ENOENT);
    if (place >= 0) close(place);
    if (lock < 0 && !missing) tell_stop(told, path, &err);
    return (Stopping){path, lock, false};
}

/* Whether it has ended. The supervisor is known as soon as it has begun. */
static bool has_stopped(Stopping *s) {
    if (s->lock < 0) return true;
    if (!process_place_take(s->lock)) {
        s->ordered = s->ordered || process_place_signal(s->lock, SUPERVISOR_END);
        return false;
    }
    close(s->lock);
    s->lock = -1;
    return true;
}

static void give_up_stopping(const Stopping *s, const StopsTold *told) {
    Error err = ERROR_INIT;
    int child = (int)process_place_child(s->lock, process_place_supervisor(s->lock));
    if (child) {
        error_set(&err, ERR_BUSY,
                  "The command whose output is in %s was told to end and still runs, as "
                  "process %d. End it by hand.",
                  s->path, child);
    } else {
        error_set(&err, ERR_BUSY,
                  "Something keeps the file %s/%s locked that is no command of ours.", s->path,
                  PLACE_LOCK);
    }
    close(s->lock);
    tell_stop(told, s->path, &err);
}

/* They have the same time, all together: whoever can write to the folder can make any number that never end. */
void process_stop_places(const char *const *paths, size_t n,
                         void (*failed)(void *ctx, const char *place, const Error *err),
                         void *ctx) {
    enum { AT_ONCE = 64 };
    const StopsTold told = {failed, ctx};
    uint64_t until = uv_hrtime() + STOP_MS * UINT64_C(1000000);
    for (size_t from = 0; from < n; from += AT_ONCE) {
        Stopping some[AT_ONCE];
        size_t count = n - from < AT_ONCE ? n - from : AT_ONCE, left = count;
        for (size_t i = 0; i < count; i++) some[i] = begin_to_stop(paths[from + i], &told);
        for (bool last = false; left && !last;) {
            last = uv_hrtime() >= until;
            left = 0;
            for (size_t i = 0; i < count; i++) left += !has_stopped(&some[i]);
            struct timespec pause = {.tv_nsec = STOP_POLL_MS * 1000000L};
            if (left && !last) nanosleep(&pause, NULL);
        }
        for (size_t i = 0; i < count; i++) {
            if (some[i].lock >= 0) give_up_stopping(&some[i], &told);
        }
    }
}

static void keep_why(void *ctx, const char *place, const Error *err) {
    (void)place;
    *(Error *)ctx = *err;
}

bool process_stop_place(const char *path, Error *err) {
    Error why = ERROR_INIT;
    process_stop_places(&path, 1, keep_why, &why);
    bool stopped = why.code == ERR_NONE;
    if (!stopped && err) *err = why;
    return stopped;
}

/* ---- letting go ---- */

static void on_closed(uv_handle_t *handle) {
    Process *p = handle->data;
    if (--p->open_handles > 0) return;
    if (p->report >= 0) close(p->report);
    mem_free(p);
}

void process_free(Process *p) {
    if (!p || p->freed) return;
    stop_watching(p);
    p->freed = true;
    if (p->supervisor) {
        abandoned.pids =
            mem_grow(abandoned.pids, abandoned.n, &abandoned.cap, sizeof *abandoned.pids);
        abandoned.pids[abandoned.n++] = p->supervisor;
    }
    reap_abandoned();
    buf_clear(&p->result.out);
    buf_clear(&p->result.err);
    buf_clear(&p->result.out_tail);
    buf_clear(&p->result.err_tail);
    mem_free(p->place);
    uv_close((uv_handle_t *)&p->timer, on_closed);
    if (p->report >= 0) uv_close((uv_handle_t *)&p->messages, on_closed);
}

const char *environment_get(const char *const *env, const char *name) {
    size_t len = strlen(name);
    for (; env && *env; env++) {
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=') return *env + len + 1;
    }
    return NULL;
}

void process_forget(const char *place) {
    process_place_remove(place);
}
