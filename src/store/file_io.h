/* file_io.h - reading and writing files by place, with fault points. */
#ifndef PAWL_STORE_FILE_IO_H
#define PAWL_STORE_FILE_IO_H

#include "buf.h"
#include "error.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>

/* How the files of a store are opened: none of them is a link, and none that somebody planted is waited for. */
enum { FILE_CAREFULLY = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK };

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
void reader_forget(Reader *r); /* what it has read may have changed */
void reader_clear(Reader *r);  /* does not close fd */

/* False with errno; what was written up to then stays. Pass store.write and store.sync. */
bool file_write(int fd, const char *bytes, size_t len, uint64_t at);
bool file_sync(int fd);

/* A whole small file; false with errno. */
bool file_read_whole(const char *path, Buf *out);
/* Makes a whole file durable under its name at once, or not at all; false with errno. */
bool file_replace(const char *path, const char *bytes, size_t len);

#endif
