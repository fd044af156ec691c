/* kept.h - a JSON file in the folder of a store: read whole, changed under a lock, replaced at once by a rename.
 *
 *     Json all = kept_read(&file, &err);                           JSON_NONE, and no error: there is none
 *     bool ok = kept_change(&file, change, ctx, &err);             change() gives what it is to hold
 *
 * For small things that belong to a store and to none of its runs: tokens (tokens.h), registered workflows (registry.h).
 * The file has mode 0600 and is ours, or refused (safe_file.h). It says its format, a number; one of a newer version is
 * refused with a sentence, as is one that does not have its shape. Any thread may call.
 */
#ifndef PAWL_KEPT_H
#define PAWL_KEPT_H

#include "error.h"
#include "json.h"

typedef struct KeptFile {
    const char *folder; /* of the store */
    const char *name;   /* of the file in it */
    const char *what;   /* "The file with the store's tokens" */
    size_t max;         /* bytes */
    int64_t format;     /* that this version writes */
    const char *shape;  /* of all of it (json_shape.h) */
} KeptFile;

/* Given; JSON_NONE with *err clear: there is no such file. */
Json kept_read(const KeptFile *file, Error *err);

/* Gives what the file is to hold from now on; `old` is JSON_NONE where there is no file, and borrowed. JSON_NONE with *err
 * clear: nothing is changed. */
typedef Json (*KeptChange)(void *ctx, Json old, Error *err);
bool kept_change(const KeptFile *file, KeptChange change, void *ctx, Error *err);

/* A number that is another one when the file was changed; 0: there is none. Tells whether it has to be read again. */
int64_t kept_changed(const KeptFile *file);

/* For fuzzers: what a text says as such a file. */
Json kept_parse(const KeptFile *file, const char *text, size_t len, Error *err);

#endif
