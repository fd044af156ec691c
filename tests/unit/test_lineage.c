/* Lines of checkpoints: what is on them, what frames saw, what they are called, and their history. */
#include "engine_host.h"
#include "hooks.h"
#include "json_binary.h"
#include "json_diff.h"
#include "lineage.h"
#include "store_run.h"
#include "stored_flow.h"

static RunRow row_of(const char *thread) {
    RunRow row = {0};
    assert_true(store_find(host.store, thread, &row, &host.err));
    return row;
}

static Lineage read_line(const char *thread, int64_t seq, size_t max) {
    Lineage line;
    RunRow row = row_of(thread);
    if (!lineage_read(host.store, row.run, seq ? seq : row.head, max, &line, &host.err)) {
        fail_msg("%s", host.err.msg);
    }
    run_row_clear(&row);
    return line;
}

/* "seq node status, ..." */
static void expect_line(const char *thread, int64_t seq, size_t max, const char *want) {
    Lineage line = read_line(thread, seq, max);
    Buf out = BUF_INIT;
    buf_adds(&out, "");
    for (size_t i = 0; i < line.n; i++) {
        const LineageStep *c = &line.items[i];
        buf_printf(&out, "%s%lld %s %s", i ? ", " : "", (long long)c->seq, c->node, c->status);
    }
    assert_string_equal(out.data ? out.data : "", want);
    buf_clear(&out);
    lineage_clear(&line);
}

#define TWO "nodes: [{name: a, jq: '{x: 1}'}, {name: b, jq: '{y: (.x + 1)}'}]\n"

static void fork_two(void) {
    host_run(TWO, NULL);
    host_fresh();
    host_resume(&(RunResume){.thread = "t", .seq = 2});
}

static void a_line_goes_from_the_first_checkpoint_to_its_end(void **state) {
    (void)state;
    fork_two();
    expect_line("t", 3, 0, "1  started, 2 a completed, 3 b completed");
    expect_line("t", 0, 0, "1  started, 2 a completed, 4  forked, 5 b completed");
    expect_line("t", 1, 0, "1  started");
}

static void the_last_of_a_line_can_be_read_alone(void **state) {
    (void)state;
    fork_two();
    expect_line("t", 0, 2, "4  forked, 5 b completed");
    expect_line("t", 0, 3, "2 a completed, 4  forked, 5 b completed");
    expect_line("t", 0, 100, "1  started, 2 a completed, 4  forked, 5 b completed");
}

static void a_line_to_no_checkpoint_says_which_there_are(void **state) {
    (void)state;
    Lineage line;
    RunRow row;
    host_run(TWO, NULL);
    row = row_of("t");
    assert_false(lineage_read(host.store, row.run, 99, 0, &line, &host.err));
    expect_contains(host.err.msg, "has no checkpoint 99");
    assert_int_equal(line.n, 0);
    assert_false(lineage_read(host.store, row.run, 0, 0, &line, &host.err));
    assert_false(lineage_read(host.store, row.run, -1, 0, &line, &host.err));
    run_row_clear(&row);
}

static void steps_end_executions(void **state) {
    (void)state;
    static const struct {
        const char *node, *status, *result;
    } rows[] = {{"a", "completed", "success"}, {"a", "joined", NULL},   {"a", "failed", "failure"},
                {"a", "skipped", "skipped"},   {"a", "started", NULL},  {"a", "entered", NULL},
                {"a", "paused", NULL},         {"a", "retrying", NULL}, {"", "completed", NULL},
                {"", "failed", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        LineageStep c = {.node = (char *)(uintptr_t)rows[i].node,
                         .status = (char *)(uintptr_t)rows[i].status};
        assert_int_equal(lineage_is_step(&c), rows[i].result != NULL);
        if (rows[i].result) assert_string_equal(lineage_result(&c), rows[i].result);
    }
}

static void the_last_step_of_a_frame_is_found(void **state) {
    (void)state;
    fork_two();
    Lineage line = read_line("t", 0, 0);
    assert_int_equal(lineage_last_step(&line, 1, line.n), 3);
    assert_int_equal(lineage_last_step(&line, 0, 3), 1);
    assert_int_equal(lineage_last_step(&line, 1, 1), -1);
    assert_int_equal(lineage_last_step(&line, 7, line.n), -1);
    lineage_clear(&line);
}

/* ---- frames ---- */

#define BRANCHED                                                                        \
    "state: {log: {default: [], reduce: append}}\n"                                     \
    "nodes:\n  - {name: s, jq: '{log: \"s\"}'}\n"                                       \
    "  - {name: a, shell: 'echo 1', output: a}\n  - {name: a2, jq: '{log: \"a2\"}'}\n"  \
    "  - {name: b, workflow: sub.yaml, output: b}\n  - {name: c, jq: '{log: \"c\"}'}\n" \
    "  - {name: j, jq: '{log: \"j\"}'}\n"                                               \
    "  - {name: m, map: {over: '[1, 2, 3]', as: x, limit: 2}, do: {jq: '$x * 2'}}\n"    \
    "edges:\n  - {from: __start__, to: s}\n  - {from: s, to: [a, b, c], fan_in: j}\n"   \
    "  - {from: a, to: a2}\n  - {from: [a2, b, c], to: j}\n  - {from: j, to: m}\n"      \
    "  - {from: m, to: __end__}\n"
#define SUB                                                                                             \
    "state: {own: 5}\nnodes:\n  - {name: p, jq: '{p: 1}'}\n  - {name: q, shell: 'echo 2', output: q}\n" \
    "  - {name: r, jq: '{r: (.p + 1)}'}\n"

/* What every event said of the frame's state has to be what the image says. */
typedef struct Seen {
    struct {
        int64_t checkpoint, frame;
        char *state;
    } items[400];
    size_t n;
} Seen;

static void note_state(Host *h, const Event *e) {
    Seen *s = h->data;
    if (e->type != EVENT_STEP || json_is_none(e->state)) return;
    assert_true(s->n < 400);
    s->items[s->n].checkpoint = e->checkpoint;
    s->items[s->n].frame = e->frame;
    s->items[s->n++].state = json_to_text(e->state);
}

/* How many of the states that events told were found again; frames that ended are not there. */
static size_t compare_states(Seen *s, const char *thread) {
    size_t same = 0;
    RunRow row = row_of(thread);
    for (size_t i = 0; i < s->n; i++) {
        Json image = chain_image(host.store, row.run, s->items[i].checkpoint, NULL, &host.err);
        Flow *flow = stored_flow(host.store, &row, image, &host.err);
        assert_non_null(flow);
        Json found = lineage_state(flow, image, s->items[i].frame);
        if (!json_is_none(found)) {
            char *text = json_to_text(found);
            assert_string_equal(text, s->items[i].state);
            free(text);
            same++;
        }
        json_unref(found);
        json_unref(image);
        flow_unref(flow);
        free(s->items[i].state);
    }
    run_row_clear(&row);
    return same;
}

static void what_a_frame_sees_is_what_it_saw(void **state) {
    (void)state;
    Seen seen = {0};
    host.data = &seen;
    host.on_event = note_state;
    host_file("sub.yaml", SUB);
    expect_run(host_run(BRANCHED, "{\"in\": 1}"), "completed", NULL);
    host.on_event = NULL;
    assert_true(compare_states(&seen, "t") > 8);
}

#define SET(name, value) \
    "{name: run_shell, config: {command: 'echo ::set-variable " name " " value "'}}"
#define TASKS                                                                                                              \
    "config: {base: 1, deep: 2}\ntasks:\n"                                                                                 \
    "  - {name: run_shell, id: first, config: {command: 'echo ::set-output n 5'}}\n"                                       \
    "  - name: run_tasks\n    id: list\n    config:\n      newVariableScope: true\n"                                       \
    "      tasks:\n        - " SET(                                                                                        \
        "x",                                                                                                               \
        "1") "\n"                                                                                                          \
             "        - {name: run_shell, id: first, config: {command: 'echo ::set-output n 6'}}\n"                        \
             "  - name: run_tasks_concurrent\n    id: both\n    config:\n      tasks:\n"                                   \
             "        - " SET("y", "2") "\n        - " SET(                                                                \
                 "z",                                                                                                      \
                 "3") "\n"                                                                                                 \
                      "  - name: run_task_matrix\n    config:\n      matrixVar: v\n      matrixValues: [7, 8]\n"           \
                      "      runConcurrent: true\n      task:\n        name: run_tasks\n        config:\n"                 \
                      "          tasks: [" SET(                                                                            \
                          "w",                                                                                             \
                          "4") "]\n"                                                                                       \
                               "  - name: run_external_tasks\n    config: {testFile: other.yaml, testConfig: {deep: 3}}\n" \
                               "cleanupTasks:\n  - " SET("end", "5") "\n"

static void what_a_task_sees_is_what_it_saw(void **state) {
    (void)state;
    Seen seen = {0};
    host.data = &seen;
    host.on_event = note_state;
    host_file("other.yaml", "config: {base: 10, own: 11}\ntasks:\n  - " SET("o", "6") "\n");
    expect_run(host_run(TASKS, NULL), "completed", NULL);
    host.on_event = NULL;
    assert_true(compare_states(&seen, "t") > 20);
}

static void a_frame_that_is_not_there_sees_nothing(void **state) {
    (void)state;
    host_run(TWO, NULL);
    RunRow row = row_of("t");
    Json image = chain_image(host.store, row.run, row.head, NULL, &host.err);
    Flow *flow = stored_flow(host.store, &row, json_none(), &host.err);
    assert_non_null(flow);
    expect_gives(lineage_state(flow, image, 9), "(none)");
    expect_gives(lineage_frame_path(image, 9), "(none)");
    expect_gives(lineage_state(flow, json_null(), 1), "(none)");
    expect_gives(lineage_frame_path(json_int(3), 1), "(none)");
    json_unref(image);
    flow_unref(flow);
    run_row_clear(&row);
}

static void damaged_images_are_looked_at_without_harm(void **state) {
    (void)state;
    static const char *const images[] = {
        "[]",
        "[1]",
        "[1, 2]",
        "[[], {}]",
        "[[], {\"1\": 5}]",
        "[[], {\"1\": []}]",
        "[[], {\"1\": [0, 0, [], null]}]",
        "[[], {\"1\": [0, 0, [5], null]}]",
        "[[], {\"1\": [0, 0, [[null, null]], null]}]",
        "[[], {\"1\": [1, 0, [[null, null]], null]}]", /* its own parent */
        "[[], {\"1\": [2, 0, [[null, null]], null], \"2\": [1, 0, [[null, null]], null]}]",
        "[[], {\"1\": [0, -1, [[1, {}]], [\"pause\"]], \"2\": [1, -1, [[\"x\", null]], 5]}]",
        "[[], {\"1\": [0, 0, [[\"m\", {}]], [\"map\", 5]], \"2\": [1, 3, [[\"m[]\", null]], null]}]",
        "[[], {\"1\": [0, 0, [[\"m\", {}]], [\"map\"]], \"2\": [1, -1, [[\"m[]\", null]], null]}]"};
    Flow *flow = host_flow(TWO);
    for (size_t i = 0; i < sizeof images / sizeof images[0]; i++) {
        Json image = parse(images[i]);
        for (int64_t frame = 0; frame < 4; frame++) {
            json_unref(lineage_state(flow, image, frame));
            json_unref(lineage_frame_path(image, frame));
            json_unref(lineage_variables(image, frame));
        }
        json_unref(image);
    }
    flow_unref(flow);
}

/* ---- paths ---- */

typedef struct Paths {
    const Lineage *line;
    Json all; /* {path: nodes done} */
} Paths;

static bool note_path(void *ctx, const LineageImage *at) {
    Paths *p = ctx;
    const LineageStep *c = &p->line->items[at->index];
    assert_int_equal(at->checkpoint->seq, c->seq);
    if (lineage_is_step(c)) {
        Json path = lineage_frame_path(at->before, c->frame);
        Json nodes = json_object_get(p->all, path);
        nodes = json_is_none(nodes) ? json_array() : json_ref(nodes);
        p->all = json_object_set(p->all, path, json_array_push(nodes, json_string_c(c->node)));
    }
    return true;
}

static void expect_paths(const char *want) {
    Lineage line = read_line("t", 0, 0);
    Paths paths = {&line, json_object()};
    RunRow row = row_of("t");
    assert_true(lineage_images(host.store, row.run, &line, note_path, &paths, &host.err));
    expect_json(paths.all, want);
    json_unref(paths.all);
    run_row_clear(&row);
    lineage_clear(&line);
}

static void frames_are_called_by_the_nodes_that_made_them(void **state) {
    (void)state;
    host_file("sub.yaml", "nodes: [{name: p, jq: '{p: 1}'}]\n");
    host_run("nodes:\n  - {name: s, jq: '{}'}\n  - {name: a, jq: '{a: 1}'}\n"
             "  - {name: b, workflow: sub.yaml, output: b}\n"
             "  - {name: j, map: {over: '[1, 2]', as: x}, do: {map: {over: '[3]', as: y}, do: {jq: "
             "'$x + $y'}}}\n"
             "edges:\n  - {from: __start__, to: s}\n  - {from: s, to: [a, b], fan_in: j}\n"
             "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n",
             NULL);
    host_fresh();
    expect_paths(
        "{\"main\": [\"s\", \"j\"], \"main/s[0]\": [\"a\"],"
        "\"main/s[1]\": [\"p\", \"b\"], \"main/j[0]/j[][0]\": [\"j[][]\"],"
        "\"main/j[1]/j[][0]\": [\"j[][]\"], \"main/j[0]\": [\"j[]\"], \"main/j[1]\": [\"j[]\"]}");
}

static void branches_of_the_start_have_a_name_too(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: a, jq: '{a: 1}'}\n  - {name: b, jq: '{b: 1}'}\n"
             "edges:\n  - {from: __start__, to: [a, b]}\n  - {from: [a, b], to: __end__}\n",
             NULL);
    host_fresh();
    expect_paths("{\"main/__start__[0]\": [\"a\"], \"main/__start__[1]\": [\"b\"]}");
}

/* ---- images ---- */

static bool same_image(void *ctx, const LineageImage *at) {
    int64_t *run = ctx;
    Json image = chain_image(host.store, *run, at->checkpoint->seq, NULL, &host.err);
    Json change = json_diff(image, at->after);
    assert_int_equal(json_array_len(change), 0);
    json_unref(change);
    json_unref(image);
    return at->index < 9;
}

static void images_along_a_line_are_those_of_the_store(void **state) {
    (void)state;
    host_file("sub.yaml", SUB);
    host_run(BRANCHED, NULL);
    host_fresh();
    host_resume(&(RunResume){.thread = "t", .seq = 5});
    host_fresh();
    RunRow row = row_of("t");
    Lineage line = read_line("t", 0, 0);
    assert_true(lineage_images(host.store, row.run, &line, same_image, &row.run, &host.err));
    Lineage part = {line.items + 3, line.n - 3}; /* it begins later than its run */
    assert_true(lineage_images(host.store, row.run, &part, same_image, &row.run, &host.err));
    lineage_clear(&line);
    run_row_clear(&row);
}

/* ---- history ---- */

static Json history(LineageQuery q) {
    RunRow row = row_of("t");
    q.run = row.run;
    q.head = q.head ? q.head : row.head;
    Json out = lineage_history(host.store, &q, &host.err);
    if (json_is_none(out)) fail_msg("%s", host.err.msg);
    run_row_clear(&row);
    return out;
}

/* The fields of each entry that are named, as an array of arrays; "-": it is not there. */
static void expect_history(LineageQuery q, const char *fields, const char *want) {
    Json answer = history(q), names = parse(fields), rows = json_array();
    Json steps = json_object_get_c(answer, "steps");
    for (size_t i = 0; i < json_array_len(steps); i++) {
        Json one = json_array();
        for (size_t k = 0; k < json_array_len(names); k++) {
            Json value = json_object_get(json_array_get(steps, i), json_array_get(names, k));
            assert_int_not_equal(json_kind(value), JSON_NULL);
            one = json_array_push(one, json_is_none(value) ? json_string_c("-") : json_ref(value));
        }
        rows = json_array_push(rows, one);
    }
    expect_json(rows, want);
    json_unref(rows);
    json_unref(names);
    json_unref(answer);
}

static void history_tells_steps_with_their_results(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: a, jq: '{x: 1}'}\n  - {name: b, jq: error(\"no\")}\n"
             "  - {name: c, jq: '{z: 1}'}\n"
             "edges:\n  - {from: a, to: b}\n  - {from: b, to: c, on: error}\n",
             NULL);
    host_fresh();
    expect_history((LineageQuery){0},
                   "[\"checkpoint\", \"parent\", \"step\", \"frame\", \"node\", \"status\","
                   "\"result\", \"paused\", \"injected\", \"changed\", \"current\"]",
                   "[[2, 1, 1, 1, \"a\", \"completed\", \"success\", false, false, [\"x\"], false],"
                   "[3, 2, 2, 1, \"b\", \"failed\", \"failure\", false, false, [\"error\"], false],"
                   "[4, 3, 3, 1, \"c\", \"completed\", \"success\", false, false, [\"z\"], true]]");
}

static void history_is_told_in_pages(void **state) {
    (void)state;
    hold_clock();
    host_run("nodes: [{name: a, jq: '{}'}, {name: b, jq: '{}'}, {name: c, jq: '{}'}, {name: d, jq: "
             "'{}'}]\n",
             NULL);
    host_fresh();
    expect_history((LineageQuery){.limit = 2}, "[\"node\"]", "[[\"c\"], [\"d\"]]");
    expect_history((LineageQuery){.limit = 2, .before = 4}, "[\"node\"]", "[[\"a\"], [\"b\"]]");
    expect_history((LineageQuery){.limit = 2, .before = 2}, "[\"node\"]", "[]");
    expect_history((LineageQuery){.before = 3, .all = true}, "[\"status\", \"node\", \"took\"]",
                   "[[\"started\", \"-\", \"-\"], [\"completed\", \"a\", 0]]");
    Json page = history((LineageQuery){.limit = 2}), last = history((LineageQuery){.limit = 4});
    expect_json(json_object_get_c(page, "more"), "true");
    expect_json(json_object_get_c(last, "more"), "false");
    json_unref(page);
    json_unref(last);
}

static void history_can_be_that_of_a_frame(void **state) {
    (void)state;
    host_file("sub.yaml", SUB);
    host_run(BRANCHED, NULL);
    host_fresh();
    expect_history((LineageQuery){.frame = 3}, "[\"node\", \"result\"]",
                   "[[\"p\", \"success\"], [\"q\", \"success\"], [\"r\", \"success\"], [\"b\", "
                   "\"success\"]]");
    expect_history((LineageQuery){.frame = 99}, "[\"node\"]", "[]");
}

static void history_says_how_long_each_took(void **state) {
    (void)state;
    host_file("sub.yaml",
              "nodes: [{name: z, sleep: 2s}, {name: y, jq: '{}'}, {name: x, sleep: 3s}]\n");
    host_start_held(
        "nodes: [{name: a, sleep: 5s}, {name: b, jq: '{}'}, {name: w, workflow: sub.yaml}]\n",
        NULL);
    move_clock(5000);
    move_clock(2000);
    move_clock(3000);
    assert_string_equal(host.status ? host.status : "", "completed");
    host_fresh();
    expect_history(
        (LineageQuery){0}, "[\"node\", \"took\"]",
        "[[\"a\", 5000], [\"b\", 0], [\"z\", 2000], [\"y\", 0], [\"x\", 3000], [\"w\", 5000]]");
}

static void a_node_that_a_fork_does_again_took_no_time_before_it(void **state) {
    (void)state;
    host_start_held(TWO, NULL);
    move_clock(0);
    host_fresh();
    host.clock += 100000;
    host_resume(&(RunResume){.thread = "t", .seq = 2});
    host_fresh();
    expect_history((LineageQuery){0}, "[\"node\", \"took\"]", "[[\"a\", 0], [\"b\", 0]]");
}

/* ---- long lines, and those of other shapes ---- */

static Json long_image(int64_t n) {
    char text[200];
    snprintf(text, sizeof text,
             "[[null, null, 2, \"autonomous\", 0, null, null],"
             "{\"1\": [0, 0, [[\"n\", {\"n\": %lld}, null, 0, 0, 0, 0]], null]}]",
             (long long)n);
    return parse(text);
}

static void add_row(StoreBatch *b, int64_t run, int64_t seq, int64_t parent, const char *status) {
    Json path = parse(seq > 1 ? "[1, \"1\", 2, 0, 1, \"n\"]" : "[]");
    Json parts[] = {path, seq > 1 ? json_int(seq) : long_image(0)};
    Json change = json_array_push(json_array(), json_array_from(parts, 2));
    Json image = seq % 500 ? json_none() : long_image(seq);
    Buf patch = BUF_INIT, snapshot = BUF_INIT;
    json_encode(change, &patch);
    if (!json_is_none(image)) json_encode(image, &snapshot);
    store_batch_checkpoint(b, &(Checkpoint){.run = run,
                                            .seq = seq,
                                            .parent = parent,
                                            .step = seq,
                                            .frame = 1,
                                            .at = seq,
                                            .node = seq > 1 ? "n" : "",
                                            .status = status,
                                            .patch = patch.data,
                                            .patch_len = patch.len,
                                            .snapshot = snapshot.data,
                                            .snapshot_len = snapshot.len});
    buf_clear(&patch);
    buf_clear(&snapshot);
    json_unref(change);
    json_unref(image);
}

enum { LONG = 100000 };

static int64_t make_long(void) {
    RunRow row;
    StoreBatch b = STORE_BATCH_INIT;
    assert_true(store_create_run(host.store, "t", "w", "none", &row, &host.err));
    for (int64_t seq = 1; seq <= LONG; seq++) {
        add_row(&b, row.run, seq, seq - 1, seq > 1 ? "completed" : "started");
    }
    add_row(&b, row.run, LONG + 1, 10, "completed"); /* a fork from far back */
    store_batch_run(&b, row.run, LONG, "running", 1);
    assert_true(store_commit(host.store, &b, &host.err));
    store_batch_clear(&b);
    int64_t run = row.run;
    run_row_clear(&row);
    return run;
}

static bool count_image(void *ctx, const LineageImage *at) {
    size_t *n = ctx;
    ++*n;
    return !json_is_none(at->after);
}

static void long_lines_take_no_time(void **state) {
    (void)state;
    Lineage line;
    size_t n = 0;
    int64_t run = make_long();
    uint64_t begin = uv_hrtime();
    assert_true(lineage_read(host.store, run, LONG, 0, &line, &host.err));
    assert_int_equal(line.n, LONG);
    uint64_t whole = uv_hrtime() - begin;
    assert_true(lineage_images(host.store, run, &line, count_image, &n, &host.err));
    assert_int_equal(n, LONG);
    uint64_t images = uv_hrtime() - begin - whole;
    lineage_clear(&line);
    begin = uv_hrtime();
    json_unref(lineage_history(host.store, &(LineageQuery){.run = run, .head = LONG}, &host.err));
    print_message("# read %d ms, images %d ms, history %d ms\n", (int)(whole / 1000000),
                  (int)(images / 1000000), (int)((uv_hrtime() - begin) / 1000000));
    begin = uv_hrtime();
    assert_true(lineage_read(host.store, run, LONG, 50, &line, &host.err));
    assert_int_equal(line.n, 50);
    assert_int_equal(line.items[0].seq, LONG - 49);
    lineage_clear(&line);
    assert_true(lineage_read(host.store, run, LONG + 1, 0, &line, &host.err));
    assert_int_equal(line.n, 11);
    assert_int_equal(line.items[9].seq, 10);
    lineage_clear(&line);
}

/* ---- pauses ---- */

static void history_says_where_it_was_paused(void **state) {
    (void)state;
    RunRow row;
    StoreBatch b = STORE_BATCH_INIT;
    static const char *const words[] = {"started", "paused",    "resumed", "completed",
                                        "started", "completed", "paused"};
    assert_true(store_create_run(host.store, "t", "w", "none", &row, &host.err));
    for (int64_t seq = 1; seq <= 7; seq++) add_row(&b, row.run, seq, seq - 1, words[seq - 1]);
    store_batch_run(&b, row.run, 7, "running", 1);
    assert_true(store_commit(host.store, &b, &host.err));
    store_batch_clear(&b);
    run_row_clear(&row);
    expect_history((LineageQuery){0}, "[\"checkpoint\", \"paused\", \"took\"]",
                   "[[4, true, 2], [6, true, 1]]");
    expect_history((LineageQuery){.all = true, .limit = 2}, "[\"status\", \"paused\", \"current\"]",
                   "[[\"completed\", true, false], [\"paused\", true, true]]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_ALL(a_line_goes_from_the_first_checkpoint_to_its_end),
        TEST_ALL(the_last_of_a_line_can_be_read_alone),
        TEST_ALL(a_line_to_no_checkpoint_says_which_there_are),
        TEST(steps_end_executions),
        TEST(the_last_step_of_a_frame_is_found),
        TEST(what_a_frame_sees_is_what_it_saw),
        TEST(what_a_task_sees_is_what_it_saw),
        TEST(a_frame_that_is_not_there_sees_nothing),
        TEST(damaged_images_are_looked_at_without_harm),
        TEST(frames_are_called_by_the_nodes_that_made_them),
        TEST(branches_of_the_start_have_a_name_too),
        TEST_ALL(images_along_a_line_are_those_of_the_store),
        TEST(history_tells_steps_with_their_results),
        TEST_ALL(history_is_told_in_pages),
        TEST(history_can_be_that_of_a_frame),
        TEST(history_says_how_long_each_took),
        TEST(a_node_that_a_fork_does_again_took_no_time_before_it),
        TEST_ALL(long_lines_take_no_time),
        TEST(history_says_where_it_was_paused),
    };
    return RUN_TESTS(tests);
}
