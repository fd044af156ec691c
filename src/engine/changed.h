/* changed.h - the keys of the state that a checkpoint changed, as people read it in a history.
 *
 * Those of what its frame saw: a node has the keys that it changed where it stands. What is only handed
 * on is nobody's change: the turn of a loop and an injected node hand their states outwards, and a
 * branch leaves all that it wrote when it ends, of which its last node has its own.
 *
 *     Changed changed = {.store = store, .run = run};
 *     keys = changed_keys(&changed, checkpoint);      for each, in order of their numbers
 *     changed_clear(&changed);
 *
 * One pass costs what the changes do; a checkpoint whose parent is not the one that was asked for last
 * costs an image. Where the image before it cannot be read, the keys are all that its patch touches.
 */
#ifndef PAWL_CHANGED_H
#define PAWL_CHANGED_H

#include "store_chain.h"

typedef struct Changed {
    Store *store;
    int64_t run;
    int64_t seq; /* the one that image is of */
    Json image;  /* its own */
} Changed;

Json changed_keys(Changed *changed, const Checkpoint *c); /* an array of strings, given */
void changed_clear(Changed *changed);

/* The same for who has the images before it (null: it is the first) and at it. Images may come from
 * anywhere. */
Json changed_between(Json before, Json after, const Checkpoint *c);

#endif
