/* outside.h - kinds from outside: nodes whose work is a graph of another file (flow/kind_file.c).
 *
 * The node is given an object of inputs, which is what the graph begins with; the graph runs on a level of its own that
 * sees nothing of what is around it; the outputs are evaluated on what it ended with. Either side may be of any
 * dialect: a level that ends goes through here, and becomes what the dialect around it makes of results and errors. */
#ifndef PAWL_OUTSIDE_H
#define PAWL_OUTSIDE_H

#include "frame.h"

/* A list of tasks that is such a graph is past its last task, and has its verdict. */
void outside_list_ended(Frame *f);
/* Of a pipeline's step that failed and lets the run go on all the same; given. */
Json outside_failed(const Node *node, Json error);

#endif
