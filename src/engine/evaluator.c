#include "evaluator.h"

#include "mem.h"

#include <assert.h>
#include <string.h>
#include <uv.h>

/* The reducers in jq. `reduce` puts a new value to the one in the state (null when there is none),
 * `join` makes one new value of two. */
#define LIST "def list: if type == \"array\" then . else [.] end; "
#define UNION \
    "reduce ($new | list)[] as $x (unique_so_far; if any(.[]; . == $x) then . else . + [$x] end)"

static const char *const reducers[][2] = {
    [REDUCE_APPEND] = {LIST "(if $old == null then [] else ($old | list) end) + ($new | list)",
                       LIST "($old | list) + ($new | list)"},
    [REDUCE_ADD] = {"$old + $new", "$old + $new"},
    [REDUCE_MERGE] = {"if $old == null then $new else $old * $new end", "$old * $new"},
    [REDUCE_UNION] = {LIST
                      "def unique_so_far: if $old == null then [] else ($old | list) end; " UNION,
                      LIST "def unique_so_far: ($old | list); " UNION},
};

enum {
    NREDUCERS = sizeof reducers / sizeof reducers[0],
    SLICE = 10000, /* steps between two looks at the clock: some tenths of a millisecond */
    FEW = 2000,    /* so many and fewer take no time */
    QUERY_MS = 10000,
};

struct Evaluated {
    size_t at;
    Json out;
    Error err;
};

struct Evaluator {
    JqHost host;
    Replay *replay; /* NULL: none is under way */
    EvaluatorClock clock;
    EvaluatorSecrets secrets;
    EvaluatorForeign foreign;
    uint64_t deadline;
    uint64_t query_time; /* nanoseconds that a query has */
    bool is_query;       /* what is evaluated is one */
    size_t n;
    JqProgram *programs[NREDUCERS][2];
    JqRun *reduce[NREDUCERS][2];
    JqRun **runs; /* by the number of the expression */
};

Evaluator *evaluator_new(const Flow *flow, const JqHost *host) {
    Evaluator *m = mem_zalloc(sizeof *m);
    m->host = *host;
    m->host.budget.slice = SLICE;
    m->query_time = UINT64_C(1000000) * QUERY_MS;
    evaluator_add(m, flow);
    return m;
}

void evaluator_add(Evaluator *m, const Flow *flow) {
    size_t n = flow->first_expr + flow->nexprs;
    if (n > m->n) {
        m->runs = mem_realloc(m->runs, n * sizeof *m->runs);
        memset(m->runs + m->n, 0, (n - m->n) * sizeof *m->runs);
        m->n = n;
    }
}

void evaluator_remove(Evaluator *m, const Flow *flow) {
    for (size_t i = flow->first_expr; i < flow->first_expr + flow->nexprs; i++) {
        jq_run_free(m->runs[i]);
        m->runs[i] = NULL;
    }
}

void evaluator_free(Evaluator *m) {
    if (!m) return;
    for (size_t i = 0; i < m->n; i++) jq_run_free(m->runs[i]);
    for (size_t i = 0; i < NREDUCERS * 2; i++) {
        jq_run_free(m->reduce[i / 2][i % 2]);
        jq_program_free(m->programs[i / 2][i % 2]);
    }
    mem_free(m->runs);
    mem_free(m);
}

void evaluator_set_clock(Evaluator *m, const EvaluatorClock *clock) {
    m->clock = *clock;
}

void evaluator_set_secrets(Evaluator *m, const EvaluatorSecrets *secrets) {
    m->secrets = *secrets;
}

void evaluator_set_foreign(Evaluator *m, const EvaluatorForeign *foreign) {
    m->foreign = *foreign;
}

void evaluator_set_deadline(Evaluator *m, uint64_t nanoseconds) {
    m->deadline = nanoseconds;
}

uint64_t evaluator_deadline(const Evaluator *m) {
    return m->deadline;
}

static bool look(const Evaluator *m) {
    return m->clock.look && m->clock.look(m->clock.ctx);
}

/* What came of the evaluation; lets go of what the machine holds. */
static Json settle(const Evaluator *m, JqRun *run, JqStatus status, Json out, Error *err) {
    if (status == JQ_FAILED && err) *err = *jq_run_error(run);
    if (status == JQ_PAUSED) {
        error_set(err, ERR_LIMIT, "The expression ran longer than its node may.");
    }
    if (jq_run_steps(run) > FEW) look(m);
    jq_run_stop(run);
    return status == JQ_OUTPUT ? out : json_none();
}

static bool is_late(uint64_t deadline) {
    return deadline && uv_hrtime() >= deadline;
}

/* The next slice; *worked is how long all of them took, for a query. */
static JqStatus work(const Evaluator *m, JqRun *run, Json *out, uint64_t *worked) {
    if (!m->is_query) return jq_run_next(run, out);
    uint64_t since = uv_hrtime();
    JqStatus status = jq_run_next(run, out);
    *worked += uv_hrtime() - since;
    return status;
}

/* A query that has worked for so long has had its time. That is an error of its own, as if it had raised it. */
static bool is_slow(const Evaluator *m, uint64_t worked, Error *err) {
    if (!m->is_query || worked < m->query_time) return false;
    return !error_set(err, ERR_RAISED, "The query took longer than %g s.",
                      (double)m->query_time / 1e9);
}

/* The same where it holds up everybody else. */
static bool holds_up(const Evaluator *m, JqRun *run, Error *err) {
    if (!m->is_query || jq_run_steps(run) < JQ_DEFAULT_STEPS) return false;
    return !error_set(err, ERR_RAISED, "The query used more than %llu steps.", JQ_DEFAULT_STEPS);
}

static Json first_before(const Evaluator *m, JqRun *run, Json input, const Json *vars,
                         JqStatus *status, Error *err) {
    Json out;
    Error slow;
    uint64_t worked = 0;
    error_clear(&slow);
    jq_run_start(run, input, vars);
    do {
        *status = work(m, run, &out, &worked);
    } while (*status == JQ_PAUSED && !is_late(m->deadline) && !is_slow(m, worked, &slow) &&
             !holds_up(m, run, &slow));
    out = settle(m, run, *status, out, err);
    if (slow.code != ERR_NONE && err) *err = slow;
    return out;
}

/* A machine that is under way is not among the others: those may evaluate the same expression meanwhile. */
static void give_back(JqRun **place, JqRun *run) {
    if (*place == run) return;
    if (*place) {
        jq_run_free(run);
    } else {
        *place = run;
    }
}

/* ---- in other languages ---- */

static ForeignEval *foreign_begin(const Evaluator *m, const Expr *expr, Json input,
                                  const Json *vars, void *who) {
    ForeignEval *eval = mem_zalloc(sizeof *eval);
    *eval = (ForeignEval){.expr = expr, .who = who, .err = ERROR_INIT, .by = m->foreign};
    if (m->foreign.begin) {
        m->foreign.begin(m->foreign.ctx, eval, input, vars);
    } else {
        Error err = ERROR_INIT;
        error_set(&err, ERR_USAGE, "There is nobody here who evaluates expressions in Jinja.");
        foreign_done(eval, json_none(), &err);
    }
    return eval;
}

void foreign_done(ForeignEval *eval, Json value, const Error *err) {
    assert(!eval->done);
    eval->done = true;
    eval->value = value;
    if (err) eval->err = *err;
}

void foreign_free(ForeignEval *eval) {
    if (!eval) return;
    if (!eval->done) eval->by.drop(eval->by.ctx, eval);
    json_unref(eval->value);
    mem_free(eval);
}

/* What came of it. */
static Json foreign_take(ForeignEval **eval, Error *err) {
    Json value = json_take(&(*eval)->value);
    if (json_is_none(value) && err) *err = (*eval)->err;
    foreign_free(*eval);
    *eval = NULL;
    return value;
}

static Json foreign_slice(const Evaluator *m, const Expr *expr, Json input, const Json *vars,
                          const Slicing *slicing, Error *err) {
    ForeignEval **at = slicing->foreign;
    if (!at) {
        error_set(err, ERR_USAGE, "An expression in Jinja cannot be evaluated here.");
        return json_none();
    }
    if (!*at) *at = foreign_begin(m, expr, input, vars, slicing->who);
    return (*at)->done ? foreign_take(at, err) : json_none();
}

/* ---- as a part of something ---- */

void evaluator_begin(Evaluator *m, Replay *r) {
    assert(!m->replay);
    m->replay = r;
    r->at = r->next = 0;
    r->is_later = r->is_late = false;
}

void evaluator_end(Evaluator *m) {
    m->replay = NULL;
}

void replay_clear(Replay *r) {
    jq_run_free(r->under_way);
    foreign_free(r->foreign);
    for (size_t i = 0; i < r->n; i++) json_unref(r->kept[i].out);
    mem_free(r->kept);
    *r = (Replay){0};
}

bool evaluator_is_later(const Evaluator *m) {
    return m->replay && m->replay->is_later;
}

static Json later(Replay *r, Error *err) {
    r->is_later = true;
    error_set(err, ERR_CANCELLED, "The evaluation goes on later.");
    return json_none();
}

void evaluator_set_later(Evaluator *m, Error *err) {
    if (m->replay) later(m->replay, err);
}

/* What came of an evaluation is kept for the next time. */
static void keep_evaluated(Replay *r, size_t at, Json out, const Error *err) {
    r->kept = mem_grow(r->kept, r->n, &r->cap, sizeof *r->kept);
    r->kept[r->n++] = (struct Evaluated){.at = at, .out = json_ref(out), .err = *err};
    r->next = r->n;
}

static Json replay_foreign(Evaluator *m, const Expr *expr, Json input, const Json *vars,
                           Error *err) {
    Replay *r = m->replay;
    if (!r) {
        error_set(err, ERR_USAGE, "An expression in Jinja cannot be evaluated here.");
        return json_none();
    }
    size_t at = r->at++;
    if (r->is_later) return later(r, err);
    if (r->next < r->n && r->kept[r->next].at == at) {
        const struct Evaluated *kept = &r->kept[r->next++];
        if (err) *err = kept->err;
        return json_ref(kept->out);
    }
    if (!r->foreign) r->foreign = foreign_begin(m, expr, input, vars, r->who);
    if (!r->foreign->done) return later(r, err);
    Error why = ERROR_INIT;
    Json out = foreign_take(&r->foreign, &why);
    keep_evaluated(r, at, out, &why);
    if (err) *err = why;
    return out;
}

static Json replay(Evaluator *m, JqRun **place, Json input, const Json *vars, Error *err) {
    Replay *r = m->replay;
    size_t at = r->at++;
    bool goes_on = r->under_way && r->under_way_at == at, over = false;
    JqRun *run = goes_on ? r->under_way : *place;
    JqStatus status;
    Json out;
    Error slow;
    error_clear(&slow);
    if (r->is_later) {
        json_unref(input);
        return later(r, err);
    }
    if (r->next < r->n && r->kept[r->next].at == at) {
        const struct Evaluated *kept = &r->kept[r->next++];
        json_unref(input);
        if (err) *err = kept->err;
        return json_ref(kept->out);
    }
    if (goes_on) {
        json_unref(input);
    } else {
        jq_run_start(run, input, vars);
        r->worked = 0;
    }
    do {
        status = work(m, run, &out, &r->worked);
        r->is_late = is_late(r->deadline);
    } while (status == JQ_PAUSED && !r->is_late && !is_slow(m, r->worked, &slow) &&
             !(over = look(m)));
    if (over) {
        if (*place == run) *place = NULL;
        r->under_way = run;
        r->under_way_at = at;
        return later(r, err);
    }
    Error why;
    uint64_t steps = jq_run_steps(run);
    error_clear(&why); /* nor is all of it copied: this is the hot path */
    out = settle(m, run, status, out, &why);
    if (slow.code != ERR_NONE) why = slow;
    r->is_late = r->is_late && status == JQ_PAUSED;
    if (goes_on) {
        give_back(place, run);
        r->under_way = NULL;
    }
    if (err && why.code != ERR_NONE) *err = why;
    if (steps > FEW) keep_evaluated(r, at, out, &why);
    return out;
}

/* The first output of a machine, whose place may be empty afterwards. Consumes input. */
static Json first_of(Evaluator *m, JqRun **place, Json input, const Json *vars, Error *err) {
    JqStatus status;
    return m->replay ? replay(m, place, input, vars, err)
                     : first_before(m, *place, input, vars, &status, err);
}

Json evaluator_first(JqRun *run, Json input, const Json *vars, uint64_t ms, Error *err) {
    Evaluator nobody = {.deadline = uv_hrtime() + ms * 1000000};
    JqStatus status;
    Json out = first_before(&nobody, run, input, vars, &status, err);
    if (status == JQ_PAUSED) {
        error_set(err, ERR_LIMIT, "The expression took longer than %d ms, which is the limit.",
                  (int)ms);
    }
    return out;
}

static JqRun **machine(Evaluator *m, const Expr *expr) {
    assert(expr->id < m->n);
    JqRun **run = &m->runs[expr->id];
    if (!*run) {
        JqHost host = m->host;
        if (m->is_query && !host.budget.steps) host.budget.steps = JQ_NO_LIMIT;
        *run = jq_run_new(expr->program, &host);
    }
    return run;
}

static Json placed(const Expr *expr, Json out, Error *err) {
    if (json_is_none(out) && err && err->code != ERR_NONE) {
        expr_place(expr, err, &err->line, &err->col);
    }
    return out;
}

/* An expression that has no output is an error here. */
static Json some(const Expr *expr, Json out, Error *err) {
    if (json_is_none(out) && err->code == ERR_NONE) {
        error_set(err, ERR_RAISED, "The expression gives no result.");
    }
    return placed(expr, out, err);
}

/* ---- secrets ---- */

static Json masked_values(const Expr *expr) {
    Json out = json_object();
    for (size_t i = 0; i < json_array_len(expr->secrets); i++) {
        out =
            json_object_set(out, json_ref(json_array_get(expr->secrets, i)), json_string_c("***"));
    }
    return out;
}

/* The variables, and behind them the secrets. */
static Json first_with_secrets(Evaluator *m, const Expr *expr, Json input, const Json *vars,
                               Error *err) {
    Error why = ERROR_INIT;
    Json values =
        m->secrets.values ? m->secrets.values(m->secrets.ctx, expr, &why) : masked_values(expr);
    Json out = json_none();
    if (!json_is_none(values)) {
        Json *all = mem_alloc((expr->nvars + 1) * sizeof *all);
        if (expr->nvars) memcpy(all, vars, expr->nvars * sizeof *all);
        all[expr->nvars] = values;
        out = first_of(m, machine(m, expr), json_ref(input), all, &why);
        mem_free(all);
        json_unref(values);
        if (m->secrets.made) m->secrets.made(m->secrets.ctx, out);
        if (why.code != ERR_NONE && why.code != ERR_LIMIT && why.code != ERR_CANCELLED) {
            error_set_at(
                &why, why.code, why.line, why.col,
                "The expression fails. What it says is not shown, since it uses a secret.");
        }
    }
    if (why.code != ERR_NONE && err) *err = why;
    return out;
}

static Json first_of_expr(Evaluator *m, const Expr *expr, Json input, const Json *vars,
                          Error *err) {
    if (expr->foreign) return replay_foreign(m, expr, input, vars, err);
    return expr->takes_secrets ? first_with_secrets(m, expr, input, vars, err)
                               : first_of(m, machine(m, expr), json_ref(input), vars, err);
}

Json evaluator_run(Evaluator *m, const Expr *expr, Json input, const Json *vars, Error *err) {
    Error none;
    error_clear(&none); /* not all of it: this is the hot path */
    Json out = some(expr, first_of_expr(m, expr, input, vars, &none), &none);
    if (json_is_none(out) && err) *err = none;
    return out;
}

Json evaluator_slice(Evaluator *m, const Expr *expr, Json input, const Json *vars,
                     const Slicing *slicing, Error *err) {
    Json out;
    JqStatus status;
    JqRun *run = *slicing->under_way;
    error_clear(err);
    assert(!expr->takes_secrets); /* no such place is sliced */
    if (expr->foreign) return foreign_slice(m, expr, input, vars, slicing, err);
    if (!run) {
        run = *machine(m, expr);
        jq_run_start(run, json_ref(input), vars);
    }
    bool over = false;
    do {
        status = jq_run_next(run, &out);
    } while (status == JQ_PAUSED && !is_late(slicing->deadline) && !(over = look(m)));
    if (over) {
        if (m->runs[expr->id] == run) m->runs[expr->id] = NULL;
        *slicing->under_way = run;
        return json_none();
    }
    out = settle(m, run, status, out, err);
    if (*slicing->under_way) give_back(&m->runs[expr->id], run);
    *slicing->under_way = NULL;
    return some(expr, out, err);
}

Json evaluator_query(Evaluator *m, const Expr *expr, Json input, Error *err) {
    m->is_query = true;
    Json out = first_of_expr(m, expr, input, NULL, err);
    m->is_query = false;
    return placed(expr, out, err);
}

void evaluator_set_query_time(Evaluator *m, uint64_t nanoseconds) {
    m->query_time = nanoseconds;
}

static JqRun **reducer(Evaluator *m, Reduce reduce, bool join) {
    static const char *const vars[] = {"old", "new"};
    JqRun **run = &m->reduce[reduce][join];
    JqProgram **p = &m->programs[reduce][join];
    if (!*p) {
        const char *text = reducers[reduce][join];
        JqOptions options = {.vars = vars, .nvars = 2};
        *p = jq_compile(text, strlen(text), &options, NULL);
        assert(*p);
    }
    if (!*run) *run = jq_run_new(*p, &m->host);
    return run;
}

Json evaluator_reduce(Evaluator *m, Reduce reduce, bool join, Json old_value, Json new_value,
                      Error *err) {
    Json vars[] = {json_is_none(old_value) ? json_null() : old_value, new_value};
    Error none;
    error_clear(&none);
    Json out = first_of(m, reducer(m, reduce, join), json_null(), vars, &none);
    if (json_is_none(out) && err) *err = none;
    return out;
}
