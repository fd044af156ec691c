/* fuzz_json - any bytes as JSON text.
 *
 * However the text is cut into pieces, the same comes out; what comes out prints to text that is JSON to the letter
 * and reads back as the same value, indented or not, and survives the binary form. What is read strictly is what
 * is read otherwise.
 */
#include "json_binary.h"
#include "json_parse.h"
#include "json_print.h"

#include <stdint.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

/* Gives the next piece of text. */
static void feed(JsonParser *p, const char *text, size_t len, bool last) {
    char *room = json_parser_reserve(p, len);
    if (len) memcpy(room, text, len);
    json_parser_commit(p, len, last);
}

static void print(Json j, int indent, Buf *out) {
    buf_reset(out);
    CHECK(json_print(j, &(JsonPrintOptions){.indent = indent}, out));
}

static bool same_bytes(const Buf *a, const Buf *b) {
    return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static Json reread(const Buf *text) {
    Json j = json_parse(text->data, text->len, &(JsonParseOptions){.strict = true}, NULL);
    CHECK(!json_is_none(j));
    return j;
}

/* Infinity prints as the largest double, which reads back as a literal with that value. */
static bool holds_infinity(const Buf *text) {
    return strstr(text->data, "e+308") != NULL;
}

static void check_text(Json j) {
    Buf text = BUF_INIT, again = BUF_INIT, indented = BUF_INIT;
    print(j, 0, &text);
    Json back = reread(&text);
    print(back, 0, &again);
    CHECK(same_bytes(&text, &again) || holds_infinity(&text));
    print(back, 2, &indented);
    Json from_indented = reread(&indented);
    CHECK(json_equal(from_indented, back));
    print(from_indented, 0, &text);
    CHECK(same_bytes(&text, &again));
    json_unref(back);
    json_unref(from_indented);
    buf_clear(&text);
    buf_clear(&again);
    buf_clear(&indented);
}

static void check_binary(Json j) {
    Buf bytes = BUF_INIT, again = BUF_INIT;
    size_t used;
    json_encode(j, &bytes);
    Json back = json_decode(bytes.data, bytes.len, &used, NULL);
    CHECK(!json_is_none(back) && used == bytes.len);
    json_encode(back, &again);
    CHECK(same_bytes(&bytes, &again));
    json_unref(back);
    buf_clear(&bytes);
    buf_clear(&again);
}

typedef struct Run {
    JsonParseOptions options;
    size_t piece;
    bool check;
} Run;

/* All that comes out, as one text. */
static Buf read_all(const char *text, size_t len, Run run) {
    JsonParser *p = json_parser_new(&run.options);
    Buf out = BUF_INIT;
    size_t fed = 0;
    buf_addc(&out, '\n');
    for (;;) {
        Json j;
        Error err = ERROR_INIT;
        JsonParseStatus status = json_parser_next(p, &j, &err);
        if (status == JSON_PARSE_VALUE) {
            json_print(j, NULL, &out);
            if (run.check) {
                check_text(j);
                check_binary(j);
            }
            json_unref(j);
        } else if (status == JSON_PARSE_ERROR) {
            buf_adds(&out, err.msg);
        } else if (status == JSON_PARSE_MORE) {
            size_t n = run.piece < len - fed ? run.piece : len - fed;
            feed(p, text + fed, n, fed + n == len);
            fed += n;
        } else {
            break;
        }
    }
    json_parser_free(p);
    return out;
}

static void check_pieces(const char *text, size_t len, JsonParseOptions options, bool check) {
    Buf whole = read_all(text, len, (Run){options, len + 1, check});
    size_t pieces[] = {1, 3, 17};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        Buf cut = read_all(text, len, (Run){options, pieces[i], false});
        CHECK(same_bytes(&whole, &cut));
        buf_clear(&cut);
    }
    buf_clear(&whole);
}

/* No byte of what is read strictly was replaced. */
static void check_strict(const char *text, size_t len) {
    Json strict = json_parse(text, len, &(JsonParseOptions){.strict = true}, NULL);
    Json other = json_is_none(strict) ? json_none() : json_parse(text, len, NULL, NULL);
    Buf a = BUF_INIT, b = BUF_INIT;
    if (!json_is_none(strict)) {
        CHECK(!json_is_none(other));
        print(strict, 0, &a);
        print(other, 0, &b);
        CHECK(same_bytes(&a, &b));
    }
    buf_clear(&a);
    buf_clear(&b);
    json_unref(strict);
    json_unref(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    size_t before = json_heap_bytes();
    check_pieces(text, size, (JsonParseOptions){0}, true);
    check_pieces(text, size, (JsonParseOptions){.events = true, .max_depth = 64}, false);
    check_pieces(text, size, (JsonParseOptions){.seq = true}, false);
    check_pieces(text, size, (JsonParseOptions){.strict = true}, false);
    check_strict(text, size);
    json_unref(json_parse(text, size, &(JsonParseOptions){.max_bytes = 200}, NULL));
    CHECK(json_heap_bytes() == before);
    return 0;
}
