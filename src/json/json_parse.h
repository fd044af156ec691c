/* json_parse.h - JSON text to values.
 *
 * json_parse() reads one document from memory. A JsonParser reads a stream of documents of any
 * length that arrives in pieces; it holds only the document it is in (or, in event mode, only the
 * path to where it is).
 *
 * Accepted beyond RFC 8259, as jq does, unless `strict` is asked for: a byte order mark at the start, nan/NaN and Infinity with
 * an optional sign, numbers such as ".5" and "5.", bad UTF-8 and lone surrogates (each replaced by
 * U+FFFD), documents that follow each other with nothing between where that is unambiguous. A
 * repeated key keeps its first place and its last value. Not recursive.
 *
 * Strict, what is no JSON of RFC 8259 is an error, and so are lone surrogates, which no value can hold: nothing is
 * changed in silence. A byte order mark at the start is still passed over, as the standard allows.
 *
 * Messages follow jq's wording, since expressions see them through fromjson; line and col are in
 * bytes from the start of the stream.
 */
#ifndef PAWL_JSON_PARSE_H
#define PAWL_JSON_PARSE_H

#include "error.h"
#include "json.h"

typedef struct JsonParseOptions {
    int max_depth;     /* 0: JSON_DEPTH_MAX */
    size_t max_bytes;  /* heap that one document may take; 0: no limit */
    bool strict;       /* RFC 8259 to the letter */
    bool events;       /* give [path, leaf] and [path] events, as jq --stream does */
    bool event_errors; /* *out of an error in events is the path to where it is, given */
    bool seq;          /* RFC 7464: documents are started by an RS byte; a cut-off one is an error
                         and the next RS starts afresh */
} JsonParseOptions;

/* One document and nothing after it but white space. JSON_NONE on error. Empty text is an error. */
Json json_parse(const char *text, size_t len, const JsonParseOptions *options, Error *err);

typedef struct JsonParser JsonParser;

typedef enum JsonParseStatus {
    JSON_PARSE_VALUE, /* *out is set */
    JSON_PARSE_MORE,  /* everything fed so far is used up: feed again */
    JSON_PARSE_END,   /* the last piece is used up */
    /* *err is set. Call again: after a document that went over a limit, and in seq mode, the next one
     * follows, and otherwise the end. */
    JSON_PARSE_ERROR,
} JsonParseStatus;

JsonParser *json_parser_new(const JsonParseOptions *options);
void json_parser_free(JsonParser *p); /* accepts NULL */

/* Room for at least `want` more bytes of text inside the parser, for read(2) to fill without a copy; then
 * json_parser_commit() says how many came, and whether they are the last. */
char *json_parser_reserve(JsonParser *p, size_t want);
void json_parser_commit(JsonParser *p, size_t len, bool last);

JsonParseStatus json_parser_next(JsonParser *p, Json *out, Error *err);

/* Whether that was what is wrong with a text: it is nested too deeply. */
bool json_parse_too_deep(const Error *err);

#endif
