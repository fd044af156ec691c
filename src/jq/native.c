#define _GNU_SOURCE
#include "native.h"

#include "program.h"

#include "json_breath.h"
#include "json_print.h"
#include "utf8.h"

#include <string.h>

static const JqNative *const tables[] = {
    jq_natives_value, jq_natives_array, jq_natives_string, jq_natives_format,
    jq_natives_regex, jq_natives_match, jq_natives_math,   jq_natives_date,
};

enum { TABLES = sizeof(tables) / sizeof(*tables) };

const JqNative *jq_native_find(const char *name, size_t len, int arity) {
    for (size_t i = 0; len && i < TABLES; i++) {
        for (const JqNative *n = tables[i]; n->name; n++) {
            if (n->arity == arity && n->name[0] == name[0] && strncmp(n->name, name, len) == 0 &&
                n->name[len] == '\0') {
                return n;
            }
        }
    }
    return NULL;
}

Json native_fail_type(JqRun *run, Json bad, const char *what) {
    char text[JSON_DESCRIBE_MAX];
    return jq_fail(run, "%s %s", json_describe(bad, text), what);
}

Json native_fail_types(JqRun *run, Json a, Json b, const char *what) {
    char left[JSON_DESCRIBE_MAX], right[JSON_DESCRIBE_MAX];
    return jq_fail(run, "%s and %s %s", json_describe(a, left), json_describe(b, right), what);
}

bool native_afford(JqRun *run, uint64_t bytes) {
    return bytes < 1024 || (jq_charge(run, bytes / 64) && jq_room(run, bytes));
}

size_t native_text_max(JqRun *run) {
    size_t budget = jq_run_host(run) ? jq_run_host(run)->budget.memory : 0;
    budget = budget ? budget : JQ_DEFAULT_MEMORY;
    return budget < JSON_STRING_MAX ? budget : JSON_STRING_MAX;
}

const char *native_find(const char *from, const char *end, Text needle) {
    size_t room = (size_t)(end - from);
    if (needle.len == 0 || room < needle.len) return NULL;
    for (;;) { /* windows that overlap by what could begin in one and end in the next */
        size_t window =
            room < JSON_BREATH_BYTES + needle.len ? room : JSON_BREATH_BYTES + needle.len;
        const char *hit = needle.len == 1 ? memchr(from, needle.data[0], window)
                                          : memmem(from, window, needle.data, needle.len);
        if (hit || window == room) return hit;
        from += JSON_BREATH_BYTES + 1;
        room -= JSON_BREATH_BYTES + 1;
        if (json_breath.fn) json_breath.fn(json_breath.ctx);
    }
}

size_t native_length(const char *text, size_t len) {
    size_t length = 0;
    for (size_t at = 0, n; at < len; at += n) {
        n = len - at < JSON_BREATH_BYTES ? len - at : JSON_BREATH_BYTES;
        length += utf8_length(text + at, n);
        if (json_breath.fn && at + n < len) json_breath.fn(json_breath.ctx);
    }
    return length;
}

Json native_split(JqRun *run, const Json *s, const Json *sep) {
    Text text = native_text(s), by = native_text(sep);
    const char *end = text.data + text.len, *p, *hit;
    size_t n = by.len ? 1 : text.len;
    for (p = text.data; (p = native_find(p, end, by)); p += by.len) {
        n++;
        json_breathe();
    }
    if (!native_afford(run, text.len + (uint64_t)n * 48)) return json_none();
    Json parts = json_array();
    p = text.data;
    while (by.len == 0 && p < end) { /* into characters */
        int32_t cp;
        size_t len = utf8_decode(p, end, &cp);
        parts = json_array_push(parts, json_string_valid(p, len));
        p += len;
        json_breathe();
    }
    if (by.len == 0 || text.len == 0) return parts;
    for (; (hit = native_find(p, end, by)); p = hit + by.len) {
        parts = json_array_push(parts, json_string_valid(p, (size_t)(hit - p)));
        json_breathe();
    }
    return json_array_push(parts, json_string_valid(p, (size_t)(end - p)));
}

bool native_walk(JqRun *run, Json of, Walk *w) {
    char text[JSON_DESCRIBE_MAX];
    *w = (Walk){.of = of};
    if (json_tag(of) == JSON_TAG_ARRAY || json_tag(of) == JSON_TAG_OBJECT) return true;
    jq_fail(run, "Cannot iterate over %s", json_describe(of, text));
    return false;
}

bool native_walk_next(Walk *w, Json *key, Json *value) {
    if (json_tag(w->of) == JSON_TAG_OBJECT) return json_object_next(w->of, &w->pos, key, value);
    if (w->left == 0) {
        w->at = json_array_run(w->of, w->pos, &w->left);
        if (w->left == 0) return false;
    }
    *key = json_int((int64_t)w->pos++);
    *value = *w->at++;
    w->left--;
    return true;
}

/* Pays for what a comparison took, and says why it came to no end. */
static bool compared(JqRun *run, bool known, uint64_t used, const char *too_deep) {
    if (used && !jq_charge(run, used)) return false;
    if (!known) jq_fail(run, "%s", too_deep);
    return known;
}

/* Work for all the steps that are left; one more, so that using it all goes over the budget. */
static uint64_t work_left(const JqRun *run) {
    uint64_t steps = jq_steps_left(run);
    return steps < UINT64_MAX / 2 ? steps + 2 : UINT64_MAX / 2;
}

bool jq_compare(JqRun *run, Json a, Json b, int *order) {
    if (json_tag(a) == JSON_TAG_INT && json_tag(b) == JSON_TAG_INT) {
        *order = (a.i > b.i) - (a.i < b.i);
        return true;
    }
    uint64_t left = work_left(run), work = left;
    bool known = json_compare_working(a, b, JSON_DEPTH_MAX, &work, order);
    return compared(run, known, left - work, "Comparison too deep");
}

bool jq_equal(JqRun *run, Json a, Json b, bool *equal) {
    uint64_t left = work_left(run), work = left;
    bool known = json_equal_working(a, b, JSON_DEPTH_MAX, &work, equal);
    return compared(run, known, left - work, "Equality check too deep");
}

const JqNative *native_at(size_t i) {
    for (size_t t = 0; t < TABLES; t++) {
        for (const JqNative *n = tables[t]; n->name; n++) {
            if (i-- == 0) return n;
        }
    }
    return NULL;
}
