/* The work of run_shell, run_javascript and run_command, without an engine (step_fake.h). */
#include "step_fake.h"

#define OK "null" /* the result: outputs are set one by one */

/* ---- steps ---- */

static void step_init(Step *step, KindId kind) {
    fake_init(step, kind, "{\"n\":7,\"s\":\"a b\",\"list\":[1,{\"k\":null}]}");
    step->joins_log = true;
}

static void shell_init(Step *step, const char *script) {
    step_init(step, KIND_RUN_SHELL);
    fake_set(step, RUN_SHELL_COMMAND, json_string_c(script));
    fake_set(step, RUN_SHELL_SHELL, json_string_c("bash"));
    fake_set(step, RUN_SHELL_ARGS, json_array());
}

static void command_init(Step *step, const char *words, bool may_fail) {
    step_init(step, KIND_RUN_COMMAND);
    fake_set(step, RUN_COMMAND_COMMAND, parse(words));
    fake_set(step, RUN_COMMAND_MAY_FAIL, json_bool(may_fail));
    step->params[RUN_COMMAND_MAY_FAIL].number = may_fail;
}

static const char *set_of(const Step *step) {
    return fake_text(&step->set);
}

static const char *log_of(const Step *step) {
    return fake_text(&step->log);
}

static void wait_for_set(Step *step) {
    while (!step->set.len) uv_run(&fake.loop, UV_RUN_ONCE);
}

static void expect_shell(const char *script, const char *result, const char *set, const char *log) {
    Step step;
    shell_init(&step, script);
    fake_run(&step);
    assert_string_equal(step.result, result);
    assert_string_equal(set_of(&step), set);
    assert_string_equal(log_of(&step), log);
    fake_clear(&step);
}

static void expect_command(const char *words, bool may_fail, const char *result, const char *set) {
    Step step;
    command_init(&step, words, may_fail);
    fake_run(&step);
    assert_string_equal(step.result, result);
    assert_string_equal(set_of(&step), set);
    fake_clear(&step);
}

static void make_file(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", fake.root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static void wait_for_file(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", fake.root, name);
    for (int i = 0; i < 3000 && access(path, F_OK) != 0; i++) usleep(10000);
    assert_int_equal(access(path, F_OK), 0);
}

/* ---- run_shell ---- */

static void shell_reads_its_command_from_standard_input(void **state) {
    (void)state;
    expect_shell("echo \"$BASH_VERSION\" | grep -c .; printf 'a\\nb\\n\\n'", OK,
                 "out stdout=\"1\\na\\nb\";out exit_code=0;", "stdout|1\na\nb\n\n");
    expect_shell("", OK, "out stdout=\"\";out exit_code=0;", "");
    expect_shell("read next\nthis line is read by the one before\necho \"$next\"", OK,
                 "out stdout=\"this line is read by the one before\";out exit_code=0;",
                 "stdout|this line is read by the one before\n");
}

static void shell_is_another_with_arguments(void **state) {
    (void)state;
    Step step;
    shell_init(&step, "echo $0 $1; false; echo not here");
    fake_set(&step, RUN_SHELL_SHELL, json_string_c("sh"));
    fake_set(&step, RUN_SHELL_ARGS, parse("[\"-e\",\"-s\",\"one two\"]"));
    fake_run(&step);
    assert_string_equal(step.result, "exit: Command exited with code 1");
    assert_string_equal(set_of(&step), "out stdout=\"sh one two\";out exit_code=1;");
    fake_clear(&step);
}

static void shell_runs_in_the_folder_of_the_run(void **state) {
    (void)state;
    Step step;
    shell_init(&step, "pwd");
    step.folder = "/usr";
    fake_run(&step);
    assert_string_equal(set_of(&step), "out stdout=\"/usr\";out exit_code=0;");
    fake_clear(&step);
    shell_init(&step, "pwd");
    step.folder = "/no/such";
    fake_run(&step);
    assert_string_equal(step.result,
                        "shell: The folder /no/such, where the run was started and its "
                        "commands run, is not there any more. Put it back.");
    fake_clear(&step);
}

static void x4_shell_gets_variables_as_json(void **state) {
    (void)state;
    Step step;
    setenv("PAWL_TEST_OURS", "ours", 1);
    setenv("PAWL_TEST_KEPT", "kept", 1);
    shell_init(&step, "echo $PAWL_TEST_OURS \"$S\" $LIST $PAWL_TEST_KEPT $NOTHING");
    fake_add_field(&step, RUN_SHELL_ENV, "S", ".s");
    fake_add_field(&step, RUN_SHELL_ENV, "LIST", ".list");
    fake_add_field(&step, RUN_SHELL_ENV, "PAWL_TEST_KEPT", "empty");
    fake_add_field(&step, RUN_SHELL_ENV, "NOTHING", ".nothing");
    fake_run(&step);
    assert_string_equal(set_of(&step),
                        "out stdout=\"ours \\\"a b\\\" [1,{\\\"k\\\":null}] kept null\";"
                        "out exit_code=0;");
    fake_clear(&step);
}

static void shell_says_which_variable_is_wrong(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"A=B", "1",
         "shell: envVars has a variable named \"A=B\"; a name cannot be empty or hold '=' or NUL."},
        {"", "1",
         "shell: envVars has a variable named \"\"; a name cannot be empty or hold '=' or NUL."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Step step;
        shell_init(&step, "true");
        fake_add_field(&step, RUN_SHELL_ENV, cases[i][0], cases[i][1]);
        fake_run(&step);
        assert_string_equal(step.result, cases[i][2]);
        fake_clear(&step);
    }
}

static void q4_shell_gets_an_empty_object_for_a_query_that_fails(void **state) {
    (void)state;
    Step step;
    shell_init(&step, "echo $A");
    fake_add_field(&step, RUN_SHELL_ENV, "A", "error(\"oh\")");
    fake_run(&step);
    assert_string_equal(step.result, OK);
    assert_string_equal(set_of(&step), "out stdout=\"{}\";out exit_code=0;");
    assert_string_equal(log_of(&step),
                        "log|warning: envVars.A is {}, because its query fails: oh\nstdout|{}\n");
    fake_clear(&step);
}

static void x4_shell_reads_a_newline_behind_its_command(void **state) {
    (void)state;
    Step step;
    shell_init(&step, "a b");
    fake_set(&step, RUN_SHELL_SHELL, json_string_c("od"));
    fake_set(&step, RUN_SHELL_ARGS, parse("[\"-An\",\"-c\"]"));
    fake_run(&step);
    assert_string_equal(set_of(&step), "out stdout=\"   a       b  \\\\n\";out exit_code=0;");
    fake_clear(&step);
}

static void expect_file(const char *name, const char *want) {
    char path[200], text[300] = "";
    snprintf(path, sizeof path, "%s/%s", fake.root, name);
    FILE *file = fopen(path, "r");
    assert_int_equal(file != NULL, want != NULL);
    if (!file) return;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, want);
}

static void x6_shell_has_files_whose_content_is_kept(void **state) {
    (void)state;
    Step step;
    shell_init(
        &step,
        "[ \"$PAWL_SUMMARY\" = \"$ASSERTOOR_SUMMARY\" ] && [ \"$PAWL_RESULT_DIR\" = "
        "\"$ASSERTOOR_RESULT_DIR\" ] && [ \"$PAWL_TEST_RESULT\" = "
        "\"$ASSERTOOR_TEST_RESULT\" ] || exit 9\n"
        "echo some > \"$PAWL_SUMMARY\"; cd \"$PAWL_RESULT_DIR\"; mkdir -p a/b; echo deep > "
        "a/b/c; ln -s /etc/passwd link; mkfifo fifo; echo one >> \"$PAWL_TEST_RESULT\"; exit "
        "3");
    step.node.name = "task";
    fake_add_field(&step, RUN_SHELL_ENV, "PAWL_SUMMARY", "\"not this\"");
    fake_run(&step);
    assert_string_equal(step.result, "exit: Command exited with code 3");
    assert_non_null(strstr(log_of(&step), "Of the results of the task 2 are not kept"));
    const char *dash = strrchr(step.place, '/') + 1;
    dash = strrchr(dash, '-') ? strrchr(dash, '-') + 1 : dash;
    char name[160];
    static const char *const kept[][2] = {{"summary", "some\n"},
                                          {"node", NULL},
                                          {"files/a/b/c", "deep\n"},
                                          {"files/link", NULL},
                                          {"files/fifo", NULL}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        snprintf(name, sizeof name, "kept/%s/%s", dash, kept[i][0]);
        expect_file(name, i == 1 ? step_node(&step)->name : kept[i][1]);
    }
    expect_file("kept/test-result.md", "one\n");
    snprintf(name, sizeof name, "%s/task-%s", fake.root, dash);
    assert_int_not_equal(access(name, F_OK), 0);
    fake_clear(&step);
    shell_init(&step, "echo two >> \"$ASSERTOOR_TEST_RESULT\"");
    fake_run(&step);
    assert_string_equal(step.result, OK);
    expect_file("kept/test-result.md", "one\ntwo\n");
    fake_clear(&step);
}

static void shell_lines_set_variables_and_outputs_and_are_not_in_the_log(void **state) {
    (void)state;
    expect_shell("echo one; echo ::set-var a x y; echo '::set-json b {\"c\": 1}'; echo two >&2\n"
                 "printf '::set-output d 1\\r\\n::set-output-json e [2]'",
                 OK,
                 "var a=\"x y\";var b={\"c\":1};out d=\"1\";out e=[2];out stdout=\"one\";"
                 "out exit_code=0;",
                 "stdout|one\nstderr|two\n");
}

static void shell_outputs_of_the_script_come_before_ours(void **state) {
    (void)state;
    expect_shell("echo ::set-output stdout mine; echo ::set-output-json exit_code 9; echo ours", OK,
                 "out stdout=\"mine\";out exit_code=9;", "stdout|ours\n");
}

static void shell_lines_are_applied_as_they_come(void **state) {
    (void)state;
    Step step;
    shell_init(&step, "echo ::set-var early 1; printf '::set-v'; while [ ! -e go ]; do sleep 0.01; "
                      "done; rm go; echo ar late 2");
    fake_start(&step);
    wait_for_set(&step);
    assert_string_equal(set_of(&step), "var early=\"1\";");
    assert_false(step.done);
    make_file("go");
    fake_wait(&step);
    assert_string_equal(set_of(&step),
                        "var early=\"1\";var late=\"2\";out stdout=\"\";out exit_code=0;");
    fake_clear(&step);
}

static void x1_shell_lines_that_are_wrong_are_warnings(void **state) {
    (void)state;
    expect_shell(
        "echo ::set-json a nope; sleep 0.05; echo after; echo ::set-out b 1", OK,
        "out b=\"1\";out stdout=\"after\";out exit_code=0;",
        "log|warning: A line that sets a value is not applied, because the value is not "
        "JSON: Invalid numeric literal at EOF at line 1, column 4. Text as it is can be set "
        "with ::set-var. The line was: ::set-json a nope\nstdout|after\n");
}

static void shell_lines_that_are_too_long_make_it_fail_in_the_end(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"p() { printf '::set-var a %01048570d\\n' 1; }; p", "limit: A line that sets a value is"},
        {"p() { printf '::set-var a %01048570d\\n' 1; }; p; p",
         "limit: 2 values that the script sets are too long and were not applied; they are in the "
         "log. The first: A line"},
        {"printf '::set-var a %01048570d\\n' 1; exit 3", "exit: Command exited with code 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Step step;
        shell_init(&step, cases[i][0]);
        fake_run(&step);
        assert_memory_equal(step.result, cases[i][1], strlen(cases[i][1]));
        fake_clear(&step);
    }
}

/* However many files there are: the loop looks at none of them, and the step waits. */
static void x6_shell_has_its_files_kept_by_an_errand(void **state) {
    (void)state;
    static const char *const scripts[] = {
        "echo x > \"$PAWL_RESULT_DIR/file\"",
        "echo some > \"$PAWL_SUMMARY\"",
        "echo x > \"$(dirname \"$PAWL_SUMMARY\")/other\"",
        "echo one > \"$PAWL_TEST_RESULT\"",
    };
    for (size_t i = 0; i <= sizeof scripts / sizeof *scripts; i++) {
        bool drops = i == sizeof scripts / sizeof *scripts; /* while it is under way */
        Step step;
        shell_init(&step, scripts[drops ? 0 : i]);
        step.node.name = "task";
        fake.holds_errands = true;
        fake_start(&step);
        while (!fake.held) uv_run(&fake.loop, UV_RUN_ONCE);
        assert_false(step.done);
        if (drops) fake_drop(&step);
        fake_errands(fake.held);
        fake.holds_errands = false;
        uv_run(&fake.loop, UV_RUN_DEFAULT);
        assert_true(step.done != drops);
        if (!drops) assert_string_equal(step.result, OK);
        fake_clear(&step);
        char path[80];
        snprintf(path, sizeof path, "%s/test-result.md", fake.root);
        unlink(path);
    }
}

static void shell_says_how_it_failed(void **state) {
    (void)state;
    Step step;
    shell_init(&step, "echo some; echo ::set-output a 1; echo first >&2; echo last >&2; exit 3");
    fake_run(&step);
    assert_string_equal(step.result, "exit: Command exited with code 3: last");
    expect_json(step.details, "{\"exit_code\":3,\"stdout\":\"some\\n::set-output a 1\","
                              "\"stderr\":\"first\\nlast\"}");
    assert_string_equal(set_of(&step), "out a=\"1\";out stdout=\"some\";out exit_code=3;");
    fake_clear(&step);
    expect_shell("echo x; kill -KILL $$", "signal: Command was ended by signal 9 (Killed)",
                 "out stdout=\"x\";", "stdout|x\n");
}

static void shell_that_is_not_there_is_named(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"no-such-shell", "spawn: Cannot start no-such-shell: there is no such program in PATH."},
        {"./no-such", "spawn: Cannot start ./no-such: there is no such file, or not the program "
                      "that its first line names."},
        {"", "shell: shell is empty; it takes the name of a shell, or its path."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Step step;
        shell_init(&step, "true");
        fake_set(&step, RUN_SHELL_SHELL, json_string_c(cases[i][0]));
        fake_run(&step);
        assert_string_equal(step.result, cases[i][1]);
        assert_string_equal(set_of(&step), "");
        fake_clear(&step);
    }
}

static void shell_keeps_its_timeout(void **state) {
    (void)state;
    bool begun = false;
    for (int ms = 200; !begun && ms < 20000; ms *= 9) { /* a slow machine needs more */
        Step step;
        shell_init(&step, "echo ::set-output a 1; echo begun; printf '::set-output b 1'; sleep 60");
        step.timeout = ms;
        fake_run(&step);
        assert_non_null(strstr(step.result, "timeout: Command ran longer than its timeout of "));
        begun = strstr(set_of(&step), "begun");
        if (begun) assert_string_equal(set_of(&step), "out a=\"1\";out stdout=\"begun\";");
        fake_clear(&step);
    }
    assert_true(begun);
}

static void shell_can_be_cancelled(void **state) {
    (void)state;
    Step step;
    shell_init(&step, "sleep 60");
    fake_start(&step);
    fake_cancel(&step);
    fake_wait(&step);
    assert_string_equal(step.result, "cancelled: Command was ended because the run was.");
    fake_clear(&step);
}

static void shell_that_was_dropped_is_found_again_with_all_its_lines(void **state) {
    (void)state;
    Step step, again;
    shell_init(&step, "echo ::set-var a 1; echo one; sleep 0.2; echo ::set-output b 2; echo two");
    fake_start(&step);
    fake_wait_for_log(&step);
    fake_drop(&step);
    fake_next_process();
    shell_init(&again, "echo ::set-var never 1");
    again.place = step.place;
    fake_run(&again);
    assert_string_equal(again.result, OK);
    assert_string_equal(set_of(&again),
                        "var a=\"1\";out b=\"2\";out stdout=\"one\\ntwo\";out exit_code=0;");
    assert_string_equal(log_of(&again), "stdout|one\ntwo\n");
    fake_clear(&again);
    fake_clear(&step);
}

/* The supervisor drops what nobody takes in time, and tells of what comes after it; the lines are found
 * all the same, each once. */
static void shell_lines_are_not_lost_when_we_are_slow(void **state) {
    (void)state;
    Step step;
    shell_init(&step, "say() { for i in $(seq $1 $2); do printf '%04000d\\n::set-json n %d\\n' $i "
                      "$i; done; }; say 1 300; touch said; while [ ! -e go ]; do sleep 0.01; done; "
                      "say 301 320; rm said go");
    fake_start(&step);
    wait_for_file("said");
    wait_for_set(&step);
    make_file("go");
    fake_wait(&step);
    assert_string_equal(step.result, OK);
    const char *at = set_of(&step);
    for (int i = 1; i <= 320; i++) {
        char want[32];
        snprintf(want, sizeof want, "var n=%d;", i);
        assert_memory_equal(at, want, strlen(want));
        at += strlen(want);
    }
    fake_clear(&step);
}

static void shell_output_is_bounded(void **state) {
    (void)state;
    Step step;
    shell_init(&step, "echo ::set-var first 1; yes 0123456789 | head -c 34000002; "
                      "echo ::set-var last 1; echo end");
    fake_run(&step);
    assert_string_equal(step.result,
                        "limit: The script printed 34000041 bytes, and only the first 32 MB are "
                        "looked through for lines that set something. Let it print less, or into a "
                        "file.");
    assert_non_null(strstr(set_of(&step), "var first=\"1\";"));
    assert_null(strstr(set_of(&step), "var last="));
    assert_true(step.set.len < 80000);
    assert_non_null(strstr(set_of(&step), "end\";"));
    assert_non_null(strstr(log_of(&step), " bytes of stdout are left out here ...\n"));
    assert_non_null(strstr(log_of(&step), "\nend\n"));
    fake_clear(&step);
}

static void shell_takes_no_line_that_is_cut_off(void **state) {
    (void)state;
    Step step;
    shell_init(&step, "yes 1234567 | head -c 33554422; echo; echo ::set-var cut 123456789");
    fake_run(&step);
    assert_non_null(strstr(step.result, "limit: The script printed"));
    assert_null(strstr(set_of(&step), "var cut"));
    fake_clear(&step);
}

/* ---- run_javascript ---- */

static void javascript_init(Step *step, const char *script) {
    step_init(step, KIND_RUN_JAVASCRIPT);
    step->node.name = "js";
    step->node.file = "test.yaml";
    step->params[RUN_JAVASCRIPT_SCRIPT].line = 10;
    fake_set(step, RUN_JAVASCRIPT_SCRIPT, json_string_c(script));
    fake_set(step, RUN_JAVASCRIPT_NODE, json_string_c("node"));
    fake_set(step, RUN_JAVASCRIPT_ARGS, json_array());
}

static void expect_javascript(const char *script, const char *result, const char *set) {
    Step step;
    javascript_init(&step, script);
    fake_add_field(&step, RUN_JAVASCRIPT_ENV, "LIST", ".list");
    fake_run(&step);
    assert_string_equal(step.result, result);
    assert_string_equal(set_of(&step), set);
    fake_clear(&step);
}

static void x5_javascript_sets_variables_and_outputs(void **state) {
    (void)state;
    expect_javascript("setVar('a', 7); setOutput('b', [1, 2]); setVar('c', 'x\\ny')", OK,
                      "var a=\"7\";out b=\"1,2\";var c=\"x\\ny\";");
    expect_javascript("setVarJSON('a', env.LIST); setOutputJSON('b'); console.log('::set-out c 1')",
                      OK, "var a=[1,{\"k\":null}];out b=null;out c=\"1\";");
    expect_javascript("return {n: vars.n}", OK, "out n=7;");
    expect_javascript("", OK, "");
}

static void x5_javascript_that_throws_names_the_line(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"\nthrow new TypeError('oops')",
         "javascript: TypeError: oops (line 2 of the code, test.yaml:11)"},
        {"await 1;\nnope()",
         "javascript: ReferenceError: nope is not defined (line 2 of the code, test.yaml:11)"},
        {"throw 'text'", "javascript: Error: text"},
        {"let x = ;", "javascript: SyntaxError: Unexpected token ';' (line 1 of the code, "
                      "test.yaml:10)"},
        {"await new Promise(() => {})",
         "javascript: Error: The script waits for something that can never happen: nothing is left "
         "that could end the wait."},
        {"process.exit(4)", "exit: Command exited with code 4"},
        {"setVar('a b', 1)",
         "javascript: TypeError: a name cannot be empty or hold blanks: \"a b\" "
         "(line 1 of the code, test.yaml:10)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_javascript(cases[i][0], cases[i][1], "");
    }
}

/* ---- run_command ---- */

static void k9_command_runs_without_a_shell(void **state) {
    (void)state;
    expect_command("[\"printf\",\"%s|\",\"a b\",\"$HOME\",\"*\",\"\"]", false, OK,
                   "out stdout=\"a b|$HOME|*||\";out exit_code=0;");
    expect_command("[\"sh\",\"-c\",\"echo warned >&2; echo done; echo again >&2\"]", false, OK,
                   "out stdout=\"warned\\ndone\\nagain\";out exit_code=0;");
}

static void k9_command_that_fails_says_so(void **state) {
    (void)state;
    expect_command("[\"sh\",\"-c\",\"echo some; echo why >&2; exit 3\"]", false,
                   "exit: Command exited with code 3: why",
                   "out error=\"exit status 3\";out stdout=\"some\\nwhy\";out exit_code=3;");
    expect_command("[\"false\"]", false, "exit: Command exited with code 1",
                   "out error=\"exit status 1\";out stdout=\"\";out exit_code=1;");
}

static void k9_command_may_be_allowed_to_fail(void **state) {
    (void)state;
    expect_command("[\"sh\",\"-c\",\"echo some; echo why >&2; exit 3\"]", true, OK,
                   "out error=\"exit status 3\";out stdout=\"some\\nwhy\";out exit_code=3;");
    expect_command("[\"sh\",\"-c\",\"kill -TERM $$\"]", true, OK,
                   "out error=\"signal: terminated\";out stdout=\"\";out exit_code=143;");
    expect_command("[\"true\"]", true, OK, "out stdout=\"\";out exit_code=0;");
}

static void command_that_is_not_there_fails_in_any_case(void **state) {
    (void)state;
    for (int may_fail = 0; may_fail < 2; may_fail++) {
        expect_command("[\"no-such-program\",\"x\"]", may_fail,
                       "spawn: Cannot start no-such-program: there is no such program in PATH.",
                       "out error=\"Cannot start no-such-program: there is no such program in "
                       "PATH.\";");
        expect_command(
            "[]", may_fail,
            "command: command names no program; its first element is the program to run.", "");
        expect_command(
            "[\"sh\",\"a\\u0000b\"]", may_fail,
            "command: command holds a NUL character, which no command can be given. Take "
            "it out.",
            "");
    }
}

static void command_keeps_its_timeout_even_if_it_may_fail(void **state) {
    (void)state;
    Step step;
    command_init(&step, "[\"sleep\",\"60\"]", true);
    step.timeout = 150;
    fake_run(&step);
    assert_string_equal(step.result,
                        "timeout: Command ran longer than its timeout of 150ms and was ended");
    assert_string_equal(set_of(&step),
                        "out error=\"Command ran longer than its timeout of 150ms and "
                        "was ended\";out stdout=\"\";");
    fake_clear(&step);
}

static void command_output_is_bounded(void **state) {
    (void)state;
    Step step;
    command_init(&step, "[\"sh\",\"-c\",\"yes | head -c 3000000\"]", false);
    fake_run(&step);
    assert_string_equal(step.result, OK);
    assert_non_null(strstr(set_of(&step), "\";out truncated=true;out exit_code=0;"));
    fake_clear(&step);
}

static void command_lines_are_not_read_as_orders(void **state) {
    (void)state;
    expect_command("[\"echo\",\"::set-var a 1\"]", false, OK,
                   "out stdout=\"::set-var a 1\";out exit_code=0;");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FAKE_TEST(shell_reads_its_command_from_standard_input),
        FAKE_TEST(shell_is_another_with_arguments),
        FAKE_TEST(shell_runs_in_the_folder_of_the_run),
        FAKE_TEST(x4_shell_gets_variables_as_json),
        FAKE_TEST(shell_says_which_variable_is_wrong),
        FAKE_TEST(shell_lines_set_variables_and_outputs_and_are_not_in_the_log),
        FAKE_TEST(shell_outputs_of_the_script_come_before_ours),
        FAKE_TEST(shell_lines_are_applied_as_they_come),
        FAKE_TEST(x1_shell_lines_that_are_wrong_are_warnings),
        FAKE_TEST(shell_lines_that_are_too_long_make_it_fail_in_the_end),
        FAKE_TEST(q4_shell_gets_an_empty_object_for_a_query_that_fails),
        FAKE_TEST(x4_shell_reads_a_newline_behind_its_command),
        FAKE_TEST(x6_shell_has_files_whose_content_is_kept),
        FAKE_TEST(x6_shell_has_its_files_kept_by_an_errand),
        FAKE_TEST(shell_says_how_it_failed),
        FAKE_TEST(shell_that_is_not_there_is_named),
        FAKE_TEST(shell_keeps_its_timeout),
        FAKE_TEST(shell_can_be_cancelled),
        FAKE_TEST(shell_that_was_dropped_is_found_again_with_all_its_lines),
        FAKE_TEST(shell_lines_are_not_lost_when_we_are_slow),
        FAKE_TEST(shell_output_is_bounded),
        FAKE_TEST(shell_takes_no_line_that_is_cut_off),
        FAKE_TEST(x5_javascript_sets_variables_and_outputs),
        FAKE_TEST(x5_javascript_that_throws_names_the_line),
        FAKE_TEST(k9_command_runs_without_a_shell),
        FAKE_TEST(k9_command_that_fails_says_so),
        FAKE_TEST(k9_command_may_be_allowed_to_fail),
        FAKE_TEST(command_that_is_not_there_fails_in_any_case),
        FAKE_TEST(command_keeps_its_timeout_even_if_it_may_fail),
        FAKE_TEST(command_output_is_bounded),
        FAKE_TEST(command_lines_are_not_read_as_orders),
    };
    return fake_main(tests);
}
