/* kind_listing.h - the kinds there are, for people, editors and programs: rows and files alike. */
#ifndef PAWL_KIND_LISTING_H
#define PAWL_KIND_LISTING_H

#include "flow.h"

/* Kinds from outside in folders, as an array of objects, given: name, dialect ("any"), help, schema (of the inputs),
 * outputs (names), file. One that has errors has `error`, a sentence with the place of the first, instead of schema and
 * outputs; of two with one name the first counts. Where a row of a dialect has the name, that counts there: `hidden`
 * names those dialects. In order of names. */
Json kinds_outside(const char *const *folders, size_t n, const FlowReader *reader);

/* The same of the rows: name, dialect, help, schema. dialect: a DialectId, or -1 for all. */
Json kinds_rows(int dialect);

/* flow_schema() with such kinds, as kinds_outside() gives them. Consumes the schema, borrows the kinds. */
Json schema_with_kinds(Json schema, const char *dialect, Json kinds);

#endif
