#include "http_failure.h"

#include <inttypes.h>
#include <string.h>

#define CHECK_PORT "Check the port, and whether it is http or https there."

/* In the texts %1$s is the host and %2$s the reason. */
static const char certificate[] =
    "The certificate of %1$s does not hold: %2$s. If the server is the right one, name the "
    "certificate that vouches for it with ca_file; for the tasks of a test, in $SSL_CERT_FILE.";
static const char proxy[] =
    "The proxy on the way to %1$s does not serve: %2$s. Check http_proxy, https_proxy and no_proxy in "
    "the environment.";
static const char tls[] =
    "No secure connection to %1$s: %2$s. Check that it speaks https on that port.";
static const char broken[] =
    "The connection to %1$s broke before its answer was complete: %2$s. Ask again later.";
static const char not_http[] = "What %1$s sent is not HTTP. " CHECK_PORT;
static const char refused[] = "The request to %1$s cannot be made: %2$s. Check the URL.";

static const struct FailureRow {
    CURLcode code;
    HttpEnd end;
    const char *text;
} failures[] = {
    {CURLE_COULDNT_CONNECT, HTTP_UNREACHED,
     "Cannot connect to %1$s: %2$s. Check that the server runs there, and the address and port."},
    {CURLE_COULDNT_RESOLVE_HOST, HTTP_UNREACHED,
     "There is no host named %1$s, or its name cannot be looked up now. Check the URL and the "
     "network."},
    {CURLE_COULDNT_RESOLVE_PROXY, HTTP_UNREACHED, proxy},
    {CURLE_PROXY, HTTP_UNREACHED, proxy},
    {CURLE_PEER_FAILED_VERIFICATION, HTTP_INSECURE_PEER, certificate},
    {CURLE_SSL_INVALIDCERTSTATUS, HTTP_INSECURE_PEER, certificate},
    {CURLE_SSL_ISSUER_ERROR, HTTP_INSECURE_PEER, certificate},
    {CURLE_SSL_CONNECT_ERROR, HTTP_INSECURE_PEER, tls},
    {CURLE_SSL_CIPHER, HTTP_INSECURE_PEER, tls},
    {CURLE_SSL_CLIENTCERT, HTTP_INSECURE_PEER, tls},
    {CURLE_USE_SSL_FAILED, HTTP_INSECURE_PEER, tls},
    {CURLE_SSL_CACERT_BADFILE, HTTP_INSECURE_PEER,
     "The certificates to trust for %1$s cannot be read from %2$s. Name a file in PEM format."},
    {CURLE_PARTIAL_FILE, HTTP_UNREACHED, broken},
    {CURLE_SEND_ERROR, HTTP_UNREACHED, broken},
    {CURLE_RECV_ERROR, HTTP_UNREACHED, broken},
    {CURLE_HTTP2, HTTP_UNREACHED, broken},
    {CURLE_HTTP2_STREAM, HTTP_UNREACHED, broken},
    {CURLE_GOT_NOTHING, HTTP_UNREACHED,
     "%1$s closed the connection without an answer. " CHECK_PORT},
    {CURLE_WEIRD_SERVER_REPLY, HTTP_UNREACHED, not_http},
    {CURLE_UNSUPPORTED_PROTOCOL, HTTP_UNREACHED, not_http},
    {CURLE_BAD_CONTENT_ENCODING, HTTP_UNREACHED,
     "The answer of %1$s is packed in a way that cannot be unpacked. Send the header accept-encoding: "
     "identity."},
    {CURLE_URL_MALFORMAT, HTTP_REFUSED, refused},
    {CURLE_BAD_FUNCTION_ARGUMENT, HTTP_REFUSED, refused},
    {CURLE_OK, HTTP_UNREACHED, "The request to %1$s failed: %2$s."}, /* any other */
};

static const char *reason_of(const HttpFailed *f) {
    static const char prefix[] = "SSL certificate problem: ";
    const char *why = f->reason[0] ? f->reason : curl_easy_strerror(f->code);
    long number = 0;
    if (f->code == CURLE_SSL_CACERT_BADFILE) return f->ca_file ? f->ca_file : "the system's folder";
    if (f->code == CURLE_COULDNT_CONNECT) curl_easy_getinfo(f->easy, CURLINFO_OS_ERRNO, &number);
    if (number) return strerror((int)number);
    return strncmp(why, prefix, sizeof prefix - 1) ? why : why + sizeof prefix - 1;
}

static HttpEnd timed_out(const HttpFailed *f, Buf *message) {
    curl_off_t until_ready = 0;
    curl_easy_getinfo(f->easy, CURLINFO_PRETRANSFER_TIME_T, &until_ready);
    if (until_ready > 0) {
        buf_printf(message,
                   "%s did not finish its answer within %" PRIu64
                   " ms. Ask for less, or give it more time.",
                   f->host, f->total_ms);
    } else {
        buf_printf(message,
                   "No connection to %s within %" PRIu64
                   " ms. Check the address and the network, or give it more time.",
                   f->host, f->connect_ms);
    }
    return HTTP_TIMEOUT;
}

HttpEnd http_failure(const HttpFailed *failed, Buf *message) {
    const struct FailureRow *row = failures;
    if (failed->code == CURLE_OPERATION_TIMEDOUT) return timed_out(failed, message);
    while (row->code != failed->code && row->code != CURLE_OK) row++;
    buf_printf(message, row->text, failed->host, reason_of(failed));
    return row->end;
}
