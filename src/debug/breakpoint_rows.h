/* breakpoint_rows.h - the types of breakpoints and their fields, a row each: the place to add one.
 *
 *     PLACE(ID, name, need)   a type that says where; its finder is in breakpoints.c
 *     TYPE(ID, name, need)    one that says when; `need`: the field that it cannot be without, or NULL
 *     FIELD(name, KIND, PLACE, about)   of what a breakpoint is made from; PLACE: that it is part of, or NO_PLACE
 *     KEPT(name, KIND, about)           the same, of what the Breakpoint itself keeps
 *     SHOWN(name, KIND)                 of listings alone
 *
 * Included where rows are wanted, with those macros defined; it undefines them. breakpoint.h takes the types,
 * breakpoint.c names and fields, the operations (api/) their arguments.
 */
/* clang-format off */

PLACE(NODE,        "node",        "node")
PLACE(TASK_INDEX,  "task_index",  "task_index")
PLACE(TASK_ID,     "task_id",     "task_id")
PLACE(TASK_NAME,   "task_name",   "task_name")
PLACE(TASK_TITLE,  "task_title",  "task_title")
PLACE(SOURCE,      "source",      "file")
TYPE(CONDITIONAL,  "conditional", "condition")
TYPE(STATE,        "state",       "state")
TYPE(EXCEPTION,    "exception",   NULL)

FIELD("type",          NAME,   NO_PLACE,   "node, task_index, task_id, task_name, task_title, source, "
                                           "conditional, state or exception; left out, as the other fields say")
FIELD("node",          NAME,   NODE,       "a name, PATH/NAME or a glob; else the title of a task")
FIELD("task_index",    COUNT,  TASK_INDEX, "place of a task in the file, from 0")
FIELD("task_id",       NAME,   TASK_ID,    "id of a task")
FIELD("task_name",     NAME,   TASK_NAME,  "any node of this kind")
FIELD("task_title",    NAME,   TASK_TITLE, "title of a task, as written or filled in")
FIELD("file",          NAME,   SOURCE,     "a file of the workflow")
FIELD("line",          LINE,   SOURCE,     "a line of the file")
FIELD("position",      NAME,   NO_PLACE,   "before (default), after or on_error")
FIELD("condition",     TEXT,   NO_PLACE,   "jq over what the node sees")
FIELD("state",         OBJECT, NO_PLACE,   "{path, equals} or {path, changed: true}")
FIELD("error",         TEXT,   NO_PLACE,   "of an exception: jq over the error")
FIELD("caught",        BOOL,   NO_PLACE,   "of an exception: also errors that something takes")
FIELD("ignore_count",  COUNT,  NO_PLACE,   "so many hits are passed over, from when it is set")
FIELD("hit_condition", NAME,   NO_PLACE,   "over the hits: \"== 5\", \">= 5\", \"% 3\"")
FIELD("log_message",   TEXT,   NO_PLACE,   "is logged instead of pausing: \"at \\(.step)\"")
FIELD("once",          BOOL,   NO_PLACE,   "deleted when it has paused a frame")
FIELD("group",         NAME,   NO_PLACE,   "a word to enable, disable and delete by")
FIELD("metadata",      ANY,    NO_PLACE,   "anything of yours, kept and listed with it")
KEPT("enabled",        BOOL,               "left out, true")
KEPT("hit_count",      COUNT,              "hits so far; 0 to count anew")
KEPT("ignore_from",    COUNT,              "how many hits there were when ignore_count was set")
SHOWN("id",            COUNT)
SHOWN("verified",      LISTED)
SHOWN("places",        LISTED)
SHOWN("message",       LISTED)

#undef PLACE
#undef TYPE
#undef FIELD
#undef KEPT
#undef SHOWN
