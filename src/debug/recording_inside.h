/* recording_inside.h - a recording in memory: for the files that make it up.
 *
 * Reading order: recording.c (what a place is called, life, in the hands of a run: matching, hooks),
 * recording_read.c (what came of the executions of a line).
 *
 * Places. "main", "main/plan[0]": a frame, by the nodes that the frame around it stood at, and its
 * branch; "sub/build": a node, by the nodes of the levels below. A node that is come to again is
 * `plan#2`, the second attempt at it `plan#1.1`: so what was under way in a branch and was ended is
 * never mistaken for the same branch of the next time. The counts are of nodes come to, which both
 * sides, the reader of a line and a run, see alike. The text of a place is "frame\nnode". */
#ifndef PAWL_RECORDING_INSIDE_H
#define PAWL_RECORDING_INSIDE_H

#include "image_read.h"
#include "recording.h"

struct Recording {
    Json outcomes; /* {place with its count: [kind, info or null]} */
    Json
        changes; /* {place with its count: {before: [change, ...], after: [...], goto: [when, node]}} */
    Json counts; /* {place: how often it was come to}: by the reader, then by the run */
    Json last;   /* {frame: [the place that it was counted for last, LastStage]}: the same */
    char *live_from;
    bool live;
    int64_t taken, done;
    Json missing;
    bool more;
};

enum { OUTCOME_KIND, OUTCOME_INFO };
enum { GOTO_FROM, GOTO_NODE }; /* "before" or "after", and where to */
enum { LAST_AT, LAST_STAGE };
typedef enum LastStage {
    LAST_COUNTED, /* it was come to, and nothing has come of it yet */
    LAST_TAKEN,
    LAST_DONE,
    LAST_ENDED, /* that was it: whoever comes to the place again comes to it once more */
    LAST_SEEN,  /* its frame stands there and it is counted, but it is still to be come to */
} LastStage;

/* ---- recording.c; values are given ---- */

void place_add_again(Buf *out, int64_t count, int64_t attempt);
/* The path of a frame from the place that its parent stands at. */
void place_add_child(Buf *out, const Buf *made_at, int64_t branch);
Json place_text(const Buf *b);
/* One more; how many there were before. */
int64_t place_count_one(Json *counts, const Buf *place);
/* A place with its count: "frame\nnode\nnth". */
Json place_key(const Buf *place, int64_t nth);
/* {place: ...} without all that is inside a node, there for the nth time; consumes the object. */
Json place_forget_inside(Json object, const Buf *place, int64_t nth);
/* By its name, or as a task by its id. */
bool place_is_called(const Node *node, const char *name);

/* ---- recording_read.c ---- */

/* Also leaves what a run has that stands where the line ends: counts, last, live. */
bool recording_read(Recording *r, Store *store, const RecordingSource *source, Error *err);

#endif
