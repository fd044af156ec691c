/* The work of an http node: one request, whose answer is the result.
 *
 *     {status, headers, body}
 *
 * headers has names in lower case. body is a value when `parse` is json, or auto and the answer says that
 * it is JSON (null when it is empty); otherwise text, in which bytes that are not UTF-8 become U+FFFD.
 *
 * What is sent: `body` as it is when it is a string, as JSON (and said to be JSON) otherwise; null is no
 * body, and a header that is null is left out.
 *
 * How it fails, as .error.kind:
 *
 *     http      a status that `expect` does not have     timeout   request_timeout was over
 *     connect   nobody answers there                     tls       the certificate does not hold
 *     limit     longer than max_response                 parse     not JSON
 *     url       cannot be asked for                      jq        an expression of the node failed
 *     net       its address is none that the run, or the workflow, may reach
 *
 * http and parse carry status, headers and the first 2 KB of the body. Whether it is tried again is for
 * the node's `retry`.
 *
 * A request that was under way when the process died is made again. */
#include "exec.h"
#include "json_build.h"
#include "json_parse.h"
#include "mem.h"
#include "process.h"
#include "safe_file.h"
#include "safe_root.h"
#include "utf8.h"
#include "web.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    SAID_MAX = 200,      /* bytes of the answer in the sentence */
    REDIRECTS_MAX = 100, /* whatever `redirects` says */
};

typedef struct Http {
    Step *step;
    HttpRequest *request;
    const char *method;
    uv_timer_t timer; /* for the end after cancel(), which is not to come from inside it */
} Http;

/* The headers of a request with those of its trace. */
typedef struct Traced {
    HttpHeader *headers; /* NULL: as they were */
    char parent[TRACE_TEXT];
} Traced;

/* A node that says itself what trace its request is of is believed. */
static void add_trace(Step *step, HttpOptions *options, Traced *traced) {
    TraceContext span;
    const char *state;
    size_t n = options->nheaders;
    if (!step_trace(step, &span, &state)) return;
    for (size_t i = 0; i < n; i++) {
        if (!strcasecmp(options->headers[i].name, "traceparent")) return;
    }
    traced->headers = mem_alloc((n + 2) * sizeof *traced->headers);
    if (n) memcpy(traced->headers, options->headers, n * sizeof *traced->headers);
    trace_print(&span, traced->parent);
    traced->headers[n++] = (HttpHeader){"traceparent", traced->parent};
    if (state) traced->headers[n++] = (HttpHeader){"tracestate", state};
    options->headers = traced->headers;
    options->nheaders = n;
}

/* Tasks have no parameter for it; what tests are run with elsewhere looks there, too. */
static void trust(const Step *step, HttpOptions *options) {
    if (!step_node(step)->task) return;
    const char *file = environment_get(step_environment(step), "SSL_CERT_FILE");
    if (file && *file) options->ca_file = file;
}

HttpRequest *exec_http_ask(Step *step, HttpOptions *options, Error *err) {
    void **slot = step_kind_data(step, KIND_HTTP);
    size_t n = 0;
    if (!*slot) *slot = http_client_new(step_loop(step), err);
    if (!*slot) return NULL;
    while (step_graph(step, n)) n++;
    const NetPolicy **nets = mem_alloc((n + 1) * sizeof *nets);
    options->nets = nets;
    options->nnets = 0;
    for (size_t i = 0; i <= n; i++) {
        const NetPolicy *net = i < n ? step_graph(step, i)->net : step_bounds(step)->net;
        if (net) nets[options->nnets++] = net;
    }
    Traced traced = {0};
    add_trace(step, options, &traced);
    trust(step, options);
    HttpRequest *request = http_start(*slot, options, err);
    mem_free(traced.headers);
    mem_free(nets);
    return request;
}

static void exec_http_free(void *data) {
    http_client_free(data);
}

static void on_closed(uv_handle_t *timer) {
    mem_free(timer->data);
}

static void http_free(Http *http) {
    uv_close((uv_handle_t *)&http->timer, on_closed);
}

/* ---- the answer ---- */

/* The sentence ends with the first line of the body, or where there is none, with a full stop. */
static void fail_status(Http *http, const HttpAnswer *answer) {
    Buf said = BUF_INIT;
    const char *body = answer->body.data ? answer->body.data : "";
    body += strspn(body, " \t\r\n");
    size_t url = strcspn(answer->url, "?#"), len = strcspn(body, "\r\n");
    buf_adds(&said, len ? ": " : ".");
    utf8_repair(&said, body, len < SAID_MAX ? len : SAID_MAX);
    step_fail(http->step, "http", web_details(answer),
              "%s %.*s answered %d, which is not expected%s%s", http->method,
              (int)(url < SAID_MAX ? url : SAID_MAX), answer->url, answer->status, said.data,
              len > SAID_MAX ? "..." : "");
    buf_clear(&said);
}

static void succeed(Step *step, const HttpAnswer *answer) {
    Error err = ERROR_INIT;
    Json parse = step_param(step, HTTP_PARSE)->value;
    bool parsed =
        json_string_is(parse, "json") || (!json_string_is(parse, "text") && web_says_json(answer));
    Json body = !parsed             ? web_text(answer)
                : !answer->body.len ? json_null()
                                    : json_parse(answer->body.data, answer->body.len, NULL, &err);
    if (json_is_none(body)) {
        step_fail(step, "parse", web_details(answer),
                  "The answer is not JSON: %s. With `parse: text` it is taken as it is.", err.msg);
        return;
    }
    step_succeed(step, OBJECT(KEY("status", json_int(answer->status)),
                              KEY("headers", web_headers(answer)), KEY("body", body)));
}

static void on_end(void *ctx, const HttpAnswer *answer) {
    Http *http = ctx;
    Buf line = BUF_INIT;
    Json expect = step_param(http->step, HTTP_EXPECT)->value;
    bool listed = json_array_len(expect) > 0;
    bool expected = listed ? web_lists_status(expect, answer->status)
                           : answer->status >= 200 && answer->status <= 299;
    http->request = NULL;
    web_line(http->method, answer, &line);
    exec_note(http->step, "%s", line.data);
    buf_clear(&line);
    if (answer->end != HTTP_ANSWERED) {
        step_fail(http->step, web_error_kind(answer), json_none(), "%s", answer->message);
    } else if (!expected) {
        fail_status(http, answer);
    } else {
        succeed(http->step, answer);
    }
    http_free(http);
}

/* ---- the request ---- */

static bool give_headers(Step *step, WebRequest *request, Error *err) {
    const Param *param = step_param(step, HTTP_HEADERS);
    bool fine = true;
    for (size_t i = 0; i < param->nfields && fine; i++) {
        const struct ParamField *field = &param->fields[i];
        Json value = step_eval(step, field->expr, err);
        size_t len = json_string_len(field->name);
        fine = !json_is_none(value) && web_add_header(request, field->name, value, err);
        if (json_is_none(value)) {
            error_wrap(err, "headers.%.*s", (int)(len < 100 ? len : 100),
                       json_string_data(&field->name));
        }
        json_unref(value);
    }
    return fine;
}

/* A file of certificates: its whole path, and, where runs are confined to a folder, what it holds. Then nobody can put
 * another in its place before it is opened. */
typedef struct CaFile {
    Buf path, text;
} CaFile;

static void ca_clear(CaFile *ca) {
    buf_clear(&ca->path);
    buf_clear(&ca->text);
}

static bool give_ca(Step *step, CaFile *ca, Error *err) {
    enum { CA_MAX = 16 << 20 };
    const SafeRoot *root = step_bounds(step)->root;
    if (!exec_param_text(step, HTTP_CA_FILE, &ca->path, err)) return false;
    if (!ca->path.len || !root) return exec_file(step, &ca->path, err);
    if (!exec_file(step, &ca->path, err)) return false;
    int fd = safe_root_open(root, ca->path.data, O_RDONLY, err);
    bool read = fd >= 0 && safe_read_fd(fd, ca->path.data, CA_MAX, &ca->text, err);
    if (fd >= 0) close(fd);
    return read;
}

static bool give_all(Step *step, WebRequest *request, CaFile *ca, Error *err) {
    Buf url = BUF_INIT;
    if (!exec_size_fits(step, HTTP_MAX_RESPONSE, WEB_RESPONSE_MAX, err)) return false;
    request->method = web_method_given(step_param(step, HTTP_METHOD));
    bool fine = exec_param_text(step, HTTP_URL, &url, err) &&
                web_set_url(request, url.data, url.len, err) && give_headers(step, request, err);
    const Expr *expr = step_param(step, HTTP_BODY)->expr;
    if (fine && expr) {
        Json body = step_eval(step, expr, err);
        fine = !json_is_none(body);
        if (fine) web_set_body(request, body);
        if (!fine) error_wrap(err, "body");
        json_unref(body);
    }
    fine = fine && give_ca(step, ca, err);
    buf_clear(&url);
    return fine;
}

/* ---- the row ---- */

static bool launch(Step *step, const WebRequest *request, const CaFile *ca, Error *err) {
    Http *http = mem_zalloc(sizeof *http);
    http->step = step;
    http->method = request->method ? request->method : request->has_body ? "POST" : "GET";
    http->timer.data = http;
    uv_timer_init(step_loop(step), &http->timer);
    HttpOptions options = web_options(request);
    int64_t redirects = step_param(step, HTTP_REDIRECTS)->number;
    options.timeout_ms = (uint64_t)step_param(step, HTTP_REQUEST_TIMEOUT)->number;
    options.max_response = (size_t)step_param(step, HTTP_MAX_RESPONSE)->number;
    options.max_redirects = redirects < REDIRECTS_MAX ? (int)redirects : REDIRECTS_MAX;
    options.insecure = step_param(step, HTTP_INSECURE)->number != 0;
    options.ca_file = ca->path.len ? ca->path.data : NULL;
    options.ca = ca->text.data;
    options.ca_len = ca->text.len;
    options.on_end = on_end;
    options.ctx = http;
    http->request = exec_http_ask(step, &options, err);
    if (!http->request) {
        http_free(http);
        return false;
    }
    step_set_data(step, http);
    return true;
}

static void exec_http_start(Step *step) {
    Error err = ERROR_INIT;
    WebRequest request = {0};
    CaFile ca = {BUF_INIT, BUF_INIT};
    if (!give_all(step, &request, &ca, &err)) {
        const char *kind = err.code == ERR_USAGE ? "url" : err.code == ERR_IO ? "tls" : "jq";
        exec_fail_with(step, kind, &err);
    } else if (!launch(step, &request, &ca, &err)) {
        exec_fail_with(step, "connect", &err);
    }
    ca_clear(&ca);
    web_clear(&request);
}

static void on_cancelled(uv_timer_t *timer) {
    Http *http = timer->data;
    step_fail(http->step, "cancelled", json_none(), "The request was ended because the run was.");
    http_free(http);
}

static void exec_http_cancel(Step *step) {
    Http *http = step_data(step);
    if (!http || !http->request) return;
    http_cancel(http->request);
    http->request = NULL;
    uv_timer_start(&http->timer, on_cancelled, 0, 0);
}

static void exec_http_drop(Step *step) {
    Http *http = step_data(step);
    if (!http) return;
    http_cancel(http->request);
    http_free(http);
}

const NodeWork exec_http = {.start = exec_http_start,
                            .cancel = exec_http_cancel,
                            .drop = exec_http_drop,
                            .free_data = exec_http_free};
