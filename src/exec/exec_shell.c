/* The work of a shell node: `sh -c COMMAND`, a command (exec_command.h, which also says how it fails).
 *
 * The result is {stdout, exit_code}. stdout is what the command wrote without the newlines at its
 * end, as $(...) has it; when it wrote more than max_output the rest is cut off and the result has
 * `truncated: true` and `stdout_bytes` too. With `parse: json` the result is the value it printed.
 * Bytes that are not UTF-8 become U+FFFD.
 *
 * Further ways to fail, as .error.kind:
 *
 *     parse    not JSON
 *     limit    too long to parse, or a size out of bounds
 *     shell    what the node asks for cannot be said to a command, or the run's folder is gone */
#include "exec_command.h"
#include "exec_kinds.h"
#include "json_parse.h"
#include "json_print.h"

#include <inttypes.h>

/* ---- how it ended ---- */

static Json set(Json object, const char *key, Json value) {
    return json_object_set(object, json_string_c(key), value);
}

static bool truncated(const ProcessResult *result) {
    return result->out_len > result->out.len;
}

static void succeed_with_text(Step *step, const ProcessResult *result) {
    Json value = set(json_object(), "stdout", command_text(&result->out, 0));
    value = set(value, "exit_code", json_int(result->code));
    if (truncated(result)) {
        value = set(value, "truncated", json_bool(true));
        value = set(value, "stdout_bytes", json_int((int64_t)result->out_len));
    }
    step_succeed(step, value);
}

static void succeed_with_value(StepCommand *command, const ProcessResult *result) {
    Step *step = command_step(command);
    Error err = ERROR_INIT;
    if (truncated(result)) {
        step_fail(step, "limit", json_none(),
                  "The command printed %" PRIu64
                  " bytes, more than max_output keeps (%zu), so that "
                  "they cannot be parsed. Raise max_output.",
                  result->out_len, result->out.len);
        return;
    }
    Json value = json_parse(result->out.data ? result->out.data : "", result->out.len, NULL, &err);
    if (json_is_none(value)) {
        step_fail(step, "parse", command_details(command, result),
                  "What the command printed is not JSON: %s", err.msg);
        return;
    }
    step_succeed(step, value);
}

static void shell_end(StepCommand *command, const ProcessResult *result) {
    Step *step = command_step(command);
    if (!command_succeeded(result)) {
        command_fail(command, result);
    } else if (json_string_is(step_param(step, SHELL_PARSE)->value, "json")) {
        succeed_with_value(command, result);
    } else {
        succeed_with_text(step, result);
    }
}

/* ---- what it is given ---- */

static void add_value(Buf *out, Json value) {
    if (json_kind(value) == JSON_STRING) {
        buf_add(out, json_string_data(&value), json_string_len(value));
    } else {
        json_print(value, NULL, out);
    }
}

/* What an expression of the node comes to, as text; err is wrapped in the name of its place. */
static bool eval_text(Step *step, const Expr *expr, Buf *out, const char *what, Error *err) {
    Json value = step_eval(step, expr, err);
    if (json_is_none(value)) {
        error_wrap(err, "%s", what);
        return false;
    }
    add_value(out, value);
    json_unref(value);
    return true;
}

static bool give_variable(StepCommand *command, const struct ParamField *field, Error *err) {
    Buf value = BUF_INIT, what = BUF_INIT;
    buf_printf(&what, "env.%.*s", (int)json_string_len(field->name),
               json_string_data(&field->name));
    bool given = eval_text(command_step(command), field->expr, &value, what.data, err) &&
                 command_set_env(command, "env", field->name, value.data, value.len, err);
    buf_clear(&what);
    buf_clear(&value);
    return given;
}

static bool give_env(StepCommand *command, Error *err) {
    const Param *param = step_param(command_step(command), SHELL_ENV);
    for (size_t i = 0; i < param->nfields; i++) {
        if (!give_variable(command, &param->fields[i], err)) return false;
    }
    return true;
}

static bool give_args(StepCommand *command, Error *err) {
    Buf text = BUF_INIT;
    add_value(&text, step_param(command_step(command), SHELL_COMMAND)->value);
    bool given = command_add_arg(command, "The shell", "sh", 2, err) &&
                 command_add_arg(command, "The shell", "-c", 2, err) &&
                 command_add_arg(command, "The command", text.data ? text.data : "", text.len, err);
    buf_clear(&text);
    return given;
}

static bool give_cwd(StepCommand *command, Error *err) {
    Step *step = command_step(command);
    const Expr *expr = step_param(step, SHELL_CWD)->expr;
    if (!expr) return true;
    Buf path = BUF_INIT;
    bool given = step_text(step, expr, &path, err);
    if (!given) {
        error_wrap(err, "cwd");
    } else {
        given = command_set_folder(command, "cwd", path.data ? path.data : "", path.len, err);
    }
    buf_clear(&path);
    return given;
}

static bool give_input(StepCommand *command, Error *err) {
    Step *step = command_step(command);
    const Expr *expr = step_param(step, SHELL_STDIN)->expr;
    if (!expr) return true;
    Buf text = BUF_INIT;
    bool given = eval_text(step, expr, &text, "stdin", err);
    if (given) command_set_input(command, text.data, text.len);
    buf_clear(&text);
    return given;
}

static bool give_max_output(StepCommand *command, Error *err) {
    int64_t max = step_param(command_step(command), SHELL_MAX_OUTPUT)->number;
    if (max > COMMAND_OUTPUT_MAX) {
        return error_set(err, ERR_LIMIT,
                         "max_output is more than %dM, which is the most that is kept.",
                         COMMAND_OUTPUT_MAX >> 20);
    }
    command_set_max_output(command, (size_t)max);
    return true;
}

static const CommandKind shell_kind = {.word = "shell", .takes_cwd = true, .end = shell_end};

void exec_shell_start(Step *step) {
    Error err = ERROR_INIT;
    StepCommand *command = command_new(step, &shell_kind);
    if (give_max_output(command, &err) && give_args(command, &err) && give_cwd(command, &err) &&
        give_input(command, &err) && give_env(command, &err)) {
        command_start(command);
    } else {
        command_refuse(command, &err);
    }
}
