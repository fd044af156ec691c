/* The work of a shell node: `sh -c COMMAND` as a supervised process in the step's place, so that a
 * command that outlives us is waited for and not run again.
 *
 * The result is {stdout, exit_code}. stdout is what the command wrote without the newlines at its
 * end, as $(...) has it; when it wrote more than max_output the rest is cut off and the result has
 * `truncated: true` and `stdout_bytes` too. With `parse: json` the result is the value it printed.
 * Bytes that are not UTF-8 become U+FFFD.
 *
 * How it fails, as .error.kind:
 *
 *     exit       a code other than 0     signal   ended by a signal        timeout
 *     parse      not JSON                limit    too long to parse, or a size out of bounds
 *     spawn      could not be started    lost     nobody knows how it ended
 *     shell      what the node asks for cannot be said to a command, or the run's folder is gone
 *
 * The first three carry exit_code or signal, stdout, and the end of stderr.
 *
 * A command that we find and that was ended for an earlier process, which did not live to say so, has
 * no result: it is started again. */
#define _GNU_SOURCE
#include "exec_kinds.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "process.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OUTPUT_MAX = 256 << 20, /* what max_output may ask for */
    STDERR_TAIL = 2048,     /* bytes of stderr that an error carries */
    LINE_TAIL = 200,        /* bytes of its last line in the sentence */
    CHARACTER_MAX = 4,
};

/* The start of a character whose other bytes have not come yet. */
typedef struct Pending {
    char bytes[CHARACTER_MAX];
    size_t len;
} Pending;

typedef struct Shell {
    Step *step;
    Process *process;
    Pending pending[2];
    char *cwd;      /* for the sentence; NULL: the run's folder */
    bool cancelled; /* by us */
    bool again;     /* started a second time, so never a third */
} Shell;

static const char *const stream_names[2] = {"stdout", "stderr"};

static void shell_free(Shell *shell) {
    process_free(shell->process);
    mem_free(shell->cwd);
    mem_free(shell);
}

/* ---- the log ---- */

/* How many bytes at the end of s are the beginning of a character that is not all there. */
static size_t unfinished(const char *s, size_t len) {
    for (size_t back = 1; back < CHARACTER_MAX && back <= len; back++) {
        unsigned char c = (unsigned char)s[len - back];
        size_t needs = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
        if (c < 0x80 || c >= 0xC0) return needs > back ? back : 0;
    }
    return 0;
}

static void log_whole_characters(Shell *shell, int index, const char *bytes, size_t len) {
    Pending *pending = &shell->pending[index];
    Buf text = BUF_INIT;
    buf_reserve(&text, pending->len + len);
    buf_add(&text, pending->bytes, pending->len);
    buf_add(&text, bytes, len);
    pending->len = unfinished(text.data, text.len);
    text.len -= pending->len;
    memcpy(pending->bytes, text.data + text.len, pending->len);
    if (text.len) step_log(shell->step, stream_names[index], text.data, text.len);
    buf_clear(&text);
}

static void on_output(void *ctx, int stream, const char *bytes, size_t len) {
    if (len) log_whole_characters(ctx, stream - 1, bytes, len);
}

/* What is left at the end; of a process that we found, all of it. */
static void log_rest(Shell *shell, const ProcessResult *result) {
    const Buf *kept[2] = {&result->out, &result->err};
    for (int i = 0; i < 2; i++) {
        const Pending *pending = &shell->pending[i];
        if (process_attached(shell->process) && kept[i]->len) {
            step_log(shell->step, stream_names[i], kept[i]->data, kept[i]->len);
        } else if (pending->len) {
            step_log(shell->step, stream_names[i], pending->bytes, pending->len);
        }
    }
}

/* ---- what it wrote ---- */

static size_t without_newlines(const Buf *text) {
    size_t len = text->len;
    while (len && text->data[len - 1] == '\n') {
        len--;
    }
    return len;
}

static Json text_of(const Buf *text) {
    return json_string(text->data ? text->data : "", without_newlines(text));
}

/* At most max bytes of the end of [s, s + len), not starting inside a character. */
static const char *tail(const char *s, size_t *len, size_t max) {
    size_t skip = *len > max ? *len - max : 0;
    while (skip && skip < *len && ((unsigned char)s[skip] & 0xC0) == 0x80) {
        skip++;
    }
    *len -= skip;
    return s + skip;
}

static Json end_of_stderr(const Buf *text) {
    size_t len = without_newlines(text);
    const char *end = tail(text->data ? text->data : "", &len, STDERR_TAIL);
    return json_string(end, len);
}

/* ": the last line", to go at the end of a sentence; NULL when there is none. */
static char *last_line(const Buf *text) {
    Buf out = BUF_INIT;
    size_t len = without_newlines(text), from = len;
    while (from && text->data[from - 1] != '\n') {
        from--;
    }
    len -= from;
    if (len) {
        const char *line = tail(text->data + from, &len, LINE_TAIL);
        buf_adds(&out, ": ");
        utf8_repair(&out, line, len);
    }
    return buf_detach(&out);
}

static Json set(Json object, const char *key, Json value) {
    return json_object_set(object, json_string_c(key), value);
}

static Json details_of(const ProcessResult *result, const char *code_name) {
    Json details = json_object();
    details = set(details, code_name, json_int(result->code));
    details = set(details, "stdout", text_of(&result->out));
    return set(details, "stderr", end_of_stderr(&result->err));
}

/* ---- how it ended ---- */

static bool truncated(const ProcessResult *result) {
    return result->out_len > result->out.len;
}

static void succeed_with_text(Step *step, const ProcessResult *result) {
    Json value = set(json_object(), "stdout", text_of(&result->out));
    value = set(value, "exit_code", json_int(result->code));
    if (truncated(result)) {
        value = set(value, "truncated", json_bool(true));
        value = set(value, "stdout_bytes", json_int((int64_t)result->out_len));
    }
    step_succeed(step, value);
}

static void succeed_with_value(Step *step, const ProcessResult *result) {
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
        step_fail(step, "parse", details_of(result, "exit_code"),
                  "What the command printed is not JSON: %s", err.msg);
        return;
    }
    step_succeed(step, value);
}

static void end_exited(Step *step, const ProcessResult *result) {
    if (result->code != 0) {
        char *line = last_line(&result->err);
        step_fail(step, "exit", details_of(result, "exit_code"), "Command exited with code %d%s",
                  result->code, line ? line : "");
        mem_free(line);
    } else if (json_string_is(step_param(step, SHELL_PARSE)->value, "json")) {
        succeed_with_value(step, result);
    } else {
        succeed_with_text(step, result);
    }
}

static void end_signaled(Step *step, const ProcessResult *result) {
    step_fail(step, "signal", details_of(result, "signal"), "Command was ended by signal %d (%s)",
              result->code, strsignal(result->code));
}

/* "1h30m", "2s", "250ms". */
static void duration_text(int64_t ms, char *out, size_t size) {
    static const struct {
        int64_t ms;
        const char *name;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}};
    size_t len = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units && len < size; i++) {
        if (ms >= units[i].ms) {
            len += (size_t)snprintf(out + len, size - len, "%" PRId64 "%s", ms / units[i].ms,
                                    units[i].name);
            ms %= units[i].ms;
        }
    }
}

static void end_timeout(Step *step, const ProcessResult *result) {
    char timeout[64] = "0ms";
    duration_text(step_timeout_ms(step), timeout, sizeof timeout);
    step_fail(step, "timeout", details_of(result, "exit_code"),
              "Command ran longer than its timeout of %s and was ended", timeout);
}

static void end_ended(Step *step, const ProcessResult *result) {
    (void)result;
    step_fail(step, "cancelled", json_none(), "Command was ended because the run was.");
}

static void end_lost(Step *step, const ProcessResult *result) {
    (void)result;
    step_fail(step, "lost", json_none(),
              "Command was started, but nobody saw how it ended: its supervisor was killed, or the "
              "machine stopped. It may have done its work, or a part of it.");
}

static bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void end_failed(Step *step, const ProcessResult *result) {
    const Shell *shell = step_data(step);
    if (!is_folder(step_folder(step)) && !(shell->cwd && shell->cwd[0] == '/')) {
        step_fail(step, "shell", json_none(),
                  "The folder %s, where the run was started and its commands run, is not there any "
                  "more. Put it back, or give the node a cwd that is a whole path.",
                  step_folder(step));
        return;
    }
    step_fail(step, "spawn", json_none(), "Cannot start the command%s%s: %s.",
              shell->cwd ? " in " : "", shell->cwd ? shell->cwd : "", strerror(result->code));
}

static void (*const ends[])(Step *step, const ProcessResult *result) = {
    [PROCESS_EXITED] = end_exited,   [PROCESS_SIGNALED] = end_signaled,
    [PROCESS_TIMEOUT] = end_timeout, [PROCESS_ENDED] = end_ended,
    [PROCESS_LOST] = end_lost,       [PROCESS_FAILED] = end_failed,
};

static void start_again(Shell *shell);

/* Somebody was ending it when we came; that says nothing about this attempt. */
static bool was_ended_for_another(const Shell *shell, const ProcessResult *result) {
    return result->end == PROCESS_ENDED && process_attached(shell->process) && !shell->cancelled &&
           !shell->again;
}

static void on_exit_(void *ctx, const ProcessResult *result) {
    Shell *shell = ctx;
    if (was_ended_for_another(shell, result)) {
        start_again(shell);
        return;
    }
    log_rest(shell, result);
    ends[result->end](shell->step, result);
    shell_free(shell);
}

/* ---- what it is given ---- */

/* What a command is to be started with; C strings, freed after the start. */
typedef struct Given {
    Buf command, input;
    Buf cwd;    /* as the node says it */
    Buf folder; /* where that is */
    bool has_cwd, has_input;
    char **env;
    size_t nenv, cap;
} Given;

static void given_clear(Given *given) {
    for (size_t i = 0; i < given->nenv; i++) {
        mem_free(given->env[i]);
    }
    mem_free(given->env);
    buf_clear(&given->command);
    buf_clear(&given->cwd);
    buf_clear(&given->folder);
    buf_clear(&given->input);
}

static bool has_nul(const Buf *text) {
    return text->len && memchr(text->data, '\0', text->len);
}

/* Makes a C string even of a text to which nothing was added. */
static void end_text(Buf *text) {
    buf_addc(text, '\0');
    text->len--;
}

static bool refuse_nul(const Buf *text, const char *what, Error *err) {
    return !has_nul(text) ||
           error_set(err, ERR_DATA,
                     "%s holds a NUL character, which no command can be given. Take it out.", what);
}

static void add_value(Buf *out, Json value) {
    if (json_kind(value) == JSON_STRING) {
        buf_add(out, json_string_data(&value), json_string_len(value));
    } else {
        json_print(value, NULL, out);
    }
}

static void env_push(Given *given, char *entry) {
    given->env = mem_grow(given->env, given->nenv, &given->cap, sizeof *given->env);
    given->env[given->nenv++] = entry;
}

static bool env_names(const Param *param, const char *entry) {
    size_t len = strcspn(entry, "=");
    for (size_t i = 0; i < param->nfields; i++) {
        const Json *name = &param->fields[i].name;
        if (json_string_len(*name) == len && !memcmp(json_string_data(name), entry, len)) {
            return true;
        }
    }
    return false;
}

static void env_inherit(Given *given, const Param *param) {
    for (char **entry = environ; *entry; entry++) {
        if (!env_names(param, *entry)) env_push(given, mem_strndup(*entry, strlen(*entry)));
    }
}

static bool env_name_fits(Json name, Error *err) {
    size_t len = json_string_len(name);
    const char *s = json_string_data(&name);
    if (len && !memchr(s, '=', len) && !memchr(s, '\0', len)) return true;
    return error_set(
        err, ERR_DATA,
        "env has a variable named \"%.*s\"; a name cannot be empty or hold '=' or NUL.", (int)len,
        s);
}

static bool env_add(Step *step, Given *given, const struct ParamField *field, Error *err) {
    if (!env_name_fits(field->name, err)) return false;
    Json value = step_eval(step, field->expr, err);
    Buf entry = BUF_INIT;
    buf_add(&entry, json_string_data(&field->name), json_string_len(field->name));
    if (json_is_none(value)) {
        error_wrap(err, "env.%s", entry.data);
        buf_clear(&entry);
        return false;
    }
    buf_addc(&entry, '=');
    add_value(&entry, value);
    json_unref(value);
    if (has_nul(&entry)) {
        error_set(err, ERR_DATA,
                  "env.%.*s holds a NUL character, which no variable can. Take it out.",
                  (int)strcspn(entry.data, "="), entry.data);
        buf_clear(&entry);
        return false;
    }
    env_push(given, buf_detach(&entry));
    return true;
}

static bool give_env(Step *step, Given *given, Error *err) {
    const Param *param = step_param(step, SHELL_ENV);
    env_inherit(given, param);
    for (size_t i = 0; i < param->nfields; i++) {
        if (!env_add(step, given, &param->fields[i], err)) return false;
    }
    env_push(given, NULL);
    return true;
}

static bool give_command(Step *step, Given *given, Error *err) {
    add_value(&given->command, step_param(step, SHELL_COMMAND)->value);
    end_text(&given->command);
    return refuse_nul(&given->command, "The command", err);
}

/* What is not a whole path begins in the run's folder. */
static void give_folder(Step *step, Given *given) {
    bool whole = given->cwd.len && given->cwd.data[0] == '/';
    if (!whole) buf_adds(&given->folder, step_folder(step));
    if (!whole && given->cwd.len) buf_addc(&given->folder, '/');
    buf_add(&given->folder, given->cwd.data, given->cwd.len);
}

static bool give_cwd(Step *step, Given *given, Error *err) {
    const Expr *expr = step_param(step, SHELL_CWD)->expr;
    given->has_cwd = expr != NULL;
    if (expr && !step_text(step, expr, &given->cwd, err)) {
        error_wrap(err, "cwd");
        return false;
    }
    end_text(&given->cwd);
    give_folder(step, given);
    return refuse_nul(&given->cwd, "cwd", err);
}

static bool give_input(Step *step, Given *given, Error *err) {
    const Expr *expr = step_param(step, SHELL_STDIN)->expr;
    given->has_input = expr != NULL;
    if (!expr) return true;
    Json value = step_eval(step, expr, err);
    if (json_is_none(value)) {
        error_wrap(err, "stdin");
        return false;
    }
    add_value(&given->input, value);
    json_unref(value);
    return true;
}

static bool output_fits(Step *step, Error *err) {
    return step_param(step, SHELL_MAX_OUTPUT)->number <= OUTPUT_MAX ||
           error_set(err, ERR_LIMIT, "max_output is more than %dM, which is the most that is kept.",
                     OUTPUT_MAX >> 20);
}

static bool give_all(Step *step, Given *given, Error *err) {
    return output_fits(step, err) && give_command(step, given, err) && give_cwd(step, given, err) &&
           give_input(step, given, err) && give_env(step, given, err);
}

/* ---- the row ---- */

static bool launch(Step *step, const Given *given, const char *place, bool again, Error *err) {
    Shell *shell = mem_zalloc(sizeof *shell);
    const char *argv[] = {"sh", "-c", given->command.data, NULL};
    ProcessOptions options = {
        .place = place,
        .argv = argv,
        .env = (const char *const *)given->env,
        .cwd = given->folder.data,
        .input = !given->has_input   ? NULL
                 : given->input.data ? given->input.data
                                     : "",
        .input_len = given->input.len,
        .max_output = (size_t)step_param(step, SHELL_MAX_OUTPUT)->number,
        .timeout_ms = (uint64_t)step_timeout_ms(step),
        .on_output = on_output,
        .on_exit = on_exit_,
        .ctx = shell,
    };
    shell->step = step;
    shell->again = again;
    shell->cwd = given->has_cwd ? mem_strndup(given->cwd.data, given->cwd.len) : NULL;
    shell->process = process_start(step_loop(step), &options, err);
    if (!shell->process) {
        shell_free(shell);
        return false;
    }
    step_set_data(step, shell);
    return true;
}

static void start(Step *step, bool again) {
    Error err = ERROR_INIT;
    Given given = {.command = BUF_INIT};
    if (!give_all(step, &given, &err)) {
        exec_fail_with(step, "shell", &err);
    } else {
        const char *place = step_place(step, &err);
        if (place && again) process_forget(place);
        if (!place || !launch(step, &given, place, again, &err)) {
            exec_fail_with(step, "spawn", &err);
        }
    }
    given_clear(&given);
}

static void start_again(Shell *shell) {
    Step *step = shell->step;
    step_set_data(step, NULL);
    shell_free(shell);
    start(step, true);
}

void exec_shell_start(Step *step) {
    start(step, false);
}

void exec_shell_cancel(Step *step) {
    Shell *shell = step_data(step);
    if (!shell) return;
    shell->cancelled = true;
    process_end(shell->process);
}

void exec_shell_drop(Step *step) {
    Shell *shell = step_data(step);
    if (shell) shell_free(shell);
}
