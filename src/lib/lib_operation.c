/* lib_operation.c - any operation by its name. */
#include "lib_inside.h"

#include "json_build.h"
#include "json_parse.h"
#include "mem.h"
#include "operation.h"

PawlValue pawl_operations(void) {
    Json list = json_array();
    for (const Operation *op = operation_next(NULL); op; op = operation_next(op)) {
        list = json_array_push(list, operation_json(op));
    }
    return value_of(list);
}

Json answer_part(Json answer, const char *key) {
    Json found = json_ref(json_object_get_c(answer, key));
    json_unref(answer);
    return found;
}

/* A run that an operation has brought into memory is nobody's: it goes when it has settled. */
static void take_run(PawlEngine *e, Json answer) {
    const char *thread = json_object_text(answer, "thread");
    HostRun *held = thread ? host_find(e->host, thread) : NULL;
    if (held && !host_keeper(held)) {
        engine_add_run(e, held, NULL, NULL)->freed = true;
    } else if (held) {
        engine_goes_on(host_keeper(held));
    }
}

/* ---- answers that come later ---- */

typedef struct Asked {
    PawlEngine *engine;
    PawlAnswerFn fn;
    void *ctx;
} Asked;

static void on_answer(void *ctx, Json answer, const Error *err) {
    Asked *a = ctx;
    PawlEngine *e = a->engine;
    PawlError error;
    lib_no_error(&error);
    if (err) lib_give_error(&error, err);
    take_run(e, answer);
    e->inside++;
    e->listening++;
    a->fn(a->ctx, value_of(answer), err ? &error : NULL);
    e->listening--;
    e->inside--;
    e->calls--;
    json_unref(answer);
    mem_free(a);
}

/* A step of a run is under way inside the function of a node: there it can only be looked. */
static bool may_ask(const PawlEngine *e, const Operation *op, Error *error) {
    if (op && op->read && !e->has_store) {
        PawlError none;
        engine_has_store(e, &none);
        return error_set(error, ERR_USAGE, "%s", none.message);
    }
    return op && (!(op->ask || operation_acts(op)) || debug_is_between_steps(e, error));
}

void pawl_call_later(PawlEngine *e, const char *operation, PawlValue args, PawlAnswerFn fn,
                     void *ctx) {
    Error error = ERROR_INIT;
    Asked *a = mem_alloc(sizeof *a);
    *a = (Asked){e, fn, ctx};
    e->calls++;
    if (may_ask(e, operation_find(operation, &error), &error)) {
        operation_call(e->host, operation, json_of(args), (Reply){.give = on_answer, .ctx = a});
    } else {
        pawl_value_unref(args);
        on_answer(a, json_none(), &error);
    }
}

/* ---- answers that are waited for ---- */

typedef struct Waiting {
    PawlValue answer;
    PawlError *err;
    bool done;
} Waiting;

static void on_waited(void *ctx, PawlValue answer, const PawlError *err) {
    Waiting *w = ctx;
    w->answer = pawl_value_ref(answer);
    w->done = true;
    if (err && w->err) *w->err = *err;
}

PawlValue pawl_call(PawlEngine *e, const char *operation, PawlValue args, PawlError *err) {
    Error error = ERROR_INIT;
    Waiting w = {.err = err};
    const Operation *op = operation_find(operation, &error);
    bool may = may_ask(e, op, &error);
    lib_no_error(err);
    if (may && operation_acts(op) && !e->inside) {
        pawl_call_later(e, operation, args, on_waited, &w);
        while (!w.done) uv_run(e->loop, UV_RUN_ONCE);
        return w.answer;
    }
    if (may && !operation_acts(op)) {
        w.answer = value_of(operation_now(e->host, operation, json_of(args), &error));
    } else {
        pawl_value_unref(args);
    }
    if (may && operation_acts(op)) {
        error_set(&error, ERR_USAGE,
                  "`%s` cannot be waited for inside a function that the engine called: "
                  "pawl_call_later() asks for it.",
                  operation);
    }
    lib_give_error(err, &error);
    return w.answer;
}

/* ---- errors ---- */

PawlValue pawl_error_value(const PawlError *err) {
    Buf text = BUF_INIT;
    buf_printf(&text, "{%s}", err->facts);
    Json facts = json_parse(text.data, text.len, NULL, NULL), key, value;
    Json out = OBJECT(KEY("code", json_ref(json_object_get_c(facts, "code"))),
                      KEY("message", (const char *)err->message),
                      KEY("line", err->line ? json_int(err->line) : json_none()),
                      KEY("column", err->col ? json_int(err->col) : json_none()));
    for (size_t pos = 0; json_object_next(facts, &pos, &key, &value);) {
        out = json_object_set(out, json_ref(key), json_ref(value));
    }
    json_unref(facts);
    buf_clear(&text);
    return value_of(out);
}
