/* main.c - finds the command and runs it. */
#include "command.h"
#include "help.h"
#include "options.h"
#include "process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* Options that stand for a command when they come first. */
static const char *command_name(const char *word) {
    static const char *const aliases[][2] = {
        {"-h", "help"}, {"--help", "help"}, {"-V", "version"}, {"--version", "version"}};
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (strcmp(word, aliases[i][0]) == 0) return aliases[i][1];
    }
    return word;
}

/* What could not be written is an error too: a full disk must not look like success. */
static int flush_output(int code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    if (errno != EPIPE && code == EXIT_OK) {
        fprintf(stderr, "pawl: cannot write the output: %s.\n", strerror(errno));
    }
    return code == EXIT_OK ? EXIT_USAGE : code;
}

/* What a run starts is of our user, and could read our memory, environment and descriptors otherwise: the states
 * and secrets of all runs. No core is left behind either. Debuggers and profilers need the opposite. */
static void hide_memory(void) {
    const char *wanted = getenv("PAWL_DUMPABLE");
    if (!wanted || strcmp(wanted, "1") != 0) prctl(PR_SET_DUMPABLE, 0);
}

int main(int argc, char **argv) {
    hide_memory();
    if (argc < 2) {
        help_overview(stderr);
        return EXIT_USAGE;
    }
    const Command *command = command_find(command_name(argv[1]));
    if (!command) return command_unknown(argv[1]);
    process_raise_descriptors(); /* a map may have many commands under way at once */
    return flush_output(options_run(command, argc - 1, argv + 1));
}
