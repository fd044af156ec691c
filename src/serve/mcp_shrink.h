/* mcp_shrink.h - makes a value fit into so many bytes of JSON, and says what was left out.
 *
 * An answer fits into a context window: what is large is cut. A text keeps its beginning, an array its first elements, an
 * object its first keys, and what is nested too deep is emptied; so every part is still of the type that it was, and an answer
 * that is cut has the shape that its tool promises. Objects of up to SHRINK_KEYS keys keep all of them but where nothing else
 * helps. What was cut is listed:
 *
 *     {"path": [".", "state", ...], "was": "an array of 1000", "kept": 20}
 *
 * Costs what it keeps, whatever the value holds. Any thread.
 */
#ifndef PAWL_MCP_SHRINK_H
#define PAWL_MCP_SHRINK_H

#include "json.h"

enum { SHRINK_KEYS = 48, SHRINK_CUTS_MAX = 12 };

/* How much is kept: the smaller of many steps, from 0 (a lot) to SHRINK_STEPS - 1 (hardly anything). */
enum { SHRINK_STEPS = 9 };

/* The value as that step has it, with what was cut in *cuts (an array of {path: [step], was, kept}; at most SHRINK_CUTS_MAX of
 * them). JSON_NONE: it would be longer than so many bytes, about. Borrows the value; gives both. */
Json shrink_value(Json value, int step, size_t bytes, Json *cuts);

/* The beginning of a text: at most so many bytes, at a boundary of characters. */
size_t shrink_text(const char *text, size_t len, size_t max);

#endif
