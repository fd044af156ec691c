/* flows.h - loading workflows for a command: problems are said on standard error. */
#ifndef PAWL_FLOWS_H
#define PAWL_FLOWS_H

#include "command.h"
#include "flow.h"
#include "stores.h"

/* Files by --root, kinds by --kinds. Borrows c. */
FlowReader cli_flow_reader(const Common *c);

/* Kinds from outside (kind_listing.h) that a workflow in our folder would find, or one that a server has; given. False after
 * saying why they cannot be known: *code is the exit code. */
bool cli_kinds_outside(const Common *c, Json *out, int *code);

/* NULL when the file has errors in it; those, and warnings, have been said, with --json also on standard
 * output. */
Flow *cli_flow_load(const Common *c, const char *path);

/* Says all of them on standard error and empties the list. */
void cli_flow_say(FlowProblems *problems);
void cli_flow_put_json(const FlowProblems *problems); /* the same as an error of --json */

/* Of a stored definition. Its paths begin in the folder that the run was started in; JSON_NONE: in
 * ours. */

/* Whether its files are on disk, inside of root, with another text than it has. One that cannot be read is not. */
bool cli_flow_differs(const SafeRoot *root, Json definition, Json folder);

/* One of its paths, as it leads there from our folder. Given. */
char *cli_flow_place(Json folder, Json path);

/* Path of the file that it was loaded from; NULL when it is not a file. Given. */
char *cli_flow_path(Json definition, Json folder);

#endif
