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

const Command command_version = {
    .name = "version",
    .summary = "show the version",
    .arguments = "",
    .description = "Writes the version of the program.",
    OPTIONS(JSON_ROW("as a JSON object")),
    .args = sizeof(Common),
    .act = act,
};
