/* Bytes are sorted into classes by two words of bits each, for the 128 characters of ASCII. */
#include "web_http1_parse.h"

#include "ascii.h"

#include <string.h>
#include <strings.h>

#define BIT(c)           ((uint64_t)1 << ((c)&63))
#define RANGE(from, to)  ((BIT(to) << 1) - BIT(from)) /* both in one word */
#define IS(class, c)     ((unsigned char)(c) < 128 && (class)[(unsigned char)(c) >> 6] & BIT(c))
#define BAD(status, why) (*bad = (Http1Problem){status, why}, false)

enum {
    LINE_MAX_CHUNK = 256, /* of a line with the size of a chunk */
    TRAILER_MAX = 8192,
    SIZE_DIGITS_MAX = 15, /* of a chunk: no sum of them overflows */
};

static const uint64_t token_class[2] = {
    BIT('!') | RANGE('#', '\'') | BIT('*') | BIT('+') | BIT('-') | BIT('.') | RANGE('0', '9'),
    RANGE('A', 'Z') | RANGE('^', 'z') | BIT('|') | BIT('~'),
};
/* A target is a path with a query; whatever else is written as %XX. */
static const uint64_t target_class[2] = {
    RANGE('!', '?') & ~BIT('#'),
    RANGE('@', '~'),
};
static const uint64_t host_class[2] = {
    BIT('!') | (RANGE('$', '.') & ~BIT(',')) | RANGE('0', ';') | BIT('='),
    RANGE('A', '[') | BIT(']') | BIT('_') | RANGE('a', 'z') | BIT('~'),
};

bool http_is_token(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (!IS(token_class, text[i])) return false;
    }
    return len > 0;
}

bool http_same(const char *a, size_t alen, const char *b) {
    return strlen(b) == alen && strncasecmp(a, b, alen) == 0;
}

bool http_list_has(const char *list, size_t len, const char *word) {
    const char *p = list, *end = list + len;
    while (p < end) {
        const char *comma = memchr(p, ',', (size_t)(end - p)), *last = comma ? comma : end;
        const char *next = comma ? comma + 1 : end;
        while (p < last && ascii_is_blank(*p)) p++;
        while (last > p && ascii_is_blank(last[-1])) last--;
        if (http_same(p, (size_t)(last - p), word)) return true;
        p = next;
    }
    return false;
}

/* ---- the end of a head ---- */

size_t http1_head_end(Http1Scan *scan, const char *bytes, size_t len, size_t max,
                      Http1Problem *bad) {
    *bad = (Http1Problem){0};
    if (len && !ascii_is_letter(bytes[0])) {
        return BAD(400, "A request begins with a method, such as GET.");
    }
    while (scan->at < len) {
        const char *nl = memchr(bytes + scan->at, '\n', len - scan->at);
        size_t end = nl ? (size_t)(nl - bytes) + 1 : len;
        if (end > max) {
            return scan->line ? BAD(431, "The headers are longer than this server takes.")
                              : BAD(414, "The target is longer than this server takes.");
        }
        scan->at = (uint32_t)end;
        if (!nl) break;
        if (end - scan->line < 2 || nl[-1] != '\r') {
            return BAD(400, "A line of the headers ends in LF without CR.");
        }
        if (end - scan->line == 2) return end;
        scan->line = (uint32_t)end;
    }
    return 0;
}

/* ---- a head ---- */

/* "GET /runs HTTP/1.1", with one space in between each. */
static bool read_first_line(const char *bytes, size_t len, Http1Head *head, Http1Problem *bad) {
    const char *end = bytes + len, *target, *version;
    const char *space = memchr(bytes, ' ', len);
    size_t nmethod = space ? (size_t)(space - bytes) : len;
    for (size_t i = 0; i < nmethod; i++) {
        if (!ascii_is_letter(bytes[i])) return BAD(400, "The method has other signs than letters.");
    }
    if (!space) return BAD(400, "The first line is not METHOD TARGET VERSION.");
    if (nmethod > HTTP1_METHOD_MAX) return BAD(501, "There is no method of that length.");
    head->method = (Http1Span){0, (uint32_t)nmethod};
    target = space + 1;
    version = memchr(target, ' ', (size_t)(end - target));
    if (!version) return BAD(400, "The first line is not METHOD TARGET VERSION.");
    head->target = (Http1Span){(uint32_t)(target - bytes), (uint32_t)(version - target)};
    version++;
    if (end - version != 8 || memcmp(version, "HTTP/", 5) != 0 || !ascii_is_digit(version[5]) ||
        version[6] != '.' || !ascii_is_digit(version[7])) {
        return BAD(400, "The first line does not end in a version, such as HTTP/1.1.");
    }
    if (version[5] != '1' || version[7] > '1') {
        return BAD(505, "The version is not HTTP/1.1 or HTTP/1.0.");
    }
    head->minor = version[7] - '0';
    if (*target != '/') return BAD(400, "The target is not a path that begins with a slash.");
    for (const char *p = target; p < version - 1; p++) {
        if (!IS(target_class, *p)) {
            return BAD(400, "The target has a sign that is to be written as %XX.");
        }
    }
    return true;
}

static bool read_length(const char *value, size_t len, Http1Head *head, Http1Problem *bad) {
    if (head->has_length) return BAD(400, "There is more than one Content-Length.");
    if (len < 1 || len > 18) return BAD(400, "The Content-Length is not a number of bytes.");
    head->has_length = true;
    for (size_t i = 0; i < len; i++) {
        if (!ascii_is_digit(value[i])) {
            return BAD(400, "The Content-Length is not a number of bytes.");
        }
        head->length = head->length * 10 + (uint64_t)(value[i] - '0');
    }
    return true;
}

/* The coding has nothing beside it that a proxy might read in another way. */
static bool read_coding(const char *value, size_t len, Http1Head *head, Http1Problem *bad) {
    if (head->minor == 0) return BAD(400, "HTTP/1.0 has no Transfer-Encoding.");
    if (head->chunked) return BAD(400, "There is more than one Transfer-Encoding.");
    if (!http_same(value, len, "chunked")) {
        return BAD(501, "The Transfer-Encoding is another than chunked.");
    }
    head->chunked = true;
    return true;
}

/* What the headers say that the connection itself needs to know. */
typedef struct Seen {
    int hosts;
    bool close;
} Seen;

static bool read_known_field(const char *bytes, const Http1Field *f, Http1Head *head, Seen *seen,
                             Http1Problem *bad) {
    const char *name = bytes + f->name.at, *value = bytes + f->value.at;
    size_t len = f->value.len;
    switch (f->name.len) {
    case 4:
        if (!http_same(name, 4, "host")) break;
        if (seen->hosts++) return BAD(400, "There is more than one Host.");
        if (!len) return BAD(400, "The Host is empty.");
        for (size_t i = 0; i < len; i++) {
            if (!IS(host_class, value[i])) return BAD(400, "The Host is not a name with a port.");
        }
        break;
    case 6:
        if (!http_same(name, 6, "expect")) break;
        if (!http_same(value, len, "100-continue")) {
            return BAD(417, "The server knows only one expectation: 100-continue.");
        }
        head->expects = head->minor == 1;
        break;
    case 10:
        if (!http_same(name, 10, "connection")) break;
        seen->close = seen->close || http_list_has(value, len, "close");
        break;
    case 14:
        if (http_same(name, 14, "content-length")) return read_length(value, len, head, bad);
        break;
    case 17:
        if (http_same(name, 17, "transfer-encoding")) return read_coding(value, len, head, bad);
        break;
    }
    return true;
}

/* One line, without its CR LF. */
static bool read_field(const char *bytes, size_t from, size_t to, Http1Field *f,
                       Http1Problem *bad) {
    size_t colon = from;
    while (colon < to && IS(token_class, bytes[colon])) colon++;
    if (colon == from || colon == to || bytes[colon] != ':') {
        return ascii_is_blank(bytes[from])
                   ? BAD(400, "A header goes on in a second line.")
                   : BAD(400, "A header is not a name, a colon right behind it, and a value.");
    }
    f->name = (Http1Span){(uint32_t)from, (uint32_t)(colon - from)};
    from = colon + 1;
    while (from < to && ascii_is_blank(bytes[from])) from++;
    while (to > from && ascii_is_blank(bytes[to - 1])) to--;
    for (size_t i = from; i < to; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if ((c < 32 && c != '\t') || c == 127) {
            return BAD(400, "The value of a header has a control character.");
        }
    }
    f->value = (Http1Span){(uint32_t)from, (uint32_t)(to - from)};
    return true;
}

bool http1_head_parse(const char *bytes, size_t len, Http1Head *head, Http1Problem *bad) {
    Seen seen = {0};
    const char *end = bytes + len - 2, *line = memchr(bytes, '\n', len);
    *bad = (Http1Problem){0};
    head->has_length = head->chunked = head->expects = false;
    head->length = head->nfields = 0;
    if (!read_first_line(bytes, (size_t)(line - bytes) - 1, head, bad)) return false;
    for (line++; line < end;) {
        const char *nl = memchr(line, '\n', (size_t)(end - line));
        Http1Field *f = &head->fields[head->nfields];
        if (head->nfields == HTTP1_FIELDS_MAX) return BAD(431, "There are more than 128 headers.");
        if (!read_field(bytes, (size_t)(line - bytes), (size_t)(nl - bytes) - 1, f, bad) ||
            !read_known_field(bytes, f, head, &seen, bad)) {
            return false;
        }
        head->nfields++;
        line = nl + 1;
    }
    if (head->chunked && head->has_length) {
        return BAD(400, "There is a Content-Length beside the Transfer-Encoding.");
    }
    if (!seen.hosts && head->minor == 1) return BAD(400, "There is no Host.");
    head->ends = head->minor == 0 || seen.close;
    return true;
}

/* ---- chunks ---- */

enum {
    SIZE,      /* 1a2b */
    EXTENSION, /* ;name=value, which means nothing here */
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER, /* at the first byte of a line behind the last chunk */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    LAST_LF,
    OVER,
    WRONG,
};

/* The state after one byte that is not data. */
static int after_byte(Http1Chunks *c, char byte) {
    unsigned char u = (unsigned char)byte;
    bool text = (u >= 32 && u != 127) || u == '\t';
    if (c->state >= TRAILER && ++c->trailer > TRAILER_MAX) return WRONG;
    switch (c->state) {
    case SIZE:
        if (ascii_hex(byte) >= 0 && c->digits < SIZE_DIGITS_MAX) {
            c->digits++;
            c->left = c->left * 16 + (uint64_t)ascii_hex(byte);
            return SIZE;
        }
        return !c->digits ? WRONG : byte == '\r' ? SIZE_LF : byte == ';' ? EXTENSION : WRONG;
    case EXTENSION:
        if (++c->line > LINE_MAX_CHUNK) return WRONG;
        return byte == '\r' ? SIZE_LF : text ? EXTENSION : WRONG;
    case SIZE_LF: return byte != '\n' ? WRONG : c->left ? DATA : TRAILER;
    case DATA_CR: return byte == '\r' ? DATA_LF : WRONG;
    case DATA_LF:
        c->digits = 0;
        c->line = 0;
        return byte == '\n' ? SIZE : WRONG;
    case TRAILER:
        if (byte == '\r') return LAST_LF;
        return IS(token_class, byte) ? TRAILER_NAME : WRONG;
    case TRAILER_NAME:
        return byte == ':' ? TRAILER_VALUE : IS(token_class, byte) ? TRAILER_NAME : WRONG;
    case TRAILER_VALUE: return byte == '\r' ? TRAILER_LF : text ? TRAILER_VALUE : WRONG;
    case TRAILER_LF: return byte == '\n' ? TRAILER : WRONG;
    case LAST_LF: return byte == '\n' ? OVER : WRONG;
    default: return WRONG;
    }
}

Http1Step http1_chunks_next(Http1Chunks *c, const char **at, const char *end, const char **data,
                            size_t *len) {
    while (*at < end && c->state != OVER && c->state != WRONG) {
        if (c->state == DATA) {
            size_t there = (size_t)(end - *at);
            *data = *at;
            *len = there < c->left ? there : (size_t)c->left;
            *at += *len;
            c->left -= *len;
            if (!c->left) c->state = DATA_CR;
            return HTTP1_DATA;
        }
        c->state = (uint8_t)after_byte(c, *(*at)++);
    }
    return c->state == OVER ? HTTP1_END : c->state == WRONG ? HTTP1_BAD : HTTP1_MORE;
}
