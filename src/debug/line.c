/* line.c - lines of checkpoints, what frames see in their images, and the history that people
 * read. */
#include "line.h"

#include "wait.h"

#include "changed.h"
#include "mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- reading ----
 *
 * Parents are earlier checkpoints, so a line is read from its end in stretches of numbers: all rows
 * of a stretch come in one walk, those on the line are kept, and the next stretch ends at the
 * parent of the oldest of them. */

enum { STRETCH_LEAST = 256, STRETCH_MAX = 1 << 16 };

typedef struct Rows {
    LineStep *items;
    size_t n, cap;
    int64_t last; /* number of the last one that is wanted */
} Rows;

static LineStep step_of(const Checkpoint *c) {
    return (LineStep){.seq = c->seq,
                      .parent = c->parent,
                      .step = c->step,
                      .frame = c->frame,
                      .at = c->at,
                      .node = mem_strndup(c->node, strlen(c->node)),
                      .status = mem_strndup(c->status, strlen(c->status))};
}

static void step_clear(LineStep *c) {
    mem_free(c->node);
    mem_free(c->status);
}

void line_clear(Line *line) {
    for (size_t i = 0; i < line->n; i++) {
        step_clear(&line->items[i]);
    }
    mem_free(line->items);
    *line = (Line){0};
}

static void rows_push(Rows *r, LineStep step) {
    r->items = mem_grow(r->items, r->n, &r->cap, sizeof *r->items);
    r->items[r->n++] = step;
}

static bool take_row(void *ctx, const Checkpoint *c) {
    Rows *r = ctx;
    if (c->seq > r->last) {
        return false;
    }
    rows_push(r, step_of(c));
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

static bool keep_row(Cursor *c, const LineStep *row, Error *err) {
    if (row->parent < 0 || row->parent >= row->seq) {
        return error_set(err, ERR_DATA,
                         "Checkpoint %" PRId64 " is damaged: its parent is not an earlier one.",
                         row->seq);
    }
    rows_push(&c->kept, *row);
    c->at = row->parent;
    return true;
}

/* Moves the rows that are on the line from a stretch to the cursor; drops the others. */
static bool follow(Cursor *c, Rows *stretch, Error *err) {
    bool ok = true;
    while (stretch->n) {
        LineStep *row = &stretch->items[--stretch->n];
        bool on_line = ok && wants_more(c) && row->seq == c->at;
        ok = ok && (!on_line || keep_row(c, row, err));
        if (!on_line || !ok) {
            step_clear(row);
        }
    }
    return ok;
}

static bool read_stretch(Store *store, int64_t run, int64_t span, Cursor *c, Error *err) {
    int64_t first = c->at > span ? c->at - span + 1 : 1;
    Rows stretch = {.last = c->at};
    bool ok = store_history(store, run, first, take_row, pass_over, &stretch, err);
    ok = follow(c, &stretch, ok ? err : NULL) && ok;
    mem_free(stretch.items);
    bool gap = ok && wants_more(c) && c->at >= first;
    return ok && (!gap || missing(store, run, c->at, err));
}

static Line oldest_first(Rows *kept) {
    for (size_t i = 0, j = kept->n; i + 1 < j; i++) {
        LineStep step = kept->items[i];
        kept->items[i] = kept->items[--j];
        kept->items[j] = step;
    }
    return (Line){kept->items, kept->n};
}

bool line_read(Store *store, int64_t run, int64_t seq, size_t max, Line *out, Error *err) {
    Cursor c = {.at = seq, .max = max};
    int64_t span = max && max < STRETCH_MAX / 2 ? (int64_t)max + STRETCH_LEAST : STRETCH_MAX;
    bool ok = seq > 0 || missing(store, run, seq, err);
    while (ok && wants_more(&c)) {
        ok = read_stretch(store, run, span, &c, err);
        span = span < STRETCH_MAX / 2 ? 2 * span : STRETCH_MAX;
    }
    *out = oldest_first(&c.kept);
    if (!ok) {
        line_clear(out);
    }
    return ok;
}

/* ---- images along a line ---- */

typedef struct Walk {
    const Line *line;
    size_t at;
    Json image; /* before items[at] */
    LineImageFn fn;
    void *ctx;
    bool stopped;
} Walk;

/* Ends at the first checkpoint of the line that is not what it should be: `at` is then short of the
 * end. */
static bool walk_one(void *ctx, const Checkpoint *c) {
    Walk *w = ctx;
    int64_t next = w->line->items[w->at].seq;
    if (c->seq != next) {
        return c->seq < next;
    }
    Json after = chain_next(w->image, c);
    if (json_is_none(after)) {
        return false;
    }
    w->stopped = !w->fn(w->ctx, &(LineImage){w->at, c, w->image, after});
    json_unref(w->image);
    w->image = after;
    return ++w->at < w->line->n && !w->stopped;
}

static bool walk_past(void *ctx, int64_t seq, const Error *err) {
    const Walk *w = ctx;
    (void)err;
    return seq < w->line->items[w->at].seq;
}

static bool unreadable(Store *store, int64_t run, int64_t seq, Error *err) {
    Json image = chain_image(store, run, seq, NULL, err);
    if (json_is_none(image)) {
        return false;
    }
    json_unref(image);
    return error_set(err, ERR_DATA, "The change of checkpoint %" PRId64 " does not fit its parent.",
                     seq);
}

bool line_images(Store *store, int64_t run, const Line *line, LineImageFn fn, void *ctx,
                 Error *err) {
    if (!line->n) {
        return true;
    }
    int64_t parent = line->items[0].parent;
    Walk w = {.line = line, .fn = fn, .ctx = ctx};
    w.image = parent ? chain_image(store, run, parent, NULL, err) : json_null();
    bool ok = !json_is_none(w.image) &&
              store_history(store, run, line->items[0].seq, walk_one, walk_past, &w, err);
    json_unref(w.image);
    bool short_of = ok && !w.stopped && w.at < line->n;
    return ok && (!short_of || unreadable(store, run, line->items[w.at].seq, err));
}

/* ---- steps ---- */

const char *line_result(const LineStep *c) {
    static const char *const words[][2] = {
        {"completed", "success"}, {"failed", "failure"}, {"skipped", "skipped"}};
    for (size_t i = 0; *c->node && i < sizeof words / sizeof words[0]; i++) {
        if (!strcmp(c->status, words[i][0])) {
            return words[i][1];
        }
    }
    return NULL;
}

bool line_is_step(const LineStep *c) {
    return line_result(c) != NULL;
}

ptrdiff_t line_last_step(const Line *line, int64_t frame, size_t before) {
    for (size_t i = before < line->n ? before : line->n; i--;) {
        const LineStep *c = &line->items[i];
        if ((!frame || c->frame == frame) && line_is_step(c)) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

/* ---- the workflow ---- */

Flow *line_flow(Store *store, const RunRow *row, Json image, Error *err) {
    FlowProblems problems = {0};
    bool valid = image_valid(image);
    Json key = valid ? json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_DEFINITION) : image;
    bool other = valid && json_kind(key) == JSON_STRING;
    char *name = other ? mem_strndup(json_string_data(&key), json_string_len(key)) : NULL;
    Json definition = store_definition(store, name ? name : row->definition, err);
    mem_free(name);
    if (json_is_none(definition)) {
        return NULL;
    }
    Flow *flow = flow_load_definition(definition, &problems);
    if (!flow) {
        error_set(err, ERR_DATA, "The workflow stored with thread `%s` does not load here: %s",
                  row->thread, problems.n ? problems.items[0].msg : "it is damaged.");
    }
    flow_problems_clear(&problems);
    json_unref(definition);
    return flow;
}

/* ---- frames in an image ---- */

/* A level of a frame, as the image has it. Images may come from anywhere: a frame whose parent is
 * not an older one has none, so that going down always ends. */
typedef struct At {
    Json frames, frame; /* borrowed */
    int64_t id;
    size_t level;
} At;

static Json levels_of(Json frame) {
    Json levels = json_kind(frame) == JSON_ARRAY ? json_array_get(frame, IMAGE_LEVELS) : frame;
    return json_kind(levels) == JSON_ARRAY ? levels : json_none();
}

static bool at_top(At *at, int64_t id) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, id);
    at->id = id;
    at->frame = json_object_get_c(at->frames, text);
    Json levels = levels_of(at->frame);
    size_t n = json_is_none(levels) ? 0 : json_array_len(levels);
    at->level = n ? n - 1 : 0;
    return n > 0;
}

static bool find_frame(Json image, int64_t frame, At *at) {
    Json frames = json_kind(image) == JSON_ARRAY ? json_array_get(image, IMAGE_FRAMES) : image;
    if (json_kind(frames) != JSON_OBJECT) {
        return false;
    }
    at->frames = frames;
    return at_top(at, frame ? frame : 1);
}

static bool go_to_parent(At *at) {
    int64_t parent = image_int(at->frame, IMAGE_PARENT);
    return parent > 0 && parent < at->id && at_top(at, parent);
}

static bool go_down(At *at) {
    if (at->level) {
        at->level--;
        return true;
    }
    return go_to_parent(at);
}

static Json part_of(const At *at, size_t field) {
    Json level = json_array_get(levels_of(at->frame), at->level);
    return json_kind(level) == JSON_ARRAY ? json_array_get(level, field) : json_none();
}

static bool is_own(const At *at) {
    return json_kind(part_of(at, IMAGE_STATE)) == JSON_OBJECT;
}

/* What a frame waits for, when a debugger has not stopped it. */
static Json wait_of_frame(Json frame) {
    return wait_unpaused(json_array_get(frame, IMAGE_WAIT));
}

/* ---- which graph a level is of ---- */

static const Graph *graph_in(const Graph *graph, Json name, int64_t branch) {
    const Node *node = json_kind(name) == JSON_STRING ? graph_node(graph, name) : NULL;
    return node && node->task ? node_inside(node, branch) : NULL;
}

static const Graph *graph_at(const Flow *flow, At at);

static const Graph *lowest_graph(const Flow *flow, At at) {
    int64_t branch = image_int(at.frame, IMAGE_BRANCH);
    if (!go_to_parent(&at)) {
        return flow->main;
    }
    Json wait = wait_of_frame(at.frame);
    if (wait_is(wait, WAIT_CLEANING)) {
        return branch >= 0 && (size_t)branch < flow->ngraphs ? flow->graphs[branch] : NULL;
    }
    const Graph *graph = graph_at(flow, at);
    bool child = graph && wait_is(wait, WAIT_TASKS);
    return child ? graph_in(graph, part_of(&at, IMAGE_NODE), branch) : graph;
}

/* NULL where the workflow has none there: a node that is not in its file, or another version of
 * it. */
static const Graph *graph_at(const Flow *flow, At at) {
    size_t level = at.level;
    const Graph *graph = lowest_graph(flow, at);
    for (at.level = 0; graph && at.level < level; at.level++) {
        Json name = part_of(&at, IMAGE_NODE);
        graph = json_kind(name) == JSON_NULL ? graph->after : graph_in(graph, name, 0);
    }
    return graph;
}

/* ---- what a frame sees ---- */

typedef struct Chain {
    At *items;
    size_t n, cap;
} Chain;

/* As scope.c has it: from the outermost scope inwards. */
static Json scoped_view(const Flow *flow, At at) {
    Chain chain = {0};
    do {
        if (is_own(&at)) {
            chain.items = mem_grow(chain.items, chain.n, &chain.cap, sizeof *chain.items);
            chain.items[chain.n++] = at;
        }
    } while (go_down(&at));
    Json view = chain.n ? json_ref(part_of(&chain.items[--chain.n], IMAGE_STATE)) : json_object();
    while (chain.n) {
        const At *inner = &chain.items[--chain.n];
        const Graph *graph = graph_at(flow, *inner);
        view = scope_over(view, part_of(inner, IMAGE_STATE), graph ? graph->defaults : json_none());
    }
    mem_free(chain.items);
    return view;
}

Json line_state(const Flow *flow, Json image, int64_t frame) {
    At at;
    if (!find_frame(image, frame, &at)) {
        return json_none();
    }
    if (flow->main->scoped) {
        return scoped_view(flow, at);
    }
    while (!is_own(&at)) {
        if (!go_down(&at)) {
            return json_none();
        }
    }
    return json_ref(part_of(&at, IMAGE_STATE));
}

static void add_element(Json *values, Json wait, int64_t branch) {
    Json over = json_array_get(wait, WAIT_MAP_OVER);
    Json item = json_kind(over) == JSON_ARRAY && branch >= 0 ? json_array_get(over, (size_t)branch)
                                                             : json_none();
    *values = json_array_push(*values, json_int(branch));
    *values = json_array_push(*values, json_is_none(item) ? json_null() : json_ref(item));
}

Json line_variables(Json image, int64_t frame) {
    At at;
    if (!find_frame(image, frame, &at)) {
        return json_none();
    }
    Json inwards = json_array(), outwards = json_array();
    for (int64_t branch = image_int(at.frame, IMAGE_BRANCH); go_to_parent(&at);
         branch = image_int(at.frame, IMAGE_BRANCH)) {
        if (wait_is(wait_of_frame(at.frame), WAIT_MAP)) {
            add_element(&outwards, wait_of_frame(at.frame), branch);
        }
    }
    for (size_t i = json_array_len(outwards); i--;) {
        inwards = json_array_push(inwards, json_ref(json_array_get(outwards, i)));
    }
    json_unref(outwards);
    return inwards;
}

/* ---- paths of frames ---- */

static void add_name(Buf *out, At parent, int64_t branch) {
    Json node = part_of(&parent, IMAGE_NODE);
    if (wait_is(wait_of_frame(parent.frame), WAIT_CLEANING)) {
        buf_adds(out, "cleanup");
    } else if (json_kind(node) == JSON_STRING) {
        buf_add(out, json_string_data(&node), json_string_len(node));
    } else {
        buf_adds(out, "__start__");
    }
    buf_printf(out, "[%" PRId64 "]", branch);
}

Json line_frame_path(Json image, int64_t frame) {
    At at;
    Chain chain = {0};
    if (!find_frame(image, frame, &at)) {
        return json_none();
    }
    do {
        chain.items = mem_grow(chain.items, chain.n, &chain.cap, sizeof *chain.items);
        chain.items[chain.n++] = at;
    } while (go_to_parent(&at));
    Buf out = BUF_INIT;
    buf_adds(&out, "main");
    for (size_t i = chain.n - 1; i--;) {
        buf_addc(&out, '/');
        add_name(&out, chain.items[i + 1], image_int(chain.items[i].frame, IMAGE_BRANCH));
    }
    Json path = json_string_buf(&out);
    buf_clear(&out);
    mem_free(chain.items);
    return path;
}

/* ---- what frames leave ---- */

/* {key: value} of what a branch has written, {key: [value, node]} (reduce.h). */
static Json values_of(Json writes) {
    Json out = json_object(), key, entry;
    for (size_t pos = 0; json_object_next(writes, &pos, &key, &entry);) {
        Json value = json_kind(entry) == JSON_ARRAY ? json_array_get(entry, 0) : entry;
        out = json_object_set(out, json_ref(key),
                              json_is_none(value) ? json_null() : json_ref(value));
    }
    return out;
}

static Json kept_by(Json wait, int64_t branch) {
    WaitKind kind = wait_kind(wait);
    Json all = wait_rows[kind].left ? json_array_get(wait, wait_rows[kind].left) : json_none();
    if (branch < 0 || json_kind(all) != JSON_ARRAY) {
        return json_none();
    }
    Json left = json_array_get(all, (size_t)branch);
    bool writes = kind == WAIT_JOIN && json_kind(left) == JSON_OBJECT;
    return writes ? values_of(left) : json_ref(left);
}

Json line_left(Json before, Json after, int64_t frame) {
    At was, is;
    if (!find_frame(before, frame, &was) || find_frame(after, frame, &is)) {
        return json_none();
    }
    int64_t branch = image_int(was.frame, IMAGE_BRANCH);
    bool there = go_to_parent(&was) && find_frame(after, was.id, &is);
    return there ? kept_by(wait_of_frame(is.frame), branch) : json_none();
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
    const Line *line;
    Fact *facts; /* as many as there are items */
    FrameNow *frames;
    size_t nframes, cap;
    Json index; /* {frame: place in frames} */
} Past;

static FrameNow *frame_now(Past *p, size_t i) {
    const LineStep *c = &p->line->items[i];
    Json key = json_string_fmt("%" PRId64, c->frame), place = json_object_get(p->index, key);
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

/* The pause at its node was before this execution of it, or else after the last one. */
static bool take_pause(Past *p, FrameNow *f, const char *node) {
    bool before = f->paused && !strcmp(f->paused, node);
    if (f->paused && !before && f->after >= 0) {
        p->facts[f->after].paused = true;
    }
    f->paused = NULL;
    f->after = -1;
    return before;
}

static ptrdiff_t open_of(const FrameNow *f, const char *node) {
    for (size_t i = f->nopen; i--;) {
        if (!strcmp(f->open[i].node, node)) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

static bool is_status(const LineStep *c, const char *word) {
    return !strcmp(c->status, word);
}

/* Later turns of a loop, and further attempts, belong to the execution that is open. */
static void open_node(Past *p, FrameNow *f, const LineStep *c) {
    bool paused = take_pause(p, f, c->node);
    if (f->nopen && !strcmp(f->open[f->nopen - 1].node, c->node)) {
        f->open[f->nopen - 1].paused |= paused;
    } else if (*c->node) {
        f->open = mem_grow(f->open, f->nopen, &f->cap, sizeof *f->open);
        f->open[f->nopen++] = (Open){c->node, c->at, paused};
    }
    if (!is_status(c, "started") || !*c->node) {
        f->since = c->at;
    }
}

static void close_node(Past *p, FrameNow *f, size_t i) {
    const LineStep *c = &p->line->items[i];
    bool paused = take_pause(p, f, c->node);
    ptrdiff_t open = is_status(c, "joined") ? -1 : open_of(f, c->node);
    int64_t since = open >= 0 ? f->open[open].at : f->since;
    p->facts[i] =
        (Fact){c->at > since ? c->at - since : 0, paused || (open >= 0 && f->open[open].paused)};
    f->nopen = open >= 0 ? (size_t)open : f->nopen;
    f->since = c->at;
}

static void note_pause(Past *p, FrameNow *f, size_t i) {
    const LineStep *c = &p->line->items[i];
    ptrdiff_t open = open_of(f, c->node);
    const LineStep *last = f->last >= 0 ? &p->line->items[f->last] : NULL;
    p->facts[i].paused = true;
    if (open >= 0) {
        f->open[open].paused = true;
        return;
    }
    f->paused = c->node;
    f->after = last && line_is_step(last) && !strcmp(last->node, c->node) ? f->last : -1;
}

/* What was begun before the run was taken up again from here goes on from now. */
static void begin_anew(Past *p, int64_t at) {
    for (size_t i = 0; i < p->nframes; i++) {
        p->frames[i].since = at;
        for (size_t k = 0; k < p->frames[i].nopen; k++) {
            p->frames[i].open[k].at = at;
        }
    }
}

/* A new line begins here, or a run that had failed goes on. */
static bool is_taken_up(const Past *p, size_t i) {
    const LineStep *c = &p->line->items[i];
    return i && (c->parent != c->seq - 1 ||
                 (is_status(c, "resumed") && is_status(&p->line->items[i - 1], "failed")));
}

static void note(Past *p, size_t i) {
    const LineStep *c = &p->line->items[i];
    FrameNow *f = frame_now(p, i);
    if (is_taken_up(p, i)) {
        begin_anew(p, c->at);
    }
    if (line_is_step(c)) {
        close_node(p, f, i);
    } else if (is_status(c, "started") || is_status(c, "entered")) {
        open_node(p, f, c);
    } else if (is_status(c, "paused")) {
        note_pause(p, f, i);
    } else if (is_status(c, "resumed")) {
        f->since = c->at;
    } else if (is_status(c, "retrying") && open_of(f, c->node) >= 0) {
        f->nopen = (size_t)open_of(f, c->node) + 1;
    }
    f->last = (ptrdiff_t)i;
}

/* What is open at the end stays open; a frame that stands paused at the node that it did last was
 * stopped after it. */
static void past_end(Past *p) {
    for (size_t i = 0; i < p->nframes; i++) {
        take_pause(p, &p->frames[i], "");
        mem_free(p->frames[i].open);
    }
    mem_free(p->frames);
    json_unref(p->index);
}

static Fact *facts_of(const Line *line) {
    Past p = {
        .line = line, .facts = mem_zalloc((line->n + 1) * sizeof(Fact)), .index = json_object()};
    for (size_t i = 0; i < line->n; i++) {
        note(&p, i);
    }
    past_end(&p);
    return p.facts;
}

/* ---- the answer ---- */

static bool is_wanted(const LineQuery *q, const LineStep *c) {
    return (!q->before || c->seq < q->before) && (!q->frame || c->frame == q->frame) &&
           (q->all || line_is_step(c));
}

/* The stretch of the line that is to be told: from the oldest of the last `limit` wanted ones. */
typedef struct Stretch {
    size_t first, end;
    bool more; /* there are wanted ones before it */
} Stretch;

static Stretch stretch_of(const LineQuery *q, const Line *line) {
    size_t left = q->limit ? q->limit : LINE_HISTORY_LIMIT;
    Stretch s = {line->n, line->n, false};
    for (size_t i = line->n; i-- && !s.more;) {
        if (!is_wanted(q, &line->items[i])) {
            continue;
        }
        s.end = s.first == line->n ? i + 1 : s.end;
        s.more = !left;
        s.first = left ? i : s.first;
        left -= left > 0;
    }
    return s;
}

typedef struct Telling {
    const LineQuery *query;
    const LineStep *items; /* those of the stretch */
    const Fact *facts;
    Json steps;
} Telling;

static Json or_null(const char *text) {
    return text && *text ? json_string_c(text) : json_null();
}

static Json row_of(const LineStep *c, const char *result) {
    Json e = json_object_with(json_object(), "checkpoint", json_int(c->seq));
    e = json_object_with(e, "parent", c->parent ? json_int(c->parent) : json_null());
    e = json_object_with(e, "step", json_int(c->step));
    e = json_object_with(e, "frame", json_int(c->frame));
    e = json_object_with(e, "node", or_null(c->node));
    e = json_object_with(e, "status", json_string_c(c->status));
    e = json_object_with(e, "result", or_null(result));
    return json_object_with(e, "at", json_int(c->at));
}

/* The level of a frame that stands at a node: the innermost. */
static bool find_level(Json image, int64_t frame, const char *node, At *at) {
    bool more = find_frame(image, frame, at);
    while (more && !json_string_is(part_of(at, IMAGE_NODE), node)) {
        more = at->level > 0;
        at->level -= more;
    }
    return more;
}

/* A node that the workflow does not have runs on a level of its own, as does one whose config was
 * edited. Where it was put (InjectWhere); -1: it is the workflow's own, as written. */
static int64_t injected_where(Json image, const LineStep *c) {
    At at;
    Json injected =
        find_level(image, c->frame, c->node, &at) ? part_of(&at, IMAGE_INJECTED) : json_none();
    return json_kind(injected) == JSON_ARRAY ? image_int(injected, INJECTED_WHERE) : -1;
}

/* The checkpoint itself has stopped its frame. */
static bool is_parked(const LineImage *at, int64_t frame) {
    At before, after;
    return find_frame(at->after, frame, &after) &&
           wait_is(json_array_get(after.frame, IMAGE_WAIT), WAIT_PAUSE) &&
           !(find_frame(at->before, frame, &before) &&
             wait_is(json_array_get(before.frame, IMAGE_WAIT), WAIT_PAUSE));
}

static bool tell_one(void *ctx, const LineImage *at) {
    Telling *t = ctx;
    const LineStep *c = &t->items[at->index];
    const Fact *fact = &t->facts[at->index];
    if (is_wanted(t->query, c)) {
        const char *result = line_result(c);
        int64_t where = injected_where(at->before, c);
        Json e = row_of(c, result);
        e = json_object_with(e, "took", result ? json_int(fact->took) : json_null());
        e = json_object_with(e, "paused", json_bool(fact->paused || is_parked(at, c->frame)));
        e = json_object_with(e, "injected", json_bool(where >= 0 && where != INJECT_INSTEAD));
        e = json_object_with(e, "edited", json_bool(where == INJECT_INSTEAD));
        e = json_object_with(e, "changed", changed_between(at->before, at->after, at->checkpoint));
        e = json_object_with(e, "current", json_bool(c->seq == t->query->head));
        t->steps = json_array_push(t->steps, e);
    }
    return true;
}

static Json tell_stretch(Store *store, const LineQuery *q, const Line *line, Stretch s,
                         Error *err) {
    Fact *facts = facts_of(line);
    Line part = {line->items + s.first, s.end - s.first};
    Telling t = {q, part.items, facts + s.first, json_array()};
    if (!line_images(store, q->run, &part, tell_one, &t, err)) {
        json_clear(&t.steps);
    }
    mem_free(facts);
    return t.steps;
}

Json line_history(Store *store, const LineQuery *q, Error *err) {
    Line line;
    if (!line_read(store, q->run, q->head, 0, &line, err)) {
        return json_none();
    }
    Stretch s = stretch_of(q, &line);
    Json steps = tell_stretch(store, q, &line, s, err);
    line_clear(&line);
    if (json_is_none(steps)) {
        return steps;
    }
    Json answer = json_object_with(json_object(), "steps", steps);
    return json_object_with(answer, "more", json_bool(s.more));
}
