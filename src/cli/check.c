/* check.c - `pawl check`: everything that is wrong with some workflow files. */
#include "command.h"
#include "flows.h"
#include "options.h"
#include "output.h"
#include "stores.h"
#include "terminal.h"

#include "exec.h"
#include "flow.h"
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

static void check_file(Check *check, const char *path) {
    size_t from = check->problems.n;
    FlowReader reader = cli_flow_reader(&check->common);
    Flow *flow = flow_load(path, &reader, &check->problems);
    if (flow) flow_needs_checkpointer(flow, &check->problems);
    if (flow) exec_check_code(flow, &check->problems);
    if (flow) exec_check_files(flow, check->common.root, &check->problems);
    check->unreadable = check->unreadable || is_unreadable(&check->problems, from);
    if (!check->common.json) {
        print_problems(&check->problems, from);
        if (check->problems.n == from) {
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

static void print_json(const FlowProblems *p) {
    static const JsonPrintOptions options = {.indent = 2};
    Json all = json_array();
    for (size_t i = 0; i < p->n; i++) all = json_array_push(all, flow_problem_json(&p->items[i]));
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
    for (size_t i = 0; i < check->n; i++) check_file(check, check->files[i]);
    if (check->common.json) print_json(&check->problems);
    return check->unreadable ? EXIT_USAGE : check->problems.errors ? EXIT_PROBLEMS : EXIT_OK;
}

static void clear(void *ctx) {
    Check *check = ctx;
    flow_problems_clear(&check->problems);
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
    OPTIONS(JSON_ROW("the problems as an array of objects"), ROOT_ROW, KINDS_ROW, STRICT_ROW),
    EXAMPLES({"pawl check review.yaml", "what is wrong with a workflow, with lines and columns"},
             {"pawl check --json flows/*.yaml", "the same for a program, over many files"}),
    .completes = COMPLETE_FILE,
    .args = sizeof(Check),
    .handle = on_file,
    .act = act,
    .clear = clear,
};
