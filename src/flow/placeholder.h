/* placeholder.h - the pieces of a text with placeholders: ${name}, ${{query}} and $${.
 *
 *     Piece piece;
 *     for (size_t at = 0; next_piece(text, len, &at, &piece);) ...
 *
 * What only looks like a placeholder (`${HOME:-/root}`, `${}`) is text.
 */
#ifndef PAWL_PLACEHOLDER_H
#define PAWL_PLACEHOLDER_H

#include <stdbool.h>
#include <stddef.h>

typedef enum PieceKind {
    PIECE_TEXT,
    PIECE_NAME,
    PIECE_QUERY,
    PIECE_UNCLOSED, /* text that begins a query which does not end */
} PieceKind;

typedef struct Piece {
    PieceKind kind;
    size_t at, end;  /* all of it */
    size_t from, to; /* the text that it stands for, the name or the query */
} Piece;

/* False at the end of the text. */
bool next_piece(const char *text, size_t len, size_t *at, Piece *out);

/* Whether anything in it needs a look: it has `${`. */
bool has_placeholder(const char *text, size_t len);

#endif
