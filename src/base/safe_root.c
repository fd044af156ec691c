#define _GNU_SOURCE
#include "safe_root.h"

#include "buf.h"
#include "mem.h"
#include "path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The header that has these is newer than some C libraries. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
enum { RESOLVE_NO_MAGIC = 0x02, RESOLVE_INSIDE = 0x08, TRIES = 16 };

struct SafeRoot {
    int fd;
    char *name;  /* as it was given */
    char *whole; /* the same as a whole path */
    char *here;  /* where relative paths begin */
    char *real;  /* without links */
};

/* ---- names ---- */

static char *whole_path(const char *here, const char *path) {
    Buf whole = BUF_INIT;
    bool relative = path[0] != '/';
    buf_printf(&whole, "%s%s%s", relative ? here : "", relative ? "/" : "", path);
    char *text = buf_detach(&whole);
    path_tidy(text);
    size_t len = strlen(text);
    if (len > 1 && text[len - 1] == '/') text[len - 1] = '\0';
    return text;
}

/* What follows the folder in a path; NULL when it does not begin with it. */
static const char *behind(const char *folder, const char *path) {
    size_t len = strlen(folder);
    if (len == 1) return path[1] ? path + 1 : "."; /* all there is */
    if (strncmp(path, folder, len) != 0 || (path[len] && path[len] != '/')) return NULL;
    return path[len] && path[len + 1] ? path + len + 1 : ".";
}

/* The name within the folder, given; NULL: it is outside. */
static char *inside(const SafeRoot *root, const char *path) {
    char *whole = whole_path(root->here, path);
    const char *rest = behind(root->whole, whole);
    rest = rest ? rest : behind(root->real, whole);
    char *name = rest ? mem_strdup(rest) : NULL;
    mem_free(whole);
    return name;
}

static int outside(const SafeRoot *root, const char *path, Error *err) {
    error_set(err, ERR_IO, "%s is outside of the folder %s, which files have to be in.", path,
              root->name);
    errno = EXDEV;
    return -1;
}

/* ---- opening ---- */

/* Name by name, without any links. */
static int walk(int folder, char *name, int flags) {
    int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    for (char *part = name, *slash; at >= 0 && part; part = slash ? slash + 1 : NULL) {
        slash = strchr(part, '/');
        if (slash) *slash = '\0';
        int next =
            openat(at, part, O_NOFOLLOW | O_CLOEXEC | (slash ? O_PATH | O_DIRECTORY : flags));
        int error = errno;
        close(at);
        errno = error;
        at = next;
    }
    return at;
}

static int open_inside(const SafeRoot *root, char *name, int flags) {
    struct {
        uint64_t flags, mode, resolve;
    } how = {(uint64_t)(unsigned)flags, 0, RESOLVE_INSIDE | RESOLVE_NO_MAGIC};
    int fd = -1, tries = TRIES; /* EAGAIN: somebody moves things there just now */
    do {
        fd = (int)syscall(SYS_openat2, root->fd, name, &how, sizeof how);
    } while (fd < 0 && (errno == EAGAIN || errno == EINTR) && --tries);
    return fd < 0 && (errno == ENOSYS || errno == EPERM) ? walk(root->fd, name, flags) : fd;
}

int safe_root_open(const SafeRoot *root, const char *path, int flags, Error *err) {
    char *name = inside(root, path);
    if (!name) return outside(root, path, err);
    int fd = open_inside(root, name, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int error = errno;
    mem_free(name);
    if (fd < 0 && error == EXDEV) return outside(root, path, err);
    if (fd < 0) error_set(err, ERR_IO, "Cannot open %s: %s.", path, strerror(error));
    errno = error;
    return fd;
}

char *safe_root_path(const SafeRoot *root, const char *path, Error *err) {
    int fd = safe_root_open(root, path, O_RDONLY, err);
    if (fd < 0) return NULL;
    close(fd);
    char *name = inside(root, path);
    Buf whole = BUF_INIT;
    buf_printf(&whole, "%s%s%s", root->real, root->real[1] ? "/" : "", name);
    mem_free(name);
    return buf_detach(&whole);
}

/* ---- life ---- */

SafeRoot *safe_root_new(const char *folder, const char *here, Error *err) {
    char *whole = whole_path(here, folder), *real = realpath(whole, NULL);
    int fd = real ? open(real, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0) {
        error_set(err, ERR_IO, "Cannot open the folder %s: %s.", folder, strerror(errno));
        mem_free(whole);
        free(real);
        return NULL;
    }
    SafeRoot *root = mem_alloc(sizeof *root);
    *root = (SafeRoot){fd, mem_strdup(folder), whole, mem_strdup(here), mem_strdup(real)};
    free(real);
    return root;
}

void safe_root_free(SafeRoot *root) {
    if (!root) return;
    close(root->fd);
    mem_free(root->name);
    mem_free(root->whole);
    mem_free(root->here);
    mem_free(root->real);
    mem_free(root);
}

const char *safe_root_name(const SafeRoot *root) {
    return root->name;
}
