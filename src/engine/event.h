/* event.h - what is told of a run, once it is durable. */
#ifndef PAWL_EVENT_H
#define PAWL_EVENT_H

#include "frame.h"

bool run_wants(const Run *run, EventType type);
/* Queues an event; consumes its JSON values. */
void engine_tell(Run *run, const Frame *frame, Event event);
/* The same of a frame that has gone: the event has its number and depth. */
void engine_tell_of(Run *run, const char *frame_name, Event event);
void frame_tell_node(Frame *f, const Node *node);     /* EVENT_NODE, when somebody listens */
void frame_tell_skipped(Frame *f, const Node *node);  /* the same of one that does not run */
void engine_deliver(Engine *e, uint64_t durable);     /* those of batches up to this one */
void engine_drop_events(Engine *e, uint64_t durable); /* those of later ones */
void engine_clear_events(Engine *e);
void engine_forget_events(Run *run); /* those of a run that goes: nobody is told of it any more */

#endif
