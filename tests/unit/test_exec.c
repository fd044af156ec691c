/* The work of node kinds, without an engine: the functions of step.h are here, around one step
 * whose result is printed as text. A failure is printed as "kind: sentence". */
#include "exec.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PARAMS = 6, FIELDS = 4 };

struct Step {
    uv_loop_t loop;
    Node node;
    Param params[PARAMS];
    Expr exprs[PARAMS + FIELDS];
    struct ParamField fields[FIELDS];
    Json state, vars[2];
    int64_t timeout;
    char place[128];
    const char *folder;
    void *data, *kind_data;
    Buf log;
    bool done;
    char *result;
    Json details;
};

static char root[64];
static int places;
static void *lua; /* the interpreter, kept from step to step as an engine does */

const Node *step_node(const Step *step) {
    return &step->node;
}

const Param *step_param(const Step *step, int index) {
    return &step->params[index];
}

Json step_state(const Step *step) {
    return step->state;
}

Json step_var(const Step *step, size_t index) {
    return step->vars[index];
}

uv_loop_t *step_loop(const Step *step) {
    return (uv_loop_t *)(uintptr_t)&step->loop;
}

const char *step_folder(const Step *step) {
    return step->folder;
}

int64_t step_timeout_ms(const Step *step) {
    return step->timeout;
}

Json step_eval(Step *step, const Expr *expr, Error *err) {
    JqHost host = {.budget = {.steps = 100000}};
    return jq_eval(expr->text, step->state, &host, err);
}

bool step_text(Step *step, const Expr *expr, Buf *out, Error *err) {
    Json value = jq_eval(expr->text, step->state, NULL, err);
    if (json_is_none(value)) return false;
    buf_add(out, json_string_data(&value), json_string_len(value));
    json_unref(value);
    return true;
}

const char *step_place(Step *step, Error *err) {
    (void)err;
    return step->place;
}

void step_set_data(Step *step, void *data) {
    step->data = data;
}

void *step_data(const Step *step) {
    return step->data;
}

void **step_kind_data(Step *step, KindId kind) {
    (void)step;
    assert_int_equal(kind, KIND_LUA);
    return &lua;
}

void step_log(Step *step, const char *stream, const char *bytes, size_t len) {
    buf_printf(&step->log, "%s|%.*s", stream, (int)len, bytes);
}

void step_succeed(Step *step, Json result) {
    assert_false(step->done);
    step->done = true;
    step->result = json_to_text(result);
    json_unref(result);
}

void step_fail(Step *step, const char *kind, Json details, const char *fmt, ...) {
    char text[2000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    assert_false(step->done);
    step->done = true;
    step->details = details;
    Buf out = BUF_INIT;
    buf_printf(&out, "%s: %s", kind, text);
    step->result = buf_detach(&out);
}

void step_fail_with(Step *step, const char *kind, const Error *err) {
    step_fail(step, kind, json_none(), "%s", err->msg);
}

/* ---- steps ---- */

static Json parse(const char *text) {
    Error err = ERROR_INIT;
    Json j = json_parse(text, strlen(text), NULL, &err);
    if (json_is_none(j)) fail_msg("%s: %s", text, err.msg);
    return j;
}

static void step_init(Step *step, const char *first, const char *state) {
    memset(step, 0, sizeof *step);
    uv_loop_init(&step->loop);
    snprintf(step->place, sizeof step->place, "%s/%d", root, ++places);
    step->folder = root;
    step->params[0].value = json_string_c(first);
    step->params[0].line = 10;
    step->exprs[0].text = first;
    step->params[0].expr = &step->exprs[0];
    step->params[SHELL_MAX_OUTPUT].number = 1 << 20;
    step->state = parse(state ? state : "{}");
}

static void set_expr(Step *step, int index, const char *text) {
    step->exprs[index].text = text;
    step->params[index].expr = &step->exprs[index];
}

static void set_env(Step *step, const char *name, const char *text) {
    Param *param = &step->params[SHELL_ENV];
    step->exprs[PARAMS + param->nfields].text = text;
    step->fields[param->nfields].name = json_string_c(name);
    step->fields[param->nfields].expr = &step->exprs[PARAMS + param->nfields];
    param->fields = step->fields;
    param->nfields++;
}

static const NodeWork *work_of(KindId kind) {
    const NodeWork *work = exec_work;
    while (work->start && work->kind != kind) work++;
    assert_non_null(work->start);
    return work;
}

static void step_run(Step *step, KindId kind) {
    work_of(kind)->start(step);
    while (!step->done) uv_run(&step->loop, UV_RUN_ONCE);
}

static void step_clear(Step *step) {
    uv_run(&step->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&step->loop), 0);
    process_forget(step->place);
    for (int i = 0; i < PARAMS; i++) json_unref(step->params[i].value);
    for (int i = 0; i < FIELDS; i++) json_unref(step->fields[i].name);
    json_unref(step->state);
    json_unref(step->vars[0]);
    json_unref(step->details);
    json_unref(step->node.output);
    buf_clear(&step->log);
    mem_free(step->result);
}

static void expect(KindId kind, const char *first, const char *state, const char *want) {
    Step step;
    step_init(&step, first, state);
    step_run(&step, kind);
    assert_string_equal(step.result, want);
    step_clear(&step);
}

static void expect_limit(KindId kind, const char *code) {
    Step step;
    step_init(&step, code, NULL);
    step_run(&step, kind);
    if (strncmp(step.result, "limit: ", 7) != 0) fail_msg("%s: %s", code, step.result);
    step_clear(&step);
}

static void expect_details(const Step *step, const char *want) {
    char *text = json_to_text(step->details);
    assert_string_equal(text, want);
    mem_free(text);
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
    step_init(&step, "echo $PAWL_TEST_OURS $PAWL_TEST_BOTH $LIST; pwd; cat",
              "{\"a\":[1,\"x\"],\"d\":\"/usr\"}");
    set_env(&step, "PAWL_TEST_BOTH", "\"theirs\"");
    set_env(&step, "LIST", ".a");
    set_expr(&step, SHELL_CWD, ".d");
    set_expr(&step, SHELL_STDIN, ".a");
    step_run(&step, KIND_SHELL);
    assert_string_equal(
        step.result,
        "{\"stdout\":\"ours theirs [1,\\\"x\\\"]\\n/usr\\n[1,\\\"x\\\"]\",\"exit_code\":0}");
    step_clear(&step);
}

static void expect_in(const char *folder, const char *cwd, const char *want) {
    Step step;
    step_init(&step, "pwd -P", NULL);
    step.folder = folder;
    if (cwd) set_expr(&step, SHELL_CWD, cwd);
    step_run(&step, KIND_SHELL);
    assert_string_equal(step.result, want);
    step_clear(&step);
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
        step_init(&step, cases[i][0], NULL);
        step.params[SHELL_PARSE].value = json_string_c("json");
        step_run(&step, KIND_SHELL);
        assert_string_equal(step.result, cases[i][1]);
        step_clear(&step);
    }
}

static void shell_says_how_it_failed(void **state) {
    (void)state;
    Step step;
    step_init(&step, "echo some; echo first >&2; echo last >&2; exit 3", NULL);
    step_run(&step, KIND_SHELL);
    assert_string_equal(step.result, "exit: Command exited with code 3: last");
    expect_details(&step, "{\"exit_code\":3,\"stdout\":\"some\",\"stderr\":\"first\\nlast\"}");
    step_clear(&step);
    expect(KIND_SHELL, "exit 4", NULL, "exit: Command exited with code 4");
    expect(KIND_SHELL, "kill -KILL $$", NULL, "signal: Command was ended by signal 9 (Killed)");
}

static void shell_keeps_its_timeout(void **state) {
    (void)state;
    Step step;
    step_init(&step, "sleep 60", NULL);
    step.timeout = 150;
    step_run(&step, KIND_SHELL);
    assert_string_equal(step.result,
                        "timeout: Command ran longer than its timeout of 150ms and was ended");
    step_clear(&step);
}

static void shell_output_is_bounded(void **state) {
    (void)state;
    for (int parse_it = 0; parse_it < 2; parse_it++) {
        Step step;
        step_init(&step, "yes | head -c 100000", NULL);
        step.params[SHELL_MAX_OUTPUT].number = 5;
        if (parse_it) step.params[SHELL_PARSE].value = json_string_c("json");
        step_run(&step, KIND_SHELL);
        assert_string_equal(step.result,
                            parse_it ? "limit: The command printed 100000 bytes, more than "
                                       "max_output keeps (5), so that they cannot be parsed. Raise "
                                       "max_output."
                                     : "{\"stdout\":\"y\\ny\\ny\",\"exit_code\":0,\"truncated\":"
                                       "true,\"stdout_bytes\":100000}");
        step_clear(&step);
    }
}

static void shell_refuses_what_no_command_can_be_given(void **state) {
    (void)state;
    Step step;
    step_init(&step, "true", NULL);
    set_env(&step, "A=B", "1");
    step_run(&step, KIND_SHELL);
    assert_string_equal(step.result, "shell: env has a variable named \"A=B\"; a name cannot be "
                                     "empty or hold '=' or NUL.");
    step_clear(&step);
    step_init(&step, "true", NULL);
    set_env(&step, "A", "\"x\\u0000y\"");
    step_run(&step, KIND_SHELL);
    assert_string_equal(step.result,
                        "shell: env.A holds a NUL character, which no variable can. Take it out.");
    step_clear(&step);
    step_init(&step, "true", NULL);
    set_env(&step, "A", "error(\"oh\")");
    step_run(&step, KIND_SHELL);
    assert_string_equal(step.result, "shell: env.A: oh");
    step_clear(&step);
    step_init(&step, "true", NULL);
    set_expr(&step, SHELL_CWD, "\"/no/such\"");
    step_run(&step, KIND_SHELL);
    assert_string_equal(step.result,
                        "spawn: Cannot start the command in /no/such: No such file or directory.");
    step_clear(&step);
}

static void shell_writes_the_log_in_whole_characters(void **state) {
    (void)state;
    Step step;
    step_init(&step, "printf 'a\\303'; sleep 0.1; printf '\\244b'; echo c >&2", NULL);
    step_run(&step, KIND_SHELL);
    assert_non_null(strstr(step.log.data, "stdout|a"));
    assert_non_null(strstr(step.log.data, "stdout|\303\244b"));
    assert_non_null(strstr(step.log.data, "stderr|c\n"));
    step_clear(&step);
}

static void shell_can_be_cancelled(void **state) {
    (void)state;
    Step step;
    step_init(&step, "sleep 60", NULL);
    work_of(KIND_SHELL)->start(&step);
    work_of(KIND_SHELL)->cancel(&step);
    while (!step.done) uv_run(&step.loop, UV_RUN_ONCE);
    assert_string_equal(step.result, "cancelled: Command was ended because the run was.");
    step_clear(&step);
}

static void shell_that_was_dropped_is_found_again(void **state) {
    (void)state;
    Step step, again;
    step_init(&step, "sleep 0.2; echo once", NULL);
    work_of(KIND_SHELL)->start(&step);
    work_of(KIND_SHELL)->drop(&step);
    uv_run(&step.loop, UV_RUN_DEFAULT);
    step_init(&again, "echo twice", NULL);
    memcpy(again.place, step.place, sizeof again.place);
    step_run(&again, KIND_SHELL);
    assert_string_equal(again.result, "{\"stdout\":\"once\",\"exit_code\":0}");
    assert_string_equal(again.log.data, "stdout|once\n");
    step_clear(&again);
    step_clear(&step);
}

/* A command that an earlier process started, was told to end, and did not see the end of. */
static void start_end_and_drop(Step *step, const char *command) {
    step_init(step, command, NULL);
    work_of(KIND_SHELL)->start(step);
    while (!step->log.len) uv_run(&step->loop, UV_RUN_ONCE);
    work_of(KIND_SHELL)->cancel(step);
    work_of(KIND_SHELL)->drop(step);
    uv_run(&step->loop, UV_RUN_DEFAULT);
}

static void shell_that_was_ended_for_another_starts_again(void **state) {
    (void)state;
    Step step, again;
    start_end_and_drop(&step, "trap '' TERM; echo ready; sleep 0.3");
    step_init(&again, "echo again", NULL);
    memcpy(again.place, step.place, sizeof again.place);
    step_run(&again, KIND_SHELL);
    assert_string_equal(again.result, "{\"stdout\":\"again\",\"exit_code\":0}");
    assert_string_equal(again.log.data, "stdout|again\n");
    step_clear(&again);
    step_clear(&step);
}

static void shell_that_is_found_can_be_cancelled(void **state) {
    (void)state;
    Step step, again;
    start_end_and_drop(&step, "trap '' TERM; echo ready; sleep 0.3");
    step_init(&again, "echo again", NULL);
    memcpy(again.place, step.place, sizeof again.place);
    work_of(KIND_SHELL)->start(&again);
    work_of(KIND_SHELL)->cancel(&again);
    while (!again.done) uv_run(&again.loop, UV_RUN_ONCE);
    assert_string_equal(again.result, "cancelled: Command was ended because the run was.");
    step_clear(&again);
    step_clear(&step);
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
        {"return 9007199254740993", NULL, "9007199254740993"},
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
        {"return 0/0", "lua: The code returns a number that is not finite, which JSON has not."},
        {"return {[true] = 1}",
         "lua: The code returns a table with a key that is neither a text nor "
         "an integer, which JSON has not."},
        {"\033Lua", "lua: attempt to load a binary chunk (mode is 't')"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect(KIND_LUA, cases[i][0], NULL, cases[i][1]);
    }
    Step step;
    step_init(&step, "\n\nerror('here')", NULL);
    step_run(&step, KIND_LUA);
    expect_details(&step, "{\"line\":12}");
    step_clear(&step);
}

static void lua_print_goes_to_the_log_and_variables_are_globals(void **state) {
    (void)state;
    Step step;
    static const char *const vars[] = {"file"};
    step_init(&step, "print('a', 1, null, {1} ~= nil) return file.name", NULL);
    step.node.vars = vars;
    step.node.nvars = 1;
    step.vars[0] = parse("{\"name\":\"x.c\"}");
    step_run(&step, KIND_LUA);
    assert_string_equal(step.log.data, "log|a\t1\tnull\ttrue\n");
    assert_string_equal(step.result, "\"x.c\"");
    step_clear(&step);
}

static void lua_without_result_under_a_name_is_null(void **state) {
    (void)state;
    Step step;
    step_init(&step, "local x = 1", NULL);
    step.node.output = json_string_c("out");
    step_run(&step, KIND_LUA);
    assert_string_equal(step.result, "null");
    step_clear(&step);
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

static int no_bytes_left(void **state) {
    (void)state;
    return json_heap_bytes() == 0 ? 0 : -1;
}

#define TEST(f) cmocka_unit_test_teardown(f, no_bytes_left)

int main(void) {
    snprintf(root, sizeof root, "/tmp/test_exec.XXXXXX");
    if (!mkdtemp(root)) return 1;
    alarm(120);
    const struct CMUnitTest tests[] = {
        TEST(jq_gives_its_first_output),
        TEST(jq_fails_with_a_sentence),
        TEST(shell_gives_stdout_and_exit_code),
        TEST(shell_gets_environment_folder_and_input),
        TEST(shell_runs_in_the_folder_of_the_run),
        TEST(shell_says_when_the_folder_of_the_run_is_gone),
        TEST(shell_parses_json),
        TEST(shell_says_how_it_failed),
        TEST(shell_keeps_its_timeout),
        TEST(shell_output_is_bounded),
        TEST(shell_refuses_what_no_command_can_be_given),
        TEST(shell_writes_the_log_in_whole_characters),
        TEST(shell_can_be_cancelled),
        TEST(shell_that_was_dropped_is_found_again),
        TEST(shell_that_was_ended_for_another_starts_again),
        TEST(shell_that_is_found_can_be_cancelled),
        TEST(lua_gives_what_it_returns),
        TEST(lua_sees_the_state_without_copying_it),
        TEST(lua_errors_name_the_line_of_the_file),
        TEST(lua_print_goes_to_the_log_and_variables_are_globals),
        TEST(lua_without_result_under_a_name_is_null),
        TEST(lua_has_nothing_that_reaches_outside),
        TEST(lua_leaves_nothing_behind_for_the_next),
        TEST(lua_is_bounded),
        TEST(lua_patterns_are_those_of_the_manual),
        TEST(lua_patterns_that_are_wrong_say_so),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    work_of(KIND_LUA)->free_data(lua);
    rmdir(root);
    return failed;
}
