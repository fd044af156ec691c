/* serve.c - `pawl serve`: a host that others reach over HTTP. */
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "json_print.h"
#include "kind_bounds.h"
#include "options.h"
#include "output.h"
#include "server.h"
#include "store.h"
#include "terminal.h"
#include "tracing.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define DEFAULT_LISTEN "127.0.0.1:7295"

enum { PORTS_TRIED = 20, FIRST_INHERITED = 3, NAMES = 20 };

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { NSIGNALS = sizeof stop_signals / sizeof stop_signals[0] };

typedef struct ServeArgs {
    Common common;
    const char *listen, *workflows, *tls_cert, *tls_key, *otlp;
    bool auth, allow_inline, next_port;
    Json hosts; /* names */
    SafeRoot *folder;
    bool kinds[KIND_COUNT], narrows; /* those that run; not all do */
    int64_t max_body, rate, max_runs, max_connections, max_connections_each;
    int log_level, log_format; /* the place of the word, from 1 */
} ServeArgs;

typedef struct Serving {
    const ServeArgs *args;
    Asking asking;
    Server *server;
    Tracing tracing;
    uv_signal_t signals[NSIGNALS];
    bool json_log, closed;
    int stops;
} Serving;

/* ---- the log ---- */

static ServerLevel log_level(const ServeArgs *args) {
    return args->log_level ? (ServerLevel)(args->log_level - 1) : LEVEL_WARN;
}

static void write_log(void *ctx, ServerLevel level, const char *message, Json fields) {
    static const char *const levels[] = {"error", "warn", "info", "debug"};
    const Serving *s = ctx;
    uv_timeval64_t now;
    uv_gettimeofday(&now);
    Json time = json_time(now.tv_sec * 1000 + now.tv_usec / 1000);
    if (s->json_log) {
        Json line = OBJECT(KEY("time", time), KEY("level", levels[level]), KEY("message", message));
        line = json_object_merge(line, fields);
        char *text = json_to_text(line);
        fprintf(stderr, "%s\n", text);
        free(text);
        json_unref(line);
        return;
    }
    Buf line = BUF_INIT;
    Json key, value;
    buf_printf(&line, "%s %-5s %s", json_string_data(&time), levels[level], message);
    for (size_t pos = 0; json_object_next(fields, &pos, &key, &value);) {
        char *shown = field_shown(value);
        buf_printf(&line, " %s=%s", json_string_data(&key), shown);
        free(shown);
    }
    terminal_say(stderr, "%s\n", line.data);
    buf_clear(&line);
    json_unref(time);
}

/* Consumes the fields. */
static void log_line(Serving *s, ServerLevel level, const char *message, Json fields) {
    if (level <= log_level(s->args)) write_log(s, level, message, fields);
    json_unref(fields);
}

static void say_trouble(void *ctx, const char *sentence) {
    write_log(ctx, LEVEL_WARN, sentence, json_none());
}

/* ---- sockets that systemd made ---- */

/* How many it handed us. */
static int inherited(void) {
    const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
    if (!pid || !fds || strtoll(pid, NULL, 10) != getpid()) return 0;
    int n = atoi(fds);
    return n > 0 && n <= NAMES ? n : 0;
}

/* Says to systemd how it stands, as sd_notify() does: "READY=1", "STOPPING=1". */
static void notify(const char *state) {
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t len = path ? strlen(path) : 0;
    if (!len || len >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@')) return;
    memcpy(to.sun_path, path, len);
    if (path[0] == '@') to.sun_path[0] = '\0'; /* an abstract name */
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    if (fd >= 0) {
        sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to, size);
        close(fd);
    }
}

/* ---- where it listens ---- */

/* The address with the next port; false: it has none that can be counted up. */
static bool next_address(const char *address, int i, Buf *out) {
    const char *colon = strrchr(address, ':');
    int port = colon ? atoi(colon + 1) : 0;
    buf_reset(out);
    if (!port || port + i > 65535) return false;
    buf_printf(out, "%.*s:%d", (int)(colon - address), address, port + i);
    return true;
}

/* The address that it listens at, given; NULL after saying why not. */
static char *listen_at(Serving *s) {
    const char *wanted = s->args->listen ? s->args->listen : DEFAULT_LISTEN;
    Error err = ERROR_INIT;
    Buf address = BUF_INIT;
    int port = 0;
    buf_printf(&address, "%s", wanted);
    for (int i = 0; i < PORTS_TRIED && !port; i++) {
        if (i && !next_address(wanted, i, &address)) break;
        error_clear(&err);
        port = server_listen(s->server, address.data, &err);
        if (err.code != ERR_BUSY || !s->args->next_port) break;
        if (!port) {
            terminal_say(stderr, "pawl serve: %s is taken; trying the next port.\n", address.data);
        }
    }
    if (!port) {
        s->asking.code = cli_fail(&s->args->common, &err);
        buf_clear(&address);
        return NULL;
    }
    const char *colon = strrchr(address.data, ':');
    Buf url = BUF_INIT;
    size_t host = colon ? (size_t)(colon - address.data) : strlen(address.data);
    buf_printf(&url, "%s://%.*s:%d", s->args->tls_cert ? "https" : "http", (int)host, address.data,
               port);
    buf_clear(&address);
    return buf_detach(&url);
}

/* ---- the end ---- */

static void on_closed(void *ctx) {
    Serving *s = ctx;
    s->closed = true;
    for (int i = 0; i < NSIGNALS; i++) uv_close((uv_handle_t *)&s->signals[i], NULL);
}

/* With TLS the certificate is read anew: it may have been renewed. */
static void renew_tls(Serving *s) {
    Error err = ERROR_INIT;
    if (server_renew_tls(s->server, &err)) {
        log_line(s, LEVEL_INFO, "the certificate was read again", json_none());
    } else {
        log_line(s, LEVEL_ERROR, "the certificate cannot be renewed; the old one is kept",
                 OBJECT(KEY("error", err.msg)));
    }
}

/* A second signal leaves at once, which durable runs survive. */
static void on_signal(uv_signal_t *handle, int signum) {
    Serving *s = handle->data;
    if (signum == SIGHUP && s->args->tls_cert && !s->stops) {
        renew_tls(s);
        return;
    }
    if (s->stops++) _exit(128 + signum);
    notify("STOPPING=1");
    if (s->json_log) {
        write_log(s, LEVEL_INFO, "stopping; runs go on after the next start", json_none());
    } else {
        terminal_say(stderr, "pawl serve: stopping; runs go on after the next start.\n");
    }
    server_close(s->server, on_closed, s);
}

static void watch_signals(Serving *s) {
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < NSIGNALS; i++) {
        uv_signal_init(&s->asking.loop, &s->signals[i]);
        s->signals[i].data = s;
        uv_signal_start(&s->signals[i], on_signal, stop_signals[i]);
    }
}

/* ---- serving ---- */

static void say_ready(const Serving *s, const char *url) {
    const ServeArgs *args = s->args;
    if (args->common.json) {
        Json line = OBJECT(KEY("url", url), KEY("pid", json_int(getpid())));
        output_line(line);
        fflush(stdout);
        json_unref(line);
        return;
    }
    printf("Pawl listens at %s\n", url ? url : "the socket that was handed over");
    printf("  store      %s\n", cli_store_url(args->common.store));
    if (args->workflows) printf("  workflows  %s\n", args->workflows);
    printf("  access     %s\n",
           args->auth ? "with a token (pawl token make)" : "everybody on this machine");
    if (url) printf("Try: curl %s/api/v1/runs\n", url);
    fflush(stdout);
}

static int serve(Serving *s) {
    const ServeArgs *args = s->args;
    const char *hosts[NAMES + 1] = {NULL};
    Error err = ERROR_INIT;
    size_t n = json_is_none(args->hosts) ? 0 : json_array_len(args->hosts);
    Json names[NAMES];
    for (size_t i = 0; i < n && i < NAMES; i++) {
        names[i] = json_array_get(args->hosts, i);
        hosts[i] = json_string_data(&names[i]);
    }
    ServerOptions options = {.loop = &s->asking.loop,
                             .client = s->asking.client,
                             .auth = args->auth,
                             .allow_inline = args->allow_inline,
                             .tls_cert = args->tls_cert,
                             .tls_key = args->tls_key,
                             .hosts = hosts,
                             .max_body = (size_t)args->max_body << 20,
                             .max_connections = (size_t)args->max_connections,
                             .max_connections_each = (size_t)args->max_connections_each,
                             .max_runs = (size_t)args->max_runs,
                             .rate = (unsigned)args->rate,
                             .log = {.write = write_log, .ctx = s, .level = log_level(args)}};
    s->server = server_new(&options, &err);
    if (!s->server) return cli_fail(&args->common, &err);
    watch_signals(s);
    asking_listen(&s->asking);
    char *url = NULL;
    int fds = inherited();
    bool ok = true;
    for (int i = 0; ok && i < fds; i++) ok = server_listen_fd(s->server, FIRST_INHERITED + i, &err);
    if (!ok) s->asking.code = cli_fail(&args->common, &err);
    if (ok && !fds) url = listen_at(s);
    if (url || (ok && fds)) {
        say_ready(s, url);
        notify("READY=1");
    } else {
        server_close(s->server, on_closed, s);
    }
    free(url);
    while (!s->closed) uv_run(&s->asking.loop, UV_RUN_ONCE);
    return s->asking.code;
}

static int act(void *ctx) {
    ServeArgs *args = ctx;
    Serving s = {.args = args, .json_log = args->log_format == 2};
    if (!args->tls_cert != !args->tls_key) {
        options_complain(
            &command_serve,
            "--tls-cert and --tls-key go together: one is the certificate, and the other its "
            "key.");
        return EXIT_USAGE;
    }
    if (args->workflows && access(args->workflows, R_OK | X_OK) != 0) {
        options_complain(&command_serve, "the folder of workflows, %s, cannot be read: %s.",
                         args->workflows, strerror(errno));
        return EXIT_USAGE;
    }
    if (args->auth && !store_url_is_durable(cli_store_url(args->common.store))) {
        options_complain(&command_serve,
                         "with --auth the store has to be on disk: tokens are kept in it.");
        return EXIT_USAGE;
    }
    if (args->folder && args->common.root) {
        options_complain(&command_serve,
                         "--folder confines files to a folder already: leave out --root.");
        return EXIT_USAGE;
    }
    /* What is inherited, and where requests go, is narrow on a server unless somebody says otherwise. */
    if (json_is_none(args->common.env)) args->common.env = json_array();
    if (!args->common.net) args->common.net = net_policy_parse("public", NULL);
    asking_begin_serving(&s.asking, &args->common,
                         &(ServingPlace){.workflows = args->workflows,
                                         .folder = args->folder,
                                         .apart = args->auth,
                                         .kinds = args->narrows ? args->kinds : NULL});
    Error err = ERROR_INIT;
    TracingOptions traced = {.loop = &s.asking.loop,
                             .host = client_host(s.asking.client),
                             .url = args->otlp,
                             .say = say_trouble,
                             .ctx = &s};
    s.asking.code =
        tracing_begin(&s.tracing, &traced, &err) ? serve(&s) : cli_fail(&args->common, &err);
    tracing_end(&s.tracing);
    return asking_end(&s.asking);
}

static bool add_kinds(ServeArgs *args, const char *text) {
    Error err = ERROR_INIT;
    bool ok = true;
    args->narrows = true;
    for (const char *at = text; ok && at;) {
        size_t len = strcspn(at, ",");
        ok = len ? kind_bounds_add(args->kinds, at, len, &err)
                 : error_set(&err, ERR_USAGE, "it takes names, parted by commas.");
        at = at[len] ? at + len + 1 : NULL;
    }
    return ok || options_complain(&command_serve, "--allow-kinds: %s", err.msg);
}

static bool on_option(void *ctx, const Option *option, char **values) {
    ServeArgs *args = ctx;
    if (!strcmp(option->name, "allow-kinds")) return add_kinds(args, values[0]);
    size_t plain =
        strspn(values[0], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_");
    if (values[0][0] != '[' && (!plain || values[0][plain])) {
        return options_complain(
            &command_serve, "--host takes a name without a scheme or a port, as pawl.example.org.");
    }
    if (json_is_none(args->hosts)) args->hosts = json_array();
    if (json_array_len(args->hosts) >= NAMES) {
        return options_complain(&command_serve, "at most %d names can be given with --host.",
                                NAMES);
    }
    args->hosts = json_array_push(args->hosts, json_string_c(values[0]));
    return true;
}

static void clear(void *ctx) {
    ServeArgs *args = ctx;
    json_unref(args->hosts);
}

const Command command_serve = {
    .name = "serve",
    .summary = "let others reach the runs of a store over HTTP",
    .arguments = "",
    .description =
        "Listens for requests over HTTP (REST, events, WebSockets, /mcp for assistants) until it is stopped with Ctrl-C or SIGTERM. "
        "It holds the runs that it is asked to start, takes over those whose process has died, and reaches "
        "those that another process has in hand.\n\n"
        "Only this machine can reach it, and needs no token for that, unless told otherwise: at any other "
        "address it listens only with --auth. With TLS, SIGHUP has it read the certificate and the key again. What runs start inherits PATH, HOME, LANG, TZ and TMPDIR alone "
        "(--env), and their requests reach public addresses only (--net).\n\n"
        "Exit codes: 0 when it was stopped, 2 when the command line or the address is wrong, 5 when the store "
        "cannot be opened.",
    OPTIONS(
        {"listen", 0, "ADDRESS", "where: 127.0.0.1:7295 unless told; port 0 is any that is free",
         TAKES(OPTION_TEXT, ServeArgs, listen)},
        {"next-port", 0, NULL, "where the port is taken, take the next one that is free",
         TAKES(OPTION_FLAG, ServeArgs, next_port)},
        {"workflows", 0, "DIR",
         "a folder of workflows that runs are started of by name; what changes in it counts at once",
         TAKES(OPTION_TEXT, ServeArgs, workflows), .completes = COMPLETE_FILE},
        {"folder", 0, "DIR",
         "the folder that runs are started in and confined to: commands begin in it, and files that workflows name are in it",
         TAKES(OPTION_ROOT, ServeArgs, folder), .completes = COMPLETE_FILE},
        {"allow-kinds", 0, "KINDS",
         "the kinds of nodes that run here, as jq,http,approval; all unless told; may be given many times",
         .kind = OPTION_OWN},
        {"auth", 0, NULL, "whoever asks needs a token (`pawl token make`)",
         TAKES(OPTION_FLAG, ServeArgs, auth)},
        {"allow-inline", 0, NULL,
         "tokens with the scope `run` may send workflows, not only name them",
         TAKES(OPTION_FLAG, ServeArgs, allow_inline)},
        {"host", 0, "NAME",
         "a name that the server is reached by, as pawl.example.org; may be given many times",
         .kind = OPTION_OWN},
        {"tls-cert", 0, "FILE", "the certificate, in PEM: HTTPS and HTTP/2",
         TAKES(OPTION_TEXT, ServeArgs, tls_cert), .completes = COMPLETE_FILE},
        {"tls-key", 0, "FILE", "its key", TAKES(OPTION_TEXT, ServeArgs, tls_key),
         .completes = COMPLETE_FILE},
        {"max-body", 0, "MB", "the longest body of a request (8)",
         TAKES(OPTION_COUNT, ServeArgs, max_body)},
        {"max-connections", 0, "N", "connections at once (16384)",
         TAKES(OPTION_COUNT, ServeArgs, max_connections)},
        {"max-connections-each", 0, "N",
         "those of one address that is not this machine's (1024): more where a proxy on another machine has them all",
         TAKES(OPTION_COUNT, ServeArgs, max_connections_each)},
        {"max-runs", 0, "N",
         "runs under way at once (10000); starting more is refused until one has settled",
         TAKES(OPTION_COUNT, ServeArgs, max_runs)},
        {"rate", 0, "N", "requests a second of one asker (2000)",
         TAKES(OPTION_COUNT, ServeArgs, rate)},
        {"log-level", 0, "error|warn|info|debug", "what is logged on standard error (warn)",
         TAKES(OPTION_CHOICE, ServeArgs, log_level), .completes = COMPLETE_WORDS},
        {"log-format", 0, "text|json", "how (text)", TAKES(OPTION_CHOICE, ServeArgs, log_format),
         .completes = COMPLETE_WORDS},
        OTLP_ROW(ServeArgs, otlp), STORE_ROW, JSON_ROW("where it listens, as a line of JSON"),
        SERVER_BOUNDS_ROWS),
    EXAMPLES({"pawl serve", "at http://127.0.0.1:7295, for this machine"},
             {"pawl serve --workflows flows", "runs of flows/review.yaml are started as `review`"},
             {"pawl serve --listen 0.0.0.0:7295 --auth --tls-cert cert.pem --tls-key key.pem",
              "for others, with tokens and TLS"}),
    .args = sizeof(ServeArgs),
    .handle = on_option,
    .act = act,
    .clear = clear,
};
