/* engine_side.c - one side of what hooks cost: made twice, see counting.h. SIDE is its name. */
#include "counting.h"
#include "mem.h"

static void *open_side(Where where) {
    Counter *c = mem_zalloc(sizeof *c);
    counter_open(c, where);
    return c;
}

static void close_side(void *counter) {
    counter_close(counter);
    mem_free(counter);
}

__attribute__((visibility("default"))) const EngineSide SIDE = {open_side, counter_run, close_side};
