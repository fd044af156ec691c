/* fuzz_debug_api - any calls of session_api.h, on a session of a small workflow in memory.
 *
 * The bytes are a program: the first chooses a workflow, each next one an operation of the table, and those
 * after it which arguments it is given and what they are: mostly of the type that the table says, but also
 * of others, missing, unknown, huge and deep. Every call is answered with an object or refused with
 * words, and the session goes on until somebody ends it or its time is up; what it leaves in
 * the store is sound.
 */
#include "fuzz_calls.h"

#include "json_parse.h"

enum { CALLS_MAX = 40, TURN_MS = 500 };

/* ---- workflows ---- */

static const char graph_text[] =
    "state: {n: 1, log: {reduce: append, default: []}, deep: {a: [1, {b: null}]}}\n"
    "nodes:\n"
    "  - {name: a, jq: '{n: (.n + 1), log: [\"a\"]}'}\n"
    "  - {name: sub, workflow: sub.yaml, input: '{n: .n}', output: sub}\n"
    "  - {name: loop, while: .n < 4, do: [{name: k, jq: '{n: (.n + 1)}'}]}\n"
    "  - {name: each, map: '[1, 2]', output: all, do: {jq: '$item + 1'}}\n"
    "  - {name: l, shell: echo, retry: 2}\n"
    "  - {name: r, jq: 'if .n > 100 then error(\"large\") else {r: .n} end'}\n"
    "  - {name: caught, jq: '{caught: .error.message}'}\n"
    "  - {name: z, sleep: 1s}\n"
    "edges:\n"
    "  - {from: __start__, to: a}\n"
    "  - {from: a, to: sub}\n"
    "  - {from: sub, to: loop}\n"
    "  - {from: loop, to: each}\n"
    "  - {from: each, to: [l, r]}\n"
    "  - {from: l, to: z}\n"
    "  - {from: r, to: caught, on: error}\n"
    "  - {from: r, to: z}\n"
    "  - {from: caught, to: z}\n"
    "  - {from: z, to: __end__}\n";

static const char asking_text[] =
    "config: {interrupt_before: [b], interrupt_after: [b]}\n"
    "nodes:\n"
    "  - {name: a, approval: {prompt: Go?, options: [yes, no]}, output: said}\n"
    "  - {name: b, http: 'http://localhost/', output: page}\n"
    "  - {name: c, jq: error(.), retry: {attempts: 2, delay: 1s}}\n";

static const char tasks_text[] =
    "tasks:\n"
    "  - {name: run_shell, id: one, config: {command: echo}}\n"
    "  - name: run_tasks_concurrent\n"
    "    id: both\n"
    "    config:\n"
    "      tasks:\n"
    "        - {name: sleep, id: l, config: {duration: 1s}}\n"
    "        - {name: run_tasks, config: {newVariableScope: true, tasks: [{name: sleep, config: "
    "{duration: 1ms}}]}}\n"
    "  - {name: run_task_matrix, config: {matrixVar: v, matrixValues: [1, 2], task: {name: sleep, "
    "config: {duration: 1ms}}}}\n"
    "cleanupTasks:\n"
    "  - {name: sleep, id: clean, config: {duration: 1ms}}\n";

static const char sub_text[] = "nodes:\n"
                               "  - {name: i, jq: '{i: (.n + 1)}'}\n"
                               "  - {name: j, jq: '{j: .i}'}\n";

static const char *const texts[] = {graph_text, asking_text, tasks_text};
enum { FLOWS = sizeof texts / sizeof *texts };

static bool read_text(void *ctx, const char *path, Buf *out, Error *err) {
    (void)err;
    buf_adds(out, strstr(path, "sub") ? sub_text : *(const char **)ctx);
    return true;
}

static Flow *the_flow(size_t i) {
    static Flow *flows[FLOWS];
    if (!flows[i]) {
        FlowProblems problems = {0};
        const char *text = texts[i];
        FlowReader reader = {.read = read_text, .ctx = &text};
        flows[i] = flow_load("flow.yaml", &reader, &problems);
        if (!flows[i] && problems.n) fprintf(stderr, "%s\n", problems.items[0].msg);
        CHECK(flows[i]);
        flow_problems_clear(&problems);
    }
    return flows[i];
}

/* ---- the program ---- */

typedef struct Program {
    const uint8_t *at, *end;
} Program;

static unsigned next(Program *p) {
    return p->at < p->end ? *p->at++ : 0;
}

static Json parsed(const char *text) {
    Json j = json_parse(text, strlen(text), NULL, NULL);
    CHECK(!json_is_none(j));
    return j;
}

/* What the arguments are made of: words of the workflows, and values that nobody expects. */
static const char *const words[] = {
    "a",      "sub",     "sub/i",   "i",     "loop",   "k",    "each",  "each[]",      "l",
    "r",      "z",       "one",     "both",  "*",      "s*",   "clean", "nobody",      "flow.yaml",
    "all",    "over",    "into",    "out",   "node",   "path", "pause", "mermaid",     "json",
    "before", "after",   "yes",     "t",     "t@1",    "g1",   "",      "flow.yaml:3", "__start__",
    "true",   "a if .n", "after a", "catch", "errors", "%2",   ">= 3",  "1",           "\xc3\xa9",
};
static const char *const expressions[] = {
    ".",
    ".n",
    ".deep.a[1].b",
    ".log[-1]",
    "..",
    ".n > 1",
    "$item",
    "error",
    "range(1000)",
    "[range(1000)]",
    "limit(9; repeat(1))",
    "input",
    ".n = 5",
    "1/0",
    "\"",
    "}{",
    ".[\"a\"]?",
    "$__prog",
    "def f: .; f",
    "env",
    "keys[]",
    ".log |= 1",
    "empty",
    "limit(3; .)",
    "tojson",
    "@base64",
    "\\(.n)",
    "now",
    "n \\(.n)",
    "[..] | length",
    ".tasks.one",
    "try error",
    "walk(.)",
    "getpath([1])",
};
static const char *const values[] = {
    "null",
    "true",
    "false",
    "0",
    "1",
    "2",
    "3",
    "-1",
    "1.5",
    "1e300",
    "9223372036854775807",
    "-9223372036854775808",
    "100000000000000000000",
    "\"\"",
    "\"\\u0000\"",
    "[]",
    "{}",
    "[[]]",
    "[\"n\"]",
    "[\"deep\",\"a\",1,\"b\"]",
    "[\"log\",-1]",
    "[0]",
    "[1e9]",
    "[\"log\",1000000000]",
    "[\"tasks\"]",
    "{\"n\":5}",
    "{\"jq\":\"{x: 1}\"}",
    "{\"shell\":\"echo\"}",
    "{\"jq\":\"error(1)\",\"name\":\"a\"}",
    "{\"workflow\":\"sub.yaml\"}",
    "{\"while\":\".n < 6\",\"do\":[{\"name\":\"w\",\"jq\":\"{n: (.n + 1)}\"}]}",
    "{\"map\":\"[1]\",\"do\":{\"jq\":\".\"},\"output\":\"m\"}",
    "{\"approval\":{\"prompt\":\"?\"}}",
    "{\"name\":\"sleep\",\"config\":{\"duration\":0}}",
    "{\"name\":\"run_shell\"}",
    "[{\"node\":\"a\"},\"r\"]",
    "[{\"spec\":\"a\"},{\"type\":\"state\",\"path\":\".n\"}]",
    "[1,2,3]",
    "{\"path\":\".n\",\"changed\":true}",
    "\"jq: '{x: 1}'\"",
    "\"{\"",
    "\"- [\"",
};

#define PICK(list, p) (list)[next(p) % (sizeof(list) / sizeof *(list))]

static Json deep_value(unsigned depth) {
    Json j = json_array();
    for (unsigned i = 0; i < depth; i++) {
        j = i % 2 ? json_array_push(json_array(), j) : json_object_with(json_object(), "a", j);
    }
    return j;
}

static Json long_text(void) {
    Buf text = BUF_INIT;
    for (int i = 0; i < 3000; i++) {
        buf_adds(&text, ".a |");
    }
    Json j = json_string(text.data, text.len);
    buf_clear(&text);
    return j;
}

static Json any_value(Program *p) {
    unsigned how = next(p);
    return how == 255   ? deep_value(9000)
           : how >= 250 ? deep_value(how)
           : how >= 248 ? long_text()
           : how >= 200 ? json_string_c(PICK(expressions, p))
           : how >= 150 ? json_string_c(PICK(words, p))
           : how >= 120 ? json_int((int64_t)next(p))
                        : parsed(PICK(values, p));
}

static Json words_value(const OperationArg *arg, Program *p) {
    unsigned n = 0, which = next(p);
    while (arg->words[n]) n++;
    return json_string_c(arg->words[which % n]);
}

static Json text_value(Program *p) {
    unsigned how = next(p);
    return json_string_c(how % 2 ? PICK(expressions, p) : PICK(words, p));
}

/* Of the type that the table says. */
static Json fitting_value(const OperationArg *arg, Program *p) {
    switch (arg->type) {
    case ARG_INT: return json_int((int64_t)next(p) % 20);
    case ARG_NUMBER: return json_double((double)next(p) / 4);
    case ARG_BOOL: return json_bool(next(p) % 2);
    case ARG_TEXT: return arg->words ? words_value(arg, p) : text_value(p);
    case ARG_FRAME: return json_int(1 + (int64_t)next(p) % 6);
    case ARG_FRAMES: return next(p) % 2 ? json_string_c("all") : json_int(1);
    case ARG_PATH: return json_string_c(PICK(expressions, p));
    default: return any_value(p);
    }
}

static Json add_argument(Json args, const OperationArg *arg, Program *p) {
    unsigned how = next(p);
    bool there = arg->required || arg->one_of ? how >= 32 : how >= 192;
    if (!there) {
        return args;
    }
    return json_object_with(args, arg->name, how % 8 ? fitting_value(arg, p) : any_value(p));
}

static Json arguments(const Operation *operation, Program *p) {
    Json args = json_object();
    for (const OperationArg *arg = operation->args; arg && arg->name; arg++) {
        args = add_argument(args, arg, p);
    }
    unsigned how = next(p);
    if (how == 255) {
        args = json_object_with(args, "unknown", any_value(p));
    } else if (how == 254) {
        json_unref(args);
        args = any_value(p);
    }
    return args;
}

static const Operation *operation_of(unsigned which) {
    unsigned n = 0;
    while (session_operations[n].name) n++;
    return &session_operations[which % n];
}

/* ---- the session ---- */

typedef struct Told {
    bool ended; /* the session is, or the run has */
} Told;

static void on_told(void *ctx, Json event) {
    Told *told = ctx;
    CHECK(json_kind(event) == JSON_OBJECT);
    CHECK(json_kind(json_object_get_c(event, "event")) == JSON_STRING);
    bool session = json_string_is(json_object_get_c(event, "event"), "session");
    told->ended = told->ended || json_string_is(json_object_get_c(event, "event"), "settled") ||
                  (session && !json_string_is(json_object_get_c(event, "status"), "attached"));
    json_unref(event);
}

/* Whatever was asked before, this is answered. */
static void ask_session(Session *s) {
    Error err = ERROR_INIT;
    Json answer = session_call(s, "session", json_object(), &err);
    CHECK(json_kind(answer) == JSON_OBJECT);
    CHECK(json_kind(json_object_get_c(answer, "status")) == JSON_STRING);
    json_unref(answer);
}

static void drive(World *w, Session *s, const Told *told, Program *p) {
    for (int i = 0; i < CALLS_MAX && p->at < p->end; i++) {
        const Operation *operation = operation_of(next(p));
        call(w, s, operation->name, arguments(operation, p));
        CHECK(!session_is_over(s) || told->ended);
        if (!session_is_over(s)) ask_session(s);
    }
}

static void debug(World *w, Flow *flow, Program *p) {
    Told told = {0};
    Error err = ERROR_INIT;
    Run *run = engine_start_now(w->engine, flow, &(RunStart){.thread = "t"}, &err);
    CHECK(run);
    SessionOptions options = {.pause_on_start = true, .event = on_told, .ctx = &told};
    Session *s = session_attach(run, &options, &err);
    CHECK(s);
    turn(w);
    drive(w, s, &told, p);
    session_free(s);
    turn(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Program p = {data, data + size};
    Flow *flow = the_flow(next(&p) % FLOWS);
    size_t before = json_heap_bytes();
    World w = {.store = store_open("memory:", STORE_CREATE, NULL),
               .now = 1800000000000,
               .turn_ms = TURN_MS};
    CHECK(w.store);
    engine_up(&w);
    debug(&w, flow, &p);
    world_down(&w);
    CHECK(json_heap_bytes() == before);
    return 0;
}
