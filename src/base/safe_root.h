/* safe_root.h - a folder that files are confined to, whatever their names say.
 *
 *     SafeRoot *root = safe_root_new("flows", "/home/me", &err);
 *     int fd = safe_root_open(root, "flows/parts/a.yaml", O_RDONLY, &err);     inside, or refused
 *     safe_root_free(root);
 *
 * A path is a whole one, or begins in a folder that is said once; the root may be written in either way, too. Where it leads is
 * the kernel's word (openat2, beneath): neither ".." nor links lead out, whoever moves them meanwhile. A kernel that does
 * not have that call walks the path name by name, and follows no links at all.
 *
 * Immutable; any thread may call. The folder stays open.
 */
#ifndef PAWL_SAFE_ROOT_H
#define PAWL_SAFE_ROOT_H

#include "error.h"

typedef struct SafeRoot SafeRoot;

/* here: a whole path, in which relative ones begin. */
SafeRoot *safe_root_new(const char *folder, const char *here, Error *err);
void safe_root_free(SafeRoot *root); /* accepts NULL */

const char *safe_root_name(const SafeRoot *root); /* as it was given */

/* flags: as of open(), but nothing is made; nothing is waited for, and the descriptor is closed on exec. -1 with errno
 * and a sentence: EXDEV for what is outside. */
int safe_root_open(const SafeRoot *root, const char *path, int flags, Error *err);

/* A whole path to the same, for who opens it by its name: given; NULL, with *err set, when it is outside or not there.
 * Who can move things in the folder can change where the name leads until then. */
char *safe_root_path(const SafeRoot *root, const char *path, Error *err);

#endif
