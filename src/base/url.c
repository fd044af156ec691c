#define _GNU_SOURCE
#include "url.h"

#include <stdbool.h>
#include <string.h>

enum { PORT_DIGITS = 5 };

static size_t until(const char *text, size_t len, const char *ends) {
    size_t n = 0;
    while (n < len && !strchr(ends, text[n])) n++; /* a NUL ends it, too */
    return n;
}

/* Whether what stands between the slashes and the path could be a host with its port. */
static bool has_port(const char *authority, size_t len) {
    const char *colon = len ? memrchr(authority, ':', len) : NULL;
    size_t port = colon ? (size_t)(authority + len - colon) - 1 : 0;
    for (size_t i = 1; i <= port; i++) {
        if (colon[i] < '0' || colon[i] > '9')
            return authority[0] == '[' && authority[len - 1] == ']';
    }
    return port <= PORT_DIGITS;
}

size_t url_secret(const char *url, size_t len, size_t *from) {
    const char *slashes = memmem(url, len, "://", 3);
    const char *authority = slashes ? slashes + 3 : url;
    size_t left = (size_t)(url + len - authority), host = until(authority, left, "/?#");
    if (has_port(authority, host)) left = host;
    const char *at = memrchr(authority, '@', host);
    if (!at) at = memrchr(authority, '@', left);
    *from = (size_t)(authority - url);
    return at ? (size_t)(at - authority) + 1 : 0;
}

void url_hide(Buf *out, const char *text, size_t len) {
    for (const char *slashes; len && (slashes = memmem(text, len, "://", 3));) {
        size_t head = (size_t)(slashes - text), from;
        size_t url = 3 + until(slashes + 3, len - head - 3, " \t\r\n\"'<>`\\");
        size_t secret = url_secret(slashes, url, &from);
        buf_add(out, text, head + 3);
        if (secret) buf_adds(out, "***@");
        buf_add(out, slashes + 3 + secret, url - 3 - secret);
        text += head + url;
        len -= head + url;
    }
    buf_add(out, text, len);
}
