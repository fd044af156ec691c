/* check_http_json and check_http_metrics in the engine, against tests/http_server.py. */
#include "engine_host.h"

#include "http_host.h"
#include "metric_assertion.h"

/* ---- assertions ---- */

typedef enum Want { HOLDS, FAILS, WAITS, ERROR } Want;

static const char *const want_words[] = {"holds", "fails", "waits", "is an error"};

/* What an assertion comes to, of an answer. */
typedef struct AssertionCase {
    const char *assertion; /* without its name, which is `n` */
    const char *answer;
    Want want;
    const char *part; /* of the sentence; NULL: any */
    bool fail_missing;
    const char *value; /* that was found; NULL: any */
    const char *row;   /* of the table of what checks mean */
} AssertionCase;

#define A_IS(op, value) "\"query\": \".a\", \"operator\": \"" op "\", \"value\": " value

static const AssertionCase assertion_cases[] = {
    {"\"query\": \".a | .b\", \"operator\": \"eq\", \"value\": 1", "{\"a\": {\"b\": 1}}", HOLDS,
     .value = "1", .row = "H3"},
    {"\"query\": \"[range(3)] | length\", \"operator\": \"eq\", \"value\": 3", "null", HOLDS,
     .row = "H3"},
    {"\"query\": \".a.b\", \"operator\": \"eq\", \"value\": 1", "{\"a\": 1}", ERROR,
     "its query fails: ", .row = "H3"},
    {"\"query\": \"range(32)\", \"exists\": true", "null", HOLDS, .value = "0", .row = "H3"},
    {"\"query\": \"range(33)\", \"exists\": true", "null", ERROR, "more than 32 results",
     .row = "H3"},

    {"\"query\": \".a\", \"exists\": true", "{\"a\": false}", HOLDS, .value = "false", .row = "H4"},
    {"\"query\": \".a\", \"exists\": true", "{\"a\": null}", FAILS,
     "its query gives null, and something is wanted.", .row = "H4"},
    {"\"query\": \".[]\", \"exists\": true", "[null, 4, null]", HOLDS, .value = "4", .row = "H4"},
    {"\"query\": \".[]\", \"exists\": true", "[]", FAILS, "gives nothing", .row = "H4"},
    {"\"query\": \".a\", \"exists\": false", "{}", HOLDS, .row = "H4"},
    {"\"query\": \".[]\", \"exists\": false", "[null, null]", HOLDS, .row = "H4"},
    {"\"query\": \".a\", \"exists\": false", "{\"a\": 0}", FAILS,
     "its query gives 0, and nothing is wanted.", .row = "H4"},
    {"\"query\": \".[]\", \"operator\": \"eq\", \"value\": 1", "[1, 1]", ERROR,
     "more than one result", .row = "H4"},
    {"\"query\": \".[]\", \"operator\": \"eq\", \"value\": 1", "[1, null]", ERROR,
     "more than one result", .row = "H4"},
    {A_IS("eq", "1"), "{}", WAITS, "waits: its query gives null", .row = "H4"},
    {A_IS("eq", "1"), "{}", FAILS, "does not hold: its query gives null", .fail_missing = true,
     .row = "H4"},
    {"\"query\": \"empty\", \"operator\": \"neq\", \"value\": 1", "{}", WAITS, "gives nothing",
     .row = "H4"},
    {A_IS("eq", "1") ", \"allowMissing\": true", "{}", HOLDS, .row = "H4"},
    {A_IS("eq", "1") ", \"allowMissing\": true", "{}", HOLDS, .fail_missing = true, .row = "H4"},
    {A_IS("eq", "1") ", \"allowMissing\": false", "{}", FAILS, .row = "H4"},
    {A_IS("eq", "1") ", \"allowMissing\": true", "{\"a\": 2}", FAILS, .row = "H4"},

    {A_IS("eq", "1"), "{\"a\": 1.0}", HOLDS, .row = "H5"},
    {A_IS("eq", "1"), "{\"a\": 2}", FAILS,
     "The assertion n does not hold: it is 2, and it is wanted to be 1.", .row = "H5"},
    {A_IS("eq", "\"1\""), "{\"a\": 1}", FAILS, .row = "H5"},
    {A_IS("eq", "1"), "{\"a\": \"1\"}", FAILS, "it is \"1\"", .row = "H5"},
    {A_IS("neq", "1"), "{\"a\": \"1\"}", HOLDS, .row = "H5"},
    {A_IS("neq", "1"), "{\"a\": 1e0}", FAILS, "not to be 1", .row = "H5"},
    {A_IS("eq", "{\"x\": [1, {\"y\": 2.0}]}"), "{\"a\": {\"x\": [1, {\"y\": 2}]}}", HOLDS,
     .row = "H5"},
    {A_IS("eq", "{\"x\": 1}"), "{\"a\": {\"x\": 1, \"y\": 2}}", FAILS, .row = "H5"},
    {A_IS("eq", "9007199254740993"), "{\"a\": 9007199254740992}", FAILS, .row = "H5"},
    {A_IS("eq", "123456789012345678901"), "{\"a\": 123456789012345678901}", HOLDS, .row = "H5"},
    {A_IS("gt", "9"), "{\"a\": 10}", HOLDS, .row = "H5"},
    {A_IS("gt", "10"), "{\"a\": 10}", FAILS, "more than 10", .row = "H5"},
    {A_IS("gte", "10"), "{\"a\": 10}", HOLDS, .row = "H5"},
    {A_IS("gte", "10"), "{\"a\": 9.5}", FAILS, "at least 10", .row = "H5"},
    {A_IS("lt", "10.5"), "{\"a\": 10}", HOLDS, .row = "H5"},
    {A_IS("lt", "10"), "{\"a\": 10}", FAILS, "less than 10", .row = "H5"},
    {A_IS("lte", "10"), "{\"a\": 10}", HOLDS, .row = "H5"},
    {A_IS("lte", "10"), "{\"a\": 11}", FAILS, "at most 10", .row = "H5"},
    {A_IS("gt", "9"), "{\"a\": \"10\"}", ERROR, "only numbers are more or less", .row = "H5"},
    {A_IS("lt", "\"b\""), "{\"a\": \"a\"}", ERROR, .row = "H5"},
    {A_IS("gte", "1"), "{\"a\": [1]}", ERROR, .row = "H5"},
    {A_IS("contains", "\"ell\""), "{\"a\": \"hello\"}", HOLDS, .row = "H5"},
    {A_IS("contains", "\"\""), "{\"a\": \"\"}", HOLDS, .row = "H5"},
    {A_IS("contains", "\"x\""), "{\"a\": \"hello\"}", FAILS, "to contain \"x\"", .row = "H5"},
    {A_IS("contains", "1"), "{\"a\": \"1\"}", ERROR, "They cannot be compared", .row = "H5"},
    {A_IS("contains", "2"), "{\"a\": [1, 2.0]}", HOLDS, .row = "H5"},
    {A_IS("contains", "\"2\""), "{\"a\": [1, 2]}", FAILS, .row = "H5"},
    {A_IS("contains", "{\"k\": 1}"), "{\"a\": [{\"k\": 1}]}", HOLDS, .row = "H5"},
    {A_IS("contains", "{\"k\": 1}"), "{\"a\": [{\"k\": 1, \"l\": 2}]}", FAILS, .row = "H5"},
    {A_IS("contains", "{\"k\": 1}"), "{\"a\": {\"k\": 1, \"l\": 2}}", HOLDS, .row = "H5"},
    {A_IS("contains", "{\"k\": 1}"), "{\"a\": {\"k\": 2}}", FAILS, .row = "H5"},
    {A_IS("contains", "\"k\""), "{\"a\": {\"k\": 2}}", ERROR, .row = "H5"},
    {A_IS("contains", "1"), "{\"a\": 1}", ERROR, .row = "H5"},
    {A_IS("not_contains", "\"x\""), "{\"a\": \"hello\"}", HOLDS, .row = "H5"},
    {A_IS("not_contains", "\"h\""), "{\"a\": \"hello\"}", FAILS, .row = "H5"},
    {A_IS("not_contains", "3"), "{\"a\": [1, 2]}", HOLDS, .row = "H5"},
    {A_IS("not_contains", "2"), "{\"a\": [1, 2]}", FAILS, .row = "H5"},
    {A_IS("not_contains", "{\"k\": 1}"), "{\"a\": {\"k\": 2}}", HOLDS, .row = "H5"},
    {A_IS("not_contains", "1"), "{\"a\": true}", ERROR, .row = "H5"},
};

static Outcome outcome_of(const char *assertion, const char *answer, bool fail_missing) {
    Error err = ERROR_INIT;
    Assertion a;
    Buf text = BUF_INIT;
    buf_printf(&text, "{\"name\": \"n\", %s}", assertion);
    Json object = parse(text.data), value = parse(answer);
    if (!assertion_init(&a, object, fail_missing, &err)) fail_msg("%s", err.msg);
    Outcome outcome;
    assertion_start(&a, value);
    while (!assertion_go_on(&a, uv_hrtime() + 1000000, &outcome)) {}
    json_unref(object);
    json_unref(value);
    assertion_clear(&a);
    buf_clear(&text);
    return outcome;
}

static Want want_of(const Outcome *outcome) {
    return outcome->is_error                   ? ERROR
           : outcome->verdict == VERDICT_HOLDS ? HOLDS
           : outcome->verdict == VERDICT_WAITS ? WAITS
                                               : FAILS;
}

static void h3_h4_h5_assertions_come_to_what_the_table_says(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof assertion_cases / sizeof *assertion_cases; i++) {
        const AssertionCase *c = &assertion_cases[i];
        Outcome outcome = outcome_of(c->assertion, c->answer, c->fail_missing);
        Want got = want_of(&outcome);
        const char *why = outcome.why.data ? outcome.why.data : "";
        if (got != c->want || (c->part && !strstr(why, c->part))) {
            fail_msg("%s: {%s} of %s %s, not %s: %s", c->row, c->assertion, c->answer,
                     want_words[got], want_words[c->want], why);
        }
        if (got == ERROR) assert_int_equal(outcome.verdict, VERDICT_FAILS);
        assert_int_equal(outcome.why.len > 0, got != HOLDS);
        if (c->value) expect_json(outcome.value, c->value);
        outcome_clear(&outcome);
    }
}

static void h3_a_query_has_five_seconds(void **state) {
    (void)state;
    uint64_t before = uv_hrtime();
    Outcome outcome = outcome_of("\"query\": \"last(repeat(1))\", \"exists\": true", "1", false);
    assert_true(outcome.is_error);
    expect_contains(outcome.why.data, "longer than 5 s");
    assert_true(uv_hrtime() - before >= 5000000000ull);
    outcome_clear(&outcome);
}

static void a_long_value_is_cut_in_the_sentence(void **state) {
    (void)state;
    Buf answer = BUF_INIT;
    buf_adds(&answer, "[\"");
    for (int i = 0; i < 500; i++) buf_adds(&answer, "\xc3\xa9");
    buf_adds(&answer, "\"]");
    Outcome outcome =
        outcome_of("\"query\": \".[0]\", \"operator\": \"eq\", \"value\": 1", answer.data, false);
    expect_contains(outcome.why.data, "\xc3\xa9..., and it is wanted to be 1.");
    outcome_clear(&outcome);
    buf_clear(&answer);
}

static void h3_assertions_that_are_not_right_are_refused(void **state) {
    static const char *const cases[][2] = {
        {"{\"query\": \".\", \"exists\": true}", "An assertion has no `name`."},
        {"{\"name\": \"n\", \"exists\": true}", "The assertion n: it has no `query`."},
        {"{\"name\": \"n\", \"query\": \".a |\", \"exists\": true}", "The assertion n: "},
        {"{\"name\": \"n\", \"query\": \"a\", \"exists\": true}", "The assertion n: "},
        {"{\"name\": \"n\", \"query\": \".\"}", "has neither"},
        {"{\"name\": \"n\", \"query\": \".\", \"value\": 1}", "has neither"},
        {"{\"name\": \"n\", \"query\": \".\", \"exists\": true, \"operator\": \"eq\"}", "not both"},
        {"{\"name\": \"n\", \"query\": \".\", \"operator\": \"is\", \"value\": 1}",
         "no such operator"},
        {"{\"name\": \"n\", \"query\": \".\", \"operator\": \"eq\"}", "no `value`"},
        {"{\"name\": \"n\", \"query\": \".\", \"operator\": \"eq\", \"value\": null}",
         "no `value`"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error err = ERROR_INIT;
        Assertion a;
        Json object = parse(cases[i][0]);
        if (assertion_init(&a, object, false, &err)) fail_msg("%s is fine", cases[i][0]);
        expect_contains(err.msg, cases[i][1]);
        json_unref(object);
    }
}

/* ---- metrics ---- */

static const char shown_metrics[] = "# TYPE hits counter\n"
                                    "hits{code=\"200\",host=\"a\"} 7\n"
                                    "hits{code=\"404\",host=\"a\"} 1\n"
                                    "# TYPE temp gauge\ntemp -3.5\n"
                                    "# TYPE took histogram\n"
                                    "took_bucket{le=\"1\"} 2\ntook_sum 12.5\ntook_count 4\n"
                                    "# TYPE size summary\n"
                                    "size{quantile=\"0.5\"} 3\nsize_sum 9\nsize_count 2\n"
                                    "bad NaN\nworse +Inf\n";

/* What an assertion comes to, of the metrics above, or of one value after the other. */
typedef struct MetricCase {
    const char *row, *assertion;
    const char *values; /* of the metric `m`, in order; NULL: of those above */
    const char *on_reset, *missing;
    Want want[4]; /* of each */
    const char *part;
} MetricCase;

#define OF(metric, op, value) \
    "\"metric\": \"" metric "\", \"operator\": \"" op "\", \"value\": " value
#define DELTA(op, value) OF("m", op, value) ", \"mode\": \"delta\""

static const MetricCase metric_cases[] = {
    {"H6", OF("temp", "eq", "-3.5"), .want = {HOLDS}},
    {"H6", OF("temp", "neq", "-3.5"), .want = {FAILS}},
    {"H6", OF("temp", "lt", "0"), .want = {HOLDS}},
    {"H6", OF("temp", "lte", "-4"), .want = {FAILS},
     .part = "temp is -3.5, and it is wanted to be at most -4."},
    {"H6", OF("temp", "gt", "-4"), .want = {HOLDS}},
    {"H6", OF("temp", "gte", "-3.5"), .want = {HOLDS}},
    {"H6", "\"metric\": \"temp\", \"operator\": \"lt\"", .want = {HOLDS}},
    {"H6", OF("hits", "eq", "7") ", \"labels\": {\"code\": 200}", .want = {HOLDS}},
    {"H6", OF("hits", "eq", "1") ", \"labels\": {\"code\": \"404\", \"host\": \"a\"}",
     .want = {HOLDS}},
    {"H6", OF("hits", "eq", "7"), .want = {ERROR}, .part = "more than one series"},
    {"H6", OF("hits", "eq", "7") ", \"labels\": {\"host\": \"a\"}", .want = {ERROR}},
    {"H6", OF("hits", "eq", "7") ", \"labels\": {\"code\": \"500\"}", .want = {WAITS},
     .part = "no series"},
    {"H6", OF("hits", "eq", "7") ", \"labels\": {\"code\": \"500\"}, \"missingSeries\": \"fail\"",
     .want = {FAILS}},
    {"H6", OF("hits", "eq", "7") ", \"labels\": {\"code\": \"500\"}, \"missingSeries\": \"pass\"",
     .want = {HOLDS}},
    {"H6", OF("nobody", "eq", "7"), .want = {WAITS}, .part = "waits: there is no metric nobody."},
    {"H6", OF("nobody", "eq", "7"), .missing = "fail", .want = {FAILS}},
    {"H6", OF("nobody", "eq", "7") ", \"missingMetric\": \"pass\"", .missing = "fail",
     .want = {HOLDS}},
    {"H6", OF("nobody", "eq", "7"), .missing = "pass", .want = {HOLDS}},
    {"H7", OF("took", "eq", "12.5"), .want = {HOLDS}},
    {"H7", OF("size", "eq", "9"), .want = {HOLDS}},
    {"H7", OF("took_count", "eq", "4"), .want = {HOLDS}},
    {"H7", OF("bad", "neq", "0"), .want = {FAILS}, .part = "no finite number"},
    {"H7", OF("worse", "gt", "0"), .want = {FAILS}},
    {"H7", DELTA("gte", "3"), "5 6 8 9", .want = {WAITS, FAILS, HOLDS, HOLDS}},
    {"H7", DELTA("eq", "0"), "5 5", .want = {WAITS, HOLDS}},
    {"H7", DELTA("gt", "0"), "5 2", .want = {WAITS, FAILS}, .part = "it was reset"},
    {"H7", DELTA("gt", "0"), "5 2 3", "rebaseline", .want = {WAITS, WAITS, HOLDS}},
    {"H7", DELTA("gt", "0"), "5 2 6", "ignore", .want = {WAITS, FAILS, HOLDS},
     .part = "has changed by -3"},
    {"H7", DELTA("lt", "0"), "5 2", "ignore", .want = {WAITS, HOLDS}},
};

static void decide_case(const MetricCase *c, MetricAssertion *m, const char *text, Want want,
                        bool *found_part) {
    Error err = ERROR_INIT;
    Metrics metrics;
    MetricFound found;
    if (!metrics_parse(text, strlen(text), &metrics, &err)) fail_msg("%s", err.msg);
    metric_assertion_decide(m, &metrics, &found);
    const char *why = found.outcome.why.data ? found.outcome.why.data : "";
    Want got = want_of(&found.outcome);
    if (got != want) {
        fail_msg("%s: {%s} of %s %s, not %s: %s", c->row, c->assertion, text, want_words[got],
                 want_words[want], why);
    }
    *found_part = *found_part || (c->part && strstr(why, c->part));
    metric_found_clear(&found);
    metrics_clear(&metrics);
}

static void h6_h7_metrics_come_to_what_the_table_says(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof metric_cases / sizeof *metric_cases; i++) {
        const MetricCase *c = &metric_cases[i];
        Error err = ERROR_INIT;
        MetricAssertion m;
        Buf text = BUF_INIT;
        buf_printf(&text, "{\"name\": \"n\", %s}", c->assertion);
        Json object = parse(text.data), missing = json_string_c(c->missing ? c->missing : "wait");
        Json reset = json_string_c(c->on_reset ? c->on_reset : "fail");
        MetricDefaults defaults = {missing, missing, reset};
        if (!metric_assertion_init(&m, object, &defaults, &err)) fail_msg("%s", err.msg);
        bool found_part = !c->part;
        if (!c->values) decide_case(c, &m, shown_metrics, c->want[0], &found_part);
        int n = 0;
        for (const char *at = c->values; at && *at; n++) {
            char answer[100];
            int len = (int)strcspn(at, " ");
            snprintf(answer, sizeof answer, "# TYPE m counter\nm %.*s\n", len, at);
            decide_case(c, &m, answer, c->want[n], &found_part);
            at += len + (at[len] == ' ');
        }
        if (!found_part) fail_msg("%s: {%s} never says: %s", c->row, c->assertion, c->part);
        metric_assertion_clear(&m);
        json_unref(object);
        json_unref(missing);
        json_unref(reset);
        buf_clear(&text);
    }
}

/* ---- tasks ---- */

/* A test of one task of that kind; @ before a slash stands for the server. */
static Run *begin(const char *kind, const char *config) {
    static int threads;
    char thread[20];
    Buf yaml = BUF_INIT;
    buf_printf(&yaml, "id: t\nname: t\ntasks:\n  - name: %s\n    id: c\n    config: ", kind);
    for (const char *c = config; *c; c++) {
        if (c[0] == '@' && c[1] == '/') {
            buf_printf(&yaml, "http://127.0.0.1:%d", server.http);
        } else {
            buf_addc(&yaml, *c);
        }
    }
    buf_addc(&yaml, '\n');
    snprintf(thread, sizeof thread, "t%d", threads++);
    host.settled = 0;
    host.checkpoint = 0;
    Run *run = host_start(yaml.data, thread, NULL);
    buf_clear(&yaml);
    return run;
}

static Json part(Run *run, const char *query) {
    Error err = ERROR_INIT;
    Json got = jq_eval(query, run_state(run), NULL, &err);
    if (err.code) fail_msg("%s", err.msg);
    return got;
}

static void passes(const char *kind, const char *config, const char *outputs) {
    Run *run = begin(kind, config);
    host_settle(run);
    expect_run(run, "completed", NULL);
    Json got = part(run, ".tasks.c.outputs");
    expect_json(got, outputs);
    json_unref(got);
    run_free(run);
}

static void fails(const char *kind, const char *config, const char *word, const char *sentence) {
    Run *run = begin(kind, config);
    host_settle(run);
    expect_failed(run, word, sentence);
    run_free(run);
}

#define COUNTS(response, parse, assertion)                          \
    ", \"responseErrors\": " #response ", \"parseErrors\": " #parse \
    ", \"assertionErrors\": " #assertion "}"

static void k11_outputs_of_a_check_that_passes(void **state) {
    (void)state;
    passes(
        "check_http_json",
        "{url: '@/json?{\"a\":{\"b\":5},\"s\":\"up\"}', assertions: [{name: depth, query: .a.b, "
        "operator: gte, value: 5}, {name: s, query: .s, operator: eq, value: up}, {name: none, "
        "query: .none, exists: false}]}",
        "{\"passedAssertions\": [\"depth\", \"s\", \"none\"], \"failedAssertions\": [], \"values\": "
        "{\"depth\": 5, \"s\": \"up\"}, \"httpStatus\": 200" COUNTS(0, 0, 0));
}

static void h2_without_assertions_the_status_is_enough(void **state) {
    (void)state;
    passes("check_http_json", "{url: '@/text?hello'}",
           "{\"passedAssertions\": [], \"failedAssertions\": [], \"values\": {}, \"httpStatus\": "
           "200" COUNTS(0, 0, 0));
}

/* What the server got, as the values of the check. */
static void sends(const char *config, const char *values) {
    Buf text = BUF_INIT;
    buf_printf(
        &text,
        "{url: '@/echo', %s, assertions: [{name: m, query: .method, exists: true}, {name: b, "
        "query: .body, exists: true}, {name: t, query: '.headers[\"content-type\"]', "
        "exists: true}]}",
        config);
    Run *run = begin("check_http_json", text.data);
    host_settle(run);
    expect_run(run, "completed", NULL);
    Json got = part(run, ".tasks.c.outputs.values");
    expect_json(got, values);
    json_unref(got);
    run_free(run);
    buf_clear(&text);
}

static void k11_h2_bodies_are_sent_as_json_or_as_they_are(void **state) {
    (void)state;
    sends("method: PUT, body: {a: 1}",
          "{\"m\": \"PUT\", \"b\": \"{\\\"a\\\":1}\", \"t\": \"application/json\"}");
    sends("method: POST, body: text",
          "{\"m\": \"POST\", \"b\": \"\\\"text\\\"\", \"t\": \"application/json\"}");
    sends("method: PATCH, bodyRaw: 'a=b', body: text",
          "{\"m\": \"PATCH\", \"b\": \"a=b\", \"t\": \"application/json\"}");
    sends("method: DELETE, bodyRaw: 'a=b', headers: {Content-Type: text/plain}",
          "{\"m\": \"DELETE\", \"b\": \"a=b\", \"t\": \"text/plain\"}");
}

static void k11_statuses_can_be_expected(void **state) {
    (void)state;
    passes("check_http_json", "{url: '@/status/404', expectStatus: 404}",
           "{\"passedAssertions\": [], \"failedAssertions\": [], \"values\": {}, \"httpStatus\": "
           "404" COUNTS(0, 0, 0));
    passes("check_http_json", "{url: '@/status/503', expectStatuses: [500, 503]}",
           "{\"passedAssertions\": [], \"failedAssertions\": [], \"values\": {}, \"httpStatus\": "
           "503" COUNTS(0, 0, 0));
    fails("check_http_json", "{url: '@/status/201', failOnCheckMiss: true}", "check", "status 201");
    fails("check_http_json", "{url: '@/status/200', expectStatus: 404, failOnCheckMiss: true}",
          "check", "status 200");
}

static void h1_it_asks_until_it_passes(void **state) {
    (void)state;
    passes(
        "check_http_json",
        "{url: '@/nth/until?500:x|200:nojson|200:{\"n\":1}|200:{\"n\":{}}|200:{}|200:{\"n\":3}', "
        "pollInterval: 20ms, assertions: [{name: n, query: .n, operator: gt, value: 2}]}",
        "{\"passedAssertions\": [\"n\"], \"failedAssertions\": [], \"values\": {\"n\": 3}, "
        "\"httpStatus\": 200" COUNTS(1, 1, 1));
}

static void h1_what_waits_is_asked_again_even_if_misses_fail(void **state) {
    (void)state;
    passes(
        "check_http_metrics",
        "{url: '@/nth/waits?200:other%201|200:m%201|200:m%203', pollInterval: 20ms, failOnCheckMiss: "
        "true, assertions: [{name: d, metric: m, mode: delta, operator: gte, value: 2}]}",
        "{\"passedAssertions\": [\"d\"], \"failedAssertions\": null, \"values\": {\"d\": 3}, "
        "\"deltas\": {\"d\": 2}, \"baselines\": {\"d\": 1}, \"scrapeErrors\": 0, "
        "\"assertionErrors\": 0}");
}

static void a_miss_fails_when_asked_to(void **state) {
    (void)state;
    fails("check_http_json",
          "{url: '@/json?{\"a\":1}', failOnCheckMiss: true, assertions: [{name: first, query: .a, "
          "operator: gt, value: 3}]}",
          "check",
          "The assertion first does not hold: it is 1, and it is wanted to be more than 3.");
    fails(
        "check_http_json",
        "{url: '@/text?no', failOnCheckMiss: true, assertions: [{name: a, query: .a, exists: true}]}",
        "check", "cannot be read");
    fails("check_http_json", "{url: '@/close', failOnCheckMiss: true}", "check",
          "without an answer");
    fails("check_http_json", "{url: '@/hang', requestTimeout: 100ms, failOnCheckMiss: true}",
          "check", "within 100 ms");
    fails("check_http_json", "{url: '@/bytes/1001', maxResponseSize: 1KB, failOnCheckMiss: true}",
          "check", "1000 bytes");
    fails("check_http_json", "{url: '@/bytes/1025', maxResponseSize: 1KiB, failOnCheckMiss: true}",
          "check", "1024 bytes");
}

static void what_can_never_be_asked_fails_at_once(void **state) {
    (void)state;
    fails("check_http_json", "{}\n    configVars: {url: '| \"file:///etc/passwd\"'}", "url",
          "neither http nor https");
}

static void k12_outputs_of_a_check_of_metrics(void **state) {
    (void)state;
    passes(
        "check_http_metrics",
        "{url: '@/metrics', assertions: [{name: ok, metric: http_requests_total, labels: {code: "
        "200}, operator: gt, value: 1000}, {name: up, metric: up, operator: eq, value: 1}, {name: "
        "down, metric: down, operator: eq, missingMetric: pass}]}",
        "{\"passedAssertions\": [\"ok\", \"up\", \"down\"], \"failedAssertions\": null, "
        "\"values\": {\"ok\": 1027, \"up\": 1}, \"deltas\": {}, \"baselines\": {}, "
        "\"scrapeErrors\": 0, \"assertionErrors\": 0}");
    fails("check_http_metrics",
          "{url: '@/text?<html>', failOnCheckMiss: true, assertions: [{name: up, metric: up, "
          "operator: eq}]}",
          "check", "Line 1 of the metrics");
    fails("check_http_metrics",
          "{url: '@/status/201', failOnCheckMiss: true, assertions: [{name: up, metric: up, "
          "operator: eq}]}",
          "check", "status 201");
}

/* ---- the log, and going on ---- */

static Buf said;

static void keep_log(Host *h, const Event *e) {
    (void)h;
    if (e->type != EVENT_LOG) return;
    char *text = json_to_text(json_object_get_c(e->data, "text"));
    buf_adds(&said, text);
    free(text);
}

static void the_same_reason_is_logged_once(void **state) {
    (void)state;
    host.on_event = keep_log;
    passes("check_http_json",
           "{url: '@/nth/log?500:x|500:x|500:x|501:x|200:{}', pollInterval: 10ms}",
           "{\"passedAssertions\": [], \"failedAssertions\": [], \"values\": {}, \"httpStatus\": "
           "200" COUNTS(4, 0, 0));
    assert_int_equal(count_of(said.data, "status 500"), 1);
    assert_int_equal(count_of(said.data, "status 501"), 1);
    buf_clear(&said);
}

static bool result_is(Run *run, int64_t result) {
    Json got = part(run, ".tasks.c.result");
    bool is = json_kind(got) == JSON_NUMBER && json_to_double(got) == (double)result;
    json_unref(got);
    return is;
}

static bool comes_to(Run *run, int64_t result) {
    for (int i = 0; i < 3000 && !result_is(run, result); i++) host_turn(1);
    return result_is(run, result);
}

static void end(Run *run) {
    run_cancel(run);
    host_settle(run);
    run_free(run);
}

static void h1_with_continue_on_pass_the_result_follows_every_poll(void **state) {
    (void)state;
    Run *run = begin("check_http_json",
                     "{url: '@/nth/go?200:{}|500:x|500:x|500:x|500:x|500:x|200:{}', pollInterval: "
                     "30ms, continueOnPass: true}");
    assert_true(comes_to(run, 1));
    assert_true(comes_to(run, 0));
    assert_true(comes_to(run, 1));
    assert_false(run_settled(run));
    Json misses = part(run, ".tasks.c.outputs.responseErrors");
    assert_true(json_to_double(misses) == 5);
    end(run);
}

static void h1_with_fail_on_miss_too_a_miss_ends_it(void **state) {
    (void)state;
    Run *run = begin("check_http_json",
                     "{url: '@/nth/both?200:{}|200:{}|200:{}|500:x|200:{}', pollInterval: 30ms, "
                     "continueOnPass: true, failOnCheckMiss: true}");
    assert_true(comes_to(run, 1));
    host_settle(run);
    expect_failed(run, "check", "status 500");
    run_free(run);
}

static void a_cancelled_check_ends_at_once(void **state) {
    static const char *const configs[] = {"{url: '@/hang', requestTimeout: 1m}",
                                          "{url: '@/status/500', pollInterval: 1h}"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        Run *run = begin("check_http_json", configs[i]);
        host_turn(100);
        uint64_t before = uv_hrtime();
        end(run);
        assert_true((uv_hrtime() - before) / 1000000 < 30000);
    }
}

static void an_engine_that_ends_leaves_nothing(void **state) {
    static const char *const configs[] = {"{url: '@/hang', requestTimeout: 1m}",
                                          "{url: '@/status/500', pollInterval: 1h}"};
    (void)state;
    host_down();
    size_t down = open_descriptors();
    for (size_t i = 0; i < 2; i++) {
        host_up();
        begin("check_http_json", configs[i]);
        host_turn(100);
        assert_true(open_descriptors() > down);
        host_down();
        assert_int_equal(open_descriptors(), down);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(h3_h4_h5_assertions_come_to_what_the_table_says),
        TEST(h3_a_query_has_five_seconds),
        TEST(a_long_value_is_cut_in_the_sentence),
        TEST(h3_assertions_that_are_not_right_are_refused),
        TEST(h6_h7_metrics_come_to_what_the_table_says),
        TEST(k11_outputs_of_a_check_that_passes),
        TEST(h2_without_assertions_the_status_is_enough),
        TEST(k11_h2_bodies_are_sent_as_json_or_as_they_are),
        TEST(k11_statuses_can_be_expected),
        TEST(h1_it_asks_until_it_passes),
        TEST(h1_what_waits_is_asked_again_even_if_misses_fail),
        TEST(a_miss_fails_when_asked_to),
        TEST(what_can_never_be_asked_fails_at_once),
        TEST(k12_outputs_of_a_check_of_metrics),
        TEST(the_same_reason_is_logged_once),
        TEST(h1_with_continue_on_pass_the_result_follows_every_poll),
        TEST(h1_with_fail_on_miss_too_a_miss_ends_it),
        TEST(a_cancelled_check_ends_at_once),
        TEST(an_engine_that_ends_leaves_nothing),
    };
    server_start();
    int failed = RUN_TESTS(tests);
    server_stop();
    return failed;
}
