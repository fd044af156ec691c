/* Going on with runs that failed, were stopped, or whose process ended in the middle; and ending
 * them. A dropped engine is what a process that died leaves behind. */
#include "engine_host.h"

#include "process.h"

#include <dirent.h>

static bool started(void) {
    return file_exists("started");
}

static bool told_node_b(void) {
    return strstr(host_log(), "node b") != NULL;
}

/* ---- refusals ---- */

static void a_completed_run_is_not_resumed(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{}'}]\n", NULL);
    host_fresh();
    expect_contains(host_refused(&(RunResume){.thread = "t"}), "Thread `t` has completed");
    expect_row("t", "completed");
}

static void a_cancelled_run_is_not_resumed(void **state) {
    (void)state;
    host_run("nodes: [{name: a, approval: {prompt: p}}]\n", NULL);
    host_fresh();
    assert_true(engine_cancel_now(host.engine, "t", &(Run *){NULL}, &host.err));
    expect_row("t", "cancelled");
    expect_contains(host_refused(&(RunResume){.thread = "t", .decision = "x"}), "was cancelled");
    assert_false(engine_cancel_now(host.engine, "t", &(Run *){NULL}, &host.err));
    expect_contains(host.err.msg, "is cancelled already");
}

static void a_cancelled_run_goes_on_from_an_earlier_checkpoint(void **state) {
    (void)state;
    host_run("nodes: [{name: a, approval: {prompt: p}, output: a}]\n", NULL);
    host_fresh();
    assert_true(engine_cancel_now(host.engine, "t", &(Run *){NULL}, &host.err));
    host_fresh();
    Run *run = host_resume(&(RunResume){.thread = "t", .seq = 2, .decision = "x"});
    expect_run(run, "completed", NULL);
    expect_row("t", "completed");
}

static void unknown_threads_and_checkpoints_are_three_errors(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{}'}]\n", NULL);
    host_fresh();
    char first[600];
    snprintf(first, sizeof first, "%s", host_refused(&(RunResume){.thread = "nope"}));
    expect_contains(first, "nope");
    expect_contains(host_refused(&(RunResume){.thread = "t", .seq = 99}), "99");
    assert_string_not_equal(first, host.err.msg);
}

static void a_thread_is_found_by_its_number(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{x: 1}', interrupt: before}]\n", NULL);
    host_fresh();
    expect_run(host_resume(&(RunResume){.thread = "1"}), "completed", "{\"x\": 1}");
}

static void a_run_that_another_has_is_not_resumed(void **state) {
    (void)state;
    Run *run = host_start("nodes: [{name: a, shell: 'touch started; exec sleep 30'}]\n", "t", NULL);
    host_until(started);
    Store *other = store_open(host.url, STORE_EXISTING, &host.err);
    assert_non_null(other);
    Engine *e = engine_new(&(EngineOptions){.loop = &host.loop, .store = other, .work = exec_work},
                           &host.err);
    assert_null(engine_resume_now(e, &(RunResume){.thread = "t"}, &host.err));
    assert_int_equal(host.err.code, ERR_BUSY);
    assert_false(engine_cancel_now(e, "t", &(Run *){NULL}, &host.err));
    assert_int_equal(host.err.code, ERR_BUSY);
    engine_free(e);
    run_cancel(run);
    host_go();
    store_close(other);
    expect_run(run, "cancelled", NULL);
}

static void a_run_that_the_engine_has_itself_is_not_resumed(void **state) {
    (void)state;
    Run *run = host_start("nodes: [{name: a, shell: 'touch started; exec sleep 30'}]\n", "t", NULL);
    host_until(started);
    int64_t seq;
    assert_false(engine_cancel_now(host.engine, "t", &(Run *){NULL}, &host.err));
    assert_int_equal(host.err.code, ERR_BUSY);
    assert_false(engine_update_now(host.engine, &(RunUpdate){.thread = "t"}, &seq, &host.err));
    assert_int_equal(host.err.code, ERR_BUSY);
    assert_null(engine_resume_now(host.engine, &(RunResume){.thread = "t"}, &host.err));
    assert_int_equal(host.err.code, ERR_BUSY);
    run_cancel(run);
    host_settle(run);
    expect_run(run, "cancelled", NULL);
}

/* ---- after a failure ---- */

static void a_failed_run_tries_the_failed_node_only(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: a, shell: 'echo x >> a'}\n"
                        "  - {name: b, shell: 'echo x >> b; [ -e fixed ]'}\n"
                        "  - {name: c, jq: '{c: 1}'}\n",
                        NULL);
    expect_failed(run, "exit", "code 1");
    expect_row("t", "failed");
    expect_failed(host_go_on(), "exit", "code 1");
    host_file("fixed", "");
    run = host_go_on();
    expect_run(run, "completed", NULL);
    assert_true(json_is_none(run_error(run)));
    expect_row("t", "completed");
    assert_int_equal(lines_of("a"), 1);
    assert_int_equal(lines_of("b"), 3);
    expect_sound_store();
}

static void values_can_be_set_before_a_failed_node_is_tried_again(void **state) {
    (void)state;
    expect_run(host_run("nodes: [{name: a, jq: '{y: (.x - 1)}'}]\n", "{\"x\": \"bad\"}"), "failed",
               NULL);
    host_fresh();
    Json set = parse("[[[\"x\"], 4]]");
    Run *run = host_resume(&(RunResume){.thread = "t", .set = set});
    json_unref(set);
    expect_run(run, "completed", "{\"x\": 4, \"y\": 3}");
}

static void a_failed_node_has_all_its_attempts_again(void **state) {
    (void)state;
    host_run("nodes: [{name: a, shell: 'echo x >> a; exit 1', retry: {attempts: 3, delay: 0}}]\n",
             NULL);
    assert_int_equal(lines_of("a"), 3);
    expect_run(host_go_on(), "failed", NULL);
    assert_int_equal(lines_of("a"), 6);
}

static void a_failed_branch_is_tried_again_and_the_others_go_on(void **state) {
    (void)state;
    Run *run = host_run(
        "nodes:\n  - {name: s, jq: '{}'}\n  - {name: a, shell: 'echo x >> a', output: a}\n"
        "  - {name: b, shell: 'echo x >> b; touch started; [ -e fixed ] || sleep 60', output: b}\n"
        "  - {name: c, shell: 'while [ ! -e started ]; do sleep 0.02; done;"
        " echo x >> c; [ -e fixed ]', output: c}\n"
        "  - {name: j, jq: '{j: [.a.exit_code, .b.exit_code, .c.exit_code]}'}\n"
        "edges:\n  - {from: __start__, to: s}\n  - {from: s, to: [a, b, c], fan_in: j}\n"
        "  - {from: [a, b, c], to: j}\n  - {from: j, to: __end__}\n",
        NULL);
    expect_failed(run, "exit", "code 1");
    host_file("fixed", "");
    run = host_go_on();
    expect_run(run, "completed", NULL);
    expect_json(json_object_get_c(run_state(run), "j"), "[0, 0, 0]");
    assert_int_equal(lines_of("a"), 1);
    assert_int_equal(lines_of("b"), 2); /* it was ended in the middle */
    assert_int_equal(lines_of("c"), 2);
    expect_sound_store();
}

static void a_failed_element_of_a_map_is_tried_again_alone(void **state) {
    (void)state;
    host_run("nodes:\n"
             "  - name: m\n"
             "    map: {over: '[1, 2, 3, 4]', as: x, limit: 1}\n"
             "    do: {shell: 'echo $X >> m; [ $X != 3 -o -e fixed ]', env: {X: $x}}\n"
             "  - {name: n, jq: '{m: (.m | length)}'}\n",
             NULL);
    assert_int_equal(lines_of("m"), 3);
    host_file("fixed", "");
    expect_run(host_go_on(), "completed", "{\"m\": 4}");
    assert_int_equal(lines_of("m"), 5);
}

static void a_failure_in_a_sub_workflow_is_tried_again_inside(void **state) {
    (void)state;
    host_file("sub.yaml", "nodes: [{name: p, shell: 'echo x >> p', output: p},"
                          " {name: q, shell: '[ -e fixed ]', output: q}]\n");
    host_run("nodes: [{name: w, workflow: sub.yaml, output: w}]\n", NULL);
    host_file("fixed", "");
    expect_run(host_go_on(), "completed", NULL);
    assert_int_equal(lines_of("p"), 1);
}

static void an_edge_that_failed_is_chosen_again_without_its_node(void **state) {
    (void)state;
    host_run("nodes: [{name: a, shell: 'echo x >> a', output: a}, {name: b, jq: '{}'}]\n"
             "edges:\n  - {from: __start__, to: a}\n  - {from: a, to: b, when: .ok}\n"
             "  - {from: b, to: __end__}\n",
             NULL);
    host_fresh();
    Json set = parse("[[[\"ok\"], true]]");
    Run *run = host_resume(&(RunResume){.thread = "t", .set = set});
    json_unref(set);
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("a"), 1);
}

#define CONFLICT(declared)                                                               \
    declared "nodes:\n  - {name: s, jq: '{}'}\n"                                         \
             "  - {name: a, shell: 'echo x >> ran; echo [1]', parse: json, output: k}\n" \
             "  - {name: b, shell: 'echo x >> ran; echo [2]', parse: json, output: k}\n" \
             "  - {name: j, jq: '{}'}\n"                                                 \
             "edges:\n  - {from: __start__, to: s}\n"                                    \
             "  - {from: s, to: [a, b], fan_in: j}\n  - {from: [a, b], to: j}\n"         \
             "  - {from: j, to: __end__}\n"

static void a_join_that_failed_is_tried_again_without_its_branches(void **state) {
    (void)state;
    expect_failed(host_run(CONFLICT("state: {k: 0}\n"), NULL), "join", "`a` and `b`");
    Flow *fixed = host_flow(CONFLICT("state: {k: {reduce: '$new'}}\n"));
    host_fresh();
    Run *run = host_resume(&(RunResume){.thread = "t", .reload = fixed});
    flow_unref(fixed);
    expect_run(run, "completed", "{\"k\": 2}");
    assert_int_equal(lines_of("ran"), 2);
}

static void a_run_whose_time_was_up_has_it_again(void **state) {
    (void)state;
    hold_clock();
    Run *run = host_start("config: {timeout: 100ms}\n"
                          "nodes: [{name: a, shell: 'echo x >> a; [ -e fixed ] || sleep 60'},"
                          " {name: b, jq: '{b: 1}'}]\n",
                          "t", NULL);
    while (!file_exists("a")) uv_run(&host.loop, UV_RUN_ONCE);
    host.held = false;
    while (!run_settled(run) && host_now(&host) < host.clock + 60000) {
        engine_wake(host.engine);
        uv_run(&host.loop, UV_RUN_NOWAIT);
        usleep(10000);
    }
    expect_run(run, "failed", NULL);
    host_file("fixed", "");
    expect_run(host_go_on(), "completed", NULL);
}

/* ---- in the middle ---- */

#define MIDDLE                                                                            \
    "nodes:\n  - {name: a, shell: 'echo x >> a', output: a}\n"                            \
    "  - {name: b, shell: 'echo x >> b; touch started; while [ ! -e go ]; do sleep 0.02;" \
    " done; echo done', output: b}\n"                                                     \
    "  - {name: c, jq: '{c: .b.stdout}'}\n"

static void a_stopped_run_starts_its_node_again(void **state) {
    (void)state;
    Run *run = host_start(MIDDLE, "t", NULL);
    host_until(started);
    run_stop(run);
    host_go();
    expect_run(run, "stopped", NULL);
    assert_int_equal(host.settled, 1);
    expect_row("t", "stopped");
    host_file("go", "");
    run = host_go_on();
    expect_run(run, "completed", NULL);
    expect_json(json_object_get_c(run_state(run), "c"), "\"done\"");
    assert_int_equal(lines_of("a"), 1);
    assert_int_equal(lines_of("b"), 2);
}

static void a_command_under_way_is_found_again_by_the_next_process(void **state) {
    (void)state;
    host_start(MIDDLE, "t", NULL);
    host_until(started);
    host_fresh();
    expect_row("t", "running");
    host_file("go", "");
    Run *run = host_resume(&(RunResume){.thread = "t"});
    expect_run(run, "completed", NULL);
    expect_json(json_object_get_c(run_state(run), "c"), "\"done\"");
    assert_int_equal(lines_of("a"), 1);
    assert_int_equal(lines_of("b"), 1);
    expect_sound_store();
}

static void a_command_that_ended_meanwhile_is_not_run_again(void **state) {
    (void)state;
    host_start(MIDDLE, "t", NULL);
    host_until(started);
    host_down();
    host_file("go", "");
    usleep(200000);
    host_up();
    Run *run = host_resume(&(RunResume){.thread = "t"});
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("b"), 1);
}

static size_t places(void) {
    const char *folder = store_folder(host.store, &host.err);
    DIR *dir = opendir(folder);
    size_t n = 0;
    for (struct dirent *d; dir && (d = readdir(dir));) n += d->d_name[0] != '.';
    if (dir) closedir(dir);
    return n;
}

static void places_of_commands_are_removed_once_their_results_are_on_record(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: a, shell: 'true', output: a}\n"
             "  - {name: m, map: {over: '[1, 2, 3, 4]', limit: 2}, do: {shell: 'true'}}\n"
             "  - {name: b, shell: 'exit 1', output: b, retry: {attempts: 3, delay: 0}}\n",
             NULL);
    assert_int_equal(places(), 0);
}

static void branches_from_the_start_are_found_again(void **state) {
    (void)state;
    host_start("nodes:\n  - {name: a, shell: 'echo x >> a; touch started; while [ ! -e go ];"
               " do sleep 0.02; done', output: a}\n"
               "  - {name: b, jq: '{b: 1}'}\n  - {name: j, jq: '{a: .b}'}\n"
               "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
               "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n",
               "t", NULL);
    host_until(started);
    host_fresh();
    host_file("go", "");
    expect_run(host_resume(&(RunResume){.thread = "t"}), "completed", "{\"a\": 1, \"b\": 1}");
    assert_int_equal(lines_of("a"), 1);
}

static void an_attempt_under_way_is_found_again(void **state) {
    (void)state;
    host_start("nodes:\n  - {name: b, shell: 'echo x >> b; [ $(wc -l < b) = 2 ] && touch started;"
               " while [ -e started -a ! -e go ]; do sleep 0.02; done; [ -e go ]',"
               " retry: {attempts: 2, delay: 10ms}}\n",
               "t", NULL);
    host_until(started);
    host_fresh();
    host_file("go", "");
    expect_run(host_resume(&(RunResume){.thread = "t"}), "completed", NULL);
    assert_int_equal(lines_of("b"), 2);
}

static void a_wait_for_the_next_attempt_goes_on(void **state) {
    (void)state;
    Run *run = host_start_held("nodes:\n  - {name: b, shell: 'echo x >> b; [ -e go ]',"
                               " retry: {attempts: 2, delay: 1h}}\n",
                               NULL);
    while (!strstr(host_log(), "retry b")) uv_run(&host.loop, UV_RUN_ONCE);
    host_file("go", "");
    host_fresh();
    run = engine_resume_now(host.engine, &(RunResume){.thread = "t"}, &host.err);
    move_clock(3599000);
    assert_false(run_settled(run));
    move_clock(1000);
    host_settle(run);
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("b"), 2);
}

static void a_sleep_goes_on(void **state) {
    (void)state;
    Run *run = host_start_held("nodes: [{name: s, sleep: 1h}]\n", NULL);
    move_clock(1800000);
    host_fresh();
    run = engine_resume_now(host.engine, &(RunResume){.thread = "t"}, &host.err);
    move_clock(1799999);
    assert_false(run_settled(run));
    move_clock(1);
    host_settle(run);
    expect_run(run, "completed", NULL);
}

static void a_map_goes_on_where_it_was(void **state) {
    (void)state;
    host_start("nodes:\n"
               "  - name: m\n"
               "    map: {over: '[1, 2, 3, 4, 5, 6]', as: x, limit: 2}\n"
               "    do: {shell: 'echo $X >> m; [ $X != 4 ] || touch started; while [ $X -ge 4 -a"
               " ! -e go ]; do sleep 0.02; done; echo $X', env: {X: $x}}\n"
               "  - {name: n, jq: '{m: [.m[].stdout | tonumber]}'}\n",
               "t", NULL);
    host_until(started);
    host_fresh();
    host_file("go", "");
    expect_run(host_resume(&(RunResume){.thread = "t"}), "completed",
               "{\"m\": [1, 2, 3, 4, 5, 6]}");
    assert_int_equal(lines_of("m"), 6);
    expect_sound_store();
}

static void what_can_go_on_goes_on_beside_an_open_approval(void **state) {
    (void)state;
    Run *run = host_start("nodes:\n  - {name: s, jq: '{}'}\n"
                          "  - {name: q, approval: {prompt: p}, output: q}\n"
                          "  - {name: b, shell: 'touch started; while [ ! -e go ]; do sleep 0.02;"
                          " done', output: b}\n  - {name: j, jq: '{}'}\n"
                          "edges:\n  - {from: __start__, to: s}\n"
                          "  - {from: s, to: [q, b], fan_in: j}\n"
                          "  - {from: [q, b], to: j}\n  - {from: j, to: __end__}\n",
                          "t", NULL);
    host_until(started);
    run_stop(run);
    host_go();
    expect_run(run, "stopped", NULL);
    host_file("go", "");
    run = host_go_on();
    expect_run(run, "interrupted", NULL);
    expect_run(host_answer(NULL, "yes", NULL), "completed", NULL);
}

static void a_failed_node_is_tried_again_beside_an_open_approval(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: s, jq: '{}'}\n"
                        "  - {name: q, approval: {prompt: p}, output: q}\n"
                        "  - {name: b, shell: 'echo x >> b; [ -e fixed ]', output: b}\n"
                        "  - {name: j, jq: '{}'}\n"
                        "edges:\n  - {from: __start__, to: s}\n"
                        "  - {from: s, to: [q, b], fan_in: j}\n"
                        "  - {from: [q, b], to: j}\n  - {from: j, to: __end__}\n",
                        NULL);
    expect_run(run, "failed", NULL);
    host_file("fixed", "");
    run = host_go_on();
    expect_run(run, "interrupted", NULL);
    assert_int_equal(lines_of("b"), 2);
    expect_run(host_answer(NULL, "yes", NULL), "completed", NULL);
    assert_int_equal(lines_of("b"), 2);
}

static void the_definition_is_the_one_it_started_with(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: a, jq: '{}', interrupt: before}\n  - {name: b, jq: '{v: 1}'}\n",
             NULL);
    host_file("w1.yaml", "nodes:\n  - {name: a, jq: '{}'}\n  - {name: b, jq: '{v: 2}'}\n");
    expect_run(host_go_on(), "completed", "{\"v\": 1}");
}

static void a_reloaded_definition_is_taken_where_its_node_still_exists(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: a, jq: '{}', interrupt: before}\n  - {name: b, jq: '{v: 1}'}\n",
             NULL);
    Flow *without = host_flow("nodes: [{name: b, jq: '{v: 3}'}]\n");
    Flow *with = host_flow("nodes:\n  - {name: a, jq: '{}'}\n  - {name: n, jq: '{n: 1}'}\n"
                           "  - {name: b, jq: '{v: 2}'}\n");
    host_fresh();
    expect_contains(host_refused(&(RunResume){.thread = "t", .reload = without}),
                    "stands at node `a`, which is not there any more");
    Run *run = host_resume(&(RunResume){.thread = "t", .reload = with});
    flow_unref(without);
    flow_unref(with);
    expect_run(run, "completed", "{\"n\": 1, \"v\": 2}");
}

static void a_reloaded_definition_stays_with_the_run(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: a, jq: '{}', interrupt: before}\n  - {name: b, jq: '{v: 1}'}\n",
             NULL);
    Flow *with = host_flow("nodes:\n  - {name: a, jq: '{}'}\n"
                           "  - {name: n, jq: '{n: 1}', interrupt: before}\n"
                           "  - {name: b, jq: '{v: 2}'}\n");
    host_fresh();
    Run *run = host_resume(&(RunResume){.thread = "t", .reload = with});
    flow_unref(with);
    expect_run(run, "interrupted", NULL);
    expect_run(host_go_on(), "completed", "{\"n\": 1, \"v\": 2}");
}

/* ---- ending ---- */

static void a_cancelled_run_ends_its_commands(void **state) {
    (void)state;
    Run *run = host_start("nodes:\n"
                          "  - {name: m, map: {over: '[1, 2, 3]', limit: 3},"
                          " do: {shell: 'echo $$ >> pids; sleep 60'}}\n",
                          "t", NULL);
    while (lines_of("pids") < 3) uv_run(&host.loop, UV_RUN_ONCE);
    run_cancel(run);
    host_go();
    expect_run(run, "cancelled", NULL);
    expect_row("t", "cancelled");
    assert_int_equal(host.settled, 1);
    assert_int_not_equal(system("kill -0 $(cat pids) 2> /dev/null"), 0);
    assert_int_equal(places(), 0);
    expect_sound_store();
}

static void a_run_is_cancelled_when_another_process_asks(void **state) {
    (void)state;
    Run *run = host_start(MIDDLE, "t", NULL);
    host_until(started);
    assert_true(store_ask_cancel(host.store, run_number(run), &host.err));
    host_go();
    expect_run(run, "cancelled", NULL);
}

static void cancelling_before_anything_began_is_fine(void **state) {
    (void)state;
    Run *run = host_start(MIDDLE, "t", NULL);
    run_cancel(run);
    host_go();
    expect_run(run, "cancelled", NULL);
    assert_int_equal(lines_of("a"), 0);
}

static void stopping_twice_is_stopping_once(void **state) {
    (void)state;
    Run *run = host_start(MIDDLE, "t", NULL);
    host_until(started);
    run_stop(run);
    run_stop(run);
    run_cancel(run);
    host_go();
    expect_run(run, "stopped", NULL);
    run_stop(run);
    run_cancel(run);
    expect_run(run, "stopped", NULL);
    assert_int_equal(host.settled, 1);
    assert_true(told_node_b());
}

static void an_engine_may_be_freed_while_commands_are_ending(void **state) {
    (void)state;
    Run *run = host_start("nodes: [{name: a, shell: 'trap \"\" TERM; touch started; sleep 0.2'}]\n",
                          "t", NULL);
    host_until(started);
    run_cancel(run);
    host_fresh();
    host_turn(500);
}

static void waits_are_ended_by_stopping(void **state) {
    (void)state;
    Run *run = host_start("nodes:\n  - {name: s, jq: '{}'}\n  - {name: a, sleep: 1h}\n"
                          "  - {name: b, shell: 'exit 1', retry: {attempts: 2, delay: 1h}}\n"
                          "  - {name: j, jq: '{}'}\n"
                          "edges:\n  - {from: __start__, to: s}\n"
                          "  - {from: s, to: [a, b], fan_in: j}\n"
                          "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n",
                          "t", NULL);
    while (!strstr(host_log(), "retry b")) uv_run(&host.loop, UV_RUN_ONCE);
    run_stop(run);
    host_go();
    expect_run(run, "stopped", NULL);
}

static void an_engine_may_be_dropped_at_any_turn(void **state) {
    (void)state;
    host_file("go", "");
    for (int turns = 0; turns < 12; turns++) {
        char thread[16];
        snprintf(thread, sizeof thread, "n%d", turns);
        host_start(MIDDLE, thread, NULL);
        for (int i = 0; i < turns; i++) uv_run(&host.loop, UV_RUN_NOWAIT);
        host_fresh();
        RunRow row = {0};
        assert_true(store_find(host.store, thread, &row, &host.err));
        if (row.head) expect_run(host_resume(&(RunResume){.thread = thread}), "completed", NULL);
        run_row_clear(&row);
        host_fresh();
    }
    expect_sound_store();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_ALL(a_completed_run_is_not_resumed),
        TEST_ALL(a_cancelled_run_is_not_resumed),
        TEST_ALL(a_cancelled_run_goes_on_from_an_earlier_checkpoint),
        TEST_ALL(unknown_threads_and_checkpoints_are_three_errors),
        TEST_ALL(a_thread_is_found_by_its_number),
        TEST_LASTING(a_run_that_another_has_is_not_resumed),
        TEST_ALL(a_run_that_the_engine_has_itself_is_not_resumed),
        TEST_ALL(a_failed_run_tries_the_failed_node_only),
        TEST(values_can_be_set_before_a_failed_node_is_tried_again),
        TEST(a_failed_node_has_all_its_attempts_again),
        TEST_ALL(a_failed_branch_is_tried_again_and_the_others_go_on),
        TEST_ALL(a_failed_element_of_a_map_is_tried_again_alone),
        TEST(a_failure_in_a_sub_workflow_is_tried_again_inside),
        TEST(an_edge_that_failed_is_chosen_again_without_its_node),
        TEST(a_join_that_failed_is_tried_again_without_its_branches),
        TEST(a_run_whose_time_was_up_has_it_again),
        TEST_ALL(a_stopped_run_starts_its_node_again),
        TEST_ALL(a_command_under_way_is_found_again_by_the_next_process),
        TEST_ALL(a_command_that_ended_meanwhile_is_not_run_again),
        TEST_ALL(places_of_commands_are_removed_once_their_results_are_on_record),
        TEST_ALL(branches_from_the_start_are_found_again),
        TEST_ALL(an_attempt_under_way_is_found_again),
        TEST_ALL(a_wait_for_the_next_attempt_goes_on),
        TEST(a_sleep_goes_on),
        TEST_ALL(a_map_goes_on_where_it_was),
        TEST(what_can_go_on_goes_on_beside_an_open_approval),
        TEST(a_failed_node_is_tried_again_beside_an_open_approval),
        TEST_ALL(the_definition_is_the_one_it_started_with),
        TEST_ALL(a_reloaded_definition_is_taken_where_its_node_still_exists),
        TEST(a_reloaded_definition_stays_with_the_run),
        TEST_ALL(a_cancelled_run_ends_its_commands),
        TEST_ALL(a_run_is_cancelled_when_another_process_asks),
        TEST(cancelling_before_anything_began_is_fine),
        TEST(stopping_twice_is_stopping_once),
        TEST_ALL(an_engine_may_be_freed_while_commands_are_ending),
        TEST(waits_are_ended_by_stopping),
        TEST_ALL(an_engine_may_be_dropped_at_any_turn),
    };
    return RUN_TESTS(tests);
}
