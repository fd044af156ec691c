#include "target.h"

Json target_call(Target *target, const char *operation, Json args, Error *err) {
    if (!target->call) {
        json_unref(args);
        error_set(err, ERR_USAGE, "The debug session is over.");
        return json_none();
    }
    return target->call(target->self, operation, args, err);
}

void target_close(Target *target) {
    if (target->call) {
        target->close(target->self);
    }
    *target = (Target){0};
}
