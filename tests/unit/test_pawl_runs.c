/* The promises of pawl.h about many runs in one engine: each has its result, whoever lets go of it
 * and when, and how many there are makes none of them slow. Leaks are the sanitizer's to find. */
#include "lib_inside.h" /* how many runs an engine has */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MANY = 3000 };

/* ---- helpers ---- */

static PawlFlow *compiled(PawlGraph *g) {
    PawlError err;
    PawlFlow *flow = pawl_graph_compile(g, &err);
    if (!flow) {
        fail_msg("%s", err.message);
    }
    pawl_graph_free(g);
    return flow;
}

static PawlValue doubles(void *ctx, PawlCall *call) {
    int *calls = ctx;
    *calls += 1;
    int64_t n = pawl_value_int(pawl_object_get(pawl_call_state(call), "n"), -1);
    return pawl_object_set(pawl_object(), "twice", pawl_int(2 * n));
}

static PawlFlow *of_doubling(int *calls, bool waits) {
    PawlGraph *g = pawl_graph_new("doubling");
    pawl_graph_add_node(g, "double", doubles, calls);
    if (waits) {
        pawl_graph_interrupt_before(g, "double");
    }
    return compiled(g);
}

static PawlEngine *opened(const char *store, PawlEngineOptions options) {
    PawlError err;
    PawlEngine *e = pawl_engine_open(store, &options, &err);
    if (!e) {
        fail_msg("%s", err.message);
    }
    return e;
}

static PawlRun *started(PawlEngine *e, PawlFlow *flow, int n) {
    PawlError err;
    PawlValue input = pawl_object_set(pawl_object(), "n", pawl_int(n));
    PawlRun *run = pawl_run_start(e, flow, &(PawlStart){.input = input}, &err);
    if (!run) {
        fail_msg("%s", err.message);
    }
    return run;
}

static void run_all(PawlEngine *e) {
    PawlError err;
    if (!pawl_engine_run(e, &err)) {
        fail_msg("%s", err.message);
    }
}

static void assert_doubled(const PawlRun *run, int n) {
    assert_int_equal(pawl_run_status(run), PAWL_COMPLETED);
    assert_int_equal(pawl_value_int(pawl_object_get(pawl_run_state(run), "twice"), -1), 2 * n);
}

static size_t listed(PawlEngine *e) {
    PawlError err;
    PawlValue list = pawl_run_list(e, &err);
    size_t n = pawl_array_len(list);
    pawl_value_unref(list);
    return n;
}

/* ---- many ---- */

/* Of three runs one waits for a person, one is let go of at once, one is kept. */
static void start_mixed(PawlEngine *e, PawlFlow *plain, PawlFlow *waiting, PawlRun **runs) {
    for (int i = 0; i < MANY; i++) {
        runs[i] = started(e, i % 3 == 0 ? waiting : plain, i);
        if (i % 3 == 1) {
            pawl_run_free(runs[i]);
            runs[i] = NULL;
        }
    }
}

static void assert_mixed(PawlRun *const *runs) {
    for (int i = 0; i < MANY; i++) {
        if (i % 3 == 0) {
            assert_int_equal(pawl_run_status(runs[i]), PAWL_INTERRUPTED);
        } else if (runs[i]) {
            assert_doubled(runs[i], i);
        }
    }
}

static void every_one_of_thousands_has_its_result(void **state) {
    (void)state;
    int calls = 0, never = 0;
    PawlRun **runs = calloc(MANY, sizeof *runs);
    PawlFlow *plain = of_doubling(&calls, false), *waiting = of_doubling(&never, true);
    PawlEngine *e = opened("memory:", (PawlEngineOptions){0});
    start_mixed(e, plain, waiting, runs);
    run_all(e);
    assert_mixed(runs);
    assert_int_equal(calls, MANY / 3 * 2);
    assert_int_equal(never, 0);
    assert_int_equal(listed(e), MANY);
    for (int i = 0; i < MANY; i += 2) { /* the others are left to the engine */
        pawl_run_free(runs[i]);
    }
    pawl_engine_close(e);
    pawl_flow_free(plain);
    pawl_flow_free(waiting);
    free(runs);
}

static void runs_that_wait_go_on_among_thousands(void **state) {
    (void)state;
    int calls = 0;
    PawlError err;
    PawlFlow *waiting = of_doubling(&calls, true);
    PawlEngine *e = opened("memory:", (PawlEngineOptions){0});
    for (int i = 0; i < MANY; i++) {
        PawlRun *run = started(e, waiting, i);
        if (i % 2) {
            pawl_run_free(run);
        }
    }
    PawlRun *mine = pawl_run_start(e, waiting, &(PawlStart){.thread = "mine"}, &err);
    run_all(e);
    assert_int_equal(calls, 0);
    pawl_run_free(mine);
    mine = pawl_run_resume(e, &(PawlResume){.thread = "mine", .flow = waiting}, &err);
    assert_non_null(mine);
    run_all(e);
    assert_int_equal(pawl_run_status(mine), PAWL_COMPLETED);
    assert_int_equal(calls, 1);
    pawl_engine_close(e);
    pawl_flow_free(waiting);
}

static void an_engine_may_be_closed_before_any_of_them_ran(void **state) {
    (void)state;
    int calls = 0;
    PawlRun **runs = calloc(MANY, sizeof *runs);
    PawlFlow *plain = of_doubling(&calls, false), *waiting = of_doubling(&calls, true);
    PawlEngine *e = opened("memory:", (PawlEngineOptions){0});
    start_mixed(e, plain, waiting, runs);
    pawl_run_cancel(runs[0]); /* which nobody gets round to */
    pawl_engine_close(e);
    assert_int_equal(calls, 0);
    pawl_flow_free(plain);
    pawl_flow_free(waiting);
    free(runs);
}

/* ---- one that goes on for long ---- */

static void keep_token(void *ctx, PawlCall *call, PawlToken *token) {
    (void)call;
    *(PawlToken **)ctx = token;
}

static PawlFlow *of_keeper(PawlToken **token) {
    PawlGraph *g = pawl_graph_new("keeper");
    pawl_graph_add_node_later(g, "keep", keep_token, token);
    return compiled(g);
}

static PawlRun *kept_one(PawlEngine *e, PawlFlow *keeper, PawlToken *const *token) {
    PawlError err;
    PawlRun *run = pawl_run_start(e, keeper, NULL, &err);
    while (!*token) {
        assert_true(pawl_engine_turn(e, 1000));
    }
    return run;
}

static void run_and_let_go(PawlEngine *e, PawlFlow *flow, bool early) {
    PawlRun *run = started(e, flow, 1);
    if (early) {
        pawl_run_free(run);
        pawl_engine_turn(e, 0);
    } else {
        while (!pawl_run_settled(run)) {
            pawl_engine_turn(e, 0);
        }
        pawl_run_free(run);
    }
}

static size_t held_by(const PawlEngine *e) {
    size_t n = 0;
    for (const HostRun *r = host_next(e->host, NULL); r; r = host_next(e->host, r)) {
        n++;
    }
    return n;
}

static void what_is_let_go_of_is_freed_while_another_goes_on(void **state) {
    (void)state;
    int calls = 0;
    PawlToken *token = NULL;
    PawlFlow *flow = of_doubling(&calls, false), *keeper = of_keeper(&token);
    PawlEngine *e = opened(NULL, (PawlEngineOptions){0});
    PawlRun *long_one = kept_one(e, keeper, &token);
    for (int i = 0; i < MANY; i++) {
        run_and_let_go(e, flow, i % 2);
        assert_in_range(held_by(e), 1, 20);
    }
    pawl_token_succeed(token, pawl_null());
    run_all(e);
    assert_int_equal(pawl_run_status(long_one), PAWL_COMPLETED);
    assert_int_equal(held_by(e), 1);
    assert_int_equal(calls, MANY);
    pawl_engine_close(e);
    pawl_flow_free(flow);
    pawl_flow_free(keeper);
}

/* ---- letting go and cancelling from inside ---- */

static void let_go(void *ctx, const PawlEvent *event) {
    int *settled = ctx;
    if (event->type == PAWL_EVENT_SETTLED) {
        *settled += 1;
        pawl_run_free(event->run);
        pawl_run_free(event->run); /* once is enough */
    }
}

static void those_who_listen_may_let_go_of_each(void **state) {
    (void)state;
    int calls = 0, settled = 0;
    PawlFlow *flow = of_doubling(&calls, false);
    PawlEngine *e = opened(NULL, (PawlEngineOptions){.on_event = let_go, .ctx = &settled});
    for (int i = 0; i < MANY; i++) {
        started(e, flow, i);
    }
    run_all(e);
    assert_int_equal(settled, MANY);
    assert_int_equal(held_by(e), 0);
    pawl_engine_close(e);
    pawl_flow_free(flow);
}

typedef struct Tokens {
    PawlToken *items[MANY];
    int n, cancelled;
    PawlRun *next[MANY + 1]; /* by the run before; each that is cancelled cancels the next */
} Tokens;

static void collect(void *ctx, PawlCall *call, PawlToken *token) {
    Tokens *t = ctx;
    (void)call;
    t->items[t->n++] = token;
}

static void cancel_next(void *ctx, PawlToken *token) {
    Tokens *t = ctx;
    (void)token;
    PawlRun *next = t->next[++t->cancelled];
    if (next) {
        pawl_run_cancel(next);
        pawl_run_stop(next); /* the stronger wish counts */
    }
}

static PawlFlow *of_tokens(Tokens *t) {
    PawlGraph *g = pawl_graph_new("tokens");
    pawl_graph_add_node_later(g, "wait", collect, t);
    pawl_graph_set_node(g, "wait", &(PawlNodeOptions){.on_cancel = cancel_next});
    return compiled(g);
}

static void finish_tokens(Tokens *t) {
    for (int i = 0; i < t->n; i++) {
        pawl_token_succeed(t->items[i], pawl_null());
    }
}

static void cancelling_one_may_cancel_the_next(void **state) {
    (void)state;
    Tokens *t = calloc(1, sizeof *t);
    PawlFlow *flow = of_tokens(t);
    PawlEngine *e = opened(NULL, (PawlEngineOptions){0});
    for (int i = 0; i < MANY; i++) {
        t->next[i] = started(e, flow, i);
    }
    while (t->n < MANY) {
        pawl_engine_turn(e, 1000);
    }
    pawl_run_cancel(t->next[0]);
    run_all(e);
    assert_int_equal(t->cancelled, MANY);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(pawl_run_status(t->next[i]), PAWL_CANCELLED);
        pawl_run_cancel(t->next[i]); /* it has settled: nothing */
        pawl_run_free(t->next[i]);
    }
    finish_tokens(t);
    pawl_engine_close(e);
    pawl_flow_free(flow);
    free(t);
}

static void a_function_that_closing_calls_may_cancel_its_run(void **state) {
    (void)state;
    Tokens *t = calloc(1, sizeof *t);
    PawlFlow *flow = of_tokens(t);
    PawlEngine *e = opened("memory:", (PawlEngineOptions){0});
    t->next[1] = started(e, flow, 1);
    while (!t->n) {
        pawl_engine_turn(e, 1000);
    }
    pawl_engine_close(e);
    assert_int_equal(t->cancelled, 1);
    finish_tokens(t);
    pawl_flow_free(flow);
    free(t);
}

/* ---- engines that cannot be opened ---- */

static int next_fd(void) {
    int fd = open("/dev/null", O_RDONLY);
    close(fd);
    return fd;
}

/* With so many descriptors more. */
static PawlEngine *open_with(int fds, PawlError *err) {
    struct rlimit before, now;
    getrlimit(RLIMIT_NOFILE, &before);
    now = before;
    now.rlim_cur = (rlim_t)(next_fd() + fds);
    setrlimit(RLIMIT_NOFILE, &now);
    PawlEngine *e = pawl_engine_open("memory:", NULL, err);
    setrlimit(RLIMIT_NOFILE, &before);
    return e;
}

static void an_engine_without_descriptors_says_so(void **state) {
    (void)state;
    int fds = 0;
    PawlEngine *e = NULL;
    for (; !e && fds < 100; fds++) {
        PawlError err = {0};
        e = open_with(fds, &err);
        assert_true(e || strlen(err.message) > 20);
    }
    assert_non_null(e);
    assert_true(fds > 2);
    pawl_engine_close(e);
}

static void an_engine_that_cannot_be_opened_leaves_the_loop_of_its_program(void **state) {
    (void)state;
    uv_loop_t loop;
    PawlError err = {0};
    uv_loop_init(&loop);
    assert_null(
        pawl_engine_open("sqlite:/dev/null/runs.db", &(PawlEngineOptions){.loop = &loop}, &err));
    assert_true(strlen(err.message) > 20);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_one_of_thousands_has_its_result),
        cmocka_unit_test(runs_that_wait_go_on_among_thousands),
        cmocka_unit_test(an_engine_may_be_closed_before_any_of_them_ran),
        cmocka_unit_test(what_is_let_go_of_is_freed_while_another_goes_on),
        cmocka_unit_test(those_who_listen_may_let_go_of_each),
        cmocka_unit_test(cancelling_one_may_cancel_the_next),
        cmocka_unit_test(a_function_that_closing_calls_may_cancel_its_run),
        cmocka_unit_test(an_engine_without_descriptors_says_so),
        cmocka_unit_test(an_engine_that_cannot_be_opened_leaves_the_loop_of_its_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
