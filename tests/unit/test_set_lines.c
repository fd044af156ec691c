/* The lines with which scripts set variables and outputs. What comes of a text is written as text:
 * "var NAME=JSON", "out NAME=JSON", "!sentence" ("!!" where a value was lost), and what is not such a line as it is. */
#include "json_print.h"
#include "mem.h"
#include "set_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void on_set(void *ctx, bool output, Json name, Json value) {
    char *key = json_to_text(name), *text = json_to_text(value);
    buf_printf(ctx, "<%s %s=%s>", output ? "out" : "var", key, text);
    mem_free(key);
    mem_free(text);
    json_unref(name);
    json_unref(value);
}

static void on_progress(void *ctx, double percent, const char *message) {
    buf_printf(ctx, "<%g%% %s>", percent, message);
}

static void on_text(void *ctx, const char *bytes, size_t len) {
    buf_add(ctx, bytes, len);
}

static void on_problem(void *ctx, bool lost, const char *sentence) {
    buf_printf(ctx, "<%s%s>", lost ? "!!" : "!", sentence);
}

/* Fed in pieces of so many bytes. */
static char *read_in_pieces(const char *text, size_t len, size_t piece) {
    Buf out = BUF_INIT;
    SetLinesHandler handler = {on_set, on_progress, on_text, on_problem, &out};
    SetLines lines;
    set_lines_init(&lines, &handler);
    for (size_t i = 0; i < len; i += piece) {
        set_lines_feed(&lines, text + i, len - i < piece ? len - i : piece);
    }
    set_lines_end(&lines);
    set_lines_clear(&lines);
    buf_addc(&out, '|');
    return buf_detach(&out);
}

/* However it is cut. */
static void expect_bytes(const char *text, size_t len, const char *want) {
    for (size_t piece = 1; piece <= len; piece++) {
        char *got = read_in_pieces(text, len, piece);
        got[strlen(got) - 1] = '\0';
        assert_string_equal(got, want);
        mem_free(got);
    }
}

static void expect(const char *text, const char *want) {
    expect_bytes(text, strlen(text), want);
}

static void x1_the_lines_set_text_and_json(void **state) {
    (void)state;
    expect("::set-var a 1\n", "<var \"a\"=\"1\">");
    expect("::set-json a [1, {\"b\": null}]\n", "<var \"a\"=[1,{\"b\":null}]>");
    expect("::set-out a 1\n", "<out \"a\"=\"1\">");
    expect("::set-out-json a true\n", "<out \"a\"=true>");
    expect("::set-output a 1\n", "<out \"a\"=\"1\">");
    expect("::set-output-json a true\n", "<out \"a\"=true>");
}

static void x1_numbers_of_json_are_doubles(void **state) {
    (void)state;
    expect("::set-json a [1, 9007199254740993, {\"b\": 1.10}, 1e3]\n",
           "<var \"a\"=[1,9007199254740992,{\"b\":1.1},1000]>");
    expect("::set-out-json a 123456789012345678901\n", "<out \"a\"=123456789012345680000>");
    expect("::set-out a 123456789012345678901\n", "<out \"a\"=\"123456789012345678901\">");
}

static void x1_a_number_that_no_double_holds_is_a_warning(void **state) {
    (void)state;
    expect("::set-out-json n 1e400\na\n",
           "<!A line that sets a value is not applied, because a number in it is no finite double. "
           "The line was: ::set-out-json n 1e400>a\n");
    expect("::set-json n {\"a\": [-1e999]}\n",
           "<!A line that sets a value is not applied, because a number in it is no finite double. "
           "The line was: ::set-json n {\"a\": [-1e999]}>");
}

static void lines_say_how_far_a_task_is(void **state) {
    (void)state;
    expect("::set-progress 12/32 epochs\n", "<37.5% 12 of 32 epochs>");
    expect("::set-progress 3/3\n", "<100% 3 of 3>");
    expect("::set-progress 40 half of it\n", "<40% half of it>");
    expect("::set-progress 12.5%  a\tb \n", "<12.5% a\tb >");
    expect("::set-progress 0\n", "<0% >");
    static const char *const wrong[] = {"",      "x",     "1/0 a", "5/3 a", "101",  "-1 a",
                                        "1/2/3", "1e3 a", "50%%",  "/2",    "1/ a", "9999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[60];
        snprintf(line, sizeof line, "::set-progress %s\n", wrong[i]);
        char *got = read_in_pieces(line, strlen(line), 100);
        assert_non_null(strstr(got, "<!A line that says how far a task is is not applied"));
        mem_free(got);
    }
    expect("::set-progres 1\n", "::set-progres 1\n");
}

static void text_is_the_rest_of_the_line_as_it_stands(void **state) {
    (void)state;
    expect("::set-var a one two\n", "<var \"a\"=\"one two\">");
    expect("::set-var a \"one\"  \n", "<var \"a\"=\"\\\"one\\\"  \">");
    expect("::set-var\ta \t b\tc\n", "<var \"a\"=\"b\\tc\">");
    expect("::set-var   a   b\n", "<var \"a\"=\"b\">");
    expect("::set-var a=b\n", "<var \"a=b\"=\"\">");
    expect("::set-var a\n", "<var \"a\"=\"\">");
    expect("::set-var a \n", "<var \"a\"=\"\">");
    expect("::set-var \303\244.b \303\244\n", "<var \"\303\244.b\"=\"\303\244\">");
    expect("::set-var a x\377\n", "<var \"a\"=\"x\357\277\275\">");
    expect_bytes("::set-var a x\0y\n", 16, "<var \"a\"=\"x\\u0000y\">");
}

static void other_lines_are_text(void **state) {
    (void)state;
    static const char *const texts[] = {
        "hello\n",
        "\n",
        "\n\n a\n",
        "no end",
        ":",
        "::\n",
        "::set\n",
        "::set-",
        "::set-foo a b\n",
        "::set-variable a b\n",
        "::set-outputs a b\n",
        "::set-output-jso a b\n",
        "::set-out-jso a b\n",
        "::set-outp a b\n",
        " ::set-var a b\n",
        "x ::set-var a b\n",
        "::Set-Var a b\n",
        "::warning a b\n",
        "crlf\r\nlines\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        expect(texts[i], texts[i]);
    }
}

static void lines_stand_among_text_in_order(void **state) {
    (void)state;
    expect("one\n::set-var a 1\ntwo\n\n::set-output b 2\n::set-var a 3\nthree",
           "one\n<var \"a\"=\"1\">two\n\n<out \"b\"=\"2\"><var \"a\"=\"3\">three");
}

static void a_line_ends_with_lf_crlf_or_the_text(void **state) {
    (void)state;
    expect("::set-var a 1\r\n::set-json b 2\r\n", "<var \"a\"=\"1\"><var \"b\"=2>");
    expect("::set-var a 1", "<var \"a\"=\"1\">");
    expect("::set-var a 1\r", "<var \"a\"=\"1\">");
    expect("::set-var a 1\r2\n", "<var \"a\"=\"1\\r2\">");
}

static void x1_wrong_lines_are_told_and_left_out(void **state) {
    (void)state;
    expect(
        "a\n::set-json x {\"b\": \nc\n",
        "a\n<!A line that sets a value is not applied, because the value is not JSON: Unfinished "
        "JSON term at EOF at line 1, column 6. Text as it is can be set with ::set-var. The line "
        "was: ::set-json x {\"b\": >c\n");
    expect(
        "::set-output-json x\n",
        "<!A line that sets a value is not applied, because the value is not JSON: Expected JSON "
        "value. Text as it is can be set with ::set-out. The line "
        "was: ::set-output-json x>");
    static const char *const nameless[] = {"::set-var\n", "::set-var \n", "::set-var\r\n"};
    for (size_t i = 0; i < 3; i++) {
        char *got = read_in_pieces(nameless[i], strlen(nameless[i]), 100);
        assert_non_null(strstr(got, "because it has no name. The line was: ::set-var"));
        mem_free(got);
    }
}

static void the_line_in_a_sentence_is_cut_between_characters(void **state) {
    (void)state;
    Buf text = BUF_INIT;
    buf_adds(&text, "::set-json a x");
    while (text.len < 200) buf_adds(&text, "\303\244");
    char *got = read_in_pieces(text.data, text.len, text.len);
    assert_non_null(strstr(got, "\303\244...>"));
    assert_null(strstr(got, "\357\277\275"));
    mem_free(got);
    buf_clear(&text);
}

static Buf long_line(const char *start, size_t len) {
    Buf text = BUF_INIT;
    buf_adds(&text, start);
    memset(buf_reserve(&text, len), 'x', len - text.len);
    buf_advance(&text, len - text.len);
    buf_adds(&text, "\n::set-var after 1\n");
    return text;
}

static void a_line_of_a_megabyte_is_the_longest(void **state) {
    (void)state;
    static const size_t pieces[] = {1000, 65536, 4 << 20};
    for (size_t i = 0; i < 3; i++) {
        Buf fits = long_line("::set-var a ", SET_LINE_MAX);
        Buf too_long = long_line("::set-var a ", SET_LINE_MAX + 1);
        char *got = read_in_pieces(fits.data, fits.len, pieces[i]);
        assert_non_null(strstr(got, "xxx\"><var \"after\"=\"1\">"));
        mem_free(got);
        got = read_in_pieces(too_long.data, too_long.len, pieces[i]);
        assert_non_null(strstr(
            got,
            "<!!A line that sets a value is not applied, because it is longer than 1 MB. The line was: ::set-var a xx"));
        assert_non_null(strstr(got, "xx...><var \"after\"=\"1\">"));
        assert_true(strlen(got) < 300);
        mem_free(got);
        buf_clear(&fits);
        buf_clear(&too_long);
    }
}

static void text_may_be_as_long_as_it_likes(void **state) {
    (void)state;
    static const char *const starts[] = {"text", "::set-foo "};
    for (size_t i = 0; i < 2; i++) {
        Buf text = long_line(starts[i], 3 << 20);
        for (size_t piece = 3; piece < (8u << 20); piece *= 100) {
            char *got = read_in_pieces(text.data, text.len, piece);
            assert_int_equal(strlen(got), (3u << 20) + 1 + strlen("<var \"after\"=\"1\">|"));
            mem_free(got);
        }
        buf_clear(&text);
    }
}

static void text_does_not_wait_for_the_end_of_its_line(void **state) {
    (void)state;
    Buf out = BUF_INIT;
    SetLinesHandler handler = {on_set, on_progress, on_text, on_problem, &out};
    SetLines lines;
    set_lines_init(&lines, &handler);
    set_lines_feed(&lines, "50%", 3);
    assert_string_equal(out.data, "50%");
    set_lines_feed(&lines, "...\n::set-v", 11);
    assert_string_equal(out.data, "50%...\n");
    set_lines_feed(&lines, "ain\n", 4);
    assert_string_equal(out.data, "50%...\n::set-vain\n");
    set_lines_clear(&lines);
    buf_clear(&out);
}

static void a_line_that_was_cut_off_is_not_applied(void **state) {
    (void)state;
    Buf out = BUF_INIT;
    SetLinesHandler handler = {on_set, on_progress, on_text, on_problem, &out};
    SetLines lines;
    set_lines_init(&lines, &handler);
    set_lines_feed(&lines, "::set-var a 12", 14);
    set_lines_clear(&lines);
    assert_int_equal(out.len, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x1_the_lines_set_text_and_json),
        cmocka_unit_test(x1_numbers_of_json_are_doubles),
        cmocka_unit_test(x1_a_number_that_no_double_holds_is_a_warning),
        cmocka_unit_test(lines_say_how_far_a_task_is),
        cmocka_unit_test(text_is_the_rest_of_the_line_as_it_stands),
        cmocka_unit_test(other_lines_are_text),
        cmocka_unit_test(lines_stand_among_text_in_order),
        cmocka_unit_test(a_line_ends_with_lf_crlf_or_the_text),
        cmocka_unit_test(x1_wrong_lines_are_told_and_left_out),
        cmocka_unit_test(the_line_in_a_sentence_is_cut_between_characters),
        cmocka_unit_test(a_line_of_a_megabyte_is_the_longest),
        cmocka_unit_test(text_may_be_as_long_as_it_likes),
        cmocka_unit_test(text_does_not_wait_for_the_end_of_its_line),
        cmocka_unit_test(a_line_that_was_cut_off_is_not_applied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
