/* route.h - the table of operations as HTTP has it: a method and a path for each row.
 *
 *     GET /runs/{thread}/state?path=.user.name      run_state {"thread": ..., "path": ".user.name"}
 *     POST /debug/{thread}/step  {"kind": "over"}   step {"thread": ..., "kind": "over"}
 *
 * Arguments in braces are in the path. The others are in the query of a GET or DELETE, and in the body, an object, of
 * anything else (a query counts there too). Path and query hold text, which is read by the type of its argument:
 *
 *     text                 as it is
 *     int, frame, number   a number; "all" and "selected" of frames
 *     bool                 true, false, 1, 0; nothing at all is true: ?state
 *     array                JSON, or words between commas, or the name many times: ?types=node,step
 *     path                 JSON, or a path of jq: ?path=.a[0].b
 *     object, any          JSON, or else text
 *
 * What does not read so stays text, and args_check() says what is wrong with it. Names may be in camelCase
 * (pauseOnStart), also inside of `debug` and of breakpoints. Besides its own path a row may have others (route.c: aliases),
 * whose fields have names of their own: those of the documents that describe debuggers of agents and of tests.
 *
 * One place reads and writes this: the server finds an operation by its route, and a client makes the request for an
 * operation. What one writes the other reads back (tests/unit/test_route.c).
 */
#ifndef PAWL_ROUTE_H
#define PAWL_ROUTE_H

#include "operation.h"

#define ROUTE_METHODS 16 /* bytes of all methods of a path, and the NUL */

typedef struct Route Route;

/* What became of looking for a method and a path. */
typedef struct RouteMatch {
    const Route *route; /* NULL: none */
    /* Without one: the methods that the path has, "GET, POST"; "": there is no such path. */
    char allowed[64];
    const char *path; /* that was matched; borrowed */
    size_t len;
} RouteMatch;

/* path: without the query, as it came, percent-encoded. Any thread. */
RouteMatch route_find(const char *method, const char *path, size_t len);

const Operation *route_operation(const Route *route);

/* The arguments of a request. body: an object or JSON_NONE, borrowed. query: without its '?', NULL: none. JSON_NONE with a
 * sentence (ERR_USAGE; fact `field`): what is in the path or the query is no text, or an argument stands twice. The
 * arguments were not checked by the row yet: operation_call() does. */
Json route_args(const RouteMatch *match, const char *query, Json body, Error *err);

/* The same for a message without a path: fields in camelCase, and other names for them. fixed: an object that they are added to, as
 * text; NULL: none. data: an object or JSON_NONE, borrowed. */
Json route_named_args(const Operation *op, const char *fixed, Json data, Error *err);

/* The request for an operation: method, path with query, and body, JSON_NONE where there is none. False: it has no route, or
 * what stands in its path is missing. args: borrowed. */
typedef struct RouteRequest {
    const char *method;
    Buf target;
    Json body;
} RouteRequest;
bool route_request(const Operation *op, Json args, RouteRequest *out);

/* Walks all routes, the first for NULL; NULL after the last. For documents and tests. */
const Route *route_next(const Route *after);
const char *route_text(const Route *route); /* "GET /runs/{thread}" */
bool route_is_alias(const Route *route);
/* Whether an argument is the route's own: what its arguments begin with. */
bool route_fixes(const Route *route, const char *name);
/* Whether the fields of the argument `debug` stand beside the others. */
bool route_takes_debug(const Route *route);

/* The value of a query as text, decoded and given (mem_free); NULL: it is not there, or is no text. */
char *route_query_text(const char *query, const char *name);

#endif
