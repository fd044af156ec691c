/* fuzz_lines - any bytes as lines of JSON, with a small limit so that long lines are common.
 *
 * However the bytes are cut into pieces the same values and the same complaints come out, and no more
 * is kept than a line and a piece.
 */
#include "json_print.h"
#include "lines.h"

#include <stdint.h>
#include <stdlib.h>

enum { MAX = 64 };

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

static void on_value(void *ctx, Json value) {
    json_print(value, NULL, ctx);
    buf_addc(ctx, '\n');
    json_unref(value);
}

static void on_rubbish(void *ctx, const Error *err) {
    CHECK(err->code && err->msg[0]);
    buf_printf(ctx, "! %s\n", err->msg);
}

static Buf read_all(const char *bytes, size_t len, size_t piece) {
    Buf out = BUF_INIT;
    LinesHost host = {.value = on_value, .rubbish = on_rubbish, .ctx = &out};
    LineReader reader = {.max = MAX};
    for (size_t at = 0; at < len; at += piece) {
        line_reader_feed(&reader, bytes + at, len - at < piece ? len - at : piece, &host);
        CHECK(reader.bytes.len <= MAX);
    }
    line_reader_clear(&reader);
    buf_addc(&out, '.');
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const size_t pieces[] = {1, 3, 17};
    size_t before = json_heap_bytes();
    Buf whole = read_all((const char *)data, size, size + 1);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        Buf cut = read_all((const char *)data, size, pieces[i]);
        CHECK(cut.len == whole.len && !memcmp(cut.data, whole.data, cut.len));
        buf_clear(&cut);
    }
    buf_clear(&whole);
    CHECK(json_heap_bytes() == before);
    return 0;
}
