/* Server-Sent Events as they come, in pieces of any size. */
#include "sse.h"

#include "json_test.h"
#include "mem.h"

#include <string.h>

static bool on_event(void *ctx, const SseMessage *m) {
    buf_printf(ctx, "%s|%s|%.*s;", m->event, m->id, (int)m->len, m->data);
    return strcmp(m->event, "stop") != 0;
}

/* What comes of a text, which is told in pieces of so many bytes. */
static void expect_pieces(const char *text, size_t piece, const char *want) {
    Buf out = BUF_INIT;
    SseReader reader = {.host = {on_event, &out}};
    size_t len = strlen(text);
    for (size_t at = 0; at < len; at += piece) {
        sse_feed(&reader, text + at, len - at < piece ? len - at : piece);
    }
    assert_string_equal(out.data ? out.data : "", want);
    sse_clear(&reader);
    buf_clear(&out);
}

static void expect(const char *text, const char *want) {
    for (size_t piece = 1; piece <= strlen(text); piece++) expect_pieces(text, piece, want);
}

static void a_message_ends_with_an_empty_line(void **state) {
    (void)state;
    expect("event: a\nid: 7\ndata: {}\n\ndata: x\n\n", "a|7|{};message|7|x;");
    expect("data: a\ndata:b\ndata\n\n", "message||a\nb\n;");
    expect("data: cut off", "");
    expect("data: cut off\n", "");
    expect(":\n\n: a comment\ndata: x\n\n", "message||x;");
}

static void lines_end_in_any_way(void **state) {
    (void)state;
    expect("data: a\r\n\r\ndata: b\r\rdata: c\n\n", "message||a;message||b;message||c;");
    expect("\xef\xbb\xbf"
           "data: x\n\n",
           "message||x;");
}

static void an_id_counts_from_its_message_on(void **state) {
    (void)state;
    expect("id: 1\n\ndata: a\n\nid\ndata: b\n\n", "message|1|a;message||b;");
    expect("retry: 5\nnonsense\nevent: e\n\ndata: a\n\n", "message||a;");
}

static void who_has_had_enough_is_told_no_more(void **state) {
    (void)state;
    expect("event: stop\ndata: a\n\ndata: b\n\n", "stop||a;");
}

static void a_message_has_a_limit(void **state) {
    Buf out = BUF_INIT;
    SseReader reader = {.host = {on_event, &out}, .max = 16};
    (void)state;
    assert_true(sse_feed(&reader, "data: 0123456\n\n", 15));
    assert_true(sse_feed(&reader, "data: 0123456789", 16));
    assert_false(sse_feed(&reader, "x", 1));
    assert_false(sse_feed(&reader, "\n\n", 2));
    assert_string_equal(out.data, "message||0123456;");
    sse_clear(&reader);
    assert_true(sse_feed(&reader, "data: 1\ndata: 2\ndata: 3\n", 24));
    assert_true(sse_feed(&reader, "data: 45\n", 9));
    assert_false(sse_feed(&reader, "data: 6789012\n", 14));
    sse_clear(&reader);
    buf_clear(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_ends_with_an_empty_line),
        cmocka_unit_test(lines_end_in_any_way),
        cmocka_unit_test(an_id_counts_from_its_message_on),
        cmocka_unit_test(who_has_had_enough_is_told_no_more),
        cmocka_unit_test(a_message_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
