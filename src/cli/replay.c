#include "replay.h"

#include "json_build.h"
#include "options.h"

bool replay_is_sensible(const Command *command, const ReplayArgs *args) {
    return args->from.thread || !args->live_from ||
           options_complain(command,
                            "--live-from says where the results of --replay THREAD end, and there "
                            "is no --replay.");
}

Json replay_args(const ReplayArgs *args) {
    return !args->from.thread
               ? json_none()
               : OBJECT_ADD(place_args(&args->from), KEY("live_from", args->live_from));
}
