/* The storage: batches and jobs are done on threads of their own, in order, and told on the loop, once. */
#include "engine.h"
#include "json_binary.h"
#include "json_test.h"
#include "mem.h"
#include "storage.h"
#include "store_run.h"

typedef struct Told {
    Storage *storage;
    uint64_t last;
    int times;
    Error err;
} Told;

static void on_committed(void *ctx, uint64_t number, StoreBatch *batch, const Error *err) {
    Told *told = ctx;
    assert_non_null(batch);
    assert_true(number > told->last);
    told->last = number;
    told->times++;
    if (err) {
        told->err = *err;
    } else {
        storage_flush(told->storage);
    }
}

static void add(Storage *s, int64_t run, int64_t seq) {
    Buf patch = BUF_INIT;
    Json change[] = {json_array(), json_int(seq)};
    Json changes = json_array_push(json_array(), json_array_from(change, 2));
    json_encode(changes, &patch);
    store_batch_checkpoint(storage_batch(s), &(Checkpoint){.run = run,
                                                           .seq = seq,
                                                           .parent = seq - 1,
                                                           .node = "",
                                                           .status = "completed",
                                                           .patch = patch.data,
                                                           .patch_len = patch.len});
    json_unref(changes);
    buf_clear(&patch);
}

typedef struct World {
    uv_loop_t loop;
    Store *store;
    RunRow row;
    Told told;
    char folder[32];
} World;

static void world_up(World *w, const char *scheme) {
    char url[64];
    *w = (World){.folder = "/tmp/pawl-storage-XXXXXX"};
    uv_loop_init(&w->loop);
    assert_non_null(mkdtemp(w->folder));
    bool memory = !strcmp(scheme, "memory");
    snprintf(url, sizeof url, "%s:%s%s", scheme, memory ? "" : w->folder, memory ? "" : "/store");
    w->store = store_open(url, STORE_CREATE, NULL);
    assert_true(store_create_run(w->store, "t", "w", "", &w->row, NULL));
    StorageHost host = {&w->loop, w->store, on_committed, &w->told};
    w->told.storage = storage_new(&host, NULL);
    assert_non_null(w->told.storage);
}

static void world_down(World *w) {
    char command[64];
    storage_close(w->told.storage);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    run_row_clear(&w->row);
    store_close(w->store);
    snprintf(command, sizeof command, "rm -rf %s", w->folder);
    assert_int_equal(system(command), 0);
}

/* ---- jobs ---- */

/* A job that waits for a gate, notes its turn and reads the head. */
typedef struct Work {
    StorageJob job;
    uv_sem_t *gate; /* NULL: none */
    int *turns;     /* of all that share it */
    int turn, told;
    int64_t run, last;
    Json value;
} Work;

static void work(StorageJob *job, Store *store) {
    Work *w = (Work *)job;
    RunRow row = {0};
    if (w->gate) uv_sem_wait(w->gate);
    if (w->turns) w->turn = ++*w->turns;
    if (store_find(store, "t", &row, &job->err)) w->last = row.last;
    w->value = json_array();
    for (int i = 0; i < 1000; i++)
        w->value = json_array_push(w->value, json_string_fmt("a string %d", i));
    run_row_clear(&row);
}

static void done(StorageJob *job) {
    Work *w = (Work *)job;
    w->told++;
    json_clear(&w->value);
}

#define WORK(...)                                                      \
    (Work) {                                                           \
        .job = {.work = work, .done = done}, .value = {0}, __VA_ARGS__ \
    }

/* ---- batches ---- */

static void what_comes_while_the_store_is_busy_commits_together(void **state) {
    World w;
    uv_sem_t gate;
    uv_sem_init(&gate, 0);
    world_up(&w, *state);
    Storage *s = w.told.storage;
    Work busy = WORK(.gate = &gate);
    storage_write(s, &busy.job); /* the writer has to wait */
    add(s, w.row.run, 1);
    assert_int_equal(storage_number(s), 1);
    storage_flush(s);
    assert_false(storage_ready(s));
    assert_int_equal(storage_number(s), 2);
    for (int64_t seq = 2; seq <= 1000; seq++) {
        add(s, w.row.run, seq);
        storage_flush(s);
    }
    assert_int_equal(storage_number(s), 2);
    uv_sem_post(&gate);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(w.told.times, 2);
    Checkpoint c;
    assert_true(store_checkpoint(storage_reader(s, NULL), w.row.run, 1000, &c, NULL));
    world_down(&w);
    uv_sem_destroy(&gate);
}

static void every_batch_is_told_once_and_in_order(void **state) {
    World w;
    world_up(&w, *state);
    for (int64_t seq = 1; seq <= 300; seq++) {
        add(w.told.storage, w.row.run, seq);
        storage_flush(w.told.storage);
        if (seq % 7 == 0) storage_wait(w.told.storage);
        uv_run(&w.loop, seq % 3 ? UV_RUN_NOWAIT : UV_RUN_DEFAULT);
    }
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(w.told.last, storage_number(w.told.storage) - 1);
    assert_int_equal(w.told.times, w.told.last);
    world_down(&w);
}

static void an_error_is_told_and_no_more_batches_are_taken(void **state) {
    World w;
    world_up(&w, *state);
    store_release(w.store, w.row.run); /* without the lease the store refuses */
    add(w.told.storage, w.row.run, 1);
    storage_flush(w.told.storage);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_not_equal(w.told.err.code, ERR_NONE);
    add(w.told.storage, w.row.run, 2);
    storage_flush(w.told.storage);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(w.told.times, 1);
    Work after = WORK(.last = -1); /* jobs are */
    storage_write(w.told.storage, &after.job);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(after.told, 1);
    assert_int_equal(after.last, 0);
    world_down(&w);
}

static void closing_drops_what_was_not_flushed(void **state) {
    World w;
    world_up(&w, *state);
    add(w.told.storage, w.row.run, 1);
    world_down(&w);
    assert_int_equal(w.told.times, 0);
}

/* ---- jobs ---- */

static void the_writer_does_jobs_and_batches_in_the_order_of_asking(void **state) {
    World w;
    int turns = 0;
    world_up(&w, *state);
    Storage *s = w.told.storage;
    Work before = WORK(.turns = &turns), after = WORK(.turns = &turns);
    storage_write(s, &before.job);
    add(s, w.row.run, 1);
    storage_flush(s);
    storage_write(s, &after.job);
    assert_int_equal(before.told + after.told, 0);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(before.last, 0);
    assert_int_equal(after.last, 1);
    assert_int_equal(before.turn, 1);
    assert_int_equal(after.turn, 2);
    assert_int_equal(before.told + after.told, 2);
    world_down(&w);
}

static void readers_do_not_wait_for_the_writer(void **state) {
    World w;
    uv_sem_t gate;
    uv_sem_init(&gate, 0);
    world_up(&w, *state);
    Storage *s = w.told.storage;
    add(s, w.row.run, 1);
    storage_flush(s);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    Work busy = WORK(.gate = &gate), readers[50];
    storage_write(s, &busy.job);
    for (int i = 0; i < 50; i++) {
        readers[i] = WORK(.last = -1);
        storage_read(s, &readers[i].job);
    }
    for (int i = 0; i < 50; i++) {
        while (!readers[i].told) uv_run(&w.loop, UV_RUN_ONCE);
        assert_int_equal(readers[i].last, 1);
    }
    assert_int_equal(busy.told, 0);
    uv_sem_post(&gate);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(busy.told, 1);
    world_down(&w);
    uv_sem_destroy(&gate);
}

static void finishing_a_job_tells_it_before_the_others(void **state) {
    World w;
    world_up(&w, *state);
    Work first = WORK(.last = -1), second = WORK(.last = -1);
    storage_read(w.told.storage, &first.job);
    storage_read(w.told.storage, &second.job);
    storage_finish(&second.job);
    assert_int_equal(second.told, 1);
    assert_int_equal(first.told, 0);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(first.told + second.told, 2);
    world_down(&w);
}

static void an_abandoned_job_is_told_and_not_done(void **state) {
    World w;
    uv_sem_t gate;
    int turns = 0;
    uv_sem_init(&gate, 0);
    world_up(&w, *state);
    Work busy = WORK(.gate = &gate), left = WORK(.turns = &turns);
    storage_write(w.told.storage, &busy.job);
    storage_write(w.told.storage, &left.job);
    storage_abandon(&left.job);
    assert_int_equal(left.told, 0);
    uv_sem_post(&gate);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(left.told, 1);
    assert_true(left.job.abandoned);
    assert_int_equal(turns, 0);
    world_down(&w);
    uv_sem_destroy(&gate);
}

typedef struct Endless {
    StorageJob job;
    uv_sem_t *begun;
    int told;
} Endless;

static void read_without_end(StorageJob *job, Store *store) {
    Checkpoint c;
    uv_sem_post(((Endless *)job)->begun);
    do {
        error_clear(&job->err);
        store_checkpoint(store, 1, 1, &c, &job->err);
    } while (job->err.code != ERR_CANCELLED);
}

static void endless_done(StorageJob *job) {
    ((Endless *)job)->told++;
}

/* Its handle is of no use any more: the next job has another. */
static void a_job_that_reads_is_given_up_when_nobody_waits_for_it(void **state) {
    World w;
    uv_sem_t begun;
    int turns = 0;
    uv_sem_init(&begun, 0);
    world_up(&w, *state);
    Endless one = {.job = {.work = read_without_end, .done = endless_done}, .begun = &begun},
            two = one;
    storage_read(w.told.storage, &one.job);
    uv_sem_wait(&begun);
    storage_abandon(&one.job);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(one.told, 1);
    assert_int_equal(one.job.err.code, ERR_CANCELLED);
    Work next = WORK(.turns = &turns);
    storage_read(w.told.storage, &next.job);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(next.told, 1);
    assert_int_equal(next.job.err.code, ERR_NONE);
    storage_read(w.told.storage, &two.job);
    uv_sem_wait(&begun);
    world_down(&w); /* does not wait for it */
    assert_int_equal(two.told, 1);
    assert_true(two.job.abandoned);
    uv_sem_destroy(&begun);
}

static void too_many_reads_are_refused(void **state) {
    World w;
    enum { MANY = STORAGE_READS + STORAGE_READERS + 10 };
    uv_sem_t gate;
    int refused = 0;
    uv_sem_init(&gate, 0);
    world_up(&w, *state);
    Work *all = mem_alloc(MANY * sizeof *all);
    for (int i = 0; i < MANY; i++) {
        all[i] = WORK(.gate = i < STORAGE_READERS ? &gate : NULL);
        storage_read(w.told.storage, &all[i].job);
        if (i < STORAGE_READERS) uv_sleep(20); /* so that each has a thread */
    }
    for (int i = 0; i < STORAGE_READERS; i++) uv_sem_post(&gate);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(all[i].told, 1);
        refused += all[i].job.err.code == ERR_BUSY;
    }
    assert_int_equal(refused, 10);
    mem_free(all);
    world_down(&w);
    uv_sem_destroy(&gate);
}

static void closing_does_what_was_to_be_written_and_leaves_the_reads(void **state) {
    World w;
    int turns = 0;
    world_up(&w, *state);
    Work writes[5], reads[50];
    for (int i = 0; i < 5; i++) {
        writes[i] = WORK(.turns = &turns);
        storage_write(w.told.storage, &writes[i].job);
    }
    for (int i = 0; i < 50; i++) {
        reads[i] = WORK(.last = -1);
        storage_read(w.told.storage, &reads[i].job);
    }
    world_down(&w);
    assert_int_equal(turns, 5);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(reads[i].told, 1);
        assert_true(reads[i].job.abandoned);
    }
}

static void values_are_counted_where_they_are(void **state) {
    World w;
    world_up(&w, *state);
    size_t before = json_heap_bytes();
    Work reads[20];
    for (int i = 0; i < 20; i++) {
        reads[i] = WORK(.last = -1);
        storage_read(w.told.storage, &reads[i].job);
        if (i % 2) storage_finish(&reads[i].job);
    }
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(json_heap_bytes(), before);
    world_down(&w);
}

#define ON(name, scheme) \
    { #name " on " scheme, name, NULL, NULL, (void *)(scheme) }
#define ON_ALL(name) ON(name, "memory"), ON(name, "sqlite"), ON(name, "file")

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_ALL(what_comes_while_the_store_is_busy_commits_together),
        ON_ALL(every_batch_is_told_once_and_in_order),
        ON_ALL(an_error_is_told_and_no_more_batches_are_taken),
        ON_ALL(closing_drops_what_was_not_flushed),
        ON_ALL(the_writer_does_jobs_and_batches_in_the_order_of_asking),
        ON_ALL(readers_do_not_wait_for_the_writer),
        ON_ALL(finishing_a_job_tells_it_before_the_others),
        ON_ALL(an_abandoned_job_is_told_and_not_done),
        ON_ALL(a_job_that_reads_is_given_up_when_nobody_waits_for_it),
        ON(too_many_reads_are_refused, "memory"),
        ON_ALL(closing_does_what_was_to_be_written_and_leaves_the_reads),
        ON_ALL(values_are_counted_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
