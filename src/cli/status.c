/* status.c - `pawl status`: where a run is, and what it waits for. */
#include "advice.h"
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "pauses.h"
#include "place.h"
#include "terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FRAMES_SHOWN = 20 };

typedef struct StatusArgs {
    Common common;
    Place place;
} StatusArgs;

/* ---- for people ---- */

/* "  paused before build (frame 2): breakpoint 1", or "  at build (frame 2): at work". */
static void put_frame(Json frame, bool named) {
    Json pause = field_get(frame, "pause");
    Buf line = BUF_INIT;
    if (json_kind(pause) == JSON_OBJECT) {
        Json whole = OBJECT_ADD(json_ref(pause), KEY("frame", json_ref(field_get(frame, "frame"))),
                                KEY("node", json_ref(field_get(frame, "node"))));
        pause_words(&line, whole, named);
        terminal_line(stdout, "  paused %s", line.data);
        json_unref(whole);
    } else {
        const char *doing = field_string(frame, "doing");
        buf_printf(&line, "  at %s", field_string(frame, "node"));
        if (field_has_text(frame, "title")) {
            buf_printf(&line, " \"%s\"", field_string(frame, "title"));
        }
        if (named) buf_printf(&line, " (frame %" PRId64 ")", field_number(frame, "frame", 0));
        terminal_say(stdout, "%s%s%s\n", line.data, *doing ? ": " : "", doing);
    }
    buf_clear(&line);
}

/* Those that wait for an answer are said with it. */
static void put_frames(Json run) {
    Json frames = field_get(run, "frames");
    bool asks = json_array_len(field_get(run, "interrupts")) > 0;
    size_t n = json_array_len(frames), shown = 0, left = 0;
    for (size_t i = 0; i < n; i++) {
        Json frame = json_array_get(frames, i);
        bool paused = json_kind(field_get(frame, "pause")) == JSON_OBJECT;
        if (!paused && (asks || !field_has_text(frame, "node"))) continue;
        if (shown < FRAMES_SHOWN) {
            put_frame(frame, n > 1);
            shown++;
        } else {
            left++;
        }
    }
    if (left) printf("  and %zu more\n", left);
}

static void put_advice(const StatusArgs *args, Json run) {
    Json status = field_get(run, "status");
    const char *thread = field_string(run, "thread");
    const char *hint = cli_store_hint(&args->common);
    bool failed = json_string_is(status, "failed");
    Buf line = BUF_INIT;
    advice_resume(&line, thread, hint);
    if (json_string_is(status, "stopped")) {
        terminal_say(stdout, "Resume with: %s\n", line.data);
    } else if (json_string_is(status, "paused")) {
        pause_advice(stdout, thread, hint, field_has_text(run, "owner"));
    } else if (failed && json_truthy(field_get(run, "over"))) {
        say_history(stdout, thread, hint);
    } else if (failed) {
        terminal_say(stdout, "Try again from there with: %s\n", line.data);
    }
    buf_clear(&line);
}

static void show_status(const void *ctx, Json run) {
    const StatusArgs *args = ctx;
    Json error = field_get(run, "error"), open = field_get(run, "interrupts");
    const char *thread = field_string(run, "thread"), *status = field_string(run, "status");
    terminal_say(stdout, "%s  run %" PRId64 " of %s  checkpoint %" PRId64 "  %s\n", thread,
                 field_number(run, "run", 0), field_string(run, "workflow"),
                 field_number(run, "checkpoint", 0), field_string(run, "updated"));
    printf("%s%s\n", status,
           json_truthy(field_get(run, "orphaned")) ? " (its process is gone)" : "");
    if (!strcmp(status, "cancelled")) {
        return; /* where its frames stood is of no more use */
    }
    if (json_kind(error) == JSON_OBJECT) {
        terminal_say(stdout, "  %s: %s\n", field_string(error, "node"),
                     field_string(error, "message"));
    } else {
        put_frames(run);
    }
    Buf text = BUF_INIT;
    size_t n = json_array_len(open);
    for (size_t i = 0; i < n; i++) {
        advice_interrupt(&text, json_array_get(open, i), n == 1, thread,
                         cli_store_hint(&args->common));
    }
    terminal_put(stdout, text.data ? text.data : "", text.len);
    buf_clear(&text);
    put_advice(args, run);
}

static int act(void *ctx) {
    const StatusArgs *args = ctx;
    return ask_and_show(&args->common, "run_get", OBJECT(KEY("thread", args->place.thread)),
                        show_status);
}

/* ---- the row ---- */

const Command command_status = {
    .name = "status",
    .summary = "show where a run is and what it waits for",
    .arguments = "[THREAD]",
    .description = "Says where a run is (the one that changed last, when none is named): what its "
                   "frames do, where a debugger has paused them, what it waits for with the very "
                   "commands that answer, or why it failed and how to try again.",
    OPTIONS(STORE_ROW, SERVER_ROWS, JSON_ROW("as an object")),
    EXAMPLES(
        {"pawl status", "the run that changed last"},
        {"pawl status review-7", "where it is, what it waits for and the commands that answer"}),
    .args = sizeof(StatusArgs),
    .place = offsetof(StatusArgs, place),
    .only_thread = "it says where a run is now; `pawl show` shows a checkpoint.",
    .act = act,
};
