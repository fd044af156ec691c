/* query.c - queries as people write them: jq that may lack its leading dot (config.h has the rule). */
#include "config.h"

#include "loader.h"

#include <string.h>

size_t skip_jq_string(const char *text, size_t len, size_t at, bool *opens) {
    *opens = false;
    for (; at < len && text[at] != '"'; at++) {
        if (text[at] == '\\' && ++at < len && text[at] == '(') {
            *opens = true;
            break;
        }
    }
    return at < len ? at + 1 : len;
}

static size_t skip_white(const char *text, size_t len, size_t at) {
    while (at < len &&
           (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) {
        at++;
    }
    return at;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t word_end(const char *text, size_t len, size_t at) {
    while (at < len && (is_letter(text[at]) || (text[at] >= '0' && text[at] <= '9'))) {
        at++;
    }
    return at;
}

static bool is_of_language(const char *word, size_t len) {
    static const char *const words[] = {"if",    "try",    "reduce",  "foreach", "def",
                                        "label", "import", "include", "true",    "false",
                                        "null",  "not",    "empty",   "now",     NULL};
    return has_name(words, word, len);
}

static bool is_function(const char *word, size_t len) {
    JqProgram *program = jq_compile(word, len, NULL, NULL);
    jq_program_free(program);
    return program != NULL;
}

static bool has_pipe(const char *text, size_t len, size_t at) {
    return at < len && text[at] == '|' && (at + 1 == len || text[at + 1] != '=');
}

static bool has_call(const char *text, size_t len, size_t at) {
    return at < len &&
           (text[at] == '(' || (text[at] == ':' && at + 1 < len && text[at + 1] == ':'));
}

size_t query_dot(const char *text, size_t len) {
    size_t at = skip_white(text, len, 0);
    if (at < len && text[at] == '|') {
        return at;
    }
    if (at == len || !is_letter(text[at])) {
        return SIZE_MAX;
    }
    size_t end = word_end(text, len, at), next = skip_white(text, len, end);
    if (has_call(text, len, next) || is_of_language(text + at, end - at)) {
        return SIZE_MAX;
    }
    return has_pipe(text, len, next) && is_function(text + at, end - at) ? SIZE_MAX : at;
}
