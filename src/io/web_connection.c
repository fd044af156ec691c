/* Bytes in and out of one connection, and the wheel of times of all of them. */
#include "web_inside.h"

#include "mem.h"

#include <sys/socket.h>

enum {
    BUFFERS = 32,       /* of one write */
    WRITES_A_TURN = 16, /* of one connection, however much its client takes */
    PACE_MAX = 2 /* times write_ms: the longest time for which a client may have taken enough */
};

/* ---- the wheel ---- */

static void on_wheel(uv_timer_t *timer);

static void wheel_wake(WebServer *s, uint64_t at) {
    uint64_t now = uv_now(s->loop);
    s->wheel_next = at;
    uv_timer_start(&s->wheel, on_wheel, at > now ? at - now : 0, 0);
}

/* Puts a connection into the slot of its time, unless it will be looked at earlier. */
static void schedule(Connection *c) {
    WebServer *s = c->server;
    uint64_t at = c->due && (!c->write_due || c->due < c->write_due) ? c->due : c->write_due;
    if (c->closed || !at || (c->scheduled && c->scheduled <= at)) return;
    if (!s->wheel_next && uv_now(s->loop) / WHEEL_TICK > s->wheel_at) {
        s->wheel_at = uv_now(s->loop) / WHEEL_TICK; /* it stood still, with nothing in it */
    }
    uint64_t first = s->wheel_at + 1, tick = at / WHEEL_TICK + 1;
    tick = tick < first ? first : tick;
    tick = tick < s->wheel_at + WHEEL_SLOTS ? tick : s->wheel_at + WHEEL_SLOTS - 1;
    link_remove(&c->slot);
    link_add(&s->slots[tick % WHEEL_SLOTS], &c->slot);
    c->scheduled = tick * WHEEL_TICK;
    if (!s->wheel_next || c->scheduled < s->wheel_next) wheel_wake(s, c->scheduled);
}

void connection_due(Connection *c, uint64_t at) {
    c->due = at;
    schedule(c);
}

/* Counts what the client has taken. Each byte gives it time for the next, so that the least rate holds on the whole; what it took
 * quickly is good for a pause, but not for a long one. */
static void count_taken(Connection *c) {
    uint64_t now = uv_now(c->server->loop), ms = c->server->limits.write_ms;
    uint64_t all = c->sent;
    if (c->write) all += c->writing - uv_stream_get_write_queue_size(&c->handle.stream);
    if (all == c->taken) return;
    c->pace_due += (all - c->taken) * 1000 / LEAST_RATE;
    if (c->pace_due > now + PACE_MAX * ms) c->pace_due = now + PACE_MAX * ms;
    c->taken = all;
    c->taken_at = now;
}

/* Bytes wait, or none do any more. */
static void write_due(Connection *c, bool waits) {
    uint64_t now = uv_now(c->server->loop), ms = c->server->limits.write_ms;
    bool paced = c->protocol->paced && c->protocol->paced(c);
    if (waits && !c->write_due) {
        c->taken = c->sent;
        c->taken_at = now;
        c->pace_due = now + ms;
    } else if (waits) {
        count_taken(c);
    }
    if (!paced) c->pace_due = now + ms;
    uint64_t silent = c->taken_at + ms;
    c->write_due = !waits ? 0 : c->pace_due < silent ? c->pace_due : silent;
    schedule(c);
}

/* Nothing was taken for long, or too little, or nothing came. */
static void look(Connection *c, uint64_t now) {
    if (c->write_due && c->write_due <= now) {
        write_due(c, true);
        if (c->write_due <= now) {
            connection_close(c);
            return;
        }
    }
    if (c->due && c->due <= now) {
        c->due = 0;
        if (c->lingers) {
            connection_close(c);
        } else {
            c->protocol->late(c);
        }
    }
    schedule(c);
}

static void on_wheel(uv_timer_t *timer) {
    WebServer *s = timer->data;
    uint64_t now = uv_now(s->loop), tick = now / WHEEL_TICK, from = s->wheel_at + 1;
    s->wheel_next = 0;
    if (tick > WHEEL_SLOTS && from < tick - WHEEL_SLOTS + 1) from = tick - WHEEL_SLOTS + 1;
    s->wheel_at = tick > s->wheel_at ? tick : s->wheel_at;
    for (; from <= tick; from++) {
        Link *slot = &s->slots[from % WHEEL_SLOTS], late;
        links_init(&late);
        links_move(&late, slot);
        while (!links_empty(&late)) {
            Connection *c = LINKED(Connection, late.next, slot);
            link_remove(&c->slot);
            c->scheduled = 0;
            look(c, now);
        }
    }
    for (uint64_t at = s->wheel_at + 1; at < s->wheel_at + WHEEL_SLOTS; at++) {
        if (!links_empty(&s->slots[at % WHEEL_SLOTS])) {
            if (!s->wheel_next || at * WHEEL_TICK < s->wheel_next) wheel_wake(s, at * WHEEL_TICK);
            return;
        }
    }
}

void wheel_init(WebServer *s) {
    for (size_t i = 0; i < WHEEL_SLOTS; i++) links_init(&s->slots[i]);
    s->wheel_at = uv_now(s->loop) / WHEEL_TICK;
    uv_timer_init(s->loop, &s->wheel);
    s->wheel.data = s;
    uv_unref((uv_handle_t *)&s->wheel);
}

/* ---- bytes come ---- */

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *buf) {
    Connection *c = handle->data;
    (void)wanted;
    size_t room = c->lingers ? READ_MAX : c->protocol->room(c);
    *buf = uv_buf_init(c->server->input, (unsigned)(room ? room : AHEAD_MAX));
}

void connection_silent(Connection *c) {
    c->silent = true;
    if (c->lingers) {
        connection_close(c);
    } else {
        c->protocol->ended(c);
    }
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
    Connection *c = stream->data;
    if (n > 0) c->server->counts.bytes_in += (uint64_t)n;
    if (n == 0 || (n > 0 && c->lingers)) return;
    if (n == UV_EOF) {
        connection_silent(c);
    } else if (n < 0) {
        connection_close(c);
    } else if (c->tls) {
        tls_take(c, buf->base, (size_t)n);
    } else {
        connection_take(c, buf->base, (size_t)n);
    }
    connection_flush(c);
}

/* Begins or ends to read, as its protocol has it. */
static void read_on(Connection *c) {
    if (c->closed) return;
    bool wanted =
        !c->silent && (c->lingers || (c->protocol->room(c) && connection_waiting(c) < UNTAKEN_MAX));
    if (wanted != c->reading) {
        c->reading = wanted;
        if (wanted) {
            uv_read_start(&c->handle.stream, on_room, on_read);
        } else {
            uv_read_stop(&c->handle.stream);
        }
    }
}

void connection_take(Connection *c, char *bytes, size_t len) {
    const Protocol *protocol;
    bool kept = c->in.len > 0;
    size_t used = 0;
    if (c->closed || c->taking) return;
    if (kept) {
        buf_add(&c->in, bytes, len);
        bytes = c->in.data;
        len = c->in.len;
    }
    c->taking = true;
    do {
        protocol = c->protocol;
        used += protocol->take(c, bytes + used, len - used);
    } while (!c->closed && protocol != c->protocol);
    c->taking = false;
    if (used == len) {
        buf_clear(&c->in);
    } else if (kept) {
        memmove(c->in.data, c->in.data + used, len - used);
        c->in.len = len - used;
    } else {
        buf_add(&c->in, bytes + used, len - used);
    }
}

/* ---- bytes go ---- */

static Queue *wire(Connection *c) {
    return c->tls ? tls_wire(c->tls) : &c->out;
}

size_t connection_waiting(const Connection *c) {
    return c->out.bytes + (c->tls ? tls_wire(c->tls)->bytes : 0);
}

static unsigned gather(const Queue *q, uv_buf_t bufs[BUFFERS], size_t *bytes) {
    unsigned n = 0;
    *bytes = 0;
    for (const Piece *p = q->first; p && n < BUFFERS && *bytes < INT32_MAX / 2; p = p->next) {
        size_t len = p->len < INT32_MAX / 2 ? p->len : INT32_MAX / 2;
        bufs[n++] = uv_buf_init((char *)p->bytes, (unsigned)len);
        *bytes += len;
    }
    return n;
}

static void on_written(uv_write_t *write, int status) {
    Connection *c = write->data;
    mem_free(write);
    c->write = NULL;
    if (c->closed) return;
    if (status < 0) {
        connection_close(c);
        return;
    }
    c->server->counts.bytes_out += c->writing;
    c->sent += c->writing;
    queue_drop(c->server, wire(c), c->writing);
    connection_flush(c);
}

/* Writes what the socket takes now, and leaves the rest to the loop. */
static bool write_some(Connection *c) {
    uv_buf_t bufs[BUFFERS];
    size_t bytes;
    Queue *q = wire(c);
    int sent = uv_try_write(&c->handle.stream, bufs, gather(q, bufs, &bytes));
    if (sent < 0 && sent != UV_EAGAIN) {
        connection_close(c);
        return false;
    }
    if (sent > 0) {
        c->server->counts.bytes_out += (uint64_t)sent;
        c->sent += (uint64_t)sent;
        queue_drop(c->server, q, (size_t)sent);
        if ((size_t)sent == bytes) return true;
    }
    unsigned n = gather(q, bufs, &c->writing);
    c->write = mem_alloc(sizeof *c->write);
    c->write->data = c;
    if (uv_write(c->write, &c->handle.stream, bufs, n, on_written) < 0) {
        mem_free(c->write);
        c->write = NULL;
        connection_close(c);
        return false;
    }
    write_due(c, true);
    return false;
}

/* All is written and nothing more will be. */
static void say_end(Connection *c) {
    uv_os_fd_t fd;
    if (c->tls && !c->ended) {
        c->ended = true;
        tls_end(c->tls);
        connection_busy(c);
        return;
    }
    c->lingers = true;
    if (c->silent || uv_fileno(&c->handle.any, &fd) < 0 || shutdown(fd, SHUT_WR) < 0) {
        connection_close(c);
    } else {
        connection_due(c, uv_now(c->server->loop) + LINGER_MS);
    }
}

void connection_flush(Connection *c) {
    if (c->failed) connection_close(c);
    for (int writes = 0; !c->closed && !c->write; writes++) {
        if (writes == WRITES_A_TURN) {
            connection_busy(c);
            break;
        }
        if (c->protocol->flush) c->protocol->flush(c);
        if (c->tls) tls_encrypt(c);
        if (c->closed) return;
        if (!wire(c)->bytes) break;
        write_some(c);
    }
    if (c->closed) return;
    if (!c->write && !connection_waiting(c)) {
        if (c->write_due) write_due(c, false);
        if (c->drains) {
            c->drains = false;
            c->protocol->drained(c);
        }
        if (!c->closed && c->ending && !c->lingers && !connection_waiting(c)) say_end(c);
    }
    read_on(c);
}

void connection_busy(Connection *c) {
    WebServer *s = c->server;
    if (c->closed || c->busy.next) return;
    link_add(&s->busy, &c->busy);
}

static void on_idle(uv_idle_t *idle) {
    (void)idle;
}

/* Those that come to have something to do meanwhile have their turn in the next turn of the loop, which does not wait. */
void connections_flush(WebServer *s) {
    Link now;
    if (links_empty(&s->busy)) return;
    links_init(&now);
    links_move(&now, &s->busy);
    while (!links_empty(&now)) {
        Connection *c = LINKED(Connection, now.next, busy);
        link_remove(&c->busy);
        if (c->in.len && !c->failed && !c->lingers) connection_take(c, NULL, 0);
        connection_flush(c);
    }
    if (links_empty(&s->busy)) {
        uv_idle_stop(&s->idle);
    } else {
        uv_idle_start(&s->idle, on_idle);
    }
}

/* ---- its life ---- */

void connection_begin(Connection *c) {
    WebServer *s = c->server;
    c->handle.any.data = c;
    link_add(&s->all, &c->all);
    s->counts.connections++;
    s->counts.accepted++;
    if (c->handle.any.type == UV_TCP) {
        uv_tcp_nodelay(&c->handle.tcp, 1);
        uv_tcp_keepalive(&c->handle.tcp, 1, 60);
        if (s->tls) c->tls = tls_new(s->tls, c);
    }
    connection_http1(c);
    if (c->tls) connection_due(c, uv_now(s->loop) + s->limits.header_ms);
    read_on(c);
}

void connection_end(Connection *c) {
    c->ending = true;
    connection_busy(c);
}

void connection_fail(Connection *c) {
    c->failed = true;
    connection_busy(c);
}

static void on_closed(uv_handle_t *handle) {
    Connection *c = handle->data;
    WebServer *s = c->server;
    buf_clear(&c->in);
    queue_clear(s, &c->out);
    if (c->tls) {
        queue_clear(s, tls_wire(c->tls));
        tls_free(c->tls);
    }
    mem_free(c->peer);
    mem_free(c);
    s->open--;
    server_look(s);
}

void connection_close(Connection *c) {
    WebServer *s = c->server;
    if (c->closed) return;
    c->closed = true;
    link_remove(&c->all);
    link_remove(&c->busy);
    link_remove(&c->slot);
    s->counts.connections--;
    server_forget_address(c);
    c->protocol->gone(c);
    uv_close(&c->handle.any, on_closed);
}

const char *connection_peer(Connection *c) {
    struct sockaddr_storage address;
    int len = sizeof address;
    char text[INET6_ADDRSTRLEN] = "";
    if (!c->peer) {
        if (c->handle.any.type == UV_TCP && !c->closed &&
            uv_tcp_getpeername(&c->handle.tcp, (struct sockaddr *)&address, &len) == 0) {
            if (address.ss_family == AF_INET) {
                uv_ip4_name((struct sockaddr_in *)&address, text, sizeof text);
            } else {
                uv_ip6_name((struct sockaddr_in6 *)&address, text, sizeof text);
            }
        }
        /* An address of version 4 on a socket of both. */
        c->peer =
            mem_strdup(strncmp(text, "::ffff:", 7) == 0 && strchr(text, '.') ? text + 7 : text);
    }
    return c->peer;
}
