#include "page.h"

#include "ascii.h"
#include "mem.h"
#include "server_inside.h"

#include <string.h>

#define INDEX "/index.html"

static const char policy[] =
    "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "font-src 'self'; style-src 'self' 'unsafe-inline'; manifest-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'";

static const char without[] =
    "This program was built without its page (-Dweb=disabled). The API is under /api/v1.\n";

/* ---- which file ---- */

static const PageFile *find_file(const char *path, size_t len) {
    for (const PageFile *f = page_files; f->path; f++) {
        if (strlen(f->path) == len && !memcmp(f->path, path, len)) return f;
    }
    return NULL;
}

bool page_is_view(const char *path, size_t len) {
    static const char *const views[] = {"/runs", "/debug", "/workflows", "/compare", "/sign-in"};
    if (len == 1) return path[0] == '/';
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        size_t n = strlen(views[i]);
        if (len >= n && !memcmp(path, views[i], n) && (len == n || path[n] == '/')) return true;
    }
    return false;
}

/* ---- as what ---- */

static size_t skip_blanks(const char *s) {
    return strspn(s, " \t");
}

/* Whether the parameters behind a coding, up to the next comma, say that it is not wanted: "q=0", "q=0.000". */
static bool is_declined(const char *s) {
    while (*s && *s != ',') {
        if (*s == ';') {
            s += 1 + skip_blanks(s + 1);
            if ((*s == 'q' || *s == 'Q') && s[1] == '=') {
                s += 2;
                size_t n = strspn(s, "0.");
                return n && (!s[n] || strchr(",; \t", s[n]));
            }
        } else {
            s++;
        }
    }
    return false;
}

bool page_takes_gzip(const char *accept_encoding) {
    const char *s = accept_encoding;
    while (s && *s) {
        s += skip_blanks(s);
        size_t n = strcspn(s, ",; \t");
        bool named = n == 4 && ascii_lower(s[0]) == 'g' && ascii_lower(s[1]) == 'z' &&
                     ascii_lower(s[2]) == 'i' && ascii_lower(s[3]) == 'p';
        if (named) return !is_declined(s + n);
        s += strcspn(s, ",");
        if (*s) s++;
    }
    return false;
}

/* ---- answers ---- */

static void finish(Exchange *x, const WebAnswer *answer, const void *bytes, size_t len) {
    WebRequest *r = x->request;
    x->asked = true;
    exchange_note(x, answer->status);
    web_request_set_data(r, NULL);
    web_answer_static(r, answer, bytes, len);
    x->request = NULL;
    exchange_free(x);
}

static void give(Exchange *x, const PageFile *f, int status) {
    const char *has = web_header(x->request, "if-none-match");
    bool known = status == 200 && has && strstr(has, f->etag);
    bool gzip = f->gzip_len && page_takes_gzip(web_header(x->request, "accept-encoding"));
    bool hashed = !strncmp(f->path, "/assets/", 8), html = !strcmp(f->path, INDEX);
    WebField fields[10];
    size_t n = 0;
    fields[n++] = (WebField){"X-Content-Type-Options", "nosniff"};
    fields[n++] =
        (WebField){"Cache-Control", hashed ? "public, max-age=31536000, immutable" : "no-cache"};
    fields[n++] = (WebField){"ETag", f->etag};
    fields[n++] = (WebField){"Vary", "Accept-Encoding"};
    fields[n++] = (WebField){"Cross-Origin-Resource-Policy", "same-origin"};
    if (html || hashed) fields[n++] = (WebField){"Content-Security-Policy", policy};
    if (html) {
        fields[n++] = (WebField){"Referrer-Policy", "no-referrer"};
        fields[n++] = (WebField){"Cross-Origin-Opener-Policy", "same-origin"};
    }
    if (gzip && !known) fields[n++] = (WebField){"Content-Encoding", "gzip"};
    fields[n] = (WebField){NULL, NULL};
    WebAnswer answer = {
        .status = known ? 304 : status, .type = known ? NULL : f->type, .fields = fields};
    finish(x, &answer, page_bytes + (gzip ? f->gzip_at : f->at),
           known  ? 0
           : gzip ? f->gzip_len
                  : f->len);
}

/* A person with a browser who came to a path that there is not is shown the page, which says so. */
static bool wants_html(const Exchange *x) {
    const char *accept = web_header(x->request, "accept");
    return accept && strstr(accept, "text/html");
}

bool page_answer(Exchange *x, const char *path, size_t len) {
    const char *method = web_method(x->request);
    const PageFile *file = find_file(path, len), *index = find_file(INDEX, strlen(INDEX));
    bool view = page_is_view(path, len), reads = !strcmp(method, "GET") || !strcmp(method, "HEAD");
    if (!file && !view && !(index && reads && wants_html(x))) return false;
    if (!reads) {
        strcpy(x->match.allowed, "GET, HEAD");
        return false;
    }
    if (file || index) {
        give(x, file ? file : index, file || view ? 200 : 404);
    } else {
        finish(x, &(WebAnswer){.status = 404, .type = "text/plain; charset=utf-8"}, without,
               strlen(without));
    }
    return true;
}
