/* What a worker says becomes a message only where it has the shape of one. */
#include "json_test.h"
#include "worker_message.h"

static void what_is_no_message_is_refused_with_a_sentence(void **state) {
    (void)state;
    static const char *const texts[] = {
        "null",
        "7",
        "[]",
        "{}",
        "{\"call\":\"t\"}",
        "{\"call\":1,\"result\":1}",
        "{\"call\":\"t\",\"error\":4702111234474983745}",
        "{\"call\":\"t\",\"error\":null}",
        "{\"call\":\"t\",\"error\":{\"type\":1,\"message\":\"m\"}}",
        "{\"call\":\"t\",\"log\":{}}",
        "{\"call\":\"t\",\"set\":\"other\",\"name\":\"n\",\"value\":1}",
        "{\"call\":\"t\",\"result\":1,\"log\":\"l\"}",
        "{\"spawn\":0}",
        "{\"spawn\":4096}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Error err = ERROR_INIT;
        WorkerMessage m;
        Json message = parse(texts[i]);
        if (worker_message_read(message, &m, &err)) fail_msg("%s", texts[i]);
        assert_int_equal(err.code, ERR_DATA);
        assert_true(err.msg[0]);
        json_unref(message);
    }
}

static void a_message_says_what_it_is(void **state) {
    (void)state;
    static const struct {
        const char *text;
        WorkerSaid said;
        const char *value;
    } rows[] = {
        {"{\"call\":\"t\",\"result\":null}", SAID_RESULT, "null"},
        {"{\"call\":\"t\",\"interrupt\":{\"a\":1}}", SAID_INTERRUPT, "{\"a\":1}"},
        {"{\"call\":\"t\",\"log\":\"l\"}", SAID_LOG, "\"l\""},
        {"{\"spawn\":2}", SAID_UNSTARTED, "2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        WorkerMessage m;
        Json message = parse(rows[i].text);
        assert_true(worker_message_read(message, &m, NULL));
        assert_int_equal(m.said, rows[i].said);
        expect_json(m.value, rows[i].value);
        json_unref(message);
    }
}

static void expect_sentence(const char *text, const char *want) {
    WorkerMessage m;
    Buf out = BUF_INIT;
    Json message = parse(text);
    assert_true(worker_message_read(message, &m, NULL));
    worker_message_sentence(&m, &out);
    assert_string_equal(out.data, want);
    buf_clear(&out);
    json_unref(message);
}

static void an_error_is_never_without_a_sentence(void **state) {
    (void)state;
    expect_sentence("{\"call\":\"t\",\"error\":{\"type\":\"E\",\"message\":\"m\"}}", "E: m");
    expect_sentence("{\"call\":\"t\",\"error\":{\"type\":\"E\",\"message\":\"\"}}", "E");
    expect_sentence("{\"call\":\"t\",\"error\":{\"type\":\"\",\"message\":\"m\"}}", "m");
    expect_sentence("{\"call\":\"t\",\"error\":{\"type\":\"\",\"message\":\"\"}}",
                    "The code raised an exception that has neither a name nor a message.");
    expect_sentence("{\"call\":\"t\",\"error\":{\"type\":\"\\u0000E\",\"message\":\"m\\u0000n\"}}",
                    "m");
}

static void a_long_text_is_cut_at_a_whole_character(void **state) {
    (void)state;
    Buf text = BUF_INIT, out = BUF_INIT;
    buf_addc(&text, 'x');
    while (text.len <= WORKER_TEXT_MAX) buf_adds(&text, "\xE2\x82\xAC");
    Json long_text = json_string(text.data, text.len);
    worker_message_text(long_text, &out);
    assert_true(out.len <= WORKER_TEXT_MAX && out.len > WORKER_TEXT_MAX - 3);
    assert_int_equal((out.len - 1) % 3, 0);
    json_unref(long_text);
    buf_reset(&out);
    worker_message_text(json_none(), &out);
    assert_string_equal(out.data, "");
    buf_clear(&out);
    buf_clear(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(what_is_no_message_is_refused_with_a_sentence),
        JSON_TEST(a_message_says_what_it_is),
        JSON_TEST(an_error_is_never_without_a_sentence),
        JSON_TEST(a_long_text_is_cut_at_a_whole_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
