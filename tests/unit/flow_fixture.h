/* flow_fixture.h - what the tests of workflow files share: files in memory, and their problems as text.
 *
 *     Flow *flow = load("nodes: [{name: a, jq: .}]");       it must load
 *     expect("nodes: 1", "1:8: ...\n");                     its problems, one a line
 *     expect_files((const File[]){{"a.yaml", "..."}, {"b.yaml", "..."}, {0}}, "a.yaml:1:8: ...\n");
 */
#ifndef PAWL_TESTS_FLOW_FIXTURE_H
#define PAWL_TESTS_FLOW_FIXTURE_H

#include "flow.h"
#include "json_test.h"
#include "mem.h"

/* A list of files ends with a row without a path; the first is the one to load. */
typedef struct File {
    const char *path, *text;
} File;

static bool serve(void *ctx, const char *path, Buf *out, Error *err) {
    for (const File *f = ctx; f->path; f++) {
        if (strcmp(f->path, path) == 0) {
            buf_adds(out, f->text);
            return true;
        }
    }
    return error_set(err, ERR_NOT_FOUND, "There is no such file.");
}

static Flow *try_files(const File *files, FlowProblems *problems) {
    FlowReader reader = {.read = serve, .ctx = (void *)(uintptr_t)files};
    return flow_load(files[0].path, &reader, problems);
}

TEST_UNUSED static Flow *try_load(const char *text, FlowProblems *problems) {
    return try_files((const File[]){{"f", text}, {0}}, problems);
}

/* "line:col: sentence" a line, after the name of the file if that is not "f"; for mem_free(). */
static char *problems_text(const FlowProblems *problems) {
    Buf out = BUF_INIT;
    buf_printf(&out, "%s", "");
    for (size_t i = 0; i < problems->n; i++) {
        const FlowProblem *p = &problems->items[i];
        const char *file = strcmp(p->file, "f") == 0 ? "" : p->file;
        buf_printf(&out, "%s%s%d:%d: %s%s\n", file, *file ? ":" : "", p->line, p->col,
                   p->warning ? "warning: " : "", p->msg);
    }
    return buf_detach(&out);
}

/* What came of loading, which this takes. */
static void expect_problems(Flow *flow, FlowProblems *problems, const char *want) {
    char *got = problems_text(problems);
    assert_string_equal(got, want);
    assert_int_equal(flow == NULL, problems->errors > 0);
    mem_free(got);
    flow_unref(flow);
    flow_problems_clear(problems);
}

TEST_UNUSED static void expect_files(const File *files, const char *want) {
    FlowProblems problems = {0};
    expect_problems(try_files(files, &problems), &problems, want);
}

TEST_UNUSED static void expect(const char *text, const char *want) {
    expect_files((const File[]){{"f", text}, {0}}, want);
}

/* They must load, with these warnings. */
static Flow *load_files_with(const File *files, const char *warnings) {
    FlowProblems problems = {0};
    Flow *flow = try_files(files, &problems);
    char *got = problems_text(&problems);
    assert_string_equal(got, warnings);
    assert_non_null(flow);
    mem_free(got);
    flow_problems_clear(&problems);
    return flow;
}

TEST_UNUSED static Flow *load_files(const File *files) {
    return load_files_with(files, "");
}

TEST_UNUSED static Flow *load_with(const char *text, const char *warnings) {
    return load_files_with((const File[]){{"f", text}, {0}}, warnings);
}

TEST_UNUSED static Flow *load(const char *text) {
    return load_with(text, "");
}

/* The node must be there. */
TEST_UNUSED static const Node *node_of(const Graph *g, const char *name) {
    Json key = json_string_c(name);
    const Node *n = graph_node(g, key);
    json_unref(key);
    assert_non_null(n);
    return n;
}

typedef struct Case {
    const char *text, *want;
} Case;

TEST_UNUSED static void run_cases(const Case *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        expect(cases[i].text, cases[i].want);
    }
}

#define RUN(cases) run_cases(cases, sizeof cases / sizeof *cases)

#endif
