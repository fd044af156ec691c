/* token.c - `pawl token`: who may ask a server for what. */
#include "asking.h"
#include "fields.h"
#include "json_build.h"
#include "options.h"
#include "output.h"
#include "terminal.h"

#include <stdio.h>
#include <string.h>

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
        "counts for a second more at most.",
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
