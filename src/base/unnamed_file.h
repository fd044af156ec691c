/* unnamed_file.h - a file without a name, for what is given to another process.
 *
 * It is in memory (memfd), or where that is forbidden, a file in a folder that nobody can find there. It goes with the
 * last descriptor of it. Any thread may call. Errors are in errno.
 */
#ifndef PAWL_UNNAMED_FILE_H
#define PAWL_UNNAMED_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* An empty one, open for reading and writing; -1: none. name is for those who look at our descriptors; folder: NULL is
 * /tmp. */
int unnamed_file_new(const char *name, const char *folder);

/* Writes all of the bytes behind what is there. */
bool unnamed_file_add(int file, const char *bytes, size_t len);

#endif
