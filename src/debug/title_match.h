/* title_match.h - whether a task is the one that a title means.
 *
 * A title is meant as it is written in the file, or with its placeholders filled in (config.h). Whether the second is so
 * is known when the task is reached: until then a task whose written title could become it is a candidate.
 */
#ifndef PAWL_TITLE_MATCH_H
#define PAWL_TITLE_MATCH_H

#include "flow.h"

typedef enum TitleMatch {
    TITLE_OTHER,
    TITLE_BLANK,   /* it could be anything: there are but placeholders in it */
    TITLE_OPEN,    /* its placeholders could make it this one */
    TITLE_WRITTEN, /* it is this one as it is written */
} TitleMatch;

/* title: a string without NUL. */
TitleMatch title_match(const Node *node, Json title);
/* The same at a node that is reached; vars: what it sees. Its queries have the limits of a breakpoint's expressions. */
bool title_is(const Node *node, Json title, Json vars);

#endif
