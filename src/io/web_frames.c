/* A head is gathered byte by byte; the payload is taken in pieces. A message that is one frame and is there as a whole
 * is not copied. */
#include "web_frames.h"

#include "utf8.h"

static void unmask(char *bytes, size_t len, const uint8_t mask[4], uint64_t done) {
    uint8_t turned[8];
    uint64_t eight, word;
    size_t i = 0;
    for (int k = 0; k < 8; k++) turned[k] = mask[(done + (uint64_t)k) & 3];
    memcpy(&eight, turned, 8);
    for (; i + 8 <= len; i += 8) {
        memcpy(&word, bytes + i, 8);
        word ^= eight;
        memcpy(bytes + i, &word, 8);
    }
    for (; i < len; i++) bytes[i] = (char)(bytes[i] ^ turned[i & 7]);
}

static FrameStep bad(FramePiece *piece, int code) {
    *piece = (FramePiece){NULL, 0, code};
    return FRAMES_BAD;
}

/* How long the head is, as far as is known. */
static size_t head_length(const WebFrames *f) {
    size_t len = 2;
    if (f->nhead >= 2) {
        int size = f->head[1] & 127;
        len += (size_t)(size == 126 ? 2 : size == 127 ? 8 : 0) + 4;
    }
    return len;
}

/* The first two bytes are there. */
static int check_head(const WebFrames *f) {
    int kind = f->head[0] & 15, size = f->head[1] & 127;
    bool last = f->head[0] & 128, control = kind & 8;
    if (f->head[0] & 0x70 || !(f->head[1] & 128)) return 1002;
    if (control ? kind > FRAME_PONG || !last || size > FRAME_CONTROL_MAX : kind > FRAME_BINARY) {
        return 1002;
    }
    if (!control && (kind == FRAME_PART) != (f->message_kind != 0)) return 1002;
    return 0;
}

/* The head is complete: what it says. */
static int read_head(WebFrames *f) {
    int size = f->head[1] & 127, wide = size == 126 ? 2 : size == 127 ? 8 : 0;
    uint64_t len = 0;
    f->kind = f->head[0] & 15;
    f->last = f->head[0] & 128;
    for (int i = 0; i < wide; i++) len = len << 8 | f->head[2 + i];
    if ((wide == 2 && len < 126) || (wide == 8 && (len < 65536 || len >> 63))) return 1002;
    f->left = wide ? len : (uint64_t)size;
    f->done = 0;
    memcpy(f->mask, f->head + 2 + wide, 4);
    if (f->kind & 8) {
        f->ncontrol = 0;
    } else if (f->left > f->max - f->message.len) {
        return 1009;
    } else if (f->kind != FRAME_PART) {
        f->message_kind = f->kind;
    }
    return 0;
}

bool frame_code_is_known(int code) {
    return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
           (code >= 3000 && code <= 4999);
}

static FrameStep end_control(WebFrames *f, FramePiece *piece) {
    *piece = (FramePiece){f->control, f->ncontrol, 0};
    if (f->kind == FRAME_PING) return FRAMES_PING;
    if (f->kind == FRAME_PONG) return FRAMES_PONG;
    piece->code = 1005;
    if (f->ncontrol == 1) return bad(piece, 1002);
    if (f->ncontrol) {
        piece->code = (uint8_t)f->control[0] << 8 | (uint8_t)f->control[1];
        piece->bytes += 2;
        piece->len -= 2;
        if (!frame_code_is_known(piece->code)) return bad(piece, 1002);
        if (utf8_valid_prefix(piece->bytes, piece->len) != piece->len) return bad(piece, 1007);
    }
    return FRAMES_CLOSE;
}

static FrameStep end_message(WebFrames *f, const char *bytes, size_t len, FramePiece *piece) {
    bool text = f->message_kind == FRAME_TEXT;
    f->message_kind = 0;
    *piece = (FramePiece){bytes ? bytes : "", len, 0};
    if (text && utf8_valid_prefix(piece->bytes, len) != len) return bad(piece, 1007);
    return text ? FRAMES_TEXT : FRAMES_BINARY;
}

/* Some of the payload. FRAMES_MORE: nothing is to be told yet. */
static FrameStep take_payload(WebFrames *f, char **at, char *end, FramePiece *piece) {
    size_t there = (size_t)(end - *at), n = there < f->left ? there : (size_t)f->left;
    char *bytes = *at;
    bool whole = !f->done && n == f->left;
    unmask(bytes, n, f->mask, f->done);
    *at += n;
    f->left -= n;
    f->done += n;
    f->inside = f->left > 0;
    if (f->kind & 8) {
        memcpy(f->control + f->ncontrol, bytes, n);
        f->ncontrol = (uint8_t)(f->ncontrol + n);
        return f->inside ? FRAMES_MORE : end_control(f, piece);
    }
    if (whole && f->last && !f->message.len) return end_message(f, bytes, n, piece);
    buf_add(&f->message, bytes, n);
    if (f->inside || !f->last) return FRAMES_MORE;
    return end_message(f, f->message.data, f->message.len, piece);
}

FrameStep frames_next(WebFrames *f, char **at, char *end, FramePiece *piece) {
    FrameStep step = FRAMES_MORE;
    if (!f->message_kind) buf_clear(&f->message); /* it was told */
    while (step == FRAMES_MORE && (*at < end || (f->inside && !f->left))) {
        int code = 0;
        if (f->inside) {
            step = take_payload(f, at, end, piece);
            continue;
        }
        f->head[f->nhead++] = (uint8_t) * (*at)++;
        if (f->nhead == 2) code = check_head(f);
        if (!code && f->nhead > 2 && f->nhead == head_length(f)) {
            code = read_head(f);
            f->nhead = 0;
            f->inside = true;
        }
        if (code) step = bad(piece, code);
    }
    return step;
}

void frames_clear(WebFrames *f) {
    buf_clear(&f->message);
}

size_t frame_head(uint8_t out[FRAME_HEAD_MAX], FrameKind kind, size_t len) {
    int wide = len < 126 ? 0 : len < 65536 ? 2 : 8;
    out[0] = (uint8_t)(128 | kind);
    out[1] = (uint8_t)(wide == 2 ? 126 : wide == 8 ? 127 : len);
    for (int i = 0; i < wide; i++) out[2 + i] = (uint8_t)(len >> (8 * (wide - 1 - i)));
    return (size_t)wide + 2;
}
