/* yaml.h - YAML text to a tree in which everything knows its place.
 *
 * A YamlNode is a scalar, a list or a map of the file. Nodes live in the arena they were parsed into
 * and do not change. An alias is the node of its anchor, so that a tree may hold a node twice; how
 * much there is when aliases are followed is counted while reading, and refused past a limit, as is
 * nesting. Whoever walks the tree may therefore recurse and need not count.
 *
 * The language is YAML 1.2 with its core schema, of which JSON is a part: one document a file, keys
 * that are scalars and not repeated. No tags but !!str. Merge keys (`<<`) are for who asks for them.
 * Tests (YAML_TESTS) are read by the rules of the program that they were first written for.
 * A file that is none is read once more with its lines of code mended (yaml_mend.h).
 */
#ifndef PAWL_YAML_H
#define PAWL_YAML_H

#include "arena.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Reporter Reporter;

/* What unquoted words mean. */
typedef enum YamlSchema {
    YAML_CORE, /* the core schema of YAML 1.2 */
    YAML_TESTS, /* the same, but 1_000 is 1000, 020 is 16, 0b11 is 3, hex past 64 bits is text, and a date
                   is the text of a time */
    YAML_TESTS_INSIDE, /* and yes, no, on and off are booleans: tests that other tests call */
} YamlSchema;

/* The text of a file, and where its lines are. */
typedef struct YamlFile {
    const char *path;
    const char *text; /* valid UTF-8, without a byte order mark */
    size_t len;
    const size_t *lines; /* where each line starts */
    size_t nlines;
    const uint32_t *chars; /* characters before each chunk of YAML_CHUNK bytes */
    YamlSchema schema;     /* for yaml_json() */
} YamlFile;

enum { YAML_CHUNK = 256 };

/* A piece of a file. */
typedef struct Spot {
    const YamlFile *file;
    size_t at, end; /* bytes */
} Spot;

typedef enum YamlKind { YAML_SCALAR, YAML_LIST, YAML_MAP } YamlKind;

typedef enum YamlStyle {
    YAML_PLAIN,
    YAML_SINGLE_QUOTED,
    YAML_DOUBLE_QUOTED,
    YAML_LITERAL,
    YAML_FOLDED,
} YamlStyle;

typedef struct YamlNode YamlNode;

typedef struct YamlPair {
    const YamlNode *key; /* a scalar */
    const YamlNode *value;
} YamlPair;

struct YamlNode {
    YamlKind kind;
    YamlStyle style;
    bool is_text;     /* a scalar with quotes, or a block, or tagged !!str */
    Spot spot;        /* of a scalar: its content, without quotes */
    const char *text; /* of a scalar; NUL-terminated */
    size_t len;
    const YamlNode *const *items; /* of a list */
    const YamlPair *pairs;        /* of a map */
    size_t n;
    /* Nodes in it when aliases are followed, itself included, keys not; and one more for each WEIGHT_BYTES of text. */
    size_t weight;
    int height; /* levels below it */
};

/* Makes the file known: finds its lines. text must stay where it is. */
YamlFile *yaml_file(Arena *arena, const char *path, const char *text, size_t len);

enum { WEIGHT_BYTES = 1024 };

#define YAML_NO_MERGE "Merge keys (`<<`) are not part of YAML 1.2; write the keys out."

typedef struct YamlLimits {
    int depth;
    size_t *nodes_left; /* counted down */
    Spot *merge;        /* gets the place of the first merge key, when there is one; NULL: there can
                           be none */
    bool repeats;       /* a key may be there twice: the last one counts */
} YamlLimits;

/* NULL when it is not YAML, is empty or goes over a limit; the reporter knows why. Repeated keys and
 * the like are reported too but leave a tree. */
const YamlNode *yaml_parse(Arena *arena, const YamlFile *file, YamlLimits limits,
                           Reporter *reporter);

/* The value of a key of a map; NULL when there is none, or the node is no map. */
const YamlNode *yaml_get(const YamlNode *map, const char *key);
const YamlPair *yaml_pair(const YamlNode *map, const char *key);

bool yaml_is(const YamlNode *node, const char *word); /* a scalar with that text */
bool yaml_is_null(const YamlNode *node);
/* yes, no, on or off, quoted or not; short: y and n, too. */
bool yaml_is_switch(const YamlNode *node, bool with_short, bool *on);

/* The value by the schema of its file; given. */
Json yaml_json(const YamlNode *node);

/* ---- places ---- */

/* 1-based; the column counts characters. */
void yaml_line_col(const YamlFile *file, size_t at, int *line, int *col);

/* Where in the file byte `offset` of a scalar's text is: escapes, folds and indents followed. */
size_t yaml_place(const YamlNode *scalar, size_t offset);

#endif
