/* dap.c - `pawl dap`: a debug adapter, for editors. */
#include "dap.h"
#include "asking.h"
#include "mem.h"
#include "options.h"
#include "output.h"
#include "terminal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLACES_MAX = 20 };

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { NSIGNALS = sizeof stop_signals / sizeof stop_signals[0] };

typedef struct DapArgs {
    Common common;
    const char *listen;
} DapArgs;

/* A store or a server that some conversation has asked for. */
typedef struct Opened {
    char *store, *server; /* one of them */
    Client *client;
    SocketServer *socket; /* other processes come in by it; NULL: there is none yet */
} Opened;

typedef struct Adapter {
    const DapArgs *args;
    uv_loop_t loop;
    DapServer *server;
    Opened opened[PLACES_MAX];
    size_t n;
    uv_signal_t signals[NSIGNALS];
    bool ending, over;
    int code;
} Adapter;

/* ---- places ---- */

static bool is_same(const char *a, const char *b) {
    return (!a && !b) || (a && b && !strcmp(a, b));
}

static Client *open_client(Adapter *a, const char *store, const char *server, Error *err) {
    const Common *common = &a->args->common;
    for (size_t i = 0; i < a->n; i++) {
        if (is_same(a->opened[i].store, store) && is_same(a->opened[i].server, server)) {
            return a->opened[i].client;
        }
    }
    if (a->n == PLACES_MAX) {
        error_set(err, ERR_LIMIT, "This adapter works with %d stores and servers already.",
                  PLACES_MAX);
        return NULL;
    }
    Client *client = server ? asking_client_of_server(&a->loop, common, server, err)
                            : asking_client(&a->loop, common, store);
    if (!client) return NULL;
    a->opened[a->n++] =
        (Opened){.store = mem_strdup(store), .server = mem_strdup(server), .client = client};
    return client;
}

/* What the client says goes before the command line, and that before what the workflow itself says. */
static Client *on_open(void *ctx, const DapPlace *place, Error *err) {
    Adapter *a = ctx;
    const Common *common = &a->args->common;
    const char *server = place->server ? place->server : place->store ? NULL : cli_server(common);
    if (server) return open_client(a, NULL, server, err);
    bool told = place->store || common->store;
    char *configured = told || !place->flow ? NULL : cli_store_configured(place->flow);
    const char *given = place->store ? place->store : common->store ? common->store : configured;
    Client *client = open_client(a, cli_store_url(given), NULL, err);
    mem_free(configured);
    return client;
}

/* ---- the end ---- */

static void on_left(void *ctx) {
    Adapter *a = ctx;
    a->over = true;
    for (int i = 0; i < NSIGNALS; i++) uv_close((uv_handle_t *)&a->signals[i], NULL);
}

static void end(Adapter *a) {
    if (a->ending) return;
    a->ending = true;
    dap_free(a->server, on_left, a);
}

/* A store is made by the first run that is started in it, and the socket stands beside the store. */
static void on_begun(void *ctx, Client *place) {
    Adapter *a = ctx;
    for (size_t i = 0; i < a->n; i++) {
        Opened *opened = &a->opened[i];
        if (opened->client == place && !opened->server && !opened->socket) {
            opened->socket = socket_listen(client_host(place), NULL);
        }
    }
}

/* The only conversation is over. */
static void on_rest(void *ctx) {
    Adapter *a = ctx;
    if (!a->args->listen) end(a);
}

static void on_signal(uv_signal_t *handle, int signum) {
    Adapter *a = handle->data;
    if (a->ending) _exit(128 + signum); /* runs that are durable survive that */
    end(a);
}

/* ---- the beginning ---- */

static uv_stream_t *open_stream(Adapter *a, int fd, const char *what, Error *err) {
    uv_handle_type type = uv_guess_handle(fd);
    if (fd == STDIN_FILENO && (type == UV_FILE || type == UV_UNKNOWN_HANDLE)) {
        error_set(
            err, ERR_USAGE,
            "%s has to be a pipe, a socket or a terminal: `cat FILE | pawl dap` reads a file.",
            what);
        return NULL;
    }
    uv_pipe_t *pipe = mem_zalloc(sizeof *pipe);
    uv_pipe_init(&a->loop, pipe, 0);
    int status = uv_pipe_open(pipe, fd);
    if (status == 0) return (uv_stream_t *)pipe;
    error_set(err, ERR_IO, "%s cannot be used: %s.", what, uv_strerror(status));
    uv_close((uv_handle_t *)pipe, (uv_close_cb)mem_free);
    return NULL;
}

static bool talk(Adapter *a, Error *err) {
    uv_stream_t *in = open_stream(a, STDIN_FILENO, "Standard input", err);
    uv_stream_t *out = in ? open_stream(a, STDOUT_FILENO, "Standard output", err) : NULL;
    if (in && !out) uv_close((uv_handle_t *)in, (uv_close_cb)mem_free);
    if (out) dap_talk(a->server, in, out);
    return out != NULL;
}

static bool listen_at(Adapter *a, Error *err) {
    int port = dap_listen(a->server, a->args->listen, err);
    if (!port) return false;
    int host = (int)(strrchr(a->args->listen, ':') - a->args->listen);
    printf("Pawl's debug adapter listens at %.*s:%d\n", host, a->args->listen, port);
    fflush(stdout);
    return true;
}

static void watch_signals(Adapter *a) {
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < NSIGNALS; i++) {
        uv_signal_init(&a->loop, &a->signals[i]);
        a->signals[i].data = a;
        uv_signal_start(&a->signals[i], on_signal, stop_signals[i]);
    }
}

static int act(void *ctx) {
    DapArgs *args = ctx;
    Adapter a = {.args = args};
    Error err = ERROR_INIT;
    char *folder = getcwd(NULL, 0);
    uv_loop_init(&a.loop);
    DapOptions options = {.loop = &a.loop,
                          .folder = folder,
                          .open = on_open,
                          .begun = on_begun,
                          .rests = on_rest,
                          .stays = args->listen != NULL,
                          .root = args->common.root,
                          .kinds = args->common.kinds.items,
                          .nkinds = args->common.kinds.n,
                          .ctx = &a};
    a.server = dap_new(&options);
    watch_signals(&a);
    if (!(args->listen ? listen_at(&a, &err) : talk(&a, &err))) {
        a.code = cli_fail(&args->common, &err);
        end(&a);
    }
    while (!a.over) uv_run(&a.loop, UV_RUN_ONCE);
    for (size_t i = 0; i < a.n; i++) {
        socket_close(a.opened[i].socket);
        client_free(a.opened[i].client);
        mem_free(a.opened[i].store);
        mem_free(a.opened[i].server);
    }
    uv_run(&a.loop, UV_RUN_DEFAULT);
    uv_loop_close(&a.loop);
    free(folder);
    return a.code;
}

const Command command_dap = {
    .name = "dap",
    .summary = "debug runs from an editor: a debug adapter",
    .arguments = "",
    .description =
        "Speaks the Debug Adapter Protocol on standard input and output, for the editor that started it: VS "
        "Code, Neovim, Emacs and others. The editor says which workflow to run (`launch`) or which run to "
        "come to (`attach`); breakpoints are set in the workflow's file.\n\n"
        "With --listen it waits for editors at a port of this machine instead, any number of them, until it "
        "is stopped. Whoever reaches the port can run commands here, so only processes of the same user "
        "are let in.\n\n"
        "When the editor goes, the run is left in its store, paused where it is; `pawl debug THREAD` or "
        "another editor comes back to it.\n\n"
        "Exit codes: 0 when the editor has gone, or it was stopped; 2 when the command line or the address is "
        "wrong.",
    OPTIONS(
        {"listen", 0, "ADDRESS",
         "wait for editors there: 127.0.0.1:PORT, localhost:PORT or [::1]:PORT; port 0 is any that "
         "is free",
         TAKES(OPTION_TEXT, DapArgs, listen)},
        STORE_ROW, SERVER_ROWS, BOUNDS_ROWS, KINDS_ROW),
    EXAMPLES({"pawl dap", "for an editor that starts it"},
             {"pawl dap --listen 127.0.0.1:4711", "for editors that connect"}),
    .args = sizeof(DapArgs),
    .act = act,
};
