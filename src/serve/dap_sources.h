/* dap_sources.h - the files of a workflow and the places of its nodes, in the words of a client.
 *
 *     Sources *s = sources_new(definition, folder);     {main, files: {path: text}}, as a run has it
 *     sources_take_nodes(s, nodes);                     an answer of `nodes`
 *     Json source = sources_json(s, "flow.yaml", uris);
 *     const char *file = sources_find(s, source, &err); and back
 *     sources_free(s);
 *
 * A file that is on this machine, with the text that the run has, is named by its path. Any other is named by a number
 * (`sourceReference`), for which the client asks for the text: the run's own, which is what its lines are about.
 *
 * Lines and columns count from 1 here. Columns of the workflow count characters, those of the protocol count UTF-16 units.
 */
#ifndef PAWL_DAP_SOURCES_H
#define PAWL_DAP_SOURCES_H

#include "error.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct Sources Sources;

typedef struct SourceNode {
    Json name, kind, title; /* texts; title may be JSON_NONE */
    size_t file;            /* its number */
    int64_t line, column;
} SourceNode;

/* folder: where the run was started, absolute; NULL: not on this machine. Borrows the definition. */
Sources *sources_new(Json definition, const char *folder);
void sources_free(Sources *s); /* accepts NULL */

/* Borrows the answer. */
void sources_take_nodes(Sources *s, Json answer);
/* In the order of files and lines. */
size_t sources_count(const Sources *s);
const SourceNode *sources_node(const Sources *s, size_t i);
/* The first node of that name; NULL: there is none. */
const SourceNode *sources_named(const Sources *s, Json name);
/* NULL also where nodes at several places have it. */
const SourceNode *sources_alone(const Sources *s, Json name);

const char *sources_main(const Sources *s); /* the workflow's own file */
size_t sources_files(const Sources *s);
const char *sources_file(const Sources *s, size_t i);      /* as the run names it */
size_t sources_number(const Sources *s, const char *file); /* SIZE_MAX: there is no such file */
Json sources_text(const Sources *s, size_t file);          /* borrowed */

/* Source. uris: paths are URIs of this client. Given; JSON_NONE: there is no such file. */
Json sources_json(const Sources *s, const char *file, bool uris);
/* The file that a Source of the client means, lent; NULL with a sentence. */
const char *sources_find(const Sources *s, Json source, bool uris, Error *err);

/* A column of a line in characters, as one in UTF-16 units, and back. What has nothing but the marks of YAML before it has
 * column 1, the whole line: editors draw a second mark for what stands in the midst of one. */
int64_t sources_units(const Sources *s, const char *file, int64_t line, int64_t column);
int64_t sources_chars(const Sources *s, const char *file, int64_t line, int64_t column);

/* The path in a text that may be a URI (file://...). Given. */
char *source_path(const char *text, bool uri);

/* The same of any text: UTF-16 units in `len` bytes, and bytes in so many units. */
size_t utf16_units(const char *text, size_t len);
size_t utf16_bytes(const char *text, size_t len, size_t units);

#endif
