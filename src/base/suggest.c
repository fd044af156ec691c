#include "suggest.h"

#include <stdbool.h>
#include <string.h>

enum { WORD_MAX = 32 };

static int least(int a, int b, int c) {
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static bool swapped(const char *a, const char *b) {
    return a[0] == b[-1] && a[-1] == b[0];
}

/* How many letters must be put in, taken out, changed or swapped with their neighbour to get from
 * one word to the other: the optimal string alignment distance. */
static int distance(const char *a, size_t a_len, const char *b, size_t b_len) {
    int rows[3][WORD_MAX + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_len; j++) {
        last[j] = (int)j;
        before[j] = 0;
    }
    for (size_t i = 1; i <= a_len; i++) {
        row[0] = (int)i;
        for (size_t j = 1; j <= b_len; j++) {
            int change = a[i - 1] != b[j - 1];
            row[j] = least(last[j] + 1, row[j - 1] + 1, last[j - 1] + change);
            if (i > 1 && j > 1 && swapped(a + i - 1, b + j - 1) && before[j - 2] + 1 < row[j]) {
                row[j] = before[j - 2] + 1;
            }
        }
        int *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b_len];
}

/* Words that people bring along from elsewhere. */
static const struct {
    const char *word, *name;
} known[] = {
    {"retries", "retry"},   {"retry_policy", "retry"}, {"if", "when"},     {"condition", "when"},
    {"when", "if"},         {"END", "__end__"},        {"end", "__end__"}, {"START", "__start__"},
    {"start", "__start__"}, {"max_retries", "retry"},
};

static bool is_known_as(const Suggestion *s, const char *name) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].word) == s->len && !memcmp(known[i].word, s->word, s->len) &&
            !strcmp(known[i].name, name)) {
            return true;
        }
    }
    return false;
}

Suggestion suggestion_for(const char *word, size_t len) {
    /* Up to a third of the letters may be wrong, and always one. */
    int wrong = len < 6 ? 1 : (int)(len / 3);
    return (Suggestion){.word = word, .len = len, .distance = wrong + 1, .best = NULL};
}

void suggestion_offer(Suggestion *s, const char *name) {
    size_t len = strlen(name);
    if (s->len > WORD_MAX || len > WORD_MAX) return;
    /* The beginning of a name is as good as the whole. */
    bool begins = s->len >= 2 && s->len < len && memcmp(name, s->word, s->len) == 0;
    int d = is_known_as(s, name) ? 0 : begins ? 1 : distance(s->word, s->len, name, len);
    if (d < s->distance) {
        s->distance = d;
        s->best = name;
    }
}
