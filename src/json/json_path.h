/* json_path.h - reading and changing a value at a path.
 *
 * A path is an array of steps: a string (object key), a number (array index, negative from the
 * end), or an object {"start", "end"} (array or string slice). The rules and the messages are those
 * of jq's getpath, setpath and delpaths. Errors have code ERR_RAISED: an expression can catch them.
 * All functions are iterative in the length of the path, which may be at most JSON_DEPTH_MAX.
 */
#ifndef PAWL_JSON_PATH_H
#define PAWL_JSON_PATH_H

#include "error.h"
#include "json.h"

/* j[key] by jq's rules, for any kinds: null for what is absent. JSON_NONE on error. */
Json json_index(Json j, Json key, Error *err);

/* Sets or replaces j[key]; consumes j and v. */
Json json_index_set(Json j, Json key, Json v, Error *err);

/* Whether j has the key (object) or the index (array). False on error, with err set. */
bool json_has(Json j, Json key, bool *result, Error *err);

/* Clips a slice's bounds (numbers or null) to a length, as jq rounds them. False when a bound is
 * not a number, with err set. */
bool json_slice_bounds(Json from, Json to, size_t len, size_t *start, size_t *end, Error *err);
Json json_slice(Json j, Json from, Json to, Error *err);
Json json_slice_key(Json from, Json to); /* the step of a path that stands for a slice */

Json json_path_get(Json j, Json path, Error *err);
Json json_path_set(Json j, Json path, Json v, Error *err); /* consumes j and v */
Json json_path_delete(Json j, Json paths, Error *err);     /* consumes j; paths: array of paths */

/* Moves the value at path out of *j, leaving null there where that is possible without copying what
 * is shared more than a set would; otherwise a copy. To change it in place and put it back with
 * json_path_set(). JSON_NONE on error. */
Json json_path_lift(Json *j, Json path, Error *err);

/* The first steps of a path, SIZE_MAX for all of them, as jq text: .a[0]."odd key". */
void json_path_text(Json path, size_t steps, Buf *out);

#endif
