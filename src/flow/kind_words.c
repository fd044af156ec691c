/* kind_words.c - the kinds of a dialect, as sentences name them. */
#include "loader.h"

#include <stdio.h>
#include <string.h>

bool is_shown(const Kind *kind, DialectId dialect) {
    return kind->dialect == dialect && !kind->hidden;
}

const char *kind_list(DialectId dialect) {
    static _Thread_local char text[1000];
    const char *names[KIND_COUNT];
    size_t n = 0, len = 0;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (is_shown(&kinds[i], dialect)) names[n++] = kinds[i].name;
    }
    for (size_t i = 0; i < n && len < sizeof text; i++) {
        const char *between = i == 0 ? "" : i + 1 < n ? ", " : " and ";
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", between, names[i]);
    }
    return text;
}

const char *article(const Kind *kind) {
    return strchr("aeiou", kind->name[0]) ? "an" : "a";
}
