/* The work of the kinds jq, shell and lua, without an engine (step_fake.h). */
#include "step_fake.h"

#include "supervisor.h"

/* ---- steps ---- */

/* With the kind's first parameter, in line 10 of its file. */
static void step_init(Step *step, KindId kind, const char *first, const char *state) {
    fake_init(step, kind, state ? state : "{}");
    fake_set_expr(step, 0, first);
    step->params[0].line = 10;
    step->params[SHELL_MAX_OUTPUT].number = 1 << 20;
}

static void expect(KindId kind, const char *first, const char *state, const char *want) {
    Step step;
    step_init(&step, kind, first, state);
    fake_run(&step);
    assert_string_equal(step.result, want);
    fake_clear(&step);
}

static void expect_limit(KindId kind, const char *code) {
    Step step;
    step_init(&step, kind, code, NULL);
    fake_run(&step);
    if (strncmp(step.result, "limit: ", 7) != 0) fail_msg("%s: %s", code, step.result);
    fake_clear(&step);
}

/* ---- jq ---- */

static void jq_gives_its_first_output(void **state) {
    (void)state;
    expect(KIND_JQ, "{n: (.a + 1)}", "{\"a\":1}", "{\"n\":2}");
    expect(KIND_JQ, ".a[]", "{\"a\":[5,6]}", "5");
}

static void jq_fails_with_a_sentence(void **state) {
    (void)state;
    expect(KIND_JQ, "empty", NULL, "jq: The expression gives no result.");
    expect(KIND_JQ, "error(\"no\")", NULL, "jq: no");
    expect_limit(KIND_JQ, "[range(1e9)]");
}

/* ---- shell ---- */

static void shell_gives_stdout_and_exit_code(void **state) {
    (void)state;
    expect(KIND_SHELL, "printf 'a\\nb\\n\\n'", NULL, "{\"stdout\":\"a\\nb\",\"exit_code\":0}");
    expect(KIND_SHELL, "true", NULL, "{\"stdout\":\"\",\"exit_code\":0}");
    expect(KIND_SHELL, "", NULL, "{\"stdout\":\"\",\"exit_code\":0}");
    expect(KIND_SHELL, "printf '\\377x'", NULL, "{\"stdout\":\"\xEF\xBF\xBDx\",\"exit_code\":0}");
}

static void shell_gets_environment_folder_and_input(void **state) {
    (void)state;
    Step step;
    setenv("PAWL_TEST_OURS", "ours", 1);
    setenv("PAWL_TEST_BOTH", "ours", 1);
    step_init(&step, KIND_SHELL, "echo $PAWL_TEST_OURS $PAWL_TEST_BOTH $LIST; pwd; cat",
              "{\"a\":[1,\"x\"],\"d\":\"/usr\"}");
    fake_add_field(&step, SHELL_ENV, "PAWL_TEST_BOTH", "\"theirs\"");
    fake_add_field(&step, SHELL_ENV, "LIST", ".a");
    fake_set_expr(&step, SHELL_CWD, ".d");
    fake_set_expr(&step, SHELL_STDIN, ".a");
    fake_run(&step);
    assert_string_equal(
        step.result,
        "{\"stdout\":\"ours theirs [1,\\\"x\\\"]\\n/usr\\n[1,\\\"x\\\"]\",\"exit_code\":0}");
    fake_clear(&step);
}

static void expect_in(const char *folder, const char *cwd, const char *want) {
    Step step;
    step_init(&step, KIND_SHELL, "pwd -P", NULL);
    step.folder = folder;
    if (cwd) fake_set_expr(&step, SHELL_CWD, cwd);
    fake_run(&step);
    assert_string_equal(step.result, want);
    fake_clear(&step);
}

static void shell_runs_in_the_folder_of_the_run(void **state) {
    (void)state;
    expect_in("/usr", NULL, "{\"stdout\":\"/usr\",\"exit_code\":0}");
    expect_in("/usr", "\"share\"", "{\"stdout\":\"/usr/share\",\"exit_code\":0}");
    expect_in("/usr", "\"/etc\"", "{\"stdout\":\"/etc\",\"exit_code\":0}");
    expect_in("/no/such", "\"/etc\"", "{\"stdout\":\"/etc\",\"exit_code\":0}");
    expect_in("/usr", "\"no-such\"",
              "spawn: Cannot start the command in no-such: No such file or directory.");
}

static void shell_says_when_the_folder_of_the_run_is_gone(void **state) {
    (void)state;
    const char *want = "shell: The folder /no/such, where the run was started and its commands "
                       "run, is not there any more. Put it back, or give the node a cwd that is a "
                       "whole path.";
    expect_in("/no/such", NULL, want);
    expect_in("/no/such", "\"sub\"", want);
}

static void shell_parses_json(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"echo '{\"a\": [1, 2]}'", "{\"a\":[1,2]}"},
        {"echo '{\"a\": '", "parse: What the command printed is not JSON: Unfinished JSON term at "
                            "EOF at line 2, column 0"},
    };
    for (size_t i = 0; i < 2; i++) {
        Step step;
        step_init(&step, KIND_SHELL, cases[i][0], NULL);
        step.params[SHELL_PARSE].value = json_string_c("json");
        fake_run(&step);
        assert_string_equal(step.result, cases[i][1]);
        fake_clear(&step);
    }
}

static void shell_says_how_it_failed(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_SHELL, "echo some; echo first >&2; echo last >&2; exit 3", NULL);
    fake_run(&step);
    assert_string_equal(step.result, "exit: Command exited with code 3: last");
    expect_json(step.details, "{\"exit_code\":3,\"stdout\":\"some\",\"stderr\":\"first\\nlast\"}");
    fake_clear(&step);
    expect(KIND_SHELL, "exit 4", NULL, "exit: Command exited with code 4");
    expect(KIND_SHELL, "kill -KILL $$", NULL, "signal: Command was ended by signal 9 (Killed)");
}

static void lua_keeps_its_timeout(void **state) {
    (void)state;
    static const char *const codes[] = {
        "while true do end",
        "while true do pcall(error) end",
        "local t = {}; for i = 1, 300000 do t[i] = i * 7919 % 300007 end; while true do table.sort(t) end",
        "while true do string.rep('x', 1 << 20):find('.-.-.-y') end",
        "while true do local s = string.rep('x', 1 << 20) end",
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        Step step;
        uint64_t start = uv_hrtime();
        fake_init(&step, KIND_LUA, "{}");
        fake_set(&step, LUA_CODE, json_string_c(codes[i]));
        step.timeout = 20; /* long before any of them comes to the limit of instructions */
        fake_run(&step);
        assert_string_equal(step.result, "timeout: It took longer than its timeout of 0.02 s.");
        assert_true(uv_hrtime() - start < 5000000000);
        fake_clear(&step);
    }
}

static void shell_keeps_its_timeout(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_SHELL, "sleep 60", NULL);
    step.timeout = 150;
    fake_run(&step);
    assert_string_equal(step.result,
                        "timeout: Command ran longer than its timeout of 150ms and was ended");
    fake_clear(&step);
}

static void shell_output_is_bounded(void **state) {
    (void)state;
    for (int parse_it = 0; parse_it < 2; parse_it++) {
        Step step;
        step_init(&step, KIND_SHELL, "yes | head -c 100000", NULL);
        step.params[SHELL_MAX_OUTPUT].number = 5;
        if (parse_it) step.params[SHELL_PARSE].value = json_string_c("json");
        fake_run(&step);
        assert_string_equal(step.result,
                            parse_it ? "limit: The command printed 100000 bytes, more than "
                                       "max_output keeps (5), so that they cannot be parsed. Raise "
                                       "max_output."
                                     : "{\"stdout\":\"y\\ny\\ny\",\"exit_code\":0,\"truncated\":"
                                       "true,\"stdout_bytes\":100000}");
        fake_clear(&step);
    }
}

static void shell_refuses_what_no_command_can_be_given(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_SHELL, "true", NULL);
    fake_add_field(&step, SHELL_ENV, "A=B", "1");
    fake_run(&step);
    assert_string_equal(step.result, "shell: env has a variable named \"A=B\"; a name cannot be "
                                     "empty or hold '=' or NUL.");
    fake_clear(&step);
    step_init(&step, KIND_SHELL, "true", NULL);
    fake_add_field(&step, SHELL_ENV, "A", "\"x\\u0000y\"");
    fake_run(&step);
    assert_string_equal(step.result,
                        "shell: env.A holds a NUL character, which no variable can. Take it out.");
    fake_clear(&step);
    step_init(&step, KIND_SHELL, "true", NULL);
    fake_add_field(&step, SHELL_ENV, "A", "error(\"oh\")");
    fake_run(&step);
    assert_string_equal(step.result, "shell: env.A: oh");
    fake_clear(&step);
    step_init(&step, KIND_SHELL, "true", NULL);
    fake_set_expr(&step, SHELL_CWD, "\"/no/such\"");
    fake_run(&step);
    assert_string_equal(step.result,
                        "spawn: Cannot start the command in /no/such: No such file or directory.");
    fake_clear(&step);
}

static void shell_writes_the_log_in_whole_characters(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_SHELL, "printf 'a\\303'; sleep 0.1; printf '\\244b'; echo c >&2", NULL);
    fake_run(&step);
    assert_non_null(strstr(step.log.data, "stdout|a"));
    assert_non_null(strstr(step.log.data, "stdout|\303\244b"));
    assert_non_null(strstr(step.log.data, "stderr|c\n"));
    fake_clear(&step);
}

static void shell_can_be_cancelled(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_SHELL, "sleep 60", NULL);
    fake_start(&step);
    fake_cancel(&step);
    fake_wait(&step);
    assert_string_equal(step.result, "cancelled: Command was ended because the run was.");
    fake_clear(&step);
}

static void shell_that_was_dropped_is_found_again(void **state) {
    (void)state;
    Step step, again;
    step_init(&step, KIND_SHELL, "sleep 0.2; echo once", NULL);
    fake_start(&step);
    fake_drop(&step);
    fake_next_process();
    step_init(&again, KIND_SHELL, "echo twice", NULL);
    again.place = step.place;
    fake_run(&again);
    assert_string_equal(again.result, "{\"stdout\":\"once\",\"exit_code\":0}");
    assert_string_equal(again.log.data, "stdout|once\n");
    fake_clear(&again);
    fake_clear(&step);
}

enum { PRINTED = 15 << 20, A_TURN = 10 << 20 };

/* Starts a command that prints much, and looks away until it is over. */
static void start_that_prints_much(Step *step) {
    char status[200];
    step_init(step, KIND_SHELL, "head -c 15728640 /dev/zero | tr '\\000' x", NULL);
    step->params[SHELL_MAX_OUTPUT].number = 4;
    step->joins_log = true;
    fake_start(step);
    snprintf(status, sizeof status, "%s/%s", step->own_place, PLACE_STATUS);
    while (access(status, F_OK) != 0) usleep(1000);
}

/* Turns of the loop until some of the log is there, or the step is over; gives what the largest of them took. */
static size_t log_in_turns(Step *step, bool to_the_end) {
    size_t most = 0;
    while (!step->done && (to_the_end || step->log.len < 2 << 20)) {
        size_t before = step->log.len;
        uv_run(&fake.loop, UV_RUN_NOWAIT);
        most = step->log.len - before > most ? step->log.len - before : most;
    }
    return most;
}

static void expect_much(const Step *step) {
    assert_string_equal(step->result, "{\"stdout\":\"xxxx\",\"exit_code\":0,\"truncated\":true,"
                                      "\"stdout_bytes\":15728640}");
    assert_int_equal(step->log.len, strlen("stdout|") + PRINTED);
    assert_int_equal(strspn(step->log.data + strlen("stdout|"), "x"), PRINTED);
}

/* All of it is for the log, and was not seen when the command was over. */
static void shell_that_printed_much_leaves_the_loop_to_others(void **state) {
    (void)state;
    Step step;
    start_that_prints_much(&step);
    assert_in_range(log_in_turns(&step, true), 1, A_TURN);
    expect_much(&step);
    fake_clear(&step);
}

static void shell_that_printed_much_can_be_cancelled_and_dropped_while_it_is_read(void **state) {
    (void)state;
    Step step, again;
    start_that_prints_much(&step);
    log_in_turns(&step, false);
    assert_false(step.done);
    fake_cancel(&step);
    fake_drop(&step);
    fake_next_process();
    step_init(&again, KIND_SHELL, "echo twice", NULL);
    again.params[SHELL_MAX_OUTPUT].number = 4;
    again.joins_log = true;
    again.place = step.place;
    fake_start(&again);
    log_in_turns(&again, false);
    fake_cancel(&again);
    fake_wait(&again);
    expect_much(&again);
    fake_clear(&again);
    fake_clear(&step);
}

/* A command that an earlier process started, was told to end, and did not see the end of. */
static void start_end_and_drop(Step *step, const char *command) {
    step_init(step, KIND_SHELL, command, NULL);
    fake_start(step);
    fake_wait_for_log(step);
    fake_cancel(step);
    fake_drop(step);
    fake_next_process();
}

static void shell_that_was_ended_for_another_starts_again(void **state) {
    (void)state;
    Step step, again;
    start_end_and_drop(&step, "trap '' TERM; echo ready; sleep 0.3");
    step_init(&again, KIND_SHELL, "echo again", NULL);
    again.place = step.place;
    fake_run(&again);
    assert_string_equal(again.result, "{\"stdout\":\"again\",\"exit_code\":0}");
    assert_string_equal(again.log.data, "stdout|again\n");
    fake_clear(&again);
    fake_clear(&step);
}

static void shell_that_is_found_can_be_cancelled(void **state) {
    (void)state;
    Step step, again;
    start_end_and_drop(&step, "trap '' TERM; echo ready; sleep 0.3");
    step_init(&again, KIND_SHELL, "echo again", NULL);
    again.place = step.place;
    fake_start(&again);
    fake_cancel(&again);
    fake_wait(&again);
    assert_string_equal(again.result, "cancelled: Command was ended because the run was.");
    fake_clear(&again);
    fake_clear(&step);
}

/* ---- lua ---- */

static void lua_gives_what_it_returns(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"return {n = state.a + 1}", "{\"a\":1}", "{\"n\":2}"},
        {"return 1, 2", NULL, "1"},
        {"return {1, 2.5, 'x', true, null, {}, array(), array{1, nil}}", NULL,
         "[1,2.5,\"x\",true,null,{},[],[1]]"},
        {"return {b = 1, a = 2, [7] = 3}", NULL, "{\"7\":3,\"a\":2,\"b\":1}"},
        {"return {[1] = 1, [3] = 3}", NULL, "{\"1\":1,\"3\":3}"},
        {"return {array{1, nil, 3}, array{[2] = 'b'}}", NULL, "[[1,null,3],[null,\"b\"]]"},
        {"return 9007199254740993", NULL, "9007199254740993"},
        {"return {state.a, state.b[1]}", "{\"a\":18446744073709551616,\"b\":[1e300]}",
         "[18446744073709552000,1e+300]"},
        {"return {state.b}", "{\"b\":[18446744073709551617]}", "[[18446744073709551617]]"},
        {"return '\\255'", NULL, "\"\xEF\xBF\xBD\""},
        {"print('nothing')", NULL, "{}"},
        {"return nil", NULL, "null"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect(KIND_LUA, cases[i][0], cases[i][1], cases[i][2]);
    }
}

static void lua_sees_the_state_without_copying_it(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"return state", "{\"b\":1,\"a\":[{}]}", "{\"b\":1,\"a\":[{}]}"},
        {"return {state.a[2].x, #state.a, #state, state.a[9] == nil, state.zz == nil}",
         "{\"a\":[1,{\"x\":\"y\"}]}", "[\"y\",2,1,true,true]"},
        {"local t = array() for k, v in pairs(state) do t[#t+1] = k .. v end return t",
         "{\"b\":1,\"a\":2}", "[\"b1\",\"a2\"]"},
        {"local s = 0 for i, v in ipairs(state.a) do s = s + i * v end return s", "{\"a\":[5,6]}",
         "17"},
        {"local s = 0 for i, v in pairs(state.a) do s = s + i * v end return s", "{\"a\":[5,6]}",
         "17"},
        {"return {type(state), type(state.n), state.n == null, tostring(state.n), tostring(state)}",
         "{\"n\":null}", "[\"table\",\"null\",true,\"null\",\"{\\\"n\\\":null}\"]"},
        {"return {table.concat(state.a, '-'), state.a == state.b, (table.unpack(state.a))}",
         "{\"a\":[1,2],\"b\":[1,2]}", "[\"1-2\",true,1]"},
        {"local a = copy(state.a) a[#a+1] = 3 table.insert(a, 4) return {a = a, e = copy(state.e)}",
         "{\"a\":[1,{\"k\":[]}],\"e\":[]}", "{\"a\":[1,{\"k\":[]},3,4],\"e\":[]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect(KIND_LUA, cases[i][0], cases[i][1], cases[i][2]);
    }
}

static void lua_errors_name_the_line_of_the_file(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"local x = {}\nreturn x.y.z", "lua: Line 11: attempt to index a nil value (field 'y')"},
        {"return 1 +", "lua: Line 10: unexpected symbol near <eof>"},
        {"state.a = 1",
         "lua: Line 10: the state cannot be written; return what is to change, as in "
         "return {count = state.count + 1}, or change a copy(...) of it"},
        {"error({code = 7})", "lua: The code raised object ({\"code\":7})"},
        {"error('plain', 0)", "lua: plain"},
        {"return print", "lua: The code returns a function, which JSON has not."},
        {"return array{1, key = 2}",
         "lua: The code returns an array(...) with the key `key`: the places of an array are "
         "integers from 1 on."},
        {"return array{[0] = 2}",
         "lua: The code returns an array(...) with the key number: the places of an array are "
         "integers from 1 on."},
        {"return 0/0", "lua: The code returns a number that is not finite, which JSON has not."},
        {"return {[true] = 1}",
         "lua: The code returns a table with a key that is neither a text nor "
         "an integer, which JSON has not."},
        {"\033Lua", "lua: attempt to load a binary chunk (mode is 't')"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect(KIND_LUA, cases[i][0], NULL, cases[i][1]);
    }
    expect(
        KIND_LUA, "return state.big", "{\"big\":18446744073709551617}",
        "lua: Line 10: the number 18446744073709551617 has more digits than Lua's numbers; have it "
        "as a text, or give back the part of the state that it is in");
    Step step;
    step_init(&step, KIND_LUA, "\n\nerror('here')", NULL);
    fake_run(&step);
    expect_json(step.details, "{\"line\":12}");
    fake_clear(&step);
}

static void lua_print_goes_to_the_log_and_variables_are_globals(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_LUA, "print('a', 1, null, {1} ~= nil) return file.name", NULL);
    fake_add_var(&step, "file", parse("{\"name\":\"x.c\"}"));
    fake_run(&step);
    assert_string_equal(step.log.data, "log|a\t1\tnull\ttrue\n");
    assert_string_equal(step.result, "\"x.c\"");
    fake_clear(&step);
}

static void lua_without_result_under_a_name_is_null(void **state) {
    (void)state;
    Step step;
    step_init(&step, KIND_LUA, "local x = 1", NULL);
    step.node.output = json_string_c("out");
    fake_run(&step);
    assert_string_equal(step.result, "null");
    fake_clear(&step);
}

static void lua_has_nothing_that_reaches_outside(void **state) {
    (void)state;
    static const char *const names[] = {
        "os",      "io",        "load",           "loadfile", "dofile",      "require", "debug",
        "package", "coroutine", "collectgarbage", "_G",       "string.dump", "xpcall"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char code[64];
        snprintf(code, sizeof code, "return %s == nil", names[i]);
        expect(KIND_LUA, code, NULL, "true");
    }
}

static void lua_leaves_nothing_behind_for_the_next(void **state) {
    (void)state;
    expect(KIND_LUA,
           "x = 1 string.rep = nil table.insert = 3 math = nil local s = state "
           "return {getmetatable('') == false, getmetatable(_ENV) == false, "
           "getmetatable(state) == false, (pcall(setmetatable, _ENV, {})), "
           "(pcall(setmetatable, {}, {__gc = print}))}",
           NULL, "[true,true,true,false,false]");
    expect(KIND_LUA, "return {x == nil, string.rep('a', 2), type(table.insert), type(math)}", NULL,
           "[true,\"aa\",\"function\",\"table\"]");
}

static void lua_shows_no_addresses(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"local t, f = {}, print return {tostring(t), tostring(f), tostring(t), tostring(setmetatable({}, "
         "{__name = 'thing'}))}",
         "[\"table: 1\",\"function: 2\",\"table: 1\",\"thing: 3\"]"},
        {"local t = {} return {('%s %p|%5p|%-4p|%s%%'):format(t, t, t, print, 'x'), "
         "('%p %p'):format(1, null), ('%s'):format(t)}",
         "[\"table: 1 1|    1|2   |x%\",\"(null) (null)\",\"table: 1\"]"},
        {"return ('%p'):format('text')", "\"1\""},
        {"return ('%s|%5.1f|%d|%q'):format(setmetatable({}, {__tostring = function() return 'me' end}), "
         "1.25, 7, 'a')",
         "\"me|  1.2|7|\\\"a\\\"\""},
        {"return ('%d'):format('x')",
         "lua: Line 10: bad argument #1 to 'format' (number expected, got string)"},
        {"return ('%s %s'):format(1)", "lua: Line 10: bad argument #2 to 'format' (no value)"},
        {"local n, t = 0, {} for i = 1, 1e5 do n = tostring({}) end return n", "\"table: 100000\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect(KIND_LUA, cases[i][0], NULL, cases[i][1]);
    }
    Step step;
    step_init(&step, KIND_LUA, "print({}, print, {})", NULL);
    fake_run(&step);
    assert_string_equal(step.log.data, "log|table: 1\tfunction: 2\ttable: 3\n");
    fake_clear(&step);
}

static void lua_is_bounded(void **state) {
    (void)state;
    static const char *const cases[] = {
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "local t = {} while true do t[#t + 1] = {} end",
        "local s = 'x' while true do s = s .. s end",
        "local s = ('x'):rep(30000000) while true do local t = s .. 'y' end",
        "return (('a'):rep(100000)):find('.-.-.-.-b')",
        "return (('a'):rep(100000)):find(('a*'):rep(20) .. 'b')",
        "local t = {} for i = 1, 1e9 do table.insert(t, 1, i) end",
        "table.move({}, 1, math.maxinteger - 1, 2)",
        "local t = {} for i = 1, 100 do t = {t} end return t",
        "local t = {} t.t = t return t",
        "local t = {1} for i = 1, 60 do t = {t, t} end return t",
        "local function f() return f() + 1 end return f()",
        "while true do print('x') end",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect_limit(KIND_LUA, cases[i]);
    expect(KIND_LUA, "return (''):rep(1 << 60)", NULL, "\"\"");
    expect(KIND_LUA, "return ('x'):rep(1 << 60)", NULL, "lua: Line 10: resulting string too large");
}

static void lua_patterns_are_those_of_the_manual(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{('hello world'):find('wor')}", "[7,9]"},
        {"{('hello'):find('l', -2)}", "[4,4]"},
        {"{('a.b'):find('.', 1, true)}", "[2,2]"},
        {"{('hello'):find('')}", "[1,0]"},
        {"{('hello'):find('', 6)}", "[6,5]"},
        {"{('hello'):find('', 7) == nil}", "[true]"},
        {"{('key = value'):match('^(%w+)%s*=%s*(%w+)$')}", "[\"key\",\"value\"]"},
        {"{('  trim  '):match('^%s*(.-)%s*$')}", "[\"trim\"]"},
        {"{('2026-11-15'):match('(%d+)-(%d+)-(%d+)')}", "[\"2026\",\"11\",\"15\"]"},
        {"{('abc'):match('()b()')}", "[2,3]"},
        {"{('f(a(b)c)d'):match('%b()')}", "[\"(a(b)c)\"]"},
        {"{('THE (quick) fox'):find('%f[%a]%a+%f[%A]', 5)}", "[6,10]"},
        {"{('say \"hi\" now'):match('([\"\\'])(.-)%1')}", "[\"\\\"\",\"hi\"]"},
        {"{('x-y]z'):match('[]%-]+', 1)}", "[\"-\"]"},
        {"{('a-z'):match('[a-]+'), ('^b'):match('[b^]+')}", "[\"a-\",\"^b\"]"},
        {"{('abc123'):match('[^%d]+'), ('ac'):match('ab?c'), ('abbc'):match('ab-c')}",
         "[\"abc\",\"ac\",\"abbc\"]"},
        {"{('ba'):match('a$'), ('a$b'):match('$b')}", "[\"a\",\"$b\"]"},
        {"{('hello world'):gsub('o', '0')}", "[\"hell0 w0rld\",2]"},
        {"{('hello'):gsub('', '-')}", "[\"-h-e-l-l-o-\",6]"},
        {"{('hello'):gsub('l*', 'x')}", "[\"xhxexox\",4]"},
        {"{('abc'):gsub('%w', '%0%0', 2)}", "[\"aabbc\",2]"},
        {"{('hello world'):gsub('(%w+) (%w+)', '%2 %1')}", "[\"world hello\",1]"},
        {"{('$name is $age'):gsub('%$(%w+)', {name = 'x', age = 3})}", "[\"x is 3\",2]"},
        {"{('abc'):gsub('%w', function(c) if c == 'b' then return '[' .. c .. ']' end end)}",
         "[\"a[b]c\",3]"},
        {"{('abc'):gsub('^%w', '-')}", "[\"-bc\",1]"},
        {"{('50%'):gsub('%%', '%%%%')}", "[\"50%%\",1]"},
        {"(function() local t = {} for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do t[k] = v end "
         "return t end)()",
         "{\"a\":\"1\",\"b\":\"2\"}"},
        {"(function() local t = array() for w in ('one  two'):gmatch('%a*') do t[#t+1] = w end "
         "return t end)()",
         "[\"one\",\"\",\"two\"]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char code[256];
        snprintf(code, sizeof code, "return %s", cases[i][0]);
        expect(KIND_LUA, code, NULL, cases[i][1]);
    }
}

static void lua_patterns_that_are_wrong_say_so(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"%", "malformed pattern (ends with '%')"},
        {"[a", "malformed pattern (missing ']')"},
        {"(a", "unfinished capture"},
        {"a)", "invalid pattern capture"},
        {"%1", "invalid capture index %1"},
        {"(%1)", "invalid capture index %1"},
        {"%bx", "malformed pattern (missing arguments to '%b')"},
        {"%fx", "missing '[' after '%f' in pattern"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char code[128], want[128];
        snprintf(code, sizeof code, "return ('abc'):match('%s')", cases[i][0]);
        snprintf(want, sizeof want, "lua: Line 10: %s", cases[i][1]);
        expect(KIND_LUA, code, NULL, want);
    }
    expect(KIND_LUA, "return ('a'):match(('(a?'):rep(40) .. (')'):rep(40))", NULL,
           "lua: Line 10: too many captures");
    expect(KIND_LUA, "return ('a'):match(('a?'):rep(300))", NULL, "\"a\"");
    expect(KIND_LUA, "return ('a'):rep(300):match(('a?'):rep(300))", NULL,
           "lua: Line 10: pattern too complex");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FAKE_TEST(jq_gives_its_first_output),
        FAKE_TEST(jq_fails_with_a_sentence),
        FAKE_TEST(shell_gives_stdout_and_exit_code),
        FAKE_TEST(shell_gets_environment_folder_and_input),
        FAKE_TEST(shell_runs_in_the_folder_of_the_run),
        FAKE_TEST(shell_says_when_the_folder_of_the_run_is_gone),
        FAKE_TEST(shell_parses_json),
        FAKE_TEST(shell_says_how_it_failed),
        FAKE_TEST(lua_keeps_its_timeout),
        FAKE_TEST(shell_keeps_its_timeout),
        FAKE_TEST(shell_output_is_bounded),
        FAKE_TEST(shell_refuses_what_no_command_can_be_given),
        FAKE_TEST(shell_writes_the_log_in_whole_characters),
        FAKE_TEST(shell_can_be_cancelled),
        FAKE_TEST(shell_that_was_dropped_is_found_again),
        FAKE_TEST(shell_that_printed_much_leaves_the_loop_to_others),
        FAKE_TEST(shell_that_printed_much_can_be_cancelled_and_dropped_while_it_is_read),
        FAKE_TEST(shell_that_was_ended_for_another_starts_again),
        FAKE_TEST(shell_that_is_found_can_be_cancelled),
        FAKE_TEST(lua_gives_what_it_returns),
        FAKE_TEST(lua_sees_the_state_without_copying_it),
        FAKE_TEST(lua_errors_name_the_line_of_the_file),
        FAKE_TEST(lua_print_goes_to_the_log_and_variables_are_globals),
        FAKE_TEST(lua_without_result_under_a_name_is_null),
        FAKE_TEST(lua_has_nothing_that_reaches_outside),
        FAKE_TEST(lua_leaves_nothing_behind_for_the_next),
        FAKE_TEST(lua_shows_no_addresses),
        FAKE_TEST(lua_is_bounded),
        FAKE_TEST(lua_patterns_are_those_of_the_manual),
        FAKE_TEST(lua_patterns_that_are_wrong_say_so),
    };
    return fake_main(tests);
}
