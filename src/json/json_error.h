/* json_error.h - an Error as JSON, and back: how errors cross from one process to another.
 *
 *     {"code": "busy", "message": "...", "line": 3, "column": 7, "holder": "pid 4711 on host", ...}
 *
 * line and column are there when the error has a place; its facts (error.h) are members beside them.
 */
#ifndef PAWL_JSON_ERROR_H
#define PAWL_JSON_ERROR_H

#include "error.h"
#include "json.h"

Json error_json(const Error *err);

/* From what somebody else wrote: a code that is not known is ERR_DATA, and what is missing or of another
 * type is passed over. Always false, as error_set(). */
bool error_from_json(Json value, Error *err);

#endif
