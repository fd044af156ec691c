/* args.h - the arguments of a debug operation: checked by its row, then read.
 *
 * args_check() holds an object against the row's table. After it the readers need no errors: what
 * is there has its type, and what is not there is what `otherwise` says. An operation reads its
 * arguments here and nowhere else. Private to api/.
 */
#ifndef PAWL_ARGS_H
#define PAWL_ARGS_H

#include "session_api.h"

/* False with a sentence that names the operation and the argument. args: an object or anything
 * else. */
bool args_check(const Operation *operation, Json args, Error *err);

/* Whether it was given; a `false` counts as nothing where one of several must be there (`all`). */
bool args_has(Json args, const char *name);

int64_t args_int(Json args, const char *name, int64_t otherwise);
size_t args_size(Json args, const char *name,
                 size_t otherwise); /* of an INT that is not negative */
double args_number(Json args, const char *name, double otherwise);
bool args_bool(Json args, const char *name, bool otherwise);
/* Its index among the words of its row. */
int args_word(Json args, const char *name, const char *const *words, int otherwise);
/* Milliseconds since 1970 of a TEXT that is a time; unchanged when it was left out. False with a sentence. */
bool args_time(Json args, const char *name, int64_t *out, Error *err);
/* The steps of `path`, given; JSON_NONE with a sentence when it is no path. [] when it was left
 * out. */
Json args_path(Json args, const char *operation, Error *err);

/* ---- frames ---- */

/* The number in `frame`; 0 when it was left out, or is "all". */
int64_t args_frame_id(Json args);
bool args_all_frames(Json args); /* it is "all" */
/* The frame that is meant, the selected one when none is said. NULL with a sentence. */
Frame *args_frame(Session *session, Json args, Error *err);
Frame *args_paused(Session *session, Json args, Error *err); /* and it must be paused */

/* The node that a frame stands at; NULL with a sentence when it stands at none. */
const Node *args_node(const Frame *f, Error *err);

#endif
