/* suggest.h - "did you mean": the nearest of some names to a word that is none of them.
 *
 *     Suggestion s = suggestion_for(word, len);
 *     suggestion_offer(&s, name);      for each name there is
 *     if (s.best) ...                  near enough to be meant
 */
#ifndef PAWL_SUGGEST_H
#define PAWL_SUGGEST_H

#include <stddef.h>

typedef struct Suggestion {
    const char *word;
    size_t len;
    int distance;
    const char *best; /* one of the names offered, or NULL */
} Suggestion;

Suggestion suggestion_for(const char *word, size_t len);
void suggestion_offer(Suggestion *s, const char *name);

#endif
