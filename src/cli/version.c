#include "command.h"
#include "pawl.h"
#include "stores.h"

#include <stdio.h>

static int act(void *args) {
    bool json = ((Common *)args)->json;
    printf(json ? "{\"name\":\"pawl\",\"version\":\"%s\"}\n" : "pawl %s\n", pawl_version());
    return EXIT_OK;
}

/* ---- the row ---- */

static const Option version_options[] = {
    JSON_ROW("as a JSON object"),
    {0},
};

const Command command_version = {
    .name = "version",
    .summary = "show the version",
    .arguments = "",
    .description = "Writes the version of the program.",
    .options = version_options,
    .args = sizeof(Common),
    .act = act,
};
