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
#include "exec.h"
#include "exec_command.h"
#include "json_build.h"
#include "json_parse.h"

#include <inttypes.h>

/* ---- how it ended ---- */

static bool truncated(const ProcessResult *result) {
    return result->out_len > result->out.len;
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
        Json bytes = json_int((int64_t)result->out_len);
        bool cut = truncated(result);
        step_succeed(step, OBJECT(KEY("stdout", command_text(&result->out, 0)),
                                  KEY("exit_code", json_int(result->code)),
                                  KEY("truncated", cut ? json_bool(true) : json_none()),
                                  KEY("stdout_bytes", cut ? bytes : json_none())));
    }
}

/* ---- what it is given ---- */

static bool give_all(StepCommand *command, Error *err) {
    Step *step = command_step(command);
    Buf cwd = BUF_INIT;
    if (!exec_size_fits(step, SHELL_MAX_OUTPUT, COMMAND_OUTPUT_MAX, err)) return false;
    command_set_max_output(command, (size_t)step_param(step, SHELL_MAX_OUTPUT)->number);
    bool fine = command_add_shell(command, step_param(step, SHELL_COMMAND)->value, err) &&
                exec_param_text(step, SHELL_CWD, &cwd, err) &&
                command_set_input_of(command, SHELL_STDIN, err);
    if (fine && step_param(step, SHELL_CWD)->expr) {
        fine = command_set_folder(command, "cwd", cwd.data ? cwd.data : "", cwd.len, err);
    }
    buf_clear(&cwd);
    return fine && command_set_env_of(command, SHELL_ENV, err);
}

static const CommandKind shell_kind = {.word = "shell", .takes_cwd = true, .end = shell_end};

static void exec_shell_start(Step *step) {
    Error err = ERROR_INIT;
    StepCommand *command = command_new(step, &shell_kind);
    command_start(command, give_all(command, &err), &err);
}

const NodeWork exec_shell = {COMMAND_WORK, .start = exec_shell_start};
