#include "command.h"

#include "stores.h"
#include "suggest.h"
#include "terminal.h"

#include <stdio.h>
#include <string.h>

/* ---- rows of commands whose files hold the function alone ---- */

enum { GRAPH_FORMAT };

static const Option check_options[] = {
    JSON_ROW("the problems as an array of objects"),
    {0},
};

static const Example check_examples[] = {
    {"pawl check review.yaml", "what is wrong with a workflow, with lines and columns"},
    {"pawl check --json flows/*.yaml", "the same for a program, over many files"},
    {0},
};

const Command command_check = {
    .name = "check",
    .summary = "find what is wrong with workflows",
    .arguments = "FILE...",
    .description =
        "Reads workflows without running them and lists all problems: the place, a "
        "sentence, and the line with a mark under it.\n\n"
        "Exit codes: 0, nothing is wrong (there may be warnings); 1, there are errors; 2, "
        "the command line is wrong or a file cannot be read.",
    .options = check_options,
    .examples = check_examples,
    .completes = COMPLETE_FILE,
    .run = cmd_check,
};

static const Option graph_options[] = {
    {"format", 'f', "dot|mermaid|json", "what to write (dot unless told)", COMPLETE_WORDS,
     GRAPH_FORMAT},
    {0},
};

static const Example graph_examples[] = {
    {"pawl graph review.yaml | dot -Tsvg > review.svg", "a picture, drawn by Graphviz"},
    {"pawl graph review.yaml --format mermaid", "for a page that draws Mermaid"},
    {0},
};

const Command command_graph = {
    .name = "graph",
    .summary = "draw a workflow",
    .arguments = "FILE",
    .description = "Writes the nodes and edges of a workflow for another program to draw: dot "
                   "(Graphviz), mermaid, or json with the place of everything in the file.",
    .options = graph_options,
    .examples = graph_examples,
    .completes = COMPLETE_FILE,
    .run = cmd_graph,
};

static const Example schema_examples[] = {
    {"pawl schema graph > pawl-graph.schema.json",
     "for an editor that checks and completes YAML by a schema"},
    {"pawl schema pipeline > pawl-pipeline.schema.json", "the same for pipelines"},
    {0},
};

const Command command_schema = {
    .name = "schema",
    .summary = "write the JSON Schema of workflows",
    .arguments = "[DIALECT]",
    .description = "Writes the JSON Schema of a dialect of workflows, for editors: graph (unless "
                   "told), tasks or pipeline.",
    .examples = schema_examples,
    .completes = COMPLETE_WORDS,
    .words = "graph tasks pipeline",
    .run = cmd_schema,
};

static const Option store_options[] = {
    {"thread", 't', "ID", "only this run", COMPLETE_NOTHING, CHECK_STORE_THREAD},
    STORE_ROW,
    JSON_ROW("as an object: runs, checkpoints, snapshots, problems"),
    {0},
};

static const Example store_examples[] = {
    {"pawl store check", "verify every checkpoint of every run"},
    {"pawl store check --thread review-7 --store file:runs", "of one run, in another store"},
    {0},
};

const Command command_store = {
    .name = "store",
    .summary = "verify a store",
    .arguments = "check",
    .description =
        "Reads every checkpoint that a store holds and verifies it: its checksum, its parent, that "
        "the states between two of them can be rebuilt, and where each run stands. Nothing is "
        "changed.\n\n"
        "Exit codes: 0, all is well; 1, something is damaged, which is said; 2, the command line is "
        "wrong or there is no such store.",
    .options = store_options,
    .examples = store_examples,
    .completes = COMPLETE_WORDS,
    .words = "check",
    .run = cmd_store,
};

static const Option prune_options[] = {
    {"keep-last", 'k', "N", "keep the newest N checkpoints of each run (at least 1 is kept)",
     COMPLETE_NOTHING, PRUNE_KEEP_LAST},
    {"older-than", 'o', "DURATION", "only what is older than this, as 30d or 12h", COMPLETE_NOTHING,
     PRUNE_OLDER_THAN},
    {"thread", 't', "ID", "only this run", COMPLETE_NOTHING, PRUNE_THREAD},
    {"runs", 0, NULL, "remove runs whole that have ended and are older than that", COMPLETE_NOTHING,
     PRUNE_RUNS},
    STORE_ROW,
    JSON_ROW("as an object: runs, removed_runs, removed, kept, folded"),
    {0},
};

static const Example prune_examples[] = {
    {"pawl prune --keep-last 100", "keep the last hundred checkpoints of each run"},
    {"pawl prune --older-than 30d --runs", "forget runs that ended a month ago"},
    {0},
};

const Command command_prune = {
    .name = "prune",
    .summary = "remove old checkpoints",
    .arguments = "",
    .description =
        "Removes checkpoints that are no longer wanted. Where a run stands, and what is still needed "
        "to rebuild a checkpoint that is kept, stays or is folded into it first; every kept "
        "checkpoint can be shown and resumed as before.",
    .options = prune_options,
    .examples = prune_examples,
    .run = cmd_prune,
};

/* ---- the list ---- */

const Command *const commands[] = {
    &command_run,
    &command_debug,
    &command_resume,
    &command_status,
    &command_runs,
    &command_cancel,
    &command_history,
    &command_show,
    &command_diff,
    &command_fork,
    &command_update,
    &command_check,
    &command_graph,
    &command_kinds,
    &command_schema,
    &command_store,
    &command_prune,
    &command_eval,
    &command_help,
    &command_version,
    &command_completion,
    &command_man,
    NULL,
};

const Command *command_find(const char *name) {
    for (const Command *const *c = commands; *c; c++) {
        if (strcmp((*c)->name, name) == 0) {
            return *c;
        }
    }
    return NULL;
}

int command_unknown(const char *name) {
    Suggestion nearest = suggestion_for(name, strlen(name));
    for (const Command *const *c = commands; *c; c++) {
        suggestion_offer(&nearest, (*c)->name);
    }
    terminal_say(stderr, "pawl: there is no command `%s`", name);
    if (nearest.best) {
        fprintf(stderr, "; did you mean `%s`?\n", nearest.best);
    } else {
        fputs(".\n", stderr);
    }
    fputs("Try `pawl help`.\n", stderr);
    return EXIT_USAGE;
}

const char *command_words(const Command *command) {
    return command->list_words ? command->list_words() : command->words;
}

int option_value_count(const Option *option) {
    if (!option->values) {
        return 0;
    }
    return strchr(option->values, ' ') ? 2 : 1;
}
