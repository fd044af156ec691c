/* fuzz_saved - any bytes as saved breakpoints: what is taken has the form of a document, and each breakpoint in it is made
 * or refused with a sentence. */
#include "json_print.h"
#include "mem.h"
#include "saved.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error err = ERROR_INIT;
    Json document = saved_parse((const char *)data, size, &err);
    if (json_is_none(document) != (err.code != ERR_NONE)) abort();
    Json list = json_object_get_c(document, "breakpoints");
    for (size_t i = 0; i < json_array_len(list); i++) {
        Error why = ERROR_INIT;
        Breakpoint *b = breakpoint_new(1, json_array_get(list, i), NULL, &why);
        if (!b && !why.msg[0]) abort();
        breakpoint_free(b);
    }
    if (!json_is_none(document)) { /* what was taken is taken again as it is printed */
        char *text = json_to_text(document);
        Json again = saved_parse(text, strlen(text), NULL);
        if (!json_equal(again, document)) abort();
        json_unref(again);
        mem_free(text);
    }
    json_unref(document);
    return 0;
}
