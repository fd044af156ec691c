/* engine_host.h - an engine, its loop, its store and a folder of files, for tests.
 *
 * Each test has one Host, made by its setup in an empty folder that is also where it runs. A workflow
 * is a text in the test. host_fresh() drops the engine (and the handle on the store, where the store
 * outlives it) as if the process had ended, and makes new ones.
 *
 * Every event is kept as one line of text, and the host checks on the way what holds for all runs:
 * that checkpoints do not go back, that a run settles once, and that nothing comes after that.
 */
#ifndef PAWL_TESTS_ENGINE_HOST_H
#define PAWL_TESTS_ENGINE_HOST_H

#include "engine.h"
#include "exec.h"
#include "json_test.h"
#include "mem.h"
#include "store_chain.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

typedef struct Host {
    char dir[64];
    char url[128];
    char folder[PATH_MAX];
    bool lasts; /* the store outlives its handle */
    uv_loop_t loop;
    Store *store;
    Engine *engine;
    bool held;     /* the engine's clock is `clock` */
    int64_t clock; /* milliseconds since 1970 */
    uint64_t max_state, max_given, query_ms;
    void (*on_event)(struct Host *h, const Event *event);
    void *data; /* the test's */
    Buf log;    /* "type node status\n" of each event */
    int64_t checkpoint;
    int settled;
    const char *status; /* of the last run that settled */
    Error err;
    int files;
} Host;

static Host host;

TEST_UNUSED static size_t count_of(const char *text, const char *part) {
    size_t n = 0;
    for (const char *at = text; text && (at = strstr(at, part)); at += strlen(part)) n++;
    return n;
}

/* ---- files ---- */

TEST_UNUSED static const char *host_file(const char *name, const char *text) {
    FILE *out = fopen(name, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    return name;
}

/* Lines of a file; 0 when it is not there. What shell nodes count their executions with. */
TEST_UNUSED static size_t lines_of(const char *name) {
    FILE *in = fopen(name, "r");
    size_t n = 0;
    for (int c; in && (c = fgetc(in)) != EOF;) n += c == '\n';
    if (in) fclose(in);
    return n;
}

TEST_UNUSED static bool file_exists(const char *name) {
    return access(name, F_OK) == 0;
}

/* ---- events ---- */

static int64_t host_now(void *ctx) {
    Host *h = ctx;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return h->held ? h->clock : (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void host_event(void *ctx, const Event *e) {
    Host *h = ctx;
    assert_true(h->settled == 0 || e->type == EVENT_START);
    assert_true(e->type == EVENT_SETTLED || e->checkpoint >= h->checkpoint);
    h->checkpoint = e->checkpoint;
    buf_printf(&h->log, "%s%s%s%s%s\n", event_names[e->type], e->node && *e->node ? " " : "",
               e->node ? e->node : "", e->status ? " " : "", e->status ? e->status : "");
    if (e->type == EVENT_SETTLED) {
        h->settled++;
        h->status = e->status;
    }
    if (h->on_event) h->on_event(h, e);
}

TEST_UNUSED static const char *host_log(void) {
    return host.log.data ? host.log.data : "";
}

/* ---- life ---- */

static void host_up(void) {
    Host *h = &host;
    if (!h->store) {
        h->store = store_open(h->url, STORE_CREATE, &h->err);
        if (!h->store) fail_msg("%s", h->err.msg);
    }
    assert_int_equal(uv_loop_init(&h->loop), 0);
    h->engine = engine_new(&(EngineOptions){.loop = &h->loop,
                                            .store = h->store,
                                            .work = exec_work,
                                            .on_event = host_event,
                                            .ctx = h,
                                            .want_updates = true,
                                            .now = host_now,
                                            .max_state = h->max_state,
                                            .max_given = h->max_given,
                                            .query_ms = h->query_ms,
                                            .folder = getcwd(h->folder, sizeof h->folder),
                                            .environment = environ},
                           &h->err);
    assert_non_null(h->engine);
    h->settled = 0;
    h->checkpoint = 0;
}

static void host_down(void) {
    Host *h = &host;
    if (!h->engine) return;
    engine_free(h->engine);
    h->engine = NULL;
    uv_run(&h->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&h->loop), 0);
    if (h->lasts) {
        store_close(h->store);
        h->store = NULL;
    }
}

/* As if the process had ended and another had begun. */
TEST_UNUSED static void host_fresh(void) {
    host_down();
    host_up();
}

static int host_setup(void **state) {
    const char *kind = *state ? *state : "memory";
    memset(&host, 0, sizeof host);
    strcpy(host.dir, "/tmp/pawl-engine-XXXXXX");
    assert_non_null(mkdtemp(host.dir));
    assert_int_equal(chdir(host.dir), 0);
    host.lasts = strcmp(kind, "memory") != 0;
    snprintf(host.url, sizeof host.url, "%s:%s%s", kind, host.lasts ? host.dir : "",
             host.lasts ? "/store" : "");
    alarm(300);
    host_up();
    return 0;
}

static int host_teardown(void **state) {
    char command[100];
    (void)state;
    host_down();
    store_close(host.store);
    buf_clear(&host.log);
    snprintf(command, sizeof command, "rm -rf '%s'", host.dir);
    assert_int_equal(chdir("/tmp"), 0);
    return system(command);
}

/* ---- runs ---- */

TEST_UNUSED static Flow *host_flow(const char *yaml) {
    FlowProblems problems = {0};
    char name[32];
    snprintf(name, sizeof name, "w%d.yaml", ++host.files);
    Flow *flow = flow_load(host_file(name, yaml), NULL, &problems);
    if (!flow) {
        Buf text = BUF_INIT;
        for (size_t i = 0; i < problems.n; i++)
            flow_problem_print(&problems.items[i], false, &text);
        print_error("%s", text.data);
        buf_clear(&text);
    }
    flow_problems_clear(&problems);
    assert_non_null(flow);
    return flow;
}

TEST_UNUSED static Run *host_start(const char *yaml, const char *thread, const char *input) {
    Flow *flow = host_flow(yaml);
    RunStart start = {.thread = thread, .input = input ? parse(input) : json_none()};
    Run *run = engine_start_now(host.engine, flow, &start, &host.err);
    json_unref(start.input);
    flow_unref(flow);
    if (!run) fail_msg("%s", host.err.msg);
    return run;
}

TEST_UNUSED static void host_go(void) {
    uv_run(&host.loop, UV_RUN_DEFAULT);
}

/* Turns of the loop for about so long. */
TEST_UNUSED static void host_turn(int ms) {
    for (uint64_t end = uv_hrtime() + (uint64_t)ms * 1000000; uv_hrtime() < end; usleep(1000)) {
        uv_run(&host.loop, UV_RUN_NOWAIT);
    }
}

/* Turns of the loop until `done` holds. */
TEST_UNUSED static void host_until(bool (*done)(void)) {
    while (!done()) assert_true(uv_run(&host.loop, UV_RUN_ONCE) || done());
}

TEST_UNUSED static void host_settle(Run *run) {
    while (!run_settled(run)) assert_true(uv_run(&host.loop, UV_RUN_ONCE) || run_settled(run));
}

/* Starts, runs until the loop has nothing left to do. */
TEST_UNUSED static Run *host_run(const char *yaml, const char *input) {
    Run *run = host_start(yaml, "t", input);
    host_go();
    assert_true(run_settled(run));
    return run;
}

TEST_UNUSED static Run *host_resume(const RunResume *resume) {
    error_clear(&host.err);
    Run *run = engine_resume_now(host.engine, resume, &host.err);
    if (!run) fail_msg("%s", host.err.msg);
    host_go();
    assert_true(run_settled(run));
    return run;
}

/* A fresh engine goes on with thread "t". */
TEST_UNUSED static Run *host_go_on(void) {
    host_fresh();
    return host_resume(&(RunResume){.thread = "t"});
}

/* The same with an answer; any of the three may be NULL. */
TEST_UNUSED static Run *host_answer(const char *id, const char *decision, const char *value) {
    host_fresh();
    Json v = value ? parse(value) : json_none();
    Run *run =
        host_resume(&(RunResume){.thread = "t", .interrupt = id, .decision = decision, .value = v});
    json_unref(v);
    return run;
}

TEST_UNUSED static const char *host_refused(const RunResume *resume) {
    error_clear(&host.err);
    assert_null(engine_resume_now(host.engine, resume, &host.err));
    return host.err.msg;
}

TEST_UNUSED static void expect_run(Run *run, const char *status, const char *state) {
    if (strcmp(run_status(run), status)) {
        char *text = json_is_none(run_error(run)) ? NULL : json_to_text(run_error(run));
        print_error("%s %s\n", run_status(run), text ? text : "");
        free(text);
    }
    assert_string_equal(run_status(run), status);
    if (state) expect_json(run_state(run), state);
}

/* A text of the error, borrowed until the next call. */
TEST_UNUSED static const char *run_error_text(Run *run, const char *key) {
    static char text[1024];
    Json value = json_object_get_c(run_error(run), key);
    if (json_kind(value) == JSON_STRING)
        snprintf(text, sizeof text, "%.*s", (int)json_string_len(value), json_string_data(&value));
    else
        snprintf(text, sizeof text, "(none)");
    return text;
}

TEST_UNUSED static int64_t run_error_int(Run *run, const char *key) {
    return json_object_get_c(run_error(run), key).i;
}

TEST_UNUSED static void expect_failed(Run *run, const char *kind, const char *part) {
    expect_run(run, "failed", NULL);
    assert_string_equal(run_error_text(run, "kind"), kind);
    expect_contains(run_error_text(run, "message"), part);
}

/* The id of the open interrupt at a node; "" when there is none. */
TEST_UNUSED static const char *interrupt_at(Run *run, const char *node) {
    static char ids[8][32];
    static int turn;
    char *id = ids[turn++ % 8];
    Json all = run_interrupts(run);
    *id = '\0';
    for (size_t i = 0; i < json_array_len(all); i++) {
        Json one = json_array_get(all, i), name = json_object_get_c(one, "id");
        if (json_string_is(json_object_get_c(one, "node"), node))
            snprintf(id, 32, "%.*s", (int)json_string_len(name), json_string_data(&name));
    }
    json_unref(all);
    return id;
}

TEST_UNUSED static size_t open_interrupts(Run *run) {
    Json all = run_interrupts(run);
    size_t n = json_array_len(all);
    json_unref(all);
    return n;
}

/* ---- what the store has ---- */

static void host_problem(void *ctx, const char *thread, int64_t seq, const char *sentence) {
    (void)ctx;
    fail_msg("%s@%lld: %s", thread, (long long)seq, sentence);
}

TEST_UNUSED static void expect_sound_store(void) {
    CheckReport report = {0};
    CheckHost check = {.problem = host_problem};
    host_down();
    host_up();
    assert_true(chain_check(host.store, 0, &check, &report, &host.err));
    assert_int_equal(report.problems, 0);
}

static bool host_history_line(void *ctx, const Checkpoint *c) {
    buf_printf(ctx, "%lld<%lld %lld.%lld %s %s\n", (long long)c->seq, (long long)c->parent,
               (long long)c->step, (long long)c->frame, c->node, c->status);
    return true;
}

/* "seq<parent step.frame node status" a line; give it to mem_free(). */
TEST_UNUSED static char *host_history(const char *thread) {
    RunRow row = {0};
    Buf out = BUF_INIT;
    assert_true(store_find(host.store, thread, &row, &host.err));
    assert_true(store_history(host.store, row.run, 1, host_history_line, NULL, &out, &host.err));
    run_row_clear(&row);
    return buf_detach(&out);
}

/* The state at a checkpoint, as text; give it to free(). */
TEST_UNUSED static char *host_state_at(const char *thread, int64_t seq) {
    RunRow row = {0};
    assert_true(store_find(host.store, thread, &row, &host.err));
    Json image = chain_image(host.store, row.run, seq ? seq : row.head, NULL, &host.err);
    Json state = image_state(image);
    char *text = json_to_text(state);
    json_unref(state);
    json_unref(image);
    run_row_clear(&row);
    return text;
}

TEST_UNUSED static void expect_row(const char *thread, const char *status) {
    RunRow row = {0};
    assert_true(store_find(host.store, thread, &row, &host.err));
    assert_string_equal(row.status, status);
    run_row_clear(&row);
}

/* ---- the clock ---- */

/* From now on time stands still but for move_clock(). */
TEST_UNUSED static void hold_clock(void) {
    host.clock = host_now(&host);
    host.held = true;
}

/* Moves the clock and gives the loop the turns that need no waiting. */
TEST_UNUSED static void move_clock(int64_t ms) {
    host.clock += ms;
    engine_wake(host.engine);
    for (int i = 0; i < 50; i++) {
        uv_run(&host.loop, UV_RUN_NOWAIT);
        usleep(200);
    }
}

/* Starts, and goes as far as it goes while time stands still. */
TEST_UNUSED static Run *host_start_held(const char *yaml, const char *input) {
    hold_clock();
    Run *run = host_start(yaml, "t", input);
    move_clock(0);
    return run;
}

/* ---- lists of tests ---- */

#define ON(f, kind) \
    { #f " (" kind ")", f, host_setup, host_teardown, (void *)(uintptr_t)kind }
#define TEST(f) \
    { #f, f, host_setup, host_teardown, (void *)(uintptr_t) "memory" }
#define TEST_ALL(f) ON(f, "memory"), ON(f, "sqlite"), ON(f, "file")
/* In this process only a store that lasts can be opened a second time. */
#define TEST_LASTING(f) ON(f, "sqlite"), ON(f, "file")

#define RUN_TESTS(tests) \
    (cmocka_set_test_filter(getenv("PAWL_TEST_ONLY")), cmocka_run_group_tests(tests, NULL, NULL))

#endif
