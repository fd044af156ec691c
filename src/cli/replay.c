#include "replay.h"

#include "options.h"
#include "output.h"
#include "resume.h"

#include <stdio.h>

enum { MISSING_SAID = 10 };

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

void replay_args_clear(ReplayArgs *args) {
    place_clear(&args->from);
}

bool replay_is_sensible(const Command *command, const ReplayArgs *args) {
    return args->from.thread || !args->live_from ||
           options_complain(command,
                            "--live-from says where the results of --replay THREAD end, and there "
                            "is no --replay.");
}

/* ---- the results ---- */

Recording *replay_recording(const Common *c, const ReplayArgs *args, const Flow *flow, Store *store,
                            int *code) {
    Error err = ERROR_INIT;
    RunRow row = {0};
    Flow *ran = resume_stored_flow(c, store, &args->from, &row, code);
    RecordingSource source = {.run = row.run,
                              .seq = args->from.seq ? args->from.seq : row.head,
                              .flow = ran,
                              .replaying = flow,
                              .live_from = args->live_from};
    Recording *recording = ran ? recording_new(store, &source, &err) : NULL;
    if (ran && !recording) {
        *code = cli_fail(c->command, &err);
    }
    flow_unref(ran);
    run_row_clear(&row);
    return recording;
}

/* ---- what came of it ---- */

static int64_t count_in(Json report, const char *key) {
    Json n = json_object_get_c(report, key);
    return json_tag(n) == JSON_TAG_INT ? n.i : 0;
}

static void say_missing(Json missing) {
    size_t n = json_kind(missing) == JSON_ARRAY ? json_array_len(missing) : 0;
    for (size_t i = 0; i < n && i < MISSING_SAID; i++) {
        Json one = json_array_get(missing, i);
        fputs("  not recorded, so it was done: ", stderr);
        output_say(json_object_get_c(one, "node"));
        fputs(" in ", stderr);
        output_say(json_object_get_c(one, "frame"));
        fputc('\n', stderr);
    }
    if (n > MISSING_SAID) {
        fprintf(stderr, "  and %zu more\n", n - MISSING_SAID);
    }
}

void replay_say(const Recording *recording, const char *thread) {
    Json report = recording_report(recording);
    int64_t taken = count_in(report, "taken"), live = count_in(report, "live");
    fprintf(stderr, "%lld %s taken from %s, %lld done anew.\n", (long long)taken,
            taken == 1 ? "result was" : "results were", thread, (long long)live);
    say_missing(json_object_get_c(report, "missing"));
    json_unref(report);
}
