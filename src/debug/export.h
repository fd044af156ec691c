/* export.h - a run with its history, its definition and its debug session as one JSON document.
 *
 *     {"pawl_export": 1, "version", "exported_at", "thread", "workflow", "status", "head", "created",
 *      "updated", "definition": key, "definitions": {key: value}, "checkpoints": [[seq, parent, step, frame,
 *      at, node, status, patch, snapshot or null, result], ...]}
 *
 * Times are milliseconds since 1970. Checkpoints are in order of their number, which begins at 1 and has
 * gaps where the run was pruned; parent is 0 for a root; patch and snapshot are as store.h says, decoded, and
 * the result is [] where it has no bytes, [value] where it has, and left out where there is none.
 * definitions has every workflow that the run was ever run with.
 *
 * The session is in the image of the head, where the store has it too. Reading it back into a store
 * (`memory:`) makes a run that can be looked at, evaluated, stepped back and replayed as the original.
 */
#ifndef PAWL_EXPORT_H
#define PAWL_EXPORT_H

#include "store.h"

enum { EXPORT_FORMAT = 1 };

/* Given; JSON_NONE on error. The whole tree of checkpoints, all lines. */
Json export_run(Store *store, const char *thread, Error *err);

/* Makes the run in a store, under its thread's name, and gives it back; nobody has its lease. It begins
 * (RunRow.created) when it is read, and has a number of its own. Checks everything it reads: a document
 * from anywhere costs at most a sentence, and leaves no run behind. */
bool export_import(Store *store, Json document, RunRow *out, Error *err);

#endif
