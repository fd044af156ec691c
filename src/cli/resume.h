/* resume.h - going on with a run, for `pawl resume` and for `pawl run` of a workflow whose
 * config.checkpoint names one. */
#ifndef PAWL_RESUME_H
#define PAWL_RESUME_H

#include "drive.h"
#include "place.h"

typedef struct ResumeArgs {
    DriveArgs drive;
    Place place;
    const char *interrupt, *decision; /* or NULL */
    Json value;                       /* or JSON_NONE */
    bool reload;                      /* take the file as it is now */
    struct Flow *flow;                /* the file, when it is loaded already; borrowed */
    const char *store_hint;
} ResumeArgs;

/* Returns the exit code. */
int resume_run(const ResumeArgs *args, Asking *asking);

#endif
