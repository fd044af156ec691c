/* compile_bind.c - variables, destructuring patterns, reduce and foreach. */
#include "compiler.h"

#include "mem.h"

/* ---- the variables of a pattern ---- */

typedef struct PatternWalk {
    const Node **todo;
    size_t n, cap;
} PatternWalk;

static void walk_push(PatternWalk *w, const Node *n) {
    w->todo = mem_grow(w->todo, w->n, &w->cap, sizeof *w->todo);
    w->todo[w->n++] = n;
}

/* Adds every variable of the patterns to the scope, each with a register of its own. */
static const Scope *declare_all(Compiler *c, const Node *patterns, const Scope *outer) {
    PatternWalk w = {0};
    const Scope *scope = outer;
    for (const Node *p = patterns->a; p; p = p->next) walk_push(&w, p);
    while (w.n) {
        const Node *p = w.todo[--w.n];
        const Scope *known = scope; /* the same variable in another alternative */
        while (p->name && known != outer &&
               (known->name_len != p->name_len || memcmp(known->name, p->name, p->name_len))) {
            known = known->up;
        }
        if (p->name && known == outer) scope = scope_var(c, scope, p, reg_new(c));
        const Node *below = p->kind == NODE_PATTERN_ENTRY ? p->b : p->a;
        for (; below && p->kind != NODE_PATTERN_VAR;
             below = p->kind == NODE_PATTERN_ENTRY ? NULL : below->next) {
            walk_push(&w, below);
        }
    }
    mem_free(w.todo);
    return scope;
}

/* ---- one pattern: t->in is the value to take apart, t->y the input that key expressions see
 * ---- */

static void visit_pattern(Compiler *c, const Node *pattern, Val value, Val input) {
    visit(c, pattern, value);
    c->tasks[c->ntasks - 1].y = input;
}

static void set_variable(Compiler *c, const Task *t, const Node *name, Val v) {
    const Scope *s = scope_find(t->scope, SCOPE_VAR, name->name, name->name_len);
    emit(c, (Instr){.op = OP_MOVE, .dst = s->reg, .a = use(c, v)});
}

void step_pattern_var(Compiler *c, Task *t) {
    set_variable(c, t, t->node, t->in);
    done(c, t->in);
}

void step_pattern_array(Compiler *c, Task *t) {
    t->it = t->phase++ == 0 ? t->node->a : t->it->next;
    if (!t->it) {
        done(c, t->in);
        return;
    }
    uint32_t index = val_const(c, json_int(t->count++)).operand;
    Val v = emit_def(c, (Instr){.op = OP_INDEX, .a = t->in.operand, .b = index});
    visit_pattern(c, t->it, v, t->y);
}

void step_pattern_object(Compiler *c, Task *t) {
    if (t->phase == 0) {
        t->it = t->node->a;
        t->phase = 1;
    }
    if (t->phase == 2) {
        t->phase = 1;
        uint32_t key = use(c, c->result);
        Val v = emit_def(c, (Instr){.op = OP_INDEX, .a = t->in.operand, .b = key});
        if (t->it->name) set_variable(c, t, t->it, t->it->b ? val_shared(v) : v);
        const Node *pattern = t->it->b;
        t->it = t->it->next;
        if (pattern) visit_pattern(c, pattern, v, t->y);
        return;
    }
    if (!t->it) {
        done(c, t->in);
        return;
    }
    t->phase = 2;
    visit(c, t->it->a, t->y);
}

/* ---- alternatives: p1 ?// p2 ?// p3 ---- */

static void begin_pattern(Compiler *c, Task *t) {
    bool only = !t->node->a->next;
    if (t->it->next) {
        t->at2 = emit(c, (Instr){.op = OP_ALTERNATE});
        new_epoch(c);
    }
    if (!only) {
        for (const Scope *s = t->scope; s != t->inner; s = s->up) {
            emit(c, (Instr){.op = OP_MOVE, .dst = s->reg, .a = val_const(c, json_null()).operand});
        }
    }
    t->r1 = paths_off(c);
    visit_pattern(c, t->it, only ? t->in : val_shared(t->in), val_shared(t->y));
}

void step_patterns(Compiler *c, Task *t) {
    if (t->phase++ == 0) {
        t->it = t->node->a;
        begin_pattern(c, t);
        return;
    }
    paths_on(c, t->r1);
    t->it = t->it->next;
    if (t->it) { /* the jumps to the common end are chained through their targets */
        t->at1 = emit(c, (Instr){.op = OP_JUMP, .c = t->at1});
        patch_here(c, t->at2);
        begin_pattern(c, t);
        return;
    }
    for (uint32_t at = t->at1; at;) {
        uint32_t next = c->code[at].c;
        patch_here(c, at);
        at = next;
    }
    done(c, t->in);
}

/* Binds value to the patterns; from then on the current task sees the variables. */
static void visit_patterns(Compiler *c, Task *t, const Node *patterns, Val value) {
    const Scope *outer = t->scope;
    if (value.operand & OPERAND_CONST) {
        value = emit_def(c, (Instr){.op = OP_MOVE, .a = value.operand});
    }
    t->scope = declare_all(c, patterns, outer);
    Val input = t->in;
    visit_pattern(c, patterns, value, input);
    c->tasks[c->ntasks - 1].inner = outer;
}

/* ---- a as $x | b ---- */

void step_bind(Compiler *c, Task *t) {
    const Node *n = t->node, *first = n->d->a;
    switch (t->phase++) {
    case 0: visit_value(c, n->a, val_shared(t->in)); return;
    case 1:
        if (first->kind == NODE_PATTERN_VAR && !first->next) {
            uint32_t reg = reg_new(c);
            emit(c, (Instr){.op = OP_MOVE, .dst = reg, .a = use(c, c->result)});
            become(c, t->node->b, scope_var(c, t->scope, first, reg), t->in);
        } else {
            visit_patterns(c, t, n->d, c->result);
        }
        return;
    default: become(c, n->b, t->scope, t->in);
    }
}

/* ---- reduce and foreach ---- */

/* The phases that both share; true when the update is compiled, with its value in c->result. */
static bool loop_step(Compiler *c, Task *t) {
    const Node *n = t->node;
    switch (t->phase++) {
    case 0: visit(c, n->b, val_shared(t->in)); return false;
    case 1:
        t->r1 = reg_new(c);
        deliver(c, c->result, t->r1);
        t->began = moment_now(c);
        if (n->kind == NODE_REDUCE) { /* where to go when the source is exhausted */
            t->at1 = emit(c, (Instr){.op = OP_FORK});
        }
        visit(c, n->a, val_shared(t->in));
        return false;
    case 2: visit_patterns(c, t, n->d, c->result); return false;
    case 3: { /* the state moves from its register into the input of the update */
        uint32_t in = reg_new(c);
        emit(c, (Instr){.op = OP_MOVE, .dst = in, .a = t->r1 | OPERAND_TAKE});
        visit(c, n->c, (Val){.operand = in, .temp = true});
        return false;
    }
    default: return true;
    }
}

void step_reduce(Compiler *c, Task *t) {
    if (!loop_step(c, t)) return;
    deliver(c, c->result, t->r1);
    emit(c, (Instr){.op = OP_BACKTRACK});
    patch_here(c, t->at1);
    moment_return(c, t->began);
    reg_defined(c, t->r1);
    done(c, (Val){.operand = t->r1, .temp = true});
}

void step_foreach(Compiler *c, Task *t) {
    if (loop_step(c, t)) {
        Val v = c->result;
        if (v.operand & OPERAND_CONST) v = emit_def(c, (Instr){.op = OP_MOVE, .a = v.operand});
        emit(c, (Instr){.op = OP_MOVE, .dst = t->r1, .a = v.operand});
        if (t->node->e) {
            become(c, t->node->e, t->scope, v);
        } else {
            done(c, v);
        }
    }
}
