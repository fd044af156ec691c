/* mcp_rpc.h - messages of JSON-RPC 2.0, as the Model Context Protocol has them: what one is, and making them.
 *
 *     RpcMessage m;
 *     if (!rpc_read(value, &m, &err)) ... rpc_error(rpc_id(value), RPC_INVALID_REQUEST, err.msg, json_none())
 *
 * Knows no transport and no method. A message is an object; there are no batches. The id of a request is a text or a whole
 * number, and never null. Any thread.
 */
#ifndef PAWL_MCP_RPC_H
#define PAWL_MCP_RPC_H

#include "error.h"
#include "json.h"

enum {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_NO_METHOD = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    /* Those of this protocol. */
    RPC_NO_RESOURCE = -32002, /* up to 2025-11-25; RPC_INVALID_PARAMS since then */
    RPC_HEADER_MISMATCH = -32020,
    RPC_MISSING_CAPABILITY = -32021,
    RPC_UNSUPPORTED_VERSION = -32022,
};

enum { RPC_ID_MAX = 256, RPC_METHOD_MAX = 128 }; /* bytes of a text */

typedef enum RpcKind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE } RpcKind;

/* All of it is lent by the message. */
typedef struct RpcMessage {
    RpcKind kind;
    Json id;            /* JSON_NONE: a notification */
    const char *method; /* NULL: a response */
    Json params;        /* an object, or JSON_NONE */
    Json meta;          /* params._meta; an object, or JSON_NONE */
} RpcMessage;

/* False with a sentence: it is no message. Borrows it. */
bool rpc_read(Json message, RpcMessage *out, Error *err);

/* The id to answer with what is no message, borrowed; JSON_NONE: it has none that counts. */
Json rpc_id(Json message);

/* These consume what they are given but for the id. data: JSON_NONE for none; id: the same, then there is none. */
Json rpc_result(Json id, Json result);
Json rpc_error(Json id, int code, const char *sentence, Json data);
Json rpc_notification(const char *method, Json params);

#endif
