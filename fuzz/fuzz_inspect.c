/* fuzz_inspect - any bytes as a path, an expression, a text to search for and a state.
 *
 * The first two bytes choose pages and limits, the first line is the path and the expression, the
 * rest the state (null when it is not JSON). What is accepted as a path is written and read back
 * as the same; every path in an answer leads to a value; answers keep to their limits; a page has
 * what the value has; nothing is left on the heap.
 */
#include "inspect.h"
#include "json_parse.h"
#include "json_path.h"
#include "json_print.h"
#include "mem.h"

#include <stdint.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

static Json field(Json o, const char *key) {
    return json_object_get_c(o, key);
}

static void check_same_path(Json path) {
    Buf text = BUF_INIT;
    json_path_text(path, SIZE_MAX, &text);
    Json written = json_string_buf(&text), again = inspect_path(written, NULL);
    CHECK(json_equal(again, path));
    json_unref(written);
    json_unref(again);
    buf_clear(&text);
}

/* The path that the text is, or [] when it is none. */
static Json check_path(const char *text, size_t len) {
    Error err = ERROR_INIT;
    Json given = json_string(text, len), path = inspect_path(given, &err);
    json_unref(given);
    if (json_is_none(path)) {
        CHECK(err.code != ERR_NONE && err.msg[0] && err.col > 0);
        return json_array();
    }
    check_same_path(path);
    return path;
}

/* Any value may be offered as a path. */
static void check_steps(Json offered) {
    Error err = ERROR_INIT;
    Json path = inspect_path(offered, &err);
    CHECK(json_is_none(path) == (err.code != ERR_NONE));
    if (!json_is_none(path)) {
        check_same_path(path);
    }
    json_unref(path);
}

static void check_preview(Json o) {
    Json shown = field(o, "preview");
    CHECK(json_kind(shown) == JSON_STRING);
    CHECK(json_string_len(shown) <= 4 * INSPECT_PREVIEW);
}

static void check_children(Json value, Json list, size_t limit) {
    CHECK(json_array_len(list) <= limit);
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json child = json_array_get(list, i), step = json_ref(field(child, "key"));
        Json path = json_array_push(json_array(), step);
        CHECK(!json_is_none(inspect_at(value, path, NULL, NULL)));
        check_preview(child);
        json_unref(path);
    }
}

static void check_variables(Json state, Json path, size_t offset, size_t limit) {
    Error err = ERROR_INIT;
    Json steps, value = inspect_at(state, path, &steps, NULL);
    Json answer =
        inspect_variables(state, path, &(InspectPage){.offset = offset, .limit = limit}, &err);
    CHECK(json_is_none(value) == json_is_none(answer));
    CHECK(json_is_none(answer) == (err.code != ERR_NONE));
    if (!json_is_none(answer)) {
        CHECK(json_equal(field(answer, "path"), steps));
        bool whole = json_size(value) <= INSPECT_WHOLE;
        CHECK(!whole || json_identical(field(answer, "value"), value));
        if (!json_is_none(field(answer, "children"))) {
            check_children(value, field(answer, "children"), limit ? limit : 100);
        }
    }
    json_unref(answer);
    json_unref(steps);
}

static void check_places(Json state, Json list, size_t limit) {
    CHECK(json_kind(list) == JSON_ARRAY && json_array_len(list) <= limit);
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json one = json_array_get(list, i), steps = json_none();
        Json value = inspect_at(state, field(one, "text"), &steps, NULL);
        CHECK(!json_is_none(value));
        CHECK(json_equal(steps, field(one, "path")));
        CHECK(json_string_is(field(one, "type"), json_kind_name(json_kind(value))));
        json_unref(steps);
    }
}

static void check_lists(Json state, const char *text, size_t limit) {
    Json answer = inspect_search(state, text, limit);
    check_places(state, field(answer, "found"), limit);
    json_unref(answer);
    answer = inspect_largest(state, limit, 0);
    check_places(state, field(answer, "largest"), limit);
    json_unref(answer);
    answer = inspect_summary(state);
    CHECK(json_kind(field(answer, "keys")) == JSON_ARRAY);
    json_unref(answer);
}

static void check_diff(Json state, Json path, size_t limit) {
    Json other = json_path_set(json_ref(state), path, json_string_c("changed"), NULL);
    if (json_is_none(other)) {
        return;
    }
    Json answer = inspect_diff(state, other, limit);
    size_t n = json_array_len(field(answer, "added")) + json_array_len(field(answer, "removed")) +
               json_array_len(field(answer, "changed"));
    CHECK((n == 0) == json_equal(state, other));
    CHECK(n <= 3 * limit);
    json_unref(answer);
    json_unref(other);
}

static void check_eval(const char *text, size_t len, Json state, size_t limit) {
    static const char *const names[] = {"item"};
    Json values[] = {json_int(1)};
    Error err = ERROR_INIT;
    InspectEval eval = {text, len, state, names, values, 1, limit, 20000, (size_t)8 << 20, false};
    Json answer = inspect_eval(&eval, &err);
    CHECK(json_is_none(answer) == (err.code != ERR_NONE));
    CHECK(json_is_none(answer) || json_array_len(field(answer, "results")) <= limit);
    json_unref(answer);
    answer = inspect_complete(text, len, limit % (len + 1), names, 1, state);
    CHECK(json_kind(field(answer, "items")) == JSON_ARRAY);
    json_unref(answer);
}

static size_t first_line(const char *text, size_t len) {
    size_t n = 0;
    while (n < len && text[n] != '\n') {
        n++;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t offset = size > 0 ? data[0] : 0, limit = size > 1 ? data[1] % 20 + 1 : 1;
    const char *text = (const char *)data + (size > 1 ? 2 : size);
    size_t left = size > 1 ? size - 2 : 0, len = first_line(text, left);
    size_t rest = len < left ? len + 1 : left, heap = json_heap_bytes();
    Json state = json_parse(text + rest, left - rest, NULL, NULL);
    state = json_is_none(state) ? json_null() : state;
    char *word = mem_strndup(text, len);
    Json path = check_path(text, len);
    check_steps(state);
    check_variables(state, path, offset, limit);
    check_variables(state, json_none(), offset, limit);
    check_lists(state, word, limit);
    check_diff(state, path, limit);
    check_eval(text, len, state, limit);
    json_unref(path);
    json_unref(state);
    mem_free(word);
    CHECK(json_heap_bytes() == heap);
    return 0;
}
