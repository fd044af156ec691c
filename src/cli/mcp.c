/* mcp.c - `pawl mcp`: tools for assistants, over standard input and output. */
#include "mcp.h"
#include "asking.h"
#include "mcp_stdio.h"
#include "options.h"
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { NSIGNALS = sizeof stop_signals / sizeof stop_signals[0] };

typedef struct McpArgs {
    Common common;
    const char *profile, *workflows, *project;
    bool read_only;
    unsigned groups;
} McpArgs;

typedef struct Serving {
    const McpArgs *args;
    Asking asking;
    Windows *windows;
    Mcp *mcp;
    McpStdio *door;
    uv_signal_t signals[NSIGNALS];
    bool over;
} Serving;

static void on_over(void *ctx) {
    Serving *s = ctx;
    s->over = true;
    uv_stop(&s->asking.loop);
}

static void on_signal(uv_signal_t *handle, int signum) {
    (void)signum;
    on_over(handle->data);
}

static void watch_signals(Serving *s) {
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < NSIGNALS; i++) {
        uv_signal_init(&s->asking.loop, &s->signals[i]);
        s->signals[i].data = s;
        uv_signal_start(&s->signals[i], on_signal, stop_signals[i]);
    }
}

/* Only messages may ever come out of standard output: the descriptors are moved, and what else writes there reaches standard
 * error. False after saying why not. */
static bool take_descriptors(int *in, int *out) {
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    *in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    *out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    bool ok = nothing >= 0 && *in >= 0 && *out >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
              dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    if (!ok) {
        terminal_say(stderr, "pawl mcp: standard input and output cannot be used: %s.\n",
                     strerror(errno));
    }
    if (nothing >= 0) close(nothing);
    return ok;
}

static void serve(Serving *s, int in, int out) {
    const McpArgs *args = s->args;
    uv_loop_t *loop = &s->asking.loop;
    Error err = ERROR_INIT;
    s->windows = windows_new(loop, s->asking.client);
    s->mcp = mcp_new(&(McpOptions){.loop = loop,
                                   .client = s->asking.client,
                                   .windows = s->windows,
                                   .root = args->common.root,
                                   .groups = args->groups});
    McpStdioOptions options = {.loop = loop,
                               .in = in,
                               .out = out,
                               .asker = {.scope = args->read_only ? SCOPE_READ : SCOPE_ADMIN},
                               .over = on_over,
                               .ctx = s};
    s->door = mcp_stdio_new(s->mcp, &options, &err);
    if (!s->door) s->asking.code = cli_fail(&args->common, &err);
    asking_listen(&s->asking);
    watch_signals(s);
    while (s->door && !s->over) uv_run(loop, UV_RUN_ONCE);
    for (int i = 0; i < NSIGNALS; i++) uv_close((uv_handle_t *)&s->signals[i], NULL);
    mcp_close(s->mcp);
    mcp_stdio_free(s->door);
    mcp_free(s->mcp);
    windows_free(s->windows);
}

static int act(void *ctx) {
    McpArgs *args = ctx;
    Serving s = {.args = args};
    Error err = ERROR_INIT;
    int in, out;
    args->groups = mcp_profile(args->profile ? args->profile : "all", &err);
    if (!args->groups) {
        options_complain(&command_mcp, "--profile: %s", err.msg);
        return EXIT_USAGE;
    }
    if (args->project && chdir(args->project) != 0) {
        options_complain(&command_mcp, "--project: `%s` is no folder that can be worked in: %s.",
                         args->project, strerror(errno));
        return EXIT_USAGE;
    }
    if (args->workflows && cli_server(&args->common)) {
        options_complain(&command_mcp, "--workflows has no place with a server: it has its own.");
        return EXIT_USAGE;
    }
    if (args->workflows && access(args->workflows, R_OK | X_OK) != 0) {
        options_complain(&command_mcp, "the folder of workflows, %s, cannot be read: %s.",
                         args->workflows, strerror(errno));
        return EXIT_USAGE;
    }
    if (!take_descriptors(&in, &out)) return EXIT_FAILED_RUN;
    if (cli_server(&args->common)) {
        asking_begin(&s.asking, &args->common);
    } else {
        asking_begin_serving(&s.asking, &args->common,
                             &(ServingPlace){.workflows = args->workflows});
    }
    serve(&s, in, out);
    return asking_end(&s.asking);
}

const Command command_mcp = {
    .name = "mcp",
    .summary = "give an assistant tools to run and debug workflows",
    .arguments = "",
    .description =
        "Speaks the Model Context Protocol over standard input and output, for an assistant whose "
        "program starts it. The assistant can then write and check workflows, run them, read what "
        "happened, stop inside of a run, change something and go on.\n\n"
        "It works on the store in the current folder (--project, --store), or asks a server (--server). "
        "Runs that it has begun stop when it ends, and can be resumed; those of a server go on. With "
        "--read-only nothing can be changed. `pawl serve` has the same tools at /mcp.\n\n"
        "Exit codes: 0 when the other side has ended, 2 when the command line is wrong, 5 when the store "
        "cannot be opened.",
    OPTIONS(
        {"project", 0, "DIR", "the folder to work in, instead of the current one",
         TAKES(OPTION_TEXT, McpArgs, project), .completes = COMPLETE_FILE},
        {"read-only", 0, NULL, "only the tools that look", TAKES(OPTION_FLAG, McpArgs, read_only)},
        {"profile", 0, "GROUPS",
         "which tools: workflows, runs, debugging, or several parted by commas (all)",
         TAKES(OPTION_TEXT, McpArgs, profile)},
        {"workflows", 0, "DIR", "a folder of workflows that runs are started of by name",
         TAKES(OPTION_TEXT, McpArgs, workflows), .completes = COMPLETE_FILE},
        STORE_ROW, SERVER_ROWS, BOUNDS_ROWS),
    EXAMPLES({"pawl mcp", "on the store of the current folder"},
             {"pawl mcp --project ~/shop --read-only", "to look at the runs of a project"},
             {"pawl mcp --server https://pawl.example.org",
              "through a server, as `pawl login` knows it"}),
    .args = sizeof(McpArgs),
    .act = act,
};
