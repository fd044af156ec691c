/* Answers and events as text: whatever they hold, on whatever terminal. */
#include "commands.h"
#include "json_parse.h"
#include "mem.h"
#include "session_api.h"
#include "terminal.h"
#include "utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { PLAIN, COLOURED };

static Json parse(const char *text) {
    Error err = ERROR_INIT;
    Json value = json_parse(text, strlen(text), NULL, &err);
    if (json_is_none(value)) {
        fail_msg("%s: %s", text, err.msg);
    }
    return value;
}

static void show_answer(bool colour, const char *operation, Json args, Json answer, Buf *out) {
    View v = {.out = out, .colour = colour, .args = args};
    CommandView *view = commands_view(operation);
    if (view) {
        view(&v, answer);
        view_end_line(&v);
    }
}

/* The answer to an operation, shown; given. */
static char *shown(const char *operation, const char *answer) {
    Json args = json_object(), b = parse(answer);
    Buf out = BUF_INIT;
    show_answer(PLAIN, operation, args, b, &out);
    json_unref(args);
    json_unref(b);
    return out.data ? buf_detach(&out) : mem_strndup("", 0);
}

static void check_shown(const char *operation, const char *answer, const char *text) {
    char *got = shown(operation, answer);
    assert_string_equal(got, text);
    mem_free(got);
}

/* ---- what nothing looks like ---- */

static void an_empty_list_is_said_to_be_empty(void **state) {
    (void)state;
    check_shown("breakpoints", "{\"breakpoints\":[]}", "There are no breakpoints.\n");
    check_shown("breakpoint_delete", "{\"deleted\":[]}", "There is none.\n");
    check_shown("watches", "{\"watches\":[]}", "There are no watches.\n");
    check_shown("pending", "{\"pending\":[]}", "Nothing is pending.\n");
    check_shown("injected", "{\"injected\":[]}", "No node is injected.\n");
    check_shown("search", "{\"found\":[]}", "It is nowhere in the state.\n");
    check_shown("largest", "{\"largest\":[]}", "The state is empty.\n");
    check_shown("diff", "{\"changed\":[],\"added\":[],\"removed\":[]}", "Nothing changed.\n");
    check_shown("evaluate", "{\"results\":[]}", "No output.\n");
    check_shown("source", "{\"lines\":[]}", "There are no lines there.\n");
    check_shown("history", "{\"steps\":[]}", "No step has been taken yet.\n");
    check_shown("continue", "{\"resumed\":[]}", "Nothing is paused.\n");
    check_shown("pause", "{\"paused\":[],\"later\":[]}", "Nothing is running.\n");
}

static void a_large_side_of_a_change_is_shown_with_its_size(void **state) {
    (void)state;
    check_shown("diff",
                "{\"changed\":[{\"path\":[\"t\"],\"old\":\"\\\"...ab\\\"\",\"old_size\":20000,"
                "\"new\":null,\"cut\":true}],\"added\":[{\"path\":[\"l\"],\"new\":\"[1,2...\","
                "\"new_size\":500,\"cut\":true}],\"removed\":[]}",
                "~ .t: \"...ab\" (20 kB) → null\n+ .l: [1,2... (500 B)\n");
}

static void long_strings_are_shown_where_they_differ(void **state) {
    (void)state;
    check_shown(
        "diff",
        "{\"changed\":[{\"path\":[\"t\"],"
        "\"old\":\"0123456789012345678901234567890123456789012345678901234567890123456789 before\","
        "\"new\":\"0123456789012345678901234567890123456789012345678901234567890123456789 after\"}],"
        "\"added\":[],\"removed\":[]}",
        "~ .t: \"...1234567890123456789 before\" → \"...1234567890123456789 after\"\n");
}

static void watches_are_silent_at_a_pause_when_there_are_none(void **state) {
    Json none = parse("{\"watches\":[]}");
    Buf out = BUF_INIT;
    (void)state;
    view_watches(&(View){.out = &out}, none);
    assert_int_equal(out.len, 0);
    json_unref(none);
}

/* ---- formats ---- */

static void check_format(const char *format, const char *text) {
    Json object = parse("{\"node\":\"a\",\"n\":1,\"none\":null,\"path\":[\"x\",0],"
                        "\"size\":12345,\"t\":90,\"value\":null}");
    Buf out = BUF_INIT;
    view_format(&(View){.out = &out}, object, format);
    assert_string_equal(out.data ? out.data : "", text);
    buf_clear(&out);
    json_unref(object);
}

static void a_format_looks_as_what_it_shows(void **state) {
    (void)state;
    check_format("`{node}` ({n})\n", "`a` (1)\n");
    check_format("{path|path} {value|json} {size|size} {t|time}", ".x[0] null 12 kB 1m 30s");
}

static void what_is_in_brackets_is_left_out_when_a_field_is_not_there(void **state) {
    (void)state;
    check_format("x[ {node}][ {missing}][ {none}][ {node} of {missing}][ {value|json}].",
                 "x a null.");
    check_format("{missing}{missing|json}", "");
}

/* ---- what would drive a terminal ---- */

/* ESC, BEL, DEL, CR, LF and U+009B, which is ESC [ in one character. */
#define HOSTILE "a\\u001b[31mb\\u0007c\\u007fd\\re\\nf\\u009b5mg"

static const char *const texts[] = {
    "node",     "kind", "name",    "frame_name",    "file",   "title",     "workflow",
    "status",   "text", "message", "interrupt",     "prompt", "condition", "log_message",
    "group",    "type", "source",  "expression",    "thread", "preview",   "where",
    "position", "to",   "reason",  "when",          "on",     "answered",  "result",
    "value",    "key",  "old",     "hit_condition", "new",    "task_name", "task_title",
    NULL};
static const char *const numbers[] = {"id",    "frame",   "checkpoint", "line",
                                      "first", "current", NULL};
static const char *const entries[] = {"breakpoint", "watch", "change", "error", NULL};
static const char *const lists[] = {"breakpoints", "frames",  "stack",   "nodes", "edges",
                                    "children",    "keys",    "found",   "added", "largest",
                                    "removed",     "changed", "watches", "steps", "pending",
                                    "injected",    NULL};

static Json hostile_text(void) {
    return parse("\"" HOSTILE "\"");
}

static Json hostile_list(Json entry) {
    return json_array_push(json_array(), entry);
}

static Json hostile_entry(void) {
    Json out = json_object();
    for (size_t i = 0; texts[i]; i++) {
        out = json_object_with(out, texts[i], hostile_text());
    }
    for (size_t i = 0; numbers[i]; i++) {
        out = json_object_with(out, numbers[i], json_int(1));
    }
    return json_object_with(out, "path", hostile_list(hostile_text()));
}

/* Has every field that is looked at anywhere, in the shape that it should have. Given. */
static Json hostile_answer(void) {
    Json out = hostile_entry();
    for (size_t i = 0; lists[i]; i++) {
        out = json_object_with(out, lists[i], hostile_list(hostile_entry()));
    }
    for (size_t i = 0; entries[i]; i++) {
        out = json_object_with(out, entries[i], hostile_entry());
    }
    Json keyed = json_object_set(json_object(), hostile_text(), hostile_text());
    out = json_object_with(out, "results", hostile_list(json_ref(keyed)));
    out = json_object_with(out, "lines", hostile_list(hostile_text()));
    out = json_object_with(out, "options", hostile_list(hostile_text()));
    out = json_object_with(out, "resolved", hostile_text());
    return json_object_with(out, "raw", keyed);
}

static void check_harmless(const char *what, const Buf *text) {
    for (size_t i = 0; i < text->len; i++) {
        unsigned char byte = (unsigned char)text->data[i], next = (unsigned char)text->data[i + 1];
        bool control = (byte < 0x20 && byte != '\n') || byte == 0x7F;
        if (control || (byte == 0xC2 && next >= 0x80 && next < 0xA0)) {
            fail_msg("%s lets \\x%02x\\x%02x through: %s", what, byte, next, text->data);
        }
    }
    assert_int_equal(utf8_valid_prefix(text->data, text->len), text->len);
}

static void no_answer_drives_the_terminal(void **state) {
    Json args = parse("{\"enabled\":true,\"offset\":0}"), answer = hostile_answer();
    (void)state;
    for (const Operation *op = session_operations; op->name; op++) {
        Buf out = BUF_INIT;
        buf_adds(&out, "");
        show_answer(PLAIN, op->name, args, answer, &out);
        check_harmless(op->name, &out);
        buf_clear(&out);
    }
    json_unref(args);
    json_unref(answer);
}

static const char *const events[] = {"paused", "log",     "output",  "waiting", "node",    "step",
                                     "retry",  "warning", "settled", "session", "replayed"};

static void no_event_drives_the_terminal(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        Json event = json_object_with(hostile_answer(), "event", json_string_c(events[i]));
        Buf out = BUF_INIT;
        buf_adds(&out, "");
        view_event(&(View){.out = &out}, event);
        check_harmless(events[i], &out);
        buf_clear(&out);
        json_unref(event);
    }
}

static void no_error_drives_the_terminal(void **state) {
    Buf out = BUF_INIT;
    (void)state;
    view_sentence(&(View){.out = &out}, "There is no node `\x1b[2J\xC2\x9B"
                                        "0m\x7F`.");
    assert_string_equal(out.data, "There is no node `?[2J?0m?`.\n");
    buf_reset(&out);
    view_sentence(&(View){.out = &out}, "There is no node `a\xE2\x80\xAE"
                                        "b`.");
    assert_string_equal(out.data, "There is no node `a?b`.\n");
    buf_clear(&out);
}

/* What a value holds can still be told: it is JSON all the same. */
static void control_characters_in_a_value_are_escaped(void **state) {
    (void)state;
    check_shown("evaluate", "{\"results\":[\"a\\u001bb\\u009bc\\u007f\"]}",
                "\"a\\u001bb\\u009bc\\u007f\"\n");
    check_shown("evaluate", "{\"results\":[\"a\\u202eb\\u2066c\\u061cd\\u200fe\\u20acf\"]}",
                "\"a\\u202eb\\u2066c\\u061cd\\u200fe\xE2\x82\xAC"
                "f\"\n");
}

static void lines_of_a_text_stay_lines(void **state) {
    (void)state;
    check_shown("graph", "{\"text\":\"graph TD\\n  a --> b\\n\"}", "graph TD\n  a --> b\n");
    check_shown("node", "{\"node\":\"a\",\"kind\":\"shell\",\"source\":\"x:\\n  y\"}",
                "`a` (shell)\n  x:\n    y\n");
}

/* ---- answers of any shape ---- */

static const char *const shapes[] = {"null", "1", "-1.5", "\"x\"", "[]", "[1]", "{}", "true"};

/* A field that is of another kind than it should be is left out, or shown for what it is. */
static void any_field_may_be_of_any_kind(void **state) {
    Json whole = hostile_answer(), key, value;
    (void)state;
    for (size_t pos = 0; json_object_next(whole, &pos, &key, &value);) {
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            Json bent = json_object_set(json_ref(whole), json_ref(key), parse(shapes[i]));
            for (const Operation *op = session_operations; op->name; op++) {
                Buf out = BUF_INIT;
                show_answer(COLOURED, op->name, bent, bent, &out);
                assert_true(!out.len || out.data[out.len - 1] == '\n');
                buf_clear(&out);
            }
            json_unref(bent);
        }
    }
    json_unref(whole);
}

static void an_answer_that_is_no_object_is_shown_too(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (const Operation *op = session_operations; op->name; op++) {
            mem_free(shown(op->name, shapes[i]));
        }
    }
    check_shown("an operation of later", "{\"a\":1}", "{\"a\":1}\n");
}

/* ---- long ---- */

static Json long_text(const char *piece, size_t times) {
    Buf text = BUF_INIT;
    for (size_t i = 0; i < times; i++) {
        buf_adds(&text, piece);
    }
    Json out = json_string(text.data, text.len);
    buf_clear(&text);
    return out;
}

static void check_cut(bool colour, Json value) {
    Buf out = BUF_INIT;
    view_value(&(View){.out = &out, .colour = colour}, value);
    assert_in_range(out.len, VIEW_VALUE_MAX / 2, VIEW_VALUE_MAX + 200);
    assert_int_equal(utf8_valid_prefix(out.data, out.len), out.len);
    assert_non_null(strstr(out.data, "…\n"));
    assert_non_null(strstr(out.data, "`state PATH` shows a large value by its parts"));
    buf_clear(&out);
}

static void a_long_value_is_cut_between_characters_with_a_word_on_the_rest(void **state) {
    static const char *const pieces[] = {"x", "é", "語", "😀"};
    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        Json text = long_text(pieces[i], 100000);
        check_cut(PLAIN, text);
        check_cut(COLOURED, text);
        json_unref(text);
    }
}

/* Every ESC is followed by a whole sequence, wherever the cut falls. */
static void check_colours(const char *text) {
    bool coloured_now = false;
    for (const char *at = text; (at = strchr(at, '\x1b')); at++) {
        size_t n = strspn(at + 2, "0123456789;");
        assert_true(at[1] == '[' && at[2 + n] == 'm');
        coloured_now = strncmp(at, "\x1b[0m", 4) != 0;
    }
    assert_false(coloured_now);
}

static void a_cut_leaves_no_colour_on(void **state) {
    (void)state;
    for (size_t width = 0; width < 12; width++) {
        Json list = json_array_push(json_array(), json_null());
        for (size_t i = 0; i < 1000; i++) {
            list = json_array_push(list, long_text("x", width));
        }
        Buf out = BUF_INIT;
        view_value(&(View){.out = &out, .colour = COLOURED}, list);
        check_colours(out.data);
        buf_clear(&out);
        json_unref(list);
    }
}

static void a_long_value_in_a_line_is_cut_to_it(void **state) {
    Json answer = json_object_with(json_object(), "expression", json_string_c(".x"));
    answer =
        json_object_with(answer, "results", json_array_push(json_array(), long_text("é", 9999)));
    Json all = json_object_with(json_object(), "watches", json_array_push(json_array(), answer));
    Buf out = BUF_INIT;
    (void)state;
    view_watches(&(View){.out = &out}, all);
    assert_in_range(out.len, 20, VIEW_LINE + 20);
    assert_int_equal(utf8_valid_prefix(out.data, out.len), out.len);
    assert_string_equal(out.data + out.len - 4, "…\n");
    buf_clear(&out);
    json_unref(all);
}

/* ---- columns ---- */

static size_t column_of(const char *text, const char *word) {
    const char *at = strstr(text, word), *from = at;
    assert_non_null(at);
    while (from > text && from[-1] != '\n') {
        from--;
    }
    return terminal_text_columns(from, (size_t)(at - from));
}

static void columns_are_straight_with_wide_and_combining_characters(void **state) {
    char *text = shown("nodes", "{\"nodes\":[{\"name\":\"build\",\"kind\":\"shell\"},"
                                "{\"name\":\"部署する\",\"kind\":\"http\"},"
                                "{\"name\":\"cafe\\u0301 😀\",\"kind\":\"jq\"}]}");
    size_t kind = column_of(text, "KIND");
    (void)state;
    assert_int_equal(column_of(text, "shell"), kind);
    assert_int_equal(column_of(text, "http"), kind);
    assert_int_equal(column_of(text, "jq"), kind);
    assert_int_equal(kind, strlen("部署する") / 3 * 2 + 2);
    mem_free(text);
}

static void text_is_measured_as_a_terminal_shows_it(void **state) {
    (void)state;
    assert_int_equal(terminal_text_columns("", 0), 0);
    assert_int_equal(terminal_text_columns("abc", 3), 3);
    assert_int_equal(terminal_text_columns("é→", strlen("é→")), 2);
    assert_int_equal(terminal_text_columns("語", strlen("語")), 2);
    assert_int_equal(terminal_text_columns("e\xCC\x81", 3), 1); /* e and an accent */
    assert_int_equal(terminal_text_columns("\xFF", 1), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_list_is_said_to_be_empty),
        cmocka_unit_test(a_large_side_of_a_change_is_shown_with_its_size),
        cmocka_unit_test(long_strings_are_shown_where_they_differ),
        cmocka_unit_test(watches_are_silent_at_a_pause_when_there_are_none),
        cmocka_unit_test(a_format_looks_as_what_it_shows),
        cmocka_unit_test(what_is_in_brackets_is_left_out_when_a_field_is_not_there),
        cmocka_unit_test(no_answer_drives_the_terminal),
        cmocka_unit_test(no_event_drives_the_terminal),
        cmocka_unit_test(no_error_drives_the_terminal),
        cmocka_unit_test(control_characters_in_a_value_are_escaped),
        cmocka_unit_test(lines_of_a_text_stay_lines),
        cmocka_unit_test(any_field_may_be_of_any_kind),
        cmocka_unit_test(an_answer_that_is_no_object_is_shown_too),
        cmocka_unit_test(a_long_value_is_cut_between_characters_with_a_word_on_the_rest),
        cmocka_unit_test(a_cut_leaves_no_colour_on),
        cmocka_unit_test(a_long_value_in_a_line_is_cut_to_it),
        cmocka_unit_test(columns_are_straight_with_wide_and_combining_characters),
        cmocka_unit_test(text_is_measured_as_a_terminal_shows_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
