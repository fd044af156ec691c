/* mask.h, and json_mask.h beside it. */
#include "json_mask.h"
#include "json_parse.h"
#include "json_print.h"
#include "mask.h"
#include "mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const char secret[] = "hunter2/s3cr3t+value";

static Mask *mask_of(const char *a, const char *b) {
    Mask *m = mask_new();
    mask_add(m, a, strlen(a));
    if (b) mask_add(m, b, strlen(b));
    return m;
}

/* What becomes of a text, as a whole and in pieces of every length. */
static void gives(const Mask *m, const char *text, const char *expected) {
    size_t len = strlen(text);
    Buf whole = BUF_INIT;
    bool found = mask_text(m, text, len, 0, &whole);
    if (!found) assert_int_equal(whole.len, 0);
    assert_string_equal(found ? whole.data : text, expected);
    for (size_t piece = 1; piece <= len; piece++) {
        Buf out = BUF_INIT;
        MaskStream stream = {.held = BUF_INIT};
        for (size_t i = 0; i < len; i += piece) {
            mask_feed(m, &stream, text + i, len - i < piece ? len - i : piece, &out);
        }
        mask_end(m, &stream, &out);
        assert_string_equal(out.data ? out.data : "", expected);
        buf_clear(&out);
    }
    buf_clear(&whole);
}

static void a_secret_is_hidden_wherever_it_is_cut(void **state) {
    (void)state;
    Mask *m = mask_of(secret, NULL);
    gives(m, "", "");
    gives(m, "nothing of it: hunter, hunter2/s3cr3t+valu",
          "nothing of it: hunter, hunter2/s3cr3t+valu");
    gives(m, "hunter2/s3cr3t+value", "***");
    gives(m, "a hunter2/s3cr3t+value, and hunter2/s3cr3t+value.", "a ***, and ***.");
    gives(m, "hunter2/s3cr3t+valuehunter2/s3cr3t+value", "***");
    gives(m, "hunterhunter2/s3cr3t+value", "hunter***");
    mask_free(m);
}

static void several_secrets_may_overlap(void **state) {
    (void)state;
    Mask *m = mask_of("abcdefgh", "efghijkl");
    gives(m, "-abcdefghijkl-", "-***-");
    gives(m, "-abcdefgefghijkl-", "-abcdefg***-");
    mask_free(m);
    m = mask_of("abcd", "abcdabcdabce");
    gives(m, "xabcdabcdabcex", "x***x");
    gives(m, "xabcdabcdabcfx", "x***abcfx");
    mask_free(m);
    m = mask_of("aaaa", NULL);
    gives(m, "aaaaaaaaaaab aaa", "***b aaa");
    mask_free(m);
}

static void short_ones_are_left_out(void **state) {
    (void)state;
    Mask *m = mask_of("abc", "");
    gives(m, "abc abcabc", "abc abcabc");
    mask_free(m);
}

static void base64(const char *text, size_t len, Buf *out, const char *last) {
    char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    memcpy(digits + 62, last, 2);
    for (size_t i = 0; i < len; i += 3) {
        uint32_t three = 0;
        for (size_t k = 0; k < 3; k++) {
            three = three << 8 | (i + k < len ? (unsigned char)text[i + k] : 0u);
        }
        for (size_t k = 0; k < 4; k++) {
            bool there = i + k <= len && k <= len - i;
            buf_addc(out, there ? digits[three >> (18 - 6 * k) & 63] : '=');
        }
    }
}

/* Whether four characters in a row of what encodes the secret alone are left. */
static void base64_is_hidden_in_any_text(void **state) {
    (void)state;
    Mask *m = mask_of(secret, "\xC3\xBF\xC3\xBE\xC3\xBF?>~~\xC3\xBF");
    static const char *const values[] = {"hunter2/s3cr3t+value",
                                         "\xC3\xBF\xC3\xBE\xC3\xBF?>~~\xC3\xBF"};
    static const char *const before[] = {"", "u", "us", "use", "user"}, *const after[] = {
                                                                            "", "\n", ":x", "yz0"};
    for (size_t v = 0; v < 2; v++) {
        for (size_t b = 0; b < 5; b++) {
            for (size_t a = 0; a < 4; a++) {
                for (int alphabet = 0; alphabet < 2; alphabet++) {
                    Buf plain = BUF_INIT, encoded = BUF_INIT, out = BUF_INIT;
                    buf_printf(&plain, "%s%s%s", before[b], values[v], after[a]);
                    base64(plain.data, plain.len, &encoded, alphabet ? "-_" : "+/");
                    assert_true(mask_text(m, encoded.data, encoded.len, 0, &out));
                    /* what is left is what stands around it, and at most two characters on each side */
                    size_t around = strlen(before[b]) + strlen(after[a]);
                    assert_true(out.len <= 3 + (4 * around + 2) / 3 + 4 + 2);
                    buf_clear(&plain);
                    buf_clear(&encoded);
                    buf_clear(&out);
                }
            }
        }
    }
    mask_free(m);
}

static void base64_may_be_wrapped(void **state) {
    (void)state;
    char value[200];
    for (size_t i = 0; i < sizeof value; i++) value[i] = (char)('!' + i * 7 % 90);
    static const char *const breaks[] = {"\n", "\r\n", "\\n", "\\r\\n", "\n    ", "\n> "};
    Mask *m = mask_new();
    mask_add(m, value, sizeof value);
    for (size_t before = 0; before < 80; before++) {
        Buf plain = BUF_INIT, encoded = BUF_INIT, wrapped = BUF_INIT, out = BUF_INIT;
        for (size_t i = 0; i < before; i++) buf_addc(&plain, ' ');
        buf_add(&plain, value, sizeof value);
        base64(plain.data, plain.len, &encoded, "+/");
        for (size_t i = 0; i < encoded.len; i++) {
            if (i && i % 76 == 0) buf_adds(&wrapped, breaks[before % 6]);
            buf_addc(&wrapped, encoded.data[i]);
        }
        assert_true(mask_text(m, wrapped.data, wrapped.len, 0, &out));
        assert_true(out.len < 4 * before / 3 + 20);
        buf_clear(&plain);
        buf_clear(&encoded);
        buf_clear(&wrapped);
        buf_clear(&out);
    }
    mask_free(m);
}

static void strings_of_other_languages_are_looked_into(void **state) {
    (void)state;
    Mask *m = mask_of("zebra/Crossing+99", "s3\"cr\\et/\xc3\xa9&Zq");
    gives(m, "zebra\\/Crossing+99", "***"); /* PHP */
    gives(m, "{\\\"a\\\": \\\"zebra\\\\/Crossing+99\\\"}",
          "{\\\"a\\\": \\\"***\\\"}"); /* inside JSON */
    gives(m, "\"s3\\\"cr\\\\et\\/\\u00e9&Zq\"", "\"***\"");
    gives(m, "\"s3\\\"cr\\\\et/\\u00e9\\u0026Zq\"", "\"***\"");              /* Go */
    gives(m, "\"s3\\\"cr\\\\et/\\u00E9&Zq\"", "\"***\"");                    /* Java */
    gives(m, "ValueError: 's3\"cr\\\\et/\xc3\xa9&Zq'", "ValueError: '***'"); /* repr() */
    gives(m, "\\\"s3\\\\\\\"cr\\\\\\\\et/\\\\u00e9&Zq\\\"", "\\\"***\\\"");  /* twice */
    mask_free(m);
}

static void quoted_texts_are_looked_into(void **state) {
    (void)state;
    Mask *m = mask_of("p&ss/W<rd+\"x y$z'1", NULL);
    gives(m, "KeyError: 'p&ss/W<rd+\"x y$z\\'1'", "KeyError: '***'");    /* repr() */
    gives(m, "+ curl 'p&ss/W<rd+\"x y$z'\\''1'", "+ curl '***'");        /* set -x */
    gives(m, "curl 'p&ss/W<rd+\"x y$z'\"'\"'1'", "curl '***'");          /* shlex.quote() */
    gives(m, "p\\&ss/W\\<rd+\\\"x\\ y\\$z\\'1!", "***!");                /* printf %q */
    gives(m, "<b>p&amp;ss/W&lt;rd+&quot;x y$z&#39;1</b>", "<b>***</b>"); /* HTML */
    gives(m, "<b>p&amp;ss/W&lt;rd+&quot;x y$z&#x27;1</b>", "<b>***</b>");
    gives(m, "<b>p&amp;ss/W&lt;rd+&#34;x y$z&#39;1</b>", "<b>***</b>");
    mask_free(m);
}

static void urls_and_json_are_looked_into(void **state) {
    (void)state;
    Mask *m = mask_of("a/b c&d=\"e\"\n\xC3\xA9~!", NULL);
    gives(m, "x=a%2Fb%20c%26d%3D%22e%22%0A%C3%A9~%21&", "x=***&");
    gives(m, "x=a%2fb%20c%26d%3d%22e%22%0a%c3%a9~%21&", "x=***&");
    gives(m, "x=a/b%20c%26d%3D%22e%22%0A%C3%A9~%21&", "x=***&");
    gives(m, "x=a%2Fb+c%26d%3D%22e%22%0A%C3%A9~%21&", "x=***&");
    gives(m, "x=a%2Fb%20c%26d%3D%22e%22%0A%C3%A9~!&", "x=***&");
    gives(m, "x=a%252Fb%2520c%2526d%253D%2522e%2522%250A%25C3%25A9~%2521&", "x=***&");
    gives(m, "x=%61%2f%62%20%63%26%64%3d%22%65%22%0a%c3%a9%7e%21&", "x=***&");
    gives(m, "x=%61%2F%62%20%63%26%64%3D%22%65%22%0A%C3%A9%7E%21&", "x=***&");
    gives(m, "x=612f6220632664 3d226522", "x=612f6220632664 3d226522");
    gives(m, "x=612f62206326643d2265220ac3a97e21;", "x=***;");
    gives(m, "{\"x\":\"a/b c&d=\\\"e\\\"\\n\xC3\xA9~!\"}", "{\"x\":\"***\"}");
    gives(m, "{\"x\":\"a/b c&d=\\\"e\\\"\\n\\u00e9~!\"}", "{\"x\":\"***\"}");
    mask_free(m);
}

static void lines_are_hidden_by_themselves(void **state) {
    (void)state;
    Mask *m = mask_of("-----BEGIN-----\nMIIEvQIBADAN\r\nshort\nBgkqhkiG9w0B\n", NULL);
    gives(m, "1: MIIEvQIBADAN\n2: short\n3: BgkqhkiG9w0B", "1: ***\n2: short\n3: ***");
    mask_free(m);
}

static void a_cut_text_may_have_a_part_of_one(void **state) {
    (void)state;
    Mask *m = mask_of(secret, NULL);
    static const struct {
        const char *text;
        unsigned cut;
        const char *expected; /* NULL: nothing is hidden */
    } cases[] = {
        {"see hunter2/s3", MASK_CUT_BACK, "see ***"},
        {"see hunter2/s3", MASK_CUT_FRONT, NULL},
        {"see hun", MASK_CUT_BACK, NULL},
        {"see hunter2/s3.", MASK_CUT_BACK, NULL},
        {"t+value. Then", MASK_CUT_FRONT, "***. Then"},
        {"t+value. Then", MASK_CUT_BACK, NULL},
        {"lue. Then", MASK_CUT_FRONT, NULL},
        {"t+value, hunter2/s3cr3t+value, hunter", MASK_CUT_FRONT | MASK_CUT_BACK, "***, ***, ***"},
        {"alue", MASK_CUT_FRONT | MASK_CUT_BACK, "***"},
        {"", MASK_CUT_FRONT | MASK_CUT_BACK, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf out = BUF_INIT;
        bool found = mask_text(m, cases[i].text, strlen(cases[i].text), cases[i].cut, &out);
        assert_int_equal(found, cases[i].expected != NULL);
        if (found) assert_string_equal(out.data, cases[i].expected);
        buf_clear(&out);
    }
    mask_free(m);
}

static void a_stream_holds_back_what_may_be_one_and_no_more(void **state) {
    (void)state;
    Mask *m = mask_of(secret, NULL);
    MaskStream stream = {.held = BUF_INIT};
    Buf out = BUF_INIT;
    mask_feed(m, &stream, "ready\n> hun", 11, &out);
    assert_string_equal(out.data, "ready\n> ");
    mask_feed(m, &stream, "gry\n", 4, &out);
    assert_string_equal(out.data, "ready\n> hungry\n");
    mask_end(m, &stream, &out);
    buf_reset(&out);
    for (int i = 0; i < 100000; i++) {
        mask_feed(m, &stream, secret, i % 2 ? 20 : 19, &out);
        assert_true(stream.held.cap < 1000);
        buf_reset(&out);
    }
    mask_stream_clear(&stream);
    buf_clear(&out);
    mask_free(m);
}

static void json_gives(const Mask *m, const char *text, const char *expected) {
    Json value = json_mask(m, json_parse(text, strlen(text), NULL, NULL), 0);
    char *printed = json_to_text(value);
    assert_string_equal(printed, expected);
    mem_free(printed);
    json_unref(value);
}

static void values_are_looked_into(void **state) {
    (void)state;
    Mask *m = mask_of(secret, "12345678");
    json_gives(m, "1", "1");
    json_gives(m, "{\"a\":[1,{\"b\":null}]}", "{\"a\":[1,{\"b\":null}]}");
    json_gives(m, "\"hunter2/s3cr3t+value\"", "\"***\"");
    json_gives(m, "[[\"x hunter2/s3cr3t+value\"],{\"a\":{\"b\":[\"hunter2/s3cr3t+value\",2]}},3]",
               "[[\"x ***\"],{\"a\":{\"b\":[\"***\",2]}},3]");
    json_gives(m, "{\"a\":1,\"hunter2/s3cr3t+value\":{\"hunter2/s3cr3t+value\":[]},\"c\":3}",
               "{\"a\":1,\"c\":3,\"***\":{\"***\":[]}}");
    json_gives(m, "{\"pin\":12345678,\"other\":1234567}", "{\"pin\":\"***\",\"other\":1234567}");
    mask_free(m);
}

static void a_value_without_secrets_is_given_back(void **state) {
    (void)state;
    Mask *m = mask_of(secret, NULL);
    const char *text = "{\"a\":[1,2,{\"a longer text than fits in a value\":[]}]}";
    Json value = json_parse(text, strlen(text), NULL, NULL);
    Json masked = json_mask(m, json_ref(value), 0);
    assert_true(json_identical(value, masked));
    json_unref(masked);
    json_unref(value);
    /* as deep as can be */
    Json deep = json_array();
    for (int i = 0; i < JSON_DEPTH_MAX - 1; i++) deep = json_array_push(json_array(), deep);
    json_unref(json_mask(m, deep, 0));
    mask_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_is_hidden_wherever_it_is_cut),
        cmocka_unit_test(several_secrets_may_overlap),
        cmocka_unit_test(short_ones_are_left_out),
        cmocka_unit_test(base64_is_hidden_in_any_text),
        cmocka_unit_test(base64_may_be_wrapped),
        cmocka_unit_test(quoted_texts_are_looked_into),
        cmocka_unit_test(urls_and_json_are_looked_into),
        cmocka_unit_test(strings_of_other_languages_are_looked_into),
        cmocka_unit_test(lines_are_hidden_by_themselves),
        cmocka_unit_test(a_cut_text_may_have_a_part_of_one),
        cmocka_unit_test(a_stream_holds_back_what_may_be_one_and_no_more),
        cmocka_unit_test(values_are_looked_into),
        cmocka_unit_test(a_value_without_secrets_is_given_back),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
