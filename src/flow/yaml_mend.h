/* yaml_mend.h - lines that YAML refuses and people write all the same:
 *
 *     run: return {"data": "prepared"}
 *
 * A colon with a space behind it cannot stand in a plain scalar. Where the key says that its value is
 * code (run, python, javascript, lua, jq, shell) it is clear what is meant: the rest of the line, up to
 * a comment. A mended text has the same length as the file's, so that all places stay what they are: a
 * mark of two bytes, a character that the file does not have, stands for each such colon and space.
 * Whoever reads scalars of the mended text puts them back.
 *
 * Only lines of block maps are mended, not what is in quotes, in brackets or in blocks.
 */
#ifndef PAWL_YAML_MEND_H
#define PAWL_YAML_MEND_H

#include "yaml.h"

typedef struct YamlMend {
    const char *text; /* as long as the file's */
    char mark[2];
} YamlMend;

/* False when there is nothing to mend. */
bool yaml_mend(Arena *arena, const YamlFile *file, YamlMend *out);

/* Appends the text with marks put back. */
void yaml_unmend(const YamlMend *mend, const char *text, size_t len, Buf *out);

#endif
