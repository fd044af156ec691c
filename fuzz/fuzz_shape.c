/* fuzz_shape - any bytes as a shape, as the named shapes that it uses, and as the value to be checked.
 *
 * The first line is the shape, each `NAME text` line after it a named one, and what follows an empty line
 * the value. What is refused has a sentence. Every shape has a schema; every check ends, gives the same
 * answer twice, and leaves nothing behind.
 */
#include "json_parse.h"
#include "json_shape.h"
#include "mem.h"

#include <stdint.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

enum { NAMES_MAX = 16 };

/* Cuts the line that begins at *at off, and moves *at behind it. */
static char *next_line(char **at) {
    char *line = *at, *end = strchr(line, '\n');
    *at = end ? end + 1 : line + strlen(line);
    if (end) {
        *end = '\0';
    }
    return line;
}

static void check_value(const Shape *shape, const char *text) {
    Json value = json_parse(text, strlen(text), NULL, NULL);
    if (json_is_none(value)) {
        return;
    }
    Error first = ERROR_INIT, second = ERROR_INIT;
    bool fits = shape_check(shape, value, &first);
    CHECK(fits == shape_check(shape, value, &second));
    CHECK(fits == (first.code == ERR_NONE) && strcmp(first.msg, second.msg) == 0);
    CHECK(fits || first.msg[0]);
    CHECK(fits == shape_check(shape, value, NULL));
    json_unref(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = json_heap_bytes();
    char *bytes = mem_strndup((const char *)data, size), *at = bytes;
    const char *text = next_line(&at);
    ShapeName names[NAMES_MAX + 1] = {{0}};
    for (int n = 0; n < NAMES_MAX; n++) {
        char *line = next_line(&at), *space = strchr(line, ' ');
        if (!space) {
            break;
        }
        *space = '\0';
        names[n] = (ShapeName){line, space + 1};
    }
    Error err = ERROR_INIT;
    Shape *shape = shape_compile(text, names, &err);
    CHECK(shape || (err.code != ERR_NONE && err.msg[0]));
    if (shape) {
        Json schema = shape_schema(shape);
        CHECK(json_kind(schema) == JSON_OBJECT);
        json_unref(schema);
        check_value(shape, at);
        shape_free(shape);
    }
    mem_free(bytes);
    CHECK(json_heap_bytes() == before);
    return 0;
}
