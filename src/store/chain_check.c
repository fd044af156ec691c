/* chain_check.c - is everything that the store holds what was put in?
 *
 * A run is walked once, in order of number. The images of the last few checkpoints are kept, so the
 * parent is nearly always among them; a fork from further back is rebuilt. When a checkpoint cannot
 * be rebuilt, those after it cannot either until the next snapshot: they are reported as one. */
#include "backend.h"
#include "json_diff.h"
#include "mem.h"
#include "store_chain.h"

#include <inttypes.h>
#include <stdio.h>

enum { KEPT_IMAGES = 8, PROGRESS_EVERY = 4096 };

typedef struct Kept {
    int64_t seq; /* 0: none */
    Json image;
} Kept;

typedef struct Check {
    Store *s;
    const CheckHost *host;
    CheckReport *report;
    const RunRow *row;
    Kept kept[KEPT_IMAGES]; /* a ring */
    int next;
    int64_t broken_from,
        broken_to; /* a stretch that cannot be rebuilt, not yet reported; 0: none */
    int64_t highest;
    bool has_head;
    Json head; /* the image that the run stands at; JSON_NONE: it was not seen */
} Check;

static void problem(Check *c, int64_t seq, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void problem(Check *c, int64_t seq, const char *fmt, ...) {
    Error sentence = ERROR_INIT;
    va_list args;
    va_start(args, fmt);
    error_vset_at(&sentence, ERR_DATA, 0, 0, fmt, args);
    va_end(args);
    c->report->problems++;
    c->host->problem(c->host->ctx, c->row ? c->row->thread : "", seq, sentence.msg);
}

/* ---- images ---- */

/* Together they are no more than one may be, but for the last. */
static void keep_image(Check *c, int64_t seq, Json image) {
    uint64_t bytes = json_size(image);
    for (int i = 1; i <= KEPT_IMAGES;
         i++) { /* from the newest to the oldest, whose place it takes */
        Kept *k = &c->kept[(c->next - i + KEPT_IMAGES) % KEPT_IMAGES];
        bytes += json_size(k->image);
        if (i == KEPT_IMAGES || bytes > STORE_IMAGE_MAX) {
            json_unref(k->image);
            *k = (Kept){0, json_none()};
        }
    }
    c->kept[c->next] = (Kept){seq, image};
    c->next = (c->next + 1) % KEPT_IMAGES;
}

static void forget_images(Check *c) {
    for (int i = 0; i < KEPT_IMAGES; i++) {
        json_unref(c->kept[i].image);
        c->kept[i] = (Kept){0, json_none()};
    }
}

static void end_stretch(Check *c) {
    if (c->broken_to > c->broken_from) {
        problem(c, c->broken_from + 1,
                "Checkpoints %" PRId64 " to %" PRId64 " cannot be rebuilt, as checkpoint %" PRId64
                " cannot.",
                c->broken_from + 1, c->broken_to, c->broken_from);
    }
    c->broken_from = c->broken_to = 0;
}

/* A checkpoint that cannot be rebuilt; its sentence was given, or it belongs to the stretch. */
static void mark_broken(Check *c, int64_t seq) {
    if (c->broken_from && seq == c->broken_to + 1) {
        c->broken_to = seq;
    } else {
        end_stretch(c);
        c->broken_from = c->broken_to = seq;
    }
}

/* The image of the parent, given; JSON_NONE after saying why not, unless that was said before. */
static Json parent_image(Check *c, const Checkpoint *cp) {
    Error err = ERROR_INIT;
    if (!cp->parent) return json_null();
    for (int i = 0; i < KEPT_IMAGES; i++) {
        if (c->kept[i].seq == cp->parent) return json_ref(c->kept[i].image);
    }
    if (c->broken_from && cp->parent >= c->broken_from && cp->parent <= c->broken_to) {
        if (cp->seq != c->broken_to + 1) {
            problem(c, cp->seq, "It cannot be rebuilt, as checkpoint %" PRId64 " cannot.",
                    cp->parent);
        }
        return json_none();
    }
    Json image = chain_image(c->s, cp->run, cp->parent, NULL, &err);
    if (json_is_none(image)) {
        end_stretch(c);
        problem(c, cp->seq, "Its parent cannot be rebuilt: %s", err.msg);
    }
    return image;
}

static Json patched_image(Check *c, const Checkpoint *cp) {
    Error err = ERROR_INIT;
    Json patch = chain_decode(cp->patch, cp->patch_len, &err), image = json_none();
    if (json_is_none(patch)) {
        problem(c, cp->seq, "Its change %s.", err.msg);
        return image;
    }
    Json parent = parent_image(c, cp);
    if (!json_is_none(parent)) {
        image = chain_patch(parent, patch, &err);
        if (json_is_none(image)) {
            size_t len = strlen(err.msg);
            problem(c, cp->seq, "Its change %s%s", err.msg,
                    len && err.msg[len - 1] == '.' ? "" : ".");
        }
    }
    json_unref(patch);
    return image;
}

/* The snapshot, which from here on stands for the image; JSON_NONE when there is none. */
static Json checked_snapshot(Check *c, const Checkpoint *cp, Json image) {
    if (!cp->snapshot) return json_none();
    Error err = ERROR_INIT;
    Json snapshot = chain_decode(cp->snapshot, cp->snapshot_len, &err);
    c->report->snapshots++;
    if (json_is_none(snapshot)) {
        problem(c, cp->seq, "Its image %s.", err.msg);
    } else if (!json_is_none(image)) {
        Json change = json_diff(image, snapshot);
        if (json_array_len(change)) {
            problem(c, cp->seq, "Its image is not what its change makes of its parent's.");
        }
        json_unref(change);
    }
    return snapshot;
}

/* ---- a run ---- */

static void note(Check *c, int64_t seq) {
    c->report->checkpoints++;
    c->highest = seq;
    c->has_head = c->has_head || seq == c->row->head;
    if (c->host->progress && c->report->checkpoints % PROGRESS_EVERY == 0) {
        c->host->progress(c->host->ctx, c->row, c->report->checkpoints);
    }
}

static bool check_one(void *ctx, const Checkpoint *cp) {
    Check *c = ctx;
    note(c, cp->seq);
    if (cp->parent < 0 || cp->parent >= cp->seq) {
        problem(c, cp->seq, "Its parent, %" PRId64 ", is not an earlier one.", cp->parent);
        mark_broken(c, cp->seq);
        return true;
    }
    Error err = ERROR_INIT;
    Json result = cp->result_len ? chain_decode(cp->result, cp->result_len, &err) : json_null();
    if (json_is_none(result)) problem(c, cp->seq, "Its result %s.", err.msg);
    json_unref(result);
    Json image = patched_image(c, cp), snapshot = checked_snapshot(c, cp, image);
    if (!json_is_none(snapshot)) {
        json_unref(image);
        image = snapshot;
    }
    if (json_is_none(image)) {
        mark_broken(c, cp->seq);
    } else {
        if (cp->seq == c->row->head) json_put(&c->head, json_ref(image));
        keep_image(c, cp->seq, image);
    }
    return true;
}

static bool check_damaged(void *ctx, int64_t seq, const Error *err) {
    Check *c = ctx;
    note(c, seq);
    end_stretch(c);
    problem(c, seq, "%s", err->msg);
    mark_broken(c, seq);
    return true;
}

static bool check_piece(void *ctx, const LogPiece *piece) {
    (void)ctx, (void)piece;
    return true;
}

static bool check_damaged_piece(void *ctx, int64_t n, const Error *err) {
    (void)n;
    problem(ctx, 0, "%s", err->msg);
    return true;
}

/* Its row was read before its checkpoints, which may have become more since. It is read again: what it says
 * of the last one is true of all that were seen, and where it stands is there unless that has moved. */
static void check_facts(Check *c) {
    Error err = ERROR_INIT;
    RunRow now = {0};
    bool found = false;
    if (!store_find_row(c->s, (RunKey){NULL, c->row->run}, &now, &found, &err)) {
        problem(c, 0, "%s", err.msg);
        return;
    }
    if (!found) return; /* it was removed meanwhile */
    if (now.head == c->row->head && now.head && !c->has_head) {
        problem(c, now.head, "The run stands at checkpoint %" PRId64 ", which is not there.",
                now.head);
    } else if (!now.head && c->highest) {
        problem(c, 0, "The run stands at no checkpoint, though it has some.");
    }
    if (c->highest > now.last) {
        problem(c, c->highest, "Its number is higher than the last that was given, %" PRId64 ".",
                now.last);
    }
    if (!store_check_thread(now.thread, &err)) {
        problem(c, 0, "The name of run %" PRId64 " is damaged. %s", now.run, err.msg);
    }
    Json definition = store_definition(c->s, c->row->definition, &err);
    if (json_is_none(definition)) {
        problem(c, 0, "Its definition cannot be read: %s", err.msg);
    } else if (c->host->facts && now.head == c->row->head && !json_is_none(c->head) &&
               !c->host->facts(c->host->ctx, &now, c->head, definition, &err)) {
        problem(c, 0, "%s", err.msg);
    }
    json_unref(definition);
    run_row_clear(&now);
}

static void inspect(Check *c, int64_t run) {
    Buf why = BUF_INIT;
    Error err = ERROR_INIT;
    if (!store_inspect(c->s, run, &why, &err)) problem(c, 0, "%s", err.msg);
    for (const char *at = why.data; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
        problem(c, 0, "%.*s", (int)strcspn(at, "\n"), at);
    }
    buf_clear(&why);
}

static void check_run(Check *c, const RunRow *row) {
    Error err = ERROR_INIT;
    int64_t before = c->report->problems;
    c->row = row;
    c->highest = 0;
    c->has_head = false;
    c->report->runs++;
    inspect(c, row->run);
    if (!store_history(c->s, row->run, 0, check_one, check_damaged, c, &err)) {
        problem(c, 0, "%s", err.msg);
    }
    end_stretch(c);
    forget_images(c);
    if (!store_log(c->s, &(LogQuery){.run = row->run}, check_piece, check_damaged_piece, c, &err)) {
        problem(c, 0, "%s", err.msg);
    }
    /* what is wrong with the file would only be said again */
    if (c->report->problems == before) check_facts(c);
    json_clear(&c->head);
    if (c->host->progress) c->host->progress(c->host->ctx, row, c->report->checkpoints);
}

/* ---- the store ---- */

typedef struct Rows {
    RunRow *rows;
    size_t len, cap;
    int64_t only; /* 0: all */
} Rows;

/* The rows are taken out first: checking reads the store as well. */
static bool add_row(void *ctx, const RunRow *row) {
    Rows *r = ctx;
    if (r->only && row->run != r->only) return true;
    r->rows = mem_grow(r->rows, r->len, &r->cap, sizeof *r->rows);
    r->rows[r->len++] = (RunRow){.run = row->run,
                                 .thread = mem_strdup(row->thread),
                                 .definition = mem_strdup(row->definition),
                                 .head = row->head,
                                 .last = row->last};
    return !r->only;
}

bool chain_check(Store *s, int64_t run, const CheckHost *host, CheckReport *report, Error *err) {
    Check c = {.s = s, .host = host, .report = report};
    Rows rows = {.only = run > 0 ? run : 0};
    *report = (CheckReport){0};
    bool ok = store_runs(s, add_row, &rows, err);
    if (ok && !rows.only) inspect(&c, 0);
    for (size_t i = 0; i < rows.len; i++) {
        if (ok) check_run(&c, &rows.rows[i]);
        run_row_clear(&rows.rows[i]);
    }
    mem_free(rows.rows);
    return ok;
}
