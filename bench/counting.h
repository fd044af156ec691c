/* counting.h - a run that counts, some steps at a time: what a pure step costs, without its start.
 *
 * The graph is that of load_counter(): one jq node adds 1 to a counter, one edge leads back to it. After
 * COUNTING_STEPS of them it stops for a person, and counter_run() answers; the run is held, so nothing
 * of it is loaded again. Behind it are COUNTING_SPARES nodes that it never comes to: spare-0, spare-1, ...
 */
#ifndef PAWL_BENCH_COUNTING_H
#define PAWL_BENCH_COUNTING_H

#include "engine_load.h"

enum { COUNTING_STEPS = 10000, COUNTING_SPARES = 100 };

typedef struct Counter {
    Bed bed;
    Flow *flow;
    Run *run;
} Counter;

void counter_open(Counter *c, Where where); /* it stands at its first stop */
void counter_run(void *counter, size_t times);
void counter_close(Counter *c);

/* The same in an engine of its own, each a shared library: as it is, and without a branch for hooks
 * (PAWL_NO_HOOKS). Both are made the same way, so nothing else is between them. */
typedef struct EngineSide {
    void *(*open)(Where where);
    void (*run)(void *counter, size_t times);
    void (*close)(void *counter);
} EngineSide;

extern const EngineSide engine_as_it_is, engine_without_hooks;

#endif
