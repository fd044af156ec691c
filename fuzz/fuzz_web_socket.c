/* fuzz_web_socket - frames of a WebSocket as a client may send them.
 *
 * The first byte says how the others are cut into pieces. Cut or whole, they are the same messages; texts are UTF-8 and
 * no message is longer than it may be; and what is read once is read again when it is written as one frame each.
 */
#include "web_frames.h"

#include "mem.h"
#include "utf8.h"

#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

enum { MESSAGE_MAX = 2000 };

static bool is_over(FrameStep step) {
    return step == FRAMES_CLOSE || step == FRAMES_BAD;
}

/* Reads all, in pieces of so many bytes, and writes what came: a kind, a code, a length and the bytes of each. */
static void read_frames(const char *bytes, size_t len, size_t by, Buf *out, Buf *frames) {
    WebFrames f = {.max = MESSAGE_MAX};
    FrameStep step = FRAMES_MORE;
    for (size_t done = 0; done < len && !is_over(step); done += by) {
        size_t n = len - done < by ? len - done : by;
        char *copy = mem_strndup(bytes + done, n), *at = copy;
        FramePiece piece;
        while (!is_over(step) && (step = frames_next(&f, &at, copy + n, &piece)) != FRAMES_MORE) {
            CHECK(piece.len <= MESSAGE_MAX && at <= copy + n);
            CHECK(step != FRAMES_TEXT || utf8_valid_prefix(piece.bytes, piece.len) == piece.len);
            CHECK(step != FRAMES_CLOSE || piece.code == 1005 || frame_code_is_known(piece.code));
            CHECK(step != FRAMES_BAD ||
                  (!piece.len && (piece.code == 1002 || piece.code == 1007 || piece.code == 1009)));
            buf_printf(out, "%d %d %zu:", step, piece.code, piece.len);
            buf_add(out, piece.bytes, piece.len);
            if (step == FRAMES_TEXT || step == FRAMES_BINARY) {
                uint8_t head[FRAME_HEAD_MAX];
                FrameKind kind = step == FRAMES_TEXT ? FRAME_TEXT : FRAME_BINARY;
                size_t nhead = frame_head(head, kind, piece.len);
                head[1] |= 128;
                buf_add(frames, (char *)head, nhead);
                buf_add(frames, "\0\0\0\0", 4);
                buf_add(frames, piece.bytes, piece.len);
            }
        }
        CHECK(is_over(step) || at == copy + n);
        mem_free(copy);
    }
    frames_clear(&f);
}

static bool same(const Buf *a, const Buf *b) {
    return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    size_t by = data[0] % 61 + 1, len = size - 1;
    const char *bytes = (const char *)data + 1;
    Buf whole = BUF_INIT, cut = BUF_INIT, frames = BUF_INIT, frames_cut = BUF_INIT;
    read_frames(bytes, len, len, &whole, &frames);
    read_frames(bytes, len, by, &cut, &frames_cut);
    CHECK(same(&whole, &cut) && same(&frames, &frames_cut));
    if (frames.len) {
        Buf again = BUF_INIT, told = BUF_INIT;
        read_frames(frames.data, frames.len, by, &told, &again);
        CHECK(same(&frames, &again));
        buf_clear(&again);
        buf_clear(&told);
    }
    buf_clear(&whole);
    buf_clear(&cut);
    buf_clear(&frames);
    buf_clear(&frames_cut);
    return 0;
}
