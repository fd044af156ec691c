/* Images from chains: rebuilding, weighing, pruning, checking; with every backend. */
#include "store_fixture.h"

/* ---- weights ---- */

static void the_first_checkpoint_wants_a_snapshot(void **state) {
    (void)state;
    ChainWeight w = {0};
    assert_true(chain_wants_snapshot(&w, 0));
    chain_weigh(&w, 10, 500, 0);
    assert_false(chain_wants_snapshot(&w, 0));
    assert_int_equal(w.snapshot, 500);
    assert_int_equal(w.patches, 0);
}

static void a_light_chain_gets_no_new_snapshot(void **state) {
    (void)state;
    ChainWeight w = {.snapshot = 50};
    int n = 0;
    for (; !chain_wants_snapshot(&w, 0); n++) {
        chain_weigh(&w, 60, 0, 0);
    }
    assert_int_equal(n, CHAIN_LEAST_WEIGHT / (60 + CHAIN_RECORD_WEIGHT) + 1);
}

static void a_heavy_snapshot_is_not_repeated_before_the_patches_outweigh_it(void **state) {
    (void)state;
    ChainWeight w = {.snapshot = 1000000};
    int n = 0;
    for (; !chain_wants_snapshot(&w, 0); n++) {
        chain_weigh(&w, 60, 0, 0);
    }
    assert_int_equal(n, 1000000 / (60 + CHAIN_RECORD_WEIGHT) + 1);
}

/* ---- images ---- */

static void every_image_of_a_line_is_rebuilt(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree t;
    tree_init(&t, s, "a");
    tree_grow(&t, 500, 50);
    for (int64_t seq = 1; seq <= t.last; seq++) {
        ChainWeight weight;
        Error err = ERROR_INIT;
        Json image = chain_image(s, t.run, seq, &weight, &err);
        assert_true(exactly(image, t.images[seq]));
        assert_int_equal(weight.snapshot, t.weights[seq].snapshot);
        assert_int_equal(weight.patches, t.weights[seq].patches);
        json_unref(image);
    }
    tree_clear(&t);
    store_close(s);
}

static void a_fork_leaves_the_old_branch(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree t;
    StoreBatch b = STORE_BATCH_INIT;
    tree_init(&t, s, "a");
    tree_grow(&t, 20, 5);
    int64_t fork = tree_add(&t, &b, 7, parse("{\"n\":\"fork\"}"), 50);
    tree_add(&t, &b, fork, parse("{\"n\":\"fork\",\"m\":[1,2]}"), 51);
    tree_add(&t, &b, 3, next_image(t.images[3], 99), 52);
    MUST(store_commit(s, &b, &why));
    for (int64_t seq = 1; seq <= t.last; seq++) {
        tree_expect(&t, s, seq);
    }
    expect_sound(s);
    store_batch_clear(&b);
    tree_clear(&t);
    store_close(s);
}

static void an_image_that_cannot_be_rebuilt_names_the_checkpoint(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree t;
    StoreBatch b = STORE_BATCH_INIT;
    Error err = ERROR_INIT;
    tree_init(&t, s, "a");
    tree_grow(&t, 10, 5);
    assert_true(json_is_none(chain_image(s, t.run, 11, NULL, &err)));
    expect_error(&err, ERR_NOT_FOUND, "has no checkpoint 11: its last is 10");
    store_batch_remove(&b, t.run, 4);
    MUST(store_commit(s, &b, &why));
    assert_true(json_is_none(chain_image(s, t.run, 9, NULL, &err)));
    expect_error(&err, ERR_NOT_FOUND,
                 "Checkpoint 9 cannot be rebuilt: Checkpoint 4 of thread `a` was");
    store_batch_clear(&b);
    tree_clear(&t);
    store_close(s);
}

/* A checkpoint whose change is this text, after the last one; the first is [[[], image]]. */
static void add_change(Tree *t, const char *text) {
    StoreBatch b = STORE_BATCH_INIT;
    bool first = !t->last;
    Buf bytes = BUF_INIT, image = BUF_INIT;
    Json change = parse(text);
    json_encode(change, &bytes);
    json_encode(json_array_get(json_array_get(change, 0), 1), &image);
    store_batch_checkpoint(&b, &(Checkpoint){.run = t->run,
                                             .seq = t->last + 1,
                                             .parent = t->last,
                                             .node = "",
                                             .status = "x",
                                             .patch = bytes.data,
                                             .patch_len = bytes.len,
                                             .snapshot = first ? image.data : NULL,
                                             .snapshot_len = first ? image.len : 0});
    store_batch_run(&b, t->run, ++t->last, "running", 1);
    MUST(store_commit(t->s, &b, &why));
    t->images = mem_grow(t->images, (size_t)t->last, &t->images_cap, sizeof *t->images);
    t->images[t->last] = json_null();
    json_unref(change);
    buf_clear(&bytes);
    buf_clear(&image);
    store_batch_clear(&b);
}

/* In memory the copies of a value are one; what they stand for would have to be written, compared and shown. */
static void copies_of_copies_of_copies_are_refused(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree t;
    Error err = ERROR_INIT;
    tree_init(&t, s, "a");
    add_change(&t, "[[[], {\"x\": [0, 0], \"y\": \"a text that is not short\"}]]");
    for (int i = 0; i < 64; i++) {
        add_change(&t, "[[[\"x\", 0], \"copy\", [\"y\"]], [[\"x\", 1], \"copy\", [\"y\"]],"
                       " [[\"y\"], \"copy\", [\"x\"]]]");
    }
    size_t before = json_heap_bytes();
    Json image = chain_image(s, t.run, 10, NULL, &err);
    assert_false(json_is_none(image));
    json_unref(image);
    for (int64_t seq = 30; seq <= t.last; seq++) {
        error_clear(&err);
        assert_true(json_is_none(chain_image(s, t.run, seq, NULL, &err)));
        expect_error(&err, ERR_LIMIT, "of thread `a` in ");
        expect_error(&err, ERR_LIMIT, " is too large: its change makes an image of about ");
        assert_non_null(strstr(err.facts, "\"limit\":536870912"));
    }
    assert_int_equal(json_heap_bytes(), before);
    Problems p = {0};
    check_store(s, 0, &p);
    assert_int_equal(p.count, 2); /* the first, and those after it as one */
    assert_non_null(strstr(p.sentence, "where at most 512 MB are allowed."));
    RunRow row = find_run(s, "a");
    PruneReport report = {0};
    assert_false(chain_prune(s, &row, &(PruneRule){.keep_last = 3}, &report, &err));
    expect_error(&err, ERR_LIMIT, "is too large");
    run_row_clear(&row);
    tree_clear(&t);
    store_close(s);
}

/* Those that are more than an image may be are read again, each when its turn comes. */
static void a_chain_of_changes_that_are_too_much_to_be_held_is_read(void **state) {
    enum { N = 200000, CHANGES = 180 };
    Store *s = open_store(*state, STORE_CREATE);
    Tree t;
    Error err = ERROR_INIT;
    Buf text = BUF_INIT;
    tree_init(&t, s, "a");
    buf_adds(&text, "[[[], [0");
    for (int i = 1; i < N; i++) buf_adds(&text, ",0");
    buf_adds(&text, "]]]");
    for (int i = 0; i < CHANGES; i++) add_change(&t, text.data);
    Json image = chain_image(s, t.run, t.last, NULL, &err);
    assert_int_equal(json_array_len(image), N);
    json_unref(image);
    buf_clear(&text);
    tree_clear(&t);
    store_close(s);
}

static void a_copy_of_what_is_not_there_is_damage(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree t;
    Error err = ERROR_INIT;
    Problems p = {0};
    tree_init(&t, s, "a");
    add_change(&t, "[[[], {\"x\": 1, \"y\": 2}]]");
    add_change(&t, "[[[\"x\"]], [[\"y\"], \"copy\", [\"x\"]]]");
    assert_true(json_is_none(chain_image(s, t.run, 2, NULL, &err)));
    expect_error(&err, ERR_DATA, "Change 2 of the patch does not fit the value.");
    check_store(s, 0, &p);
    assert_int_equal(p.count, 1);
    assert_int_equal(p.seq, 2);
    tree_clear(&t);
    store_close(s);
}

static void bytes_that_are_no_value_are_damage(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    StoreBatch b = STORE_BATCH_INIT;
    Error err = ERROR_INIT;
    Checkpoint c = {
        .run = run, .seq = 1, .node = "", .status = "x", .patch = "\xff\xff", .patch_len = 2};
    store_batch_checkpoint(&b, &c);
    c.seq = 2;
    c.snapshot = "\xff\xff";
    c.snapshot_len = 2;
    store_batch_checkpoint(&b, &c);
    MUST(store_commit(s, &b, &why));
    assert_true(json_is_none(chain_image(s, run, 1, NULL, &err)));
    expect_error(&err, ERR_DATA, "its change is not a value");
    assert_true(json_is_none(chain_image(s, run, 2, NULL, &err)));
    expect_error(&err, ERR_DATA, "its image is not a value");
    store_batch_clear(&b);
    store_close(s);
}

/* With a sound checksum: somebody has made it so. */
static void numbers_that_no_checkpoint_has_are_damage(void **state) {
    static const int64_t numbers[] = {-1, INT64_MIN, INT64_MAX, STORE_NUMBER_MAX + 1};
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    StoreBatch b = STORE_BATCH_INIT;
    Checkpoint out;
    for (int64_t i = 0; i < 12; i++) {
        int64_t n = numbers[i / 3];
        store_batch_checkpoint(&b, &(Checkpoint){.run = run,
                                                 .seq = i + 1,
                                                 .step = i % 3 == 0 ? n : 1,
                                                 .frame = i % 3 == 1 ? n : 1,
                                                 .at = i % 3 == 2 ? n : 1,
                                                 .node = "",
                                                 .status = "x",
                                                 .patch = "\x40",
                                                 .patch_len = 1});
    }
    store_batch_run(&b, run, 12, "running", 1);
    MUST(store_commit(s, &b, &why));
    for (int64_t seq = 1; seq <= 12; seq++) {
        Error err = ERROR_INIT;
        assert_false(store_checkpoint(s, run, seq, &out, &err));
        expect_error(&err, ERR_DATA, "its numbers are none that a checkpoint has");
    }
    Problems p = {0};
    check_store(s, 0, &p);
    assert_true(p.count >= 12);
    store_batch_clear(&b);
    store_close(s);
}

/* ---- pruning ---- */

static PruneReport prune(Store *s, const char *thread, PruneRule rule) {
    PruneReport report = {0};
    RunRow row = find_run(s, thread);
    MUST(chain_prune(s, &row, &rule, &report, &why));
    run_row_clear(&row);
    return report;
}

static void pruning_keeps_the_last_ones_and_their_images(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree t;
    Checkpoint c;
    Error err = ERROR_INIT;
    tree_init(&t, s, "a");
    tree_grow(&t, 100, 10);
    PruneReport report = prune(s, "a", (PruneRule){.keep_last = 10});
    assert_int_equal(report.runs, 1);
    assert_int_equal(report.removed, 90);
    assert_int_equal(report.kept, 10);
    assert_int_equal(report.folded, 1);
    MUST(store_checkpoint(s, t.run, 91, &c, &why));
    assert_int_equal(c.parent, 0);
    assert_non_null(c.snapshot);
    for (int64_t seq = 91; seq <= 100; seq++) {
        tree_expect(&t, s, seq);
    }
    assert_false(store_checkpoint(s, t.run, 90, &c, &err));
    RunRow row = find_run(s, "a");
    assert_int_equal(row.last, 100);
    assert_int_equal(row.head, 100);
    run_row_clear(&row);
    expect_sound(s);
    tree_grow(&t, 10, 3);
    tree_expect(&t, s, 110);
    expect_sound(s);
    report = prune(s, "a", (PruneRule){.keep_last = 1000});
    assert_int_equal(report.removed, 0);
    assert_int_equal(report.folded, 0);
    tree_clear(&t);
    store_close(s);
}

static bool result_by_value(const Checkpoint *c, Json before, Json after, Buf *out) {
    (void)before;
    (void)after;
    assert_int_equal(c->result_len, 0);
    json_encode(json_int(c->seq), out);
    return true;
}

static void a_folded_checkpoint_keeps_its_result_by_value(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree t;
    Checkpoint c;
    tree_init(&t, s, "a");
    tree_grow(&t, 20, 10);
    for (int64_t seq = 1; seq <= 20; seq++) {
        StoreBatch b = STORE_BATCH_INIT;
        MUST(store_checkpoint(s, t.run, seq, &c, &why));
        c.result = "";
        store_batch_checkpoint(&b, &c);
        MUST(store_commit(s, &b, &why));
        store_batch_clear(&b);
    }
    prune(s, "a", (PruneRule){.keep_last = 10, .result = result_by_value});
    MUST(store_checkpoint(s, t.run, 11, &c, &why));
    Json result = json_decode(c.result, c.result_len, NULL, NULL);
    assert_int_equal(result.i, 11);
    MUST(store_checkpoint(s, t.run, 12, &c, &why));
    assert_non_null(c.result);
    assert_int_equal(c.result_len, 0);
    prune(s, "a", (PruneRule){.keep_last = 1});
    MUST(store_checkpoint(s, t.run, 20, &c, &why));
    assert_null(c.result);
    expect_sound(s);
    tree_clear(&t);
    store_close(s);
}

static void pruning_never_takes_the_head(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree t;
    StoreBatch b = STORE_BATCH_INIT;
    tree_init(&t, s, "a");
    tree_grow(&t, 30, 10);
    store_batch_run(&b, t.run, 12, "interrupted", 5000);
    MUST(store_commit(s, &b, &why));
    PruneReport report = prune(s, "a", (PruneRule){.keep_last = 0});
    assert_int_equal(report.kept, 2);
    tree_expect(&t, s, 12);
    tree_expect(&t, s, 30);
    Checkpoint c;
    MUST(store_checkpoint(s, t.run, 30, &c, &why));
    assert_int_equal(c.parent, 12);
    RunRow row = find_run(s, "a");
    assert_int_equal(row.updated, 5000);
    assert_string_equal(row.status, "interrupted");
    run_row_clear(&row);
    expect_sound(s);
    store_batch_clear(&b);
    tree_clear(&t);
    store_close(s);
}

static void only_what_is_older_goes(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree t;
    tree_init(&t, s, "a");
    tree_grow(&t, 30, 10); /* made at 1000, 1001, ... */
    PruneReport report = prune(s, "a", (PruneRule){.keep_last = 1, .older_than = 1010});
    assert_int_equal(report.removed, 10);
    for (int64_t seq = 11; seq <= 30; seq++) {
        tree_expect(&t, s, seq);
    }
    report = prune(s, "a", (PruneRule){.keep_last = 15, .older_than = 5000});
    assert_int_equal(report.removed, 5);
    expect_sound(s);
    tree_clear(&t);
    store_close(s);
}

static void runs_that_ended_go_whole_when_asked(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    const char *const statuses[] = {"completed", "failed", "cancelled", "interrupted", "running"};
    StoreBatch b = STORE_BATCH_INIT;
    Tree t;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        tree_init(&t, s, statuses[i]);
        tree_grow(&t, 5, 5);
        store_batch_run(&b, t.run, 5, statuses[i], 2000);
        tree_clear(&t);
    }
    MUST(store_commit(s, &b, &why));
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        PruneRule young = {.keep_last = 9, .older_than = 1500, .finished_runs = true};
        PruneRule old = {.keep_last = 9, .older_than = 2500, .finished_runs = true};
        assert_int_equal(prune(s, statuses[i], young).removed_runs, 0);
        PruneReport report = prune(s, statuses[i], old);
        assert_int_equal(report.removed_runs, i < 3);
        assert_int_equal(report.removed, i < 3 ? 5 : 0);
    }
    expect_sound(s);
    store_batch_clear(&b);
    store_close(s);
}

static void a_run_that_is_being_run_is_not_pruned(void **state) {
    Store *a = open_store(*state, STORE_CREATE), *b = open_store(*state, STORE_CREATE);
    Tree t;
    PruneReport report = {0};
    Error err = ERROR_INIT;
    tree_init(&t, a, "a");
    tree_grow(&t, 10, 10);
    RunRow row = find_run(b, "a");
    assert_false(chain_prune(b, &row, &(PruneRule){.keep_last = 1}, &report, &err));
    expect_error(&err, ERR_BUSY, "is being run by");
    store_release(a, t.run);
    MUST(chain_prune(b, &row, &(PruneRule){.keep_last = 1}, &report, &why));
    MUST(store_lease(a, t.run, &why)); /* b has given the lease back */
    tree_expect(&t, a, 10);
    run_row_clear(&row);
    tree_clear(&t);
    store_close(a);
    store_close(b);
}

/* A tree of random shape with values of random shape. */
static void grow_randomly(Tree *t, unsigned *seed, int n) {
    StoreBatch b = STORE_BATCH_INIT;
    for (int i = 0; i < n; i++) {
        int64_t parent = rand_r(seed) % 4 ? t->last : rand_r(seed) % (t->last + 1);
        Json image = next_image(t->images[parent], rand_r(seed) % 50);
        if (rand_r(seed) % 5 == 0) {
            char key[8];
            snprintf(key, sizeof key, "k%d", rand_r(seed) % 9);
            Json list = json_array();
            for (int j = rand_r(seed) % 20; j; j--) {
                list = json_array_push(list, json_int(rand_r(seed) % 7));
            }
            image = json_object_set(image, json_string_c(key), list);
        }
        tree_add(t, &b, parent, image, 1000 + rand_r(seed) % 100);
    }
    store_batch_run(&b, t->run, 1 + rand_r(seed) % t->last, "interrupted", 2000);
    MUST(store_commit(t->s, &b, &why));
    store_batch_clear(&b);
}

typedef struct Left {
    Tree *t;
    int64_t count;
} Left;

static bool expect_left(void *ctx, const Checkpoint *c) {
    Left *left = ctx;
    int64_t above = left->t->parents[c->seq];
    while (above && above != c->parent) {
        above = left->t->parents[above];
    }
    assert_int_equal(above, c->parent); /* an ancestor, or 0 */
    tree_expect(left->t, left->t->s, c->seq);
    left->count++;
    return true;
}

static void prune_randomly(Tree *t, unsigned *seed, const char *name) {
    PruneRule rule = {.keep_last = rand_r(seed) % 30,
                      .older_than = rand_r(seed) % 2 ? 1000 + rand_r(seed) % 100 : 0};
    RunRow before = find_run(t->s, name);
    PruneReport report = prune(t->s, name, rule);
    RunRow after = find_run(t->s, name);
    Left left = {.t = t};
    assert_int_equal(after.last, before.last);
    assert_int_equal(after.head, before.head);
    MUST(store_history(t->s, t->run, 0, expect_left, NULL, &left, &why));
    assert_int_equal(left.count, report.kept);
    tree_expect(t, t->s, after.head);
    run_row_clear(&before);
    run_row_clear(&after);
}

static void pruning_any_tree_keeps_every_image_that_stays(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    for (unsigned round = 1; round <= 25; round++) {
        Tree t;
        char name[16];
        unsigned seed = round;
        snprintf(name, sizeof name, "t%u", round);
        tree_init(&t, s, name);
        grow_randomly(&t, &seed, 1 + rand_r(&seed) % 200);
        prune_randomly(&t, &seed, name);
        prune_randomly(&t, &seed, name);
        tree_clear(&t);
    }
    expect_sound(s);
    store_close(s);
}

/* ---- checking ---- */

static void a_sound_store_has_no_problems(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree a, b;
    Problems p = {0};
    tree_init(&a, s, "a");
    tree_init(&b, s, "b");
    tree_grow(&a, 200, 20);
    tree_grow(&b, 50, 5);
    make_run(s, "empty");
    CheckReport report = check_store(s, 0, &p);
    assert_int_equal(p.count, 0);
    assert_int_equal(report.runs, 3);
    assert_int_equal(report.checkpoints, 250);
    assert_true(report.snapshots >= 2);
    report = check_store(s, b.run, &p);
    assert_int_equal(report.runs, 1);
    assert_int_equal(report.checkpoints, 50);
    tree_clear(&a);
    tree_clear(&b);
    store_close(s);
}

static void put_json(StoreBatch *b, int64_t run, int64_t seq, int64_t parent, const char *patch,
                     const char *snapshot) {
    Buf p = BUF_INIT, image = BUF_INIT;
    Json value = parse(patch);
    json_encode(value, &p);
    json_unref(value);
    if (snapshot) {
        value = parse(snapshot);
        json_encode(value, &image);
        json_unref(value);
    }
    store_batch_checkpoint(b, &(Checkpoint){.run = run,
                                            .seq = seq,
                                            .parent = parent,
                                            .node = "n",
                                            .status = "s",
                                            .patch = p.data,
                                            .patch_len = p.len,
                                            .snapshot = image.data,
                                            .snapshot_len = image.len});
    buf_clear(&p);
    buf_clear(&image);
}

static void expect_problem(Store *s, StoreBatch *b, int64_t count, int64_t seq, const char *part) {
    Problems p = {0};
    MUST(store_commit(s, b, &why));
    check_store(s, 0, &p);
    if (p.count != count || p.seq != seq || !strstr(p.sentence, part)) {
        fail_msg("%lld problems, first at %lld: %s", (long long)p.count, (long long)p.seq,
                 p.sentence);
    }
    assert_string_equal(p.thread, "a");
}

static void what_does_not_fit_is_found(void **state) {
    static const struct {
        const char *patch, *snapshot;
        int64_t parent, head, count, seq;
        const char *part;
    } cases[] = {
        {"[[[\"x\"],2]]", "{\"x\":3}", 1, 2, 1, 2, "not what its change makes"},
        {"[[[\"y\",\"z\"],2]]", NULL, 1, 2, 1, 2, "does not fit its parent"},
        {"[[[\"x\"],2]]", NULL, 1, 3, 1, 3, "which is not there"},
        {"[[[\"x\"],2]]", NULL, 1, 0, 1, 0, "stands at no checkpoint"},
        {"7", NULL, 1, 2, 1, 2, "does not fit its parent"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Store *s = open_store(*state, STORE_CREATE);
        int64_t run = make_run(s, "a");
        StoreBatch b = STORE_BATCH_INIT;
        put_json(&b, run, 1, 0, "[[[],{\"x\":1}]]", "{\"x\":1}");
        put_json(&b, run, 2, cases[i].parent, cases[i].patch, cases[i].snapshot);
        store_batch_run(&b, run, cases[i].head, "running", 1);
        expect_problem(s, &b, cases[i].count, cases[i].seq, cases[i].part);
        store_batch_reset(&b);
        store_batch_remove_run(&b, run);
        MUST(store_commit(s, &b, &why));
        store_batch_clear(&b);
        store_close(s);
    }
}

static void what_hangs_on_a_missing_one_is_reported_as_one(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree t;
    StoreBatch b = STORE_BATCH_INIT;
    tree_init(&t, s, "a");
    tree_grow(&t, 40, 40);
    store_batch_remove(&b, t.run, 10);
    Problems p = {0};
    MUST(store_commit(s, &b, &why));
    check_store(s, 0, &p);
    assert_int_equal(p.count, 2);
    assert_int_equal(p.seq, 11);
    assert_non_null(strstr(p.sentence, "Its parent cannot be rebuilt"));
    store_batch_clear(&b);
    tree_clear(&t);
    store_close(s);
}

static void note_progress(void *ctx, const RunRow *row, int64_t checkpoints) {
    (void)row;
    *(int64_t *)ctx = checkpoints;
}

static void no_problem(void *ctx, const char *thread, int64_t seq, const char *sentence) {
    (void)ctx;
    fail_msg("%s@%lld: %s", thread, (long long)seq, sentence);
}

static void a_long_run_is_read_anywhere_and_checked_in_one_pass(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree t;
    CheckReport report;
    int64_t progress = 0;
    CheckHost host = {.problem = no_problem, .progress = note_progress, .ctx = &progress};
    enum { STEPS = 20000 };
    tree_init(&t, s, "a");
    tree_grow(&t, STEPS, 5000);
    unsigned seed = 1;
    for (int i = 0; i < 200; i++) {
        tree_expect(&t, s, 1 + rand_r(&seed) % STEPS);
    }
    MUST(chain_check(s, 0, &host, &report, &why));
    assert_int_equal(report.checkpoints, STEPS);
    assert_int_equal(progress, STEPS);
    tree_clear(&t);
    store_close(s);
}

/* Each time a run was looked at, both go on. */
static void grow_trees(void *ctx, const RunRow *row, int64_t checkpoints) {
    Tree *trees = ctx;
    (void)row, (void)checkpoints;
    for (int i = 0; i < 2; i++) tree_grow(&trees[i], 1, 1);
}

static void runs_that_go_on_while_they_are_checked_are_sound(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree trees[2];
    CheckReport report;
    CheckHost host = {.problem = no_problem, .progress = grow_trees, .ctx = trees};
    for (int i = 0; i < 2; i++) {
        tree_init(&trees[i], s, i ? "a" : "b");
        tree_grow(&trees[i], 20, 20);
    }
    MUST(chain_check(s, 0, &host, &report, &why));
    assert_int_equal(report.runs, 2);
    for (int i = 0; i < 2; i++) tree_clear(&trees[i]);
    store_close(s);
}

/* ---- the list ---- */

static const Behaviour behaviours[] = {
    BEHAVIOUR(the_first_checkpoint_wants_a_snapshot, ALL),
    BEHAVIOUR(a_light_chain_gets_no_new_snapshot, ALL),
    BEHAVIOUR(a_heavy_snapshot_is_not_repeated_before_the_patches_outweigh_it, ALL),
    BEHAVIOUR(every_image_of_a_line_is_rebuilt, ALL),
    BEHAVIOUR(a_fork_leaves_the_old_branch, ALL),
    BEHAVIOUR(an_image_that_cannot_be_rebuilt_names_the_checkpoint, ALL),
    BEHAVIOUR(copies_of_copies_of_copies_are_refused, ALL),
    BEHAVIOUR(a_chain_of_changes_that_are_too_much_to_be_held_is_read, SQLITE),
    BEHAVIOUR(numbers_that_no_checkpoint_has_are_damage, ALL),
    BEHAVIOUR(a_copy_of_what_is_not_there_is_damage, ALL),
    BEHAVIOUR(bytes_that_are_no_value_are_damage, ALL),
    BEHAVIOUR(runs_that_go_on_while_they_are_checked_are_sound, ALL),
    BEHAVIOUR(pruning_keeps_the_last_ones_and_their_images, ALL),
    BEHAVIOUR(a_folded_checkpoint_keeps_its_result_by_value, ALL),
    BEHAVIOUR(pruning_never_takes_the_head, ALL),
    BEHAVIOUR(only_what_is_older_goes, ALL),
    BEHAVIOUR(runs_that_ended_go_whole_when_asked, ALL),
    BEHAVIOUR(a_run_that_is_being_run_is_not_pruned, DURABLE),
    BEHAVIOUR(pruning_any_tree_keeps_every_image_that_stays, ALL),
    BEHAVIOUR(a_sound_store_has_no_problems, ALL),
    BEHAVIOUR(what_does_not_fit_is_found, ALL),
    BEHAVIOUR(what_hangs_on_a_missing_one_is_reported_as_one, ALL),
    BEHAVIOUR(a_long_run_is_read_anywhere_and_checked_in_one_pass, ALL),
};

int main(void) {
    return run_behaviours("store_chain", behaviours, sizeof behaviours / sizeof *behaviours);
}
