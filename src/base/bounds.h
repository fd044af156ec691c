/* bounds.h - what whoever runs workflows lets them reach. A workflow may ask for less, never for more. */
#ifndef PAWL_BOUNDS_H
#define PAWL_BOUNDS_H

#include "net_policy.h"
#include "safe_root.h"

/* Both are borrowed by who is given them. */
typedef struct Bounds {
    const SafeRoot *root; /* that the files which workflows name are in; NULL: anywhere */
    const NetPolicy *net; /* where requests go; NULL: anywhere */
} Bounds;

#endif
