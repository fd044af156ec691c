/* pawl.h - the public interface of libpawl.
 *
 * For now: jq expressions over JSON text, each evaluation within a budget.
 *
 *     PawlError err;
 *     PawlExpr *expr = pawl_expr_compile(".items[] | .price", &err);
 *     if (!expr) { fprintf(stderr, "%d:%d: %s\n", err.line, err.col, err.message); ... }
 *     pawl_expr_eval(expr, text, strlen(text), NULL, print_line, NULL, &err);
 *     pawl_expr_free(expr);
 *
 * Compile and link with `pkg-config --cflags --libs pawl`.
 *
 * Threads: an expression may be used by one thread at a time, the one that compiled it; threads that
 * have expressions of their own do not meet. Nothing here does input or output.
 *
 * Errors: what fails because of its input says so in a PawlError, a plain value of the caller's that
 * holds no memory; every `err` may be NULL. Running out of memory ends the process, which is why an
 * evaluation is held to a budget that ends it first.
 */
#ifndef PAWL_H
#define PAWL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PAWL_API __attribute__((visibility("default")))
#else
#define PAWL_API
#endif

/* The version of the library, such as "0.1.0". */
PAWL_API const char *pawl_version(void);

/* ---- errors ---- */

typedef enum PawlCode {
    PAWL_OK = 0,
    PAWL_SYNTAX, /* the expression does not compile, or the input is not JSON */
    PAWL_RAISED, /* the expression failed on this input */
    PAWL_LIMIT,  /* the evaluation went over its budget */
    PAWL_OTHER,
} PawlCode;

typedef struct PawlError {
    PawlCode code;
    int line;          /* in the text that is at fault, from 1; 0 when there is no place */
    int col;           /* from 1 */
    char message[512]; /* a sentence; UTF-8 */
} PawlError;

/* ---- expressions ---- */

/* What one evaluation may use. Zero (or no PawlLimits at all) means the default. */
typedef struct PawlLimits {
    uint64_t steps; /* instructions; 50,000,000 by default */
    size_t memory;  /* bytes of values and stacks; 256 MiB by default */
    size_t depth;   /* calls inside calls; 1,000,000 by default */
} PawlLimits;

/* A compiled expression. */
typedef struct PawlExpr PawlExpr;

/* Gets each output of an evaluation as compact JSON text, which is lent until it returns; text[len]
 * is '\0'. Returning false ends the evaluation, which then counts as having succeeded. */
typedef bool (*PawlOutputFn)(void *ctx, const char *text, size_t len);

/* Compiles an expression in the jq language. NULL on error. */
PAWL_API PawlExpr *pawl_expr_compile(const char *text, PawlError *err);

/* Evaluates over one JSON document. False on error; the outputs before it have been handed over. */
PAWL_API bool pawl_expr_eval(const PawlExpr *expr, const char *json, size_t len,
                             const PawlLimits *limits, PawlOutputFn output, void *ctx,
                             PawlError *err);

/* Accepts NULL. */
PAWL_API void pawl_expr_free(PawlExpr *expr);

#ifdef __cplusplus
}
#endif

#endif
