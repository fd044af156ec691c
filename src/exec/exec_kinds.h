/* exec_kinds.h - the functions behind the rows of exec_work, each in the file of its kind. */
#ifndef PAWL_EXEC_KINDS_H
#define PAWL_EXEC_KINDS_H

#include "step.h"

void exec_jq_start(Step *step);

void exec_lua_start(Step *step);
void exec_lua_free(void *data);

void exec_shell_start(Step *step);
void exec_shell_cancel(Step *step);
void exec_shell_drop(Step *step);

/* Ends the step with the word that goes with the error's code: "limit", "cancelled", or else. */
void exec_fail_with(Step *step, const char *otherwise, const Error *err);

#endif
