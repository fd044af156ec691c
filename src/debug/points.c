/* points.c - breakpoints by node.
 *
 * Two structures. `lists` has the breakpoints of each node, by its number: all that a step looks
 * at. An Index of each flow serves to find the nodes that a breakpoint means: names and kinds are
 * chains in tables, and `sorted` has the nodes in the order of their files, each with the one
 * around it, so that a line is found by bisection. Adding a breakpoint is then a look-up, unless it
 * is a glob.
 *
 * Paths ("sub/name") are followed from the outside in, part by part: a set of graphs, and from each
 * the graphs that its nodes of the next name hold. A graph is in a set once, however many nodes
 * hold it, so the work is bounded by the size of the flow times the parts.
 */
#include "points.h"

#include "mem.h"
#include "suggest.h"

#include <assert.h>
#include <stdlib.h>

enum { NOTHING = -1 };

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

/* Past what stands for one character; NULL: it does not stand for this one. */
static const char *match_one(const char *p, const char *end, const char *s) {
    bool in = false;
    const char *after = *p == '[' ? match_set(p + 1, end, (unsigned char)*s, &in) : NULL;
    if (after) {
        return in ? after : NULL;
    }
    return *p == '?' || *p == *s ? p + 1 : NULL;
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
        const char *after = p < end && *p != '*' ? match_one(p, end, s) : NULL;
        if (p < end && *p == '*') {
            star = ++p;
            retry = s;
        } else if (after) {
            s = *p == '?' ? next_char(s) : s + 1;
            p = after;
        } else if (star) {
            p = star;
            s = retry = next_char(retry);
        } else {
            return false;
        }
    }
    while (p < end && *p == '*') {
        p++;
    }
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
} Names;

static uint32_t hash_name(const char *s, size_t len) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++) {
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    }
    return h ^ h >> 15;
}

static void names_init(Names *names, size_t n) {
    size_t size = 8;
    while (size < 2 * n) {
        size *= 2;
    }
    names->mask = (uint32_t)size - 1;
    names->heads = mem_alloc(size * sizeof *names->heads);
    names->next = mem_alloc((n ? n : 1) * sizeof *names->next);
    memset(names->heads, 0xFF, size * sizeof *names->heads);
}

static void names_add(Names *names, const char *name, int32_t thing) {
    int32_t *head = &names->heads[hash_name(name, strlen(name)) & names->mask];
    names->next[thing] = *head;
    *head = thing;
}

static int32_t names_first(const Names *names, const Part *part) {
    return names->heads[hash_name(part->s, part->len) & names->mask];
}

static void names_clear(Names *names) {
    mem_free(names->heads);
    mem_free(names->next);
}

/* ---- the index of a flow ---- */

typedef struct Spot {
    const Node *node;
    int file;   /* its place among the files of the flow */
    int around; /* index of the spot around it in the file; NOTHING */
} Spot;

typedef struct Index {
    const Flow *flow;
    size_t n;
    const Node **nodes;   /* by number, from flow->first_node on */
    uint32_t *node_marks; /* by the same: the mark of the set that it is in */
    uint32_t *graph_marks;
    uint32_t mark;
    Names names, graphs;
    int32_t of_kind[KIND_COUNT], *same_kind; /* chains */
    Spot *sorted;                            /* by file and place */
} Index;

static const Node *body_of(const Node *node) {
    for (size_t i = 0; i < node->kind->nparams; i++) {
        if (node->params[i].node) {
            return node->params[i].node;
        }
    }
    return NULL;
}

static void index_node(Index *x, const Node *node, int file) {
    for (; node; node = body_of(node)) {
        uint32_t i = node->id - x->flow->first_node;
        assert(i < x->n);
        x->nodes[i] = node;
        x->sorted[i] = (Spot){node, file, NOTHING};
    }
}

/* Files are in the order in which their first graphs are. */
static int file_rank(const Flow *flow, const char *file) {
    size_t i = 0;
    while (i < flow->ngraphs && strcmp(flow->graphs[i]->file, file) != 0) {
        i++;
    }
    return (int)i;
}

static void index_graphs(Index *x) {
    const Flow *flow = x->flow;
    const char *last = NULL;
    int file = 0;
    for (size_t g = 0; g < flow->ngraphs; g++) {
        const Graph *graph = flow->graphs[g];
        file = last == graph->file ? file : file_rank(flow, graph->file);
        last = graph->file;
        for (size_t i = 0; i < graph->nnodes; i++) {
            index_node(x, &graph->nodes[i], file);
        }
    }
    for (size_t g = flow->ngraphs; g-- > 0;) {
        names_add(&x->graphs, flow->graphs[g]->name, (int32_t)g);
    }
}

/* Chains are made from the end, so that they are in order. */
static void chain_nodes(Index *x) {
    memset(x->of_kind, 0xFF, sizeof x->of_kind);
    for (size_t i = x->n; i-- > 0;) {
        const Node *node = x->nodes[i];
        if (node) {
            names_add(&x->names, node->name, (int32_t)i);
            x->same_kind[i] = x->of_kind[node->kind->id];
            x->of_kind[node->kind->id] = (int32_t)i;
        }
    }
}

static int order(int a, int b) {
    return (a > b) - (a < b);
}

static int compare_spots(const void *a, const void *b) {
    const Spot *x = a, *y = b;
    int by = order(x->file, y->file);
    by = by ? by : order(x->node->line, y->node->line);
    by = by ? by : order(x->node->col, y->node->col);
    return by ? by : x->node->id < y->node->id ? -1 : 1;
}

static bool is_inside(const Spot *inner, const Spot *outer) {
    return inner->file == outer->file && inner->node->line <= outer->node->end_line;
}

/* What is around the one before, itself included, is what can be around this one. Two nodes that
 * end and begin in one line are not inside each other. */
static void nest_spots(Index *x) {
    for (size_t i = 1; i < x->n; i++) {
        int around = (int)i - 1;
        while (around != NOTHING &&
               (!is_inside(&x->sorted[i], &x->sorted[around]) ||
                x->sorted[i].node->end_line > x->sorted[around].node->end_line)) {
            around = x->sorted[around].around;
        }
        x->sorted[i].around = around;
    }
}

/* Numbers that no node has (there are none today) would leave holes. */
static void close_holes(Index *x) {
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        if (x->sorted[i].node) {
            x->sorted[n++] = x->sorted[i];
        }
    }
    x->n = n;
}

static Index *index_new(const Flow *flow) {
    Index *x = mem_zalloc(sizeof *x);
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
    index_graphs(x);
    chain_nodes(x);
    close_holes(x);
    qsort(x->sorted, x->n, sizeof *x->sorted, compare_spots);
    nest_spots(x);
    return x;
}

static void index_free(Index *x) {
    if (!x) {
        return;
    }
    names_clear(&x->names);
    names_clear(&x->graphs);
    mem_free(x->nodes);
    mem_free(x->node_marks);
    mem_free(x->graph_marks);
    mem_free(x->same_kind);
    mem_free(x->sorted);
    mem_free(x);
}

/* ---- sets of nodes ---- */

typedef struct Places {
    const Node **items;
    size_t n, cap;
} Places;

static void places_add(Places *out, const Node *node) {
    out->items = mem_grow(out->items, out->n, &out->cap, sizeof *out->items);
    out->items[out->n++] = node;
}

static int compare_ids(const void *a, const void *b) {
    const Node *x = *(const Node *const *)a, *y = *(const Node *const *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* What the parts so far lead into: graphs, and bodies of maps. */
typedef struct Scope {
    Index *x;
    const Graph **graphs;
    size_t ngraphs, graphs_cap;
    Places bodies;
} Scope;

static void scope_start(Scope *scope, Index *x) {
    *scope = (Scope){.x = x};
    x->mark++;
}

static void scope_clear(Scope *scope) {
    mem_free(scope->graphs);
    mem_free(scope->bodies.items);
}

static bool mark_node(Index *x, const Node *node) {
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
    for (; node; node = body_of(node)) {
        const Node *body = body_of(node);
        for (size_t i = 0; i < node->kind->nparams; i++) {
            if (node->params[i].graph) {
                add_graph(scope, node->params[i].graph);
                if (node->params[i].graph->after) {
                    add_graph(scope, node->params[i].graph->after);
                }
            }
        }
        if (body && mark_node(scope->x, body)) {
            places_add(&scope->bodies, body);
        }
    }
}

static void enter_graphs_named(Scope *scope, const Node *node, const Part *part) {
    for (; node; node = body_of(node)) {
        for (size_t i = 0; i < node->kind->nparams; i++) {
            const Graph *graph = node->params[i].graph;
            if (graph && part_matches(part, graph->name)) {
                add_graph(scope, graph);
            }
        }
    }
}

static void enter_node(Scope *scope, const Node *node, const Part *part) {
    if (part_matches(part, node->name)) {
        add_held(scope, node);
    } else {
        enter_graphs_named(scope, node, part);
    }
}

static void enter_index(Scope *scope, const Part *part) {
    Index *x = scope->x;
    int32_t node = part->glob ? 0 : names_first(&x->names, part);
    int32_t graph = part->glob ? 0 : names_first(&x->graphs, part);
    for (; node >= 0 && (size_t)node < x->flow->nnodes;
         node = part->glob ? node + 1 : x->names.next[node]) {
        if (x->nodes[node] && part_matches(part, x->nodes[node]->name)) {
            add_held(scope, x->nodes[node]);
        }
    }
    for (; graph >= 0 && (size_t)graph < x->flow->ngraphs;
         graph = part->glob ? graph + 1 : x->graphs.next[graph]) {
        if (part_matches(part, x->flow->graphs[graph]->name)) {
            add_graph(scope, x->flow->graphs[graph]);
        }
    }
}

/* The next scope, in place of this one. */
static void enter_scope(Scope *scope, const Part *part) {
    Scope next;
    scope_start(&next, scope->x);
    for (size_t g = 0; g < scope->ngraphs; g++) {
        for (size_t i = 0; i < scope->graphs[g]->nnodes; i++) {
            for (const Node *n = &scope->graphs[g]->nodes[i]; n; n = body_of(n)) {
                enter_node(&next, n, part);
            }
        }
    }
    for (size_t i = 0; i < scope->bodies.n; i++) {
        enter_node(&next, scope->bodies.items[i], part);
    }
    scope_clear(scope);
    *scope = next;
}

static void find_in_graph(Index *x, const Graph *graph, const Part *part, Places *out) {
    if (!part->glob) { /* no body of a map has such a name */
        Json name = json_string(part->s, part->len);
        const Node *node = graph_node(graph, name);
        json_unref(name);
        if (node && mark_node(x, node)) {
            places_add(out, node);
        }
        return;
    }
    for (size_t i = 0; i < graph->nnodes; i++) {
        for (const Node *n = &graph->nodes[i]; n; n = body_of(n)) {
            if (part_matches(part, n->name) && mark_node(x, n)) {
                places_add(out, n);
            }
        }
    }
}

static void find_in_scope(Scope *scope, const Part *part, Places *out) {
    scope->x->mark++;
    for (size_t g = 0; g < scope->ngraphs; g++) {
        find_in_graph(scope->x, scope->graphs[g], part, out);
    }
    for (size_t i = 0; i < scope->bodies.n; i++) {
        if (part_matches(part, scope->bodies.items[i]->name) &&
            mark_node(scope->x, scope->bodies.items[i])) {
            places_add(out, scope->bodies.items[i]);
        }
    }
}

static void find_named(Index *x, const Part *part, Places *out) {
    if (!part->glob) {
        for (int32_t i = names_first(&x->names, part); i >= 0; i = x->names.next[i]) {
            if (part_matches(part, x->nodes[i]->name)) {
                places_add(out, x->nodes[i]);
            }
        }
        return;
    }
    for (size_t i = 0; i < x->flow->nnodes; i++) {
        if (x->nodes[i] && part_matches(part, x->nodes[i]->name)) {
            places_add(out, x->nodes[i]);
        }
    }
}

static void find_path(Index *x, const char *text, size_t len, Places *out) {
    const char *end = text + len, *slash = memchr(text, '/', len);
    Scope scope;
    if (!slash) {
        Part part = part_of(text, len);
        find_named(x, &part, out);
        return;
    }
    scope_start(&scope, x);
    for (bool first = true; slash; first = false) {
        Part part = part_of(text, (size_t)(slash - text));
        if (first) {
            enter_index(&scope, &part);
        } else {
            enter_scope(&scope, &part);
        }
        text = slash + 1;
        slash = memchr(text, '/', (size_t)(end - text));
    }
    Part part = part_of(text, (size_t)(end - text));
    find_in_scope(&scope, &part, out);
    scope_clear(&scope);
}

/* ---- places in files ---- */

static bool ends_with_path(const char *path, const char *tail) {
    size_t len = strlen(path), tail_len = strlen(tail);
    return tail_len && len > tail_len && path[len - tail_len - 1] == '/' &&
           strcmp(path + len - tail_len, tail) == 0;
}

static const char *plain_path(const char *path) {
    while (path[0] == '.' && path[1] == '/') {
        path += 2;
    }
    return path;
}

/* How well a file answers to a name: as opened, by the end of its path, or (editors give whole
 * paths) by the end of what is given. 0: not. */
static int file_answers(const char *file, const char *given) {
    const char *a = plain_path(file), *b = plain_path(given);
    return strcmp(a, b) == 0 ? 3 : ends_with_path(a, b) ? 2 : ends_with_path(b, a) ? 1 : 0;
}

/* The best file for a name, by its place among the files; NOTHING. own: the flow's main file
 * too. */
static int find_file(const Flow *flow, const char *given, bool own) {
    int best = NOTHING, best_answer = 0;
    const char *last = NULL;
    for (size_t g = 0; g < flow->ngraphs; g++) {
        const char *file = flow->graphs[g]->file;
        bool open = file != last && (own || strcmp(file, flow->main->file) != 0);
        int answer = open ? file_answers(file, given) : 0;
        last = file;
        if (answer > best_answer) {
            best_answer = answer;
            best = file_rank(flow, file);
        }
    }
    return best;
}

/* The first spot that begins after a line of a file, or in a later file. */
static size_t spot_after(const Index *x, int file, int line) {
    size_t from = 0, to = x->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const Spot *s = &x->sorted[middle];
        if (s->file < file || (s->file == file && s->node->line <= line)) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

static bool is_held(const Node *inner, const Node *outer) {
    if (inner == body_of(outer)) {
        return true;
    }
    for (size_t i = 0; i < outer->kind->nparams; i++) {
        if (outer->params[i].graph == inner->graph) {
            return true;
        }
    }
    return false;
}

/* Of several that begin in the line: the first, and what is innermost in it. */
static int innermost_beginning(const Index *x, int file, int line) {
    size_t i = spot_after(x, file, line - 1), end = spot_after(x, file, line);
    if (i == end) {
        return NOTHING;
    }
    while (i + 1 < end && is_held(x->sorted[i + 1].node, x->sorted[i].node)) {
        i++;
    }
    return (int)i;
}

/* Index of a spot; NOTHING. */
static int spot_at(const Index *x, int file, int line) {
    int beginning = innermost_beginning(x, file, line);
    size_t after = spot_after(x, file, line);
    if (beginning != NOTHING) {
        return beginning;
    }
    for (int i = (int)after - 1; i >= 0 && x->sorted[i].file == file; i = x->sorted[i].around) {
        if (x->sorted[i].node->end_line >= line) {
            return i;
        }
    }
    return after < x->n && x->sorted[after].file == file ? (int)after : NOTHING;
}

static bool is_same_spot(const Spot *a, const Spot *b) {
    return a->file == b->file && a->node->line == b->node->line && a->node->col == b->node->col;
}

/* With an alias one piece of a file can be several nodes. */
static void find_line(Index *x, int file, int line, Places *out) {
    int at = spot_at(x, file, line);
    if (at == NOTHING) {
        return;
    }
    size_t i = (size_t)at;
    while (i > 0 && is_same_spot(&x->sorted[i - 1], &x->sorted[at])) {
        i--;
    }
    for (; i < x->n && is_same_spot(&x->sorted[i], &x->sorted[at]); i++) {
        places_add(out, x->sorted[i].node);
    }
}

const Node *points_node_at(const Flow *flow, const char *file, int line) {
    int rank = find_file(flow, file, true);
    if (rank == NOTHING) {
        return NULL;
    }
    Index *x = index_new(flow);
    int at = spot_at(x, rank, line);
    const Node *node = at == NOTHING ? NULL : x->sorted[at].node;
    index_free(x);
    return node;
}

bool points_matches(const Node *node, const char *glob) {
    Index *x = index_new(node->graph->flow);
    Places found = {0};
    bool matches = false;
    find_path(x, glob, strlen(glob), &found);
    for (size_t i = 0; i < found.n; i++) {
        matches = matches || found.items[i] == node;
    }
    mem_free(found.items);
    index_free(x);
    return matches;
}

/* ---- where a breakpoint is ---- */

static Json field(const Breakpoint *b, const char *name) {
    return json_object_get_c(b->spec, name);
}

/* The text of a field, as a C string that is the caller's. */
static char *text_field(const Breakpoint *b, const char *name) {
    Json value = field(b, name);
    return mem_strndup(json_string_data(&value), json_string_len(value));
}

static int64_t number_field(const Breakpoint *b, const char *name) {
    return (int64_t)json_to_double(field(b, name));
}

static void find_node(Index *x, const Breakpoint *b, bool own, Places *out) {
    (void)own;
    Json name = field(b, "node");
    find_path(x, json_string_data(&name), json_string_len(name), out);
}

static void find_task_index(Index *x, const Breakpoint *b, bool own, Places *out) {
    int64_t i = number_field(b, "task_index");
    if (own && x->flow->main->scoped && i >= 0 && (uint64_t)i < x->n) {
        places_add(out, x->sorted[i].node);
    }
}

/* A task with an id has it for its name. */
static void find_task_id(Index *x, const Breakpoint *b, bool own, Places *out) {
    (void)own;
    Json id = field(b, "task_id");
    Part part = {json_string_data(&id), json_string_len(id), false};
    for (int32_t i = names_first(&x->names, &part); i >= 0; i = x->names.next[i]) {
        const Task *task = x->nodes[i]->task;
        if (task && !json_is_none(task->id) && json_string_equal(task->id, id)) {
            places_add(out, x->nodes[i]);
        }
    }
}

static void find_task_name(Index *x, const Breakpoint *b, bool own, Places *out) {
    (void)own;
    Json name = field(b, "task_name");
    for (size_t kind = 0; kind < KIND_COUNT; kind++) {
        if (!json_string_is(name, kinds[kind].name)) {
            continue;
        }
        for (int32_t i = x->of_kind[kind]; i >= 0; i = x->same_kind[i]) {
            places_add(out, x->nodes[i]);
        }
    }
}

static void find_source(Index *x, const Breakpoint *b, bool own, Places *out) {
    char *file = text_field(b, "file");
    int rank = find_file(x->flow, file, own);
    if (rank != NOTHING) {
        find_line(x, rank, (int)number_field(b, "line"), out);
    }
    mem_free(file);
}

/* own: the index is that of the workflow, not of nodes that came later. */
static void (*const finders[BREAK_PLACES])(Index *, const Breakpoint *, bool own, Places *) = {
    [BREAK_NODE] = find_node,       [BREAK_TASK_INDEX] = find_task_index,
    [BREAK_TASK_ID] = find_task_id, [BREAK_TASK_NAME] = find_task_name,
    [BREAK_SOURCE] = find_source,
};

/* ---- the points ---- */

typedef struct List {
    Breakpoint **items;
    size_t n;
} List;

struct Points {
    Index **flows; /* the workflow's first */
    size_t nflows, flows_cap;
    List *lists; /* by number of the node */
    size_t nlists;
    Breakpoint **all; /* in order of their numbers */
    size_t n, cap;
    List anywhere, on_state, on_error;
    size_t places; /* of all together */
    size_t *hint;  /* where an enabled one was last seen */
    /* Names that may still be compared: to search them all for each of thousands of breakpoints
     * would take minutes. */
    size_t suggestions;
};

enum { SUGGESTIONS_MAX = 2000000 };

/* Lists double when their length is a power of two. */
static void list_add(List *list, Breakpoint *b) {
    if ((list->n & (list->n - 1)) == 0) {
        list->items = mem_realloc(list->items, (list->n ? 2 * list->n : 1) * sizeof *list->items);
    }
    list->items[list->n++] = b;
}

static void list_remove(List *list, const Breakpoint *b) {
    for (size_t i = list->n; i-- > 0;) {
        if (list->items[i] == b) {
            memmove(list->items + i, list->items + i + 1, (list->n - i - 1) * sizeof *list->items);
            list->n--;
            return;
        }
    }
}

static void add_index(Points *p, const Flow *flow) {
    size_t need = flow->first_node + flow->nnodes;
    p->flows = mem_grow(p->flows, p->nflows, &p->flows_cap, sizeof(Index *));
    p->flows[p->nflows++] = index_new(flow);
    if (need > p->nlists) {
        p->lists = mem_realloc(p->lists, need * sizeof *p->lists);
        memset(p->lists + p->nlists, 0, (need - p->nlists) * sizeof *p->lists);
        p->nlists = need;
    }
}

Points *points_new(const Flow *flow) {
    Points *p = mem_zalloc(sizeof *p);
    p->suggestions = SUGGESTIONS_MAX;
    p->hint = mem_zalloc(sizeof *p->hint);
    add_index(p, flow);
    return p;
}

void points_free(Points *p) {
    if (!p) {
        return;
    }
    for (size_t i = 0; i < p->n; i++) {
        breakpoint_free(p->all[i]);
    }
    for (size_t i = 0; i < p->nlists; i++) {
        mem_free(p->lists[i].items);
    }
    for (size_t i = 0; i < p->nflows; i++) {
        index_free(p->flows[i]);
    }
    mem_free(p->anywhere.items);
    mem_free(p->on_state.items);
    mem_free(p->on_error.items);
    mem_free(p->flows);
    mem_free(p->lists);
    mem_free(p->all);
    mem_free(p->hint);
    mem_free(p);
}

/* ---- what is said of a breakpoint ---- */

static void say(Breakpoint *b, Json message) {
    json_unref(b->message);
    b->message = message;
}

static void offer(Points *p, Suggestion *s, const char *name) {
    if (p->suggestions > 0) {
        p->suggestions--;
        suggestion_offer(s, name);
    }
}

static void offer_names(Points *p, Suggestion *s) {
    const Index *x = p->flows[0];
    for (size_t i = 0; i < x->n; i++) {
        offer(p, s, x->sorted[i].node->name);
    }
}

static void offer_ids(Points *p, Suggestion *s) {
    const Index *x = p->flows[0];
    for (size_t i = 0; i < x->n; i++) {
        const Node *node = x->sorted[i].node;
        if (node->task && !json_is_none(node->task->id)) {
            offer(p, s, node->name);
        }
    }
}

static void offer_kinds(Points *p, Suggestion *s) {
    for (size_t kind = 0; kind < KIND_COUNT; kind++) {
        if (p->flows[0]->of_kind[kind] >= 0) {
            offer(p, s, kinds[kind].name);
        }
    }
}

static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void offer_files(Points *p, Suggestion *s) {
    const Flow *flow = p->flows[0]->flow;
    const char *last = NULL;
    for (size_t g = 0; g < flow->ngraphs; last = flow->graphs[g]->file, g++) {
        if (flow->graphs[g]->file != last) {
            offer(p, s, last_name(flow->graphs[g]->file));
        }
    }
}

/* "No node is called `bild`; did you mean `build`?" word: the part of the text that is compared. */
static Json missing(Points *p, const char *what, const char *text, const char *word,
                    void (*names)(Points *, Suggestion *)) {
    Suggestion s = suggestion_for(word, strlen(word));
    names(p, &s);
    if (s.best) {
        return json_string_fmt("%s `%.60s`; did you mean `%s`?", what, text, s.best);
    }
    return json_string_fmt("%s `%.60s`.", what, text);
}

static Json miss_node(Points *p, const Breakpoint *b) {
    char *name = text_field(b, "node");
    Part part = part_of(name, strlen(name));
    bool path = strchr(name, '/') != NULL;
    Json message = missing(p,
                           part.glob ? "No node matches"
                           : path    ? "There is no node"
                                     : "No node is called",
                           name, last_name(name), offer_names);
    mem_free(name);
    return message;
}

static Json miss_task_index(Points *p, const Breakpoint *b) {
    const Index *x = p->flows[0];
    if (!x->flow->main->scoped) {
        return json_string_fmt(
            "Only a workflow of the tasks dialect has tasks to count; this is one "
            "of the %s dialect: give the name of a `node`.",
            x->flow->dialect);
    }
    return json_string_fmt("There is no task %lld: the workflow has %zu, counted from 0.",
                           (long long)number_field(b, "task_index"), x->n);
}

static Json miss_task_id(Points *p, const Breakpoint *b) {
    char *id = text_field(b, "task_id");
    Json message = missing(p, "No task has the id", id, id, offer_ids);
    mem_free(id);
    return message;
}

static Json miss_task_name(Points *p, const Breakpoint *b) {
    char *name = text_field(b, "task_name");
    Json message = missing(p, "No node of the workflow is a", name, name, offer_kinds);
    mem_free(name);
    return message;
}

static Json miss_source(Points *p, const Breakpoint *b) {
    char *file = text_field(b, "file");
    bool known = find_file(p->flows[0]->flow, file, true) != NOTHING;
    Json message =
        known ? json_string_fmt("There is no node at or after line %lld of `%.60s`.",
                                (long long)number_field(b, "line"), file)
              : missing(p, "No file of the workflow is called", file, last_name(file), offer_files);
    mem_free(file);
    return message;
}

static Json (*const misses[BREAK_PLACES])(Points *, const Breakpoint *) = {
    [BREAK_NODE] = miss_node,       [BREAK_TASK_INDEX] = miss_task_index,
    [BREAK_TASK_ID] = miss_task_id, [BREAK_TASK_NAME] = miss_task_name,
    [BREAK_SOURCE] = miss_source,
};

static void say_moved(Breakpoint *b) {
    const Node *node = b->at[0];
    if (b->place == BREAK_SOURCE && node->line != number_field(b, "line")) {
        say(b, json_string_fmt("Moved to line %d, where `%s` begins.", node->line, node->name));
    }
}

/* Whether its expressions can be asked at one of its nodes at least. */
static bool check_fit(Breakpoint *b) {
    Error why = ERROR_INIT;
    for (size_t i = 0; i < b->places; i++) {
        if (breakpoint_fits(b, b->at[i], &why)) {
            return true;
        }
    }
    say(b, json_string_c(why.msg));
    return false;
}

static void verify(Points *p, Breakpoint *b) {
    say(b, json_none());
    if (b->place == BREAK_NO_PLACE) {
        b->verified = true;
    } else if (b->places == 0) {
        b->verified = false;
        say(b, misses[b->place](p, b));
    } else {
        say_moved(b);
        b->verified = check_fit(b);
    }
}

/* ---- adding and removing ---- */

/* False: there would be too many. */
static bool attach(Points *p, Breakpoint *b, Places *found) {
    if (found->n > POINTS_PLACES_MAX - p->places) {
        return false;
    }
    if (found->n) {
        qsort(found->items, found->n, sizeof *found->items, compare_ids);
        b->at = mem_realloc(b->at, (b->places + found->n) * sizeof *b->at);
        memcpy(b->at + b->places, found->items, found->n * sizeof *b->at);
    }
    b->places += found->n;
    p->places += found->n;
    for (size_t i = 0; b->type != BREAK_STATE && i < found->n; i++) {
        list_add(&p->lists[found->items[i]->id], b);
    }
    return true;
}

static bool place(Points *p, Breakpoint *b, size_t flow) {
    Places found = {0};
    finders[b->place](p->flows[flow], b, flow == 0, &found);
    bool ok = attach(p, b, &found);
    mem_free(found.items);
    return ok;
}

/* NULL: it is in the lists of nodes alone. */
static List *list_of(Points *p, const Breakpoint *b) {
    return b->type == BREAK_STATE       ? &p->on_state
           : b->place != BREAK_NO_PLACE ? NULL
           : b->type == BREAK_EXCEPTION ? &p->on_error
                                        : &p->anywhere;
}

/* Where a number is among all, or would be. */
static size_t find_id(const Points *p, int64_t id) {
    size_t from = 0, to = p->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (p->all[middle]->id < id) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

static void insert(Points *p, Breakpoint *b) {
    size_t at = p->n && p->all[p->n - 1]->id < b->id ? p->n : find_id(p, b->id);
    assert(at == p->n || p->all[at]->id != b->id);
    p->all = mem_grow(p->all, p->n, &p->cap, sizeof(Breakpoint *));
    memmove(p->all + at + 1, p->all + at, (p->n - at) * sizeof(Breakpoint *));
    p->all[at] = b;
    p->n++;
}

void points_add(Points *p, Breakpoint *b) {
    List *list = list_of(p, b);
    bool fits = true;
    insert(p, b);
    if (list) {
        list_add(list, b);
    }
    for (size_t i = 0; fits && b->place != BREAK_NO_PLACE && i < p->nflows; i++) {
        fits = place(p, b, i);
    }
    verify(p, b);
    if (!fits && b->places == 0) {
        say(b, json_string_fmt("All breakpoints together would be at more than %d nodes; delete "
                               "some that match many.",
                               POINTS_PLACES_MAX));
    }
}

bool points_remove(Points *p, int64_t id) {
    size_t at = find_id(p, id);
    if (at == p->n || p->all[at]->id != id) {
        return false;
    }
    Breakpoint *b = p->all[at];
    List *list = list_of(p, b);
    if (list) {
        list_remove(list, b);
    }
    for (size_t i = 0; b->type != BREAK_STATE && i < b->places; i++) {
        list_remove(&p->lists[b->at[i]->id], b);
    }
    p->places -= b->places;
    memmove(p->all + at, p->all + at + 1, (p->n - at - 1) * sizeof(Breakpoint *));
    p->n--;
    breakpoint_free(b);
    return true;
}

Breakpoint *points_find(const Points *p, int64_t id) {
    size_t at = find_id(p, id);
    return at < p->n && p->all[at]->id == id ? p->all[at] : NULL;
}

size_t points_count(const Points *p) {
    return p->n;
}

Breakpoint *points_at(const Points *p, size_t i) {
    return i < p->n ? p->all[i] : NULL;
}

/* ---- flows that come and go ---- */

void points_add_flow(Points *p, const Flow *flow) {
    add_index(p, flow);
    for (size_t i = 0; i < p->n; i++) {
        Breakpoint *b = p->all[i];
        size_t before = b->places;
        if (b->place != BREAK_NO_PLACE && place(p, b, p->nflows - 1) && b->places > before &&
            !b->verified) {
            verify(p, b);
        }
    }
}

static bool is_of_flow(const Node *node, const Flow *flow) {
    return node->id >= flow->first_node && node->id - flow->first_node < flow->nnodes;
}

static void leave_flow(Points *p, Breakpoint *b, const Flow *flow) {
    size_t kept = 0;
    for (size_t i = 0; i < b->places; i++) {
        if (!is_of_flow(b->at[i], flow)) {
            b->at[kept++] = b->at[i];
        }
    }
    p->places -= b->places - kept;
    if (kept < b->places && kept == 0) {
        b->places = 0;
        verify(p, b);
    }
    b->places = kept;
}

void points_drop_flow(Points *p, const Flow *flow) {
    size_t at = 1;
    while (at < p->nflows && p->flows[at]->flow != flow) {
        at++;
    }
    if (at >= p->nflows) {
        return;
    }
    for (size_t i = 0; i < flow->nnodes; i++) {
        List *list = &p->lists[flow->first_node + i];
        mem_free(list->items);
        *list = (List){0};
    }
    for (size_t i = 0; i < p->n; i++) {
        leave_flow(p, p->all[i], flow);
    }
    index_free(p->flows[at]);
    memmove(p->flows + at, p->flows + at + 1, (p->nflows - at - 1) * sizeof(Index *));
    p->nflows--;
}

/* ---- looking ---- */

static PointList lend(const List *list) {
    return (PointList){list->items, list->n};
}

PointList points_of_node(const Points *p, const Node *node) {
    return node->id < p->nlists ? lend(&p->lists[node->id]) : (PointList){NULL, 0};
}

bool points_pass(const Points *p, const Node *node) {
    return !p->anywhere.n && !p->on_state.n && (node->id >= p->nlists || !p->lists[node->id].n);
}

PointList points_anywhere(const Points *p) {
    return lend(&p->anywhere);
}

PointList points_on_state(const Points *p) {
    return lend(&p->on_state);
}

PointList points_on_error(const Points *p) {
    return lend(&p->on_error);
}

bool points_empty(const Points *p) {
    if (*p->hint < p->n && p->all[*p->hint]->enabled) {
        return false;
    }
    for (size_t i = 0; i < p->n; i++) {
        if (p->all[i]->enabled) {
            *p->hint = i;
            return false;
        }
    }
    return true;
}

static Json place_json(const Node *node) {
    Json o = json_object_with(json_object(), "node", json_ref(node->name_json));
    o = json_object_with(o, "file", json_string_c(node->file));
    return json_object_with(o, "line", json_int(node->line));
}

Json points_json(const Points *p, const Breakpoint *b) {
    (void)p;
    Json list = json_array();
    for (size_t i = 0; i < b->places && i < POINTS_LISTED; i++) {
        list = json_array_push(list, place_json(b->at[i]));
    }
    return json_object_with(breakpoint_json(b), "places", list);
}
