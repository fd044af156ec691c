/* Regular expressions: _match_impl(regex; flags; test), on Oniguruma.
 *
 * A run keeps the expressions it compiled last, so that a filter applied to many values compiles
 * once. Offsets are in characters; a Ruler counts them from the place it measured last, so that
 * measuring all matches of a string costs one walk over it.
 *
 * How long a search takes is bounded and paid for (regex_search.h). Where the run is sliced, what takes longer than a
 * moment is done by a thread, and the run asks it time and again whether it is done. */
#include "native.h"

#include "json_breath.h"
#include "mem.h"
#include "regex_search.h"
#include "utf8.h"

enum {
    KEPT = 16,           /* compiled expressions of a run */
    TEXT_LONG = 1 << 13, /* bytes: a longer one is searched by a thread */
    ASKED = 1000,        /* matches that the thread is asked for at a time */
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
    RegexWorker *worker; /* NULL: none was needed yet */
    int *offsets;        /* of a match */
    size_t offsets_cap;
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
        regex_worker_free(kept->worker);
        mem_free(kept->offsets);
    }
    mem_free(kept);
}

static Kept *kept_of(JqRun *run) {
    void **slot = jq_run_keep(run, kept_free);
    if (!*slot) {
        regex_start_library();
        Kept *kept = mem_zalloc(sizeof(*kept));
        kept->limits = regex_limits_new();
        kept->region = onig_region_new();
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
    const Json *text;
    RegexSearch here;    /* on this thread */
    RegexWorker *worker; /* or on another; NULL: not */
    RegexMatches found;  /* by it: the next that is taken is number `taken` */
    size_t taken;
    uint64_t paid;
} Search;

typedef enum Found { FOUND_ERROR = -1, FOUND_NOTHING, FOUND_MATCH, FOUND_LATER } Found;

static bool pay(Search *s, uint64_t cost) {
    uint64_t more = cost - s->paid;
    s->paid = cost;
    return jq_charge(s->run, more);
}

/* What a search came to. */
static Found found(Search *s, int code) {
    if (code >= 0) return FOUND_MATCH;
    if (code == ONIG_MISMATCH) return FOUND_NOTHING;
    if (code == REGEX_LONG) return FOUND_LATER;
    if (regex_over_limit(code)) {
        jq_fail(s->run, "Regex failure: matching took too many steps; make the expression simpler");
    } else if (code == ONIGERR_MATCH_STACK_LIMIT_OVER) {
        jq_fail(s->run,
                "Regex failure: matching took too much memory; make the expression simpler");
    } else {
        fail_regex(s->run, code, NULL);
    }
    return FOUND_ERROR;
}

/* False when the run ended meanwhile: then the thread is left to itself. */
static bool ask_worker(Search *s, Kept *kept) {
    regex_worker_ask(s->worker, ASKED);
    while (!regex_worker_done(s->worker)) {
        json_breath.fn(json_breath.ctx);
        if (!jq_is_wanted(s->run)) {
            regex_worker_free(kept->worker);
            kept->worker = s->worker = NULL;
            return false;
        }
    }
    s->found = regex_worker_matches(s->worker);
    s->taken = 0;
    return pay(s, s->found.cost);
}

/* A match: where its groups begin and end, in bytes. */
typedef struct Match {
    size_t groups;
    const int *offsets;
} Match;

static Found next_of_worker(Search *s, Kept *kept, Match *m) {
    if (s->taken == s->found.n && s->found.code < 0) return found(s, s->found.code);
    if (s->taken == s->found.n && !ask_worker(s, kept)) return FOUND_ERROR;
    if (!s->found.n) return found(s, s->found.code);
    m->groups = s->found.groups;
    m->offsets = s->found.offsets + s->taken++ * 2 * m->groups;
    return FOUND_MATCH;
}

static Found next_here(Search *s, Kept *kept, Match *m) {
    if (!s->here.at) return FOUND_NOTHING;
    Found what = found(s, regex_search_next(&s->here));
    if (what == FOUND_LATER) return what;
    if (!pay(s, s->here.cost)) return FOUND_ERROR;
    if (what != FOUND_MATCH) return what;
    const OnigRegion *region = kept->region;
    m->groups = (size_t)region->num_regs;
    if (2 * m->groups > kept->offsets_cap) {
        kept->offsets_cap = 2 * m->groups;
        kept->offsets = mem_realloc(kept->offsets, kept->offsets_cap * sizeof(int));
    }
    for (size_t i = 0; i < m->groups; i++) {
        kept->offsets[2 * i] = region->beg[i];
        kept->offsets[2 * i + 1] = region->end[i];
    }
    m->offsets = kept->offsets;
    return FOUND_MATCH;
}

static Found search_next(Search *s, Kept *kept, Match *m) {
    return s->worker ? next_of_worker(s, kept, m) : next_here(s, kept, m);
}

/* False after an error. */
static bool search_by_thread(Search *s, Kept *kept, const Json *pattern) {
    Text of = native_text(pattern), text = native_text(s->text);
    if (!native_afford(s->run, text.len)) return false;
    if (!kept->worker) kept->worker = regex_worker_new();
    if (!kept->worker ||
        !regex_worker_set(kept->worker, &(RegexQuestion){of.data, text.data, of.len, text.len,
                                                         s->compiled->options})) {
        jq_fail(s->run, "Regex failure: too many others take too long");
        return false;
    }
    s->worker = kept->worker;
    return true;
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

static Json match_value(const Search *s, Ruler *r, const Match *m) {
    Json captures = json_array();
    for (size_t i = 1; i < m->groups; i++) {
        Json name = json_ref(json_array_get(s->compiled->names, i - 1));
        captures = json_array_push(captures, span(r, m->offsets[2 * i], m->offsets[2 * i + 1],
                                                  "name", json_is_none(name) ? json_null() : name));
    }
    return span(r, m->offsets[0], m->offsets[1], "captures", captures);
}

/* Matches are small but may be many: asks for room for each dozen, and for each that is large. */
static bool room_for_match(const Search *s, const Match *m, size_t matches) {
    size_t bytes = 256;
    for (size_t i = 0; i < m->groups; i++) {
        bytes += 192 + (size_t)(m->offsets[2 * i + 1] - m->offsets[2 * i]);
    }
    return bytes >= 4096 ? native_afford(s->run, bytes)
                         : matches % 12 != 0 || jq_room(s->run, 12 * 4096);
}

/* The matches, or whether there is one. *later: it takes longer than a moment. */
static Json all_matches(Search *s, Kept *kept, bool global, bool test, bool *later) {
    Json matches = json_array();
    Ruler ruler = {.text = json_string_data(s->text)};
    for (size_t n = 0; global || n == 0; n++) {
        Match m = {0};
        Found what = search_next(s, kept, &m);
        *later = what == FOUND_LATER;
        if (test && (what == FOUND_NOTHING || what == FOUND_MATCH)) {
            json_unref(matches);
            return json_bool(what == FOUND_MATCH);
        }
        if (what == FOUND_NOTHING) break;
        if (what != FOUND_MATCH || !room_for_match(s, &m, n)) {
            json_unref(matches);
            return json_none();
        }
        matches = json_array_push(matches, match_value(s, &ruler, &m));
        json_breathe();
    }
    return matches;
}

static Json regex_match(JqRun *run, Json *args) {
    OnigOptionType options;
    bool global, later = false, test = json_tag(args[3]) == JSON_TAG_TRUE;
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
    Text text = native_text(&args[0]), pattern = native_text(&args[1]);
    const UChar *start = (const UChar *)text.data;
    Search s = {.run = run, .compiled = compiled, .text = &args[0]};
    s.here = (RegexSearch){
        .regex = compiled->regex,
        .whole = regex_needs_whole(pattern.data, pattern.len, options),
        .text = start,
        .end = start + text.len,
        .at = start,
        .limits = kept->limits,
        .region = kept->region,
        .brief = jq_is_sliced(run),
    };
    if (s.here.brief && (json_breath.fn || text.len > TEXT_LONG)) {
        if (!json_breath.fn) return jq_apart(run);
        if (!search_by_thread(&s, kept, &args[1])) return json_none();
    }
    Json result = all_matches(&s, kept, global, test, &later);
    return later ? jq_apart(run) : result;
}

const JqNative jq_natives_regex[] = {
    {"_match_impl", 3, JQ_PURE, regex_match},
    {0},
};
