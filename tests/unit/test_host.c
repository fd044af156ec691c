/* A host: what is asked of it while the disk takes its time, while a run is on its way, and when it goes. */
#include "folders.h"
#include "host.h"
#include "json_build.h"
#include "json_test.h"
#include "mem.h"
#include "operation.h"
#include "store.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- a disk that can be held ---- */

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t disk_goes_on = PTHREAD_COND_INITIALIZER;
static bool disk_held, sync_waits;
static int syncs;

static int sync_file(long call, int fd) {
    pthread_mutex_lock(&disk);
    syncs++;
    while (disk_held) {
        sync_waits = true;
        pthread_cond_wait(&disk_goes_on, &disk);
    }
    sync_waits = false;
    pthread_mutex_unlock(&disk);
    return (int)syscall(call, fd);
}

__attribute__((visibility("default"))) int fdatasync(int fd) {
    return sync_file(SYS_fdatasync, fd);
}

__attribute__((visibility("default"))) int fsync(int fd) {
    return sync_file(SYS_fsync, fd);
}

static void hold_disk(bool held) {
    pthread_mutex_lock(&disk);
    disk_held = held;
    pthread_cond_broadcast(&disk_goes_on);
    pthread_mutex_unlock(&disk);
}

static bool is_sync_waiting(void) {
    pthread_mutex_lock(&disk);
    bool waits = sync_waits;
    pthread_mutex_unlock(&disk);
    return waits;
}

/* ---- a host and its askers ---- */

typedef struct World {
    uv_loop_t loop;
    char folder[32], url[80];
    Host *host;
} World;

static void world_up(World *w, const char *scheme) {
    *w = (World){.folder = "/tmp/pawl-host-XXXXXX"};
    assert_non_null(mkdtemp(w->folder));
    bool memory = !strcmp(scheme, "memory");
    snprintf(w->url, sizeof w->url, "%s:%s%s", scheme, memory ? "" : w->folder,
             memory ? "" : "/store");
    uv_loop_init(&w->loop);
    w->host = host_new(&(HostOptions){.loop = &w->loop, .store = w->url, .folder = w->folder});
}

static void world_down(World *w) {
    host_free(w->host);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    folder_remove(w->folder);
}

typedef struct Asked {
    int times;
    Json answer;
    Error err;
} Asked;

static void on_answer(void *ctx, Json answer, const Error *err) {
    Asked *a = ctx;
    a->times++;
    a->answer = answer;
    if (err) {
        a->err = *err;
    }
}

/* Consumes args. */
static void ask(World *w, Asked *a, const char *operation, Json args) {
    *a = (Asked){.answer = json_none()};
    operation_call(w->host, operation, args, (Reply){.give = on_answer, .ctx = a});
}

static void wait_for(World *w, const Asked *a) {
    while (!a->times) {
        uv_run(&w->loop, UV_RUN_ONCE);
    }
    assert_int_equal(a->times, 1);
}

static void expect_answer(World *w, Asked *a) {
    wait_for(w, a);
    if (json_is_none(a->answer)) fail_msg("%s", a->err.msg);
}

/* Ask and have. */
static Json answer_of(World *w, const char *operation, Json args) {
    Asked a;
    ask(w, &a, operation, args);
    expect_answer(w, &a);
    return a.answer;
}

static void asked_clear(Asked *a) {
    json_unref(a->answer);
}

static Json definition(const char *text) {
    return OBJECT(KEY("main", "w.yaml"), KEY("files", OBJECT(KEY("w.yaml", text))));
}

static Json start_args(const char *thread, const char *text) {
    return OBJECT(KEY("thread", thread), KEY("definition", definition(text)));
}

static const char counts[] = "name: counts\nnodes:\n  - {name: a, jq: '{n: 1}'}\n";
static const char asks[] = "name: asks\nnodes:\n  - {name: a, approval: {prompt: 'Well?'}}\n";

/* Starts it, and waits until the store says that it has this status. */
static void run_until(World *w, const char *thread, const char *text, const char *status) {
    json_unref(answer_of(w, "run_start", start_args(thread, text)));
    for (bool there = false; !there;) {
        Json run = answer_of(w, "run_get", OBJECT(KEY("thread", thread)));
        there = json_string_is(json_object_get_c(run, "status"), status);
        json_unref(run);
    }
}

static const char *text_of(Json object, const char *key) {
    static char text[100];
    Json value = json_object_get_c(object, key);
    assert_int_equal(json_kind(value), JSON_STRING);
    snprintf(text, sizeof text, "%s", json_string_data(&value));
    return text;
}

/* ---- the loop never waits ---- */

static void count_tick(uv_timer_t *timer) {
    ++*(int *)timer->data;
}

static void the_loop_turns_while_a_sync_takes_its_time(void **state) {
    World w;
    Asked starts[8], other;
    uv_timer_t timer;
    int ticks = 0;
    (void)state;
    world_up(&w, "sqlite");
    run_until(&w, "first", counts, "completed");
    run_until(&w, "asking", asks, "interrupted");
    uv_timer_init(&w.loop, &timer);
    timer.data = &ticks;
    uv_timer_start(&timer, count_tick, 1, 1);
    hold_disk(true);
    for (int i = 0; i < 8; i++) {
        ask(&w, &starts[i], "run_start", start_args(NULL, counts));
    }
    while (!is_sync_waiting()) {
        uv_run(&w.loop, UV_RUN_NOWAIT);
    }
    /* these need more of the disk than it gives */
    Asked resume, fork, update, cancel, import, replay, prune;
    ask(&w, &fork, "run_fork", OBJECT(KEY("thread", "first")));
    ask(&w, &update, "run_update",
        OBJECT(KEY("thread", "first"), KEY("set", parse("[[[\"n\"], 2]]"))));
    ask(&w, &resume, "run_resume", OBJECT(KEY("thread", "asking"), KEY("value", "yes")));
    ask(&w, &cancel, "run_cancel", OBJECT(KEY("thread", "nobody")));
    ask(&w, &import, "run_import", OBJECT(KEY("document", json_object())));
    ask(&w, &prune, "run_prune", OBJECT(KEY("thread", "first"), KEY("keep_last", json_int(1))));
    ask(&w, &replay, "run_start",
        OBJECT_ADD(start_args("again", counts), KEY("replay", OBJECT(KEY("thread", "first")))));
    /* this does not */
    ask(&w, &other, "operations", json_none());
    expect_answer(&w, &other);
    asked_clear(&other);
    for (ticks = 0; ticks < 20;) {
        uv_run(&w.loop, UV_RUN_ONCE);
    }
    assert_true(is_sync_waiting());
    for (int i = 0; i < 8; i++) {
        assert_int_equal(starts[i].times, 0);
    }
    hold_disk(false);
    for (int i = 0; i < 8; i++) {
        expect_answer(&w, &starts[i]);
        asked_clear(&starts[i]);
    }
    Asked *good[] = {&fork, &update, &resume, &replay, &prune}, *bad[] = {&cancel, &import};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        expect_answer(&w, good[i]);
        asked_clear(good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        wait_for(&w, bad[i]);
        assert_true(json_is_none(bad[i]->answer));
    }
    uv_close((uv_handle_t *)&timer, NULL);
    world_down(&w);
}

/* Its definition, the run and its first checkpoints. */
static void making_a_run_is_one_sync(void **state) {
    World w;
    (void)state;
    world_up(&w, "sqlite");
    run_until(&w, "first", asks, "interrupted");
    pthread_mutex_lock(&disk);
    syncs = 0;
    pthread_mutex_unlock(&disk);
    run_until(&w, "second", counts, "completed");
    assert_int_equal(syncs, 1);
    world_down(&w);
}

/* ---- a run on its way ---- */

static void who_asks_for_a_run_on_its_way_waits_for_it(void **state) {
    World w;
    Asked one, two, frames;
    (void)state;
    world_up(&w, "sqlite");
    run_until(&w, "asking", asks, "interrupted");
    while (host_find(w.host, "asking")) {
        uv_run(&w.loop, UV_RUN_ONCE);
    }
    ask(&w, &one, "run_open", OBJECT(KEY("thread", "asking")));
    ask(&w, &two, "run_open", OBJECT(KEY("thread", "asking")));
    ask(&w, &frames, "run_frames", OBJECT(KEY("thread", "asking")));
    assert_int_equal(one.times + two.times + frames.times, 0);
    expect_answer(&w, &one);
    expect_answer(&w, &two);
    expect_answer(&w, &frames);
    assert_true(
        json_equal(json_object_get_c(one.answer, "run"), json_object_get_c(two.answer, "run")));
    asked_clear(&one);
    asked_clear(&two);
    asked_clear(&frames);
    world_down(&w);
}

/* A debugger is there before anything has happened. */
static void a_run_with_a_session_does_nothing_before_that(void **state) {
    World w;
    (void)state;
    world_up(&w, "sqlite");
    Json run = answer_of(&w, "run_start",
                         OBJECT_ADD(start_args("t", counts),
                                    KEY("debug", OBJECT(KEY("pause_on_start", json_bool(true))))));
    HostRun *held = host_find(w.host, "t");
    assert_non_null(held);
    assert_non_null(host_has_session(held));
    assert_int_equal(run_step(host_run(held)), 0);
    json_unref(run);
    world_down(&w);
}

/* ---- the end ---- */

static void all_are_told_when_the_host_goes(void **state) {
    enum { EACH = 20 };
    static const char *const schemes[] = {"sqlite", "file", "memory"};
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        World w;
        Asked asked[EACH][5];
        world_up(&w, schemes[s]);
        run_until(&w, "first", counts, "completed");
        for (int i = 0; i < EACH; i++) {
            ask(&w, &asked[i][0], "run_start", start_args(NULL, counts));
            ask(&w, &asked[i][1], "runs", json_none());
            ask(&w, &asked[i][2], "run_prune", OBJECT(KEY("keep_last", json_int(1))));
            ask(&w, &asked[i][3], "run_fork", OBJECT(KEY("thread", "first")));
            ask(&w, &asked[i][4], "run_start",
                OBJECT_ADD(start_args(NULL, counts),
                           KEY("replay", OBJECT(KEY("thread", "first")))));
            uv_run(&w.loop, UV_RUN_NOWAIT);
        }
        world_down(&w);
        for (int i = 0; i < EACH; i++) {
            for (int k = 0; k < 5; k++) {
                assert_int_equal(asked[i][k].times, 1);
                asked_clear(&asked[i][k]);
            }
        }
    }
}

/* ---- lists ---- */

static void who_waits_for_the_end_of_a_run_is_told_when_the_host_goes(void **state) {
    World w;
    Asked cancel;
    (void)state;
    world_up(&w, "memory");
    json_unref(answer_of(&w, "run_start", start_args("t", "nodes: [{name: a, sleep: 60}]")));
    ask(&w, &cancel, "run_cancel", OBJECT(KEY("thread", "t")));
    world_down(&w);
    assert_int_equal(cancel.times, 1);
    asked_clear(&cancel);
}

static void a_list_has_each_run_once_whatever_the_page(void **state) {
    static const char *const schemes[] = {"sqlite", "file", "memory"};
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        World w;
        world_up(&w, schemes[s]);
        for (int i = 0; i < 7; i++) {
            char thread[16];
            snprintf(thread, sizeof thread, "run%d", i);
            run_until(&w, thread, i % 2 ? asks : counts, i % 2 ? "interrupted" : "completed");
        }
        for (int64_t limit = 1; limit < 9; limit++) {
            for (int only = 0; only < 2; only++) {
                int seen = 0, count = 0;
                Json after = json_none();
                do {
                    Json page = answer_of(&w, "runs",
                                          OBJECT(KEY("limit", limit), KEY("after", after),
                                                 KEY("status", only ? "interrupted" : NULL)));
                    Json list = json_object_get_c(page, "runs");
                    assert_true(json_array_len(list) <= (size_t)limit);
                    for (size_t i = 0; i < json_array_len(list); i++, count++) {
                        seen |= 1 << (text_of(json_array_get(list, i), "thread")[3] - '0');
                    }
                    after = json_ref(json_object_get_c(page, "next"));
                    json_unref(page);
                } while (!json_is_none(after));
                assert_int_equal(seen, only ? 0x2a : 0x7f);
                assert_int_equal(count, only ? 3 : 7);
            }
        }
        world_down(&w);
    }
}

/* What changes the store reaches the one that is there, in memory too. */
static void a_store_in_memory_is_pruned(void **state) {
    World w;
    (void)state;
    world_up(&w, "memory");
    run_until(&w, "t", counts, "completed");
    Json report =
        answer_of(&w, "run_prune",
                  OBJECT(KEY("older_than", json_int(0)), KEY("finished_runs", json_bool(true))));
    expect_json(json_object_get_c(report, "removed_runs"), "1");
    json_unref(report);
    expect_gives(answer_of(&w, "runs", json_none()), "{\"runs\": []}");
    world_down(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(the_loop_turns_while_a_sync_takes_its_time),
        JSON_TEST(making_a_run_is_one_sync),
        JSON_TEST(who_asks_for_a_run_on_its_way_waits_for_it),
        JSON_TEST(a_run_with_a_session_does_nothing_before_that),
        JSON_TEST(all_are_told_when_the_host_goes),
        JSON_TEST(who_waits_for_the_end_of_a_run_is_told_when_the_host_goes),
        JSON_TEST(a_list_has_each_run_once_whatever_the_page),
        JSON_TEST(a_store_in_memory_is_pruned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
