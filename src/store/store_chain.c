/* store_chain.c - images and weights. */
#include "store_chain.h"

#include "backend.h"
#include "json_binary.h"
#include "json_diff.h"
#include "mem.h"

#include <inttypes.h>

bool chain_wants_snapshot(const ChainWeight *w, uint64_t image) {
    if (!w->snapshot || w->patches <= w->snapshot || w->patches <= CHAIN_LEAST_WEIGHT) {
        return !w->snapshot;
    }
    double grown = w->image ? (double)image / (double)w->image : 1;
    return (double)w->patches > grown * (double)w->snapshot;
}

void chain_weigh(ChainWeight *w, size_t patch_len, size_t snapshot_len, uint64_t image) {
    if (snapshot_len) {
        *w = (ChainWeight){.snapshot = snapshot_len, .image = image};
    } else {
        w->patches += patch_len + CHAIN_RECORD_WEIGHT;
    }
}

/* ---- decoding ---- */

Json chain_decode(const char *bytes, size_t len) {
    size_t used = 0;
    Json value = json_decode(bytes, len, &used, NULL);
    if (!json_is_none(value) && used != len) json_clear(&value);
    return value;
}

/* ---- images ---- */

/* The way from a snapshot (or the first checkpoint) down to the image that is wanted. */
typedef struct Chain {
    Json *patches; /* the last one first */
    int64_t *seqs; /* of each, for messages */
    size_t len, patches_cap, seqs_cap;
    ChainWeight weight;
} Chain;

static bool push_patch(Store *s, Chain *chain, const Checkpoint *c, Error *err) {
    Json patch = chain_decode(c->patch, c->patch_len);
    if (json_is_none(patch)) {
        return store_damaged_checkpoint(s, c->run, c->seq, "its change is not a value", err);
    }
    chain->patches =
        mem_grow(chain->patches, chain->len, &chain->patches_cap, sizeof *chain->patches);
    chain->seqs = mem_grow(chain->seqs, chain->len, &chain->seqs_cap, sizeof *chain->seqs);
    chain->patches[chain->len] = patch;
    chain->seqs[chain->len++] = c->seq;
    chain_weigh(&chain->weight, c->patch_len, 0, 0);
    return true;
}

/* Collects patches back to the nearest snapshot, which is *base, or to a root, when it is null. */
static bool collect(Store *s, int64_t run, int64_t seq, Chain *chain, Json *base, Error *err) {
    Checkpoint c;
    for (int64_t at = seq; at; at = c.parent) {
        if (!store_checkpoint(s, run, at, &c, err)) {
            if (err && at != seq) error_wrap(err, "Checkpoint %" PRId64 " cannot be rebuilt", seq);
            return false;
        }
        if (c.parent < 0 || c.parent >= c.seq) {
            return store_damaged_checkpoint(s, run, at, "its parent is not an earlier one", err);
        }
        if (c.snapshot) {
            *base = chain_decode(c.snapshot, c.snapshot_len);
            chain->weight.snapshot = c.snapshot_len;
            chain->weight.image = json_size(*base);
            return !json_is_none(*base) ||
                   store_damaged_checkpoint(s, run, at, "its image is not a value", err);
        }
        if (!push_patch(s, chain, &c, err)) return false;
    }
    *base = json_null();
    return true;
}

Json chain_next(Json parent, const Checkpoint *c) {
    Json patch = chain_decode(c->patch, c->patch_len);
    Json image = json_is_none(patch) ? patch : json_patch(json_ref(parent), patch, NULL);
    json_unref(patch);
    return image;
}

Json chain_image(Store *s, int64_t run, int64_t seq, ChainWeight *weight, Error *err) {
    Chain chain = {0};
    Json image = json_none();
    Error why = ERROR_INIT;
    bool ok = collect(s, run, seq, &chain, &image, err);
    for (size_t i = chain.len; ok && i--;) {
        image = json_patch(image, chain.patches[i], &why);
        ok = !json_is_none(image) || store_damaged_checkpoint(s, run, chain.seqs[i], why.msg, err);
    }
    if (!ok) json_clear(&image);
    if (weight) *weight = chain.weight;
    for (size_t i = 0; i < chain.len; i++) json_unref(chain.patches[i]);
    mem_free(chain.patches);
    mem_free(chain.seqs);
    return image;
}
