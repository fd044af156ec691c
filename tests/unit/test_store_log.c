/* The logs of runs: each behaviour is tested with every backend. */
#include "file_io.h"
#include "store_fixture.h"

#include <sqlite3.h>

/* ---- writing and reading ---- */

static LogPiece piece_of(int64_t run, const char *node, const char *text) {
    return (LogPiece){.run = run,
                      .execution = 3,
                      .frame = 1,
                      .attempt = 1,
                      .at = 1700000000001,
                      .node = node,
                      .text = text,
                      .len = strlen(text)};
}

static void put(Store *s, LogPiece piece) {
    StoreBatch b = STORE_BATCH_INIT;
    store_batch_log(&b, &piece);
    MUST(store_commit(s, &b, &why));
    store_batch_clear(&b);
}

typedef struct Seen {
    Buf text; /* "n node stream offset: text" each */
    int64_t last, bytes, count;
    int64_t limit; /* 0: none */
    int damaged;
} Seen;

static bool see(void *ctx, const LogPiece *p) {
    Seen *seen = ctx;
    assert_true(p->n > seen->last);
    seen->last = p->n;
    seen->bytes += (int64_t)p->len;
    seen->count++;
    if (p->len < 100) {
        buf_printf(&seen->text, "%lld %s %s %lld: %.*s\n", (long long)p->n, p->node,
                   log_stream_names[p->stream], (long long)p->offset, (int)p->len, p->text);
    }
    return seen->count != seen->limit;
}

static bool see_damage(void *ctx, int64_t n, const Error *err) {
    Seen *seen = ctx;
    assert_int_equal(err->code, ERR_DATA);
    assert_true(n > seen->last);
    seen->last = n;
    seen->damaged++;
    return true;
}

static void expect_log(Store *s, LogQuery query, const char *expected) {
    Seen seen = {0};
    MUST(store_log(s, &query, see, NULL, &seen, &why));
    buf_addc(&seen.text, '\0');
    assert_string_equal(seen.text.data, expected);
    buf_clear(&seen.text);
}

static void output_comes_back_in_order_with_what_is_known_of_it(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a"), other = make_run(s, "b");
    StoreBatch b = STORE_BATCH_INIT;
    LogPiece out = piece_of(run, "build", "one\n"), notes = piece_of(run, "check", "note");
    LogPiece theirs = piece_of(other, "build", "theirs");
    notes.stream = LOG_NOTES;
    store_batch_log(&b, &out);
    store_batch_log(&b, &notes);
    store_batch_log(&b, &theirs);
    MUST(store_commit(s, &b, &why));
    store_batch_reset(&b);
    out.offset = 4;
    out.text = "two\n";
    out.at++;
    store_batch_log(&b, &out);
    MUST(store_commit(s, &b, &why));
    store_batch_clear(&b);
    Store *reader = store_reader(s, NULL);
    for (int i = 0; i < 2; i++) {
        Store *from = i ? reader : s;
        expect_log(from, (LogQuery){.run = run},
                   "1 build stdout 0: one\n\n2 check log 0: note\n3 build stdout 4: two\n\n");
        expect_log(from, (LogQuery){.run = other}, "1 build stdout 0: theirs\n");
        expect_log(from, (LogQuery){.run = run, .from = 2, .node = "build"},
                   "3 build stdout 4: two\n\n");
        expect_log(from, (LogQuery){.run = run, .streams = 1u << LOG_NOTES},
                   "2 check log 0: note\n");
        expect_log(from, (LogQuery){.run = run, .since = out.at}, "3 build stdout 4: two\n\n");
        expect_log(from, (LogQuery){.run = run, .node = "nosuch"}, "");
        expect_log(from, (LogQuery){.run = 99}, "");
    }
    store_close(reader);
    expect_sound(s);
    store_close(s);
}

static bool see_fields(void *ctx, const LogPiece *p) {
    LogPiece *out = ctx;
    *out = *p;
    assert_string_equal(p->node, "n");
    assert_memory_equal(p->text, "abc", 3);
    return false;
}

static void the_numbers_of_a_piece_are_kept(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    LogPiece p = piece_of(run, "n", "abc"), got = {0};
    p.execution = 77;
    p.frame = 5;
    p.attempt = 2;
    p.stream = LOG_STDERR;
    p.offset = STORE_NUMBER_MAX - 10;
    put(s, piece_of(run, "before", "12345"));
    put(s, p);
    MUST(store_log(s, &(LogQuery){.run = run, .from = 2}, see_fields, NULL, &got, &why));
    assert_int_equal(got.run, run);
    assert_int_equal(got.n, 2);
    assert_int_equal(got.before, 5);
    assert_int_equal(got.execution, 77);
    assert_int_equal(got.frame, 5);
    assert_int_equal(got.attempt, 2);
    assert_int_equal(got.stream, LOG_STDERR);
    assert_int_equal(got.offset, p.offset);
    assert_int_equal(got.at, p.at);
    assert_false(got.again);
    store_close(s);
}

static void what_follows_in_a_batch_is_one_piece(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    StoreBatch b = STORE_BATCH_INIT;
    LogPiece p = piece_of(run, "n", "ab");
    for (int i = 0; i < 5; i++, p.offset += 2) store_batch_log(&b, &p);
    p.stream = LOG_STDERR;
    p.offset = 0;
    store_batch_log(&b, &p);
    p.stream = LOG_STDOUT;
    p.offset = 10;
    store_batch_log(&b, &p);
    store_batch_run(&b, run, 0, "running", 1);
    p.offset = 12;
    store_batch_log(&b, &p);
    MUST(store_commit(s, &b, &why));
    expect_log(s, (LogQuery){.run = run},
               "1 n stdout 0: ababababab\n2 n stderr 0: ab\n3 n stdout 10: ab\n4 n stdout 12: "
               "ab\n");
    store_batch_clear(&b);
    store_close(s);
}

static void long_output_is_cut_into_pieces_of_whole_characters(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    Buf text = BUF_INIT;
    for (int i = 0; i < 70000; i++) buf_adds(&text, "\xe2\x98\x83");
    StoreBatch b = STORE_BATCH_INIT;
    LogPiece p = piece_of(run, "n", "");
    for (size_t at = 0; at < text.len;) { /* as three strokes of other lengths */
        size_t n = at + 99999 < text.len ? 99999 : text.len - at;
        p.text = text.data + at;
        p.offset = (int64_t)at;
        p.len = n;
        store_batch_log(&b, &p);
        at += n;
    }
    MUST(store_commit(s, &b, &why));
    Seen seen = {0};
    MUST(store_log(s, &(LogQuery){.run = run}, see, NULL, &seen, &why));
    assert_int_equal(seen.bytes, (int64_t)text.len);
    assert_int_equal(seen.count, 4);
    store_batch_clear(&b);
    buf_clear(&seen.text);
    buf_clear(&text);
    store_close(s);
}

static void output_of_a_run_that_is_made_in_the_same_batch(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    StoreBatch b = STORE_BATCH_INIT, more = STORE_BATCH_INIT;
    LogPiece p = piece_of(-1, "n", "first"), q = piece_of(-2, "n", "other");
    RunRow row;
    store_batch_create(&b,
                       &(StoreCreate){.stand_in = -1, .thread = "a", .workflow = "w", .key = ""});
    store_batch_create(&b,
                       &(StoreCreate){.stand_in = -2, .thread = "b", .workflow = "w", .key = ""});
    store_batch_log(&more, &p);
    store_batch_log(&more, &q);
    store_batch_add(&b, &more);
    MUST(store_commit(s, &b, &why));
    MUST(store_batch_made(s, &b, 0, &row, &why));
    expect_log(s, (LogQuery){.run = row.run}, "1 n stdout 0: first\n");
    run_row_clear(&row);
    MUST(store_batch_made(s, &b, 1, &row, &why));
    expect_log(s, (LogQuery){.run = row.run}, "1 n stdout 0: other\n");
    run_row_clear(&row);
    store_batch_clear(&b);
    store_batch_clear(&more);
    store_close(s);
}

static void what_is_there_already_is_left_out_when_it_may_be(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a");
    LogPiece p = piece_of(run, "n", "abcdef");
    put(s, p);
    p.again = true;
    put(s, p);
    p.len = 3;
    put(s, p);
    p.text = "defghi"; /* from the middle of it on */
    p.offset = 3;
    p.len = 6;
    put(s, p);
    p.frame = 2; /* another execution */
    p.offset = 0;
    put(s, p);
    p.frame = 1;
    p.stream = LOG_STDERR;
    put(s, p);
    expect_log(s, (LogQuery){.run = run},
               "1 n stdout 0: abcdef\n2 n stdout 6: ghi\n3 n stdout 0: defghi\n4 n stderr 0: "
               "defghi\n");
    store_close(s);
}

/* ---- what goes ---- */

static void a_log_goes_with_its_run(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    int64_t run = make_run(s, "a"), other = make_run(s, "b");
    StoreBatch b = STORE_BATCH_INIT;
    put(s, piece_of(run, "n", "gone"));
    put(s, piece_of(other, "n", "stays"));
    store_batch_remove_run(&b, run);
    MUST(store_commit(s, &b, &why));
    store_batch_clear(&b);
    expect_log(s, (LogQuery){.run = run}, "");
    expect_log(s, (LogQuery){.run = other}, "1 n stdout 0: stays\n");
    store_close(s);
}

static void a_trimmed_log_goes_on_with_its_numbers(void **state) {
    Fixture *f = *state;
    Store *s = open_store(f, STORE_CREATE);
    int64_t run = make_run(s, "a");
    StoreBatch b = STORE_BATCH_INIT;
    for (int i = 0; i < 5; i++) put(s, piece_of(run, "n", "x"));
    store_batch_trim_log(&b, run, 3);
    MUST(store_commit(s, &b, &why));
    expect_log(s, (LogQuery){.run = run}, "3 n stdout 0: x\n4 n stdout 0: x\n5 n stdout 0: x\n");
    store_batch_reset(&b);
    store_batch_trim_log(&b, run, 99); /* the last one stays */
    MUST(store_commit(s, &b, &why));
    put(s, piece_of(run, "n", "y"));
    store_batch_clear(&b);
    for (int i = 0; i < 2; i++) {
        expect_log(s, (LogQuery){.run = run}, "5 n stdout 0: x\n6 n stdout 0: y\n");
        expect_sound(s);
        if (!strcmp(f->scheme, "memory")) break;
        store_close(s);
        s = open_store(f, STORE_READ);
    }
    store_close(s);
}

static void a_log_that_is_too_long_loses_its_beginning(void **state) {
    Fixture *f = *state;
    Store *s = open_store(f, STORE_CREATE);
    int64_t run = make_run(s, "a");
    char *mb = mem_alloc(1 << 20);
    StoreBatch b = STORE_BATCH_INIT;
    memset(mb, 'x', 1 << 20);
    LogPiece p = piece_of(run, "n", "");
    p.text = mb;
    p.len = 1 << 20;
    for (int i = 0; i < (STORE_LOG_MAX >> 20) + 20; i++, p.offset += 1 << 20) {
        store_batch_log(&b, &p);
        if (i % 8) continue;
        MUST(store_commit(s, &b, &why));
        store_batch_reset(&b);
    }
    MUST(store_commit(s, &b, &why));
    store_batch_clear(&b);
    mem_free(mb);
    Seen seen = {0};
    MUST(store_log(s, &(LogQuery){.run = run}, see, NULL, &seen, &why));
    assert_true(seen.bytes <= STORE_LOG_MAX && seen.bytes > STORE_LOG_MAX / 8 * 7 - (8 << 20));
    assert_int_equal(seen.last, ((STORE_LOG_MAX >> 20) + 20) * 16);
    store_close(s);
    if (!strcmp(f->scheme, "memory")) return;
    s = open_store(f, STORE_READ);
    Seen again = {0};
    MUST(store_log(s, &(LogQuery){.run = run}, see, NULL, &again, &why));
    assert_int_equal(again.bytes, seen.bytes);
    store_close(s);
}

static void pruning_takes_the_output_of_what_it_removes(void **state) {
    Store *s = open_store(*state, STORE_CREATE);
    Tree t;
    RunRow row;
    PruneReport report = {0};
    StoreBatch b = STORE_BATCH_INIT;
    tree_init(&t, s, "a");
    for (int64_t i = 1; i <= 10; i++) { /* each prints, then is recorded */
        LogPiece p = piece_of(t.run, "n", "x");
        p.execution = i;
        p.at = 1000 + 10 * i - 5;
        store_batch_log(&b, &p);
        tree_add(&t, &b, t.last, next_image(t.images[t.last], i), 1000 + 10 * i);
        MUST(store_commit(s, &b, &why));
        store_batch_reset(&b);
    }
    row = find_run(s, "a");
    MUST(chain_prune(s, &row, &(PruneRule){.keep_last = 3}, &report, &why));
    expect_log(s, (LogQuery){.run = t.run}, "8 n stdout 0: x\n9 n stdout 0: x\n10 n stdout 0: x\n");
    put(s, piece_of(t.run, "n", "y"));
    expect_log(s, (LogQuery){.run = t.run, .from = 10}, "10 n stdout 0: x\n11 n stdout 0: y\n");
    expect_sound(s);
    run_row_clear(&row);
    tree_clear(&t);
    store_batch_clear(&b);
    store_close(s);
}

/* ---- files ---- */

enum { MANY = 3000 };

static int64_t grow_log(Store *s, const char *thread) {
    int64_t run = make_run(s, thread);
    for (int i = 1; i <= MANY; i++) {
        char node[16], text[64];
        snprintf(node, sizeof node, "n%d", i % 100);
        snprintf(text, sizeof text, "this is what number %d has to say\n", i);
        LogPiece p = piece_of(run, node, text);
        p.execution = i;
        put(s, p);
    }
    return run;
}

static void expect_grown(const Fixture *f, int64_t run, int64_t more) {
    Store *s = open_store(f, STORE_READ);
    Seen seen = {0}, one = {0};
    MUST(store_log(s, &(LogQuery){.run = run}, see, NULL, &seen, &why));
    assert_int_equal(seen.count, MANY + more);
    MUST(store_log(s, &(LogQuery){.run = run, .node = "n7"}, see, NULL, &one, &why));
    assert_int_equal(one.count, MANY / 100);
    buf_clear(&seen.text);
    buf_clear(&one.text);
    expect_sound(s);
    store_close(s);
}

static void a_lost_index_of_a_log_is_made_again(void **state) {
    Fixture *f = *state;
    Store *s = open_store(f, STORE_CREATE);
    int64_t run = grow_log(s, "a");
    store_close(s);
    static const char *const harms[] = {"rm %s/runs/1.lgx", "truncate -s 20000 %s/runs/1.lgx",
                                        "truncate -s 0 %s/runs/1.lgx",
                                        "printf 'xxxxxxxxxxxxxxxx' | dd of=%s/runs/1.lgx bs=1 "
                                        "seek=4000 conv=notrunc status=none",
                                        "rm %s/runs/1.idx"};
    for (int i = 0; i < 5; i++) {
        fixture_shell(harms[i], f->path);
        expect_grown(f, run, i);
        s = open_store(f, STORE_EXISTING); /* who goes on makes it again */
        MUST(store_lease(s, run, &why));
        put(s, piece_of(run, "more", "x"));
        store_close(s);
        expect_grown(f, run, i + 1);
    }
}

static void damage_in_a_log_is_told_and_harms_nothing_else(void **state) {
    Fixture *f = *state;
    Store *s = open_store(f, STORE_CREATE);
    int64_t run = grow_log(s, "a");
    Error err = ERROR_INIT;
    Problems problems = {0};
    Seen seen = {0}, none = {0};
    store_close(s);
    fixture_shell(!strcmp(f->scheme, "file")
                      ? "sed -i 's/number 1500 has/number 1500 hat/' %s/runs/1.run"
                      : "sed -i 's/number 1500 has/number 1500 hat/' %s",
                  f->path);
    s = open_store(f, STORE_READ);
    MUST(store_log(s, &(LogQuery){.run = run}, see, see_damage, &seen, &why));
    assert_int_equal(seen.damaged, 1);
    assert_int_equal(seen.count, MANY - 1);
    assert_false(store_log(s, &(LogQuery){.run = run}, see, NULL, &none, &err));
    expect_error(&err, ERR_DATA, "Piece 1500 of the output of thread `a`");
    check_store(s, 0, &problems);
    assert_int_equal(problems.count, 1);
    buf_clear(&seen.text);
    buf_clear(&none.text);
    store_close(s);
}

static void a_store_without_logs_is_read_and_brought_up_to_date(void **state) {
    Fixture *f = *state;
    Store *s = open_store(f, STORE_CREATE);
    Tree t;
    char path[256];
    tree_init(&t, s, "a");
    tree_grow(&t, 20, 10);
    store_close(s);
    if (!strcmp(f->scheme, "sqlite")) {
        sqlite3 *db = NULL;
        assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
        assert_int_equal(
            sqlite3_exec(db, "DROP TABLE logs; PRAGMA user_version=3", NULL, NULL, NULL),
            SQLITE_OK);
        sqlite3_close(db);
    } else {
        snprintf(path, sizeof path, "%s/format", f->path);
        MUST(file_replace(path, "pawl file store, format 3\n", 26));
    }
    s = open_store(f, STORE_READ);
    expect_log(s, (LogQuery){.run = t.run}, "");
    tree_expect(&t, s, 20);
    expect_sound(s);
    store_close(s);
    s = open_store(f, STORE_EXISTING);
    MUST(store_lease(s, t.run, &why));
    put(s, piece_of(t.run, "n", "x"));
    expect_log(s, (LogQuery){.run = t.run}, "1 n stdout 0: x\n");
    expect_sound(s);
    tree_clear(&t);
    store_close(s);
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(output_comes_back_in_order_with_what_is_known_of_it, ALL),
    BEHAVIOUR(the_numbers_of_a_piece_are_kept, ALL),
    BEHAVIOUR(what_follows_in_a_batch_is_one_piece, ALL),
    BEHAVIOUR(long_output_is_cut_into_pieces_of_whole_characters, ALL),
    BEHAVIOUR(output_of_a_run_that_is_made_in_the_same_batch, ALL),
    BEHAVIOUR(what_is_there_already_is_left_out_when_it_may_be, ALL),
    BEHAVIOUR(a_log_goes_with_its_run, ALL),
    BEHAVIOUR(a_trimmed_log_goes_on_with_its_numbers, ALL),
    BEHAVIOUR(a_log_that_is_too_long_loses_its_beginning, ALL),
    BEHAVIOUR(pruning_takes_the_output_of_what_it_removes, ALL),
    BEHAVIOUR(a_lost_index_of_a_log_is_made_again, FILES),
    BEHAVIOUR(damage_in_a_log_is_told_and_harms_nothing_else, DURABLE),
    BEHAVIOUR(a_store_without_logs_is_read_and_brought_up_to_date, DURABLE),
};

int main(void) {
    return run_behaviours("store_log", behaviours, sizeof behaviours / sizeof *behaviours);
}
