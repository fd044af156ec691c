/* The work of check_http_json and check_http_metrics: asks until what comes back is right.
 *
 * A poll is a request, and it passes when the status is one of those expected, the body can be read (as
 * JSON, or as metrics: metrics.h has their form), and every assertion holds (assertion.h). Anything else,
 * a request that fails included, is a miss. A request that cannot even be made (a URL of another scheme)
 * fails the task, as kind "url"; so does one that may not be asked, as kind "net".
 *
 *     passes               the task succeeds; with continueOnPass its result is success and it goes on
 *     misses               it asks again after pollInterval
 *     ... failOnCheckMiss  the task fails, as kind "check"; with continueOnPass its result is failure
 *                          and it goes on
 *
 * Outputs: {status, values: {NAME: what the query gave}, checks: how many polls it took}; with
 * continueOnPass they are those of the last poll that passed. Why a poll missed is logged when it is
 * another reason than before. */
#include "assertion.h"
#include "exec.h"
#include "json_build.h"
#include "json_parse.h"
#include "mem.h"
#include "metrics.h"
#include "web.h"

#include <string.h>

enum {
    REDIRECTS = 5,
    POLL_MIN_MS = 10, /* whatever pollInterval says */
    ASSERTIONS_MAX = 1000,
};

typedef struct Check {
    Step *step;
    HttpRequest *request;
    WebRequest asked;
    uv_timer_t timer; /* the next poll; after cancel(), the end */
    Assertion *assertions;
    size_t nassertions;
    Json (*read)(const char *text, size_t len, Error *err);
    int64_t polls;
    char *reason; /* of the last miss; NULL: the last passed, or there was none */
    bool has_passed;
    bool cancelled;
} Check;

/* What a poll found. */
typedef struct Poll {
    int status;
    Json values;
    Buf why;
} Poll;

/* ---- life ---- */

static void on_closed(uv_handle_t *timer) {
    mem_free(timer->data);
}

static void check_free(Check *check) {
    http_cancel(check->request);
    for (size_t i = 0; i < check->nassertions; i++) assertion_clear(&check->assertions[i]);
    mem_free(check->assertions);
    mem_free(check->reason);
    web_clear(&check->asked);
    uv_close((uv_handle_t *)&check->timer, on_closed);
}

static bool flag(const Check *check, int param) {
    return step_param(check->step, param)->number != 0;
}

/* ---- what came back ---- */

static bool body_holds(const Check *check, const HttpAnswer *answer, Poll *poll) {
    Error err = ERROR_INIT;
    Json body = check->read(answer->body.data ? answer->body.data : "", answer->body.len, &err);
    bool holds = !json_is_none(body);
    if (!holds) buf_printf(&poll->why, "The answer cannot be read: %s", err.msg);
    for (size_t i = 0; holds && i < check->nassertions; i++) {
        Json found = json_none();
        const Assertion *assertion = &check->assertions[i];
        holds = assertion_holds(assertion, body, &found, &poll->why);
        poll->values = json_object_set(poll->values, json_ref(assertion->name), found);
    }
    json_unref(body);
    return holds;
}

static bool passes(const Check *check, const HttpAnswer *answer, Poll *poll) {
    const Param *one = step_param(check->step, CHECK_STATUS);
    Json many = step_param(check->step, CHECK_STATUSES)->value;
    bool has_one = !json_is_none(one->value), has_many = json_kind(many) == JSON_ARRAY;
    bool expected = (has_many && web_lists_status(many, answer->status)) ||
                    (has_one ? one->number == answer->status : !has_many && answer->status == 200);
    poll->status = answer->status;
    if (answer->end != HTTP_ANSWERED) {
        buf_adds(&poll->why, answer->message);
    } else if (!expected) {
        buf_printf(&poll->why, "The answer has the status %d, which is not expected.",
                   answer->status);
    } else if (check->nassertions == 0 || body_holds(check, answer, poll)) {
        return true;
    }
    return false;
}

/* ---- what follows ---- */

static void on_time(uv_timer_t *timer);

static void ask_later(Check *check) {
    int64_t ms = step_param(check->step, CHECK_POLL)->number;
    uv_timer_start(&check->timer, on_time, (uint64_t)(ms > POLL_MIN_MS ? ms : POLL_MIN_MS), 0);
}

static void pass(Check *check, const Poll *poll) {
    Json out = OBJECT(KEY("status", json_int(poll->status)), KEY("values", json_ref(poll->values)),
                      KEY("checks", check->polls));
    Json name, value;
    if (!flag(check, CHECK_CONTINUE)) {
        step_succeed(check->step, out);
        check_free(check);
        return;
    }
    if (check->reason || !check->has_passed) exec_note(check->step, "The check passes.");
    mem_free(check->reason);
    check->reason = NULL;
    check->has_passed = true;
    for (size_t pos = 0; json_object_next(out, &pos, &name, &value);) {
        step_set_output(check->step, json_ref(name), json_ref(value));
    }
    json_unref(out);
    step_set_result(check->step, TASK_SUCCESS);
    ask_later(check);
}

static void miss(Check *check, const Poll *poll) {
    bool fails = flag(check, CHECK_FAIL_ON_MISS);
    const char *why = poll->why.data;
    if (!check->reason || strcmp(check->reason, why) != 0) {
        exec_note(check->step, "%s", why);
        mem_free(check->reason);
        check->reason = mem_strndup(why, strlen(why));
    }
    if (fails && !flag(check, CHECK_CONTINUE)) {
        Json details = OBJECT(KEY("status", json_int(poll->status)), KEY("checks", check->polls));
        step_fail(check->step, "check", details, "%s", why);
        check_free(check);
        return;
    }
    step_set_result(check->step, fails ? TASK_FAILURE : TASK_NONE);
    ask_later(check);
}

static void on_end(void *ctx, const HttpAnswer *answer) {
    Check *check = ctx;
    Poll poll = {.values = json_object(), .why = BUF_INIT};
    check->request = NULL;
    check->polls++;
    if (answer->end == HTTP_REFUSED || answer->end == HTTP_FORBIDDEN) {
        step_fail(check->step, web_error_kind(answer), json_none(), "%s", answer->message);
        check_free(check);
    } else if (passes(check, answer, &poll)) {
        pass(check, &poll);
    } else {
        miss(check, &poll);
    }
    json_unref(poll.values);
    buf_clear(&poll.why);
}

/* ---- asking ---- */

static bool ask(Check *check, Error *err) {
    HttpOptions options = web_options(&check->asked);
    options.timeout_ms = (uint64_t)step_param(check->step, CHECK_REQUEST_TIMEOUT)->number;
    options.max_response = (size_t)step_param(check->step, CHECK_MAX_RESPONSE)->number;
    options.max_redirects = REDIRECTS;
    options.on_end = on_end;
    options.ctx = check;
    check->request = exec_http_ask(check->step, &options, err);
    return check->request != NULL;
}

static void end_with(Check *check, const char *kind, const Error *err) {
    exec_fail_with(check->step, kind, err);
    check_free(check);
}

static void on_time(uv_timer_t *timer) {
    Check *check = timer->data;
    Error err = ERROR_INIT;
    if (check->cancelled) {
        error_set(&err, ERR_CANCELLED, "The check was ended because the run was.");
        end_with(check, "cancelled", &err);
    } else if (!ask(check, &err)) {
        end_with(check, "connect", &err);
    }
}

/* ---- what it is given ---- */

static bool give_request(Check *check, Error *err) {
    Json url = step_param(check->step, CHECK_URL)->value;
    Json body = step_param(check->step, CHECK_BODY)->value;
    Json headers = step_param(check->step, CHECK_HEADERS)->value, name, value;
    if (!exec_size_fits(check->step, CHECK_MAX_RESPONSE, WEB_RESPONSE_MAX, err)) return false;
    check->asked.method = web_method(step_param(check->step, CHECK_METHOD));
    bool fine = web_set_url(&check->asked, json_string_data(&url), json_string_len(url), err);
    bool has_headers = json_kind(headers) == JSON_OBJECT;
    for (size_t pos = 0; fine && has_headers && json_object_next(headers, &pos, &name, &value);) {
        fine = web_add_header(&check->asked, name, value, err);
    }
    if (fine && !json_is_none(body)) web_set_body(&check->asked, body);
    return fine;
}

static bool give_assertions(Check *check, Error *err) {
    Json list = step_param(check->step, CHECK_ASSERTIONS)->value;
    size_t n = json_array_len(list);
    if (n > ASSERTIONS_MAX) {
        return error_set(err, ERR_LIMIT, "There are more than %d assertions. Use several checks.",
                         ASSERTIONS_MAX);
    }
    check->assertions = mem_zalloc((n ? n : 1) * sizeof *check->assertions);
    for (; check->nassertions < n; check->nassertions++) {
        Assertion *assertion = &check->assertions[check->nassertions];
        if (!assertion_init(assertion, json_array_get(list, check->nassertions), err)) return false;
    }
    return true;
}

/* ---- the rows ---- */

static Json read_json(const char *text, size_t len, Error *err) {
    return json_parse(text, len, NULL, err);
}

static void exec_check_start(Step *step) {
    Error err = ERROR_INIT;
    Check *check = mem_zalloc(sizeof *check);
    check->step = step;
    check->read = step_node(step)->kind->id == KIND_CHECK_HTTP_METRICS ? metrics_parse : read_json;
    check->timer.data = check;
    uv_timer_init(step_loop(step), &check->timer);
    if (!give_assertions(check, &err)) {
        end_with(check, "jq", &err);
    } else if (!give_request(check, &err)) {
        end_with(check, "url", &err);
    } else if (!ask(check, &err)) {
        end_with(check, "connect", &err);
    } else {
        step_set_data(step, check);
    }
}

static void exec_check_cancel(Step *step) {
    Check *check = step_data(step);
    if (!check) return;
    http_cancel(check->request);
    check->request = NULL;
    check->cancelled = true;
    uv_timer_start(&check->timer, on_time, 0, 0);
}

static void exec_check_drop(Step *step) {
    Check *check = step_data(step);
    if (check) check_free(check);
}

const NodeWork exec_check = {
    .start = exec_check_start, .cancel = exec_check_cancel, .drop = exec_check_drop};
