/* web_http1_parse.h - the grammar of HTTP/1.1 requests (RFC 9112), read strictly. Pure functions over bytes.
 *
 * A head (the first line, the headers and the empty line) is found first, in bytes that grow while they arrive:
 * http1_head_end() looks at each byte once. It is read when all of it is there: http1_head_parse(). The body of
 * a request with "Transfer-Encoding: chunked" is read by http1_chunks_next().
 *
 * What two servers could read in two ways is refused, with a status and a sentence: both a length and chunks, a
 * length twice or with anything but digits, a coding that is not exactly "chunked", a bad chunk, a line that
 * does not end in CR LF, white space before a colon, a folded header, no Host or several, a target that is not
 * a path. Spans are offsets into the bytes of the head, so the bytes may move.
 */
#ifndef PAWL_WEB_HTTP1_PARSE_H
#define PAWL_WEB_HTTP1_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP1_FIELDS_MAX = 128, HTTP1_METHOD_MAX = 20 };

/* Why a request is refused: a status and a sentence without quotes in it. Status 0: it is not refused. */
typedef struct Http1Problem {
    int status;
    const char *why;
} Http1Problem;

/* How far the search for the end of a head has come. Zero at its first byte. */
typedef struct Http1Scan {
    uint32_t at;   /* bytes that were looked at */
    uint32_t line; /* where the line begins that has no end yet */
} Http1Scan;

/* The length of the head when its end is there, otherwise 0; then *bad may say why it never will be. */
size_t http1_head_end(Http1Scan *scan, const char *bytes, size_t len, size_t max,
                      Http1Problem *bad);

typedef struct Http1Span {
    uint32_t at, len;
} Http1Span;

typedef struct Http1Field {
    Http1Span name, value;
} Http1Field;

typedef struct Http1Head {
    Http1Span method, target;
    int minor;       /* of the version: 0 or 1 */
    bool has_length; /* there is a Content-Length: `length` */
    bool chunked;    /* the body comes in chunks */
    bool ends;       /* the connection is to be closed after the answer */
    bool expects;    /* "Expect: 100-continue" */
    uint64_t length;
    size_t nfields;
    Http1Field fields[HTTP1_FIELDS_MAX];
} Http1Head;

/* Reads a head of which http1_head_end() has found the end. */
bool http1_head_parse(const char *bytes, size_t len, Http1Head *head, Http1Problem *bad);

/* ---- chunks ---- */

/* Zero at the first byte of the body. */
typedef struct Http1Chunks {
    uint8_t state;
    uint8_t digits;
    uint16_t line;    /* bytes of the line that is being read */
    uint32_t trailer; /* bytes of all lines behind the last chunk */
    uint64_t left;    /* bytes of the chunk that are still to come */
} Http1Chunks;

typedef enum Http1Step {
    HTTP1_MORE, /* all bytes are used */
    HTTP1_DATA, /* *data, *len: a part of the body */
    HTTP1_END,  /* the body is over; *at is behind it */
    HTTP1_BAD,
} Http1Step;

/* Goes on at *at, at most to end, and moves *at. */
Http1Step http1_chunks_next(Http1Chunks *c, const char **at, const char *end, const char **data,
                            size_t *len);

/* ---- words in headers ---- */

/* Whether a text is one word of RFC 9110: letters, digits and a few signs. */
bool http_is_token(const char *text, size_t len);
/* Whether the texts are the same but for upper and lower case. */
bool http_same(const char *a, size_t alen, const char *b);
/* Whether a list with commas holds the word, in any case. */
bool http_list_has(const char *list, size_t len, const char *word);

#endif
