/* record.h - checkpoints. */
#ifndef PAWL_RECORD_H
#define PAWL_RECORD_H

#include "frame.h"

/* Writes a checkpoint of all dirty frames, with what came of the node, which may be NULL. Consumes result;
 * without result.at it is of the frame's top level. Gives back its time. */
int64_t run_record_result(Run *run, Frame *f, const Node *node, const char *status,
                          StepResult result);
/* The same with no more than the update. */
int64_t run_record(Run *run, Frame *f, const Node *node, const char *status, Json update);
Json frame_image(const Frame *f);
Json run_image_head(const Run *run);

/* What puts heavy values that changes would write to where they belong, from where the image before them
 * has them: a patch to begin with, given; JSON_NONE when there are none. */
Json copies_for(const Run *run, Json before, Json changes);

#endif
