/* report.h - what became of each task of a run: for CI systems, and for the person who waited for it.
 *
 *     Report *report = report_new();
 *     report_event(report, event)            every event of the run, from its start
 *     report_write(report, &to, &ending, &err)
 *     report_say(report, &ending)
 *     report_free(report)
 *
 * A *case* is one execution of a node that works, with its title, its time and the end of what it printed. A container (a
 * node with others inside) is a case only if it failed and nothing inside of it tells why. A failure that a container around
 * it did not take for one (expectFailure, ignoreFailure, retries, thresholds) is no failure here either, nor is that of a
 * task that cleans up. What was still under way when the run ended is left out as skipped.
 *
 * JUnit's XML has one test suite for the run. A run that did not complete has an error or a failure in it in any case.
 */
#ifndef PAWL_REPORT_H
#define PAWL_REPORT_H

#include "error.h"
#include "json.h"

typedef struct Report Report;

/* Where it goes: `junit.xml`, or `junit=FILE`, whatever FILE is called. */
typedef struct ReportTarget {
    const char *path; /* in the text that was read */
} ReportTarget;

/* How the run ended. */
typedef struct ReportEnding {
    const char *status; /* "completed", "failed", ... */
    const char *thread;
    Json error; /* that it failed with; borrowed; JSON_NONE: none */
} ReportEnding;

/* False, with a sentence, when the text names no format that there is, or a folder that is not there. */
bool report_target(const char *text, ReportTarget *out, Error *err);

Report *report_new(void);
void report_free(Report *report);              /* accepts NULL */
void report_event(Report *report, Json event); /* borrows */

/* The file is there whole or not at all. */
bool report_write(Report *report, const ReportTarget *to, const ReportEnding *ending, Error *err);
/* On standard error: how many tasks passed and failed, and each with its time and what it printed last. */
void report_say(Report *report, const ReportEnding *ending);

#endif
