/* host_world.h - a host of its own for each test: a loop, a store in a folder of its own, and what is asked of it.
 */
#ifndef PAWL_TESTS_HOST_WORLD_H
#define PAWL_TESTS_HOST_WORLD_H

#include "folders.h"
#include "host.h"
#include "json_build.h"
#include "json_test.h"
#include "operation.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct World {
    uv_loop_t loop;
    char folder[32], url[80];
    Host *host;
} World;

static inline void world_up(World *w, const char *scheme) {
    *w = (World){.folder = "/tmp/pawl-host-XXXXXX"};
    assert_non_null(mkdtemp(w->folder));
    bool memory = !strcmp(scheme, "memory");
    snprintf(w->url, sizeof w->url, "%s:%s%s", scheme, memory ? "" : w->folder,
             memory ? "" : "/store");
    uv_loop_init(&w->loop);
    w->host = host_new(&(HostOptions){.loop = &w->loop, .store = w->url, .folder = w->folder});
}

static inline void world_down(World *w) {
    host_free(w->host);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    folder_remove(w->folder);
}

typedef struct Asked {
    int times;
    Json answer;
    Error err;
} Asked;

static inline void on_answer(void *ctx, Json answer, const Error *err) {
    Asked *a = ctx;
    a->times++;
    a->answer = answer;
    if (err) {
        a->err = *err;
    }
}

/* Consumes args. */
static inline void ask(World *w, Asked *a, const char *operation, Json args) {
    *a = (Asked){.answer = json_none()};
    operation_call(w->host, operation, args, (Reply){.give = on_answer, .ctx = a});
}

enum { PATIENCE_S = 120 }; /* for what takes milliseconds, also under a sanitizer */

static inline void wait_for(World *w, const Asked *a) {
    uint64_t begun = uv_hrtime();
    while (!a->times) {
        uv_run(&w->loop, UV_RUN_ONCE);
        if (uv_hrtime() - begun > PATIENCE_S * 1000000000ull) fail_msg("No answer has come.");
    }
    assert_int_equal(a->times, 1);
}

static inline void expect_answer(World *w, Asked *a) {
    wait_for(w, a);
    if (json_is_none(a->answer)) fail_msg("%s", a->err.msg);
}

/* Ask and have. */
static inline Json answer_of(World *w, const char *operation, Json args) {
    Asked a;
    ask(w, &a, operation, args);
    expect_answer(w, &a);
    return a.answer;
}

static inline void asked_clear(Asked *a) {
    json_unref(a->answer);
}

static inline Json definition(const char *text) {
    return OBJECT(KEY("main", "w.yaml"), KEY("files", OBJECT(KEY("w.yaml", text))));
}

static inline Json start_args(const char *thread, const char *text) {
    return OBJECT(KEY("thread", thread), KEY("definition", definition(text)));
}

static const char counts[] = "name: counts\nnodes:\n  - {name: a, jq: '{n: 1}'}\n";
static const char asks[] = "name: asks\nnodes:\n  - {name: a, approval: {prompt: 'Well?'}}\n";

/* Starts it, and waits until the store says that it has this status. */
static inline void run_until(World *w, const char *thread, const char *text, const char *status) {
    json_unref(answer_of(w, "run_start", start_args(thread, text)));
    for (bool there = false; !there;) {
        Json run = answer_of(w, "run_get", OBJECT(KEY("thread", thread)));
        there = json_string_is(json_object_get_c(run, "status"), status);
        json_unref(run);
    }
}

static inline const char *text_of(Json object, const char *key) {
    static char text[100];
    Json value = json_object_get_c(object, key);
    assert_int_equal(json_kind(value), JSON_STRING);
    snprintf(text, sizeof text, "%s", json_string_data(&value));
    return text;
}

#endif
