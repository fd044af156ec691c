#include "run_file.h"

#include "crc32c.h"
#include "file_io.h"
#include "folders.h"
#include "mem.h"
#include "run_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INDEX_LAG = 1 << 16 }; /* bytes that may be missing in the index */

static const char run_magic[8] = {'P', 'A', 'W', 'L', 'R', 'U', 'N', STORE_FORMAT};
static const char index_magic[8] = {'P', 'A', 'W', 'L', 'I', 'D', 'X', STORE_FORMAT};

/* ---- records ---- */

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

bool record_parse(const char *head, Record *r) {
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

const char *record_payload(RunFile *f, uint64_t place, const Record *r) {
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
    if (!head || !record_parse(head, &r) || r.type != type || place + record_size(&r) > size) {
        return false;
    }
    const char *payload = record_payload(f, place, &r);
    return payload &&
           (type == RECORD_RUN ? parse_run : parse_state)(&f->row, payload, payload + r.len);
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

uint64_t record_find(RunFile *f, uint64_t at, uint64_t size) {
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
        if (head && record_parse(head, &r) && at + record_size(&r) <= size) return at;
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
    if (!record_parse(head, &r)) {
        if (only_zeros(f, s->at, s->size)) {
            return false; /* room that was made for a group, which never came */
        }
        f->hole = f->holes++ ? f->hole : s->at;
        s->at = record_find(f, s->at + 1, s->size);
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
        run_log_add(f, s->at, &r);
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
        count > ((uint64_t)st.st_size - INDEX_HEAD) / INDEX_ENTRY ||
        !is_number((int64_t)get64(head + 40))) {
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

/* Not while there is damage: the index would hide the holes. A failure is no loss: the index is then
 * made again by whoever needs it. */
static void update_index(RunFile *f, uint64_t lag) {
    char head[INDEX_HEAD] = {0};
    Buf entries = BUF_INIT;
    if (!f->writable || f->fd < 0 || f->holes || f->facts_lost || f->cut_off ||
        f->end - f->covered <= lag) {
        return;
    }
    if (!run_log_write_index(f)) return;
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
    if (f->cut_off && fstat(f->fd, &st) == 0 && (uint64_t)st.st_size >= f->cut_off) {
        f->cut_off = 0; /* it has grown since we looked, and the index with it */
        load_index(f, (uint64_t)st.st_size);
    }
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

/* Checkpoints and output are found by an index and checked where they are read. This looks at every record, and at
 * what the facts say that others have replaced since. */
bool run_file_check(RunFile *f, Buf *out) {
    Record r;
    bool sound = true;
    f->reader.ahead = READER_FAR;
    reader_forget(&f->reader);
    for (uint64_t at = RUN_HEAD; sound && at < f->end; at += record_size(&r)) {
        const char *head = reader_get(&f->reader, at, RECORD_HEAD);
        sound = head && record_parse(head, &r) && at + record_size(&r) <= f->end &&
                ((r.type != RECORD_STATE && r.type != RECORD_RUN) || record_payload(f, at, &r));
        if (!sound) buf_printf(out, "%s is damaged at byte %llu.", f->path, (unsigned long long)at);
    }
    f->reader.ahead = 0;
    return sound;
}

/* ---- reading checkpoints ---- */

/* Whether a checkpoint's record is at a place, by its head. */
static bool is_at(RunFile *f, const Entry *e, Record *r) {
    const char *head = e->place < f->end ? reader_get(&f->reader, e->place, RECORD_HEAD) : NULL;
    return head && record_parse(head, r) && r->type == RECORD_CHECKPOINT && r->seq == e->seq &&
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
    const char *payload = record_payload(f, e.place, &r);
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
