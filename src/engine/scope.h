/* scope.h - variables of the tasks dialect: the chain of scopes is the chain of levels.
 *
 * A level of a scoped graph either has variables of its own (its state is an object) or lives in those
 * of the level below it, and the lowest level of a frame in those of the last level of the frame that
 * made it. What a task sees is the whole chain at once: look-ups go from the own scope outwards, and
 * last to the `config` of the test file. The chain ends at the level of a kind from outside. What a task writes goes to the scope that it runs in, at once
 * and for all to see who share it; a scope inside another never changes the outer one.
 *
 * `tasks` is a variable as the others are, {id: {...}} for the tasks that run in the scope, but in sight
 * are those of all scopes of the chain. A container with an id shows the scopes that it made as its outputs, while they
 * change and when they are gone.
 */
#ifndef PAWL_SCOPE_H
#define PAWL_SCOPE_H

#include "frame.h"

/* All variables in sight of a level of a frame, as one object; given. Costs what the inner scopes hold:
 * the outermost is taken as it is. */
Json scope_view(const Frame *f, uint32_t level);

/* What the queries of a task see: those variables, with `testBasePath` and `taskBasePath`, the folders of the test and
 * of the file that the task is in, and in a scope that a container made `scopeOwner`, its number. Given. */
Json task_sees(const Frame *f);

/* Sets a variable in the scope of a level. Consumes both. */
void scope_set(Frame *f, uint32_t level, Json name, Json value);

/* Takes a variable out of the scope of a level. One of a scope further out cannot go: it becomes null
 * here. Borrows name. */
void scope_unset(Frame *f, uint32_t level, Json name);

/* A field of tasks.ID in the scope of a level: "outputs", "result", ... Consumes value. */
void scope_set_task(Frame *f, uint32_t level, Json id, const char *field, Json value);
/* All fields of several, {id: {...}}. Borrows tasks. */
void scope_set_tasks(Frame *f, uint32_t level, Json tasks);
Json scope_task(const Frame *f, uint32_t level, Json id, const char *field); /* borrowed */

#endif
