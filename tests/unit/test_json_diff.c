/* Differences: random round trips, what a patch looks like, what it costs. */
#include "buf.h"
#include "jq.h"
#include "json_diff.h"
#include "json_test.h"

#include <time.h>

static uint64_t random_state = 88172645463325252u;

static size_t random_below(size_t n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % n);
}

static Json random_key(void) {
    size_t k = random_below(60);
    return json_string_fmt(k % 4 ? "k%zu" : "a key that is long enough %zu", k);
}

static Json random_value(int depth) {
    size_t what = random_below(depth > 0 ? 8 : 5);
    size_t n = random_below(5) ? random_below(6) : random_below(80);
    Json j = what < 6 ? json_array() : json_object();
    switch (what) {
    case 0: json_unref(j); return json_null();
    case 1: json_unref(j); return json_int((int64_t)random_below(4));
    case 2: json_unref(j); return json_double(0.5 * (double)random_below(3));
    case 3: json_unref(j); return json_string_c(random_below(2) ? "a" : "some text that is long");
    case 4: json_unref(j); return json_bool(random_below(2));
    case 5:
        while (n--) {
            j = json_array_push(j, random_value(depth - 1));
        }
        return j;
    default:
        while (n--) {
            j = json_object_set(j, random_key(), random_value(depth - 1));
        }
        return j;
    }
}

static Json edited(Json j);

static Json edit_array(Json a) {
    size_t len = json_array_len(a), at = random_below(len + 1);
    switch (random_below(5)) {
    case 0: return json_array_push(a, random_value(1));
    case 1: return json_array_splice(a, at, at + random_below(3), json_array());
    case 2: return json_array_splice(a, at, at, json_array_push(json_array(), json_int(-1)));
    default: break;
    }
    if (at == len) {
        return a;
    }
    Json item = json_array_lift(&a, at);
    return json_array_set(a, at, edited(item));
}

static Json edit_object(Json o) {
    Json key = random_key();
    size_t what = random_below(6);
    if (what == 0) {
        o = json_object_remove(o, key);
    } else if (what == 1) {
        o = json_object_set(json_object_remove(o, key), json_ref(key), random_value(1));
    } else if (what == 2) {
        o = json_object_set(o, json_ref(key), random_value(1));
    } else {
        Json value = json_object_lift(&o, key);
        if (!json_is_none(value)) {
            o = json_object_set(o, json_ref(key), edited(value));
        }
    }
    json_unref(key);
    return o;
}

static Json edited(Json j) {
    switch (json_kind(j)) {
    case JSON_ARRAY: return edit_array(j);
    case JSON_OBJECT: return edit_object(j);
    default: json_unref(j); return random_value(1);
    }
}

static void assert_same_text(Json got, Json want) {
    char *a = json_to_text(got), *b = json_to_text(want);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

static void check_round_trip(Json a, Json b) {
    Error err = ERROR_INIT;
    Json patch = json_diff(a, b);
    Json got = json_patch(json_ref(a), patch, &err);
    assert_string_equal(err.msg, "");
    assert_same_text(got, b);
    assert_true(json_equal(got, b));
    json_unref(got);
    Json back = json_diff(b, b);
    assert_int_equal(json_array_len(back), 0);
    json_unref(back);
    json_unref(patch);
}

static void versions_of_one_value_round_trip(void **state) {
    (void)state;
    for (int round = 0; round < 300; round++) {
        Json a = random_value(4), b = json_ref(a);
        for (size_t n = random_below(8); n; n--) {
            b = edited(b);
            check_round_trip(a, b);
            check_round_trip(b, a);
        }
        json_unref(a);
        json_unref(b);
    }
}

static void values_that_share_nothing_round_trip(void **state) {
    (void)state;
    for (int round = 0; round < 500; round++) {
        Json a = random_value(3), b = random_value(3);
        check_round_trip(a, b);
        json_unref(a);
        json_unref(b);
    }
}

static void check_patch(const char *a, const char *b, const char *patch) {
    Json x = parse(a), y = parse(b);
    check_round_trip(x, y);
    expect_gives(json_diff(x, y), patch);
    json_unref(x);
    json_unref(y);
}

static void patch_says_no_more_than_what_changed(void **state) {
    (void)state;
    check_patch("{\"a\":1,\"b\":[1,2]}", "{\"a\":1,\"b\":[1,2]}", "[]");
    check_patch("1", "2", "[[[],2]]");
    check_patch("{\"a\":{\"b\":1}}", "{\"a\":{\"b\":2}}", "[[[\"a\",\"b\"],2]]");
    check_patch("{\"a\":1,\"b\":2}", "{\"b\":2}", "[[[\"a\"]]]");
    check_patch("{\"a\":1}", "{\"a\":1,\"b\":2}", "[[[\"b\"],2]]");
    check_patch("[1,2,3]", "[1,2,3,4]", "[[[],3,3,[4]]]");
    check_patch("[1,2,3]", "[0,1,2,3]", "[[[],0,0,[0]]]");
    check_patch("[1,2,3,4]", "[1,4]", "[[[],1,3,[]]]");
    check_patch("[[1],[2],[3]]", "[[1],[3]]", "[[[],1,2,[]]]");
    check_patch("[1,2,3]", "[1,9,3]", "[[[1],9]]");
    check_patch("[{\"a\":1},2,3]", "[{\"a\":7},2,3,4]", "[[[],3,3,[4]],[[0,\"a\"],7]]");
    check_patch("[{\"a\":1},2,3]", "[4,{\"a\":7},2,3]", "[[[],0,1,[4,{\"a\":7}]]]");
}

static void patch_keeps_the_order_of_keys(void **state) {
    (void)state;
    check_patch("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", "[[[\"a\"]],[[\"a\"],1]]");
    check_patch("{\"a\":1,\"b\":2}", "{\"c\":3,\"a\":1,\"b\":2}",
                "[[[\"a\"]],[[\"b\"]],[[\"c\"],3],[[\"a\"],1],[[\"b\"],2]]");
}

static void patch_that_does_not_fit_is_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{}", "[[[\"a\",\"b\"],1]]"},
        {"{}", "[[[\"a\"]]]"},
        {"[1]", "[[[1],1]]"},
        {"[1]", "[[[0]]]"},
        {"[1]", "[[[],1,2,[]]]"},
        {"[1]", "[[[],1,0,[]]]"},
        {"[1]", "[[[],0,0,5]]"},
        {"1", "[[[0],1]]"},
        {"1", "[[[]]]"},
        {"1", "[1]"},
        {"1", "[[1,2]]"},
        {"1", "[[]]"},
        {"1", "{}"},
        {"1", "[[[],1,2]]"},
        {"[1]", "[[[-1],1]]"},
        {"{\"a\":1}", "[[[0],1]]"},
        {"[1]", "[[[\"a\"],1]]"},
        {"{\"a\":1}", "[[[\"b\"],\"copy\",[\"c\"]]]"},
        {"{\"a\":1}", "[[[\"b\",0],\"copy\",[\"a\"]]]"},
        {"{\"a\":1}", "[[[],\"copy\",[\"a\"]]]"},
        {"{\"a\":1}", "[[[\"b\"],\"copy\",\"a\"]]"},
        {"{\"a\":1}", "[[[\"b\"],\"move\",[\"a\"]]]"},
        {"{\"a\":1}", "[[[\"a\"]],[[\"b\"],\"copy\",[\"a\"]]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error err = ERROR_INIT;
        Json patch = parse(cases[i][1]);
        assert_true(json_is_none(json_patch(parse(cases[i][0]), patch, &err)));
        assert_int_equal(err.code, ERR_DATA);
        json_unref(patch);
    }
}

static Json deep(int n, int leaf) {
    Json j = json_int(leaf);
    for (int i = 0; i < n; i++) {
        j = i % 2 ? json_array_push(json_array(), j)
                  : json_object_set(json_object(), json_string_c("a"), j);
    }
    return j;
}

static void patch_can_copy_from_elsewhere(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"{\"a\":{\"x\":1},\"b\":null}", "[[[\"b\"],\"copy\",[\"a\"]],[[\"b\",\"x\"],2]]",
         "{\"a\":{\"x\":1},\"b\":{\"x\":2}}"},
        {"[[1],null]", "[[[1],\"copy\",[0]]]", "[[1],[1]]"},
        {"{\"a\":{\"b\":1}}", "[[[\"a\",\"c\"],\"copy\",[\"a\"]]]",
         "{\"a\":{\"b\":1,\"c\":{\"b\":1}}}"},
        {"{\"a\":1}", "[[[\"b\"],\"copy\",[]]]", "{\"a\":1,\"b\":{\"a\":1}}"},
        /* in order: the source is as the changes before have left it */
        {"{\"a\":1,\"b\":2}", "[[[\"a\"],3],[[\"b\"],\"copy\",[\"a\"]],[[\"a\"]]]", "{\"b\":3}"},
        {"{\"a\":{\"b\":[1]}}", "[[[\"a\"],\"copy\",[\"a\",\"b\"]]]", "{\"a\":[1]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Json patch = parse(cases[i][1]), want = parse(cases[i][2]);
        Json got = json_patch(parse(cases[i][0]), patch, NULL);
        assert_true(json_equal(got, want));
        json_unref(got);
        json_unref(want);
        json_unref(patch);
    }
}

static void deep_values_round_trip(void **state) {
    (void)state;
    Json a = deep(50000, 1), b = deep(50000, 2), patch = json_diff(a, b);
    assert_int_equal(json_array_len(patch), 1);
    a = json_patch(a, patch, NULL);
    assert_true(json_equal(a, b));
    json_unref(a);
    json_unref(b);
    json_unref(patch);
}

static void changes_for_people_are_listed(void **state) {
    (void)state;
    Json a = parse("{\"a\":1,\"b\":[1,2,3],\"c\":{\"d\":4},\"e\":0,\"n\":1}");
    Json b = parse("{\"b\":[1,5],\"c\":{\"d\":6,\"x\":7},\"e\":0,\"f\":8,\"n\":1.0}");
    expect_gives(json_changes_report(a, b),
                 "{\"added\":[{\"path\":[\"c\",\"x\"],\"new\":7},{\"path\":[\"f\"],\"new\":8}],"
                 "\"removed\":[{\"path\":[\"a\"],\"old\":1},{\"path\":[\"b\",2],\"old\":3}],"
                 "\"changed\":[{\"path\":[\"b\",1],\"old\":2,\"new\":5},"
                 "{\"path\":[\"c\",\"d\"],\"old\":4,\"new\":6}]}");
    json_unref(a);
    json_unref(b);
}

static void order_of_keys_is_no_change_for_people(void **state) {
    (void)state;
    Json a = json_object(), key = json_string_c("k3");
    for (int i = 0; i < 50; i++) {
        a = json_object_set(a, json_string_fmt("k%d", i), json_int(i));
    }
    Json b = json_object_remove(json_ref(a), key);
    b = json_object_set(b, key, json_int(3));
    expect_gives(json_changes_report(a, b), "{\"added\":[],\"removed\":[],\"changed\":[]}");
    json_unref(a);
    json_unref(b);
}

static bool count_one(void *ctx, Json path, Json old_value, Json new_value) {
    (void)path, (void)old_value, (void)new_value;
    ++*(int *)ctx;
    return false;
}

static void changes_stop_when_told(void **state) {
    (void)state;
    Json a = parse("[1,2,3]"), b = parse("[4,5,6]");
    int calls = 0;
    json_changes(a, b, count_one, &calls);
    assert_int_equal(calls, 1);
    json_unref(a);
    json_unref(b);
}

static Json records(int n) {
    Json a = json_array(), o = json_object();
    for (int i = 0; i < n; i++) {
        Json r = json_object_set(json_object(), json_string_c("id"), json_int(i));
        r = json_object_set(r, json_string_c("name"),
                            json_string_fmt("a name of some length %d", i));
        a = json_array_push(a, json_ref(r));
        o = json_object_set(o, json_string_fmt("record %d", i), r);
    }
    Json both = json_object_set(json_object(), json_string_c("list"), a);
    return json_object_set(both, json_string_c("map"), o);
}

static Json with_changes(Json j, int n) {
    Json list = json_object_lift(&j, json_string_c("list"));
    Json map = json_object_lift(&j, json_string_c("map"));
    Json r = json_array_lift(&list, (size_t)n / 2);
    r = json_object_set(r, json_string_c("id"), json_int(-1));
    list = json_array_push(json_array_set(list, (size_t)n / 2, r), json_int(5));
    map = json_object_set(map, json_string_fmt("record %d", n / 3), json_int(7));
    j = json_object_set(j, json_string_c("list"), list);
    return json_object_set(j, json_string_c("map"), map);
}

static double diff_seconds(int n) {
    Json a = records(n), b = with_changes(json_ref(a), n);
    check_round_trip(a, b);
    Json patch = json_diff(a, b);
    assert_int_equal(json_array_len(patch), 3);
    json_unref(patch);
    clock_t start = clock();
    for (int i = 0; i < 100; i++) {
        json_unref(json_diff(a, b));
    }
    double took = (double)(clock() - start) / CLOCKS_PER_SEC;
    json_unref(a);
    json_unref(b);
    return took;
}

static void cost_follows_what_changed_and_not_the_size(void **state) {
    (void)state;
    double small = diff_seconds(100), large = diff_seconds(50000);
    assert_true(large < 20 * small + 0.01);
}

/* Whatever it may look into, what it gives leads from one to the other. */
static void a_bounded_walk_puts_whole_what_it_does_not_look_into(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"[range(100) | {a: .}]", "[range(100) | {a: (. + 1)}]"},
        {"[range(100) | {a: .}]", "[range(90) | {a: .}] + [range(20)]"},
        {"[range(100) | [., [.]]]", "[7] + [range(100) | [., [.]]]"},
        {"[range(100) | {key: \"k\\(.)\", value: [.]}] | from_entries",
         "[range(100) | {key: \"k\\(.)\", value: [. + 1]}] | from_entries"},
        {"[range(100) | {key: \"k\\(.)\", value: [.]}] | from_entries",
         "[range(50; 150) | {key: \"k\\(.)\", value: [.]}] | from_entries"},
        {"{a: {b: [range(50)]}, c: [range(50)]}", "{a: {b: [range(49; -1; -1)]}, c: [range(51)]}"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        Json a = jq_eval(pairs[i][0], json_null(), NULL, NULL);
        Json b = jq_eval(pairs[i][1], json_null(), NULL, NULL);
        for (size_t most = 0; most < 400; most = most * 2 + 1) {
            Json patch = json_diff_within(a, b, most);
            assert_true(json_array_len(patch) <= 2 * most + 2);
            Json got = json_patch(json_ref(a), patch, NULL), rest = json_diff(got, b);
            assert_int_equal(json_array_len(rest), 0);
            json_unref(rest);
            json_unref(got);
            json_unref(patch);
        }
        json_unref(a);
        json_unref(b);
    }
}

typedef struct Members {
    Buf told;
    size_t n;
} Members;

static void tell_member(void *ctx, Json key, Json old_value, Json new_value) {
    Members *m = ctx;
    m->n++;
    buf_printf(&m->told, "%s%s%s ", json_is_none(old_value) ? "+" : "",
               json_is_none(new_value) ? "-" : "", json_string_data(&key));
}

static void expect_members(const char *a, const char *b, const char *told) {
    Members m = {BUF_INIT, 0};
    Json x = parse(a), y = parse(b);
    json_changed_members(x, y, tell_member, &m);
    assert_string_equal(m.told.data ? m.told.data : "", told);
    buf_clear(&m.told);
    json_unref(x);
    json_unref(y);
}

static void keys_that_changed_are_told_without_looking_deeper(void **state) {
    (void)state;
    expect_members("{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2}", "");
    expect_members("{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3,\"c\":4}", "b +c ");
    expect_members("{\"a\":1,\"b\":2,\"c\":3}", "{\"c\":3,\"a\":2}", "a -b ");
    expect_members("{\"a\":{\"x\":1}}", "{\"a\":{\"x\":1}}", "a ");
    expect_members("[1]", "{\"a\":1}", "");
    Json was = json_object();
    for (int i = 0; i < 100000; i++) {
        was = json_object_set(was, json_string_fmt("key%d", i), json_int(i));
    }
    Json is = json_object_set(json_ref(was), json_string_fmt("key%d", 77), json_null());
    is = json_object_set(is, json_string_fmt("more"), json_null());
    Members m = {BUF_INIT, 0};
    json_changed_members(was, is, tell_member, &m);
    assert_string_equal(m.told.data, "key77 +more ");
    buf_clear(&m.told);
    json_unref(was);
    json_unref(is);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(versions_of_one_value_round_trip),
        JSON_TEST(values_that_share_nothing_round_trip),
        JSON_TEST(patch_says_no_more_than_what_changed),
        JSON_TEST(patch_keeps_the_order_of_keys),
        JSON_TEST(patch_that_does_not_fit_is_refused),
        JSON_TEST(patch_can_copy_from_elsewhere),
        JSON_TEST(deep_values_round_trip),
        JSON_TEST(changes_for_people_are_listed),
        JSON_TEST(order_of_keys_is_no_change_for_people),
        JSON_TEST(changes_stop_when_told),
        JSON_TEST(cost_follows_what_changed_and_not_the_size),
        JSON_TEST(keys_that_changed_are_told_without_looking_deeper),
        JSON_TEST(a_bounded_walk_puts_whole_what_it_does_not_look_into),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
