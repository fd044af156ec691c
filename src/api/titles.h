/* titles.h - what people call the tasks of a run, for those who look at its record.
 *
 * The record names nodes, and a task without an id is named after its kind (`run_shell-2`). Its title is in the
 * run's workflow, as it is written there: placeholders are filled in while it runs, and told then.
 */
#ifndef PAWL_API_TITLES_H
#define PAWL_API_TITLES_H

#include "store.h"

/* {name: title} of the tasks that have one; a name that several have with different titles has none. JSON_NONE: there
 * are none, or the workflow cannot be read. */
Json titles_read(Store *store, const RunRow *row);
/* The title of a node; JSON_NONE: it has none. Given. */
Json title_of_node(Json titles, const char *node);

#endif
