/* joins.c - where parallel branches come together, and what is reached at all.
 *
 * Branches join at the first node that every way from every one of them to the end must pass: the
 * nearest common ancestor of their first nodes in the tree of post-dominators. That tree is made
 * once for a graph, by going over the nodes in reverse postorder of the reversed graph until nothing
 * changes (Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm"). Edges for errors do not
 * count: a branch that fails leaves the usual way.
 *
 * All of it has a budget of work for the graph, so that a file made to be hard cannot take forever;
 * what is left undecided then is reported, and can be said with fan_in. */
#include "edges.h"

#include "mem.h"

#include <string.h>

/* ---- walking ---- */

typedef struct Walk {
    const EdgeBuild *b;
    bool *seen; /* of nodes */
    int *queue;
    size_t head, tail;
} Walk;

static Walk walk_new(const EdgeBuild *b) {
    return (Walk){b, mem_zalloc(b->n + 1), mem_alloc((b->n + 1) * sizeof(int)), 0, 0};
}

static void walk_clear(Walk *w) {
    mem_free(w->seen);
    mem_free(w->queue);
}

static void walk_add(Walk *w, int node) {
    if (node >= 0 && !w->seen[node]) {
        w->seen[node] = true;
        w->queue[w->tail++] = node;
    }
}

static void walk_add_targets(Walk *w, const Draft *d) {
    for (size_t i = 0; i < d->ntargets; i++) walk_add(w, d->targets[i]);
}

static void walk_add_out(Walk *w, const Out *out) {
    for (size_t i = 0; i < out->n; i++) walk_add_targets(w, &out->items[i]);
}

static bool spend(EdgeBuild *b, uint64_t units) {
    bool enough = b->work >= units;
    b->work = enough ? b->work - units : 0;
    return enough;
}

void edges_mark_reached(const EdgeBuild *b, bool *reached) {
    Walk w = walk_new(b);
    walk_add_out(&w, &b->after[b->n]);
    while (w.head < w.tail) {
        int node = w.queue[w.head++];
        walk_add_out(&w, &b->after[node]);
        walk_add_out(&w, &b->error[node]);
    }
    memcpy(reached, w.seen, b->n);
    walk_clear(&w);
}

/* ---- dead ends in branches ---- */

static void lead_to_join(EdgeBuild *b, const Draft *d, int *joined) {
    Walk w = walk_new(b);
    if (d->join >= 0) w.seen[d->join] = true;
    walk_add_targets(&w, d);
    while (w.head < w.tail && spend(b, 1)) {
        int node = w.queue[w.head++];
        if (b->after[node].n == 0 && joined[node] == NOT_JOINED) joined[node] = d->join;
        const Out *outs[] = {&b->after[node], &b->error[node]};
        for (size_t i = 0; i < 2; i++) {
            for (size_t k = 0; k < outs[i]->n; k++) {
                const Draft *edge = &outs[i]->items[k];
                if (edge->join_given) {
                    walk_add(&w, edge->join); /* over branches that have a join of their own */
                } else {
                    walk_add_targets(&w, edge);
                }
            }
        }
    }
    walk_clear(&w);
}

void edges_lead_to_joins(EdgeBuild *b, int *joined) {
    for (size_t i = 0; i < 2 * (b->n + 1); i++) {
        const Out *out = i % 2 ? &b->error[i / 2] : &b->after[i / 2];
        for (size_t k = 0; k < out->n; k++) {
            if (out->items[k].join_given && spend(b, b->n / 8 + 1)) {
                lead_to_join(b, &out->items[k], joined);
            }
        }
    }
}

/* ---- post-dominators ---- */

/* Node number n is the end. */
typedef struct Tree {
    EdgeBuild *b;
    size_t n;
    size_t *first_pred; /* n + 2: where the predecessors of a node start in preds */
    int *preds;
    int *order;  /* nodes that reach the end, in postorder of the reversed graph */
    int *number; /* place in order; -1: does not reach the end */
    size_t norder;
    int *parent; /* in the tree; -1: not known */
} Tree;

static size_t vertex(const Tree *t, int target) {
    return target < 0 ? t->n : (size_t)target;
}

/* Counts the predecessors of each node, or puts them where they belong. */
static void go_over_arcs(Tree *t, bool place) {
    for (size_t i = 0; i < t->n; i++) {
        const Out *out = &t->b->after[i];
        for (size_t k = 0; k < out->n; k++) {
            for (size_t m = 0; m < out->items[k].ntargets; m++) {
                size_t to = vertex(t, out->items[k].targets[m]);
                if (place) {
                    t->preds[t->first_pred[to]++] = (int)i;
                } else {
                    t->first_pred[to + 1]++;
                }
            }
        }
    }
}

static void find_preds(Tree *t) {
    t->first_pred = mem_zalloc((t->n + 2) * sizeof *t->first_pred);
    go_over_arcs(t, false);
    for (size_t i = 0; i <= t->n; i++) t->first_pred[i + 1] += t->first_pred[i];
    size_t narcs = t->first_pred[t->n + 1];
    t->preds = mem_alloc((narcs ? narcs : 1) * sizeof *t->preds);
    go_over_arcs(t, true);
    /* Placing has moved each start to the start of the next. */
    memmove(t->first_pred + 1, t->first_pred, (t->n + 1) * sizeof *t->first_pred);
    t->first_pred[0] = 0;
}

static void find_order(Tree *t) {
    size_t *next = mem_alloc((t->n + 1) * sizeof *next);
    int *stack = mem_alloc((t->n + 1) * sizeof *stack);
    bool *seen = mem_zalloc(t->n + 1);
    size_t depth = 0;
    memcpy(next, t->first_pred, (t->n + 1) * sizeof *next);
    stack[depth++] = (int)t->n;
    seen[t->n] = true;
    while (depth > 0) {
        int v = stack[depth - 1];
        if (next[v] < t->first_pred[v + 1]) {
            int pred = t->preds[next[v]++];
            if (!seen[pred]) {
                seen[pred] = true;
                stack[depth++] = pred;
            }
        } else {
            t->number[v] = (int)t->norder;
            t->order[t->norder++] = v;
            depth--;
        }
    }
    mem_free(next);
    mem_free(stack);
    mem_free(seen);
}

/* The nearest common ancestor of two nodes that are in the tree; -1 when the budget is used up. */
static int common(Tree *t, int a, int c) {
    while (a != c) {
        int *lower = t->number[a] < t->number[c] ? &a : &c;
        if (!spend(t->b, 1)) return -1;
        *lower = t->parent[*lower];
    }
    return a;
}

static int parent_of(Tree *t, int v) {
    const Out *out = &t->b->after[v];
    int parent = -1;
    for (size_t k = 0; k < out->n; k++) {
        for (size_t m = 0; m < out->items[k].ntargets; m++) {
            int s = (int)vertex(t, out->items[k].targets[m]);
            if (!spend(t->b, 1)) return -1;
            if (t->parent[s] >= 0) parent = parent < 0 ? s : common(t, s, parent);
        }
    }
    return parent;
}

static Tree *tree_new(EdgeBuild *b) {
    Tree *t = mem_zalloc(sizeof *t);
    t->b = b;
    t->n = b->n;
    t->order = mem_alloc((t->n + 1) * sizeof *t->order);
    t->number = mem_alloc((t->n + 1) * sizeof *t->number);
    t->parent = mem_alloc((t->n + 1) * sizeof *t->parent);
    for (size_t i = 0; i <= t->n; i++) t->number[i] = t->parent[i] = -1;
    find_preds(t);
    find_order(t);
    bool changed = true;
    t->parent[t->n] = (int)t->n;
    while (changed && b->work > 0) {
        changed = false;
        for (size_t i = t->norder; i > 0; i--) {
            int v = t->order[i - 1], parent = v == (int)t->n ? v : parent_of(t, v);
            changed = changed || parent != t->parent[v];
            t->parent[v] = parent;
        }
    }
    return t;
}

static void tree_free(Tree *t) {
    if (t) {
        mem_free(t->first_pred);
        mem_free(t->preds);
        mem_free(t->order);
        mem_free(t->number);
        mem_free(t->parent);
        mem_free(t);
    }
}

/* ---- joins ---- */

static int tree_join(Tree *t, const Draft *d) {
    int join = (int)vertex(t, d->targets[0]);
    if (t->parent[join] < 0) return NODE_END;
    if (d->ntargets == 1) join = t->parent[join];
    for (size_t i = 1; i < d->ntargets && join >= 0; i++) {
        int target = (int)vertex(t, d->targets[i]);
        join = t->parent[target] < 0 ? (int)t->n : common(t, join, target);
    }
    return join < 0 || join == (int)t->n ? NODE_END : join;
}

/* Goes from a node wherever the edges lead; what was reached is in the queue. */
static Walk walk_from(EdgeBuild *b, int node) {
    Walk w = walk_new(b);
    walk_add(&w, node);
    while (w.head < w.tail && spend(b, 1)) walk_add_out(&w, &b->after[w.queue[w.head++]]);
    return w;
}

/* The nearest node with `fan_in: true` that all targets reach; NODE_END when there is none. */
static int marked_join(EdgeBuild *b, const Draft *d) {
    uint32_t *reaches = mem_zalloc((b->n + 1) * sizeof *reaches); /* by how many targets */
    for (size_t i = 1; i < d->ntargets && spend(b, b->n); i++) {
        Walk w = walk_from(b, d->targets[i]);
        for (size_t k = 0; k < w.tail; k++) reaches[w.queue[k]]++;
        walk_clear(&w);
    }
    Walk w = walk_from(b, d->targets[0]);
    int join = NODE_END;
    for (size_t i = 0; i < w.tail && join == NODE_END; i++) {
        int node = w.queue[i];
        if (b->fan_in[node] && reaches[node] == d->ntargets - 1) join = node;
    }
    walk_clear(&w);
    mem_free(reaches);
    return join;
}

void edges_find_joins(EdgeBuild *b) {
    Tree *tree = NULL;
    for (size_t i = 0; i < 2 * (b->n + 1); i++) {
        Out *out = i % 2 ? &b->error[i / 2] : &b->after[i / 2];
        for (size_t k = 0; k < out->n; k++) {
            Draft *d = &out->items[k];
            if (!d->parallel || d->join_given) continue;
            if (b->n && memchr(b->fan_in, true, b->n)) d->join = marked_join(b, d);
            if (d->join == NODE_END) {
                tree = tree ? tree : tree_new(b);
                d->join = tree_join(tree, d);
            }
            if (b->work == 0) {
                report_at(b->c->ld->reporter, d->spot,
                          "The graph is too large to find where these branches join; say it with "
                          "`fan_in`.");
            }
        }
    }
    tree_free(tree);
}
