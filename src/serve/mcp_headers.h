/* mcp_headers.h - what a request of the new era says in its headers: the same as in its body, or it is refused.
 *
 * Whoever stands between, a proxy that counts or a gateway that forbids, reads the headers; what is done is what the body says.
 * So both have to agree, or the one could be had by showing the other. `Mcp-Name` may be written as =?base64?...?=, which is
 * what a name that is no plain text has to look like. Any thread.
 */
#ifndef PAWL_MCP_HEADERS_H
#define PAWL_MCP_HEADERS_H

#include "error.h"
#include "json.h"

/* As they came; NULL: there is none. */
typedef struct McpHeaders {
    const char *version, *method, *name;
} McpHeaders;

/* Whether the headers alone say that the request is of the new era. */
bool mcp_headers_are_modern(const McpHeaders *h);

/* False with a sentence. */
bool mcp_headers_match(const McpHeaders *h, Json message, Error *err);

#endif
