/* exec_kinds.h - the functions behind the rows of exec_work, each in the file of its kind. */
#ifndef PAWL_EXEC_KINDS_H
#define PAWL_EXEC_KINDS_H

#include "http.h"
#include "step.h"

/* exec_jq.c, exec_lua.c */
void exec_jq_start(Step *step);

void exec_lua_start(Step *step);
void exec_lua_free(void *data);

/* exec_shell.c: shell */
void exec_shell_start(Step *step);

/* exec_task_shell.c: run_shell, run_command */
void exec_run_shell_start(Step *step);
void exec_run_command_start(Step *step);

/* exec_script.c: python, javascript, run_javascript. The pool of workers is in the slot of
 * KIND_PYTHON, whichever of them comes first. */
void exec_script_start(Step *step);
void exec_script_cancel(Step *step);
void exec_script_freeze(Step *step, bool frozen);
void exec_script_drop(Step *step);
void exec_script_free(void *data);

/* exec_http.c: http. The client is in the slot of KIND_HTTP, for all kinds. */
void exec_http_start(Step *step);
void exec_http_cancel(Step *step);
void exec_http_drop(Step *step);
void exec_http_free(void *data);
HttpClient *exec_http_client(Step *step, Error *err);

/* exec_check.c: check_http_json, check_http_metrics */
void exec_check_start(Step *step);
void exec_check_cancel(Step *step);
void exec_check_drop(Step *step);

/* exec_action.c: action */
Json exec_action_prepare(Step *step, Error *err);
void exec_action_start(Step *step);
void exec_action_cancel(Step *step);
void exec_action_drop(Step *step);

/* exec_pipeline.c: script; docker, agent, merge and trigger, which are refused here */
void exec_pipeline_start(Step *step);
void exec_refused_start(Step *step);

/* Ends the step with the word that goes with the error's code: "limit", "cancelled", or else. */
void exec_fail_with(Step *step, const char *otherwise, const Error *err);

#endif
