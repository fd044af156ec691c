/* The operators. Integers stay integers while doubles hold them exactly; past that everything is
 * done in doubles, because that is what jq computes with, or in integers of any size (exact.h). */
#include "native.h"

#include "exact.h"
#include "json_breath.h"
#include "mem.h"

#include <limits.h>
#include <math.h>

#define EXACT ((int64_t)1 << 53)

/* Both are integers that doubles hold, so that exact arithmetic and doubles agree. */
static inline bool both_exact(Json a, Json b) {
    return json_tag(a) == JSON_TAG_INT && json_tag(b) == JSON_TAG_INT && a.i >= -EXACT &&
           a.i <= EXACT && b.i >= -EXACT && b.i <= EXACT;
}

static inline bool is_exact(int64_t i) {
    return i > -EXACT && i < EXACT;
}

static inline bool both(Json a, Json b, JsonKind kind) {
    return json_kind(a) == kind && json_kind(b) == kind;
}

static Json refuse(JqRun *run, Json a, Json b, const char *what) {
    native_fail_types(run, a, b, what);
    json_unref(a);
    json_unref(b);
    return json_none();
}

/* Releases both, which `result` was made from. */
static Json used(Json a, Json b, Json result) {
    json_unref(a);
    json_unref(b);
    return result;
}

/* Two numbers. Releases both. */
static Json numbers(JqRun *run, ExactOp op, Json a, Json b, double otherwise) {
    Json exact = exact_takes(run, a, b) ? exact_calculate(run, op, a, b) : json_null();
    return used(a, b, json_tag(exact) == JSON_TAG_NULL ? native_number(otherwise) : exact);
}

/* ---- a + b ---- */

static Json merge(JqRun *run, Json a, Json b) {
    if (!native_afford(run, (uint64_t)json_object_len(b) * 48)) return used(a, b, json_none());
    if (json_object_len(a) == 0) {
        json_unref(a);
        return b;
    }
    Json key, value;
    for (size_t pos = 0; json_object_next(b, &pos, &key, &value);) {
        a = json_object_set(a, json_ref(key), json_ref(value));
        json_breathe();
    }
    json_unref(b);
    return a;
}

Json jq_add(JqRun *run, Json a, Json b) {
    if (both_exact(a, b) && is_exact(a.i + b.i)) return json_int(a.i + b.i);
    if (both(a, b, JSON_NUMBER)) {
        return numbers(run, EXACT_ADD, a, b, json_to_double(a) + json_to_double(b));
    }
    if (both(a, b, JSON_STRING)) {
        Text tail = native_text(&b);
        uint64_t len = (uint64_t)json_string_len(a) + tail.len;
        if (len > JSON_STRING_MAX) {
            jq_fail(run, "String result too long");
            return used(a, b, json_none());
        }
        if (!native_afford(run, json_unshared(a) ? tail.len : len)) return used(a, b, json_none());
        Json result = json_string_append(a, tail.data, tail.len);
        json_unref(b);
        return result;
    }
    if (json_tag(a) == JSON_TAG_NULL) return b;
    if (json_tag(b) == JSON_TAG_NULL) return a;
    if (both(a, b, JSON_ARRAY)) {
        if (json_array_len(a) + json_array_len(b) > JSON_LEN_MAX) {
            return used(a, b, jq_fail(run, "Array would have too many elements"));
        }
        if (!native_afford(run, (uint64_t)json_array_len(b) * 16)) return used(a, b, json_none());
        return json_array_concat(a, b);
    }
    return both(a, b, JSON_OBJECT) ? merge(run, a, b) : refuse(run, a, b, "cannot be added");
}

/* ---- a - b ---- */

/* Whether the array holds a value equal to v. False in *found's place means: the run failed. */
static bool holds(JqRun *run, Json array, Json v, bool *found) {
    *found = false;
    const Json *items;
    size_t n;
    for (size_t i = 0; !*found && ((items = json_array_run(array, i, &n)), n); i += n) {
        for (size_t k = 0; !*found && k < n; k++) {
            if (!jq_equal(run, items[k], v, found)) return false;
        }
    }
    return true;
}

/* The same of one that is sorted. */
static bool sorted_holds(JqRun *run, Json sorted, Json v, bool *found) {
    size_t from = 0, to = json_array_len(sorted);
    int order = 1;
    while (from < to && order) {
        size_t middle = from + (to - from) / 2;
        if (!jq_compare(run, v, json_array_get(sorted, middle), &order)) return false;
        from = order > 0 ? middle + 1 : from;
        to = order < 0 ? middle : to;
    }
    *found = order == 0;
    return true;
}

static Json without(JqRun *run, Json a, Json b) {
    enum { FEW = 32 };
    Json kept = json_array(), key, value;
    bool few = json_array_len(b) <= FEW;
    if (!few) {
        Json sorted = native_sorted(run, b);
        json_unref(b);
        b = sorted;
        if (json_is_none(b)) return used(a, kept, b);
    }
    uint64_t price = few ? 1 + json_array_len(b) / 4 : 4;
    Walk w;
    native_walk(run, a, &w);
    while (native_walk_next(&w, &key, &value)) {
        bool found;
        if (!jq_charge(run, price) || !(few ? holds : sorted_holds)(run, b, value, &found)) {
            json_unref(kept);
            return used(a, b, json_none());
        }
        kept = found ? kept : json_array_push(kept, json_ref(value));
    }
    return used(a, b, kept);
}

Json jq_subtract(JqRun *run, Json a, Json b) {
    if (both_exact(a, b) && is_exact(a.i - b.i)) return json_int(a.i - b.i);
    if (both(a, b, JSON_NUMBER)) {
        return numbers(run, EXACT_SUBTRACT, a, b, json_to_double(a) - json_to_double(b));
    }
    return both(a, b, JSON_ARRAY) ? without(run, a, b) : refuse(run, a, b, "cannot be subtracted");
}

/* ---- a * b ---- */

static Json repeated(Text s, size_t len) {
    Buf out = BUF_INIT;
    char *to = buf_reserve(&out, len);
    memcpy(to, s.data, s.len);
    for (size_t done = s.len; done < len;) {
        size_t n = done < len - done ? done : len - done;
        json_breathe_copy(to + done, to, n);
        done += n;
    }
    Json result = json_string_valid(to, len);
    buf_clear(&out);
    return result;
}

static Json repeat(JqRun *run, Json s, double times) {
    Text text = native_text(&s);
    if (isnan(times) || times < 0) return json_null();
    uint64_t len = text.len * (uint64_t)(times < INT_MAX ? times : INT_MAX);
    if (len > JSON_STRING_MAX) return jq_fail(run, "Repeat string result too long");
    if (len == 0) return json_string_valid("", 0);
    return native_afford(run, 2 * len) ? repeated(text, len) : json_none();
}

/* One object of a deep merge: `into` is being built; the values of `from` go into it. While a child
 * is merged, `key` is where the child was lifted out. */
typedef struct Level {
    Json into, from, key;
    size_t pos;
} Level;

typedef struct Merge {
    Level *levels;
    size_t depth, cap;
} Merge;

static void merge_enter(Merge *m, Json into, Json from) {
    m->levels = mem_grow(m->levels, m->depth, &m->cap, sizeof(*m->levels));
    m->levels[m->depth++] = (Level){.into = into, .from = from};
}

static Json merge_drop(Merge *m) {
    while (m->depth) {
        Level *top = &m->levels[--m->depth];
        json_unref(top->into);
        json_unref(top->key);
    }
    mem_free(m->levels);
    return json_none();
}

/* Consumes a. */
static Json merge_deep(JqRun *run, Json a, Json b) {
    Merge m = {0};
    merge_enter(&m, a, b);
    for (;;) {
        Level *top = &m.levels[m.depth - 1];
        Json key, value;
        if (json_object_next(top->from, &top->pos, &key, &value)) {
            Json old = json_object_get(top->into, key);
            if (json_tag(old) == JSON_TAG_OBJECT && json_tag(value) == JSON_TAG_OBJECT) {
                top->key = json_ref(key);
                merge_enter(&m, json_object_lift(&top->into, key), value);
            } else {
                top->into = json_object_set(top->into, json_ref(key), json_ref(value));
            }
        } else if (m.depth > 1) {
            /* Puts the finished object on top where it belongs in the one below. */
            Json child = m.levels[--m.depth].into;
            Level *up = &m.levels[m.depth - 1];
            up->into = json_object_set(up->into, json_take(&up->key), child);
        } else {
            break;
        }
        if (m.depth > JSON_DEPTH_MAX + 1) {
            jq_fail(run, "Object merge too deep");
            return merge_drop(&m);
        }
        if (!jq_charge(run, 1)) return merge_drop(&m);
    }
    Json merged = json_take(&m.levels[0].into);
    merge_drop(&m);
    return merged;
}

Json jq_multiply(JqRun *run, Json a, Json b) {
    int64_t product;
    if (both_exact(a, b) && !__builtin_mul_overflow(a.i, b.i, &product) && is_exact(product) &&
        product != 0) {
        return json_int(product);
    }
    if (both(a, b, JSON_NUMBER)) {
        return numbers(run, EXACT_MULTIPLY, a, b, json_to_double(a) * json_to_double(b));
    }
    if (json_kind(a) == JSON_STRING && json_kind(b) == JSON_NUMBER) {
        return used(a, b, repeat(run, a, json_to_double(b)));
    }
    if (json_kind(a) == JSON_NUMBER && json_kind(b) == JSON_STRING) {
        return used(a, b, repeat(run, b, json_to_double(a)));
    }
    if (both(a, b, JSON_OBJECT)) return used(json_none(), b, merge_deep(run, a, b));
    return refuse(run, a, b, "cannot be multiplied");
}

/* ---- a / b, a % b, -a ---- */

Json jq_divide(JqRun *run, Json a, Json b) {
    if (both(a, b, JSON_NUMBER)) {
        double divisor = json_to_double(b);
        return divisor == 0 ? refuse(run, a, b, "cannot be divided because the divisor is zero")
                            : numbers(run, EXACT_DIVIDE, a, b, json_to_double(a) / divisor);
    }
    if (both(a, b, JSON_STRING)) return used(a, b, native_split(run, &a, &b));
    return refuse(run, a, b, "cannot be divided");
}

static int64_t clamp_to_int(double d) {
    return d < -0x1p63 ? INT64_MIN : d >= 0x1p63 ? INT64_MAX : (int64_t)d;
}

static Json remainder_of(JqRun *run, Json a, Json b) {
    double dividend = json_to_double(a), divisor = json_to_double(b);
    if (isnan(dividend) || isnan(divisor)) return used(a, b, json_double(NAN));
    int64_t by = clamp_to_int(divisor);
    if (by == 0) {
        return refuse(run, a, b, "cannot be divided (remainder) because the divisor is zero");
    }
    /* INT64_MIN % -1 overflows. */
    int64_t rest = by == -1 ? 0 : clamp_to_int(dividend) % by;
    return numbers(run, EXACT_MODULO, a, b, (double)rest);
}

Json jq_modulo(JqRun *run, Json a, Json b) {
    if (both_exact(a, b) && b.i > 0) return json_int(a.i % b.i);
    return both(a, b, JSON_NUMBER) ? remainder_of(run, a, b)
                                   : refuse(run, a, b, "cannot be divided (remainder)");
}

Json jq_negate(JqRun *run, Json a) {
    Json result = json_kind(a) == JSON_NUMBER ? json_number_negate(a)
                                              : native_fail_type(run, a, "cannot be negated");
    json_unref(a);
    return result;
}
