/* process_place.h - the folder of a process (process.h), made and read.
 *
 * The files of a place are for whoever finds the process after we are gone. The child runs as the same user
 * and can do to them what it likes, and so may others where the folder is not ours alone: all of them are
 * read as safe_file.h does, nothing in them is believed before it is checked, and a number of a process in
 * them is a hint that the kernel has to confirm.
 *
 * Two bytes of PLACE_LOCK are locked. The first belongs to whoever works at the place: its starter, then,
 * through the descriptor that it inherits, the supervisor. The second is locked by the supervisor itself, so
 * that the kernel knows its number.
 */
#ifndef PAWL_PROCESS_PLACE_H
#define PAWL_PROCESS_PLACE_H

#include "process.h"

#include <sys/types.h>

typedef enum PlaceFile {
    PLACE_NONE,    /* it is not there */
    PLACE_FINE,    /* it is, and says what it should */
    PLACE_DAMAGED, /* it is there, and is none that we, or the supervisor, made */
} PlaceFile;

/* What PLACE_STATUS says. */
typedef struct PlaceStatus {
    ProcessEnd end;
    int code;
    uint64_t len[2], kept[2]; /* bytes of output and errors: in all, and in the files */
    int64_t started, finished;
} PlaceStatus;

/* Opens the folder; with make (not NULL), makes it if need be and says whether it did. -1 with *err set: it cannot be, or it or the folder that
 * it is in is not ours alone. errno is ENOENT when it is not there. */
int process_place_open(const char *path, bool *make, Error *err);
/* PLACE_LOCK, made if need be. -1 with *err set. */
int process_place_open_lock(int place, const char *path, bool make, Error *err);
/* True once nobody works at the place any more; then we do, until the descriptor is closed. */
bool process_place_take(int lock);

/* What the texts of the files say; false when they say nothing that can be. */
bool process_place_parse_status(const char *text, size_t len, PlaceStatus *out);
bool process_place_parse_lock(const char *text, size_t len, pid_t *supervisor, pid_t *child);

PlaceFile process_place_read_status(int place, PlaceStatus *out);
/* Whether a child was ever about to be started: PLACE_LOCK is not empty. */
bool process_place_was_used(int lock);
/* What is kept of a stream (0: output, 1: errors): at most `max` bytes of its beginning, and of what came after the
 * last PROCESS_TAIL bytes, some of which may be in a ring behind what is kept. False when the file is not what the
 * status says. */
bool process_place_read_stream(int place, int stream, const PlaceStatus *status, size_t max,
                               Buf *out, Buf *tail);
/* Bytes of a stream from `at` on, at most `max` of them: for those who look while it runs. */
size_t process_place_read_some(const char *path, int stream, uint64_t at, size_t max, Buf *out);

/* The supervisor that holds the lock, and the child of such a one: as the kernel knows them, 0 for none. */
pid_t process_place_supervisor(int lock);
pid_t process_place_child(int lock, pid_t supervisor);
/* A signal to that supervisor; false when there is none, or it is another user's. */
bool process_place_signal(int lock, int signal_number);

/* Removes the files, and the folder when nothing else is in it. */
void process_place_remove(const char *path);
/* Removes what an earlier start that came to nothing has left. We hold the lock. */
void process_place_clear(int place);

#endif
