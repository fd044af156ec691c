/* http nodes in the engine, against tests/http_server.py. */
#include "engine_host.h"

#include "http_host.h"

/* A workflow of one node, `ask`, with these lines below it; @ before a slash stands for the server. */
static Flow *node_flow(const char *lines) {
    Buf yaml = BUF_INIT;
    buf_adds(&yaml, "name: t\nnodes:\n  - name: ask\n    output: got\n");
    for (const char *line = lines; *line;) {
        size_t len = strcspn(line, "\n");
        buf_adds(&yaml, "    ");
        for (size_t i = 0; i < len; i++) {
            if (line[i] == '@' && line[i + 1] == '/') {
                buf_printf(&yaml, "http://127.0.0.1:%d", server.http);
            } else {
                buf_addc(&yaml, line[i]);
            }
        }
        buf_addc(&yaml, '\n');
        line += len + (line[len] == '\n');
    }
    Flow *flow = host_flow(yaml.data);
    buf_clear(&yaml);
    return flow;
}

static Run *begin(const char *lines, const char *input) {
    static int threads;
    char thread[20];
    Flow *flow = node_flow(lines);
    snprintf(thread, sizeof thread, "t%d", threads++);
    RunStart start = {.thread = thread, .input = parse(input)};
    host.settled = 0;
    host.checkpoint = 0;
    Run *run = engine_start_now(host.engine, flow, &start, &host.err);
    json_unref(start.input);
    flow_unref(flow);
    if (!run) fail_msg("%s", host.err.msg);
    return run;
}

static Run *ask(const char *lines) {
    Run *run = begin(lines, "{\"word\": \"w\", \"n\": 7}");
    host_settle(run);
    return run;
}

/* What the query says of the state; the run has to have succeeded. */
static void gives(const char *lines, const char *query, const char *want) {
    Error err = ERROR_INIT;
    Run *run = ask(lines);
    expect_run(run, "completed", NULL);
    Json got = jq_eval(query, run_state(run), NULL, &err);
    if (err.code) fail_msg("%s", err.msg);
    expect_json(got, want);
    json_unref(got);
    run_free(run);
}

static void fails(const char *lines, const char *kind, const char *part) {
    Run *run = ask(lines);
    expect_failed(run, kind, part);
    run_free(run);
}

/* ---- what is sent ---- */

static void the_url_is_a_template(void **state) {
    (void)state;
    gives("http: '@/json?\"\\(.word)\\(.n)\"'", ".got.body", "\"w7\"");
}

static void without_a_body_it_is_get_with_one_post(void **state) {
    (void)state;
    gives("http: '@/echo'", ".got.body.method", "\"GET\"");
    gives("http: '@/echo'\nbody: '{n}'", ".got.body.method", "\"POST\"");
    gives("http: '@/echo'\nmethod: DELETE", ".got.body.method", "\"DELETE\"");
}

static void a_json_body_says_that_it_is(void **state) {
    (void)state;
    gives("http: '@/echo'\nbody: '{n}'", ".got.body | [.body, .headers[\"content-type\"]]",
          "[\"{\\\"n\\\":7}\", \"application/json\"]");
    gives("http: '@/echo'\nbody: '{n}'\nheaders: {Content-Type: '\"application/x\"'}",
          ".got.body.headers[\"content-type\"]", "\"application/x\"");
}

static void a_text_is_sent_as_it_is(void **state) {
    (void)state;
    gives("http: '@/echo'\nbody: .word", ".got.body | [.body, .headers[\"content-type\"]]",
          "[\"w\", null]");
}

static void null_is_no_body_and_no_header(void **state) {
    (void)state;
    gives("http: '@/echo'\nbody: .missing\nheaders: {X-A: .missing, X-N: .n}",
          ".got.body | [.method, .headers[\"x-a\"], .headers[\"x-n\"]]", "[\"GET\", null, \"7\"]");
}

/* ---- what comes back ---- */

static void the_result_is_status_headers_and_body(void **state) {
    (void)state;
    gives("http: '@/json?{\"a\":1}'", ".got | [.status, .headers[\"content-type\"], .body, length]",
          "[200, \"application/json\", {\"a\": 1}, 3]");
}

static void headers_that_come_twice_are_joined(void **state) {
    (void)state;
    gives("http: '@/cookie'", ".got.headers | [.[\"x-twice\"], .[\"set-cookie\"], .[\"x-empty\"]]",
          "[\"one, two\", \"a=1; Expires=Thu, 01 Jan 2026\\nb=2\", \"\"]");
}

static void text_stays_text_unless_it_is_to_be_parsed(void **state) {
    (void)state;
    gives("http: '@/text?[1]'", ".got.body", "\"[1]\"");
    gives("http: '@/text?[1]'\nparse: json", ".got.body", "[1]");
    gives("http: '@/json?[1]'\nparse: text", ".got.body", "\"[1]\"");
}

static void bytes_that_are_not_utf8_are_replaced(void **state) {
    (void)state;
    gives("http: '@/text?a%C3%A9b'", ".got.body",
          "\"a\xef\xbf\xbd"
          "b\"");
}

static void an_empty_body_of_json_is_null(void **state) {
    (void)state;
    gives("http: '@/json?'", ".got.body", "null");
    gives("http: '@/json?1'\nmethod: HEAD", ".got.body", "null");
}

static void the_result_can_be_merged_without_output(void **state) {
    (void)state;
    Flow *flow = NULL;
    char yaml[300];
    snprintf(yaml, sizeof yaml, "name: t\nnodes:\n  - name: a\n    http: %s\n", at("/json?[1]"));
    flow = host_flow(yaml);
    Run *run = engine_start_now(host.engine, flow, &(RunStart){.thread = "t"}, &host.err);
    flow_unref(flow);
    host_settle(run);
    expect_run(run, "completed", NULL);
    expect_json(json_object_get_c(run_state(run), "body"), "[1]");
}

/* ---- failures ---- */

static void a_status_that_is_not_expected_fails(void **state) {
    (void)state;
    Run *run = ask("http: '@/status/404?key=secret'");
    expect_failed(run, "http", "answered 404, which is not expected: status 404");
    assert_null(strstr(run_error_text(run, "message"), "secret"));
    assert_int_equal(run_error_int(run, "status"), 404);
    assert_string_equal(run_error_text(run, "body"), "status 404");
    assert_int_equal(json_kind(json_object_get_c(run_error(run), "headers")), JSON_OBJECT);
}

static void the_body_in_an_error_is_cut(void **state) {
    (void)state;
    Run *run = ask("http: '@/bytes/5000'\nexpect: [404]");
    expect_failed(run, "http", "answered 200");
    assert_int_equal(json_string_len(json_object_get_c(run_error(run), "body")), 2048);
}

static void statuses_can_be_expected(void **state) {
    (void)state;
    gives("http: '@/status/404'\nexpect: [200, 404]", ".got.status", "404");
    gives("http: '@/status/503'\nexpect: 503", ".got.status", "503");
    fails("http: '@/status/200'\nexpect: 404", "http", "answered 200");
}

static void what_is_not_json_is_a_parse_error(void **state) {
    (void)state;
    fails("http: '@/json?nope'", "parse", "not JSON");
    fails("http: '@/text?nope'\nparse: json", "parse", "parse: text");
}

static void every_way_to_fail_has_its_kind(void **state) {
    (void)state;
    fails("http: '@/hang'\nrequest_timeout: 100ms", "timeout", "100 ms");
    fails("http: '@/close'", "connect", "closed");
    fails("http: '@/bytes/2000'\nmax_response: 1000", "limit", "1000 bytes");
    fails("http: '\\(\"file\"):///etc/passwd'", "url", "neither http nor https");
    fails("http: '@/to/302?file:///etc/passwd'", "url", "redirects to");
    fails("http: '@/echo'\nheaders: {X-A: '\"a\\nb\"'}", "url", "line break");
    fails("http: '@/echo'\nheaders: {X-A: '\"a\\u0000b\"'}", "url", "NUL");
    fails("http: '@/echo'\nbody: 'error(\"no\")'", "jq", "body");
}

static void redirects_are_followed_as_far_as_asked(void **state) {
    (void)state;
    gives("http: '@/redirect/5'", ".got.status", "200");
    gives("http: '@/redirect/1'\nredirects: 0\nexpect: 302", ".got.headers.location", "\"/echo\"");
    fails("http: '@/redirect/3'\nredirects: 2", "connect", "after 2 redirects");
}

static void certificates_are_checked(void **state) {
    char lines[300];
    (void)state;
    snprintf(lines, sizeof lines, "http: https://127.0.0.1:%d/echo", server.https);
    fails(lines, "tls", "certificate");
    snprintf(lines, sizeof lines, "http: https://127.0.0.1:%d/echo\nca_file: %s", server.https,
             server.ca);
    gives(lines, ".got.status", "200");
    snprintf(lines, sizeof lines, "http: https://127.0.0.1:%d/echo\ninsecure: true", server.https);
    gives(lines, ".got.status", "200");
}

/* ---- in the engine ---- */

static void a_retry_policy_asks_again(void **state) {
    (void)state;
    gives("http: '@/nth/retry?503:\"no\"|500:\"no\"|200:\"yes\"'\n"
          "retry: {attempts: 3, delay: 10ms, if: '.error.status >= 500'}",
          ".got.body", "\"yes\"");
    fails("http: '@/nth/retry2?404:1|200:2'\n"
          "retry: {attempts: 3, delay: 10ms, if: '.error.status >= 500'}",
          "http", "404");
}

static void the_nodes_timeout_ends_it(void **state) {
    (void)state;
    fails("http: '@/hang'\ntimeout: 100ms", "timeout", "");
}

static void a_cancelled_run_ends_its_request(void **state) {
    (void)state;
    Run *run = begin("http: '@/hang'", "{}");
    host_turn(50);
    uint64_t before = uv_hrtime();
    run_cancel(run);
    host_go();
    assert_true(run_settled(run));
    assert_true((uv_hrtime() - before) / 1000000 < 30000);
}

static Buf said;

static void keep_log(Host *h, const Event *e) {
    (void)h;
    if (e->type != EVENT_LOG) return;
    char *text = json_to_text(json_object_get_c(e->data, "text"));
    buf_adds(&said, text);
    free(text);
}

static void the_log_has_a_line_a_request_without_secrets(void **state) {
    char lines[200];
    (void)state;
    host.on_event = keep_log;
    snprintf(lines, sizeof lines, "http: http://user:pass@127.0.0.1:%d/auth?key=secret",
             server.http);
    gives(lines, ".got.status", "200");
    expect_contains(said.data, "GET http://127.0.0.1");
    expect_contains(said.data, "/auth?... 200, 2 bytes, ");
    assert_null(strstr(said.data, "secret"));
    assert_null(strstr(said.data, "pass"));
    buf_clear(&said);
}

static void requests_of_parallel_branches_run_at_once(void **state) {
    char yaml[400];
    (void)state;
    snprintf(
        yaml, sizeof yaml,
        "name: t\nnodes:\n  - name: all\n    output: got\n    map: {over: '[range(50)]', as: i, "
        "limit: 50}\n    do: {http: '%s'}\n",
        at("/slow/1000"));
    uint64_t before = uv_hrtime();
    Run *run = host_start(yaml, "t", "{}");
    host_settle(run);
    expect_run(run, "completed", NULL);
    assert_int_equal(json_array_len(json_object_get_c(run_state(run), "got")), 50);
    assert_true((uv_hrtime() - before) / 1000000 < 30000);
}

static void an_engine_that_ends_leaves_nothing(void **state) {
    (void)state;
    size_t before = open_descriptors();
    host_down();
    size_t down = open_descriptors();
    host_up();
    begin("http: '@/hang'", "{}");
    host_turn(50);
    assert_true(open_descriptors() > before);
    host_down();
    assert_int_equal(open_descriptors(), down);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_url_is_a_template),
        TEST(without_a_body_it_is_get_with_one_post),
        TEST(a_json_body_says_that_it_is),
        TEST(a_text_is_sent_as_it_is),
        TEST(null_is_no_body_and_no_header),
        TEST(the_result_is_status_headers_and_body),
        TEST(headers_that_come_twice_are_joined),
        TEST(text_stays_text_unless_it_is_to_be_parsed),
        TEST(bytes_that_are_not_utf8_are_replaced),
        TEST(an_empty_body_of_json_is_null),
        TEST(the_result_can_be_merged_without_output),
        TEST(a_status_that_is_not_expected_fails),
        TEST(the_body_in_an_error_is_cut),
        TEST(statuses_can_be_expected),
        TEST(what_is_not_json_is_a_parse_error),
        TEST(every_way_to_fail_has_its_kind),
        TEST(redirects_are_followed_as_far_as_asked),
        TEST(certificates_are_checked),
        TEST(a_retry_policy_asks_again),
        TEST(the_nodes_timeout_ends_it),
        TEST(a_cancelled_run_ends_its_request),
        TEST(the_log_has_a_line_a_request_without_secrets),
        TEST(requests_of_parallel_branches_run_at_once),
        TEST(an_engine_that_ends_leaves_nothing),
    };
    server_start();
    int failed = RUN_TESTS(tests);
    server_stop();
    return failed;
}
