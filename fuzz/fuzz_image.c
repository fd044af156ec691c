/* fuzz_image - the export of a run, whatever is in it, taken up and debugged.
 *
 *     {"export": document, "calls": [[operation, arguments], ...]}       or a document alone
 *
 * What the store has may be anything that export.h takes in: an image is data from outside. A run that
 * cannot be gone on with is refused with a sentence. One that can is opened, looked at and driven by
 * what session_api.h has; leaves a store that is sound, and an image that can be opened again. The same
 * run is also resumed without a debugger.
 */
#include "fuzz_world.h"

#include "export.h"
#include "image.h"
#include "json_parse.h"
#include "json_print.h"

enum {
    DOCUMENT_MAX = 4 << 20,
    DEPTH_MAX = 200,
    CALLS_MAX = 16,
    TURN_MS = 60 * 1000,
};

/* What is done with a document that does not say. */
static const char *const usual_calls[][2] = {
    {"session", "{}"},  {"frames", "{}"},   {"frame", "{}"},
    {"node", "{}"},     {"config", "{}"},   {"variables", "{}"},
    {"pending", "{}"},  {"injected", "{}"}, {"step", "{\"kind\":\"over\"}"},
    {"back", "{}"},     {"diff", "{}"},     {"step", "{\"kind\":\"into\"}"},
    {"history", "{}"},  {"continue", "{}"}, {"retry", "{}"},
    {"continue", "{}"},
};

static bool world_open(World *w, Json document) {
    Error err = ERROR_INIT;
    *w = (World){.store = store_open("memory:", STORE_CREATE, NULL),
                 .now = 1800000000000,
                 .turn_ms = TURN_MS};
    CHECK(w->store);
    if (!export_import(w->store, document, &w->row, &err)) {
        store_close(w->store);
        return false;
    }
    engine_up(w);
    return true;
}

/* ---- debugging ---- */

static void on_event(void *ctx, Json event) {
    (void)ctx;
    CHECK(json_kind(json_object_get_c(event, "event")) == JSON_STRING);
    json_unref(event);
}

static void call(World *w, Session *s, const char *name, Json args) {
    Error err = ERROR_INIT;
    Json answer = session_call(s, name, args, &err);
    CHECK(json_is_none(answer) ? err.code != ERR_NONE && err.msg[0]
                               : json_kind(answer) == JSON_OBJECT);
    json_unref(answer);
    turn(w);
}

static void call_usual(World *w, Session *s) {
    for (size_t i = 0; i < sizeof usual_calls / sizeof *usual_calls && !session_is_over(s); i++) {
        Json args = json_parse(usual_calls[i][1], strlen(usual_calls[i][1]), NULL, NULL);
        call(w, s, usual_calls[i][0], args);
    }
}

/* A name with a NUL in it is cut there, which is as good as another name. */
static void call_given(World *w, Session *s, Json calls) {
    size_t n = json_array_len(calls);
    for (size_t i = 0; i < n && i < CALLS_MAX && !session_is_over(s); i++) {
        Json row = json_array_get(calls, i);
        Json name = json_kind(row) == JSON_ARRAY ? json_array_get(row, 0) : json_none();
        if (json_kind(name) == JSON_STRING) {
            char text[64];
            snprintf(text, sizeof text, "%.*s", (int)json_string_len(name),
                     json_string_data(&name));
            call(w, s, text, json_ref(json_array_get(row, 1)));
        }
    }
}

static void drive(World *w, Run *run, Json calls) {
    Error err = ERROR_INIT;
    Session *s = session_attach(run, &(SessionOptions){.event = on_event}, &err);
    CHECK(s || (err.code != ERR_NONE && err.msg[0]));
    if (s) {
        turn(w);
        if (json_kind(calls) == JSON_ARRAY) {
            call_given(w, s, calls);
        } else {
            call_usual(w, s);
        }
        session_free(s);
    }
}

static Run *open_run(World *w) {
    Error err = ERROR_INIT;
    Run *run = engine_open_now(w->engine, w->row.thread, json_object(), &err);
    CHECK(run || (err.code != ERR_NONE && err.msg[0]));
    return run;
}

/* What it came to can be opened as what it came from could. */
static void open_again(World *w) {
    engine_down(w);
    engine_up(w);
    CHECK(open_run(w));
}

static void debug(Json document, Json calls) {
    World w;
    if (!world_open(&w, document)) {
        return;
    }
    Run *run = open_run(&w);
    if (run) {
        drive(&w, run, calls);
        turn(&w);
        open_again(&w);
    }
    world_down(&w);
}

static void resume(Json document) {
    World w;
    Error err = ERROR_INIT;
    if (!world_open(&w, document)) {
        return;
    }
    RunResume how = {.thread = w.row.thread, .value = json_none(), .set = json_none()};
    Run *run = engine_resume_now(w.engine, &how, &err);
    CHECK(run || (err.code != ERR_NONE && err.msg[0]));
    turn(&w);
    turn(&w);
    world_down(&w);
}

/* ---- inputs ---- */

static Json read_input(const uint8_t *data, size_t size) {
    JsonParseOptions options = {.max_bytes = DOCUMENT_MAX, .max_depth = DEPTH_MAX};
    return json_parse((const char *)data, size, &options, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t before = json_heap_bytes();
    Json input = read_input(data, size);
    if (json_kind(input) == JSON_OBJECT) {
        Json document = json_object_get_c(input, "export");
        bool wrapped = !json_is_none(document);
        debug(wrapped ? document : input,
              wrapped ? json_object_get_c(input, "calls") : json_none());
        resume(wrapped ? document : input);
    }
    json_unref(input);
    CHECK(json_heap_bytes() == before);
    return 0;
}

/* ---- mutations: of values, since one of bytes is hardly ever JSON ---- */

static uint32_t dice_state;

static uint32_t dice(uint32_t sides) {
    dice_state = dice_state * 1664525u + 1013904223u;
    return (dice_state >> 8) % sides;
}

static size_t size_of(Json j) {
    size_t n = 1;
    Json key, value;
    for (size_t i = 0; json_kind(j) == JSON_ARRAY && i < json_array_len(j); i++) {
        n += size_of(json_array_get(j, i));
    }
    for (size_t pos = 0; json_kind(j) == JSON_OBJECT && json_object_next(j, &pos, &key, &value);) {
        n += size_of(value);
    }
    return n;
}

/* The nth value of a document, in the order in which it is written; borrowed. */
static Json nth(Json j, size_t *n) {
    Json key, value, found = json_none();
    if ((*n)-- == 0) {
        return j;
    }
    for (size_t i = 0; json_kind(j) == JSON_ARRAY && i < json_array_len(j); i++) {
        found = nth(json_array_get(j, i), n);
        if (!json_is_none(found)) return found;
    }
    for (size_t pos = 0; json_kind(j) == JSON_OBJECT && json_object_next(j, &pos, &key, &value);) {
        found = nth(value, n);
        if (!json_is_none(found)) return found;
    }
    return found;
}

static Json any_of(Json document) {
    size_t n = dice((uint32_t)size_of(document));
    return json_ref(nth(document, &n));
}

static Json strange(void) {
    static const char *const texts[] = {
        "null",
        "true",
        "0",
        "1",
        "-1",
        "2",
        "9223372036854775807",
        "-9223372036854775808",
        "1800000000000",
        "1e300",
        "0.5",
        "\"\"",
        "\"1\"",
        "\"..\"",
        "[]",
        "{}",
        "[[]]",
        "[null]",
        "[\"pause\",null,{},1,0]",
        "[\"join\",null,[null],[\"a\"]]",
        "[\"go\"]",
        "[\"after\"]",
        "[\"sleep\",1]",
        "[\"tasks\",[0],0,0,0,null]",
        "[\"map\",[1],0,[null],0]",
        "[\"looked\"]",
        "[\"failing\",{},1,null]",
        "[\"cleaning\",null,null]",
        "[\"work\",\"1.1\",{},[]]",
        "[\"interrupt\",\"i1\",\"approval\",null,null]",
        "[\"retry\",1,\"1.1\",{},{},[]]",
        "[\"finished\"]",
        "[\"ended\",1]",
        "[\"error\",{}]",
        "[\"again\"]",
        "[\"done\"]",
        "\"copy\"",
        "[[1,\"1\",2,0,1],\"copy\",[1,\"1\"]]",
    };
    const char *text = texts[dice(sizeof texts / sizeof *texts)];
    return json_parse(text, strlen(text), NULL, NULL);
}

static Json other_number(Json j) {
    static const int64_t by[] = {1, -1, 2, 1000, -100000, INT64_C(1) << 40, -(INT64_C(1) << 62)};
    return json_int((int64_t)((uint64_t)j.i + (uint64_t)by[dice(sizeof by / sizeof *by)]));
}

/* What is to stand there instead; JSON_NONE: nothing. Borrows both. */
static Json changed(Json document, Json j) {
    uint32_t how = dice(8);
    if (how == 0) {
        return json_none();
    }
    if (how < 3) {
        return any_of(document);
    }
    if (json_tag(j) == JSON_TAG_INT && how < 7) {
        return other_number(j);
    }
    if (json_kind(j) == JSON_ARRAY && how < 5) {
        return json_array_push(json_ref(j), how == 3 ? strange() : any_of(document));
    }
    if (json_kind(j) == JSON_OBJECT && how < 5) {
        return json_object_with(json_ref(j), how == 3 ? "2" : "pending", any_of(document));
    }
    return strange();
}

/* The document with its nth value changed; consumes j. */
static Json change_nth(Json document, Json j, size_t *n) {
    Json key, value, all = json_ref(j);
    size_t len = json_kind(j) == JSON_ARRAY ? json_array_len(j) : 0;
    if ((*n)-- == 0) {
        Json out = changed(document, j);
        json_unref(j);
        json_unref(all);
        return out;
    }
    for (size_t i = 0; i < len && *n != SIZE_MAX; i++) {
        Json out = change_nth(document, json_ref(json_array_get(all, i)), n);
        j = json_is_none(out) ? json_array_splice(j, i, i + 1, json_array())
                              : json_array_set(j, i, out);
    }
    for (size_t pos = 0; json_kind(all) == JSON_OBJECT && *n != SIZE_MAX &&
                         json_object_next(all, &pos, &key, &value);) {
        Json out = change_nth(document, json_ref(value), n);
        j = json_is_none(out) ? json_object_remove(j, key) : json_object_set(j, json_ref(key), out);
    }
    json_unref(all);
    return j;
}

static Json change_one(Json document) {
    size_t n = dice((uint32_t)size_of(document));
    Json whole = json_ref(document);
    Json out = change_nth(whole, document, &n);
    json_unref(whole);
    return json_is_none(out) ? json_object() : out;
}

static Json add_call(Json calls) {
    uint32_t n = 0;
    while (session_operations[n].name) n++;
    Json row = json_array_push(json_array(), json_string_c(session_operations[dice(n)].name));
    calls = json_kind(calls) == JSON_ARRAY ? calls : json_array();
    return json_array_push(calls, json_array_push(row, dice(2) ? json_object() : strange()));
}

/* Mostly in what was recorded, and now and then in what is called or in the definition. */
static Json mutate(Json input) {
    Json document = json_object_get_c(input, "export");
    Json records = json_kind(document) == JSON_OBJECT ? json_object_get_c(document, "checkpoints")
                                                      : json_none();
    uint32_t where = dice(10);
    if (json_is_none(records) || where == 0) {
        return change_one(input);
    }
    if (where == 1) {
        return json_object_with(input, "calls",
                                add_call(json_ref(json_object_get_c(input, "calls"))));
    }
    document = json_object_with(json_ref(document), "checkpoints", change_one(json_ref(records)));
    return json_object_with(input, "export", document);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    Buf text = BUF_INIT;
    dice_state = seed;
    Json input = read_input(data, size);
    if (json_kind(input) == JSON_OBJECT) {
        for (uint32_t i = 0, n = 1 + dice(3); i < n && json_kind(input) == JSON_OBJECT; i++) {
            input = mutate(input);
        }
        json_print(input, NULL, &text);
    }
    if (text.len && text.len <= max) {
        memcpy(data, text.data, text.len);
        size = text.len;
    }
    buf_clear(&text);
    json_unref(input);
    return size;
}
