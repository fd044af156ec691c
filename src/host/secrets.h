/* secrets.h - where the secrets of the runs that a host holds come from, in this order:
 *
 *     a folder       a file NAME for each, as Docker, Kubernetes and systemd have them
 *     the environment  PAWL_SECRET_NAME of this process, which no run inherits
 *     the store        vault.h
 *
 * One newline at the end of a file is not part of the secret. A source that has a secret and cannot give it is an error,
 * and no other is asked then.
 */
#ifndef PAWL_HOST_SECRETS_H
#define PAWL_HOST_SECRETS_H

#include "buf.h"
#include "error.h"

#include <stdbool.h>

#define SECRET_VARIABLE "PAWL_SECRET_"

typedef struct SecretPlaces {
    const char *folder;       /* NULL: none */
    char *const *environment; /* "NAME=value", NULL at the end; NULL: none */
    const char *store_folder; /* NULL: none */
    const char *key_file;     /* NULL: none */
} SecretPlaces;

/* As SecretSource.find() of engine.h. */
bool secret_find(const SecretPlaces *places, const char *name, Buf *value, Error *err);

/* Takes one line break from the end: "\n" or "\r\n". */
void secret_trim(Buf *value);

/* PAWL_KEY_FILE, or pawl/key in XDG_CONFIG_HOME or ~/.config. Given; NULL: it cannot be known. */
char *secret_key_file(char *const *environment);

#endif
