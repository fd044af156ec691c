/* file_store.h - the handle of a store in a folder.
 *
 *     DIR/format            what this is, and of which format
 *     DIR/lease             locks (leases.h); slot 0 guards `last` and `batches`
 *     DIR/last              the run number given last
 *     DIR/threads/NAME      the number of the run that has this thread; a run is there when this is
 *     DIR/runs/N.run        a run (run_file.h); N.idx beside it, and N.cancel when it is asked to end
 *     DIR/definitions/KEY
 *     DIR/batches/ID        a batch that writes several runs, while it does
 *     DIR/work/
 *
 * A batch for one run is one group in its file, and thereby all or nothing; a new run is there when
 * its thread is, which comes last. A batch for several is made durable under batches/ first; whoever leases a run after a crash finishes it, for all its runs,
 * before doing anything else. The file of a batch is locked by its writer while that lives.
 */
#ifndef PAWL_STORE_FILE_STORE_H
#define PAWL_STORE_FILE_STORE_H

#include "backend.h"
#include "run_file.h"

enum { FILE_STORE_OPEN = 64 }; /* run files kept open */

typedef struct FileStore {
    Store base;
    LeaseFile lease_file;
    char *threads, *runs, *definitions, *batches; /* the folders */
    RunFile *open[FILE_STORE_OPEN];
    int nopen;
    uint64_t clock; /* of uses */
    int *stuck;     /* files of batches that could neither be done nor undone, locked */
    size_t nstuck, stuck_cap;
    /* while runs are made */
    bool begun;   /* slot 0 is locked */
    int64_t last; /* number given last; 0: `last` was not read yet */
    char **named; /* threads that are not in their folder yet */
    size_t nnamed, named_cap;
} FileStore;

/* The file of a run as it is now, kept by the store; NULL with *found false when there is none. */
bool file_store_run(FileStore *f, int64_t run, RunFile **out, bool *found, Error *err);
/* The same, refused when it is damaged so that nobody knows where the run stood. */
bool file_store_sound_run(FileStore *f, int64_t run, RunFile **out, bool *found, Error *err);
/* Whether the file is not damaged so, or not at all. */
bool file_store_is_sound(const FileStore *f, const RunFile *file, bool all, Error *err);
/* Makes the thread of a run, whose file is there; false with errno. */
bool file_store_link(const FileStore *f, const RunRow *row);
/* Makes the numbers that were given durable; the end of what begin() began. */
bool file_store_keep_last(FileStore *f);
void file_store_end(FileStore *f);
/* The file goes, with all beside it. */
bool file_store_drop_run(FileStore *f, int64_t run, Error *err);
void file_store_forget(FileStore *f, int64_t run);

/* Sets the error for errno: "<what> failed". */
bool file_store_failed(const FileStore *f, const char *what, Error *err);

bool file_store_commit(Store *s, const StoreBatch *b, Error *err);
/* Writes the file of a run anew where that makes it smaller; its lease is held. */
bool file_store_rewrite(FileStore *f, int64_t run, Error *err);
/* file_space.c */
bool file_compact(Store *s, int64_t *busy, Error *err);
bool file_backup(Store *s, const char *path, Error *err);
/* Finishes batches whose writers have died. */
bool file_store_finish_batches(FileStore *f, Error *err);

#endif
