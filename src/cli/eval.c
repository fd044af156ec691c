/* eval.c - `pawl eval`: a jq expression over JSON documents. */
#include "command.h"
#include "inputs.h"
#include "options.h"
#include "output.h"
#include "stores.h"
#include "terminal.h"

#include "jq.h"
#include "json_build.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Options that are more than a flag. */
enum EvalOption {
    EVAL_SEQ,
    EVAL_STREAM_ERRORS,
    EVAL_FROM_FILE,
    EVAL_COMPACT,
    EVAL_TAB,
    EVAL_INDENT,
    EVAL_ARG,
    EVAL_ARGJSON,
    EVAL_SLURPFILE,
    EVAL_RAWFILE,
    EVAL_ARGS,
    EVAL_JSONARGS,
    EVAL_LIMIT_STEPS,
    EVAL_LIMIT_MEMORY,
    EVAL_LIMIT_DEPTH,
};

/* Exit codes, as jq has them. */
enum { EXIT_FALSE = 1, EXIT_COMPILE = 3, EXIT_NO_OUTPUT = 4, EXIT_FAILED = 5 };

/* A person waits at the other end, so the budget is large; but it is one. */
enum { STEPS_UNLESS_TOLD = 1000000000, MEMORY_UNLESS_TOLD = 1 << 30, INDENT_UNLESS_TOLD = 2 };

typedef enum Positional { POSITIONAL_FILE, POSITIONAL_STRING, POSITIONAL_JSON } Positional;

/* What a document came to: its last result, if there was one. */
typedef enum Outcome { OUTCOME_NONE, OUTCOME_FALSE, OUTCOME_TRUE, OUTCOME_FAILED } Outcome;

typedef struct Eval {
    Common common;
    /* what to evaluate */
    const char *first; /* the first argument: the expression, or with -f the file that it is in */
    bool from_file;
    Buf expression;
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
    Json positional; /* JSON_NONE: there are none */
    Positional reading;
    /* how to write it */
    JsonPrintOptions print;
    bool has_indent;
    JsonColors colors;
    char *color_codes; /* what the colors point into when JQ_COLORS is set */
    bool raw, join, nul, seq, colour, monochrome, unbuffered, exit_status;
    /* what came of it */
    Outcome last;    /* of the last document */
    Outcome verdict; /* of the last document that had a result and did not fail */
    int write_error; /* errno; 0 while output is possible */
} Eval;

/* ---- the command line ---- */

/* As in jq, of two with the same name the first counts. */
static bool is_defined(const Eval *e, const char *name) {
    for (size_t i = 0; i < e->nvars; i++) {
        if (!strcmp(e->names[i], name)) return true;
    }
    return false;
}

static void add_variable(Eval *e, const char *name, Json value) {
    e->names = mem_grow(e->names, e->nvars, &e->names_cap, sizeof *e->names);
    e->values = mem_grow(e->values, e->nvars, &e->values_cap, sizeof *e->values);
    e->names[e->nvars] = name;
    e->values[e->nvars++] = value;
}

static bool parse_argument(const char *what, const char *text, Json *value) {
    Error err = ERROR_INIT;
    *value = json_parse(text, strlen(text), NULL, &err);
    return !json_is_none(*value) ||
           options_complain(&command_eval, "%s is not JSON: %s: `%s`.", what, err.msg, text);
}

/* $NAME, from a text, JSON, or a file. */
static bool on_variable(Eval *e, int id, char **values) {
    Json value = json_none();
    bool ok = true;
    if (is_defined(e, values[0])) return true;
    if (id == EVAL_ARGJSON) {
        ok = parse_argument("the value of --argjson", values[1], &value);
    } else if (id == EVAL_ARG) {
        value = json_string_c(values[1]);
    } else if (id == EVAL_RAWFILE) {
        Buf text = BUF_INIT;
        Error err = ERROR_INIT;
        ok = inputs_read_file(values[1], &text, &err) || options_refuse(&command_eval, &err);
        value = json_string(text.data ? text.data : "", text.len);
        buf_clear(&text);
    } else {
        ok = inputs_read_documents("eval", values[1], &value);
    }
    if (ok) {
        add_variable(e, values[0], value);
    } else {
        json_unref(value);
    }
    return ok;
}

/* A whole number, with K, M or G behind it; 0 means that there is no limit. */
static bool on_limit(Eval *e, const Option *option, const char *text) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    static const char units[] = "KMG";
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    int shift = unit && *unit ? 10 * (int)(unit - units + 1) : 0;
    bool whole = end != text && text[0] != '-' && !errno && (*end == '\0' || (shift && !end[1]));
    if (!whole || n > UINT64_MAX >> shift) {
        return options_complain(&command_eval,
                                "--%s takes a whole number such as 1000000 or 64M, not `%s`.",
                                option->name, text);
    }
    uint64_t limit = n ? n << shift : JQ_NO_LIMIT;
    if (option->id == EVAL_LIMIT_STEPS) {
        e->budget.steps = limit;
    } else if (option->id == EVAL_LIMIT_MEMORY) {
        e->budget.memory = (size_t)limit;
        e->inputs.max_bytes = limit == JQ_NO_LIMIT ? 0 : (size_t)limit;
    } else {
        e->budget.depth = (size_t)limit;
    }
    return true;
}

static bool set_indent(Eval *e, int indent) {
    e->print.indent = indent;
    return e->has_indent = true;
}

static bool parse_indent(Eval *e, const char *text) {
    char *end;
    long n = strtol(text, &end, 10);
    bool good = end != text && !*end && n >= -1 && n <= 7; /* -1: tabs */
    return good ? set_indent(e, (int)n)
                : options_complain(&command_eval, "--indent takes a number from 0 to 7, not `%s`.",
                                   text);
}

static bool on_argument(Eval *e, char *text) {
    Json value;
    if (!e->first) {
        e->first = text;
        return true;
    }
    if (e->reading == POSITIONAL_FILE) {
        e->files = mem_grow(e->files, e->nfiles, &e->files_cap, sizeof *e->files);
        e->files[e->nfiles++] = text;
        return true;
    }
    if (e->reading == POSITIONAL_STRING) {
        value = json_string_c(text);
    } else if (!parse_argument("an argument after --jsonargs", text, &value)) {
        return false;
    }
    e->positional = json_array_push(e->positional, value);
    return true;
}

static bool on_option(void *ctx, const Option *option, char **values) {
    Eval *e = ctx;
    if (!option) return on_argument(e, values[0]);
    switch ((enum EvalOption)option->id) {
    case EVAL_SEQ: e->seq = e->inputs.seq = true; return true;
    case EVAL_STREAM_ERRORS: e->inputs.events = e->inputs.event_errors = true; return true;
    case EVAL_COMPACT: return set_indent(e, 0);
    case EVAL_TAB: return set_indent(e, -1);
    case EVAL_INDENT: return parse_indent(e, values[0]);
    case EVAL_FROM_FILE: /* in jq it takes no value but changes what the first argument is */
        e->from_file = true;
        return on_argument(e, values[0]);
    case EVAL_ARG:
    case EVAL_ARGJSON:
    case EVAL_SLURPFILE:
    case EVAL_RAWFILE: return on_variable(e, option->id, values);
    case EVAL_ARGS: e->reading = POSITIONAL_STRING; return true;
    case EVAL_JSONARGS: e->reading = POSITIONAL_JSON; return true;
    default: return on_limit(e, option, values[0]);
    }
}

/* ---- output ---- */

/* As in jq, JQ_COLORS is "0;90:0;39:...", SGR codes for the parts in the order of JsonColors; parts
 * that it does not name keep theirs. False when there is something else in it. */
static bool read_colors(Eval *e, const char *codes) {
    const char **parts[] = {&e->colors.null,   &e->colors.false_, &e->colors.true_,
                            &e->colors.number, &e->colors.string, &e->colors.array,
                            &e->colors.object, &e->colors.key};
    if (codes[strspn(codes, "0123456789;:")]) return false;
    enum { AROUND = sizeof "\x1b[m" };
    size_t nparts = sizeof parts / sizeof parts[0];
    char *out = e->color_codes = mem_alloc(strlen(codes) + nparts * AROUND);
    for (size_t i = 0; i < nparts && *codes; i++) {
        int len = (int)strcspn(codes, ":");
        *parts[i] = out;
        out += sprintf(out, "\x1b[%.*sm", len, codes) + 1;
        codes += codes[len] ? len + 1 : len;
    }
    return true;
}

static void choose_colors(Eval *e) {
    if (e->monochrome || !(e->colour || terminal_has_colour(stdout))) return;
    const char *codes = getenv("JQ_COLORS");
    e->colors = json_default_colors;
    e->print.colors = &e->colors;
    if (codes && !read_colors(e, codes)) {
        fputs("pawl eval: JQ_COLORS is passed over: it takes SGR codes with colons between them, "
              "such as 0;90:0;31.\n",
              stderr);
    }
}

static bool is_text(const Eval *e, Json value) {
    return (e->raw || e->join || e->nul) && json_kind(value) == JSON_STRING;
}

/* False when nothing more can be written. */
static bool write_result(Eval *e, Json value) {
    if (!is_text(e, value)) {
        fputs(e->seq ? "\x1e" : "", stdout);
        json_print_to(value, &e->print, output_json, NULL);
    } else if (e->print.ascii) {
        json_print_to(value, &(JsonPrintOptions){.ascii = true}, output_json, NULL);
    } else {
        terminal_put(stdout, json_string_data(&value), json_string_len(value));
    }
    if (e->nul || !e->join) fputc(e->nul ? '\0' : '\n', stdout);
    if (e->unbuffered) fflush(stdout);
    if (ferror(stdout)) e->write_error = errno;
    return !e->write_error;
}

/* ---- messages ---- */

/* A line of an expression as it is shown, and what stands below it up to the caret. */
typedef struct Excerpt {
    Buf text, below;
} Excerpt;

/* Columns that a character takes on a terminal. */
static int width_of(int32_t cp) {
    static const struct {
        int32_t first, last;
        int width;
    } ranges[] = {
        {0x300, 0x36F, 0},   {0x1100, 0x115F, 2}, {0x200B, 0x200F, 0},   {0x2E80, 0xA4CF, 2},
        {0xAC00, 0xD7A3, 2}, {0xF900, 0xFAFF, 2}, {0xFE00, 0xFE0F, 0},   {0xFE30, 0xFE6F, 2},
        {0xFF00, 0xFF60, 2}, {0xFFE0, 0xFFE6, 2}, {0x1F300, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (cp >= ranges[i].first && cp <= ranges[i].last) return ranges[i].width;
    }
    return 1;
}

/* A tab stays one in both lines; other control characters would move the terminal's cursor. */
static void add_character(Excerpt *x, int32_t cp, bool before_caret) {
    char bytes[4];
    bool shown = cp == '\t' || (cp >= ' ' && cp < 0x7F) || cp >= 0xA0;
    cp = shown ? cp : UTF8_REPLACEMENT;
    buf_add(&x->text, bytes, utf8_encode(cp, bytes));
    for (int i = 0; before_caret && i < width_of(cp); i++) {
        buf_addc(&x->below, cp == '\t' ? '\t' : ' ');
    }
}

/* The part of a line around the character number `at`, with dots where something is left out. */
static void make_excerpt(Excerpt *x, const char *line, const char *end, size_t at) {
    size_t n = 0, shown = (size_t)terminal_width(stderr) - 12;
    int32_t cp;
    for (const char *c = line; c < end; n++) c += utf8_decode(c, end, &cp);
    size_t from = n <= shown || at < shown / 2 ? 0 : at - shown / 2;
    if (from && n - from < shown) from = n - shown;
    if (from) {
        buf_adds(&x->text, "...");
        buf_adds(&x->below, "   ");
    }
    for (size_t i = 0; line < end && i < from + shown; i++) {
        line += utf8_decode(line, end, &cp);
        if (i >= from) add_character(x, cp, i < at);
    }
    buf_adds(&x->text, line < end ? "..." : "");
}

/* The line of the expression that an error is in, and a caret under the place. */
static void show_place(const Eval *e, const Error *err) {
    const char *line = e->expression.data, *end = line + e->expression.len, *stop;
    for (int i = 1; i < err->line && (stop = memchr(line, '\n', (size_t)(end - line))); i++) {
        line = stop + 1;
    }
    if ((stop = memchr(line, '\n', (size_t)(end - line)))) end = stop;
    end -= end > line && end[-1] == '\r';
    Excerpt x = {BUF_INIT, BUF_INIT};
    make_excerpt(&x, line, end, (size_t)(err->col > 0 ? err->col - 1 : 0));
    fprintf(stderr, "    %s\n    %s^\n", x.text.data ? x.text.data : "",
            x.below.data ? x.below.data : "");
    buf_clear(&x.text);
    buf_clear(&x.below);
}

static void complain(const Eval *e, const char *where, const Error *err, Json raised) {
    fflush(stdout);
    terminal_say(stderr, "pawl eval: %s%s", where ? where : "", where ? ": " : "");
    if (json_kind(raised) == JSON_STRING) { /* shown whole; an Error holds only its beginning */
        terminal_put(stderr, json_string_data(&raised), json_string_len(raised));
    } else {
        terminal_say(stderr, "%s", err->msg);
    }
    if (err->line) {
        const char *file = e->from_file ? e->first : "expression";
        terminal_say(stderr, " (%s, line %d, column %d)\n", file, err->line, err->col);
        show_place(e, err);
    } else {
        fputc('\n', stderr);
    }
}

static void log_debug(const Eval *e, Json value) {
    JsonPrintOptions options = e->print;
    options.indent = 0;
    if (!e->colour && !terminal_has_colour(stderr)) options.colors = NULL;
    Json line = json_array_push(json_array(), json_string_c("DEBUG:"));
    line = json_array_push(line, json_ref(value));
    json_print_to(line, &options, output_json, stderr);
    fputc('\n', stderr);
    json_unref(line);
}

static void log_message(void *ctx, const char *kind, Json value) {
    fflush(stdout);
    if (!strcmp(kind, "debug")) {
        log_debug(ctx, value);
    } else if (json_kind(value) == JSON_STRING) {
        terminal_put(stderr, json_string_data(&value), json_string_len(value));
    } else {
        json_print_to(value, NULL, output_json, stderr);
    }
}

/* ---- evaluation ---- */

static Json environment(void) {
    extern char **environ;
    Json env = json_object();
    for (char **at = environ; *at; at++) {
        const char *equals = strchr(*at, '=');
        if (equals) {
            env = json_object_set(env, json_string(*at, (size_t)(equals - *at)),
                                  json_string_c(equals + 1));
        }
    }
    return env;
}

/* Whether a result can be written at all; says so when not. */
static bool is_writable(const Eval *e, Json value, const char *where) {
    static const Error nul = {
        .msg = "A string with a NUL in it cannot be written with --raw-output0."};
    bool bad = e->nul && !e->print.ascii && is_text(e, value) &&
               memchr(json_string_data(&value), '\0', json_string_len(value));
    if (bad) complain(e, where, &nul, json_none());
    return !bad;
}

/* One document, all its results. False when output is impossible, which ends everything. */
static bool evaluate(Eval *e, JqRun *run, Json input, const char *where) {
    Json out;
    JqStatus status;
    e->last = OUTCOME_NONE;
    jq_run_start(run, input, e->values);
    while ((status = jq_run_next(run, &out)) == JQ_OUTPUT) {
        e->last = !is_writable(e, out, where) ? OUTCOME_FAILED
                  : json_truthy(out)          ? OUTCOME_TRUE
                                              : OUTCOME_FALSE;
        bool go_on = e->last != OUTCOME_FAILED && write_result(e, out);
        json_unref(out);
        if (!go_on) break;
    }
    if (status == JQ_FAILED) {
        e->last = OUTCOME_FAILED;
        complain(e, where, jq_run_error(run), jq_run_raised(run));
    }
    if (e->last == OUTCOME_FALSE || e->last == OUTCOME_TRUE) e->verdict = e->last;
    return !e->write_error;
}

/* A reader that went away has seen enough: no words about that. */
static bool finish_output(Eval *e) {
    if (fflush(stdout) && !e->write_error) e->write_error = errno;
    if (e->write_error && e->write_error != EPIPE) {
        fprintf(stderr, "pawl eval: the output cannot be written: %s.\n", strerror(e->write_error));
    }
    return !e->write_error;
}

/* As jq: what the last document came to counts, not the ones before it. */
static int exit_code(const Eval *e) {
    static const int of_verdict[] = {
        [OUTCOME_NONE] = EXIT_NO_OUTPUT, [OUTCOME_FALSE] = EXIT_FALSE, [OUTCOME_TRUE] = EXIT_OK};
    if (e->last == OUTCOME_FAILED) return EXIT_FAILED;
    return e->exit_status ? of_verdict[e->verdict] : EXIT_OK;
}

static int run_program(Eval *e, const JqProgram *program) {
    JqHost host = {.budget = e->budget, .log = log_message, .ctx = e};
    host.env = e->environment ? environment() : json_none();
    JqRun *run = jq_run_new(program, &host);
    bool unreadable = false, malformed = false;
    if (e->null_input) {
        evaluate(e, run, json_null(), NULL);
    } else {
        Inputs *in = inputs_new(e->files, e->nfiles, e->inputs);
        Json input;
        while (inputs_next(in, &input) && evaluate(e, run, input, inputs_place(in))) {}
        unreadable = inputs_unreadable(in);
        malformed = inputs_malformed(in);
        inputs_free(in);
    }
    jq_run_free(run);
    json_unref(host.env);
    bool written = finish_output(e);
    return !written || unreadable ? EXIT_USAGE : malformed ? EXIT_FAILED : exit_code(e);
}

/* $ARGS stands beside the named variables; $__prog_name and the like do not exist. */
static void add_args(Eval *e) {
    Json named = json_object();
    for (size_t i = 0; i < e->nvars; i++) {
        named = json_object_with(named, e->names[i], json_ref(e->values[i]));
    }
    Json positional = json_is_none(e->positional) ? json_array() : json_ref(e->positional);
    add_variable(e, "ARGS", OBJECT(KEY("positional", positional), KEY("named", named)));
}

static int compile_and_run(Eval *e) {
    Error unreadable = ERROR_INIT;
    if (!e->from_file) {
        buf_adds(&e->expression, e->first);
    } else if (!inputs_read_file(e->first, &e->expression, &unreadable)) {
        options_refuse(&command_eval, &unreadable);
        return EXIT_USAGE;
    }
    add_args(e);
    buf_reserve(&e->expression, 0);
    JqOptions options = {.vars = e->names, .nvars = e->nvars};
    Error err = ERROR_INIT;
    JqProgram *program = jq_compile(e->expression.data, e->expression.len, &options, &err);
    if (!program) {
        complain(e, NULL, &err, json_none());
        return EXIT_COMPILE;
    }
    int code = run_program(e, program);
    jq_program_free(program);
    return code;
}

static int act(void *ctx) {
    Eval *e = ctx;
    if (!e->first && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))) {
        e->first = "."; /* in a pipe, the least that is of use */
    }
    if (!e->first) {
        options_complain(&command_eval, "there is no expression to evaluate.");
        return EXIT_USAGE;
    }
    e->inputs.command = "eval";
    e->budget.steps = e->budget.steps ? e->budget.steps : STEPS_UNLESS_TOLD;
    e->budget.memory = e->budget.memory ? e->budget.memory : MEMORY_UNLESS_TOLD;
    e->print.indent = e->has_indent ? e->print.indent : INDENT_UNLESS_TOLD;
    choose_colors(e);
    return compile_and_run(e);
}

static void clear(void *ctx) {
    Eval *e = ctx;
    for (size_t i = 0; i < e->nvars; i++) json_unref(e->values[i]);
    json_unref(e->positional);
    mem_free(e->names);
    mem_free(e->values);
    mem_free(e->files);
    mem_free(e->color_codes);
    buf_clear(&e->expression);
}

/* ---- the row ---- */

#define FLAG(field) TAKES(OPTION_FLAG, Eval, field)

const Command command_eval = {
    .name = "eval",
    .summary = "evaluate a jq expression over JSON",
    .arguments = "EXPRESSION [FILE...]",
    .description =
        "Evaluates EXPRESSION, in the jq language, once for each JSON document in the files (or on "
        "standard input) and writes the results as JSON. The flags are those of jq.\n\n"
        "An evaluation has a budget of steps, memory and depth. One that goes over it ends in an "
        "error, as one that fails does; the next document is then read.\n\n"
        "Exit codes: 0, all went well; 1 and 4, with -e, the last output was false or null, or there "
        "was none; 2, the command line is wrong or a file cannot be read; 3, the expression does not "
        "compile; 5, the last document failed, or an input was not JSON.",
    OPTIONS({"null-input", 'n', NULL, "read nothing: the input is null", FLAG(null_input)},
            {"raw-input", 'R', NULL, "each line of input is a string, not JSON", FLAG(inputs.raw)},
            {"slurp", 's', NULL, "read all inputs into one array", FLAG(inputs.slurp)},
            {"stream", 0, NULL, "read inputs as events [path, leaf], in constant memory",
             FLAG(inputs.events)},
            {"stream-errors", 0, NULL,
             "like --stream; an input that is no JSON ends in an event [message, path]",
             .id = EVAL_STREAM_ERRORS},
            {"seq", 0, NULL, "documents are started by an RS byte (RFC 7464), both ways",
             .id = EVAL_SEQ},
            {"from-file", 'f', "FILE", "read the expression from a file",
             .completes = COMPLETE_FILE, .id = EVAL_FROM_FILE},
            {"compact-output", 'c', NULL, "each result on one line", .id = EVAL_COMPACT},
            {"raw-output", 'r', NULL,
             "write strings without quotes; on a terminal, control characters as `?`", FLAG(raw)},
            {"raw-output0", 0, NULL, "like -r, with a NUL after each result", FLAG(nul)},
            {"join-output", 'j', NULL, "like -r, with nothing between results", FLAG(join)},
            {"ascii-output", 'a', NULL, "escape whatever is not ASCII", FLAG(print.ascii)},
            {"sort-keys", 'S', NULL, "write the keys of objects in order", FLAG(print.sort_keys)},
            {"color-output", 'C', NULL, "colours, even when not on a terminal", FLAG(colour)},
            {"monochrome-output", 'M', NULL, "no colours", FLAG(monochrome)},
            {"tab", 0, NULL, "indent with tabs", .id = EVAL_TAB},
            {"indent", 0, "N", "indent with N spaces (0 to 7; 2 unless told)", .id = EVAL_INDENT},
            {"unbuffered", 0, NULL, "write each result at once", FLAG(unbuffered)},
            {"exit-status", 'e', NULL,
             "exit with 1 when the last result is false or null, 4 when there is none",
             FLAG(exit_status)},
            {"arg", 0, "NAME VALUE", "$NAME is the string VALUE", .id = EVAL_ARG},
            {"argjson", 0, "NAME JSON", "$NAME is the value of the text JSON", .id = EVAL_ARGJSON},
            {"slurpfile", 0, "NAME FILE", "$NAME is an array of the documents in FILE",
             .completes = COMPLETE_FILE, .id = EVAL_SLURPFILE},
            {"rawfile", 0, "NAME FILE", "$NAME is the text of FILE, as a string",
             .completes = COMPLETE_FILE, .id = EVAL_RAWFILE},
            {"args", 0, NULL, "the arguments that follow are strings in $ARGS.positional",
             .id = EVAL_ARGS},
            {"jsonargs", 0, NULL, "the same, as JSON values", .id = EVAL_JSONARGS},
            {"env", 0, NULL, "fill $ENV from the environment; it is empty otherwise",
             FLAG(environment)},
            {"limit-steps", 0, "N",
             "stop an evaluation after N steps (1000000000 unless told; 0: never)", 0,
             .id = EVAL_LIMIT_STEPS},
            {"limit-memory", 0, "BYTES",
             "stop it when its values take more than BYTES (1G unless told; 0: never)",
             .id = EVAL_LIMIT_MEMORY},
            {"limit-depth", 0, "N",
             "stop it when calls nest deeper than N (1000000 unless told; 0: never)", 0,
             .id = EVAL_LIMIT_DEPTH}),
    EXAMPLES({"pawl eval '.user.name' request.json", "one field of a document"},
             {"pawl eval -r '.items[] | select(.price > 10) | .title' cart.json",
              "the titles of what costs more than ten, as plain text"},
             {"pawl eval -n --arg who World '\"Hello, \\($who)!\"'", "no input, a variable"},
             {"pawl eval -n --limit-steps 1000000 'def f: f; f'",
              "an expression that never ends, stopped"}),
    .completes = COMPLETE_FILE,
    .args = sizeof(Eval),
    .handle = on_option,
    .act = act,
    .clear = clear,
};
