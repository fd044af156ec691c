/* bounds.h - what whoever runs workflows lets them reach. A workflow may ask for less, never for more. */
#ifndef PAWL_BOUNDS_H
#define PAWL_BOUNDS_H

#include "net_policy.h"
#include "safe_root.h"

#include <stdbool.h>

/* All of them are borrowed by who is given them. */
typedef struct Bounds {
    const SafeRoot *root; /* that the files which workflows name are in; NULL: anywhere */
    const NetPolicy *net; /* where requests go; NULL: anywhere */
    const bool *kinds;    /* by KindId (flow/kind.h): whether such nodes run; NULL: all do */
    bool apart;           /* runs are started by several who are told apart (RunStart.by) */
    bool inside; /* the folders that runs and their commands are started in are in `root`, too */
} Bounds;

#endif
