/* http_failure.h - what libcurl's reasons mean to people: how a request ended, and a sentence.
 *
 *     HttpEnd end = http_failure(&failed, &message);
 */
#ifndef PAWL_HTTP_FAILURE_H
#define PAWL_HTTP_FAILURE_H

#include "http.h"

#include <curl/curl.h>

/* All of it is borrowed. */
typedef struct HttpFailed {
    CURLcode code;
    CURL *easy;
    const char *reason;  /* libcurl's own words; "" when it has none */
    const char *host;    /* for sentences */
    const char *ca_file; /* NULL: the system's */
    uint64_t total_ms, connect_ms;
} HttpFailed;

/* Appends the sentence. Never HTTP_ANSWERED: the code is not CURLE_OK. */
HttpEnd http_failure(const HttpFailed *failed, Buf *message);

#endif
