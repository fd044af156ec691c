/* Child processes that misbehave, and ones whose starter dies. Each test has a folder of its own
 * under a temporary one; the times are upper bounds, wide enough for a busy machine. */
#define _GNU_SOURCE
#include "forbid.h"
#include "mask.h"
#include "mem.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Far longer than what is waited for takes, and far shorter than what is not. */
enum { SOON_MS = 30000 };

static char root[64];
static int places;

typedef struct Watch {
    uv_loop_t loop;
    uv_timer_t timer;
    Process *process;
    char place[128];
    bool done;
    ProcessResult result; /* out and err are copies */
    size_t seen[3];
    int64_t took;
} Watch;

static int64_t now(void) {
    return (int64_t)(uv_hrtime() / 1000000);
}

static void on_output(void *ctx, int stream, const char *bytes, size_t len) {
    (void)bytes;
    ((Watch *)ctx)->seen[stream] += len;
}

static void on_exit_(void *ctx, const ProcessResult *result) {
    Watch *w = ctx;
    w->result = *result;
    w->result.out = w->result.err = w->result.out_tail = w->result.err_tail = (Buf)BUF_INIT;
    buf_add(&w->result.out_tail, result->out_tail.data, result->out_tail.len);
    buf_add(&w->result.out, result->out.data, result->out.len);
    buf_add(&w->result.err, result->err.data, result->err.len);
    w->done = true;
    process_free(w->process);
    w->process = NULL;
}

static void watch_init(Watch *w) {
    memset(w, 0, sizeof *w);
    uv_loop_init(&w->loop);
    snprintf(w->place, sizeof w->place, "%s/%d", root, ++places);
}

static void watch_clear(Watch *w) {
    uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    buf_clear(&w->result.out);
    buf_clear(&w->result.err);
    buf_clear(&w->result.out_tail);
    process_forget(w->place);
    assert_int_equal(access(w->place, F_OK), -1);
}

static void start_with(Watch *w, ProcessOptions options) {
    Error err = ERROR_INIT;
    options.place = w->place;
    if (!options.env) options.env = (const char *const *)environ;
    options.max_output = options.max_output ? options.max_output : 1 << 20;
    options.on_output = on_output;
    options.on_exit = on_exit_;
    options.ctx = w;
    w->took = now();
    w->process = process_start(&w->loop, &options, &err);
    if (!w->process) fail_msg("%s", err.msg);
    assert_false(w->done);
}

static void start_sh(Watch *w, const char *command, ProcessOptions options) {
    const char *argv[] = {"sh", "-c", command, NULL};
    options.argv = argv;
    start_with(w, options);
}

static void finish(Watch *w) {
    while (!w->done) uv_run(&w->loop, UV_RUN_ONCE);
    w->took = now() - w->took;
}

static void run_sh(Watch *w, const char *command, ProcessOptions options) {
    start_sh(w, command, options);
    finish(w);
}

static void stop_loop(uv_timer_t *timer) {
    uv_stop(timer->loop);
    uv_close((uv_handle_t *)timer, NULL);
}

/* Lets the loop turn for a while. */
static void turn(Watch *w, uint64_t ms) {
    uv_timer_init(&w->loop, &w->timer);
    uv_timer_start(&w->timer, stop_loop, ms, 0);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    uv_run(&w->loop, UV_RUN_NOWAIT);
}

static void wait_for_pid(Watch *w) {
    while (!process_pid(w->process) && !w->done) uv_run(&w->loop, UV_RUN_ONCE);
}

#define EXPECT_END(w, e, c)                   \
    do {                                      \
        assert_int_equal((w).result.end, e);  \
        assert_int_equal((w).result.code, c); \
    } while (0)

static void expect_out(const Watch *w, const char *text) {
    assert_int_equal(w->result.out.len, strlen(text));
    assert_memory_equal(w->result.out.data ? w->result.out.data : "", text, strlen(text));
}

static size_t lines_in(const char *path) {
    FILE *f = fopen(path, "r");
    size_t n = 0;
    for (int c; f && (c = fgetc(f)) != EOF;) n += c == '\n';
    if (f) fclose(f);
    return n;
}

static int number_in(const char *folder, const char *name) {
    char path[160];
    int number = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &number), 1);
    fclose(f);
    return number;
}

/* One that has ended but that nobody has reaped yet is gone. */
static bool is_gone(pid_t pid) {
    char path[64], status = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f) {
        if (fscanf(f, "%*d (%*[^)]) %c", &status) != 1) status = 'Z';
        fclose(f);
    }
    return status == 'Z' || status == 'X';
}

static bool gone_soon(pid_t pid) {
    for (int i = 0; i < SOON_MS / 10 && !is_gone(pid); i++) usleep(10000);
    return is_gone(pid);
}

/* Commands that wait until they are let go. */
#define WAITS_FOR_GO "while [ ! -e %s/go ]; do sleep 0.02; done"

static void let_go(bool on) {
    char path[128];
    snprintf(path, sizeof path, "%s/go", root);
    if (on) {
        fclose(fopen(path, "w"));
    } else {
        unlink(path);
    }
}

/* ---- plain ---- */

static void output_and_exit_code_are_kept(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    run_sh(&w, "echo out; echo err >&2; exit 3", (ProcessOptions){0});
    EXPECT_END(w, PROCESS_EXITED, 3);
    expect_out(&w, "out\n");
    assert_string_equal(w.result.err.data, "err\n");
    assert_int_equal(w.result.out_len, 4);
    assert_int_equal(w.seen[1], 4);
    assert_int_equal(w.seen[2], 4);
    assert_true(w.result.started > 1700000000000 && w.result.finished >= w.result.started);
    watch_clear(&w);
}

static void environment_folder_and_input_are_as_given(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    const char *env[] = {"WORD=a b", "PATH=/usr/bin:/bin", NULL};
    run_sh(&w, "echo \"$WORD\"; pwd; cat",
           (ProcessOptions){.env = env, .cwd = "/usr", .input = "in", .input_len = 2});
    expect_out(&w, "a b\n/usr\nin");
    watch_clear(&w);
}

static void without_input_it_reads_nothing(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    run_sh(&w, "cat; ls /proc/self/fd | wc -l", (ProcessOptions){0});
    expect_out(&w, "4\n"); /* 0, 1, 2 and the folder that ls reads: nothing of ours came along */
    watch_clear(&w);
}

static void signals_are_as_a_new_program_expects_them(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    const int ignored[] = {SIGPIPE, SIGINT, SIGHUP, SIGQUIT, SIGCHLD};
    enum { N = sizeof ignored / sizeof *ignored };
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before[N];
    for (int i = 0; i < N; i++) sigaction(ignored[i], &ignore, &before[i]);
    run_sh(&w, "grep -E 'Sig(Blk|Ign)' /proc/self/status | tr -d '0\\t\\n'", (ProcessOptions){0});
    for (int i = 0; i < N; i++) sigaction(ignored[i], &before[i], NULL);
    expect_out(&w, "SigBlk:SigIgn:");
    watch_clear(&w);
}

static void write_file(const char *name, const char *text, mode_t mode, char *path, size_t size) {
    snprintf(path, size, "%s/%s", root, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    chmod(path, mode);
}

static void a_program_is_looked_for_where_it_is_told(void **state) {
    (void)state;
    Watch w;
    char denied[128], text[128], search[256], folder[128];
    const char *argv[] = {"thing", "argument", NULL};
    const char *env[] = {"PATH=/usr/bin:/bin", NULL};
    snprintf(folder, sizeof folder, "%s/bin", root);
    mkdir(folder, 0700);
    write_file("thing", "", 0600, denied, sizeof denied);
    write_file("bin/thing", "echo \"$0 $1 $PATH\"\n", 0700, text, sizeof text); /* without #! */
    snprintf(search, sizeof search, "/no/such:%s:%s", root, folder);
    watch_init(&w);
    start_with(&w, (ProcessOptions){.argv = argv, .env = env, .search = search});
    finish(&w);
    char want[256];
    snprintf(want, sizeof want, "%s argument /usr/bin:/bin\n", text);
    expect_out(&w, want);
    watch_clear(&w);
    watch_init(&w);
    start_with(&w, (ProcessOptions){.argv = argv, .env = env, .search = root});
    finish(&w);
    EXPECT_END(w, PROCESS_FAILED, EACCES);
    watch_clear(&w);
    watch_init(&w);
    start_with(&w, (ProcessOptions){.argv = argv, .env = env});
    finish(&w);
    EXPECT_END(w, PROCESS_FAILED, ENOENT);
    watch_clear(&w);
    unlink(denied);
    unlink(text);
    rmdir(folder);
}

/* ---- its supervisor ---- */

static void the_supervisor_has_nothing_of_our_memory(void **state) {
    (void)state;
    Watch w;
    char path[64], program[128] = "";
    long pages = 0;
    watch_init(&w);
    start_sh(&w, "echo $PPID; sleep 60", (ProcessOptions){0});
    while (!w.seen[1]) uv_run(&w.loop, UV_RUN_ONCE);
    int supervisor = number_in(w.place, "lock");
    assert_int_equal(number_in(w.place, "out"), supervisor);
    snprintf(path, sizeof path, "/proc/%d/exe", supervisor);
    assert_true(readlink(path, program, sizeof program - 1) > 0);
    assert_non_null(strstr(program, "pawl-supervisor"));
    snprintf(path, sizeof path, "/proc/%d/statm", supervisor);
    FILE *f = fopen(path, "r");
    assert_int_equal(fscanf(f, "%ld", &pages), 1);
    fclose(f);
    assert_true(pages < 100);
    process_end(w.process);
    finish(&w);
    watch_clear(&w);
}

/* In a process of its own, for what cannot be undone. */
static void expect_in_a_fork(void (*test)(void)) {
    places += 10; /* it uses fewer */
    pid_t pid = fork();
    if (pid == 0) {
        places -= 10;
        test();
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

static void run_echo(void) {
    Watch w;
    watch_init(&w);
    run_sh(&w, "cat; echo; readlink /proc/self/fd/0 >&2",
           (ProcessOptions){.input = "in", .input_len = 2});
    EXPECT_END(w, PROCESS_EXITED, 0);
    expect_out(&w, "in\n");
    watch_clear(&w);
}

/* Puts another file where the supervisor's program is open. */
static void lose_the_program(void) {
    for (int fd = 3; fd < 100; fd++) {
        char path[40], link[128] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, link, sizeof link - 1) < 0 || !strstr(link, "pawl-supervisor")) continue;
        int other = open("/bin/false", O_RDONLY);
        dup2(other, fd);
        close(other);
    }
}

static void lose_the_program_and_run(void) {
    run_echo();
    lose_the_program();
    run_echo();
}

static void a_host_may_close_descriptors_that_are_not_its_own(void **state) {
    (void)state;
    expect_in_a_fork(lose_the_program_and_run);
}

static void forbid_memfd_and_run(void) {
    assert_true(forbid_call(SYS_memfd_create, EPERM));
    lose_the_program();
    run_echo();
}

static void a_system_that_forbids_programs_in_memory_is_fine(void **state) {
    (void)state;
    expect_in_a_fork(forbid_memfd_and_run);
}

/* ---- bad manners ---- */

/* What a command prints, with "hunter2-secret" hidden. */
static void run_masked(Watch *w, const char *command, ProcessOptions options) {
    Mask *mask = mask_new();
    Buf written = BUF_INIT;
    mask_add(mask, "hunter2-secret", 14);
    mask_write(mask, &written);
    options.mask = written.data;
    options.mask_len = written.len;
    run_sh(w, command, options);
    buf_clear(&written);
    mask_free(mask);
}

static void secrets_are_hidden_before_they_are_in_a_file(void **state) {
    (void)state;
    static const struct {
        const char *command, *input, *out, *err;
    } cases[] = {
        {"echo a hunter2-secret b; echo hunter2-secret >&2", NULL, "a *** b\n", "***\n"},
        {"cat; echo", "in hunter2-secret", "in ***\n", ""},
        {"printf hunter; sleep 0.05; printf 2-sec; sleep 0.05; printf retX", NULL, "***X", ""},
        {"printf hunter2-secre", NULL, "hunter2-secre", ""},
        {"printf hunter2-secret | base64", NULL, "***Q=\n", ""},
        {"true", NULL, "", ""},
        {"printf 'x hunter2'; sleep 60 & true", NULL, "x hunter2", ""}, /* it keeps the pipe open */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Watch w;
        watch_init(&w);
        const char *input = cases[i].input;
        run_masked(&w, cases[i].command,
                   (ProcessOptions){.input = input, .input_len = input ? strlen(input) : 0});
        assert_int_equal(w.result.end, PROCESS_EXITED);
        assert_string_equal(w.result.out.data ? w.result.out.data : "", cases[i].out);
        assert_string_equal(w.result.err.data ? w.result.err.data : "", cases[i].err);
        assert_int_equal(w.result.out_len, strlen(cases[i].out));
        watch_clear(&w);
    }
}

/* What is kept of the beginning and of the end is cut after that. */
static void much_that_is_hidden_is_bounded_too(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    run_masked(&w, "yes 'x hunter2-secret y' | head -n 1000000",
               (ProcessOptions){.max_output = 1001});
    assert_int_equal(w.result.out.len, 1001);
    assert_int_equal(w.result.out_len, 8000000);
    assert_int_equal(w.result.out_tail.len, PROCESS_TAIL);
    buf_add(&w.result.out, w.result.out_tail.data, w.result.out_tail.len);
    for (size_t i = 0; i < w.result.out.len; i++) {
        size_t at = i < 1001 ? i : 8000000 - PROCESS_TAIL + (i - 1001);
        if (w.result.out.data[i] != "x *** y\n"[at % 8]) fail_msg("byte %zu", i);
    }
    watch_clear(&w);
}

static void a_gigabyte_of_output_is_bounded(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    run_sh(&w, "head -c 1073741824 /dev/zero", (ProcessOptions){.max_output = 100000});
    EXPECT_END(w, PROCESS_EXITED, 0);
    assert_int_equal(w.result.out.len, 100000);
    assert_int_equal(w.result.out_len, 1073741824);
    assert_true(w.seen[1] <= 100000);
    assert_true(w.took < 3 * SOON_MS);
    watch_clear(&w);
}

/* Lines of eight characters, numbered from 1. */
static void expect_tail(size_t lines, size_t kept, size_t tail) {
    Watch w;
    char command[80];
    Buf want = BUF_INIT;
    watch_init(&w);
    snprintf(command, sizeof command, "seq -f %%07g %zu", lines);
    run_sh(&w, command, (ProcessOptions){.max_output = kept});
    for (size_t i = 1; i <= lines; i++) buf_printf(&want, "%07zu\n", i);
    assert_int_equal(w.result.out_len, want.len);
    assert_int_equal(w.result.out_tail.len, tail);
    if (tail) {
        assert_memory_equal(w.result.out_tail.data, want.data + want.len - tail, tail);
    }
    buf_clear(&want);
    watch_clear(&w);
}

static void the_end_of_what_is_too_much_is_kept_too(void **state) {
    (void)state;
    expect_tail(100, 800, 0);
    expect_tail(100, 799, 1);
    expect_tail(100, 100, 700);
    expect_tail(10000, 1000, PROCESS_TAIL);
    expect_tail(8192 + 125, 1000, PROCESS_TAIL);
    expect_tail(300000, 12345, PROCESS_TAIL);
}

static void one_that_ignores_sigterm_is_killed_after_the_grace(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    start_sh(&w, "trap '' TERM; echo ready; while :; do sleep 0.05; done",
             (ProcessOptions){.grace_ms = 200});
    while (!w.seen[1]) uv_run(&w.loop, UV_RUN_ONCE);
    w.took = now();
    process_end(w.process);
    finish(&w);
    EXPECT_END(w, PROCESS_ENDED, SIGKILL);
    assert_true(w.took >= 200 && w.took < SOON_MS);
    watch_clear(&w);
}

static void one_that_heeds_sigterm_may_tidy_up(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    start_sh(&w, "trap 'echo bye; exit 7' TERM; echo ready; sleep 60 & wait", (ProcessOptions){0});
    while (!w.seen[1]) uv_run(&w.loop, UV_RUN_ONCE);
    process_end(w.process);
    finish(&w);
    EXPECT_END(w, PROCESS_ENDED, 7);
    expect_out(&w, "ready\nbye\n");
    watch_clear(&w);
}

static void children_left_behind_are_killed_and_delay_nothing(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    run_sh(&w, "sleep 60 & echo $!", (ProcessOptions){0});
    EXPECT_END(w, PROCESS_EXITED, 0);
    assert_true(w.took < SOON_MS);
    assert_true(gone_soon((pid_t)atoi(w.result.out.data)));
    watch_clear(&w);
}

static void descendants_out_of_reach_delay_nothing(void **state) {
    (void)state;
    Watch w;
    char command[256];
    watch_init(&w);
    snprintf(command, sizeof command,
             "setsid sh -c 'echo $$; touch %s/go; exec sleep 60' & " WAITS_FOR_GO, root, root);
    run_sh(&w, command, (ProcessOptions){0});
    let_go(false);
    EXPECT_END(w, PROCESS_EXITED, 0);
    assert_true(w.took < SOON_MS);
    pid_t daemon = (pid_t)atoi(w.result.out.data);
    assert_true(daemon > 1);
    assert_int_equal(kill(daemon, SIGKILL), 0);
    watch_clear(&w);
}

/* ---- others that have its output open ---- */

static void one_that_lingers_is_over_when_its_output_is_closed(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    run_sh(&w, "(sleep 0.5; echo late; sleep 0.1; echo later >&2) & echo done; exit 3",
           (ProcessOptions){.lingers = true});
    EXPECT_END(w, PROCESS_EXITED, 3);
    expect_out(&w, "done\nlate\n");
    assert_int_equal(w.result.err.len, strlen("later\n"));
    assert_true(w.took >= 600);
    assert_true(w.result.finished - w.result.started >= 600);
    watch_clear(&w);
    watch_init(&w);
    run_sh(&w, "sleep 60 >/dev/null 2>&1 & echo $!", (ProcessOptions){.lingers = true});
    EXPECT_END(w, PROCESS_EXITED, 0);
    assert_true(gone_soon((pid_t)atoi(w.result.out.data)));
    watch_clear(&w);
}

/* Its child has exited long before. */
static void one_that_lingers_can_be_ended(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    run_sh(&w, "trap '' INT TERM; sleep 60 & echo $!",
           (ProcessOptions){.lingers = true, .end_alone = true, .timeout_ms = 500});
    EXPECT_END(w, PROCESS_TIMEOUT, 0);
    assert_true(w.took >= 500 && w.took < SOON_MS);
    assert_true(gone_soon((pid_t)atoi(w.result.out.data)));
    watch_clear(&w);
    watch_init(&w);
    start_sh(&w, "sleep 60 & echo $!", (ProcessOptions){.lingers = true});
    while (!w.seen[1]) uv_run(&w.loop, UV_RUN_ONCE);
    turn(&w, 300);
    assert_false(w.done);
    process_end(w.process);
    finish(&w);
    EXPECT_END(w, PROCESS_ENDED, 0);
    assert_true(gone_soon((pid_t)atoi(w.result.out.data)));
    watch_clear(&w);
}

static void one_that_lingers_can_be_frozen(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    start_sh(&w, "(for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done) & :",
             (ProcessOptions){.lingers = true, .timeout_ms = 2000});
    while (!w.seen[1]) uv_run(&w.loop, UV_RUN_ONCE);
    process_freeze(w.process, true);
    turn(&w, 200);
    size_t seen = w.seen[1];
    turn(&w, 2000);
    assert_false(w.done);
    assert_int_equal(w.seen[1], seen);
    process_freeze(w.process, false);
    finish(&w);
    EXPECT_END(w, PROCESS_EXITED, 0);
    expect_out(&w, "1\n2\n3\n4\n5\n6\n");
    watch_clear(&w);
}

static void one_that_closes_its_output_early_runs_on(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    run_sh(&w, "echo x; exec >&- 2>&-; sleep 0.3; exit 5", (ProcessOptions){0});
    EXPECT_END(w, PROCESS_EXITED, 5);
    expect_out(&w, "x\n");
    assert_true(w.took >= 300);
    watch_clear(&w);
}

static void input_that_is_not_read_holds_up_nothing(void **state) {
    (void)state;
    Watch w;
    char *input = calloc(1, 1 << 20);
    watch_init(&w);
    run_sh(&w, "sleep 0.1", (ProcessOptions){.input = input, .input_len = 1 << 20});
    EXPECT_END(w, PROCESS_EXITED, 0);
    watch_clear(&w);
    watch_init(&w);
    run_sh(&w, "sleep 0.1; wc -c", (ProcessOptions){.input = input, .input_len = 1 << 20});
    assert_int_equal(atoi(w.result.out.data), 1 << 20);
    watch_clear(&w);
    free(input);
}

static void an_end_by_signal_is_told_from_an_exit(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    run_sh(&w, "kill -SEGV $$", (ProcessOptions){0});
    EXPECT_END(w, PROCESS_SIGNALED, SIGSEGV);
    watch_clear(&w);
}

/* ---- not started ---- */

static void expect_failed(const char *program, const char *cwd, int error) {
    Watch w;
    watch_init(&w);
    const char *argv[] = {program, NULL};
    start_with(&w, (ProcessOptions){.argv = argv, .cwd = cwd});
    finish(&w);
    EXPECT_END(w, PROCESS_FAILED, error);
    watch_clear(&w);
}

static void what_cannot_be_started_says_why(void **state) {
    (void)state;
    expect_failed("no-such-program-anywhere", NULL, ENOENT);
    expect_failed("/etc/passwd", NULL, EACCES);
    expect_failed("/etc", NULL, EACCES);
    expect_failed("true", "/no/such/folder", ENOENT);
    char *long_name = calloc(1, 200001); /* longer than the kernel takes an argument */
    memset(long_name, 'x', 200000);
    expect_failed(long_name, NULL, E2BIG);
    free(long_name);
}

static void a_place_that_cannot_be_made_is_an_error(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    uv_loop_t loop;
    uv_loop_init(&loop);
    const char *argv[] = {"true", NULL};
    ProcessOptions options = {.place = "/no/such/place", .argv = argv, .on_exit = on_exit_};
    assert_null(process_start(&loop, &options, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.msg,
                        "Cannot make the folder /no/such/place: No such file or directory.");
    uv_loop_close(&loop);
}

/* ---- time ---- */

static void a_timeout_ends_it(void **state) {
    (void)state;
    bool begun = false;
    for (uint64_t ms = 150; !begun && ms < SOON_MS; ms *= 8) { /* a slow machine needs more */
        Watch w;
        watch_init(&w);
        run_sh(&w, "echo a; sleep 60", (ProcessOptions){.timeout_ms = ms});
        EXPECT_END(w, PROCESS_TIMEOUT, SIGTERM);
        assert_true(w.took >= (int64_t)ms && w.took < SOON_MS);
        begun = w.result.out.len > 0;
        if (begun) expect_out(&w, "a\n");
        watch_clear(&w);
    }
    assert_true(begun);
}

/* D: a shell that was stopped between fork and exec of what it starts. */
static bool is_frozen(pid_t pid) {
    char path[64], status = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &status) != 1) status = 0;
    if (f) fclose(f);
    return status == 'T' || status == 'D';
}

static void freezing_holds_it_and_its_timeout(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    start_sh(&w, "for i in 1 2 3 4 5 6; do echo $i; sleep 0.05; done",
             (ProcessOptions){.timeout_ms = 1500});
    while (!w.seen[1]) uv_run(&w.loop, UV_RUN_ONCE);
    process_freeze(w.process, true);
    while (!is_frozen(process_pid(w.process))) turn(&w, 10);
    turn(&w, 100);
    size_t seen = w.seen[1];
    turn(&w, 1600);
    assert_false(w.done);
    assert_int_equal(w.seen[1], seen);
    process_freeze(w.process, false);
    finish(&w);
    EXPECT_END(w, PROCESS_EXITED, 0);
    expect_out(&w, "1\n2\n3\n4\n5\n6\n");
    watch_clear(&w);
}

static void one_that_is_frozen_can_be_ended(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    start_sh(&w, "sleep 60", (ProcessOptions){0});
    process_freeze(w.process, true);
    process_end(w.process);
    finish(&w);
    EXPECT_END(w, PROCESS_ENDED, SIGTERM); /* and not by SIGKILL, after the grace */
    watch_clear(&w);
}

/* ---- without us ---- */

/* A process of ours that starts the command in w's place and is killed once it runs. */
static void start_and_die(Watch *w, const char *command, ProcessOptions options) {
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        start_sh(w, command, options);
        wait_for_pid(w);
        raise(SIGKILL);
    }
    waitpid(pid, NULL, 0);
}

/* Attaches; the command must not run. */
static void attach(Watch *w) {
    start_sh(w, "echo started twice", (ProcessOptions){0});
    assert_true(process_attached(w->process));
}

static void one_whose_starter_was_killed_is_found_again(void **state) {
    (void)state;
    Watch w;
    char count[128], command[512];
    watch_init(&w);
    snprintf(count, sizeof count, "%s/count", root);
    snprintf(command, sizeof command, "echo x >> %s; " WAITS_FOR_GO "; echo done; exit 4", count,
             root);
    start_and_die(&w, command, (ProcessOptions){0});
    attach(&w);
    wait_for_pid(&w);
    assert_true(process_pid(w.process) > 0);
    let_go(true);
    finish(&w);
    EXPECT_END(w, PROCESS_EXITED, 4);
    expect_out(&w, "done\n");
    w.done = false;
    buf_clear(&w.result.out);
    attach(&w); /* and again, now that it is over */
    finish(&w);
    EXPECT_END(w, PROCESS_EXITED, 4);
    expect_out(&w, "done\n");
    assert_int_equal(lines_in(count), 1);
    unlink(count);
    let_go(false);
    watch_clear(&w);
}

static void a_timeout_holds_while_nobody_watches(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    start_and_die(&w, "sleep 60", (ProcessOptions){.timeout_ms = 200});
    usleep(500000);
    attach(&w);
    finish(&w);
    EXPECT_END(w, PROCESS_TIMEOUT, SIGTERM);
    assert_true(w.result.finished - w.result.started < SOON_MS);
    watch_clear(&w);
}

static void an_attached_one_can_be_ended(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    start_and_die(&w, "sleep 60", (ProcessOptions){0});
    attach(&w);
    process_end(w.process);
    finish(&w);
    EXPECT_END(w, PROCESS_ENDED, SIGTERM);
    watch_clear(&w);
}

static void an_attached_one_can_be_frozen(void **state) {
    (void)state;
    Watch w;
    char command[256];
    watch_init(&w);
    snprintf(command, sizeof command, WAITS_FOR_GO "; echo a", root);
    start_and_die(&w, command, (ProcessOptions){.timeout_ms = 1500});
    attach(&w);
    process_freeze(w.process, true);
    turn(&w, 1700);
    assert_false(w.done);
    let_go(true);
    process_freeze(w.process, false);
    finish(&w);
    EXPECT_END(w, PROCESS_EXITED, 0);
    expect_out(&w, "a\n");
    let_go(false);
    watch_clear(&w);
}

static void much_output_while_nobody_reads_does_not_block(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    start_and_die(&w, "head -c 3000000 /dev/zero; echo over >&2", (ProcessOptions){0});
    attach(&w);
    finish(&w);
    EXPECT_END(w, PROCESS_EXITED, 0);
    assert_int_equal(w.result.out_len, 3000000);
    assert_int_equal(w.result.out.len, 1 << 20);
    watch_clear(&w);
    watch_init(&w);
    start_sh(&w, "head -c 3000000 /dev/zero; echo over >&2", (ProcessOptions){0});
    usleep(300000); /* we are slow */
    finish(&w);
    assert_int_equal(w.result.out.len, 1 << 20);
    assert_string_equal(w.result.err.data, "over\n");
    watch_clear(&w);
}

static void signals_to_our_group_do_not_reach_it(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        signal(SIGINT, SIG_DFL); /* a job in the background ignores it */
        start_sh(&w, "sleep 0.3; echo alive", (ProcessOptions){0});
        wait_for_pid(&w);
        kill(0, SIGINT);
        _exit(1);
    }
    waitpid(pid, NULL, 0);
    attach(&w);
    finish(&w);
    EXPECT_END(w, PROCESS_EXITED, 0);
    expect_out(&w, "alive\n");
    watch_clear(&w);
}

static void one_whose_supervisor_was_killed_is_lost(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    start_sh(&w, "sleep 60 & echo $!; wait", (ProcessOptions){0});
    while (!w.seen[1]) uv_run(&w.loop, UV_RUN_ONCE);
    pid_t child = process_pid(w.process);
    kill(number_in(w.place, "lock"), SIGKILL);
    finish(&w);
    EXPECT_END(w, PROCESS_LOST, 0);
    assert_true(gone_soon(child));
    assert_true(gone_soon(number_in(w.place, "out")));
    w.done = false;
    attach(&w);
    finish(&w);
    EXPECT_END(w, PROCESS_LOST, 0);
    watch_clear(&w);
}

static void an_attached_one_whose_supervisor_is_killed_is_lost(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    start_and_die(&w, "sleep 60", (ProcessOptions){0});
    attach(&w);
    kill(number_in(w.place, "lock"), SIGKILL);
    finish(&w);
    EXPECT_END(w, PROCESS_LOST, 0);
    watch_clear(&w);
}

static void a_place_where_nothing_was_started_is_used(void **state) {
    (void)state;
    Watch w;
    char lock[160];
    watch_init(&w);
    mkdir(w.place, 0700);
    snprintf(lock, sizeof lock, "%s/lock", w.place);
    fclose(fopen(lock, "w"));
    start_sh(&w, "echo ran", (ProcessOptions){0});
    assert_false(process_attached(w.process));
    finish(&w);
    expect_out(&w, "ran\n");
    watch_clear(&w);
}

static void a_damaged_status_is_no_result(void **state) {
    (void)state;
    Watch w;
    char path[160];
    watch_init(&w);
    run_sh(&w, "echo hello", (ProcessOptions){0});
    snprintf(path, sizeof path, "%s/out", w.place);
    assert_int_equal(truncate(path, 2), 0);
    w.done = false;
    buf_clear(&w.result.out);
    attach(&w);
    finish(&w);
    EXPECT_END(w, PROCESS_LOST, 0);
    watch_clear(&w);
}

static void letting_go_leaves_it_running(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    start_sh(&w, "sleep 0.2; echo later", (ProcessOptions){0});
    process_free(w.process);
    uv_run(&w.loop, UV_RUN_NOWAIT);
    attach(&w);
    finish(&w);
    EXPECT_END(w, PROCESS_EXITED, 0);
    expect_out(&w, "later\n");
    watch_clear(&w);
}

/* ---- hostile places ---- */

/* A process that leads a group of its own, for others to be tempted to kill. */
static pid_t victim_up(void) {
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        for (;;) pause();
    }
    setpgid(pid, pid);
    return pid;
}

static void victim_down(pid_t pid) {
    usleep(50000); /* a signal that is under way arrives */
    assert_false(is_gone(pid));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void put_file(const Watch *w, const char *name, const char *text) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", w->place, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void a_number_in_the_lock_is_not_believed_by_who_waits(void **state) {
    (void)state;
    Watch w;
    char command[300];
    pid_t victim = victim_up();
    watch_init(&w);
    snprintf(command, sizeof command, "echo '%d %d' > %s/lock; kill -KILL $PPID; sleep 60", victim,
             victim, w.place);
    run_sh(&w, command, (ProcessOptions){0});
    EXPECT_END(w, PROCESS_LOST, 0);
    victim_down(victim);
    watch_clear(&w);
}

/* Another process that holds the lock of a place in which it says that it is somebody else. */
static pid_t impostor_with(const Watch *w, pid_t victim, int set_lock) {
    char text[64], path[160], ready;
    int pipes[2];
    mkdir(w->place, 0700);
    snprintf(text, sizeof text, "%d %d\n", victim, victim);
    put_file(w, "lock", text);
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        snprintf(path, sizeof path, "%s/lock", w->place);
        int fd = open(path, O_RDWR);
        flock(fd, LOCK_EX);
        fcntl(fd, set_lock, &whole);
        if (write(pipes[1], "r", 1) != 1) _exit(1);
        for (;;) pause();
    }
    assert_int_equal(read(pipes[0], &ready, 1), 1);
    close(pipes[0]);
    close(pipes[1]);
    return pid;
}

static pid_t impostor_up(const Watch *w, pid_t victim) {
    return impostor_with(w, victim, F_OFD_SETLK);
}

/* It is a file of somebody else's who locks it, put there under a second name. */
static void who_holds_a_lock_with_two_names_is_left_alone(void **state) {
    (void)state;
    Watch w;
    char path[160], other[200];
    watch_init(&w);
    pid_t holder = impostor_with(&w, getpid(), F_SETLK);
    snprintf(path, sizeof path, "%s/lock", w.place);
    snprintf(other, sizeof other, "%s.other", w.place);
    assert_int_equal(link(path, other), 0);
    assert_false(process_stop_place(w.place, NULL));
    assert_int_equal(waitpid(holder, NULL, WNOHANG), 0);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    unlink(other);
    watch_clear(&w);
}

static void a_number_in_the_lock_is_not_believed_by_who_stops_it(void **state) {
    (void)state;
    Watch w;
    Error err = ERROR_INIT;
    pid_t victim = victim_up();
    watch_init(&w);
    pid_t impostor = impostor_up(&w, victim);
    assert_false(process_stop_place(w.place, &err));
    assert_int_equal(err.code, ERR_BUSY);
    assert_non_null(strstr(err.msg, "no command of ours"));
    victim_down(victim);
    kill(impostor, SIGKILL);
    waitpid(impostor, NULL, 0);
    watch_clear(&w);
}

static void a_number_in_the_lock_is_not_believed_by_who_attaches(void **state) {
    (void)state;
    Watch w;
    pid_t victim = victim_up();
    watch_init(&w);
    pid_t impostor = impostor_up(&w, victim);
    attach(&w);
    assert_int_equal(process_pid(w.process), 0);
    process_freeze(w.process, true);
    process_freeze(w.process, false);
    process_end(w.process);
    turn(&w, 200);
    assert_false(w.done);
    kill(impostor, SIGKILL);
    waitpid(impostor, NULL, 0);
    finish(&w);
    EXPECT_END(w, PROCESS_LOST, 0);
    victim_down(victim);
    watch_clear(&w);
}

static void a_lock_that_is_never_let_go_does_not_hold_up_a_timeout(void **state) {
    (void)state;
    Watch w;
    pid_t victim = victim_up();
    watch_init(&w);
    pid_t impostor = impostor_up(&w, victim);
    start_sh(&w, "echo started twice", (ProcessOptions){.timeout_ms = 100, .grace_ms = 100});
    assert_true(process_attached(w.process));
    finish(&w);
    EXPECT_END(w, PROCESS_TIMEOUT, SIGKILL);
    victim_down(victim);
    kill(impostor, SIGKILL);
    waitpid(impostor, NULL, 0);
    watch_clear(&w);
}

/* The command stops its supervisor by `stop`; then its time is over, or it is told to end. */
static void expect_held_up(const char *stop, uint64_t timeout_ms, ProcessEnd end, int code) {
    enum { LATER_MS = 2000 }; /* it was 5 s and the grace */
    Watch w;
    char command[300];
    watch_init(&w);
    snprintf(command, sizeof command, "%s; sleep 60 & echo $! > %s/pid; wait", stop, root);
    start_sh(&w, command, (ProcessOptions){.timeout_ms = timeout_ms, .grace_ms = 100});
    turn(&w, 100);
    if (!timeout_ms) process_end(w.process);
    finish(&w);
    EXPECT_END(w, end, code);
    if (w.took >= LATER_MS) fail_msg("%s: it took %lld ms", stop, (long long)w.took);
    assert_true(gone_soon(number_in(root, "pid")));
    watch_clear(&w);
    snprintf(command, sizeof command, "%s/pid", root);
    unlink(command);
}

static void a_supervisor_that_was_stopped_does_not_hold_up_a_timeout(void **state) {
    (void)state;
    static const char once[] = "kill -STOP $PPID";
    static const char again[] =
        "{ trap '' TERM; while :; do kill -STOP $PPID; sleep 0.005; done & }";
    expect_held_up(once, 100, PROCESS_TIMEOUT, SIGTERM);
    expect_held_up(once, 0, PROCESS_ENDED, SIGTERM);
    expect_held_up(again, 100, PROCESS_TIMEOUT, SIGKILL);
    expect_held_up(again, 0, PROCESS_ENDED, SIGKILL);
}

/* A place as it is once its child has ended, with these texts. */
static void expect_damaged(const char *status, const char *out) {
    Watch w;
    watch_init(&w);
    mkdir(w.place, 0700);
    put_file(&w, "lock", "1234567 1234568\n");
    put_file(&w, "status", status);
    if (out) put_file(&w, "out", out);
    attach(&w);
    finish(&w);
    if (w.result.end != PROCESS_LOST || !w.result.damaged) fail_msg("%s", status);
    assert_int_equal(w.result.out.len + w.result.err.len, 0);
    watch_clear(&w);
}

static void an_absurd_status_is_no_result(void **state) {
    (void)state;
    expect_damaged("0 0 4611686018427387904 4611686018427387904 0 0 1 1\n", "x");
    expect_damaged("0 0 0 0 4611686018427387904 4611686018427387904 1 1\n", "");
    expect_damaged("0 0 18446744073709551615 18446744073709551615 0 0 1 1\n", "x");
    expect_damaged("0 0 99999999999999999999999 1 0 0 1 1\n", "x");
    expect_damaged("0 0 0 1 0 0 1 1\n", "x"); /* more is kept than there was */
    expect_damaged("9 0 0 0 0 0 1 1\n", "");
    expect_damaged("0 99999 0 0 0 0 1 1\n", "");
    expect_damaged("-1 -1 -1 -1 -1 -1 -1 -1\n", "");
    expect_damaged("0 0 0 0 0 0 1\n", "");
    expect_damaged("0 0 0 0 0 0 1 1\nmore", "");
    expect_damaged("", "");
    expect_damaged("0 0 1 1 0 0 1 1\n", NULL);
}

/* No more is read than may be kept, though the file has it. */
static void a_long_output_is_read_up_to_its_limit(void **state) {
    (void)state;
    Watch w;
    char path[160];
    watch_init(&w);
    mkdir(w.place, 0700);
    put_file(&w, "lock", "1234567 1234568\n");
    put_file(&w, "status", "0 0 1099511627776 1099511627776 0 0 1 1\n");
    put_file(&w, "out", "beginning");
    snprintf(path, sizeof path, "%s/out", w.place);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    attach(&w);
    finish(&w);
    EXPECT_END(w, PROCESS_EXITED, 0);
    assert_int_equal(w.result.out.len, 1 << 20);
    watch_clear(&w);
}

static void files_that_are_none_hang_nobody(void **state) {
    (void)state;
    static const char *const files[] = {"out", "err", "status", "status.new"};
    static const char *const makers[] = {"mkfifo %s", "ln -s /etc/passwd %s", "mkdir %s"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        for (size_t k = 0; k < sizeof makers / sizeof *makers; k++) {
            Watch w;
            char command[500], make[100], path[160];
            watch_init(&w);
            snprintf(path, sizeof path, "%s/%s", w.place, files[i]);
            snprintf(make, sizeof make, makers[k], files[i]);
            snprintf(command, sizeof command, "cd %s; echo a; echo b >&2; rm -f %s; %s; echo c",
                     w.place, files[i], make);
            run_sh(&w, command, (ProcessOptions){0});
            bool output = i < 2;
            assert_int_equal(w.result.damaged, output);
            EXPECT_END(w, output ? PROCESS_LOST : PROCESS_EXITED, 0);
            w.done = false;
            buf_clear(&w.result.out);
            buf_clear(&w.result.err);
            attach(&w); /* and nobody who comes later */
            finish(&w);
            rmdir(path);
            watch_clear(&w);
        }
    }
}

static void a_lock_that_is_none_is_an_error(void **state) {
    (void)state;
    Watch w;
    char path[160];
    Error err = ERROR_INIT;
    const char *argv[] = {"true", NULL};
    watch_init(&w);
    mkdir(w.place, 0700);
    snprintf(path, sizeof path, "%s/lock", w.place);
    assert_int_equal(mkfifo(path, 0600), 0);
    ProcessOptions options = {.place = w.place, .argv = argv, .on_exit = on_exit_, .ctx = &w};
    assert_null(process_start(&w.loop, &options, &err));
    assert_non_null(strstr(err.msg, "is a FIFO"));
    assert_false(process_stop_place(w.place, &err));
    watch_clear(&w);
}

/* Whoever plants a place before it is used. */
static void a_planted_place_is_not_written_through(void **state) {
    (void)state;
    static const char *const names[] = {"out", "err", "status.new"};
    Watch w;
    char path[160], victim[128];
    watch_init(&w);
    write_file("victim", "precious\n", 0600, victim, sizeof victim);
    mkdir(w.place, 0700);
    put_file(&w, "lock", "");
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", w.place, names[i]);
        assert_int_equal(symlink(victim, path), 0);
    }
    run_sh(&w, "echo out; echo err >&2", (ProcessOptions){0});
    expect_out(&w, "out\n");
    assert_int_equal(lines_in(victim), 1);
    watch_clear(&w);
    unlink(victim);
}

static void a_planted_status_is_not_believed(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    mkdir(w.place, 0700);
    put_file(&w, "lock", "");
    put_file(&w, "status", "0 0 5 5 0 0 1 1\n");
    put_file(&w, "out", "fake\n");
    run_sh(&w, "echo real; exit 3", (ProcessOptions){0});
    EXPECT_END(w, PROCESS_EXITED, 3);
    expect_out(&w, "real\n");
    watch_clear(&w);
}

static void expect_unsafe(const char *place, const char *says) {
    Watch w;
    Error err = ERROR_INIT;
    const char *argv[] = {"true", NULL};
    watch_init(&w);
    ProcessOptions options = {.place = place, .argv = argv, .on_exit = on_exit_, .ctx = &w};
    assert_null(process_start(&w.loop, &options, &err));
    if (!strstr(err.msg, says)) fail_msg("%s", err.msg);
    watch_clear(&w);
}

static void a_place_that_is_not_ours_alone_is_refused(void **state) {
    (void)state;
    enum { ANOTHER = 54321 };
    char folder[100], place[120], link[120];
    snprintf(folder, sizeof folder, "%s/shared", root);
    snprintf(place, sizeof place, "%s/1-1", folder);
    snprintf(link, sizeof link, "%s/1-2", folder);
    mkdir(folder, 0700);
    mkdir(place, 0700);
    assert_int_equal(symlink(place, link), 0);
    expect_unsafe(link, "is a link");
    process_forget(link);
    assert_int_equal(access(place, F_OK), 0);
    chmod(place, 0777);
    expect_unsafe(place, "Others can write to");
    chmod(place, 0700);
    chmod(folder, 0777);
    expect_unsafe(place, "Others can write to");
    chmod(folder, 0700);
    if (chown(place, ANOTHER, ANOTHER) == 0) {
        Error err = ERROR_INIT;
        expect_unsafe(place, "belongs to another user");
        assert_false(process_stop_place(place, &err)); /* and what is in it is not killed either */
        assert_int_equal(chown(place, 0, 0), 0);
        assert_int_equal(chown(folder, ANOTHER, ANOTHER), 0);
        expect_unsafe(place, "belongs to another user");
    } else {
        print_message("only root can make folders of others: skipped\n");
    }
    unlink(link);
    rmdir(place);
    rmdir(folder);
}

/* As another user, since root may look at everything. */
static void look_into_the_supervisor(void) {
    enum { NOBODY = 65534 };
    Watch w;
    snprintf(root, sizeof root, "/tmp/test_process.XXXXXX");
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0 || !mkdtemp(root)) _exit(77);
    watch_init(&w);
    run_sh(&w,
           "for f in environ maps mem auxv fd/3; do cat /proc/$PPID/$f >/dev/null 2>&1 && echo $f; "
           "done; head -c 1 /proc/$PPID/mem >/dev/null 2>&1 && echo mem; ls /proc/$PPID/fd "
           ">/dev/null 2>&1 && echo fds; cat /proc/$$/environ >/dev/null && echo own",
           (ProcessOptions){0});
    expect_out(&w, "own\n");
    watch_clear(&w);
    rmdir(root);
}

static void a_command_cannot_look_into_its_supervisor(void **state) {
    (void)state;
    if (geteuid() != 0) {
        print_message("only root can become another user: skipped\n");
        skip();
    }
    expect_in_a_fork(look_into_the_supervisor);
}

/* ---- ending what others left ---- */

static void stop_place(Watch *w) {
    Error err = ERROR_INIT;
    w->took = now();
    if (!process_stop_place(w->place, &err)) fail_msg("%s", err.msg);
    w->took = now() - w->took;
}

static void expect_ended(Watch *w, int code) {
    attach(w);
    finish(w);
    EXPECT_END(*w, PROCESS_ENDED, code);
    watch_clear(w);
}

static void a_place_left_behind_can_be_stopped(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    start_and_die(&w, "sleep 60", (ProcessOptions){0});
    stop_place(&w);
    assert_true(w.took < SOON_MS);
    expect_ended(&w, SIGTERM);
}

/* Once it has printed something, what it ignores is ignored. */
static void wait_for_output(const Watch *w) {
    char path[160];
    struct stat st = {0};
    snprintf(path, sizeof path, "%s/out", w->place);
    while (stat(path, &st) != 0 || st.st_size == 0) usleep(10000);
}

static void what_ignores_sigterm_in_a_place_is_killed(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    start_and_die(&w, "trap '' TERM; echo; while :; do sleep 0.05; done",
                  (ProcessOptions){.grace_ms = 200});
    wait_for_output(&w);
    stop_place(&w);
    assert_true(w.took < SOON_MS);
    expect_ended(&w, SIGKILL);
}

static void a_place_where_nothing_runs_is_stopped_already(void **state) {
    (void)state;
    Watch w;
    watch_init(&w);
    stop_place(&w); /* it is not there */
    run_sh(&w, "echo kept", (ProcessOptions){0});
    stop_place(&w);
    assert_true(w.took < SOON_MS);
    w.done = false;
    buf_clear(&w.result.out);
    attach(&w);
    finish(&w);
    EXPECT_END(w, PROCESS_EXITED, 0);
    expect_out(&w, "kept\n");
    watch_clear(&w);
}

static void a_place_that_does_not_stop_is_an_error(void **state) {
    (void)state;
    Watch w;
    Error err = ERROR_INIT;
    watch_init(&w);
    start_and_die(&w, "trap '' TERM; echo; while :; do sleep 0.05; done",
                  (ProcessOptions){.grace_ms = 60000});
    wait_for_output(&w);
    assert_false(process_stop_place(w.place, &err));
    assert_int_equal(err.code, ERR_BUSY);
    assert_non_null(strstr(err.msg, w.place));
    attach(&w);
    wait_for_pid(&w);
    kill(-process_pid(w.process), SIGKILL);
    finish(&w);
    EXPECT_END(w, PROCESS_ENDED, SIGKILL);
    watch_clear(&w);
}

/* ---- limits ---- */

static void raise_and_run(void) {
    Watch w;
    struct rlimit few = {100, 200}, raised;
    watch_init(&w);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    process_raise_descriptors();
    getrlimit(RLIMIT_NOFILE, &raised);
    assert_int_equal(raised.rlim_cur, 200);
    run_sh(&w, "ulimit -S -n; ulimit -H -n", (ProcessOptions){0});
    expect_out(&w, "100\n200\n");
    watch_clear(&w);
}

static void we_may_have_more_descriptors_than_children_get(void **state) {
    (void)state;
    expect_in_a_fork(raise_and_run);
}

/* ---- many ---- */

static int open_descriptors(void) {
    int n = 0;
    for (int fd = 0; fd < 1024; fd++) n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void a_hundred_at_once(void **state) {
    (void)state;
    enum { N = 100 };
    Watch *all = calloc(N, sizeof *all);
    uv_loop_t loop;
    uv_loop_init(&loop);
    for (int i = 0; i < N; i++) {
        char command[64];
        const char *argv[] = {"sh", "-c", command, NULL};
        Error err = ERROR_INIT;
        snprintf(command, sizeof command, "sleep 0.1; echo %d; exit %d", i, i);
        snprintf(all[i].place, sizeof all[i].place, "%s/%d", root, ++places);
        ProcessOptions options = {.place = all[i].place,
                                  .argv = argv,
                                  .env = (const char *const *)environ,
                                  .max_output = 1000,
                                  .on_exit = on_exit_,
                                  .ctx = &all[i]};
        all[i].process = process_start(&loop, &options, &err);
        assert_non_null(all[i].process);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    for (int i = 0; i < N; i++) {
        EXPECT_END(all[i], PROCESS_EXITED, i);
        assert_int_equal(atoi(all[i].result.out.data), i);
        buf_clear(&all[i].result.out);
        process_forget(all[i].place);
    }
    assert_int_equal(uv_loop_close(&loop), 0);
    free(all);
}

static void nothing_is_left_of_two_hundred_in_a_row(void **state) {
    (void)state;
    int before = open_descriptors();
    for (int i = 0; i < 200; i++) {
        const char *argv[] = {i % 10 ? "true" : "no-such-program", NULL};
        Watch w;
        watch_init(&w);
        start_with(&w, (ProcessOptions){.argv = argv});
        finish(&w);
        watch_clear(&w);
    }
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

#ifdef PAWL_FAULTS
static void a_fork_that_fails_is_told_from_the_loop(void **state) {
    (void)state;
    pid_t pid = fork(); /* faults are read once in a process, so in one that starts with them */
    if (pid == 0) {
        setenv("PAWL_FAULT", "spawn:enospc@1", 1);
        execl("/proc/self/exe", "test_process", "fault", (char *)NULL);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

static int fault_main(void) {
    Watch w;
    watch_init(&w);
    run_sh(&w, "true", (ProcessOptions){0});
    bool right = w.result.end == PROCESS_FAILED && w.result.code == ENOSPC;
    watch_clear(&w);
    return right ? 0 : 1;
}
#endif

int main(int argc, char **argv) {
    (void)argv;
    snprintf(root, sizeof root, "/tmp/test_process.XXXXXX");
    if (!mkdtemp(root)) return 1;
#ifdef PAWL_FAULTS
    if (argc > 1) {
        int code = fault_main();
        rmdir(root);
        return code;
    }
#endif
    (void)argc;
    alarm(500);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_exit_code_are_kept),
        cmocka_unit_test(environment_folder_and_input_are_as_given),
        cmocka_unit_test(without_input_it_reads_nothing),
        cmocka_unit_test(signals_are_as_a_new_program_expects_them),
        cmocka_unit_test(a_program_is_looked_for_where_it_is_told),
        cmocka_unit_test(the_supervisor_has_nothing_of_our_memory),
        cmocka_unit_test(a_host_may_close_descriptors_that_are_not_its_own),
        cmocka_unit_test(a_system_that_forbids_programs_in_memory_is_fine),
        cmocka_unit_test(secrets_are_hidden_before_they_are_in_a_file),
        cmocka_unit_test(much_that_is_hidden_is_bounded_too),
        cmocka_unit_test(a_gigabyte_of_output_is_bounded),
        cmocka_unit_test(the_end_of_what_is_too_much_is_kept_too),
        cmocka_unit_test(one_that_ignores_sigterm_is_killed_after_the_grace),
        cmocka_unit_test(one_that_heeds_sigterm_may_tidy_up),
        cmocka_unit_test(children_left_behind_are_killed_and_delay_nothing),
        cmocka_unit_test(descendants_out_of_reach_delay_nothing),
        cmocka_unit_test(one_that_lingers_is_over_when_its_output_is_closed),
        cmocka_unit_test(one_that_lingers_can_be_ended),
        cmocka_unit_test(one_that_lingers_can_be_frozen),
        cmocka_unit_test(one_that_closes_its_output_early_runs_on),
        cmocka_unit_test(input_that_is_not_read_holds_up_nothing),
        cmocka_unit_test(an_end_by_signal_is_told_from_an_exit),
        cmocka_unit_test(what_cannot_be_started_says_why),
        cmocka_unit_test(a_place_that_cannot_be_made_is_an_error),
        cmocka_unit_test(a_timeout_ends_it),
        cmocka_unit_test(freezing_holds_it_and_its_timeout),
        cmocka_unit_test(one_that_is_frozen_can_be_ended),
        cmocka_unit_test(one_whose_starter_was_killed_is_found_again),
        cmocka_unit_test(a_timeout_holds_while_nobody_watches),
        cmocka_unit_test(an_attached_one_can_be_ended),
        cmocka_unit_test(an_attached_one_can_be_frozen),
        cmocka_unit_test(much_output_while_nobody_reads_does_not_block),
        cmocka_unit_test(signals_to_our_group_do_not_reach_it),
        cmocka_unit_test(one_whose_supervisor_was_killed_is_lost),
        cmocka_unit_test(an_attached_one_whose_supervisor_is_killed_is_lost),
        cmocka_unit_test(a_place_where_nothing_was_started_is_used),
        cmocka_unit_test(a_damaged_status_is_no_result),
        cmocka_unit_test(letting_go_leaves_it_running),
        cmocka_unit_test(a_number_in_the_lock_is_not_believed_by_who_waits),
        cmocka_unit_test(who_holds_a_lock_with_two_names_is_left_alone),
        cmocka_unit_test(a_number_in_the_lock_is_not_believed_by_who_stops_it),
        cmocka_unit_test(a_number_in_the_lock_is_not_believed_by_who_attaches),
        cmocka_unit_test(a_lock_that_is_never_let_go_does_not_hold_up_a_timeout),
        cmocka_unit_test(a_supervisor_that_was_stopped_does_not_hold_up_a_timeout),
        cmocka_unit_test(an_absurd_status_is_no_result),
        cmocka_unit_test(a_long_output_is_read_up_to_its_limit),
        cmocka_unit_test(files_that_are_none_hang_nobody),
        cmocka_unit_test(a_lock_that_is_none_is_an_error),
        cmocka_unit_test(a_planted_place_is_not_written_through),
        cmocka_unit_test(a_planted_status_is_not_believed),
        cmocka_unit_test(a_place_that_is_not_ours_alone_is_refused),
        cmocka_unit_test(a_command_cannot_look_into_its_supervisor),
        cmocka_unit_test(a_place_left_behind_can_be_stopped),
        cmocka_unit_test(what_ignores_sigterm_in_a_place_is_killed),
        cmocka_unit_test(a_place_where_nothing_runs_is_stopped_already),
        cmocka_unit_test(a_place_that_does_not_stop_is_an_error),
        cmocka_unit_test(we_may_have_more_descriptors_than_children_get),
        cmocka_unit_test(a_hundred_at_once),
        cmocka_unit_test(nothing_is_left_of_two_hundred_in_a_row),
#ifdef PAWL_FAULTS
        cmocka_unit_test(a_fork_that_fails_is_told_from_the_loop),
#endif
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(root);
    return failed;
}
