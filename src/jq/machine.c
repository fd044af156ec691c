/* machine.c - the loop over instructions. The state it works on is described in machine.h. */
#include "machine.h"

#include "json_breath.h"
#include "json_path.h"
#include "mem.h"

#include <string.h>

static inline bool in_range(Json now, Json upto, Json by) {
    if (json_tag(now) == JSON_TAG_INT && json_tag(upto) == JSON_TAG_INT &&
        json_tag(by) == JSON_TAG_INT) {
        return by.i > 0 ? now.i < upto.i : by.i < 0 && now.i > upto.i;
    }
    double a = json_to_double(now), b = json_to_double(upto), step = json_to_double(by);
    return step > 0 ? a < b : step < 0 && a > b;
}

static inline Json range_step(Json now, Json by) {
    int64_t sum;
    if (json_tag(now) == JSON_TAG_INT && json_tag(by) == JSON_TAG_INT &&
        !__builtin_add_overflow(now.i, by.i, &sum)) {
        return json_int(sum);
    }
    return json_number(json_to_double(now) + json_to_double(by));
}

static inline Json borrow(const JqRun *m, uint32_t x) {
    return x & OPERAND_CONST ? m->program->constants[x & OPERAND_NUMBER]
                             : m->slots[m->fp + (x & OPERAND_NUMBER)];
}

/* After an operand that was only read: lets go of it when this was its last use. */
static inline void settle(JqRun *m, uint32_t x) {
    if (x & OPERAND_TAKE) {
        Json *slot = &m->slots[m->fp + (x & OPERAND_NUMBER)];
        Json old = *slot;
        *slot = json_null();
        json_unref(old);
    }
}

static inline Json own(JqRun *m, uint32_t x) {
    if (x & OPERAND_TAKE) {
        Json *slot = &m->slots[m->fp + (x & OPERAND_NUMBER)];
        Json v = *slot;
        *slot = json_null();
        return json_is_none(v) ? json_null() : v;
    }
    return json_ref(borrow(m, x));
}

static inline void put(Json *slot, Json v) {
    Json old = *slot;
    *slot = v;
    json_unref(old);
}

enum { LARGE = 1 << 16 }; /* bytes: operations on so many may take long */

/* After an operation on something large, which may have taken as long as many steps: whoever gave the slice
 * has a look before the next one. */
static void look_soon(JqRun *m, uint64_t bytes) {
    if (bytes < LARGE) return;
    m->steps = jq_run_steps(m);
    m->fuel = m->fuel_given = 0;
    m->slice_end = m->slice_end ? m->steps : 0;
}

static inline Json looked_at(JqRun *m, Json v) {
    if (json_on_heap(v)) look_soon(m, json_size(v));
    return v;
}

static inline bool is_large(Json v) {
    return json_on_heap(v) && json_size(v) >= LARGE;
}

/* Adding to an array or an object takes as long as what is added; a text is copied whole. */
static inline bool is_large_sum(Json a, Json b) {
    return is_large(b) || (json_tag(a) == JSON_TAG_STRING && is_large(a));
}

static inline bool is_quick(const JqNative *native, Json input) {
    return native->effects & JQ_NATIVE_QUICK && json_tag(input) != JSON_TAG_STRING;
}

static Json call_native(JqRun *m, const Instr *in) {
    Json args[JQ_NATIVE_ARITY_MAX + 1];
    const uint32_t *pool = m->program->operands + in->c;
    if (m->to_apart) {
        memcpy(args, m->apart_args, sizeof args);
        m->to_apart = false;
    } else {
        for (uint32_t i = 0; i < in->n; i++) args[i] = own(m, pool[i]);
    }
    const JqNative *native = m->program->natives[in->a];
    bool quick = is_quick(native, args[0]);
    uint64_t size = in->n && !quick && json_on_heap(args[0]) ? json_size(args[0]) : 0;
    m->args = args;
    m->nargs = in->n;
    m->args_heap = json_heap_bytes();
    Json v = native->fn(m, args);
    m->nargs = 0;
    if (m->to_apart) {
        memcpy(m->apart_args, args, sizeof args);
        return v;
    }
    look_soon(m, size);
    for (uint32_t i = 0; i < in->n; i++) json_unref(args[i]);
    return quick ? v : looked_at(m, v);
}

/* The n operands at c as owned values, in memory of the run's that the next call uses again. */
static Json *own_all(JqRun *m, const Instr *in, size_t n) {
    if (n > m->values_cap) {
        m->values = mem_realloc(m->values, n * sizeof *m->values);
        m->values_cap = n;
    }
    for (size_t i = 0; i < n; i++) m->values[i] = own(m, m->program->operands[in->c + i]);
    return m->values;
}

static void release_all(Json *values, size_t n) {
    for (size_t i = 0; i < n; i++) json_unref(values[i]);
}

static Json make_object(JqRun *m, const Instr *in) {
    size_t n = in->n;
    Json *pairs = own_all(m, in, 2 * n);
    if (keys_are_strings(m, pairs, n)) return json_object_from(pairs, n);
    release_all(pairs, 2 * n);
    return json_none();
}

static Json concat(JqRun *m, const Instr *in) {
    Json *parts = own_all(m, in, in->n);
    Json v = do_concat(m, parts, in->n);
    release_all(parts, in->n);
    return v;
}

static inline bool both_int(Json a, Json b) {
    return json_tag(a) == JSON_TAG_INT && json_tag(b) == JSON_TAG_INT;
}

/* So small that the sum of two such is an integer that doubles hold, as arithmetic promises. */
static inline bool is_small(int64_t i) {
    return i < (1ll << 51) && i > -(1ll << 51);
}

/* Equal exactly when the bits are: null, booleans, integers and short strings among each other. */
static inline bool is_plain(Json j) {
    return json_tag(j) < JSON_TAG_HEAP && json_tag(j) != JSON_TAG_DOUBLE &&
           json_tag(j) != JSON_TAG_SHORT_DECIMAL;
}

typedef Json (*OperatorFn)(JqRun *m, Json a, Json b);

static const OperatorFn arithmetic[] = {
    [OP_ADD] = jq_add,       [OP_SUBTRACT] = jq_subtract, [OP_MULTIPLY] = jq_multiply,
    [OP_DIVIDE] = jq_divide, [OP_MODULO] = jq_modulo,
};

static Json set_path(JqRun *m, const Instr *in) {
    Error err;
    error_clear(&err);
    Json target = own(m, in->a), value = own(m, in->c);
    Json v = json_path_set(target, borrow(m, in->b), value, &err);
    settle(m, in->b);
    return json_is_none(v) ? jq_fail_error(m, &err) : v;
}

static Json delete_paths(JqRun *m, const Instr *in) {
    Error err;
    error_clear(&err);
    Json v = json_path_delete(own(m, in->a), borrow(m, in->b), &err);
    return json_is_none(v) ? jq_fail_error(m, &err) : v;
}

static Json lift_path(JqRun *m, const Instr *in) {
    Error err;
    error_clear(&err);
    Json *from = &m->slots[m->fp + in->a], path = borrow(m, in->b);
    Json v = in->flags & INSTR_COPY ? json_path_get(*from, path, &err)
                                    : json_path_lift(from, path, &err);
    return json_is_none(v) ? jq_fail_error(m, &err) : v;
}

/* ---- operations apart ---- */

static Json calculate(JqRun *m, const Instr *in) {
    Json b = own(m, in->b), a = own(m, in->a);
    bool quick = in->op == OP_ADD && !is_large_sum(a, b);
    Json v = arithmetic[in->op](m, a, b);
    return quick ? v : looked_at(m, v);
}

static Json compare(JqRun *m, const Instr *in) {
    Json a = borrow(m, in->a), b = borrow(m, in->b);
    Json v = in->op == OP_EQ || in->op == OP_NE ? do_equal(m, a, b, in->op == OP_NE)
                                                : do_compare(m, (Opcode)in->op, a, b);
    settle(m, in->a);
    settle(m, in->b);
    return v;
}

static Json find_places(JqRun *m, const Instr *in) {
    Json v = do_index(m, borrow(m, in->a), borrow(m, in->b));
    settle(m, in->a);
    settle(m, in->b);
    return v;
}

static Json format(JqRun *m, const Instr *in) {
    return looked_at(m, m->program->formats[in->b](m, own(m, in->a)));
}

typedef Json (*OperationFn)(JqRun *m, const Instr *in);

static const OperationFn operations[] = {
    [OP_ADD] = calculate,      [OP_SUBTRACT] = calculate,
    [OP_MULTIPLY] = calculate, [OP_DIVIDE] = calculate,
    [OP_MODULO] = calculate,   [OP_EQ] = compare,
    [OP_NE] = compare,         [OP_LT] = compare,
    [OP_LE] = compare,         [OP_GT] = compare,
    [OP_GE] = compare,         [OP_INDEX] = find_places,
    [OP_FORMAT] = format,      [OP_NATIVE] = call_native,
    [OP_CONCAT] = concat,      [OP_DELETE_PATHS] = delete_paths,
};

/* A short text, a large one in the end. */
static bool repeats_text(const JqRun *m, const Instr *in) {
    enum { TIMES = 1000 };
    if (in->op != OP_MULTIPLY || !m->slice_end) return false;
    Json a = borrow(m, in->a), b = borrow(m, in->b), times = json_kind(a) == JSON_STRING ? b : a;
    return (json_kind(a) == JSON_STRING || json_kind(b) == JSON_STRING) &&
           json_kind(times) == JSON_NUMBER && json_to_double(times) > TIMES;
}

/* A run that is not sliced has nobody to give way to. */
static inline bool may_take_long(const JqRun *m, Json a, Json b) {
    return m->slice_end && (is_large(a) || is_large(b));
}

/* From the first operand that counts on. */
static bool any_is_large(const JqRun *m, const Instr *in, uint32_t first) {
    const uint32_t *pool = m->program->operands + in->c;
    for (uint32_t i = first; i < in->n; i++) {
        if (is_large(borrow(m, pool[i]))) return true;
    }
    return false;
}

static bool native_takes_long(const JqRun *m, const Instr *in) {
    Json input = borrow(m, m->program->operands[in->c]);
    return any_is_large(m, in, is_quick(m->program->natives[in->a], input));
}

static void do_apart(void *run) {
    JqRun *m = run;
    m->apart_value = operations[m->apart_of->op](m, m->apart_of);
}

static void breathe(void *run) {
    run_breathe(run);
}

/* Whether it has come to its end. What others did to the heap meanwhile is not seen on the fiber. */
static bool go_on_apart(JqRun *m) {
    size_t others = json_heap_bytes() - m->apart_heap;
    json_heap_move(-others);
    json_breath = (JsonBreath){breathe, m, 0};
    m->on_fiber = true;
    bool ended = fiber_resume(m->apart);
    m->on_fiber = false;
    json_breath = (JsonBreath){0};
    m->apart_heap = json_heap_bytes();
    json_heap_move(others);
    if (!ended) return false;
    m->heap_base += (int64_t)others;
    fiber_free(m->apart);
    m->apart = NULL;
    return true;
}

void machine_abandon(JqRun *m) {
    m->abandoned = true;
    while (!go_on_apart(m)) continue;
    m->abandoned = false;
    json_clear(&m->apart_value);
}

static const Json truths[] = {{.head_ = JSON_TAG_FALSE}, {.head_ = JSON_TAG_TRUE}};

/* While the loop runs, pc, fuel and the registers of the frame are in C variables. */
#define LEAVE()   (m->fuel = fuel, m->pc = (uint32_t)(pc - code))
#define ENTER()   (fuel = m->fuel, pc = code + m->pc, regs = m->slots + m->fp)
#define BORROW(x) ((x)&OPERAND_CONST ? constants[(x)&OPERAND_NUMBER] : regs[(x)&OPERAND_NUMBER])

/* Runs an operation that may charge fuel. */
#define SLOW(value, operation) \
    do {                       \
        LEAVE();               \
        value = (operation);   \
        fuel = m->fuel;        \
    } while (0)

/* Stores what an operation gave, unless it failed. */
#define KEEP(value)                 \
    do {                            \
        if (json_is_none(value)) {  \
            goto raise;             \
        }                           \
        put(&regs[in->dst], value); \
    } while (0)

#define STORE(operation)         \
    do {                         \
        Json result;             \
        SLOW(result, operation); \
        KEEP(result);            \
    } while (0)

JqStatus machine_execute(JqRun *m, Json *out) {
    const Instr *const code = m->program->code;
    const Json *const constants = m->program->constants;
    const Instr *pc, *in = code;
    Json *regs;
    int64_t fuel;
    ENTER();
    if (m->apart) {
        in = pc;
        goto go_on;
    }
    if (m->state == RUN_BACKTRACK) goto backtrack;
next:
    if (--fuel <= 0) {
        LEAVE();
        if (!run_refill(m)) goto raise_hard;
        if (m->paused) return JQ_PAUSED;
        fuel = m->fuel;
    }
    in = pc++;
    switch ((Opcode)in->op) {
    case OP_NOP:
    case OP_COUNT: goto next;
    case OP_MOVE: put(&regs[in->dst], own(m, in->a)); goto next;
    case OP_LOAD_UP:
        put(&regs[in->dst], json_ref(m->slots[frame_env(m, m->fp, in->b) + in->a]));
        goto next;
    case OP_NEGATE: STORE(jq_negate(m, own(m, in->a))); goto next;
    case OP_ADD:
    case OP_SUBTRACT: {
        Json a = BORROW(in->a), b = BORROW(in->b);
        if (both_int(a, b) && is_small(a.i) && is_small(b.i)) {
            put(&regs[in->dst], json_int(in->op == OP_ADD ? a.i + b.i : a.i - b.i));
            goto next;
        }
    }
        /* fall through */
    case OP_MULTIPLY:
    case OP_DIVIDE:
    case OP_MODULO:
        if (in->op == OP_ADD
                ? m->slice_end && is_large_sum(BORROW(in->a), BORROW(in->b))
                : may_take_long(m, BORROW(in->a), BORROW(in->b)) || repeats_text(m, in)) {
            goto apart;
        }
        STORE(calculate(m, in));
        goto next;
    case OP_EQ:
    case OP_NE: {
        Json a = BORROW(in->a), b = BORROW(in->b), v;
        if (is_plain(a) && is_plain(b)) {
            v = truths[json_identical(a, b) == (in->op == OP_EQ)];
        } else if (m->slice_end && is_large(a) && is_large(b)) { /* or they differ in size */
            goto apart;
        } else {
            SLOW(v, compare(m, in));
        }
        KEEP(v);
        goto next;
    }
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE: {
        Json a = BORROW(in->a), b = BORROW(in->b);
        if (both_int(a, b)) {
            bool yes = in->op == OP_LT   ? a.i < b.i
                       : in->op == OP_LE ? a.i <= b.i
                       : in->op == OP_GT ? a.i > b.i
                                         : a.i >= b.i;
            put(&regs[in->dst], truths[yes]);
            goto next;
        }
        if (may_take_long(m, a, b)) goto apart;
        STORE(compare(m, in));
        goto next;
    }
    case OP_TRUTH:
    case OP_NOT: {
        bool truth = json_truthy(BORROW(in->a));
        settle(m, in->a);
        put(&regs[in->dst], truths[truth == (in->op == OP_TRUTH)]);
        goto next;
    }
    case OP_JUMP: pc = code + in->c; goto next;
    case OP_JUMP_FALSE:
    case OP_JUMP_TRUE: {
        bool truth = json_truthy(BORROW(in->a));
        settle(m, in->a);
        if (truth == (in->op == OP_JUMP_TRUE)) pc = code + in->c;
        goto next;
    }
    case OP_INDEX: {
        Json of = BORROW(in->a), key = BORROW(in->b), v;
        if (is_field(of, key) && !following(m)) {
            v = field(of, key);
        } else if (json_tag(key) == JSON_TAG_ARRAY && may_take_long(m, of, json_null())) {
            goto apart;
        } else {
            SLOW(v, do_index(m, of, key));
        }
        settle(m, in->a);
        settle(m, in->b);
        KEEP(v);
        goto next;
    }
    case OP_SLICE: {
        Json v;
        SLOW(v, do_slice(m, BORROW(in->a), BORROW(in->b), BORROW(in->c)));
        settle(m, in->a);
        settle(m, in->b);
        settle(m, in->c);
        KEEP(v);
        goto next;
    }
    case OP_EACH: {
        Json counter;
        if (!do_each(m, BORROW(in->a), &counter)) goto raise;
        put(&regs[in->b], counter);
        goto next;
    }
    case OP_EACH_NEXT: {
        Json *counter = &regs[in->b];
        uint64_t left = (uint64_t)counter->i >> 32;
        if (left == 0) goto backtrack;
        if (left > 1 && !fork_push(m, FORK_PLAIN, (uint32_t)(in - code))) goto raise;
        put(&regs[in->dst], each_element(m, regs[in->a], counter));
        goto next;
    }
    case OP_RANGE:
        if (!settle_bound(m, &regs[in->a]) || !settle_bound(m, &regs[in->b]) ||
            !settle_bound(m, &regs[in->c])) {
            goto raise;
        }
        put(&regs[in->dst], regs[in->a]);
        goto next;
    case OP_RANGE_NEXT: { /* bounds are not on the heap: settle_bound() saw to that */
        Json now = regs[in->a], upto = regs[in->b], by = regs[in->c];
        if (!in_range(now, upto, by)) goto backtrack;
        Json after = range_step(now, by);
        if (in_range(after, upto, by) && !fork_push(m, FORK_PLAIN, (uint32_t)(in - code))) {
            goto raise;
        }
        regs[in->a] = after;
        put(&regs[in->dst], now);
        goto next;
    }
    case OP_ARRAY: {
        Json item = own(m, in->a);
        put(&regs[in->dst], json_array_from(&item, 1));
        goto next;
    }
    case OP_PUSH: {
        Json item = own(m, in->a);
        regs[in->dst] = json_array_push(regs[in->dst], item);
        goto next;
    }
    case OP_OBJECT: STORE(make_object(m, in)); goto next;
    case OP_FORMAT:
        if (may_take_long(m, BORROW(in->a), json_null())) goto apart;
        STORE(format(m, in));
        goto next;
    case OP_CONCAT:
        if (m->slice_end && any_is_large(m, in, 0)) goto apart;
        STORE(concat(m, in));
        goto next;
    case OP_NATIVE:
        if (m->slice_end && native_takes_long(m, in)) goto apart;
        {
            Json v;
            SLOW(v, call_native(m, in));
            if (m->to_apart) goto apart;
            KEEP(v);
        }
        goto next;
    case OP_CALL:
    case OP_TAIL_CALL:
    case OP_CALL_CLOSURE: {
        Json input = own(m, in->b);
        fuel -= CALL_COST;
        LEAVE();
        bool entered = in->op == OP_CALL        ? frame_call(m, in, input)
                       : in->op == OP_TAIL_CALL ? frame_tail_call(m, in, input)
                                                : frame_call_closure(m, in, input);
        if (!entered) goto raise_hard;
        ENTER();
        goto next;
    }
    case OP_RETURN: {
        Json v = own(m, in->a);
        LEAVE();
        if (m->fp == FRAME_HEADER) {
            *out = v;
            m->state = RUN_BACKTRACK;
            return JQ_OUTPUT;
        }
        frame_return(m, v);
        ENTER();
        goto next;
    }
    case OP_FORK:
        if (!fork_push(m, FORK_PLAIN, in->c)) goto raise;
        goto next;
    case OP_BACKTRACK: goto backtrack;
    case OP_TRY:
        if (!fork_push(m, FORK_TRY, (uint32_t)(in - code))) goto raise;
        put(&regs[in->a], fork_mark(m));
        goto next;
    case OP_TRY_END:
        if (!fork_end_try(m, regs[in->a])) goto raise;
        goto next;
    case OP_ALTERNATE:
        if (!fork_push(m, FORK_ALTERNATE, (uint32_t)(in - code))) goto raise;
        goto next;
    case OP_RAISE: jq_fail_value(m, own(m, in->a)); goto raise;
    case OP_LABEL:
        if (!fork_push(m, FORK_LABEL, 0)) goto raise;
        put(&regs[in->dst], fork_mark(m));
        goto next;
    case OP_CUT:
    case OP_BREAK:
        if (!fork_cut(m, BORROW(in->a))) goto raise;
        if (in->op == OP_BREAK) goto backtrack;
        goto next;
    case OP_LIMIT:
        regs[in->dst].i++;
        if (json_number_compare(regs[in->dst], regs[in->a]) >= 0 && !fork_cut(m, regs[in->b])) {
            goto raise;
        }
        goto next;
    case OP_LIMIT_CHECK: {
        int order = check_limit(m, regs[in->a]);
        if (order < 0) goto raise;
        if (order == 0) goto backtrack;
        goto next;
    }
    case OP_PATH_BEGIN:
        keep_path(m, &regs[in->dst], json_array(), json_ref(BORROW(in->a)));
        goto next;
    case OP_PATH_END: {
        if (!check_result(m, BORROW(in->a))) goto raise;
        Json path = json_ref(m->path);
        restore_path(m, &regs[in->b]);
        settle(m, in->a);
        put(&regs[in->dst], path);
        goto next;
    }
    case OP_PATH_OFF: keep_path(m, &regs[in->dst], json_none(), json_none()); goto next;
    case OP_PATH_ON: restore_path(m, &regs[in->a]); goto next;
    case OP_GET_PATH: {
        Json v;
        SLOW(v, do_get_path(m, BORROW(in->a), BORROW(in->b)));
        settle(m, in->a);
        settle(m, in->b);
        KEEP(v);
        goto next;
    }
    case OP_SET_PATH: STORE(set_path(m, in)); goto next;
    case OP_LIFT_PATH: STORE(lift_path(m, in)); goto next;
    case OP_DELETE_PATHS:
        if (may_take_long(m, BORROW(in->a), BORROW(in->b))) goto apart;
        STORE(delete_paths(m, in));
        goto next;
    case OP_ENV:
        put(&regs[in->dst], json_is_none(m->host.env) ? json_object() : json_ref(m->host.env));
        goto next;
    }
    goto next;

apart:
    LEAVE();
    m->apart_of = in;
    m->apart = fiber_new(do_apart, m);
    m->apart_heap = json_heap_bytes();
go_on:
    m->pc = (uint32_t)(in - code);
    if (!go_on_apart(m)) return JQ_PAUSED;
    {
        Json v = json_take(&m->apart_value);
        fuel = m->fuel;
        pc = in + 1;
        KEEP(v);
    }
    goto next;

backtrack:
    while (m->nforks) {
        if (m->forks[m->nforks - 1].kind == FORK_PLAIN) {
            pc = code + fork_pop(m);
            regs = m->slots + m->fp;
            m->state = RUN_GO;
            goto next;
        }
        fork_drop(m, m->nforks - 1);
    }
    LEAVE();
    return JQ_DONE;

raise:
    if (!m->failed_hard && !m->off_path && (in->flags & INSTR_OPTIONAL)) {
        json_clear(&m->raised);
        goto backtrack;
    }
    m->off_path = false;
    LEAVE();
raise_hard:
    if (fork_catch(m)) {
        ENTER();
        goto next;
    }
    program_locate(m->program, in->pos, &m->error.line, &m->error.col);
    return JQ_FAILED;
}
