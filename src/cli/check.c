/* check.c - `pawl check`: everything that is wrong with some workflow files. */
#include "command.h"
#include "options.h"
#include "output.h"
#include "terminal.h"

#include "flow.h"
#include "json_print.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>

enum { EXIT_PROBLEMS = 1 };

typedef struct Check {
    const Command *command;
    bool as_json;
    const char **files;
    size_t n, cap;
    /* what came of it */
    FlowProblems problems;
    bool unreadable;
} Check;

static bool on_option(void *ctx, const Option *option, char **values) {
    Check *check = ctx;
    if (option) {
        check->as_json = true;
        return true;
    }
    check->files = mem_grow(check->files, check->n, &check->cap, sizeof *check->files);
    check->files[check->n++] = values[0];
    return true;
}

/* A problem without a line is about a file that could not be read. */
static bool is_unreadable(const FlowProblems *p, size_t from) {
    for (size_t i = from; i < p->n; i++) {
        if (p->items[i].line == 0) {
            return true;
        }
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
    Flow *flow = flow_load(path, NULL, &check->problems);
    if (flow) {
        flow_needs_checkpointer(flow, &check->problems);
    }
    check->unreadable = check->unreadable || is_unreadable(&check->problems, from);
    if (!check->as_json) {
        print_problems(&check->problems, from);
        if (check->problems.n == from) {
            size_t n = flow->main->nnodes;
            terminal_say(stdout, "%s: fine (%s, %zu node%s)\n", path, flow->name, n,
                         n == 1 ? "" : "s");
        }
    }
    flow_unref(flow);
}

static void print_json(const FlowProblems *p) {
    static const JsonPrintOptions options = {.indent = 2};
    Json all = json_array();
    for (size_t i = 0; i < p->n; i++) {
        all = json_array_push(all, flow_problem_json(&p->items[i]));
    }
    json_print_to(all, &options, output_json, NULL);
    putchar('\n');
    json_unref(all);
}

static int run(Check *check) {
    if (check->n == 0) {
        options_complain(check->command, "it needs a file: pawl check review.yaml.");
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < check->n; i++) {
        check_file(check, check->files[i]);
    }
    if (check->as_json) {
        print_json(&check->problems);
    }
    return check->unreadable ? EXIT_USAGE : check->problems.errors ? EXIT_PROBLEMS : EXIT_OK;
}

int cmd_check(int argc, char **argv) {
    Check check = {.command = command_find("check")};
    OptionsResult result = options_parse(check.command, argc, argv, on_option, &check);
    int code = result == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    if (result == OPTIONS_RUN) {
        code = run(&check);
    }
    flow_problems_clear(&check.problems);
    mem_free(check.files);
    return code;
}
