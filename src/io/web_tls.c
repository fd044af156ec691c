/* OpenSSL between a connection and its protocol. It reads from the bytes that just came and writes into a queue, by a
 * BIO of our own, so nothing is copied twice and a connection that rests has no buffers. */
#include "web_inside.h"

#include "mem.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

enum { RECORD_MAX = 16 << 10, WIRE_MAX = 64 << 10 };

struct TlsContext {
    SSL_CTX *ctx;
    BIO_METHOD *method;
    size_t refs;
};

struct Tls {
    TlsContext *context;
    SSL *ssl;
    WebServer *server;
    Queue wire;
    const char *in;
    size_t nin;
    bool ready;
};

/* ---- the way to the bytes ---- */

static int bio_read(BIO *bio, char *out, int len) {
    Tls *tls = BIO_get_data(bio);
    size_t n = tls->nin < (size_t)len ? tls->nin : (size_t)len;
    BIO_clear_retry_flags(bio);
    if (!n) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(out, tls->in, n);
    tls->in += n;
    tls->nin -= n;
    return (int)n;
}

static int bio_write(BIO *bio, const char *bytes, int len) {
    Tls *tls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    queue_add(tls->server, &tls->wire, bytes, (size_t)len);
    return len;
}

static long bio_ctrl(BIO *bio, int what, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return what == BIO_CTRL_FLUSH;
}

static int bio_create(BIO *bio) {
    BIO_set_init(bio, 1);
    return 1;
}

/* ---- certificates ---- */

/* h2 where the client knows it. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *nout,
                           const unsigned char *in, unsigned nin, void *ctx) {
    static const unsigned char ours[] = "\x02h2\x08http/1.1";
    (void)ssl, (void)ctx;
    int chosen = SSL_select_next_proto((unsigned char **)out, nout, ours, sizeof ours - 1, in, nin);
    return chosen == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static const char *last_reason(void) {
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason ? reason : "the file cannot be read";
}

TlsContext *tls_context_new(const char *cert, const char *key, Error *err) {
    TlsContext *context = mem_zalloc(sizeof *context);
    SSL_CTX *ctx = context->ctx = SSL_CTX_new(TLS_server_method());
    context->refs = 1;
    context->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "connection");
    BIO_meth_set_read(context->method, bio_read);
    BIO_meth_set_write(context->method, bio_write);
    BIO_meth_set_ctrl(context->method, bio_ctrl);
    BIO_meth_set_create(context->method, bio_create);
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF); /* tickets need none */
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(ctx, cert) != 1) {
        error_set(err, ERR_IO, "Cannot use the certificate %s: %s.", cert, last_reason());
    } else if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1) {
        error_set(err, ERR_IO, "Cannot use the key %s: %s.", key, last_reason());
    } else if (SSL_CTX_check_private_key(ctx) != 1) {
        error_set(err, ERR_DATA, "The key %s does not belong to the certificate %s.", key, cert);
    } else {
        return context;
    }
    ERR_clear_error();
    tls_context_free(context);
    return NULL;
}

void tls_context_free(TlsContext *context) {
    if (!context || --context->refs) return;
    SSL_CTX_free(context->ctx);
    BIO_meth_free(context->method);
    mem_free(context);
}

/* ---- a connection ---- */

Tls *tls_new(TlsContext *context, Connection *c) {
    Tls *tls = mem_zalloc(sizeof *tls);
    BIO *bio = BIO_new(context->method);
    context->refs++;
    tls->context = context;
    tls->server = c->server;
    tls->ssl = SSL_new(context->ctx);
    BIO_set_data(bio, tls);
    SSL_set_bio(tls->ssl, bio, bio);
    SSL_set_accept_state(tls->ssl);
    return tls;
}

void tls_free(Tls *tls) {
    SSL_free(tls->ssl);
    tls_context_free(tls->context);
    mem_free(tls);
}

Queue *tls_wire(Tls *tls) {
    return &tls->wire;
}

/* Who speaks HTTP to a port of HTTPS is told so, in the language it knows. */
static void answer_plainly(Connection *c) {
    static const char answer[] =
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n"
        "Content-Length: 44\r\n\r\nThis port speaks HTTPS. Write https:// here.\n";
    queue_add(c->server, &c->tls->wire, answer, sizeof answer - 1);
}

/* A handshake goes on. Whether it is complete. */
static bool shake_hands(Connection *c) {
    Tls *tls = c->tls;
    const unsigned char *protocol;
    unsigned len;
    int done = SSL_do_handshake(tls->ssl);
    if (done == 1) {
        tls->ready = true;
        SSL_get0_alpn_selected(tls->ssl, &protocol, &len);
        if (len == 2) {
            connection_http2(c);
        } else {
            connection_http1(c);
        }
        return true;
    }
    if (SSL_get_error(tls->ssl, done) != SSL_ERROR_WANT_READ) {
        unsigned long reason = ERR_peek_last_error();
        c->server->counts.refused++;
        if (ERR_GET_REASON(reason) == SSL_R_HTTP_REQUEST) answer_plainly(c);
        c->ended = true;
        connection_end(c); /* the alert is written */
    }
    connection_busy(c);
    return false;
}

void tls_take(Connection *c, const char *bytes, size_t len) {
    Tls *tls = c->tls;
    WebServer *s = c->server;
    int n;
    if (c->ended) return;
    tls->in = bytes;
    tls->nin = len;
    ERR_clear_error();
    if (tls->ready || shake_hands(c)) {
        while ((n = SSL_read(tls->ssl, s->plain, sizeof s->plain)) > 0) {
            connection_take(c, s->plain, (size_t)n);
            if (c->closed || c->failed) break;
        }
        if (n <= 0 && !c->closed) {
            int why = SSL_get_error(tls->ssl, n);
            if (why == SSL_ERROR_ZERO_RETURN) {
                connection_silent(c);
            } else if (why != SSL_ERROR_WANT_READ) {
                connection_close(c);
            }
        }
    }
    tls->in = NULL;
    tls->nin = 0;
    ERR_clear_error();
}

void tls_encrypt(Connection *c) {
    Tls *tls = c->tls;
    while (tls->ready && !c->ended && c->out.bytes && tls->wire.bytes < WIRE_MAX) {
        const Piece *piece = c->out.first;
        size_t len = piece->len < RECORD_MAX ? piece->len : RECORD_MAX;
        int n = SSL_write(tls->ssl, piece->bytes, (int)len);
        if (n <= 0) {
            ERR_clear_error();
            connection_close(c);
            return;
        }
        queue_drop(c->server, &c->out, (size_t)n);
    }
}

void tls_end(Tls *tls) {
    if (tls->ready) SSL_shutdown(tls->ssl);
    ERR_clear_error();
}
