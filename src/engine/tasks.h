/* tasks.h - what the files of the tasks dialect share: task_status.c (what is known of a task), tasks.c
 * (its life, and tests; it opens with what a verdict is), containers.c (tasks that hold tasks). */
#ifndef PAWL_TASKS_H
#define PAWL_TASKS_H

#include "frame.h"

/* ---- tasks.c, containers.c ---- */

void task_begin(Frame *f);                /* the node that the frame stands at */
void task_finish(Frame *f, Json outputs); /* it is done; consumes them */
void task_skip(Frame *f, Json outputs);   /* passed over; borrows them */
void task_failed(Frame *f, Json error);   /* borrows it */
bool task_reads_failure(const Level *l);  /* the container at a level makes something of one */
bool task_holds_test(const Frame *f,
                     uint32_t level); /* what its node contains is one that cleans up */
void task_late(Frame *f, uint32_t level, Json error); /* the task of a level had its time */
/* It has ended: what comes next. False when the run has ended with it. */
bool task_go_on(Frame *f);
void task_level_done(Frame *f);    /* past the last one of a list */
void task_children_done(Frame *f); /* a container may have its result */
void task_child_ended(Frame *child);
bool task_children_decided(const Frame *f); /* it needs no more of them */
void task_result_so_far(Frame *f, TaskResult result);
/* The tasks of a frame's levels from here on are ended. Tests among them still have to clean up: that
 * becomes a child of heir. */
void task_abandon(Frame *f, uint32_t level, Frame *heir);
void task_cleaned(Frame *f); /* those children are done: it goes on with what it wanted */

/* Begins a test: the variables that its configVars give, then its first task. */
void test_begin(Frame *f);
/* Ends what a run is doing and lets its cleanupTasks run; false when there are none, or they have
 * begun. error is JSON_NONE when it was cancelled. Borrows it. */
bool test_abort(Run *run, Json error);
bool test_cleans_up(const Run *run);
void test_is_cancelled(Run *run);  /* that is what comes of it, once its cleanup list is done */
bool test_is_over(const Run *run); /* its cleanupTasks have begun: there is no way back in */

bool task_resolve(Frame *f, Error *err); /* f->params */

/* A query of a task or test on variables; *value is JSON_NONE when it gives nothing or null, which
 * leaves alone what it was to set. False when it fails. */
bool task_query(Frame *f, const Expr *expr, Json vars, Json *value, Error *err);

/* A list on top of the frame's last level, with variables of its own when scope is an object. */
void list_enter(Frame *f, const Graph *graph, Json scope);
/* The same of the tasks of a test that was read when its task began. */
struct Fetched;
void list_enter_fetched(Frame *f, struct Fetched *fetched, Json scope);
void list_leave(Frame *f);
/* The task that the frame stands at has ended; borrows error, consumes outputs. */
void task_end(Frame *f, TaskResult result, Json error, Json outputs);
/* What follows when its verdict is in the level; consumes came. */
void task_over(Frame *f, TaskResult result, StepResult came);
/* The variables that a test's configVars give, into the frame's last scope. */
bool test_set_vars(Frame *f, Error *err);

/* What runs inside a frame was ended (frame_unwind): it goes on at once, or when what was ended has
 * cleaned up. Borrows error. */
typedef enum EndedInside {
    ENDED_FAILED,    /* its task fails */
    ENDED_CONTAINER, /* its container has this result */
    ENDED_TEST,      /* its level is past its last task, and has its verdict */
    ENDED_RUN,       /* the run ends, which is no test: cancelled, or with this error */
} EndedInside;
void task_ended_inside(Frame *f, EndedInside how, TaskResult result, Json error);

/* ---- containers.c ---- */

/* The result of a container by what became of its tasks, to be read as its config says. */
void container_ended(Frame *f, TaskResult result, Json error);

#endif
