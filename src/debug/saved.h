/* saved.h - breakpoints and watches that are kept for later runs of a workflow.
 *
 *     {"pawl_breakpoints": 1, "file", "workflow", "saved": time, "breakpoints": [fields as breakpoint_new() takes
 *      them], "watches": [expression]}
 *
 * A document is a file that somebody names, or one in the folder of the store, by the path of the workflow's file:
 * breakpoints-HASH.json, for nobody but its user. Either may have been written by anybody: what is read is checked.
 * Hits are not kept: breakpoints that are loaded count anew.
 *
 * Documents are borrowed, answers given. Files are read and written on any thread.
 */
#ifndef PAWL_SAVED_H
#define PAWL_SAVED_H

#include "session.h"
#include "store.h"

enum {
    SAVED_FORMAT = 1,
    SAVED_BYTES_MAX = 16 << 20, /* of a document */
    SAVED_BREAKPOINTS_MAX = 10000,
    SAVED_WATCHES_MAX = 1000,
};

/* What a session has now. */
Json saved_document(const Session *s);
/* The workflow's file, as documents name it. */
char *saved_file(const Session *s);
/* Whether a value is a document; false with a sentence. */
bool saved_check(Json document, Error *err);
/* The same of a text; JSON_NONE on error. */
Json saved_parse(const char *text, size_t len, Error *err);

/* Of the workflow's file in a store: null when nothing is kept. JSON_NONE on error. */
Json saved_read(Store *store, const char *file, Error *err);
/* One without breakpoints and watches takes the file away. */
bool saved_write(Store *store, Json document, Error *err);

/* Sets what the session has not already: {breakpoints: [BREAKPOINT], watches: int, there: int (breakpoints and watches
 * that it had), refused: [{breakpoint, message}]}. */
Json saved_load(Session *s, Json document);

#endif
