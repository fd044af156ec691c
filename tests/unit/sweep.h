/* sweep.h - how much of a long test a build does.
 *
 *     for_seeds(1, sweep_of(25, 6), check);      25 of them, under a sanitizer 6
 *
 * Under a sanitizer everything takes ten times as long. The same test is run whole in the other build, and
 * here, too, if PAWL_TEST_ALL is set: `make crash` does so.
 */
#ifndef PAWL_TESTS_SWEEP_H
#define PAWL_TESTS_SWEEP_H

#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static inline int sweep_of(int all, int some) {
    return SANITIZED && !getenv("PAWL_TEST_ALL") ? some : all;
}

#endif
