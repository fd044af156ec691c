/* pawl.c - the public interface over the layers below: text in, text out. */
#include "pawl.h"

#include "error.h"
#include "jq.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"

#include <string.h>

struct PawlExpr {
    JqProgram *program;
};

static PawlCode public_code(ErrorCode code) {
    switch (code) {
    case ERR_NONE: return PAWL_OK;
    case ERR_SYNTAX: return PAWL_SYNTAX;
    case ERR_DATA:
    case ERR_RAISED: return PAWL_RAISED;
    case ERR_LIMIT: return PAWL_LIMIT;
    case ERR_CANCELLED:
    case ERR_IO:
    case ERR_USAGE:
    case ERR_BUSY: break;
    }
    return PAWL_OTHER;
}

static void give_error(PawlError *to, const Error *from) {
    _Static_assert(sizeof to->message >= sizeof from->msg, "a message fits");
    if (!to) {
        return;
    }
    *to = (PawlError){.code = public_code(from->code), .line = from->line, .col = from->col};
    memcpy(to->message, from->msg, sizeof from->msg);
}

PawlExpr *pawl_expr_compile(const char *text, PawlError *err) {
    Error error = ERROR_INIT;
    JqProgram *program = jq_compile(text, strlen(text), NULL, &error);
    give_error(err, &error);
    if (!program) {
        return NULL;
    }
    PawlExpr *expr = mem_alloc(sizeof *expr);
    expr->program = program;
    return expr;
}

void pawl_expr_free(PawlExpr *expr) {
    if (expr) {
        jq_program_free(expr->program);
        mem_free(expr);
    }
}

/* Hands over the outputs until there are no more or the receiver has had enough. */
static bool hand_over(JqRun *run, PawlOutputFn output, void *ctx, Error *error) {
    Buf text = BUF_INIT;
    Json value;
    JqStatus status;
    bool more = true;
    while (more && (status = jq_run_next(run, &value)) != JQ_DONE) {
        if (status == JQ_FAILED) {
            *error = *jq_run_error(run);
            break;
        }
        if (status == JQ_OUTPUT) {
            buf_reset(&text);
            json_print(value, NULL, &text);
            json_unref(value);
            more = output(ctx, text.data, text.len);
        }
    }
    buf_clear(&text);
    return error->code == ERR_NONE;
}

bool pawl_expr_eval(const PawlExpr *expr, const char *json, size_t len, const PawlLimits *limits,
                    PawlOutputFn output, void *ctx, PawlError *err) {
    Error error = ERROR_INIT;
    JqHost host = {0};
    bool ok = false;
    if (limits) {
        host.budget.steps = limits->steps;
        host.budget.memory = limits->memory;
        host.budget.depth = limits->depth;
    }
    Json input = json_parse(json, len, NULL, &error);
    if (!json_is_none(input)) {
        JqRun *run = jq_run_new(expr->program, &host);
        jq_run_start(run, input, NULL);
        ok = hand_over(run, output, ctx, &error);
        jq_run_free(run);
    }
    give_error(err, &error);
    return ok;
}
