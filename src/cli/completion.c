/* completion.c - completions for shells, made from the table of commands.
 *
 * Each shell is a row below: its name and the function that writes its script. The scripts hold the
 * names that are in the table when they are written, so a shell completes without running us.
 */
#include "command.h"
#include "options.h"
#include "stores.h"

#include <stdio.h>
#include <string.h>

static const Option help = {.name = "help", .letter = 'h', .help = "show help"};

/* Writes text for inside single quotes of a POSIX shell, with a backslash before some characters. */
static void put_escaped(const char *text, const char *special) {
    for (; *text; text++) {
        if (strchr(special, *text)) fputc('\\', stdout);
        if (*text == '\'') {
            fputs("'\\''", stdout);
        } else {
            fputc(*text, stdout);
        }
    }
}

static void put_quoted(const char *text) {
    fputc('\'', stdout);
    put_escaped(text, "");
    fputc('\'', stdout);
}

static void put_command_names(void) {
    for (const Command *const *c = commands; *c; c++) {
        printf("%s%s", c == commands ? "" : " ", (*c)->name);
    }
}

static void put_argument_words(const Command *command) {
    if (command->completes == COMPLETE_COMMAND) {
        put_command_names();
    } else {
        fputs(command_words(command), stdout);
    }
}

/* Words, parted by spaces as shells want them. */
static void put_words(const char *words) {
    for (const char *c = words; *c; c++) fputc(*c == '|' ? ' ' : *c, stdout);
}

/* ---- bash ---- */

static void bash_flags(const Command *command) {
    for (const Option *o = command->options; o && o->name; o++) {
        if (o->letter) printf("-%c ", o->letter);
        printf("--%s ", o->name);
    }
    fputs("-h --help", stdout);
}

/* What is offered: of an option, of the arguments of a command; `:` is nothing. */
static void bash_offer(Completion completes, const char *words) {
    static const char *const offers[] = {[COMPLETE_NOTHING] = ":",
                                         [COMPLETE_FILE] = "files=yes",
                                         [COMPLETE_COMMAND] = "words=$commands",
                                         [COMPLETE_WORDS] = "words='"};
    fputs(offers[completes], stdout);
    if (completes == COMPLETE_WORDS) {
        put_words(words);
        fputc('\'', stdout);
    }
}

/* The words before the cursor that are waiting for a value. */
static void bash_values(const Command *command) {
    for (const Option *o = command->options; o && o->name; o++) {
        if (!o->values) continue;
        const char *word = option_value_count(o) == 2 ? "$before" : "$last";
        printf("            [[ \"%s\" == --%s ", word, o->name);
        if (o->letter) printf("|| \"%s\" == -%c ", word, o->letter);
        fputs("]] && { flags=; words=; files=; ", stdout);
        bash_offer(o->completes, o->values);
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
    if (command->completes != COMPLETE_NOTHING) {
        fputs("            ", stdout);
        bash_offer(command->completes, command_words(command));
        fputc('\n', stdout);
    }
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
    for (const Command *const *c = commands; *c; c++) bash_command(*c);
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

/* What a text inside the brackets of an _arguments specification may not hold as it is. */
static const char zsh_special[] = "[]:\\";

static void zsh_values(const Option *option) {
    const char *action = option->completes == COMPLETE_FILE ? "_files" : " ";
    if (option->values && option->completes == COMPLETE_WORDS) {
        fputs(":word:(", stdout);
        put_words(option->values);
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
    put_escaped(option->help, zsh_special);
    fputc(']', stdout);
    zsh_values(option);
    fputs("' \\\n", stdout);
}

static void zsh_arguments(const Command *command) {
    fputs("                ", stdout);
    if (command->completes == COMPLETE_FILE) {
        fputs("'*: :_files' ", stdout);
    } else if (command->completes != COMPLETE_NOTHING) {
        fputs("'1: :(", stdout);
        put_argument_words(command);
        fputs(")' ", stdout);
    }
    fputs("&& return\n", stdout);
}

static void zsh_command(const Command *command) {
    printf("        %s)\n            _arguments -s \\\n", command->name);
    for (const Option *o = command->options; o && o->name; o++) zsh_option(o);
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
        put_escaped((*c)->summary, zsh_special);
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
    for (const Command *const *c = commands; *c; c++) zsh_command(*c);
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
    if (option->letter) printf(" -s %c", option->letter);
    if (option->values) fputs(option->completes == COMPLETE_FILE ? " -r -F" : " -x", stdout);
    if (option->values && option->completes == COMPLETE_WORDS) {
        fputs(" -a '", stdout);
        put_words(option->values);
        fputc('\'', stdout);
    }
    fputs(" -d ", stdout);
    put_quoted(option->help);
    fputc('\n', stdout);
}

static void fish_arguments(const Command *command) {
    bool words = command->completes == COMPLETE_COMMAND || command->completes == COMPLETE_WORDS;
    printf("complete -c pawl -n '__fish_seen_subcommand_from %s' %s", command->name,
           command->completes == COMPLETE_FILE ? "-F" : "-f");
    if (words) {
        fputs(" -a '", stdout);
        put_argument_words(command);
        fputc('\'', stdout);
    }
    fputc('\n', stdout);
}

static void write_fish(void) {
    fputs("# Completion of pawl for fish, written by `pawl completion fish`.\n", stdout);
    for (const Command *const *c = commands; *c; c++) {
        printf("complete -c pawl -f -n __fish_use_subcommand -a %s -d ", (*c)->name);
        put_quoted((*c)->summary);
        fputc('\n', stdout);
    }
    for (const Command *const *c = commands; *c; c++) {
        fish_arguments(*c);
        for (const Option *o = (*c)->options; o && o->name; o++) fish_option(*c, o);
        fish_option(*c, &help);
    }
}

/* ---- the command ---- */

static const struct Shell {
    const char *name;
    void (*write)(void);
} shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}, {NULL, NULL}};

typedef struct CompletionArgs {
    Common common;
    const char *shell;
} CompletionArgs;

static int act(void *ctx) {
    const char *name = ((CompletionArgs *)ctx)->shell;
    const struct Shell *shell = shells;
    while (name && shell->name && strcmp(shell->name, name) != 0) shell++;
    if (!name) {
        options_complain(&command_completion, "which shell? bash, zsh or fish.");
    } else if (!shell->name) {
        options_complain(&command_completion,
                         "`%s` is none of the shells it knows (bash, zsh, fish).", name);
    } else {
        shell->write();
        return EXIT_OK;
    }
    return EXIT_USAGE;
}

/* ---- the row ---- */

const Command command_completion = {
    .name = "completion",
    .summary = "write the completions for a shell",
    .arguments = "SHELL",
    .description = "Writes a script that teaches a shell (bash, zsh or fish) to complete the "
                   "commands, options and arguments of pawl.",
    EXAMPLES({"source <(pawl completion bash)", "for this session of bash"},
             {"pawl completion fish > ~/.config/fish/completions/pawl.fish",
              "for every session of fish"}),
    .completes = COMPLETE_WORDS,
    .words = "bash zsh fish",
    .args = sizeof(CompletionArgs),
    .argument = offsetof(CompletionArgs, shell),
    .one = "shell",
    .act = act,
};
