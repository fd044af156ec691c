/* exec_command.h - a command as the work of a step: what shell, run_shell, run_command and the
 * pipeline's script share.
 *
 * A command is a supervised process (process.h) in the step's place, so that one that outlives us is
 * waited for and not run again. A kind says what to run, and what comes of it:
 *
 *     static const CommandKind script_kind = {.word = "script", .end = script_end};
 *
 *     void exec_script_start(Step *step) {
 *         Error err = ERROR_INIT;
 *         StepCommand *command = command_new(step, &script_kind);
 *         bool given = command_add_shell(command, step_param(step, SCRIPT_COMMAND)->value, &err) && ...;
 *         command_start(command, given, &err);
 *     }
 *
 *     static void script_end(StepCommand *command, const ProcessResult *result) {
 *         if (command_succeeded(result)) step_succeed(command_step(command), ...);
 *         else command_fail(command, result);
 *     }
 *
 * What it writes goes to the log as it comes, in whole characters, all of what is kept of it; of one
 * that we found it comes at the end. A command that we find and that was ended for an earlier process,
 * which did not live to say so, has no result: it is started again with what this step gave.
 *
 * A command is the step's data from command_new() on, and is freed with the end of it: a kind neither
 * frees it nor sets other data. Everything on the loop's thread.
 *
 * How command_fail() ends a step, as .error.kind:
 *
 *     exit       a code other than 0     signal   ended by a signal        timeout
 *     spawn      could not be started    lost     nobody knows how it ended
 *     cancelled  ended by command_stop()
 *     the kind's own word: what it was given cannot be said to a command, or the run's folder is gone
 *
 * exit, signal and timeout carry exit_code or signal, stdout, and the end of stderr.
 */
#ifndef PAWL_EXEC_COMMAND_H
#define PAWL_EXEC_COMMAND_H

#include "process.h"
#include "step.h"

enum {
    COMMAND_OUTPUT_MAX = 256 << 20, /* the most that may be kept of a stream */
    COMMAND_OUTPUT = 1 << 20, /* and what is, unless command_set_max_output() says otherwise */
};

typedef struct StepCommand StepCommand;

typedef struct CommandKind {
    const char *word;    /* .error.kind of what cannot be given to a command */
    const char *subject; /* of its sentences; NULL: "Command" */
    const char *timeout; /* the parameter that has its time; NULL: "timeout" */
    bool takes_cwd;      /* the node can say where it runs */
    /* As in ProcessOptions. */
    int end_signal;
    bool end_alone;
    uint64_t grace_ms;
    bool lingers;
    bool joined; /* then its standard error is a part of its standard output */
    /* The work has more to it than this command: the step's data is the kind's own, which ends the
     * command with command_end() and lets go of it with command_free(). end() and refused() are the
     * last that is heard of it. */
    bool is_part;
    /* Bytes of the end of stdout that an error carries; 0: all that was kept. */
    size_t error_stdout;
    /* What came: stream is 1 or 2; every byte that is kept comes once and in order, those of one that
     * we found at its end. NULL: command_log(). */
    void (*output)(StepCommand *command, int stream, const char *bytes, size_t len);
    /* It is over, however; all its output has come. What has to be done before end(), and takes long: true when it has
     * begun, and command_finished() follows, unless the command is freed before. NULL: nothing. */
    bool (*finish)(StepCommand *command, const ProcessResult *result);
    /* Then. Ends the step. */
    void (*end)(StepCommand *command, const ProcessResult *result);
    /* It is not going to run: of a part, instead of failing the step. */
    void (*refused)(StepCommand *command, const Error *err);
    void (*free_data)(void *data); /* of command_set_data(); NULL: nothing */
} CommandKind;

/* ---- what it is given ---- */

StepCommand *command_new(Step *step, const CommandKind *kind);

/* The program, which is looked up in the run's PATH, and then its arguments. False, with a sentence that begins
 * with `what` ("The command"), when the text holds a NUL. */
bool command_add_arg(StepCommand *command, const char *what, const char *text, size_t len,
                     Error *err);

/* `sh -c TEXT`: the program and its arguments. */
bool command_add_shell(StepCommand *command, Json text, Error *err);

/* The folder it runs in; what is not a whole path begins in step_folder(), which is also where it runs
 * when nothing is set. `what` as above. */
bool command_set_folder(StepCommand *command, const char *what, const char *path, size_t len,
                        Error *err);

/* Its environment is the run's (step_environment), with these instead. False, with a sentence that names the parameter
 * ("env"), when a variable cannot be called that or hold this. */
bool command_set_env(StepCommand *command, const char *param, Json name, const char *value,
                     size_t len, Error *err);
/* It has no such variable, not even the run's. */
bool command_unset_env(StepCommand *command, const char *param, Json name, Error *err);

/* It has nothing of the run's environment but PATH. */
void command_clear_env(StepCommand *command);

/* All of the node's parameter `env`: strings as they are, other values as JSON. */
bool command_set_env_of(StepCommand *command, int param, Error *err);

/* What it reads; nothing unless set. */
void command_set_input(StepCommand *command, const char *bytes, size_t len);
void command_add_input(StepCommand *command, const char *bytes, size_t len);
/* What a parameter comes to, as text, if it is given; of any size. */
bool command_set_input_of(StepCommand *command, int param, Error *err);
void command_set_max_output(StepCommand *command, size_t bytes);
void command_set_timeout(StepCommand *command, int64_t ms); /* otherwise step_timeout_ms() */

/* ---- its life ---- */

/* Starts it, or finds it; where not all could be given, ends the step with the kind's word instead, and
 * the error. Whatever happens, the step will end: by the kind's end(), or by a failure of its own. */
void command_start(StepCommand *command, bool given, const Error *err);

/* For the row of the kind (NodeWork.cancel, NodeWork.freeze, NodeWork.drop); fine when there is no command. */
void command_stop(Step *step);
void command_freeze(Step *step, bool frozen);
void command_drop(Step *step);

/* The same for what commands leave outside of this process (NodeWork.sweep): the folders of step_place(). A
 * process died before it could tidy, or the run was cancelled after it did. They are looked for here; ending what still runs
 * in them, which takes seconds, and removing them is an errand (engine/errand.h). */
void command_sweep(const WorkSweep *sweep);

/* Of a NodeWork whose attempts have places. */
#define PLACES_WORK .forget = process_forget, .sweep = command_sweep

/* Of the NodeWork of a kind that runs commands: all but its start. */
#define COMMAND_WORK                                                                     \
    .heavy = true, .keeps_time = true, .cancel = command_stop, .freeze = command_freeze, \
    .drop = command_drop, PLACES_WORK

/* What finish() began is done. */
void command_finished(StepCommand *command);

/* For a part. */
void command_end(StepCommand *command);
void command_free(StepCommand *command); /* lets it run; accepts NULL */

Step *command_step(const StepCommand *command);
/* For the kind's own use; freed by its free_data(). */
void command_set_data(StepCommand *command, void *data);
void *command_data(const StepCommand *command);

/* ---- what comes of it ---- */

/* Adds to the log, in whole characters: the beginning of one waits for the rest of it. */
void command_log(StepCommand *command, int stream, const char *bytes, size_t len);
bool command_succeeded(const ProcessResult *result); /* exited with code 0 */

/* Ends the step as a failure, with a sentence for each way of ending; also for a code of 0, if the
 * kind wants that. */
void command_fail(StepCommand *command, const ProcessResult *result);
/* Its details by themselves: {exit_code or signal, stdout, stderr}; JSON_NONE when there are none. */
Json command_details(const StepCommand *command, const ProcessResult *result);
/* The sentence by itself, given, and the word that goes with it; for kinds that tell it otherwise. */
char *command_failure(const StepCommand *command, const ProcessResult *result);
const char *command_failure_word(const StepCommand *command, const ProcessResult *result);

/* What was kept, as a string without the newlines at its end, as $(...) has it: at most max bytes of
 * its end, not from inside a character; 0: all. */
Json command_text(const Buf *kept, size_t max);

/* The same for the end of all that it wrote to a stream (1 or 2), whether that was kept or not. */
Json command_end_text(const ProcessResult *result, int stream, size_t max);

#endif
