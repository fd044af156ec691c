/* schema.c - `pawl schema`: the JSON Schema of a dialect, for editors. */
#include "command.h"
#include "flows.h"
#include "options.h"
#include "output.h"
#include "servers.h"
#include "stores.h"

#include "flow.h"
#include "json_print.h"
#include "kind_listing.h"

#include <stdio.h>

typedef struct SchemaArgs {
    Common common;
    const char *dialect; /* NULL: graph */
} SchemaArgs;

static int act(void *ctx) {
    const SchemaArgs *args = ctx;
    static const JsonPrintOptions options = {.indent = 2};
    const char *dialect = args->dialect ? args->dialect : "graph";
    Json outside;
    int code;
    if (!cli_kinds_outside(&args->common, &outside, &code)) return code;
    Json schema = schema_with_kinds(flow_schema(dialect), dialect, outside);
    json_unref(outside);
    if (json_is_none(schema)) {
        options_complain(&command_schema,
                         "there is no schema of `%s`; there are those of graph, tasks and "
                         "pipeline.",
                         args->dialect);
        return EXIT_USAGE;
    }
    json_print_to(schema, &options, output_json, NULL);
    putchar('\n');
    json_unref(schema);
    return EXIT_OK;
}

/* ---- the row ---- */

const Command command_schema = {
    .name = "schema",
    .summary = "write the JSON Schema of workflows",
    .arguments = "[DIALECT]",
    .description =
        "Writes the JSON Schema of a dialect of workflows, for editors: graph (unless "
        "told), tasks or pipeline. It has the kinds from outside that are in .pawl/kinds in this "
        "folder and in the folders that --kinds names.",
    OPTIONS(KINDS_ROW, ROOT_ROW, SERVER_ROWS),
    EXAMPLES({"pawl schema graph > pawl-graph.schema.json",
              "for an editor that checks and completes YAML by a schema"},
             {"pawl schema pipeline > pawl-pipeline.schema.json", "the same for pipelines"}),
    .completes = COMPLETE_WORDS,
    .words = "graph tasks pipeline",
    .args = sizeof(SchemaArgs),
    .argument = offsetof(SchemaArgs, dialect),
    .one = "dialect",
    .act = act,
};
