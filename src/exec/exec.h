/* exec.h - how the work of nodes is done, kind by kind.
 *
 * The rows are for EngineOptions.work; the last one has no start. Kinds that steer (map, workflow,
 * while, sleep, approval) are the engine's own. What a kind takes is said in kind.h, and what it
 * gives back here:
 *
 *     jq      the first output of the expression
 *     lua     what the chunk returns (exec_lua.c says what it sees)
 *     shell   {stdout, exit_code}, or the value that it printed (exec_shell.c says the rest)
 */
#ifndef PAWL_EXEC_H
#define PAWL_EXEC_H

#include "step.h"

extern const NodeWork exec_work[];

#endif
