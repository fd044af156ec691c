/* store_chain.h - images from chains of checkpoints: rebuilding, weighing, pruning, checking.
 *
 * Written once over store.h, for all backends.
 *
 * The weight rule. Rebuilding an image reads the nearest snapshot above it and the patches between.
 * A snapshot is written when the patches since the last one weigh more than it does: then all
 * snapshots together weigh no more than all patches do, and reading any checkpoint costs at most
 * twice what reading its image alone would. A patch weighs its bytes and CHAIN_RECORD_WEIGHT, for
 * the record around it; a chain lighter than CHAIN_LEAST_WEIGHT never gets a new snapshot, for small
 * states would otherwise be written whole every other step.
 */
#ifndef PAWL_STORE_CHAIN_H
#define PAWL_STORE_CHAIN_H

#include "store.h"

enum { CHAIN_RECORD_WEIGHT = 64, CHAIN_LEAST_WEIGHT = 8192 };

/* What has to be known at the end of a chain to go on with it. */
typedef struct ChainWeight {
    uint64_t snapshot; /* bytes of the last snapshot; 0: none yet, so the next one needs it */
    uint64_t image;    /* json_size() of what it holds */
    uint64_t patches;  /* weight of the patches since */
} ChainWeight;

/* Whether the next checkpoint is to carry a snapshot of an image of that json_size(), which may have
 * grown since the last one; then say what was written. */
bool chain_wants_snapshot(const ChainWeight *w, uint64_t image);
void chain_weigh(ChainWeight *w, size_t patch_len, size_t snapshot_len, uint64_t image);

/* The image at a checkpoint. weight may be NULL. JSON_NONE on error. */
Json chain_image(Store *s, int64_t run, int64_t seq, ChainWeight *weight, Error *err);
/* The same from the image of its parent, null before the first: given. JSON_NONE: its change is none, does not
 * fit, or makes more of it than an image may be. */
Json chain_next(Json parent, const Checkpoint *c);
/* An image after a change, which is given; consumes image. JSON_NONE: the change does not fit (ERR_DATA), or the
 * image would stand for more than STORE_IMAGE_MAX (ERR_LIMIT). */
Json chain_patch(Json image, Json patch, Error *err);

/* Leaves out what a checkpoint can do without where it would be longer than a record may be: its snapshot, then
 * its result. A patch alone, at most STORE_IMAGE_MAX, always fits. */
void checkpoint_fit(Checkpoint *c);

/* ---- pruning ---- */

typedef struct PruneRule {
    int64_t keep_last;  /* newest checkpoints of each run to keep; at least 1 is kept */
    int64_t older_than; /* only checkpoints made before this time (ms since 1970) go; 0: any */
    bool finished_runs; /* runs that ended before older_than go whole */
    /* The result of a checkpoint without its patch, encoded; before and after are the images around it.
     * False: it is left out. NULL: those of all folded ones are. */
    bool (*result)(const Checkpoint *c, Json before, Json after, Buf *out);
} PruneRule;

typedef struct PruneReport {
    int64_t runs, removed_runs, removed, kept, folded; /* folded: kept ones that got a snapshot */
} PruneReport;

/* The head is kept whatever the rule says, and with it all that the run needs to go on. A kept
 * checkpoint whose parent goes is folded: it gets a snapshot, its nearest kept ancestor as parent (0
 * when there is none), the change from there, and its result by value. One batch, so a run is pruned or it is not; `last`
 * stays. Takes the run's lease while it works (unless this handle has it): ERR_BUSY when somebody
 * runs it. A run that has ended ("completed", "failed", "cancelled") goes whole when the rule says so.
 * Adds to *report. The space in a database is used again, not given back. */
bool chain_prune(Store *s, const RunRow *row, const PruneRule *rule, PruneReport *report,
                 Error *err);

/* ---- checking ---- */

typedef struct CheckReport {
    int64_t runs, checkpoints, snapshots, problems;
} CheckReport;

/* Verifies every checkpoint of every run (or of one, when run > 0): checksum, decoding, parent,
 * patch, snapshot against the patched parent, head and last, that the definition can be read, every piece of
 * the log, and what the store holds about all of its runs.
 * Calls problem with a sentence for each thing that is wrong (thread "" and seq 0: the store as a
 * whole; seq 0: the run). progress may be NULL. False only when the store cannot be read at all. */
typedef struct CheckHost {
    void (*problem)(void *ctx, const char *thread, int64_t seq, const char *sentence);
    void (*progress)(void *ctx, const RunRow *row, int64_t checkpoints_so_far);
    /* Whether the row of a run says what the image that it stands at and its first definition say: only whoever made
     * them knows. False with a sentence; NULL: nobody looks. */
    bool (*facts)(void *ctx, const RunRow *row, Json image, Json definition, Error *err);
    void *ctx;
} CheckHost;
bool chain_check(Store *s, int64_t run, const CheckHost *host, CheckReport *report, Error *err);

/* One value of at most STORE_IMAGE_MAX and nothing after it; JSON_NONE otherwise, with err saying which. */
Json chain_decode(const char *bytes, size_t len, Error *err);

#endif
