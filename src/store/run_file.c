#include "run_file.h"

#include "crc32c.h"
#include "file_io.h"
#include "folders.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INDEX_LAG = 1 << 16 }; /* bytes that may be missing in the index */

static const char run_magic[8] = {'P', 'A', 'W', 'L', 'R', 'U', 'N', STORE_FORMAT};
static const char index_magic[8] = {'P', 'A', 'W', 'L', 'I', 'D', 'X', STORE_FORMAT};
static const char log_magic[8] = {'P', 'A', 'W', 'L', 'L', 'G', 'X', STORE_FORMAT};

/* Of this format or of an older one: what they hold is read the same. */
static bool has_magic(const char *head, const char magic[8]) {
    return !memcmp(head, magic, 7) && head[7] >= 1 && head[7] <= STORE_FORMAT;
}

/* ---- numbers ---- */

static void put32(char *p, uint32_t v) {
    memcpy(p, &v, 4);
}

static void put64(char *p, uint64_t v) {
    memcpy(p, &v, 8);
}

static uint32_t get32(const char *p) {
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static uint64_t get64(const char *p) {
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* ---- records ---- */

typedef struct Record {
    RecordType type;
    bool last;
    uint32_t len, crc;
    int64_t seq;
} Record;

static void seal_head(char *head) {
    put32(head + 20, crc32c(head, 20));
}

void run_file_record(Buf *out, RecordType type, int64_t seq, const char *payload, size_t len) {
    char *head = buf_reserve(out, RECORD_HEAD + len + 1);
    head[0] = 'P';
    head[1] = 'R';
    head[2] = (char)type;
    head[3] = 0;
    put32(head + 4, (uint32_t)len);
    put64(head + 8, (uint64_t)seq);
    put32(head + 16, crc32c(payload, len));
    seal_head(head);
    memcpy(head + RECORD_HEAD, payload, len);
    head[RECORD_HEAD + len] = (char)RECORD_END;
    buf_advance(out, RECORD_HEAD + len + 1);
}

void run_file_flag_last(Buf *out, size_t at) {
    out->data[at + 3] = RECORD_LAST;
    seal_head(out->data + at);
}

static bool parse_head(const char *head, Record *r) {
    if (head[0] != 'P' || head[1] != 'R' || get32(head + 20) != crc32c(head, 20)) return false;
    *r = (Record){.type = (RecordType)head[2],
                  .last = head[3] & RECORD_LAST,
                  .len = get32(head + 4),
                  .crc = get32(head + 16),
                  .seq = (int64_t)get64(head + 8)};
    uint32_t max = r->type == RECORD_CHECKPOINT ? STORE_RECORD_MAX : STORE_FACTS_MAX;
    bool numbered =
        r->type == RECORD_CHECKPOINT || r->type == RECORD_PIECE || r->type == RECORD_TRIM;
    return r->len <= max && (!numbered || (r->seq > 0 && r->seq <= RUN_SEQ_MAX));
}

static uint64_t record_size(const Record *r) {
    return (uint64_t)RECORD_HEAD + r->len + 1;
}

/* The payload when it checks. The reader has to hold all of it, so the length is that of a record
 * that lies within the file. */
static const char *sound_payload(RunFile *f, uint64_t place, const Record *r) {
    const char *bytes = reader_get(&f->reader, place, (size_t)record_size(r));
    bool sound = bytes && crc32c(bytes + RECORD_HEAD, r->len) == r->crc &&
                 (unsigned char)bytes[RECORD_HEAD + r->len] == RECORD_END;
    return sound ? bytes + RECORD_HEAD : NULL;
}

/* ---- facts ---- */

static void put_text(Buf *out, const char *text) {
    buf_add(out, text, strlen(text) + 1);
}

void run_file_run_record(Buf *out, const RunRow *row) {
    Buf payload = BUF_INIT;
    put_varint(&payload, (uint64_t)row->run);
    put_varint(&payload, (uint64_t)row->created);
    put_text(&payload, row->thread);
    put_text(&payload, row->workflow);
    put_text(&payload, row->definition);
    run_file_record(out, RECORD_RUN, 0, payload.data, payload.len);
    buf_clear(&payload);
}

void run_file_state_record(Buf *out, const RunRow *row) {
    Buf payload = BUF_INIT;
    put_varint(&payload, (uint64_t)row->head);
    put_varint(&payload, (uint64_t)row->updated);
    put_varint(&payload, (uint64_t)row->last);
    put_text(&payload, row->status);
    put_text(&payload, row->owner);
    run_file_record(out, RECORD_STATE, 0, payload.data, payload.len);
    buf_clear(&payload);
}

static bool get_number(const char **p, const char *end, int64_t *out) {
    uint64_t v;
    if (!get_varint(p, end, &v)) return false;
    *out = (int64_t)v;
    return true;
}

static bool get_text(const char **p, const char *end, char **out) {
    const char *nul = memchr(*p, '\0', (size_t)(end - *p));
    if (!nul) return false;
    mem_free(*out);
    *out = mem_strndup(*p, (size_t)(nul - *p));
    *p = nul + 1;
    return true;
}

static bool parse_run(RunRow *row, const char *p, const char *end) {
    int64_t run;
    return get_number(&p, end, &run) && run == row->run && get_number(&p, end, &row->created) &&
           get_text(&p, end, &row->thread) && get_text(&p, end, &row->workflow) &&
           get_text(&p, end, &row->definition);
}

static bool is_number(int64_t seq) {
    return seq >= 0 && seq <= RUN_SEQ_MAX;
}

static bool parse_state(RunRow *row, const char *p, const char *end) {
    int64_t last = 0;
    bool ok = get_number(&p, end, &row->head) && get_number(&p, end, &row->updated) &&
              get_number(&p, end, &last) && is_number(row->head) && is_number(last) &&
              get_text(&p, end, &row->status) && get_text(&p, end, &row->owner);
    row->last = ok && last > row->last ? last : row->last;
    return ok;
}

/* Takes in the facts at a place; false when they are not there. */
static bool read_facts(RunFile *f, uint64_t place, uint64_t size, RecordType type) {
    Record r;
    const char *head = reader_get(&f->reader, place, RECORD_HEAD);
    if (!head || !parse_head(head, &r) || r.type != type || place + record_size(&r) > size) {
        return false;
    }
    const char *payload = sound_payload(f, place, &r);
    return payload &&
           (type == RECORD_RUN ? parse_run : parse_state)(&f->row, payload, payload + r.len);
}

/* ---- entries of the log ---- */

uint32_t run_file_node_hash(const char *node) {
    return crc32c(node, strlen(node));
}

static int64_t last_piece(const RunLog *log) {
    return log->n ? log->items[log->n - 1].n : 0;
}

/* What a record says of the piece in it. One that comes out of order is passed over. */
static void add_piece(RunFile *f, uint64_t place, const Record *r) {
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

/* ---- scanning ---- */

typedef struct Scan {
    RunFile *f;
    uint64_t at, size;
    uint64_t group; /* where the group that it is in starts */
    size_t entries; /* in `recent` before that group */
    uint64_t facts; /* of that group; 0: none */
    size_t pieces;  /* in `log` before that group */
    int64_t trim;   /* of that group; 0: none */
    bool ordered;
} Scan;

static int by_seq_then_place(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    if (x->seq != y->seq) return x->seq < y->seq ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Of several with one number the last in the file stays. */
static void order_entries(RunFile *f) {
    size_t n = 0;
    qsort(f->recent, f->nrecent, sizeof *f->recent, by_seq_then_place);
    for (size_t i = 0; i < f->nrecent; i++) {
        if (i + 1 == f->nrecent || f->recent[i + 1].seq != f->recent[i].seq) {
            f->recent[n++] = f->recent[i];
        }
    }
    f->nrecent = n;
}

static int64_t last_indexed(RunFile *f);

static void end_group(Scan *s) {
    RunFile *f = s->f;
    for (size_t i = s->entries; i < f->nrecent; i++) {
        f->row.last = f->recent[i].seq > f->row.last ? f->recent[i].seq : f->row.last;
    }
    if (s->facts) {
        f->facts = s->facts;
        f->facts_lost = !read_facts(f, s->facts, s->size, RECORD_STATE);
    }
    f->log.first = s->trim > f->log.first ? s->trim : f->log.first;
    s->group = f->end = s->at;
    s->entries = f->nrecent;
    s->pieces = f->log.n;
    s->facts = 0;
    s->trim = 0;
}

/* A place where a record could start, at or after `at`; size when there is none. */
static uint64_t find_record(RunFile *f, uint64_t at, uint64_t size) {
    Record r;
    size_t len;
    while (at + RECORD_HEAD <= size) {
        uint64_t data = reader_data(&f->reader, at);
        if (data > size - RECORD_HEAD) break;
        at = data;
        const char *bytes = reader_some(&f->reader, at, &len);
        const char *p = bytes ? memchr(bytes, 'P', len) : NULL;
        if (!bytes) break;
        at += p ? (uint64_t)(p - bytes) : len;
        const char *head = p ? reader_get(&f->reader, at, RECORD_HEAD) : NULL;
        if (head && parse_head(head, &r) && at + record_size(&r) <= size) return at;
        at += p ? 1 : 0;
    }
    return size;
}

static bool only_zeros(RunFile *f, uint64_t at, uint64_t size) {
    size_t len;
    for (; at < size; at += len) {
        at = reader_data(&f->reader, at);
        if (at >= size) break;
        const char *bytes = reader_some(&f->reader, at, &len);
        for (size_t i = 0; bytes && i < len && at + i < size; i++) {
            if (bytes[i]) return false;
        }
        if (!bytes) return false;
    }
    return true;
}

/* One step; false at the end, or where a group stops in the midst. What cannot be read is passed over:
 * whatever stood there may have been the last facts. */
static bool scan_record(Scan *s) {
    RunFile *f = s->f;
    Record r;
    const char *head = reader_get(&f->reader, s->at, RECORD_HEAD);
    if (!head || s->at + RECORD_HEAD > s->size) return false;
    if (!parse_head(head, &r)) {
        if (only_zeros(f, s->at, s->size)) {
            return false; /* room that was made for a group, which never came */
        }
        f->hole = f->holes++ ? f->hole : s->at;
        s->at = find_record(f, s->at + 1, s->size);
        s->facts = 0;
        f->facts_lost = true;
        end_group(s);
        return true;
    }
    if (s->at + record_size(&r) > s->size) return false;
    if (r.type == RECORD_CHECKPOINT) {
        int64_t before = f->nrecent ? f->recent[f->nrecent - 1].seq : last_indexed(f);
        s->ordered = s->ordered && r.seq > before;
        f->recent = mem_grow(f->recent, f->nrecent, &f->recent_cap, sizeof *f->recent);
        f->recent[f->nrecent++] = (Entry){r.seq, s->at};
    } else if (r.type == RECORD_STATE) {
        s->facts = s->at;
    } else if (r.type == RECORD_PIECE) {
        add_piece(f, s->at, &r);
    } else if (r.type == RECORD_TRIM) {
        s->trim = r.seq;
    }
    s->at += record_size(&r);
    if (r.last) end_group(s);
    return true;
}

static void start_over(RunFile *f) {
    f->indexed = 0;
    f->covered = f->end = RUN_HEAD;
    f->nrecent = 0;
    f->from_scan = true;
    f->facts = f->holes = 0;
    f->facts_lost = false;
    f->log.n = 0;
    f->log.indexed = f->log.written = 0;
    f->log.first = 1;
    f->row.last = f->row.head = 0;
    mem_free(f->row.status);
    f->row.status = NULL;
}

/* Goes on from f->end. A file in which numbers do not ascend cannot be indexed piece by piece. */
static void scan(RunFile *f, uint64_t size) {
    Scan s = {.f = f,
              .at = f->end,
              .size = size,
              .group = f->end,
              .entries = f->nrecent,
              .pieces = f->log.n,
              .ordered = true};
    f->reader.ahead = READER_FAR;
    reader_forget(&f->reader);
    while (scan_record(&s)) {}
    f->reader.ahead = 0;
    f->nrecent = s.entries; /* of whole groups only */
    f->log.n = s.pieces;
    if (!s.ordered && !f->from_scan) {
        start_over(f);
        scan(f, size);
    } else if (!s.ordered) {
        order_entries(f);
    }
}

/* ---- the index ---- */

static bool read_entry(RunFile *f, uint64_t i, Entry *out) {
    const char *bytes =
        reader_get(&f->index_reader, INDEX_HEAD + i * (uint64_t)INDEX_ENTRY, INDEX_ENTRY);
    if (!bytes) return false;
    *out = (Entry){(int64_t)get64(bytes), get64(bytes + 8)};
    return true;
}

static int64_t last_indexed(RunFile *f) {
    Entry e = {0};
    return f->indexed && read_entry(f, f->indexed - 1, &e) ? e.seq : 0;
}

static uint64_t entry_count(const RunFile *f) {
    return f->indexed + f->nrecent;
}

static bool entry_at(RunFile *f, uint64_t i, Entry *out) {
    if (i >= f->indexed) {
        *out = f->recent[i - f->indexed];
        return true;
    }
    return read_entry(f, i, out);
}

/* The first entry at or after seq. As numbers mostly have no gaps, the guess is mostly right. */
static uint64_t lower_bound(RunFile *f, int64_t seq) {
    uint64_t low = 0, high = entry_count(f);
    uint64_t guess = seq > 0 && (uint64_t)seq <= high ? (uint64_t)seq - 1 : high / 2;
    Entry e = {0};
    while (low < high && entry_at(f, guess, &e)) {
        if (e.seq < seq) {
            low = guess + 1;
        } else {
            high = guess;
        }
        /* the neighbour before it is the only one left to rule out when the guess was right */
        guess = e.seq == seq && high > low ? high - 1 : low + (high - low) / 2;
    }
    return low;
}

static void use_index(RunFile *f, const char *head, uint64_t size) {
    bool ours = has_magic(head, index_magic) && get32(head + 48) == crc32c(head, 48);
    uint64_t count = get64(head + 16), covered = get64(head + 24), facts = get64(head + 32);
    struct stat st;
    if (!ours || get32(head + 8) != f->generation || fstat(f->index_fd, &st) != 0 ||
        count > (uint64_t)st.st_size / INDEX_ENTRY || !is_number((int64_t)get64(head + 40))) {
        return;
    }
    if (covered > size) {
        f->cut_off = covered;
        return;
    }
    uint32_t pieces = get32(head + 12);
    int64_t first = (int64_t)get64(head + 52);
    if (pieces && (get32(head + 60) != crc32c(head + 52, 8) || first < 1)) return;
    f->log.indexed = f->log.written = pieces;
    f->log.first = pieces ? first : 1;
    f->indexed = count;
    f->covered = f->end = covered;
    f->facts = facts;
    f->row.last = (int64_t)get64(head + 40);
    f->from_scan = false;
    if (facts && !read_facts(f, facts, covered, RECORD_STATE)) start_over(f);
}

static void load_index(RunFile *f, uint64_t size) {
    char head[INDEX_HEAD];
    start_over(f);
    if (f->index_fd < 0) f->index_fd = open_regular(f->index_path, f->writable ? O_RDWR : O_RDONLY);
    f->index_reader.fd = f->index_fd;
    reader_forget(&f->index_reader);
    if (f->index_fd >= 0 && pread(f->index_fd, head, INDEX_HEAD, 0) == INDEX_HEAD) {
        use_index(f, head, size);
    }
}

/* What N.lgx lacks is added to it; false: its entries cannot be relied on. */
static bool write_log_index(RunFile *f) {
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
static void scan_log(RunFile *f) {
    Record r;
    uint64_t end = f->end;
    f->log.n = 0;
    f->log.indexed = f->log.written = 0;
    f->reader.ahead = READER_FAR;
    for (uint64_t at = find_record(f, RUN_HEAD, end); at < end;) {
        const char *head = reader_get(&f->reader, at, RECORD_HEAD);
        if (!head || !parse_head(head, &r) || at + record_size(&r) > end) {
            at = find_record(f, at + 1, end);
            continue;
        }
        if (r.type == RECORD_PIECE) add_piece(f, at, &r);
        if (r.type == RECORD_TRIM && r.seq > f->log.first) f->log.first = r.seq;
        at += record_size(&r);
    }
    f->reader.ahead = 0;
}

/* All entries are in memory from now on. */
static void load_log(RunFile *f) {
    if (f->log.indexed && !read_log_index(f)) scan_log(f);
}

/* Not while there is damage: the index would hide the holes. A failure is no loss: the index is then
 * made again by whoever needs it. */
static void update_index(RunFile *f, uint64_t lag) {
    char head[INDEX_HEAD] = {0};
    Buf entries = BUF_INIT;
    if (!f->writable || f->fd < 0 || f->holes || f->facts_lost || f->cut_off ||
        f->end - f->covered <= lag) {
        return;
    }
    if (!write_log_index(f)) return;
    if (f->index_fd < 0) f->index_fd = open_regular(f->index_path, O_RDWR | O_CREAT);
    f->index_reader.fd = f->index_fd;
    reader_forget(&f->index_reader);
    for (size_t i = 0; i < f->nrecent; i++) {
        char *at = buf_reserve(&entries, INDEX_ENTRY);
        put64(at, (uint64_t)f->recent[i].seq);
        put64(at + 8, f->recent[i].place);
        buf_advance(&entries, INDEX_ENTRY);
    }
    memcpy(head, index_magic, sizeof index_magic);
    put32(head + 8, f->generation);
    put64(head + 16, f->indexed + f->nrecent);
    put64(head + 24, f->end);
    put64(head + 32, f->facts);
    put64(head + 40, (uint64_t)f->row.last);
    if (f->log.written) {
        put32(head + 12, (uint32_t)f->log.written);
        put64(head + 52, (uint64_t)f->log.first);
        put32(head + 60, crc32c(head + 52, 8));
    }
    put32(head + 48, crc32c(head, 48));
    if (f->index_fd >= 0 &&
        (!entries.len || file_write(f->index_fd, entries.data, entries.len,
                                    INDEX_HEAD + f->indexed * INDEX_ENTRY)) &&
        file_write(f->index_fd, head, INDEX_HEAD, 0)) {
        f->indexed += f->nrecent;
        f->nrecent = 0;
        f->covered = f->end;
        f->from_scan = false;
    }
    buf_clear(&entries);
}

void run_file_write_index(RunFile *f) {
    update_index(f, 0);
}

/* ---- life ---- */

/* Reads the file from its head on, in the state that it is in now. */
static bool load(RunFile *f) {
    struct stat st;
    if (f->fd < 0 || fstat(f->fd, &st) != 0) return false;
    f->inode = (uint64_t)st.st_ino;
    f->reader.fd = f->fd;
    reader_forget(&f->reader);
    f->cut_off = 0;
    f->row.run = f->run;
    const char *head = reader_get(&f->reader, 0, RUN_HEAD);
    bool ours = head && has_magic(head, run_magic) && get32(head + 12) == crc32c(head, 12);
    f->generation = ours ? get32(head + 8) : f->generation;
    if (!ours || !read_facts(f, RUN_HEAD, (uint64_t)st.st_size, RECORD_RUN)) {
        mem_free(f->row.thread);
        f->row.thread = NULL; /* unusable, which run_file_damage() says */
        return true;
    }
    load_index(f, (uint64_t)st.st_size);
    scan(f, (uint64_t)st.st_size);
    return true;
}

static int open_run(const char *path, bool writable) {
    return open_regular(path, writable ? O_RDWR : O_RDONLY);
}

RunFile *run_file_open(const char *folder, int64_t run, bool writable) {
    char name[32];
    RunFile *f = mem_zalloc(sizeof *f);
    snprintf(name, sizeof name, "%lld.run", (long long)run);
    f->path = path_join(folder, name);
    snprintf(name, sizeof name, "%lld.idx", (long long)run);
    f->index_path = path_join(folder, name);
    snprintf(name, sizeof name, "%lld.lgx", (long long)run);
    f->log.path = path_join(folder, name);
    f->run = run;
    f->writable = writable;
    f->index_fd = -1;
    f->fd = open_run(f->path, writable);
    if (!load(f)) {
        int failed = errno;
        run_file_close(f);
        errno = failed;
        return NULL;
    }
    return f;
}

static void close_files(RunFile *f) {
    if (f->fd >= 0) close(f->fd);
    if (f->index_fd >= 0) close(f->index_fd);
    f->fd = f->index_fd = -1;
}

void run_file_close(RunFile *f) {
    if (!f) return;
    close_files(f);
    reader_clear(&f->reader);
    reader_clear(&f->index_reader);
    run_row_clear(&f->row);
    mem_free(f->recent);
    mem_free(f->log.items);
    mem_free(f->log.path);
    mem_free(f->path);
    mem_free(f->index_path);
    mem_free(f);
}

static void add_head(Buf *out, uint32_t generation) {
    char head[RUN_HEAD];
    memcpy(head, run_magic, sizeof run_magic);
    put32(head + 8, generation);
    put32(head + 12, crc32c(head, 12));
    buf_add(out, head, RUN_HEAD);
}

bool run_file_create(const char *folder, const RunRow *row, const Buf *checkpoints) {
    char name[32];
    Buf bytes = BUF_INIT;
    snprintf(name, sizeof name, "%lld.run", (long long)row->run);
    char *path = path_join(folder, name);
    add_head(&bytes, 1);
    run_file_run_record(&bytes, row);
    buf_add(&bytes, checkpoints->data, checkpoints->len);
    size_t last = bytes.len;
    run_file_state_record(&bytes, row);
    run_file_flag_last(&bytes, last);
    bool ok = file_replace(path, bytes.data, bytes.len);
    mem_free(path);
    buf_clear(&bytes);
    return ok;
}

bool run_file_refresh(RunFile *f) {
    struct stat named, opened;
    if (stat(f->path, &named) != 0) return false;
    if ((uint64_t)named.st_ino != f->inode) {
        close_files(f);
        f->fd = open_run(f->path, f->writable);
        return load(f);
    }
    if (fstat(f->fd, &opened) != 0) return false;
    if ((uint64_t)opened.st_size < f->end) return load(f);
    if ((uint64_t)opened.st_size > f->end && f->row.thread) scan(f, (uint64_t)opened.st_size);
    return true;
}

bool run_file_repair(RunFile *f) {
    struct stat st;
    if (fstat(f->fd, &st) != 0) return false;
    if ((uint64_t)st.st_size == f->end || !f->row.thread) return true;
    reader_forget(&f->reader);
    return ftruncate(f->fd, (off_t)f->end) == 0 && file_sync(f->fd);
}

bool run_file_damage(const RunFile *f, bool any, Buf *out) {
    if (!f->row.thread) {
        buf_printf(out,
                   "%s is not the file of a run, or its beginning is damaged. Put back a copy of "
                   "it, or remove it.",
                   f->path);
    } else if (f->cut_off) {
        buf_printf(out,
                   "%s is cut off: it must have had at least %llu bytes. Put back a copy of it, or "
                   "remove %s to go on from what is left.",
                   f->path, (unsigned long long)f->cut_off, f->index_path);
    } else if (f->facts_lost || !f->row.status) {
        buf_printf(out,
                   "%s is damaged at byte %llu, so it is not known where the run stood. Put back a "
                   "copy of it.",
                   f->path, (unsigned long long)(f->holes ? f->hole : f->facts));
    } else if (any && f->holes) {
        buf_printf(out, "%s is damaged at byte %llu (%llu place%s in all).", f->path,
                   (unsigned long long)f->hole, (unsigned long long)f->holes,
                   f->holes > 1 ? "s" : "");
    } else {
        return false;
    }
    return true;
}

/* ---- reading checkpoints ---- */

/* Whether a checkpoint's record is at a place, by its head. */
static bool is_at(RunFile *f, const Entry *e, Record *r) {
    const char *head = e->place < f->end ? reader_get(&f->reader, e->place, RECORD_HEAD) : NULL;
    return head && parse_head(head, r) && r->type == RECORD_CHECKPOINT && r->seq == e->seq &&
           e->place + record_size(r) <= f->end;
}

static bool look_up(RunFile *f, int64_t seq, Entry *e, Record *r) {
    uint64_t i = lower_bound(f, seq);
    return i < entry_count(f) && entry_at(f, i, e) && e->seq == seq && is_at(f, e, r);
}

static bool rebuild(RunFile *f) {
    struct stat st;
    if (f->from_scan || fstat(f->fd, &st) != 0) return false;
    start_over(f);
    scan(f, (uint64_t)st.st_size);
    return true;
}

static bool find_record_of(RunFile *f, int64_t seq, Entry *e, Record *r) {
    return look_up(f, seq, e, r) || (rebuild(f) && look_up(f, seq, e, r));
}

bool run_file_checkpoint(RunFile *f, int64_t seq, Checkpoint *out, bool *found, const char **why) {
    Entry e;
    Record r;
    *found = find_record_of(f, seq, &e, &r);
    if (!*found) {
        *why = f->holes && seq > 0 && seq <= f->row.last ? "its record cannot be found" : NULL;
        return true;
    }
    const char *payload = sound_payload(f, e.place, &r);
    if (!payload || !checkpoint_unpack(payload, r.len, out) || out->seq != seq ||
        out->run != f->run) {
        *why = "its checksum does not match";
    }
    return true;
}

bool run_file_next(RunFile *f, int64_t *seq) {
    Entry e;
    Record r;
    f->reader.ahead = READER_FAR;
    uint64_t i = lower_bound(f, *seq);
    bool there = i < entry_count(f);
    if (!there || !entry_at(f, i, &e) || e.seq < *seq || !is_at(f, &e, &r)) {
        if (!there || !rebuild(f)) return there && entry_at(f, i, &e) && (*seq = e.seq, true);
        i = lower_bound(f, *seq);
        there = i < entry_count(f) && entry_at(f, i, &e);
    }
    if (there) *seq = e.seq;
    return there;
}

void run_file_rest(RunFile *f) {
    f->reader.ahead = 0;
}

bool run_file_copy_record(RunFile *f, int64_t seq, Buf *out) {
    Entry e;
    Record r;
    if (!find_record_of(f, seq, &e, &r)) {
        errno = EIO;
        return false;
    }
    const char *bytes = reader_get(&f->reader, e.place, (size_t)record_size(&r));
    if (!bytes) return false;
    size_t at = out->len;
    buf_add(out, bytes, (size_t)record_size(&r));
    run_file_flag_last(out, at);
    return true;
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
    load_log(f);
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
    load_log(f);
    const RunLog *log = &f->log;
    *i = piece_at(log, n > log->first ? n : log->first);
    if (!before || (*i < log->n && log->items[*i].n == n)) return *i < log->n;
    return (*i)-- && log->items[*i].n >= log->first && log->items[*i].n <= n;
}

static const char *piece_payload(RunFile *f, const PieceEntry *e, Record *r, bool *there) {
    const char *head = e->place < f->end ? reader_get(&f->reader, e->place, RECORD_HEAD) : NULL;
    *there = head && parse_head(head, r) && r->type == RECORD_PIECE && r->seq == e->n &&
             e->place + record_size(r) <= f->end;
    return *there ? sound_payload(f, e->place, r) : NULL;
}

/* An entry that leads nowhere is one of an index that lies: those of the file itself are taken instead, unless they
 * were before. */
void run_file_piece(RunFile *f, size_t i, LogPiece *out, const char **why) {
    Record r;
    bool there;
    int64_t n = f->log.items[i].n;
    const char *payload = piece_payload(f, &f->log.items[i], &r, &there);
    if (!there && f->log.written) {
        scan_log(f);
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
    load_log(f);
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
    load_log(f);
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

/* ---- writing ---- */

/* The rest of a group that failed must not show behind a shorter one that follows it. */
static bool clean_tail(RunFile *f) {
    if (f->tail_dirty && ftruncate(f->fd, (off_t)f->end) == 0) f->tail_dirty = false;
    return !f->tail_dirty;
}

bool run_file_append(RunFile *f, const Buf *group) {
    reader_forget(&f->reader);
    if (!clean_tail(f)) return false;
    if (!file_write(f->fd, group->data, group->len, f->end) || !file_sync(f->fd)) {
        int failed = errno;
        f->tail_dirty = true;
        clean_tail(f);
        errno = failed;
        return false;
    }
    scan(f, f->end + group->len);
    update_index(f, INDEX_LAG);
    return true;
}

/* An index that covers more would call the file cut off. */
bool run_file_cut(RunFile *f, uint64_t end) {
    if (f->covered > end && unlink(f->index_path) == 0) {
        close(f->index_fd);
        f->index_fd = -1;
    }
    return ftruncate(f->fd, (off_t)end) == 0 && file_sync(f->fd) && load(f);
}

bool run_file_rewrite(RunFile *f, const Buf *records) {
    Buf bytes = BUF_INIT;
    add_head(&bytes, f->generation + 1);
    buf_add(&bytes, records->data, records->len);
    bool ok = file_replace(f->path, bytes.data, bytes.len);
    buf_clear(&bytes);
    if (ok) {
        ok = run_file_refresh(f);
        update_index(f, 0);
    }
    return ok;
}
