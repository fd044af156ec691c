/* lib_call.c - functions of the program as the work of nodes.
 *
 * The kind `callback` is pure: the function is called inside the step, and what it returns is the
 * result. The kind `callback_later` gives the function a token and waits.
 *
 * A token may be finished on any thread. What it is finished with travels as a letter through the
 * engine's mailbox: under its mutex, in order, with uv_async to wake the loop. Values belong to
 * their thread, so from another one they travel encoded. Letters are opened on the loop's thread
 * only, and only there is token->step looked at.
 *
 *     token:  step -> succeed, fail, ask -> the letter ends the step
 *             step -> cancel: nobody waits; a letter to ourselves ends the step in the next turn, since
 *                     whoever cancels is in the middle of a run
 *             step -> drop: the engine ends; the token outlives it and is finished into the void
 *
 * References to a token: one of whoever has to finish it, one of the step, one of each letter. */
#include "lib_inside.h"

#include "json_binary.h"
#include "mem.h"

#include <stdarg.h>
#include <stdio.h>

enum { KIND_WORD_MAX = 64 };

struct PawlCall {
    Step *step;
    PawlEngine *engine;
    bool failed;
    char kind[KIND_WORD_MAX];
    Error error; /* set when failed */
};

struct PawlToken {
    Mailbox *box;
    PawlFlow *flow; /* holds the binding */
    const Binding *binding;
    Step *step;         /* NULL: it is over */
    PawlEngine *engine; /* while there is a step */
    bool starting;      /* the function is being called */
    Letter *early;      /* the end, when it came then */
    atomic_bool cancelled;
    atomic_int refs;
};

typedef enum LetterKind {
    LETTER_LOG,
    LETTER_SUCCEED,
    LETTER_FAIL,
    LETTER_ASK,
    LETTER_LET_GO
} LetterKind;

struct Letter {
    Letter *next;
    PawlToken *token;
    LetterKind kind;
    bool encoded;      /* the values are in bytes */
    Json value, other; /* the result; or prompt and options */
    Buf bytes;         /* values; or the text of a log */
    char word[KIND_WORD_MAX];
    Error error;
};

/* ---- the mailbox ---- */

static bool is_home(const Mailbox *box) {
    return pthread_equal(box->home, pthread_self());
}

static void on_ring(uv_async_t *async) {
    PawlEngine *e = async->data;
    mailbox_read(e->box);
    engine_grant_wishes(e);
}

Mailbox *mailbox_new(uv_loop_t *loop, PawlEngine *engine, Error *err) {
    Mailbox *box = mem_zalloc(sizeof *box);
    box->async = mem_zalloc(sizeof *box->async);
    int code = uv_async_init(loop, box->async, on_ring);
    if (code) {
        error_set(err, ERR_IO, "The event loop cannot be used: %s.", uv_strerror(code));
        mem_free(box->async);
        mem_free(box);
        return NULL;
    }
    box->async->data = engine;
    uv_unref((uv_handle_t *)box->async);
    pthread_mutex_init(&box->mutex, NULL);
    box->home = pthread_self();
    box->refs = 1;
    return box;
}

static void mailbox_unref(Mailbox *box) {
    pthread_mutex_lock(&box->mutex);
    bool last = --box->refs == 0;
    pthread_mutex_unlock(&box->mutex);
    if (last) {
        pthread_mutex_destroy(&box->mutex);
        mem_free(box);
    }
}

static Mailbox *mailbox_ref(Mailbox *box) {
    pthread_mutex_lock(&box->mutex);
    box->refs++;
    pthread_mutex_unlock(&box->mutex);
    return box;
}

void mailbox_ring(Mailbox *box) {
    pthread_mutex_lock(&box->mutex);
    if (box->async) uv_async_send(box->async);
    pthread_mutex_unlock(&box->mutex);
}

static Letter *take_all(Mailbox *box) {
    pthread_mutex_lock(&box->mutex);
    Letter *first = box->first;
    box->first = box->last = NULL;
    pthread_mutex_unlock(&box->mutex);
    return first;
}

/* False when nobody reads any more. */
static bool put(Mailbox *box, Letter *l) {
    pthread_mutex_lock(&box->mutex);
    bool open = box->async != NULL;
    if (open) {
        *(box->last ? &box->last->next : &box->first) = l;
        box->last = l;
        uv_async_send(box->async);
    }
    pthread_mutex_unlock(&box->mutex);
    return open;
}

/* ---- tokens ---- */

/* What is held belongs to the engine's thread, so the last one to go there frees it: a token that
 * outlives its engine holds nothing. */
static void token_unref(PawlToken *t) {
    if (atomic_fetch_sub(&t->refs, 1) == 1) {
        mailbox_unref(t->box);
        mem_free(t);
    }
}

static PawlToken *token_new(PawlEngine *e, PawlFlow *flow, const Binding *b, Step *step) {
    PawlToken *t = mem_zalloc(sizeof *t);
    t->box = mailbox_ref(e->box);
    t->flow = flow_hold(flow);
    t->binding = b;
    t->engine = e;
    t->step = step;
    atomic_init(&t->cancelled, false);
    atomic_init(&t->refs, 2);
    step_set_data(step, t);
    engine_count_token(e, true);
    return t;
}

/* The token has no step any more. */
static Step *part(PawlToken *t) {
    Step *step = t->step;
    if (step) {
        engine_count_token(t->engine, false);
        pawl_flow_free(t->flow);
        t->flow = NULL;
        t->binding = NULL;
        t->engine = NULL;
        t->step = NULL;
        token_unref(t);
    }
    return step;
}

/* ---- letters ---- */

static Letter *letter_new(PawlToken *t, LetterKind kind) {
    Letter *l = mem_zalloc(sizeof *l);
    atomic_fetch_add(&t->refs, 1);
    l->token = t;
    l->kind = kind;
    return l;
}

static void letter_free(Letter *l) {
    token_unref(l->token);
    json_unref(l->value);
    json_unref(l->other);
    buf_clear(&l->bytes);
    mem_free(l);
}

/* Consumes both. JSON_NONE is null on the way. */
static void enclose(Letter *l, Json value, Json other) {
    l->value = json_is_none(value) ? json_null() : value;
    l->other = json_is_none(other) ? json_null() : other;
    if (!is_home(l->token->box)) {
        json_encode(l->value, &l->bytes);
        json_encode(l->other, &l->bytes);
        json_clear(&l->value);
        json_clear(&l->other);
        l->encoded = true;
    }
}

static void open_letter(Letter *l) {
    PawlToken *t = l->token;
    Step *step = l->kind == LETTER_LOG ? t->step : part(t);
    if (step && l->encoded) {
        size_t used = 0;
        l->value = json_decode(l->bytes.data, l->bytes.len, &used, NULL);
        l->other = json_decode(l->bytes.data + used, l->bytes.len - used, &used, NULL);
    }
    if (step) {
        switch (l->kind) {
        case LETTER_LOG: step_log(step, "log", l->bytes.data, l->bytes.len); break;
        case LETTER_SUCCEED: step_succeed(step, json_take(&l->value)); break;
        case LETTER_FAIL: step_fail(step, l->word, json_none(), "%s", l->error.msg); break;
        case LETTER_ASK:
            step_ask(step, "interrupt", json_take(&l->value),
                     json_kind(l->other) == JSON_ARRAY ? json_take(&l->other) : json_none());
            break;
        case LETTER_LET_GO: step_fail(step, "cancelled", json_none(), "It was cancelled."); break;
        }
    }
    letter_free(l);
}

void mailbox_read(Mailbox *box) {
    for (Letter *l = take_all(box), *next; l; l = next) {
        next = l->next;
        open_letter(l);
    }
}

static void free_async(uv_handle_t *handle) {
    mem_free(handle);
}

void mailbox_close(Mailbox *box) {
    pthread_mutex_lock(&box->mutex);
    uv_async_t *async = box->async;
    box->async = NULL;
    pthread_mutex_unlock(&box->mutex);
    uv_close((uv_handle_t *)async, free_async);
    for (Letter *l = take_all(box), *next; l; l = next) {
        next = l->next;
        letter_free(l);
    }
    mailbox_unref(box);
}

/* The token is over when the letter ends it, as far as whoever holds it is concerned. */
static void post(Letter *l) {
    PawlToken *t = l->token;
    bool over = l->kind != LETTER_LOG && l->kind != LETTER_LET_GO;
    if (over && is_home(t->box) && t->starting) {
        t->early = l;
    } else if (!put(t->box, l)) {
        letter_free(l);
    }
    if (over) token_unref(t);
}

/* ---- what programs do with tokens ---- */

void pawl_token_succeed(PawlToken *t, PawlValue result) {
    Letter *l = letter_new(t, LETTER_SUCCEED);
    enclose(l, json_of(result), json_none());
    post(l);
}

void pawl_token_fail(PawlToken *t, const char *kind, const char *fmt, ...) {
    Letter *l = letter_new(t, LETTER_FAIL);
    va_list args;
    va_start(args, fmt);
    error_vset_at(&l->error, ERR_DATA, 0, 0, fmt, args);
    va_end(args);
    snprintf(l->word, sizeof l->word, "%s", kind && *kind ? kind : "callback");
    post(l);
}

void pawl_token_ask(PawlToken *t, PawlValue prompt, PawlValue options) {
    Letter *l = letter_new(t, LETTER_ASK);
    enclose(l, json_of(prompt), json_of(options));
    post(l);
}

void pawl_token_log(PawlToken *t, const char *text) {
    Letter *l = letter_new(t, LETTER_LOG);
    buf_adds(&l->bytes, text);
    buf_adds(&l->bytes, "\n");
    post(l);
}

bool pawl_token_is_cancelled(const PawlToken *t) {
    return atomic_load(&t->cancelled);
}

/* ---- what functions see ---- */

PawlValue pawl_call_state(const PawlCall *call) {
    return value_of(step_state(call->step));
}

const char *pawl_call_node(const PawlCall *call) {
    return step_node(call->step)->name;
}

/* A debugger may do one node of a run again, in a run of its own. */
static PawlRun *run_of_step(PawlEngine *e, const Step *step) {
    Run *run = peek_run(step);
    PawlRun *ours = engine_find_run(run);
    return ours ? ours : debug_replayed(e, run);
}

PawlRun *pawl_call_run(const PawlCall *call) {
    return run_of_step(call->engine, call->step);
}

int pawl_call_attempt(const PawlCall *call) {
    return peek_attempt(call->step);
}

PawlValue pawl_call_answers(const PawlCall *call) {
    return value_of(step_answers(call->step));
}

PawlValue pawl_call_var(const PawlCall *call, const char *name) {
    const Node *node = step_node(call->step);
    for (size_t i = node->nvars; i > 0; i--) { /* of two with one name the later counts */
        if (!strcmp(node->vars[i - 1], name)) return value_of(step_var(call->step, i - 1));
    }
    return value_of(json_none());
}

void pawl_call_log(PawlCall *call, const char *text) {
    Buf line = BUF_INIT;
    buf_adds(&line, text);
    buf_adds(&line, "\n");
    step_log(call->step, "log", line.data, line.len);
    buf_clear(&line);
}

PawlValue pawl_call_fail(PawlCall *call, const char *kind, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    error_vset_at(&call->error, ERR_DATA, 0, 0, fmt, args);
    va_end(args);
    snprintf(call->kind, sizeof call->kind, "%s", kind && *kind ? kind : "callback");
    call->failed = true;
    return value_of(json_none());
}

/* ---- calling ---- */

/* {"__route__": {"from": "target"}}; the node is `from.route`. */
static PawlValue choose_route(const Binding *b, PawlCall *call) {
    const char *target = b->route(b->ctx, call), *node = pawl_call_node(call);
    if (!target) {
        return call->failed ? value_of(json_none())
                            : pawl_call_fail(call, "route", "The router chose nothing.");
    }
    Json from = json_string(node, strlen(node) - strlen(ROUTE_SUFFIX));
    Json choice = json_object_set(json_object(), from, json_string_c(target));
    return value_of(json_object_with(json_object(), ROUTE_KEY, choice));
}

/* The flow's function for the step; when it has none, NULL, and the step has ended. The rest of the
 * call, an error, is large and of use only to those who fail. */
static const Binding *begin_call(PawlCall *call, Step *step, PawlFlow **flow) {
    call->step = step;
    call->engine = host_ctx(peek_host(step));
    call->failed = false;
    PawlRun *run = call->engine ? run_of_step(call->engine, step) : NULL;
    *flow = run ? run->flow : NULL;
    const Binding *b = *flow ? flow_binding(*flow, step_node(step)) : NULL;
    if (!b) {
        Json name = step_param(step, CALLBACK_NAME)->value;
        step_fail(step, "callback", json_none(),
                  "The function `%s` is not bound in this program: resume the run with the flow "
                  "that has it.",
                  json_string_data(&name));
    }
    return b;
}

static void start_now(Step *step) {
    PawlCall call;
    PawlFlow *flow;
    const Binding *b = begin_call(&call, step, &flow);
    if (!b) return;
    call.engine->inside++;
    Json result = json_of(b->now ? b->now(b->ctx, &call) : choose_route(b, &call));
    call.engine->inside--;
    if (call.failed) {
        json_unref(result);
        step_fail(step, call.kind, json_none(), "%s", call.error.msg);
    } else if (json_is_none(result)) {
        step_fail(step, "callback", json_none(),
                  "The function returned nothing: it returns pawl_null() when it changes nothing.");
    } else {
        step_succeed(step, result);
    }
}

static void start_later(Step *step) {
    PawlCall call;
    PawlFlow *flow;
    const Binding *b = begin_call(&call, step, &flow);
    if (!b) return;
    PawlToken *t = token_new(call.engine, flow, b, step);
    t->starting = true;
    call.engine->inside++;
    b->later(b->ctx, &call, t);
    call.engine->inside--;
    t->starting = false; /* the step's reference is ours: nothing has been read meanwhile */
    Letter *early = t->early;
    t->early = NULL;
    if (early) open_letter(early);
}

/* ---- the end of waiting ---- */

static void tell_cancelled(PawlToken *t) {
    if (!atomic_exchange(&t->cancelled, true) && t->binding->on_cancel) {
        t->engine->inside++;
        t->binding->on_cancel(t->binding->ctx, t);
        t->engine->inside--;
    }
}

static void cancel_later(Step *step) {
    PawlToken *t = step_data(step);
    if (t) {
        tell_cancelled(t);
        post(letter_new(t, LETTER_LET_GO));
    }
}

static void drop_later(Step *step) {
    PawlToken *t = step_data(step);
    if (t) {
        tell_cancelled(t);
        part(t);
    }
}

const NodeWork lib_call_now = {.pure = true, .start = start_now};
const NodeWork lib_call_later = {.start = start_later, .cancel = cancel_later, .drop = drop_later};
