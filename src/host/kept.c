#include "kept.h"

#include "buf.h"
#include "json_parse.h"
#include "json_print.h"
#include "json_shape.h"
#include "safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_ROOM = 200 };

static bool fail(const KeptFile *file, Error *err, ErrorCode code, const char *why) {
    error_set(err, code, "%s, %s/%s, %s.", file->what, file->folder, file->name, why);
    return false;
}

Json kept_parse(const KeptFile *file, const char *text, size_t len, Error *err) {
    Json all = json_parse(text, len, NULL, NULL), format = json_object_get_c(all, "format");
    Shape *shape = shape_compile(file->shape, NULL, NULL);
    if (json_tag(format) == JSON_TAG_INT && format.i > file->format) {
        fail(file, err, ERR_DATA, "is of a newer version of Pawl");
        json_clear(&all);
    } else if (json_kind(all) != JSON_OBJECT || !shape_check(shape, all, NULL)) {
        fail(file, err, ERR_DATA, "is damaged");
        json_clear(&all);
    }
    shape_free(shape);
    return all;
}

static Json read_in(const KeptFile *file, int folder, Error *err) {
    Buf text = BUF_INIT;
    Error why = ERROR_INIT;
    Json all = json_none();
    if (safe_read(folder, file->name, SAFE_OURS, file->max, &text, &why)) {
        all = kept_parse(file, text.data ? text.data : "", text.len, err);
    } else if (errno != ENOENT && err) {
        *err = why;
        error_wrap(err, "%s cannot be read", file->what);
    }
    buf_clear(&text);
    return all;
}

Json kept_read(const KeptFile *file, Error *err) {
    int folder = safe_folder(AT_FDCWD, file->folder, err);
    if (folder < 0) {
        if (errno == ENOENT && err) error_clear(err);
        return json_none();
    }
    Json all = read_in(file, folder, err);
    close(folder);
    return all;
}

static bool write_all(int fd, const char *bytes, size_t len) {
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static bool write_in(const KeptFile *file, int folder, Json all, Error *err) {
    char fresh[NAME_ROOM];
    Buf text = BUF_INIT;
    json_print(all, &(JsonPrintOptions){.indent = 2}, &text);
    buf_addc(&text, '\n');
    if (text.len > file->max) {
        buf_clear(&text);
        return fail(file, err, ERR_LIMIT, "would be longer than it may be");
    }
    snprintf(fresh, sizeof fresh, "%s.new", file->name);
    unlinkat(folder, fresh, 0); /* of one that died; we have the lock */
    int fd = safe_create(folder, fresh, NULL);
    bool fine = fd >= 0 && write_all(fd, text.data, text.len) && fsync(fd) == 0 &&
                renameat(folder, fresh, folder, file->name) == 0 && fsync(folder) == 0;
    if (!fine) {
        char why[NAME_ROOM];
        int failed = errno;
        snprintf(why, sizeof why, "cannot be written: %s", strerror(failed));
        unlinkat(folder, fresh, 0);
        fail(file, err, ERR_IO, why);
        error_fact_full(err, failed);
    }
    if (fd >= 0) close(fd);
    buf_clear(&text);
    return fine;
}

bool kept_change(const KeptFile *file, KeptChange change, void *ctx, Error *err) {
    char name[NAME_ROOM];
    Error own = ERROR_INIT, *e = err ? err : &own;
    int folder = safe_folder(AT_FDCWD, file->folder, e);
    if (folder < 0) return false;
    snprintf(name, sizeof name, "%s.lock", file->name);
    int lock = safe_create(folder, name, e);
    if (lock < 0 && errno == EEXIST) {
        error_clear(e);
        lock = safe_open(folder, name, O_RDWR, SAFE_OURS, e);
    }
    while (lock >= 0 && flock(lock, LOCK_EX) != 0 && errno == EINTR) {}
    Json old = lock < 0 ? json_none() : read_in(file, folder, e);
    bool fine = lock >= 0 && e->code == ERR_NONE;
    Json next = fine ? change(ctx, old, e) : json_none();
    fine = fine && e->code == ERR_NONE && (json_is_none(next) || write_in(file, folder, next, e));
    json_unref(next);
    json_unref(old);
    if (lock >= 0) close(lock);
    close(folder);
    return fine;
}

int64_t kept_changed(const KeptFile *file) {
    struct stat st;
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", file->folder, file->name);
    if (n < 0 || (size_t)n >= sizeof path || lstat(path, &st) != 0) return 0;
    /* Clocks of file systems tick slowly: of two changes in one tick the second has another file. */
    uint64_t at = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    uint64_t which = (uint64_t)st.st_ino * 0x9e3779b97f4a7c15u + (uint64_t)st.st_size;
    return (int64_t)((at ^ which) | 1);
}
