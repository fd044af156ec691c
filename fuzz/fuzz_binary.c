/* fuzz_binary - any bytes as a value in binary form.
 *
 * Damage is refused with a message; what is accepted encodes to something that decodes to itself.
 */
#include "json_binary.h"
#include "json_print.h"

#include <stdint.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

static void check_accepted(Json j, size_t used, size_t size) {
    Buf bytes = BUF_INIT, again = BUF_INIT, text = BUF_INIT;
    CHECK(used <= size);
    json_encode(j, &bytes);
    /* The writer takes the shortest form, so this may be shorter than what was read. */
    CHECK(bytes.len <= used);
    Json back = json_decode(bytes.data, bytes.len, &used, NULL);
    CHECK(used == bytes.len);
    json_encode(back, &again);
    CHECK(bytes.len == again.len && memcmp(bytes.data, again.data, bytes.len) == 0);
    json_print(j, NULL, &text);
    json_unref(back);
    buf_clear(&bytes);
    buf_clear(&again);
    buf_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error err = ERROR_INIT;
    size_t used = 0, before = json_heap_bytes();
    Json j = json_decode(data, size, &used, &err);
    CHECK(json_is_none(j) == (err.code != ERR_NONE));
    if (!json_is_none(j)) {
        check_accepted(j, used, size);
        json_unref(j);
    }
    CHECK(json_heap_bytes() == before);
    return 0;
}
