/* Connections to other processes: a client, and a peer at the place of another process that says whatever a
 * test wants, on one loop. */
#define _GNU_SOURCE
#include "client_inside.h"
#include "host_socket.h"
#include "json_build.h"
#include "json_test.h"
#include "mem.h"
#include "store_run.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PID = 1 }; /* a process that is there, and does not listen in our folder itself */

static struct {
    char folder[64], url[128];
    uv_loop_t loop;
    Client *client;
    SocketPlace place;
    int listener, peer;
} at;

static void turn(int ms) {
    for (int i = 0; i < ms; i++) {
        uv_run(&at.loop, UV_RUN_NOWAIT);
        usleep(1000);
    }
}

static int up(void **state) {
    Error err = ERROR_INIT;
    (void)state;
    memset(&at, 0, sizeof at);
    at.peer = -1;
    strcpy(at.folder, "/tmp/pawl-client-XXXXXX");
    assert_non_null(mkdtemp(at.folder));
    snprintf(at.url, sizeof at.url, "file:%s/store", at.folder);
    assert_int_equal(uv_loop_init(&at.loop), 0);
    at.client =
        client_new(&(ClientOptions){.loop = &at.loop, .store = at.url, .folder = at.folder});
    Host *host = client_host(at.client);
    assert_non_null(host_store(host, HOST_CREATES, &err));
    assert_true(socket_place_open(&at.place, host_store_folder(host, &err), PID, &err));
    at.listener = host_socket_listen(&at.place, &err);
    return at.listener < 0;
}

static int down(void **state) {
    char command[128];
    (void)state;
    client_free(at.client);
    uv_run(&at.loop, UV_RUN_DEFAULT);
    if (at.peer >= 0) close(at.peer);
    close(at.listener);
    socket_place_close(&at.place);
    snprintf(command, sizeof command, "rm -rf %s", at.folder);
    return uv_loop_close(&at.loop) || system(command);
}

/* ---- the peer ---- */

static void say(const char *text) {
    assert_int_equal(send(at.peer, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* What the client has sent until it has `wanted` in it. */
static const char *hear(const char *wanted) {
    static char got[1 << 16];
    size_t len = 0;
    got[0] = '\0';
    for (int i = 0; i < 1000 && !strstr(got, wanted); i++) {
        turn(1);
        ssize_t n = recv(at.peer, got + len, sizeof got - 1 - len, MSG_DONTWAIT);
        len += n > 0 ? (size_t)n : 0;
        got[len] = '\0';
    }
    expect_contains(got, wanted);
    return got;
}

static Remote *meet(const char *greeting) {
    Remote *remote = remote_open(at.client, PID);
    assert_non_null(remote);
    at.peer = accept(at.listener, NULL, NULL);
    assert_true(at.peer >= 0);
    if (greeting) say(greeting);
    return remote;
}

#define HELLO "{\"hello\":{\"pid\":1,\"protocol\":1}}\n"

/* ---- the asker ---- */

typedef struct Asked {
    int answers;
    Json answer;
    Error err;
} Asked;

static void on_answer(void *ctx, Json answer, const Error *err) {
    Asked *a = ctx;
    a->answers++;
    a->answer = answer;
    if (err) a->err = *err;
}

static void until_answered(const Asked *a) {
    for (int i = 0; i < 10000 && !a->answers; i++) {
        turn(1);
    }
    assert_int_equal(a->answers, 1);
}

static void expect_failure(const Asked *a, ErrorCode code, const char *part) {
    until_answered(a);
    assert_true(json_is_none(a->answer));
    assert_int_equal(a->err.code, code);
    expect_contains(a->err.msg, part);
}

/* ---- calls ---- */

static void a_call_is_one_line_and_may_be_made_before_the_other_side_greets(void **state) {
    (void)state;
    Asked a = {0};
    Remote *remote = meet(NULL);
    remote_call(remote, "run_get", parse("{\"thread\": \"t\"}"), on_answer, &a);
    assert_string_equal(hear("\n"),
                        "{\"request_id\":1,\"call\":\"run_get\",\"args\":{\"thread\":\"t\"}}\n");
    say(HELLO "{\"request_id\":1,\"answer\":{\"n\":1}}\n");
    until_answered(&a);
    expect_gives(a.answer, "{\"n\":1}");
}

static void answers_find_their_calls_in_any_order(void **state) {
    (void)state;
    Asked a = {0}, b = {0};
    Remote *remote = meet(HELLO);
    remote_call(remote, "one", json_object(), on_answer, &a);
    remote_call(remote, "two", json_object(), on_answer, &b);
    hear("two");
    say("{\"request_id\":9,\"answer\":{}}\n{\"request_id\":2,\"answer\":{\"of\":\"b\"}}\n"
        "{\"request_id\":1,\"answer\":{\"of\":\"a\"}}\n");
    until_answered(&a);
    until_answered(&b);
    expect_gives(a.answer, "{\"of\":\"a\"}");
    expect_gives(b.answer, "{\"of\":\"b\"}");
}

static void an_error_keeps_its_code_its_place_and_its_facts(void **state) {
    (void)state;
    Asked a = {0};
    remote_call(meet(HELLO), "check", json_object(), on_answer, &a);
    hear("check");
    say("{\"request_id\":1,\"error\":{\"code\":\"syntax\",\"message\":\"Line three is no good.\","
        "\"line\":3,\"column\":7,\"thread\":\"t\"}}\n");
    expect_failure(&a, ERR_SYNTAX, "Line three is no good.");
    assert_int_equal(a.err.line, 3);
    assert_int_equal(a.err.col, 7);
    assert_string_equal(a.err.facts, "\"thread\":\"t\"");
}

static void what_is_no_answer_is_passed_over(void **state) {
    static const char *const lines[] = {"no\n",
                                        "[1]\n",
                                        "7\n",
                                        "{}\n",
                                        "\n",
                                        "{\"request_id\":\"x\",\"answer\":{}}\n",
                                        "{\"request_id\":2.5,\"answer\":{}}\n",
                                        "{\"subscription\":5,\"event\":\"step\"}\n",
                                        "{\"subscription\":[],\"over\":true}\n",
                                        "{\"hello\":{\"protocol\":1}}\n"};
    (void)state;
    Asked a = {0};
    remote_call(meet(HELLO), "x", json_object(), on_answer, &a);
    hear("x");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        say(lines[i]);
    }
    turn(10);
    assert_int_equal(a.answers, 0);
    say("{\"request_id\":1,\"answer\":{}}\n");
    until_answered(&a);
    expect_gives(a.answer, "{}");
}

/* ---- the other side goes, or was never there ---- */

static void a_process_that_goes_fails_the_calls_that_are_left(void **state) {
    (void)state;
    Asked a = {0}, b = {0};
    Remote *remote = meet(HELLO);
    remote_call(remote, "one", json_object(), on_answer, &a);
    remote_call(remote, "two", json_object(), on_answer, &b);
    hear("two");
    close(at.peer);
    at.peer = -1;
    expect_failure(&a, ERR_IO, "has gone");
    expect_failure(&b, ERR_IO, "has gone");
    expect_contains(a.err.facts, "\"pid\":1");
    assert_null(at.client->remotes);
}

static void a_refusal_is_what_the_caller_is_told(void **state) {
    (void)state;
    Asked a = {0};
    Remote *remote = meet(NULL);
    remote_call(remote, "one", json_object(), on_answer, &a);
    say("{\"error\":{\"code\":\"busy\",\"message\":\"Too many are here.\"}}\n");
    shutdown(at.peer, SHUT_WR);
    expect_failure(&a, ERR_BUSY, "Too many are here.");
}

static void another_version_is_left_with_a_sentence(void **state) {
    static const char *const hellos[] = {"{\"hello\":{\"pid\":1,\"protocol\":2}}\n",
                                         "{\"hello\":{\"pid\":1}}\n", "{\"hello\":7}\n"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        Asked a = {0};
        Remote *remote = meet(NULL);
        remote_call(remote, "one", json_object(), on_answer, &a);
        say(hellos[i]);
        expect_failure(&a, ERR_DATA, "another version");
        close(at.peer);
        at.peer = -1;
    }
}

/* It is stopped, or hangs: it is waited for CLIENT_HELLO_MS. */
static void a_process_that_never_greets_is_not_waited_for_forever(void **state) {
    (void)state;
    Asked a = {0};
    remote_call(meet(NULL), "one", json_object(), on_answer, &a);
    expect_failure(&a, ERR_BUSY, "has not answered within 5 seconds");
}

static void nobody_there_is_no_connection(void **state) {
    (void)state;
    assert_null(remote_open(at.client, 0x3ffffff));
    assert_null(remote_open(at.client, getpid())); /* nobody asks itself through a socket */
}

static void a_client_that_ends_tells_every_asker_once(void **state) {
    (void)state;
    Asked a = {0}, b = {0};
    Remote *remote = meet(HELLO);
    remote_call(remote, "one", json_object(), on_answer, &a);
    turn(5);
    remote_call(remote, "two", json_object(), on_answer, &b);
    client_free(at.client);
    at.client = NULL;
    turn(5);
    expect_failure(&a, ERR_CANCELLED, "closed");
    expect_failure(&b, ERR_CANCELLED, "closed");
}

/* ---- events ---- */

typedef struct Heard {
    Buf text;
    int over;
    Error why;
} Heard;

static void on_event(void *ctx, Json event) {
    Heard *h = ctx;
    json_print(event, NULL, &h->text);
    json_unref(event);
}

static void on_over(void *ctx, const Error *why) {
    Heard *h = ctx;
    h->over++;
    if (why) h->why = *why;
}

static void events_reach_their_listener_until_they_are_over(void **state) {
    (void)state;
    Heard five = {.text = BUF_INIT}, six = {.text = BUF_INIT};
    Remote *remote = meet(HELLO);
    remote_listen(remote, 5, &(ClientListener){on_event, on_over, &five});
    remote_listen(remote, 6, &(ClientListener){on_event, on_over, &six});
    say("{\"subscription\":5,\"event\":\"a\"}\n{\"subscription\":6,\"event\":\"b\"}\n"
        "{\"subscription\":5,\"over\":true}\n{\"subscription\":5,\"event\":\"late\"}\n");
    turn(20);
    assert_string_equal(five.text.data, "{\"event\":\"a\"}");
    assert_string_equal(six.text.data, "{\"event\":\"b\"}");
    assert_int_equal(five.over, 1);
    assert_int_equal(six.over, 0);
    close(at.peer);
    at.peer = -1;
    turn(20);
    assert_int_equal(six.over, 1);
    expect_contains(six.why.msg, "has gone");
    buf_clear(&five.text);
    buf_clear(&six.text);
}

static void whoever_listens_no_more_says_so_to_the_other_side(void **state) {
    (void)state;
    Heard heard = {.text = BUF_INIT};
    Remote *remote = meet(HELLO);
    remote_listen(remote, 5, &(ClientListener){on_event, on_over, &heard});
    remote_unlisten(remote, 5);
    hear("{\"request_id\":1,\"call\":\"unsubscribe\",\"args\":{\"subscription\":5}}\n");
    say("{\"subscription\":5,\"event\":\"late\"}\n");
    turn(20);
    assert_int_equal(heard.text.len, 0);
    assert_int_equal(heard.over, 0);
}

/* ---- the way to a run ---- */

static void a_run_that_there_is_not_is_said_as_it_is(void **state) {
    (void)state;
    Asked a = {0};
    client_call(at.client, "run_stop", parse("{\"thread\": \"nothing\"}"), on_answer, &a);
    until_answered(&a);
    assert_true(json_is_none(a.answer));
    expect_contains(a.err.msg, "nothing");
}

/* A process that has a run. It does not listen; or it does, and ends when somebody comes to its socket: as one does that
 * was killed, and of which a child that is about to become a command still has the descriptors. */
static pid_t owner_that_ends(const char *thread, bool listens) {
    int told[2];
    char c;
    assert_int_equal(pipe(told), 0);
    pid_t pid = fork();
    if (pid == 0) {
        SocketPlace place;
        RunRow row;
        alarm(30);
        Store *store = store_open(at.url, STORE_CREATE, NULL);
        bool made = store && store_create_run(store, thread, "w", "d", &row, NULL);
        const char *folder = host_store_folder(client_host(at.client), NULL);
        int listener = listens && made && socket_place_open(&place, folder, getpid(), NULL)
                           ? host_socket_listen(&place, NULL)
                           : -1;
        (void)!write(told[1], made && listens == (listener >= 0) ? "+" : "-", 1);
        if (listens) {
            (void)!accept(listener, NULL, NULL);
        } else {
            pause();
        }
        _exit(0);
    }
    close(told[1]);
    assert_int_equal(read(told[0], &c, 1), 1);
    assert_int_equal(c, '+');
    close(told[0]);
    return pid;
}

static void a_process_that_ends_before_it_greets_is_no_way_to_its_run(void **state) {
    (void)state;
    Asked a = {0};
    pid_t pid = owner_that_ends("t", true);
    client_call(at.client, "run_cancel", parse("{\"thread\": \"t\"}"), on_answer, &a);
    until_answered(&a);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    expect_contains(a.err.msg, "never began"); /* said here, of a run that nobody has */
}

static void a_client_that_ends_tells_whoever_waits_for_the_owner_of_a_run(void **state) {
    (void)state;
    Asked a = {0}, b = {0};
    Heard heard = {.text = BUF_INIT};
    pid_t pid = owner_that_ends("t", false);
    client_call(at.client, "run_cancel", parse("{\"thread\": \"t\"}"), on_answer, &a);
    ClientEvents *events = client_events(at.client, parse("{\"thread\": \"t\"}"),
                                         &(ClientListener){on_event, on_over, &heard});
    turn(200); /* it has looked, and looks again now and then */
    client_call(at.client, "run_cancel", parse("{\"thread\": \"t\"}"), on_answer,
                &b); /* it looks */
    client_free(at.client);
    at.client = NULL;
    expect_failure(&a, ERR_CANCELLED, "has ended");
    assert_int_equal(b.answers, 1);
    assert_int_equal(heard.over, 1);
    client_events_end(events);
    turn(100); /* longer than it waits before it looks again */
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    buf_clear(&heard.text);
}

static void an_operation_of_no_run_is_done_here(void **state) {
    (void)state;
    Asked a = {0};
    client_call(at.client, "store_info", json_none(), on_answer, &a);
    until_answered(&a);
    expect_json(json_object_get_c(a.answer, "runs"), "0");
    json_unref(a.answer);
    assert_null(at.client->remotes);
}

#define CLIENT(f) cmocka_unit_test_setup_teardown(f, up, down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CLIENT(a_call_is_one_line_and_may_be_made_before_the_other_side_greets),
        CLIENT(answers_find_their_calls_in_any_order),
        CLIENT(an_error_keeps_its_code_its_place_and_its_facts),
        CLIENT(what_is_no_answer_is_passed_over),
        CLIENT(a_process_that_goes_fails_the_calls_that_are_left),
        CLIENT(a_refusal_is_what_the_caller_is_told),
        CLIENT(another_version_is_left_with_a_sentence),
        CLIENT(a_process_that_never_greets_is_not_waited_for_forever),
        CLIENT(nobody_there_is_no_connection),
        CLIENT(a_client_that_ends_tells_every_asker_once),
        CLIENT(events_reach_their_listener_until_they_are_over),
        CLIENT(whoever_listens_no_more_says_so_to_the_other_side),
        CLIENT(a_run_that_there_is_not_is_said_as_it_is),
        CLIENT(a_process_that_ends_before_it_greets_is_no_way_to_its_run),
        CLIENT(a_client_that_ends_tells_whoever_waits_for_the_owner_of_a_run),
        CLIENT(an_operation_of_no_run_is_done_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
