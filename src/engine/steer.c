#include "steer.h"

#define COMPUTES(x)
#define WORKS(x)
#define WAITS
#define CALLS
#define STEERS(x)                     extern const Steering steer_##x;
#define READS(x)                      extern const Steering steer_##x;
#define KIND(id, of, name, does, ...) does
#define PARAM(...)
#define END
#include "kind_rows.h"

static const Steering none;

#define COMPUTES(x)                   &none
#define WORKS(x)                      &none
#define WAITS                         &none
#define CALLS                         &none
#define STEERS(x)                     &steer_##x
#define READS(x)                      &steer_##x
#define KIND(id, of, name, does, ...) [KIND_##id] = does,
#define PARAM(...)
#define END

const Steering *const steerings[KIND_COUNT] = {
#include "kind_rows.h"
};
