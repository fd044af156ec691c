/* The work of a pipeline's steps.
 *
 * `script` is `sh -c COMMAND` as a supervised process (exec_command.h), in the folder that the run
 * was started in. Its HOME is `home` in the folder that is the run's own, which is PAWL_WORKSPACE.
 * A step finds it empty, unless the step before it in the list says `continue_in_context: true` and
 * it does not itself say false; it is emptied once for an attempt, before the process starts, and
 * left alone when the process is found again.
 *
 * The result is {"steps": {ID: {status, exit_code, stdout, seconds}}}: status is "completed", and
 * stdout the end of what it wrote; stdout_bytes says how much that was when there was more. With
 * `on_failure: next` a step that fails ends like that too, with status "failed" and the sentence as
 * `error`; then exit_code is there only when it exited, and signal when one ended it. Otherwise it
 * fails as a command does.
 *
 * What this version has nothing to run with (containers, agents, runners with labels, branches,
 * cards) is refused as "unsupported", with the way out. */
#include "exec.h"
#include "exec_command.h"
#include "json_build.h"
#include "json_print.h"
#include "mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STDOUT_KEPT = 16 << 20, /* bytes of what it writes that the end is taken from */
    STDOUT_TAIL = 64 << 10, /* bytes of stdout in the result */
};

/* ---- the home folder ---- */

static bool prepare_home(Step *step, const char *home, Error *err) {
    const Node *node = step_node(step);
    const Node *before = node->index > 0 ? &node->graph->nodes[node->index - 1] : NULL;
    Json own = json_object_get_c(node->source, "continue_in_context");
    bool continues =
        before && before->params[STEP_CONTINUES].number && json_kind(own) != JSON_FALSE;
    const char *place = step_place(step, NULL);
    bool started = place && access(place, F_OK) == 0; /* before: the folder is its own */
    if (mkdir(home, S_IRWXU) == 0) return true;
    if (errno != EEXIST) {
        return error_set(err, ERR_IO, "The home folder %s cannot be made: %s.", home,
                         strerror(errno));
    }
    if (continues || started) return true;
    if (step_discard(step, home) && mkdir(home, S_IRWXU) == 0) return true;
    return error_set(err, ERR_IO,
                     "The home folder %s cannot be emptied: %s. Remove what is in it, or give the "
                     "step before `continue_in_context: true`.",
                     home, strerror(errno));
}

/* ---- what it is given ---- */

static bool set_env(StepCommand *command, const char *name, const char *value, Error *err) {
    Json key = json_string_c(name);
    bool fine = command_set_env(command, "The environment", key, value, strlen(value), err);
    json_unref(key);
    return fine;
}

/* The folder of the run has to be a whole path: the command runs elsewhere. */
static bool give_places(StepCommand *command, Error *err) {
    Step *step = command_step(command);
    const char *folder = step_run_folder(step, err);
    if (!folder) return false;
    char *workspace = realpath(folder, NULL);
    if (!workspace) {
        return error_set(err, ERR_IO, "The folder of the run, %s, cannot be used: %s.", folder,
                         strerror(errno));
    }
    Buf home = BUF_INIT;
    buf_printf(&home, "%s/home", workspace);
    bool fine = prepare_home(step, home.data, err) && set_env(command, "CI", "true", err) &&
                set_env(command, "HOME", home.data, err) &&
                set_env(command, "PAWL_WORKSPACE", workspace, err) &&
                set_env(command, "PAWL_RUN", step_thread(step), err) &&
                set_env(command, "PAWL_STEP", step_node(step)->name, err);
    buf_clear(&home);
    free(workspace);
    return fine;
}

/* ---- how it ended ---- */

/* What the state gets of the step: {"steps": {ID: {...}}}. */
static Json result_of(const Step *step, const ProcessResult *result, const char *status,
                      const char *error) {
    int64_t ms = result->finished > result->started ? result->finished - result->started : 0;
    bool exited = result->end == PROCESS_EXITED, long_out = result->out_len > STDOUT_TAIL;
    Json code = json_int(result->code);
    Json value =
        OBJECT(KEY("status", status), KEY("exit_code", exited ? code : json_none()),
               KEY("signal", result->end == PROCESS_SIGNALED ? code : json_none()),
               KEY("stdout", command_end_text(result, 1, STDOUT_TAIL)),
               KEY("stdout_bytes", long_out ? json_int((int64_t)result->out_len) : json_none()),
               KEY("seconds", json_number((double)ms / 1000)), KEY("error", error));
    return OBJECT(KEY("steps", OBJECT(KEY(step_node(step)->name, value))));
}

static void script_end(StepCommand *command, const ProcessResult *result) {
    Step *step = command_step(command);
    Json on_failure = step_param(step, STEP_ON_FAILURE)->value;
    if (command_succeeded(result)) {
        step_succeed(step, result_of(step, result, "completed", NULL));
        return;
    }
    if (json_string_is(on_failure, "next") && result->end != PROCESS_ENDED) {
        char *sentence = command_failure(command, result);
        exec_note(step, "The step failed; on_failure: next lets the run go on. %s", sentence);
        step_forgive(step, result_of(step, result, "failed", sentence));
        mem_free(sentence);
    }
    command_fail(command, result);
}

static const CommandKind script_kind = {
    .word = "script", .error_stdout = STDOUT_TAIL, .end = script_end};

/* ---- what is refused ---- */

typedef struct Refusal {
    void (*refuse)(Step *step, const struct Refusal *row, Json value);
    int param;                   /* its value is named */
    const char *needs, *instead; /* of refuse_need(): before the value and after it */
} Refusal;

static void refuse_need(Step *step, const Refusal *row, Json value) {
    Buf text = BUF_INIT;
    json_print(value, NULL, &text);
    step_fail(step, "unsupported", json_none(), "Step `%s` needs %s%s%s", step_node(step)->name,
              row->needs, text.data, row->instead);
    buf_clear(&text);
}

static void refuse_merge(Step *step, const Refusal *row, Json branch) {
    (void)row;
    step_fail(
        step, "unsupported", json_none(),
        "`%s` is to merge into the branch %.*s, and this version does not merge: let a script "
        "step after it do so with git, and write on_success: next.",
        step_node(step)->name, (int)json_string_len(branch), json_string_data(&branch));
}

/* The step before has failed: that is said too. */
static void refuse_trigger(Step *step, const Refusal *row, Json card) {
    (void)row;
    Json message = json_object_get_c(step_state(step), "error");
    message = json_kind(message) == JSON_OBJECT ? json_object_get_c(message, "message") : message;
    bool known = json_kind(message) == JSON_STRING;
    step_fail(step, "unsupported", json_none(),
              "`%s` is to start the work on card %.*s, and this version has no cards: write "
              "on_failure: stop, or next. The step before it failed%s%.*s",
              step_node(step)->name, (int)json_string_len(card), json_string_data(&card),
              known ? ": " : ".", known ? (int)json_string_len(message) : 0,
              known ? json_string_data(&message) : "");
}

static const Refusal refusals[KIND_COUNT] = {
    [KIND_DOCKER] =
        {refuse_need, DOCKER_IMAGE, "a container (image ",
         "), and this version runs `type: script` only: write it as a script where the tools of the "
         "image are installed, or as a script that calls docker run."},
    [KIND_AGENT] = {refuse_need, AGENT_NAME, "the agent ",
                    ", and this version runs `type: script` only: write it as a script that calls "
                    "the agent's own command."},
    [KIND_MERGE] = {refuse_merge, MERGE_BRANCH, NULL, NULL},
    [KIND_TRIGGER] = {refuse_trigger, TRIGGER_CARD, NULL, NULL},
};

/* Of `requires`, which a step of any kind may say. */
static const Refusal labels = {refuse_need, -1, "a runner with the labels ",
                               ", and this version runs steps on this machine only: take "
                               "`requires` out to run it here."};

/* ---- the rows ---- */

static void exec_refused_start(Step *step) {
    const Node *node = step_node(step);
    const Refusal *row = &refusals[node->kind->id];
    if (!json_is_none(node->requires)) {
        labels.refuse(step, &labels, node->requires);
    } else {
        row->refuse(step, row, step_param(step, row->param)->value);
    }
}

static void exec_pipeline_start(Step *step) {
    Error err = ERROR_INIT;
    if (!json_is_none(step_node(step)->requires)) {
        exec_refused_start(step);
        return;
    }
    StepCommand *command = command_new(step, &script_kind);
    command_set_max_output(command, STDOUT_KEPT);
    bool given = command_add_shell(command, step_param(step, SCRIPT_COMMAND)->value, &err) &&
                 give_places(command, &err) && command_set_env_of(command, SCRIPT_ENV, &err);
    command_start(command, given, &err);
}

const NodeWork exec_pipeline = {COMMAND_WORK, .start = exec_pipeline_start};
const NodeWork exec_refused = {.start = exec_refused_start};
