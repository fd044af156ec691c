/* store_operations.c - the store as a whole. */
#include "operation.h"

#include "args.h"
#include "json_build.h"
#include "store_chain.h"
#include "store_space.h"

static void on_problem(void *ctx, const char *thread, int64_t seq, const char *sentence) {
    Json *problems = ctx;
    *problems =
        json_array_push(*problems, OBJECT(KEY("thread", *thread ? thread : NULL),
                                          KEY("checkpoint", seq ? json_int(seq) : json_none()),
                                          KEY("message", sentence)));
}

static Json check_store(Store *store, Json args, Error *err) {
    const char *thread = json_object_text(args, "thread");
    RunRow row = {0};
    CheckReport report = {0};
    Json problems = json_array(), out = json_none();
    CheckHost host = {on_problem, NULL, &problems};
    if ((!thread || store_find(store, thread, &row, err)) &&
        chain_check(store, row.run, &host, &report, err)) {
        out = OBJECT(KEY("ok", json_bool(!report.problems)), KEY("runs", report.runs),
                     KEY("checkpoints", report.checkpoints), KEY("snapshots", report.snapshots),
                     KEY("problems", json_ref(problems)));
    }
    json_unref(problems);
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
