/* view_rows.h - how the answer to each operation is shown, by the file that has it: the rows of the
 * table in view.c. */
#ifndef PAWL_VIEW_ROWS_H
#define PAWL_VIEW_ROWS_H

#include "view.h"
#include "view_text.h"

/* ---- view_breakpoints.c ---- */

void show_breakpoint(const Show *s, Json args, Json answer, Buf *out);
void show_breakpoints(const Show *s, Json args, Json answer, Buf *out);
void show_breakpoint_set(const Show *s, Json args, Json answer, Buf *out);
void show_deleted(const Show *s, Json args, Json answer, Buf *out);
void show_enabled(const Show *s, Json args, Json answer, Buf *out);
void show_all_watches(const Show *s, Json args, Json answer, Buf *out);
void show_watch_added(const Show *s, Json args, Json answer, Buf *out);

/* ---- view_changes.c ---- */

void show_pending(const Show *s, Json args, Json answer, Buf *out);
void show_inject(const Show *s, Json args, Json answer, Buf *out);
void show_injected(const Show *s, Json args, Json answer, Buf *out);
void show_removed(const Show *s, Json args, Json answer, Buf *out);

/* ---- view_frames.c ---- */

void show_frames(const Show *s, Json args, Json answer, Buf *out);
void show_frame(const Show *s, Json args, Json answer, Buf *out);
void show_node(const Show *s, Json args, Json answer, Buf *out);
void show_config(const Show *s, Json args, Json answer, Buf *out);
void show_nodes(const Show *s, Json args, Json answer, Buf *out);
void show_graph(const Show *s, Json args, Json answer, Buf *out);

/* ---- view_history.c ---- */

void show_history(const Show *s, Json args, Json answer, Buf *out);

/* ---- view_place.c ---- */

void show_source(const Show *s, Json args, Json answer, Buf *out);

/* ---- view_session.c ---- */

void show_session(const Show *s, Json args, Json answer, Buf *out);
void show_resumed(const Show *s, Json args, Json answer, Buf *out);
void show_pausing(const Show *s, Json args, Json answer, Buf *out);
void show_moved(const Show *s, Json args, Json answer, Buf *out);
void show_answered(const Show *s, Json args, Json answer, Buf *out);
void show_replay(const Show *s, Json args, Json answer, Buf *out);

/* ---- view_values.c ---- */

void show_results(const Show *s, Json args, Json answer, Buf *out);
void show_variables(const Show *s, Json args, Json answer, Buf *out);
void show_summary(const Show *s, Json args, Json answer, Buf *out);
void show_found(const Show *s, Json args, Json answer, Buf *out);
void show_largest(const Show *s, Json args, Json answer, Buf *out);
void show_diff(const Show *s, Json args, Json answer, Buf *out);

#endif
