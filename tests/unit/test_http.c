/* The client against tests/http_server.py: what is promised in http.h. */
#include "http_host.h"

#include "http.h"
#include "json_print.h"
#include "mem.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* What came of a request. */
typedef struct Got {
    int ends;
    HttpEnd end;
    int status;
    char *body, *message, *url, *type, *twice, *empty;
    Json headers;
    int64_t took;
    size_t nbody;
    /* streams */
    Buf pieces;
    int npieces, stop_after, status_of_piece;
    HttpRequest *request;
    bool cancel_in_body, start_in_body;
} Got;

static uv_loop_t loop;
static HttpClient *client;
static size_t descriptors;

static int setup(void **state) {
    (void)state;
    descriptors = open_descriptors();
    assert_int_equal(uv_loop_init(&loop), 0);
    client = http_client_new(&loop, NULL);
    assert_non_null(client);
    alarm(120);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    http_client_free(client);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(open_descriptors(), descriptors);
    return 0;
}

static char *dup_text(const char *s) {
    return s ? mem_strndup(s, strlen(s)) : NULL;
}

static void on_end(void *ctx, const HttpAnswer *a) {
    Got *got = ctx;
    got->ends++;
    got->end = a->end;
    got->status = a->status;
    got->nbody = a->body.len;
    got->body = mem_strndup(a->body.data ? a->body.data : "", a->body.len);
    got->message = dup_text(a->message);
    got->url = dup_text(a->url);
    got->type = dup_text(http_header(a, "content-type"));
    got->twice = dup_text(http_header(a, "x-twice"));
    got->empty = dup_text(http_header(a, "x-empty"));
    got->took = a->finished - a->started;
    assert_true(a->started > 1600000000000 && a->finished >= a->started);
}

static void got_clear(Got *got) {
    mem_free(got->body);
    mem_free(got->message);
    mem_free(got->url);
    mem_free(got->type);
    mem_free(got->twice);
    mem_free(got->empty);
    json_unref(got->headers);
    buf_clear(&got->pieces);
    *got = (Got){0};
}

static HttpRequest *start(Got *got, HttpOptions options) {
    options.on_end = on_end;
    options.ctx = got;
    got->request = http_start(client, &options, NULL);
    assert_non_null(got->request);
    assert_int_equal(got->ends, 0);
    return got->request;
}

static void ask(Got *got, HttpOptions options) {
    start(got, options);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(got->ends, 1);
    if (got->end == HTTP_ANSWERED) assert_string_equal(got->message, "");
    if (got->end != HTTP_ANSWERED) {
        assert_int_equal(got->status, 0);
        assert_int_equal(got->message[strlen(got->message) - 1], '.');
    }
}

static void expect_part(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("`%s` is not in: %s", part, text);
}

/* Asks, expects that end and that part of the sentence. */
static void expect_end(HttpOptions options, HttpEnd end, const char *part) {
    Got got = {0};
    ask(&got, options);
    if (got.end != end) print_error("%d %s %s\n", got.end, got.message, got.body);
    assert_int_equal(got.end, end);
    expect_part(got.message, part);
    got_clear(&got);
}

/* What the server saw of the request: a text, for mem_free(). */
static char *echo(HttpOptions options, const char *filter) {
    Got got = {0};
    ask(&got, options);
    if (got.end != HTTP_ANSWERED) fail_msg("%s", got.message);
    assert_int_equal(got.status, 200);
    Json seen = json_parse(got.body, got.nbody, NULL, NULL);
    assert_false(json_is_none(seen));
    Json part = json_ref(seen);
    for (const char *word = filter; *word;) {
        size_t len = strcspn(word, ".");
        Json key = json_string(word, len);
        Json next =
            json_kind(part) == JSON_OBJECT ? json_ref(json_object_get(part, key)) : json_none();
        json_unref(key);
        json_unref(part);
        part = next;
        word += len + (word[len] == '.');
    }
    char *text = json_is_none(part) ? dup_text("(nothing)")
                 : json_kind(part) == JSON_STRING
                     ? mem_strndup(json_string_data(&part), json_string_len(part))
                     : json_to_text(part);
    json_unref(part);
    json_unref(seen);
    got_clear(&got);
    return text;
}

static void expect_echo(HttpOptions options, const char *filter, const char *want) {
    char *text = echo(options, filter);
    assert_string_equal(text, want);
    mem_free(text);
}

/* ---- answers ---- */

static void an_answer_has_status_headers_body_and_url(void **state) {
    (void)state;
    Got got = {0};
    ask(&got, (HttpOptions){.url = at("/json?{}")});
    assert_int_equal(got.end, HTTP_ANSWERED);
    assert_int_equal(got.status, 200);
    assert_string_equal(got.body, "{}");
    assert_string_equal(got.type, "application/json");
    assert_string_equal(got.url, at("/json?{}"));
    got_clear(&got);
}

static void any_status_is_an_answer(void **state) {
    static const int statuses[] = {204, 304, 404, 429, 500, 503};
    (void)state;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        char path[40];
        Got got = {0};
        snprintf(path, sizeof path, "/status/%d", statuses[i]);
        ask(&got, (HttpOptions){.url = at(path)});
        assert_int_equal(got.end, HTTP_ANSWERED);
        assert_int_equal(got.status, statuses[i]);
        got_clear(&got);
    }
}

static void headers_are_found_by_name_the_first_of_several(void **state) {
    (void)state;
    Got got = {0};
    ask(&got, (HttpOptions){.url = at("/cookie")});
    assert_string_equal(got.twice, "one");
    assert_string_equal(got.empty, "");
    got_clear(&got);
}

static void a_body_in_chunks_is_put_together(void **state) {
    (void)state;
    Got got = {0};
    ask(&got, (HttpOptions){.url = at("/stream/100000")});
    assert_int_equal(got.nbody, 100000);
    assert_int_equal(strspn(got.body, "x"), 100000);
    got_clear(&got);
}

static void a_packed_body_is_unpacked(void **state) {
    (void)state;
    Got got = {0};
    ask(&got, (HttpOptions){.url = at("/zeros/50000")});
    assert_int_equal(got.end, HTTP_ANSWERED);
    assert_int_equal(got.nbody, 50000);
    got_clear(&got);
}

static void head_has_no_body_and_its_length_is_no_matter(void **state) {
    (void)state;
    Got got = {0};
    ask(&got, (HttpOptions){.url = at("/bytes/5000"), .method = "HEAD", .max_response = 100});
    assert_int_equal(got.end, HTTP_ANSWERED);
    assert_int_equal(got.status, 200);
    assert_int_equal(got.nbody, 0);
    got_clear(&got);
}

/* ---- requests ---- */

static void without_a_body_it_is_get_and_with_one_post(void **state) {
    (void)state;
    expect_echo((HttpOptions){.url = at("/echo")}, "method", "GET");
    HttpOptions post = {.url = at("/echo"), .body = "hi", .body_len = 2};
    expect_echo(post, "method", "POST");
    expect_echo(post, "body", "hi");
    expect_echo(post, "headers.content-type", "(nothing)");
    expect_echo(post, "headers.expect", "(nothing)");
}

static void every_method_is_sent_as_it_is(void **state) {
    static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        HttpOptions bare = {.url = at("/echo"), .method = methods[i]};
        expect_echo(bare, "method", methods[i]);
        HttpOptions full = {.url = at("/echo"), .method = methods[i], .body = "x=1", .body_len = 3};
        expect_echo(full, "method", methods[i]);
        expect_echo(full, "body", "x=1");
    }
}

static void a_post_without_a_body_says_that_its_length_is_0(void **state) {
    (void)state;
    expect_echo((HttpOptions){.url = at("/echo"), .method = "POST"}, "headers.content-length", "0");
}

static void headers_are_sent_even_empty_ones(void **state) {
    HttpHeader headers[] = {{"X-One", "a: b; c"}, {"X-None", ""}, {"User-Agent", "mine"}};
    (void)state;
    HttpOptions options = {.url = at("/echo"), .headers = headers, .nheaders = 3};
    expect_echo(options, "headers.x-one", "a: b; c");
    expect_echo(options, "headers.x-none", "");
    expect_echo(options, "headers.user-agent", "mine");
}

static void a_megabyte_is_sent_whole(void **state) {
    (void)state;
    char *body = mem_alloc(1 << 20);
    memset(body, 'z', 1 << 20);
    HttpOptions options = {.url = at("/echo"), .body = body, .body_len = 1 << 20};
    char *seen = echo(options, "body");
    assert_int_equal(strlen(seen), 1 << 20);
    mem_free(seen);
    mem_free(body);
}

static void what_is_given_may_go_after_the_start(void **state) {
    (void)state;
    char url[200], body[] = "abc", value[] = "v", method[] = "PUT";
    HttpHeader header = {"x-v", value};
    Got got = {0};
    snprintf(url, sizeof url, "%s", at("/echo"));
    start(&got, (HttpOptions){.url = url,
                              .body = body,
                              .body_len = 3,
                              .headers = &header,
                              .nheaders = 1,
                              .method = method});
    memset(url, '!', sizeof url);
    memset(body, '!', sizeof body);
    memset(value, '!', sizeof value);
    memset(method, '!', sizeof method);
    uv_run(&loop, UV_RUN_DEFAULT);
    expect_part(got.body, "\"body\": \"abc\"");
    expect_part(got.body, "\"x-v\": \"v\"");
    expect_part(got.body, "PUT");
    got_clear(&got);
}

static void credentials_in_the_url_are_used_and_not_shown(void **state) {
    (void)state;
    char url[100];
    Got got = {0};
    snprintf(url, sizeof url, "http://user:pass@127.0.0.1:%d/auth", server.http);
    ask(&got, (HttpOptions){.url = url});
    assert_int_equal(got.status, 200);
    assert_string_equal(got.url, at("/auth"));
    got_clear(&got);
}

/* ---- refused ---- */

static void what_is_no_url_for_us_is_refused(void **state) {
    (void)state;
    expect_end((HttpOptions){.url = "file:///etc/passwd"}, HTTP_REFUSED, "neither http nor https");
    expect_end((HttpOptions){.url = "ftp://h/x"}, HTTP_REFUSED, "neither http nor https");
    expect_end((HttpOptions){.url = "gopher://h/x"}, HTTP_REFUSED, "neither http nor https");
    expect_end((HttpOptions){.url = "example.org/x"}, HTTP_REFUSED, "http://");
    expect_end((HttpOptions){.url = ""}, HTTP_REFUSED, "URL");
    expect_end((HttpOptions){.url = "http://"}, HTTP_REFUSED, "host");
    expect_end((HttpOptions){.url = at("/a b")}, HTTP_REFUSED, "@uri");
    expect_end((HttpOptions){.url = at("/\r\nX: y")}, HTTP_REFUSED, "@uri");
    expect_end((HttpOptions){.url = "ftp://me:secret@h/x"}, HTTP_REFUSED, "\"ftp://h/x\"");
    static const char *const wrong[] = {"http://me:pa/ss@h/x", "http://me:pa?s#s@h/x",
                                        "http://me:123456/s@h/x", "me:pa/ss@h/x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Got got = {0};
        ask(&got, (HttpOptions){.url = wrong[i]});
        if (got.end != HTTP_REFUSED) fail_msg("%s", wrong[i]);
        if (strstr(got.message, "pa") || strstr(got.message, "me:")) fail_msg("%s", got.message);
        if (strstr(got.url, "pa") || strstr(got.url, "me:")) fail_msg("%s", got.url);
        got_clear(&got);
    }
    expect_end((HttpOptions){.url = "http://h:99999/"}, HTTP_REFUSED, "ort number");
}

static void headers_and_methods_cannot_smuggle_lines(void **state) {
    static const HttpHeader bad[] = {{"X", "a\r\nY: b"},
                                     {"X\r\nY", "b"},
                                     {"X Y", "b"},
                                     {"", "b"},
                                     {"X:", "b"},
                                     {"X", "a\nb"},
                                     {"Content-Length", "5"},
                                     {"transfer-encoding", "chunked"}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        HttpOptions options = {.url = at("/echo"), .headers = &bad[i], .nheaders = 1};
        expect_end(options, HTTP_REFUSED, "header");
    }
    expect_end((HttpOptions){.url = at("/echo"), .method = "GET / HTTP/1.1\r\nX:"}, HTTP_REFUSED,
               "method");
    expect_end((HttpOptions){.url = at("/echo"), .method = ""}, HTTP_REFUSED, "method");
}

/* ---- unreached ---- */

static void a_port_nobody_listens_at_is_named(void **state) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    char url[100], host[100];
    (void)state;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    snprintf(host, sizeof host, "127.0.0.1:%d: Connection refused", ntohs(address.sin_port));
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
    expect_end((HttpOptions){.url = url}, HTTP_UNREACHED, host);
    close(fd);
}

static void a_connection_that_ends_early_says_how(void **state) {
    (void)state;
    expect_end((HttpOptions){.url = at("/close")}, HTTP_UNREACHED, "without an answer");
    expect_end((HttpOptions){.url = at("/cut")}, HTTP_UNREACHED, "broke");
    expect_end((HttpOptions){.url = at("/rubbish")}, HTTP_UNREACHED, "not HTTP");
    expect_end((HttpOptions){.url = at("/badgzip")}, HTTP_UNREACHED, "unpacked");
}

static void a_proxy_of_the_environment_is_used(void **state) {
    char proxy[100];
    (void)state;
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", server.other);
    setenv("http_proxy", proxy, 1);
    /* The server takes the whole URL for a path it does not know, and closes. */
    expect_end((HttpOptions){.url = "http://nowhere.invalid/"}, HTTP_UNREACHED,
               "without an answer");
    setenv("no_proxy", "127.0.0.1", 1);
    expect_echo((HttpOptions){.url = at("/echo")}, "method", "GET");
    unsetenv("http_proxy");
    unsetenv("no_proxy");
}

/* ---- limits ---- */

static void a_slow_answer_times_out(void **state) {
    (void)state;
    Got got = {0};
    ask(&got, (HttpOptions){.url = at("/hang"), .timeout_ms = 100});
    assert_int_equal(got.end, HTTP_TIMEOUT);
    expect_part(got.message, "within 100 ms");
    assert_in_range(got.took, 80, 30000);
    got_clear(&got);
    expect_end((HttpOptions){.url = at("/drip/3000/20"), .timeout_ms = 1000}, HTTP_TIMEOUT,
               "did not finish");
    expect_end((HttpOptions){.url = at("/to/302?/hang"), .timeout_ms = 150, .max_redirects = 3},
               HTTP_TIMEOUT, "within 150 ms");
}

static void a_connection_that_does_not_come_about_times_out(void **state) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    char url[100];
    int fds[8];
    (void)state;
    /* Its queue is full: nobody accepts. */
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    assert_int_equal(listen(fd, 0), 0);
    for (int i = 0; i < 8; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(fds[i], (struct sockaddr *)&address, sizeof address);
    }
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
    expect_end((HttpOptions){.url = url, .connect_timeout_ms = 100}, HTTP_TIMEOUT,
               "No connection to 127.0.0.1");
    for (int i = 0; i < 8; i++) close(fds[i]);
    close(fd);
}

static void an_answer_over_the_limit_is_ended(void **state) {
    (void)state;
    expect_end((HttpOptions){.url = at("/bytes/1001"), .max_response = 1000}, HTTP_TOO_LARGE,
               "1000 bytes");
    expect_end((HttpOptions){.url = at("/stream/1001"), .max_response = 1000}, HTTP_TOO_LARGE,
               "1000 bytes");
    expect_end((HttpOptions){.url = at("/stream/20000000")}, HTTP_TOO_LARGE, "16777216 bytes");
    Got got = {0};
    ask(&got, (HttpOptions){.url = at("/stream/1000"), .max_response = 1000});
    assert_int_equal(got.nbody, 1000);
    got_clear(&got);
}

static void the_limit_holds_for_what_is_unpacked(void **state) {
    (void)state;
    expect_end((HttpOptions){.url = at("/zeros/5000000"), .max_response = 100000}, HTTP_TOO_LARGE,
               "100000 bytes");
}

static void headers_have_a_limit(void **state) {
    (void)state;
    expect_end((HttpOptions){.url = at("/headers/290000")}, HTTP_TOO_LARGE, "headers");
    Got got = {0};
    ask(&got, (HttpOptions){.url = at("/headers/50000")});
    assert_int_equal(got.status, 200);
    got_clear(&got);
}

/* ---- redirects ---- */

static void redirects_are_answers_unless_asked_for(void **state) {
    (void)state;
    Got got = {0};
    ask(&got, (HttpOptions){.url = at("/redirect/1")});
    assert_int_equal(got.status, 302);
    assert_string_equal(got.body, "moved");
    got_clear(&got);
}

static void redirects_are_followed_to_the_limit(void **state) {
    (void)state;
    Got got = {0};
    ask(&got, (HttpOptions){.url = at("/redirect/5"), .max_redirects = 5});
    assert_int_equal(got.status, 200);
    assert_string_equal(got.url, at("/echo"));
    expect_part(got.body, "\"path\": \"/echo\"");
    got_clear(&got);
    expect_end((HttpOptions){.url = at("/redirect/6"), .max_redirects = 5}, HTTP_UNREACHED,
               "after 5 redirects");
}

static void redirects_to_other_schemes_are_refused(void **state) {
    (void)state;
    static const char *const paths[] = {"/to/302?file:///etc/passwd", "/to/301?ftp://h/x",
                                        "/to/307?gopher://h/", "/to/303?javascript:alert(1)",
                                        "/to/308?dict://h/"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        HttpOptions options = {.url = at(paths[i]), .max_redirects = 5};
        expect_end(options, HTTP_REFUSED, "redirects to");
    }
}

static void a_redirect_keeps_or_drops_method_and_body(void **state) {
    static const struct {
        const char *path, *method, *after, *body;
    } cases[] = {
        {"/to/301?/echo", "POST", "GET", ""},    {"/to/302?/echo", "POST", "GET", ""},
        {"/to/303?/echo", "POST", "GET", ""},    {"/to/303?/echo", "PUT", "GET", ""},
        {"/to/307?/echo", "POST", "POST", "hi"}, {"/to/308?/echo", "PUT", "PUT", "hi"},
        {"/to/301?/echo", "PUT", "PUT", "hi"},   {"/to/302?/echo", "GET", "GET", "hi"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        HttpOptions options = {.url = at(cases[i].path),
                               .method = cases[i].method,
                               .body = "hi",
                               .body_len = 2,
                               .max_redirects = 2};
        expect_echo(options, "method", cases[i].after);
        expect_echo(options, "body", cases[i].body);
    }
}

static void secrets_stay_with_their_host(void **state) {
    HttpHeader headers[] = {
        {"Authorization", "Bearer k"}, {"X-Api-Key", "k"}, {"Cookie", "k=1"}, {"Accept", "text/x"}};
    char path[200];
    (void)state;
    snprintf(path, sizeof path, "/to/307?http://127.0.0.1:%d/echo", server.other);
    HttpOptions abroad = {.url = at(path), .headers = headers, .nheaders = 4, .max_redirects = 3};
    expect_echo(abroad, "headers.authorization", "(nothing)");
    expect_echo(abroad, "headers.x-api-key", "(nothing)");
    expect_echo(abroad, "headers.cookie", "(nothing)");
    expect_echo(abroad, "headers.accept", "text/x");
    HttpOptions home = abroad;
    home.url = at("/to/307?/echo");
    expect_echo(home, "headers.authorization", "Bearer k");
    expect_echo(home, "headers.x-api-key", "k");
    snprintf(path, sizeof path, "/to/307?http://127.0.0.1:%d/to/307?http://127.0.0.1:%d/echo",
             server.other, server.http);
    HttpOptions back = abroad;
    back.url = at(path);
    expect_echo(back, "headers.x-api-key", "(nothing)");
}

static void credentials_of_the_url_stay_with_their_host(void **state) {
    char url[300];
    (void)state;
    snprintf(url, sizeof url, "http://user:pass@127.0.0.1:%d/to/302?/echo", server.http);
    HttpOptions home = {.url = url, .max_redirects = 3};
    expect_echo(home, "headers.authorization", "Basic dXNlcjpwYXNz");
    snprintf(url, sizeof url, "http://user:pass@127.0.0.1:%d/to/302?http://127.0.0.1:%d/echo",
             server.http, server.other);
    HttpOptions abroad = {.url = url, .max_redirects = 3};
    expect_echo(abroad, "headers.authorization", "(nothing)");
}

/* ---- where it may go ---- */

static const char *at_host(const char *host, const char *path) {
    static char url[300];
    snprintf(url, sizeof url, "http://%s:%d%s", host, server.http, path);
    return url;
}

/* Asks for a URL under two policies; whether it was answered, and otherwise that it may not. */
static bool may_ask(const char *first, const char *second, const char *url) {
    const NetPolicy *nets[] = {net_policy_parse(first, NULL), net_policy_parse(second, NULL)};
    Got got = {0};
    ask(&got, (HttpOptions){.url = url, .nets = nets, .nnets = 2, .max_redirects = 3});
    bool answered = got.end == HTTP_ANSWERED;
    if (!answered && got.end != HTTP_FORBIDDEN) fail_msg("%s: %s", url, got.message);
    if (!answered) expect_part(got.message, "is none that requests may go to here");
    got_clear(&got);
    for (int i = 0; i < 2; i++) net_policy_free((NetPolicy *)(uintptr_t)nets[i]);
    return answered;
}

static void a_request_goes_only_where_all_policies_allow(void **state) {
    (void)state;
    static const char *const spellings[] = {"127.0.0.1",
                                            "127.1",
                                            "0x7f000001",
                                            "2130706433",
                                            "017700000001",
                                            "localhost",
                                            "LocalHost",
                                            "[::ffff:127.0.0.1]",
                                            "[::ffff:7f00:1]",
                                            "0.0.0.0",
                                            "0",
                                            "[::1]",
                                            "[::]"};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        if (may_ask("public", "any", at_host(spellings[i], "/echo"))) fail_msg("%s", spellings[i]);
        if (may_ask("any", "10.0.0.0/8", at_host(spellings[i], "/echo")))
            fail_msg("%s", spellings[i]);
    }
    assert_true(may_ask("any", "any", at("/echo")));
    assert_true(may_ask("127.0.0.0/8", "public, 127.0.0.1", at("/echo")));
    assert_false(may_ask("127.0.0.0/8", "public", at("/echo")));
    assert_false(may_ask("public", "127.0.0.0/8", at("/echo")));
    assert_true(may_ask("localhost", "localhost", at_host("localhost", "/echo")));
    assert_false(may_ask("localhost", "localhost", at("/echo")));
    expect_end((HttpOptions){.url = at("/echo"), .nets = &(const NetPolicy *){NULL}, .nnets = 0},
               HTTP_ANSWERED, "");
}

static void a_redirect_goes_only_there_too(void **state) {
    char path[200];
    (void)state;
    snprintf(path, sizeof path, "/to/302?http://127.0.0.1:%d/echo", server.http);
    assert_true(may_ask("any", "any", at_host("localhost", path)));
    assert_true(may_ask("localhost, 127.0.0.1", "any", at_host("localhost", path)));
    assert_false(may_ask("localhost", "any", at_host("localhost", path)));
}

/* One that is kept from a request with other rules. */
static void a_connection_that_is_kept_is_looked_at_again(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        expect_echo((HttpOptions){.url = at("/echo")}, "method", "GET");
        assert_false(may_ask("public", "any", at("/echo")));
    }
}

/* A proxy would look the name up, and nobody could say where the request goes. */
static void no_proxy_stands_between_a_policy_and_the_address(void **state) {
    char proxy[100];
    (void)state;
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", server.other);
    setenv("http_proxy", proxy, 1);
    assert_false(may_ask("127.0.0.0/8", "any", "http://192.0.2.1/echo"));
    unsetenv("http_proxy");
}

/* ---- TLS ---- */

static const char *secure(const char *path, const char *host) {
    static char url[200];
    snprintf(url, sizeof url, "https://%s:%d%s", host, server.https, path);
    return url;
}

static void a_certificate_nobody_vouches_for_is_refused(void **state) {
    (void)state;
    expect_end((HttpOptions){.url = secure("/echo", "127.0.0.1")}, HTTP_INSECURE_PEER,
               "self-signed certificate");
}

static void a_certificate_is_taken_when_its_authority_is_named(void **state) {
    (void)state;
    HttpOptions options = {.url = secure("/echo", "127.0.0.1"), .ca_file = server.ca};
    expect_echo(options, "method", "GET");
}

static void a_certificate_for_another_name_is_refused(void **state) {
    char url[100];
    (void)state;
    snprintf(url, sizeof url, "https://127.0.0.2:%d/echo", server.foreign);
    HttpOptions options = {.url = url, .ca_file = server.ca};
    expect_end(options, HTTP_INSECURE_PEER, "127.0.0.2");
    options.insecure = true;
    expect_echo(options, "method", "GET");
}

static void authorities_that_cannot_be_read_are_named(void **state) {
    (void)state;
    HttpOptions options = {.url = secure("/echo", "127.0.0.1"), .ca_file = "/nowhere.pem"};
    expect_end(options, HTTP_INSECURE_PEER, "/nowhere.pem");
}

static void insecure_takes_any_certificate(void **state) {
    (void)state;
    HttpOptions options = {.url = secure("/echo", "127.0.0.1"), .insecure = true};
    expect_echo(options, "method", "GET");
    /* And not for those that come after. */
    expect_end((HttpOptions){.url = secure("/echo", "127.0.0.1")}, HTTP_INSECURE_PEER,
               "certificate");
}

static void https_where_http_is_spoken_says_so(void **state) {
    char url[100];
    (void)state;
    snprintf(url, sizeof url, "https://127.0.0.1:%d/", server.http);
    expect_end((HttpOptions){.url = url}, HTTP_INSECURE_PEER, "https");
}

/* ---- streams ---- */

static void ignore_end(void *ctx, const HttpAnswer *answer) {
    (*(int *)ctx) += answer->end == HTTP_ANSWERED;
}

static int started_inside;

static bool on_piece(void *ctx, int status, const char *bytes, size_t len) {
    Got *got = ctx;
    buf_add(&got->pieces, bytes, len);
    got->npieces++;
    got->status_of_piece = status;
    if (got->cancel_in_body) http_cancel(got->request);
    if (got->start_in_body && got->npieces == 1) {
        HttpOptions options = {.url = at("/echo"), .on_end = ignore_end, .ctx = &started_inside};
        assert_non_null(http_start(client, &options, NULL));
        options.url = "file:///x";
        assert_non_null(http_start(client, &options, NULL));
    }
    return got->npieces != got->stop_after;
}

static void a_stream_comes_in_pieces(void **state) {
    (void)state;
    Got got = {0};
    ask(&got, (HttpOptions){.url = at("/drip/5/10"), .on_body = on_piece});
    assert_int_equal(got.end, HTTP_ANSWERED);
    assert_string_equal(got.pieces.data, "line 0\nline 1\nline 2\nline 3\nline 4\n");
    assert_true(got.npieces >= 3);
    assert_int_equal(got.status_of_piece, 200);
    assert_int_equal(got.nbody, 0);
    got_clear(&got);
}

static void a_stream_can_be_stopped(void **state) {
    (void)state;
    Got got = {.stop_after = 2};
    ask(&got, (HttpOptions){.url = at("/drip/1000/10"), .on_body = on_piece});
    assert_int_equal(got.end, HTTP_ANSWERED);
    assert_int_equal(got.status, 200);
    assert_int_equal(got.npieces, 2);
    got_clear(&got);
}

static void a_stream_has_a_limit_too(void **state) {
    (void)state;
    Got got = {0};
    ask(&got,
        (HttpOptions){.url = at("/stream/100000"), .on_body = on_piece, .max_response = 50000});
    assert_int_equal(got.end, HTTP_TOO_LARGE);
    assert_true(got.pieces.len <= 50000);
    got_clear(&got);
}

static void a_stream_may_be_cancelled_from_its_own_piece(void **state) {
    (void)state;
    Got got = {.cancel_in_body = true};
    start(&got, (HttpOptions){.url = at("/drip/1000/10"), .on_body = on_piece});
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(got.ends, 0);
    assert_int_equal(got.npieces, 1);
    got_clear(&got);
}

static void requests_may_be_started_from_a_piece(void **state) {
    (void)state;
    Got got = {.start_in_body = true};
    started_inside = 0;
    ask(&got, (HttpOptions){.url = at("/drip/3/10"), .on_body = on_piece});
    assert_int_equal(got.end, HTTP_ANSWERED);
    assert_int_equal(started_inside, 1);
    got_clear(&got);
}

/* ---- many, and the end of them ---- */

static void two_hundred_at_once_take_the_time_of_one(void **state) {
    enum { N = 200 };
    static Got got[N];
    (void)state;
    uint64_t before = uv_hrtime();
    for (int i = 0; i < N; i++) start(&got[i], (HttpOptions){.url = at("/slow/300")});
    uv_run(&loop, UV_RUN_DEFAULT);
    for (int i = 0; i < N; i++) {
        if (got[i].end != HTTP_ANSWERED) fail_msg("%s", got[i].message);
        assert_int_equal(got[i].ends, 1);
        assert_string_equal(got[i].body, "late");
        got_clear(&got[i]);
    }
    assert_true((uv_hrtime() - before) / 1000000 < 30000);
    assert_true(open_descriptors() < descriptors + 100);
}

static size_t most_held;

static void look_at_held(uv_prepare_t *prepare) {
    size_t held = http_client_held(client);
    (void)prepare;
    most_held = held > most_held ? held : most_held;
}

static void answers_together_are_held_to_a_bound(void **state) {
    enum { N = 16, EACH = 3 << 20, HELD = 4 << 20 };
    static Got got[N];
    static uv_prepare_t prepare;
    (void)state;
    uv_prepare_init(&loop, &prepare);
    uv_prepare_start(&prepare, look_at_held);
    uv_unref((uv_handle_t *)&prepare);
    http_client_hold(client, HELD);
    for (int i = 0; i < N; i++) {
        start(&got[i], (HttpOptions){.url = at("/bytes/3145728"), .timeout_ms = 60000});
    }
    Got gone = {0};
    start(&gone, (HttpOptions){.url = at("/bytes/3145728"), .timeout_ms = 60000});
    for (int i = 0; i < 5 && !gone.ends; i++) uv_run(&loop, UV_RUN_ONCE);
    if (!gone.ends) http_cancel(gone.request);
    uv_run(&loop, UV_RUN_DEFAULT);
    for (int i = 0; i < N; i++) {
        if (got[i].end != HTTP_ANSWERED) fail_msg("%s", got[i].message);
        assert_int_equal(got[i].nbody, EACH);
        got_clear(&got[i]);
    }
    got_clear(&gone);
    if (most_held > HELD + EACH) fail_msg("%zu bytes at once", most_held);
    assert_int_equal(http_client_held(client), 0);
    uv_close((uv_handle_t *)&prepare, NULL);
}

static void more_than_there_may_be_queue_and_their_time_counts(void **state) {
    enum { N = 520, LATE = 4 };
    static Got got[N + LATE];
    (void)state;
    for (int i = 0; i < N; i++) {
        start(&got[i], (HttpOptions){.url = at("/slow/1200"), .timeout_ms = 60000});
    }
    for (int i = N; i < N + LATE; i++) {
        start(&got[i], (HttpOptions){.url = at("/echo"), .timeout_ms = 100});
    }
    http_cancel(got[N + LATE - 1].request);
    uv_run(&loop, UV_RUN_DEFAULT);
    for (int i = 0; i < N; i++) {
        if (got[i].end != HTTP_ANSWERED) fail_msg("%d %s", i, got[i].message);
        assert_int_equal(got[i].ends, 1);
        got_clear(&got[i]);
    }
    for (int i = N; i < N + LATE - 1; i++) {
        assert_int_equal(got[i].end, HTTP_TIMEOUT);
        expect_part(got[i].message, "its turn");
        assert_in_range(got[i].took, 100, 30000);
        got_clear(&got[i]);
    }
    assert_int_equal(got[N + LATE - 1].ends, 0);
}

static void connections_are_kept_for_the_next(void **state) {
    (void)state;
    expect_echo((HttpOptions){.url = at("/echo")}, "method", "GET");
    size_t open = open_descriptors();
    for (int i = 0; i < 20; i++) expect_echo((HttpOptions){.url = at("/echo")}, "method", "GET");
    assert_int_equal(open_descriptors(), open);
}

static void a_cancelled_request_never_ends(void **state) {
    (void)state;
    Got a = {0}, b = {0}, c = {0};
    start(&a, (HttpOptions){.url = at("/hang")});
    start(&b, (HttpOptions){.url = at("/echo")});
    start(&c, (HttpOptions){.url = "file:///x"});
    http_cancel(c.request);
    uv_run(&loop, UV_RUN_NOWAIT);
    http_cancel(a.request);
    http_cancel(NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(a.ends, 0);
    assert_int_equal(b.ends, 1);
    assert_int_equal(c.ends, 0);
    got_clear(&b);
}

static Got second;

static void start_another(void *ctx, const HttpAnswer *answer) {
    on_end(ctx, answer);
    start(&second, (HttpOptions){.url = at("/json?2")});
}

static void the_next_may_be_started_at_the_end_of_one(void **state) {
    (void)state;
    Got got = {0};
    HttpOptions options = {.url = at("/json?1"), .on_end = start_another, .ctx = &got};
    second = (Got){0};
    assert_non_null(http_start(client, &options, NULL));
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_string_equal(got.body, "1");
    assert_string_equal(second.body, "2");
    got_clear(&got);
    got_clear(&second);
}

static void free_client(void *ctx, const HttpAnswer *answer) {
    on_end(ctx, answer);
    http_client_free(client);
    client = NULL;
}

static void the_client_may_go_at_the_end_of_a_request(void **state) {
    (void)state;
    Got got = {0}, never = {0};
    HttpOptions options = {.url = at("/echo"), .on_end = free_client, .ctx = &got};
    start(&never, (HttpOptions){.url = at("/hang")});
    assert_non_null(http_start(client, &options, NULL));
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(got.ends, 1);
    assert_int_equal(never.ends, 0);
    got_clear(&got);
}

static void the_client_goes_with_requests_under_way(void **state) {
    (void)state;
    Got got[3] = {{0}};
    for (int i = 0; i < 3; i++) start(&got[i], (HttpOptions){.url = at("/hang")});
    for (int i = 0; i < 5; i++) uv_run(&loop, UV_RUN_NOWAIT);
    http_client_free(client);
    client = NULL;
    uv_run(&loop, UV_RUN_DEFAULT);
    for (int i = 0; i < 3; i++) assert_int_equal(got[i].ends, 0);
}

static int sockets_of_a_child(void) {
    return system("exit $(ls -l /proc/self/fd | grep -c socket:)") >> 8;
}

static void children_do_not_inherit_connections(void **state) {
    (void)state;
    Got got = {0};
    int before = sockets_of_a_child();
    size_t open = open_descriptors();
    start(&got, (HttpOptions){.url = at("/hang")});
    for (int i = 0; i < 20; i++) uv_run(&loop, UV_RUN_NOWAIT);
    assert_true(open_descriptors() > open);
    assert_int_equal(sockets_of_a_child(), before);
    http_cancel(got.request);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_answer_has_status_headers_body_and_url),
        TEST(any_status_is_an_answer),
        TEST(headers_are_found_by_name_the_first_of_several),
        TEST(a_body_in_chunks_is_put_together),
        TEST(a_packed_body_is_unpacked),
        TEST(head_has_no_body_and_its_length_is_no_matter),
        TEST(without_a_body_it_is_get_and_with_one_post),
        TEST(every_method_is_sent_as_it_is),
        TEST(a_post_without_a_body_says_that_its_length_is_0),
        TEST(headers_are_sent_even_empty_ones),
        TEST(a_megabyte_is_sent_whole),
        TEST(what_is_given_may_go_after_the_start),
        TEST(credentials_in_the_url_are_used_and_not_shown),
        TEST(what_is_no_url_for_us_is_refused),
        TEST(headers_and_methods_cannot_smuggle_lines),
        TEST(a_port_nobody_listens_at_is_named),
        TEST(a_connection_that_ends_early_says_how),
        TEST(a_proxy_of_the_environment_is_used),
        TEST(a_request_goes_only_where_all_policies_allow),
        TEST(a_redirect_goes_only_there_too),
        TEST(a_connection_that_is_kept_is_looked_at_again),
        TEST(no_proxy_stands_between_a_policy_and_the_address),
        TEST(a_slow_answer_times_out),
        TEST(a_connection_that_does_not_come_about_times_out),
        TEST(an_answer_over_the_limit_is_ended),
        TEST(the_limit_holds_for_what_is_unpacked),
        TEST(headers_have_a_limit),
        TEST(redirects_are_answers_unless_asked_for),
        TEST(redirects_are_followed_to_the_limit),
        TEST(redirects_to_other_schemes_are_refused),
        TEST(a_redirect_keeps_or_drops_method_and_body),
        TEST(secrets_stay_with_their_host),
        TEST(credentials_of_the_url_stay_with_their_host),
        TEST(a_certificate_nobody_vouches_for_is_refused),
        TEST(a_certificate_is_taken_when_its_authority_is_named),
        TEST(a_certificate_for_another_name_is_refused),
        TEST(authorities_that_cannot_be_read_are_named),
        TEST(insecure_takes_any_certificate),
        TEST(https_where_http_is_spoken_says_so),
        TEST(a_stream_comes_in_pieces),
        TEST(a_stream_can_be_stopped),
        TEST(a_stream_has_a_limit_too),
        TEST(a_stream_may_be_cancelled_from_its_own_piece),
        TEST(requests_may_be_started_from_a_piece),
        TEST(two_hundred_at_once_take_the_time_of_one),
        TEST(answers_together_are_held_to_a_bound),
        TEST(more_than_there_may_be_queue_and_their_time_counts),
        TEST(connections_are_kept_for_the_next),
        TEST(a_cancelled_request_never_ends),
        TEST(the_next_may_be_started_at_the_end_of_one),
        TEST(the_client_may_go_at_the_end_of_a_request),
        TEST(the_client_goes_with_requests_under_way),
        TEST(children_do_not_inherit_connections),
    };
    server_start();
    /* What libuv and libcurl open once and keep. */
    setup(NULL);
    expect_echo((HttpOptions){.url = at("/echo")}, "method", "GET");
    http_client_free(client);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    server_stop();
    return failed;
}
