/* safe_file.h - files and folders that somebody else may have put there.
 *
 * Whoever can write to a folder can leave anything in it: a link to a file of ours, a FIFO that never gives
 * a byte, a device, a file without end. So such files are opened here, and nowhere with open() itself:
 *
 *     int place = safe_folder(AT_FDCWD, path, &err);                   ours alone, or refused
 *     int fd = safe_open(place, "out", O_RDONLY, SAFE_OURS, &err);     a regular file, or refused
 *     bool all = safe_read(place, "status", SAFE_OURS, 256, &text, &err);
 *     int new = safe_create(place, "status", &err);                    was not there before
 *
 * No call but safe_read_given() waits, whatever the name stands for. A name is looked up from an open folder (AT_FDCWD: the
 * current one). A file or folder is *ours* when its owner is who we are, or root. A folder is ours alone
 * when nobody else can write to it either: not others, and not a group, but for the group of just this
 * user, which has the same number.
 *
 * On failure errno says why: as open() does, ELOOP for a link, EPERM for what is not ours, ENXIO for what is
 * no regular file, ENOTDIR for what is no folder, EFBIG for what is too long. *err has a sentence, ERR_IO or,
 * for what is too long, ERR_LIMIT; what is not ours has the fact `foreign`, its path.
 *
 * Any thread may call.
 */
#ifndef PAWL_SAFE_FILE_H
#define PAWL_SAFE_FILE_H

#include "buf.h"
#include "error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    SAFE_OURS = 1,   /* of somebody else: refused */
    SAFE_FOLLOW = 2, /* a link at the end of the name is followed: for files that people name */
};

/* A regular file that is there. flags: O_RDONLY, O_WRONLY or O_RDWR, and O_APPEND. The descriptor is
 * closed on exec. -1: none. */
int safe_open(int folder, const char *name, int flags, int rules, Error *err);

/* A file that is not there yet, for reading and writing; nobody else can read it. -1: none. */
int safe_create(int folder, const char *name, Error *err);

/* All of a regular file, which is added to *out: at most `max` bytes of it, a longer one is refused. */
bool safe_read(int folder, const char *name, int rules, size_t max, Buf *out, Error *err);
/* The same of one that is open already, from its first byte on, without moving its offset. `name` is for the
 * sentence. */
bool safe_read_fd(int fd, const char *name, size_t max, Buf *out, Error *err);

/* The same of a file that people name on the command line: one that is regular, wherever links lead to it, or a pipe,
 * terminal or device that whoever starts us has opened for us, as `<(...)` of a shell does. That is waited for. */
bool safe_read_given(const char *path, size_t max, Buf *out, Error *err);
/* Whether a path names such a descriptor: /dev/stdin, /dev/fd/N. */
bool safe_is_descriptor(const char *path);

/* The one place where owners are judged, by what fstat() or lstat() said: whether it is ours; and whether, besides,
 * nobody else can write to it. sticky: one like /tmp will do, where others cannot take away what is not theirs.
 * False: EPERM. */
struct stat;
bool safe_is_ours(const struct stat *st, const char *name, Error *err);
bool safe_is_ours_alone(const struct stat *st, const char *name, bool sticky, Error *err);

/* Takes the rights of others to read from a file or folder of ours: what an earlier version made. Nothing is said
 * where that is impossible, and nothing is done to what is another's, what is a link, and what others can write to:
 * that is refused instead. It opens no descriptor that would take locks with it when it is closed. */
void safe_close_to_others(const char *path);

/* A folder that is ours alone, and no link to one. -1: none. */
int safe_folder(int folder, const char *name, Error *err);
/* Whether one that is open already is that. */
bool safe_folder_is_ours(int fd, const char *name, Error *err);
/* The same, or one like /tmp: others can put things there, but not take away or rename what is not theirs. */
int safe_parent(int folder, const char *name, Error *err);
/* Makes a folder for nobody but us. One that is there already will do if it is ours alone. -1: none; otherwise
 * it is open, and *made (may be NULL) says whether it is new. */
int safe_folder_make(int folder, const char *name, bool *made, Error *err);

#endif
