/* registry.h - workflows that have a name, so that a run of one can be asked for without sending it.
 *
 * They come from two places:
 *
 *     a folder      NAME.yaml, NAME.yml and NAME.json in it; looked at each time, so what somebody edits counts at once.
 *                   The parts that they name may be anywhere a workflow's parts may be
 *     the store     put there by a client, with all versions: FOLDER/workflows/NAME, numbered from 1. What a run began
 *                   with is the run's own, whatever becomes of them
 *
 * Of the folder only regular files count, and links to such, whose names are names with one of these endings in small
 * letters; folders in it are not looked into, since parts of workflows may be there. Of two files with one name, .yaml comes
 * before .yml and that before .json. What has such an ending and does not count is listed as left out, with the reason.
 *
 * A name is 1 to 100 letters, digits, `-`, `_` and `.`, and begins with a letter or digit. One that is in the folder hides one
 * in the store, and cannot be put or deleted there: its file is what counts. Any thread may call; every call reads files.
 */
#ifndef PAWL_REGISTRY_H
#define PAWL_REGISTRY_H

#include "bounds.h"
#include "error.h"
#include "json.h"

#include <stdbool.h>

/* Of one that is listed: without its text. */
#define REGISTERED_SHAPE \
    "{name: text, source: \"folder\"|\"store\", file?: text, version?: int, updated: time}"

enum {
    REGISTRY_VERSIONS = 200,   /* of one workflow: the oldest goes when there are more */
    REGISTRY_BYTES = 16 << 20, /* of all versions of one */
    REGISTRY_WORKFLOWS = 10000,
    REGISTRY_LEFT_OUT = 1000, /* that are listed */
};

typedef struct Registry {
    const char *folder; /* that is looked at; NULL: none */
    const char *store;  /* the folder of the store */
    Bounds bounds;      /* of what is read there */
    const Bounds *runs; /* of what is put there; NULL: nothing is */
} Registry;

bool registry_name_is_valid(const char *name);

/* What has the ending of a workflow in the folder, and is none that can be named. */
#define LEFT_OUT_SHAPE "{file: text, why: text}"

/* {workflows: [REGISTERED_SHAPE], left_out?: [LEFT_OUT_SHAPE]}, by name, given. JSON_NONE on error. */
Json registry_list(const Registry *r, Error *err);

/* {name, source, ..., definition, versions: [{version, at, by?}]}. version 0: the newest. What cannot be loaded has no
 * `definition` but `text`, that of its file. ERR_NOT_FOUND with the nearest name. */
Json registry_get(const Registry *r, const char *name, int64_t version, Error *err);

/* Its definition alone, as runs begin with it; JSON_NONE on error: there is none, or its file is no workflow. */
Json registry_definition(const Registry *r, const char *name, int64_t version, Error *err);

/* A new version, ERR_LIMIT for one workflow more than REGISTRY_WORKFLOWS; the same as the newest makes none. The number of the newest, or 0 on error. Borrows the definition, which
 * is a workflow (the caller has loaded it). by: whoever puts it; NULL: nobody said. */
int64_t registry_put(const Registry *r, const char *name, Json definition, const char *by,
                     Error *err);
bool registry_delete(const Registry *r, const char *name, Error *err);

#endif
