/* run_file.h - a run as one append-only file, and the index beside it.
 *
 * N.run is a head and then records. All numbers are little-endian.
 *
 *     head     "PAWLRUN" format:1 generation:4 crc:4 (of what is before it); one of format 1 stays so,
 *              whatever is added to it
 *     record   'P' 'R' type:1 flags:1 length:4 seq:8 crc:4 (of the payload) check:4 (of the 20 bytes
 *              before it), then the payload and the byte RECORD_END
 *
 *     'R'      facts that never change: varint run, created; thread NUL workflow NUL definition NUL
 *     'C'      a checkpoint, packed (packed.h)
 *     'S'      facts that change: varint head, updated, last; status NUL owner NUL
 *     'L'      a piece of the log, packed (packed.h); seq is its number
 *     'T'      pieces of the log before the number in seq do not count any more
 *
 * What is committed together is a group: its last record has the flag RECORD_LAST. A group that the
 * file ends in the midst of was never acknowledged: readers do not see it, and the next holder of the
 * lease cuts it off. Anything else that does not check is damage. A bad payload is found out when it
 * is read; a bad head of a record makes a hole up to the next record that can be found.
 *
 * Later records win over earlier ones of the same number. Pruning writes the file anew, with the next
 * generation, and renames it.
 *
 * N.idx tells where the checkpoints are, so that any of a million can be read at once:
 *
 *     head     "PAWLIDX" format:1 generation:4 pieces:4 count:8 covered:8 facts:8 last:8 crc:4
 *              first:8 crc:4 (of `first`; both are 0 when there is no log)
 *     entry    seq:8 place:8, in order of seq
 *
 * N.lgx does the same for the pieces of the log; how many of its entries count is said by `pieces` in N.idx:
 *
 *     head     "PAWLLGX" format:1 generation:4 unused:4
 *     entry    n:8 place:8 before:8 execution:8 at:8 length:4 node:4 (a hash of its name), in order of n
 *
 * They are written now and then, after what it covers is durable, and never waited for. What it says is
 * only a hint: each record is checked to be the one that was looked for; when it is not, or when
 * something is not found, the index is made again from the file. One thing it proves: a file that is
 * shorter than what was covered has lost something.
 */
#ifndef PAWL_STORE_RUN_FILE_H
#define PAWL_STORE_RUN_FILE_H

#include "file_io.h"
#include "packed.h"

enum {
    RUN_HEAD = 16,
    RECORD_HEAD = 24,
    RECORD_LAST = 1,
    RECORD_END = 0xA5,
    INDEX_HEAD = 64,
    INDEX_ENTRY = 16,
    LOG_INDEX_HEAD = 16,
    LOG_INDEX_ENTRY = 48,
};

#define RUN_SEQ_MAX ((int64_t)1 << 60) /* what is higher was never given */

typedef enum RecordType {
    RECORD_RUN = 'R',
    RECORD_CHECKPOINT = 'C',
    RECORD_STATE = 'S',
    RECORD_PIECE = 'L',
    RECORD_TRIM = 'T',
} RecordType;

typedef struct Entry {
    int64_t seq;
    uint64_t place;
} Entry;

typedef struct PieceEntry {
    int64_t n;
    uint64_t place;
    int64_t before, execution, at;
    uint32_t len;  /* of its text */
    uint32_t node; /* run_file_node_hash() */
} PieceEntry;

/* Where the pieces of the log are. Most who open a run do not want them, so what is in N.lgx is read when it is
 * asked for. */
typedef struct RunLog {
    char *path;
    PieceEntry *items; /* behind those that are only in N.lgx, in order of n */
    size_t n, cap;
    uint64_t indexed; /* entries that are only in N.lgx */
    uint64_t written; /* entries in N.lgx that count */
    int64_t first;    /* number of the first that counts */
} RunLog;

typedef struct RunFile {
    int64_t run;
    char *path, *index_path;
    int fd, index_fd; /* -1: not open */
    bool writable;
    uint64_t inode;
    uint32_t generation;
    RunRow row;   /* without cancel */
    uint64_t end; /* of the last whole group: where the next one goes */

    uint64_t indexed; /* entries in N.idx that count */
    uint64_t covered; /* bytes of the file that they stand for */
    Entry *recent;    /* what came after, in order of seq */
    size_t nrecent, recent_cap;
    bool from_scan; /* N.idx was found wanting: all entries are in recent */
    RunLog log;

    uint64_t facts;   /* place of the last RECORD_STATE; 0: none */
    uint64_t holes;   /* parts that cannot be read at all */
    uint64_t hole;    /* where the first of them is */
    bool facts_lost;  /* the last RECORD_STATE may be among what cannot be read */
    uint64_t cut_off; /* bytes that the file must have had; 0: no sign of a loss */

    bool tail_dirty; /* a group that failed may still lie behind the end */

    Reader reader, index_reader;
    uint64_t used; /* when, for whoever keeps several open */
} RunFile;

/* NULL with errno when it cannot be opened (ENOENT: there is none). A file that is damaged beyond
 * use is opened, and run_file_damage() says so. */
RunFile *run_file_open(const char *folder, int64_t run, bool writable);
void run_file_close(RunFile *f); /* accepts NULL */
/* Brings the index up to date; only for the holder of the lease. */
void run_file_write_index(RunFile *f);

/* Makes the file of a new run with these records of checkpoints; false with errno. */
bool run_file_create(const char *folder, const RunRow *row, const Buf *checkpoints);

/* Takes in what another process has written since; false with errno. May open the file anew. */
bool run_file_refresh(RunFile *f);
/* Cuts off what was not acknowledged; only for the holder of the lease. */
bool run_file_repair(RunFile *f);

/* A sentence about what makes the facts of this run unreadable, or about any damage of the file as a
 * whole when `any`; false when there is nothing to say. */
bool run_file_damage(const RunFile *f, bool any, Buf *out);
/* Reads all of the records of a file that has no such damage; false, with a sentence, where there is some all the
 * same. What checkpoints and pieces hold is not looked at. */
bool run_file_check(RunFile *f, Buf *out);

/* Reads a checkpoint; its strings are lent until the next call on f. */
bool run_file_checkpoint(RunFile *f, int64_t seq, Checkpoint *out, bool *found, const char **why);
/* The first checkpoint at or after *seq: sets *seq; false at the end. Walking on from there reads the
 * file in large pieces until run_file_rest(). */
bool run_file_next(RunFile *f, int64_t *seq);
void run_file_rest(RunFile *f);

/* ---- the log ---- */

/* Where its log begins and ends; false with errno. */
bool run_file_log_end(RunFile *f, LogEnd *end);
/* Where what is there of the stream of a piece's execution ends; 0: there is nothing. False with errno. */
bool run_file_piece_end(RunFile *f, const LogPiece *piece, int64_t *end);
/* The number of the first piece that is not before that number, with so many bytes before it; of the last when there
 * is none, 0 when there are none at all. *dead is set to the bytes that the file has in pieces before it. */
int64_t run_file_trim_at(RunFile *f, int64_t first, int64_t before, uint64_t *dead);
/* The place among the entries of the first piece at or after that number, or of the last at or before it; false when
 * there is none. */
bool run_file_find_piece(RunFile *f, int64_t n, bool before, size_t *i);
uint32_t run_file_node_hash(const char *node);
/* Reads a piece; its strings are lent until the next call on f. *why when it is damaged. */
void run_file_piece(RunFile *f, size_t i, LogPiece *out, const char **why);
/* The records of all pieces from that number on; false with errno. */
bool run_file_copy_log(RunFile *f, int64_t first, Buf *out);

/* ---- writing ---- */

/* Adds a group at the end (records made by run_file_record(), the last flagged) and makes it durable.
 * False with errno; the file is then as before. */
bool run_file_append(RunFile *f, const Buf *group);
/* Takes back what was appended since the file ended there; false with errno. */
bool run_file_cut(RunFile *f, uint64_t end);
/* Writes the file anew from these records, each flagged; false with errno. */
bool run_file_rewrite(RunFile *f, const Buf *records);

/* Appends a record to a buffer. */
void run_file_record(Buf *out, RecordType type, int64_t seq, const char *payload, size_t len);
void run_file_state_record(Buf *out, const RunRow *row);
void run_file_run_record(Buf *out, const RunRow *row);
/* Flags the record that starts at `at` as the last of its group. */
void run_file_flag_last(Buf *out, size_t at);
/* The bytes of a stored record as they are, flagged; false with errno. */
bool run_file_copy_record(RunFile *f, int64_t seq, Buf *out);

#endif
