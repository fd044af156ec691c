/* The HTTP server against raw bytes: what is promised in web_server.h for HTTP/1.1. */
#include "web_host.h"

#include <sys/un.h>

#define GET  "GET / HTTP/1.1\r\nHost: a\r\n"
#define POST "POST /echo HTTP/1.1\r\nHost: a\r\n"

/* ---- answers ---- */

static void test_answers(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){0});
    int fd = join();
    say(fd, GET "\r\n");
    hear(fd, &heard, "hello");
    assert_true(has(&heard, "HTTP/1.1 200 OK\r\n"));
    assert_true(has(&heard, "\r\nContent-Length: 5\r\n"));
    assert_true(has(&heard, "\r\nContent-Type: text/plain\r\n"));
    assert_true(has(&heard, "\r\nDate: "));
    assert_false(has(&heard, "Connection"));
    buf_reset(&heard);
    say(fd, "\r\nGET /fields HTTP/1.1\r\nHost: a\r\n\r\n");
    hear(fd, &heard, "made");
    assert_true(has(&heard, "HTTP/1.1 201 Created\r\n"));
    assert_true(has(&heard, "\r\nX-One: 1\r\nX-Two: zwei\r\n"));
    buf_reset(&heard);
    say(fd, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET /empty HTTP/1.1\r\nHost: a\r\n\r\n");
    hear(fd, &heard, "204 No Content");
    assert_true(has(&heard, "Content-Length: 5\r\n"));
    assert_false(has(&heard, "hello"));
    assert_int_equal(count(&heard, "Content-Length"), 1);
    say(fd, "GET /facts HTTP/1.1\r\nhOST: b:80\r\nConnection: x , CLOSE\r\n\r\n");
    hear_end(fd, &heard);
    assert_true(has(&heard, "127.0.0.1 11 b:80 0"));
    assert_true(has(&heard, "Connection: close\r\n"));
    close(fd);
    buf_clear(&heard);
    WebCounts counts = web_server_counts(at.server);
    assert_int_equal(counts.requests, 5);
    assert_int_equal(counts.accepted, 1);
    assert_int_equal(counts.requests_now, 0);
    heard = ask("GET /facts HTTP/1.0\r\nHost: a\r\n\r\n");
    assert_true(has(&heard, "127.0.0.1 10 a 0"));
    assert_true(has(&heard, "Connection: close\r\n"));
    buf_clear(&heard);
}

static void test_bodies(void **state) {
    (void)state;
    static const char *const requests[] = {
        POST "Content-Length: 5\r\nConnection: close\r\n\r\nhello",
        POST "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        POST "Transfer-Encoding: Chunked\r\nConnection: close\r\n\r\n"
             "2;a=\"b\"\r\nhe\r\n003\r\nllo\r\n000\r\nX-Trailer: yes\r\n\r\n",
    };
    start_limited((WebLimits){0});
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        Buf heard = ask(requests[i]);
        assert_int_equal(status_of(&heard), 200);
        assert_true(has(&heard, "\r\n\r\nhello"));
        buf_clear(&heard);
        int fd = join();
        for (const char *p = requests[i]; *p; p++) say_bytes(fd, p, 1);
        hear_end(fd, &heard);
        assert_int_equal(status_of(&heard), 200);
        assert_true(has(&heard, "\r\n\r\nhello"));
        close(fd);
        buf_clear(&heard);
    }
    /* A large one. */
    int fd = join();
    Buf heard = BUF_INIT;
    say(fd,
        "POST /much HTTP/1.1\r\nHost: a\r\nContent-Length: 3145728\r\nConnection: close\r\n\r\n");
    say_bytes(fd, at.big, sizeof at.big);
    hear_end(fd, &heard);
    assert_true(heard.len > sizeof at.big && heard.data[heard.len - 1] == 'x');
    close(fd);
    buf_clear(&heard);
}

static void test_headers(void **state) {
    (void)state;
    static const struct {
        const char *headers, *is;
    } cases[] = {
        {"", "none"},
        {"X-One: a\r\n", "\r\n\r\na"},
        {"x-oNE:\t a b \t\r\n", "\r\n\r\na b"},
        {"X-One: a\r\nX-Two: b\r\nx-one: c\r\nX-ONE:\r\n", "\r\n\r\na, c, "},
        {"X-One: gr\xc3\xbc\xc3\x9f\r\n", "\r\n\r\ngr\xc3\xbc\xc3\x9f"},
        {"X-One: \xff\r\n", "\r\n\r\n\xef\xbf\xbd"},
    };
    start_limited((WebLimits){0});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "GET /header HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s\r\n",
                 cases[i].headers);
        Buf heard = ask(text);
        if (!has(&heard, cases[i].is)) fail_msg("case %zu: %s", i, heard.data);
        buf_clear(&heard);
    }
}

static void test_pipelined(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){0});
    int fd = join();
    say(fd,
        "GET /later HTTP/1.1\r\nHost: a\r\n\r\n" POST "Content-Length: 3\r\n\r\nabc" GET "\r\n");
    UNTIL(at.nlater == 1);
    assert_true(is_quiet(fd));
    assert_int_equal(at.requests, 1);
    answer_text(at.later[0], &plain, "first");
    hear(fd, &heard, "hello");
    assert_true(has(&heard, "first") && has(&heard, "abc"));
    assert_true(strstr(heard.data, "first") < strstr(heard.data, "abc"));
    assert_string_equal(at.seen.data, "GET /later\nPOST /echo\nGET /\n");
    /* More than is looked at in one turn. */
    Buf many = BUF_INIT;
    for (int i = 0; i < 5000; i++) buf_adds(&many, GET "\r\n");
    buf_adds(&many, GET "Connection: close\r\n\r\n");
    buf_reset(&heard);
    say_bytes(fd, many.data, many.len);
    hear_end(fd, &heard);
    assert_int_equal(count(&heard, "hello"), 5001);
    buf_clear(&many);
    close(fd);
    buf_clear(&heard);
}

/* What waits to be written is counted, until it is taken or its client goes. */
static void test_counts_what_waits(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){0});
    for (int i = 0; i < 2; i++) {
        int fd = join();
        for (int n = 0; n < 4; n++) say(fd, "GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
        UNTIL(web_server_counts(at.server).waiting > 1 << 20);
        while (i && web_server_counts(at.server).waiting) {
            turn();
            hear_more(fd, &heard);
        }
        close(fd);
        UNTIL(web_server_counts(at.server).waiting == 0);
    }
    buf_clear(&heard);
}

/* A client that says no more is answered what it asked before, whether that takes one turn or many. */
static void test_pipelined_to_the_end(void **state) {
    (void)state;
    Buf heard = BUF_INIT, many = BUF_INIT;
    start_limited((WebLimits){0});
    int fd = join();
    for (int i = 0; i < 20; i++) buf_adds(&many, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    buf_adds(&many, "GET /cut HTTP/1.1\r\nHo");
    say_bytes(fd, many.data, many.len);
    UNTIL(at.nlater == 1);
    shutdown(fd, SHUT_WR);
    rest(20);
    for (int i = 0; i < 20; i++) {
        UNTIL(at.nlater == i + 1);
        rest(1);
        answer_text(at.later[i], &plain, "late");
    }
    hear_end(fd, &heard);
    assert_int_equal(count(&heard, "late"), 20);
    assert_int_equal(count(&heard, "HTTP/1.1 "), 20);
    close(fd);
    /* More than is looked at in one turn, all said at once; then a body that does not come. */
    buf_reset(&many);
    buf_reset(&heard);
    for (int i = 0; i < 300; i++) buf_adds(&many, GET "\r\n");
    buf_adds(&many, POST "Content-Length: 9\r\n\r\nhalf");
    fd = join();
    say_bytes(fd, many.data, many.len);
    shutdown(fd, SHUT_WR);
    hear_end(fd, &heard);
    assert_int_equal(count(&heard, "hello"), 300);
    close(fd);
    buf_reset(&heard);
    /* One that is not answered ends the connection after a moment; so does a stream. */
    for (int i = 0; i < 2; i++) {
        int gone = at.gone + at.streams_gone;
        fd = join();
        say(fd, GET "\r\n");
        say(fd, i ? "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"
                  : "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
        say(fd, GET "\r\n");
        shutdown(fd, SHUT_WR);
        UNTIL(at.gone + at.streams_gone == gone + 1);
        buf_reset(&heard);
        hear_end(fd, &heard);
        assert_int_equal(count(&heard, "hello"), 1);
        close(fd);
    }
    UNTIL(web_server_counts(at.server).connections == 0);
    buf_clear(&heard);
    buf_clear(&many);
}

/* What is sent further on, while a request is under way, stays with the client. */
static void test_reads_no_further(void **state) {
    (void)state;
    size_t sent = 0;
    start_limited((WebLimits){0});
    int fd = join();
    say(fd, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    UNTIL(at.nlater == 1);
    for (int i = 0; i < 400; i++) {
        ssize_t n = send(fd, at.big, 65536, MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
        turn();
    }
    assert_true(web_server_counts(at.server).bytes_in < 100000 + 65536);
    assert_true(sent > web_server_counts(at.server).bytes_in);
    answer_text(at.later[0], &plain, "first");
    Buf heard = BUF_INIT;
    hear_end(fd, &heard);
    assert_true(has(&heard, "first"));
    close(fd);
    buf_clear(&heard);
}

static void test_early_answers(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){0});
    int fd = join();
    say(fd, "POST /denied HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nGET / H");
    hear(fd, &heard, "\r\n\r\nno");
    assert_false(has(&heard, "close"));
    say(fd, "TTP" GET "\r\n");
    hear(fd, &heard, "hello");
    close(fd);
    buf_clear(&heard);
    assert_string_equal(at.seen.data, "GET /\n");
    heard = ask("POST /denied HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" GET "\r\n");
    assert_int_equal(status_of(&heard), 401);
    assert_int_equal(count(&heard, "HTTP/1.1"), 1);
    assert_true(has(&heard, "Connection: close"));
    buf_clear(&heard);
    heard =
        ask("POST /denied HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" GET "\r\n");
    assert_int_equal(count(&heard, "HTTP/1.1"), 1);
    buf_clear(&heard);
    assert_int_equal(at.gone, 0);
}

static void test_expect(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){0});
    int fd = join();
    say(fd, POST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    hear(fd, &heard, "HTTP/1.1 100 Continue\r\n\r\n");
    say(fd, "ab");
    hear(fd, &heard, "\r\n\r\nab");
    close(fd);
    buf_clear(&heard);
    heard = ask(
        "POST /denied HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    assert_int_equal(status_of(&heard), 401);
    assert_true(has(&heard, "Connection: close"));
    buf_clear(&heard);
    heard =
        ask("POST /ten HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\nExpect: 100-continue\r\n\r\n");
    assert_int_equal(status_of(&heard), 413);
    buf_clear(&heard);
}

/* ---- what is refused ---- */

/* Behind each stands a request that would be told if the two were read in another way. */
static const struct {
    int status;
    const char *request;
} refused[] = {
    {400, POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"},
    {400, POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"},
    {400, POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"},
    {400, POST "Content-Length: 5, 5\r\n\r\nhello"},
    {400, POST "Content-Length: +5\r\n\r\nhello"},
    {400, POST "Content-Length: -5\r\n\r\nhello"},
    {400, POST "Content-Length: 5x\r\n\r\nhello"},
    {400, POST "Content-Length: 0x5\r\n\r\nhello"},
    {400, POST "Content-Length: 5 5\r\n\r\nhello"},
    {400, POST "Content-Length:\r\n\r\nhello"},
    {400, POST "Content-Length: 99999999999999999999\r\n\r\nhello"},
    {501, POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"},
    {501, POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"},
    {501, POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
    {501, POST "Transfer-Encoding: identity\r\n\r\n"},
    {501, POST "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"},
    {501, POST "Transfer-Encoding:\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {400, "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {400, POST "Content-Length : 5\r\n\r\nhello"},
    {400, POST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"},
    {400, POST " Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {400, POST "X-One: a\r\n b\r\n\r\n"},
    {400, POST "X-One: a\r\n\tb\r\n\r\n"},
    {400, POST "X-One\r\n\r\n"},
    {400, POST ": a\r\n\r\n"},
    {400, POST "X One: a\r\n\r\n"},
    {400, POST "X-One: a\x01z\r\n\r\n"},
    {400, POST "X-One: a\rb\r\n\r\n"},
    {400, POST "X-One: a\nContent-Length: 5\r\n\r\n"},
    {400, POST "X-One: a\x7f\r\n\r\n"},
    {400, POST "X-\xc3\xbc: a\r\n\r\n"},
    {400, "GET / HTTP/1.1\nHost: a\n\n"},
    {400, "GET / HTTP/1.1\r\nHost: a\r\n\n"},
    {400, "GET / HTTP/1.1\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\nHost:\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n"},
    {400, "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"},
    {400, "GET /  HTTP/1.1\r\nHost: a\r\n\r\n"},
    {400, "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"},
    {400, "GET / a HTTP/1.1\r\nHost: a\r\n\r\n"},
    {400, "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n"},
    {400, " GET / HTTP/1.1\r\nHost: a\r\n\r\n"},
    {400, "GET /\r\nHost: a\r\n\r\n"},
    {400, "GET\r\nHost: a\r\n\r\n"},
    {400, "G=T / HTTP/1.1\r\nHost: a\r\n\r\n"},
    {400, "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n"},
    {400, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"},
    {400, "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"},
    {400, "GET /a\xc3\xbc HTTP/1.1\r\nHost: a\r\n\r\n"},
    {400, "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"},
    {400, "GET /a\x01 HTTP/1.1\r\nHost: a\r\n\r\n"},
    {501, "ABCDEFGHIJKLMNOPQRSTU / HTTP/1.1\r\nHost: a\r\n\r\n"},
    {505, "GET / HTTP/1.2\r\nHost: a\r\n\r\n"},
    {505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"},
    {505, "GET / HTTP/0.9\r\nHost: a\r\n\r\n"},
    {400, "GET / HTTP/1.10\r\nHost: a\r\n\r\n"},
    {400, "GET / http/1.1\r\nHost: a\r\n\r\n"},
    {417, POST "Expect: 200-ok\r\n\r\n"},
    {400, "\r\n\r\n"},
    {400, "\x16\x03\x01\x02\x00\x01"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\nx\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\n\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n0\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\n5;a\nb\r\nhello\r\n0\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\n5\rX\r\nhello\r\n0\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\n0000000000000000000005\r\nhello\r\n0\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\n0\r\nX : a\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\n0\r\n a\r\n\r\n"},
    {400, POST "Transfer-Encoding: chunked\r\n\r\n0\r\nX: a\n\r\n"},
    {413, POST "Transfer-Encoding: chunked\r\n\r\nffffffffffffff\r\n"},
    {413, POST "Content-Length: 1048577\r\n\r\n"},
};

static void test_refuses(void **state) {
    (void)state;
    start_limited((WebLimits){0});
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        Buf text = BUF_INIT, heard;
        bool too_long = refused[i].status == 413 && strstr(refused[i].request, "chunked");
        buf_adds(&text, refused[i].request);
        if (too_long) buf_add(&text, at.big, 1048577);
        buf_adds(&text, GET "\r\n");
        heard = ask(text.data);
        if (status_of(&heard) != refused[i].status || count(&heard, "\r\nDate: ") != 1 ||
            at.requests || !has(&heard, "Connection: close\r\n") || !has(&heard, "\"detail\":\"")) {
            fail_msg("%s\nwas answered:\n%s", refused[i].request, heard.data);
        }
        buf_clear(&heard);
        buf_clear(&text);
    }
    assert_int_equal(web_server_counts(at.server).refused, sizeof refused / sizeof *refused);
    assert_int_equal(at.heads, at.gone); /* of those whose bodies were refused */
    assert_true(at.gone > 10);
}

static void test_limits(void **state) {
    (void)state;
    Buf text = BUF_INIT, heard;
    start_limited((WebLimits){.header = 1000, .requests_each = 3, .bodies = 5000, .body = 4000});
    buf_adds(&text, "GET /");
    for (int i = 0; i < 1000; i++) buf_addc(&text, 'a');
    heard = ask(text.data);
    assert_int_equal(status_of(&heard), 414);
    buf_clear(&heard);
    buf_reset(&text);
    buf_adds(&text, GET "X-One: ");
    for (int i = 0; i < 1000; i++) buf_addc(&text, 'a');
    heard = ask(text.data);
    assert_int_equal(status_of(&heard), 431);
    buf_clear(&heard);
    buf_reset(&text);
    buf_adds(&text, GET);
    for (int i = 0; i < 130; i++) buf_adds(&text, "a:\r\n");
    buf_adds(&text, "\r\n");
    heard = ask(text.data);
    assert_int_equal(status_of(&heard), 431);
    buf_clear(&heard);
    buf_reset(&text);
    heard = ask(GET "\r\n" GET "\r\n" GET "\r\n" GET "\r\n");
    assert_int_equal(count(&heard, "200 OK"), 3);
    assert_int_equal(count(&heard, "Connection: close"), 1);
    buf_clear(&heard);
    heard = ask(
        "POST /ten HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 10\r\n\r\n0123456789");
    assert_int_equal(status_of(&heard), 200);
    buf_clear(&heard);
    heard = ask("POST /ten HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n");
    assert_int_equal(status_of(&heard), 413);
    buf_clear(&heard);
    heard = ask(
        "POST /ten HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n3\r\nabc");
    assert_int_equal(status_of(&heard), 413);
    buf_clear(&heard);
    /* Two bodies that are too much together, until the first has gone. */
    int fd = join();
    say(fd, POST "Content-Length: 4000\r\n\r\n");
    say_bytes(fd, at.big, 3999);
    rest(20);
    buf_adds(&text, POST "Connection: close\r\nContent-Length: 2000\r\n\r\n");
    buf_add(&text, at.big, 2000);
    heard = ask(text.data);
    assert_int_equal(status_of(&heard), 503);
    buf_clear(&heard);
    close(fd);
    rest(20);
    heard = ask(text.data);
    assert_int_equal(status_of(&heard), 200);
    buf_clear(&heard);
    buf_clear(&text);
}

static void test_connections(void **state) {
    (void)state;
    start_limited((WebLimits){.connections = 3});
    int fds[3];
    for (int i = 0; i < 3; i++) fds[i] = join();
    UNTIL(web_server_counts(at.server).connections == 3);
    Buf heard = ask(GET "\r\n");
    assert_int_equal(status_of(&heard), 503);
    buf_clear(&heard);
    for (int i = 0; i < 3; i++) close(fds[i]);
    UNTIL(web_server_counts(at.server).connections == 0);
    heard = ask(GET "Connection: close\r\n\r\n");
    assert_int_equal(status_of(&heard), 200);
    buf_clear(&heard);
}

static void test_connections_each(void **state) {
    (void)state;
    start_limited((WebLimits){.connections_each = 2});
    int a = join(), b = join();
    UNTIL(web_server_counts(at.server).connections == 2);
    Buf heard = ask(GET "\r\n");
    assert_int_equal(status_of(&heard), 429);
    buf_clear(&heard);
    close(a);
    close(b);
    UNTIL(web_server_counts(at.server).connections == 0);
    heard = ask(GET "Connection: close\r\n\r\n");
    assert_int_equal(status_of(&heard), 200);
    buf_clear(&heard);
}

static void test_connections_of_a_proxy(void **state) {
    (void)state;
    start_limited((WebLimits){.connections_each = 2, .trusts_local = true});
    int fds[5];
    for (int i = 0; i < 5; i++) fds[i] = join();
    UNTIL(web_server_counts(at.server).connections == 5);
    for (int i = 0; i < 5; i++) close(fds[i]);
}

/* ---- times ---- */

static void test_times(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    uint64_t began = uv_hrtime();
    start_limited((WebLimits){.header_ms = 200, .body_ms = 200, .idle_ms = 400});
    int silent = join(), slow = join(), body = join(), kept = join();
    say(kept, GET "\r\n");
    say(body, POST "Content-Length: 5\r\n\r\nab");
    /* A header now and then does not make the time longer. */
    for (int i = 0; i < 4; i++) {
        say(slow, i ? "X-One: a\r\n" : GET);
        rest(20);
    }
    hear_end(slow, &heard);
    assert_int_equal(status_of(&heard), 408);
    buf_reset(&heard);
    hear_end(body, &heard);
    assert_int_equal(status_of(&heard), 408);
    buf_reset(&heard);
    assert_true(uv_hrtime() - began >= 200 * 1000000ull);
    hear_end(kept, &heard);
    assert_int_equal(status_of(&heard), 200);
    assert_int_equal(count(&heard, "HTTP/1.1"), 1);
    buf_reset(&heard);
    hear_end(silent, &heard);
    assert_int_equal(heard.len, 0);
    assert_true(uv_hrtime() - began >= 400 * 1000000ull);
    close(silent), close(slow), close(body), close(kept);
    buf_clear(&heard);
    assert_int_equal(at.gone, 1);
}

/* A byte now and then is not enough. */
static void test_trickles(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){.body_ms = 400});
    int fd = join();
    say(fd, POST "Content-Length: 100000\r\n\r\n");
    for (int i = 0; i < 400 && !heard.len; i++) {
        say(fd, "a");
        rest(20);
        if (!hear_more(fd, &heard)) break;
    }
    hear_end(fd, &heard);
    assert_int_equal(status_of(&heard), 408);
    assert_int_equal(at.gone, 1);
    close(fd);
    buf_clear(&heard);
}

/* Many who never end their headers are in nobody's way. */
static void test_slow_many(void **state) {
    (void)state;
    int fds[300];
    start_limited((WebLimits){.header_ms = 60000});
    for (int i = 0; i < 300; i++) {
        fds[i] = join();
        say(fds[i], "GET / HTTP/1.1\r\nHost: ");
    }
    uint64_t began = uv_hrtime();
    Buf heard = ask(GET "Connection: close\r\n\r\n");
    assert_int_equal(status_of(&heard), 200);
    assert_true(uv_hrtime() - began < 2000 * 1000000ull);
    buf_clear(&heard);
    for (int i = 0; i < 300; i++) close(fds[i]);
}

/* A client that reads nothing is gone after a while; one that reads slowly is not. */
static void test_never_reads(void **state) {
    (void)state;
    start_limited((WebLimits){.write_ms = 300});
    int fd = join();
    int small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    say(fd, "GET /big HTTP/1.1\r\nHost: a\r\n\r\n"
            "GET /big HTTP/1.1\r\nHost: a\r\n\r\n"
            "GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
    UNTIL(web_server_counts(at.server).connections == 1);
    UNTIL(web_server_counts(at.server).connections == 0);
    close(fd);
    fd = join();
    say(fd, "GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    Buf heard = BUF_INIT;
    for (int i = 0; i < 10; i++) {
        rest(100);
        char some[100000];
        ssize_t n = recv(fd, some, sizeof some, MSG_DONTWAIT);
        if (n > 0) buf_add(&heard, some, (size_t)n);
    }
    hear_end(fd, &heard);
    assert_true(heard.len > sizeof at.big);
    close(fd);
    buf_clear(&heard);
}

/* ---- who goes ---- */

static void test_gone(void **state) {
    (void)state;
    start_limited((WebLimits){0});
    int fd = join();
    struct linger reset = {1, 0};
    say(fd, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    UNTIL(at.nlater == 1);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd);
    UNTIL(at.gone == 1);
    assert_null(at.later[0]);
    /* In the midst of its body. */
    fd = join();
    say(fd, POST "Content-Length: 5\r\n\r\nab");
    close(fd);
    UNTIL(at.gone == 2);
    /* Who has said all may listen for a moment. */
    fd = join();
    say(fd, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    shutdown(fd, SHUT_WR);
    UNTIL(at.nlater == 2);
    assert_true(is_quiet(fd));
    answer_text(at.later[1], &plain, "late");
    Buf heard = BUF_INIT;
    hear_end(fd, &heard);
    assert_true(has(&heard, "late"));
    close(fd);
    buf_clear(&heard);
    /* But not for long. */
    fd = join();
    say(fd, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    shutdown(fd, SHUT_WR);
    UNTIL(at.nlater == 3);
    UNTIL(at.gone == 3);
    close(fd);
}

/* ---- streams ---- */

static void test_streams(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){0});
    int fd = join();
    say(fd, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    hear(fd, &heard, "\r\n\r\n");
    assert_true(has(&heard, "Transfer-Encoding: chunked\r\n"));
    assert_true(has(&heard, "Content-Type: text/event-stream\r\n"));
    assert_int_equal(web_server_counts(at.server).streams, 1);
    web_stream_write(at.stream, "data: 1\n\n", 9);
    web_stream_write(at.stream, "data: 2\n\n", 9);
    assert_int_equal(at.drained, 0);
    assert_true(web_stream_waiting(at.stream) > 18);
    hear(fd, &heard, "9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n");
    assert_int_equal(at.drained, 1);
    assert_int_equal(web_stream_waiting(at.stream), 0);
    say(fd, GET "\r\n");
    web_stream_end(at.stream);
    hear(fd, &heard, "\r\n0\r\n\r\nHTTP/1.1 200 OK");
    hear(fd, &heard, "hello");
    assert_int_equal(at.streams_gone, 0);
    assert_int_equal(web_server_counts(at.server).streams, 0);
    /* The client goes. */
    say(fd, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    UNTIL(web_server_counts(at.server).streams == 1);
    close(fd);
    UNTIL(at.streams_gone == 1);
    assert_int_equal(at.gone, 0);
    buf_reset(&heard);
    /* HTTP/1.0 has no chunks; HEAD has no body. */
    fd = join();
    say(fd, "GET /stream HTTP/1.0\r\n\r\n");
    UNTIL(at.stream);
    web_stream_write(at.stream, "a", 1);
    web_stream_end(at.stream);
    hear_end(fd, &heard);
    assert_true(has(&heard, "\r\n\r\na") && has(&heard, "Connection: close"));
    assert_false(has(&heard, "chunked"));
    close(fd);
    buf_reset(&heard);
    at.stream = NULL;
    fd = join();
    say(fd, "HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    UNTIL(at.stream);
    web_stream_write(at.stream, "a", 1);
    web_stream_end(at.stream);
    say(fd, GET "\r\n");
    hear(fd, &heard, "hello");
    assert_true(has(&heard, "chunked\r\n\r\nHTTP/1.1 200"));
    close(fd);
    buf_clear(&heard);
}

/* One that begins at the head, with a body that is not read. */
static void test_stream_at_head(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){0});
    int fd = join();
    say(fd,
        "POST /stream-at-head HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel");
    UNTIL(at.stream);
    say(fd, "lo\r\n0\r\n\r\n");
    web_stream_write(at.stream, "abc", 3);
    hear(fd, &heard, "3\r\nabc\r\n");
    web_stream_end(at.stream);
    hear_end(fd, &heard);
    close(fd);
    assert_int_equal(at.requests, 0);
    at.stream = NULL;
    fd = join();
    say(fd, "POST /stream-at-head HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel");
    UNTIL(at.stream);
    web_stream_end(at.stream);
    buf_reset(&heard);
    say(fd, "lo" GET "\r\n");
    hear(fd, &heard, "hello");
    close(fd);
    buf_clear(&heard);
}

static void test_stream_limit(void **state) {
    (void)state;
    start_limited((WebLimits){.waiting = 8 << 20, .write_ms = 300});
    int fd = join();
    say(fd, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    UNTIL(at.stream);
    for (int i = 0; i < 10 && at.stream; i++) {
        web_stream_write(at.stream, at.big, sizeof at.big);
        assert_int_equal(at.streams_gone, 0);
    }
    UNTIL(at.streams_gone == 1);
    close(fd);
    /* Less than the limit, but never read. */
    fd = join();
    say(fd, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    UNTIL(at.stream);
    web_stream_write(at.stream, at.big, sizeof at.big);
    web_stream_write(at.stream, at.big, sizeof at.big);
    UNTIL(at.streams_gone == 2);
    close(fd);
}

/* ---- the end ---- */

static void test_closes(void **state) {
    (void)state;
    Buf heard = BUF_INIT;
    start_limited((WebLimits){0});
    int idle = join(), later = join(), stream = join(), never = join();
    say(idle, GET "\r\n");
    say(later, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n" GET "\r\n");
    say(stream, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    UNTIL(at.nlater == 1 && at.stream);
    say(never, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    UNTIL(at.nlater == 2);
    web_server_close(at.server, 700, on_closed, NULL);
    assert_int_equal(at.streams_gone, 1);
    hear_end(stream, &heard);
    assert_true(has(&heard, "0\r\n\r\n"));
    hear_end(idle, &heard);
    assert_int_equal(at.closed, 0);
    answer_text(at.later[0], &plain, "still");
    buf_reset(&heard);
    hear_end(later, &heard);
    assert_true(has(&heard, "still") && has(&heard, "Connection: close"));
    assert_int_equal(count(&heard, "HTTP/1.1"), 1);
    close(idle), close(later), close(stream);
    assert_int_equal(at.gone, 0);
    UNTIL(at.closed);
    assert_int_equal(at.gone, 1);
    close(never);
    buf_clear(&heard);
}

static void test_listens(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    char address[64];
    start_limited((WebLimits){0});
    snprintf(address, sizeof address, "127.0.0.1:%d", at.port);
    assert_int_equal(web_server_listen(at.server, address, &err), 0);
    assert_int_equal(err.code, ERR_BUSY);
    static const char *const wrong[] = {"",
                                        "7295",
                                        "127.0.0.1",
                                        "127.0.0.1:",
                                        "127.0.0.1:65536",
                                        "127.0.0.1:1x",
                                        "[::1:80",
                                        "::1:80",
                                        "300.0.0.1:80",
                                        "no.such.host.invalid:80"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        err = (Error)ERROR_INIT;
        assert_int_equal(web_server_listen(at.server, wrong[i], &err), 0);
        if (err.code != ERR_USAGE) fail_msg("%s: %s", wrong[i], err.msg);
    }
    int port = web_server_listen(at.server, "localhost:0", &err);
    assert_true(port > 0);
    close(join_at(port));
    port = web_server_listen(at.server, ":0", &err);
    assert_true(port > 0);
    int fd = join_at(port);
    Buf heard = BUF_INIT;
    say(fd, "GET /facts HTTP/1.1\r\nHost: a\r\n\r\n");
    hear(fd, &heard, "\r\n\r\n127.0.0.1 11 a 0");
    close(fd);
    buf_clear(&heard);
}

static void test_listens_at_fd(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    char folder[] = "/tmp/web-XXXXXX";
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    start_limited((WebLimits){0});
    assert_non_null(mkdtemp(folder));
    snprintf(place.sun_path, sizeof place.sun_path, "%s/s", folder);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&place, sizeof place), 0);
    assert_false(web_server_listen_fd(at.server, dup(fd), &err)); /* it does not listen */
    assert_int_equal(listen(fd, 5), 0);
    assert_true(web_server_listen_fd(at.server, fd, &err));
    int client = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(client, (struct sockaddr *)&place, sizeof place), 0);
    fcntl(client, F_SETFL, O_NONBLOCK);
    Buf heard = BUF_INIT;
    say(client, "GET /facts HTTP/1.1\r\nHost: a\r\n\r\n");
    hear(client, &heard, "\r\n\r\n 11 a 0");
    close(client);
    unlink(place.sun_path);
    rmdir(folder);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(listen(fd, 5), 0);
    struct sockaddr_in in;
    socklen_t len = sizeof in;
    getsockname(fd, (struct sockaddr *)&in, &len);
    assert_true(web_server_listen_fd(at.server, fd, &err));
    client = join_at(ntohs(in.sin_port));
    buf_reset(&heard);
    say(client, GET "\r\n");
    hear(client, &heard, "hello");
    close(client);
    buf_clear(&heard);
    assert_false(web_server_listen_fd(at.server, -1, &err));
    assert_false(web_server_listen_fd(at.server, open("/dev/null", O_RDONLY), &err));
}

/* A listening socket at an address of version 4 or 6; -1: there is no such version here. */
static int listening(const char *host) {
    struct sockaddr_storage any = {0};
    struct sockaddr_in *in = (struct sockaddr_in *)&any;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&any;
    bool six = strchr(host, ':');
    any.ss_family = six ? AF_INET6 : AF_INET;
    int fd = socket(any.ss_family, SOCK_STREAM, 0);
    assert_int_equal(inet_pton(any.ss_family, host, six ? (void *)&in6->sin6_addr : &in->sin_addr),
                     1);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&any, six ? sizeof *in6 : sizeof *in) == 0 &&
        listen(fd, 5) == 0) {
        return fd;
    }
    if (fd >= 0) close(fd);
    return -1;
}

/* A client that takes an answer in small sips is gone; one of a stream is not. What is in the kernel counts as taken, so little
 * may be there. */
static void test_sips(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    char sip[400];
    struct sockaddr_in in;
    socklen_t len = sizeof in;
    int room = 4096, small = 2048, listener = listening("127.0.0.1");
    start_limited((WebLimits){.write_ms = 1000});
    setsockopt(listener, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    getsockname(listener, (struct sockaddr *)&in, &len);
    assert_true(web_server_listen_fd(at.server, listener, &err));
    for (int i = 0; i < 2; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof in), 0);
        say(fd,
            i ? "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n" : "GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
        UNTIL(web_server_counts(at.server).connections == 1 && at.requests == i + 1);
        if (i) web_stream_write(at.stream, at.big, sizeof at.big);
        uint64_t end = uv_hrtime() + (i ? 5 : 15) * 1000000000ull;
        while (web_server_counts(at.server).connections && uv_hrtime() < end) {
            recv(fd, sip, sizeof sip, MSG_DONTWAIT);
            rest(40);
        }
        assert_int_equal(web_server_counts(at.server).connections, i);
        close(fd);
    }
    UNTIL(web_server_counts(at.server).waiting == 0);
}

static void test_listens_locally(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    static const char *const reachable[] = {"0.0.0.0:0", ":0", "[::]:0", "[::ffff:0.0.0.0]:0"};
    static const char *const hosts[] = {"0.0.0.0", "::", "::ffff:0.0.0.0"};
    static const char *const local[] = {"127.0.0.1:0", "127.3.2.1:0", "localhost:0", "0x7f.1:0"};
    start((WebServerOptions){.local = true});
    for (size_t i = 0; i < sizeof reachable / sizeof *reachable; i++) {
        assert_int_equal(web_server_listen(at.server, reachable[i], &err), 0);
        assert_int_equal(err.code, ERR_FORBIDDEN);
    }
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        int fd = listening(hosts[i]);
        if (fd < 0) continue;
        assert_false(web_server_listen_fd(at.server, fd, &err));
        assert_int_equal(err.code, ERR_FORBIDDEN);
        assert_int_equal(fcntl(fd, F_GETFD), -1); /* taken */
    }
    for (size_t i = 0; i < sizeof local / sizeof *local; i++) {
        if (!web_server_listen(at.server, local[i], &err)) fail_msg("%s: %s", local[i], err.msg);
    }
    assert_true(web_server_listen_fd(at.server, listening("127.0.0.1"), &err));
    int six = listening("::1");
    assert_true(six < 0 || web_server_listen_fd(at.server, six, &err));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_answers),
        TEST(test_bodies),
        TEST(test_headers),
        TEST(test_pipelined),
        TEST(test_pipelined_to_the_end),
        TEST(test_counts_what_waits),
        TEST(test_reads_no_further),
        TEST(test_early_answers),
        TEST(test_expect),
        TEST(test_refuses),
        TEST(test_limits),
        TEST(test_connections),
        TEST(test_connections_each),
        TEST(test_connections_of_a_proxy),
        TEST(test_times),
        TEST(test_slow_many),
        TEST(test_trickles),
        TEST(test_never_reads),
        TEST(test_sips),
        TEST(test_gone),
        TEST(test_streams),
        TEST(test_stream_at_head),
        TEST(test_stream_limit),
        TEST(test_closes),
        TEST(test_listens),
        TEST(test_listens_at_fd),
        TEST(test_listens_locally),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
