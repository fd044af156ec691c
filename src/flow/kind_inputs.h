/* kind_inputs.h - what a kind from outside is given: an object, checked against the `inputs` of its file.
 *
 * `inputs` is a JSON Schema of which these words are known; any other is an error when the file is loaded:
 *
 *     type (one or a list), enum, minimum, maximum, minLength, maxLength, minItems, maxItems, items, properties,
 *     required, additionalProperties (true or false), title, description
 *
 * and `default`, of an input itself: it stands where nothing is given. Inputs that are not among `properties` are
 * refused unless `additionalProperties` is true; inside of an input, as in JSON Schema, they are unless it is false.
 */
#ifndef PAWL_KIND_INPUTS_H
#define PAWL_KIND_INPUTS_H

#include "flow.h"

/* The inputs with defaults where nothing was given; given. JSON_NONE, with a sentence that names the input and the
 * kind's file, when they are not right. lenient: a text that reads as JSON of the type is taken for it. Borrows
 * given, an object. */
Json inputs_fill(const OutsideKind *kind, Json given, bool lenient, Error *err);

/* Whether a value fits one input; the sentence begins with its name. Any value fits an input that is not declared. */
bool input_fits(const OutsideKind *kind, Json name, Json value, Error *err);

/* The schema of an input; JSON_NONE when it is not declared. */
Json input_schema(const OutsideKind *kind, Json name);
bool inputs_take_others(const OutsideKind *kind);
bool schema_allows_only(Json schema, const char *type); /* that is its one type */
bool schema_allows(Json schema, const char *type);      /* that is one of them */
bool schema_takes(Json schema, Json value);             /* as far as its types go */

#endif
