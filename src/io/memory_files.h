/* memory_files.h - memory that processes hold by a descriptor and need not have mapped.
 *
 * A memfd, or a file of a file system in memory that has no name any more, takes memory as long as somebody has it
 * open. What is mapped of it counts with whoever mapped it (proc.h); the rest counts nowhere.
 *
 *     MemoryFiles files = {0};
 *     memory_files_add(&files, pid);              for each process of a group
 *     files.bytes                                 of all of them, mapped or not, each once
 *     memory_files_unmapped(&files, pids, n)      what these do not have mapped
 *     memory_files_clear(&files);
 *
 * A process that hides from us (that is not dumpable) shows neither. Descriptors that are on their way through a socket
 * belong to nobody.
 */
#ifndef PAWL_MEMORY_FILES_H
#define PAWL_MEMORY_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct MemoryFile {
    uint64_t device, inode;
    uint64_t bytes;
    uint64_t mapped;
} MemoryFile;

typedef struct MemoryFiles {
    MemoryFile *items;
    size_t n, cap;
    uint64_t bytes;
} MemoryFiles;

void memory_files_add(MemoryFiles *files, pid_t pid);
uint64_t memory_files_unmapped(MemoryFiles *files, const pid_t *pids, size_t n);
void memory_files_clear(MemoryFiles *files);

#endif
