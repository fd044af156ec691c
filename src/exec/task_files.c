#define _GNU_SOURCE
#include "task_files.h"

#include "errand.h"
#include "exec.h"
#include "folders.h"
#include "mask.h"
#include "mem.h"
#include "safe_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
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

/* ---- what is to be kept ---- */

/* All that the thread uses is its own. */
struct TaskKeeping {
    Errand errand; /* first */
    Step *step;    /* on the loop alone; NULL: it has gone */
    void (*done)(void *ctx);
    void *ctx;
    Mask *mask; /* NULL: there are no secrets */
    char *own, *test, *summary,
        *results;        /* of the task, and the file that the tasks have in common */
    char *kept, *folder; /* what is kept of the run, and of the task */
    char *node;          /* its name */
    Buf notes;           /* lines for the log */
};

static void note(TaskKeeping *k, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(TaskKeeping *k, const char *format, ...) {
    va_list args;
    va_start(args, format);
    buf_vprintf(&k->notes, format, args);
    va_end(args);
    buf_addc(&k->notes, '\n');
}

static void keeping_free(TaskKeeping *k) {
    mask_free(k->mask);
    mem_free(k->own);
    mem_free(k->test);
    mem_free(k->summary);
    mem_free(k->results);
    mem_free(k->kept);
    mem_free(k->folder);
    mem_free(k->node);
    buf_clear(&k->notes);
    mem_free(k);
}

/* ---- what is in a folder of results ---- */

/* A folder and those around it are opened one by one, so that nothing that is moved or linked meanwhile leads anywhere
 * else. */
typedef struct Walk {
    const Mask *mask;
    size_t files;
    uint64_t bytes;
    size_t left_out;
} Walk;

/* The file with the same name and without secrets. False: it could not be made. */
static bool mask_file(Walk *w, int folder, const char *name, size_t size) {
    Buf text = BUF_INIT, masked = BUF_INIT;
    bool fine = safe_read(folder, name, SAFE_OURS, size, &text, NULL);
    if (fine && text.len && mask_text(w->mask, text.data, text.len, 0, &masked)) {
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
    bool has = w->mask && mask_text(w->mask, name, strlen(name), 0, &masked);
    buf_clear(&masked);
    return has;
}

static bool keeps_file(Walk *w, int folder, const char *name, const struct stat *st) {
    uint64_t size = (uint64_t)st->st_size;
    if (!S_ISREG(st->st_mode) || w->files == TASK_FILES_MAX ||
        w->bytes + size > TASK_FILES_BYTES_MAX || !strcmp(name, MASKED)) {
        return false;
    }
    if (w->mask && !mask_file(w, folder, name, (size_t)size)) return false;
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
static void keep_text(TaskKeeping *k, const char *from, const char *folder, const char *name) {
    Buf text = BUF_INIT, masked = BUF_INIT;
    Error err = ERROR_INIT;
    if (!safe_read(AT_FDCWD, from, SAFE_OURS, TASK_FILES_TEXT_MAX, &text, &err)) {
        if (err.code == ERR_LIMIT) {
            note(k, "The file %s is longer than %d MB, and is not kept.", name,
                 TASK_FILES_TEXT_MAX >> 20);
        }
    } else if (text.len) {
        bool hides = k->mask && mask_text(k->mask, text.data, text.len, 0, &masked);
        const Buf *kept = hides ? &masked : &text;
        Buf path = BUF_INIT, fresh = BUF_INIT;
        buf_printf(&path, "%s/%s", folder, name);
        buf_printf(&fresh, "%s/%s.new", folder, name);
        unlink(fresh.data);
        int fd = make_folder(folder, NULL) ? safe_create(AT_FDCWD, fresh.data, NULL) : -1;
        bool fine = fd >= 0 && write(fd, kept->data, kept->len) == (ssize_t)kept->len;
        if (fd >= 0) close(fd);
        if (!fine || rename(fresh.data, path.data) != 0) {
            note(k, "The file %s cannot be kept: %s.", name, strerror(errno));
        }
        buf_clear(&path);
        buf_clear(&fresh);
    }
    if (text.data) explicit_bzero(text.data, text.cap);
    buf_clear(&text);
    buf_clear(&masked);
}

static void keep_results(TaskKeeping *k) {
    Walk w = {.mask = k->mask};
    int fd = open(k->results, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    tidy(&w, fd, 0);
    if (w.left_out) {
        note(k,
             "Of the results of the task %zu are not kept: only regular files are, at most %d, "
             "and %d MB in all.",
             w.left_out, TASK_FILES_MAX, TASK_FILES_BYTES_MAX >> 20);
    }
    char *to = path_join(k->folder, "files");
    if (w.files && make_folder(k->folder, NULL)) {
        folder_remove(to); /* of an attempt that did not get to its end */
        if (rename(k->results, to) != 0) {
            note(k, "The results of the task cannot be kept: %s.", strerror(errno));
        }
    }
    mem_free(to);
}

static void note_node(const TaskKeeping *k) {
    char *path = path_join(k->folder, "node");
    unlink(path);
    int fd = safe_create(AT_FDCWD, path, NULL);
    if (fd >= 0) {
        if (write(fd, k->node, strlen(k->node)) < 0) unlink(path);
        close(fd);
    }
    mem_free(path);
}

static bool has_bytes(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0 && st.st_size > 0;
}

/* On the thread. */
static void keep(Errand *errand) {
    TaskKeeping *k = (TaskKeeping *)errand;
    bool made = false;
    if (has_bytes(k->summary)) {
        made = make_folder(k->kept, NULL);
        keep_text(k, k->summary, k->folder, SUMMARY);
    }
    if (rmdir(k->results) != 0 && errno != ENOENT) {
        made = make_folder(k->kept, NULL);
        keep_results(k);
    }
    if (made && access(k->folder, F_OK) == 0) {
        note_node(k);
        note(k, "What the task left is kept in %s.", k->folder);
    }
    if (has_bytes(k->test) && make_folder(k->kept, NULL)) {
        keep_text(k, k->test, k->kept, TEST_RESULT);
    }
    folder_remove(k->own);
}

/* ---- the folder of the run ---- */

/* It is left as if it had not been there, when nobody has anything in it. */
static void leave_folder(const char *test) {
    char *run = folder_of(test);
    struct stat st;
    bool used = lstat(test, &st) != 0 || st.st_size > 0;
    DIR *dir = used ? NULL : opendir(run);
    for (struct dirent *entry; dir && !used && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        used = strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, TEST_RESULT) != 0;
    }
    if (dir) closedir(dir);
    if (!used && unlink(test) == 0) rmdir(run);
    mem_free(run);
}

static void on_kept(Errand *errand) {
    TaskKeeping *k = (TaskKeeping *)errand;
    if (k->step) {
        const char *line = k->notes.data, *end;
        for (; line && (end = strchr(line, '\n')); line = end + 1) {
            exec_note(k->step, "%.*s", (int)(end - line), line);
        }
        leave_folder(k->test);
        k->done(k->ctx);
    }
    keeping_free(k);
}

/* Nearly all tasks write none of them: then a few calls of the system are all. */
static bool nothing_left(const TaskKeeping *k) {
    if (has_bytes(k->summary) || has_bytes(k->test)) return false;
    if (rmdir(k->results) != 0 && errno != ENOENT) return false;
    unlink(k->summary);
    return rmdir(k->own) == 0 || errno == ENOENT;
}

TaskKeeping *task_files_keep(Step *step, void (*done)(void *ctx), void *ctx) {
    char *run = run_folder(step, NULL);
    const char *kept = run ? step_results_folder(step, NULL) : NULL, *key = key_of(step);
    TaskKeeping *k = NULL;
    if (kept) {
        k = mem_zalloc(sizeof *k);
        k->errand = (Errand){.work = keep, .done = on_kept};
        k->step = step;
        k->done = done;
        k->ctx = ctx;
        k->own = own_folder(step, run);
        k->test = path_join(run, TEST_RESULT);
        k->summary = path_join(k->own, SUMMARY);
        k->results = path_join(k->own, RESULTS);
        k->kept = mem_strdup(kept);
        k->folder = path_join(kept, key);
        k->node = mem_strdup(step_node(step)->name);
        k->notes = (Buf)BUF_INIT;
        if (nothing_left(k)) {
            leave_folder(k->test);
            keeping_free(k);
            k = NULL;
        } else {
            k->mask = step_copy_mask(step);
            step_errand(step, &k->errand);
        }
    }
    free(run);
    return k;
}

void task_files_drop(TaskKeeping *k) {
    if (k) k->step = NULL;
}
