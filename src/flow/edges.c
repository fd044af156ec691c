/* edges.c - what leads where: `edges`, `goto`, and the order of the list. */
#include "edges.h"

#include "mem.h"
#include "suggest.h"

#include <string.h>

enum {
    OFFERED_MAX = 1000, /* names that a mistyped one is compared with */
    WORK_MAX = 100000000,
};

const char *const edge_keys[] = {"from",     "to", "when",        "fan_in",
                                 "parallel", "on", "description", NULL};
static const char *const rule_keys[] = {"if", "to", NULL};

/* ---- names ---- */

int find_node(Loader *ld, const GraphImpl *g, const YamlNode *name, bool ends) {
    Json key = json_string_valid(name->text, name->len);
    int index = name_table_find(&g->nodes, key);
    json_unref(key);
    if (index < 0) {
        Suggestion nearest = suggestion_for(name->text, name->len);
        for (size_t i = 0; i < g->graph.nnodes && i < OFFERED_MAX; i++) {
            suggestion_offer(&nearest, g->graph.nodes[i].name);
        }
        if (ends) {
            suggestion_offer(&nearest, "__end__");
            suggestion_offer(&nearest, "__start__");
        }
        report_at(ld->reporter, name->spot, "There is no node `%s`%s", shown(name->text, name->len),
                  did_you_mean_this(nearest.best));
    }
    return index;
}

bool edges_find_target(EdgeBuild *b, const YamlNode *name, int *index) {
    if (yaml_is(name, "__end__")) {
        *index = NODE_END;
        return true;
    }
    if (yaml_is(name, "__start__")) {
        b->broken = true;
        report_at(b->c->ld->reporter, name->spot,
                  "Nothing leads back to `__start__`; name the first node instead.");
        return false;
    }
    *index = find_node(b->c->ld, b->c->graph, name, true);
    b->broken = b->broken || *index < 0;
    return *index >= 0;
}

/* ---- drafts ---- */

static void add_target(Draft *d, int target) {
    d->targets = mem_grow(d->targets, d->ntargets, &d->cap, sizeof *d->targets);
    d->targets[d->ntargets++] = target;
}

static void copy_targets(Draft *to, const Draft *from) {
    for (size_t i = 0; i < from->ntargets; i++) add_target(to, from->targets[i]);
}

bool edges_load_targets(EdgeBuild *b, const YamlNode *to, Draft *draft) {
    Reporter *reporter = b->c->ld->reporter;
    bool list = to->kind == YAML_LIST && to->n > 1;
    bool *seen = list ? mem_zalloc(b->n + 1) : NULL; /* the last for __end__ */
    const YamlNode *name;
    int target;
    if (to->kind == YAML_LIST && to->n == 0) report_at(reporter, to->spot, "`to` names no node.");
    for (size_t at = 0; (name = next_name(b->c->ld, to, "`to`", &at));) {
        if (!edges_find_target(b, name, &target)) continue;
        bool *there = list ? &seen[target < 0 ? b->n : (size_t)target] : &(bool){false};
        if (*there) {
            report_at(reporter, name->spot, "`%s` is named twice in one edge.",
                      shown(name->text, name->len));
        } else {
            *there = true;
            add_target(draft, target);
        }
    }
    mem_free(seen);
    draft->parallel = draft->parallel || draft->ntargets > 1;
    b->broken = b->broken || draft->ntargets == 0;
    return draft->ntargets > 0;
}

/* A further branch of an edge that is there. */
static void merge_parallel(EdgeBuild *b, Draft *into, const Draft *draft) {
    Reporter *reporter = b->c->ld->reporter;
    for (size_t i = 0; i < into->ntargets; i++) {
        if (into->targets[i] == draft->targets[0]) {
            report_at(reporter, draft->spot, "This branch is there already.");
            return;
        }
    }
    copy_targets(into, draft);
    if (draft->join_given && into->join_given && draft->join != into->join) {
        report_at(reporter, draft->spot,
                  "The parallel edges of a node join in one place, but `fan_in` differs.");
    } else if (draft->join_given) {
        into->join = draft->join;
        into->join_given = true;
    }
}

void edges_add(EdgeBuild *b, Out *out, const Draft *draft) {
    for (size_t i = 0; draft->grows && i < out->n; i++) {
        if (out->items[i].grows) {
            merge_parallel(b, &out->items[i], draft);
            return;
        }
    }
    if (out->closed) {
        int line, col;
        yaml_line_col(out->closed_spot.file, out->closed_spot.at, &line, &col);
        if (b->lenient) {
            report_warning(b->c->ld->reporter, draft->spot,
                           "This edge is never taken: the one in line %d has no condition and "
                           "comes first.",
                           line);
            return;
        }
        report_at(b->c->ld->reporter, draft->spot,
                  "This edge is never taken: the one in line %d has no condition and comes first. "
                  "Parallel branches are written `to: [a, b]`.",
                  line);
        return;
    }
    out->items = mem_grow(out->items, out->n, &out->cap, sizeof *out->items);
    Draft *copy = &out->items[out->n++];
    *copy = *draft;
    copy->targets = NULL;
    copy->ntargets = copy->cap = 0;
    copy_targets(copy, draft);
    if (!draft->when) {
        out->closed = true;
        out->closed_spot = draft->spot;
    }
}

void edges_add_plain(EdgeBuild *b, Out *out, int target, Spot spot) {
    Draft d = {.join = NODE_END, .spot = spot};
    add_target(&d, target);
    edges_add(b, out, &d);
    mem_free(d.targets);
}

/* ---- goto ---- */

/* A condition that does not compile has been reported, and must not be taken for none. */
static bool load_condition(EdgeBuild *b, const YamlNode *when, Draft *draft, Scope scope) {
    draft->when = when ? load_expr(b->c->ld, when, scope) : NULL;
    return !when || draft->when;
}

static void load_rule(EdgeBuild *b, Out *out, const YamlNode *rule) {
    Draft d = {.join = NODE_END, .spot = rule->spot};
    Loader *ld = b->c->ld;
    if (!expect_map(ld, rule, "A rule of `goto` (`{if: ..., to: ...}`)")) return;
    check_keys(ld, rule, (KeyList){.names = rule_keys}, "a rule of `goto`");
    const YamlNode *to = yaml_get(rule, "to");
    bool fine = load_condition(b, yaml_get(rule, "if"), &d, b->c->scope);
    if (!to) {
        report_at(ld->reporter, rule->spot, "A rule of `goto` needs `to`: the node to go to.");
    } else if (edges_load_targets(b, to, &d) && fine) {
        edges_add(b, out, &d);
    }
    b->broken = b->broken || !fine || !to;
    mem_free(d.targets);
}

static void load_goto(EdgeBuild *b, size_t i, const YamlNode *value) {
    Out *out = &b->after[i];
    if (value->kind == YAML_LIST) {
        for (size_t k = 0; k < value->n; k++) load_rule(b, out, value->items[k]);
    } else if (value->kind == YAML_MAP) {
        load_rule(b, out, value);
    } else {
        Draft d = {.join = NODE_END, .spot = value->spot};
        if (edges_load_targets(b, value, &d)) edges_add(b, out, &d);
        mem_free(d.targets);
    }
}

/* ---- the list of edges ---- */

/* Where to, and when; false when the edge cannot be used. */
static bool load_way(EdgeBuild *b, const YamlNode *edge, Draft *d) {
    Loader *ld = b->c->ld;
    const YamlNode *parallel = yaml_get(edge, "parallel"), *to = yaml_get(edge, "to");
    const YamlNode *fan_in = yaml_get(edge, "fan_in"), *when = yaml_get(edge, "when");
    if (parallel) {
        field_bool(ld, parallel, "`parallel`", &d->parallel);
        d->grows = d->parallel && to && !(to->kind == YAML_LIST && to->n > 1);
        if (d->grows && when) {
            report_at(ld->reporter, parallel->spot,
                      "`parallel: true` and `when` do not go together; write one edge with "
                      "`to: [a, b]` and the condition.");
        }
    }
    bool fine = to && edges_load_targets(b, to, d);
    fine = load_condition(b, when, d, b->c->scope) && fine;
    if (fan_in && field_text(ld, fan_in, "`fan_in`") && edges_find_target(b, fan_in, &d->join)) {
        d->join_given = true;
        if (!d->parallel) {
            report_at(ld->reporter, fan_in->spot,
                      "`fan_in` says where parallel branches join, but this edge has one target; "
                      "add `parallel: true` or more targets.");
        }
    }
    return fine;
}

static void load_edge(EdgeBuild *b, const YamlNode *edge) {
    Loader *ld = b->c->ld;
    if (!expect_map(ld, edge, "An edge (`{from: a, to: b}`)")) {
        b->broken = true;
        return;
    }
    const YamlNode *on = yaml_get(edge, "on"), *description = yaml_get(edge, "description");
    const YamlNode *from = yaml_get(edge, "from");
    check_keys(ld, edge, (KeyList){.names = edge_keys}, "an edge");
    if (on && !yaml_is(on, "error")) report_at(ld->reporter, on->spot, "`on` can only be `error`.");
    if (description) field_text(ld, description, "A description");
    if (!from || !yaml_get(edge, "to")) {
        b->broken = true;
        report_at(ld->reporter, edge->spot, "An edge needs `%s`.", from ? "to" : "from");
    }
    Draft d = {.join = NODE_END, .spot = edge->spot};
    if (!load_way(b, edge, &d)) {
        b->broken = true;
        d.ntargets = 0;
    }
    const YamlNode *name;
    for (size_t at = 0; from && (name = next_name(ld, from, "`from`", &at));) {
        bool start = yaml_is(name, "__start__"), end = yaml_is(name, "__end__");
        int index = start ? (int)b->n : end ? -1 : find_node(ld, b->c->graph, name, true);
        b->broken = b->broken || (index < 0 && !end);
        if (end) {
            report_at(ld->reporter, name->spot, "Nothing comes after `__end__`.");
        } else if (on && start) {
            report_at(ld->reporter, name->spot, "`__start__` does nothing that could fail.");
        } else if (index >= 0 && d.ntargets > 0) {
            edges_add(b, &(on ? b->error : b->after)[index], &d);
        }
    }
    mem_free(d.targets);
}

/* ---- what the file leaves out ---- */

static void fill_from_edges(EdgeBuild *b, const YamlNode *const *sources, const YamlNode *edges) {
    if (edges->kind != YAML_LIST) {
        b->broken = true;
        report_at(b->c->ld->reporter, edges->spot,
                  "The edges must be a list (`- {from: a, to: b}`).");
    }
    for (size_t i = 0; edges->kind == YAML_LIST && i < edges->n; i++) load_edge(b, edges->items[i]);
    if (b->after[b->n].n == 0) edges_add_plain(b, &b->after[b->n], 0, sources[0]->spot);
    int *joined = mem_alloc((b->n ? b->n : 1) * sizeof *joined);
    for (size_t i = 0; i < b->n; i++) joined[i] = NOT_JOINED;
    edges_lead_to_joins(b, joined);
    for (size_t i = 0; i < b->n; i++) {
        if (b->after[i].n == 0) {
            b->dead_end[i] = joined[i] == NOT_JOINED;
            edges_add_plain(b, &b->after[i], b->dead_end[i] ? NODE_END : joined[i],
                            sources[i]->spot);
        }
    }
    mem_free(joined);
}

static void check_reached(EdgeBuild *b, const YamlNode *const *sources) {
    bool *reached = mem_zalloc(b->n + 1);
    edges_mark_reached(b, reached);
    for (size_t i = 0; i < b->n; i++) {
        const char *name = b->graph->nodes[i].name;
        const YamlNode *said = yaml_get(sources[i], "name");
        Spot spot = (said ? said : sources[i])->spot;
        if (!reached[i] && b->lenient) {
            report_warning(b->c->ld->reporter, spot, "Node `%s` is never reached from __start__.",
                           name);
        } else if (!reached[i]) {
            report_at(b->c->ld->reporter, spot, "Node `%s` is never reached from __start__.", name);
        } else if (b->dead_end[i]) {
            report_warning(b->c->ld->reporter, spot,
                           "No edge leads on from `%s`, so the run ends after it; write "
                           "`{from: %s, to: __end__}` if that is meant.",
                           name, name);
        }
    }
    mem_free(reached);
}

/* ---- the finished edges ---- */

static Edges finish(Loader *ld, Out *out) {
    Edge *items = arena_alloc(ld->arena, (out->n ? out->n : 1) * sizeof *items);
    for (size_t i = 0; i < out->n; i++) {
        Draft *d = &out->items[i];
        int *targets = arena_alloc(ld->arena, (d->ntargets ? d->ntargets : 1) * sizeof *targets);
        memcpy(targets, d->targets, d->ntargets * sizeof *targets);
        items[i] = (Edge){.when = d->when,
                          .targets = targets,
                          .ntargets = d->ntargets,
                          .join = d->join,
                          .parallel = d->parallel,
                          .gathers = d->gathers};
        yaml_line_col(d->spot.file, d->spot.at, &items[i].line, &items[i].col);
        mem_free(d->targets);
    }
    mem_free(out->items);
    return (Edges){items, out->n};
}

void edges_begin(EdgeBuild *b, const NodeContext *c) {
    Graph *graph = &c->graph->graph;
    *b = (EdgeBuild){.c = c, .graph = graph, .n = graph->nnodes, .work = WORK_MAX};
    b->after = mem_zalloc((b->n + 1) * sizeof *b->after);
    b->error = mem_zalloc((b->n + 1) * sizeof *b->error);
    b->fan_in = mem_zalloc(b->n + 1);
    b->dead_end = mem_zalloc(b->n + 1);
}

void edges_end(EdgeBuild *b, const YamlNode *const *sources) {
    Loader *ld = b->c->ld;
    edges_find_joins(b);
    if (!b->broken) check_reached(b, sources);
    for (size_t i = 0; i < b->n; i++) {
        b->graph->nodes[i].edges = finish(ld, &b->after[i]);
        b->graph->nodes[i].error_edges = finish(ld, &b->error[i]);
    }
    b->graph->start = finish(ld, &b->after[b->n]);
    finish(ld, &b->error[b->n]);
    mem_free(b->after);
    mem_free(b->error);
    mem_free(b->fan_in);
    mem_free(b->dead_end);
}

void load_edges(const NodeContext *c, const YamlNode *const *sources, const YamlNode *edges) {
    EdgeBuild b;
    edges_begin(&b, c);
    for (size_t i = 0; i < b.n; i++) {
        const YamlNode *jump = yaml_get(sources[i], "goto");
        const YamlNode *fan_in = yaml_get(sources[i], "fan_in");
        if (jump) load_goto(&b, i, jump);
        if (fan_in) field_bool(c->ld, fan_in, "`fan_in` of a node", &b.fan_in[i]);
    }
    if (edges) {
        fill_from_edges(&b, sources, edges);
    } else { /* in order */
        edges_add_plain(&b, &b.after[b.n], 0, sources[0]->spot);
        for (size_t i = 0; i < b.n; i++) {
            if (!b.after[i].closed) {
                int next = i + 1 < b.n ? (int)i + 1 : NODE_END;
                edges_add_plain(&b, &b.after[i], next, sources[i]->spot);
            }
        }
    }
    edges_end(&b, sources);
}
