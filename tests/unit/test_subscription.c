/* Subscriptions: every event once and in order, live and from the record alike, and nobody waits for a slow one. */
#include "event.h"
#include "json_build.h"
#include "json_test.h"
#include "mem.h"
#include "subscription.h"

#include <limits.h>
#include <unistd.h>

extern char **environ;

typedef struct World {
    char dir[64], url[128], folder[PATH_MAX];
    uv_loop_t loop;
    Host *host;
    int files;
} World;

static World world;

static void up(void) {
    assert_int_equal(uv_loop_init(&world.loop), 0);
    world.host = host_new(&(HostOptions){.loop = &world.loop,
                                         .store = world.url,
                                         .folder = getcwd(world.folder, sizeof world.folder),
                                         .environment = environ});
}

static void down(void) {
    host_free(world.host);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&world.loop), 0);
}

/* As if the process had ended and another had begun. */
static void fresh(void) {
    down();
    up();
}

static int setup(void **state) {
    const char *kind = *state;
    world = (World){.dir = "/tmp/pawl-subscription-XXXXXX"};
    assert_non_null(mkdtemp(world.dir));
    assert_int_equal(chdir(world.dir), 0);
    bool memory = !strcmp(kind, "memory");
    snprintf(world.url, sizeof world.url, "%s:%s%s", kind, memory ? "" : world.dir,
             memory ? "" : "/store");
    alarm(300);
    up();
    return 0;
}

static int teardown(void **state) {
    char command[100];
    (void)state;
    down();
    snprintf(command, sizeof command, "rm -rf '%s'", world.dir);
    assert_int_equal(chdir("/tmp"), 0);
    return system(command);
}

/* ---- runs ---- */

static Flow *flow_of(const char *yaml) {
    char name[32];
    FlowProblems problems = {0};
    snprintf(name, sizeof name, "w%d.yaml", ++world.files);
    FILE *out = fopen(name, "w");
    assert_non_null(out);
    fputs(yaml, out);
    fclose(out);
    Flow *flow = flow_load(name, NULL, &problems);
    if (!flow) fail_msg("%s", problems.items[0].msg);
    flow_problems_clear(&problems);
    return flow;
}

/* Counts from 0 on, a checkpoint a time, and then waits for the file `go`. */
static const char *waiting(int steps) {
    static char yaml[400];
    snprintf(yaml, sizeof yaml,
             "state: {n: {default: 0}}\nconfig: {recursion_limit: 1000000}\n"
             "nodes:\n  - {name: count, jq: '{n: (.n + 1)}'}\n"
             "  - {name: wait, shell: 'until test -e go; do sleep 0.01; done'}\n"
             "edges:\n  - {from: __start__, to: count}\n"
             "  - {from: count, to: count, when: '.n < %d'}\n"
             "  - {from: count, to: wait}\n  - {from: wait, to: __end__}\n",
             steps);
    return yaml;
}

/* The same without waiting. */
static const char *counter(int steps) {
    fclose(fopen("go", "w"));
    return waiting(steps);
}

/* ---- who listens ---- */

typedef struct Listener {
    Subscription *s;
    Json events; /* that were taken */
    bool reads, over;
    struct Listener *ends; /* another that goes with its first event */
} Listener;

static void take(Listener *l, size_t most) {
    Json event;
    for (; most && l->s && subscription_next(l->s, &event); most--) {
        l->events = json_array_push(l->events, event);
        if (l->ends) {
            subscription_end(l->ends->s);
            l->ends->s = NULL;
            l->ends = NULL;
        }
    }
    l->over = l->s && subscription_is_over(l->s);
}

static void on_ready(void *ctx, Subscription *s) {
    Listener *l = ctx;
    if (l->reads && l->s == s) take(l, SIZE_MAX);
}

/* Whoever reads is given everything; the others wait for take(). */
static Listener *heard_by(SubscriptionSpec spec, bool reads) {
    Error err = ERROR_INIT;
    Listener *l = mem_zalloc(sizeof *l);
    *l = (Listener){.events = json_array(), .reads = reads};
    spec.ready = on_ready;
    spec.ctx = l;
    l->s = host_subscribe(world.host, &spec, &err);
    if (!l->s) fail_msg("%s", err.msg);
    if (reads) take(l, SIZE_MAX);
    return l;
}

/* ---- runs that are listened to ---- */

typedef struct Began {
    HostRun *run;
    const SubscriptionSpec *spec; /* NULL: nobody listens from the first event on */
    Listener *listener;
    bool reads;
} Began;

static void on_began(void *ctx, HostRun *run, const Error *err) {
    Began *b = ctx;
    if (err) fail_msg("%s", err->msg);
    b->run = run;
    b->listener = b->spec ? heard_by(*b->spec, b->reads) : NULL;
}

static void begin(Began *b, const char *yaml, const char *thread) {
    Flow *flow = flow_of(yaml);
    host_start(world.host, &(HostStart){.flow = flow, .run = {.thread = thread}}, on_began, b);
    while (!b->run) uv_run(&world.loop, UV_RUN_ONCE);
    flow_unref(flow);
}

static HostRun *start(const char *yaml, const char *thread) {
    Began b = {0};
    begin(&b, yaml, thread);
    return b.run;
}

/* Told of every event. */
static Listener *start_heard(const char *yaml, SubscriptionSpec spec, bool reads) {
    spec.from = -1;
    Began b = {.spec = &spec, .reads = reads};
    begin(&b, yaml, spec.thread);
    return b.listener;
}

static HostRun *resume(const char *thread) {
    Began b = {0};
    host_resume(world.host, &(RunResume){.thread = thread}, on_began, &b);
    while (!b.run) uv_run(&world.loop, UV_RUN_ONCE);
    return b.run;
}

static void end(Listener *l) {
    subscription_end(l->s);
    json_unref(l->events);
    mem_free(l);
}

static void go_until_over(Listener *l) {
    while (!l->over) assert_true(uv_run(&world.loop, UV_RUN_ONCE) || l->over);
}

static void go(void) {
    uv_run(&world.loop, UV_RUN_DEFAULT);
}

static bool is(Json event, const char *name) {
    return json_string_is(json_object_get_c(event, "event"), name);
}

static int64_t number(Json event, const char *key) {
    Json n = json_object_get_c(event, key);
    return json_tag(n) == JSON_TAG_INT ? n.i : -1;
}

static Json last_of(const Listener *l) {
    size_t n = json_array_len(l->events);
    return n ? json_array_get(l->events, n - 1) : json_none();
}

/* Those of the record; given. */
static Json recorded(const Listener *l) {
    Json out = json_array();
    for (size_t i = 0; i < json_array_len(l->events); i++) {
        Json event = json_array_get(l->events, i);
        bool told = number(event, "cursor") >= 0 && !is(event, "dropped");
        out = told ? json_array_push(out, json_ref(event)) : out;
    }
    return out;
}

static void expect_same(Json got, Json want) {
    size_t n = json_array_len(got), m = json_array_len(want);
    for (size_t i = 0; i < n && i < m; i++) {
        if (!json_equal(json_array_get(got, i), json_array_get(want, i))) {
            char *a = json_to_text(json_array_get(got, i)),
                 *b = json_to_text(json_array_get(want, i));
            fail_msg("event %zu of %zu is\n%s, not\n%s", i, m, a, b);
        }
    }
    assert_int_equal(n, m);
}

/* Steps from one checkpoint to another, each once and in order. */
static void expect_steps(const Listener *l, int64_t from, int64_t to) {
    Json told = recorded(l);
    assert_int_equal(json_array_len(told), to - from + 1);
    for (size_t i = 0; i < json_array_len(told); i++) {
        assert_int_equal(number(json_array_get(told, i), "checkpoint"), from + (int64_t)i);
    }
    json_unref(told);
}

/* ---- live, and from the record ---- */

#define EDGES "edges:\n"
static const struct {
    const char *what, *yaml;
} flows[] = {
    {"one after the other, with reducers",
     "state: {k: {default: [1], reduce: append}, n: {default: 0, reduce: add}}\n"
     "nodes:\n  - {name: a, jq: '{k: [2], n: 3}'}\n  - {name: b, jq: '{k: .n, x: {y: [1, 2]}}'}\n"
     "  - {name: c, shell: 'echo hi', output: said}\n"
     "  - {name: d, jq: 'del(.x.y) | {x: .x, k: [.n]}'}\n"},
    {"branches that join, in one another",
     "state: {k: {default: [], reduce: append}}\n"
     "nodes:\n  - {name: s, jq: '{s: 1, k: 1}'}\n  - {name: p, jq: '{p: .s, k: 2}'}\n"
     "  - {name: q, jq: '{q: .s}'}\n  - {name: i, jq: '{i: (.p + .q)}'}\n"
     "  - {name: o, jq: '{o: 1, k: 3}'}\n  - {name: j, jq: '{j: .i}'}\n" EDGES
     "  - {from: __start__, to: [s, o], fan_in: j}\n"
     "  - {from: s, to: [p, q], fan_in: i}\n  - {from: [p, q], to: i}\n"
     "  - {from: [i, o], to: j}\n  - {from: j, to: __end__}\n"},
    {"a map, and one of workflows",
     "state: {items: {default: [1, 2, 3]}}\nnodes:\n"
     "  - {name: m, output: done, map: {over: .items, as: x, limit: 2}, do: {jq: '{v: ($x * 2)}'}}\n"
     "  - {name: n, map: {over: .items, as: y}, do: {workflow: inner.yaml}}\n"
     "  - {name: after, jq: '{n: (.done | length)}'}\n"},
    {"a loop, and a workflow in it",
     "state: {n: {default: 0}}\nnodes:\n"
     "  - {name: loop, while: '.n < 3', do: [\n"
     "      {name: up, jq: '{n: (.n + 1)}'}, {name: same, workflow: inner.yaml}]}\n"
     "  - {name: end, jq: '{e: 1}'}\n"},
    {"attempts, and an error that was caught",
     "nodes:\n  - {name: a, shell: 'test -e tried || { touch tried; exit 3; }',"
     " retry: {attempts: 3, delay: 1ms}}\n"
     "  - {name: b, jq: '{b: 1}'}\n"},
    {"a run that fails in a branch",
     "nodes:\n  - {name: a, jq: 'error(\"no\")'}\n  - {name: b, jq: '{b: 1}'}\n"
     "  - {name: j, jq: '{}'}\n" EDGES "  - {from: __start__, to: [a, b], fan_in: j}\n"
     "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n"},
    {"a question", "nodes:\n  - {name: a, jq: '{a: 1}'}\n"
                   "  - {name: ask, approval: {prompt: 'really?', options: [go on, stop]}}\n"
                   "  - {name: c, jq: '{c: 1}'}\n"},
    {"questions in branches",
     "nodes:\n  - {name: a, approval: {prompt: 'a?'}}\n  - {name: b, approval: {prompt: 'b?'}}\n"
     "  - {name: j, jq: '{}'}\n" EDGES "  - {from: __start__, to: [a, b], fan_in: j}\n"
     "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n"},
    {"tasks beside each other",
     "id: t\nconfig: {word: hi}\ntasks:\n"
     "  - {name: run_shell, id: first, config: {command: 'echo \"::set-json v [1]\"'}}\n"
     "  - {name: run_tasks_concurrent, config: {tasks: [\n"
     "      {name: run_shell, id: x, config: {command: 'echo \"::set-json x 1\"'}},\n"
     "      {name: sleep, id: y, config: {duration: 0}}]}}\n"
     "  - {name: run_tasks, config: {newVariableScope: true, tasks: [\n"
     "      {name: run_shell, config: {command: 'echo \"::set-json inner 1\"'}}]}}\n"
     "cleanupTasks:\n  - {name: run_shell, config: {command: 'true'}}\n"},
    {"tasks for each of a list, and behind another",
     "id: t\ntasks:\n"
     "  - {name: run_task_matrix, config: {matrixVar: m, matrixValues: [1, 2],\n"
     "      task: {name: run_shell, config: {command: 'true'}}}}\n"
     "  - {name: run_task_background, config: {\n"
     "      foregroundTask: {name: run_shell, config: {command: 'true'}},\n"
     "      backgroundTask: {name: sleep, config: {duration: 1m}}}}\n"
     "  - {name: run_shell, config: {command: 'exit 4'}}\n"
     "cleanupTasks:\n  - {name: run_shell, config: {command: 'true'}}\n"},
};

static void an_event_is_the_same_live_and_from_the_record(void **state) {
    bool memory = !strcmp(*state, "memory");
    FILE *inner = fopen("inner.yaml", "w");
    fputs("nodes:\n  - {name: a, jq: '{a: (.n // 1)}'}\n  - {name: b, jq: '{b: .a}'}\n", inner);
    fclose(inner);
    for (size_t i = 0; i < sizeof flows / sizeof flows[0]; i++) {
        for (int values = 0; values < 2; values++) {
            char thread[32];
            snprintf(thread, sizeof thread, "t%zu-%d", i, values);
            Listener *live = start_heard(
                flows[i].yaml, (SubscriptionSpec){.thread = thread, .values = values}, true);
            go_until_over(live);
            if (!memory) fresh();
            Listener *late = heard_by((SubscriptionSpec){.thread = thread, .values = values}, true);
            go_until_over(late);
            Json was = recorded(live), reads = recorded(late);
            if (json_array_len(was) < 2) {
                char *text = json_to_text(live->events);
                fail_msg("%s: only %s", flows[i].what, text);
            }
            expect_same(reads, was);
            Json a = last_of(live), b = last_of(late);
            assert_true(is(a, "settled") && is(b, "settled"));
            static const char *const same[] = {"run",   "thread",     "status", "checkpoint",
                                               "error", "interrupts", "state"};
            for (size_t k = 0; k < sizeof same / sizeof same[0]; k++) {
                Json x = json_object_get_c(a, same[k]), y = json_object_get_c(b, same[k]);
                assert_true(json_is_none(x) == json_is_none(y) &&
                            (json_is_none(x) || json_equal(x, y)));
            }
            json_unref(was);
            json_unref(reads);
            end(live);
            end(late);
        }
    }
}

/* ---- masks ---- */

static void a_mask_lets_through_what_it_names(void **state) {
    (void)state;
    static const struct {
        unsigned types;
        const char *names;
    } masks[] = {{1u << EVENT_STEP, "step"},
                 {1u << EVENT_INTERRUPT, "interrupt"},
                 {1u << EVENT_NODE | 1u << EVENT_SETTLED, "node settled"},
                 {1u << EVENT_SETTLED, "settled"},
                 {0, "start node step interrupt log settled"}};
    Listener *live[5], *late[5];
    live[4] = start_heard(flows[6].yaml, (SubscriptionSpec){.thread = "t"}, true);
    for (size_t i = 0; i < 4; i++) {
        live[i] =
            heard_by((SubscriptionSpec){.thread = "t", .types = masks[i].types, .from = -1}, true);
    }
    go();
    for (size_t i = 0; i < 5; i++) {
        late[i] = heard_by((SubscriptionSpec){.thread = "t", .types = masks[i].types}, true);
        go();
        assert_true(live[i]->over && late[i]->over);
        assert_true(json_array_len(late[i]->events) > 0 || masks[i].types >> EVENT_NODE & 1);
        for (int l = 0; l < 2; l++) {
            Json events = l ? live[i]->events : late[i]->events;
            for (size_t k = 0; k < json_array_len(events); k++) {
                Json name = json_object_get_c(json_array_get(events, k), "event");
                expect_contains(masks[i].names, json_string_data(&name));
            }
        }
        end(live[i]);
        end(late[i]);
    }
}

/* ---- the seam ---- */

static void whoever_comes_in_the_middle_misses_nothing_and_hears_nothing_twice(void **state) {
    enum { STEPS = 2500, LISTENERS = 12 };
    (void)state;
    Listener *all[LISTENERS];
    HostRun *run = start(counter(STEPS), "t");
    for (int i = 0; i < LISTENERS; i++) {
        while (run_step(host_run(run)) < STEPS * i / LISTENERS) {
            uv_run(&world.loop, UV_RUN_ONCE);
        }
        all[i] = heard_by((SubscriptionSpec){.thread = "t", .values = i % 2}, true);
    }
    go();
    for (int i = 0; i < LISTENERS; i++) {
        Json last = last_of(all[i]);
        if (!all[i]->over || !is(last, "settled")) {
            fail_msg("listener %d %s: %s", i, all[i]->over ? "ended" : "still listens",
                     json_to_text(last));
        }
        expect_steps(all[i], 1, number(last, "checkpoint"));
        Json was = recorded(all[i % 2]), reads = recorded(all[i]);
        expect_same(reads, was);
        json_unref(was);
        json_unref(reads);
    }
    for (int i = 0; i < LISTENERS; i++) end(all[i]);
}

static void a_cursor_is_good_in_another_process(void **state) {
    (void)state;
    HostRun *run = start(waiting(1500), "t");
    Listener *l = heard_by((SubscriptionSpec){.thread = "t"}, true);
    while (run_step(host_run(run)) < 1000) uv_run(&world.loop, UV_RUN_ONCE);
    run_stop(host_run(run));
    go();
    Json told = recorded(l);
    size_t n = json_array_len(told);
    assert_true(n > 10);
    expect_steps(l, 1, (int64_t)n);
    int64_t cursor = number(json_array_get(told, n / 2), "cursor");
    json_unref(told);
    end(l);
    fresh();
    fclose(fopen("go", "w"));
    resume("t");
    l = heard_by((SubscriptionSpec){.thread = "t", .from = cursor}, true);
    go();
    expect_steps(l, cursor / 2 + 1, number(last_of(l), "checkpoint"));
    end(l);
}

/* ---- those that do not read ---- */

static void who_does_not_read_is_let_go_with_its_cursor(void **state) {
    enum { STEPS = 6000 };
    (void)state;
    Listener *never = start_heard(counter(STEPS), (SubscriptionSpec){.thread = "t"}, false);
    Listener *other = heard_by((SubscriptionSpec){.thread = "t"}, true);
    go();
    assert_true(other->over && subscription_is_over(never->s));
    take(never, SIZE_MAX);
    assert_int_equal(json_array_len(never->events), SUBSCRIPTION_MAX + 1);
    Json last = last_of(never);
    assert_true(is(last, "dropped"));
    Listener *again =
        heard_by((SubscriptionSpec){.thread = "t", .from = number(last, "cursor")}, true);
    go();
    Json first = recorded(never), rest = recorded(again), all = recorded(other);
    first = json_array_concat(first, rest);
    expect_same(first, all);
    json_unref(first);
    json_unref(all);
    end(never);
    end(other);
    end(again);
}

static void who_heard_of_nothing_recorded_is_let_go_with_where_it_began(void **state) {
    enum { STEPS = 20000, BEFORE = 100 };
    (void)state;
    HostRun *run = start(counter(STEPS), "t");
    while (run_durable_checkpoint(host_run(run)) < BEFORE) uv_run(&world.loop, UV_RUN_ONCE);
    SubscriptionSpec spec = {.thread = "t", .from = -1, .types = 1u << EVENT_NODE};
    Listener *never = heard_by(spec, false);
    go();
    take(never, SIZE_MAX);
    assert_true(is(last_of(never), "dropped"));
    assert_true(number(last_of(never), "cursor") > BEFORE);
    end(never);
}

static void who_is_behind_and_reads_slowly_is_told_everything(void **state) {
    enum { STEPS = 9000 };
    (void)state;
    HostRun *run = start(counter(STEPS), "t");
    while (run_step(host_run(run)) < STEPS / 4) uv_run(&world.loop, UV_RUN_ONCE);
    Listener *slow = heard_by((SubscriptionSpec){.thread = "t"}, false);
    go(); /* all of it happens while it stands at its first page */
    while (!slow->over) {
        take(slow, 50);
        uv_run(&world.loop, UV_RUN_NOWAIT);
        usleep(100);
    }
    take(slow, SIZE_MAX);
    assert_true(is(last_of(slow), "settled"));
    expect_steps(slow, 1, number(last_of(slow), "checkpoint"));
    end(slow);
}

static void a_run_that_nobody_reads_is_not_listened_to(void **state) {
    (void)state;
    HostRun *run = start(waiting(20000), "t");
    Listener *never = heard_by((SubscriptionSpec){.thread = "t", .from = -1}, false);
    Listener *all = heard_by((SubscriptionSpec){.from = -1}, false);
    while (!subscription_is_over(never->s) || !subscription_is_over(all->s)) {
        uv_run(&world.loop, UV_RUN_ONCE);
    }
    assert_false(run_wants(host_run(run), EVENT_STEP));
    run_stop(host_run(run));
    go();
    end(never);
    end(all);
}

/* ---- many ---- */

static void many_come_and_go_with_masks_of_their_own(void **state) {
    enum { MANY = 60, STEPS = 600 };
    (void)state;
    Listener *l[MANY];
    HostRun *run = start(waiting(STEPS), "t");
    for (int i = 0; i < MANY; i++) {
        unsigned types = i % 3 == 0 ? 0 : i % 3 == 1 ? 1u << EVENT_STEP : 1u << EVENT_SETTLED;
        l[i] = heard_by((SubscriptionSpec){.thread = i % 5 ? "t" : NULL,
                                           .types = types,
                                           .from = i % 2 ? 0 : -1,
                                           .values = i % 4 == 0},
                        true);
        if (i % 10 == 9) l[i - 1]->ends = l[i]; /* from inside of what it is told */
        while (run_step(host_run(run)) < STEPS * i / MANY) uv_run(&world.loop, UV_RUN_ONCE);
    }
    fclose(fopen("go", "w"));
    go();
    for (int i = 0; i < MANY; i++) {
        if (l[i]->s && i % 3 == 2) {
            assert_int_equal(json_array_len(l[i]->events), 1);
            assert_true(is(last_of(l[i]), "settled"));
        } else if (l[i]->s && i % 2) {
            Json told = recorded(l[i]);
            expect_steps(l[i], 1, (int64_t)json_array_len(told));
            assert_true(json_array_len(told) >= STEPS);
            json_unref(told);
        }
        end(l[i]);
    }
}

/* ---- all runs ---- */

/* The place of whoever heard that; given. */
static Json place_of(const Listener *l, int64_t since) {
    Json runs = json_object();
    for (size_t i = 0; i < json_array_len(l->events); i++) {
        Json event = json_array_get(l->events, i);
        if (number(event, "cursor") >= 0) {
            runs = json_object_set(runs, json_string_fmt("%lld", (long long)number(event, "run")),
                                   json_int(number(event, "cursor")));
        }
    }
    return OBJECT(KEY("since", json_time(since)), KEY("runs", runs));
}

static Listener *back_at(Json place) {
    SubscriptionSpec spec = {0};
    Error err = ERROR_INIT;
    Json args = OBJECT(KEY("from", json_ref(place)));
    if (!subscription_asked(args, &spec, &err)) fail_msg("%s", err.msg);
    Listener *l = heard_by(spec, true);
    json_unref(args);
    return l;
}

/* What was heard of a run; given. */
static Json of_run(const Listener *l, const char *thread) {
    Json told = recorded(l), out = json_array();
    for (size_t i = 0; i < json_array_len(told); i++) {
        Json event = json_array_get(told, i);
        bool its = json_string_is(json_object_get_c(event, "thread"), thread);
        out = its ? json_array_push(out, json_ref(event)) : out;
    }
    json_unref(told);
    return out;
}

static void a_place_in_the_record_of_all_runs_is_good_in_another_process(void **state) {
    enum { RUNS = 5, STEPS = 700 };
    (void)state;
    char names[RUNS + 1][16];
    HostRun *runs[RUNS];
    start(counter(40), "old"); /* before anybody listens */
    go();
    remove("go");
    usleep(2000);
    Listener *first = heard_by((SubscriptionSpec){.from = -1}, true);
    int64_t since = subscription_since(first->s);
    for (int i = 0; i < RUNS; i++) {
        snprintf(names[i], sizeof names[i], "r%d", i);
        runs[i] = start(waiting(STEPS), names[i]);
    }
    while (run_step(host_run(runs[0])) < STEPS / 2) uv_run(&world.loop, UV_RUN_ONCE);
    Json place = place_of(first, since);
    Listener *cut = mem_zalloc(sizeof *cut); /* what it had heard by then */
    *cut = (Listener){.events = json_ref(first->events)};
    for (int i = 0; i < RUNS; i++) run_stop(host_run(runs[i]));
    go();
    end(first);
    fresh();
    for (int i = 0; i < RUNS; i++) resume(names[i]);
    snprintf(names[RUNS], sizeof names[RUNS], "new");
    start(counter(30), "new");
    Listener *back = back_at(place);
    go();
    for (int i = 0; i <= RUNS; i++) {
        Json before = of_run(cut, names[i]), rest = of_run(back, names[i]);
        Json all = json_array_concat(before, rest);
        assert_true(json_array_len(all) >= (i < RUNS ? STEPS : 30));
        for (size_t k = 0; k < json_array_len(all); k++) {
            assert_int_equal(number(json_array_get(all, k), "checkpoint"), k + 1);
        }
        json_unref(all);
    }
    Json old = of_run(back, "old");
    assert_int_equal(json_array_len(old), 0);
    json_unref(old);
    json_unref(place);
    end(back);
    end(cut);
}

static void from_the_beginning_all_runs_are_told_wholly(void **state) {
    enum { RUNS = 150 };
    (void)state;
    char name[16];
    for (int i = 0; i < RUNS; i++) {
        snprintf(name, sizeof name, "r%d", i);
        start(counter(9), name);
        go();
    }
    HostRun *run = start(counter(5000), "busy");
    while (run_step(host_run(run)) < 100) uv_run(&world.loop, UV_RUN_ONCE);
    Listener *l = heard_by((SubscriptionSpec){0}, true);
    go();
    for (int i = 0; i <= RUNS; i++) {
        snprintf(name, sizeof name, i < RUNS ? "r%d" : "busy", i);
        Json told = of_run(l, name);
        assert_true(json_array_len(told) >= (i < RUNS ? 9 : 5000));
        for (size_t k = 0; k < json_array_len(told); k++) {
            assert_int_equal(number(json_array_get(told, k), "checkpoint"), k + 1);
        }
        json_unref(told);
    }
    end(l);
}

/* ---- asking ---- */

static void what_makes_no_sense_is_refused(void **state) {
    static const struct {
        const char *args, *says;
    } rows[] = {
        {"{\"thread\": \"t\", \"types\": [\"stepp\"]}", "no type of events `stepp`"},
        {"{\"from\": 12}", "A cursor is a place in the record of one run"},
        {"{\"from\": {\"since\": \"yesterday\"}}", "A place in the record of all runs"},
        {"{\"from\": {\"runs\": []}}", "A place in the record of all runs"},
        {"{\"thread\": \"t\", \"from\": {}}", "the cursor of one of its events"},
        {"{\"thread\": \"t\", \"from\": \"12\"}", "the cursor of one of its events"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SubscriptionSpec spec = {0};
        Error err = ERROR_INIT;
        Json args = parse(rows[i].args);
        assert_false(subscription_asked(args, &spec, &err));
        expect_contains(err.msg, rows[i].says);
        json_unref(args);
    }
}

static void a_run_that_is_not_there_is_an_event_and_the_end(void **state) {
    (void)state;
    start(counter(3), "t");
    go();
    Listener *l = heard_by((SubscriptionSpec){.thread = "nobody"}, true);
    go_until_over(l);
    assert_int_equal(json_array_len(l->events), 1);
    assert_true(is(last_of(l), "warning"));
    end(l);
}

int main(void) {
#define ON(store, f) \
    { #f " (" store ")", f, setup, teardown, (void *)(uintptr_t)store }
#define ON_EACH(f) ON("memory", f), ON("file", f), ON("sqlite", f)
    const struct CMUnitTest tests[] = {
        ON_EACH(an_event_is_the_same_live_and_from_the_record),
        ON("sqlite", a_mask_lets_through_what_it_names),
        ON_EACH(whoever_comes_in_the_middle_misses_nothing_and_hears_nothing_twice),
        ON("file", a_cursor_is_good_in_another_process),
        ON("sqlite", a_cursor_is_good_in_another_process),
        ON_EACH(who_does_not_read_is_let_go_with_its_cursor),
        ON_EACH(who_heard_of_nothing_recorded_is_let_go_with_where_it_began),
        ON_EACH(who_is_behind_and_reads_slowly_is_told_everything),
        ON("sqlite", a_run_that_nobody_reads_is_not_listened_to),
        ON("sqlite", many_come_and_go_with_masks_of_their_own),
        ON("memory", many_come_and_go_with_masks_of_their_own),
        ON("file", a_place_in_the_record_of_all_runs_is_good_in_another_process),
        ON("sqlite", a_place_in_the_record_of_all_runs_is_good_in_another_process),
        ON_EACH(from_the_beginning_all_runs_are_told_wholly),
        ON("memory", what_makes_no_sense_is_refused),
        ON("sqlite", a_run_that_is_not_there_is_an_event_and_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
