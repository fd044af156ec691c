/* A host: what is asked of it while the disk takes its time, while a run is on its way, and when it goes. */
#include "host_world.h"
#include "mem.h"
#include "store.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- a disk that can be held ---- */

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t disk_goes_on = PTHREAD_COND_INITIALIZER;
static bool disk_held, sync_waits, reads_held;
static int syncs, reads_waiting;
static pid_t loop_thread; /* that is not to read; 0: it may */
static int loop_reads;

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

__attribute__((visibility("default"))) ssize_t pread(int fd, void *data, size_t size, off_t at) {
    pthread_mutex_lock(&disk);
    bool on_loop = loop_thread && syscall(SYS_gettid) == loop_thread;
    loop_reads += on_loop;
    reads_waiting++;
    while (reads_held && !on_loop) {
        pthread_cond_wait(&disk_goes_on, &disk);
    }
    reads_waiting--;
    pthread_mutex_unlock(&disk);
    return syscall(SYS_pread64, fd, data, size, at);
}

/* While they are held, the loop's own are counted. */
static void hold_reads(bool held) {
    pthread_mutex_lock(&disk);
    reads_held = held;
    loop_thread = held ? (pid_t)syscall(SYS_gettid) : 0;
    loop_reads = held ? 0 : loop_reads;
    pthread_cond_broadcast(&disk_goes_on);
    pthread_mutex_unlock(&disk);
}

static bool is_read_waiting(void) {
    pthread_mutex_lock(&disk);
    bool waits = reads_waiting > 0;
    pthread_mutex_unlock(&disk);
    return waits;
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

/* ---- the past of a session ---- */

static const char six[] = "name: six\nnodes:\n"
                          "  - {name: a, jq: '{a: 1}'}\n  - {name: b, jq: '{b: 1}'}\n"
                          "  - {name: c, jq: '{c: 1}'}\n  - {name: d, jq: '{d: 1}'}\n"
                          "  - {name: e, jq: '{e: 1}'}\n  - {name: f, jq: '{f: 1}'}\n";

static Json of_thread(const char *thread) {
    return OBJECT(KEY("thread", thread));
}

static void until_paused(World *w, const char *thread) {
    for (bool paused = false; !paused;) {
        Json session = answer_of(w, "session", of_thread(thread));
        paused = json_string_is(json_object_get_c(session, "status"), "paused");
        json_unref(session);
        uv_run(&w->loop, UV_RUN_NOWAIT);
    }
}

static void step(World *w, const char *thread) {
    json_unref(answer_of(w, "step", OBJECT_ADD(of_thread(thread), KEY("kind", "over"))));
    until_paused(w, thread);
}

/* A run of six nodes that a debugger has paused after so many. */
static void debug_after(World *w, const char *thread, int steps) {
    Json debug = OBJECT(KEY("pause_on_start", json_bool(true)), KEY("window", json_bool(true)));
    json_unref(answer_of(w, "run_start", OBJECT_ADD(start_args(thread, six), KEY("debug", debug))));
    until_paused(w, thread);
    for (int i = 0; i < steps; i++) {
        step(w, thread);
    }
}

/* Where its frame stands. */
static void expect_at(World *w, const char *thread, const char *node) {
    Json frames = answer_of(w, "frames", of_thread(thread));
    Json frame = json_array_get(json_object_get_c(frames, "frames"), 0);
    assert_string_equal(text_of(frame, "node"), node);
    json_unref(frames);
}

static void wait_for_read(World *w) {
    while (!is_read_waiting()) {
        uv_run(&w->loop, UV_RUN_NOWAIT);
    }
}

static void the_loop_turns_while_the_past_is_read(void **state) {
    static const struct {
        const char *operation, *args, *at;
    } calls[] = {
        {"variables", "{\"checkpoint\": 3}", "d"},
        {"summary", "{\"checkpoint\": 3}", "d"},
        {"search", "{\"checkpoint\": 3, \"text\": \"a\"}", "d"},
        {"largest", "{\"checkpoint\": 3}", "d"},
        {"evaluate", "{\"checkpoint\": 3, \"expression\": \".\"}", "d"},
        {"diff", "{\"since\": \"start\"}", "d"},
        {"diff", "{\"since\": \"node\"}", "d"},
        {"diff", "{\"from\": 2, \"to\": 4}", "d"},
        {"diff", "{\"from\": 2}", "d"},
        {"history", "{}", "d"},
        {"replay", "{\"node\": \"b\"}", "d"},
        {"back", "{}", "c"},
        {"goto", "{\"checkpoint\": 2}", "a"},
        {"reverse_continue", "{}", "a"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        World w;
        Asked past, other;
        uv_timer_t timer;
        int ticks = 0;
        world_up(&w, "file");
        debug_after(&w, "t", 3);
        debug_after(&w, "other", 1);
        uv_timer_init(&w.loop, &timer);
        timer.data = &ticks;
        uv_timer_start(&timer, count_tick, 1, 1);
        hold_reads(true);
        ask(&w, &past, calls[i].operation, OBJECT_ADD(parse(calls[i].args), KEY("thread", "t")));
        wait_for_read(&w);
        const Run *run = host_run(host_find(w.host, "other"));
        int64_t steps = run_step(run);
        ask(&w, &other, "step", OBJECT_ADD(of_thread("other"), KEY("kind", "over")));
        for (ticks = 0; ticks < 20 || run_step(run) == steps;) {
            uv_run(&w.loop, UV_RUN_ONCE);
        }
        pthread_mutex_lock(&disk);
        int reads = loop_reads;
        pthread_mutex_unlock(&disk);
        if (past.times || reads) {
            fail_msg("%s: %d answers, %d reads", calls[i].operation, past.times, reads);
        }
        hold_reads(false);
        expect_answer(&w, &past);
        expect_answer(&w, &other);
        asked_clear(&past);
        asked_clear(&other);
        expect_at(&w, "t", calls[i].at);
        uv_close((uv_handle_t *)&timer, NULL);
        world_down(&w);
    }
}

static void who_asks_after_one_that_goes_back_sees_it_there(void **state) {
    World w;
    Asked back, frames, history, other;
    (void)state;
    world_up(&w, "file");
    debug_after(&w, "t", 3);
    debug_after(&w, "other", 1);
    hold_reads(true);
    ask(&w, &back, "back", OBJECT_ADD(of_thread("t"), KEY("count", json_int(2))));
    ask(&w, &frames, "frames", of_thread("t"));
    ask(&w, &history, "history", of_thread("t"));
    ask(&w, &other, "frames", of_thread("other"));
    wait_for_read(&w);
    assert_int_equal(back.times + frames.times + history.times, 0);
    assert_int_equal(other.times, 1);
    hold_reads(false);
    expect_answer(&w, &back);
    expect_answer(&w, &frames);
    expect_answer(&w, &history);
    Json frame = json_array_get(json_object_get_c(frames.answer, "frames"), 0);
    assert_string_equal(text_of(frame, "node"), "b");
    Json steps = json_object_get_c(history.answer, "steps");
    assert_int_equal(json_array_len(steps), 1);
    asked_clear(&back);
    asked_clear(&frames);
    asked_clear(&history);
    asked_clear(&other);
    world_down(&w);
}

/* Where it stood when that was asked. */
static void going_back_is_from_where_it_was_asked(void **state) {
    World w;
    Asked back;
    (void)state;
    world_up(&w, "file");
    debug_after(&w, "t", 3);
    hold_reads(true);
    ask(&w, &back, "back", of_thread("t"));
    wait_for_read(&w);
    Session *session = host_has_session(host_find(w.host, "t"));
    Frame *f = session_frame(session, 1, NULL);
    assert_true(session_go(session, f, (SessionGo){.step = STEP_OVER}, NULL));
    while (run_step(host_run(host_find(w.host, "t"))) < 4) {
        uv_run(&w.loop, UV_RUN_ONCE);
    }
    hold_reads(false);
    expect_answer(&w, &back);
    assert_string_equal(text_of(back.answer, "node"), "c");
    asked_clear(&back);
    expect_at(&w, "t", "c");
    world_down(&w);
}

static void a_run_that_was_cancelled_meanwhile_does_not_go_back(void **state) {
    World w;
    Asked back, look, cancel;
    (void)state;
    world_up(&w, "file");
    debug_after(&w, "t", 3);
    host_keep(host_find(w.host, "t"), &w); /* whoever has it is told why */
    hold_reads(true);
    ask(&w, &look, "summary", OBJECT_ADD(of_thread("t"), KEY("checkpoint", json_int(3))));
    ask(&w, &back, "back", of_thread("t"));
    wait_for_read(&w);
    ask(&w, &cancel, "run_cancel", of_thread("t"));
    uv_run(&w.loop, UV_RUN_NOWAIT);
    hold_reads(false);
    wait_for(&w, &back);
    assert_true(json_is_none(back.answer));
    assert_int_equal(back.err.code, ERR_ENDED);
    expect_answer(&w, &look);
    expect_answer(&w, &cancel);
    assert_string_equal(text_of(cancel.answer, "status"), "cancelled");
    asked_clear(&look);
    asked_clear(&cancel);
    world_down(&w);
}

static void who_asked_a_session_that_is_gone_is_told(void **state) {
    World w;
    Asked back, frames;
    (void)state;
    world_up(&w, "file");
    debug_after(&w, "t", 3);
    hold_reads(true);
    ask(&w, &back, "back", of_thread("t"));
    ask(&w, &frames, "frames", of_thread("t"));
    wait_for_read(&w);
    host_leave_session(host_find(w.host, "t"));
    hold_reads(false);
    wait_for(&w, &back);
    assert_int_equal(back.err.code, ERR_NOT_HELD);
    wait_for(&w, &frames); /* the run rests without a debugger, and is let go of */
    asked_clear(&frames);
    Json run = answer_of(&w, "run_get", of_thread("t"));
    assert_string_equal(text_of(run, "status"), "paused");
    json_unref(run);
    world_down(&w);
}

static void who_asked_for_the_past_is_told_when_the_host_goes(void **state) {
    static const char *const schemes[] = {"sqlite", "file", "memory"};
    enum { EACH = 6 };
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        for (int turns = 0; turns < 4; turns++) {
            World w;
            Asked asked[EACH];
            world_up(&w, schemes[s]);
            debug_after(&w, "t", 3);
            ask(&w, &asked[0], "back", of_thread("t"));
            ask(&w, &asked[1], "frames", of_thread("t"));
            ask(&w, &asked[2], "reverse_continue", of_thread("t"));
            ask(&w, &asked[3], "history", of_thread("t"));
            ask(&w, &asked[4], "replay", OBJECT_ADD(of_thread("t"), KEY("node", "a")));
            ask(&w, &asked[5], "diff", OBJECT_ADD(of_thread("t"), KEY("from", json_int(2))));
            for (int i = 0; i < turns; i++) {
                uv_run(&w.loop, UV_RUN_NOWAIT);
            }
            world_down(&w);
            for (int i = 0; i < EACH; i++) {
                assert_int_equal(asked[i].times, 1);
                asked_clear(&asked[i]);
            }
        }
    }
}

/* A run that has failed gave its lease back, and needs it to go on. */
static void the_loop_turns_while_a_failed_run_is_taken_again(void **state) {
    World w;
    Asked start, retry;
    uv_timer_t timer;
    int ticks = 0;
    (void)state;
    world_up(&w, "sqlite");
    json_unref(answer_of(
        &w, "run_start",
        OBJECT_ADD(start_args("t", "name: fails\nnodes:\n  - {name: a, jq: 'error(\"no\")'}\n"),
                   KEY("debug", json_object()))));
    HostRun *held = host_find(w.host, "t");
    host_keep(held, &w);
    while (!run_settled(host_run(held)) || run_is_taken(host_run(held))) {
        uv_run(&w.loop, UV_RUN_ONCE);
    }
    uv_timer_init(&w.loop, &timer);
    timer.data = &ticks;
    uv_timer_start(&timer, count_tick, 1, 1);
    hold_disk(true);
    ask(&w, &start, "run_start", start_args(NULL, counts));
    while (!is_sync_waiting()) {
        uv_run(&w.loop, UV_RUN_NOWAIT);
    }
    ask(&w, &retry, "retry", of_thread("t"));
    for (ticks = 0; ticks < 20;) {
        uv_run(&w.loop, UV_RUN_ONCE);
    }
    assert_int_equal(retry.times, 0);
    hold_disk(false);
    expect_answer(&w, &retry);
    expect_answer(&w, &start);
    asked_clear(&retry);
    asked_clear(&start);
    uv_close((uv_handle_t *)&timer, NULL);
    world_down(&w);
}

/* It is recorded there once more, with the lease that was taken for that. */
static void a_run_that_has_ended_goes_to_its_end_and_back(void **state) {
    static const char *const schemes[] = {"sqlite", "file", "memory"};
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        World w;
        Asked bad;
        world_up(&w, schemes[s]);
        debug_after(&w, "t", 3);
        HostRun *held = host_find(w.host, "t");
        host_keep(held, &w);
        json_unref(answer_of(&w, "continue", of_thread("t")));
        while (!run_settled(host_run(held)) || run_is_taken(host_run(held))) {
            uv_run(&w.loop, UV_RUN_ONCE);
        }
        Json end = json_int(run_checkpoint(host_run(held)));
        ask(&w, &bad, "goto", OBJECT_ADD(of_thread("t"), KEY("checkpoint", json_int(999))));
        wait_for(&w, &bad);
        assert_true(json_is_none(bad.answer));
        assert_false(run_is_taken(host_run(held)));
        Json there = answer_of(&w, "goto", OBJECT_ADD(of_thread("t"), KEY("checkpoint", end)));
        assert_string_equal(text_of(there, "ended"), "completed");
        json_unref(there);
        json_unref(answer_of(&w, "back", of_thread("t")));
        expect_at(&w, "t", "f");
        world_down(&w);
    }
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

/* One that takes a while to load: the loop does not do that. */
static char *long_workflow(void) {
    Buf text = BUF_INIT;
    buf_adds(&text, "name: long\nnodes:\n");
    for (int i = 0; i < 1000; i++) {
        buf_printf(&text, "  - {name: n%d, jq: '{last: %d}'}\n", i, i);
    }
    return buf_detach(&text);
}

static void a_long_workflow_is_loaded_beside_the_loop(void **state) {
    World w;
    Asked start, frames, bad;
    char *text = long_workflow();
    (void)state;
    world_up(&w, "sqlite");
    ask(&w, &start, "run_start",
        OBJECT_ADD(start_args("t", text),
                   KEY("debug", OBJECT(KEY("pause_on_start", json_bool(true)),
                                       KEY("window", json_bool(true))))));
    ask(&w, &frames, "frames", of_thread("t"));
    text[0] = '[';
    ask(&w, &bad, "run_start", start_args("bad", text));
    assert_int_equal(start.times + frames.times + bad.times, 0);
    expect_answer(&w, &start);
    expect_answer(&w, &frames); /* whoever asks for a run that is about to be waits for it */
    wait_for(&w, &bad);
    assert_int_equal(bad.err.code, ERR_SYNTAX);
    asked_clear(&start);
    asked_clear(&frames);
    mem_free(text);
    world_down(&w);
}

static void files_are_read_beside_the_loop(void **state) {
    World w;
    Asked check;
    char path[64];
    (void)state;
    world_up(&w, "sqlite");
    snprintf(path, sizeof path, "%s/w.yaml", w.folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(counts, file);
    fclose(file);
    hold_disk(true); /* it needs no store */
    ask(&w, &check, "check", OBJECT(KEY("path", "w.yaml")));
    assert_int_equal(check.times, 0);
    expect_answer(&w, &check);
    hold_disk(false);
    expect_json(json_object_get_c(check.answer, "ok"), "true");
    asked_clear(&check);
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

/* ---- who reads one run waits for no other ---- */

static void a_run_is_read_while_what_others_recorded_is_being_written(void **state) {
    World w;
    Asked start, ended, held, its_own, logs;
    (void)state;
    world_up(&w, "sqlite");
    run_until(&w, "ended", counts, "completed");
    json_unref(answer_of(
        &w, "run_start",
        OBJECT_ADD(start_args("held", counts), KEY("debug", parse("{\"pause_on_start\": true}")))));
    until_paused(&w, "held");
    json_unref(answer_of(&w, "runs", json_none())); /* and that is in the store */
    hold_disk(true);
    ask(&w, &start, "run_start", start_args("other", counts));
    while (!is_sync_waiting()) {
        uv_run(&w.loop, UV_RUN_NOWAIT);
    }
    ask(&w, &its_own, "run_get", OBJECT(KEY("thread", "other")));
    ask(&w, &logs, "run_logs", OBJECT(KEY("thread", "ended")));
    ask(&w, &ended, "run_get", OBJECT(KEY("thread", "ended")));
    ask(&w, &held, "run_get", OBJECT(KEY("thread", "held")));
    expect_answer(&w, &ended);
    expect_answer(&w, &held);
    assert_true(is_sync_waiting());
    assert_int_equal(its_own.times, 0);
    assert_int_equal(logs.times, 0); /* of what nodes print nobody knows which batch has it */
    hold_disk(false);
    expect_answer(&w, &start);
    expect_answer(&w, &its_own);
    expect_answer(&w, &logs);
    Asked *all[] = {&start, &ended, &held, &its_own, &logs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) asked_clear(all[i]);
    world_down(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(the_loop_turns_while_a_sync_takes_its_time),
        JSON_TEST(the_loop_turns_while_the_past_is_read),
        JSON_TEST(who_asks_after_one_that_goes_back_sees_it_there),
        JSON_TEST(going_back_is_from_where_it_was_asked),
        JSON_TEST(a_run_that_was_cancelled_meanwhile_does_not_go_back),
        JSON_TEST(who_asked_a_session_that_is_gone_is_told),
        JSON_TEST(who_asked_for_the_past_is_told_when_the_host_goes),
        JSON_TEST(the_loop_turns_while_a_failed_run_is_taken_again),
        JSON_TEST(a_run_that_has_ended_goes_to_its_end_and_back),
        JSON_TEST(making_a_run_is_one_sync),
        JSON_TEST(who_asks_for_a_run_on_its_way_waits_for_it),
        JSON_TEST(a_long_workflow_is_loaded_beside_the_loop),
        JSON_TEST(files_are_read_beside_the_loop),
        JSON_TEST(a_run_with_a_session_does_nothing_before_that),
        JSON_TEST(all_are_told_when_the_host_goes),
        JSON_TEST(who_waits_for_the_end_of_a_run_is_told_when_the_host_goes),
        JSON_TEST(a_list_has_each_run_once_whatever_the_page),
        JSON_TEST(a_store_in_memory_is_pruned),
        JSON_TEST(a_run_is_read_while_what_others_recorded_is_being_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
