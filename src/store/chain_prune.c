/* chain_prune.c - which checkpoints go, and what those that stay need for it. */
#include "backend.h"
#include "json_binary.h"
#include "json_diff.h"
#include "mem.h"
#include "store_chain.h"

/* Bytes of what is folded: all of it is one commit, and in memory until then. */
#define FOLDED_MAX ((size_t)2 << 30)

typedef struct Node {
    int64_t seq, parent, at;
    int64_t ancestor; /* the nearest that is kept; 0: none */
    bool kept;
} Node;

typedef struct Prune {
    Store *s;
    const PruneRule *rule;
    RunRow row;  /* as it is under the lease */
    Node *nodes; /* in order of seq */
    size_t len, cap;
    StoreBatch batch;
    PruneReport report;
} Prune;

static bool collect(void *ctx, const Checkpoint *c) {
    Prune *p = ctx;
    p->nodes = mem_grow(p->nodes, p->len, &p->cap, sizeof *p->nodes);
    p->nodes[p->len++] = (Node){.seq = c->seq, .parent = c->parent, .at = c->at};
    return true;
}

static const Node *node_of(const Prune *p, int64_t seq) {
    size_t low = 0, high = p->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->nodes[middle].seq < seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < p->len && p->nodes[low].seq == seq ? &p->nodes[low] : NULL;
}

/* Parents come before their children, so one pass finds all ancestors. */
static void choose(Prune *p) {
    int64_t keep_last = p->rule->keep_last > 1 ? p->rule->keep_last : 1;
    for (size_t i = 0; i < p->len; i++) {
        Node *n = &p->nodes[i];
        const Node *parent = node_of(p, n->parent);
        bool young = p->rule->older_than && n->at >= p->rule->older_than;
        n->kept = n->seq == p->row.head || (int64_t)(p->len - 1 - i) < keep_last || young;
        n->ancestor = !parent ? 0 : parent->kept ? parent->seq : parent->ancestor;
    }
}

/* ---- folding ---- */

/* The images are read before anything is written: what goes is still there. A result may point at the
 * patch, so it is written by value, unless the image before it is damaged. */
static bool fold(Prune *p, const Node *n, Error *err) {
    Checkpoint c;
    Buf patch = BUF_INIT, result = BUF_INIT, snapshot = BUF_INIT;
    int64_t run = p->row.run;
    Json image = chain_image(p->s, run, n->seq, NULL, err);
    Json before = json_is_none(image) ? json_none()
                  : n->ancestor       ? chain_image(p->s, run, n->ancestor, NULL, err)
                                      : json_null();
    Json parent =
        p->rule->result && n->parent ? chain_image(p->s, run, n->parent, NULL, NULL) : json_null();
    bool ok = !json_is_none(before) && store_checkpoint(p->s, run, n->seq, &c, err);
    if (ok) {
        Json change = json_diff(before, image);
        bool said = c.result && p->rule->result && !json_is_none(parent) &&
                    p->rule->result(&c, parent, image, &result);
        json_encode(change, &patch);
        json_encode(image, &snapshot);
        c.parent = n->ancestor;
        c.patch = patch.data;
        c.patch_len = patch.len;
        c.result = said ? result.data : NULL;
        c.result_len = said ? result.len : 0;
        c.snapshot = snapshot.data;
        c.snapshot_len = snapshot.len;
        checkpoint_fit(&c);
        store_batch_checkpoint(&p->batch, &c);
        p->report.folded++;
        json_unref(change);
    }
    buf_clear(&patch);
    buf_clear(&result);
    buf_clear(&snapshot);
    json_unref(parent);
    json_unref(before);
    json_unref(image);
    return ok;
}

static bool too_much(const Prune *p, Error *err) {
    error_set(
        err, ERR_LIMIT,
        "Thread `%s` has so many large images on its branches that to prune it would take "
        "more than %zu MB at once. Nothing was removed; keep more of it, or remove all of it.",
        p->row.thread, FOLDED_MAX >> 20);
    error_fact(err, "thread", p->row.thread);
    return error_fact_int(err, "limit", (int64_t)FOLDED_MAX);
}

static bool put_changes(Prune *p, Error *err) {
    bool ok = true;
    for (size_t i = 0; ok && i < p->len; i++) {
        const Node *n = &p->nodes[i];
        if (!n->kept) {
            store_batch_remove(&p->batch, p->row.run, n->seq);
            p->report.removed++;
        } else if (n->parent != n->ancestor) {
            ok = fold(p, n, err) && (p->batch.bytes.len <= FOLDED_MAX || too_much(p, err));
        }
        p->report.kept += n->kept;
    }
    return ok;
}

/* ---- the log ---- */

typedef struct Trim {
    int64_t until; /* when the last of what goes was recorded */
    int64_t first; /* the first piece that stays; 0: none does */
} Trim;

static bool find_first_kept(void *ctx, const LogPiece *piece) {
    Trim *t = ctx;
    t->first = piece->n;
    return piece->at <= t->until;
}

static bool pass_over(void *ctx, int64_t n, const Error *err) {
    (void)ctx, (void)n, (void)err;
    return true;
}

/* What was printed before the first checkpoint that stays began goes with those before it. */
static bool trim_log(Prune *p, Error *err) {
    Trim t = {0};
    size_t i = 0;
    for (; i < p->len && !p->nodes[i].kept; i++) {
        t.until = p->nodes[i].at > t.until ? p->nodes[i].at : t.until;
    }
    LogQuery query = {.run = p->row.run};
    if (!i) return true;
    if (!store_log(p->s, &query, find_first_kept, pass_over, &t, err)) return false;
    if (t.first > 1) store_batch_trim_log(&p->batch, p->row.run, t.first);
    return true;
}

/* ---- whole runs ---- */

/* It has ended, and long enough ago. */
static bool goes_whole(const Prune *p) {
    static const char *const ends[] = {"completed", "failed", "cancelled"};
    bool ended = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        ended = ended || !strcmp(p->row.status, ends[i]);
    }
    return p->rule->finished_runs && ended &&
           (!p->rule->older_than || p->row.updated < p->rule->older_than);
}

static bool count_one(void *ctx, const Checkpoint *c) {
    (void)c;
    ++*(int64_t *)ctx;
    return true;
}

static bool count_damaged(void *ctx, int64_t seq, const Error *err) {
    (void)seq, (void)err;
    ++*(int64_t *)ctx;
    return true;
}

/* ---- all of it ---- */

static bool prune_leased(Prune *p, int64_t run, Error *err) {
    bool found = false;
    if (!store_find_row(p->s, (RunKey){NULL, run}, &p->row, &found, err)) return false;
    if (!found) {
        return true; /* somebody removed it meanwhile */
    }
    p->report.runs = 1;
    if (goes_whole(p)) {
        store_batch_remove_run(&p->batch, run);
        p->report.removed_runs = 1;
        return store_history(p->s, run, 0, count_one, count_damaged, &p->report.removed, err) &&
               store_commit(p->s, &p->batch, err);
    }
    if (!store_history(p->s, run, 0, collect, NULL, p, err)) return false;
    choose(p);
    return put_changes(p, err) && trim_log(p, err) && store_commit(p->s, &p->batch, err);
}

bool chain_prune(Store *s, const RunRow *row, const PruneRule *rule, PruneReport *report,
                 Error *err) {
    Prune p = {.s = s, .rule = rule, .batch = STORE_BATCH_INIT};
    bool held = store_holds(s, row->run);
    if (!store_lease(s, row->run, err)) return false;
    bool ok = prune_leased(&p, row->run, err);
    if (!held) store_release(s, row->run);
    if (ok) {
        report->runs += p.report.runs;
        report->removed_runs += p.report.removed_runs;
        report->removed += p.report.removed;
        report->kept += p.report.kept;
        report->folded += p.report.folded;
    }
    store_batch_clear(&p.batch);
    mem_free(p.nodes);
    run_row_clear(&p.row);
    return ok;
}
