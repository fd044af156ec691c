/* packed.h - a checkpoint as a run of bytes, and the bytes of a batch.
 *
 * Packed, a checkpoint is (varint: 7 bits a byte, the lowest first):
 *
 *     varint run, seq, seq - parent, step, frame, at
 *     varint node_len, status_len (+ PACKED_RESULT: there is a result), patch_len
 *     varint snapshot_len + 1 (0: there is none), result_len (only when there is one)
 *     node NUL status NUL patch result snapshot
 *
 * One without a result is what format 1 had.
 *
 * A piece of a log, behind the number of its run, which a batch has and a file has not:
 *
 *     varint n, before, execution, frame, attempt, stream (+ PACKED_AGAIN), offset, at
 *     node NUL text
 *
 * Its checksum is the CRC-32C of these bytes, in every backend. The strings of an unpacked one lie in
 * the packed bytes.
 */
#ifndef PAWL_STORE_PACKED_H
#define PAWL_STORE_PACKED_H

#include "store.h"

enum { PACKED_RESULT = STORE_STATUS_MAX + 1, PACKED_AGAIN = 4 };

void checkpoint_pack(const Checkpoint *c, Buf *out); /* appends */
/* False when the bytes are not one checkpoint and nothing else. */
bool checkpoint_unpack(const char *bytes, size_t len, Checkpoint *out);

void log_pack(const LogPiece *piece, Buf *out); /* appends */
/* False when the bytes are not the beginning of a piece. All of it is there with `whole`; otherwise the bytes may end
 * anywhere behind its node, and nothing is said of its text. */
bool log_unpack(const char *bytes, size_t len, bool whole, LogPiece *out);
/* Of a piece that may be there already, where what is there of its stream ends: leaves what is not. False: nothing. */
bool log_skip(LogPiece *piece, int64_t end);

/* Where a log goes on, and what of it is to go: the same in every backend. */
typedef struct LogEnd {
    int64_t first,
        next; /* numbers of the oldest piece and of the next one; equal when there is none */
    int64_t before, total; /* bytes before the oldest and before the next */
} LogEnd;
/* Gives a piece its number. */
void log_end_add(LogEnd *end, LogPiece *piece);
/* How many bytes have to have come before the oldest piece that stays; and by number. False: all of it may. */
bool log_end_trim(const LogEnd *end, int64_t *before, int64_t *first);

typedef enum BatchOp {
    BATCH_CHECKPOINT = 1,
    BATCH_REMOVE,
    BATCH_RUN,
    BATCH_REMOVE_RUN,
    BATCH_RELEASE,
    BATCH_DEFINE, /* a definition, for the runs that follow */
    BATCH_CREATE,
    BATCH_LOG,
    BATCH_TRIM_LOG,
} BatchOp;

/* One write of a batch. */
typedef struct BatchWrite {
    BatchOp op;
    size_t pos; /* in the batch */
    int64_t run;
    int64_t seq;        /* CHECKPOINT, REMOVE; TRIM_LOG: the number */
    int64_t head, at;   /* RUN; CREATE has at */
    const char *status; /* RUN; NUL-terminated, in the batch */
    /* CREATE; "" for a thread that is to be named, and for the definition that stands before it */
    const char *thread, *workflow, *definition;
    const char *packed; /* CHECKPOINT, LOG; DEFINE: the value */
    size_t packed_len;
} BatchWrite;

/* Start with *pos = 0; false at the end. */
bool batch_next(const StoreBatch *b, size_t *pos, BatchWrite *out);
/* Adds a write of one batch to another, for the run of this number. */
void batch_copy(StoreBatch *to, const StoreBatch *from, const BatchWrite *w, int64_t run);
/* Adds a run that has all of its row. */
void batch_create(StoreBatch *b, const RunRow *row);

/* What became of a run that a batch makes. */
typedef struct Made {
    int64_t stand_in;
    int64_t run; /* 0: the thread is taken */
    RunRow row;  /* until it is given */
} Made;
void batch_forget_made(StoreBatch *b);

/* ---- varints, for those who write bytes of their own ---- */

void put_varint(Buf *out, uint64_t v);
/* False past the end. */
bool get_varint(const char **p, const char *end, uint64_t *v);

#endif
