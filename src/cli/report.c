#include "report.h"

#include "fields.h"
#include "json_build.h"
#include "mem.h"
#include "output.h"
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TAIL = 4096,     /* bytes of what a task printed */
    SAID_LINES = 5,  /* of a task that failed, at the end of a run */
    SAID_CASES = 60, /* more are only counted, but for those that failed */
    NOBODY = 0,      /* no case: they are counted from 1 */
};

typedef enum CaseEnd { CASE_OPEN, CASE_PASSED, CASE_FAILED, CASE_SKIPPED } CaseEnd;

typedef struct Case {
    char *node, *title; /* title: NULL: it has none */
    int64_t frame;
    int64_t from, to; /* milliseconds since 1970; 0: not known */
    size_t parent;    /* the container that it is in; NOBODY: none */
    bool container, cleanup;
    bool told; /* of a container: something inside of it says why it failed */
    bool forgiven;
    CaseEnd end;
    Buf tail;
} Case;

struct Report {
    Case *cases;
    size_t n, cap;
    Json open;      /* frame -> the newest of its cases, by its number */
    Json parents;   /* frame -> the container that made it */
    char *workflow; /* its name; NULL: not known yet */
    bool cleanup;   /* the tasks that clean up have begun */
    int64_t from, to;
};

/* ---- what happens ---- */

Report *report_new(void) {
    Report *r = mem_zalloc(sizeof *r);
    r->open = json_object();
    r->parents = json_object();
    return r;
}

void report_free(Report *r) {
    if (!r) return;
    for (size_t i = 0; i < r->n; i++) {
        mem_free(r->cases[i].node);
        mem_free(r->cases[i].title);
        buf_clear(&r->cases[i].tail);
    }
    mem_free(r->cases);
    mem_free(r->workflow);
    json_unref(r->open);
    json_unref(r->parents);
    mem_free(r);
}

static Case *case_of(Report *r, size_t number) {
    return number == NOBODY ? NULL : &r->cases[number - 1];
}

static Json frame_key(int64_t frame) {
    return json_string_fmt("%" PRId64, frame);
}

static size_t number_in(Json map, int64_t frame) {
    Json key = frame_key(frame), number = json_object_get(map, key);
    json_unref(key);
    return json_tag(number) == JSON_TAG_INT ? (size_t)number.i : NOBODY;
}

static void set_number(Json *map, int64_t frame, size_t number) {
    *map = json_object_set(*map, frame_key(frame), json_int((int64_t)number));
}

/* The innermost container of a frame that has not ended; of a frame without one, the container that made it. */
static size_t container_of(Report *r, int64_t frame) {
    size_t at = number_in(r->open, frame);
    for (const Case *c; (c = case_of(r, at)) && c->frame == frame; at = c->parent) {
        if (c->container && c->end == CASE_OPEN) return at;
    }
    return number_in(r->parents, frame);
}

static int64_t time_of(Json event) {
    int64_t at = 0;
    json_time_ms(field_get(event, "at"), &at);
    return at;
}

static Case *begin(Report *r, Json event) {
    int64_t frame = field_number(event, "frame", 0);
    size_t parent = container_of(r, frame);
    r->cases = mem_grow(r->cases, r->n, &r->cap, sizeof *r->cases);
    Case *c = &r->cases[r->n++];
    *c = (Case){.node = mem_strdup(field_string(event, "node")),
                .title = field_has_text(event, "title") ? mem_strdup(field_string(event, "title"))
                                                        : NULL,
                .frame = frame,
                .from = time_of(event),
                .parent = parent,
                .cleanup = r->cleanup,
                .tail = BUF_INIT};
    set_number(&r->open, frame, r->n);
    return c;
}

/* The newest case of the event's node that has not ended; NULL: there is none. */
static Case *open_case(Report *r, Json event) {
    int64_t frame = field_number(event, "frame", 0);
    size_t at = number_in(r->open, frame);
    for (Case *c; (c = case_of(r, at)) && c->frame == frame; at = c->parent) {
        if (c->end == CASE_OPEN && !strcmp(c->node, field_string(event, "node"))) return c;
    }
    return NULL;
}

/* A node begins, or is tried again. */
static void on_node(Report *r, Json event) {
    int64_t frame = field_number(event, "frame", 0),
            around = field_number(event, "parent_frame", 0);
    if (around && number_in(r->parents, frame) == NOBODY) {
        set_number(&r->parents, frame, container_of(r, around));
    }
    Case *last = case_of(r, number_in(r->open, frame));
    bool again = field_number(event, "attempt", 1) > 1 && last &&
                 !strcmp(last->node, field_string(event, "node"));
    if (again) {
        last->end = CASE_OPEN;
    } else {
        begin(r, event);
    }
}

static void on_step(Report *r, Json event) {
    Json status = field_get(event, "status");
    bool passed = json_string_is(status, "completed"), failed = json_string_is(status, "failed");
    bool skipped = json_string_is(status, "skipped");
    if (json_string_is(status, "cleanup")) r->cleanup = true;
    if (!field_has_text(event, "node")) return;
    Case *c = open_case(r, event);
    if (json_string_is(status, "entered")) {
        if (!c) c = begin(r, event);
        c->container = true;
    } else if (passed || failed || skipped) {
        if (!c) c = begin(r, event);
        c->end = passed ? CASE_PASSED : failed ? CASE_FAILED : CASE_SKIPPED;
        c->to = time_of(event);
        set_number(&r->open, c->frame, (size_t)(c - r->cases) + 1);
    }
}

static void on_log(Report *r, Json event) {
    Case *c = open_case(r, event);
    Json text = field_get(event, "text");
    if (!c || !field_is_text(text)) return;
    buf_add(&c->tail, json_string_data(&text), json_string_len(text));
    if (c->tail.len > 2 * TAIL) {
        memmove(c->tail.data, c->tail.data + c->tail.len - TAIL, TAIL);
        c->tail.len = TAIL;
    }
}

void report_event(Report *r, Json event) {
    Json name = field_get(event, "event");
    int64_t at = time_of(event);
    if (at && !r->from) r->from = at;
    if (at > r->to) r->to = at;
    if (!json_is_none(field_get(event, "breakpoint"))) return;
    if (!r->workflow && field_has_text(event, "workflow")) {
        r->workflow = mem_strdup(field_string(event, "workflow"));
    }
    if (json_string_is(name, "node")) on_node(r, event);
    if (json_string_is(name, "step")) on_step(r, event);
    if (json_string_is(name, "log")) on_log(r, event);
}

/* ---- what came of it ---- */

typedef struct Counts {
    size_t cases, passed, failed, skipped;
} Counts;

static bool is_shown(const Case *c) {
    return !c->container || (c->end == CASE_FAILED && !c->told && !c->forgiven);
}

/* What was ended early was so by the end of a container around it, or of the run. */
static int64_t end_of(Report *r, const Case *c) {
    while (c && c->end == CASE_OPEN) c = case_of(r, c->parent);
    return c ? c->to : r->to;
}

/* Inner cases come after the containers that they are in. */
static Counts conclude(Report *r) {
    Counts counts = {0};
    for (size_t i = 0; i < r->n; i++) {
        Case *c = &r->cases[i], *around = case_of(r, c->parent);
        if (c->end == CASE_OPEN) c->to = end_of(r, c);
        bool allowed = around && (around->end == CASE_PASSED || around->forgiven);
        c->forgiven = allowed || c->cleanup;
        if (c->end != CASE_FAILED || c->forgiven) continue;
        for (; around; around = case_of(r, around->parent)) around->told = true;
    }
    for (size_t i = 0; i < r->n; i++) {
        const Case *c = &r->cases[i];
        if (!is_shown(c)) continue;
        bool failed = c->end == CASE_FAILED && !c->forgiven;
        counts.cases++;
        counts.passed += c->end == CASE_PASSED;
        counts.failed += failed;
        counts.skipped += c->end != CASE_PASSED && !failed;
    }
    return counts;
}

static const char *name_of(const Report *r) {
    return r->workflow ? r->workflow : "run";
}

static const char *title_of(const Case *c) {
    return c->title ? c->title : c->node;
}

static int64_t took(const Case *c) {
    return c->from && c->to > c->from ? c->to - c->from : 0;
}

/* The end of what it printed, of at most so many lines; without the end of the last. */
static const char *last_lines(const Case *c, int lines, size_t *len) {
    size_t end = c->tail.len, from;
    while (end && (c->tail.data[end - 1] == '\n' || c->tail.data[end - 1] == '\r')) end--;
    for (from = end; from && (c->tail.data[from - 1] != '\n' || --lines > 0); from--) {}
    while (from < end && ((unsigned char)c->tail.data[from] & 0xC0) == 0x80) from++;
    *len = end - from;
    return c->tail.data ? c->tail.data + from : "";
}

/* The sentence of the error that the run failed with, for the last case of its node that failed. */
static const Case *blamed(Report *r, Json error) {
    for (size_t i = r->n; i--;) {
        const Case *c = &r->cases[i];
        bool ours = c->end == CASE_FAILED && !c->forgiven && is_shown(c);
        if (ours && !strcmp(c->node, field_string(error, "node"))) return c;
    }
    return NULL;
}

/* ---- XML ---- */

/* What XML cannot have is left out; sequences that drive a terminal, as a whole. The text is UTF-8. */
static void add_xml(Buf *out, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        const unsigned char *at = (const unsigned char *)text + i;
        if (c == 0x1b && i + 1 < len && text[i + 1] == '[') {
            for (i += 2; i < len && (text[i] < '@' || text[i] > '~'); i++) {}
        } else if (c == '<' || c == '>' || c == '&' || c == '"') {
            buf_adds(out, c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : "&quot;");
        } else if (c == '\r') {
            buf_adds(out, i + 1 < len && text[i + 1] == '\n' ? "" : "\n");
        } else if (c == 0xef && i + 2 < len && at[1] == 0xbf && (at[2] & 0xfe) == 0xbe) {
            i += 2; /* U+FFFE, U+FFFF */
        } else if ((c >= 0x20 && c != 0x7f) || c == '\t' || c == '\n') {
            buf_addc(out, (char)c);
        }
    }
}

/* An attribute is one line. */
static void add_attribute(Buf *out, const char *name, const char *text) {
    Buf line = BUF_INIT;
    terminal_safe(text, strlen(text), &line);
    buf_printf(out, " %s=\"", name);
    add_xml(out, line.data ? line.data : "", line.len);
    buf_addc(out, '"');
    buf_clear(&line);
}

static void add_seconds(Buf *out, int64_t ms) {
    buf_printf(out, " time=\"%" PRId64 ".%03d\"", ms / 1000, (int)(ms % 1000));
}

/* "workflow.container.container": CI systems group by it. */
static void add_class(Report *r, Buf *out, const Case *c) {
    const Case *chain[64];
    size_t n = 0;
    Buf text = BUF_INIT;
    for (c = case_of(r, c->parent); c && n < 64; c = case_of(r, c->parent)) chain[n++] = c;
    buf_adds(&text, name_of(r));
    while (n) buf_printf(&text, ".%s", title_of(chain[--n]));
    add_attribute(out, "classname", text.data);
    buf_clear(&text);
}

static void add_failure(Buf *out, const Case *c, Json error, bool is_blamed) {
    size_t len;
    Buf message = BUF_INIT;
    const char *line = last_lines(c, 1, &len);
    if (is_blamed) {
        buf_adds(&message, field_string(error, "message"));
    } else {
        buf_adds(&message, len ? "It failed: " : "It failed.");
        buf_add(&message, line, len);
    }
    buf_adds(out, "      <failure");
    add_attribute(out, "message", message.data);
    add_attribute(out, "type", is_blamed ? field_string(error, "kind") : "failed");
    buf_addc(out, '>');
    if (is_blamed && field_has_text(error, "file")) {
        Buf place = BUF_INIT;
        buf_printf(&place, "%s:%" PRId64 ": ", field_string(error, "file"),
                   field_number(error, "line", 0));
        add_xml(out, place.data, place.len);
        buf_clear(&place);
    }
    add_xml(out, message.data, message.len);
    buf_adds(out, "</failure>\n");
    buf_clear(&message);
}

static void add_case(Report *r, Buf *out, const Case *c, const ReportEnding *ending,
                     const Case *guilty) {
    size_t len;
    buf_adds(out, "    <testcase");
    add_attribute(out, "name", title_of(c));
    add_class(r, out, c);
    add_seconds(out, took(c));
    buf_adds(out, ">\n");
    if (c->end == CASE_FAILED && !c->forgiven) {
        add_failure(out, c, ending->error, c == guilty);
    } else if (c->end != CASE_PASSED) {
        buf_adds(out, "      <skipped");
        add_attribute(out, "message",
                      c->end == CASE_SKIPPED ? "It was skipped."
                      : c->end == CASE_OPEN  ? "It was ended before it had a result."
                      : c->cleanup           ? "It failed; it only cleans up."
                                             : "It failed, and what it is part of allows that.");
        buf_adds(out, "/>\n");
    }
    const char *printed = last_lines(c, TAIL, &len);
    if (len) {
        buf_adds(out, "      <system-out>");
        add_xml(out, printed, len);
        buf_adds(out, "</system-out>\n");
    }
    buf_adds(out, "    </testcase>\n");
}

/* A run that did not complete, where no case says so. */
static void add_run(Report *r, Buf *out, const ReportEnding *ending) {
    Json error = ending->error;
    Buf message = BUF_INIT;
    buf_printf(&message, "The run was %s.", ending->status);
    if (field_has_text(error, "message")) {
        buf_reset(&message);
        buf_adds(&message, field_string(error, "message"));
    }
    buf_adds(out, "    <testcase");
    add_attribute(out, "name", name_of(r));
    add_attribute(out, "classname", name_of(r));
    buf_adds(out, " time=\"0.000\">\n      <error");
    add_attribute(out, "message", message.data);
    add_attribute(out, "type", ending->status);
    buf_adds(out, "/>\n    </testcase>\n");
    buf_clear(&message);
}

static void add_counts(Buf *out, const Counts *counts, bool error, int64_t ms) {
    buf_printf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%d\" skipped=\"%zu\"",
               counts->cases + error, counts->failed, error, counts->skipped);
    add_seconds(out, ms);
}

static void add_junit(Report *r, Buf *out, const ReportEnding *ending) {
    Counts counts = conclude(r);
    bool error = strcmp(ending->status, "completed") != 0 && !counts.failed;
    int64_t ms = r->to > r->from ? r->to - r->from : 0;
    const Case *guilty = blamed(r, ending->error);
    buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    add_attribute(out, "name", name_of(r));
    add_counts(out, &counts, error, ms);
    buf_adds(out, ">\n  <testsuite");
    add_attribute(out, "name", name_of(r));
    add_counts(out, &counts, error, ms);
    if (r->from) {
        Json at = json_time(r->from);
        buf_printf(out, " timestamp=\"%.19s\"", json_string_data(&at));
        json_unref(at);
    }
    buf_adds(out, ">\n    <properties>\n      <property name=\"thread\"");
    add_attribute(out, "value", ending->thread);
    buf_adds(out, "/>\n      <property name=\"status\"");
    add_attribute(out, "value", ending->status);
    buf_adds(out, "/>\n    </properties>\n");
    for (size_t i = 0; i < r->n; i++) {
        if (is_shown(&r->cases[i])) add_case(r, out, &r->cases[i], ending, guilty);
    }
    if (error) add_run(r, out, ending);
    buf_adds(out, "  </testsuite>\n</testsuites>\n");
}

/* ---- the file ---- */

bool report_target(const char *text, ReportTarget *out, Error *err) {
    size_t len = strlen(text);
    const char *equals = strchr(text, '=');
    bool named = equals && !strncmp(text, "junit=", 6);
    out->path = named ? equals + 1 : text;
    if (!named && (len < 5 || strcmp(text + len - 4, ".xml") != 0)) {
        return error_set(err, ERR_USAGE,
                         "`%s` does not say which kind of report is meant: it ends in .xml, for "
                         "JUnit's, or is written junit=FILE.",
                         text);
    }
    if (!*out->path) return error_set(err, ERR_USAGE, "junit= names no file.");
    const char *slash = strrchr(out->path, '/');
    char *folder =
        slash ? mem_strndup(out->path, (size_t)(slash - out->path) + 1) : mem_strdup(".");
    struct stat st;
    bool there = stat(folder, &st) == 0 && S_ISDIR(st.st_mode);
    bool is_folder = stat(out->path, &st) == 0 && S_ISDIR(st.st_mode);
    if (!there) error_set(err, ERR_USAGE, "there is no folder %s for the report.", folder);
    if (is_folder) error_set(err, ERR_USAGE, "%s is a folder, and no file.", out->path);
    mem_free(folder);
    return there && !is_folder;
}

bool report_write(Report *r, const ReportTarget *to, const ReportEnding *ending, Error *err) {
    Buf text = BUF_INIT, fresh = BUF_INIT;
    add_junit(r, &text, ending);
    buf_printf(&fresh, "%s.%ld.new", to->path, (long)getpid());
    int fd = open(fresh.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool fine = fd >= 0;
    for (size_t at = 0; fine && at < text.len;) {
        ssize_t n = write(fd, text.data + at, text.len - at);
        fine = n > 0 || (n < 0 && errno == EINTR);
        at += n > 0 ? (size_t)n : 0;
    }
    fine = fine && fsync(fd) == 0;
    if (fd >= 0 && close(fd) != 0) fine = false;
    fine = fine && rename(fresh.data, to->path) == 0;
    if (!fine) {
        error_set(err, ERR_IO, "The report %s cannot be written: %s.", to->path, strerror(errno));
        if (fd >= 0) unlink(fresh.data);
    }
    buf_clear(&fresh);
    buf_clear(&text);
    return fine;
}

/* ---- for people ---- */

static void say_lines(const Case *c, int lines) {
    size_t len;
    const char *at = last_lines(c, lines, &len), *end = at + len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((stop ? stop : end) - at);
        Buf line = BUF_INIT;
        terminal_safe(at, n, &line);
        fprintf(stderr, "                     | %s\n", line.data ? line.data : "");
        buf_clear(&line);
        at += n + 1;
    }
}

static void say_case(Report *r, const Case *c) {
    char time[OUTPUT_TIME_MAX];
    bool failed = c->end == CASE_FAILED && !c->forgiven;
    const char *word = c->end == CASE_PASSED ? "passed" : failed ? "failed" : "skipped";
    if (c->end == CASE_FAILED && c->forgiven) word = "allowed";
    if (c->end == CASE_OPEN) word = "ended";
    const Case *around = case_of(r, c->parent);
    while (around && !around->title) around = case_of(r, around->parent);
    terminal_line(stderr, "  %-8s %8s  %s%s%s", word,
                  c->end == CASE_SKIPPED ? "" : output_duration(took(c), time),
                  around ? around->title : "", around ? " / " : "", title_of(c));
    say_lines(c, failed ? SAID_LINES : 1);
}

void report_say(Report *r, const ReportEnding *ending) {
    char time[OUTPUT_TIME_MAX];
    Counts counts = conclude(r);
    size_t said = 0, left_out = 0;
    fputc('\n', stderr);
    terminal_line(stderr, "%s: %s in %s. %zu %s: %zu passed, %zu failed, %zu skipped.", name_of(r),
                  ending->status, output_duration(r->to > r->from ? r->to - r->from : 0, time),
                  counts.cases, counts.cases == 1 ? "task" : "tasks", counts.passed, counts.failed,
                  counts.skipped);
    for (size_t i = 0; i < r->n; i++) {
        const Case *c = &r->cases[i];
        bool failed = c->end == CASE_FAILED && !c->forgiven;
        if (!is_shown(c)) continue;
        if (failed || said < SAID_CASES) {
            said++;
            say_case(r, c);
        } else {
            left_out++;
        }
    }
    if (left_out) fprintf(stderr, "  and %zu more\n", left_out);
}
