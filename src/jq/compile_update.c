/* compile_update.c - path(), and the assignments.
 *
 * An assignment to a plain place (.a, .[$i].b) reads and writes it directly. Any other left side is
 * run as a path expression: for each path it gives, the state in a register is changed there.
 */
#include "compiler.h"

void step_path(Compiler *c, Task *t) {
    if (t->phase++ == 0) {
        need_paths(c);
        t->r1 = reg_pair(c);
        emit(c, (Instr){.op = OP_PATH_BEGIN, .dst = t->r1, .a = t->in.operand});
        visit(c, t->node->a, val_shared(t->in));
        return;
    }
    done(c, emit_def(c, (Instr){.op = OP_PATH_END, .a = use(c, c->result), .b = t->r1}));
}

/* ---- plain places ---- */

static bool is_plain(const Node *n) {
    while (n->kind == NODE_INDEX && (n->b->kind == NODE_CONST || n->b->kind == NODE_VAR)) n = n->a;
    return n->kind == NODE_IDENTITY;
}

/* The path as a value; variables in it are put into a copy of the constant part. */
static Val plain_path(Compiler *c, const Task *t, const Node *n) {
    Json constant = json_array();
    size_t len = 0, depth;
    for (const Node *p = n; p->kind == NODE_INDEX; p = p->a) len++;
    depth = len;
    for (const Node *p = n; p->kind == NODE_INDEX; p = p->a) {
        bool known = p->b->kind == NODE_CONST;
        constant = json_array_set(constant, --depth, known ? json_ref(p->b->value) : json_null());
    }
    Val path = val_const(c, constant);
    depth = len;
    for (const Node *p = n; p->kind == NODE_INDEX; p = p->a) {
        const Node *name = p->b;
        depth--;
        if (name->kind == NODE_VAR) {
            Json place = json_array_push(json_array(), json_int((int64_t)depth));
            uint32_t at = val_const(c, place).operand;
            const Scope *s = scope_find(t->scope, SCOPE_VAR, name->name, name->name_len);
            if (!s) fail_at(c, t->pos, "$%.*s is not defined.", (int)name->name_len, name->name);
            check_whole(c, t->pos, name, s);
            uint32_t key = use(c, load_reg(c, s));
            path = emit_def(c, (Instr){.op = OP_SET_PATH, .a = use(c, path), .b = at, .c = key});
        }
    }
    return path;
}

/* ---- loops over paths ---- */

static void begin_paths(Compiler *c, Task *t) {
    need_paths(c);
    t->r1 = reg_new(c);
    emit(c, (Instr){.op = OP_MOVE, .dst = t->r1, .a = t->in.operand});
    t->began = moment_now(c);
    t->at1 = emit(c, (Instr){.op = OP_FORK});
    t->r2 = reg_pair(c);
    emit(c, (Instr){.op = OP_PATH_BEGIN, .dst = t->r2, .a = t->in.operand});
    visit(c, t->node->a, val_shared(t->in));
}

static Val end_path(Compiler *c, const Task *t) {
    return emit_def(c, (Instr){.op = OP_PATH_END, .a = use(c, c->result), .b = t->r2});
}

static Val end_paths(Compiler *c, Task *t) {
    emit(c, (Instr){.op = OP_BACKTRACK});
    patch_here(c, t->at1);
    moment_return(c, t->began);
    reg_defined(c, t->r1);
    return (Val){.operand = t->r1, .temp = true};
}

static void emit_set(Compiler *c, uint32_t state, Val path, uint32_t value) {
    uint32_t place = path.operand;
    emit(c,
         (Instr){
             .op = OP_SET_PATH, .dst = state, .a = state | OPERAND_TAKE, .b = place, .c = value});
}

/* ---- a = b ---- */

void step_assign(Compiler *c, Task *t) {
    const Node *n = t->node;
    switch (t->phase++) {
    case 0: visit_value(c, n->b, val_shared(t->in)); return;
    case 1:
        t->x = c->result;
        t->in = val_last(t->in, t->x);
        if (!is_plain(n->a)) {
            begin_paths(c, t);
            return;
        }
        t->y = plain_path(c, t, n->a);
        uint32_t path = use(c, t->y), value = use(c, t->x), in = use(c, t->in);
        done(c, emit_def(c, (Instr){.op = OP_SET_PATH, .a = in, .b = path, .c = value}));
        return;
    default:
        t->y = end_path(c, t);
        emit_set(c, t->r1, t->y, t->x.operand);
        done(c, end_paths(c, t));
    }
}

/* ---- a |= b, a op= b, a //= b ----
 *
 * The old value is lifted out of the state, so that the update can change it in place. Only the
 * first output of an update counts; where it may give none, the value is copied instead, since
 * later paths may still read it, and the path is kept and deleted in the end.
 */

enum { BEGIN, GOT_VALUE, GOT_PATH, GOT_UPDATE };

static void lift_old(Compiler *c, Task *t) {
    uint32_t path = t->y.operand;
    Val old = emit_def(c, (Instr){.op = OP_LIFT_PATH, .a = t->r1, .b = path});
    const Node *n = t->node;
    t->phase = GOT_UPDATE;
    if (n->kind == NODE_UPDATE) {
        t->at2 =
            emit(c, (Instr){.op = OP_NOP}); /* label and fork, if it turns out they are needed */
        emit(c, (Instr){.op = OP_NOP});
        t->updating = moment_now(c);
        visit_value(c, n->b, old);
        return;
    }
    uint32_t value = t->x.operand;
    if (n->kind == NODE_UPDATE_WITH) {
        c->result = emit_def(c, (Instr){.op = n->op, .a = use(c, old), .b = value});
        return;
    }
    uint32_t keep = emit(c, (Instr){.op = OP_JUMP_TRUE, .a = old.operand});
    emit(c, (Instr){.op = OP_MOVE, .dst = old.operand, .a = value});
    patch_here(c, keep);
    c->result = val_shared(old);
}

/* An update with no output at all: remember the path. `doomed` is the register for such paths. */
static void store_some(Compiler *c, Task *t, uint32_t doomed) {
    uint32_t mark = reg_fresh(c); /* set above, where other registers were in use */
    c->code[t->at2 - 1].flags |= INSTR_COPY;
    c->code[t->at2] = (Instr){.op = OP_LABEL, .dst = mark};
    c->code[t->at2 + 1].op = OP_FORK;
    uint32_t value = use(c, c->result);
    emit(c, (Instr){.op = OP_CUT, .a = mark});
    emit_set(c, t->r1, t->y, value);
    uint32_t next = emit(c, (Instr){.op = OP_JUMP});
    patch_here(c, t->at2 + 1);
    emit(c, (Instr){.op = OP_PUSH, .dst = doomed, .a = t->y.operand});
    patch_here(c, next);
}

static void finish_update(Compiler *c, Task *t) {
    bool plain = is_plain(t->node->a);
    bool deletes = t->node->kind == NODE_UPDATE && !moment_lasts(c, t->updating);
    uint32_t doomed = 0;
    if (deletes) {
        doomed = reg_fresh(c);
        c->code[t->doomed_at] =
            (Instr){.op = OP_MOVE, .dst = doomed, .a = val_const(c, json_array()).operand};
        store_some(c, t, doomed);
    } else {
        emit_set(c, t->r1, t->y, use(c, c->result));
    }
    Val state = plain ? (Val){.operand = t->r1, .temp = true} : end_paths(c, t);
    moment_return(c, t->began);
    reg_defined(c, t->r1);
    if (deletes) {
        uint32_t from = use(c, state);
        state = emit_def(c, (Instr){.op = OP_DELETE_PATHS, .a = from, .b = doomed});
    }
    done(c, state);
}

void step_update(Compiler *c, Task *t) {
    switch (t->phase) {
    case BEGIN:
        t->phase = GOT_VALUE;
        if (t->node->kind != NODE_UPDATE) visit_value(c, t->node->b, val_shared(t->in));
        return;
    case GOT_VALUE:
        t->x = c->result;
        if (t->node->kind != NODE_UPDATE) t->in = val_last(t->in, t->x);
        t->doomed_at = emit(c, (Instr){.op = OP_NOP});
        t->phase = GOT_PATH;
        if (!is_plain(t->node->a)) {
            begin_paths(c, t);
            return;
        }
        t->began = moment_now(c);
        t->y = plain_path(c, t, t->node->a);
        t->r1 = reg_new(c);
        emit(c, (Instr){.op = OP_MOVE, .dst = t->r1, .a = use(c, t->in)});
        lift_old(c, t);
        return;
    case GOT_PATH:
        t->y = end_path(c, t);
        lift_old(c, t);
        return;
    default: finish_update(c, t);
    }
}
