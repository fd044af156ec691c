#include "number_text.h"

#include "mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS_MAX = 17,   /* that a double has */
    DECIMALS = 6,      /* of a field */
    EXPONENT_MIN = -4, /* without an exponent from here */
    EXPONENT_MAX = 6,  /* to below here */
    TEXT_MAX = 340,    /* bytes of any double with six decimals, and more */
    SHORTEST_MAX = 32, /* bytes of the shortest with an exponent, and more */
};

/* Above it doubles are integers. */
static const double WHOLE_FROM = 0x1p53;

/* Whether it is written with digits alone, which a double is not. */
static bool is_whole_text(Json number) {
    Buf text = BUF_INIT;
    json_number_print(number, &text);
    bool whole = text.len == strspn(text.data, "-0123456789");
    buf_clear(&text);
    return whole;
}

static bool is_literal(Json value) {
    return json_kind(value) == JSON_NUMBER && json_tag(value) != JSON_TAG_INT &&
           json_tag(value) != JSON_TAG_DOUBLE;
}

bool number_is_double(Json value) {
    if (json_kind(value) != JSON_NUMBER || json_tag(value) == JSON_TAG_INT) return false;
    return json_tag(value) == JSON_TAG_DOUBLE || !is_whole_text(value);
}

static bool is_big(Json value) {
    return is_literal(value) && is_whole_text(value);
}

/* "1.234e+06"; returns the exponent. */
static int print_shortest(double number, char text[SHORTEST_MAX]) {
    for (int n = 0; n < DIGITS_MAX; n++) {
        snprintf(text, SHORTEST_MAX, "%.*e", n, number);
        if (strtod(text, NULL) == number) break;
    }
    return atoi(strchr(text, 'e') + 1);
}

/* NaN, +Inf and -Inf. */
static bool add_unusual(double number, Buf *out) {
    if (isfinite(number)) return false;
    buf_adds(out, isnan(number) ? "NaN" : number > 0 ? "+Inf" : "-Inf");
    return true;
}

void add_decimal(double number, Buf *out) {
    char text[TEXT_MAX];
    if (add_unusual(number, out)) return;
    if (fabs(number) < WHOLE_FROM) {
        size_t len = (size_t)snprintf(text, sizeof text, "%.*f", DECIMALS, number);
        while (text[len - 1] == '0') len--;
        buf_add(out, text, len - (text[len - 1] == '.'));
        return;
    }
    int exponent = print_shortest(number, text), digits = 0;
    for (const char *c = text; *c != 'e'; c++) {
        if (*c == '.') continue;
        buf_addc(out, *c);
        digits += *c != '-';
    }
    for (; digits <= exponent; digits++) buf_addc(out, '0');
}

void add_shortest(double number, Buf *out) {
    char text[SHORTEST_MAX];
    if (add_unusual(number, out)) return;
    int exponent = print_shortest(number, text);
    if (exponent >= EXPONENT_MIN && exponent < EXPONENT_MAX) {
        int digits = (int)strspn(text[0] == '-' ? text + 1 : text, "0123456789.");
        digits -= digits > 1; /* the point */
        int decimals = digits - 1 - exponent;
        snprintf(text, sizeof text, "%.*f", decimals > 0 ? decimals : 0, number);
    }
    buf_adds(out, text);
}

/* ---- big integers ---- */

/* Shared parts count each time that they are there: what is larger is nothing that could be kept. */
static const uint64_t WALKED_MAX = 256 << 20;

/* An array or object on the way down. */
typedef struct Level {
    Json in;  /* borrowed */
    Json out; /* the same until something in it changes */
    size_t at;
    Json key; /* of the one that is looked at; borrowed */
    bool changed;
} Level;

typedef struct Walk {
    Level *levels;
    size_t n, cap;
} Walk;

static void enter(Walk *w, Json value) {
    w->levels = mem_grow(w->levels, w->n, &w->cap, sizeof *w->levels);
    w->levels[w->n++] = (Level){.in = value, .out = json_ref(value)};
}

/* JSON_NONE when there is none. Borrowed. */
static Json next(Level *l) {
    Json value = json_none();
    if (json_kind(l->in) == JSON_ARRAY) {
        return l->at < json_array_len(l->in) ? json_array_get(l->in, l->at++) : json_none();
    }
    return json_object_next(l->in, &l->at, &l->key, &value) ? value : json_none();
}

static void change(Level *l, Json value) {
    l->changed = true;
    l->out = json_kind(l->in) == JSON_ARRAY ? json_array_set(l->out, l->at - 1, value)
                                            : json_object_set(l->out, json_ref(l->key), value);
}

static Json as_text(Json big) {
    Buf digits = BUF_INIT;
    json_number_print(big, &digits);
    Json text = json_string(digits.data, digits.len);
    buf_clear(&digits);
    return text;
}

static Json walked(Json value) {
    Walk w = {0};
    enter(&w, value);
    for (;;) {
        Level *l = &w.levels[w.n - 1];
        Json item = next(l);
        if (is_big(item)) {
            change(l, as_text(item));
        } else if (json_kind(item) >= JSON_ARRAY) {
            enter(&w, item);
        } else if (json_is_none(item)) {
            if (w.n == 1) break;
            Level over = w.levels[--w.n];
            if (over.changed) {
                change(&w.levels[w.n - 1], over.out);
            } else {
                json_unref(over.out);
            }
        }
    }
    Json out = w.levels[0].out;
    mem_free(w.levels);
    json_unref(value);
    return out;
}

Json with_big_as_text(Json value) {
    if (json_kind(value) < JSON_ARRAY) {
        Json text = is_big(value) ? as_text(value) : json_none();
        if (json_is_none(text)) return value;
        json_unref(value);
        return text;
    }
    return json_size(value) > WALKED_MAX ? value : walked(value);
}
