/* The HTTP server over TLS: curl and raw frames of HTTP/2. */
#include "web_host.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/wait.h>

static char folder[64], cert[96], key[96];

/* Runs a command of the shell while the loop turns. */
static int run(Buf *out, const char *command, ...) {
    char text[1024];
    va_list args;
    va_start(args, command);
    vsnprintf(text, sizeof text, command, args);
    va_end(args);
    FILE *f = popen(text, "r");
    assert_non_null(f);
    fcntl(fileno(f), F_SETFL, O_NONBLOCK);
    buf_reset(out);
    for (;;) {
        char bytes[65536];
        ssize_t n = read(fileno(f), bytes, sizeof bytes);
        if (n > 0) buf_add(out, bytes, (size_t)n);
        if (n == 0) break;
        turn();
    }
    buf_add(out, "", 1);
    out->len--;
    return WEXITSTATUS(pclose(f));
}

/* Says what curl says of a path. */
static int curl(Buf *out, const char *options, const char *path) {
    return run(out, "curl -sS --max-time 60 --cacert %s %s https://localhost:%d%s 2>&1", cert,
               options, at.port, path);
}

static void make_certificate(const char *to_cert, const char *to_key) {
    char text[512];
    snprintf(
        text, sizeof text,
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
        "-subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout %s -out %s 2>/dev/null",
        to_key, to_cert);
    assert_int_equal(system(text), 0);
}

static int group_setup(void **state) {
    (void)state;
    strcpy(folder, "/tmp/web-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(cert, sizeof cert, "%s/cert.pem", folder);
    snprintf(key, sizeof key, "%s/key.pem", folder);
    make_certificate(cert, key);
    return 0;
}

static int group_teardown(void **state) {
    char text[128];
    (void)state;
    snprintf(text, sizeof text, "rm -r %s", folder);
    return system(text);
}

static void start_tls(WebLimits limits) {
    start((WebServerOptions){.tls_cert = cert, .tls_key = key, .limits = limits});
}

/* ---- curl ---- */

static void ask_all(const char *version, int number) {
    Buf out = BUF_INIT;
    char options[256], expected[64];
    assert_int_equal(curl(&out, version, "/facts"), 0);
    snprintf(expected, sizeof expected, "127.0.0.1 %d localhost:%d 1", number, at.port);
    assert_string_equal(out.data, expected);
    snprintf(options, sizeof options, "%s -i", version);
    assert_int_equal(curl(&out, options, "/fields"), 0);
    assert_true(has(&out, " 201"));
    assert_true(has(&out, number == 20 ? "\r\nx-two: zwei\r\n" : "\r\nX-Two: zwei\r\n"));
    assert_true(has(&out, "\r\n\r\nmade"));
    snprintf(options, sizeof options, "%s -i -H 'x-one: a' -H 'X-One: b'", version);
    assert_int_equal(curl(&out, options, "/header"), 0);
    assert_true(has(&out, "\r\n\r\na, b"));
    snprintf(options, sizeof options, "%s -I", version);
    assert_int_equal(curl(&out, options, "/"), 0);
    assert_true(has(&out, number == 20 ? "content-length: 5\r\n" : "Content-Length: 5\r\n"));
    snprintf(options, sizeof options, "%s -i", version);
    assert_int_equal(curl(&out, options, "/empty"), 0);
    assert_true(has(&out, " 204"));
    snprintf(options, sizeof options, "%s -d hello", version);
    assert_int_equal(curl(&out, options, "/echo"), 0);
    assert_string_equal(out.data, "hello");
    assert_int_equal(curl(&out, version, "/big"), 0);
    assert_int_equal(out.len, sizeof at.big);
    snprintf(options, sizeof options, "%s --data-binary @%s/body", version, folder);
    assert_int_equal(curl(&out, options, "/much"), 0);
    assert_int_equal(out.len, sizeof at.big);
    snprintf(options, sizeof options, "%s -H 'Transfer-Encoding: chunked' --data-binary @%s/body",
             version, folder);
    assert_int_equal(curl(&out, options, "/much"), 0);
    assert_int_equal(out.len, sizeof at.big);
    snprintf(options, sizeof options, "%s -w '%%{http_code}' --data-binary @%s/body", version,
             folder);
    assert_int_equal(curl(&out, options, "/ten"), 0);
    assert_true(has(&out, "413"));
    run(&out,
        "curl -sS --max-time 60 --cacert %s %s -w '%%{http_code}' -T - https://localhost:%d/ten "
        "< %s/body 2>&1",
        cert, version, at.port, folder);
    assert_true(has(&out, "413"));
    snprintf(options, sizeof options, "%s -w '%%{http_code}' --data-binary @%s/body", version,
             folder);
    assert_int_equal(curl(&out, options, "/denied"), 0);
    assert_true(has(&out, "no401"));
    snprintf(options, sizeof options,
             "%s -w '%%{http_code}' -H \"X-One: $(head -c 40000 %s/body)\"", version, folder);
    curl(&out, options, "/");
    assert_true(has(&out, "431"));
    buf_clear(&out);
}

static void test_curl(void **state) {
    (void)state;
    char path[96];
    snprintf(path, sizeof path, "%s/body", folder);
    FILE *f = fopen(path, "w");
    fwrite(at.big, 1, sizeof at.big, f);
    fclose(f);
    start_tls((WebLimits){0});
    ask_all("--http1.1", 11);
    ask_all("--http2", 20);
    UNTIL(web_server_counts(at.server).connections == 0);
    assert_int_equal(web_server_counts(at.server).requests_now, 0);
}

static void test_many_at_once(void **state) {
    (void)state;
    Buf out = BUF_INIT;
    start_tls((WebLimits){0});
    run(&out,
        "curl -sS -Z --max-time 60 --cacert %s --http2 'https://localhost:%d/big?[1-3]' "
        "'https://localhost:%d/[1-200]' 2>&1",
        cert, at.port, at.port);
    assert_int_equal(count(&out, "hello"), 203);
    assert_true(web_server_counts(at.server).accepted < 60);
    buf_clear(&out);
}

/* What is wrong with certificates, and a new one for a server that runs. */
static void test_certificates(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    char cert2[96], key2[96];
    Buf out = BUF_INIT;
    snprintf(cert2, sizeof cert2, "%s/cert2.pem", folder);
    snprintf(key2, sizeof key2, "%s/key2.pem", folder);
    make_certificate(cert2, key2);
    WebServerOptions options = {.loop = &at.loop, .tls_cert = cert, .tls_key = key2};
    assert_null(web_server_new(&options, &err));
    assert_true(strstr(err.msg, key2) != NULL);
    options = (WebServerOptions){.loop = &at.loop, .tls_cert = "/nowhere", .tls_key = key};
    assert_null(web_server_new(&options, &err));
    assert_true(strstr(err.msg, "/nowhere") != NULL);
    options = (WebServerOptions){.loop = &at.loop, .tls_cert = key, .tls_key = key};
    assert_null(web_server_new(&options, &err));
    options = (WebServerOptions){.loop = &at.loop, .tls_cert = cert};
    assert_null(web_server_new(&options, &err));
    assert_int_equal(err.code, ERR_USAGE);
    /* Files are replaced: the old certificate is used until it is asked for. */
    char used_cert[96], used_key[96], text[512];
    snprintf(used_cert, sizeof used_cert, "%s/used.pem", folder);
    snprintf(used_key, sizeof used_key, "%s/used-key.pem", folder);
    snprintf(text, sizeof text, "cp %s %s && cp %s %s", cert, used_cert, key, used_key);
    assert_int_equal(system(text), 0);
    start((WebServerOptions){.tls_cert = used_cert, .tls_key = used_key});
    assert_int_equal(curl(&out, "", "/"), 0);
    snprintf(text, sizeof text, "cp %s %s", cert2, used_cert);
    assert_int_equal(system(text), 0);
    assert_false(web_server_renew_tls(at.server, &err));
    assert_int_equal(curl(&out, "", "/"), 0);
    snprintf(text, sizeof text, "cp %s %s", key2, used_key);
    assert_int_equal(system(text), 0);
    assert_true(web_server_renew_tls(at.server, &err));
    assert_int_equal(curl(&out, "", "/"), 60);
    snprintf(text, sizeof text, "--cacert %s", cert2);
    assert_int_equal(curl(&out, text, "/"), 0);
    assert_string_equal(out.data, "hello");
    buf_clear(&out);
}

static void test_plain_to_tls(void **state) {
    (void)state;
    start_tls((WebLimits){.header_ms = 200});
    Buf heard = ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_int_equal(status_of(&heard), 400);
    assert_true(has(&heard, "https://"));
    buf_clear(&heard);
    heard =
        ask("\x16\x03\x01 this is no handshake at all, whatever it begins with. It ends badly.");
    assert_int_equal(status_of(&heard), 0);
    buf_clear(&heard);
    heard = ask("\x16\x03\x01"); /* and no more */
    buf_clear(&heard);
    assert_int_equal(at.heads, 0);
}

/* ---- frames of HTTP/2 ---- */

typedef struct Client {
    int fd;
    SSL_CTX *ctx;
    SSL *ssl;
    Buf heard;
    bool ended;
} Client;

static void settle(Client *c, int done) {
    int why = SSL_get_error(c->ssl, done);
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) c->ended = true;
    turn();
}

/* protocol: of ALPN, with its length before it. */
static Client client_open(const char *protocol) {
    Client c = {.fd = join(), .ctx = SSL_CTX_new(TLS_client_method())};
    int done;
    c.ssl = SSL_new(c.ctx);
    SSL_set_fd(c.ssl, c.fd);
    assert_int_equal(
        SSL_set_alpn_protos(c.ssl, (const unsigned char *)protocol, (unsigned)strlen(protocol)), 0);
    ERR_clear_error();
    while ((done = SSL_connect(c.ssl)) != 1 && !c.ended) settle(&c, done);
    assert_int_equal(done, 1);
    return c;
}

static void client_close(Client *c) {
    SSL_free(c->ssl);
    SSL_CTX_free(c->ctx);
    close(c->fd);
    buf_clear(&c->heard);
}

static void client_say(Client *c, const char *bytes, size_t len) {
    int done;
    ERR_clear_error();
    while (!c->ended && (done = SSL_write(c->ssl, bytes, (int)len)) <= 0) settle(c, done);
    turn();
}

static void client_hear(Client *c) {
    char bytes[65536];
    int n;
    ERR_clear_error();
    while ((n = SSL_read(c->ssl, bytes, sizeof bytes)) > 0) buf_add(&c->heard, bytes, (size_t)n);
    settle(c, n);
}

static void frame(Client *c, int type, int flags, int stream, const char *payload, size_t len) {
    Buf out = BUF_INIT;
    char head[9] = {(char)(len >> 16),    (char)(len >> 8),    (char)len,
                    (char)type,           (char)flags,         (char)(stream >> 24),
                    (char)(stream >> 16), (char)(stream >> 8), (char)stream};
    buf_add(&out, head, 9);
    buf_add(&out, payload, len);
    client_say(c, out.data, out.len);
    buf_clear(&out);
}

/* A frame of that type of that stream; NULL when none has come. */
static const uint8_t *find(const Client *c, int type, int stream) {
    const uint8_t *p = (const uint8_t *)c->heard.data, *end = p ? p + c->heard.len : p;
    while (end - p >= 9) {
        size_t len = (size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2];
        int of = p[5] << 24 | p[6] << 16 | p[7] << 8 | p[8];
        if (p[3] == type && of == stream && (size_t)(end - p) >= len + 9) return p + 9;
        p += len + 9;
        if (p > end) break;
    }
    return NULL;
}

enum { DATA, HEADERS, RST = 3, SETTINGS, PING = 6, GOAWAY, WINDOW_UPDATE };
enum { END_STREAM = 1, END_HEADERS = 4 };

static Client client_begin(const char *settings, size_t len) {
    Client c = client_open("\x02h2");
    client_say(&c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
    frame(&c, SETTINGS, 0, 0, settings, len);
    return c;
}

static void get(Client *c, int stream, const char *path, int flags) {
    Buf block = BUF_INIT;
    buf_adds(&block, flags & END_STREAM ? "\x82\x87\x41\x01"
                                          "a"
                                        : "\x83\x87\x41\x01"
                                          "a");
    buf_addc(&block, 4);
    buf_addc(&block, (char)strlen(path));
    buf_adds(&block, path);
    frame(c, HEADERS, flags, stream, block.data, block.len);
    buf_clear(&block);
}

static void test_frames(void **state) {
    (void)state;
    start_tls((WebLimits){0});
    Client c = client_begin("", 0);
    get(&c, 1, "/later", END_STREAM | END_HEADERS);
    get(&c, 3, "/stream", END_STREAM | END_HEADERS);
    get(&c, 5, "/facts", END_STREAM | END_HEADERS);
    UNTIL((client_hear(&c), find(&c, DATA, 5)));
    assert_memory_equal(find(&c, DATA, 5), "127.0.0.1 20 a 1", 16);
    assert_non_null(find(&c, HEADERS, 3));
    assert_null(find(&c, DATA, 3));
    assert_null(find(&c, HEADERS, 1));
    web_stream_write(at.stream, "data: 1\n\n", 9);
    assert_true(web_stream_waiting(at.stream) >= 9);
    UNTIL((client_hear(&c), find(&c, DATA, 3)));
    UNTIL(at.drained == 1);
    assert_int_equal(web_stream_waiting(at.stream), 0);
    web_stream_end(at.stream);
    /* The client resets one and goes: of the other, and of one more. */
    frame(&c, RST, 0, 1, "\0\0\0\x08", 4);
    UNTIL(at.gone == 1);
    get(&c, 7, "/stream", END_STREAM | END_HEADERS);
    get(&c, 9, "/later", END_STREAM | END_HEADERS);
    UNTIL(at.nlater == 2 && web_server_counts(at.server).streams == 1);
    client_close(&c);
    UNTIL(at.gone == 2 && at.streams_gone == 1);
}

static void test_slow_frames(void **state) {
    (void)state;
    start_tls((WebLimits){.header_ms = 200, .body_ms = 300, .write_ms = 400, .idle_ms = 600});
    /* No window for an answer, a body that does not come, a stream that is not taken. */
    Client c = client_begin("\0\x04\0\0\0\0", 6);
    get(&c, 1, "/big", END_STREAM | END_HEADERS);
    get(&c, 3, "/echo", END_HEADERS);
    get(&c, 5, "/stream", END_STREAM | END_HEADERS);
    UNTIL(at.stream);
    web_stream_write(at.stream, "data", 4);
    UNTIL((client_hear(&c), find(&c, RST, 1) && find(&c, RST, 3) && find(&c, RST, 5)));
    assert_int_equal(at.streams_gone, 1);
    assert_int_equal(at.gone, 1);
    assert_false(c.ended);
    /* Nothing more is asked for. */
    UNTIL((client_hear(&c), find(&c, GOAWAY, 0) && c.ended));
    client_close(&c);
    /* Headers that do not end. */
    c = client_begin("", 0);
    get(&c, 1, "/", END_STREAM);
    UNTIL((client_hear(&c), c.ended));
    client_close(&c);
    assert_int_equal(at.requests, 2);
    UNTIL(web_server_counts(at.server).connections == 0);
}

static void widen(Client *c, int stream, int bytes) {
    char by[4] = {0, (char)(bytes >> 16), (char)(bytes >> 8), (char)bytes};
    frame(c, WINDOW_UPDATE, 0, stream, by, 4);
}

/* An answer that is taken in small sips is reset. A stream is not, nor are answers that share a client that is fast enough. */
static void test_sips_of_frames(void **state) {
    (void)state;
    enum { SHARED = 16 };
    start_tls((WebLimits){.write_ms = 500});
    Client c = client_begin("\0\x04\0\0\0\0", 6);
    get(&c, 1, "/stream", END_STREAM | END_HEADERS);
    get(&c, 3, "/big", END_STREAM | END_HEADERS);
    UNTIL(at.stream);
    web_stream_write(at.stream, at.big, sizeof at.big);
    for (int i = 0; i < 40; i++) {
        widen(&c, 1, 64);
        if (!find(&c, RST, 3)) widen(&c, 3, 64);
        client_hear(&c);
        rest(50);
    }
    assert_non_null(find(&c, RST, 3));
    assert_null(find(&c, RST, 1));
    assert_int_equal(at.streams_gone, 0);
    client_close(&c);
    UNTIL(web_server_counts(at.server).connections == 0);
    c = client_begin("\0\x04\0\0\0\0", 6);
    widen(&c, 0, 8 << 20);
    for (int i = 0; i < SHARED; i++) get(&c, 2 * i + 1, "/big", END_STREAM | END_HEADERS);
    for (int n = 0; n < 40; n++) { /* 40 KB a second in all */
        for (int i = 0; i < SHARED; i++) widen(&c, 2 * i + 1, 128);
        client_hear(&c);
        rest(40);
    }
    for (int i = 0; i < SHARED; i++) assert_null(find(&c, RST, 2 * i + 1));
    client_close(&c);
    UNTIL(web_server_counts(at.server).waiting == 0);
}

static void test_hostile_frames(void **state) {
    (void)state;
    start_tls((WebLimits){0});
    /* Streams that are opened and reset. */
    Client c = client_begin("", 0);
    for (int i = 1; i < 10000 && !c.ended; i += 2) {
        get(&c, i, "/later", END_STREAM | END_HEADERS);
        frame(&c, RST, 0, i, "\0\0\0\x08", 4);
        if (i % 64 == 1) client_hear(&c);
    }
    UNTIL((client_hear(&c), c.ended));
    const uint8_t *away = find(&c, GOAWAY, 0);
    assert_non_null(away);
    assert_int_not_equal(away[7], 0);
    client_close(&c);
    assert_true(at.heads < 2000 && at.heads == at.gone);
    /* Not HTTP/2 at all. */
    c = client_open("\x02h2");
    client_say(&c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
    UNTIL((client_hear(&c), c.ended));
    client_close(&c);
    /* Pings whose answers nobody reads: a bound, not memory. */
    c = client_begin("", 0);
    get(&c, 1, "/stream", END_STREAM | END_HEADERS);
    UNTIL(at.stream);
    Buf pings = BUF_INIT;
    for (int i = 0; i < 900; i++)
        buf_add(&pings,
                "\0\0\x08\x06\0\0\0\0\0"
                "01234567",
                17);
    for (int i = 0; i < 2000 && at.stream; i++) {
        ERR_clear_error();
        if (SSL_write(c.ssl, pings.data, (int)pings.len) <= 0) SSL_get_error(c.ssl, -1);
        turn();
        if (at.stream) assert_true(web_stream_waiting(at.stream) < 4 << 20);
    }
    client_close(&c);
    buf_clear(&pings);
    UNTIL(web_server_counts(at.server).connections == 0);
}

/* What HTTP/1.1 refuses is refused here too. */
static void test_refuses(void **state) {
    (void)state;
    static const char *const blocks[] = {
        "\x82\x87\x84", /* no host */
        "\x82\x87\x84\x41\x01"
        "a\0\x04host\x01"
        "b", /* two of them */
        "\x82\x87\x41\x01"
        "a\x04\x01*", /* no path */
        "\x82\x87\x41\x01"
        "a\x04\x03/#b", /* */
        "\x82\x87\x41\x03"
        "a/b\x84", /* a host that is none */
        "\x42\x03"
        "G=T\x87\x84\x41\x01"
        "a", /* a method that is none */
    };
    static const size_t lengths[] = {3, 14, 8, 10, 8, 10};
    start_tls((WebLimits){0});
    for (size_t i = 0; i < 6; i++) {
        Client c = client_begin("", 0);
        frame(&c, HEADERS, END_STREAM | END_HEADERS, 1, blocks[i], lengths[i]);
        UNTIL((client_hear(&c), c.ended || find(&c, RST, 1) || find(&c, DATA, 1)));
        if (!c.ended && !find(&c, RST, 1)) {
            if (!memmem(find(&c, DATA, 1), 40, "about:blank", 11)) fail_msg("case %zu", i);
        }
        client_close(&c);
    }
    assert_int_equal(at.heads, 0);
}

static void test_socket(void **state) {
    (void)state;
    start_tls((WebLimits){0});
    Client c = client_open("\x08http/1.1");
    static const char request[] =
        "GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    client_say(&c, request, sizeof request - 1);
    UNTIL((client_hear(&c), has(&c.heard, "\r\n\r\n")));
    assert_true(has(&c.heard, "HTTP/1.1 101 "));
    client_say(&c, "\x81\x85\0\0\0\0hello", 11);
    UNTIL((client_hear(&c), has(&c.heard, "\x81\x07<hello>")));
    web_socket_send(at.socket, at.big, sizeof at.big);
    UNTIL((client_hear(&c), c.heard.len > sizeof at.big));
    client_say(&c, "\x88\x80\0\0\0\0", 6);
    UNTIL((client_hear(&c), c.ended));
    client_close(&c);
    UNTIL(at.sockets_closed == 1);
}

static void test_closes(void **state) {
    (void)state;
    start_tls((WebLimits){0});
    Client c = client_begin("", 0), idle = client_begin("", 0);
    get(&c, 1, "/later", END_STREAM | END_HEADERS);
    get(&c, 3, "/stream", END_STREAM | END_HEADERS);
    UNTIL(at.nlater == 1 && at.stream);
    web_server_close(at.server, 10000, on_closed, NULL);
    assert_int_equal(at.streams_gone, 1);
    UNTIL((client_hear(&idle), idle.ended));
    client_close(&idle);
    UNTIL((client_hear(&c), find(&c, GOAWAY, 0)));
    answer_text(at.later[0], &plain, "still");
    UNTIL((client_hear(&c), c.ended));
    assert_memory_equal(find(&c, DATA, 1), "still", 5);
    client_close(&c);
    UNTIL(at.closed);
    assert_int_equal(at.gone, 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_curl),           TEST(test_many_at_once),   TEST(test_certificates),
        TEST(test_plain_to_tls),   TEST(test_frames),         TEST(test_slow_frames),
        TEST(test_sips_of_frames), TEST(test_hostile_frames), TEST(test_refuses),
        TEST(test_closes),         TEST(test_socket),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
