/* kind_words.c - the kinds of a dialect, as sentences name them. */
#include "loader.h"

#include "suggest.h"

#include <string.h>

bool is_shown(const Kind *kind, DialectId dialect) {
    return kind->dialect == dialect && !kind->hidden;
}

static size_t count_shown(DialectId dialect) {
    size_t n = 0;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        n += is_shown(&kinds[i], dialect);
    }
    return n;
}

const char *kind_list(DialectId dialect) {
    static _Thread_local char text[1000];
    size_t len = 0, left = count_shown(dialect), first = left;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (!is_shown(&kinds[i], dialect)) {
            continue;
        }
        const char *between = left == first ? "" : left > 1 ? ", " : " and ";
        size_t add = strlen(between) + strlen(kinds[i].name);
        if (len + add < sizeof text) {
            strcpy(stpcpy(text + len, between), kinds[i].name);
            len += add;
        }
        left--;
    }
    return text;
}

const char *nearest_kind(DialectId dialect, const YamlNode *word) {
    Suggestion nearest = suggestion_for(word->text, word->len);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (is_shown(&kinds[i], dialect)) {
            suggestion_offer(&nearest, kinds[i].name);
        }
    }
    return did_you_mean_this(nearest.best);
}

const char *article(const Kind *kind) {
    return strchr("aeiou", kind->name[0]) ? "an" : "a";
}
