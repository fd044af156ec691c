/* The work of an action node, without an engine (step_fake.h). The model is a command, or a server on
 * the same loop that gives the answers it was told. */
#include "step_fake.h"

#include <sys/stat.h>

/* ---- steps ---- */

static void set_word(Step *step, int index, const char *text) {
    fake_set(step, index, json_string_c(text));
}

static void step_init(Step *step, const char *prompt, const char *state) {
    static const char *const more[] = {"prompt", "response"};
    fake_init(step, KIND_ACTION, state);
    step->more = more;
    step->drops_data = true;
    fake_set_expr(step, ACTION_PROMPT, prompt);
    set_word(step, ACTION_FORMAT, "messages");
    step->params[ACTION_MAX_TOKENS].number = 100;
    step->params[ACTION_ATTEMPTS].number = 3;
    step->params[ACTION_BACKOFF].number = 1;
    step->params[ACTION_REQUEST_TIMEOUT].number = 20000;
    step->params[ACTION_STREAM].number = 1;
}

static void step_with_command(Step *step, const char *command) {
    step_init(step, "\"Say \\(.what)\"", "{\"what\":\"hi\"}");
    set_word(step, ACTION_COMMAND, command);
}

/* A person answers what was asked. */
static void answer(Step *step, const char *json) {
    fake_answer(step, parse(json));
}

static bool there(const char *path) {
    struct stat st;
    return stat(path, &st) == 0;
}

/* ---- both passes, and a person between them ---- */

static void instructions_are_made_before_anything_else(void **state) {
    (void)state;
    Step step;
    step_init(&step, "\"Say \\(.what)\"", "{\"what\":\"hi\"}");
    fake_prepare(&step);
    expect_json(step.memo, "{\"prompt\":\"Say hi\"}");
    fake_set_expr(&step, ACTION_SYSTEM, "\"Be \\(.what).\"");
    fake_prepare(&step);
    expect_json(step.memo, "{\"prompt\":\"Say hi\",\"system\":\"Be hi.\"}");
    step.exprs[ACTION_SYSTEM].text = "error(\"no\")";
    Error err = ERROR_INIT;
    assert_true(json_is_none(fake_work(&step)->prepare(&step, &err)));
    assert_string_equal(err.msg, "system: no");
    fake_clear(&step);
}

static void a_person_answers_in_interactive_mode(void **state) {
    (void)state;
    Step step;
    step_with_command(&step, "echo never > ran");
    step.interactive = true;
    fake_run(&step);
    assert_string_equal(step.result, "ask: \"Say hi\"");
    answer(&step, "\"hello\"");
    assert_string_equal(step.result, "{\"response\":\"hello\"}");
    assert_false(there(step.place));
    fake_clear(&step);
}

static void the_mode_of_the_node_comes_before_that_of_the_run(void **state) {
    (void)state;
    Step step;
    step_with_command(&step, "echo hello");
    set_word(&step, ACTION_MODE, "interactive");
    fake_run(&step);
    assert_string_equal(step.result, "ask: \"Say hi\"");
    fake_clear(&step);
    step_with_command(&step, "echo hello");
    set_word(&step, ACTION_MODE, "autonomous");
    step.interactive = true;
    fake_run(&step);
    assert_string_equal(step.result, "{\"response\":\"hello\"}");
    fake_clear(&step);
}

static void an_answer_is_the_response_or_has_it(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"\"text\"", "{\"response\":\"text\"}"},
        {"{\"response\":\"text\",\"by\":\"me\"}", "{\"response\":\"text\"}"},
        {"{\"response\":{\"a\":1}}", "{\"response\":{\"a\":1}}"},
        {"{\"a\":1}", "{\"response\":{\"a\":1}}"},
        {"[7]", "{\"response\":[7]}"},
        {"null", "{\"response\":null}"},
        {"\"retry\"", "{\"response\":\"retry\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Step step;
        step_init(&step, "\"?\"", "{}");
        step.interactive = true;
        fake_run(&step);
        answer(&step, cases[i][0]);
        assert_string_equal(step.result, cases[i][1]);
        fake_clear(&step);
    }
}

static void confirm_sees_state_prompt_and_response(void **state) {
    (void)state;
    Step step;
    step_init(&step, "\"?\"", "{\"n\":1}");
    fake_set_expr(&step, ACTION_CONFIRM,
                  "{n: (.n + 1), asked: $prompt, got: ($response | ascii_upcase)}");
    step.interactive = true;
    fake_run(&step);
    answer(&step, "\"yes\"");
    assert_string_equal(step.result, "{\"n\":2,\"asked\":\"?\",\"got\":\"YES\"}");
    fake_clear(&step);
}

static void an_error_in_confirm_asks_nobody_again(void **state) {
    (void)state;
    Step step;
    step_with_command(&step, "echo asked >> asked; echo rubbish");
    fake_set_expr(&step, ACTION_CONFIRM,
                  "$response | if . == \"rubbish\" then error(\"bad\") else . end");
    fake_run(&step);
    assert_string_equal(step.result, "jq: confirm: bad");
    answer(&step, "\"by hand\"");
    assert_string_equal(step.result, "\"by hand\"");
    fake_clear(&step);
    char path[128];
    snprintf(path, sizeof path, "%s/asked", fake.root);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 6);
    unlink(path);
}

static void without_a_model_it_says_the_ways_out(void **state) {
    (void)state;
    Step step;
    step_init(&step, "\"?\"", "{}");
    fake_run(&step);
    assert_string_equal(
        step.result,
        "action: There is no model to ask. Give the node a `command`, or a `model` and its "
        "`endpoint`; or run it in interactive mode, so that a person answers.");
    fake_clear(&step);
    step_with_command(&step, "true");
    fake_set_expr(&step, ACTION_MODEL, "\"m\"");
    fake_run(&step);
    expect_contains(step.result, "action: The node has a command and a model of an API.");
    fake_clear(&step);
    step_init(&step, "\"?\"", "{}");
    fake_set_expr(&step, ACTION_MODEL, "\"m\"");
    fake_run(&step);
    assert_string_equal(step.result, "action: The node has a `model`, but no `endpoint`. Both are "
                                     "needed to ask an API.");
    fake_clear(&step);
}

/* ---- a command ---- */

static void expect_command(const char *command, const char *want) {
    Step step;
    step_with_command(&step, command);
    fake_run(&step);
    assert_string_equal(step.result, want);
    fake_clear(&step);
}

static void a_command_reads_the_prompt_and_prints_the_answer(void **state) {
    (void)state;
    expect_command("tr a-z A-Z; echo; echo", "{\"response\":\"SAY HI\"}");
    expect_command("printf 'a\\n\\nb\\r\\n'", "{\"response\":\"a\\n\\nb\"}");
}

static void a_command_gets_the_system_first_and_its_variables(void **state) {
    (void)state;
    Step step;
    step_with_command(&step, "cat; echo \" $LIST $PAWL_TEST_OURS\"");
    setenv("PAWL_TEST_OURS", "ours", 1);
    fake_set_expr(&step, ACTION_SYSTEM, "\"Be brief.\"");
    fake_add_field(&step, ACTION_ENV, "LIST", "[.what]");
    fake_run(&step);
    assert_string_equal(step.result, "{\"response\":\"Be brief.\\n\\nSay hi [\\\"hi\\\"] ours\"}");
    fake_clear(&step);
    step_with_command(&step, "true");
    fake_add_field(&step, ACTION_ENV, "A=B", "1");
    fake_run(&step);
    expect_contains(step.result, "action: env has a variable named \"A=B\"");
    fake_clear(&step);
    step_with_command(&step, "true");
    fake_add_field(&step, ACTION_ENV, "A", "error(\"oh\")");
    fake_run(&step);
    assert_string_equal(step.result, "action: env.A: oh");
    fake_clear(&step);
}

static void what_a_command_prints_goes_to_the_log(void **state) {
    (void)state;
    Step step;
    step_with_command(&step, "echo thinking >&2; printf 'a\\303'; sleep 0.1; printf '\\244b'");
    fake_run(&step);
    assert_string_equal(step.result, "{\"response\":\"a\303\244b\"}");
    expect_contains(step.log.data, "stdout|\303\244b");
    expect_contains(step.log.data, "stderr|thinking\n");
    fake_clear(&step);
}

static void a_command_that_fails_is_run_again(void **state) {
    (void)state;
    Step step;
    step_with_command(&step,
                      "echo x >> tries; [ $(wc -l < tries) = 3 ] && echo done && rm tries || "
                      "{ echo busy >&2; exit 7; }");
    fake_run(&step);
    assert_string_equal(step.result, "{\"response\":\"done\"}");
    expect_contains(step.log.data,
                    "log|Attempt 1 of 3: The model's command exited with code 7: busy. The "
                    "next one is in 0.00s.\n");
    expect_contains(step.log.data, "log|Attempt 2 of 3: ");
    fake_clear(&step);
}

static void pauses_double(void **state) {
    (void)state;
    Step step;
    step_with_command(&step, "exit 1");
    step.params[ACTION_BACKOFF].number = 100;
    uint64_t before = uv_hrtime();
    fake_run(&step);
    assert_true(uv_hrtime() - before >= (100 + 200) * 1000000ull);
    expect_contains(step.log.data,
                    "Attempt 1 of 3: The model's command exited with code 1. The next one "
                    "is in 0.1");
    expect_contains(step.log.data,
                    "Attempt 2 of 3: The model's command exited with code 1. The next one "
                    "is in 0.2");
    fake_clear(&step);
}

static void after_the_last_attempt_a_person_is_asked(void **state) {
    (void)state;
    Step step;
    step_with_command(&step, "exit 7");
    fake_run(&step);
    assert_string_equal(
        step.result, "ask: {\"prompt\":\"Say hi\",\"error\":{\"kind\":\"exit\",\"message\":\"The "
                     "model's command exited with code 7\",\"attempts\":3}} [\"retry\"]");
    assert_false(there(step.place));
    answer(&step, "\"by hand\"");
    assert_string_equal(step.result, "{\"response\":\"by hand\"}");
    fake_clear(&step);
}

static void a_person_may_let_the_model_try_again(void **state) {
    (void)state;
    Step step;
    step_with_command(&step, "cat ready");
    fake_run(&step);
    expect_contains(step.result, "\"kind\":\"exit\"");
    char path[128];
    snprintf(path, sizeof path, "%s/ready", fake.root);
    FILE *f = fopen(path, "w");
    fputs("now\n", f);
    fclose(f);
    answer(&step, "\"retry\"");
    assert_string_equal(step.result, "{\"response\":\"now\"}");
    expect_json(step.answers, "[\"retry\",{\"response\":\"now\"}]");
    unlink(path);
    fake_clear(&step);
}

static void other_ways_to_fail(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"printf '\\n\\n'",
         "\"kind\":\"empty\",\"message\":\"The model's command printed nothing.\","
         "\"attempts\":3"},
        {"kill -KILL $$",
         "\"kind\":\"signal\",\"message\":\"The model's command was ended by signal "
         "9 (Killed)\",\"attempts\":3"},
        {"yes | head -c 17000000",
         "\"kind\":\"limit\",\"message\":\"The model's command printed more "
         "than 16 MB.\",\"attempts\":1"},
        {"sleep 60", "\"kind\":\"timeout\",\"message\":\"The model's command ran longer than its "
                     "request_timeout of 100ms and was ended\",\"attempts\":2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Step step;
        step_with_command(&step, cases[i][0]);
        if (strstr(cases[i][0], "sleep")) {
            step.params[ACTION_REQUEST_TIMEOUT].number = 100;
            step.params[ACTION_ATTEMPTS].number = 2;
        }
        fake_run(&step);
        expect_contains(step.result, cases[i][1]);
        fake_clear(&step);
    }
}

static void a_command_that_was_dropped_is_found_again(void **state) {
    (void)state;
    Step step, again;
    step_with_command(&step, "sleep 0.2; echo once");
    fake_start(&step);
    fake_drop(&step);
    fake_next_process();
    step_with_command(&again, "echo twice");
    again.place = step.place;
    fake_run(&again);
    assert_string_equal(again.result, "{\"response\":\"once\"}");
    assert_string_equal(again.log.data, "stdout|once\n");
    fake_clear(&again);
    fake_clear(&step);
}

static void a_command_that_was_ended_for_another_is_run_again(void **state) {
    (void)state;
    Step step, again;
    step_with_command(&step, "echo here; sleep 60");
    fake_start(&step);
    fake_wait_for_log(&step);
    fake_cancel(&step);
    fake_drop(&step);
    fake_next_process();
    step_with_command(&again, "echo again");
    again.place = step.place;
    fake_run(&again);
    assert_string_equal(again.result, "{\"response\":\"again\"}");
    fake_clear(&again);
    fake_clear(&step);
}

/* ---- a server in the model's place ---- */

enum { ANSWERS = 8 };

typedef struct Server {
    uv_tcp_t listener;
    char url[64];
    const char *answers[ANSWERS]; /* one for each connection; NULL: silence */
    int asked;
    Buf requests;
} Server;

typedef struct Guest {
    uv_tcp_t tcp;
    uv_write_t write;
    Server *server;
    Buf request;
} Guest;

static void on_guest_closed(uv_handle_t *handle) {
    Guest *guest = handle->data;
    buf_clear(&guest->request);
    mem_free(guest);
}

static void guest_close(Guest *guest) {
    if (!uv_is_closing((uv_handle_t *)&guest->tcp)) {
        uv_close((uv_handle_t *)&guest->tcp, on_guest_closed);
    }
}

static void on_written(uv_write_t *write, int status) {
    (void)status;
    guest_close(write->data);
}

static bool is_whole(const Buf *request) {
    const char *head = strstr(request->data, "\r\n\r\n");
    const char *length = strstr(request->data, "ontent-");
    while (length && strncmp(length, "ontent-Length: ", 15) &&
           strncmp(length, "ontent-length: ", 15))
        length = strstr(length + 1, "ontent-");
    size_t want = length ? (size_t)atol(length + 15) : 0;
    return head && (size_t)(request->data + request->len - (head + 4)) >= want;
}

static void guest_answer(Guest *guest) {
    Server *server = guest->server;
    const char *text = server->answers[server->asked++];
    buf_add(&server->requests, guest->request.data, guest->request.len);
    buf_reset(&guest->request);
    if (!text) return;
    uv_buf_t piece = {.base = (char *)(uintptr_t)text, .len = strlen(text)};
    guest->write.data = guest;
    uv_write(&guest->write, (uv_stream_t *)&guest->tcp, &piece, 1, on_written);
}

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *out) {
    (void)handle;
    static char room[65536];
    (void)size;
    *out = uv_buf_init(room, sizeof room);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes) {
    Guest *guest = stream->data;
    if (n < 0) {
        guest_close(guest);
        return;
    }
    buf_add(&guest->request, bytes->base, (size_t)n);
    if (guest->request.len && is_whole(&guest->request)) guest_answer(guest);
}

static void on_guest(uv_stream_t *listener, int status) {
    assert_int_equal(status, 0);
    Guest *guest = mem_zalloc(sizeof *guest);
    guest->server = listener->data;
    guest->tcp.data = guest;
    uv_tcp_init(listener->loop, &guest->tcp);
    uv_accept(listener, (uv_stream_t *)&guest->tcp);
    uv_read_start((uv_stream_t *)&guest->tcp, on_room, on_read);
}

static void server_open(Server *server) {
    struct sockaddr_in address;
    int len = sizeof address;
    memset(server, 0, sizeof *server);
    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_tcp_init(&fake.loop, &server->listener);
    server->listener.data = server;
    uv_tcp_bind(&server->listener, (const struct sockaddr *)&address, 0);
    assert_int_equal(uv_listen((uv_stream_t *)&server->listener, 8, on_guest), 0);
    uv_tcp_getsockname(&server->listener, (struct sockaddr *)&address, &len);
    snprintf(server->url, sizeof server->url, "\"http://127.0.0.1:%d/v1/ask\"",
             ntohs(address.sin_port));
}

static void step_with_server(Step *step, Server *server) {
    step_init(step, "\"Say \\(.what)\"", "{\"what\":\"hi\"}");
    server_open(server);
    fake_set_expr(step, ACTION_MODEL, "\"m-1\"");
    fake_set_expr(step, ACTION_ENDPOINT, server->url);
}

static void clear_both(Step *step, Server *server) {
    uv_close((uv_handle_t *)&server->listener, NULL);
    fake_clear(step);
    fake_next_process(); /* the server is gone with the test's stack */
    buf_clear(&server->requests);
}

#define HEAD(status) \
    "HTTP/1.1 " status "\r\nconnection: close\r\ncontent-type: text/event-stream\r\n"
#define DELTA(text)                                                                              \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":" \
    "{\"type\":\"text_delta\",\"text\":\"" text "\"}}\n\n"
#define STOP(reason)                                                                          \
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason "\"},\"usage\":" \
    "{\"output_tokens\":2}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
#define STREAM(text, reason) HEAD("200 OK") "\r\n" DELTA(text) DELTA("!") STOP(reason)
#define ERROR_BODY(message) \
    "\r\n{\"type\":\"error\",\"error\":{\"type\":\"any\",\"message\":\"" message "\"}}"

static void a_stream_in_the_messages_format(void **state) {
    (void)state;
    Step step;
    Server server;
    step_with_server(&step, &server);
    setenv("PAWL_TEST_KEY", "secret-key-1", 1);
    set_word(&step, ACTION_KEY_ENV, "PAWL_TEST_KEY");
    fake_set_expr(&step, ACTION_SYSTEM, "\"Be brief.\"");
    server.answers[0] = STREAM("hello", "end_turn");
    fake_run(&step);
    assert_string_equal(step.result, "{\"response\":\"hello!\"}");
    assert_string_equal(step.log.data, "stdout|hellostdout|!");
    expect_json(step.answers, "[{\"response\":\"hello!\",\"usage\":{\"output_tokens\":2},\"stop\":"
                              "\"end_turn\"}]");
    expect_contains(server.requests.data, "POST /v1/ask HTTP/1.1\r\n");
    expect_contains(server.requests.data, "x-api-key: secret-key-1\r\n");
    expect_contains(server.requests.data, "anthropic-version: 2023-06-01\r\n");
    expect_contains(server.requests.data, "content-type: application/json\r\n");
    expect_contains(server.requests.data,
                    "{\"model\":\"m-1\",\"max_tokens\":100,\"system\":\"Be brief.\",\"messages\":"
                    "[{\"role\":\"user\",\"content\":\"Say hi\"}],\"stream\":true}");
    clear_both(&step, &server);
}

static void a_document_in_the_chat_format(void **state) {
    (void)state;
    Step step;
    Server server;
    step_with_server(&step, &server);
    set_word(&step, ACTION_FORMAT, "chat");
    set_word(&step, ACTION_KEY_ENV, "PAWL_TEST_KEY");
    setenv("PAWL_TEST_KEY", "secret-key-1", 1);
    step.params[ACTION_STREAM].number = 0;
    server.answers[0] = HEAD("200 OK") "\r\n{\"model\":\"m-1\",\"choices\":[{\"message\":{"
                                       "\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}";
    fake_run(&step);
    assert_string_equal(step.result, "{\"response\":\"hello\"}");
    expect_json(step.answers, "[{\"response\":\"hello\",\"model\":\"m-1\",\"stop\":\"stop\"}]");
    expect_contains(server.requests.data, "authorization: Bearer secret-key-1\r\n");
    expect_contains(server.requests.data, "\"stream\":false}");
    assert_null(strstr(server.requests.data, "x-api-key"));
    clear_both(&step, &server);
}

static void what_passes_is_asked_again(void **state) {
    (void)state;
    static const char *const failures[][2] = {
        {HEAD("429 Too Many Requests") ERROR_BODY("slow down"), "status 429: slow down. The next"},
        {HEAD("529 Overloaded") ERROR_BODY("busy"), "status 529: busy. The next"},
        {HEAD("500 Oh") "\r\n", "status 500. The next"},
        {HEAD("503 Oh") "\r\n<html>", "status 503. The next"},
        {STREAM("no", "refusal"), "The model refused to answer: no! The next"},
        {HEAD("200 OK") "\r\n" STOP("end_turn"), "The model gave an empty answer. The next"},
        {HEAD("200 OK") "\r\n" DELTA("hel"), "broke off in the middle, after 3 bytes of text. The"},
        {HEAD("200 OK") "\r\n{\"content\":[", "The model's answer is not JSON: "},
        {HEAD("200 OK") "content-length: 99\r\n\r\n" DELTA("x"), "Attempt 1 of 3: "},
        {"", "Attempt 1 of 3: "},
    };
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        Step step;
        Server server;
        step_with_server(&step, &server);
        server.answers[0] = failures[i][0];
        server.answers[1] = STREAM("hello", "end_turn");
        fake_run(&step);
        assert_string_equal(step.result, "{\"response\":\"hello!\"}");
        expect_contains(step.log.data, failures[i][1]);
        assert_int_equal(server.asked, 2);
        clear_both(&step, &server);
    }
}

static void the_api_says_how_long_to_wait(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {HEAD("429 No") "retry-after-ms: 300\r\n" ERROR_BODY("no"), "The next one is in 0."},
        {HEAD("429 No") "Retry-After: 0.3\r\n" ERROR_BODY("no"), "The next one is in 0."},
        {HEAD("429 No") "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n" ERROR_BODY("no"),
         "The next one is in 0.00s."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Step step;
        Server server;
        step_with_server(&step, &server);
        server.answers[0] = cases[i][0];
        server.answers[1] = STREAM("hello", "end_turn");
        uint64_t before = uv_hrtime();
        fake_run(&step);
        assert_true(i == 2 || uv_hrtime() - before > 290 * 1000000ull);
        expect_contains(step.log.data, cases[i][1]);
        clear_both(&step, &server);
    }
}

static void a_pause_of_hours_is_for_a_person_to_wait_for(void **state) {
    (void)state;
    static const char *const answers[] = {
        HEAD("429 No") "retry-after: 7200\r\n" ERROR_BODY("no quota"),
        HEAD("429 No") "retry-after: Tue, 01 Jan 2999 00:00:00 GMT\r\n" ERROR_BODY("no quota"),
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        Step step;
        Server server;
        step_with_server(&step, &server);
        server.answers[0] = answers[i];
        fake_run(&step);
        assert_string_equal(step.result,
                            "ask: {\"prompt\":\"Say hi\",\"error\":{\"kind\":\"rate_limit\","
                            "\"message\":\"The model's API answered with status 429: no quota\","
                            "\"attempts\":1,\"status\":429}} [\"retry\"]");
        clear_both(&step, &server);
    }
}

static void what_no_retry_mends_is_not_retried(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {HEAD("400 No") ERROR_BODY("bad"), "\"kind\":\"request\""},
        {HEAD("401 No") ERROR_BODY("bad"), "\"kind\":\"key\""},
        {HEAD("403 No") ERROR_BODY("bad"), "\"kind\":\"key\""},
        {HEAD("404 No") ERROR_BODY("bad"), "\"kind\":\"request\""},
        {HEAD("302 No") "location: http://127.0.0.1:1/\r\n\r\n", "\"kind\":\"request\""},
        {STREAM("a par", "max_tokens"), "\"kind\":\"truncated\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Step step;
        Server server;
        step_with_server(&step, &server);
        server.answers[0] = cases[i][0];
        fake_run(&step);
        expect_contains(step.result, cases[i][1]);
        expect_contains(step.result, "\"attempts\":1");
        assert_int_equal(server.asked, 1);
        clear_both(&step, &server);
    }
}

static void what_there_is_of_an_answer_is_shown_to_the_person(void **state) {
    (void)state;
    Step step;
    Server server;
    step_with_server(&step, &server);
    server.answers[0] = STREAM("a par", "max_tokens");
    fake_run(&step);
    expect_contains(step.result, "\"status\":200,\"response\":\"a par!\"");
    clear_both(&step, &server);
}

static void refusals_are_for_a_person_in_the_end(void **state) {
    (void)state;
    Step step;
    Server server;
    step_with_server(&step, &server);
    for (int i = 0; i < 3; i++) server.answers[i] = STREAM("no", "refusal");
    fake_run(&step);
    expect_contains(step.result, "\"kind\":\"refusal\"");
    assert_int_equal(server.asked, 3);
    clear_both(&step, &server);
}

static void the_key_is_nowhere_to_be_seen(void **state) {
    (void)state;
    Step step;
    Server server;
    step_with_server(&step, &server);
    setenv("PAWL_TEST_KEY", "secret-key-1", 1);
    set_word(&step, ACTION_KEY_ENV, "PAWL_TEST_KEY");
    server.answers[0] = HEAD("401 No") ERROR_BODY("secret-key-1 is no key, secret-key-1!");
    fake_run(&step);
    expect_contains(step.result, "status 401: *** is no key, ***!");
    assert_null(strstr(step.result, "secret"));
    assert_null(strstr(step.log.data, "secret"));
    clear_both(&step, &server);
}

static void without_a_key_nobody_is_asked(void **state) {
    (void)state;
    static const char *const keys[] = {NULL, "", "two\nlines"};
    for (size_t i = 0; i < 3; i++) {
        Step step;
        Server server;
        step_with_server(&step, &server);
        unsetenv("PAWL_TEST_KEY");
        if (keys[i]) setenv("PAWL_TEST_KEY", keys[i], 1);
        set_word(&step, ACTION_KEY_ENV, "PAWL_TEST_KEY");
        fake_run(&step);
        expect_contains(step.result, "ask: {\"prompt\":\"Say hi\",\"error\":{\"kind\":\"key\"");
        expect_contains(step.result, i == 2 ? "holds a line break"
                                            : "PAWL_TEST_KEY, which is to hold the "
                                              "key of the model's API, is not set.");
        assert_int_equal(server.asked, 0);
        clear_both(&step, &server);
    }
    unsetenv("PAWL_TEST_KEY");
}

static void nobody_listens(void **state) {
    (void)state;
    Step step;
    step_init(&step, "\"?\"", "{}");
    fake_set_expr(&step, ACTION_MODEL, "\"m\"");
    fake_set_expr(&step, ACTION_ENDPOINT, "\"http://127.0.0.1:1/\"");
    fake_run(&step);
    expect_contains(step.result, "\"kind\":\"unreached\"");
    expect_contains(step.result, "\"attempts\":3");
    fake_clear(&step);
    step_init(&step, "\"?\"", "{}");
    fake_set_expr(&step, ACTION_MODEL, "\"m\"");
    fake_set_expr(&step, ACTION_ENDPOINT, "\"file:///etc/passwd\"");
    fake_run(&step);
    expect_contains(step.result, "\"kind\":\"request\"");
    expect_contains(step.result, "\"attempts\":1");
    fake_clear(&step);
    step_init(&step, "\"?\"", "{}");
    fake_set_expr(&step, ACTION_MODEL, "\"m\"");
    fake_set_expr(&step, ACTION_ENDPOINT, "\"\"");
    fake_run(&step);
    expect_contains(step.result, "action: endpoint is empty");
    fake_clear(&step);
}

static void silence_ends_with_request_timeout(void **state) {
    (void)state;
    Step step;
    Server server;
    step_with_server(&step, &server);
    step.params[ACTION_REQUEST_TIMEOUT].number = 100;
    step.params[ACTION_ATTEMPTS].number = 2;
    fake_run(&step);
    expect_contains(step.result, "\"kind\":\"timeout\"");
    assert_int_equal(server.asked, 2);
    clear_both(&step, &server);
}

/* ---- ends from outside ---- */

static void cancelled(Step *step) {
    fake_cancel(step);
    assert_false(step->done);
    fake_wait(step);
    expect_contains(step->result, "cancelled: ");
}

static void it_can_be_cancelled_at_any_time(void **state) {
    (void)state;
    Step step;
    Server server;
    step_with_command(&step, "echo here; sleep 60");
    fake_start(&step);
    fake_wait_for_log(&step);
    cancelled(&step);
    fake_clear(&step);

    step_with_command(&step, "exit 1");
    step.params[ACTION_BACKOFF].number = 60000;
    fake_start(&step);
    fake_wait_for_log(&step);
    cancelled(&step);
    fake_clear(&step);

    step_with_server(&step, &server);
    fake_start(&step);
    while (!server.asked) uv_run(&fake.loop, UV_RUN_ONCE);
    cancelled(&step);
    clear_both(&step, &server);
}

static void it_can_be_dropped_at_any_time(void **state) {
    (void)state;
    Step step;
    Server server;
    step_with_command(&step, "exit 1");
    step.params[ACTION_BACKOFF].number = 60000;
    fake_start(&step);
    fake_wait_for_log(&step);
    fake_drop(&step);
    fake_clear(&step);

    step_with_server(&step, &server);
    server.answers[0] = HEAD("200 OK") "content-length: 999\r\n\r\n" DELTA("x");
    fake_start(&step);
    while (!server.asked) uv_run(&fake.loop, UV_RUN_ONCE);
    fake_drop(&step);
    clear_both(&step, &server);
}

int main(void) {
    static const char *const proxies[] = {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"};
    for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++) unsetenv(proxies[i]);
    const struct CMUnitTest tests[] = {
        FAKE_TEST(instructions_are_made_before_anything_else),
        FAKE_TEST(a_person_answers_in_interactive_mode),
        FAKE_TEST(the_mode_of_the_node_comes_before_that_of_the_run),
        FAKE_TEST(an_answer_is_the_response_or_has_it),
        FAKE_TEST(confirm_sees_state_prompt_and_response),
        FAKE_TEST(an_error_in_confirm_asks_nobody_again),
        FAKE_TEST(without_a_model_it_says_the_ways_out),
        FAKE_TEST(a_command_reads_the_prompt_and_prints_the_answer),
        FAKE_TEST(a_command_gets_the_system_first_and_its_variables),
        FAKE_TEST(what_a_command_prints_goes_to_the_log),
        FAKE_TEST(a_command_that_fails_is_run_again),
        FAKE_TEST(pauses_double),
        FAKE_TEST(after_the_last_attempt_a_person_is_asked),
        FAKE_TEST(a_person_may_let_the_model_try_again),
        FAKE_TEST(other_ways_to_fail),
        FAKE_TEST(a_command_that_was_dropped_is_found_again),
        FAKE_TEST(a_command_that_was_ended_for_another_is_run_again),
        FAKE_TEST(a_stream_in_the_messages_format),
        FAKE_TEST(a_document_in_the_chat_format),
        FAKE_TEST(what_passes_is_asked_again),
        FAKE_TEST(the_api_says_how_long_to_wait),
        FAKE_TEST(a_pause_of_hours_is_for_a_person_to_wait_for),
        FAKE_TEST(what_no_retry_mends_is_not_retried),
        FAKE_TEST(what_there_is_of_an_answer_is_shown_to_the_person),
        FAKE_TEST(refusals_are_for_a_person_in_the_end),
        FAKE_TEST(the_key_is_nowhere_to_be_seen),
        FAKE_TEST(without_a_key_nobody_is_asked),
        FAKE_TEST(nobody_listens),
        FAKE_TEST(silence_ends_with_request_timeout),
        FAKE_TEST(it_can_be_cancelled_at_any_time),
        FAKE_TEST(it_can_be_dropped_at_any_time),
    };
    return fake_main(tests);
}
