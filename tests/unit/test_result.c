/* Results: what checkpoints say that nodes gave back is what the events had, and costs next to nothing. */
#include "engine_host.h"

#include "json_binary.h"
#include "json_build.h"
#include "lineage.h"
#include "result.h"
#include "store_chain.h"

/* ---- what events said ---- */

typedef struct Told {
    Json updates; /* {checkpoint: update, null when there was none} */
} Told;

static Json seq_key(int64_t seq) {
    return json_string_fmt("%lld", (long long)seq);
}

static void tell(Host *h, const Event *e) {
    Told *told = h->data;
    if (e->type == EVENT_STEP) {
        Json update = json_is_none(e->update) ? json_null() : json_ref(e->update);
        told->updates = json_object_set(told->updates, seq_key(e->checkpoint), update);
    }
}

/* ---- what checkpoints say ---- */

typedef struct Read {
    Json told; /* what events said; JSON_NONE: nobody asks */
    Json
        results; /* [[node, status, bytes, {update, error, set, by_hand}], ...] of those that say one */
    size_t unsaid; /* steps without a result */
} Read;

static bool read_one(void *ctx, const LineageImage *at) {
    Read *read = ctx;
    const Checkpoint *c = at->checkpoint;
    StepResult r;
    bool said = result_read(c, at->before, at->after, &r);
    read->unsaid += !said && checkpoint_ends_node(c->node, c->status);
    if (!json_is_none(read->told)) {
        Json key = seq_key(c->seq), told = json_object_get(read->told, key);
        Json update = json_is_none(r.update) ? json_null() : r.update;
        if (!json_equal(told, update)) {
            char *want = json_to_text(told), *got = json_to_text(update);
            fail_msg("@%s %s %s: told %s, read %s", json_string_data(&key), c->node, c->status,
                     want, got);
        }
        json_unref(key);
    }
    if (said) {
        Json parts = OBJECT(KEY("update", json_ref(r.update)), KEY("error", json_ref(r.error)),
                            KEY("set", json_ref(r.set)), KEY("by_hand", json_ref(r.by_hand)));
        Json row[] = {json_string_c(c->node), json_string_c(c->status),
                      json_int((int64_t)c->result_len), parts};
        read->results = json_array_push(read->results, json_array_from(row, 4));
    }
    result_clear(&r);
    return true;
}

static Json read_thread(const char *thread, Json told) {
    RunRow row = {0};
    Lineage line;
    Read read = {told, json_array(), 0};
    assert_true(store_find(host.store, thread, &row, &host.err));
    assert_true(lineage_read(host.store, row.run, row.head, 0, &line, &host.err));
    assert_true(lineage_images(host.store, row.run, &line, read_one, &read, &host.err));
    assert_int_equal(read.unsaid, 0);
    lineage_clear(&line);
    run_row_clear(&row);
    return read.results;
}

/* Runs it, compares what is read with what was told, and gives what was read. */
static Json results_of(const char *yaml, const char *input) {
    Told told = {json_object()};
    host.data = &told;
    host.on_event = tell;
    host_run(yaml, input);
    host.on_event = NULL;
    host_fresh();
    Json results = read_thread("t", told.updates);
    json_unref(told.updates);
    return results;
}

/* The nth result of a node. */
static Json result_of(Json results, const char *node, int nth) {
    for (size_t i = 0; i < json_array_len(results); i++) {
        Json row = json_array_get(results, i);
        if (json_string_is(json_array_get(row, 0), node) && !nth--) return row;
    }
    fail_msg("there is no such result of `%s`", node);
    return json_none();
}

static void expect_result(Json results, const char *node, const char *want) {
    expect_json(json_array_get(result_of(results, node, 0), 3), want);
}

static void expect_bytes(Json results, const char *node, int most) {
    int64_t bytes = json_array_get(result_of(results, node, 0), 2).i;
    if (bytes > most) fail_msg("the result of `%s` takes %d bytes", node, (int)bytes);
}

/* ---- graphs ---- */

static void what_goes_into_the_state_costs_no_bytes(void **state) {
    (void)state;
    Json r = results_of("nodes:\n  - {name: a, jq: '{x: 1, y: {z: [1, 2]}}'}\n"
                        "  - {name: b, jq: '{y: {z: [1, 2, 3], w: .x}}'}\n"
                        "  - {name: c, shell: 'echo hello', output: c}\n"
                        "  - {name: d, jq: 'null'}\n",
                        "{\"n\": 0}");
    expect_result(r, "a", "{\"update\":{\"x\":1,\"y\":{\"z\":[1,2]}}}");
    expect_result(r, "b", "{\"update\":{\"y\":{\"z\":[1,2,3],\"w\":1}}}");
    expect_result(r, "c", "{\"update\":{\"c\":{\"stdout\":\"hello\",\"exit_code\":0}}}");
    expect_result(r, "d", "{\"update\":{}}");
    for (const char *const *node = (const char *const[]){"a", "b", "c", "d", NULL}; *node; node++)
        expect_bytes(r, *node, 0);
    json_unref(r);
}

static void a_value_that_was_there_before_is_a_result_all_the_same(void **state) {
    (void)state;
    Json r = results_of("nodes:\n  - {name: a, jq: '{x: 1, y: 2}'}\n"
                        "  - {name: b, jq: '{y: 2, x: 7}'}\n",
                        "{\"x\": 1}");
    expect_result(r, "a", "{\"update\":{\"x\":1,\"y\":2}}");
    expect_result(r, "b", "{\"update\":{\"y\":2,\"x\":7}}");
    json_unref(r);
}

#define REDUCED                                                                                 \
    "state:\n  log: {reduce: append, default: []}\n  sum: {reduce: add, default: 0}\n"          \
    "  max: {reduce: '[$old, $new] | max', default: 0}\n  deep: {reduce: merge, default: {}}\n" \
    "nodes:\n  - {name: a, jq: '{log: [\"a long line of text, which is in the patch\"]}'}\n"    \
    "  - {name: b, jq: '{sum: 3, max: 2, log: \"one\", deep: {x: 1}, plain: true}'}\n"

static void what_went_through_a_reducer_is_what_was_put_to_it(void **state) {
    (void)state;
    Json r = results_of(REDUCED, NULL);
    expect_result(r, "a",
                  "{\"update\":{\"log\":[\"a long line of text, which is in the patch\"]}}");
    expect_result(r, "b",
                  "{\"update\":{\"sum\":3,\"max\":2,\"log\":\"one\",\"deep\":{\"x\":1},"
                  "\"plain\":true}}");
    expect_bytes(r, "a", 4);
    json_unref(r);
}

#define BRANCHES                                                                       \
    "state: {log: {reduce: append, default: []}}\n"                                    \
    "nodes:\n  - {name: plan, jq: '{p: 1}'}\n  - {name: left, jq: '{l: 1, log: 1}'}\n" \
    "  - {name: left2, jq: '{l2: 1, log: [2]}'}\n  - {name: right, jq: '{r: [1]}'}\n"  \
    "  - {name: end, jq: '{e: .log}'}\n"                                               \
    "edges:\n  - {from: __start__, to: plan}\n  - {from: plan, to: [left, right]}\n"   \
    "  - {from: left, to: left2}\n  - {from: [left2, right], to: end}\n"               \
    "  - {from: end, to: __end__}\n"

static void a_branch_that_ends_says_what_its_last_node_gave_back(void **state) {
    (void)state;
    Json r = results_of(BRANCHES, NULL);
    expect_result(r, "left", "{\"update\":{\"l\":1,\"log\":1}}");
    expect_result(r, "left2", "{\"update\":{\"l2\":1,\"log\":[2]}}");
    expect_result(r, "right", "{\"update\":{\"r\":[1]}}");
    expect_bytes(r, "right", 0);
    json_unref(r);
}

static void an_element_says_its_value(void **state) {
    (void)state;
    Json r = results_of("nodes:\n  - {name: each, map: '[3, null, {a: 1}]', limit: 2, output: all, "
                        "do: {jq: '$item'}}\n",
                        NULL);
    for (int i = 0; i < 3; i++) {
        static const char *const want[] = {"{\"update\":3}", "{\"update\":null}",
                                           "{\"update\":{\"a\":1}}"};
        Json row = result_of(r, "each[]", i);
        expect_json(json_array_get(row, 3), want[i]);
        assert_int_equal(json_array_get(row, 2).i, 0);
    }
    expect_result(r, "each", "{\"update\":{\"all\":[3,null,{\"a\":1}]}}");
    json_unref(r);
}

static void nodes_that_hold_others_say_what_these_come_to(void **state) {
    (void)state;
    host_file("sub.yaml", "state: {log: {reduce: append, default: []}}\n"
                          "nodes:\n  - {name: i, jq: '{i: .x, log: [.x]}'}\n");
    Json r = results_of("state: {n: 0, log: {reduce: append, default: [0]}}\nnodes:\n"
                        "  - {name: loop, while: .n < 2, do: [{name: inc, jq: '{n: (.n + 1)}'}, "
                        "{name: in, workflow: sub.yaml, input: '{x: .n}'}]}\n"
                        "  - {name: each, map: '[1, 2]', output: all, do: {workflow: sub.yaml, "
                        "input: '{x: $item}'}}\n",
                        NULL);
    expect_result(r, "loop", "{\"update\":{}}");
    expect_result(r, "in", "{\"update\":{\"i\":1,\"log\":[1]}}");
    expect_result(r, "each",
                  "{\"update\":{\"all\":[{\"i\":1,\"log\":[1]},{\"i\":2,\"log\":[2]}]}}");
    json_unref(r);
}

/* ---- failures ---- */

static void a_failure_says_its_error_and_so_does_an_attempt(void **state) {
    (void)state;
    Json r = results_of("nodes:\n"
                        "  - {name: a, shell: 'exit 3', retry: {attempts: 2, delay: 0}}\n"
                        "  - {name: b, shell: 'exit 4'}\n"
                        "edges:\n  - {from: __start__, to: a}\n  - {from: a, to: b, on: error}\n",
                        NULL);
    static const char *const nodes[] = {"a", "a", "b"};
    static const int nths[] = {0, 1, 0}, codes[] = {3, 3, 4};
    for (int i = 0; i < 3; i++) {
        Json row = result_of(r, nodes[i], nths[i]), parts = json_array_get(row, 3);
        Json error = json_object_get_c(parts, "error");
        assert_int_equal(json_object_get_c(error, "exit_code").i, codes[i]);
        assert_true(json_array_get(row, 2).i < 16);
    }
    assert_string_equal(host.status, "failed");
    json_unref(r);
}

/* ---- tasks ---- */

static void a_task_says_its_variables_and_its_error(void **state) {
    (void)state;
    Json r = results_of("tasks:\n"
                        "  - {name: run_shell, id: one, config: {command: 'echo ::set-json v 5'}}\n"
                        "  - {name: sleep, config: {duration: 0.001}}\n"
                        "  - {name: run_tasks, config: {ignoreResult: true, tasks: "
                        "[{name: run_shell, id: two, config: {command: exit 3}}]}}\n",
                        NULL);
    expect_result(r, "one", "{\"update\":null,\"set\":{\"v\":5}}");
    expect_result(r, "sleep", "{\"update\":null}");
    Json error = json_object_get_c(json_array_get(result_of(r, "two", 0), 3), "error");
    assert_int_equal(json_object_get_c(error, "exit_code").i, 3);
    json_unref(r);
}

/* ---- people ---- */

static void what_a_person_gave_is_said_with_it(void **state) {
    (void)state;
    host_run("config: {interrupt_before: [b]}\nnodes:\n  - {name: a, jq: '{a: 1}'}\n"
             "  - {name: b, jq: '{b: .x}'}\n",
             NULL);
    host_answer(NULL, NULL, "{\"x\": 7}");
    Json r = read_thread("t", json_none()), said = json_none();
    for (size_t i = 0; i < json_array_len(r); i++) {
        Json by = json_object_get_c(json_array_get(json_array_get(r, i), 3), "by_hand");
        said = json_is_none(by) ? said : by;
    }
    expect_json(said, "[{\"x\":7}]");
    json_unref(r);
}

static bool note_by(void *ctx, const Checkpoint *c) {
    Json by = result_by(c);
    if (!json_is_none(by)) {
        buf_printf(ctx, "%s%s/%s by %s", ((Buf *)ctx)->len ? ", " : "", c->node, c->status,
                   json_string_data(&by));
    }
    json_unref(by);
    return true;
}

static void expect_by(const char *thread, const char *want) {
    RunRow row = {0};
    Buf got = BUF_INIT;
    assert_true(store_find(host.store, thread, &row, &host.err));
    assert_true(store_history(host.store, row.run, 1, note_by, NULL, &got, &host.err));
    assert_string_equal(got.len ? got.data : "", want);
    buf_clear(&got);
    run_row_clear(&row);
}

static const char asked[] = "config: {interrupt_before: [b]}\nnodes:\n"
                            "  - {name: a, jq: '{a: 1}'}\n"
                            "  - {name: b, jq: '{b: .x}'}\n"
                            "  - {name: c, jq: '{c: .b}'}\n";

static void who_asked_for_a_step_is_said_with_it(void **state) {
    (void)state;
    int64_t seq;
    RunRow row = {0};
    host_run(asked, NULL);
    host_fresh();
    expect_by("t", "");
    Json set = parse("[[[\"x\"], 5]]");
    assert_true(engine_update_now(host.engine, &(RunUpdate){.thread = "t", .set = set, .by = "ann"},
                                  &seq, &host.err));
    expect_by("t", "/updated by ann");
    host_resume(&(RunResume){.thread = "t", .set = set, .by = "bob"});
    host_fresh();
    expect_by("t", "/updated by ann, /updated by bob, b/resumed by bob");
    Json r = read_thread("t", json_none());
    expect_result(r, "b", "{}");
    expect_json(json_array_get(result_of(r, "b", 1), 3), "{\"update\":{\"b\":5}}");
    expect_result(r, "c", "{\"update\":{\"c\":5}}");
    json_unref(r);
    json_unref(set);
    run_row_clear(&row);
}

static void who_asked_is_said_with_the_next_step_where_nothing_else_is_recorded(void **state) {
    (void)state;
    host_start("nodes:\n  - {name: a, jq: '{a: 1}'}\n  - {name: b, jq: '{b: 1}'}\n", "t", NULL);
    host_fresh();
    host_resume(&(RunResume){.thread = "t", .by = "ann"});
    host_fresh();
    expect_by("t", "a/completed by ann");
    Json r = read_thread("t", json_none());
    expect_result(r, "a", "{\"update\":{\"a\":1}}");
    json_unref(r);
}

static void who_asked_outlives_the_checkpoints_around(void **state) {
    (void)state;
    RunRow row = {0};
    PruneReport report = {0};
    PruneRule rule = {.keep_last = 3, .result = result_by_value};
    host_run(asked, NULL);
    host_fresh();
    host_resume(&(RunResume){.thread = "t", .by = "ann"});
    host_fresh();
    assert_true(store_find(host.store, "t", &row, &host.err));
    assert_true(chain_prune(host.store, &row, &rule, &report, &host.err));
    assert_true(report.folded > 0);
    expect_by("t", "b/resumed by ann");
    run_row_clear(&row);
}

/* ---- what becomes of them ---- */

static void a_result_outlives_the_change_that_it_points_at(void **state) {
    (void)state;
    RunRow row = {0};
    PruneReport report = {0};
    json_unref(results_of(REDUCED, NULL));
    PruneRule rule = {.keep_last = 1, .result = result_by_value};
    assert_true(store_find(host.store, "t", &row, &host.err));
    assert_true(chain_prune(host.store, &row, &rule, &report, &host.err));
    assert_int_equal(report.folded, 1);
    Json r = read_thread("t", json_none());
    expect_result(r, "b",
                  "{\"update\":{\"sum\":3,\"max\":2,\"log\":\"one\",\"deep\":{\"x\":1},"
                  "\"plain\":true}}");
    json_unref(r);
    run_row_clear(&row);
}

/* Results from anywhere, of images from anywhere. */
static void what_is_no_result_gives_none(void **state) {
    (void)state;
    static const char *const forms[] = {
        "5",
        "\"x\"",
        "false",
        "[99, -1, \"nope\", [], [1, 2], [[]], {\"a\": 1}]",
        "{\"at\": [1, -1], \"set\": [1, \"x\", []], \"by_hand\": 5, \"error\": 1}",
        "{\"by\": 5, \"as\": 3}",
        "{\"by\": \"x\", \"as\": {\"by\": \"y\", \"as\": [[]]}}",
        "{\"by\": \"x\"}",
        "{\"at\": [99, 99], \"by_hand\": [5, [], [[]], [5], {}], \"update\": []}"};
    static const char *const images[] = {
        "null", "[]", "[[], {\"1\": []}]",
        "[[], {\"1\": [0, 0, [[\"a\", {\"x\": 1}]], [\"map\"]]}]",
        "[[], {\"1\": [0, 0, [[\"a\", {}]], [\"join\", null, [5]]], \"2\": [1, 0, [[\"b\"]], null]}]"};
    static const char *const statuses[] = {"completed", "failed", "resumed"};
    enum { FORMS = sizeof forms / sizeof *forms, IMAGES = sizeof images / sizeof *images };
    Json patch = parse("[[[1, \"1\", 2, 0, 1, \"x\"], 1], [[1, \"1\", 2, 0, 1, \"y\"]], 5, []]");
    Buf bytes = BUF_INIT, form = BUF_INIT, folded = BUF_INIT;
    json_encode(patch, &bytes);
    for (size_t i = 0; i < (FORMS + 1) * IMAGES * IMAGES * 3 * 2; i++) {
        size_t k = i / IMAGES / IMAGES / 6;
        Json before = parse(images[i % IMAGES]), after = parse(images[i / IMAGES % IMAGES]);
        Checkpoint c = {.frame = 1 + (int64_t)(i / IMAGES / IMAGES / 3 % 2),
                        .node = "a",
                        .status = statuses[i / IMAGES / IMAGES % 3],
                        .patch = bytes.data,
                        .patch_len = bytes.len,
                        .result = ""};
        buf_reset(&form);
        buf_reset(&folded);
        if (k < FORMS) {
            Json value = parse(forms[k]);
            json_encode(value, &form);
            json_unref(value);
            c.result = form.data;
            c.result_len = form.len;
        }
        StepResult r;
        assert_true(result_read(&c, before, after, &r));
        result_clear(&r);
        assert_true(result_by_value(&c, before, after, &folded));
        json_unref(before);
        json_unref(after);
    }
    buf_clear(&bytes);
    buf_clear(&form);
    buf_clear(&folded);
    json_unref(patch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_ALL(what_goes_into_the_state_costs_no_bytes),
        TEST(a_value_that_was_there_before_is_a_result_all_the_same),
        TEST_ALL(what_went_through_a_reducer_is_what_was_put_to_it),
        TEST(a_branch_that_ends_says_what_its_last_node_gave_back),
        TEST(an_element_says_its_value),
        TEST(nodes_that_hold_others_say_what_these_come_to),
        TEST(a_failure_says_its_error_and_so_does_an_attempt),
        TEST(a_task_says_its_variables_and_its_error),
        TEST(what_a_person_gave_is_said_with_it),
        TEST(who_asked_for_a_step_is_said_with_it),
        TEST(who_asked_is_said_with_the_next_step_where_nothing_else_is_recorded),
        TEST(who_asked_outlives_the_checkpoints_around),
        TEST_ALL(a_result_outlives_the_change_that_it_points_at),
        TEST(what_is_no_result_gives_none),
    };
    return RUN_TESTS(tests);
}
