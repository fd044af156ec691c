#include "yaml_mend.h"

#include "ascii.h"
#include "loader.h"
#include "utf8.h"

#include <string.h>

/* A walk over the file by lines, which goes past whatever is no line of a block map. It need not be
 * right about files that are not YAML in other ways: the parser reads the result. */
typedef struct Walk {
    const char *text;
    size_t len, at;
    char *mended;
    const char *mark;
    size_t nmended;
} Walk;

static char peek(const Walk *w, size_t at) {
    return at < w->len ? w->text[at] : '\n';
}

static size_t line_end(const Walk *w, size_t at) {
    const char *end = at < w->len ? memchr(w->text + at, '\n', w->len - at) : NULL;
    return end ? (size_t)(end - w->text) : w->len;
}

static size_t skip_spaces(const Walk *w, size_t at) {
    while (at < w->len && ascii_is_blank(w->text[at])) at++;
    return at;
}

/* ---- what is gone past ---- */

/* From behind the opening quote to behind the closing one. */
static size_t skip_quoted(const Walk *w, size_t at, char quote) {
    for (; at < w->len; at++) {
        if (quote == '"' && w->text[at] == '\\') {
            at++;
        } else if (w->text[at] == quote) {
            return at + 1;
        }
    }
    return w->len;
}

/* From the opening bracket to behind the closing one. */
static size_t skip_flow(const Walk *w, size_t at) {
    size_t depth = 0;
    bool fresh = true; /* a scalar may begin here, so that a quote is one */
    while (at < w->len) {
        char c = w->text[at++];
        if (fresh && (c == '"' || c == '\'')) {
            at = skip_quoted(w, at, c);
        } else if (c == '#' && at > 1 && ascii_is_white(w->text[at - 2])) {
            at = line_end(w, at);
        }
        depth += c == '[' || c == '{';
        depth -= c == ']' || c == '}';
        if (depth == 0) break;
        fresh = strchr("[]{},:", c) || (ascii_is_white(c) && fresh);
    }
    return at;
}

/* Lines that are blank or further in than `indent`. */
static void skip_deeper(Walk *w, long indent) {
    while (w->at < w->len) {
        size_t at = w->at;
        while (at < w->len && w->text[at] == ' ') at++;
        bool blank = ascii_is_white(peek(w, skip_spaces(w, at)));
        if (!blank && (long)(at - w->at) <= indent) return;
        w->at = line_end(w, at) + 1;
    }
}

/* ---- lines ---- */

static bool is_comment_at(const Walk *w, size_t at) {
    return w->text[at] == '#' && at > 0 && ascii_is_blank(w->text[at - 1]);
}

/* The colon behind the key that starts at `at`; the end of the line when there is none. */
static size_t find_colon(const Walk *w, size_t at, size_t end) {
    bool quoted = w->text[at] == '"' || w->text[at] == '\'';
    if (quoted) at = skip_spaces(w, skip_quoted(w, at + 1, w->text[at]));
    for (; at < end && !is_comment_at(w, at); at++) {
        if (w->text[at] == ':' && ascii_is_white(peek(w, at + 1))) return at;
        if (quoted) break;
    }
    return end;
}

/* Past anchors and tags. */
static size_t skip_properties(const Walk *w, size_t at, size_t end) {
    while (at < end && (w->text[at] == '&' || w->text[at] == '!')) {
        while (at < end && !ascii_is_blank(w->text[at])) at++;
        at = skip_spaces(w, at);
    }
    return at;
}

/* The value that starts at `at`, of a key or an item that is `indent` in. */
static void walk_value(Walk *w, size_t at, size_t end, long indent, bool code) {
    char c = at < end ? w->text[at] : '#';
    if (c == '"' || c == '\'') {
        w->at = line_end(w, skip_quoted(w, at + 1, c)) + 1;
    } else if (c == '[' || c == '{') {
        w->at = line_end(w, skip_flow(w, at)) + 1;
    } else if (c != '#' && !ascii_is_white(c)) {
        bool plain = !strchr("|>@`%*,]}", c);
        for (; code && plain && at + 1 < end && !is_comment_at(w, at); at++) {
            if (w->text[at] == ':' && w->text[at + 1] == ' ') {
                memcpy(w->mended + at, w->mark, 2);
                w->nmended++;
            }
        }
        skip_deeper(w, indent);
    }
}

static void walk_line(Walk *w) {
    size_t start = w->at, end = line_end(w, start), key = skip_spaces(w, start);
    long indent = -1; /* of the last `- ` or `? ` before the key */
    while ((peek(w, key) == '-' || peek(w, key) == '?') && ascii_is_blank(peek(w, key + 1))) {
        indent = (long)(key - start);
        key = skip_spaces(w, key + 1);
    }
    w->at = end + 1;
    if (key >= end || w->text[key] == '#') return;
    static const char *const code[] = {"run", "python", "javascript", "lua", "jq", "shell", NULL};
    size_t colon = find_colon(w, key, end);
    if (colon < end) {
        size_t value = skip_properties(w, skip_spaces(w, colon + 1), end);
        walk_value(w, value, end, (long)(key - start), has_name(code, w->text + key, colon - key));
    } else {
        walk_value(w, skip_properties(w, key, end), end, indent, false);
    }
}

/* ---- the whole ---- */

/* A character of two bytes that the file does not have. */
static bool choose_mark(const YamlFile *file, char *mark) {
    enum { FIRST = 0x180, END = 0x800 };
    bool used[END] = {false};
    for (size_t i = 0; i + 1 < file->len; i++) {
        unsigned char a = (unsigned char)file->text[i], b = (unsigned char)file->text[i + 1];
        if ((a & 0xE0) == 0xC0) used[(a & 0x1Fu) << 6 | (b & 0x3Fu)] = true;
    }
    for (int32_t c = FIRST; c < END; c++) {
        if (!used[c]) {
            utf8_encode(c, mark);
            return true;
        }
    }
    return false;
}

bool yaml_mend(Arena *arena, const YamlFile *file, YamlMend *out) {
    char mark[4];
    if (!choose_mark(file, mark)) return false;
    Walk w = {.text = file->text, .len = file->len, .mark = mark};
    w.mended = arena_strndup(arena, file->text, file->len);
    while (w.at < w.len) walk_line(&w);
    out->text = w.mended;
    memcpy(out->mark, mark, sizeof out->mark);
    return w.nmended > 0;
}

void yaml_unmend(const YamlMend *mend, const char *text, size_t len, Buf *out) {
    for (size_t i = 0; i < len; i++) {
        if (i + 1 < len && text[i] == mend->mark[0] && text[i + 1] == mend->mark[1]) {
            buf_adds(out, ": ");
            i++;
        } else {
            buf_addc(out, text[i]);
        }
    }
}
