/* json_duration.h - lengths of time and sizes, as people write them: numbers, or texts with units. */
#ifndef PAWL_JSON_DURATION_H
#define PAWL_JSON_DURATION_H

#include "json.h"

#include <stdbool.h>
#include <stdint.h>

/* "1h30m", "250ms", "2 days", 90 (seconds), 0.5: milliseconds. Units ms, s, m, h, d and their words;
 * a number alone is seconds. False when it is none. */
bool json_duration(Json value, int64_t *ms);

/* "64M", "1.5 GB", 4096: bytes, up to 1 TB. K is 1024, or 1000 where they are decimal; KiB is 1024. False when it is none. */
bool json_byte_count(Json value, bool decimal, int64_t *bytes);

#endif
