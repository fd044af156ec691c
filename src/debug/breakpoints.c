/* breakpoints.c - breakpoints by node.
 *
 * `lists` has the breakpoints of each node, by its number: all that a step looks at. An index of
 * each flow (node_index.h) serves to find the nodes that a breakpoint means: adding one is a
 * look-up, unless it is a glob.
 */
#include "breakpoints.h"

#include "ascii.h"
#include "bisect.h"
#include "json_build.h"
#include "mem.h"
#include "node_index.h"
#include "problems.h"
#include "suggest.h"

#include <assert.h>
#include <stdlib.h>

/* ---- where a breakpoint is ---- */

static Json field(const Breakpoint *b, const char *name) {
    return json_object_get_c(b->spec, name);
}

static int64_t number_field(const Breakpoint *b, const char *name) {
    return (int64_t)json_to_double(field(b, name));
}

static void find_node(NodeIndex *x, const Breakpoint *b, bool own, NodeList *out) {
    (void)own;
    Json name = field(b, "node");
    index_path(x, json_string_data(&name), json_string_len(name), out);
}

static void find_task_index(NodeIndex *x, const Breakpoint *b, bool own, NodeList *out) {
    int64_t i = number_field(b, "task_index");
    if (own && index_flow(x)->main->scoped && i >= 0 && (uint64_t)i < index_count(x)) {
        nodes_add(out, index_at(x, (size_t)i));
    }
}

/* A task with an id has it for its name. */
static void find_task_id(NodeIndex *x, const Breakpoint *b, bool own, NodeList *out) {
    (void)own;
    Json id = field(b, "task_id");
    NodeList named = {0};
    index_name(x, json_string_data(&id), json_string_len(id), &named);
    for (size_t i = 0; i < named.n; i++) {
        const Task *task = named.items[i]->task;
        if (task && !json_is_none(task->id) && json_string_equal(task->id, id)) {
            nodes_add(out, named.items[i]);
        }
    }
    mem_free(named.items);
}

static void find_task_name(NodeIndex *x, const Breakpoint *b, bool own, NodeList *out) {
    (void)own;
    Json name = field(b, "task_name");
    for (size_t kind = 0; kind < KIND_COUNT; kind++) {
        if (kind != KIND_OUTSIDE && json_string_is(name, kinds[kind].name)) {
            index_kind(x, (KindId)kind, out);
        }
    }
    NodeList outside = {0}; /* each with a name of its own */
    index_kind(x, KIND_OUTSIDE, &outside);
    for (size_t i = 0; i < outside.n; i++) {
        if (json_string_is(name, outside.items[i]->kind->name)) nodes_add(out, outside.items[i]);
    }
    mem_free(outside.items);
}

static void find_task_title(NodeIndex *x, const Breakpoint *b, bool own, NodeList *out) {
    (void)own;
    index_title(x, field(b, "task_title"), TITLE_BLANK, out);
}

static void find_source(NodeIndex *x, const Breakpoint *b, bool own, NodeList *out) {
    Json file = field(b, "file");
    index_line(x, &(FileLine){json_string_data(&file), (int)number_field(b, "line"), own}, out);
}

/* own: the index is that of the workflow, not of nodes that came later. */
static void (*const finders[BREAK_PLACES])(NodeIndex *, const Breakpoint *, bool own,
                                           NodeList *) = {
    [BREAK_NODE] = find_node,
    [BREAK_TASK_INDEX] = find_task_index,
    [BREAK_TASK_ID] = find_task_id,
    [BREAK_TASK_NAME] = find_task_name,
    [BREAK_TASK_TITLE] = find_task_title,
    [BREAK_SOURCE] = find_source,
};

/* ---- all of them ---- */

typedef PointList List;

struct Breakpoints {
    NodeIndex **flows; /* the workflow's first */
    size_t nflows, flows_cap;
    List *lists; /* by number of the node */
    size_t nlists;
    Breakpoint **all; /* in order of their numbers */
    size_t n, cap;
    List anywhere, on_state, on_error;
    size_t places; /* of all together */
    size_t hint;   /* where an enabled one was last seen */
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
    add_index(p, flow);
    return p;
}

void breakpoints_free(Breakpoints *p) {
    if (!p) return;
    for (size_t i = 0; i < p->n; i++) breakpoint_free(p->all[i]);
    for (size_t i = 0; i < p->nlists; i++) mem_free(p->lists[i].items);
    for (size_t i = 0; i < p->nflows; i++) index_free(p->flows[i]);
    mem_free(p->anywhere.items);
    mem_free(p->on_state.items);
    mem_free(p->on_error.items);
    mem_free(p->flows);
    mem_free(p->lists);
    mem_free(p->all);
    mem_free(p);
}

/* ---- what is said of a breakpoint ---- */

static void set_message(Breakpoint *b, Json message) {
    json_put(&b->message, message);
}

static void offer(Breakpoints *p, Suggestion *s, const char *name) {
    if (p->suggestions > 0) {
        p->suggestions--;
        suggestion_offer(s, name);
    }
}

/* The names that could have been meant instead. */
static void offer_names(Breakpoints *p, BreakType place, Suggestion *s) {
    const NodeIndex *x = p->flows[0];
    const Flow *flow = index_flow(x);
    bool nodes = place == BREAK_NODE || place == BREAK_TASK_ID;
    for (size_t i = 0; nodes && i < index_count(x); i++) {
        const Node *node = index_at(x, i);
        if (place == BREAK_NODE || (node->task && !json_is_none(node->task->id))) {
            offer(p, s, node->name);
        }
    }
    bool titles = place == BREAK_NODE || place == BREAK_TASK_TITLE;
    for (size_t i = 0; titles && i < index_count(x); i++) {
        const Task *task = index_at(x, i)->task;
        if (task && json_kind(task->title) == JSON_STRING) {
            offer(p, s, json_string_data(&task->title)); /* a short text is in the Json itself */
        }
    }
    for (size_t kind = 0; place == BREAK_TASK_NAME && kind < KIND_COUNT; kind++) {
        bool row = kind != KIND_OUTSIDE && index_has_kind(x, (KindId)kind);
        if (row) offer(p, s, kinds[kind].name);
    }
    for (size_t i = 0; place == BREAK_TASK_NAME && i < index_count(x); i++) {
        const Kind *kind = index_at(x, i)->kind;
        if (kind->outside) offer(p, s, kind->name);
    }
    for (size_t g = 0; place == BREAK_SOURCE && g < flow->ngraphs; g++) {
        if (!g || flow->graphs[g]->file != flow->graphs[g - 1]->file) {
            offer(p, s, text_after_last(flow->graphs[g]->file, '/'));
        }
    }
}

/* "No node is called `bild`; did you mean `build`?" */
static Json missing(Breakpoints *p, const Breakpoint *b) {
    static const char *const sentences[] = {[BREAK_TASK_ID] = "No task has the id",
                                            [BREAK_TASK_NAME] = "No node of the workflow is a",
                                            [BREAK_TASK_TITLE] = "No task has the title",
                                            [BREAK_SOURCE] = "No file of the workflow is called"};
    const Flow *flow = index_flow(p->flows[0]);
    if (b->place == BREAK_TASK_INDEX) {
        return flow->main->scoped
                   ? json_string_fmt("There is no task %lld: the workflow has %zu, counted from 0.",
                                     (long long)number_field(b, "task_index"),
                                     index_count(p->flows[0]))
                   : json_string_fmt(
                         "Only a workflow of the tasks dialect has tasks to count; this is one "
                         "of the %s dialect: give the name of a `node`.",
                         flow->dialect);
    }
    Json value = field(b, break_types[b->place].need);
    const char *text = json_string_data(&value);
    if (b->place == BREAK_SOURCE && index_has_file(p->flows[0], text, true)) {
        return json_string_fmt("There is no node at or after line %lld of `%.60s`.",
                               (long long)number_field(b, "line"), text);
    }
    bool path = b->place == BREAK_NODE || b->place == BREAK_SOURCE;
    const char *word = path ? text_after_last(text, '/') : text;
    Suggestion s = suggestion_for(word, strlen(word));
    offer_names(p, b->place, &s);
    const char *sentence = b->place != BREAK_NODE ? sentences[b->place]
                           : index_is_glob(text)  ? "No node matches"
                           : strchr(text, '/')    ? "There is no node"
                                                  : "No node is called";
    return json_string_fmt("%s `%.60s`%s", sentence, text, did_you_mean_this(s.best));
}

/* One of its nodes has its title as it is written. */
static bool has_title(const Breakpoint *b) {
    bool has = false;
    for (size_t i = 0; i < b->places && !has; i++) {
        has = title_match(b->at[i], field(b, "task_title")) == TITLE_WRITTEN;
    }
    return has;
}

/* Its expressions have to fit one of its nodes at least. */
static void verify(Breakpoints *p, Breakpoint *b) {
    Error why = ERROR_INIT;
    const Node *node = b->places ? b->at[0] : NULL;
    Json message = json_none();
    b->verified = b->place == BREAK_NO_PLACE;
    for (size_t i = 0; !b->verified && i < b->places; i++) {
        b->verified = breakpoint_fits(b, b->at[i], &why);
    }
    if (!b->verified) {
        message = node ? json_string_c(why.msg) : missing(p, b);
    } else if (node && b->place == BREAK_TASK_TITLE && !has_title(b)) {
        message = json_string_fmt("`%s` is titled `%.60s`; that is compared when it is reached.",
                                  node->name, json_string_data(&node->task->title));
    } else if (node && b->place == BREAK_SOURCE && node->line != number_field(b, "line")) {
        message = json_string_fmt("Moved to line %d, where `%s` begins.", node->line, node->name);
    }
    set_message(b, message);
}

/* ---- adding and removing ---- */

static int compare_ids(const void *a, const void *b) {
    const Node *x = *(const Node *const *)a, *y = *(const Node *const *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* False: there would be too many. */
static bool place(Breakpoints *p, Breakpoint *b, size_t flow) {
    NodeList found = {0};
    finders[b->place](p->flows[flow], b, flow == 0, &found);
    bool ok = found.n <= POINTS_PLACES_MAX - p->places;
    if (ok && found.n) {
        qsort(found.items, found.n, sizeof *found.items, compare_ids);
        b->at = mem_realloc(b->at, (b->places + found.n) * sizeof *b->at);
        memcpy(b->at + b->places, found.items, found.n * sizeof *b->at);
        b->places += found.n;
        p->places += found.n;
    }
    for (size_t i = 0; ok && b->type != BREAK_STATE && i < found.n; i++) {
        list_add(&p->lists[found.items[i]->id], b);
    }
    mem_free(found.items);
    return ok;
}

/* In all flows from one on. A node that none is called in any of them can be the title of a task. False: there would be
 * too many. */
static bool place_from(Breakpoints *p, Breakpoint *b, size_t first) {
    bool fits = true;
    NodeList titled = {0};
    for (size_t i = first; fits && i < p->nflows; i++) fits = place(p, b, i);
    if (b->place != BREAK_NODE || b->places || !fits) return fits;
    for (size_t i = first; i < p->nflows; i++) {
        index_title(p->flows[i], field(b, "node"), TITLE_OPEN, &titled);
    }
    mem_free(titled.items);
    if (!titled.n) return true;
    breakpoint_take_title(b);
    return place_from(p, b, first);
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
    BISECT(found, p->n, i, p->all[i]->id < id);
    return found;
}

void breakpoints_add(Breakpoints *p, Breakpoint *b) {
    List *list = list_of(p, b);
    size_t at = p->n && p->all[p->n - 1]->id < b->id ? p->n : find_id(p, b->id);
    assert(at == p->n || p->all[at]->id != b->id);
    p->all = mem_grow(p->all, p->n, &p->cap, sizeof(Breakpoint *));
    memmove(p->all + at + 1, p->all + at, (p->n - at) * sizeof(Breakpoint *));
    p->all[at] = b;
    p->n++;
    if (list) list_add(list, b);
    bool fits = b->place == BREAK_NO_PLACE || place_from(p, b, 0);
    verify(p, b);
    if (!fits && b->places == 0) {
        set_message(
            b, json_string_fmt("All breakpoints together would be at more than %d nodes; delete "
                               "some that match many.",
                               POINTS_PLACES_MAX));
    }
}

bool breakpoints_remove(Breakpoints *p, int64_t id) {
    size_t at = find_id(p, id);
    if (at == p->n || p->all[at]->id != id) return false;
    Breakpoint *b = p->all[at];
    List *list = list_of(p, b);
    if (list) list_remove(list, b);
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
        if (b->place != BREAK_NO_PLACE && place_from(p, b, p->nflows - 1) && b->places > before &&
            !b->verified) {
            verify(p, b);
        }
    }
}

static void leave_flow(Breakpoints *p, Breakpoint *b, const Flow *flow) {
    size_t kept = 0;
    for (size_t i = 0; i < b->places; i++) {
        uint32_t id = b->at[i]->id;
        if (id < flow->first_node || id - flow->first_node >= flow->nnodes) {
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
    while (at < p->nflows && index_flow(p->flows[at]) != flow) at++;
    if (at >= p->nflows) return;
    for (size_t i = 0; i < flow->nnodes; i++) {
        List *list = &p->lists[flow->first_node + i];
        mem_free(list->items);
        *list = (List){0};
    }
    for (size_t i = 0; i < p->n; i++) leave_flow(p, p->all[i], flow);
    index_free(p->flows[at]);
    memmove(p->flows + at, p->flows + at + 1, (p->nflows - at - 1) * sizeof(NodeIndex *));
    p->nflows--;
}

/* ---- looking ---- */

PointList breakpoints_of_node(const Breakpoints *p, const Node *node) {
    return node->id < p->nlists ? p->lists[node->id] : (PointList){NULL, 0};
}

bool breakpoints_pass(const Breakpoints *p, const Node *node) {
    return !p->anywhere.n && !p->on_state.n && (node->id >= p->nlists || !p->lists[node->id].n);
}

PointList breakpoints_anywhere(const Breakpoints *p) {
    return p->anywhere;
}

PointList breakpoints_on_state(const Breakpoints *p) {
    return p->on_state;
}

PointList breakpoints_on_error(const Breakpoints *p) {
    return p->on_error;
}

bool breakpoints_empty(Breakpoints *p) {
    if (p->hint >= p->n || !p->all[p->hint]->enabled) {
        for (p->hint = 0; p->hint < p->n && !p->all[p->hint]->enabled;) p->hint++;
    }
    return p->hint == p->n;
}

Json breakpoints_json(const Breakpoints *p, const Breakpoint *b) {
    (void)p;
    Json list = json_array();
    for (size_t i = 0; i < b->places && i < POINTS_LISTED; i++) {
        const Node *node = b->at[i];
        list = json_array_push(list,
                               OBJECT(KEY("node", json_ref(node->name_json)),
                                      KEY("file", node->file), KEY("line", json_int(node->line))));
    }
    return OBJECT_ADD(breakpoint_json(b), KEY("places", list));
}
