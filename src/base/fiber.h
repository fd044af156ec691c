/* fiber.h - a function on a stack of its own, that gives way in the midst of its work and goes on later.
 *
 * It is for long work in C that is best written as plain loops: the function calls fiber_give_way() now and then,
 * and whoever resumed it has the thread back at once. No two of them run at the same time, so nothing needs a
 * lock; whatever the function uses has to stay as it is while it has given way.
 *
 * A fiber belongs to the thread that made it. It cannot be ended from outside: to end one early, tell its
 * function so in some other way and resume it until it has returned.
 *
 * A switch costs some ten nanoseconds, and several hundred the first time. The stack (FIBER_STACK) takes memory as it is used; below it is a page
 * that must not be touched.
 */
#ifndef PAWL_FIBER_H
#define PAWL_FIBER_H

#include <stdbool.h>

enum { FIBER_STACK = 8 << 20 };

typedef struct Fiber Fiber;

/* Does not begin yet. */
Fiber *fiber_new(void (*fn)(void *ctx), void *ctx);
void fiber_free(Fiber *f); /* that has ended, or never began; accepts NULL */

/* Lets it run until it gives way or ends. Whether it has ended. Not from inside of it. */
bool fiber_resume(Fiber *f);

/* On the fiber itself: returns when it is resumed. */
void fiber_give_way(Fiber *f);

#endif
