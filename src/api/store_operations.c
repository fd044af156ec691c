/* store_operations.c - the store as a whole. */
#include "operation.h"

#include "args.h"
#include "host.h"
#include "image.h"
#include "json_build.h"
#include "lifecycle.h"
#include "mem.h"
#include "store_chain.h"
#include "store_space.h"

#include <string.h>

typedef struct Checking {
    Json problems;
    char *definition,
        *workflow; /* the definition that was read last, and the name in it; NULL: none that loads */
} Checking;

static void on_problem(void *ctx, const char *thread, int64_t seq, const char *sentence) {
    Checking *c = ctx;
    c->problems =
        json_array_push(c->problems, OBJECT(KEY("thread", *thread ? thread : NULL),
                                            KEY("checkpoint", seq ? json_int(seq) : json_none()),
                                            KEY("message", sentence)));
}

/* What a definition calls its workflow; many runs have the same. NULL: it does not load here. */
static const char *workflow_of(Checking *c, const RunRow *row, Json definition) {
    if (!c->definition || strcmp(c->definition, row->definition) != 0) {
        const StoredRun run = {.row = *row, .definition = definition};
        Flow *flow = stored_run_flow(&run, NULL);
        mem_free(c->definition);
        mem_free(c->workflow);
        c->definition = mem_strdup(row->definition);
        c->workflow = flow ? mem_strdup(flow->name) : NULL;
        flow_unref(flow);
    }
    return c->workflow;
}

/* A run that has ended says so in its row and in its image. The word for one that has not is with its row alone. */
static bool row_fits(void *ctx, const RunRow *row, Json image, Json definition, Error *err) {
    Checking *c = ctx;
    int status = run_status_find(row->status);
    bool ended = status == RUN_COMPLETED || status == RUN_FAILED || status == RUN_CANCELLED;
    Json word = json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_STATUS);
    const char *workflow = workflow_of(c, row, definition);
    if (status < 0 && strcmp(row->status, "pending") != 0) {
        return error_set(err, ERR_DATA, "Its status, `%.60s`, is none that a run has.",
                         row->status);
    }
    if (ended && !json_string_is(word, row->status)) {
        return error_set(err, ERR_DATA,
                         "Its status is `%s`, which is not what checkpoint %lld says.", row->status,
                         (long long)row->head);
    }
    return !workflow || !strcmp(workflow, row->workflow) ||
           error_set(err, ERR_DATA, "It is said to be of the workflow `%.60s`, and is of `%.60s`.",
                     row->workflow, workflow);
}

static Json check_store(Store *store, Json args, Error *err) {
    const char *thread = json_object_text(args, "thread");
    RunRow row = {0};
    CheckReport report = {0};
    Checking checking = {.problems = json_array()};
    CheckHost host = {.problem = on_problem, .facts = row_fits, .ctx = &checking};
    Json out = json_none();
    if ((!thread || store_find(store, thread, &row, err)) &&
        chain_check(store, row.run, &host, &report, err)) {
        out = OBJECT(KEY("ok", json_bool(!report.problems)), KEY("runs", report.runs),
                     KEY("checkpoints", report.checkpoints), KEY("snapshots", report.snapshots),
                     KEY("problems", json_ref(checking.problems)));
    }
    json_unref(checking.problems);
    mem_free(checking.definition);
    mem_free(checking.workflow);
    run_row_clear(&row);
    return out;
}

static bool count_run(void *ctx, const RunRow *row) {
    int64_t *n = ctx;
    (void)row;
    ++*n;
    return true;
}

static Json store_info(Store *store, Json args, Error *err) {
    int64_t n = 0;
    (void)args;
    if (!store_runs(store, count_run, &n, err)) return json_none();
    return OBJECT(KEY("url", store_url(store)), KEY("durable", store_is_durable(store)),
                  KEY("runs", n));
}

static Json compact_store(Store *store, Json args, Error *err) {
    SpaceReport report;
    (void)args;
    if (!store_compact(store, &report, err)) return json_none();
    return OBJECT(KEY("before", report.before), KEY("after", report.after),
                  KEY("busy", report.busy));
}

static Json backup_store(Store *store, Json args, Error *err) {
    int64_t bytes;
    const char *path = json_object_text(args, "path");
    if (!store_backup(store, path, &bytes, err)) return json_none();
    return OBJECT(KEY("path", path), KEY("bytes", bytes));
}

const Operation store_operations[] = {
    {.name = "store_info",
     .summary = "say what the store is",
     .scope = SCOPE_READ,
     .route = "GET /store",
     .idempotent = true,
     .answer = "{url: text, durable: bool, runs: int}",
     .read = store_info},
    {.name = "store_check",
     .summary = "verify everything that the store holds",
     .scope = SCOPE_ADMIN,
     .route = "POST /store/check",
     .idempotent = true,
     .args = ARGS({"thread", ARG_TEXT, .about = "only this run; left out, all"}),
     .answer =
         "{ok: bool, runs: int, checkpoints: int, snapshots: int, problems: [{thread?: text, checkpoint?: "
         "int, message: text}]}",
     .read = check_store},
    {.name = "store_compact",
     .summary = "give back to the disk what the store no longer needs",
     .scope = SCOPE_ADMIN,
     .route = "POST /store/compact",
     .idempotent = true,
     .answer = "{before: int, after: int, busy: int}",
     .read = compact_store,
     .need = HOST_WRITES},
    {.name = "store_backup",
     .summary = "copy the store, which others may be writing to",
     .scope = SCOPE_ADMIN,
     .route = "POST /store/backup",
     .args = ARGS({"path", ARG_TEXT,
                   .about = "where: a whole path on the host's machine that has nothing at it",
                   .required = true}),
     .answer = "{path: text, bytes: int}",
     .read = backup_store},
    {0},
};
