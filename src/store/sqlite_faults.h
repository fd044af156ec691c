/* sqlite_faults.h - the file system that SQLite sees in builds with fault points.
 *
 * A layer over SQLite's own whose writes and truncations pass store.write and whose syncs pass
 * store.sync (fault.h). In other builds there is no such layer.
 */
#ifndef PAWL_STORE_SQLITE_FAULTS_H
#define PAWL_STORE_SQLITE_FAULTS_H

/* The name to open a database with; NULL: SQLite's own. Any thread. */
const char *sqlite_faults_vfs(void);

#endif
