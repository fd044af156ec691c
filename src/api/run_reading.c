/* run_reading.c - runs as the store has them. */
#include "run_reading.h"

#include "args.h"
#include "ascii.h"
#include "changed.h"
#include "choice.h"
#include "divergence.h"
#include "export.h"
#include "flow.h"
#include "folders.h"
#include "image.h"
#include "inspect.h"
#include "json_build.h"
#include "json_diff.h"
#include "json_path.h"
#include "mem.h"
#include "process.h"
#include "result.h"
#include "store_chain.h"
#include "store_space.h"
#include "things.h"
#include "titles.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RUNS_PAGE = 1000,
    RUNS_LOOKED = PAGE_MAX, /* for one answer */
    HISTORY_PAGE = 1000
};

/* ---- a list ---- */

/* Rows of a page are gathered first: whether a run's process is alive can only be asked afterwards. */
typedef struct Rows {
    RunRow *items;
    size_t n, cap;
} Rows;

static bool gather(void *ctx, const RunRow *row) {
    Rows *rows = ctx;
    rows->items = mem_grow(rows->items, rows->n, &rows->cap, sizeof *rows->items);
    run_row_copy(&rows->items[rows->n++], row);
    return true;
}

static void rows_clear(Rows *rows) {
    for (size_t i = 0; i < rows->n; i++) run_row_clear(&rows->items[i]);
    mem_free(rows->items);
    *rows = (Rows){0};
}

/* A list of those that fit. The store gives all runs in order, from a place on: where a page begins, and where a time
 * lies, costs nothing; what else is asked for is looked for. */
typedef struct Wanted {
    const char *status, *workflow, *search; /* NULL: any */
    int64_t since;
    size_t limit;         /* of rows */
    size_t looked;        /* at so many of them */
    const RunsPage *page; /* that the store is at */
    int64_t updated, run; /* the place of the last of rows */
    bool full, over;      /* there is another that fits; all that come are too old */
    Rows rows;
} Wanted;

/* Letters from a to z are as good as capital ones. */
static bool has_text(const char *in, const char *text) {
    for (;; in++) {
        size_t i = 0;
        while (text[i] && ascii_lower(in[i]) == ascii_lower(text[i])) i++;
        if (!text[i]) return true;
        if (!*in) return false;
    }
}

/* Of one that is `running` it is asked later whether its process is there. */
static bool may_fit(const Wanted *w, const RunRow *row) {
    const char *status = w->status && !strcmp(w->status, "stopped") ? "running" : w->status;
    return (!status || !strcmp(status, row->status)) &&
           (!w->workflow || !strcmp(w->workflow, row->workflow)) &&
           (!w->search || has_text(row->thread, w->search) || has_text(row->workflow, w->search));
}

static bool look_at(void *ctx, const RunRow *row) {
    Wanted *w = ctx;
    w->looked++;
    w->over = w->since && w->page->updated < w->since;
    if (w->over || !may_fit(w, row)) return !w->over;
    w->full = w->rows.n == w->limit;
    if (w->full) return false;
    w->updated = w->page->updated;
    w->run = w->page->run;
    return gather(&w->rows, row);
}

/* Where a list begins: behind what the answer before ended with, and before a time. */
static bool read_place(Json args, RunsPage *page, Error *err) {
    const char *after = json_object_text(args, "after");
    int64_t before = 0;
    if (after) {
        char *end;
        page->updated = strtoll(after, &end, 10);
        bool two = *end == '.' && ascii_is_digit(after[0]) && ascii_is_digit(end[1]);
        page->run = two ? strtoll(end + 1, &end, 10) : 0;
        if (!two || *end) {
            error_set(err, ERR_USAGE, "`after` is what an answer before had as `next`.");
            return error_fact(err, "field", "after");
        }
    }
    if (!args_time(args, "before", &before, err)) return false;
    if (args_has(args, "before") && (!page->run || page->updated >= before)) {
        page->updated = before;
        page->run = 1; /* behind all of that millisecond */
    }
    return true;
}

/* An answer costs what it holds, or RUNS_LOOKED runs, whatever the store has: `next` is the place of the last one that
 * was looked at. */
Json stored_runs(Store *store, Json args, Error *err) {
    size_t limit = args_size(args, "limit", RUNS_PAGE), shown = 0;
    RunsPage page = {0};
    Wanted w = {.status = json_object_text(args, "status"),
                .workflow = json_object_text(args, "workflow"),
                .search = json_object_text(args, "search"),
                .page = &page};
    Json list = json_array();
    bool ok = read_place(args, &page, err) && args_time(args, "since", &w.since, err), more = true;
    while (ok && more && shown < limit && w.looked < RUNS_LOOKED) {
        w.limit = limit - shown;
        w.full = false;
        page.limit = RUNS_LOOKED - w.looked;
        ok = store_runs_page(store, &page, look_at, &w, err);
        more = (w.full || page.more) && !w.over;
        if (w.full) {
            page.updated = w.updated;
            page.run = w.run;
        }
        for (size_t i = 0; ok && i < w.rows.n; i++) {
            Json run = run_json(store, &w.rows.items[i]);
            if (w.status && !json_string_is(json_object_get_c(run, "status"), w.status)) {
                json_unref(run);
                continue;
            }
            list = json_array_push(list, run);
            shown++;
        }
        rows_clear(&w.rows);
    }
    Json next = more ? json_string_fmt("%lld.%lld", (long long)page.updated, (long long)page.run)
                     : json_none();
    Json out = OBJECT(KEY("runs", list), KEY("next", next));
    if (!ok) json_clear(&out);
    return out;
}

/* ---- one ---- */

Json stored_run(Store *store, Json args, Error *err) {
    const char *thread = json_object_text(args, "thread");
    RunRow row = {0};
    Json image = json_none(), out = json_none();
    Rows newest = {0};
    if (!thread && store_runs_page(store, &(RunsPage){.limit = 1}, gather, &newest, err)) {
        thread = newest.n ? newest.items[0].thread : NULL;
        if (!thread) {
            error_set(err, ERR_NOT_FOUND, "There are no runs in %s.", store_url(store));
            error_fact(err, "store", store_url(store));
        }
    }
    if (thread && store_find(store, thread, &row, err)) {
        image = row.head ? image_load(store, &row, row.head, NULL, err) : json_none();
        if (!row.head || !json_is_none(image)) {
            Json titles = json_is_none(image) ? json_none() : titles_read(store, &row);
            out = run_detail(store, &row,
                             (RunDetail){image, titles, args_bool(args, "state", false)});
            json_unref(titles);
        }
    }
    json_unref(image);
    run_row_clear(&row);
    rows_clear(&newest);
    return out;
}

void run_answer_stored(Host *host, const char *thread, Reply reply) {
    host_read(host, stored_run, OBJECT(KEY("thread", thread)), reply.give, reply.ctx);
}

/* For a process that has the run and does not listen: it looks now and then. */
Json ask_cancel(Store *store, Json args, Error *err) {
    RunRow row = {0};
    bool ok = store_find(store, json_object_text(args, "thread"), &row, err) &&
              store_ask_cancel(store, row.run, err);
    Json out = ok ? run_json(store, &row) : json_none();
    run_row_clear(&row);
    return out;
}

/* A run from a document that somebody exported: it can be looked at as the original. */
Json import_run(Store *store, Json args, Error *err) {
    RunRow row = {0};
    Json out = json_none();
    if (export_import(store, json_object_get_c(args, "document"), &row, err)) {
        Json made = OBJECT(KEY("thread", row.thread));
        out = stored_run(store, made, err);
        json_unref(made);
    }
    run_row_clear(&row);
    return out;
}

/* ---- its checkpoints ---- */

typedef struct History {
    Json list;
    Changed changed;
    int64_t left, next;
    bool values, edges;
    FlowAt flow;
    Json titles; /* of tasks */
} History;

static bool add_entry(History *h, int64_t seq, Json entry) {
    h->list = json_array_push(h->list, entry);
    h->next = seq + 1;
    return --h->left > 0;
}

static bool on_checkpoint(void *ctx, const Checkpoint *c) {
    History *h = ctx;
    Changed *w = &h->changed;
    StepResult result = {0};
    bool edges = h->edges && result_has_edges(c), looks = h->values || edges;
    Json before = !looks || !c->parent  ? json_null()
                  : c->parent == w->seq ? json_ref(w->image)
                                        : chain_image(w->store, w->run, c->parent, NULL, NULL);
    Json entry = checkpoint_json(c, changed_keys(w, c));
    entry = OBJECT_ADD(entry, KEY("title", title_of_node(h->titles, c->node)));
    if (looks) result_read(c, before, w->image, &result);
    if (edges) {
        const Flow *flow = flow_at(&h->flow, w->image);
        Json told = flow ? choices_told(flow, before, w->image, result.edges) : json_none();
        entry = OBJECT_ADD(entry, KEY("edges", told));
    }
    if (h->values) {
        entry = OBJECT_ADD(entry, KEY("update", json_ref(result.update)),
                           KEY("failure", json_ref(result.error)));
    }
    result_clear(&result);
    json_unref(before);
    return add_entry(h, c->seq, entry);
}

static bool on_damaged(void *ctx, int64_t seq, const Error *err) {
    return add_entry(
        ctx, seq, OBJECT(KEY("checkpoint", seq), KEY("status", "damaged"), KEY("error", err->msg)));
}

/* Where to begin to see the last n of them: numbers have gaps where checkpoints were pruned. The window grows
 * until it holds that many. */
typedef struct Window {
    int64_t *seqs;
    size_t n, cap;
} Window;

static bool note_damaged(void *ctx, int64_t seq, const Error *err) {
    Window *w = ctx;
    (void)err;
    w->seqs = mem_grow(w->seqs, w->n, &w->cap, sizeof *w->seqs);
    w->seqs[w->n++] = seq;
    return true;
}

static bool note_one(void *ctx, const Checkpoint *c) {
    return note_damaged(ctx, c->seq, NULL);
}

static int64_t first_of_last(Store *store, const RunRow *row, int64_t last) {
    Window w = {0};
    int64_t from = 1;
    for (int64_t window = last; (int64_t)w.n < last; window *= 2) {
        from = window < row->last ? row->last - window + 1 : 1;
        w.n = 0;
        store_history(store, row->run, from, note_one, note_damaged, &w, NULL);
        if (from == 1) break;
    }
    from = (int64_t)w.n > last ? w.seqs[w.n - (size_t)last] : w.n ? w.seqs[0] : 1;
    mem_free(w.seqs);
    return from;
}

Json stored_history(Store *store, Json args, Error *err) {
    RunRow row = {0};
    Json out = json_none();
    int64_t from = args_int(args, "from", 1), last = args_int(args, "last", 0);
    if (store_find(store, json_object_text(args, "thread"), &row, err)) {
        History h = {.list = json_array(), .changed = {store, row.run}};
        h.left = args_int(args, "limit", HISTORY_PAGE);
        h.values = args_bool(args, "values", false);
        h.edges = args_bool(args, "edges", false);
        h.flow = (FlowAt){.store = store, .row = &row};
        h.titles = titles_read(store, &row);
        from = last ? first_of_last(store, &row, last) : from;
        bool ok = store_history(store, row.run, from, on_checkpoint, on_damaged, &h, err);
        changed_clear(&h.changed);
        flow_at_clear(&h.flow);
        json_unref(h.titles);
        out = OBJECT(KEY("run", run_json(store, &row)), KEY("checkpoints", h.list),
                     KEY("next", !h.left && h.next <= row.last ? json_int(h.next) : json_none()));
        if (!ok) json_clear(&out);
    }
    run_row_clear(&row);
    return out;
}

/* The row of the history that one checkpoint has, and the state there. */
Json stored_checkpoint(Store *store, Json args, Error *err) {
    RunRow row = {0};
    Checkpoint there;
    Json image = json_none(), out = json_none();
    int64_t seq = args_int(args, "checkpoint", 0);
    bool found = store_find(store, json_object_text(args, "thread"), &row, err) &&
                 store_checkpoint(store, row.run, seq, &there, err);
    if (found) image = image_load(store, &row, seq, NULL, err);
    if (!json_is_none(image)) {
        History h = {.list = json_array(), .changed = {store, row.run}, .left = 1};
        h.values = h.edges = true;
        h.flow = (FlowAt){.store = store, .row = &row};
        h.titles = titles_read(store, &row);
        bool ok = store_history(store, row.run, seq, on_checkpoint, NULL, &h, err);
        if (ok && h.next == seq + 1) {
            out = OBJECT_ADD(json_ref(json_array_get(h.list, 0)), KEY("state", image_state(image)));
        } else if (ok) {
            error_set(err, ERR_NOT_FOUND, "Checkpoint %lld of thread %s was pruned just now.",
                      (long long)seq, row.thread);
        }
        changed_clear(&h.changed);
        flow_at_clear(&h.flow);
        json_unref(h.titles);
        json_unref(h.list);
    }
    json_unref(image);
    run_row_clear(&row);
    return out;
}

/* ---- what it asks ---- */

Json stored_interrupts(Store *store, Json args, Error *err) {
    RunRow row = {0};
    Json image = json_none(), out = json_none();
    if (store_find(store, json_object_text(args, "thread"), &row, err)) {
        image = row.head ? image_load(store, &row, row.head, NULL, err) : json_none();
        if (!row.head || !json_is_none(image)) {
            out = OBJECT(
                KEY("thread", row.thread),
                KEY("interrupts", json_is_none(image) ? json_array() : image_interrupts(image)));
        }
    }
    json_unref(image);
    run_row_clear(&row);
    return out;
}

/* ---- its state and its workflow ---- */

const OperationArg run_state_args[] = {
    THREAD_ARG,
    CHECKPOINT_ARG("checkpoint", "where it stands"),
    {"path", ARG_PATH, .about = "a part of it; left out, all"},
    {0},
};

static Json state_at(Store *store, const char *thread, int64_t seq, StoredRun *run, Error *err) {
    return stored_run_read(store, thread, seq, run, err) ? image_state(run->image) : json_none();
}

Json stored_state(Store *store, Json args, Error *err) {
    StoredRun run = {0};
    Json path = args_path(args, "run_state", err), state = json_none(), out = json_none();
    if (!json_is_none(path)) {
        state = state_at(store, json_object_text(args, "thread"), args_int(args, "checkpoint", 0),
                         &run, err);
    }
    Json part = json_is_none(state) ? json_none() : json_path_get(state, path, err);
    if (!json_is_none(part)) {
        out = OBJECT(KEY("thread", run.row.thread), KEY("checkpoint", run.seq), KEY("state", part));
    }
    json_unref(state);
    json_unref(path);
    stored_run_clear(&run);
    return out;
}

/* As the session of a run answers `variables` and `search`; here nobody has to have the run. */
const OperationArg run_variables_args[] = {
    THREAD_ARG,
    CHECKPOINT_ARG("checkpoint", "where it stands"),
    {"path", ARG_PATH, .about = "what to look at; left out, everything"},
    {"offset", ARG_INT, .about = "so many are passed over first", .min = 0, .max = ARG_COUNTING},
    {"limit", ARG_INT, .about = "at most so many; left out, 100", .min = 1,
     .max = INSPECT_PAGE_MAX},
    {0}};

const OperationArg run_search_args[] = {
    THREAD_ARG,
    CHECKPOINT_ARG("checkpoint", "where it stands"),
    {"text", ARG_TEXT, .about = "part of a key or of a string, or a number", .required = true},
    {"limit", ARG_INT, .about = "at most so many; left out, 50", .min = 1, .max = INSPECT_PAGE_MAX},
    {0}};

Json stored_variables(Store *store, Json args, Error *err) {
    StoredRun run = {0};
    Json out = json_none(), state = state_at(store, json_object_text(args, "thread"),
                                             args_int(args, "checkpoint", 0), &run, err);
    InspectPage page = {.offset = args_size(args, "offset", 0),
                        .limit = args_size(args, "limit", 0)};
    if (!json_is_none(state))
        out = inspect_variables(state, json_object_get_c(args, "path"), &page, err);
    json_unref(state);
    stored_run_clear(&run);
    return out;
}

Json stored_search(Store *store, Json args, Error *err) {
    StoredRun run = {0};
    Json out = json_none(), state = state_at(store, json_object_text(args, "thread"),
                                             args_int(args, "checkpoint", 0), &run, err);
    if (!json_is_none(state))
        out = inspect_search(state, json_object_text(args, "text"), args_size(args, "limit", 0));
    json_unref(state);
    stored_run_clear(&run);
    return out;
}

Json stored_definition(Store *store, Json args, Error *err) {
    StoredRun run = {0};
    Json out = json_none();
    if (stored_run_read(store, json_object_text(args, "thread"), args_int(args, "checkpoint", 0),
                        &run, err)) {
        out = OBJECT(KEY("definition", json_ref(run.definition)),
                     KEY("folder", json_ref(run.folder)));
    }
    stored_run_clear(&run);
    return out;
}

/* ---- two of them ---- */

const OperationArg run_compare_args[] = {
    THREAD_ARG,
    CHECKPOINT_ARG("checkpoint", "where it stands"),
    {"other", ARG_TEXT, .about = "the other run; left out, the same one"},
    CHECKPOINT_ARG("other_checkpoint", "where that stands"),
    {0},
};

static const char *other_of(Json args) {
    const char *other = json_object_text(args, "other");
    return other ? other : json_object_text(args, "thread");
}

Json stored_diff(Store *store, Json args, Error *err) {
    StoredRun a = {0}, b = {0};
    Json left =
        state_at(store, json_object_text(args, "thread"), args_int(args, "checkpoint", 0), &a, err);
    Json right = json_is_none(left) ? json_none()
                                    : state_at(store, other_of(args),
                                               args_int(args, "other_checkpoint", 0), &b, err);
    Json out = json_is_none(right) ? json_none() : json_changes_report(left, right);
    json_unref(left);
    json_unref(right);
    stored_run_clear(&a);
    stored_run_clear(&b);
    return out;
}

Json stored_compare(Store *store, Json args, Error *err) {
    StoredRun a = {0}, b = {0};
    Flow *flow = NULL, *other = NULL;
    Json out = json_none();
    if (stored_run_read(store, json_object_text(args, "thread"), args_int(args, "checkpoint", 0),
                        &a, err) &&
        (flow = stored_run_flow(&a, err)) &&
        stored_run_read(store, other_of(args), args_int(args, "other_checkpoint", 0), &b, err) &&
        (other = stored_run_flow(&b, err))) {
        out = divergence_find(store, &(DivergenceSide){a.row.run, a.seq, flow},
                              &(DivergenceSide){b.row.run, b.seq, other}, err);
    }
    flow_unref(flow);
    flow_unref(other);
    stored_run_clear(&a);
    stored_run_clear(&b);
    return out;
}

/* ---- what may go ---- */

typedef struct Prune {
    PruneRule rule;
    PruneReport report;
    Json busy, errors;
} Prune;

static void note(Json *list, const RunRow *row, const Error *err) {
    *list = json_array_push(*list, OBJECT(KEY("thread", row->thread), KEY("message", err->msg)));
}

/* Places of commands; NULL: one that could not be ended. */
typedef struct Places {
    Prune *prune;
    const RunRow *row;
    char **items;
    size_t n, cap;
} Places;

static void on_unstopped(void *ctx, const char *place, const Error *err) {
    Places *places = ctx;
    note(&places->prune->errors, places->row, err);
    for (size_t i = 0; i < places->n; i++) {
        if (places->items[i] != place) continue;
        mem_free(places->items[i]);
        places->items[i] = NULL;
        break;
    }
}

/* Folders of the run itself: its own one, if it could have gone on, and what was to be removed when its process died. */
static bool is_own_folder(const char *name, int64_t run) {
    char own[32];
    size_t len = (size_t)snprintf(own, sizeof own, "run-%lld", (long long)run);
    return !strncmp(name, own, len) && (!name[len] || !strncmp(name + len, ".gone-", 6));
}

/* What is left of the commands of a run that is gone, and what they left to be kept: nobody will ask for it any more. */
static void remove_places(Prune *p, Store *store, const RunRow *row) {
    Places places = {.prune = p, .row = row};
    char prefix[32];
    const char *folder = store_folder(store, NULL);
    DIR *dir = folder ? opendir(folder) : NULL;
    size_t len = (size_t)snprintf(prefix, sizeof prefix, "%lld-", (long long)row->run);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        bool place = !strncmp(entry->d_name, prefix, len);
        if (!place && !is_own_folder(entry->d_name, row->run)) continue;
        char *path = path_join(folder, entry->d_name);
        if (!place) {
            folder_remove(path);
            mem_free(path);
            continue;
        }
        places.items = mem_grow(places.items, places.n, &places.cap, sizeof *places.items);
        places.items[places.n++] = path;
    }
    if (dir) closedir(dir);
    process_stop_places((const char *const *)places.items, places.n, on_unstopped, &places);
    for (size_t i = 0; i < places.n; i++) {
        if (places.items[i]) process_forget(places.items[i]);
        mem_free(places.items[i]);
    }
    mem_free(places.items);
    char *results = folder ? store_results_folder(folder, row->run) : NULL;
    if (results) folder_remove(results);
    mem_free(results);
}

/* A run that somebody is running is left alone; one that is damaged does not keep the others. */
static void prune_one(Prune *p, Store *store, const RunRow *row) {
    Error err = ERROR_INIT;
    int64_t gone = p->report.removed_runs;
    bool pruned = chain_prune(store, row, &p->rule, &p->report, &err);
    if (pruned && p->report.removed_runs > gone) {
        remove_places(p, store, row);
    } else if (!pruned) {
        note(err.code == ERR_BUSY ? &p->busy : &p->errors, row, &err);
    }
}

Json prune_runs(Store *store, Json args, Error *err) {
    bool whole = args_bool(args, "finished_runs", false), aged = args_has(args, "older_than");
    if (!aged && (whole || !args_has(args, "keep_last"))) {
        error_set(err, ERR_USAGE, "%s",
                  whole ? "`finished_runs` removes whole runs that have ended: say with "
                          "`older_than` how long ago."
                        : "Say what may go: `keep_last`, `older_than` or both.");
        return json_none();
    }
    const char *thread = json_object_text(args, "thread");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t before =
        (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1 -
        args_int(args, "older_than", 0); /* of age 0: what this millisecond has made too */
    Prune p = {.rule = {.keep_last = args_int(args, "keep_last", 0),
                        .older_than = !aged        ? 0
                                      : before > 0 ? before
                                                   : 1, /* 0: of any age */
                        .finished_runs = whole,
                        .result = result_by_value},
               .busy = json_array(),
               .errors = json_array()};
    RunRow row = {0};
    RunsPage page = {.limit = RUNS_PAGE, .more = true};
    bool ok = true;
    while (ok && page.more) { /* a run that is pruned keeps its place */
        Rows rows = {0};
        if (thread) {
            page.more = false;
            ok = store_find(store, thread, &row, err) && gather(&rows, &row);
        } else {
            ok = store_runs_page(store, &page, gather, &rows, err);
        }
        for (size_t i = 0; i < rows.n; i++) prune_one(&p, store, &rows.items[i]);
        rows_clear(&rows);
    }
    const PruneReport *r = &p.report;
    if (r->removed || r->removed_runs)
        store_trim(store, NULL); /* at its leisure, should that fail */
    Json out = OBJECT(KEY("runs", r->runs), KEY("removed_runs", r->removed_runs),
                      KEY("removed", r->removed), KEY("kept", r->kept), KEY("folded", r->folded),
                      KEY("busy", p.busy), KEY("errors", p.errors));
    if (!ok) json_clear(&out);
    run_row_clear(&row);
    return out;
}

/* ---- removing ---- */

Json delete_run(Store *store, Json args, Error *err) {
    RunRow row = {0};
    StoreBatch batch = STORE_BATCH_INIT;
    Json out = json_none();
    bool leased = store_find(store, json_object_text(args, "thread"), &row, err) &&
                  store_lease(store, row.run, err);
    if (leased) {
        store_batch_remove_run(&batch, row.run);
        if (store_commit(store, &batch, err)) {
            store_trim(store, NULL); /* at its leisure, should that fail */
            out = OBJECT(KEY("run", row.run), KEY("thread", row.thread));
        }
        store_release(store, row.run);
    }
    store_batch_clear(&batch);
    run_row_clear(&row);
    return out;
}

/* ---- drawing ---- */

const char *const draw_words[] = {"mermaid", "dot", "json", NULL};

Json draw_run(Store *store, Json args, Error *err) {
    StoredRun stored = {0};
    Buf text = BUF_INIT;
    Json out = json_none();
    bool there = stored_run_read(store, json_object_text(args, "thread"),
                                 args_int(args, "checkpoint", 0), &stored, err);
    Flow *flow = there ? stored_run_flow(&stored, err) : NULL;
    if (flow && flow_draw(flow, draw_words[args_word(args, "format", draw_words, 0)], &text)) {
        out = OBJECT(KEY("text", json_string(text.data, text.len)));
    }
    flow_unref(flow);
    stored_run_clear(&stored);
    buf_clear(&text);
    return out;
}
