/* The work of run_shell, run_javascript and run_command: commands (exec_command.h, which also says how they fail) whose
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
 * run_javascript has Node.js run its script (task_runner.js), in an environment of PATH, envVars and task_files.h. The lines
 * count in what it prints, too, and its outputs are what they set. An error that nobody catches is kind "javascript", with
 * type, traceback, and the line to blame.
 *
 * Each of them ends when nobody has its standard output and standard error open any more: what it has started in the
 * background may print, and set something, after it. A script that is to end gets SIGINT, by itself, and SIGKILL with all
 * of its group five seconds later; where it has exited already, the group is killed at once.
 *
 * run_command runs a program as it is. Another exit code than 0, or a signal, is a failure unless
 * allowed_to_fail; a program that cannot be started, or runs out of time, is one in any case. It is ended by SIGKILL.
 * Outputs:
 *
 *     stdout      what it printed, to standard error, too
 *     error       when it failed: "exit status 3", "signal: killed", or a sentence
 *     exit_code   128 and the signal, when it was ended by one
 *     truncated   true, when it printed more than is kept
 *
 * The variables of the environment of run_shell are ours, then those of envVars as JSON, then those of task_files.h. One
 * of envVars whose query gives nothing stays as it is; one whose query fails while it runs is an empty object. */
#define _GNU_SOURCE
#include "ascii.h"
#include "exec.h"
#include "exec_command.h"
#include "folders.h"
#include "json_build.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "safe_file.h"
#include "set_lines.h"
#include "task_files.h"
#include "worker_runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum {
    SCRIPT_OUTPUT = 32 << 20, /* what is kept, and looked through for lines that set something */
    STDOUT_TAIL = 64 << 10,   /* bytes of the output `stdout`, and of the one in an error */
    SIGNAL_CODE = 128,
    SCRIPT_GRACE_MS = 5000, /* between SIGINT and SIGKILL */
    THROWN_MAX = 1 << 20,   /* bytes of what is said of an error */
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
    bool sets_own;          /* own_outputs are set */
    bool is_javascript;
    Buf text;   /* the end of what it printed: twice STDOUT_TAIL at most */
    char *lost; /* the first value that was too long: the sentence */
    size_t nlost;
    Json thrown;          /* what a script in JavaScript said when it failed; JSON_NONE: nothing */
    TaskKeeping *keeping; /* of what it has left; NULL: not under way */
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

static void on_progress(void *ctx, double percent, const char *message) {
    Script *script = ctx;
    step_log_progress(command_step(script->command), percent, message);
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

/* What task_runner.js says of the error that a script ended with; JSON_NONE: nothing. */
static Json read_thrown(Step *step) {
    char *folder = task_files_folder(step, NULL);
    char *path = folder ? path_join(folder, "error.json") : NULL;
    Buf text = BUF_INIT;
    Json thrown = path && safe_read(AT_FDCWD, path, SAFE_OURS, THROWN_MAX, &text, NULL)
                      ? json_parse(text.data ? text.data : "", text.len, NULL, NULL)
                      : json_none();
    buf_clear(&text);
    mem_free(path);
    mem_free(folder);
    return thrown;
}

static const char *text_in(Json object, const char *key) {
    const char *text = json_object_text(object, key);
    return text ? text : "";
}

/* Says where in the workflow it came up: "TypeError: ... (line 2 of the code, a.yaml:14)". */
static void fail_thrown(Step *step, Json thrown) {
    const Node *node = step_node(step);
    Json number = json_object_get_c(thrown, "line");
    int line = json_tag(number) == JSON_TAG_INT && number.i > 0 && number.i < INT32_MAX
                   ? (int)number.i
                   : 0;
    int at = step_param(step, RUN_JAVASCRIPT_SCRIPT)->line + line - 1;
    Buf message = BUF_INIT;
    const char *type = text_in(thrown, "type"), *said = text_in(thrown, "message");
    buf_printf(&message, *said ? "%s: %s" : "It threw %s without a message.%s",
               *type || *said ? type : "something", said);
    if (line) buf_printf(&message, " (line %d of the code, %s:%d)", line, node->file, at);
    Json details = OBJECT(KEY("type", text_in(thrown, "type")),
                          KEY("file", line && node->file ? node->file : NULL),
                          KEY("line", line ? json_int(at) : json_none()),
                          KEY("traceback", text_in(thrown, "traceback")));
    step_fail(step, "javascript", details, "%s", message.data);
    buf_clear(&message);
}

/* ---- how it ends ---- */

static void on_kept(void *ctx) {
    Script *script = ctx;
    script->keeping = NULL;
    command_finished(script->command);
}

/* What was thrown is in one of the files that go. */
static bool script_finish(StepCommand *command, const ProcessResult *result) {
    Script *script = command_data(command);
    Step *step = command_step(command);
    if (result->end == PROCESS_EXITED && result->code && script->is_javascript) {
        script->thrown = read_thrown(step);
    }
    script->keeping = task_files_keep(step, on_kept, script);
    return script->keeping != NULL;
}

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
    if (script->sets_own && !script->theirs[OWN_STDOUT] && ran(result)) {
        set_output(command, own_outputs[OWN_STDOUT], command_text(&script->text, STDOUT_TAIL));
    }
    if (script->sets_own && !script->theirs[OWN_EXIT_CODE] && result->end == PROCESS_EXITED) {
        set_output(command, own_outputs[OWN_EXIT_CODE], json_int(result->code));
    }
    if (json_kind(script->thrown) == JSON_OBJECT) {
        fail_thrown(command_step(command), script->thrown);
    } else if (!command_succeeded(result)) {
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
    task_files_drop(script->keeping);
    json_unref(script->thrown);
    set_lines_clear(&script->lines);
    buf_clear(&script->text);
    mem_free(script->lost);
    mem_free(script);
}

#define SCRIPT_KIND(word_)                                                               \
    .word = word_, .error_stdout = STDOUT_TAIL, .end_signal = SIGINT, .end_alone = true, \
    .lingers = true, .grace_ms = SCRIPT_GRACE_MS, .output = script_output,               \
    .finish = script_finish, .end = script_end, .free_data = script_free

static const CommandKind script_kind = {SCRIPT_KIND("shell")};
static const CommandKind javascript_kind = {SCRIPT_KIND("javascript")};

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

static Script *script_new(StepCommand *command) {
    Script *script = mem_zalloc(sizeof *script);
    script->command = command;
    script->handler = (SetLinesHandler){on_set, on_progress, on_text, on_problem, script};
    set_lines_init(&script->lines, &script->handler);
    command_set_data(command, script);
    command_set_max_output(command, SCRIPT_OUTPUT);
    return script;
}

static void exec_run_shell_start(Step *step) {
    Error err = ERROR_INIT;
    Json text = step_param(step, RUN_SHELL_COMMAND)->value;
    StepCommand *command = command_new(step, &script_kind);
    script_new(command)->sets_own = true;
    command_set_input(command, json_string_data(&text), json_string_len(text));
    command_add_input(command, "\n", 1);
    command_start(command,
                  give_shell(command, &err) && give_variables(command, RUN_SHELL_ENV, &err), &err);
}

/* ---- run_javascript ---- */

/* A file of the task's own folder; one that an earlier start has made is the same. */
static bool write_file(const char *folder, const char *name, const char *bytes, size_t len,
                       Error *err) {
    char *path = path_join(folder, name);
    unlink(path);
    int fd = safe_create(AT_FDCWD, path, err);
    bool fine = fd >= 0;
    for (size_t at = 0; fine && at < len;) {
        ssize_t n = write(fd, bytes + at, len - at);
        fine = n > 0 ||
               error_set(err, ERR_IO, "The file %s cannot be written: %s.", path, strerror(errno));
        at += fine ? (size_t)n : 0;
    }
    if (fd >= 0) close(fd);
    mem_free(path);
    return fine;
}

/* Variables are many, and most scripts do without them. */
static bool write_vars(Step *step, const char *folder, Json script, Error *err) {
    if (!memmem(json_string_data(&script), json_string_len(script), "vars", 4)) return true;
    Buf text = BUF_INIT;
    json_print(step_state(step), NULL, &text);
    bool fine = write_file(folder, "vars.json", text.data, text.len, err);
    buf_clear(&text);
    return fine;
}

/* nodePath is `node` unless given, and that is $PAWL_NODE where it is set. */
static bool give_node(StepCommand *command, Error *err) {
    Step *step = command_step(command);
    Json path = step_param(step, RUN_JAVASCRIPT_NODE)->value;
    Json script = step_param(step, RUN_JAVASCRIPT_SCRIPT)->value;
    const char *ours = environment_get(step_environment(step), "PAWL_NODE");
    bool usual = json_string_is(path, "node") && ours && *ours;
    if (json_string_len(path) == 0) {
        return error_set(err, ERR_DATA,
                         "nodePath is empty; it takes the name of a program, or its "
                         "path.");
    }
    char *folder = task_files_folder(step, err);
    char *runner = folder ? path_join(folder, "task.cjs") : NULL;
    bool fine =
        folder &&
        write_file(folder, "task.cjs", worker_runtime_task, worker_runtime_task_len, err) &&
        write_file(folder, "script.cjs", json_string_data(&script), json_string_len(script), err) &&
        write_vars(step, folder, script, err) &&
        command_add_arg(command, "nodePath", usual ? ours : json_string_data(&path),
                        usual ? strlen(ours) : json_string_len(path), err) &&
        add_texts(command, "nodeArgs", step_param(step, RUN_JAVASCRIPT_ARGS)->value, err) &&
        command_add_arg(command, "The file", runner, strlen(runner), err);
    mem_free(runner);
    mem_free(folder);
    return fine;
}

static void exec_run_javascript_start(Step *step) {
    Error err = ERROR_INIT;
    StepCommand *command = command_new(step, &javascript_kind);
    script_new(command)->is_javascript = true;
    command_clear_env(command);
    command_start(command,
                  give_node(command, &err) && give_variables(command, RUN_JAVASCRIPT_ENV, &err),
                  &err);
}

/* ---- run_command ---- */

/* "exit status 3", as those who wrote such tests know it. */
static Json program_error(const StepCommand *command, const ProcessResult *result) {
    if (result->end == PROCESS_EXITED) return json_string_fmt("exit status %d", result->code);
    if (result->end == PROCESS_SIGNALED) {
        Buf text = BUF_INIT;
        buf_printf(&text, "signal: %s", strsignal(result->code));
        for (char *c = text.data; *c; c++) *c = ascii_lower(*c);
        Json signal = json_string(text.data, text.len);
        buf_clear(&text);
        return signal;
    }
    char *sentence = command_failure(command, result);
    Json error = json_string_c(sentence);
    mem_free(sentence);
    return error;
}

static void program_end(StepCommand *command, const ProcessResult *result) {
    Step *step = command_step(command);
    bool good = command_succeeded(result), signaled = result->end == PROCESS_SIGNALED;
    bool failed = (result->end == PROCESS_EXITED && !good) || signaled; /* by itself, not by us */
    if (!good) set_output(command, "error", program_error(command, result));
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

static const CommandKind program_kind = {.word = "command",
                                         .error_stdout = STDOUT_TAIL,
                                         .joined = true,
                                         .lingers = true,
                                         .end_signal = SIGKILL,
                                         .end = program_end};

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
const NodeWork exec_run_javascript = {COMMAND_WORK, .start = exec_run_javascript_start};
const NodeWork exec_run_command = {COMMAND_WORK, .start = exec_run_command_start};
