/* fuzz_sse - any bytes as Server-Sent Events, with a small limit so that long messages are common.
 *
 * However the bytes are cut into pieces the same messages come out, and no more is kept than a message and an id.
 */
#include "sse.h"

#include <stdint.h>
#include <stdlib.h>

enum { MAX = 64 };

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

static bool on_event(void *ctx, const SseMessage *m) {
    CHECK(m->event[0] && m->len <= MAX && strlen(m->id) <= MAX);
    buf_printf(ctx, "%s|%s|", m->event, m->id);
    buf_add(ctx, m->data, m->len);
    buf_addc(ctx, '\n');
    return m->event[0] != '!';
}

static Buf read_all(const char *bytes, size_t len, size_t piece) {
    Buf out = BUF_INIT;
    SseReader reader = {.host = {on_event, &out}, .max = MAX};
    bool goes_on = true;
    for (size_t at = 0; at < len; at += piece) {
        bool more = sse_feed(&reader, bytes + at, len - at < piece ? len - at : piece);
        CHECK(goes_on || !more);
        CHECK(reader.line.len + reader.data.len + reader.event.len <= MAX + 1);
        goes_on = more;
    }
    sse_clear(&reader);
    buf_addc(&out, goes_on ? '.' : '!');
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const size_t pieces[] = {1, 3, 17};
    Buf whole = read_all((const char *)data, size, size + 1);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        Buf cut = read_all((const char *)data, size, pieces[i]);
        CHECK(cut.len == whole.len && !memcmp(cut.data, whole.data, cut.len));
        buf_clear(&cut);
    }
    buf_clear(&whole);
    return 0;
}
