/* dap.c - conversations that come and go, and the listener for those over TCP. */
#include "dap_inside.h"

#include "mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BACKLOG = 16 };

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

/* ---- conversations ---- */

static void on_message(void *ctx, Json message) {
    dap_message(ctx, message);
}

static void on_rubbish(void *ctx, const Error *err) {
    dap_refuse(ctx, err);
}

static void on_broken(void *ctx, const Error *err) {
    Dap *dap = ctx;
    dap_refuse(dap, err);
    wire_finish(dap->wire);
}

static void on_closed(void *ctx, const Error *err) {
    Dap *dap = ctx;
    (void)err;
    dap->wire = NULL;
    dap_leave(dap);
}

static void on_drained(void *ctx) {
    dap_hold(ctx);
}

void dap_talk(DapServer *server, uv_stream_t *in, uv_stream_t *out) {
    Dap *dap = mem_zalloc(sizeof *dap);
    *dap = (Dap){
        .server = server, .next = server->conversations, .told = json_array(), .settled_code = -1};
    server->conversations = dap;
    server->count++;
    dap->patience = mem_zalloc(sizeof *dap->patience);
    uv_timer_init(server->options.loop, dap->patience);
    dap->patience->data = dap;
    dap->slow = mem_zalloc(sizeof *dap->slow);
    uv_timer_init(server->options.loop, dap->slow);
    dap->slow->data = dap;
    dap->wire = wire_new(in, out,
                         &(WireHost){.message = on_message,
                                     .rubbish = on_rubbish,
                                     .broken = on_broken,
                                     .closed = on_closed,
                                     .drained = on_drained,
                                     .ctx = dap});
}

/* ---- the end ---- */

static void server_over(DapServer *server) {
    void (*done)(void *) = server->done;
    void *ctx = server->done_ctx;
    mem_free(server->folder);
    mem_free(server);
    done(ctx);
}

/* Nobody speaks in it any more, and its run is left. */
void dap_gone(Dap *dap) {
    DapServer *server = dap->server;
    Dap **at = &server->conversations;
    while (*at != dap) at = &(*at)->next;
    *at = dap->next;
    server->count--;
    uv_close((uv_handle_t *)dap->patience, free_handle);
    uv_close((uv_handle_t *)dap->slow, free_handle);
    dap_threads_clear(dap);
    mem_free(dap->threads);
    dap_breaks_clear(dap);
    handles_clear(&dap->handles);
    json_unref(dap->client.name);
    json_unref(dap->told);
    mem_free(dap);
    if (server->count) return;
    if (server->ending) {
        server_over(server);
    } else if (server->options.rests) {
        server->options.rests(server->options.ctx);
    }
}

DapServer *dap_new(const DapOptions *options) {
    DapServer *server = mem_zalloc(sizeof *server);
    server->options = *options;
    server->folder = mem_strdup(options->folder);
    return server;
}

void dap_free(DapServer *server, void (*done)(void *ctx), void *ctx) {
    server->ending = true;
    server->done = done;
    server->done_ctx = ctx;
    if (server->listener) uv_close((uv_handle_t *)server->listener, free_handle);
    server->listener = NULL;
    if (!server->count) {
        server_over(server);
        return;
    }
    for (Dap *dap = server->conversations; dap; dap = dap->next) {
        if (dap->wire) wire_finish(dap->wire);
    }
}

/* ---- TCP ---- */

/* An address as /proc/net/tcp has it: the words of the address as the machine keeps them, and the port. */
static void list_address(const struct sockaddr_storage *at, char *out, size_t room) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)at;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)at;
    if (at->ss_family == AF_INET) {
        snprintf(out, room, "%08X:%04X", four->sin_addr.s_addr, ntohs(four->sin_port));
        return;
    }
    uint32_t words[4];
    memcpy(words, &six->sin6_addr, sizeof words);
    snprintf(out, room, "%08X%08X%08X%08X:%04X", words[0], words[1], words[2], words[3],
             ntohs(six->sin6_port));
}

/* The user who has the socket that is at `near`, connected to `far`, as the kernel lists it; -1: nobody has. Of a socket that
 * was closed already the kernel says that it is root's, and that no file (inode) is behind it: nobody has that either. */
static int64_t find_user(const char *table, const char *near, const char *far) {
    char line[512], local[128], remote[128];
    unsigned number, state, uid;
    unsigned long long inode;
    int64_t user = -1;
    FILE *file = fopen(table, "re");
    while (file && user < 0 && fgets(line, sizeof line, file)) {
        bool listed = sscanf(line, " %u: %127[0-9A-F:] %127[0-9A-F:] %x %*s %*s %*s %u %*s %llu",
                             &number, local, remote, &state, &uid, &inode) == 6;
        if (listed && inode && !strcmp(local, near) && !strcmp(remote, far)) user = uid;
    }
    if (file) fclose(file);
    return user;
}

/* Whoever speaks to an adapter can have it run commands: only our own user may, and root. The kernel is asked twice: a
 * socket that is somebody's the second time was so the first time, and was not closed while it was looked at. */
static bool is_our_user(uv_tcp_t *tcp) {
    struct sockaddr_storage here, peer;
    int len = sizeof here, peer_len = sizeof peer;
    char near[64], far[64];
    if (uv_tcp_getsockname(tcp, (struct sockaddr *)&here, &len) != 0 ||
        uv_tcp_getpeername(tcp, (struct sockaddr *)&peer, &peer_len) != 0) {
        return false;
    }
    const char *table = peer.ss_family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6";
    list_address(&peer, near, sizeof near);
    list_address(&here, far, sizeof far);
    int64_t user = find_user(table, near, far);
    return (user == (int64_t)geteuid() || user == 0) && find_user(table, near, far) == user;
}

static void on_connection(uv_stream_t *listener, int status) {
    DapServer *server = listener->data;
    if (status < 0) return;
    uv_tcp_t *tcp = mem_zalloc(sizeof *tcp);
    uv_tcp_init(server->options.loop, tcp);
    if (uv_accept(listener, (uv_stream_t *)tcp) != 0 || !is_our_user(tcp) ||
        server->count >= DAP_CONVERSATIONS) {
        uv_close((uv_handle_t *)tcp, free_handle);
        return;
    }
    uv_tcp_nodelay(tcp, 1);
    dap_talk(server, (uv_stream_t *)tcp, (uv_stream_t *)tcp);
}

/* HOST:PORT, where HOST is this machine by one of its own names. */
static bool read_address(const char *text, struct sockaddr_storage *out, Error *err) {
    const char *colon = strrchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : 0;
    char *end = NULL;
    long port = colon ? strtol(colon + 1, &end, 10) : -1;
    bool number = colon && colon[1] && !*end && port >= 0 && port <= 65535;
    bool four = (len == 9 && !strncmp(text, "127.0.0.1", len)) ||
                (len == 9 && !strncmp(text, "localhost", len));
    bool six = len == 5 && !strncmp(text, "[::1]", len);
    if (!number || (!four && !six)) {
        return error_set(
            err, ERR_USAGE,
            "An adapter listens at 127.0.0.1:PORT, localhost:PORT or [::1]:PORT, not at "
            "`%.100s`: whoever reaches it can run commands here.",
            text);
    }
    return four ? uv_ip4_addr("127.0.0.1", (int)port, (struct sockaddr_in *)out) == 0
                : uv_ip6_addr("::1", (int)port, (struct sockaddr_in6 *)out) == 0;
}

int dap_listen(DapServer *server, const char *address, Error *err) {
    struct sockaddr_storage at = {0};
    int len = sizeof at;
    if (!read_address(address, &at, err)) return 0;
    uv_tcp_t *tcp = mem_zalloc(sizeof *tcp);
    uv_tcp_init(server->options.loop, tcp);
    tcp->data = server;
    int status = uv_tcp_bind(tcp, (const struct sockaddr *)&at, 0);
    if (status == 0) status = uv_listen((uv_stream_t *)tcp, BACKLOG, on_connection);
    if (status == 0) status = uv_tcp_getsockname(tcp, (struct sockaddr *)&at, &len);
    if (status < 0) {
        error_set(err, status == UV_EADDRINUSE ? ERR_BUSY : ERR_IO, "%s cannot be listened at: %s.",
                  address, uv_strerror(status));
        uv_close((uv_handle_t *)tcp, free_handle);
        return 0;
    }
    server->listener = tcp;
    /* both families have the port in the same place */
    return ntohs(((struct sockaddr_in *)&at)->sin_port);
}
