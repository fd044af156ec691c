/* inputs.h - the documents of some files, one after the other, in constant memory.
 *
 *     Inputs *in = inputs_new(files, n, options);
 *     while (inputs_next(in, &value)) { ...; json_unref(value); }
 *     ... inputs_failed(in) ...
 *     inputs_free(in);
 *
 * Without files it reads standard input; the file "-" is standard input too. What cannot be read is said
 * on standard error and remembered: the files after it are still read.
 */
#ifndef PAWL_INPUTS_H
#define PAWL_INPUTS_H

#include "json.h"

#include <stdbool.h>

typedef struct InputsOptions {
    bool raw;    /* lines of text as strings */
    bool slurp;  /* all documents as one array, or with raw all text as one string */
    bool events; /* as jq --stream */
    bool seq;    /* RFC 7464 */
} InputsOptions;

typedef struct Inputs Inputs;

Inputs *inputs_new(char **files, size_t n, InputsOptions options);
void inputs_free(Inputs *in); /* accepts NULL */

/* The next document, given to the caller; false when there are no more. */
bool inputs_next(Inputs *in, Json *value);

/* Whether some file or document could not be read. */
bool inputs_failed(const Inputs *in);

/* Where the last document came from, for messages: "<stdin>, document 3". Borrowed until the next call. */
const char *inputs_place(Inputs *in);

/* A whole file as bytes, and all its documents; false after saying why not. */
bool inputs_read_file(const char *path, Buf *out);
bool inputs_read_documents(const char *path, Json *array);

#endif
