/* requests.h - what is asked of the store on behalf of a run, step by step.
 *
 * engine_resume(), engine_fork() and the like are requests: a few steps on the storage's threads
 * (storage.h), each followed by one on the loop, until somebody is told. A request goes from step to
 * step by request_*(q, ..., then): `then` is called on the loop when that step is done, with q->job.err
 * set when it failed, and either asks for the next step or ends the request with request_tell(). That
 * is all there is to it: no step is called before the function that asked for it returns.
 *
 *     request_load      the lease (the writer's thread), then the run at a checkpoint (a reader's)
 *     request_read      the same without a lease
 *     request_create    a run that the current batch makes, once that is committed
 *     request_durable   all that was recorded so far
 *     request_later     nothing: in one of the next turns of the loop
 *
 * A request that has its answer at once (the _now calls) is driven by request_now() (load.h), which
 * waits for each step and runs no loop.
 */
#ifndef PAWL_ENGINE_REQUESTS_H
#define PAWL_ENGINE_REQUESTS_H

#include "engine.h"
#include "storage.h"
#include "store_chain.h"

/* A run at a checkpoint, as the store has it. */
typedef struct Loaded {
    RunRow row;
    int64_t seq, step, at;
    Json image;
    Json definition; /* that it had there; JSON_NONE: not wanted */
    ChainWeight weight;
} Loaded;

bool loaded_read(Store *store, Loaded *l, bool definition, Error *err); /* for l->row and l->seq */

typedef void (*RequestStep)(Request *q);

struct Request {
    StorageJob job;
    Engine *engine;
    RequestStep then;
    struct Waiter *waiter; /* of a step that is no job */
    /* the question */
    char *thread, *new_thread;
    char *by; /* who asks for it; NULL: nobody said */
    int64_t seq;
    Flow *reload;       /* taken instead of the definition in the store */
    Buf reload_text;    /* encoded, to be kept */
    bool no_definition; /* it is not wanted */
    bool at_once;       /* as RunCancel has it */
    bool replays;       /* what the checkpoint ended is to be done again: its parent is read */
    Json input, config; /* of that, as RunReplay has them */
    Json info;
    RunResume resume; /* with strings and values of its own, like update */
    RunUpdate update;
    /* what came of it */
    Loaded loaded;
    char *reload_key;
    bool leased;   /* and no Run has it yet */
    int64_t frame; /* of a step that is replayed, like node */
    char *node;
    Run *run;       /* that is made, or changed by hand */
    RunRow made;    /* of one that is made without a Run */
    Request *makes; /* the next one that waits for a run to be made */
    /* who is told */
    RunReady ready;
    RunChanged changed;
    void *ctx;
};

Request *request_new(Engine *e, const char *thread, int64_t seq);
/* One of both is NULL. */
Request *request_for(Request *q, RunReady ready, RunChanged changed, void *ctx);

void request_load(Request *q, RequestStep then);
void request_read(Request *q, RequestStep then);
/* c->stand_in is filled in: it is what is to be recorded for until `then`. */
void request_create(Request *q, StoreCreate *c, RequestStep then);
void request_durable(Request *q, RequestStep then);
void request_later(Request *q, RequestStep then);
/* Ends the request: with an error when q->job.err has one. Keeps neither run nor row. */
void request_tell(Request *q, Run *run, const RunRow *row);
/* The same with nothing: for what could not go on. Gives back a lease that nobody took over. */
void request_fail(Request *q);

/* What comes of a request that is waited for. */
typedef struct Now {
    bool told, failed;
    Run *run;
    RunRow row; /* the caller's */
    Error *err; /* may be NULL */
} Now;
void now_ready(void *ctx, Run *run, const Error *err);
void now_changed(void *ctx, const RunRow *row, const Error *err);

/* ---- for engine.c ---- */

/* Who waits for a batch, in the order of asking. */
typedef struct Waiter {
    struct Waiter *next;
    struct Waiters *list;
    uint64_t batch;
    void (*fn)(void *ctx, const Error *err);
    void *ctx;
} Waiter;

typedef struct Waiters {
    Waiter *first, **end;
} Waiters;

Waiter *waiters_add(Waiters *list, uint64_t batch, void (*fn)(void *ctx, const Error *err),
                    void *ctx);
/* Tells those whose batch is durable, or all when there is an error. */
void waiters_tell(Waiters *list, uint64_t durable, const Error *err);
void waiter_tell(Waiter *w, const Error *err); /* this one, before the others */

/* A batch was committed, or failed: what became of the runs that it makes. */
void requests_made(Engine *e, StoreBatch *batch, const Error *err);

/* The lease of a run is given back, in a while. */
void request_release(Engine *e, int64_t run);

#endif
