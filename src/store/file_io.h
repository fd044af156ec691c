/* file_io.h - reading and writing files by place, with fault points. */
#ifndef PAWL_STORE_FILE_IO_H
#define PAWL_STORE_FILE_IO_H

#include "buf.h"
#include "error.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>

/* Reads by place through one buffer. */
typedef struct Reader {
    int fd;
    size_t ahead; /* bytes to read at least; 0: READER_NEAR */
    uint64_t at;  /* where the bytes in buf lie */
    Buf buf;
} Reader;

enum { READER_NEAR = 4096, READER_FAR = 1 << 18 };

/* len bytes at `at`, lent until the next call; NULL (errno 0 at the end of the file) otherwise. */
const char *reader_get(Reader *r, uint64_t at, size_t len);
/* The same and whatever more there is in the buffer: *len is set to it. */
const char *reader_some(Reader *r, uint64_t at, size_t *len);
/* The first place at or after `at` that may hold anything but zeros: a file can be mostly holes, and longer than
 * anybody could read. UINT64_MAX: there is none. */
uint64_t reader_data(const Reader *r, uint64_t at);
void reader_forget(Reader *r); /* what it has read may have changed */
void reader_clear(Reader *r);  /* does not close fd */

/* Opens a file of a store, as open() does. A store may lie where others put things: a link is not followed
 * (ELOOP), what is no regular file is refused without waiting for it (ENXIO), and a new file is for nobody
 * but us. -1 with errno. */
int open_regular(const char *path, int flags);

/* False with errno; what was written up to then stays. Pass store.write and store.sync. */
bool file_write(int fd, const char *bytes, size_t len, uint64_t at);
bool file_sync(int fd);

/* A whole file of at most max bytes; false with errno (EFBIG: it is longer). */
bool file_read_whole(const char *path, size_t max, Buf *out);
/* Makes a whole file durable under its name at once, or not at all; false with errno. */
bool file_replace(const char *path, const char *bytes, size_t len);

#endif
