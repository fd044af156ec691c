/* recording_inside.h - a recording in memory: for the files that make it up.
 *
 * Reading order: recording_places.c (what a place is called), recording_visits.c (where the frames of a line
 * stand), recording_read.c (what came of it), recording.c (life, lists for people), recording_take.c (in the
 * hands of a run: matching, hooks).
 *
 * Places. "main", "main/plan[0]": a frame, by the nodes that the frame around it stood at, and its
 * branch; "sub/build": a node, by the nodes of the levels below. A node that is come to again is
 * `plan#2`, the second attempt at it `plan#1.1`: so what was under way in a branch and was ended is
 * never mistaken for the same branch of the next time. The counts are of nodes come to, which both
 * sides, the reader of a line and a run, see alike. The text of a place is "frame\nnode".
 *
 * Reading. The line is walked once, with the images before and at each checkpoint. For every frame
 * it is known at which nodes its levels stand: a *visit* each, from the record in which the level
 * is first seen there (its base) to the one that ends it, which says what the node came to (result.h).
 *
 * The patch of a checkpoint names the frames that it touched, and only those are looked at, so that
 * a map of thousands costs what happens in it. */
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

/* ---- recording_places.c; values are given ---- */

void place_add_again(Buf *out, int64_t count, int64_t attempt);
/* The path of a frame from the place that its parent stands at. */
void place_add_child(Buf *out, const Buf *made_at, int64_t branch);
Json place_text(const Buf *b);
int64_t place_count(Json counts, const Buf *place);
/* One more; how many there were before. */
int64_t place_count_one(Json *counts, const Buf *place);
/* A place with its count: "frame\nnode\nnth". */
Json place_key(const Buf *place, int64_t nth);
Json place_frame_key(int64_t frame);
/* {place: ...} without all that is inside a node, there for the nth time; consumes the object. */
Json place_forget_inside(Json object, const Buf *place, int64_t nth);
/* By its name, or as a task by its id. */
bool place_is_called(const Node *node, const char *name);

/* ---- recording_visits.c ---- */

/* A visit is an array. */
enum {
    VISIT_NODE,  /* name, or null past the last */
    VISIT_STEPS, /* of the level */
    VISIT_TURNS, /* of its loop so far */
    VISIT_NTH,
    VISIT_BASE, /* the image in which it was first seen there */
    VISIT_DONE, /* the image in which the node was done while the frame stays; null: it is not */
    VISIT_PARTS,
};

typedef struct Reader {
    Recording *r;
    const Flow *flow;
    const Lineage *line;
    const LineageStep *c;
    Json before, after; /* images around the checkpoint */
    Json seen;      /* {frame: [path, [visit, ...]]} as of `before`, while a step is looked at */
    int64_t unsaid; /* a step whose result is not on record; 0: none so far */
} Reader;

size_t reader_visits(const Reader *rd,
                     int64_t frame);            /* how many the frame has; 0: it is not known */
Json reader_visit(const Reader *rd, LevelAt s); /* borrowed; JSON_NONE: none */
void reader_set_visit(Reader *rd, LevelAt s, Json visit); /* consumes it */
Json reader_key(const Reader *rd, LevelAt s);             /* of its place; given */
/* What came of the nodes inside the one of a visit, and how often they were come to, is not known. */
void reader_forget_inside(Reader *rd, LevelAt s);

/* The frame stands as `after` has it. */
void reader_see(Reader *rd, int64_t frame);
/* A turn of a loop may begin without a record; then its first node, of that name, ends before the frame was
 * ever seen at it. False: that is not so here. */
bool reader_see_turn(Reader *rd, LevelAt s, Json name);
/* Something else ended it, or the line ends before it did. */
void reader_leave(Reader *rd, LevelAt s, Json image);
/* {frame: [place, LastStage]} of the frames of an image that have all been seen; given. */
Json reader_last(const Reader *rd, Json image);
/* What came of the visit; consumes info. */
void reader_keep(Reader *rd, LevelAt s, const Node *node, Json info);

/* ---- recording_read.c ---- */

/* Also leaves what a run has that stands where the line ends: counts, last, live. */
bool recording_read(Recording *r, Store *store, const RecordingSource *source, Error *err);

/* ---- recording.c ---- */

Recording *recording_empty(const char *live_from); /* NULL: it never is */

#endif
