#include "regex_search.h"

#include "json_breath.h"
#include "mem.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum {
    RETRIES_MAX = 1 << 24,  /* a match that needs more fails */
    RETRIES_FEW = 256,      /* first limit of a match; less where the text is long, */
    RETRIES_READ = 1 << 19, /* as each may read all of it */
    STACK_MAX = 1 << 20,    /* places to return to that a match may hold */
    SINGLY = 64,            /* places */
    WINDOW_FIRST = 128,
    WINDOW_MAX = 1 << 20,
    WINDOW_SHORT_NS = 200000, /* windows that take less get larger, */
    WINDOW_LONG_NS = 1000000, /* those that take more smaller */
    BRIEF_NS = 1000000,
    MATCH_SECONDS = 1, /* for one attempt at a match */
    MOMENT_NS = 200000,
    LEFT_MAX = 32, /* threads that nobody waits for any more */
};

/* ---- the library ---- */

static void initialize(void) {
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    onig_initialize(encodings, 1);
}

void regex_start_library(void) {
    static pthread_once_t started = PTHREAD_ONCE_INIT;
    pthread_once(&started, initialize);
}

OnigMatchParam *regex_limits_new(void) {
    OnigMatchParam *limits = onig_new_match_param();
    onig_initialize_match_param(limits);
    onig_set_match_stack_limit_size_of_match_param(limits, STACK_MAX);
    return limits;
}

/* \G is where a search begins; the longest match may begin anywhere. */
bool regex_needs_whole(const char *pattern, size_t len, OnigOptionType options) {
    if (options & ONIG_OPTION_FIND_LONGEST) return true;
    for (size_t i = 0; i + 1 < len; i++) {
        if (pattern[i] == '\\' && pattern[i + 1] == 'G') return true;
    }
    return false;
}

bool regex_over_limit(int code) {
    return code == ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER || code == ONIGERR_RETRY_LIMIT_IN_MATCH_OVER;
}

/* ---- searching ---- */

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const UChar *next_character(const RegexSearch *s, const UChar *at) {
    for (at++; at < s->end && (*at & 0xC0) == 0x80;) at++;
    return at;
}

/* A match that begins in [at, range), or, where range is NULL, at this very place. */
static int search_once(const RegexSearch *s, const UChar *at, const UChar *range,
                       unsigned long retries) {
    onig_set_retry_limit_in_search_of_match_param(s->limits, s->whole ? retries : 0);
    onig_set_retry_limit_in_match_of_match_param(s->limits, retries);
    return range ? onig_search_with_param(s->regex, s->text, s->end, at, range, s->region,
                                          ONIG_OPTION_NONE, s->limits)
                 : onig_match_with_param(s->regex, s->text, s->end, at, s->region, ONIG_OPTION_NONE,
                                         s->limits);
}

static unsigned long few_retries(const RegexSearch *s) {
    size_t few = RETRIES_READ / (size_t)(s->end - s->text + 1);
    return few < 8 ? 8 : few > RETRIES_FEW ? RETRIES_FEW : few;
}

/* The same where few retries do not do. */
static int search_paying(RegexSearch *s, const UChar *at, const UChar *range, uint64_t began) {
    int code = ONIGERR_RETRY_LIMIT_IN_MATCH_OVER;
    bool slow = false;
    for (unsigned long retries = 2 * few_retries(s); retries <= RETRIES_MAX && !slow;
         retries *= 2) {
        bool reads_far = (uint64_t)(s->end - s->text) * retries > 4 * (uint64_t)RETRIES_READ;
        if (s->brief && (reads_far || now_ns() - began > BRIEF_NS)) return REGEX_LONG;
        if (s->stop && atomic_load(s->stop)) return ONIG_ABORT;
        uint64_t before = now_ns();
        s->cost += retries / 16;
        code = search_once(s, at, range, retries);
        if (!regex_over_limit(code)) return code;
        slow = now_ns() - before > MATCH_SECONDS * (uint64_t)1000000000;
    }
    return code;
}

/* Where the next window begins: the library does not find a text that it looks for literally (24 bytes of it
 * at most) where that goes beyond the window. */
static const UChar *window_next(const RegexSearch *s, const UChar *range) {
    enum { OVERLAP = 32 };
    const UChar *at = range - OVERLAP;
    while (at > s->text && (*at & 0xC0) == 0x80) at--;
    return at;
}

/* From `at` on, in windows; place by place from where a match there takes more than few retries. */
static int search_windows(RegexSearch *s, const UChar *at) {
    uint64_t began = now_ns();
    for (size_t singly = 0;;) {
        uint64_t before = now_ns();
        bool last = s->whole || (size_t)(s->end - at) <= s->window;
        const UChar *range = singly ? NULL : last ? s->end : at + s->window;
        int code = search_once(s, at, range, few_retries(s));
        if (regex_over_limit(code) && (singly || s->whole)) {
            code = search_paying(s, at, range, began);
        } else if (regex_over_limit(code)) {
            singly = SINGLY;
            continue;
        }
        if (code != ONIG_MISMATCH || (singly ? at == s->end : last)) return code;
        uint64_t now = now_ns();
        if (s->brief && now - began > BRIEF_NS) return REGEX_LONG;
        if (s->stop && atomic_load(s->stop)) return ONIG_ABORT;
        if (singly) {
            at = next_character(s, at);
            singly--;
        } else {
            at = window_next(s, range);
            if (now - before < WINDOW_SHORT_NS && s->window < WINDOW_MAX) s->window *= 4;
            if (now - before > WINDOW_LONG_NS && s->window > WINDOW_FIRST) s->window /= 4;
        }
    }
}

int regex_search_next(RegexSearch *s) {
    const UChar *from = s->at;
    if (!s->window) s->window = WINDOW_FIRST;
    int code = search_windows(s, from);
    if (code < 0 && code != ONIG_MISMATCH) return code;
    const UChar *after = code < 0 ? s->end : s->text + s->region->end[0];
    s->cost += 4 + (uint64_t)(after > from ? after - from : 0) / 64;
    if (code >= 0 && s->region->beg[0] == s->region->end[0]) { /* it goes on a character further */
        s->at = after < s->end ? next_character(s, after) : NULL;
    } else {
        s->at = after;
    }
    return code;
}

/* ---- on a thread ---- */

struct RegexWorker {
    pthread_mutex_t lock;
    pthread_cond_t asked, answered;
    size_t wanted; /* how many matches it is asked for; 0: it rests */
    bool left;     /* nobody waits for it any more: it frees itself */
    atomic_bool stop;
    RegexSearch search;
    UChar *text;
    size_t n, cap;
    int *offsets;
    int code;
};

static atomic_int left_to_themselves;

static void clear_question(RegexWorker *w) {
    if (w->search.regex) onig_free(w->search.regex);
    w->search.regex = NULL;
    mem_free(w->text);
    w->text = NULL;
    w->n = 0;
}

static void worker_clear(RegexWorker *w) {
    clear_question(w);
    onig_free_match_param(w->search.limits);
    onig_region_free(w->search.region, 1);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->asked);
    pthread_cond_destroy(&w->answered);
    mem_free(w->offsets);
    mem_free(w);
}

static void keep_match(RegexWorker *w) {
    const OnigRegion *r = w->search.region;
    size_t groups = (size_t)r->num_regs;
    while ((w->n + 1) * groups * 2 > w->cap) {
        w->cap = w->cap ? 2 * w->cap : 64;
        w->offsets = mem_realloc(w->offsets, w->cap * sizeof *w->offsets);
    }
    int *to = w->offsets + w->n++ * groups * 2;
    for (size_t i = 0; i < groups; i++) {
        *to++ = r->beg[i];
        *to++ = r->end[i];
    }
}

static void answer(RegexWorker *w) {
    w->n = 0;
    w->code = 0;
    while (w->n < w->wanted && w->code >= 0 && w->search.at) {
        w->code = regex_search_next(&w->search);
        if (w->code >= 0) keep_match(w);
    }
    if (w->code >= 0 && !w->search.at) w->code = ONIG_MISMATCH;
}

static void *work(void *worker) {
    RegexWorker *w = worker;
    pthread_mutex_lock(&w->lock);
    while (!w->left) {
        if (!w->wanted) {
            pthread_cond_wait(&w->asked, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        answer(w);
        pthread_mutex_lock(&w->lock);
        w->wanted = 0;
        pthread_cond_signal(&w->answered);
    }
    pthread_mutex_unlock(&w->lock);
    worker_clear(w);
    atomic_fetch_sub(&left_to_themselves, 1);
    return NULL;
}

RegexWorker *regex_worker_new(void) {
    if (atomic_load(&left_to_themselves) >= LEFT_MAX) return NULL;
    RegexWorker *w = mem_zalloc(sizeof *w);
    pthread_condattr_t monotonic;
    pthread_attr_t detached;
    pthread_t thread;
    sigset_t all, before;
    regex_start_library();
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->asked, NULL);
    pthread_cond_init(&w->answered, &monotonic);
    pthread_condattr_destroy(&monotonic);
    w->search.limits = regex_limits_new();
    w->search.region = onig_region_new();
    w->search.stop = &w->stop;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    sigfillset(&all); /* signals are for the threads of the program */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool made = pthread_create(&thread, &detached, work, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    if (made) return w;
    worker_clear(w);
    return NULL;
}

/* Its thread does the rest. */
void regex_worker_free(RegexWorker *w) {
    if (!w) return;
    atomic_fetch_add(&left_to_themselves, 1);
    atomic_store(&w->stop, true);
    pthread_mutex_lock(&w->lock);
    w->left = true;
    pthread_cond_signal(&w->asked);
    pthread_mutex_unlock(&w->lock);
}

bool regex_worker_set(RegexWorker *w, const RegexQuestion *q) {
    const UChar *pattern = (const UChar *)q->pattern;
    clear_question(w);
    if (onig_new(&w->search.regex, pattern, pattern + q->pattern_len, q->options,
                 ONIG_ENCODING_UTF8, ONIG_SYNTAX_PERL_NG, NULL) != ONIG_NORMAL) {
        w->search.regex = NULL;
        return false;
    }
    w->text = mem_alloc(q->text_len + 1);
    json_breathe_copy((char *)w->text, q->text, q->text_len);
    w->search.text = w->search.at = w->text;
    w->search.end = w->text + q->text_len;
    w->search.whole = regex_needs_whole(q->pattern, q->pattern_len, q->options);
    w->search.window = 0;
    w->search.cost = 0;
    return true;
}

void regex_worker_ask(RegexWorker *w, size_t n) {
    pthread_mutex_lock(&w->lock);
    w->wanted = n;
    pthread_cond_signal(&w->asked);
    pthread_mutex_unlock(&w->lock);
}

bool regex_worker_done(RegexWorker *w) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += MOMENT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&w->lock);
    if (w->wanted) pthread_cond_timedwait(&w->answered, &w->lock, &until);
    bool done = !w->wanted;
    pthread_mutex_unlock(&w->lock);
    return done;
}

RegexMatches regex_worker_matches(const RegexWorker *w) {
    return (RegexMatches){w->n, (size_t)w->search.region->num_regs, w->offsets, w->code,
                          w->search.cost};
}
