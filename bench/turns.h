/* turns.h - how long the loop of this process is busy at a stretch.
 *
 * A turn is the time from where the loop has something to do until it looks (epoll) for more; whoever links this
 * looks through it. The machine has other things to do too: how long the loop's thread was ready and had no processor
 * is left out of TURN_OWN where the kernel tells it (schedstat); TURN_WALL has it in.
 */
#ifndef PAWL_BENCH_TURNS_H
#define PAWL_BENCH_TURNS_H

#include <stddef.h>

typedef enum TurnClock { TURN_WALL, TURN_OWN, TURN_CPU, TURN_CLOCKS } TurnClock;

void turns_begin(
    void); /* those of the calling thread from now on; what was measured before is forgotten */
void turns_end(void);
size_t turns_count(void);
double turns_at(TurnClock clock,
                double rank); /* seconds; rank 1: the longest. 0 when there were none */

#endif
