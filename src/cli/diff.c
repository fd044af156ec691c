/* diff.c - `pawl diff`: what differs between the states at two checkpoints. */
#include "json_diff.h"
#include "json_print.h"
#include "looks.h"
#include "options.h"
#include "output.h"
#include "terminal.h"

#include <ctype.h>
#include <stdio.h>

typedef struct DiffArgs {
    Common common;
    Place a, b;
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
    buf_adds(&p->line, p->colour ? colours[added ? 1 : removed ? 2 : 0] : "");
    buf_adds(&p->line, added ? "+ " : removed ? "- " : "~ ");
    add_path(&p->line, path);
    buf_adds(&p->line, ": ");
    json_print(added ? new_value : old_value, NULL, &p->line);
    if (!added && !removed) {
        buf_adds(&p->line, " \xe2\x86\x92 ");
        json_print(new_value, NULL, &p->line);
    }
    buf_adds(&p->line, p->colour ? "\x1b[0m\n" : "\n");
    return fwrite(p->line.data, 1, p->line.len, stdout) == p->line.len;
}

static void print_changes(Json a, Json b) {
    Printer p = {BUF_INIT, terminal_has_colour(stdout)};
    json_changes(a, b, print_change, &p);
    buf_clear(&p.line);
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
        code = diff(&args);
    }
    place_clear(&args.a);
    place_clear(&args.b);
    return code;
}

/* ---- the row ---- */

static const Option diff_options[] = {
    STORE_ROW,
    JSON_ROW("as an object: added, removed and changed, with the path of each"),
    {0},
};

static const Example diff_examples[] = {
    {"pawl diff review-7@3 review-7", "what has changed since checkpoint 3"},
    {"pawl diff review-7 review-8", "how two runs differ"},
    {0},
};

const Command command_diff = {
    .name = "diff",
    .summary = "show what differs between two states",
    .arguments = "THREAD[@SEQ] THREAD[@SEQ]",
    .description = "Writes what differs between the states of two runs, or of one run at two "
                   "checkpoints: + for what only the second has, - for what only the first has, ~ "
                   "for what differs. Nothing when they are the same.",
    .options = diff_options,
    .examples = diff_examples,
    .run = cmd_diff,
};
