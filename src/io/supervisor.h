/* supervisor.h - the program beside a child that process.h speaks of, and what is said to it.
 *
 * The supervisor is a program of its own (supervisor.c, linked without a C library) that libraries and
 * programs of ours carry as bytes and spawn.c executes. It has nothing of our memory, and nobody but
 * root can look into its own. It outlives us. The child is ended by nobody else, so its number cannot
 * have passed to a stranger.
 *
 * It takes its orders as signals, from us and from whoever attaches to the place, and tells us in
 * messages (one a packet, the first byte says which) what we want to know while we are there. None
 * of them is waited for: a message that finds no room is dropped.
 *
 * The same program starts workers, which nobody supervises: it becomes the interpreter.
 */
#ifndef PAWL_SUPERVISOR_H
#define PAWL_SUPERVISOR_H

#include <signal.h>

/* The files of a place. */
#define PLACE_LOCK       "lock"
#define PLACE_STATUS     "status"
#define PLACE_STATUS_NEW "status.new"
#define PLACE_OUT        "out"
#define PLACE_ERR        "err"

/* The bytes of PLACE_LOCK that are locked: see process_place.h. */
enum { LOCK_BYTE_PLACE, LOCK_BYTE_SUPERVISOR };

/* Its arguments; its environment is the child's. */
enum {
    ARG_NAME,
    ARG_NUMBERS, /* NUMBERS of them, with spaces between */
    ARG_SEARCH,  /* where the program is looked for: the value of a PATH */
    ARG_FOLDER,  /* where it runs; "": here */
    ARG_COMMAND, /* the program, and its arguments behind it */
};

enum {
    NUMBER_IS_WORKER,
    NUMBER_PARENT,          /* us */
    NUMBER_DESCRIPTORS,     /* the limit for it and the child; 0: as it is */
    NUMBER_DESCRIPTORS_MAX, /* the hard one */
    NUMBER_MAX_OUTPUT,      /* that is kept; those behind it are as in ProcessOptions */
    NUMBER_TIMEOUT,
    NUMBER_GRACE,
    NUMBER_HAS_INPUT,
    NUMBER_INPUT_LEN,
    NUMBER_MASK_LEN, /* 0: nothing is to be hidden in its output */
    NUMBER_JOINED,   /* the flags and the signal, as in ProcessOptions */
    NUMBER_END_ALONE,
    NUMBER_END_SIGNAL,
    NUMBER_LINGERS,
    NUMBERS,
};

/* The descriptors that it is given. FD_FIRST.. for a worker: its 0, 1, 2 and WORKER_FD. */
enum {
    FD_FIRST = 3,
    FD_PLACE = FD_FIRST, /* the folder */
    FD_LOCK,             /* PLACE_LOCK, locked */
    FD_REPORT,           /* where messages go: a socket that keeps packets apart */
    FD_INPUT,            /* a file: what the child is to read; only if there is any */
    FD_MASK, /* a file: what to hide in its output (mask_scan.h); only if there is any, and then FD_INPUT is there, too */
    FD_END,
};

/* Real-time signals, because they are queued in order. Numbers of the kernel: 34 is SIGRTMIN. */
enum { SUPERVISOR_END = 37, SUPERVISOR_FREEZE = 38, SUPERVISOR_THAW = 39 };

enum {
    MESSAGE_OUT = 1,      /* with bytes of standard output */
    MESSAGE_ERR = 2,      /* with bytes of standard error */
    MESSAGE_PID = 'p',    /* with the child's pid_t: it runs */
    MESSAGE_STATUS = 's', /* with the text of PLACE_STATUS */

    MESSAGE_MAX = 65536, /* bytes after the first */
    STATUS_MAX = 256,    /* bytes of PLACE_STATUS, and of PLACE_LOCK */

    GRACE_MS = 2000, /* between SIGTERM and SIGKILL, by default */
};

#endif
