/* Images: what readers make of one, and of values that are none. */
#include "image.h"
#include "wait.h"

#include "engine.h"
#include "json_diff.h"
#include "json_test.h"

#define LEVEL(node, state) "[" node "," state ",null,0,0,0,0]"
#define IMAGE(frames)      "[[null,null,3,\"autonomous\",0,null,null],{" frames "}]"

static void only_images_are_valid(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool valid;
    } cases[] = {
        {IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", "{}") "],null]"), true},
        {IMAGE("\"1\":[0,0,[" LEVEL("null", "{}") "],[\"done\"]]"), true},
        {"null", false},
        {"[]", false},
        {"{}", false},
        {"[[],{}]", false},
        {IMAGE(""), false},
        {IMAGE("\"2\":[0,0,[" LEVEL("\"a\"", "{}") "],null]"), false},
        {IMAGE("\"1\":[0,0,[],null]"), false},
        {IMAGE("\"1\":[0,0,[" LEVEL("7", "{}") "],null]"), false},
        {IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", "[]") "],null]"), false},
        {IMAGE("\"1\":[0,0,[[\"a\",{}]],null]"), false},
        {IMAGE("\"1\":null"), false},
        {IMAGE("\"1\":[0,0,{},null]"), false},
        {IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", "{}") "],null],\"2\":7"), false},
        {IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", "{}") "],[\"sleep\",-1]]"), false},
        {IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", "{}") "],[\"work\",\"../1\"]]"), false},
        {IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", "{}") "],[\"interrupt\",\"i\",\"r\",null,[7]]]"),
         false},
        {IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", "{}") "],[\"pause\",[\"go\"],{},1,0]]"), true},
        {IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", "{}") "],[\"pause\",[\"go\"],{},1,4]]"), false},
        {IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", "{}") "],[\"pause\",[\"pause\",null,{},1,0],{},1,0]]"),
         false},
        {IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", "{}") "],null],\"9223372036854775807\":[1,0,[" LEVEL(
             "\"a\"", "null") "],null]"),
         false},
        {IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", "{}") "],null],\"02\":[1,0,[" LEVEL("\"a\"",
                                                                                 "null") "],null]"),
         false},
        {IMAGE("\"1\":[1,0,[" LEVEL("\"a\"", "{}") "],null]"), false},
        {IMAGE("\"1\":[0,4294967296,[" LEVEL("\"a\"", "{}") "],null]"), false},
        {IMAGE("\"1\":[0,0,[[\"a\",{},null,0,0,-1,0]],null]"), false},
        {IMAGE("\"1\":[0,0,[[\"a\",{},null,0,9223372036854775807,0,0]],null]"), false},
        {"[[null,null,9223372036854775807,\"autonomous\",0,null,null],{\"1\":[0,0,[" LEVEL(
             "\"a\"", "{}") "],null]}]",
         false},
        {"[[null,null,3,\"autonomous\"],{\"1\":[0,0,[" LEVEL("\"a\"", "{}") "],null]}]", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Json image = parse(cases[i].text);
        Error err = ERROR_INIT;
        if (image_check(image, &err) != cases[i].valid) fail_msg("%s: %s", cases[i].text, err.msg);
        if (cases[i].valid) expect_gives(image_state(image), "{}");
        json_unref(image_state(image)); /* whatever it is, nothing is read that is not there */
        json_unref(image_interrupts(image));
        json_unref(image_error(image));
        json_unref(image);
    }
}

static void what_is_damaged_is_said_with_its_path(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {IMAGE("\"1\":[0,0,[" LEVEL("7", "{}") "],null]"),
         "[1][\"1\"][2][0][0]: this is 7, and a text or null is expected"},
        {IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", "{}") "],[\"sleep\",-1]]"),
         "[1][\"1\"][3][1]: this is -1, and an int from 0 to 999999999999999999 is expected"},
        {IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", "{}") "],null],\"7\":[1,0,[" LEVEL("\"a\"",
                                                                                "null") "],null]"),
         "[1][\"7\"]: this is not the number of a frame"},
        {IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", "null") "],null]"), "[1][\"1\"]: this has no state"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Json image = parse(rows[i][0]);
        Error err = ERROR_INIT;
        assert_false(image_check(image, &err));
        assert_string_equal(err.msg, rows[i][1]);
        assert_int_equal(err.code, ERR_DATA);
        json_unref(image);
    }
}

static void the_state_is_that_of_the_lowest_level_of_the_root_frame(void **state) {
    (void)state;
    Json image = parse(IMAGE("\"2\":[1,0,[" LEVEL(
        "\"b\"", "{\"x\":3}") "],null],"
                              "\"1\":[0,0,[" LEVEL("\"a\"", "{\"x\":1}") "," LEVEL(
                                  "\"i\"", "{\"x\":2}") "],null]"));
    expect_gives(image_state(image), "{\"x\":1}");
    json_unref(image);
}

static void interrupts_name_their_node_and_frame(void **state) {
    (void)state;
    Json image = parse(IMAGE("\"1\":[0,0,[" LEVEL(
        "\"s\"", "{}") "],[\"join\",null,[null],[\"a\"]]],"
                       "\"12\":[1,0,[" LEVEL("\"w\"", "{}") "," LEVEL(
                           "\"q\"",
                           "{}") "],[\"interrupt\",\"i4\",\"approval\",\"ok?\",[\"yes\"]]]"));
    expect_gives(image_interrupts(image),
                 "[{\"id\":\"i4\",\"node\":\"q\",\"frame\":12,\"prompt\":\"ok?\","
                 "\"options\":[\"yes\"],\"reason\":\"approval\"}]");
    json_unref(image);
}

static void the_error_is_given(void **state) {
    (void)state;
    Json image = parse("[[\"failed\",{\"kind\":\"exit\"},3,\"autonomous\",0,null,null],"
                       "{\"1\":[0,0,[" LEVEL("\"a\"", "{}") "],null]}]");
    expect_gives(image_error(image), "{\"kind\":\"exit\"}");
    json_unref(image);
}

static void integers_are_read_and_other_things_are_0(void **state) {
    (void)state;
    Json j = parse("[7, \"7\", null, 1.5]");
    assert_int_equal(image_int(j, 0), 7);
    for (size_t i = 1; i < 6; i++) assert_int_equal(image_int(j, i), 0);
    json_unref(j);
}

static void the_word_of_a_wait_is_its_first_element(void **state) {
    (void)state;
    Json wait = parse("[\"work\", \"3.1\"]"), empty = parse("[]"), word = parse("\"work\"");
    assert_true(wait_is(wait, WAIT_WORK));
    assert_false(wait_is(wait, WAIT_GO));
    assert_false(wait_is(empty, WAIT_WORK));
    assert_false(wait_is(word, WAIT_WORK));
    assert_false(wait_is(json_null(), WAIT_WORK));
    json_unref(wait);
    json_unref(empty);
    json_unref(word);
}

/* ---- keys that a patch touches ---- */

static void expect_keys(const char *before, const char *after, const char *want) {
    Json a = parse(before), b = parse(after), patch = json_diff(a, b);
    expect_gives(image_changed_keys(patch), want);
    json_unref(a);
    json_unref(b);
    json_unref(patch);
}

#define ROOT(state) IMAGE("\"1\":[0,0,[" LEVEL("\"a\"", state) "],null]")
#define BRANCH(state)                                         \
    IMAGE(                                                    \
        "\"1\":[0,0,[" LEVEL("\"a\"", "{\"x\":1}") "],null]," \
                                                   "\"2\":[1,0,[" LEVEL("\"b\"", state) "],null]")

static void the_first_checkpoint_touches_all_keys(void **state) {
    (void)state;
    expect_keys("null", ROOT("{\"x\":1,\"y\":2}"), "[\"x\",\"y\"]");
}

static void keys_are_those_added_changed_and_removed(void **state) {
    (void)state;
    expect_keys(ROOT("{\"x\":1,\"y\":2}"), ROOT("{\"x\":1,\"y\":3}"), "[\"y\"]");
    expect_keys(ROOT("{\"x\":1}"), ROOT("{\"x\":1,\"z\":{\"d\":1}}"), "[\"z\"]");
    expect_keys(ROOT("{\"x\":1,\"y\":[1,2]}"), ROOT("{\"x\":1,\"y\":[1,2,3]}"), "[\"y\"]");
    expect_keys(ROOT("{\"x\":1,\"y\":2}"), ROOT("{\"x\":1}"), "[\"y\"]");
    expect_keys(ROOT("{\"x\":1}"), ROOT("{\"x\":1}"), "[]");
}

static void keys_written_in_a_branch_count(void **state) {
    (void)state;
    expect_keys(BRANCH("{\"x\":1}"), BRANCH("{\"x\":2}"), "[\"x\"]");
}

static void the_first_key_of_an_empty_state_counts(void **state) {
    (void)state;
    expect_keys(ROOT("{}"), ROOT("{\"x\":1}"), "[\"x\"]");
    expect_keys(BRANCH("{}"), BRANCH("{\"x\":1}"), "[\"x\"]");
}

static void what_is_no_patch_touches_nothing(void **state) {
    (void)state;
    static const char *const texts[] = {
        "null",
        "7",
        "[7]",
        "[[]]",
        "[[[]]]",
        "[[7, 8]]",
        "[[[1, \"1\"], 3]]",
        "[[[], 3]]",
        "[[[], [1, 2]]]",
        "[[[], [[], {\"1\": 7}]]]",
        "[[[], [[], {\"1\": [0, 0, [[]], null]}]]]",
        "[[[1, \"1\", 2, 0, 2, 7], 1]]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        Json patch = parse(texts[i]);
        expect_gives(image_changed_keys(patch), "[]");
        json_unref(patch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_images_are_valid),
        cmocka_unit_test(what_is_damaged_is_said_with_its_path),
        cmocka_unit_test(the_state_is_that_of_the_lowest_level_of_the_root_frame),
        cmocka_unit_test(interrupts_name_their_node_and_frame),
        cmocka_unit_test(the_error_is_given),
        cmocka_unit_test(integers_are_read_and_other_things_are_0),
        cmocka_unit_test(the_word_of_a_wait_is_its_first_element),
        cmocka_unit_test(the_first_checkpoint_touches_all_keys),
        cmocka_unit_test(keys_are_those_added_changed_and_removed),
        cmocka_unit_test(keys_written_in_a_branch_count),
        cmocka_unit_test(the_first_key_of_an_empty_state_counts),
        cmocka_unit_test(what_is_no_patch_touches_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
