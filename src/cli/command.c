#include "command.h"

#include "problems.h"
#include "suggest.h"
#include "terminal.h"

#include <stdio.h>
#include <string.h>

/* ---- the list ---- */

const Command *const commands[] = {
    &command_run,   &command_debug,   &command_dap,        &command_resume, &command_status,
    &command_runs,  &command_cancel,  &command_history,    &command_logs,   &command_show,
    &command_diff,  &command_fork,    &command_update,     &command_check,  &command_graph,
    &command_kinds, &command_schema,  &command_store,      &command_secret, &command_serve,
    &command_mcp,   &command_token,   &command_login,      &command_prune,  &command_eval,
    &command_help,  &command_version, &command_completion, &command_man,    NULL,
};

const Command *command_find(const char *name) {
    for (const Command *const *c = commands; *c; c++) {
        if (strcmp((*c)->name, name) == 0) return *c;
    }
    return NULL;
}

int command_unknown(const char *name) {
    Suggestion nearest = suggestion_for(name, strlen(name));
    for (const Command *const *c = commands; *c; c++) suggestion_offer(&nearest, (*c)->name);
    terminal_say(stderr, "pawl: there is no command `%s`%s\nTry `pawl help`.\n", name,
                 did_you_mean_this(nearest.best));
    return EXIT_USAGE;
}

const char *command_words(const Command *command) {
    return command->list_words ? command->list_words() : command->words;
}

int option_value_count(const Option *option) {
    return !option->values ? 0 : strchr(option->values, ' ') ? 2 : 1;
}
