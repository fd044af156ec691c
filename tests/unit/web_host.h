/* web_host.h - for tests of the HTTP server: a server on a loop, and raw clients that are driven by the same thread. */
#ifndef PAWL_TEST_WEB_HOST_H
#define PAWL_TEST_WEB_HOST_H

#define _GNU_SOURCE /* memmem, mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "buf.h"
#include "error.h"
#include "mem.h"
#include "web_server.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KEPT = 64 };

/* The server under test, and what its handlers have seen. */
static struct {
    uv_loop_t loop;
    WebServer *server;
    int port;
    WebRequest *later[KEPT];
    int nlater, heads, requests, gone, streams_gone, drained, closed;
    WebStream *stream;
    WebSocket *socket;
    int messages, sockets_closed;
    Buf seen; /* a line for each request */
    char big[3 << 20];
} at;

static const WebAnswer plain = {200, "text/plain", NULL};

static void answer_text(WebRequest *r, const WebAnswer *answer, const char *text) {
    Buf body = BUF_INIT;
    buf_adds(&body, text);
    web_answer(r, answer, &body);
    assert_null(body.data);
}

static bool is(const char *a, const char *b) {
    return a && strcmp(a, b) == 0;
}

static void on_drained(void *ctx) {
    (void)ctx;
    at.drained++;
}

static void on_stream_gone(void *ctx) {
    (void)ctx;
    at.streams_gone++;
    at.stream = NULL;
}

static const WebStreamHost stream_host = {on_drained, on_stream_gone, NULL};

/* It says what it hears, texts in angle brackets. "close" ends it. */
static void on_message(void *ctx, const char *bytes, size_t len, bool text) {
    Buf said = BUF_INIT;
    (void)ctx;
    at.messages++;
    if (len == 5 && memcmp(bytes, "close", 5) == 0) {
        web_socket_close(at.socket, 4000, "as you like");
        return;
    }
    if (text) buf_addc(&said, '<');
    buf_add(&said, bytes, len);
    if (text) buf_addc(&said, '>');
    web_socket_send(at.socket, said.data ? said.data : "", said.len);
    buf_clear(&said);
}

static void on_socket_closed(void *ctx) {
    (void)ctx;
    at.sockets_closed++;
    at.socket = NULL;
}

static const WebSocketHost socket_host = {
    .message = on_message, .drained = on_drained, .closed = on_socket_closed};

static void on_head(void *ctx, WebRequest *r) {
    (void)ctx;
    const char *target = web_target(r);
    at.heads++;
    assert_true(target[0] == '/');
    if (is(target, "/denied")) {
        answer_text(r, &(WebAnswer){401, "text/plain", NULL}, "no");
    } else if (is(target, "/ten")) {
        web_body_max(r, 10);
    } else if (is(target, "/much")) {
        web_body_max(r, 64 << 20);
    } else if (is(target, "/socket")) {
        at.socket = web_socket_accept(r, NULL, &socket_host);
    } else if (is(target, "/socket-pawl")) {
        at.socket = web_socket_accept(r, "pawl", &socket_host);
    } else if (is(target, "/stream-at-head")) {
        at.stream = web_stream(r, &plain, &stream_host);
    }
}

static void on_request(void *ctx, WebRequest *r) {
    const char *target = web_target(r);
    size_t len;
    (void)ctx;
    at.requests++;
    buf_printf(&at.seen, "%s %s\n", web_method(r), target);
    if (is(target, "/echo") || is(target, "/ten") || is(target, "/much")) {
        Buf body = BUF_INIT;
        const char *bytes = web_body(r, &len);
        buf_add(&body, bytes, len);
        web_answer(r, &plain, &body);
    } else if (is(target, "/header")) {
        const char *x = web_header(r, "x-One");
        answer_text(r, &plain, x ? x : "none");
    } else if (is(target, "/facts")) {
        Buf body = BUF_INIT;
        buf_printf(&body, "%s %d %s %d", web_peer(r), web_version(r), web_header(r, "HOST"),
                   web_is_tls(r));
        web_answer(r, &plain, &body);
    } else if (is(target, "/later")) {
        if (at.nlater < KEPT) {
            web_request_set_data(r, &at.later[at.nlater]);
            at.later[at.nlater++] = r;
        }
    } else if (is(target, "/wants")) {
        answer_text(r, &plain, web_wants_socket(r) ? "yes" : "no");
    } else if (is(target, "/big")) {
        web_answer_static(r, &plain, at.big, sizeof at.big);
    } else if (is(target, "/empty")) {
        web_answer(r, &(WebAnswer){204, NULL, NULL}, NULL);
    } else if (is(target, "/fields")) {
        WebField fields[] = {{"X-One", "1"}, {"X-Two", "zwei"}, {NULL, NULL}};
        answer_text(r, &(WebAnswer){201, "text/plain", fields}, "made");
    } else if (is(target, "/stream")) {
        at.stream = web_stream(r, &(WebAnswer){200, "text/event-stream", NULL}, &stream_host);
    } else {
        answer_text(r, &plain, "hello");
    }
}

static void on_gone(void *ctx, WebRequest *r) {
    (void)ctx;
    at.gone++;
    WebRequest **kept = web_request_data(r);
    if (kept) {
        assert_ptr_equal(*kept, r);
        *kept = NULL;
    }
}

static void on_closed(void *ctx) {
    (void)ctx;
    at.closed++;
    at.server = NULL;
}

static void start(WebServerOptions options) {
    Error err = ERROR_INIT;
    options.loop = &at.loop;
    options.head = on_head;
    options.request = on_request;
    options.gone = on_gone;
    at.server = web_server_new(&options, &err);
    if (!at.server) fail_msg("%s", err.msg);
    at.port = web_server_listen(at.server, "127.0.0.1:0", &err);
    if (!at.port) fail_msg("%s", err.msg);
}

static inline void start_limited(WebLimits limits) {
    start((WebServerOptions){.limits = limits});
}

static int open_files(void) {
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir)) n++;
    closedir(dir);
    return n;
}

static int files_at_start;

static int setup(void **state) {
    (void)state;
    alarm(300);
    memset(&at, 0, sizeof at);
    memset(at.big, 'x', sizeof at.big);
    /* The first loop of a process opens files that stay. */
    assert_int_equal(uv_loop_init(&at.loop), 0);
    assert_int_equal(uv_loop_close(&at.loop), 0);
    files_at_start = open_files();
    assert_int_equal(uv_loop_init(&at.loop), 0);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    if (at.server) web_server_close(at.server, 0, on_closed, NULL);
    uv_run(&at.loop, UV_RUN_DEFAULT);
    assert_int_equal(at.closed, 1);
    assert_int_equal(uv_loop_close(&at.loop), 0);
    buf_clear(&at.seen);
    assert_int_equal(open_files(), files_at_start);
    return 0;
}

/* ---- a client ---- */

static void turn(void) {
    uv_run(&at.loop, UV_RUN_NOWAIT);
}

static inline void rest(int ms) {
    uint64_t end = uv_hrtime() + (uint64_t)ms * 1000000;
    while (uv_hrtime() < end) {
        turn();
        usleep(500);
    }
}

/* Turns the loop until something holds; the test fails when that takes long. */
#define UNTIL(holds)                                                                          \
    do {                                                                                      \
        uint64_t end_ = uv_hrtime() + (uint64_t)20 * 1000000000;                              \
        while (!(holds)) {                                                                    \
            turn();                                                                           \
            if (uv_hrtime() > end_) fail_msg("%s:%d: never: %s", __FILE__, __LINE__, #holds); \
        }                                                                                     \
    } while (0)

static inline int join_at(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static int join(void) {
    return join_at(at.port);
}

static void say_bytes(int fd, const char *bytes, size_t len) {
    for (size_t done = 0; done < len;) {
        ssize_t n = send(fd, bytes + done, len - done, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN)
            return; /* the server has ended it; what it said is looked at */
        done += n > 0 ? (size_t)n : 0;
        turn();
    }
}

static inline void say(int fd, const char *text) {
    say_bytes(fd, text, strlen(text));
}

/* Reads what there is. False: the server has said all. */
static bool hear_more(int fd, Buf *heard) {
    char bytes[65536];
    ssize_t n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n > 0) buf_add(heard, bytes, (size_t)n);
    return n > 0 || (n < 0 && errno == EAGAIN);
}

static bool has(const Buf *heard, const char *text) {
    return heard->data && memmem(heard->data, heard->len, text, strlen(text));
}

static inline int count(const Buf *heard, const char *text) {
    int n = 0;
    for (const char *p = heard->data; p && (p = strstr(p, text)); p++) n++;
    return n;
}

/* Hears until the text is there. */
static inline void hear(int fd, Buf *heard, const char *text) {
    uint64_t end = uv_hrtime() + (uint64_t)20 * 1000000000;
    while (!has(heard, text)) {
        turn();
        if (!hear_more(fd, heard)) fail_msg("ended before '%s': '%s'", text, heard->data);
        if (uv_hrtime() > end) fail_msg("never '%s' in '%s'", text, heard->data);
    }
}

/* Hears until the server says no more. */
static inline void hear_end(int fd, Buf *heard) {
    uint64_t end = uv_hrtime() + (uint64_t)20 * 1000000000;
    while (hear_more(fd, heard)) {
        turn();
        if (uv_hrtime() > end) fail_msg("it does not end: '%s'", heard->data);
    }
}

/* Whether nothing comes for a while, and the connection stays. */
static inline bool is_quiet(int fd) {
    Buf heard = BUF_INIT;
    rest(50);
    bool open = hear_more(fd, &heard), quiet = open && !heard.len;
    buf_clear(&heard);
    return quiet;
}

/* Says a request on a connection of its own and hears until the server ends it. */
static inline Buf ask(const char *request) {
    Buf heard = BUF_INIT;
    int fd = join();
    say(fd, request);
    hear_end(fd, &heard);
    close(fd);
    return heard;
}

static inline int status_of(const Buf *heard) {
    int status = 0;
    if (heard->data) sscanf(heard->data, "HTTP/1.1 %d", &status);
    return status;
}

#endif
