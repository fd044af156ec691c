/* The socket beside the store: a host that listens, and peers that say whatever they like, on one loop. */
#define _GNU_SOURCE
#include "json_build.h"
#include "json_test.h"
#include "lines.h"
#include "mem.h"
#include "operation.h"
#include "socket.h"
#include "subscription.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the host ---- */

static struct {
    char folder[64], url[256];
    uv_loop_t loop;
    uv_timer_t alive; /* a listener does not keep the loop going */
    Host *host;
    SocketServer *server;
    Error err;
} at;

static void turn(int ms) {
    for (int i = 0; i < ms; i++) {
        uv_run(&at.loop, UV_RUN_NOWAIT);
        usleep(1000);
    }
}

static void open_host(const char *url) {
    snprintf(at.url, sizeof at.url, "%s", url);
    at.host = host_new(&(HostOptions){.loop = &at.loop, .store = at.url, .folder = at.folder});
    if (!host_store(at.host, HOST_CREATES, &at.err)) fail_msg("%s", at.err.msg);
}

static void serve(void) {
    open_host("file:store");
    at.server = socket_listen(at.host, &at.err);
    if (!at.server) fail_msg("%s", at.err.msg);
}

static void pass(uv_timer_t *timer) {
    (void)timer;
}

static int up(void **state) {
    (void)state;
    memset(&at, 0, sizeof at);
    strcpy(at.folder, "/tmp/pawl-socket-XXXXXX");
    if (!mkdtemp(at.folder) || chdir(at.folder) || uv_loop_init(&at.loop)) return -1;
    uv_timer_init(&at.loop, &at.alive);
    return uv_timer_start(&at.alive, pass, 1 << 30, 0);
}

static int down(void **state) {
    char command[128];
    (void)state;
    uv_close((uv_handle_t *)&at.alive, NULL);
    socket_close(at.server);
    host_free(at.host);
    uv_run(&at.loop, UV_RUN_DEFAULT);
    snprintf(command, sizeof command, "cd / && rm -rf %s", at.folder);
    return uv_loop_close(&at.loop) || chdir("/") || system(command);
}

static char *socket_path(void) {
    Buf path = BUF_INIT;
    buf_printf(&path, "%s/host-%lld.sock", host_store_folder(at.host, NULL), (long long)getpid());
    return buf_detach(&path);
}

/* A run that stands before its first node until somebody has attached to it, and while somebody is. */
static void on_begun(void *ctx, Json answer, const Error *err) {
    if (err) fail_msg("%s", err->msg);
    *(bool *)ctx = true;
    json_unref(answer);
}

static void start_run(const char *thread) {
    bool begun = false;
    Json args = parse("{\"definition\": {\"main\": \"w.yaml\", \"files\": {\"w.yaml\": "
                      "\"nodes: [{name: a, jq: '{n: 1}'}, {name: b, jq: '{n: 2}'}]\"}},"
                      "\"debug\": {\"pause_on_start\": true, \"window\": true}}");
    operation_call(at.host, "run_start", OBJECT_ADD(args, KEY("thread", thread)),
                   (Reply){.give = on_begun, .ctx = &begun});
    while (!begun) {
        uv_run(&at.loop, UV_RUN_ONCE);
    }
}

/* ---- peers ---- */

static int join_at(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(strlen(path) < sizeof address.sun_path);
    strcpy(address.sun_path, path);
    while (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        assert_int_equal(errno, EAGAIN); /* the line of those who wait is full */
        turn(1);
    }
    return fd;
}

static int join(void) {
    char *path = socket_path();
    int fd = join_at(path);
    mem_free(path);
    return fd;
}

/* What comes until it has `wanted` in it, or until nothing comes any more; "" at the end. */
static const char *hear(int fd, const char *wanted) {
    static char got[1 << 16];
    size_t len = 0;
    got[0] = '\0';
    for (int i = 0; i < 1000 && !strstr(got, wanted); i++) {
        turn(1);
        ssize_t n = read(fd, got + len, sizeof got - 1 - len);
        if (n == 0) break;
        len += n > 0 ? (size_t)n : 0;
        got[len] = '\0';
    }
    return got;
}

static void say(int fd, const char *text) {
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void expect(int fd, const char *text, const char *wanted) {
    say(fd, text);
    expect_contains(hear(fd, wanted), wanted);
}

static bool hangs_up(int fd) {
    static char got[1 << 16];
    ssize_t n = -1;
    for (int i = 0; i < 1000 && n != 0; i++) {
        turn(1);
        do {
            n = recv(fd, got, sizeof got, MSG_DONTWAIT);
        } while (n > 0);
        n = n < 0 && errno == ECONNRESET ? 0 : n;
    }
    return n == 0;
}

static int greeted(void) {
    int fd = join();
    expect_contains(hear(fd, "}}\n"), "{\"hello\":{\"pid\":");
    return fd;
}

#define ATTACH \
    "{\"request_id\":1,\"call\":\"run_events\",\"args\":{\"thread\":\"t\",\"attach\":true}}\n"
#define ASK "{\"request_id\":1,\"call\":\"store_info\"}\n"

/* ---- what may be said ---- */

static void whatever_is_said_is_answered_and_costs_nothing_else(void **state) {
    static const char *const cases[][2] = {
        {"{\"request_id\":1,\"call\":\"store_info\"}\n", "{\"request_id\":1,\"answer\":{\"url\":"},
        {"{\"request_id\":\"x\",\"call\":\"store_info\",\"args\":{}}\n",
         "{\"request_id\":\"x\",\"answer\":"},
        {"{\"call\":\"store_info\"}\n", "{\"answer\":"},
        {"oh\n", "{\"error\":{\"code\":\"syntax\",\"message\":\"A line is not JSON"},
        {"[1]\n", "{\"error\":{\"code\":\"usage\",\"message\":\"A call is an object"},
        {"{}\n", "names no operation"},
        {"{\"request_id\":3,\"call\":4}\n", "{\"request_id\":3,\"error\":{\"code\":\"usage\""},
        {"{\"request_id\":3,\"call\":\"runs\",\"args\":[]}\n",
         "The `args` of a call are an object."},
        {"{\"request_id\":4,\"call\":\"runz\"}\n", "did you mean `runs`"},
        {"{\"request_id\":5,\"call\":\"\\u0000\"}\n", "There is no operation"},
        {"{\"request_id\":6,\"call\":\"runs\",\"args\":{\"limit\":\"x\"}}\n",
         "`limit` of `runs` must be"},
        {"{\"request_id\":7,\"call\":\"run_stop\",\"args\":{\"thread\":\"t\"}}\n",
         "{\"request_id\":7,\"error\":{\"code\":\"not_held\""},
        {"{\"request_id\":8,\"call\":\"unsubscribe\",\"args\":{\"subscription\":99}}\n",
         "{\"request_id\":8,\"answer\":{}}"},
    };
    (void)state;
    serve();
    int fd = greeted();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect(fd, cases[i][0], cases[i][1]);
    }
    close(fd);
}

static void a_line_in_pieces_is_one_and_two_lines_at_once_are_two(void **state) {
    (void)state;
    serve();
    int fd = greeted();
    say(fd, "{\"request_id\":1,");
    turn(5);
    expect(fd, "\"call\":\"store_info\"}\n\n", "{\"request_id\":1,\"answer\":");
    expect(fd,
           "{\"request_id\":2,\"call\":\"operations\"}\nno\n{\"request_id\":3,\"call\":\"runz\"}\n",
           "{\"request_id\":3,\"error\"");
    close(fd);
}

/* Nothing of it is kept, so that a line of any length costs no memory. */
static void a_line_that_is_too_long_is_refused_and_the_next_is_read(void **state) {
    static char piece[1 << 18];
    (void)state;
    serve();
    int fd = greeted();
    memset(piece, 'x', sizeof piece);
    for (size_t sent = 0; sent < (size_t)LINES_MAX + 2 * sizeof piece;) {
        ssize_t n = write(fd, piece, sizeof piece);
        sent += n > 0 ? (size_t)n : 0;
        uv_run(&at.loop, UV_RUN_NOWAIT);
    }
    expect_contains(hear(fd, "\n"), "{\"error\":{\"code\":\"limit\"");
    while (write(fd, "\n", 1) != 1) {
        turn(1);
    }
    expect(fd, ASK, "{\"request_id\":1,\"answer\":");
    close(fd);
}

/* ---- coming and going ---- */

static void more_peers_than_there_is_room_for_are_refused(void **state) {
    int fds[SOCKET_CLIENTS];
    (void)state;
    serve();
    for (int i = 0; i < SOCKET_CLIENTS; i++) {
        fds[i] = join();
        expect(fds[i], ASK, "answer");
    }
    int extra = join();
    expect_contains(hear(extra, "}\n"), "{\"error\":{\"code\":\"busy\"");
    assert_true(hangs_up(extra));
    close(extra);
    expect(fds[0], ASK, "answer");
    expect(fds[SOCKET_CLIENTS - 1], ASK, "answer");
    close(fds[3]);
    turn(20);
    fds[3] = greeted();
    expect(fds[3], ASK, "answer");
    for (int i = 0; i < SOCKET_CLIENTS; i++) {
        close(fds[i]);
    }
}

static void those_that_say_nothing_make_way_the_oldest_first(void **state) {
    enum { SILENT = 300 };
    int asked[2], fds[SILENT];
    (void)state;
    serve();
    for (int i = 0; i < 2; i++) {
        asked[i] = greeted();
        expect(asked[i], ASK, "answer");
    }
    for (int i = 0; i < SILENT; i++) {
        fds[i] = join();
        if (i % 2) say(fds[i], i % 3 ? "{\"request_id\":1,\"call\":\"sto" : "oh\n{}\n");
        turn(1);
    }
    int late = greeted();
    expect(late, ASK, "answer");
    expect(asked[0], ASK, "answer");
    expect(asked[1], ASK, "answer");
    expect_contains(hear(fds[0], "Another process came"), "{\"error\":{\"code\":\"busy\"");
    assert_true(hangs_up(fds[0]));
    expect(fds[SILENT - 1], "\n" ASK, "answer");
    for (int i = 0; i < SILENT; i++) close(fds[i]);
    close(late);
    close(asked[0]);
    close(asked[1]);
}

static void those_that_say_nothing_have_so_much_time(void **state) {
    (void)state;
    serve();
    socket_set_silence(at.server, 200);
    int silent = greeted(), half = greeted(), asked = greeted();
    say(half, "{\"request_id\":1,");
    expect(asked, ASK, "answer");
    expect_contains(hear(silent, "too long"), "{\"error\":{\"code\":\"cancelled\"");
    assert_true(hangs_up(silent));
    assert_true(hangs_up(half));
    turn(100);
    int later = greeted();
    assert_true(hangs_up(later));
    expect(asked, ASK, "answer");
    close(silent);
    close(half);
    close(later);
    close(asked);
}

static void whoever_asks_and_vanishes_is_answered_to_nobody(void **state) {
    (void)state;
    serve();
    int other = greeted();
    for (int i = 0; i < 50; i++) {
        int fd = join();
        say(fd, "{\"call\":\"store_check\"}\n{\"call\":\"runs\"}\n");
        turn(i % 3);
        close(fd);
    }
    expect(other, ASK, "answer");
    close(other);
}

static void a_peer_that_only_stops_sending_is_let_go(void **state) {
    (void)state;
    serve();
    int fd = greeted();
    shutdown(fd, SHUT_WR);
    assert_true(hangs_up(fd));
    close(fd);
}

static void a_peer_that_does_not_read_is_dropped_and_slows_nobody(void **state) {
    (void)state;
    serve();
    int lazy = join(), other = greeted();
    const char *line = "{\"call\":\"operations\"}\n";
    bool dropped = false;
    for (int i = 0; i < 20000 && !dropped; i++) { /* it has asked for more than 64 MB long before */
        ssize_t n = send(lazy, line, strlen(line), MSG_NOSIGNAL);
        dropped = n < 0 && errno != EAGAIN;
        uv_run(&at.loop, UV_RUN_NOWAIT);
    }
    assert_true(dropped);
    expect(other, ASK, "answer");
    close(lazy);
    close(other);
}

/* ---- events ---- */

static void events_come_after_the_answer_until_they_are_not_wanted(void **state) {
    (void)state;
    serve();
    start_run("t");
    int fd = greeted();
    say(fd, ATTACH);
    const char *heard = hear(fd, "\"paused\"");
    assert_ptr_equal(strstr(heard, "{\"request_id\":1,\"answer\":{\"subscription\":"), heard);
    const char *number = heard + strlen("{\"request_id\":1,\"answer\":{\"subscription\":");
    Buf line = BUF_INIT;
    buf_printf(&line,
               "{\"request_id\":2,\"call\":\"unsubscribe\",\"args\":{\"subscription\":%d}}\n",
               atoi(number));
    expect(fd, line.data, "{\"request_id\":2,\"answer\":{}}");
    buf_clear(&line);
    close(fd);
}

static void every_window_hears_what_happens_and_its_own_answers(void **state) {
    (void)state;
    serve();
    start_run("t");
    int a = greeted(), b = greeted();
    expect(a, ATTACH, "subscription");
    expect(b, ATTACH, "subscription");
    expect(a,
           "{\"request_id\":7,\"call\":\"step\",\"args\":{\"thread\":\"t\",\"kind\":\"over\"}}\n",
           "\"node\":\"b\"");
    const char *heard = hear(b, "\"node\":\"b\"");
    expect_contains(heard, "resumed");
    assert_null(strstr(heard, "\"request_id\":7"));
    close(a);
    turn(20);
    expect(b, "{\"request_id\":8,\"call\":\"detach\",\"args\":{\"thread\":\"t\"}}\n",
           "\"over\":true");
    close(b);
}

static void the_events_of_a_connection_go_with_it(void **state) {
    (void)state;
    serve();
    start_run("t");
    int first = greeted();
    expect(first, ATTACH, "{\"request_id\":1,\"answer\"");
    for (int i = 0; i < 2 * SUBSCRIPTION_WINDOWS; i++) {
        int fd = greeted();
        expect(fd, ATTACH, "{\"request_id\":1,\"answer\"");
        close(fd);
        turn(5);
    }
    close(first);
}

static void more_windows_than_there_is_room_for_are_refused(void **state) {
    int fds[SUBSCRIPTION_WINDOWS + 1];
    (void)state;
    serve();
    start_run("t");
    for (int i = 0; i <= SUBSCRIPTION_WINDOWS; i++) {
        fds[i] = greeted();
        expect(fds[i], ATTACH,
               i < SUBSCRIPTION_WINDOWS ? "{\"request_id\":1,\"answer\""
                                        : "16 debuggers are attached");
    }
    for (int i = 0; i <= SUBSCRIPTION_WINDOWS; i++) {
        close(fds[i]);
    }
}

/* ---- the end ---- */

static void what_was_answered_is_still_sent_when_the_server_closes(void **state) {
    (void)state;
    serve();
    int fd = greeted();
    say(fd, "{\"request_id\":1,\"call\":\"operations\"}\n");
    turn(5);
    socket_close(at.server);
    at.server = NULL;
    expect_contains(hear(fd, "\n"), "{\"request_id\":1,\"answer\"");
    assert_true(hangs_up(fd));
    close(fd);
}

/* ---- the place ---- */

static bool file_exists(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

static void the_socket_is_for_its_user_and_goes_with_the_server(void **state) {
    struct stat st;
    (void)state;
    serve();
    char *path = socket_path();
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0600);
    socket_close(at.server);
    at.server = NULL;
    assert_false(file_exists(path));
    mem_free(path);
}

static void leave_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    strcpy(address.sun_path, path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}

static void sockets_of_dead_processes_are_replaced_and_removed(void **state) {
    (void)state;
    Buf old = BUF_INIT;
    open_host("file:store");
    char *path = socket_path();
    leave_socket(path);
    buf_printf(&old, "%s/host-%d.sock", host_store_folder(at.host, NULL), 0x3ffffff);
    leave_socket(old.data);
    at.server = socket_listen(at.host, &at.err);
    assert_non_null(at.server);
    assert_false(file_exists(old.data));
    int fd = greeted();
    close(fd);
    buf_clear(&old);
    mem_free(path);
}

static void put_file(const char *path) {
    FILE *file = fopen(path, "w");
    fputs("mine", file);
    fclose(file);
}

static void a_file_in_the_way_is_left_alone(void **state) {
    (void)state;
    open_host("file:store");
    char *path = socket_path();
    put_file(path);
    assert_null(socket_listen(at.host, &at.err));
    expect_contains(at.err.msg, "not a socket");
    assert_true(file_exists(path));
    mem_free(path);
}

static void what_another_put_there_is_not_removed(void **state) {
    (void)state;
    serve();
    char *path = socket_path();
    assert_int_equal(unlink(path), 0);
    put_file(path);
    socket_close(at.server);
    at.server = NULL;
    assert_true(file_exists(path));
    mem_free(path);
}

static void a_long_path_is_no_hindrance(void **state) {
    char url[200], name[90];
    (void)state;
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(mkdir(name, 0700), 0);
    snprintf(url, sizeof url, "file:%s/%s", name, name);
    open_host(url);
    at.server = socket_listen(at.host, &at.err);
    assert_non_null(at.server);
    char *path = socket_path();
    assert_true(strlen(path) >= sizeof((struct sockaddr_un *)NULL)->sun_path);
    assert_int_equal(symlink(host_store_folder(at.host, NULL), "near"), 0);
    snprintf(url, sizeof url, "near/host-%lld.sock", (long long)getpid());
    int fd = join_at(url);
    expect(fd, ASK, "answer");
    close(fd);
    mem_free(path);
}

static void a_store_in_memory_has_no_socket(void **state) {
    (void)state;
    open_host("memory:");
    assert_null(socket_listen(at.host, &at.err));
    expect_contains(at.err.msg, "in memory");
}

/* Another user, in a process of its own: what it was told, through its exit code. */
static int as_nobody(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char got[512] = "";
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    strcpy(address.sun_path, path);
    if (setuid(65534) || connect(fd, (struct sockaddr *)&address, sizeof address)) return 1;
    return read(fd, got, sizeof got - 1) > 0 && strstr(got, "Only the user") ? 0 : 2;
}

static void another_user_is_refused(void **state) {
    int status = -1;
    (void)state;
    if (geteuid() != 0) skip();
    serve();
    char *path = socket_path();
    assert_int_equal(chmod(path, 0666), 0); /* so that only the question who it is stands */
    assert_int_equal(system("chmod 755 . && chmod -R go+rX ."), 0);
    pid_t child = fork();
    if (child == 0) _exit(as_nobody(path));
    while (waitpid(child, &status, WNOHANG) == 0) {
        turn(5);
    }
    assert_int_equal(status, 0);
    mem_free(path);
}

#define SOCKET(f) cmocka_unit_test_setup_teardown(f, up, down)

int main(void) {
    const struct CMUnitTest tests[] = {
        SOCKET(whatever_is_said_is_answered_and_costs_nothing_else),
        SOCKET(a_line_in_pieces_is_one_and_two_lines_at_once_are_two),
        SOCKET(a_line_that_is_too_long_is_refused_and_the_next_is_read),
        SOCKET(more_peers_than_there_is_room_for_are_refused),
        SOCKET(those_that_say_nothing_make_way_the_oldest_first),
        SOCKET(those_that_say_nothing_have_so_much_time),
        SOCKET(whoever_asks_and_vanishes_is_answered_to_nobody),
        SOCKET(a_peer_that_only_stops_sending_is_let_go),
        SOCKET(a_peer_that_does_not_read_is_dropped_and_slows_nobody),
        SOCKET(events_come_after_the_answer_until_they_are_not_wanted),
        SOCKET(every_window_hears_what_happens_and_its_own_answers),
        SOCKET(the_events_of_a_connection_go_with_it),
        SOCKET(more_windows_than_there_is_room_for_are_refused),
        SOCKET(what_was_answered_is_still_sent_when_the_server_closes),
        SOCKET(the_socket_is_for_its_user_and_goes_with_the_server),
        SOCKET(sockets_of_dead_processes_are_replaced_and_removed),
        SOCKET(a_file_in_the_way_is_left_alone),
        SOCKET(what_another_put_there_is_not_removed),
        SOCKET(a_long_path_is_no_hindrance),
        SOCKET(a_store_in_memory_has_no_socket),
        SOCKET(another_user_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
