#include "tokens.h"

#include "buf.h"
#include "json_build.h"
#include "kept.h"
#include "mem.h"
#include "utf8.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    BITS_BYTES = 32,
    HASH_HEX = 64,
    NAME_BYTES = 60,
    TOKENS = 10000,
    AGAIN_MS = 1000,
    SOON_MS = 50
};

static const char head[] = "pawl_";

static KeptFile file_in(const char *folder) {
    return (KeptFile){
        .folder = folder,
        .name = "tokens",
        .what = "The file with the store's tokens",
        .max = 4 << 20,
        .format = 1,
        .shape =
            "{format: int, last: int(0..), tokens: [{id: text, name: text, "
            "scope: \"read\"|\"run\"|\"debug\"|\"admin\", hash: text, created: time, expires?: time}]}"};
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void hash_of(const char *text, size_t len, char out[HASH_HEX + 1]) {
    unsigned char hash[EVP_MAX_MD_SIZE];
    EVP_Digest(text, len, hash, NULL, EVP_sha256(), NULL);
    for (int i = 0; i < HASH_HEX / 2; i++) snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

/* Its entry, without what nobody has to see. */
static Json shown_entry(Json entry) {
    return json_object_remove(json_ref(entry), json_string_c("hash"));
}

/* ---- making ---- */

typedef struct Making {
    const TokenMake *make;
    const char *hash;
    Json entry; /* out */
} Making;

static bool check(const TokenMake *make, Error *err) {
    size_t len = strlen(make->name);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)make->name[i];
        if (c < 0x20 || c == 0x7f) len = 0;
    }
    if (!len || len > NAME_BYTES || utf8_valid_prefix(make->name, len) < len) {
        return error_set(err, ERR_USAGE,
                         "The name of a token is text of 1 to %d bytes without control characters.",
                         NAME_BYTES);
    }
    size_t digits = strspn(make->name + 1, "0123456789");
    if (make->name[0] == 't' && digits && digits == len - 1) {
        return error_set(err, ERR_USAGE, "`%s` looks like the id of a token; choose another name.",
                         make->name);
    }
    if (make->expires && make->expires <= now_ms()) {
        return error_set(err, ERR_USAGE, "The token would have expired already.");
    }
    return true;
}

static Json add(void *ctx, Json old, Error *err) {
    Making *m = ctx;
    Json all = json_is_none(old) ? OBJECT(KEY("format", json_int(1)), KEY("last", json_int(0)),
                                          KEY("tokens", json_array()))
                                 : json_ref(old);
    Json list = json_ref(json_object_get_c(all, "tokens"));
    bool there = false;
    for (size_t i = 0; i < json_array_len(list); i++) {
        there |= json_string_is(json_object_get_c(json_array_get(list, i), "name"), m->make->name);
    }
    if (there || json_array_len(list) >= TOKENS) {
        if (there) {
            error_set(err, ERR_EXISTS, "There is a token called `%s` already.", m->make->name);
            error_fact(err, "name", m->make->name);
        } else {
            error_set(err, ERR_LIMIT, "The store has %d tokens, and that is the most.", TOKENS);
        }
        json_unref(list);
        json_unref(all);
        return json_none();
    }
    int64_t last = (int64_t)json_to_double(json_object_get_c(all, "last")) + 1;
    Json entry = OBJECT(
        KEY("id", json_string_fmt("t%lld", (long long)last)), KEY("name", m->make->name),
        KEY("scope", m->make->scope), KEY("hash", m->hash), KEY("created", json_time(now_ms())),
        KEY("expires", m->make->expires ? json_time(m->make->expires) : json_none()));
    m->entry = shown_entry(entry);
    all = json_object_with(all, "last", json_int(last));
    return json_object_with(all, "tokens", json_array_push(list, entry));
}

Json tokens_make(const char *folder, const TokenMake *make, char text[TOKEN_TEXT], Error *err) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char bytes[BITS_BYTES + 1] = {0};
    char hash[HASH_HEX + 1];
    size_t n = sizeof head - 1;
    if (!check(make, err)) return json_none();
    if (RAND_bytes(bytes, BITS_BYTES) != 1) {
        error_set(err, ERR_IO, "The system gives no random bytes for a token.");
        return json_none();
    }
    memcpy(text, head, n);
    for (size_t bit = 0; bit < (size_t)BITS_BYTES * 8; bit += 6) {
        unsigned pair = (unsigned)bytes[bit / 8] << 8 | bytes[bit / 8 + 1];
        text[n++] = letters[pair >> (10 - bit % 8) & 63];
    }
    text[n] = '\0';
    hash_of(text, n, hash);
    KeptFile file = file_in(folder);
    Making m = {make, hash, json_none()};
    if (!kept_change(&file, add, &m, err)) json_clear(&m.entry);
    explicit_bzero(bytes, sizeof bytes);
    return m.entry;
}

/* ---- listing, revoking ---- */

Json tokens_list(const char *folder, Error *err) {
    Error own = ERROR_INIT, *e = err ? err : &own;
    KeptFile file = file_in(folder);
    Json all = kept_read(&file, e), out = json_array();
    Json list = json_is_none(all) ? json_none() : json_object_get_c(all, "tokens");
    for (size_t i = 0; !json_is_none(list) && i < json_array_len(list); i++) {
        out = json_array_push(out, shown_entry(json_array_get(list, i)));
    }
    json_unref(all);
    if (e->code != ERR_NONE) json_clear(&out);
    return out;
}

static Json take_away(void *ctx, Json old, Error *err) {
    const char *which = ctx;
    Json list = json_is_none(old) ? json_none() : json_object_get_c(old, "tokens"),
         left = json_array();
    size_t n = json_is_none(list) ? 0 : json_array_len(list);
    for (size_t i = 0; i < n; i++) {
        Json one = json_array_get(list, i);
        if (!json_string_is(json_object_get_c(one, "id"), which) &&
            !json_string_is(json_object_get_c(one, "name"), which)) {
            left = json_array_push(left, json_ref(one));
        }
    }
    if (json_array_len(left) == n) {
        error_set(err, ERR_NOT_FOUND, "There is no token `%s`.", which);
        error_fact(err, "token", which);
        json_unref(left);
        return json_none();
    }
    return json_object_with(json_ref(old), "tokens", left);
}

bool tokens_revoke(const char *folder, const char *which, Error *err) {
    KeptFile file = file_in(folder);
    return kept_change(&file, take_away, (void *)which, err);
}

/* ---- who has come ---- */

struct TokenSet {
    char *folder;
    Json all;
    int64_t changed; /* the file, when it was read */
    int64_t looked;  /* ms */
};

TokenSet *token_set_new(const char *folder) {
    TokenSet *set = mem_zalloc(sizeof *set);
    set->folder = mem_strdup(folder);
    set->all = json_none();
    return set;
}

void token_set_free(TokenSet *set) {
    if (!set) return;
    mem_free(set->folder);
    json_unref(set->all);
    mem_free(set);
}

static void look(TokenSet *set, int64_t now, int64_t again) {
    if (set->looked && now >= set->looked && now - set->looked < again) return;
    KeptFile file = file_in(set->folder);
    int64_t changed = kept_changed(&file);
    set->looked = now;
    if (changed == set->changed) return;
    json_put(&set->all, kept_read(&file, NULL)); /* one that cannot be read lets nobody in */
    set->changed = changed;
}

static bool has_expired(Json entry, int64_t now) {
    int64_t expires;
    return json_time_ms(json_object_get_c(entry, "expires"), &expires) && expires <= now;
}

bool token_set_has(TokenSet *set, const char *id) {
    int64_t now = now_ms();
    look(set, now, AGAIN_MS);
    Json list = json_is_none(set->all) ? json_none() : json_object_get_c(set->all, "tokens");
    for (size_t i = 0; !json_is_none(list) && i < json_array_len(list); i++) {
        Json one = json_array_get(list, i);
        if (json_string_is(json_object_get_c(one, "id"), id)) return !has_expired(one, now);
    }
    return false;
}

/* The entry with that hash, borrowed; JSON_NONE: there is none. */
static Json find_hash(const TokenSet *set, const char *hash) {
    Json found = json_none();
    Json list = json_is_none(set->all) ? json_none() : json_object_get_c(set->all, "tokens");
    for (size_t i = 0; !json_is_none(list) && i < json_array_len(list); i++) {
        Json one = json_array_get(list, i), kept = json_object_get_c(one, "hash");
        bool same = json_string_len(kept) == HASH_HEX &&
                    CRYPTO_memcmp(json_string_data(&kept), hash, HASH_HEX) == 0;
        if (same) found = one;
    }
    return found;
}

bool token_set_find(TokenSet *set, const char *text, size_t len, TokenOwner *out) {
    char hash[HASH_HEX + 1];
    int64_t now = now_ms();
    if (len != TOKEN_TEXT - 1) return false;
    look(set, now, AGAIN_MS);
    hash_of(text, len, hash);
    Json found = find_hash(set, hash);
    if (json_is_none(found)) { /* it may have been made just now */
        look(set, now, SOON_MS);
        found = find_hash(set, hash);
    }
    if (json_is_none(found) || has_expired(found, now)) return false;
    *out = (TokenOwner){json_object_text(found, "id"), json_object_text(found, "name"),
                        json_object_text(found, "scope")};
    return true;
}
