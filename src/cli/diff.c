/* diff.c - `pawl diff`: what differs between the states at two checkpoints, or where two runs part. */
#include "divergence.h"
#include "json_diff.h"
#include "json_print.h"
#include "looks.h"
#include "options.h"
#include "output.h"
#include "terminal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

enum { DIFF_RUNS };

typedef struct DiffArgs {
    Common common;
    Place a, b;
    bool runs;
} DiffArgs;

static bool on_option(void *ctx, const Option *option, char **values) {
    DiffArgs *args = ctx;
    if (!option && args->b.thread) {
        return options_complain(&command_diff, "it takes two places, but was given `%s` too.",
                                values[0]);
    }
    if (!option) {
        return place_parse(&command_diff, values[0], args->a.thread ? &args->b : &args->a);
    }
    args->runs = args->runs || option->id == DIFF_RUNS;
    common_option(&args->common, option, values);
    return true;
}

/* ---- for people ---- */

static bool is_plain(Json key) {
    const char *text = json_string_data(&key);
    size_t len = json_string_len(key);
    bool plain = len > 0 && !isdigit((unsigned char)text[0]);
    for (size_t i = 0; plain && i < len; i++) {
        plain = isalnum((unsigned char)text[i]) || text[i] == '_';
    }
    return plain;
}

/* As --set takes it: .a.b[0]["odd key"]. */
static void add_path(Buf *out, Json path) {
    size_t n = json_array_len(path);
    for (size_t i = 0; i < n; i++) {
        Json step = json_array_get(path, i);
        if (json_kind(step) == JSON_STRING && is_plain(step)) {
            buf_addc(out, '.');
            buf_add(out, json_string_data(&step), json_string_len(step));
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

static void print_changes(Json a, Json b) {
    Printer p = {BUF_INIT, terminal_has_colour(stdout)};
    json_changes(a, b, print_change, &p);
    buf_clear(&p.line);
}

/* ---- where two runs part ---- */

/* One of the two, to be cleared whatever came of reading it. */
typedef struct RunSide {
    RunRow row;
    Flow *flow;
    DivergenceSide side;
} RunSide;

static bool read_side(const Common *c, Store *store, const Place *place, RunSide *out, int *code) {
    Error err = ERROR_INIT;
    if (!cli_find(c, store, place->thread, &out->row, code)) {
        return false;
    }
    Json image = look_image(c, store, &out->row, place->seq, code);
    if (json_is_none(image)) {
        return false;
    }
    out->flow = lineage_flow(store, &out->row, image, &err);
    out->side = (DivergenceSide){out->row.run, place->seq ? place->seq : out->row.head, out->flow};
    json_unref(image);
    if (!out->flow) {
        *code = cli_fail(c->command, &err);
    }
    return out->flow != NULL;
}

static void side_clear(RunSide *s) {
    flow_unref(s->flow);
    run_row_clear(&s->row);
}

static int64_t number_of(Json object, const char *key) {
    Json value = json_object_get_c(object, key);
    return json_tag(value) == JSON_TAG_INT ? value.i : 0;
}

static void print_text(Json value) {
    if (json_kind(value) == JSON_STRING) {
        terminal_say(stdout, "  %.*s", (int)json_string_len(value), json_string_data(&value));
    }
}

static void print_side(const RunSide *s, Json at) {
    if (json_kind(at) != JSON_OBJECT) {
        printf("  %s  goes no further\n", s->row.thread);
        return;
    }
    printf("  %s@%" PRId64, s->row.thread, number_of(at, "checkpoint"));
    print_text(json_object_get_c(at, "node"));
    print_text(json_object_get_c(at, "status"));
    putchar('\n');
}

/* The changes of a report in the form that states are compared in. */
static void print_report(Json report) {
    static const char *const lists[] = {"removed", "added", "changed"};
    Printer p = {BUF_INIT, terminal_has_colour(stdout)};
    for (size_t i = 0; json_kind(report) == JSON_OBJECT && i < 3; i++) {
        Json list = json_object_get_c(report, lists[i]);
        for (size_t k = 0; k < json_array_len(list); k++) {
            Json one = json_array_get(list, k);
            print_change(&p, json_object_get_c(one, "path"), json_object_get_c(one, "old"),
                         json_object_get_c(one, "new"));
        }
    }
    buf_clear(&p.line);
}

static void print_divergence(const RunSide *a, const RunSide *b, Json found) {
    int64_t steps = number_of(found, "steps");
    const char *word = steps == 1 ? "step" : "steps";
    Json frame = json_object_get_c(found, "frame");
    if (json_is_none(frame)) {
        printf("The runs are the same: %" PRId64 " %s.\n", steps, word);
        return;
    }
    if (steps) {
        printf("The runs part after %" PRId64 " %s, in", steps, word);
    } else {
        bool begun =
            json_kind(json_object_get_c(json_object_get_c(found, "b"), "node")) == JSON_STRING;
        printf("The runs part at %s, in", begun ? "their first step" : "the beginning");
    }
    terminal_say(stdout, " %.*s:\n", (int)json_string_len(frame), json_string_data(&frame));
    print_side(a, json_object_get_c(found, "a"));
    print_side(b, json_object_get_c(found, "b"));
    print_report(json_object_get_c(found, "diff"));
}

static int tell_divergence(const DiffArgs *args, Store *store, const RunSide *a, const RunSide *b) {
    Error err = ERROR_INIT;
    Json found = divergence_find(store, &a->side, &b->side, &err);
    if (json_is_none(found)) {
        return cli_fail(args->common.command, &err);
    }
    bool same = json_truthy(json_object_get_c(found, "same"));
    if (args->common.json) {
        output_line(found);
    } else {
        print_divergence(a, b, found);
    }
    json_unref(found);
    return same ? EXIT_OK : EXIT_FAILED_RUN;
}

static int diff_runs(const DiffArgs *args) {
    int code = EXIT_OK;
    RunSide a = {0}, b = {0};
    Store *store = cli_store_open(&args->common, STORE_READ, &code);
    if (store && read_side(&args->common, store, &args->a, &a, &code) &&
        read_side(&args->common, store, &args->b, &b, &code)) {
        code = tell_divergence(args, store, &a, &b);
    }
    side_clear(&a);
    side_clear(&b);
    store_close(store);
    return code;
}

/* ---- the command ---- */

static int diff(const DiffArgs *args) {
    int code = EXIT_OK;
    Json a = look_state(&args->common, &args->a, &code);
    Json b = json_is_none(a) ? json_none() : look_state(&args->common, &args->b, &code);
    if (!json_is_none(b) && args->common.json) {
        Json report = json_changes_report(a, b);
        output_line(report);
        json_unref(report);
    } else if (!json_is_none(b)) {
        print_changes(a, b);
    }
    json_unref(a);
    json_unref(b);
    return code;
}

static int cmd_diff(int argc, char **argv) {
    DiffArgs args = {.common = {.command = &command_diff}};
    OptionsResult parsed = options_parse(&command_diff, argc, argv, on_option, &args);
    int code = parsed == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    if (parsed == OPTIONS_RUN && !args.b.thread) {
        options_complain(&command_diff, "between what? It takes two of THREAD or THREAD@SEQ.");
    } else if (parsed == OPTIONS_RUN) {
        code = args.runs ? diff_runs(&args) : diff(&args);
    }
    place_clear(&args.a);
    place_clear(&args.b);
    return code;
}

/* ---- the row ---- */

static const Option diff_options[] = {
    {"runs", 0, NULL, "say where the two runs part, step by step", COMPLETE_NOTHING, DIFF_RUNS},
    STORE_ROW,
    JSON_ROW("as an object: added, removed and changed, with the path of each"),
    {0},
};

static const Example diff_examples[] = {
    {"pawl diff review-7@3 review-7", "what has changed since checkpoint 3"},
    {"pawl diff review-7 review-8", "how two runs differ"},
    {"pawl diff --runs review-7 review-8", "the first step that went another way"},
    {0},
};

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
    .options = diff_options,
    .examples = diff_examples,
    .run = cmd_diff,
};
