/* mask.h - hides secrets in what goes out: logs, results, errors.
 *
 *     Mask *mask = mask_new();
 *     mask_add(mask, value, len);                     and the ways in which a value is often written
 *     mask_text(mask, text, len, 0, &out);            a text as a whole
 *     mask_feed(mask, &stream, bytes, len, &out);     a text that comes in pieces, cut anywhere
 *     mask_end(mask, &stream, &out);
 *     mask_free(mask);
 *
 * Each run of bytes that belongs to a secret becomes MASK_TEXT, whatever its length. A secret is found as it is, and
 *
 *     in base64    of both alphabets, also inside of a longer text that was encoded as a whole, and over
 *                  several lines; up to two characters beside it, which also depend on what stands around it, stay
 *     in a URL     with % and hexadecimal digits of either case, as the usual functions write it, or of each byte; + for
 *                  a space; also in a URL inside of a URL
 *     in digits    two hexadecimal ones for each byte, as xxd -p writes them
 *     in JSON      with the escapes of a string, also those of PHP (\/), Go (\u0026) and of Python's repr(), and in
 *                  JSON that is a string of JSON again
 *     quoted       for a shell, with its backslashes or single quotes, and for HTML
 *     line by line where it has several lines, each of at least MASK_LINE_MIN bytes
 *
 * A secret has at least MASK_MIN bytes: shorter ones would be found everywhere.
 *
 * Cost: a multiplication and a bit of a table for each byte; what looks like the beginning of a secret is compared.
 * A stream holds back what may be the beginning of a secret, and nothing else: at most three times the longest
 * pattern. A mask is changed by one thread, and may be read by many while nobody changes it.
 */
#ifndef PAWL_MASK_H
#define PAWL_MASK_H

#include "buf.h"
#include "mask_scan.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    MASK_MIN = 4,      /* bytes of a secret */
    MASK_LINE_MIN = 8, /* of a line of one that is hidden by itself */
};

/* What is known of a text: it begins, or ends, in the middle of what was written. The end of a secret that it begins
 * with, or the beginning of one that it ends with, is hidden if it has MASK_MIN bytes. */
enum { MASK_CUT_FRONT = 1, MASK_CUT_BACK = 2 };

typedef struct Mask Mask;

Mask *mask_new(void);
void mask_free(Mask *mask);        /* wipes what it holds; accepts NULL */
Mask *mask_copy(const Mask *mask); /* for another thread; given */

/* The value and the ways to write it. One that is too short is left out. */
void mask_add(Mask *mask, const char *value, size_t len);

/* Appends the text to out, with secrets hidden. False, and nothing is appended, when there is none in it. */
bool mask_text(const Mask *mask, const char *text, size_t len, unsigned cut, Buf *out);

/* Zero to begin. */
typedef struct MaskStream {
    Buf held;
    size_t covered; /* of held: bytes that belong to a secret */
    bool hiding;    /* the byte before held did */
} MaskStream;

/* Appends to out what is decided. */
void mask_feed(const Mask *mask, MaskStream *stream, const char *bytes, size_t len, Buf *out);
/* The text has ended: appends what was held back. The stream is as new. */
void mask_end(const Mask *mask, MaskStream *stream, Buf *out);
void mask_stream_clear(MaskStream *stream);

/* Appends what mask_scan.h needs to do the same in another process. It holds the secrets. */
void mask_write(const Mask *mask, Buf *out);

#endif
