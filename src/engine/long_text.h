/* long_text.h - the texts of large values on their way into files without a name, piece by piece.
 *
 * A step that begins asks for the text of an expression again in every turn until all of it is written, so what is
 * written is kept by the expression: a list, which goes when the step has begun. It holds the value meanwhile, so
 * nothing changes it. On the loop's thread.
 */
#ifndef PAWL_LONG_TEXT_H
#define PAWL_LONG_TEXT_H

#include "flow.h"

enum { LONG_TEXT = 256 << 10 }; /* values of fewer bytes are printed at once */

typedef struct LongText LongText;

/* NULL: there is none. */
LongText *long_text_find(LongText *all, const Expr *expr);

/* A new one, in front of the list; NULL with *err set: it can have no file. folder: where the file is if it cannot be in
 * memory; NULL: /tmp. Consumes value. */
LongText *long_text_add(LongText **all, const Expr *expr, Json value, const char *folder,
                        Error *err);

/* Writes some more, which takes less than a millisecond or two. False with *err set. */
bool long_text_write(LongText *text, Error *err);
bool long_text_is_whole(const LongText *text);

/* A descriptor of the caller's own, and its length; -1 with *err set. */
int long_text_file(const LongText *text, size_t *len, Error *err);

void long_texts_free(LongText *all); /* accepts NULL */

#endif
