/* fuzz_worker_message - what a worker may say, changed field by field.
 *
 * The first byte chooses a message that is right; each three bytes after it change one value somewhere in it:
 * which one, what becomes of it, and a detail. What follows a newline is a message of its own, any bytes.
 * Whatever comes of that is refused with a sentence, or everything in it is what worker_message.h says.
 */
#include "json_parse.h"
#include "json_print.h"
#include "worker_message.h"

#include <stdint.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

static const char *const right[] = {
    "{\"call\":\"0123456789abcdef\",\"result\":{\"a\":[1,2.5,null,\"text\"]}}",
    "{\"call\":\"t\",\"result\":null}",
    "{\"call\":\"t\",\"error\":{\"type\":\"KeyError\",\"message\":\"'k'\",\"traceback\":\"a long text, with "
    "lines\\n\",\"line\":3}}",
    "{\"call\":\"t\",\"error\":{\"type\":\"MemoryError\",\"message\":\"\",\"limit\":true,\"retire\":true}}",
    "{\"call\":\"t\",\"interrupt\":{\"question\":\"?\"}}",
    "{\"call\":\"t\",\"log\":\"a line\\n\"}",
    "{\"call\":\"t\",\"set\":\"var\",\"name\":\"a name of some length\",\"value\":7}",
    "{\"call\":\"t\",\"set\":\"output\",\"name\":\"n\",\"value\":[]}",
    "{\"spawn\":2}",
};

static const char *const others[] = {
    "null",
    "true",
    "0",
    "-1",
    "4702111234474983745",
    "1e300",
    "123456789012345678901234567890",
    "1.5",
    "\"\"",
    "\"\\u0000x\"",
    "\"short\"",
    "\"a text that is longer than thirteen bytes\"",
    "[]",
    "[[],{}]",
    "{}",
    "{\"type\":1}",
    "{\"call\":\"t\"}",
};

enum { RIGHT = sizeof right / sizeof *right, OTHERS = sizeof others / sizeof *others };

static const char *const keys[] = {"call", "result", "error", "type", "message",
                                   "line", "log",    "set",   "x"};

static Json other(uint8_t n) {
    const char *text = others[n % OTHERS];
    return json_parse(text, strlen(text), NULL, NULL);
}

/* Changes the nth value of an object or of the objects in it; *n goes down to 0 on the way. */
static Json change(Json value, unsigned *n, uint8_t how, uint8_t detail) {
    if (json_kind(value) != JSON_OBJECT) return value;
    Json names = json_object_keys(value, false);
    for (size_t i = 0; i < json_array_len(names) && *n; i++) {
        Json name = json_array_get(names, i);
        if (--*n > 0) {
            Json inner = json_object_lift(&value, name);
            value = json_object_set(value, json_ref(name), change(inner, n, how, detail));
        } else if (how % 3 == 0) {
            value = json_object_remove(value, name);
        } else if (how % 3 == 1) {
            value = json_object_set(value, json_ref(name), other(detail));
        } else {
            const char *key = keys[detail % (sizeof keys / sizeof *keys)];
            value = json_object_with(value, key, other((uint8_t)(detail >> 4)));
        }
    }
    json_unref(names);
    return value;
}

static void expect_text(Json text) {
    CHECK(json_is_none(text) || json_kind(text) == JSON_STRING);
}

static void read_message(Json value) {
    WorkerMessage m;
    Error err = ERROR_INIT;
    if (!worker_message_read(value, &m, &err)) {
        CHECK(err.code != ERR_NONE && err.msg[0]);
        return;
    }
    CHECK(m.said <= SAID_UNSTARTED);
    CHECK((m.said == SAID_UNSTARTED) == json_is_none(m.call));
    expect_text(m.call);
    expect_text(m.type);
    expect_text(m.message);
    expect_text(m.traceback);
    CHECK(m.line >= 0);
    if (m.said == SAID_LOG) CHECK(json_kind(m.value) == JSON_STRING);
    if (m.said == SAID_UNSTARTED) CHECK(m.why > 0 && m.why < 4096);
    if (m.said != SAID_UNSTARTED) CHECK(!json_is_none(m.value));
    Buf text = BUF_INIT;
    worker_message_sentence(&m, &text);
    CHECK(text.len && strlen(text.data) == text.len && text.len <= 2 * WORKER_TEXT_MAX + 2);
    buf_reset(&text);
    worker_message_text(m.traceback, &text);
    CHECK(strlen(text.data) == text.len && text.len <= WORKER_TEXT_MAX);
    buf_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = json_heap_bytes();
    if (!size) return 0;
    const uint8_t *rest = memchr(data, '\n', size), *end = data + size;
    const char *text = right[data[0] % RIGHT];
    Json value = json_parse(text, strlen(text), NULL, NULL);
    const uint8_t *at = data + 1, *stop = rest ? rest : end;
    for (; stop - at >= 3 && at < stop; at += 3) {
        unsigned n = at[0] % 12 + 1;
        value = change(value, &n, at[1], at[2]);
    }
    read_message(value);
    json_unref(value);
    if (rest) {
        value = json_parse((const char *)rest + 1, (size_t)(end - rest - 1), NULL, NULL);
        if (!json_is_none(value)) read_message(value);
        json_unref(value);
    }
    CHECK(json_heap_bytes() == before);
    return 0;
}
