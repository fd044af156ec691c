/* stack.c - frames and forks. Their layout is described in machine.h. */
#include "machine.h"

#include "mem.h"

/* ---- frames ---- */

uint32_t frame_env(const JqRun *m, uint32_t fp, uint32_t levels) {
    while (levels--) fp = (uint32_t)((uint64_t)m->slots[fp - 1].i >> 32);
    return fp;
}

static uint32_t frame_end(const JqRun *m) {
    return m->fp + (uint32_t)(m->slots[m->fp - 1].head_ >> 8);
}

static uint32_t frame_depth(const JqRun *m) {
    return (uint32_t)(m->slots[m->fp - 2].head_ >> 32);
}

static uint32_t protected_top(const JqRun *m) {
    return m->nforks ? m->forks[m->nforks - 1].top : 0;
}

/* Room for a frame at the top, its registers empty. False when the stack is full. */
bool frame_push(JqRun *m, const Func *f, Header h) {
    size_t need = (size_t)m->top + FRAME_HEADER + f->nregs;
    if (need > m->slots_cap) {
        size_t cap = m->slots_cap ? m->slots_cap * 2 : 64;
        cap = cap < need ? need : cap;
        if (h.depth > run_limit_depth(m) || cap > SLOT_LIMIT ||
            !jq_room(m, (cap - m->slots_cap) * sizeof(Json))) {
            return m->failed_hard ? false
                                  : run_fail_hard(m, ERR_LIMIT, "Calls are nested too deeply.");
        }
        m->slots = mem_realloc(m->slots, cap * sizeof *m->slots);
        m->slots_cap = cap;
    }
    if (h.depth > run_limit_depth(m)) {
        return run_fail_hard(
            m, ERR_LIMIT,
            "Calls are nested more than %llu deep; raise the limit or look for a recursion "
            "that does not end.",
            (unsigned long long)run_limit_depth(m));
    }
    Json *s = m->slots + m->top;
    s[0].head_ = JSON_TAG_INT | (uint64_t)h.depth << 32;
    s[0].i = (int64_t)((uint64_t)h.caller << 32 | h.pc);
    s[1].head_ = JSON_TAG_INT | (uint64_t)f->nregs << 8;
    s[1].i = (int64_t)((uint64_t)h.env << 32 | h.dst);
    memset(s + FRAME_HEADER, 0, f->nregs * sizeof *s);
    m->fp = m->top + FRAME_HEADER;
    m->top = (uint32_t)need;
    return true;
}

/* ---- forks ---- */

void slots_drop(JqRun *m, uint32_t top) {
    for (uint32_t i = top; i < m->top; i++) json_unref(m->slots[i]);
    m->top = top;
}

void fork_drop(JqRun *m, size_t n) {
    while (m->nforks > n) {
        Fork *f = &m->forks[--m->nforks];
        json_unref(f->path);
        json_unref(f->path_value);
    }
}

bool fork_grow(JqRun *m) {
    size_t cap = m->forks_cap ? m->forks_cap * 2 : 32;
    if (cap > FORK_LIMIT || !jq_room(m, (cap - m->forks_cap) * sizeof(Fork))) {
        return m->failed_hard
                   ? false
                   : run_fail_hard(m, ERR_LIMIT, "Too many alternatives are open at once.");
    }
    m->forks = mem_realloc(m->forks, cap * sizeof *m->forks);
    m->forks_cap = cap;
    return true;
}

Json fork_mark(const JqRun *m) {
    const Fork *f = &m->forks[m->nforks - 1];
    return json_int((int64_t)((uint64_t)(m->nforks - 1) << 32 | f->serial));
}

/* Forgets the fork that a mark stands for and all after it. */
bool fork_cut(JqRun *m, Json mark) {
    size_t at = (size_t)((uint64_t)mark.i >> 32);
    if (at >= m->nforks || m->forks[at].serial != (uint32_t)mark.i) {
        jq_fail(m, "break");
        return false;
    }
    fork_drop(m, at);
    uint32_t keep = protected_top(m), end = frame_end(m);
    slots_drop(m, keep > end ? keep : end);
    return true;
}

/* The next place to go on at after an error; false when nobody catches it. */
bool fork_catch(JqRun *m) {
    const Instr *code = m->program->code;
    while (m->nforks && !m->failed_hard) {
        ForkKind kind = m->forks[m->nforks - 1].kind;
        if (kind == FORK_EXIT) {
            fork_drop(m, m->forks[m->nforks - 1].pc);
        } else if (kind == FORK_TRY || kind == FORK_ALTERNATE) {
            const Instr *in = &code[fork_pop(m)];
            m->pc = in->c;
            Json *error = &m->slots[m->fp + in->dst];
            Json value = json_take(&m->raised);
            if (kind == FORK_TRY) {
                json_unref(*error);
                *error = value;
            } else {
                json_unref(value);
            }
            return true;
        } else {
            fork_drop(m, m->nforks - 1);
        }
    }
    return false;
}

bool fork_end_try(JqRun *m, Json mark) {
    size_t at = (size_t)((uint64_t)mark.i >> 32);
    if (m->nforks == at + 1) {
        fork_drop(m, at);
        return true;
    }
    return fork_push(m, FORK_EXIT, (uint32_t)at);
}

/* ---- calls ---- */

bool frame_call(JqRun *m, const Instr *in, Json input) {
    uint32_t caller = m->fp, levels = m->program->operands[in->c];
    Header h = {caller, m->pc, frame_env(m, caller, levels), in->dst, frame_depth(m) + 1};
    if (!frame_push(m, &m->program->funcs[in->a], h)) {
        json_unref(input);
        return false;
    }
    m->slots[m->fp] = input;
    /* The closures of a call, evaluated in the caller's frame, written behind the callee's input. */
    const uint32_t *pool = m->program->operands + in->c + 1;
    for (uint32_t i = 0; i < in->n; i++) {
        uint32_t kind = pool[2 * i], number = pool[2 * i + 1];
        m->slots[m->fp + 1 + i] = kind == CLOSURE_NEW
                                      ? json_int((int64_t)((uint64_t)number << 32 | caller))
                                      : m->slots[frame_env(m, caller, kind) + number];
    }
    m->pc = m->program->funcs[in->a].entry;
    return true;
}

/* The callee takes our place: it returns to our caller. Its frame is built behind ours and moved
 * down. */
bool frame_tail_call(JqRun *m, const Instr *in, Json input) {
    uint32_t base = m->fp - FRAME_HEADER;
    if (base < protected_top(m) || base == 0) return frame_call(m, in, input);
    Json old0 = m->slots[base], old1 = m->slots[base + 1];
    uint32_t size = FRAME_HEADER + m->program->funcs[in->a].nregs;
    slots_drop(m, m->top > frame_end(m) ? frame_end(m) : m->top);
    if (!frame_call(m, in, input)) return false;
    uint32_t from = m->fp - FRAME_HEADER, env = (uint32_t)((uint64_t)m->slots[m->fp - 1].i >> 32);
    m->slots[from] = old0;
    m->slots[from + 1].i = (int64_t)((uint64_t)env << 32 | (uint32_t)old1.i);
    for (uint32_t i = base; i < from; i++) json_unref(m->slots[i]);
    memmove(m->slots + base, m->slots + from, size * sizeof *m->slots);
    m->top = base + size;
    m->fp = base + FRAME_HEADER;
    return true;
}

bool frame_call_closure(JqRun *m, const Instr *in, Json input) {
    uint64_t closure = (uint64_t)m->slots[frame_env(m, m->fp, in->a) + in->c].i;
    const Func *f = &m->program->funcs[closure >> 32];
    Header h = {m->fp, m->pc, (uint32_t)closure, in->dst, frame_depth(m) + 1};
    if (!frame_push(m, f, h)) {
        json_unref(input);
        return false;
    }
    m->slots[m->fp] = input;
    m->pc = f->entry;
    return true;
}

/* Gives value to the caller, dropping our frame when no fork needs it. */
void frame_return(JqRun *m, Json value) {
    uint32_t base = m->fp - FRAME_HEADER;
    uint64_t back = (uint64_t)m->slots[base].i;
    uint32_t dst = (uint32_t)m->slots[base + 1].i;
    if (base >= protected_top(m)) slots_drop(m, base);
    m->fp = (uint32_t)(back >> 32);
    m->pc = (uint32_t)back;
    Json *to = &m->slots[m->fp + dst];
    Json old = *to;
    *to = value;
    json_unref(old);
}
