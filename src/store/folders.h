/* folders.h - folders and whole files. */
#ifndef PAWL_STORE_FOLDERS_H
#define PAWL_STORE_FOLDERS_H

#include "error.h"

#include <stdbool.h>

/* Makes a folder and those above it; false with errno when it is not there in the end. */
bool folder_make(const char *path);
/* Removes a folder and all in it; what cannot be removed stays. */
void folder_remove(const char *path);
/* The folder that a path is in ("." when it names none), given. */
char *folder_of(const char *path);
/* Makes what was created or renamed in a folder durable. */
bool folder_sync(const char *path);

char *path_join(const char *folder, const char *name); /* given: folder/name */
char *path_with(const char *path, const char *suffix); /* given: pathsuffix */

#endif
