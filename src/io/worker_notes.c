#define _GNU_SOURCE
#include "worker_notes.h"

#include "mem.h"
#include "proc.h"
#include "safe_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOTE_MAX = 256 };

static const char prefix[] = "worker-";

/* ---- one note ---- */

/* Of this start of the machine, and of the namespace that our numbers of processes are in. */
static bool here(uint64_t *space, char boot[WORKER_BOOT_MAX]) {
    struct stat st;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, boot, WORKER_BOOT_MAX - 1);
    if (fd >= 0) close(fd);
    if (n <= 0 || stat("/proc/self/ns/pid", &st) != 0) return false;
    boot[n] = '\0';
    boot[strcspn(boot, " \n")] = '\0';
    *space = st.st_ino;
    return boot[0] != '\0';
}

bool worker_note_parse(const char *text, size_t len, WorkerNote *out) {
    char line[NOTE_MAX];
    int pid, starter, end = 0;
    if (len >= sizeof line) return false;
    memcpy(line, text, len);
    line[len] = '\0';
    if (sscanf(line, "%9d %19" SCNu64 " %9d %19" SCNu64 " %19" SCNu64 " %39[0-9a-f-]\n%n", &pid,
               &out->start, &starter, &out->starter_start, &out->space, out->boot, &end) != 6) {
        return false;
    }
    out->pid = pid;
    out->starter = starter;
    return (size_t)end == len && pid > 1 && starter > 1;
}

char *worker_note(const char *folder, pid_t pid) {
    ProcStat worker, ours;
    WorkerNote note;
    char text[NOTE_MAX];
    Buf path = BUF_INIT;
    if (!proc_stat(pid, &worker) || !proc_stat(getpid(), &ours) || !here(&note.space, note.boot)) {
        return NULL;
    }
    buf_printf(&path, "%s/%s%d-%" PRIu64, folder, prefix, (int)pid, worker.start);
    int len = snprintf(text, sizeof text, "%d %" PRIu64 " %d %" PRIu64 " %" PRIu64 " %s\n",
                       (int)pid, worker.start, (int)getpid(), ours.start, note.space, note.boot);
    int fd = safe_create(AT_FDCWD, path.data, NULL);
    bool fine = fd >= 0 && write(fd, text, (size_t)len) == len;
    if (fd >= 0) close(fd);
    char *left = fine ? mem_strdup(path.data) : NULL;
    if (fd >= 0 && !fine) unlink(path.data);
    buf_clear(&path);
    return left;
}

void worker_note_remove(char *path) {
    if (path) unlink(path);
    mem_free(path);
}

/* ---- what is left ---- */

/* One that is about to end has let go of what it held already, and counts as gone. */
static bool lives(pid_t pid, uint64_t start) {
    ProcStat stat;
    return proc_stat(pid, &stat) && stat.start == start && !stat.ending;
}

/* While anybody is in the group, its number is nobody else's: one that a younger process has is that of a
 * group that is gone. */
static void end_group(const WorkerNote *note) {
    ProcStat stat;
    if (!proc_stat(note->pid, &stat) || stat.start == note->start) {
        proc_kill_group(note->pid, note->start);
    }
}

void worker_notes_sweep(const char *folder) {
    WorkerNote note;
    uint64_t space;
    char boot[WORKER_BOOT_MAX];
    int at = safe_folder(AT_FDCWD, folder, NULL), copy = at < 0 ? -1 : dup(at);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (copy >= 0 && !dir) close(copy);
    bool known = dir && here(&space, boot);
    for (struct dirent *entry; known && (entry = readdir(dir));) {
        Buf text = BUF_INIT;
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) != 0) continue;
        bool fine = safe_read(at, entry->d_name, SAFE_OURS, NOTE_MAX - 1, &text, NULL) &&
                    worker_note_parse(text.data, text.len, &note);
        bool ours = fine && !strcmp(note.boot, boot) && note.space == space;
        if (ours && !lives(note.starter, note.starter_start)) {
            end_group(&note);
            unlinkat(at, entry->d_name, 0);
        } else if (fine && strcmp(note.boot, boot) != 0) {
            unlinkat(at, entry->d_name, 0);
        }
        buf_clear(&text);
    }
    if (dir) closedir(dir);
    if (at >= 0) close(at);
}
