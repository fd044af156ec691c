/* fault.h - places where a test can make the world fail.
 *
 * A fault point is a named place in the code where the outside is about to be touched:
 *
 *     int e = fault_point("store.write");
 *     if (e) { errno = e; return -1; }
 *
 * In builds with -Dfaults=true the variable PAWL_FAULT says what happens there, as a list with
 * commas: NAME:ACTION@N does it at the Nth time the place is passed, NAME:ACTION@N+ from then on.
 *
 *     kill     the process ends with SIGKILL        eio, enospc  the call fails with that errno
 *     short    the call does half of its work, then fails with EIO (FAULT_SHORT to the caller)
 *     slow     the call takes 200 ms longer
 *
 * PAWL_FAULT=count:FILE writes, at exit, how often each place was passed. In other builds a fault
 * point is the constant 0. Any thread.
 */
#ifndef PAWL_FAULT_H
#define PAWL_FAULT_H

enum { FAULT_SHORT = -1 };

#ifdef PAWL_FAULTS
int fault_point(const char *name);
#else
static inline int fault_point(const char *name) {
    (void)name;
    return 0;
}
#endif

#endif
