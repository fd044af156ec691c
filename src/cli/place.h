/* place.h - THREAD[@SEQ] on the command line: a run, or one checkpoint of it.
 *
 * What stands behind the last @ is a checkpoint when it is all digits; otherwise the @ belongs to
 * the thread's name. So that both can always be told apart, no thread is given a name that ends in
 * @ and digits, nor one that starts as an option does.
 */
#ifndef PAWL_PLACE_H
#define PAWL_PLACE_H

#include "command.h"
#include "json.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Place {
    char *thread;
    int64_t seq; /* 0: where the run stands now */
} Place;

/* False after saying what is wrong with it. */
bool place_parse(const Command *command, const char *text, Place *out);
void place_clear(Place *place);

/* For an OptionHandler: takes the argument as the only place of a command. */
bool place_argument(const Command *command, const char *text, Place *out);

/* Whether a new thread may be called that; false after saying why not. */
bool place_thread_name(const Command *command, const char *name);

/* {thread, checkpoint?}, as operations take it. */
Json place_args(const Place *place);

#endif
