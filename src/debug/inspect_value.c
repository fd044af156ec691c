/* inspect_value.c - parts of large values, searches, differences and evaluations. See inspect.h.
 *
 * Nothing recurses on the value that is looked at, but for previews, whose recursion ends with the
 * few characters that they have. */
#include "inspect.h"

#include "json_build.h"
#include "json_diff.h"
#include "json_path.h"
#include "json_print.h"
#include "mem.h"
#include "utf8.h"

#include <stdlib.h>
#include <uv.h>

enum {
    VARIABLES_LIMIT = 100,
    SEARCH_LIMIT = 50,
    LARGEST_LIMIT = 10,
    DIFF_LIMIT = 1000,
    EVAL_LIMIT = 100,
    MOSTLY = 10, /* a value that leaves less than this part of its container is most of it */
    CHANGES_TOLD_MAX = 1000000,
    TEXT_UNIT = 256, /* bytes of text that are as much work as a value */
    PATH_WORK = 16,  /* what a step of a path in an answer is */
};

/* As values are counted; what is larger holds parts many times, and walking it may take forever. */
#define DIFF_SIZE_MAX ((uint64_t)2 << 30)

static size_t limited(size_t limit, size_t usual, size_t most) {
    return limit == 0 ? usual : limit < most ? limit : most;
}

/* `more` is there only when there is more. */
static Json more_json(bool more) {
    return more ? json_bool(true) : json_none();
}

/* ---- previews ---- */

/* chars: of the preview. */
static void show_string(Json s, size_t chars, Buf *out) {
    const char *data = json_string_data(&s);
    size_t len = json_string_len(s);
    json_print_string(data, utf8_offset(data, len, chars + 1), false, out);
}

/* The beginning of a value as JSON; what is wrong with the end does not matter, as it is cut off.
 * Each level writes at least its bracket, so that the depth is bounded by the length. */
static void show(Json j, size_t chars, Buf *out) {
    JsonKind kind = json_kind(j);
    Json step, value;
    size_t enough = UTF8_BYTES_MAX * (chars + 1); /* bytes to see that it is to be cut */
    if (kind == JSON_STRING) {
        show_string(j, chars, out);
    } else if (kind < JSON_ARRAY) {
        json_print(j, NULL, out);
    } else {
        buf_addc(out, kind == JSON_OBJECT ? '{' : '[');
        for (size_t pos = 0, i = 0; out->len <= enough && inspect_next(j, &pos, &step, &value);
             i++) {
            buf_adds(out, i ? "," : "");
            if (kind == JSON_OBJECT) {
                show_string(step, chars, out);
                buf_addc(out, ':');
            }
            show(value, chars, out);
        }
        buf_addc(out, kind == JSON_OBJECT ? '}' : ']');
    }
}

static Json preview_of(Json j, size_t chars) {
    Buf text = BUF_INIT;
    show(j, chars, &text);
    if (utf8_offset(text.data, text.len, chars) < text.len) {
        text.len = utf8_offset(text.data, text.len, chars > 3 ? chars - 3 : 0);
        buf_adds(&text, "...");
    }
    Json shown = json_string_buf(&text);
    buf_clear(&text);
    return shown;
}

static Json preview(Json j) {
    return preview_of(j, INSPECT_PREVIEW);
}

/* ---- what every answer says of a value ---- */

static Json size_json(uint64_t size) {
    return json_int(size < INT64_MAX ? (int64_t)size : INT64_MAX);
}

static bool length_of(Json j, size_t *length) {
    switch (json_kind(j)) {
    case JSON_STRING: *length = utf8_length(json_string_data(&j), json_string_len(j)); return true;
    case JSON_ARRAY: *length = json_array_len(j); return true;
    case JSON_OBJECT: *length = json_object_len(j); return true;
    default: return false;
    }
}

/* Adds type, size and length. */
static Json with_kind(Json answer, Json j) {
    size_t length;
    return OBJECT_ADD(
        answer, KEY("type", json_kind_name(json_kind(j))), KEY("size", size_json(json_size(j))),
        KEY("length", length_of(j, &length) ? json_int((int64_t)length) : json_none()));
}

/* Consumes path. */
static Json with_path(Json answer, Json path) {
    Buf text = BUF_INIT;
    json_path_text(path, SIZE_MAX, &text);
    answer = OBJECT_ADD(answer, KEY("path", path), KEY("text", json_string_buf(&text)));
    buf_clear(&text);
    return answer;
}

/* ---- variables ---- */

/* Keys may be long, so that the page may be shorter than asked for. */
static Json page_of(Json j, const InspectPage *of) {
    Json page = json_array(), step, value;
    size_t offset = of->offset, limit = of->limit;
    size_t pos = json_kind(j) == JSON_ARRAY ? offset : 0;
    uint64_t bytes = 0;
    if (json_kind(j) == JSON_OBJECT) {
        limit = offset < json_object_len(j) ? limit : 0;
        for (size_t i = 0; limit && i < offset; i++) inspect_next(j, &pos, &step, &value);
    }
    for (; limit && bytes < INSPECT_ANSWER_MAX && inspect_next(j, &pos, &step, &value); limit--) {
        Json child = with_kind(OBJECT(KEY("key", json_ref(step))), value);
        page = json_array_push(page,
                               OBJECT_ADD(child, KEY("preview", preview_of(value, of->preview))));
        bytes += json_size(step);
    }
    return page;
}

Json inspect_variables(Json state, Json path, const InspectPage *page, Error *err) {
    Json steps, value = inspect_at(state, path, &steps, err);
    size_t total = 0;
    if (json_is_none(value)) return json_none();
    Json answer = with_kind(with_path(json_object(), steps), value);
    if (json_size(value) <= INSPECT_WHOLE) return OBJECT_ADD(answer, KEY("value", json_ref(value)));
    InspectPage shown = {.offset = page->offset,
                         .limit = limited(page->limit, VARIABLES_LIMIT, INSPECT_PAGE_MAX),
                         .preview = limited(page->preview, INSPECT_PREVIEW, INSPECT_PREVIEW_MAX)};
    if (!length_of(value, &total)) { /* a number of thousands of digits */
        return OBJECT_ADD(answer, KEY("preview", preview_of(value, shown.preview)),
                          KEY("cut", json_bool(true)));
    }
    size_t offset = shown.offset, limit = shown.limit, begin = offset < total ? offset : total;
    if (json_kind(value) != JSON_STRING) {
        return OBJECT_ADD(answer, KEY("children", page_of(value, &shown)), KEY("offset", begin),
                          KEY("total", total), KEY("preview", preview_of(value, shown.preview)));
    }
    const char *data = json_string_data(&value);
    size_t len = json_string_len(value), from = utf8_offset(data, len, offset);
    size_t n = utf8_offset(data + from, len - from, limit < INSPECT_WHOLE ? INSPECT_WHOLE : limit);
    return OBJECT_ADD(answer, KEY("value", json_string_valid(data + from, n)), KEY("offset", begin),
                      KEY("total", total), KEY("cut", json_bool(true)));
}

Json inspect_summary(Json state) {
    size_t total = 0;
    if (json_kind(state) >= JSON_ARRAY) length_of(state, &total);
    Json keys =
        page_of(state, &(InspectPage){.limit = INSPECT_PAGE_MAX, .preview = INSPECT_PREVIEW});
    bool more = json_array_len(keys) < total;
    return OBJECT(KEY("keys", keys), KEY("total", total), KEY("size", size_json(json_size(state))),
                  KEY("more", more_json(more)));
}

/* ---- letters without their case ---- */

/* Only letters that take as many bytes as their large ones. */
static int32_t small_letter(int32_t c) {
    static const struct {
        int32_t first, last, apart;
    } blocks[] = {
        {'A', 'Z', 32},     {0xC0, 0xD6, 32},   {0xD8, 0xDE, 32},   {0x391, 0x3A1, 32},
        {0x3A3, 0x3AB, 32}, {0x400, 0x40F, 80}, {0x410, 0x42F, 32},
    };
    if (c >= 0x100 && c <= 0x17F) { /* Latin Extended-A: each small letter follows its large one */
        bool odd_first = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
        bool alone =
            c == 0x130 || c == 0x131 || c == 0x138 || c == 0x149 || c == 0x178 || c == 0x17F;
        return !alone && (c % 2 == 1) == odd_first ? c + 1 : c;
    }
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (c >= blocks[i].first && c <= blocks[i].last) return c + blocks[i].apart;
    }
    return c;
}

/* What is searched for. */
typedef struct Needle {
    const char *text; /* as given */
    size_t len;
    int32_t *letters; /* in small ones */
    size_t n;
} Needle;

static Needle needle_of(const char *text) {
    Needle needle = {text, strlen(text), NULL, 0};
    const char *end = text + needle.len;
    needle.letters = mem_alloc((needle.len + 1) * sizeof *needle.letters);
    for (const char *p = text; p < end;) {
        int32_t c;
        p += utf8_decode(p, end, &c);
        needle.letters[needle.n++] = small_letter(c);
    }
    return needle;
}

static bool matches_at(const Needle *needle, const char *p, const char *end) {
    for (size_t i = 0; i < needle->n; i++) {
        int32_t c;
        if (p >= end) return false;
        p += utf8_decode(p, end, &c);
        if (small_letter(c) != needle->letters[i]) return false;
    }
    return true;
}

/* Bytes that decide by themselves whether a match can begin there. */
static bool cannot_begin(const Needle *needle, unsigned char byte) {
    if (byte < 0x80) return (byte >= 'A' && byte <= 'Z' ? byte + 32 : byte) != needle->letters[0];
    return needle->letters[0] < 0x80 || (byte & 0xC0) == 0x80;
}

static bool contains(const Needle *needle, Json s) {
    const char *p = json_string_data(&s), *end = p + json_string_len(s);
    for (; p < end; p++) {
        if (!cannot_begin(needle, (unsigned char)*p) && matches_at(needle, p, end)) return true;
    }
    return false;
}

/* ---- search ---- */

typedef struct Search {
    Needle needle;
    Json found;
    size_t limit;
    uint64_t work; /* what may still be done */
} Search;

static bool is_literal(const Needle *needle, Json scalar) {
    Buf text = BUF_INIT;
    json_print(scalar, NULL, &text);
    bool same = text.len == needle->len && memcmp(text.data, needle->text, needle->len) == 0;
    buf_clear(&text);
    return same;
}

static bool value_matches(const Search *s, Json value) {
    switch (json_kind(value)) {
    case JSON_STRING: return contains(&s->needle, value);
    case JSON_ARRAY:
    case JSON_OBJECT: return false;
    case JSON_NUMBER:
        return strchr("-0123456789", s->needle.text[0]) && is_literal(&s->needle, value);
    default: return is_literal(&s->needle, value);
    }
}

static uint64_t work_of(Json j) {
    return json_kind(j) == JSON_STRING ? 1 + json_string_len(j) / TEXT_UNIT : 1;
}

/* Counts down; false when it is too much. */
static bool spend(uint64_t *left, uint64_t work) {
    *left -= work < *left ? work : *left;
    return *left > 0;
}

static bool look(void *ctx, const InspectWalk *walk, Json step, Json value) {
    Search *s = ctx;
    if (!spend(&s->work, work_of(value) + work_of(step))) return false;
    bool key = json_kind(step) == JSON_STRING && contains(&s->needle, step);
    if (!key && !value_matches(s, value)) return true;
    if (json_array_len(s->found) == s->limit) return false;
    s->found = json_array_push(
        s->found, OBJECT_ADD(with_path(json_object(), inspect_walk_path(walk, step)),
                             KEY("type", json_kind_name(json_kind(value))),
                             KEY("preview", preview(value)), KEY("where", key ? "key" : "value")));
    /* A path of a thousand steps takes room in the answer. */
    return spend(&s->work, PATH_WORK * inspect_walk_depth(walk) + 1);
}

Json inspect_search(Json state, const char *text, size_t limit) {
    Search s = {needle_of(text), json_array(), limited(limit, SEARCH_LIMIT, INSPECT_PAGE_MAX),
                INSPECT_WORK_MAX};
    bool ended = s.needle.n > 0 && !inspect_walk(state, look, &s);
    mem_free(s.needle.letters);
    return OBJECT(KEY("found", s.found), KEY("more", ended));
}

/* ---- the largest ----
 *
 * Candidates are values that are not listed yet, below ones that are. The largest of them is listed
 * (or, when one value in it is most of it, that one) and its children become candidates. No more
 * candidates are kept than can still be listed: the smallest go when there are twice as many. */

typedef struct Candidate {
    Json value; /* borrowed */
    Json path;  /* owned */
    uint64_t size;
} Candidate;

typedef struct Largest {
    Candidate *items;
    size_t n, limit;
    uint64_t least; /* smaller ones need not be looked at */
    uint64_t work;
} Largest;

static int by_size(const void *a, const void *b) {
    uint64_t x = ((const Candidate *)a)->size, y = ((const Candidate *)b)->size;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void add_candidate(Largest *l, const Candidate *around, Json step, Json value) {
    uint64_t size = json_size(value);
    if (size <= l->least) return;
    if (l->n == 2 * l->limit) {
        qsort(l->items, l->n, sizeof *l->items, by_size);
        while (l->n > l->limit) json_unref(l->items[--l->n].path);
        l->least = l->items[l->n - 1].size;
    }
    Json path = json_array_push(json_ref(around->path), json_ref(step));
    l->items[l->n++] = (Candidate){value, path, size};
}

static void add_children(Largest *l, const Candidate *around) {
    Json step, value;
    for (size_t pos = 0; l->work && inspect_next(around->value, &pos, &step, &value);) {
        spend(&l->work, 1);
        add_candidate(l, around, step, value);
    }
}

/* The child that is most of the value; false when there is none. Only as many children are looked
 * at as it takes to know: when a tenth is elsewhere, no other can be most of it. */
static bool main_child(Largest *l, const Candidate *c, Json *step, Json *value) {
    uint64_t most = c->size - c->size / MOSTLY, others = 0;
    size_t pos = 0;
    while (l->work && others <= c->size - most && inspect_next(c->value, &pos, step, value)) {
        spend(&l->work, 1);
        if (json_size(*value) > most) return true;
        others += json_size(*value);
    }
    return false;
}

static size_t largest_of(const Largest *l) {
    size_t best = 0;
    for (size_t i = 1; i < l->n; i++) best = l->items[i].size > l->items[best].size ? i : best;
    return best;
}

/* Moves out the largest that is not for the most part one value in it. */
static Candidate take_largest(Largest *l) {
    for (;;) {
        size_t best = largest_of(l);
        Candidate *c = &l->items[best];
        for (Json step, value; main_child(l, c, &step, &value);) {
            c->path = json_array_push(c->path, json_ref(step));
            c->value = value;
            c->size = json_size(value);
        }
        if (largest_of(l) == best || l->work == 0) {
            Candidate taken = *c;
            *c = l->items[--l->n];
            return taken;
        }
    }
}

Json inspect_largest(Json state, size_t limit, uint64_t least) {
    Largest l = {.limit = limited(limit, LARGEST_LIMIT, INSPECT_LARGEST_MAX),
                 .work = INSPECT_WORK_MAX};
    Json list = json_array();
    l.items = mem_alloc(2 * l.limit * sizeof *l.items);
    Candidate whole = {state, json_array(), json_size(state)};
    add_children(&l, &whole);
    while (l.n && l.work && json_array_len(list) < l.limit) {
        Candidate c = take_largest(&l);
        if (c.size < least) {
            json_unref(c.path);
            break;
        }
        add_children(&l, &c);
        /* A path of a thousand steps takes room in the answer. */
        spend(&l.work, PATH_WORK * json_array_len(c.path));
        list = json_array_push(list, with_kind(with_path(json_object(), c.path), c.value));
    }
    while (l.n) json_unref(l.items[--l.n].path);
    json_unref(whole.path);
    mem_free(l.items);
    return OBJECT(KEY("largest", list), KEY("more", more_json(!l.work)));
}

/* ---- differences ---- */

typedef enum DiffKind { DIFF_ADDED, DIFF_REMOVED, DIFF_CHANGED, DIFF_KINDS } DiffKind;

typedef struct Diff {
    Json lists[DIFF_KINDS];
    size_t limit, told, full;
    int64_t counts[DIFF_KINDS], keys; /* of the old value that are not as they were */
    Json key;                         /* the last of them */
    bool more;
} Diff;

/* A side of a change, under its name; the preview of one that is large. That of a string which was another one
 * before shows where they differ. */
static Json with_side(Json change, const char *name, Json value, Json other) {
    if (json_is_none(value)) return change;
    if (json_size(value) <= INSPECT_WHOLE) return json_object_with(change, name, json_ref(value));
    bool strings = json_kind(value) == JSON_STRING && json_kind(other) == JSON_STRING;
    Json shown = strings ? json_string_apart(value, other) : json_ref(value);
    const char *size_name = !strcmp(name, "old") ? "old_size" : "new_size";
    change = OBJECT_ADD(change, KEY(name, preview(shown)),
                        KEY(size_name, size_json(json_size(value))), KEY("cut", json_bool(true)));
    json_unref(shown);
    return change;
}

static bool note_change(void *ctx, Json path, Json old_value, Json new_value) {
    Diff *d = ctx;
    DiffKind kind = json_is_none(old_value)   ? DIFF_ADDED
                    : json_is_none(new_value) ? DIFF_REMOVED
                                              : DIFF_CHANGED;
    Json *list = &d->lists[kind], key = json_array_get(path, 0);
    d->counts[kind]++;
    if (kind != DIFF_ADDED || json_array_len(path) > 1) { /* a key that was there */
        bool again = !json_is_none(d->key) && json_equal(d->key, key);
        d->keys += !again;
        json_put(&d->key, json_ref(key));
    }
    if (++d->told > CHANGES_TOLD_MAX || json_array_len(*list) == d->limit) {
        d->more = true;
        return d->told <= CHANGES_TOLD_MAX && d->full < DIFF_KINDS;
    }
    Json change = json_object_with(json_object(), "path", json_ref(path));
    change = with_side(change, "old", old_value, new_value);
    change = with_side(change, "new", new_value, old_value);
    *list = json_array_push(*list, change);
    d->full += json_array_len(*list) == d->limit;
    return true;
}

Json inspect_diff(Json from, Json to, size_t limit) {
    Diff d = {.lists = {json_array(), json_array(), json_array()},
              .limit = limited(limit, DIFF_LIMIT, INSPECT_PAGE_MAX)};
    if (json_size(from) <= DIFF_SIZE_MAX && json_size(to) <= DIFF_SIZE_MAX) {
        json_changes(from, to, note_change, &d);
    } else if (!json_identical(from, to)) {
        Json whole = json_array();
        note_change(&d, whole, from, to);
        json_unref(whole);
        d.more = true;
    }
    int64_t had = json_kind(from) == JSON_OBJECT ? (int64_t)json_object_len(from) : 0;
    Json counts = OBJECT(KEY("added", d.counts[DIFF_ADDED]), KEY("removed", d.counts[DIFF_REMOVED]),
                         KEY("changed", d.counts[DIFF_CHANGED]),
                         KEY("unchanged", had > d.keys ? had - d.keys : 0));
    json_unref(d.key);
    return OBJECT(KEY("added", d.lists[DIFF_ADDED]), KEY("removed", d.lists[DIFF_REMOVED]),
                  KEY("changed", d.lists[DIFF_CHANGED]), KEY("counts", counts),
                  KEY("more", more_json(d.more)));
}

/* ---- evaluating ---- */

enum { EVAL_SLICE = 10000 };

/* Where in the expression it is, in the sentence too. */
static void place_error(Error *err) {
    if (err && err->line > 1) {
        error_wrap(err, "At line %d, column %d of the expression", err->line, err->col);
    } else if (err && err->line == 1) {
        error_wrap(err, "At column %d of the expression", err->col);
    }
}

typedef struct Results {
    Json list, omitted;
    uint64_t bytes;
    size_t limit;
    bool more;
} Results;

/* Consumes value; false when it is one too many. */
static bool add_result(Results *r, Json value) {
    r->bytes += json_size(value);
    r->more = json_array_len(r->list) == r->limit || r->bytes > INSPECT_ANSWER_MAX;
    if (!r->more) {
        r->list = json_array_push(r->list, value);
        return true;
    }
    if (json_array_len(r->list) < r->limit) {
        r->omitted = OBJECT_ADD(with_kind(json_object(), value), KEY("preview", preview(value)));
    }
    json_unref(value);
    return false;
}

struct InspectRun {
    JqProgram *program;
    JqRun *run;
    JqStatus status; /* JQ_PAUSED: it has not ended */
    uint64_t worked; /* nanoseconds */
    Results results;
};

InspectRun *inspect_eval_begin(const InspectEval *eval, Error *err) {
    JqHost host = {.budget = {.steps = eval->steps ? eval->steps : INSPECT_EVAL_STEPS,
                              .memory = eval->memory ? eval->memory : INSPECT_EVAL_MEMORY,
                              .slice = EVAL_SLICE}};
    JqOptions options = {
        .vars = eval->vars, .nvars = eval->nvars, .file = "expression", .exact = eval->exact};
    if (eval->len > FLOW_EXPR_MAX) {
        error_set(err, ERR_LIMIT, "The expression is longer than %d KB; that is the limit.",
                  FLOW_EXPR_MAX >> 10);
        return NULL;
    }
    JqProgram *program = jq_compile(eval->expression, eval->len, &options, err);
    if (!program) {
        if (err) secrets_explain(err);
        place_error(err);
        return NULL;
    }
    InspectRun *r = mem_alloc(sizeof *r);
    *r = (InspectRun){.program = program,
                      .run = jq_run_new(program, &host),
                      .status = JQ_PAUSED,
                      .results = {.list = json_array(),
                                  .omitted = json_none(),
                                  .limit = limited(eval->limit, EVAL_LIMIT, INSPECT_PAGE_MAX)}};
    jq_run_start(r->run, json_ref(eval->state), eval->values);
    return r;
}

bool inspect_eval_go_on(InspectRun *r, uint64_t until) {
    uint64_t limit = (uint64_t)INSPECT_EVAL_MS * 1000000, now = uv_hrtime();
    while (r->status == JQ_PAUSED && r->worked < limit && now < until) {
        Json value;
        do {
            r->status = jq_run_next(r->run, &value);
        } while (r->status == JQ_OUTPUT && add_result(&r->results, value));
        uint64_t then = now;
        now = uv_hrtime();
        r->worked += now - then;
    }
    return r->status != JQ_PAUSED || r->worked >= limit;
}

Json inspect_eval_end(InspectRun *r, Error *err) {
    Json out = json_none();
    if (!r || r->status == JQ_PAUSED) {
        error_set(err, ERR_LIMIT, "The expression took longer than %d s, which is the limit.",
                  INSPECT_EVAL_MS / 1000);
    } else if (r->status == JQ_FAILED && err) {
        *err = *jq_run_error(r->run);
        place_error(err);
    } else if (r->status != JQ_FAILED) {
        out = OBJECT(KEY("results", json_take(&r->results.list)), KEY("more", r->results.more),
                     KEY("omitted", json_take(&r->results.omitted)));
    }
    if (!r) return out;
    jq_run_free(r->run);
    jq_program_free(r->program);
    json_unref(r->results.list);
    json_unref(r->results.omitted);
    mem_free(r);
    return out;
}

Json inspect_eval(const InspectEval *eval, Error *err) {
    InspectRun *r = inspect_eval_begin(eval, err);
    if (!r) return json_none();
    inspect_eval_go_on(r, UINT64_MAX);
    return inspect_eval_end(r, err);
}

Json inspect_complete(const char *text, size_t len, size_t cursor, const char *const *vars,
                      size_t nvars, Json state) {
    JqOptions options = {.vars = vars, .nvars = nvars};
    return OBJECT(KEY("items", jq_complete(text, len, cursor, &options, state)));
}
