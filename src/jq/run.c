/* run.c - the life of a run: start, next, errors, budget. The state is described in machine.h. */
#include "machine.h"

#include "json_print.h"
#include "mem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- life ---- */

static uint64_t limit_steps(const JqRun *m) {
    return m->host.budget.steps ? m->host.budget.steps : JQ_DEFAULT_STEPS;
}

JqRun *jq_run_new(const JqProgram *p, const JqHost *host) {
    JqRun *m = mem_zalloc(sizeof *m);
    m->program = p;
    if (host) m->host = *host;
    return m;
}

static void reset(JqRun *m) {
    if (!m->used) return;
    if (m->apart) machine_abandon(m);
    fork_drop(m, 0);
    slots_drop(m, 0);
    if (following(m)) {
        json_clear(&m->path);
        json_clear(&m->path_value);
    }
    json_clear(&m->raised);
    m->failed_hard = m->paused = false;
    m->state = RUN_IDLE;
    m->used = false;
}

void jq_run_stop(JqRun *m) {
    reset(m);
}

void jq_run_free(JqRun *m) {
    if (!m) return;
    reset(m);
    for (size_t i = 0; i < m->nkept; i++) m->kept[i].free_fn(m->kept[i].p);
    mem_free(m->slots);
    mem_free(m->forks);
    mem_free(m->values);
    buf_clear(&m->scratch);
    mem_free(m);
}

void **jq_run_keep(JqRun *m, void (*free_fn)(void *)) {
    for (size_t i = 0; i < m->nkept; i++) {
        if (m->kept[i].free_fn == free_fn) return &m->kept[i].p;
    }
    assert(m->nkept < KEPT_MAX);
    m->kept[m->nkept] = (Kept){free_fn, NULL};
    return &m->kept[m->nkept++].p;
}

bool jq_is_exact(const JqRun *m) {
    return m->program->exact;
}

const JqHost *jq_run_host(const JqRun *m) {
    return &m->host;
}

double jq_run_now(JqRun *m) {
    if (m->host.now) return m->host.now(m->host.ctx);
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

uint64_t jq_run_steps(const JqRun *m) {
    return m->steps + (uint64_t)(m->fuel_given - m->fuel);
}

const Error *jq_run_error(const JqRun *m) {
    return &m->error;
}

Json jq_run_raised(const JqRun *m) {
    return m->failed_hard ? json_none() : m->raised;
}

/* ---- errors ---- */

Json jq_fail_value(JqRun *m, Json value) {
    json_clear(&m->raised);
    m->raised = value;
    return json_none();
}

Json jq_fail(JqRun *m, const char *fmt, ...) {
    char text[1024];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    return jq_fail_value(m, json_string(text, len));
}

Json jq_fail_error(JqRun *m, const Error *err) {
    return jq_fail_value(m, json_string_c(err->msg));
}

bool run_fail_hard(JqRun *m, ErrorCode code, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    error_vset_at(&m->error, code, 0, 0, fmt, args);
    va_end(args);
    m->failed_hard = true;
    return false;
}

/* ---- budget ---- */

static int by_word(const void *a, const void *b) {
    uint64_t x = ((const Json *)a)->word_, y = ((const Json *)b)->word_;
    return (x > y) - (x < y);
}

static void gather(Json j, Json *out, size_t *n) {
    if (json_on_heap(j)) out[(*n)++] = j;
}

/* What the machine really holds, each value that several registers share counted once. */
static uint64_t recount(JqRun *m) {
    Json *held = mem_alloc((m->top + 2 * m->nforks + m->nargs + 2) * sizeof *held);
    size_t n = 0;
    for (size_t i = 0; i < m->nargs; i++) gather(m->args[i], held, &n);
    for (uint32_t i = 0; i < m->top; i++) gather(m->slots[i], held, &n);
    for (size_t i = 0; i < m->nforks; i++) {
        gather(m->forks[i].path, held, &n);
        gather(m->forks[i].path_value, held, &n);
    }
    qsort(held, n, sizeof *held, by_word);
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        bool again = i > 0 && held[i].word_ == held[i - 1].word_;
        uint64_t size = again ? 0 : json_size(held[i]);
        total = total + size < total ? UINT64_MAX : total + size;
    }
    mem_free(held);
    total = total > m->given ? total - m->given : 0;
    size_t heap = json_heap_bytes();
    uint64_t made = m->nargs && heap > m->args_heap ? heap - m->args_heap : 0;
    return total + made < total ? UINT64_MAX : total + made;
}

static uint64_t stack_bytes(const JqRun *m) {
    return m->slots_cap * sizeof *m->slots + m->forks_cap * sizeof *m->forks;
}

static uint64_t grown_bytes(const JqRun *m) {
    int64_t grown = (int64_t)json_heap_bytes() - m->heap_base;
    return grown > 0 ? (uint64_t)grown : 0;
}

static bool memory_left(JqRun *m, uint64_t extra) {
    uint64_t limit = m->host.budget.memory ? m->host.budget.memory : JQ_DEFAULT_MEMORY;
    while (grown_bytes(m) + stack_bytes(m) + extra > limit && json_release_more()) continue;
    if (grown_bytes(m) + stack_bytes(m) + extra <= limit) return true;
    /* What the run holds, when the heap has grown past the budget: at least the growth without all
     * outputs, and at least what can be counted up. */
    uint64_t grown = grown_bytes(m), counted = m->handed ? recount(m) : 0;
    uint64_t least = grown > m->handed ? grown - m->handed : 0;
    uint64_t held = least > counted ? least : counted;
    if (held + stack_bytes(m) + extra > limit || held > limit) {
        return run_fail_hard(
            m, ERR_LIMIT,
            "The expression needs more than its %llu bytes of memory; raise the limit or make "
            "it build less at a time.",
            (unsigned long long)limit);
    }
    m->heap_base = (int64_t)json_heap_bytes() - (int64_t)held;
    m->handed = 0;
    return true;
}

bool jq_room(JqRun *m, uint64_t bytes) {
    return bytes < 4096 || (bytes < UINT64_MAX / 2 && memory_left(m, bytes)) ||
           (bytes >= UINT64_MAX / 2 && memory_left(m, UINT64_MAX / 2));
}

/* Steps until somebody wants to look again. */
static void give_fuel(JqRun *m) {
    uint64_t limit = limit_steps(m), left = limit > m->steps ? limit - m->steps : 0;
    uint64_t slice = m->slice_end > m->steps ? m->slice_end - m->steps + 1 : FUEL_CHUNK;
    uint64_t fuel = left < FUEL_CHUNK ? left + 1 : FUEL_CHUNK;
    m->fuel = m->fuel_given = (int64_t)(fuel < slice ? fuel : slice);
}

bool run_refill(JqRun *m) {
    m->steps = jq_run_steps(m);
    m->fuel = m->fuel_given = 0;
    uint64_t limit = limit_steps(m);
    if (m->host.cancel && atomic_load_explicit(m->host.cancel, memory_order_relaxed)) {
        return run_fail_hard(m, ERR_CANCELLED, "The evaluation was cancelled.");
    }
    if (m->steps > limit) {
        return run_fail_hard(
            m, ERR_LIMIT,
            "The expression used more than %llu steps; raise the limit if that is meant, or "
            "look for a loop that does not end.",
            (unsigned long long)limit);
    }
    if (!memory_left(m, 0)) return false;
    m->paused = m->slice_end && m->steps >= m->slice_end;
    give_fuel(m);
    return true;
}

uint64_t jq_steps_left(const JqRun *m) {
    uint64_t limit = limit_steps(m), used = jq_run_steps(m);
    return limit > used ? limit - used : 0;
}

bool jq_is_sliced(const JqRun *m) {
    return m->slice_end;
}

bool jq_is_wanted(const JqRun *m) {
    return !m->abandoned;
}

Json jq_apart(JqRun *m) {
    m->to_apart = true;
    return json_none();
}

void run_breathe(JqRun *m) {
    if (m->abandoned) return;
    m->steps = jq_run_steps(m);
    m->fuel = m->fuel_given = 0;
    m->paused = true;
    fiber_give_way(m->apart);
}

bool jq_charge(JqRun *m, uint64_t n) {
    if (n > INT64_MAX / 2) n = INT64_MAX / 2;
    m->fuel -= (int64_t)n;
    if (m->fuel > 0) return true;
    if (m->abandoned || !run_refill(m)) return false;
    if (m->paused && m->on_fiber) fiber_give_way(m->apart);
    return !m->abandoned;
}

/* ---- start and next ---- */

void jq_run_start(JqRun *m, Json input, const Json *vars) {
    reset(m);
    const JqProgram *p = m->program;
    m->steps = 0;
    m->slice_end = m->host.budget.slice;
    m->given = json_size(input);
    m->handed = 0;
    m->heap_at_exit = json_heap_bytes();
    m->heap_base = (int64_t)m->heap_at_exit;
    error_clear(&m->error);
    m->state = RUN_GO;
    m->used = true;
    m->pc = p->funcs[0].entry;
    give_fuel(m);
    if (!frame_push(m, &p->funcs[0], (Header){0})) {
        json_unref(input);
        return;
    }
    m->slots[m->fp] = input;
    for (size_t i = 0; i < p->nvars; i++) {
        m->slots[m->fp + 1 + i] = json_ref(vars[i]);
        m->given += json_size(vars[i]);
    }
}

/* The sentence for an error that nobody caught. */
static void describe_raised(JqRun *m) {
    if (m->failed_hard) return;
    m->error.code = ERR_RAISED;
    if (json_kind(m->raised) == JSON_STRING) {
        size_t len = json_string_len(m->raised);
        len = len < ERROR_MSG_MAX - 1 ? len : ERROR_MSG_MAX - 1;
        memcpy(m->error.msg, json_string_data(&m->raised), len);
        m->error.msg[len] = '\0';
        return;
    }
    Buf text = BUF_INIT;
    json_print(m->raised, &(JsonPrintOptions){.max_bytes = ERROR_MSG_MAX}, &text);
    snprintf(m->error.msg, ERROR_MSG_MAX, "(not a string): %s", text.data);
    buf_clear(&text);
}

JqStatus jq_run_next(JqRun *m, Json *out) {
    *out = json_none();
    if (m->failed_hard) { /* already when it was started */
        m->state = RUN_IDLE;
        return JQ_FAILED;
    }
    if (m->state == RUN_IDLE) return JQ_DONE;
    /* What changed on the heap while we were not running is not ours, except that outputs were
     * released. An operation that is apart sees nothing of it until it has ended. */
    int64_t change = m->apart ? 0 : (int64_t)json_heap_bytes() - (int64_t)m->heap_at_exit;
    uint64_t released = change < 0 ? (uint64_t)-change : 0;
    released = released < m->handed ? released : m->handed;
    m->handed -= m->handed == UINT64_MAX ? 0 : released;
    m->heap_base += change + (int64_t)released;
    if (m->paused) {
        m->paused = false;
        m->steps -= !m->apart; /* the instruction that we stopped before is counted again */
        m->slice_end = m->steps + m->host.budget.slice;
        give_fuel(m);
    }
    JqStatus status = machine_execute(m, out);
    if (status == JQ_FAILED) describe_raised(m);
    if (status == JQ_OUTPUT) {
        /* An output belongs to the caller now. Its size is taken generously, for what malloc adds. */
        uint64_t size = json_size(*out), handed = m->handed + 2 * size;
        m->handed = size > UINT64_MAX / 4 || handed < m->handed ? UINT64_MAX : handed;
    }
    if (status == JQ_DONE || status == JQ_FAILED) {
        Json raised = json_take(&m->raised);
        bool hard = m->failed_hard;
        reset(m);
        m->raised = raised;
        m->failed_hard = hard;
        m->used = status == JQ_FAILED; /* what was raised is looked at */
    }
    m->heap_at_exit = json_heap_bytes();
    return status;
}

Json jq_eval(const char *text, Json input, const JqHost *host, Error *err) {
    JqProgram *p = jq_compile(text, strlen(text), NULL, err);
    if (!p) return json_none();
    JqRun *run = jq_run_new(p, host);
    jq_run_start(run, json_ref(input), NULL);
    Json out;
    JqStatus status = jq_run_next(run, &out);
    if (err) *err = status == JQ_FAILED ? *jq_run_error(run) : (Error)ERROR_INIT;
    jq_run_free(run);
    jq_program_free(p);
    return out;
}
