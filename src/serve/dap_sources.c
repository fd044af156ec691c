#include "dap_sources.h"

#include "ascii.h"
#include "json_build.h"
#include "mem.h"
#include "path.h"
#include "safe_file.h"
#include "utf8.h"

#include <fcntl.h>
#include <stdlib.h>

enum { FILE_MAX = 16 << 20 };

typedef struct SourceFile {
    Json name, text;
    char *path;    /* on this machine, absolute; NULL: there is no such place */
    bool local;    /* the file there has this text */
    size_t *lines; /* where each begins, once that was needed */
    size_t nlines;
} SourceFile;

struct Sources {
    Json main;
    SourceFile *files;
    size_t nfiles;
    SourceNode *nodes;
    size_t nnodes;
};

/* ---- UTF-16 ---- */

size_t utf16_units(const char *text, size_t len) {
    size_t units = 0;
    for (size_t i = 0; i < len; i++) {
        units += utf8_is_inside(text[i]) ? 0 : (unsigned char)text[i] >= 0xF0 ? 2 : 1;
    }
    return units;
}

/* A unit in the midst of a character belongs to it. */
size_t utf16_bytes(const char *text, size_t len, size_t units) {
    size_t at = 0;
    while (at < len && units) {
        size_t wide = (unsigned char)text[at] >= 0xF0 ? 2 : 1;
        for (at++; at < len && utf8_is_inside(text[at]); at++) {}
        units -= wide < units ? wide : units;
    }
    return at;
}

/* ---- URIs ---- */

char *source_path(const char *text, bool uri) {
    static const char scheme[] = "file://";
    enum { SCHEME = sizeof scheme - 1 };
    if (!uri || strncmp(text, scheme, SCHEME) != 0) return mem_strdup(text);
    Buf path = BUF_INIT;
    const char *at = strchr(text + SCHEME, '/');
    for (at = at ? at : ""; *at; at++) {
        bool coded = *at == '%' && at[1] && ascii_hex(at[1]) >= 0 && ascii_hex(at[2]) >= 0;
        buf_addc(&path, coded ? (char)(ascii_hex(at[1]) * 16 + ascii_hex(at[2])) : *at);
        at += coded ? 2 : 0;
    }
    return path.data ? buf_detach(&path) : mem_strdup("");
}

static Json path_json(const char *path, bool uri) {
    if (!uri) return json_string_c(path);
    Buf out = BUF_INIT;
    buf_adds(&out, "file://");
    for (const char *at = path; *at; at++) {
        bool plain = ascii_is_name(*at) || strchr("/-.~", *at);
        if (plain) {
            buf_addc(&out, *at);
        } else {
            buf_printf(&out, "%%%02X", (unsigned char)*at);
        }
    }
    Json text = json_string_valid(out.data, out.len);
    buf_clear(&out);
    return text;
}

/* ---- files ---- */

static char *absolute(const char *folder, const char *name) {
    Buf path = BUF_INIT;
    if (name[0] == '/') {
        buf_adds(&path, name);
    } else {
        buf_printf(&path, "%s/%s", folder, name);
    }
    path_tidy(path.data);
    return buf_detach(&path);
}

static bool has_text(const char *path, Json text) {
    Buf found = BUF_INIT;
    bool same = safe_read(AT_FDCWD, path, SAFE_FOLLOW, FILE_MAX, &found, NULL) &&
                found.len == json_string_len(text) &&
                !memcmp(found.data ? found.data : "", json_string_data(&text), found.len);
    buf_clear(&found);
    return same;
}

Sources *sources_new(Json definition, const char *folder) {
    Sources *s = mem_zalloc(sizeof *s);
    Json files = json_object_get_c(definition, "files"), name, text;
    s->main = json_ref(json_object_get_c(definition, "main"));
    s->files = mem_zalloc((json_object_len(files) + 1) * sizeof *s->files);
    for (size_t pos = 0; json_object_next(files, &pos, &name, &text);) {
        SourceFile *file = &s->files[s->nfiles++];
        *file = (SourceFile){.name = json_ref(name), .text = json_ref(text)};
        if (folder && json_kind(text) == JSON_STRING) {
            file->path = absolute(folder, json_string_data(&file->name));
            file->local = has_text(file->path, text);
        }
    }
    return s;
}

static void drop_nodes(Sources *s) {
    for (size_t i = 0; i < s->nnodes; i++) {
        json_unref(s->nodes[i].name);
        json_unref(s->nodes[i].kind);
        json_unref(s->nodes[i].title);
    }
    mem_free(s->nodes);
    s->nodes = NULL;
    s->nnodes = 0;
}

void sources_free(Sources *s) {
    if (!s) return;
    drop_nodes(s);
    json_unref(s->main);
    for (size_t i = 0; i < s->nfiles; i++) {
        json_unref(s->files[i].name);
        json_unref(s->files[i].text);
        mem_free(s->files[i].path);
        mem_free(s->files[i].lines);
    }
    mem_free(s->files);
    mem_free(s);
}

const char *sources_main(const Sources *s) {
    return json_string_data(&s->main);
}

size_t sources_files(const Sources *s) {
    return s->nfiles;
}

const char *sources_file(const Sources *s, size_t i) {
    return json_string_data(&s->files[i].name);
}

size_t sources_number(const Sources *s, const char *file) {
    for (size_t i = 0; file && i < s->nfiles; i++) {
        if (!strcmp(sources_file(s, i), file)) return i;
    }
    return SIZE_MAX;
}

Json sources_text(const Sources *s, size_t file) {
    return s->files[file].text;
}

/* ---- nodes ---- */

static int64_t int_of(Json object, const char *key, int64_t otherwise) {
    Json value = json_object_get_c(object, key);
    return json_tag(value) == JSON_TAG_INT ? value.i : otherwise;
}

static int by_place(const void *a, const void *b) {
    const SourceNode *x = a, *y = b;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

void sources_take_nodes(Sources *s, Json answer) {
    Json list = json_object_get_c(answer, "nodes");
    drop_nodes(s);
    s->nodes = mem_zalloc((json_array_len(list) + 1) * sizeof *s->nodes);
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json node = json_array_get(list, i), file = json_object_get_c(node, "file");
        size_t number = sources_number(s, json_string_data(&file));
        if (number == SIZE_MAX) continue;
        s->nodes[s->nnodes++] = (SourceNode){.name = json_ref(json_object_get_c(node, "name")),
                                             .kind = json_ref(json_object_get_c(node, "kind")),
                                             .title = json_ref(json_object_get_c(node, "title")),
                                             .file = number,
                                             .line = int_of(node, "line", 1),
                                             .column = int_of(node, "column", 1)};
    }
    if (s->nnodes) qsort(s->nodes, s->nnodes, sizeof *s->nodes, by_place);
}

size_t sources_count(const Sources *s) {
    return s->nnodes;
}

const SourceNode *sources_node(const Sources *s, size_t i) {
    return &s->nodes[i];
}

const SourceNode *sources_named(const Sources *s, Json name) {
    for (size_t i = 0; i < s->nnodes; i++) {
        if (json_string_equal(s->nodes[i].name, name)) return &s->nodes[i];
    }
    return NULL;
}

const SourceNode *sources_alone(const Sources *s, Json name) {
    const SourceNode *found = sources_named(s, name);
    for (size_t i = 0; found && i < s->nnodes; i++) {
        const SourceNode *other = &s->nodes[i];
        bool elsewhere = other->file != found->file || other->line != found->line;
        if (elsewhere && json_string_equal(other->name, name)) return NULL;
    }
    return found;
}

/* ---- as the client has them ---- */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

Json sources_json(const Sources *s, const char *file, bool uris) {
    size_t i = sources_number(s, file);
    if (i == SIZE_MAX) return json_none();
    const SourceFile *f = &s->files[i];
    if (f->local) {
        return OBJECT(KEY("name", last_part(f->path)), KEY("path", path_json(f->path, uris)));
    }
    return OBJECT(KEY("name", last_part(file)), KEY("sourceReference", json_int((int64_t)i + 1)),
                  KEY("origin", "the text that the run has"));
}

/* How many of the last parts of two paths are the same. */
static size_t common_parts(const char *a, const char *b) {
    size_t parts = 0, i = strlen(a), j = strlen(b);
    while (i && j && a[i - 1] == b[j - 1]) {
        i--;
        j--;
        parts += a[i] == '/';
    }
    bool whole = (!i || !j) && (!i ? !j || b[j - 1] == '/' : a[i - 1] == '/');
    return whole ? parts + 1 : parts;
}

/* By the path, also through links; else the file whose last parts are the most like it, since the
 * run may have been started elsewhere. */
static size_t find_path(const Sources *s, const char *path) {
    char *real = realpath(path, NULL);
    size_t found = SIZE_MAX, best = 0;
    for (size_t i = 0; i < s->nfiles; i++) {
        const char *own = s->files[i].path ? s->files[i].path : sources_file(s, i);
        char *own_real = s->files[i].path ? realpath(own, NULL) : NULL;
        bool same = !strcmp(own, path) || (real && own_real && !strcmp(own_real, real));
        free(own_real);
        size_t parts = same ? SIZE_MAX : common_parts(own, path);
        if (parts > best) {
            found = i;
            best = parts;
        }
    }
    free(real);
    return found;
}

const char *sources_find(const Sources *s, Json source, bool uris, Error *err) {
    int64_t reference = int_of(source, "sourceReference", 0);
    const char *path = json_object_text(source, "path"), *name = json_object_text(source, "name");
    if (reference > 0 && reference <= (int64_t)s->nfiles) {
        return sources_file(s, (size_t)reference - 1);
    }
    char *plain = source_path(path ? path : name ? name : "", uris && path);
    size_t i = find_path(s, plain);
    if (i == SIZE_MAX) {
        error_set(err, ERR_NOT_FOUND, "The workflow has no file `%.200s`.", last_part(plain));
    }
    mem_free(plain);
    return i == SIZE_MAX ? NULL : sources_file(s, i);
}

/* ---- columns ---- */

static void find_lines(SourceFile *f) {
    const char *text = json_string_data(&f->text);
    size_t len = json_string_len(f->text), cap = 0;
    f->lines = mem_grow(NULL, 0, &cap, sizeof *f->lines);
    f->lines[f->nlines++] = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '\n') continue;
        f->lines = mem_grow(f->lines, f->nlines, &cap, sizeof *f->lines);
        f->lines[f->nlines++] = i + 1;
    }
}

/* The bytes of a line without its end; false: there is none. */
static bool line_of(const Sources *s, const char *file, int64_t line, const char **text,
                    size_t *len) {
    size_t number = sources_number(s, file);
    if (number == SIZE_MAX || line < 1) return false;
    SourceFile *f = &s->files[number];
    if (!f->lines) find_lines(f);
    if ((uint64_t)line > f->nlines) return false;
    size_t from = f->lines[line - 1], end = json_string_len(f->text);
    *len = ((uint64_t)line < f->nlines ? f->lines[line] - 1 : end) - from;
    *text = json_string_data(&f->text) + from;
    return true;
}

int64_t sources_units(const Sources *s, const char *file, int64_t line, int64_t column) {
    const char *text;
    size_t len;
    if (column < 1 || !line_of(s, file, line, &text, &len)) return column;
    size_t at = utf8_offset(text, len, (size_t)column - 1);
    return strspn(text, " -{[") >= at ? 1 : 1 + (int64_t)utf16_units(text, at);
}

int64_t sources_chars(const Sources *s, const char *file, int64_t line, int64_t column) {
    const char *text;
    size_t len;
    if (column < 1 || !line_of(s, file, line, &text, &len)) return column;
    return 1 + (int64_t)utf8_length(text, utf16_bytes(text, len, (size_t)column - 1));
}
