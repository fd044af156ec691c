/* otlp.c - batches of spans on their way to a collector.
 *
 * `filling` takes spans; a batch that is full, or has waited, goes to the end of the list. The first of the list is sent
 * until it is done with; `tries` is how often it was. */
#include "otlp.h"

#include "ascii.h"
#include "buf.h"
#include "http.h"
#include "json_build.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "url.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Batch {
    struct Batch *next;
    Buf spans; /* with commas between them */
    size_t n;
} Batch;

struct Otlp {
    uv_loop_t *loop;
    char *url;  /* whole */
    char *head; /* of a body, up to the spans */
    HttpHeader headers[OTLP_HEADERS_MAX + 1];
    size_t nheaders;
    void (*say)(void *ctx, const char *sentence);
    void *ctx;
    HttpClient *client; /* NULL: nothing was sent yet */
    HttpRequest *request;
    Batch *filling, *first, *last; /* first: is sent, or the next that is */
    size_t waiting;                /* bytes of them all */
    int tries;
    uint32_t jitter;
    uv_timer_t *
        timer; /* of the batch that is filled, or of the pause; one is enough, as a pause sends nothing */
    uv_timer_t *ending; /* of otlp_close(); NULL: it goes on */
    bool pausing;
    bool said;
    OtlpCounts counts;
    void (*closed)(void *ctx);
    void *closed_ctx;
};

static const char body_end[] = "]}]}]}";

/* ---- what is lost ---- */

static void say(Otlp *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(Otlp *o, const char *fmt, ...) {
    Buf text = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    if (o->say) o->say(o->ctx, text.data);
    buf_clear(&text);
}

/* why: a half sentence. */
static void lose(Otlp *o, size_t n, const char *why) {
    o->counts.lost += n;
    if (!n || o->said) return;
    o->said = true;
    Buf url = BUF_INIT;
    url_hide(&url, o->url, strlen(o->url));
    say(o,
        "Spans are lost: %s (%s). Runs go on; what is lost later is counted, and said at the end.",
        why, url.data);
    buf_clear(&url);
}

/* ---- batches ---- */

static void batch_free(Batch *b) {
    if (b) buf_clear(&b->spans);
    mem_free(b);
}

static void close_filling(Otlp *o) {
    Batch *b = o->filling;
    if (!b) return;
    o->filling = NULL;
    *(o->last ? &o->last->next : &o->first) = b;
    o->last = b;
}

static void drop_first(Otlp *o) {
    Batch *b = o->first;
    o->first = b->next;
    if (!o->first) o->last = NULL;
    o->waiting -= b->spans.len;
    o->tries = 0;
    batch_free(b);
}

static void send_first(Otlp *o);

static void finish_if_done(Otlp *o);

static void on_timer(uv_timer_t *timer) {
    Otlp *o = timer->data;
    o->pausing = false;
    if (!o->first) close_filling(o);
    send_first(o);
}

static void wait_for(Otlp *o, uint64_t ms) {
    uv_timer_start(o->timer, on_timer, ms, 0);
}

void otlp_span(Otlp *o, const char *json, size_t len) {
    if (o->ending || o->waiting + len + 1 > OTLP_QUEUE) {
        lose(o, 1, "the collector takes them too slowly");
        return;
    }
    if (!o->filling) {
        o->filling = mem_zalloc(sizeof *o->filling);
        if (!o->request && !o->pausing && !o->first) wait_for(o, OTLP_WAIT_MS);
    }
    Batch *b = o->filling;
    size_t before = b->spans.len;
    if (b->n++) buf_addc(&b->spans, ',');
    buf_add(&b->spans, json, len);
    o->waiting += b->spans.len - before;
    if (b->n >= OTLP_BATCH) {
        close_filling(o);
        if (!o->request && !o->pausing) wait_for(o, 0); /* not from inside of what is told */
    }
}

/* ---- requests ---- */

/* How many spans of a batch the collector did not want. */
static size_t refused(const HttpAnswer *answer, size_t n) {
    Json said = answer->body.len ? json_parse(answer->body.data, answer->body.len, NULL, NULL)
                                 : json_none();
    Json partial =
        json_kind(said) == JSON_OBJECT ? json_object_get_c(said, "partialSuccess") : json_none();
    Json count = json_kind(partial) == JSON_OBJECT ? json_object_get_c(partial, "rejectedSpans")
                                                   : json_none();
    /* a 64-bit number is a string in the JSON of protobuf */
    double lost = json_kind(count) == JSON_STRING   ? strtod(json_string_data(&count), NULL)
                  : json_kind(count) == JSON_NUMBER ? json_to_double(count)
                                                    : 0;
    json_unref(said);
    return lost > 0 ? lost < (double)n ? (size_t)lost : n : 0;
}

static bool may_pass(const HttpAnswer *answer) {
    int status = answer->status;
    return answer->end == HTTP_ANSWERED
               ? status == 429 || status == 502 || status == 503 || status == 504
               : answer->end == HTTP_UNREACHED || answer->end == HTTP_TIMEOUT;
}

/* Doubled each time, a little different for each process; in seconds where the collector says so. */
static uint64_t pause_ms(Otlp *o, const HttpAnswer *answer) {
    const char *after = answer->end == HTTP_ANSWERED ? http_header(answer, "retry-after") : NULL;
    uint64_t ms = (uint64_t)OTLP_PAUSE_MS << (o->tries - 1);
    if (after && ascii_is_digit(*after)) {
        uint64_t said = strtoull(after, NULL, 10);
        ms = said < OTLP_PAUSE_MAX_MS / 1000 ? said * 1000 : OTLP_PAUSE_MAX_MS;
    }
    o->jitter = o->jitter * 1664525u + 1013904223u;
    ms += ms * (o->jitter >> 24) / 1024; /* up to a quarter */
    return ms < OTLP_PAUSE_MAX_MS ? ms : OTLP_PAUSE_MAX_MS;
}

static void on_end(void *ctx, const HttpAnswer *answer) {
    Otlp *o = ctx;
    size_t n = o->first->n;
    o->request = NULL;
    bool answered = answer->end == HTTP_ANSWERED;
    bool unreached = !answered && o->ending; /* nobody waits at the end for one who is not there */
    if (answered && answer->status >= 200 && answer->status < 300) {
        size_t lost = refused(answer, n);
        o->counts.sent += n - lost;
        lose(o, lost, "the collector refused some of them");
        drop_first(o);
    } else if (may_pass(answer) && o->tries < OTLP_TRIES && !unreached) {
        o->pausing = true;
        wait_for(o, pause_ms(o, answer));
        return;
    } else {
        char why[64];
        snprintf(why, sizeof why, "the collector answers %d", answer->status);
        lose(o, n, answered ? why : "the collector cannot be reached");
        drop_first(o);
        while (unreached && o->first) { /* nor will it be for the others */
            lose(o, o->first->n, "the collector cannot be reached");
            drop_first(o);
        }
    }
    if (o->ending) {
        send_first(o);
        finish_if_done(o);
    } else if (o->first) {
        wait_for(o, 0);
    } else if (o->filling) {
        wait_for(o, OTLP_WAIT_MS);
    }
}

static void send_first(Otlp *o) {
    if (o->request || o->pausing || !o->first) return;
    Error err = ERROR_INIT;
    Buf body = BUF_INIT;
    buf_adds(&body, o->head);
    buf_add(&body, o->first->spans.data, o->first->spans.len);
    buf_adds(&body, body_end);
    if (!o->client) o->client = http_client_new(o->loop, &err);
    HttpOptions options = {
        .method = "POST",
        .url = o->url,
        .headers = o->headers,
        .nheaders = o->nheaders,
        .body = body.data,
        .body_len = body.len,
        .timeout_ms = OTLP_TIMEOUT_MS,
        .max_response = 1 << 20,
        .on_end = on_end,
        .ctx = o,
    };
    o->tries++;
    o->counts.requests++;
    o->request = o->client ? http_start(o->client, &options, &err) : NULL;
    buf_clear(&body);
    if (!o->request) {
        lose(o, o->first->n, err.msg);
        drop_first(o);
    }
}

/* ---- the end ---- */

static void free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

static void on_ended(uv_handle_t *handle) {
    Otlp *o = handle->data;
    void (*closed)(void *ctx) = o->closed;
    void *ctx = o->closed_ctx;
    mem_free(handle);
    for (size_t i = 0; i < o->nheaders; i++) {
        mem_free((char *)(uintptr_t)o->headers[i].name);
        mem_free((char *)(uintptr_t)o->headers[i].value);
    }
    mem_free(o->url);
    mem_free(o->head);
    mem_free(o);
    if (closed) closed(ctx);
}

static void end_now(Otlp *o) {
    http_cancel(o->request);
    o->request = NULL;
    for (; o->first; drop_first(o)) {
        lose(o, o->first->n, "the program ends before the collector has taken them");
    }
    if (o->counts.lost) {
        say(o, "%llu spans were lost, and %llu sent.", (unsigned long long)o->counts.lost,
            (unsigned long long)o->counts.sent);
    }
    http_client_free(o->client);
    uv_close((uv_handle_t *)o->timer, free_handle);
    uv_close((uv_handle_t *)o->ending, on_ended);
}

static void on_out_of_time(uv_timer_t *timer) {
    end_now(timer->data);
}

static void finish_if_done(Otlp *o) {
    if (!o->first && !o->request && !uv_is_closing((uv_handle_t *)o->ending)) {
        uv_timer_start(o->ending, on_out_of_time, 0,
                       0); /* the client is not freed inside of its own callback */
    }
}

void otlp_close(Otlp *o, void (*closed)(void *ctx), void *ctx) {
    o->closed = closed;
    o->closed_ctx = ctx;
    close_filling(o);
    o->ending = mem_zalloc(sizeof *o->ending);
    uv_timer_init(o->loop, o->ending);
    o->ending->data = o;
    uv_timer_start(o->ending, on_out_of_time, OTLP_CLOSE_MS, 0);
    if (o->pausing) { /* once more, at once */
        o->pausing = false;
        uv_timer_stop(o->timer);
    }
    send_first(o);
    finish_if_done(o);
}

/* ---- the beginning ---- */

static void add_header(Otlp *o, const char *name, size_t name_len, char *value) {
    o->headers[o->nheaders++] = (HttpHeader){mem_strndup(name, name_len), value};
}

/* Percent-encoded, as in W3C Baggage; NULL: it is not. */
static char *decoded(const char *text, size_t len) {
    Buf out = BUF_INIT;
    for (size_t i = 0; i < len; i++) {
        int high = text[i] == '%' && i + 2 < len ? ascii_hex(text[i + 1]) : -1;
        int low = high >= 0 ? ascii_hex(text[i + 2]) : -1;
        char c = low >= 0 ? (char)(high << 4 | low) : text[i];
        if (c < ' ' || c > '~') {
            buf_clear(&out);
            return NULL;
        }
        if (low >= 0) i += 2;
        buf_addc(&out, c);
    }
    return out.data ? buf_detach(&out) : mem_strdup("");
}

static bool is_name(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (!ascii_is_name(text[i]) && text[i] != '-' && text[i] != '.') return false;
    }
    return len > 0;
}

/* The sentence names no value: those are keys of people. */
static bool read_headers(Otlp *o, const char *list, Error *err) {
    for (int i = 1; *list; i++) {
        size_t len = strcspn(list, ","), name = 0, from, end;
        from = strspn(list, " \t");
        from = from < len ? from : len;
        for (end = len; end > from && ascii_is_blank(list[end - 1]); end--) {}
        if (end > from) {
            while (from + name < end && list[from + name] != '=') name++;
            size_t key = name;
            while (key && ascii_is_blank(list[from + key - 1])) key--;
            char *value =
                from + name < end ? decoded(list + from + name + 1, end - from - name - 1) : NULL;
            if (!value || !is_name(list + from, key) || o->nheaders >= OTLP_HEADERS_MAX) {
                mem_free(value);
                return error_set(
                    err, ERR_USAGE,
                    "Header %d for the collector is none: they are `name=value`, parted "
                    "by commas, percent-encoded, %d at most.",
                    i, OTLP_HEADERS_MAX - 1);
            }
            add_header(o, list + from, key, value);
        }
        list += len + (list[len] == ',');
    }
    return true;
}

static bool read_url(Otlp *o, const char *url, Error *err) {
    static const char path[] = "/v1/traces";
    size_t len = strlen(url), scheme = !strncmp(url, "http://", 7)    ? 7
                                       : !strncmp(url, "https://", 8) ? 8
                                                                      : 0;
    bool plain = scheme && url[scheme] && url[scheme] != '/' && !strpbrk(url, "?# \t\r\n");
    Buf shown = BUF_INIT, whole = BUF_INIT;
    if (!plain) {
        url_hide(&shown, url, len);
        error_set(
            err, ERR_USAGE,
            "`%s` is no URL of a collector: http://HOST:PORT or https://..., without a query; "
            "/v1/traces is added to it.",
            shown.data ? shown.data : "");
        buf_clear(&shown);
        return false;
    }
    while (len && url[len - 1] == '/') len--;
    buf_add(&whole, url, len);
    size_t end = sizeof path - 1;
    if (len < end || memcmp(url + len - end, path, end) != 0) buf_adds(&whole, path);
    o->url = buf_detach(&whole);
    return true;
}

static Json attribute(const char *key, const char *value) {
    return OBJECT(KEY("key", key), KEY("value", OBJECT(KEY("stringValue", value))));
}

/* {"resourceSpans":[{"resource":...,"scopeSpans":[{"scope":...,"spans":[ */
static char *body_head(const OtlpOptions *options) {
    char host[256] = "";
    size_t size = sizeof host;
    if (uv_os_gethostname(host, &size) != 0) host[0] = '\0';
    Json attributes = ARRAY(
        attribute("service.name", options->service ? options->service : "pawl"),
        attribute("service.version", options->version), attribute("host.name", host),
        OBJECT(KEY("key", "process.pid"),
               KEY("value", OBJECT(KEY("intValue", json_string_fmt("%d", (int)uv_os_getpid()))))));
    Json resource = OBJECT(KEY("attributes", attributes));
    Json scope = OBJECT(KEY("name", "pawl"), KEY("version", options->version));
    Buf out = BUF_INIT;
    buf_adds(&out, "{\"resourceSpans\":[{\"resource\":");
    json_print(resource, NULL, &out);
    buf_adds(&out, ",\"scopeSpans\":[{\"scope\":");
    json_print(scope, NULL, &out);
    buf_adds(&out, ",\"spans\":[");
    json_unref(resource);
    json_unref(scope);
    return buf_detach(&out);
}

Otlp *otlp_new(const OtlpOptions *options, Error *err) {
    Otlp *o = mem_zalloc(sizeof *o);
    *o = (Otlp){.loop = options->loop,
                .say = options->say,
                .ctx = options->ctx,
                .jitter = (uint32_t)uv_hrtime()};
    add_header(o, "content-type", 12, mem_strdup("application/json"));
    if (!read_url(o, options->url, err) ||
        (options->headers && !read_headers(o, options->headers, err))) {
        o->ending = NULL;
        for (size_t i = 0; i < o->nheaders; i++) {
            mem_free((char *)(uintptr_t)o->headers[i].name);
            mem_free((char *)(uintptr_t)o->headers[i].value);
        }
        mem_free(o->url);
        mem_free(o);
        return NULL;
    }
    o->head = body_head(options);
    o->timer = mem_zalloc(sizeof *o->timer);
    uv_timer_init(o->loop, o->timer);
    o->timer->data = o;
    uv_unref((uv_handle_t *)o->timer);
    return o;
}

OtlpCounts otlp_counts(const Otlp *o) {
    return o->counts;
}
