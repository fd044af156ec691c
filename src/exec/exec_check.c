/* The work of check_http_json and check_http_metrics: asks until what comes back is right.
 *
 * A poll is a request, and it passes when the status is one of those expected, the body can be read (as JSON, or as metrics:
 * metrics.h has their form), and every assertion holds (assertion.h, metric_assertion.h). A request that fails, another
 * status and a body that cannot be read are misses, and so is an assertion that fails. A request that cannot even be made (a
 * URL of another scheme) fails the task, as kind "url"; so does one that may not be asked, as kind "net".
 *
 *     passes               the task succeeds; with continueOnPass its result is success and it goes on
 *     misses               its result is none, and it asks again after pollInterval
 *     ... failOnCheckMiss  the task fails, as kind "check"
 *     waits                an assertion waits, and none fails: as a miss without failOnCheckMiss
 *
 * Outputs, after every poll; lists and values are empty when nothing could be asserted:
 *
 *     passedAssertions, failedAssertions   names; of metrics null where there are none that failed
 *     values               what each found, by name, where it is not null
 *     httpStatus, responseErrors, parseErrors        of JSON
 *     deltas, baselines, scrapeErrors                of metrics
 *     assertionErrors      the counts are since the start
 *
 * Why a poll missed is logged when it is another reason than before. An assertion is evaluated in turns of TURN_MS. */
#include "exec.h"
#include "json_build.h"
#include "json_parse.h"
#include "mem.h"
#include "metric_assertion.h"
#include "web.h"

#include <stdio.h>
#include <string.h>

enum {
    REDIRECTS = 5,
    POLL_MIN_MS = 10, /* whatever pollInterval says */
    TURN_MS = 2,
    ASSERTIONS_MAX = 1000,
};

/* What a poll has found so far. */
typedef struct Poll {
    int status;  /* 0: there was no answer */
    Json body;   /* while it is evaluated */
    size_t next; /* the assertion that is evaluated */
    size_t passed, failed, waiting;
    Json passed_names, failed_names, values, deltas;
    Buf why; /* the first that did not hold: one that fails before one that waits */
    bool why_fails;
} Poll;

typedef struct Check {
    Step *step;
    HttpRequest *request;
    WebRequest asked;
    uv_timer_t timer; /* the next poll, or the next turn of this one; after cancel(), the end */
    bool of_metrics;
    Assertion *assertions;
    MetricAssertion *metrics;
    size_t nassertions;
    Poll poll;
    bool evaluating;
    int64_t polls, response_errors, parse_errors, assertion_errors;
    char *reason; /* of the last miss; NULL: the last passed, or there was none */
    bool has_passed;
    bool cancelled;
} Check;

/* ---- life ---- */

static void on_closed(uv_handle_t *timer) {
    mem_free(timer->data);
}

static void poll_clear(Poll *poll) {
    json_unref(poll->body);
    json_unref(poll->passed_names);
    json_unref(poll->failed_names);
    json_unref(poll->values);
    json_unref(poll->deltas);
    buf_clear(&poll->why);
    *poll = (Poll){.body = json_none(),
                   .passed_names = json_none(),
                   .failed_names = json_none(),
                   .values = json_none(),
                   .deltas = json_none(),
                   .why = BUF_INIT};
}

static void poll_begin(Poll *poll) {
    poll_clear(poll);
    poll->passed_names = json_array();
    poll->failed_names = json_array();
    poll->values = json_object();
    poll->deltas = json_object();
}

static void check_free(Check *check) {
    http_cancel(check->request);
    for (size_t i = 0; i < check->nassertions; i++) {
        if (check->of_metrics) {
            metric_assertion_clear(&check->metrics[i]);
        } else {
            assertion_clear(&check->assertions[i]);
        }
    }
    mem_free(check->assertions);
    mem_free(check->metrics);
    mem_free(check->reason);
    poll_clear(&check->poll);
    web_clear(&check->asked);
    uv_close((uv_handle_t *)&check->timer, on_closed);
}

static bool flag(const Check *check, int param) {
    return step_param(check->step, param)->number != 0;
}

/* ---- what it says ---- */

static void set(const Check *check, const char *name, Json value) {
    step_set_output(check->step, json_string_c(name), value);
}

static Json baselines_of(const Check *check) {
    Json all = json_object();
    for (size_t i = 0; i < check->nassertions; i++) {
        const MetricAssertion *m = &check->metrics[i];
        if (m->has_baseline) {
            all = json_object_set(all, json_ref(m->name), json_number(m->baseline));
        }
    }
    return all;
}

static void set_outputs(const Check *check) {
    const Poll *poll = &check->poll;
    bool none = check->of_metrics && !json_array_len(poll->failed_names);
    set(check, "passedAssertions", json_ref(poll->passed_names));
    set(check, "failedAssertions", none ? json_null() : json_ref(poll->failed_names));
    set(check, "values", json_ref(poll->values));
    if (check->of_metrics) {
        set(check, "deltas", json_ref(poll->deltas));
        set(check, "baselines", baselines_of(check));
        set(check, "scrapeErrors", json_int(check->response_errors + check->parse_errors));
    } else {
        set(check, "httpStatus", json_int(poll->status));
        set(check, "responseErrors", json_int(check->response_errors));
        set(check, "parseErrors", json_int(check->parse_errors));
    }
    set(check, "assertionErrors", json_int(check->assertion_errors));
    if (check->nassertions) {
        char message[80];
        snprintf(message, sizeof message, "%zu of %zu assertions hold", poll->passed,
                 check->nassertions);
        step_set_progress(check->step, 100.0 * (double)poll->passed / (double)check->nassertions,
                          message);
    }
}

/* ---- what follows ---- */

static void on_time(uv_timer_t *timer);

static void ask_later(Check *check) {
    int64_t ms = step_param(check->step, CHECK_POLL)->number;
    uv_timer_start(&check->timer, on_time, (uint64_t)(ms > POLL_MIN_MS ? ms : POLL_MIN_MS), 0);
}

static void pass(Check *check) {
    if (!flag(check, CHECK_CONTINUE)) {
        step_succeed(check->step, json_null());
        check_free(check);
        return;
    }
    if (check->reason || !check->has_passed) exec_note(check->step, "The check passes.");
    mem_free(check->reason);
    check->reason = NULL;
    check->has_passed = true;
    step_set_result(check->step, TASK_SUCCESS);
    ask_later(check);
}

/* fails: it misses, and does not just wait. */
static void miss(Check *check, bool fails) {
    const char *why = check->poll.why.data ? check->poll.why.data : "";
    if (!check->reason || strcmp(check->reason, why) != 0) {
        exec_note(check->step, "%s", why);
        mem_free(check->reason);
        check->reason = mem_strdup(why);
    }
    if (fails && flag(check, CHECK_FAIL_ON_MISS)) {
        Json status = check->poll.status ? json_int(check->poll.status) : json_none();
        Json details = OBJECT(KEY("status", status), KEY("checks", check->polls));
        step_fail(check->step, "check", details, "%s", why);
        check_free(check);
        return;
    }
    step_set_result(check->step, TASK_NONE);
    ask_later(check);
}

/* The poll is over. */
static void conclude(Check *check) {
    Poll *poll = &check->poll;
    bool passes = poll->passed == check->nassertions && !poll->why.len;
    json_clear(&poll->body);
    check->evaluating = false;
    set_outputs(check);
    if (passes) {
        pass(check);
    } else {
        miss(check, poll->failed > 0 || !poll->waiting);
    }
}

/* ---- what came back ---- */

static void note_outcome(Check *check, Json name, const Outcome *outcome) {
    Poll *poll = &check->poll;
    bool holds = outcome->verdict == VERDICT_HOLDS, fails = outcome->verdict == VERDICT_FAILS;
    poll->passed += holds;
    poll->failed += fails;
    poll->waiting += outcome->verdict == VERDICT_WAITS;
    check->assertion_errors += outcome->is_error;
    if (holds) poll->passed_names = json_array_push(poll->passed_names, json_ref(name));
    if (fails) poll->failed_names = json_array_push(poll->failed_names, json_ref(name));
    if (!json_is_none(outcome->value)) {
        poll->values = json_object_set(poll->values, json_ref(name), json_ref(outcome->value));
    }
    if (holds || (poll->why.len && (poll->why_fails || !fails))) return;
    poll->why_fails = fails;
    buf_reset(&poll->why);
    buf_add(&poll->why, outcome->why.data, outcome->why.len);
    buf_reserve(&poll->why, 1)[0] = '\0';
}

/* As far as the turn lets it come; then in the next. */
static void evaluate(Check *check) {
    Poll *poll = &check->poll;
    uint64_t until = uv_hrtime() + (uint64_t)TURN_MS * 1000000;
    while (poll->next < check->nassertions) {
        Assertion *a = &check->assertions[poll->next];
        Outcome outcome;
        if (!assertion_go_on(a, until, &outcome)) {
            step_took_long(check->step);
            uv_timer_start(&check->timer, on_time, 0, 0);
            return;
        }
        note_outcome(check, a->name, &outcome);
        outcome_clear(&outcome);
        if (++poll->next < check->nassertions) {
            assertion_start(&check->assertions[poll->next], poll->body);
        }
    }
    conclude(check);
}

static void read_metrics(Check *check, const Buf *body) {
    Error err = ERROR_INIT;
    Metrics metrics;
    if (!metrics_parse(body->data ? body->data : "", body->len, &metrics, &err)) {
        check->parse_errors++;
        buf_printf(&check->poll.why, "The answer cannot be read: %s", err.msg);
        conclude(check);
        return;
    }
    for (size_t i = 0; i < check->nassertions; i++) {
        MetricFound found;
        MetricAssertion *m = &check->metrics[i];
        metric_assertion_decide(m, &metrics, &found);
        if (!json_is_none(found.delta)) {
            check->poll.deltas =
                json_object_set(check->poll.deltas, json_ref(m->name), json_ref(found.delta));
        }
        note_outcome(check, m->name, &found.outcome);
        metric_found_clear(&found);
    }
    metrics_clear(&metrics);
    conclude(check);
}

static void read_json(Check *check, const Buf *body) {
    Error err = ERROR_INIT;
    Poll *poll = &check->poll;
    if (!check->nassertions) { /* the status alone counts */
        conclude(check);
        return;
    }
    poll->body = json_parse(body->data ? body->data : "", body->len, NULL, &err);
    if (json_is_none(poll->body)) {
        check->parse_errors++;
        buf_printf(&poll->why, "The answer cannot be read: %s", err.msg);
        conclude(check);
        return;
    }
    check->evaluating = true;
    assertion_start(&check->assertions[0], poll->body);
    evaluate(check);
}

static bool is_expected(const Check *check, int status) {
    if (check->of_metrics) return status == 200;
    const Param *one = step_param(check->step, CHECK_STATUS);
    Json many = step_param(check->step, CHECK_STATUSES)->value;
    bool has_many = json_kind(many) == JSON_ARRAY;
    return has_many                   ? web_lists_status(many, status)
           : json_is_none(one->value) ? status == 200
                                      : one->number == status;
}

static void on_end(void *ctx, const HttpAnswer *answer) {
    Check *check = ctx;
    bool answered = answer->end == HTTP_ANSWERED;
    check->request = NULL;
    check->polls++;
    poll_begin(&check->poll);
    check->poll.status = answered ? answer->status : 0;
    if (answer->end == HTTP_REFUSED || answer->end == HTTP_FORBIDDEN) {
        step_fail(check->step, web_error_kind(answer), json_none(), "%s", answer->message);
        check_free(check);
    } else if (!answered || !is_expected(check, answer->status)) {
        check->response_errors++;
        if (answered) {
            buf_printf(&check->poll.why, "The answer has the status %d, which is not expected.",
                       answer->status);
        } else {
            buf_adds(&check->poll.why, answer->message);
        }
        conclude(check);
    } else {
        (check->of_metrics ? read_metrics : read_json)(check, &answer->body);
    }
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
    } else if (check->evaluating) {
        evaluate(check);
    } else if (!ask(check, &err)) {
        end_with(check, "connect", &err);
    }
}

/* ---- what it is given ---- */

static bool give_headers(Check *check, Error *err) {
    Json headers = step_param(check->step, CHECK_HEADERS)->value, name, value;
    bool fine = true, has_headers = json_kind(headers) == JSON_OBJECT;
    for (size_t pos = 0; fine && has_headers && json_object_next(headers, &pos, &name, &value);) {
        fine = web_add_header(&check->asked, name, value, err);
    }
    return fine;
}

/* bodyRaw as it is, or else body as JSON. */
static void give_body(Check *check) {
    Json raw = step_param(check->step, CHECK_BODY_RAW)->value;
    Json body = step_param(check->step, CHECK_BODY)->value;
    if (json_kind(raw) == JSON_STRING && json_string_len(raw)) {
        web_set_raw_body(&check->asked, json_string_data(&raw), json_string_len(raw));
    } else if (!json_is_none(body)) {
        web_set_json_body(&check->asked, body);
    }
}

static bool give_request(Check *check, Error *err) {
    Json url = step_param(check->step, CHECK_URL)->value;
    if (!exec_size_fits(check->step, CHECK_MAX_RESPONSE, WEB_RESPONSE_MAX, err)) return false;
    if (!web_set_url(&check->asked, json_string_data(&url), json_string_len(url), err) ||
        !give_headers(check, err)) {
        return false;
    }
    if (check->of_metrics) return true;
    bool two = !json_is_none(step_param(check->step, CHECK_STATUS)->value) &&
               json_kind(step_param(check->step, CHECK_STATUSES)->value) == JSON_ARRAY;
    if (two) {
        return error_set(
            err, ERR_USAGE,
            "There are both `expectStatus` and `expectStatuses`. Take one of them out.");
    }
    check->asked.method = web_method_given(step_param(check->step, CHECK_METHOD));
    if (check->nassertions && check->asked.method && !strcmp(check->asked.method, "HEAD")) {
        return error_set(
            err, ERR_USAGE,
            "An answer to HEAD has no body, so that there is nothing to assert. Take the "
            "assertions out, or use GET.");
    }
    give_body(check);
    return true;
}

static bool is_new_name(Json *names, Json name, Error *err) {
    if (!json_is_none(json_object_get(*names, name))) {
        return error_set(err, ERR_USAGE,
                         "Two assertions are called %.*s; each needs a name of its "
                         "own.",
                         (int)json_string_len(name), json_string_data(&name));
    }
    *names = json_object_set(*names, json_ref(name), json_bool(true));
    return true;
}

static bool give_assertions(Check *check, Error *err) {
    Json list = step_param(check->step, CHECK_ASSERTIONS)->value, names = json_object();
    size_t n = json_array_len(list);
    bool fine = true;
    if (n > ASSERTIONS_MAX) {
        json_unref(names);
        return error_set(err, ERR_LIMIT, "There are more than %d assertions. Use several checks.",
                         ASSERTIONS_MAX);
    }
    MetricDefaults defaults = {0};
    if (check->of_metrics) {
        check->metrics = mem_zalloc((n ? n : 1) * sizeof *check->metrics);
        defaults = (MetricDefaults){step_param(check->step, METRICS_MISSING_METRIC)->value,
                                    step_param(check->step, METRICS_MISSING_SERIES)->value,
                                    step_param(check->step, METRICS_ON_RESET)->value};
        fine = n > 0 || error_set(err, ERR_USAGE, "There are no assertions; it needs one or more.");
    } else {
        check->assertions = mem_zalloc((n ? n : 1) * sizeof *check->assertions);
    }
    while (fine && check->nassertions < n) {
        size_t i = check->nassertions;
        Json object = json_array_get(list, i);
        fine = check->of_metrics ? metric_assertion_init(&check->metrics[i], object, &defaults, err)
                                 : assertion_init(&check->assertions[i], object,
                                                  flag(check, CHECK_FAIL_ON_MISS), err);
        if (!fine) break;
        check->nassertions++;
        fine = is_new_name(&names, json_object_get_c(object, "name"), err);
    }
    json_unref(names);
    return fine;
}

/* ---- the rows ---- */

static void exec_check_start(Step *step) {
    Error err = ERROR_INIT;
    Check *check = mem_zalloc(sizeof *check);
    check->step = step;
    check->of_metrics = step_node(step)->kind->id == KIND_CHECK_HTTP_METRICS;
    poll_clear(&check->poll);
    check->timer.data = check;
    uv_timer_init(step_loop(step), &check->timer);
    if (!give_assertions(check, &err)) {
        end_with(check, "check", &err);
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
