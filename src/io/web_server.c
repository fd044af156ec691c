/* Listeners, who is let in, and the end. */
#include "web_inside.h"

#include "mem.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

typedef struct Listener {
    WebServer *server;
    struct Listener *next;
    union {
        uv_handle_t any;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } handle;
} Listener;

/* ---- options ---- */

static void fill_limits(WebLimits *limits) {
    static const WebLimits usual = {
        .connections = 16384,
        .header = 32 << 10,
        .body = 1 << 20,
        .bodies = (size_t)512 << 20,
        .message = 16 << 20,
        .waiting = 64 << 20,
        .header_ms = 10000,
        .body_ms = 30000,
        .idle_ms = 75000,
        .write_ms = 30000,
        .ping_ms = 30000,
    };
#define FILL(name) limits->name = limits->name ? limits->name : usual.name
    FILL(connections);
    FILL(header);
    FILL(body);
    FILL(bodies);
    FILL(message);
    FILL(waiting);
    FILL(header_ms);
    FILL(body_ms);
    FILL(idle_ms);
    FILL(write_ms);
    FILL(ping_ms);
#undef FILL
}

static void on_prepare(uv_prepare_t *prepare) {
    connections_flush(prepare->data);
}

static void on_check(uv_check_t *check) {
    connections_flush(check->data);
}

/* libuv writes without a flag for that. */
static void ignore_pipes(void) {
    struct sigaction now;
    if (sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
}

WebServer *web_server_new(const WebServerOptions *options, Error *err) {
    TlsContext *tls = NULL;
    if (options->tls_cert || options->tls_key) {
        if (!options->tls_cert || !options->tls_key) {
            error_set(err, ERR_USAGE, "TLS needs both a certificate and its key.");
            return NULL;
        }
        tls = tls_context_new(options->tls_cert, options->tls_key, err);
        if (!tls) return NULL;
    }
    WebServer *s = mem_zalloc(sizeof *s);
    s->loop = options->loop;
    s->options = *options;
    s->limits = options->limits;
    fill_limits(&s->limits);
    s->cert = mem_strdup(options->tls_cert);
    s->key = mem_strdup(options->tls_key);
    s->tls = tls;
    links_init(&s->all);
    links_init(&s->busy);
    wheel_init(s);
    uv_timer_init(s->loop, &s->grace);
    uv_prepare_init(s->loop, &s->prepare);
    uv_check_init(s->loop, &s->check);
    uv_idle_init(s->loop, &s->idle);
    s->grace.data = s->prepare.data = s->check.data = s->idle.data = s;
    uv_prepare_start(&s->prepare, on_prepare);
    uv_check_start(&s->check, on_check);
    uv_unref((uv_handle_t *)&s->prepare);
    uv_unref((uv_handle_t *)&s->check);
    s->handles = 5;
    ignore_pipes();
    return s;
}

bool web_server_renew_tls(WebServer *s, Error *err) {
    if (!s->tls) return error_set(err, ERR_USAGE, "The server has no TLS.");
    TlsContext *tls = tls_context_new(s->cert, s->key, err);
    if (!tls) return false;
    tls_context_free(s->tls);
    s->tls = tls;
    return true;
}

/* ---- addresses ---- */

/* By the address, whatever it was written as. A socket that is of neither version of IP is one of the file system. */
static bool is_local(const struct sockaddr_storage *address) {
    const struct sockaddr_in *in = (const struct sockaddr_in *)address;
    const struct in6_addr *in6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
    if (address->ss_family == AF_INET) return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    if (address->ss_family != AF_INET6) return address->ss_family == AF_UNIX;
    return IN6_IS_ADDR_LOOPBACK(in6) || (IN6_IS_ADDR_V4MAPPED(in6) && in6->s6_addr[12] == 127);
}

/* Of version 6, a network of 64 bits is one address: each customer has that many of them. */
static void address_bytes(const struct sockaddr_storage *address, uint8_t bytes[16]) {
    memset(bytes, 0, 16);
    if (address->ss_family == AF_INET) {
        memcpy(bytes, &((const struct sockaddr_in *)address)->sin_addr, 4);
    } else {
        const struct in6_addr *in6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(in6)) {
            memcpy(bytes, in6->s6_addr + 12, 4);
        } else {
            bytes[8] = 6;
            memcpy(bytes, in6, 8);
        }
    }
}

static Address **address_slot(WebServer *s, const uint8_t bytes[16]) {
    uint32_t hash = 2166136261u;
    for (int i = 0; i < 16; i++) hash = (hash ^ bytes[i]) * 16777619u;
    return &s->addresses[hash % ADDRESS_SLOTS];
}

/* Counts a connection of its address; false when there are too many. */
static bool count_address(Connection *c) {
    WebServer *s = c->server;
    struct sockaddr_storage peer = {0};
    int len = sizeof peer;
    uint8_t bytes[16];
    Address **slot, *a;
    if (!s->limits.connections_each || c->handle.any.type != UV_TCP) return true;
    uv_tcp_getpeername(&c->handle.tcp, (struct sockaddr *)&peer, &len);
    if (s->limits.trusts_local && is_local(&peer)) return true;
    address_bytes(&peer, bytes);
    slot = address_slot(s, bytes);
    for (a = *slot; a && memcmp(a->bytes, bytes, 16) != 0;) a = a->next;
    if (!a) {
        a = mem_zalloc(sizeof *a);
        memcpy(a->bytes, bytes, 16);
        a->next = *slot;
        *slot = a;
    }
    if (a->connections >= s->limits.connections_each) return false;
    a->connections++;
    c->address = a;
    return true;
}

void server_forget_address(Connection *c) {
    Address *a = c->address, **slot;
    c->address = NULL;
    if (!a || --a->connections) return;
    for (slot = address_slot(c->server, a->bytes); *slot != a;) slot = &(*slot)->next;
    *slot = a->next;
    mem_free(a);
}

/* ---- who comes ---- */

static void on_refused(uv_handle_t *handle) {
    Connection *c = handle->data;
    WebServer *s = c->server;
    mem_free(c);
    s->open--;
    server_look(s);
}

/* Too many are here: says so, without a wait, and without a reset where the request has come already. */
static void turn_away(Connection *c, int status) {
    WebServer *s = c->server;
    Http1Problem problem = {status, status == 429
                                        ? "There are too many connections from this address."
                                        : "The server has as many connections as it takes."};
    Buf body = BUF_INIT, out = BUF_INIT;
    uv_os_fd_t fd;
    s->counts.refused++;
    if (!s->tls && uv_fileno(&c->handle.any, &fd) == 0) {
        http_problem(&body, &problem);
        buf_printf(&out,
                   "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\n"
                   "Content-Length: %zu\r\nRetry-After: 1\r\nConnection: close\r\n\r\n%s",
                   status, http_status_text(status), body.len, body.data);
        if (send(fd, out.data, out.len, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
            shutdown(fd, SHUT_WR);
            while (recv(fd, s->input, sizeof s->input, MSG_DONTWAIT) == (ssize_t)sizeof s->input) {}
        }
        buf_clear(&body);
        buf_clear(&out);
    }
    c->handle.any.data = c;
    uv_close(&c->handle.any, on_refused);
}

static void on_connection(uv_stream_t *stream, int status) {
    Listener *l = stream->data;
    WebServer *s = l->server;
    if (status < 0 || s->closing) return;
    Connection *c = mem_zalloc(sizeof *c);
    c->server = s;
    c->handle.any.data = c;
    if (l->handle.any.type == UV_TCP) {
        uv_tcp_init(s->loop, &c->handle.tcp);
    } else {
        uv_pipe_init(s->loop, &c->handle.pipe, 0);
    }
    s->open++;
    if (uv_accept(stream, &c->handle.stream) < 0) {
        uv_close(&c->handle.any, on_refused);
    } else if (s->counts.connections >= s->limits.connections) {
        turn_away(c, 503);
    } else if (!count_address(c)) {
        turn_away(c, 429);
    } else {
        connection_begin(c);
    }
}

/* ---- listeners ---- */

static void on_listener_closed(uv_handle_t *handle) {
    Listener *l = handle->data;
    WebServer *s = l->server;
    mem_free(l);
    s->handles--;
    server_look(s);
}

static Listener *listener_new(WebServer *s, bool tcp) {
    Listener *l = mem_zalloc(sizeof *l);
    l->server = s;
    if (tcp) {
        uv_tcp_init(s->loop, &l->handle.tcp);
    } else {
        uv_pipe_init(s->loop, &l->handle.pipe, 0);
    }
    l->handle.any.data = l;
    l->next = s->listeners;
    s->listeners = l;
    s->handles++;
    return l;
}

static void listener_close(Listener *l) {
    Listener **at = &l->server->listeners;
    while (*at != l) at = &(*at)->next;
    *at = l->next;
    uv_close(&l->handle.any, on_listener_closed);
}

/* "host:port" to an address; a name is looked up. */
static bool read_address(uv_loop_t *loop, const char *text, struct sockaddr_storage *out,
                         Error *err) {
    const char *colon = strrchr(text, ':');
    size_t nhost = colon ? (size_t)(colon - text) : 0;
    char host[256], *end;
    long port = colon && colon[1] >= '0' && colon[1] <= '9' ? strtol(colon + 1, &end, 10) : -1;
    if (port < 0 || port > 65535 || *end || nhost >= sizeof host) {
        return error_set(err, ERR_USAGE,
                         "'%s' is no address to listen at; write it as 127.0.0.1:7295.", text);
    }
    memcpy(host, text, nhost);
    host[nhost] = '\0';
    if (nhost > 2 && host[0] == '[' && host[nhost - 1] == ']') {
        host[nhost - 1] = '\0';
        if (uv_ip6_addr(host + 1, (int)port, (struct sockaddr_in6 *)out) == 0) return true;
    } else if (!nhost) {
        return uv_ip6_addr("::", (int)port, (struct sockaddr_in6 *)out) == 0;
    } else if (uv_ip4_addr(!strcmp(host, "localhost") ? "127.0.0.1" : host, (int)port,
                           (struct sockaddr_in *)out) == 0) {
        return true; /* localhost is this machine also where no file says so (RFC 6761) */
    } else if (!strchr(host, ':')) {
        uv_getaddrinfo_t look_up;
        struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *a;
        if (uv_getaddrinfo(loop, &look_up, NULL, host, NULL, &hints) == 0) {
            /* Version 4 first: that is what "localhost" means to most programs. */
            for (a = look_up.addrinfo; a->ai_next && a->ai_family != AF_INET;) a = a->ai_next;
            memcpy(out, a->ai_addr, a->ai_addrlen);
            if (a->ai_family == AF_INET) {
                ((struct sockaddr_in *)out)->sin_port = htons((uint16_t)port);
            } else {
                ((struct sockaddr_in6 *)out)->sin6_port = htons((uint16_t)port);
            }
            uv_freeaddrinfo(look_up.addrinfo);
            return true;
        }
    }
    return error_set(err, ERR_USAGE, "There is no host '%.*s' to listen at.", (int)nhost, text);
}

/* "0.0.0.0:7295", "[::]:7295" */
static void name_address(const struct sockaddr_storage *address, char *out, size_t size) {
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
    const struct sockaddr_in *in = (const struct sockaddr_in *)address;
    char host[INET6_ADDRSTRLEN] = "";
    bool six = address->ss_family == AF_INET6;
    uv_ip_name((const struct sockaddr *)address, host, sizeof host);
    snprintf(out, size, six ? "[%s]:%d" : "%s:%d", host,
             ntohs(six ? in6->sin6_port : in->sin_port));
}

static bool refuse_address(Error *err, const char *address) {
    error_set(err, ERR_FORBIDDEN, "Others can reach the address %s.", address);
    return error_fact(err, "address", address);
}

static int bound_port(Listener *l) {
    struct sockaddr_storage address;
    int len = sizeof address;
    uv_tcp_getsockname(&l->handle.tcp, (struct sockaddr *)&address, &len);
    return ntohs(address.ss_family == AF_INET ? ((struct sockaddr_in *)&address)->sin_port
                                              : ((struct sockaddr_in6 *)&address)->sin6_port);
}

int web_server_listen(WebServer *s, const char *address, Error *err) {
    struct sockaddr_storage at = {0};
    if (!read_address(s->loop, address, &at, err)) return 0;
    if (s->options.local && !is_local(&at)) return refuse_address(err, address);
    Listener *l = listener_new(s, true);
    int failed = uv_tcp_bind(&l->handle.tcp, (struct sockaddr *)&at, 0);
    if ((failed == UV_EAFNOSUPPORT || failed == UV_EADDRNOTAVAIL) && address[0] == ':') {
        /* No version 6 here. */
        listener_close(l);
        l = listener_new(s, true);
        uv_ip4_addr("0.0.0.0", ntohs(((struct sockaddr_in6 *)&at)->sin6_port),
                    (struct sockaddr_in *)&at);
        failed = uv_tcp_bind(&l->handle.tcp, (struct sockaddr *)&at, 0);
    }
    failed = failed ? failed : uv_listen(&l->handle.stream, BACKLOG, on_connection);
    if (failed) {
        listener_close(l);
        if (failed == UV_EADDRINUSE) {
            error_set(err, ERR_BUSY, "The address %s is taken by another program.", address);
            error_fact(err, "address", address);
        } else {
            error_set(err, ERR_IO, "Cannot listen at %s: %s.", address, uv_strerror(failed));
        }
        return 0;
    }
    return bound_port(l);
}

bool web_server_listen_fd(WebServer *s, int fd, Error *err) {
    struct sockaddr_storage address;
    socklen_t len = sizeof address, size = sizeof(int);
    int listens = 0, type = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 || !listens ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_STREAM ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0) {
        if (fd >= 0) close(fd);
        return error_set(err, ERR_USAGE, "Descriptor %d is no socket that listens.", fd);
    }
    bool tcp = address.ss_family == AF_INET || address.ss_family == AF_INET6;
    if (s->options.local && !is_local(&address)) {
        char text[INET6_ADDRSTRLEN + 16] = "of the socket";
        if (tcp) name_address(&address, text, sizeof text);
        close(fd);
        return refuse_address(err, text);
    }
    Listener *l = listener_new(s, tcp);
    int failed = tcp ? uv_tcp_open(&l->handle.tcp, fd) : uv_pipe_open(&l->handle.pipe, fd);
    if (failed) close(fd);
    failed = failed ? failed : uv_listen(&l->handle.stream, BACKLOG, on_connection);
    if (failed) {
        listener_close(l);
        return error_set(err, ERR_IO, "Cannot listen at descriptor %d: %s.", fd,
                         uv_strerror(failed));
    }
    return true;
}

/* ---- the end ---- */

static void on_server_handle_closed(uv_handle_t *handle) {
    WebServer *s = handle->data;
    if (--s->handles) return;
    void (*closed)(void *ctx) = s->closed;
    void *ctx = s->closed_ctx;
    while (s->spare) {
        Piece *next = s->spare->next;
        mem_free(s->spare);
        s->spare = next;
    }
    tls_context_free(s->tls);
    buf_clear(&s->text);
    mem_free(s->cert);
    mem_free(s->key);
    mem_free(s);
    if (closed) closed(ctx);
}

void server_look(WebServer *s) {
    if (!s->closing || s->down || s->open || s->handles > 5) return;
    uv_handle_t *own[] = {(uv_handle_t *)&s->wheel, (uv_handle_t *)&s->grace,
                          (uv_handle_t *)&s->prepare, (uv_handle_t *)&s->check,
                          (uv_handle_t *)&s->idle};
    s->down = true;
    for (int i = 0; i < 5; i++) uv_close(own[i], on_server_handle_closed);
}

static void on_grace(uv_timer_t *timer) {
    WebServer *s = timer->data;
    while (!links_empty(&s->all)) connection_close(LINKED(Connection, s->all.next, all));
}

void web_server_close(WebServer *s, uint64_t grace_ms, void (*closed)(void *ctx), void *ctx) {
    Link now;
    if (s->closing) return;
    s->closing = true;
    s->closed = closed;
    s->closed_ctx = ctx;
    while (s->listeners) listener_close(s->listeners);
    links_init(&now);
    links_move(&now, &s->all);
    while (!links_empty(&now)) {
        Connection *c = LINKED(Connection, now.next, all);
        link_remove(&c->all);
        link_add(&s->all, &c->all);
        c->protocol->stop(c);
    }
    uv_timer_start(&s->grace, on_grace, grace_ms, 0);
    server_look(s);
}

WebCounts web_server_counts(const WebServer *s) {
    return s->counts;
}

const char *server_date(WebServer *s) {
    uint64_t now = uv_now(s->loop);
    if (!s->date_at || now >= s->date_at + 1000) {
        struct tm tm;
        time_t t = time(NULL);
        gmtime_r(&t, &tm);
        strftime(s->date, sizeof s->date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
        s->date_at = now;
    }
    return s->date;
}
