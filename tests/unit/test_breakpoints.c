/* Breakpoints by node: which nodes each kind of place means, and what the lists hold. */
#include "breakpoints.h"
#include "flow_fixture.h"

/* Lines are counted in the tests below. */
static const File graph_files[] = {
    {"flows/main.yaml", "nodes:\n"                         /* 1 */
                        "  - name: build\n"                /* 2 */
                        "    shell: make\n"                /* 3 */
                        "    output: log\n"                /* 4 */
                        "\n"                               /* 5 */
                        "  - name: review\n"               /* 6 */
                        "    workflow: sub/check.yaml\n"   /* 7 */
                        "  - name: again\n"                /* 8 */
                        "    workflow: sub/check.yaml\n"   /* 9 */
                        "  - name: loop\n"                 /* 10 */
                        "    while: .n < 3\n"              /* 11 */
                        "    do:\n"                        /* 12 */
                        "      - name: build\n"            /* 13 */
                        "        jq: .n += 1\n"            /* 14 */
                        "      - name: rest\n"             /* 15 */
                        "        jq: .\n"                  /* 16 */
                        "  - name: each\n"                 /* 17 */
                        "    map: .files\n"                /* 18 */
                        "    do:\n"                        /* 19 */
                        "      workflow: sub/check.yaml\n" /* 20 */
                        "  - {name: l1, jq: .}\n"          /* 21 */
                        "  - {name: m1, map: .x, do: {jq: .}}\n"},
    {"flows/sub/check.yaml", "nodes: [{name: lint, jq: .}, {name: test, jq: .}]\n"},
    {0}};

static const File task_files[] = {
    {"t.yaml", "tasks:\n"                                                    /* 1 */
               "  - name: run_tasks\n"                                       /* 2 */
               "    id: outer\n"                                             /* 3 */
               "    config:\n"                                               /* 4 */
               "      tasks:\n"                                              /* 5 */
               "        - {name: sleep, id: inner, config: {duration: 0}}\n" /* 6 */
               "        - {name: sleep, config: {duration: 0}}\n"            /* 7 */
               "  - {name: sleep, id: last, config: {duration: 0}}\n"        /* 8 */
               "cleanupTasks:\n"
               "  - {name: sleep, id: tidy, config: {duration: 0}}\n"},
    {0}};

/* ---- fixtures ---- */

static Breakpoint *make(int64_t id, const char *spec, const Flow *flow) {
    Error err = ERROR_INIT;
    Json j = parse(spec);
    Breakpoint *b = breakpoint_new(id, j, flow, &err);
    if (!b) fail_msg("%s: %s", spec, err.msg);
    json_unref(j);
    return b;
}

static void print_places(const Breakpoint *b, Buf *out) {
    if (!b->verified) buf_addc(out, '?');
    for (size_t i = 0; i < b->places; i++) {
        buf_printf(out, "%s%s:%d", i ? " " : "", b->at[i]->name, b->at[i]->line);
    }
}

/* "name:line" of each node, and then the message. */
static void expect_places(const File *files, const char *spec, const char *want,
                          const char *message) {
    Flow *flow = load_files(files);
    Breakpoints *p = breakpoints_new(flow);
    Breakpoint *b = make(1, spec, flow);
    Buf got = BUF_INIT;
    breakpoints_add(p, b);
    print_places(b, &got);
    if (strcmp(got.data, want) != 0) fail_msg("%s: %s, not %s", spec, got.data, want);
    buf_reset(&got);
    buf_addc(&got, '!');
    if (!json_is_none(b->message)) {
        buf_add(&got, json_string_data(&b->message), json_string_len(b->message));
    }
    if (strcmp(got.data + 1, message) != 0) fail_msg("%s: %s", spec, got.data);
    for (size_t i = 0; i < b->places; i++) {
        PointList list = breakpoints_of_node(p, b->at[i]);
        assert_int_equal(list.n, 1);
        assert_ptr_equal(list.items[0], b);
    }
    buf_clear(&got);
    breakpoints_free(p);
    flow_unref(flow);
}

static void at_node(const char *name, const char *want, const char *message) {
    char spec[200];
    snprintf(spec, sizeof spec, "{\"node\": \"%s\"}", name);
    expect_places(graph_files, spec, want, message);
}

static void at_line(const char *file, int line, const char *want, const char *message) {
    char spec[200];
    snprintf(spec, sizeof spec, "{\"file\": \"%s\", \"line\": %d}", file, line);
    expect_places(graph_files, spec, want, message);
}

static void at_task(const char *spec, const char *want, const char *message) {
    expect_places(task_files, spec, want, message);
}

/* ---- names ---- */

static void a_name_is_looked_for_in_all_graphs(void **state) {
    (void)state;
    at_node("review", "review:6", "");
    at_node("build", "build:2 build:13", "");
    at_node("lint", "lint:1", "");
    at_node("each[]", "each[]:20", "");
}

static void globs_match_names(void **state) {
    (void)state;
    at_node("*1", "l1:21 m1:22", "");
    at_node("l?nt", "lint:1", "");
    at_node("[l-m]1", "l1:21 m1:22", "");
    at_node("[!l]1", "m1:22", "");
    at_node("m1*", "m1:22 m1[]:22", "");
    at_node("b*d", "build:2 build:13", "");
    at_node("*u*i*d*", "build:2 build:13", "");
    at_node("[", "?", "No node matches `[`.");
}

static void paths_lead_into_what_a_node_holds(void **state) {
    (void)state;
    at_node("loop/build", "build:13", "");
    at_node("review/lint", "lint:1", "");
    at_node("*/build", "build:2 build:13", "");
    at_node("l*p/*", "build:13 rest:15", "");
    at_node("check/test", "test:1", "");
    at_node("main/build", "build:2", "");
    at_node("main/review/test", "test:1", "");
    at_node("main/check/test", "test:1", "");
    at_node("each/lint", "lint:1", "");
    at_node("each[]/lint", "lint:1", "");
    at_node("each/each[]", "each[]:20", "");
    at_node("each/each[]/lint", "lint:1", "");
    at_node("main/each[]", "each[]:20", "");
    at_node("review/build", "?", "There is no node `review/build`; did you mean `build`?");
    at_node("main/lint", "?", "There is no node `main/lint`; did you mean `lint`?");
    at_node("/", "?", "There is no node `/`.");
}

static void an_unknown_name_gets_the_nearest(void **state) {
    (void)state;
    at_node("bild", "?", "No node is called `bild`; did you mean `build`?");
    at_node("zzzzzz", "?", "No node is called `zzzzzz`.");
}

/* ---- kinds and tasks ---- */

static void a_kind_is_all_its_nodes(void **state) {
    (void)state;
    expect_places(graph_files, "{\"task_name\": \"shell\"}", "build:2", "");
    expect_places(graph_files, "{\"task_name\": \"workflow\"}", "review:6 again:8 each[]:20", "");
    expect_places(graph_files, "{\"task_name\": \"shel\"}", "?",
                  "No node of the workflow is a `shel`; did you mean `shell`?");
    at_task("{\"task_name\": \"sleep\"}", "last:8 inner:6 sleep:7 tidy:10", "");
}

static void tasks_are_found_by_id(void **state) {
    (void)state;
    at_task("{\"task_id\": \"inner\"}", "inner:6", "");
    at_task("{\"task_id\": \"sleep\"}", "?", "No task has the id `sleep`.");
    at_task("{\"task_id\": \"iner\"}", "?", "No task has the id `iner`; did you mean `inner`?");
    at_task("{\"node\": \"outer/sleep\"}", "sleep:7", "");
}

static const File title_files[] = {
    {"t.yaml",
     "tasks:\n"                                                               /* 1 */
     "  - {name: sleep, id: a, title: First thing, config: {duration: 0}}\n"  /* 2 */
     "  - {name: sleep, id: b, title: Second thing, config: {duration: 0}}\n" /* 3 */
     "  - {name: sleep, id: c, title: Second thing, config: {duration: 0}}\n" /* 4 */
     "  - {name: sleep, id: d, title: 'Greet ${who} and ${{ .all[] }}s', config: {duration: 0}}\n" /* 5 */
     "  - {name: sleep, id: e, title: '${who}', config: {duration: 0}}\n"       /* 6 */
     "  - {name: sleep, id: f, title: a, config: {duration: 0}}\n"              /* 7 */
     "  - {name: sleep, id: g, title: 'What? [no]', config: {duration: 0}}\n"}, /* 8 */
    {0}};

static void tasks_are_found_by_title(void **state) {
    (void)state;
    expect_places(title_files, "{\"task_title\": \"First thing\"}", "a:2 e:6", "");
    expect_places(title_files, "{\"node\": \"First thing\"}", "a:2 e:6", "");
    expect_places(title_files, "{\"node\": \"Second thing\"}", "b:3 c:4 e:6", "");
    expect_places(title_files, "{\"node\": \"What? [no]\"}", "e:6 g:8", "");
    expect_places(title_files, "{\"node\": \"Greet ${who} and ${{ .all[] }}s\"}", "d:5 e:6", "");
    /* a name comes before a title */
    expect_places(title_files, "{\"node\": \"a\"}", "a:2", "");
    expect_places(title_files, "{\"task_title\": \"a\"}", "e:6 f:7", "");
    /* what the placeholders could make it; alone they could be anything, and a name is not guessed at */
    expect_places(
        title_files, "{\"node\": \"Greet me and alls\"}", "d:5 e:6",
        "`d` is titled `Greet ${who} and ${{ .all[] }}s`; that is compared when it is reached.");
    expect_places(title_files, "{\"node\": \"Greet me and all\"}", "?",
                  "No node is called `Greet me and all`.");
    expect_places(title_files, "{\"node\": \"Secnd thing\"}", "?",
                  "No node is called `Secnd thing`; did you mean `Second thing`?");
    expect_places(task_files, "{\"task_title\": \"First thing\"}", "?",
                  "No task has the title `First thing`.");
}

static void a_title_is_compared_when_it_is_reached(void **state) {
    (void)state;
    Flow *flow = load_files(title_files);
    Breakpoints *p = breakpoints_new(flow);
    Breakpoint *b = make(1, "{\"node\": \"Greet me and 7s\", \"condition\": \"true\"}", flow);
    breakpoints_add(p, b);
    assert_int_equal(b->type, BREAK_TASK_TITLE);
    HookPlace place = {.node = node_of(flow->main, "d"), .position = HOOK_BEFORE};
    static const struct {
        const char *sees;
        bool hit;
    } rows[] = {
        {"{\"who\": \"me\", \"all\": [7]}", true},    {"{\"who\": \"you\", \"all\": [7]}", false},
        {"{\"who\": \"me\", \"all\": [8]}", false},   {"{\"who\": \"me\", \"all\": []}", false},
        {"{\"who\": \"me\", \"all\": false}", false}, {"{}", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Json sees = parse(rows[i].sees);
        bool pauses;
        if (breakpoint_hit(b, &place, sees, NULL, &pauses) != rows[i].hit)
            fail_msg("%s", rows[i].sees);
        json_unref(sees);
    }
    expect_gives(breakpoint_stored(b),
                 "{\"type\":\"task_title\",\"condition\":\"true\",\"task_title\":\"Greet me and "
                 "7s\",\"hit_count\":1}");
    breakpoints_free(p);
    flow_unref(flow);
}

static void tasks_are_counted_as_they_stand_in_the_file(void **state) {
    (void)state;
    static const char *const want[] = {"outer:2", "inner:6", "sleep:7", "last:8", "tidy:10"};
    for (int i = 0; i < 5; i++) {
        char spec[50];
        snprintf(spec, sizeof spec, "{\"task_index\": %d}", i);
        at_task(spec, want[i], "");
    }
    at_task("{\"task_index\": 5}", "?", "There is no task 5: the workflow has 5, counted from 0.");
    expect_places(
        graph_files, "{\"task_index\": 0}", "?",
        "Only a workflow of the tasks dialect has tasks to count; this is one of the graph "
        "dialect: give the name of a `node`.");
}

/* ---- lines ---- */

static void a_line_is_the_innermost_node_around_it(void **state) {
    (void)state;
    at_line("main.yaml", 2, "build:2", "");
    at_line("flows/main.yaml", 4, "build:2", "Moved to line 2, where `build` begins.");
    at_line("./flows/main.yaml", 6, "review:6", "");
    at_line("/home/a/flows/main.yaml", 6, "review:6", "");
    at_line("main.yaml", 11, "loop:10", "Moved to line 10, where `loop` begins.");
    at_line("main.yaml", 12, "loop:10", "Moved to line 10, where `loop` begins.");
    at_line("main.yaml", 14, "build:13", "Moved to line 13, where `build` begins.");
    at_line("main.yaml", 16, "rest:15", "Moved to line 15, where `rest` begins.");
    at_line("main.yaml", 20, "each[]:20", "");
    at_line("main.yaml", 22, "m1[]:22", "");
    at_line("check.yaml", 1, "lint:1", "");
}

static void between_nodes_it_is_the_next(void **state) {
    (void)state;
    at_line("main.yaml", 1, "build:2", "Moved to line 2, where `build` begins.");
    at_line("main.yaml", 5, "review:6", "Moved to line 6, where `review` begins.");
    at_line("main.yaml", 99, "?", "There is no node at or after line 99 of `main.yaml`.");
    at_line("man.yaml", 1, "?",
            "No file of the workflow is called `man.yaml`; did you mean `main.yaml`?");
}

/* ---- lists ---- */

static Breakpoints *filled(const Flow *flow) {
    Breakpoints *p = breakpoints_new(flow);
    breakpoints_add(p, make(5, "{\"node\": \"build\"}", flow));
    breakpoints_add(p, make(2, "{\"condition\": \".a\"}", flow));
    breakpoints_add(p, make(9, "{\"state\": {\"path\": \".a\", \"changed\": true}}", flow));
    breakpoints_add(p, make(7, "{\"type\": \"exception\"}", flow));
    breakpoints_add(p, make(8, "{\"type\": \"exception\", \"node\": \"build\"}", flow));
    breakpoints_add(p, make(1,
                            "{\"state\": {\"path\": \".a\", \"changed\": true}, "
                            "\"node\": \"lint\"}",
                            flow));
    return p;
}

static void each_kind_has_its_list(void **state) {
    (void)state;
    Flow *flow = load_files(graph_files);
    Breakpoints *p = filled(flow);
    assert_int_equal(breakpoints_of_node(p, node_of(flow->main, "build")).n, 2);
    assert_int_equal(breakpoints_of_node(p, node_of(flow->main, "loop")).n, 0);
    assert_int_equal(breakpoints_anywhere(p).n, 1);
    assert_int_equal(breakpoints_on_error(p).n, 1);
    assert_int_equal(breakpoints_on_state(p).n, 2);
    assert_int_equal(breakpoints_count(p), 6);
    int64_t last = 0;
    for (size_t i = 0; i < breakpoints_count(p); i++) {
        assert_true(breakpoints_at(p, i)->id > last);
        assert_true(breakpoints_at(p, i)->verified);
        last = breakpoints_at(p, i)->id;
    }
    breakpoints_free(p);
    flow_unref(flow);
}

static void a_state_breakpoint_with_a_place_is_only_there(void **state) {
    (void)state;
    Flow *flow = load_files(graph_files);
    Breakpoints *p = filled(flow);
    const Node *build = node_of(flow->main, "build");
    const Node *lint = node_of(node_of(flow->main, "review")->params[WORKFLOW_FILE].graph, "lint");
    HookPlace here = {.node = lint, .position = HOOK_AFTER}, there = here;
    there.node = build;
    bool pauses;
    assert_true(breakpoint_hit(breakpoints_find(p, 1), &here, json_null(), NULL, &pauses));
    assert_false(breakpoint_hit(breakpoints_find(p, 1), &there, json_null(), NULL, &pauses));
    assert_true(breakpoint_hit(breakpoints_find(p, 9), &there, json_null(), NULL, &pauses));
    breakpoints_free(p);
    flow_unref(flow);
}

static void what_is_removed_is_in_no_list(void **state) {
    (void)state;
    Flow *flow = load_files(graph_files);
    Breakpoints *p = filled(flow);
    assert_false(breakpoints_remove(p, 3));
    for (int64_t id = 1; id < 10; id++) {
        breakpoints_remove(p, id);
        assert_null(breakpoints_find(p, id));
    }
    assert_int_equal(breakpoints_count(p), 0);
    assert_int_equal(breakpoints_of_node(p, node_of(flow->main, "build")).n, 0);
    assert_int_equal(
        breakpoints_anywhere(p).n + breakpoints_on_state(p).n + breakpoints_on_error(p).n, 0);
    breakpoints_free(p);
    flow_unref(flow);
}

static void it_is_empty_when_none_is_enabled(void **state) {
    (void)state;
    Flow *flow = load_files(graph_files);
    Breakpoints *p = breakpoints_new(flow);
    assert_true(breakpoints_empty(p));
    breakpoints_add(p, make(1, "{\"node\": \"build\"}", flow));
    breakpoints_add(p, make(2, "{\"node\": \"build\"}", flow));
    assert_false(breakpoints_empty(p));
    breakpoints_find(p, 1)->enabled = false;
    assert_false(breakpoints_empty(p));
    breakpoints_find(p, 2)->enabled = false;
    assert_true(breakpoints_empty(p));
    breakpoints_find(p, 1)->enabled = true;
    assert_false(breakpoints_empty(p));
    breakpoints_remove(p, 1);
    assert_true(breakpoints_empty(p));
    breakpoints_free(p);
    flow_unref(flow);
}

static void listings_have_places(void **state) {
    (void)state;
    Flow *flow = load_files(graph_files);
    Breakpoints *p = breakpoints_new(flow);
    breakpoints_add(p, make(1, "{\"file\": \"main.yaml\", \"line\": 14}", flow));
    expect_gives(breakpoints_json(p, breakpoints_find(p, 1)),
                 "{\"id\":1,\"type\":\"source\",\"file\":\"main.yaml\",\"line\":14,"
                 "\"position\":\"before\",\"enabled\":true,\"hit_count\":0,\"verified\":true,"
                 "\"message\":\"Moved to line 13, where `build` begins.\",\"places\":[{\"node\":"
                 "\"build\",\"file\":\"flows/main.yaml\",\"line\":13}]}");
    breakpoints_free(p);
    flow_unref(flow);
}

static void a_condition_that_fits_no_node_of_its_place_is_not_verified(void **state) {
    (void)state;
    static const File files[] = {
        {"f", "nodes: [{name: a, jq: .}, {name: m, map: .x, do: {jq: .}}]"}, {0}};
    expect_places(files, "{\"node\": \"m[]\", \"condition\": \"$item > 1\"}", "m[]:1", "");
    expect_places(files, "{\"node\": \"a\", \"condition\": \"$item > 1\"}", "?a:1",
                  "`condition` cannot be asked at `a`: $item is not defined.");
    expect_places(files, "{\"node\": \"*\", \"condition\": \"$item > 1\"}", "a:1 m:1 m[]:1", "");
}

/* ---- later flows ---- */

static void nodes_that_come_later_are_matched(void **state) {
    (void)state;
    Flow *flow = load_files(graph_files);
    Breakpoints *p = breakpoints_new(flow);
    FlowProblems problems = {0};
    const File injected[] = {{"flows/main.yaml", "nodes: [{name: probe, jq: .}]"}, {0}};
    FlowReader reader = {.read = serve, .ctx = (void *)(uintptr_t)injected};
    FlowAround around = {.first = {(uint32_t)flow->nexprs, (uint32_t)flow->nnodes}};
    Flow *later = flow_load_inside("flows/main.yaml", &reader, &around, &problems);
    assert_non_null(later);
    breakpoints_add(p, make(1, "{\"node\": \"probe\"}", flow));
    breakpoints_add(p, make(2, "{\"node\": \"*\"}", flow));
    breakpoints_add(p, make(3, "{\"file\": \"main.yaml\", \"line\": 1}", flow));
    size_t all = breakpoints_find(p, 2)->places;
    assert_false(breakpoints_find(p, 1)->verified);
    breakpoints_add_flow(p, later);
    assert_true(breakpoints_find(p, 1)->verified);
    assert_true(json_is_none(breakpoints_find(p, 1)->message));
    assert_int_equal(breakpoints_find(p, 2)->places, all + 1);
    assert_int_equal(breakpoints_find(p, 3)->places, 1);
    assert_int_equal(breakpoints_of_node(p, &later->main->nodes[0]).n, 2);
    breakpoints_add(p, make(4, "{\"node\": \"pro*\"}", flow));
    assert_int_equal(breakpoints_of_node(p, &later->main->nodes[0]).n, 3);
    breakpoints_drop_flow(p, later);
    assert_int_equal(breakpoints_of_node(p, &later->main->nodes[0]).n, 0);
    assert_false(breakpoints_find(p, 1)->verified);
    assert_int_equal(breakpoints_find(p, 2)->places, all);
    assert_true(breakpoints_find(p, 2)->verified);
    breakpoints_free(p);
    flow_problems_clear(&problems);
    flow_unref(later);
    flow_unref(flow);
}

/* ---- many ---- */

enum { MANY = 10000 };

static Flow *many_nodes(void) {
    Buf text = BUF_INIT;
    buf_adds(&text, "nodes:\n");
    for (int i = 0; i < MANY; i++) {
        buf_printf(&text, "- {name: n%d, jq: .}\n", i);
    }
    Flow *flow = load(text.data);
    buf_clear(&text);
    return flow;
}

static void thousands_can_be_added(void **state) {
    (void)state;
    static const char *const forms[] = {"{\"node\": \"n%d\"}", "{\"node\": \"f/n%d\"}",
                                        "{\"file\": \"f\", \"line\": %d}"};
    Flow *flow = many_nodes();
    Breakpoints *p = breakpoints_new(flow);
    for (int i = 0; i < MANY; i++) {
        char spec[100];
        snprintf(spec, sizeof spec, forms[i % 3], i + (i % 3 == 2 ? 2 : 0));
        breakpoints_add(p, make(i + 1, spec, flow));
        assert_true(breakpoints_find(p, i + 1)->verified);
    }
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(breakpoints_of_node(p, &flow->main->nodes[i]).n, 1);
    }
    breakpoints_free(p);
    flow_unref(flow);
}

static void together_they_are_at_a_bounded_number_of_nodes(void **state) {
    (void)state;
    Flow *flow = many_nodes();
    Breakpoints *p = breakpoints_new(flow);
    for (int i = 0; i < POINTS_PLACES_MAX / MANY + 1; i++) {
        breakpoints_add(p, make(i + 1, "{\"node\": \"*\"}", flow));
    }
    Breakpoint *last = breakpoints_at(p, breakpoints_count(p) - 1);
    assert_false(last->verified);
    expect_json(last->message, "\"All breakpoints together would be at more than 10000000 nodes; "
                               "delete some that match many.\"");
    breakpoints_free(p);
    flow_unref(flow);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(a_name_is_looked_for_in_all_graphs),
        JSON_TEST(globs_match_names),
        JSON_TEST(paths_lead_into_what_a_node_holds),
        JSON_TEST(an_unknown_name_gets_the_nearest),
        JSON_TEST(a_kind_is_all_its_nodes),
        JSON_TEST(tasks_are_found_by_id),
        JSON_TEST(tasks_are_found_by_title),
        JSON_TEST(a_title_is_compared_when_it_is_reached),
        JSON_TEST(tasks_are_counted_as_they_stand_in_the_file),
        JSON_TEST(a_line_is_the_innermost_node_around_it),
        JSON_TEST(between_nodes_it_is_the_next),
        JSON_TEST(each_kind_has_its_list),
        JSON_TEST(a_state_breakpoint_with_a_place_is_only_there),
        JSON_TEST(what_is_removed_is_in_no_list),
        JSON_TEST(it_is_empty_when_none_is_enabled),
        JSON_TEST(listings_have_places),
        JSON_TEST(a_condition_that_fits_no_node_of_its_place_is_not_verified),
        JSON_TEST(nodes_that_come_later_are_matched),
        JSON_TEST(thousands_can_be_added),
        JSON_TEST(together_they_are_at_a_bounded_number_of_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
