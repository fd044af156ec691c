/* schemas.h - JSON Schemas (2020-12) of what operations take and give, from their rows: for documents that describe a door.
 *
 *     Json defs = json_object();
 *     Json schema = schema_of_arg(arg, "#/$defs/", &defs);
 *
 * A named shape (things.h) becomes a reference, `refs` and its name; its schema is added to *defs, once, which belongs where
 * `refs` leads. Any thread.
 */
#ifndef PAWL_SCHEMAS_H
#define PAWL_SCHEMAS_H

#include "operation.h"

/* Of a shape (json_shape.h). */
Json schema_of_shape(const char *text, const char *refs, Json *defs);

/* Of an argument, with what its row says of it as the description. */
Json schema_of_arg(const OperationArg *arg, const char *refs, Json *defs);

#endif
