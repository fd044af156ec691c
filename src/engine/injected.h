/* injected.h - nodes that the workflow does not have, as data.
 *
 * Each is a workflow of its own, of one node and of the same dialect. Its text is in the image for as long
 * as it waits or runs. inject.c runs them.
 */
#ifndef PAWL_INJECTED_H
#define PAWL_INJECTED_H

#include "frame.h"

typedef struct Injected Injected;

struct Injected {
    Injected *next;
    int64_t id;
    InjectWhere where;
    uint32_t level; /* of the frame that it waits in */
    Json name, node;
    Json definition; /* of flow */
    Flow *flow;
};

/* Loads and checks a node for where a frame stands. NULL on error. */
Flow *injected_parse(const Frame *f, Json name, Json node, Error *err);
/* For a frame; takes over what it is made of, all but the definition. */
Injected *injected_new(const Frame *f, Injected as);
void injected_append(Frame *f, Injected *injected);
bool injected_drop(Frame *f, uint32_t level); /* those that wait at it or above; false: none did */
void injected_free(Run *run, Injected *injected);                /* accepts NULL */
Json injected_image(const Injected *injected);                   /* given */
Injected *injected_load(const Frame *f, Json image, Error *err); /* its levels so far are there */
Json injections_image(const Frame *f);                           /* given: an array */
bool injections_load(Frame *f, Json image, Error *err);

bool inject_waits_before(const Frame *f);    /* one is to run before the frame's node */
const Node *inject_stand_in(const Frame *f); /* runs instead of the frame's own; NULL: none */
/* The node at the top runs instead of the one below: with it that one is done, in one record. */
bool inject_stands_in(const Frame *f);

#endif
