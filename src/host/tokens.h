/* tokens.h - who may ask a server for what: bearer tokens, kept in the folder of a store.
 *
 *     FOLDER/tokens     {"format": 1, "last": 3, "tokens": [{"id", "name", "scope", "hash", "created", "expires"?}]}
 *
 * A token is 256 random bits as text, "pawl_" and 43 letters; what is kept is its SHA-256, so a copy of the store lets nobody
 * in. It is shown once, when it is made. A scope holds those before it: read, run, debug, admin. Any thread may call, but a
 * TokenSet is of one.
 */
#ifndef PAWL_TOKENS_H
#define PAWL_TOKENS_H

#include "error.h"
#include "json.h"

#define TOKEN_SHAPE "{id: text, name: text, scope: text, created: time, expires?: time}"

enum { TOKEN_TEXT = 49 }; /* bytes of a token, and the NUL */

typedef struct TokenMake {
    const char *name;  /* 1 to 60 bytes, for people; not like an id, "t7" */
    const char *scope; /* "read", "run", "debug", "admin" */
    int64_t expires;   /* ms since 1970; 0: never */
} TokenMake;

/* The entry, as TOKEN_SHAPE has it, given; the token itself in text. JSON_NONE on error: ERR_EXISTS for a name that is
 * taken. */
Json tokens_make(const char *folder, const TokenMake *make, char text[TOKEN_TEXT], Error *err);
/* An array of entries, given. JSON_NONE on error. */
Json tokens_list(const char *folder, Error *err);
/* By id or name. False: there is none (ERR_NOT_FOUND), or it failed. */
bool tokens_revoke(const char *folder, const char *which, Error *err);

/* ---- to ask who has come ---- */

typedef struct TokenSet TokenSet;

/* Whoever a token is of; strings are of the set, until it is looked at again. */
typedef struct TokenOwner {
    const char *id, *name, *scope;
} TokenOwner;

TokenSet *token_set_new(const char *folder);
void token_set_free(TokenSet *set); /* accepts NULL */
/* Whether the text is a token that counts now. The file is read again when it has changed, at most once in a second (twenty times for a token that is not known), so a
 * token that is revoked is good for a second more at most. Compares with all of them in constant time. */
bool token_set_find(TokenSet *set, const char *text, size_t len, TokenOwner *out);
/* Whether the token of this id counts now, read again likewise: for whoever stays connected. */
bool token_set_has(TokenSet *set, const char *id);

#endif
