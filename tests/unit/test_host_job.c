/* Jobs on the store, on other threads than the loop's. */
#include "host_world.h"
#include "mem.h"

#include <pthread.h>

static const char *const schemes[] = {"sqlite", "file", "memory"};
enum { SCHEMES = 3 };

typedef struct Look {
    HostJob job; /* first */
    pthread_t thread;
    bool store, found;
    int times;
} Look;

static void look(HostJob *job, Store *store) {
    Look *l = (Look *)job;
    RunRow row = {0};
    l->thread = pthread_self();
    l->store = store != NULL;
    l->found = store && store_find(store, "t", &row, &job->err);
    run_row_clear(&row);
}

static void on_looked(HostJob *job) {
    ((Look *)job)->times++;
}

static void look_as(World *w, Look *l, HostNeed need) {
    *l = (Look){.job = {.need = need, .work = look, .done = on_looked}};
    host_ask(w->host, &l->job);
}

static void until_looked(World *w, const Look *l) {
    while (!l->times) {
        uv_run(&w->loop, UV_RUN_ONCE);
    }
    assert_int_equal(l->times, 1);
}

static void a_job_runs_on_another_thread_and_sees_what_was_recorded(void **state) {
    (void)state;
    for (size_t s = 0; s < SCHEMES; s++) {
        World w;
        Look l;
        world_up(&w, schemes[s]);
        json_unref(answer_of(&w, "run_start", start_args("t", asks)));
        look_as(&w, &l, HOST_READS);
        until_looked(&w, &l);
        assert_true(l.found);
        assert_false(pthread_equal(l.thread, pthread_self()));
        world_down(&w);
    }
}

static void a_job_that_needs_no_store_gets_none(void **state) {
    World w;
    Look l;
    (void)state;
    world_up(&w, "sqlite");
    look_as(&w, &l, HOST_NO_STORE);
    assert_int_equal(l.times, 0);
    until_looked(&w, &l);
    assert_false(l.store);
    assert_int_equal(l.job.err.code, ERR_NONE);
    assert_true(access(w.url + strlen("sqlite:"), F_OK) != 0); /* and none was made */
    world_down(&w);
}

static void who_would_read_a_store_that_is_not_there_is_told(void **state) {
    World w;
    Look l;
    (void)state;
    world_up(&w, "sqlite");
    look_as(&w, &l, HOST_READS);
    until_looked(&w, &l);
    assert_false(l.store);
    assert_int_equal(l.job.err.code, ERR_NOT_FOUND);
    world_down(&w);
}

static void every_job_is_told_once_when_the_host_goes(void **state) {
    enum { JOBS = 40 };
    (void)state;
    for (size_t s = 0; s < SCHEMES; s++) {
        World w;
        Look looks[JOBS];
        world_up(&w, schemes[s]);
        run_until(&w, "t", counts, "completed");
        for (int i = 0; i < JOBS; i++) {
            look_as(&w, &looks[i],
                    i % 3 == 0   ? HOST_READS
                    : i % 3 == 1 ? HOST_WRITES
                                 : HOST_NO_STORE);
        }
        world_down(&w);
        for (int i = 0; i < JOBS; i++) {
            assert_int_equal(looks[i].times, 1);
            assert_true(looks[i].found || looks[i].job.err.code == ERR_BUSY || i % 3 == 2);
        }
    }
}

/* ---- questions ---- */

static Json double_it(Store *store, Json args, Error *err) {
    Json n = json_object_get_c(args, "n");
    if (!store || n.i < 0) {
        error_set(err, ERR_USAGE, "It is less than nothing.");
        return json_none();
    }
    return OBJECT(KEY("n", json_int(2 * n.i)));
}

static void on_text(void *ctx, Buf *text) {
    Asked *a = ctx;
    a->times++;
    a->answer = json_string(text->data, text->len);
}

static void a_question_is_answered_or_fails_with_its_sentence(void **state) {
    World w;
    Asked good = {.answer = json_none()}, bad = {.answer = json_none()};
    (void)state;
    world_up(&w, "memory");
    host_read(w.host, double_it, OBJECT(KEY("n", json_int(21))), on_answer, &good);
    host_read(w.host, double_it, OBJECT(KEY("n", json_int(-1))), on_answer, &bad);
    expect_answer(&w, &good);
    wait_for(&w, &bad);
    expect_gives(good.answer, "{\"n\": 42}");
    assert_true(json_is_none(bad.answer));
    assert_string_equal(bad.err.msg, "It is less than nothing.");
    world_down(&w);
}

static void an_answer_can_be_printed_on_the_thread(void **state) {
    World w;
    Asked text = {.answer = json_none()};
    (void)state;
    world_up(&w, "memory");
    host_read_for(w.host,
                  &(HostRead){.read = double_it, .done = on_answer, .text = on_text, .ctx = &text},
                  OBJECT(KEY("n", json_int(1))));
    expect_answer(&w, &text);
    assert_true(json_string_is(text.answer, "{\"n\":2}"));
    asked_clear(&text);
    world_down(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(a_job_runs_on_another_thread_and_sees_what_was_recorded),
        JSON_TEST(a_job_that_needs_no_store_gets_none),
        JSON_TEST(who_would_read_a_store_that_is_not_there_is_told),
        JSON_TEST(every_job_is_told_once_when_the_host_goes),
        JSON_TEST(a_question_is_answered_or_fails_with_its_sentence),
        JSON_TEST(an_answer_can_be_printed_on_the_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
