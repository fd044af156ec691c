/* query.c - queries as people write them: jq that may lack its leading dot (config.h has the rule). */
#include "config.h"

#include "ascii.h"
#include "loader.h"

#include <string.h>

/* From inside a string to behind its end, or, when *opens, to behind the start of an expression in it. */
static size_t skip_string(const char *text, size_t len, size_t at, bool *opens) {
    *opens = false;
    for (; at < len && text[at] != '"'; at++) {
        if (text[at] == '\\' && ++at < len && text[at] == '(') {
            *opens = true;
            break;
        }
    }
    return at < len ? at + 1 : len;
}

size_t find_jq_end(const char *text, size_t len, size_t at, const char *close) {
    int brackets[FLOW_DEPTH_MAX] = {
        0}; /* that are open: outside, and in each string's expression */
    int depth = 0;
    bool parens = *close == ')';
    size_t close_len = strlen(close);
    while (at < len) {
        char c = text[at];
        bool curly = depth == 0 && !parens, opens;
        if (depth == 0 && brackets[0] == 0 && len - at >= close_len &&
            memcmp(text + at, close, close_len) == 0) {
            return at;
        }
        at++;
        if (c == '"' || (depth > 0 && c == ')' && brackets[depth] == 0)) {
            depth -= c == ')';
            at = skip_string(text, len, at, &opens);
            if (opens && ++depth == FLOW_DEPTH_MAX) break;
            brackets[depth] = opens ? 0 : brackets[depth];
        } else if (c == '#' && parens) {
            const char *end = memchr(text + at, '\n', len - at);
            at = end ? (size_t)(end - text) : len;
        } else {
            brackets[depth] += (c == (curly ? '{' : '(')) - (c == (curly ? '}' : ')'));
            if (brackets[depth] < 0) break;
        }
    }
    return SIZE_MAX;
}

size_t query_dot(const char *text, size_t len) {
    size_t at = 0;
    while (at < len && ascii_is_white(text[at])) at++;
    return at == len || text[at] == '.' || text[at] == '$' ? SIZE_MAX : at;
}
