/* fuzz_mask - any bytes as secrets and as a text that holds them.
 *
 * The first line is a list of secrets, parted by a blank; the rest is the text. However that is cut into pieces, the
 * same comes out; no secret of it is left; and what is found in a part of it was found in a piece that was cut.
 */
#define _GNU_SOURCE
#include "mask.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

enum { SECRETS_MAX = 8 };

static bool same(const Buf *a, const Buf *b) {
    return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

static void feed_all(const Mask *m, const char *text, size_t len, size_t piece, Buf *out) {
    MaskStream stream = {.held = BUF_INIT};
    for (size_t i = 0; i < len; i += piece) {
        mask_feed(m, &stream, text + i, len - i < piece ? len - i : piece, out);
    }
    mask_end(m, &stream, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *bytes = (const char *)data, *end = size ? memchr(bytes, '\n', size) : NULL;
    if (!end) return 0;
    const char *text = end + 1, *secrets[SECRETS_MAX];
    size_t len = size - (size_t)(text - bytes), lens[SECRETS_MAX], n = 0;
    Mask *m = mask_new();
    for (const char *at = bytes; at < end && n < SECRETS_MAX;) {
        const char *stop = memchr(at, ' ', (size_t)(end - at));
        stop = stop ? stop : end;
        lens[n] = (size_t)(stop - at);
        secrets[n++] = at;
        mask_add(m, at, (size_t)(stop - at));
        at = stop + 1;
    }
    Buf whole = BUF_INIT, cut = BUF_INIT;
    bool found = mask_text(m, text, len, 0, &whole);
    if (!found) {
        CHECK(whole.len == 0);
        buf_add(&whole, text, len);
    }
    for (size_t piece = 1; piece < 8; piece++) {
        Buf out = BUF_INIT;
        feed_all(m, text, len, piece, &out);
        CHECK(same(&out, &whole));
        buf_clear(&out);
    }
    for (size_t i = 0; i < n; i++) {
        /* "***" may be a part of a secret */
        bool stars = memchr(secrets[i], '*', lens[i]) != NULL;
        CHECK(stars || lens[i] < MASK_MIN || !whole.len ||
              !memmem(whole.data, whole.len, secrets[i], lens[i]));
    }
    mask_text(m, text, len, MASK_CUT_FRONT | MASK_CUT_BACK, &cut);
    CHECK(!found || cut.len);
    buf_clear(&whole);
    buf_clear(&cut);
    mask_free(m);
    return 0;
}
