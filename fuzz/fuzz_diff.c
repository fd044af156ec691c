/* fuzz_diff - two values made from the input, often alike, and what differs between them.
 *
 * The patch takes one to the other, the order of keys included; every change that is told is one,
 * and none is told when the values are equal. A patch may begin with copies of anything to anywhere: each
 * puts what was there before it, and the difference from there still comes to the same.
 */
#include "json_diff.h"
#include "json_path.h"
#include "json_print.h"

#include <stdint.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

typedef struct Dice {
    const uint8_t *pos, *end;
} Dice;

static unsigned roll(Dice *d) {
    return d->pos < d->end ? *d->pos++ : 0;
}

static Json make_key(Dice *d) {
    unsigned n = roll(d);
    return n < 200 ? json_string_fmt("k%u", n % 24) : json_string_fmt("a key that is long %u", n);
}

static Json make_scalar(unsigned kind, Dice *d) {
    static const char literal[] = "1.50";
    switch (kind) {
    case 0: return json_null();
    case 1: return json_bool(roll(d) & 1);
    case 2: return json_double(roll(d) / 4.0);
    case 3: return json_number_parse(literal, sizeof literal - 1);
    case 4: return json_string_fmt("%.*s", (int)(roll(d) % 30), "text that may be long or short");
    default: return json_int(roll(d));
    }
}

/* Recursion is bounded by `depth`. */
static Json make_value(Dice *d, int depth) {
    unsigned n = roll(d), kind = n % 10, count = n / 10;
    if (kind < 6 || depth == 0) {
        return make_scalar(kind, d);
    }
    Json j = kind < 8 ? json_array() : json_object();
    for (; count > 0 && d->pos < d->end; count--) {
        if (kind < 8) {
            j = json_array_push(j, make_value(d, depth - 1));
        } else {
            Json key = make_key(d);
            j = json_object_set(j, key, make_value(d, depth - 1));
        }
    }
    return j;
}

static Json change_array(Json a, Dice *d) {
    size_t at = roll(d) % (json_array_len(a) + 1), n = roll(d) % 4;
    switch (roll(d) % 4) {
    case 0: return json_array_slice(a, n, json_array_len(a));
    case 1: return json_array_set(a, at, make_value(d, 2));
    case 2: return json_array_splice(a, at, at + n, json_array());
    default: return json_array_splice(a, at, at, json_array_push(json_array(), make_value(d, 2)));
    }
}

static Json change_object(Json o, Dice *d) {
    Json key = make_key(d);
    if (roll(d) % 2) {
        return json_object_set(o, key, make_value(d, 2));
    }
    o = json_object_remove(o, key);
    json_unref(key);
    return o;
}

/* Somewhere below: the values then share all but the way there. */
static Json change_below(Json j, Dice *d) {
    if (json_kind(j) != JSON_ARRAY || json_array_len(j) == 0) {
        return json_kind(j) == JSON_OBJECT ? change_object(j, d) : change_array(j, d);
    }
    size_t at = roll(d) % json_array_len(j);
    Json item = json_array_lift(&j, at);
    if (json_kind(item) == JSON_OBJECT) {
        item = change_object(item, d);
    } else if (json_kind(item) == JSON_ARRAY) {
        item = change_array(item, d);
    }
    return json_array_set(j, at, item);
}

static Json changed(Json j, Dice *d) {
    for (unsigned n = roll(d) % 5; n > 0; n--) {
        if (json_kind(j) == JSON_ARRAY || json_kind(j) == JSON_OBJECT) {
            j = change_below(j, d);
        }
    }
    return j;
}

static void check_same_text(Json a, Json b) {
    char *x = json_to_text(a), *y = json_to_text(b);
    CHECK(strcmp(x, y) == 0);
    free(x);
    free(y);
}

static void check_patch(Json a, Json b) {
    Json patch = json_diff(a, b);
    Error err = ERROR_INIT;
    Json result = json_patch(json_ref(a), patch, &err);
    CHECK(!json_is_none(result));
    CHECK(json_equal(result, b));
    check_same_text(result, b);
    json_unref(result);
    json_unref(patch);
}

/* Of something that is there; [] is all of it. */
static Json make_path(Json j, Dice *d) {
    Json path = json_array(), key, value;
    for (unsigned n = roll(d) % 5; n > 0; n--) {
        size_t len = json_kind(j) == JSON_ARRAY    ? json_array_len(j)
                     : json_kind(j) == JSON_OBJECT ? json_object_len(j)
                                                   : 0;
        size_t at = len ? roll(d) % len : 0, pos = 0;
        if (!len) {
            break;
        }
        if (json_kind(j) == JSON_ARRAY) {
            key = json_int((int64_t)at);
            value = json_array_get(j, at);
        } else {
            for (size_t i = 0; i <= at; i++) CHECK(json_object_next(j, &pos, &key, &value));
        }
        path = json_array_push(path, json_ref(key));
        j = value;
    }
    return path;
}

/* Consumes a; the copy is added to the patch. A value does not become a copy of another as a whole. */
static Json make_copy(Json a, Json *patch, Dice *d) {
    Json to = make_path(a, d), from = make_path(a, d), what = json_path_get(a, from, NULL);
    Json parts[] = {to, json_string_c("copy"), from}, change = json_array_from(parts, 3);
    Json one = json_array_push(json_array(), json_ref(change));
    Json copied = json_patch(json_ref(a), one, NULL);
    CHECK(json_is_none(copied) == (json_array_len(to) == 0));
    if (!json_is_none(copied)) {
        Json there = json_path_get(copied, to, NULL);
        check_same_text(there, what);
        json_unref(there);
        json_unref(a);
        a = copied;
        *patch = json_array_push(*patch, json_ref(change));
    }
    json_unref(change);
    json_unref(one);
    json_unref(what);
    return a;
}

static void check_patch_with_copies(Json a, Json b, Dice *d) {
    Json copied = json_ref(a), patch = json_array();
    for (int i = 0; i < 3; i++) {
        copied = make_copy(copied, &patch, d);
    }
    patch = json_array_concat(patch, json_diff(copied, b));
    Json result = json_patch(json_ref(a), patch, NULL);
    CHECK(!json_is_none(result));
    check_same_text(result, b);
    json_unref(result);
    json_unref(patch);
    json_unref(copied);
}

typedef struct Seen {
    Json a, b;
    size_t changes;
} Seen;

static void check_side(Json whole, Json path, Json value) {
    if (!json_is_none(value)) {
        Json found = json_path_get(whole, path, NULL);
        CHECK(json_equal(found, value));
        json_unref(found);
    }
}

static bool see(void *ctx, Json path, Json old_value, Json new_value) {
    Seen *seen = ctx;
    CHECK(!json_is_none(old_value) || !json_is_none(new_value));
    CHECK(json_is_none(old_value) || json_is_none(new_value) || !json_equal(old_value, new_value));
    check_side(seen->a, path, old_value);
    check_side(seen->b, path, new_value);
    seen->changes++;
    return true;
}

static void check_changes(Json a, Json b) {
    Seen seen = {a, b, 0};
    json_changes(a, b, see, &seen);
    CHECK((seen.changes == 0) == json_equal(a, b));
    json_unref(json_changes_report(a, b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Dice d = {data, data + size};
    size_t before = json_heap_bytes();
    bool related = roll(&d) & 1;
    Json a = make_value(&d, 5);
    Json b = related ? changed(json_ref(a), &d) : make_value(&d, 5);
    check_patch(a, b);
    check_patch(b, a);
    check_changes(a, b);
    check_patch_with_copies(a, b, &d);
    /* Any value may be offered as a patch. */
    json_unref(json_patch(json_ref(a), b, NULL));
    json_unref(a);
    json_unref(b);
    CHECK(json_heap_bytes() == before);
    return 0;
}
