#include "web.h"

#include "json_build.h"
#include "json_print.h"
#include "mem.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdint.h>
#include <strings.h>

/* ---- requests ---- */

void web_clear(WebRequest *request) {
    for (size_t i = 0; i < request->nheaders; i++) {
        mem_free((char *)(uintptr_t)request->headers[i].name);
        mem_free((char *)(uintptr_t)request->headers[i].value);
    }
    mem_free(request->headers);
    mem_free(request->url);
    buf_clear(&request->body);
    *request = (WebRequest){0};
}

static bool has_nul(const char *text, size_t len) {
    return len && memchr(text, '\0', len);
}

bool web_set_url(WebRequest *request, const char *url, size_t len, Error *err) {
    if (has_nul(url, len)) {
        return error_set(err, ERR_USAGE, "url holds a NUL character. Take it out.");
    }
    mem_free(request->url);
    request->url = mem_strndup(len ? url : "", len);
    return true;
}

static void add_text(Buf *out, Json value) {
    if (json_kind(value) == JSON_STRING) {
        buf_add(out, json_string_data(&value), json_string_len(value));
    } else {
        json_print(value, NULL, out);
    }
}

static void push_header(WebRequest *request, char *name, char *value) {
    request->headers =
        mem_grow(request->headers, request->nheaders, &request->cap, sizeof *request->headers);
    request->headers[request->nheaders++] = (HttpHeader){name, value};
}

bool web_add_header(WebRequest *request, Json name, Json value, Error *err) {
    Buf text = BUF_INIT;
    const char *s = json_string_data(&name);
    size_t len = json_string_len(name);
    if (json_kind(value) == JSON_NULL) return true;
    add_text(&text, value);
    if (has_nul(text.data, text.len) || has_nul(s, len)) {
        buf_clear(&text);
        return error_set(err, ERR_USAGE, "headers.%.*s holds a NUL character. Take it out.",
                         (int)(len < 100 ? len : 100), s);
    }
    buf_reserve(&text, 1)[0] = '\0';
    push_header(request, mem_strndup(s, len), buf_detach(&text));
    return true;
}

static void say_json(WebRequest *request) {
    bool has_type = false;
    for (size_t i = 0; i < request->nheaders && !has_type; i++) {
        has_type = !strcasecmp(request->headers[i].name, "content-type");
    }
    if (!has_type) {
        push_header(request, mem_strndup("content-type", 12), mem_strndup("application/json", 16));
    }
}

void web_set_body(WebRequest *request, Json value) {
    if (json_kind(value) == JSON_NULL) return;
    request->has_body = true;
    add_text(&request->body, value);
    if (json_kind(value) != JSON_STRING) say_json(request);
}

void web_set_json_body(WebRequest *request, Json value) {
    if (json_kind(value) == JSON_NULL) return;
    request->has_body = true;
    json_print(value, NULL, &request->body);
    say_json(request);
}

void web_set_raw_body(WebRequest *request, const char *bytes, size_t len) {
    request->has_body = true;
    buf_add(&request->body, bytes, len);
    say_json(request);
}

HttpOptions web_options(const WebRequest *request) {
    return (HttpOptions){
        .method = request->method,
        .url = request->url ? request->url : "",
        .headers = request->headers,
        .nheaders = request->nheaders,
        .body = !request->has_body   ? NULL
                : request->body.data ? request->body.data
                                     : "",
        .body_len = request->body.len,
    };
}

const char *web_method_given(const Param *param) {
    static const char *const methods[] = {"GET",    "POST", "PUT",     "PATCH",
                                          "DELETE", "HEAD", "OPTIONS", NULL};
    for (const char *const *method = methods; *method; method++) {
        if (json_string_is(param->value, *method)) return *method;
    }
    return NULL;
}

/* ---- answers ---- */

bool web_lists_status(Json list, int status) {
    for (size_t i = 0; i < json_array_len(list); i++) {
        if (json_to_double(json_array_get(list, i)) == status) return true;
    }
    return false;
}

Json web_headers(const HttpAnswer *answer) {
    Json headers = json_object();
    for (size_t i = 0; i < answer->nheaders; i++) {
        const HttpHeader *header = &answer->headers[i];
        Json name = json_string_c(header->name), before = json_object_get(headers, name);
        Json value = json_string_c(json_is_none(before) ? header->value : "");
        if (!json_is_none(before)) {
            const char *between = json_string_is(name, "set-cookie") ? "\n" : ", ";
            value = json_string_append(json_ref(before), between, strlen(between));
            value = json_string_append(value, header->value, strlen(header->value));
        }
        headers = json_object_set(headers, name, value);
    }
    return headers;
}

static bool ends_with(const char *text, size_t len, const char *end) {
    size_t n = strlen(end);
    return len >= n && !strncasecmp(text + len - n, end, n);
}

bool web_says_json(const HttpAnswer *answer) {
    const char *type = http_header(answer, "content-type");
    size_t len = type ? strcspn(type, "; \t") : 0;
    return ends_with(type, len, "/json") || ends_with(type, len, "+json");
}

Json web_text(const HttpAnswer *answer) {
    return json_string(answer->body.data ? answer->body.data : "", answer->body.len);
}

/* The excerpt does not end inside a character. */
Json web_details(const HttpAnswer *answer) {
    const Buf *body = &answer->body;
    size_t len = body->len < WEB_EXCERPT_MAX ? body->len : WEB_EXCERPT_MAX;
    while (len < body->len && len > WEB_EXCERPT_MAX - 3 &&
           ((unsigned char)body->data[len] & 0xC0) == 0x80) {
        len--;
    }
    return OBJECT(KEY("status", json_int(answer->status)), KEY("headers", web_headers(answer)),
                  KEY("body", json_string(body->data ? body->data : "", len)));
}

const char *web_error_kind(const HttpAnswer *answer) {
    static const char *const words[] = {
        [HTTP_ANSWERED] = "http",   [HTTP_REFUSED] = "url",     [HTTP_UNREACHED] = "connect",
        [HTTP_TIMEOUT] = "timeout", [HTTP_TOO_LARGE] = "limit", [HTTP_INSECURE_PEER] = "tls",
        [HTTP_FORBIDDEN] = "net",
    };
    return words[answer->end];
}

void web_line(const char *method, const HttpAnswer *answer, Buf *out) {
    size_t len = strcspn(answer->url, "?#");
    buf_printf(out, "%s %.*s%s ", method, (int)len, answer->url, answer->url[len] ? "?..." : "");
    if (answer->end == HTTP_ANSWERED) {
        buf_printf(out, "%d, %zu bytes", answer->status, answer->body.len);
    } else {
        buf_printf(out, "failed (%s)", web_error_kind(answer));
    }
    buf_printf(out, ", %" PRId64 " ms", answer->finished - answer->started);
}
