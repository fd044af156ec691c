/* Nodes and tasks in Python and JavaScript, without an engine (step_fake.h). */
#include "step_fake.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- steps ---- */

static void step_init(Step *step, KindId kind, const char *code, const char *state) {
    static const Task task;
    fake_init(step, kind, state);
    step->drops_data = true;
    step->node.file = "flow.yaml";
    step->node.name = "work";
    step->node.task = kind == KIND_RUN_JAVASCRIPT ? &task : NULL;
    if (code) fake_set(step, 0, json_string_c(code));
    step->params[0].line = 10;
    step->place = "place";
    if (kind == KIND_RUN_JAVASCRIPT) return;
    step->params[PYTHON_MEMORY].number = 1 << 30;
    step->params[PYTHON_MAX_OUTPUT].number = 1 << 20;
}

static void expect(KindId kind, const char *code, const char *state, const char *want) {
    Step step;
    step_init(&step, kind, code, state);
    fake_run(&step);
    assert_string_equal(step.result, want);
    fake_clear(&step);
}

static const char *detail(const Step *step, const char *key) {
    static char *text;
    mem_free(text);
    text = json_to_text(json_object_get_c(step->details, key));
    return text;
}

/* The node again, with an answer more. */
static void answer_init(Step *step, KindId kind, const char *code, const char *answers) {
    step_init(step, kind, code, "{}");
    json_unref(step->answers);
    step->answers = parse(answers);
}

static int down(void **state) {
    int left = fake_tear_down(state);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    return left;
}

/* ---- results ---- */

static void code_returns_the_result(void **state) {
    (void)state;
    expect(KIND_PYTHON, "return {\"n\": state[\"n\"] + 1}", "{\"n\":1}", "{\"n\":2}");
    expect(KIND_JAVASCRIPT, "return {n: state.n + 1}", "{\"n\":1}", "{\"n\":2}");
}

static void code_that_returns_nothing_changes_nothing(void **state) {
    (void)state;
    Step step;
    expect(KIND_PYTHON, "pass", "{}", "{}");
    expect(KIND_JAVASCRIPT, "", "{}", "{}");
    step_init(&step, KIND_PYTHON, "pass", "{}");
    step.node.output = json_string_c("here");
    fake_run(&step);
    assert_string_equal(step.result, "null");
    fake_clear(&step);
}

static void env_and_variables_are_values(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_PYTHON, "return [env, file, index]", "{\"a\":[1]}");
    fake_add_field(&step, PYTHON_ENV, "A", ".a");
    fake_add_field(&step, PYTHON_ENV, "B", "\"text\"");
    fake_add_var(&step, "file", parse("{\"name\":\"x\"}"));
    fake_add_var(&step, "index", json_int(4));
    fake_run(&step);
    assert_string_equal(step.result, "[{\"A\":[1],\"B\":\"text\"},{\"name\":\"x\"},4]");
    fake_clear(&step);
    step_init(&step, KIND_PYTHON, "return 1", "{}");
    fake_add_field(&step, PYTHON_ENV, "A", "error(\"no\")");
    fake_run(&step);
    assert_string_equal(step.result, "python: env.A: no");
    fake_clear(&step);
}

static void what_is_printed_is_logged(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_PYTHON, "print('one')\nlog('two')", "{}");
    fake_run(&step);
    assert_string_equal(step.log.data, "stdout|one\nlog|two\n");
    fake_clear(&step);
}

static int pid_of_definition(const char *definition) {
    Step step;
    step_init(&step, KIND_PYTHON, "import os\nreturn os.getpid()", "{}");
    step.definition = definition;
    fake_run(&step);
    int pid = atoi(step.result);
    fake_clear(&step);
    return pid;
}

static void runs_of_different_workflows_share_no_worker(void **state) {
    (void)state;
    int one = pid_of_definition("one"), two = pid_of_definition("two");
    assert_true(one > 0 && two > 0 && one != two);
    assert_int_equal(pid_of_definition("one"), one);
    assert_int_equal(pid_of_definition("two"), two);
}

static void modules_lie_beside_the_workflow_if_it_is_ours_alone(void **state) {
    (void)state;
    char path[120], folder[100], file[120];
    snprintf(folder, sizeof folder, "%s/flows", fake.root);
    snprintf(path, sizeof path, "%s/beside.py", folder);
    snprintf(file, sizeof file, "%s/flow.yaml", folder);
    mkdir(folder, 0755);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs("x = 7\n", out);
    fclose(out);
    for (int i = 0; i < 2; i++) {
        Step step;
        step_init(&step, KIND_PYTHON, "import beside\nreturn beside.x", "{}");
        step.node.file = file;
        if (i) assert_int_equal(chmod(folder, 0777), 0);
        fake_run(&step);
        expect_contains(step.result, i ? "ModuleNotFoundError" : "7");
        fake_clear(&step);
    }
    snprintf(path, sizeof path, "rm -rf %s", folder);
    assert_int_equal(system(path), 0);
}

static void a_program_lies_beside_the_workflow(void **state) {
    (void)state;
    Step step;
    char path[100], file[100];
    snprintf(path, sizeof path, "%s/nodes.py", fake.root);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs("from pawl import node, serve\n@node\ndef work(state): return 1\n"
          "@node\ndef other(state):\n    return {}['k']\nserve()\n",
          out);
    fclose(out);
    snprintf(file, sizeof file, "%s/flow.yaml", fake.root);
    const char *const files[] = {"flow.yaml", "-", file};
    for (int i = 0; i < 3; i++) {
        step_init(&step, KIND_PYTHON, NULL, "{}");
        step.node.file = files[i];
        step.params[PYTHON_FILE].value = json_string_c("nodes.py");
        fake_run(&step);
        assert_string_equal(step.result, "1");
        fake_clear(&step);
    }
    step_init(&step, KIND_PYTHON, NULL, "{}");
    step.params[PYTHON_FILE].value = json_string_c("nodes.py");
    step.params[PYTHON_FUNCTION].value = json_string_c("other");
    fake_run(&step);
    assert_string_equal(step.result, "python: KeyError: 'k' (nodes.py:6)");
    fake_clear(&step);
}

static void either_code_or_a_file(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_PYTHON, NULL, "{}");
    fake_run(&step);
    expect_contains(step.result, "python: The node has neither code nor a `file`");
    fake_clear(&step);
    step_init(&step, KIND_PYTHON, "return 1", "{}");
    step.params[PYTHON_FILE].value = json_string_c("nodes.py");
    fake_run(&step);
    expect_contains(step.result, "python: The node has both");
    fake_clear(&step);
}

/* ---- failures ---- */

static void an_exception_names_the_line_in_the_workflow(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_PYTHON, "x = 1\nreturn {}['k']", "{}");
    fake_run(&step);
    assert_string_equal(step.result, "python: KeyError: 'k' (line 2 of the code, flow.yaml:11)");
    assert_string_equal(detail(&step, "type"), "\"KeyError\"");
    assert_string_equal(detail(&step, "line"), "11");
    assert_string_equal(detail(&step, "file"), "\"flow.yaml\"");
    expect_contains(detail(&step, "traceback"), "return {}['k']");
    fake_clear(&step);
    step_init(&step, KIND_JAVASCRIPT, "\nthrow new RangeError('far')", "{}");
    fake_run(&step);
    assert_string_equal(step.result,
                        "javascript: RangeError: far (line 2 of the code, flow.yaml:11)");
    fake_clear(&step);
}

static void a_worker_that_dies_says_how(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_PYTHON, "import os\nos._exit(3)", "{}");
    fake_run(&step);
    expect_contains(step.result, "worker: Python ended with exit code 3");
    assert_string_equal(detail(&step, "exit_code"), "3");
    fake_clear(&step);
    step_init(&step, KIND_PYTHON, "import os\nos.kill(os.getpid(), 9)", "{}");
    fake_run(&step);
    assert_string_equal(detail(&step, "signal"), "9");
    fake_clear(&step);
}

static void memory_over_its_limit_is_said(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_PYTHON, "return len('x' * (300 << 20))", "{}");
    step.params[PYTHON_MEMORY].number = 100 << 20;
    fake_run(&step);
    expect_contains(step.result, "limit: The code asked for more memory than the 100M");
    fake_clear(&step);
}

static void a_missing_interpreter_is_said(void **state) {
    (void)state;
    setenv("PAWL_NODE", "/nowhere/node", 1);
    expect(KIND_JAVASCRIPT, "return 1", "{}",
           "spawn: PAWL_NODE names /nowhere/node, which is not a program that can be started.");
    unsetenv("PAWL_NODE");
}

static void a_step_can_be_cancelled_and_dropped(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_PYTHON, "while True: pass", "{}");
    fake_start(&step);
    fake_cancel(&step);
    fake_wait(&step);
    expect_contains(step.result, "cancelled: ");
    fake_clear(&step);
    step_init(&step, KIND_PYTHON, "while True: pass", "{}");
    fake_start(&step);
    fake_drop(&step);
    fake_clear(&step);
}

/* ---- asking ---- */

/* Each run of it from its start leaves an x in a file. */
#define COUNTING(file)                                       \
    "with open('" file "', 'a') as out: out.write('x')\n"    \
    "a = interrupt({\"q\": 1})\nb = interrupt({\"q\": 2})\n" \
    "return [a, b, len(open('" file "').read())]"

static void ask_and_answer(const char *code, const char *answers, const char *want) {
    Step step;
    answer_init(&step, KIND_PYTHON, code, answers);
    fake_run(&step);
    if (step.asked) {
        assert_string_equal(step.asked, "interrupt");
        assert_true(json_is_none(step.options));
    }
    assert_string_equal(step.result, want);
    fake_clear(&step);
}

static void the_waiting_worker_gets_the_answers(void **state) {
    (void)state;
    ask_and_answer(COUNTING("waiting"), "[]", "ask: {\"q\":1}");
    assert_int_equal(uv_run(&fake.loop, UV_RUN_DEFAULT), 0); /* nothing keeps the loop */
    ask_and_answer(COUNTING("waiting"), "[\"yes\"]", "ask: {\"q\":2}");
    ask_and_answer(COUNTING("waiting"), "[\"yes\",2]", "[\"yes\",2,1]");
}

static void without_the_worker_the_node_runs_again_with_its_answers(void **state) {
    (void)state;
    ask_and_answer(COUNTING("again"), "[]", "ask: {\"q\":1}");
    fake_next_process();
    ask_and_answer(COUNTING("again"), "[1]", "ask: {\"q\":2}");
    fake_next_process();
    ask_and_answer(COUNTING("again"), "[1,2]", "[1,2,3]");
}

static void without_a_place_the_node_runs_again(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_JAVASCRIPT, "return interrupt(1)", "{}");
    step.place = NULL;
    fake_run(&step);
    assert_non_null(step.asked);
    fake_clear(&step);
    answer_init(&step, KIND_JAVASCRIPT, "return interrupt(1)", "[5]");
    step.place = NULL;
    fake_run(&step);
    assert_string_equal(step.result, "5");
    fake_clear(&step);
}

static void an_answer_to_another_question_starts_the_node_anew(void **state) {
    (void)state;
    ask_and_answer(COUNTING("another"), "[]", "ask: {\"q\":1}");
    ask_and_answer("return ['changed', interrupt(1)]", "[1]", "[\"changed\",1]");
    ask_and_answer(COUNTING("another"), "[]", "ask: {\"q\":1}");
    ask_and_answer(COUNTING("another"), "[7,8]", "[7,8,3]");
}

static int parked_pid(const char *place) {
    Step step;
    step_init(&step, KIND_PYTHON, "import os\nreturn interrupt(os.getpid())", "{}");
    step.place = place;
    fake_run(&step);
    assert_non_null(step.asked);
    int pid = (int)json_to_double(step.prompt);
    fake_clear(&step);
    return pid;
}

/* Whether it ends; it has less time for it if it should not. */
static bool ends(int pid, int most_ms) {
    for (int ms = 0; ms < most_ms && kill(pid, 0) == 0; ms += 2) {
        uv_run(&fake.loop, UV_RUN_NOWAIT);
        int status;
        if (waitpid(pid, &status, WNOHANG | WNOWAIT) == pid) return true;
        usleep(2000);
    }
    return kill(pid, 0) != 0;
}

static void no_more_than_so_many_wait(void **state) {
    (void)state;
    char places[34][16];
    int first = 0, second = 0;
    for (int i = 0; i < 34; i++) {
        snprintf(places[i], sizeof places[i], "place-%d", i);
        int pid = parked_pid(places[i]);
        if (i == 0) first = pid;
        if (i == 2) second = pid;
    }
    assert_true(ends(first, 30000));
    assert_false(ends(second, 200));
    Step step;
    answer_init(&step, KIND_PYTHON, "import os\nreturn interrupt(os.getpid())", "[\"late\"]");
    step.place = places[0];
    fake_run(&step); /* it runs again */
    assert_string_equal(step.result, "\"late\"");
    fake_clear(&step);
}

static void what_nobody_wants_any_more_is_let_go(void **state) {
    (void)state;
    int pid = parked_pid("gone");
    fake.unwanted = "gone";
    usleep(1100000);
    uv_update_time(&fake.loop);
    expect(KIND_PYTHON, "return 1", "{}", "1");
    assert_true(ends(pid, 30000));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_set_up, down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(code_returns_the_result),
        TEST(code_that_returns_nothing_changes_nothing),
        TEST(env_and_variables_are_values),
        TEST(what_is_printed_is_logged),
        TEST(runs_of_different_workflows_share_no_worker),
        TEST(modules_lie_beside_the_workflow_if_it_is_ours_alone),
        TEST(a_program_lies_beside_the_workflow),
        TEST(either_code_or_a_file),
        TEST(an_exception_names_the_line_in_the_workflow),
        TEST(a_worker_that_dies_says_how),
        TEST(memory_over_its_limit_is_said),
        TEST(a_missing_interpreter_is_said),
        TEST(a_step_can_be_cancelled_and_dropped),
        TEST(the_waiting_worker_gets_the_answers),
        TEST(without_the_worker_the_node_runs_again_with_its_answers),
        TEST(without_a_place_the_node_runs_again),
        TEST(an_answer_to_another_question_starts_the_node_anew),
        TEST(no_more_than_so_many_wait),
        TEST(what_nobody_wants_any_more_is_let_go),
    };
    if (system("command -v python3 >/dev/null && command -v node >/dev/null") != 0) {
        printf("1..0 # SKIP python3 and node are needed\n");
        return 0;
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return fake_main(tests);
}
