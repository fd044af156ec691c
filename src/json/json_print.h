/* json_print.h - values to JSON text. Not recursive. */
#ifndef PAWL_JSON_PRINT_H
#define PAWL_JSON_PRINT_H

#include "json.h"

/* Colours of the parts of a value, each an SGR escape sequence such as "\x1b[1;31m". */
typedef struct JsonColors {
    const char *null, *false_, *true_, *number, *string, *array, *object, *key;
} JsonColors;

extern const JsonColors json_default_colors;

typedef struct JsonPrintOptions {
    int indent; /* spaces a level; 0: one line without spaces; -1: tabs */
    bool sort_keys;
    bool ascii;               /* escape everything that is not ASCII */
    const JsonColors *colors; /* NULL: none */
    size_t max_bytes;         /* stop once the text is longer; 0: no limit */
} JsonPrintOptions;

/* Called with each piece of finished text when printing to somewhere else than a buffer. Returning
 * false stops. */
typedef bool (*JsonSink)(void *ctx, const char *text, size_t len);

/* Appends to out; NULL options print compactly. Nesting past JSON_DEPTH_MAX prints as
 * "<skipped: too deep>". False when max_bytes was passed (out then holds a prefix). */
bool json_print(Json j, const JsonPrintOptions *options, Buf *out);

/* The same in parts, for values that are large: json_printing_more() appends about so many bytes and says whether
 * that was all of it. Borrows the value until the end; out is the caller's. */
typedef struct JsonPrinting JsonPrinting;
JsonPrinting *json_printing_new(Json j, const JsonPrintOptions *options, Buf *out);
bool json_printing_more(JsonPrinting *p, size_t bytes);
bool json_printing_free(
    JsonPrinting *p); /* as json_print(); false too where it was not all printed */

/* Prints a value of any size through a fixed amount of memory. */
bool json_print_to(Json j, const JsonPrintOptions *options, JsonSink sink, void *ctx);

/* Compact text as a new C string. */
char *json_to_text(Json j);

/* Appends the string s as a JSON string, quotes included. */
void json_print_string(const char *s, size_t len, bool ascii, Buf *out);

/* For messages: `number (12)`, `string ("very-long-long-long-long...")`, cut as jq cuts. Writes a C
 * string into out, which has room for JSON_DESCRIBE_MAX bytes, and returns it. */
enum { JSON_DESCRIBE_MAX = 64 };
const char *json_describe(Json j, char *out);
/* Only the part in parentheses: `12`. */
const char *json_excerpt(Json j, char *out);

#endif
