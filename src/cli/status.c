/* status.c - `pawl status`: where a run is, and what it waits for. */
#include "advice.h"
#include "engine.h"
#include "json_print.h"
#include "looks.h"
#include "mem.h"
#include "options.h"
#include "output.h"
#include "pauses.h"
#include "terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FRAMES_SHOWN = 20 };

typedef struct StatusArgs {
    Common common;
    Place place;
} StatusArgs;

static bool on_option(void *ctx, const Option *option, char **values) {
    StatusArgs *args = ctx;
    if (!option) {
        return place_argument(&command_status, values[0], &args->place);
    }
    common_option(&args->common, option, values);
    return true;
}

/* All there is to say about a run. */
typedef struct Report {
    const StatusArgs *args;
    const RunRow *row;
    const char *status;
    Json owner, frames, interrupts, error;
    bool over; /* failed, and no resume can mend it */
} Report;

static void report_read(Report *r, Json image) {
    r->frames = look_frames(image);
    r->interrupts = json_is_none(image) ? json_array() : image_interrupts(image);
    r->error = json_is_none(image) ? json_none() : image_error(image);
    r->over = !json_is_none(image) && image_is_over(image);
}

static void report_clear(Report *r) {
    json_clear(&r->owner);
    json_clear(&r->frames);
    json_clear(&r->interrupts);
    json_clear(&r->error);
}

/* ---- for programs ---- */

static void write_json(const Report *r) {
    const RunRow *row = r->row;
    char created[OUTPUT_TIME_MAX], updated[OUTPUT_TIME_MAX];
    Json out = output_set(json_object(), "run", json_int(row->run));
    out = output_set(out, "thread", json_string_c(row->thread));
    out = output_set(out, "workflow", json_string_c(row->workflow));
    out = output_set(out, "status", json_string_c(r->status));
    out = output_set(out, "checkpoint", row->head ? json_int(row->head) : json_null());
    out = output_set(out, "created", json_string_c(output_time(row->created, created)));
    out = output_set(out, "updated", json_string_c(output_time(row->updated, updated)));
    out = output_set(out, "owner", json_ref(r->owner));
    out = output_set(out, "frames", json_ref(r->frames));
    out = output_set(out, "interrupts", json_ref(r->interrupts));
    out = output_set(out, "error", json_ref(r->error));
    output_line(out);
    json_unref(out);
}

/* ---- for people ---- */

static void put_string(Json value) {
    if (json_kind(value) == JSON_STRING) {
        terminal_put(stdout, json_string_data(&value), json_string_len(value));
    }
}

static bool is_paused(Json frame) {
    return json_kind(json_object_get_c(frame, "pause")) == JSON_OBJECT;
}

/* "  paused before build (frame 2): breakpoint 1". */
static void put_paused(Json frame, bool named) {
    Json pause = json_ref(json_object_get_c(frame, "pause"));
    pause = output_set(pause, "frame", json_ref(json_object_get_c(frame, "frame")));
    pause = output_set(pause, "node", json_ref(json_object_get_c(frame, "node")));
    Buf line = BUF_INIT;
    pause_words(&line, pause, named);
    terminal_say(stdout, "  paused %s\n", line.data);
    buf_clear(&line);
    json_unref(pause);
}

static void put_frame(Json frame, bool named) {
    if (is_paused(frame)) {
        put_paused(frame, named);
        return;
    }
    Json id = json_object_get_c(frame, "frame");
    const char *words = look_words(json_object_get_c(frame, "waits"));
    fputs("  at ", stdout);
    put_string(json_object_get_c(frame, "node"));
    if (named && json_tag(id) == JSON_TAG_INT) {
        printf(" (frame %" PRId64 ")", id.i);
    }
    printf("%s%s\n", words ? ": " : "", words ? words : "");
}

/* Those that wait for an answer are said with it. */
static bool is_to_be_shown(const Report *r, Json frame) {
    bool at_node = json_kind(json_object_get_c(frame, "node")) == JSON_STRING;
    return is_paused(frame) || (at_node && json_array_len(r->interrupts) == 0);
}

static void put_frames(const Report *r) {
    size_t n = json_array_len(r->frames), shown = 0, left = 0;
    for (size_t i = 0; i < n; i++) {
        Json frame = json_array_get(r->frames, i);
        if (!is_to_be_shown(r, frame)) {
            continue;
        }
        if (shown < FRAMES_SHOWN) {
            put_frame(frame, n > 1);
            shown++;
        } else {
            left++;
        }
    }
    if (left) {
        printf("  and %zu more\n", left);
    }
}

static void put_interrupts(const Report *r) {
    size_t n = json_array_len(r->interrupts);
    Buf text = BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        advice_interrupt(&text, json_array_get(r->interrupts, i), n == 1, r->row->thread,
                         cli_store_hint(r->args->common.store));
    }
    terminal_put(stdout, text.data ? text.data : "", text.len);
    buf_clear(&text);
}

static void put_error(const Report *r) {
    Json message = json_object_get_c(r->error, "message");
    if (json_kind(message) == JSON_STRING) {
        fputs("  ", stdout);
        put_string(json_object_get_c(r->error, "node"));
        fputs(": ", stdout);
        put_string(message);
        fputc('\n', stdout);
    }
}

static void put_resume(const Report *r, const char *before) {
    Buf line = BUF_INIT;
    advice_resume(&line, r->row->thread, cli_store_hint(r->args->common.store));
    terminal_say(stdout, "%s%s\n", before, line.data);
    buf_clear(&line);
}

static void write_text(const Report *r) {
    const RunRow *row = r->row;
    char updated[OUTPUT_TIME_MAX];
    bool stopped = !strcmp(r->status, "stopped"), paused = !strcmp(r->status, "paused");
    terminal_say(stdout, "%s  run %" PRId64 " of %s  checkpoint %" PRId64 "  %s\n", row->thread,
                 row->run, row->workflow, row->head, output_time(row->updated, updated));
    printf("%s%s\n", r->status,
           stopped && !strcmp(row->status, "running") ? " (its process is gone)" : "");
    if (!strcmp(r->status, "cancelled")) {
        return; /* where its frames stood is of no more use */
    }
    if (json_kind(r->error) == JSON_OBJECT) {
        put_error(r);
    } else {
        put_frames(r);
    }
    put_interrupts(r);
    if (stopped) {
        put_resume(r, "Resume with: ");
    } else if (paused) {
        pause_advice(stdout, row->thread, cli_store_hint(r->args->common.store));
    } else if (!strcmp(r->status, "failed") && r->over) {
        printf("Its cleanup tasks have run. `pawl history %s` shows where to go back to.\n",
               row->thread);
    } else if (!strcmp(r->status, "failed")) {
        put_resume(r, "Try again from there with: ");
    }
}

/* ---- the command ---- */

static int report_on(const StatusArgs *args, Store *store, const RunRow *row) {
    Report r = {.args = args, .row = row, .status = cli_run_status(store, row)};
    int code = EXIT_OK;
    Json image = json_none();
    if (row->head) {
        image = look_image(&args->common, store, row, 0, &code);
        if (json_is_none(image)) {
            return code;
        }
    }
    r.owner = cli_run_owner(store, row);
    report_read(&r, image);
    (args->common.json ? write_json : write_text)(&r);
    report_clear(&r);
    json_unref(image);
    return EXIT_OK;
}

/* The thread of the run that changed last. */
static bool first_thread(void *ctx, const RunRow *row) {
    *(char **)ctx = mem_strndup(row->thread, strlen(row->thread));
    return false;
}

static bool choose_run(StatusArgs *args, Store *store, int *code) {
    Error err = ERROR_INIT;
    if (args->place.thread) {
        return true;
    }
    if (store_runs(store, first_thread, &args->place.thread, &err) && !args->place.thread) {
        error_set(&err, ERR_USAGE, "There are no runs in %s; `pawl run FILE` starts one.",
                  store_url(store));
    }
    if (!args->place.thread) {
        *code = cli_fail(&command_status, &err);
    }
    return args->place.thread != NULL;
}

static int status(StatusArgs *args) {
    int code = EXIT_OK;
    RunRow row = {0};
    Store *store = cli_store_look(&args->common, &code);
    if (store && choose_run(args, store, &code) &&
        cli_find(&args->common, store, args->place.thread, &row, &code)) {
        code = report_on(args, store, &row);
    }
    run_row_clear(&row);
    store_close(store);
    return code;
}

static int cmd_status(int argc, char **argv) {
    StatusArgs args = {.common = {.command = &command_status}};
    OptionsResult parsed = options_parse(&command_status, argc, argv, on_option, &args);
    int code = parsed == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    if (parsed == OPTIONS_RUN && args.place.seq) {
        options_complain(&command_status,
                         "it says where a run is now; `pawl show` shows a checkpoint.");
    } else if (parsed == OPTIONS_RUN) {
        code = status(&args);
    }
    place_clear(&args.place);
    return code;
}

/* ---- the row ---- */

static const Option status_options[] = {
    STORE_ROW,
    JSON_ROW("as an object"),
    {0},
};

static const Example status_examples[] = {
    {"pawl status", "the run that changed last"},
    {"pawl status review-7", "where it is, what it waits for and the commands that answer"},
    {0},
};

const Command command_status = {
    .name = "status",
    .summary = "show where a run is and what it waits for",
    .arguments = "[THREAD]",
    .description = "Says where a run is (the one that changed last, when none is named): what its "
                   "frames do, where a debugger has paused them, what it waits for with the very "
                   "commands that answer, or why it failed and how to try again.",
    .options = status_options,
    .examples = status_examples,
    .run = cmd_status,
};
