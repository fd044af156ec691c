/* Turns: work that takes long gives the loop back, and goes on where it was. */
#include "engine_host.h"

#include "hooks.h"
#include "json_print.h"

#include <dirent.h>

#define LONG_JQ  "jq: '{a: (reduce range(1000000) as $i (0; . + 1))}'"
#define LONG_LUA "lua: 'local n = 0 for i = 1, 10000000 do n = n + 1 end return {a = n}'"

/* Turns of the loop until the run has settled. */
static int turns_of(Run *run) {
    int turns = 0;
    for (; !run_settled(run); turns++) uv_run(&host.loop, UV_RUN_NOWAIT);
    return turns;
}

static bool is_working(Run *run) {
    Json frames = run_frames(run, 1);
    bool works = json_string_is(json_object_get_c(json_array_get(frames, 0), "status"), "working");
    json_unref(frames);
    return works;
}

/* The host keeps the events of one run at a time. */
static Run *start_quietly(const char *yaml, const char *thread) {
    Run *run = host_start(yaml, thread, NULL);
    run_listen(run, 0, false);
    return run;
}

/* Starts it, and turns the loop until a node is in the midst of it. */
static Run *start_long(const char *yaml, const char *thread) {
    Run *run = start_quietly(yaml, thread);
    while (!is_working(run)) {
        assert_false(run_settled(run));
        uv_run(&host.loop, UV_RUN_NOWAIT);
    }
    return run;
}

static const char *const long_nodes[] = {"nodes: [{name: long, " LONG_JQ "}]\n",
                                         "nodes: [{name: long, " LONG_LUA "}]\n"};
static const char *const long_results[] = {"{\"a\": 1000000}", "{\"a\": 10000000}"};

static void a_node_that_computes_leaves_the_loop_to_others(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char name[2][24];
        snprintf(name[0], sizeof name[0], "a%zu", i);
        snprintf(name[1], sizeof name[1], "b%zu", i);
        Run *slow = start_long(long_nodes[i], name[0]);
        Run *quick =
            start_quietly("nodes: [{name: a, jq: '{n: 1}'}, {name: b, shell: 'true'}]\n", name[1]);
        int turns = turns_of(slow);
        assert_true(turns > 2);
        host_settle(quick);
        expect_run(slow, "completed", long_results[i]);
    }
}

/* Each is in the midst of its own: machines and interpreters are not shared. */
static void branches_and_runs_that_compute_do_not_meet(void **state) {
    (void)state;
    static const char branches[] =
        "state: {out: {default: [], reduce: append}}\n"
        "nodes:\n"
        "  - name: all\n"
        "    map: {over: '[1, 2, 3]', as: x}\n"
        "    do: {jq: '[$x, reduce range(300000) as $i (0; . + $x)]'}\n"
        "    output: out\n"
        "  - name: more\n"
        "    map: {over: '[1, 2, 3]', as: x}\n"
        "    do: {lua: 'local n = 0 for i = 1, 2000000 do n = n + x end return {x, n}'}\n"
        "    output: out\n";
    Run *runs[3];
    for (int i = 0; i < 3; i++) {
        char name[24];
        snprintf(name, sizeof name, "r%d", i);
        runs[i] = start_quietly(branches, name);
    }
    for (int i = 0; i < 3; i++) {
        for (; !run_settled(runs[i]);) uv_run(&host.loop, UV_RUN_NOWAIT);
        expect_run(runs[i], "completed",
                   "{\"out\": [[1,300000],[2,600000],[3,900000],"
                   "[1,2000000],[2,4000000],[3,6000000]]}");
    }
}

/* Expressions that are no node's work. */
static void what_decides_where_it_goes_is_sliced_too(void **state) {
    (void)state;
    static const char *const texts[] = {
        "state: {n: 0}\nnodes:\n  - {name: a, jq: '{n: (.n + 1)}'}\n  - {name: b, jq: '{b: true}'}\n"
        "edges:\n  - {from: __start__, to: a}\n"
        "  - {from: a, to: __end__, when: 'last(range(1000000)) < 0'}\n"
        "  - {from: a, to: a, when: 'last(range(1000000)) > 0 and .n < 2'}\n"
        "  - {from: a, to: b}\n  - {from: b, to: __end__}\n",
        "state: {n: 0}\nnodes:\n"
        "  - {name: w, while: 'last(range(1000000)) > 0 and .n < 2', do: [{name: in, jq: '{n: (.n + 1)}'}]}\n"
        "  - {name: b, jq: '{b: true}'}\n",
        "state: {n: 0}\nnodes:\n"
        "  - {name: m, map: {over: '[last(range(1000000)), 2] | map(2)', as: x}, do: {jq: $x}, output: all}\n"
        "  - {name: b, jq: '{n: .all[0], b: true, all: null} | del(.all)'}\n"
        "  - {name: c, jq: '{all: 0}'}\n",
        "state: {n: 0}\nnodes:\n"
        "  - {name: s, workflow: sub.yaml, input: '{n: (last(range(1000000)) | 1)}'}\n"
        "  - {name: b, jq: '{b: true}'}\n",
    };
    static const char *const ends[] = {
        "{\"n\": 2, \"b\": true}",
        "{\"n\": 2, \"b\": true}",
        "{\"n\": 2, \"all\": 0, \"b\": true}",
        "{\"n\": 2, \"b\": true}",
    };
    host_file("sub.yaml", "nodes: [{name: in, jq: '{n: (.n + 1)}'}]\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char name[24];
        snprintf(name, sizeof name, "t%zu", i);
        Run *run = start_long(texts[i], name);
        assert_true(turns_of(run) > 0);
        expect_run(run, "completed", ends[i]);
    }
    Run *asks = start_long("nodes: [{name: q, approval: '\\(last(range(1000000)))?'}]\n", "q");
    turns_of(asks);
    expect_run(asks, "interrupted", NULL);
}

static void what_is_in_the_midst_of_its_work_can_be_ended(void **state) {
    (void)state;
    static const char *const forever[] = {
        "nodes: [{name: a, jq: 'last(range(1000000000)) | {}'}]\n",
        "nodes: [{name: a, lua: 'while true do end'}]\n",
        "nodes: [{name: a, jq: '{}'}, {name: b, jq: '{}'}]\n"
        "edges: [{from: a, to: b, when: 'last(range(1000000000)) | true'}]\n",
        "nodes: [{name: a, while: 'last(range(1000000000)) | true', do: [{name: b, jq: '{}'}]}]\n",
    };
    for (size_t i = 0; i < 2 * sizeof forever / sizeof *forever; i++) {
        char name[24];
        snprintf(name, sizeof name, "t%zu", i);
        Run *run = start_long(forever[i / 2], name);
        (i % 2 ? run_cancel : run_stop)(run);
        host_settle(run);
        expect_run(run, i % 2 ? "cancelled" : "stopped", NULL);
    }
    start_long(forever[0], "left"); /* the engine ends meanwhile */
    host_fresh();
    Run *run = start_long(forever[1], "left too");
    assert_false(run_settled(run));
}

static void a_node_that_was_in_the_midst_is_done_again_by_the_next_process(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        host_fresh();
        char name[24];
        snprintf(name, sizeof name, "t%zu", i);
        start_long(long_nodes[i], name);
        host_fresh();
        expect_run(host_resume(&(RunResume){.thread = name}), "completed", long_results[i]);
    }
    expect_sound_store();
}

/* ---- queries of tests ---- */

static void q2_a_query_leaves_the_loop_to_others(void **state) {
    (void)state;
    static const char *const texts[] = {
        "tasks: [{name: sleep, if: '| last(range(1000000)) > 0', config: {duration: 0}}, "
        "{name: sleep, id: a, config: {duration: 0}}]\n",
        "configVars: {a: '| last(range(1000000))', b: a + 1}\n"
        "tasks: [{name: sleep, if: b == 1000000, id: a, config: {duration: 0}}]\n",
        "tasks: [{name: sleep, configVars: {duration: '| last(range(1000000)) | 0'}}, "
        "{name: sleep, id: a, config: {duration: 0}}]\n",
        "tasks: [{name: run_command, config: {command: ['false']}, id: a, "
        "configVars: {command: '| last(range(1000000)) | [\"true\"]'}}]\n",
        "tasks:\n- {name: run_external_tasks, config: {testFile: other.yaml, testConfigVars: {n: '| "
        "last(range(1000000))', m: '| 1'}}}\n- {name: sleep, id: a, config: {duration: 0}}\n",
        "tasks:\n- name: run_external_tasks\n  config: {testConfigVars: {n: '| last(range(1000000))', m: '| 1'}}\n"
        "  configVars: {testFile: '| \"other.yaml\"'}\n- {name: sleep, id: a, config: {duration: 0}}\n",
        "tasks: [{name: run_shell, id: a, config: {command: '[ $V = 1 ]', "
        "envVars: {V: '| last(range(1000000)) | 1'}}}]\n",
    };
    host_file("other.yaml", "config: {n: 0}\ntasks: [{name: run_shell, config: {command: '[ $V = "
                            "999999 ]', envVars: {V: n}}}]\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char name[24];
        snprintf(name, sizeof name, "t%zu", i);
        Run *run = start_long(texts[i], name);
        assert_true(turns_of(run) > 2);
        expect_run(run, "completed", NULL);
        Json a = json_object_get_c(json_object_get_c(run_state(run), "tasks"), "a");
        expect_json(json_object_get_c(a, "result"), "1");
    }
}

static void q2_a_query_can_be_ended_in_its_midst(void **state) {
    (void)state;
    static const char *const forever[] = {
        "tasks: [{name: sleep, if: '| last(range(1e15)) > 0', config: {duration: 0}}]\n",
        "tasks: [{name: sleep, configVars: {duration: '| last(range(1e15)) | 0'}}]\n",
        "configVars: {a: '| last(range(1e15))'}\ntasks: [{name: sleep, config: {duration: 0}}]\n",
    };
    for (size_t i = 0; i < 2 * sizeof forever / sizeof *forever; i++) {
        char name[24];
        snprintf(name, sizeof name, "t%zu", i);
        Run *run = start_long(forever[i / 2], name);
        (i % 2 ? run_cancel : run_stop)(run);
        host_settle(run);
        expect_run(run, i % 2 ? "cancelled" : "stopped", NULL);
    }
}

/* It has failed then, as any query may. */
static void q2_a_query_that_takes_too_long_fails(void **state) {
    (void)state;
    host.query_ms = 30;
    host_fresh();
    Run *run = host_run(
        "configVars: {a: '| last(range(1e15))'}\n"
        "tasks:\n"
        "- {name: sleep, id: skipped, if: '| last(range(1e15)) > 0', config: {duration: 1h}}\n"
        "- name: run_shell\n  id: shell\n"
        "  config: {command: '[ $V = {} ]', envVars: {V: '| last(range(1e15))'}}\n"
        "- {name: sleep, if: '.a == {}', id: object, title: '${{| last(range(1e15))}}', config: "
        "{duration: 0}}\n",
        NULL);
    expect_run(run, "completed", NULL);
    Json tasks = json_object_get_c(run_state(run), "tasks");
    assert_true(json_is_none(json_object_get_c(json_object_get_c(tasks, "skipped"), "result")));
    expect_json(json_object_get_c(json_object_get_c(tasks, "shell"), "result"), "1");
    expect_json(json_object_get_c(json_object_get_c(tasks, "object"), "result"), "1");
    assert_int_equal(count_of(host.log.data, "warning"), 1);
    run = start_quietly("tasks: [{name: sleep, configVars: {duration: '| last(range(1e15))'}}]\n",
                        "other");
    host_settle(run);
    expect_failed(run, "config", "`duration` in configVars: The query took longer than 0.03 s.");
    host.query_ms = 0;
}

/* ---- large texts ---- */

/* Files that the texts of large values are written to, open in this process. */
static int texts_open(void) {
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[300], target[100] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        n += readlink(path, target, sizeof target - 1) > 0 && strstr(target, "memfd:pawl-text");
    }
    closedir(dir);
    return n;
}

/* About 12 MB, which `value` makes of it, for a command that keeps what it reads. */
static Run *start_large(const char *thread, const char *value, const char *more) {
    Buf text = BUF_INIT;
    buf_printf(
        &text,
        "nodes:\n"
        "  - {name: a, jq: '{rows: [range(150000) | {id: ., name: \"of some length \\\\(.)\", "
        "tags: [\"one\", \"two\"]}]}'}\n"
        "  - {name: b, jq: '{text: (%s)}'}\n"
        "  - {name: c, shell: 'echo x >> begun; cat > got', stdin: .text%s}\n",
        value, more);
    Run *run = start_quietly(text.data, thread);
    buf_clear(&text);
    return run;
}

/* Starts it, and turns the loop until its text is being written. */
static Run *start_writing(const char *thread, const char *value, const char *more) {
    Run *run = start_large(thread, value, more);
    while (!texts_open()) {
        assert_false(run_settled(run));
        uv_run(&host.loop, UV_RUN_NOWAIT);
    }
    assert_false(file_exists("begun"));
    return run;
}

static void expect_got(Run *run) {
    Json text = json_object_get_c(run_state(run), "text");
    Buf wanted = BUF_INIT, got = BUF_INIT;
    if (json_kind(text) == JSON_STRING) {
        buf_add(&wanted, json_string_data(&text), json_string_len(text));
    } else {
        json_print(text, NULL, &wanted);
    }
    assert_true(wanted.len > 8 << 20);
    FILE *in = fopen("got", "r");
    assert_non_null(in);
    buf_reserve(&got, wanted.len + 1);
    buf_advance(&got, fread(got.data, 1, wanted.len + 1, in));
    fclose(in);
    assert_int_equal(got.len, wanted.len);
    assert_memory_equal(got.data, wanted.data, wanted.len);
    assert_int_equal(lines_of("begun"), 1);
    assert_int_equal(texts_open(), 0);
    buf_clear(&wanted);
    buf_clear(&got);
    unlink("begun");
}

static const char *const large_values[] = {".rows", ".rows | tojson", "[.rows | tojson]"};

/* The other one is under way before: a start waits for the store, however long that takes. */
static void a_large_text_arrives_whole_and_leaves_the_loop_to_others(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof large_values / sizeof *large_values; i++) {
        char name[2][24];
        snprintf(name[0], sizeof name[0], "a%zu", i);
        snprintf(name[1], sizeof name[1], "b%zu", i);
        Run *other = start_quietly("config: {recursion_limit: 1000000}\n"
                                   "nodes: [{name: a, jq: '{n: last(range(2000))}', goto: a}]\n",
                                   name[1]);
        Run *large = start_writing(name[0], large_values[i], "");
        int64_t before = run_step(other);
        while (texts_open()) {
            assert_false(file_exists("begun"));
            uv_run(&host.loop, UV_RUN_NOWAIT);
        }
        assert_true(run_step(other) >= before + 2);
        run_cancel(other);
        host_settle(large);
        host_settle(other);
        expect_run(large, "completed", NULL);
        expect_got(large);
    }
}

/* The command begins anew in every turn until all that it is given is there. */
static void a_large_text_is_written_once_whatever_else_takes_long(void **state) {
    (void)state;
    Run *run = start_writing("t", ".rows", ", env: {A: 'last(range(1000000))'}");
    while (!run_settled(run)) {
        assert_in_range(texts_open(), 0, 2); /* one, and the descriptor of the command */
        uv_run(&host.loop, UV_RUN_ONCE);
    }
    expect_run(run, "completed", NULL);
    expect_got(run);
}

static void what_writes_a_large_text_can_be_ended(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        char name[24];
        snprintf(name, sizeof name, "t%d", i);
        Run *run = start_writing(name, ".rows", "");
        (i % 2 ? run_cancel : run_stop)(run);
        host_settle(run);
        expect_run(run, i % 2 ? "cancelled" : "stopped", NULL);
        assert_int_equal(texts_open(), 0);
    }
    Run *late = start_large("late", ".rows", ", timeout: 1ms");
    turns_of(late);
    expect_failed(late, "limit", "stdin: Writing it took longer than its node may");
    assert_int_equal(texts_open(), 0);
    start_writing("left", ".rows", ""); /* the engine ends meanwhile */
    host_fresh();
    assert_int_equal(texts_open(), 0);
    assert_false(file_exists("begun"));
}

static void a_large_text_is_written_again_by_the_next_process(void **state) {
    (void)state;
    start_writing("t", ".rows", "");
    host_fresh();
    Run *run = host_resume(&(RunResume){.thread = "t"});
    expect_run(run, "completed", NULL);
    expect_got(run);
    expect_sound_store();
}

/* ---- a debugger ---- */

static HookVerdict at(void *ctx, const HookPlace *place, Json *info) {
    (void)ctx;
    (void)place;
    *info = json_none();
    return HOOK_GO;
}

static const RunHooks hooks = {.at = at};

static void a_debugger_stops_it_in_the_midst_and_lets_it_go_on(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char name[24];
        snprintf(name, sizeof name, "t%zu", i);
        Run *run = start_quietly(long_nodes[i], name);
        run_set_hooks(run, &hooks, NULL);
        run_hold(run, true);
        while (!is_working(run)) uv_run(&host.loop, UV_RUN_NOWAIT);
        Frame *f = run_frame(run, 1);
        assert_int_equal(frame_park(f, json_object()), PARKED_NOW);
        assert_int_equal(frame_position(f), HOOK_DURING);
        host_turn(30);
        assert_true(frame_is_parked(f));
        LetGo go = {.how = LET_GO, .output = json_none(), .info = json_none()};
        assert_true(frame_let_go(f, &go, NULL));
        run_hold(run, false);
        turns_of(run);
        expect_run(run, "completed", long_results[i]);
    }
}

/* It was stopped when its process died. */
static void a_pause_in_the_midst_outlives_the_process(void **state) {
    (void)state;
    Run *run = host_start(long_nodes[0], "t", NULL);
    run_set_hooks(run, &hooks, NULL);
    run_hold(run, true);
    while (!is_working(run)) uv_run(&host.loop, UV_RUN_NOWAIT);
    assert_int_equal(frame_park(run_frame(run, 1), json_object()), PARKED_NOW);
    assert_true(engine_wait_durable(host.engine));
    host_fresh();
    run = engine_open_now(host.engine, "t", json_object(), &host.err);
    assert_non_null(run);
    Frame *f = run_frame(run, 1);
    assert_true(frame_is_parked(f));
    LetGo go = {.how = LET_GO, .output = json_none(), .info = json_none()};
    assert_true(frame_let_go(f, &go, NULL));
    run_hold(run, false);
    turns_of(run);
    expect_run(run, "completed", long_results[0]);
}

/* Its expressions were under way. */
static void a_command_that_begins_can_be_stopped_and_begins_on(void **state) {
    (void)state;
    Run *run = start_quietly(
        "nodes: [{name: a, shell: 'echo $A', env: {A: 'last(range(3000000))'}}]\n", "t");
    run_set_hooks(run, &hooks, NULL);
    run_hold(run, true);
    while (!is_working(run)) uv_run(&host.loop, UV_RUN_NOWAIT);
    assert_int_equal(frame_park(run_frame(run, 1), json_object()), PARKED_NOW);
    host_turn(30);
    LetGo go = {.how = LET_GO, .output = json_none(), .info = json_none()};
    assert_true(frame_let_go(run_frame(run, 1), &go, NULL));
    run_hold(run, false);
    host_settle(run);
    expect_run(run, "completed", "{\"stdout\": \"2999999\", \"exit_code\": 0}");
}

static void a_large_text_is_written_on_after_a_pause(void **state) {
    (void)state;
    Run *run = start_large("t", ".rows", ", timeout: 30s");
    run_set_hooks(run, &hooks, NULL);
    run_hold(run, true);
    while (!texts_open()) uv_run(&host.loop, UV_RUN_NOWAIT);
    assert_int_equal(frame_park(run_frame(run, 1), json_object()), PARKED_NOW);
    host_turn(30);
    assert_false(file_exists("begun"));
    assert_true(frame_is_parked(run_frame(run, 1)));
    LetGo go = {.how = LET_GO, .output = json_none(), .info = json_none()};
    assert_true(frame_let_go(run_frame(run, 1), &go, NULL));
    run_hold(run, false);
    host_settle(run);
    expect_run(run, "completed", NULL);
    expect_got(run);
}

/* While it stands still, so does its time. */
static void a_timeout_stands_still_while_it_is_stopped(void **state) {
    (void)state;
    Run *run = host_start("nodes: [{name: a, jq: 'last(range(1e12) | tostring | length)', "
                          "timeout: 150ms}]\n",
                          "t", NULL);
    run_set_hooks(run, &hooks, NULL);
    run_hold(run, true);
    while (!is_working(run) && !run_settled(run)) uv_run(&host.loop, UV_RUN_NOWAIT);
    if (!run_settled(run)) { /* else the machine had other things to do for that long */
        assert_int_equal(frame_park(run_frame(run, 1), json_object()), PARKED_NOW);
        host_turn(300);
        LetGo go = {.how = LET_GO, .output = json_none(), .info = json_none()};
        assert_true(frame_let_go(run_frame(run, 1), &go, NULL));
        assert_true(is_working(run));
    }
    run_hold(run, false);
    turns_of(run);
    expect_failed(run, "timeout", "It took longer than its timeout of 0.15 s");
}

/* ---- the clock ---- */

static void time_goes_on_within_a_turn(void **state) {
    (void)state;
    Run *run =
        host_run("nodes:\n  - {name: a, jq: 'reduce range(300000) as $i (0; . + 1) | {t: now}'}\n"
                 "  - {name: b, sleep: 50ms}\n  - {name: c, jq: '{u: now}'}\n",
                 NULL);
    expect_run(run, "completed", NULL);
    double began = json_to_double(json_object_get_c(run_state(run), "t"));
    assert_true(json_to_double(json_object_get_c(run_state(run), "u")) - began >= 0.048);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_ALL(a_node_that_computes_leaves_the_loop_to_others),
        TEST(branches_and_runs_that_compute_do_not_meet),
        TEST_ALL(what_decides_where_it_goes_is_sliced_too),
        TEST_LASTING(what_is_in_the_midst_of_its_work_can_be_ended),
        TEST_LASTING(a_node_that_was_in_the_midst_is_done_again_by_the_next_process),
        TEST_ALL(q2_a_query_leaves_the_loop_to_others),
        TEST(q2_a_query_can_be_ended_in_its_midst),
        TEST(q2_a_query_that_takes_too_long_fails),
        TEST_ALL(a_large_text_arrives_whole_and_leaves_the_loop_to_others),
        TEST(a_large_text_is_written_once_whatever_else_takes_long),
        TEST_LASTING(what_writes_a_large_text_can_be_ended),
        TEST_LASTING(a_large_text_is_written_again_by_the_next_process),
        TEST(a_command_that_begins_can_be_stopped_and_begins_on),
        TEST(a_large_text_is_written_on_after_a_pause),
        TEST(a_debugger_stops_it_in_the_midst_and_lets_it_go_on),
        TEST_LASTING(a_pause_in_the_midst_outlives_the_process),
        TEST(a_timeout_stands_still_while_it_is_stopped),
        TEST(time_goes_on_within_a_turn),
    };
    return RUN_TESTS(tests);
}
