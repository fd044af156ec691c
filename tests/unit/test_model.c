/* The two wire formats: what is said to a model, and what is made of what it says. */
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- asking ---- */

static void expect_question(ModelQuestion question, const char *want) {
    Buf body = BUF_INIT;
    model_question(&question, &body);
    assert_string_equal(body.data, want);
    buf_clear(&body);
    json_unref(question.model);
    json_unref(question.prompt);
    json_unref(question.system);
}

static void messages_keep_the_system_apart(void **state) {
    (void)state;
    expect_question((ModelQuestion){.format = MODEL_MESSAGES,
                                    .model = json_string_c("m"),
                                    .prompt = json_string_c("say \"hi\"\n"),
                                    .system = json_string_c("be brief"),
                                    .max_tokens = 10,
                                    .stream = true},
                    "{\"model\":\"m\",\"max_tokens\":10,\"system\":\"be brief\",\"messages\":"
                    "[{\"role\":\"user\",\"content\":\"say \\\"hi\\\"\\n\"}],\"stream\":true}");
    expect_question((ModelQuestion){.format = MODEL_MESSAGES,
                                    .model = json_string_c("m"),
                                    .prompt = json_string_c("p"),
                                    .max_tokens = 1},
                    "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\","
                    "\"content\":\"p\"}],\"stream\":false}");
}

static void chat_has_the_system_as_its_first_message(void **state) {
    (void)state;
    expect_question((ModelQuestion){.format = MODEL_CHAT,
                                    .model = json_string_c("m"),
                                    .prompt = json_string_c("p"),
                                    .system = json_string_c("s"),
                                    .max_tokens = 10},
                    "{\"model\":\"m\",\"max_tokens\":10,\"messages\":[{\"role\":\"system\","
                    "\"content\":\"s\"},{\"role\":\"user\",\"content\":\"p\"}],\"stream\":false}");
}

/* ---- answers ---- */

static Buf told; /* what on_text was given, parted by bars */

static void on_text(void *ctx, const char *text, size_t len) {
    (void)ctx;
    buf_add(&told, text, len);
    buf_addc(&told, '|');
}

static void add(Buf *out, const char *name, Json value) {
    buf_printf(out, " %s=", name);
    if (json_is_none(value)) {
        buf_addc(out, '-');
    } else {
        json_print(value, NULL, out);
    }
}

/* "end text=... stop=... model=... usage=... sentence" */
static char *read_in_pieces(ModelFormat format, const char *body, size_t len, size_t piece) {
    Buf out = BUF_INIT;
    ModelReader *reader = model_reader_new(format, on_text, NULL);
    buf_reset(&told);
    for (size_t at = 0; at < len; at += piece) {
        if (!model_read(reader, body + at, len - at < piece ? len - at : piece)) break;
    }
    const ModelAnswer *answer = model_reader_end(reader);
    buf_printf(&out, "%s", model_end_name(answer->end));
    add(&out, "text", answer->text);
    add(&out, "stop", answer->stop);
    add(&out, "model", answer->model);
    add(&out, "usage", answer->usage);
    buf_printf(&out, " %s", answer->error);
    model_reader_free(reader);
    return buf_detach(&out);
}

static void expect(ModelFormat format, const char *body, const char *want) {
    size_t pieces[] = {strlen(body) + 1, 1, 3, 64};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        char *got = read_in_pieces(format, body, strlen(body), pieces[i]);
        assert_string_equal(got, want);
        mem_free(got);
    }
}

#define MESSAGES_STREAM                                                                          \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m-1\","    \
    "\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n"                                   \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"           \
    "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"                                   \
    "event: ping\ndata: {\"type\": \"ping\"}\n\n"                                                \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":" \
    "{\"type\":\"text_delta\",\"text\":\"Hel\"}}\n\n"                                            \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":" \
    "{\"type\":\"text_delta\",\"text\":\"lo \xC3\xA4\"}}\n\n"
#define MESSAGES_STOP(reason)                                                                      \
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason \
    "\"},\"usage\":{\"output_tokens\":5}}\n\n"                                                     \
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
#define MESSAGES_USAGE "usage={\"input_tokens\":7,\"output_tokens\":5}"

static void messages_stream(void **state) {
    (void)state;
    expect(MODEL_MESSAGES, MESSAGES_STREAM MESSAGES_STOP("end_turn"),
           "answered text=\"Hello \xC3\xA4\" stop=\"end_turn\" model=\"m-1\" " MESSAGES_USAGE " ");
    assert_string_equal(told.data, "Hel|lo \xC3\xA4|");
}

static void what_follows_the_end_of_a_stream_is_not_read(void **state) {
    (void)state;
    expect(MODEL_MESSAGES, MESSAGES_STREAM MESSAGES_STOP("end_turn") "data: rubbish\n\n",
           "answered text=\"Hello \xC3\xA4\" stop=\"end_turn\" model=\"m-1\" " MESSAGES_USAGE " ");
}

static void thinking_is_not_part_of_the_answer(void **state) {
    (void)state;
    expect(MODEL_MESSAGES,
           "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\","
           "\"thinking\":\"hm\",\"text\":\"hm\"}}\n\n"
           "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":"
           "\"yes\"}}\n\n"
           "data: {\"type\":\"message_stop\"}\n\n",
           "answered text=\"yes\" stop=- model=- usage=- ");
    expect(MODEL_MESSAGES,
           "{\"content\":[{\"type\":\"thinking\",\"text\":\"hm\"},{\"type\":\"text\",\"text\":"
           "\"yes\"},{\"type\":\"text\",\"text\":\" sir\"}]}",
           "answered text=\"yes sir\" stop=- model=- usage=- ");
}

static void messages_document(void **state) {
    (void)state;
    expect(
        MODEL_MESSAGES,
        " {\"type\":\"message\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}],"
        "\"stop_reason\":\"end_turn\",\"usage\":{\"output_tokens\":1}}\n",
        "answered text=\"x\" stop=\"end_turn\" model=\"m\" usage={\"output_tokens\":1} ");
    assert_string_equal(told.data, "x|");
}

#define CHAT_STREAM                                                                               \
    "data: {\"model\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\","         \
    "\"content\":\"\"},\"finish_reason\":null}]}\r\n\r\n"                                         \
    "data: {\"model\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\r\n\r\n" \
    ": a comment\r\n\r\n"                                                                         \
    "data: {\"model\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"}}]}\r\n\r\n"
#define CHAT_STOP(reason) \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" reason "\"}]}\r\n\r\n"

static void chat_stream(void **state) {
    (void)state;
    expect(MODEL_CHAT,
           CHAT_STREAM CHAT_STOP("stop") "data: {\"choices\":[],\"usage\":{\"total_tokens\":9}}\r\n"
                                         "\r\ndata: [DONE]\r\n\r\n",
           "answered text=\"Hello\" stop=\"stop\" model=\"c\" usage={\"total_tokens\":9} ");
    assert_string_equal(told.data, "Hel|lo|");
}

static void chat_stream_without_done_ends_with_its_reason(void **state) {
    (void)state;
    expect(MODEL_CHAT, CHAT_STREAM CHAT_STOP("stop"),
           "answered text=\"Hello\" stop=\"stop\" model=\"c\" usage=- ");
}

static void chat_document(void **state) {
    (void)state;
    expect(MODEL_CHAT,
           "{\"model\":\"c\",\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"x\"},"
           "\"finish_reason\":\"stop\"}],\"usage\":{\"total_tokens\":3}}",
           "answered text=\"x\" stop=\"stop\" model=\"c\" usage={\"total_tokens\":3} ");
}

static void lines_may_end_in_any_way(void **state) {
    (void)state;
    expect(MODEL_CHAT,
           "\xEF\xBB\xBF"
           "data:{\"choices\":[{\"delta\":\r"
           "data:{\"content\":\"x\"}}]}\r\rdata: [DONE]\n\n",
           "answered text=\"x\" stop=- model=- usage=- ");
}

/* ---- what is no answer ---- */

static void refusals(void **state) {
    (void)state;
    expect(MODEL_MESSAGES, MESSAGES_STREAM MESSAGES_STOP("refusal"),
           "refusal text=\"Hello \xC3\xA4\" stop=\"refusal\" model=\"m-1\" " MESSAGES_USAGE
           " The model refused to answer: Hello \xC3\xA4");
    expect(
        MODEL_CHAT, CHAT_STOP("content_filter") "data: [DONE]\n\n",
        "refusal text=\"\" stop=\"content_filter\" model=- usage=- The model refused to answer.");
    expect(
        MODEL_CHAT,
        "{\"choices\":[{\"message\":{\"content\":null,\"refusal\":\"I will not.\"},"
        "\"finish_reason\":\"stop\"}]}",
        "refusal text=\"I will not.\" stop=\"stop\" model=- usage=- The model refused to answer: "
        "I will not.");
}

static void truncated_answers(void **state) {
    (void)state;
    expect(MODEL_MESSAGES, MESSAGES_STREAM MESSAGES_STOP("max_tokens"),
           "truncated text=\"Hello \xC3\xA4\" stop=\"max_tokens\" model=\"m-1\" " MESSAGES_USAGE
           " The model's answer was cut off (max_tokens). Raise max_tokens, or ask for less.");
    expect(
        MODEL_CHAT, CHAT_STREAM CHAT_STOP("length"),
        "truncated text=\"Hello\" stop=\"length\" model=\"c\" usage=- The model's answer was cut "
        "off (length). Raise max_tokens, or ask for less.");
}

static void empty_answers(void **state) {
    (void)state;
    expect(MODEL_MESSAGES, "",
           "empty text=\"\" stop=- model=- usage=- The model's API answered "
           "with nothing at all.");
    expect(MODEL_MESSAGES, "{\"content\":[{\"type\":\"text\",\"text\":\" \\n\"}]}",
           "empty text=\" \\n\" stop=- model=- usage=- The model gave an empty answer.");
    expect(MODEL_CHAT, "data: [DONE]\n\n",
           "empty text=\"\" stop=- model=- usage=- The model gave an empty answer.");
}

static void streams_that_break_off(void **state) {
    (void)state;
    const char *want =
        "broken text=\"Hello \xC3\xA4\" stop=- model=\"m-1\" usage={\"input_tokens\":7,"
        "\"output_tokens\":1} The model's answer broke off in the middle, after 8 "
        "bytes of text.";
    expect(MODEL_MESSAGES, MESSAGES_STREAM, want);
    expect(MODEL_MESSAGES, MESSAGES_STREAM "data: {\"type\":\"content_bl", want);
    expect(MODEL_CHAT, CHAT_STREAM,
           "broken text=\"Hello\" stop=- model=\"c\" usage=- The model's answer broke off in the "
           "middle, after 5 bytes of text.");
}

static void what_is_not_in_the_format(void **state) {
    (void)state;
    expect(MODEL_MESSAGES, "data: {oops\n\n",
           "broken text=\"\" stop=- model=- usage=- An event of the model's answer is not a JSON "
           "object: Invalid numeric literal at EOF at line 1, column 5");
    expect(MODEL_MESSAGES, "data: 7\n\n",
           "broken text=\"\" stop=- model=- usage=- An event of the model's answer is not a JSON "
           "object.");
    expect(
        MODEL_MESSAGES, "{\"content\":",
        "broken text=\"\" stop=- model=- usage=- The model's answer is not JSON: Unfinished JSON "
        "term at EOF at line 1, column 11");
    expect(MODEL_MESSAGES, "{\"choices\":[]}",
           "broken text=\"\" stop=- model=- usage=- The model's answer is not in the format asked "
           "for.");
    expect(
        MODEL_CHAT, "<html>\n\nno\n\n",
        "broken text=\"\" stop=- model=- usage=- The model's API answered with neither events nor "
        "JSON. Is `endpoint` the whole URL?");
}

static void errors_in_the_middle_of_a_stream(void **state) {
    (void)state;
    static const char *const kinds[][2] = {
        {"overloaded_error", "overloaded"},
        {"rate_limit_error", "rate_limit"},
        {"api_error", "server"},
        {"timeout_error", "timeout"},
        {"invalid_request_error", "request"},
        {"authentication_error", "key"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        Buf body = BUF_INIT, want = BUF_INIT;
        buf_printf(&body,
                   "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":"
                   "\"too\\nbad\"}}\n\n",
                   kinds[i][0]);
        buf_printf(&want,
                   "%s text=\"\" stop=- model=- usage=- The model's API gave up in the middle: too "
                   "bad",
                   kinds[i][1]);
        expect(MODEL_MESSAGES, body.data, want.data);
        buf_clear(&body);
        buf_clear(&want);
    }
    expect(MODEL_CHAT, CHAT_STREAM "data: {\"error\":{\"code\":\"rate_limit_exceeded\"}}\n\n",
           "rate_limit text=\"Hello\" stop=- model=\"c\" usage=- The model's API gave up in the "
           "middle: it does not say why.");
    expect(MODEL_CHAT, "{\"error\":\"out of order\"}",
           "server text=\"\" stop=- model=- usage=- The model's API gave up in the middle: out of "
           "order");
}

/* ---- limits ---- */

static ModelEnd feed_much(ModelFormat format, const char *first, const char *more, size_t times) {
    ModelReader *reader = model_reader_new(format, NULL, NULL);
    bool wanted = model_read(reader, first, strlen(first));
    for (size_t i = 0; i < times && wanted; i++) {
        wanted = model_read(reader, more, strlen(more));
    }
    assert_false(wanted);
    ModelEnd end = model_reader_end(reader)->end;
    model_reader_free(reader);
    return end;
}

static void everything_is_bounded(void **state) {
    (void)state;
    char *much = mem_alloc((1 << 16) + 1);
    memset(much, 'x', 1 << 16);
    much[1 << 16] = '\0';
    assert_int_equal(feed_much(MODEL_CHAT, "data: \"", much, 1000), MODEL_TOO_LONG);
    assert_int_equal(feed_much(MODEL_CHAT, ": ", much, 1000), MODEL_TOO_LONG);
    assert_int_equal(feed_much(MODEL_CHAT, "{\"", much, 1000), MODEL_TOO_LONG);
    Buf event = BUF_INIT;
    buf_printf(&event, "data: {\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}\n\n", much);
    assert_int_equal(feed_much(MODEL_CHAT, "\n", event.data, 1000), MODEL_TOO_LONG);
    buf_reset(&event);
    buf_printf(&event, "data: %.1000s\n", much);
    assert_int_equal(feed_much(MODEL_CHAT, "\n", event.data, 100000), MODEL_TOO_LONG);
    buf_clear(&event);
    memset(much, '[', 1 << 16);
    Buf deep = BUF_INIT;
    buf_printf(&deep, "{\"a\":%s", much);
    char *got = read_in_pieces(MODEL_CHAT, deep.data, deep.len, deep.len);
    assert_non_null(strstr(got, "broken text=\"\""));
    mem_free(got);
    buf_clear(&deep);
    mem_free(much);
}

/* ---- statuses ---- */

static void expect_status(int status, const char *body, const char *kind, bool passes,
                          const char *want) {
    char sentence[512];
    ModelEnd end = model_error(status, body, strlen(body), sentence, sizeof sentence);
    assert_string_equal(model_end_name(end), kind);
    assert_int_equal(model_end_passes(end), passes);
    assert_string_equal(sentence, want);
}

static void statuses(void **state) {
    (void)state;
    expect_status(429,
                  "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":"
                  "\"Slow down.\"}}",
                  "rate_limit", true, "The model's API answered with status 429: Slow down.");
    expect_status(529, "", "overloaded", true, "The model's API answered with status 529.");
    expect_status(503, "<html>", "overloaded", true, "The model's API answered with status 503.");
    expect_status(500, "{\"error\":\"boom\"}", "server", true,
                  "The model's API answered with status 500: boom");
    expect_status(502, "{\"error\":{\"message\":7}}", "server", true,
                  "The model's API answered with status 502.");
    expect_status(408, "[]", "timeout", true, "The model's API answered with status 408.");
    expect_status(400, "{\"message\":\"no\"}", "request", false,
                  "The model's API answered with status 400: no");
    expect_status(404, "{\"detail\":\"Not Found\"}", "request", false,
                  "The model's API answered with status 404: Not Found");
    expect_status(401, "{}", "key", false, "The model's API answered with status 401.");
    expect_status(403, "{}", "key", false, "The model's API answered with status 403.");
    expect_status(301, "", "request", false, "The model's API answered with status 301.");
}

static int forget(void **state) {
    (void)state;
    buf_clear(&told);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_keep_the_system_apart),
        cmocka_unit_test(chat_has_the_system_as_its_first_message),
        cmocka_unit_test(messages_stream),
        cmocka_unit_test(what_follows_the_end_of_a_stream_is_not_read),
        cmocka_unit_test(thinking_is_not_part_of_the_answer),
        cmocka_unit_test(messages_document),
        cmocka_unit_test(chat_stream),
        cmocka_unit_test(chat_stream_without_done_ends_with_its_reason),
        cmocka_unit_test(chat_document),
        cmocka_unit_test(lines_may_end_in_any_way),
        cmocka_unit_test(refusals),
        cmocka_unit_test(truncated_answers),
        cmocka_unit_test(empty_answers),
        cmocka_unit_test(streams_that_break_off),
        cmocka_unit_test(what_is_not_in_the_format),
        cmocka_unit_test(errors_in_the_middle_of_a_stream),
        cmocka_unit_test(everything_is_bounded),
        cmocka_unit_test(statuses),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, forget);
}
