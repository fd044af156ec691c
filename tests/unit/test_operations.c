/* test_operations.c - every operation of the table, through every target.
 *
 * A scenario says what an operation is asked with, and what has to be there first. Each target goes through
 * all scenarios in the order of the table, in a store of its own:
 *
 *     here      the run is in this process
 *     socket    another process holds it, and is asked through its socket
 *     library   a program around pawl.h has it, and asks with pawl_call()
 *     server    another process holds it, and is asked over HTTP by the routes of the table
 *
 * An answer is held against the shape in the operation's row, arguments that are wrong are held against its
 * arguments, and what the targets answered must be the same, but for what cannot be: times, folders, ids. A row
 * without a scenario fails by name. */
#include "client_inside.h"
#include "json_build.h"
#include "json_error.h"
#include "json_test.h"
#include "lib_inside.h"
#include "mem.h"
#include "operation.h"
#include "server.h"
#include "socket.h"
#include "things.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define FLOW                                                                          \
    "name: flow\n"                                                                    \
    "state: {seen: {default: [], reduce: append}}\n"                                  \
    "nodes:\n"                                                                        \
    "  - {name: one, jq: '{n: 1, seen: [\"one\"]}'}\n"                                \
    "  - {name: two, jq: '{n: (.n + 1), seen: [\"two\"]}'}\n"                         \
    "  - {name: ask, approval: {prompt: Go on?, options: [yes, no]}, output: said}\n" \
    "  - {name: three, jq: 'if .said.decision == \"no\" then error(\"said no\") else {n: 3} end'}\n"

/* ---- scenarios ---- */

typedef enum State {
    NOTHING, /* the store alone */
    WAITING, /* a run that waits for an answer, held by nobody */
    ENDED,   /* the same, answered with yes */
    PAUSED,  /* held, with a debugger, before its first node */
    STEPPED, /* after its second */
    ASKING,  /* a frame of it waits for an answer */
    FAILED,  /* paused where it failed */
} State;

/* In texts ' stands for ", $ for the name of the run, and # for the folder of the store. */
typedef struct Scenario {
    const char *operation;
    State state;
    const char *args; /* NULL: none. `thread` is put in where the state has a run */
    const char *
        first; /* what is asked before: "watch_add {'expression': '.n'}", one a line; NULL: nothing */
} Scenario;

#define DEFINITION \
    "'definition': {'main': 'w.yaml', 'files': {'w.yaml': 'nodes: [{name: a, jq: .}]'}}"

static const Scenario scenarios[] = {
    {"check", NOTHING, "{" DEFINITION "}", NULL},
    {"workflow_graph", NOTHING, "{" DEFINITION ", 'format': 'dot'}", NULL},
    {"kinds", NOTHING, "{'dialect': 'graph', 'kinds': ['nowhere']}", NULL},
    {"schema", NOTHING, "{'dialect': 'tasks'}", NULL},
    {"operations", NOTHING, NULL, NULL},

    {"workflows", NOTHING, NULL,
     "workflow_put {'name': 'here', 'text': 'nodes: [{name: a, jq: .}]'}"},
    {"workflow_get", NOTHING, "{'name': 'here', 'version': 1}",
     "workflow_put {'name': 'here', 'text': 'nodes: [{name: a, jq: .}]'}"},
    {"workflow_put", NOTHING, "{'name': 'there', " DEFINITION "}", NULL},
    {"workflow_draw", NOTHING, "{'name': 'here', 'format': 'dot'}",
     "workflow_put {'name': 'here', 'text': 'nodes: [{name: a, jq: .}]'}"},
    {"workflow_delete", NOTHING, "{'name': '$'}",
     "workflow_put {'name': '$', 'text': 'nodes: [{name: a, jq: .}]'}"},
    {"tokens", NOTHING, NULL, "token_make {'name': 'of $', 'scope': 'read'}"},
    {"token_make", NOTHING, "{'name': '$', 'scope': 'run', 'expires': '2100-01-01T00:00:00Z'}",
     NULL},
    {"token_revoke", NOTHING, "{'id': 'gone $'}",
     "token_make {'name': 'gone $', 'scope': 'admin'}"},
    {"secrets", NOTHING, NULL, NULL},

    {"run_start", NOTHING, "{'thread': '$', " DEFINITION "}", NULL},
    {"run_resume", WAITING, "{'decision': 'yes'}", NULL},
    {"run_open", WAITING, "{'debug': {'breakpoints': [{'node': 'nowhere'}]}}", NULL},
    {"run_stop", PAUSED, "{}", NULL},
    {"run_cancel", WAITING, "{}", NULL},
    {"run_fork", WAITING, "{'checkpoint': 2, 'new_thread': '$-2'}", NULL},
    {"run_replay", ENDED, "{'live_from': 'three', 'new_thread': '$-again'}", NULL},
    {"run_update", WAITING, "{'set': [[['n'], 7]]}", NULL},
    {"run_import", PAUSED, NULL, NULL}, /* of what was exported, under another name */
    {"run_drop", ENDED, "{}", "run_open {'thread': '$'}"},
    {"run_frames", PAUSED, "{}", NULL},
    {"run_events", WAITING, "{'from': 0, 'types': ['step', 'interrupt']}", NULL},
    {"runs", WAITING, "{'limit': 1, 'workflow': 'flow', 'search': '$', 'status': 'interrupted'}",
     NULL},
    {"run_get", WAITING, "{'state': true}", NULL},
    {"run_history", ENDED, "{}", NULL},
    {"run_checkpoint", ENDED, "{'checkpoint': 3}", NULL},
    {"run_interrupts", WAITING, "{}", NULL},
    {"run_logs", ENDED, "{'node': 'one', 'stream': 'stdout', 'last': 5}", NULL},
    {"run_state", ENDED, "{'path': ['n']}", NULL},
    {"run_variables", ENDED, "{'path': ['n'], 'limit': 5}", NULL},
    {"run_search", ENDED, "{'text': 'n'}", NULL},
    {"run_definition", ENDED, "{}", NULL},
    {"run_diff", ENDED, "{'checkpoint': 1, 'other': '$'}", NULL},
    {"run_compare", ENDED, "{'checkpoint': 2, 'other': '$'}", NULL},
    {"run_ask_cancel", WAITING, "{}", NULL},
    {"run_prune", ENDED, "{'thread': '$', 'keep_last': 1}", NULL},

    {"store_info", WAITING, NULL, NULL},
    {"store_check", WAITING, "{}", NULL},
    {"store_compact", WAITING, "{}", NULL},
    {"store_backup", WAITING, "{'path': '#/copy-of-$'}", NULL},

    {"run_graph", ENDED, "{'format': 'dot'}", NULL},
    {"run_delete", ENDED, "{}", NULL},

    {"session", PAUSED, "{}", NULL},
    {"overview", PAUSED, "{}", "breakpoint_set {'spec': 'two'}\nwatch_add {'expression': '.n'}"},
    {"configure", PAUSED, "{'idle_limit': 60, 'steps': true}", NULL},
    {"extend", PAUSED, "{'seconds': 100}", NULL},
    {"detach", PAUSED, "{}", NULL},
    {"abort", PAUSED, "{}", NULL},
    {"breakpoint_set", PAUSED,
     "{'breakpoints': [{'node': 'two', 'condition': '.n == 1'}, {'spec': 'error'}]}", NULL},
    {"breakpoint_change", PAUSED, "{'id': 1, 'condition': null, 'enabled': false}",
     "breakpoint_set {'spec': 'two if .n == 1'}"},
    {"breakpoint_delete", PAUSED, "{'all': true}", "breakpoint_set {'spec': 'two'}"},
    {"breakpoint_enable", PAUSED, "{'id': 1, 'enabled': false}", "breakpoint_set {'spec': 'two'}"},
    {"breakpoints", STEPPED, "{}",
     "breakpoint_set {'spec': 'three if .n > 1', 'log_message': 'here'}"},
    {"breakpoint_save", PAUSED, "{}", "breakpoint_set {'spec': 'two'}"},
    {"breakpoint_load", PAUSED, "{}", "breakpoint_set {'spec': 'two'}\nbreakpoint_save {}"},
    {"breakpoint_saved", PAUSED, "{}", "breakpoint_set {'spec': 'two'}\nbreakpoint_save {}"},
    {"continue", PAUSED, "{'frame': 'all'}", NULL},
    {"pause", STEPPED, "{}", NULL},
    {"step", PAUSED, "{'kind': 'over'}", NULL},
    {"back", STEPPED, "{}", NULL},
    {"reverse_continue", STEPPED, "{}", NULL},
    {"goto", STEPPED, "{'node': 'one'}", NULL},
    {"skip", PAUSED, "{'output': {'n': 5}}", NULL},
    {"retry", FAILED, "{}", NULL},
    {"end", PAUSED, "{'frame': 2}",
     "inject {'name': 'each', 'node': {'map': {'over': '[1, 2]'}, 'do': {'jq': '1'}}}\nstep {'kind': 'into'}\nstep {'kind': 'into'}"},
    {"answer", ASKING, "{'decision': 'yes'}", NULL},
    {"frames", ASKING, "{}", NULL},
    {"stack", FAILED, "{'frame': 1}", NULL},
    {"frame", FAILED, "{'frame': 1}", NULL},
    {"node", STEPPED, "{}", NULL},
    {"config", STEPPED, "{}", NULL},
    {"variables", STEPPED, "{'path': '.seen', 'depth': 1, 'preview': 200}", NULL},
    {"summary", STEPPED, "{}", NULL},
    {"search", STEPPED, "{'text': 'two'}", NULL},
    {"largest", STEPPED, "{'limit': 2}", NULL},
    {"diff", STEPPED, "{'from': 1}", NULL},
    {"written", STEPPED, "{'path': '.n'}", NULL},
    {"evaluate", STEPPED, "{'expression': '.n, null', 'depth': 1}", NULL},
    {"complete", STEPPED, "{'text': '.s'}", NULL},
    {"watch_add", PAUSED, "{'expression': '.n'}", NULL},
    {"watch_delete", PAUSED, "{'id': 1}", "watch_add {'expression': '.n'}"},
    {"watches", STEPPED, "{}",
     "watch_add {'expression': '.n'}\nwatch_add {'expression': 'error(1)'}"},
    {"source", STEPPED, "{}", "breakpoint_set {'spec': 'two'}"},
    {"nodes", PAUSED, "{}", NULL},
    {"graph", PAUSED, "{'format': 'json'}", NULL},
    {"edges", STEPPED, "{}", NULL},
    {"history", STEPPED, "{'all': true}", NULL},
    {"set", STEPPED, "{'path': '.n', 'value': {'a': null}}", NULL},
    {"unset", STEPPED, "{'path': ['n']}", NULL},
    {"pending", STEPPED, "{}", "set {'path': '.n', 'value': null}\nunset {'path': '.seen'}"},
    {"revoke", STEPPED, "{'all': true}", "set {'path': '.n', 'value': 1}"},
    {"config_set", PAUSED, "{'path': '.jq', 'value': '{n: 9}'}", NULL},
    {"config_reset", PAUSED, "{}", "config_set {'path': '.jq', 'value': '{n: 9}'}"},
    {"inject", PAUSED, "{'name': 'note', 'node': {'jq': '{note: 1}'}}", NULL},
    {"injected", PAUSED, "{}", "inject {'name': 'note', 'node': {'jq': '{note: 1}'}}"},
    {"inject_remove", PAUSED, "{'id': 1}", "inject {'name': 'note', 'node': {'jq': '{note: 1}'}}"},
    {"replay", STEPPED, "{'node': 'two', 'new_thread': '$-again'}", NULL},
    {"export", STEPPED, "{}", NULL},
};

static bool takes(const Operation *op, const char *name) {
    const OperationArg *a = op->args;
    while (a && a->name && strcmp(a->name, name) != 0) {
        a++;
    }
    return a && a->name;
}

static const Scenario *scenario_of(const Operation *op) {
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        if (!strcmp(scenarios[i].operation, op->name)) {
            return &scenarios[i];
        }
    }
    fail_msg("The operation `%s` has no scenario in tests/unit/test_operations.c.", op->name);
    return NULL;
}

/* ---- what went wrong ---- */

static int complaints;

/* All of it is told before the test fails. */
static void complain(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputs("\n", stderr);
    complaints++;
}

/* ---- targets ---- */

typedef enum Way { HERE, SOCKET, LIBRARY, SERVER } Way;

typedef struct Target {
    Way way;
    const char *name;
    char folder[64], url[96];
    uv_loop_t loop;
    Client *client;
    pid_t holder;       /* the process that holds the runs; 0: this one */
    int leash;          /* it goes when this is closed */
    PawlEngine *engine; /* of the library, as are these */
    PawlDebug *debug;
    ClientEvents *window;
    Json told; /* names of events */
    bool over;
} Target;

static char the_folder[64]; /* of the target */

static void make_folder(Target *t) {
    strcpy(t->folder, "/tmp/pawl-operations-XXXXXX");
    assert_non_null(mkdtemp(t->folder));
    snprintf(t->url, sizeof t->url, "sqlite:%s/runs.db", t->folder);
}

static void open_client(Target *t) {
    assert_int_equal(uv_loop_init(&t->loop), 0);
    t->told = json_array();
    t->client = client_new(&(ClientOptions){
        .loop = &t->loop, .store = t->url, .folder = t->folder, .environment = environ});
}

static void open_client_of_server(Target *t) {
    char path[128], url[64];
    int port = 0;
    snprintf(path, sizeof path, "%s/port", t->folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &port), 1);
    fclose(file);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", port);
    assert_int_equal(uv_loop_init(&t->loop), 0);
    t->told = json_array();
    t->client = client_new(&(ClientOptions){.loop = &t->loop, .server = url});
}

static void close_client(Target *t) {
    client_free(t->client);
    uv_run(&t->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&t->loop), 0);
    json_clear(&t->told);
}

typedef struct Answer {
    Json value;
    Error err;
    bool there;
} Answer;

static void take_answer(void *ctx, Json value, const Error *err) {
    Answer *a = ctx;
    assert_false(a->there);
    assert_int_equal(json_is_none(value), err != NULL);
    *a = (Answer){.value = value, .err = err ? *err : (Error)ERROR_INIT, .there = true};
}

static Answer ask_library(Target *t, const char *operation, Json args) {
    PawlError err;
    Answer a = {.value = json_of(pawl_call(t->engine, operation, value_of(args), &err)),
                .there = true};
    if (json_is_none(a.value)) {
        Json error = json_of(pawl_error_value(&err));
        error_from_json(error, &a.err);
        json_unref(error);
    }
    assert_int_equal(err.code != PAWL_OK, json_is_none(a.value));
    return a;
}

/* Consumes args. */
static Answer ask(Target *t, const char *operation, Json args) {
    Answer a = {.value = json_none()};
    const Operation *op = operation_find(operation, NULL);
    if (t->way == LIBRARY) {
        return ask_library(t, operation, args);
    }
    if (t->way == HERE) {
        operation_call(client_host(t->client), operation, args,
                       (Reply){.give = take_answer, .ctx = &a});
    } else if (t->way == SERVER ||
               (op && operation_is_of_run(op))) { /* there, or here when nobody has it */
        client_call(t->client, operation, args, take_answer, &a);
    } else {
        Remote *remote = remote_open(t->client, t->holder);
        assert_non_null(remote);
        remote_call(remote, operation, args, take_answer, &a);
    }
    while (!a.there) {
        uv_run(&t->loop, UV_RUN_ONCE);
    }
    return a;
}

static Json must(Target *t, const char *operation, Json args) {
    Answer a = ask(t, operation, args);
    if (json_is_none(a.value)) {
        complain("%s, %s: %s", t->name, operation, a.err.msg);
    }
    return json_is_none(a.value) ? json_object() : a.value;
}

static void take_event(void *ctx, Json event) {
    Target *t = ctx;
    t->told = json_array_push(t->told, json_ref(json_object_get_c(event, "event")));
    json_unref(event);
}

static void on_over(void *ctx, const Error *why) {
    Target *t = ctx;
    t->over = true;
    if (why) {
        complain("%s: %s", t->name, why->msg);
    }
}

static void listen_to(Target *t, Json args) {
    t->over = false;
    json_clear(&t->told);
    t->told = json_array();
    t->window = client_events(t->client, args, &(ClientListener){take_event, on_over, t});
}

static void end_window(Target *t) {
    client_events_end(t->window);
    t->window = NULL;
    pawl_debug_free(t->debug);
    t->debug = NULL;
}

static void turn(Target *t) {
    if (t->way == LIBRARY) {
        pawl_engine_turn(t->engine, 0);
    } else {
        uv_run(&t->loop, UV_RUN_NOWAIT);
    }
}

/* ---- what a scenario needs ---- */

/* What a text of a scenario means. */
static Json meant(const char *text, size_t len, const char *thread) {
    Buf out = BUF_INIT;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '$') {
            buf_adds(&out, thread);
        } else if (text[i] == '#') {
            buf_adds(&out, the_folder);
        } else {
            buf_add(&out, text[i] == '\'' ? "\"" : &text[i], 1);
        }
    }
    Json value = parse(out.data);
    buf_clear(&out);
    return value;
}

static Json with_thread(Json args, const char *thread) {
    bool said = !json_is_none(json_object_get_c(args, "thread"));
    return said ? args : OBJECT_ADD(args, KEY("thread", thread));
}

static Json status_of(Target *t, const char *operation, const char *thread) {
    Json answer = must(t, operation, OBJECT(KEY("thread", thread)));
    Json status = json_ref(json_object_get_c(answer, "status"));
    json_unref(answer);
    return status;
}

/* Until a run, or its session, does nothing by itself. */
static void until(Target *t, const char *operation, const char *thread, const char *wanted) {
    for (int i = 0, before = complaints; i < 2000 && complaints == before; i++) {
        Json status = status_of(t, operation, thread);
        bool is = wanted ? json_string_is(status, wanted) : !json_string_is(status, "running");
        json_unref(status);
        if (is) {
            return;
        }
        usleep(2000);
        turn(t);
    }
    complain("%s: the %s of `%s` is never %s", t->name, operation, thread,
             wanted ? wanted : "still");
}

static void do_first(Target *t, const char *lines, const char *thread) {
    for (const char *at = lines, *end; at && *at; at = *end ? end + 1 : end) {
        end = strchr(at, '\n');
        end = end ? end : at + strlen(at);
        char name[40];
        size_t len = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        Json args = meant(at + len, (size_t)(end - at) - len, thread);
        const Operation *op = operation_find(name, NULL);
        bool of_run = op && operation_is_of_run(op);
        json_unref(must(t, name, of_run ? with_thread(args, thread) : args));
        if (!strcmp(name, "step") || !strcmp(name, "continue") || !strcmp(name, "answer")) {
            until(t, "session", thread, NULL);
        }
    }
}

/* A run of the program's own, with its debugger. */
static void start_debugged(Target *t, const char *thread) {
    PawlError err;
    PawlFlow *flow = pawl_flow_load("w.yaml", &err);
    PawlRun *run =
        flow ? pawl_run_start(t->engine, flow, &(PawlStart){.thread = thread}, &err) : NULL;
    t->debug =
        run ? pawl_debug_attach(run, &(PawlDebugOptions){.pause_on_start = true}, &err) : NULL;
    if (!t->debug) {
        complain("%s: %s", t->name, err.message);
    }
    pawl_flow_free(flow);
}

static void reach(Target *t, State state, const char *thread) {
    static const char *const ways[] = {
        [STEPPED] = "step {'kind': 'over'}\nstep {'kind': 'over'}",
        [ASKING] = "continue {}",
        [FAILED] = "breakpoint_set {'spec': 'error'}\ncontinue {}\nanswer {'decision': 'no'}",
    };
    if (state == NOTHING) {
        return;
    }
    if (t->way == LIBRARY && state >= PAUSED) {
        start_debugged(t, thread);
        until(t, "session", thread, "paused");
        do_first(t, ways[state], thread);
        return;
    }
    Json files = OBJECT(KEY("w.yaml", FLOW));
    Json args = OBJECT(KEY("thread", thread),
                       KEY("definition", OBJECT(KEY("main", "w.yaml"), KEY("files", files))));
    if (state >= PAUSED) {
        args = OBJECT_ADD(args, KEY("debug", OBJECT(KEY("pause_on_start", json_bool(true)))));
    }
    json_unref(must(t, "run_start", args));
    if (state >= PAUSED) {
        listen_to(t, OBJECT(KEY("thread", thread), KEY("attach", json_bool(true))));
        until(t, "session", thread, "paused");
        do_first(t, ways[state], thread);
    } else {
        until(t, "run_get", thread, "interrupted");
    }
    if (state == ENDED) {
        do_first(t, "run_resume {'decision': 'yes'}", thread);
        until(t, "run_get", thread, "completed");
    }
}

/* ---- the other process ---- */

typedef struct Order {
    State state;
    char thread[64];
} Order;

static void on_order(uv_poll_t *poll, int status, int events) {
    *(bool *)poll->data = true;
    (void)status;
    (void)events;
}

/* Lets others in over HTTP, at a port that is in a file. */
static Server *serve(Target *t) {
    char path[128];
    Server *web =
        server_new(&(ServerOptions){.loop = &t->loop, .client = t->client, .rate = 1000000}, NULL);
    int port = web ? server_listen(web, "127.0.0.1:0", NULL) : 0;
    snprintf(path, sizeof path, "%s/port", t->folder);
    FILE *file = port ? fopen(path, "w") : NULL;
    if (!file) {
        _exit(2);
    }
    fprintf(file, "%d", port);
    fclose(file);
    return web;
}

static void on_closed(void *ctx) {
    *(bool *)ctx = true;
}

/* Brings runs to where scenarios need them, and holds them; until its leash is let go of. */
static void hold(Target *t, int leash) {
    Error err = ERROR_INIT;
    uv_poll_t orders;
    Order order;
    bool ordered = false, serves = t->way == SERVER, closed = !serves;
    t->way = HERE; /* to itself */
    open_client(t);
    Host *host = client_host(t->client);
    SocketServer *door = host_store(host, HOST_CREATES, &err) ? socket_listen(host, &err) : NULL;
    Server *web = serves ? serve(t) : NULL;
    uv_poll_init(&t->loop, &orders, leash);
    uv_poll_start(&orders, UV_READABLE | UV_DISCONNECT, on_order);
    orders.data = &ordered;
    while (door && write(leash, "", 1) == 1) {
        for (ordered = false; !ordered;) {
            uv_run(&t->loop, UV_RUN_ONCE);
        }
        end_window(t);
        if (read(leash, &order, sizeof order) != sizeof order) {
            break;
        }
        reach(t, order.state, order.thread);
    }
    uv_close((uv_handle_t *)&orders, NULL);
    if (web) {
        server_close(web, on_closed, &closed);
    }
    while (!closed) {
        uv_run(&t->loop, UV_RUN_ONCE);
    }
    socket_close(door);
    close_client(t);
    _exit(door && !complaints ? 0 : 1);
}

static Target here = {.way = HERE, .name = "here"}, elsewhere = {.way = SOCKET, .name = "socket"},
              library = {.way = LIBRARY, .name = "library"},
              server = {.way = SERVER, .name = "server"};

static void expect_done(const Target *t) {
    char done;
    assert_int_equal(read(t->leash, &done, 1), 1);
}

/* The other process is made before this one has any threads. */
static void make_holder(Target *t) {
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid_t holder = fork();
    if (!holder) {
        close(ends[1]);
        if (t != &elsewhere) { /* or that one would never see it closed */
            close(elsewhere.leash);
        }
        hold(t, ends[0]);
    }
    close(ends[0]);
    t->holder = holder;
    t->leash = ends[1];
    expect_done(t);
}

static int open_targets(void **state) {
    (void)state;
    make_folder(&here);
    make_folder(&elsewhere);
    make_folder(&library);
    make_folder(&server);
    make_holder(&elsewhere);
    make_holder(&server);
    open_client(&here);
    open_client(&elsewhere);
    open_client_of_server(&server);
    assert_non_null(host_store(client_host(here.client), HOST_CREATES, NULL));
    assert_int_equal(chdir(library.folder), 0);
    FILE *file = fopen("w.yaml", "w");
    fputs(FLOW, file);
    fclose(file);
    library.engine = pawl_engine_open(library.url, NULL, NULL);
    return !library.engine;
}

static int end_holder(Target *t) {
    int status = 1;
    close_client(t);
    close(t->leash);
    waitpid(t->holder, &status, 0);
    return status;
}

static int close_targets(void **state) {
    char command[320];
    (void)state;
    pawl_engine_close(library.engine);
    close_client(&here);
    int status = end_holder(&elsewhere);
    status = end_holder(&server) ? 1 : status;
    snprintf(command, sizeof command, "rm -rf %s %s %s %s", here.folder, elsewhere.folder,
             library.folder, server.folder);
    return system(command) || status;
}

static void bring(Target *t, State state, const char *thread) {
    Order order = {.state = state};
    if (t->way != SOCKET && t->way != SERVER) {
        reach(t, state, thread);
        return;
    }
    snprintf(order.thread, sizeof order.thread, "%s", thread);
    assert_int_equal(write(t->leash, &order, sizeof order), sizeof order);
    expect_done(t);
}

/* ---- what targets may differ in ---- */

static Json without_folder(Json text, const Target *t) {
    const char *at = json_string_data(&text), *found;
    Buf out = BUF_INIT;
    while ((found = strstr(at, t->folder))) {
        buf_add(&out, at, (size_t)(found - at));
        at = found + strlen(t->folder);
        at += *at == '/';
    }
    buf_adds(&out, at);
    Json same = json_string(out.data, out.len);
    buf_clear(&out);
    json_unref(text);
    return same;
}

static Json keys_of(Json object) {
    Json keys = json_array(), key, value;
    for (size_t pos = 0; json_object_next(object, &pos, &key, &value);) {
        keys = json_array_push(keys, json_ref(key));
    }
    json_unref(object);
    return keys;
}

/* Consumes the value. */
static Json comparable(Json value, const char *key, const Target *t) {
    if (json_is_none(value)) {
        return value;
    }
    static const char *const chances[] = {"at",    "took",       "owner",   "since",
                                          "next",  "expires_in", "bytes",   "before",
                                          "after", "token",      "session", NULL};
    int64_t ms;
    bool chance =
        json_time_ms(value, &ms) || (!strcmp(key, "id") && json_kind(value) == JSON_STRING);
    for (const char *const *c = chances; *c && json_kind(value) != JSON_ARRAY; c++) {
        chance = chance || !strcmp(*c, key);
    }
    if (chance && json_kind(value) != JSON_OBJECT) {
        json_unref(value);
        return json_string_c("*");
    }
    Json out = value, name, item;
    if (json_kind(value) == JSON_STRING) {
        return without_folder(value, t);
    }
    if (json_kind(value) == JSON_ARRAY) {
        out = json_array();
        for (size_t i = 0; i < json_array_len(value); i++) {
            out = json_array_push(out, comparable(json_ref(json_array_get(value, i)), "", t));
        }
        json_unref(value);
    } else if (json_kind(value) == JSON_OBJECT) {
        out = json_object();
        for (size_t pos = 0; json_object_next(value, &pos, &name, &item);) {
            Json made = comparable(json_ref(item), json_string_data(&name), t);
            out = json_object_set(out, json_ref(name), made);
        }
        json_unref(value);
    }
    return out;
}

/* ---- what is wrong with arguments ---- */

static const char *const wrong[ARG_TYPES][5] = {
    [ARG_INT] = {"\"x\"", "1.5", "[]", "null"},
    [ARG_NUMBER] = {"\"x\"", "{}", "true"},
    [ARG_BOOL] = {"\"yes\"", "1"},
    [ARG_TEXT] = {"1", "[]"},
    [ARG_FRAME] = {"\"x\"", "0", "1.5", "\"all\""},
    [ARG_FRAMES] = {"\"x\"", "0"},
    [ARG_PATH] = {"1", "{}"},
    [ARG_ARRAY] = {"1", "{}"},
    [ARG_OBJECT] = {"1", "[]"},
    [ARG_ANY] = {NULL},
};

static void refuse(Target *t, const Operation *op, Json args, const char *name) {
    Answer a = ask(t, op->name, args);
    if (!json_is_none(a.value) || a.err.code != ERR_USAGE || !strstr(a.err.msg, name) ||
        !strstr(a.err.msg, op->name) || a.err.msg[strlen(a.err.msg) - 1] != '.') {
        complain("%s, %s with a wrong `%s`: %s: %s", t->name, op->name, name,
                 json_is_none(a.value) ? error_code_name(a.err.code) : "answered", a.err.msg);
    }
    json_unref(a.value);
}

/* An argument that there is none of, each that is needed left out, each with a value of another type. */
static void expect_refusals(Target *t, const Operation *op, Json args) {
    refuse(t, op, OBJECT_ADD(json_ref(args), KEY("nonsense", "x")), "nonsense");
    for (const OperationArg *a = op->args; a && a->name; a++) {
        bool of_run = operation_is_of_run(op) && !strcmp(a->name, "thread");
        if (a->required && !of_run) {
            refuse(t, op, json_object_remove(json_ref(args), json_string_c(a->name)), a->name);
        }
        for (size_t i = 0; wrong[a->type][i] && !of_run; i++) {
            if (a->nullable && !strcmp(wrong[a->type][i], "null")) {
                continue;
            }
            refuse(t, op, OBJECT_ADD(json_ref(args), KEY(a->name, parse(wrong[a->type][i]))),
                   a->name);
        }
    }
}

/* ---- the test ---- */

static Json answer_of(Target *t, const Operation *op, Json args) {
    if (!op->stream) {
        return must(t, op->name, args);
    }
    if (t->way == LIBRARY) { /* a program listens to its engine (PawlEngineOptions) */
        Answer a = ask(t, op->name, args);
        assert_int_equal(a.err.code, ERR_USAGE);
        return json_none();
    }
    listen_to(t, args);
    for (int i = 0; i < 500 && json_array_len(t->told) < 4; i++) {
        uv_run(&t->loop, UV_RUN_NOWAIT);
        usleep(1000);
    }
    end_window(t);
    return OBJECT(KEY("subscription", json_int(1)), KEY("told", json_ref(t->told)));
}

static Json play(Target *t, const Operation *op, const Scenario *s) {
    Error err = ERROR_INIT;
    char thread[64];
    snprintf(thread, sizeof thread, "t-%s", op->name);
    strcpy(the_folder, t->folder);
    bring(t, s->state, thread);
    do_first(t, s->first, thread);
    Json args = s->args ? meant(s->args, strlen(s->args), thread) : json_object();
    if (!strcmp(op->name, "run_import")) {
        Json document = must(t, "export", OBJECT(KEY("thread", thread)));
        args = OBJECT_ADD(args, KEY("document", OBJECT_ADD(document, KEY("thread", "t-imported"))));
    } else if (op->ask || op->past || (s->args && s->state != NOTHING && takes(op, "thread"))) {
        args = with_thread(args, thread);
    }
    if (!op->stream) {
        expect_refusals(t, op, args);
    }
    Json answer = answer_of(t, op, args);
    Shape *shape = shape_compile(op->answer, thing_shapes, &err);
    if (!shape) {
        fail_msg("%s: %s", op->name, err.msg);
    }
    if (!op->stream && !shape_check(shape, answer, &err)) {
        char *text = json_to_text(answer);
        complain("%s, %s answers %s\n%s", t->name, op->name, text, err.msg);
        free(text);
    }
    shape_free(shape);
    end_window(t);
    return comparable(!strcmp(op->answer, "object") ? keys_of(answer) : answer, "", t);
}

static void every_operation_answers_the_same_everywhere(void **state) {
    (void)state;
    for (const Operation *op = operation_next(NULL); op; op = operation_next(op)) {
        const Scenario *s = scenario_of(op);
        Json answer = play(&here, op, s);
        Target *const others[] = {&elsewhere, &library, &server};
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            Json other = play(others[i], op, s);
            char *want = json_to_text(answer), *got = json_to_text(other);
            if (strcmp(got, want) != 0 && !json_is_none(other)) {
                complain("%s answers, here and by the %s,\n%s\n%s", op->name, others[i]->name, want,
                         got);
            }
            free(want);
            free(got);
            json_unref(other);
        }
        json_unref(answer);
    }
    assert_int_equal(complaints, 0);
}

static void every_scenario_is_of_an_operation(void **state) {
    Error err = ERROR_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        if (!operation_find(scenarios[i].operation, &err)) {
            fail_msg("%s", err.msg);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scenario_is_of_an_operation),
        cmocka_unit_test(every_operation_answers_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, open_targets, close_targets);
}
