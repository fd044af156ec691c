/* hooks.h - where a debugger looks in.
 *
 * An engine without hooks pays one branch a step. With hooks, each function is called at its place
 * with the frame standing there; what it returns decides how the frame goes on. A hook that parks a
 * frame answers for it later with engine_unpark(). */
#ifndef PAWL_HOOKS_H
#define PAWL_HOOKS_H

#include "engine.h"

typedef enum HookVerdict {
    HOOK_GO,   /* nothing here */
    HOOK_PARK, /* the frame waits until engine_unpark() */
} HookVerdict;

typedef struct HookPlace {
    Run *run;
    int64_t frame;
    const Node *node;
    Json state; /* borrowed */
    Json error; /* on_error: borrowed */
} HookPlace;

typedef struct EngineHooks {
    HookVerdict (*before)(void *ctx, const HookPlace *place);
    HookVerdict (*after)(void *ctx, const HookPlace *place);
    HookVerdict (*on_error)(void *ctx, const HookPlace *place); /* before retries and error edges */
    void *ctx;
} EngineHooks;

/* hooks is borrowed; NULL takes them away. */
void engine_set_hooks(Engine *engine, const EngineHooks *hooks);
void engine_unpark(Run *run, int64_t frame);

#endif
