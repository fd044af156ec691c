/* What a checkpoint takes: it follows what changed, not the size of the state that the change is in.
 *
 * Each workflow runs twice, on a state with little and with much in it that no node touches. Every
 * checkpoint but the first, which has it all, is to be of the same size both times. */
#include "engine_host.h"

enum { RECORDS = 400 };

/* Room for what says where: a place far back in an array is a larger number. */
enum { SLACK = 16 };

typedef struct Sizes {
    size_t patches[64];
    size_t n;
} Sizes;

static bool add_size(void *ctx, const Checkpoint *c) {
    Sizes *sizes = ctx;
    assert_true(sizes->n < sizeof sizes->patches / sizeof sizes->patches[0]);
    sizes->patches[sizes->n++] = c->patch_len;
    return true;
}

static Sizes sizes_of(const char *thread) {
    RunRow row = {0};
    Sizes sizes = {.n = 0};
    assert_true(store_find(host.store, thread, &row, &host.err));
    assert_true(store_history(host.store, row.run, 2, add_size, NULL, &sizes, &host.err));
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

static Sizes sizes_with(const char *yaml, const char *thread, size_t records) {
    char *input = much(records);
    Run *run = host_start(yaml, thread, input);
    mem_free(input);
    host_go();
    expect_run(run, "completed", NULL);
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

static void expect_sizes(const Sizes *little, const Sizes *lots) {
    assert_int_equal(little->n, lots->n);
    assert_true(little->n > 0);
    for (size_t i = 0; i < little->n; i++) {
        if (lots->patches[i] > little->patches[i] + SLACK) {
            fail_msg("checkpoint %zu takes %zu bytes, and %zu where there is more in the state",
                     i + 2, little->patches[i], lots->patches[i]);
        }
    }
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

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_end_of_a_sub_workflow_takes_what_it_changed),
        TEST(so_does_that_of_one_in_another),
        TEST(so_does_one_that_fails),
        TEST(so_do_the_turns_of_a_loop_and_its_end),
        TEST(so_do_elements_of_a_map),
        TEST(so_do_branches_and_their_join),
        TEST(so_does_a_list_of_tasks_that_ends),
        TEST(so_does_any_other_container),
    };
    return RUN_TESTS(tests);
}
