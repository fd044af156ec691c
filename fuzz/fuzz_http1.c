/* fuzz_http1 - requests of HTTP/1.1 as a client may send them.
 *
 * The first byte says how the others are cut into pieces. Whatever they are: cut or whole, they are read in the same
 * way; what is accepted holds to what web_http1_parse.h promises; and written out again, as another server would pass
 * it on, it is read as the same request.
 */
#include "web_http1_parse.h"

#include "buf.h"
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

enum { HEAD_MAX = 4096 };

/* Looks for the end of a head in bytes that grow by so many. Each time they are elsewhere. */
static size_t find_end(const char *bytes, size_t len, size_t by, Http1Problem *bad) {
    Http1Scan scan = {0};
    size_t there = 0, end = 0;
    *bad = (Http1Problem){0};
    while (!end && !bad->status && there < len) {
        there = len - there < by ? len : there + by;
        char *copy = mem_strndup(bytes, there);
        end = http1_head_end(&scan, copy, there, HEAD_MAX, bad);
        mem_free(copy);
    }
    return end;
}

static void check_head(const char *bytes, const Http1Head *h) {
    CHECK(h->method.len >= 1 && h->method.len <= HTTP1_METHOD_MAX);
    CHECK(bytes[h->target.at] == '/' && h->minor >= 0 && h->minor <= 1);
    CHECK(!(h->has_length && h->chunked));
    for (uint32_t i = 0; i < h->target.len; i++) {
        CHECK(bytes[h->target.at + i] > 32 && bytes[h->target.at + i] < 127);
    }
    int hosts = 0, lengths = 0, codings = 0;
    CHECK(h->nfields <= HTTP1_FIELDS_MAX);
    for (size_t i = 0; i < h->nfields; i++) {
        const Http1Field *f = &h->fields[i];
        const char *name = bytes + f->name.at, *value = bytes + f->value.at;
        CHECK(http_is_token(name, f->name.len) && name[f->name.len] == ':');
        CHECK(!memchr(value, '\r', f->value.len) && !memchr(value, '\n', f->value.len));
        CHECK(!memchr(value, '\0', f->value.len));
        CHECK(!f->value.len || (value[0] != ' ' && value[f->value.len - 1] != ' '));
        hosts += http_same(name, f->name.len, "host");
        lengths += http_same(name, f->name.len, "content-length");
        codings += http_same(name, f->name.len, "transfer-encoding");
    }
    CHECK(hosts <= 1 && (hosts == 1 || h->minor == 0));
    CHECK(lengths == h->has_length && codings == h->chunked);
}

/* As a proxy would pass it on. */
static void check_again(const char *bytes, const Http1Head *h) {
    static Http1Head again;
    Http1Scan scan = {0};
    Http1Problem bad;
    Buf out = BUF_INIT;
    buf_printf(&out, "%.*s %.*s HTTP/1.%d\r\n", (int)h->method.len, bytes + h->method.at,
               (int)h->target.len, bytes + h->target.at, h->minor);
    for (size_t i = 0; i < h->nfields; i++) {
        buf_add(&out, bytes + h->fields[i].name.at, h->fields[i].name.len);
        buf_adds(&out, ": ");
        buf_add(&out, bytes + h->fields[i].value.at, h->fields[i].value.len);
        buf_adds(&out, "\r\n");
    }
    buf_adds(&out, "\r\n");
    CHECK(http1_head_end(&scan, out.data, out.len, 2 * HEAD_MAX, &bad) == out.len);
    CHECK(http1_head_parse(out.data, out.len, &again, &bad));
    CHECK(again.nfields == h->nfields && again.length == h->length && again.ends == h->ends);
    CHECK(again.chunked == h->chunked && again.has_length == h->has_length);
    CHECK(again.expects == h->expects && again.minor == h->minor);
    for (size_t i = 0; i < h->nfields; i++) {
        const Http1Span *a = &h->fields[i].value, *b = &again.fields[i].value;
        CHECK(a->len == b->len && memcmp(bytes + a->at, out.data + b->at, a->len) == 0);
    }
    buf_clear(&out);
}

/* The body in chunks, in pieces of so many bytes. */
static Http1Step read_chunks(const char *bytes, size_t len, size_t by, Buf *body, size_t *used) {
    Http1Chunks chunks = {0};
    const char *at = bytes, *end = bytes + len, *data;
    Http1Step step = HTTP1_MORE;
    size_t n;
    while (step == HTTP1_MORE && at < end) {
        const char *piece = (size_t)(end - at) < by ? end : at + by;
        while ((step = http1_chunks_next(&chunks, &at, piece, &data, &n)) == HTTP1_DATA) {
            CHECK(n && data >= bytes && data + n <= piece);
            buf_add(body, data, n);
        }
        CHECK(step != HTTP1_MORE || at == piece);
    }
    *used = (size_t)(at - bytes);
    return step;
}

static void check_chunks(const char *bytes, size_t len, size_t by) {
    Buf whole = BUF_INIT, cut = BUF_INIT;
    size_t used, used_cut;
    Http1Step step = read_chunks(bytes, len, len, &whole, &used);
    CHECK(read_chunks(bytes, len, by, &cut, &used_cut) == step && used == used_cut);
    CHECK(whole.len == cut.len && whole.len <= len);
    CHECK(!whole.len || memcmp(whole.data, cut.data, whole.len) == 0);
    CHECK(step != HTTP1_END || (used >= 5 && memcmp(bytes + used - 4, "\r\n\r\n", 4) == 0));
    buf_clear(&whole);
    buf_clear(&cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Http1Head head;
    Http1Problem bad, bad_cut;
    if (size < 2) return 0;
    size_t by = data[0] % 61 + 1, len = size - 1;
    char *bytes = mem_strndup((const char *)data + 1, len);
    size_t end = find_end(bytes, len, len, &bad), cut = find_end(bytes, len, by, &bad_cut);
    CHECK(end == cut && bad.status == bad_cut.status);
    if (end) {
        CHECK(end <= HEAD_MAX && memcmp(bytes + end - 2, "\r\n", 2) == 0);
        if (http1_head_parse(bytes, end, &head, &bad)) {
            check_head(bytes, &head);
            check_again(bytes, &head);
            if (head.chunked) check_chunks(bytes + end, len - end, by);
        } else {
            CHECK(bad.status >= 400 && bad.why);
        }
    } else {
        check_chunks(bytes, len, by);
    }
    mem_free(bytes);
    return 0;
}
