/* Breakpoints: what is accepted and what is refused, what is typed, and when one is hit. */
#include "breakpoint.h"
#include "flow_fixture.h"

static const char map_flow[] = "nodes:\n"
                               "  - name: build\n"
                               "    jq: .\n"
                               "  - name: each\n"
                               "    map: .files\n"
                               "    as: file\n"
                               "    do: {jq: '$file'}\n";

/* ---- fixtures ---- */

static Breakpoint *try_break(const char *spec, const Flow *flow, Error *err) {
    Json j = parse(spec);
    Breakpoint *b = breakpoint_new(1, j, flow, err);
    json_unref(j);
    return b;
}

static Breakpoint *make(const char *spec, const Flow *flow) {
    Error err = ERROR_INIT;
    Breakpoint *b = try_break(spec, flow, &err);
    if (!b) fail_msg("%s: %s", spec, err.msg);
    return b;
}

static void refused(const char *spec, const char *sentence) {
    Error err = ERROR_INIT;
    Breakpoint *b = try_break(spec, NULL, &err);
    if (b) fail_msg("%s is accepted", spec);
    assert_string_equal(err.msg, sentence);
}

static void refused_with(const char *spec, const char *part) {
    Error err = ERROR_INIT;
    Breakpoint *b = try_break(spec, NULL, &err);
    if (b) fail_msg("%s is accepted", spec);
    expect_contains(err.msg, part);
}

static void accepted(const char *spec, BreakType type, HookPosition position) {
    Breakpoint *b = make(spec, NULL);
    assert_int_equal(b->type, type);
    assert_int_equal(b->position, position);
    breakpoint_free(b);
}

/* Whether it is hit at a node of the flow, on a state. */
typedef struct Try {
    const Flow *flow;
    const Node *node;
    HookPosition position;
    bool caught;
    const char *error;
} Try;

static bool try_hit(Breakpoint *b, const Try *t, const char *state, const Json *vars,
                    bool *pauses) {
    Json s = parse(state), error = t->error ? parse(t->error) : json_none();
    const Node *node = t->node ? t->node : node_of(t->flow->main, "build");
    HookPlace place = {.node = node, .position = t->position, .caught = t->caught, .error = error};
    bool hit = breakpoint_hit(b, &place, s, vars, pauses);
    json_unref(s);
    json_unref(error);
    return hit;
}

static bool hit(Breakpoint *b, const Flow *flow, const char *state) {
    bool pauses;
    return try_hit(b, &(Try){.flow = flow}, state, NULL, &pauses);
}

static bool paused(Breakpoint *b, const Flow *flow) {
    bool pauses;
    try_hit(b, &(Try){.flow = flow}, "{}", NULL, &pauses);
    return pauses;
}

/* ---- what is accepted ---- */

static void the_type_is_what_the_fields_say(void **state) {
    (void)state;
    accepted("{\"node\": \"a\"}", BREAK_NODE, HOOK_BEFORE);
    accepted("{\"node\": \"a\", \"position\": \"after\"}", BREAK_NODE, HOOK_AFTER);
    accepted("{\"node\": \"a\", \"position\": \"on_error\"}", BREAK_NODE, HOOK_ON_ERROR);
    accepted("{\"task_index\": 0}", BREAK_TASK_INDEX, HOOK_BEFORE);
    accepted("{\"task_id\": \"a\"}", BREAK_TASK_ID, HOOK_BEFORE);
    accepted("{\"task_name\": \"run_shell\"}", BREAK_TASK_NAME, HOOK_BEFORE);
    accepted("{\"task_title\": \"A b\"}", BREAK_TASK_TITLE, HOOK_BEFORE);
    accepted("{\"file\": \"f\", \"line\": 3}", BREAK_SOURCE, HOOK_BEFORE);
    accepted("{\"condition\": \".a\"}", BREAK_CONDITIONAL, HOOK_BEFORE);
    accepted("{\"condition\": \".a\", \"position\": \"on_error\"}", BREAK_CONDITIONAL,
             HOOK_ON_ERROR);
    accepted("{\"state\": {\"path\": \".a\", \"changed\": true}}", BREAK_STATE, HOOK_AFTER);
    accepted("{\"state\": {\"path\": [\"a\"], \"equals\": null}, \"node\": \"a\"}", BREAK_STATE,
             HOOK_AFTER);
    accepted("{\"type\": \"exception\"}", BREAK_EXCEPTION, HOOK_ON_ERROR);
    accepted("{\"caught\": true}", BREAK_EXCEPTION, HOOK_ON_ERROR);
    accepted("{\"error\": \".kind\", \"node\": \"a\"}", BREAK_EXCEPTION, HOOK_ON_ERROR);
    accepted("{\"type\": \"conditional\", \"condition\": \".a\", \"task_id\": \"a\"}",
             BREAK_CONDITIONAL, HOOK_BEFORE);
    accepted("{\"node\": \"a\", \"condition\": null, \"log_message\": \"x\", \"once\": true}",
             BREAK_NODE, HOOK_BEFORE);
}

static void unknown_fields_and_wrong_types_are_refused_by_name(void **state) {
    (void)state;
    refused("[]", "A breakpoint is an object of fields, such as {\"node\": \"build\"}.");
    refused("{\"nod\": \"a\"}", "A breakpoint has no field `nod`; did you mean `node`?");
    refused("{\"node\": \"a\", \"zzz\": 1}", "A breakpoint has no field `zzz`.");
    refused("{\"node\": 1}", "`node` must be a text that is not empty.");
    refused("{\"node\": \"\"}", "`node` must be a text that is not empty.");
    refused("{\"node\": \"a\\u0000b\"}", "`node` must not have a NUL character in it.");
    refused("{\"task_index\": -1}", "`task_index` must be a whole number, 0 or more.");
    refused("{\"task_index\": 1.5}", "`task_index` must be a whole number, 0 or more.");
    refused("{\"file\": \"f\", \"line\": 0}", "`line` must be a whole number, 1 or more.");
    refused("{\"node\": \"a\", \"once\": 1}", "`once` must be true or false.");
    refused("{\"node\": \"a\", \"ignore_count\": \"2\"}",
            "`ignore_count` must be a whole number, 0 or more.");
    refused("{\"node\": \"a\", \"position\": \"during\"}",
            "`position` cannot be `during`; it is before, after or on_error.");
    refused("{\"type\": \"line\", \"node\": \"a\"}",
            "`type` cannot be `line`; it is node, task_index, task_id, task_name, task_title, "
            "source, conditional, state or exception.");
}

static void contradictions_are_refused(void **state) {
    (void)state;
    refused_with("{}", "A breakpoint needs a place");
    refused_with("{\"log_message\": \"x\"}", "A breakpoint needs a place");
    refused("{\"node\": \"a\", \"task_id\": \"b\"}",
            "`node` and `task_id` are two places; a breakpoint has one.");
    refused("{\"file\": \"f\"}", "`file` and `line` go together: `line` is missing.");
    refused("{\"line\": 1}", "`file` and `line` go together: `file` is missing.");
    refused("{\"type\": \"node\"}", "Type \"node\" needs `node`.");
    refused("{\"type\": \"node\", \"task_id\": \"a\"}",
            "Type \"node\" goes with `node`, but the place is a task_id.");
    refused("{\"type\": \"conditional\"}", "Type \"conditional\" needs `condition`.");
    refused("{\"state\": {\"path\": \".a\", \"changed\": true}, \"error\": \".\"}",
            "`error` goes with type \"exception\", not with \"state\".");
    refused("{\"type\": \"exception\", \"state\": {\"path\": \".a\", \"changed\": true}}",
            "`state` goes with type \"state\", not with \"exception\".");
    refused("{\"type\": \"node\", \"node\": \"a\", \"caught\": true}",
            "`caught` goes with type \"exception\", not with \"node\".");
    refused("{\"type\": \"exception\", \"position\": \"after\"}",
            "Type \"exception\" is always on_error; `position` cannot be after.");
    refused("{\"state\": {\"path\": \".a\", \"changed\": true}, \"position\": \"before\"}",
            "Type \"state\" is always after; `position` cannot be before.");
}

static void a_state_asks_one_thing_of_a_path(void **state) {
    (void)state;
    refused("{\"state\": 1}",
            "`state` must be an object: {path, equals} or {path, changed: true}.");
    refused_with("{\"state\": {\"changed\": true}}", "`state` needs a `path`");
    refused_with("{\"state\": {\"path\": \".a |\", \"changed\": true}}", "`state.path`: ");
    refused_with("{\"state\": {\"path\": \".a\"}}", "`state` asks one thing");
    refused_with("{\"state\": {\"path\": \".a\", \"equals\": 1, \"changed\": true}}",
                 "`state` asks one thing");
    refused("{\"state\": {\"path\": \".a\", \"changed\": false}}",
            "`changed` of `state` can only be true.");
    refused("{\"state\": {\"path\": \".a\", \"equal\": 1}}",
            "`state` has no field `equal`; it is {path, equals} or {path, changed: true}.");
}

static void bad_expressions_are_refused_with_their_place(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    assert_null(try_break("{\"condition\": \".a\\n  + foo\"}", NULL, &err));
    assert_int_equal(err.line, 2);
    assert_int_equal(err.col, 5);
    expect_contains(err.msg, "`condition`, line 2, column 5: foo/0 is not defined");
    refused_with("{\"error\": \".kind ==\"}", "`error`, line 1, column 9: ");
    refused("{\"condition\": \"now > 3\"}",
            "`condition` must not ask for the time (now, localtime, strflocaltime).");
    refused("{\"condition\": \"$ENV.HOME\"}",
            "`condition` has no environment: leave out $ENV and env.");
    refused_with("{\"condition\": \"$item\"}", "`condition`, line 1, column 1: $item is not");
}

static void texts_have_a_limit(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    char *long_text = mem_alloc(BREAK_TEXT_MAX + 1);
    memset(long_text, '1', BREAK_TEXT_MAX + 1);
    Json j =
        json_object_with(json_object(), "condition", json_string(long_text, BREAK_TEXT_MAX + 1));
    assert_null(breakpoint_new(1, j, NULL, &err));
    assert_string_equal(err.msg, "`condition` is longer than 102400 bytes, the limit for it.");
    json_unref(j);
    j = json_object_with(json_object(), "node", json_string(long_text, BREAK_NAME_MAX + 1));
    assert_null(breakpoint_new(1, j, NULL, &err));
    assert_string_equal(err.msg, "`node` is longer than 1000 bytes, the limit for it.");
    json_unref(j);
    mem_free(long_text);
}

/* ---- hits ---- */

static void only_false_null_and_nothing_do_not_hold(void **state) {
    (void)state;
    Flow *flow = load(map_flow);
    Breakpoint *b = make("{\"node\": \"build\", \"condition\": \".a\"}", flow);
    assert_true(hit(b, flow, "{\"a\": 0}"));
    assert_true(hit(b, flow, "{\"a\": \"\"}"));
    assert_false(hit(b, flow, "{\"a\": false}"));
    assert_false(hit(b, flow, "{}"));
    assert_int_equal(b->hits, 2);
    breakpoint_free(b);
    b = make("{\"condition\": \"empty\"}", flow);
    assert_false(hit(b, flow, "{}"));
    assert_true(json_is_none(b->message));
    breakpoint_free(b);
    flow_unref(flow);
}

static void a_condition_that_fails_is_no_hit_and_says_why(void **state) {
    (void)state;
    Flow *flow = load(map_flow);
    Breakpoint *b = make("{\"node\": \"build\", \"condition\": \".a.b\"}", flow);
    assert_false(hit(b, flow, "{\"a\": 1}"));
    assert_false(hit(b, flow, "{\"a\": 1}"));
    assert_int_equal(b->hits, 0);
    expect_json(b->message,
                "\"The condition failed at `build`: Cannot index number with string (\\\"b\\\")\"");
    breakpoint_free(b);
    b = make("{\"condition\": \"def f: f; f\"}", flow);
    assert_false(hit(b, flow, "{}"));
    char *why = json_to_text(b->message);
    expect_contains(why, "The condition failed at `build`: ");
    mem_free(why);
    breakpoint_free(b);
    flow_unref(flow);
}

static void the_position_must_be_its_own(void **state) {
    (void)state;
    Flow *flow = load(map_flow);
    static const char *const words[] = {"before", "after", "on_error"};
    for (HookPosition own = HOOK_BEFORE; own <= HOOK_ON_ERROR; own++) {
        char spec[100];
        snprintf(spec, sizeof spec, "{\"node\": \"build\", \"position\": \"%s\"}", words[own]);
        Breakpoint *b = make(spec, flow);
        for (HookPosition at = HOOK_BEFORE; at < HOOK_POSITIONS; at++) {
            bool pauses;
            Try t = {.flow = flow, .position = at, .caught = true, .error = "{}"};
            assert_int_equal(try_hit(b, &t, "{}", NULL, &pauses), at == own);
        }
        breakpoint_free(b);
    }
    flow_unref(flow);
}

static void exceptions_look_at_the_error_and_whether_it_is_caught(void **state) {
    (void)state;
    Flow *flow = load(map_flow);
    bool pauses;
    Try open = {.flow = flow, .position = HOOK_ON_ERROR, .error = "{\"kind\": \"timeout\"}"};
    Try caught = open;
    caught.caught = true;
    Breakpoint *b =
        make("{\"type\": \"exception\", \"error\": \".kind == \\\"timeout\\\"\"}", flow);
    assert_true(try_hit(b, &open, "{}", NULL, &pauses));
    assert_false(try_hit(b, &caught, "{}", NULL, &pauses));
    open.error = "{\"kind\": \"other\"}";
    assert_false(try_hit(b, &open, "{}", NULL, &pauses));
    open.position = HOOK_AFTER;
    assert_false(try_hit(b, &open, "{}", NULL, &pauses));
    breakpoint_free(b);
    b = make("{\"caught\": true, \"condition\": \".on\"}", flow);
    assert_true(try_hit(b, &caught, "{\"on\": true}", NULL, &pauses));
    assert_false(try_hit(b, &caught, "{\"on\": false}", NULL, &pauses));
    breakpoint_free(b);
    flow_unref(flow);
}

static void disabled_ones_are_not_hit(void **state) {
    (void)state;
    Flow *flow = load(map_flow);
    Breakpoint *b = make("{\"node\": \"build\", \"enabled\": false}", flow);
    assert_false(hit(b, flow, "{}"));
    b->enabled = true;
    assert_true(hit(b, flow, "{}"));
    breakpoint_free(b);
    flow_unref(flow);
}

/* Which of the first eight hits pause, as ones and zeros. */
static void expect_pauses(const char *fields, const char *want) {
    Flow *flow = load(map_flow);
    char spec[200], got[9] = "";
    snprintf(spec, sizeof spec, "{\"node\": \"build\", %s}", fields);
    Breakpoint *b = make(spec, flow);
    for (int i = 0; i < 8; i++) {
        got[i] = paused(b, flow) ? '1' : '0';
    }
    assert_string_equal(got, want);
    assert_int_equal(b->hits, 8);
    breakpoint_free(b);
    flow_unref(flow);
}

static void hit_conditions_choose_among_hits(void **state) {
    (void)state;
    expect_pauses("\"once\": false", "11111111");
    expect_pauses("\"ignore_count\": 3", "00011111");
    expect_pauses("\"hit_condition\": \"== 5\"", "00001000");
    expect_pauses("\"hit_condition\": \"=5\"", "00001000");
    expect_pauses("\"hit_condition\": \">= 5\"", "00001111");
    expect_pauses("\"hit_condition\": \"> 5\"", "00000111");
    expect_pauses("\"hit_condition\": \"<= 5\"", "11111000");
    expect_pauses("\"hit_condition\": \"<5\"", "11110000");
    expect_pauses("\"hit_condition\": \" % 3 \"", "00100100");
    expect_pauses("\"hit_condition\": \"% 2\", \"ignore_count\": 4", "00000101");
}

static void other_hit_conditions_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "5", "!= 5", "== x", "==", "% 0", ">= -1", "== 1 2", "== 5.5", "== 99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char spec[200];
        snprintf(spec, sizeof spec, "{\"node\": \"a\", \"hit_condition\": \"%s\"}", bad[i]);
        refused_with(spec, "`hit_condition` compares the number of hits: `== 5`, `>= 5`, `% 3`");
    }
}

static void a_miss_does_not_use_up_ignore_count(void **state) {
    (void)state;
    Flow *flow = load(map_flow);
    bool pauses;
    Try t = {.flow = flow};
    Breakpoint *b = make("{\"node\": \"build\", \"condition\": \".a\", \"ignore_count\": 1}", flow);
    assert_false(try_hit(b, &t, "{}", NULL, &pauses));
    assert_true(try_hit(b, &t, "{\"a\": 1}", NULL, &pauses));
    assert_false(pauses);
    assert_false(try_hit(b, &t, "{}", NULL, &pauses));
    assert_true(try_hit(b, &t, "{\"a\": 1}", NULL, &pauses));
    assert_true(pauses);
    breakpoint_free(b);
    flow_unref(flow);
}

static void conditions_may_use_the_variables_of_maps(void **state) {
    (void)state;
    Flow *flow = load(map_flow);
    Json vars[] = {json_string_c("a.c"), json_int(1)};
    bool pauses;
    Try body = {.flow = flow, .node = node_of(flow->main, "each")->params[MAP_DO].node};
    Try outside = {.flow = flow};
    Breakpoint *b = make("{\"condition\": \"$file == \\\"a.c\\\" and $index == 1\"}", flow);
    assert_true(try_hit(b, &body, "{}", vars, &pauses));
    vars[1] = json_int(2);
    assert_false(try_hit(b, &body, "{}", vars, &pauses));
    assert_false(try_hit(b, &outside, "{}", NULL, &pauses));
    assert_true(json_is_none(b->message));
    assert_true(breakpoint_fits(b, body.node, NULL));
    Error err = ERROR_INIT;
    assert_false(breakpoint_fits(b, node_of(flow->main, "build"), &err));
    assert_string_equal(err.msg, "`condition` cannot be asked at `build`: $file is not defined.");
    breakpoint_free(b);
    assert_null(try_break("{\"condition\": \"$file == $fiel\"}", flow, &err));
    assert_string_equal(err.msg, "`condition`, line 1, column 10: $fiel is not defined.");
    flow_unref(flow);
}

static void its_own_variables_are_no_variables_of_nodes(void **state) {
    (void)state;
    Flow *flow = load(map_flow);
    Breakpoint *b = make("{\"condition\": \". as $x | $x.a\"}", flow);
    assert_true(hit(b, flow, "{\"a\": 1}"));
    breakpoint_free(b);
    flow_unref(flow);
}

/* ---- state ---- */

static bool changes(const Breakpoint *b, const char *from, const char *to) {
    Json a = parse(from), z = parse(to);
    Json seen = breakpoint_value(b, a), now = breakpoint_value(b, z);
    bool changed = breakpoint_changed(b, seen, now);
    json_unref(seen);
    json_unref(now);
    json_unref(a);
    json_unref(z);
    return changed;
}

static void a_change_is_seen_at_its_path(void **state) {
    (void)state;
    Breakpoint *b = make("{\"state\": {\"path\": \".a.b\", \"changed\": true}}", NULL);
    assert_false(changes(b, "{\"a\": {\"b\": [1]}}", "{\"a\": {\"b\": [1]}, \"c\": 2}"));
    assert_true(changes(b, "{\"a\": {\"b\": [1]}}", "{\"a\": {\"b\": [2]}}"));
    assert_true(changes(b, "{\"a\": {}}", "{\"a\": {\"b\": null}}"));
    assert_true(changes(b, "{\"a\": {\"b\": 1}}", "{\"a\": 1}"));
    assert_false(changes(b, "{}", "{\"a\": 1}"));
    breakpoint_free(b);
    b = make("{\"state\": {\"path\": [\"a\", -1], \"changed\": true}}", NULL);
    assert_true(changes(b, "{\"a\": [1]}", "{\"a\": [1, 2]}"));
    assert_false(changes(b, "{\"a\": [1, 2]}", "{\"a\": [3, 2]}"));
    breakpoint_free(b);
}

static void equals_is_hit_by_the_step_that_made_it_so(void **state) {
    (void)state;
    Breakpoint *b = make("{\"state\": {\"path\": \".s\", \"equals\": \"done\"}}", NULL);
    assert_true(changes(b, "{}", "{\"s\": \"done\"}"));
    assert_true(changes(b, "{\"s\": 1}", "{\"s\": \"done\"}"));
    assert_false(changes(b, "{\"s\": \"done\"}", "{\"s\": \"done\"}"));
    assert_false(changes(b, "{\"s\": \"done\"}", "{}"));
    breakpoint_free(b);
    b = make("{\"state\": {\"path\": \".s\", \"equals\": null}}", NULL);
    assert_true(changes(b, "{}", "{\"s\": null}"));
    assert_false(changes(b, "{\"s\": 1}", "{}"));
    breakpoint_free(b);
}

/* ---- log points ---- */

static void expect_text(const char *message, const char *want) {
    Flow *flow = load(map_flow);
    Json spec = json_object_with(json_object(), "node", json_string_c("build"));
    spec = json_object_with(spec, "log_message", json_string_c(message));
    Error err = ERROR_INIT;
    Breakpoint *b = breakpoint_new(1, spec, flow, &err);
    if (!b) fail_msg("%s: %s", message, err.msg);
    HookPlace place = {.node = node_of(flow->main, "build")};
    Json input = parse("{\"n\": 3, \"s\": \"x\"}");
    Json text = breakpoint_text(b, &place, input, NULL), wanted = json_string_c(want);
    if (!json_equal(text, wanted)) fail_msg("%s: %s", message, json_to_text(text));
    json_unref(text);
    json_unref(wanted);
    json_unref(input);
    json_unref(spec);
    breakpoint_free(b);
    flow_unref(flow);
}

static void messages_are_the_inside_of_a_jq_string(void **state) {
    (void)state;
    expect_text("retries \\(.n)", "retries 3");
    expect_text("a\\tb", "a\tb");
    expect_text("he said \"\\(.s)\"", "he said \"x\"");
    expect_text("he said \\\"\\(.s)\\\"", "he said \"x\"");
    expect_text("\\(\"in \\(.s + (\"(\")) \" + .s)\"", "in x( x\"");
    expect_text("\\([.n, (.n)] | join(\",\"))", "3,3");
    expect_text("\\(.n # ) is \"no end\"\n)", "3");
    expect_text("\\(.s | .x)", "(The message failed: Cannot index string with string (\"x\"))");
}

static void refused_message(const char *message, int line, int col) {
    Json spec = json_object_with(json_object(), "node", json_string_c("a"));
    spec = json_object_with(spec, "log_message", json_string_c(message));
    Error err = ERROR_INIT;
    assert_null(breakpoint_new(1, spec, NULL, &err));
    if (err.line != line || err.col != col)
        fail_msg("%s: %d:%d: %s", message, err.line, err.col, err.msg);
    expect_contains(err.msg, "`log_message`, line ");
    json_unref(spec);
}

static void bad_messages_are_refused_with_their_place(void **state) {
    (void)state;
    refused_message("a \\(foo)", 1, 5);
    refused_message("\"a\" \"b\" \\(foo)", 1, 11);
    refused_message("\"\n\"b\" \\(foo)", 2, 7);
    refused_message("a \\(.n", 1, 4);
    refused_message("a\\", 1, 2);
    refused_message("a \\q", 1, 3);
}

static void messages_are_cut(void **state) {
    (void)state;
    Flow *flow = load(map_flow);
    Breakpoint *b =
        make("{\"node\": \"build\", \"log_message\": \"\\\\(\\\"é\\\" * 100000)\"}", flow);
    HookPlace place = {.node = node_of(flow->main, "build")};
    Json text = breakpoint_text(b, &place, json_null(), NULL);
    assert_true(json_string_len(text) <= BREAK_LOG_MAX + 3);
    assert_true(json_string_len(text) > BREAK_LOG_MAX - 4);
    json_unref(text);
    breakpoint_free(b);
    flow_unref(flow);
}

/* ---- as JSON ---- */

static void listings_can_be_given_back(void **state) {
    (void)state;
    Breakpoint *b = make("{\"node\": \"a\", \"group\": \"g\", \"condition\": \".x\"}", NULL);
    b->hits = 4;
    b->enabled = false;
    expect_gives(breakpoint_json(b),
                 "{\"id\":1,\"type\":\"node\",\"node\":\"a\",\"group\":\"g\","
                 "\"condition\":\".x\",\"position\":\"before\",\"enabled\":false,"
                 "\"hit_count\":4,\"verified\":false}");
    Json listed = breakpoint_json(b);
    Breakpoint *again = breakpoint_new(1, listed, NULL, NULL);
    assert_non_null(again);
    assert_int_equal(again->hits, 4);
    assert_false(again->enabled);
    expect_gives(breakpoint_stored(again),
                 "{\"type\":\"node\",\"node\":\"a\",\"group\":\"g\",\"condition\":\".x\","
                 "\"position\":\"before\",\"enabled\":false,\"hit_count\":4}");
    json_unref(listed);
    breakpoint_free(again);
    breakpoint_free(b);
}

static void merged(const char *spec, const char *changed, const char *want) {
    Json a = parse(spec), b = parse(changed);
    expect_gives(breakpoint_merge(a, b), want);
    json_unref(a);
    json_unref(b);
}

static void changes_take_fields_away_and_replace_places(void **state) {
    (void)state;
    merged("{\"type\":\"node\",\"node\":\"a\",\"condition\":\".x\"}",
           "{\"condition\":null,\"once\":true}",
           "{\"type\":\"node\",\"node\":\"a\",\"once\":true}");
    merged("{\"type\":\"node\",\"node\":\"a\"}", "{\"file\":\"f\",\"line\":2}",
           "{\"file\":\"f\",\"line\":2}");
    merged("{\"type\":\"source\",\"file\":\"f\",\"line\":2}", "{\"line\":5}",
           "{\"file\":\"f\",\"line\":5}");
    merged("{\"type\":\"exception\",\"node\":\"a\"}", "{\"task_id\":\"b\"}",
           "{\"type\":\"exception\",\"task_id\":\"b\"}");
    merged("{\"type\":\"conditional\",\"condition\":\".x\"}", "{\"condition\":null,\"node\":\"a\"}",
           "{\"node\":\"a\"}");
    merged("{\"type\":\"node\",\"node\":\"a\"}", "{\"type\":\"exception\",\"node\":\"b\"}",
           "{\"type\":\"exception\",\"node\":\"b\"}");
}

/* ---- typed ---- */

static void typed(const char *spec, const char *want) {
    Error err = ERROR_INIT;
    Json got = breakpoint_parse(spec, &err);
    if (json_is_none(got)) fail_msg("%s: %s", spec, err.msg);
    expect_json(got, want);
    Breakpoint *b = breakpoint_new(1, got, NULL, &err);
    if (!b) fail_msg("%s: %s", spec, err.msg);
    breakpoint_free(b);
    json_unref(got);
}

static void every_form_can_be_typed(void **state) {
    (void)state;
    typed(" build ", "{\"type\":\"node\",\"node\":\"build\"}");
    typed("sub/b*", "{\"type\":\"node\",\"node\":\"sub/b*\"}");
    typed("build:after", "{\"type\":\"node\",\"node\":\"build\",\"position\":\"after\"}");
    typed("build:before", "{\"type\":\"node\",\"node\":\"build\",\"position\":\"before\"}");
    typed("build:error", "{\"type\":\"node\",\"node\":\"build\",\"position\":\"on_error\"}");
    typed("v1.2:after if .a > 3",
          "{\"type\":\"node\",\"node\":\"v1.2\",\"position\":\"after\",\"condition\":\".a > 3\"}");
    typed("Second thing:after",
          "{\"type\":\"node\",\"node\":\"Second thing\",\"position\":\"after\"}");
    typed("Step 1: build", "{\"type\":\"node\",\"node\":\"Step 1: build\"}");
    typed("\"Is it up: or \\\"if\\\" not?\"",
          "{\"type\":\"node\",\"node\":\"Is it up: or \\\"if\\\" not?\"}");
    typed("\"wait if slow\":error if .a",
          "{\"type\":\"node\",\"node\":\"wait if slow\",\"position\":\"on_error\","
          "\"condition\":\".a\"}");
    typed("build if .a", "{\"type\":\"node\",\"node\":\"build\",\"condition\":\".a\"}");
    typed("flow.yaml:12", "{\"type\":\"source\",\"file\":\"flow.yaml\",\"line\":12}");
    typed("./flow:12 if .x",
          "{\"type\":\"source\",\"file\":\"./flow\",\"line\":12,\"condition\":\".x\"}");
    typed("if .a == \"x if y\"",
          "{\"type\":\"conditional\",\"condition\":\".a == \\\"x if y\\\"\"}");
    typed("error", "{\"type\":\"exception\"}");
    typed("error if .kind == \"timeout\"",
          "{\"type\":\"exception\",\"error\":\".kind == \\\"timeout\\\"\"}");
    typed("error:before", "{\"type\":\"node\",\"node\":\"error\",\"position\":\"before\"}");
    typed("caught", "{\"type\":\"exception\",\"caught\":true}");
    typed("changed:.a.b", "{\"type\":\"state\",\"state\":{\"path\":\".a.b\",\"changed\":true}}");
    typed("changed:a.b if .c", "{\"type\":\"state\",\"state\":{\"path\":\"a.b\",\"changed\":true},"
                               "\"condition\":\".c\"}");
    typed("state:.s=\"done if\"",
          "{\"type\":\"state\",\"state\":{\"path\":\".s\",\"equals\":\"done if\"}}");
    typed("state:.s == 3 if .c", "{\"type\":\"state\",\"state\":{\"path\":\".s\",\"equals\":3},"
                                 "\"condition\":\".c\"}");
}

static void mistyped(const char *spec, const char *part) {
    Error err = ERROR_INIT;
    assert_true(json_is_none(breakpoint_parse(spec, &err)));
    expect_contains(err.msg, part);
}

static void what_is_typed_wrong_is_explained(void **state) {
    (void)state;
    mistyped("", "A breakpoint is a NODE");
    mistyped("   ", "A breakpoint is a NODE");
    mistyped("build if", "After `if` comes a jq expression");
    mistyped("if", "After `if` comes a jq expression");
    mistyped("build:12", "After `build:` comes before, after or error");
    mistyped("build:later", "not `later`.");
    mistyped("\"build\":later", "After a name in quotes comes :before");
    mistyped("\"build\" later", "After a name in quotes comes :before");
    mistyped("\"build", "A name in quotes is a JSON string");
    mistyped(":after", "After `:` comes");
    mistyped("changed:", "After `changed:` comes a path");
    mistyped("state:.a", "After `state:` come a path and a value");
    mistyped("state:=1", "After `state:` come a path and a value");
    mistyped("state:.a=done", "The value after `=` must be JSON");
}

/* ---- queries ---- */

static void a_query_is_asked_again_and_again(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    Query *q = query_new(". + 2", 5, NULL, &err);
    for (int i = 0; i < 3; i++) {
        const char *want = i == 0 ? "2" : i == 1 ? "3" : "4";
        expect_gives(query_eval_at(q, NULL, json_int(i), NULL, &err), want);
    }
    expect_gives(query_eval_at(q, NULL, json_bool(true), NULL, &err), "(none)");
    expect_contains(err.msg, "cannot be added");
    query_free(q);
    assert_null(query_new("$y", 2, NULL, &err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(the_type_is_what_the_fields_say),
        JSON_TEST(unknown_fields_and_wrong_types_are_refused_by_name),
        JSON_TEST(contradictions_are_refused),
        JSON_TEST(a_state_asks_one_thing_of_a_path),
        JSON_TEST(bad_expressions_are_refused_with_their_place),
        JSON_TEST(texts_have_a_limit),
        JSON_TEST(only_false_null_and_nothing_do_not_hold),
        JSON_TEST(a_condition_that_fails_is_no_hit_and_says_why),
        JSON_TEST(the_position_must_be_its_own),
        JSON_TEST(exceptions_look_at_the_error_and_whether_it_is_caught),
        JSON_TEST(disabled_ones_are_not_hit),
        JSON_TEST(hit_conditions_choose_among_hits),
        JSON_TEST(other_hit_conditions_are_refused),
        JSON_TEST(a_miss_does_not_use_up_ignore_count),
        JSON_TEST(conditions_may_use_the_variables_of_maps),
        JSON_TEST(its_own_variables_are_no_variables_of_nodes),
        JSON_TEST(a_change_is_seen_at_its_path),
        JSON_TEST(equals_is_hit_by_the_step_that_made_it_so),
        JSON_TEST(messages_are_the_inside_of_a_jq_string),
        JSON_TEST(bad_messages_are_refused_with_their_place),
        JSON_TEST(messages_are_cut),
        JSON_TEST(listings_can_be_given_back),
        JSON_TEST(changes_take_fields_away_and_replace_places),
        JSON_TEST(every_form_can_be_typed),
        JSON_TEST(what_is_typed_wrong_is_explained),
        JSON_TEST(a_query_is_asked_again_and_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
