#include "worker_memory.h"

#include "mem.h"
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

/* What is resident is cheap to know, and more than what counts. */
void worker_memory_look(WorkerMemory *items, size_t n, bool all) {
    Look look = {.items = items, .n = n};
    for (size_t i = 0; i < n && all; i++) items[i].others = 0;
    if (all) proc_each(add_member, &look);
    for (size_t i = 0; i < n; i++) {
        WorkerMemory *item = &items[i];
        ProcStat stat;
        item->bytes = (proc_stat(item->leader, &stat) ? stat.resident : 0) + item->others;
        if (item->bytes <= item->enough) continue;
        if (all) item->others = 0;
        for (size_t k = 0; k < look.nmembers; k++) {
            if (look.members[k].item == i) item->others += proc_memory(look.members[k].pid);
        }
        item->bytes = proc_memory(item->leader) + item->others;
    }
    mem_free(look.members);
}
