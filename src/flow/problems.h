/* problems.h - collects what is wrong with the files of one workflow.
 *
 * A Reporter adds to a FlowProblems list while a workflow is loaded: each problem once, up to
 * FLOW_PROBLEMS_MAX of them, sorted by file and place at the end.
 */
#ifndef PAWL_PROBLEMS_H
#define PAWL_PROBLEMS_H

#include "flow.h"
#include "yaml.h"

struct Reporter {
    FlowProblems *list;
    const char *main; /* the file whose problems come first; NULL: none */
    size_t first;     /* of this workflow in the list */
    size_t left_out;  /* past the limit */
    size_t left_out_errors;
};

Reporter reporter_start(FlowProblems *list, const char *main);
/* Sorts, and says how many were left out. False when there was an error. */
bool reporter_end(Reporter *r);

/* Errors unless the name says otherwise; the sentence is made with printf's formats. */
void report_at(Reporter *r, Spot spot, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void vreport_at(Reporter *r, Spot spot, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));
void report_warning(Reporter *r, Spot spot, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* About a file as a whole: there is no line. */
void report_file(Reporter *r, const char *path, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A word of the file as it may stand in a sentence: short, without control characters. Lives in one
 * of a few static places, so that several fit into one sentence. */
const char *shown(const char *text, size_t len);

/* "; did you mean `best`?" or ".", to end a sentence with. The names end with NULL. */
const char *did_you_mean(const char *text, size_t len, const char *const *names);
const char *did_you_mean_this(const char *best); /* NULL: "." */

#endif
