/* An engine on a store that is slow or fails. The store is made to by PAWL_FAULT, which is read once
 * in a process: so this program starts itself again, with the variable set, to run a workflow, and
 * looks at what is left. */
#include "engine_host.h"

#include <sys/wait.h>

#define WORKFLOW                                                             \
    "state: {n: 0}\n"                                                        \
    "nodes:\n  - {name: a, jq: '{n: (.n + 1)}'}\n"                           \
    "  - {name: b, shell: 'echo x >> b', output: b}\n"                       \
    "  - {name: p, jq: '{p: 1}'}\n  - {name: q, shell: 'true', output: q}\n" \
    "  - {name: j, jq: '{n: (.n + 1)}'}\n"                                   \
    "edges:\n  - {from: __start__, to: a}\n  - {from: a, to: b}\n"           \
    "  - {from: b, to: [p, q], fan_in: j}\n  - {from: [p, q], to: j}\n"      \
    "  - {from: j, to: a, when: '.n < 6'}\n  - {from: j, to: __end__}\n"

/* ---- the program started again ---- */

static FILE *told;
static Store *reader;

static void note_told(Host *h, const Event *e) {
    if (e->checkpoint && e->type != EVENT_SETTLED && e->type != EVENT_LOG) {
        fprintf(told, "%lld\n", (long long)e->checkpoint);
        fflush(told);
    }
    Checkpoint c;
    if (reader && e->checkpoint && !store_checkpoint(reader, 1, e->checkpoint, &c, &h->err)) {
        fprintf(stderr, "%s was told before it could be read: %s\n", event_names[e->type],
                h->err.msg);
        exit(3);
    }
}

static bool begins(Flow *flow) {
    return engine_start_now(host.engine, flow, &(RunStart){.thread = "t2"}, &host.err) != NULL ||
           engine_resume_now(host.engine, &(RunResume){.thread = "t"}, &host.err) != NULL;
}

/* Exit code 0: completed; 1: the store failed and the run says so; others are wrong. */
static int run_here(const char *dir, const char *url, const char *look) {
    memset(&host, 0, sizeof host);
    if (chdir(dir)) return 4;
    snprintf(host.url, sizeof host.url, "%s", url);
    host.lasts = true;
    host.store = store_open(url, STORE_CREATE, &host.err);
    if (!host.store) return 1;
    reader = *look == 'l' ? store_open(url, STORE_READ, &host.err) : NULL;
    told = fopen("told", "w");
    host.on_event = note_told;
    host_up();
    Flow *flow = host_flow(WORKFLOW);
    Run *run = engine_start_now(host.engine, flow, &(RunStart){.thread = "t"}, &host.err);
    int result = 1;
    if (run) {
        host_go();
        bool failed = run_store_error(run) != NULL;
        bool ended = !strcmp(run_status(run), "completed");
        result = !run_settled(run) || host.settled != 1 ? 5 : failed ? 1 : ended ? 0 : 6;
        result = failed && result == 1 && begins(flow) ? 7 : result;
    }
    flow_unref(flow);
    host_down();
    store_close(reader);
    store_close(host.store);
    fclose(told);
    buf_clear(&host.log);
    return result;
}

static int start_again(const char *fault, const char *look) {
    char command[512];
    host_down();
    snprintf(command, sizeof command, "PAWL_FAULT=%s %s run %s %s %s", fault,
             (const char *)host.data, host.dir, host.url, look);
    int status = system(command);
    host_up();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- what is left ---- */

static void expect_all_told_is_there(void) {
    FILE *in = fopen("told", "r");
    long long seq;
    while (in && fscanf(in, "%lld", &seq) == 1) {
        Checkpoint c;
        if (!store_checkpoint(host.store, 1, seq, &c, &host.err)) fail_msg("%s", host.err.msg);
    }
    if (in) fclose(in);
}

static void expect_it_goes_on_to_the_end(void) {
    RunRow row = {0};
    if (!store_find(host.store, "t", &row, &host.err) || !row.head) {
        run_row_clear(&row);
        return; /* it was never begun */
    }
    bool completed = !strcmp(row.status, "completed");
    run_row_clear(&row);
    if (!completed) expect_run(host_resume(&(RunResume){.thread = "t"}), "completed", NULL);
    char *state = host_state_at("t", 0);
    expect_contains(state, "\"n\":6");
    free(state);
    assert_int_equal(lines_of("b"), 3);
}

static char *self;

static bool can_fail(void) {
#ifdef PAWL_FAULTS
    host.data = self;
    return true;
#else
    return false;
#endif
}

static void clean(void) {
    host_down();
    assert_int_equal(system("rm -rf ./*"), 0);
    host_up();
}

static void nothing_is_told_before_it_is_durable(void **state) {
    (void)state;
    if (!can_fail()) skip();
    host_down(); /* the reader needs a store that is there */
    host_up();
    assert_int_equal(start_again("store.sync:slow@1+", "look"), 0);
    expect_all_told_is_there();
    expect_it_goes_on_to_the_end();
}

static void sweep(const char *action) {
    if (!can_fail()) skip();
    int failures = 0;
    for (int n = 1; n < 60; n++) {
        char fault[64];
        snprintf(fault, sizeof fault, "%s@%d+", action, n);
        int code = start_again(fault, "no");
        print_message("# %s: %d\n", fault, code);
        assert_in_range(code, 0, 1);
        failures += code;
        expect_all_told_is_there();
        expect_it_goes_on_to_the_end();
        expect_sound_store();
        clean();
        if (code == 0) break;
    }
    assert_true(failures > 3);
}

static void a_store_that_stops_writing_ends_the_run_and_loses_nothing_told(void **state) {
    (void)state;
    sweep("store.write:eio");
}

static void a_full_disk_ends_the_run_and_loses_nothing_told(void **state) {
    (void)state;
    sweep("store.sync:enospc");
}

static void an_engine_whose_store_failed_once_begins_nothing_more(void **state) {
    (void)state;
    if (!can_fail()) skip();
    int failures = 0;
    for (int n = 1; n < 8; n++) {
        char fault[64];
        snprintf(fault, sizeof fault, "store.sync:eio@%d", n);
        int code = start_again(fault, "no");
        assert_in_range(code, 0, 1);
        failures += code;
        clean();
    }
    assert_true(failures > 3);
}

int main(int argc, char **argv) {
    if (argc == 5 && !strcmp(argv[1], "run")) return run_here(argv[2], argv[3], argv[4]);
    self = realpath(argv[0], NULL);
    if (!self) return 1;
    const struct CMUnitTest tests[] = {
        TEST_LASTING(nothing_is_told_before_it_is_durable),
        TEST_LASTING(a_store_that_stops_writing_ends_the_run_and_loses_nothing_told),
        TEST_LASTING(a_full_disk_ends_the_run_and_loses_nothing_told),
        TEST_LASTING(an_engine_whose_store_failed_once_begins_nothing_more),
    };
    int failed = RUN_TESTS(tests);
    free(self);
    return failed;
}
