#include "worker_message.h"

#include "json_shape.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

static const ShapeName names[] = {
    {"RESULT", "{call: text, result: any|null}"},
    {"FAILURE", "{call: text, error: {type: text, message: text, traceback?: text, line?: int, "
                "limit?: bool, retire?: bool}}"},
    {"INTERRUPT", "{call: text, interrupt: any|null}"},
    {"LOG", "{call: text, log: text}"},
    {"UNSTARTED", "{spawn: int(1..4095)}"},
    {NULL, NULL},
};

static const char any_message[] = "RESULT|FAILURE|INTERRUPT|LOG|UNSTARTED";

static Shape *shape;

static void compile(void) {
    shape = shape_compile(any_message, names, NULL);
    if (!shape) abort(); /* the text above is wrong */
}

bool worker_message_read(Json message, WorkerMessage *out, Error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const struct {
        const char *key;
        WorkerSaid said;
    } rows[] = {{"result", SAID_RESULT},
                {"error", SAID_ERROR},
                {"interrupt", SAID_INTERRUPT},
                {"log", SAID_LOG},
                {"spawn", SAID_UNSTARTED}};
    pthread_once(&once, compile);
    if (!shape_check(shape, message, err)) return false;
    size_t i = 0;
    Json value = json_none();
    while (json_is_none(value = json_object_get_c(message, rows[i].key))) i++;
    *out = (WorkerMessage){
        .said = rows[i].said, .call = json_object_get_c(message, "call"), .value = value};
    if (out->said == SAID_UNSTARTED) {
        out->why = (int)json_to_double(value);
    } else if (out->said == SAID_ERROR) {
        Json line = json_object_get_c(value, "line");
        double number = json_is_none(line) ? 0 : json_to_double(line);
        out->type = json_object_get_c(value, "type");
        out->message = json_object_get_c(value, "message");
        out->traceback = json_object_get_c(value, "traceback");
        out->line = number > 0 && number < INT_MAX ? (int)number : 0;
        out->limit = json_truthy(json_object_get_c(value, "limit"));
        out->retire = json_truthy(json_object_get_c(value, "retire"));
    }
    return true;
}

/* A cut text ends with a whole character. */
void worker_message_text(Json text, Buf *out) {
    const char *bytes = json_string_data(&text);
    size_t len = strnlen(bytes, json_string_len(text));
    if (len > WORKER_TEXT_MAX) {
        len = WORKER_TEXT_MAX;
        while (len && ((unsigned char)bytes[len] & 0xC0) == 0x80) len--;
    }
    buf_reserve(out, len);
    buf_add(out, bytes, len);
    out->data[out->len] = '\0';
}

void worker_message_sentence(const WorkerMessage *error, Buf *out) {
    size_t from = out->len;
    worker_message_text(error->type, out);
    bool named = out->len > from;
    size_t after = out->len;
    if (named) buf_adds(out, ": ");
    size_t before = out->len;
    worker_message_text(error->message, out);
    if (out->len > before) return;
    out->len = after; /* it has no message */
    out->data[after] = '\0';
    if (!named) {
        buf_adds(out, "The code raised an exception that has neither a name nor a message.");
    }
}
