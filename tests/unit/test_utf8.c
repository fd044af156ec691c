#include "utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void every_character_survives_encoding_and_decoding(void **state) {
    (void)state;
    for (int32_t cp = 0; cp <= UTF8_MAX; cp += cp < 0x3000 ? 1 : 17) {
        if (cp >= 0xD800 && cp < 0xE000) {
            continue;
        }
        char text[4];
        int32_t back;
        size_t n = utf8_encode(cp, text);
        assert_int_equal(utf8_decode(text, text + n, &back), n);
        assert_int_equal(back, cp);
        assert_int_equal(utf8_valid_prefix(text, n), n);
    }
}

static void what_is_not_a_character_is_encoded_as_the_replacement(void **state) {
    (void)state;
    static const int32_t bad[] = {-1, 0xD800, 0xDFFF, UTF8_MAX + 1};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[4];
        assert_int_equal(utf8_encode(bad[i], text), 3);
        assert_memory_equal(text, "\xEF\xBF\xBD", 3);
    }
}

static void bad_sequences_are_replaced_and_good_ones_kept(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"plain ascii, longer than eight", "plain ascii, longer than eight"},
        {"a\xFFz", "a\xEF\xBF\xBDz"},
        {"\xC3", "\xEF\xBF\xBD"}, /* cut off */
        {"\xE2\x98", "\xEF\xBF\xBD"},
        {"\xC0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"}, /* overlong */
        {"\xF5\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"}, /* past the last character */
        {"\xE2\x98\x86 ok", "\xE2\x98\x86 ok"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf b = BUF_INIT;
        utf8_repair(&b, cases[i].from, strlen(cases[i].from));
        assert_string_equal(b.data, cases[i].to);
        assert_int_equal(utf8_valid_prefix(b.data, b.len), b.len);
        buf_clear(&b);
    }
}

static void the_beginning_of_a_character_at_the_end_is_unfinished(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t unfinished;
    } cases[] = {
        {"", 0},
        {"plain", 0},
        {"caf\xC3", 1},
        {"caf\xC3\xA9", 0},
        {"\xE2", 1},
        {"\xE2\x98", 2},
        {"\xE2\x98\x86", 0},
        {"a\xF0\x9F\x98", 3},
        {"a\xF0\x9F\x98\x80", 0},
        {"\xE2\x98\x86\xE2", 1}, /* after a whole one */
        {"\xE2"
         "a",
         0}, /* never to be whole */
        {"\xE0\x80", 0},
        {"\xED\xA0", 0}, /* a surrogate */
        {"\xC0", 0},
        {"\xF5", 0},
        {"\xFF", 0},
        {"\x80\x80\x80\x80\x80", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(utf8_unfinished(cases[i].text, strlen(cases[i].text)),
                         cases[i].unfinished);
    }
}

static void text_in_pieces_is_passed_on_in_whole_characters(void **state) {
    (void)state;
    static const char text[] = "a\u00e9\u2606\U0001F600z \xFF\xE2!\xF0\x9F";
    for (size_t size = 1; size < sizeof text; size++) {
        Utf8Pieces pieces = {0};
        Buf out = BUF_INIT;
        for (size_t at = 0; at < sizeof text - 1; at += size) {
            size_t rest = sizeof text - 1 - at;
            utf8_pieces_add(&pieces, text + at, size < rest ? size : rest, &out);
            assert_int_equal(utf8_unfinished(out.data ? out.data : "", out.len), 0);
        }
        assert_int_equal(pieces.npending, 2);
        utf8_pieces_end(&pieces, &out);
        assert_int_equal(pieces.npending, 0);
        assert_string_equal(out.data, text);
        buf_clear(&out);
    }
}

static void a_piece_of_nothing_leaves_what_is_pending(void **state) {
    (void)state;
    Utf8Pieces pieces = {0};
    Buf out = BUF_INIT;
    utf8_pieces_add(&pieces, NULL, 0, &out);
    utf8_pieces_add(&pieces, "\xC3", 1, &out);
    utf8_pieces_add(&pieces, NULL, 0, &out);
    assert_int_equal(out.len, 0);
    utf8_pieces_add(&pieces, "\xA9", 1, &out);
    assert_string_equal(out.data, "\u00e9");
    buf_clear(&out);
}

static void lengths_and_offsets_are_in_characters(void **state) {
    (void)state;
    static const char text[] = "a\u00e9\u2606\U0001F600z";
    assert_int_equal(utf8_length(text, sizeof text - 1), 5);
    static const size_t offsets[] = {0, 1, 3, 6, 10, 11, 11};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        assert_int_equal(utf8_offset(text, sizeof text - 1, i), offsets[i]);
    }
}

static void white_space_is_unicode_s(void **state) {
    (void)state;
    assert_true(utf8_is_space(' ') && utf8_is_space(0x0B) && utf8_is_space(0x3000));
    assert_false(utf8_is_space('x') || utf8_is_space(0x200B));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_survives_encoding_and_decoding),
        cmocka_unit_test(what_is_not_a_character_is_encoded_as_the_replacement),
        cmocka_unit_test(bad_sequences_are_replaced_and_good_ones_kept),
        cmocka_unit_test(the_beginning_of_a_character_at_the_end_is_unfinished),
        cmocka_unit_test(text_in_pieces_is_passed_on_in_whole_characters),
        cmocka_unit_test(a_piece_of_nothing_leaves_what_is_pending),
        cmocka_unit_test(lengths_and_offsets_are_in_characters),
        cmocka_unit_test(white_space_is_unicode_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
