#define _GNU_SOURCE /* mkdtemp */
#include "store.h"

#include "ascii.h"
#include "backend.h"
#include "folders.h"
#include "json_binary.h"
#include "mem.h"
#include "safe_file.h"
#include "suggest.h"
#include "utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

extern const StoreBackend sqlite_backend, file_backend, memory_backend;

static const StoreBackend *const backends[] = {&sqlite_backend, &file_backend, &memory_backend};
enum { BACKENDS = sizeof backends / sizeof *backends };

/* ---- what backends share ---- */

int64_t store_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

const char *store_self(char out[STORE_OWNER_MAX]) {
    char host[65] = "";
    gethostname(host, sizeof host - 1);
    snprintf(out, STORE_OWNER_MAX, "pid %ld%s%s", (long)getpid(), *host ? " on " : "", host);
    return out;
}

/* FNV-1a. */
uint64_t store_hash(const char *bytes, size_t len) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < len; i++) hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001B3u;
    return hash;
}

void run_row_copy(RunRow *out, const RunRow *row) {
    *out = *row;
    out->thread = mem_strdup(row->thread);
    out->workflow = mem_strdup(row->workflow);
    out->status = mem_strdup(row->status);
    out->definition = mem_strdup(row->definition);
    out->owner = mem_strdup(row->owner);
}

void store_name_run(int64_t run, int i, char out[STORE_NAME_MAX]) {
    snprintf(out, STORE_NAME_MAX, i == 1 ? "run-%" PRId64 : "run-%" PRId64 "-%d", run, i);
}

static bool is_number(int64_t n) {
    return n >= 0 && n <= STORE_NUMBER_MAX;
}

static bool row_is_sound(const RunRow *row) {
    return is_number(row->created) && is_number(row->updated) && row->head >= 0 && row->last >= 0;
}

bool store_find_row(Store *s, RunKey key, RunRow *out, bool *found, Error *err) {
    if (!s->backend->find(s, key, out, found, err)) return false;
    if (!*found || row_is_sound(out)) return true;
    store_damaged(s, err, "the numbers of run %" PRId64 " are none that a run has.", out->run);
    run_row_clear(out);
    return *found = false;
}

static bool find_number(Store *s, int64_t run, RunRow *out, bool *found, Error *err) {
    return store_find_row(s, (RunKey){NULL, run}, out, found, err);
}

bool store_holds(const Store *s, int64_t run) {
    return leases_has(&s->leases, run);
}

bool store_damaged(const Store *s, Error *err, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    error_vset_at(err, ERR_DATA, 0, 0, fmt, args);
    va_end(args);
    if (err) error_wrap(err, "The store %s is damaged", s->url);
    return false;
}

static int later_first(const void *a, const void *b) {
    const RunPlace *x = a, *y = b;
    if (x->updated != y->updated) return x->updated > y->updated ? -1 : 1;
    return x->run > y->run ? -1 : x->run < y->run;
}

void run_places_give(Store *s, RunPlace *all, size_t n, RunsPage *page, RunRowFn fn, void *ctx) {
    size_t low = 0, high = n;
    RunPlace last = {page->updated, page->run, NULL};
    if (n) qsort(all, n, sizeof *all, later_first);
    while (page->run && low < high) { /* the first place behind the last one given */
        size_t middle = low + (high - low) / 2;
        if (later_first(&all[middle], &last) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    size_t end = page->limit && page->limit < n - low ? low + page->limit : n;
    page->more = end < n;
    for (bool wanted = true; wanted && low < end; low++) {
        const RunPlace *at = &all[low];
        RunRow own = {0};
        bool found = at->row != NULL;
        page->updated = at->updated;
        page->run = at->run;
        if (!found) find_number(s, at->run, &own, &found, NULL);
        wanted = !found || fn(ctx, at->row ? at->row : &own);
        run_row_clear(&own);
    }
    mem_free(all);
}

bool store_inspect(Store *s, int64_t run, Buf *out, Error *err) {
    return !s->backend->inspect || s->backend->inspect(s, run, out, err);
}

/* ---- life ---- */

static bool bad_scheme(const char *url, size_t len, Error *err) {
    if (text_is(url, len, "postgres") || text_is(url, len, "postgresql")) {
        return error_set(
            err, ERR_USAGE,
            "PostgreSQL is not part of this build, so the store `%s` cannot be opened; "
            "take sqlite:PATH or file:DIR.",
            url);
    }
    return error_set(
        err, ERR_USAGE,
        "There is no kind of store called `%.*s`; take sqlite:PATH, file:DIR or memory: "
        "(a path with a colon is written sqlite:%s).",
        (int)len, url, url);
}

static const StoreBackend *backend_of(const char *url, const char **path, Error *err) {
    size_t len = 0;
    while (ascii_is_letter(url[len]) || ascii_is_digit(url[len]) ||
           (url[len] && strchr("+-.", url[len]))) {
        len++;
    }
    *path = url;
    if (!len || url[len] != ':') return &sqlite_backend;
    *path = url + len + 1;
    for (size_t i = 0; i < BACKENDS; i++) {
        if (text_is(url, len, backends[i]->scheme)) return backends[i];
    }
    bad_scheme(url, len, err);
    return NULL;
}

static bool check_path(const StoreBackend *backend, const char *path, Error *err) {
    if (backend->durable && !*path) {
        return error_set(err, ERR_USAGE, "The store `%s:` lacks a path; write %s:PATH.",
                         backend->scheme, backend->scheme);
    }
    if (backend == &sqlite_backend && !strcmp(path, ":memory:")) {
        return error_set(err, ERR_USAGE,
                         "A database in memory cannot be shared by the parts of the program: write "
                         "memory: for a store that is gone with the process.");
    }
    if (!backend->durable && *path) {
        return error_set(err, ERR_USAGE,
                         "A store in memory has no path: write memory: and not memory:%s.", path);
    }
    return true;
}

/* Whether the folder of a database holds nothing but stores; in another one there is more than ours. */
static bool is_own_folder(const char *folder) {
    const char *slash = strrchr(folder, '/');
    return !strcmp(slash ? slash + 1 : folder, ".pawl");
}

/* Whoever could write where we are about to could have us write anywhere; and what is no file could have us wait. A
 * store that others can read was made by an earlier version: they cannot from now on. */
static bool is_safe(const Store *s, Error *err) {
    if (!s->backend->durable) return true;
    bool writes = s->mode != STORE_READ;
    char *folder = s->backend->in_folder ? folder_of(s->path) : mem_strdup(s->path);
    bool safe = !writes || folder_is_safe(folder, err);
    if (safe && !s->beside && (!s->backend->in_folder || is_own_folder(folder))) {
        safe_close_to_others(folder);
    }
    for (const char *const *part = s->backend->parts; *part && safe; part++) {
        char *path = path_with(s->path, *part);
        safe = path_is_file(path, err) && (!writes || path_is_safe(path, err));
        if (safe && !s->beside) safe_close_to_others(path);
        mem_free(path);
    }
    mem_free(folder);
    return safe;
}

static Store *open_handle(const StoreBackend *backend, const char *path, StoreMode mode,
                          const Store *beside, Error *err) {
    Store *s = mem_zalloc(backend->handle_size);
    Buf full = BUF_INIT;
    buf_printf(&full, "%s:%s", backend->scheme, path);
    s->backend = backend;
    s->url = buf_detach(&full);
    s->path = mem_strdup(path);
    s->mode = mode;
    s->beside = beside;
    bool ok = is_safe(s, err) && backend->open(s, err);
    s->beside = NULL;
    if (!ok) {
        store_close(s);
        return NULL;
    }
    return s;
}

Store *store_open(const char *url, StoreMode mode, Error *err) {
    const char *path;
    const StoreBackend *backend = backend_of(url, &path, err);
    if (!backend || !check_path(backend, path, err)) return NULL;
    return open_handle(backend, path, mode, NULL, err);
}

Store *store_reader(const Store *s, Error *err) {
    return open_handle(s->backend, s->path, STORE_READ, s, err);
}

void store_close(Store *s) {
    if (!s) return;
    s->backend->close(s);
    if (s->folder && !s->backend->durable) folder_remove(s->folder);
    leases_clear(&s->leases);
    store_batch_clear(&s->plain);
    mem_free(s->folder);
    mem_free(s->path);
    mem_free(s->url);
    mem_free(s);
}

const char *store_url(const Store *s) {
    return s->url;
}

void store_interrupt(Store *s) {
    atomic_store(&s->interrupted, true);
}

bool store_was_interrupted(const Store *s, Error *err) {
    return error_set(err, ERR_CANCELLED, "Reading the store %s was given up: nobody waits for it.",
                     s->path);
}

bool store_is_durable(const Store *s) {
    return s->backend->durable;
}

bool store_url_is_durable(const char *url) {
    const char *path;
    const StoreBackend *backend = backend_of(url, &path, NULL);
    return !backend || backend->durable;
}

const char *store_folder(Store *s, Error *err) {
    if (s->folder) return s->folder;
    const char *tmp = getenv("TMPDIR");
    bool durable = s->backend->durable;
    char *path =
        durable ? s->backend->folder(s) : path_join(tmp && *tmp ? tmp : "/tmp", "pawl-XXXXXX");
    int fd = durable ? safe_folder_make(AT_FDCWD, path, NULL, err) : -1;
    bool refused = fd < 0 && durable && (errno == EPERM || errno == ELOOP);
    if (fd >= 0) close(fd);
    if (fd >= 0 || (!durable && mkdtemp(path))) return s->folder = path;
    if (refused) {
        mem_free(path);
        return NULL;
    }
    int failed = errno;
    error_set(err, ERR_IO, "The folder %s for the work of runs cannot be made: %s.",
              durable ? path : "under $TMPDIR", strerror(failed));
    error_fact_full(err, failed);
    mem_free(path);
    return NULL;
}

/* ---- finding runs ---- */

void run_row_clear(RunRow *row) {
    mem_free(row->thread);
    mem_free(row->workflow);
    mem_free(row->status);
    mem_free(row->definition);
    mem_free(row->owner);
    *row = (RunRow){0};
}

/* A whole number above 0, or 0. */
static int64_t number_of(const char *text) {
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    return ascii_is_digit(*text) && !*end && !errno ? n : 0;
}

typedef struct Listing {
    RunRowFn fn;
    void *ctx;
} Listing;

/* A row whose numbers are none is listed as damaged. */
static bool give_row(void *ctx, const RunRow *row) {
    const Listing *l = ctx;
    if (row_is_sound(row)) return l->fn(l->ctx, row);
    RunRow shown = *row;
    shown.created = shown.updated = shown.head = shown.last = 0;
    shown.status = (char *)"damaged";
    return l->fn(l->ctx, &shown);
}

bool store_runs_page(Store *s, RunsPage *page, RunRowFn fn, void *ctx, Error *err) {
    page->more = false;
    return s->backend->runs(s, page, give_row, &(Listing){fn, ctx}, err);
}

bool store_runs(Store *s, RunRowFn fn, void *ctx, Error *err) {
    return store_runs_page(s, &(RunsPage){0}, fn, ctx, err);
}

typedef struct Nearest {
    Suggestion suggestion;
    char *name;
    bool any;
} Nearest;

static bool offer_name(void *ctx, const RunRow *row) {
    Nearest *n = ctx;
    n->any = true;
    suggestion_offer(&n->suggestion, row->thread);
    if (n->suggestion.best == row->thread) {
        mem_free(n->name);
        n->name = mem_strdup(row->thread);
        n->suggestion.best = n->name;
    }
    return true;
}

static bool no_such_thread(Store *s, const char *name, Error *err) {
    Nearest n = {.suggestion = suggestion_for(name, strlen(name))};
    if (!store_runs(s, offer_name, &n, err)) {
        /* the error of the store says more */
    } else if (!n.any) {
        error_set(err, ERR_NOT_FOUND, "There is no thread `%s`: the store %s holds no runs yet.",
                  name, s->url);
        error_fact(err, "thread", name);
        error_fact(err, "store", s->url);
    } else {
        error_set(err, ERR_NOT_FOUND, "There is no thread `%s` in %s%s%s%s", name, s->url,
                  n.name ? "; did you mean `" : "", n.name ? n.name : "", n.name ? "`?" : ".");
        error_fact(err, "thread", name);
        error_fact(err, "suggestion", n.name);
    }
    mem_free(n.name);
    return false;
}

bool store_has_no_run(const Store *s, int64_t run, Error *err) {
    error_set(err, ERR_NOT_FOUND, "There is no run %" PRId64 " in %s.", run, s->url);
    return error_fact_int(err, "run", run);
}

bool store_disk_is_full(const Store *s, const char *doing, Error *err) {
    error_set(
        err, ERR_IO,
        "The disk with %s is full: %s failed. What was recorded before is kept; make room and go on "
        "from there.",
        s->path, doing);
    return error_fact_true(err, "full");
}

bool store_io_failed(const Store *s, const char *doing, const char *why, Error *err) {
    return error_set(
        err, ERR_IO,
        "%s: %s failed: the operating system says `%s`. What was recorded before is kept; try again "
        "when the disk is well.",
        s->path, doing, why);
}

bool store_is_newer(const Store *s, int64_t format, Error *err) {
    error_set(err, ERR_DATA,
              "The store %s was written by a newer version of pawl (format %" PRId64
              "; this one reads up to %d).",
              s->path, format, STORE_FORMAT);
    error_fact(err, "store", s->url);
    return error_fact_int(err, "format", format);
}

bool store_find(Store *s, const char *name, RunRow *out, Error *err) {
    bool found = false;
    int64_t number = number_of(name);
    *out = (RunRow){0};
    if (strlen(name) <= STORE_THREAD_MAX &&
        !store_find_row(s, (RunKey){name, 0}, out, &found, err)) {
        return false;
    }
    if (!found && number > 0 && !find_number(s, number, out, &found, err)) return false;
    return found || no_such_thread(s, name, err);
}

/* What to call a run in a sentence: its thread, or its number when that cannot be read. */
static char *name_of(Store *s, int64_t run) {
    RunRow row = {0};
    bool found = false;
    Buf name = BUF_INIT;
    if (find_number(s, run, &row, &found, NULL) && found) {
        buf_printf(&name, "thread `%s`", row.thread);
    } else {
        buf_printf(&name, "run %" PRId64, run);
    }
    run_row_clear(&row);
    return buf_detach(&name);
}

/* ---- making and leasing runs ---- */

bool store_refuse_reader(const Store *s, Error *err) {
    return s->mode != STORE_READ ||
           error_set(err, ERR_USAGE, "The store %s was opened for reading only.", s->url);
}

static bool has_control_character(const char *s, size_t len) {
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        bool c1 = c == 0xC2 && i + 1 < len && (unsigned char)s[i + 1] < 0xA0;
        if (c < 0x20 || c == 0x7F || c1) return true;
    }
    return false;
}

bool store_check_thread(const char *thread, Error *err) {
    size_t len = strlen(thread);
    if (!len) {
        return error_set(err, ERR_USAGE,
                         "The name of a thread is empty; give it one or leave it out.");
    }
    if (len > STORE_THREAD_MAX) {
        return error_set(err, ERR_USAGE,
                         "The name of a thread has at most %d bytes, and this one has %zu.",
                         STORE_THREAD_MAX, len);
    }
    if (utf8_valid_prefix(thread, len) != len || has_control_character(thread, len)) {
        return error_set(
            err, ERR_USAGE,
            "The name of a thread is text in UTF-8 without control characters such as a new line.");
    }
    return true;
}

bool store_check_new_thread(const char *thread, Error *err) {
    if (!store_check_thread(thread, err)) return false;
    return thread[strspn(thread, "0123456789")] ||
           error_set(err, ERR_USAGE,
                     "A thread cannot be called `%s`: a number names the run that has it.", thread);
}

static bool refuse_busy(Store *s, int64_t run, const char *owner, Error *err) {
    RunRow row = {0};
    bool found = false;
    char number[24];
    find_number(s, run, &row, &found, NULL);
    snprintf(number, sizeof number, "%" PRId64, run);
    const char *name = found ? row.thread : number;
    error_set(err, ERR_BUSY, "Thread `%s` is being run by %s.", name,
              owner ? owner : "another process");
    error_fact(err, "thread", name);
    error_fact(err, "holder", owner);
    run_row_clear(&row);
    return false;
}

bool store_lease(Store *s, int64_t run, Error *err) {
    bool busy = false, cancel = false;
    char *owner = NULL;
    if (store_holds(s, run)) return true;
    if (!store_refuse_reader(s, err) || !s->backend->lease(s, run, &busy, &owner, err)) {
        return false;
    }
    if (busy) {
        refuse_busy(s, run, owner, err);
        mem_free(owner);
        return false;
    }
    leases_add(&s->leases, run);
    bool ok = s->backend->get_cancel(s, run, &cancel, err) && /* a wish for the owner before */
              (!cancel || s->backend->set_cancel(s, run, false, err));
    if (!ok) store_release(s, run);
    return ok;
}

void store_release(Store *s, int64_t run) {
    if (store_holds(s, run)) {
        leases_remove(&s->leases, run);
        s->backend->release(s, run);
    }
}

bool store_is_leased(Store *s, int64_t run) {
    return store_holds(s, run) || s->backend->is_leased(s, run);
}

bool store_ask_cancel(Store *s, int64_t run, Error *err) {
    s->asked = true;
    return store_refuse_reader(s, err) && s->backend->set_cancel(s, run, true, err);
}

bool store_heard(Store *s) {
    uint64_t version = s->backend->version ? s->backend->version(s) : s->version;
    bool unknown = s->backend->version && !version;
    bool heard = s->asked || unknown || version != s->version;
    s->version = version;
    s->asked = false;
    return heard;
}

bool store_asked(Store *s, int64_t run, bool *cancel, Error *err) {
    *cancel = false;
    return s->backend->get_cancel(s, run, cancel, err);
}

/* ---- definitions ---- */

enum { KEY_HEX = 16 };

/* Its key is its hash. Two values may share it: then the later one's has a number behind it. */
char *store_define_encoded(Store *s, const Buf *bytes, Error *err) {
    Buf there = BUF_INIT, key = BUF_INIT;
    bool fits = bytes->len <= STORE_VALUE_MAX ||
                error_set(err, ERR_LIMIT, "A workflow of %zu MB is too large for a store: %d MB.",
                          bytes->len >> 20, STORE_VALUE_MAX >> 20);
    bool ok = fits && store_refuse_reader(s, err), found = ok, same = false;
    for (int attempt = 1; ok && found && !same; attempt++) {
        buf_reset(&key);
        buf_reset(&there);
        buf_printf(&key, "%0*" PRIx64, KEY_HEX, store_hash(bytes->data, bytes->len));
        if (attempt > 1) buf_printf(&key, "-%d", attempt);
        ok = s->backend->definition(s, key.data, &there, &found, err);
        same = found && there.len == bytes->len && !memcmp(there.data, bytes->data, bytes->len);
    }
    ok = ok && (found || s->backend->define(s, key.data, bytes, err));
    buf_clear(&there);
    if (!ok) buf_clear(&key);
    return ok ? buf_detach(&key) : NULL;
}

char *store_define(Store *s, Json value, Error *err) {
    Buf bytes = BUF_INIT;
    json_encode(value, &bytes);
    char *key = store_define_encoded(s, &bytes, err);
    buf_clear(&bytes);
    return key;
}

Json store_definition(Store *s, const char *key, Error *err) {
    Buf bytes = BUF_INIT;
    bool found = false;
    Json value = json_none();
    if (!s->backend->definition(s, key, &bytes, &found, err)) {
        /* said */
    } else if (!found) {
        error_set(err, ERR_DATA, "There is no definition %s in the store %s.", key, s->url);
    } else {
        char hex[KEY_HEX + 1];
        snprintf(hex, sizeof hex, "%0*" PRIx64, KEY_HEX, store_hash(bytes.data, bytes.len));
        value = strncmp(hex, key, KEY_HEX)
                    ? json_none()
                    : json_decode_within(bytes.data, bytes.len, STORE_IMAGE_MAX, NULL, NULL);
        if (json_is_none(value)) {
            store_damaged(s, err, "the definition %s is not what it was.", key);
        }
    }
    buf_clear(&bytes);
    return value;
}

/* ---- checkpoints ---- */

bool store_damaged_checkpoint(Store *s, int64_t run, int64_t seq, const char *why, Error *err) {
    char *name = name_of(s, run);
    size_t len = strlen(why);
    len -= len && why[len - 1] == '.';
    error_set(err, ERR_DATA,
              "Checkpoint %" PRId64
              " of %s in %s is damaged: %.*s. Other threads are not affected.",
              seq, name, s->url, (int)len, why);
    error_fact(err, "damaged", s->url);
    error_fact_int(err, "checkpoint", seq);
    mem_free(name);
    return false;
}

bool store_bad_checkpoint(Store *s, const Checkpoint *c, const char *part, const Error *why,
                          Error *err) {
    if (why->code != ERR_LIMIT) {
        Buf text = BUF_INIT;
        buf_printf(&text, "its %s %s", part, why->msg);
        store_damaged_checkpoint(s, c->run, c->seq, text.data, err);
        buf_clear(&text);
        return false;
    }
    char *name = name_of(s, c->run);
    error_set(err, ERR_LIMIT,
              "Checkpoint %" PRId64 " of %s in %s is too large: its %s %s. Other threads are not "
              "affected.",
              c->seq, name, s->url, part, why->msg);
    error_fact_int(err, "checkpoint", c->seq);
    error_fact_int(err, "limit", STORE_IMAGE_MAX);
    mem_free(name);
    return false;
}

static bool missing_checkpoint(Store *s, int64_t run, int64_t seq, Error *err) {
    RunRow row = {0};
    bool found = false;
    if (!find_number(s, run, &row, &found, err)) return false;
    if (!found) return store_has_no_run(s, run, err);
    if (seq < 1 || seq > row.last) {
        error_set(err, ERR_NOT_FOUND,
                  "Thread `%s` has no checkpoint %" PRId64 ": its last is %" PRId64 ".", row.thread,
                  seq, row.last);
    } else {
        error_set(err, ERR_NOT_FOUND, "Checkpoint %" PRId64 " of thread `%s` was pruned.", seq,
                  row.thread);
    }
    error_fact(err, "thread", row.thread);
    error_fact_int(err, "checkpoint", seq);
    run_row_clear(&row);
    return false;
}

static const char no_numbers[] = "its numbers are none that a checkpoint has";

static bool checkpoint_is_sound(const Checkpoint *c) {
    return is_number(c->step) && is_number(c->frame) && is_number(c->at);
}

bool store_checkpoint(Store *s, int64_t run, int64_t seq, Checkpoint *out, Error *err) {
    bool found = false;
    const char *why = NULL;
    if (atomic_load_explicit(&s->interrupted, memory_order_relaxed)) {
        return store_was_interrupted(s, err);
    }
    if (!s->backend->checkpoint(s, run, seq, out, &found, &why, err)) return false;
    if (found && !why && !checkpoint_is_sound(out)) why = no_numbers;
    if (why) return store_damaged_checkpoint(s, run, seq, why, err);
    return found || missing_checkpoint(s, run, seq, err);
}

typedef struct Walk {
    Store *s;
    int64_t run;
    CheckpointFn fn;
    DamageFn damaged;
    void *ctx;
    Error *err;
    bool failed;
} Walk;

static bool walk_damage(void *ctx, int64_t seq, const char *why) {
    Walk *w = ctx;
    Error err = ERROR_INIT;
    store_damaged_checkpoint(w->s, w->run, seq, why, &err);
    if (w->damaged) return w->damaged(w->ctx, seq, &err);
    if (w->err) *w->err = err;
    w->failed = true;
    return false;
}

static bool walk_checkpoint(void *ctx, const Checkpoint *c) {
    Walk *w = ctx;
    if (atomic_load_explicit(&w->s->interrupted, memory_order_relaxed)) {
        w->failed = true;
        return store_was_interrupted(w->s, w->err);
    }
    return checkpoint_is_sound(c) ? w->fn(w->ctx, c) : walk_damage(w, c->seq, no_numbers);
}

bool store_history(Store *s, int64_t run, int64_t from, CheckpointFn fn, DamageFn damaged,
                   void *ctx, Error *err) {
    Walk w = {s, run, fn, damaged, ctx, err, false};
    return s->backend->history(s, run, from, walk_checkpoint, walk_damage, &w, err) && !w.failed;
}

/* ---- logs ---- */

typedef struct LogWalk {
    Store *s;
    const LogQuery *query;
    LogFn fn;
    DamageFn damaged;
    void *ctx;
    Error *err;
    bool failed;
} LogWalk;

static bool log_damage(void *ctx, int64_t n, const char *why) {
    LogWalk *w = ctx;
    Error err = ERROR_INIT;
    char *name = name_of(w->s, w->query->run);
    error_set(&err, ERR_DATA,
              "Piece %" PRId64 " of the output of %s in %s is damaged: %s. Other threads are not "
              "affected.",
              n, name, w->s->url, why);
    error_fact(&err, "damaged", w->s->url);
    mem_free(name);
    if (w->damaged) return w->damaged(w->ctx, n, &err);
    if (w->err) *w->err = err;
    w->failed = true;
    return false;
}

static bool log_piece(void *ctx, const LogPiece *piece) {
    LogWalk *w = ctx;
    const LogQuery *q = w->query;
    if (atomic_load_explicit(&w->s->interrupted, memory_order_relaxed)) {
        w->failed = true;
        return store_was_interrupted(w->s, w->err);
    }
    bool wanted = piece->n >= q->from && piece->at >= q->since &&
                  (!q->node || !strcmp(piece->node, q->node)) &&
                  (!q->streams || q->streams >> piece->stream & 1);
    return !wanted || w->fn(w->ctx, piece);
}

bool store_log(Store *s, const LogQuery *query, LogFn fn, DamageFn damaged, void *ctx, Error *err) {
    LogWalk w = {s, query, fn, damaged, ctx, err, false};
    return s->backend->log(s, query, log_piece, log_damage, &w, err) && !w.failed;
}
