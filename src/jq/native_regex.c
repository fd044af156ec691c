/* Regular expressions: _match_impl(regex; flags; test), on Oniguruma.
 *
 * A run keeps the expressions it compiled last, so that a filter applied to many values compiles
 * once. Offsets are in characters; a Ruler counts them from the place it measured last, so that
 * measuring all matches of a string costs one walk over it.
 *
 * Backtracking is bounded and paid for: a search starts with a small limit of retries; whenever
 * it runs into the limit that much work is charged and it starts again with twice the limit. That
 * costs at most twice the work and keeps the count of steps the same on every machine. The clock is
 * looked at only in searches that are far gone, to cut short what is slow without many retries. */
#include "native.h"

#include "mem.h"
#include "utf8.h"

#include <oniguruma.h>
#include <pthread.h>
#include <time.h>

enum {
    KEPT = 16,                 /* compiled expressions of a run */
    RETRIES_MIN = 256,         /* first limit of a search */
    RETRIES_CLOCKED = 1 << 17, /* from this limit on the clock counts */
    RETRIES_MAX = 1 << 24,     /* a search that needs more fails */
    SECONDS_MAX = 1,           /* for one attempt at a search that is clocked */
    STACK_MAX = 1 << 20,       /* places to return to that a match may hold */
};

/* ---- compiled expressions ---- */

typedef struct Compiled {
    Json source; /* JSON_NONE: free place */
    OnigOptionType options;
    regex_t *regex;
    Json names; /* array with a name or null for each group */
    uint64_t used;
} Compiled;

typedef struct Kept {
    Compiled at[KEPT];
    uint64_t clock; /* counts uses */
    OnigMatchParam *limits;
    OnigRegion *region;
} Kept;

static void compiled_clear(Compiled *c) {
    if (c->regex) onig_free(c->regex);
    json_unref(c->source);
    json_unref(c->names);
    *c = (Compiled){0};
}

static void kept_free(void *p) {
    Kept *kept = p;
    for (size_t i = 0; kept && i < KEPT; i++) compiled_clear(&kept->at[i]);
    if (kept) {
        onig_free_match_param(kept->limits);
        onig_region_free(kept->region, 1);
    }
    mem_free(kept);
}

static void start_oniguruma(void) {
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    onig_initialize(encodings, 1);
}

static Kept *kept_of(JqRun *run) {
    static pthread_once_t started = PTHREAD_ONCE_INIT;
    void **slot = jq_run_keep(run, kept_free);
    if (!*slot) {
        pthread_once(&started, start_oniguruma);
        Kept *kept = mem_zalloc(sizeof(*kept));
        kept->limits = onig_new_match_param();
        kept->region = onig_region_new();
        onig_initialize_match_param(kept->limits);
        onig_set_match_stack_limit_size_of_match_param(kept->limits, STACK_MAX);
        *slot = kept;
    }
    return *slot;
}

static int name_groups(const UChar *name, const UChar *end, int n, int *groups, regex_t *regex,
                       void *names) {
    (void)regex;
    Json *list = names;
    for (int i = 0; i < n; i++) {
        Json text = json_string((const char *)name, (size_t)(end - name));
        *list = json_array_set(*list, (size_t)groups[i] - 1, text);
    }
    return 0;
}

static Json fail_regex(JqRun *run, int code, OnigErrorInfo *info) {
    UChar message[ONIG_MAX_ERROR_MESSAGE_LEN];
    int len = onig_error_code_to_str(message, code, info);
    return jq_fail(run, "Regex failure: %.*s", len, (const char *)message);
}

static Compiled *compile(JqRun *run, Kept *kept, const Json *source, OnigOptionType options) {
    Text text = native_text(source);
    const UChar *pattern = (const UChar *)text.data;
    OnigErrorInfo info = {0};
    regex_t *regex = NULL;
    if (!jq_charge(run, 100 + text.len)) return NULL;
    int code = onig_new(&regex, pattern, pattern + text.len, options, ONIG_ENCODING_UTF8,
                        ONIG_SYNTAX_PERL_NG, &info);
    if (code != ONIG_NORMAL) {
        fail_regex(run, code, &info);
        return NULL;
    }
    Json names = json_array();
    for (int i = onig_number_of_captures(regex); i > 0; i--) {
        names = json_array_push(names, json_null());
    }
    onig_foreach_name(regex, name_groups, &names);
    /* A place that is free, or the one that was used the longest ago. */
    Compiled *c = &kept->at[0];
    for (size_t i = 1; i < KEPT; i++) c = kept->at[i].used < c->used ? &kept->at[i] : c;
    compiled_clear(c);
    *c = (Compiled){json_ref(*source), options, regex, names, 0};
    return c;
}

/* ---- flags ---- */

static const struct {
    char flag;
    OnigOptionType options;
} flag_table[] = {
    {'g', ONIG_OPTION_NONE},         {'i', ONIG_OPTION_IGNORECASE},
    {'x', ONIG_OPTION_EXTEND},       {'m', ONIG_OPTION_MULTILINE},
    {'s', ONIG_OPTION_SINGLELINE},   {'p', ONIG_OPTION_MULTILINE | ONIG_OPTION_SINGLELINE},
    {'l', ONIG_OPTION_FIND_LONGEST}, {'n', ONIG_OPTION_FIND_NOT_EMPTY},
};

/* False after jq_fail(). */
static bool read_flags(JqRun *run, const Json *flags, OnigOptionType *options, bool *global) {
    *options = ONIG_OPTION_CAPTURE_GROUP;
    *global = false;
    if (json_tag(*flags) == JSON_TAG_NULL) return true;
    if (json_kind(*flags) != JSON_STRING) {
        native_fail_type(run, *flags, "is not a string");
        return false;
    }
    Text text = native_text(flags);
    for (size_t i = 0; i < text.len; i++) {
        size_t k = 0, n = sizeof(flag_table) / sizeof(*flag_table);
        while (k < n && flag_table[k].flag != text.data[i]) k++;
        if (k == n) {
            int shown = text.len < 256 ? (int)text.len : 256;
            jq_fail(run, "%.*s is not a valid modifier string", shown, text.data);
            return false;
        }
        *options |= flag_table[k].options;
        *global = *global || text.data[i] == 'g';
    }
    return true;
}

/* ---- searching ---- */

typedef struct Search {
    JqRun *run;
    const Compiled *compiled;
    OnigMatchParam *limits;
    OnigRegion *region;
    const UChar *text, *end;
} Search;

static bool over_limit(int code) {
    return code == ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER || code == ONIGERR_RETRY_LIMIT_IN_MATCH_OVER;
}

static int search_once(Search *s, const UChar *start, unsigned long retries) {
    onig_set_retry_limit_in_search_of_match_param(s->limits, retries);
    onig_set_retry_limit_in_match_of_match_param(s->limits, retries);
    return onig_search_with_param(s->compiled->regex, s->text, s->end, start, s->end, s->region,
                                  ONIG_OPTION_NONE, s->limits);
}

/* Seconds since some time in the past. */
static double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* As search_once(), with as many retries as it takes. */
static int search_paying(Search *s, const UChar *start) {
    int code = ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER;
    bool slow = false;
    for (unsigned long retries = RETRIES_MIN; retries <= RETRIES_MAX && !slow; retries *= 2) {
        double began = retries >= RETRIES_CLOCKED ? clock_seconds() : 0;
        code = search_once(s, start, retries);
        if (!over_limit(code)) return code;
        if (!jq_charge(s->run, retries / 8)) return ONIG_ABORT;
        slow = retries >= RETRIES_CLOCKED && clock_seconds() - began > SECONDS_MAX;
    }
    return code;
}

typedef enum Found { FOUND_ERROR = -1, FOUND_NOTHING, FOUND_MATCH } Found;

/* The next match from *start on, which is moved behind it. */
static Found search_next(Search *s, const UChar **start) {
    int code = search_paying(s, *start);
    if (code < 0 && code != ONIG_MISMATCH) {
        if (over_limit(code)) {
            jq_fail(s->run,
                    "Regex failure: matching took too many steps; make the expression simpler");
        } else if (code == ONIGERR_MATCH_STACK_LIMIT_OVER) {
            jq_fail(s->run,
                    "Regex failure: matching took too much memory; make the expression simpler");
        } else if (code != ONIG_ABORT) {
            fail_regex(s->run, code, NULL);
        }
        return FOUND_ERROR;
    }
    const UChar *after = code < 0 ? s->end : s->text + s->region->end[0];
    if (!jq_charge(s->run, 4 + (uint64_t)(after > *start ? after - *start : 0) / 64)) {
        return FOUND_ERROR;
    }
    *start = after;
    return code < 0 ? FOUND_NOTHING : FOUND_MATCH;
}

/* ---- matches as values ---- */

/* Measures byte offsets in characters, from the place it measured last. */
typedef struct Ruler {
    const char *text;
    size_t byte, character;
} Ruler;

static Json measure(Ruler *r, size_t byte) {
    size_t from = byte < r->byte ? byte : r->byte, to = byte < r->byte ? r->byte : byte;
    size_t between = utf8_length(r->text + from, to - from);
    r->character = byte < r->byte ? r->character - between : r->character + between;
    r->byte = byte;
    return json_int((int64_t)r->character);
}

/* The four pairs that a match and a capture have in common, `last` being captures or name. */
static Json span(Ruler *r, int from, int to, const char *last, Json value) {
    bool matched = from >= 0;
    size_t start = matched ? (size_t)from : 0, len = matched ? (size_t)(to - from) : 0;
    Json pairs[] = {
        json_string_c("offset"), matched ? measure(r, start) : json_int(-1),
        json_string_c("length"), json_int((int64_t)utf8_length(r->text + start, len)),
        json_string_c("string"), matched ? json_string_valid(r->text + start, len) : json_null(),
        json_string_c(last),     value,
    };
    return json_object_from(pairs, 4);
}

static Json match_value(const Search *s, Ruler *r) {
    const OnigRegion *region = s->region;
    Json captures = json_array();
    for (int i = 1; i < region->num_regs; i++) {
        Json name = json_ref(json_array_get(s->compiled->names, (size_t)i - 1));
        captures = json_array_push(captures, span(r, region->beg[i], region->end[i], "name",
                                                  json_is_none(name) ? json_null() : name));
    }
    return span(r, region->beg[0], region->end[0], "captures", captures);
}

/* Matches are small but may be many: asks for room for each dozen, and for each that is large. */
static bool room_for_match(const Search *s, size_t matches) {
    size_t bytes = 256;
    for (int i = 0; i < s->region->num_regs; i++) {
        bytes += 192 + (size_t)(s->region->end[i] - s->region->beg[i]);
    }
    return bytes >= 4096 ? native_afford(s->run, bytes)
                         : matches % 12 != 0 || jq_room(s->run, 12 * 4096);
}

static Json all_matches(Search *s, bool global) {
    Json matches = json_array();
    Ruler ruler = {.text = (const char *)s->text};
    const UChar *start = s->text;
    for (size_t n = 0; start && (global || n == 0); n++) {
        Found found = search_next(s, &start);
        if (found == FOUND_NOTHING) break;
        if (found == FOUND_ERROR || !room_for_match(s, n)) {
            json_clear(&matches);
            break;
        }
        matches = json_array_push(matches, match_value(s, &ruler));
        if (s->region->beg[0] == s->region->end[0]) { /* the search goes on a character further */
            int32_t cp;
            const char *at = (const char *)start, *end = (const char *)s->end;
            start = at < end ? start + utf8_decode(at, end, &cp) : NULL;
        }
    }
    return matches;
}

static Json regex_match(JqRun *run, Json *args) {
    OnigOptionType options;
    bool global;
    if (json_kind(args[0]) != JSON_STRING) {
        return native_fail_type(run, args[0], "cannot be matched, as it is not a string");
    }
    if (json_kind(args[1]) != JSON_STRING) return native_fail_type(run, args[1], "is not a string");
    if (!read_flags(run, &args[2], &options, &global)) return json_none();
    Kept *kept = kept_of(run);
    Compiled *compiled = NULL;
    for (size_t i = 0; !compiled && i < KEPT; i++) {
        Compiled *at = &kept->at[i];
        if (at->regex && at->options == options && json_string_equal(at->source, args[1])) {
            compiled = at;
        }
    }
    compiled = compiled ? compiled : compile(run, kept, &args[1], options);
    if (!compiled) return json_none();
    compiled->used = ++kept->clock;
    Text text = native_text(&args[0]);
    const UChar *start = (const UChar *)text.data;
    Search s = {run, compiled, kept->limits, kept->region, start, start + text.len};
    if (json_tag(args[3]) != JSON_TAG_TRUE) return all_matches(&s, global);
    Found found = search_next(&s, &start);
    return found == FOUND_ERROR ? json_none() : json_bool(found == FOUND_MATCH);
}

const JqNative jq_natives_regex[] = {
    {"_match_impl", 3, JQ_PURE, regex_match},
    {0},
};
