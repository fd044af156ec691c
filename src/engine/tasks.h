/* tasks.h - what the files of the tasks dialect share: task_status.c (what is known of a task), tasks.c
 * (its life, and tests), containers.c (tasks that hold tasks).
 *
 * A task that ends leaves its *verdict* in its level, [result, error, cleaning], and task_go_on() looks
 * from there what comes next. While a container runs, the level that it stands at remembers its config
 * in the same slot (`writes`): an object by the names of its parameters, with what it counts beside
 * them. What was resolved when it began holds until it ends, in whatever process.
 */
#ifndef PAWL_TASKS_H
#define PAWL_TASKS_H

#include "runs.h"
#include "scope.h"
#include "steer.h"

/* ---- task_status.c: verdicts ---- */

enum { TASK_CANCELLED = 3 }; /* of a test, beside the results of tasks */

Json verdict_new(int result, Json error); /* borrows error, which may be JSON_NONE */
int verdict_result(const Level *l);
Json verdict_error(const Level *l);    /* borrowed; JSON_NONE: none */
bool verdict_cleaning(const Level *l); /* of a test: its cleanup list has begun */
void verdict_clean(Frame *f, Level *l);
void level_set_memo(Frame *f, Level *l, Json memo); /* or a verdict; consumes it */
Json task_error(const Frame *f, const char *kind, const char *message); /* given */

/* ---- task_status.c: what tasks.ID says; nothing for a task without an id ---- */

bool task_has_id(const Node *node);
/* Of the task at a level. Consumes value. */
void task_say(Frame *f, uint32_t level, const char *field, Json value);
void task_say_begun(Frame *f, bool runs);
void task_say_ended(Frame *f, TaskResult result);
void task_say_progress(Frame *f, uint32_t level, size_t done, size_t all);
void task_say_outputs(Frame *f, uint32_t level, Json outputs); /* added to those there are */
/* A scope that ends is kept for others to read: tasks.ID.outputs.childScopes. */
void task_say_scope(Frame *f, uint32_t level, int64_t number, Json scope);

/* ---- task_status.c: what a container remembers ---- */

void memo_from_params(Frame *f);                 /* the config in f->params */
Json memo_get(const Level *l, const char *name); /* borrowed */
bool memo_is(const Level *l, const char *name);
int64_t memo_int(const Level *l, const char *name);
void memo_set(Frame *f, uint32_t level, const char *name, Json value);

/* ---- tasks.c ---- */

/* A query of a task or test on variables; *value is JSON_NONE when it gives nothing or null, which
 * leaves alone what it was to set. False when it fails. */
bool task_query(Frame *f, const Expr *expr, Json vars, Json *value, Error *err);

/* A list on top of the frame's last level, with variables of its own when scope is an object. */
void list_enter(Frame *f, const Graph *graph, Json scope);
void list_leave(Frame *f);
/* The task that the frame stands at has ended; borrows error, consumes outputs. */
void task_end(Frame *f, TaskResult result, Json error, Json outputs);
/* The variables that a test's configVars give, into the frame's last scope. */
bool test_set_vars(Frame *f, Error *err);

/* What runs inside a frame was ended (frame_unwind): it goes on at once, or when what was ended has
 * cleaned up. Borrows error. */
typedef enum EndedInside {
    ENDED_FAILED,    /* its task fails */
    ENDED_CONTAINER, /* its container has this result */
    ENDED_TEST,      /* its level is past its last task, and has its verdict */
} EndedInside;
void task_ended_inside(Frame *f, EndedInside how, TaskResult result, Json error);

/* ---- containers.c ---- */

/* The result of a container by what became of its tasks, to be read as its config says. */
void container_ended(Frame *f, TaskResult result, Json error);

#endif
