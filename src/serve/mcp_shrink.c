/* mcp_shrink.c - walks a value with a stack of its own, which a step bounds. */
#include "mcp_shrink.h"

#include "json_build.h"

#include <stdio.h>

enum { DEPTH_MAX = 64 };

/* Of each step: bytes of a text, elements of an array, keys of an object, levels. */
static const struct Step {
    size_t text, items, keys;
    int depth;
} steps[SHRINK_STEPS] = {
    {20000, 1000, 1000, 60}, {8000, 200, 400, 40}, {3000, 80, 120, 20},
    {1200, 40, 60, 12},      {600, 20, 48, 9},     {300, 10, 48, 8},
    {160, 5, 48, 7},         {100, 3, 48, 6},      {60, 1, 24, 5},
};

/* A container that is being copied. */
typedef struct Level {
    Json from, to, key; /* key: of the one that is being copied */
    size_t pos, kept, most;
} Level;

typedef struct Shrinking {
    const struct Step *step;
    size_t spent, most; /* bytes, about */
    Level levels[DEPTH_MAX];
    int n;
    Json cuts;
} Shrinking;

size_t shrink_text(const char *text, size_t len, size_t max) {
    if (len <= max) return len;
    while (max && ((unsigned char)text[max] & 0xc0) == 0x80) max--;
    return max;
}

/* The way to what is being copied. */
static Json path_here(const Shrinking *s) {
    Json path = json_array();
    for (int i = 0; i < s->n; i++) path = json_array_push(path, json_ref(s->levels[i].key));
    return path;
}

/* Consumes was. */
static void note_cut(Shrinking *s, Json was, size_t kept) {
    if (json_array_len(s->cuts) < SHRINK_CUTS_MAX) {
        s->cuts = json_array_push(s->cuts, OBJECT(KEY("path", path_here(s)), KEY("was", was),
                                                  KEY("kept", (uint64_t)kept)));
    } else {
        json_unref(was);
    }
}

static size_t count(Json value) {
    return json_kind(value) == JSON_ARRAY ? json_array_len(value) : json_object_len(value);
}

static Json describe(Json value, size_t n) {
    const char *what = json_kind(value) == JSON_STRING  ? "a text of %zu bytes"
                       : json_kind(value) == JSON_ARRAY ? "an array of %zu"
                                                        : "an object of %zu keys";
    char text[64];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, what, n);
#pragma GCC diagnostic pop
    return json_string_c(text);
}

static Json cut_text(Shrinking *s, Json text) {
    size_t len = json_string_len(text),
           kept = shrink_text(json_string_data(&text), len, s->step->text);
    s->spent += kept + 4;
    if (kept == len) return json_ref(text);
    note_cut(s, describe(text, len), kept);
    Json out = json_string_valid(json_string_data(&text), kept);
    return json_string_append(out, "…", sizeof "…" - 1);
}

/* A value that needs no going into; JSON_NONE: it does. */
static Json copy_leaf(Shrinking *s, Json value) {
    JsonKind kind = json_kind(value);
    if (kind == JSON_STRING) return cut_text(s, value);
    if (kind != JSON_ARRAY && kind != JSON_OBJECT) {
        s->spent += 8;
        return json_ref(value);
    }
    s->spent += 2;
    size_t n = count(value);
    Json empty = kind == JSON_ARRAY ? json_array() : json_object();
    if (!n) return empty;
    if (s->n >= s->step->depth || s->n >= DEPTH_MAX) {
        note_cut(s, describe(value, n), 0);
        return empty;
    }
    json_unref(empty);
    return json_none();
}

static void enter(Shrinking *s, Json value) {
    bool array = json_kind(value) == JSON_ARRAY;
    size_t most = array ? s->step->items : s->step->keys, n = count(value);
    if (n > most) note_cut(s, describe(value, n), most);
    s->levels[s->n++] = (Level){.from = value,
                                .to = array ? json_array() : json_object(),
                                .key = json_none(),
                                .most = most};
}

/* The next value of the innermost container; false: it has no more. */
static bool next(Level *l, Json *value) {
    if (l->kept >= l->most) return false;
    if (json_kind(l->from) == JSON_ARRAY) {
        if (l->kept >= json_array_len(l->from)) return false;
        *value = json_array_get(l->from, l->kept);
        l->key = json_int((int64_t)l->kept);
        return true;
    }
    return json_object_next(l->from, &l->pos, &l->key, value);
}

static void put(Shrinking *s, Json value) {
    Level *l = &s->levels[s->n - 1];
    if (json_kind(l->from) == JSON_ARRAY) {
        l->to = json_array_push(l->to, value);
    } else {
        s->spent += json_string_len(l->key) + 4;
        l->to = json_object_set(l->to, json_ref(l->key), value);
    }
    l->kept++;
}

Json shrink_value(Json value, int step, size_t bytes, Json *cuts) {
    Shrinking s = {.step = &steps[step], .most = bytes, .cuts = json_array()};
    Json out = copy_leaf(&s, value), one;
    if (json_is_none(out)) enter(&s, value);
    while (s.n && s.spent <= s.most) {
        Level *l = &s.levels[s.n - 1];
        if (next(l, &one)) {
            Json leaf = copy_leaf(&s, one);
            if (json_is_none(leaf)) {
                enter(&s, one);
            } else {
                put(&s, leaf);
            }
            continue;
        }
        Json done = l->to;
        s.n--;
        if (s.n) {
            put(&s, done);
        } else {
            out = done;
        }
    }
    bool fits = !s.n && s.spent <= s.most;
    while (s.n) json_unref(s.levels[--s.n].to);
    if (!fits) {
        json_clear(&out);
        json_clear(&s.cuts);
    }
    *cuts = s.cuts;
    return out;
}
