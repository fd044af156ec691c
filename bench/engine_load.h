/* engine_load.h - workflows for the benchmarks of the engine, and what it costs to run them.
 *
 *     Load load = load_counter(0, 200000);
 *     Bed bed = bed_open(IN_SQLITE);
 *     Cost cost = bed_run(&bed, &load);
 *     uint64_t bytes = bed_close(&bed);
 *     load_clear(&load);
 *
 * The store is written by a thread of its own, and waits for a disk: time on the wall has both in it,
 * processor time the work alone, and varies less. The databases are removed with their bed. Whatever
 * goes wrong ends the program with a sentence.
 */
#ifndef PAWL_BENCH_ENGINE_LOAD_H
#define PAWL_BENCH_ENGINE_LOAD_H

#include "engine.h"

#include <stddef.h>
#include <stdint.h>

/* ---- beds: an engine and its store ---- */

typedef enum Where { NOWHERE, IN_MEMORY, IN_SQLITE } Where;

typedef struct Bed {
    uv_loop_t *loop;
    Store *store; /* NULL: nowhere */
    Engine *engine;
    char *path; /* of the database, or NULL */
} Bed;

Bed bed_open(Where where);
/* The folder for databases from now on; "." unless said. memory_folder() is one that no disk is
 * behind, or "." where there is none. */
void beds_in(const char *folder);
const char *memory_folder(void);
void bed_reopen(Bed *b);    /* closes the store and opens it again, without an engine */
uint64_t bed_close(Bed *b); /* bytes of the database, all of it written back */

/* ---- loads: a workflow and what it starts with ---- */

typedef struct Load {
    Flow *flow;
    Json input;
    size_t runs; /* that many beside each other */
} Load;

/* One node adds 1 to a counter, one edge leads back to it until that is `steps`. state_bytes of
 * records, as JSON text, lie beside the counter; 0: none. */
Load load_counter(size_t state_bytes, int64_t steps);
/* The same, where each step is a loop of one turn: a level that comes and goes. */
Load load_loops(size_t state_bytes, int64_t steps);
/* As the first, and each step also appends a message of 100 bytes to the state. */
Load load_talk(int64_t steps);
/* As the first, and each step runs the command `true` in a shell. */
Load load_shell(int64_t steps);
/* A map that runs all of its `frames` elements at once, each a jq node. */
Load load_frames(int64_t frames);
/* The same, and each element stops for a person. */
Load load_waiting(int64_t frames);
/* Stops for a person at its only node. */
Load load_approval(void);
void load_set_steps(Load *load, int64_t steps); /* of the first four, again */
void load_clear(Load *load);

/* The text of load_counter()'s workflow, for other programs. */
extern const char counter_text[];

/* What it takes to run it to the end, until all runs have settled; then they are let go of. */
typedef struct Cost {
    double started; /* seconds on the wall for starting all runs, which the others leave out */
    double wall;    /* seconds on the wall */
    double cpu;     /* seconds of processor time, of all threads */
    double bytes;   /* of the database at the end; load_cost() only */
} Cost;

Cost bed_run(Bed *b, const Load *load);
void bed_hold(Bed *b, const Load *load);       /* the same, and they stay until the bed is closed */
Cost load_cost(const Load *load, Where where); /* in a bed of its own */

/* What a step costs in the second half of runs of so many steps: the whole less one of half the
 * length, so that what happens once a run drops out. The two are measured in turn, and what counts is
 * the median of the differences: the least of them would be the one that noise has made small. NAN
 * where the median is not above 0, for then it says nothing. */
Cost load_second_half(Load *load, int64_t steps, Where where, int rounds);
double median(double *values, size_t n); /* sorts them */

double wall_seconds(void);
_Noreturn void give_up(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
