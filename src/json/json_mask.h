/* json_mask.h - a value with secrets hidden (mask.h): in its texts, in the names of its keys, and where a number is
 * written like one, which then becomes a text. */
#ifndef PAWL_JSON_MASK_H
#define PAWL_JSON_MASK_H

#include "json.h"
#include "mask.h"

/* Consumes the value; gives it back where nothing has to be hidden. cut: of each text in it (mask.h). */
Json json_mask(const Mask *mask, Json value, unsigned cut);

#endif
