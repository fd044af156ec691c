#include "worker_memory.h"

#include "mem.h"
#include "memory_files.h"
#include "proc.h"

/* A process of one of the sessions. */
typedef struct Member {
    pid_t pid;
    size_t item;
} Member;

typedef struct Look {
    WorkerMemory *items;
    size_t n;
    Member *members;
    size_t nmembers, cap;
} Look;

static void add_member(void *ctx, pid_t pid, const ProcStat *stat) {
    Look *look = ctx;
    for (size_t i = 0; i < look->n; i++) {
        WorkerMemory *item = &look->items[i];
        if (stat->session != item->leader || pid == item->leader) continue;
        look->members = mem_grow(look->members, look->nmembers, &look->cap, sizeof *look->members);
        look->members[look->nmembers++] = (Member){pid, i};
        item->others += stat->resident;
    }
}

/* Of the leader and, with `all`, of what it started: given in pids, for mem_free(). */
static size_t session_of(const Look *look, size_t item, pid_t **pids) {
    size_t n = 0;
    *pids = mem_alloc((look->nmembers + 1) * sizeof **pids);
    (*pids)[n++] = look->items[item].leader;
    for (size_t k = 0; k < look->nmembers; k++) {
        if (look->members[k].item == item) (*pids)[n++] = look->members[k].pid;
    }
    return n;
}

/* What is resident is cheap to know, and with what is in files more than what counts. Where that is too much, it is
 * counted; where the leader alone is looked at and has such files, others may have mapped them, and all are looked at. */
static void look_at(const Look *look, size_t i, bool all) {
    WorkerMemory *item = &look->items[i];
    MemoryFiles files = {0};
    ProcStat stat;
    pid_t *pids;
    size_t n = session_of(look, i, &pids);
    for (size_t k = 0; k < n; k++) memory_files_add(&files, pids[k]);
    item->files = all || files.bytes > item->files ? files.bytes : item->files;
    item->bytes = (proc_stat(item->leader, &stat) ? stat.resident : 0) + item->others + item->files;
    if (item->bytes > item->enough) {
        if (all) item->others = 0;
        for (size_t k = 1; k < n; k++) item->others += proc_memory(pids[k]);
        item->bytes =
            proc_memory(item->leader) + item->others + memory_files_unmapped(&files, pids, n);
        if (!all && item->files && item->bytes > item->enough) worker_memory_look(item, 1, true);
    }
    memory_files_clear(&files);
    mem_free(pids);
}

void worker_memory_look(WorkerMemory *items, size_t n, bool all) {
    Look look = {.items = items, .n = n};
    for (size_t i = 0; i < n && all; i++) items[i].others = 0;
    if (all) proc_each(add_member, &look);
    for (size_t i = 0; i < n; i++) look_at(&look, i, all);
    mem_free(look.members);
}
