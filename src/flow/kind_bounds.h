/* kind_bounds.h - which kinds of nodes whoever runs workflows lets run (Bounds.kinds).
 *
 *     bool allowed[KIND_COUNT] = {0};
 *     kind_bounds_add(allowed, "jq", 2, &err);        of every dialect that has a kind of that name
 *     Bounds bounds = {.kinds = allowed};
 *
 * Kinds from outside are what is in their files, and those that only a dialect makes hold nodes of other kinds: such nodes are
 * looked at themselves.
 */
#ifndef PAWL_KIND_BOUNDS_H
#define PAWL_KIND_BOUNDS_H

#include "bounds.h"
#include "error.h"
#include "kind.h"

/* False with the nearest name in the sentence (ERR_NOT_FOUND) where there is no such kind. */
bool kind_bounds_add(bool allowed[KIND_COUNT], const char *name, size_t len, Error *err);

/* Otherwise ERR_FORBIDDEN, with the kinds that are allowed; facts `kind`, and `node` unless that is NULL. */
bool kind_is_allowed(const Bounds *bounds, const Kind *kind, const char *node, Error *err);

#endif
