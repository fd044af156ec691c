/* advice.h - the commands that we tell people to type. */
#ifndef PAWL_ADVICE_H
#define PAWL_ADVICE_H

#include "json.h"

#include <stdbool.h>
#include <stdio.h>

/* `pawl resume THREAD`, with --store or --server when that is not found without. */
void advice_resume(Buf *out, const char *thread, const char *store);

/* The same as a line on standard error, with words before it. */
void say_resume(const char *thread, const char *store, const char *before);

/* That the cleanup tasks of a test have run, and which command shows where to go back to. */
void say_history(FILE *out, const char *thread, const char *store);

/* `pawl run FILE --thread THREAD`, in the same way. */
void advice_start(Buf *out, const char *file, const char *thread, const char *store);

/* What a person is asked and the commands that answer, a line each, indented. `one` says that no
 * other interrupt of the run is open, so that its id need not be named. Without a thread (NULL) no
 * command could answer. */
void advice_interrupt(Buf *out, Json interrupt, bool one, const char *thread, const char *store);

#endif
