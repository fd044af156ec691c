#include "replay.h"

#include "json_build.h"
#include "options.h"

/* ---- the command line ---- */

Handled replay_option(const Command *command, ReplayArgs *args, const Option *option,
                      char **values) {
    switch (option ? option->id : 0) {
    case OPTION_REPLAY:
        place_clear(&args->from);
        return place_parse(command, values[0], &args->from) ? HANDLED_WELL : HANDLED_BADLY;
    case OPTION_LIVE_FROM: args->live_from = values[0]; return HANDLED_WELL;
    default: return HANDLED_NOT;
    }
}

void replay_clear(ReplayArgs *args) {
    place_clear(&args->from);
}

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
