/* The work of run_external_tasks where the workflow does not have the test that it names: a URL, a file that a query
 * gives, or one that was not there when the workflow was loaded. It is read when the task begins, and the task goes
 * on with the tasks in it (step_enter()).
 *
 *     start -> the URL is asked for -> on_answer \
 *           -> ...................................> a thread reads and loads the file -> on_loaded
 *
 * A file is read and loaded on a thread of libuv's; so is the copy of what a URL answered, which is kept beside the
 * store for when it cannot be reached: FOLDER/fetched/HASH, the URL on a line of its own and then the text. A run that
 * may not reach every address does not use copies: whether it may have one depends on an address that is not known.
 *
 * How it fails, as .error.kind:
 *
 *     testFile   it is not there, is no test, or has errors      net      its address is none that the run may reach
 *     http       another status than 200                         connect  nobody answers there, and there is no copy
 *     limit      larger than a file of a workflow can be         timeout, tls, url      as of http nodes */
#include "exec.h"
#include "mem.h"
#include "safe_file.h"
#include "safe_root.h"
#include "url.h"
#include "web.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    FETCH_MS = 120000,
    FETCH_REDIRECTS = 10,
    URL_MAX = 8192,
};

typedef struct Reading {
    Step *step;           /* NULL: nobody waits for it any more */
    HttpRequest *request; /* NULL: no request is under way */
    uv_timer_t timer;     /* for the end after cancel(), which is not to come from inside it */
    uv_work_t job;
    bool working; /* on a thread */
    uv_sem_t idle;
    bool is_url, answered, cancelled;
    char *path;           /* as the test is called: tidy, or a URL without user and password */
    char *folder;         /* of the run, in which paths begin */
    char *copies;         /* the folder of them; NULL: there is none */
    bool may_copy;        /* a copy may be used */
    const SafeRoot *root; /* the engine's */
    const char *const *kinds;
    size_t nkinds;
    Buf text;        /* of a URL */
    char *unreached; /* why it was not; NULL: it was */
    /* what comes of it */
    Flow *flow;
    bool is_copy;
    Error err;
} Reading;

/* ---- life ---- */

static void on_closed(uv_handle_t *timer) {
    Reading *r = timer->data;
    uv_sem_destroy(&r->idle);
    buf_clear(&r->text);
    mem_free(r->path);
    mem_free(r->folder);
    mem_free(r->copies);
    mem_free(r->unreached);
    mem_free(r);
}

static void reading_free(Reading *r) {
    uv_close((uv_handle_t *)&r->timer, on_closed);
}

/* ---- copies of what URLs answered ---- */

/* FNV-1a: two URLs of one hash only take each other's place. */
static void copy_name(const char *url, char *out, size_t size) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *url; url++) hash = (hash ^ (unsigned char)*url) * UINT64_C(1099511628211);
    snprintf(out, size, "%016" PRIx64, hash);
}

static int open_copies(const Reading *r, bool make) {
    return !r->copies ? -1
           : make     ? safe_folder_make(AT_FDCWD, r->copies, NULL, NULL)
                      : safe_folder(AT_FDCWD, r->copies, NULL);
}

static bool write_all(int fd, const char *bytes, size_t len) {
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno != EINTR) return false;
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* There whole or not at all. Whether there is one is no concern of the run. */
static void write_copy(const Reading *r) {
    char name[40], fresh[80];
    int folder = open_copies(r, true);
    copy_name(r->path, name, sizeof name);
    snprintf(fresh, sizeof fresh, "%s.%ld-%" PRIu64, name, (long)getpid(), uv_hrtime());
    int fd = folder >= 0 ? safe_create(folder, fresh, NULL) : -1;
    if (fd >= 0) {
        bool ok = write_all(fd, r->path, strlen(r->path)) && write_all(fd, "\n", 1) &&
                  write_all(fd, r->text.data, r->text.len);
        ok = close(fd) == 0 && ok && renameat(folder, fresh, folder, name) == 0;
        if (!ok) unlinkat(folder, fresh, 0);
    }
    if (folder >= 0) close(folder);
}

static bool read_copy(Reading *r) {
    char name[40];
    Buf copy = BUF_INIT;
    size_t url = strlen(r->path);
    int folder = open_copies(r, false);
    copy_name(r->path, name, sizeof name);
    bool found = folder >= 0 &&
                 safe_read(folder, name, SAFE_OURS, FLOW_FILE_MAX + URL_MAX, &copy, NULL) &&
                 copy.len > url && memcmp(copy.data, r->path, url) == 0 && copy.data[url] == '\n';
    if (found) buf_add(&r->text, copy.data + url + 1, copy.len - url - 1);
    if (folder >= 0) close(folder);
    buf_clear(&copy);
    return found;
}

/* ---- on a thread ---- */

static char *in_folder(const Reading *r, const char *path) {
    Buf whole = BUF_INIT;
    if (path[0] != '/' && strcmp(r->folder, ".") != 0) buf_printf(&whole, "%s/", r->folder);
    buf_adds(&whole, path);
    buf_reserve(&whole, 1)[0] = '\0';
    return buf_detach(&whole);
}

static bool read_part(void *ctx, const char *path, Buf *out, Error *err) {
    Reading *r = ctx;
    if (url_is_web(path)) {
        if (strcmp(path, r->path) != 0) {
            return error_set(err, ERR_NOT_FOUND, "A URL can be a `testFile`, and nothing else.");
        }
        buf_add(out, r->text.data, r->text.len);
        return true;
    }
    if (!strncmp(path, "/dev/", 5)) return error_set(err, ERR_IO, "It is not a regular file.");
    char *whole = in_folder(r, path);
    bool ok = flow_read_file(r->root, whole, out, err);
    mem_free(whole);
    return ok;
}

static bool folder_is_ours(void *ctx, const char *path, Error *err) {
    const Reading *r = ctx;
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK;
    char *whole = in_folder(r, path);
    int fd = r->root ? safe_root_open(r->root, whole, flags, NULL) : open(whole, flags);
    bool ours = fd < 0 || safe_folder_is_ours(fd, path, err);
    if (fd >= 0) close(fd);
    mem_free(whole);
    return ours;
}

static const FlowProblem *first_error(const FlowProblems *problems) {
    for (size_t i = 0; i < problems->n; i++) {
        if (!problems->items[i].warning) return &problems->items[i];
    }
    return NULL;
}

static void load(Reading *r) {
    FlowReader reader = {.read = read_part,
                         .ctx = r,
                         .is_ours = folder_is_ours,
                         .kinds = r->kinds,
                         .nkinds = r->nkinds};
    FlowAround around = {.called = true};
    FlowProblems problems = {0};
    r->flow = flow_load_inside(r->path, &reader, &around, &problems);
    const FlowProblem *wrong = first_error(&problems);
    if (wrong && wrong->line) {
        error_set(&r->err, ERR_DATA, "The test `%s` has errors. %s:%d:%d: %s", r->path, wrong->file,
                  wrong->line, wrong->col, wrong->msg);
    } else if (wrong) {
        error_set(&r->err, ERR_DATA, "The test `%s` cannot be used. %s", r->path, wrong->msg);
    } else if (!r->flow->main->scoped) {
        error_set(&r->err, ERR_DATA,
                  "`%s` is of the %s dialect, and no test: it does not have `tasks`.", r->path,
                  r->flow->dialect);
    }
    flow_problems_clear(&problems);
}

static void on_thread(uv_work_t *job) {
    Reading *r = job->data;
    if (r->unreached && !(r->may_copy && read_copy(r))) {
        error_set(&r->err, ERR_IO, "%s%s", r->unreached,
                  r->may_copy ? " There is no copy of it from an earlier run, either." : "");
    } else {
        r->is_copy = r->unreached != NULL;
        if (r->answered) write_copy(r);
        load(r);
    }
    uv_sem_post(&r->idle);
}

static void on_loaded(uv_work_t *job, int status) {
    Reading *r = job->data;
    Step *step = r->step;
    Flow *flow = r->flow;
    bool failed = r->err.code != ERR_NONE;
    r->working = false;
    if (!step || r->cancelled || failed) flow_unref(flow);
    if (!step) {
        reading_free(r);
        return;
    }
    if (r->cancelled || status == UV_ECANCELED) {
        step_fail(step, "cancelled", json_none(), "It was ended while it read the test.");
    } else if (failed) {
        exec_fail_with(step, r->unreached && r->err.code == ERR_IO ? "connect" : "testFile",
                       &r->err);
    } else {
        if (r->is_copy) exec_note(step, "%s An earlier copy is used.", r->unreached);
        step_set_data(step, NULL);
        step_enter(step, flow);
    }
    reading_free(r);
}

static void go_to_thread(Reading *r) {
    r->job.data = r;
    r->working = uv_queue_work(step_loop(r->step), &r->job, on_thread, on_loaded) == 0;
    if (r->working) return;
    step_fail(r->step, "testFile", json_none(), "The test `%s` cannot be read now.", r->path);
    reading_free(r);
}

/* ---- URLs ---- */

static void on_answer(void *ctx, const HttpAnswer *answer) {
    Reading *r = ctx;
    Buf line = BUF_INIT;
    r->request = NULL;
    web_line("GET", answer, &line);
    exec_note(r->step, "%s", line.data);
    buf_clear(&line);
    bool away = answer->end == HTTP_UNREACHED || answer->end == HTTP_TIMEOUT;
    if (answer->end == HTTP_ANSWERED && answer->status == 200) {
        r->answered = true;
        buf_add(&r->text, answer->body.data, answer->body.len);
        go_to_thread(r);
    } else if (away) {
        r->unreached = mem_strdup(answer->message);
        go_to_thread(r);
    } else {
        if (answer->end == HTTP_ANSWERED) {
            step_fail(r->step, "http", web_details(answer), "The test %s answered %d, not 200.",
                      r->path, answer->status);
        } else {
            step_fail(r->step, web_error_kind(answer), json_none(), "%s", answer->message);
        }
        reading_free(r);
    }
}

static bool ask(Reading *r, const char *url, Error *err) {
    HttpOptions options = {.url = url,
                           .timeout_ms = FETCH_MS,
                           .max_response = FLOW_FILE_MAX,
                           .max_redirects = FETCH_REDIRECTS,
                           .on_end = on_answer,
                           .ctx = r};
    r->request = exec_http_ask(r->step, &options, err);
    return r->request != NULL;
}

/* ---- the row ---- */

static bool reaches_all(const Step *step) {
    const NetPolicy *net = step_bounds(step)->net;
    bool all = !net || net_policy_is_any(net);
    const Graph *graph;
    for (size_t i = 0; all && (graph = step_graph(step, i)); i++) {
        all = !graph->net || net_policy_is_any(graph->net);
    }
    return all;
}

/* Without user and password: it is shown, and is on record. */
static char *shown_path(char *path) {
    size_t from, secret = url_is_web(path) ? url_secret(path, strlen(path), &from) : 0;
    if (secret) memmove(path + from, path + from + secret, strlen(path + from + secret) + 1);
    return path;
}

static bool has_control(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) return true;
    }
    return false;
}

static void exec_external_start(Step *step) {
    Json named = step_param(step, EXTERNAL_FILE)->value;
    const Node *node = step_node(step);
    size_t len = json_string_len(named);
    if (!len || len > URL_MAX || has_control(json_string_data(&named), len)) {
        step_fail(
            step, "testFile", json_none(),
            "`testFile` must be the path or the URL of a test: up to %d bytes, without control "
            "characters.",
            URL_MAX);
        return;
    }
    if (url_is_other(json_string_data(&named))) {
        step_fail(step, "url", json_none(),
                  "`%s` cannot be fetched: tests are fetched by http:// and https:// alone.",
                  json_string_data(&named));
        return;
    }
    char *path = flow_beside(node->graph->file, json_string_data(&named));
    const char *store = step_store_folder(step);
    Reading *r = mem_zalloc(sizeof *r);
    Error err = ERROR_INIT;
    r->step = step;
    r->is_url = url_is_web(path);
    r->path = shown_path(mem_strdup(path));
    r->folder = mem_strdup(step_folder(step));
    r->root = step_bounds(step)->root;
    r->kinds = flow_kind_folders(node->graph->flow, &r->nkinds);
    r->may_copy = reaches_all(step);
    if (r->is_url && store) {
        Buf copies = BUF_INIT;
        buf_printf(&copies, "%s/fetched", store);
        r->copies = buf_detach(&copies);
    }
    uv_sem_init(&r->idle, 0);
    r->timer.data = r;
    uv_timer_init(step_loop(step), &r->timer);
    step_set_data(step, r);
    if (!r->is_url) {
        go_to_thread(r);
    } else if (!ask(r, path, &err)) {
        exec_fail_with(step, "connect", &err);
        reading_free(r);
    }
    mem_free(path);
}

static void on_cancelled(uv_timer_t *timer) {
    Reading *r = timer->data;
    step_fail(r->step, "cancelled", json_none(), "It was ended while it fetched the test.");
    reading_free(r);
}

static void exec_external_cancel(Step *step) {
    Reading *r = step_data(step);
    r->cancelled = true;
    if (r->working) {
        uv_cancel((uv_req_t *)&r->job);
        return;
    }
    http_cancel(r->request);
    r->request = NULL;
    uv_timer_start(&r->timer, on_cancelled, 0, 0);
}

/* The thread looks at what is the engine's: it is waited for, which is short. */
static void exec_external_drop(Step *step) {
    Reading *r = step_data(step);
    if (!r) return;
    http_cancel(r->request);
    r->request = NULL;
    r->step = NULL;
    if (!r->working) {
        reading_free(r);
    } else if (uv_cancel((uv_req_t *)&r->job) != 0) {
        uv_sem_wait(&r->idle);
    }
}

const NodeWork exec_external = {
    .start = exec_external_start, .cancel = exec_external_cancel, .drop = exec_external_drop};
