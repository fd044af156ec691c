/* fuzz_talk - messages that somebody sends over a WebSocket.
 *
 * The input is an array of messages, each a JSON value, or a text that is sent as it is; one that begins with "debug" is said to
 * /debug/u, where other words are known, too. A server over a host with two runs listens; one peer connects, says all of them and
 * hears what comes. Whatever was said: every message that comes back is an object with a type; a request is answered at most
 * once; the server answers the next peer; and what is in the store is sound.
 */
#include "fuzz_host.h"

#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { MESSAGES_SAID = 24, TURNS = 400, IDS = 1000, LAST = IDS - 1, PATIENCE = 200000 };

static const char *const words[] = {
    "\"t\"",
    "\"u\"",
    "\"debug-1-1\"",
    "\"subscribe\"",
    "\"unsubscribe\"",
    "\"step_over\"",
    "\"inspect_state\"",
    "\"clear_breakpoints\"",
    "\"set_breakpoints\"",
    "{\"type\":\"runs\",\"request_id\":1,\"data\":{}}",
    "{\"type\":\"run_start\",\"request_id\":1,\"data\":{\"thread\":\"v\"}}",
    "{\"type\":\"subscribe\",\"request_id\":1,\"data\":{\"thread\":\"u\",\"from\":0}}",
    NULL,
};

/* ---- a peer ---- */

static int join(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    return fd;
}

static void hear(int fd, Buf *heard) {
    char piece[65536];
    ssize_t n = recv(fd, piece, sizeof piece, 0);
    if (n > 0) buf_add(heard, piece, (size_t)n);
}

static void say(int fd, const Buf *bytes, Buf *heard) {
    for (size_t done = 0; done < bytes->len;) {
        ssize_t n = send(fd, bytes->data + done, bytes->len - done, MSG_NOSIGNAL);
        done += n > 0 ? (size_t)n : 0;
        uv_run(&at.loop, UV_RUN_NOWAIT);
        hear(fd, heard);
        if (n < 0 && errno != EAGAIN) break;
    }
}

/* A text with a mask of zeros: its bytes are those of the message. */
static void put_frame(const char *text, size_t len, Buf *out) {
    char head[14] = {(char)0x81};
    size_t n = 2;
    if (len < 126) {
        head[1] = (char)(0x80 | len);
    } else {
        head[1] = (char)(0x80 | 127);
        for (int i = 0; i < 8; i++) head[n++] = (char)(len >> (56 - 8 * i));
    }
    buf_add(out, head, n + 4);
    buf_add(out, text, len);
}

static void put_greeting(bool debug, Buf *out) {
    buf_printf(out,
               "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
               debug ? "/debug/u" : "/api/v1/ws");
}

/* Each request has a number of its own, whatever it said. */
static void put_messages(Json document, Buf *out) {
    Buf text = BUF_INIT;
    for (size_t i = 0; i < json_array_len(document) && i < MESSAGES_SAID; i++) {
        Json message = json_ref(json_array_get(document, i));
        buf_reset(&text);
        if (json_kind(message) == JSON_STRING) {
            buf_add(&text, json_string_data(&message), json_string_len(message));
        } else {
            if (json_kind(message) == JSON_OBJECT &&
                !json_is_none(json_object_get_c(message, "request_id"))) {
                message = json_object_with(message, "request_id", json_int((int64_t)i + 1));
            }
            json_print(message, NULL, &text);
        }
        put_frame(text.data ? text.data : "", text.len, out);
        json_unref(message);
    }
    buf_clear(&text);
}

/* The payload of the frame at *p, which moves behind it; false: it is not whole. */
static bool next_frame(const char **p, const char *end, const char **bytes, size_t *len,
                       int *kind) {
    const unsigned char *head = (const unsigned char *)*p;
    size_t left = (size_t)(end - *p), n = 2;
    if (left < 2) return false;
    CHECK((head[0] & 0x70) == 0 && (head[1] & 0x80) == 0); /* a server has no mask */
    *kind = head[0] & 15;
    *len = head[1];
    size_t more = *len == 126 ? 2 : *len == 127 ? 8 : 0;
    if (left < n + more) return false;
    if (more) *len = 0;
    for (size_t i = 0; i < more; i++) *len = *len << 8 | head[n++];
    if (left - n < *len) return false;
    *bytes = *p + n;
    *p += n + *len;
    return true;
}

/* How often each number was answered. */
static void look_at(const Buf *heard, int answers[IDS]) {
    const char *end = heard->data ? heard->data + heard->len : NULL, *bytes;
    const char *p = end ? memmem(heard->data, heard->len, "\r\n\r\n", 4) : NULL;
    size_t len;
    int kind;
    for (p = p ? p + 4 : end; p != end && next_frame(&p, end, &bytes, &len, &kind);) {
        if (kind != 1) continue;
        Json message = json_parse(bytes, len, NULL, NULL),
             id = json_object_get_c(message, "request_id");
        CHECK(json_kind(message) == JSON_OBJECT);
        CHECK(json_kind(json_object_get_c(message, "type")) == JSON_STRING);
        if (json_tag(id) == JSON_TAG_INT && id.i >= 0 && id.i < IDS) answers[id.i]++;
        json_unref(message);
    }
}

static void talk(int port, Json document) {
    static const char last[] = "{\"type\":\"runs\",\"request_id\":999}";
    Json first = json_array_get(document, 0);
    int answers[IDS] = {0}, fd = join(port);
    Buf bytes = BUF_INIT, heard = BUF_INIT;
    put_greeting(json_string_is(first, "debug"), &bytes);
    put_messages(document, &bytes);
    say(fd, &bytes, &heard);
    for (int i = 0; i < TURNS; i++) {
        size_t before = heard.len;
        bool busy = uv_run(&at.loop, UV_RUN_NOWAIT);
        hear(fd, &heard);
        if (before == heard.len) usleep(busy ? 100 : 0);
        if (i > 40 && before == heard.len) break;
    }
    look_at(&heard, answers);
    for (int i = 0; i < IDS; i++) CHECK(answers[i] <= 1);
    close(fd);
    buf_reset(&bytes);
    buf_reset(&heard);
    put_greeting(false, &bytes);
    put_frame(last, sizeof last - 1, &bytes);
    fd = join(port);
    say(fd, &bytes, &heard);
    for (int i = 0; answers[LAST] == 0; i++) {
        CHECK(i < PATIENCE);
        uv_run(&at.loop, UV_RUN_NOWAIT);
        hear(fd, &heard);
        look_at(&heard, answers);
    }
    close(fd);
    buf_clear(&bytes);
    buf_clear(&heard);
}

/* ---- inputs ---- */

static void on_closed(void *ctx) {
    *(bool *)ctx = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = json_heap_bytes();
    Json document = read_document(data, size);
    if (json_kind(document) == JSON_ARRAY) {
        bool closed = false;
        host_up();
        Server *server = server_new(&(ServerOptions){.loop = &at.loop, .client = at.client}, NULL);
        int port = server ? server_listen(server, "127.0.0.1:0", NULL) : 0;
        CHECK(port);
        talk(port, document);
        server_close(server, on_closed, &closed);
        while (!closed) uv_run(&at.loop, UV_RUN_ONCE);
        host_down();
    }
    json_unref(document);
    CHECK(json_heap_bytes() == before);
    return 0;
}

static Json change(Json document) {
    if (json_kind(document) != JSON_ARRAY) {
        json_unref(document);
        return json_array();
    }
    if (!dice(6)) {
        Json again = any_value_of(document);
        return json_array_push(document, again);
    }
    return change_value(document, words);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    return mutate_document(data, size, max, seed, change);
}
