/* park.h - frames that a debugger stops: hooks.h from the inside. */
#ifndef PAWL_PARK_H
#define PAWL_PARK_H

#include "frame.h"
#include "run.h"

/* Nobody asks for anything at this node, as at nearly every step: park_before() and park_after() have nothing to do
 * there. Those who call them ask this first, since it costs less than to say what they are called with. */
static inline bool park_passes(const Frame *f, const Node *node) {
    const RunHooks *hooks = run_hooks(f->run);
    if (!hooks) return true;
    return hooks->passes && !f->run->only.frame && hooks->passes(f->run->hooks_ctx, f, node);
}

/* The hooks before a node; true when the frame does not begin it now. */
bool park_before(Frame *f);
/* After one: true when the frame is parked there, which is recorded. Consumes result when it is. */
bool park_after(Frame *f, const Node *node, const char *word, StepResult result);
/* On an error; true when it is parked. The frame goes on with the error as fail.c does. Borrows error. */
bool park_on_error(Frame *f, Json error, int at, bool caught);
/* The two parts of it, for the error of the node at any level; *info, given, is what is said of the
 * pause; the frame then stands at that level. */
bool park_asks(Frame *f, uint32_t level, Json error, bool caught, Json *info);
typedef struct Failing {
    Json error;
    int at;     /* FailAt */
    Json given; /* JSON_NONE: the error takes its course */
} Failing;
void park_failing(Frame *f, const Failing *failing, Json info);
/* Parks it where it stands, without a record and an event. Consumes inner and info. */
void frame_park_as(Frame *f, HookPosition position, Json inner, Json info);
/* The run was cancelled and cleans up: what is parked goes on, and nothing is parked any more. */
void park_none(Run *run);
bool run_does(const Frame *f); /* a run of one node: whether this is it */
extern const RunHooks only_hooks;

#endif
