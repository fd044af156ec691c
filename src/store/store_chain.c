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

void checkpoint_fit(Checkpoint *c) {
    enum { HEAD = 1 << 16 }; /* the rest of it: numbers, its node and status */
    if (c->patch_len + c->result_len + c->snapshot_len + HEAD <= STORE_RECORD_MAX) return;
    c->snapshot = NULL;
    c->snapshot_len = 0;
    if (c->patch_len + c->result_len + HEAD <= STORE_RECORD_MAX) return;
    c->result = NULL;
    c->result_len = 0;
}

/* ---- decoding ---- */

Json chain_decode(const char *bytes, size_t len, Error *err) {
    size_t used = 0;
    Error why = ERROR_INIT;
    Json value = json_decode_within(bytes, len, STORE_IMAGE_MAX, &used, &why);
    if (!json_is_none(value) && used != len) json_clear(&value);
    if (!json_is_none(value)) return value;
    if (why.code == ERR_LIMIT) {
        error_set(err, ERR_LIMIT, "takes more than %d MB", STORE_IMAGE_MAX >> 20);
    } else {
        error_set(err, ERR_DATA, "is not a value");
    }
    return value;
}

/* What a patch copies is shared: however much the image comes to stand for, to make it costs what the patch has.
 * So looking afterwards is in time. */
Json chain_patch(Json image, Json patch, Error *err) {
    Error why = ERROR_INIT;
    image = json_patch(image, patch, &why);
    uint64_t size = json_size(image);
    if (json_is_none(image)) {
        error_set(err, ERR_DATA, "does not fit its parent: %s", why.msg);
    } else if (size > STORE_IMAGE_MAX) {
        error_set(err, ERR_LIMIT,
                  "makes an image of about %llu MB, where at most %d MB are allowed",
                  (unsigned long long)(size >> 20), STORE_IMAGE_MAX >> 20);
        json_clear(&image);
    }
    return image;
}

/* ---- images ---- */

/* The way from a snapshot (or the first checkpoint) down to the image that is wanted. */
typedef struct Chain {
    Json *patches; /* the last one first; JSON_NONE: is read again when its turn comes */
    int64_t *seqs; /* of each, for messages */
    size_t len, patches_cap, seqs_cap;
    uint64_t bytes; /* of the patches that are kept, as json_size() counts */
    ChainWeight weight;
} Chain;

static bool push_patch(Store *s, Chain *chain, const Checkpoint *c, Error *err) {
    Error why = ERROR_INIT;
    Json patch = chain_decode(c->patch, c->patch_len, &why);
    if (json_is_none(patch)) return store_bad_checkpoint(s, c, "change", &why, err);
    chain->patches =
        mem_grow(chain->patches, chain->len, &chain->patches_cap, sizeof *chain->patches);
    chain->seqs = mem_grow(chain->seqs, chain->len, &chain->seqs_cap, sizeof *chain->seqs);
    chain->bytes += json_size(patch);
    if (chain->bytes > STORE_IMAGE_MAX) {
        chain->bytes -= json_size(patch);
        json_clear(&patch);
    }
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
            Error why = ERROR_INIT;
            *base = chain_decode(c.snapshot, c.snapshot_len, &why);
            chain->weight.snapshot = c.snapshot_len;
            chain->weight.image = json_size(*base);
            return !json_is_none(*base) || store_bad_checkpoint(s, &c, "image", &why, err);
        }
        if (!push_patch(s, chain, &c, err)) return false;
    }
    *base = json_null();
    return true;
}

Json chain_next(Json parent, const Checkpoint *c) {
    Json patch = chain_decode(c->patch, c->patch_len, NULL);
    Json image = json_is_none(patch) ? patch : chain_patch(json_ref(parent), patch, NULL);
    json_unref(patch);
    return image;
}

/* Makes *image that of the checkpoint; consumes patch. */
static bool go_down(Store *s, const Checkpoint *at, Json patch, Json *image, Error *err) {
    Error why = ERROR_INIT;
    Checkpoint c = *at;
    if (json_is_none(patch)) {
        if (!store_checkpoint(s, c.run, c.seq, &c, err)) return false;
        patch = chain_decode(c.patch, c.patch_len, &why);
    }
    if (json_is_none(patch)) {
        json_clear(image);
    } else {
        *image = chain_patch(*image, patch, &why); /* in place, where nobody else has it */
    }
    json_unref(patch);
    return !json_is_none(*image) || store_bad_checkpoint(s, &c, "change", &why, err);
}

Json chain_image(Store *s, int64_t run, int64_t seq, ChainWeight *weight, Error *err) {
    Chain chain = {0};
    Json image = json_none();
    bool ok = collect(s, run, seq, &chain, &image, err);
    for (size_t i = chain.len; ok && i--;) {
        Checkpoint c = {.run = run, .seq = chain.seqs[i]};
        ok = go_down(s, &c, json_take(&chain.patches[i]), &image, err);
    }
    if (!ok) json_clear(&image);
    if (weight) *weight = chain.weight;
    for (size_t i = 0; i < chain.len; i++) json_unref(chain.patches[i]);
    mem_free(chain.patches);
    mem_free(chain.seqs);
    return image;
}
