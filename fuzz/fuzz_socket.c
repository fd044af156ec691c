/* fuzz_socket - lines that somebody sends to the socket beside a store.
 *
 * The input is an array of lines, each a JSON value, or a text that is sent as it is. A host with two runs listens;
 * one peer connects, says all of them and hears what comes. Whatever was said: every line that comes back is an
 * object that answers a call, refuses one or tells an event; a call is answered at most once; the host answers
 * the next peer; and what is in the store is sound.
 */
#include "fuzz_host.h"

#include "json_build.h"
#include "mem.h"
#include "socket.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { LINES_SAID = 24, TURNS = 400, IDS = 1000 };

static const char *const words[] = {
    "\"t\"",
    "\"u\"",
    "\"t@1\"",
    "\"all\"",
    "\"run_start\"",
    "\"step\"",
    "\"run_get\"",
    "\"runs\"",
    "\"operations\"",
    "{\"request_id\":7,\"call\":\"run_history\",\"args\":{\"thread\":\"t\"}}",
    "{\"request_id\":8,\"call\":\"run_events\",\"args\":{\"thread\":\"u\",\"attach\":true}}",
    "{\"request_id\":9,\"call\":\"session\",\"args\":{\"thread\":\"u\"}}",
    NULL,
};

/* ---- a peer ---- */

static int join(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/host-%ld.sock",
             host_store_folder(at.host, NULL), (long)getpid());
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

static void hear(int fd, Buf *heard) {
    char piece[65536];
    ssize_t n = read(fd, piece, sizeof piece);
    if (n > 0) buf_add(heard, piece, (size_t)n);
}

static void say(int fd, const Buf *lines, Buf *heard) {
    for (size_t done = 0; done < lines->len;) {
        ssize_t n = send(fd, lines->data + done, lines->len - done, MSG_NOSIGNAL);
        done += n > 0 ? (size_t)n : 0;
        uv_run(&at.loop, UV_RUN_NOWAIT);
        hear(fd, heard);
        if (n < 0 && errno != EAGAIN) break;
    }
}

/* How often each number was answered. */
static void look_at(const Buf *heard, int answers[IDS]) {
    const char *p = heard->data, *end = p + heard->len, *nl;
    for (; p && (nl = memchr(p, '\n', (size_t)(end - p))); p = nl + 1) {
        Json line = json_parse(p, (size_t)(nl - p), NULL, NULL),
             id = json_object_get_c(line, "request_id");
        bool answer = !json_is_none(json_object_get_c(line, "answer")),
             error = !json_is_none(json_object_get_c(line, "error"));
        CHECK(json_kind(line) == JSON_OBJECT);
        CHECK(answer || error || !json_is_none(json_object_get_c(line, "hello")) ||
              !json_is_none(json_object_get_c(line, "subscription")));
        if (json_tag(id) == JSON_TAG_INT && id.i >= 0 && id.i < IDS) answers[id.i]++;
        json_unref(line);
    }
}

/* Each call has a number of its own, whatever it said. */
static void put_lines(Json document, Buf *out) {
    for (size_t i = 0; i < json_array_len(document) && i < LINES_SAID; i++) {
        Json line = json_ref(json_array_get(document, i));
        if (json_kind(line) == JSON_STRING) {
            buf_add(out, json_string_data(&line), json_string_len(line));
        } else {
            if (json_kind(line) == JSON_OBJECT &&
                !json_is_none(json_object_get_c(line, "request_id"))) {
                line = json_object_with(line, "request_id", json_int((int64_t)i + 1));
            }
            json_print(line, NULL, out);
        }
        buf_addc(out, '\n');
        json_unref(line);
    }
}

static void talk(Json document) {
    static const char last[] = "{\"request_id\":999,\"call\":\"operations\",\"args\":{}}\n";
    int answers[IDS] = {0}, fd = join();
    Buf lines = BUF_INIT, heard = BUF_INIT;
    put_lines(document, &lines);
    say(fd, &lines, &heard);
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
    buf_reset(&lines);
    buf_reset(&heard);
    buf_adds(&lines, last);
    fd = join();
    say(fd, &lines, &heard);
    while (!memmem(heard.data ? heard.data : "", heard.len, "\"request_id\":999", 16)) {
        uv_run(&at.loop, UV_RUN_NOWAIT);
        hear(fd, &heard);
    }
    close(fd);
    buf_clear(&lines);
    buf_clear(&heard);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = json_heap_bytes();
    Json document = read_document(data, size);
    if (json_kind(document) == JSON_ARRAY) {
        host_up();
        SocketServer *server = socket_listen(at.host, NULL);
        CHECK(server);
        talk(document);
        socket_close(server);
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
