/* kinds.c - `pawl kinds`: what nodes, tasks and steps there are, and what they take. */
#include "command.h"
#include "options.h"
#include "output.h"
#include "problems.h"
#include "stores.h"
#include "suggest.h"
#include "terminal.h"

#include "json_build.h"
#include "kind_schema.h"

#include <stdio.h>
#include <string.h>

typedef struct KindsArgs {
    Common common;
    const char *name; /* NULL: all */
    int dialect;      /* 0: all; or 1 and its DialectId */
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
    options_complain(&command_kinds, "there is no kind `%s`%s", args->name,
                     did_you_mean_this(nearest.best));
    return EXIT_USAGE;
}

/* ---- as JSON ---- */

static int print_json(const KindsArgs *args) {
    Json list = json_array();
    const Kind *kind;
    for (size_t at = 0; (kind = next_kind(args, &at));) {
        list = json_array_push(
            list, OBJECT(KEY("name", kind->name), KEY("dialect", dialect_name(kind->dialect)),
                         KEY("help", kind->help), KEY("schema", kind_schema(kind))));
    }
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

static int print_list(const KindsArgs *args) {
    bool first = true;
    for (int dialect = 0; dialect < DIALECT_COUNT; dialect++) {
        if (args->dialect && args->dialect != dialect + 1) continue;
        KindsArgs one = {.dialect = dialect + 1};
        fputs(first ? "" : "\n", stdout);
        print_dialect(&one);
        first = false;
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

static int print_kinds(const KindsArgs *args) {
    const Kind *kind;
    bool first = true;
    for (size_t at = 0; (kind = next_kind(args, &at)); first = false) {
        fputs(first ? "" : "\n", stdout);
        print_kind(kind);
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

static int act(void *ctx) {
    const KindsArgs *args = ctx;
    size_t at = 0;
    if (!next_kind(args, &at)) return unknown_kind(args);
    return args->common.json ? print_json(args) : args->name ? print_kinds(args) : print_list(args);
}

const Command command_kinds = {
    .name = "kinds",
    .summary = "list the kinds of nodes, tasks and steps",
    .arguments = "[NAME]",
    .description =
        "Lists the kinds of nodes, tasks and steps that files can use. With a name it shows the "
        "parameters of that kind: type, default, meaning; a name that two dialects have is shown "
        "twice.",
    OPTIONS({"dialect", 'd', "graph|tasks|pipeline", "only those of one dialect",
             TAKES(OPTION_CHOICE, KindsArgs, dialect), .completes = COMPLETE_WORDS},
            JSON_ROW("as an array of objects: name, dialect, help, schema")),
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
