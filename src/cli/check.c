/* check.c - `pawl check`: everything that is wrong with some workflow files. */
#include "asking.h"
#include "command.h"
#include "fields.h"
#include "flows.h"
#include "options.h"
#include "output.h"
#include "stores.h"
#include "terminal.h"

#include "exec.h"
#include "flow.h"
#include "json_build.h"
#include "json_print.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>

enum { EXIT_PROBLEMS = 1 };

typedef struct Check {
    Common common;
    const char **files;
    size_t n, cap;
    /* what came of it */
    FlowProblems problems;
    bool unreadable;
    Asking *asking; /* a server that says what it thinks of them; NULL: none is asked */
    Json there;     /* problems that it alone has found */
    bool refused;   /* there are errors among them */
} Check;

static bool on_file(void *ctx, const Option *option, char **values) {
    Check *check = ctx;
    (void)option;
    check->files = mem_grow(check->files, check->n, &check->cap, sizeof *check->files);
    check->files[check->n++] = values[0];
    return true;
}

/* A problem without a line is about a file that could not be read. */
static bool is_unreadable(const FlowProblems *p, size_t from) {
    for (size_t i = from; i < p->n; i++) {
        if (p->items[i].line == 0) return true;
    }
    return false;
}

static void print_problems(const FlowProblems *p, size_t from) {
    Buf out = BUF_INIT;
    for (size_t i = from; i < p->n; i++) {
        bool elsewhere = p->items[i].line == 0;
        flow_problem_print(&p->items[i], terminal_has_colour(elsewhere ? stderr : stdout), &out);
        fwrite(out.data, 1, out.len, elsewhere ? stderr : stdout);
        buf_reset(&out);
    }
    buf_clear(&out);
}

/* ---- a server ---- */

static bool is_known(const Check *check, size_t from, Json problem) {
    bool known = false;
    for (size_t i = from; !known && i < check->problems.n; i++) {
        Json one = flow_problem_json(&check->problems.items[i]);
        known = json_equal(one, problem);
        json_unref(one);
    }
    return known;
}

/* What a server has against a workflow that is fine here: it may know other kinds. */
static void check_there(Check *check, size_t from, const Flow *flow) {
    Json answer = ask(check->asking, "check", OBJECT(KEY("definition", flow_definition(flow))));
    Json problems = field_get(answer, "problems");
    for (size_t i = 0; i < json_array_len(problems); i++) {
        Json one = json_array_get(problems, i);
        if (is_known(check, from, one)) continue;
        check->there = json_array_push(check->there, json_ref(one));
        if (check->common.json) continue;
        terminal_say(stdout, "%s:%lld:%lld: at the server: %s\n", field_string(one, "file"),
                     (long long)field_number(one, "line", 0),
                     (long long)field_number(one, "column", 0), field_string(one, "message"));
    }
    check->refused |= !json_is_none(answer) && !json_truthy(field_get(answer, "ok"));
    json_unref(answer);
}

/* ---- a file ---- */

static void check_file(Check *check, const char *path) {
    extern char **environ;
    size_t from = check->problems.n, found = json_array_len(check->there);
    FlowReader reader = cli_flow_reader(&check->common);
    reader.whole = true;
    Flow *flow = flow_load(path, &reader, &check->problems);
    if (flow) flow_needs_checkpointer(flow, &check->problems);
    if (flow) exec_check_code(flow, &check->problems);
    if (flow) exec_check_scripts(flow, (const char *const *)environ, &check->problems);
    if (flow && !check->asking) exec_check_files(flow, check->common.root, &check->problems);
    check->unreadable = check->unreadable || is_unreadable(&check->problems, from);
    if (!check->common.json) print_problems(&check->problems, from);
    if (flow && check->asking) check_there(check, from, flow);
    if (!check->common.json && !(check->asking && check->asking->code)) {
        if (check->problems.n == from && json_array_len(check->there) == found) {
            size_t n = flow->main->nnodes;
            Buf secrets = BUF_INIT;
            for (size_t i = 0; i < json_array_len(flow->secrets); i++) {
                Json name = json_array_get(flow->secrets, i);
                buf_printf(&secrets, "%s%s", i ? ", " : "; secrets ", json_string_data(&name));
            }
            terminal_say(stdout, "%s: fine (%s, %zu node%s%s)\n", path, flow->name, n,
                         n == 1 ? "" : "s", secrets.data ? secrets.data : "");
            buf_clear(&secrets);
        }
    }
    flow_unref(flow);
}

static void print_json(const FlowProblems *p, Json there) {
    static const JsonPrintOptions options = {.indent = 2};
    Json all = json_array();
    for (size_t i = 0; i < p->n; i++) all = json_array_push(all, flow_problem_json(&p->items[i]));
    all = json_array_concat(all, json_ref(there));
    json_print_to(all, &options, output_json, NULL);
    putchar('\n');
    json_unref(all);
}

static int act(void *ctx) {
    Check *check = ctx;
    if (check->n == 0) {
        options_complain(&command_check, "it needs a file: pawl check review.yaml.");
        return EXIT_USAGE;
    }
    Asking asking;
    check->there = json_array();
    if (cli_server(&check->common)) {
        asking_begin(&asking, &check->common);
        check->asking = &asking;
    }
    int failed = EXIT_OK;
    for (size_t i = 0; i < check->n && !failed; i++) {
        check_file(check, check->files[i]);
        failed = check->asking ? check->asking->code : EXIT_OK;
    }
    if (check->asking) asking_end(&asking);
    check->asking = NULL;
    if (failed) return failed;
    if (check->common.json) print_json(&check->problems, check->there);
    return check->unreadable                          ? EXIT_USAGE
           : check->problems.errors || check->refused ? EXIT_PROBLEMS
                                                      : EXIT_OK;
}

static void clear(void *ctx) {
    Check *check = ctx;
    flow_problems_clear(&check->problems);
    json_unref(check->there);
    mem_free(check->files);
}

/* ---- the row ---- */

const Command command_check = {
    .name = "check",
    .summary = "find what is wrong with workflows",
    .arguments = "FILE...",
    .description =
        "Reads workflows without running them and lists all problems: the place, a "
        "sentence, and the line with a mark under it.\n\n"
        "Exit codes: 0, nothing is wrong (there may be warnings); 1, there are errors; 2, "
        "the command line is wrong or a file cannot be read.",
    OPTIONS(JSON_ROW("the problems as an array of objects"), ROOT_ROW, KINDS_ROW, STRICT_ROW,
            SERVER_ROWS),
    EXAMPLES({"pawl check review.yaml", "what is wrong with a workflow, with lines and columns"},
             {"pawl check --json flows/*.yaml", "the same for a program, over many files"}),
    .completes = COMPLETE_FILE,
    .args = sizeof(Check),
    .handle = on_file,
    .act = act,
    .clear = clear,
};
