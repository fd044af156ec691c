/* Arguments of debug operations: what a row of the table lets pass, what it says otherwise, and
 * that the table itself is in order. */
#include "args.h"
#include "session_api.h"
#include "things.h"

#include "json_test.h"
#include "mem.h"

static void expect_passes(const char *operation, const char *args) {
    Error err = ERROR_INIT;
    Json given = parse(args);
    if (!args_check(operation_find(operation, &err), given, &err)) {
        fail_msg("%s %s: %s", operation, args, err.msg);
    }
    assert_int_equal(err.code, ERR_NONE);
    json_unref(given);
}

static void expect_refused(const char *operation, const char *args, const char *sentence) {
    Error err = ERROR_INIT;
    Json given = parse(args);
    assert_false(args_check(operation_find(operation, NULL), given, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_string_equal(err.msg, sentence);
    json_unref(given);
}

/* ---- operations ---- */

static void an_unknown_operation_names_the_nearest(void **state) {
    Error err = ERROR_INIT;
    (void)state;
    assert_non_null(operation_find("step", &err));
    assert_null(operation_find("stpe", &err));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_string_equal(err.msg, "There is no operation `stpe`; did you mean `step`?");
    assert_null(operation_find("xyzzy", &err));
    assert_string_equal(err.msg, "There is no operation `xyzzy`.");
    assert_null(operation_find("", &err));
    assert_null(operation_find("st\x1b[2Jep", &err));
    assert_null(strchr(err.msg, '\x1b'));
}

static void arguments_must_be_an_object(void **state) {
    (void)state;
    expect_refused("step", "[1]", "The arguments of `step` must be an object, not an array.");
    expect_refused("step", "null", "The arguments of `step` must be an object, not null.");
    expect_refused("step", "\"over\"", "The arguments of `step` must be an object, not \"over\".");
}

/* ---- names ---- */

static void an_extra_argument_names_the_nearest(void **state) {
    (void)state;
    expect_refused("step", "{\"knd\": \"over\"}",
                   "`step` takes no argument `knd`; did you mean `kind`?");
    expect_refused("breakpoint_set", "{\"conditon\": \".x\"}",
                   "`breakpoint_set` takes no argument `conditon`; did you mean `condition`?");
    expect_refused("step", "{\"kind\": \"over\", \"colour\": 1}",
                   "`step` takes no argument `colour`; it takes `kind`, `count` and `frame`.");
    expect_refused("session", "{\"x\": 1}", "`session` takes no arguments, but was given `x`.");
}

static void a_missing_argument_is_named_with_what_it_is(void **state) {
    (void)state;
    expect_refused("step", "{}", "`step` needs `kind` (how far): \"over\", \"into\" or \"out\".");
    expect_refused("watch_add", "{}",
                   "`watch_add` needs `expression` (jq, evaluated at each pause): a string.");
    expect_refused("set", "{\"path\": \".a\"}", "`set` needs `value` (what it is to be): a value.");
    expect_refused(
        "inject_remove", "{}",
        "`inject_remove` needs `id` (of the injected node): a whole number of at least 1.");
}

static void one_of_several_must_be_there(void **state) {
    (void)state;
    expect_refused("revoke", "{}", "`revoke` needs one of `id`, `path` and `all`.");
    expect_refused("revoke", "{\"all\": false}", "`revoke` needs one of `id`, `path` and `all`.");
    expect_refused("revoke", "{\"all\": true, \"id\": 1}",
                   "`revoke` takes only one of `id`, `path` and `all` at a time.");
    expect_refused(
        "breakpoint_delete", "{\"id\": 1, \"group\": \"g\"}",
        "`breakpoint_delete` takes only one of `id`, `ids`, `group` and `all` at a time.");
    expect_passes("revoke", "{\"all\": true}");
    expect_passes("revoke", "{\"all\": false, \"id\": 1}");
    expect_passes("goto", "{\"node\": \"build\", \"frame\": 2}");
    expect_passes("goto", "{\"checkpoint\": 7}");
}

/* ---- types ---- */

static void a_wrong_type_is_named_with_what_was_given(void **state) {
    (void)state;
    expect_refused("step", "{\"kind\": 5}",
                   "`kind` of `step` must be \"over\", \"into\" or \"out\", not 5.");
    expect_refused("step", "{\"kind\": \"sideways\"}",
                   "`kind` of `step` must be \"over\", \"into\" or \"out\", not \"sideways\".");
    expect_refused("evaluate", "{\"expression\": [1]}",
                   "`expression` of `evaluate` must be a string, not an array.");
    expect_refused("history", "{\"all\": \"yes\"}",
                   "`all` of `history` must be true or false, not \"yes\".");
    expect_refused("inject", "{\"node\": \"jq\"}",
                   "`node` of `inject` must be an object, not \"jq\".");
    expect_refused("breakpoint_delete", "{\"ids\": 3}",
                   "`ids` of `breakpoint_delete` must be an array, not 3.");
    expect_refused("variables", "{\"path\": 3}",
                   "`path` of `variables` must be a path, like \".a[0].b\" or [\"a\", 0, \"b\"], "
                   "not 3.");
}

static void frames_are_whole_positive_numbers(void **state) {
    (void)state;
    expect_passes("step", "{\"kind\": \"into\", \"frame\": 3}");
    expect_passes("step", "{\"kind\": \"into\", \"frame\": 3.0}");
    expect_refused("node", "{\"frame\": 0}",
                   "`frame` of `node` must be the number of a frame, not 0.");
    expect_refused("node", "{\"frame\": 1.5}",
                   "`frame` of `node` must be the number of a frame, not 1.5.");
    expect_refused("node", "{\"frame\": 1e300}",
                   "`frame` of `node` must be the number of a frame, not 1E+300.");
    expect_refused("node", "{\"frame\": null}",
                   "`frame` of `node` must be the number of a frame, not null.");
}

static void all_frames_only_where_the_row_says_so(void **state) {
    (void)state;
    expect_passes("continue", "{\"frame\": \"all\"}");
    expect_passes("pause", "{\"frame\": \"all\"}");
    expect_refused(
        "continue", "{\"frame\": \"every\"}",
        "`frame` of `continue` must be the number of a frame, \"selected\" or \"all\", not \"every\".");
    expect_refused("step", "{\"kind\": \"over\", \"frame\": \"all\"}",
                   "`frame` of `step` must be the number of a frame, not \"all\".");
}

static void numbers_have_bounds(void **state) {
    (void)state;
    expect_passes("search", "{\"text\": \"x\", \"limit\": 10000}");
    expect_refused("search", "{\"text\": \"x\", \"limit\": 10001}",
                   "`limit` of `search` must be a whole number from 1 to 10000, not 10001.");
    expect_refused("search", "{\"text\": \"x\", \"limit\": 0}",
                   "`limit` of `search` must be a whole number from 1 to 10000, not 0.");
    expect_refused("variables", "{\"offset\": -1}",
                   "`offset` of `variables` must be a whole number of at least 0, not -1.");
    expect_refused("variables", "{\"offset\": 99999999999999999999}",
                   "`offset` of `variables` must be a whole number of at least 0, not "
                   "99999999999999999999.");
    expect_passes("configure", "{\"idle_limit\": 0}");
    expect_passes("configure", "{\"idle_limit\": 0.5}");
    expect_refused("configure", "{\"idle_limit\": 1e12}",
                   "`idle_limit` of `configure` must be a number from 0 to 315360000, not 1E+12.");
}

static void a_null_takes_fields_of_a_breakpoint_away(void **state) {
    (void)state;
    expect_passes("breakpoint_change", "{\"id\": 1, \"condition\": null, \"ignore_count\": null}");
    expect_refused("breakpoint_change", "{\"id\": null}",
                   "`id` of `breakpoint_change` must be a whole number of at least 1, not null.");
    expect_refused("breakpoint_set", "{\"condition\": null}",
                   "`condition` of `breakpoint_set` must be a string, not null.");
    expect_refused("breakpoint_change", "{\"id\": 1, \"condition\": 3}",
                   "`condition` of `breakpoint_change` must be a string (or null), not 3.");
}

static void text_has_no_nul(void **state) {
    (void)state;
    expect_refused("goto", "{\"node\": \"a\\u0000b\"}",
                   "`node` of `goto` must be a string, not \"a\\u0000b\".");
}

static void any_value_is_a_value(void **state) {
    (void)state;
    expect_passes("set", "{\"path\": [\"a\", 0], \"value\": null}");
    expect_passes("set", "{\"path\": \".a\", \"value\": false}");
    expect_passes("skip", "{\"output\": {\"x\": [1]}}");
    expect_passes("answer", "{\"value\": null}");
}

static void long_values_and_names_are_cut(void **state) {
    Error err = ERROR_INIT;
    Buf text = BUF_INIT;
    (void)state;
    buf_adds(&text, "{\"");
    for (int i = 0; i < 100000; i++) {
        buf_addc(&text, 'x');
    }
    buf_adds(&text, "\": 1}");
    Json given = parse(text.data);
    assert_false(args_check(operation_find("step", NULL), given, &err));
    expect_contains(err.msg, "...`; it takes `kind`, `count` and `frame`.");
    json_unref(given);
    buf_clear(&text);
}

/* ---- reading ---- */

static void what_is_left_out_is_what_otherwise_says(void **state) {
    Json args = parse("{}");
    (void)state;
    assert_int_equal(args_int(args, "count", 1), 1);
    assert_int_equal(args_size(args, "limit", 100), 100);
    assert_true(args_number(args, "seconds", 2.5) == 2.5);
    assert_true(args_bool(args, "all", true));
    assert_null(json_object_text(args, "node"));
    assert_int_equal(args_word(args, "kind", (const char *const[]){"a", NULL}, 7), 7);
    assert_int_equal(args_frame_id(args), 0);
    assert_false(args_all_frames(args));
    assert_false(args_has(args, "frame"));
    json_unref(args);
}

static void what_is_there_is_read(void **state) {
    Json args = parse("{\"count\": 3.0, \"limit\": 7, \"seconds\": 1, \"all\": false, \"node\": "
                      "\"a much longer name\", \"kind\": \"b\", \"frame\": \"all\"}");
    (void)state;
    assert_int_equal(args_int(args, "count", 1), 3);
    assert_int_equal(args_size(args, "limit", 100), 7);
    assert_true(args_number(args, "seconds", 2.5) == 1);
    assert_false(args_bool(args, "all", true));
    assert_false(args_has(args, "all"));
    assert_string_equal(json_object_text(args, "node"), "a much longer name");
    assert_string_equal(json_object_text(args, "kind"), "b");
    assert_int_equal(args_word(args, "kind", (const char *const[]){"a", "b", NULL}, 7), 1);
    assert_int_equal(args_frame_id(args), 0);
    assert_true(args_all_frames(args));
    json_unref(args);
}

/* ---- the table ---- */

static void every_row_says_its_arguments_once(void **state) {
    (void)state;
    for (const Operation *op = operation_next(NULL); op; op = operation_next(op)) {
        for (const OperationArg *a = op->args; a && a->name; a++) {
            for (const OperationArg *b = op->args; b != a; b++) {
                assert_string_not_equal(a->name, b->name);
            }
        }
    }
}

/* The shape of its answer, what it takes, and exactly one way to do it. */
static void every_row_is_complete(void **state) {
    (void)state;
    for (const Operation *op = operation_next(NULL); op; op = operation_next(op)) {
        Error err = ERROR_INIT;
        int ways = (op->read != NULL) + (op->make != NULL) + (op->call != NULL) +
                   (op->ask || op->past) + op->stream;
        Shape *shape = shape_compile(op->answer, thing_shapes, &err);
        if (!shape) fail_msg("%s: %s: %s", op->name, op->answer, err.msg);
        shape_free(shape);
        assert_int_equal(ways, 1);
        assert_non_null(op->summary);
        assert_ptr_equal(operation_find(op->name, NULL), op);
        for (const OperationArg *a = op->args; a && a->name; a++) {
            assert_non_null(a->about);
            assert_non_null(arg_type_names[a->type]);
            assert_true(a->min <= a->max);
            assert_true(!a->words || a->type == ARG_TEXT);
            assert_false(a->required && a->one_of);
        }
    }
}

static void every_operation_of_the_manual_is_there(void **state) {
    static const char *const names[] = {"session",
                                        "overview",
                                        "configure",
                                        "extend",
                                        "detach",
                                        "abort",
                                        "breakpoint_set",
                                        "breakpoint_change",
                                        "breakpoint_delete",
                                        "breakpoint_enable",
                                        "breakpoints",
                                        "breakpoint_save",
                                        "breakpoint_load",
                                        "breakpoint_saved",
                                        "continue",
                                        "pause",
                                        "step",
                                        "back",
                                        "reverse_continue",
                                        "goto",
                                        "skip",
                                        "retry",
                                        "end",
                                        "answer",
                                        "frames",
                                        "stack",
                                        "frame",
                                        "node",
                                        "config",
                                        "variables",
                                        "summary",
                                        "search",
                                        "largest",
                                        "diff",
                                        "written",
                                        "evaluate",
                                        "complete",
                                        "watch_add",
                                        "watch_delete",
                                        "watches",
                                        "source",
                                        "nodes",
                                        "graph",
                                        "edges",
                                        "history",
                                        "set",
                                        "unset",
                                        "pending",
                                        "revoke",
                                        "config_set",
                                        "config_reset",
                                        "inject",
                                        "injected",
                                        "inject_remove",
                                        "replay",
                                        "export"};
    size_t n = sizeof names / sizeof *names, rows = 0;
    (void)state;
    for (size_t i = 0; i < n; i++) {
        assert_non_null(operation_find(names[i], NULL));
    }
    while (session_operations[rows].name) {
        const Operation *op = &session_operations[rows];
        assert_true(op->ask || op->past || op->read);
        rows++;
    }
    assert_int_equal(rows, n);
}

static void the_table_can_be_asked_for(void **state) {
    (void)state;
    const Operation *op = operation_find("operations", NULL);
    Json args = json_object(), all = op->make(NULL, args, NULL);
    Json list = json_object_get_c(all, "operations");
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json one = json_array_get(list, i);
        if (json_string_is(json_object_get_c(one, "name"), "back")) {
            expect_json(
                one,
                "{\"name\": \"back\", \"summary\": \"go back by steps of a frame\", \"scope\": \"debug\", "
                "\"route\": \"POST /debug/{thread}/back\", \"idempotent\": false, \"arguments\": [{\"name\": \"count\", \"type\": \"int\", \"about\": "
                "\"steps of the frame; left out, 1\", \"min\": 1, \"max\": 1000000000}, {\"name\": \"depth\", \"type\": \"int\", "
                "\"about\": \"instead, to before the node of that level of the frame, 1 being the outermost\", \"min\": 1}, "
                "{\"name\": \"frame\", \"type\": \"frame\", \"about\": \"which frame; left "
                "out, the selected one\"}], \"answer\": \"MOVED\"}");
        }
    }
    json_unref(all);
    json_unref(args);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(an_unknown_operation_names_the_nearest),
        JSON_TEST(arguments_must_be_an_object),
        JSON_TEST(an_extra_argument_names_the_nearest),
        JSON_TEST(a_missing_argument_is_named_with_what_it_is),
        JSON_TEST(one_of_several_must_be_there),
        JSON_TEST(a_wrong_type_is_named_with_what_was_given),
        JSON_TEST(frames_are_whole_positive_numbers),
        JSON_TEST(all_frames_only_where_the_row_says_so),
        JSON_TEST(numbers_have_bounds),
        JSON_TEST(a_null_takes_fields_of_a_breakpoint_away),
        JSON_TEST(text_has_no_nul),
        JSON_TEST(any_value_is_a_value),
        JSON_TEST(long_values_and_names_are_cut),
        JSON_TEST(what_is_left_out_is_what_otherwise_says),
        JSON_TEST(what_is_there_is_read),
        JSON_TEST(every_row_says_its_arguments_once),
        JSON_TEST(every_row_is_complete),
        JSON_TEST(every_operation_of_the_manual_is_there),
        JSON_TEST(the_table_can_be_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
