/* fuzz_host.h - a process that holds two runs, for fuzz targets that are doors to it: `t` asks somebody, `u` is paused by a
 * debugger. It is made anew for each input, and what is in its store is sound in the end.
 */
#ifndef PAWL_FUZZ_HOST_H
#define PAWL_FUZZ_HOST_H

#define _GNU_SOURCE /* mkdtemp, memmem */
#include "fuzz_values.h"

#include "client.h"
#include "folders.h"
#include "host.h"
#include "operation.h"
#include "store_chain.h"

#include <stdio.h>
#include <unistd.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

static struct {
    char folder[64], url[96];
    uv_loop_t loop;
    Client *client;
    Host *host;
} at;

static void remove_folder(void) {
    folder_remove(at.folder);
}

static void on_answer(void *ctx, Json answer, const Error *err) {
    CHECK(!err);
    json_unref(answer);
    *(bool *)ctx = true;
}

static void ask(const char *operation, const char *args) {
    bool answered = false;
    operation_call(at.host, operation, json_parse(args, strlen(args), NULL, NULL),
                   (Reply){.give = on_answer, .ctx = &answered});
    while (!answered) uv_run(&at.loop, UV_RUN_ONCE);
}

static void host_up(void) {
    if (!*at.folder) {
        strcpy(at.folder,
               access("/dev/shm", W_OK) == 0 ? "/dev/shm/fuzz-XXXXXX" : "/tmp/fuzz-XXXXXX");
        CHECK(mkdtemp(at.folder));
        atexit(remove_folder);
    }
    folder_remove(at.folder);
    CHECK(folder_make(at.folder));
    snprintf(at.url, sizeof at.url, "file:%s/s", at.folder);
    CHECK(uv_loop_init(&at.loop) == 0);
    at.client =
        client_new(&(ClientOptions){.loop = &at.loop, .store = at.url, .folder = at.folder});
    at.host = client_host(at.client);
    CHECK(host_store(at.host, HOST_CREATES, NULL));
    ask("run_start", "{\"thread\":\"t\",\"definition\":{\"main\":\"w.yaml\",\"files\":{\"w.yaml\":"
                     "\"nodes: [{name: a, approval: {prompt: Go?}}, {name: b, jq: '{n: 2}'}]\"}}}");
    ask("run_start", "{\"thread\":\"u\",\"definition\":{\"main\":\"w.yaml\",\"files\":{\"w.yaml\":"
                     "\"nodes: [{name: a, jq: '{n: 1}'}, {name: b, jq: '{n: 2}'}]\"}},"
                     "\"debug\":{\"pause_on_start\":true,\"window\":true}}");
}

static void see_problem(void *ctx, const char *thread, int64_t seq, const char *sentence) {
    (void)ctx, (void)thread, (void)seq;
    fprintf(stderr, "%s\n", sentence);
    abort();
}

/* The doors are closed. */
static void host_down(void) {
    CheckReport report;
    client_free(at.client);
    uv_run(&at.loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&at.loop) == 0);
    Store *s = store_open(at.url, STORE_READ, NULL);
    CHECK(s && chain_check(s, 0, &(CheckHost){.problem = see_problem}, &report, NULL));
    store_close(s);
}

#endif
