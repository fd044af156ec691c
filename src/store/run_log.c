/* run_log.c - where the log of a run lies in its file, and the index that says so. */
#include "crc32c.h"
#include "mem.h"
#include "run_record.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static const char log_magic[8] = {'P', 'A', 'W', 'L', 'L', 'G', 'X', STORE_FORMAT};

/* ---- entries of the log ---- */

uint32_t run_file_node_hash(const char *node) {
    return crc32c(node, strlen(node));
}

static int64_t last_piece(const RunLog *log) {
    return log->n ? log->items[log->n - 1].n : 0;
}

/* What a record says of the piece in it. One that comes out of order is passed over. */
void run_log_add(RunFile *f, uint64_t place, const Record *r) {
    enum { MOST_HEADS = 1024 };
    RunLog *log = &f->log;
    LogPiece piece;
    size_t len = r->len < MOST_HEADS ? r->len : MOST_HEADS;
    const char *bytes = reader_get(&f->reader, place, RECORD_HEAD + len);
    bool read = bytes && log_unpack(bytes + RECORD_HEAD, len, false, &piece);
    if (!read && r->len > len) { /* a node with a long name */
        len = r->len;
        bytes = reader_get(&f->reader, place, RECORD_HEAD + len);
        read = bytes && log_unpack(bytes + RECORD_HEAD, len, false, &piece);
    }
    if (!read || piece.n != r->seq || piece.n <= last_piece(log)) return;
    log->items = mem_grow(log->items, log->n, &log->cap, sizeof *log->items);
    log->items[log->n++] = (PieceEntry){.n = piece.n,
                                        .place = place,
                                        .before = piece.before,
                                        .execution = piece.execution,
                                        .at = piece.at,
                                        .len = (uint32_t)(piece.len + r->len - len),
                                        .node = run_file_node_hash(piece.node)};
}

/* ---- the index ---- */

bool run_log_write_index(RunFile *f) {
    RunLog *log = &f->log;
    uint64_t from = log->written - log->indexed; /* the first of the items that is not there */
    char head[LOG_INDEX_HEAD] = {0};
    Buf entries = BUF_INIT;
    if (log->indexed + log->n > UINT32_MAX) return false;
    if (from == log->n) return true;
    for (size_t i = from; i < log->n; i++) {
        const PieceEntry *e = &log->items[i];
        char *at = buf_reserve(&entries, LOG_INDEX_ENTRY);
        put64(at, (uint64_t)e->n);
        put64(at + 8, e->place);
        put64(at + 16, (uint64_t)e->before);
        put64(at + 24, (uint64_t)e->execution);
        put64(at + 32, (uint64_t)e->at);
        put32(at + 40, e->len);
        put32(at + 44, e->node);
        buf_advance(&entries, LOG_INDEX_ENTRY);
    }
    memcpy(head, log_magic, sizeof log_magic);
    put32(head + 8, f->generation);
    int fd = open_regular(log->path, O_RDWR | O_CREAT);
    bool ok = fd >= 0 &&
              file_write(fd, entries.data, entries.len,
                         LOG_INDEX_HEAD + log->written * LOG_INDEX_ENTRY) &&
              (log->written || file_write(fd, head, LOG_INDEX_HEAD, 0));
    if (fd >= 0) close(fd);
    if (ok) log->written = log->indexed + log->n;
    buf_clear(&entries);
    return ok;
}

/* Reads what is in N.lgx; false: it is not the index of this file. */
static bool read_log_index(RunFile *f) {
    RunLog *log = &f->log;
    Reader reader = {.fd = open_regular(log->path, O_RDONLY)};
    size_t bytes = (size_t)log->indexed * LOG_INDEX_ENTRY, n = 0;
    struct stat st;
    bool whole = reader.fd >= 0 && fstat(reader.fd, &st) == 0 &&
                 bytes <= (uint64_t)st.st_size - LOG_INDEX_HEAD && st.st_size >= LOG_INDEX_HEAD;
    const char *head = whole ? reader_get(&reader, 0, LOG_INDEX_HEAD) : NULL;
    bool ours = head && has_magic(head, log_magic) && get32(head + 8) == f->generation;
    const char *at = ours ? reader_get(&reader, LOG_INDEX_HEAD, bytes) : NULL;
    if (at) {
        PieceEntry *all = mem_alloc((log->indexed + log->n + 1) * sizeof *all);
        for (const char *end = at + bytes; at < end; at += LOG_INDEX_ENTRY, n++) {
            all[n] = (PieceEntry){.n = (int64_t)get64(at),
                                  .place = get64(at + 8),
                                  .before = (int64_t)get64(at + 16),
                                  .execution = (int64_t)get64(at + 24),
                                  .at = (int64_t)get64(at + 32),
                                  .len = get32(at + 40),
                                  .node = get32(at + 44)};
            ours = ours && all[n].n > (n ? all[n - 1].n : 0) && is_number(all[n].n) &&
                   is_number(all[n].before);
        }
        ours = ours && (!log->n || log->items[0].n > all[n - 1].n);
        if (log->n) memcpy(all + n, log->items, log->n * sizeof *all);
        if (ours) {
            mem_free(log->items);
            log->items = all;
            log->cap = log->n + n + 1;
            log->n += n;
            log->indexed = 0;
        } else {
            mem_free(all);
        }
    }
    reader_clear(&reader);
    if (reader.fd >= 0) close(reader.fd);
    return at && ours;
}

/* Looks through the file for what N.lgx ought to have. */
static void run_log_scan(RunFile *f) {
    Record r;
    uint64_t end = f->end;
    f->log.n = 0;
    f->log.indexed = f->log.written = 0;
    f->reader.ahead = READER_FAR;
    for (uint64_t at = record_find(f, RUN_HEAD, end); at < end;) {
        const char *head = reader_get(&f->reader, at, RECORD_HEAD);
        if (!head || !record_parse(head, &r) || at + record_size(&r) > end) {
            at = record_find(f, at + 1, end);
            continue;
        }
        if (r.type == RECORD_PIECE) run_log_add(f, at, &r);
        if (r.type == RECORD_TRIM && r.seq > f->log.first) f->log.first = r.seq;
        at += record_size(&r);
    }
    f->reader.ahead = 0;
}

/* All entries are in memory from now on. */
static void run_log_load(RunFile *f) {
    if (f->log.indexed && !read_log_index(f)) run_log_scan(f);
}

/* ---- reading the log ---- */

/* The place among the items of the first at or after a number. */
static size_t piece_at(const RunLog *log, int64_t n) {
    size_t low = 0, high = log->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (log->items[middle].n < n) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool run_file_log_end(RunFile *f, LogEnd *end) {
    run_log_load(f);
    const RunLog *log = &f->log;
    size_t first = piece_at(log, log->first);
    *end = (LogEnd){.first = log->first, .next = log->first};
    if (log->n) {
        const PieceEntry *last = &log->items[log->n - 1];
        const PieceEntry *begin = first < log->n ? &log->items[first] : last;
        *end = (LogEnd){begin->n, last->n + 1, begin->before, last->before + last->len};
    }
    return end->next <= RUN_SEQ_MAX || (errno = EFBIG, false);
}

bool run_file_find_piece(RunFile *f, int64_t n, bool before, size_t *i) {
    run_log_load(f);
    const RunLog *log = &f->log;
    *i = piece_at(log, n > log->first ? n : log->first);
    if (!before || (*i < log->n && log->items[*i].n == n)) return *i < log->n;
    return (*i)-- && log->items[*i].n >= log->first && log->items[*i].n <= n;
}

static const char *piece_payload(RunFile *f, const PieceEntry *e, Record *r, bool *there) {
    const char *head = e->place < f->end ? reader_get(&f->reader, e->place, RECORD_HEAD) : NULL;
    *there = head && record_parse(head, r) && r->type == RECORD_PIECE && r->seq == e->n &&
             e->place + record_size(r) <= f->end;
    return *there ? record_payload(f, e->place, r) : NULL;
}

/* An entry that leads nowhere is one of an index that lies: those of the file itself are taken instead, unless they
 * were before. */
void run_file_piece(RunFile *f, size_t i, LogPiece *out, const char **why) {
    Record r;
    bool there;
    int64_t n = f->log.items[i].n;
    const char *payload = piece_payload(f, &f->log.items[i], &r, &there);
    if (!there && f->log.written) {
        run_log_scan(f);
        i = piece_at(&f->log, n);
        there = i < f->log.n && f->log.items[i].n == n;
        payload = there ? piece_payload(f, &f->log.items[i], &r, &there) : NULL;
    }
    *why = NULL;
    if (!payload || !log_unpack(payload, r.len, true, out) || out->n != n) {
        *why = there ? "its checksum does not match" : "its record cannot be found";
        *out = (LogPiece){.n = n};
    }
    out->run = f->run;
}

bool run_file_piece_end(RunFile *f, const LogPiece *piece, int64_t *end) {
    *end = 0;
    run_log_load(f);
    for (size_t i = f->log.n; i-- && !*end;) {
        LogPiece there;
        const char *why;
        if (f->log.items[i].execution != piece->execution) continue;
        run_file_piece(f, i, &there, &why);
        if (!why && there.frame == piece->frame && there.stream == piece->stream) {
            *end = there.offset + (int64_t)there.len;
        }
        if (i > f->log.n) i = f->log.n; /* the entries are others now */
    }
    return true;
}

int64_t run_file_trim_at(RunFile *f, int64_t first, int64_t before, uint64_t *dead) {
    run_log_load(f);
    const RunLog *log = &f->log;
    size_t i = 0;
    *dead = 0;
    if (!log->n) return 0;
    for (; i + 1 < log->n && (log->items[i].n < first || log->items[i].before < before); i++) {
        *dead += RECORD_HEAD + log->items[i].len;
    }
    return log->items[i].n;
}

bool run_file_copy_log(RunFile *f, int64_t first, Buf *out) {
    size_t i;
    run_file_find_piece(f, first, false, &i);
    for (; i < f->log.n; i++) {
        Record r;
        bool there;
        piece_payload(f, &f->log.items[i], &r, &there);
        const char *bytes =
            there ? reader_get(&f->reader, f->log.items[i].place, (size_t)record_size(&r)) : NULL;
        size_t at = out->len;
        if (!bytes) return errno = EIO, false;
        buf_add(out, bytes, (size_t)record_size(&r));
        run_file_flag_last(out, at);
    }
    return true;
}
