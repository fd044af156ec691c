#define _GNU_SOURCE
#include "task_files.h"

#include "exec.h"
#include "folders.h"
#include "mem.h"
#include "safe_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUMMARY     "summary"
#define RESULTS     "results"
#define TEST_RESULT "test-result.md"
#define MASKED      ".pawl-masked" /* what takes the place of a file with secrets in it */

/* ---- where they are ---- */

/* The end of the step's place: what tells its attempt from others of the run. */
static const char *key_of(Step *step) {
    const char *place = step_place(step, NULL), *name = place ? strrchr(place, '/') : NULL;
    const char *dash = name ? strrchr(name, '-') : NULL;
    return dash ? dash + 1 : name ? name + 1 : "task";
}

/* A whole path, since the command runs elsewhere. Given. */
static char *run_folder(Step *step, Error *err) {
    const char *folder = step_run_folder(step, err);
    char *whole = folder ? realpath(folder, NULL) : NULL;
    if (folder && !whole) {
        error_set(err, ERR_IO, "The folder of the run, %s, cannot be used: %s.", folder,
                  strerror(errno));
    }
    return whole;
}

static char *own_folder(Step *step, const char *run) {
    Buf path = BUF_INIT;
    buf_printf(&path, "%s/task-%s", run, key_of(step));
    return buf_detach(&path);
}

static bool make_folder(const char *path, Error *err) {
    return mkdir(path, S_IRWXU) == 0 || errno == EEXIST ||
           error_set(err, ERR_IO, "The folder %s cannot be made: %s.", path, strerror(errno));
}

char *task_files_folder(Step *step, Error *err) {
    char *run = run_folder(step, err), *own = run ? own_folder(step, run) : NULL;
    bool made = own && make_folder(own, err);
    free(run);
    if (!made) mem_free(own);
    return made ? own : NULL;
}

/* ---- giving them ---- */

static bool make_file(const char *path, Error *err) {
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd >= 0) close(fd);
    return fd >= 0 ||
           error_set(err, ERR_IO, "The file %s cannot be made: %s.", path, strerror(errno));
}

/* Under both names, whatever envVars says. */
static bool set_both(StepCommand *command, const char *name, const char *path, Error *err) {
    static const char *const prefixes[] = {"PAWL_", "ASSERTOOR_"};
    bool fine = true;
    for (int i = 0; i < 2 && fine; i++) {
        Json key = json_string_fmt("%s%s", prefixes[i], name);
        fine = command_set_env(command, "The environment", key, path, strlen(path), err);
        json_unref(key);
    }
    return fine;
}

bool task_files_give(StepCommand *command, Error *err) {
    Step *step = command_step(command);
    char *own = task_files_folder(step, err);
    if (!own) return false;
    char *run = folder_of(own);
    char *summary = path_join(own, SUMMARY), *results = path_join(own, RESULTS);
    char *test = path_join(run, TEST_RESULT);
    bool fine = make_file(summary, err) && make_folder(results, err) && make_file(test, err) &&
                set_both(command, "SUMMARY", summary, err) &&
                set_both(command, "RESULT_DIR", results, err) &&
                set_both(command, "TEST_RESULT", test, err);
    mem_free(test);
    mem_free(results);
    mem_free(summary);
    mem_free(run);
    mem_free(own);
    return fine;
}

/* ---- what is in a folder of results ---- */

/* A folder and those around it are opened one by one, so that nothing that is moved or linked meanwhile leads anywhere
 * else. */
typedef struct Walk {
    Step *step;
    size_t files;
    uint64_t bytes;
    size_t left_out;
    bool masks;
} Walk;

/* The file with the same name and without secrets. False: it could not be made. */
static bool mask_file(Walk *w, int folder, const char *name, size_t size) {
    Buf text = BUF_INIT, masked = BUF_INIT;
    bool fine = safe_read(folder, name, SAFE_OURS, size, &text, NULL);
    if (fine && text.len && step_mask(w->step, text.data, text.len, 0, &masked)) {
        unlinkat(folder, MASKED, 0);
        int fd = safe_create(folder, MASKED, NULL);
        fine = fd >= 0 && write(fd, masked.data, masked.len) == (ssize_t)masked.len;
        if (fd >= 0) close(fd);
        fine = fine && renameat(folder, MASKED, folder, name) == 0;
    }
    if (text.data) explicit_bzero(text.data, text.cap);
    buf_clear(&text);
    buf_clear(&masked);
    return fine;
}

static bool name_has_secret(Walk *w, const char *name) {
    Buf masked = BUF_INIT;
    bool has = w->masks && step_mask(w->step, name, strlen(name), 0, &masked);
    buf_clear(&masked);
    return has;
}

static bool keeps_file(Walk *w, int folder, const char *name, const struct stat *st) {
    uint64_t size = (uint64_t)st->st_size;
    if (!S_ISREG(st->st_mode) || w->files == TASK_FILES_MAX ||
        w->bytes + size > TASK_FILES_BYTES_MAX || !strcmp(name, MASKED)) {
        return false;
    }
    if (w->masks && !mask_file(w, folder, name, (size_t)size)) return false;
    w->files++;
    w->bytes += size;
    return true;
}

/* Takes out of a folder what is not kept. The recursion is bounded by the depth; consumes fd. */
static void tidy(Walk *w, int fd, int depth) {
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *name = entry->d_name;
        struct stat st;
        if (!strcmp(name, ".") || !strcmp(name, "..")) continue;
        if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
        bool odd = name_has_secret(w, name);
        if (S_ISDIR(st.st_mode)) {
            int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            bool fits = inner >= 0 && !odd && depth < TASK_FILES_DEPTH_MAX;
            if (fits) {
                tidy(w, inner, depth + 1);
            } else {
                if (inner >= 0) close(inner);
                Buf path = BUF_INIT;
                buf_printf(&path, "/proc/self/fd/%d/%s", fd, name);
                folder_remove(path.data);
                buf_clear(&path);
                w->left_out++;
            }
        } else if (odd || !keeps_file(w, fd, name, &st)) {
            unlinkat(fd, name, 0);
            w->left_out++;
        }
    }
    closedir(dir);
}

/* ---- keeping ---- */

/* A text of at most TASK_FILES_TEXT_MAX bytes, without secrets, renamed into its place. */
static void keep_text(Step *step, const char *from, const char *folder, const char *name) {
    Buf text = BUF_INIT, masked = BUF_INIT;
    Error err = ERROR_INIT;
    if (!safe_read(AT_FDCWD, from, SAFE_OURS, TASK_FILES_TEXT_MAX, &text, &err)) {
        if (err.code == ERR_LIMIT) {
            exec_note(step, "The file %s is longer than %d MB, and is not kept.", name,
                      TASK_FILES_TEXT_MAX >> 20);
        }
    } else if (text.len) {
        bool hides = step_mask(step, text.data, text.len, 0, &masked);
        const Buf *kept = hides ? &masked : &text;
        Buf path = BUF_INIT, fresh = BUF_INIT;
        buf_printf(&path, "%s/%s", folder, name);
        buf_printf(&fresh, "%s/%s.new", folder, name);
        unlink(fresh.data);
        int fd = make_folder(folder, NULL) ? safe_create(AT_FDCWD, fresh.data, NULL) : -1;
        bool fine = fd >= 0 && write(fd, kept->data, kept->len) == (ssize_t)kept->len;
        if (fd >= 0) close(fd);
        if (!fine || rename(fresh.data, path.data) != 0) {
            exec_note(step, "The file %s cannot be kept: %s.", name, strerror(errno));
        }
        buf_clear(&path);
        buf_clear(&fresh);
    }
    if (text.data) explicit_bzero(text.data, text.cap);
    buf_clear(&text);
    buf_clear(&masked);
}

static void keep_results(Step *step, const char *results, const char *folder) {
    Walk w = {.step = step, .masks = step_has_secrets(step)};
    int fd = open(results, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    tidy(&w, fd, 0);
    if (w.left_out) {
        exec_note(
            step,
            "Of the results of the task %zu are not kept: only regular files are, at most %d, "
            "and %d MB in all.",
            w.left_out, TASK_FILES_MAX, TASK_FILES_BYTES_MAX >> 20);
    }
    char *to = path_join(folder, "files");
    if (w.files && make_folder(folder, NULL)) {
        folder_remove(to); /* of an attempt that did not get to its end */
        if (rename(results, to) != 0) {
            exec_note(step, "The results of the task cannot be kept: %s.", strerror(errno));
        }
    }
    mem_free(to);
}

static void note_node(Step *step, const char *folder) {
    char *path = path_join(folder, "node");
    const char *name = step_node(step)->name;
    unlink(path);
    int fd = safe_create(AT_FDCWD, path, NULL);
    if (fd >= 0) {
        if (write(fd, name, strlen(name)) < 0) unlink(path);
        close(fd);
    }
    mem_free(path);
}

/* The folder of the run is left as if it had not been there, when nobody has anything in it. */
static void leave_folder(const char *run, const char *test) {
    struct stat st;
    bool used = lstat(test, &st) != 0 || st.st_size > 0;
    DIR *dir = used ? NULL : opendir(run);
    for (struct dirent *entry; dir && !used && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        used = strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, TEST_RESULT) != 0;
    }
    if (dir) closedir(dir);
    if (!used && unlink(test) == 0) rmdir(run);
}

/* Nearly all tasks write none of them: then nothing but a few calls of the system is done here. */
void task_files_keep(Step *step) {
    char *run = run_folder(step, NULL);
    const char *kept = run ? step_results_folder(step, NULL) : NULL;
    if (kept) {
        char *own = own_folder(step, run), *test = path_join(run, TEST_RESULT);
        char *summary = path_join(own, SUMMARY), *results = path_join(own, RESULTS);
        char *folder = path_join(kept, key_of(step));
        struct stat st;
        bool made = false;
        if (lstat(summary, &st) == 0 && st.st_size) {
            made = make_folder(kept, NULL);
            keep_text(step, summary, folder, SUMMARY);
        }
        if (rmdir(results) != 0 && errno != ENOENT) {
            made = make_folder(kept, NULL);
            keep_results(step, results, folder);
        }
        if (made && access(folder, F_OK) == 0) {
            note_node(step, folder);
            exec_note(step, "What the task left is kept in %s.", folder);
        }
        if (lstat(test, &st) == 0 && st.st_size && make_folder(kept, NULL)) {
            keep_text(step, test, kept, TEST_RESULT);
        }
        unlink(summary);
        if (rmdir(own) != 0) folder_remove(own);
        leave_folder(run, test);
        mem_free(folder);
        mem_free(results);
        mem_free(summary);
        mem_free(test);
        mem_free(own);
    }
    free(run);
}
