/* bisect.h - the place of something among things that are in order.
 *
 *     BISECT(found, n, i, items[i].id < id);      declares found: the first that is not before it, or n
 */
#ifndef PAWL_BISECT_H
#define PAWL_BISECT_H

#include <stddef.h>

#define BISECT(found, n, i, is_before)                     \
    size_t found = 0;                                      \
    for (size_t found##_end = (n); found < found##_end;) { \
        size_t i = found + (found##_end - found) / 2;      \
        if (is_before) {                                   \
            found = i + 1;                                 \
        } else {                                           \
            found##_end = i;                               \
        }                                                  \
    }

#endif
