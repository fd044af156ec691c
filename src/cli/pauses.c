#include "pauses.h"

#include "advice.h"
#include "fields.h"
#include "terminal.h"

static void add_place(Buf *out, Json pause, bool named) {
    static const char *const positions[][2] = {
        {"before", "before"}, {"after", "after"}, {"on_error", "after an error of"},
        {"during", "in"},     {NULL, "at"},
    };
    Json frame = field_get(pause, "frame");
    const char *node = json_object_text(pause, "node");
    buf_printf(out, "%s %s", field_word(field_get(pause, "position"), positions),
               node ? node : "its end");
    if (named && json_tag(frame) == JSON_TAG_INT) {
        buf_printf(out, " (frame %lld)", (long long)frame.i);
    }
}

static void add_reason(Buf *out, Json pause) {
    static const char *const reasons[][2] = {
        {"initial", "at the start"}, {"breakpoint", "a breakpoint"}, {"step", "a step"},
        {"user_pause", "as asked"},  {"exception", "an error"},      {"interrupt", "an interrupt"},
        {"approval", "an approval"}, {NULL, "a debugger"},
    };
    Json because = field_get(pause, "because"), error = field_get(pause, "error");
    Json ids = field_get(pause, "breakpoints");
    const char *message = json_object_text(error, "message");
    size_t n = json_array_len(ids);
    if (json_tag(because) == JSON_TAG_INT) {
        buf_printf(out, "frame %lld stopped", (long long)because.i);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        Json id = json_array_get(ids, i);
        buf_adds(out, i ? ", " : n > 1 ? "breakpoints " : "breakpoint ");
        buf_printf(out, "%lld", json_tag(id) == JSON_TAG_INT ? (long long)id.i : 0);
    }
    buf_adds(out, n && json_kind(error) == JSON_OBJECT ? ", " : "");
    buf_adds(out, message ? message : "");
    if (!n && !message) buf_adds(out, field_word(field_get(pause, "reason"), reasons));
}

void pause_words(Buf *out, Json pause, bool named) {
    const char *file = json_object_text(pause, "file");
    Json line = field_get(pause, "line");
    add_place(out, pause, named);
    buf_adds(out, ": ");
    add_reason(out, pause);
    if (file && json_tag(line) == JSON_TAG_INT) {
        buf_printf(out, " (%s:%lld)", file, (long long)line.i);
    }
}

void pause_say(FILE *out, Json event) {
    Buf line = BUF_INIT;
    pause_words(&line, event, !json_string_is(field_get(event, "frame_name"), "main"));
    terminal_line(out, "Paused %s", line.data);
    buf_clear(&line);
}

void pause_advice(FILE *out, const char *thread, const char *store, bool held) {
    Buf resume = BUF_INIT;
    advice_resume(&resume, thread, store);
    const char *rest = resume.data + strlen("pawl resume");
    fprintf(out, "Look and step with: pawl debug%s\n", rest);
    if (held) {
        fprintf(out, "There, `detach` lets it go on without a debugger.\n");
    } else {
        fprintf(out, "Go on without a debugger with: %s\n", resume.data);
    }
    buf_clear(&resume);
}
