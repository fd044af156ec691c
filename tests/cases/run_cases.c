/* run_cases.c - runs files of cases and prints TAP.
 *
 * A case is a group of lines: a program, an input, and the outputs in order; groups are parted by empty
 * lines, and lines that start with # are comments. A group that starts with %%FAIL is a program that
 * must be refused.
 *
 *     run_cases FOLDER
 *
 * runs every .test file in FOLDER. Then it looks for jq's own cases in $PAWL_TEST_DATA/jq, or in
 * ../shared/data/jq, and runs those too, except the ones that FOLDER/excluded names, each with its
 * reason; without that data it says so and skips.
 */
#include "buf.h"
#include "jq.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Lines {
    char *text;
    char *at;
    int number;
} Lines;

typedef struct Tally {
    int run, failed, excluded;
} Tally;

static int test_number;

static char *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) {
        return NULL;
    }
    Buf b = BUF_INIT;
    size_t n;
    while ((n = fread(buf_reserve(&b, 65536), 1, 65536, f)) > 0) {
        buf_advance(&b, n);
    }
    fclose(f);
    return buf_detach(&b);
}

/* The next line, or NULL; comments are passed over. */
static char *next_line(Lines *l) {
    while (*l->at) {
        char *line = l->at, *end = strchr(line, '\n');
        l->at = end ? end + 1 : line + strlen(line);
        if (end) {
            *end = '\0';
        }
        l->number++;
        if (line[0] != '#') {
            return line;
        }
    }
    return NULL;
}

static bool is_blank(const char *line) {
    return line[strspn(line, " \t\r")] == '\0';
}

/* ---- one case ---- */

static JqHost host(Json env) {
    return (JqHost){.env = env, .budget = {.memory = (size_t)1 << 30}};
}

static bool same(Json expected, Json actual) {
    bool equal = false;
    return json_equal_working(expected, actual, 100000, &(uint64_t){UINT64_MAX}, &equal) && equal;
}

static bool fits(JqRun *run, Lines *l, Buf *why) {
    char *line;
    bool ok = true;
    Json out;
    while ((line = next_line(l)) && !is_blank(line)) {
        Error err = ERROR_INIT;
        Json expected = json_parse(line, strlen(line), NULL, &err);
        JqStatus status = ok ? jq_run_next(run, &out) : JQ_DONE;
        if (ok && status != JQ_OUTPUT) {
            buf_printf(why, "expected %s, but %s%s", line,
                       status == JQ_FAILED ? "got the error: " : "there was no more",
                       status == JQ_FAILED ? jq_run_error(run)->msg : "");
            ok = false;
        } else if (ok && !same(expected, out)) {
            buf_printf(why, "expected %s, got ", line);
            json_print(out, &(JsonPrintOptions){.max_bytes = 300}, why);
            ok = false;
        }
        if (status == JQ_OUTPUT) {
            json_unref(out);
        }
        json_unref(expected);
    }
    if (ok && jq_run_next(run, &out) == JQ_OUTPUT) {
        buf_adds(why, "one output too many: ");
        json_print(out, &(JsonPrintOptions){.max_bytes = 300}, why);
        json_unref(out);
        ok = false;
    }
    return ok;
}

static void skip_group(Lines *l) {
    char *line;
    while ((line = next_line(l)) && !is_blank(line)) {}
}

static bool run_case(const char *text, Lines *l, Json env, Buf *why) {
    Error err = ERROR_INIT;
    char *line = next_line(l);
    Json input = json_parse(line ? line : "", line ? strlen(line) : 0, NULL, &err);
    JqProgram *p = json_is_none(input) ? NULL : jq_compile(text, strlen(text), NULL, &err);
    if (!p) {
        buf_printf(why, "%d:%d: %s", err.line, err.col, err.msg);
        json_unref(input);
        skip_group(l);
        return false;
    }
    JqHost h = host(env);
    JqRun *run = jq_run_new(p, &h);
    jq_run_start(run, input, NULL);
    bool ok = fits(run, l, why);
    jq_run_free(run);
    jq_program_free(p);
    return ok;
}

static bool run_refused(const char *text, Lines *l, Buf *why) {
    Error err = ERROR_INIT;
    JqProgram *p = jq_compile(text, strlen(text), NULL, &err);
    bool ok = !p;
    jq_program_free(p);
    if (!ok) {
        buf_adds(why, "this program must be refused");
    } else if (err.line == 0 || err.col == 0) {
        buf_adds(why, "it is refused without a place");
        ok = false;
    }
    skip_group(l);
    return ok;
}

/* ---- exclusions: lines of `file<TAB>program<TAB>reason` ---- */

static const char *excluded_because(const char *list, const char *file, const char *program) {
    size_t file_len = strlen(file), len = strlen(program);
    for (const char *at = list; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        if (!strncmp(at, file, file_len) && at[file_len] == '\t' &&
            !strncmp(at + file_len + 1, program, len) && at[file_len + 1 + len] == '\t') {
            return at + file_len + len + 2;
        }
    }
    return NULL;
}

/* ---- files ---- */

static void report(bool ok, const char *file, int line, const char *program, Buf *why) {
    printf("%s %d - %s:%d %.100s\n", ok ? "ok" : "not ok", ++test_number, file, line, program);
    if (!ok) {
        printf("# %s\n", why->data ? why->data : "");
    }
}

static void run_file(const char *folder, const char *file, const char *exclusions, Json env,
                     Tally *t) {
    Buf path = BUF_INIT;
    buf_printf(&path, "%s/%s", folder, file);
    Lines l = {.text = read_file(path.data)};
    l.at = l.text;
    char *line;
    while (l.text && (line = next_line(&l))) {
        if (is_blank(line)) {
            continue;
        }
        bool refused = !strncmp(line, "%%FAIL", 6);
        char *program = refused ? next_line(&l) : line;
        int at = l.number;
        if (exclusions && excluded_because(exclusions, file, program)) {
            t->excluded++;
            skip_group(&l);
            continue;
        }
        Buf why = BUF_INIT;
        bool ok = refused ? run_refused(program, &l, &why) : run_case(program, &l, env, &why);
        report(ok, file, at, program, &why);
        buf_clear(&why);
        t->run++;
        t->failed += !ok;
    }
    mem_free(l.text);
    buf_clear(&path);
}

static int is_case_file(const struct dirent *d) {
    const char *dot = strrchr(d->d_name, '.');
    return dot && !strcmp(dot, ".test");
}

static Tally run_folder(const char *folder, const char *exclusions, Json env) {
    Tally t = {0};
    struct dirent **files;
    int n = scandir(folder, &files, is_case_file, alphasort);
    for (int i = 0; i < n; i++) {
        run_file(folder, files[i]->d_name, exclusions, env, &t);
        free(files[i]);
    }
    if (n >= 0) {
        free(files);
    }
    return t;
}

static void data_folder(Buf *out) {
    const char *data = getenv("PAWL_TEST_DATA");
    buf_printf(out, "%s/jq", data ? data : "../shared/data");
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: run_cases FOLDER\n");
        return 2;
    }
    Json env = json_object_set(json_object(), json_string_c("PAGER"), json_string_c("less"));
    Tally own = run_folder(argv[1], NULL, env);

    Buf list = BUF_INIT, data = BUF_INIT;
    buf_printf(&list, "%s/excluded", argv[1]);
    char *exclusions = read_file(list.data);
    data_folder(&data);
    Tally theirs = run_folder(data.data, exclusions, env);
    if (theirs.run == 0) {
        printf("ok %d - jq's own cases # SKIP they are not here (set PAWL_TEST_DATA)\n",
               ++test_number);
    } else {
        printf("# total: jq's own cases: %d of %d pass, %d are excluded (tests/cases/excluded)\n",
               theirs.run - theirs.failed, theirs.run + theirs.excluded, theirs.excluded);
    }
    printf("1..%d\n", test_number);
    mem_free(exclusions);
    buf_clear(&list);
    buf_clear(&data);
    json_unref(env);
    return own.failed + theirs.failed > 0;
}
