/* The journal: batches are committed in order on a thread of their own, and said to be durable only
 * when they are. */
#include "engine.h"
#include "journal.h"
#include "json_binary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef struct Told {
    Journal *journal;
    uint64_t last;
    int times;
    Error err;
} Told;

static void on_committed(void *ctx, uint64_t number, const Error *err) {
    Told *told = ctx;
    assert_true(number > told->last);
    told->last = number;
    told->times++;
    if (err) {
        told->err = *err;
    } else {
        journal_flush(told->journal);
    }
}

static void add(Journal *j, int64_t run, int64_t seq) {
    Buf patch = BUF_INIT;
    Json change[] = {json_array(), json_int(seq)};
    Json changes = json_array_push(json_array(), json_array_from(change, 2));
    json_encode(changes, &patch);
    store_batch_checkpoint(journal_batch(j), &(Checkpoint){.run = run,
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
} World;

static void world_up(World *w) {
    *w = (World){0};
    uv_loop_init(&w->loop);
    w->store = store_open("memory:", STORE_CREATE, NULL);
    assert_true(store_create_run(w->store, "t", "w", "", &w->row, NULL));
    JournalHost host = {&w->loop, w->store, on_committed, &w->told};
    w->told.journal = journal_new(&host, NULL);
    assert_non_null(w->told.journal);
}

static void world_down(World *w) {
    journal_close(w->told.journal);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    run_row_clear(&w->row);
    store_close(w->store);
}

static void what_comes_while_the_store_is_busy_commits_together(void **state) {
    (void)state;
    World w;
    world_up(&w);
    journal_lock(w.told.journal); /* the thread has to wait */
    add(w.told.journal, w.row.run, 1);
    assert_int_equal(journal_number(w.told.journal), 1);
    journal_flush(w.told.journal);
    assert_false(journal_ready(w.told.journal));
    assert_int_equal(journal_number(w.told.journal), 2);
    for (int64_t seq = 2; seq <= 1000; seq++) {
        add(w.told.journal, w.row.run, seq);
        journal_flush(w.told.journal);
    }
    assert_int_equal(journal_number(w.told.journal), 2);
    journal_unlock(w.told.journal);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(w.told.times, 2);
    Checkpoint c;
    assert_true(store_checkpoint(w.store, w.row.run, 1000, &c, NULL));
    world_down(&w);
}

static void every_batch_is_told_once_and_in_order(void **state) {
    (void)state;
    World w;
    world_up(&w);
    for (int64_t seq = 1; seq <= 300; seq++) {
        add(w.told.journal, w.row.run, seq);
        journal_flush(w.told.journal);
        uv_run(&w.loop, seq % 3 ? UV_RUN_NOWAIT : UV_RUN_DEFAULT);
    }
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(w.told.last, journal_number(w.told.journal) - 1);
    assert_int_equal(w.told.times, w.told.last);
    world_down(&w);
}

static void an_error_is_told_and_nothing_more_is_taken(void **state) {
    (void)state;
    World w;
    world_up(&w);
    store_release(w.store, w.row.run); /* without the lease the store refuses */
    add(w.told.journal, w.row.run, 1);
    journal_flush(w.told.journal);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_not_equal(w.told.err.code, ERR_NONE);
    add(w.told.journal, w.row.run, 2);
    journal_flush(w.told.journal);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(w.told.times, 1);
    world_down(&w);
}

static void closing_drops_what_was_not_flushed(void **state) {
    (void)state;
    World w;
    world_up(&w);
    add(w.told.journal, w.row.run, 1);
    world_down(&w);
    assert_int_equal(w.told.times, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_while_the_store_is_busy_commits_together),
        cmocka_unit_test(every_batch_is_told_once_and_in_order),
        cmocka_unit_test(an_error_is_told_and_nothing_more_is_taken),
        cmocka_unit_test(closing_drops_what_was_not_flushed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
