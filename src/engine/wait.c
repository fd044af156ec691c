#include "wait.h"

#include "advance.h"
#include "control.h"
#include "fail.h"
#include "load.h"
#include "tasks.h"

/* The functions are declared in the headers of those whose business they are: this file is where they
 * are brought together, and the only one of the folder that knows them all. */
const WaitRow wait_rows[WAIT_KINDS] = {
    [WAIT_NOTHING] = {.status = FRAME_READY},
    [WAIT_GO] = {"go", "", FRAME_READY},
    [WAIT_AFTER] = {"after", "", FRAME_READY, HOOK_AFTER, "done", .at = AT_NODE_OF_LIST,
                    .go_on = frame_go_on_after},
    [WAIT_WORK] = {"work", "dotted|null, ANY?, array?", FRAME_STARTING, HOOK_DURING, "at work",
                   .at = AT_NODE, .work = {1, 2, 3}, .fit = fit_work},
    [WAIT_SLEEP] = {"sleep", "TIME", FRAME_TIMED, HOOK_DURING, "sleeps", AT_NODE, .fit = fit_sleep},
    [WAIT_RETRY] = {"retry", "TIME, dotted, ANY?, ANY?, array?", FRAME_TIMED, HOOK_DURING,
                    "will try again", AT_NODE, .work = {2, 4, 5}},
    [WAIT_INTERRUPT] = {"interrupt", "text, text, ANY, [text]|null, dotted?, ANY?, array?",
                        FRAME_WAITING, HOOK_BEFORE, "waits for an answer", AT_NODE,
                        .work = {5, 6, 7}, .fit = fit_interrupt},
    [WAIT_TASKS] = {"tasks", "[int], COUNT, COUNT, COUNT, ANY?", FRAME_HOLDING, HOOK_DURING,
                    .list = WAIT_TASKS_ALL, .left = WAIT_TASKS_ALL, .enough = task_children_decided,
                    .go_on = task_children_done, .fit = fit_tasks},
    [WAIT_JOIN] = {"join", "text|null, [WRITES], [text]", FRAME_HOLDING, HOOK_AFTER,
                   "waits for its branches", .list = WAIT_JOIN_WRITES, .left = WAIT_JOIN_WRITES,
                   .go_on = join_branches, .fit = fit_join},
    [WAIT_MAP] = {"map", "array, COUNT, array, COUNT", FRAME_HOLDING, HOOK_DURING,
                  "waits for its elements", .list = WAIT_MAP_OVER, .left = WAIT_MAP_RESULTS,
                  .go_on = map_done, .fit = fit_map},
    [WAIT_CLEANING] = {"cleaning", "ANY, ANY, ANY?", FRAME_HOLDING, HOOK_DURING,
                       .go_on = task_cleaned},
    [WAIT_FAILED] = {"error", "object, ANY?, PLAIN?", FRAME_FAILED, .shown = "failed",
                     .held = WAIT_FAILED_BEFORE},
    [WAIT_PAUSE] = {"pause", "BARE, object, TIME, POSITION", FRAME_PARKED, .shown = "paused",
                    .held = WAIT_PAUSED},
    [WAIT_LOOKED] = {"looked", "", FRAME_READY},
    [WAIT_AGAIN] = {"again", "", FRAME_READY},
    [WAIT_FINISHED] = {"finished", "", FRAME_READY, HOOK_AFTER, .at = AT_NODE_OF_LIST,
                       .go_on = frame_go_on_finished},
    [WAIT_ENDED] = {"ended", "ANY", FRAME_READY, HOOK_AFTER, .go_on = frame_go_on_ended},
    [WAIT_FAILING] = {"failing", "object, int, PLAIN, ANY?", FRAME_READY, HOOK_ON_ERROR,
                      .held = WAIT_FAILING_BEFORE, .go_on = frame_failing},
    [WAIT_DONE] = {"done", "", FRAME_DONE},
    [WAIT_UNKNOWN] = {.status = FRAME_READY},
};

WaitKind wait_kind(Json wait) {
    bool words = json_kind(wait) == JSON_ARRAY;
    Json word = words ? json_array_get(wait, WAIT_WORD) : json_none();
    for (int i = WAIT_GO; words && i < WAIT_UNKNOWN; i++) {
        if (json_string_is(word, wait_rows[i].word)) return (WaitKind)i;
    }
    return json_kind(wait) == JSON_NULL ? WAIT_NOTHING : WAIT_UNKNOWN;
}

bool wait_is(Json wait, WaitKind kind) {
    return kind == WAIT_NOTHING
               ? json_kind(wait) == JSON_NULL
               : json_kind(wait) == JSON_ARRAY && wait_rows[kind].word &&
                     json_string_is(json_array_get(wait, WAIT_WORD), wait_rows[kind].word);
}

bool wait_is_timed(Json wait) {
    return wait_rows[wait_kind(wait)].status == FRAME_TIMED;
}

Json wait_unpaused(Json wait) {
    return wait_is(wait, WAIT_PAUSE) ? json_array_get(wait, WAIT_PAUSED) : wait;
}

Json work_part(Json wait, WorkPart part) {
    wait = wait_unpaused(wait);
    size_t at = wait_rows[wait_kind(wait)].work[part];
    return at ? json_array_get(wait, at) : json_none();
}

Json wait_with_answers(Json wait, Json answers) {
    return json_array_set(wait, wait_rows[wait_kind(wait)].work[WORK_ANSWERS], answers);
}

Json wait_with_key(Json wait, Json key) {
    if (wait_is(wait, WAIT_PAUSE)) {
        Json inner = wait_with_key(json_ref(json_array_get(wait, WAIT_PAUSED)), key);
        return json_array_set(wait, WAIT_PAUSED, inner);
    }
    return json_array_set(wait, wait_rows[wait_kind(wait)].work[WORK_KEY], key);
}

Json wait_of(WaitKind kind) {
    const char *word = wait_rows[kind].word;
    return word ? ARRAY(json_string_c(word)) : json_null();
}
