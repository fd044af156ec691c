/* fuzz_calls.h - calls of session_api.h, for fuzz targets that debug a run.
 *
 * Whatever is asked and of whichever run: an answer is an object, a refusal has a code and a sentence.
 */
#ifndef PAWL_FUZZ_CALLS_H
#define PAWL_FUZZ_CALLS_H

#include "fuzz_world.h"

#include "json_parse.h"

enum { FUZZ_CALLS_MAX = 16 };

static inline void on_event(void *ctx, Json event) {
    (void)ctx;
    CHECK(json_kind(json_object_get_c(event, "event")) == JSON_STRING);
    json_unref(event);
}

/* Consumes the arguments. */
static inline void call(World *w, Session *s, const char *name, Json args) {
    Error err = ERROR_INIT;
    Json answer = session_call(s, name, args, &err);
    CHECK(json_is_none(answer) ? err.code != ERR_NONE && err.msg[0]
                               : json_kind(answer) == JSON_OBJECT);
    json_unref(answer);
    turn(w);
}

/* Rows of [operation, arguments]; those of another shape are passed over. A name with a NUL in it is cut
 * there, which is as good as another name. */
static inline void call_all(World *w, Session *s, Json calls) {
    size_t n = json_array_len(calls);
    for (size_t i = 0; i < n && i < FUZZ_CALLS_MAX && !session_is_over(s); i++) {
        Json row = json_array_get(calls, i), name = json_array_get(row, 0);
        char text[64];
        snprintf(text, sizeof text, "%.*s", (int)json_string_len(name), json_string_data(&name));
        call(w, s, text, json_ref(json_array_get(row, 1)));
    }
}

/* A session of the run in which `calls` are called, or those of the text where that is no array. */
static inline void debug_run(World *w, Run *run, Json calls, const char *usual) {
    Error err = ERROR_INIT;
    Session *s = session_attach(run, &(SessionOptions){.event = on_event}, &err);
    CHECK(s || (err.code != ERR_NONE && err.msg[0]));
    if (!s) return;
    turn(w);
    calls = json_kind(calls) == JSON_ARRAY ? json_ref(calls)
                                           : json_parse(usual, strlen(usual), NULL, NULL);
    CHECK(json_kind(calls) == JSON_ARRAY);
    call_all(w, s, calls);
    json_unref(calls);
    session_free(s);
    turn(w);
}

#endif
