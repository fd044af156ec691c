/* web_frames.h - the frames of a WebSocket (RFC 6455), as a server reads them. Pure functions over bytes.
 *
 *     WebFrames frames = {.max = 16 << 20};
 *     while ((step = frames_next(&frames, &at, end, &piece)) != FRAMES_MORE) ...
 *     frames_clear(&frames);
 *
 * What a client may not send is FRAMES_BAD, with the code that the connection is closed with: a frame without a
 * mask, bits and kinds that have no meaning here, a length that is not written in the shortest way, control frames that
 * are long or in parts, parts that belong to nothing, text that is not UTF-8, a message that is too long. Nothing is
 * to be read after that, nor after FRAMES_CLOSE.
 */
#ifndef PAWL_WEB_FRAMES_H
#define PAWL_WEB_FRAMES_H

#include "buf.h"

#include <stdbool.h>

enum { FRAME_HEAD_MAX = 14, FRAME_CONTROL_MAX = 125 };

typedef enum FrameKind {
    FRAME_PART = 0,
    FRAME_TEXT = 1,
    FRAME_BINARY = 2,
    FRAME_CLOSE = 8,
    FRAME_PING = 9,
    FRAME_PONG = 10,
} FrameKind;

typedef enum FrameStep {
    FRAMES_MORE, /* all bytes are used */
    FRAMES_TEXT,
    FRAMES_BINARY,
    FRAMES_PING,
    FRAMES_PONG,
    FRAMES_CLOSE,
    FRAMES_BAD,
} FrameStep;

/* What a step has: lent until the next one. code: of a close (1005: it had none), or why a frame is bad. */
typedef struct FramePiece {
    const char *bytes;
    size_t len;
    int code;
} FramePiece;

typedef struct WebFrames {
    size_t max; /* bytes of a message */
    uint8_t head[FRAME_HEAD_MAX];
    uint8_t nhead, kind, message_kind; /* 0: no message has begun */
    bool last, inside;                 /* the frame ends its message; its head is complete */
    uint8_t mask[4];
    uint64_t left, done; /* of the payload */
    Buf message;
    char control[FRAME_CONTROL_MAX];
    uint8_t ncontrol;
} WebFrames;

/* Goes on at *at, at most to end, and moves *at. The bytes are unmasked where they are. */
FrameStep frames_next(WebFrames *f, char **at, char *end, FramePiece *piece);
void frames_clear(WebFrames *f);

/* Writes the head of a frame of the server, which has no mask; returns its length. */
size_t frame_head(uint8_t out[FRAME_HEAD_MAX], FrameKind kind, size_t len);
/* Whether a peer may close with this code. */
bool frame_code_is_known(int code);

#endif
