#include "json_parse.h"
#include "json_print.h"
#include "mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Gives the next piece of text. */
static void feed(JsonParser *p, const char *text, size_t len, bool last) {
    char *room = json_parser_reserve(p, len);
    if (len) memcpy(room, text, len);
    json_parser_commit(p, len, last);
}

/* What comes out of a stream, as lines of text: values, then "! message" for errors. The text is
 * fed in pieces that are cut at `cut` and, when step is not 0, every `step` bytes. */
static char *read_stream(const char *text, size_t len, size_t cut, size_t step,
                         const JsonParseOptions *options) {
    JsonParser *p = json_parser_new(options);
    Buf lines = BUF_INIT;
    size_t fed = 0;
    for (;;) {
        Json j;
        Error err = ERROR_INIT;
        JsonParseStatus status = json_parser_next(p, &j, &err);
        if (status == JSON_PARSE_VALUE) {
            json_print(j, NULL, &lines);
            buf_addc(&lines, '\n');
            json_unref(j);
        } else if (status == JSON_PARSE_ERROR) {
            buf_printf(&lines, "! %s\n", err.msg);
        } else if (status == JSON_PARSE_MORE) {
            size_t n = fed < cut ? cut - fed : step ? step : len - fed;
            n = n < len - fed ? n : len - fed;
            feed(p, text + fed, n, fed + n == len);
            fed += n;
        } else {
            break;
        }
    }
    json_parser_free(p);
    return buf_detach(&lines);
}

/* Whole, byte by byte, and in two pieces at every place: always the same. */
static void assert_stream_of(const char *text, size_t len, const char *expected,
                             const JsonParseOptions *options) {
    for (size_t cut = 0; cut <= len; cut++) {
        char *got = read_stream(text, len, cut, cut == 0, options);
        assert_string_equal(got, expected);
        mem_free(got);
    }
}

static void assert_stream(const char *text, const char *expected) {
    assert_stream_of(text, strlen(text), expected, NULL);
}

static void assert_events(const char *text, const char *expected) {
    assert_stream_of(text, strlen(text), expected, &(JsonParseOptions){.events = true});
}

static void assert_seq(const char *text, const char *expected) {
    assert_stream_of(text, strlen(text), expected, &(JsonParseOptions){.seq = true});
}

static Json parsed(const char *text) {
    Error err = ERROR_INIT;
    Json j = json_parse(text, strlen(text), NULL, &err);
    assert_string_equal(err.msg, "");
    return j;
}

static void assert_refused(const char *text, const char *message) {
    Error err = ERROR_INIT;
    assert_true(json_is_none(json_parse(text, strlen(text), NULL, &err)));
    assert_string_equal(err.msg, message);
    assert_int_not_equal(err.code, ERR_NONE);
}

static void assert_reads_as(const char *text, const char *printed) {
    Json j = parsed(text);
    char *got = json_to_text(j);
    assert_string_equal(got, printed);
    mem_free(got);
    json_unref(j);
}

static void a_document_of_every_kind_is_read(void **state) {
    (void)state;
    assert_reads_as(" { \"a\" : [ 1 , -2.5 , \"x\" , null , true , false , { } , [ ] ] } \n",
                    "{\"a\":[1,-2.5,\"x\",null,true,false,{},[]]}");
    assert_reads_as("3", "3");
    assert_reads_as("\"\"", "\"\"");
    assert_reads_as("[[[]]]", "[[[]]]");
    assert_reads_as("[1.000,100e-2,1E1000]", "[1.000,1.00,1E+1000]");
    assert_reads_as("[0.5,-0.5,-0,0.0001,0.00001,123456.789,1234567890123456]",
                    "[0.5,-0.5,-0,0.0001,0.00001,123456.789,1234567890123456]");
}

static void a_repeated_key_keeps_its_first_place_and_last_value(void **state) {
    (void)state;
    assert_reads_as("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}");
}

static void beyond_the_standard_the_same_is_accepted_as_in_jq(void **state) {
    (void)state;
    assert_stream("nan NaN -NaN +nan", "null\nnull\nnull\nnull\n");
    assert_stream("Infinity -Infinity", "1.7976931348623157e+308\n-1.7976931348623157e+308\n");
    assert_stream("+1 .5 5. 01", "1\n0.5\n5\n1\n");
    assert_stream("1[2]3\"a\"\"b\"{}4 true", "1\n[2]\n3\n\"a\"\n\"b\"\n{}\n4\ntrue\n");
}

static const JsonParseOptions strict = {.strict = true};

static void assert_strict(const char *text, const char *expected) {
    assert_stream_of(text, strlen(text), expected, &strict);
}

static void strict_nothing_beyond_the_standard_is_accepted(void **state) {
    (void)state;
    static const char *const none[] = {
        "nan",
        "NaN",
        "-NaN",
        "Infinity",
        "-Infinity",
        "+1",
        ".5",
        "-.5",
        "5.",
        "-5.",
        "01",
        "-01",
        "00",
        "01.5",
        "1.e5",
        "1e",
        "1e+",
        "-",
        "1.5.5",
        "0x10",
        "[NaN]",
        "{\"a\":01}",
        "[1,.5]",
        "\"\xff\"",
        "\"a\xc3\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\\ud800\"",
        "\"\\udc00x\"",
        "{\"\xff\":1}",
        "\"\\n\xff\"",
        "'a'",
        "tru",
        "nul",
        "[1,]",
        "{\"a\":1,}",
        "\"\t\"",
        "\"\\x\"",
        "[1 2]",
        "{1:2}",
        "\"\\ud800\\u0041\"",
        "",
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        Error err = ERROR_INIT;
        Json j = json_parse(none[i], strlen(none[i]), &strict, &err);
        if (!json_is_none(j)) fail_msg("`%s` is taken", none[i]);
        assert_int_equal(err.code, ERR_SYNTAX);
    }
    assert_strict("[1,01 ]", "! Invalid numeric literal at line 1, column 6\n");
    assert_strict("[\n.5]", "! Invalid numeric literal at line 2, column 3\n");
    assert_strict("[\"\xff\"]", "! Invalid string: bytes that are no UTF-8 at line 1, column 4\n");
    assert_strict("\"\\udfff\"",
                  "! Invalid \\uXXXX escape: half a surrogate pair at line 1, column 8\n");
}

static void strict_what_the_standard_has_is_read(void **state) {
    (void)state;
    assert_strict("[0,-0,0.5,-0.5,10,100,1e5,1E+5,1e-5,0e0,1.000,9007199254740993]\n",
                  "[0,-0,0.5,-0.5,10,100,1E+5,1E+5,0.00001,0,1.000,9007199254740993]\n");
    assert_strict("\xef\xbb\xbf{\"\xc3\xa9\":[null,true,false,\"\\ud83d\\ude00\\u0000\",{},[]]}",
                  "{\"\xc3\xa9\":[null,true,false,\"\xf0\x9f\x98\x80\\u0000\",{},[]]}\n");
}

static void escapes_are_decoded(void **state) {
    (void)state;
    Json j = parsed("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00\\u0000.\"");
    assert_int_equal(json_string_len(j), 16);
    assert_memory_equal(json_string_data(&j), "\"\\/\b\f\n\r\t\xc3\xa9\xf0\x9f\x98\x80\0.", 16);
    json_unref(j);
}

static void half_surrogate_pairs_and_bad_utf8_are_replaced(void **state) {
    (void)state;
    assert_reads_as("\"\\ud800\"", "\"\xef\xbf\xbd\"");
    assert_reads_as("\"\\ud800\\u0041\"", "\"\xef\xbf\xbd"
                                          "A\"");
    assert_reads_as("\"\\udc00x\"", "\"\xef\xbf\xbdx\"");
    assert_reads_as("\"\\ud83d\\ud83d\\ude00\"", "\"\xef\xbf\xbd\xf0\x9f\x98\x80\"");
    assert_reads_as("\"\xff\"", "\"\xef\xbf\xbd\"");
    assert_reads_as("\"\xc3\\n\"", "\"\xef\xbf\xbd\\n\"");
    assert_reads_as("\"\xe2\x82\"", "\"\xef\xbf\xbd\"");
}

static void strings_of_every_length_and_content_are_kept(void **state) {
    (void)state;
    for (size_t len = 0; len < 70; len++) {
        for (size_t special = 0; special <= len; special++) {
            char text[128];
            size_t n = 0;
            text[n++] = '"';
            for (size_t i = 0; i < len; i++) {
                text[n++] = i == special ? '\\' : (char)('a' + i % 26);
                if (i == special) {
                    text[n++] = 'n';
                }
            }
            text[n++] = '"';
            text[n] = '\0';
            assert_reads_as(text, text);
        }
    }
}

static void byte_order_mark_is_skipped_and_not_counted(void **state) {
    (void)state;
    assert_stream("\xEF\xBB\xBF[1]", "[1]\n");
    assert_stream("\xEF\xBB\xBF[1,]", "! Expected another array element at line 1, column 4\n");
    assert_stream("\xEF\xBB[1]", "! Malformed BOM\n");
    assert_stream("\xEF", "! Malformed BOM\n");
}

static void only_one_document_is_allowed_in_memory(void **state) {
    (void)state;
    assert_refused("", "Expected JSON value");
    assert_refused(" \n", "Expected JSON value");
    assert_refused("1 2", "Unexpected extra JSON values");
    assert_refused("[1]]", "Unmatched ']' at line 1, column 4");
    assert_refused("1,2", "Expected value before ',' at line 1, column 2");
}

/* Message, with the line and column where it was noticed. */
static const char *const messages[][2] = {
    {"[1,2", "Unfinished JSON term at EOF at line 1, column 4"},
    {"{", "Unfinished JSON term at EOF at line 1, column 1"},
    {"{\"a\":", "Unfinished JSON term at EOF at line 1, column 5"},
    {"{\"a\" 1}", "Expected separator between values at line 1, column 7"},
    {"[1 2]", "Expected separator between values at line 1, column 5"},
    {"[[2]1]", "Expected separator between values at line 1, column 6"},
    {"[\"a\"\"b\"]", "Expected separator between values at line 1, column 7"},
    {"[1[2]]", "Expected separator between values at line 1, column 3"},
    {"[{}{}]", "Expected separator between values at line 1, column 4"},
    {"[1 2", "Expected separator between values at EOF at line 1, column 4"},
    {"{,}", "Expected value before ',' at line 1, column 2"},
    {"[1,,2]", "Expected value before ',' at line 1, column 4"},
    {"[1,2\n,3\n,,]", "Expected value before ',' at line 3, column 2"},
    {"]", "Unmatched ']' at line 1, column 1"},
    {"{\"a\":1]", "Unmatched ']' at line 1, column 7"},
    {"{]", "Unmatched ']' at line 1, column 2"},
    {"}", "Unmatched '}' at line 1, column 1"},
    {"[}", "Unmatched '}' at line 1, column 2"},
    {"{\"a\":}", "Unmatched '}' at line 1, column 6"},
    {"tru", "Invalid literal at EOF at line 1, column 3"},
    {"tru ", "Invalid literal at line 1, column 4"},
    {"[tru]", "Invalid literal at line 1, column 5"},
    {"falsee", "Invalid literal at EOF at line 1, column 6"},
    {"nul", "Invalid literal at EOF at line 1, column 3"},
    {"nan1", "Invalid numeric literal at EOF at line 1, column 4"},
    {"NaN1", "Invalid numeric literal at EOF at line 1, column 4"},
    {"1x\n", "Invalid numeric literal at line 2, column 0"},
    {"-", "Invalid numeric literal at EOF at line 1, column 1"},
    {"\x01", "Invalid numeric literal at EOF at line 1, column 1"},
    {"{'a': 123}", "Invalid string literal; expected \", but got ' at line 1, column 5"},
    {"\"abc", "Unfinished string at EOF at line 1, column 4"},
    {"\"abc\\", "Unfinished string at EOF at line 1, column 5"},
    {"\"abc\\\"", "Unfinished string at EOF at line 1, column 6"},
    {"\"\\x\"", "Invalid escape at line 1, column 4"},
    {"\"\\u12\"", "Invalid \\uXXXX escape at line 1, column 6"},
    {"\"\\u12zz\"", "Invalid characters in \\uXXXX escape at line 1, column 8"},
    {"\"a\tb\"", "Invalid string: control characters from U+0000 through U+001F must be escaped "
                 "at line 1, column 5"},
    {"\"a\nb\"", "Invalid string: control characters from U+0000 through U+001F must be escaped "
                 "at line 2, column 2"},
    {"{\"a\":1,}", "Expected another key-value pair at line 1, column 8"},
    {"[1,]", "Expected another array element at line 1, column 4"},
    {"{\"a\"}", "Objects must consist of key:value pairs at line 1, column 5"},
    {"{\"a\",1}", "Objects must consist of key:value pairs at line 1, column 5"},
    {"{\"a\":1,2}", "Objects must consist of key:value pairs at line 1, column 9"},
    {"[1}", "Objects must consist of key:value pairs at line 1, column 3"},
    {"{1:2}", "Object keys must be strings at line 1, column 3"},
    {"{[1]:2}", "Object keys must be strings at line 1, column 5"},
    {":", "Expected string key before ':' at line 1, column 1"},
    {"{:1}", "Expected string key before ':' at line 1, column 2"},
    {"{\"a\"::1}", "Expected string key before ':' at line 1, column 6"},
    {"[1:2]", "':' not as part of an object at line 1, column 3"},
    {"{\"a\":1:2}", "':' not as part of an object at line 1, column 7"},
};

static void every_mistake_has_the_message_and_place_that_jq_gives(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        char expected[256];
        snprintf(expected, sizeof expected, "! %s\n", messages[i][1]);
        assert_stream(messages[i][0], expected);
        assert_refused(messages[i][0], messages[i][1]);
    }
}

static void the_place_of_a_mistake_is_also_in_the_error(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    json_parse("[1,\n 2,\n x]", 11, NULL, &err);
    assert_int_equal(err.code, ERR_SYNTAX);
    assert_int_equal(err.line, 3);
    assert_int_equal(err.col, 3);
}

static void values_before_a_mistake_are_given(void **state) {
    (void)state;
    assert_stream("1 2 ]", "1\n2\n! Unmatched ']' at line 1, column 5\n");
    assert_stream("\"a\":1", "\"a\"\n! Expected string key before ':' at line 1, column 4\n");
    assert_stream("1\n2\nx\n", "1\n2\n! Invalid numeric literal at line 4, column 0\n");
}

static void a_document_comes_out_as_soon_as_it_is_complete(void **state) {
    (void)state;
    JsonParser *p = json_parser_new(NULL);
    Json j;
    feed(p, "{\"a\":\"hel", 9, false);
    assert_int_equal(json_parser_next(p, &j, NULL), JSON_PARSE_MORE);
    feed(p, "lo\"}", 4, false);
    assert_int_equal(json_parser_next(p, &j, NULL), JSON_PARSE_VALUE);
    json_unref(j);
    assert_int_equal(json_parser_next(p, &j, NULL), JSON_PARSE_MORE);
    feed(p, NULL, 0, true);
    assert_int_equal(json_parser_next(p, &j, NULL), JSON_PARSE_END);
    assert_int_equal(json_parser_next(p, &j, NULL), JSON_PARSE_END);
    json_parser_free(p);
}

static void nothing_comes_out_behind_a_mistake(void **state) {
    (void)state;
    JsonParser *p = json_parser_new(NULL);
    Json j;
    feed(p, "] 1 2 3", 7, true);
    assert_int_equal(json_parser_next(p, &j, NULL), JSON_PARSE_ERROR);
    assert_int_equal(json_parser_next(p, &j, NULL), JSON_PARSE_END);
    json_parser_free(p);
}

static void a_long_string_in_tiny_pieces_takes_linear_time(void **state) {
    (void)state;
    size_t n = 1 << 20;
    char *text = mem_alloc(n);
    memset(text, 'x', n);
    text[0] = text[n - 1] = '"';
    char *got = read_stream(text, n, 0, 7, NULL);
    assert_int_equal(strlen(got), n + 1);
    mem_free(got);
    memset(text, '7', n);
    got = read_stream(text, n, 0, 7, NULL);
    assert_int_equal(strlen(got), n + 1);
    mem_free(got);
    mem_free(text);
}

static void a_long_stream_of_documents_takes_constant_memory(void **state) {
    (void)state;
    JsonParser *p = json_parser_new(NULL);
    size_t before = json_heap_bytes(), documents = 0;
    for (int i = 0; i < 20000; i++) {
        char *room = json_parser_reserve(p, 100);
        json_parser_commit(
            p, (size_t)sprintf(room, "{\"id\":%d,\"name\":\"a name that is long\"}\n[", i), false);
        Json j;
        while (json_parser_next(p, &j, NULL) == JSON_PARSE_VALUE) {
            documents++;
            json_unref(j);
        }
        feed(p, "]", 1, false);
    }
    assert_int_equal(documents, 39999);
    assert_true(json_heap_bytes() - before < 1000);
    json_parser_free(p);
}

static char *repeated(const char *piece, size_t times, const char *tail) {
    Buf b = BUF_INIT;
    for (size_t i = 0; i < times; i++) {
        buf_adds(&b, piece);
    }
    buf_adds(&b, tail);
    return buf_detach(&b);
}

static void nesting_is_limited(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    char *fits = repeated("[", JSON_DEPTH_MAX, ""), *closing = repeated("]", JSON_DEPTH_MAX, "");
    Buf whole = BUF_INIT;
    buf_adds(&whole, fits);
    buf_adds(&whole, closing);
    Json j = json_parse(whole.data, whole.len, NULL, &err);
    assert_int_equal(json_kind(j), JSON_ARRAY);
    json_unref(j);
    buf_clear(&whole);
    char *deeper = repeated("[", JSON_DEPTH_MAX + 1, "");
    assert_refused(deeper, "Exceeds depth limit for parsing at line 1, column 10001");
    char *objects = repeated("{\"a\":", JSON_DEPTH_MAX + 1, "");
    assert_refused(objects, "Exceeds depth limit for parsing at line 1, column 50001");
    mem_free(fits);
    mem_free(closing);
    mem_free(deeper);
    mem_free(objects);
    JsonParseOptions three = {.max_depth = 3};
    assert_true(json_is_none(json_parse("[[[[]]]]", 8, &three, &err)));
    assert_string_equal(err.msg, "Exceeds depth limit for parsing at line 1, column 4");
    assert_true(json_parse_too_deep(&err));
    three.events = true;
    assert_stream_of("[[[[", 4, "! Exceeds depth limit for parsing at line 1, column 4\n", &three);
}

static void assert_too_large(char *text, size_t max_bytes) {
    JsonParseOptions options = {.max_bytes = max_bytes};
    Error err = ERROR_INIT;
    size_t before = json_heap_bytes();
    assert_true(json_is_none(json_parse(text, strlen(text), &options, &err)));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_non_null(strstr(err.msg, "Exceeds size limit for parsing at line 1"));
    assert_int_equal(json_heap_bytes(), before);
    mem_free(text);
}

static void size_is_limited(void **state) {
    (void)state;
    assert_too_large(repeated("[1,2,3,4,5,6,7,8,9,", 5000, ""), 100000);
    assert_too_large(repeated("[[1],[2],[3],[\"a long string, so on the heap\"],", 1, "[4]]"), 200);
    Buf b = BUF_INIT;
    buf_addc(&b, '"');
    char *xs = repeated("x", 5000, "\"");
    buf_adds(&b, xs);
    mem_free(xs);
    assert_too_large(buf_detach(&b), 4000);
    assert_too_large(repeated("[1,", 9000, ""), 50000);
    JsonParseOptions options = {.max_bytes = 100000};
    Json j = json_parse("[1,{\"a\":[\"short\"]}]", 19, &options, NULL);
    assert_int_equal(json_kind(j), JSON_ARRAY);
    json_unref(j);
}

static void an_unfinished_token_cannot_outgrow_the_limit(void **state) {
    (void)state;
    JsonParseOptions options = {.max_bytes = 1000};
    char *xs = repeated("\"x", 1, ""), *more = repeated("x", 2000, "");
    JsonParser *p = json_parser_new(&options);
    Json j;
    Error err = ERROR_INIT;
    feed(p, xs, strlen(xs), false);
    assert_int_equal(json_parser_next(p, &j, &err), JSON_PARSE_MORE);
    feed(p, more, strlen(more), false);
    assert_int_equal(json_parser_next(p, &j, &err), JSON_PARSE_ERROR);
    assert_int_equal(err.code, ERR_LIMIT);
    json_parser_free(p);
    mem_free(xs);
    mem_free(more);
}

static void events_give_leaves_and_ends_with_their_paths(void **state) {
    (void)state;
    assert_events("3 \"x\" [] {}", "[[],3]\n[[],\"x\"]\n[[],[]]\n[[],{}]\n");
    assert_events("[1,[2,{\"a\":[]}],{\"b\":{\"c\":1}}]",
                  "[[0],1]\n[[1,0],2]\n[[1,1,\"a\"],[]]\n[[1,1,\"a\"]]\n[[1,1]]\n"
                  "[[2,\"b\",\"c\"],1]\n[[2,\"b\",\"c\"]]\n[[2,\"b\"]]\n[[2]]\n");
    assert_events("[[]]", "[[0],[]]\n[[0]]\n");
    assert_events("{\"a\":1,\"b\":2}", "[[\"a\"],1]\n[[\"b\"],2]\n[[\"b\"]]\n");
}

static void events_come_before_the_document_is_complete(void **state) {
    (void)state;
    JsonParser *p = json_parser_new(&(JsonParseOptions){.events = true});
    Json j;
    feed(p, "[1,", 3, false);
    assert_int_equal(json_parser_next(p, &j, NULL), JSON_PARSE_VALUE);
    json_unref(j);
    assert_int_equal(json_parser_next(p, &j, NULL), JSON_PARSE_MORE);
    json_parser_free(p);
}

static const char *const event_messages[][2] = {
    {"[1", "! Unfinished JSON term at EOF at line 1, column 2\n"},
    {"[1 2]", "! Expected separator between values at line 1, column 5\n"},
    {"[1[]]", "! Expected a separator between values at line 1, column 3\n"},
    {"[[][]]", "[[0],[]]\n! Expected a separator between values at line 1, column 4\n"},
    {"[{}{}]", "[[0],{}]\n! Expected a separator between values at line 1, column 4\n"},
    {"{{\"a\":1}}", "! Expected string key after '{', not '{' at line 1, column 2\n"},
    {"{[1]}", "! Expected string key after '{', not '[' at line 1, column 2\n"},
    {"{\"x\":1,{", "[[\"x\"],1]\n"
                   "! Expected string key after ',' in object, not '{' at line 1, column 8\n"},
    {"{\"x\":1,[", "[[\"x\"],1]\n"
                   "! Expected string key after ',' in object, not '[' at line 1, column 8\n"},
    {"[1}", "! Unmatched '}' in the middle of an array at line 1, column 3\n"},
    {"{\"a\":1]", "! Unmatched ']' in the middle of an object at line 1, column 7\n"},
    {"]", "! Unmatched ']' at the top-level at line 1, column 1\n"},
    {"}", "! Unmatched '}' at the top-level at line 1, column 1\n"},
    {"[1,]", "[[0],1]\n! Expected another array element at line 1, column 4\n"},
    {"{\"a\":1,}", "[[\"a\"],1]\n! Expected another key:value pair at line 1, column 8\n"},
    {"[,1]", "! Expected value before ',' at line 1, column 2\n"},
    {"{\"a\"}", "! Objects must consist of key:value pairs at line 1, column 5\n"},
    {"{\"a\":1,\"b\",", "[[\"a\"],1]\n"
                        "! Objects must consist of key:value pairs at line 1, column 11\n"},
    {"{\"a\":}", "! Missing value in key:value pair at line 1, column 6\n"},
    {"{1:2}", "! Object keys must be strings at line 1, column 3\n"},
    {"{:1}", "! Expected string key before ':' at line 1, column 2\n"},
    {"{\"a\":\"b\":1}", "! ':' should follow a key at line 1, column 9\n"},
    {"[1:2]", "! ':' not as part of an object at line 1, column 3\n"},
};

static void every_mistake_among_events_has_its_message(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof event_messages / sizeof *event_messages; i++) {
        assert_events(event_messages[i][0], event_messages[i][1]);
    }
}

static void sequences_start_afresh_at_every_rs(void **state) {
    (void)state;
    assert_seq("\x1e{\"a\":1}\n\x1e[2]\n", "{\"a\":1}\n[2]\n");
    assert_seq("\x1e"
               "1 \x1e"
               "2\n",
               "1\n2\n");
    assert_seq("\x1e\x1e", "");
    assert_seq("\x1e"
               "2 3\n[0,1\x1e[4,5]true\"ab\"{\"c\":4\x1e{}{\"d\":5,\"e\":6\"\x1e"
               "false\n",
               "2\n3\n! Truncated value at line 2, column 5\n[4,5]\ntrue\n\"ab\"\n"
               "! Truncated value at line 2, column 25\n{}\n"
               "! Truncated value at line 2, column 41\nfalse\n");
    assert_seq("\x1e]1\x1e[1]", "! Unmatched ']' at line 1, column 2 (need RS to resync)\n[1]\n");
    assert_seq("\x1e"
               "1\x1e"
               "2\n",
               "! Potentially truncated top-level numeric value at line 1, column 3\n2\n");
    assert_seq("\x1etrue\x1e"
               "false",
               "! Truncated value at line 1, column 6\nfalse\n");
    assert_seq("\x1e\"a\\\x1e\"b\"", "! Truncated value at line 1, column 5\n\"b\"\n");
}

static void sequences_that_end_too_early_say_so(void **state) {
    (void)state;
    assert_seq("1\n", "! Unfinished abandoned text at EOF at line 2, column 0\n");
    assert_seq("\x1e"
               "1",
               "! Potentially truncated top-level numeric value at EOF at line 1, "
               "column 2\n");
    assert_seq("\x1e[1\n", "! Unfinished JSON term at EOF at line 2, column 0\n");
    assert_seq("\x1e\"a", "! Unfinished string at EOF at line 1, column 3\n");
    assert_seq("\x1e[1 2]\n",
               "! Expected separator between values at line 1, column 6 (need RS to resync)\n");
    assert_seq("\x1etrue", "true\n");
}

static void text_with_everything_is_the_same_in_any_pieces(void **state) {
    (void)state;
    static const char text[] =
        "{\"key\":\"value that is longer than fourteen\",\"\\u00e9\":[1,-2,3.25,1e5,null,true,"
        "false],\"nested\":{\"a\":{\"b\":[[],{},[{}]]}},\"uni\":\"\xe2\x82\xac "
        "\\ud83d\\ude00 \xff end\"}\n"
        "  [12345678901234567890123, \"\\\\\\\"\"]  nan\t\"last\"";
    static const char expected[] =
        "{\"key\":\"value that is longer than fourteen\",\"\xc3\xa9\":[1,-2,3.25,1E+5,null,true,"
        "false],\"nested\":{\"a\":{\"b\":[[],{},[{}]]}},\"uni\":\"\xe2\x82\xac \xf0\x9f\x98\x80 "
        "\xef\xbf\xbd end\"}\n[12345678901234567890123,\"\\\\\\\"\"]\nnull\n\"last\"\n";
    assert_stream(text, expected);
}

static void arbitrary_bytes_do_no_harm_and_leave_nothing_behind(void **state) {
    (void)state;
    static const char alphabet[] = "[]{},:\"\\u12ntf.e-+ \n\x1e\xff\xc3\xa9"
                                   "ax0";
    uint64_t x = 12345;
    size_t before = json_heap_bytes();
    for (int i = 0; i < 20000; i++) {
        char text[24];
        for (size_t k = 0; k < sizeof text; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            text[k] = alphabet[(x >> 33) % (sizeof alphabet - 1)];
        }
        JsonParseOptions options = {.events = i % 3 == 1, .seq = i % 5 == 1};
        char *whole = read_stream(text, sizeof text, sizeof text, 0, &options);
        char *pieces = read_stream(text, sizeof text, 0, 1, &options);
        assert_string_equal(whole, pieces);
        mem_free(whole);
        mem_free(pieces);
    }
    assert_int_equal(json_heap_bytes(), before);
}

/* Every document of a stream in one, an error as "!". */
static void documents_of(const char *text, size_t step, const JsonParseOptions *options, Buf *out) {
    JsonParser *p = json_parser_new(options);
    size_t len = strlen(text), at = 0;
    Json v;
    Error err = ERROR_INIT;
    JsonParseStatus status;
    while ((status = json_parser_next(p, &v, &err)) != JSON_PARSE_END) {
        if (status == JSON_PARSE_MORE) {
            size_t n = len - at < step ? len - at : step;
            feed(p, text + at, n, at + n == len);
            at += n;
        } else if (status == JSON_PARSE_VALUE) {
            json_print(v, NULL, out);
            json_unref(v);
        } else {
            buf_addc(out, '!');
        }
    }
    json_parser_free(p);
}

static void a_document_past_a_limit_is_passed_over_and_the_next_one_read(void **state) {
    (void)state;
    JsonParseOptions shallow = {.max_depth = 2}, small = {.max_bytes = 2000};
    static const char deep[] = "1 [[[[\"]\\\"]\",{}]]]] {\"a\":2} [[[";
    char large[9000] = "[1,[2,\"";
    memset(large + 7, 'x', 8000);
    strcpy(large + 8007, "\",[3]]] 4");
    for (size_t step = 1; step < 12; step++) {
        Buf out = BUF_INIT;
        documents_of(deep, step, &shallow, &out);
        assert_string_equal(out.data, "1!{\"a\":2}!");
        buf_reset(&out);
        documents_of(large, step * 100, &small, &out);
        assert_string_equal(out.data, "!4");
        buf_clear(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_past_a_limit_is_passed_over_and_the_next_one_read),
        cmocka_unit_test(a_document_of_every_kind_is_read),
        cmocka_unit_test(a_repeated_key_keeps_its_first_place_and_last_value),
        cmocka_unit_test(beyond_the_standard_the_same_is_accepted_as_in_jq),
        cmocka_unit_test(strict_nothing_beyond_the_standard_is_accepted),
        cmocka_unit_test(strict_what_the_standard_has_is_read),
        cmocka_unit_test(escapes_are_decoded),
        cmocka_unit_test(half_surrogate_pairs_and_bad_utf8_are_replaced),
        cmocka_unit_test(strings_of_every_length_and_content_are_kept),
        cmocka_unit_test(byte_order_mark_is_skipped_and_not_counted),
        cmocka_unit_test(only_one_document_is_allowed_in_memory),
        cmocka_unit_test(every_mistake_has_the_message_and_place_that_jq_gives),
        cmocka_unit_test(the_place_of_a_mistake_is_also_in_the_error),
        cmocka_unit_test(values_before_a_mistake_are_given),
        cmocka_unit_test(a_document_comes_out_as_soon_as_it_is_complete),
        cmocka_unit_test(nothing_comes_out_behind_a_mistake),
        cmocka_unit_test(a_long_string_in_tiny_pieces_takes_linear_time),
        cmocka_unit_test(a_long_stream_of_documents_takes_constant_memory),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(size_is_limited),
        cmocka_unit_test(an_unfinished_token_cannot_outgrow_the_limit),
        cmocka_unit_test(events_give_leaves_and_ends_with_their_paths),
        cmocka_unit_test(events_come_before_the_document_is_complete),
        cmocka_unit_test(every_mistake_among_events_has_its_message),
        cmocka_unit_test(sequences_start_afresh_at_every_rs),
        cmocka_unit_test(sequences_that_end_too_early_say_so),
        cmocka_unit_test(text_with_everything_is_the_same_in_any_pieces),
        cmocka_unit_test(arbitrary_bytes_do_no_harm_and_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
