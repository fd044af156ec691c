/* Pipelines that run: what their steps are given, what comes of them, and what is refused. */
#include "engine_host.h"

#include "process.h"

#include <signal.h>
#include <time.h>

#define STEP(id, command) "- {id: " id ", type: script, config: {command: '" command "'}"

/* A part of the state, borrowed: "steps/a/status". */
static Json at(Run *run, const char *path) {
    Json j = run_state(run);
    while (*path) {
        size_t len = strcspn(path, "/");
        Json name = json_string(path, len);
        j = json_kind(j) == JSON_OBJECT ? json_object_get(j, name) : json_none();
        json_unref(name);
        path += len + (path[len] == '/');
    }
    return j;
}

static void expect_at(Run *run, const char *path, const char *want) {
    Json got = at(run, path);
    char *text = json_is_none(got) ? strdup("(none)") : json_to_text(got);
    assert_string_equal(text, want);
    free(text);
}

static void expect_file(const char *name, const char *want) {
    char text[4096] = "";
    FILE *in = fopen(name, "r");
    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    assert_string_equal(text, want);
}

/* ---- results ---- */

static void a_step_gives_back_how_it_went(void **state) {
    (void)state;
    Run *run = host_run("steps:\n" STEP("a", "echo one; echo two; echo three >&2") "}\n", NULL);
    expect_run(run, "completed", NULL);
    expect_at(run, "steps/a/status", "\"completed\"");
    expect_at(run, "steps/a/exit_code", "0");
    expect_at(run, "steps/a/stdout", "\"one\\ntwo\"");
    expect_at(run, "steps/a/stdout_bytes", "(none)");
    assert_int_equal(json_kind(at(run, "steps/a/seconds")), JSON_NUMBER);
    assert_true(json_to_double(at(run, "steps/a/seconds")) < 60);
}

static void of_a_long_output_the_end_is_kept(void **state) {
    (void)state;
    Run *run = host_run("steps:\n" STEP("a", "yes 0123456 | head -n 20000; echo end") "}\n", NULL);
    Json out = at(run, "steps/a/stdout");
    assert_int_equal(json_string_len(out), 64 << 10);
    assert_memory_equal(json_string_data(&out) + json_string_len(out) - 11, "0123456\nend", 11);
    expect_at(run, "steps/a/stdout_bytes", "160004");
}

static void results_of_all_steps_are_in_the_state(void **state) {
    (void)state;
    Run *run = host_run(
        "steps:\n" STEP(
            "a", "echo 1") "}\n"
                           "- {name: 'The second', type: script, config: {command: echo 2}}\n",
        NULL);
    expect_at(run, "steps/a/stdout", "\"1\"");
    expect_at(run, "steps/the-second/stdout", "\"2\"");
}

/* ---- endings ---- */

static void a_failure_ends_the_run(void **state) {
    (void)state;
    Run *run = host_run(
        "steps:\n" STEP("a", "echo so; echo why >&2; exit 3") "}\n" STEP("b", "touch b") "}\n",
        NULL);
    expect_failed(run, "exit", "Command exited with code 3: why");
    assert_int_equal(run_error_int(run, "exit_code"), 3);
    assert_string_equal(run_error_text(run, "stdout"), "so");
    assert_false(file_exists("b"));
}

static void a_failure_that_goes_on_is_a_result(void **state) {
    (void)state;
    Run *run = host_run(
        "steps:\n" STEP("a", "echo so; echo why >&2; exit 3") ", on_failure: next}\n" STEP("b", "exit 1") ", on_failure: next}\n" STEP(
            "c", "sleep 60") ", on_failure: next, timeout: 0.2}\n" STEP("d", "echo there") "}\n",
        NULL);
    expect_run(run, "completed", NULL);
    expect_at(run, "steps/a/status", "\"failed\"");
    expect_at(run, "steps/a/exit_code", "3");
    expect_at(run, "steps/a/stdout", "\"so\"");
    expect_at(run, "steps/a/error", "\"Command exited with code 3: why\"");
    expect_at(run, "steps/b/status", "\"failed\"");
    expect_at(run, "steps/c/status", "\"failed\"");
    expect_at(run, "steps/c/exit_code", "(none)");
    expect_at(run, "steps/c/error",
              "\"Command ran longer than its timeout of 200ms and was ended\"");
    expect_at(run, "steps/d/status", "\"completed\"");
}

static void a_signal_is_told(void **state) {
    (void)state;
    Run *run = host_run("steps: [{id: a, type: script, config: {command: kill -9 $$}, "
                        "on_failure: next}]\n",
                        NULL);
    expect_at(run, "steps/a/signal", "9");
    expect_at(run, "steps/a/exit_code", "(none)");
    host_fresh();
    run = host_start("steps: [{id: a, type: script, config: {command: kill -9 $$}}]\n", "u", NULL);
    host_go();
    expect_failed(run, "signal", "signal 9");
}

static void a_timeout_ends_the_run(void **state) {
    (void)state;
    Run *run = host_run("steps:\n" STEP("a", "sleep 60") ", timeout: 100ms}\n", NULL);
    expect_failed(run, "timeout", "100ms");
}

static void stop_ends_the_run_well(void **state) {
    (void)state;
    Run *run = host_run("steps:\n" STEP("a", "true") ", on_success: stop, on_failure: next}\n" STEP(
                            "b", "touch b") "}\n",
                        NULL);
    expect_run(run, "completed", NULL);
    assert_false(file_exists("b"));
}

static void after_a_failure_the_next_step_runs_where_success_would_stop(void **state) {
    (void)state;
    Run *run =
        host_run("steps:\n" STEP("a", "false") ", on_success: stop, on_failure: next}\n" STEP(
                     "b", "touch b") "}\n",
                 NULL);
    expect_run(run, "completed", NULL);
    assert_true(file_exists("b"));
}

/* ---- what a step is given ---- */

static void a_step_runs_where_the_run_was_started(void **state) {
    (void)state;
    Run *run = host_run("steps:\n" STEP("a", "pwd -P") "}\n", NULL);
    char want[100];
    snprintf(want, sizeof want, "\"%s\"", host.dir);
    expect_at(run, "steps/a/stdout", want);
}

static void a_step_knows_that_it_is_one(void **state) {
    (void)state;
    Run *run =
        host_run("steps:\n"
                 "- {id: a, type: script, config: {command: 'test \"$HOME\" = "
                 "\"$PAWL_WORKSPACE/home\" && test -n \"$PAWL_RUN\" && echo $CI $PAWL_STEP'}}\n",
                 NULL);
    expect_run(run, "completed", NULL);
    expect_at(run, "steps/a/stdout", "\"true a\"");
}

#define PUT  "- {id: put, type: script, config: {command: 'echo x > \"$HOME/it\"'}"
#define LOOK "type: script, config: {command: 'ls -A \"$HOME\"'}"

static void each_step_has_an_empty_home(void **state) {
    (void)state;
    Run *run = host_run("steps:\n" PUT "}\n- {id: look, " LOOK "}\n", NULL);
    expect_at(run, "steps/look/stdout", "\"\"");
}

static void a_step_may_leave_its_home_to_the_next(void **state) {
    (void)state;
    Run *run = host_run("steps:\n" PUT ", continue_in_context: true}\n- {id: look, " LOOK "}\n"
                        "- {id: again, " LOOK "}\n",
                        NULL);
    expect_at(run, "steps/look/stdout", "\"it\"");
    expect_at(run, "steps/again/stdout", "\"\"");
}

static void a_step_may_want_an_empty_home_all_the_same(void **state) {
    (void)state;
    Run *run = host_run("steps:\n" PUT ", continue_in_context: true}\n- {id: look, "
                        "continue_in_context: false, " LOOK "}\n",
                        NULL);
    expect_at(run, "steps/look/stdout", "\"\"");
}

static void a_home_goes_through_several_steps(void **state) {
    (void)state;
    Run *run = host_run("steps:\n" PUT ", continue_in_context: true}\n- {id: look, "
                        "continue_in_context: true, " LOOK "}\n- {id: again, " LOOK "}\n",
                        NULL);
    expect_at(run, "steps/again/stdout", "\"it\"");
}

static void whatever_is_in_a_home_is_emptied_and_nothing_else(void **state) {
    (void)state;
    mkdir("outside", 0777);
    host_file("outside/kept", "here");
    Run *run = host_run(
        "steps:\n"
        "- id: mess\n"
        "  type: script\n"
        "  config:\n"
        "    command: |\n"
        "      here=$PWD; cd \"$HOME\"\n"
        "      mkdir -p a/b/c cache/mod .hidden; touch a/b/c/f cache/mod/f .hidden/f ' odd '\n"
        "      ln -s \"$here/outside\" link; mkfifo pipe\n"
        "      chmod 555 cache/mod cache; chmod 000 a/b\n"
        "- {id: look, " LOOK "}\n",
        NULL);
    expect_run(run, "completed", NULL);
    expect_at(run, "steps/look/stdout", "\"\"");
    expect_file("outside/kept", "here");
}

static void a_home_that_was_made_a_link_is_not_followed(void **state) {
    (void)state;
    mkdir("outside", 0777);
    host_file("outside/kept", "here");
    Run *run = host_run("steps:\n"
                        "- {id: a, type: script, config: {command: 'rmdir \"$HOME\"; ln -s "
                        "\"$PWD/outside\" \"$HOME\"'}}\n"
                        "- {id: look, " LOOK "}\n",
                        NULL);
    expect_run(run, "completed", NULL);
    expect_at(run, "steps/look/stdout", "\"\"");
    expect_file("outside/kept", "here");
}

/* ---- crashes ---- */

static bool started(void) {
    return file_exists("started");
}

static void a_step_that_outlives_us_is_waited_for_and_keeps_its_home(void **state) {
    (void)state;
    host_start("steps:\n"
               "- {id: a, type: script, config: {command: 'echo x >> runs; echo x > \"$HOME/it\"; "
               "touch started; while ! test -e go; do sleep 0.02; done; ls -A \"$HOME\"'}}\n" STEP(
                   "b", "echo done") "}\n",
               "t", NULL);
    host_until(started);
    host_down();
    host_file("go", "");
    host_up();
    Run *run = host_resume(&(RunResume){.thread = "t"});
    expect_run(run, "completed", NULL);
    expect_at(run, "steps/a/stdout", "\"it\"");
    expect_at(run, "steps/b/stdout", "\"done\"");
    assert_int_equal(lines_of("runs"), 1);
}

static void a_failed_step_is_tried_again_with_an_empty_home(void **state) {
    (void)state;
    Run *run = host_run(
        "steps:\n" STEP(
            "one",
            "echo x >> ones") "}\n"
                              "- {id: a, type: script, config: {command: 'ls -A \"$HOME\"; touch "
                              "\"$HOME/it\"; test -e mended'}}\n",
        NULL);
    expect_failed(run, "exit", "code 1");
    host_file("mended", "");
    run = host_go_on();
    expect_run(run, "completed", NULL);
    expect_at(run, "steps/a/stdout", "\"\"");
    assert_int_equal(lines_of("ones"), 1);
}

static void a_cancelled_run_does_not_go_on_after_its_step(void **state) {
    (void)state;
    Run *run =
        host_start("steps:\n" STEP("a", "touch started; sleep 60") ", on_failure: next}\n" STEP(
                       "b", "touch b") "}\n",
                   "t", NULL);
    host_until(started);
    run_cancel(run);
    host_go();
    expect_run(run, "cancelled", NULL);
    assert_false(file_exists("b"));
}

/* ---- what is refused ---- */

static void containers_are_refused_with_the_way_out(void **state) {
    (void)state;
    Run *run = host_run("steps: [{id: unit, type: docker, config: {image: 'python:3.12', command: "
                        "pytest}}]\n",
                        NULL);
    expect_failed(run, "unsupported",
                  "Step `unit` needs a container (image \"python:3.12\"), and this version runs "
                  "`type: script` only: ");
}

static void agents_are_refused_with_the_way_out(void **state) {
    (void)state;
    Run *run =
        host_run("steps: [{id: fix, type: agent, config: {agent: fixer, prompt: p}}]\n", NULL);
    expect_failed(run, "unsupported",
                  "Step `fix` needs the agent \"fixer\", and this version runs "
                  "`type: script` only: ");
}

static void labels_are_refused_with_the_way_out(void **state) {
    (void)state;
    Run *run = host_run("steps:\n" STEP("a", "touch a") ", requires: {arch: arm64}}\n", NULL);
    expect_failed(run, "unsupported",
                  "Step `a` needs a runner with the labels "
                  "{\"arch\":\"arm64\"}, and this version runs steps on this "
                  "machine only: take `requires` out to run it here.");
    assert_false(file_exists("a"));
}

static void a_merge_is_refused_after_its_step(void **state) {
    (void)state;
    Run *run = host_run("steps:\n" STEP("a", "touch a") ", on_success: merge:main}\n", NULL);
    expect_failed(run, "unsupported",
                  "`a.merge` is to merge into the branch main, and this version "
                  "does not merge: ");
    assert_true(file_exists("a"));
    expect_at(run, "steps/a/status", "\"completed\"");
}

static void a_trigger_is_refused_and_the_failure_told(void **state) {
    (void)state;
    Run *run = host_run("steps:\n" STEP("a", "exit 4") ", on_failure: trigger:card-12}\n", NULL);
    expect_failed(
        run, "unsupported",
        "`a.trigger` is to start the work on card card-12, and this version has no cards");
    expect_contains(run_error_text(run, "message"), "Command exited with code 4");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON(a_step_gives_back_how_it_went, "sqlite"),
        ON(of_a_long_output_the_end_is_kept, "sqlite"),
        ON(results_of_all_steps_are_in_the_state, "file"),
        ON(a_failure_ends_the_run, "sqlite"),
        ON(a_failure_that_goes_on_is_a_result, "sqlite"),
        ON(a_signal_is_told, "sqlite"),
        ON(a_timeout_ends_the_run, "sqlite"),
        ON(stop_ends_the_run_well, "sqlite"),
        ON(after_a_failure_the_next_step_runs_where_success_would_stop, "sqlite"),
        ON(a_step_runs_where_the_run_was_started, "sqlite"),
        ON(a_step_knows_that_it_is_one, "sqlite"),
        ON(each_step_has_an_empty_home, "memory"),
        ON(each_step_has_an_empty_home, "file"),
        ON(a_step_may_leave_its_home_to_the_next, "memory"),
        ON(a_step_may_leave_its_home_to_the_next, "sqlite"),
        ON(a_step_may_want_an_empty_home_all_the_same, "sqlite"),
        ON(a_home_goes_through_several_steps, "sqlite"),
        ON(whatever_is_in_a_home_is_emptied_and_nothing_else, "sqlite"),
        ON(a_home_that_was_made_a_link_is_not_followed, "sqlite"),
        ON(a_step_that_outlives_us_is_waited_for_and_keeps_its_home, "file"),
        ON(a_step_that_outlives_us_is_waited_for_and_keeps_its_home, "sqlite"),
        ON(a_failed_step_is_tried_again_with_an_empty_home, "sqlite"),
        ON(a_cancelled_run_does_not_go_on_after_its_step, "sqlite"),
        ON(containers_are_refused_with_the_way_out, "sqlite"),
        ON(agents_are_refused_with_the_way_out, "sqlite"),
        ON(labels_are_refused_with_the_way_out, "sqlite"),
        ON(a_merge_is_refused_after_its_step, "sqlite"),
        ON(a_trigger_is_refused_and_the_failure_told, "sqlite"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
