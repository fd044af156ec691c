/* admin_operations.c - what belongs to a store and to none of its runs: who may ask a server, and the names of secrets. */
#include "operation.h"

#include "args.h"
#include "json_build.h"
#include "tokens.h"
#include "vault.h"

static Json list_tokens(Store *store, Json args, Error *err) {
    const char *folder = store_folder(store, err);
    Json list = folder ? tokens_list(folder, err) : json_none();
    (void)args;
    return json_is_none(list) ? list : OBJECT(KEY("tokens", list));
}

static Json make_token(Store *store, Json args, Error *err) {
    const char *folder = store_folder(store, err);
    char text[TOKEN_TEXT];
    int64_t expires = 0;
    Json when = json_object_get_c(args, "expires");
    if (!json_is_none(when) && !json_time_ms(when, &expires)) {
        error_set(err, ERR_USAGE,
                  "`expires` of `token_make` must be a time, like 2030-01-31T00:00:00Z.");
        error_fact(err, "field", "expires");
        return json_none();
    }
    TokenMake make = {json_object_text(args, "name"), json_object_text(args, "scope"), expires};
    Json entry = folder ? tokens_make(folder, &make, text, err) : json_none();
    Json out = json_is_none(entry) ? entry : OBJECT_ADD(entry, KEY("token", (const char *)text));
    explicit_bzero(text, sizeof text);
    return out;
}

static Json revoke_token(Store *store, Json args, Error *err) {
    const char *folder = store_folder(store, err), *id = json_object_text(args, "id");
    return folder && tokens_revoke(folder, id, err) ? OBJECT(KEY("revoked", id)) : json_none();
}

static Json list_secrets(Store *store, Json args, Error *err) {
    const char *folder = store_folder(store, err);
    Vault vault = {folder, NULL};
    Json list = folder ? vault_list(&vault, err) : json_none();
    (void)args;
    return json_is_none(list) ? list : OBJECT(KEY("secrets", list));
}

const Operation admin_operations[] = {
    {.name = "tokens",
     .summary = "list the tokens that a server lets in",
     .scope = SCOPE_ADMIN,
     .route = "GET /tokens",
     .idempotent = true,
     .answer = "{tokens: [" TOKEN_SHAPE "]}",
     .read = list_tokens,
     .need = HOST_CREATES},
    {.name = "token_make",
     .summary = "make a token; it is shown this once",
     .scope = SCOPE_ADMIN,
     .route = "POST /tokens",
     .args = ARGS({"name", ARG_TEXT, .about = "whose it is, for people", .required = true},
                  {"scope", ARG_TEXT, .about = "what it is good for", .required = true,
                   .words = operation_scope_names},
                  {"expires", ARG_TEXT, .about = "a time; left out, never"}),
     .answer = "{id: text, name: text, scope: text, created: time, expires?: time, token: text}",
     .read = make_token,
     .need = HOST_CREATES},
    {.name = "token_revoke",
     .summary = "end a token",
     .scope = SCOPE_ADMIN,
     .route = "DELETE /tokens/{id}",
     .args = ARGS({"id", ARG_TEXT, .about = "its id or name", .required = true}),
     .answer = "{revoked: text}",
     .read = revoke_token,
     .need = HOST_WRITES},
    {.name = "secrets",
     .summary = "list the names of the secrets that the store keeps",
     .scope = SCOPE_ADMIN,
     .route = "GET /secrets",
     .idempotent = true,
     .answer = "{secrets: [{name: text, at: time}]}",
     .read = list_secrets,
     .need = HOST_CREATES},
    {0},
};
