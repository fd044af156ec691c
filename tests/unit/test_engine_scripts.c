/* Nodes in Python and JavaScript in an engine: what waits for an answer, and what is left when it
 * ends. Each start of a node's code leaves a line in a file. */
#include "engine_host.h"

#include <signal.h>
#include <sys/wait.h>

#define ASKING                                                    \
    "config: {checkpointer: sqlite}\n"                            \
    "nodes:\n"                                                    \
    "  - name: ask\n"                                             \
    "    python: |\n"                                             \
    "      with open('started', 'a') as out: out.write('x\\n')\n" \
    "      first = interrupt({'q': 1})\n"                         \
    "      return {'answers': [first, interrupt({'q': first})]}\n"

static Run *answer_here(const char *value) {
    Json v = parse(value);
    host.settled = 0;
    Run *run = host_resume(&(RunResume){.thread = "t", .value = v});
    json_unref(v);
    return run;
}

static void the_waiting_code_gets_the_answer_while_it_lives(void **state) {
    (void)state;
    Run *run = host_run(ASKING, NULL);
    expect_run(run, "interrupted", NULL);
    run = answer_here("\"a\"");
    expect_run(run, "interrupted", NULL);
    run = answer_here("\"b\"");
    expect_run(run, "completed", "{\"answers\":[\"a\",\"b\"]}");
    assert_int_equal(lines_of("started"), 1);
}

static void another_engine_starts_the_code_with_the_answers(void **state) {
    (void)state;
    Run *run = host_run(ASKING, NULL);
    expect_run(run, "interrupted", NULL);
    run = host_answer(NULL, NULL, "\"a\"");
    expect_run(run, "interrupted", NULL);
    run = host_answer(NULL, NULL, "\"b\"");
    expect_run(run, "completed", "{\"answers\":[\"a\",\"b\"]}");
    assert_int_equal(lines_of("started"), 3);
    expect_sound_store();
}

static void a_timeout_ends_the_code(void **state) {
    (void)state;
    expect_failed(
        host_run("nodes:\n  - {name: a, python: 'while True: pass', timeout: 300ms}\n", NULL),
        "timeout", "");
    host_fresh();
    Run *run = host_start("nodes:\n  - {name: a, javascript: 'for (;;) {}', timeout: 300ms}\n",
                          "js", NULL);
    host_settle(run);
    expect_failed(run, "timeout", "");
}

static bool has_started(void) {
    return lines_of("started") == 1;
}

static void the_end_of_the_engine_ends_the_code_and_a_resume_starts_it_again(void **state) {
    (void)state;
    host_start("nodes:\n"
               "  - name: a\n"
               "    python: |\n"
               "      import os, time\n"
               "      with open('started', 'a') as out: out.write('x\\n')\n"
               "      while not os.path.exists('go'): time.sleep(0.01)\n"
               "      return {'n': 1}\n",
               "t", NULL);
    host_until(has_started);
    host_down();
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left, dead or alive */
    host_file("go", "");
    host_up();
    expect_run(host_resume(&(RunResume){.thread = "t"}), "completed", "{\"n\":1}");
    assert_int_equal(lines_of("started"), 2);
}

static void branches_run_side_by_side(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - {name: each, map: {over: '[range(50)]', as: n}, output: r,\n"
                        "     do: {python: 'return n + 1'}}\n"
                        "  - {name: sum, jq: '{sum: (.r | add), r: null}'}\n",
                        NULL);
    expect_run(run, "completed", "{\"r\":null,\"sum\":1275}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON(the_waiting_code_gets_the_answer_while_it_lives, "file"),
        ON(the_waiting_code_gets_the_answer_while_it_lives, "sqlite"),
        ON(another_engine_starts_the_code_with_the_answers, "file"),
        ON(another_engine_starts_the_code_with_the_answers, "memory"),
        ON(a_timeout_ends_the_code, "memory"),
        ON(the_end_of_the_engine_ends_the_code_and_a_resume_starts_it_again, "file"),
        ON(branches_run_side_by_side, "memory"),
    };
    if (system("command -v python3 >/dev/null && command -v node >/dev/null") != 0) {
        printf("1..0 # SKIP python3 and node are needed\n");
        return 0;
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
