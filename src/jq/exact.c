#include "exact.h"

#include "native.h"

#include <gmp.h>

static bool is_integer(Json j) {
    if (json_tag(j) == JSON_TAG_INT) return true;
    if (json_kind(j) != JSON_NUMBER || json_tag(j) == JSON_TAG_DOUBLE) return false;
    Buf text = BUF_INIT;
    json_number_print(j, &text);
    bool whole = text.len == strspn(text.data, "-0123456789") && text.len <= EXACT_DIGITS_MAX;
    buf_clear(&text);
    return whole;
}

bool exact_takes(const JqRun *run, Json a, Json b) {
    return jq_is_exact(run) && is_integer(a) && is_integer(b);
}

static void read(mpz_t to, Json j) {
    Buf text = BUF_INIT;
    json_number_print(j, &text);
    mpz_init_set_str(to, text.data, 10);
    buf_clear(&text);
}

static Json written(const mpz_t from) {
    Buf text = BUF_INIT;
    char *to = buf_reserve(&text, mpz_sizeinbase(from, 10) + 2);
    mpz_get_str(to, 10, from);
    Json j = json_number_parse(to, strlen(to));
    buf_clear(&text);
    return j;
}

static bool calculate(ExactOp op, mpz_t to, const mpz_t a, const mpz_t b) {
    if ((op == EXACT_DIVIDE || op == EXACT_MODULO) && mpz_sgn(b) == 0) return false;
    switch (op) {
    case EXACT_ADD: mpz_add(to, a, b); break;
    case EXACT_SUBTRACT: mpz_sub(to, a, b); break;
    case EXACT_MULTIPLY: mpz_mul(to, a, b); break;
    case EXACT_DIVIDE:
        if (!mpz_divisible_p(a, b)) return false;
        mpz_divexact(to, a, b);
        break;
    case EXACT_MODULO: mpz_tdiv_r(to, a, b); break;
    }
    return true;
}

Json exact_calculate(JqRun *run, ExactOp op, Json a, Json b) {
    mpz_t x, y, z;
    Json out = json_null();
    read(x, a);
    read(y, b);
    mpz_init(z);
    size_t digits = mpz_sizeinbase(x, 10) + mpz_sizeinbase(y, 10);
    if (!jq_charge(run, 1 + digits / 16)) {
        out = json_none();
    } else if (calculate(op, z, x, y)) {
        out = mpz_sizeinbase(z, 10) > EXACT_DIGITS_MAX
                  ? jq_fail(run, "Integer result too long: more than 20000 digits")
                  : written(z);
    }
    mpz_clears(x, y, z, NULL);
    return out;
}
