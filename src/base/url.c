#define _GNU_SOURCE
#include "url.h"

#include "mem.h"
#include "path.h"

#include <string.h>
#include <strings.h>

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

/* ---- names in files that were fetched ---- */

bool url_is_web(const char *text) {
    return !strncasecmp(text, "http://", 7) || !strncasecmp(text, "https://", 8);
}

bool url_is_other(const char *text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t scheme = strspn(text, letters);
    return scheme && !strncmp(text + scheme, "://", 3) && !url_is_web(text);
}

void url_join(Buf *out, const char *base, const char *name) {
    if (url_is_web(name)) {
        buf_adds(out, name);
        return;
    }
    const char *authority = strstr(base, "://") + 3;
    const char *path = authority + strcspn(authority, "/?#");
    size_t len = strcspn(path, "?#");
    const char *slash = name[0] == '/' || !len ? NULL : memrchr(path, '/', len);
    Buf whole = BUF_INIT;
    if (slash) buf_add(&whole, path, (size_t)(slash - path));
    buf_printf(&whole, "%s%s", name[0] == '/' ? "" : "/", name);
    size_t query = strcspn(whole.data, "?#");
    char *tidy = mem_strndup(whole.data, query);
    path_tidy(tidy);
    buf_add(out, base, (size_t)(path - base));
    buf_adds(out, tidy);
    buf_add(out, whole.data + query, whole.len - query);
    mem_free(tidy);
    buf_clear(&whole);
}

/* ---- secrets ---- */

size_t url_secret(const char *url, size_t len, size_t *from) {
    const char *slashes = memmem(url, len, "://", 3);
    const char *authority = slashes ? slashes + 3 : url;
    while (slashes && authority < url + len && *authority == '/') authority++; /* one too many */
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
        buf_add(out, text, head + from);
        if (secret) buf_adds(out, "***@");
        buf_add(out, slashes + from + secret, url - from - secret);
        text += head + url;
        len -= head + url;
    }
    buf_add(out, text, len);
}
