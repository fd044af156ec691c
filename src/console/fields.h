/* fields.h - reading answers and events, which may lack anything or have it of another kind.
 *
 * Values may be JSON_NONE. Everything is borrowed.
 */
#ifndef PAWL_FIELDS_H
#define PAWL_FIELDS_H

#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

Json field_get(Json object, const char *key); /* JSON_NONE: it is not there */
bool field_has_text(Json object, const char *key);
const char *field_string(Json object,
                         const char *key); /* "" when it is no text; lies in the object */
int64_t field_number(Json object, const char *key, int64_t otherwise); /* a whole one */
double field_seconds(Json object, const char *key);                    /* -1 when it is no number */

bool field_is_text(Json v);
char *field_shown(Json v); /* a string as it is, anything else as JSON, "" for nothing; given */
/* What a table has beside a word; beside its last, NULL, for all others. */
const char *field_word(Json word, const char *const table[][2]);

#endif
