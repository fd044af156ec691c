/* Shapes: what fits, what is said of what does not, and the same as JSON Schema. */
#include "json_shape.h"
#include "json_test.h"

static const ShapeName names[] = {
    {"ERROR", "{code: text, message: text, ...}"},
    {"FRAME", "{id: int(1..), line?: int, inner?: [FRAME]}"},
    {"EVENT",
     "{event: \"paused\", frame: int}|{event: \"ended\", error?: ERROR}|{event: \"log\", text: text}"},
    {"LIST", "{head: int, tail: LIST|null}"},
    {"LOOP", "LOOP|int"},
    {"ROUND", "ABOUT"},
    {"ABOUT", "text|ROUND"},
    {"TWICE", "{a: TWICE|int}|{a: TWICE|text, ...}"},
    {"WRONG", "{a: }"},
    {0},
};

static Shape *compiled(const char *text) {
    Error err = ERROR_INIT;
    Shape *shape = shape_compile(text, names, &err);
    if (!shape) fail_msg("%s: %s", text, err.msg);
    return shape;
}

static void expect_fit(const char *text, const char *value) {
    Shape *shape = compiled(text);
    Json v = parse(value);
    Error err = ERROR_INIT;
    if (!shape_check(shape, v, &err)) fail_msg("%s is not %s: %s", value, text, err.msg);
    assert_int_equal(err.code, ERR_NONE);
    json_unref(v);
    shape_free(shape);
}

static void expect_misfit(const char *text, const char *value, const char *sentence) {
    Shape *shape = compiled(text);
    Json v = parse(value);
    Error err = ERROR_INIT;
    if (shape_check(shape, v, &err)) fail_msg("%s is %s", value, text);
    assert_string_equal(err.msg, sentence);
    assert_int_equal(err.code, ERR_DATA);
    assert_false(shape_check(shape, v, NULL));
    json_unref(v);
    shape_free(shape);
}

static void expect_refused(const char *text, int line, int col, const char *sentence) {
    Error err = ERROR_INIT;
    Shape *shape = shape_compile(text, names, &err);
    if (shape) fail_msg("%s is a shape", text);
    assert_string_equal(err.msg, sentence);
    assert_int_equal(err.line, line);
    assert_int_equal(err.col, col);
    assert_null(shape_compile(text, names, NULL));
}

static void expect_schema(const char *text, const char *schema) {
    Shape *shape = compiled(text);
    expect_gives(shape_schema(shape), schema);
    shape_free(shape);
}

static void every_type_takes_its_values(void **state) {
    (void)state;
    expect_fit("int", "-7");
    expect_fit("int", "1.0");
    expect_fit("int", "1e3");
    expect_fit("int", "9223372036854775807");
    expect_fit("number", "1.5");
    expect_fit("bool", "false");
    expect_fit("text", "\"\"");
    expect_fit("null", "null");
    expect_fit("object", "{\"a\": null}");
    expect_fit("array", "[null, 1]");
    expect_fit("any", "[null]");
    expect_fit("path", "[]");
    expect_fit("path", "[\"a\", 0, -1]");
    expect_fit("\"word\"", "\"word\"");
    expect_fit("\"\"", "\"\"");
    expect_fit("[int]", "[1, 2]");
    expect_fit("{}", "{}");
    expect_fit(" { a : int ,\n \"b-c\" ? : text } ", "{\"b-c\": \"x\", \"a\": 1}");
}

static void a_value_of_another_type_is_said_with_both(void **state) {
    (void)state;
    expect_misfit("int", "\"7\"", "this is a text, and an int is expected");
    expect_misfit("int", "1.5", "this is 1.5, and an int is expected");
    expect_misfit("int", "1e300", "this is 1E+300, and an int is expected");
    expect_misfit("text", "7", "this is 7, and a text is expected");
    expect_misfit("text", "7.5", "this is 7.5, and a text is expected");
    expect_misfit("bool", "null", "this is null, and a bool is expected");
    expect_misfit("number", "true", "this is a bool, and a number is expected");
    expect_misfit("any", "null", "this is null, and a value is expected");
    expect_misfit("object", "[]", "this is an array, and an object is expected");
    expect_misfit("{}", "1", "this is 1, and an object is expected");
    expect_misfit("FRAME", "[]", "this is an array, and an object is expected");
    expect_misfit("[text]", "{}", "this is an object, and an array is expected");
    expect_misfit("\"a\"", "\"b\"", "this is \"b\", and \"a\" is expected");
    expect_misfit("path", "[1.5]",
                  "this is an array, and a path (an array of texts and ints) is expected");
}

static void ints_keep_within_bounds(void **state) {
    (void)state;
    expect_fit("int(1..)", "1");
    expect_fit("int(..-1)", "-1");
    expect_fit("int( 0 .. 100 )", "100");
    expect_misfit("int(1..)", "0", "this is 0, and an int of at least 1 is expected");
    expect_misfit("int(..9)", "10", "this is 10, and an int of at most 9 is expected");
    expect_misfit("int(0..100)", "-1", "this is -1, and an int from 0 to 100 is expected");
}

static void times_have_one_form(void **state) {
    (void)state;
    static const char *const bad[] = {
        "2026-11-16T04:35:57Z",     "2026-11-16T04:35:57.123+00:00", "2026-13-16T04:35:57.123Z",
        "2026-02-29T04:35:57.123Z", "2026-11-31T04:35:57.123Z",      "2026-11-16T24:35:57.123Z",
        "2026-11-16T04:60:57.123Z", "2026-11-16T04:35:60.123Z",      "2026-11-16 04:35:57.123Z",
        "2026-00-16T04:35:57.123Z", "2026-11-00T04:35:57.123Z",      "1900-02-29T00:00:00.000Z",
    };
    Shape *shape = compiled("time");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Json v = json_string_c(bad[i]);
        if (shape_check(shape, v, NULL)) fail_msg("%s is a time", bad[i]);
        json_unref(v);
    }
    shape_free(shape);
    expect_fit("time", "\"2026-11-16T04:35:57.123Z\"");
    expect_fit("time", "\"2000-02-29T23:59:59.999Z\"");
    expect_fit("time", "\"2024-02-29T00:00:00.000Z\"");
    expect_misfit("{at: time}", "{\"at\": \"today\"}",
                  ".at: this is \"today\", and a time as \"2026-11-16T04:35:57.123Z\" is expected");
}

static void objects_have_their_keys_and_no_others(void **state) {
    (void)state;
    expect_misfit("{line: int}", "{}", "the key `line` is missing");
    expect_misfit("{line: int}", "{\"lien\": 1}", "there is no key `lien`; did you mean `line`?");
    expect_misfit("{line?: int}", "{\"line\": 1, \"other\": 1}", "there is no key `other`");
    expect_misfit("{line?: int}", "{\"line\": null}",
                  ".line: this is null, and an int is expected");
    expect_fit("{line?: int}", "{}");
    expect_fit("{line: int, ...}", "{\"other\": 1, \"line\": 1}");
    expect_misfit("{line: int, ...}", "{\"other\": null, \"line\": 1}",
                  ".other: this is null, and a value is expected");
    expect_fit("{*: int}", "{\"a\": 1, \"b\": 2}");
    expect_misfit("{*: int}", "{\"a b\": \"x\"}",
                  "[\"a b\"]: this is a text, and an int is expected");
    expect_fit("{a: text, *: int}", "{\"a\": \"x\", \"b\": 2}");
    expect_misfit("{a: text, *: int}", "{\"a\": 1, \"b\": 2}",
                  ".a: this is 1, and a text is expected");
}

static void the_sentence_names_the_path(void **state) {
    (void)state;
    expect_misfit("{frames: [{line: int}]}",
                  "{\"frames\": [{\"line\": 1}, {\"line\": 2}, {\"line\": \"3\"}]}",
                  ".frames[2].line: this is a text, and an int is expected");
    expect_misfit("[[{a: {}}]]", "[[], [{\"a\": {\"\": 1}}]]", "[1][0].a: there is no key ``");
    Buf text = BUF_INIT;
    for (int i = 0; i < 20; i++) {
        buf_adds(&text, "{\"a_key_of_a_good_length_é\": ");
    }
    buf_adds(&text, "1");
    for (int i = 0; i < 20; i++) {
        buf_addc(&text, '}');
    }
    Shape *shape = shape_compile("T", (ShapeName[]){{"T", "{*: T}"}, {0}}, NULL);
    Json v = parse(text.data);
    Error err = ERROR_INIT;
    assert_false(shape_check(shape, v, &err));
    assert_memory_equal(err.msg, "...", 3);
    expect_contains(err.msg,
                    "[\"a_key_of_a_good_length_é\"]: this is 1, and an object is expected");
    json_unref(v);
    shape_free(shape);
    buf_clear(&text);
}

static void alternatives_are_tried_in_turn(void **state) {
    (void)state;
    expect_fit("int|text", "\"a\"");
    expect_fit("[int]|[text]", "[\"a\"]");
    expect_fit("[int|null]", "[1, null]");
    expect_misfit("int|text|null", "true",
                  "this is a bool, and an int, a text or null is expected");
    expect_misfit("\"a\"|\"b\"", "\"c\"", "this is \"c\", and \"a\" or \"b\" is expected");
    expect_misfit("ERROR|FRAME", "{\"x\": 1}", "this is an object, and ERROR or FRAME is expected");
    expect_misfit("[int]|[text]", "[true]",
                  "this is an array, and an array or an array is expected");
}

static void the_sentence_is_about_the_alternative_that_is_meant(void **state) {
    (void)state;
    expect_misfit("FRAME|null", "{\"id\": 1, \"line\": \"a\"}",
                  ".line: this is a text, and an int is expected");
    expect_misfit("FRAME|null", "{\"line\": 1}", "the key `id` is missing");
    expect_fit("EVENT", "{\"event\": \"log\", \"text\": \"a\"}");
    expect_misfit("EVENT", "{\"event\": \"log\", \"text\": 1}",
                  ".text: this is 1, and a text is expected");
    expect_misfit("[int]|null", "[1, \"a\"]", "[1]: this is a text, and an int is expected");
    expect_misfit("{e: EVENT|text}",
                  "{\"e\": {\"event\": \"ended\", \"error\": {\"code\": 1, \"message\": \"\"}}}",
                  ".e.error.code: this is 1, and a text is expected");
}

static void a_named_shape_may_contain_itself(void **state) {
    (void)state;
    expect_fit("FRAME", "{\"id\": 1, \"inner\": [{\"id\": 2, \"inner\": []}]}");
    expect_misfit("[FRAME]", "[{\"id\": 1, \"inner\": [{\"id\": 2, \"inner\": [{\"id\": 0}]}]}]",
                  "[0].inner[0].inner[0].id: this is 0, and an int of at least 1 is expected");
    expect_fit("LIST", "{\"head\": 1, \"tail\": {\"head\": 2, \"tail\": null}}");
}

/* [[[...1...]]] as a value of TEXT. */
static ErrorCode check_nested(const char *text, const char *open, const char *inmost,
                              const char *shut, int depth) {
    Buf value = BUF_INIT;
    for (int i = 0; i < depth; i++) buf_adds(&value, open);
    buf_adds(&value, inmost);
    for (int i = 0; i < depth; i++) buf_adds(&value, shut);
    Shape *shape = compiled(text);
    Json v = parse(value.data);
    Error err = ERROR_INIT;
    shape_check(shape, v, &err);
    json_unref(v);
    shape_free(shape);
    buf_clear(&value);
    return err.code;
}

static void depth_has_a_limit(void **state) {
    (void)state;
    assert_int_equal(check_nested("LIST", "{\"head\":1,\"tail\":", "null", "}", 200), ERR_NONE);
    assert_int_equal(check_nested("LIST", "{\"head\":1,\"tail\":", "null", "}", 5000), ERR_LIMIT);
    assert_int_equal(check_nested("any", "[", "1", "]", 9000), ERR_NONE);
}

static void alternatives_within_alternatives_have_a_limit(void **state) {
    (void)state;
    assert_int_equal(check_nested("TWICE", "{\"a\":", "\"x\"", "}", 4), ERR_NONE);
    assert_int_equal(check_nested("TWICE", "{\"a\":", "true", "}", 90), ERR_LIMIT);
}

static void items_of_an_array_may_each_have_their_own_shape(void **state) {
    (void)state;
    expect_fit("[int, text]", "[1, \"a\"]");
    expect_fit("[int,]", "[1]");
    expect_fit("[int?]", "[]");
    expect_fit("[int?]", "[1]");
    expect_fit("[int, text?, bool?]", "[1]");
    expect_fit("[int, text?, bool?]", "[1, \"a\", true]");
    expect_fit("[int, text...]", "[1]");
    expect_fit("[int, text...]", "[1, \"a\", \"b\"]");
    expect_fit("[text...]", "[]");
    expect_fit("[[\"a\", int]|[\"b\", text]]", "[[\"b\", \"c\"], [\"a\", 1]]");
    expect_misfit("[int, text]", "[1]", "item 1 is missing");
    expect_misfit("[int,]", "[1, 2]", "there are 2 items, and 1 at most are expected");
    expect_misfit("[int, text]", "[1, 2]", "[1]: this is 2, and a text is expected");
    expect_misfit("[int, text...]", "[1, \"a\", 2]", "[2]: this is 2, and a text is expected");
    expect_misfit("[int, text...]", "[]", "item 0 is missing");
    expect_misfit("[int, text]", "{}", "this is an object, and an array is expected");
    expect_misfit("[\"a\", int]|[\"b\", text]", "[\"b\", 1]",
                  "[1]: this is 1, and a text is expected");
    expect_misfit("[\"a\",]|null", "[1]", "this is an array, and an array or null is expected");
    expect_fit("dotted", "\"1.20\"");
    expect_misfit("dotted", "\"1/2\"", "this is a text, and digits and dots is expected");
    expect_misfit("dotted", "\"\"", "this is a text, and digits and dots is expected");
    expect_misfit("dotted", "\"1\\u0000\"", "this is a text, and digits and dots is expected");
    expect_refused("[int?, text]", 1, 12,
                   "An item that must be there follows one that may be absent.");
    expect_refused("[int, text", 1, 11, "`,` or `]` is expected here.");
    expect_refused("[int..., text]", 1, 8, "`]` is expected here.");
    expect_schema(
        "[int, text?]",
        "{\"type\":\"array\",\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"string\"}],\"minItems\":1,"
        "\"items\":false,\"$schema\":\"https://json-schema.org/draft/2020-12/schema\"}");
}

static void what_is_no_shape_is_refused_with_its_place(void **state) {
    (void)state;
    expect_refused("", 1, 1, "A type, a name, `{`, `[` or a text in quotes is expected here.");
    expect_refused("integer", 1, 1, "There is no type `integer`.");
    expect_refused("[NOPE]", 1, 2, "There is no named shape `NOPE`.");
    expect_refused("{a: int,\n b}", 2, 3, "A key is followed by `:` and a shape.");
    expect_refused("{a: int b: int}", 1, 9, "`,` or `}` is expected here.");
    expect_refused("{a: int, a?: int}", 1, 10, "This key is there twice.");
    expect_refused("{..., a: int}", 1, 5, "`}` is expected here.");
    expect_refused("{* int}", 1, 4, "`*` is followed by `:` and a shape.");
    expect_refused("{a: int,}", 1, 9, "A key is expected here.");
    expect_refused("[int", 1, 5, "`,` or `]` is expected here.");
    expect_refused("int|", 1, 5, "A type, a name, `{`, `[` or a text in quotes is expected here.");
    expect_refused("int text", 1, 5, "The shape has ended before this.");
    expect_refused("int(1)", 1, 6, "Bounds are written `int(1..)`, `int(..9)` or `int(1..9)`.");
    expect_refused("int(1..", 1, 8, "`)` is expected here.");
    expect_refused("int(2..1)", 1, 10, "No int is within these bounds.");
    expect_refused("int(1111111111111111111..)", 1, 5,
                   "A bound is a number of up to 18 characters.");
    expect_refused("\"a", 1, 1, "This text has a backslash, or no closing quote on its line.");
    expect_refused("LOOP", 0, 0, "The shape LOOP stands for itself.");
    expect_refused("{a: ROUND}", 0, 0, "The shape ABOUT stands for itself.");
    expect_refused("WRONG", 1, 5,
                   "WRONG: A type, a name, `{`, `[` or a text in quotes is expected here.");
    char deep[200];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    expect_refused(deep, 1, SHAPE_TEXT_DEPTH_MAX + 1,
                   "There are too many brackets within brackets.");
}

static void a_shape_is_a_json_schema_too(void **state) {
    (void)state;
    expect_schema("{a: int(0..9), b?: [text], c: \"x\"|\"y\", d: null|bool}",
                  "{\"type\": \"object\", \"properties\": {"
                  "\"a\": {\"type\": \"integer\", \"minimum\": 0, \"maximum\": 9},"
                  "\"b\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}},"
                  "\"c\": {\"enum\": [\"x\", \"y\"]},"
                  "\"d\": {\"anyOf\": [{\"type\": \"null\"}, {\"type\": \"boolean\"}]}},"
                  "\"required\": [\"a\", \"c\", \"d\"], \"additionalProperties\": false,"
                  "\"$schema\": \"https://json-schema.org/draft/2020-12/schema\"}");
    expect_schema(
        "[FRAME]",
        "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/FRAME\"},"
        "\"$schema\": \"https://json-schema.org/draft/2020-12/schema\","
        "\"$defs\": {\"FRAME\": {\"type\": \"object\", \"properties\": {"
        "\"id\": {\"type\": \"integer\", \"minimum\": 1}, \"line\": {\"type\": \"integer\"},"
        "\"inner\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/FRAME\"}}},"
        "\"required\": [\"id\"], \"additionalProperties\": false}}}");
    expect_schema("{*: \"x\"}", "{\"type\": \"object\", \"properties\": {}, \"required\": [],"
                                "\"additionalProperties\": {\"const\": \"x\"},"
                                "\"$schema\": \"https://json-schema.org/draft/2020-12/schema\"}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(every_type_takes_its_values),
        JSON_TEST(a_value_of_another_type_is_said_with_both),
        JSON_TEST(ints_keep_within_bounds),
        JSON_TEST(times_have_one_form),
        JSON_TEST(objects_have_their_keys_and_no_others),
        JSON_TEST(the_sentence_names_the_path),
        JSON_TEST(alternatives_are_tried_in_turn),
        JSON_TEST(the_sentence_is_about_the_alternative_that_is_meant),
        JSON_TEST(a_named_shape_may_contain_itself),
        JSON_TEST(depth_has_a_limit),
        JSON_TEST(alternatives_within_alternatives_have_a_limit),
        JSON_TEST(items_of_an_array_may_each_have_their_own_shape),
        JSON_TEST(what_is_no_shape_is_refused_with_its_place),
        JSON_TEST(a_shape_is_a_json_schema_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
