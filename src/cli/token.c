/* token.c - `pawl token`: who may ask a server for what.
 *
 * A server as a service has a user of its own, and whoever makes its tokens is mostly root. Root would leave files in the
 * store that the server cannot change, and a store of others is refused. So root becomes the owner of the store's folder
 * first, for good: it does there what that user could do, and nothing else. */
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "options.h"
#include "output.h"
#include "terminal.h"

#include <errno.h>
#include <grp.h>
#include <libgen.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct TokenArgs {
    Common common;
    const char *action, *name;
    const char *scope, *expires;
} TokenArgs;

static const char what_it_can[] = "it can `make`, `list` and `revoke` them";

static bool on_word(void *ctx, const Option *option, char **values) {
    TokenArgs *args = ctx;
    (void)option;
    if (args->action && args->name) {
        return options_complain(&command_token, "there is one thing too many: `%s`.", values[0]);
    }
    if (args->action) {
        args->name = values[0];
        return true;
    }
    args->action = values[0];
    return !strcmp(args->action, "make") || !strcmp(args->action, "list") ||
           !strcmp(args->action, "revoke") ||
           options_complain(&command_token, "`%s` is nothing to do with tokens; %s.", args->action,
                            what_it_can);
}

static void show_list(Json answer) {
    Json list = field_get(answer, "tokens");
    size_t n = json_array_len(list);
    if (!n) terminal_say(stderr, "No token lets anybody in.\n");
    for (size_t i = 0; i < n; i++) {
        Json one = json_array_get(list, i);
        terminal_line(
            stdout, "%-6s %-6s %-20s made %.10s%s%.10s", field_string(one, "id"),
            field_string(one, "scope"), field_string(one, "name"), field_string(one, "created"),
            field_has_text(one, "expires") ? ", expires " : "", field_string(one, "expires"));
    }
}

/* The token alone is on standard output, so that it can be put where it is needed. */
static void show_made(Json answer) {
    terminal_say(
        stderr,
        "pawl token: made %s, with the scope `%s`. This is the only time that it is shown:\n",
        field_string(answer, "id"), field_string(answer, "scope"));
    printf("%s\n", field_string(answer, "token"));
}

/* The folder that the store is in, or will be, given; NULL: there is none. */
static char *folder_of_store(const Common *common) {
    const char *url = cli_store_url(common->store), *path = strchr(url, ':');
    bool database = !strncmp(url, "sqlite:", 7);
    if (!path) return NULL;
    char *real = realpath(path + 1, NULL);
    if (real && !database) return real;
    char *named = real ? real : strdup(path + 1);
    char *folder = realpath(dirname(named), NULL);
    free(named);
    return folder;
}

/* False after saying why it cannot. */
static bool become_owner(const Common *common) {
    struct stat st;
    if (geteuid() != 0 || cli_server(common)) return true;
    char *folder = folder_of_store(common);
    bool theirs = folder && stat(folder, &st) == 0 && st.st_uid != 0;
    free(folder);
    if (!theirs) return true;
    const struct passwd *owner = getpwuid(st.st_uid);
    gid_t group = owner ? owner->pw_gid : st.st_gid;
    if (setgroups(1, &group) == 0 && setgid(group) == 0 && setuid(st.st_uid) == 0) return true;
    terminal_say(stderr,
                 "pawl token: cannot become the owner of the store (user number %lu): %s.\n",
                 (unsigned long)st.st_uid, strerror(errno));
    return false;
}

static int act(void *ctx) {
    TokenArgs *args = ctx;
    Json ask_args = json_object();
    bool make = args->action && !strcmp(args->action, "make");
    bool list = args->action && !strcmp(args->action, "list");
    if (!args->action || (!list && !args->name) || (list && args->name)) {
        options_complain(&command_token,
                         !args->action ? "what to do is missing; %s."
                         : list        ? "`list` takes no name."
                                       : "the name of the token is missing.",
                         what_it_can);
        json_unref(ask_args);
        return EXIT_USAGE;
    }
    if (make) {
        ask_args = OBJECT_ADD(ask_args, KEY("name", args->name),
                              KEY("scope", args->scope ? args->scope : "run"),
                              KEY("expires", args->expires));
    } else if (!list) {
        ask_args = OBJECT_ADD(ask_args, KEY("id", args->name));
    }
    if (!become_owner(&args->common)) {
        json_unref(ask_args);
        return EXIT_STORE;
    }
    Asking a;
    asking_begin(&a, &args->common);
    Json answer = ask(&a, make ? "token_make" : list ? "tokens" : "token_revoke", ask_args);
    if (!json_is_none(answer) && args->common.json) {
        output_line(answer);
    } else if (!json_is_none(answer) && make) {
        show_made(answer);
    } else if (!json_is_none(answer) && list) {
        show_list(answer);
    } else if (!json_is_none(answer)) {
        terminal_say(stderr, "pawl token: `%s` lets nobody in any more.\n", args->name);
    }
    json_unref(answer);
    return asking_end(&a);
}

const Command command_token = {
    .name = "token",
    .summary = "say who may ask a server for what",
    .arguments = "make NAME | list | revoke NAME",
    .description =
        "A server that was started with --auth lets in whoever has a token of its store. A token has a scope, "
        "which holds those before it: `read` looks, `run` starts, resumes and cancels runs, `debug` changes "
        "them while they run, `admin` does everything.\n\n"
        "`make` shows the token, once: only its hash is kept. `revoke` takes a name or an id, and the token "
        "counts for a second more at most.\n\n"
        "Run as root, it acts as the owner of the folder that the store is in, such as the user of a service.",
    OPTIONS({"scope", 0, "read|run|debug|admin", "what it is good for (run)",
             TAKES(OPTION_WORD, TokenArgs, scope), .completes = COMPLETE_WORDS},
            {"expires", 0, "TIME", "until when, as 2030-01-31T00:00:00Z; always unless told",
             TAKES(OPTION_TEXT, TokenArgs, expires)},
            STORE_ROW, SERVER_ROWS, JSON_ROW("the answer as a line of JSON")),
    EXAMPLES({"pawl token make ci --scope run", "a token for a program that starts runs"},
             {"pawl token list", "who is let in"},
             {"pawl token revoke ci", "and who is not any more"}),
    .completes = COMPLETE_WORDS,
    .words = "make list revoke",
    .args = sizeof(TokenArgs),
    .handle = on_word,
    .act = act,
};
