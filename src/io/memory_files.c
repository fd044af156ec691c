#define _GNU_SOURCE
#include "memory_files.h"

#include "mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { BLOCK = 512, PATH_SIZE = 64 };

static MemoryFile *find(const MemoryFiles *files, uint64_t device, uint64_t inode) {
    for (size_t i = 0; i < files->n; i++) {
        MemoryFile *file = &files->items[i];
        if (file->device == device && file->inode == inode) return file;
    }
    return NULL;
}

/* One that has a name is a file like others: it stays when nobody has it open. */
static bool is_memory(const char *path, const struct stat *st) {
    struct statfs fs;
    return S_ISREG(st->st_mode) && st->st_nlink == 0 && st->st_blocks > 0 &&
           statfs(path, &fs) == 0 &&
           (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC);
}

void memory_files_add(MemoryFiles *files, pid_t pid) {
    char folder[PATH_SIZE], path[PATH_SIZE + 256];
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || stat(path, &st) != 0 || !is_memory(path, &st) ||
            find(files, (uint64_t)st.st_dev, (uint64_t)st.st_ino)) {
            continue;
        }
        uint64_t bytes = (uint64_t)st.st_blocks * BLOCK;
        files->items = mem_grow(files->items, files->n, &files->cap, sizeof *files->items);
        files->items[files->n++] = (MemoryFile){
            .device = (uint64_t)st.st_dev, .inode = (uint64_t)st.st_ino, .bytes = bytes};
        files->bytes += bytes;
    }
    if (dir) closedir(dir);
}

/* The head of a mapping, "FROM-TO RIGHTS OFFSET MAJOR:MINOR INODE NAME", is followed by lines "Name: N kB". */
static void add_mapped(const MemoryFiles *files, pid_t pid) {
    char path[PATH_SIZE], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
    FILE *smaps = fopen(path, "re");
    MemoryFile *file = NULL;
    while (smaps && getline(&line, &room, smaps) > 0) {
        unsigned major_number, minor_number;
        uint64_t inode, kilobytes;
        if (sscanf(line, "%*x-%*x %*s %*x %x:%x %" SCNu64, &major_number, &minor_number, &inode) ==
            3) {
            file = find(files, (uint64_t)makedev(major_number, minor_number), inode);
        } else if (file && (sscanf(line, "Pss: %" SCNu64, &kilobytes) == 1 ||
                            sscanf(line, "SwapPss: %" SCNu64, &kilobytes) == 1)) {
            file->mapped += kilobytes << 10;
        }
    }
    free(line);
    if (smaps) fclose(smaps);
}

uint64_t memory_files_unmapped(MemoryFiles *files, const pid_t *pids, size_t n) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < files->n; i++) files->items[i].mapped = 0;
    for (size_t i = 0; i < n && files->n; i++) add_mapped(files, pids[i]);
    for (size_t i = 0; i < files->n; i++) {
        const MemoryFile *file = &files->items[i];
        bytes += file->bytes > file->mapped ? file->bytes - file->mapped : 0;
    }
    return bytes;
}

void memory_files_clear(MemoryFiles *files) {
    mem_free(files->items);
    *files = (MemoryFiles){0};
}
