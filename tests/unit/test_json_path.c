/* Paths: each case is a value, a path and what comes of it, all as JSON text. */
#include "json_path.h"
#include "json_test.h"

/* Consumes got. NONE stands for the error. */
static void expect(Json got, const Error *err, const char *want) {
    char *text = json_is_none(got) ? strdup(err->msg) : json_to_text(got);
    assert_string_equal(text, want);
    free(text);
    json_unref(got);
}

typedef struct Case {
    const char *value, *path, *want;
} Case;

typedef Json (*Operation)(Json j, Json path, Error *err);

static void run_cases(const Case *cases, size_t n, Operation operation) {
    for (size_t i = 0; i < n; i++) {
        Error err = ERROR_INIT;
        Json j = parse(cases[i].value), path = parse(cases[i].path), held = json_ref(j);
        expect(operation(j, path, &err), &err, cases[i].want);
        expect(held, &err, cases[i].value);
        json_unref(path);
    }
}

#define RUN(cases, operation) run_cases(cases, sizeof cases / sizeof *cases, operation)

static Json get(Json j, Json path, Error *err) {
    Json v = json_path_get(j, path, err);
    json_unref(j);
    return v;
}

static Json set_99(Json j, Json path, Error *err) {
    return json_path_set(j, path, json_int(99), err);
}

static Json set_pair(Json j, Json path, Error *err) {
    return json_path_set(j, path, parse("[\"x\",\"y\"]"), err);
}

static void get_follows_the_path(void **state) {
    (void)state;
    static const Case cases[] = {
        {"{\"a\":[1,{\"b\":2}]}", "[\"a\",1,\"b\"]", "2"},
        {"{\"a\":1}", "[]", "{\"a\":1}"},
        {"null", "[\"a\",0,{\"start\":1,\"end\":null}]", "null"},
        {"[1,2,3]", "[-1]", "3"},
        {"[1,2,3]", "[-4]", "null"},
        {"[1,2,3]", "[1.7]", "2"},
        {"[1,2,3]", "[nan]", "null"},
        {"[1,2,3]", "[1000000000000000000]", "null"},
        {"[0,1,2,3,4,5,6]", "[{\"start\":3,\"end\":2}]", "[]"},
        {"[0,1,2,3,4,5,6]", "[{\"start\":-5,\"end\":4}]", "[2,3]"},
        {"[0,1,2,3,4,5,6]", "[{\"start\":1.7,\"end\":3.5}]", "[1,2,3]"},
        {"[0,1,2,3,4,5,6]", "[{\"start\":5.7,\"end\":4294967295}]", "[5,6]"},
        {"[0,1,2,3,4,5,6]", "[{\"start\":5.7,\"end\":-4294967296}]", "[]"},
        {"[0,1,2]", "[{\"start\":nan,\"end\":1}]", "[0]"},
        {"[0,1,2]", "[{\"start\":1,\"end\":nan}]", "[1,2]"},
        {"\"a\\u00e9\xF0\x9F\x98\x80xyz\"", "[{\"start\":1,\"end\":-2}]",
         "\"\xC3\xA9\xF0\x9F\x98\x80x\""},
        {"[1,2,1,2,1]", "[[1,2]]", "[0,2]"},
        {"[1,1,1]", "[[1,1]]", "[0,1]"},
        {"[1,2]", "[[2,3]]", "[]"},
        {"[1,2]", "[[]]", "[]"},
    };
    Error err = ERROR_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Json j = parse(cases[i].value), path = parse(cases[i].path);
        expect(get(j, path, &err), &err, cases[i].want);
        json_unref(path);
    }
}

static void get_of_the_wrong_kind_says_so(void **state) {
    (void)state;
    static const Case cases[] = {
        {"{\"a\":1}", "[\"a\",\"b\"]", "Cannot index number with string (\"b\")"},
        {"{\"a\":1}", "[0]", "Cannot index object with number (0)"},
        {"\"foobar\"", "[1.5]", "Cannot index string with number (1.5)"},
        {"[1]", "[\"c\"]", "Cannot index array with string (\"c\")"},
        {"null", "[true]", "Cannot index null with boolean (true)"},
        {"[1]", "[{\"start\":\"a\",\"end\":1}]", "Array/string slice indices must be integers"},
        {"[1]", "0", "Path must be specified as an array"},
    };
    RUN(cases, get);
}

static void set_replaces_or_creates(void **state) {
    (void)state;
    static const Case cases[] = {
        {"{\"bar\":42,\"foo\":[\"a\",\"b\"]}", "[\"foo\",1]", "{\"bar\":42,\"foo\":[\"a\",99]}"},
        {"{\"bar\":false}", "[\"foo\",1]", "{\"bar\":false,\"foo\":[null,99]}"},
        {"null", "[\"a\",\"b\"]", "{\"a\":{\"b\":99}}"},
        {"null", "[0,\"a\"]", "[{\"a\":99}]"},
        {"[0]", "[-1]", "[99]"},
        {"[0,1,2]", "[1.1]", "[0,99,2]"},
        {"5", "[]", "99"},
        {"[[1,2,3]]", "[0,{\"start\":1,\"end\":null},0]", "[[1,99,3]]"},
        {"{\"a\":null}", "[\"a\",{\"start\":0,\"end\":1},2]", "{\"a\":[null,null,99]}"},
    };
    RUN(cases, set_99);
}

static void set_of_a_slice_splices(void **state) {
    (void)state;
    static const Case cases[] = {
        {"[0,1,2,3,4]", "[{\"start\":2,\"end\":4}]", "[0,1,\"x\",\"y\",4]"},
        {"[0,1,2,3,4]", "[{\"start\":1,\"end\":null}]", "[0,\"x\",\"y\"]"},
        {"null", "[{\"start\":5,\"end\":7}]", "[\"x\",\"y\"]"},
        {"[0,1,2,3,4,5,6,7,8,9]", "[{\"start\":1.5,\"end\":3.5}]", "[0,\"x\",\"y\",4,5,6,7,8,9]"},
    };
    RUN(cases, set_pair);
}

static void set_that_cannot_be_says_why(void **state) {
    (void)state;
    static const Case cases[] = {
        {"{\"hi\":\"hello\"}", "[1]", "Cannot index object with number (1)"},
        {"{\"a\":0}", "[\"a\",0,\"b\"]", "Cannot index number with number (0)"},
        {"[]", "[[1]]", "Cannot update field at array index of array"},
        {"null", "[\"foo\",-1]", "Out of bounds negative array index"},
        {"[0]", "[-2]", "Out of bounds negative array index"},
        {"null", "[999999999]", "Array index too large"},
        {"[1]", "[nan]", "Cannot set array element at NaN index"},
        {"\"foobar\"", "[{\"start\":1,\"end\":3}]", "Cannot update string slices"},
        {"[1]", "[{\"start\":0,\"end\":1}]",
         "A slice of an array can only be assigned another array"},
        {"[1]", "0", "Path must be specified as an array"},
        {"null", "[true]", "Cannot index null with boolean (true)"},
    };
    RUN(cases, set_99);
}

static void delete_takes_paths_as_they_were_at_first(void **state) {
    (void)state;
    static const Case cases[] = {
        {"[1,2,3]", "[[-200]]", "[1,2,3]"},
        {"[1,2,3]", "[[nan],[nan]]", "[1,2,3]"},
        {"{\"a\":1}", "[]", "{\"a\":1}"},
        {"{\"a\":1}", "[[\"a\"],[]]", "null"},
        {"{\"a\":{\"b\":1,\"c\":2}}", "[[\"a\",\"b\"]]", "{\"a\":{\"c\":2}}"},
        {"{\"a\":{\"b\":1,\"c\":2}}", "[[\"a\",\"b\"],[\"a\"]]", "{}"},
        {"{\"bar\":false}", "[[\"foo\",1]]", "{\"bar\":false}"},
        {"[0,1,2,3,4,5,6,7]", "[[{\"start\":2,\"end\":4}],[0],[{\"start\":-2,\"end\":null}]]",
         "[1,4,5]"},
        {"[0,1,2,3,4,5,6,7,8,9]", "[[1],[-6],[2],[{\"start\":-3,\"end\":9}]]", "[0,3,5,6,9]"},
        {"[[1,2],3]", "[[0,0],[0]]", "[3]"},
        {"[1,2,3]", "[[{\"start\":0,\"end\":2},0]]", "[2,3]"},
        {"{\"foo\":[0,1,2,3,4],\"bar\":[0,1]}",
         "[[\"foo\",2],[\"foo\",3],[\"foo\",0],[\"bar\",2],[\"bar\",0],[\"baz\",0]]",
         "{\"foo\":[1,4],\"bar\":[1]}"},
        {"null", "[[true]]", "null"},
    };
    RUN(cases, json_path_delete);
}

static void delete_that_cannot_be_says_why(void **state) {
    (void)state;
    static const Case cases[] = {
        {"{}", "0", "Paths must be specified as an array"},
        {"[1]", "[1]", "Path must be specified as array, not number"},
        {"[1]", "[[\"a\"]]", "Cannot delete string element of array"},
        {"{}", "[[1]]", "Cannot delete number field of object"},
        {"5", "[[1]]", "Cannot delete fields from number"},
        {"{\"a\":5}", "[[\"a\",\"b\",\"c\"]]", "Cannot index number with string (\"b\")"},
        {"[[1]]", "[[[1],0]]", "Cannot update field at array index of array"},
        {"[1,2,3]", "[[{\"start\":1}]]", "Array/string slice indices must be integers"},
    };
    RUN(cases, json_path_delete);
}

static Json zeros(int n) {
    Json path = json_array();
    for (int i = 0; i < n; i++) {
        path = json_array_push(path, json_int(0));
    }
    return path;
}

static void ten_thousand_steps_are_allowed_and_no_more(void **state) {
    (void)state;
    Json ok = zeros(10000), deep = zeros(10001), v;
    Error err = ERROR_INIT;
    v = json_path_set(json_null(), ok, json_int(7), &err);
    Json got = json_path_get(v, ok, &err);
    assert_int_equal(got.i, 7);
    Json paths = json_array_push(json_array(), ok);
    v = json_path_delete(v, paths, &err);
    assert_int_equal(json_tag(v), JSON_TAG_ARRAY);
    json_unref(v);
    json_unref(paths);
    assert_true(json_is_none(json_path_get(json_null(), deep, &err)));
    assert_string_equal(err.msg, "Path too deep");
    assert_true(json_is_none(json_path_set(json_null(), deep, json_null(), &err)));
    paths = json_array_push(json_array(), deep);
    assert_true(json_is_none(json_path_delete(json_null(), paths, &err)));
    assert_string_equal(err.msg, "Path too deep");
    json_unref(paths);
}

static void set_of_an_unshared_value_works_in_place(void **state) {
    (void)state;
    Json j = parse("{\"a\":[{\"b\":[1,2,3]}]}"), path = parse("[\"a\",0,\"b\",1]");
    JsonHeap *before = j.heap;
    size_t bytes = json_heap_bytes();
    j = json_path_set(j, path, json_int(9), NULL);
    assert_ptr_equal(j.heap, before);
    assert_int_equal(json_heap_bytes(), bytes);
    json_unref(j);
    json_unref(path);
}

static void lift_gives_the_only_reference(void **state) {
    (void)state;
    Json j = parse("{\"a\":[{\"b\":[1,2,3]}]}"), path = parse("[\"a\",0,\"b\"]");
    Json b = json_path_lift(&j, path, NULL);
    assert_true(json_unshared(b));
    Error err = ERROR_INIT;
    expect(json_ref(j), &err, "{\"a\":[{\"b\":null}]}");
    j = json_path_set(j, path, json_array_push(b, json_int(4)), NULL);
    expect(j, &err, "{\"a\":[{\"b\":[1,2,3,4]}]}");
    json_unref(path);
}

static void lift_creates_nothing(void **state) {
    (void)state;
    Json j = parse("{\"a\":1}"), path = parse("[\"b\",\"c\"]");
    Error err = ERROR_INIT;
    assert_int_equal(json_tag(json_path_lift(&j, path, &err)), JSON_TAG_NULL);
    expect(j, &err, "{\"a\":1}");
    json_unref(path);
}

static void deleting_many_of_many_items_keeps_the_rest(void **state) {
    (void)state;
    Json a = json_array(), paths = json_array();
    for (int i = 0; i < 10000; i++) {
        a = json_array_push(a, json_int(i));
        if (i % 3 == 0) {
            Json path = json_array_push(json_array(), json_int(i % 2 ? i : i - 10000));
            paths = json_array_push(paths, path);
        }
    }
    a = json_path_delete(a, paths, NULL);
    assert_int_equal(json_array_len(a), 6666);
    for (size_t i = 0; i < 6666; i++) {
        assert_int_equal(json_array_get(a, i).i, i / 2 * 3 + i % 2 + 1);
    }
    json_unref(a);
    json_unref(paths);
}

static void has_asks_for_keys_and_places(void **state) {
    (void)state;
    Json a = parse("[0,1]"), o = parse("{\"a\":null}");
    bool has;
    Error err = ERROR_INIT;
    assert_true(json_has(a, json_int(1), &has, NULL) && has);
    assert_true(json_has(a, json_int(2), &has, NULL) && !has);
    assert_true(json_has(a, json_int(-1), &has, NULL) && !has);
    assert_true(json_has(a, json_double(__builtin_nan("")), &has, NULL) && !has);
    assert_true(json_has(o, json_string_c("a"), &has, NULL) && has);
    assert_true(json_has(json_null(), json_string_c("a"), &has, NULL) && !has);
    assert_false(json_has(a, json_string_c("a"), &has, &err));
    assert_string_equal(err.msg, "Cannot check whether array has a string key");
    json_unref(a);
    json_unref(o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(get_follows_the_path),
        JSON_TEST(get_of_the_wrong_kind_says_so),
        JSON_TEST(set_replaces_or_creates),
        JSON_TEST(set_of_a_slice_splices),
        JSON_TEST(set_that_cannot_be_says_why),
        JSON_TEST(delete_takes_paths_as_they_were_at_first),
        JSON_TEST(delete_that_cannot_be_says_why),
        JSON_TEST(ten_thousand_steps_are_allowed_and_no_more),
        JSON_TEST(set_of_an_unshared_value_works_in_place),
        JSON_TEST(lift_gives_the_only_reference),
        JSON_TEST(lift_creates_nothing),
        JSON_TEST(deleting_many_of_many_items_keeps_the_rest),
        JSON_TEST(has_asks_for_keys_and_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
