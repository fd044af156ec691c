/* fuzz_web_server - what a client may say to the HTTP server on one connection.
 *
 * The first byte says how the others are cut into pieces. The server reads them while the loop turns; a handler answers
 * each request at once, in a later turn, with a stream or as a WebSocket, as its path says. Whatever was said: the requests that
 * it was told are those that a reader sees who has all of the bytes (read_all(), with the functions of
 * web_http1_parse.h), up to where one is refused; each has come to one end; and nothing is left of them.
 */
#include "web_http1_parse.h"
#include "web_server.h"

#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

enum { HEAD_MAX = 4096, BODY_MAX = 5000, MESSAGE_MAX = 2000 };

static struct {
    uv_loop_t loop;
    WebServer *server;
    WebRequest *later;
    WebStream *stream;
    WebSocket *socket;
    int open; /* requests and sockets that were told and have no end */
    bool closed;
    Buf told;
} at;

static const WebAnswer plain = {200, "text/plain", NULL};

static void answer(WebRequest *r) {
    at.open--;
    web_answer_static(r, &plain, "hello", 5);
}

static void on_stream_gone(void *ctx) {
    (void)ctx;
    at.stream = NULL;
    at.open--;
}

static void on_message(void *ctx, const char *bytes, size_t len, bool text) {
    (void)ctx, (void)text;
    CHECK(len <= MESSAGE_MAX);
    web_socket_send(at.socket, bytes, len);
    if (len == 7) web_socket_close(at.socket, 1000, "seven");
}

static void on_socket_closed(void *ctx) {
    (void)ctx;
    at.socket = NULL;
    at.open--;
}

static void on_head(void *ctx, WebRequest *r) {
    static const WebSocketHost host = {.message = on_message, .closed = on_socket_closed};
    const char *target = web_target(r);
    (void)ctx;
    at.open++;
    if (target[1] == 'd') {
        answer(r);
    } else if (target[1] == 'w') {
        at.socket = web_socket_accept(r, NULL, &host);
        at.open -= !at.socket;
    }
}

static void on_request(void *ctx, WebRequest *r) {
    static const WebStreamHost host = {NULL, on_stream_gone, NULL};
    const char *target = web_target(r);
    size_t len;
    (void)ctx;
    web_body(r, &len);
    buf_printf(&at.told, "%s %s %zu\n", web_method(r), target, len);
    if (target[1] == 's') {
        at.stream = web_stream(r, &plain, &host);
        web_stream_write(at.stream, "data\n", 5);
    } else if (target[1] == 'l') {
        CHECK(!at.later);
        at.later = r;
    } else {
        answer(r);
    }
}

static void on_gone(void *ctx, WebRequest *r) {
    (void)ctx;
    if (at.later == r) at.later = NULL;
    at.open--;
}

static void on_closed(void *ctx) {
    (void)ctx;
    at.closed = true;
}

/* The client's end of a connection to a new server. */
static int up(void) {
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    socklen_t len = sizeof place;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
        client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* A name that the kernel chooses, in no folder. */
    CHECK(bind(listener, (struct sockaddr *)&place, sizeof place.sun_family) == 0);
    CHECK(listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&place, &len) == 0);
    CHECK(uv_loop_init(&at.loop) == 0);
    at.server = web_server_new(
        &(WebServerOptions){
            .loop = &at.loop,
            .head = on_head,
            .request = on_request,
            .gone = on_gone,
            .limits = {.header = HEAD_MAX, .body = BODY_MAX, .message = MESSAGE_MAX}},
        NULL);
    CHECK(web_server_listen_fd(at.server, listener, NULL));
    CHECK(connect(client, (struct sockaddr *)&place, len) == 0);
    return client;
}

static void turn(int client) {
    char heard[16384];
    uv_run(&at.loop, UV_RUN_NOWAIT);
    while (recv(client, heard, sizeof heard, 0) > 0) {}
    if (at.later) {
        WebRequest *r = at.later;
        at.later = NULL;
        answer(r);
    }
    if (at.stream) {
        WebStream *stream = at.stream;
        at.stream = NULL;
        at.open--;
        web_stream_end(stream);
    }
}

static void down(int client) {
    close(client);
    web_server_close(at.server, 0, on_closed, NULL);
    uv_run(&at.loop, UV_RUN_DEFAULT);
    CHECK(at.closed && uv_loop_close(&at.loop) == 0);
    CHECK(at.open == 0 && !at.later && !at.stream && !at.socket);
    at.closed = false;
}

/* ---- one who has all of the bytes ---- */

/* The length of the body, at most `there` bytes of it used. False: it is refused or does not end. */
static bool read_body(const Http1Head *head, const char *p, const char *end, size_t *body,
                      size_t *used) {
    Http1Chunks chunks = {0};
    const char *from = p, *data;
    size_t len;
    Http1Step step;
    *body = *used = (size_t)head->length;
    if (!head->chunked) return head->length <= BODY_MAX && head->length <= (size_t)(end - p);
    *body = 0;
    while ((step = http1_chunks_next(&chunks, &p, end, &data, &len)) == HTTP1_DATA) *body += len;
    *used = (size_t)(p - from);
    return step == HTTP1_END && *body <= BODY_MAX;
}

/* The requests up to where the connection ends. False: up to where it depends on more than the bytes. */
static bool read_all(const char *p, const char *end, Buf *out) {
    static Http1Head head;
    for (;;) {
        Http1Scan scan = {0};
        Http1Problem bad;
        size_t body, used;
        if (end - p >= 2 && p[0] == '\r' && p[1] == '\n') p += 2;
        size_t len = http1_head_end(&scan, p, (size_t)(end - p), HEAD_MAX, &bad);
        if (!len || !http1_head_parse(p, len, &head, &bad)) return true;
        const char *target = p + head.target.at;
        if (head.target.len > 1 && (target[1] == 'd' || target[1] == 'w')) return false;
        if (!read_body(&head, p + len, end, &body, &used)) return true;
        buf_printf(out, "%.*s %.*s %zu\n", (int)head.method.len, p + head.method.at,
                   (int)head.target.len, target, body);
        p += len + used;
        if (head.ends) return true;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    size_t by = (size_t)(data[0] + 1) * 16, len = size - 1;
    const char *bytes = (const char *)data + 1;
    Buf expected = BUF_INIT;
    int client = up();
    for (size_t done = 0; done < len;) {
        size_t n = len - done < by ? len - done : by;
        ssize_t sent = send(client, bytes + done, n, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) break;
        done += sent > 0 ? (size_t)sent : 0;
        turn(client);
    }
    bool all = read_all(bytes, bytes + len, &expected);
    for (int i = 0, quiet = 0; i < 1000 && quiet < 4; i++) {
        size_t before = at.told.len;
        turn(client);
        quiet = at.told.len == before && !at.later ? quiet + 1 : 0;
    }
    CHECK(at.told.len >= expected.len && (!all || at.told.len == expected.len));
    CHECK(!expected.len || memcmp(at.told.data, expected.data, expected.len) == 0);
    down(client);
    buf_clear(&at.told);
    buf_clear(&expected);
    return 0;
}
