/* pawl.c - expressions, and errors as programs see them. */
#include "lib_inside.h"

#include "error.h"
#include "jq.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>

const char *pawl_version(void) {
    return PAWL_VERSION;
}

struct PawlExpr {
    JqProgram *program;
};

static PawlCode public_code(ErrorCode code) {
    static const PawlCode codes[ERR_CODES] = {
        [ERR_NONE] = PAWL_OK,         [ERR_SYNTAX] = PAWL_SYNTAX, [ERR_DATA] = PAWL_DATA,
        [ERR_RAISED] = PAWL_RAISED,   [ERR_LIMIT] = PAWL_LIMIT,   [ERR_IO] = PAWL_IO,
        [ERR_CANCELLED] = PAWL_OTHER, [ERR_BUSY] = PAWL_BUSY,
    };
    return error_is_askers(code) && code != ERR_SYNTAX ? PAWL_USAGE : codes[code];
}

bool lib_give_error(PawlError *to, const Error *from) {
    _Static_assert(sizeof to->message >= sizeof from->msg, "a message fits");
    _Static_assert(sizeof to->facts >= sizeof from->facts + 32, "the facts and the code fit");
    if (to) {
        to->code = public_code(from->code);
        to->line = from->line;
        to->col = from->col;
        memcpy(to->message, from->msg, sizeof from->msg);
        snprintf(to->facts, sizeof to->facts, "\"code\":\"%s\"%s%s", error_code_name(from->code),
                 from->facts[0] ? "," : "", from->facts);
    }
    return from->code == ERR_NONE;
}

void lib_no_error(PawlError *to) {
    if (to) {
        to->code = PAWL_OK;
        to->line = to->col = 0;
        to->message[0] = to->facts[0] = '\0';
    }
}

PawlExpr *pawl_expr_compile(const char *text, PawlError *err) {
    Error error = ERROR_INIT;
    JqProgram *program = jq_compile(text, strlen(text), NULL, &error);
    lib_give_error(err, &error);
    if (!program) return NULL;
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

static JqHost jq_host_of(const PawlLimits *limits) {
    JqHost host = {0};
    if (limits) {
        host.budget.steps = limits->steps;
        host.budget.memory = limits->memory;
        host.budget.depth = limits->depth;
    }
    return host;
}

bool pawl_expr_eval(const PawlExpr *expr, const char *json, size_t len, const PawlLimits *limits,
                    PawlOutputFn output, void *ctx, PawlError *err) {
    Error error = ERROR_INIT;
    JqHost host = jq_host_of(limits);
    bool ok = false;
    Json input = json_parse(json, len, NULL, &error);
    if (!json_is_none(input)) {
        JqRun *run = jq_run_new(expr->program, &host);
        jq_run_start(run, input, NULL);
        ok = hand_over(run, output, ctx, &error);
        jq_run_free(run);
    }
    lib_give_error(err, &error);
    return ok;
}

PawlValue pawl_expr_first(const PawlExpr *expr, PawlValue input, const PawlLimits *limits,
                          PawlError *err) {
    Error error = ERROR_INIT;
    JqHost host = jq_host_of(limits);
    JqRun *run = jq_run_new(expr->program, &host);
    Json value = json_none();
    JqStatus status;
    jq_run_start(run, pawl_value_kind(input) ? json_ref(json_of(input)) : json_null(), NULL);
    while ((status = jq_run_next(run, &value)) != JQ_OUTPUT && status != JQ_DONE) {
        if (status == JQ_FAILED) {
            error = *jq_run_error(run);
            break;
        }
    }
    jq_run_free(run);
    lib_give_error(err, &error);
    return value_of(status == JQ_OUTPUT ? value : json_none());
}
