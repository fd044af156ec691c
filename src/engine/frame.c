/* frame.c - a frame and its levels: life, what it waits for, what its expressions see. */
#include "frame.h"

#include "bisect.h"
#include "config.h"
#include "fetched.h"
#include "image_read.h"
#include "injected.h"
#include "json_parse.h"
#include "mem.h"
#include "run_secrets.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- by number ---- */

/* A run with many frames gets an index when one of them is first asked for: an array in order of their
 * numbers, which is that of the list, where those that have ended leave their numbers behind until they are
 * half of it. */
enum { INDEX_FROM = 64 };

static size_t index_place(const FrameIndex *index, int64_t id) {
    BISECT(found, index->n, i, index->items[i].id < id);
    return found;
}

void frame_index_clear(Run *run) {
    mem_free(run->index.items);
    run->index = (FrameIndex){0};
}

void frame_index_remove(Frame *f) {
    FrameIndex *index = &f->run->index;
    if (!index->items) return;
    size_t at = index_place(index, f->id);
    assert(at < index->n && index->items[at].frame == f);
    index->items[at].frame = NULL;
    if (f->run->nframes < index->n / 2) frame_index_clear(f->run);
}

Frame *run_frame(const Run *run, int64_t id) {
    if (run->nframes < INDEX_FROM) {
        Frame *f = run->first_frame;
        while (f && f->id != id) f = f->next;
        return f;
    }
    FrameIndex *index = &((Run *)run)->index;
    if (!index->items) {
        index->cap = run->nframes;
        index->items = mem_alloc(index->cap * sizeof *index->items);
        for (Frame *f = run->first_frame; f; f = f->next) {
            index->items[index->n++] = (struct IndexedFrame){f->id, f};
        }
    }
    size_t at = index_place(index, id);
    return at < index->n && index->items[at].id == id ? index->items[at].frame : NULL;
}

/* ---- life ---- */

/* In order, so that in the image a frame stands before those that it made. */
void frame_mark(Frame *f) {
    if (!f->dirty) {
        Run *run = f->run;
        f->dirty = true;
        f->dirty_next = NULL;
        *(run->dirty ? &run->dirty_tail->dirty_next : &run->dirty) = f;
        run->dirty_tail = f;
    }
}

void frame_join_moving(Frame *f) {
    Run *run = f->run;
    f->moving_prev = run->last_moving;
    *(f->moving_prev ? &f->moving_prev->moving_next : &run->first_moving) = f;
    run->last_moving = f;
}

void frame_leave_moving(Frame *f) {
    Run *run = f->run;
    *(f->moving_prev ? &f->moving_prev->moving_next : &run->first_moving) = f->moving_next;
    *(f->moving_next ? &f->moving_next->moving_prev : &run->last_moving) = f->moving_prev;
    f->moving_prev = f->moving_next = NULL;
}

Frame *frame_new(Run *run, Frame *parent, uint32_t branch) {
    Frame *f = mem_zalloc(sizeof *f);
    char key[24];
    f->run = run;
    f->parent = parent;
    f->branch = branch;
    f->id = run->next_frame++;
    f->key = json_string(key, (size_t)snprintf(key, sizeof key, "%lld", (long long)f->id));
    f->wait = json_null(); /* WAIT_NOTHING */
    f->vars = parent ? json_ref(parent->vars) : json_array();
    f->since = engine_time(run->engine);
    f->prev = run->last_frame;
    *(f->prev ? &f->prev->next : &run->first_frame) = f;
    run->last_frame = f;
    run->nframes++;
    FrameIndex *index = &run->index;
    if (index->items) {
        index->items = mem_grow(index->items, index->n, &index->cap, sizeof *index->items);
        index->items[index->n++] = (struct IndexedFrame){f->id, f};
    }
    frame_join_moving(f);
    frame_mark(f);
    if (run_hooks(run) && run_hooks(run)->frame_new) run_hooks(run)->frame_new(run->hooks_ctx, f);
    return f;
}

void frame_drop_params(Frame *f) {
    if (f->params) {
        config_clear(frame_top(f)->node, f->params);
        mem_free(f->params);
        f->params = NULL;
    }
}

void frame_free(Frame *f) {
    frame_drop_params(f);
    injected_drop(f, 0);
    while (f->nlevels) level_pop(f);
    timer_free(f->timer);
    mem_free(f->levels);
    json_unref(f->key);
    json_unref(f->wait);
    json_unref(f->vars);
    json_unref(f->result);
    json_unref(f->set);
    mem_free(f);
}

Level *level_push(Frame *f, const Graph *graph, Json state, bool keeps_writes) {
    size_t cap = f->levels_cap;
    if (f->nlevels == cap) {
        cap = cap ? cap * 2 : 1;
        f->levels = mem_realloc(f->levels, cap * sizeof *f->levels);
        f->levels_cap = (uint32_t)cap;
    }
    Level *l = &f->levels[f->nlevels++];
    *l = (Level){.graph = graph, .state = state};
    l->writes = keeps_writes ? json_object() : json_none();
    frame_mark(f);
    return l;
}

void level_pop(Frame *f) {
    Level *l = &f->levels[--f->nlevels];
    json_unref(l->state);
    json_unref(l->writes);
    injected_free(f->run, l->injected);
    if (l->fetched) fetched_leave(f->run, l->fetched);
}

void level_begin_node(Level *l) {
    l->attempt = 0;
    l->count = 0;
    l->deadline = 0;
}

void level_begin_again(Level *l, Json error) {
    int32_t turns = json_string_is(json_object_get_c(error, "kind"), "recursion") ? 0 : l->count;
    level_begin_node(l);
    l->count = turns;
}

/* ---- looking ---- */

Json frame_pause(const Frame *f) {
    return f->status == FRAME_PARKED ? json_array_get(f->wait, WAIT_PAUSE_INFO) : json_none();
}

HookPosition frame_position(const Frame *f) {
    return f->status == FRAME_PARKED ? (HookPosition)image_int(f->wait, WAIT_PAUSE_POSITION)
                                     : HOOK_BEFORE;
}

uint32_t frame_shown_level(const Frame *f) {
    uint32_t level = 0;
    while (level + 1 < f->nlevels && f->levels[level].count) level++;
    return level;
}

/* ---- expressions and errors ---- */

/* The variables that a node's expressions were compiled with are the last ones of the frame's. */
const Json *frame_variables(const Frame *f, const Node *node, Json *copy) {
    size_t n = json_array_len(f->vars), wanted = node->nvars;
    assert(wanted <= n && wanted <= FRAME_VARS_MAX);
    for (size_t i = 0; i < wanted; i++) copy[i] = json_array_get(f->vars, n - wanted + i);
    return copy;
}

/* ---- sizes ---- */

static bool too_large(const char *what, uint64_t size, uint64_t max, Error *err) {
    error_set(err, ERR_LIMIT, "%s is too large: about %llu MB, where at most %llu MB are allowed.",
              what, (unsigned long long)(size >> 20), (unsigned long long)(max >> 20));
    error_fact_int(err, "size", (int64_t)size);
    return error_fact_int(err, "limit", (int64_t)max);
}

bool value_fits(const Engine *e, Json value, const char *what, Error *err) {
    uint64_t size = json_size(value), max = e->options.max_state;
    return size <= max || too_large(what, size, max, err);
}

bool value_fits_beside(const Run *run, Json value, Error *err) {
    uint64_t size = json_size(run->image) + json_size(value);
    return size <= STORE_IMAGE_MAX || too_large("All of the run", size, STORE_IMAGE_MAX, err);
}

bool level_has_room(const Run *run, const Level *l, Json update) {
    enum { AN_ENTRY = 256 }; /* of writes, at most, besides the value */
    uint64_t max = run->engine->options.max_state;
    uint64_t now = json_size(l->state) + json_size(l->writes) + json_size(run->image);
    uint64_t more = 2 * json_size(update) + AN_ENTRY * json_object_len(update);
    return now < max && more < max && now + more <= max && max <= STORE_IMAGE_MAX;
}

bool level_fits(const Run *run, const Level *l, LevelKept kept, Error *err) {
    uint64_t max = run->engine->options.max_state, image = json_size(run->image);
    uint64_t writes = json_size(l->writes), now = json_size(l->state) + writes;
    if (now + image <= max && max <= STORE_IMAGE_MAX) return true; /* as at nearly every step */
    uint64_t before = json_size(kept.state) + json_size(kept.writes);
    if (writes > max) return too_large("What was written to the state", writes, max, err);
    image = now + (image > before ? image - before : 0);
    return value_fits(run->engine, l->state, "The state", err) &&
           (image <= STORE_IMAGE_MAX || too_large("All of the run", image, STORE_IMAGE_MAX, err));
}

Json frame_work_key(const Frame *f) {
    return json_string_fmt("%lld.%lld", (long long)f->run->last + 1, (long long)f->id);
}

/* What works outside has the number of the record that leads to it; what does not, of the one before its end. */
bool frame_span(const Frame *f, TraceContext *out) {
    if (!f->run->trace) return false;
    Json key = work_part(f->wait, WORK_KEY);
    int64_t record =
        json_kind(key) == JSON_STRING ? strtoll(json_string_data(&key), NULL, 10) : f->run->last;
    const uint64_t parts[] = {(uint64_t)f->run->row.run,
                              (uint64_t)f->id,
                              f->nlevels,
                              (uint64_t)record,
                              json_array_len(work_part(f->wait, WORK_ANSWERS)),
                              (uint64_t)f->run->trace->leg};
    trace_child(&f->run->trace->own, parts, sizeof parts / sizeof *parts, out);
    return true;
}

/* A sentence that was too long ends in "...", maybe in the middle of a secret. */
static Json sentence_of(const Mask *mask, const char *msg) {
    size_t len = strlen(msg), dots = len > 3 && !strcmp(msg + len - 3, "...") ? 3 : 0;
    Buf text = BUF_INIT;
    bool hides = mask && mask_text(mask, msg, len - dots, MASK_CUT_BACK, &text);
    if (hides) buf_add(&text, msg + len - dots, dots);
    Json out = hides ? json_string(text.data, text.len) : json_string_c(msg);
    buf_clear(&text);
    return out;
}

/* The nodes that use the kinds from outside around a node, the nearest first; JSON_NONE: it is in none. The node stands
 * at a level of the frame, or, where it is NULL, the frame as a whole is meant. */
static Json used_at(const Frame *f, const Node *node) {
    Json list = json_none();
    bool inside = !node;
    for (; f; f = f->parent) {
        for (uint32_t i = f->nlevels; i > 1; i--) {
            const Node *user = f->levels[i - 2].node;
            const Graph *graph = f->levels[i - 1].graph;
            inside = inside || graph == node->graph;
            if (!inside || !graph->outside || !user) continue;
            Json place = OBJECT(KEY("kind", user->kind->name), KEY("node", user->name),
                                KEY("file", user->file), KEY("line", json_int(user->line)),
                                KEY("column", json_int(user->col)));
            list = json_array_push(json_is_none(list) ? json_array() : list, place);
        }
        inside = inside || f->levels[0].graph == node->graph;
    }
    return list;
}

Json fail_error(const Frame *f, const Node *node, const char *kind, const Error *err,
                Json details) {
    const Mask *mask = f ? run_mask(f->run) : NULL;
    const Graph *graph = f ? frame_top(f)->graph : NULL;
    const Frame *element = f; /* of the innermost map around it */
    while (element && !element->is_element) element = element->parent;
    bool own = !node || !strcmp(node->file, node->graph->file); /* else edited: flow_stand_in() */
    Json used = f ? used_at(f, node) : json_none();
    bool exact = err->line && own;
    if (err->code == ERR_SECRET) kind = "secret";
    if (mask) details = json_mask(mask, details, MASK_CUT_FRONT | MASK_CUT_BACK);
    Json error = OBJECT(KEY("kind", kind), KEY("message", sentence_of(mask, err->msg)),
                        KEY("node", node ? json_ref(node->name_json) : json_none()),
                        KEY("element", element ? json_int(element->branch) : json_none()),
                        KEY("file", node    ? node->file
                                    : graph ? graph->file
                                            : ""),
                        KEY("line", json_int(exact  ? err->line
                                             : node ? node->line
                                                    : 0)),
                        KEY("column", json_int(exact  ? err->col
                                               : node ? node->col
                                                      : 0)),
                        KEY("used_at", used));
    error = json_object_merge(error, details);
    json_unref(details);
    /* How much it is, and may be; which secret. */
    if ((err->code == ERR_LIMIT || err->code == ERR_SECRET) && *err->facts) {
        Buf text = BUF_INIT;
        buf_printf(&text, "{%s}", err->facts);
        Json facts = json_parse(text.data, text.len, NULL, NULL);
        error = json_object_merge(error, facts);
        json_unref(facts);
        buf_clear(&text);
    }
    return error;
}
