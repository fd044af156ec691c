/* check_http_json and check_http_metrics in the engine, against tests/http_server.py. */
#include "engine_host.h"

#include "assertion.h"
#include "http_host.h"

/* ---- assertions ---- */

static bool holds(const char *assertion, const char *answer, Buf *why) {
    Error err = ERROR_INIT;
    Assertion a;
    Json object = parse(assertion), value = parse(answer), found = json_none();
    if (!assertion_init(&a, object, &err)) fail_msg("%s", err.msg);
    bool result = assertion_holds(&a, value, &found, why);
    assert_false(json_is_none(found));
    json_unref(found);
    json_unref(object);
    json_unref(value);
    assertion_clear(&a);
    return result;
}

static void yes(const char *assertion, const char *answer) {
    Buf why = BUF_INIT;
    if (!holds(assertion, answer, &why)) fail_msg("%s: %s", assertion, why.data);
    assert_int_equal(why.len, 0);
    buf_clear(&why);
}

static void no(const char *assertion, const char *answer, const char *part) {
    Buf why = BUF_INIT;
    if (holds(assertion, answer, &why)) fail_msg("%s holds of %s", assertion, answer);
    expect_contains(why.data, part);
    assert_int_equal(why.data[why.len - 1], '.');
    buf_clear(&why);
}

static void eq_compares_as_json(void **state) {
    (void)state;
    yes("{\"query\": \".a\", \"value\": 1}", "{\"a\": 1}");
    yes("{\"query\": \".a\", \"operator\": \"eq\", \"value\": [1, {}]}", "{\"a\": [1, {}]}");
    yes("{\"query\": \".a\", \"value\": false}", "{\"a\": false}");
    no("{\"name\": \"the a\", \"query\": \".a\", \"value\": 2}", "{\"a\": 1}",
       "The assertion the a does not hold: it is 1, and it is wanted to be 2.");
    yes("{\"query\": \".a\", \"operator\": \"neq\", \"value\": 2}", "{\"a\": 1}");
    no("{\"query\": \".a\", \"operator\": \"neq\", \"value\": 1}", "{\"a\": 1}", "not to be 1");
}

static void numbers_and_texts_that_read_as_numbers_compare(void **state) {
    (void)state;
    yes("{\"query\": \".a\", \"value\": \"1\"}", "{\"a\": 1.0}");
    yes("{\"query\": \".a\", \"value\": 1}", "{\"a\": \"1.0\"}");
    no("{\"query\": \".a\", \"value\": \"1.10\"}", "{\"a\": \"1.1\"}", "1.1");
    yes("{\"query\": \".a\", \"operator\": \"gt\", \"value\": \"9\"}", "{\"a\": \"10\"}");
    yes("{\"query\": \".a\", \"operator\": \"gte\", \"value\": 10}", "{\"a\": \"10\"}");
    yes("{\"query\": \".a\", \"operator\": \"lt\", \"value\": 10.5}", "{\"a\": 10}");
    yes("{\"query\": \".a\", \"operator\": \"lte\", \"value\": 10}", "{\"a\": 10}");
    no("{\"query\": \".a\", \"operator\": \"gt\", \"value\": 10}", "{\"a\": 10}", "more than 10");
    no("{\"query\": \".a\", \"operator\": \"gte\", \"value\": 10}", "{\"a\": 9}", "at least 10");
    no("{\"query\": \".a\", \"operator\": \"lt\", \"value\": 10}", "{\"a\": 10}", "less than 10");
    no("{\"query\": \".a\", \"operator\": \"lte\", \"value\": 10}", "{\"a\": 11}", "at most 10");
    no("{\"query\": \".a\", \"operator\": \"gt\", \"value\": 9007199254740993}",
       "{\"a\": 9007199254740993}", "more than");
}

static void infinities_order_and_nan_does_not(void **state) {
    (void)state;
    yes("{\"query\": \".a\", \"operator\": \"gt\", \"value\": 1e300}", "{\"a\": \"+Inf\"}");
    yes("{\"query\": \".a\", \"operator\": \"lt\", \"value\": 0}", "{\"a\": \"-Inf\"}");
    no("{\"query\": \".a\", \"operator\": \"gt\", \"value\": 0}", "{\"a\": \"NaN\"}", "NaN");
    no("{\"query\": \".a\", \"operator\": \"lte\", \"value\": 0}", "{\"a\": \"NaN\"}", "NaN");
    no("{\"query\": \".a\", \"value\": \"NaN\"}", "{\"a\": \"NaN\"}", "NaN");
    yes("{\"query\": \".a\", \"operator\": \"neq\", \"value\": 0}", "{\"a\": \"NaN\"}");
}

static void texts_order_by_code_point_and_other_kinds_do_not(void **state) {
    (void)state;
    yes("{\"query\": \".a\", \"operator\": \"gt\", \"value\": \"abc\"}", "{\"a\": \"abd\"}");
    no("{\"query\": \".a\", \"operator\": \"gt\", \"value\": 1}", "{\"a\": [5]}", "[5]");
    no("{\"query\": \".a\", \"operator\": \"lte\", \"value\": 1}", "{\"a\": \"x\"}", "\"x\"");
}

static void contains_looks_in_texts_arrays_and_objects(void **state) {
    (void)state;
    yes("{\"query\": \".a\", \"operator\": \"contains\", \"value\": \"ell\"}",
        "{\"a\": \"hello\"}");
    yes("{\"query\": \".a\", \"operator\": \"contains\", \"value\": 4}", "{\"a\": \"a4b\"}");
    yes("{\"query\": \".a\", \"operator\": \"contains\", \"value\": 2}", "{\"a\": [1, 2]}");
    yes("{\"query\": \".a\", \"operator\": \"contains\", \"value\": \"k\"}", "{\"a\": {\"k\": 1}}");
    no("{\"query\": \".a\", \"operator\": \"contains\", \"value\": \"x\"}", "{\"a\": [\"xy\"]}",
       "to contain \"x\"");
    yes("{\"query\": \".a\", \"operator\": \"not_contains\", \"value\": 3}", "{\"a\": [1, 2]}");
    no("{\"query\": \".a\", \"operator\": \"not_contains\", \"value\": 2}", "{\"a\": [1, 2]}",
       "not to contain 2");
    no("{\"query\": \".a\", \"operator\": \"not_contains\", \"value\": 2}", "{\"a\": 7}", "7");
}

static void what_is_missing_fails_unless_allowed(void **state) {
    (void)state;
    no("{\"query\": \".a\", \"value\": 1}", "{}",
       "its query gives nothing, and it is wanted to be 1");
    no("{\"query\": \"empty\", \"value\": 1}", "{}", "nothing");
    no("{\"query\": \".a\", \"operator\": \"neq\", \"value\": 1}", "{\"a\": null}", "nothing");
    yes("{\"query\": \".a\", \"value\": 1, \"allowMissing\": true}", "{}");
    no("{\"query\": \".a\", \"value\": 1, \"allowMissing\": true}", "{\"a\": 2}", "it is 2");
    yes("{\"query\": \".a\", \"operator\": \"eq\", \"value\": null}", "{}");
    no("{\"query\": \".a\", \"operator\": \"neq\", \"value\": null}", "{}", "it is null");
}

static void exists_asks_whether_there_is_something(void **state) {
    (void)state;
    yes("{\"query\": \".a\", \"exists\": true}", "{\"a\": false}");
    no("{\"query\": \".a\", \"exists\": true}", "{}", "something is wanted");
    yes("{\"query\": \".a\", \"exists\": false}", "{\"a\": null}");
    no("{\"query\": \".a\", \"exists\": false}", "{\"a\": 1}", "gives 1, and nothing is wanted");
    no("{\"query\": \".a\", \"exists\": false, \"allowMissing\": true}", "{\"a\": 1}", "gives 1");
    yes("{\"query\": \".a\", \"exists\": true, \"allowMissing\": true}", "{}");
    yes("{\"query\": \".a\"}", "{\"a\": 1}");
    no("{\"query\": \".a\"}", "{}", "something is wanted");
}

static void a_query_may_lack_its_dot_and_gives_its_first_output(void **state) {
    (void)state;
    yes("{\"query\": \"a.b\", \"value\": 1}", "{\"a\": {\"b\": 1}}");
    yes("{\"query\": \"a[1].b\", \"value\": 1}", "{\"a\": [0, {\"b\": 1}]}");
    yes("{\"query\": \"length\", \"exists\": false}", "{}");
    yes("{\"query\": \". | length\", \"value\": 2}", "[1, 2]");
    yes("{\"query\": \".[]\", \"value\": 1}", "[1, 2]");
}

static void a_query_that_fails_is_a_miss(void **state) {
    (void)state;
    no("{\"query\": \".a.b\", \"value\": 1}", "{\"a\": 1}", "its query fails: ");
}

static void a_long_value_is_cut_in_the_sentence(void **state) {
    (void)state;
    Buf answer = BUF_INIT;
    buf_adds(&answer, "[\"");
    for (int i = 0; i < 500; i++) buf_adds(&answer, "\xc3\xa9");
    buf_adds(&answer, "\"]");
    no("{\"query\": \".[0]\", \"value\": 1}", answer.data,
       "\xc3\xa9..., and it is wanted to be 1.");
    buf_clear(&answer);
}

static void a_query_that_does_not_compile_is_an_error(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    Assertion a;
    Json object = parse("{\"name\": \"n\", \"query\": \".a |\", \"value\": 1}");
    assert_false(assertion_init(&a, object, &err));
    expect_contains(err.msg, "The assertion n: ");
    json_unref(object);
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

static void a_check_passes_with_status_values_and_polls(void **state) {
    (void)state;
    passes("check_http_json",
           "{url: '@/json?{\"a\":{\"b\":5},\"s\":\"up\"}', assertions: [{name: depth, query: .a.b, "
           "operator: gte, value: 5}, {query: s, value: up}]}",
           "{\"status\": 200, \"values\": {\"depth\": 5, \"s\": \"up\"}, \"checks\": 1}");
}

static void without_assertions_the_status_is_enough(void **state) {
    (void)state;
    passes("check_http_json", "{url: '@/text?hello'}",
           "{\"status\": 200, \"values\": {}, \"checks\": 1}");
}

static void method_headers_and_body_are_sent(void **state) {
    (void)state;
    passes(
        "check_http_json",
        "{url: '@/echo', method: PUT, headers: {X-A: b, X-N: 5}, body: {a: 1}, assertions: "
        "[{name: m, query: .method, value: PUT}, {name: h, query: '.headers[\"x-a\"]', value: b}, "
        "{name: n, query: '.headers[\"x-n\"]', value: 5}, {name: b, query: .body, "
        "value: '{\"a\":1}'}, {name: t, query: '.headers[\"content-type\"]', "
        "operator: contains, value: json}]}",
        "{\"status\": 200, \"values\": {\"m\": \"PUT\", \"h\": \"b\", \"n\": \"5\", \"b\": \"{\\\"a\\\":1}\", \"t\": \"application/json\"}, \"checks\": 1}");
}

static void statuses_can_be_expected(void **state) {
    (void)state;
    passes("check_http_json", "{url: '@/status/404', expectStatus: 404}",
           "{\"status\": 404, \"values\": {}, \"checks\": 1}");
    passes("check_http_json", "{url: '@/status/503', expectStatuses: [500, 503]}",
           "{\"status\": 503, \"values\": {}, \"checks\": 1}");
    fails("check_http_json", "{url: '@/status/201', failOnCheckMiss: true}", "check", "status 201");
    fails("check_http_json", "{url: '@/status/200', expectStatus: 404, failOnCheckMiss: true}",
          "check", "status 200");
}

static void it_asks_until_it_passes(void **state) {
    (void)state;
    passes("check_http_json",
           "{url: '@/nth/until?500:x|200:nojson|200:{\"n\":1}|200:{\"n\":2}', pollInterval: 20ms, "
           "assertions: [{query: .n, value: 2}]}",
           "{\"status\": 200, \"values\": {\".n\": 2}, \"checks\": 4}");
}

static void a_miss_fails_when_asked_to(void **state) {
    (void)state;
    fails("check_http_json",
          "{url: '@/json?{\"a\":1}', failOnCheckMiss: true, assertions: [{name: first, query: .a, "
          "operator: gt, value: 3}]}",
          "check",
          "The assertion first does not hold: it is 1, and it is wanted to be more than 3.");
    fails("check_http_json",
          "{url: '@/text?no', failOnCheckMiss: true, assertions: [{query: .a, value: 1}]}", "check",
          "cannot be read");
    fails("check_http_json", "{url: '@/close', failOnCheckMiss: true}", "check",
          "without an answer");
    fails("check_http_json", "{url: '@/hang', requestTimeout: 100ms, failOnCheckMiss: true}",
          "check", "within 100 ms");
    fails("check_http_json", "{url: '@/bytes/2000', maxResponseSize: 1000, failOnCheckMiss: true}",
          "check", "1000 bytes");
}

static void what_can_never_be_asked_fails_at_once(void **state) {
    (void)state;
    fails("check_http_json", "{url: 'file:///etc/passwd'}", "url", "neither http nor https");
}

static void metrics_are_lists_of_series(void **state) {
    (void)state;
    passes(
        "check_http_metrics",
        "{url: '@/metrics', assertions: [{name: ok, query: "
        "'.http_requests_total[] | select(.labels.code == \"200\").value', operator: gt, "
        "value: '1000'}, {name: up, query: 'up[0].value', value: 1}, {query: 'down', "
        "exists: false}]}",
        "{\"status\": 200, \"values\": {\"ok\": 1027, \"up\": 1, \"down\": null}, \"checks\": 1}");
    fails("check_http_metrics",
          "{url: '@/text?<html>', failOnCheckMiss: true, assertions: [{query: up, value: 1}]}",
          "check", "Line 1 of the metrics");
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
           "{\"status\": 200, \"values\": {}, \"checks\": 5}");
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

static void with_continue_on_pass_the_result_follows_every_poll(void **state) {
    (void)state;
    Run *run = begin("check_http_json",
                     "{url: '@/nth/go?200:{}|500:x|500:x|500:x|500:x|500:x|200:{}', pollInterval: "
                     "30ms, continueOnPass: true}");
    assert_true(comes_to(run, 1));
    assert_true(comes_to(run, 0));
    assert_true(comes_to(run, 1));
    assert_false(run_settled(run));
    Json polls = part(run, ".tasks.c.outputs.checks");
    assert_true(json_to_double(polls) >= 7);
    end(run);
}

static void with_fail_on_miss_too_the_result_is_failure_while_it_misses(void **state) {
    (void)state;
    Run *run = begin("check_http_json",
                     "{url: '@/nth/both?200:{}|500:x|500:x|500:x|500:x|500:x|200:{}', "
                     "pollInterval: 30ms, continueOnPass: true, failOnCheckMiss: true}");
    assert_true(comes_to(run, 1));
    assert_true(comes_to(run, 2));
    assert_true(comes_to(run, 1));
    assert_false(run_settled(run));
    end(run);
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
        TEST(eq_compares_as_json),
        TEST(numbers_and_texts_that_read_as_numbers_compare),
        TEST(infinities_order_and_nan_does_not),
        TEST(texts_order_by_code_point_and_other_kinds_do_not),
        TEST(contains_looks_in_texts_arrays_and_objects),
        TEST(what_is_missing_fails_unless_allowed),
        TEST(exists_asks_whether_there_is_something),
        TEST(a_query_may_lack_its_dot_and_gives_its_first_output),
        TEST(a_query_that_fails_is_a_miss),
        TEST(a_long_value_is_cut_in_the_sentence),
        TEST(a_query_that_does_not_compile_is_an_error),
        TEST(a_check_passes_with_status_values_and_polls),
        TEST(without_assertions_the_status_is_enough),
        TEST(method_headers_and_body_are_sent),
        TEST(statuses_can_be_expected),
        TEST(it_asks_until_it_passes),
        TEST(a_miss_fails_when_asked_to),
        TEST(what_can_never_be_asked_fails_at_once),
        TEST(metrics_are_lists_of_series),
        TEST(the_same_reason_is_logged_once),
        TEST(with_continue_on_pass_the_result_follows_every_poll),
        TEST(with_fail_on_miss_too_the_result_is_failure_while_it_misses),
        TEST(a_cancelled_check_ends_at_once),
        TEST(an_engine_that_ends_leaves_nothing),
    };
    server_start();
    int failed = RUN_TESTS(tests);
    server_stop();
    return failed;
}
