/* run_record.h - the records of a run file, for run_file.c and run_log.c. */
#ifndef PAWL_STORE_RUN_RECORD_H
#define PAWL_STORE_RUN_RECORD_H

#include "run_file.h"

#include <string.h>

/* ---- numbers ---- */

static inline void put32(char *p, uint32_t v) {
    memcpy(p, &v, 4);
}

static inline void put64(char *p, uint64_t v) {
    memcpy(p, &v, 8);
}

static inline uint32_t get32(const char *p) {
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static inline uint64_t get64(const char *p) {
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

static inline bool is_number(int64_t seq) {
    return seq >= 0 && seq <= RUN_SEQ_MAX;
}

/* Of this format or of an older one: what they hold is read the same. */
static inline bool has_magic(const char *head, const char magic[8]) {
    return !memcmp(head, magic, 7) && head[7] >= 1 && head[7] <= STORE_FORMAT;
}

/* ---- records ---- */

typedef struct Record {
    RecordType type;
    bool last;
    uint32_t len, crc;
    int64_t seq;
} Record;

static inline uint64_t record_size(const Record *r) {
    return (uint64_t)RECORD_HEAD + r->len + 1;
}

/* False when the bytes are no head of a record. */
bool record_parse(const char *head, Record *r);
/* The payload when it checks. The reader has to hold all of it, so the length is that of a record
 * that lies within the file. */
const char *record_payload(RunFile *f, uint64_t place, const Record *r);
/* A place where a record could start, at or after `at`; size when there is none. */
uint64_t record_find(RunFile *f, uint64_t at, uint64_t size);

/* ---- the log (run_log.c) ---- */

/* Takes in a record that has a piece. */
void run_log_add(RunFile *f, uint64_t place, const Record *r);
/* What N.lgx lacks is added to it; false: its entries cannot be relied on. */
bool run_log_write_index(RunFile *f);

#endif
