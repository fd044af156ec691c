/* documents.c - writers of JSON text. */
#include "documents.h"

#include "json_parse.h"
#include "json_print.h"

typedef struct Dice {
    uint64_t state;
} Dice;

#define DICE_INIT \
    { 0x9E3779B97F4A7C15u }

/* xorshift64*: small, and the same everywhere. */
static uint32_t roll(Dice *d, uint32_t sides) {
    d->state ^= d->state >> 12;
    d->state ^= d->state << 25;
    d->state ^= d->state >> 27;
    return (uint32_t)(d->state * 0x2545F4914F6CDD1Du >> 32) % sides;
}

static const char *const words[] = {
    "alpha", "of",    "the",    "journal", "node",  "running", "waits", "for",
    "a",     "reply", "branch", "state",   "merge", "and",     "then",  "everything",
};

static const char *const states[] = {"done", "waiting", "running", "failed", "skipped"};

static const char *const oddities[] = {"\\\"", "\\n", "é", "ü", "→", "日本", "\\u00df", "\\t", "/"};

#define PICK(dice, table) ((table)[roll(dice, sizeof(table) / sizeof(table)[0])])

static void write_words(Buf *out, Dice *d, int n) {
    for (int i = 0; i < n; i++) {
        buf_printf(out, "%s%s", i ? " " : "", PICK(d, words));
    }
}

static void write_record(Buf *out, Dice *d, unsigned id) {
    buf_printf(out, "{\"id\":%u,\"name\":\"item-%06u\",\"state\":\"%s\",\"note\":\"", id,
               roll(d, 1000000), PICK(d, states));
    write_words(out, d, 3 + (int)roll(d, 8));
    buf_printf(
        out, "\",\"score\":%u.%02u,\"at\":%u,\"ok\":%s,\"parent\":%s,\"tags\":[\"%s\",\"%s\"]",
        roll(d, 100), roll(d, 100), 1700000000 + roll(d, 10000000), roll(d, 2) ? "true" : "false",
        roll(d, 2) ? "null" : "17", PICK(d, words), PICK(d, words));
    buf_printf(out, ",\"size\":{\"width\":%u,\"height\":%u,\"unit\":\"px\"}}", roll(d, 4000),
               roll(d, 3000));
}

void document_records(Buf *out, size_t bytes) {
    Dice d = DICE_INIT;
    size_t end = out->len + bytes;
    for (unsigned id = 0; out->len < end; id++) {
        buf_addc(out, id ? ',' : '[');
        write_record(out, &d, id);
    }
    buf_addc(out, ']');
}

void document_by_name(Buf *out, size_t bytes) {
    Dice d = DICE_INIT;
    size_t end = out->len + bytes;
    for (unsigned id = 0; out->len < end; id++) {
        buf_printf(out, "%c\"record-%u\":", id ? ',' : '{', id);
        write_record(out, &d, id);
    }
    buf_addc(out, '}');
}

void document_pretty(Buf *out, size_t bytes) {
    Buf flat = BUF_INIT;
    document_records(&flat, bytes * 6 / 10); /* white space is the rest */
    Json j = json_parse(flat.data, flat.len, NULL, NULL);
    json_print(j, &(JsonPrintOptions){.indent = 2}, out);
    json_unref(j);
    buf_clear(&flat);
}

static void write_number_row(Buf *out, Dice *d) {
    buf_printf(out, "[%u,-%u,%u.%u,%u.%06u,%u%06u,%ue-%u,0.%03u,%u]", roll(d, 10), roll(d, 100000),
               roll(d, 1000), 1 + roll(d, 9), roll(d, 90), 1 + roll(d, 999999), 1 + roll(d, 100000),
               roll(d, 1000000), 1 + roll(d, 9), 7 + roll(d, 20), roll(d, 1000), roll(d, 256));
}

void document_numbers(Buf *out, size_t bytes) {
    Dice d = DICE_INIT;
    size_t end = out->len + bytes;
    for (char before = '['; out->len < end; before = ',') {
        buf_addc(out, before);
        write_number_row(out, &d);
    }
    buf_addc(out, ']');
}

static void write_sentence(Buf *out, Dice *d) {
    buf_addc(out, '"');
    for (unsigned i = roll(d, 6); i > 0; i--) {
        write_words(out, d, 1 + (int)roll(d, 12));
        buf_printf(out, " %s ", PICK(d, oddities));
    }
    write_words(out, d, 1 + (int)roll(d, 20));
    buf_addc(out, '"');
}

void document_strings(Buf *out, size_t bytes) {
    Dice d = DICE_INIT;
    size_t end = out->len + bytes;
    for (char before = '['; out->len < end; before = ',') {
        buf_addc(out, before);
        write_sentence(out, &d);
    }
    buf_addc(out, ']');
}

void document_keys(Buf *out, size_t n) {
    for (size_t i = 1; i <= n; i++) {
        buf_printf(out, "%s\"key-%zu\":%zu", i == 1 ? "{" : ",", i, i);
    }
    buf_addc(out, '}');
}

void document_array(Buf *out, size_t n) {
    for (size_t i = 1; i <= n; i++) {
        buf_printf(out, "%c%zu", i == 1 ? '[' : ',', i);
    }
    buf_addc(out, ']');
}
