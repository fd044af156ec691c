/* inputs.h - the documents of some files, one after the other, in constant memory.
 *
 *     Inputs *in = inputs_new(files, n, options);
 *     while (inputs_next(in, &value)) { ...; json_unref(value); }
 *     ... inputs_unreadable(in), inputs_malformed(in) ...
 *     inputs_free(in);
 *
 * Without files it reads standard input; the file "-" is standard input too. What cannot be read
 * is said on standard error and remembered: the files after it are still read. A document ends
 * with its file at the latest (jq reads the files as if they were one).
 */
#ifndef PAWL_INPUTS_H
#define PAWL_INPUTS_H

#include "error.h"
#include "json.h"

#include <stdbool.h>

typedef struct InputsOptions {
    const char *command; /* its name, for messages */
    bool raw;            /* lines of text as strings */
    bool slurp;          /* all documents as one array, or with raw all text as one string */
    bool events;         /* as jq --stream */
    bool event_errors;   /* as jq --stream-errors: what is no JSON is an event [sentence, path] */
    bool seq;            /* RFC 7464: what is cut off is passed over with a warning */
    size_t max_bytes;    /* of memory that one value may take; 0: no limit */
} InputsOptions;

typedef struct Inputs Inputs;

Inputs *inputs_new(char **files, size_t n, InputsOptions options);
void inputs_free(Inputs *in); /* accepts NULL */

/* The next document, given to the caller; false when there are no more. */
bool inputs_next(Inputs *in, Json *value);

/* Whether some file could not be opened or read; whether some text was not JSON, or too large. */
bool inputs_unreadable(const Inputs *in);
bool inputs_malformed(const Inputs *in);

/* Where the last value came from, for messages: "<stdin>, document 3". Borrowed until the next
 * call. */
const char *inputs_place(Inputs *in);

enum { INPUTS_FILE_MAX = 256 << 20 }; /* bytes of a file that is read as a whole */

/* A whole file as bytes; false with *err set. */
bool inputs_read_file(const char *path, Buf *out, Error *err);
/* All its documents; false after saying why not. */
bool inputs_read_documents(const char *command, const char *path, Json *array);

#endif
