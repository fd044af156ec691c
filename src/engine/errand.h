/* errand.h - what has the disk or other processes to wait for, and needs nothing of the loop: on another thread, one
 * after the other.
 *
 *     typedef struct Keeping { Errand errand; ... } Keeping;      it is the first member
 *     keeping->errand = (Errand){.work = keep, .done = on_kept};
 *     errands_add(errands, &keeping->errand);
 *
 * work() is called on a thread of the loop's pool, then done() on the loop, exactly once, and never from inside
 * errands_add(). done() may free the errand and add others. Only one errand of a list is under way at a time: what
 * takes long delays those behind it, and leaves the other threads to the rest of the process.
 *
 * The loop is kept alive until all are done, also those that were added to a list which nobody has any more: so what an
 * errand uses is its own.
 *
 * On the loop's thread.
 */
#ifndef PAWL_ERRAND_H
#define PAWL_ERRAND_H

#include <stdbool.h>
#include <uv.h>

typedef struct Errands Errands;

typedef struct Errand Errand;
struct Errand {
    void (*work)(Errand *errand);
    void (*done)(Errand *errand); /* NULL: mem_free() */
    /* the list's own */
    uv_work_t job;
    Errands *errands;
    Errand *next;
    bool abandoned;
};

Errands *errands_new(uv_loop_t *loop);
/* Nobody adds any more, but done(): the list goes with its last errand. abandon: of those that have not begun only done() is
 * called. Accepts NULL. */
void errands_leave(Errands *errands, bool abandon);
void errands_add(Errands *errands, Errand *errand);

/* A folder, with whatever is in it, gets another name at once, `as` and an ending of its own, and is removed later. `as` is in
 * the same file system. False, with errno: it is where it was, or there is none (ENOENT). */
bool errands_discard(Errands *errands, const char *path, const char *as);

#endif
