/* A WebSocket on a connection that began as HTTP/1.1.
 *
 * It ends in one of three ways, and closed() comes with each: both sides have said a close frame (then the connection
 * ends as after an answer), a frame was wrong (it is closed with a code), or the other side is gone. */
#include "web_inside.h"

#include "mem.h"
#include "web_frames.h"

#include <openssl/evp.h>

enum { MESSAGES_A_TURN = 64, KEY_LENGTH = 24 };

struct WebSocket {
    Connection *connection;
    WebSocketHost host;
    WebFrames frames;
    size_t held;  /* bytes of a message that is not complete, as the server counts them */
    bool closing; /* our close frame was sent */
    bool pinged;  /* nothing came since */
    bool waits;   /* for its next turn, with messages that have come */
};

static void put_frame(WebSocket *w, FrameKind kind, const char *bytes, size_t len) {
    Connection *c = w->connection;
    uint8_t head[FRAME_HEAD_MAX];
    if (c->failed || c->closed) return;
    if (connection_waiting(c) + len > c->server->limits.waiting) {
        connection_fail(c);
        return;
    }
    queue_add(c->server, &c->out, (char *)head, frame_head(head, kind, len));
    queue_add(c->server, &c->out, bytes, len);
    connection_busy(c);
}

static void put_close(WebSocket *w, int code, const char *reason, size_t len) {
    char bytes[FRAME_CONTROL_MAX] = {(char)(code >> 8), (char)code};
    if (w->closing) return;
    w->closing = true;
    len = len < FRAME_CONTROL_MAX - 2 ? len : FRAME_CONTROL_MAX - 2;
    while (len && (reason[len] & 0xC0) == 0x80) len--; /* not in the midst of a character */
    if (len) memcpy(bytes + 2, reason, len);
    put_frame(w, FRAME_CLOSE, bytes, code == 1005 ? 0 : len + 2);
}

/* Both have said that it is over, or one will not be listened to. */
static void finish(WebSocket *w) {
    connection_due(w->connection, 0);
    connection_end(w->connection);
}

/* ---- what comes ---- */

static void bad_frame(WebSocket *w, int code) {
    static const struct {
        int code;
        const char *why;
    } reasons[] = {
        {1002, "A frame is not right."},
        {1007, "A text is not UTF-8."},
        {1009, "A message is too long."},
        {1013, "The server holds as much as it can; try again."},
    };
    const char *why = "";
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (reasons[i].code == code) why = reasons[i].why;
    }
    w->connection->server->counts.refused++;
    put_close(w, code, why, strlen(why));
    finish(w);
}

/* What the messages of all sockets, and the bodies of all requests, may hold together is bounded. */
static void count_held(WebSocket *w) {
    WebServer *s = w->connection->server;
    s->held += w->frames.message.len - w->held;
    w->held = w->frames.message.len;
    if (s->held > s->limits.bodies && w->held && !w->connection->ending) bad_frame(w, 1013);
}

static size_t socket_take(Connection *c, char *bytes, size_t len) {
    WebSocket *w = c->as.socket;
    char *at = bytes, *end = bytes + len;
    FramePiece piece;
    FrameStep step;
    int messages = 0;
    w->waits = false;
    if (len) {
        w->pinged = false;
        if (!w->closing) connection_due(c, uv_now(c->server->loop) + c->server->limits.ping_ms);
    }
    while (!c->ending && (step = frames_next(&w->frames, &at, end, &piece)) != FRAMES_MORE) {
        switch (step) {
        case FRAMES_TEXT:
        case FRAMES_BINARY:
            if (!w->closing) {
                w->host.message(w->host.ctx, piece.bytes, piece.len, step == FRAMES_TEXT);
            }
            if (c->closed) return len;
            break;
        case FRAMES_PING:
            if (!w->closing) put_frame(w, FRAME_PONG, piece.bytes, piece.len);
            break;
        case FRAMES_CLOSE:
            put_close(w, piece.code, NULL, 0);
            finish(w);
            break;
        case FRAMES_BAD: bad_frame(w, piece.code); break;
        default: break;
        }
        if (++messages == MESSAGES_A_TURN && at < end) {
            w->waits = true;
            connection_busy(c);
            break;
        }
    }
    count_held(w);
    return w->waits ? (size_t)(at - bytes) : len;
}

static size_t socket_room(const Connection *c) {
    return c->as.socket->waits && c->in.len >= AHEAD_MAX ? 0 : READ_MAX;
}

static void socket_ended(Connection *c) {
    if (c->ending) {
        connection_flush(c);
    } else {
        connection_close(c);
    }
}

static void socket_late(Connection *c) {
    WebSocket *w = c->as.socket;
    if (w->closing) {
        connection_close(c);
    } else if (connection_waiting(c)) { /* it takes what waits: write_ms sees to that */
        connection_due(c, uv_now(c->server->loop) + c->server->limits.ping_ms);
    } else if (w->pinged) {
        connection_close(c);
    } else {
        w->pinged = true;
        put_frame(w, FRAME_PING, "", 0);
        connection_due(c, uv_now(c->server->loop) + c->server->limits.ping_ms);
    }
}

static void socket_drained(Connection *c) {
    WebSocket *w = c->as.socket;
    if (w->host.drained && !w->closing) w->host.drained(w->host.ctx);
}

static void socket_stop(Connection *c) {
    WebSocket *w = c->as.socket;
    if (w->host.stop && !w->closing) {
        w->host.stop(w->host.ctx);
    } else {
        web_socket_close(w, 1001, "The server ends.");
    }
}

static void socket_gone(Connection *c) {
    WebSocket *w = c->as.socket;
    c->server->counts.sockets--;
    if (w->host.closed) w->host.closed(w->host.ctx);
    c->server->held -= w->held;
    frames_clear(&w->frames);
    mem_free(w);
}

const Protocol socket_protocol = {
    .take = socket_take,
    .room = socket_room,
    .ended = socket_ended,
    .late = socket_late,
    .drained = socket_drained,
    .stop = socket_stop,
    .gone = socket_gone,
};

/* ---- what goes ---- */

void web_socket_send(WebSocket *w, const char *text, size_t len) {
    if (w->closing) return;
    w->connection->drains = true;
    put_frame(w, FRAME_TEXT, text, len);
}

size_t web_socket_waiting(const WebSocket *w) {
    return connection_waiting(w->connection);
}

void web_socket_close(WebSocket *w, int code, const char *reason) {
    if (w->closing) return;
    put_close(w, code, reason, reason ? strlen(reason) : 0);
    connection_due(w->connection, uv_now(w->connection->server->loop) + LINGER_MS);
}

/* ---- the beginning ---- */

bool web_wants_socket(const WebRequest *r) {
    const char *upgrade = web_header(r, "upgrade"), *connection = web_header(r, "connection");
    return r->version == 11 && upgrade && connection &&
           http_list_has(upgrade, strlen(upgrade), "websocket") &&
           http_list_has(connection, strlen(connection), "upgrade");
}

/* What is wrong with the asking, or NULL. */
static const char *problem_of(const WebRequest *r, const char *protocol) {
    const char *key = web_header(r, "sec-websocket-key"),
               *offered = web_header(r, "sec-websocket-protocol");
    unsigned char nonce[KEY_LENGTH];
    if (!web_wants_socket(r)) return "This is for WebSockets over HTTP/1.1 only.";
    if (strcmp(r->method, "GET") != 0 || r->connection->as.h1.phase != H1_WAIT || r->body.len) {
        return "A WebSocket begins with a GET that has no body.";
    }
    if (!key || strlen(key) != KEY_LENGTH || strcmp(key + KEY_LENGTH - 2, "==") != 0 ||
        EVP_DecodeBlock(nonce, (const unsigned char *)key, KEY_LENGTH) != 18) {
        return "The Sec-WebSocket-Key is not 16 bytes in base64.";
    }
    if (protocol && (!offered || !http_list_has(offered, strlen(offered), protocol))) {
        return "The client does not offer the protocol that is spoken here.";
    }
    return NULL;
}

static void refuse(WebRequest *r, int status, const char *why, const WebField *fields) {
    Buf body = BUF_INIT;
    http_problem(&body, &(Http1Problem){status, why});
    r->connection->server->counts.refused++;
    web_answer(r, &(WebAnswer){status, "application/problem+json", fields}, &body);
}

/* Base64 of the SHA-1 of the key and a text of the standard. */
static void accept_key(const char *key, char out[64]) {
    Buf text = BUF_INIT;
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    buf_printf(&text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    EVP_Digest(text.data, text.len, digest, &len, EVP_sha1(), NULL);
    EVP_EncodeBlock((unsigned char *)out, digest, (int)len);
    buf_clear(&text);
}

WebSocket *web_socket_accept(WebRequest *r, const char *protocol, const WebSocketHost *host) {
    static const WebField versions[] = {{"Upgrade", "websocket"},
                                        {"Connection", "Upgrade"},
                                        {"Sec-WebSocket-Version", "13"},
                                        {NULL, NULL}};
    const char *why = problem_of(r, protocol), *version = web_header(r, "sec-websocket-version");
    Connection *c = r->connection;
    WebServer *s = c->server;
    char accept[64];
    if (why) {
        refuse(r, 400, why, NULL);
        return NULL;
    }
    if (!version || strcmp(version, "13") != 0) {
        refuse(r, 426, "The version of the WebSocket is not 13.", versions);
        return NULL;
    }
    if (s->closing) {
        refuse(r, 503, "The server ends.", NULL);
        return NULL;
    }
    accept_key(web_header(r, "sec-websocket-key"), accept);
    http1_upgrade(r, accept, protocol);
    WebSocket *w = mem_zalloc(sizeof *w);
    w->connection = c;
    w->host = *host;
    w->frames.max = s->limits.message;
    c->as.socket = w;
    c->protocol = &socket_protocol;
    s->counts.sockets++;
    connection_due(c, uv_now(s->loop) + s->limits.ping_ms);
    if (c->silent) connection_fail(c);
    return w;
}
