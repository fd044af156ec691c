/* conditions.h - ten conditions as people write them on edges, and the state they look at. */
#ifndef PAWL_BENCH_CONDITIONS_H
#define PAWL_BENCH_CONDITIONS_H

enum { CONDITIONS = 10 };

extern const char *const conditions[CONDITIONS];
extern const char condition_state[]; /* about 2 KB of JSON */

#endif
