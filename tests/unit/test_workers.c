/* Workers, with the interpreters that are there. A language that is not is left out, and said so.
 * */
#define _GNU_SOURCE
#include "json_test.h"
#include "mem.h"
#include "workers.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SOON_MS = 30000 }; /* on a machine that has much else to do */

/* One call and what came of it. */
typedef struct Talk {
    WorkerOptions options;
    WorkerCall *call;
    bool done, waiting;
    WorkerEnd end;
    char *value, *message, *type, *traceback;
    int line, code, signal;
    Buf log, asked;
    Json answer; /* given at once when it asks; JSON_NONE: it is left waiting */
} Talk;

static uv_loop_t loop;
static WorkerPool *pool;
static char root[64];

#define PY WORKER_PYTHON
#define JS WORKER_JAVASCRIPT

/* ---- talking ---- */

static void on_log(void *ctx, const char *stream, const char *bytes, size_t len) {
    Talk *talk = ctx;
    buf_printf(&talk->log, "%s|", stream);
    buf_add(&talk->log, bytes, len);
}

static void on_interrupt(void *ctx, Json value) {
    Talk *talk = ctx;
    json_print(value, NULL, &talk->asked);
    talk->waiting = true;
    if (json_is_none(talk->answer)) return;
    talk->waiting = false;
    worker_answer(talk->call, talk->answer);
}

static void on_end(void *ctx, const WorkerResult *r) {
    Talk *talk = ctx;
    assert_false(talk->done);
    talk->done = true;
    talk->end = r->end;
    talk->value = r->end == WORKER_RETURNED ? json_to_text(r->value) : NULL;
    talk->message = strdup(r->message);
    talk->type = strdup(r->type);
    talk->traceback = strdup(r->traceback);
    talk->line = r->line;
    talk->code = r->code;
    talk->signal = r->signal;
}

static void talk_init(Talk *talk, WorkerLanguage language, const char *code, const char *state) {
    memset(talk, 0, sizeof *talk);
    talk->options = (WorkerOptions){
        .language = language,
        .code = code ? json_string_c(code) : json_none(),
        .state = state ? parse(state) : json_none(),
        .folder = root,
        .on_log = on_log,
        .on_interrupt = on_interrupt,
        .on_end = on_end,
        .ctx = talk,
    };
}

static void talk_clear(Talk *talk) {
    WorkerOptions *o = &talk->options;
    Json values[] = {o->code, o->state, o->env, o->vars, o->answers, talk->answer};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) json_unref(values[i]);
    free(talk->value);
    free(talk->message);
    free(talk->type);
    free(talk->traceback);
    buf_clear(&talk->log);
    buf_clear(&talk->asked);
}

static void talk_start(Talk *talk) {
    Error err = ERROR_INIT;
    talk->call = worker_call(pool, &talk->options, &err);
    if (!talk->call) fail_msg("%s", err.msg);
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void talk_wait(Talk *talk) {
    int64_t end = now_ms() + 60000;
    while (!talk->done && !talk->waiting) {
        uv_run(&loop, UV_RUN_ONCE);
        if (now_ms() > end) fail_msg("the call does not end");
    }
}

static void talk_run(Talk *talk) {
    talk_start(talk);
    talk_wait(talk);
}

static const char *text_of(const Buf *buf) {
    return buf->data ? buf->data : "";
}

static void expect(WorkerLanguage language, const char *code, const char *state, const char *want) {
    Talk talk;
    talk_init(&talk, language, code, state);
    talk_run(&talk);
    if (talk.end != WORKER_RETURNED) fail_msg("%s: %s\n%s", code, talk.message, talk.traceback);
    assert_string_equal(talk.value, want);
    talk_clear(&talk);
}

static void expect_end(WorkerLanguage language, const char *code, WorkerEnd end, const char *part) {
    Talk talk;
    talk_init(&talk, language, code, NULL);
    talk_run(&talk);
    if (talk.end != end) fail_msg("%s: ended with %d: %s", code, talk.end, talk.message);
    expect_contains(talk.message, part);
    talk_clear(&talk);
}

static int pid_of(WorkerLanguage language) {
    Talk talk;
    talk_init(&talk, language,
              language == PY ? "import os\nreturn os.getpid()" : "return process.pid", NULL);
    talk_run(&talk);
    int pid = atoi(talk.value);
    talk_clear(&talk);
    return pid;
}

/* ---- the world ---- */

static bool is_there(const char *program) {
    char command[100];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    return system(command) == 0;
}

static void write_file(const char *name, const char *text) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static int open_descriptors(void) {
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir)) n++;
    closedir(dir);
    return n;
}

/* The letter of /proc for what a process does; 0: it is not there. */
static char state_of(int pid) {
    char path[40], line[200] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *in = fopen(path, "r");
    if (!in) return 0;
    if (!fgets(line, sizeof line, in)) line[0] = '\0';
    fclose(in);
    const char *after = strrchr(line, ')');
    return after ? after[2] : '\0';
}

/* Whether a process is there, and no zombie. */
static bool lives(int pid) {
    char does = state_of(pid);
    return does && does != 'Z' && does != 'X';
}

static void expect_gone(int pid) {
    for (int i = 0; i < 3000 && lives(pid); i++) usleep(10000);
    if (lives(pid)) fail_msg("process %d still lives", pid);
}

static void on_timer(uv_timer_t *timer) {
    uv_close((uv_handle_t *)timer, NULL);
}

/* The loop runs for a while, whether or not the pool keeps it alive. */
static void settle(int ms) {
    uv_timer_t timer;
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, on_timer, (uint64_t)ms, 0);
    uv_run(&loop, UV_RUN_DEFAULT);
}

static void expect_workers(int n) {
    for (int i = 0; i < 3000 && worker_pool_size(pool, PY) != n; i++) settle(10);
    assert_int_equal(worker_pool_size(pool, PY), n);
}

static void pool_up(WorkerPoolOptions options) {
    assert_int_equal(uv_loop_init(&loop), 0);
    if (!options.environment) options.environment = (const char *const *)environ;
    pool = worker_pool_new(&loop, &options);
}

static void pool_down(void) {
    worker_pool_free(pool);
    pool = NULL;
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left, dead or alive */
}

static int up(void **state) {
    (void)state;
    pool_up((WorkerPoolOptions){0});
    return 0;
}

static int down(void **state) {
    (void)state;
    pool_down();
    return 0;
}

/* ---- calls ---- */

static void code_gets_the_state_and_returns_the_update(void **state) {
    (void)state;
    expect(PY, "return {\"n\": state[\"n\"] + 1}", "{\"n\":1}", "{\"n\":2}");
    expect(JS, "return {n: state.n + 1}", "{\"n\":1}", "{\"n\":2}");
    expect(PY, "pass", "{}", "null");
    expect(PY, "# only a comment", "{}", "null");
    expect(JS, "// only a comment", "{}", "null");
    expect(PY, "return state", "{\"a\":[1,2.5,true,null,\"\\u00e9\\ud83d\\ude00\"]}",
           "{\"a\":[1,2.5,true,null,\"\xC3\xA9\xF0\x9F\x98\x80\"]}");
    expect(JS, "return state", "{\"a\":[1,2.5,true,null,\"\\u00e9\\ud83d\\ude00\"]}",
           "{\"a\":[1,2.5,true,null,\"\xC3\xA9\xF0\x9F\x98\x80\"]}");
}

static void python_keeps_texts_of_several_lines_and_large_integers(void **state) {
    (void)state;
    expect(PY, "text = \"\"\"a\n  b\nc\"\"\"\nreturn text", "{}", "\"a\\n  b\\nc\"");
    expect(PY, "return state[\"n\"] + 1", "{\"n\":123456789012345678901234567890}",
           "123456789012345678901234567891");
}

static void code_may_wait(void **state) {
    (void)state;
    expect(JS, "await new Promise((go) => setTimeout(go, 5)); return 1", "{}", "1");
    expect(JS,
           "const {readFile} = await import('fs/promises');\n"
           "return (await readFile('/dev/null', 'utf8')).length",
           "{}", "0");
    expect(PY, "import asyncio\nawait asyncio.sleep(0.001)\nreturn 1", "{}", "1");
}

static void code_sees_env_and_variables_by_name(void **state) {
    (void)state;
    const char *const codes[] = {"return [env[\"A\"], file, index]", "return [env.A, file, index]"};
    for (int i = 0; i < 2; i++) {
        Talk talk;
        talk_init(&talk, i ? JS : PY, codes[i], "{}");
        talk.options.env = parse("{\"A\":[1]}");
        talk.options.vars = parse("{\"file\":\"x\",\"index\":3,\"class\":0}");
        talk_run(&talk);
        assert_string_equal(talk.value ? talk.value : talk.message, "[[1],\"x\",3]");
        talk_clear(&talk);
    }
}

static void code_runs_in_the_folder(void **state) {
    (void)state;
    char want[80];
    snprintf(want, sizeof want, "\"%s\"", root);
    expect(PY, "import os\nreturn os.getcwd()", "{}", want);
    expect(JS, "return process.cwd()", "{}", want);
    expect(JS, "return typeof require('fs').readFileSync", "{}", "\"function\"");
}

static void one_worker_does_many_calls(void **state) {
    (void)state;
    for (WorkerLanguage language = PY; language <= JS; language++) {
        int first = pid_of(language);
        for (int i = 0; i < 5; i++) assert_int_equal(pid_of(language), first);
        assert_int_equal(worker_pool_size(pool, language), 1);
    }
}

static void code_is_compiled_once_and_its_globals_are_its_own(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        expect(PY, "global seen\ntry:\n    seen += 1\nexcept NameError:\n    seen = 1\nreturn seen",
               "{}", "1");
    }
    char code[40];
    for (int i = 0; i < 600; i++) { /* more than there are slots */
        char want[12];
        snprintf(code, sizeof code, "return %d", i % 300);
        snprintf(want, sizeof want, "%d", i % 300);
        expect(PY, code, "{}", want);
        if (i % 7 == 0) expect(JS, code, "{}", want);
    }
}

static void what_is_printed_is_the_log_and_comes_before_the_end(void **state) {
    (void)state;
    Talk talk;
    talk_init(&talk, PY,
              "import sys\nprint('out \xC3\xA9')\nprint('err', file=sys.stderr)\n"
              "sys.stdout.write('no newline')\nlog('said', 1)\nreturn 1",
              "{}");
    talk_run(&talk);
    expect_contains(text_of(&talk.log), "stdout|out \xC3\xA9\n");
    expect_contains(text_of(&talk.log), "stderr|err\n");
    expect_contains(text_of(&talk.log), "no newline");
    expect_contains(text_of(&talk.log), "log|said 1\n");
    talk_clear(&talk);
    talk_init(&talk, JS, "console.log('out', {a: 1}); console.error('err'); log('said', 1);", "{}");
    talk_run(&talk);
    expect_contains(text_of(&talk.log), "stdout|out { a: 1 }\n");
    expect_contains(text_of(&talk.log), "stderr|err\n");
    expect_contains(text_of(&talk.log), "log|said 1\n");
    talk_clear(&talk);
}

/* Texts of large parts are kept from call to call: they have to be those of the values. */
static void a_state_that_changes_in_places_arrives_as_it_is(void **state) {
    (void)state;
    Json parts = json_object();
    for (int i = 0; i < 20; i++) { /* more than are kept */
        Json items = json_array();
        for (int n = 0; n < 3000; n++)
            items = json_array_push(items, json_string_fmt("%d-%d \"\xC3\xA9\"", i, n));
        Json inner = json_object_with(json_object(), "small", json_int(i));
        inner = json_object_with(inner, "items", items);
        Json key = json_string_fmt("part %d", i);
        parts = json_object_set(parts, key, inner);
    }
    Json whole =
        json_object_with(json_object_with(json_object(), "n", json_int(0)), "parts", parts);
    for (int i = 0; i < 12; i++) {
        Talk talk;
        talk_init(&talk, i % 3 ? PY : JS, "return state", NULL);
        talk.options.state = json_ref(whole);
        talk_run(&talk);
        char *want = json_to_text(whole);
        assert_string_equal(talk.value, want);
        mem_free(want);
        talk_clear(&talk);
        Json part_key = json_string_fmt("part %d", i), n = json_string_c("n");
        whole = json_object_set(whole, n, json_int(i));
        Json all = json_ref(json_object_get_c(whole, "parts"));
        Json part = json_ref(json_object_get(all, part_key));
        Json items = json_array_set(json_ref(json_object_get_c(part, "items")), (size_t)i * 100,
                                    json_int(i));
        all = json_object_set(all, part_key, json_object_with(part, "items", items));
        whole = json_object_with(whole, "parts", all);
    }
    json_unref(whole);
}

static void large_states_go_both_ways(void **state) {
    (void)state;
    for (WorkerLanguage language = PY; language <= JS; language++) {
        Talk talk;
        talk_init(&talk, language, language == PY ? "return state" : "return state", NULL);
        Json items = json_array();
        for (int i = 0; i < 100000; i++)
            items = json_array_push(items, json_string_fmt("item %d, with some text", i));
        talk.options.state = json_object_with(json_object(), "items", items);
        char *want = json_to_text(talk.options.state);
        talk_run(&talk);
        assert_string_equal(talk.value, want);
        mem_free(want);
        talk_clear(&talk);
    }
}

/* ---- errors ---- */

static void an_exception_has_type_message_line_and_traceback(void **state) {
    (void)state;
    Talk talk;
    talk_init(&talk, PY, "x = 1\ndef inner():\n    return {}['k']\nreturn inner()", "{}");
    talk_run(&talk);
    assert_int_equal(talk.end, WORKER_RAISED);
    assert_string_equal(talk.message, "KeyError: 'k'");
    assert_string_equal(talk.type, "KeyError");
    assert_int_equal(talk.line, 3);
    expect_contains(talk.traceback, "return {}['k']");
    assert_null(strstr(talk.traceback, "<pawl>"));
    talk_clear(&talk);
    talk_init(&talk, JS, "const x = 1;\nfunction inner() {\n  return null.k;\n}\nreturn inner()",
              "{}");
    talk_run(&talk);
    assert_int_equal(talk.end, WORKER_RAISED);
    assert_string_equal(talk.type, "TypeError");
    expect_contains(talk.message, "TypeError: Cannot read prop");
    assert_int_equal(talk.line, 3);
    expect_contains(talk.traceback, "inner");
    assert_null(strstr(talk.traceback, "<pawl>"));
    talk_clear(&talk);
}

static void a_mistake_in_the_code_has_its_line(void **state) {
    (void)state;
    Talk talk;
    talk_init(&talk, PY, "x = 1\ny = = 2", "{}");
    talk_run(&talk);
    assert_int_equal(talk.end, WORKER_RAISED);
    expect_contains(talk.message, "SyntaxError: invalid syntax");
    assert_int_equal(talk.line, 2);
    talk_clear(&talk);
    talk_init(&talk, JS, "const x = 1;\nconst y = = 2;", "{}");
    talk_run(&talk);
    assert_int_equal(talk.end, WORKER_RAISED);
    expect_contains(talk.message, "SyntaxError: Unexpected token");
    assert_int_equal(talk.line, 2);
    talk_clear(&talk);
}

static void the_worker_goes_on_after_an_exception(void **state) {
    (void)state;
    int python = pid_of(PY), node = pid_of(JS);
    const char *const pythons[] = {"raise ValueError('no')",
                                   "import sys\nsys.exit(3)",
                                   "return {1, 2}",
                                   "a = []\na.append(a)\nreturn a",
                                   "def f(): return f()\nf()",
                                   "raise KeyboardInterrupt",
                                   "y = = 2",
                                   "return object()"};
    const char *const scripts[] = {"throw new Error('no')",
                                   "throw 'text'",
                                   "throw null",
                                   "return 1n",
                                   "const a = []; a.push(a); return a",
                                   "(function f() { f() })()",
                                   "const y = = 2",
                                   "await Promise.reject(new Error('no'))"};
    for (size_t i = 0; i < sizeof pythons / sizeof *pythons; i++) {
        expect_end(PY, pythons[i], WORKER_RAISED, "");
    }
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        expect_end(JS, scripts[i], WORKER_RAISED, "");
    }
    assert_int_equal(pid_of(PY), python);
    assert_int_equal(pid_of(JS), node);
}

static void an_error_that_nobody_waited_for_ends_the_worker_too(void **state) {
    const char *const scripts[] = {
        "Promise.reject(new Error('floating')); return 1",
        "setTimeout(() => { throw new Error('later') }, 1); await new Promise((go) => setTimeout(go, 50))"};
    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        int node = pid_of(JS);
        expect_end(JS, scripts[i], WORKER_RAISED, "");
        assert_int_not_equal(pid_of(JS), node);
    }
}

static void javascript_that_waits_for_nothing_is_told_so(void **state) {
    (void)state;
    int node = pid_of(JS);
    for (int i = 0; i < 3; i++) {
        expect_end(JS, "await new Promise(() => {})", WORKER_RAISED, "can never happen");
    }
    assert_int_equal(pid_of(JS), node);
}

static void a_state_that_the_interpreter_cannot_take_is_an_error(void **state) {
    (void)state;
    Talk talk;
    Json deep = json_null();
    for (int i = 0; i < 5000; i++) {
        Json one[] = {deep};
        deep = json_array_from(one, 1);
    }
    talk_init(&talk, PY, "return 1", NULL);
    talk.options.state = deep;
    talk_run(&talk);
    assert_int_equal(talk.end, WORKER_RAISED);
    expect_contains(talk.message, "RecursionError");
    talk_clear(&talk);
}

static void a_missing_interpreter_is_a_sentence(void **state) {
    (void)state;
    static const struct {
        const char *environment[2], *says;
    } cases[] = {
        {{"PAWL_PYTHON=/nowhere/python3", NULL}, "PAWL_PYTHON names /nowhere/python3"},
        {{"PATH=/nowhere", NULL}, "python3 is needed"},
        {{NULL}, "python3 is needed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Talk talk;
        Error err = ERROR_INIT;
        pool_down();
        pool_up((WorkerPoolOptions){.environment = cases[i].environment});
        talk_init(&talk, PY, "return 1", "{}");
        assert_null(worker_call(pool, &talk.options, &err));
        expect_contains(err.msg, cases[i].says);
        talk_clear(&talk);
    }
}

static void an_interpreter_that_cannot_be_executed_is_a_sentence(void **state) {
    (void)state;
    char variable[120], *path = variable + strlen("PAWL_PYTHON=");
    const char *environment[] = {variable, NULL};
    write_file("broken", "#!/nowhere/interpreter\n");
    snprintf(variable, sizeof variable, "PAWL_PYTHON=%s/broken", root);
    chmod(path, 0755);
    pool_down();
    pool_up((WorkerPoolOptions){.environment = environment});
    expect_end(PY, "return 1", WORKER_UNSTARTED, "Cannot start Python: No such file");
}

/* ---- asking ---- */

static void interrupt_gives_recorded_answers_and_then_asks(void **state) {
    (void)state;
    const char *const codes[] = {
        "return [interrupt({\"q\": 1}), interrupt({\"q\": 2}), interrupt({\"q\": 3})]",
        "return [interrupt({q: 1}), await interrupt({q: 2}), interrupt({q: 3})]"};
    for (int i = 0; i < 2; i++) {
        Talk talk;
        talk_init(&talk, i ? JS : PY, codes[i], "{}");
        talk.options.answers = parse("[\"first\"]");
        talk.answer = parse("{\"now\":true}");
        talk_run(&talk);
        assert_string_equal(text_of(&talk.asked), "{\"q\":2}{\"q\":3}");
        assert_string_equal(talk.value, "[\"first\",{\"now\":true},{\"now\":true}]");
        talk_clear(&talk);
    }
}

static void a_waiting_call_keeps_neither_the_loop_nor_a_place(void **state) {
    (void)state;
    pool_down();
    pool_up((WorkerPoolOptions){.busy_max = 1});
    Talk talk, other;
    talk_init(&talk, PY, "x = interrupt(1)\nreturn x", "{}");
    talk_run(&talk);
    assert_true(talk.waiting);
    assert_true(worker_is_waiting(talk.call));
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0); /* comes back */
    talk_init(&other, PY, "return 2", "{}");
    talk_run(&other);
    assert_string_equal(other.value, "2");
    talk.waiting = false;
    Json answer = json_int(5);
    worker_answer(talk.call, answer);
    talk_wait(&talk);
    assert_string_equal(talk.value, "5");
    talk_clear(&talk);
    talk_clear(&other);
}

static void a_waiting_call_whose_worker_is_killed_ends(void **state) {
    (void)state;
    Talk talk;
    talk_init(&talk, PY, "return interrupt(1)", "{}");
    talk_run(&talk);
    talk.waiting = false;
    kill(worker_pid(talk.call), SIGKILL);
    while (!talk.done) settle(10);
    assert_int_equal(talk.end, WORKER_DIED);
    talk_clear(&talk);
}

static void a_waiting_call_can_be_dropped_and_cancelled(void **state) {
    (void)state;
    Talk talk;
    talk_init(&talk, JS, "return interrupt(1)", "{}");
    talk_run(&talk);
    int pid = worker_pid(talk.call);
    worker_drop(talk.call);
    expect_gone(pid);
    talk_clear(&talk);
    talk_init(&talk, JS, "return interrupt(1)", "{}");
    talk_run(&talk);
    talk.waiting = false;
    worker_cancel(talk.call);
    talk_wait(&talk);
    assert_int_equal(talk.end, WORKER_CANCELLED);
    talk_clear(&talk);
}

/* ---- programs ---- */

static void init_program(Talk *talk, WorkerLanguage language, const char *file,
                         const char *function, const char *state) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", root, file);
    talk_init(talk, language, NULL, state);
    talk->options.file = path;
    talk->options.function = function;
}

static void expect_program(WorkerLanguage language, const char *file, const char *function,
                           const char *state, const char *want) {
    Talk talk;
    init_program(&talk, language, file, function, state);
    talk.options.env = parse("{\"E\":1}");
    talk.answer = parse("\"yes\"");
    talk_run(&talk);
    if (!talk.value) fail_msg("%s %s: %s\n%s", file, function, talk.message, talk.traceback);
    assert_string_equal(talk.value, want);
    talk_clear(&talk);
}

static void functions_of_a_program_are_called_by_name(void **state) {
    (void)state;
    write_file("helper.py", "def double(n):\n    return n * 2\n");
    write_file("nodes.py", "from pawl import interrupt, node, serve\n"
                           "import helper\n"
                           "count = 0\n"
                           "@node\n"
                           "def analyze(state):\n"
                           "    global count\n"
                           "    count += 1\n"
                           "    return {'n': helper.double(state['n']), 'count': count}\n"
                           "@node('with_env')\n"
                           "def other(state, env):\n"
                           "    return env['E']\n"
                           "@node()\n"
                           "async def ask(state):\n"
                           "    return interrupt('?')\n"
                           "serve()\n"
                           "print('never reached')\n");
    expect_program(PY, "nodes.py", "analyze", "{\"n\":4}", "{\"n\":8,\"count\":1}");
    expect_program(PY, "nodes.py", "analyze", "{\"n\":4}", "{\"n\":8,\"count\":2}");
    expect_program(PY, "nodes.py", "with_env", "{}", "1");
    expect_program(PY, "nodes.py", "ask", "{}", "\"yes\"");
    const char *body = "let count = 0;\n"
                       "node('analyze', async (state) => ({n: state.n * 2, count: ++count}));\n"
                       "node('with_env', (state, env) => env.E);\n"
                       "node(function ask(state) { return interrupt('?'); });\n"
                       "serve();\n";
    char text[1000];
    snprintf(text, sizeof text, "const {node, serve, interrupt} = require('pawl');\n%s", body);
    write_file("nodes.js", text);
    snprintf(text, sizeof text, "import {node, serve, interrupt} from 'pawl';\n%s", body);
    write_file("nodes.mjs", text);
    const char *const files[] = {"nodes.js", "nodes.mjs"};
    for (int i = 0; i < 2; i++) {
        expect_program(JS, files[i], "analyze", "{\"n\":4}", "{\"n\":8,\"count\":1}");
        expect_program(JS, files[i], "analyze", "{\"n\":4}", "{\"n\":8,\"count\":2}");
        expect_program(JS, files[i], "with_env", "{}", "1");
        expect_program(JS, files[i], "ask", "{}", "\"yes\"");
    }
}

static void a_program_that_changed_is_loaded_anew(void **state) {
    (void)state;
    write_file("change.py", "from pawl import node\n@node\ndef f(state): return 1\n");
    expect_program(PY, "change.py", "f", "{}", "1");
    write_file("change.py", "from pawl import node\n@node\ndef f(state): return 'two'\n");
    expect_program(PY, "change.py", "f", "{}", "\"two\"");
}

static void expect_program_fails(WorkerLanguage language, const char *file, const char *function,
                                 const char *part, int line) {
    Talk talk;
    init_program(&talk, language, file, function, "{}");
    talk_run(&talk);
    assert_int_equal(talk.end, WORKER_RAISED);
    expect_contains(talk.message, part);
    if (line) assert_int_equal(talk.line, line);
    talk_clear(&talk);
}

static void what_is_wrong_with_a_program_is_said(void **state) {
    (void)state;
    Talk talk;
    Error err = ERROR_INIT;
    write_file("wrong.py", "import pawl\nx = = 1\n");
    expect_program_fails(PY, "wrong.py", "f", "SyntaxError", 2);
    expect_program_fails(PY, "wrong.py", "f", "SyntaxError", 2);
    write_file("raises.py", "import pawl\nraise ValueError('at load')\n");
    expect_program_fails(PY, "raises.py", "f", "ValueError: at load", 2);
    write_file("empty.py", "from pawl import node\n@node\ndef g(state):\n  return 1 // 0\n");
    expect_program_fails(PY, "empty.py", "f", "no @node function `f`; it has: g.", 0);
    expect_program_fails(PY, "empty.py", "g", "ZeroDivisionError", 4);
    write_file("wrong.js", "require('pawl');\nconst x = = 1;\n");
    expect_program_fails(JS, "wrong.js", "f", "SyntaxError", 2);
    write_file("empty.js", "require('pawl').node('g', () => {\n  return null.x;\n})\n");
    expect_program_fails(JS, "empty.js", "f", "no node `f`; it has: g.", 0);
    expect_program_fails(JS, "empty.js", "g", "TypeError", 2);
    init_program(&talk, PY, "missing.py", "f", "{}");
    assert_null(worker_call(pool, &talk.options, &err));
    expect_contains(err.msg, "missing.py: No such file");
    talk_clear(&talk);
}

static void serve_outside_of_pawl_says_so(void **state) {
    (void)state;
    char command[500];
    const char *sdk = getenv("PAWL_SDK");
    if (!sdk) sdk = "sdk";
    struct stat st;
    if (stat(sdk, &st) != 0) skip();
    snprintf(command, sizeof command,
             "PYTHONPATH=%s/python python3 -c 'import pawl; pawl.serve()' 2>&1 </dev/null | "
             "grep -q 'is started by pawl'",
             sdk);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command,
             "cd %s && node -e 'require(\"./javascript\").serve()' 2>&1 </dev/null | "
             "grep -q 'is started by pawl'",
             sdk);
    assert_int_equal(system(command), 0);
}

/* ---- hostile workers ---- */

static void a_worker_that_dies_ends_the_call_and_is_replaced(void **state) {
    (void)state;
    Talk talk;
    int before = pid_of(PY);
    talk_init(&talk, PY, "import os, sys\nprint('last words', file=sys.stderr)\nos._exit(3)", "{}");
    talk_run(&talk);
    assert_int_equal(talk.end, WORKER_DIED);
    assert_int_equal(talk.code, 3);
    assert_string_equal(talk.message,
                        "Python ended with exit code 3 before the code returned: last words");
    talk_clear(&talk);
    talk_init(&talk, PY, "import os\nos.kill(os.getpid(), 11)", "{}");
    talk_run(&talk);
    assert_int_equal(talk.end, WORKER_DIED);
    assert_int_equal(talk.signal, SIGSEGV);
    talk_clear(&talk);
    assert_int_not_equal(pid_of(PY), before);
    expect_end(JS, "process.exit(4)", WORKER_DIED, "Node.js ended with exit code 4");
    expect(JS, "return 1", "{}", "1");
}

static void a_worker_that_hangs_is_cancelled_and_replaced(void **state) {
    (void)state;
    const char *const codes[] = {"print('on', flush=True)\nwhile True: pass",
                                 ("import signal\nsignal.signal(15, signal.SIG_IGN)\n"
                                  "print('on', flush=True)\nwhile True: pass"),
                                 "console.log('on'); for (;;) {}"};
    for (int i = 0; i < 3; i++) {
        Talk talk;
        talk_init(&talk, i < 2 ? PY : JS, codes[i], "{}");
        talk_start(&talk);
        int pid = worker_pid(talk.call);
        while (!talk.log.len) uv_run(&loop, UV_RUN_ONCE);
        worker_cancel(talk.call);
        worker_cancel(talk.call);
        int64_t start = now_ms();
        talk_wait(&talk);
        assert_int_equal(talk.end, WORKER_CANCELLED);
        assert_true(now_ms() - start < SOON_MS);
        assert_false(lives(pid));
        talk_clear(&talk);
    }
    expect(PY, "return 1", "{}", "1");
    expect(JS, "return 1", "{}", "1");
}

static void rubbish_on_the_protocol_ends_the_call(void **state) {
    (void)state;
    const char *const rubbish[] = {"b'hello\\n'",
                                   "b'{\"call\": 1\\n'",
                                   "b'\"\\n'",
                                   "b'[]\\n'",
                                   "b'7\\n'",
                                   "b'{}\\n'",
                                   "b'\\x00\\xff\\n'",
                                   "b'{\"call\":0,\"result\":1}\\n'",
                                   "b'{\"call\":\"x\",\"result\":1}\\n'",
                                   "b'{\"call\":99999,\"interrupt\":1}\\n'"};
    for (size_t i = 0; i < sizeof rubbish / sizeof *rubbish; i++) {
        char code[200];
        snprintf(code, sizeof code, "import os\nos.write(3, %s)\nimport time\ntime.sleep(30)",
                 rubbish[i]);
        expect_end(PY, code, WORKER_RUBBISH, "descriptor 3");
    }
    expect_end(PY, "import os\nos.write(3, b'x')\nreturn 1", WORKER_RUBBISH, "descriptor 3");
    expect_end(JS, "require('fs').writeSync(3, 'x')\nreturn 1", WORKER_RUBBISH, "descriptor 3");
    expect(PY, "return 1", "{}", "1");
}

/* Messages that name the call, and are none all the same: each field of each, of another type. */
static void messages_of_another_shape_end_the_call(void **state) {
    (void)state;
    const char *const fields[] = {
        "\"error\":4702111234474983745",
        "\"error\":null",
        "\"error\":true",
        "\"error\":1.5e300",
        "\"error\":\"text\"",
        "\"error\":\"a text that is longer than thirteen bytes\"",
        "\"error\":[]",
        "\"error\":{}",
        "\"error\":{\"type\":1,\"message\":\"m\"}",
        "\"error\":{\"type\":null,\"message\":\"m\"}",
        "\"error\":{\"type\":\"T\",\"message\":[]}",
        "\"error\":{\"type\":\"T\",\"message\":\"m\",\"traceback\":7}",
        "\"error\":{\"type\":\"T\",\"message\":\"m\",\"line\":\"x\"}",
        "\"error\":{\"type\":\"T\",\"message\":\"m\",\"line\":1e40}",
        "\"error\":{\"type\":\"T\",\"message\":\"m\",\"limit\":{}}",
        "\"error\":{\"type\":\"T\",\"message\":\"m\",\"retire\":0}",
        "\"log\":5",
        "\"log\":null",
        "\"set\":\"var\",\"name\":\"a\",\"value\":1",
        "\"result\":1,\"log\":\"both\"",
        "\"unheard\":1",
        "\"spawn\":4702111234474983745",
        "\"spawn\":2",
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char code[400];
        snprintf(code, sizeof code,
                 "import json, os, pawl, time\nt = json.dumps(pawl._worker.call.token)\n"
                 "os.write(3, b'{\"call\":' + t.encode() + b',' + '%s'.encode() + b'}\\n')\n"
                 "time.sleep(30)",
                 fields[i]);
        expect_end(PY, code, WORKER_RUBBISH, "descriptor 3");
    }
    const char *const lone[] = {"{\"spawn\":-1}", "{\"spawn\":null}", "{\"spawn\":1e300}",
                                "{\"call\":null,\"result\":1}", "{\"call\":[],\"error\":1}"};
    for (size_t i = 0; i < sizeof lone / sizeof *lone; i++) {
        char code[200];
        snprintf(code, sizeof code, "import os, time\nos.write(3, b'%s\\n')\ntime.sleep(30)",
                 lone[i]);
        expect_end(PY, code, WORKER_RUBBISH, "descriptor 3");
    }
    expect(PY, "return 1", "{}", "1");
}

static void an_exception_without_a_name_is_one_too(void **state) {
    (void)state;
    const char *const pythons[] = {
        "raise type('', (Exception,), {})()",
        "e = type('x', (Exception,), {})('\\0')\ntype(e).__name__ = ''\nraise e",
    };
    const char *const scripts[] = {
        "const e = new Error(''); e.name = ''; throw e",
        "const e = new Error('\\0'); e.name = '\\0'; throw e",
    };
    for (size_t i = 0; i < 2; i++) {
        expect_end(PY, pythons[i], WORKER_RAISED, "neither a name nor a message");
        expect_end(JS, scripts[i], WORKER_RAISED, "neither a name nor a message");
    }
    expect_end(PY,
               "class M(type):\n    __name__ = property(lambda c: 7)\n"
               "class E(Exception, metaclass=M):\n    def __str__(self): raise self\nraise E",
               WORKER_RAISED, "7");
    expect_end(PY, "raise type('', (Exception,), {})('why')", WORKER_RAISED, "why");
    expect_end(PY, "e = SyntaxError('no')\ne.filename = '<code 0>'\ne.lineno = 'x'\nraise e",
               WORKER_RAISED, "SyntaxError");
    expect_end(PY, "e = SyntaxError('no')\ne.msg = [1]\nraise e", WORKER_RAISED, "[1]");
    expect_end(JS,
               "const e = new Error('no');\n"
               "for (const k of ['name', 'message', 'stack'])\n"
               "  Object.defineProperty(e, k, {get() { throw e }});\nthrow e",
               WORKER_RAISED, "neither a name nor a message");
    expect_end(JS, "const e = new Error('no'); e.stack = '<code 9>:' + '9'.repeat(400); throw e",
               WORKER_RAISED, "Error: no");
    expect(PY, "return 1", "{}", "1");
}

static void the_words_of_an_exception_are_bounded(void **state) {
    (void)state;
    Talk talk;
    talk_init(&talk, PY,
              "import json, os, pawl, time\n"
              "e = {'type': 'T', 'message': '\xC3\xA9' * (4 << 20), 'traceback': 'x' * (4 << 20)}\n"
              "m = json.dumps({'call': pawl._worker.call.token, 'error': e}).encode() + b'\\n'\n"
              "while m: m = m[os.write(3, m):]\ntime.sleep(30)",
              "{}");
    talk_run(&talk);
    assert_int_equal(talk.end, WORKER_RAISED);
    assert_true(strlen(talk.message) <= (64 << 10) + 3);
    assert_true(strlen(talk.traceback) <= 64 << 10);
    talk_clear(&talk);
}

static void what_a_call_left_behind_cannot_answer_the_next(void **state) {
    (void)state;
    expect(PY,
           "import threading, os, time\n"
           "def later():\n"
           "    time.sleep(0.5)\n"
           "    os.write(3, b'{\"call\":2,\"result\":\"stolen\"}\\n')\n"
           "threading.Thread(target=later, daemon=True).start()\nreturn 1",
           "{}", "1");
    expect_end(PY, "import time\ntime.sleep(20)\nreturn 'own'", WORKER_RUBBISH, "descriptor 3");
    expect(PY,
           "import threading, time\n"
           "def later():\n"
           "    time.sleep(0.5)\n"
           "    try: log('in the name of another')\n"
           "    except RuntimeError: pass\n"
           "    interrupt('in the name of another')\n"
           "threading.Thread(target=later, daemon=True).start()\nreturn 1",
           "{}", "1");
    Talk talk;
    talk_init(&talk, PY, "import time\ntime.sleep(1.5)\nreturn 'own'", "{}");
    talk_run(&talk);
    assert_string_equal(talk.value, "\"own\"");
    assert_null(strstr(text_of(&talk.log), "log|in the name of another"));
    expect_contains(text_of(&talk.log), "has ended");
    talk_clear(&talk);
}

static void a_token_belongs_to_one_call(void **state) {
    (void)state;
    expect(PY,
           "import threading, os, time, pawl, json\n"
           "t = json.dumps(pawl._worker.call.token).encode()\n"
           "def later():\n"
           "    time.sleep(0.5)\n"
           "    os.write(3, b'{\"call\":' + t + b',\"result\":\"stolen\"}\\n')\n"
           "threading.Thread(target=later, daemon=True).start()\nreturn 1",
           "{}", "1");
    expect_end(PY, "import time\ntime.sleep(20)\nreturn 'own'", WORKER_RUBBISH,
               "belongs to no call");
    expect(PY, "return 1", "{}", "1");
}

static void a_worker_that_closes_its_socket_is_replaced(void **state) {
    (void)state;
    expect_end(PY, "import os, time\nos.close(3)\ntime.sleep(30)", WORKER_RUBBISH, "descriptor 3");
    expect(PY, "return 1", "{}", "1");
}

static void rubbish_between_calls_costs_the_worker_only(void **state) {
    (void)state;
    expect(PY,
           "import threading, os, time\n"
           "threading.Thread(target=lambda: (time.sleep(0.05), os.write(3, b'late\\n')),"
           " daemon=True).start()\nreturn 1",
           "{}", "1");
    settle(300);
    expect(PY, "return 2", "{}", "2");
}

static void a_hundred_megabytes_are_printed_and_cost_nothing(void **state) {
    (void)state;
    const char *const codes[] = {
        "import os\nline = b'x' * 65535 + b'\\n'\nfor i in range(1600): os.write(1, line)\nreturn 1",
        "const line = 'x'.repeat(65535) + '\\n';\n"
        "for (let i = 0; i < 1600; i++) process.stdout.write(line);\nreturn 1"};
    for (int i = 0; i < 2; i++) {
        Talk talk;
        talk_init(&talk, i ? JS : PY, codes[i], "{}");
        talk.options.max_output = 100;
        talk_run(&talk);
        assert_int_equal(talk.end, WORKER_RETURNED);
        assert_true(talk.log.len < 300);
        expect_contains(text_of(&talk.log),
                        "log|... 104857524 bytes of stdout are left out here ...\n");
        expect_contains(text_of(&talk.log), "xxxxxxxxxxx\n");
        talk_clear(&talk);
    }
}

static void forks_die_with_their_worker(void **state) {
    (void)state;
    Talk talk;
    talk_init(&talk, PY,
              "import os, subprocess, time\n"
              "child = os.fork()\n"
              "if child == 0:\n    time.sleep(600)\n"
              "other = subprocess.Popen(['sleep', '600'])\n"
              "return [child, other.pid]",
              "{}");
    int64_t start = now_ms();
    talk_run(&talk);
    assert_int_equal(talk.end, WORKER_RETURNED);
    assert_true(now_ms() - start < SOON_MS); /* though they keep its stdout open */
    int child = 0, other = 0;
    assert_int_equal(sscanf(talk.value, "[%d,%d]", &child, &other), 2);
    assert_true(lives(child) && lives(other));
    expect_end(PY, "import os\nos._exit(1)", WORKER_DIED, "exit code 1");
    expect_gone(child);
    expect_gone(other);
    talk_clear(&talk);
}

/* Bits of the signals 1 to 3 (HUP, INT, QUIT): an interpreter handles some, but ignores none. */
static void workers_start_with_no_signal_ignored(void **state) {
    (void)state;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before[3];
    for (int i = 0; i < 3; i++) sigaction(1 + i, &ignore, &before[i]);
    expect(PY,
           "s = dict(l.split(':') for l in open('/proc/self/status') if l.startswith('Sig'))\n"
           "return [int(s['SigIgn'], 16) & 7, int(s['SigBlk'], 16)]",
           "{}", "[0,0]");
    for (int i = 0; i < 3; i++) sigaction(1 + i, &before[i], NULL);
}

static void a_fork_that_comes_back_from_the_code_says_nothing(void **state) {
    (void)state;
    for (int i = 0; i < 5; i++) {
        expect(PY, "import os\nos.fork()\nreturn 1", "{}", "1");
    }
    expect(PY, "return 2", "{}", "2");
}

static void a_dead_worker_is_noticed_though_a_fork_holds_its_socket(void **state) {
    (void)state;
    expect_end(PY, "import os, time\nif os.fork() == 0:\n    time.sleep(600)\nos._exit(5)",
               WORKER_DIED, "exit code 5");
}

static void memory_is_limited(void **state) {
    (void)state;
    struct {
        WorkerLanguage language;
        const char *code;
    } codes[] = {
        {PY, "x = 'a' * (500 << 20)\nreturn len(x)"},
        {PY, "x = []\nwhile True: x.append('a' * 100000)"},
        {PY, "try:\n    x = bytearray(500 << 20)\nexcept MemoryError:\n    raise\nreturn 1"},
        {JS, "const x = []; for (let i = 0;; i++) x.push({i});"},
        {JS, "const x = []; for (;;) { x.push(Buffer.alloc(1 << 20, 1));"
             " await new Promise((go) => setTimeout(go, 1)) }"},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        Talk talk;
        talk_init(&talk, codes[i].language, codes[i].code, "{}");
        talk.options.memory = 128 << 20;
        talk_run(&talk);
        if (talk.end != WORKER_LIMIT) fail_msg("%s: %d %s", codes[i].code, talk.end, talk.message);
        expect_contains(talk.message, "128M");
        talk_clear(&talk);
    }
    expect(PY, "return len('a' * (300 << 20))", "{}", "314572800");
    expect(JS, "return Buffer.alloc(300 << 20).length", "{}", "314572800");
}

static void memory_of_all_that_it_has_counts(void **state) {
    (void)state;
    const char *const codes[] = {
        "import mmap, time\nm = mmap.mmap(-1, 500 << 20)\n" /* shared, and of no file */
        "for i in range(0, len(m), 4096): m[i] = 1\ntime.sleep(30)",
        "import os, mmap, time\nfd = os.memfd_create('x')\nos.ftruncate(fd, 500 << 20)\n"
        "m = mmap.mmap(fd, 500 << 20)\nfor i in range(0, len(m), 4096): m[i] = 1\ntime.sleep(30)",
        /* of a file without a name, and not mapped; or mapped and not touched; of many; of a child */
        "import os, time\nfd = os.memfd_create('x')\n"
        "for i in range(500): os.write(fd, b'x' * (1 << 20))\ntime.sleep(30)",
        "import os, mmap, time\nfd = os.memfd_create('x')\n"
        "for i in range(500): os.write(fd, b'x' * (1 << 20))\nm = mmap.mmap(fd, 500 << 20)\ntime.sleep(30)",
        "import os, time\nfds = []\nfor i in range(500):\n    fds.append(os.memfd_create('x'))\n"
        "    os.write(fds[-1], b'x' * (1 << 20))\ntime.sleep(30)",
        "import os, time\nif os.fork() == 0:\n    fd = os.memfd_create('x')\n"
        "    for i in range(500): os.write(fd, b'x' * (1 << 20))\n    time.sleep(60)\ntime.sleep(30)",
        "import os, time\nfor i in range(4):\n"
        "    if os.fork() == 0:\n        x = b'x' * (60 << 20)\n        time.sleep(60)\n"
        "time.sleep(30)",
        "import os, time\nfor i in range(4):\n" /* whose parents are gone */
        "    if os.fork() == 0:\n        if os.fork() == 0:\n            x = b'x' * (60 << 20)\n"
        "            time.sleep(60)\n        os._exit(0)\n    os.wait()\ntime.sleep(30)",
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        Talk talk;
        talk_init(&talk, PY, codes[i], "{}");
        talk.options.memory = 128 << 20;
        talk_run(&talk);
        if (talk.end != WORKER_LIMIT) fail_msg("%s: %d %s", codes[i], talk.end, talk.message);
        expect_contains(talk.message, "128M");
        talk_clear(&talk);
    }
}

/* Not even the least that can be given is used up by the interpreters, or by what forks share. */
static void memory_that_is_shared_counts_once(void **state) {
    (void)state;
    static const struct {
        WorkerLanguage language;
        const char *code;
        int megabytes;
    } cases[] = {
        {PY, "import time\ntime.sleep(0.7)\nreturn 1", 64},
        {PY, /* 100 MB that two have open and mapped */
         "import os, time, mmap\nfd = os.memfd_create('x')\nos.ftruncate(fd, 100 << 20)\n"
         "m = mmap.mmap(fd, 100 << 20)\nfor i in range(0, len(m), 4096): m[i] = 1\n"
         "child = os.fork()\nif child == 0:\n    m[::4096]\n    time.sleep(60)\ntime.sleep(0.9)\n"
         "os.kill(child, 9)\nos.wait()\nos.close(fd)\nreturn 1", /* this process is used again */
         220},
        {JS, "await new Promise((go) => setTimeout(go, 700)); return 1", 64},
        {PY,
         "import os, time, mmap\nm = mmap.mmap(-1, 60 << 20)\nx = b'x' * (40 << 20)\n"
         "for i in range(0, len(m), 4096): m[i] = 1\n"
         "children = [os.fork() for i in range(1)]\n"
         "if 0 in children or os.fork() == 0:\n    m[::4096]\n    time.sleep(60)\n"
         "time.sleep(0.9)\nreturn 1",
         160},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Talk talk;
        talk_init(&talk, cases[i].language, cases[i].code, "{}");
        talk.options.memory = (uint64_t)cases[i].megabytes << 20;
        talk_run(&talk);
        assert_string_equal(talk.value ? talk.value : talk.message, "1");
        talk_clear(&talk);
    }
}

static void a_result_that_is_too_long_is_refused(void **state) {
    (void)state;
    expect_end(PY,
               "import os\nline = b'{\"call\":1,\"result\":\"' + b'x' * (1 << 20)\n"
               "os.write(3, line)\nwhile True: os.write(3, b'x' * (1 << 20))",
               WORKER_LIMIT, "longer than 256 MB");
}

static int pid_in_realm(const char *realm) {
    Talk talk;
    talk_init(&talk, PY, "import os\nreturn os.getpid()", NULL);
    talk.options.realm = realm;
    talk_run(&talk);
    int pid = atoi(talk.value);
    talk_clear(&talk);
    return pid;
}

/* Code that changes the runtime that it runs in sees what later calls in it are given. */
static void calls_of_different_realms_share_no_worker(void **state) {
    (void)state;
    const char *steals = "import pawl\n"
                         "real = pawl._Call.__init__\n"
                         "def stolen(self, channel, message):\n"
                         "    message['state'] = {'secret': 'stolen'}\n"
                         "    real(self, channel, message)\n"
                         "pawl._Call.__init__ = stolen";
    const char *const realms[] = {"a", "b", "a"};
    const char *const seen[] = {"\"stolen\"", "\"own\"", "\"stolen\""};
    Talk talk;
    talk_init(&talk, PY, steals, "{}");
    talk.options.realm = "a";
    talk_run(&talk);
    talk_clear(&talk);
    for (int i = 0; i < 3; i++) {
        talk_init(&talk, PY, "return state['secret']", "{\"secret\":\"own\"}");
        talk.options.realm = realms[i];
        talk_run(&talk);
        assert_string_equal(talk.value, seen[i]);
        talk_clear(&talk);
    }
    int a = pid_in_realm("a"), b = pid_in_realm("b"), none = pid_in_realm(NULL);
    assert_true(a != b && b != none && a != none);
    assert_int_equal(pid_in_realm("a"), a);
    assert_int_equal(pid_in_realm(""), none);
}

static void realms_beyond_the_limit_take_turns(void **state) {
    (void)state;
    pool_down();
    pool_up((WorkerPoolOptions){.busy_max = 2});
    for (int i = 0; i < 12; i++) {
        char realm[8];
        snprintf(realm, sizeof realm, "%d", i % 4);
        assert_true(pid_in_realm(realm) > 0);
        assert_true(worker_pool_size(pool, PY) <= 3); /* one of them may still be ending */
    }
}

static void python_loads_nothing_from_the_folder_that_we_run_in(void **state) {
    (void)state;
    static const char *const modules[] = {"json.py",    "types.py",     "asyncio.py",  "ast.py",
                                          "inspect.py", "traceback.py", "linecache.py"};
    char before[PATH_MAX], variable[120], path[120];
    const char *environment[] = {variable, "PATH=/usr/local/bin:/usr/bin:/bin", NULL};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        write_file(modules[i], "open('stolen', 'w').close()\nraise ImportError('not this one')\n");
    }
    write_file("beside.py", "x = 7\n");
    snprintf(variable, sizeof variable, "PYTHONPATH=%s", root);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(root), 0);
    pool_down();
    pool_up((WorkerPoolOptions){.environment = environment});
    expect(PY, "import json, types, asyncio, ast, inspect, traceback, linecache\nreturn 1", "{}",
           "1");
    expect_end(PY, "await 1", WORKER_RAISED, "TypeError");
    expect_end(PY, "import beside", WORKER_RAISED, "ModuleNotFoundError");
    Talk talk; /* the workflow's own folder is there for it, behind all others */
    talk_init(&talk, PY,
              "import beside, json, asyncio, traceback\nreturn json.loads(str(beside.x))", "{}");
    talk.options.home = root;
    talk_run(&talk);
    assert_string_equal(talk.value ? talk.value : talk.message, "7");
    talk_clear(&talk);
    assert_int_equal(access("stolen", F_OK), -1);
    assert_int_equal(chdir(before), 0);
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        snprintf(path, sizeof path, "%s/%s", root, modules[i]);
        unlink(path);
    }
}

/* ---- the pool ---- */

static void calls_beyond_the_limit_queue_in_order(void **state) {
    (void)state;
    for (int most = 1; most <= 2; most++) {
        pool_down();
        pool_up((WorkerPoolOptions){.busy_max = most});
        Talk talks[8];
        for (int i = 0; i < 8; i++) {
            talk_init(&talks[i], PY, "import time\ntime.sleep(0.01)\nreturn time.monotonic()",
                      "{}");
            talk_start(&talks[i]);
            assert_true(worker_pool_size(pool, PY) <= most);
        }
        for (int i = 0; i < 8; i++) talk_wait(&talks[i]);
        for (int i = 1; i < 8 && most == 1; i++) {
            assert_true(atof(talks[i].value) > atof(talks[i - 1].value));
        }
        for (int i = 0; i < 8; i++) talk_clear(&talks[i]);
    }
}

static void queued_calls_can_be_cancelled_and_dropped(void **state) {
    (void)state;
    pool_down();
    pool_up((WorkerPoolOptions){.busy_max = 1});
    Talk talks[4];
    for (int i = 0; i < 4; i++) {
        talk_init(&talks[i], PY, "import time\ntime.sleep(0.3)\nreturn 1", "{}");
        talk_start(&talks[i]);
    }
    worker_cancel(talks[1].call);
    worker_drop(talks[2].call);
    assert_false(talks[1].done); /* never from inside */
    talk_wait(&talks[1]);
    assert_int_equal(talks[1].end, WORKER_CANCELLED);
    assert_false(talks[0].done);
    talk_wait(&talks[0]);
    talk_wait(&talks[3]);
    assert_string_equal(talks[3].value, "1");
    assert_false(talks[2].done);
    for (int i = 0; i < 4; i++) talk_clear(&talks[i]);
}

/* Code that says `on` and then waits for a file. */
static const char *const waits_for_file[] = {
    [WORKER_PYTHON] = "import os, time\nprint('on', flush=True)\n"
                      "while not os.path.exists('go'): time.sleep(0.01)\nreturn 7",
    [WORKER_JAVASCRIPT] =
        "const fs = require('fs'); console.log('on');\n"
        "while (!fs.existsSync('go')) await new Promise(r => setTimeout(r, 10));\n"
        "return 7",
};

static void start_waiting(Talk *talk, WorkerLanguage language) {
    talk_init(talk, language, waits_for_file[language], "{}");
    talk_start(talk);
    while (!talk->log.len) uv_run(&loop, UV_RUN_ONCE);
}

static void let_files_go(void) {
    write_file("go", "");
}

static void hold_files_back(void) {
    char path[200];
    snprintf(path, sizeof path, "%s/go", root);
    unlink(path);
}

static void expect_stopped(int pid) {
    for (int i = 0; i < 3000 && state_of(pid) != 'T'; i++) usleep(10000);
    assert_int_equal(state_of(pid), 'T');
}

/* The loop goes on for a while, with calls under way. */
static void turn_for(int ms) {
    for (int64_t end = now_ms() + ms; now_ms() < end; usleep(1000)) uv_run(&loop, UV_RUN_NOWAIT);
}

static void a_frozen_call_stands_still_until_it_goes_on(void **state) {
    (void)state;
    for (WorkerLanguage language = PY; language < WORKER_LANGUAGES; language++) {
        Talk talk;
        hold_files_back();
        start_waiting(&talk, language);
        int pid = worker_pid(talk.call);
        worker_freeze(talk.call, true);
        worker_freeze(talk.call, true);
        expect_stopped(pid);
        let_files_go();
        turn_for(300);
        assert_false(talk.done);
        assert_int_equal(state_of(pid), 'T');
        worker_freeze(talk.call, false);
        talk_wait(&talk);
        assert_string_equal(talk.value, "7");
        talk_clear(&talk);
        assert_int_equal(pid_of(language), pid); /* and is there for the next */
    }
}

static void what_was_said_before_it_was_frozen_is_heard_after_that(void **state) {
    (void)state;
    Talk talk;
    talk_init(&talk, PY, "return interrupt({'q': 1})", "{}");
    talk_start(&talk);
    usleep(300000); /* the question is in the socket, or will not be asked before it goes on */
    worker_freeze(talk.call, true);
    turn_for(300);
    assert_false(talk.waiting);
    assert_false(worker_is_waiting(talk.call));
    worker_freeze(talk.call, false);
    talk_wait(&talk);
    assert_true(talk.waiting);
    worker_drop(talk.call);
    talk_clear(&talk);
}

static void a_frozen_call_leaves_its_place_to_others(void **state) {
    (void)state;
    Talk talk;
    pool_down();
    pool_up((WorkerPoolOptions){.busy_max = 1});
    hold_files_back();
    start_waiting(&talk, PY);
    worker_freeze(talk.call, true);
    expect(PY, "return 1", "{}", "1");
    let_files_go();
    worker_freeze(talk.call, false);
    talk_wait(&talk);
    assert_string_equal(talk.value, "7");
    talk_clear(&talk);
}

static void a_call_that_is_frozen_while_it_queues_does_not_begin(void **state) {
    (void)state;
    Talk busy, frozen, other;
    pool_down();
    pool_up((WorkerPoolOptions){.busy_max = 1});
    hold_files_back();
    start_waiting(&busy, PY);
    talk_init(&frozen, PY, "return 2", "{}");
    talk_start(&frozen);
    worker_freeze(frozen.call, true);
    talk_init(&other, PY, "return 3", "{}");
    talk_start(&other);
    let_files_go();
    talk_wait(&busy);
    talk_wait(&other);
    assert_string_equal(other.value, "3");
    expect(PY, "return 4", "{}", "4"); /* one that comes now does not queue behind it */
    assert_false(frozen.done);
    assert_int_equal(worker_pid(frozen.call), 0);
    worker_freeze(frozen.call, false);
    talk_wait(&frozen);
    assert_string_equal(frozen.value, "2");
    talk_clear(&busy);
    talk_clear(&frozen);
    talk_clear(&other);
}

static void a_frozen_call_can_be_cancelled_dropped_and_killed(void **state) {
    (void)state;
    Talk talks[3];
    int pids[3];
    hold_files_back();
    for (int i = 0; i < 3; i++) {
        start_waiting(&talks[i], PY);
        pids[i] = worker_pid(talks[i].call);
        worker_freeze(talks[i].call, true);
        expect_stopped(pids[i]);
    }
    worker_cancel(talks[0].call);
    worker_drop(talks[1].call);
    kill(pids[2], SIGKILL);
    talk_wait(&talks[0]);
    talk_wait(&talks[2]);
    assert_int_equal(talks[0].end, WORKER_CANCELLED);
    assert_false(talks[1].done);
    assert_int_equal(talks[2].end, WORKER_DIED);
    for (int i = 0; i < 3; i++) {
        while (lives(pids[i])) turn_for(10);
        talk_clear(&talks[i]);
    }
}

static void a_worker_of_another_program_makes_room(void **state) {
    (void)state;
    pool_down();
    pool_up((WorkerPoolOptions){.busy_max = 1});
    write_file("room.py", "from pawl import node\n@node\ndef f(state): return 1\n");
    for (int i = 0; i < 3; i++) {
        expect(PY, "return 2", "{}", "2");
        expect_program(PY, "room.py", "f", "{}", "1");
    }
}

static void idle_workers_beyond_one_end(void **state) {
    (void)state;
    pool_down();
    pool_up((WorkerPoolOptions){.busy_max = 3, .idle_ms = 1500});
    Talk talks[3];
    for (int i = 0; i < 3; i++) {
        talk_init(&talks[i], PY, "import time\ntime.sleep(0.2)", "{}");
        talk_start(&talks[i]);
    }
    for (int i = 0; i < 3; i++) {
        talk_wait(&talks[i]);
        talk_clear(&talks[i]);
    }
    assert_int_equal(worker_pool_size(pool, PY), 3);
    expect_workers(1);
}

static void an_idle_pool_does_not_keep_the_loop(void **state) {
    (void)state;
    expect(PY, "return 1", "{}", "1");
    int64_t start = now_ms();
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(now_ms() - start < SOON_MS);
}

static void an_idle_worker_that_dies_is_forgotten(void **state) {
    (void)state;
    int pid = pid_of(PY);
    kill(pid, SIGKILL);
    expect_workers(0);
    expect(PY, "return 1", "{}", "1");
}

static void a_dropped_call_leaves_nothing(void **state) {
    (void)state;
    Talk talk;
    talk_init(&talk, PY, "import time\ntime.sleep(600)", "{}");
    talk_start(&talk);
    int pid = worker_pid(talk.call);
    worker_drop(talk.call);
    expect_gone(pid);
    expect_workers(0);
    talk_clear(&talk);
}

static void workers_end_with_the_process_that_started_them(void **state) {
    (void)state;
    int ends[2], pid = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        Talk talk;
        uv_loop_t own;
        uv_loop_init(&own);
        WorkerPoolOptions options = {.environment = (const char *const *)environ};
        pool = worker_pool_new(&own, &options);
        talk_init(&talk, PY, "while True: pass", "{}");
        talk_start(&talk);
        int number = worker_pid(talk.call);
        if (write(ends[1], &number, sizeof number) != sizeof number) _exit(2);
        usleep(200000);
        _exit(0);
    }
    assert_int_equal(read(ends[0], &pid, sizeof pid), sizeof pid);
    waitpid(child, NULL, 0);
    expect_gone(pid);
    close(ends[0]);
    close(ends[1]);
}

static void the_pool_can_be_freed_with_calls_under_way(void **state) {
    (void)state;
    pool_down();
    pool_up((WorkerPoolOptions){.busy_max = 2});
    Talk talks[4];
    for (int i = 0; i < 4; i++) {
        talk_init(&talks[i], i == 1 ? JS : PY, "import time\ntime.sleep(600)", "{}");
        talk_start(&talks[i]);
    }
    pool_down();
    for (int i = 0; i < 4; i++) {
        assert_true(!talks[i].done);
        talk_clear(&talks[i]);
    }
    pool_up((WorkerPoolOptions){0});
}

static void many_calls(Talk *talk, int n) {
    for (int i = 0; i < n; i++) {
        talk->done = false;
        talk_run(talk);
        assert_int_equal(talk->end, WORKER_RETURNED);
        free(talk->value);
        free(talk->message);
        free(talk->type);
        free(talk->traceback);
        talk->value = talk->message = talk->type = talk->traceback = NULL;
    }
}

static void ten_thousand_calls_leave_no_zombie_and_no_descriptor(void **state) {
    (void)state;
    Talk talk;
    talk_init(&talk, PY, "return {\"n\": state[\"n\"] + 1}", "{\"n\":1}");
    many_calls(&talk, 10);
    int descriptors = open_descriptors(), pid = pid_of(PY);
    for (int i = 0; i < 10; i++) {
        many_calls(&talk, 999);
        expect_end(PY, "import os\nos._exit(1)", WORKER_DIED, "exit code 1");
        many_calls(&talk, 1);
    }
    assert_int_not_equal(pid_of(PY), pid);
    settle(20);
    assert_int_equal(open_descriptors(), descriptors);
    assert_int_equal(worker_pool_size(pool, PY), 1);
    talk_clear(&talk);
}

#define WITH_POOL(name) cmocka_unit_test_setup_teardown(name, up, down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_POOL(code_gets_the_state_and_returns_the_update),
        WITH_POOL(python_keeps_texts_of_several_lines_and_large_integers),
        WITH_POOL(code_may_wait),
        WITH_POOL(code_sees_env_and_variables_by_name),
        WITH_POOL(code_runs_in_the_folder),
        WITH_POOL(one_worker_does_many_calls),
        WITH_POOL(code_is_compiled_once_and_its_globals_are_its_own),
        WITH_POOL(what_is_printed_is_the_log_and_comes_before_the_end),
        WITH_POOL(large_states_go_both_ways),
        WITH_POOL(a_state_that_changes_in_places_arrives_as_it_is),
        WITH_POOL(an_exception_has_type_message_line_and_traceback),
        WITH_POOL(a_mistake_in_the_code_has_its_line),
        WITH_POOL(the_worker_goes_on_after_an_exception),
        WITH_POOL(an_error_that_nobody_waited_for_ends_the_worker_too),
        WITH_POOL(javascript_that_waits_for_nothing_is_told_so),
        WITH_POOL(a_state_that_the_interpreter_cannot_take_is_an_error),
        WITH_POOL(a_missing_interpreter_is_a_sentence),
        WITH_POOL(an_interpreter_that_cannot_be_executed_is_a_sentence),
        WITH_POOL(interrupt_gives_recorded_answers_and_then_asks),
        WITH_POOL(a_waiting_call_keeps_neither_the_loop_nor_a_place),
        WITH_POOL(a_waiting_call_whose_worker_is_killed_ends),
        WITH_POOL(a_waiting_call_can_be_dropped_and_cancelled),
        WITH_POOL(functions_of_a_program_are_called_by_name),
        WITH_POOL(a_program_that_changed_is_loaded_anew),
        WITH_POOL(what_is_wrong_with_a_program_is_said),
        WITH_POOL(serve_outside_of_pawl_says_so),
        WITH_POOL(a_worker_that_dies_ends_the_call_and_is_replaced),
        WITH_POOL(a_worker_that_hangs_is_cancelled_and_replaced),
        WITH_POOL(rubbish_on_the_protocol_ends_the_call),
        WITH_POOL(messages_of_another_shape_end_the_call),
        WITH_POOL(an_exception_without_a_name_is_one_too),
        WITH_POOL(the_words_of_an_exception_are_bounded),
        WITH_POOL(what_a_call_left_behind_cannot_answer_the_next),
        WITH_POOL(a_token_belongs_to_one_call),
        WITH_POOL(a_worker_that_closes_its_socket_is_replaced),
        WITH_POOL(rubbish_between_calls_costs_the_worker_only),
        WITH_POOL(a_hundred_megabytes_are_printed_and_cost_nothing),
        WITH_POOL(forks_die_with_their_worker),
        WITH_POOL(workers_start_with_no_signal_ignored),
        WITH_POOL(a_fork_that_comes_back_from_the_code_says_nothing),
        WITH_POOL(a_dead_worker_is_noticed_though_a_fork_holds_its_socket),
        WITH_POOL(memory_is_limited),
        WITH_POOL(memory_of_all_that_it_has_counts),
        WITH_POOL(memory_that_is_shared_counts_once),
        WITH_POOL(a_result_that_is_too_long_is_refused),
        WITH_POOL(calls_of_different_realms_share_no_worker),
        WITH_POOL(realms_beyond_the_limit_take_turns),
        WITH_POOL(python_loads_nothing_from_the_folder_that_we_run_in),
        WITH_POOL(calls_beyond_the_limit_queue_in_order),
        WITH_POOL(queued_calls_can_be_cancelled_and_dropped),
        WITH_POOL(a_frozen_call_stands_still_until_it_goes_on),
        WITH_POOL(what_was_said_before_it_was_frozen_is_heard_after_that),
        WITH_POOL(a_frozen_call_leaves_its_place_to_others),
        WITH_POOL(a_call_that_is_frozen_while_it_queues_does_not_begin),
        WITH_POOL(a_frozen_call_can_be_cancelled_dropped_and_killed),
        WITH_POOL(a_worker_of_another_program_makes_room),
        WITH_POOL(idle_workers_beyond_one_end),
        WITH_POOL(an_idle_pool_does_not_keep_the_loop),
        WITH_POOL(an_idle_worker_that_dies_is_forgotten),
        WITH_POOL(a_dropped_call_leaves_nothing),
        WITH_POOL(workers_end_with_the_process_that_started_them),
        WITH_POOL(the_pool_can_be_freed_with_calls_under_way),
        WITH_POOL(ten_thousand_calls_leave_no_zombie_and_no_descriptor),
    };
    if (!is_there("python3") || !is_there("node")) {
        printf("1..0 # SKIP python3 and node are needed\n");
        return 0;
    }
    char real[64] = "/tmp/pawl-workers-XXXXXX";
    assert_non_null(mkdtemp(real));
    char *whole = realpath(real, NULL);
    assert_non_null(whole);
    snprintf(root, sizeof root, "%s", whole);
    free(whole);
    cmocka_set_message_output(CM_OUTPUT_TAP);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command) != 0 || failed;
}
