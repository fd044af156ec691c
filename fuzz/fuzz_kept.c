/* fuzz_kept - any bytes as the files of tokens and of registered workflows: what is taken has the shape that it is read by. */
#include "json_print.h"
#include "kept.h"

#include <stdint.h>
#include <stdlib.h>

static const char *const shapes[] = {
    "{format: int, last: int(0..), tokens: [{id: text, name: text, "
    "scope: \"read\"|\"run\"|\"debug\"|\"admin\", hash: text, created: time, expires?: time}]}",
    "{format: int, versions: [{version: int(1..), at: time, by?: text, "
    "definition: {main: text, files: {*: text}, ...}}]}"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        KeptFile file = {"/folder", "name", "The file", 1 << 20, 1, shapes[i]};
        Error err = ERROR_INIT;
        Json all = kept_parse(&file, (const char *)data, size, &err);
        if (json_is_none(all) != (err.code != ERR_NONE)) abort();
        Json list = json_is_none(all) ? all : json_object_get_c(all, i ? "versions" : "tokens");
        if (!json_is_none(all) && json_kind(list) != JSON_ARRAY) abort();
        json_unref(all);
    }
    return json_heap_bytes() == 0 ? 0 : (abort(), 0);
}
