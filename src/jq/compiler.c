#include "compiler.h"

#include "mem.h"

#include <stdarg.h>

enum { REG_LIMIT = 1 << 24, SCOPE_LIMIT = 20000, TEXT_LIMIT = 64 << 20 };

void fail_at(Compiler *c, uint32_t pos, const char *fmt, ...) {
    int line, col;
    program_locate(c->program, pos, &line, &col);
    va_list args;
    va_start(args, fmt);
    error_vset_at(c->err, ERR_SYNTAX, line, col, fmt, args);
    va_end(args);
    longjmp(c->fail, 1);
}

/* ---- tasks ---- */

static void push_task(Compiler *c, const Node *node, Val in, bool tail) {
    c->tasks = mem_grow(c->tasks, c->ntasks, &c->tasks_cap, sizeof *c->tasks);
    const Task *from = c->ntasks ? &c->tasks[c->ntasks - 1] : NULL;
    Task task = {.node = node, .step = compile_steps[node->kind], .in = in, .tail = tail};
    if (from) {
        task.scope = from->scope;
        task.prelude = from->prelude;
        task.pos = from->prelude ? from->pos : node->pos;
    }
    c->tasks[c->ntasks++] = task;
}

static Task *top_task(Compiler *c) {
    return &c->tasks[c->ntasks - 1];
}

void visit(Compiler *c, const Node *node, Val in) {
    push_task(c, node, in, false);
}

void visit_tail(Compiler *c, const Node *node, Val in) {
    push_task(c, node, in, top_task(c)->tail);
}

uint32_t paths_off(Compiler *c) {
    if (!c->tracks) return 0;
    uint32_t saved = reg_pair(c);
    emit(c, (Instr){.op = OP_PATH_OFF, .dst = saved});
    return saved;
}

void paths_on(Compiler *c, uint32_t saved) {
    if (saved) emit(c, (Instr){.op = OP_PATH_ON, .a = saved});
}

void need_paths(Compiler *c) {
    if (!c->tracks) {
        c->tracks = true;
        longjmp(c->fail, 1);
    }
}

void visit_value(Compiler *c, const Node *node, Val in) {
    bool pathless = /* it does nothing to a path that is being followed */
        node->kind == NODE_CONST || node->kind == NODE_VAR || node->kind == NODE_IDENTITY;
    uint32_t saved = pathless ? 0 : paths_off(c);
    push_task(c, node, in, false);
    top_task(c)->path_off = saved;
}

void become_foreign(Compiler *c, const Node *node, const Scope *scope, Val in, bool prelude,
                    uint32_t pos) {
    Task *t = top_task(c);
    Task next = {.node = node, .step = compile_steps[node->kind], .scope = scope, .in = in};
    next.tail = t->tail;
    next.path_off = t->path_off;
    next.prelude = prelude;
    next.pos = prelude ? pos : node->pos;
    *t = next;
}

void become(Compiler *c, const Node *node, const Scope *scope, Val in) {
    const Task *t = top_task(c);
    become_foreign(c, node, scope, in, t->prelude, t->pos);
}

void done(Compiler *c, Val result) {
    Task *t = top_task(c);
    paths_on(c, t->path_off);
    if (t->tail) emit(c, (Instr){.op = OP_RETURN, .a = use(c, result)});
    c->result = result;
    c->ntasks--;
}

/* ---- values and registers ---- */

Val val_const(Compiler *c, Json value) {
    size_t recent = c->nconstants > 8 ? c->nconstants - 8 : 0;
    for (size_t i = recent; i < c->nconstants; i++) {
        if (json_identical(c->constants[i], value) && !json_on_heap(c->constants[i])) {
            return (Val){.operand = OPERAND_CONST | (uint32_t)i};
        }
    }
    c->constants = mem_grow(c->constants, c->nconstants, &c->constants_cap, sizeof *c->constants);
    c->constants[c->nconstants] = value;
    return (Val){.operand = OPERAND_CONST | (uint32_t)c->nconstants++};
}

Val val_shared(Val v) {
    v.temp = false;
    return v;
}

Val val_last(Val in, Val pending) {
    return in.operand == pending.operand ? val_shared(in) : in;
}

void reg_defined(Compiler *c, uint32_t reg) {
    c->reg_epoch[reg] = c->epoch;
}

uint32_t reg_fresh(Compiler *c) {
    if (c->nregs >= REG_LIMIT) fail_at(c, 0, "The expression is too large.");
    c->reg_epoch = mem_grow(c->reg_epoch, c->nregs, &c->regs_cap, sizeof *c->reg_epoch);
    reg_defined(c, (uint32_t)c->nregs);
    return (uint32_t)c->nregs++;
}

uint32_t reg_new(Compiler *c) {
    if (!c->nfree) return reg_fresh(c);
    uint32_t reg = c->free_regs[--c->nfree];
    reg_defined(c, reg);
    return reg;
}

uint32_t reg_pair(Compiler *c) {
    uint32_t first = reg_fresh(c);
    reg_fresh(c);
    return first;
}

static void reg_release(Compiler *c, uint32_t reg) {
    c->free_regs = mem_grow(c->free_regs, c->nfree, &c->free_cap, sizeof *c->free_regs);
    c->free_regs[c->nfree++] = reg;
}

uint32_t use(Compiler *c, Val v) {
    if (!v.temp || (v.operand & OPERAND_CONST) || c->reg_epoch[v.operand] != c->epoch) {
        return v.operand;
    }
    if (v.operand != 0 && !v.pinned) reg_release(c, v.operand);
    return v.operand | OPERAND_TAKE;
}

void new_epoch(Compiler *c) {
    c->epoch = ++c->last_epoch;
}

Moment moment_now(const Compiler *c) {
    return (Moment){c->epoch, c->backtracks};
}

bool moment_lasts(const Compiler *c, Moment m) {
    return c->epoch == m.epoch && c->backtracks == m.backtracks;
}

void moment_return(Compiler *c, Moment m) {
    c->epoch = m.epoch;
    c->backtracks = m.backtracks;
}

/* ---- code ---- */

uint32_t emit(Compiler *c, Instr in) {
    c->code = mem_grow(c->code, c->ncode, &c->code_cap, sizeof *c->code);
    in.pos = c->ntasks ? top_task(c)->pos : 0;
    c->code[c->ncode] = in;
    return (uint32_t)c->ncode++;
}

Val emit_def(Compiler *c, Instr in) {
    in.dst = reg_new(c);
    emit(c, in);
    return (Val){.operand = in.dst, .temp = true};
}

void emit_backtrack(Compiler *c) {
    emit(c, (Instr){.op = OP_BACKTRACK});
    c->backtracks++;
}

void patch_here(Compiler *c, uint32_t at) {
    c->code[at].c = (uint32_t)c->ncode;
    c->label_at = (uint32_t)c->ncode;
}

/* Instructions whose dst is nothing but their result. */
static bool retargetable(const Instr *in) {
    switch (in->op) {
    case OP_PUSH:
    case OP_LIMIT:
    case OP_LABEL:
    case OP_TRY:
    case OP_PATH_BEGIN:
    case OP_PATH_OFF: return false;
    default: return true;
    }
}

void deliver(Compiler *c, Val v, uint32_t dst) {
    Instr *last = c->ncode ? &c->code[c->ncode - 1] : NULL;
    if (v.temp && last && c->label_at < c->ncode && last->dst == v.operand && v.operand != 0 &&
        retargetable(last) && c->reg_epoch[v.operand] == c->epoch) {
        last->dst = dst;
        reg_release(c, v.operand);
        return;
    }
    emit(c, (Instr){.op = OP_MOVE, .dst = dst, .a = use(c, v)});
}

uint32_t pool_add(Compiler *c, uint32_t operand) {
    c->operands = mem_grow(c->operands, c->noperands, &c->operands_cap, sizeof *c->operands);
    c->operands[c->noperands] = operand;
    return (uint32_t)c->noperands++;
}

void push_val(Compiler *c, Val v) {
    c->vals = mem_grow(c->vals, c->nvals, &c->vals_cap, sizeof *c->vals);
    c->vals[c->nvals++] = v;
}

/* ---- scopes ---- */

Scope *scope_add(Compiler *c, const Scope *up, ScopeKind kind, const Node *name) {
    Scope *s = arena_alloc(c->arena, sizeof *s);
    s->up = up;
    s->kind = kind;
    s->name = name->name;
    s->name_len = name->name_len;
    s->owner = c->func;
    s->depth = up ? up->depth + 1 : 1;
    if (s->depth > SCOPE_LIMIT) {
        fail_at(c, name->pos, "More than %d names are in sight here.", SCOPE_LIMIT);
    }
    return s;
}

const Scope *scope_var(Compiler *c, const Scope *up, const Node *name, uint32_t reg) {
    Scope *s = scope_add(c, up, SCOPE_VAR, name);
    s->reg = reg;
    return s;
}

static bool is_named(const Scope *s, const char *name, size_t len) {
    return s->name_len == len && !memcmp(s->name, name, len);
}

const Scope *scope_find(const Scope *s, ScopeKind kind, const char *name, size_t len) {
    while (s && !(s->kind == kind && is_named(s, name, len))) s = s->up;
    return s;
}

const Scope *scope_find_func(const Scope *s, const char *name, size_t len, uint32_t arity) {
    for (; s; s = s->up) {
        bool callable =
            s->kind == SCOPE_FUNC || s->kind == SCOPE_CLOSURE || s->kind == SCOPE_INLINE;
        if (callable && s->arity == arity && is_named(s, name, len)) return s;
    }
    return NULL;
}

uint32_t levels_to(Compiler *c, const FuncBuild *owner) {
    uint32_t levels = 0;
    for (const FuncBuild *f = c->func; f != owner; f = f->parent) levels++;
    return levels;
}

Val load_reg(Compiler *c, const Scope *s) {
    if (s->owner == c->func) return (Val){.operand = s->reg};
    return emit_def(c, (Instr){.op = OP_LOAD_UP, .a = s->reg, .b = levels_to(c, s->owner)});
}

/* ---- functions ---- */

FuncBuild *func_new(Compiler *c, const Node *params, const Node *body, const Scope *scope,
                    const Task *from) {
    FuncBuild *f = arena_alloc(c->arena, sizeof *f);
    f->parent = c->func;
    f->params = params;
    f->body = body;
    f->scope = scope;
    f->prelude = from && from->prelude;
    f->pos = from ? from->pos : 0;
    c->funcs = mem_grow(c->funcs, c->nfuncs, &c->funcs_cap, sizeof *c->funcs);
    c->funcs[c->nfuncs] = (Func){0};
    f->number = (uint32_t)c->nfuncs++;
    return f;
}

void func_want(Compiler *c, FuncBuild *f) {
    if (!f->wanted) {
        f->wanted = true;
        *c->queue_end = f;
        c->queue_end = &f->next;
    }
}

static const Scope *enter_params(Compiler *c, FuncBuild *f) {
    const Scope *scope = f->scope;
    uint32_t slot = 1;
    for (const Node *p = f->params; p; p = p->next) {
        Scope *s = scope_add(c, scope, SCOPE_CLOSURE, p);
        s->reg = slot++;
        scope = s;
    }
    slot = 1;
    for (const Node *p = f->params; p; p = p->next, slot++) {
        if (p->flag) {
            /* $name is a variable, too: evaluated once on entry for each of its outputs. */
            uint32_t saved = paths_off(c);
            new_epoch(c);
            uint32_t reg = reg_new(c);
            emit(c, (Instr){.op = OP_CALL_CLOSURE, .dst = reg, .a = 0, .b = 0, .c = slot});
            paths_on(c, saved);
            scope = scope_var(c, scope, p, reg);
        }
    }
    return scope;
}

static void compile_func(Compiler *c, FuncBuild *f) {
    c->func = f;
    c->nregs = c->nfree = 0;
    c->funcs[f->number].entry = c->label_at = (uint32_t)c->ncode;
    new_epoch(c);
    reg_fresh(c); /* the input */
    for (const Node *p = f->params; p; p = p->next) {
        reg_fresh(c);
        c->funcs[f->number].nparams++;
    }
    Val in = {.operand = 0, .temp = true};
    const Scope *scope = f->scope;
    if (f->number == 0) {
        c->nregs = 1;
        for (size_t i = 0; i < c->program->nvars; i++) reg_fresh(c);
    } else {
        scope = enter_params(c, f);
    }
    size_t base = c->ntasks;
    push_task(c, f->body, in, true);
    Task *t = top_task(c);
    t->scope = scope;
    t->prelude = f->prelude;
    t->pos = f->prelude ? f->pos : f->body->pos;
    while (c->ntasks > base) {
        Task *task = top_task(c);
        task->step(c, task);
    }
    c->funcs[f->number].nregs = (uint32_t)c->nregs;
}

/* ---- the finished program ---- */

/* Drops the places that were kept free and turned out not to be needed. */
static void strip_nops(Compiler *c) {
    uint32_t *moved = mem_alloc((c->ncode + 1) * sizeof *moved);
    uint32_t n = 0;
    for (size_t i = 0; i < c->ncode; i++) {
        moved[i] = n;
        n += c->code[i].op != OP_NOP;
    }
    moved[c->ncode] = n;
    for (size_t i = 0; i < c->ncode; i++) {
        Instr in = c->code[i];
        if (in.op == OP_JUMP || in.op == OP_JUMP_FALSE || in.op == OP_JUMP_TRUE ||
            in.op == OP_FORK || in.op == OP_TRY || in.op == OP_ALTERNATE) {
            in.c = moved[in.c];
        }
        if (in.op != OP_NOP) c->code[moved[i]] = in;
    }
    for (size_t i = 0; i < c->nfuncs; i++) c->funcs[i].entry = moved[c->funcs[i].entry];
    c->ncode = n;
    mem_free(moved);
}

static void *keep(Arena *a, const void *items, size_t n, size_t size) {
    void *copy = arena_alloc(a, n * size + 1);
    if (n) memcpy(copy, items, n * size);
    return copy;
}

static void finish_program(Compiler *c) {
    strip_nops(c);
    JqProgram *p = c->program;
    p->code = keep(p->arena, c->code, c->ncode, sizeof *c->code);
    p->ncode = c->ncode;
    p->funcs = keep(p->arena, c->funcs, c->nfuncs, sizeof *c->funcs);
    p->nfuncs = c->nfuncs;
    p->operands = keep(p->arena, c->operands, c->noperands, sizeof *c->operands);
    p->constants = keep(p->arena, c->constants, c->nconstants, sizeof *c->constants);
    p->nconstants = c->nconstants;
    c->nconstants = 0;
    p->natives = keep(p->arena, c->natives, c->nnatives, sizeof *c->natives);
    p->formats = keep(p->arena, c->formats, c->nformats, sizeof *c->formats);
    p->effects = c->effects;
    p->fields = json_take(&c->fields);
}

static void compiler_clear(Compiler *c) {
    for (size_t i = 0; i < c->nconstants; i++) json_unref(c->constants[i]);
    for (size_t i = 0; i < c->npreludes; i++) syntax_clear(&c->preludes[i]);
    json_unref(c->fields);
    arena_free(c->arena);
    void *blocks[] = {c->tasks,   c->funcs,    c->reg_epoch, c->free_regs,
                      c->code,    c->operands, c->constants, c->natives,
                      c->formats, c->vals,     c->preludes,  c->prelude_rows};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) mem_free(blocks[i]);
}

/* One attempt. Following paths costs instructions everywhere, so the first attempt does without;
 * when it meets something that needs them it sets c->tracks and gives up with *again. */
static bool attempt(Syntax *s, JqProgram *p, const JqOptions *o, bool tracks, bool *again,
                    Error *err) {
    Compiler c = {.syntax = s, .arena = arena_new(), .program = p, .err = err, .tracks = tracks};
    c.queue_end = &c.queue;
    volatile bool ok = false;
    if (setjmp(c.fail) == 0) {
        FuncBuild *main = func_new(&c, NULL, s->root, NULL, NULL);
        /* The host's variables, in registers 1.. of function 0. */
        const Scope *scope = NULL;
        c.func = main;
        for (size_t i = 0; o && i < o->nvars; i++) {
            Node name = {.name = o->vars[i], .name_len = (uint32_t)strlen(o->vars[i])};
            scope = scope_var(&c, scope, &name, (uint32_t)i + 1);
        }
        main->scope = scope;
        c.fields_only = o && o->fields_only ? scope : NULL;
        func_want(&c, main);
        for (FuncBuild *f = main; f; f = f->next) compile_func(&c, f);
        finish_program(&c);
        ok = true;
    }
    *again = !ok && c.tracks && !tracks;
    compiler_clear(&c);
    return ok;
}

void program_locate(const JqProgram *p, uint32_t pos, int *line, int *col) {
    syntax_locate(p->text, p->len, pos, line, col);
    *col += *line == 1 ? p->col - 1 : 0;
    *line += p->line - 1;
}

static bool compile_program(JqProgram *p, const JqOptions *o, Error *err) {
    Syntax s;
    syntax_init(&s, p->text, p->len);
    s.line = p->line;
    s.file = o && o->file ? o->file : s.file;
    bool ok = syntax_parse(&s, err);
    if (!ok && err) {
        err->col += err->line == 1 ? p->col - 1 : 0;
        err->line += p->line - 1;
    }
    if (ok) {
        bool again;
        ok = attempt(&s, p, o, false, &again, err);
        if (again) ok = attempt(&s, p, o, true, &again, err);
    }
    syntax_clear(&s);
    return ok;
}

JqProgram *jq_compile(const char *text, size_t len, const JqOptions *options, Error *err) {
    Error ignored;
    err = err ? err : &ignored;
    if (len > TEXT_LIMIT) {
        error_set(err, ERR_LIMIT, "The expression is longer than %d bytes.", TEXT_LIMIT);
        return NULL;
    }
    Arena *arena = arena_new();
    JqProgram *p = arena_alloc(arena, sizeof *p);
    p->arena = arena;
    p->text = arena_strndup(arena, text, len);
    p->len = len;
    p->line = options && options->line ? options->line : 1;
    p->col = options && options->col ? options->col : 1;
    p->nvars = options ? options->nvars : 0;
    p->exact = options && options->exact;
    if (!compile_program(p, options, err)) {
        jq_program_free(p);
        return NULL;
    }
    return p;
}

void jq_program_free(JqProgram *p) {
    if (!p) return;
    for (size_t i = 0; i < p->nconstants; i++) json_unref(p->constants[i]);
    json_unref(p->fields);
    arena_free(p->arena);
}

unsigned jq_program_effects(const JqProgram *p) {
    return p->effects;
}

Json jq_program_fields(const JqProgram *p) {
    return p->fields;
}
