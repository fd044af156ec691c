/* json_diff.h - what differs between two values, and how to get from one to the other.
 *
 * Sub-trees that are the same heap object are skipped, so comparing two versions of one value costs
 * what changed between them, not their size.
 *
 * A patch is itself a JSON value, an array of changes applied in order:
 *   [path, value]              set the value at the path ([] replaces the whole)
 *   [path]                     remove the key at the path
 *   [path, from, to, items]    replace array elements [from, to) by the items
 *   [path, "copy", source]     set it to the value that is at the path `source` (json_diff() never
 *                              makes one: it is for those who know what they copied)
 * json_patch(a, json_diff(a, b)) equals b, the order of keys included. A patch only fits where all
 * but the last step of its paths are there: unlike setpath it never makes a way.
 *
 * Not recursive; any depth. Parts that a value holds many times are walked each time where the two
 * sides do not share them, as in its text: whoever takes values from outside bounds their
 * json_size() first.
 */
#ifndef PAWL_JSON_DIFF_H
#define PAWL_JSON_DIFF_H

#include "error.h"
#include "json.h"

/* An empty array when they are equal to the last detail: order of keys and form of numbers included
 * (1 and 1.0 differ here, NaN is NaN). */
Json json_diff(Json a, Json b);
/* The same in bounded time: an array or object in which more than `most` places differ, or that is come to when
 * so many were found elsewhere, is put whole. A patch as good, and maybe longer. */
Json json_diff_within(Json a, Json b, size_t most);

/* Consumes a. JSON_NONE when the patch is not one or does not fit a; the error names the change. */
Json json_patch(Json a, Json patch, Error *err);

/* The same walk for people: calls fn for every place that differs. old_value is JSON_NONE for what
 * was added, new_value for what was removed. All three are borrowed. An array whose length changed
 * reports the elements past the common length; order of keys is not reported. Returning false
 * stops. */
typedef bool (*JsonChangeFn)(void *ctx, Json path, Json old_value, Json new_value);
void json_changes(Json a, Json b, JsonChangeFn fn, void *ctx);

/* The keys of two objects whose values are not one and the same: those of a in its order, then those that only b has. Values
 * that were made anew may be equal, which nobody has looked at. Costs what changed, as the others do. */
typedef void (*JsonMemberFn)(void *ctx, Json key, Json old_value, Json new_value);
void json_changed_members(Json a, Json b, JsonMemberFn fn, void *ctx);

/* {"added": [{path, new}], "removed": [{path, old}], "changed": [{path, old, new}]}. */
Json json_changes_report(Json a, Json b);

/* A string from shortly before the place where it differs from another, behind "..."; whole where they differ near
 * their beginning. For people, who are shown the first characters of both. Given. */
Json json_string_apart(Json s, Json other);

#endif
