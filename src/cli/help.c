#include "help.h"

#include "stores.h"
#include "terminal.h"

#include <string.h>

/* Where the text stands that explains a command or an option; longer names get a line of their
 * own. */
enum { COMMAND_COLUMN = 14, OPTION_COLUMN = 30 };

static void paragraphs(FILE *out, const char *text) {
    for (;;) {
        terminal_put_wrapped(out, text, 0);
        const char *next = strstr(text, "\n\n");
        if (!next) return;
        fputc('\n', out);
        text = next + 2;
    }
}

static void explain(FILE *out, int column, int target, const char *text) {
    if (column + 2 > target) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", target - column, "");
    terminal_put_wrapped(out, text, target);
}

static void show_option(FILE *out, const Option *option) {
    int len = option->letter ? fprintf(out, "  -%c, --%s", option->letter, option->name)
                             : fprintf(out, "      --%s", option->name);
    if (option->values) len += fprintf(out, " %s", option->values);
    explain(out, len, OPTION_COLUMN, option->help);
}

static void show_options(FILE *out, const Command *command) {
    static const Option help = {.name = "help", .letter = 'h', .help = "show this"};
    terminal_heading(out, "Options");
    for (const Option *o = command->options; o && o->name; o++) show_option(out, o);
    show_option(out, &help);
}

static void show_examples(FILE *out, const Command *command) {
    terminal_heading(out, "Examples");
    for (const Example *e = command->examples; e->line; e++) {
        fprintf(out, "  %s\n%*s", e->line, 6, "");
        terminal_put_wrapped(out, e->says, 6);
    }
}

void help_command(const Command *command, FILE *out) {
    bool has_options = command->options != NULL;
    fprintf(out, "Usage: pawl %s%s%s%s\n\n", command->name, has_options ? " [OPTION...]" : "",
            command->arguments[0] ? " " : "", command->arguments);
    paragraphs(out, command->description);
    fputc('\n', out);
    show_options(out, command);
    if (command->examples) {
        fputc('\n', out);
        show_examples(out, command);
    }
}

void help_overview(FILE *out) {
    fputs("Usage: pawl COMMAND [OPTION...] [ARGUMENT...]\n\n", out);
    terminal_heading(out, "Commands");
    for (const Command *const *c = commands; *c; c++) {
        int column = fprintf(out, "  %s", (*c)->name);
        explain(out, column, COMMAND_COLUMN, (*c)->summary);
    }
    fputs("\n`pawl help COMMAND` says all about one of them.\n", out);
}

typedef struct HelpArgs {
    Common common;
    const char *topic; /* NULL: all of them */
} HelpArgs;

static int act(void *ctx) {
    const char *topic = ((HelpArgs *)ctx)->topic;
    const Command *command = topic ? command_find(topic) : NULL;
    if (topic && !command) return command_unknown(topic);
    if (topic) {
        help_command(command, stdout);
    } else {
        help_overview(stdout);
    }
    return EXIT_OK;
}

/* ---- the row ---- */

const Command command_help = {
    .name = "help",
    .summary = "show what the commands do",
    .arguments = "[COMMAND]",
    .description = "Lists the commands, or says all about one of them.",
    .completes = COMPLETE_COMMAND,
    .args = sizeof(HelpArgs),
    .argument = offsetof(HelpArgs, topic),
    .one = "command",
    .act = act,
};
