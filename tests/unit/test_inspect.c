/* Looking at values and nodes: parts, summaries, searches, differences, evaluations, source. */
#include "flow_fixture.h"
#include "inspect.h"
#include "json_path.h"

#include <limits.h>

enum { WIDE = 1000000, DEEP = 10000 };

/* ---- helpers ---- */

static Json numbers(size_t n) {
    Json a = json_array();
    for (size_t i = 0; i < n; i++) a = json_array_push(a, json_int((int64_t)i));
    return a;
}

static Json wide_object(size_t n) {
    Json *pairs = mem_alloc(2 * n * sizeof *pairs);
    for (size_t i = 0; i < n; i++) {
        pairs[2 * i] = json_string_fmt("key%zu", i);
        pairs[2 * i + 1] = json_int((int64_t)i);
    }
    Json o = json_object_from(pairs, n);
    mem_free(pairs);
    return o;
}

static Json deep_array(Json inner, size_t levels) {
    for (size_t i = 0; i < levels; i++) inner = json_array_push(json_array(), inner);
    return inner;
}

static Json long_string(size_t n) {
    Buf b = BUF_INIT;
    for (size_t i = 0; i < n; i++) buf_addc(&b, (char)('a' + i % 26));
    Json s = json_string_buf(&b);
    buf_clear(&b);
    return s;
}

/* A value inside an answer, by a path of steps as JSON. Borrowed. */
static Json at(Json answer, const char *path) {
    Json steps = parse(path);
    Json value = inspect_at(answer, steps, NULL, NULL);
    json_unref(steps);
    return value;
}

static void expect_at(Json answer, const char *path, const char *want) {
    expect_json(at(answer, path), want);
}

static void expect_path(const char *text, const char *want) {
    Error err = ERROR_INIT;
    Json given = json_string_c(text), path = inspect_path(given, &err);
    if (json_is_none(path)) fail_msg("%s: %s", text, err.msg);
    expect_gives(path, want);
    json_unref(given);
}

static void expect_bad_path(const char *text, int column, const char *part) {
    Error err = ERROR_INIT;
    Json given = json_string_c(text);
    expect_json(inspect_path(given, &err), "(none)");
    assert_int_equal(err.code, ERR_SYNTAX);
    assert_int_equal(err.col, column);
    expect_contains(err.msg, part);
    json_unref(given);
}

static void expect_path_text(const char *path, const char *want) {
    Json steps = parse(path);
    Buf text = BUF_INIT;
    json_path_text(steps, SIZE_MAX, &text);
    assert_string_equal(text.data, want);
    Json given = json_string(text.data, text.len), again = inspect_path(given, NULL);
    assert_true(json_equal(again, steps));
    json_unref(again);
    json_unref(given);
    json_unref(steps);
    buf_clear(&text);
}

/* ---- paths ---- */

static void path_text_becomes_steps(void **state) {
    (void)state;
    expect_path(".", "[]");
    expect_path("", "[]");
    expect_path("  . ", "[]");
    expect_path(".a", "[\"a\"]");
    expect_path("a", "[\"a\"]");
    expect_path(".a.b", "[\"a\", \"b\"]");
    expect_path("a.b", "[\"a\", \"b\"]");
    expect_path(".[\"k\"]", "[\"k\"]");
    expect_path(".a[\"k\"]", "[\"a\", \"k\"]");
    expect_path(".a.[\"k\"]", "[\"a\", \"k\"]");
    expect_path(".a[0]", "[\"a\", 0]");
    expect_path(".a[ -1 ]", "[\"a\", -1]");
    expect_path(".[3][4].x", "[3, 4, \"x\"]");
    expect_path("[3]", "[3]");
    expect_path(".\"odd key\".b", "[\"odd key\", \"b\"]");
    expect_path("\"odd key\"", "[\"odd key\"]");
    expect_path(".\"q\\\"\\u00e9\\n\"", "[\"q\\\"é\\n\"]");
    expect_path("  a_1.B2\n", "[\"a_1\", \"B2\"]");
    expect_path(".and.if", "[\"and\", \"if\"]");
}

static void other_expressions_are_no_paths(void **state) {
    (void)state;
    expect_bad_path(".a[]", 4, "one index");
    expect_bad_path(".a[1:2]", 5, "`]`");
    expect_bad_path(".a | .b", 3, "goes on with");
    expect_bad_path(".a?", 3, "goes on with");
    expect_bad_path(".a-b", 3, "goes on with");
    expect_bad_path("..", 2, "a key");
    expect_bad_path(".a.", 4, "a key");
    expect_bad_path(".a[0", 3, "no `]`");
    expect_bad_path(".a[", 4, "one index");
    expect_bad_path(".\"a", 2, "no end");
    expect_bad_path(".\"a\\(1)\"", 2, "not a string");
    expect_bad_path(".a[-]", 4, "minus");
    expect_bad_path(".a[99999999999999999999]", 4, "that long");
    expect_bad_path(".a[536870912]", 4, "that long");
    expect_bad_path("$x", 1, "a key");
    expect_bad_path("1", 1, "a key");
    expect_bad_path(".\"é\"é", 5, "goes on with");
    expect_bad_path(".é", 2, "quotes");
}

static void steps_of_a_path_are_keys_and_whole_numbers(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    Json good = parse("[\"a\", 0, -2, 3.0]"), bad = parse("[\"a\", 1.5]"), object = parse("{}");
    expect_gives(inspect_path(good, NULL), "[\"a\", 0, -2, 3]");
    expect_json(inspect_path(bad, &err), "(none)");
    expect_contains(err.msg, "Step 1 of the path is number (1.5)");
    expect_json(inspect_path(object, &err), "(none)");
    expect_contains(err.msg, "not object ({})");
    expect_json(inspect_path(json_none(), &err), "(none)");
    json_unref(good);
    json_unref(bad);
    json_unref(object);
}

static void a_path_has_ten_thousand_steps_at_most(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    Json steps = numbers(DEEP), more = numbers(DEEP + 1);
    Buf text = BUF_INIT;
    expect_json(inspect_path(more, &err), "(none)");
    assert_int_equal(err.code, ERR_LIMIT);
    json_path_text(more, SIZE_MAX, &text);
    Json given = json_string_buf(&text);
    expect_json(inspect_path(given, &err), "(none)");
    Json path = inspect_path(steps, &err);
    assert_int_equal(json_array_len(path), DEEP);
    json_unref(path);
    json_unref(given);
    json_unref(steps);
    json_unref(more);
    buf_clear(&text);
}

static void a_path_is_written_as_jq_and_read_back(void **state) {
    (void)state;
    expect_path_text("[]", ".");
    expect_path_text("[\"a\", 0, \"odd key\"]", ".a[0].\"odd key\"");
    expect_path_text("[0, 1]", ".[0][1]");
    expect_path_text("[\"\", \"1a\", \"a1\"]", ".\"\".\"1a\".a1");
    expect_path_text("[\"a\\\"b\\u0000\", -1]", ".\"a\\\"b\\u0000\"[-1]");
}

/* ---- variables ---- */

static void small_values_are_shown_whole(void **state) {
    (void)state;
    Json s = parse("{\"a\": {\"b\": [1, \"two\", null]}}"), path = json_string_c(".a.b[-2]");
    Json answer = inspect_variables(s, path, &(InspectPage){.offset = 0, .limit = 0}, NULL);
    expect_gives(answer,
                 "{\"path\": [\"a\", \"b\", 1], \"text\": \".a.b[1]\", \"type\": \"string\", "
                 "\"size\": 16, \"length\": 3, \"value\": \"two\"}");
    answer = inspect_variables(s, json_none(), &(InspectPage){.offset = 0, .limit = 0}, NULL);
    expect_at(answer, "[\"value\"]", "{\"a\": {\"b\": [1, \"two\", null]}}");
    expect_at(answer, "[\"path\"]", "[]");
    expect_at(answer, "[\"length\"]", "1");
    json_unref(answer);
    json_unref(s);
    json_unref(path);
}

static void expect_nowhere(Json s, const char *path, const char *want) {
    Error err = ERROR_INIT;
    Json given = json_string_c(path);
    expect_json(inspect_variables(s, given, &(InspectPage){.offset = 0, .limit = 0}, &err),
                "(none)");
    assert_int_equal(err.code, ERR_USAGE);
    assert_string_equal(err.msg, want);
    json_unref(given);
}

static void a_path_that_leads_nowhere_names_the_nearest_key(void **state) {
    (void)state;
    Json s = parse("{\"retries\": 3, \"a key longer than a short one\": [1], \"none\": null, "
                   "\"list\": [1, 2], \"empty\": {}}");
    expect_nowhere(s, ".retrys", "`.` has no key `retrys`; did you mean `retries`?");
    expect_nowhere(s, ".xyz", "`.` has no key `xyz`.");
    expect_nowhere(s, ".empty.a", "`.empty` has no key `a`: it is empty.");
    expect_nowhere(s, ".retries.a", "`.retries` is a number; there is nothing in it.");
    expect_nowhere(s, ".none[0]", "`.none` is null; there is nothing in it.");
    expect_nowhere(s, ".list[2]", "`.list` has 2 elements; there is no element 2.");
    expect_nowhere(s, ".list[-3]", "`.list` has 2 elements; there is no element -3.");
    expect_nowhere(s, ".list.a", "`.list` is an array: its elements have numbers, not keys.");
    expect_nowhere(s, ".[0]", "`.` is an object: it has keys and no element 0.");
    expect_nowhere(s, ".\"a key longer than a short on\"[0]",
                   "`.` has no key `a key longer than a short on`; did you mean `a key longer than "
                   "a short one`?");
    json_unref(s);
}

static void large_values_come_in_pages(void **state) {
    (void)state;
    Json s = json_object_with(json_object(), "list", numbers(5000)), path = json_string_c("list");
    Json answer = inspect_variables(s, path, &(InspectPage){.offset = 4998, .limit = 10}, NULL);
    expect_at(answer, "[\"children\"]",
              "[{\"key\": 4998, \"type\": \"number\", \"size\": 16, \"preview\": \"4998\"},"
              "{\"key\": 4999, \"type\": \"number\", \"size\": 16, \"preview\": \"4999\"}]");
    expect_at(answer, "[\"total\"]", "5000");
    expect_at(answer, "[\"offset\"]", "4998");
    assert_true(json_is_none(at(answer, "[\"value\"]")));
    json_unref(answer);
    answer = inspect_variables(s, path, &(InspectPage){.offset = 0, .limit = 0}, NULL);
    assert_int_equal(json_array_len(at(answer, "[\"children\"]")), 100);
    json_unref(answer);
    answer = inspect_variables(s, path, &(InspectPage){.offset = SIZE_MAX - 3, .limit = 10}, NULL);
    expect_at(answer, "[\"children\"]", "[]");
    expect_at(answer, "[\"offset\"]", "5000");
    json_unref(answer);
    json_unref(s);
    json_unref(path);
}

static void pages_of_an_object_skip_what_was_removed(void **state) {
    (void)state;
    Json o = wide_object(1000);
    for (int i = 0; i < 100; i++) {
        Json key = json_string_fmt("key%d", 2 * i);
        o = json_object_remove(o, key);
        json_unref(key);
    }
    Json answer = inspect_variables(o, json_none(), &(InspectPage){.offset = 98, .limit = 4}, NULL);
    expect_at(answer, "[\"children\", 0, \"key\"]", "\"key197\"");
    expect_at(answer, "[\"children\", 2, \"key\"]", "\"key200\"");
    expect_at(answer, "[\"total\"]", "900");
    json_unref(answer);
    json_unref(o);
}

static void a_long_string_is_cut_into_pages_of_characters(void **state) {
    (void)state;
    Buf text = BUF_INIT;
    for (int i = 0; i < 6000; i++) buf_adds(&text, i == 5000 ? "x" : "é");
    Json s = json_string_buf(&text);
    Json answer = inspect_variables(s, json_none(), &(InspectPage){.offset = 0, .limit = 10}, NULL);
    Json part = at(answer, "[\"value\"]");
    assert_int_equal(json_string_len(part), 2 * INSPECT_WHOLE);
    expect_at(answer, "[\"cut\"]", "true");
    expect_at(answer, "[\"total\"]", "6000");
    expect_at(answer, "[\"length\"]", "6000");
    json_unref(answer);
    answer = inspect_variables(s, json_none(), &(InspectPage){.offset = 5000, .limit = 0}, NULL);
    part = at(answer, "[\"value\"]");
    assert_int_equal(json_string_len(part), 1 + 2 * 999);
    json_unref(answer);
    json_unref(s);
    buf_clear(&text);
}

static void a_number_of_many_digits_is_previewed(void **state) {
    (void)state;
    Buf text = BUF_INIT;
    for (int i = 0; i < 9000; i++) buf_adds(&text, "7");
    Json n = json_number_parse(text.data, text.len);
    Json answer = inspect_variables(n, json_none(), &(InspectPage){.offset = 0, .limit = 0}, NULL);
    expect_at(answer, "[\"cut\"]", "true");
    Json shown = at(answer, "[\"preview\"]");
    assert_int_equal(json_string_len(shown), INSPECT_PREVIEW);
    json_unref(answer);
    json_unref(n);
    buf_clear(&text);
}

static void previews_are_sixty_characters_at_most(void **state) {
    (void)state;
    Json s =
        parse("{\"short\": {\"a\": [1, {}]}, \"long\": [\"ééééééééééééééééééééééééééééééééééé\","
              "\"ééééééééééééééééééééééééééééééééééé\"]}");
    s = json_object_with(s, "text", long_string(1000000));
    s = json_object_with(s, "deep", deep_array(json_int(1), DEEP));
    Json answer = inspect_summary(s);
    expect_at(answer, "[\"keys\", 0, \"preview\"]", "\"{\\\"a\\\":[1,{}]}\"");
    expect_at(answer, "[\"keys\", 1, \"preview\"]",
              "\"[\\\"ééééééééééééééééééééééééééééééééééé\\\",\\\"ééééééééééééééééé...\"");
    expect_at(answer, "[\"keys\", 2, \"preview\"]",
              "\"\\\"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcd...\"");
    expect_at(answer, "[\"keys\", 3, \"preview\"]",
              "\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[...\"");
    json_unref(answer);
    json_unref(s);
}

static void a_summary_has_every_key_with_type_and_size(void **state) {
    (void)state;
    Json s = parse("{\"a\": 1, \"b\": [true]}"), list = parse("[7]");
    Json answer = inspect_summary(s);
    expect_at(answer, "[\"total\"]", "2");
    expect_at(answer, "[\"keys\", 0]",
              "{\"key\": \"a\", \"type\": \"number\", \"size\": 16, \"preview\": \"1\"}");
    expect_at(answer, "[\"keys\", 1, \"type\"]", "\"array\"");
    expect_at(answer, "[\"keys\", 1, \"length\"]", "1");
    assert_int_equal(at(answer, "[\"size\"]").i, (int64_t)json_size(s));
    json_unref(answer);
    answer = inspect_summary(list);
    expect_at(answer, "[\"keys\", 0, \"key\"]", "0");
    json_unref(answer);
    expect_gives(inspect_summary(json_int(1)), "{\"keys\": [], \"total\": 0, \"size\": 16}");
    json_unref(s);
    json_unref(list);
}

/* ---- search ---- */

static void expect_found(Json s, const char *text, const char *want) {
    Json answer = inspect_search(s, text, 0), found = at(answer, "[\"found\"]");
    Buf got = BUF_INIT;
    for (size_t i = 0; i < json_array_len(found); i++) {
        Json one = json_array_get(found, i), where = json_object_get_c(one, "where");
        Json path = json_object_get_c(one, "text");
        buf_printf(&got, "%s%.*s %.*s", i ? ", " : "", (int)json_string_len(path),
                   json_string_data(&path), (int)json_string_len(where), json_string_data(&where));
    }
    assert_string_equal(got.len ? got.data : "", want);
    expect_at(answer, "[\"more\"]", "false");
    buf_clear(&got);
    json_unref(answer);
}

static void search_finds_parts_of_keys_and_strings(void **state) {
    (void)state;
    Json s =
        parse("{\"Errors\": [{\"code\": 12, \"message\": \"An ERROR here\"}, true], \"x\": null,"
              "\"n\": [1.50, -3, 120], \"Größe\": \"ПРИВЕТ Ωmega Žluť\", \"e\": \"error\"}");
    expect_found(s, "error", ".Errors key, .Errors[0].message value, .e value");
    expect_found(s, "12", ".Errors[0].code value");
    expect_found(s, "1.50", ".n[0] value");
    expect_found(s, "1.5", "");
    expect_found(s, "-3", ".n[1] value");
    expect_found(s, "true", ".Errors[1] value");
    expect_found(s, "null", ".x value");
    expect_found(s, "GRÖSSE", "");
    expect_found(s, "GRÖßE", ".\"Größe\" key");
    expect_found(s, "привет", ".\"Größe\" value");
    expect_found(s, "ωMEGA žLUŤ", ".\"Größe\" value");
    expect_found(s, "", "");
    expect_found(s, "nowhere", "");
    expect_found(s, "\xff", "");
    json_unref(s);
}

static void search_gives_paths_both_ways_and_stops_at_its_limit(void **state) {
    (void)state;
    Json s = parse("{\"a\": [\"hit\", \"hit\", \"hit\"]}");
    Json answer = inspect_search(s, "hit", 2);
    expect_gives(answer,
                 "{\"found\": [{\"path\": [\"a\", 0], \"text\": \".a[0]\", \"type\": \"string\","
                 "\"preview\": \"\\\"hit\\\"\", \"where\": \"value\"}, {\"path\": [\"a\", 1],"
                 "\"text\": \".a[1]\", \"type\": \"string\", \"preview\": \"\\\"hit\\\"\","
                 "\"where\": \"value\"}], \"more\": true}");
    answer = inspect_search(s, "hit", 3);
    expect_at(answer, "[\"more\"]", "false");
    json_unref(answer);
    json_unref(s);
}

/* Sixty levels of a pair of the same: as text it would have 2^60 leaves. */
static Json folded(Json inner) {
    for (int i = 0; i < 60; i++) {
        inner = json_array_push(json_array_push(json_array(), json_ref(inner)), inner);
    }
    return inner;
}

static void work_on_a_value_without_end_is_bounded(void **state) {
    (void)state;
    Json s = folded(json_string_c("x")), other = folded(json_string_c("y"));
    Json answer = inspect_search(s, "absent", 0);
    expect_gives(answer, "{\"found\": [], \"more\": true}");
    answer = inspect_largest(s, 5, 0);
    assert_int_equal(json_array_len(at(answer, "[\"largest\"]")), 5);
    json_unref(answer);
    answer = inspect_diff(s, other, 0);
    expect_at(answer, "[\"changed\", 0, \"path\"]", "[]");
    expect_at(answer, "[\"more\"]", "true");
    json_unref(answer);
    json_unref(inspect_variables(s, json_none(), &(InspectPage){.offset = 0, .limit = 0}, NULL));
    InspectEval eval = {".", 1, s, NULL, NULL, 0, 0, 0, 0, false};
    answer = inspect_eval(&eval, NULL);
    expect_at(answer, "[\"results\"]", "[]");
    expect_at(answer, "[\"more\"]", "true");
    expect_at(answer, "[\"omitted\", \"type\"]", "\"array\"");
    json_unref(answer);
    json_unref(s);
    json_unref(other);
}

/* ---- the largest ---- */

static void expect_largest(Json s, size_t limit, const char *want) {
    Json answer = inspect_largest(s, limit, 0), list = at(answer, "[\"largest\"]");
    Buf got = BUF_INIT;
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json text = json_object_get_c(json_array_get(list, i), "text");
        buf_printf(&got, "%s%.*s", i ? " " : "", (int)json_string_len(text),
                   json_string_data(&text));
    }
    assert_string_equal(got.len ? got.data : "", want);
    buf_clear(&got);
    json_unref(answer);
}

static void the_largest_are_listed_without_mere_wrappers(void **state) {
    (void)state;
    Json inner = json_object_with(json_object(), "body", long_string(100000));
    inner = json_object_with(inner, "status", json_int(200));
    Json s = json_object_with(json_object(), "small", json_int(1));
    s = json_object_with(s, "answer", json_object_with(json_object(), "http", inner));
    Json two =
        json_array_push(json_array_push(json_array(), long_string(30000)), long_string(20000));
    s = json_object_with(s, "two", two);
    expect_largest(s, 4, ".answer.http.body .two .two[0] .two[1]");
    expect_largest(s, 1, ".answer.http.body");
    expect_largest(s, 0, ".answer.http.body .two .two[0] .two[1] .small");
    json_unref(s);
    expect_largest(json_int(1), 0, "");
}

static void wrappers_that_shrink_are_in_their_order(void **state) {
    (void)state;
    Json inner = long_string(50000);
    for (int i = 0; i < 9; i++) { /* each is a little more than nine tenths of the one around it */
        Json level = json_object_with(json_object(), "in", json_ref(inner));
        size_t rest = (size_t)json_size(inner) / 10;
        json_unref(inner);
        inner = json_object_with(level, "rest", long_string(rest - 300));
    }
    Json s = json_object_with(json_object(), "chain", inner);
    s = json_object_with(s, "other", long_string(70000));
    expect_largest(s, 2, ".other .chain.in.in.in.in.in.in.in.in.in");
    json_unref(s);
}

static void the_largest_of_many_are_found(void **state) {
    (void)state;
    Json a = json_array();
    for (size_t i = 0; i < 3000; i++) a = json_array_push(a, long_string(100 + 7 * i % 3000));
    Json s = json_object_with(json_object(), "a", a);
    Json answer = inspect_largest(s, 20, 0), list = at(answer, "[\"largest\"]");
    assert_int_equal(json_array_len(list), 20);
    for (size_t i = 1; i < 20; i++) {
        Json x = json_object_get_c(json_array_get(list, i - 1), "size");
        assert_true(x.i >= json_object_get_c(json_array_get(list, i), "size").i);
    }
    expect_at(answer, "[\"largest\", 1, \"length\"]", "3099");
    json_unref(answer);
    json_unref(s);
}

/* ---- differences ---- */

static void a_diff_tells_what_was_added_removed_and_changed(void **state) {
    (void)state;
    Json a = parse("{\"x\": 1, \"y\": {\"z\": [1, 2]}, \"gone\": null}");
    Json b = parse("{\"x\": 2, \"y\": {\"z\": [1, 2, 3]}}");
    expect_gives(inspect_diff(a, b, 0),
                 "{\"added\": [{\"path\": [\"y\", \"z\", 2], \"new\": 3}],"
                 "\"removed\": [{\"path\": [\"gone\"], \"old\": null}],"
                 "\"changed\": [{\"path\": [\"x\"], \"old\": 1, \"new\": 2}],"
                 "\"counts\": {\"added\": 1, \"removed\": 1, \"changed\": 1, \"unchanged\": 0}}");
    expect_gives(inspect_diff(a, a, 0),
                 "{\"added\": [], \"removed\": [], \"changed\": [],"
                 "\"counts\": {\"added\": 0, \"removed\": 0, \"changed\": 0, \"unchanged\": 3}}");
    json_unref(a);
    json_unref(b);
}

static void large_sides_of_a_change_are_previews(void **state) {
    (void)state;
    Json a = json_object_with(json_object(), "k", json_int(1));
    Json b = json_object_with(json_object(), "k", numbers(5000));
    Json answer = inspect_diff(a, b, 0);
    expect_at(answer, "[\"changed\", 0, \"old\"]", "1");
    expect_at(answer, "[\"changed\", 0, \"cut\"]", "true");
    expect_at(answer, "[\"changed\", 0, \"new\"]",
              "\"[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,...\"");
    assert_true(at(answer, "[\"changed\", 0, \"new_size\"]").i > 5000 * 16);
    assert_true(json_is_none(at(answer, "[\"changed\", 0, \"old_size\"]")));
    json_unref(answer);
    json_unref(a);
    json_unref(b);
}

static void long_strings_are_previewed_where_they_differ(void **state) {
    (void)state;
    char text[20001];
    memset(text, 'b', 20000);
    text[20000] = '\0';
    Json a = json_string_c(text);
    text[15000] = 'c';
    Json b = json_string_c(text), answer = inspect_diff(a, b, 0);
    Json before = at(answer, "[\"changed\", 0, \"old\"]");
    Json after = at(answer, "[\"changed\", 0, \"new\"]");
    assert_false(json_equal(before, after));
    assert_true(strstr(json_string_data(&after), "\"...bbbbbbbbbbbbbbbbbbbbcbbb"));
    json_unref(answer);
    json_unref(a);
    json_unref(b);
}

static void a_diff_has_a_limit_of_each(void **state) {
    (void)state;
    Json a = numbers(10), b = numbers(20);
    b = json_array_set(json_array_set(b, 0, json_null()), 1, json_null());
    Json answer = inspect_diff(a, b, 2);
    assert_int_equal(json_array_len(at(answer, "[\"added\"]")), 2);
    assert_int_equal(json_array_len(at(answer, "[\"changed\"]")), 2);
    expect_at(answer, "[\"more\"]", "true");
    json_unref(answer);
    answer = inspect_diff(a, b, 10);
    assert_true(json_is_none(at(answer, "[\"more\"]")));
    json_unref(answer);
    json_unref(a);
    json_unref(b);
}

/* ---- very deep, very wide ---- */

static void ten_thousand_levels_are_no_matter(void **state) {
    (void)state;
    Json a = deep_array(json_string_c("bottom"), DEEP),
         b = deep_array(json_string_c("other"), DEEP);
    Json answer = inspect_search(a, "BOTTOM", 0);
    Json path = at(answer, "[\"found\", 0, \"path\"]");
    assert_int_equal(json_array_len(path), DEEP);
    Json shown = inspect_variables(a, path, &(InspectPage){.offset = 0, .limit = 0}, NULL);
    expect_at(shown, "[\"value\"]", "\"bottom\"");
    json_unref(shown);
    json_unref(answer);
    answer = inspect_variables(a, json_none(), &(InspectPage){.offset = 0, .limit = 0}, NULL);
    expect_at(answer, "[\"total\"]", "1");
    json_unref(answer);
    answer = inspect_diff(a, b, 0);
    assert_int_equal(json_array_len(at(answer, "[\"changed\", 0, \"path\"]")), DEEP);
    json_unref(answer);
    answer = inspect_largest(a, 1000, 0);
    assert_true(json_array_len(at(answer, "[\"largest\", 0, \"path\"]")) > DEEP - 100);
    json_unref(answer);
    InspectEval eval = {".. | strings", 12, a, NULL, NULL, 0, 0, 0, 0, false};
    Error err = ERROR_INIT;
    answer = json_none();
    for (int i = 0; i < 10 && json_is_none(answer); i++) { /* its second passes on a busy machine */
        answer = inspect_eval(&eval, &err);
    }
    if (json_is_none(answer)) fail_msg("%s", err.msg);
    expect_gives(answer, "{\"results\": [\"bottom\"], \"more\": false}");
    json_unref(inspect_summary(a));
    json_unref(a);
    json_unref(b);
}

static void a_million_keys_are_paged_searched_and_compared(void **state) {
    (void)state;
    Json o = wide_object(WIDE), changed;
    Json answer =
        inspect_variables(o, json_none(), &(InspectPage){.offset = WIDE - 1, .limit = 5}, NULL);
    expect_at(answer, "[\"children\", 0, \"key\"]", "\"key999999\"");
    expect_at(answer, "[\"total\"]", "1000000");
    json_unref(answer);
    answer = inspect_summary(o);
    assert_int_equal(json_array_len(at(answer, "[\"keys\"]")), INSPECT_PAGE_MAX);
    expect_at(answer, "[\"more\"]", "true");
    json_unref(answer);
    answer = inspect_search(o, "KEY99999", 100);
    assert_int_equal(json_array_len(at(answer, "[\"found\"]")), 11);
    expect_at(answer, "[\"more\"]", "false");
    json_unref(answer);
    changed = json_object_with(json_ref(o), "key500000", long_string(5000));
    answer = inspect_largest(changed, 1, 0);
    expect_at(answer, "[\"largest\", 0, \"path\"]", "[\"key500000\"]");
    json_unref(answer);
    answer = inspect_diff(o, changed, 0);
    expect_at(answer, "[\"changed\", 0, \"path\"]", "[\"key500000\"]");
    json_unref(answer);
    expect_nowhere(o, ".key10x", "`.` has no key `key10x`; did you mean `key10`?");
    json_unref(o);
    json_unref(changed);
}

/* ---- evaluating ---- */

static Json eval_text(const char *text, Json s, size_t limit, Error *err) {
    static const char *const names[] = {"item", "index"};
    Json values[] = {json_string_c("thing"), json_int(3)};
    InspectEval eval = {text, strlen(text), s, names, values, 2, limit, 0, 0, false};
    return inspect_eval(&eval, err);
}

static void evaluation_gives_results_up_to_a_limit(void **state) {
    (void)state;
    Json s = parse("{\"a\": [1, 2, 3]}");
    expect_gives(eval_text(".a[]", s, 0, NULL), "{\"results\": [1, 2, 3], \"more\": false}");
    expect_gives(eval_text(".a[]", s, 3, NULL), "{\"results\": [1, 2, 3], \"more\": false}");
    expect_gives(eval_text(".a[]", s, 2, NULL), "{\"results\": [1, 2], \"more\": true}");
    expect_gives(eval_text("empty", s, 2, NULL), "{\"results\": [], \"more\": false}");
    expect_gives(eval_text("$item, $index", s, 0, NULL),
                 "{\"results\": [\"thing\", 3], \"more\": false}");
    json_unref(s);
}

static void expect_eval_error(const char *text, ErrorCode code, int line, int col,
                              const char *part) {
    Error err = ERROR_INIT;
    expect_json(eval_text(text, json_null(), 0, &err), "(none)");
    assert_int_equal(err.code, code);
    assert_int_equal(err.line, line);
    assert_int_equal(err.col, col);
    expect_contains(err.msg, part);
}

static void errors_say_where_in_the_expression(void **state) {
    (void)state;
    expect_eval_error(".a | | .b", ERR_SYNTAX, 1, 6, "At column 6 of the expression: ");
    expect_eval_error(".a\n  | nope", ERR_SYNTAX, 2, 5, "At line 2, column 5 of the expression: ");
    expect_eval_error("$x", ERR_SYNTAX, 1, 1, "$x");
    expect_eval_error("1 | .a", ERR_RAISED, 1, 5, "Cannot index number");
    expect_json(eval_text("(", json_null(), 0, NULL), "(none)");
}

static void evaluation_has_a_budget(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    expect_json(eval_text("def f: f; f", json_null(), 0, &err), "(none)");
    assert_int_equal(err.code, ERR_LIMIT);
    expect_json(eval_text("reduce range(1e9) as $i (\"\"; . + \"0123456789abcdef\" * 100000)",
                          json_null(), 0, &err),
                "(none)");
    assert_int_equal(err.code, ERR_LIMIT);
    Buf text = BUF_INIT;
    for (int i = 0; i <= FLOW_EXPR_MAX; i++) buf_addc(&text, ' ');
    expect_json(eval_text(text.data, json_null(), 0, &err), "(none)");
    assert_int_equal(err.code, ERR_LIMIT);
    buf_clear(&text);
}

static void results_together_are_bounded(void **state) {
    (void)state;
    Json answer = eval_text("\"0123456789\" * 500000 | ., ., ., ., .", json_null(), 0, NULL);
    assert_int_equal(json_array_len(at(answer, "[\"results\"]")), 3);
    expect_at(answer, "[\"more\"]", "true");
    expect_at(answer, "[\"omitted\", \"length\"]", "5000000");
    json_unref(answer);
}

static void completions_know_the_state(void **state) {
    (void)state;
    static const char *const names[] = {"item"};
    Json s = parse("{\"retries\": 1, \"result\": {\"ok\": true}}");
    Json answer = inspect_complete(".re", 3, SIZE_MAX, names, 1, s);
    assert_int_equal(json_array_len(at(answer, "[\"items\"]")), 2);
    expect_at(answer, "[\"items\", 0, \"text\"]", "\"result\"");
    expect_at(answer, "[\"items\", 0, \"from\"]", "1");
    json_unref(answer);
    answer = inspect_complete("$it", 3, 3, names, 1, json_none());
    expect_at(answer, "[\"items\", 0, \"text\"]", "\"$item\"");
    json_unref(answer);
    json_unref(s);
}

/* ---- nodes ---- */

static const char graph_text[] = "name: demo\n"
                                 "nodes:\n"
                                 "  - name: build\n"
                                 "    title: Build it\n"
                                 "    shell: make \\(.target)\n"
                                 "    env:\n"
                                 "      LEVEL: .level + 1\n"
                                 "    output: log\n"
                                 "    timeout: 1500ms\n"
                                 "    retry: {attempts: 2, if: '.error.kind != \"x\"'}\n"
                                 "    interrupt: before\n"
                                 "  - name: plain\n"
                                 "    shell: echo done\n"
                                 "    output: log\n"
                                 "  - name: used\n"
                                 "    uses: jq\n"
                                 "    with: {jq: '{a: 1}'}\n"
                                 "  - name: boxed\n"
                                 "    approval: {prompt: 'Go with \\(.log)?', options: [yes, no]}\n"
                                 "    output: answer\n"
                                 "  - name: each\n"
                                 "    map: .items\n"
                                 "    as: x\n"
                                 "    do:\n"
                                 "      jq: $x + 1\n"
                                 "edges:\n"
                                 "  - {from: build, to: plain, when: .log == \"\"}\n"
                                 "  - {from: build, to: [used, boxed]}\n"
                                 "  - {from: build, to: each, on: error}\n"
                                 "  - {from: plain, to: __end__}\n"
                                 "  - {from: used, to: each}\n"
                                 "  - {from: boxed, to: each}\n"
                                 "  - {from: each, to: __end__}\n";

static void expect_expressions(const Node *node, const char *want) {
    Json config = inspect_config(node), list = at(config, "[\"expressions\"]");
    Buf got = BUF_INIT;
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json one = json_array_get(list, i), text = json_object_get_c(one, "text");
        Json line = json_object_get_c(one, "line"), path = json_object_get_c(one, "path");
        json_path_text(path, SIZE_MAX, &got);
        buf_printf(&got, "@%d: %.*s\n", json_is_none(line) ? 0 : (int)line.i,
                   (int)json_string_len(text), json_string_data(&text));
        /* It is there in the node as written. */
        Json written = inspect_at(json_object_get_c(config, "raw"), path, NULL, NULL);
        assert_false(json_is_none(written));
    }
    assert_string_equal(got.len ? got.data : "", want);
    buf_clear(&got);
    json_unref(config);
}

static void a_config_lists_the_expressions_of_a_node(void **state) {
    (void)state;
    Flow *flow = load(graph_text);
    expect_expressions(node_of(flow->main, "build"), ".env.LEVEL@7: .level + 1\n"
                                                     ".retry.if@10: .error.kind != \"x\"\n");
    expect_expressions(node_of(flow->main, "plain"), "");
    expect_expressions(node_of(flow->main, "used"), ".with.jq@17: {a: 1}\n");
    expect_expressions(node_of(flow->main, "boxed"), ".approval.prompt@19: Go with \\(.log)?\n");
    expect_expressions(node_of(flow->main, "each"), ".map@22: .items\n");
    expect_expressions(node_of(flow->main, "each")->params[MAP_DO].node, ".jq@25: $x + 1\n");
    Json config = inspect_config(node_of(flow->main, "used"));
    expect_gives(config,
                 "{\"node\": \"used\", \"kind\": \"jq\", \"raw\": {\"name\": \"used\", \"uses\":"
                 "\"jq\", \"with\": {\"jq\": \"{a: 1}\"}}, \"expressions\": [{\"path\": [\"with\","
                 "\"jq\"], \"text\": \"{a: 1}\", \"line\": 17, \"column\": 17}]}");
    flow_unref(flow);
}

static void a_node_tells_its_place_and_its_edges(void **state) {
    (void)state;
    Flow *flow = load(graph_text);
    Json node = inspect_node(node_of(flow->main, "build"));
    expect_at(node, "[\"edges\"]",
              "[{\"to\": \"plain\", \"when\": \".log == \\\"\\\"\"},"
              "{\"to\": \"used\", \"parallel\": true, \"join\": \"each\"},"
              "{\"to\": \"boxed\", \"parallel\": true, \"join\": \"each\"},"
              "{\"to\": \"each\", \"on\": \"error\"}]");
    expect_at(node, "[\"node\"]", "\"build\"");
    expect_at(node, "[\"kind\"]", "\"shell\"");
    expect_at(node, "[\"title\"]", "\"Build it\"");
    expect_at(node, "[\"file\"]", "\"f\"");
    expect_at(node, "[\"line\"]", "3");
    expect_at(node, "[\"end_line\"]", "11");
    expect_at(node, "[\"timeout\"]", "1.5");
    expect_at(node, "[\"retry\", \"attempts\"]", "2");
    expect_at(node, "[\"interrupt\"]", "\"before\"");
    expect_at(node, "[\"source\", \"shell\"]", "\"make \\\\(.target)\"");
    json_unref(node);
    flow_unref(flow);
}

static const char tasks_text[] = "name: demo\n"
                                 "tasks:\n"
                                 "  - name: sleep\n"
                                 "    id: nap\n"
                                 "    title: Nap for ${{ vars.nap }} by ${who}\n"
                                 "    if: tasks.x | not\n"
                                 "    configVars: {duration: wait}\n"
                                 "  - name: run_tasks\n"
                                 "    config:\n"
                                 "      tasks:\n"
                                 "        - name: run_shell\n"
                                 "          config:\n"
                                 "            command: echo ${a} ${{ b.c }}\n"
                                 "            shellArgs: [-e]\n"
                                 "            envVars: {X: x.y}\n"
                                 "        - name: run_shell\n"
                                 "          config: {command: 'true'}\n"
                                 "          configVars: {shell: vars.shell}\n"
                                 "  - name: run_tasks_concurrent\n"
                                 "    config:\n"
                                 "      tasks:\n"
                                 "        - {name: sleep, config: {duration: 1s}}\n"
                                 "        - {name: sleep, config: {duration: 2s}}\n"
                                 "  - name: check_http_json\n"
                                 "    config:\n"
                                 "      url: http://localhost/\n"
                                 "      assertions:\n"
                                 "        - {name: up, query: .up, operator: eq, value: true}\n";

static void a_config_lists_queries_and_placeholders_of_a_task(void **state) {
    (void)state;
    Flow *flow = load(tasks_text);
    const Graph *inner = flow->main->nodes[1].params[RUN_TASKS_TASKS].graph;
    expect_expressions(&flow->main->nodes[0], ".if@6: tasks.x | not\n"
                                              ".title@5:  vars.nap \n"
                                              ".title@0: who\n"
                                              ".configVars.duration@7: wait\n");
    expect_expressions(&inner->nodes[0], ".config.envVars.X@15: x.y\n");
    expect_expressions(&inner->nodes[1], ".configVars.shell@18: vars.shell\n");
    expect_expressions(&flow->main->nodes[1], "");
    expect_expressions(&flow->main->nodes[3], ".config.assertions[0].query@28: .up\n");
    flow_unref(flow);
}

static void tasks_lead_to_the_next_where_they_run_in_order(void **state) {
    (void)state;
    Flow *flow = load(tasks_text);
    const Node *nodes = flow->main->nodes;
    const Graph *inner = nodes[1].params[RUN_TASKS_TASKS].graph;
    const Graph *beside = nodes[2].params[CONCURRENT_TASKS].graph;
    Json node = inspect_node(&nodes[0]);
    expect_at(node, "[\"edges\"]", "[{\"to\": \"run_tasks\"}]");
    json_unref(node);
    node = inspect_node(&nodes[3]);
    expect_at(node, "[\"edges\"]", "[{\"to\": \"__end__\"}]");
    json_unref(node);
    node = inspect_node(&inner->nodes[0]);
    expect_at(node, "[\"edges\"]", "[{\"to\": \"run_shell-2\"}]");
    json_unref(node);
    node = inspect_node(&beside->nodes[0]);
    expect_at(node, "[\"edges\"]", "[]");
    json_unref(node);
    flow_unref(flow);
}

static const char pipeline_text[] = "name: ship\n"
                                    "steps:\n"
                                    "  - name: Unit tests\n"
                                    "    type: script\n"
                                    "    config: {command: make test}\n"
                                    "    on_success: merge:main\n";

static void steps_of_a_pipeline_have_their_source(void **state) {
    (void)state;
    Flow *flow = load(pipeline_text);
    for (size_t i = 0; i < flow->main->nnodes; i++) {
        Json config = inspect_config(&flow->main->nodes[i]);
        assert_true(json_kind(at(config, "[\"raw\"]")) >= JSON_STRING);
        expect_at(config, "[\"expressions\"]", "[]");
        json_unref(config);
    }
    Json node = inspect_node(&flow->main->nodes[0]);
    expect_at(node, "[\"title\"]", "\"Unit tests\"");
    expect_at(node, "[\"node\"]", "\"unit-tests\"");
    json_unref(node);
    flow_unref(flow);
}

static const File files[] = {
    {"flows/main.yaml", "nodes:\n"
                        "  - name: sub\n"
                        "    workflow: parts/sub.yaml\n"
                        "    output: x\n"
                        "  - name: other\n"
                        "    workflow: else/sub.yaml\n"
                        "    output: y\n"
                        "  - name: loop\n"
                        "    while: .n < 3\n"
                        "    do:\n"
                        "      - {name: inc, jq: '{n: (.n + 1)}'}\n"},
    {"flows/parts/sub.yaml", "nodes:\r\n  - {name: inner, jq: '{a: 1}'}\r\n"},
    {"flows/else/sub.yaml", "nodes: [{name: m, map: .l, do: {map: $item, as: k, do: {jq: $k}}}]"},
    {0},
};

static void all_nodes_are_listed_those_inside_too(void **state) {
    (void)state;
    Flow *flow = load_files(files);
    Json answer = inspect_nodes(flow), list = at(answer, "[\"nodes\"]");
    Buf got = BUF_INIT;
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json one = json_array_get(list, i), name = json_object_get_c(one, "name");
        Json file = json_object_get_c(one, "file");
        buf_printf(&got, "%.*s %.*s:%d\n", (int)json_string_len(name), json_string_data(&name),
                   (int)json_string_len(file), json_string_data(&file),
                   (int)json_object_get_c(one, "line").i);
    }
    assert_string_equal(got.data, "sub flows/main.yaml:2\n"
                                  "other flows/main.yaml:5\n"
                                  "loop flows/main.yaml:8\n"
                                  "inner flows/parts/sub.yaml:2\n"
                                  "m flows/else/sub.yaml:1\n"
                                  "m[] flows/else/sub.yaml:1\n"
                                  "m[][] flows/else/sub.yaml:1\n"
                                  "inc flows/main.yaml:11\n");
    assert_int_equal(json_array_len(list), flow->nnodes);
    expect_at(answer, "[\"files\"]",
              "[\"flows/main.yaml\", \"flows/parts/sub.yaml\", \"flows/else/sub.yaml\"]");
    buf_clear(&got);
    json_unref(answer);
    flow_unref(flow);
    flow = load(tasks_text);
    answer = inspect_nodes(flow);
    expect_at(answer, "[\"nodes\", 0, \"id\"]", "\"nap\"");
    assert_int_equal(json_array_len(at(answer, "[\"nodes\"]")), flow->nnodes);
    json_unref(answer);
    flow_unref(flow);
}

static void source_gives_the_lines_around_one(void **state) {
    (void)state;
    Flow *flow = load_files(files);
    expect_gives(inspect_source(flow, NULL, 3, 1, NULL),
                 "{\"file\": \"flows/main.yaml\", \"first\": 2, \"lines\": [\"  - name: sub\","
                 "\"    workflow: parts/sub.yaml\", \"    output: x\"], \"current\": 3}");
    expect_gives(inspect_source(flow, "parts/sub.yaml", 2, 0, NULL),
                 "{\"file\": \"flows/parts/sub.yaml\", \"first\": 1, \"lines\": [\"nodes:\","
                 "\"  - {name: inner, jq: '{a: 1}'}\"], \"current\": 2}");
    expect_gives(inspect_source(flow, "main.yaml", 0, 1, NULL),
                 "{\"file\": \"flows/main.yaml\", \"first\": 1, \"lines\": [\"nodes:\","
                 "\"  - name: sub\"]}");
    Json answer = inspect_source(flow, "flows/main.yaml", 11, INT_MAX, NULL);
    assert_int_equal(json_array_len(at(answer, "[\"lines\"]")), 11);
    json_unref(answer);
    flow_unref(flow);
}

static void expect_no_source(const Flow *flow, const char *file, int line, const char *want) {
    Error err = ERROR_INIT;
    expect_json(inspect_source(flow, file, line, 2, &err), "(none)");
    assert_string_equal(err.msg, want);
}

static void source_names_what_is_not_there(void **state) {
    (void)state;
    Flow *flow = load_files(files);
    expect_no_source(flow, "mian.yaml", 1,
                     "The workflow has no file `mian.yaml`; did you mean `main.yaml`?");
    expect_no_source(flow, "zzz", 1, "The workflow has no file `zzz`.");
    expect_no_source(
        flow, "sub.yaml", 1,
        "`sub.yaml` may be `flows/parts/sub.yaml` or `flows/else/sub.yaml`; say more of "
        "its path.");
    expect_no_source(flow, "main.yaml", 12, "`flows/main.yaml` has 11 lines; there is no line 12.");
    expect_no_source(flow, "main.yaml", INT_MAX,
                     "`flows/main.yaml` has 11 lines; there is no line "
                     "16777217.");
    expect_no_source(flow, "ub.yaml", 1,
                     "The workflow has no file `ub.yaml`; did you mean `sub.yaml`?");
    flow_unref(flow);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(path_text_becomes_steps),
        JSON_TEST(other_expressions_are_no_paths),
        JSON_TEST(steps_of_a_path_are_keys_and_whole_numbers),
        JSON_TEST(a_path_has_ten_thousand_steps_at_most),
        JSON_TEST(a_path_is_written_as_jq_and_read_back),
        JSON_TEST(small_values_are_shown_whole),
        JSON_TEST(a_path_that_leads_nowhere_names_the_nearest_key),
        JSON_TEST(large_values_come_in_pages),
        JSON_TEST(pages_of_an_object_skip_what_was_removed),
        JSON_TEST(a_long_string_is_cut_into_pages_of_characters),
        JSON_TEST(a_number_of_many_digits_is_previewed),
        JSON_TEST(previews_are_sixty_characters_at_most),
        JSON_TEST(a_summary_has_every_key_with_type_and_size),
        JSON_TEST(search_finds_parts_of_keys_and_strings),
        JSON_TEST(search_gives_paths_both_ways_and_stops_at_its_limit),
        JSON_TEST(work_on_a_value_without_end_is_bounded),
        JSON_TEST(the_largest_are_listed_without_mere_wrappers),
        JSON_TEST(wrappers_that_shrink_are_in_their_order),
        JSON_TEST(the_largest_of_many_are_found),
        JSON_TEST(a_diff_tells_what_was_added_removed_and_changed),
        JSON_TEST(large_sides_of_a_change_are_previews),
        JSON_TEST(long_strings_are_previewed_where_they_differ),
        JSON_TEST(a_diff_has_a_limit_of_each),
        JSON_TEST(ten_thousand_levels_are_no_matter),
        JSON_TEST(a_million_keys_are_paged_searched_and_compared),
        JSON_TEST(evaluation_gives_results_up_to_a_limit),
        JSON_TEST(errors_say_where_in_the_expression),
        JSON_TEST(evaluation_has_a_budget),
        JSON_TEST(results_together_are_bounded),
        JSON_TEST(completions_know_the_state),
        JSON_TEST(a_config_lists_the_expressions_of_a_node),
        JSON_TEST(a_node_tells_its_place_and_its_edges),
        JSON_TEST(a_config_lists_queries_and_placeholders_of_a_task),
        JSON_TEST(tasks_lead_to_the_next_where_they_run_in_order),
        JSON_TEST(steps_of_a_pipeline_have_their_source),
        JSON_TEST(all_nodes_are_listed_those_inside_too),
        JSON_TEST(source_gives_the_lines_around_one),
        JSON_TEST(source_names_what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
