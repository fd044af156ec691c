#include "json_test.h"
#include "mem.h"

#include <math.h>

static void assert_prints(const char *text, const JsonPrintOptions *options, const char *expected) {
    Json j = parse(text);
    Buf b = BUF_INIT;
    assert_true(json_print(j, options, &b));
    assert_string_equal(b.data, expected);
    assert_int_equal(b.len, strlen(expected));
    buf_clear(&b);
    json_unref(j);
}

static void compact_text_has_no_spaces(void **state) {
    (void)state;
    assert_prints(" [ 1 , { \"a\" : [ ] , \"b\" : { } } , \"x\" , null , true , false ] ", NULL,
                  "[1,{\"a\":[],\"b\":{}},\"x\",null,true,false]");
}

static void indented_text_is_as_jq_lays_it_out(void **state) {
    (void)state;
    static const char text[] = "{\"a\":[1,{\"b\":null}],\"c\":[],\"d\":{}}";
    assert_prints(text, &(JsonPrintOptions){.indent = 2},
                  "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ],\n  \"c\": [],\n"
                  "  \"d\": {}\n}");
    assert_prints(text, &(JsonPrintOptions){.indent = -1},
                  "{\n\t\"a\": [\n\t\t1,\n\t\t{\n\t\t\t\"b\": null\n\t\t}\n\t],\n\t\"c\": [],\n"
                  "\t\"d\": {}\n}");
    assert_prints("[[1]]", &(JsonPrintOptions){.indent = 7},
                  "[\n       [\n              1\n       ]\n]");
    assert_prints("3", &(JsonPrintOptions){.indent = 2}, "3");
}

static void keys_are_sorted_at_every_level_when_asked(void **state) {
    (void)state;
    assert_prints("{\"b\":{\"z\":1,\"y\":2},\"a\":[{\"d\":1,\"c\":2}]}",
                  &(JsonPrintOptions){.sort_keys = true},
                  "{\"a\":[{\"c\":2,\"d\":1}],\"b\":{\"y\":2,\"z\":1}}");
}

static void control_characters_and_del_are_escaped(void **state) {
    (void)state;
    assert_prints("\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\\\/\\u007f\\u0080\"", NULL,
                  "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\\\/\\u007f\xc2\x80\"");
}

static void ascii_text_escapes_the_rest_in_lower_case(void **state) {
    (void)state;
    assert_prints("[\"\\u00e9\\u20AC\\ud83d\\ude00z\",{\"\\u00e9\":1}]",
                  &(JsonPrintOptions){.ascii = true},
                  "[\"\\u00e9\\u20ac\\ud83d\\ude00z\",{\"\\u00e9\":1}]");
}

static void a_special_character_is_found_at_every_place(void **state) {
    (void)state;
    for (size_t len = 1; len < 70; len++) {
        for (size_t at = 0; at < len; at++) {
            char text[80], expected[96];
            memset(text, 'a', len);
            text[at] = '\n';
            snprintf(expected, sizeof expected, "\"%.*s\\n%.*s\"", (int)at, text,
                     (int)(len - at - 1), text + at + 1);
            Json j = json_string_valid(text, len);
            char *got = json_to_text(j);
            assert_string_equal(got, expected);
            Buf b = BUF_INIT;
            json_print_string(text, len, false, &b);
            assert_string_equal(b.data, expected);
            buf_clear(&b);
            mem_free(got);
            json_unref(j);
        }
    }
}

#define DIM   "\x1b[0;90m"
#define PLAIN "\x1b[0;39m"
#define GREEN "\x1b[0;32m"
#define BOLD  "\x1b[1;39m"
#define BLUE  "\x1b[34;1m"
#define END   "\x1b[0m"

static void colors_stand_where_jq_puts_them(void **state) {
    (void)state;
    JsonPrintOptions options = {.colors = &json_default_colors};
    assert_prints("null", &options, DIM "null" END);
    assert_prints("[{\"a\":true,\"b\":false},123,null,\"x\",[],{}]", &options,
                  BOLD "[" END BOLD "{" END BLUE "\"a\"" END BOLD ":" END PLAIN "true" END BOLD
                       "," END BLUE "\"b\"" END BOLD ":" END PLAIN "false" END BOLD "}" END BOLD
                       "," END PLAIN "123" END BOLD "," END DIM "null" END BOLD "," END GREEN
                       "\"x\"" END BOLD "," END BOLD "[]" END BOLD "," END BOLD "{}" END BOLD
                       "]" END);
    options.indent = 2;
    assert_prints("{\"a\":[1,2]}", &options,
                  BOLD "{" END "\n  " BLUE "\"a\"" END BOLD ":" END " " BOLD "[" END "\n    " PLAIN
                       "1" END BOLD "," END "\n    " PLAIN "2" END "\n  " BOLD "]" END "\n" BOLD
                       "}" END);
}

static Json nested(size_t levels) {
    Json j = json_array();
    for (size_t i = 1; i < levels; i++) {
        j = json_array_push(json_array(), j);
    }
    return j;
}

static void nesting_past_the_limit_is_skipped(void **state) {
    (void)state;
    Json full = nested(JSON_DEPTH_MAX + 1), deeper = nested(JSON_DEPTH_MAX + 2);
    char *text = json_to_text(full);
    assert_int_equal(strlen(text), 2 * (JSON_DEPTH_MAX + 1));
    assert_null(strstr(text, "skipped"));
    mem_free(text);
    text = json_to_text(deeper);
    assert_non_null(strstr(text, "[<skipped: too deep>]"));
    mem_free(text);
    Json short_text = json_string_c("x");
    for (size_t i = 0; i < JSON_DEPTH_MAX + 1; i++) {
        short_text = json_array_push(json_array(), short_text);
    }
    text = json_to_text(short_text);
    assert_non_null(strstr(text, "[<skipped: too deep>]"));
    mem_free(text);
    json_unref(short_text);
    json_unref(full);
    json_unref(deeper);
}

static void printing_stops_behind_the_limit(void **state) {
    (void)state;
    Json j = parse("[1,22,333,4444,\"five\"]");
    for (size_t max = 1; max < 40; max++) {
        JsonPrintOptions options = {.max_bytes = max, .sort_keys = true};
        Buf b = BUF_INIT;
        buf_adds(&b, "before:");
        bool whole = json_print(j, &options, &b);
        assert_int_equal(whole, max >= 22);
        assert_memory_equal(b.data, "before:[1,22,333,4444,\"five\"]", b.len);
        assert_true(whole || b.len - 7 > max);
        buf_clear(&b);
    }
    json_unref(j);
}

static void a_limited_print_of_a_huge_value_is_cheap(void **state) {
    (void)state;
    size_t n = 50000000;
    char *xs = mem_alloc(n);
    memset(xs, 'x', n);
    Json j = json_string_valid(xs, n);
    mem_free(xs);
    Buf b = BUF_INIT;
    assert_false(json_print(j, &(JsonPrintOptions){.max_bytes = 10}, &b));
    assert_true(b.len < 5000);
    buf_clear(&b);
    json_unref(j);
}

typedef struct Sunk {
    Buf text;
    size_t largest, pieces, stop_after;
} Sunk;

static bool sink(void *ctx, const char *text, size_t len) {
    Sunk *s = ctx;
    buf_add(&s->text, text, len);
    s->largest = len > s->largest ? len : s->largest;
    return ++s->pieces != s->stop_after;
}

static Json large_value(void) {
    Json a = json_array();
    for (int i = 0; i < 20000; i++) {
        a = json_array_push(a, json_string_fmt("number %d of a long list, caf\xc3\xa9 \n", i));
    }
    char *xs = mem_alloc(300000);
    memset(xs, '\n', 300000);
    a = json_array_push(a, json_string_valid(xs, 300000));
    mem_free(xs);
    return a;
}

static void a_sink_gets_the_same_text_in_bounded_pieces(void **state) {
    (void)state;
    Json j = large_value();
    char *whole = json_to_text(j);
    Sunk s = {.text = BUF_INIT};
    assert_true(json_print_to(j, NULL, sink, &s));
    assert_int_equal(s.text.len, strlen(whole));
    assert_memory_equal(s.text.data, whole, s.text.len);
    assert_true(s.largest < 100000);
    assert_true(s.pieces > 10);
    buf_clear(&s.text);
    mem_free(whole);
    json_unref(j);
}

static void a_sink_can_stop_the_printing(void **state) {
    (void)state;
    Json j = large_value();
    Sunk s = {.text = BUF_INIT, .stop_after = 2};
    assert_false(json_print_to(j, &(JsonPrintOptions){.sort_keys = true}, sink, &s));
    assert_int_equal(s.pieces, 2);
    buf_clear(&s.text);
    json_unref(j);
}

static void assert_described(const char *text, const char *expected) {
    char out[JSON_DESCRIBE_MAX];
    Json j = parse(text);
    assert_string_equal(json_describe(j, out), expected);
    json_unref(j);
}

/* In parts of 10,000 bytes, the buffer emptied between them or not. */
static void assert_prints_in_parts(Json j, const JsonPrintOptions *options, bool empties) {
    enum { PART = 10000, PART_MAX = PART + 6 * 4096 + 100 };
    Buf whole = BUF_INIT, part = BUF_INIT, all = BUF_INIT;
    bool done = false;
    assert_true(json_print(j, options, &whole));
    JsonPrinting *p = json_printing_new(j, options, &part);
    for (size_t before = 0; !done; before = empties ? 0 : part.len) {
        if (empties) buf_reset(&part);
        done = json_printing_more(p, PART);
        assert_in_range(part.len - before, 1, PART_MAX);
        buf_add(&all, part.data + before, part.len - before);
    }
    assert_true(json_printing_free(p));
    assert_int_equal(all.len, whole.len);
    assert_memory_equal(all.data, whole.data, whole.len);
    buf_clear(&whole);
    buf_clear(&part);
    buf_clear(&all);
}

static Json long_string(void) {
    Buf text = BUF_INIT;
    for (int i = 0; i < 30000; i++) buf_printf(&text, "\"\xc3\xa4%d\n\x01", i);
    Json s = json_string(text.data, text.len);
    buf_clear(&text);
    return s;
}

static void printing_in_parts_gives_the_same_text(void **state) {
    (void)state;
    Json s = long_string(), items = json_array();
    for (int i = 0; i < 3000; i++) items = json_array_push(items, json_int(i));
    Json object = json_object();
    object = json_object_set(object, json_string_c("s"), json_ref(s));
    object = json_object_set(object, json_string_c("n"), json_null());
    object = json_object_set(object, json_string_c("items"), items);
    object = json_object_set(object, json_string_c("end"), json_ref(s));
    Json values[] = {s, json_array_push(json_array(), json_ref(s)), object, json_int(1)};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        for (int empties = 0; empties < 2; empties++) {
            assert_prints_in_parts(values[i], NULL, empties);
            assert_prints_in_parts(values[i], &(JsonPrintOptions){.indent = 2, .ascii = true},
                                   empties);
        }
        json_unref(values[i]);
    }
}

static void a_part_that_ends_in_a_string_is_not_the_whole(void **state) {
    (void)state;
    Json s = long_string();
    Buf out = BUF_INIT;
    JsonPrinting *p = json_printing_new(s, NULL, &out);
    assert_false(json_printing_more(p, 1000));
    assert_false(json_printing_free(p));
    buf_reset(&out);
    p = json_printing_new(s, &(JsonPrintOptions){.max_bytes = 20000}, &out);
    while (!json_printing_more(p, 1000)) {}
    assert_in_range(out.len, 20000, 20000 + 6 * 4096 + 100);
    assert_false(json_printing_free(p));
    buf_clear(&out);
    json_unref(s);
}

static void descriptions_are_cut_as_jq_cuts_them(void **state) {
    (void)state;
    assert_described("12", "number (12)");
    assert_described("null", "null (null)");
    assert_described("true", "boolean (true)");
    assert_described("\"very-long-long-long-long-string\"",
                     "string (\"very-long-long-long-long...\")");
    assert_described("123456789012345678901234567890", "number (12345678901234567890123456...)");
    assert_described("12345678901234567890123456789", "number (12345678901234567890123456789)");
    assert_described("\"123\\u0000456\"", "string (\"123\\u0000456\")");
    assert_described("[1,2,3,4,5,6,7,8,9,10,11,12,13,14]", "array ([1,2,3,4,5,6,7,8,9,10,11,...])");
    assert_described("{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaa\":1}",
                     "object ({\"aaaaaaaaaaaaaaaaaaaaaaa...})");
}

#define STAR "\xe2\x98\x86"

static void descriptions_are_never_cut_inside_a_character(void **state) {
    (void)state;
#define STARS8 STAR STAR STAR STAR STAR STAR STAR STAR
    assert_described("\"" STARS8 "\"", "string (\"" STARS8 "\")");
    assert_described("\"xx" STARS8 "\"", "string (\"xx" STARS8 "\")");
    assert_described("\"xxxx" STARS8 "\"", "string (\"xxxx" STAR STAR STAR STAR STAR STAR "...\")");
    assert_described("\"xxxxxx" STARS8 "\"",
                     "string (\"xxxxxx" STAR STAR STAR STAR STAR STAR "...\")");
    assert_described("\"xxxxxxxx" STARS8 "\"",
                     "string (\"xxxxxxxx" STAR STAR STAR STAR STAR "...\")");
    assert_described("\"xxxxxxxxxx" STARS8 "\"",
                     "string (\"xxxxxxxxxx" STAR STAR STAR STAR "...\")");
}

static void an_excerpt_is_the_part_in_parentheses(void **state) {
    (void)state;
    char out[JSON_DESCRIBE_MAX];
    assert_string_equal(json_excerpt(json_int(-7), out), "-7");
    assert_string_equal(json_excerpt(json_double(NAN), out), "null");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact_text_has_no_spaces),
        cmocka_unit_test(indented_text_is_as_jq_lays_it_out),
        cmocka_unit_test(keys_are_sorted_at_every_level_when_asked),
        cmocka_unit_test(control_characters_and_del_are_escaped),
        cmocka_unit_test(ascii_text_escapes_the_rest_in_lower_case),
        cmocka_unit_test(a_special_character_is_found_at_every_place),
        cmocka_unit_test(colors_stand_where_jq_puts_them),
        cmocka_unit_test(nesting_past_the_limit_is_skipped),
        cmocka_unit_test(printing_stops_behind_the_limit),
        cmocka_unit_test(a_limited_print_of_a_huge_value_is_cheap),
        cmocka_unit_test(a_sink_gets_the_same_text_in_bounded_pieces),
        cmocka_unit_test(a_sink_can_stop_the_printing),
        cmocka_unit_test(printing_in_parts_gives_the_same_text),
        cmocka_unit_test(a_part_that_ends_in_a_string_is_not_the_whole),
        cmocka_unit_test(descriptions_are_cut_as_jq_cuts_them),
        cmocka_unit_test(descriptions_are_never_cut_inside_a_character),
        cmocka_unit_test(an_excerpt_is_the_part_in_parentheses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
