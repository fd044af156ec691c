/* kinds.c - `pawl kinds`: what nodes, tasks and steps there are, and what they take. */
#include "command.h"
#include "flows.h"
#include "options.h"
#include "output.h"
#include "problems.h"
#include "servers.h"
#include "stores.h"
#include "suggest.h"
#include "terminal.h"

#include "json_print.h"
#include "kind_listing.h"
#include "kind_schema.h"

#include <stdio.h>
#include <string.h>

typedef struct KindsArgs {
    Common common;
    const char *name; /* NULL: all */
    int dialect;      /* 0: all; or 1 and its DialectId */
    Json outside;     /* those from outside that are meant (kind_listing.h) */
} KindsArgs;

/* The kind at *at or after it that is meant; NULL past the last. */
static const Kind *next_kind(const KindsArgs *args, size_t *at) {
    while (*at < KIND_COUNT) {
        const Kind *kind = &kinds[(*at)++];
        if (!kind->hidden && (!args->dialect || (int)kind->dialect + 1 == args->dialect) &&
            (!args->name || strcmp(args->name, kind->name) == 0)) {
            return kind;
        }
    }
    return NULL;
}

static int unknown_kind(const KindsArgs *args) {
    KindsArgs in_dialect = {.dialect = args->dialect}, by_name = {.name = args->name};
    Suggestion nearest = suggestion_for(args->name, strlen(args->name));
    size_t first = 0;
    const Kind *kind = next_kind(&by_name, &first);
    if (kind) { /* it is there, but not in the dialect that was asked for */
        options_complain(&command_kinds, "there is no kind `%s` in the dialect %s, but in %s.",
                         args->name, dialect_name((DialectId)(args->dialect - 1)),
                         dialect_name(kind->dialect));
        return EXIT_USAGE;
    }
    for (size_t at = 0; (kind = next_kind(&in_dialect, &at));) {
        suggestion_offer(&nearest, kind->name);
    }
    for (size_t i = 0; i < json_array_len(args->outside); i++) {
        suggestion_offer(&nearest, json_object_text(json_array_get(args->outside, i), "name"));
    }
    options_complain(&command_kinds, "there is no kind `%s`%s", args->name,
                     did_you_mean_this(nearest.best));
    return EXIT_USAGE;
}

/* ---- as JSON ---- */

static bool is_meant(const KindsArgs *args, Json kind) {
    return !args->name || strcmp(json_object_text(kind, "name"), args->name) == 0;
}

static int print_json(const KindsArgs *args) {
    Json all = json_array_concat(kinds_rows(args->dialect - 1), json_ref(args->outside));
    Json list = json_array();
    for (size_t i = 0; i < json_array_len(all); i++) {
        Json kind = json_array_get(all, i);
        if (is_meant(args, kind)) list = json_array_push(list, json_ref(kind));
    }
    json_unref(all);
    output_pretty(list);
    json_unref(list);
    return EXIT_OK;
}

/* ---- as a list ---- */

static const char *const dialect_lines[DIALECT_COUNT] = {
    "graph: what a node of `nodes` does",
    "tasks: what a task of `tasks` does",
    "pipeline: what a step of `steps` does",
};

static void print_dialect(const KindsArgs *args) {
    Table table = {.columns = 2};
    const Kind *kind;
    for (size_t at = 0; (kind = next_kind(args, &at));) {
        char name[80];
        snprintf(name, sizeof name, "  %s", kind->name);
        table_row(&table, (const char *[]){name, kind->help});
    }
    terminal_heading(stdout, dialect_lines[args->dialect - 1]);
    table_print(&table);
    table_clear(&table);
}

/* What a file of an outside kind is for people: what it is about, or what is wrong with it. */
static void print_outside(const KindsArgs *args) {
    Table table = {.columns = 3};
    for (size_t i = 0; i < json_array_len(args->outside); i++) {
        Json kind = json_array_get(args->outside, i), hidden = json_object_get_c(kind, "hidden");
        char name[120];
        Buf help = BUF_INIT;
        snprintf(name, sizeof name, "  %s", json_object_text(kind, "name"));
        if (json_is_none(json_object_get_c(kind, "error"))) {
            buf_adds(&help, json_object_text(kind, "help"));
        } else {
            buf_printf(&help, "cannot be used: %s", json_object_text(kind, "error"));
        }
        for (size_t k = 0; k < json_array_len(hidden); k++) {
            Json dialect = json_array_get(hidden, k);
            buf_printf(&help, "%s%s", k ? ", " : " (hidden by the kind of Pawl itself in ",
                       json_string_data(&dialect));
        }
        if (json_array_len(hidden)) buf_addc(&help, ')');
        table_row(&table, (const char *[]){name, json_object_text(kind, "file"), help.data});
        buf_clear(&help);
    }
    terminal_heading(stdout, "from outside: files that every dialect can use");
    table_print(&table);
    table_clear(&table);
}

static int print_list(const KindsArgs *args) {
    bool first = true;
    for (int dialect = 0; dialect < DIALECT_COUNT; dialect++) {
        if (args->dialect && args->dialect != dialect + 1) continue;
        KindsArgs one = {.dialect = dialect + 1};
        fputs(first ? "" : "\n", stdout);
        print_dialect(&one);
        first = false;
    }
    if (json_array_len(args->outside)) {
        putchar('\n');
        print_outside(args);
    }
    return EXIT_OK;
}

/* ---- one kind ---- */

/* "GET|POST" for words, "duration" for the rest. */
static void print_type(const ParamInfo *info) {
    if (info->type != PARAM_ENUM) {
        fputs(param_type_name(info->type), stdout);
        return;
    }
    for (const char *w = info->words; *w; w++) putchar(*w == ' ' ? '|' : *w);
}

static void print_param(const ParamInfo *info, int indent, int width) {
    printf("%*s%-*s  ", indent, "", width, info->name);
    print_type(info);
    if (info->required) {
        fputs(", required", stdout);
    } else if (info->fallback) {
        printf(", %s unless given", info->fallback);
    }
    printf("\n%*s", indent + width + 2, "");
    terminal_put_wrapped(stdout, info->help, indent + width + 2);
}

/* With what is inside of those that are objects. */
static void print_params(const ParamInfo *params, size_t n, int indent) {
    size_t width = 0;
    for (size_t i = 0; i < n; i++) {
        width = strlen(params[i].name) > width ? strlen(params[i].name) : width;
    }
    for (size_t i = 0; i < n; i++) {
        print_param(&params[i], indent, (int)width);
        print_params(params[i].fields, params[i].nfields, indent + (int)width + 4);
    }
}

static void print_kind(const Kind *kind) {
    char title[200];
    size_t from = kind_config_start(kind);
    snprintf(title, sizeof title, "%s (%s): %s", kind->name, dialect_name(kind->dialect),
             kind->help);
    terminal_heading(stdout, title);
    print_params(kind->params + from, kind->nparams - from, 2);
}

/* "integer, 1 unless given". */
static void print_input(Json name, Json schema, bool required, int width) {
    Json type = json_object_get_c(schema, "type"), otherwise = json_object_get_c(schema, "default");
    Json about = json_object_get_c(schema, "description");
    Buf text = BUF_INIT;
    if (json_kind(type) == JSON_STRING) {
        buf_adds(&text, json_string_data(&type));
    } else if (json_kind(type) == JSON_ARRAY) {
        for (size_t i = 0; i < json_array_len(type); i++) {
            Json one = json_array_get(type, i);
            buf_printf(&text, "%s%s", i ? "|" : "", json_string_data(&one));
        }
    } else {
        buf_adds(&text, "value");
    }
    if (!json_is_none(otherwise)) {
        buf_adds(&text, ", ");
        json_print(otherwise, NULL, &text);
        buf_adds(&text, " unless given");
    } else if (required) {
        buf_adds(&text, ", required");
    }
    terminal_say(stdout, "  %-*s  %s\n", width, json_string_data(&name), text.data);
    if (json_kind(about) == JSON_STRING) {
        printf("%*s", width + 4, "");
        terminal_put_wrapped(stdout, json_string_data(&about), width + 4);
    }
    buf_clear(&text);
}

static void print_outside_kind(Json kind) {
    Json schema = json_object_get_c(kind, "schema"), outputs = json_object_get_c(kind, "outputs");
    Json inputs = json_object_get_c(schema, "properties"), name, input;
    Json required = json_object_get_c(schema, "required");
    bool bad = !json_is_none(json_object_get_c(kind, "error"));
    Buf title = BUF_INIT;
    size_t width = 0;
    buf_printf(&title, "%s (%s): %s", json_object_text(kind, "name"),
               json_object_text(kind, "file"), json_object_text(kind, bad ? "error" : "help"));
    terminal_heading(stdout, title.data);
    buf_clear(&title);
    for (size_t pos = 0; json_object_next(inputs, &pos, &name, &input);) {
        width = json_string_len(name) > width ? json_string_len(name) : width;
    }
    for (size_t pos = 0; json_object_next(inputs, &pos, &name, &input);) {
        bool needs = false;
        for (size_t i = 0; i < json_array_len(required); i++) {
            needs = needs || json_string_equal(json_array_get(required, i), name);
        }
        print_input(name, input, needs, (int)width);
    }
    if (json_truthy(json_object_get_c(schema, "additionalProperties"))) puts("  and any others");
    for (size_t i = 0; i < json_array_len(outputs); i++) {
        name = json_array_get(outputs, i);
        terminal_say(stdout, "%s%s", i ? ", " : "  gives back: ", json_string_data(&name));
    }
    fputs(json_array_len(outputs) ? "\n" : "", stdout);
}

static int print_kinds(const KindsArgs *args) {
    const Kind *kind;
    bool first = true;
    for (size_t at = 0; (kind = next_kind(args, &at)); first = false) {
        fputs(first ? "" : "\n", stdout);
        print_kind(kind);
    }
    for (size_t i = 0; i < json_array_len(args->outside); i++) {
        if (!is_meant(args, json_array_get(args->outside, i))) continue;
        fputs(first ? "" : "\n", stdout);
        print_outside_kind(json_array_get(args->outside, i));
        first = false;
    }
    return EXIT_OK;
}

/* ---- the command ---- */

/* Every name once: `sleep` is in two dialects. */
static const char *kind_words(void) {
    static Buf words = BUF_INIT;
    KindsArgs all = {0};
    const Kind *kind;
    buf_reset(&words);
    for (size_t at = 0; (kind = next_kind(&all, &at));) {
        if (kind->id != KIND_TASK_SLEEP) {
            buf_printf(&words, "%s%s", words.len ? " " : "", kind->name);
        }
    }
    return words.data;
}

static bool has_outside(const KindsArgs *args) {
    for (size_t i = 0; i < json_array_len(args->outside); i++) {
        if (is_meant(args, json_array_get(args->outside, i))) return true;
    }
    return false;
}

static int act(void *ctx) {
    KindsArgs *args = ctx;
    size_t at = 0;
    int code;
    if (!cli_kinds_outside(&args->common, &args->outside, &code)) return code;
    code = !next_kind(args, &at) && !has_outside(args) ? unknown_kind(args)
           : args->common.json                         ? print_json(args)
           : args->name                                ? print_kinds(args)
                                                       : print_list(args);
    json_clear(&args->outside);
    return code;
}

const Command command_kinds = {
    .name = "kinds",
    .summary = "list the kinds of nodes, tasks and steps",
    .arguments = "[NAME]",
    .description =
        "Lists the kinds of nodes, tasks and steps that files can use. With a name it shows the "
        "parameters of that kind: type, default, meaning; a name that two dialects have is shown "
        "twice.\n\nKinds from outside, files that workflows use by their names, are listed too: those in "
        ".pawl/kinds in this folder and in the folders that --kinds names.",
    OPTIONS({"dialect", 'd', "graph|tasks|pipeline", "only those of one dialect",
             TAKES(OPTION_CHOICE, KindsArgs, dialect), .completes = COMPLETE_WORDS},
            JSON_ROW("as an array of objects: name, dialect, help, schema"), KINDS_ROW, ROOT_ROW,
            SERVER_ROWS),
    EXAMPLES({"pawl kinds", "all that a workflow can do"},
             {"pawl kinds run_shell", "what one of them takes"},
             {"pawl kinds check_http_json --json", "the same as a JSON Schema, for a form"}),
    .completes = COMPLETE_WORDS,
    .list_words = kind_words,
    .args = sizeof(KindsArgs),
    .argument = offsetof(KindsArgs, name),
    .one = "kind",
    .act = act,
};
