/* Lines: JSON over streams. Two ends of one socket on one loop, or one end and bytes by hand. */
#define _GNU_SOURCE
#include "json_test.h"
#include "lines.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct End {
    Lines *lines;
    Buf values;  /* each as a line */
    Buf rubbish; /* sentences */
    int closed;
    Error why;
    int finish_at; /* the value after which it finishes; 0: never */
    int n;
    bool echo;
} End;

static uv_loop_t loop;
static End left, right;
static int by_hand; /* the descriptor of the other end, when there is no `right` */

static void on_value(void *ctx, Json value) {
    End *e = ctx;
    json_print(value, NULL, &e->values);
    buf_addc(&e->values, '\n');
    if (e->echo) assert_true(lines_send(e->lines, value, NULL));
    json_unref(value);
    if (++e->n == e->finish_at) lines_finish(e->lines);
}

static void on_rubbish(void *ctx, const Error *err) {
    End *e = ctx;
    buf_printf(&e->rubbish, "%s\n", err->msg);
}

static void on_closed(void *ctx, const Error *err) {
    End *e = ctx;
    e->closed++;
    e->why = *err;
    e->lines = NULL;
}

static void open_end(End *e, int fd) {
    LinesHost end = {.value = on_value, .rubbish = on_rubbish, .closed = on_closed, .ctx = e};
    uv_pipe_t *pipe = mem_zalloc(sizeof *pipe);
    assert_int_equal(uv_pipe_init(&loop, pipe, 0), 0);
    assert_int_equal(uv_pipe_open(pipe, fd), 0);
    e->lines = lines_new((uv_stream_t *)pipe, &end);
}

static int setup(void **state) {
    int fds[2];
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    alarm(120);
    left = right = (End){0};
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    open_end(&left, fds[0]);
    by_hand = fds[1];
    return 0;
}

static void clear_end(End *e) {
    lines_close(e->lines);
    buf_clear(&e->values);
    buf_clear(&e->rubbish);
}

static int teardown(void **state) {
    (void)state;
    clear_end(&left);
    clear_end(&right);
    if (by_hand >= 0) close(by_hand);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    return json_heap_bytes() == 0 ? 0 : -1;
}

static void open_right(void) {
    open_end(&right, by_hand);
    by_hand = -1;
}

static void turn(void) {
    for (int i = 0; i < 20; i++) uv_run(&loop, UV_RUN_NOWAIT);
}

static void put(const char *text) {
    assert_int_equal(write(by_hand, text, strlen(text)), (ssize_t)strlen(text));
    turn();
}

static const char *seen(const Buf *b) {
    return b->data ? b->data : "";
}

static int count_lines(const Buf *b) {
    int n = 0;
    for (size_t i = 0; i < b->len; i++) n += b->data[i] == '\n';
    return n;
}

static void send_text(End *e, const char *text) {
    Json value = parse(text);
    assert_true(lines_send(e->lines, value, NULL));
    json_unref(value);
}

/* ---- reading ---- */

static void values_come_a_line_each_however_they_are_cut(void **state) {
    (void)state;
    put("{\"a\"");
    put(":1}");
    assert_string_equal(seen(&left.values), "");
    put("\n[2]\r\n\n  \n\"x\"\ntr");
    assert_string_equal(seen(&left.values), "{\"a\":1}\n[2]\n\"x\"\n");
    put("ue\n");
    assert_string_equal(seen(&left.values), "{\"a\":1}\n[2]\n\"x\"\ntrue\n");
    assert_string_equal(seen(&left.rubbish), "");
}

static void what_is_no_json_is_told_and_passed_over(void **state) {
    (void)state;
    put("{oh\n1\n1 2\n3\n");
    assert_string_equal(seen(&left.values), "1\n3\n");
    assert_int_equal(left.closed, 0);
    expect_contains(seen(&left.rubbish), "A line is not JSON: ");
    assert_int_equal(count_lines(&left.rubbish), 2);
}

static void a_zero_byte_is_no_json(void **state) {
    (void)state;
    assert_int_equal(write(by_hand, "1\0\n2\n", 5), 5);
    turn();
    assert_string_equal(seen(&left.values), "2\n");
    expect_contains(seen(&left.rubbish), "not JSON");
}

/* The reader alone, with a small limit. */
static void a_long_line_is_told_once_and_not_kept(void **state) {
    (void)state;
    LineReader r = {.max = 10};
    LinesHost h = {.value = on_value, .rubbish = on_rubbish, .ctx = &left};
    for (int i = 0; i < 100; i++) {
        line_reader_feed(&r, "[1,2,3,4,", 9, &h);
        assert_true(r.bytes.len <= 20);
    }
    line_reader_feed(&r, "\n\"ten bytes\"\n", 13, &h);
    line_reader_feed(&r, "12345678901\n1234567890\n7", 24, &h);
    line_reader_feed(&r, "\n", 1, &h);
    assert_string_equal(seen(&left.values), "1234567890\n7\n");
    assert_string_equal(seen(&left.rubbish),
                        "A line is longer than the 10 bytes that one may have.\n"
                        "A line is longer than the 10 bytes that one may have.\n"
                        "A line is longer than the 10 bytes that one may have.\n");
    line_reader_clear(&r);
}

static void the_end_of_the_other_side_is_told(void **state) {
    (void)state;
    put("1\n2");
    close(by_hand);
    by_hand = -1;
    turn();
    assert_int_equal(left.closed, 1);
    assert_int_equal(left.why.code, ERR_NONE);
    assert_string_equal(seen(&left.values), "1\n");
}

/* ---- writing ---- */

static void both_sides_speak(void **state) {
    (void)state;
    open_right();
    right.echo = true;
    send_text(&left, "{\"a\":[1,2]}");
    send_text(&left, "\"two\\nlines\"");
    turn();
    assert_string_equal(seen(&right.values), "{\"a\":[1,2]}\n\"two\\nlines\"\n");
    assert_string_equal(seen(&left.values), seen(&right.values));
}

static Json text_of(size_t len) {
    char *text = mem_alloc(len);
    memset(text, 'x', len);
    Json value = json_string_valid(text, len);
    mem_free(text);
    return value;
}

static void large_values_arrive_whole(void **state) {
    (void)state;
    Json value = text_of(5 << 20);
    open_right();
    assert_true(lines_send(left.lines, value, NULL));
    while (!right.n) uv_run(&loop, UV_RUN_ONCE);
    assert_int_equal(right.values.len, (5 << 20) + 3);
    json_unref(value);
}

static void what_is_longer_than_a_line_is_not_sent(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    Json value = text_of(LINES_MAX);
    open_right();
    assert_false(lines_send(left.lines, value, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_true(lines_is_open(left.lines));
    send_text(&left, "1");
    turn();
    assert_string_equal(seen(&right.values), "1\n");
    json_unref(value);
}

static void one_that_does_not_read_is_dropped(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    Json value = text_of(10 << 20);
    int sent = 0;
    while (lines_send(left.lines, value, &err)) sent++;
    assert_true(sent >= 6 && sent <= 8);
    assert_int_equal(err.code, ERR_LIMIT);
    assert_false(lines_is_open(left.lines));
    assert_int_equal(left.closed, 0); /* never from inside a call */
    assert_false(lines_send(left.lines, value, &err));
    turn();
    assert_int_equal(left.closed, 1);
    expect_contains(left.why.msg, "does not read");
    json_unref(value);
}

static void a_broken_connection_is_told(void **state) {
    (void)state;
    int buffer = 1 << 22;
    setsockopt(by_hand, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    close(by_hand);
    by_hand = -1;
    send_text(&left, "1");
    turn();
    assert_int_equal(left.closed, 1);
}

/* ---- ending ---- */

static void finishing_writes_what_is_left(void **state) {
    (void)state;
    Json value = text_of(3 << 20);
    open_right();
    assert_true(lines_send(left.lines, value, NULL));
    lines_leave(left.lines);
    left.lines = NULL;
    while (!right.closed) uv_run(&loop, UV_RUN_ONCE);
    assert_int_equal(right.values.len, (3 << 20) + 3);
    assert_int_equal(left.closed, 0);
    json_unref(value);
}

static void finishing_from_inside_stops_reading_and_is_told(void **state) {
    (void)state;
    left.finish_at = 2;
    left.echo = true;
    put("1\n2\n3\n");
    assert_string_equal(seen(&left.values), "1\n2\n");
    assert_int_equal(left.closed, 1);
    char got[16] = "";
    assert_int_equal(read(by_hand, got, sizeof got), 4);
    assert_string_equal(got, "1\n2\n");
}

static void finishing_does_not_wait_for_ever(void **state) {
    (void)state;
    Json value = text_of(3 << 20);
    assert_true(lines_send(left.lines, value, NULL));
    uint64_t begun = uv_hrtime();
    lines_finish(left.lines);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(left.closed, 1);
    assert_true(uv_hrtime() - begun < 10ull * LINES_FINISH_MS * 1000000);
    json_unref(value);
}

#define LINES_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        LINES_TEST(values_come_a_line_each_however_they_are_cut),
        LINES_TEST(what_is_no_json_is_told_and_passed_over),
        LINES_TEST(a_zero_byte_is_no_json),
        LINES_TEST(a_long_line_is_told_once_and_not_kept),
        LINES_TEST(the_end_of_the_other_side_is_told),
        LINES_TEST(both_sides_speak),
        LINES_TEST(large_values_arrive_whole),
        LINES_TEST(what_is_longer_than_a_line_is_not_sent),
        LINES_TEST(one_that_does_not_read_is_dropped),
        LINES_TEST(a_broken_connection_is_told),
        LINES_TEST(finishing_writes_what_is_left),
        LINES_TEST(finishing_from_inside_stops_reading_and_is_told),
        LINES_TEST(finishing_does_not_wait_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
