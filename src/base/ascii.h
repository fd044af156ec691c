/* ascii.h - small questions about bytes and words, which the locale has no say in. */
#ifndef PAWL_ASCII_H
#define PAWL_ASCII_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* One comparison each: what is below the first wraps round to something large. */
static inline bool ascii_is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

static inline bool ascii_is_letter(char c) {
    return (unsigned char)((c | 32) - 'a') < 26;
}

static inline char ascii_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* What names are made of: letters, digits and underscores. */
static inline bool ascii_is_name(char c) {
    return ascii_is_letter(c) || ascii_is_digit(c) || c == '_';
}

static inline bool ascii_is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* A blank or the end of a line. */
static inline bool ascii_is_white(char c) {
    return ascii_is_blank(c) || c == '\n' || c == '\r';
}

/* The value of a hexadecimal digit, or -1. */
static inline int ascii_hex(char c) {
    int letter = (c | 32) - 'a';
    return ascii_is_digit(c) ? c - '0' : letter >= 0 && letter < 6 ? letter + 10 : -1;
}

/* Whether the bytes are just this word. */
static inline bool text_is(const char *text, size_t len, const char *word) {
    return strlen(word) == len && memcmp(text, word, len) == 0;
}

/* What is behind the last c, or all of it: the name of a file without its folders. */
static inline const char *text_after_last(const char *text, char c) {
    const char *last = strrchr(text, c);
    return last ? last + 1 : text;
}

#endif
