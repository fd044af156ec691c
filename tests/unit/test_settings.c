/* What people write on the command line about runs: places, paths, values; and what is said back. */
#include "advice.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "output.h"
#include "place.h"
#include "settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const Command command = {.name = "probe", .arguments = "", .description = ""};

/* Consumes got. */
static void expect(Json got, const char *want) {
    char *text = json_to_text(got);
    assert_string_equal(text, want);
    mem_free(text);
    json_unref(got);
}

static void sets(const char *text, const char *want) {
    Json set = json_none();
    assert_true(settings_add(&command, text, &set));
    expect(set, want);
}

static void refuses(const char *text) {
    Json set = json_none();
    assert_false(settings_add(&command, text, &set));
    assert_true(json_is_none(set));
}

static void a_setting_is_a_path_and_a_value(void **state) {
    (void)state;
    sets("a=1", "[[[\"a\"],1]]");
    sets(".a.b[0]=[1,2]", "[[[\"a\",\"b\",0],[1,2]]]");
    sets("a[-1].b=null", "[[[\"a\",-1,\"b\"],null]]");
    sets("[\"odd key\"].x=\"text\"", "[[[\"odd key\",\"x\"],\"text\"]]");
    sets(".=  {}", "[[[],{}]]");
}

static void an_equals_sign_may_stand_in_a_key_or_a_value(void **state) {
    (void)state;
    sets(".\"a=b\"=1", "[[[\"a=b\"],1]]");
    sets("a=\"x=y\"", "[[[\"a\"],\"x=y\"]]");
}

static void what_is_no_path_or_no_json_is_refused(void **state) {
    (void)state;
    refuses("a");
    refuses("=1");
    refuses("a=");
    refuses("a=text");
    refuses("a-b=1");
    refuses("a[]=1");
    refuses("a) | (1=1");
    refuses("a|error=1");
    refuses("last(range(1e9))=1");
}

static void settings_are_made_in_their_order(void **state) {
    (void)state;
    Json set = json_none();
    Error err = ERROR_INIT;
    assert_true(settings_add(&command, "a={}", &set));
    assert_true(settings_add(&command, "a.b=1", &set));
    assert_true(settings_add(&command, "c[1]=2", &set));
    expect(settings_apply(json_object(), set, &err), "{\"a\":{\"b\":1},\"c\":[null,2]}");
    json_unref(set);
}

static void a_setting_that_does_not_fit_is_an_error(void **state) {
    (void)state;
    Json set = json_none();
    Error err = ERROR_INIT;
    assert_true(settings_add(&command, "a=1", &set));
    assert_true(settings_add(&command, "a.b=1", &set));
    assert_true(json_is_none(settings_apply(json_object(), set, &err)));
    assert_int_not_equal(err.code, ERR_NONE);
    json_unref(set);
}

static void place_is(const char *text, const char *thread, int64_t seq) {
    Place place;
    assert_true(place_parse(&command, text, &place));
    assert_string_equal(place.thread, thread);
    assert_int_equal(place.seq, seq);
    place_clear(&place);
}

static void a_place_is_a_thread_and_perhaps_a_checkpoint(void **state) {
    (void)state;
    place_is("review", "review", 0);
    place_is("review@12", "review", 12);
    place_is("17", "17", 0);
    place_is("ada@example.org", "ada@example.org", 0);
    place_is("ada@example.org@3", "ada@example.org", 3);
}

static void a_place_without_a_thread_or_a_checkpoint_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"", "@3", "review@", "review@0",
                                      "review@99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Place place;
        assert_false(place_parse(&command, bad[i], &place));
        assert_null(place.thread);
    }
}

static void a_thread_is_not_called_like_a_place_or_an_option(void **state) {
    (void)state;
    assert_true(place_thread_name(&command, "ada@example.org"));
    assert_false(place_thread_name(&command, "review@3"));
    assert_false(place_thread_name(&command, "-x"));
}

static void durations_are_as_exact_as_people_need(void **state) {
    (void)state;
    char out[OUTPUT_TIME_MAX];
    assert_string_equal(output_duration(0, out), "0.00s");
    assert_string_equal(output_duration(1234, out), "1.23s");
    assert_string_equal(output_duration(12345, out), "12.3s");
    assert_string_equal(output_duration(185000, out), "3m 05s");
    assert_string_equal(output_duration(7800000, out), "2h 10m");
}

static void words_are_quoted_for_a_shell_when_need_be(void **state) {
    (void)state;
    Buf out = BUF_INIT;
    advice_resume(&out, "it's me", "sqlite:/tmp/a b.db");
    assert_string_equal(out.data, "pawl resume 'it'\\''s me' --store 'sqlite:/tmp/a b.db'");
    buf_reset(&out);
    advice_resume(&out, "run-7", NULL);
    assert_string_equal(out.data, "pawl resume run-7");
    buf_clear(&out);
}

static void answers(const char *interrupt, bool one, const char *want) {
    Error err = ERROR_INIT;
    Json j = json_parse(interrupt, strlen(interrupt), NULL, &err);
    Buf out = BUF_INIT;
    advice_interrupt(&out, j, one, "t", NULL);
    assert_string_equal(out.data, want);
    buf_clear(&out);
    json_unref(j);
}

static void an_interrupt_comes_with_the_commands_that_answer_it(void **state) {
    (void)state;
    answers("{\"id\":\"1-2\",\"node\":\"ship\",\"reason\":\"before\",\"prompt\":null,"
            "\"options\":null}",
            true, "Waiting before ship\n    pawl resume t\n");
    answers("{\"id\":\"1-2\",\"node\":\"ship\",\"reason\":\"after\",\"prompt\":null,"
            "\"options\":null}",
            false, "Waiting after ship\n    pawl resume t --interrupt 1-2\n");
    answers("{\"id\":\"1-2\",\"node\":\"ok\",\"reason\":\"approval\",\"prompt\":\"Ship?\","
            "\"options\":[\"yes\",\"not yet\"]}",
            true,
            "Waiting at ok: Ship?\n    pawl resume t --decision yes\n"
            "    pawl resume t --decision 'not yet'\n");
    answers("{\"id\":\"1-2\",\"node\":\"ask\",\"reason\":\"approval\",\"prompt\":\"Why?\","
            "\"options\":null}",
            true, "Waiting at ask: Why?\n    pawl resume t --decision WORD\n");
    answers("{\"id\":\"1-2\",\"node\":\"ask\",\"reason\":\"script\",\"prompt\":\"Why?\","
            "\"options\":null}",
            true, "Waiting at ask: Why?\n    pawl resume t --value JSON\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_setting_is_a_path_and_a_value),
        cmocka_unit_test(an_equals_sign_may_stand_in_a_key_or_a_value),
        cmocka_unit_test(what_is_no_path_or_no_json_is_refused),
        cmocka_unit_test(settings_are_made_in_their_order),
        cmocka_unit_test(a_setting_that_does_not_fit_is_an_error),
        cmocka_unit_test(a_place_is_a_thread_and_perhaps_a_checkpoint),
        cmocka_unit_test(a_place_without_a_thread_or_a_checkpoint_is_refused),
        cmocka_unit_test(a_thread_is_not_called_like_a_place_or_an_option),
        cmocka_unit_test(durations_are_as_exact_as_people_need),
        cmocka_unit_test(words_are_quoted_for_a_shell_when_need_be),
        cmocka_unit_test(an_interrupt_comes_with_the_commands_that_answer_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
