/* WebSockets against raw frames: what is promised in web_server.h, and RFC 6455. */
#include "web_host.h"

#include "web_frames.h"

#define KEY     "dGhlIHNhbXBsZSBub25jZQ=="
#define UPGRADE "Host: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
#define WANTED  UPGRADE "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " KEY "\r\n"

/* A frame as clients send it: the first byte as it is. */
static void put(Buf *out, int first, const char *payload, size_t len) {
    static const uint8_t mask[4] = {0x12, 0xf4, 0x56, 0x9a};
    uint8_t head[FRAME_HEAD_MAX];
    size_t n = frame_head(head, FRAME_TEXT, len);
    head[0] = (uint8_t)first;
    head[1] |= 128;
    buf_add(out, (char *)head, n);
    buf_add(out, (const char *)mask, 4);
    for (size_t i = 0; i < len; i++) buf_addc(out, (char)(payload[i] ^ mask[i & 3]));
}

static void send_frame(int fd, int first, const char *payload, size_t len) {
    Buf frame = BUF_INIT;
    put(&frame, first, payload, len);
    say_bytes(fd, frame.data, frame.len);
    buf_clear(&frame);
}

static void send_text(int fd, const char *text) {
    send_frame(fd, 0x81, text, strlen(text));
}

static int open_socket(Buf *heard) {
    int fd = join();
    say(fd, "GET /socket HTTP/1.1\r\n" WANTED "\r\n");
    hear(fd, heard, "\r\n\r\n");
    assert_true(has(heard, "HTTP/1.1 101 Switching Protocols\r\n"));
    assert_non_null(at.socket);
    buf_reset(heard);
    return fd;
}

static void test_begins(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){0});
    int fd = join();
    say(fd, "GET /socket-pawl HTTP/1.1\r\n" WANTED "Sec-WebSocket-Protocol: a, pawl\r\n\r\n");
    hear(fd, &heard, "\r\n\r\n");
    assert_true(has(&heard, "\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    assert_true(has(&heard, "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"));
    assert_true(has(&heard, "\r\nSec-WebSocket-Protocol: pawl\r\n"));
    assert_int_equal(web_server_counts(at.server).sockets, 1);
    assert_int_equal(at.requests, 0);
    close(fd);
    UNTIL(at.sockets_closed == 1);
    assert_int_equal(web_server_counts(at.server).sockets, 0);
    assert_int_equal(at.gone, 0);
    /* Frames that come with the request. */
    Buf all = BUF_INIT;
    buf_adds(&all, "GET /socket HTTP/1.1\r\n" WANTED "\r\n");
    put(&all, 0x81, "early", 5);
    buf_reset(&heard);
    fd = join();
    say_bytes(fd, all.data, all.len);
    hear(fd, &heard, "\x81\x07<early>");
    close(fd);
    UNTIL(at.sockets_closed == 2);
    buf_clear(&all);
    buf_clear(&heard);
}

static void test_refuses_to_begin(void **state) {
    (void)state;
    static const struct {
        int status;
        const char *request;
    } cases[] = {
        {400, "GET /socket HTTP/1.1\r\nHost: a\r\n\r\n"},
        {400, "GET /socket HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n"},
        {400, "GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n\r\n"},
        {400, "GET /socket HTTP/1.0\r\n" WANTED "\r\n"},
        {400, "POST /socket HTTP/1.1\r\n" WANTED "\r\n"},
        {400, "GET /socket HTTP/1.1\r\n" WANTED "Content-Length: 3\r\n\r\nabc"},
        {400, "GET /socket HTTP/1.1\r\n" UPGRADE "Sec-WebSocket-Version: 13\r\n\r\n"},
        {400, "GET /socket HTTP/1.1\r\n" UPGRADE
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: abc\r\n\r\n"},
        {400, "GET /socket HTTP/1.1\r\n" UPGRADE
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: !GhlIHNhbXBsZSBub25jZQ==\r\n\r\n"},
        {400, "GET /socket-pawl HTTP/1.1\r\n" WANTED "\r\n"},
        {400, "GET /socket-pawl HTTP/1.1\r\n" WANTED "Sec-WebSocket-Protocol: pawls\r\n\r\n"},
        {426, "GET /socket HTTP/1.1\r\n" UPGRADE "Sec-WebSocket-Key: " KEY "\r\n\r\n"},
        {426, "GET /socket HTTP/1.1\r\n" UPGRADE
              "Sec-WebSocket-Version: 8\r\nSec-WebSocket-Key: " KEY "\r\n\r\n"},
    };
    start_limited((WebLimits){0});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf heard = BUF_INIT;
        int fd = join();
        say(fd, cases[i].request);
        hear(fd, &heard, "\"detail\"");
        if (status_of(&heard) != cases[i].status) fail_msg("%s%s", cases[i].request, heard.data);
        if (cases[i].status == 426) assert_true(has(&heard, "\r\nSec-WebSocket-Version: 13\r\n"));
        assert_null(at.socket);
        close(fd);
        buf_clear(&heard);
    }
    Buf heard = ask("GET /wants HTTP/1.0\r\n" WANTED "\r\n");
    assert_true(has(&heard, "no"));
    buf_clear(&heard);
}

static void test_messages(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){0});
    int fd = open_socket(&heard);
    send_text(fd, "hello");
    hear(fd, &heard, "\x81\x07<hello>");
    assert_true(at.drained > 0);
    assert_int_equal(web_socket_waiting(at.socket), 0);
    buf_reset(&heard);
    send_frame(fd, 0x82, "\xff\xfe", 2);
    hear(fd, &heard, "\x81\x02\xff\xfe");
    buf_reset(&heard);
    /* In parts, with a ping in between. */
    send_frame(fd, 0x01, "a\xc3", 2);
    send_frame(fd, 0x89, "now", 3);
    hear(fd, &heard, "\x8a\x03now");
    send_frame(fd, 0x00, "", 0);
    send_frame(fd, 0x00, "\xbc", 1);
    send_frame(fd, 0x8a, "", 0); /* a pong that nobody asked for */
    send_frame(fd, 0x80, "z", 1);
    hear(fd, &heard, "\x81\x06<a\xc3\xbcz>");
    buf_reset(&heard);
    send_text(fd, "");
    hear(fd, &heard, "\x81\x02<>");
    buf_reset(&heard);
    /* Each length of a head. */
    static const size_t sizes[] = {125, 126, 65535, 65536, 1000000};
    for (size_t i = 0; i < 5; i++) {
        int before = at.messages;
        send_frame(fd, 0x82, at.big, sizes[i]);
        size_t n = sizes[i] + (sizes[i] < 126 ? 2 : sizes[i] < 65536 ? 4 : 10);
        UNTIL(hear_more(fd, &heard) && heard.len >= n);
        assert_int_equal(heard.len, n);
        assert_int_equal(at.messages, before + 1);
        buf_reset(&heard);
    }
    /* Byte by byte. */
    Buf frame = BUF_INIT;
    put(&frame, 0x81, "slowly", 6);
    for (size_t i = 0; i < frame.len; i++) {
        say_bytes(fd, frame.data + i, 1);
        rest(1);
    }
    hear(fd, &heard, "<slowly>");
    buf_reset(&heard);
    /* More than are heard in one turn. */
    buf_reset(&frame);
    for (int i = 0; i < 1000; i++) put(&frame, 0x82, at.big, 20);
    say_bytes(fd, frame.data, frame.len);
    UNTIL(hear_more(fd, &heard) && heard.len >= 22000);
    assert_int_equal(heard.len, 22000);
    buf_clear(&frame);
    close(fd);
    UNTIL(at.sockets_closed == 1);
    buf_clear(&heard);
}

static void test_refuses_frames(void **state) {
    (void)state;
    static const struct {
        int code;
        const char *bytes;
        size_t len;
    } cases[] = {
#define BYTES(text) text, sizeof(text) - 1
#define MASK        "\0\0\0\0"
        {1002, BYTES("\x81\x01x")},                          /* no mask */
        {1002, BYTES("\xc1\x81" MASK "x")},                  /* a bit without a meaning */
        {1002, BYTES("\x83\x81" MASK "x")},                  /* kinds without a meaning */
        {1002, BYTES("\x8b\x80" MASK)},                      /* */
        {1002, BYTES("\x80\x81" MASK "x")},                  /* a part of nothing */
        {1002, BYTES("\x01\x81" MASK "x\x81\x81" MASK "x")}, /* a message inside another */
        {1002, BYTES("\x09\x80" MASK)},                      /* a ping in parts */
        {1002, BYTES("\x89\xfe\x00\x7e" MASK)},              /* a long ping */
        {1002, BYTES("\x81\xfe\x00\x7d" MASK)}, /* lengths that are longer than needed */
        {1002, BYTES("\x81\xff\0\0\0\0\0\0\xff\xff" MASK)}, /* */
        {1002, BYTES("\x81\xff\x80\0\0\0\0\0\0\0" MASK)},   /* */
        {1009, BYTES("\x81\xff\0\0\0\0\0\x10\0\0" MASK)},   /* 1 MB */
        {1009, BYTES("\x01\xfe\xc3\x50" MASK)},             /* with the next part; see below */
        {1007, BYTES("\x81\x81" MASK "\xff")},              /* no UTF-8 */
        {1007, BYTES("\x81\x82" MASK "a\xc3")},             /* */
        {1007, BYTES("\x81\x83" MASK "\xed\xa0\x80")},      /* half of a pair */
        {1002, BYTES("\x88\x81" MASK "\x03")},              /* half a code */
        {1002, BYTES("\x88\x82" MASK "\x03\xed")},          /* 1005 */
        {1002, BYTES("\x88\x82" MASK "\x03\xee")},          /* 1006 */
        {1002, BYTES("\x88\x82" MASK "\0\0")},              /* */
        {1002, BYTES("\x88\x82" MASK "\x0b\xb7")},          /* 2999 */
        {1007, BYTES("\x88\x83" MASK "\x03\xe8\xff")},      /* a reason that is no UTF-8 */
    };
    Buf heard = BUF_INIT;
    start_limited((WebLimits){.message = 90000});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int fd = open_socket(&heard), messages = at.messages;
        say_bytes(fd, cases[i].bytes, cases[i].len);
        if (cases[i].bytes[1] == '\xfe' && cases[i].code == 1009) {
            say_bytes(fd, at.big, 50000);
            say_bytes(fd, BYTES("\x80\xfe\xc3\x50" MASK));
        }
        send_text(fd, "more");
        hear_end(fd, &heard);
        if (heard.len < 4 || (uint8_t)heard.data[0] != 0x88 ||
            (uint8_t)heard.data[2] << 8 != (cases[i].code & 0xff00) ||
            (uint8_t)heard.data[3] != (cases[i].code & 0xff)) {
            fail_msg("case %zu: %zu bytes, code %d", i, heard.len,
                     heard.len > 3 ? (uint8_t)heard.data[2] << 8 | (uint8_t)heard.data[3] : 0);
        }
        assert_int_equal(at.messages, messages);
        buf_reset(&heard);
        close(fd);
        UNTIL(at.sockets_closed == (int)i + 1);
    }
    buf_clear(&heard);
}

/* All sockets together hold so much of what is not complete. */
static void test_held(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){.bodies = 100000});
    int first = open_socket(&heard);
    send_frame(first, 0x01, at.big, 60000);
    int second = open_socket(&heard);
    send_frame(second, 0x01, at.big, 60000);
    hear_end(second, &heard);
    assert_memory_equal(heard.data + 2, "\x03\xf5", 2); /* 1013 */
    close(second);
    UNTIL(at.sockets_closed == 1);
    close(first);
    UNTIL(at.sockets_closed == 2);
    buf_reset(&heard);
    first = open_socket(&heard);
    send_frame(first, 0x02, at.big, 99000);
    send_frame(first, 0x80, "", 0);
    UNTIL(at.messages == 1);
    close(first);
    UNTIL(at.sockets_closed == 3);
    buf_clear(&heard);
}

static void test_closes(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){0});
    /* The client, with a code, and without one. */
    int fd = open_socket(&heard);
    send_frame(fd, 0x88, "\x0f\xa1ok", 4);
    hear_end(fd, &heard);
    assert_int_equal(heard.len, 4);
    assert_memory_equal(heard.data, "\x88\x02\x0f\xa1", 4);
    close(fd);
    UNTIL(at.sockets_closed == 1);
    fd = open_socket(&heard);
    send_frame(fd, 0x88, "", 0);
    hear_end(fd, &heard);
    assert_memory_equal(heard.data, "\x88\x00", 2);
    assert_int_equal(heard.len, 2);
    close(fd);
    UNTIL(at.sockets_closed == 2);
    /* The server: what comes until the client has heard of it is nobody's. */
    fd = open_socket(&heard);
    send_text(fd, "close");
    send_text(fd, "more");
    hear(fd, &heard,
         "\x88\x0d\x0f\xa0"
         "as you like");
    assert_int_equal(at.sockets_closed, 2);
    assert_int_equal(at.messages, 1);
    send_frame(fd, 0x88, "\x0f\xa0", 2);
    hear_end(fd, &heard);
    close(fd);
    UNTIL(at.sockets_closed == 3);
    /* A client that does not answer that. */
    buf_reset(&heard);
    fd = open_socket(&heard);
    web_socket_close(at.socket, 1000, NULL);
    web_socket_send(at.socket, "no", 2);
    hear_end(fd, &heard);
    assert_int_equal(heard.len, 4);
    close(fd);
    UNTIL(at.sockets_closed == 4);
    /* The server ends. */
    buf_reset(&heard);
    fd = open_socket(&heard);
    web_server_close(at.server, 5000, on_closed, NULL);
    hear(fd, &heard, "\x88\x12\x03\xe9The server ends.");
    send_frame(fd, 0x88, "\x03\xe9", 2);
    hear_end(fd, &heard);
    close(fd);
    UNTIL(at.closed);
    assert_int_equal(at.sockets_closed, 5);
    buf_clear(&heard);
}

static void test_pings(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){.ping_ms = 200});
    int fd = open_socket(&heard);
    for (int i = 0; i < 3; i++) {
        hear(fd, &heard, "\x89");
        buf_reset(&heard);
        send_frame(fd, 0x8a, "", 0);
    }
    uint64_t began = uv_hrtime();
    hear_end(fd, &heard);
    assert_true(uv_hrtime() - began >= 300 * 1000000ull);
    assert_int_equal(at.sockets_closed, 1);
    close(fd);
    buf_clear(&heard);
}

static void test_never_reads(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){.waiting = 8 << 20, .write_ms = 60000});
    int fd = open_socket(&heard);
    for (int i = 0; i < 10 && at.socket; i++) web_socket_send(at.socket, at.big, sizeof at.big);
    assert_int_equal(at.sockets_closed, 0);
    UNTIL(at.sockets_closed == 1);
    close(fd);
    /* Pings that nobody reads the answers of: it is not read on. */
    fd = open_socket(&heard);
    Buf pings = BUF_INIT;
    for (int i = 0; i < 400; i++) put(&pings, 0x89, at.big, 125);
    size_t sent = 0;
    for (int i = 0; i < 1000; i++) {
        ssize_t n =
            send(fd, pings.data, pings.len, MSG_NOSIGNAL); /* frames may be cut: no matter */
        sent += n > 0 ? (size_t)n : 0;
        if (n < 0) break;
        turn();
    }
    assert_true(web_socket_waiting(at.socket) < 3 << 20);
    close(fd);
    UNTIL(at.sockets_closed == 2);
    buf_clear(&pings);
    buf_clear(&heard);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_begins),      TEST(test_refuses_to_begin),
        TEST(test_messages),    TEST(test_refuses_frames),
        TEST(test_closes),      TEST(test_pings),
        TEST(test_never_reads), TEST(test_held),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
