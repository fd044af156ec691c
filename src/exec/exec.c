#include "exec.h"

#define STEERS(x)
#define WAITS
#define CALLS
#define COMPUTES(x)                   extern const NodeWork exec_##x;
#define WORKS(x)                      extern const NodeWork exec_##x;
#define KIND(id, of, name, does, ...) does
#define PARAM(...)
#define END
#include "kind_rows.h"

#define STEERS(x)                     NULL
#define WAITS                         NULL
#define CALLS                         NULL
#define COMPUTES(x)                   &exec_##x
#define WORKS(x)                      &exec_##x
#define KIND(id, of, name, does, ...) [KIND_##id] = does,
#define PARAM(...)
#define END

const NodeWork *const exec_work[KIND_COUNT] = {
#include "kind_rows.h"
};

void exec_fail_with(Step *step, const char *otherwise, const Error *err) {
    const char *kind = err->code == ERR_LIMIT       ? "limit"
                       : err->code == ERR_CANCELLED ? "cancelled"
                                                    : otherwise;
    step_fail_with(step, kind, err);
}
