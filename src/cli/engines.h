/* engines.h - an engine with a loop of its own, for as long as one command needs it. */
#ifndef PAWL_ENGINES_H
#define PAWL_ENGINES_H

#include "engine.h"

#include <limits.h>

typedef struct CliEngine {
    uv_loop_t loop;
    Engine *engine;
    char folder[PATH_MAX]; /* that we were started in */
} CliEngine;

/* options: loop, work, and the folder and environment of this process are filled in here. False on error, with nothing left open. */
bool cli_engine_open(CliEngine *e, EngineOptions options, Error *err);
/* Ends the engine and runs what is left to close on the loop. */
void cli_engine_close(CliEngine *e);

#endif
