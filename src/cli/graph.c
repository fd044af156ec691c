/* graph.c - `pawl graph`: a workflow as a drawing for other programs. */
#include "command.h"
#include "options.h"
#include "terminal.h"

#include "flow.h"

#include <stdio.h>
#include <string.h>

enum { EXIT_PROBLEMS = 1 };

typedef struct Drawing {
    const Command *command;
    const char *format;
    const char *path;
} Drawing;

static bool on_option(void *ctx, const Option *option, char **values) {
    Drawing *drawing = ctx;
    if (option) {
        drawing->format = values[0];
    } else if (drawing->path) {
        return options_complain(drawing->command, "it draws one file, but was given `%s` as well.",
                                values[0]);
    } else {
        drawing->path = values[0];
    }
    return true;
}

static void print_problems(const FlowProblems *p) {
    Buf out = BUF_INIT;
    for (size_t i = 0; i < p->n; i++) {
        flow_problem_print(&p->items[i], terminal_has_colour(stderr), &out);
    }
    if (out.len) {
        fwrite(out.data, 1, out.len, stderr);
    }
    buf_clear(&out);
}

static int draw(const Drawing *drawing) {
    FlowProblems problems = {0};
    Flow *flow = flow_load(drawing->path, NULL, &problems);
    Buf out = BUF_INIT;
    int code = EXIT_OK;
    if (!flow) {
        print_problems(&problems);
        code = problems.items[0].line == 0 ? EXIT_USAGE : EXIT_PROBLEMS;
    } else if (flow_draw(flow, drawing->format, &out)) {
        terminal_put(stdout, out.data, out.len);
    } else {
        options_complain(drawing->command, "--format is dot, mermaid or json, not `%s`.",
                         drawing->format);
        code = EXIT_USAGE;
    }
    buf_clear(&out);
    flow_unref(flow);
    flow_problems_clear(&problems);
    return code;
}

int cmd_graph(int argc, char **argv) {
    Drawing drawing = {.command = command_find("graph"), .format = "dot"};
    OptionsResult result = options_parse(drawing.command, argc, argv, on_option, &drawing);
    if (result != OPTIONS_RUN) {
        return result == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    }
    if (!drawing.path) {
        options_complain(drawing.command, "it needs a file: pawl graph review.yaml.");
        return EXIT_USAGE;
    }
    return draw(&drawing);
}
