/* completion.c - completions for shells, made from the table of commands.
 *
 * Each shell is a row below: its name and the function that writes its script. The scripts hold the
 * names that are in the table when they are written, so a shell completes without running us.
 */
#include "command.h"
#include "options.h"

#include <stdio.h>
#include <string.h>

/* Writes text inside single quotes of a POSIX shell. */
static void put_quoted(const char *text) {
    fputc('\'', stdout);
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
        } else {
            fputc(*text, stdout);
        }
    }
    fputc('\'', stdout);
}

static void put_command_names(void) {
    for (const Command *const *c = commands; *c; c++) {
        printf("%s%s", c == commands ? "" : " ", (*c)->name);
    }
}

/* The words that an option takes, parted by spaces as shells want them. */
static void put_words(const Option *option) {
    for (const char *c = option->values; *c; c++) {
        fputc(*c == '|' ? ' ' : *c, stdout);
    }
}

/* ---- bash ---- */

static void bash_flags(const Command *command) {
    for (const Option *o = command->options; o && o->name; o++) {
        if (o->letter) {
            printf("-%c ", o->letter);
        }
        printf("--%s ", o->name);
    }
    fputs("-h --help", stdout);
}

static void bash_arguments(const Command *command) {
    switch (command->completes) {
    case COMPLETE_NOTHING: break;
    case COMPLETE_FILE: fputs("            files=yes\n", stdout); break;
    case COMPLETE_COMMAND: fputs("            words=$commands\n", stdout); break;
    case COMPLETE_WORDS: printf("            words='%s'\n", command_words(command)); break;
    }
}

static void bash_value(const Option *option) {
    switch (option->completes) {
    case COMPLETE_FILE: fputs("files=yes", stdout); break;
    case COMPLETE_COMMAND: fputs("words=$commands", stdout); break;
    case COMPLETE_WORDS:
        fputs("words='", stdout);
        put_words(option);
        fputc('\'', stdout);
        break;
    case COMPLETE_NOTHING: fputc(':', stdout); break;
    }
}

/* The words before the cursor that are waiting for a value. */
static void bash_values(const Command *command) {
    for (const Option *o = command->options; o && o->name; o++) {
        if (!o->values) {
            continue;
        }
        const char *word = option_value_count(o) == 2 ? "$before" : "$last";
        printf("            [[ \"%s\" == --%s ", word, o->name);
        if (o->letter) {
            printf("|| \"%s\" == -%c ", word, o->letter);
        }
        fputs("]] && { flags=; words=; files=; ", stdout);
        bash_value(o);
        fputs("; }\n", stdout);
        if (option_value_count(o) == 2) {
            printf("            [[ \"$last\" == --%s ]] && { flags=; words=; files=; }\n", o->name);
        }
    }
}

static void bash_command(const Command *command) {
    printf("        %s)\n            flags='", command->name);
    bash_flags(command);
    fputs("'\n", stdout);
    bash_arguments(command);
    bash_values(command);
    fputs("            ;;\n", stdout);
}

static void write_bash(void) {
    fputs("# Completion of pawl for bash, written by `pawl completion bash`.\n"
          "_pawl() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local before= flags= words= files= commands='",
          stdout);
    put_command_names();
    fputs("'\n"
          "    COMPREPLY=()\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        COMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    ((COMP_CWORD > 2)) && before=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    case ${COMP_WORDS[1]} in\n",
          stdout);
    for (const Command *const *c = commands; *c; c++) {
        bash_command(*c);
    }
    fputs("    esac\n"
          "    if [[ $word == -* && $flags ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$flags\" -- \"$word\"))\n"
          "    elif [[ $words ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "    elif [[ $files ]]; then\n"
          "        compopt -o filenames 2>/dev/null\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
          "    fi\n"
          "}\n"
          "complete -F _pawl pawl\n",
          stdout);
}

/* ---- zsh ---- */

/* Help text inside the brackets of an _arguments specification. */
static void zsh_help(const char *text) {
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
            continue;
        }
        if (strchr("[]:\\", *text)) {
            fputc('\\', stdout);
        }
        fputc(*text, stdout);
    }
}

static void zsh_values(const Option *option) {
    const char *action = option->completes == COMPLETE_FILE ? "_files" : " ";
    if (option->values && option->completes == COMPLETE_WORDS) {
        fputs(":word:(", stdout);
        put_words(option);
        fputc(')', stdout);
        return;
    }
    if (option_value_count(option) == 2) {
        const char *second = strchr(option->values, ' ') + 1;
        printf(":%.*s: :%s:%s", (int)(second - 1 - option->values), option->values, second, action);
    } else if (option->values) {
        printf(":%s:%s", option->values, action);
    }
}

static void zsh_option(const Option *option) {
    fputs("                ", stdout);
    if (option->letter) {
        /* Both names, each shutting out the other. */
        printf("'(-%c --%s)'{-%c,--%s}'[", option->letter, option->name, option->letter,
               option->name);
    } else {
        /* An option with two values, as --arg, may come many times. */
        printf("'%s--%s[", option_value_count(option) == 2 ? "*" : "", option->name);
    }
    zsh_help(option->help);
    fputc(']', stdout);
    zsh_values(option);
    fputs("' \\\n", stdout);
}

static void zsh_arguments(const Command *command) {
    switch (command->completes) {
    case COMPLETE_NOTHING: fputs("                && return\n", stdout); break;
    case COMPLETE_FILE: fputs("                '*: :_files' && return\n", stdout); break;
    case COMPLETE_COMMAND:
        fputs("                '1: :(", stdout);
        put_command_names();
        fputs(")' && return\n", stdout);
        break;
    case COMPLETE_WORDS:
        printf("                '1: :(%s)' && return\n", command_words(command));
        break;
    }
}

static void zsh_command(const Command *command) {
    static const Option help = {.name = "help", .letter = 'h', .help = "show help"};
    printf("        %s)\n            _arguments -s \\\n", command->name);
    for (const Option *o = command->options; o && o->name; o++) {
        zsh_option(o);
    }
    zsh_option(&help);
    zsh_arguments(command);
    fputs("            ;;\n", stdout);
}

static void write_zsh(void) {
    fputs("#compdef pawl\n"
          "# Completion of pawl for zsh, written by `pawl completion zsh`.\n"
          "_pawl() {\n"
          "    local -a commands\n"
          "    commands=(\n",
          stdout);
    for (const Command *const *c = commands; *c; c++) {
        printf("        '%s:", (*c)->name);
        zsh_help((*c)->summary);
        fputs("'\n", stdout);
    }
    fputs("    )\n"
          "    if ((CURRENT == 2)); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    local command=$words[2]\n"
          "    shift words\n"
          "    ((CURRENT--))\n"
          "    case $command in\n",
          stdout);
    for (const Command *const *c = commands; *c; c++) {
        zsh_command(*c);
    }
    fputs("    esac\n"
          "}\n"
          "if [[ $funcstack[1] == _pawl ]]; then\n"
          "    _pawl \"$@\"\n"
          "else\n"
          "    compdef _pawl pawl\n"
          "fi\n",
          stdout);
}

/* ---- fish ---- */

static void fish_option(const Command *command, const Option *option) {
    printf("complete -c pawl -n '__fish_seen_subcommand_from %s' -l %s", command->name,
           option->name);
    if (option->letter) {
        printf(" -s %c", option->letter);
    }
    if (option->values) {
        fputs(option->completes == COMPLETE_FILE ? " -r -F" : " -x", stdout);
    }
    if (option->values && option->completes == COMPLETE_WORDS) {
        fputs(" -a '", stdout);
        put_words(option);
        fputc('\'', stdout);
    }
    fputs(" -d ", stdout);
    put_quoted(option->help);
    fputc('\n', stdout);
}

static void fish_arguments(const Command *command) {
    printf("complete -c pawl -n '__fish_seen_subcommand_from %s' ", command->name);
    switch (command->completes) {
    case COMPLETE_NOTHING: fputs("-f\n", stdout); break;
    case COMPLETE_FILE: fputs("-F\n", stdout); break;
    case COMPLETE_COMMAND:
        fputs("-f -a '", stdout);
        put_command_names();
        fputs("'\n", stdout);
        break;
    case COMPLETE_WORDS: printf("-f -a '%s'\n", command_words(command)); break;
    }
}

static void write_fish(void) {
    static const Option help = {.name = "help", .letter = 'h', .help = "show help"};
    fputs("# Completion of pawl for fish, written by `pawl completion fish`.\n", stdout);
    for (const Command *const *c = commands; *c; c++) {
        printf("complete -c pawl -f -n __fish_use_subcommand -a %s -d ", (*c)->name);
        put_quoted((*c)->summary);
        fputc('\n', stdout);
    }
    for (const Command *const *c = commands; *c; c++) {
        fish_arguments(*c);
        for (const Option *o = (*c)->options; o && o->name; o++) {
            fish_option(*c, o);
        }
        fish_option(*c, &help);
    }
}

/* ---- the command ---- */

static const struct Shell {
    const char *name;
    void (*write)(void);
} shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}, {NULL, NULL}};

static bool on_argument(void *ctx, const Option *option, char **values) {
    const struct Shell **shell = ctx;
    const Command *command = &command_completion;
    (void)option;
    if (*shell) {
        return options_complain(command, "it takes one shell, but was given `%s` too.", values[0]);
    }
    for (const struct Shell *s = shells; s->name; s++) {
        if (strcmp(s->name, values[0]) == 0) {
            *shell = s;
            return true;
        }
    }
    return options_complain(command, "`%s` is none of the shells it knows (bash, zsh, fish).",
                            values[0]);
}

static int cmd_completion(int argc, char **argv) {
    const struct Shell *shell = NULL;
    const Command *command = &command_completion;
    OptionsResult result = options_parse(command, argc, argv, on_argument, &shell);
    if (result == OPTIONS_RUN && !shell) {
        options_complain(command, "which shell? bash, zsh or fish.");
        result = OPTIONS_BAD;
    }
    if (result != OPTIONS_RUN) {
        return result == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    }
    shell->write();
    return EXIT_OK;
}

/* ---- the row ---- */

static const Example completion_examples[] = {
    {"source <(pawl completion bash)", "for this session of bash"},
    {"pawl completion fish > ~/.config/fish/completions/pawl.fish", "for every session of fish"},
    {0},
};

const Command command_completion = {
    .name = "completion",
    .summary = "write the completions for a shell",
    .arguments = "SHELL",
    .description = "Writes a script that teaches a shell (bash, zsh or fish) to complete the "
                   "commands, options and arguments of pawl.",
    .examples = completion_examples,
    .completes = COMPLETE_WORDS,
    .words = "bash zsh fish",
    .run = cmd_completion,
};
