/* The socket beside the store, both ends on one loop. The session is a fake: calls come to the
 * debug_call() below, which stands in for the one of debug_api.h. */
#define _GNU_SOURCE
#include "engine_host.h"

#include "attach.h"
#include "attach_socket.h"
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

/* ---- the side of the run ---- */

typedef struct Server {
    Run *run;
    AttachServer *attach;
    int sessions;   /* asked for */
    int came, went; /* the first, the last */
    bool refuses, tells_missed;
} Server;

static Server server;

static void tell(const char *text) {
    Json event = parse(text);
    attach_event(server.attach, event);
    json_unref(event);
}

static Json fake_fail(Json args, Error *err) {
    (void)args;
    error_set_at(err, ERR_SYNTAX, 3, 7, "Line three is no good.");
    return json_none();
}

static Json fake_detach(Json args, Error *err) {
    (void)args;
    (void)err;
    tell("{\"event\":\"session\",\"status\":\"detached\"}");
    return json_object();
}

static Json fake_tell(Json args, Error *err) {
    (void)args;
    (void)err;
    tell("{\"event\":\"resumed\",\"frame\":1}");
    return json_object();
}

static Json fake_long(Json args, Error *err) {
    (void)args;
    (void)err;
    char *text = mem_alloc(LINES_MAX);
    memset(text, 'x', LINES_MAX);
    Json value = json_string_valid(text, LINES_MAX);
    mem_free(text);
    return json_object_with(json_object(), "text", value);
}

static Json fake_echo(Json args, Error *err) {
    (void)err;
    return json_object_with(json_object(), "args",
                            json_is_none(args) ? json_null() : json_ref(args));
}

static const struct {
    const char *name;
    Json (*call)(Json args, Error *err);
} fakes[] = {{"fail", fake_fail}, {"detach", fake_detach}, {"tell", fake_tell},
             {"long", fake_long}, {"echo", fake_echo},     {NULL, NULL}};

Json debug_call(Session *session, const char *operation, Json args, Error *err) {
    Json answer = json_none();
    bool known = false;
    assert_ptr_equal(session, (Session *)&server);
    for (size_t i = 0; fakes[i].name && !known; i++) {
        known = !strcmp(fakes[i].name, operation);
        if (known) answer = fakes[i].call(args, err);
    }
    if (!known) error_set(err, ERR_USAGE, "There is no operation `%s`.", operation);
    json_unref(args);
    return answer;
}

static Session *on_session(void *ctx, Error *err) {
    Server *s = ctx;
    if (s->refuses) {
        error_set(err, ERR_USAGE, "The run has settled.");
        return NULL;
    }
    if (!s->sessions++) tell("{\"event\":\"session\",\"status\":\"attached\"}");
    return (Session *)s;
}

static void on_greeted(void *ctx, int64_t client) {
    Server *s = ctx;
    if (s->tells_missed) {
        Json event = parse("{\"event\":\"paused\",\"frame\":1,\"reattached\":true}");
        event = json_object_with(event, "to", json_int(client));
        attach_event(s->attach, event);
        json_unref(event);
    }
}

static void on_connected(void *ctx, bool connected) {
    Server *s = ctx;
    *(connected ? &s->came : &s->went) += 1;
}

static AttachHost attach_host(void) {
    return (AttachHost){&host.loop, on_session, on_greeted, on_connected, &server};
}

#define WAITS "nodes:\n  - {name: w, shell: 'while ! test -e go; do sleep 0.02; done'}\n"

static void listen_now(void) {
    AttachHost h = attach_host();
    server.attach = attach_listen(server.run, &h, &host.err);
    if (!server.attach) fail_msg("%s", host.err.msg);
}

static void serve(void) {
    server.run = host_start(WAITS, "t", NULL);
    listen_now();
}

/* ---- the other side ---- */

typedef struct Client {
    Attach *attach;
    Store *store;
    Buf events;
    int closed;
    bool calls_back; /* from inside an event */
} Client;

static Client clients[ATTACH_CLIENTS + 1];

static void on_event(void *ctx, Json event) {
    Client *c = ctx;
    json_print(event, NULL, &c->events);
    buf_addc(&c->events, '\n');
    json_unref(event);
    if (c->calls_back && c->attach) {
        error_clear(&host.err);
        assert_true(json_is_none(attach_call(c->attach, "echo", json_none(), &host.err)));
    }
}

static void on_closed(void *ctx) {
    Client *c = ctx;
    c->closed++;
}

static bool try_connect(Client *c) {
    error_clear(&host.err);
    if (!c->store) c->store = store_open(host.url, STORE_EXISTING, &host.err);
    c->attach = attach_connect(&host.loop, c->store, run_number(server.run), on_event, on_closed, c,
                               &host.err);
    return c->attach != NULL;
}

static Client *join(int i) {
    if (!try_connect(&clients[i])) fail_msg("%s", host.err.msg);
    return &clients[i];
}

static void expect_call(Client *c, const char *operation, const char *args, const char *want) {
    error_clear(&host.err);
    Json answer = attach_call(c->attach, operation, args ? parse(args) : json_none(), &host.err);
    if (json_is_none(answer)) fail_msg("%s: %s", operation, host.err.msg);
    expect_gives(answer, want);
}

static void expect_refused(Client *c, const char *operation, ErrorCode code, const char *part) {
    error_clear(&host.err);
    assert_true(json_is_none(attach_call(c->attach, operation, json_none(), &host.err)));
    assert_int_equal(host.err.code, code);
    expect_contains(host.err.msg, part);
}

static const char *events_of(Client *c) {
    return c->events.data ? c->events.data : "";
}

static void leave(Client *c) {
    attach_leave(c->attach);
    c->attach = NULL;
    store_close(c->store);
    c->store = NULL;
    buf_clear(&c->events);
}

/* ---- life ---- */

static int up(void **state) {
    server = (Server){0};
    memset(clients, 0, sizeof clients);
    return host_setup(state);
}

static int down(void **state) {
    for (int i = 0; i <= ATTACH_CLIENTS; i++) leave(&clients[i]);
    attach_close(server.attach);
    if (server.run) {
        run_stop(server.run);
        host_settle(server.run);
    }
    return host_teardown(state);
}

static char *socket_path(void) {
    Buf path = BUF_INIT;
    Store *store = store_open(host.url, STORE_EXISTING, NULL);
    buf_printf(&path, "%s/debug-%lld.sock", store_folder(store, NULL),
               (long long)run_number(server.run));
    store_close(store);
    return buf_detach(&path);
}

/* ---- calls ---- */

static void a_call_comes_to_the_session_and_its_answer_back(void **state) {
    (void)state;
    serve();
    Client *c = join(0);
    assert_int_equal(server.came, 1);
    assert_true(attach_is_connected(server.attach));
    expect_call(c, "echo", "{\"a\":[1,\"\\u00e9\"]}", "{\"args\":{\"a\":[1,\"\\u00e9\"]}}");
    expect_call(c, "echo", NULL, "{\"args\":null}");
    Json thread = json_object_get_c(attach_peer(c->attach), "thread");
    expect_json(thread, "\"t\"");
}

static void an_error_keeps_its_code_and_its_place(void **state) {
    (void)state;
    serve();
    Client *c = join(0);
    expect_refused(c, "fail", ERR_SYNTAX, "Line three is no good.");
    assert_int_equal(host.err.line, 3);
    assert_int_equal(host.err.col, 7);
    expect_refused(c, "nothing", ERR_USAGE, "There is no operation `nothing`.");
    expect_call(c, "echo", NULL, "{\"args\":null}");
}

static void events_come_in_order_and_before_the_answer(void **state) {
    (void)state;
    serve();
    Client *c = join(0);
    expect_call(c, "tell", NULL, "{}");
    assert_string_equal(events_of(c), "{\"event\":\"session\",\"status\":\"attached\"}\n"
                                      "{\"event\":\"resumed\",\"frame\":1}\n");
    tell("{\"event\":\"paused\",\"frame\":2}");
    host_turn(20);
    expect_contains(events_of(c), "paused");
}

static void no_call_is_made_from_inside_an_event(void **state) {
    (void)state;
    serve();
    Client *c = join(0);
    c->calls_back = true;
    tell("{\"event\":\"paused\",\"frame\":2}");
    host_turn(20);
    expect_contains(host.err.msg, "while an event is being told");
    c->calls_back = false;
    expect_call(c, "echo", NULL, "{\"args\":null}");
}

static void an_answer_longer_than_a_line_is_an_error(void **state) {
    (void)state;
    serve();
    Client *c = join(0);
    expect_refused(c, "long", ERR_LIMIT, "longer than the 64 MB");
    expect_call(c, "echo", NULL, "{\"args\":null}");
}

/* ---- coming and going ---- */

static void every_client_hears_what_happens_and_its_own_answers(void **state) {
    (void)state;
    serve();
    Client *a = join(0), *b = join(1);
    assert_int_equal(server.sessions, 2); /* asked for, and the same */
    expect_call(b, "tell", NULL, "{}");
    expect_call(a, "echo", "{\"of\":\"a\"}", "{\"args\":{\"of\":\"a\"}}");
    expect_contains(events_of(a), "{\"event\":\"resumed\",\"frame\":1}\n");
    assert_string_equal(events_of(b), "{\"event\":\"resumed\",\"frame\":1}\n");
    expect_refused(b, "fail", ERR_SYNTAX, "Line three is no good.");
    expect_call(b, "echo", NULL, "{\"args\":null}");
}

static void a_client_that_goes_leaves_the_others(void **state) {
    (void)state;
    serve();
    Client *a = join(0);
    expect_call(join(1), "echo", NULL, "{\"args\":null}");
    leave(a);
    host_turn(20);
    assert_int_equal(server.came, 1);
    assert_int_equal(server.went, 0);
    assert_true(attach_is_connected(server.attach));
    expect_call(&clients[1], "tell", NULL, "{}");
    expect_contains(events_of(&clients[1]), "resumed");
    leave(&clients[1]);
    host_turn(20);
    assert_int_equal(server.went, 1);
    assert_false(attach_is_connected(server.attach));
    expect_call(join(0), "echo", NULL, "{\"args\":null}");
    assert_int_equal(server.came, 2);
}

static void what_a_client_has_missed_is_told_to_it_alone(void **state) {
    (void)state;
    serve();
    Client *a = join(0);
    buf_reset(&a->events);
    server.tells_missed = true;
    Client *b = join(1);
    expect_call(b, "echo", NULL, "{\"args\":null}");
    expect_call(a, "echo", NULL, "{\"args\":null}");
    assert_string_equal(events_of(b), "{\"event\":\"paused\",\"frame\":1,\"reattached\":true}\n");
    assert_int_equal(a->events.len, 0);
    tell("{\"event\":\"log\",\"to\":77}"); /* nobody of that number */
    expect_call(a, "echo", NULL, "{\"args\":null}");
    assert_int_equal(a->events.len, 0);
}

static void more_clients_than_there_is_room_for_are_refused(void **state) {
    (void)state;
    serve();
    for (int i = 0; i < ATTACH_CLIENTS; i++) join(i);
    Client *extra = &clients[ATTACH_CLIENTS];
    assert_false(try_connect(extra));
    assert_int_equal(host.err.code, ERR_BUSY);
    expect_contains(host.err.msg, "16 debuggers are attached to this run");
    expect_call(&clients[0], "tell", NULL, "{}");
    expect_call(&clients[ATTACH_CLIENTS - 1], "echo", NULL, "{\"args\":null}");
    expect_contains(events_of(&clients[ATTACH_CLIENTS - 1]), "resumed");
    leave(&clients[3]);
    host_turn(20);
    expect_call(join(ATTACH_CLIENTS), "echo", NULL, "{\"args\":null}");
}

static void a_client_is_refused_when_there_is_no_session(void **state) {
    (void)state;
    serve();
    server.refuses = true;
    assert_false(try_connect(&clients[0]));
    assert_string_equal(host.err.msg, "The run has settled.");
    assert_int_equal(server.came, 0);
    server.refuses = false;
    expect_call(join(0), "echo", NULL, "{\"args\":null}");
}

static bool has_closed(void) {
    return clients[0].closed > 0;
}

static void the_server_hangs_up_after_the_answer_to_detach(void **state) {
    (void)state;
    serve();
    Client *c = join(0);
    expect_call(c, "detach", NULL, "{}");
    expect_contains(events_of(c), "detached");
    host_until(has_closed);
    host_turn(20);
    assert_int_equal(server.went, 1);
    expect_refused(c, "echo", ERR_IO, "has gone");
}

static bool both_have_closed(void) {
    return clients[0].closed && clients[1].closed;
}

static void all_are_told_and_left_when_one_detaches(void **state) {
    (void)state;
    serve();
    Client *a = join(0), *b = join(1);
    expect_call(b, "detach", NULL, "{}");
    host_until(both_have_closed);
    expect_contains(events_of(a), "detached");
    expect_contains(events_of(b), "detached");
    host_turn(20);
    assert_int_equal(server.went, 1);
    leave(a);
    expect_call(join(0), "echo", NULL, "{\"args\":null}");
    assert_int_equal(server.came, 2);
}

static void the_server_hangs_up_when_the_session_expires(void **state) {
    (void)state;
    serve();
    Client *c = join(0);
    tell("{\"event\":\"session\",\"status\":\"expired\"}");
    assert_int_equal(server.went, 0); /* never from inside attach_event() */
    host_until(has_closed);
    host_turn(20);
    assert_int_equal(server.went, 1);
    expect_contains(events_of(c), "expired");
}

static void closing_the_server_tells_the_client_what_was_left(void **state) {
    (void)state;
    serve();
    Client *c = join(0);
    tell("{\"event\":\"settled\",\"status\":\"completed\"}");
    attach_close(server.attach);
    server.attach = NULL;
    host_until(has_closed);
    expect_contains(events_of(c), "settled");
    assert_int_equal(server.went, 0);
    assert_false(attach_is_open(c->attach));
    expect_refused(c, "echo", ERR_IO, "has gone");
}

/* A long event, n times, with time for those who read. */
static void tell_much(int n) {
    char *text = mem_alloc((1 << 20) + 1);
    memset(text, 'x', 1 << 20);
    text[1 << 20] = '\0';
    Json event = json_object_with(parse("{\"event\":\"log\"}"), "message", json_string_c(text));
    for (int i = 0; i < n; i++) {
        attach_event(server.attach, event);
        expect_call(&clients[0], "echo", NULL, "{\"args\":null}");
        buf_clear(&clients[0].events);
    }
    json_unref(event);
    mem_free(text);
}

static bool hangs_up(int fd) {
    static char got[1 << 16];
    ssize_t n = 1;
    while (n > 0) n = recv(fd, got, sizeof got, MSG_DONTWAIT);
    return n == 0;
}

static void a_client_that_does_not_read_is_dropped_and_slows_nobody(void **state) {
    (void)state;
    serve();
    SocketPlace place;
    Store *store = store_open(host.url, STORE_EXISTING, NULL);
    int why;
    join(0);
    assert_true(socket_place_open(&place, store_folder(store, NULL), run_number(server.run), NULL));
    int fd = attach_socket_connect(&place, &why, NULL);
    host_turn(20);
    tell_much(80);
    assert_true(hangs_up(fd));
    expect_call(&clients[0], "echo", NULL, "{\"args\":null}");
    assert_int_equal(server.went, 0);
    close(fd);
    socket_place_close(&place);
    store_close(store);
}

/* ---- what a client may say ---- */

static int raw_connection(void) {
    char *path = socket_path();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(strlen(path) < sizeof address.sun_path);
    strcpy(address.sun_path, path);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    mem_free(path);
    return fd;
}

/* What comes next, as one text. */
static const char *raw_lines(int fd, const char *text) {
    static char got[4096];
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    host_turn(20);
    ssize_t n = read(fd, got, sizeof got - 1);
    got[n > 0 ? n : 0] = '\0';
    return got;
}

static void whatever_is_said_is_answered_and_costs_nothing_else(void **state) {
    static const char *const cases[][2] = {
        {"{\"request_id\":1,\"call\":\"echo\"}\n", "{\"request_id\":1,\"answer\":{\"args\":null}}"},
        {"{\"request_id\":\"x\",\"call\":\"echo\",\"args\":{}}\n",
         "{\"request_id\":\"x\",\"answer\":"},
        {"{\"call\":\"echo\"}\n", "{\"request_id\":null,\"answer\":"},
        {"oh\n",
         "{\"request_id\":null,\"error\":{\"code\":\"syntax\",\"message\":\"A line is not JSON"},
        {"[1]\n", "names no operation"},
        {"{\"request_id\":3,\"call\":4}\n", "{\"request_id\":3,\"error\":{\"code\":\"usage\""},
        {"{\"request_id\":3,\"call\":\"echo\",\"args\":[]}\n",
         "The `args` of a call are an object."},
        {"{\"request_id\":4,\"call\":\"fail\"}\n", "\"line\":3,\"column\":7}}"},
        {"{\"request_id\":5,\"call\":\"\\u0000\"}\n", "There is no operation"},
    };
    (void)state;
    serve();
    int fd = raw_connection();
    expect_contains(raw_lines(fd, "\n"), "{\"hello\":{\"run\":1,\"thread\":\"t\",\"pid\":");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_contains(raw_lines(fd, cases[i][0]), cases[i][1]);
    }
    close(fd);
    host_turn(20);
    assert_int_equal(server.went, 1);
}

/* ---- the socket ---- */

static void the_socket_is_for_its_user_and_goes_with_the_server(void **state) {
    (void)state;
    struct stat st;
    serve();
    char *path = socket_path();
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0600);
    attach_close(server.attach);
    server.attach = NULL;
    assert_false(file_exists(path));
    mem_free(path);
}

static void a_socket_of_a_dead_process_is_replaced(void **state) {
    (void)state;
    server.run = host_start(WAITS, "t", NULL);
    char *path = socket_path();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    strcpy(address.sun_path, path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    listen_now();
    expect_call(join(0), "echo", NULL, "{\"args\":null}");
    mem_free(path);
}

static void a_file_in_the_way_is_left_alone(void **state) {
    (void)state;
    AttachHost h = attach_host();
    server.run = host_start(WAITS, "t", NULL);
    char *path = socket_path();
    host_file(path, "mine");
    assert_null(attach_listen(server.run, &h, &host.err));
    expect_contains(host.err.msg, "not a socket");
    assert_true(file_exists(path));
    mem_free(path);
}

static void a_socket_that_another_put_there_is_not_removed(void **state) {
    (void)state;
    serve();
    char *path = socket_path();
    assert_int_equal(unlink(path), 0);
    host_file(path, "theirs");
    attach_close(server.attach);
    server.attach = NULL;
    assert_true(file_exists(path));
    mem_free(path);
}

static void a_long_path_is_no_hindrance(void **state) {
    char name[60];
    (void)state;
    memset(name, 'x', sizeof name);
    host_down();
    assert_int_equal(mkdir("deep", 0700), 0);
    snprintf(host.url, sizeof host.url, "file:deep/%.59s/%.50s", name, name);
    host_up();
    serve();
    char *path = socket_path();
    assert_true(strlen(path) >= sizeof((struct sockaddr_un *)NULL)->sun_path);
    expect_call(join(0), "echo", NULL, "{\"args\":null}");
    mem_free(path);
}

static void a_run_in_memory_has_no_socket(void **state) {
    (void)state;
    AttachHost h = attach_host();
    server.run = host_start(WAITS, "t", NULL);
    assert_null(attach_listen(server.run, &h, &host.err));
    expect_contains(host.err.msg, "kept in memory");
}

static void nobody_there_is_said_as_it_is(void **state) {
    (void)state;
    server.run = host_start(WAITS, "t", NULL);
    assert_false(try_connect(&clients[0]));
    assert_int_equal(host.err.code, ERR_BUSY);
    expect_contains(host.err.msg, "does not listen");
    run_stop(server.run);
    host_settle(server.run);
    assert_false(try_connect(&clients[0]));
    assert_int_equal(host.err.code, ERR_USAGE);
    expect_contains(host.err.msg, "No process has run 1");
    server.run = NULL;
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
    (void)state;
    int status = -1;
    if (geteuid() != 0) skip();
    serve();
    char *path = socket_path();
    assert_int_equal(chmod(path, 0666), 0); /* so that only the question who it is stands */
    assert_int_equal(system("chmod 755 . && chmod -R go+rX ."), 0);
    pid_t child = fork();
    if (child == 0) _exit(as_nobody(path));
    while (waitpid(child, &status, WNOHANG) == 0) host_turn(5);
    assert_int_equal(status, 0);
    assert_int_equal(server.came, 0);
    mem_free(path);
}

#define ATTACH(f, kind) \
    { #f " (" kind ")", f, up, down, (void *)(uintptr_t)kind }

int main(void) {
    const struct CMUnitTest tests[] = {
        ATTACH(a_call_comes_to_the_session_and_its_answer_back, "sqlite"),
        ATTACH(a_call_comes_to_the_session_and_its_answer_back, "file"),
        ATTACH(an_error_keeps_its_code_and_its_place, "file"),
        ATTACH(events_come_in_order_and_before_the_answer, "file"),
        ATTACH(no_call_is_made_from_inside_an_event, "file"),
        ATTACH(an_answer_longer_than_a_line_is_an_error, "file"),
        ATTACH(every_client_hears_what_happens_and_its_own_answers, "sqlite"),
        ATTACH(a_client_that_goes_leaves_the_others, "sqlite"),
        ATTACH(what_a_client_has_missed_is_told_to_it_alone, "file"),
        ATTACH(more_clients_than_there_is_room_for_are_refused, "file"),
        ATTACH(a_client_is_refused_when_there_is_no_session, "file"),
        ATTACH(the_server_hangs_up_after_the_answer_to_detach, "file"),
        ATTACH(all_are_told_and_left_when_one_detaches, "file"),
        ATTACH(the_server_hangs_up_when_the_session_expires, "file"),
        ATTACH(closing_the_server_tells_the_client_what_was_left, "file"),
        ATTACH(a_client_that_does_not_read_is_dropped_and_slows_nobody, "file"),
        ATTACH(whatever_is_said_is_answered_and_costs_nothing_else, "file"),
        ATTACH(the_socket_is_for_its_user_and_goes_with_the_server, "sqlite"),
        ATTACH(a_socket_of_a_dead_process_is_replaced, "file"),
        ATTACH(a_file_in_the_way_is_left_alone, "file"),
        ATTACH(a_socket_that_another_put_there_is_not_removed, "file"),
        ATTACH(a_long_path_is_no_hindrance, "file"),
        ATTACH(a_run_in_memory_has_no_socket, "memory"),
        ATTACH(nobody_there_is_said_as_it_is, "sqlite"),
        ATTACH(another_user_is_refused, "file"),
    };
    return RUN_TESTS(tests);
}
