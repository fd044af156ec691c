/* host_inside.h - what the files of host/ share: the structs behind host.h and subscription.h.
 *
 * Reading order: host.c (held runs with their sessions and windows, life, store, engine), subscription.c (events),
 * host_job.c (work on the store, on other threads), host_work.c (computing, in pieces), stored_run.c.
 */
#ifndef PAWL_HOST_INSIDE_H
#define PAWL_HOST_INSIDE_H

#include "secrets.h"
#include "subscription.h"

typedef struct Readers Readers;
typedef struct Awaiting Awaiting;

struct Host {
    HostOptions options;
    char **environment; /* what runs inherit of that of the options; the texts are borrowed */
    char *url, *folder;
    char *secrets, *key_file, *workflows;
    SafeRoot *workflows_root;  /* of that folder, where runs are confined to another; or NULL */
    char *work_folder;         /* of the store; NULL: not asked for yet */
    Store *store;              /* NULL: not opened yet */
    HostNeed opened;           /* for what it was */
    Engine *engine;            /* NULL: not made yet */
    Readers *readers;          /* of jobs; NULL: there was none yet */
    struct Read *slow_reads;   /* that wait until fewer are under way, in order */
    size_t nslow, nslow_reads; /* under way; those that wait */
    HostWork *works;           /* in pieces, in order */
    size_t nworks;
    uv_idle_t *worker;              /* active while there are some; NULL: there were none yet */
    HostRun *first, *last;          /* held runs, oldest first */
    HostRun **by_name, **by_number; /* the same, in as many slots */
    size_t nruns, slots;
    HostComing *coming; /* runs that the engine was asked for, or is about to be */
    Subscription *all;  /* those of every run */
    int telling;        /* lists of subscriptions are being gone through */
    bool purge;         /* some of `all` are to go then */
    int64_t last_subscription;
    uv_idle_t *sweep;                              /* active while something is to be freed */
    HostRun *to_sweep;                             /* where that may be */
    bool ending;                                   /* host_free(): nothing more is begun */
    bool traces;                                   /* as of EngineOptions */
    void (*on_break)(void *ctx, const Error *err); /* host_recover() */
    void *break_ctx;
    Error broken; /* of a store that takes no more, until it is closed */
};

struct HostRun {
    Host *host;
    HostRun *prev, *next, *same_name, *same_number;
    Run *run;
    Recording *recording; /* owned */
    Session *session;
    int64_t session_number;
    HostTurn *turn;     /* that it is; NULL: nobody's */
    HostTurn *waiting;  /* behind it, the first first */
    bool session_told;  /* it has told where the run stands: who comes now has missed that */
    bool session_over;  /* it is to be freed */
    bool awaits_window; /* none has come yet, and the run is held until one does, for TOUCH_MS */
    bool rehold;        /* a window has gone */
    bool dropped;       /* it is to go although somebody looks at it */
    void *keeper;       /* host_keep() */
    bool to_sweep;      /* it is on the list of those that the sweep looks at */
    HostRun *next_swept;
    uv_timer_t *touching;   /* while there is a session */
    Subscription *watchers; /* of it alone, the one that came last first */
    bool told_settled;      /* that it has settled was told; or it was so before it came here */
};

/* ---- host.c ---- */

HostRun *host_run_new(Host *host, Run *run);
void host_forget(HostRun *run); /* it is on no list any more */
void host_sweep_soon(
    HostRun *run); /* something of it is to be freed, from outside of all callbacks */
Session *host_session_with(HostRun *run, const HostDebug *debug, Error *err); /* host_session() */
void host_run_hold(HostRun *run); /* a window has come or gone */
bool host_has_window(const HostRun *run);

/* ---- subscription.c ---- */

const Subscription *subscription_after(const Subscription *s); /* the next of its run; NULL: none */
bool subscription_attaches(const Subscription *s);             /* it is a window */

/* Which events of a run anybody wants: tells the engine. */
void subscription_listen(HostRun *run);
/* Of the sweep: takes those that are over from their list. */
void subscription_purge(Subscription *first);

/* ---- host_job.c ---- */

void host_jobs_end(Host *host); /* all are told; waits for those that have begun */

/* ---- host_work.c ---- */

void host_works_end(Host *host); /* all are told */

#endif
