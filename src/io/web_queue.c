/* Pieces of 4 KB take what is small; a large body that somebody gives is a piece of its own and is not copied. */
#include "web_inside.h"

#include "mem.h"

enum { LARGE = 16 << 10 };

static Piece *piece_new(WebServer *s) {
    Piece *piece = s->spare;
    if (piece) {
        s->spare = piece->next;
        s->nspare--;
    } else {
        piece = mem_alloc(sizeof *piece + PIECE_SIZE);
    }
    *piece = (Piece){.bytes = (char *)(piece + 1), .room = PIECE_SIZE, .small = true};
    return piece;
}

static void piece_free(WebServer *s, Piece *piece) {
    mem_free(piece->owned);
    if (piece->small && s->nspare < PIECES_SPARE) {
        piece->next = s->spare;
        s->spare = piece;
        s->nspare++;
    } else {
        mem_free(piece);
    }
}

static void append(WebServer *s, Queue *q, Piece *piece) {
    piece->next = NULL;
    if (q->last) {
        q->last->next = piece;
    } else {
        q->first = piece;
    }
    q->last = piece;
    q->bytes += piece->len;
    s->counts.waiting += piece->len;
}

void queue_add(WebServer *s, Queue *q, const char *bytes, size_t len) {
    while (len) {
        Piece *last = q->last;
        if (!last || !last->room) append(s, q, last = piece_new(s));
        size_t n = len < last->room ? len : last->room;
        memcpy((char *)(last + 1) + (PIECE_SIZE - last->room), bytes, n);
        last->room -= n;
        last->len += n;
        q->bytes += n;
        s->counts.waiting += n;
        bytes += n;
        len -= n;
    }
}

void queue_body(WebServer *s, Queue *q, Body body) {
    if (body.len < LARGE) {
        queue_add(s, q, body.bytes, body.len);
        mem_free(body.owned);
    } else {
        Piece *piece = mem_alloc(sizeof *piece);
        *piece = (Piece){.bytes = body.bytes, .len = body.len, .owned = body.owned};
        append(s, q, piece);
    }
}

void queue_drop(WebServer *s, Queue *q, size_t len) {
    q->bytes -= len;
    s->counts.waiting -= len;
    while (q->first && len >= q->first->len) {
        Piece *piece = q->first;
        len -= piece->len;
        q->first = piece->next;
        if (!q->first) q->last = NULL;
        piece_free(s, piece);
    }
    if (len) {
        q->first->bytes += len;
        q->first->len -= len;
    }
}

void queue_clear(WebServer *s, Queue *q) {
    queue_drop(s, q, q->bytes);
}
