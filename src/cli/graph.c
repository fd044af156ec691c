/* graph.c - `pawl graph`: a workflow as a drawing for other programs. */
#include "asking.h"
#include "fields.h"
#include "flows.h"
#include "json_build.h"
#include "options.h"
#include "stores.h"
#include "terminal.h"

#include "exec.h"
#include "flow.h"

#include <stdio.h>
#include <string.h>

enum { EXIT_PROBLEMS = 1 };

typedef struct Drawing {
    Common common;
    const char *format; /* NULL: dot */
    const char *path;
} Drawing;

static int draw_there(const Drawing *drawing, const Flow *flow, const char *format) {
    Asking a;
    asking_begin(&a, &drawing->common);
    Json answer = ask(&a, "workflow_graph",
                      OBJECT(KEY("definition", flow_definition(flow)), KEY("format", format)));
    Json text = field_get(answer, "text");
    if (field_is_text(text)) terminal_put(stdout, json_string_data(&text), json_string_len(text));
    json_unref(answer);
    return asking_end(&a);
}

static int act(void *ctx) {
    const Drawing *drawing = ctx;
    if (!drawing->path) {
        options_complain(&command_graph, "it needs a file: pawl graph review.yaml.");
        return EXIT_USAGE;
    }
    FlowProblems problems = {0};
    FlowReader reader = cli_flow_reader(&drawing->common);
    Flow *flow = flow_load(drawing->path, &reader, &problems);
    bool here = !cli_server(&drawing->common);
    if (flow && here) exec_check_files(flow, drawing->common.root, &problems);
    const char *format = drawing->common.json ? "json" : drawing->format ? drawing->format : "dot";
    Buf out = BUF_INIT;
    int code = EXIT_OK;
    if (problems.errors) {
        code = problems.items[0].line == 0 ? EXIT_USAGE : EXIT_PROBLEMS;
        if (drawing->common.json) cli_flow_put_json(&problems);
        cli_flow_say(&problems);
    } else if (!here) {
        code = draw_there(drawing, flow, format);
    } else if (flow_draw(flow, format, &out)) {
        terminal_put(stdout, out.data, out.len);
    } else {
        options_complain(&command_graph, "--format is dot, mermaid or json, not `%s`.",
                         drawing->format);
        code = EXIT_USAGE;
    }
    buf_clear(&out);
    flow_unref(flow);
    flow_problems_clear(&problems);
    return code;
}

/* ---- the row ---- */

const Command command_graph = {
    .name = "graph",
    .summary = "draw a workflow",
    .arguments = "FILE",
    .description = "Writes the nodes and edges of a workflow for another program to draw: dot "
                   "(Graphviz), mermaid, or json with the place of everything in the file.",
    OPTIONS({"format", 'f', "dot|mermaid|json", "what to write (dot unless told)",
             TAKES(OPTION_TEXT, Drawing, format), .completes = COMPLETE_WORDS},
            ROOT_ROW, KINDS_ROW, SERVER_ROWS,
            JSON_ROW("as --format json, and what is wrong as JSON, too")),
    EXAMPLES({"pawl graph review.yaml | dot -Tsvg > review.svg", "a picture, drawn by Graphviz"},
             {"pawl graph review.yaml --format mermaid", "for a page that draws Mermaid"}),
    .completes = COMPLETE_FILE,
    .args = sizeof(Drawing),
    .argument = offsetof(Drawing, path),
    .one = "workflow",
    .act = act,
};
