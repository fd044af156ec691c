/* placeholder.h - the parts of a title with placeholders: ${name} and ${{query}}.
 *
 *     TextPart part;
 *     for (size_t at = 0; next_part(text, len, &at, &part);) ...
 *
 * What only looks like a placeholder (`${HOME:-/root}`, `${}`) is text.
 */
#ifndef PAWL_PLACEHOLDER_H
#define PAWL_PLACEHOLDER_H

#include <stdbool.h>
#include <stddef.h>

typedef enum TextPartKind {
    PART_TEXT,
    PART_NAME,
    PART_QUERY,
} TextPartKind;

typedef struct TextPart {
    TextPartKind kind;
    size_t at, end;  /* all of it */
    size_t from, to; /* the text that it stands for, the name or the query */
} TextPart;

/* False at the end of the text. */
bool next_part(const char *text, size_t len, size_t *at, TextPart *out);

#endif
