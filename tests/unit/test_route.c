/* Requests over HTTP to operations and their arguments, and back. */
#include "route.h"

#include "json_build.h"
#include "json_test.h"
#include "mem.h"

/* The operation that a request comes to, and its arguments; "405 GET, PUT" and "404" otherwise. */
static void expect_request(const char *method, const char *target, const char *body,
                           const char *operation, const char *args) {
    Error err = ERROR_INIT;
    const char *query = strchr(target, '?');
    size_t len = query ? (size_t)(query - target) : strlen(target);
    RouteMatch match = route_find(method, target, len);
    if (!match.route) {
        char what[96];
        snprintf(what, sizeof what, match.allowed[0] ? "405 %s" : "404", match.allowed);
        assert_string_equal(what, operation);
        return;
    }
    Json sent = body ? parse(body) : json_none();
    Json got = route_args(&match, query ? query + 1 : NULL, sent, &err);
    if (json_is_none(got)) {
        assert_string_equal(err.msg, args);
    } else {
        assert_string_equal(route_operation(match.route)->name, operation);
        expect_json(got, args);
    }
    json_unref(got);
    json_unref(sent);
}

static void arguments_come_from_path_query_and_body(void **state) {
    (void)state;
    expect_request("GET", "/runs/a%20b/state?path=.user.name", NULL, "run_state",
                   "{\"thread\":\"a b\",\"path\":\".user.name\"}");
    expect_request("GET", "/runs/t/state?path=%5B%22a%22,0%5D&checkpoint=3", NULL, "run_state",
                   "{\"thread\":\"t\",\"path\":[\"a\",0],\"checkpoint\":3}");
    expect_request("POST", "/debug/t/step", "{\"kind\": \"over\"}", "step",
                   "{\"thread\":\"t\",\"kind\":\"over\"}");
    expect_request("GET", "/runs?status=failed&limit=5", NULL, "runs",
                   "{\"status\":\"failed\",\"limit\":5}");
    expect_request("GET", "/runs/17?state", NULL, "run_get", "{\"thread\":\"17\",\"state\":true}");
    expect_request(
        "GET", "/runs/t/events?types=node,step&types=log&from=12&values=true", NULL, "run_events",
        "{\"thread\":\"t\",\"types\":[\"node\",\"step\",\"log\"],\"from\":12,\"values\":true}");
}

static void breakpoints_have_the_words_of_others(void **state) {
    (void)state;
    expect_request("POST", "/debug/t/breakpoints", "{\"node_id\": \"a\", \"position\": \"after\"}",
                   "breakpoint_set", "{\"thread\":\"t\",\"node\":\"a\",\"position\":\"after\"}");
    expect_request(
        "POST", "/debug/t/breakpoints",
        "{\"type\": \"state\", \"stateKey\": \"a.b\", \"state_value\": 7}", "breakpoint_set",
        "{\"thread\":\"t\",\"type\":\"state\",\"state\":{\"path\":[\"a.b\"],\"equals\":7}}");
    expect_request(
        "POST", "/runs",
        "{\"workflow\": \"w\", \"debug\": {\"breakpoints\": [{\"nodeId\": \"a\"}, {\"state_key\": \"n\", "
        "\"state_value\": null}]}}",
        "run_start",
        "{\"workflow\":\"w\",\"debug\":{\"breakpoints\":[{\"node\":\"a\"},{\"state\":{\"path\":[\"n\"],"
        "\"equals\":null}}]}}");
}

static void messages_have_the_same_names(void **state) {
    Error err = ERROR_INIT;
    (void)state;
    Json data = parse("{\"frameId\": 0, \"mode\": \"into\"}");
    expect_gives(route_named_args(operation_find("step", NULL), NULL, data, &err),
                 "{\"kind\":\"into\"}");
    expect_gives(route_named_args(operation_find("continue", NULL), NULL, data, &err),
                 "{\"frame\":\"all\",\"mode\":\"into\"}");
    expect_gives(route_named_args(operation_find("step", NULL), "{\"kind\":\"over\"}", data, &err),
                 "(none)");
    assert_string_equal(err.msg, "`kind` of `step` is given twice.");
    expect_gives(route_named_args(operation_find("runs", NULL), NULL, json_none(), &err), "{}");
    json_unref(data);
}

static void a_name_in_a_path_may_hold_what_ends_a_path_elsewhere(void **state) {
    (void)state;
    expect_request("GET", "/runs/a%3Fb%23c", NULL, "run_get", "{\"thread\":\"a?b#c\"}");
    expect_request("PUT", "/debug/#", "{}", "configure", "{\"thread\":\"#\"}");
}

static void a_literal_path_goes_before_a_name(void **state) {
    (void)state;
    expect_request("GET", "/runs/compare?thread=a&other=b", NULL, "run_compare",
                   "{\"thread\":\"a\",\"other\":\"b\"}");
    expect_request("GET", "/threads/compare", NULL, "run_get", "{\"thread\":\"compare\"}");
}

static void a_path_with_other_methods_names_them(void **state) {
    (void)state;
    expect_request("PATCH", "/runs", NULL, "405 POST, GET", NULL);
    expect_request("GET", "/nowhere", NULL, "404", NULL);
    expect_request("GET", "/", NULL, "404", NULL);
    expect_request("GET", "", NULL, "404", NULL);
    expect_request("GET", "/runs/a/b/c/d/e/f/g/h/i/j/k", NULL, "404", NULL);
    expect_request("GET", "/runs//state", NULL, "404", NULL);
}

static void what_is_no_text_is_refused(void **state) {
    (void)state;
    expect_request("GET", "/runs/a%zz", NULL, "run_get",
                   "The path of the request is no text: percent-encoded UTF-8 is expected.");
    expect_request("GET", "/runs/a%00b", NULL, "run_get",
                   "The path of the request is no text: percent-encoded UTF-8 is expected.");
    expect_request("GET", "/runs/a%", NULL, "run_get",
                   "The path of the request is no text: percent-encoded UTF-8 is expected.");
    expect_request("GET", "/runs?status=%ff", NULL, "runs",
                   "The query of the request is no text: percent-encoded UTF-8 is expected.");
    expect_request("GET", "/runs?limit=1&limit=2", NULL, "runs",
                   "`limit` of `runs` is given twice.");
    expect_request("POST", "/runs/t/cancel", "[1]", "run_cancel",
                   "The body of a request is an object, {...}.");
    expect_request("POST", "/runs/t/cancel", "{\"thread\": \"u\"}", "run_cancel",
                   "`thread` of `run_cancel` is given twice.");
}

static void what_does_not_read_as_its_type_stays_text(void **state) {
    (void)state;
    expect_request("GET", "/runs?limit=many", NULL, "runs", "{\"limit\":\"many\"}");
    expect_request("GET", "/runs/t?state=perhaps", NULL, "run_get",
                   "{\"thread\":\"t\",\"state\":\"perhaps\"}");
}

static void names_in_camel_case_are_folded(void **state) {
    (void)state;
    expect_request("POST", "/debug/t/breakpoints",
                   "{\"taskName\": \"a\", \"hitCondition\": \">2\"}", "breakpoint_set",
                   "{\"thread\":\"t\",\"task_name\":\"a\",\"hit_condition\":\">2\"}");
    expect_request("POST", "/runs",
                   "{\"debug\": {\"pauseOnStart\": true, \"breakpoints\": [{\"taskIndex\": 2, "
                   "\"state\": {\"someKey\": 1}}]}}",
                   "run_start",
                   "{\"debug\":{\"pause_on_start\":true,\"breakpoints\":[{\"task_index\":2,"
                   "\"state\":{\"someKey\":1}}]}}");
    /* what people call things in their states is theirs */
    expect_request("POST", "/runs", "{\"input\": {\"camelCase\": 1}}", "run_start",
                   "{\"input\":{\"camelCase\":1}}");
}

static void the_words_of_the_documents_are_known(void **state) {
    (void)state;
    expect_request("POST", "/test_runs/schedule_debug",
                   "{\"testId\": \"t\", \"config\": {\"a\": 1}, \"pauseOnStart\": true, "
                   "\"breakpoints\": [{\"taskName\": \"x\"}]}",
                   "run_start",
                   "{\"debug\":{\"pause_on_start\":true,\"breakpoints\":[{\"task_name\":\"x\"}]},"
                   "\"workflow\":\"t\",\"input\":{\"a\":1}}");
    expect_request("POST", "/debug/t/continue", "{\"frameId\": 0}", "continue",
                   "{\"thread\":\"t\",\"frame\":\"all\"}");
    expect_request("POST", "/debug/t/step", "{\"frameId\": 3, \"mode\": \"into\"}", "step",
                   "{\"thread\":\"t\",\"frame\":3,\"kind\":\"into\"}");
    expect_request(
        "POST", "/debug/t/frames/2/inject-task",
        "{\"task\": {\"name\": \"sleep\"}, \"insertMode\": \"after_current\"}", "inject",
        "{\"thread\":\"t\",\"frame\":2,\"node\":{\"name\":\"sleep\"},\"where\":\"after\"}");
    expect_request("POST", "/debug/t/frames/2/variables", "{\"name\": \"a.b\", \"value\": 1}",
                   "set", "{\"thread\":\"t\",\"frame\":2,\"path\":[\"a.b\"],\"value\":1}");
    expect_request("DELETE", "/debug/t/frames/2/variables/a.b", NULL, "revoke",
                   "{\"thread\":\"t\",\"frame\":2,\"path\":[\"a.b\"]}");
    expect_request("GET", "/debug/t/events", NULL, "run_events",
                   "{\"attach\":true,\"thread\":\"t\"}");
}

/* A value for an argument that is in the way of a careless encoding. */
static Json sample(const OperationArg *a) {
    if (a->words) return json_string_c(a->words[0]);
    switch (a->type) {
    case ARG_INT:
    case ARG_FRAME:
    case ARG_FRAMES: return json_int(a->min > 7 ? a->min : 7);
    case ARG_NUMBER: return json_double(2.5);
    case ARG_BOOL: return json_bool(true);
    case ARG_PATH: return parse("[\"a b\", 0, \"&=%+/?\"]");
    case ARG_ARRAY: return parse("[\"a,b\", \"\\u00e4\"]");
    case ARG_OBJECT: return parse("{\"k\": [1, null, \"x&y\"]}");
    case ARG_ANY: return json_string_c("12"); /* a text, not the number */
    default: return json_string_c("a/b c?&=%+#\xc3\xa4");
    }
}

static void what_a_client_writes_a_server_reads(void **state) {
    (void)state;
    size_t n = 0;
    for (const Operation *op = operation_next(NULL); op; op = operation_next(op)) {
        Json args =
            op->route && strstr(op->route, "{thread}")
                ? json_object_with(json_object(), "thread", json_string_c("a/b \xf0\x9f\x98\x80"))
                : json_object();
        for (const OperationArg *a = op->args; a && a->name; a++) {
            if (json_is_none(json_object_get_c(args, a->name))) {
                args = json_object_with(args, a->name, sample(a));
            }
        }
        RouteRequest request;
        if (!op->route) {
            assert_false(route_request(op, args, &request));
            json_unref(args);
            continue;
        }
        assert_true(route_request(op, args, &request));
        char *body = json_is_none(request.body) ? NULL : json_to_text(request.body);
        RouteMatch match =
            route_find(request.method, request.target.data, strcspn(request.target.data, "?"));
        assert_non_null(match.route);
        assert_string_equal(route_operation(match.route)->name, op->name);
        const char *query = strchr(request.target.data, '?');
        Error err = ERROR_INIT;
        Json back = route_args(&match, query ? query + 1 : NULL, request.body, &err);
        if (json_is_none(back)) fail_msg("%s %s: %s", op->name, request.target.data, err.msg);
        if (!json_equal(back, args)) {
            fail_msg("%s: %s became %s", op->name, json_to_text(args), json_to_text(back));
        }
        json_unref(back);
        json_unref(args);
        json_unref(request.body);
        buf_clear(&request.target);
        mem_free(body);
        n++;
    }
    assert_true(n > 50);
}

static void no_two_operations_have_one_route(void **state) {
    (void)state;
    for (const Route *a = route_next(NULL); a; a = route_next(a)) {
        for (const Route *b = route_next(a); b; b = route_next(b)) {
            if (!strcmp(route_text(a), route_text(b))) fail_msg("twice: %s", route_text(a));
        }
    }
}

static void the_text_of_a_query_is_decoded(void **state) {
    (void)state;
    char *text = route_query_text("a=1&token=x%20y+z&b", "token");
    assert_string_equal(text, "x y z");
    mem_free(text);
    assert_null(route_query_text("a=1", "token"));
    assert_null(route_query_text("token=%00", "token"));
    assert_null(route_query_text(NULL, "token"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_come_from_path_query_and_body),
        cmocka_unit_test(breakpoints_have_the_words_of_others),
        cmocka_unit_test(messages_have_the_same_names),
        cmocka_unit_test(a_name_in_a_path_may_hold_what_ends_a_path_elsewhere),
        cmocka_unit_test(a_literal_path_goes_before_a_name),
        cmocka_unit_test(a_path_with_other_methods_names_them),
        cmocka_unit_test(what_is_no_text_is_refused),
        cmocka_unit_test(what_does_not_read_as_its_type_stays_text),
        cmocka_unit_test(names_in_camel_case_are_folded),
        cmocka_unit_test(the_words_of_the_documents_are_known),
        cmocka_unit_test(what_a_client_writes_a_server_reads),
        cmocka_unit_test(no_two_operations_have_one_route),
        cmocka_unit_test(the_text_of_a_query_is_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
