#include "sqlite_faults.h"

#include <stddef.h>

#ifdef PAWL_FAULTS

#include "fault.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

/* Lies behind the file of the layer below, in one block of memory: its methods, and ours. */
typedef struct Behind {
    const sqlite3_io_methods *real;
    sqlite3_io_methods ours;
} Behind;

static sqlite3_vfs layer;
static sqlite3_vfs *below;

static Behind *behind(sqlite3_file *f) {
    return (Behind *)((char *)f + layer.szOsFile - sizeof(Behind));
}

static int result_of(int fault, int otherwise) {
    return fault == ENOSPC ? SQLITE_FULL : otherwise;
}

static int fault_write(sqlite3_file *f, const void *data, int n, sqlite3_int64 at) {
    const sqlite3_io_methods *real = behind(f)->real;
    int fault = fault_point("store.write");
    if (fault == FAULT_SHORT) real->xWrite(f, data, n / 2, at);
    return fault ? result_of(fault, SQLITE_IOERR_WRITE) : real->xWrite(f, data, n, at);
}

static int fault_truncate(sqlite3_file *f, sqlite3_int64 size) {
    int fault = fault_point("store.write");
    return fault ? result_of(fault, SQLITE_IOERR_TRUNCATE) : behind(f)->real->xTruncate(f, size);
}

static int fault_sync(sqlite3_file *f, int flags) {
    int fault = fault_point("store.sync");
    return fault ? result_of(fault, SQLITE_IOERR_FSYNC) : behind(f)->real->xSync(f, flags);
}

static int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out) {
    (void)vfs;
    int rc = below->xOpen(below, name, f, flags, out);
    if (f->pMethods) {
        Behind *b = behind(f);
        *b = (Behind){f->pMethods, *f->pMethods};
        b->ours.xWrite = fault_write;
        b->ours.xTruncate = fault_truncate;
        b->ours.xSync = fault_sync;
        f->pMethods = &b->ours;
    }
    return rc;
}

/* All but opening is done by the layer below, which has the same type: a copy of it will do. */
static void make_layer(void) {
    below = sqlite3_vfs_find(NULL);
    layer = *below;
    layer.zName = "pawl-faults";
    layer.szOsFile = (below->szOsFile + 7) / 8 * 8 + (int)sizeof(Behind);
    layer.xOpen = fault_open;
    layer.pNext = NULL;
    sqlite3_vfs_register(&layer, 0);
}

const char *sqlite_faults_vfs(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_layer);
    return layer.zName;
}

#else

const char *sqlite_faults_vfs(void) {
    return NULL;
}

#endif
