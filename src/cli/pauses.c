#include "pauses.h"

#include "view_text.h"
#include "fields.h"
#include "output.h"
#include "terminal.h"

/* ---- parts ---- */

static void add_text(Buf *out, Json text) {
    if (field_is_text(text)) {
        say_safe(json_string_data(&text), json_string_len(text), out);
    }
}

static const char *word_of(Json word, const char *const table[][2]) {
    size_t i = 0;
    while (table[i][0] && !json_string_is(word, table[i][0])) {
        i++;
    }
    return table[i][1];
}

/* ---- where ---- */

static void add_place(Buf *out, Json pause, bool named) {
    static const char *const positions[][2] = {
        {"before", "before"}, {"after", "after"}, {"on_error", "after an error of"},
        {"during", "in"},     {NULL, "at"},
    };
    Json frame = field_get(pause, "frame"), node = field_get(pause, "node");
    buf_adds(out, word_of(field_get(pause, "position"), positions));
    buf_addc(out, ' ');
    add_text(out, node);
    buf_adds(out, json_kind(node) == JSON_STRING ? "" : "its end");
    if (named && json_tag(frame) == JSON_TAG_INT) {
        buf_printf(out, " (frame %lld)", (long long)frame.i);
    }
}

static void add_file(Buf *out, Json pause) {
    Json line = field_get(pause, "line");
    if (json_kind(field_get(pause, "file")) == JSON_STRING && json_tag(line) == JSON_TAG_INT) {
        buf_adds(out, " (");
        add_text(out, field_get(pause, "file"));
        buf_printf(out, ":%lld)", (long long)line.i);
    }
}

/* ---- why ---- */

static bool add_breakpoints(Buf *out, Json pause) {
    Json all = field_get(pause, "breakpoints");
    size_t n = json_kind(all) == JSON_ARRAY ? json_array_len(all) : 0;
    for (size_t i = 0; i < n; i++) {
        Json id = json_array_get(all, i);
        buf_adds(out, i ? ", " : n > 1 ? "breakpoints " : "breakpoint ");
        buf_printf(out, "%lld", json_tag(id) == JSON_TAG_INT ? (long long)id.i : 0);
    }
    return n > 0;
}

static bool add_error(Buf *out, Json pause) {
    Json message = field_get(field_get(pause, "error"), "message");
    add_text(out, message);
    return json_kind(message) == JSON_STRING;
}

static bool add_because(Buf *out, Json pause) {
    Json frame = field_get(pause, "because");
    if (json_tag(frame) == JSON_TAG_INT) {
        buf_printf(out, "frame %lld stopped", (long long)frame.i);
    }
    return json_tag(frame) == JSON_TAG_INT;
}

static void add_reason(Buf *out, Json pause) {
    static const char *const reasons[][2] = {
        {"initial", "at the start"}, {"breakpoint", "a breakpoint"}, {"step", "a step"},
        {"user_pause", "as asked"},  {"exception", "an error"},      {"interrupt", "an interrupt"},
        {"approval", "an approval"}, {NULL, "a debugger"},
    };
    buf_adds(out, ": ");
    size_t before = out->len;
    if (add_because(out, pause)) {
        return;
    }
    if (add_breakpoints(out, pause)) {
        buf_adds(out, json_kind(field_get(pause, "error")) == JSON_OBJECT ? ", " : "");
    }
    if (!add_error(out, pause) && out->len == before) {
        buf_adds(out, word_of(field_get(pause, "reason"), reasons));
    }
}

void pause_words(Buf *out, Json pause, bool named) {
    add_place(out, pause, named);
    add_reason(out, pause);
    add_file(out, pause);
}

Json pause_fields(Json object, Json info) {
    Json key, value;
    for (size_t pos = 0;
         json_kind(info) == JSON_OBJECT && json_object_next(info, &pos, &key, &value);) {
        if (!json_string_is(key, "pending")) {
            object = json_object_set(object, json_ref(key), json_ref(value));
        }
    }
    return object;
}

/* ---- how to go on ---- */

void pause_say(FILE *out, Json event) {
    Buf line = BUF_INIT;
    pause_words(&line, event, !json_string_is(field_get(event, "frame_name"), "main"));
    terminal_say(out, "Paused %s\n", line.data);
    buf_clear(&line);
}

void pause_advice(FILE *out, const char *thread, const char *store) {
    Buf resume = BUF_INIT;
    output_resume(&resume, thread, store);
    const char *rest = resume.data + strlen("pawl resume");
    fprintf(out, "Look and step with: pawl debug%s\n", rest);
    fprintf(out, "Go on without a debugger with: %s\n", resume.data);
    buf_clear(&resume);
}
