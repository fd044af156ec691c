/* eval.c - `pawl eval`: a jq expression over JSON documents. */
#include "command.h"
#include "inputs.h"
#include "options.h"
#include "terminal.h"

#include "jq.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Exit codes, as jq has them. */
enum { EXIT_FALSE = 1, EXIT_COMPILE = 3, EXIT_NO_OUTPUT = 4, EXIT_FAILED = 5 };

/* A person waits at the other end, so the budget is large; but it is one. */
static const JqBudget default_budget = {.steps = 1000000000, .memory = (size_t)1 << 30};

typedef enum Positional { POSITIONAL_FILE, POSITIONAL_STRING, POSITIONAL_JSON } Positional;

typedef struct Eval {
    const Command *command;
    /* what to evaluate */
    Buf expression;
    const char *expression_file; /* NULL: it was an argument */
    bool have_expression;
    JqBudget budget;
    bool environment;
    /* on what */
    bool null_input;
    InputsOptions inputs;
    char **files;
    size_t nfiles, files_cap;
    /* with what: $NAME in order, and $ARGS at the end */
    const char **names;
    Json *values;
    size_t nvars, names_cap, values_cap;
    Json named, positional;
    Positional reading;
    /* how to write it */
    JsonPrintOptions print;
    bool raw, join, nul, seq, colour, monochrome, unbuffered, exit_status;
    /* what came of it */
    bool any_output, last_false, failed;
} Eval;

/* ---- the command line ---- */

static void add_variable(Eval *e, const char *name, Json value) {
    e->names = mem_grow(e->names, e->nvars, &e->names_cap, sizeof *e->names);
    e->values = mem_grow(e->values, e->nvars, &e->values_cap, sizeof *e->values);
    e->names[e->nvars] = name;
    e->values[e->nvars++] = json_ref(value);
    e->named = json_object_set(e->named, json_string_c(name), value);
}

static bool parse_argument(Eval *e, const char *what, const char *text, Json *value) {
    Error err = ERROR_INIT;
    *value = json_parse(text, strlen(text), NULL, &err);
    return !json_is_none(*value) ||
           options_complain(e->command, "%s is not JSON: %s: %s.", what, err.msg, text);
}

static bool add_json_variable(Eval *e, char **values) {
    Json value;
    if (!parse_argument(e, "the value of --argjson", values[1], &value)) {
        return false;
    }
    add_variable(e, values[0], value);
    return true;
}

static bool add_file_variable(Eval *e, char **values, bool raw) {
    Json value;
    if (raw) {
        Buf text = BUF_INIT;
        bool ok = inputs_read_file(values[1], &text);
        value = json_string(text.data ? text.data : "", text.len);
        buf_clear(&text);
        if (!ok) {
            json_unref(value);
            return false;
        }
    } else if (!inputs_read_documents(values[1], &value)) {
        json_unref(value);
        return false;
    }
    add_variable(e, values[0], value);
    return true;
}

/* A whole number, with K, M or G behind it; 0 means that there is no limit. */
static bool parse_limit(Eval *e, const Option *option, const char *text, uint64_t *limit) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    static const char units[] = "KMG";
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    int shift = unit && *unit ? 10 * (int)(unit - units + 1) : 0;
    bool whole = end != text && text[0] != '-' && !errno && (*end == '\0' || (shift && !end[1]));
    if (!whole || n > UINT64_MAX >> shift) {
        return options_complain(e->command, "--%s takes a whole number such as 1000000 or 64M, not %s.",
                                option->name, text);
    }
    *limit = n ? n << shift : JQ_NO_LIMIT;
    return true;
}

static bool parse_indent(Eval *e, const char *text) {
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < 0 || n > 7) {
        return options_complain(e->command, "--indent takes a number from 0 to 7, not %s.", text);
    }
    e->print.indent = (int)n;
    return true;
}

static bool read_expression(Eval *e, const char *path) {
    e->have_expression = true;
    e->expression_file = path;
    buf_reset(&e->expression);
    return inputs_read_file(path, &e->expression);
}

static bool on_argument(Eval *e, char *text) {
    Json value;
    if (!e->have_expression) {
        e->have_expression = true;
        buf_adds(&e->expression, text);
        return true;
    }
    if (e->reading == POSITIONAL_FILE) {
        e->files = mem_grow(e->files, e->nfiles, &e->files_cap, sizeof *e->files);
        e->files[e->nfiles++] = text;
        return true;
    }
    if (e->reading == POSITIONAL_STRING) {
        value = json_string_c(text);
    } else if (!parse_argument(e, "an argument after --jsonargs", text, &value)) {
        return false;
    }
    e->positional = json_array_push(e->positional, value);
    return true;
}

static bool *flag_of(Eval *e, int id) {
    switch ((enum EvalOption)id) {
    case EVAL_NULL_INPUT:
        return &e->null_input;
    case EVAL_RAW_INPUT:
        return &e->inputs.raw;
    case EVAL_SLURP:
        return &e->inputs.slurp;
    case EVAL_STREAM:
        return &e->inputs.events;
    case EVAL_RAW_OUTPUT:
        return &e->raw;
    case EVAL_RAW_OUTPUT0:
        return &e->nul;
    case EVAL_JOIN:
        return &e->join;
    case EVAL_ASCII:
        return &e->print.ascii;
    case EVAL_SORT_KEYS:
        return &e->print.sort_keys;
    case EVAL_COLOR:
        return &e->colour;
    case EVAL_MONOCHROME:
        return &e->monochrome;
    case EVAL_UNBUFFERED:
        return &e->unbuffered;
    case EVAL_EXIT_STATUS:
        return &e->exit_status;
    case EVAL_ENV:
        return &e->environment;
    default:
        return NULL;
    }
}

static bool on_limit(Eval *e, const Option *option, const char *text) {
    uint64_t limit = 0;
    if (!parse_limit(e, option, text, &limit)) {
        return false;
    }
    if (option->id == EVAL_LIMIT_STEPS) {
        e->budget.steps = limit;
    } else if (option->id == EVAL_LIMIT_MEMORY) {
        e->budget.memory = (size_t)limit;
    } else {
        e->budget.depth = (size_t)limit;
    }
    return true;
}

static bool on_option(void *ctx, const Option *option, char **values) {
    Eval *e = ctx;
    if (!option) {
        return on_argument(e, values[0]);
    }
    bool *flag = flag_of(e, option->id);
    if (flag) {
        *flag = true;
        return true;
    }
    switch ((enum EvalOption)option->id) {
    case EVAL_SEQ:
        e->seq = e->inputs.seq = true;
        return true;
    case EVAL_COMPACT:
        e->print.indent = 0;
        return true;
    case EVAL_TAB:
        e->print.indent = -1;
        return true;
    case EVAL_INDENT:
        return parse_indent(e, values[0]);
    case EVAL_FROM_FILE:
        return read_expression(e, values[0]);
    case EVAL_ARG:
        add_variable(e, values[0], json_string_c(values[1]));
        return true;
    case EVAL_ARGJSON:
        return add_json_variable(e, values);
    case EVAL_SLURPFILE:
    case EVAL_RAWFILE:
        return add_file_variable(e, values, option->id == EVAL_RAWFILE);
    case EVAL_ARGS:
        e->reading = POSITIONAL_STRING;
        return true;
    case EVAL_JSONARGS:
        e->reading = POSITIONAL_JSON;
        return true;
    default:
        return on_limit(e, option, values[0]);
    }
}

/* ---- output ---- */

static bool write_out(void *ctx, const char *text, size_t len) {
    (void)ctx;
    return fwrite(text, 1, len, stdout) == len;
}

static bool holds_nul(Json string) {
    return memchr(json_string_data(&string), '\0', json_string_len(string)) != NULL;
}

static void write_text(Json string) {
    fwrite(json_string_data(&string), 1, json_string_len(string), stdout);
}

static bool write_result(Eval *e, Json value) {
    bool text = (e->raw || e->join || e->nul) && json_kind(value) == JSON_STRING;
    if (text && e->nul && holds_nul(value)) {
        fputs("pawl eval: a string with a NUL in it cannot be written with --raw-output0.\n", stderr);
        return false;
    }
    if (e->seq) {
        fputc('\x1e', stdout);
    }
    if (text && !e->print.ascii) {
        write_text(value);
    } else {
        json_print_to(value, &e->print, write_out, NULL);
    }
    if (e->nul) {
        fputc('\0', stdout);
    } else if (!e->join) {
        fputc('\n', stdout);
    }
    if (e->unbuffered) {
        fflush(stdout);
    }
    return true;
}

/* ---- messages ---- */

/* The line of the expression that an error is in, and a caret under the place. */
static void show_place(const Eval *e, const Error *err) {
    if (!err->line) {
        return;
    }
    const char *line = e->expression.data, *end;
    for (int i = 1; i < err->line && strchr(line, '\n'); i++) {
        line = strchr(line, '\n') + 1;
    }
    end = line + strcspn(line, "\n");
    enum { SHOWN = 100 };
    if (end - line <= SHOWN) {
        fprintf(stderr, "    %.*s\n    %*s^\n", (int)(end - line), line, err->col - 1, "");
    }
}

static void complain(const Eval *e, const char *where, const Error *err) {
    fprintf(stderr, "pawl eval: %s%s%s", where ? where : "", where ? ": " : "", err->msg);
    if (err->line) {
        const char *file = e->expression_file ? e->expression_file : "expression";
        fprintf(stderr, " (%s, line %d, column %d)", file, err->line, err->col);
    }
    fputc('\n', stderr);
    show_place(e, err);
}

static void log_message(void *ctx, const char *kind, Json value) {
    (void)ctx;
    fflush(stdout);
    Buf text = BUF_INIT;
    json_print(value, NULL, &text);
    if (!strcmp(kind, "debug")) {
        fprintf(stderr, "[\"DEBUG:\",%s]\n", text.data);
    } else if (json_kind(value) == JSON_STRING) {
        fwrite(json_string_data(&value), 1, json_string_len(value), stderr);
    } else {
        fputs(text.data, stderr);
    }
    buf_clear(&text);
}

/* ---- evaluation ---- */

static Json environment(void) {
    extern char **environ;
    Json env = json_object();
    for (char **at = environ; *at; at++) {
        const char *equals = strchr(*at, '=');
        if (equals) {
            env = json_object_set(env, json_string(*at, (size_t)(equals - *at)), json_string_c(equals + 1));
        }
    }
    return env;
}

/* One document, all its outputs. False when output is impossible, which ends everything. */
static bool evaluate(Eval *e, JqRun *run, Json input, const char *where) {
    jq_run_start(run, input, e->values);
    Json out;
    JqStatus status;
    bool written = true;
    while (written && (status = jq_run_next(run, &out)) == JQ_OUTPUT) {
        e->any_output = true;
        e->last_false = !json_truthy(out);
        written = write_result(e, out) && !ferror(stdout);
        json_unref(out);
    }
    if (written && status == JQ_FAILED) {
        e->failed = true;
        fflush(stdout);
        complain(e, where, jq_run_error(run));
    }
    return written;
}

static int exit_code(const Eval *e, bool inputs_ok) {
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "pawl eval: the output cannot be written: %s.\n", strerror(errno));
        return EXIT_USAGE;
    }
    if (e->failed) {
        return EXIT_FAILED;
    }
    if (!inputs_ok) {
        return EXIT_USAGE;
    }
    if (e->exit_status) {
        return !e->any_output ? EXIT_NO_OUTPUT : e->last_false ? EXIT_FALSE : EXIT_OK;
    }
    return EXIT_OK;
}

static int run_program(Eval *e, const JqProgram *program) {
    JqHost host = {.budget = e->budget, .log = log_message, .ctx = e};
    host.env = e->environment ? environment() : json_none();
    JqRun *run = jq_run_new(program, &host);
    bool inputs_ok = true;
    if (e->null_input) {
        evaluate(e, run, json_null(), NULL);
    } else {
        Inputs *in = inputs_new(e->files, e->nfiles, e->inputs);
        Json input;
        bool go = true;
        while (go && inputs_next(in, &input)) {
            go = evaluate(e, run, input, inputs_place(in));
        }
        inputs_ok = !inputs_failed(in);
        inputs_free(in);
    }
    jq_run_free(run);
    json_unref(host.env);
    return exit_code(e, inputs_ok);
}

/* $ARGS stands beside the named variables; $__prog_name and the like do not exist. */
static void add_args(Eval *e) {
    Json args = json_object_set(json_object(), json_string_c("positional"), json_ref(e->positional));
    args = json_object_set(args, json_string_c("named"), json_ref(e->named));
    add_variable(e, "ARGS", args);
}

static int compile_and_run(Eval *e) {
    add_args(e);
    JqOptions options = {.vars = e->names, .nvars = e->nvars, .file = e->expression_file};
    Error err = ERROR_INIT;
    const char *text = e->expression.data ? e->expression.data : "";
    JqProgram *program = jq_compile(text, e->expression.len, &options, &err);
    if (!program) {
        complain(e, NULL, &err);
        return EXIT_COMPILE;
    }
    int code = run_program(e, program);
    jq_program_free(program);
    return code;
}

static void eval_clear(Eval *e) {
    for (size_t i = 0; i < e->nvars; i++) {
        json_unref(e->values[i]);
    }
    json_unref(e->named);
    json_unref(e->positional);
    mem_free(e->names);
    mem_free(e->values);
    mem_free(e->files);
    buf_clear(&e->expression);
}

int cmd_eval(int argc, char **argv) {
    Eval e = {.command = command_find("eval"), .budget = default_budget, .print = {.indent = 2}};
    e.named = json_object();
    e.positional = json_array();
    OptionsResult parsed = options_parse(e.command, argc, argv, on_option, &e);
    int code = parsed == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    if (parsed == OPTIONS_RUN && !e.have_expression) {
        options_complain(e.command, "there is no expression to evaluate.");
    } else if (parsed == OPTIONS_RUN) {
        if (e.colour || (!e.monochrome && terminal_has_colour(stdout))) {
            e.print.colors = &json_default_colors;
        }
        code = compile_and_run(&e);
    }
    eval_clear(&e);
    return code;
}
