#include "vault.h"

#include "ascii.h"
#include "flow.h"
#include "json_build.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    KEY_LEN = 32,
    NONCE_LEN = 12,
    TAG_LEN = 16,
    ID_LEN = 8,
    KEY_FILE_MAX = 200,
    VAULT_MAX = 16 << 20, /* bytes of the file */
    NAMES_MAX = 10000,
    FORMAT = 1,
};

#define VAULT_FILE "secrets"
#define VAULT_NEW  "secrets.new"
#define VAULT_LOCK "secrets.lock"

static const char key_head[] = "pawl-key-1 ";

typedef struct Key {
    unsigned char bytes[KEY_LEN];
    char id[2 * ID_LEN + 1];
} Key;

/* ---- sentences ---- */

static bool fail_key(const Vault *v, Error *err, const char *what) {
    error_set(err, ERR_SECRET, "The key file %s %s.", v->key_file, what);
    return error_fact(err, "key_file", v->key_file);
}

static bool fail_vault(const Vault *v, Error *err, const char *what) {
    Buf path = BUF_INIT;
    buf_printf(&path, "%s/%s", v->folder, VAULT_FILE);
    error_set(err, ERR_SECRET, "The file with the store's secrets, %s, %s.", path.data, what);
    error_fact(err, "secrets_file", path.data);
    buf_clear(&path);
    return false;
}

/* ---- the key ---- */

static void to_hex(const unsigned char *bytes, size_t n, char *out) {
    for (size_t i = 0; i < n; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void set_id(Key *key) {
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned char text[sizeof key_head + KEY_LEN];
    memcpy(text, key_head, sizeof key_head);
    memcpy(text + sizeof key_head, key->bytes, KEY_LEN);
    EVP_Digest(text, sizeof text, hash, NULL, EVP_sha256(), NULL);
    to_hex(hash, ID_LEN, key->id);
    explicit_bzero(text, sizeof text);
}

static bool parse_key(const Buf *text, Key *key) {
    size_t head = sizeof key_head - 1, len = text->len;
    while (len && ascii_is_white(text->data[len - 1])) len--;
    if (len != head + (size_t)2 * KEY_LEN || memcmp(text->data, key_head, head) != 0) return false;
    for (size_t i = 0; i < KEY_LEN; i++) {
        int high = ascii_hex(text->data[head + 2 * i]),
            low = ascii_hex(text->data[head + 2 * i + 1]);
        if (high < 0 || low < 0) return false;
        key->bytes[i] = (unsigned char)(high << 4 | low);
    }
    set_id(key);
    return true;
}

/* False with *err set; errno is ENOENT when there is none. */
static bool read_key(const Vault *v, Key *key, Error *err) {
    Buf text = BUF_INIT;
    struct stat st;
    Error why = ERROR_INIT;
    if (!v->key_file) {
        return error_set(err, ERR_SECRET,
                         "It is not known where the key file is, since there is no HOME.");
    }
    int fd = safe_open(AT_FDCWD, v->key_file, O_RDONLY, SAFE_OURS | SAFE_FOLLOW, &why);
    if (fd < 0 && errno == ENOENT) {
        fail_key(v, err, "is not there");
        error_fact(err, "missing", "true");
        errno = ENOENT;
        return false;
    }
    bool fine = fd >= 0 && safe_read_fd(fd, v->key_file, KEY_FILE_MAX, &text, &why);
    if (!fine) {
        error_set(err, ERR_SECRET, "The key file cannot be read. %s", why.msg);
    } else if (fstat(fd, &st) != 0 || (st.st_mode & (S_IRWXG | S_IRWXO))) {
        char what[80];
        snprintf(what, sizeof what, "can be used by others: its mode is %04o, and has to be 0600",
                 (unsigned)st.st_mode & 07777);
        fine = fail_key(v, err, what);
        error_fact(err, "exposed", "true");
    } else if (!parse_key(&text, key)) {
        fine = fail_key(v, err, "holds no key: it is damaged, or another file");
    }
    if (fd >= 0) close(fd);
    if (text.data) explicit_bzero(text.data, text.cap);
    buf_clear(&text);
    errno = 0;
    return fine;
}

static void make_folders(const char *path) {
    Buf part = BUF_INIT;
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        buf_reset(&part);
        buf_add(&part, path, (size_t)(slash - path));
        if (mkdir(part.data, 0700) != 0 && errno != EEXIST) break;
    }
    buf_clear(&part);
}

static bool write_all(int fd, const char *bytes, size_t len) {
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static bool make_key(const Vault *v, Key *key, Error *err) {
    char text[sizeof key_head + 2 * KEY_LEN + 1];
    Error why = ERROR_INIT;
    if (RAND_bytes(key->bytes, KEY_LEN) != 1) {
        return error_set(err, ERR_IO, "The system gives no random bytes for a key.");
    }
    set_id(key);
    make_folders(v->key_file);
    memcpy(text, key_head, sizeof key_head - 1);
    to_hex(key->bytes, KEY_LEN, text + sizeof key_head - 1);
    memcpy(text + sizeof text - 2, "\n", 2);
    int fd = safe_create(AT_FDCWD, v->key_file, &why);
    bool fine = fd >= 0 && write_all(fd, text, sizeof text - 1) && fsync(fd) == 0;
    if (!fine) {
        char what[200];
        int failed = errno;
        snprintf(what, sizeof what, "cannot be made: %s", strerror(failed));
        fail_key(v, err, what);
        error_fact_full(err, failed);
        if (fd >= 0) unlink(v->key_file);
    }
    if (fd >= 0) close(fd);
    explicit_bzero(text, sizeof text);
    return fine;
}

/* ---- values ---- */

static bool seal(const Key *key, const char *name, const char *value, size_t len, Buf *out) {
    unsigned char nonce[NONCE_LEN], tag[TAG_LEN];
    int n = 0, more = 0;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    unsigned char *sealed = mem_alloc(len + 1);
    bool fine =
        ctx && RAND_bytes(nonce, sizeof nonce) == 1 &&
        EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key->bytes, nonce) == 1 &&
        EVP_EncryptUpdate(ctx, NULL, &n, (const unsigned char *)name, (int)strlen(name)) == 1 &&
        EVP_EncryptUpdate(ctx, sealed, &n, (const unsigned char *)value, (int)len) == 1 &&
        EVP_EncryptFinal_ex(ctx, sealed + n, &more) == 1 &&
        EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, TAG_LEN, tag) == 1;
    if (fine) {
        buf_add(out, (const char *)nonce, sizeof nonce);
        buf_add(out, (const char *)tag, sizeof tag);
        buf_add(out, (const char *)sealed, len);
    }
    EVP_CIPHER_CTX_free(ctx);
    mem_free(sealed);
    return fine;
}

static bool unseal(const Key *key, const char *name, const Buf *sealed, Buf *out) {
    const unsigned char *at = (const unsigned char *)sealed->data;
    unsigned char tag[TAG_LEN], end[TAG_LEN];
    int n = 0, more = 0;
    if (sealed->len < NONCE_LEN + TAG_LEN) return false;
    int len = (int)(sealed->len - NONCE_LEN - TAG_LEN);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    unsigned char *value = mem_alloc((size_t)len + TAG_LEN);
    memcpy(tag, at + NONCE_LEN, TAG_LEN);
    bool fine =
        ctx && EVP_DecryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key->bytes, at) == 1 &&
        EVP_DecryptUpdate(ctx, NULL, &n, (const unsigned char *)name, (int)strlen(name)) == 1 &&
        EVP_DecryptUpdate(ctx, value, &n, at + NONCE_LEN + TAG_LEN, len) == 1 &&
        EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, TAG_LEN, tag) == 1 &&
        EVP_DecryptFinal_ex(ctx, end, &more) == 1;
    if (fine) buf_add(out, (const char *)value, (size_t)n);
    EVP_CIPHER_CTX_free(ctx);
    explicit_bzero(value, (size_t)len + TAG_LEN);
    mem_free(value);
    return fine;
}

static Json to_base64(const Buf *bytes) {
    char *text = mem_alloc(4 * (bytes->len / 3 + 1) + 1);
    int n =
        EVP_EncodeBlock((unsigned char *)text, (const unsigned char *)bytes->data, (int)bytes->len);
    Json out = json_string(text, (size_t)n);
    mem_free(text);
    return out;
}

static bool from_base64(Json text, Buf *out) {
    size_t len = json_string_len(text);
    const char *data = json_string_data(&text);
    if (!len || len % 4 || len > 2 * (size_t)SECRET_MAX) return false;
    char *at = buf_reserve(out, len / 4 * 3);
    int n = EVP_DecodeBlock((unsigned char *)at, (const unsigned char *)data, (int)len);
    n -= n > 0 ? (data[len - 1] == '=') + (data[len - 2] == '=') : 0;
    if (n <= 0) return false;
    buf_advance(out, (size_t)n);
    return true;
}

/* ---- the file ---- */

static bool entry_fits(Json name, Json entry) {
    return secret_name_is_valid(json_string_data(&name), json_string_len(name)) &&
           json_kind(json_object_get_c(entry, "value")) == JSON_STRING &&
           json_kind(json_object_get_c(entry, "at")) == JSON_STRING;
}

static bool vault_fits(Json all) {
    Json key = json_object_get_c(all, "key"), secrets = json_object_get_c(all, "secrets");
    Json name, entry;
    bool fits = json_kind(all) == JSON_OBJECT && json_kind(key) == JSON_STRING &&
                json_string_len(key) == (size_t)2 * ID_LEN && json_kind(secrets) == JSON_OBJECT &&
                json_object_len(secrets) <= NAMES_MAX;
    for (size_t pos = 0; fits && json_object_next(secrets, &pos, &name, &entry);) {
        fits = entry_fits(name, entry);
    }
    return fits;
}

Json vault_parse(const char *text, size_t len, Error *err) {
    Json all = json_parse(text, len, NULL, NULL);
    Json format = json_object_get_c(all, "format");
    if (json_kind(format) == JSON_NUMBER && json_to_double(format) > FORMAT) {
        error_set(err, ERR_SECRET, "is of a newer version of Pawl");
    } else if (json_kind(format) == JSON_NUMBER && json_to_double(format) == FORMAT &&
               vault_fits(all)) {
        return all;
    } else {
        error_set(err, ERR_SECRET, "is damaged");
    }
    json_unref(all);
    return json_none();
}

/* One without secrets when there is no file. JSON_NONE with *err set. */
static Json read_vault(const Vault *v, int folder, Error *err) {
    Buf text = BUF_INIT;
    Error why = ERROR_INIT;
    Json all = json_none();
    if (safe_read(folder, VAULT_FILE, SAFE_OURS, VAULT_MAX, &text, &why)) {
        all = vault_parse(text.data ? text.data : "", text.len, &why);
        if (json_is_none(all)) fail_vault(v, err, why.msg);
    } else if (errno == ENOENT) {
        all = OBJECT(KEY("format", json_int(FORMAT)), KEY("secrets", json_object()));
    } else {
        error_set(err, ERR_SECRET, "The file with the store's secrets cannot be read. %s", why.msg);
    }
    buf_clear(&text);
    return all;
}

static bool write_vault(const Vault *v, int folder, Json all, Error *err) {
    Buf text = BUF_INIT;
    json_print(all, &(JsonPrintOptions){.indent = 2}, &text);
    buf_addc(&text, '\n');
    unlinkat(folder, VAULT_NEW, 0); /* of one that died; we have the lock */
    int fd = safe_create(folder, VAULT_NEW, NULL);
    bool fine = fd >= 0 && write_all(fd, text.data, text.len) && fsync(fd) == 0 &&
                renameat(folder, VAULT_NEW, folder, VAULT_FILE) == 0 && fsync(folder) == 0;
    if (!fine) {
        char what[200];
        int failed = errno;
        snprintf(what, sizeof what, "cannot be written: %s", strerror(failed));
        unlinkat(folder, VAULT_NEW, 0);
        fail_vault(v, err, what);
        error_fact_full(err, failed);
    }
    if (fd >= 0) close(fd);
    buf_clear(&text);
    return fine;
}

/* The folder, and with `lock` the right to change the file. -1 with *err set. */
typedef struct Opened {
    int folder, lock;
} Opened;

static bool open_vault(const Vault *v, bool change, Opened *out, Error *err) {
    *out = (Opened){safe_folder(AT_FDCWD, v->folder, err), -1};
    if (out->folder < 0) return false;
    if (!change) return true;
    out->lock = safe_create(out->folder, VAULT_LOCK, NULL);
    if (out->lock < 0) out->lock = safe_open(out->folder, VAULT_LOCK, O_RDWR, SAFE_OURS, err);
    while (out->lock >= 0 && flock(out->lock, LOCK_EX) != 0 && errno == EINTR) {}
    if (out->lock < 0) close(out->folder);
    return out->lock >= 0;
}

static void close_vault(const Opened *opened) {
    if (opened->lock >= 0) close(opened->lock);
    close(opened->folder);
}

static bool key_fits(const Vault *v, const Key *key, Json all, Error *err) {
    Json id = json_object_get_c(all, "key");
    if (json_is_none(id) || json_string_is(id, key->id)) return true;
    fail_key(v, err, "holds another key than the one that the store's secrets were encrypted with");
    return error_fact(err, "other", "true");
}

static Json now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return json_time((int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000);
}

/* ---- what is asked of it ---- */

bool vault_make_key(const Vault *v, Error *err) {
    Key key;
    Error why = ERROR_INIT;
    bool fine = read_key(v, &key, &why);
    if (!fine && errno == ENOENT) {
        fine = make_key(v, &key, err);
    } else if (!fine && err) {
        *err = why;
    }
    explicit_bzero(&key, sizeof key);
    return fine;
}

bool vault_set(const Vault *v, const char *name, const char *value, size_t len, Error *err) {
    Opened opened;
    Key key;
    Buf sealed = BUF_INIT;
    if (len > SECRET_MAX) {
        return error_set(err, ERR_LIMIT, "A secret has at most %d KB.", SECRET_MAX >> 10);
    }
    if (!open_vault(v, true, &opened, err)) return false;
    Json all = read_vault(v, opened.folder, err);
    bool fine = !json_is_none(all) && read_key(v, &key, err);
    if (!fine && !json_is_none(all) && errno == ENOENT &&
        json_is_none(json_object_get_c(all, "key"))) {
        if (err) error_clear(err);
        fine = make_key(v, &key, err);
    }
    fine = fine && key_fits(v, &key, all, err) &&
           (seal(&key, name, value, len, &sealed) ||
            error_set(err, ERR_IO, "The secret cannot be encrypted."));
    if (fine) {
        Json secrets = json_ref(json_object_get_c(all, "secrets"));
        secrets = json_object_with(secrets, name,
                                   OBJECT(KEY("value", to_base64(&sealed)), KEY("at", now())));
        all = json_object_with(all, "key", json_string_c(key.id));
        all = json_object_with(all, "secrets", secrets);
        fine = write_vault(v, opened.folder, all, err);
    }
    explicit_bzero(&key, sizeof key);
    buf_clear(&sealed);
    json_unref(all);
    close_vault(&opened);
    return fine;
}

bool vault_get(const Vault *v, const char *name, Buf *value, Error *err) {
    Opened opened;
    Key key;
    Buf sealed = BUF_INIT;
    if (access(v->folder, F_OK) != 0) return false;
    if (!open_vault(v, false, &opened, err)) return false;
    Json all = read_vault(v, opened.folder, err);
    Json entry = json_object_get_c(json_object_get_c(all, "secrets"), name);
    bool found =
        json_kind(entry) == JSON_OBJECT && read_key(v, &key, err) && key_fits(v, &key, all, err);
    if (found && (!from_base64(json_object_get_c(entry, "value"), &sealed) ||
                  !unseal(&key, name, &sealed, value))) {
        found = fail_vault(v, err, "is damaged: one of its values cannot be decrypted");
    }
    explicit_bzero(&key, sizeof key);
    buf_clear(&sealed);
    json_unref(all);
    close_vault(&opened);
    return found;
}

static Json names_of(Json all) {
    Json secrets = json_object_get_c(all, "secrets"), keys = json_object_keys(secrets, true);
    Json list = json_array();
    for (size_t i = 0; i < json_array_len(keys); i++) {
        Json name = json_array_get(keys, i);
        Json at = json_object_get_c(json_object_get(secrets, name), "at");
        list = json_array_push(list, OBJECT(KEY("name", json_ref(name)), KEY("at", json_ref(at))));
    }
    json_unref(keys);
    return list;
}

Json vault_list(const Vault *v, Error *err) {
    Opened opened;
    if (access(v->folder, F_OK) != 0) return json_array();
    if (!open_vault(v, false, &opened, err)) return json_none();
    Json all = read_vault(v, opened.folder, err);
    Json list = json_is_none(all) ? json_none() : names_of(all);
    json_unref(all);
    close_vault(&opened);
    return list;
}

/* The last one takes the name of the key along: another can be used from then on. */
bool vault_remove(const Vault *v, const char *name, bool *was, Error *err) {
    Opened opened;
    *was = false;
    if (access(v->folder, F_OK) != 0) return true;
    if (!open_vault(v, true, &opened, err)) return false;
    Json all = read_vault(v, opened.folder, err), key = json_string_c(name);
    Json secrets = json_ref(json_object_get_c(all, "secrets"));
    bool fine = !json_is_none(all);
    *was = !json_is_none(json_object_get(secrets, key));
    if (*was) {
        secrets = json_object_remove(secrets, key);
        if (json_object_len(secrets)) {
            all = json_object_with(all, "secrets", json_ref(secrets));
            fine = write_vault(v, opened.folder, all, err);
        } else if (unlinkat(opened.folder, VAULT_FILE, 0) != 0) {
            fine = fail_vault(v, err, "cannot be removed");
        }
    }
    json_unref(secrets);
    json_unref(key);
    json_unref(all);
    close_vault(&opened);
    return fine;
}
