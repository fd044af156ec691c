/* logs.c - `pawl logs`: what the nodes of a run printed. */
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "output.h"
#include "place.h"
#include "terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LOOK_EVERY_MS = 200 };

typedef struct LogsArgs {
    Common common;
    Place place;
    const char *node;
    const char *stream;
    int64_t lines; /* 0: all */
    Json since;    /* a time; JSON_NONE: of any */
    bool follow;
} LogsArgs;

/* ---- for people ---- */

/* What was written last, to know where a line goes on. */
typedef struct Shown {
    int64_t n;
    bool within_line;
    Buf of; /* whose line it is */
    bool damaged;
} Shown;

/* Of one node all that it printed is written as it is; of all of them each line says whose it is. */
static void put_text(Shown *shown, const char *name, Json text) {
    const char *at = json_string_data(&text), *end = at + json_string_len(text);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop ? stop + 1 : end) - at);
        if (!shown->within_line && *name) terminal_say(stdout, "%s | ", name);
        terminal_put(stdout, at, len);
        shown->within_line = !stop;
        at += len;
    }
}

static void put_piece(const LogsArgs *args, Shown *shown, Json piece) {
    Buf name = BUF_INIT, of = BUF_INIT;
    int64_t frame = field_number(piece, "frame", 1);
    Json text = field_get(piece, "text");
    if (!json_is_none(field_get(piece, "error"))) {
        shown->damaged = true;
        terminal_say(stderr, "pawl logs: %s\n", field_string(piece, "error"));
    }
    if (args->common.json) {
        output_line(piece);
        return;
    }
    if (!field_is_text(text)) return;
    bool alone = args->node && !strcmp(field_string(piece, "node"), args->node);
    if (!alone) {
        buf_adds(&name, field_string(piece, "node"));
        if (frame != 1) buf_printf(&name, " (frame %" PRId64 ")", frame);
        buf_printf(&of, "%s %s %s", name.data, field_string(piece, "execution"),
                   field_string(piece, "stream"));
    }
    bool note = json_string_is(field_get(piece, "stream"), "log");
    if (alone) buf_adds(&of, note ? "log" : "text"); /* what is said about it stands by itself */
    if (shown->within_line && strcmp(shown->of.data, of.data) != 0) {
        putchar('\n');
        shown->within_line = false;
    }
    put_text(shown, alone ? "" : name.data, text);
    buf_clear(&shown->of);
    shown->of = of;
    buf_clear(&name);
}

/* ---- the command ---- */

static void show_page(const LogsArgs *args, Shown *shown, Json page) {
    Json list = field_get(page, "logs");
    int64_t dropped = field_number(page, "dropped", 0);
    if (dropped && !shown->n && !args->common.json && !args->lines) {
        fprintf(stderr, "... the first %" PRId64 " bytes of output are not kept any more ...\n",
                dropped);
    }
    for (size_t i = 0; i < json_array_len(list); i++, shown->n++) {
        put_piece(args, shown, json_array_get(list, i));
    }
    fflush(stdout);
}

static int act(void *ctx) {
    const LogsArgs *args = ctx;
    const struct timespec pause = {.tv_nsec = LOOK_EVERY_MS * 1000000};
    Asking a;
    Shown shown = {0};
    int64_t from = 0;
    bool more = true;
    asking_begin(&a, &args->common);
    while (more) {
        bool tail = !from && args->lines;
        Json page = ask(&a, "run_logs",
                        OBJECT(KEY("thread", args->place.thread), KEY("node", args->node),
                               KEY("stream", args->stream), KEY("since", json_ref(args->since)),
                               KEY("last", tail ? json_int(args->lines) : json_none()),
                               KEY("from", from ? json_int(from) : json_none())));
        if (json_is_none(page)) break;
        show_page(args, &shown, page);
        bool there = json_truthy(field_get(page, "more"));
        bool runs = args->follow && field_has_text(field_get(page, "run"), "owner");
        from = field_number(page, "next", 1);
        more = (there || runs) && !ferror(stdout);
        json_unref(page);
        if (!there && runs) nanosleep(&pause, NULL);
    }
    if (a.code == EXIT_OK && !args->common.json) {
        if (shown.within_line) putchar('\n');
        if (!shown.n) {
            terminal_say(stderr, "%s%s%s has printed nothing%s.\n",
                         args->node ? "Node `" : "Thread `",
                         args->node ? args->node : args->place.thread, "`",
                         args->stream || !json_is_none(args->since) ? " of that" : "");
        }
    }
    a.code = a.code == EXIT_OK && shown.damaged ? EXIT_FAILED_RUN : a.code;
    buf_clear(&shown.of);
    return asking_end(&a);
}

/* ---- the row ---- */

const Command command_logs = {
    .name = "logs",
    .summary = "show what the nodes of a run printed",
    .arguments = "THREAD [NODE]",
    .description =
        "Shows what the nodes of a run printed, oldest first: what commands wrote to standard output "
        "and standard error, and what scripts printed. Each line names its node: `use/make` is the node "
        "`make` inside of `use`. With NODE only what that node printed is shown, as it was printed; of "
        "one that has others inside, what those printed, with their names.\n\n"
        "Output is kept with the run, also while it is under way in another process: 16 MB of each "
        "execution of a node, from which the middle is cut, and 128 MB of a run, of which the oldest "
        "goes. It goes with the run, and with its checkpoints (`pawl prune`).\n\n"
        "Exit codes: 0, done, also where nothing was printed; 1, some of it is damaged; 2, the command "
        "line is wrong, or there is no such run or node; 5, the store cannot be read.",
    OPTIONS({"follow", 'f', NULL, "go on as long as a process has the run",
             TAKES(OPTION_FLAG, LogsArgs, follow)},
            {"lines", 'n', "N", "only the last N lines", TAKES(OPTION_COUNT, LogsArgs, lines)},
            {"since", 's', "TIME", "only what was printed since: how long ago, as 10m, or a time",
             TAKES(OPTION_TIME, LogsArgs, since)},
            {"stream", 0, "stdout|stderr|log",
             "only this stream; `log` is what scripts log and what is said about output",
             TAKES(OPTION_WORD, LogsArgs, stream), .completes = COMPLETE_WORDS},
            STORE_ROW, SERVER_ROWS, JSON_ROW("as an object a line, for each piece of output")),
    EXAMPLES({"pawl logs review-7", "all that was printed, with the names of the nodes"},
             {"pawl logs review-7 build -f", "what `build` prints, as it prints it"},
             {"pawl logs review-7 --stream stderr --since 10m", "errors of the last ten minutes"}),
    .args = sizeof(LogsArgs),
    .place = offsetof(LogsArgs, place),
    .argument = offsetof(LogsArgs, node),
    .one = "node",
    .only_thread = "it shows what a whole run printed, and not one checkpoint of it.",
    .act = act,
};
