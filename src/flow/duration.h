/* duration.h - lengths of time (flow_duration() in flow.h) and sizes, as people write them. */
#ifndef PAWL_DURATION_H
#define PAWL_DURATION_H

#include "json.h"

#include <stdbool.h>
#include <stdint.h>

/* "64M", "1.5 GB", 4096: bytes, up to 1 TB. K is 1024. False when it is none. */
bool flow_size(Json value, int64_t *bytes);

#endif
