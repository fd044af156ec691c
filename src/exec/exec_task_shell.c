/* The work of run_shell and run_command: commands (exec_command.h, which also says how they fail) whose
 * outputs are set whether they succeed or not.
 *
 * run_shell gives its command, and a newline, to the shell's standard input. The lines of set_lines.h among what it
 * prints are applied as they come and are not in the log. A line that is wrong is said in the log when it comes, and no
 * more; one that is too long makes the task fail at the end, with kind "limit", if nothing else does. Outputs:
 *
 *     stdout      the end of what it printed, without those lines
 *     exit_code   when it exited by itself
 *
 * unless the script sets outputs of these names.
 *
 * run_command runs a program as it is. Another exit code than 0, or a signal, is a failure unless
 * allowed_to_fail; a program that cannot be started, or runs out of time, is one in any case. Outputs:
 *
 *     stdout      what it printed
 *     error       when it failed: the end of what it wrote to stderr, or else a sentence; otherwise ""
 *     exit_code   128 and the signal, when it was ended by one
 *     truncated   true, when it printed more than is kept
 *
 * The variables of the environment of run_shell are ours, then those of envVars as JSON, then those of task_files.h. One
 * of envVars whose query gives nothing stays as it is; one whose query fails while it runs is an empty object. */
#include "exec.h"
#include "exec_command.h"
#include "json_print.h"
#include "mem.h"
#include "set_lines.h"
#include "task_files.h"

#include <inttypes.h>
#include <string.h>

enum {
    SCRIPT_OUTPUT = 32 << 20, /* what is kept, and looked through for lines that set something */
    STDOUT_TAIL = 64 << 10,   /* bytes of the output `stdout`, and of the one in an error */
    ERROR_TAIL = 2048,        /* bytes of the output `error` */
    SIGNAL_CODE = 128,
};

static bool truncated(const ProcessResult *result) {
    return result->out_len > result->out.len;
}

static void set_output(StepCommand *command, const char *name, Json value) {
    step_set_output(command_step(command), json_string_c(name), value);
}

/* Whether it ran, so that there is something to say of it. */
static bool ran(const ProcessResult *result) {
    return result->end == PROCESS_EXITED || result->end == PROCESS_SIGNALED ||
           result->end == PROCESS_TIMEOUT;
}

/* ---- run_shell: what it prints ---- */

enum { OWN_STDOUT, OWN_EXIT_CODE, OWN_COUNT };

static const char *const own_outputs[OWN_COUNT] = {"stdout", "exit_code"};

typedef struct Script {
    StepCommand *command;
    SetLines lines;
    SetLinesHandler handler;
    bool theirs[OWN_COUNT]; /* the script sets this output itself */
    Buf text;               /* the end of what it printed: twice STDOUT_TAIL at most */
    char *lost;             /* the first value that was too long: the sentence */
    size_t nlost;
} Script;

static void on_set(void *ctx, bool output, Json name, Json value) {
    Script *script = ctx;
    Step *step = command_step(script->command);
    if (!output) {
        step_set_var(step, name, value);
        return;
    }
    for (int i = 0; i < OWN_COUNT; i++) {
        script->theirs[i] = script->theirs[i] || json_string_is(name, own_outputs[i]);
    }
    step_set_output(step, name, value);
}

static void keep_tail(Buf *text, const char *bytes, size_t len) {
    size_t skip = len > STDOUT_TAIL ? len - STDOUT_TAIL : 0;
    buf_add(text, bytes + skip, len - skip);
    if (text->len > (size_t)2 * STDOUT_TAIL) {
        memmove(text->data, text->data + text->len - STDOUT_TAIL, STDOUT_TAIL);
        text->len = STDOUT_TAIL;
    }
}

static void on_text(void *ctx, const char *bytes, size_t len) {
    Script *script = ctx;
    command_log(script->command, 1, bytes, len);
    keep_tail(&script->text, bytes, len);
}

static void on_problem(void *ctx, bool lost, const char *sentence) {
    Script *script = ctx;
    exec_note(command_step(script->command), "%s%s", lost ? "" : "warning: ", sentence);
    if (lost && !script->nlost++) script->lost = mem_strdup(sentence);
}

static void script_output(StepCommand *command, int stream, const char *bytes, size_t len) {
    Script *script = command_data(command);
    if (stream == 1) {
        set_lines_feed(&script->lines, bytes, len);
    } else {
        command_log(command, stream, bytes, len);
    }
}

/* ---- run_shell: how it ended ---- */

static void script_end(StepCommand *command, const ProcessResult *result) {
    Script *script = command_data(command);
    if (truncated(result)) {
        char text[200];
        snprintf(text, sizeof text,
                 "The script printed %" PRIu64
                 " bytes, and only the first %d MB are looked through "
                 "for lines that set something. Let it print less, or into a file.",
                 result->out_len, SCRIPT_OUTPUT >> 20);
        on_problem(script, true, text);
        keep_tail(&script->text, result->out_tail.data, result->out_tail.len);
    } else if (result->end == PROCESS_EXITED) {
        /* A last line without LF is one only if there would have been nothing more of it. */
        set_lines_end(&script->lines);
    }
    if (!script->theirs[OWN_STDOUT] && ran(result)) {
        set_output(command, own_outputs[OWN_STDOUT], command_text(&script->text, STDOUT_TAIL));
    }
    if (!script->theirs[OWN_EXIT_CODE] && result->end == PROCESS_EXITED) {
        set_output(command, own_outputs[OWN_EXIT_CODE], json_int(result->code));
    }
    task_files_keep(command_step(command));
    if (!command_succeeded(result)) {
        command_fail(command, result);
    } else if (script->nlost == 1) {
        step_fail(command_step(command), "limit", command_details(command, result), "%s",
                  script->lost);
    } else if (script->nlost) {
        step_fail(command_step(command), "limit", command_details(command, result),
                  "%zu values that the script sets are too long and were not applied; they are in "
                  "the log. The first: %s",
                  script->nlost, script->lost);
    } else {
        step_succeed(command_step(command), json_null());
    }
}

static void script_free(void *data) {
    Script *script = data;
    set_lines_clear(&script->lines);
    buf_clear(&script->text);
    mem_free(script->lost);
    mem_free(script);
}

static const CommandKind script_kind = {.word = "shell",
                                        .error_stdout = STDOUT_TAIL,
                                        .output = script_output,
                                        .end = script_end,
                                        .free_data = script_free};

/* ---- run_shell: what it is given ---- */

static bool add_texts(StepCommand *command, const char *what, Json list, Error *err) {
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json text = json_array_get(list, i);
        if (!command_add_arg(command, what, json_string_data(&text), json_string_len(text), err)) {
            return false;
        }
    }
    return true;
}

static bool give_shell(StepCommand *command, Error *err) {
    Step *step = command_step(command);
    Json shell = step_param(step, RUN_SHELL_SHELL)->value;
    if (json_string_len(shell) == 0) {
        return error_set(err, ERR_DATA,
                         "shell is empty; it takes the name of a shell, or its path.");
    }
    return command_add_arg(command, "shell", json_string_data(&shell), json_string_len(shell),
                           err) &&
           add_texts(command, "shellArgs", step_param(step, RUN_SHELL_ARGS)->value, err);
}

/* A query that fails by itself while it runs stands for an empty object. */
static bool give_variable(StepCommand *command, const struct ParamField *field, Error *err) {
    Error why = ERROR_INIT;
    Step *step = command_step(command);
    Json value = step_query(step, field->expr, &why);
    if (json_is_none(value) && why.code == ERR_NONE) return true;
    bool raised = why.code == ERR_RAISED || why.code == ERR_DATA;
    if (json_is_none(value) && !raised) {
        *err = why;
        error_wrap(err, "envVars.%.*s", (int)json_string_len(field->name),
                   json_string_data(&field->name));
        return false;
    }
    if (json_is_none(value)) {
        exec_note(step, "warning: envVars.%.*s is {}, because its query fails: %s",
                  (int)json_string_len(field->name), json_string_data(&field->name), why.msg);
        value = json_object();
    }
    Buf text = BUF_INIT;
    json_print(value, NULL, &text);
    json_unref(value);
    bool given = command_set_env(command, "envVars", field->name, text.data, text.len, err);
    buf_clear(&text);
    return given;
}

static bool give_variables(StepCommand *command, int param, Error *err) {
    const Param *env = step_param(command_step(command), param);
    bool given = true;
    for (size_t i = 0; given && i < env->nfields; i++) {
        given = give_variable(command, &env->fields[i], err);
    }
    return given && task_files_give(command, err);
}

static void exec_run_shell_start(Step *step) {
    Error err = ERROR_INIT;
    Json text = step_param(step, RUN_SHELL_COMMAND)->value;
    StepCommand *command = command_new(step, &script_kind);
    Script *script = mem_zalloc(sizeof *script);
    script->command = command;
    script->handler = (SetLinesHandler){on_set, on_text, on_problem, script};
    set_lines_init(&script->lines, &script->handler);
    command_set_data(command, script);
    command_set_max_output(command, SCRIPT_OUTPUT);
    command_set_input(command, json_string_data(&text), json_string_len(text));
    command_add_input(command, "\n", 1);
    command_start(command,
                  give_shell(command, &err) && give_variables(command, RUN_SHELL_ENV, &err), &err);
}

/* ---- run_command ---- */

static void program_end(StepCommand *command, const ProcessResult *result) {
    Step *step = command_step(command);
    bool good = command_succeeded(result), signaled = result->end == PROCESS_SIGNALED;
    bool failed = (result->end == PROCESS_EXITED && !good) || signaled; /* by itself, not by us */
    Json error = good ? json_string_c("") : command_end_text(result, 2, ERROR_TAIL);
    if (!good && !json_string_len(error)) {
        char *sentence = command_failure(command, result);
        error = json_string_c(sentence);
        mem_free(sentence);
    }
    set_output(command, "error", error);
    if (ran(result)) set_output(command, "stdout", command_text(&result->out, 0));
    if (ran(result) && truncated(result)) set_output(command, "truncated", json_bool(true));
    if (good || failed) {
        set_output(command, "exit_code", json_int(result->code + (signaled ? SIGNAL_CODE : 0)));
    }
    if (good || (failed && step_param(step, RUN_COMMAND_MAY_FAIL)->number != 0)) {
        step_succeed(step, json_null());
    } else {
        command_fail(command, result);
    }
}

static const CommandKind program_kind = {
    .word = "command", .error_stdout = STDOUT_TAIL, .end = program_end};

static void exec_run_command_start(Step *step) {
    Error err = ERROR_INIT;
    Json words = step_param(step, RUN_COMMAND_COMMAND)->value;
    StepCommand *command = command_new(step, &program_kind);
    bool named = json_array_len(words) > 0 && json_string_len(json_array_get(words, 0)) > 0;
    bool given =
        named ? add_texts(command, "command", words, &err)
              : error_set(&err, ERR_DATA,
                          "command names no program; its first element is the program to run.");
    command_start(command, given, &err);
}

const NodeWork exec_run_shell = {COMMAND_WORK, .start = exec_run_shell_start};
const NodeWork exec_run_command = {COMMAND_WORK, .start = exec_run_command_start};
