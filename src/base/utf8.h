/* utf8.h - reading and writing UTF-8.
 *
 * Every string in Pawl is valid UTF-8 (surrogates and anything past U+10FFFF excluded); what comes
 * from outside is repaired at the door, each bad sequence replaced by U+FFFD.
 */
#ifndef PAWL_UTF8_H
#define PAWL_UTF8_H

#include "buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UTF8_REPLACEMENT = 0xFFFD,
    UTF8_MAX = 0x10FFFF,
    UTF8_BYTES_MAX = 4, /* of one character */
};

/* A byte within a character of several, not the first. */
static inline bool utf8_is_inside(char c) {
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Decodes the character at s, where s < end. Returns how many bytes it takes and sets *cp; a bad
 * sequence gives *cp = -1 and the length of its longest plausible prefix, at least 1. */
size_t utf8_decode(const char *s, const char *end, int32_t *cp);

/* Writes cp (made U+FFFD when it is not a character) at out, which has room for UTF8_BYTES_MAX. */
size_t utf8_encode(int32_t cp, char *out);

/* Length of the longest valid prefix; equal to len when all of it is valid. Fast on ASCII. */
size_t utf8_valid_prefix(const char *s, size_t len);

/* Appends s to b with bad sequences replaced. */
void utf8_repair(Buf *b, const char *s, size_t len);

/* Number of characters in valid UTF-8. */
size_t utf8_length(const char *s, size_t len);

/* Byte offset of character number n of valid UTF-8; len when there are not so many. */
size_t utf8_offset(const char *s, size_t len, size_t n);

/* How many bytes at the end of s are the beginning of a character, which further bytes may complete. */
size_t utf8_unfinished(const char *s, size_t len);

/* Text that comes in pieces, cut anywhere, and is passed on in whole characters. Zero to begin. */
typedef struct Utf8Pieces {
    char pending[UTF8_BYTES_MAX]; /* the beginning of a character that has not come yet */
    size_t npending;
} Utf8Pieces;

/* Appends to out what is pending and the piece, but for the beginning of a character at its end: that
 * is pending from now on. Bytes that are no text pass as they are. */
void utf8_pieces_add(Utf8Pieces *pieces, const char *piece, size_t len, Buf *out);
/* The text has ended: appends what is still pending. */
void utf8_pieces_end(Utf8Pieces *pieces, Buf *out);

/* Whether cp is white space by Unicode's White_Space property. */
bool utf8_is_space(int32_t cp);

#endif
