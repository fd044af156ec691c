#include "command.h"
#include "options.h"
#include "pawl.h"

#include <stdio.h>

static bool on_option(void *ctx, const Option *option, char **values) {
    bool *as_json = ctx;
    (void)values;
    *as_json = option != NULL;
    return true;
}

static int cmd_version(int argc, char **argv) {
    bool as_json = false;
    OptionsResult result = options_parse(&command_version, argc, argv, on_option, &as_json);
    if (result != OPTIONS_RUN) {
        return result == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    }
    printf(as_json ? "{\"name\":\"pawl\",\"version\":\"%s\"}\n" : "pawl %s\n", pawl_version());
    return EXIT_OK;
}

/* ---- the row ---- */

enum { VERSION_JSON };

static const Option version_options[] = {
    {"json", 0, NULL, "as a JSON object", 0, VERSION_JSON},
    {0},
};

const Command command_version = {
    .name = "version",
    .summary = "show the version",
    .arguments = "",
    .description = "Writes the version of the program.",
    .options = version_options,
    .run = cmd_version,
};
