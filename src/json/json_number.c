#include "ascii.h"
#include "json.h"
#include "mem.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A number as it was written: its digits stay in the text (a point may stand among them), so that
 * literals of any length are read, compared and made canonical without another copy. */
typedef struct Literal {
    bool negative;
    bool zero;
    const char *mantissa;     /* at the first digit that counts */
    const char *mantissa_end; /* behind the last one */
    int64_t digits;           /* that count; 1 for a zero */
    int64_t exponent;         /* of the last digit */
} Literal;

enum {
    EXACT_DIGITS = 15,          /* decimals this long survive the way to a double and back */
    EXPONENT_MAX = 999999999,   /* of the first digit; beyond it is infinity, as in IEEE decimals */
    EXPONENT_MIN = -1999999997, /* below it is nothing but zero */
    EXACT_POWERS = 23,          /* 10^0 to 10^22 are doubles */
};

static const double power_of_ten[EXACT_POWERS] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static int64_t adjusted(const Literal *l) {
    return l->exponent + l->digits - 1;
}

/* ---- reading a literal ---- */

/* Reads digits with at most one point; false when there is no digit. Leading zeros do not count. */
static bool read_mantissa(Literal *l, const char **text, const char *end) {
    const char *p = *text, *point = NULL, *first = NULL, *start = p;
    for (; p < end && (ascii_is_digit(*p) || (*p == '.' && !point)); p++) {
        if (*p == '.') {
            point = p;
        } else if (!first && *p != '0') {
            first = p;
        }
    }
    if (p - start == (point ? 1 : 0)) return false;
    l->zero = !first;
    l->mantissa_end = p;
    l->mantissa = first ? first : p[-1] == '.' ? p - 2 : p - 1;
    l->digits = p - l->mantissa - (point && point >= l->mantissa);
    l->exponent = point ? -(int64_t)(p - point - 1) : 0;
    *text = p;
    return true;
}

/* Reads "E+12" if it is there; false when it is begun and not finished. */
static bool read_exponent(Literal *l, const char **text, const char *end) {
    const char *p = *text;
    if (p == end || (*p != 'e' && *p != 'E')) return true;
    p++;
    bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    int64_t value = 0;
    const char *start = p;
    for (; p < end && ascii_is_digit(*p); p++) {
        value = value < 1000000000000 ? value * 10 + (*p - '0') : value;
    }
    l->exponent += negative ? -value : value;
    *text = p;
    return p > start;
}

static bool read_literal(Literal *l, const char *text, size_t len) {
    const char *p = text, *end = text + len;
    l->negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    return read_mantissa(l, &p, end) && read_exponent(l, &p, end) && p == end;
}

/* ---- making it canonical ---- */

static char *put_digits(char *w, const char *p, const char *end) {
    for (; p < end; p++) {
        if (*p != '.') *w++ = *p;
    }
    return w;
}

/* Digits with the point `fraction` places from their end, zeros put before them as needed. */
static char *put_plain(char *w, const Literal *l) {
    int64_t fraction = -l->exponent, whole = l->digits - fraction;
    if (whole <= 0) {
        *w++ = '0';
        *w++ = '.';
        memset(w, '0', (size_t)-whole);
        return put_digits(w - whole, l->mantissa, l->mantissa_end);
    }
    char *end = put_digits(w, l->mantissa, l->mantissa_end);
    if (fraction > 0) {
        memmove(w + whole + 1, w + whole, (size_t)fraction);
        w[whole] = '.';
        end++;
    }
    return end;
}

static char *put_scientific(char *w, const Literal *l) {
    char *end = put_digits(w, l->mantissa, l->mantissa_end);
    if (l->digits > 1) {
        memmove(w + 2, w + 1, (size_t)(end - w - 1));
        w[1] = '.';
        end++;
    }
    return end + sprintf(end, "E%+lld", (long long)adjusted(l));
}

static Json decimal_from_text(const char *text, size_t len) {
    Json j = json_string_valid(text, len);
    uint64_t tag = json_tag(j) == JSON_TAG_SHORT_STRING ? JSON_TAG_SHORT_DECIMAL : JSON_TAG_DECIMAL;
    j.head_ = (j.head_ & ~(uint64_t)0xFF) | tag;
    return j;
}

/* The text of IEEE decimals' to-scientific-string. */
static Json decimal_from_literal(const Literal *l) {
    char small[128];
    size_t room = (size_t)l->digits + 32;
    char *text = room <= sizeof small ? small : mem_alloc(room), *w = text;
    if (l->negative) *w++ = '-';
    bool plain = l->exponent <= 0 && adjusted(l) >= -6;
    w = plain ? put_plain(w, l) : put_scientific(w, l);
    Json j = decimal_from_text(text, (size_t)(w - text));
    if (text != small) mem_free(text);
    return j;
}

static uint64_t digits_value(const Literal *l) {
    uint64_t value = 0;
    for (const char *p = l->mantissa; p < l->mantissa_end; p++) {
        value = *p == '.' ? value : value * 10 + (uint64_t)(*p - '0');
    }
    return value;
}

static Json from_literal(Literal *l) {
    if (l->zero && (adjusted(l) > EXPONENT_MAX || adjusted(l) < -EXPONENT_MAX)) {
        l->exponent = adjusted(l) > 0 ? EXPONENT_MAX : -EXPONENT_MAX;
    }
    uint64_t value = l->exponent == 0 && l->digits <= 19 ? digits_value(l) : UINT64_MAX;
    if (value <= (uint64_t)INT64_MAX + l->negative) {
        return l->zero && l->negative ? json_double(-0.0)
                                      : json_int((int64_t)(l->negative ? 0 - value : value));
    }
    /* The double may print exactly as the literal's canonical text. */
    char last_digit = l->mantissa_end[-1] == '.' ? l->mantissa_end[-2] : l->mantissa_end[-1];
    if (l->exponent < 0 && l->digits <= EXACT_DIGITS && adjusted(l) >= -4 && last_digit != '0') {
        double d = (double)digits_value(l) / power_of_ten[-l->exponent];
        return json_double(l->negative ? -d : d);
    }
    if (adjusted(l) > EXPONENT_MAX) return json_double(l->negative ? -HUGE_VAL : HUGE_VAL);
    if (adjusted(l) < EXPONENT_MIN) return l->negative ? json_double(-0.0) : json_int(0);
    return decimal_from_literal(l);
}

static bool is_word(const char *text, size_t len, const char *word) {
    size_t i = 0;
    while (i < len && word[i] && (text[i] | 0x20) == word[i]) i++;
    return i == len && !word[i];
}

static Json from_word(const char *text, size_t len) {
    bool negative = len && text[0] == '-';
    size_t sign = len && (text[0] == '-' || text[0] == '+');
    text += sign;
    len -= sign;
    if (is_word(text, len, "nan")) return json_double(NAN);
    if (is_word(text, len, "infinity") || is_word(text, len, "inf")) {
        return json_double(negative ? -HUGE_VAL : HUGE_VAL);
    }
    return json_none();
}

Json json_number_parse(const char *text, size_t len) {
    Literal l;
    return read_literal(&l, text, len) ? from_literal(&l) : from_word(text, len);
}

/* ---- values of literals ---- */

static const char *decimal_text(const Json *j, size_t *len) {
    if (json_tag(*j) == JSON_TAG_SHORT_DECIMAL) {
        *len = json_short_len(*j);
        return json_short_text(j);
    }
    bool is = json_tag(*j) == JSON_TAG_DECIMAL;
    *len = is ? ((const JsonStr *)j->heap)->len : 1;
    return is ? ((const JsonStr *)j->heap)->data : "0";
}

double json_decimal_double_(Json j) {
    size_t len;
    const char *text = decimal_text(&j, &len);
    Literal l;
    bool exact = read_literal(&l, text, len) && l.digits <= EXACT_DIGITS &&
                 l.exponent > -EXACT_POWERS && l.exponent < EXACT_POWERS;
    if (exact) {
        double d = (double)digits_value(&l);
        d = l.exponent < 0 ? d / power_of_ten[-l.exponent] : d * power_of_ten[l.exponent];
        return l.negative ? -d : d;
    }
    char terminated[JSON_SHORT_MAX + 1];
    if (json_tag(j) == JSON_TAG_SHORT_DECIMAL) {
        memcpy(terminated, text, len);
        terminated[len] = '\0';
        text = terminated;
    }
    return strtod(text, NULL);
}

static Json int64_min_magnitude(void) {
    return decimal_from_text("9223372036854775808", 19);
}

static Json negate_decimal(Json j) {
    size_t len;
    const char *text = decimal_text(&j, &len);
    if (text[0] == '-') return json_number_parse(text + 1, len - 1);
    Buf b = BUF_INIT;
    buf_addc(&b, '-');
    buf_add(&b, text, len);
    /* Through the reader, for -9223372036854775808 is an integer although its magnitude is not. */
    Json result = json_number_parse(b.data, b.len);
    buf_clear(&b);
    return result;
}

Json json_number_negate(Json j) {
    if (json_tag(j) == JSON_TAG_INT) {
        return j.i == INT64_MIN ? int64_min_magnitude() : j.i ? json_int(-j.i) : json_double(-0.0);
    }
    if (json_tag(j) == JSON_TAG_DOUBLE) return json_number(-j.d);
    return negate_decimal(j);
}

Json json_number_abs(Json j) {
    if (json_tag(j) == JSON_TAG_INT) {
        return j.i == INT64_MIN ? int64_min_magnitude() : json_int(j.i < 0 ? -j.i : j.i);
    }
    if (json_tag(j) == JSON_TAG_DOUBLE) return json_number(fabs(j.d));
    size_t len;
    return decimal_text(&j, &len)[0] == '-' ? negate_decimal(j) : json_ref(j);
}

/* ---- order ---- */

static char next_digit(const char **p, const char *end) {
    *p += *p < end && **p == '.';
    return *p < end ? *(*p)++ : '0';
}

static int order_magnitudes(const Literal *a, const Literal *b) {
    if (a->zero || b->zero) return b->zero - a->zero;
    if (adjusted(a) != adjusted(b)) return adjusted(a) > adjusted(b) ? 1 : -1;
    const char *p = a->mantissa, *q = b->mantissa;
    while (p < a->mantissa_end || q < b->mantissa_end) {
        char c = next_digit(&p, a->mantissa_end), d = next_digit(&q, b->mantissa_end);
        if (c != d) return c > d ? 1 : -1;
    }
    return 0;
}

static void literal_of(const Json *j, Literal *l, char scratch[24]) {
    size_t len;
    const char *text = scratch;
    if (json_tag(*j) == JSON_TAG_INT) {
        len = (size_t)snprintf(scratch, 24, "%lld", (long long)j->i);
    } else {
        text = decimal_text(j, &len);
    }
    read_literal(l, text, len);
}

int json_number_compare(Json a, Json b) {
    if (json_tag(a) == JSON_TAG_INT && json_tag(b) == JSON_TAG_INT) {
        return (a.i > b.i) - (a.i < b.i);
    }
    if (json_tag(a) == JSON_TAG_DOUBLE || json_tag(b) == JSON_TAG_DOUBLE) {
        double x = json_to_double(a), y = json_to_double(b);
        return x != x ? -1 : y != y ? 1 : (x > y) - (x < y);
    }
    char scratch_a[24], scratch_b[24];
    Literal la, lb;
    literal_of(&a, &la, scratch_a);
    literal_of(&b, &lb, scratch_b);
    bool a_below = la.negative && !la.zero, b_below = lb.negative && !lb.zero;
    if (a_below != b_below) return a_below ? -1 : 1;
    return a_below ? order_magnitudes(&lb, &la) : order_magnitudes(&la, &lb);
}

/* ---- printing ---- */

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324252627282930"
                                  "31323334353637383940414243444546474849505152535455565758596061"
                                  "62636465666768697071727374757677787980818283848586878889909192"
                                  "93949596979899";

/* Writes the digits so that they end at `end`; returns where they start. */
static char *format_backwards(uint64_t value, char *end) {
    while (value >= 100) {
        end -= 2;
        memcpy(end, digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, digit_pairs + 2 * value, 2);
    } else {
        *--end = (char)('0' + value);
    }
    return end;
}

/* The shortest decimal that reads back as a double: 0.DIGITS x 10^point. */
typedef struct Shortest {
    char digits[32];
    int n;
    int point;
} Shortest;

static void drop_trailing_zeros(Shortest *s) {
    while (s->n > 1 && s->digits[s->n - 1] == '0') s->n--;
}

/* Few enough decimals: then there is only one such decimal near d, and scaling finds it. */
static bool shortest_by_scaling(double d, Shortest *s) {
    for (int k = 0; k <= EXACT_DIGITS; k++) {
        double scaled = d * power_of_ten[k];
        if (scaled >= 1e15) return false;
        int64_t m = (int64_t)(scaled + 0.5);
        if ((double)m / power_of_ten[k] == d) {
            char text[20], *end = text + sizeof text;
            char *start = format_backwards((uint64_t)m, end);
            s->n = (int)(end - start);
            memcpy(s->digits, start, (size_t)s->n);
            s->point = s->n - k;
            drop_trailing_zeros(s);
            return true;
        }
    }
    return false;
}

/* The nearest decimal of n digits; says whether it reads back. */
static bool shortest_by_rounding(double d, int n, Shortest *s) {
    char text[40];
    snprintf(text, sizeof text, "%.*e", n - 1, d);
    s->digits[0] = text[0];
    memcpy(s->digits + 1, text + 2, (size_t)(n - 1));
    s->n = n;
    s->point = atoi(strchr(text, 'e') + 1) + 1;
    return strtod(text, NULL) == d;
}

/* Below a power of two doubles lie closer than above it, so the nearest decimal of 16 digits may
 * fail to read back while the next one up does not. */
static bool shortest_one_up(double d, Shortest *s) {
    char text[48];
    int n = s->n, binary_exponent;
    if (frexp(d, &binary_exponent) != 0.5) return false;
    while (n > 0 && s->digits[n - 1] == '9') n--;
    if (n == 0) return false;
    Shortest up = *s;
    up.digits[n - 1]++;
    memset(up.digits + n, '0', (size_t)(s->n - n));
    snprintf(text, sizeof text, "0.%.*se%d", up.n, up.digits, up.point);
    if (strtod(text, NULL) != d) return false;
    *s = up;
    return true;
}

static void shortest_digits(double d, Shortest *s) {
    if (shortest_by_scaling(d, s)) return;
    /* Subnormals have fewer digits to show. */
    int n = d < DBL_MIN ? 1 : EXACT_DIGITS;
    while (n < 17 && !shortest_by_rounding(d, n, s) && !shortest_one_up(d, s)) n++;
    if (n == 17) shortest_by_rounding(d, n, s);
    drop_trailing_zeros(s);
}

static char *put_run(char *w, const char *digits, int n) {
    memcpy(w, digits, (size_t)n);
    return w + n;
}

static char *put_zeros(char *w, int n) {
    memset(w, '0', (size_t)n);
    return w + n;
}

static char *put_shortest(char *w, const Shortest *s) {
    if (s->point <= -4 || s->point > s->n + 15) {
        *w++ = s->digits[0];
        if (s->n > 1) {
            *w++ = '.';
            w = put_run(w, s->digits + 1, s->n - 1);
        }
        int exponent = s->point - 1;
        *w++ = 'e';
        *w++ = exponent < 0 ? '-' : '+';
        return w + sprintf(w, "%02d", abs(exponent));
    }
    if (s->point <= 0) {
        w = put_zeros(put_run(w, "0.", 2), -s->point);
        return put_run(w, s->digits, s->n);
    }
    if (s->n <= s->point) return put_zeros(put_run(w, s->digits, s->n), s->point - s->n);
    w = put_run(w, s->digits, s->point);
    *w++ = '.';
    return put_run(w, s->digits + s->point, s->n - s->point);
}

static void print_double(double d, Buf *out) {
    if (d != d) {
        buf_adds(out, "null");
        return;
    }
    d = d > DBL_MAX ? DBL_MAX : d < -DBL_MAX ? -DBL_MAX : d;
    char *start = buf_reserve(out, 48), *w = start;
    if (signbit(d)) *w++ = '-';
    Shortest s;
    shortest_digits(fabs(d), &s);
    buf_advance(out, (size_t)(put_shortest(w, &s) - start));
}

void json_number_print(Json j, Buf *out) {
    if (json_tag(j) == JSON_TAG_INT) {
        enum { DIGITS = 20 };
        char text[2 * DIGITS],
            *end = text + DIGITS; /* behind it: what is copied with fewer digits */
        char *start = format_backwards(j.i < 0 ? 0 - (uint64_t)j.i : (uint64_t)j.i, end);
        if (j.i < 0) *--start = '-';
        memcpy(buf_reserve(out, DIGITS), start, DIGITS);
        buf_advance(out, (size_t)(end - start));
    } else if (json_tag(j) == JSON_TAG_DOUBLE) {
        print_double(j.d, out);
    } else {
        size_t len;
        const char *text = decimal_text(&j, &len);
        buf_add(out, text, len);
    }
}
