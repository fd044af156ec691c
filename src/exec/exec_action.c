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
#include "exec.h"
#include "exec_command.h"
#include "json_build.h"
#include "mem.h"
#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    STREAM_MAX = 512 << 20,    /* bytes of an answer on the wire, where text is a small part */
    PAUSE_MAX_MS = 5 * 60000,  /* what doubling comes to in the end */
    ASKED_MAX_MS = 60 * 60000, /* a longer pause than this is for a person to wait for */
};

static const char RETRY[] = "retry"; /* what a person decides who lets the model try again */

typedef struct Action {
    Step *step;
    uv_timer_t timer; /* of a pause; after cancel() of the end */
    int64_t attempt;  /* from 1 */
    bool cancelled;
    /* of the attempt under way */
    StepCommand *command;
    HttpRequest *request;
    ModelReader *reader;
    Buf error_body;
    char *key; /* of the API; NULL: none */
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

static bool text_param(Step *step, int param, Json *out, Error *err) {
    Buf text = BUF_INIT;
    bool ok = exec_param_text(step, param, &text, err);
    if (ok) *out = json_string(text.data ? text.data : "", text.len);
    buf_clear(&text);
    return ok;
}

/* ---- the first pass ---- */

static Json exec_action_prepare(Step *step, Error *err) {
    Json prompt = json_none(), system = json_none();
    if (!text_param(step, ACTION_PROMPT, &prompt, err)) return json_none();
    if (step_param(step, ACTION_SYSTEM)->expr && !text_param(step, ACTION_SYSTEM, &system, err)) {
        json_unref(prompt);
        return json_none();
    }
    return OBJECT(KEY("prompt", prompt), KEY("system", system));
}

/* ---- the second pass ---- */

/* The engine removes the place that a step has asked for: what the command left there was needed until
 * its answer was on record, and is not any more. */
static void confirm(Step *step, Json answer) {
    Error err = ERROR_INIT;
    if (given(step, ACTION_COMMAND)) step_place(step, NULL);
    const Expr *expr = step_param(step, ACTION_CONFIRM)->expr;
    Json inside = json_object_get_c(answer, "response");
    Json seen[] = {prompt_of(step), json_is_none(inside) ? answer : inside};
    Json result = expr ? step_eval_with(step, expr, seen, 2, &err)
                       : OBJECT(KEY("response", json_ref(seen[1])));
    if (json_is_none(result)) {
        error_wrap(&err, "confirm");
        exec_fail_with(step, "jq", &err);
    } else {
        step_succeed(step, result);
    }
}

/* ---- life ---- */

/* Of what the attempt has, nothing is needed any more. */
static void attempt_clear(Action *action) {
    command_free(action->command);
    http_cancel(action->request);
    model_reader_free(action->reader);
    buf_clear(&action->error_body);
    if (action->key) explicit_bzero(action->key, strlen(action->key));
    mem_free(action->key);
    action->key = NULL;
    action->command = NULL;
    action->request = NULL;
    action->reader = NULL;
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

/* ---- when there is no answer ---- */

static void attempt_start(Action *action);

/* What went wrong, and what now. The words of others may lack their full stop. */
static void log_attempt(Action *action, const Fault *fault, const char *next) {
    size_t len = strlen(fault->message);
    bool ends = len && strchr(".!?", fault->message[len - 1]);
    exec_note(action->step, "Attempt %" PRId64 " of %" PRId64 ": %s%s %s", action->attempt,
              step_param(action->step, ACTION_ATTEMPTS)->number, fault->message, ends ? "" : ".",
              next);
}

static void forget_command(Step *step) {
    const char *place = given(step, ACTION_COMMAND) ? step_place(step, NULL) : NULL;
    if (place) process_forget(place);
}

/* What the command left is of no use when the model is asked again. */
static void ask_person(Action *action, const Fault *fault) {
    bool some = json_kind(fault->response) == JSON_STRING && json_string_len(fault->response);
    Json error = OBJECT(KEY("kind", fault->kind), KEY("message", fault->message),
                        KEY("attempts", action->attempt),
                        KEY("status", fault->status ? json_int(fault->status) : json_none()),
                        KEY("response", some ? json_ref(fault->response) : json_none()));
    Json prompt = OBJECT(KEY("prompt", json_ref(prompt_of(action->step))), KEY("error", error));
    log_attempt(action, fault, "A person is asked.");
    Step *step = action_close(action);
    forget_command(step);
    step_ask(step, "action", prompt, json_array_push(json_array(), json_string_c(RETRY)));
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

/* A pause doubles from attempt to attempt, and is at least what the API asks for. Up to a quarter of it
 * is left to chance, so that those who were turned away together do not come back together. */
static void attempt_failed(Action *action, const Fault *fault) {
    bool more = action->attempt < step_param(action->step, ACTION_ATTEMPTS)->number;
    if (!fault->passes || !more || fault->wait_ms > ASKED_MAX_MS) {
        ask_person(action, fault);
        return;
    }
    int64_t ms = step_param(action->step, ACTION_BACKOFF)->number;
    uint32_t dice = 0;
    char next[64];
    for (int64_t i = 1; i < action->attempt && ms < PAUSE_MAX_MS; i++) ms *= 2;
    if (ms > PAUSE_MAX_MS) ms = PAUSE_MAX_MS;
    if (ms < fault->wait_ms) ms = fault->wait_ms;
    uv_random(NULL, NULL, &dice, sizeof dice, 0, NULL);
    ms += (int64_t)((double)ms / 4 * ((double)dice / UINT32_MAX));
    snprintf(next, sizeof next, "The next one is in %.2fs.", (double)ms / 1000);
    log_attempt(action, fault, next);
    attempt_clear(action);
    uv_timer_start(&action->timer, on_pause_over, (uint64_t)ms, 0);
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

static void command_over(StepCommand *command, const ProcessResult *result) {
    Action *action = command_data(command);
    size_t len = result->out.len;
    Fault fault;
    action->command = NULL; /* it ends with this */
    while (len && strchr("\r\n", result->out.data[len - 1])) len--;
    if (action->cancelled) {
        on_cancelled(&action->timer);
        return;
    }
    if (!command_succeeded(result)) {
        char *sentence = command_failure(command, result);
        fault = fault_of(command_failure_word(command, result), result->end != PROCESS_FAILED, "%s",
                         sentence);
        mem_free(sentence);
    } else if (result->out_len > result->out.len) {
        fault = fault_of("limit", false, "The model's command printed more than %d MB.",
                         MODEL_TEXT_MAX >> 20);
    } else if (!len) {
        fault = fault_of("empty", true, "The model's command printed nothing.");
    } else {
        Json response = json_string(result->out.data, len);
        step_answer(action_close(action), OBJECT(KEY("response", response)));
        return;
    }
    attempt_failed(action, &fault);
}

static void command_refused(StepCommand *command, const Error *err) {
    Action *action = command_data(command);
    action->command = NULL;
    exec_fail_with(action_close(action), "action", err);
}

static const CommandKind model_kind = {.word = "action",
                                       .subject = "The model's command",
                                       .timeout = "request_timeout",
                                       .is_part = true,
                                       .end = command_over,
                                       .refused = command_refused};

/* A command has one input: the system's instructions stand before the prompt. */
static void ask_command(Action *action) {
    Error err = ERROR_INIT;
    Step *step = action->step;
    Buf input = BUF_INIT;
    Json system = system_of(step), prompt = prompt_of(step);
    StepCommand *command = action->command = command_new(step, &model_kind);
    command_set_data(command, action);
    command_set_max_output(command, MODEL_TEXT_MAX);
    command_set_timeout(command, step_param(step, ACTION_REQUEST_TIMEOUT)->number);
    if (!json_is_none(system)) {
        buf_add(&input, json_string_data(&system), json_string_len(system));
        buf_adds(&input, "\n\n");
    }
    buf_add(&input, json_string_data(&prompt), json_string_len(prompt));
    command_set_input(command, input.data, input.len);
    buf_clear(&input);
    bool given = command_add_shell(command, step_param(step, ACTION_COMMAND)->value, &err) &&
                 command_set_env_of(command, ACTION_ENV, &err);
    command_start(command, given, &err);
}

/* ---- an API ---- */

/* The key, from the environment or as an expression (a secret); false when there is to be one and it is not. */
static bool find_key(Action *action, Fault *fault) {
    Step *step = action->step;
    Buf text = BUF_INIT, whose = BUF_INIT;
    Error err = ERROR_INIT;
    if (given(step, ACTION_KEY)) {
        buf_adds(&whose, "`key`");
        if (!exec_param_text(step, ACTION_KEY, &text, &err)) {
            *fault = fault_of(err.code == ERR_SECRET ? "secret" : "key", false, "%s", err.msg);
            buf_clear(&whose);
            return false;
        }
    } else if (given(step, ACTION_KEY_ENV)) {
        Json name = step_param(step, ACTION_KEY_ENV)->value;
        buf_printf(&whose, "the environment variable %.*s", (int)json_string_len(name),
                   json_string_data(&name));
        const char *value = environment_get(step_environment(step), json_string_data(&name));
        buf_adds(&text, value ? value : "");
    } else {
        return true;
    }
    bool fine = text.len > 0;
    if (!fine) {
        *fault = fault_of("key", false, "%c%s, which is to hold the key of the model's API, is %s.",
                          whose.data[0] == 't' ? 'T' : whose.data[0], whose.data + 1,
                          given(step, ACTION_KEY) ? "empty" : "not set");
    }
    for (size_t i = 0; i < text.len && fine; i++) {
        fine = (unsigned char)text.data[i] >= ' ' && text.data[i] != 0x7F;
        if (!fine) {
            *fault =
                fault_of("key", false,
                         "The key in %s holds a line break or another character that no header "
                         "can carry.",
                         whose.data);
        }
    }
    buf_clear(&whose);
    action->key = text.len ? buf_detach(&text) : NULL;
    return fine;
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

/* The key never leaves this file but in a header. Servers like to repeat it in what they say. */
static void hide_key(char *message, const char *key) {
    size_t len = key ? strlen(key) : 0, stars = len < 3 ? len : 3;
    for (char *at = message; len && (at = strstr(at, key)); at += stars) {
        memset(at, '*', stars); /* not one for each byte: that would tell how long it is */
        memmove(at + stars, at + len, strlen(at + len) + 1);
    }
}

static void on_end(void *ctx, const HttpAnswer *answer) {
    static const struct {
        const char *kind;
        bool passes;
    } unanswered[] = {
        [HTTP_REFUSED] = {"request", false},   [HTTP_UNREACHED] = {"unreached", true},
        [HTTP_TIMEOUT] = {"timeout", true},    [HTTP_TOO_LARGE] = {"limit", false},
        [HTTP_INSECURE_PEER] = {"tls", false}, [HTTP_FORBIDDEN] = {"net", false},
    };
    Action *action = ctx;
    Fault fault;
    action->request = NULL; /* over, and not ours to end any more */
    if (answer->end != HTTP_ANSWERED) {
        fault = fault_of(unanswered[answer->end].kind, unanswered[answer->end].passes, "%s",
                         answer->message);
    } else if (is_good(answer->status)) {
        const ModelAnswer *said = model_reader_end(action->reader);
        if (said->end == MODEL_ANSWERED) {
            Json answered =
                OBJECT(KEY("response", json_ref(said->text)), KEY("model", json_ref(said->model)),
                       KEY("usage", json_ref(said->usage)), KEY("stop", json_ref(said->stop)));
            step_answer(action_close(action), answered);
            return;
        }
        fault = fault_of(model_end_name(said->end), model_end_passes(said->end), "%s", said->error);
        fault.status = answer->status;
        fault.response = said->text;
    } else {
        const Buf *body = &action->error_body;
        fault = (Fault){.status = answer->status, .wait_ms = retry_after_ms(answer)};
        ModelEnd end =
            model_error(answer->status, body->data, body->len, fault.message, sizeof fault.message);
        fault.kind = model_end_name(end);
        fault.passes = model_end_passes(end);
    }
    hide_key(fault.message, action->key);
    attempt_failed(action, &fault);
}

static bool request_start(Action *action, Json model, const char *url, Error *err) {
    Step *step = action->step;
    bool chat = json_string_is(step_param(step, ACTION_FORMAT)->value, "chat");
    ModelQuestion question = {
        .format = chat ? MODEL_CHAT : MODEL_MESSAGES,
        .model = model,
        .prompt = prompt_of(step),
        .system = system_of(step),
        .max_tokens = step_param(step, ACTION_MAX_TOKENS)->number,
        .stream = step_param(step, ACTION_STREAM)->number != 0,
    };
    Buf body = BUF_INIT, bearer = BUF_INIT;
    const char *key = action->key;
    buf_printf(&bearer, "Bearer %s", key ? key : "");
    model_question(&question, &body);
    HttpHeader headers[3] = {{"content-type", "application/json"}};
    size_t n = 1;
    if (!chat) headers[n++] = (HttpHeader){"anthropic-version", "2023-06-01"};
    if (key && chat) headers[n++] = (HttpHeader){"authorization", bearer.data};
    if (key && !chat) headers[n++] = (HttpHeader){"x-api-key", key};
    HttpOptions options = {
        .method = "POST",
        .url = url,
        .headers = headers,
        .nheaders = n,
        .body = body.data,
        .body_len = body.len,
        .timeout_ms = (uint64_t)step_param(step, ACTION_REQUEST_TIMEOUT)->number,
        .max_response = STREAM_MAX,
        .on_body = on_body,
        .on_end = on_end,
        .ctx = action,
    };
    action->reader = model_reader_new(question.format, on_text, action);
    action->request = exec_http_ask(step, &options, err);
    buf_clear(&bearer);
    buf_clear(&body);
    return action->request != NULL;
}

static bool ask_api(Action *action, Error *err) {
    Json model = json_none();
    Buf url = BUF_INIT;
    Step *step = action->step;
    bool ok = text_param(step, ACTION_MODEL, &model, err) &&
              exec_param_text(step, ACTION_ENDPOINT, &url, err);
    if (ok && (!url.len || memchr(url.data, '\0', url.len))) {
        ok = error_set(err, ERR_DATA,
                       "endpoint is empty or holds a NUL character. It is the URL "
                       "of the model's API.");
    }
    ok = ok && request_start(action, model, url.data, err);
    json_unref(model);
    buf_clear(&url);
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
    if (given(step, ACTION_KEY) && given(step, ACTION_KEY_ENV)) {
        return error_set(err, ERR_USAGE, "The node has a `key` and a `key_env`. Leave one out.");
    }
    if (!command && model != endpoint) {
        return error_set(err, ERR_USAGE, "The node has %s. Both are needed to ask an API.",
                         model ? "a `model`, but no `endpoint`" : "an `endpoint`, but no `model`");
    }
    return command || model ||
           error_set(err, ERR_USAGE,
                     "There is no model to ask. Give the node a `command`, or a `model` and its "
                     "`endpoint`; or run it in interactive mode, so that a person answers.");
}

static void attempt_start(Action *action) {
    Error err = ERROR_INIT;
    Fault fault;
    if (given(action->step, ACTION_COMMAND)) {
        ask_command(action);
    } else if (!find_key(action, &fault)) {
        attempt_failed(action, &fault);
    } else if (!ask_api(action, &err)) {
        exec_fail_with(action_close(action), "action", &err);
    }
}

static void exec_action_start(Step *step) {
    Json answers = step_answers(step);
    size_t n = json_array_len(answers);
    Json last = n ? json_array_get(answers, n - 1) : json_none();
    bool interactive = given(step, ACTION_MODE)
                           ? json_string_is(step_param(step, ACTION_MODE)->value, "interactive")
                           : step_is_interactive(step);
    Error err = ERROR_INIT;
    if (n && (interactive || !json_string_is(last, RETRY))) {
        confirm(step, last);
    } else if (interactive) {
        step_ask(step, "action", json_ref(prompt_of(step)), json_none());
    } else if (has_a_way(step, &err)) {
        Action *action = mem_zalloc(sizeof *action);
        action->step = step;
        action->attempt = 1;
        uv_timer_init(step_loop(step), &action->timer);
        action->timer.data = action;
        step_set_data(step, action);
        attempt_start(action);
    } else {
        exec_fail_with(step, "action", &err);
    }
}

static void exec_action_cancel(Step *step) {
    Action *action = step_data(step);
    if (!action) return;
    action->cancelled = true;
    if (action->command) {
        command_end(action->command);
    } else {
        attempt_clear(action);
        uv_timer_start(&action->timer, on_cancelled, 0, 0);
    }
}

static void exec_action_drop(Step *step) {
    Action *action = step_data(step);
    if (action) action_close(action);
}

const NodeWork exec_action = {.prepare = exec_action_prepare,
                              .start = exec_action_start,
                              .cancel = exec_action_cancel,
                              .drop = exec_action_drop,
                              PLACES_WORK};
