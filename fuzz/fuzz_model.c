/* fuzz_model - any bytes as the answer of a model, in both formats.
 *
 * However the bytes are cut into pieces the same comes out, the text that was told on the way is the
 * text of the answer, and whatever is no answer has a sentence. The same bytes as the body of an error
 * give a sentence, too.
 */
#include "json_print.h"
#include "model.h"

#include <stdint.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

static void on_text(void *ctx, const char *text, size_t len) {
    buf_add(ctx, text, len);
}

static void add(Buf *out, Json value) {
    if (!json_is_none(value)) json_print(value, NULL, out);
    buf_addc(out, '\n');
}

static void check_told(const ModelAnswer *answer, const Buf *told) {
    CHECK(json_string_len(answer->text) == told->len);
    CHECK(!told->len || !memcmp(json_string_data(&answer->text), told->data, told->len));
}

/* All that an answer is, as one text. */
static Buf read_all(ModelFormat format, const char *bytes, size_t len, size_t piece) {
    Buf out = BUF_INIT, told = BUF_INIT;
    ModelReader *reader = model_reader_new(format, on_text, &told);
    for (size_t at = 0; at < len; at += piece) {
        if (!model_read(reader, bytes + at, len - at < piece ? len - at : piece)) break;
    }
    const ModelAnswer *answer = model_reader_end(reader);
    check_told(answer, &told);
    CHECK((answer->end == MODEL_ANSWERED) == (answer->error[0] == '\0'));
    buf_printf(&out, "%s %s\n", model_end_name(answer->end), answer->error);
    add(&out, answer->text);
    add(&out, answer->model);
    add(&out, answer->stop);
    add(&out, answer->usage);
    model_reader_free(reader);
    buf_clear(&told);
    return out;
}

static void check_format(ModelFormat format, const char *bytes, size_t len) {
    static const size_t pieces[] = {1, 3, 17};
    Buf whole = read_all(format, bytes, len, len + 1);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        Buf cut = read_all(format, bytes, len, pieces[i]);
        CHECK(cut.len == whole.len && !memcmp(cut.data, whole.data, cut.len));
        buf_clear(&cut);
    }
    buf_clear(&whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char sentence[ERROR_MSG_MAX];
    check_format(MODEL_MESSAGES, (const char *)data, size);
    check_format(MODEL_CHAT, (const char *)data, size);
    model_error(500, (const char *)data, size, sentence, sizeof sentence);
    CHECK(sentence[0]);
    return 0;
}
