/* fuzz_request - any method, path, query and body as a request: it comes to no route, or to arguments that are an object, or
 * to a sentence; and what the row lets pass can be asked again as the request that the client makes of it.
 *
 * The bytes are a line, "GET /runs?limit=1", and a body behind it. */
#include "route.h"

#include "json_parse.h"
#include "json_print.h"
#include "mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                       \
    do {                                                  \
        if (!(what)) {                                    \
            fprintf(stderr, "%s does not hold\n", #what); \
            abort();                                      \
        }                                                 \
    } while (0)

/* What one side writes the other reads back. */
static void ask_again(const Operation *op, Json args) {
    RouteRequest request;
    Error err = ERROR_INIT;
    if (!route_request(op, args, &request)) return;
    const char *target = request.target.data;
    size_t path = strcspn(target, "?");
    RouteMatch match = route_find(request.method, target, path);
    CHECK(match.route);
    Json again = route_args(&match, target[path] ? target + path + 1 : NULL, request.body, &err);
    /* a path in braces may say more literally something else, as /runs/compare does */
    if (!json_is_none(again) && route_operation(match.route) == op) {
        CHECK(operation_check(op, again, &err));
    }
    json_unref(again);
    json_unref(request.body);
    buf_clear(&request.target);
}

static void take(char *line, const char *text, size_t len) {
    char *target = strchr(line, ' ');
    Error err = ERROR_INIT;
    if (!target) return;
    *target++ = '\0';
    size_t path = strcspn(target, "?");
    RouteMatch match = route_find(line, target, path);
    if (!match.route) return;
    Json body =
        len ? json_parse(text, len, &(JsonParseOptions){.max_depth = 512}, NULL) : json_none();
    Json args = route_args(&match, target[path] ? target + path + 1 : NULL, body, &err);
    CHECK(json_is_none(args) ? err.code != ERR_NONE && err.msg[0] : json_kind(args) == JSON_OBJECT);
    if (!json_is_none(args)) {
        Error why = ERROR_INIT;
        const Operation *op = route_operation(match.route);
        bool fine = operation_check(op, args, &why);
        CHECK(fine == (why.code == ERR_NONE) && (fine || why.msg[0]));
        if (fine) ask_again(op, args);
    }
    json_unref(args);
    json_unref(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = memchr(data, '\n', size);
    size_t len = end ? (size_t)(end - data) : size;
    char *line = malloc(len + 1);
    memcpy(line, data, len);
    line[len] = '\0';
    take(line, end ? (const char *)end + 1 : "", end ? size - len - 1 : 0);
    free(line);
    CHECK(json_heap_bytes() == 0);
    return 0;
}
