/* The functions of libm. Each list is one table; a name in it is a function of libm with that many
 * numbers, or one of ours below that keeps it free of global state and undefined conversions. */
#define _GNU_SOURCE
#include "native.h"

#include <limits.h>
#include <math.h>

static int to_int(double d) {
    return isnan(d) ? 0 : d < INT_MIN ? INT_MIN : d > INT_MAX ? INT_MAX : (int)d;
}

/* lgamma() leaves the sign in a global; lgamma_r() does not. */
static double our_lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

static double our_ldexp(double x, double e) {
    return ldexp(x, to_int(e));
}

static double our_scalbln(double x, double e) {
    return scalbln(x, to_int(e));
}

static double our_nexttoward(double x, double y) {
    return nexttoward(x, (long double)y);
}

static double our_jn(double n, double x) {
    return jn(to_int(n), x);
}

static double our_yn(double n, double x) {
    return yn(to_int(n), x);
}

/* X(name in the language, function) */
/* clang-format off */
#define ROUNDING(X)                                                                                \
    X(floor, floor) X(ceil, ceil) X(round, round) X(trunc, trunc) X(rint, rint)                    \
    X(nearbyint, nearbyint)

#define ONE_NUMBER(X)                                                                              \
    X(sqrt, sqrt) X(cbrt, cbrt) X(fabs, fabs) X(exp, exp) X(exp2, exp2) X(exp10, exp10)            \
    X(pow10, exp10) X(expm1, expm1) X(log, log) X(log2, log2) X(log10, log10) X(log1p, log1p)      \
    X(logb, logb) X(significand, significand) X(sin, sin) X(cos, cos) X(tan, tan) X(asin, asin)    \
    X(acos, acos) X(atan, atan) X(sinh, sinh) X(cosh, cosh) X(tanh, tanh) X(asinh, asinh)          \
    X(acosh, acosh) X(atanh, atanh) X(erf, erf) X(erfc, erfc) X(gamma, our_lgamma)                 \
    X(lgamma, our_lgamma) X(tgamma, tgamma) X(j0, j0) X(j1, j1) X(y0, y0) X(y1, y1)

#define TWO_NUMBERS(X)                                                                             \
    X(pow, pow) X(atan2, atan2) X(fmod, fmod) X(fmin, fmin) X(fmax, fmax) X(fdim, fdim)            \
    X(hypot, hypot) X(copysign, copysign) X(drem, remainder) X(remainder, remainder)               \
    X(nextafter, nextafter) X(nexttoward, our_nexttoward) X(ldexp, our_ldexp) X(scalb, scalb)      \
    X(scalbln, our_scalbln) X(jn, our_jn) X(yn, our_yn)

#define THREE_NUMBERS(X) X(fma, fma)
/* clang-format on */

/* Reads n numbers. False after jq_fail(). */
static bool numbers(JqRun *run, const Json *args, size_t n, double *out) {
    for (size_t i = 0; i < n; i++) {
        if (json_kind(args[i]) != JSON_NUMBER) {
            native_fail_type(run, args[i], "number required");
            return false;
        }
        out[i] = json_to_double(args[i]);
    }
    return true;
}

static bool is_whole(Json v) {
    return json_tag(v) == JSON_TAG_INT && v.i > -((int64_t)1 << 53) && v.i < (int64_t)1 << 53;
}

#define DEFINE_ROUNDING(name, fn)                                              \
    static Json math_##name(JqRun *run, Json *args) {                          \
        double x;                                                              \
        if (is_whole(args[0])) {                                               \
            return args[0];                                                    \
        }                                                                      \
        return numbers(run, args, 1, &x) ? native_number(fn(x)) : json_none(); \
    }
#define DEFINE_ONE(name, fn)                                                   \
    static Json math_##name(JqRun *run, Json *args) {                          \
        double x;                                                              \
        return numbers(run, args, 1, &x) ? native_number(fn(x)) : json_none(); \
    }
#define DEFINE_TWO(name, fn)                                                               \
    static Json math_##name(JqRun *run, Json *args) {                                      \
        double x[2];                                                                       \
        return numbers(run, args + 1, 2, x) ? native_number(fn(x[0], x[1])) : json_none(); \
    }
#define DEFINE_THREE(name, fn)                                                                   \
    static Json math_##name(JqRun *run, Json *args) {                                            \
        double x[3];                                                                             \
        return numbers(run, args + 1, 3, x) ? native_number(fn(x[0], x[1], x[2])) : json_none(); \
    }

/* clang-format off */
ROUNDING(DEFINE_ROUNDING)
ONE_NUMBER(DEFINE_ONE)
TWO_NUMBERS(DEFINE_TWO)
THREE_NUMBERS(DEFINE_THREE)
/* clang-format on */

/* ---- those with two results ---- */

static Json pair(double a, double b) {
    Json items[] = {native_number(a), native_number(b)};
    return json_array_from(items, 2);
}

static Json math_frexp(JqRun *run, Json *args) {
    double x;
    int exponent = 0;
    if (!numbers(run, args, 1, &x)) return json_none();
    double fraction = frexp(x, &exponent);
    return pair(fraction, isfinite(x) ? exponent : 0);
}

static Json math_modf(JqRun *run, Json *args) {
    double x, whole;
    if (!numbers(run, args, 1, &x)) return json_none();
    double fraction = modf(x, &whole);
    return pair(fraction, whole);
}

static Json math_lgamma_r(JqRun *run, Json *args) {
    double x;
    int sign = 0;
    if (!numbers(run, args, 1, &x)) return json_none();
    double value = lgamma_r(x, &sign);
    return pair(value, sign);
}

#define ROW_ONE(name, fn)   {#name, 0, JQ_PURE, math_##name},
#define ROW_TWO(name, fn)   {#name, 2, JQ_PURE, math_##name},
#define ROW_THREE(name, fn) {#name, 3, JQ_PURE, math_##name},

/* clang-format off */
const JqNative jq_natives_math[] = {
    ROUNDING(ROW_ONE)
    ONE_NUMBER(ROW_ONE)
    TWO_NUMBERS(ROW_TWO)
    THREE_NUMBERS(ROW_THREE)
    {"frexp", 0, JQ_PURE, math_frexp},
    {"modf", 0, JQ_PURE, math_modf},
    {"lgamma_r", 0, JQ_PURE, math_lgamma_r},
    {0},
};
