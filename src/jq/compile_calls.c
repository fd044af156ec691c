/* compile_calls.c - what a name means: a function or closure in sight, a form that the compiler
 * knows, a function of the prelude (inlined), a native function, or a name that is left out on
 * purpose. */
#include "compiler.h"

#include "mem.h"
#include "suggest.h"

/* ---- functions and closures in sight ---- */

void step_def(Compiler *c, Task *t) {
    const Node *n = t->node;
    Scope *s = scope_add(c, t->scope, SCOPE_FUNC, n);
    s->arity = n->n;
    s->func = func_new(c, n->a, n->b, s, t);
    Val in = t->in;
    become(c, n->c, s, in);
}

/* A closure that was given to us and is handed on as it is. */
static const Scope *handed_on(const Task *t, const Node *arg) {
    if (arg->kind != NODE_CALL || arg->n) return NULL;
    const Scope *s = scope_find_func(t->scope, arg->name, arg->name_len, 0);
    return s && s->kind == SCOPE_CLOSURE ? s : NULL;
}

/* A call in tail position may take over our frame, unless the callee could still look into it. */
static bool frame_is_free(Compiler *c, const Task *t, const FuncBuild *callee) {
    if (!t->tail || callee->parent == c->func) return false;
    for (const Node *arg = t->node->a; arg; arg = arg->next) {
        if (!handed_on(t, arg)) return false;
    }
    return true;
}

static void call_in_sight(Compiler *c, Task *t, const Scope *s) {
    if (s->kind == SCOPE_INLINE) {
        become_foreign(c, s->node, s->env, t->in, s->env_prelude, s->env_pos);
        return;
    }
    Instr call = {.op = OP_CALL_CLOSURE, .a = levels_to(c, s->owner), .c = s->reg};
    if (s->kind == SCOPE_FUNC) {
        FuncBuild *f = s->func;
        func_want(c, f);
        uint8_t op = frame_is_free(c, t, f) ? OP_TAIL_CALL : OP_CALL;
        uint32_t first = pool_add(c, levels_to(c, f->parent));
        for (const Node *arg = t->node->a; arg; arg = arg->next) {
            const Scope *given = handed_on(t, arg);
            FuncBuild *closure = given ? NULL : func_new(c, NULL, arg, t->scope, t);
            if (closure) func_want(c, closure);
            pool_add(c, given ? levels_to(c, given->owner) : CLOSURE_NEW);
            pool_add(c, given ? given->reg : closure->number);
        }
        call = (Instr){.op = op, .n = t->node->n, .a = f->number, .c = first};
    }
    call.b = use(c, t->in);
    new_epoch(c);
    c->backtracks++;
    done(c, emit_def(c, call));
}

/* ---- forms ---- */

static void step_empty(Compiler *c, Task *t) {
    (void)t;
    emit_backtrack(c);
    done(c, val_const(c, json_null()));
}

static void step_error(Compiler *c, Task *t) {
    if (t->phase++ == 0 && t->node->a) {
        visit_value(c, t->node->a, t->in);
        return;
    }
    Val what = t->node->a ? c->result : t->in;
    emit(c, (Instr){.op = OP_RAISE, .a = use(c, what)});
    done(c, val_const(c, json_null()));
}

static void step_not(Compiler *c, Task *t) {
    done(c, emit_def(c, (Instr){.op = OP_NOT, .a = use(c, t->in)}));
}

static void step_env(Compiler *c, Task *t) {
    (void)t;
    c->effects |= JQ_USES_ENV;
    done(c, emit_def(c, (Instr){.op = OP_ENV}));
}

static void step_getpath(Compiler *c, Task *t) {
    if (t->phase++ == 0) {
        visit_value(c, t->node->a, val_shared(t->in));
        return;
    }
    t->in = val_last(t->in, c->result);
    uint32_t path = use(c, c->result), in = use(c, t->in);
    done(c, emit_def(c, (Instr){.op = OP_GET_PATH, .a = in, .b = path}));
}

/* first(f): forget what f could still give as soon as it has given something. */
static void step_first(Compiler *c, Task *t) {
    if (t->phase++ == 0) {
        t->r1 = reg_new(c);
        t->began = moment_now(c);
        emit(c, (Instr){.op = OP_LABEL, .dst = t->r1});
        c->backtracks++;
        visit(c, t->node->a, t->in);
        return;
    }
    Val v = c->result;
    emit(c, (Instr){.op = OP_CUT, .a = t->r1});
    c->epoch = t->began.epoch; /* no fork of f is left, though it may have given nothing */
    if (v.temp && !(v.operand & OPERAND_CONST) && v.operand != t->in.operand) {
        reg_defined(c, v.operand);
    }
    done(c, v);
}

static void step_limit(Compiler *c, Task *t) {
    switch (t->phase++) {
    case 0: visit_value(c, t->node->a, val_shared(t->in)); return;
    case 1:
        t->r1 = reg_new(c);
        deliver(c, c->result, t->r1);
        emit(c, (Instr){.op = OP_LIMIT_CHECK, .a = t->r1});
        t->r2 = reg_new(c);
        emit(c, (Instr){.op = OP_MOVE, .dst = t->r2, .a = val_const(c, json_int(0)).operand});
        t->r3 = reg_new(c);
        emit(c, (Instr){.op = OP_LABEL, .dst = t->r3});
        c->backtracks++;
        visit(c, t->node->a->next, t->in);
        return;
    default:
        emit(c, (Instr){.op = OP_LIMIT, .dst = t->r2, .a = t->r1, .b = t->r3});
        done(c, c->result);
    }
}

/* range: from, upto and by are evaluated in this order, so that the last varies fastest. */
static void step_range(Compiler *c, Task *t) {
    const Node *n = t->node;
    if (t->phase++ == 0) {
        t->base = c->nvals;
        t->it = n->a;
        if (n->n == 1) push_val(c, val_const(c, json_int(0)));
    } else {
        push_val(c, c->result);
        t->it = t->it->next;
    }
    if (t->it) {
        visit_value(c, t->it, val_shared(t->in));
        return;
    }
    if (n->n < 3) push_val(c, val_const(c, json_int(1)));
    uint32_t regs[3], current = reg_new(c);
    for (int i = 0; i < 3; i++) {
        regs[i] = reg_new(c);
        deliver(c, c->vals[t->base + (size_t)i], regs[i]);
    }
    c->nvals = t->base;
    Instr in = {.op = OP_RANGE, .dst = current, .a = regs[0], .b = regs[1], .c = regs[2]};
    emit(c, in);
    new_epoch(c);
    c->backtracks++;
    in.op = OP_RANGE_NEXT;
    in.a = current;
    done(c, emit_def(c, in));
}

typedef struct Form {
    const char *name;
    int arity;
    StepFn step;
} Form;

static const Form forms[] = {
    {"empty", 0, step_empty}, {"error", 0, step_error},     {"error", 1, step_error},
    {"not", 0, step_not},     {"env", 0, step_env},         {"path", 1, step_path},
    {"first", 1, step_first}, {"getpath", 1, step_getpath}, {"limit", 2, step_limit},
    {"range", 1, step_range}, {"range", 2, step_range},     {"range", 3, step_range},
};

enum { FORM_COUNT = sizeof forms / sizeof *forms };

const char *form_name(size_t i, int *arity) {
    if (i >= FORM_COUNT) return NULL;
    *arity = forms[i].arity;
    return forms[i].name;
}

static bool is_call_to(const Node *n, const char *name, int arity) {
    return n->n == arity && strlen(name) == n->name_len && !memcmp(name, n->name, n->name_len);
}

/* ---- the prelude ---- */

/* The syntax tree of a prelude function, parsed when it is first needed. */
static const Node *prelude_tree(Compiler *c, const Prelude *row) {
    for (size_t i = 0; i < c->npreludes; i++) {
        if (c->prelude_rows[i] == row) return c->preludes[i].root;
    }
    c->preludes = mem_grow(c->preludes, c->npreludes, &c->preludes_cap, sizeof *c->preludes);
    c->prelude_rows =
        mem_grow(c->prelude_rows, c->npreludes, &c->prelude_rows_cap, sizeof *c->prelude_rows);
    Syntax *s = &c->preludes[c->npreludes];
    syntax_init(s, row->source, strlen(row->source));
    c->prelude_rows[c->npreludes++] = row;
    Error err = ERROR_INIT;
    if (!syntax_parse(s, &err)) {
        fail_at(c, 0, "The prelude's %s/%d does not parse: %s", row->name, row->arity, err.msg);
    }
    return s->root;
}

/* Inlines a prelude function: closures stand for themselves, $parameters are evaluated first. */
static void step_prelude(Compiler *c, Task *t) {
    const Node *def;
    if (t->phase++ == 0) {
        def = prelude_tree(c, t->row);
        t->it = def->a;
        t->it2 = t->node->a;
    } else {
        def = prelude_tree(c, t->row);
        uint32_t reg = reg_new(c);
        emit(c, (Instr){.op = OP_MOVE, .dst = reg, .a = use(c, c->result)});
        t->inner = scope_var(c, t->inner, t->it, reg);
        t->it = t->it->next;
        t->it2 = t->it2->next;
    }
    for (; t->it; t->it = t->it->next, t->it2 = t->it2->next) {
        if (t->it->flag) {
            visit_value(c, t->it2, val_shared(t->in));
            return;
        }
        Scope *s = scope_add(c, t->inner, SCOPE_INLINE, t->it);
        s->node = t->it2;
        s->env = t->scope;
        s->env_prelude = t->prelude;
        s->env_pos = t->pos;
        t->inner = s;
    }
    become_foreign(c, def->b, t->inner, t->in, true, t->pos);
}

/* ---- natives ---- */

/* Arguments are evaluated last first: the outputs of the first one vary fastest. */
static void step_native(Compiler *c, Task *t) {
    const Node *n = t->node;
    if (t->phase++ == 0) {
        t->base = c->nvals;
        t->it = n->a && n->a->last ? n->a->last : n->a;
    } else {
        push_val(c, c->result);
        t->it = t->it->prev;
    }
    if (t->it) {
        visit_value(c, t->it, val_shared(t->in));
        return;
    }
    for (size_t i = t->base; i < c->nvals; i++) t->in = val_last(t->in, c->vals[i]);
    uint32_t first = pool_add(c, use(c, t->in));
    for (size_t i = c->nvals; i > t->base; i--) pool_add(c, use(c, c->vals[i - 1]));
    c->nvals = t->base;
    const JqNative *native = t->row;
    size_t number = 0;
    while (number < c->nnatives && c->natives[number] != native) number++;
    if (number == c->nnatives) {
        c->natives = mem_grow(c->natives, c->nnatives, &c->natives_cap, sizeof *c->natives);
        c->natives[c->nnatives++] = native;
        c->effects |= native->effects & ~(unsigned)JQ_NATIVE_QUICK;
    }
    Instr in = {.op = OP_NATIVE, .n = (uint16_t)(n->n + 1), .a = (uint32_t)number, .c = first};
    done(c, emit_def(c, in));
}

/* ---- names that are left out ---- */

typedef struct Refused {
    const char *name;
    const char *why;
} Refused;

static const char no_inputs[] =
    "an expression sees one document at a time; give it the others in a variable, or all of them in one array";
static const char no_halt[] =
    "an expression cannot end the program that runs it; use error or empty";
static const char no_modules[] = "modules are not part of this language";

static const Refused refused[] = {
    {"input", no_inputs},
    {"inputs", no_inputs},
    {"input_filename", no_inputs},
    {"input_line_number", no_inputs},
    {"halt", no_halt},
    {"halt_error", no_halt},
    {"modulemeta", no_modules},
    {"get_search_list", no_modules},
};

/* The name of a function in sight or of the language that is nearest to an unknown one; or NULL. */
static const char *nearest(Compiler *c, const Task *t) {
    Suggestion s = suggestion_for(t->node->name, t->node->name_len);
    const char *name;
    int arity;
    for (size_t i = 0; (name = form_name(i, &arity)); i++) suggestion_offer(&s, name);
    for (size_t i = 0; prelude_at(i); i++) suggestion_offer(&s, prelude_at(i)->name);
    for (size_t i = 0; native_at(i); i++) {
        if (native_at(i)->name[0] != '_') suggestion_offer(&s, native_at(i)->name);
    }
    for (const Scope *in = t->scope; in; in = in->up) {
        if (in->kind == SCOPE_FUNC) {
            suggestion_offer(&s, arena_strndup(c->arena, in->name, in->name_len));
        }
    }
    return s.best;
}

static void fail_unknown(Compiler *c, const Task *t) {
    const Node *n = t->node;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (is_call_to(n, refused[i].name, n->n)) {
            fail_at(c, t->pos, "%s is left out here: %s.", refused[i].name, refused[i].why);
        }
    }
    for (int arity = 0; arity <= JQ_NATIVE_ARITY_MAX; arity++) {
        bool known = prelude_find(n->name, n->name_len, arity) ||
                     jq_native_find(n->name, n->name_len, arity);
        if (known && n->name[0] != '_') {
            fail_at(c, t->pos, "%.*s/%d is not defined; %.*s takes %d argument%s.",
                    (int)n->name_len, n->name, n->n, (int)n->name_len, n->name, arity,
                    arity == 1 ? "" : "s");
        }
    }
    const char *near = nearest(c, t);
    fail_at(c, t->pos, "%.*s/%d is not defined%s%s%s", (int)n->name_len, n->name, n->n,
            near ? "; did you mean " : ".", near ? near : "", near ? "?" : "");
}

/* ---- */

void step_call(Compiler *c, Task *t) {
    const Node *n = t->node;
    const Scope *s = scope_find_func(t->scope, n->name, n->name_len, n->n);
    if (s) {
        call_in_sight(c, t, s);
        return;
    }
    const Form *form = NULL;
    for (size_t i = 0; i < FORM_COUNT && !form; i++) {
        bool fits = forms[i].name[0] == n->name[0] && is_call_to(n, forms[i].name, forms[i].arity);
        form = fits ? &forms[i] : NULL;
    }
    const Prelude *prelude = form ? NULL : prelude_find(n->name, n->name_len, n->n);
    bool hidden =
        n->name[0] == '_' && !t->prelude; /* made for the prelude, which knows what to pass */
    const JqNative *native = NULL;
    if (!form && !prelude && !hidden) native = jq_native_find(n->name, n->name_len, n->n);
    if (!form && !prelude && !native) fail_unknown(c, t);
    t->step = form ? form->step : prelude ? step_prelude : step_native;
    t->row = prelude ? (const void *)prelude : native;
}
