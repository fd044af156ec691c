#define _GNU_SOURCE /* gettid */
#include "saved.h"

#include "json_build.h"
#include "json_parse.h"
#include "json_print.h"
#include "json_shape.h"
#include "mem.h"
#include "path.h"
#include "safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- documents ---- */

/* What a breakpoint is made from again; given. */
static Json fields_of(const Breakpoint *b) {
    Json out = json_object_remove(breakpoint_stored(b), json_string_c("hit_count"));
    return json_object_remove(out, json_string_c("ignore_from"));
}

/* By one name, however it was written. */
char *saved_file(const Session *s) {
    char *path = mem_strdup(run_flow(session_run(s))->path);
    path_tidy(path);
    return path;
}

Json saved_document(const Session *s) {
    const Run *run = session_run(s);
    const Breakpoints *points = session_breakpoints(s);
    Json breakpoints = json_array(), watches = json_array(), key, expression;
    char *file = saved_file(s);
    for (size_t i = 0; i < breakpoints_count(points); i++) {
        breakpoints = json_array_push(breakpoints, fields_of(breakpoints_at(points, i)));
    }
    for (size_t pos = 0; json_object_next(session_watches(s), &pos, &key, &expression);) {
        watches = json_array_push(watches, json_ref(expression));
    }
    Json out = OBJECT(KEY("pawl_breakpoints", json_int(SAVED_FORMAT)), KEY("file", file),
                      KEY("workflow", run_flow(run)->name),
                      KEY("saved", json_time(engine_time(run_engine(run)))),
                      KEY("breakpoints", breakpoints), KEY("watches", watches));
    mem_free(file);
    return out;
}

static const char saved_shape[] =
    "{pawl_breakpoints: int(1..), file: text, workflow?: text, saved?: time, breakpoints: [object], "
    "watches: [text]}";

bool saved_check(Json document, Error *err) {
    Error why = ERROR_INIT;
    Json format = json_object_get_c(document, "pawl_breakpoints");
    if (json_tag(format) == JSON_TAG_INT && format.i > SAVED_FORMAT) {
        return error_set(err, ERR_DATA, "The breakpoints were saved by a newer version of Pawl.");
    }
    Shape *shape = shape_compile(saved_shape, NULL, NULL);
    bool is = shape_check(shape, document, &why);
    shape_free(shape);
    if (!is) return error_set(err, ERR_DATA, "These are no saved breakpoints: %s.", why.msg);
    return (json_array_len(json_object_get_c(document, "breakpoints")) <= SAVED_BREAKPOINTS_MAX &&
            json_array_len(json_object_get_c(document, "watches")) <= SAVED_WATCHES_MAX) ||
           error_set(err, ERR_LIMIT, "At most %d breakpoints and %d watches can be loaded.",
                     SAVED_BREAKPOINTS_MAX, SAVED_WATCHES_MAX);
}

Json saved_parse(const char *text, size_t len, Error *err) {
    Error why = ERROR_INIT;
    Json document = json_parse(text, len, NULL, &why);
    if (json_is_none(document)) {
        error_set(err, ERR_DATA, "These are no saved breakpoints: %s.", why.msg);
    } else if (!saved_check(document, err)) {
        json_clear(&document);
    }
    return document;
}

/* ---- files ---- */

/* FNV-1a: two paths that fall together are told apart by the document. */
static void name_of(const char *file, char *name, size_t size) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *c = file; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    snprintf(name, size, "breakpoints-%016llx.json", (unsigned long long)hash);
}

/* The store's folder, open; -1 with a sentence. */
static int open_folder(Store *store, Error *err) {
    if (!store_is_durable(store)) {
        error_set(err, ERR_USAGE,
                  "The store is in memory, so nothing can be kept in it: name a file.");
        return -1;
    }
    const char *path = store_folder(store, err);
    return path ? safe_folder(AT_FDCWD, path, err) : -1;
}

Json saved_read(Store *store, const char *file, Error *err) {
    char name[64];
    Buf text = BUF_INIT;
    Json out = json_none();
    int folder = open_folder(store, err);
    if (folder < 0) return out;
    name_of(file, name, sizeof name);
    if (safe_read(folder, name, SAFE_OURS, SAVED_BYTES_MAX, &text, err)) {
        out = saved_parse(text.data ? text.data : "", text.len, err);
        Json of = json_object_get_c(out, "file");
        if (!json_is_none(out) && !json_string_is(of, file)) json_put(&out, json_null());
    } else if (errno == ENOENT) {
        if (err) error_clear(err);
        out = json_null();
    }
    buf_clear(&text);
    close(folder);
    return out;
}

static bool write_all(int fd, const char *text, size_t len) {
    for (ssize_t n; len; text += n, len -= (size_t)n) {
        n = write(fd, text, len);
        if (n < 0 && errno == EINTR) n = 0;
        if (n < 0) return false;
    }
    return true;
}

/* Nobody sees a part of it, and what was there stays when it fails. */
static bool replace_file(int folder, const char *name, const Buf *text, Error *err) {
    char new[96];
    snprintf(new, sizeof new, "%s.%ld", name, (long)gettid()); /* others here may be at it, too */
    unlinkat(folder, new, 0); /* of one that died and had our number */
    int fd = safe_create(folder, new, NULL);
    bool ok = fd >= 0 && write_all(fd, text->data, text->len) && fsync(fd) == 0 &&
              renameat(folder, new, folder, name) == 0;
    if (!ok) {
        int failed = errno;
        error_set(err, ERR_IO, "The breakpoints cannot be written: %s.", strerror(failed));
        error_fact_full(err, failed);
        unlinkat(folder, new, 0);
    }
    if (fd >= 0) close(fd);
    return ok;
}

bool saved_write(Store *store, Json document, Error *err) {
    char name[64];
    Json file = json_object_get_c(document, "file");
    size_t n = json_array_len(json_object_get_c(document, "breakpoints")) +
               json_array_len(json_object_get_c(document, "watches"));
    Buf text = BUF_INIT;
    int folder = open_folder(store, err);
    if (folder < 0) return false;
    name_of(json_string_data(&file), name, sizeof name);
    json_print(document, &(JsonPrintOptions){.indent = 2}, &text);
    buf_addc(&text, '\n');
    bool ok = text.len <= SAVED_BYTES_MAX ||
              error_set(err, ERR_LIMIT, "The breakpoints take more than %d MB, which is the limit.",
                        SAVED_BYTES_MAX >> 20);
    if (ok && n) {
        ok = replace_file(folder, name, &text, err);
    } else if (ok) {
        unlinkat(folder, name, 0);
    }
    buf_clear(&text);
    close(folder);
    return ok;
}

/* ---- loading ---- */

/* By its fields, in whatever order they are; given. */
static Json key_of(Json fields) {
    Buf text = BUF_INIT;
    json_print(fields, &(JsonPrintOptions){.sort_keys = true}, &text);
    Json key = json_string(text.data, text.len);
    buf_clear(&text);
    return key;
}

/* {key_of(): null} of all that the session has; given. */
static Json keys_of(const Breakpoints *points) {
    Json keys = json_object();
    for (size_t i = 0; i < breakpoints_count(points); i++) {
        Json fields = fields_of(breakpoints_at(points, i));
        keys = json_object_set(keys, key_of(fields), json_null());
        json_unref(fields);
    }
    return keys;
}

static bool has_watch(Json watches, Json expression) {
    Json key, own;
    for (size_t pos = 0; json_object_next(watches, &pos, &key, &own);) {
        if (json_equal(own, expression)) return true;
    }
    return false;
}

Json saved_load(Session *s, Json document) {
    Json breakpoints = json_object_get_c(document, "breakpoints"), set = json_array();
    Json watches = json_object_get_c(document, "watches"), refused = json_array();
    Json keys = keys_of(session_breakpoints(s));
    int64_t there = 0, watched = 0;
    for (size_t i = 0; i < json_array_len(breakpoints); i++) {
        Error err = ERROR_INIT;
        /* made once to see how it is written here, with what is left out said */
        Json fields = json_array_get(breakpoints, i);
        Breakpoint *probe = breakpoint_new(0, fields, run_flow(session_run(s)), &err);
        Json own = probe ? fields_of(probe) : json_none(), key = key_of(own);
        bool had = probe && !json_is_none(json_object_get(keys, key));
        Breakpoint *b = probe && !had ? session_break(s, own, &err) : NULL;
        there += had;
        if (b) {
            keys = json_object_set(keys, json_ref(key), json_null());
            set = json_array_push(set, breakpoints_json(session_breakpoints(s), b));
        } else if (!had) {
            refused = json_array_push(
                refused, OBJECT(KEY("breakpoint", json_ref(fields)), KEY("message", err.msg)));
        }
        breakpoint_free(probe);
        json_unref(own);
        json_unref(key);
    }
    for (size_t i = 0; i < json_array_len(watches); i++) {
        Json expression = json_array_get(watches, i);
        bool had = has_watch(session_watches(s), expression);
        there += had;
        watched += !had && session_watch(s, json_string_data(&expression), NULL);
    }
    json_unref(keys);
    return OBJECT(KEY("breakpoints", set), KEY("watches", watched), KEY("there", there),
                  KEY("refused", refused));
}
