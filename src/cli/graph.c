/* graph.c - `pawl graph`: a workflow as a drawing for other programs. */
#include "asking.h"
#include "fields.h"
#include "flows.h"
#include "json_build.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "options.h"
#include "place.h"
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
    Place run;          /* without a thread: the workflow is in a file */
    const char *path;
} Drawing;

static int draw(const Drawing *drawing, const Flow *flow, const char *format, Buf *out) {
    if (flow_draw(flow, format, out)) return EXIT_OK;
    options_complain(&command_graph, "--format is dot, mermaid or json, not `%s`.",
                     drawing->format);
    return EXIT_USAGE;
}

/* Who draws a run has no file at hand: JSON says which one that is, if it is one. */
static void add_file(Buf *drawn, const char *path) {
    Json graph = json_parse(drawn->data, drawn->len, NULL, NULL);
    graph = json_object_with(graph, "file", json_string_c(path));
    buf_reset(drawn);
    json_print(graph, &(JsonPrintOptions){.indent = 2}, drawn);
    json_unref(graph);
    buf_addc(drawn, '\n');
}

static int draw_run(const Drawing *drawing, const char *format) {
    Asking a;
    asking_begin(&a, &drawing->common);
    Json answer = ask(&a, "run_definition", place_args(&drawing->run));
    int code = asking_end(&a);
    if (json_is_none(answer)) return code;
    FlowProblems problems = {0};
    Json definition = field_get(answer, "definition");
    Flow *flow = flow_load_definition(definition, &problems);
    char *path = cli_flow_path(definition, field_get(answer, "folder"));
    Buf out = BUF_INIT;
    cli_flow_say(&problems);
    code = flow ? draw(drawing, flow, format, &out) : EXIT_PROBLEMS;
    if (path && out.len && strcmp(format, "json") == 0) add_file(&out, path);
    terminal_put(stdout, out.data, out.len);
    buf_clear(&out);
    mem_free(path);
    flow_unref(flow);
    json_unref(answer);
    return code;
}

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
    const char *format = drawing->common.json ? "json" : drawing->format ? drawing->format : "dot";
    if (!drawing->path == !drawing->run.thread) {
        options_complain(&command_graph, drawing->path
                                             ? "it draws a file or a run, not both."
                                             : "it needs a file: pawl graph review.yaml.");
        return EXIT_USAGE;
    }
    if (drawing->run.thread) return draw_run(drawing, format);
    FlowProblems problems = {0};
    FlowReader reader = cli_flow_reader(&drawing->common);
    Flow *flow = flow_load(drawing->path, &reader, &problems);
    bool here = !cli_server(&drawing->common);
    if (flow && here) exec_check_files(flow, drawing->common.root, &problems);
    Buf out = BUF_INIT;
    int code = EXIT_OK;
    if (problems.errors) {
        code = problems.items[0].line == 0 ? EXIT_USAGE : EXIT_PROBLEMS;
        if (drawing->common.json) cli_flow_put_json(&problems);
        cli_flow_say(&problems);
    } else if (!here) {
        code = draw_there(drawing, flow, format);
    } else {
        code = draw(drawing, flow, format, &out);
        terminal_put(stdout, out.data, out.len);
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
    .arguments = "[FILE]",
    .description = "Writes the nodes and edges of a workflow for another program to draw: dot "
                   "(Graphviz), mermaid, or json with the place of everything in the file. With "
                   "--run that is the workflow which a run goes on with, whatever became of its "
                   "file.",
    OPTIONS({"format", 'f', "dot|mermaid|json", "what to write (dot unless told)",
             TAKES(OPTION_TEXT, Drawing, format), .completes = COMPLETE_WORDS},
            {"run", 0, "THREAD[@SEQ]", "the workflow of a run, instead of one in a file",
             TAKES(OPTION_PLACE, Drawing, run)},
            ROOT_ROW, KINDS_ROW, STORE_ROW, SERVER_ROWS,
            JSON_ROW("as --format json, and what is wrong as JSON, too")),
    EXAMPLES({"pawl graph review.yaml | dot -Tsvg > review.svg", "a picture, drawn by Graphviz"},
             {"pawl graph review.yaml --format mermaid", "for a page that draws Mermaid"},
             {"pawl graph --run review-7 --json", "the workflow of a run, for a program"}),
    .completes = COMPLETE_FILE,
    .args = sizeof(Drawing),
    .argument = offsetof(Drawing, path),
    .one = "workflow",
    .act = act,
};
