/* jq_native.h - functions of the language that are written in C. Internal to jq/.
 *
 * A native is a row of a table: name, number of arguments, effects, function. It gets the input in
 * args[0] and its arguments after it, each already evaluated to one value; for several outputs of
 * an argument it is called several times. The machine owns args; a native that wants to build on
 * one moves it out with json_take(&args[i]), and whatever is left is released afterwards. It
 * returns one new value, or JSON_NONE after jq_fail() or a false jq_charge() / jq_room().
 *
 * A native must not recurse on its data and must not run long without asking: it calls jq_charge()
 * in proportion to the work it is about to do and jq_room() before it makes something large.
 *
 * On large values it runs on a fiber, and gives way inside jq_charge() and json_breathe() (json_breath.h): what is paid for
 * in advance is done with a breath for each thing. One that is quick takes the same time for an input of any size, unless that
 * is a text.
 *
 * A name that starts with _ can be called by the prelude (prelude.c) alone, so it need not check
 * what the prelude always passes.
 */
#ifndef PAWL_JQ_NATIVE_H
#define PAWL_JQ_NATIVE_H

#include "jq.h"

typedef Json (*JqNativeFn)(JqRun *run, Json *args);

typedef struct JqNative {
    const char *name;
    uint8_t arity;   /* not counting the input */
    uint8_t effects; /* JQ_USES_..., and whether it is quick */
    JqNativeFn fn;
} JqNative;

enum { JQ_NATIVE_ARITY_MAX = 7, JQ_NATIVE_QUICK = 1 << 7 };

/* One table a file, each ended by a row with a NULL name. */
extern const JqNative jq_natives_value[];
extern const JqNative jq_natives_array[];
extern const JqNative jq_natives_string[];
extern const JqNative jq_natives_format[];
extern const JqNative jq_natives_regex[];
extern const JqNative jq_natives_match[];
extern const JqNative jq_natives_math[];
extern const JqNative jq_natives_date[];

/* NULL when there is none. */
const JqNative *jq_native_find(const char *name, size_t len, int arity);

/* Raises an error that the expression can catch; returns JSON_NONE so that it can be returned. */
Json jq_fail(JqRun *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
Json jq_fail_value(JqRun *run, Json value);       /* consumes value */
Json jq_fail_error(JqRun *run, const Error *err); /* from json_path.h and the like */

/* Pays for n units of work. False when the budget is spent or the run was cancelled: return
 * JSON_NONE. */
bool jq_charge(JqRun *run, uint64_t n);
/* Whether `bytes` more may be allocated now. False (and the run ends) when not: return
 * JSON_NONE. */
bool jq_room(JqRun *run, uint64_t bytes);

uint64_t jq_steps_left(const JqRun *run);

/* Whether the run is sliced: somebody waits for it to give way. */
bool jq_is_sliced(const JqRun *run);
/* JSON_NONE, to be returned by a native of a sliced run that is not on a fiber but should be: it is called again on one, with
 * the same arguments, which must all be there still. */
Json jq_apart(JqRun *run);
/* On a fiber, after a breath: false when nobody waits for the run any more. */
bool jq_is_wanted(const JqRun *run);

/* Whether the program computes with integers of any size (exact.h). */
bool jq_is_exact(const JqRun *run);

const JqHost *jq_run_host(const JqRun *run);
double jq_run_now(JqRun *run);

/* A place for what a native wants to keep between calls (compiled regular expressions): starts as
 * NULL; free is called when the run is freed. */
void **jq_run_keep(JqRun *run, void (*free_fn)(void *));

/* ---- shared by several natives and the machine's operators ---- */

/* left OP right by jq's rules; consume both; JSON_NONE after jq_fail(). */
Json jq_add(JqRun *run, Json a, Json b);
Json jq_subtract(JqRun *run, Json a, Json b);
Json jq_multiply(JqRun *run, Json a, Json b);
Json jq_divide(JqRun *run, Json a, Json b);
Json jq_modulo(JqRun *run, Json a, Json b);
Json jq_negate(JqRun *run, Json a);

/* jq's order, and equality, paid for; borrow both. False when they are too deep or the budget is
 * spent. */
bool jq_compare(JqRun *run, Json a, Json b, int *order);
bool jq_equal(JqRun *run, Json a, Json b, bool *equal);

/* Where the array part stands in the array in; borrows both. */
Json jq_places(JqRun *run, Json in, Json part);

/* tostring and tojson; consume a. */
Json jq_to_string(JqRun *run, Json a);
Json jq_to_json(JqRun *run, Json a);

/* @name applied to a value, as `@csv` does; consumes a. The name is without the @. */
typedef Json (*JqFormatFn)(JqRun *run, Json a);
JqFormatFn jq_format_find(const char *name, size_t len); /* NULL when there is none */
const char *jq_format_name(size_t i);                    /* NULL past the last; for completions */

#endif
