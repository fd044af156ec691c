/* http_host.h - tests/http_server.py beside a test program, on loopback.
 *
 * server_start() once, before anything changes the folder; server_stop() in the end. The server goes
 * when its standard input ends, so it does not outlive us whatever happens. */
#ifndef PAWL_TESTS_HTTP_HOST_H
#define PAWL_TESTS_HTTP_HOST_H

#include "json_parse.h"

#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define HTTP_UNUSED __attribute__((unused))

static struct {
    pid_t pid;
    int input;
    char folder[64];
    int http, other, https, foreign;
    char ca[100];
} server;

static void server_script(char *out) {
    char here[PATH_MAX];
    snprintf(here, sizeof here, "%s", __FILE__);
    char *slash = strrchr(here, '/');
    snprintf(slash ? slash : here, 40, "%s", slash ? "/../http_server.py" : "../http_server.py");
    if (!realpath(here, out)) {
        fprintf(stderr, "There is no %s here.\n", here);
        exit(1);
    }
}

static void server_exec(const char *script, int in, int out) {
    dup2(in, 0);
    dup2(out, 1);
    for (int fd = 3; fd < 64; fd++) close(fd);
    execlp("python3", "python3", script, server.folder, (char *)NULL);
    _exit(127);
}

static int64_t server_int(Json said, const char *name) {
    return json_object_get_c(said, name).i;
}

static bool server_read(int fd) {
    char line[1000];
    size_t len = 0;
    for (ssize_t n; len < sizeof line && (n = read(fd, line + len, sizeof line - len)) > 0;) {
        len += (size_t)n;
        if (memchr(line, '\n', len)) break;
    }
    Json said = json_parse(line, len, NULL, NULL);
    if (json_is_none(said)) return false;
    server.http = (int)server_int(said, "http");
    server.other = (int)server_int(said, "other");
    server.https = (int)server_int(said, "https");
    server.foreign = (int)server_int(said, "foreign");
    snprintf(server.ca, sizeof server.ca, "%s/ca.pem", server.folder);
    json_unref(said);
    return true;
}

HTTP_UNUSED static void server_start(void) {
    static const char *const proxies[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                          "ALL_PROXY",  "no_proxy",    "NO_PROXY"};
    char script[PATH_MAX];
    int in[2], out[2];
    for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++) unsetenv(proxies[i]);
    signal(SIGPIPE, SIG_IGN);
    server_script(script);
    strcpy(server.folder, "/tmp/pawl-http-XXXXXX");
    if (!mkdtemp(server.folder) || pipe(in) || pipe(out)) exit(1);
    server.pid = fork();
    if (server.pid == 0) server_exec(script, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    server.input = in[1];
    if (!server_read(out[0])) {
        fprintf(stderr, "The server did not start; it needs python3 and openssl.\n");
        exit(1);
    }
    close(out[0]);
}

HTTP_UNUSED static void server_stop(void) {
    char command[100];
    close(server.input);
    waitpid(server.pid, NULL, 0);
    snprintf(command, sizeof command, "rm -rf '%s'", server.folder);
    if (system(command)) fprintf(stderr, "%s is left.\n", server.folder);
}

/* A URL of the server; borrowed until the eighth call from now. */
HTTP_UNUSED static const char *at(const char *path) {
    static char urls[8][2000];
    static int turn;
    char *url = urls[turn++ % 8];
    snprintf(url, sizeof urls[0], "http://127.0.0.1:%d%s", server.http, path);
    return url;
}

HTTP_UNUSED static size_t open_descriptors(void) {
    size_t n = 0;
    for (int fd = 0; fd < 4096; fd++) {
        char path[40], target[8];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        n += readlink(path, target, sizeof target) >= 0;
    }
    return n;
}

#endif
