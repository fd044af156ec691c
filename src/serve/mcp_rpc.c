#include "mcp_rpc.h"

#include "json_build.h"

#include <string.h>

static bool is_id(Json id) {
    if (json_kind(id) == JSON_STRING) return json_string_len(id) <= RPC_ID_MAX;
    double d = json_kind(id) == JSON_NUMBER ? json_to_double(id) : 0.5;
    return json_tag(id) == JSON_TAG_INT || (d >= -0x1p53 && d <= 0x1p53 && (double)(int64_t)d == d);
}

Json rpc_id(Json message) {
    Json id = json_kind(message) == JSON_OBJECT ? json_object_get_c(message, "id") : json_none();
    return is_id(id) ? id : json_none();
}

static bool read_params(Json message, RpcMessage *out, Error *err) {
    Json params = json_object_get_c(message, "params");
    if (json_is_none(params)) return true;
    if (json_kind(params) != JSON_OBJECT) {
        return error_set(err, ERR_USAGE, "The `params` of a message are an object.");
    }
    Json meta = json_object_get_c(params, "_meta");
    if (!json_is_none(meta) && json_kind(meta) != JSON_OBJECT) {
        return error_set(err, ERR_USAGE, "The `_meta` of a message is an object.");
    }
    out->params = params;
    out->meta = meta;
    return true;
}

bool rpc_read(Json message, RpcMessage *out, Error *err) {
    *out = (RpcMessage){.id = json_none(), .params = json_none(), .meta = json_none()};
    if (json_kind(message) == JSON_ARRAY) {
        return error_set(err, ERR_USAGE,
                         "Messages come one by one: this protocol has no batches any more.");
    }
    if (json_kind(message) != JSON_OBJECT ||
        !json_string_is(json_object_get_c(message, "jsonrpc"), "2.0")) {
        return error_set(err, ERR_USAGE,
                         "A message is an object of JSON-RPC: {\"jsonrpc\": \"2.0\", \"id\": ..., "
                         "\"method\": ..., \"params\": {...}}.");
    }
    Json id = json_object_get_c(message, "id"), method = json_object_get_c(message, "method");
    bool answers = !json_is_none(json_object_get_c(message, "result")) ||
                   !json_is_none(json_object_get_c(message, "error"));
    if (json_is_none(method) && answers) {
        out->kind = RPC_RESPONSE;
        out->id = id;
        return true;
    }
    if (json_kind(method) != JSON_STRING || !json_string_len(method) ||
        json_string_len(method) > RPC_METHOD_MAX) {
        return error_set(err, ERR_USAGE, "A request has a `method`, which is a text.");
    }
    if (!json_is_none(id) && !is_id(id)) {
        return error_set(err, ERR_USAGE,
                         "The `id` of a request is a text of at most %d bytes or a whole number.",
                         RPC_ID_MAX);
    }
    out->kind = json_is_none(id) ? RPC_NOTIFICATION : RPC_REQUEST;
    out->id = id;
    out->method = json_object_text(message, "method");
    return read_params(message, out, err);
}

Json rpc_result(Json id, Json result) {
    return OBJECT(KEY("jsonrpc", "2.0"), KEY("id", json_ref(id)), KEY("result", result));
}

Json rpc_error(Json id, int code, const char *sentence, Json data) {
    Json error = OBJECT(KEY("code", json_int(code)), KEY("message", sentence), KEY("data", data));
    return OBJECT(KEY("jsonrpc", "2.0"), KEY("id", json_ref(id)), KEY("error", error));
}

Json rpc_notification(const char *method, Json params) {
    return OBJECT(KEY("jsonrpc", "2.0"), KEY("method", method), KEY("params", params));
}
