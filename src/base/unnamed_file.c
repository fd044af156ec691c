#define _GNU_SOURCE
#include "unnamed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int unnamed_file_new(const char *name, const char *folder) {
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return file >= 0 ? file : open(folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0700);
}

bool unnamed_file_add(int file, const char *bytes, size_t len) {
    for (size_t at = 0; at < len;) {
        ssize_t n = write(file, bytes + at, len - at);
        if (n > 0) {
            at += (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            errno = n < 0 && errno ? errno : EIO;
            return false;
        }
    }
    return true;
}
