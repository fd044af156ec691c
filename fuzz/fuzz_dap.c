/* fuzz_dap - whatever a client says to the debug adapter.
 *
 * An input that is an array of messages is a conversation: each element is a message, or a text that is sent as the bytes it is.
 * A host with two runs (`t` asks somebody, `u` is paused), and a workflow in its folder, are there to be debugged. Whatever was
 * said: what comes back is framed to the letter, and numbered from 1 without a gap; a request is answered at most once, and exactly
 * once if the conversation went on; the conversation ends when its client goes, and what is in the store is sound.
 *
 * Any other input is bytes on the wire: however they are cut into pieces, the same messages come out, and the same complaints.
 */
#include "fuzz_host.h"

#include "dap.h"
#include "dap_wire.h"
#include "json_build.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

enum { MESSAGES = 40, IDS = 1000, LAST = 999, QUIET_TURNS = 60, TURNS = 3000, STRANGE = 50000 };

static const char *const words[] = {
    "\"t\"",
    "\"u\"",
    "\"w.yaml\"",
    "\".n\"",
    "\"repl\"",
    "\"hover\"",
    "\"one\"",
    "\"\\r\\n\"",
    "\"Content-Length: 3\\r\\n\\r\\n\"",
    "{\"type\":\"request\",\"seq\":1,\"command\":\"threads\"}",
    "{\"type\":\"request\",\"seq\":1,\"command\":\"disconnect\"}",
    "{\"type\":\"request\",\"seq\":1,\"command\":\"stackTrace\",\"arguments\":{\"threadId\":1}}",
    "{\"type\":\"request\",\"seq\":1,\"command\":\"scopes\",\"arguments\":{\"frameId\":1}}",
    "{\"type\":\"request\",\"seq\":1,\"command\":\"variables\",\"arguments\":{\"variablesReference\":3}}",
    "{\"type\":\"request\",\"seq\":1,\"command\":\"next\",\"arguments\":{\"threadId\":1}}",
    "{\"type\":\"request\",\"seq\":1,\"command\":\"stepBack\",\"arguments\":{\"threadId\":1}}",
    "{\"type\":\"request\",\"seq\":1,\"command\":\"restart\",\"arguments\":{}}",
    "{\"type\":\"request\",\"seq\":1,\"command\":\"cancel\",\"arguments\":{\"requestId\":2}}",
    NULL,
};

static const char workflow[] =
    "name: w\nnodes:\n  - {name: one, jq: '{n: 1}'}\n  - {name: two, jq: '{n: (.n + 1)}'}\n";

/* ---- bytes on the wire ---- */

static void on_message(void *ctx, Json message) {
    JsonPrintOptions options = {0};
    buf_addc(ctx, 'm');
    json_print(message, &options, ctx);
    json_unref(message);
}

static void on_complaint(void *ctx, const Error *err) {
    CHECK(err->code != ERR_NONE && err->msg[0]);
    buf_printf(ctx, "!%s\n", err->msg);
}

static Buf read_all(const char *bytes, size_t len, size_t piece) {
    Buf out = BUF_INIT;
    WireReader reader = {0};
    WireHost host = {
        .message = on_message, .rubbish = on_complaint, .broken = on_complaint, .ctx = &out};
    for (size_t i = 0; i < len; i += piece) {
        wire_reader_feed(&reader, bytes + i, len - i < piece ? len - i : piece, &host);
    }
    buf_printf(&out, "%d%d", reader.stopped, reader.in_body);
    wire_reader_clear(&reader);
    return out;
}

static void read_bytes(const char *bytes, size_t len) {
    static const size_t pieces[] = {1, 3, 17};
    Buf whole = read_all(bytes, len, len + 1);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        Buf cut = read_all(bytes, len, pieces[i]);
        /* a header without an end is refused by its length, when it is that long: sooner where the pieces are small */
        CHECK(len > WIRE_HEADER_MAX ||
              (cut.len == whole.len && !memcmp(cut.data, whole.data, cut.len)));
        buf_clear(&cut);
    }
    buf_clear(&whole);
}

/* ---- a conversation ---- */

static struct {
    DapServer *server;
    bool rests, over;
} door;

static Client *on_open(void *ctx, const DapPlace *place, Error *err) {
    (void)ctx, (void)place, (void)err;
    return at.client;
}

static void on_rest(void *ctx) {
    (void)ctx;
    door.rests = true;
}

static void on_freed(void *ctx) {
    (void)ctx;
    door.over = true;
}

/* What was heard, and what was said. */
typedef struct Talk {
    int fd;
    Buf heard;
    WireReader reader;
    int64_t seq;
    int asked[IDS], answers[IDS]; /* by the number of a request */
    bool ended;                   /* the adapter has hung up */
} Talk;

static void on_heard(void *ctx, Json message) {
    Talk *talk = ctx;
    Json number = json_object_get_c(message, "request_seq");
    CHECK(json_kind(message) == JSON_OBJECT);
    Json seq = json_object_get_c(message, "seq");
    CHECK(json_tag(seq) == JSON_TAG_INT && seq.i == ++talk->seq);
    if (json_string_is(json_object_get_c(message, "type"), "response")) {
        CHECK(json_object_text(message, "command"));
        Json success = json_object_get_c(message, "success");
        CHECK(json_kind(success) == JSON_TRUE || json_object_text(message, "message"));
        if (json_tag(number) == JSON_TAG_INT && number.i > 0 && number.i < IDS) {
            talk->answers[number.i]++;
        }
    } else {
        CHECK(json_string_is(json_object_get_c(message, "type"), "event"));
        CHECK(json_object_text(message, "event"));
    }
    json_unref(message);
}

static void on_misheard(void *ctx, const Error *err) {
    (void)ctx;
    fprintf(stderr, "%s\n", err->msg);
    abort();
}

static bool hear(Talk *talk) {
    char piece[65536];
    WireHost host = {
        .message = on_heard, .rubbish = on_misheard, .broken = on_misheard, .ctx = talk};
    ssize_t n = talk->ended ? -1 : read(talk->fd, piece, sizeof piece);
    if (n > 0) wire_reader_feed(&talk->reader, piece, (size_t)n, &host);
    if (n == 0 || (n < 0 && errno == ECONNRESET)) talk->ended = true;
    return n > 0;
}

static void say(Talk *talk, const char *bytes, size_t len) {
    for (size_t done = 0; done < len && !talk->ended;) {
        ssize_t n = send(talk->fd, bytes + done, len - done, MSG_NOSIGNAL);
        done += n > 0 ? (size_t)n : 0;
        uv_run(&at.loop, UV_RUN_NOWAIT);
        hear(talk);
        if (n < 0 && errno != EAGAIN) return;
    }
}

/* Until nothing comes for a while. */
static void settle(Talk *talk) {
    for (int i = 0, quiet = 0; i < TURNS && quiet < QUIET_TURNS && !talk->ended; i++) {
        uv_run(&at.loop, UV_RUN_NOWAIT);
        quiet = hear(talk) ? 0 : quiet + 1;
        if (quiet) usleep(50);
    }
}

static void say_message(Talk *talk, Json message, size_t i) {
    Buf body = BUF_INIT, all = BUF_INIT;
    if (json_kind(message) == JSON_STRING) {
        say(talk, json_string_data(&message), json_string_len(message));
        json_unref(message);
        return;
    }
    if (json_kind(message) == JSON_OBJECT && !json_is_none(json_object_get_c(message, "seq"))) {
        message = json_object_with(message, "seq", json_int((int64_t)i + 1));
    }
    bool request = json_string_is(json_object_get_c(message, "type"), "request") &&
                   json_object_text(message, "command") &&
                   !json_is_none(json_object_get_c(message, "seq"));
    talk->asked[i + 1] += request;
    json_print(message, NULL, &body);
    buf_printf(&all, "Content-Length: %zu\r\n\r\n", body.len);
    buf_add(&all, body.data, body.len);
    say(talk, all.data, all.len);
    buf_clear(&body);
    buf_clear(&all);
    json_unref(message);
}

static uv_stream_t *open_end(int fd) {
    uv_pipe_t *pipe = mem_zalloc(sizeof *pipe);
    CHECK(uv_pipe_init(&at.loop, pipe, 0) == 0 && uv_pipe_open(pipe, fd) == 0);
    return (uv_stream_t *)pipe;
}

/* Whether all that were asked were answered. A conversation that ended by rubbish or `disconnect` need not answer. */
static void look_at(const Talk *talk) {
    for (int i = 0; i < IDS; i++) {
        CHECK(talk->answers[i] <= talk->asked[i]);
        CHECK(talk->ended || talk->answers[i] == talk->asked[i]);
    }
}

static void converse(Json document) {
    int ends[2];
    Talk talk = {0};
    bool rubbish = false;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    talk.fd = ends[0];
    door.rests = door.over = false;
    door.server = dap_new(
        &(DapOptions){.loop = &at.loop, .folder = at.folder, .open = on_open, .rests = on_rest});
    uv_stream_t *stream = open_end(ends[1]);
    dap_talk(door.server, stream, stream);
    for (size_t i = 0; i < json_array_len(document) && i < MESSAGES; i++) {
        Json message = json_array_get(document, i);
        rubbish = rubbish || json_kind(message) == JSON_STRING;
        say_message(&talk, json_ref(message), i);
        if (i % 4 == 3) settle(&talk);
    }
    settle(&talk);
    /* one that waits for the run ends with it: `cancel` has to be answered whatever waits */
    for (size_t i = 1; i <= MESSAGES && !talk.ended && !rubbish; i++) {
        if (talk.answers[i] >= talk.asked[i]) continue;
        Json cancel = OBJECT(KEY("requestId", json_int((int64_t)i)));
        say_message(&talk,
                    OBJECT(KEY("seq", json_int(0)), KEY("type", "request"),
                           KEY("command", "cancel"), KEY("arguments", cancel)),
                    LAST - 1);
        settle(&talk);
    }
    if (!rubbish) look_at(&talk);
    close(talk.fd);
    while (!door.rests) uv_run(&at.loop, UV_RUN_ONCE);
    dap_free(door.server, on_freed, NULL);
    while (!door.over) uv_run(&at.loop, UV_RUN_ONCE);
    wire_reader_clear(&talk.reader);
}

static void write_workflow(void) {
    char path[96];
    snprintf(path, sizeof path, "%s/w.yaml", at.folder);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(workflow, file) >= 0 && fclose(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = json_heap_bytes();
    Json document = size < STRANGE ? read_document(data, size) : json_none();
    signal(SIGPIPE, SIG_IGN);
    if (json_kind(document) == JSON_ARRAY) {
        host_up();
        write_workflow();
        converse(document);
        host_down();
    } else {
        read_bytes((const char *)data, size);
    }
    json_unref(document);
    CHECK(json_heap_bytes() == before);
    return 0;
}

/* ---- other inputs ---- */

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

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    bool messages = size && data[0] == '[';
    if (!messages && LLVMFuzzerMutate) return LLVMFuzzerMutate(data, size, max);
    return mutate_document(data, size, max, seed, change);
}
