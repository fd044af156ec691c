/* fuzz_commands - any bytes as lines at the debugger's prompt.
 *
 * A line is an operation with an object of arguments, or it is refused with a sentence; and whatever is
 * typed, Tab finds a place inside it. Each line of the input is one.
 */
#include "commands.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

static void read_line(const CommandContext *context, const char *line, size_t len) {
    Error err = ERROR_INIT;
    Order order;
    bool ok = commands_read(context, line, len, &order, &err);
    CHECK(ok || (err.code && err.msg[0]));
    CHECK(!ok || json_kind(order.args) == JSON_OBJECT);
    CHECK(!ok || !order.command || order.operation || !order.command->operation);
    if (order.command) {
        Buf usage = BUF_INIT;
        commands_usage(order.command, &usage);
        CHECK(usage.len > 0);
        buf_clear(&usage);
    }
    order_clear(&order);
}

static void complete_line(const char *line, size_t len) {
    for (size_t cursor = 0; cursor <= len && cursor < 64; cursor++) {
        Completion c = commands_completion(line, cursor);
        CHECK(c.from <= cursor);
        CHECK(c.offers != OFFERS_WORDS || c.words);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const CommandContext contexts[] = {
        {0}, {.file = "flow.yaml", .list_file = "sub.yaml", .list_line = 7}};
    const char *at = (const char *)data, *end = at + size;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((newline ? newline : end) - at);
        /* A copy of its own, so that reading past the end of the line is seen. */
        char *line = malloc(len ? len : 1);
        CHECK(line);
        memcpy(line, at, len);
        read_line(&contexts[0], line, len);
        read_line(&contexts[1], line, len);
        complete_line(line, len);
        free(line);
        at += len + 1;
    }
    return 0;
}
