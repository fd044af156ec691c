/* dap_requests.c - the table of requests, and the one place where they are read, put in order, answered and refused.
 *
 * A request is understood in this order: it is a request; its command is in the table; it may be asked now; its
 * arguments have the row's shape. What is wrong is said in the response, and the conversation goes on. */
#include "dap_inside.h"

#include "json_shape.h"
#include "mem.h"
#include "problems.h"
#include "suggest.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- the table ---- */

#define THREAD "{threadId: int, ...}"
#define STEP   "{threadId: int, singleThread?: bool, granularity?: text, targetId?: int, ...}"
#define SOURCE "{name?: text, path?: text, sourceReference?: int, ...}"
#define PAGED  "variablesReference: int, start?: int, count?: int, filter?: text"

const DapRequest dap_requests[] = {
    {"initialize",
     "{clientID?: text, clientName?: text, linesStartAt1?: bool, columnsStartAt1?: bool, "
     "pathFormat?: text, supportsVariableType?: bool, supportsVariablePaging?: bool, "
     "supportsInvalidatedEvent?: bool, supportsProgressReporting?: bool, ...}",
     dap_initialize, REQUEST_DEEP, NULL},
    {"launch", "{noDebug?: bool, ...}", dap_launch, 0, NULL},
    {"attach", "{...}", dap_attach, 0, NULL},
    {"restart", "{...}", dap_restart, REQUEST_RUN | REQUEST_ENDED, "supportsRestartRequest"},
    {"configurationDone", "{...}", dap_configuration_done, REQUEST_RUN,
     "supportsConfigurationDoneRequest"},
    {"cancel", "{requestId?: int, progressId?: text, ...}", dap_cancel,
     REQUEST_AT_ONCE | REQUEST_DEEP | REQUEST_ENDED, "supportsCancelRequest"},
    {"disconnect", "{restart?: bool, terminateDebuggee?: bool, suspendDebuggee?: bool, ...}",
     dap_disconnect, REQUEST_AT_ONCE | REQUEST_DEEP | REQUEST_ENDED, "supportTerminateDebuggee"},
    {"terminate", "{restart?: bool, ...}", dap_terminate,
     REQUEST_AT_ONCE | REQUEST_DEEP | REQUEST_RUN | REQUEST_ENDED, "supportsTerminateRequest"},

    {"setBreakpoints",
     "{source: " SOURCE ", breakpoints?: [{line: int, column?: int, condition?: text, "
     "hitCondition?: text, logMessage?: text, mode?: text, ...}], lines?: [int], "
     "sourceModified?: bool, ...}",
     dap_set_breakpoints, REQUEST_DEEP | REQUEST_ENDED, "supportsConditionalBreakpoints"},
    {"setFunctionBreakpoints",
     "{breakpoints: [{name: text, condition?: text, hitCondition?: text, ...}], ...}",
     dap_set_function_breakpoints, REQUEST_DEEP | REQUEST_ENDED, "supportsFunctionBreakpoints"},
    {"setExceptionBreakpoints",
     "{filters: [text], filterOptions?: [{filterId: text, condition?: text, mode?: text, ...}], ...}",
     dap_set_exception_breakpoints, REQUEST_DEEP | REQUEST_ENDED, "supportsExceptionFilterOptions"},
    {"dataBreakpointInfo", "{variablesReference?: int, name: text, frameId?: int, ...}",
     dap_data_breakpoint_info, REQUEST_DEEP | REQUEST_RUN, NULL},
    {"setDataBreakpoints",
     "{breakpoints: [{dataId: text, accessType?: text, condition?: text, hitCondition?: text, "
     "...}], ...}",
     dap_set_data_breakpoints, REQUEST_DEEP | REQUEST_ENDED, "supportsDataBreakpoints"},
    {"breakpointLocations", "{source: " SOURCE ", line: int, endLine?: int, ...}",
     dap_breakpoint_locations, REQUEST_DEEP | REQUEST_RUN, "supportsBreakpointLocationsRequest"},

    {"threads", "{...}", dap_threads, REQUEST_DEEP | REQUEST_ENDED, NULL},
    {"stackTrace", "{threadId: int, startFrame?: int, levels?: int, ...}", dap_stack_trace,
     REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, "supportsDelayedStackTraceLoading"},
    {"scopes", "{frameId: int, ...}", dap_scopes, REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, NULL},
    {"variables", "{" PAGED ", ...}", dap_variables, REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING,
     NULL},
    {"evaluate", "{expression: text, frameId?: int, context?: text, ...}", dap_evaluate,
     REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, "supportsEvaluateForHovers"},
    {"setVariable", "{variablesReference: int, name: text, value: text, ...}", dap_set_variable,
     REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, "supportsSetVariable"},
    {"setExpression", "{expression: text, value: text, frameId?: int, ...}", dap_set_expression,
     REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, "supportsSetExpression"},
    {"completions", "{text: text, column: int, line?: int, frameId?: int, ...}", dap_completions,
     REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, "supportsCompletionsRequest"},
    {"exceptionInfo", THREAD, dap_exception_info, REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING,
     "supportsExceptionInfoRequest"},
    {"locations", "{locationReference: int, ...}", dap_locations,
     REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, NULL},
    {"loadedSources", "{...}", dap_loaded_sources, REQUEST_DEEP | REQUEST_RUN,
     "supportsLoadedSourcesRequest"},
    {"source", "{sourceReference: int, source?: " SOURCE ", ...}", dap_source,
     REQUEST_DEEP | REQUEST_RUN, NULL},

    {"continue", "{threadId: int, singleThread?: bool, ...}", dap_continue,
     REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, "supportsSingleThreadExecutionRequests"},
    {"next", STEP, dap_next, REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, NULL},
    {"stepIn", STEP, dap_step_in, REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, NULL},
    {"stepOut", STEP, dap_step_out, REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, NULL},
    {"pause", THREAD, dap_pause, REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, NULL},
    {"stepBack", STEP, dap_step_back, REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING,
     "supportsStepBack"},
    {"reverseContinue", "{threadId: int, singleThread?: bool, ...}", dap_reverse_continue,
     REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, NULL},
    {"stepInTargets", "{frameId: int, ...}", dap_step_in_targets,
     REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, "supportsStepInTargetsRequest"},
    {"restartFrame", "{frameId: int, ...}", dap_restart_frame,
     REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, "supportsRestartFrame"},
    {"gotoTargets", "{source: " SOURCE ", line: int, column?: int, ...}", dap_goto_targets,
     REQUEST_DEEP | REQUEST_RUN, "supportsGotoTargetsRequest"},
    {"goto", "{threadId: int, targetId: int, ...}", dap_goto,
     REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, NULL},
    {"terminateThreads", "{threadIds?: [int], ...}", dap_terminate_threads,
     REQUEST_DEEP | REQUEST_RUN | REQUEST_GOING, "supportsTerminateThreadsRequest"},
    {0},
};

static const DapRequest *find_row(const char *command, size_t *index) {
    for (size_t i = 0; dap_requests[i].name; i++) {
        *index = i;
        if (!strcmp(dap_requests[i].name, command)) return &dap_requests[i];
    }
    return NULL;
}

/* ---- what is sent ---- */

static void send_message(Dap *dap, Json message) {
    if (dap->wire) {
        message = OBJECT_ADD(message, KEY("seq", ++dap->seq));
        wire_send(dap->wire, message);
    } else {
        json_unref(message);
    }
}

/* What happens to a run that a client leaves is no news for it: one that hears of a thread asks for all of them, and one that
 * hears `exited` kills the adapter before it has left the run. Output is shown, whenever it comes. */
void dap_tell(Dap *dap, const char *event, Json body) {
    if (dap->parting && strcmp(event, "output") != 0) {
        json_unref(body);
        return;
    }
    send_message(dap, OBJECT(KEY("type", "event"), KEY("event", event), KEY("body", body)));
}

void dap_say(Dap *dap, const char *category, const char *fmt, ...) {
    Buf text = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    buf_addc(&text, '\n');
    Json line = json_string(text.data, text.len);
    buf_clear(&text);
    dap_tell(dap, "output", OBJECT(KEY("category", category), KEY("output", line)));
}

static Json response(int64_t request_seq, const char *command, bool success) {
    return OBJECT(KEY("type", "response"), KEY("request_seq", request_seq),
                  KEY("success", json_bool(success)), KEY("command", command));
}

static Json error_body(const Error *err) {
    Json error = OBJECT(KEY("id", json_int(1000 + (int)err->code)), KEY("format", err->msg),
                        KEY("showUser", json_bool(true)));
    return OBJECT(KEY("error", error));
}

void dap_refuse(Dap *dap, const Error *err) {
    dap_say(dap, "important", "%s", err->msg);
}

/* ---- progress ---- */

static void on_slow(uv_timer_t *timer) {
    Dap *dap = timer->data;
    const DapCall *call = dap->current;
    if (!call || !dap->client.progress) return;
    dap->progress = call->seq;
    dap_tell(dap, "progressStart",
             OBJECT(KEY("progressId", json_string_fmt("request-%lld", (long long)call->seq)),
                    KEY("title", json_string_fmt("pawl: %s", call->command)),
                    KEY("requestId", call->seq), KEY("cancellable", json_bool(true))));
}

static void end_progress(Dap *dap) {
    uv_timer_stop(dap->slow);
    if (dap->progress) {
        dap_tell(
            dap, "progressEnd",
            OBJECT(KEY("progressId", json_string_fmt("request-%lld", (long long)dap->progress))));
    }
    dap->progress = 0;
}

/* ---- calls ---- */

static void call_free(DapCall *call) {
    json_unref(call->args);
    json_unref(call->kept);
    json_unref(call->list);
    mem_free(call->command);
    mem_free(call);
}

/* Takes a call out of a list; false: it is not there. */
static bool take_out(DapCall **list, const DapCall *call) {
    for (; *list; list = &(*list)->next) {
        if (*list == call) {
            *list = call->next;
            return true;
        }
    }
    return false;
}

/* It was answered. Somebody may still be at it for us: on_asked() frees it then. */
static void finish(DapCall *call) {
    Dap *dap = call->dap;
    call->over = true;
    if (dap->current == call) {
        end_progress(dap);
        dap->current = NULL;
    } else if (take_out(&dap->waiting, call)) {
        dap->nwaiting--;
    } else {
        take_out(&dap->apart, call);
    }
    call->dap = NULL;
    if (!call->asking) call_free(call);
}

void dap_answer(DapCall *call, Json body) {
    Dap *dap = call->dap;
    if (!dap || call->over) {
        json_unref(body);
        return;
    }
    send_message(dap, OBJECT_ADD(response(call->seq, call->command, true), KEY("body", body)));
    finish(call);
    dap_pump(dap);
}

void dap_fail(DapCall *call, const Error *err) {
    Dap *dap = call->dap;
    if (!dap || call->over) return;
    bool cancelled = err->code == ERR_CANCELLED;
    send_message(dap, OBJECT_ADD(response(call->seq, call->command, false),
                                 KEY("message", cancelled ? "cancelled" : err->msg),
                                 KEY("body", error_body(err))));
    finish(call);
    dap_pump(dap);
}

void dap_fail_with(DapCall *call, const char *fmt, ...) {
    Error err = ERROR_INIT;
    va_list args;
    va_start(args, fmt);
    error_vset_at(&err, ERR_USAGE, 0, 0, fmt, args);
    va_end(args);
    dap_fail(call, &err);
}

DapCall *dap_call_of(Dap *dap, int64_t seq) {
    DapCall *lists[] = {dap->current, dap->waiting, dap->apart};
    for (size_t i = 0; i < 3; i++) {
        for (DapCall *call = lists[i]; call; call = i ? call->next : NULL) {
            if (call->seq == seq) return call;
        }
    }
    return NULL;
}

static void forget(DapCall *call) {
    call->dap = NULL;
    call->over = true;
    if (!call->asking) call_free(call);
}

void dap_forget_calls(Dap *dap) {
    uv_timer_stop(dap->slow);
    if (dap->current) forget(dap->current);
    dap->current = NULL;
    for (DapCall *call; (call = dap->waiting);) {
        dap->waiting = call->next;
        forget(call);
    }
    for (DapCall *call; (call = dap->apart);) {
        dap->apart = call->next;
        forget(call);
    }
    dap->nwaiting = 0;
}

/* ---- asking the run ---- */

static void on_asked(void *ctx, Json answer, const Error *err) {
    DapCall *call = ctx;
    call->asking = false;
    if (call->over) {
        json_unref(answer);
        call_free(call);
        return;
    }
    if (err && !call->tries) {
        dap_fail(call, err);
        return;
    }
    if (err) {
        call->err = *err;
    } else {
        error_clear(&call->err);
    }
    call->then(call, answer);
}

static void ask(DapCall *call, const char *operation, Json args, bool tries,
                void (*then)(DapCall *, Json)) {
    Dap *dap = call->dap;
    call->then = then;
    call->tries = tries;
    call->asking = true;
    bool named = !json_is_none(json_object_get_c(args, "thread"));
    args = OBJECT_ADD(json_is_none(args) ? json_object() : args,
                      KEY("thread", named ? NULL : dap->thread));
    client_call_for(
        dap->place,
        &(ClientCall){.operation = operation, .args = args, .done = on_asked, .ctx = call});
}

void dap_ask(DapCall *call, const char *operation, Json args, void (*then)(DapCall *, Json)) {
    ask(call, operation, args, false, then);
}

void dap_try(DapCall *call, const char *operation, Json args, void (*then)(DapCall *, Json)) {
    ask(call, operation, args, true, then);
}

static void on_ordered(void *ctx, Json answer, const Error *err) {
    (void)ctx;
    (void)err;
    json_unref(answer);
}

void dap_order(Dap *dap, const char *operation, Json args) {
    args = OBJECT_ADD(json_is_none(args) ? json_object() : args, KEY("thread", dap->thread));
    client_call(dap->place, operation, args, on_ordered, NULL);
}

/* ---- reading ---- */

int64_t dap_int(Json object, const char *key, int64_t otherwise) {
    Json value = json_object_get_c(object, key);
    bool number = json_kind(value) == JSON_NUMBER;
    double d = number ? json_to_double(value) : 0;
    if (!number || d < -9007199254740992.0 || d > 9007199254740992.0) return otherwise;
    return json_tag(value) == JSON_TAG_INT ? value.i : (int64_t)d;
}

bool dap_bool(Json object, const char *key) {
    return json_kind(json_object_get_c(object, key)) == JSON_TRUE;
}

/* Some clients say null where they have nothing to say. Consumes the value. */
static Json without_nulls(Json value, int depth) {
    Json key, inner, out;
    if (depth == 0) return value;
    if (json_kind(value) == JSON_ARRAY) {
        for (size_t i = 0; i < json_array_len(value); i++) {
            inner = json_ref(json_array_get(value, i));
            value = json_array_set(value, i, without_nulls(inner, depth - 1));
        }
        return value;
    }
    if (json_kind(value) != JSON_OBJECT) return value;
    out = json_object();
    for (size_t pos = 0; json_object_next(value, &pos, &key, &inner);) {
        if (json_kind(inner) == JSON_NULL) continue;
        out = json_object_set(out, json_ref(key), without_nulls(json_ref(inner), depth - 1));
    }
    json_unref(value);
    return out;
}

static bool has_shape(const DapRequest *row, Json args, Error *err) {
    Shape *shape = shape_compile(row->arguments, NULL, NULL);
    bool has = shape_check(shape, args, err);
    shape_free(shape);
    if (!has) error_wrap(err, "The arguments of `%s`", row->name);
    return has;
}

/* ---- doing ---- */

/* Whether it may be asked now. */
static bool is_time(const Dap *dap, const DapRequest *row, Error *err) {
    bool first = !strcmp(row->name, "initialize");
    if (dap->phase == DAP_NEW && !first && strcmp(row->name, "disconnect") != 0) {
        return error_set(err, ERR_WRONG_STATE,
                         "A conversation begins with `initialize`; `%s` comes after it.",
                         row->name);
    }
    if (dap->phase != DAP_NEW && first) {
        return error_set(err, ERR_WRONG_STATE, "`initialize` was said already.");
    }
    if ((row->flags & REQUEST_RUN) && dap->phase < DAP_OPEN) {
        return error_set(err, ERR_WRONG_STATE,
                         "There is no run yet: `launch` or `attach` comes before `%s`.", row->name);
    }
    if ((row->flags & REQUEST_RUN) && !(row->flags & REQUEST_ENDED) && dap->phase == DAP_OVER) {
        return error_set(err, ERR_ENDED, "The run is not debugged any more.");
    }
    if ((row->flags & REQUEST_GOING) && dap->phase < DAP_GOING) {
        return error_set(err, ERR_WRONG_STATE,
                         "Nothing runs before `configurationDone`; `%s` comes after it.",
                         row->name);
    }
    return true;
}

static void begin(DapCall *call) {
    Error err = ERROR_INIT;
    Dap *dap = call->dap;
    if (!is_time(dap, call->row, &err) || !has_shape(call->row, call->args, &err)) {
        dap_fail(call, &err);
    } else {
        call->row->act(call);
    }
}

/* One that waits for somebody is shown as progress after a while; most are answered before they return. */
static void begin_current(DapCall *call) {
    Dap *dap = call->dap;
    begin(call);
    if (dap->current == call && dap->client.progress) {
        uv_timer_start(dap->slow, on_slow, DAP_PROGRESS_MS, 0);
    }
}

void dap_pump(Dap *dap) {
    if (dap->pumping) return;
    dap->pumping = true;
    while (dap->wire && !dap->current) {
        if (dap->phase >= DAP_GOING && json_array_len(dap->told)) {
            dap_look(dap);
            continue;
        }
        DapCall *next = dap->waiting;
        if (!next) break;
        dap->waiting = next->next;
        dap->nwaiting--;
        next->next = NULL;
        dap->current = next;
        begin_current(next);
    }
    dap->pumping = false;
}

static void refuse_request(Dap *dap, int64_t seq, const char *command, const Error *err) {
    send_message(dap, OBJECT_ADD(response(seq, command, false), KEY("message", err->msg),
                                 KEY("body", error_body(err))));
}

static void refuse_unknown(Dap *dap, int64_t seq, const char *command) {
    Error err = ERROR_INIT;
    Suggestion nearest = suggestion_for(command, strlen(command));
    for (size_t i = 0; dap_requests[i].name; i++) suggestion_offer(&nearest, dap_requests[i].name);
    error_set(&err, ERR_USAGE, "This adapter does not understand `%.60s`%s", command,
              did_you_mean_this(nearest.best));
    refuse_request(dap, seq, command, &err);
}

static void add_call(Dap *dap, const DapRequest *row, int64_t seq, Json args) {
    DapCall *call = mem_zalloc(sizeof *call), **end = &dap->waiting;
    bool apart = row->flags & REQUEST_AT_ONCE;
    *call = (DapCall){.dap = dap, .row = row, .seq = seq, .args = args};
    call->command = mem_strdup(row->name);
    if (row->flags & REQUEST_DEEP) call->args = without_nulls(call->args, 4);
    if (apart) {
        call->next = dap->apart;
        dap->apart = call;
        begin(call);
        return;
    }
    while (*end) end = &(*end)->next;
    *end = call;
    dap->nwaiting++;
    dap_pump(dap);
}

void dap_message(Dap *dap, Json message) {
    Error err = ERROR_INIT;
    Json type = json_object_get_c(message, "type"), args = json_object_get_c(message, "arguments");
    const char *command = json_object_text(message, "command");
    int64_t seq = dap_int(message, "seq", 0);
    size_t index;
    const DapRequest *row = command ? find_row(command, &index) : NULL;
    if (json_string_is(type, "response") || json_string_is(type, "event")) {
        json_unref(message); /* we ask the client for nothing */
        return;
    }
    if (!json_string_is(type, "request") || !command || seq < 1) {
        error_set(&err, ERR_USAGE,
                  "A request is {\"seq\": NUMBER, \"type\": \"request\", \"command\": NAME, "
                  "\"arguments\": {...}}; this is none.");
        dap_refuse(dap, &err);
    } else if (!row) {
        refuse_unknown(dap, seq, command);
    } else if (dap->nwaiting >= DAP_WAITING_MAX) {
        error_set(&err, ERR_LIMIT, "%d requests wait already; wait for their responses first.",
                  DAP_WAITING_MAX);
        refuse_request(dap, seq, command, &err);
    } else {
        bool given = json_kind(args) != JSON_NULL && !json_is_none(args);
        add_call(dap, row, seq, given ? json_ref(args) : json_object());
    }
    json_unref(message);
}
