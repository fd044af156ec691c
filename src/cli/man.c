/* man.c - the manual page, in roff, made from the table of commands. */
#include "command.h"
#include "pawl.h"
#include "stores.h"

#include <stdio.h>
#include <string.h>

/* Text as roff takes it: a hyphen stays a hyphen, a backslash a backslash, and a line never starts
 * with a control character. */
static void put_text(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        bool line_start = i == 0 || text[i - 1] == '\n';
        switch (text[i]) {
        case '\\': fputs("\\e", stdout); break;
        case '-': fputs("\\-", stdout); break;
        case '`': fputs("\\(ga", stdout); break;
        case '\'': fputs("\\(aq", stdout); break;
        case '"': fputs("\\(dq", stdout); break;
        case '.': fputs(line_start ? "\\&." : ".", stdout); break;
        default: fputc(text[i], stdout);
        }
    }
}

static void put(const char *text) {
    put_text(text, strlen(text));
}

static void put_paragraphs(const char *text) {
    const char *end;
    while ((end = strstr(text, "\n\n"))) {
        put_text(text, (size_t)(end - text));
        fputs("\n.PP\n", stdout);
        text = end + 2;
    }
    put(text);
    fputc('\n', stdout);
}

static void put_option(const Option *option) {
    fputs(".TP\n", stdout);
    if (option->letter) printf("\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", stdout);
    put(option->name);
    fputs("\\fR", stdout);
    if (option->values) {
        fputs(" \\fI", stdout);
        put(option->values);
        fputs("\\fR", stdout);
    }
    fputc('\n', stdout);
    put(option->help);
    fputs(".\n", stdout);
}

static void put_example(const Example *example) {
    fputs(".TP\n", stdout);
    put(example->line);
    fputc('\n', stdout);
    put(example->says);
    fputs(".\n", stdout);
}

static void put_command(const Command *command) {
    fputs(".SS pawl ", stdout);
    put(command->name);
    fputs(command->options ? " [OPTION...]" : "", stdout);
    fputs(command->arguments[0] ? " " : "", stdout);
    put(command->arguments);
    fputc('\n', stdout);
    put_paragraphs(command->description);
    for (const Option *o = command->options; o && o->name; o++) put_option(o);
    if (command->examples) fputs(".PP\nExamples:\n", stdout);
    for (const Example *e = command->examples; e && e->line; e++) put_example(e);
}

static void put_page(void) {
    printf(".TH PAWL 1 \"\" \"pawl %s\" \"User Commands\"\n", pawl_version());
    fputs(".SH NAME\npawl \\- workflows and jq expressions over JSON\n", stdout);
    fputs(".SH SYNOPSIS\n.B pawl\n.I COMMAND\n[\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n", stdout);
    fputs(".SH COMMANDS\nEvery command takes \\fB\\-h\\fR and \\fB\\-\\-help\\fR.\n", stdout);
    for (const Command *const *c = commands; *c; c++) put_command(*c);
    fputs(".SH ENVIRONMENT\n.TP\n.B PAWL_STORE\nThe store of the commands that work on runs, when "
          "\\fB\\-\\-store\\fR does not name one.\n",
          stdout);
    fputs(
        ".TP\n.B PAWL_SERVER\nThe server that commands ask in place of working here, when neither "
        "\\fB\\-\\-server\\fR nor \\fB\\-\\-store\\fR names a place.\n"
        ".TP\n.B PAWL_TOKEN\nThe token for the server, before the one that \\fBpawl login\\fR "
        "keeps.\n",
        stdout);
    fputs(
        ".TP\n.B PAWL_DUMPABLE\nWith 1, debuggers and profilers of the same user may look into the process, "
        "and a crash leaves a core; so may whatever a run starts.\n",
        stdout);
    fputs(".TP\n.B NO_COLOR\nWhen set to anything, nothing is coloured.\n", stdout);
}

static int act(void *args) {
    (void)args;
    put_page();
    return EXIT_OK;
}

/* ---- the row ---- */

const Command command_man = {
    .name = "man",
    .summary = "write the manual page",
    .arguments = "",
    .description = "Writes the manual page of pawl, pawl(1), in roff.",
    EXAMPLES({"pawl man | man -l -", "read it"}),
    .args = sizeof(Common),
    .act = act,
};
