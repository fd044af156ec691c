/* kind_schema.h - what a kind takes, for those who make forms of it: `pawl kinds`, the page, the
 * debugger. Made from the rows of kind.h, by the same code as the schemas of whole files. */
#ifndef PAWL_KIND_SCHEMA_H
#define PAWL_KIND_SCHEMA_H

#include "json.h"
#include "kind.h"

/* The JSON Schema of the parameters, as an object, given: types, defaults, words, what is required, and
 * what each means. It stands alone: nodes and tasks inside are objects without more. `x-type` of each
 * is its param_type_name(). */
Json kind_schema(const Kind *kind);

/* The first parameter that is part of it: those of a pipeline's step that stand before are keys of the
 * step and not of its `config`. */
size_t kind_config_start(const Kind *kind);

/* "jq", "duration", "list of tasks": the type, for people. */
const char *param_type_name(ParamType type);

const char *dialect_name(DialectId dialect); /* "graph", "tasks", "pipeline" */

#endif
