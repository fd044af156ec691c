/* What a checkpoint takes: it follows what changed, not the size of the state that the change is in.
 *
 * Each workflow runs twice, on a state with little and with much in it that no node touches. Every
 * checkpoint but the first, which has it all, is to be of the same size both times, and to name the same keys
 * as changed. */
#include "changed.h"
#include "engine_host.h"

enum { RECORDS = 400 };

/* Room for what says where: a place far back in an array is a larger number. */
enum { SLACK = 16 };

typedef struct Sizes {
    size_t patches[64];
    Json keys[64]; /* that changed, as an object: their order is all one */
    Changed changed;
    size_t n;
} Sizes;

static Json as_object(Json keys) {
    Json out = json_object();
    for (size_t i = 0; i < json_array_len(keys); i++) {
        out = json_object_set(out, json_ref(json_array_get(keys, i)), json_null());
    }
    json_unref(keys);
    return out;
}

static bool add_size(void *ctx, const Checkpoint *c) {
    Sizes *sizes = ctx;
    assert_true(sizes->n < sizeof sizes->patches / sizeof sizes->patches[0]);
    sizes->keys[sizes->n] = as_object(changed_keys(&sizes->changed, c));
    sizes->patches[sizes->n++] = c->patch_len;
    return true;
}

static Sizes sizes_of(const char *thread) {
    RunRow row = {0};
    Sizes sizes = {.n = 0};
    assert_true(store_find(host.store, thread, &row, &host.err));
    sizes.changed = (Changed){.store = host.store, .run = row.run};
    assert_true(store_history(host.store, row.run, 2, add_size, NULL, &sizes, &host.err));
    changed_clear(&sizes.changed);
    run_row_clear(&row);
    return sizes;
}

/* {"n": 0, "doc": {"x": 0, "records": [...]}} */
static char *much(size_t records) {
    Buf out = BUF_INIT;
    buf_adds(&out, "{\"n\": 0, \"doc\": {\"x\": 0, \"records\": [");
    for (size_t i = 0; i < records; i++) {
        buf_printf(&out, "%s{\"id\": %zu, \"text\": \"one of many records, this long\"}",
                   i ? ", " : "", i);
    }
    buf_adds(&out, "]}}");
    return buf_detach(&out);
}

/* Where it stops for somebody, another process goes on. */
static Run *go_to_its_end(Run *run, const char *thread) {
    host_go();
    while (!strcmp(run_status(run), "interrupted")) {
        host_fresh();
        run = host_resume(&(RunResume){.thread = thread});
    }
    return run;
}

static Sizes sizes_with(const char *yaml, const char *thread, size_t records) {
    char *input = much(records);
    Run *run = host_start(yaml, thread, input);
    mem_free(input);
    expect_run(go_to_its_end(run, thread), "completed", NULL);
    host.settled = 0;
    host.checkpoint = 0;
    return sizes_of(thread);
}

static void write_parts(void) {
    host_file("sub.yaml",
              "nodes:\n  - {name: p, jq: '{n: (.n + 1)}'}\n  - {name: q, jq: '{m: .n}'}\n");
    host_file("mid.yaml",
              "nodes:\n  - {name: c, workflow: sub.yaml}\n  - {name: d, jq: '{d: 1}'}\n");
    host_file("bad.yaml",
              "nodes:\n  - {name: p, jq: '{n: (.n + 1)}'}\n  - {name: q, jq: 'error(0)'}\n");
}

static void expect_same_keys(const Sizes *little, const Sizes *lots) {
    for (size_t i = 0; i < little->n; i++) {
        char *want = json_to_text(little->keys[i]), *got = json_to_text(lots->keys[i]);
        if (!json_equal(little->keys[i], lots->keys[i])) {
            fail_msg("checkpoint %zu changed %s, and %s where there is more in the state", i + 2,
                     want, got);
        }
        free(want);
        free(got);
        json_unref(little->keys[i]);
        json_unref(lots->keys[i]);
    }
}

static void expect_sizes(const Sizes *little, const Sizes *lots) {
    assert_int_equal(little->n, lots->n);
    assert_true(little->n > 0);
    for (size_t i = 0; i < little->n; i++) {
        if (lots->patches[i] > little->patches[i] + SLACK) {
            fail_msg("checkpoint %zu takes %zu bytes, and %zu where there is more in the state",
                     i + 2, little->patches[i], lots->patches[i]);
        }
    }
    expect_same_keys(little, lots);
}

static void expect_no_growth(const char *yaml) {
    write_parts();
    Sizes little = sizes_with(yaml, "little", 1), lots = sizes_with(yaml, "lots", RECORDS);
    expect_sizes(&little, &lots);
    expect_sound_store();
}

/* ---- levels ---- */

static void the_end_of_a_sub_workflow_takes_what_it_changed(void **state) {
    (void)state;
    expect_no_growth("nodes:\n  - {name: a, workflow: sub.yaml, input: '{n}'}\n"
                     "  - {name: b, workflow: sub.yaml, input: '{n}', output: o}\n"
                     "  - {name: c, workflow: sub.yaml}\n"
                     "  - {name: d, workflow: sub.yaml, timeout: 1m}\n");
}

static void so_does_that_of_one_in_another(void **state) {
    (void)state;
    expect_no_growth("nodes:\n  - {name: a, workflow: mid.yaml, input: '{n}'}\n"
                     "  - {name: b, workflow: mid.yaml}\n");
}

static void so_does_one_that_fails(void **state) {
    (void)state;
    expect_no_growth("nodes:\n  - {name: a, workflow: bad.yaml}\n  - {name: b, jq: '{b: 1}'}\n"
                     "edges:\n  - {from: __start__, to: a}\n  - {from: a, to: b, on: error}\n"
                     "  - {from: b, to: __end__}\n");
}

static void so_do_the_turns_of_a_loop_and_its_end(void **state) {
    (void)state;
    expect_no_growth("nodes:\n  - name: l\n    while: .n < 3\n    do:\n"
                     "      - {name: a, jq: '{n: (.n + 1)}'}\n      - {name: b, jq: '{m: .n}'}\n"
                     "      - {name: c, workflow: sub.yaml, input: '{n}', output: o}\n"
                     "  - {name: z, jq: '{z: 1}'}\n");
}

static void so_do_elements_of_a_map(void **state) {
    (void)state;
    expect_no_growth("nodes:\n  - name: m\n    map: {over: '[1, 2, 3]', as: e, limit: 2}\n"
                     "    do: {jq: '$e * 2'}\n"
                     "  - name: s\n    map: {over: '[1, 2, 3]', as: e, limit: 2}\n"
                     "    do: {workflow: sub.yaml, input: '{n: $e}'}\n");
}

static void so_do_branches_and_their_join(void **state) {
    (void)state;
    expect_no_growth("nodes:\n  - {name: a, jq: '{a: 1}'}\n  - {name: a2, jq: '{a2: 1}'}\n"
                     "  - {name: b, workflow: sub.yaml, output: b}\n  - {name: j, jq: '{j: 1}'}\n"
                     "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
                     "  - {from: a, to: a2}\n  - {from: [a2, b], to: j}\n"
                     "  - {from: j, to: __end__}\n");
}

/* ---- a value in several places ---- */

#define GROWS "{doc: (.doc | .x += 1)}"

static void a_part_of_the_state_that_is_handed_in_is_not_written_again(void **state) {
    (void)state;
    expect_no_growth("nodes:\n  - {name: a, workflow: sub.yaml, input: '{n, it: .doc}'}\n"
                     "  - {name: b, workflow: sub.yaml, input: '{n, all: .doc.records}'}\n"
                     "  - {name: c, workflow: sub.yaml, input: '" GROWS " + {n}'}\n");
}

static void nor_is_one_that_is_changed_a_little_in_a_sub_workflow(void **state) {
    (void)state;
    host_file("grows.yaml", "nodes:\n  - {name: p, jq: '" GROWS "'}\n"
                            "  - {name: q, jq: '" GROWS "'}\n");
    expect_no_growth("nodes:\n  - {name: a, workflow: grows.yaml}\n"
                     "  - {name: b, workflow: grows.yaml, input: '{doc}', output: other}\n");
}

static void nor_one_that_is_changed_in_a_loop(void **state) {
    (void)state;
    expect_no_growth("nodes:\n  - name: l\n    while: .doc.x < 3\n    do:\n"
                     "      - {name: a, jq: '" GROWS "'}\n      - {name: b, jq: '{n: 1}'}\n");
}

static void nor_one_that_is_changed_in_a_branch(void **state) {
    (void)state;
    expect_no_growth("nodes:\n  - {name: a, jq: '" GROWS "'}\n  - {name: a2, jq: '{a2: 1}'}\n"
                     "  - {name: b, jq: '{b: .doc}'}\n  - {name: j, jq: '{j: 1}'}\n"
                     "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
                     "  - {from: a, to: a2}\n  - {from: [a2, b], to: j}\n"
                     "  - {from: j, to: __end__}\n");
}

static void nor_the_list_that_a_map_goes_over_and_its_results(void **state) {
    (void)state;
    expect_no_growth("state: {lists: null}\n"
                     "nodes:\n  - {name: two, jq: '{lists: [.doc.records, .doc]}'}\n"
                     "  - name: m\n    map: {over: .lists, as: e}\n    do: {jq: '$e'}\n"
                     "  - {name: z, jq: '{lists: .m}'}\n");
}

static void nor_what_a_branch_has_written_when_it_ends(void **state) {
    (void)state;
    expect_no_growth("nodes:\n  - {name: a, jq: '{copy: .doc}'}\n  - {name: a2, jq: '{}'}\n"
                     "  - {name: b, jq: '{b: 1}'}\n  - {name: j, jq: '{j: 1}'}\n"
                     "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
                     "  - {from: a, to: a2}\n  - {from: [a2, b], to: j}\n"
                     "  - {from: j, to: __end__}\n");
}

static void nor_where_another_process_goes_on(void **state) {
    (void)state;
    host_file("asks.yaml", "nodes:\n  - {name: p, jq: '" GROWS "'}\n"
                           "  - {name: ask, jq: '{k: 1}', interrupt: before}\n"
                           "  - {name: q, jq: '" GROWS "'}\n  - {name: r, jq: '{other: .doc}'}\n");
    expect_no_growth("nodes:\n  - {name: a, workflow: asks.yaml}\n"
                     "  - {name: b, workflow: asks.yaml, input: '{doc}', output: o}\n");
}

/* ---- tasks ---- */

/* `much` is what the test file's config has. */
static Sizes sizes_of_test(const char *tasks, const char *thread, size_t records) {
    char *config = much(records);
    Buf yaml = BUF_INIT;
    buf_printf(&yaml, "{id: test, config: %s, tasks: [%s]}", config, tasks);
    mem_free(config);
    Run *run = host_start(yaml.data, thread, NULL);
    buf_clear(&yaml);
    host_go();
    expect_run(run, "completed", NULL);
    host.settled = 0;
    host.checkpoint = 0;
    return sizes_of(thread);
}

static void expect_no_growth_of_test(const char *tasks) {
    host_file("other.yaml", "{id: other, tasks: [{name: sleep, config: {duration: 0}}]}");
    Sizes little = sizes_of_test(tasks, "little", 1), lots = sizes_of_test(tasks, "lots", RECORDS);
    expect_sizes(&little, &lots);
    expect_sound_store();
}

#define NAP "{name: sleep, id: nap, config: {duration: 0}}"

static void so_does_a_list_of_tasks_that_ends(void **state) {
    (void)state;
    expect_no_growth_of_test("{name: run_tasks, id: l, config: {tasks: [" NAP ", {name: run_tasks, "
                             "config: {tasks: [" NAP "]}}]}}, " NAP);
}

static void so_does_any_other_container(void **state) {
    (void)state;
    expect_no_growth_of_test("{name: run_task_options, id: o, config: {task: " NAP "}}, "
                             "{name: run_task_matrix, id: m, config: {task: " NAP
                             ", matrixVar: v, matrixValues: [1, 2]}}, "
                             "{name: run_tasks_concurrent, id: c, config: {tasks: [" NAP "]}}, "
                             "{name: run_external_tasks, id: e, config: {testFile: other.yaml}}");
}

/* ---- what is large ---- */

#define LARGE_STEPS 6

/* Each step makes all of it anew, or a part: the writer encodes what is large, between what is small. */
static void large_states_are_written_in_their_order(void **state) {
    (void)state;
    static const char text[] =
        "state: {n: 0, rows: []}\nnodes:\n"
        "  - {name: all, jq: '.n as $n | {rows: [range(30000) | {id: (. + $n), text: \"some text \\\\(.)\"}]}'}\n"
        "  - {name: part, jq: '{n: (.n + 1)} + {rows: (.rows | .[5].id = 0)}'}\n"
        "edges:\n  - {from: __start__, to: all}\n  - {from: all, to: part}\n"
        "  - {from: part, to: all, when: '.n < 6'}\n  - {from: part, to: __end__}\n";
    Run *run = host_run(text, NULL);
    expect_run(run, "completed", NULL);
    Json whole = json_ref(run_state(run));
    for (int64_t n = 1; n <= LARGE_STEPS; n++) {
        char *then = host_state_at("t", 2 * n + 1), want[40];
        snprintf(want, sizeof want, "\"n\":%lld,", (long long)n);
        expect_contains(then, want);
        free(then);
    }
    char *last = host_state_at("t", 0), *now = json_to_text(whole);
    assert_string_equal(last, now);
    free(last);
    free(now);
    json_unref(whole);
}

/* The engine ends while the writer still has it. */
static void an_engine_may_end_before_what_is_large_is_written(void **state) {
    (void)state;
    host_start(
        "nodes: [{name: a, jq: '{rows: [range(200000) | {id: .}]}'}, {name: b, sleep: 1h}]\n", "t",
        NULL);
    for (int i = 0; i < 40; i++) uv_run(&host.loop, UV_RUN_NOWAIT);
    host_fresh();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_end_of_a_sub_workflow_takes_what_it_changed),
        TEST(so_does_that_of_one_in_another),
        TEST(so_does_one_that_fails),
        TEST(so_do_the_turns_of_a_loop_and_its_end),
        TEST(so_do_elements_of_a_map),
        TEST(so_do_branches_and_their_join),
        TEST(a_part_of_the_state_that_is_handed_in_is_not_written_again),
        TEST(nor_is_one_that_is_changed_a_little_in_a_sub_workflow),
        TEST(nor_one_that_is_changed_in_a_loop),
        TEST(nor_one_that_is_changed_in_a_branch),
        TEST(nor_what_a_branch_has_written_when_it_ends),
        TEST(nor_the_list_that_a_map_goes_over_and_its_results),
        TEST(nor_where_another_process_goes_on),
        TEST(so_does_a_list_of_tasks_that_ends),
        TEST(so_does_any_other_container),
        TEST_ALL(large_states_are_written_in_their_order),
        TEST_LASTING(an_engine_may_end_before_what_is_large_is_written),
    };
    return RUN_TESTS(tests);
}
