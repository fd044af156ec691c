/* The work of an action node: instructions, an answer, a confirmation.
 *
 * The first pass makes the instructions, {prompt, system?}: they are on record (the step's memo) before
 * anything else, so that whatever happens the same question is asked. Then somebody answers. In
 * interactive mode that is a person: the run stops with the prompt. In autonomous mode it is a model: a
 * command that reads the prompt and prints the answer, or an API over HTTP (model.h). The answer is put
 * on record and the node starts again: that is the second pass, in which `confirm` makes a result of the
 * prompt and the answer. An error in `confirm` leaves the answer where it is; nobody is asked twice.
 *
 * The answer on record is an object with a `response`; a person may also give the response alone:
 *
 *     of a model       {"response": text, "model"?, "usage"?, "stop"?}
 *     of a command     {"response": text}           text without the newlines at its end
 *     of a person      {"response": any, ...}, or any other value, which is then the response itself
 *
 * A model that gives no answer is asked again, `attempts` times in all, with pauses that begin with
 * `backoff` and double, or are as long as the API asks for. When it is of no use, or no use any more, the
 * run stops for a person as in interactive mode, with {prompt, error: {kind, message, attempts, status?,
 * response?}}, who answers in the model's place or has it asked again by the decision "retry". Only what
 * is wrong with the node itself fails it. kind is a word of model_end_name(), of the process
 * (exit, signal, timeout, spawn, lost, limit, empty), or
 *
 *     unreached   nobody listens, or the connection broke        tls    the certificate does not hold
 *     key         there is no key                                timeout
 *
 * How many attempts were made is not on record: a process that finds the node under way begins to count
 * anew. A command that it finds is waited for; a request is made again.
 *
 * The key is read from the environment when it is needed and kept nowhere. */
#define _GNU_SOURCE
#include "exec_kinds.h"
#include "json_print.h"
#include "mem.h"
#include "model.h"
#include "process.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    COMMAND_OUTPUT_MAX = MODEL_TEXT_MAX,
    STREAM_MAX = 512 << 20,    /* bytes of an answer on the wire, where text is a small part */
    PAUSE_MAX_MS = 5 * 60000,  /* what doubling comes to in the end */
    ASKED_MAX_MS = 60 * 60000, /* a longer pause than this is for a person to wait for */
    LINE_TAIL = 200,           /* bytes of a command's last words in a sentence */
};

static const char RETRY[] = "retry"; /* what a person decides who lets the model try again */

typedef struct Action {
    Step *step;
    uv_timer_t timer; /* of a pause; after cancel() of the end */
    int64_t attempt;  /* from 1 */
    bool cancelled;
    /* of the attempt under way */
    Process *process;
    bool again; /* the command was started a second time, so never a third */
    Utf8Pieces output[2];
    HttpRequest *request;
    ModelReader *reader;
    Buf error_body;
} Action;

/* Why an attempt came to nothing. */
typedef struct Fault {
    const char *kind;
    bool passes;     /* another attempt may do better */
    int status;      /* of HTTP, or 0 */
    int64_t wait_ms; /* that the API asks for, or 0 */
    Json response;   /* what there is of an answer, or JSON_NONE; borrowed */
    char message[ERROR_MSG_MAX];
} Fault;

/* ---- what the node says ---- */

static bool given(Step *step, int param) {
    return !json_is_none(step_param(step, param)->value);
}

static Json prompt_of(const Step *step) {
    return json_object_get_c(step_memo(step), "prompt");
}

static Json system_of(const Step *step) {
    return json_object_get_c(step_memo(step), "system");
}

static bool is_interactive(Step *step) {
    return given(step, ACTION_MODE)
               ? json_string_is(step_param(step, ACTION_MODE)->value, "interactive")
               : step_is_interactive(step);
}

static bool text_param(Step *step, int param, const char *name, Json *out, Error *err) {
    Buf text = BUF_INIT;
    bool ok = step_text(step, step_param(step, param)->expr, &text, err);
    if (ok) {
        *out = json_string(text.data ? text.data : "", text.len);
    } else {
        error_wrap(err, "%s", name);
    }
    buf_clear(&text);
    return ok;
}

/* ---- the first pass ---- */

Json exec_action_prepare(Step *step, Error *err) {
    Json prompt = json_none(), system = json_none();
    if (!text_param(step, ACTION_PROMPT, "prompt", &prompt, err)) return json_none();
    if (step_param(step, ACTION_SYSTEM)->expr &&
        !text_param(step, ACTION_SYSTEM, "system", &system, err)) {
        json_unref(prompt);
        return json_none();
    }
    Json memo = json_object_with(json_object(), "prompt", prompt);
    return json_is_none(system) ? memo : json_object_with(memo, "system", system);
}

/* ---- the second pass ---- */

/* Borrowed from the answer. */
static Json response_of(Json answer) {
    Json inside =
        json_kind(answer) == JSON_OBJECT ? json_object_get_c(answer, "response") : json_none();
    return json_is_none(inside) ? answer : inside;
}

/* The engine removes the place that a step has asked for: what the command left there was needed until
 * its answer was on record, and is not any more. */
static void confirm(Step *step, Json answer) {
    Error err = ERROR_INIT;
    if (given(step, ACTION_COMMAND)) step_place(step, NULL);
    const Expr *expr = step_param(step, ACTION_CONFIRM)->expr;
    Json seen[] = {prompt_of(step), response_of(answer)};
    Json result = expr ? step_eval_with(step, expr, seen, 2, &err)
                       : json_object_with(json_object(), "response", json_ref(seen[1]));
    if (json_is_none(result)) {
        error_wrap(&err, "confirm");
        exec_fail_with(step, "jq", &err);
    } else {
        step_succeed(step, result);
    }
}

/* ---- life ---- */

static Action *action_new(Step *step) {
    Action *action = mem_zalloc(sizeof *action);
    action->step = step;
    action->attempt = 1;
    uv_timer_init(step_loop(step), &action->timer);
    action->timer.data = action;
    step_set_data(step, action);
    return action;
}

/* Of what the attempt has, nothing is needed any more. */
static void attempt_clear(Action *action) {
    process_free(action->process);
    http_cancel(action->request);
    model_reader_free(action->reader);
    buf_clear(&action->error_body);
    action->process = NULL;
    action->request = NULL;
    action->reader = NULL;
    memset(action->output, 0, sizeof action->output);
}

static void on_closed(uv_handle_t *handle) {
    mem_free(handle->data);
}

/* Gives back the step, which is still to be ended. */
static Step *action_close(Action *action) {
    Step *step = action->step;
    attempt_clear(action);
    step_set_data(step, NULL);
    uv_close((uv_handle_t *)&action->timer, on_closed);
    return step;
}

static void fail_with(Action *action, const Error *err) {
    exec_fail_with(action_close(action), "action", err);
}

static void record(Action *action, Json answer) {
    step_answer(action_close(action), answer);
}

/* ---- when there is no answer ---- */

static void attempt_start(Action *action);

/* What went wrong, and what now. The words of others may lack their full stop. */
static void log_attempt(Action *action, const Fault *fault, const char *next) {
    Buf line = BUF_INIT;
    size_t len = strlen(fault->message);
    bool ends = len && strchr(".!?", fault->message[len - 1]);
    buf_printf(&line, "Attempt %" PRId64 " of %" PRId64 ": %s%s %s\n", action->attempt,
               step_param(action->step, ACTION_ATTEMPTS)->number, fault->message, ends ? "" : ".",
               next);
    step_log(action->step, "log", line.data, line.len);
    buf_clear(&line);
}

static void forget_command(Step *step) {
    const char *place = given(step, ACTION_COMMAND) ? step_place(step, NULL) : NULL;
    if (place) process_forget(place);
}

static Json fault_json(const Action *action, const Fault *fault) {
    Json out = json_object_with(json_object(), "kind", json_string_c(fault->kind));
    out = json_object_with(out, "message", json_string_c(fault->message));
    out = json_object_with(out, "attempts", json_int(action->attempt));
    if (fault->status) out = json_object_with(out, "status", json_int(fault->status));
    bool some = json_kind(fault->response) == JSON_STRING && json_string_len(fault->response);
    return some ? json_object_with(out, "response", json_ref(fault->response)) : out;
}

/* What the command left is of no use when the model is asked again. */
static void ask_person(Action *action, const Fault *fault) {
    Json prompt = json_object_with(json_object(), "prompt", json_ref(prompt_of(action->step)));
    prompt = json_object_with(prompt, "error", fault_json(action, fault));
    log_attempt(action, fault, "A person is asked.");
    Step *step = action_close(action);
    forget_command(step);
    step_ask(step, "action", prompt, json_array_push(json_array(), json_string_c(RETRY)));
}

/* Up to a quarter of it, so that those who were turned away together do not come back together. */
static int64_t jitter(int64_t ms) {
    uint32_t dice = 0;
    uv_random(NULL, NULL, &dice, sizeof dice, 0, NULL);
    return (int64_t)((double)ms / 4 * ((double)dice / UINT32_MAX));
}

static int64_t pause_ms(const Action *action, const Fault *fault) {
    int64_t ms = step_param(action->step, ACTION_BACKOFF)->number;
    for (int64_t i = 1; i < action->attempt && ms < PAUSE_MAX_MS; i++) ms *= 2;
    if (ms > PAUSE_MAX_MS) ms = PAUSE_MAX_MS;
    if (ms < fault->wait_ms) ms = fault->wait_ms;
    return ms + jitter(ms);
}

static void on_pause_over(uv_timer_t *timer) {
    Action *action = timer->data;
    forget_command(action->step);
    action->attempt++;
    attempt_start(action);
}

static void on_cancelled(uv_timer_t *timer) {
    step_fail(action_close(timer->data), "cancelled", json_none(),
              "The model's answer is not waited for because the run was ended.");
}

static void ask_again_later(Action *action, const Fault *fault) {
    int64_t ms = pause_ms(action, fault);
    char next[64];
    snprintf(next, sizeof next, "The next one is in %.2fs.", (double)ms / 1000);
    log_attempt(action, fault, next);
    attempt_clear(action);
    uv_timer_start(&action->timer, on_pause_over, (uint64_t)ms, 0);
}

static void attempt_failed(Action *action, const Fault *fault) {
    bool more = action->attempt < step_param(action->step, ACTION_ATTEMPTS)->number;
    if (fault->passes && more && fault->wait_ms <= ASKED_MAX_MS) {
        ask_again_later(action, fault);
    } else {
        ask_person(action, fault);
    }
}

static Fault fault_of(const char *kind, bool passes, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static Fault fault_of(const char *kind, bool passes, const char *fmt, ...) {
    Fault fault = {.kind = kind, .passes = passes};
    Error err = ERROR_INIT;
    va_list args;
    va_start(args, fmt);
    error_vset_at(&err, ERR_DATA, 0, 0, fmt, args);
    va_end(args);
    memcpy(fault.message, err.msg, sizeof fault.message);
    return fault;
}

/* ---- a command ---- */

static const char *const stream_names[2] = {"stdout", "stderr"};

static void on_output(void *ctx, int stream, const char *bytes, size_t len) {
    Action *action = ctx;
    Buf text = BUF_INIT;
    utf8_pieces_add(&action->output[stream - 1], bytes, len, &text);
    if (text.len) step_log(action->step, stream_names[stream - 1], text.data, text.len);
    buf_clear(&text);
}

/* What is left at the end; of a process that we found, all of it. */
static void log_rest(Action *action, const ProcessResult *result) {
    const Buf *kept[2] = {&result->out, &result->err};
    for (int i = 0; i < 2; i++) {
        Buf rest = BUF_INIT;
        utf8_pieces_end(&action->output[i], &rest);
        const Buf *text = process_attached(action->process) ? kept[i] : &rest;
        if (text->len) step_log(action->step, stream_names[i], text->data, text->len);
        buf_clear(&rest);
    }
}

static size_t without_newlines(const Buf *text) {
    size_t len = text->len;
    while (len && (text->data[len - 1] == '\n' || text->data[len - 1] == '\r')) len--;
    return len;
}

/* ": the last line", at most LINE_TAIL bytes of it. */
static char *last_words(const Buf *text) {
    Buf out = BUF_INIT;
    size_t end = without_newlines(text), from = end;
    while (from && text->data[from - 1] != '\n' && end - from < LINE_TAIL) from--;
    buf_adds(&out, end > from ? ": " : ".");
    utf8_repair(&out, text->data ? text->data + from : "", end - from);
    return buf_detach(&out);
}

static Fault fault_of_exit(const ProcessResult *result) {
    char *words = last_words(&result->err);
    Fault fault =
        fault_of("exit", true, "The model's command exited with code %d%s", result->code, words);
    mem_free(words);
    return fault;
}

static Fault fault_of_process(const ProcessResult *result) {
    switch (result->end) {
    case PROCESS_EXITED: return fault_of_exit(result);
    case PROCESS_SIGNALED:
        return fault_of("signal", true, "The model's command was ended by signal %d (%s).",
                        result->code, strsignal(result->code));
    case PROCESS_TIMEOUT:
        return fault_of("timeout", true,
                        "The model's command took longer than request_timeout and was ended.");
    case PROCESS_FAILED:
        return fault_of("spawn", false, "The model's command cannot be started: %s.",
                        strerror(result->code));
    case PROCESS_ENDED:
    case PROCESS_LOST: break;
    }
    return fault_of("lost", true, "Nobody saw how the model's command ended.");
}

static void command_succeeded(Action *action, const ProcessResult *result) {
    size_t len = without_newlines(&result->out);
    Fault fault;
    if (result->out_len > result->out.len) {
        fault = fault_of("limit", false, "The model's command printed more than %d MB.",
                         COMMAND_OUTPUT_MAX >> 20);
    } else if (!len) {
        fault = fault_of("empty", true, "The model's command printed nothing.");
    } else {
        Json text = json_string(result->out.data, len);
        record(action, json_object_with(json_object(), "response", text));
        return;
    }
    attempt_failed(action, &fault);
}

/* Somebody was ending it when we came; that says nothing about this attempt. */
static bool was_ended_for_another(const Action *action, const ProcessResult *result) {
    return result->end == PROCESS_ENDED && process_attached(action->process) && !action->again;
}

static void on_exit_(void *ctx, const ProcessResult *result) {
    Action *action = ctx;
    if (action->cancelled) {
        on_cancelled(&action->timer);
    } else if (was_ended_for_another(action, result)) {
        attempt_clear(action);
        forget_command(action->step);
        action->again = true;
        attempt_start(action);
    } else {
        log_rest(action, result);
        if (result->end == PROCESS_EXITED && result->code == 0) {
            command_succeeded(action, result);
        } else {
            Fault fault = fault_of_process(result);
            attempt_failed(action, &fault);
        }
    }
}

/* What a command is started with: freed after the start. */
typedef struct Call {
    Buf command, input;
    char **env;
    size_t nenv, cap;
} Call;

static void call_clear(Call *call) {
    for (size_t i = 0; i < call->nenv; i++) mem_free(call->env[i]);
    mem_free(call->env);
    buf_clear(&call->command);
    buf_clear(&call->input);
}

static void env_push(Call *call, char *entry) {
    call->env = mem_grow(call->env, call->nenv, &call->cap, sizeof *call->env);
    call->env[call->nenv++] = entry;
}

static void add_value(Buf *out, Json value) {
    if (json_kind(value) == JSON_STRING) {
        buf_add(out, json_string_data(&value), json_string_len(value));
    } else {
        json_print(value, NULL, out);
    }
}

static bool env_names(const Param *param, const char *entry) {
    size_t len = strcspn(entry, "=");
    for (size_t i = 0; i < param->nfields; i++) {
        const Json *name = &param->fields[i].name;
        bool same = json_string_len(*name) == len && !memcmp(json_string_data(name), entry, len);
        if (same) return true;
    }
    return false;
}

static bool env_add(Step *step, Call *call, const struct ParamField *field, Error *err) {
    Json name = field->name, value = step_eval(step, field->expr, err);
    Buf entry = BUF_INIT;
    buf_add(&entry, json_string_data(&name), json_string_len(name));
    buf_addc(&entry, '=');
    if (json_is_none(value)) {
        error_wrap(err, "env.%.*s", (int)entry.len - 1, entry.data);
        buf_clear(&entry);
        return false;
    }
    add_value(&entry, value);
    json_unref(value);
    bool fits = entry.data[0] != '=' && !memchr(entry.data, '\0', entry.len) &&
                strcspn(entry.data, "=") == json_string_len(name);
    env_push(call, buf_detach(&entry));
    return fits || error_set(err, ERR_DATA,
                             "env.%s cannot be given to a command: a name cannot be empty or hold "
                             "'=', and neither may hold a NUL character.",
                             json_string_len(name) ? call->env[call->nenv - 1] : "\"\"");
}

static bool call_env(Step *step, Call *call, Error *err) {
    const Param *param = step_param(step, ACTION_ENV);
    for (char **entry = environ; *entry; entry++) {
        if (!env_names(param, *entry)) env_push(call, mem_strndup(*entry, strlen(*entry)));
    }
    for (size_t i = 0; i < param->nfields; i++) {
        if (!env_add(step, call, &param->fields[i], err)) return false;
    }
    env_push(call, NULL);
    return true;
}

static bool call_command(Step *step, Call *call, Error *err) {
    add_value(&call->command, step_param(step, ACTION_COMMAND)->value);
    buf_addc(&call->command, '\0');
    return strlen(call->command.data) == call->command.len - 1 ||
           error_set(err, ERR_DATA, "The command holds a NUL character. Take it out.");
}

/* A command has one input: the system's instructions stand before the prompt. */
static void call_input(Step *step, Call *call) {
    if (!json_is_none(system_of(step))) {
        add_value(&call->input, system_of(step));
        buf_adds(&call->input, "\n\n");
    }
    add_value(&call->input, prompt_of(step));
}

static bool command_start(Action *action, const Call *call, Error *err) {
    const char *argv[] = {"sh", "-c", call->command.data, NULL};
    ProcessOptions options = {
        .place = step_place(action->step, err),
        .argv = argv,
        .env = (const char *const *)call->env,
        .cwd = step_folder(action->step),
        .input = call->input.data ? call->input.data : "",
        .input_len = call->input.len,
        .max_output = COMMAND_OUTPUT_MAX,
        .timeout_ms = (uint64_t)step_param(action->step, ACTION_REQUEST_TIMEOUT)->number,
        .on_output = on_output,
        .on_exit = on_exit_,
        .ctx = action,
    };
    if (options.place) action->process = process_start(step_loop(action->step), &options, err);
    return action->process != NULL;
}

static bool ask_command(Action *action, Error *err) {
    Call call = {.command = BUF_INIT};
    bool ok = call_command(action->step, &call, err) && call_env(action->step, &call, err);
    if (ok) call_input(action->step, &call);
    ok = ok && command_start(action, &call, err);
    call_clear(&call);
    return ok;
}

/* ---- an API ---- */

/* The key never leaves this file but in a header. Servers like to repeat it in what they say. */
static void hide(char *text, const char *key) {
    size_t len = key ? strlen(key) : 0;
    for (char *at = text; len && (at = strstr(at, key)); at += len) memset(at, '*', len);
}

static const char *key_of(Step *step, char name[128]) {
    Json param = step_param(step, ACTION_KEY_ENV)->value;
    if (json_kind(param) != JSON_STRING) return NULL;
    snprintf(name, 128, "%.*s", (int)json_string_len(param), json_string_data(&param));
    return getenv(name);
}

static bool fits_header(const char *key) {
    for (; *key; key++) {
        if ((unsigned char)*key < ' ' || *key == 0x7F) return false;
    }
    return true;
}

static bool key_is_fine(Step *step, Fault *fault) {
    char name[128];
    const char *key = key_of(step, name);
    if (!given(step, ACTION_KEY_ENV) || (key && *key && fits_header(key))) return true;
    if (key && *key) {
        *fault = fault_of("key", false,
                          "The key in the environment variable %s holds a line break or another "
                          "character that no header can carry.",
                          name);
    } else {
        *fault =
            fault_of("key", false,
                     "The environment variable %s, which is to hold the key of the model's API, "
                     "is not set.",
                     name);
    }
    return false;
}

/* "120" or a date, in milliseconds from now; 0 when there is none. */
static int64_t retry_after_ms(const HttpAnswer *answer) {
    const char *ms = http_header(answer, "retry-after-ms");
    const char *text = http_header(answer, "retry-after");
    struct tm tm = {0};
    char *end = NULL;
    double number = strtod(ms ? ms : text ? text : "", &end);
    if (!(number >= 0) || number > 1e9) return 0;
    if (ms || (text && end != text)) return (int64_t)(ms ? number : number * 1000);
    end = text ? strptime(text, "%a, %d %b %Y %H:%M:%S", &tm) : NULL;
    int64_t seconds = end ? (int64_t)timegm(&tm) - (int64_t)time(NULL) : 0;
    return seconds > 0 ? seconds * 1000 : 0;
}

static void on_text(void *ctx, const char *text, size_t len) {
    Action *action = ctx;
    step_log(action->step, "stdout", text, len);
}

static bool is_good(int status) {
    return status >= 200 && status < 300;
}

static bool on_body(void *ctx, int status, const char *bytes, size_t len) {
    Action *action = ctx;
    if (is_good(status)) return model_read(action->reader, bytes, len);
    size_t room = MODEL_ERROR_MAX - action->error_body.len;
    buf_add(&action->error_body, bytes, len < room ? len : room);
    return len < room;
}

static Json record_of(const ModelAnswer *answer) {
    Json out = json_object_with(json_object(), "response", json_ref(answer->text));
    if (!json_is_none(answer->model)) out = json_object_with(out, "model", json_ref(answer->model));
    if (!json_is_none(answer->usage)) out = json_object_with(out, "usage", json_ref(answer->usage));
    return json_is_none(answer->stop) ? out : json_object_with(out, "stop", json_ref(answer->stop));
}

static void end_status(Action *action, const HttpAnswer *answer) {
    char name[128];
    const Buf *body = &action->error_body;
    Fault fault = {.status = answer->status, .wait_ms = retry_after_ms(answer)};
    ModelEnd end =
        model_error(answer->status, body->data, body->len, fault.message, sizeof fault.message);
    fault.kind = model_end_name(end);
    fault.passes = model_end_passes(end);
    hide(fault.message, key_of(action->step, name));
    attempt_failed(action, &fault);
}

static void end_answer(Action *action, const HttpAnswer *answer) {
    char name[128];
    const ModelAnswer *said = model_reader_end(action->reader);
    if (said->end == MODEL_ANSWERED) {
        record(action, record_of(said));
        return;
    }
    Fault fault =
        fault_of(model_end_name(said->end), model_end_passes(said->end), "%s", said->error);
    fault.status = answer->status;
    fault.response = said->text;
    hide(fault.message, key_of(action->step, name));
    attempt_failed(action, &fault);
}

static void end_unanswered(Action *action, const HttpAnswer *answer) {
    static const struct {
        const char *kind;
        bool passes;
    } kinds_of_end[] = {
        [HTTP_REFUSED] = {"request", false},   [HTTP_UNREACHED] = {"unreached", true},
        [HTTP_TIMEOUT] = {"timeout", true},    [HTTP_TOO_LARGE] = {"limit", false},
        [HTTP_INSECURE_PEER] = {"tls", false},
    };
    char name[128];
    Fault fault = fault_of(kinds_of_end[answer->end].kind, kinds_of_end[answer->end].passes, "%s",
                           answer->message);
    hide(fault.message, key_of(action->step, name));
    attempt_failed(action, &fault);
}

static void on_end(void *ctx, const HttpAnswer *answer) {
    Action *action = ctx;
    action->request = NULL; /* over, and not ours to end any more */
    if (answer->end != HTTP_ANSWERED) {
        end_unanswered(action, answer);
    } else if (is_good(answer->status)) {
        end_answer(action, answer);
    } else {
        end_status(action, answer);
    }
}

static ModelFormat format_of(Step *step) {
    return json_string_is(step_param(step, ACTION_FORMAT)->value, "chat") ? MODEL_CHAT
                                                                          : MODEL_MESSAGES;
}

static void add_body(Step *step, Json model, Buf *out) {
    ModelQuestion question = {
        .format = format_of(step),
        .model = model,
        .prompt = prompt_of(step),
        .system = system_of(step),
        .max_tokens = step_param(step, ACTION_MAX_TOKENS)->number,
        .stream = step_param(step, ACTION_STREAM)->number != 0,
    };
    model_question(&question, out);
}

/* At most four of them. */
static size_t add_headers(Step *step, const char *key, const char *bearer, HttpHeader *out) {
    size_t n = 0;
    bool chat = format_of(step) == MODEL_CHAT;
    out[n++] = (HttpHeader){"content-type", "application/json"};
    if (!chat) out[n++] = (HttpHeader){"anthropic-version", "2023-06-01"};
    if (key) out[n++] = (HttpHeader){chat ? "authorization" : "x-api-key", chat ? bearer : key};
    return n;
}

static bool request_start(Action *action, const char *url, const Buf *body, Error *err) {
    char name[128];
    Step *step = action->step;
    Buf bearer = BUF_INIT;
    HttpHeader headers[4];
    HttpClient *client = exec_http_client(step, err);
    const char *key = key_of(step, name);
    if (key) buf_printf(&bearer, "Bearer %s", key);
    HttpOptions options = {
        .method = "POST",
        .url = url,
        .headers = headers,
        .nheaders = add_headers(step, key, bearer.data, headers),
        .body = body->data,
        .body_len = body->len,
        .timeout_ms = (uint64_t)step_param(step, ACTION_REQUEST_TIMEOUT)->number,
        .max_response = STREAM_MAX,
        .on_body = on_body,
        .on_end = on_end,
        .ctx = action,
    };
    action->reader = model_reader_new(format_of(step), on_text, action);
    action->request = client ? http_start(client, &options, err) : NULL;
    buf_clear(&bearer);
    return action->request != NULL;
}

static bool is_one_word(Json text) {
    size_t len = json_string_len(text);
    return len && !memchr(json_string_data(&text), '\0', len);
}

static bool ask_api(Action *action, Error *err) {
    Json model = json_none(), url = json_none();
    Buf body = BUF_INIT, address = BUF_INIT;
    bool ok = text_param(action->step, ACTION_MODEL, "model", &model, err) &&
              text_param(action->step, ACTION_ENDPOINT, "endpoint", &url, err);
    if (ok && !is_one_word(url)) {
        ok = error_set(err, ERR_DATA,
                       "endpoint is empty or holds a NUL character. It is the URL "
                       "of the model's API.");
    }
    if (ok) {
        add_value(&address, url);
        add_body(action->step, model, &body);
        ok = request_start(action, address.data, &body, err);
    }
    json_unref(model);
    json_unref(url);
    buf_clear(&body);
    buf_clear(&address);
    return ok;
}

/* ---- the row ---- */

static bool has_a_way(Step *step, Error *err) {
    bool command = given(step, ACTION_COMMAND);
    bool model = given(step, ACTION_MODEL), endpoint = given(step, ACTION_ENDPOINT);
    if (command && (model || endpoint)) {
        return error_set(err, ERR_USAGE,
                         "The node has a command and a model of an API. Leave out `command`, or "
                         "`model` and `endpoint`.");
    }
    if (!command && model != endpoint) {
        return error_set(err, ERR_USAGE, "The node has %s. Both are needed to ask an API.",
                         model ? "a `model`, but no `endpoint`" : "an `endpoint`, but no `model`");
    }
    return command || model ||
           error_set(err, ERR_USAGE,
                     "There is no model to ask. Give the node a `command`, or a `model` and its "
                     "`endpoint`; or run it with `--mode interactive`, so that a person answers.");
}

static void attempt_start(Action *action) {
    Error err = ERROR_INIT;
    Fault fault;
    bool command = given(action->step, ACTION_COMMAND);
    if (!command && !key_is_fine(action->step, &fault)) {
        attempt_failed(action, &fault);
    } else if (!(command ? ask_command : ask_api)(action, &err)) {
        fail_with(action, &err);
    }
}

static void ask_model(Step *step) {
    Error err = ERROR_INIT;
    if (has_a_way(step, &err)) {
        attempt_start(action_new(step));
    } else {
        exec_fail_with(step, "action", &err);
    }
}

static bool is_retry(Json answer) {
    return json_string_is(answer, RETRY);
}

void exec_action_start(Step *step) {
    Json answers = step_answers(step);
    size_t n = json_array_len(answers);
    Json last = n ? json_array_get(answers, n - 1) : json_none();
    bool interactive = is_interactive(step);
    if (n && (interactive || !is_retry(last))) {
        confirm(step, last);
    } else if (interactive) {
        step_ask(step, "action", json_ref(prompt_of(step)), json_none());
    } else {
        ask_model(step);
    }
}

void exec_action_cancel(Step *step) {
    Action *action = step_data(step);
    if (!action) return;
    action->cancelled = true;
    if (action->process) {
        process_end(action->process);
    } else {
        attempt_clear(action);
        uv_timer_start(&action->timer, on_cancelled, 0, 0);
    }
}

void exec_action_drop(Step *step) {
    Action *action = step_data(step);
    if (action) action_close(action);
}
