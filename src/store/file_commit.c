/* file_commit.c - how a batch gets into the files of its runs. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "file_store.h"

#include "crc32c.h"
#include "file_io.h"
#include "folders.h"
#include "mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the part of a batch that is for one run ---- */

/* The writes of a batch, those of one run together and in their order. */
typedef struct Writes {
    BatchWrite *items;
    size_t len, cap;
} Writes;

typedef struct Part {
    FileStore *store;
    const BatchWrite *writes;
    size_t n;
    int64_t run;
    RunFile *file;
    RunRow row; /* as it will be; strings are owned */
    bool has_facts, rewrites;
    bool again;        /* some of it may be done already */
    Buf log;           /* records of pieces */
    size_t log_last;   /* where the last of them starts */
    int64_t log_first; /* pieces before it go; 0: none do */
} Part;

/* Places in the batch ascend, so sorting by run and place keeps the order. */
static int by_run_then_place(const void *a, const void *b) {
    const BatchWrite *x = a, *y = b;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    return x->pos < y->pos ? -1 : x->pos > y->pos;
}

/* With `held`, output of runs whose lease is not is left out. */
static void collect_writes(const StoreBatch *b, const Store *held, Writes *w) {
    BatchWrite write;
    bool ordered = true;
    for (size_t pos = 0; batch_next(b, &pos, &write);) {
        if (write.op == BATCH_RELEASE) continue;
        if (write.op == BATCH_LOG && held && !store_holds(held, write.run)) continue;
        ordered = ordered && (!w->len || w->items[w->len - 1].run <= write.run);
        w->items = mem_grow(w->items, w->len, &w->cap, sizeof *w->items);
        w->items[w->len++] = write;
    }
    if (!ordered) qsort(w->items, w->len, sizeof *w->items, by_run_then_place);
}

/* The part that starts at *at, which is moved behind it; false at the end. */
static bool next_part(FileStore *f, const Writes *w, size_t *at, Part *p) {
    size_t end = *at;
    if (end == w->len) return false;
    *p = (Part){.store = f, .writes = w->items + end, .run = w->items[end].run};
    while (end < w->len && w->items[end].run == p->run) end++;
    p->n = end - *at;
    *at = end;
    return true;
}

static bool makes_run(const Part *p) {
    return p->writes[0].op == BATCH_CREATE;
}

static bool removes_run(const Part *p) {
    return p->writes[p->n - 1].op == BATCH_REMOVE_RUN;
}

/* `now` is the row as it is; that of a new run has nothing but when it was made. */
static void look_over(Part *p, const RunRow *now) {
    char self[STORE_OWNER_MAX];
    p->row = (RunRow){.run = p->run,
                      .head = now->head,
                      .last = now->last,
                      .updated = now->updated,
                      .status = mem_strdup(now->status),
                      .owner = mem_strdup(store_self(self))};
    for (const BatchWrite *w = p->writes; w < p->writes + p->n; w++) {
        if (w->op == BATCH_CHECKPOINT) {
            p->row.last = w->seq > p->row.last ? w->seq : p->row.last;
            /* written over one that may be there: the file is to hold each only once */
            p->rewrites = p->rewrites || w->seq <= now->last;
        } else if (w->op == BATCH_RUN) {
            mem_free(p->row.status);
            p->row.status = mem_strdup(w->status);
            p->row.head = w->head;
            p->row.updated = w->at;
            p->has_facts = true;
        } else if (w->op != BATCH_CREATE && w->op != BATCH_LOG && w->op != BATCH_TRIM_LOG) {
            p->rewrites = true;
        }
    }
}

/* ---- the log ---- */

enum {
    DEAD_MAX = 32 << 20
}; /* bytes of pieces that are gone, in a file that is not written anew for it */

/* What is gone stays in the file until that is worth writing it anew. */
static void trim_log(Part *p, int64_t first, int64_t before) {
    uint64_t dead;
    int64_t stays = p->file ? run_file_trim_at(p->file, first, before, &dead) : 0;
    if (stays <= p->log_first || stays <= (p->file ? p->file->log.first : 0)) return;
    p->log_first = stays;
    p->rewrites = p->rewrites || (dead > DEAD_MAX && dead > p->file->end / 2);
}

/* The pieces of this part as records, with their numbers. */
static bool make_log(Part *p, Error *err) {
    LogEnd end = {.first = 1, .next = 1};
    LogPiece piece;
    Buf packed = BUF_INIT;
    int64_t there, first, before;
    bool looked = !p->file, ok = true;
    for (const BatchWrite *w = p->writes; ok && w < p->writes + p->n; w++) {
        if (w->op == BATCH_TRIM_LOG) trim_log(p, w->seq, 0);
        if (w->op != BATCH_LOG) continue;
        ok = (looked || run_file_log_end(p->file, &end)) &&
             log_unpack(w->packed, w->packed_len, true, &piece);
        looked = true;
        if (ok && p->file && (piece.again || p->again)) {
            ok = run_file_piece_end(p->file, &piece, &there);
            if (ok && !log_skip(&piece, there)) continue;
        }
        if (!ok) break;
        piece.again = false;
        log_end_add(&end, &piece);
        buf_reset(&packed);
        log_pack(&piece, &packed);
        p->log_last = p->log.len;
        run_file_record(&p->log, RECORD_PIECE, piece.n, packed.data, packed.len);
    }
    if (ok && log_end_trim(&end, &before, &first)) trim_log(p, first, before);
    if (ok && p->log_first) {
        p->log_last = p->log.len;
        run_file_record(&p->log, RECORD_TRIM, p->log_first, "", 0);
    }
    buf_clear(&packed);
    return ok || file_store_failed(p->store, "keeping output", err);
}

/* ---- checkpoints ---- */

/* Gives where the last of them starts. */
static size_t put_checkpoints(const Part *p, Buf *out) {
    size_t last = 0;
    for (const BatchWrite *w = p->writes; w < p->writes + p->n; w++) {
        if (w->op == BATCH_CHECKPOINT) {
            last = out->len;
            run_file_record(out, RECORD_CHECKPOINT, w->seq, w->packed, w->packed_len);
        }
    }
    return last;
}

/* The whole file at once. The run is there with its thread, which comes last. */
static bool create_part(Part *p) {
    Buf checkpoints = BUF_INIT;
    const BatchWrite *w = p->writes;
    p->row.thread = mem_strdup(w->thread);
    p->row.workflow = mem_strdup(w->workflow);
    p->row.definition = mem_strdup(w->definition);
    p->row.created = w->at;
    put_checkpoints(p, &checkpoints);
    buf_add(&checkpoints, p->log.data, p->log.len);
    bool ok = run_file_create(p->store->runs, &p->row, &checkpoints) &&
              file_store_link(p->store, &p->row);
    buf_clear(&checkpoints);
    return ok;
}

static bool append_part(Part *p) {
    Buf group = BUF_INIT;
    size_t last = put_checkpoints(p, &group);
    if (p->log.len) {
        last = group.len + p->log_last;
        buf_add(&group, p->log.data, p->log.len);
    }
    if (p->has_facts) {
        last = group.len;
        run_file_state_record(&group, &p->row);
    }
    bool ok = true;
    if (group.len) {
        run_file_flag_last(&group, last);
        ok = run_file_append(p->file, &group);
    }
    buf_clear(&group);
    return ok;
}

/* ---- writing a file anew ---- */

/* What is to become of checkpoints, in order of number; of several for one the last counts. */
typedef struct Changes {
    const BatchWrite **items;
    size_t len, cap;
} Changes;

static int by_seq_then_place(const void *a, const void *b) {
    const BatchWrite *x = *(const BatchWrite *const *)a, *y = *(const BatchWrite *const *)b;
    if (x->seq != y->seq) return x->seq < y->seq ? -1 : 1;
    return x->pos < y->pos ? -1 : x->pos > y->pos;
}

static void collect_changes(const Part *p, Changes *c) {
    size_t n = 0;
    for (const BatchWrite *w = p->writes; w < p->writes + p->n; w++) {
        if (w->op == BATCH_CHECKPOINT || w->op == BATCH_REMOVE) {
            c->items = mem_grow(c->items, c->len, &c->cap, sizeof *c->items);
            c->items[c->len++] = w;
        }
    }
    if (c->len) qsort(c->items, c->len, sizeof *c->items, by_seq_then_place);
    for (size_t i = 0; i < c->len; i++) {
        if (i + 1 == c->len || c->items[i + 1]->seq != c->items[i]->seq) {
            c->items[n++] = c->items[i];
        }
    }
    c->len = n;
}

/* Merges what is there with the changes, both in order. */
static bool merge(Part *p, const Changes *c, Buf *out) {
    int64_t seq = 1;
    bool there = run_file_next(p->file, &seq), ok = true;
    for (size_t i = 0; ok && (there || i < c->len);) {
        bool changed = i < c->len && (!there || c->items[i]->seq <= seq);
        bool passes = there && (!changed || c->items[i]->seq == seq);
        const BatchWrite *w = changed ? c->items[i++] : NULL;
        if (w && w->op == BATCH_CHECKPOINT) {
            size_t at = out->len;
            run_file_record(out, RECORD_CHECKPOINT, w->seq, w->packed, w->packed_len);
            run_file_flag_last(out, at);
        } else if (!w) {
            ok = run_file_copy_record(p->file, seq, out);
        }
        if (passes) {
            seq++;
            there = run_file_next(p->file, &seq);
        }
    }
    run_file_rest(p->file);
    return ok;
}

/* With `saves` the file stays as it is where it would not become so much smaller. */
static bool rewrite_part(Part *p, uint64_t saves) {
    Buf records = BUF_INIT;
    Changes changes = {0};
    RunRow *now = &p->file->row;
    collect_changes(p, &changes);
    run_file_run_record(&records, now);
    run_file_flag_last(&records, 0);
    bool ok = merge(p, &changes, &records) && run_file_copy_log(p->file, p->log_first, &records);
    if (ok) {
        if (p->log_first) p->log.len = p->log_last; /* what is gone need not be said */
        buf_add(&records, p->log.data, p->log.len);
        size_t at = records.len;
        run_file_state_record(&records, &p->row);
        run_file_flag_last(&records, at);
        if (!saves || records.len + saves < p->file->end) ok = run_file_rewrite(p->file, &records);
    }
    mem_free(changes.items);
    buf_clear(&records);
    return ok;
}

static bool write_part(Part *p, Error *err) {
    if (makes_run(p)) return create_part(p) || file_store_failed(p->store, "making a run", err);
    return p->rewrites ? file_store_is_sound(p->store, p->file, true, err) &&
                             (rewrite_part(p, 0) ||
                              file_store_failed(p->store, "removing checkpoints", err))
                       : append_part(p) || file_store_failed(p->store, "writing checkpoints", err);
}

/* Finds the file and what is to be done; *skip when there is nothing: the run has gone. */
static bool prepare_part(Part *p, bool *skip, Error *err) {
    bool found = true;
    *skip = false;
    if (removes_run(p)) return true;
    if (makes_run(p)) {
        look_over(p, &(RunRow){.status = (char *)"pending", .updated = p->writes[0].at});
    } else if (!file_store_sound_run(p->store, p->run, &p->file, &found, err)) {
        return false;
    } else if (found) {
        look_over(p, &p->file->row);
    }
    *skip = !found;
    if (found && !make_log(p, err)) return false;
    return p->row.last <= RUN_SEQ_MAX ||
           error_set(err, ERR_LIMIT, "Run %lld has used up its checkpoint numbers.",
                     (long long)p->run);
}

bool file_store_rewrite(FileStore *f, int64_t run, Error *err) {
    enum { WORTH_IT = 4096 };
    Part p = {.store = f, .run = run};
    bool found, ok = file_store_sound_run(f, run, &p.file, &found, err);
    if (!ok || !found) return ok;
    p.row = p.file->row; /* lent */
    return file_store_is_sound(f, p.file, true, err) &&
           (rewrite_part(&p, WORTH_IT) || file_store_failed(f, "writing a run anew", err));
}

static void clear_part(Part *p) {
    run_row_clear(&p->row);
    buf_clear(&p->log);
}

static bool write_run(Part *p, Error *err) {
    bool skip;
    bool ok = prepare_part(p, &skip, err) &&
              (skip ||
               (removes_run(p) ? file_store_drop_run(p->store, p->run, err) : write_part(p, err)));
    clear_part(p);
    return ok;
}

/* ---- batches for several runs ---- */

static const char batch_magic[8] = "PAWLBAT";
enum { BATCH_HEAD = 28 };
#define BATCH_MAX ((size_t)2 << 30)

static bool lock_whole(int fd) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

/* Locked before it gets its name, so that nobody finishes it while we are at it. */
static int keep_batch(const FileStore *f, const StoreBatch *b, const char *path) {
    Buf bytes = BUF_INIT;
    uint64_t len = b->bytes.len, count = b->count;
    uint32_t crc = crc32c(b->bytes.data, b->bytes.len);
    char *new_path = path_with(path, ".tmp");
    char head[BATCH_HEAD];
    memcpy(head, batch_magic, 8);
    memcpy(head + 8, &len, 8);
    memcpy(head + 16, &count, 8);
    memcpy(head + 24, &crc, 4);
    buf_add(&bytes, head, sizeof head);
    buf_add(&bytes, b->bytes.data, b->bytes.len);
    int fd = open_regular(new_path, O_RDWR | O_CREAT | O_TRUNC);
    bool ok = fd >= 0 && lock_whole(fd) && file_write(fd, bytes.data, bytes.len, 0) &&
              file_sync(fd) && rename(new_path, path) == 0 && folder_sync(f->batches);
    int failed = errno;
    if (!ok && fd >= 0) {
        unlink(new_path);
        unlink(path);
        close(fd);
        fd = -1;
    }
    mem_free(new_path);
    buf_clear(&bytes);
    errno = failed;
    return fd;
}

/* What was appended so far, to be cut off again. */
typedef struct Undo {
    int64_t run;
    uint64_t end; /* 0: the run was made */
} Undo;

typedef struct Undos {
    Undo *items;
    size_t len, cap;
} Undos;

static bool undo(FileStore *f, const Undos *u) {
    RunFile *file;
    bool found, ok = true;
    for (size_t i = 0; i < u->len; i++) {
        if (!u->items[i].end) {
            ok = file_store_drop_run(f, u->items[i].run, NULL) && ok;
            continue;
        }
        ok = file_store_run(f, u->items[i].run, &file, &found, NULL) && found &&
             run_file_cut(file, u->items[i].end) && ok;
    }
    return ok;
}

/* First all that can be undone: new checkpoints. */
static bool append_all(FileStore *f, const Writes *w, Undos *u, Error *err) {
    Part p;
    bool ok = true, skip;
    for (size_t at = 0; ok && next_part(f, w, &at, &p);) {
        if (removes_run(&p)) continue;
        ok = prepare_part(&p, &skip, err);
        if (ok && !skip && !p.rewrites) {
            uint64_t end = makes_run(&p) ? 0 : p.file->end;
            ok = write_part(&p, err);
            if (ok || !end) {
                u->items = mem_grow(u->items, u->len, &u->cap, sizeof *u->items);
                u->items[u->len++] = (Undo){p.run, end};
            }
        }
        clear_part(&p);
    }
    return ok;
}

/* Then the other parts; both go by the number of the run. */
static bool rewrite_all(FileStore *f, const Writes *w, const Undos *appended, Error *err) {
    Part p;
    size_t i = 0;
    for (size_t at = 0; next_part(f, w, &at, &p);) {
        if (i < appended->len && appended->items[i].run == p.run) {
            i++;
        } else if (!write_run(&p, err)) {
            return false;
        }
    }
    return true;
}

/* Once its file is there, the batch holds, unless all of it can be undone. When it can neither be
 * done nor undone its file stays: locked as long as this handle lives, and finished by whoever comes
 * next. */
static bool commit_kept(FileStore *f, const Writes *w, bool *undone, Error *err) {
    Undos u = {0};
    bool ok = append_all(f, w, &u, err);
    *undone = !ok && undo(f, &u);
    ok = ok && rewrite_all(f, w, &u, err);
    mem_free(u.items);
    return ok;
}

static bool commit_several(FileStore *f, const StoreBatch *b, const Writes *w, Error *err) {
    char name[64]; /* by the handle and its uses, which no other of this process shares */
    if (b->bytes.len > BATCH_MAX - BATCH_HEAD) {
        return error_set(err, ERR_LIMIT, "What is to be written to several runs takes %zu MB.",
                         b->bytes.len >> 20);
    }
    snprintf(name, sizeof name, "%ld-%p-%llu", (long)getpid(), (void *)f,
             (unsigned long long)++f->clock);
    char *path = path_join(f->batches, name);
    int fd = keep_batch(f, b, path);
    bool undone = false;
    bool ok = fd >= 0 ? commit_kept(f, w, &undone, err)
                      : file_store_failed(f, "writing checkpoints", err);
    if (fd >= 0 && (ok || undone)) {
        unlink(path);
        close(fd);
    } else if (fd >= 0) {
        f->stuck = mem_grow(f->stuck, f->nstuck, &f->stuck_cap, sizeof *f->stuck);
        f->stuck[f->nstuck++] = fd;
    }
    mem_free(path);
    return ok;
}

bool file_store_commit(Store *s, const StoreBatch *b, Error *err) {
    FileStore *f = (FileStore *)s;
    Writes w = {0};
    Part p;
    size_t at = 0;
    collect_writes(b, s, &w);
    bool ok = file_store_keep_last(f) || file_store_failed(f, "making a run", err);
    if (ok) {
        ok = w.len && w.items[0].run != w.items[w.len - 1].run
                 ? commit_several(f, b, &w, err)
                 : !next_part(f, &w, &at, &p) || write_run(&p, err);
    }
    mem_free(w.items);
    file_store_end(f);
    return ok;
}

/* ---- finishing what others began ---- */

/* A batch that is not whole was never acknowledged. */
static bool read_batch(const char *path, StoreBatch *b) {
    Buf bytes = BUF_INIT;
    uint64_t len, count;
    uint32_t crc;
    bool ok = file_read_whole(path, BATCH_MAX, &bytes) && bytes.len >= BATCH_HEAD &&
              !memcmp(bytes.data, batch_magic, 8);
    if (ok) {
        memcpy(&len, bytes.data + 8, 8);
        memcpy(&count, bytes.data + 16, 8);
        memcpy(&crc, bytes.data + 24, 4);
        size_t rest = bytes.len - BATCH_HEAD;
        ok = len == rest && crc == crc32c(bytes.data + BATCH_HEAD, rest);
    }
    if (ok) {
        buf_add(&b->bytes, bytes.data + BATCH_HEAD, (size_t)len);
        b->count = (size_t)count;
    }
    buf_clear(&bytes);
    return ok;
}

/* Doing a part again that was done before changes nothing, as nobody could write the run since. A
 * run that is damaged is left as it is. */
static bool finish_part(Part *p, Error *err) {
    RunFile *file;
    bool found;
    Buf why = BUF_INIT;
    if (!file_store_run(p->store, p->run, &file, &found, err)) return false;
    bool damaged = found && run_file_damage(file, true, &why);
    buf_clear(&why);
    p->again = true;
    if (makes_run(p)) { /* all of it again: its thread may not be there */
        file_store_forget(p->store, p->run);
        return write_run(p, err);
    }
    if (!found || damaged) return true;
    return (run_file_repair(file) || file_store_failed(p->store, "repairing a run", err)) &&
           write_run(p, err);
}

static bool finish_batch(FileStore *f, const char *name, Error *err) {
    char *path = path_join(f->batches, name);
    StoreBatch b = STORE_BATCH_INIT;
    Writes w = {0};
    Part p;
    bool ok = true;
    int fd = open_regular(path, O_RDWR);
    if (fd >= 0 && lock_whole(fd)) {
        if (read_batch(path, &b)) collect_writes(&b, NULL, &w);
        for (size_t at = 0; ok && next_part(f, &w, &at, &p);) ok = finish_part(&p, err);
        if (ok) unlink(path);
    }
    if (fd >= 0) close(fd);
    mem_free(w.items);
    store_batch_clear(&b);
    mem_free(path);
    return ok;
}

/* The lock is taken only where there is something to do. */
bool file_store_finish_batches(FileStore *f, Error *err) {
    DIR *dir = opendir(f->batches);
    bool ok = dir != NULL || file_store_failed(f, "opening it", err), locked = false;
    for (struct dirent *e; ok && (e = readdir(dir));) {
        if (e->d_name[0] != '.') {
            locked = locked || lease_file_lock_store(&f->lease_file, err);
            ok = locked && finish_batch(f, e->d_name, err);
        }
    }
    if (locked) lease_file_unlock(&f->lease_file, 0);
    if (dir) closedir(dir);
    return ok;
}
