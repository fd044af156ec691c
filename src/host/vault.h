/* vault.h - secrets that are kept in a store: one file in the store's folder, each value encrypted.
 *
 *     FOLDER/secrets        {"format": 1, "key": ID, "secrets": {NAME: {"value": BASE64, "at": TIME}}}
 *     KEY FILE              "pawl-key-1 " and 64 hexadecimal digits; of mode 0600, somewhere else
 *
 * A value is encrypted by AES-256-GCM with a nonce of its own; its name is authenticated with it, so that no value can
 * be given another name. ID tells which key a file needs without telling the key. Names are in the clear: to list them
 * takes no key. The key protects a store that is copied or backed up, not from programs of the same user.
 *
 * A file that does not fit is refused whole, with a sentence that names it (ERR_SECRET; facts `key_file`, `secrets_file`);
 * nothing of it is ever shown. Changes are made under a lock and appear at once, by a rename. Any thread may call.
 */
#ifndef PAWL_VAULT_H
#define PAWL_VAULT_H

#include "buf.h"
#include "error.h"
#include "json.h"

enum { SECRET_MAX = 64 << 10 }; /* bytes of a value */

typedef struct Vault {
    const char *folder;   /* of the store */
    const char *key_file; /* NULL: it is not known where that is */
} Vault;

/* Makes the key file if there is none: for a store that is not there yet, and that nothing can be encrypted in
 * without. v->folder is not looked at. False when there is no key that can be used. */
bool vault_make_key(const Vault *v, Error *err);
/* Makes the key file if there is none and nothing was encrypted with another one. */
bool vault_set(const Vault *v, const char *name, const char *value, size_t len, Error *err);
/* Appends the value. False: there is none, or, with *err set, it cannot be had. */
bool vault_get(const Vault *v, const char *name, Buf *value, Error *err);
/* [{name, at}], by name; given. JSON_NONE on error. */
Json vault_list(const Vault *v, Error *err);
/* False with *err set; *was says whether there was one. */
bool vault_remove(const Vault *v, const char *name, bool *was, Error *err);

/* For the fuzzer: what a text says as such a file; JSON_NONE with *err set when it is none. Given. */
Json vault_parse(const char *text, size_t len, Error *err);

#endif
