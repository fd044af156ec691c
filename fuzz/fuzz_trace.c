/* fuzz_trace - any bytes as a traceparent and as a tracestate.
 *
 * What is taken as a traceparent is printed as one that is taken again and is the same; what is taken as a tracestate can
 * be a header.
 */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    TraceContext t, again;
    char printed[TRACE_TEXT];
    char *text = malloc(size ? size : 1); /* so that a byte too far is seen */
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    if (trace_parse(text, size, &t)) {
        trace_print(&t, printed);
        CHECK(strlen(printed) == TRACE_TEXT - 1);
        CHECK(trace_parse(printed, TRACE_TEXT - 1, &again));
        CHECK(!memcmp(t.trace, again.trace, TRACE_ID) && !memcmp(t.span, again.span, TRACE_SPAN) &&
              t.flags == again.flags);
        CHECK(!memcmp(printed + 3, text + 3, TRACE_TEXT - 1 - 3 - 2)); /* but for flags */
    }
    if (trace_state_fits(text, size)) {
        CHECK(size && size <= TRACE_STATE_MAX && !memchr(text, '\n', size) &&
              !memchr(text, '\0', size));
    }
    free(text);
    return 0;
}
