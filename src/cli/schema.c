/* schema.c - `pawl schema`: the JSON Schema of a dialect, for editors. */
#include "command.h"
#include "options.h"

#include "flow.h"
#include "json_print.h"

#include <stdio.h>

typedef struct Choice {
    const Command *command;
    const char *dialect;
} Choice;

static bool on_option(void *ctx, const Option *option, char **values) {
    Choice *choice = ctx;
    (void)option;
    if (choice->dialect) {
        return options_complain(choice->command,
                                "it takes one dialect, but was given `%s` as well.", values[0]);
    }
    choice->dialect = values[0];
    return true;
}

static int print_schema(const Choice *choice) {
    static const JsonPrintOptions options = {.indent = 2};
    Json schema = flow_schema(choice->dialect ? choice->dialect : "graph");
    Buf out = BUF_INIT;
    if (json_is_none(schema)) {
        options_complain(choice->command,
                         "there is no schema of `%s`; there are those of graph, tasks and "
                         "pipeline.",
                         choice->dialect);
        return EXIT_USAGE;
    }
    json_print(schema, &options, &out);
    printf("%s\n", out.data);
    buf_clear(&out);
    json_unref(schema);
    return EXIT_OK;
}

int cmd_schema(int argc, char **argv) {
    Choice choice = {.command = command_find("schema")};
    OptionsResult result = options_parse(choice.command, argc, argv, on_option, &choice);
    if (result != OPTIONS_RUN) {
        return result == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    }
    return print_schema(&choice);
}
