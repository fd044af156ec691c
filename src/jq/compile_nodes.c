/* compile_nodes.c - terms and operators. */
#include "compiler.h"

#include "mem.h"

static void step_identity(Compiler *c, Task *t) {
    done(c, t->in);
}

static void step_const(Compiler *c, Task *t) {
    done(c, val_const(c, json_ref(t->node->value)));
}

void check_whole(Compiler *c, uint32_t pos, const Node *n, const Scope *s) {
    if (s == c->fields_only && s && n != c->field_taken) {
        fail_at(c, pos, "$%.*s can only be used with the name of one of its fields, as $%.*s.NAME.",
                (int)n->name_len, n->name, (int)n->name_len, n->name);
    }
}

static void step_var(Compiler *c, Task *t) {
    const Node *n = t->node;
    const Scope *s = scope_find(t->scope, SCOPE_VAR, n->name, n->name_len);
    if (s) {
        check_whole(c, t->pos, n, s);
        done(c, load_reg(c, s));
        return;
    }
    if (n->name_len != 3 || memcmp(n->name, "ENV", 3)) {
        fail_at(c, t->pos, "$%.*s is not defined.", (int)n->name_len, n->name);
    }
    c->effects |= JQ_USES_ENV;
    done(c, emit_def(c, (Instr){.op = OP_ENV}));
}

/* ---- formats and strings ---- */

static Val emit_format(Compiler *c, uint32_t pos, const char *name, size_t len, Val v) {
    JqFormatFn fn = jq_format_find(name, len);
    size_t i = 0;
    if (!fn) fail_at(c, pos, "%.*s is not a valid format.", (int)len, name);
    while (i < c->nformats && c->formats[i] != fn) i++;
    if (i == c->nformats) {
        c->formats = mem_grow(c->formats, c->nformats, &c->formats_cap, sizeof *c->formats);
        c->formats[c->nformats++] = fn;
    }
    return emit_def(c, (Instr){.op = OP_FORMAT, .a = use(c, v), .b = (uint32_t)i});
}

static void step_format(Compiler *c, Task *t) {
    done(c, emit_format(c, t->pos, t->node->name, t->node->name_len, t->in));
}

/* Parts are evaluated last first: the outputs of the first one vary fastest. */
static void step_string(Compiler *c, Task *t) {
    const Node *n = t->node;
    if (t->phase++ == 0) {
        t->base = c->nvals;
        t->it = n->a->last ? n->a->last : n->a;
    } else {
        const char *format = n->name ? n->name : "text";
        push_val(c, emit_format(c, t->pos, format, strlen(format), c->result));
    }
    while (t->it) {
        const Node *part = t->it;
        t->it = part->prev;
        bool text = part->kind == NODE_CONST && part->flag;
        if (!text) {
            visit_value(c, part, val_shared(t->in));
            return;
        }
        push_val(c, val_const(c, json_ref(part->value)));
    }
    size_t count = c->nvals - t->base;
    uint32_t first = (uint32_t)c->noperands;
    if (count > UINT16_MAX) {
        fail_at(c, t->pos, "A string has more than %d parts; join it from several.", UINT16_MAX);
    }
    while (c->nvals > t->base) pool_add(c, use(c, c->vals[--c->nvals]));
    done(c, emit_def(c, (Instr){.op = OP_CONCAT, .n = (uint16_t)count, .c = first}));
}

/* ---- access ---- */

static uint8_t optional_flag(const Task *t) {
    return t->optional ? INSTR_OPTIONAL : 0;
}

/* Where an access may fail it backtracks, so it may give nothing. */
static void note_optional(Compiler *c, const Task *t) {
    c->backtracks += t->optional;
}

/* $name.field, of a variable that only gives fields. */
static void note_field(Compiler *c, const Task *t) {
    const Node *var = t->node->a, *key = t->node->b;
    if (!c->fields_only || var->kind != NODE_VAR || key->kind != NODE_CONST ||
        json_kind(key->value) != JSON_STRING ||
        scope_find(t->scope, SCOPE_VAR, var->name, var->name_len) != c->fields_only) {
        return;
    }
    bool known = false;
    for (size_t i = 0; i < json_array_len(c->fields) && !known; i++) {
        known = json_string_equal(json_array_get(c->fields, i), key->value);
    }
    if (!known) c->fields = json_array_push(json_take(&c->fields), json_ref(key->value));
    c->field_taken = var;
}

static void step_index(Compiler *c, Task *t) {
    const Node *n = t->node;
    switch (t->phase++) {
    case 0: /* the key first: its outputs are the outer loop */
        visit_value(c, n->b, val_shared(t->in));
        return;
    case 1:
        t->x = c->result;
        t->in = val_last(t->in, t->x);
        note_field(c, t);
        visit(c, n->a, t->in);
        return;
    default: {
        note_optional(c, t);
        uint32_t key = use(c, t->x), target = use(c, c->result);
        Instr in = {.op = OP_INDEX, .flags = optional_flag(t), .a = target, .b = key};
        done(c, emit_def(c, in));
    }
    }
}

static void step_slice(Compiler *c, Task *t) {
    const Node *n = t->node;
    switch (t->phase++) {
    case 0:
        if (n->b) {
            visit_value(c, n->b, val_shared(t->in));
            return;
        }
        c->result = val_const(c, json_null());
        return;
    case 1:
        t->x = c->result;
        if (n->c) {
            visit_value(c, n->c, val_shared(t->in));
            return;
        }
        c->result = val_const(c, json_null());
        return;
    case 2:
        t->y = c->result;
        t->in = val_last(val_last(t->in, t->x), t->y);
        visit(c, n->a, t->in);
        return;
    default: {
        note_optional(c, t);
        uint32_t from = use(c, t->x), to = use(c, t->y), target = use(c, c->result);
        Instr in = {.op = OP_SLICE, .flags = optional_flag(t), .a = target, .b = from, .c = to};
        done(c, emit_def(c, in));
    }
    }
}

static void step_each(Compiler *c, Task *t) {
    if (t->phase++ == 0) {
        visit(c, t->node->a, t->in);
        return;
    }
    Val target = c->result;
    uint32_t counter = reg_new(c), flags = optional_flag(t);
    uint32_t from = target.operand;
    if (from & OPERAND_CONST) {
        from = reg_new(c);
        emit(c, (Instr){.op = OP_MOVE, .dst = from, .a = target.operand});
    }
    emit(c, (Instr){.op = OP_EACH, .flags = (uint8_t)flags, .a = from, .b = counter});
    new_epoch(c);
    c->backtracks++;
    done(c, emit_def(c, (Instr){.op = OP_EACH_NEXT, .a = from, .b = counter}));
}

static void step_try(Compiler *c, Task *t) {
    const Node *n = t->node;
    switch (t->phase++) {
    case 0:
        if (n->flag) {
            Val in = t->in;
            become(c, n->a, t->scope, in);
            c->tasks[c->ntasks - 1].optional = true;
            return;
        }
        t->r1 = reg_new(c);
        t->r2 = reg_new(c);
        t->at1 = emit(c, (Instr){.op = OP_TRY, .dst = t->r2, .a = t->r1});
        visit(c, n->a, t->in);
        return;
    case 1:
        t->r3 = reg_new(c);
        deliver(c, c->result, t->r3);
        emit(c, (Instr){.op = OP_TRY_END, .a = t->r1});
        t->at2 = emit(c, (Instr){.op = OP_JUMP});
        patch_here(c, t->at1);
        if (n->b) {
            visit_tail(c, n->b, (Val){.operand = t->r2, .temp = true});
        } else {
            emit_backtrack(c);
            c->result = val_const(c, json_null());
        }
        return;
    default:
        if (n->b && !t->tail) deliver(c, c->result, t->r3);
        patch_here(c, t->at2);
        reg_defined(c, t->r3);
        done(c, (Val){.operand = t->r3, .temp = true});
    }
}

/* ---- operators ---- */

static void step_pipe(Compiler *c, Task *t) {
    if (t->phase++ == 0) {
        visit(c, t->node->a, t->in);
    } else {
        become(c, t->node->b, t->scope, c->result);
    }
}

/* Both branches of a fork or a condition end in one register, unless they return at once. */
static void branch_end(Compiler *c, Task *t) {
    if (!t->tail) deliver(c, c->result, t->r1);
}

static void branches_done(Compiler *c, Task *t) {
    t->tail = false; /* if it was, both have returned and nothing comes here */
    reg_defined(c, t->r1);
    done(c, (Val){.operand = t->r1, .temp = true});
}

static void step_comma(Compiler *c, Task *t) {
    const Node *n = t->node;
    switch (t->phase++) {
    case 0:
        t->r1 = reg_new(c);
        t->at1 = emit(c, (Instr){.op = OP_FORK});
        new_epoch(c);
        visit_tail(c, n->a, val_shared(t->in));
        return;
    case 1:
        branch_end(c, t);
        t->at2 = emit(c, (Instr){.op = OP_JUMP});
        patch_here(c, t->at1);
        visit_tail(c, n->b, t->in);
        return;
    default:
        branch_end(c, t);
        patch_here(c, t->at2);
        branches_done(c, t);
    }
}

static void step_binary(Compiler *c, Task *t) {
    const Node *n = t->node;
    switch (t->phase++) {
    case 0: visit_value(c, n->b, val_shared(t->in)); return;
    case 1:
        t->x = c->result;
        visit_value(c, n->a, val_last(t->in, t->x));
        return;
    default: {
        uint32_t b = use(c, t->x), a = use(c, c->result);
        done(c, emit_def(c, (Instr){.op = n->op, .a = a, .b = b}));
    }
    }
}

static void step_negate(Compiler *c, Task *t) {
    if (t->phase++ == 0) {
        visit_value(c, t->node->a, t->in);
    } else {
        done(c, emit_def(c, (Instr){.op = OP_NEGATE, .a = use(c, c->result)}));
    }
}

/* a and b, a or b: `decided` is the value of a that settles it. */
static void step_logic(Compiler *c, Task *t, uint8_t jump, bool decided) {
    const Node *n = t->node;
    switch (t->phase++) {
    case 0: visit_value(c, n->a, val_shared(t->in)); return;
    case 1:
        t->at1 = emit(c, (Instr){.op = jump, .a = use(c, c->result)});
        visit_value(c, n->b, t->in);
        return;
    default: {
        uint32_t dst = reg_new(c);
        emit(c, (Instr){.op = OP_TRUTH, .dst = dst, .a = use(c, c->result)});
        uint32_t end = emit(c, (Instr){.op = OP_JUMP});
        patch_here(c, t->at1);
        emit(c, (Instr){.op = OP_MOVE, .dst = dst, .a = val_const(c, json_bool(decided)).operand});
        patch_here(c, end);
        reg_defined(c, dst);
        done(c, (Val){.operand = dst, .temp = true});
    }
    }
}

static void step_and(Compiler *c, Task *t) {
    step_logic(c, t, OP_JUMP_FALSE, false);
}

static void step_or(Compiler *c, Task *t) {
    step_logic(c, t, OP_JUMP_TRUE, true);
}

/* a // b where a gives exactly one output and no path is followed: a plain condition. Otherwise a
 * register remembers whether a gave anything worth having, and a fork leads to b when it did not.
 * */
static void alternative_left(Compiler *c, Task *t) {
    Val a = c->result;
    bool single = !c->tracks && moment_lasts(c, t->began);
    uint32_t yes, value = a.operand;
    if (single) {
        t->at3 = emit(c, (Instr){.op = OP_JUMP_FALSE, .a = value});
    } else {
        c->code[t->at1] =
            (Instr){.op = OP_MOVE, .dst = t->r2, .a = val_const(c, json_bool(false)).operand};
        c->code[t->at1 + 1].op = OP_FORK;
        yes = emit(c, (Instr){.op = OP_JUMP_TRUE, .a = value});
        emit_backtrack(c);
        patch_here(c, yes);
        emit(c, (Instr){.op = OP_MOVE, .dst = t->r2, .a = val_const(c, json_bool(true)).operand});
    }
    emit(c, (Instr){.op = OP_MOVE, .dst = t->r1, .a = value});
    t->at2 = emit(c, (Instr){.op = OP_JUMP});
    if (single) {
        patch_here(c, t->at3);
        return;
    }
    patch_here(c, t->at1 + 1);
    uint32_t other = emit(c, (Instr){.op = OP_JUMP_FALSE, .a = t->r2});
    emit_backtrack(c);
    patch_here(c, other);
}

static void step_alternative(Compiler *c, Task *t) {
    const Node *n = t->node;
    switch (t->phase++) {
    case 0:
        t->r1 = reg_new(c);
        t->r2 = reg_new(c);
        t->at1 = emit(c, (Instr){.op = OP_NOP});
        emit(c, (Instr){.op = OP_NOP});
        t->began = moment_now(c);
        visit(c, n->a, val_shared(t->in));
        return;
    case 1:
        alternative_left(c, t);
        visit(c, n->b, t->in);
        return;
    default:
        deliver(c, c->result, t->r1);
        patch_here(c, t->at2);
        reg_defined(c, t->r1);
        done(c, (Val){.operand = t->r1, .temp = true});
    }
}

static void step_if(Compiler *c, Task *t) {
    const Node *n = t->node;
    switch (t->phase++) {
    case 0: visit_value(c, n->a, val_shared(t->in)); return;
    case 1:
        t->at1 = emit(c, (Instr){.op = OP_JUMP_FALSE, .a = use(c, c->result)});
        t->r1 = reg_new(c);
        t->in.pinned = true;
        visit_tail(c, n->b, t->in);
        return;
    case 2:
        branch_end(c, t);
        t->at2 = emit(c, (Instr){.op = OP_JUMP});
        patch_here(c, t->at1);
        if (n->c) {
            visit_tail(c, n->c, t->in);
            return;
        }
        c->result = t->in;
        if (t->tail) emit(c, (Instr){.op = OP_RETURN, .a = use(c, c->result)});
        return;
    default:
        branch_end(c, t);
        patch_here(c, t->at2);
        branches_done(c, t);
    }
}

/* ---- construction ---- */

/* [a] where a gives exactly one output makes the array at once; otherwise the outputs are
 * collected. */
static void step_array(Compiler *c, Task *t) {
    if (t->phase++ == 0) {
        t->r1 = reg_new(c);
        t->at1 = emit(c, (Instr){.op = OP_NOP});
        emit(c, (Instr){.op = OP_NOP});
        t->began = moment_now(c);
        visit_value(c, t->node->a, t->in);
        return;
    }
    if (moment_lasts(c, t->began)) {
        done(c, emit_def(c, (Instr){.op = OP_ARRAY, .a = use(c, c->result)}));
        return;
    }
    c->code[t->at1] = (Instr){.op = OP_MOVE, .dst = t->r1, .a = val_const(c, json_array()).operand};
    c->code[t->at1 + 1].op = OP_FORK;
    emit(c, (Instr){.op = OP_PUSH, .dst = t->r1, .a = use(c, c->result)});
    emit(c, (Instr){.op = OP_BACKTRACK});
    patch_here(c, t->at1 + 1);
    moment_return(c, t->began);
    reg_defined(c, t->r1);
    done(c, (Val){.operand = t->r1, .temp = true});
}

static void step_object(Compiler *c, Task *t) {
    switch (t->phase) {
    case 0:
        t->base = c->nvals;
        t->it = t->node->a;
        t->phase = 1;
        return;
    case 1:
        if (!t->it) {
            size_t n = (c->nvals - t->base) / 2;
            if (n > UINT16_MAX) {
                fail_at(c, t->pos, "An object has more than %d entries; build it in parts.",
                        UINT16_MAX);
            }
            uint32_t first = (uint32_t)c->noperands;
            for (size_t i = t->base; i < c->nvals; i++) pool_add(c, use(c, c->vals[i]));
            c->nvals = t->base;
            done(c, emit_def(c, (Instr){.op = OP_OBJECT, .n = (uint16_t)n, .c = first}));
            return;
        }
        t->phase = 2;
        visit_value(c, t->it->a, val_shared(t->in));
        return;
    case 2:
        push_val(c, c->result);
        if (!t->it->b) {
            /* {"a\(1)"} without a value: the field of that name, outside of any path. */
            uint32_t saved = paths_off(c);
            uint32_t key = c->vals[c->nvals - 1].operand, target = t->in.operand;
            push_val(c, emit_def(c, (Instr){.op = OP_INDEX, .a = target, .b = key}));
            paths_on(c, saved);
            t->it = t->it->next;
            t->phase = 1;
            return;
        }
        t->phase = 3;
        visit_value(c, t->it->b, val_shared(t->in));
        return;
    default:
        push_val(c, c->result);
        t->it = t->it->next;
        t->phase = 1;
    }
}

/* ---- labels ---- */

static void step_label(Compiler *c, Task *t) {
    uint32_t mark = reg_new(c);
    emit(c, (Instr){.op = OP_LABEL, .dst = mark});
    Scope *s = scope_add(c, t->scope, SCOPE_LABEL, t->node);
    s->reg = mark;
    c->backtracks++;
    Val in = t->in;
    become(c, t->node->a, s, in);
}

static void step_break(Compiler *c, Task *t) {
    const Node *n = t->node;
    const Scope *s = scope_find(t->scope, SCOPE_LABEL, n->name, n->name_len);
    if (!s) {
        fail_at(c, t->pos, "There is no label $%.*s around this break.", (int)n->name_len, n->name);
    }
    emit(c, (Instr){.op = OP_BREAK, .a = load_reg(c, s).operand});
    c->backtracks++;
    done(c, val_const(c, json_null()));
}

const StepFn compile_steps[NODE_KIND_COUNT] = {
    [NODE_IDENTITY] = step_identity,
    [NODE_CONST] = step_const,
    [NODE_VAR] = step_var,
    [NODE_FORMAT] = step_format,
    [NODE_STRING] = step_string,
    [NODE_INDEX] = step_index,
    [NODE_SLICE] = step_slice,
    [NODE_EACH] = step_each,
    [NODE_TRY] = step_try,
    [NODE_PIPE] = step_pipe,
    [NODE_COMMA] = step_comma,
    [NODE_BINARY] = step_binary,
    [NODE_NEGATE] = step_negate,
    [NODE_AND] = step_and,
    [NODE_OR] = step_or,
    [NODE_ALTERNATIVE] = step_alternative,
    [NODE_ASSIGN] = step_assign,
    [NODE_UPDATE] = step_update,
    [NODE_UPDATE_WITH] = step_update,
    [NODE_UPDATE_ALT] = step_update,
    [NODE_IF] = step_if,
    [NODE_REDUCE] = step_reduce,
    [NODE_FOREACH] = step_foreach,
    [NODE_DEF] = step_def,
    [NODE_CALL] = step_call,
    [NODE_LABEL] = step_label,
    [NODE_BREAK] = step_break,
    [NODE_BIND] = step_bind,
    [NODE_ARRAY] = step_array,
    [NODE_OBJECT] = step_object,
    [NODE_PATTERNS] = step_patterns,
    [NODE_PATTERN_VAR] = step_pattern_var,
    [NODE_PATTERN_ARRAY] = step_pattern_array,
    [NODE_PATTERN_OBJECT] = step_pattern_object,
};
