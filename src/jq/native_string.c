/* Natives on strings. */
#include "native.h"

#include "json_breath.h"
#include "json_print.h"
#include "utf8.h"

#include <math.h>

static bool both_strings(const Json *args) {
    return json_kind(args[0]) == JSON_STRING && json_kind(args[1]) == JSON_STRING;
}

static bool starts_with(Text s, Text part) {
    return part.len <= s.len && memcmp(s.data, part.data, part.len) == 0;
}

static bool ends_with(Text s, Text part) {
    return part.len <= s.len && memcmp(s.data + (s.len - part.len), part.data, part.len) == 0;
}

/* ---- beginnings and ends ---- */

static Json fail_look(JqRun *run, bool end) {
    return jq_fail(run, "%s() requires string inputs", end ? "endswith" : "startswith");
}

/* Pays for a look at the start or the end. */
static bool pay_look(JqRun *run, const Json *args) {
    size_t len = json_string_len(args[1]);
    return len < 256 || jq_charge(run, len / 256);
}

static Json has_part(JqRun *run, Json *args, bool end) {
    if (!both_strings(args)) return fail_look(run, end);
    Text s = native_text(&args[0]), part = native_text(&args[1]);
    return pay_look(run, args) ? json_bool(end ? ends_with(s, part) : starts_with(s, part))
                               : json_none();
}

NATIVE(string_startswith, has_part(run, args, false))
NATIVE(string_endswith, has_part(run, args, true))

/* The piece [from, from + len) of the string in *s, which is moved out when that is all of it. */
static Json cut(JqRun *run, Json *s, size_t from, size_t len) {
    Text text = native_text(s);
    if (len == text.len) return json_take(s);
    return native_afford(run, len) ? json_string_valid(text.data + from, len) : json_none();
}

/* Takes the part off the start, the end or both. What remains is never cut twice over. */
static Json cut_part(JqRun *run, Json *args, bool start, bool end) {
    if (!both_strings(args)) return fail_look(run, !start);
    if (!pay_look(run, args)) return json_none();
    Text s = native_text(&args[0]), part = native_text(&args[1]);
    size_t skip = start && starts_with(s, part) ? part.len : 0;
    Text rest = {s.data + skip, s.len - skip};
    size_t drop = end && ends_with(rest, part) ? part.len : 0;
    return cut(run, &args[0], skip, rest.len - drop);
}

NATIVE(string_ltrimstr, cut_part(run, args, true, false))
NATIVE(string_rtrimstr, cut_part(run, args, false, true))
NATIVE(string_trimstr, cut_part(run, args, true, true))

/* ---- white space ---- */

static const char *skip_space(const char *p, const char *end) {
    while (p < end) {
        int32_t cp;
        size_t n = utf8_decode(p, end, &cp);
        if (!utf8_is_space(cp)) break;
        p += n;
        json_breathe();
    }
    return p;
}

static const char *drop_space(const char *start, const char *end) {
    while (end > start) {
        int32_t cp;
        const char *p = end; /* where the character that ends before `end` begins */
        do {
            p--;
        } while (p > start && utf8_is_inside(*p));
        utf8_decode(p, end, &cp);
        if (!utf8_is_space(cp)) break;
        end = p;
        json_breathe();
    }
    return end;
}

static Json trim(JqRun *run, Json *s, bool left, bool right) {
    if (json_kind(*s) != JSON_STRING) return jq_fail(run, "trim input must be a string");
    Text text = native_text(s);
    const char *end = text.data + text.len;
    const char *from = left ? skip_space(text.data, end) : text.data;
    const char *to = right ? drop_space(from, end) : end;
    return cut(run, s, (size_t)(from - text.data), (size_t)(to - from));
}

NATIVE(string_trim, trim(run, &args[0], true, true))
NATIVE(string_ltrim, trim(run, &args[0], true, false))
NATIVE(string_rtrim, trim(run, &args[0], false, true))

/* ---- taking apart and putting together ---- */

NATIVE(string_split, both_strings(args) ? native_split(run, &args[0], &args[1])
                                        : jq_fail(run, "split input and separator must be strings"))

/* Adds a separator, or a value, which may be another scalar than a string. */
static bool join_add(JqRun *run, Buf *out, const Json *v, bool separator) {
    JsonKind kind = json_kind(*v);
    bool scalar = kind == JSON_NUMBER || kind == JSON_TRUE || kind == JSON_FALSE;
    if (kind == JSON_STRING) {
        buf_add(out, json_string_data(v), json_string_len(*v));
    } else if (scalar && !separator) {
        json_print(*v, NULL, out);
    } else if (kind != JSON_NULL) {
        /* As adding it to what was joined so far would fail. */
        Json so_far = json_string_valid(out->data ? out->data : "", out->len);
        native_fail_types(run, so_far, *v, "cannot be added");
        json_unref(so_far);
        return false;
    }
    return true;
}

static bool join_all(JqRun *run, Walk *w, const Json *separator, Buf *out) {
    Json key, value;
    size_t paid = 0;
    for (size_t i = 0; native_walk_next(w, &key, &value); i++) {
        if ((i > 0 && !join_add(run, out, separator, true)) || !join_add(run, out, &value, false)) {
            return false;
        }
        /* Pays for what was written, and asks for room, from time to time. */
        uint64_t added = out->len - paid;
        paid = added < 4096 ? paid : out->len;
        if (added < 4096 ? !jq_charge(run, 1)
                         : !jq_charge(run, added / 64) || !jq_room(run, 2 * (uint64_t)out->len)) {
            return false;
        }
        if (out->len > JSON_STRING_MAX) {
            jq_fail(run, "String result too long");
            return false;
        }
    }
    return true;
}

static Json string_join(JqRun *run, Json *args) {
    Buf out = BUF_INIT;
    Json result = json_none();
    Walk w;
    if (native_walk(run, args[0], &w) && join_all(run, &w, &args[1], &out)) {
        result = json_string_valid(out.data ? out.data : "", out.len);
    }
    buf_clear(&out);
    return result;
}

static Json string_explode(JqRun *run, Json *args) {
    if (json_kind(args[0]) != JSON_STRING) return jq_fail(run, "explode input must be a string");
    Text text = native_text(&args[0]);
    if (!native_afford(run, (uint64_t)text.len * 17)) return json_none();
    Json result = json_array();
    for (const char *p = text.data, *end = p + text.len; p < end;) {
        int32_t cp;
        p += utf8_decode(p, end, &cp);
        result = json_array_push(result, json_int(cp));
        json_breathe();
    }
    return result;
}

/* False after jq_fail(). Numbers that are no character become U+FFFD. */
static bool implode_one(JqRun *run, Json v, Buf *out) {
    double d = json_kind(v) == JSON_NUMBER ? json_to_double(v) : NAN;
    if (isnan(d)) {
        native_fail_type(run, v, "can't be imploded, unicode codepoint needs to be numeric");
        return false;
    }
    int32_t cp = d > -1 && d < UTF8_MAX + 1.0 ? (int32_t)d : UTF8_REPLACEMENT;
    size_t n = utf8_encode(cp, buf_reserve(out, 4));
    buf_advance(out, n);
    return true;
}

static Json string_implode(JqRun *run, Json *args) {
    if (json_tag(args[0]) != JSON_TAG_ARRAY) return jq_fail(run, "implode input must be an array");
    if (!native_afford(run, (uint64_t)json_array_len(args[0]) * 8)) return json_none();
    Buf out = BUF_INIT;
    Json key, value;
    Walk w = {.of = args[0]};
    bool fine = true;
    while (fine && native_walk_next(&w, &key, &value)) {
        fine = implode_one(run, value, &out);
        json_breathe();
    }
    Json result = fine ? json_string_valid(out.data ? out.data : "", out.len) : json_none();
    buf_clear(&out);
    return result;
}

static Json string_ascii(JqRun *run, Json *args) {
    Buf out = BUF_INIT;
    Json result = json_none();
    if (implode_one(run, args[0], &out)) result = json_string_valid(out.data, out.len);
    buf_clear(&out);
    return result;
}

/* ---- case ---- */

static Json change_case(JqRun *run, Json *s, char first, char last) {
    if (json_kind(*s) != JSON_STRING) return jq_fail(run, "explode input must be a string");
    Text text = native_text(s);
    if (!native_afford(run, 2 * (uint64_t)text.len)) return json_none();
    Buf out = BUF_INIT;
    char *to = buf_reserve(&out, text.len);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (i % JSON_BREATH == 0) json_breathe();
        to[i] = c >= first && c <= last ? (char)(c ^ 0x20) : c;
    }
    Json result = json_string_valid(to, text.len);
    buf_clear(&out);
    return result;
}

NATIVE(string_ascii_downcase, change_case(run, &args[0], 'A', 'Z'))
NATIVE(string_ascii_upcase, change_case(run, &args[0], 'a', 'z'))

const JqNative jq_natives_string[] = {
    {"startswith", 1, JQ_PURE, string_startswith},
    {"endswith", 1, JQ_PURE, string_endswith},
    {"ltrimstr", 1, JQ_PURE, string_ltrimstr},
    {"rtrimstr", 1, JQ_PURE, string_rtrimstr},
    {"trimstr", 1, JQ_PURE, string_trimstr},
    {"trim", 0, JQ_PURE, string_trim},
    {"ltrim", 0, JQ_PURE, string_ltrim},
    {"rtrim", 0, JQ_PURE, string_rtrim},
    {"split", 1, JQ_PURE, string_split},
    {"join", 1, JQ_PURE, string_join},
    {"explode", 0, JQ_PURE, string_explode},
    {"implode", 0, JQ_PURE, string_implode},
    {"ascii", 0, JQ_PURE, string_ascii},
    {"ascii_downcase", 0, JQ_PURE, string_ascii_downcase},
    {"ascii_upcase", 0, JQ_PURE, string_ascii_upcase},
    {0},
};
