/* engine_load.c - beds and loads. */
#include "engine_load.h"

#include "exec.h"
#include "folders.h"
#include "json_print.h"
#include "mem.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { RECORD_TEXT = 90, MESSAGE_TEXT = 97 };

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double wall_seconds(void) {
    return seconds_of(CLOCK_MONOTONIC);
}

void give_up(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

/* ---- beds ---- */

static const char *bed_folder = ".";

void beds_in(const char *folder) {
    bed_folder = folder;
}

const char *memory_folder(void) {
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".";
}

static char *new_path(void) {
    static int made;
    Buf path = BUF_INIT;
    buf_printf(&path, "%s/bench-%d-%d.db", bed_folder, (int)getpid(), ++made);
    return buf_detach(&path);
}

static Store *open_store(const char *url) {
    Error err = ERROR_INIT;
    Store *store = store_open(url, STORE_CREATE, &err);
    if (!store) {
        give_up("%s", err.msg);
    }
    return store;
}

static Store *open_sqlite(const char *path) {
    Buf url = BUF_INIT;
    buf_printf(&url, "sqlite:%s", path);
    Store *store = open_store(url.data);
    buf_clear(&url);
    return store;
}

Bed bed_open(Where where) {
    Bed b = {.loop = mem_zalloc(sizeof *b.loop)};
    Error err = ERROR_INIT;
    uv_loop_init(b.loop);
    b.path = where == IN_SQLITE ? new_path() : NULL;
    b.store = b.path ? open_sqlite(b.path) : where == IN_MEMORY ? open_store("memory:") : NULL;
    EngineOptions options = {
        .loop = b.loop, .store = b.store, .work = exec_work, .environment = environ};
    b.engine = engine_new(&options, &err);
    if (!b.engine) {
        give_up("%s", err.msg);
    }
    return b;
}

static void close_engine(Bed *b) {
    engine_free(b->engine);
    b->engine = NULL;
    uv_run(b->loop, UV_RUN_DEFAULT);
}

void bed_reopen(Bed *b) {
    if (b->engine) {
        close_engine(b);
    }
    store_close(b->store);
    b->store = open_sqlite(b->path);
}

/* The files of a database, by what follows its name. */
static const char *const suffixes[] = {"", "-wal", "-shm", "-lease"};

enum { SUFFIXES = sizeof suffixes / sizeof suffixes[0] };

static const char *file_of(const Bed *b, int i, char *out, size_t size) {
    snprintf(out, size, "%s%s", b->path, suffixes[i]);
    return out;
}

static uint64_t bytes_of_files(const Bed *b) {
    char name[256];
    struct stat st;
    uint64_t bytes = 0;
    for (int i = 0; b->path && i < SUFFIXES; i++) {
        bytes += stat(file_of(b, i, name, sizeof name), &st) == 0 ? (uint64_t)st.st_size : 0;
    }
    return bytes;
}

uint64_t bed_close(Bed *b) {
    char name[256];
    if (b->engine) {
        close_engine(b);
    }
    store_close(b->store); /* SQLite writes its log back */
    uint64_t bytes = bytes_of_files(b);
    for (int i = 0; b->path && i < SUFFIXES; i++) {
        unlink(file_of(b, i, name, sizeof name));
    }
    if (b->path) {
        snprintf(name, sizeof name, "%s-work", b->path);
        folder_remove(name);
    }
    uv_loop_close(b->loop);
    mem_free(b->loop);
    mem_free(b->path);
    return bytes;
}

/* ---- workflows ---- */

#define LIMIT "config: {recursion_limit: 1000000000}\n"
#define LOOP                                                \
    "edges:\n"                                              \
    "  - {from: __start__, to: step}\n"                     \
    "  - {from: step, to: step, when: '.count < .limit'}\n" \
    "  - {from: step, to: __end__}\n"

const char counter_text[] = "name: counter\n" LIMIT "nodes:\n"
                            "  - name: step\n"
                            "    jq: '{count: (.count + 1)}'\n" LOOP;

static bool read_text(void *text, const char *path, Buf *out, Error *err) {
    (void)path;
    (void)err;
    buf_adds(out, text);
    return true;
}

static Flow *flow_of(char *text) {
    FlowProblems problems = {0};
    FlowReader reader = {.read = read_text, .ctx = text};
    Flow *flow = flow_load("bench.yaml", &reader, &problems);
    if (!flow) {
        give_up("%s", problems.items[0].msg);
    }
    flow_problems_clear(&problems);
    return flow;
}

static Json with(Json object, const char *key, Json value) {
    return json_object_set(object, json_string_c(key), value);
}

static Json filled_string(size_t len) {
    char text[128];
    memset(text, 'x', len);
    return json_string(text, len);
}

static Json record(int64_t i) {
    Json tags = json_array_push(json_array_push(json_array(), json_string_c("alpha")),
                                json_string_c("beta"));
    Json r = with(json_object(), "id", json_int(i));
    r = with(r, "name", json_string_fmt("record %lld", (long long)i));
    r = with(r, "state", json_string_c(i % 3 ? "done" : "failed"));
    r = with(r, "score", json_double((double)i / 7));
    r = with(r, "tags", tags);
    return with(r, "text", filled_string(RECORD_TEXT));
}

static size_t text_bytes(Json j) {
    char *text = json_to_text(j);
    size_t len = strlen(text);
    mem_free(text);
    return len;
}

static Json records(size_t bytes) {
    Json all = json_array();
    size_t size = 2;
    for (int64_t i = 0; size < bytes; i++) {
        Json r = record(i);
        size += text_bytes(r) + 1;
        all = json_array_push(all, r);
    }
    return all;
}

static Json counter_input(int64_t steps) {
    return with(with(json_object(), "count", json_int(0)), "limit", json_int(steps));
}

static Load counter_of(const char *workflow, size_t state_bytes, int64_t steps) {
    Buf text = BUF_INIT;
    buf_adds(&text, workflow);
    Load load = {flow_of(text.data), counter_input(steps), 1};
    if (state_bytes) {
        load.input = with(load.input, "data", records(state_bytes));
    }
    buf_clear(&text);
    return load;
}

Load load_counter(size_t state_bytes, int64_t steps) {
    return counter_of(counter_text, state_bytes, steps);
}

Load load_loops(size_t state_bytes, int64_t steps) {
    return counter_of("name: loops\n" LIMIT "nodes:\n"
                      "  - name: step\n"
                      "    while: 'true'\n"
                      "    max_iterations: 1\n"
                      "    at_limit: stop\n"
                      "    do:\n"
                      "      - {name: turn, jq: '{count: (.count + 1)}'}\n" LOOP,
                      state_bytes, steps);
}

Load load_talk(int64_t steps) {
    char message[MESSAGE_TEXT + 1] = "one line, a hundred bytes with its quotes and its comma";
    size_t len = strlen(message);
    memset(message + len, '.', MESSAGE_TEXT - len);
    Buf text = BUF_INIT;
    buf_printf(&text,
               "name: talk\n" LIMIT "state: {messages: {default: [], reduce: append}}\n"
               "nodes:\n  - name: step\n    jq: '{count: (.count + 1), messages: [\"%s\"]}'\n" LOOP,
               message);
    Load load = {flow_of(text.data), counter_input(steps), 1};
    buf_clear(&text);
    return load;
}

Load load_shell(int64_t steps) {
    return counter_of("name: shell\n" LIMIT "nodes:\n"
                      "  - {name: run, shell: 'true', output: ran}\n"
                      "  - {name: step, jq: '{count: (.count + 1)}'}\n"
                      "edges:\n"
                      "  - {from: __start__, to: run}\n"
                      "  - {from: run, to: step}\n"
                      "  - {from: step, to: run, when: '.count < .limit'}\n"
                      "  - {from: step, to: __end__}\n",
                      0, steps);
}

static Load frames_that(const char *body, int64_t frames) {
    Buf text = BUF_INIT;
    Json items = json_array();
    for (int64_t i = 0; i < frames; i++) {
        items = json_array_push(items, json_int(i));
    }
    buf_printf(&text,
               "name: frames\nnodes:\n  - name: each\n    map: {over: .items, limit: %lld}\n"
               "    do: {%s}\n    output: results\n",
               (long long)frames, body);
    Load load = {flow_of(text.data), with(json_object(), "items", items), 1};
    buf_clear(&text);
    return load;
}

Load load_frames(int64_t frames) {
    return frames_that("jq: '$item + 1'", frames);
}

Load load_waiting(int64_t frames) {
    return frames_that("approval: {prompt: \"Go on?\", options: [yes, no]}", frames);
}

Load load_approval(void) {
    char text[] = "name: paused\nnodes:\n  - name: ask\n"
                  "    approval: {prompt: \"Go on?\", options: [yes, no]}\n";
    return (Load){flow_of(text), json_object(), 1};
}

void load_set_steps(Load *load, int64_t steps) {
    load->input = with(load->input, "limit", json_int(steps));
}

void load_clear(Load *load) {
    flow_unref(load->flow);
    json_unref(load->input);
}

/* ---- running ---- */

static void check_ended(const Run *run) {
    if (run_store_error(run)) {
        give_up("%s", run_store_error(run)->msg);
    }
    if (strcmp(run_status(run), "completed") != 0) {
        char *why = json_to_text(json_is_none(run_error(run)) ? json_null() : run_error(run));
        give_up("The run is %s instead of completed: %s", run_status(run), why);
    }
}

static Run *start(Bed *b, const Load *load) {
    Error err = ERROR_INIT;
    Run *run = engine_start_now(b->engine, load->flow, &(RunStart){.input = load->input}, &err);
    if (!run) {
        give_up("%s", err.msg);
    }
    return run;
}

static Cost run_started(Bed *b, double started) {
    double wall = wall_seconds(), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    uv_run(b->loop, UV_RUN_DEFAULT);
    return (Cost){.started = started,
                  .wall = wall_seconds() - wall,
                  .cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu};
}

Cost bed_run(Bed *b, const Load *load) {
    Run **runs = mem_alloc(load->runs * sizeof *runs);
    double began = wall_seconds();
    for (size_t i = 0; i < load->runs; i++) {
        runs[i] = start(b, load);
    }
    Cost cost = run_started(b, wall_seconds() - began);
    for (size_t i = 0; i < load->runs; i++) {
        check_ended(runs[i]);
        run_free(runs[i]);
    }
    mem_free(runs);
    return cost;
}

void bed_hold(Bed *b, const Load *load) {
    for (size_t i = 0; i < load->runs; i++) {
        start(b, load);
    }
    uv_run(b->loop, UV_RUN_DEFAULT);
}

Cost load_cost(const Load *load, Where where) {
    Bed b = bed_open(where);
    Cost cost = bed_run(&b, load);
    cost.bytes = (double)bed_close(&b);
    return cost;
}

/* ---- differences ---- */

enum { HALF_ROUNDS_MAX = 15 };

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, size_t n) {
    qsort(values, n, sizeof *values, compare_doubles);
    return values[n / 2];
}

static double usable(double *differences, int rounds, double steps) {
    double middle = median(differences, (size_t)rounds);
    return middle > 0 ? middle / steps : NAN;
}

Cost load_second_half(Load *load, int64_t steps, Where where, int rounds) {
    double wall[HALF_ROUNDS_MAX], cpu[HALF_ROUNDS_MAX], bytes[HALF_ROUNDS_MAX];
    rounds = rounds < HALF_ROUNDS_MAX ? rounds : HALF_ROUNDS_MAX;
    for (int i = 0; i < rounds; i++) {
        load_set_steps(load, steps / 2);
        Cost half = load_cost(load, where);
        load_set_steps(load, steps);
        Cost whole = load_cost(load, where);
        wall[i] = whole.wall - half.wall;
        cpu[i] = whole.cpu - half.cpu;
        bytes[i] = whole.bytes - half.bytes;
    }
    double n = (double)(steps - steps / 2) * (double)load->runs;
    return (Cost){.wall = usable(wall, rounds, n),
                  .cpu = usable(cpu, rounds, n),
                  .bytes = usable(bytes, rounds, n)};
}
