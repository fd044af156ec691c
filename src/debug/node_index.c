/* node_index.c - the nodes of a flow by name, by kind and by line.
 *
 * Names and kinds are chains in tables, and `sorted` has the nodes in the order of their files,
 * each with the one around it, so that a line is found by bisection. A glob looks at all.
 *
 * Paths ("sub/name") are followed from the outside in, part by part: a set of graphs, and from each
 * the graphs that its nodes of the next name hold. A graph is in a set once, however many nodes
 * hold it, so the work is bounded by the size of the flow times the parts.
 */
#include "node_index.h"

#include "bisect.h"
#include "mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NOTHING = -1 };

/* ---- all nodes ---- */

const Node *nodes_next(const Flow *flow, NodeCursor *at) {
    at->node = at->node ? node_body(at->node) : NULL;
    while (!at->node && at->graph < flow->ngraphs) {
        const Graph *graph = flow->graphs[at->graph];
        if (at->index < graph->nnodes) {
            at->node = &graph->nodes[at->index++];
        } else {
            at->graph++;
            at->index = 0;
        }
    }
    return at->node;
}

bool node_holds(const Node *node, const Graph *graph) {
    size_t i = 0;
    while (i <= node->kind->nparams && node_held(node, i) != graph) i++;
    return i <= node->kind->nparams;
}

/* ---- globs ---- */

/* A set [a-z] that begins at p, after the bracket. Its end, after its bracket; NULL: it has none,
 * and the bracket stands for itself. */
static const char *match_set(const char *p, const char *end, unsigned char c, bool *in) {
    bool negated = p < end && (*p == '!' || *p == '^'), found = false;
    p += negated;
    for (const char *first = p; p < end && (*p != ']' || p == first); p++) {
        unsigned char low = (unsigned char)*p, high = low;
        if (end - p > 2 && p[1] == '-' && p[2] != ']') {
            high = (unsigned char)p[2];
            p += 2;
        }
        found = found || (c >= low && c <= high);
    }
    *in = found != negated;
    return p < end ? p + 1 : NULL;
}

static const char *next_char(const char *s) {
    for (s++; ((unsigned char)*s & 0xC0) == 0x80; s++) {}
    return s;
}

/* Only the last star needs another try: what an earlier one could take is in the later one's
 * reach. */
static bool glob_matches(const char *p, const char *end, const char *s) {
    const char *star = NULL, *retry = NULL;
    while (*s) {
        bool set = p < end && *p == '[', in = false;
        const char *after = set ? match_set(p + 1, end, (unsigned char)*s, &in) : NULL;
        if (!after) { /* not a set */
            in = p < end && *p != '*' && (*p == '?' || *p == *s);
            after = p + 1;
        }
        if (p < end && *p == '*') {
            star = ++p;
            retry = s;
        } else if (in) {
            s = *p == '?' ? next_char(s) : s + 1;
            p = after;
        } else if (star) {
            p = star;
            s = retry = next_char(retry);
        } else {
            return false;
        }
    }
    while (p < end && *p == '*') p++;
    return p == end;
}

/* One part of a path. */
typedef struct Part {
    const char *s;
    size_t len;
    bool glob;
} Part;

static Part part_of(const char *s, size_t len) {
    Part part = {s, len, false};
    for (size_t i = 0; i < len; i++) {
        part.glob = part.glob || s[i] == '*' || s[i] == '?' || s[i] == '[';
    }
    return part;
}

static bool part_matches(const Part *part, const char *name) {
    return (strncmp(name, part->s, part->len) == 0 && name[part->len] == '\0') ||
           (part->glob && glob_matches(part->s, part->s + part->len, name));
}

/* ---- names ---- */

/* Things with names, by number, as chains in a table. */
typedef struct Names {
    int32_t *heads; /* `mask` + 1 of them */
    int32_t *next;  /* of each thing */
    uint32_t mask;
    size_t n;
} Names;

static uint32_t hash_name(const char *s, size_t len) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h ^ h >> 15;
}

static void names_init(Names *names, size_t n) {
    size_t size = 8;
    while (size < 2 * n) size *= 2;
    names->mask = (uint32_t)size - 1;
    names->n = n;
    names->heads = mem_alloc(size * sizeof *names->heads);
    names->next = mem_alloc((n ? n : 1) * sizeof *names->next);
    memset(names->heads, 0xFF, size * sizeof *names->heads);
}

static void names_add(Names *names, const char *name, int32_t thing) {
    int32_t *head = &names->heads[hash_name(name, strlen(name)) & names->mask];
    names->next[thing] = *head;
    *head = thing;
}

/* The next thing that may have the name of a part, NOTHING being before the first and past the last: of a
 * glob that is any. */
static int32_t names_next(const Names *names, const Part *part, int32_t i) {
    if (part->glob) return (size_t)(i + 1) < names->n ? i + 1 : NOTHING;
    return i == NOTHING ? names->heads[hash_name(part->s, part->len) & names->mask]
                        : names->next[i];
}

static void names_clear(Names *names) {
    mem_free(names->heads);
    mem_free(names->next);
}

/* ---- the index of a flow ---- */

/* A node, and the piece of a file that it fills. */
typedef struct Extent {
    const Node *node;
    int file;   /* its place among the files of the flow */
    int around; /* index of the one around it in the file; NOTHING */
} Extent;

struct NodeIndex {
    const Flow *flow;
    size_t n;
    const Node **nodes;   /* by number, from flow->first_node on */
    uint32_t *node_marks; /* by the same: the mark of the set that it is in */
    uint32_t *graph_marks;
    uint32_t mark;
    Names names, graphs, titles;
    int32_t open, *next_open; /* chain of the tasks with placeholders in their titles */
    int32_t of_kind[KIND_COUNT], *same_kind; /* chains */
    Extent *sorted;                          /* by file and place */
};

/* Files are in the order in which their first graphs are. */
static int file_rank(const Flow *flow, const char *file) {
    size_t i = 0;
    while (i < flow->ngraphs && strcmp(flow->graphs[i]->file, file) != 0) i++;
    return (int)i;
}

/* Chains are made from the end, so that they are in order. */
static void add_nodes(NodeIndex *x) {
    const Flow *flow = x->flow;
    const char *last = NULL;
    int file = 0;
    size_t n = 0;
    NodeCursor at = {0};
    for (const Node *node; (node = nodes_next(flow, &at)); n++) {
        const char *path = flow->graphs[at.graph]->file;
        file = last == path ? file : file_rank(flow, path);
        last = path;
        uint32_t i = node->id - flow->first_node;
        x->nodes[i] = node;
        x->sorted[i] = (Extent){node, file, NOTHING};
    }
    assert(n == x->n); /* every number is that of a node */
    for (size_t g = flow->ngraphs; g-- > 0;) {
        names_add(&x->graphs, flow->graphs[g]->name, (int32_t)g);
    }
    memset(x->of_kind, 0xFF, sizeof x->of_kind);
    for (size_t i = n; i-- > 0;) {
        KindId kind = x->nodes[i]->kind->id;
        names_add(&x->names, x->nodes[i]->name, (int32_t)i);
        x->same_kind[i] = x->of_kind[kind];
        x->of_kind[kind] = (int32_t)i;
        Json title = x->nodes[i]->task ? x->nodes[i]->task->title : json_none();
        if (json_kind(title) != JSON_STRING) continue;
        names_add(&x->titles, json_string_data(&title), (int32_t)i);
        if (!memchr(json_string_data(&title), '$', json_string_len(title))) continue;
        x->next_open[i] = x->open;
        x->open = (int32_t)i;
    }
}

static int order(int a, int b) {
    return (a > b) - (a < b);
}

static int compare_extents(const void *a, const void *b) {
    const Extent *x = a, *y = b;
    int by = order(x->file, y->file);
    by = by ? by : order(x->node->line, y->node->line);
    by = by ? by : order(x->node->col, y->node->col);
    return by ? by : x->node->id < y->node->id ? -1 : 1;
}

/* What is around the one before, itself included, is what can be around this one. Two nodes that
 * end and begin in one line are not inside each other. */
static void nest_extents(NodeIndex *x) {
    for (size_t i = 1; i < x->n; i++) {
        const Extent *inner = &x->sorted[i], *outer = inner - 1;
        int around = (int)i - 1;
        while (around != NOTHING &&
               (inner->file != outer->file || inner->node->line > outer->node->end_line ||
                inner->node->end_line > outer->node->end_line)) {
            around = outer->around;
            outer = around == NOTHING ? NULL : &x->sorted[around];
        }
        x->sorted[i].around = around;
    }
}

NodeIndex *index_new(const Flow *flow) {
    NodeIndex *x = mem_zalloc(sizeof *x);
    size_t n = flow->nnodes, room = n ? n : 1;
    x->flow = flow;
    x->n = n;
    x->nodes = mem_zalloc(room * sizeof *x->nodes);
    x->node_marks = mem_zalloc(room * sizeof *x->node_marks);
    x->graph_marks = mem_zalloc((flow->ngraphs ? flow->ngraphs : 1) * sizeof *x->graph_marks);
    x->same_kind = mem_alloc(room * sizeof *x->same_kind);
    x->sorted = mem_zalloc(room * sizeof *x->sorted);
    names_init(&x->names, n);
    names_init(&x->graphs, flow->ngraphs);
    names_init(&x->titles, n);
    x->next_open = mem_alloc(room * sizeof *x->next_open);
    x->open = NOTHING;
    add_nodes(x);
    qsort(x->sorted, x->n, sizeof *x->sorted, compare_extents);
    nest_extents(x);
    return x;
}

void index_free(NodeIndex *x) {
    if (!x) return;
    names_clear(&x->names);
    names_clear(&x->graphs);
    names_clear(&x->titles);
    mem_free(x->next_open);
    mem_free(x->nodes);
    mem_free(x->node_marks);
    mem_free(x->graph_marks);
    mem_free(x->same_kind);
    mem_free(x->sorted);
    mem_free(x);
}

/* ---- sets of nodes ---- */

void nodes_add(NodeList *out, const Node *node) {
    out->items = mem_grow(out->items, out->n, &out->cap, sizeof *out->items);
    out->items[out->n++] = node;
}

/* What the parts so far lead into: graphs, and bodies of maps. */
typedef struct Scope {
    NodeIndex *x;
    const Graph **graphs;
    size_t ngraphs, graphs_cap;
    NodeList bodies;
} Scope;

static void scope_clear(Scope *scope) {
    mem_free(scope->graphs);
    mem_free(scope->bodies.items);
}

static bool mark_node(NodeIndex *x, const Node *node) {
    uint32_t *mark = &x->node_marks[node->id - x->flow->first_node];
    bool first = *mark != x->mark;
    *mark = x->mark;
    return first;
}

static void add_graph(Scope *scope, const Graph *graph) {
    uint32_t *mark = &scope->x->graph_marks[graph->id];
    if (*mark != scope->x->mark) {
        *mark = scope->x->mark;
        scope->graphs =
            mem_grow(scope->graphs, scope->ngraphs, &scope->graphs_cap, sizeof *scope->graphs);
        scope->graphs[scope->ngraphs++] = graph;
    }
}

/* Everything that a node holds; its body is also as if it were not there. */
static void add_held(Scope *scope, const Node *node) {
    for (; node; node = node_body(node)) {
        const Node *body = node_body(node);
        for (size_t i = 0; i <= node->kind->nparams; i++) {
            const Graph *held = node_held(node, i);
            if (held) add_graph(scope, held);
            if (held && held->after) add_graph(scope, held->after);
        }
        if (body && mark_node(scope->x, body)) nodes_add(&scope->bodies, body);
    }
}

/* What a node of that name holds, or the graphs of that name in it. */
static void enter_node(Scope *scope, const Node *node, const Part *part) {
    if (part_matches(part, node->name)) {
        add_held(scope, node);
        return;
    }
    for (; node; node = node_body(node)) {
        for (size_t i = 0; i <= node->kind->nparams; i++) {
            const Graph *graph = node_held(node, i);
            if (graph && part_matches(part, graph->name)) add_graph(scope, graph);
        }
    }
}

static void enter_index(Scope *scope, const Part *part) {
    NodeIndex *x = scope->x;
    for (int32_t i = NOTHING; (i = names_next(&x->names, part, i)) != NOTHING;) {
        if (part_matches(part, x->nodes[i]->name)) add_held(scope, x->nodes[i]);
    }
    for (int32_t i = NOTHING; (i = names_next(&x->graphs, part, i)) != NOTHING;) {
        if (part_matches(part, x->flow->graphs[i]->name)) add_graph(scope, x->flow->graphs[i]);
    }
}

/* The next scope, in place of this one. */
static void enter_scope(Scope *scope, const Part *part) {
    Scope next = {.x = scope->x};
    scope->x->mark++;
    for (size_t g = 0; g < scope->ngraphs; g++) {
        for (size_t i = 0; i < scope->graphs[g]->nnodes; i++) {
            for (const Node *n = &scope->graphs[g]->nodes[i]; n; n = node_body(n)) {
                enter_node(&next, n, part);
            }
        }
    }
    for (size_t i = 0; i < scope->bodies.n; i++) enter_node(&next, scope->bodies.items[i], part);
    scope_clear(scope);
    *scope = next;
}

static void add_matching(NodeIndex *x, const Node *node, const Part *part, NodeList *out) {
    if (part_matches(part, node->name) && mark_node(x, node)) nodes_add(out, node);
}

static void find_in_graph(NodeIndex *x, const Graph *graph, const Part *part, NodeList *out) {
    if (!part->glob) { /* no body of a map has such a name */
        Json name = json_string(part->s, part->len);
        const Node *node = graph_node(graph, name);
        json_unref(name);
        if (node) add_matching(x, node, part, out);
        return;
    }
    for (size_t i = 0; i < graph->nnodes; i++) {
        for (const Node *n = &graph->nodes[i]; n; n = node_body(n)) add_matching(x, n, part, out);
    }
}

static void find_in_scope(Scope *scope, const Part *part, NodeList *out) {
    scope->x->mark++;
    for (size_t g = 0; g < scope->ngraphs; g++) {
        find_in_graph(scope->x, scope->graphs[g], part, out);
    }
    for (size_t i = 0; i < scope->bodies.n; i++) {
        add_matching(scope->x, scope->bodies.items[i], part, out);
    }
}

static void find_named(const NodeIndex *x, const Part *part, NodeList *out) {
    for (int32_t i = NOTHING; (i = names_next(&x->names, part, i)) != NOTHING;) {
        if (part_matches(part, x->nodes[i]->name)) nodes_add(out, x->nodes[i]);
    }
}

void index_path(NodeIndex *x, const char *text, size_t len, NodeList *out) {
    const char *end = text + len, *slash;
    Scope scope = {.x = x};
    bool first = true;
    x->mark++;
    for (; (slash = memchr(text, '/', (size_t)(end - text))); first = false, text = slash + 1) {
        Part part = part_of(text, (size_t)(slash - text));
        if (first) {
            enter_index(&scope, &part);
        } else {
            enter_scope(&scope, &part);
        }
    }
    Part part = part_of(text, (size_t)(end - text));
    if (first) {
        find_named(x, &part, out);
    } else {
        find_in_scope(&scope, &part, out);
    }
    scope_clear(&scope);
}

/* ---- places in files ---- */

static bool ends_with_path(const char *path, const char *tail) {
    size_t len = strlen(path), tail_len = strlen(tail);
    return tail_len && len > tail_len && path[len - tail_len - 1] == '/' &&
           strcmp(path + len - tail_len, tail) == 0;
}

static const char *plain_path(const char *path) {
    while (path[0] == '.' && path[1] == '/') path += 2;
    return path;
}

/* The best file for a name, by its place among the files; NOTHING. A file answers as it was opened, by the
 * end of its path or, as editors give whole paths, by the end of what is given. own: the flow's main file
 * too. */
static int find_file(const Flow *flow, const char *given, bool own) {
    int best = NOTHING, best_answer = 0;
    const char *last = NULL;
    for (size_t g = 0; g < flow->ngraphs; g++) {
        const char *file = flow->graphs[g]->file;
        bool open = file != last && (own || strcmp(file, flow->main->file) != 0);
        const char *a = plain_path(file), *b = plain_path(given);
        int answer = !open                  ? 0
                     : strcmp(a, b) == 0    ? 3
                     : ends_with_path(a, b) ? 2
                                            : ends_with_path(b, a);
        last = file;
        if (answer > best_answer) {
            best_answer = answer;
            best = file_rank(flow, file);
        }
    }
    return best;
}

/* The first extent that begins after a line of a file, or in a later file. */
static size_t extent_after(const NodeIndex *x, int file, int line) {
    const Extent *s = x->sorted;
    BISECT(found, x->n, i, s[i].file < file || (s[i].file == file && s[i].node->line <= line));
    return found;
}

/* Index of an extent; NOTHING. Of several that begin in the line: the first, and what is innermost in it. */
static int extent_at(const NodeIndex *x, int file, int line) {
    size_t first = extent_after(x, file, line - 1), after = extent_after(x, file, line);
    if (first < after) {
        for (; first + 1 < after; first++) {
            const Node *outer = x->sorted[first].node, *inner = x->sorted[first + 1].node;
            if (inner != node_body(outer) && !node_holds(outer, inner->graph)) break;
        }
        return (int)first;
    }
    for (int i = (int)after - 1; i >= 0 && x->sorted[i].file == file; i = x->sorted[i].around) {
        if (x->sorted[i].node->end_line >= line) return i;
    }
    return after < x->n && x->sorted[after].file == file ? (int)after : NOTHING;
}

static bool is_same_extent(const Extent *a, const Extent *b) {
    return a->file == b->file && a->node->line == b->node->line && a->node->col == b->node->col;
}

bool index_has_file(const NodeIndex *x, const char *file, bool own) {
    return find_file(x->flow, file, own) != NOTHING;
}

/* With an alias one piece of a file can be several nodes. */
void index_line(const NodeIndex *x, const FileLine *line, NodeList *out) {
    int rank = find_file(x->flow, line->file, line->own);
    int at = rank == NOTHING ? NOTHING : extent_at(x, rank, line->line);
    size_t i = at == NOTHING ? x->n : (size_t)at;
    while (i > 0 && i < x->n && is_same_extent(&x->sorted[i - 1], &x->sorted[at])) i--;
    for (; i < x->n && is_same_extent(&x->sorted[i], &x->sorted[at]); i++) {
        nodes_add(out, x->sorted[i].node);
    }
}

/* ---- the other ways in ---- */

void index_name(const NodeIndex *x, const char *name, size_t len, NodeList *out) {
    Part part = {name, len, false};
    find_named(x, &part, out);
}

void index_title(const NodeIndex *x, Json title, TitleMatch least, NodeList *out) {
    Part part = {json_string_data(&title), json_string_len(title), false};
    for (int32_t i = NOTHING; (i = names_next(&x->titles, &part, i)) != NOTHING;) {
        if (title_match(x->nodes[i], title) == TITLE_WRITTEN) nodes_add(out, x->nodes[i]);
    }
    for (int32_t i = x->open; i != NOTHING; i = x->next_open[i]) {
        TitleMatch match = title_match(x->nodes[i], title);
        if (match >= least && match != TITLE_WRITTEN) nodes_add(out, x->nodes[i]);
    }
}

void index_kind(const NodeIndex *x, KindId kind, NodeList *out) {
    for (int32_t i = x->of_kind[kind]; i >= 0; i = x->same_kind[i]) nodes_add(out, x->nodes[i]);
}

bool index_has_kind(const NodeIndex *x, KindId kind) {
    return x->of_kind[kind] >= 0;
}

const Flow *index_flow(const NodeIndex *x) {
    return x->flow;
}

size_t index_count(const NodeIndex *x) {
    return x->n;
}

const Node *index_at(const NodeIndex *x, size_t i) {
    return i < x->n ? x->sorted[i].node : NULL;
}

bool index_is_glob(const char *text) {
    return part_of(text, strlen(text)).glob;
}
