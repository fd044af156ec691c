#include "sqlite_faults.h"

#include <stddef.h>

#ifdef PAWL_FAULTS

#include "fault.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

/* Lies before the file of the layer below, in one block of memory. */
typedef struct FaultFile {
    sqlite3_file base;
    sqlite3_file *real;
} FaultFile;

static sqlite3_file *real(sqlite3_file *file) {
    return ((FaultFile *)file)->real;
}

static int result_of(int fault, int otherwise) {
    return fault == ENOSPC ? SQLITE_FULL : otherwise;
}

static int fault_close(sqlite3_file *f) {
    return real(f)->pMethods->xClose(real(f));
}

static int fault_read(sqlite3_file *f, void *data, int n, sqlite3_int64 at) {
    return real(f)->pMethods->xRead(real(f), data, n, at);
}

static int fault_write(sqlite3_file *f, const void *data, int n, sqlite3_int64 at) {
    int fault = fault_point("store.write");
    if (fault == FAULT_SHORT) {
        real(f)->pMethods->xWrite(real(f), data, n / 2, at);
    }
    return fault ? result_of(fault, SQLITE_IOERR_WRITE)
                 : real(f)->pMethods->xWrite(real(f), data, n, at);
}

static int fault_truncate(sqlite3_file *f, sqlite3_int64 size) {
    int fault = fault_point("store.write");
    return fault ? result_of(fault, SQLITE_IOERR_TRUNCATE)
                 : real(f)->pMethods->xTruncate(real(f), size);
}

static int fault_sync(sqlite3_file *f, int flags) {
    int fault = fault_point("store.sync");
    return fault ? result_of(fault, SQLITE_IOERR_FSYNC) : real(f)->pMethods->xSync(real(f), flags);
}

static int fault_size(sqlite3_file *f, sqlite3_int64 *size) {
    return real(f)->pMethods->xFileSize(real(f), size);
}

static int fault_lock(sqlite3_file *f, int lock) {
    return real(f)->pMethods->xLock(real(f), lock);
}

static int fault_unlock(sqlite3_file *f, int lock) {
    return real(f)->pMethods->xUnlock(real(f), lock);
}

static int fault_check_lock(sqlite3_file *f, int *out) {
    return real(f)->pMethods->xCheckReservedLock(real(f), out);
}

static int fault_control(sqlite3_file *f, int op, void *arg) {
    return real(f)->pMethods->xFileControl(real(f), op, arg);
}

static int fault_sector(sqlite3_file *f) {
    return real(f)->pMethods->xSectorSize(real(f));
}

static int fault_device(sqlite3_file *f) {
    return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

static int fault_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
}

static int fault_shm_lock(sqlite3_file *f, int offset, int n, int flags) {
    return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
}

static void fault_shm_barrier(sqlite3_file *f) {
    real(f)->pMethods->xShmBarrier(real(f));
}

static int fault_shm_unmap(sqlite3_file *f, int remove) {
    return real(f)->pMethods->xShmUnmap(real(f), remove);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = fault_close,
    .xRead = fault_read,
    .xWrite = fault_write,
    .xTruncate = fault_truncate,
    .xSync = fault_sync,
    .xFileSize = fault_size,
    .xLock = fault_lock,
    .xUnlock = fault_unlock,
    .xCheckReservedLock = fault_check_lock,
    .xFileControl = fault_control,
    .xSectorSize = fault_sector,
    .xDeviceCharacteristics = fault_device,
    .xShmMap = fault_shm_map,
    .xShmLock = fault_shm_lock,
    .xShmBarrier = fault_shm_barrier,
    .xShmUnmap = fault_shm_unmap,
};

static int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    sqlite3_vfs *below = vfs->pAppData;
    FaultFile *f = (FaultFile *)file;
    f->real = (sqlite3_file *)(f + 1);
    int rc = below->xOpen(below, name, f->real, flags, out);
    f->base.pMethods = f->real->pMethods ? &methods : NULL;
    return rc;
}

static sqlite3_vfs layer;

/* All but opening is done by the layer below, which has the same type: a copy of it will do. */
static void make_layer(void) {
    sqlite3_vfs *below = sqlite3_vfs_find(NULL);
    layer = *below;
    layer.zName = "pawl-faults";
    layer.szOsFile = below->szOsFile + (int)sizeof(FaultFile);
    layer.pAppData = below;
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
