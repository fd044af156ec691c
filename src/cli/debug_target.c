#include "debug_target.h"

static Json call_debugging(void *self, const char *operation, Json args, Error *err) {
    return debugging_call(self, operation, args, err);
}

static void close_debugging(void *self) {
    debugging_leave(self);
}

Target target_to_debugging(Debugging *debugging) {
    return (Target){call_debugging, close_debugging, debugging, .remote = false};
}

static Json call_run(void *self, const char *operation, Json args, Error *err) {
    return attach_call(self, operation, args, err);
}

static void close_run(void *self) {
    attach_leave(self);
}

bool target_to_run(Target *target, uv_loop_t *loop, Store *store, int64_t run,
                   const TargetHost *host, Error *err) {
    Attach *attach = attach_connect(loop, store, run, host->event, host->closed, host->ctx, err);
    *target = attach ? (Target){call_run, close_run, attach, .remote = true} : (Target){0};
    return attach != NULL;
}
