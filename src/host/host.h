/* host.h - a process that holds runs: one loop, one store, the runs that it has in hand, their debug
 * sessions, and whoever wants to know what happens to them.
 *
 *     Host *host = host_new(&options);
 *     host_start(host, &start, ready, ctx);          or host_resume(), host_open()
 *     uv_run(loop, UV_RUN_DEFAULT);
 *     host_free(host);                               the loop has to run once more
 *
 * The operations (api/operation.h) are functions of a host; doors never see more of it than they give. A host
 * opens its store when it is first needed, and makes an engine when the first run is: to read is cheap.
 *
 * A run is *held* from when it begins, or is taken from the store, until it has settled and nobody looks at it
 * any more. While it is held it is in memory (HostRun), other processes find this one through the run's
 * owner, and its events reach subscribers (subscription.h).
 *
 * A held run has at most one debug session, made when somebody attaches or when the run was started with
 * one. Whoever attaches is a *window*: a subscription with `attach`. All windows are told the same and may do
 * the same. While there is a window the run does not settle because its frames are paused; with none it does,
 * and the session stays with it in the store. The idle limit of a session runs only while there is a window.
 *
 * All on the loop's thread. Callbacks named `ready` are told exactly once, from the loop or before the call
 * returns. Values are borrowed unless it says so.
 */
#ifndef PAWL_HOST_H
#define PAWL_HOST_H

#include "recording.h"
#include "session.h"

typedef struct Host Host;
typedef struct HostRun HostRun;

typedef struct HostOptions {
    uv_loop_t *loop;
    const char *store;  /* URL; copied. NULL: nothing is kept */
    const char *folder; /* that runs are started in, absolute; copied */
    /* Of what runs start; "NAME=value", NULL at the end; borrowed. PAWL_SECRET_... and PAWL_TOKEN are left out. */
    char *const *environment;
    Json
        names; /* of what they inherit of it, besides those that every program needs: an array of strings;
                      borrowed. JSON_NONE: all */
    Bounds bounds;        /* what runs may reach */
    const char *secrets;  /* a folder with a file for each (secrets.h); copied. NULL: none */
    const char *key_file; /* of the secrets in the store; copied. NULL: as the environment says */
    const char *
        workflows; /* a folder of workflows that runs are begun with by name (registry.h); copied. NULL: none */

    /* For a program around the library; zero otherwise. */
    const NodeWork *const *work; /* of each kind; NULL: exec_work. Borrowed */
    JqBudget budget;             /* of an evaluation */
    uint64_t max_state;          /* bytes */
    /* What happens to held runs, as the engine tells it, before any subscriber; or NULL. */
    void (*on_event)(void *ctx, HostRun *run, const Event *event);
    unsigned
        events; /* that are wanted for it, 1u << EVENT_..., ORed; that a run has settled always is */
    bool values; /* with update and state */
    void *ctx;   /* of it; host_ctx() */
} HostOptions;

Host *host_new(const HostOptions *options);
/* Runs that have not settled stay resumable. Not from a callback of the host's. Accepts NULL. */
void host_free(Host *host);

uv_loop_t *host_loop(const Host *host);
void *host_ctx(const Host *host); /* of its options */
const char *host_folder(const Host *host);
const Bounds *host_bounds(const Host *host);
const char *host_workflows(const Host *host); /* of its options; NULL: none */
/* Of what is read there: whoever runs this process put it there, outside of what runs are confined to. */
Bounds host_workflow_bounds(const Host *host);

/* ---- the store ---- */

typedef enum HostNeed {
    HOST_READS,    /* looks; works in a folder that cannot be written */
    HOST_WRITES,   /* the store is there */
    HOST_CREATES,  /* or is made */
    HOST_NO_STORE, /* of a job: it needs none, and does not wait for what was recorded */
} HostNeed;

/* Opened, or opened again for more than before. NULL on error. */
Store *host_store(Host *host, HostNeed need, Error *err);
/* From now on runs that belong to no trace begin one; before the first run is asked for. */
void host_trace(Host *host);
/* For a process that stays when its store takes no more, as when the disk is full: the runs that it holds are let go of, as
 * they are on record, and the store is opened anew for whoever asks next. Such a host answers everything with the
 * store's error otherwise. on_break: told that it has come to this; NULL: nobody
 * is told any more. First before a run is asked for. */
void host_recover(Host *host, void (*on_break)(void *ctx, const Error *err), void *ctx);
/* Of its engine; zero while there is none. */
EngineCounts host_counts(const Host *host);
/* The folder for files that belong to its runs, made on the first call; NULL on error. */
const char *host_store_folder(Host *host, Error *err);
Engine *host_engine(Host *host, HostNeed need, Error *err); /* made on the first call */

/* A job on the store: work() runs on another thread, then done() on the loop. Everything that was recorded when
 * it was asked for is in the store by then; with `thread` what was recorded of that run, so that who reads one run waits
 * for no other. The asker owns the job and keeps it until done(), which is called
 * exactly once, may free it, and may come before the call returns. Values have one thread at a time: work() takes
 * bytes and text from the loop, and what it leaves in the job is handed over whole. */
typedef struct HostJob HostJob;
struct HostJob {
    HostNeed
        need; /* HOST_READS: a handle that only reads; HOST_NO_STORE: NULL; otherwise one that writes */
    const char *thread; /* HOST_READS: the run that it reads, but for what its nodes print; NULL:
                           anything. Borrowed until host_ask() returns */
    void (*work)(HostJob *job, Store *store); /* sets err when it fails */
    void (*done)(HostJob *job);
    Error err; /* of work(), or why there was none */
};
void host_ask(Host *host, HostJob *job);
/* Those that are asked for and not done: they wait, or a thread is at them. */
size_t host_jobs(const Host *host);

/* The same for a function of JSON: read() on the thread, then done() on the loop, with the answer given or with
 * err. Consumes args. */
typedef Json (*HostReader)(Store *store, Json args, Error *err);
typedef void (*HostAnswer)(void *ctx, Json answer, const Error *err);
void host_read(Host *host, HostReader read, Json args, HostAnswer done, void *ctx);

/* With `text` an answer is printed on the thread, and text() is told instead of done(): for doors, where printing
 * a long answer would keep the others waiting. It may take the bytes out of the buffer. */
typedef struct HostRead {
    HostReader read;
    HostNeed need;
    const char *thread; /* as that of a job */
    HostAnswer done;
    void *ctx;
    void (*text)(void *ctx, Buf *text); /* NULL: done() has the value */
    bool
        slow; /* it may compute for long: few at a time, so that others find a thread. Without `thread` */
} HostRead;
void host_read_for(Host *host, const HostRead *how, Json args);

/* Told when everything that was recorded so far is durable; err when the store failed. */
void host_when_durable(Host *host, void (*done)(void *ctx, const Error *err), void *ctx);

/* ---- runs ---- */

/* A debug session from the start. */
typedef struct HostDebug {
    bool wanted;
    bool
        awaits_window; /* one is about to come: the run does not settle before it, for ten seconds */
    bool pause_on_start; /* of it, and so are these: as in SessionOptions */
    bool view_only;
    int pause_all;
    Json breakpoints; /* array of specs, or JSON_NONE */
} HostDebug;

typedef struct HostStart {
    Flow *flow;
    RunStart run;
    HostDebug debug;
    Recording *
        recording; /* results to take instead of doing the work; given, also on error. NULL: none */
} HostStart;

typedef void (*HostReady)(void *ctx, HostRun *run, const Error *err);

void host_start(Host *host, const HostStart *start, HostReady ready, void *ctx);
void host_resume(Host *host, const RunResume *resume, HostReady ready, void *ctx);
/* Takes a run from the store for a debugger: nothing goes on, see engine_open(). One that is held is given as
 * it is. */
void host_open(Host *host, const char *thread, const HostDebug *debug, HostReady ready, void *ctx);
/* Of a node again (engine_replay()), or of cleanup tasks (engine_cancel()): a run that exists already. */
HostRun *host_adopt(Host *host, Run *run);

/* Whether such a call for the thread is under way; if so, then() is called once it is answered. For whoever
 * wants something of a run that is about to be here. */
bool host_await(Host *host, const char *thread, void (*then)(void *ctx), void *ctx);

/* Whether one is. */
bool host_expects(const Host *host, const char *thread);

/* Such a call is about to be made: host_await() waits for that, too. thread NULL: of a run that has no name yet. */
typedef struct HostComing HostComing;
HostComing *host_expect(Host *host, const char *thread);
void host_expected(HostComing *coming); /* it was made, or is not made after all; frees it */

/* By thread or number; NULL: this process does not hold it. */
HostRun *host_find(const Host *host, const char *thread);
HostRun *host_next(const Host *host, const HostRun *after); /* NULL: the first; none follows */

Run *host_run(const HostRun *run);
/* The session, made if there is none. NULL on error. */
Session *host_session(HostRun *run, Error *err);
Session *host_has_session(const HostRun *run); /* NULL: there is none */
/* [{frame, node, position, reason, ...}] of the frames that a debugger has paused; given. */
Json host_pauses(const HostRun *run);
bool host_rests(const HostRun *run); /* no frame goes on by itself */
/* Whoever in this process has the run in hand: it stays in memory when it has settled. NULL: nobody does any
 * more. */
void host_keep(HostRun *run, void *keeper);
void *host_keeper(const HostRun *run);
/* Frees the session; it stays with the run, in the store. */
void host_leave_session(HostRun *run);
/* Frees a run that was taken from the store and is not wanted after all. Not from a callback of the host's. */
void host_abandon(HostRun *run);
/* Lets go of a run that has settled: those who look at it are told that it is over. */
void host_drop(HostRun *run);

/* ---- turns ----
 *
 * What changes a run, and has to wait for the store before it can, *has the turn* of the run meanwhile: those who
 * want something of the run after that wait behind it, in the order in which they came. What only looks need
 * not take a turn. A turn is its owner's, who keeps it until go() or host_turn_end(). */
typedef struct HostTurn HostTurn;
struct HostTurn {
    void (*go)(HostTurn *turn); /* of one that waits: its time has come, or its run has gone */
    HostRun *run;               /* NULL: it has gone */
    HostTurn *next;
};

bool host_turn_is_taken(const HostRun *run);
void host_turn_wait(HostRun *run, HostTurn *turn); /* go() is called once, later */
void host_turn_take(HostRun *run, HostTurn *turn); /* nobody has it */
void host_turn_end(HostTurn *turn);                /* those who wait go on */

/* Grows with each session of the run: whoever asked one knows whether it is still the same. */
int64_t host_session_number(const HostRun *run);

/* ---- work in pieces ----
 *
 * What is computed for somebody who asks, and may take longer than a turn of the loop: the loop goes on in between. What is done
 * within a turn is done at once; of the others one after the other goes on, and there are few at a time. */
typedef struct HostWork HostWork;
struct HostWork {
    /* Until that time of uv_hrtime(); whether it has ended. */
    bool (*go_on)(HostWork *work, uint64_t until);
    /* Once, maybe before host_work() returns. err: it has not ended, and is given up; NULL otherwise. It is its owner's again. */
    void (*done)(HostWork *work, const Error *err);
    HostWork *next;
};

void host_work(Host *host, HostWork *work);

/* ---- the record ---- */

/* What a stored run is made of: its row, its image at a checkpoint (0: its head) and its definition, from
 * wherever they are. The one place that looks a definition up. */
typedef struct StoredRun {
    RunRow row;
    int64_t seq;
    Json image;      /* checked: the image of a run */
    Json definition; /* that it had there */
    Json folder;     /* that it was started in, a string; JSON_NONE: not known */
} StoredRun;

bool stored_run_read(Store *store, const char *thread, int64_t seq, StoredRun *out, Error *err);
Flow *stored_run_flow(const StoredRun *run, Error *err); /* NULL on error */

/* The workflow of a run at one checkpoint after the other: loaded again only where it is another. */
typedef struct FlowAt {
    Store *store;
    const RunRow *row;
    Flow *flow; /* NULL: not loaded, or it cannot be */
    Json key;   /* that it was loaded by; JSON_NONE: not yet */
} FlowAt;

const Flow *flow_at(FlowAt *f, Json image); /* NULL when it cannot be loaded */
void flow_at_clear(FlowAt *f);
void stored_run_clear(StoredRun *run);

#endif
