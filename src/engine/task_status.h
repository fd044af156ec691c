/* task_status.h - what is known of a task: its verdict, what tasks.ID says, what a container remembers. */
#ifndef PAWL_TASK_STATUS_H
#define PAWL_TASK_STATUS_H

#include "frame.h"
#include "scope.h"

/* ---- verdicts ---- */

enum { TASK_CANCELLED = 3 }; /* of a test, beside the results of tasks */

Json verdict_new(int result, Json error); /* borrows error, which may be JSON_NONE */
int verdict_result(const Level *l);
Json verdict_error(const Level *l);    /* borrowed; JSON_NONE: none */
bool verdict_cleaning(const Level *l); /* of a test: its cleanup list has begun */
void verdict_clean(Frame *f, Level *l);
void level_set_memo(Frame *f, Level *l, Json memo); /* or a verdict; consumes it */
Json task_error(const Frame *f, const char *kind, const char *message); /* given */

/* ---- what tasks.ID says; nothing for a task without an id ---- */

bool task_has_id(const Node *node);
/* Of the task at a level. Consumes value. */
void task_note(Frame *f, uint32_t level, const char *field, Json value);
void task_note_made(Frame *f, uint32_t level, const Graph *graph); /* all tasks of a list */
void task_note_one_made(Frame *f, const Node *node);
void task_note_begun(Frame *f, bool runs); /* false: it is skipped */
void task_note_ended(Frame *f, TaskResult result);
void task_note_progress(Frame *f, uint32_t level, size_t done, size_t all);
void task_note_outputs(Frame *f, uint32_t level, Json outputs); /* added to those there are */
/* The scope that the container at a level made is there for others to read: tasks.ID.outputs.childScopes, or as the
 * kind calls it. number: of the child, or of the value. */
void task_note_scope(Frame *f, uint32_t level, int64_t number, Json scope);

/* ---- what a container remembers ---- */

void memo_from_params(Frame *f);                 /* the config in f->params */
Json memo_get(const Level *l, const char *name); /* borrowed */
bool memo_is(const Level *l, const char *name);
int64_t memo_int(const Level *l, const char *name);
void memo_set(Frame *f, uint32_t level, const char *name, Json value);

/* ---- its config ---- */

/* For ConfigSource; ctx is the frame. */
Json task_source(void *ctx, const Expr *expr, Json vars, Error *err);
Json task_title(const Frame *f); /* given */

#endif
