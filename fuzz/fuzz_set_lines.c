/* fuzz_set_lines - any bytes as what a script prints.
 *
 * However they are cut into pieces, the same is set, told and left as text, in the same order; and what
 * is left as text sets nothing when it is read again.
 */
#include "json_print.h"
#include "set_lines.h"

#include <stdint.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

typedef struct Seen {
    Buf text, all;
    size_t nset, nproblems;
} Seen;

static void on_set(void *ctx, bool output, Json name, Json value) {
    Seen *seen = ctx;
    CHECK(json_kind(name) == JSON_STRING && json_string_len(name) > 0);
    CHECK(!json_is_none(value));
    buf_addc(&seen->all, output ? 'o' : 'v');
    json_print(name, NULL, &seen->all);
    json_print(value, NULL, &seen->all);
    seen->nset++;
    json_unref(name);
    json_unref(value);
}

static void on_progress(void *ctx, double percent, const char *message) {
    Seen *seen = ctx;
    CHECK(percent >= 0 && percent <= 100);
    buf_printf(&seen->all, "p%g%s", percent, message);
    seen->nset++;
}

static void on_text(void *ctx, const char *bytes, size_t len) {
    Seen *seen = ctx;
    CHECK(len > 0);
    buf_add(&seen->text, bytes, len);
    buf_add(&seen->all, bytes, len);
}

static void on_problem(void *ctx, bool lost, const char *sentence) {
    Seen *seen = ctx;
    buf_addc(&seen->all, lost ? 'l' : 'w');
    buf_adds(&seen->all, sentence);
    seen->nproblems++;
}

static Seen read_all(const char *bytes, size_t len, size_t piece) {
    Seen seen = {.text = BUF_INIT, .all = BUF_INIT};
    SetLinesHandler handler = {on_set, on_progress, on_text, on_problem, &seen};
    SetLines lines;
    set_lines_init(&lines, &handler);
    for (size_t i = 0; i < len; i += piece) {
        set_lines_feed(&lines, bytes + i, len - i < piece ? len - i : piece);
    }
    set_lines_end(&lines);
    set_lines_clear(&lines);
    return seen;
}

static void seen_clear(Seen *seen) {
    buf_clear(&seen->text);
    buf_clear(&seen->all);
}

static bool same_bytes(const Buf *a, const Buf *b) {
    return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *bytes = (const char *)data;
    Seen whole = read_all(bytes, size, size ? size : 1);
    for (size_t piece = 1; piece < 8 && piece < size; piece++) {
        Seen pieces = read_all(bytes, size, piece);
        CHECK(same_bytes(&whole.all, &pieces.all));
        seen_clear(&pieces);
    }
    Seen again = read_all(whole.text.data, whole.text.len, 100);
    CHECK(again.nset == 0 && again.nproblems == 0 && same_bytes(&again.text, &whole.text));
    seen_clear(&again);
    seen_clear(&whole);
    return 0;
}
