/* secret.c - `pawl secret`: the secrets that a store keeps for the workflows that run there. */
#include "asking.h"
#include "fields.h"
#include "hidden.h"
#include "json_build.h"
#include "mask.h"
#include "mem.h"
#include "options.h"
#include "output.h"
#include "secrets.h"
#include "store.h"
#include "stores.h"
#include "terminal.h"
#include "utf8.h"
#include "vault.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct SecretCommand {
    Common common;
    const char *action, *name;
} SecretCommand;

static const char what_it_can[] = "it can `set`, `list` and `remove` them";

static bool on_word(void *ctx, const Option *option, char **values) {
    SecretCommand *c = ctx;
    (void)option;
    if (c->action && c->name) {
        return options_complain(&command_secret, "there is one thing too many: `%s`.%s", values[0],
                                strcmp(c->action, "set")
                                    ? ""
                                    : " A value is never on the command line, where others can see "
                                      "it: it comes from standard input.");
    }
    if (c->action) {
        c->name = values[0];
        return secret_name_is_valid(c->name, strlen(c->name)) ||
               options_complain(
                   &command_secret,
                   "`%s` is no name of a secret; that has letters, digits and `_`, and "
                   "does not begin with a digit.",
                   c->name);
    }
    c->action = values[0];
    return !strcmp(c->action, "set") || !strcmp(c->action, "list") ||
           !strcmp(c->action, "remove") ||
           options_complain(&command_secret, "`%s` is nothing to do with secrets; %s.", c->action,
                            what_it_can);
}

/* ---- the value ---- */

static bool read_value(const char *name, Buf *value, Error *err) {
    if (!hidden_read("Value: ", "A secret", SECRET_MAX, value, err)) return false;
    secret_trim(value);
    if (value->len < MASK_MIN) {
        return error_set(
            err, ERR_USAGE,
            "The secret %s would have %zu bytes. One of fewer than %d cannot be kept out "
            "of logs and results.",
            name, value->len, MASK_MIN);
    }
    if (utf8_valid_prefix(value->data, value->len) < value->len ||
        memchr(value->data, '\0', value->len)) {
        return error_set(
            err, ERR_USAGE,
            "A secret is text in UTF-8 without NULs. What is not can be kept as base64.");
    }
    return true;
}

/* ---- the actions ---- */

static void say_key(const Vault *vault) {
    terminal_say(stderr,
                 "pawl secret: made the key %s. Without it nobody can read the secrets of the "
                 "store: keep a copy of it, apart from the store.\n",
                 vault->key_file);
}

/* The store is made last: what cannot be kept leaves none behind. */
static Store *store_for_set(const char *url, const Vault *vault, Error *err) {
    Error why = ERROR_INIT;
    Store *store = store_open(url, STORE_EXISTING, &why);
    bool missing = !store && why.code == ERR_NOT_FOUND;
    if (missing && vault_make_key(vault, err)) return store_open(url, STORE_CREATE, err);
    if (!store && !missing) *err = why;
    return store;
}

static bool set(const SecretCommand *c, Vault *vault, const char *url, Error *err) {
    Buf value = BUF_INIT;
    bool had_key = vault->key_file && access(vault->key_file, F_OK) == 0;
    Store *store = read_value(c->name, &value, err) ? store_for_set(url, vault, err) : NULL;
    vault->folder = store ? store_folder(store, err) : NULL;
    bool fine = vault->folder && vault_set(vault, c->name, value.data, value.len, err);
    if (vault->key_file && !had_key && access(vault->key_file, F_OK) == 0) say_key(vault);
    hidden_clear(&value);
    store_close(store);
    return fine;
}

static void show(const SecretCommand *c, Json all) {
    if (c->common.json) output_line(all);
    for (size_t i = 0; i < json_array_len(all) && !c->common.json; i++) {
        Json one = json_array_get(all, i);
        terminal_say(stdout, "%s\n", field_string(one, "name"));
    }
}

static bool list(const SecretCommand *c, const Vault *vault, Error *err) {
    Json all = vault_list(vault, err);
    if (json_is_none(all)) return false;
    show(c, all);
    json_unref(all);
    return true;
}

/* A server tells the names; values never leave the machine that they were typed at. */
static int list_of_server(const SecretCommand *c) {
    Asking a;
    asking_begin(&a, &c->common);
    Json answer = ask(&a, "secrets", json_none());
    if (!json_is_none(answer)) show(c, field_get(answer, "secrets"));
    json_unref(answer);
    return asking_end(&a);
}

static bool remove_one(const SecretCommand *c, const Vault *vault, Error *err) {
    bool was;
    if (!vault_remove(vault, c->name, &was, err)) return false;
    if (was) return true;
    error_set(err, ERR_NOT_FOUND, "The store has no secret %s.", c->name);
    return error_fact(err, "secret", c->name);
}

/* ---- the command ---- */

static bool is_sensible(const SecretCommand *c) {
    if (!c->action) {
        return options_complain(&command_secret, "what to do is missing; %s.", what_it_can);
    }
    bool named = c->name != NULL, lists = !strcmp(c->action, "list");
    if (named == lists) {
        return options_complain(&command_secret, lists ? "`list` takes no name."
                                                       : "which secret? It takes its NAME.");
    }
    return true;
}

static int act(void *ctx) {
    extern char **environ;
    const SecretCommand *c = ctx;
    Error err = ERROR_INIT;
    if (!is_sensible(c)) return EXIT_USAGE;
    if (cli_server(&c->common) && !strcmp(c->action, "list")) return list_of_server(c);
    if (!cli_is_here(&c->common,
                     strcmp(c->action, "set") ? "`pawl secret remove`" : "`pawl secret set`")) {
        return EXIT_USAGE;
    }
    const char *url = cli_store_url(c->common.store);
    if (!store_url_is_durable(url)) {
        options_complain(&command_secret, "the store %s keeps nothing.", url);
        return EXIT_USAGE;
    }
    bool sets = !strcmp(c->action, "set");
    Store *store = sets ? NULL : store_open(url, STORE_EXISTING, &err);
    char *own = c->common.key_file ? NULL : secret_key_file(environ);
    Vault vault = {store ? store_folder(store, &err) : NULL,
                   c->common.key_file ? c->common.key_file : own};
    bool fine = sets                         ? set(c, &vault, url, &err)
                : !vault.folder              ? false
                : !strcmp(c->action, "list") ? list(c, &vault, &err)
                                             : remove_one(c, &vault, &err);
    int code = fine ? EXIT_OK : cli_fail(&c->common, &err);
    store_close(store);
    mem_free(own);
    return code;
}

/* ---- the row ---- */

const Command command_secret = {
    .name = "secret",
    .summary = "keep secrets for workflows in a store",
    .arguments = "set|list|remove [NAME]",
    .description =
        "Keeps values that workflows use as $secrets.NAME in a store, each of them encrypted with a "
        "key that is in a file of its own.\n\n"
        "`set` reads the value from standard input, without the line break at its end; at a terminal "
        "it asks for it and shows nothing of what is typed. It never takes the value from the command "
        "line, where others could see it. The key is made when it is first needed. `list` writes the "
        "names, and needs no key; nothing ever writes a value.\n\n"
        "A secret is looked for in the folder of --secrets first, then in the variable "
        "PAWL_SECRET_NAME, then in the store. Exit codes: 0, done; 1, it cannot be done; 2, the "
        "command line is wrong, or there is no such secret or store; 5, the store cannot be read.",
    OPTIONS(STORE_ROW, SERVER_ROWS, KEY_FILE_ROW, JSON_ROW("of `list`: as an array of {name, at}")),
    EXAMPLES({"pawl secret set DEPLOY_TOKEN < token.txt", "keep the text of a file"},
             {"pawl secret list", "the names of those that the store has"},
             {"pawl secret remove DEPLOY_TOKEN", "forget it"}),
    .completes = COMPLETE_WORDS,
    .words = "set list remove",
    .args = sizeof(SecretCommand),
    .handle = on_word,
    .act = act,
};
