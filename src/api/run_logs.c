/* run_logs.c - what the nodes of a run printed, as the store has it.
 *
 * A page ends after `limit` pieces, or where it has PAGE_BYTES of text: `next` is where the next one begins, also of
 * what is not there yet. */
#include "args.h"
#include "host.h"
#include "json_build.h"
#include "mem.h"
#include "node_index.h"
#include "problems.h"
#include "run_reading.h"
#include "suggest.h"
#include "things.h"

#include <string.h>

enum { PAGE_PIECES = 1000, PAGE_BYTES = 1 << 20, LAST_BYTES = 4 << 20 };

static const char *const stream_words[] = {"stdout", "stderr", "log", NULL};

const OperationArg run_logs_args[] = {
    THREAD_ARG,
    {"node", ARG_TEXT, .about = "only what this node printed, or what is inside of it"},
    {"stream", ARG_TEXT, .about = "only this stream", .words = stream_words},
    {"since", ARG_TEXT, .about = "only what was printed from this time on"},
    {"from", ARG_INT, .about = "the first piece; left out, the oldest", .min = 1,
     .max = ARG_COUNTING},
    {"last", ARG_INT, .about = "only the last so many lines", .min = 1, .max = ARG_COUNTING},
    LIMIT_ARG("1000"),
    {0},
};

typedef struct Page {
    Json list;
    const char *part; /* only nodes in whose paths these names are; NULL: all */
    int64_t next;     /* behind the last that was looked at */
    int64_t left;     /* pieces; of `last`: lines */
    size_t bytes;     /* left */
    bool more;
    /* of `last`: whose piece was looked at before */
    int64_t execution, frame;
    LogStream stream;
} Page;

/* ---- nodes ---- */

/* Where the name at `at` ends, and where the text that it is compared with, which may leave a "[]" out. */
static const char *same_name(const char *at, const char *name) {
    size_t len = strcspn(name, "/");
    if (strncmp(at, name, len) != 0) return NULL;
    at += len;
    at += !strncmp(at, "[]", 2) ? 2 : 0;
    return *at == '\0' || *at == '/' ? at : NULL;
}

/* `use/make` is in `use/make`, `main/use/make` and `use/make/it`; `each` is in `each[]`. */
static bool path_has(const char *path, const char *part) {
    const char *at = path;
    for (const char *name = part; (at = same_name(at, name));) {
        name += strcspn(name, "/");
        if (!*name) return true;
        if (!*at) break;
        name++;
        at++;
    }
    path = strchr(path, '/');
    return path && path_has(path + 1, part);
}

static bool is_meant(Page *page, const LogPiece *piece) {
    return !page->part || path_has(piece->node, page->part);
}

static bool note_one(void *ctx, const LogPiece *piece) {
    (void)piece;
    *(bool *)ctx = true;
    return false;
}

static bool note_damaged(void *ctx, int64_t n, const Error *err) {
    (void)n, (void)err;
    return note_one(ctx, NULL);
}

/* A node by its whole path is found by an index. Other names are looked for in what all have printed. */
static void name_nodes(Store *store, LogQuery *query, Page *page) {
    bool any = false;
    const LogQuery same = {.run = query->run, .node = query->node};
    if (!query->node || !store_log(store, &same, note_one, note_damaged, &any, NULL) || any) return;
    page->part = query->node;
    query->node = NULL;
}

/* A node whose config has placeholders may run a file that is only known then. */
static bool has_unknown(const NodeIndex *x) {
    bool unknown = false;
    for (size_t i = 0; i < index_count(x) && !unknown; i++) {
        const Node *node = index_at(x, i);
        for (size_t p = 0; p < node->kind->nparams; p++) unknown = unknown || node->params[p].open;
    }
    return unknown;
}

/* Every name of a path is one of a node; "[]" may be left out. */
static bool has_names(const NodeIndex *x, const char *path, Suggestion *s) {
    NodeList found = {0};
    Buf body = BUF_INIT;
    bool all = true;
    for (size_t len; all && *path; path += len + (path[len] == '/')) {
        len = strcspn(path, "/");
        *s = suggestion_for(path, len);
        buf_reset(&body);
        buf_add(&body, path, len);
        buf_adds(&body, "[]");
        found.n = 0;
        index_name(x, path, len, &found);
        index_name(x, body.data, body.len, &found);
        all = found.n > 0;
    }
    for (size_t i = 0; i < index_count(x) && !all; i++) suggestion_offer(s, index_at(x, i)->name);
    buf_clear(&body);
    mem_free(found.items);
    return all;
}

/* Of a node that has printed nothing: whether the workflow has it, as far as that can be told. */
static bool knows_node(Store *store, const RunRow *row, const char *node, Error *err) {
    StoredRun stored;
    Suggestion s;
    if (!stored_run_read(store, row->thread, 0, &stored, NULL)) return true;
    Flow *flow = stored_run_flow(&stored, NULL);
    NodeIndex *x = flow ? index_new(flow) : NULL;
    bool known = !x || has_unknown(x) || has_names(x, node, &s);
    if (!known) {
        error_set(err, ERR_NOT_FOUND, "The workflow of thread `%s` has no node `%.60s`%s",
                  row->thread, node, did_you_mean_this(s.best));
        error_fact(err, "thread", row->thread);
        error_fact(err, "node", node);
    }
    index_free(x);
    flow_unref(flow);
    stored_run_clear(&stored);
    return known;
}

/* ---- forward ---- */

static bool is_full(Page *page) {
    page->more = !page->left || !page->bytes;
    return page->more;
}

static bool add_piece(void *ctx, const LogPiece *piece) {
    Page *page = ctx;
    if (is_full(page)) return false;
    page->next = piece->n + 1;
    if (!is_meant(page, piece)) return true;
    page->list = json_array_push(page->list, log_json(piece));
    page->left--;
    page->bytes -= piece->len < page->bytes ? piece->len : page->bytes;
    return true;
}

static bool add_damaged(void *ctx, int64_t n, const Error *err) {
    Page *page = ctx;
    if (is_full(page)) return false;
    page->list = json_array_push(page->list, OBJECT(KEY("n", n), KEY("error", err->msg)));
    page->next = n + 1;
    page->left--;
    return true;
}

/* ---- the last lines ---- */

/* Where the last so many lines of a text begin; 0: it has no more. */
static size_t cut_lines(const char *text, size_t len, int64_t *lines) {
    for (size_t at = len; at--;) {
        bool ends_another = text[at] == '\n' && at + 1 < len;
        if (ends_another && !--*lines) return at + 1;
    }
    return 0;
}

/* From the last piece backwards. A line that goes on in the next piece is counted there. */
static bool add_before(void *ctx, const LogPiece *piece) {
    Page *page = ctx;
    LogPiece shown = *piece;
    if (!is_meant(page, piece)) return true;
    bool goes_on = piece->len && piece->text[piece->len - 1] != '\n' &&
                   page->execution == piece->execution && page->frame == piece->frame &&
                   page->stream == piece->stream;
    if (page->next && !goes_on && !--page->left) return false;
    page->execution = piece->execution;
    page->frame = piece->frame;
    page->stream = piece->stream;
    size_t cut = cut_lines(piece->text, piece->len, &page->left);
    shown.text += cut;
    shown.len -= cut;
    shown.offset += (int64_t)cut;
    page->list = json_array_push(page->list, log_json(&shown));
    page->next = page->next ? page->next : piece->n + 1;
    page->bytes -= piece->len < page->bytes ? piece->len : page->bytes;
    return !cut && page->bytes;
}

static bool pass_over(void *ctx, int64_t n, const Error *err) {
    (void)ctx, (void)n, (void)err;
    return true;
}

static Json reversed(Json list) {
    Json out = json_array();
    for (size_t i = json_array_len(list); i--;) {
        out = json_array_push(out, json_ref(json_array_get(list, i)));
    }
    json_unref(list);
    return out;
}

/* ---- the operation ---- */

static bool note_before(void *ctx, const LogPiece *piece) {
    *(int64_t *)ctx = piece->before;
    return false;
}

static bool read_query(Json args, LogQuery *query, Error *err) {
    const char *stream = json_object_text(args, "stream");
    query->from = args_int(args, "from", 0);
    query->node = json_object_text(args, "node");
    for (int i = 0; stream && stream_words[i]; i++) {
        if (!strcmp(stream, stream_words[i])) query->streams = 1u << i;
    }
    return args_time(args, "since", &query->since, err);
}

Json stored_logs(Store *store, Json args, Error *err) {
    RunRow row = {0};
    LogQuery query = {0};
    int64_t last = args_int(args, "last", 0), dropped = 0;
    Json out = json_none();
    if (!read_query(args, &query, err) ||
        !store_find(store, json_object_text(args, "thread"), &row, err)) {
        return out;
    }
    Page page = {.list = json_array(),
                 .left = last ? last : args_int(args, "limit", PAGE_PIECES),
                 .bytes = last ? LAST_BYTES : PAGE_BYTES};
    query.run = row.run;
    query.newest_first = last > 0;
    name_nodes(store, &query, &page);
    /* the run first: what it has printed when it is over is read after it is */
    Json run = run_json(store, &row);
    bool ok = last ? store_log(store, &query, add_before, pass_over, &page, err)
                   : store_log(store, &query, add_piece, add_damaged, &page, err);
    if (ok && !query.from) {
        store_log(store, &(LogQuery){.run = row.run}, note_before, pass_over, &dropped, NULL);
    }
    const char *node = json_object_text(args, "node");
    ok = ok && (!node || query.from > 1 || json_array_len(page.list) ||
                knows_node(store, &row, node, err));
    int64_t next = page.next > query.from ? page.next : query.from;
    out =
        OBJECT(KEY("run", run), KEY("logs", last ? reversed(page.list) : page.list),
               KEY("next", next ? next : 1), KEY("more", page.more ? json_bool(true) : json_none()),
               KEY("dropped", dropped ? json_int(dropped) : json_none()));
    if (!ok) json_clear(&out);
    run_row_clear(&row);
    return out;
}
