#include "placeholder.h"

#include "ascii.h"
#include "loader.h"

#include <string.h>

static bool starts_with(const char *text, size_t len, size_t at, const char *word) {
    size_t n = strlen(word);
    return len - at >= n && memcmp(text + at, word, n) == 0;
}

/* Words of letters, digits, `_` and `-` with dots between them. 0 when there is none. */
static size_t name_end(const char *text, size_t len, size_t at) {
    bool word = false;
    for (; at < len; at++) {
        char c = text[at];
        if (!ascii_is_name(c) && c != '-' && !(c == '.' && word)) break;
        word = c != '.';
    }
    return word ? at : 0;
}

bool next_part(const char *text, size_t len, size_t *at, TextPart *out) {
    if (*at >= len) return false;
    size_t begin = *at, inside = begin + 3, end;
    if (starts_with(text, len, begin, "${{")) {
        end = find_jq_end(text, len, inside, "}}");
        size_t blank = inside;
        while (end != SIZE_MAX && blank < end && ascii_is_white(text[blank])) blank++;
        *out = end == SIZE_MAX || blank == end
                   ? (TextPart){PART_TEXT, begin, inside, begin, inside}
                   : (TextPart){PART_QUERY, begin, end + 2, inside, end};
    } else if (starts_with(text, len, begin, "${") && (end = name_end(text, len, begin + 2)) &&
               end < len && text[end] == '}') {
        *out = (TextPart){PART_NAME, begin, end + 1, begin + 2, end};
    } else {
        const char *next = begin + 1 < len ? memchr(text + begin + 1, '$', len - begin - 1) : NULL;
        end = next ? (size_t)(next - text) : len;
        *out = (TextPart){PART_TEXT, begin, end, begin, end};
    }
    *at = out->end;
    return true;
}
