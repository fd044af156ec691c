/* login.c - `pawl login`: keeps a token for a server. */
#include "asking.h"
#include "hidden.h"
#include "options.h"
#include "output.h"
#include "servers.h"
#include "terminal.h"

#include "json_build.h"
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOKEN_MAX = 4096 };

typedef struct LoginArgs {
    Common common;
    const char *url;
    bool remove, plain;
} LoginArgs;

/* ---- the token ---- */

static bool is_token(const Buf *text) {
    for (size_t i = 0; i < text->len; i++) {
        if (text->data[i] <= ' ' || text->data[i] > '~') return false;
    }
    return text->len > 0;
}

static bool read_token(Buf *token, Error *err) {
    if (!hidden_read("Token: ", "A token", TOKEN_MAX, token, err)) return false;
    while (token->len && strchr("\r\n", token->data[token->len - 1])) {
        token->data[--token->len] = '\0';
    }
    return is_token(token) ||
           error_set(err, ERR_USAGE,
                     "A token is one word, as `pawl token make` shows it; it comes from standard "
                     "input.");
}

/* ---- asking the server ---- */

/* What any Pawl server answers to anybody whom it lets in. */
static bool lets_in(const LoginArgs *args, const ServerLogin *login, Error *err) {
    Asking a;
    asking_begin_as(&a, &args->common, login);
    Json answer = client_ask(a.client, "operations", json_none(), err);
    json_unref(answer);
    asking_end(&a);
    return !json_is_none(answer);
}

static int say(const LoginArgs *args, const char *word, const char *sentence) {
    if (args->common.json) {
        Json line = OBJECT(KEY("server", args->url), KEY("login", word));
        output_line(line);
        json_unref(line);
    } else {
        terminal_say(stderr, "pawl login: %s\n", sentence);
    }
    return EXIT_OK;
}

static int keep(const LoginArgs *args, ServerLogin *login, Error *err) {
    char *folder = server_login_folder();
    Buf sentence = BUF_INIT;
    bool ok = lets_in(args, login, err) && server_login_keep(args->url, login, err);
    if (ok) {
        buf_printf(&sentence, "the token for %s is kept in %s/servers.", args->url, folder);
        say(args, "kept", sentence.data);
    }
    buf_clear(&sentence);
    mem_free(folder);
    return ok ? EXIT_OK : cli_fail(&args->common, err);
}

/* ---- the command ---- */

static int remove_login(const LoginArgs *args) {
    Error err = ERROR_INIT;
    bool was;
    if (!server_login_remove(args->url, &was, &err)) return cli_fail(&args->common, &err);
    if (was) return say(args, "removed", "the token is not kept any more.");
    error_set(&err, ERR_USAGE, "No token is kept for %s.", args->url);
    return cli_fail(&args->common, &err);
}

static int act(void *ctx) {
    LoginArgs *args = ctx;
    Error err = ERROR_INIT;
    if (!args->url) {
        options_complain(&command_login, "which server? It takes its URL, as "
                                         "https://pawl.example.org.");
        return EXIT_USAGE;
    }
    if (args->remove) return remove_login(args);
    args->common.server = args->url;
    char *ca = args->common.ca ? realpath(args->common.ca, NULL) : NULL;
    ServerLogin login = {.ca = (char *)(uintptr_t)args->common.ca, .plain = args->plain};
    if (lets_in(args, &login, &err)) {
        free(ca);
        return say(args, "open", "the server lets everybody in who reaches it, without a token.");
    }
    bool asks = err.code == ERR_USAGE && strstr(err.facts, "\"token\":");
    int code = asks ? EXIT_OK : cli_fail(&args->common, &err);
    if (asks) {
        Buf token = BUF_INIT;
        error_clear(&err);
        login.token = NULL;
        login.ca = ca;
        if (read_token(&token, &err)) {
            login.token = token.data;
            code = keep(args, &login, &err);
        } else {
            code = cli_fail(&args->common, &err);
        }
        hidden_clear(&token);
    }
    free(ca);
    return code;
}

/* ---- the row ---- */

const Command command_login = {
    .name = "login",
    .summary = "keep a token for a server",
    .arguments = "URL",
    .description =
        "Reads a token from standard input, or at a terminal without showing it, tries it at the server, and keeps it "
        "in ~/.config/pawl/servers (under XDG_CONFIG_HOME if that is set), which nobody else can read. Commands that "
        "ask that server (--server, $PAWL_SERVER) show it from then on; $PAWL_TOKEN goes before it.\n\n"
        "A token goes to its server alone, and over plain http only to addresses of this machine. --plain says that "
        "nobody listens on the way to this one.\n\n"
        "Exit codes: 0, it is kept, or none is needed; 2, the server does not accept it; 5, the server cannot be reached.",
    OPTIONS({"remove", 0, NULL, "forget the token that is kept for it",
             TAKES(OPTION_FLAG, LoginArgs, remove)},
            {"plain", 0, NULL, "the token may go to another machine over plain http",
             TAKES(OPTION_FLAG, LoginArgs, plain)},
            CA_ROW, JSON_ROW("what came of it, as a line of JSON")),
    EXAMPLES({"pawl login https://pawl.example.org", "asks for the token, tries it and keeps it"},
             {"pawl login https://pawl.example.org < token.txt", "the same, from a file"},
             {"pawl login --remove https://pawl.example.org", "forgets it"}),
    .args = sizeof(LoginArgs),
    .argument = offsetof(LoginArgs, url),
    .one = "server",
    .act = act,
};
