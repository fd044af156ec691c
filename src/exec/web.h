/* web.h - what nodes that ask over HTTP have in common: a request put together from JSON, and an answer
 * taken apart.
 *
 *     WebRequest request = {0};
 *     web_set_url(&request, url, len, &err) && web_add_header(...) && web_set_body(...)
 *     HttpOptions options = web_options(&request);        lends what is in the request
 *     web_clear(&request);
 */
#ifndef PAWL_WEB_H
#define PAWL_WEB_H

#include "http.h"
#include "step.h"

enum {
    WEB_RESPONSE_MAX = 256 << 20, /* what a node may ask for */
    WEB_EXCERPT_MAX = 2048,       /* bytes of a body in an error */
};

typedef struct WebRequest {
    char *url;
    const char *method; /* not owned; NULL: http.h decides */
    HttpHeader *headers;
    size_t nheaders, cap;
    Buf body;
    bool has_body;
} WebRequest;

void web_clear(WebRequest *request);

/* These fail, with ERR_USAGE, when something cannot be said over HTTP. */
bool web_set_url(WebRequest *request, const char *url, size_t len, Error *err);
/* A string as it is, the rest as JSON; null leaves the header out. */
bool web_add_header(WebRequest *request, Json name, Json value, Error *err);
/* The same; null is no body. After the headers: JSON is said to be JSON unless they say otherwise. */
void web_set_body(WebRequest *request, Json value);

/* A value as JSON, a text too; null is no body. And bytes as they are. Both are said to be JSON unless headers say otherwise. */
void web_set_json_body(WebRequest *request, Json value);
void web_set_raw_body(WebRequest *request, const char *bytes, size_t len);

HttpOptions web_options(const WebRequest *request);

/* The word for PARAM_ENUM of methods: a C string that lives as long as the program; NULL when none is
 * given. */
const char *web_method_given(const Param *param);

/* Names in lower case; what comes several times is joined by ", ", set-cookie by newlines. */
Json web_headers(const HttpAnswer *answer);
/* Whether a list of statuses, as PARAM_STATUSES has it, holds one. */
bool web_lists_status(Json list, int status);
bool web_says_json(const HttpAnswer *answer);
Json web_text(const HttpAnswer *answer); /* the body */
/* For errors: {status, headers, body}, with the start of the body. */
Json web_details(const HttpAnswer *answer);
/* The kind of error that an end without an answer is: "timeout", "connect", "limit", "tls", "url". */
const char *web_error_kind(const HttpAnswer *answer);

/* "GET http://host/path 200, 12 bytes, 3 ms": the URL without its query, which may hold secrets. */
void web_line(const char *method, const HttpAnswer *answer, Buf *out);

#endif
