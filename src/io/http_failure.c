#include "http_failure.h"

#include <inttypes.h>
#include <string.h>

static const char *reason(const HttpFailed *f) {
    return f->reason[0] ? f->reason : curl_easy_strerror(f->code);
}

static void say_connect(const HttpFailed *f, Buf *out) {
    long number = 0;
    curl_easy_getinfo(f->easy, CURLINFO_OS_ERRNO, &number);
    buf_printf(
        out,
        "Cannot connect to %s%s%s. Check that the server runs there, and the address and port.",
        f->host, number ? ": " : "", number ? strerror((int)number) : "");
}

static void say_name(const HttpFailed *f, Buf *out) {
    buf_printf(
        out,
        "There is no host named %s, or its name cannot be looked up now. Check the URL and the "
        "network.",
        f->host);
}

static void say_proxy(const HttpFailed *f, Buf *out) {
    buf_printf(out,
               "The proxy on the way to %s does not serve: %s. Check http_proxy, https_proxy and "
               "no_proxy in the environment.",
               f->host, reason(f));
}

static bool is_connected(const HttpFailed *f) {
    curl_off_t until_ready = 0;
    curl_easy_getinfo(f->easy, CURLINFO_PRETRANSFER_TIME_T, &until_ready);
    return until_ready > 0;
}

static void say_timeout(const HttpFailed *f, Buf *out) {
    if (is_connected(f)) {
        buf_printf(out,
                   "%s did not finish its answer within %" PRIu64
                   " ms. Ask for less, or give it more time.",
                   f->host, f->total_ms);
    } else {
        buf_printf(out,
                   "No connection to %s within %" PRIu64
                   " ms. Check the address and the network, or give it more time.",
                   f->host, f->connect_ms);
    }
}

static void say_certificate(const HttpFailed *f, Buf *out) {
    static const char prefix[] = "SSL certificate problem: ";
    const char *why = reason(f);
    if (!strncmp(why, prefix, sizeof prefix - 1)) why += sizeof prefix - 1;
    buf_printf(out,
               "The certificate of %s does not hold: %s. If the server is the right one, name the "
               "certificate that vouches for it with ca_file.",
               f->host, why);
}

static void say_tls(const HttpFailed *f, Buf *out) {
    buf_printf(out, "No secure connection to %s: %s. Check that it speaks https on that port.",
               f->host, reason(f));
}

static void say_ca_file(const HttpFailed *f, Buf *out) {
    buf_printf(
        out, "The certificates to trust for %s cannot be read from %s. Name a file in PEM format.",
        f->host, f->ca_file ? f->ca_file : "the system's folder");
}

static void say_broken(const HttpFailed *f, Buf *out) {
    buf_printf(out,
               "The connection to %s broke before its answer was complete: %s. Ask again later.",
               f->host, reason(f));
}

static void say_silent(const HttpFailed *f, Buf *out) {
    buf_printf(
        out,
        "%s closed the connection without an answer. Check the port, and whether it is http or "
        "https there.",
        f->host);
}

static void say_not_http(const HttpFailed *f, Buf *out) {
    buf_printf(out,
               "What %s sent is not HTTP. Check the port, and whether it is http or https there.",
               f->host);
}

static void say_encoding(const HttpFailed *f, Buf *out) {
    buf_printf(out,
               "The answer of %s is packed in a way that cannot be unpacked. Send the header "
               "accept-encoding: identity.",
               f->host);
}

static void say_url(const HttpFailed *f, Buf *out) {
    buf_printf(out, "The request to %s cannot be made: %s. Check the URL.", f->host, reason(f));
}

static void say_otherwise(const HttpFailed *f, Buf *out) {
    buf_printf(out, "The request to %s failed: %s.", f->host, reason(f));
}

typedef struct FailureRow {
    CURLcode code;
    HttpEnd end;
    void (*say)(const HttpFailed *f, Buf *out);
} FailureRow;

static const FailureRow failures[] = {
    {CURLE_COULDNT_CONNECT, HTTP_UNREACHED, say_connect},
    {CURLE_COULDNT_RESOLVE_HOST, HTTP_UNREACHED, say_name},
    {CURLE_COULDNT_RESOLVE_PROXY, HTTP_UNREACHED, say_proxy},
    {CURLE_PROXY, HTTP_UNREACHED, say_proxy},
    {CURLE_OPERATION_TIMEDOUT, HTTP_TIMEOUT, say_timeout},
    {CURLE_PEER_FAILED_VERIFICATION, HTTP_INSECURE_PEER, say_certificate},
    {CURLE_SSL_INVALIDCERTSTATUS, HTTP_INSECURE_PEER, say_certificate},
    {CURLE_SSL_ISSUER_ERROR, HTTP_INSECURE_PEER, say_certificate},
    {CURLE_SSL_CONNECT_ERROR, HTTP_INSECURE_PEER, say_tls},
    {CURLE_SSL_CIPHER, HTTP_INSECURE_PEER, say_tls},
    {CURLE_SSL_CLIENTCERT, HTTP_INSECURE_PEER, say_tls},
    {CURLE_USE_SSL_FAILED, HTTP_INSECURE_PEER, say_tls},
    {CURLE_SSL_CACERT_BADFILE, HTTP_INSECURE_PEER, say_ca_file},
    {CURLE_PARTIAL_FILE, HTTP_UNREACHED, say_broken},
    {CURLE_SEND_ERROR, HTTP_UNREACHED, say_broken},
    {CURLE_RECV_ERROR, HTTP_UNREACHED, say_broken},
    {CURLE_HTTP2, HTTP_UNREACHED, say_broken},
    {CURLE_HTTP2_STREAM, HTTP_UNREACHED, say_broken},
    {CURLE_GOT_NOTHING, HTTP_UNREACHED, say_silent},
    {CURLE_WEIRD_SERVER_REPLY, HTTP_UNREACHED, say_not_http},
    {CURLE_UNSUPPORTED_PROTOCOL, HTTP_UNREACHED, say_not_http},
    {CURLE_BAD_CONTENT_ENCODING, HTTP_UNREACHED, say_encoding},
    {CURLE_URL_MALFORMAT, HTTP_REFUSED, say_url},
    {CURLE_BAD_FUNCTION_ARGUMENT, HTTP_REFUSED, say_url},
};

static const FailureRow otherwise = {CURLE_OK, HTTP_UNREACHED, say_otherwise};

HttpEnd http_failure(const HttpFailed *failed, Buf *message) {
    const FailureRow *row = &otherwise;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        if (failures[i].code == failed->code) row = &failures[i];
    }
    row->say(failed, message);
    return row->end;
}
