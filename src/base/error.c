#include "error.h"

#include "utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const code_names[ERR_CODES] = {
    [ERR_NONE] = "none",
    [ERR_SYNTAX] = "syntax",
    [ERR_DATA] = "data",
    [ERR_LIMIT] = "limit",
    [ERR_CANCELLED] = "cancelled",
    [ERR_IO] = "io",
    [ERR_USAGE] = "usage",
    [ERR_BUSY] = "busy",
    [ERR_RAISED] = "raised",
    [ERR_NOT_FOUND] = "not_found",
    [ERR_EXISTS] = "exists",
    [ERR_ENDED] = "ended",
    [ERR_ANSWER] = "answer_needed",
    [ERR_SECRET] = "secret",
    [ERR_WRONG_STATE] = "wrong_state",
    [ERR_NOT_HELD] = "not_held",
    [ERR_FORBIDDEN] = "forbidden",
};

/* Ends a message that did not fit in "...", without leaving half a character behind. */
static void mark_cut(char *msg) {
    size_t end = ERROR_MSG_MAX - 4;
    while (end > 0 && utf8_is_inside(msg[end])) end--;
    memcpy(msg + end, "...", 4);
}

bool error_vset_at(Error *err, ErrorCode code, int line, int col, const char *fmt, va_list args) {
    if (err) {
        err->code = code;
        err->line = line;
        err->col = col;
        err->facts[0] = '\0';
        if (vsnprintf(err->msg, sizeof err->msg, fmt, args) >= ERROR_MSG_MAX) mark_cut(err->msg);
    }
    return false;
}

bool error_set(Error *err, ErrorCode code, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    error_vset_at(err, code, 0, 0, fmt, args);
    va_end(args);
    return false;
}

bool error_set_at(Error *err, ErrorCode code, int line, int col, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    error_vset_at(err, code, line, col, fmt, args);
    va_end(args);
    return false;
}

void error_wrap(Error *err, const char *fmt, ...) {
    if (!err) return;
    char inner[ERROR_MSG_MAX];
    memcpy(inner, err->msg, sizeof inner);
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(err->msg, sizeof err->msg, fmt, args);
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n < sizeof err->msg ? (size_t)n : sizeof err->msg - 1;
    size_t room = sizeof err->msg - used;
    if ((size_t)snprintf(err->msg + used, room, ": %s", inner) >= room) mark_cut(err->msg);
}

const char *error_code_name(ErrorCode code) {
    return code_names[code];
}

bool error_is_askers(ErrorCode code) {
    return code == ERR_USAGE || code == ERR_SYNTAX || code == ERR_NOT_FOUND || code == ERR_EXISTS ||
           code == ERR_ENDED || code == ERR_ANSWER || code == ERR_WRONG_STATE ||
           code == ERR_NOT_HELD || code == ERR_FORBIDDEN;
}

ErrorCode error_code_find(const char *name) {
    for (int code = 0; code < ERR_CODES; code++) {
        if (!strcmp(name, code_names[code])) return (ErrorCode)code;
    }
    return ERR_NONE;
}

/* Appends a member; all of it or nothing. */
static void add_fact(Error *err, const char *key, const char *value) {
    size_t used = strlen(err->facts), room = sizeof err->facts - used;
    int n = snprintf(err->facts + used, room, "%s\"%s\":%s", used ? "," : "", key, value);
    if (n < 0 || (size_t)n >= room) err->facts[used] = '\0';
}

bool error_fact(Error *err, const char *key, const char *text) {
    char quoted[ERROR_FACTS_MAX];
    size_t n = 0;
    if (!err || !text) return false;
    quoted[n++] = '"';
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        int added = snprintf(quoted + n, sizeof quoted - n,
                             c < 0x20                ? "\\u%04x"
                             : c == '"' || c == '\\' ? "\\%c"
                                                     : "%c",
                             c);
        n += (size_t)added;
        if (n + 2 > sizeof quoted) return false;
    }
    quoted[n++] = '"';
    quoted[n] = '\0';
    add_fact(err, key, quoted);
    return false;
}

bool error_field_inside(Error *err, const char *around) {
    static const char begins[] = "\"field\":\"";
    if (!err) return false;
    char *at = strstr(err->facts, begins);
    if (!at) return error_fact(err, "field", around);
    size_t len = strlen(around), rest = strlen(at += strlen(begins)) + 1;
    if ((size_t)(at - err->facts) + len + 1 + rest > sizeof err->facts) return false;
    memmove(at + len + 1, at, rest);
    memcpy(at, around, len);
    at[len] = '.';
    return false;
}

bool error_fact_true(Error *err, const char *key) {
    if (err) add_fact(err, key, "true");
    return false;
}

bool error_fact_full(Error *err, int error) {
    return error == ENOSPC || error == EDQUOT ? error_fact_true(err, "full") : false;
}

bool error_fact_int(Error *err, const char *key, int64_t number) {
    char text[24];
    if (err) {
        snprintf(text, sizeof text, "%lld", (long long)number);
        add_fact(err, key, text);
    }
    return false;
}
