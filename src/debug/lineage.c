/* lineage.c - lines of checkpoints, what frames see in their images, and the history that people
 * read. */
#include "lineage.h"

#include "changed.h"
#include "json_build.h"
#include "mem.h"
#include "result.h"

#include <inttypes.h>
#include <string.h>

/* ---- reading ----
 *
 * Parents are earlier checkpoints, so a line is read from its end in stretches of numbers: all rows
 * of a stretch come in one walk, those on the line are kept, and the next stretch ends at the
 * parent of the oldest of them. */

enum { STRETCH_LEAST = 256, STRETCH_MAX = 1 << 16 };

typedef struct Rows {
    LineageStep *items;
    size_t n, cap;
    int64_t last; /* number of the last one that is wanted */
} Rows;

static void step_clear(LineageStep *c) {
    mem_free(c->node);
    mem_free(c->status);
}

void lineage_clear(Lineage *line) {
    for (size_t i = 0; i < line->n; i++) step_clear(&line->items[i]);
    mem_free(line->items);
    *line = (Lineage){0};
}

static void rows_push(Rows *r, LineageStep step) {
    r->items = mem_grow(r->items, r->n, &r->cap, sizeof *r->items);
    r->items[r->n++] = step;
}

static bool take_row(void *ctx, const Checkpoint *c) {
    Rows *r = ctx;
    if (c->seq > r->last) return false;
    rows_push(r, (LineageStep){.seq = c->seq,
                               .parent = c->parent,
                               .step = c->step,
                               .frame = c->frame,
                               .at = c->at,
                               .node = mem_strdup(c->node),
                               .status = mem_strdup(c->status)});
    return true;
}

/* It is only missed when it is on the line. */
static bool pass_over(void *ctx, int64_t seq, const Error *err) {
    const Rows *r = ctx;
    (void)err;
    return seq <= r->last;
}

/* A checkpoint of the line was not among the rows: what the store says of it. */
static bool missing(Store *store, int64_t run, int64_t seq, Error *err) {
    Checkpoint c;
    Error why = ERROR_INIT;
    if (store_checkpoint(store, run, seq, &c, &why)) {
        return error_set(err, ERR_DATA,
                         "Checkpoint %" PRId64 " came while the history was being read: try again.",
                         seq);
    }
    return error_set(err, why.code, "%s", why.msg);
}

/* Where a line is being read: the next checkpoint of it, downwards. */
typedef struct Cursor {
    int64_t at; /* 0: past the first */
    size_t max; /* 0: all */
    Rows kept;  /* newest first */
} Cursor;

static bool wants_more(const Cursor *c) {
    return c->at && (!c->max || c->kept.n < c->max);
}

/* Moves the rows that are on the line from a stretch to the cursor; drops the others. */
static bool read_stretch(Store *store, int64_t run, int64_t span, Cursor *c, Error *err) {
    int64_t first = c->at > span ? c->at - span + 1 : 1;
    Rows stretch = {.last = c->at};
    bool ok = store_history(store, run, first, take_row, pass_over, &stretch, err);
    while (stretch.n) {
        LineageStep *row = &stretch.items[--stretch.n];
        bool on_line = ok && wants_more(c) && row->seq == c->at;
        if (on_line && (row->parent < 0 || row->parent >= row->seq)) {
            ok = error_set(err, ERR_DATA,
                           "Checkpoint %" PRId64 " is damaged: its parent is not an earlier one.",
                           row->seq);
        }
        if (on_line && ok) {
            rows_push(&c->kept, *row);
            c->at = row->parent;
        } else {
            step_clear(row);
        }
    }
    mem_free(stretch.items);
    bool gap = ok && wants_more(c) && c->at >= first;
    return ok && (!gap || missing(store, run, c->at, err));
}

bool lineage_read(Store *store, int64_t run, int64_t seq, size_t max, Lineage *out, Error *err) {
    Cursor c = {.at = seq, .max = max};
    int64_t span = max && max < STRETCH_MAX / 2 ? (int64_t)max + STRETCH_LEAST : STRETCH_MAX;
    bool ok = seq > 0 || missing(store, run, seq, err);
    while (ok && wants_more(&c)) {
        ok = read_stretch(store, run, span, &c, err);
        span = span < STRETCH_MAX / 2 ? 2 * span : STRETCH_MAX;
    }
    *out = (Lineage){c.kept.items, c.kept.n};
    for (size_t i = 0, j = out->n; i + 1 < j; i++) { /* oldest first */
        LineageStep step = out->items[i];
        out->items[i] = out->items[--j];
        out->items[j] = step;
    }
    if (!ok) lineage_clear(out);
    return ok;
}

/* ---- images along a line ---- */

typedef struct Walk {
    const Lineage *line;
    size_t at;
    Json image; /* before items[at] */
    LineageImageFn fn;
    void *ctx;
    bool stopped;
} Walk;

/* Ends at the first checkpoint of the line that is not what it should be: `at` is then short of the
 * end. */
static bool walk_one(void *ctx, const Checkpoint *c) {
    Walk *w = ctx;
    int64_t next = w->line->items[w->at].seq;
    if (c->seq != next) return c->seq < next;
    Json after = chain_next(w->image, c);
    if (json_is_none(after)) return false;
    w->stopped = !w->fn(w->ctx, &(LineageImage){w->at, c, w->image, after});
    json_put(&w->image, after);
    return ++w->at < w->line->n && !w->stopped;
}

static bool walk_past(void *ctx, int64_t seq, const Error *err) {
    const Walk *w = ctx;
    (void)err;
    return seq < w->line->items[w->at].seq;
}

bool lineage_images(Store *store, int64_t run, const Lineage *line, LineageImageFn fn, void *ctx,
                    Error *err) {
    if (!line->n) return true;
    int64_t parent = line->items[0].parent;
    Walk w = {.line = line, .fn = fn, .ctx = ctx};
    w.image = parent ? chain_image(store, run, parent, NULL, err) : json_null();
    bool ok = !json_is_none(w.image) &&
              store_history(store, run, line->items[0].seq, walk_one, walk_past, &w, err);
    json_unref(w.image);
    if (!ok || w.stopped || w.at == line->n) return ok;
    int64_t seq = line->items[w.at].seq;
    Json image = chain_image(store, run, seq, NULL, err);
    ok = json_is_none(image); /* then it is said already */
    json_unref(image);
    return !ok && error_set(err, ERR_DATA,
                            "The change of checkpoint %" PRId64 " does not fit its parent.", seq);
}

/* ---- steps ---- */

bool lineage_is_step(const LineageStep *c) {
    return checkpoint_ends_node(c->node, c->status);
}

const char *lineage_result(const LineageStep *c) {
    return !lineage_is_step(c)        ? NULL
           : lineage_is(c, "failed")  ? "failure"
           : lineage_is(c, "skipped") ? "skipped"
                                      : "success";
}

ptrdiff_t lineage_last_step(const Lineage *line, int64_t frame, size_t before) {
    for (size_t i = before < line->n ? before : line->n; i--;) {
        const LineageStep *c = &line->items[i];
        if ((!frame || c->frame == frame) && lineage_is_step(c)) return (ptrdiff_t)i;
    }
    return -1;
}

/* ---- what a frame sees ---- */

/* Levels of an image on the way outwards. */
typedef struct LevelList {
    LevelAt *items;
    size_t n, cap;
} LevelList;

static void push_level(LevelList *list, LevelAt at) {
    list->items = mem_grow(list->items, list->n, &list->cap, sizeof *list->items);
    list->items[list->n++] = at;
}

/* Whether the level is one of tasks. What was injected is of the dialect that it was put into. */
static bool is_scoped(const Flow *flow, Json image, LevelAt at) {
    const Graph *graph;
    if (!flow->has_tasks) return false;
    while (!(graph = image_graph(flow, image, at)) && image_go_down(image, &at)) {}
    return graph ? graph->scoped : flow->main->scoped;
}

/* Whether no variables further out are in sight, as scope.c has it. */
static bool ends_scopes(const Flow *flow, Json image, LevelAt at) {
    const Graph *graph = image_graph(flow, image, at);
    int64_t parent = at.level ? 0 : image_parent(image, at.frame);
    return (graph && graph->outside) ||
           (parent && wait_is(image_wait(image, parent), WAIT_CLEANING));
}

/* Of tasks as scope.c has it: from the outermost scope inwards. */
Json lineage_state(const Flow *flow, Json image, int64_t frame) {
    return lineage_state_at(flow, image, image_top(image, frame ? frame : 1));
}

Json lineage_state_at(const Flow *flow, Json image, LevelAt at) {
    LevelList scopes = {0};
    if (!image_has(image, at) || !is_scoped(flow, image, at)) {
        return image_has(image, at) ? json_ref(image_seen(image, at)) : json_none();
    }
    do {
        if (json_kind(image_part(image, at, IMAGE_STATE)) == JSON_OBJECT) push_level(&scopes, at);
    } while (!ends_scopes(flow, image, at) && image_go_down(image, &at));
    Json view = scopes.n ? json_ref(image_part(image, scopes.items[--scopes.n], IMAGE_STATE))
                         : json_object();
    while (scopes.n) {
        LevelAt inner = scopes.items[--scopes.n];
        const Graph *graph = image_graph(flow, image, inner);
        view = scope_over(view, image_part(image, inner, IMAGE_STATE),
                          graph ? graph->defaults : json_none());
    }
    mem_free(scopes.items);
    return view;
}

Json lineage_variables(Json image, int64_t frame) {
    frame = frame ? frame : 1;
    if (!image_depth(image, frame)) return json_none();
    Json inwards = json_array(), outwards = json_array();
    for (int64_t parent; (parent = image_parent(image, frame)); frame = parent) {
        Json wait = image_wait(image, parent);
        int64_t branch = image_branch(image, frame);
        if (wait_is(wait, WAIT_MAP)) {
            Json item = branch < 0
                            ? json_none()
                            : json_array_get(json_array_get(wait, WAIT_MAP_OVER), (size_t)branch);
            outwards = json_array_push(outwards, json_int(branch));
            outwards = json_array_push(outwards, json_is_none(item) ? json_null() : json_ref(item));
        }
    }
    for (size_t i = json_array_len(outwards); i--;) {
        inwards = json_array_push(inwards, json_ref(json_array_get(outwards, i)));
    }
    json_unref(outwards);
    return inwards;
}

/* ---- paths of frames ---- */

Json lineage_frame_path(Json image, int64_t frame) {
    LevelList tops = {0};
    frame = frame ? frame : 1;
    if (!image_depth(image, frame)) return json_none();
    for (int64_t at = frame; at; at = image_parent(image, at)) {
        push_level(&tops, image_top(image, at));
    }
    Buf out = BUF_INIT;
    buf_adds(&out, "main");
    for (size_t i = tops.n - 1; i--;) {
        LevelAt maker = tops.items[i + 1];
        Json node = image_part(image, maker, IMAGE_NODE);
        bool named = json_kind(node) == JSON_STRING;
        if (wait_is(image_wait(image, maker.frame), WAIT_CLEANING)) {
            buf_adds(&out, "/cleanup");
        } else {
            buf_printf(&out, "/%.*s", named ? (int)json_string_len(node) : 9,
                       named ? json_string_data(&node) : "__start__");
        }
        buf_printf(&out, "[%" PRId64 "]", image_branch(image, tops.items[i].frame));
    }
    Json path = json_string_buf(&out);
    buf_clear(&out);
    mem_free(tops.items);
    return path;
}

/* ---- history ----
 *
 * One walk along the line keeps, for each frame, the executions that are open in it, outermost
 * first: a node is opened by "started" or "entered" and closed by its step. A node that is done at
 * once has no such record: it began where its frame came to it. */

typedef struct Open {
    const char *node; /* borrowed from the line */
    int64_t at;
    bool paused;
} Open;

typedef struct FrameNow {
    Open *open;
    size_t nopen, cap;
    int64_t since;      /* when it came to where it stands */
    int64_t paused_at;  /* since when it stands still there; 0: it does not */
    const char *paused; /* node that it was paused at, which has not been opened yet; NULL: none */
    ptrdiff_t after;    /* the step that it may have been paused after; -1: none */
    ptrdiff_t last;     /* index of its last checkpoint; -1: none */
} FrameNow;

/* What is known of a checkpoint beside its row. */
typedef struct Fact {
    int64_t took;
    bool paused;
} Fact;

typedef struct Past {
    const Lineage *line;
    Fact *facts; /* as many as there are items */
    FrameNow *frames;
    size_t nframes, cap;
    Json index;      /* {frame: place in frames} */
    size_t standing; /* frames that are paused */
    int64_t held_at; /* since when there is one */
} Past;

static FrameNow *frame_now(Past *p, size_t i) {
    const LineageStep *c = &p->line->items[i];
    Json key = image_key(c->frame), place = json_object_get(p->index, key);
    if (!json_is_none(place)) {
        json_unref(key);
        return &p->frames[place.i];
    }
    p->index = json_object_set(p->index, key, json_int((int64_t)p->nframes));
    p->frames = mem_grow(p->frames, p->nframes, &p->cap, sizeof *p->frames);
    FrameNow *f = &p->frames[p->nframes++];
    *f = (FrameNow){.since = i ? p->line->items[i - 1].at : c->at, .after = -1, .last = -1};
    return f;
}

/* The pause at its node was before this execution of it, or else after the last one; or what runs now was
 * injected before the node. */
static bool take_pause(Past *p, FrameNow *f, const char *node) {
    bool before = f->paused && !strcmp(f->paused, node);
    if (f->paused && !before && f->after >= 0) p->facts[f->after].paused = true;
    f->paused = before || f->after >= 0 ? NULL : f->paused;
    f->after = -1;
    return before;
}

/* ---- standing still ----
 *
 * The time of a pause is nobody's work: not that of the node which was under way, and not that of the nodes
 * around it. The root frame is around all others. */

static void shift_open(FrameNow *f, int64_t from, int64_t to) {
    for (size_t i = 0; i < f->nopen; i++) {
        int64_t begun = f->open[i].at > from ? f->open[i].at : from;
        f->open[i].at += to > begun ? to - begun : 0;
    }
}

static void stand(Past *p, FrameNow *f, int64_t at) {
    if (f->paused_at) return;
    f->paused_at = at;
    p->held_at = p->standing++ ? p->held_at : at;
}

static void go_on(Past *p, FrameNow *f, int64_t at) {
    enum { ROOT = 1 };
    if (!f->paused_at) return;
    Json key = image_key(ROOT), root = json_object_get(p->index, key);
    FrameNow *all = json_is_none(root) ? NULL : &p->frames[root.i];
    json_unref(key);
    if (f != all) shift_open(f, f->paused_at, at);
    /* of work under way that has no row of its own: what it took before counts */
    if (f->since <= f->paused_at && at > f->paused_at) f->since += at - f->paused_at;
    if (!--p->standing && all) shift_open(all, p->held_at, at);
    f->paused_at = 0;
}

/* ---- executions ---- */

static ptrdiff_t open_of(const FrameNow *f, const char *node) {
    for (size_t i = f->nopen; i--;) {
        if (!strcmp(f->open[i].node, node)) return (ptrdiff_t)i;
    }
    return -1;
}

/* Later turns of a loop, and further attempts, belong to the execution that is open. */
static void open_node(Past *p, FrameNow *f, const LineageStep *c) {
    bool paused = take_pause(p, f, c->node);
    if (f->nopen && !strcmp(f->open[f->nopen - 1].node, c->node)) {
        f->open[f->nopen - 1].paused |= paused;
    } else if (*c->node) {
        f->open = mem_grow(f->open, f->nopen, &f->cap, sizeof *f->open);
        f->open[f->nopen++] = (Open){c->node, c->at, paused};
    }
    if (!lineage_is(c, "started") || !*c->node) f->since = c->at;
}

static void close_node(Past *p, FrameNow *f, size_t i) {
    const LineageStep *c = &p->line->items[i];
    bool paused = take_pause(p, f, c->node);
    ptrdiff_t open = lineage_is(c, "joined") ? -1 : open_of(f, c->node);
    int64_t since = open >= 0 ? f->open[open].at : f->since;
    p->facts[i] =
        (Fact){c->at > since ? c->at - since : 0, paused || (open >= 0 && f->open[open].paused)};
    f->nopen = open >= 0 ? (size_t)open : f->nopen;
    f->since = c->at;
}

static void note_pause(Past *p, FrameNow *f, size_t i) {
    const LineageStep *c = &p->line->items[i];
    ptrdiff_t open = open_of(f, c->node);
    const LineageStep *last = f->last >= 0 ? &p->line->items[f->last] : NULL;
    p->facts[i].paused = true;
    stand(p, f, c->at);
    if (open >= 0) {
        f->open[open].paused = true;
        return;
    }
    f->paused = c->node;
    f->after = last && lineage_is_step(last) && !strcmp(last->node, c->node) ? f->last : -1;
}

/* What was begun before the run was taken up again from here goes on from now. */
static void begin_anew(Past *p, int64_t at) {
    p->standing = 0;
    for (size_t i = 0; i < p->nframes; i++) {
        p->frames[i].since = at;
        p->frames[i].paused_at = 0;
        for (size_t k = 0; k < p->frames[i].nopen; k++) p->frames[i].open[k].at = at;
    }
}

static void note(Past *p, size_t i) {
    const LineageStep *c = &p->line->items[i];
    FrameNow *f = frame_now(p, i);
    /* a new line begins here, or a run that had failed goes on */
    if (i && (c->parent != c->seq - 1 ||
              (lineage_is(c, "resumed") && lineage_is(&p->line->items[i - 1], "failed")))) {
        begin_anew(p, c->at);
    }
    bool stood = f->paused_at != 0;
    if (!lineage_is(c, "paused") && *c->node) go_on(p, f, c->at);
    if (lineage_is_step(c)) {
        close_node(p, f, i);
    } else if (lineage_is(c, "started") || lineage_is(c, "entered")) {
        open_node(p, f, c);
    } else if (lineage_is(c, "paused")) {
        note_pause(p, f, i);
    } else if (lineage_is(c, "joined") || (lineage_is(c, "resumed") && !stood)) {
        f->since = c->at;
    } else if (lineage_is(c, "moved")) {
        f->paused = NULL;
        f->after = -1;
    } else if (lineage_is(c, "retrying") && open_of(f, c->node) >= 0) {
        f->nopen = (size_t)open_of(f, c->node) + 1;
    }
    f->last = (ptrdiff_t)i;
}

/* What is open at the end stays open; a frame that stands paused at the node that it did last was
 * stopped after it. */
static Fact *facts_of(const Lineage *line) {
    Past p = {
        .line = line, .facts = mem_zalloc((line->n + 1) * sizeof(Fact)), .index = json_object()};
    for (size_t i = 0; i < line->n; i++) note(&p, i);
    for (size_t i = 0; i < p.nframes; i++) {
        take_pause(&p, &p.frames[i], "");
        mem_free(p.frames[i].open);
    }
    mem_free(p.frames);
    json_unref(p.index);
    return p.facts;
}

/* ---- the answer ---- */

static bool is_wanted(const LineageQuery *q, const LineageStep *c) {
    return (!q->before || c->seq < q->before) && (!q->frame || c->frame == q->frame) &&
           (q->all || lineage_is_step(c));
}

/* The stretch of the line that is to be told: from the oldest of the last `limit` wanted ones. */
typedef struct Stretch {
    size_t first, end;
    bool more; /* there are wanted ones before it */
} Stretch;

static Stretch stretch_of(const LineageQuery *q, const Lineage *line) {
    size_t left = q->limit ? q->limit : LINEAGE_HISTORY_LIMIT;
    Stretch s = {line->n, line->n, false};
    for (size_t i = line->n; i-- && !s.more;) {
        if (!is_wanted(q, &line->items[i])) continue;
        s.end = s.first == line->n ? i + 1 : s.end;
        s.more = !left;
        s.first = left ? i : s.first;
        left -= left > 0;
    }
    return s;
}

typedef struct Telling {
    const LineageQuery *query;
    const LineageStep *items; /* those of the stretch */
    const Fact *facts;
    Json steps;
} Telling;

/* A node that the workflow does not have runs on a level of its own, as does one whose config was
 * edited. Where it was put (InjectWhere); -1: it is the workflow's own, as written. */
static int64_t injected_where(Json image, const LineageStep *c) {
    for (LevelAt at = {c->frame, image_depth(image, c->frame)}; at.level--;) {
        Json name = image_part(image, at, IMAGE_NODE);
        if (json_string_is(name, c->node)) {
            Json injected = image_part(image, at, IMAGE_INJECTED);
            return json_kind(injected) == JSON_ARRAY ? image_int(injected, INJECTED_WHERE) : -1;
        }
    }
    return -1;
}

static bool tell_one(void *ctx, const LineageImage *at) {
    Telling *t = ctx;
    const LineageStep *c = &t->items[at->index];
    const Fact *fact = &t->facts[at->index];
    if (!is_wanted(t->query, c)) return true;
    const char *result = lineage_result(c);
    int64_t where = injected_where(at->before, c);
    bool parked = image_is_parked(at->after, c->frame) && !image_is_parked(at->before, c->frame);
    Json row = OBJECT(
        KEY("checkpoint", c->seq), KEY("parent", c->parent ? json_int(c->parent) : json_none()),
        KEY("step", c->step), KEY("frame", c->frame), KEY("node", *c->node ? c->node : NULL),
        KEY("status", c->status), KEY("result", result), KEY("at", json_time(c->at)),
        KEY("by", result_by(at->checkpoint)),
        KEY("took", result ? json_int(fact->took) : json_none()),
        KEY("paused", json_bool(fact->paused || parked)),
        KEY("injected", json_bool(where >= 0 && where != INJECT_INSTEAD)),
        KEY("edited", json_bool(where == INJECT_INSTEAD)),
        KEY("changed", changed_between(at->before, at->after, at->checkpoint)),
        KEY("current", json_bool(c->seq == t->query->head)));
    t->steps = json_array_push(t->steps, row);
    return true;
}

Json lineage_history(Store *store, const LineageQuery *q, Error *err) {
    Lineage line;
    if (!lineage_read(store, q->run, q->head, 0, &line, err)) return json_none();
    Stretch s = stretch_of(q, &line);
    Fact *facts = facts_of(&line);
    Lineage part = {line.items + s.first, s.end - s.first};
    Telling t = {q, part.items, facts + s.first, json_array()};
    bool ok = lineage_images(store, q->run, &part, tell_one, &t, err);
    mem_free(facts);
    lineage_clear(&line);
    if (!ok) {
        json_unref(t.steps);
        return json_none();
    }
    return OBJECT(KEY("steps", t.steps), KEY("more", s.more));
}
