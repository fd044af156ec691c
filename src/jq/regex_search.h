/* regex_search.h - searching a text with a compiled regular expression, bounded, and on a thread where it may take long.
 *
 * Oniguruma matches in one call that cannot be interrupted. So a search goes over the text in *windows*, some places
 * where a match could begin at a time, more of them as long as that is quick; and the retries of a match (going back to
 * a choice) are bounded: places where a match runs into the bound are looked at one by one, with twice as many and so on, up to a limit. One call
 * can take long all the same, where each retry reads far. Only another thread can let the rest go on meanwhile.
 *
 * What a search costs is counted in windows and retries alike on every machine, whatever the clock says.
 */
#ifndef PAWL_REGEX_SEARCH_H
#define PAWL_REGEX_SEARCH_H

#include <oniguruma.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RegexSearch {
    regex_t *regex;
    bool whole; /* windows would change what it finds */
    const UChar *text, *end;
    const UChar *at; /* where the next match may begin; NULL: nowhere */
    OnigMatchParam *limits;
    OnigRegion *region; /* the match that was found */
    size_t window;      /* bytes */
    uint64_t cost;      /* in steps of a run; counted up */
    const atomic_bool *stop;
    bool
        brief; /* ends with REGEX_LONG when it takes longer than is good for a thread that others wait for */
} RegexSearch;

enum { REGEX_LONG = -100001 }; /* no code of Oniguruma's */

void regex_start_library(void);
OnigMatchParam *regex_limits_new(void);

/* What the pattern needs; then text, end and at are set. */
bool regex_needs_whole(const char *pattern, size_t len, OnigOptionType options);

/* The next match from `at` on, which is moved behind it: 0 or more, ONIG_MISMATCH, or what went wrong: ONIG_ABORT when it
 * was stopped, REGEX_LONG. */
int regex_search_next(RegexSearch *s);
bool regex_over_limit(int code); /* it needed too many retries */

/* ---- on a thread ---- */

/* A thread that searches for one other thread. */
typedef struct RegexWorker RegexWorker;

typedef struct RegexQuestion {
    const char *pattern, *text; /* copied */
    size_t pattern_len, text_len;
    OnigOptionType options;
} RegexQuestion;

/* NULL: there are too many that were left to themselves. */
RegexWorker *regex_worker_new(void);
/* One that is in the midst of a search is left to itself: it ends when it can. Accepts NULL. */
void regex_worker_free(RegexWorker *w);

/* Begins with another text. False: the pattern is none. */
bool regex_worker_set(RegexWorker *w, const RegexQuestion *q);
/* Looks for up to n more matches; then regex_worker_done() until it says so, each time for a moment. */
void regex_worker_ask(RegexWorker *w, size_t n);
bool regex_worker_done(RegexWorker *w);

/* Once it is done: the matches, each of `groups` pairs of offsets, and the code of the last search. */
typedef struct RegexMatches {
    size_t n, groups;
    const int *offsets; /* begin, end, begin, end ... */
    int code;
    uint64_t cost; /* since the text was set */
} RegexMatches;
RegexMatches regex_worker_matches(const RegexWorker *w);

#endif
