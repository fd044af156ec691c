/* bench_turn.c - how long the loop of a host is busy at a stretch while many ask it for much and the disk is slow.
 *
 * The store is a database that holds 100,000 runs, one of them with 1,000,000 checkpoints; every sync of it takes
 * 50 ms longer than it does. 64 askers in another process, each with a connection of its own to the host's socket,
 * start runs, list all runs, read the whole history, a page after the other, and debug a run (a step, back, what it was at a
 * checkpoint, what has changed since its start), as fast as they are answered. turns.h says
 * what a turn is. */
#include "bench.h"
#include "engine_load.h"
#include "flow.h"
#include "host.h"
#include "host_socket.h"
#include "json_build.h"
#include "json_print.h"
#include "mem.h"
#include "socket.h"
#include "turns.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ASKERS = 64,
    SYNC_MS = 50,
    SECONDS = 20,
    RUNS = 100000,
    CHECKPOINTS = 1000000,
    QUICK = 100, /* so much less */
    BATCH = 5000,
};

/* ---- a slow disk: every sync of this process comes through here ---- */

static atomic_int sync_ms;

static int slow_sync(long call, int fd) {
    struct timespec wait = {.tv_nsec = 1000000L * sync_ms};
    nanosleep(&wait, NULL);
    return (int)syscall(call, fd);
}

__attribute__((visibility("default"))) int fdatasync(int fd);
__attribute__((visibility("default"))) int fdatasync(int fd) {
    return slow_sync(SYS_fdatasync, fd);
}

__attribute__((visibility("default"))) int fsync(int fd);
__attribute__((visibility("default"))) int fsync(int fd) {
    return slow_sync(SYS_fsync, fd);
}

/* ---- askers ---- */

typedef enum Wish { STARTS, LISTS, READS, DEBUGS, WISHES } Wish;

/* What both processes see. */
typedef struct Shared {
    char folder[512];
    int64_t host;
    double until;
    atomic_long answers[WISHES], wholes[WISHES]; /* lines; runs that began, lists, histories */
    atomic_long bytes;
    char start[4096]; /* the arguments that a run is started with */
} Shared;

static Shared *shared;

typedef struct Asker {
    Wish wish;
    int number, fd;
    Buf line;
} Asker;

static void read_line(Asker *a) {
    buf_reset(&a->line);
    while (!a->line.len || a->line.data[a->line.len - 1] != '\n') {
        char *at = buf_reserve(&a->line, 1 << 16);
        ssize_t n = read(a->fd, at, 1 << 16);
        if (n <= 0) give_up("The host has gone.");
        buf_advance(&a->line, (size_t)n);
    }
    atomic_fetch_add(&shared->bytes, (long)a->line.len);
}

static void ask(Asker *a, const char *text, size_t len) {
    for (ssize_t n; len; text += n, len -= (size_t)n) {
        n = write(a->fd, text, len);
        if (n <= 0) give_up("The host does not listen.");
    }
    do {
        read_line(a); /* events come between */
    } while (!strstr(a->line.data, "\"request_id\""));
    /* a run that has not gone far may have nothing to go back to */
    if (!strstr(a->line.data, "\"answer\"") && a->wish != DEBUGS) {
        give_up("Not answered: %.300s", a->line.data);
    }
    atomic_fetch_add(&shared->answers[a->wish], 1);
}

/* The `next` of an answer stands at its end. Given into out; false when there is none. */
static bool next_page(const Asker *a, char *out, size_t size) {
    const char *tail = a->line.data + (a->line.len > 100 ? a->line.len - 100 : 0);
    const char *next = strstr(tail, "\"next\":");
    if (next) snprintf(out, size, "%.*s", (int)strcspn(next + 7, "}"), next + 7);
    return next != NULL;
}

/* A run of its own, which is paused, and which it watches as a debugger does. */
static void begin_debugging(Asker *a) {
    Buf line = BUF_INIT;
    buf_printf(&line,
               "{\"request_id\":1,\"call\":\"run_start\",\"args\":%.*s,\"thread\":\"debug-%d\","
               "\"debug\":{\"pause_on_start\":true,\"window\":true}}}\n",
               (int)strlen(shared->start) - 1, shared->start, a->number);
    ask(a, line.data, line.len);
    if (!strstr(a->line.data, "\"answer\"")) give_up("Not started: %.300s", a->line.data);
    buf_reset(&line);
    buf_printf(&line,
               "{\"request_id\":1,\"call\":\"run_events\",\"args\":"
               "{\"thread\":\"debug-%d\",\"attach\":true}}\n",
               a->number);
    ask(a, line.data, line.len);
    if (!strstr(a->line.data, "\"answer\"")) give_up("Not attached: %.300s", a->line.data);
    buf_clear(&line);
}

static void debug_once(const Asker *a, int n, Buf *line) {
    static const char *const calls[][2] = {
        {"step", ",\"kind\":\"over\""},
        {"variables", ",\"checkpoint\":1"},
        {"step", ",\"kind\":\"over\""},
        {"diff", ",\"since\":\"start\""},
        {"back", ""},
        {"evaluate", ",\"checkpoint\":2,\"expression\":\".\""},
        {"reverse_continue", ""},
    };
    const char *const *call = calls[(size_t)n % (sizeof calls / sizeof *calls)];
    buf_printf(line, "{\"request_id\":1,\"call\":\"%s\",\"args\":{\"thread\":\"debug-%d\"%s}}\n",
               call[0], a->number, call[1]);
}

static void *asker_main(void *arg) {
    Asker *a = arg;
    SocketPlace place;
    Error err = ERROR_INIT;
    int why;
    Buf line = BUF_INIT;
    char next[64] = "";
    if (!socket_place_open(&place, shared->folder, shared->host, &err)) give_up("%s", err.msg);
    a->fd = host_socket_connect(&place, &why, &err);
    if (a->fd < 0) give_up("%s", err.msg);
    read_line(a); /* hello */
    if (a->wish == DEBUGS) begin_debugging(a);
    for (int n = 0; wall_seconds() < shared->until; n++) {
        buf_reset(&line);
        if (a->wish == STARTS) {
            buf_printf(&line, "{\"request_id\":1,\"call\":\"run_start\",\"args\":%s}\n",
                       shared->start);
        } else if (a->wish == DEBUGS) {
            debug_once(a, n, &line);
        } else if (a->wish == LISTS) {
            buf_printf(&line, "{\"request_id\":1,\"call\":\"runs\",\"args\":{%s%s}}\n",
                       next[0] ? "\"after\":" : "", next);
        } else {
            buf_printf(
                &line,
                "{\"request_id\":1,\"call\":\"run_history\",\"args\":{\"thread\":\"long\"%s%s}}\n",
                next[0] ? ",\"from\":" : "", next);
        }
        ask(a, line.data, line.len);
        if (a->wish == STARTS || a->wish == DEBUGS || !next_page(a, next, sizeof next)) {
            atomic_fetch_add(&shared->wholes[a->wish], 1);
            next[0] = '\0';
        }
    }
    buf_clear(&line);
    buf_clear(&a->line);
    close(a->fd);
    socket_place_close(&place);
    return NULL;
}

/* Made before this process has any threads; begins when it is told to. */
static pid_t fork_askers(int *go) {
    int ends[2];
    char byte;
    if (pipe(ends) != 0) give_up("There are no pipes.");
    pid_t pid = fork();
    if (pid != 0) {
        close(ends[0]);
        *go = ends[1];
        return pid;
    }
    close(ends[1]);
    if (read(ends[0], &byte, 1) != 1) _exit(0);
    static Asker askers[ASKERS];
    pthread_t threads[ASKERS];
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = (Asker){.wish = (Wish)(i % WISHES), .number = i};
        if (pthread_create(&threads[i], NULL, asker_main, &askers[i]) != 0) {
            give_up("There are no threads.");
        }
    }
    for (int i = 0; i < ASKERS; i++) pthread_join(threads[i], NULL);
    _exit(0);
}

/* ---- the store ---- */

static void run_loop(uv_loop_t *loop) {
    uv_run(loop, UV_RUN_DEFAULT);
    uv_loop_close(loop);
}

/* The long run is run; the others are rows, and nothing else is looked at of them. */
static void fill(const char *url, const char *folder, int64_t checkpoints, int runs) {
    Error err = ERROR_INIT;
    uv_loop_t loop;
    uv_loop_init(&loop);
    Host *host = host_new(&(HostOptions){.loop = &loop, .store = url, .folder = folder});
    Engine *engine = host_engine(host, HOST_CREATES, &err);
    Load load = load_counter(0, checkpoints);
    RunStart start = {.thread = "long", .input = load.input};
    Run *run = engine ? engine_start_now(engine, load.flow, &start, &err) : NULL;
    if (!run) give_up("%s", err.msg);
    while (!run_settled(run)) uv_run(&loop, UV_RUN_ONCE);
    host_free(host);
    run_loop(&loop);
    load_clear(&load);

    Store *store = store_open(url, STORE_EXISTING, &err);
    RunRow row = {0};
    if (!store || !store_find(store, "long", &row, &err)) give_up("%s", err.msg);
    for (int done = 0; done < runs; done += BATCH) {
        StoreBatch batch = STORE_BATCH_INIT;
        for (int i = 1; i <= BATCH && done + i <= runs; i++) {
            store_batch_create(&batch, &(StoreCreate){.stand_in = -i,
                                                      .workflow = row.workflow,
                                                      .definition = json_none(),
                                                      .key = row.definition,
                                                      .at = row.updated + done + i});
            store_batch_run(&batch, -i, 0, "completed", row.updated + done + i);
            store_batch_release(&batch, -i);
        }
        if (!store_commit(store, &batch, &err)) give_up("%s", err.msg);
        store_batch_clear(&batch);
    }
    run_row_clear(&row);
    store_close(store);
}

/* ---- the loop ---- */

typedef struct Askers {
    pid_t pid;
    bool done;
} Askers;

static void on_look(uv_timer_t *timer) {
    Askers *a = timer->data;
    int status;
    if (waitpid(a->pid, &status, WNOHANG) == a->pid) {
        if (status) give_up("The askers have failed.");
        a->done = true;
    }
}

static void measure(const char *url, const char *folder, pid_t pid, int go, int seconds) {
    Error err = ERROR_INIT;
    uv_loop_t loop;
    uv_timer_t timer;
    Askers askers = {.pid = pid};
    uv_loop_init(&loop);
    Host *host = host_new(&(HostOptions){.loop = &loop, .store = url, .folder = folder});
    SocketServer *server = socket_listen(host, &err);
    if (!server || !host_engine(host, HOST_WRITES, &err)) give_up("%s", err.msg);
    snprintf(shared->folder, sizeof shared->folder, "%s", host_store_folder(host, NULL));
    shared->host = getpid();
    shared->until = wall_seconds() + seconds;
    uv_timer_init(&loop, &timer);
    timer.data = &askers;
    uv_timer_start(&timer, on_look, 100, 100);
    sync_ms = SYNC_MS;
    if (write(go, "", 1) != 1) give_up("The askers have gone.");
    turns_begin();
    while (!askers.done) uv_run(&loop, UV_RUN_ONCE);
    turns_end();
    sync_ms = 0;
    uv_close((uv_handle_t *)&timer, NULL);
    socket_close(server);
    host_free(host);
    run_loop(&loop);
}

/* ---- figures ---- */

static const char *number_text(double value, char *out) {
    snprintf(out, BENCH_TEXT_MAX, "%.0f", value);
    return out;
}

static void show(Bench *b, double seconds) {
    static const char *const what[] = {"runs started a second", "pages of runs listed a second",
                                       "pages of the history read a second",
                                       "operations of debuggers a second"};
    static const char *const names[TURN_CLOCKS][2] = {
        {"a turn, 999 of 1,000 within; on the wall", "the longest"},
        {"the same, less what others had the processor for", "the longest"},
        {"the same, processor time", "the longest"}};
    for (int c = 0; c < TURN_CLOCKS; c++) {
        bench_figure(b, &(BenchFigure){.what = names[c][0],
                                       .ours = turns_at((TurnClock)c, 0.999),
                                       .bar = c == TURN_OWN ? BENCH_SECONDS : BENCH_INFO,
                                       .limit = 0.005});
        bench_figure(b, &(BenchFigure){.what = names[c][1], .ours = turns_at((TurnClock)c, 1)});
    }
    bench_figure(
        b, &(BenchFigure){.what = "turns", .ours = (double)turns_count(), .text = number_text});
    for (int i = 0; i < WISHES; i++) {
        bench_figure(b, &(BenchFigure){.what = what[i],
                                       .ours = (double)shared->answers[i] / seconds,
                                       .text = number_text});
    }
    bench_figure(b, &(BenchFigure){.what = "bytes answered a second",
                                   .ours = (double)shared->bytes / seconds,
                                   .text = bench_bytes_text});
}

/* A run of ten steps, with its workflow. */
static void write_start(void) {
    Load load = load_counter(0, 10);
    Buf text = BUF_INIT;
    Json args =
        OBJECT(KEY("definition", flow_definition(load.flow)), KEY("input", json_ref(load.input)));
    json_print(args, &(JsonPrintOptions){0}, &text);
    if (text.len >= sizeof shared->start) give_up("The workflow is too long.");
    memcpy(shared->start, text.data, text.len + 1);
    json_unref(args);
    buf_clear(&text);
    load_clear(&load);
}

int main(int argc, char **argv) {
    char folder[256], url[300], path[300];
    int go;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) give_up("There is no memory.");
    signal(SIGPIPE, SIG_IGN);
    write_start();
    pid_t askers = fork_askers(&go);
    Bench *b = bench_new(argc, argv, "the host's loop: 64 askers, a disk that takes 50 ms a sync");
    int less = bench_is_quick(b) ? QUICK : 1, seconds = bench_is_quick(b) ? 2 : SECONDS;
    if (!getcwd(path, sizeof path - 100)) give_up("There is no folder.");
    snprintf(folder, sizeof folder, "%.180s/bench-turn-%d", path, (int)getpid());
    snprintf(url, sizeof url, "sqlite:%s/pawl.db", folder);
    mkdir(folder, 0700);
    fill(url, folder, CHECKPOINTS / less, RUNS / less);
    measure(url, folder, askers, go, seconds);
    show(b, seconds);
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) fprintf(stderr, "%s is left.\n", folder);
    return bench_end(b);
}
