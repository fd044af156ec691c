/* The prompt at a terminal of any width (a pseudo terminal here), at a pipe, a file and in scripts. */
#define _GNU_SOURCE

#include "mem.h"
#include "prompt.h"

#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#if defined __SANITIZE_ADDRESS__
/* The library that libedit asks about terminals keeps some texts for ever. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libtinfo\n";
}
const char *__lsan_default_options(void);
const char *__lsan_default_options(void) {
    return "print_suppressions=0";
}
#endif

/* ---- a terminal, a person at it, and the prompt ---- */

typedef struct Desk Desk;

/* When the screen shows something, keys are hit and a thing is done. */
typedef struct Act {
    const char *when, *keys;
    void (*act)(Desk *d);
} Act;

struct Desk {
    char folder[64]; /* what the prompt remembers is in there */
    int saved[2];    /* standard input and output of the test itself */
    int keys;        /* what is written here is typed */
    uv_loop_t loop;
    uv_timer_t timer;
    Prompt *prompt;
    Json items; /* what Tab offers */
    const Act *act;

    pthread_t watcher;
    pthread_mutex_t lock;
    Buf screen; /* all that was ever written to it */
};

static void *watch_screen(void *ctx) {
    Desk *d = ctx;
    char piece[512];
    for (ssize_t n; (n = read(d->keys, piece, sizeof piece)) > 0;) {
        pthread_mutex_lock(&d->lock);
        for (ssize_t i = 0; i < n; i++) {
            if (piece[i] != '\r') {
                buf_addc(&d->screen, piece[i]);
            }
        }
        pthread_mutex_unlock(&d->lock);
    }
    return NULL;
}

static bool screen_has(Desk *d, const char *text) {
    pthread_mutex_lock(&d->lock);
    bool has = d->screen.data && strstr(d->screen.data, text);
    pthread_mutex_unlock(&d->lock);
    return has;
}

static void hit(Desk *d, const char *keys) {
    size_t len = strlen(keys);
    assert_int_equal(write(d->keys, keys, len), len);
}

static bool on_turn(void *ctx) {
    Desk *d = ctx;
    const Act *act = d->act;
    if (act && act->when && screen_has(d, act->when)) {
        d->act++;
        if (act->act) {
            act->act(d);
        }
        hit(d, act->keys ? act->keys : "");
    }
    return false;
}

static Json on_tab(void *ctx, const char *line, size_t cursor, size_t *from) {
    Desk *d = ctx;
    (void)line;
    (void)cursor;
    *from = 0;
    return json_is_none(d->items) ? json_array() : json_ref(d->items);
}

static void on_timer(uv_timer_t *timer) {
    (void)timer; /* the loop has turned: that is all */
}

static Desk *desk_new(void) {
    Desk *d = mem_zalloc(sizeof *d);
    d->items = json_none();
    pthread_mutex_init(&d->lock, NULL);
    snprintf(d->folder, sizeof d->folder, "/tmp/pawl-prompt-XXXXXX");
    assert_non_null(mkdtemp(d->folder));
    setenv("XDG_STATE_HOME", d->folder, 1);
    setenv("TERM", "xterm", 1);
    uv_loop_init(&d->loop);
    fflush(stdout);
    d->saved[0] = dup(STDIN_FILENO);
    d->saved[1] = dup(STDOUT_FILENO);
    d->keys = -1;
    return d;
}

static void sit_at_terminal(Desk *d, unsigned short columns) {
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    struct termios raw;
    int slave;
    assert_int_equal(openpty(&d->keys, &slave, NULL, NULL, &size), 0);
    tcgetattr(slave, &raw);
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    dup2(slave, STDIN_FILENO);
    dup2(slave, STDOUT_FILENO);
    close(slave);
    pthread_create(&d->watcher, NULL, watch_screen, d);
    uv_timer_init(&d->loop, &d->timer);
    uv_timer_start(&d->timer, on_timer, 1, 1);
}

static void open_prompt(Desk *d, const char *const *scripts, bool bare) {
    Error err = ERROR_INIT;
    PromptHost host = {.loop = &d->loop,
                       .turned = on_turn,
                       .complete = on_tab,
                       .ctx = d,
                       .scripts = scripts,
                       .bare = bare};
    d->prompt = prompt_new(&host, &err);
    assert_non_null(d->prompt);
}

/* At a terminal of so many columns. */
static Desk *desk_at(unsigned short columns) {
    Desk *d = desk_new();
    sit_at_terminal(d, columns);
    open_prompt(d, NULL, false);
    return d;
}

static void restore(Desk *d) {
    fflush(stdout);
    dup2(d->saved[0], STDIN_FILENO);
    dup2(d->saved[1], STDOUT_FILENO);
    close(d->saved[0]);
    close(d->saved[1]);
}

/* Leaves the prompt and waits until the screen has all that was written to it. */
static void leave(Desk *d) {
    bool terminal = d->keys >= 0;
    prompt_free(d->prompt);
    d->prompt = NULL;
    if (terminal) {
        uv_close((uv_handle_t *)&d->timer, NULL);
    }
    uv_run(&d->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&d->loop), 0);
    restore(d); /* the last who had the terminal: its end is the end of the file for the watcher */
    if (terminal) {
        pthread_join(d->watcher, NULL);
        close(d->keys);
    }
}

static void remove_folder(const char *folder) {
    char path[128];
    snprintf(path, sizeof path, "%s/pawl/debug_history", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/pawl", folder);
    rmdir(path);
    rmdir(folder);
}

static void desk_free(Desk *d) {
    remove_folder(d->folder);
    json_unref(d->items);
    buf_clear(&d->screen);
    pthread_mutex_destroy(&d->lock);
    mem_free(d);
}

/* At the next prompt: only from then on does the terminal leave keys to it. */
static void type(Desk *d, const char *keys) {
    static Act acts[2];
    acts[0] = (Act){.when = "(pawl) ", .keys = keys};
    d->act = acts;
}

static void expect_line(Desk *d, const char *want) {
    size_t len;
    char *line = prompt_line(d->prompt, &len);
    if (!want) {
        assert_null(line);
        return;
    }
    assert_non_null(line);
    assert_string_equal(line, want);
    assert_int_equal(len, strlen(want));
    mem_free(line);
}

/* ---- Tab ---- */

static Json offered(const char *const *texts) {
    Json out = json_array();
    for (size_t i = 0; texts[i]; i++) {
        out = json_array_push(out, json_string_c(texts[i]));
    }
    return out;
}

static const char *list_on(Desk *d, const char *const *texts) {
    d->items = offered(texts);
    type(d, "\t\r");
    expect_line(d, "");
    leave(d);
    return d->screen.data;
}

static void what_tab_lists_fits_a_wide_terminal_in_columns(void **state) {
    Desk *d = desk_at(80);
    const char *screen =
        list_on(d, (const char *const[]){"alpha", "beta", "a much longer one", NULL});
    (void)state;
    assert_non_null(strstr(screen, "alpha              beta               a much longer one\n"));
    desk_free(d);
}

static void what_tab_lists_is_one_column_on_a_narrow_terminal(void **state) {
    Desk *d = desk_at(16);
    const char *screen =
        list_on(d, (const char *const[]){"alpha", "beta", "a much longer one", NULL});
    (void)state;
    assert_non_null(strstr(screen, "alpha\nbeta\na much longer one\n"));
    desk_free(d);
}

/* 部署 takes four columns, as wide as `beta`. */
static void what_tab_lists_is_straight_with_wide_characters(void **state) {
    Desk *d = desk_at(12);
    const char *screen = list_on(d, (const char *const[]){"部署", "beta", "x", "語", NULL});
    (void)state;
    assert_non_null(strstr(screen, "部署  beta\nx     語\n"));
    desk_free(d);
}

static void what_tab_lists_does_not_drive_the_terminal(void **state) {
    Desk *d = desk_at(80);
    const char *screen = list_on(d, (const char *const[]){"a\x1b[2Jb",
                                                          "c\xC2\x9B"
                                                          "5md",
                                                          NULL});
    (void)state;
    assert_non_null(strstr(screen, "a?[2Jb  c?5md\n"));
    assert_null(strstr(screen, "\x1b[2Jb"));
    desk_free(d);
}

static void tab_puts_in_what_all_share_in_whole_characters(void **state) {
    Desk *d = desk_at(80);
    (void)state;
    d->items = offered((const char *const[]){"désert", "désêtre", NULL});
    type(d, "d\tx\r"); /* é and ê begin with the same byte */
    expect_line(d, "désx");
    leave(d);
    desk_free(d);
}

/* ---- what is said while a line is typed ---- */

static void say_hello(Desk *d) {
    prompt_write(d->prompt, "hello\n", 6);
}

/* What came after `hello`, with the sequence before it checked. */
static void check_said(unsigned short columns, const char *typed, const char *shown,
                       const char *hiding) {
    Desk *d = desk_at(columns);
    const Act acts[] = {
        {.when = "(pawl) ", .keys = typed}, {.when = shown, .act = say_hello, .keys = "\r"}, {0}};
    d->act = acts;
    expect_line(d, typed);
    leave(d);
    const char *said = strstr(d->screen.data, "hello\n");
    assert_non_null(said);
    size_t len = strlen(hiding);
    assert_true((size_t)(said - d->screen.data) > len);
    assert_memory_equal(said - len, hiding, len);
    assert_non_null(strstr(said, "(pawl) "));
    desk_free(d);
}

static void what_is_said_stands_above_the_line_that_is_typed(void **state) {
    (void)state;
    check_said(80, "print .x", "print .x", "\x1b[J");
}

static void a_line_that_wraps_is_taken_off_the_screen_whole(void **state) {
    (void)state;
    check_said(16, "abcdefghijklmnopqrstuvwxyz", "z", "\x1b[2A\x1b[J");
    check_said(16, "語語語語語語語語語語語語z", "z", "\x1b[2A\x1b[J");
}

/* ---- keys ---- */

static void a_character_may_come_in_pieces(void **state) {
    Desk *d = desk_at(80);
    const Act acts[] = {
        {.when = "(pawl) ", .keys = "a\xC3"}, {.when = "(pawl) a", .keys = "\xA9z\r"}, {0}};
    (void)state;
    d->act = acts;
    expect_line(d, "aéz");
    leave(d);
    desk_free(d);
}

static void interrupt(Desk *d) {
    (void)d;
    kill(getpid(), SIGINT);
}

static void ctrl_c_begins_a_new_line_and_stops_nothing(void **state) {
    Desk *d = desk_at(80);
    const Act acts[] = {{.when = "(pawl) ", .keys = "abort"},
                        {.when = "abort", .act = interrupt},
                        {.when = "^C", .keys = "frames\r"},
                        {0}};
    (void)state;
    d->act = acts;
    expect_line(d, "frames");
    assert_int_equal(prompt_interrupts(d->prompt), 0);
    leave(d);
    desk_free(d);
}

static void lines_are_remembered_for_their_user_alone(void **state) {
    Desk *d = desk_at(80), *next;
    struct stat st;
    char path[128];
    (void)state;
    type(d, "print .größe\r");
    expect_line(d, "print .größe");
    leave(d);
    snprintf(path, sizeof path, "%s/pawl/debug_history", d->folder);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    next = desk_new();
    setenv("XDG_STATE_HOME", d->folder, 1);
    sit_at_terminal(next, 80);
    open_prompt(next, NULL, false);
    type(next, "\x1b[A\r");
    expect_line(next, "print .größe");
    leave(next);
    desk_free(next);
    desk_free(d);
}

static void a_question_is_asked_until_it_is_answered(void **state) {
    Desk *d = desk_at(80);
    (void)state;
    d->act = (const Act[]){{.when = "Delete all breakpoints? (y or n) ", .keys = "maybe\rno\r"},
                           {.when = "Cancel the run? (y or n) ", .keys = "y\r"},
                           {0}};
    assert_false(prompt_confirm(d->prompt, "Delete all breakpoints?"));
    assert_true(prompt_confirm(d->prompt, "Cancel the run?"));
    leave(d);
    desk_free(d);
}

static void ctrl_c_says_no_to_a_question(void **state) {
    Desk *d = desk_at(80);
    (void)state;
    d->act = (const Act[]){{.when = "Cancel the run? (y or n) ", .keys = "ye"},
                           {.when = "ye", .act = interrupt},
                           {.when = "(pawl) ", .keys = "frames\r"},
                           {0}};
    assert_false(prompt_confirm(d->prompt, "Cancel the run?"));
    expect_line(d, "frames");
    assert_int_equal(prompt_interrupts(d->prompt), 0);
    leave(d);
    desk_free(d);
}

/* ---- without a terminal ---- */

/* A file that has been removed, to be read from its beginning. */
static int file_with(const char *text, size_t len) {
    char path[] = "/tmp/pawl-prompt-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(write(fd, text, len), len);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static void read_from(int fd) {
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(fd, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
    close(fd);
}

static Desk *desk_reading(const char *text, size_t len) {
    Desk *d = desk_new();
    read_from(file_with(text, len));
    open_prompt(d, NULL, false);
    return d;
}

static void lines_of_a_file_are_read_as_they_are(void **state) {
    static const char text[] = "break a\n\n  next \nlast";
    Desk *d = desk_reading(text, sizeof text - 1);
    (void)state;
    assert_false(prompt_edits(d->prompt));
    expect_line(d, "break a");
    expect_line(d, "");
    expect_line(d, "  next ");
    expect_line(d, "last");
    expect_line(d, NULL);
    leave(d);
    desk_free(d);
}

static void lines_of_a_pipe_are_read_as_they_come(void **state) {
    Desk *d = desk_new();
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    read_from(ends[0]);
    open_prompt(d, NULL, false);
    assert_int_equal(write(ends[1], "one\ntw", 6), 6);
    expect_line(d, "one");
    assert_int_equal(write(ends[1], "o\n", 2), 2);
    expect_line(d, "two");
    close(ends[1]);
    expect_line(d, NULL);
    leave(d);
    desk_free(d);
}

static void a_line_that_is_too_long_is_no_command_and_costs_no_other(void **state) {
    size_t len = PROMPT_LINE_MAX + 5000;
    char *text = mem_alloc(len + 6);
    (void)state;
    memset(text, 'x', len);
    memcpy(text + len, "\nnext\n", 6);
    Desk *d = desk_reading(text, len + 6);
    expect_line(d, "(a line that is too long)");
    expect_line(d, "next");
    expect_line(d, NULL);
    leave(d);
    desk_free(d);
    mem_free(text);
}

static void nobody_is_asked_where_nobody_is(void **state) {
    Desk *d = desk_reading("n\n", 2);
    (void)state;
    assert_true(prompt_confirm(d->prompt, "Sure?"));
    expect_line(d, "n");
    leave(d);
    desk_free(d);
}

/* ---- scripts ---- */

static void write_script(const Desk *d, char *path, size_t size, const char *text) {
    snprintf(path, size, "%s/script", d->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void scripts_and_standard_input_are_read_in_their_order(void **state) {
    Desk *d = desk_new();
    char path[128];
    (void)state;
    write_script(d, path, sizeof path, "of the script\nits last");
    read_from(file_with("typed\n", 6));
    open_prompt(d, (const char *const[]){path, "-", path, NULL}, false);
    expect_line(d, "of the script");
    expect_line(d, "its last");
    expect_line(d, "typed");
    expect_line(d, "of the script");
    expect_line(d, "its last");
    expect_line(d, NULL);
    expect_line(d, NULL);
    leave(d);
    unlink(path);
    desk_free(d);
}

static void standard_input_is_not_read_where_scripts_do_not_name_it(void **state) {
    Desk *d = desk_new();
    char path[128];
    (void)state;
    write_script(d, path, sizeof path, "of the script\n");
    read_from(file_with("typed\n", 6));
    open_prompt(d, (const char *const[]){path, NULL}, false);
    expect_line(d, "of the script");
    expect_line(d, NULL);
    leave(d);
    unlink(path);
    desk_free(d);
}

static void commands_that_nobody_took_are_counted(void **state) {
    Desk *d = desk_new();
    char path[128];
    (void)state;
    write_script(d, path, sizeof path, "one\n\n  # a comment\n two\nthree");
    read_from(file_with("typed\n", 6));
    open_prompt(d, (const char *const[]){path, "-", path, NULL}, false);
    assert_int_equal(prompt_left(d->prompt), 6);
    expect_line(d, "one");
    assert_int_equal(prompt_left(d->prompt), 5);
    for (int i = 0; i < 4; i++) mem_free(prompt_line(d->prompt, &(size_t){0}));
    assert_int_equal(prompt_left(d->prompt), 3);
    leave(d);
    unlink(path);
    desk_free(d);
}

/* As a shell's <(...) gives it: what was read of it once is gone. */
static void a_script_may_be_a_pipe(void **state) {
    Desk *d = desk_new();
    char path[64];
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "of the pipe\n", 12), 12);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    open_prompt(d, (const char *const[]){path, NULL}, false);
    expect_line(d, "of the pipe");
    expect_line(d, NULL);
    leave(d);
    close(ends[0]);
    desk_free(d);
}

static void a_script_that_cannot_be_read_is_known_before_anything_is_done(void **state) {
    Desk *d = desk_new();
    Error err = ERROR_INIT;
    char path[128];
    (void)state;
    write_script(d, path, sizeof path, "abort\n");
    PromptHost host = {.loop = &d->loop,
                       .turned = on_turn,
                       .complete = on_tab,
                       .ctx = d,
                       .scripts = (const char *const[]){path, "/nowhere/at all", NULL}};
    assert_null(prompt_new(&host, &err));
    assert_string_equal(err.msg,
                        "Cannot open the file /nowhere/at all: No such file or directory.");
    leave(d);
    unlink(path);
    desk_free(d);
}

/* Nobody writes to it, and nothing is read from the device: neither is waited for. */
static void a_script_that_is_no_file_is_refused(void **state) {
    Desk *d = desk_new();
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s/pipe", d->folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    const char *const paths[] = {path, "/dev/zero", d->folder};
    for (size_t i = 0; i < 3; i++) {
        Error err = ERROR_INIT;
        PromptHost host = {.loop = &d->loop,
                           .turned = on_turn,
                           .complete = on_tab,
                           .ctx = d,
                           .scripts = (const char *const[]){paths[i], NULL}};
        assert_null(prompt_new(&host, &err));
        assert_non_null(strstr(err.msg, "a regular file is expected"));
    }
    leave(d);
    unlink(path);
    desk_free(d);
}

static void a_line_of_a_script_that_is_too_long_is_no_command(void **state) {
    size_t len = PROMPT_LINE_MAX + 1;
    char *text = mem_alloc(len + 7), path[128];
    Desk *d = desk_new();
    (void)state;
    memset(text, 'x', len);
    memcpy(text + len, "\nnext\n", 7);
    write_script(d, path, sizeof path, text);
    open_prompt(d, (const char *const[]){path, NULL}, false);
    expect_line(d, "(a line that is too long)");
    expect_line(d, "next");
    expect_line(d, NULL);
    leave(d);
    unlink(path);
    desk_free(d);
    mem_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_tab_lists_fits_a_wide_terminal_in_columns),
        cmocka_unit_test(what_tab_lists_is_one_column_on_a_narrow_terminal),
        cmocka_unit_test(what_tab_lists_is_straight_with_wide_characters),
        cmocka_unit_test(what_tab_lists_does_not_drive_the_terminal),
        cmocka_unit_test(tab_puts_in_what_all_share_in_whole_characters),
        cmocka_unit_test(what_is_said_stands_above_the_line_that_is_typed),
        cmocka_unit_test(a_line_that_wraps_is_taken_off_the_screen_whole),
        cmocka_unit_test(a_character_may_come_in_pieces),
        cmocka_unit_test(ctrl_c_begins_a_new_line_and_stops_nothing),
        cmocka_unit_test(lines_are_remembered_for_their_user_alone),
        cmocka_unit_test(a_question_is_asked_until_it_is_answered),
        cmocka_unit_test(ctrl_c_says_no_to_a_question),
        cmocka_unit_test(lines_of_a_file_are_read_as_they_are),
        cmocka_unit_test(lines_of_a_pipe_are_read_as_they_come),
        cmocka_unit_test(a_line_that_is_too_long_is_no_command_and_costs_no_other),
        cmocka_unit_test(nobody_is_asked_where_nobody_is),
        cmocka_unit_test(scripts_and_standard_input_are_read_in_their_order),
        cmocka_unit_test(standard_input_is_not_read_where_scripts_do_not_name_it),
        cmocka_unit_test(commands_that_nobody_took_are_counted),
        cmocka_unit_test(a_script_may_be_a_pipe),
        cmocka_unit_test(a_script_that_cannot_be_read_is_known_before_anything_is_done),
        cmocka_unit_test(a_script_that_is_no_file_is_refused),
        cmocka_unit_test(a_line_of_a_script_that_is_too_long_is_no_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
