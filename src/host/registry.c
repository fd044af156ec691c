#include "registry.h"

#include "ascii.h"
#include "flow.h"
#include "json_build.h"
#include "kept.h"
#include "mem.h"
#include "problems.h"
#include "safe_file.h"
#include "suggest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME_BYTES = 100, PATH_ROOM = 4096 };

#define FOLDER "workflows"

static const char *const endings[] = {".yaml", ".yml", ".json"};
enum { ENDINGS = sizeof endings / sizeof *endings };

/* ---- names ---- */

/* What kept_change() has beside a file. */
static bool is_beside(const char *name, size_t len) {
    return (len > 5 && !memcmp(name + len - 5, ".lock", 5)) ||
           (len > 4 && !memcmp(name + len - 4, ".new", 4));
}

static bool name_is_valid(const char *name, size_t len) {
    if (!len || len > NAME_BYTES || !(ascii_is_letter(name[0]) || ascii_is_digit(name[0]))) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if (!ascii_is_name(name[i]) && name[i] != '-' && name[i] != '.') return false;
    }
    return !is_beside(name, len);
}

bool registry_name_is_valid(const char *name) {
    return name_is_valid(name, strlen(name));
}

static bool check_name(const char *name, Error *err) {
    if (registry_name_is_valid(name)) return true;
    error_set(
        err, ERR_USAGE,
        "`%s` is no name of a workflow; that has 1 to %d letters, digits, `-`, `_` and `.`, and "
        "begins with a letter or digit.",
        shown(name, strlen(name)), NAME_BYTES);
    return error_fact(err, "field", "name");
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the folder ---- */

static bool folder_is_there(const Registry *r, Error *err) {
    return !r->folder || access(r->folder, R_OK | X_OK) == 0 ||
           error_set(err, ERR_IO, "The folder of workflows, %s, cannot be read: %s.", r->folder,
                     strerror(errno));
}

/* The file of a name in the folder; false: there is none. */
static bool file_of(const Registry *r, const char *name, char path[PATH_ROOM], struct stat *st) {
    for (int i = 0; r->folder && i < ENDINGS; i++) {
        int n = snprintf(path, PATH_ROOM, "%s/%s%s", r->folder, name, endings[i]);
        if (n > 0 && n < PATH_ROOM && stat(path, st) == 0 && S_ISREG(st->st_mode)) return true;
    }
    return false;
}

static Json listed_file(const char *name, const char *path, const struct stat *st) {
    int64_t at = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
    return OBJECT(KEY("name", name), KEY("source", "folder"), KEY("file", path),
                  KEY("updated", json_time(at)));
}

/* What a path is, if it is there and no regular file, nor a link to one; NULL otherwise. */
static const char *not_a_file(const char *path) {
    struct stat st;
    if (lstat(path, &st) != 0) return NULL;
    if (stat(path, &st) != 0) {
        return errno == ENOENT ? "a link that leads nowhere" : "a link that cannot be followed";
    }
    return S_ISREG(st.st_mode)    ? NULL
           : S_ISDIR(st.st_mode)  ? "a folder"
           : S_ISFIFO(st.st_mode) ? "a FIFO"
           : S_ISSOCK(st.st_mode) ? "a socket"
                                  : "a device";
}

/* How long the name is before the ending of a workflow; 0: the entry has none. exact: and in small letters. */
static size_t stem_of(const char *entry, bool *exact) {
    size_t len = strlen(entry);
    for (int i = 0; i < ENDINGS; i++) {
        size_t end = strlen(endings[i]);
        if (len > end && !strcasecmp(entry + len - end, endings[i])) {
            *exact = !strcmp(entry + len - end, endings[i]);
            return len - end;
        }
    }
    return 0;
}

/* Calls fn for each entry of the folder that has the ending of a workflow, in no order. */
typedef void (*EntryFn)(void *ctx, const char *entry, size_t stem, bool exact);

static void each_entry(const Registry *r, EntryFn fn, void *ctx) {
    DIR *dir = r->folder ? opendir(r->folder) : NULL;
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        bool exact = false;
        size_t stem = stem_of(entry->d_name, &exact);
        if (stem) fn(ctx, entry->d_name, stem, exact);
    }
    if (dir) closedir(dir);
}

/* ---- the store ---- */

/* The versions of one: "path" has to live as long. */
static KeptFile kept_of(const char *folder, const char *name) {
    return (KeptFile){.folder = folder,
                      .name = name,
                      .what = "The file of a registered workflow",
                      .max = REGISTRY_BYTES,
                      .format = 1,
                      .shape = "{format: int, versions: [{version: int(1..), at: time, by?: text, "
                               "definition: {main: text, files: {*: text}, ...}}]}"};
}

static bool folder_of(const Registry *r, char path[PATH_ROOM]) {
    int n = snprintf(path, PATH_ROOM, "%s/%s", r->store, FOLDER);
    return n > 0 && n < PATH_ROOM;
}

static Json newest(Json kept) {
    Json versions = json_object_get_c(kept, "versions");
    size_t n = json_array_len(versions);
    return n ? json_array_get(versions, n - 1) : json_none();
}

static Json listed_kept(const char *name, Json kept) {
    Json last = newest(kept);
    return OBJECT(KEY("name", name), KEY("source", "store"),
                  KEY("version", json_ref(json_object_get_c(last, "version"))),
                  KEY("updated", json_ref(json_object_get_c(last, "at"))));
}

/* Calls fn for each name in the store, in no order. */
typedef void (*NameFn)(void *ctx, const char *name);

static void each_kept(const Registry *r, NameFn fn, void *ctx) {
    char path[PATH_ROOM];
    DIR *dir = folder_of(r, path) ? opendir(path) : NULL;
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        if (registry_name_is_valid(entry->d_name)) fn(ctx, entry->d_name);
    }
    if (dir) closedir(dir);
}

/* ---- both ---- */

typedef struct Listing {
    const Registry *r;
    Json list, left_out;
} Listing;

static void leave_out(Listing *l, const char *entry, Json why) {
    if (json_array_len(l->left_out) < REGISTRY_LEFT_OUT) {
        l->left_out = json_array_push(l->left_out, OBJECT(KEY("file", entry), KEY("why", why)));
    } else {
        json_unref(why);
    }
}

static void list_entry(void *ctx, const char *entry, size_t stem, bool exact) {
    Listing *l = ctx;
    char path[PATH_ROOM], name[NAME_BYTES + 1];
    struct stat st;
    int n = snprintf(path, sizeof path, "%s/%s", l->r->folder, entry);
    const char *what = n > 0 && n < PATH_ROOM ? not_a_file(path) : NULL;
    if (!exact) {
        leave_out(l, entry, json_string_c("Its ending is not written in small letters."));
        return;
    }
    if (!name_is_valid(entry, stem)) {
        leave_out(l, entry,
                  json_string_fmt("The name of a workflow has 1 to %d letters, digits, `-`, `_` "
                                  "and `.`, and begins with a letter or digit.",
                                  NAME_BYTES));
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)stem, entry);
    if (what) {
        leave_out(l, entry, json_string_fmt("It is %s, and no file.", what));
    } else if (file_of(l->r, name, path, &st)) {
        const char *taken = path + strlen(l->r->folder) + 1;
        if (!strcmp(taken, entry)) {
            l->list = json_array_push(l->list, listed_file(name, path, &st));
        } else {
            leave_out(l, entry, json_string_fmt("%s has the same name.", taken));
        }
    }
}

static void list_kept(void *ctx, const char *name) {
    Listing *l = ctx;
    char folder[PATH_ROOM], path[PATH_ROOM];
    struct stat st;
    if (file_of(l->r, name, path, &st) || !folder_of(l->r, folder)) return;
    KeptFile file = kept_of(folder, name);
    Json kept = kept_read(&file, NULL);
    if (!json_is_none(newest(kept))) l->list = json_array_push(l->list, listed_kept(name, kept));
    json_unref(kept);
}

static Json called(Json listed) {
    Json name = json_object_get_c(listed, "name");
    return json_is_none(name) ? json_object_get_c(listed, "file") : name;
}

static int by_name(const void *a, const void *b) {
    return json_compare(called(*(const Json *)a), called(*(const Json *)b));
}

/* Consumes the list. */
static Json sorted(Json list) {
    size_t n = json_array_len(list);
    Json *items = mem_alloc((n + 1) * sizeof *items), out = json_array();
    for (size_t i = 0; i < n; i++) items[i] = json_array_get(list, i);
    qsort(items, n, sizeof *items, by_name);
    for (size_t i = 0; i < n; i++) out = json_array_push(out, json_ref(items[i]));
    mem_free(items);
    json_unref(list);
    return out;
}

Json registry_list(const Registry *r, Error *err) {
    Listing l = {r, json_array(), json_array()};
    if (!folder_is_there(r, err)) {
        json_unref(l.list);
        json_unref(l.left_out);
        return json_none();
    }
    each_entry(r, list_entry, &l);
    each_kept(r, list_kept, &l);
    if (!json_array_len(l.left_out)) json_clear(&l.left_out);
    return OBJECT(KEY("workflows", sorted(l.list)),
                  KEY("left_out", json_is_none(l.left_out) ? l.left_out : sorted(l.left_out)));
}

typedef struct Nearest {
    const Registry *r;
    Suggestion suggestion;
    char best[NAME_BYTES + 1];
} Nearest;

static void offer(void *ctx, const char *name) {
    Nearest *n = ctx;
    suggestion_offer(&n->suggestion, name);
    if (n->suggestion.best == name) { /* it goes with the entry of the folder */
        snprintf(n->best, sizeof n->best, "%s", name);
        n->suggestion.best = n->best;
    }
}

static void offer_entry(void *ctx, const char *entry, size_t stem, bool exact) {
    Nearest *n = ctx;
    char path[PATH_ROOM], name[NAME_BYTES + 1];
    struct stat st;
    if (!exact || !name_is_valid(entry, stem)) return;
    snprintf(name, sizeof name, "%.*s", (int)stem, entry);
    if (file_of(n->r, name, path, &st)) offer(n, name);
}

/* It is there, and cannot be one. */
static bool is_no_file(const Registry *r, const char *name, Error *err) {
    char path[PATH_ROOM];
    for (int i = 0; r->folder && i < ENDINGS; i++) {
        int n = snprintf(path, PATH_ROOM, "%s/%s%s", r->folder, name, endings[i]);
        const char *what = n > 0 && n < PATH_ROOM ? not_a_file(path) : NULL;
        if (!what) continue;
        error_set(err, ERR_NOT_FOUND, "There is no workflow `%s`: %s%s is %s, and no file.", name,
                  name, endings[i], what);
        error_fact(err, "workflow", name);
        return true;
    }
    return false;
}

static Json not_found(const Registry *r, const char *name, Error *err) {
    Nearest n = {.r = r, .suggestion = suggestion_for(name, strlen(name))};
    if (is_no_file(r, name, err)) return json_none();
    each_entry(r, offer_entry, &n);
    each_kept(r, offer, &n);
    error_set(err, ERR_NOT_FOUND, "There is no workflow `%s`%s", name,
              did_you_mean_this(n.suggestion.best));
    error_fact(err, "workflow", name);
    error_fact(err, "suggestion", n.suggestion.best);
    return json_none();
}

/* The definition of a file; JSON_NONE with the first problem. */
static Json load_file(const Registry *r, const char *path, Error *err) {
    FlowProblems problems = {0};
    FlowReader reader = flow_root_reader(r->bounds.root);
    Flow *flow = flow_load(path, &reader, &problems);
    Json out = flow ? flow_definition(flow) : json_none();
    if (!flow) {
        const FlowProblem *first = NULL;
        for (size_t i = 0; i < problems.n && !first; i++) {
            if (!problems.items[i].warning) first = &problems.items[i];
        }
        error_set_at(err, ERR_SYNTAX, first ? first->line : 0, first ? first->col : 0, "%s",
                     first ? first->msg : "The file is no workflow.");
        error_fact(err, "file", first && first->file ? first->file : path);
    }
    flow_unref(flow);
    flow_problems_clear(&problems);
    return out;
}

/* The kept file of a name that is not in the folder; JSON_NONE with its sentence. */
static Json read_kept(const Registry *r, const char *name, Error *err) {
    Error own = ERROR_INIT, *e = err ? err : &own;
    char folder[PATH_ROOM];
    if (!folder_of(r, folder)) return not_found(r, name, e);
    KeptFile file = kept_of(folder, name);
    Json kept = kept_read(&file, e);
    if (json_is_none(kept) && e->code != ERR_NONE) return kept;
    return json_is_none(newest(kept)) ? not_found(r, name, e) : kept;
}

static Json version_of(Json kept, const char *name, int64_t version, Error *err) {
    Json versions = json_object_get_c(kept, "versions");
    if (!version) return newest(kept);
    for (size_t i = 0; i < json_array_len(versions); i++) {
        Json one = json_array_get(versions, i);
        if ((int64_t)json_to_double(json_object_get_c(one, "version")) == version) return one;
    }
    error_set(err, ERR_NOT_FOUND, "The workflow `%s` has no version %lld; its newest is %lld.",
              name, (long long)version,
              (long long)json_to_double(json_object_get_c(newest(kept), "version")));
    error_fact(err, "workflow", name);
    return json_none();
}

static Json versions_json(Json kept) {
    Json out = json_array(), versions = json_object_get_c(kept, "versions");
    for (size_t i = 0; i < json_array_len(versions); i++) {
        Json one = json_array_get(versions, i);
        out = json_array_push(out, json_object_remove(json_ref(one), json_string_c("definition")));
    }
    return out;
}

Json registry_get(const Registry *r, const char *name, int64_t version, Error *err) {
    char path[PATH_ROOM];
    struct stat st;
    if (!check_name(name, err) || !folder_is_there(r, err)) return json_none();
    if (file_of(r, name, path, &st)) {
        Error why = ERROR_INIT;
        Buf text = BUF_INIT;
        Json definition = load_file(r, path, &why), out = listed_file(name, path, &st);
        if (json_is_none(definition) && flow_read_file(r->bounds.root, path, &text, err)) {
            out = json_object_with(out, "text", json_string(text.data ? text.data : "", text.len));
        } else if (json_is_none(definition)) {
            json_clear(&out);
        }
        buf_clear(&text);
        return json_is_none(out) ? out : OBJECT_ADD(out, KEY("definition", definition));
    }
    Json kept = read_kept(r, name, err);
    Json one = json_is_none(kept) ? kept : version_of(kept, name, version, err);
    Json out = json_none();
    if (!json_is_none(one)) {
        out = OBJECT_ADD(listed_kept(name, kept),
                         KEY("definition", json_ref(json_object_get_c(one, "definition"))),
                         KEY("version", json_ref(json_object_get_c(one, "version"))),
                         KEY("versions", versions_json(kept)));
    }
    json_unref(kept);
    return out;
}

Json registry_definition(const Registry *r, const char *name, int64_t version, Error *err) {
    char path[PATH_ROOM];
    struct stat st;
    if (!check_name(name, err) || !folder_is_there(r, err)) return json_none();
    if (file_of(r, name, path, &st)) return load_file(r, path, err);
    Json kept = read_kept(r, name, err);
    Json one = json_is_none(kept) ? kept : version_of(kept, name, version, err);
    Json out = json_is_none(one) ? one : json_ref(json_object_get_c(one, "definition"));
    json_unref(kept);
    return out;
}

/* ---- changes ---- */

typedef struct Putting {
    Json definition;
    const char *by;
    int64_t version; /* out */
} Putting;

static Json add_version(void *ctx, Json old, Error *err) {
    Putting *p = ctx;
    Json last = json_is_none(old) ? json_none() : newest(old);
    (void)err;
    p->version =
        json_is_none(last) ? 0 : (int64_t)json_to_double(json_object_get_c(last, "version"));
    if (!json_is_none(last) && json_equal(json_object_get_c(last, "definition"), p->definition)) {
        return json_none();
    }
    Json versions = json_is_none(old) ? json_array() : json_ref(json_object_get_c(old, "versions"));
    versions = json_array_push(versions, OBJECT(KEY("version", json_int(++p->version)),
                                                KEY("at", json_time(now_ms())), KEY("by", p->by),
                                                KEY("definition", json_ref(p->definition))));
    size_t n = json_array_len(versions);
    if (n > REGISTRY_VERSIONS) versions = json_array_slice(versions, n - REGISTRY_VERSIONS, n);
    return OBJECT(KEY("format", json_int(1)), KEY("versions", versions));
}

static bool is_of_folder(const Registry *r, const char *name, const char *what, Error *err) {
    char path[PATH_ROOM];
    struct stat st;
    if (!file_of(r, name, path, &st)) return false;
    error_set(err, ERR_EXISTS,
              "The workflow `%s` is the file %s, so it cannot be %s here: change the file.", name,
              path, what);
    error_fact(err, "workflow", name);
    return true;
}

static void count(void *ctx, const char *name) {
    (void)name;
    ++*(size_t *)ctx;
}

/* For one more that is not there yet. */
static bool has_room(const Registry *r, const KeptFile *file, Error *err) {
    size_t n = 0;
    if (kept_changed(file)) return true;
    each_kept(r, count, &n);
    return n < REGISTRY_WORKFLOWS ||
           error_set(err, ERR_LIMIT, "The store has %d workflows, and that is the most.",
                     REGISTRY_WORKFLOWS);
}

int64_t registry_put(const Registry *r, const char *name, Json definition, const char *by,
                     Error *err) {
    char folder[PATH_ROOM];
    Putting p = {definition, by, 0};
    if (!check_name(name, err) || !folder_is_there(r, err) || is_of_folder(r, name, "put", err)) {
        return 0;
    }
    if (!folder_of(r, folder)) return error_set(err, ERR_IO, "The path of the store is too long.");
    int store = safe_folder(AT_FDCWD, r->store, err);
    int made = store < 0 ? -1 : safe_folder_make(store, FOLDER, NULL, err);
    if (store >= 0) close(store);
    if (made < 0) return 0;
    close(made);
    KeptFile file = kept_of(folder, name);
    if (!has_room(r, &file, err)) return 0;
    return kept_change(&file, add_version, &p, err) ? p.version : 0;
}

bool registry_delete(const Registry *r, const char *name, Error *err) {
    char folder[PATH_ROOM], path[PATH_ROOM];
    if (!check_name(name, err) || !folder_is_there(r, err) ||
        is_of_folder(r, name, "deleted", err)) {
        return false;
    }
    Json kept = read_kept(r, name, err);
    bool there = !json_is_none(kept);
    json_unref(kept);
    int n = there && folder_of(r, folder) ? snprintf(path, sizeof path, "%s/%s", folder, name) : 0;
    if (n <= 0 || n >= PATH_ROOM) return false;
    return unlink(path) == 0 || error_set(err, ERR_IO, "The workflow `%s` cannot be deleted: %s.",
                                          name, strerror(errno));
}
