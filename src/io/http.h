/* http.h - an HTTP client on the loop.
 *
 *     HttpClient *client = http_client_new(loop, &err);         one for a loop: it keeps connections
 *     HttpRequest *r = http_start(client, &options, &err);      on_end comes later, exactly once
 *     http_client_free(client);
 *
 * libcurl's multi interface on libuv: any number of requests at once, none of them blocks. http and
 * https, HTTP/1.1 and 2; redirects within these two, never to another scheme; certificates are checked.
 * A proxy is used when the environment says so, and no `nets` are given. What the request was given for one host (credentials
 * in the URL, any header but accept, accept-language, accept-encoding, content-type and user-agent)
 * does not follow a redirect to another, another port or another scheme.
 *
 * Every request has limits: time to connect, time in all, bytes of the answer after unpacking, 256 KB
 * of headers. What goes over one ends with a sentence, as does everything else that can go wrong; a
 * status such as 404 is an answer. 512 are under way at once; others wait, and their time counts.
 *
 * Callbacks come on the loop's thread, never from inside http_start(). All that they are given is
 * lent.
 */
#ifndef PAWL_HTTP_H
#define PAWL_HTTP_H

#include "buf.h"
#include "error.h"
#include "net_policy.h"

#include <stdint.h>
#include <uv.h>

typedef struct HttpClient HttpClient;
typedef struct HttpRequest HttpRequest;

typedef enum HttpEnd {
    HTTP_ANSWERED,  /* there is a status, whatever it says */
    HTTP_REFUSED,   /* the request itself: a bad URL, a scheme that is not allowed */
    HTTP_UNREACHED, /* no such host, nobody listens, the connection broke, redirects without end */
    HTTP_TIMEOUT,
    HTTP_TOO_LARGE,     /* the answer is longer than max_response */
    HTTP_INSECURE_PEER, /* the certificate does not hold */
    HTTP_FORBIDDEN,     /* its address is none that `nets` allow */
} HttpEnd;

typedef struct HttpHeader {
    const char *name, *value;
} HttpHeader;

typedef struct HttpAnswer {
    HttpEnd end;
    int status;                /* 0 unless answered */
    const HttpHeader *headers; /* of the last answer; names in lower case */
    size_t nheaders;
    Buf body;                  /* what was read of it; empty when on_body took it */
    const char *url;           /* that answered, after redirects; without user and password */
    const char *message;       /* a finished sentence when it was not answered; "" otherwise */
    bool unsent;               /* no connection came about, so nothing was asked of anybody */
    int64_t started, finished; /* milliseconds since 1970 */
} HttpAnswer;

/* All of it is copied, or used before http_start() returns, but for ctx. */
typedef struct HttpOptions {
    const char *method; /* NULL: GET, or POST when there is a body */
    const char *url;
    const HttpHeader *headers;
    size_t nheaders;
    const char *body; /* NULL: none */
    size_t body_len;
    uint64_t timeout_ms;         /* in all; 0: 30 s */
    uint64_t connect_timeout_ms; /* 0: 10 s, or all of it when that is less */
    size_t max_response;         /* bytes; 0: 16 MB */
    int max_redirects;           /* 0: none are followed */
    bool insecure;               /* certificates are not checked */
    const char *ca_file;         /* instead of the system's; NULL: those */
    const char *ca;              /* what it holds; NULL: it is opened by its name */
    size_t ca_len;
    /* Each of them has to allow an address before it is connected to, of redirects too. They are borrowed until the
     * request ends, and what would hide the address, a proxy, is not used. */
    const NetPolicy *const *nets;
    size_t nnets;
    /* The answer as it comes, instead of being kept: for streams. status is known by then. False ends
     * the request (HTTP_ANSWERED). Requests may be started and cancelled in it. NULL: it is kept in
     * the answer. */
    bool (*on_body)(void *ctx, int status, const char *bytes, size_t len);
    void (*on_end)(void *ctx, const HttpAnswer *answer);
    void *ctx;
} HttpOptions;

HttpClient *http_client_new(uv_loop_t *loop, Error *err);
/* Requests that are under way end without on_end. The loop has to run once more to close its handles.
 * In a callback too. Accepts NULL. */
void http_client_free(HttpClient *client);

/* The bytes of answers that are held at once, until on_end has them: past this one request alone goes on, the one that
 * has the most, and the others wait for room. 0: 256 MB. And how many are held now. */
void http_client_hold(HttpClient *client, size_t bytes);
size_t http_client_held(const HttpClient *client);

/* The URL is looked at when the request is made: what is wrong with it comes through on_end. NULL only
 * when there is no way to ask at all. */
HttpRequest *http_start(HttpClient *client, const HttpOptions *options, Error *err);
/* Ends it without on_end; not from its own on_end. Accepts NULL. */
void http_cancel(HttpRequest *request);

/* The value of a header of the answer, NULL when there is none; name in lower case. */
const char *http_header(const HttpAnswer *answer, const char *name);

#endif
