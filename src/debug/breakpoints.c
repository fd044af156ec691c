/* breakpoints.c - breakpoints by node.
 *
 * `lists` has the breakpoints of each node, by its number: all that a step looks at. An index of
 * each flow (node_index.h) serves to find the nodes that a breakpoint means: adding one is a
 * look-up, unless it is a glob.
 */
#include "breakpoints.h"

#include "mem.h"
#include "node_index.h"
#include "suggest.h"

#include <assert.h>
#include <stdlib.h>

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

static void find_node(NodeIndex *x, const Breakpoint *b, bool own, Places *out) {
    (void)own;
    Json name = field(b, "node");
    index_path(x, json_string_data(&name), json_string_len(name), out);
}

static void find_task_index(NodeIndex *x, const Breakpoint *b, bool own, Places *out) {
    int64_t i = number_field(b, "task_index");
    if (own && index_flow(x)->main->scoped && i >= 0 && (uint64_t)i < index_count(x)) {
        places_add(out, index_at(x, (size_t)i));
    }
}

/* A task with an id has it for its name. */
static void find_task_id(NodeIndex *x, const Breakpoint *b, bool own, Places *out) {
    (void)own;
    Json id = field(b, "task_id");
    Places named = {0};
    index_name(x, json_string_data(&id), json_string_len(id), &named);
    for (size_t i = 0; i < named.n; i++) {
        const Task *task = named.items[i]->task;
        if (task && !json_is_none(task->id) && json_string_equal(task->id, id)) {
            places_add(out, named.items[i]);
        }
    }
    mem_free(named.items);
}

static void find_task_name(NodeIndex *x, const Breakpoint *b, bool own, Places *out) {
    (void)own;
    Json name = field(b, "task_name");
    for (size_t kind = 0; kind < KIND_COUNT; kind++) {
        if (json_string_is(name, kinds[kind].name)) {
            index_kind(x, (KindId)kind, out);
        }
    }
}

static void find_source(NodeIndex *x, const Breakpoint *b, bool own, Places *out) {
    char *file = text_field(b, "file");
    index_line(x, &(FileLine){file, (int)number_field(b, "line"), own}, out);
    mem_free(file);
}

/* own: the index is that of the workflow, not of nodes that came later. */
static void (*const finders[BREAK_PLACES])(NodeIndex *, const Breakpoint *, bool own, Places *) = {
    [BREAK_NODE] = find_node,       [BREAK_TASK_INDEX] = find_task_index,
    [BREAK_TASK_ID] = find_task_id, [BREAK_TASK_NAME] = find_task_name,
    [BREAK_SOURCE] = find_source,
};

/* ---- the points ---- */

typedef struct List {
    Breakpoint **items;
    size_t n;
} List;

struct Breakpoints {
    NodeIndex **flows; /* the workflow's first */
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

static void add_index(Breakpoints *p, const Flow *flow) {
    size_t need = flow->first_node + flow->nnodes;
    p->flows = mem_grow(p->flows, p->nflows, &p->flows_cap, sizeof(NodeIndex *));
    p->flows[p->nflows++] = index_new(flow);
    if (need > p->nlists) {
        p->lists = mem_realloc(p->lists, need * sizeof *p->lists);
        memset(p->lists + p->nlists, 0, (need - p->nlists) * sizeof *p->lists);
        p->nlists = need;
    }
}

Breakpoints *breakpoints_new(const Flow *flow) {
    Breakpoints *p = mem_zalloc(sizeof *p);
    p->suggestions = SUGGESTIONS_MAX;
    p->hint = mem_zalloc(sizeof *p->hint);
    add_index(p, flow);
    return p;
}

void breakpoints_free(Breakpoints *p) {
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

static void offer(Breakpoints *p, Suggestion *s, const char *name) {
    if (p->suggestions > 0) {
        p->suggestions--;
        suggestion_offer(s, name);
    }
}

static void offer_names(Breakpoints *p, Suggestion *s) {
    const NodeIndex *x = p->flows[0];
    for (size_t i = 0; i < index_count(x); i++) {
        offer(p, s, index_at(x, i)->name);
    }
}

static void offer_ids(Breakpoints *p, Suggestion *s) {
    const NodeIndex *x = p->flows[0];
    for (size_t i = 0; i < index_count(x); i++) {
        const Node *node = index_at(x, i);
        if (node->task && !json_is_none(node->task->id)) {
            offer(p, s, node->name);
        }
    }
}

static void offer_kinds(Breakpoints *p, Suggestion *s) {
    for (size_t kind = 0; kind < KIND_COUNT; kind++) {
        if (index_has_kind(p->flows[0], (KindId)kind)) {
            offer(p, s, kinds[kind].name);
        }
    }
}

static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void offer_files(Breakpoints *p, Suggestion *s) {
    const Flow *flow = index_flow(p->flows[0]);
    const char *last = NULL;
    for (size_t g = 0; g < flow->ngraphs; last = flow->graphs[g]->file, g++) {
        if (flow->graphs[g]->file != last) {
            offer(p, s, last_name(flow->graphs[g]->file));
        }
    }
}

/* "No node is called `bild`; did you mean `build`?" word: the part of the text that is compared. */
static Json missing(Breakpoints *p, const char *what, const char *text, const char *word,
                    void (*names)(Breakpoints *, Suggestion *)) {
    Suggestion s = suggestion_for(word, strlen(word));
    names(p, &s);
    if (s.best) {
        return json_string_fmt("%s `%.60s`; did you mean `%s`?", what, text, s.best);
    }
    return json_string_fmt("%s `%.60s`.", what, text);
}

static Json miss_node(Breakpoints *p, const Breakpoint *b) {
    char *name = text_field(b, "node");
    bool path = strchr(name, '/') != NULL;
    Json message = missing(p,
                           index_is_glob(name) ? "No node matches"
                           : path              ? "There is no node"
                                               : "No node is called",
                           name, last_name(name), offer_names);
    mem_free(name);
    return message;
}

static Json miss_task_index(Breakpoints *p, const Breakpoint *b) {
    const NodeIndex *x = p->flows[0];
    if (!index_flow(x)->main->scoped) {
        return json_string_fmt(
            "Only a workflow of the tasks dialect has tasks to count; this is one "
            "of the %s dialect: give the name of a `node`.",
            index_flow(x)->dialect);
    }
    return json_string_fmt("There is no task %lld: the workflow has %zu, counted from 0.",
                           (long long)number_field(b, "task_index"), index_count(x));
}

static Json miss_task_id(Breakpoints *p, const Breakpoint *b) {
    char *id = text_field(b, "task_id");
    Json message = missing(p, "No task has the id", id, id, offer_ids);
    mem_free(id);
    return message;
}

static Json miss_task_name(Breakpoints *p, const Breakpoint *b) {
    char *name = text_field(b, "task_name");
    Json message = missing(p, "No node of the workflow is a", name, name, offer_kinds);
    mem_free(name);
    return message;
}

static Json miss_source(Breakpoints *p, const Breakpoint *b) {
    char *file = text_field(b, "file");
    bool known = index_has_file(p->flows[0], file, true);
    Json message =
        known ? json_string_fmt("There is no node at or after line %lld of `%.60s`.",
                                (long long)number_field(b, "line"), file)
              : missing(p, "No file of the workflow is called", file, last_name(file), offer_files);
    mem_free(file);
    return message;
}

static Json (*const misses[BREAK_PLACES])(Breakpoints *, const Breakpoint *) = {
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

static void verify(Breakpoints *p, Breakpoint *b) {
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

static int compare_ids(const void *a, const void *b) {
    const Node *x = *(const Node *const *)a, *y = *(const Node *const *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* False: there would be too many. */
static bool attach(Breakpoints *p, Breakpoint *b, Places *found) {
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

static bool place(Breakpoints *p, Breakpoint *b, size_t flow) {
    Places found = {0};
    finders[b->place](p->flows[flow], b, flow == 0, &found);
    bool ok = attach(p, b, &found);
    mem_free(found.items);
    return ok;
}

/* NULL: it is in the lists of nodes alone. */
static List *list_of(Breakpoints *p, const Breakpoint *b) {
    return b->type == BREAK_STATE       ? &p->on_state
           : b->place != BREAK_NO_PLACE ? NULL
           : b->type == BREAK_EXCEPTION ? &p->on_error
                                        : &p->anywhere;
}

/* Where a number is among all, or would be. */
static size_t find_id(const Breakpoints *p, int64_t id) {
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

static void insert(Breakpoints *p, Breakpoint *b) {
    size_t at = p->n && p->all[p->n - 1]->id < b->id ? p->n : find_id(p, b->id);
    assert(at == p->n || p->all[at]->id != b->id);
    p->all = mem_grow(p->all, p->n, &p->cap, sizeof(Breakpoint *));
    memmove(p->all + at + 1, p->all + at, (p->n - at) * sizeof(Breakpoint *));
    p->all[at] = b;
    p->n++;
}

void breakpoints_add(Breakpoints *p, Breakpoint *b) {
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

bool breakpoints_remove(Breakpoints *p, int64_t id) {
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

Breakpoint *breakpoints_find(const Breakpoints *p, int64_t id) {
    size_t at = find_id(p, id);
    return at < p->n && p->all[at]->id == id ? p->all[at] : NULL;
}

size_t breakpoints_count(const Breakpoints *p) {
    return p->n;
}

Breakpoint *breakpoints_at(const Breakpoints *p, size_t i) {
    return i < p->n ? p->all[i] : NULL;
}

/* ---- flows that come and go ---- */

void breakpoints_add_flow(Breakpoints *p, const Flow *flow) {
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

static void leave_flow(Breakpoints *p, Breakpoint *b, const Flow *flow) {
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

void breakpoints_drop_flow(Breakpoints *p, const Flow *flow) {
    size_t at = 1;
    while (at < p->nflows && index_flow(p->flows[at]) != flow) {
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
    memmove(p->flows + at, p->flows + at + 1, (p->nflows - at - 1) * sizeof(NodeIndex *));
    p->nflows--;
}

/* ---- looking ---- */

static PointList lend(const List *list) {
    return (PointList){list->items, list->n};
}

PointList breakpoints_of_node(const Breakpoints *p, const Node *node) {
    return node->id < p->nlists ? lend(&p->lists[node->id]) : (PointList){NULL, 0};
}

bool breakpoints_pass(const Breakpoints *p, const Node *node) {
    return !p->anywhere.n && !p->on_state.n && (node->id >= p->nlists || !p->lists[node->id].n);
}

PointList breakpoints_anywhere(const Breakpoints *p) {
    return lend(&p->anywhere);
}

PointList breakpoints_on_state(const Breakpoints *p) {
    return lend(&p->on_state);
}

PointList breakpoints_on_error(const Breakpoints *p) {
    return lend(&p->on_error);
}

bool breakpoints_empty(const Breakpoints *p) {
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

Json breakpoints_json(const Breakpoints *p, const Breakpoint *b) {
    (void)p;
    Json list = json_array();
    for (size_t i = 0; i < b->places && i < POINTS_LISTED; i++) {
        list = json_array_push(list, place_json(b->at[i]));
    }
    return json_object_with(breakpoint_json(b), "places", list);
}

/* ---- of a flow, without points ---- */

const Node *breakpoints_node_at(const Flow *flow, const char *file, int line) {
    NodeIndex *x = index_new(flow);
    const Node *node = index_innermost(x, &(FileLine){file, line, true});
    index_free(x);
    return node;
}

bool breakpoints_matches(const Node *node, const char *glob) {
    NodeIndex *x = index_new(node->graph->flow);
    Places found = {0};
    bool matches = false;
    index_path(x, glob, strlen(glob), &found);
    for (size_t i = 0; i < found.n; i++) {
        matches = matches || found.items[i] == node;
    }
    mem_free(found.items);
    index_free(x);
    return matches;
}
