/* lib_peek.c - the few things about steps and engines that only the headers inside engine/ know. */
#include "lib_inside.h"
#include "work.h"

Host *peek_host(const Step *step) {
    return step->run->engine->options.ctx;
}

Run *peek_run(const Step *step) {
    return step->run;
}

int peek_attempt(const Step *step) {
    return step->frame ? frame_top(step->frame)->attempt + 1 : 1;
}

bool peek_is_quiet(const Run *run) {
    return !run->engine->nevents && !run->halting && !run_settling(run);
}
