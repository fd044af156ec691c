/* exec.h - how the work of nodes is done, kind by kind.
 *
 * exec_work is for EngineOptions.work. Each kind that works (flow/kind_rows.h) has its NodeWork in its file here;
 * kinds that steer (map, workflow, while, sleep, approval) are the engine's own. What a kind takes is said in kind.h, and what it
 * gives back here:
 *
 *     jq      the first output of the expression
 *     lua     what the chunk returns (exec_lua.c says what it sees)
 *     shell   {stdout, exit_code}, or the value that it printed (exec_shell.c says the rest)
 *     python, javascript   what the code returns (exec_script.c)
 *     http    {status, headers, body} (exec_http.c)
 *     action  what `confirm` makes of the answer (exec_action.c)
 *
 * Tasks give back their outputs (exec_task_shell.c, exec_check.c, exec_script.c), steps of a pipeline
 * {steps: {ID: ...}} (exec_pipeline.c).
 */
#ifndef PAWL_EXEC_H
#define PAWL_EXEC_H

#include "http.h"
#include "step.h"

extern const NodeWork *const exec_work[KIND_COUNT];

/* Adds what is wrong with the code of its nodes, as far as that can be said before it runs: Lua that does not
 * compile. */
void exec_check_code(const Flow *flow, FlowProblems *problems);
/* The same of Python and JavaScript, which an interpreter is started for, in an environment ("NAME=value"...; NULL at its
 * end) that also says where it is. Where there is none, nothing is added. Not on a loop: it takes as long as that. */
void exec_check_scripts(const Flow *flow, const char *const *environment, FlowProblems *problems);
/* Files of scripts and certificates that a node names, and that are outside of the folder. */
void exec_check_files(const Flow *flow, const SafeRoot *root, FlowProblems *problems);

/* What the expression of a parameter comes to, added to out; nothing where the node has none. */
bool exec_param_text(Step *step, int param, Buf *out, Error *err);
/* Whether a size that the node gives is at most that. */
bool exec_size_fits(Step *step, int param, int64_t most, Error *err);
/* A line of the log that is ours and not the work's: stream "log". */
void exec_note(Step *step, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Ends a step that the engine cannot end: its timeout is over. */
void exec_fail_late(Step *step);
/* Ends the step with the word that goes with the error's code: "limit", "cancelled", or else. */
void exec_fail_with(Step *step, const char *otherwise, const Error *err);

/* exec_http.c: a request that goes where the run, and every workflow around the node, lets it go; by the client of all
 * kinds, in the slot of KIND_HTTP. That of a task trusts the certificates in $SSL_CERT_FILE. It says what trace it is in (traceparent), unless its headers do. NULL on error. */
HttpRequest *exec_http_ask(Step *step, HttpOptions *options, Error *err);

/* A file that the workflow names, in *path: a relative path begins in the run's folder. False when it is outside of the
 * folder that the run's files have to be in. */
bool exec_file(const Step *step, Buf *path, Error *err);

#endif
