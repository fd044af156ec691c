/* Checkpoints as a tree: forks from each of them, changes by hand, copies of threads; and random
 * graphs, resumed from every checkpoint on their way. */
#include "engine_host.h"
#include "export.h"
#include "json_diff.h"
#include "sweep.h"

static int64_t head_of(const char *thread) {
    RunRow row = {0};
    assert_true(store_find(host.store, thread, &row, &host.err));
    int64_t head = row.head;
    run_row_clear(&row);
    return head;
}

/* ---- forks ---- */

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

static void run_branched(void) {
    host_file("sub.yaml", "nodes:\n  - {name: p, jq: '{p: 1}'}\n  - {name: q, shell: 'echo 2',"
                          " output: q}\n  - {name: r, jq: '{r: (.p + 1)}'}\n");
    expect_run(host_run(BRANCHED, NULL), "completed",
               "{\"log\": [\"s\", \"a2\", \"c\", \"j\"], \"a\": {\"stdout\": \"1\","
               "\"exit_code\": 0}, \"b\": {\"p\": 1, \"q\": {\"stdout\": \"2\", \"exit_code\": 0},"
               "\"r\": 2}, \"m\": [2, 4, 6]}");
}

static void a_fork_from_any_checkpoint_is_a_run_of_its_own_line(void **state) {
    (void)state;
    run_branched();
    host_fresh();
    int64_t head = head_of("t");
    char *before = host_history("t"), *want = host_state_at("t", 0);
    for (int64_t seq = 1; seq < head; seq++) {
        host_fresh();
        Run *run = host_resume(&(RunResume){.thread = "t", .seq = seq});
        expect_run(run, "completed", want);
        host_fresh();
        char *after = host_history("t");
        assert_memory_equal(after, before, strlen(before));
        char line[64];
        snprintf(line, sizeof line, "\n%lld<%lld ", (long long)(count_of(before, "\n") + 1),
                 (long long)seq);
        expect_contains(after, line);
        mem_free(before);
        before = after;
        free(want);
        want = host_state_at("t", head);
    }
    mem_free(before);
    free(want);
    expect_sound_store();
}

static void a_fork_leaves_the_old_line_readable(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{x: 1}'}, {name: b, jq: '{y: (.x + 1)}'}]\n", NULL);
    host_fresh();
    Json set = parse("[[[\"x\"], 5]]");
    Run *run = host_resume(&(RunResume){.thread = "t", .seq = 2, .set = set});
    json_unref(set);
    expect_run(run, "completed", "{\"x\": 5, \"y\": 6}");
    char *old = host_state_at("t", 3);
    assert_string_equal(old, "{\"x\":1,\"y\":2}");
    free(old);
}

static void a_fork_runs_its_command_again(void **state) {
    (void)state;
    host_run("nodes: [{name: a, shell: 'echo x >> a; wc -l < a', output: a}]\n", NULL);
    host_fresh();
    Run *run = host_resume(&(RunResume){.thread = "t", .seq = 1});
    expect_run(run, "completed", "{\"a\": {\"stdout\": \"2\", \"exit_code\": 0}}");
}

static void the_last_checkpoint_of_a_completed_run_leads_nowhere(void **state) {
    (void)state;
    Run *run = host_run("nodes: [{name: a, jq: '{}'}]\n", NULL);
    int64_t last = run_checkpoint(run);
    host_fresh();
    expect_contains(host_refused(&(RunResume){.thread = "t", .seq = last}), "has completed");
}

static void steps_are_counted_along_the_line(void **state) {
    (void)state;
    Run *run =
        host_run("nodes: [{name: a, jq: '{}'}, {name: b, jq: '{}'}, {name: c, jq: '{}'}]\n", NULL);
    assert_int_equal(run_step(run), 3);
    host_fresh();
    run = host_resume(&(RunResume){.thread = "t", .seq = 2});
    assert_int_equal(run_step(run), 3);
}

/* ---- a thread from another ---- */

static void a_forked_thread_begins_where_the_other_was(void **state) {
    (void)state;
    run_branched();
    host_fresh();
    int64_t head = head_of("t");
    for (int64_t seq = 1; seq < head; seq++) {
        char thread[16];
        RunRow row = {0};
        snprintf(thread, sizeof thread, "f%d", (int)seq);
        char *before = host_state_at("t", seq);
        assert_true(engine_fork_now(host.engine, "t", seq, thread, &row, &host.err));
        assert_string_equal(row.thread, thread);
        run_row_clear(&row);
        char *after = host_state_at(thread, 0);
        assert_string_equal(before, after);
        free(before);
        free(after);
        host_fresh();
        Run *run = host_resume(&(RunResume){.thread = thread});
        char *want = host_state_at("t", 0);
        expect_run(run, "completed", want);
        free(want);
        host_fresh();
    }
    assert_int_equal(head_of("t"), head);
    expect_sound_store();
}

static void a_forked_thread_says_where_it_stands(void **state) {
    (void)state;
    RunRow row = {0};
    host_run("nodes: [{name: a, jq: '{}'}, {name: q, approval: {prompt: p}}]\n", NULL);
    host_fresh();
    assert_true(engine_fork_now(host.engine, "t", 0, "u", &row, &host.err));
    run_row_clear(&row);
    expect_row("u", "interrupted");
    assert_true(engine_fork_now(host.engine, "t", 1, "v", &row, &host.err));
    run_row_clear(&row);
    expect_row("v", "stopped");
    assert_false(engine_fork_now(host.engine, "t", 0, "u", &row, &host.err));
    assert_false(engine_fork_now(host.engine, "t", 77, "w", &row, &host.err));
    assert_false(engine_fork_now(host.engine, "nope", 0, "w", &row, &host.err));
    expect_row("t", "interrupted");
}

/* ---- changes by hand ---- */

static int64_t update(const RunUpdate *u, const char *set) {
    int64_t seq = 0;
    RunUpdate with = *u;
    with.thread = "t";
    with.set = parse(set);
    host_fresh();
    bool ok = engine_update_now(host.engine, &with, &seq, &host.err);
    json_unref(with.set);
    if (!ok) fail_msg("%s", host.err.msg);
    return seq;
}

static void an_update_changes_the_state_and_runs_nothing(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{y: .x}', interrupt: before}]\n", "{\"x\": 1}");
    int64_t seq = update(&(RunUpdate){0}, "[[[\"x\"], 2]]");
    assert_int_equal(seq, 3);
    expect_row("t", "interrupted");
    char *now = host_state_at("t", 0), *then = host_state_at("t", 2);
    assert_string_equal(now, "{\"x\":2}");
    assert_string_equal(then, "{\"x\":1}");
    free(now);
    free(then);
    expect_run(host_go_on(), "completed", "{\"x\": 2, \"y\": 2}");
    expect_sound_store();
}

static void an_update_as_a_node_stands_after_it(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: a, shell: 'echo x >> a; exit 1'}\n"
             "  - {name: b, jq: '{z: (.y + 1)}'}\n",
             NULL);
    update(&(RunUpdate){.as_node = "a"}, "[[[\"y\"], 1]]");
    expect_row("t", "stopped");
    expect_run(host_go_on(), "completed", "{\"y\": 1, \"z\": 2}");
    assert_int_equal(lines_of("a"), 1);
}

static void an_update_as_a_node_moves_a_completed_run_back(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: a, jq: '{x: 1}'}\n  - {name: b, jq: '{y: (.x + 1)}'}\n", NULL);
    update(&(RunUpdate){.as_node = "a"}, "[[[\"x\"], 10]]");
    expect_run(host_go_on(), "completed", "{\"x\": 10, \"y\": 11}");
}

static void an_update_as_a_node_inside_a_sub_workflow_sets_what_it_says(void **state) {
    (void)state;
    host_file("sub.yaml", "nodes: [{name: q, approval: {prompt: p}}]\n");
    host_run("nodes: [{name: w, workflow: sub.yaml}, {name: b, jq: '{y: .x}'}]\n", "{\"x\": 1}");
    update(&(RunUpdate){.as_node = "w"}, "[[[\"x\"], 2]]");
    expect_run(host_go_on(), "completed", "{\"x\": 2, \"y\": 2}");
}

static void an_update_as_a_node_ends_the_branches(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: s, jq: '{}'}\n  - {name: a, approval: {prompt: a}, output: a}\n"
             "  - {name: b, approval: {prompt: b}, output: b}\n  - {name: j, jq: '{j: .x}'}\n"
             "edges:\n  - {from: __start__, to: s}\n  - {from: s, to: [a, b], fan_in: j}\n"
             "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n",
             NULL);
    update(&(RunUpdate){.as_node = "a"}, "[[[\"x\"], 7]]");
    expect_run(host_go_on(), "completed", "{\"x\": 7, \"j\": 7}");
}

static void an_update_of_an_earlier_checkpoint_forks(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: a, jq: '{x: 1}'}\n  - {name: b, jq: '{y: (.x + 1)}'}\n", NULL);
    assert_int_equal(update(&(RunUpdate){.seq = 2}, "[[[\"x\"], 10]]"), 4);
    expect_row("t", "stopped");
    expect_run(host_go_on(), "completed", "{\"x\": 10, \"y\": 11}");
    char *old = host_state_at("t", 3);
    assert_string_equal(old, "{\"x\":1,\"y\":2}");
    free(old);
}

static void an_update_of_a_checkpoint_before_a_command_runs_the_command(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: a, shell: 'echo x >> a; echo $V', env: {V: .v}, output: a}\n"
             "  - {name: b, jq: '{b: .a.stdout}'}\n",
             "{\"v\": \"old\"}");
    update(&(RunUpdate){.seq = 1}, "[[[\"v\"], \"new\"]]");
    Run *run = host_go_on();
    expect_run(run, "completed", NULL);
    expect_json(json_object_get_c(run_state(run), "b"), "\"new\"");
    assert_int_equal(lines_of("a"), 2);
}

static void updates_that_do_not_fit_are_refused(void **state) {
    (void)state;
    int64_t seq;
    host_run("nodes: [{name: alpha, jq: '{}', interrupt: before}]\n", "{\"x\": 1}");
    host_fresh();
    assert_false(engine_update_now(host.engine, &(RunUpdate){.thread = "t", .as_node = "alpa"},
                                   &seq, &host.err));
    expect_contains(host.err.msg, "did you mean `alpha`?");
    assert_null(strstr(host.err.msg, "?."));
    Json bad = parse("[[[\"x\", 0], 1]]");
    assert_false(
        engine_update_now(host.engine, &(RunUpdate){.thread = "t", .set = bad}, &seq, &host.err));
    json_unref(bad);
    assert_false(
        engine_update_now(host.engine, &(RunUpdate){.thread = "t", .seq = 40}, &seq, &host.err));
    assert_int_equal(head_of("t"), 2);
    expect_run(host_go_on(), "completed", NULL);
}

/* ---- random graphs ---- */

typedef struct Random {
    uint64_t seed;
    int names, files;
    bool heavy;       /* a large value goes through all of it */
    Buf nodes, edges; /* of the file being written */
} Random;

static int pick(Random *r, int n) {
    r->seed = r->seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((r->seed >> 33) % (uint64_t)n);
}

typedef struct Part {
    int first, last; /* numbers of nodes */
} Part;

static Part make_chain(Random *r, int parts, int depth);

static void add_edge(Random *r, int from, int to) {
    buf_printf(&r->edges, "  - {from: n%d, to: n%d}\n", from, to);
}

/* What a node may do with the large value. */
static const char *make_move(Random *r) {
    static const char *const moves[] = {
        "",
        ", doc: (.doc | .x += 1)",
        ", doc: (.doc | .records[3:5] = [.x])",
        ", doc: (.doc | .records |= reverse)",
        ", doc: {records: .doc.records, y: .doc.y, x: .sum}",
        ", doc: {y: .doc.records, records: .doc.y, x: .sum}",
        ", doc: {records: [range(40) | {id: ., text: \"others, that are new\"}], x: 1}",
        ", other: .doc",
        ", other: {in: .doc.records, x: .other.x}",
        ", doc: .other, other: .doc",
    };
    return r->heavy ? moves[pick(r, sizeof moves / sizeof *moves)] : "";
}

/* Reads the state and writes to each reducer, and to a key of its own. */
static Part make_step(Random *r, int depth) {
    int n = r->names++;
    (void)depth;
    buf_printf(&r->nodes,
               "  - {name: n%d, jq: '{log: \"n%d\", sum: (.sum %% 7 + %d), set: [.sum %% 3],"
               " obj: {n%d: (.log | length)}, ex: %d, k%d: (.ex + 1)",
               n, n, pick(r, 10), n, pick(r, 5), n);
    buf_printf(&r->nodes, "%s}'}\n", make_move(r));
    return (Part){n, n};
}

static Part make_fork(Random *r, int depth) {
    Part split = make_step(r, depth), join = make_step(r, depth), branches[3];
    int n = 2 + pick(r, 2);
    for (int i = 0; i < n; i++) branches[i] = make_chain(r, 1 + pick(r, 2), depth + 1);
    buf_printf(&r->edges, "  - {from: n%d, fan_in: n%d, to: [", split.last, join.first);
    for (int i = 0; i < n; i++) buf_printf(&r->edges, "%sn%d", i ? ", " : "", branches[i].first);
    buf_printf(&r->edges, "%s]}\n", "");
    for (int i = 0; i < n; i++) add_edge(r, branches[i].last, join.first);
    return (Part){split.first, join.last};
}

static Part make_map(Random *r, int depth) {
    int n = r->names++;
    (void)depth;
    buf_printf(&r->nodes,
               "  - {name: n%d, map: {over: '[range(%d)]%s', as: x, limit: %d}, output: k%d,"
               " do: {jq: '[$x, $index, .sum]'}}\n",
               n, pick(r, 5), r->heavy ? " + [.doc, .doc.records]" : "", 1 + pick(r, 3), n);
    return (Part){n, n};
}

static Part make_loop(Random *r, int depth) {
    int n = r->names++;
    (void)depth;
    buf_printf(&r->nodes,
               "  - name: n%d\n    while: '(.c%d // 0) < %d'\n    do:\n"
               "      - {name: a, jq: '{c%d: ((.c%d // 0) + 1), log: \"l%d\", ex: .sum%s}'}\n"
               "      - {name: b, jq: '{sum: 1, set: [.c%d]}'}\n",
               n, n, pick(r, 4), n, n, n, make_move(r), n);
    return (Part){n, n};
}

static Part make_cycle(Random *r, int depth) {
    int n = r->names++;
    buf_printf(&r->nodes, "  - {name: n%d, jq: '{c%d: ((.c%d // 0) + 1)}'}\n", n, n, n);
    Part inside = make_chain(r, 1, depth + 1), end = make_step(r, depth);
    add_edge(r, n, inside.first);
    add_edge(r, inside.last, end.first);
    buf_printf(&r->edges, "  - {from: n%d, to: n%d, when: '.c%d < 2'}\n", end.first, n, n);
    return (Part){n, end.last};
}

static void write_file(Random *r, const char *name, int parts, int depth) {
    Buf nodes = r->nodes, edges = r->edges, text = BUF_INIT;
    r->nodes = r->edges = (Buf)BUF_INIT;
    Part all = make_chain(r, parts, depth);
    buf_printf(&text,
               "config: {recursion_limit: 10000}\n"
               "state: {log: {default: [], reduce: append}, sum: {default: 1, reduce: add},"
               " set: {default: [], reduce: union}, obj: {default: {}, reduce: merge},"
               " ex: {default: 1, reduce: '($old * 31 + $new) %% 1009'}%s}\n"
               "nodes:\n%sedges:\n%s  - {from: __start__, to: n%d}\n  - {from: n%d, to: __end__}\n",
               r->heavy ? ", doc: {reduce: $new}, other: {reduce: $new}" : "", r->nodes.data,
               r->edges.data ? r->edges.data : "", all.first, all.last);
    host_file(name, text.data);
    buf_clear(&text);
    buf_clear(&r->nodes);
    buf_clear(&r->edges);
    r->nodes = nodes;
    r->edges = edges;
}

static Part make_workflow(Random *r, int depth) {
    int n = r->names++;
    char name[32];
    snprintf(name, sizeof name, "r%d.yaml", ++r->files);
    buf_printf(&r->nodes, "  - {name: n%d, workflow: %s, output: k%d%s}\n", n, name, n,
               !pick(r, 2) ? ""
               : r->heavy  ? ", input: '{sum, x: .ex, doc}'"
                           : ", input: '{sum, x: .ex}'");
    write_file(r, name, 1 + pick(r, 2), depth + 1);
    return (Part){n, n};
}

static Part make_map_of_workflow(Random *r, int depth) {
    int n = r->names++;
    char name[32];
    snprintf(name, sizeof name, "r%d.yaml", ++r->files);
    buf_printf(&r->nodes,
               "  - {name: n%d, map: {over: '[range(%d)]', as: x, limit: %d}, output: k%d,"
               " do: {workflow: %s, input: '{sum: $x%s}'}}\n",
               n, 1 + pick(r, 3), 1 + pick(r, 3), n, name, r->heavy ? ", doc, other" : "");
    write_file(r, name, 1, depth + 1);
    return (Part){n, n};
}

static Part make_chain(Random *r, int parts, int depth) {
    static Part (*const makers[])(Random *, int) = {
        make_step, make_map,   make_loop,     make_step,
        make_fork, make_cycle, make_workflow, make_map_of_workflow,
    };
    Part all = {-1, -1};
    for (int i = 0; i < parts; i++) {
        Part part = makers[pick(r, depth < 3 ? 8 : 4)](r, depth);
        if (i) add_edge(r, all.last, part.first);
        all = (Part){i ? all.first : part.first, part.last};
    }
    return all;
}

enum { HEAVY_SEED = 1000 }; /* and all above it */

static Json heavy_input(void) {
    Json doc = parse("{\"x\": 0, \"records\": [], \"y\": null}"), records = json_array();
    for (int i = 0; i < 40; i++) {
        records =
            json_array_push(records, json_string_fmt("a record that is not short, no. %d", i));
    }
    doc = json_object_with(doc, "records", records);
    return json_object_with(json_object(), "doc", doc);
}

static Run *start_random(const char *thread, bool heavy) {
    FlowProblems problems = {0};
    Flow *flow = flow_load("random.yaml", NULL, &problems);
    if (!flow) fail_msg("%s", problems.items[0].msg);
    flow_problems_clear(&problems);
    RunStart start = {.thread = thread, .input = heavy ? heavy_input() : json_none()};
    Run *run = engine_start_now(host.engine, flow, &start, &host.err);
    json_unref(start.input);
    flow_unref(flow);
    host_go();
    return run;
}

static Run *run_random(uint64_t seed) {
    Random r = {.seed = seed * 7919 + 1, .heavy = seed >= HEAVY_SEED};
    write_file(&r, "random.yaml", 2 + pick(&r, 3), 0);
    Run *run = start_random("t", r.heavy);
    print_message("# seed %d: %d checkpoints\n", (int)seed, (int)run_checkpoint(run));
    expect_run(run, "completed", NULL);
    return run;
}

enum { MOST_FORKS = 150 };

static void resume_everywhere(uint64_t seed) {
    Run *run = run_random(seed);
    int64_t head = run_checkpoint(run), step = run_step(run);
    char *want = json_to_text(run_state(run));
    int64_t stride = head / MOST_FORKS + 1;
    for (int64_t seq = 1; seq < head; seq += stride) {
        host_fresh();
        run = host_resume(&(RunResume){.thread = "t", .seq = seq});
        char *got = json_to_text(run_state(run));
        if (strcmp(got, want))
            fail_msg("seed %d, checkpoint %d:\ngot  %s\nwant %s", (int)seed, (int)seq, got, want);
        free(got);
        assert_int_equal(run_step(run), step);
    }
    free(want);
    expect_sound_store();
}

static void again_in_an_empty_folder(void) {
    const char *kind = host.lasts ? strncmp(host.url, "file", 4) ? "sqlite" : "file" : "memory";
    void *state = (void *)(uintptr_t)kind;
    host_teardown(&state);
    host_setup(&state);
}

static void for_seeds(uint64_t from, int n, void (*check)(uint64_t seed)) {
    for (int i = 0; i < n; i++) {
        check(from + (uint64_t)i);
        again_in_an_empty_folder();
    }
}

static void random_graphs_end_the_same_from_every_checkpoint(void **state) {
    (void)state;
    for_seeds(1, host.lasts ? sweep_of(4, 2) : sweep_of(25, 6), resume_everywhere);
}

static void so_do_those_that_move_a_large_value_about(void **state) {
    (void)state;
    for_seeds(HEAVY_SEED, host.lasts ? 1 : sweep_of(5, 2), resume_everywhere);
}

/* Stopped in the middle of a turn's work, again and again. */
static void stop_often(Host *h, const Event *e) {
    static int steps;
    if (e->type == EVENT_STEP && ++steps % 5 == 0 && h->data == NULL) run_stop(e->run);
}

static void stop_and_go_on(uint64_t seed) {
    Run *run = run_random(seed);
    char *want = json_to_text(run_state(run));
    host_fresh();
    host.on_event = stop_often;
    run = start_random("u", seed >= HEAVY_SEED);
    for (int i = 0; i < 1000 && strcmp(run_status(run), "completed"); i++) {
        expect_run(run, "stopped", NULL);
        host_fresh();
        run = host_resume(&(RunResume){.thread = "u"});
    }
    expect_run(run, "completed", want);
    free(want);
    host.on_event = NULL;
    expect_sound_store();
}

static void random_graphs_end_the_same_when_they_are_stopped_often(void **state) {
    (void)state;
    for_seeds(1, host.lasts ? sweep_of(4, 2) : sweep_of(25, 6), stop_and_go_on);
    for_seeds(HEAVY_SEED, host.lasts ? 1 : sweep_of(5, 2), stop_and_go_on);
}

/* ---- in another store, and with less of a past ---- */

static void expect_same_images(Store *store, const RunRow *row, Store *other, const RunRow *copy) {
    for (int64_t seq = 1; seq <= row->last; seq++) {
        Json a = chain_image(store, row->run, seq, NULL, &host.err);
        Json b = chain_image(other, copy->run, seq, NULL, &host.err);
        assert_false(json_is_none(a));
        expect_gives(json_diff(a, b), "[]");
        json_unref(a);
        json_unref(b);
    }
}

static void expect_exported(const RunRow *row) {
    RunRow copy = {0};
    Json document = export_run(host.store, row->thread, &host.err);
    Store *other = store_open("memory:", STORE_CREATE, &host.err);
    if (!export_import(other, document, &copy, &host.err)) fail_msg("%s", host.err.msg);
    expect_same_images(host.store, row, other, &copy);
    json_unref(document);
    run_row_clear(&copy);
    store_close(other);
}

static void export_and_prune(uint64_t seed) {
    Run *run = run_random(seed);
    char *want = json_to_text(run_state(run));
    int64_t head = run_checkpoint(run);
    RunRow row = {0};
    PruneReport report = {0};
    host_fresh();
    assert_true(store_find(host.store, "t", &row, &host.err));
    expect_exported(&row);
    PruneRule half = {.keep_last = head / 2};
    assert_true(chain_prune(host.store, &row, &half, &report, &host.err));
    run_row_clear(&row);
    for (int64_t seq = head - half.keep_last + 1; seq < head; seq += head / 16 + 1) {
        host_fresh();
        expect_run(host_resume(&(RunResume){.thread = "t", .seq = seq}), "completed", want);
    }
    free(want);
    expect_sound_store();
}

static void random_graphs_are_the_same_once_exported_and_end_the_same_once_pruned(void **state) {
    (void)state;
    for_seeds(1, 2, export_and_prune);
    for_seeds(HEAVY_SEED, host.lasts ? 1 : sweep_of(5, 2), export_and_prune);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_ALL(a_fork_from_any_checkpoint_is_a_run_of_its_own_line),
        TEST_ALL(a_fork_leaves_the_old_line_readable),
        TEST_ALL(a_fork_runs_its_command_again),
        TEST(the_last_checkpoint_of_a_completed_run_leads_nowhere),
        TEST(steps_are_counted_along_the_line),
        TEST_ALL(a_forked_thread_begins_where_the_other_was),
        TEST_ALL(a_forked_thread_says_where_it_stands),
        TEST_ALL(an_update_changes_the_state_and_runs_nothing),
        TEST_ALL(an_update_as_a_node_stands_after_it),
        TEST(an_update_as_a_node_moves_a_completed_run_back),
        TEST(an_update_as_a_node_inside_a_sub_workflow_sets_what_it_says),
        TEST(an_update_as_a_node_ends_the_branches),
        TEST_ALL(an_update_of_an_earlier_checkpoint_forks),
        TEST_ALL(an_update_of_a_checkpoint_before_a_command_runs_the_command),
        TEST(updates_that_do_not_fit_are_refused),
        TEST_ALL(random_graphs_end_the_same_from_every_checkpoint),
        TEST_ALL(so_do_those_that_move_a_large_value_about),
        TEST_ALL(random_graphs_end_the_same_when_they_are_stopped_often),
        TEST_ALL(random_graphs_are_the_same_once_exported_and_end_the_same_once_pruned),
    };
    return RUN_TESTS(tests);
}
