/* diff.c - `pawl diff`: what differs between the states at two checkpoints, or where two runs part. */
#include "ascii.h"
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "json_print.h"
#include "options.h"
#include "output.h"
#include "place.h"
#include "terminal.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct DiffArgs {
    Common common;
    Place a, b;
    bool runs;
} DiffArgs;

static bool on_argument(void *ctx, const Option *option, char **values) {
    DiffArgs *args = ctx;
    (void)option;
    if (args->b.thread) {
        return options_complain(&command_diff, "it takes two places, but was given `%s` too.",
                                values[0]);
    }
    return place_parse(&command_diff, values[0], args->a.thread ? &args->b : &args->a);
}

/* ---- for people ---- */

/* As --set takes it: .a.b[0]["odd key"]. */
static void add_path(Buf *out, Json path) {
    size_t n = json_array_len(path);
    for (size_t i = 0; i < n; i++) {
        Json step = json_array_get(path, i);
        const char *key = json_kind(step) == JSON_STRING ? json_string_data(&step) : "";
        size_t len = 0;
        while (ascii_is_name(key[len])) len++;
        if (len && !ascii_is_digit(key[0]) && len == json_string_len(step)) {
            buf_printf(out, ".%s", key);
        } else {
            buf_adds(out, i == 0 ? ".[" : "[");
            json_print(step, NULL, out);
            buf_addc(out, ']');
        }
    }
    buf_adds(out, n ? "" : ".");
}

typedef struct Printer {
    Buf line;
    bool colour;
} Printer;

/* + path: new, - path: old, ~ path: old -> new. */
static bool print_change(void *ctx, Json path, Json old_value, Json new_value) {
    Printer *p = ctx;
    bool added = json_is_none(old_value), removed = json_is_none(new_value);
    static const char *const colours[] = {"\x1b[33m", "\x1b[32m", "\x1b[31m"};
    buf_reset(&p->line);
    fputs(p->colour ? colours[added ? 1 : removed ? 2 : 0] : "", stdout);
    buf_adds(&p->line, added ? "+ " : removed ? "- " : "~ ");
    add_path(&p->line, path);
    buf_adds(&p->line, ": ");
    json_print(added ? new_value : old_value, NULL, &p->line);
    if (!added && !removed) {
        buf_adds(&p->line, " \xe2\x86\x92 ");
        json_print(new_value, NULL, &p->line);
    }
    return output_json(NULL, p->line.data, p->line.len) &&
           fputs(p->colour ? "\x1b[0m\n" : "\n", stdout) != EOF;
}

/* {removed, added, changed}. */
static void print_report(Json report) {
    static const char *const lists[] = {"removed", "added", "changed"};
    Printer p = {BUF_INIT, terminal_has_colour(stdout)};
    for (size_t i = 0; i < 3; i++) {
        Json list = field_get(report, lists[i]);
        for (size_t k = 0; k < json_array_len(list); k++) {
            Json one = json_array_get(list, k);
            print_change(&p, field_get(one, "path"), field_get(one, "old"), field_get(one, "new"));
        }
    }
    buf_clear(&p.line);
}

/* ---- where two runs part ---- */

static void print_side(const char *thread, Json at) {
    const char *node = field_string(at, "node"), *status = field_string(at, "status");
    if (json_kind(at) != JSON_OBJECT) {
        terminal_say(stdout, "  %s  goes no further\n", thread);
        return;
    }
    terminal_say(stdout, "  %s@%" PRId64 "%s%s%s%s\n", thread, field_number(at, "checkpoint", 0),
                 *node ? "  " : "", node, *status ? "  " : "", status);
}

static void print_divergence(const DiffArgs *args, Json found) {
    int64_t steps = field_number(found, "steps", 0);
    const char *word = steps == 1 ? "step" : "steps";
    if (json_is_none(field_get(found, "frame"))) {
        printf("The runs are the same: %" PRId64 " %s.\n", steps, word);
        return;
    }
    if (steps) {
        printf("The runs part after %" PRId64 " %s, in", steps, word);
    } else {
        bool begun = field_has_text(field_get(found, "b"), "node");
        printf("The runs part at %s, in", begun ? "their first step" : "the beginning");
    }
    terminal_say(stdout, " %s:\n", field_string(found, "frame"));
    print_side(args->a.thread, field_get(found, "a"));
    print_side(args->b.thread, field_get(found, "b"));
    print_report(field_get(found, "diff"));
}

/* ---- the command ---- */

static int diff(const DiffArgs *args) {
    Asking a;
    asking_begin(&a, &args->common);
    Json places =
        OBJECT_ADD(place_args(&args->a), KEY("other", args->b.thread),
                   KEY("other_checkpoint", args->b.seq ? json_int(args->b.seq) : json_none()));
    Json answer = ask(&a, args->runs ? "run_compare" : "run_diff", places);
    if (json_is_none(answer)) return asking_end(&a);
    if (args->common.json) {
        output_line(answer);
    } else if (args->runs) {
        print_divergence(args, answer);
    } else {
        print_report(answer);
    }
    a.code = args->runs && !json_truthy(field_get(answer, "same")) ? EXIT_FAILED_RUN : EXIT_OK;
    json_unref(answer);
    return asking_end(&a);
}

static int act(void *args) {
    if (((DiffArgs *)args)->b.thread) return diff(args);
    options_complain(&command_diff, "between what? It takes two of THREAD or THREAD@SEQ.");
    return EXIT_USAGE;
}

static void clear(void *ctx) {
    DiffArgs *args = ctx;
    place_clear(&args->a);
    place_clear(&args->b);
}

/* ---- the row ---- */

const Command command_diff = {
    .name = "diff",
    .summary = "show what differs between two states",
    .arguments = "THREAD[@SEQ] THREAD[@SEQ]",
    .description = "Writes what differs between the states of two runs, or of one run at two "
                   "checkpoints: + for what only the second has, - for what only the first has, ~ "
                   "for what differs. Nothing when they are the same.\n\n"
                   "With --runs it goes along both runs, frame by frame, to the first step whose "
                   "node, result or change of the state differs, and writes that step and how the "
                   "states after it differ. The order in which parallel branches happened to run "
                   "does not count. It exits with 1 when the runs differ, and 0 when they do not.",
    OPTIONS({"runs", 0, NULL, "say where the two runs part, step by step",
             TAKES(OPTION_FLAG, DiffArgs, runs)},
            STORE_ROW, SERVER_ROWS,
            JSON_ROW("as an object: added, removed and changed, with the path of each")),
    EXAMPLES({"pawl diff review-7@3 review-7", "what has changed since checkpoint 3"},
             {"pawl diff review-7 review-8", "how two runs differ"},
             {"pawl diff --runs review-7 review-8", "the first step that went another way"}),
    .args = sizeof(DiffArgs),
    .handle = on_argument,
    .act = act,
    .clear = clear,
};
