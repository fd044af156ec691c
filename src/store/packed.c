#include "packed.h"

#include "json_binary.h"
#include "mem.h"

#include <assert.h>

enum { VARINT_MAX = 10 };

static char *write_varint(char *p, uint64_t v) {
    for (; v >= 0x80; v >>= 7) *p++ = (char)(v | 0x80);
    *p++ = (char)v;
    return p;
}

void put_varint(Buf *out, uint64_t v) {
    char *at = buf_reserve(out, VARINT_MAX);
    buf_advance(out, (size_t)(write_varint(at, v) - at));
}

bool get_varint(const char **p, const char *end, uint64_t *v) {
    uint64_t value = 0;
    for (int shift = 0; *p < end && shift < 64; shift += 7) {
        unsigned char byte = (unsigned char)*(*p)++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *v = value;
            return true;
        }
    }
    return false;
}

/* ---- checkpoints ---- */

enum { PACKED_INTS = 11 };

static char *write_bytes(char *p, const char *bytes, size_t len) {
    if (len) memcpy(p, bytes, len);
    return p + len;
}

static size_t packed_max(const Checkpoint *c, size_t node_len, size_t status_len) {
    return PACKED_INTS * VARINT_MAX + node_len + status_len + 2 + c->patch_len + c->result_len +
           c->snapshot_len;
}

static char *write_checkpoint(char *p, const Checkpoint *c, size_t node_len, size_t status_len) {
    p = write_varint(p, (uint64_t)c->run);
    p = write_varint(p, (uint64_t)c->seq);
    p = write_varint(p, (uint64_t)(c->seq - c->parent));
    p = write_varint(p, (uint64_t)c->step);
    p = write_varint(p, (uint64_t)c->frame);
    p = write_varint(p, (uint64_t)c->at);
    p = write_varint(p, node_len);
    p = write_varint(p, status_len + (c->result ? PACKED_RESULT : 0));
    p = write_varint(p, c->patch_len);
    p = write_varint(p, c->snapshot ? c->snapshot_len + 1 : 0);
    p = c->result ? write_varint(p, c->result_len) : p;
    p = write_bytes(p, c->node, node_len + 1);
    p = write_bytes(p, c->status, status_len + 1);
    p = write_bytes(p, c->patch, c->patch_len);
    p = c->result ? write_bytes(p, c->result, c->result_len) : p;
    return c->snapshot ? write_bytes(p, c->snapshot, c->snapshot_len) : p;
}

void checkpoint_pack(const Checkpoint *c, Buf *out) {
    size_t node_len = strlen(c->node), status_len = strlen(c->status);
    char *at = buf_reserve(out, packed_max(c, node_len, status_len));
    buf_advance(out, (size_t)(write_checkpoint(at, c, node_len, status_len) - at));
}

/* Takes the next len bytes and, for text, the NUL behind them. */
static const char *take(const char **p, const char *end, uint64_t len, bool text) {
    const char *bytes = *p;
    if (len > (uint64_t)(end - bytes) || (text && len == (uint64_t)(end - bytes))) return NULL;
    *p += len + text;
    return !text || (!bytes[len] && !memchr(bytes, '\0', len)) ? bytes : NULL;
}

bool checkpoint_unpack(const char *bytes, size_t len, Checkpoint *out) {
    const char *p = bytes, *end = bytes + len;
    uint64_t v[PACKED_INTS] = {0};
    bool result = false;
    for (int i = 0; i < PACKED_INTS - !result; i++) {
        if (!get_varint(&p, end, &v[i])) return false;
        if (i == 7 && v[i] >= PACKED_RESULT) {
            result = true;
            v[i] -= PACKED_RESULT;
        }
    }
    *out = (Checkpoint){.run = (int64_t)v[0],
                        .seq = (int64_t)v[1],
                        .parent = (int64_t)(v[1] - v[2]),
                        .step = (int64_t)v[3],
                        .frame = (int64_t)v[4],
                        .at = (int64_t)v[5],
                        .patch_len = v[8],
                        .result_len = v[10],
                        .snapshot_len = v[9] ? v[9] - 1 : 0};
    out->node = take(&p, end, v[6], true);
    out->status = out->node ? take(&p, end, v[7], true) : NULL;
    out->patch = out->status ? take(&p, end, v[8], false) : NULL;
    out->result = out->patch && result ? take(&p, end, v[10], false) : NULL;
    bool sound = out->patch && (!result || out->result);
    out->snapshot = sound && v[9] ? take(&p, end, v[9] - 1, false) : NULL;
    return sound && (!v[9] || out->snapshot) && p == end;
}

/* ---- pieces of logs ---- */

enum { PIECE_INTS = 8 };

const char *const log_stream_names[LOG_STREAMS] = {"stdout", "stderr", "log"};

static char *write_piece_head(char *p, const LogPiece *l, size_t node_len) {
    const int64_t ints[PIECE_INTS] = {
        l->n,      l->before,  l->execution,
        l->frame,  l->attempt, (int64_t)l->stream + (l->again ? PACKED_AGAIN : 0),
        l->offset, l->at};
    for (int i = 0; i < PIECE_INTS; i++) p = write_varint(p, (uint64_t)ints[i]);
    return write_bytes(p, l->node, node_len + 1);
}

void log_pack(const LogPiece *l, Buf *out) {
    size_t node_len = strlen(l->node);
    char *at = buf_reserve(out, PIECE_INTS * VARINT_MAX + node_len + 1 + l->len);
    char *end = write_piece_head(at, l, node_len);
    buf_advance(out, (size_t)(write_bytes(end, l->text, l->len) - at));
}

bool log_unpack(const char *bytes, size_t len, bool whole, LogPiece *out) {
    const char *p = bytes, *end = bytes + len;
    uint64_t v[PIECE_INTS];
    for (int i = 0; i < PIECE_INTS; i++) {
        if (!get_varint(&p, end, &v[i]) || v[i] > (uint64_t)STORE_NUMBER_MAX) return false;
    }
    const char *nul = memchr(p, '\0', (size_t)(end - p));
    if (!nul || (v[5] & ~(uint64_t)PACKED_AGAIN) >= LOG_STREAMS) return false;
    *out = (LogPiece){.n = (int64_t)v[0],
                      .before = (int64_t)v[1],
                      .execution = (int64_t)v[2],
                      .frame = (int64_t)v[3],
                      .attempt = (int64_t)v[4],
                      .stream = (LogStream)(v[5] & ~(uint64_t)PACKED_AGAIN),
                      .again = v[5] & PACKED_AGAIN,
                      .offset = (int64_t)v[6],
                      .at = (int64_t)v[7],
                      .node = p,
                      .text = nul + 1,
                      .len = (size_t)(end - nul - 1)};
    return !whole || out->len <= STORE_PIECE_MAX;
}

bool log_skip(LogPiece *l, int64_t end) {
    int64_t there = end - l->offset;
    if (there <= 0) return true;
    if ((uint64_t)there >= l->len) return false;
    l->text += there;
    l->len -= (size_t)there;
    l->offset = end;
    return true;
}

void log_end_add(LogEnd *end, LogPiece *l) {
    l->n = end->next++;
    l->before = end->total;
    end->total += (int64_t)l->len;
}

bool log_end_trim(const LogEnd *end, int64_t *before, int64_t *first) {
    bool bytes = end->total - end->before > STORE_LOG_MAX;
    bool pieces = end->next - end->first > STORE_LOG_PIECES;
    *before = bytes ? end->total - STORE_LOG_MAX / 8 * 7 : end->before;
    *first = pieces ? end->next - STORE_LOG_PIECES / 8 * 7 : end->first;
    return bytes || pieces;
}

/* ---- batches: [8 bytes: length << 8 | op] payload ---- */

enum { WRITE_HEAD = 8 };

static void put_head(char *at, BatchOp op, size_t len) {
    uint64_t head = (uint64_t)len << 8 | op;
    memcpy(at, &head, WRITE_HEAD);
}

/* At most max bytes of a text, in whole characters where it has any. */
static size_t log_cut(const char *text, size_t len, size_t max) {
    if (len <= max) return len;
    size_t n = max;
    for (int i = 0; i < 3 && n && ((unsigned char)text[n] & 0xC0) == 0x80; i++) n--;
    return ((unsigned char)text[n] & 0xC0) == 0x80 ? max : n;
}

static void finish_write(StoreBatch *b, BatchOp op, int64_t run, char *start, const char *end) {
    size_t len = (size_t)(end - start) - WRITE_HEAD;
    put_head(start, op, len);
    buf_advance(&b->bytes, WRITE_HEAD + len);
    b->count++;
    b->stands_in = b->stands_in || run < 0;
}

/* A write that is no more than its run. */
static void add_plain(StoreBatch *b, BatchOp op, int64_t run) {
    char *start = buf_reserve(&b->bytes, WRITE_HEAD + VARINT_MAX);
    finish_write(b, op, run, start, write_varint(start + WRITE_HEAD, (uint64_t)run));
}

void store_batch_checkpoint(StoreBatch *b, const Checkpoint *c) {
    size_t node_len = strlen(c->node), status_len = strlen(c->status);
    assert(c->seq > 0 && c->parent >= 0 && c->parent < c->seq && status_len < PACKED_RESULT);
    char *start = buf_reserve(&b->bytes, WRITE_HEAD + packed_max(c, node_len, status_len));
    char *end = write_checkpoint(start + WRITE_HEAD, c, node_len, status_len);
    finish_write(b, BATCH_CHECKPOINT, c->run, start, end);
}

void store_batch_remove(StoreBatch *b, int64_t run, int64_t seq) {
    char *start = buf_reserve(&b->bytes, WRITE_HEAD + 2 * VARINT_MAX);
    char *end = write_varint(start + WRITE_HEAD, (uint64_t)run);
    finish_write(b, BATCH_REMOVE, run, start, write_varint(end, (uint64_t)seq));
}

void store_batch_run(StoreBatch *b, int64_t run, int64_t head, const char *status, int64_t at) {
    size_t len = strlen(status);
    char *start = buf_reserve(&b->bytes, WRITE_HEAD + 3 * VARINT_MAX + len + 1);
    char *end = write_varint(start + WRITE_HEAD, (uint64_t)run);
    end = write_varint(end, (uint64_t)head);
    end = write_varint(end, (uint64_t)at);
    finish_write(b, BATCH_RUN, run, start, write_bytes(end, status, len + 1));
}

void store_batch_remove_run(StoreBatch *b, int64_t run) {
    add_plain(b, BATCH_REMOVE_RUN, run);
}

void store_batch_release(StoreBatch *b, int64_t run) {
    add_plain(b, BATCH_RELEASE, run);
    b->releases = true;
}

void store_batch_trim_log(StoreBatch *b, int64_t run, int64_t first) {
    char *start = buf_reserve(&b->bytes, WRITE_HEAD + 2 * VARINT_MAX);
    char *end = write_varint(start + WRITE_HEAD, (uint64_t)run);
    finish_write(b, BATCH_TRIM_LOG, run, start, write_varint(end, (uint64_t)first));
}

/* How much of it the last write takes, which is a piece of the same execution and stream that ends where this one
 * begins. */
static size_t extend_piece(StoreBatch *b, const LogPiece *l) {
    BatchWrite w;
    LogPiece last;
    size_t pos = b->log;
    if (!b->log_end || b->log_end != b->bytes.len || !batch_next(b, &pos, &w) || w.run != l->run ||
        !log_unpack(w.packed, w.packed_len, true, &last) || last.execution != l->execution ||
        last.frame != l->frame || last.stream != l->stream || last.again != l->again ||
        last.offset + (int64_t)last.len != l->offset) {
        return 0;
    }
    size_t n = log_cut(l->text, l->len, STORE_PIECE_MAX - last.len);
    uint64_t head;
    buf_add(&b->bytes, l->text, n);
    memcpy(&head, b->bytes.data + b->log, WRITE_HEAD);
    put_head(b->bytes.data + b->log, BATCH_LOG, (size_t)(head >> 8) + n);
    b->log_end = b->bytes.len;
    return n;
}

void store_batch_log(StoreBatch *b, const LogPiece *piece) {
    LogPiece l = *piece;
    size_t node_len = strlen(l.node), left = l.len, n = extend_piece(b, &l);
    for (;;) {
        l.text += n;
        l.offset += (int64_t)n;
        left -= n;
        if (!left) return;
        n = l.len = log_cut(l.text, left, STORE_PIECE_MAX);
        b->log = b->bytes.len;
        char *start = buf_reserve(&b->bytes, WRITE_HEAD + (PIECE_INTS + 1) * VARINT_MAX + node_len +
                                                 1 + l.len);
        char *end = write_varint(start + WRITE_HEAD, (uint64_t)l.run);
        end = write_bytes(write_piece_head(end, &l, node_len), l.text, l.len);
        finish_write(b, BATCH_LOG, l.run, start, end);
        b->log_end = b->bytes.len;
    }
}

void store_batch_add(StoreBatch *b, const StoreBatch *from) {
    buf_add(&b->bytes, from->bytes.data, from->bytes.len);
    b->count += from->count;
    b->stands_in = b->stands_in || from->stands_in;
    b->releases = b->releases || from->releases;
}

void batch_create(StoreBatch *b, const RunRow *row) {
    const char *texts[] = {row->thread ? row->thread : "", row->workflow, row->definition};
    size_t lens[] = {strlen(texts[0]) + 1, strlen(texts[1]) + 1, strlen(texts[2]) + 1};
    char *start = buf_reserve(&b->bytes, WRITE_HEAD + 2 * VARINT_MAX + lens[0] + lens[1] + lens[2]);
    char *end = write_varint(start + WRITE_HEAD, (uint64_t)row->run);
    end = write_varint(end, (uint64_t)row->created);
    for (int i = 0; i < 3; i++) end = write_bytes(end, texts[i], lens[i]);
    finish_write(b, BATCH_CREATE, row->run, start, end);
}

/* Runs that are started together mostly have one definition: it is there once. */
static void add_definition(StoreBatch *b, Json value) {
    BatchWrite last = {0}, added = {0};
    size_t before = b->bytes.len, pos = b->defined;
    char *start = buf_reserve(&b->bytes, WRITE_HEAD + 1);
    memset(start, 0, WRITE_HEAD + 1);
    buf_advance(&b->bytes, WRITE_HEAD + 1);
    json_encode(value, &b->bytes);
    put_head(b->bytes.data + before, BATCH_DEFINE, b->bytes.len - before - WRITE_HEAD);
    if (batch_next(b, &pos, &last) && last.op == BATCH_DEFINE && last.pos != before) {
        pos = before;
        batch_next(b, &pos, &added);
        if (added.packed_len == last.packed_len &&
            !memcmp(added.packed, last.packed, last.packed_len)) {
            b->bytes.len = before;
            return;
        }
    }
    b->defined = before;
    b->count++;
}

void store_batch_create(StoreBatch *b, const StoreCreate *c) {
    assert(c->stand_in < 0);
    if (!json_is_none(c->definition)) add_definition(b, c->definition);
    batch_create(b,
                 &(RunRow){.run = c->stand_in,
                           .thread = (char *)c->thread,
                           .workflow = (char *)c->workflow,
                           .definition = json_is_none(c->definition) ? (char *)c->key : (char *)"",
                           .created = c->at});
}

void batch_copy(StoreBatch *to, const StoreBatch *from, const BatchWrite *w, int64_t run) {
    uint64_t head, old;
    memcpy(&head, from->bytes.data + w->pos, WRITE_HEAD);
    const char *rest = from->bytes.data + w->pos + WRITE_HEAD, *end = rest + (head >> 8);
    get_varint(&rest, end, &old);
    char *start = buf_reserve(&to->bytes, WRITE_HEAD + VARINT_MAX + (size_t)(end - rest));
    char *at = write_varint(start + WRITE_HEAD, (uint64_t)run);
    finish_write(to, w->op, run, start, write_bytes(at, rest, (size_t)(end - rest)));
}

void batch_forget_made(StoreBatch *b) {
    for (size_t i = 0; i < b->nmade; i++) run_row_clear(&b->made[i].row);
    b->nmade = 0;
}

void store_batch_reset(StoreBatch *b) {
    buf_reset(&b->bytes);
    b->count = b->defined = b->log = b->log_end = 0;
    b->stands_in = b->releases = false;
}

void store_batch_clear(StoreBatch *b) {
    batch_forget_made(b);
    buf_clear(&b->bytes);
    mem_free(b->made);
    *b = (StoreBatch)STORE_BATCH_INIT;
}

static int64_t next_int(const char **p, const char *end) {
    uint64_t v = 0;
    bool there = get_varint(p, end, &v);
    assert(there); /* a batch is written by this process */
    (void)there;
    return (int64_t)v;
}

bool batch_next(const StoreBatch *b, size_t *pos, BatchWrite *out) {
    if (*pos >= b->bytes.len) return false;
    uint64_t head;
    memcpy(&head, b->bytes.data + *pos, WRITE_HEAD);
    const char *p = b->bytes.data + *pos + WRITE_HEAD, *end = p + (head >> 8);
    *out = (BatchWrite){.op = (BatchOp)(head & 0xFF), .pos = *pos};
    *pos = (size_t)(end - b->bytes.data);
    if (out->op == BATCH_CHECKPOINT) {
        out->packed = p;
        out->packed_len = (size_t)(end - p);
    }
    out->run = next_int(&p, end);
    if (out->op == BATCH_CHECKPOINT || out->op == BATCH_REMOVE) {
        out->seq = next_int(&p, end);
    } else if (out->op == BATCH_RUN) {
        out->head = next_int(&p, end);
        out->at = next_int(&p, end);
        out->status = p;
    } else if (out->op == BATCH_CREATE) {
        out->at = next_int(&p, end);
        out->thread = p;
        out->workflow = out->thread + strlen(out->thread) + 1;
        out->definition = out->workflow + strlen(out->workflow) + 1;
    } else if (out->op == BATCH_TRIM_LOG) {
        out->seq = next_int(&p, end);
    } else if (out->op == BATCH_DEFINE || out->op == BATCH_LOG) {
        out->packed = p;
        out->packed_len = (size_t)(end - p);
    }
    return true;
}
