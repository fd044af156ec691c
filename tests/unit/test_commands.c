/* Lines at the debugger's prompt become operations with their arguments, or sentences. */
#include "commands.h"

#include "json_parse.h"
#include "json_print.h"
#include "mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const CommandContext context = {.file = "flow.yaml"};

static void check_reads(const char *line, const char *operation, const char *args) {
    Error err = ERROR_INIT;
    Order order;
    bool ok = commands_read(&context, line, strlen(line), &order, &err);
    if (!ok) {
        print_error("%s: %s\n", line, err.msg);
    }
    assert_true(ok);
    assert_non_null(order.command);
    assert_string_equal(order.operation ? order.operation : "", operation);
    char *text = json_to_text(order.args);
    assert_string_equal(text, args);
    mem_free(text);
    order_clear(&order);
}

/* The sentence has to hold `words`. */
static void check_refuses(const char *line, const char *command, const char *words) {
    Error err = ERROR_INIT;
    Order order;
    assert_false(commands_read(&context, line, strlen(line), &order, &err));
    assert_string_equal(order.command ? order.command->name : "", command);
    if (!strstr(err.msg, words)) {
        fail_msg("`%s` says: %s", line, err.msg);
    }
    size_t len = strlen(err.msg);
    assert_true(len > 1 && (err.msg[len - 1] == '.' || err.msg[len - 1] == '?'));
    order_clear(&order);
}

static const char *name_of(const char *line) {
    Order order;
    bool ok = commands_read(&context, line, strlen(line), &order, NULL);
    const char *name = ok && order.command ? order.command->name : "";
    order_clear(&order);
    return name;
}

/* ---- finding commands ---- */

static void commands_are_found_by_name_alias_and_beginning(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"continue", "continue"},
        {"c", "continue"},
        {"cont", "continue"},
        {"n", "next"},
        {"s", "step"},
        {"fin", "finish"},
        {"p .x", "print"},
        {"l", "list"},
        {"bt", "backtrace"},
        {"i b", "info"},
        {"d", "delete"},
        {"q", "quit"},
        {"rc", "reverse-continue"},
        {"reve", "reverse-continue"},
        {"b a", "break"},
        {"tb a", "tbreak"},
        {"r", "run"},
        {"w", "backtrace"},
        {"where", "backtrace"},
        {"k", "abort"},
        {"j a", "goto"},
        {"frame2", "frame"},
        {"p.x", "print"},
        {".x", "print"},
        {"?", "help"},
        {"  next  ", "next"},
        {"display .x", "watch"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        assert_string_equal(name_of(pairs[i][0]), pairs[i][1]);
    }
}

static void no_name_or_alias_is_given_twice(void **state) {
    (void)state;
    const ConsoleCommand *w;
    for (size_t i = 0; (w = commands_at(i)); i++) {
        assert_ptr_equal(commands_find(w->name, strlen(w->name), NULL), w);
        for (const char *at = w->aliases; *at;) {
            size_t n = strcspn(at, " ");
            assert_ptr_equal(commands_find(at, n, NULL), w);
            at += n + (at[n] == ' ');
        }
    }
}

static void what_is_no_command_is_said_with_the_nearest(void **state) {
    (void)state;
    check_refuses("contniue", "", "did you mean `continue`?");
    check_refuses("re", "", "retry");
    check_refuses("zzzzzz", "", "`help` lists them");
    check_refuses("%%", "", "There is no command `%%`");
}

static void empty_lines_and_comments_ask_for_nothing(void **state) {
    (void)state;
    static const char *const lines[] = {"", "   ", "# break a", "\t\r"};
    for (size_t i = 0; i < 4; i++) {
        Order order;
        assert_true(commands_read(&context, lines[i], strlen(lines[i]), &order, NULL));
        assert_null(order.command);
        order_clear(&order);
    }
}

/* ---- breakpoints ---- */

static void breakpoints_are_kept_in_a_file_or_with_the_store(void **state) {
    (void)state;
    static const struct {
        const char *line, *text;
    } rows[] = {{"save", NULL},
                {"save breakpoints", NULL},
                {"save my stops.json", "my stops.json"},
                {"save breakpoints a.json", "a.json"},
                {"load", NULL},
                {"load a.json", "a.json"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Order order;
        assert_true(commands_read(&context, rows[i].line, strlen(rows[i].line), &order, NULL));
        bool gives = json_truthy(json_object_get_c(order.args, "give"));
        assert_true(rows[i].text ? order.text && !strcmp(order.text, rows[i].text) : !order.text);
        assert_int_equal(gives, rows[i].text && rows[i].line[0] == 's');
        order_clear(&order);
    }
}

static void places_become_breakpoints(void **state) {
    (void)state;
    check_reads("break build if .x > 1", "breakpoint_set", "{\"spec\":\"build if .x > 1\"}");
    check_reads("b 12", "breakpoint_set", "{\"spec\":\"flow.yaml:12\"}");
    check_reads("b 12 if .x", "breakpoint_set", "{\"spec\":\"flow.yaml:12 if .x\"}");
    check_reads("tbreak sub.yaml:3", "breakpoint_set", "{\"once\":true,\"spec\":\"sub.yaml:3\"}");
}

static void errors_are_caught_and_texts_logged(void **state) {
    (void)state;
    check_reads("catch", "breakpoint_set", "{\"type\":\"exception\"}");
    check_reads("catch error", "breakpoint_set", "{\"type\":\"exception\"}");
    check_reads("catch caught if .kind == \"timeout\"", "breakpoint_set",
                "{\"type\":\"exception\",\"caught\":true,\"error\":\".kind == \\\"timeout\\\"\"}");
    check_reads("logpoint build tries \\(.tries) if any", "breakpoint_set",
                "{\"spec\":\"build\",\"log_message\":\"tries \\\\(.tries) if any\"}");
    check_reads("log \"a b\" text", "breakpoint_set",
                "{\"spec\":\"a b\",\"log_message\":\"text\"}");
}

static void breakpoints_are_changed_by_number_and_group(void **state) {
    (void)state;
    check_reads("condition 1 .x > 2", "breakpoint_change", "{\"id\":1,\"condition\":\".x > 2\"}");
    check_reads("condition 1", "breakpoint_change", "{\"id\":1,\"condition\":null}");
    check_reads("ignore 2 9", "breakpoint_change", "{\"id\":2,\"ignore_count\":9}");
    check_reads("hits 1 % 10", "breakpoint_change", "{\"id\":1,\"hit_condition\":\"% 10\"}");
    check_reads("group 1 deploying", "breakpoint_change", "{\"id\":1,\"group\":\"deploying\"}");
    check_reads("delete 1 3", "breakpoint_delete", "{\"ids\":[1,3]}");
    check_reads("delete group a b", "breakpoint_delete", "{\"group\":\"a b\"}");
    check_reads("delete", "breakpoint_delete", "{\"all\":true}");
    check_reads("enable 4", "breakpoint_enable", "{\"enabled\":true,\"ids\":[4]}");
    check_reads("disable", "breakpoint_enable", "{\"enabled\":false,\"all\":true}");
    check_reads("watch .a | length", "watch_add", "{\"expression\":\".a | length\"}");
    check_reads("unwatch", "watch_delete", "{\"all\":true}");
    check_reads("unwatch 3", "watch_delete", "{\"id\":3}");
}

/* ---- running ---- */

static void frames_are_let_go(void **state) {
    (void)state;
    check_reads("c", "continue", "{}");
    check_reads("c 3", "continue", "{\"frame\":3}");
    check_reads("c all", "continue", "{\"frame\":\"all\"}");
    check_reads("c while .n < 5", "continue", "{\"while\":\".n < 5\"}");
    check_reads("c all while .n", "continue", "{\"frame\":\"all\",\"while\":\".n\"}");
    check_reads("c 2 while .n", "continue", "{\"frame\":2,\"while\":\".n\"}");
    check_refuses("c while", "continue", "what is to hold behind `while`");
    check_refuses("c 2 3", "continue", "`3` is too much");
    check_reads("n", "step", "{\"kind\":\"over\"}");
    check_reads("step 2", "step", "{\"kind\":\"into\",\"count\":2}");
    check_reads("n frame 2", "step", "{\"kind\":\"over\",\"frame\":2}");
    check_reads("finish 3 frame 2", "step", "{\"kind\":\"out\",\"count\":3,\"frame\":2}");
    check_reads("finish", "step", "{\"kind\":\"out\"}");
    check_reads("back", "back", "{}");
    check_reads("back 3", "back", "{\"count\":3}");
    check_reads("rc", "reverse_continue", "{}");
    check_reads("skip", "skip", "{}");
    check_reads("skip {\"a\": 1}", "skip", "{\"output\":{\"a\":1}}");
    check_reads("goto build it", "goto", "{\"node\":\"build it\"}");
    check_reads("goto @12", "goto", "{\"checkpoint\":12}");
    check_reads("pause", "pause", "{}");
    check_reads("retry", "retry", "{}");
}

static void answers_are_values_or_decisions(void **state) {
    (void)state;
    check_reads("answer", "answer", "{}");
    check_reads("answer approve", "answer", "{\"decision\":\"approve\"}");
    check_reads("answer needs work", "answer", "{\"decision\":\"needs work\"}");
    check_reads("answer \"some text\"", "answer", "{\"value\":\"some text\"}");
    check_reads("answer i7 {\"a\":1}", "answer", "{\"interrupt\":\"i7\",\"value\":{\"a\":1}}");
    check_reads("answer i7", "answer", "{\"interrupt\":\"i7\"}");
    check_refuses("answer {\"a\":", "answer", "is not JSON");
}

/* ---- looking and changing ---- */

static void things_are_looked_at(void **state) {
    (void)state;
    check_reads("p .a | length", "evaluate", "{\"expression\":\".a | length\"}");
    check_reads("print @4 .a", "evaluate", "{\"checkpoint\":4,\"expression\":\".a\"}");
    check_reads("print @base64", "evaluate", "{\"expression\":\"@base64\"}");
    check_reads("state", "variables", "{}");
    check_reads("state @3 .a[0] +100", "variables",
                "{\"checkpoint\":3,\"offset\":100,\"path\":\".a[0]\"}");
    check_reads("search some text", "search", "{\"text\":\"some text\"}");
    check_reads("largest 3", "largest", "{\"limit\":3}");
    check_reads("diff", "diff", "{}");
    check_reads("diff node", "diff", "{\"since\":\"node\"}");
    check_reads("diff 3 @7", "diff", "{\"from\":3,\"to\":7}");
    check_reads("config", "config", "{}");
    check_reads("config set .timeout = 60", "config_set", "{\"path\":\".timeout\",\"value\":60}");
    check_reads("config reset", "config_reset", "{}");
    check_reads("info b", "breakpoints", "{}");
    check_reads("info node", "node", "{}");
    check_reads("i frames", "frames", "{}");
    check_reads("history 5 all @9", "history", "{\"limit\":5,\"all\":true,\"before\":9}");
    check_reads("graph dot", "graph", "{\"format\":\"dot\"}");
    check_reads("list 12", "source", "{\"file\":\"flow.yaml\",\"line\":12}");
    check_reads("list a:b.yaml:7", "source", "{\"file\":\"a:b.yaml\",\"line\":7}");
    check_reads("list", "source", "{}");
}

static void list_goes_on_where_it_was(void **state) {
    (void)state;
    CommandContext on = {.file = "flow.yaml", .list_file = "sub.yaml", .list_line = 17};
    Order order;
    assert_true(commands_read(&on, "list", 4, &order, NULL));
    char *text = json_to_text(order.args);
    assert_string_equal(text, "{\"file\":\"sub.yaml\",\"line\":17}");
    mem_free(text);
    order_clear(&order);
}

static void values_are_set_at_paths(void **state) {
    (void)state;
    check_reads("set .a = 1", "set", "{\"path\":\".a\",\"value\":1}");
    check_reads("set a.b={\"x\": \"=\"}", "set", "{\"path\":\"a.b\",\"value\":{\"x\":\"=\"}}");
    check_reads("set .[\"a=b\"] = [1]", "set", "{\"path\":\".[\\\"a=b\\\"]\",\"value\":[1]}");
    check_reads("unset .a", "unset", "{\"path\":\".a\"}");
    check_reads("revoke 2", "revoke", "{\"id\":2}");
    check_reads("revoke", "revoke", "{\"all\":true}");
    check_refuses("set .a = text", "set", "a string is written with its quotes");
    check_refuses("set .a", "set", "a path, an equals sign and a value");
    check_refuses("set = 1", "set", "a path, an equals sign and a value");
}

static void nodes_are_injected(void **state) {
    (void)state;
    check_reads("inject before probe: {shell: env}", "inject",
                "{\"where\":\"before\",\"text\":\"probe: {shell: env}\"}");
    check_reads("inject probe: shell: env", "inject",
                "{\"where\":\"before\",\"name\":\"probe\",\"text\":\"shell: env\"}");
    check_reads("inject \"a b\": shell: env", "inject",
                "{\"where\":\"before\",\"name\":\"a b\",\"text\":\"shell: env\"}");
    check_reads("inject jq: .n + 1", "inject", "{\"where\":\"before\",\"text\":\"jq: .n + 1\"}");
    check_reads("inject shell: echo a: b", "inject",
                "{\"where\":\"before\",\"text\":\"shell: echo a: b\"}");
    check_reads("inject after {\"jq\": \".\"}", "inject",
                "{\"where\":\"after\",\"node\":{\"jq\":\".\"}}");
    check_reads("inject \"a b\": {shell: env}", "inject",
                "{\"where\":\"before\",\"text\":\"\\\"a b\\\": {shell: env}\"}");
    check_reads("uninject 1", "inject_remove", "{\"id\":1}");
    check_refuses("inject before", "inject", "a node");
    check_refuses("inject before probe:", "inject", "a node");
}

static void the_session_has_options(void **state) {
    (void)state;
    check_reads("option", "session", "{}");
    check_reads("option pause-all off", "configure", "{\"pause_all_on_breakpoint\":false}");
    check_reads("option idle 30m", "configure", "{\"idle_limit\":1800}");
    check_reads("option idle off", "configure", "{\"idle_limit\":0}");
    check_reads("extend 2h", "extend", "{\"seconds\":7200}");
    check_reads("replay @7", "replay", "{\"checkpoint\":7}");
    check_reads("frames all", "frames", "{\"all\":true}");
    check_refuses("frames every", "frames", "`every` is too much");
    check_reads("replay", "replay", "{}");
    check_reads("replay build --input {\"a\": 1}", "replay",
                "{\"node\":\"build\",\"input\":{\"a\":1}}");
    check_reads("replay @7 --config {\"a\": \" --input \"} --input {}", "replay",
                "{\"checkpoint\":7,\"config\":{\"a\":\" --input \"},\"input\":{}}");
    check_reads("replay --input {\"a\": 1}", "replay", "{\"input\":{\"a\":1}}");
    check_refuses("replay build --input 3", "replay", "takes an object as JSON");
    check_refuses("replay build --config", "replay", "");
    check_refuses("option pause-all maybe", "option", "on or off");
    check_refuses("option nonsense on", "option", "no option `nonsense`");
    check_refuses("option idle soon", "option", "no length of time");
}

static void wrong_words_are_refused_with_a_sentence(void **state) {
    (void)state;
    check_refuses("break", "break", "takes a place");
    check_refuses("condition", "condition", "the number of a breakpoint");
    check_refuses("condition x", "condition", "not `x`");
    check_refuses("ignore 1", "ignore", "how many hits");
    check_refuses("ignore 1 2 3", "ignore", "`3` is too much");
    check_refuses("delete one", "delete", "numbers of breakpoints");
    check_refuses("delete group", "delete", "Which group?");
    check_refuses("catch if", "catch", "condition");
    check_refuses("catch everything", "catch", "too much");
    check_refuses("logpoint build", "logpoint", "the text to write");
    check_refuses("log \"build", "logpoint", "not closed");
    check_refuses("next x", "next", "how many steps");
    check_refuses("next 0", "next", "at least one step");
    check_refuses("next frame", "next", "the number of a frame");
    check_refuses("back 0", "back", "at least one");
    check_refuses("skip {", "skip", "is not JSON");
    check_refuses("goto", "goto", "a node");
    check_refuses("goto @x", "goto", "the number of a checkpoint");
    check_refuses("print", "print", "an expression");
    check_refuses("print @3", "print", "an expression");
    check_refuses("search", "search", "a text");
    check_refuses("diff a b", "diff", "not `a`");
    check_refuses("info", "info", "what to tell about");
    check_refuses("info x", "info", "nothing to tell");
    check_refuses("info n", "info", "several");
    check_refuses("graph png", "graph", "not `png`");
    check_refuses("list build", "list", "LINE or FILE:LINE");
    check_refuses("frame one", "frame", "not `one`");
    check_refuses("frame 99999999999999999999", "frame", "the number of a frame");
    check_refuses("export", "export", "the file to write");
    check_refuses("help nonsense", "help", "There is no command");
    check_refuses("quit now", "quit", "too much");
}

static void a_line_needs_a_file(void **state) {
    (void)state;
    CommandContext none = {0};
    Error err = ERROR_INIT;
    Order order;
    assert_false(commands_read(&none, "break 12", 8, &order, &err));
    assert_non_null(strstr(err.msg, "Of which file?"));
    order_clear(&order);
}

/* ---- help and completion ---- */

static void every_command_is_explained(void **state) {
    (void)state;
    Buf all = BUF_INIT;
    commands_help(80, &all);
    const ConsoleCommand *w;
    for (size_t i = 0; (w = commands_at(i)); i++) {
        Buf one = BUF_INIT;
        commands_explain(w, 80, &one);
        assert_non_null(strstr(all.data, w->name));
        assert_non_null(strstr(one.data, "Usage: "));
        assert_int_equal(one.data[one.len - 1], '\n');
        buf_clear(&one);
    }
    buf_clear(&all);
}

static void examples_are_commands_that_work(void **state) {
    (void)state;
    const ConsoleCommand *w;
    for (size_t i = 0; (w = commands_at(i)); i++) {
        Error err = ERROR_INIT;
        Order order;
        const char *line = w->example ? w->example : w->name;
        bool ok = commands_read(&context, line, strlen(line), &order, &err);
        if (w->example && !ok) {
            fail_msg("%s: %s", line, err.msg);
        }
        assert_ptr_equal(order.command, w);
        order_clear(&order);
    }
}

static void check_completion(const char *line, CommandOffers offers, size_t from) {
    Completion c = commands_completion(line, strlen(line));
    assert_int_equal(c.offers, offers);
    assert_int_equal(c.from, from);
}

static void check_offered(const char *found, const char *typed, const char *wanted, size_t from) {
    size_t place = 99;
    Json items = json_parse(found, strlen(found), NULL, NULL);
    Json offered = commands_offered(items, typed, strlen(typed), &place);
    Json right = json_parse(wanted, strlen(wanted), NULL, NULL);
    assert_true(json_equal(offered, right));
    assert_int_equal(place, from);
    json_unref(items);
    json_unref(offered);
    json_unref(right);
}

static void keys_with_and_without_quotes_are_offered_together(void **state) {
    (void)state;
    check_offered("[{\"text\":\".\\\"a-b\\\"\",\"from\":2},{\"text\":\"abc\",\"from\":3},"
                  "{\"text\":\"abd\",\"from\":3},{\"text\":\"abc\",\"from\":3}]",
                  ".x.", "[\".\\\"a-b\\\"\",\".abc\",\".abd\"]", 2);
    check_offered("[{\"text\":\"abc\",\"from\":1}]", ".a", "[\"abc\"]", 1);
    check_offered("[]", ".a", "[]", 2);
}

static void completion_knows_what_comes_next(void **state) {
    (void)state;
    check_completion("", OFFERS_COMMAND, 0);
    check_completion("  br", OFFERS_COMMAND, 2);
    check_completion("break bu", OFFERS_BREAK, 6);
    check_completion("goto bu", OFFERS_NODE, 5);
    check_completion("b bu if .x", OFFERS_EXPRESSION, 8);
    check_completion("p .us", OFFERS_EXPRESSION, 2);
    check_completion(".us", OFFERS_EXPRESSION, 0);
    check_completion("set .us", OFFERS_PATH, 4);
    check_completion("set .us = 1", OFFERS_NOTHING, 4);
    check_completion("info b", OFFERS_WORDS, 5);
    check_completion("config set .t", OFFERS_CONFIG, 11);
    check_completion("config set ", OFFERS_CONFIG, 11);
    check_completion("config set .t = 1", OFFERS_NOTHING, 11);
    check_completion("config s", OFFERS_WORDS, 7);
    check_completion("frame ", OFFERS_FRAME, 6);
    check_completion("continue ", OFFERS_FRAME, 9);
    check_completion("continue while .i", OFFERS_EXPRESSION, 15);
    check_completion("c 2 while .i", OFFERS_EXPRESSION, 10);
    check_completion("next ", OFFERS_WORDS, 5);
    check_completion("break build:", OFFERS_WORDS, 12);
    check_completion("break changed:.x", OFFERS_PATH, 14);
    check_completion("tb state:.x", OFFERS_PATH, 9);
    check_completion("tb state:.x=1", OFFERS_NOTHING, 9);
    check_completion("help con", OFFERS_COMMAND, 5);
    check_completion("nonsense x", OFFERS_NOTHING, 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_found_by_name_alias_and_beginning),
        cmocka_unit_test(no_name_or_alias_is_given_twice),
        cmocka_unit_test(what_is_no_command_is_said_with_the_nearest),
        cmocka_unit_test(empty_lines_and_comments_ask_for_nothing),
        cmocka_unit_test(places_become_breakpoints),
        cmocka_unit_test(breakpoints_are_kept_in_a_file_or_with_the_store),
        cmocka_unit_test(errors_are_caught_and_texts_logged),
        cmocka_unit_test(breakpoints_are_changed_by_number_and_group),
        cmocka_unit_test(frames_are_let_go),
        cmocka_unit_test(answers_are_values_or_decisions),
        cmocka_unit_test(things_are_looked_at),
        cmocka_unit_test(list_goes_on_where_it_was),
        cmocka_unit_test(values_are_set_at_paths),
        cmocka_unit_test(nodes_are_injected),
        cmocka_unit_test(the_session_has_options),
        cmocka_unit_test(wrong_words_are_refused_with_a_sentence),
        cmocka_unit_test(a_line_needs_a_file),
        cmocka_unit_test(every_command_is_explained),
        cmocka_unit_test(examples_are_commands_that_work),
        cmocka_unit_test(keys_with_and_without_quotes_are_offered_together),
        cmocka_unit_test(completion_knows_what_comes_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
