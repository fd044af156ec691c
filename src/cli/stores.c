#include "stores.h"

#include "buf.h"
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool common_option(Common *c, const Option *option, char **values) {
    if (!option || (option->id != OPTION_STORE && option->id != OPTION_JSON)) {
        return false;
    }
    if (option->id == OPTION_STORE) {
        c->store = values[0];
    } else {
        c->json = true;
    }
    return true;
}

const char *cli_store_url(const char *given) {
    const char *env = getenv("PAWL_STORE");
    return given ? given : env && env[0] ? env : DEFAULT_STORE;
}

const char *cli_store_hint(const char *given) {
    return given && strcmp(given, cli_store_url(NULL)) != 0 ? given : NULL;
}

char *cli_store_configured(const Graph *graph) {
    const char *kind = graph->checkpointer, *dir = graph->checkpoint_dir;
    Buf url = BUF_INIT;
    if (!kind && !dir) {
        return NULL;
    }
    if (kind && !strcmp(kind, "memory") && !dir) { /* a folder is where it is to be found again */
        buf_adds(&url, "memory:");
    } else if (kind && !strcmp(kind, "sqlite")) {
        buf_printf(&url, dir ? "sqlite:%s/pawl.db" : DEFAULT_STORE, dir);
    } else {
        buf_printf(&url, "file:%s", dir ? dir : ".pawl/checkpoints");
    }
    return buf_detach(&url);
}

/* The arguments of operations as the command line calls them. */
static void add_sentence(Buf *out, const char *sentence) {
    static const char *const words[][2] = {{"`decision`", "--decision"},
                                           {"a `value`", "--value JSON"},
                                           {"`interrupt`", "--interrupt"},
                                           {NULL, NULL}};
    while (*sentence) {
        size_t i = 0;
        while (words[i][0] && strncmp(sentence, words[i][0], strlen(words[i][0])) != 0) {
            i++;
        }
        if (words[i][0]) {
            buf_adds(out, words[i][1]);
            sentence += strlen(words[i][0]);
        } else {
            buf_addc(out, *sentence++);
        }
    }
    buf_adds(out, "");
}

int cli_fail(const Command *command, const Error *err) {
    Buf sentence = BUF_INIT;
    fflush(stdout);
    add_sentence(&sentence, err->msg);
    terminal_say(stderr, "pawl %s: %s\n", command->name, sentence.data);
    buf_clear(&sentence);
    bool usage = err->code == ERR_USAGE || err->code == ERR_SYNTAX || err->code == ERR_NOT_FOUND ||
                 err->code == ERR_EXISTS || err->code == ERR_ENDED || err->code == ERR_ANSWER;
    return usage ? EXIT_USAGE : EXIT_FAILED_RUN;
}
