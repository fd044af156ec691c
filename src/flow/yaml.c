#include "yaml.h"

#include "ascii.h"
#include "bisect.h"
#include "flow.h"
#include "mem.h"
#include "problems.h"
#include "utf8.h"
#include "yaml_mend.h"

#include <libfyaml.h>
#include <string.h>

/* The tree is made from the parser's events with a stack of our own: the parser's documents would
 * expand nothing, but recurse, print and check in ways that cannot be bounded from outside. */

enum {
    MAP_SMALL = 8,                /* up to here keys are compared one by one */
    EMPTY_LINES_WORK = 200000000, /* below a second: 20,000 in a row, or many shorter runs */
    TAG_ESCAPES_MAX = 2000,
};

/* A list or map that is not finished. */
typedef struct Open {
    YamlNode *node;
    const YamlNode **parts; /* items; or keys and values in turn */
    size_t n, cap;
    Json seen; /* keys of a larger map */
} Open;

typedef struct Reading {
    Arena *arena;
    const YamlFile *file;
    YamlLimits limits;
    Reporter *reporter;
    const YamlMend *mend; /* NULL: the text is the file's */
    struct fy_parser *parser;
    struct fy_diag *diag;
    Open *stack;
    size_t depth, stack_cap;
    Json anchors; /* place in anchored of the last one of each name */
    const YamlNode **anchored;
    size_t nanchored, anchored_cap;
    const YamlNode *root;
    int documents;
    size_t last; /* where the last event with a place was */
    bool failed;
    bool no_yaml; /* failed, and not reported: there may be a way to mend it */
} Reading;

/* ---- files ---- */

YamlFile *yaml_file(Arena *arena, const char *path, const char *text, size_t len) {
    bool marked = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
    YamlFile *file = arena_alloc(arena, sizeof *file);
    file->path = path;
    file->text = marked ? text + 3 : text;
    file->len = marked ? len - 3 : len;
    file->nlines = 1;
    for (size_t i = 0; i < file->len; i++) file->nlines += file->text[i] == '\n';
    size_t *lines = arena_alloc(arena, file->nlines * sizeof *lines);
    for (size_t i = 0, n = 1; i < file->len; i++) {
        if (file->text[i] == '\n') lines[n++] = i + 1;
    }
    file->lines = lines;
    size_t nchunks = file->len / YAML_CHUNK + 1;
    uint32_t *chars = arena_alloc(arena, nchunks * sizeof *chars);
    for (size_t i = 1; i < nchunks; i++) {
        const char *chunk = file->text + (i - 1) * YAML_CHUNK;
        chars[i] = chars[i - 1] + (uint32_t)utf8_length(chunk, YAML_CHUNK);
    }
    file->chars = chars;
    return file;
}

static size_t chars_before(const YamlFile *file, size_t at) {
    size_t chunk = at / YAML_CHUNK, start = chunk * YAML_CHUNK;
    return file->chars[chunk] + utf8_length(file->text + start, at - start);
}

/* Bytes of a line, its break included. */
static size_t line_len(const YamlFile *file, size_t i) {
    return (i + 1 < file->nlines ? file->lines[i + 1] : file->len) - file->lines[i];
}

/* The last line that starts at or before `at`. */
static size_t line_index(const YamlFile *file, size_t at) {
    BISECT(after, file->nlines, i, file->lines[i] <= at);
    return after - 1;
}

void yaml_line_col(const YamlFile *file, size_t at, int *line, int *col) {
    if (at > file->len) at = file->len;
    size_t i = line_index(file, at), start = file->lines[i];
    *line = (int)i + 1;
    *col = (int)(chars_before(file, at) - chars_before(file, start)) + 1;
}

/* The way back; clipped to the line. */
static size_t offset_of(const YamlFile *file, int line, int col) {
    if (line < 1 || (size_t)line > file->nlines) return file->len;
    size_t start = file->lines[line - 1];
    size_t end = (size_t)line < file->nlines ? file->lines[line] - 1 : file->len;
    return start + utf8_offset(file->text + start, end - start, col > 1 ? (size_t)col - 1 : 0);
}

/* ---- what is wrong ---- */

/* Reports what is wrong at bytes at..end, and ends the reading. Returns false. */
__attribute__((format(printf, 4, 5))) static bool fail(Reading *r, size_t at, size_t end,
                                                       const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vreport_at(r->reporter, (Spot){r->file, at, end}, fmt, args);
    va_end(args);
    r->failed = true;
    return false;
}

static void report_syntax(Reading *r) {
    void *iterator = NULL;
    const struct fy_diag_error *e = fy_diag_errors_iterate(r->diag, &iterator);
    YamlFile given = *r->file; /* the parser's columns are those of the text that it was given */
    given.text = r->mend ? r->mend->text : r->file->text;
    size_t at = e ? offset_of(&given, e->line, e->column) : r->last;
    size_t indent = r->file->lines[line_index(r->file, at)];
    while (indent < r->file->len && r->file->text[indent] == ' ') indent++;
    if (indent < r->file->len && r->file->text[indent] == '\t') {
        fail(r, indent, indent + 1, "A tab stands where YAML indents; indent with spaces only.");
    } else {
        fail(r, at, at + 1, "This is not YAML: %s.",
             e && e->msg ? e->msg : "it cannot be read any further");
    }
}

/* The parser takes bytes that are no characters for the end of the file. */
static bool check_characters(Reading *r) {
    const YamlFile *f = r->file;
    size_t valid = utf8_valid_prefix(f->text, f->len);
    if (valid < f->len) {
        return fail(r, valid, valid + 1, "This is not UTF-8 text; save the file as UTF-8.");
    }
    for (size_t i = 0; i < f->len; i++) {
        unsigned char c = (unsigned char)f->text[i];
        if ((c < 0x20 && !ascii_is_white(f->text[i])) || c == 0x7F) {
            return fail(r, i, i + 1,
                        "The control character U+%04X cannot stand in YAML; remove it, or write it "
                        "as an escape in double quotes.",
                        c);
        }
    }
    return true;
}

static bool is_empty(const char *s, size_t len) {
    size_t i = 0;
    while (i < len && ascii_is_white(s[i])) i++;
    return i == len;
}

/* The parser keeps all of a line in mind while it could be a key, hundreds of bytes for each, and goes
 * over a run of empty lines again for each of them. */
static bool check_lines(Reading *r) {
    const YamlFile *f = r->file;
    uint64_t work = 0;
    for (size_t i = 0, run = 0; i < f->nlines; i++) {
        size_t start = f->lines[i], len = line_len(f, i);
        if (len > FLOW_LINE_MAX) {
            return fail(r, start, start, "This line is longer than 1 MB; break it up.");
        }
        run = is_empty(f->text + start, len) ? run + len : 0;
        work += run;
        if (work > EMPTY_LINES_WORK) {
            return fail(r, start, start,
                        "There are too many empty lines before this; remove some.");
        }
    }
    return true;
}

/* Escapes in a tag take the parser long, too. Text in quotes may look like a tag, but not like this one. */
static bool check_tags(Reading *r) {
    const YamlFile *f = r->file;
    const char *end = f->text + f->len, *bang = f->text;
    while (bang < end && (bang = memchr(bang, '!', (size_t)(end - bang)))) {
        const char *p = bang;
        size_t escapes = 0, at = (size_t)(bang - f->text);
        for (; p < end && !ascii_is_white(*p); p++) escapes += *p == '%';
        if (escapes > TAG_ESCAPES_MAX) return fail(r, at, at, "This tag is too long.");
        bang = p;
    }
    return true;
}

/* Lines with a percent sign before the document. Only tags need them, but for %YAML. */
static bool check_directives(Reading *r) {
    const YamlFile *f = r->file;
    for (size_t i = 0; i < f->nlines; i++) {
        const char *line = f->text + f->lines[i];
        size_t len = line_len(f, i);
        if (len > 0 && *line == '%' && (len < 5 || memcmp(line, "%YAML", 5) != 0)) {
            return fail(r, f->lines[i], f->lines[i] + 1,
                        "No directive but %%YAML can be used here.");
        }
        if (!is_empty(line, len) && *line != '#' && *line != '%') break;
    }
    return true;
}

/* ---- building ---- */

static Spot event_spot(Reading *r, struct fy_event *e) {
    const struct fy_mark *start = fy_event_start_mark(e), *end = fy_event_end_mark(e);
    Spot spot = {r->file, start ? start->input_pos : r->last, 0};
    spot.end = end && end->input_pos > spot.at ? end->input_pos : spot.at;
    if (spot.at > r->file->len) spot.at = r->file->len;
    if (spot.end > r->file->len) spot.end = r->file->len;
    r->last = spot.end;
    return spot;
}

static bool is_key_next(const Open *open) {
    return open && open->node->kind == YAML_MAP && open->n % 2 == 0;
}

static Open *top(Reading *r) {
    return r->depth ? &r->stack[r->depth - 1] : NULL;
}

static bool count(Reading *r, Spot spot, size_t weight) {
    if (weight > *r->limits.nodes_left) {
        return fail(r, spot.at, spot.end,
                    "The workflow has more than %d values (aliases followed); that is the limit.",
                    FLOW_NODES_MAX);
    }
    *r->limits.nodes_left -= weight;
    return true;
}

/* The earlier key of the same text; NULL when there is none. */
static const YamlNode *find_key(Open *open, const YamlNode *key) {
    if (open->n / 2 < MAP_SMALL) {
        for (size_t i = 0; i < open->n; i += 2) {
            const YamlNode *part = open->parts[i];
            if (part->len == key->len && memcmp(part->text, key->text, key->len) == 0) return part;
        }
        return NULL;
    }
    if (json_is_none(open->seen)) {
        open->seen = json_object();
        for (size_t i = 0; i < open->n; i += 2) {
            open->seen = json_object_set(
                open->seen, json_string_valid(open->parts[i]->text, open->parts[i]->len),
                json_int((int64_t)i));
        }
    }
    Json name = json_string_valid(key->text, key->len);
    Json found = json_object_get(open->seen, name);
    if (json_is_none(found)) {
        open->seen = json_object_set(open->seen, name, json_int((int64_t)open->n));
        return NULL;
    }
    json_unref(name);
    return open->parts[found.i];
}

static bool is_merge(const YamlNode *key) {
    return !key->is_text && yaml_is(key, "<<");
}

static void check_key(Reading *r, Open *open, const YamlNode *key) {
    Spot spot = key->spot;
    if (key->kind != YAML_SCALAR) {
        fail(r, spot.at, spot.end, "A key must be a word or a text, not a list or a map.");
        return;
    }
    if (is_merge(key)) {
        if (!r->limits.merge) {
            fail(r, spot.at, spot.end, YAML_NO_MERGE);
            return;
        }
        if (!r->limits.merge->file) *r->limits.merge = spot;
    }
    const YamlNode *earlier = find_key(open, key);
    if (earlier && !r->limits.repeats) {
        int line, col;
        yaml_line_col(r->file, earlier->spot.at, &line, &col);
        report_at(r->reporter, spot, "`%s` is here a second time; the first is in line %d.",
                  shown(key->text, key->len), line);
    }
}

static void add_part(Reading *r, const YamlNode *node) {
    Open *open = top(r);
    if (!open) {
        r->root = node;
        return;
    }
    if (is_key_next(open)) {
        check_key(r, open, node);
        if (r->failed) return;
    } else {
        open->node->weight += node->weight;
    }
    if (node->height + 1 > open->node->height) open->node->height = node->height + 1;
    open->parts = mem_grow(open->parts, open->n, &open->cap, sizeof *open->parts);
    open->parts[open->n++] = node;
}

static void set_anchor(Reading *r, struct fy_event *e, const YamlNode *node) {
    struct fy_token *token = fy_event_get_anchor_token(e);
    size_t len = 0;
    const char *name = token ? fy_token_get_text(token, &len) : NULL;
    if (!name) return;
    r->anchored = mem_grow(r->anchored, r->nanchored, &r->anchored_cap, sizeof *r->anchored);
    r->anchors =
        json_object_set(r->anchors, json_string(name, len), json_int((int64_t)r->nanchored));
    r->anchored[r->nanchored++] = node;
}

static void check_tag(Reading *r, struct fy_event *e, YamlNode *node) {
    static const char str_tag[] = "tag:yaml.org,2002:str";
    struct fy_token *token = fy_event_get_tag_token(e);
    size_t len = 0;
    const char *tag = token ? fy_token_get_text(token, &len) : NULL;
    if (!token) return;
    if (tag && len == sizeof str_tag - 1 && memcmp(tag, str_tag, len) == 0 &&
        node->kind == YAML_SCALAR) {
        node->is_text = true;
        return;
    }
    fail(r, node->spot.at, node->spot.end, "The only tag that can be used here is !!str.");
}

static YamlNode *new_node(Reading *r, YamlKind kind, Spot spot) {
    YamlNode *node = arena_alloc(r->arena, sizeof *node);
    node->kind = kind;
    node->spot = spot;
    node->weight = 1;
    return node;
}

static const YamlStyle styles[] = {
    [FYSS_PLAIN] = YAML_PLAIN,
    [FYSS_SINGLE_QUOTED] = YAML_SINGLE_QUOTED,
    [FYSS_DOUBLE_QUOTED] = YAML_DOUBLE_QUOTED,
    [FYSS_LITERAL] = YAML_LITERAL,
    [FYSS_FOLDED] = YAML_FOLDED,
};

static size_t break_length(const char *s, const char *end) {
    return s >= end ? 0 : *s == '\n' ? 1 : *s != '\r' ? 0 : s + 1 < end && s[1] == '\n' ? 2 : 1;
}

/* A line break and the white space around it is a space; with empty lines, as many breaks as there
 * are of those. Returns where the text goes on. */
static const char *fold_lines(const char *p, const char *end, Buf *out) {
    size_t breaks = 0, len;
    while (out->len > 0 && ascii_is_blank(out->data[out->len - 1])) out->len--;
    for (; p < end && ascii_is_white(*p); p += len ? len : 1) {
        len = break_length(p, end);
        breaks += len > 0;
    }
    buf_addc(out, breaks > 1 ? '\n' : ' ');
    for (; breaks > 2; breaks--) buf_addc(out, '\n');
    return p;
}

/* The text of a scalar. The parser loses memory over several pairs of single quotes in a row (libfyaml
 * 0.7.12), so a text in single quotes is read here. */
static void set_text(Reading *r, struct fy_token *token, YamlNode *node) {
    enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
    node->style = style > FYSS_ANY && style < FYSS_MAX ? styles[style] : YAML_PLAIN;
    node->is_text = node->style != YAML_PLAIN;
    Buf read = BUF_INIT;
    const char *text = "";
    size_t len = 0;
    if (node->style == YAML_SINGLE_QUOTED) {
        const char *p = r->file->text + node->spot.at, *end = r->file->text + node->spot.end;
        while (p < end) {
            if (break_length(p, end)) {
                p = fold_lines(p, end, &read);
                continue;
            }
            buf_addc(&read, *p);
            p += *p == '\'' && p + 1 < end && p[1] == '\'' ? 2 : 1;
        }
    } else {
        const char *parsed = token ? fy_token_get_text(token, &len) : NULL;
        text = parsed ? parsed : "";
        len = parsed ? len : 0;
        if (r->mend) yaml_unmend(r->mend, text, len, &read);
    }
    if (node->style == YAML_SINGLE_QUOTED || r->mend) {
        text = read.data ? read.data : "";
        len = read.len;
    }
    if (utf8_valid_prefix(text, len) < len) {
        fail(r, node->spot.at, node->spot.end, "An escape in this text stands for no character.");
        len = 0;
    }
    node->text = arena_strndup(r->arena, text, len);
    node->len = len;
    node->weight += len / WEIGHT_BYTES;
    buf_clear(&read);
}

static void on_scalar(Reading *r, struct fy_event *e) {
    YamlNode *node = new_node(r, YAML_SCALAR, event_spot(r, e));
    bool key = is_key_next(top(r));
    set_text(r, e->scalar.value, node);
    check_tag(r, e, node);
    if (!r->failed && (key || count(r, node->spot, 1))) {
        set_anchor(r, e, node);
        add_part(r, node);
    }
}

static void on_start(Reading *r, struct fy_event *e, YamlKind kind) {
    YamlNode *node = new_node(r, kind, event_spot(r, e));
    check_tag(r, e, node);
    if (r->failed || !count(r, node->spot, 1)) return;
    if (r->depth >= (size_t)r->limits.depth) {
        fail(r, node->spot.at, node->spot.end, "This is nested more than %d levels deep.",
             r->limits.depth);
        return;
    }
    set_anchor(r, e, node);
    r->stack = mem_grow(r->stack, r->depth, &r->stack_cap, sizeof *r->stack);
    r->stack[r->depth++] = (Open){.node = node};
}

static void close_open(Open *open) {
    mem_free(open->parts);
    json_clear(&open->seen);
}

/* ---- merge keys and keys that are there twice ---- */

typedef struct Pairs {
    YamlPair *items;
    size_t n;
    Json seen; /* place of each key */
} Pairs;

/* over: it counts more than one that is there already. */
static void put_pair(Pairs *pairs, YamlPair pair, bool over) {
    Json name = json_string_valid(pair.key->text, pair.key->len);
    Json place = json_object_get(pairs->seen, name);
    if (json_is_none(place)) {
        pairs->seen = json_object_set(pairs->seen, name, json_int((int64_t)pairs->n));
        pairs->items[pairs->n++] = pair;
        return;
    }
    if (over) pairs->items[place.i] = pair;
    json_unref(name);
}

/* The map of a merge key, or number i of its list; NULL: it is none, which was reported. */
static const YamlNode *merged_map(Reading *r, const YamlNode *value, size_t i) {
    const YamlNode *map = value->kind == YAML_LIST ? value->items[i] : value;
    if (map->kind == YAML_MAP) return map;
    report_at(r->reporter, map->spot, "`<<` must be a map, or a list of maps.");
    return NULL;
}

static size_t merged_count(const YamlNode *value) {
    return value->kind == YAML_LIST ? value->n : 1;
}

/* What the map says itself counts more than what it merges, and of that the first. */
static void merge_pairs(Reading *r, const Open *open, YamlNode *node) {
    size_t n = open->n / 2, most = n;
    for (size_t i = 0; i < open->n; i += 2) {
        const YamlNode *value = open->parts[i + 1];
        for (size_t k = 0; is_merge(open->parts[i]) && k < merged_count(value); k++) {
            const YamlNode *map = value->kind == YAML_LIST ? value->items[k] : value;
            most += map->kind == YAML_MAP ? map->n : 0;
        }
    }
    Pairs pairs = {arena_alloc(r->arena, (most + 1) * sizeof(YamlPair)), 0, json_object()};
    for (size_t i = 0; i < open->n; i += 2) {
        if (!is_merge(open->parts[i])) {
            put_pair(&pairs, (YamlPair){open->parts[i], open->parts[i + 1]}, true);
        }
    }
    for (size_t i = 0; i < open->n; i += 2) {
        const YamlNode *value = open->parts[i + 1], *map;
        for (size_t k = 0; is_merge(open->parts[i]) && k < merged_count(value); k++) {
            map = merged_map(r, value, k);
            for (size_t j = 0; map && j < map->n; j++) put_pair(&pairs, map->pairs[j], false);
        }
    }
    json_unref(pairs.seen);
    node->pairs = pairs.items;
    node->n = pairs.n;
}

static bool is_plain_map(const Open *open) {
    for (size_t i = 0; i < open->n; i += 2) {
        if (is_merge(open->parts[i])) return false;
    }
    return true;
}

static void on_end(Reading *r, struct fy_event *e) {
    Open open = r->stack[--r->depth];
    YamlNode *node = open.node;
    node->spot.end = event_spot(r, e).end;
    if (node->kind == YAML_MAP && (r->limits.repeats || !is_plain_map(&open))) {
        merge_pairs(r, &open, node);
    } else if (node->kind == YAML_MAP) {
        node->n = open.n / 2;
        YamlPair *pairs = arena_alloc(r->arena, (node->n ? node->n : 1) * sizeof *pairs);
        for (size_t i = 0; i < node->n; i++) {
            pairs[i] = (YamlPair){open.parts[2 * i], open.parts[2 * i + 1]};
        }
        node->pairs = pairs;
    } else {
        node->n = open.n;
        const YamlNode **items = arena_alloc(r->arena, (node->n ? node->n : 1) * sizeof *items);
        for (size_t i = 0; i < node->n; i++) items[i] = open.parts[i];
        node->items = items;
    }
    close_open(&open);
    add_part(r, node);
}

static void on_alias(Reading *r, struct fy_event *e) {
    Spot spot = event_spot(r, e);
    spot.at -= spot.at > 0; /* the asterisk */
    size_t len = 0;
    const char *name = fy_token_get_text(e->alias.anchor, &len);
    Json key = json_string(name ? name : "", name ? len : 0);
    Json place = json_object_get(r->anchors, key);
    const YamlNode *node = json_is_none(place) ? NULL : r->anchored[place.i];
    json_unref(key);
    size_t open = 0;
    while (node && open < r->depth && r->stack[open].node != node) open++;
    if (!node) {
        fail(r, spot.at, spot.end, "There is no anchor `&%s` before this.",
             shown(name ? name : "", len));
    } else if (open < r->depth) {
        fail(r, spot.at, spot.end, "This alias is inside of what it stands for.");
    } else if (r->depth + (size_t)node->height > (size_t)r->limits.depth) {
        fail(r, spot.at, spot.end, "With this alias the file is nested too deeply.");
    } else if (count(r, spot, node->weight)) {
        add_part(r, node);
    }
}

static void on_event(Reading *r, struct fy_event *e) {
    switch (e->type) {
    case FYET_DOCUMENT_START:
        if (++r->documents > 1) {
            Spot spot = event_spot(r, e);
            fail(r, spot.at, spot.end,
                 "A second document starts here; a workflow file holds one document.");
        }
        break;
    case FYET_SCALAR: on_scalar(r, e); break;
    case FYET_ALIAS: on_alias(r, e); break;
    case FYET_SEQUENCE_START: on_start(r, e, YAML_LIST); break;
    case FYET_MAPPING_START: on_start(r, e, YAML_MAP); break;
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END: on_end(r, e); break;
    default: break;
    }
}

/* ---- the parser ---- */

static void swallow(struct fy_diag *diag, void *user, const char *buf, size_t len) {
    (void)diag, (void)user, (void)buf, (void)len;
}

static void close_reading(Reading *r) {
    while (r->depth > 0) close_open(&r->stack[--r->depth]);
    mem_free(r->stack);
    json_unref(r->anchors);
    mem_free(r->anchored);
    fy_parser_destroy(r->parser);
    fy_diag_destroy(r->diag);
}

static void read_file(Reading *r) {
    struct fy_diag_cfg diag;
    fy_diag_cfg_default(&diag);
    diag.fp = NULL;
    diag.output_fn = swallow;
    diag.colorize = false;
    r->diag = fy_diag_create(&diag);
    fy_diag_set_collect_errors(r->diag, true);
    struct fy_parse_cfg config = {
        .flags = FYPCF_JSON_NONE | FYPCF_DEFAULT_VERSION_1_2 | FYPCF_DISABLE_DEPTH_LIMIT,
        .diag = r->diag,
    };
    r->parser = fy_parser_create(&config);
    const char *text = r->mend ? r->mend->text : r->file->text;
    if (!r->parser || fy_parser_set_string(r->parser, text, r->file->len) != 0) {
        fail(r, 0, 0, "The YAML parser does not start.");
        return;
    }
    r->anchors = json_object();
    bool ended = false;
    struct fy_event *e;
    while (!ended && !r->failed && (e = fy_parser_parse(r->parser))) {
        ended = e->type == FYET_STREAM_END;
        on_event(r, e);
        fy_parser_event_free(r->parser, e);
    }
    if (!r->failed && (!ended || fy_parser_get_stream_error(r->parser))) {
        r->failed = r->no_yaml = true;
    } else if (!r->failed && !r->root) {
        fail(r, 0, 0, "The file is empty.");
    }
}

const YamlNode *yaml_parse(Arena *arena, const YamlFile *file, YamlLimits limits,
                           Reporter *reporter) {
    Reading r = {.arena = arena, .file = file, .limits = limits, .reporter = reporter};
    if (!check_characters(&r) || !check_lines(&r) || !check_tags(&r) || !check_directives(&r)) {
        return NULL; /* the parser cannot be given this */
    }
    size_t nodes_left = *limits.nodes_left;
    read_file(&r);
    YamlMend mend;
    if (r.no_yaml && yaml_mend(arena, file, &mend)) {
        /* Once more, as its authors may have meant it. What was reported before is reported again,
         * which makes no difference. */
        close_reading(&r);
        *limits.nodes_left = nodes_left;
        r = (Reading){arena, file, limits, reporter, .mend = &mend};
        read_file(&r);
    }
    if (r.no_yaml) report_syntax(&r);
    close_reading(&r);
    return r.failed ? NULL : r.root;
}
