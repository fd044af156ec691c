/* folders.h - folders and whole files. */
#ifndef PAWL_STORE_FOLDERS_H
#define PAWL_STORE_FOLDERS_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/* Makes a folder and those above it; false with errno when it is not there in the end. */
bool folder_make(const char *path);
/* Removes a folder and all in it, or a file; what cannot be removed stays. Links are removed, not followed, also those that
 * somebody puts there meanwhile, and nothing is removed of what is mounted there. It takes as long as there are files: not on
 * the loop where a command could put them there (engine/errand.h). Any thread. */
void folder_remove(const char *path);
/* The folder that a path is in ("." when it names none), given. */
char *folder_of(const char *path);
/* Makes what was created or renamed in a folder durable. */
bool folder_sync(const char *path);

/* Whether a store may be kept in this folder: it is ours alone, or one like /tmp, where nobody can take away
 * what is another's; one that is not there yet will be ours. False with *err set. */
bool folder_is_safe(const char *path, Error *err);
/* Whether what has this name, if anything, can be opened without waiting for it. False with *err set. */
bool path_is_file(const char *path, Error *err);
/* Whether what has this name, if anything, is ours, cannot be written by others, and is no link: whoever planted
 * one would have us write elsewhere. False with *err set. */
bool path_is_safe(const char *path, Error *err);

/* Where results of a run are kept, in the folder of its store. Given. */
char *store_results_folder(const char *folder, int64_t run);
char *path_join(const char *folder, const char *name); /* given: folder/name */
char *path_with(const char *path, const char *suffix); /* given: pathsuffix */

#endif
