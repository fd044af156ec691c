/* How the three fit together:
 *
 *     libcurl says which sockets it wants to hear of (on_socket_wanted) and when it wants to be woken
 *     (on_timer_wanted); libuv watches both and calls drive(), which lets libcurl work and then looks
 *     what has ended (settle). Nothing that the caller gave is called while libcurl works, on_body
 *     excepted: what the caller asks for in there waits until libcurl has returned.
 *
 * A request is in one of three lists of its client: `under_way` (libcurl has it), `queued` while there
 * are as many of those as there may be, or `waiting`, for the next settle() to add it, to refuse it or
 * to let it go. libcurl has a queue of its own, in which time does not count; so we do not use it.
 *
 * Redirects are followed here and not by libcurl, for three reasons: the scheme of the next URL is
 * looked at before anything else is done with it; what we were given for one host (keys in headers of
 * any name) is left behind when the next one is another; and the limits hold for all of them
 * together.
 *
 * Where a request may go is looked at twice: before a socket is made for an address that a name came to, and before a
 * request is sent, since a connection may be one that another request, with other rules, has left. */
#define _GNU_SOURCE
#include "http.h"

#include "http_failure.h"
#include "mem.h"
#include "url.h"

#include <arpa/inet.h>
#include <assert.h>
#include <curl/curl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

enum {
    TIMEOUT_MS = 30000,
    CONNECT_TIMEOUT_MS = 10000,
    RESPONSE_MAX = 16 << 20,
    HELD_MAX = 256 << 20,      /* bytes of answers that a client holds at once */
    HEADERS_MAX = 256 << 10,   /* bytes of the headers of one answer, interim ones included */
    REQUESTS_MAX = 512,        /* under way at once; the others queue */
    QUEUE_LOOK_MS = 200,       /* how often it is looked at whose time is up in the queue */
    CONNECTIONS_KEPT_MAX = 64, /* idle, for the next request to the same host */
    URL_SHOWN_MAX = 200,       /* bytes of a URL in a sentence */
    MESSAGE_MAX = 1024,
};

typedef enum Waiting {
    WAITS_TO_BEGIN,
    WAITS_TO_END, /* it was refused: end and message are set */
    WAITS_TO_GO,  /* it was cancelled */
} Waiting;

typedef struct List {
    HttpRequest *first, *last;
    size_t n;
} List;

struct HttpRequest {
    HttpClient *client;
    HttpRequest *prev, *next;
    List *list;
    Waiting waits; /* while in the list of those that wait */
    CURL *easy;
    HttpOptions options; /* its pointers are the caller's, except those below */
    char *method, *url, *body, *ca_file;
    char *origin; /* scheme, host and port of url */
    char *host;   /* for sentences: with the port where it is not the usual one */
    char *name;   /* the host alone */
    const NetPolicy **nets;
    bool forbidden; /* an address, by `forbids`: that was the last that was tried */
    const NetPolicy *forbids;
    char address[INET6_ADDRSTRLEN];   /* that one */
    struct curl_slist *sent, *abroad; /* headers, and those that may go to another host as well */
    bool is_abroad;                   /* sent elsewhere by a redirect: `abroad` it is */
    int redirects;
    uint64_t began; /* uv_hrtime() */
    /* the answer */
    HttpAnswer answer;
    HttpHeader *headers;
    size_t headers_cap, header_bytes;
    size_t received; /* of the body */
    size_t held;     /* of it, in answer.body */
    bool paused;     /* there is no room for more of it now */
    bool in_body;    /* what looks like a header now is a trailer */
    bool stopped;    /* on_body has had enough */
    bool failed;     /* answer.end and message say why; libcurl's own reason follows from it */
    char message[MESSAGE_MAX];
    char reason[CURL_ERROR_SIZE]; /* libcurl's */
};

struct HttpClient {
    uv_loop_t *loop;
    CURLM *multi;
    uv_timer_t timer;
    int64_t wake_at; /* that libcurl wants, by monotonic_ms(); -1: not at all */
    List under_way, queued, waiting;
    uint64_t queue_seen;   /* uv_hrtime() of the last look at it */
    size_t held, held_max; /* bytes of answers that have not been given to anybody yet */
    size_t paused;         /* requests that wait for room */
    bool inside_curl, settling;
    bool closing;
};

typedef struct Socket {
    uv_poll_t poll;
    curl_socket_t fd;
    HttpClient *client;
} Socket;

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t monotonic_ms(void) {
    return (int64_t)(uv_hrtime() / 1000000);
}

static char *copy(const char *s) {
    return s ? mem_strndup(s, strlen(s)) : NULL;
}

static char *print_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char *print_text(const char *fmt, ...) {
    Buf text = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    return buf_detach(&text);
}

/* ---- the lists ---- */

static void unlink_request(HttpRequest *r) {
    if (!r->list) return;
    *(r->prev ? &r->prev->next : &r->list->first) = r->next;
    *(r->next ? &r->next->prev : &r->list->last) = r->prev;
    r->list->n--;
    r->list = NULL;
}

static void link_request(HttpRequest *r, List *list) {
    unlink_request(r);
    r->prev = list->last;
    r->next = NULL;
    *(r->prev ? &r->prev->next : &list->first) = r;
    list->last = r;
    list->n++;
    r->list = list;
}

static void rearm(HttpClient *client);

static void wait_to(HttpRequest *r, Waiting what) {
    r->waits = what;
    link_request(r, &r->client->waiting);
    rearm(r->client);
}

/* ---- why it fails ---- */

static void set_end(HttpRequest *r, HttpEnd end, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void set_end(HttpRequest *r, HttpEnd end, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->message, sizeof r->message, fmt, args);
    va_end(args);
    r->answer.end = end;
    r->failed = true;
}

static uint64_t total_ms(const HttpRequest *r) {
    uint64_t ms = r->options.timeout_ms ? r->options.timeout_ms : TIMEOUT_MS;
    return ms < INT_MAX ? ms : INT_MAX;
}

static uint64_t connect_ms(const HttpRequest *r) {
    uint64_t ms = r->options.connect_timeout_ms;
    ms = ms ? ms : CONNECT_TIMEOUT_MS;
    return ms < total_ms(r) ? ms : total_ms(r);
}

static uint64_t elapsed_ms(const HttpRequest *r) {
    return (uv_hrtime() - r->began) / 1000000;
}

/* ---- the URL ---- */

/* A URL that may be no URL, for people. */
static char *shown_url(const char *url) {
    size_t from, secret = url_secret(url, strlen(url), &from);
    const char *rest = url + from + secret;
    return print_text("%.*s%.*s%s", (int)from, url, URL_SHOWN_MAX, rest,
                      strlen(rest) > URL_SHOWN_MAX ? "..." : "");
}

/* A part of it, for curl_free(); NULL when it is not there. */
static char *url_part(CURLU *url, CURLUPart part) {
    char *text = NULL;
    return curl_url_get(url, part, &text, 0) == CURLUE_OK ? text : NULL;
}

/* Where the request goes: its origin, its host for sentences, and its URL, to show without the user, the
 * password and the fragment. */
static void take_url(HttpRequest *r, CURLU *url) {
    char *scheme = url_part(url, CURLUPART_SCHEME), *host = url_part(url, CURLUPART_HOST);
    char *port = url_part(url, CURLUPART_PORT), *whole = url_part(url, CURLUPART_URL);
    char *usual = NULL;
    curl_url_get(url, CURLUPART_PORT, &usual, CURLU_DEFAULT_PORT);
    curl_easy_setopt(r->easy, CURLOPT_URL, whole);
    curl_url_set(url, CURLUPART_USER, NULL, 0);
    curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
    curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0);
    char *bare = url_part(url, CURLUPART_URL);
    char *origin = print_text("%s://%s:%s", scheme, host, usual);
    r->is_abroad = r->is_abroad || (r->origin && strcasecmp(r->origin, origin));
    mem_free(r->origin);
    mem_free(r->host);
    mem_free(r->name);
    mem_free(r->url);
    r->name = copy(host);
    r->origin = origin;
    r->host = print_text("%s%s%s", host, port ? ":" : "", port ? port : "");
    r->url = copy(bare);
    char *parts[] = {scheme, host, port, whole, usual, bare};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) curl_free(parts[i]);
}

/* False when it was refused. */
static bool set_url(HttpRequest *r, const char *text) {
    CURLU *url = curl_url();
    CURLUcode code = curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME);
    char *scheme = code == CURLUE_OK ? url_part(url, CURLUPART_SCHEME) : NULL;
    char *host = code == CURLUE_OK ? url_part(url, CURLUPART_HOST) : NULL;
    bool web = scheme && (!strcasecmp(scheme, "http") || !strcasecmp(scheme, "https"));
    bool odd =
        code == CURLUE_MALFORMED_INPUT || code == CURLUE_BAD_PATH || code == CURLUE_BAD_QUERY;
    const char *why =
        code == CURLUE_BAD_SCHEME ? "it has to begin with http:// or https://"
        : odd ? "it holds a character that a URL cannot; write parts that vary with @uri"
        : code != CURLUE_OK ? curl_url_strerror(code)
        : !web              ? "it is neither http nor https"
        : !host             ? "it names no host"
                            : NULL;
    char *shown = why ? shown_url(text) : NULL;
    if (!why) {
        take_url(r, url);
    } else if (r->redirects) {
        set_end(r, HTTP_REFUSED, "%s redirects to \"%s\", which cannot be asked: %s.", r->host,
                shown, why);
    } else {
        set_end(r, HTTP_REFUSED, "The URL \"%s\" cannot be asked: %s.", shown, why);
    }
    mem_free(shown);
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(url);
    return !why;
}

/* ---- what is sent ---- */

static bool is_token(const char *s) {
    static const char letters[] = "!#$%&'*+-.^_`|~0123456789"
                                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return *s && s[strspn(s, letters)] == '\0';
}

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names; names++) {
        if (!strcasecmp(name, *names)) return true;
    }
    return false;
}

static bool header_fits(HttpRequest *r, const HttpHeader *header) {
    static const char *const ours[] = {"content-length", "transfer-encoding", "connection", NULL};
    const char *at = header->value;
    while (*at && ((unsigned char)*at >= 0x20 || *at == '\t') && *at != 0x7F) at++;
    if (!is_token(header->name)) {
        set_end(r, HTTP_REFUSED, "\"%.100s\" cannot be the name of a header. Use letters and '-'.",
                header->name);
    } else if (*at) {
        set_end(r, HTTP_REFUSED,
                "The header %.100s holds a line break or another control character. Take it out.",
                header->name);
    } else if (is_one_of(header->name, ours)) {
        set_end(r, HTTP_REFUSED, "The header %.100s follows from the request. Leave it out.",
                header->name);
    }
    return !r->failed;
}

static void append(struct curl_slist **list, const char *line) {
    struct curl_slist *longer = curl_slist_append(*list, line);
    assert(longer);
    *list = longer;
}

static bool set_headers(HttpRequest *r) {
    static const char *const harmless[] = {"accept",       "accept-language", "accept-encoding",
                                           "content-type", "user-agent",      NULL};
    bool has_type = false;
    for (size_t i = 0; i < r->options.nheaders; i++) {
        const HttpHeader *h = &r->options.headers[i];
        if (!header_fits(r, h)) return false;
        /* "name;" is how libcurl is told of a header without a value. */
        char *line = print_text("%s%s%s", h->name, h->value[0] ? ": " : ";", h->value);
        append(&r->sent, line);
        if (is_one_of(h->name, harmless)) append(&r->abroad, line);
        has_type = has_type || !strcasecmp(h->name, "content-type");
        mem_free(line);
    }
    /* libcurl would say that a body is a form, and ask whether it may send it. */
    for (int i = 0; i < 2; i++) {
        append(i ? &r->abroad : &r->sent, "Expect:");
        if (!has_type) append(i ? &r->abroad : &r->sent, "Content-Type:");
    }
    return true;
}

static void set_method(HttpRequest *r) {
    static const char *const with_body[] = {"POST", "PUT", "PATCH", NULL};
    bool has_body = r->body || is_one_of(r->method, with_body);
    curl_easy_setopt(r->easy, CURLOPT_POSTFIELDS, NULL);
    curl_easy_setopt(r->easy, CURLOPT_HTTPGET, 1L);
    if (!strcmp(r->method, "HEAD")) {
        curl_easy_setopt(r->easy, CURLOPT_NOBODY, 1L);
    } else if (has_body) {
        curl_easy_setopt(r->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->options.body_len);
        curl_easy_setopt(r->easy, CURLOPT_POSTFIELDS, r->body ? r->body : "");
    }
    curl_easy_setopt(r->easy, CURLOPT_CUSTOMREQUEST, r->method);
}

/* ---- what comes back ---- */

static size_t response_max(const HttpRequest *r) {
    return r->options.max_response ? r->options.max_response : RESPONSE_MAX;
}

static int status_of(const HttpRequest *r) {
    long status = 0;
    curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

static bool redirects(const HttpRequest *r) {
    int status = status_of(r);
    return (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) &&
           r->options.max_redirects > 0 && http_header(&r->answer, "location");
}

static void clear_headers(HttpRequest *r) {
    for (size_t i = 0; i < r->answer.nheaders; i++) {
        mem_free((char *)(uintptr_t)r->headers[i].name);
        mem_free((char *)(uintptr_t)r->headers[i].value);
    }
    r->answer.nheaders = 0;
    r->in_body = false;
}

static void too_large(HttpRequest *r) {
    set_end(r, HTTP_TOO_LARGE,
            "The answer of %s is longer than %zu bytes, the most that is taken. Ask for less, or "
            "raise the limit.",
            r->host, response_max(r));
}

static void keep_header(HttpRequest *r, const char *line, size_t len) {
    const char *colon = memchr(line, ':', len);
    if (!colon || colon == line) return;
    const char *value = colon + 1, *end = line + len;
    while (value < end && (*value == ' ' || *value == '\t')) value++;
    char *name = mem_strndup(line, (size_t)(colon - line));
    for (char *c = name; *c; c++) {
        if (*c >= 'A' && *c <= 'Z') *c += 'a' - 'A';
    }
    r->headers = mem_grow(r->headers, r->answer.nheaders, &r->headers_cap, sizeof *r->headers);
    r->answer.headers = r->headers;
    r->headers[r->answer.nheaders++] =
        (HttpHeader){name, mem_strndup(value, (size_t)(end - value))};
}

/* 0: it ends here. */
static size_t on_header(char *line, size_t size, size_t n, void *ctx) {
    HttpRequest *r = ctx;
    size_t len = size * n;
    bool begins = len > 5 && !strncmp(line, "HTTP/", 5);
    r->header_bytes += len;
    if (r->header_bytes > HEADERS_MAX) {
        set_end(r, HTTP_TOO_LARGE,
                "%s sent more than %d KB of headers, which is more than is taken.", r->host,
                HEADERS_MAX >> 10);
        return 0;
    }
    if (r->in_body && !begins) return n; /* a trailer */
    while (len && line[len - 1] && strchr("\r\n \t", line[len - 1])) len--;
    if (begins) {
        clear_headers(r);
    } else if (len) {
        keep_header(r, line, len);
    } else {
        /* How long it is is said before the body comes, so that none of it has to. */
        const char *length = http_header(&r->answer, "content-length");
        bool comes = length && strcmp(r->method, "HEAD") && status_of(r) != 304;
        r->in_body = status_of(r) >= 200;
        if (r->in_body && comes && strtoull(length, NULL, 10) > response_max(r)) {
            too_large(r);
            return 0;
        }
    }
    return n;
}

/* Answers together are held to a bound. Past it only the request that has the most of it goes on: it comes to its end,
 * and makes room for the others. */
static bool has_room(const HttpRequest *r, size_t len) {
    const HttpClient *client = r->client;
    if (client->held + len <= client->held_max) return true;
    for (const HttpRequest *other = client->under_way.first; other; other = other->next) {
        if (other->held > r->held) return false;
    }
    return true;
}

static void set_paused(HttpRequest *r, bool paused) {
    r->client->paused += (size_t)paused - (size_t)r->paused;
    r->paused = paused;
}

static void resume_paused(HttpClient *client) {
    if (!client->paused || client->inside_curl) return;
    for (HttpRequest *r = client->under_way.first, *next; r; r = next) {
        next = r->next;
        if (!r->paused || !has_room(r, CURL_MAX_WRITE_SIZE)) continue;
        set_paused(r, false);
        client->inside_curl = true; /* it may give us what it has */
        curl_easy_pause(r->easy, CURLPAUSE_CONT);
        client->inside_curl = false;
    }
}

static size_t on_bytes(char *bytes, size_t size, size_t n, void *ctx) {
    HttpRequest *r = ctx;
    size_t len = size * n;
    if (len > response_max(r) - r->received) {
        too_large(r);
        return 0;
    }
    if (!r->options.on_body && !redirects(r)) {
        if (!has_room(r, len)) {
            set_paused(r, true);
            return CURL_WRITEFUNC_PAUSE;
        }
        r->held += len;
        r->client->held += len;
    }
    r->received += len;
    if (redirects(r)) return n;
    if (!r->options.on_body) {
        buf_add(&r->answer.body, bytes, len);
    } else if (r->waits != WAITS_TO_GO) {
        r->stopped = !r->options.on_body(r->options.ctx, status_of(r), bytes, len);
    }
    return r->stopped || r->waits == WAITS_TO_GO ? 0 : n;
}

/* ---- where it goes ---- */

static bool may_go_to(HttpRequest *r, const struct sockaddr *address) {
    const void *bytes = address->sa_family == AF_INET
                            ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
                            : (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr;
    r->forbidden = false;
    for (size_t i = 0; i < r->options.nnets && !r->forbidden; i++) {
        r->forbidden = !net_policy_allows(r->nets[i], r->name, address);
        r->forbids = r->nets[i];
    }
    if (r->forbidden && !inet_ntop(address->sa_family, bytes, r->address, sizeof r->address)) {
        snprintf(r->address, sizeof r->address, "of another kind");
    }
    return !r->forbidden;
}

/* Children that are started while we are connected do not get it. */
static curl_socket_t on_open(void *ctx, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    if (!may_go_to(ctx, &address->addr)) return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static int on_connected(void *ctx, char *ip, char *own_ip, int port, int own_port) {
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    bool is_four = inet_pton(AF_INET, ip, &four.sin_addr) == 1;
    (void)own_ip;
    (void)port;
    (void)own_port;
    /* One that cannot be read stays ::, which nobody allows but who allows all. */
    if (!is_four && inet_pton(AF_INET6, ip, &six.sin6_addr) != 1) six.sin6_addr = in6addr_any;
    const struct sockaddr *address =
        is_four ? (const struct sockaddr *)&four : (const struct sockaddr *)&six;
    return may_go_to(ctx, address) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

/* ---- one request ---- */

static void request_free(HttpRequest *r) {
    unlink_request(r);
    set_paused(r, false);
    r->client->held -= r->held;
    curl_easy_cleanup(r->easy);
    curl_slist_free_all(r->sent);
    curl_slist_free_all(r->abroad);
    clear_headers(r);
    mem_free(r->headers);
    buf_clear(&r->answer.body);
    mem_free(r->method);
    mem_free(r->url);
    mem_free(r->body);
    mem_free(r->ca_file);
    mem_free(r->origin);
    mem_free(r->host);
    mem_free(r->name);
    mem_free(r->nets);
    mem_free(r);
}

/* False when it was refused. */
static bool prepare(HttpRequest *r) {
    const char *method = r->options.method ? r->options.method : r->body ? "POST" : "GET";
    CURL *easy = r->easy;
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, r);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, r);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, r);
    if (r->options.nnets) {
        curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected);
        curl_easy_setopt(easy, CURLOPT_PREREQDATA, r);
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
    }
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, r->reason);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, r);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* a look-up of a name holds up nobody */
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "pawl");
    if (r->options.insecure) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (r->ca_file && r->options.ca) {
        struct curl_blob blob = {(void *)r->options.ca, r->options.ca_len, CURL_BLOB_COPY};
        curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
    } else if (r->ca_file) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, r->ca_file);
    }
    if (r->ca_file) curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    r->options.ca = NULL;
    r->method = copy(method);
    if (!is_token(method)) {
        set_end(r, HTTP_REFUSED, "\"%.100s\" is no method. Use one such as GET or POST.", method);
    }
    return !r->failed && set_headers(r) && set_url(r, r->options.url);
}

static void begin(HttpRequest *r) {
    HttpClient *client = r->client;
    if (client->under_way.n >= REQUESTS_MAX) {
        link_request(r, &client->queued);
        rearm(client);
        return;
    }
    uint64_t total = total_ms(r), gone = elapsed_ms(r);
    set_method(r);
    curl_easy_setopt(r->easy, CURLOPT_HTTPHEADER, r->is_abroad ? r->abroad : r->sent);
    curl_easy_setopt(r->easy, CURLOPT_TIMEOUT_MS, (long)(total > gone ? total - gone : 1));
    curl_easy_setopt(r->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms(r));
    link_request(r, &client->under_way);
    CURLMcode code = curl_multi_add_handle(client->multi, r->easy);
    if (code == CURLM_OK) return;
    set_end(r, HTTP_UNREACHED, "The request to %s cannot be started: %s.", r->host,
            curl_multi_strerror(code));
    wait_to(r, WAITS_TO_END);
}

static void admit(HttpClient *client) {
    while (client->queued.first && client->under_way.n < REQUESTS_MAX && !client->closing) {
        begin(client->queued.first);
    }
}

/* Those that forbid something. */
static void take_nets(HttpRequest *r) {
    size_t n = 0;
    if (r->options.nnets) r->nets = mem_alloc(r->options.nnets * sizeof *r->nets);
    for (size_t i = 0; i < r->options.nnets; i++) {
        if (!net_policy_is_any(r->options.nets[i])) r->nets[n++] = r->options.nets[i];
    }
    r->options.nnets = n;
    r->options.nets = NULL;
}

HttpRequest *http_start(HttpClient *client, const HttpOptions *options, Error *err) {
    assert(options->on_end && options->url && !client->closing);
    HttpRequest *r = mem_zalloc(sizeof *r);
    r->client = client;
    r->easy = curl_easy_init();
    r->options = *options;
    if (!options->body) r->options.body_len = 0;
    r->body = options->body ? mem_strndup(options->body, options->body_len) : NULL;
    r->ca_file = copy(options->ca_file);
    take_nets(r);
    r->url = shown_url(options->url);
    r->host = copy("the server");
    r->began = uv_hrtime();
    r->answer.started = now_ms();
    if (!r->easy) {
        request_free(r);
        error_set(err, ERR_IO, "There is no room for another HTTP request.");
        return NULL;
    }
    if (!prepare(r)) {
        wait_to(r, WAITS_TO_END);
    } else if (client->inside_curl) {
        wait_to(r, WAITS_TO_BEGIN);
    } else {
        begin(r);
    }
    r->options.url = NULL;
    r->options.headers = NULL;
    return r;
}

static void let_go(HttpRequest *r) {
    curl_multi_remove_handle(r->client->multi, r->easy);
    request_free(r);
}

void http_cancel(HttpRequest *r) {
    if (!r || !r->list) return;
    if (r->client->inside_curl) {
        wait_to(r, WAITS_TO_GO);
    } else {
        HttpClient *client = r->client;
        let_go(r);
        if (!client->settling) {
            admit(client);
            resume_paused(client);
        }
    }
}

/* ---- how it ends ---- */

/* It is in no list while on_end has it, which is how http_cancel() knows. */
static void finish(HttpRequest *r) {
    HttpAnswer *answer = &r->answer;
    curl_multi_remove_handle(r->client->multi, r->easy);
    unlink_request(r);
    if (!r->failed) {
        answer->end = HTTP_ANSWERED;
        answer->status = status_of(r);
    }
    answer->url = r->url;
    answer->message = r->message;
    answer->finished = now_ms();
    r->options.on_end(r->options.ctx, answer);
    request_free(r);
}

/* False when it has to end instead. */
static bool follow(HttpRequest *r) {
    int status = status_of(r);
    char *next = NULL;
    curl_easy_getinfo(r->easy, CURLINFO_REDIRECT_URL, &next);
    char *url = copy(next ? next : http_header(&r->answer, "location"));
    curl_multi_remove_handle(r->client->multi, r->easy);
    if ((status == 303 && strcmp(r->method, "HEAD")) ||
        ((status == 301 || status == 302) && !strcmp(r->method, "POST"))) {
        mem_free(r->method);
        mem_free(r->body);
        r->method = copy("GET");
        r->body = NULL;
        r->options.body_len = 0;
    }
    if (r->redirects++ >= r->options.max_redirects) {
        set_end(r, HTTP_UNREACHED,
                "%s redirects once more after %d redirects, which is the limit. Check the URL.",
                r->host, r->options.max_redirects);
    }
    bool goes_on = !r->failed && set_url(r, url);
    mem_free(url);
    if (!goes_on) return false;
    clear_headers(r);
    r->header_bytes = 0;
    r->reason[0] = '\0';
    unlink_request(r);
    begin(r);
    return true;
}

static void on_done(HttpRequest *r, CURLcode code) {
    bool connected = code != CURLE_COULDNT_CONNECT && code != CURLE_ABORTED_BY_CALLBACK;
    if (r->forbidden && !connected && !r->failed) {
        set_end(r, HTTP_FORBIDDEN,
                "%s is not asked: its address, %s, is none that requests may go to here (%s).",
                r->host, r->address, net_policy_text(r->forbids));
    }
    if (code != CURLE_OK && !r->failed && !r->stopped) {
        HttpFailed failed = {.code = code,
                             .easy = r->easy,
                             .reason = r->reason,
                             .host = r->host,
                             .ca_file = r->ca_file,
                             .total_ms = total_ms(r),
                             .connect_ms = connect_ms(r)};
        Buf message = BUF_INIT;
        HttpEnd end = http_failure(&failed, &message);
        set_end(r, end, "%s", message.data);
        r->answer.unsent = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
                           code == CURLE_COULDNT_RESOLVE_PROXY;
        buf_clear(&message);
    }
    if (!r->failed && !r->stopped && redirects(r) && follow(r)) return;
    finish(r);
}

static void close_client(HttpClient *client);

static void settle(HttpClient *client) {
    CURLMsg *message;
    int left;
    client->settling = true;
    /* No more than wait now: what on_end asks for has its turn in the next. */
    for (size_t n = client->waiting.n; n && client->waiting.first && !client->closing; n--) {
        HttpRequest *r = client->waiting.first;
        (r->waits == WAITS_TO_BEGIN ? begin : r->waits == WAITS_TO_GO ? let_go : finish)(r);
    }
    while (!client->closing && (message = curl_multi_info_read(client->multi, &left))) {
        HttpRequest *r = NULL;
        if (message->msg != CURLMSG_DONE) continue;
        CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &r);
        on_done(r, code);
    }
    client->settling = false;
    if (client->closing) {
        close_client(client);
        return;
    }
    admit(client);
    resume_paused(client);
    uint64_t now = uv_hrtime();
    if (client->queued.n && now - client->queue_seen >= (uint64_t)QUEUE_LOOK_MS * 1000000) {
        client->queue_seen = now;
        for (HttpRequest *r = client->queued.first, *next; r; r = next) {
            next = r->next;
            if (elapsed_ms(r) < total_ms(r)) continue; /* the others wait no longer */
            set_end(r, HTTP_TIMEOUT,
                    "The request to %s waited %" PRIu64
                    " ms for its turn, all the time it had. Make fewer at once, or give it more.",
                    r->host, total_ms(r));
            wait_to(r, WAITS_TO_END);
        }
    }
    rearm(client);
}

static void drive(HttpClient *client, curl_socket_t fd, int events) {
    int running;
    client->inside_curl = true;
    curl_multi_socket_action(client->multi, fd, events, &running);
    client->inside_curl = false;
    settle(client);
}

/* ---- sockets and time ---- */

static void on_socket_ready(uv_poll_t *poll, int status, int events) {
    Socket *s = poll->data;
    int flags = (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
                (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0) | (status < 0 ? CURL_CSELECT_ERR : 0);
    drive(s->client, s->fd, flags);
}

static void on_closed(uv_handle_t *handle) {
    mem_free(handle->data);
}

static int on_socket_wanted(CURL *easy, curl_socket_t fd, int what, void *ctx, void *slot) {
    HttpClient *client = ctx;
    Socket *s = slot;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        curl_multi_assign(client->multi, fd, NULL);
        if (s) uv_close((uv_handle_t *)&s->poll, on_closed);
        return 0;
    }
    if (!s) {
        s = mem_zalloc(sizeof *s);
        *s = (Socket){.fd = fd, .client = client};
        s->poll.data = s;
        if (uv_poll_init_socket(client->loop, &s->poll, fd) != 0) {
            mem_free(s);
            return 0;
        }
        curl_multi_assign(client->multi, fd, s);
    }
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    uv_poll_start(&s->poll, events, on_socket_ready);
    return 0;
}

static void on_time(uv_timer_t *timer) {
    HttpClient *client = timer->data;
    if (monotonic_ms() >= client->wake_at) client->wake_at = -1;
    drive(client, CURL_SOCKET_TIMEOUT, 0);
}

static void rearm(HttpClient *client) {
    bool wanted = client->wake_at >= 0;
    int64_t ms = wanted ? client->wake_at - monotonic_ms() : QUEUE_LOOK_MS;
    if (client->queued.n && ms > QUEUE_LOOK_MS) ms = QUEUE_LOOK_MS;
    if (client->waiting.n || ms < 0) ms = 0;
    if (client->closing) return;
    if (wanted || client->queued.n || client->waiting.n) {
        uv_timer_start(&client->timer, on_time, (uint64_t)ms, 0);
    } else {
        uv_timer_stop(&client->timer);
    }
}

static int on_timer_wanted(CURLM *multi, long ms, void *ctx) {
    HttpClient *client = ctx;
    (void)multi;
    client->wake_at = ms < 0 ? -1 : monotonic_ms() + ms;
    rearm(client);
    return 0;
}

/* ---- the client ---- */

static void global_init(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

HttpClient *http_client_new(uv_loop_t *loop, Error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, global_init);
    CURLM *multi = curl_multi_init();
    if (!multi) {
        error_set(err, ERR_IO, "The HTTP library cannot be started.");
        return NULL;
    }
    HttpClient *client = mem_zalloc(sizeof *client);
    client->loop = loop;
    client->multi = multi;
    client->wake_at = -1;
    client->held_max = HELD_MAX;
    uv_timer_init(loop, &client->timer);
    client->timer.data = client;
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket_wanted);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, client);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer_wanted);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, client);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_KEPT_MAX);
    return client;
}

size_t http_client_held(const HttpClient *client) {
    return client->held;
}

void http_client_hold(HttpClient *client, size_t bytes) {
    client->held_max = bytes ? bytes : HELD_MAX;
}

static void close_client(HttpClient *client) {
    List *lists[] = {&client->under_way, &client->queued, &client->waiting};
    for (int i = 0; i < 3; i++) {
        while (lists[i]->first) let_go(lists[i]->first);
    }
    curl_multi_cleanup(client->multi);
    uv_close((uv_handle_t *)&client->timer, on_closed);
}

void http_client_free(HttpClient *client) {
    if (!client || client->closing) return;
    client->closing = true;
    /* In a callback of one of its requests the client is needed until that has returned. */
    if (!client->inside_curl && !client->settling) close_client(client);
}

const char *http_header(const HttpAnswer *answer, const char *name) {
    for (size_t i = 0; i < answer->nheaders; i++) {
        if (!strcmp(answer->headers[i].name, name)) return answer->headers[i].value;
    }
    return NULL;
}
