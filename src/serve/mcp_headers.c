#include "mcp_headers.h"

#include "mem.h"

#include <openssl/evp.h>
#include <string.h>

#define VERSION "io.modelcontextprotocol/protocolVersion"
#define PREFIX  "=?base64?"
#define SUFFIX  "?="

enum { NAME_MAX_BYTES = 4096 };

bool mcp_headers_are_modern(const McpHeaders *h) {
    static const char first[] = "2026-07-28";
    return h->version && strlen(h->version) == strlen(first) && h->version[0] >= '2' &&
           h->version[0] <= '9' && strcmp(h->version, first) >= 0;
}

static Json member(Json object, const char *key) {
    return json_kind(object) == JSON_OBJECT ? json_object_get_c(object, key) : json_none();
}

/* Whether it is written in base64, and what it says then, given; NULL: that is broken. */
static char *decoded(const char *name, bool *is) {
    size_t len = strlen(name), prefix = strlen(PREFIX), suffix = strlen(SUFFIX);
    *is = len >= prefix + suffix && !strncmp(name, PREFIX, prefix) &&
          !strcmp(name + len - suffix, SUFFIX);
    if (!*is) return NULL;
    size_t n = len - prefix - suffix;
    const char *text = name + prefix;
    if (!n || n % 4 || n > NAME_MAX_BYTES) return NULL;
    char *out = mem_zalloc(n / 4 * 3 + 1);
    int got = EVP_DecodeBlock((unsigned char *)out, (const unsigned char *)text, (int)n);
    if (got < 0) {
        mem_free(out);
        return NULL;
    }
    size_t padding = (size_t)((text[n - 1] == '=') + (text[n - 2] == '='));
    out[(size_t)got - padding] = '\0';
    return out;
}

static bool same_name(const char *header, Json body, Error *err) {
    bool encoded = false;
    char *name = decoded(header, &encoded);
    if (encoded && !name) {
        return error_set(err, ERR_USAGE, "Header mismatch: Mcp-Name is no base64.");
    }
    bool same = json_string_is(body, name ? name : header);
    mem_free(name);
    return same ||
           error_set(err, ERR_USAGE, "Header mismatch: Mcp-Name is not what the body says.");
}

bool mcp_headers_match(const McpHeaders *h, Json message, Error *err) {
    static const struct {
        const char *method, *field;
    } named[] = {{"tools/call", "name"}, {"resources/read", "uri"}, {"prompts/get", "name"}};
    Json method = member(message, "method"), params = member(message, "params");
    Json version = member(member(params, "_meta"), VERSION);
    if (!h->version) {
        return error_set(err, ERR_USAGE, "Header mismatch: MCP-Protocol-Version is missing.");
    }
    if (!json_is_none(version) && !json_string_is(version, h->version)) {
        return error_set(err, ERR_USAGE,
                         "Header mismatch: MCP-Protocol-Version is not what the body says.");
    }
    if (json_is_none(member(message, "id")) || json_is_none(method)) return true;
    if (!h->method || !json_string_is(method, h->method)) {
        return error_set(err, ERR_USAGE, "Header mismatch: Mcp-Method is %s.",
                         h->method ? "not what the body says" : "missing");
    }
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        Json name = member(params, named[i].field);
        if (strcmp(h->method, named[i].method) != 0 || json_kind(name) != JSON_STRING) continue;
        if (!h->name) return error_set(err, ERR_USAGE, "Header mismatch: Mcp-Name is missing.");
        return same_name(h->name, name, err);
    }
    return true;
}
