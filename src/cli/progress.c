#include "progress.h"

#include "fields.h"
#include "json_build.h"
#include "mem.h"
#include "output.h"
#include "terminal.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

enum { SLOTS = 256, FRAMES_ASKED = 1000, COUNT_EVERY_MS = 1000 };

struct Progress {
    uv_timer_t timer;
    bool live; /* draws on a terminal; plain lines otherwise */
    Client *client;
    char *thread;
    bool asking, over, closed; /* the frames are on their way; nobody waits for them any more */
    uint64_t started;          /* on the loop's clock */
    size_t drawn;              /* lines of the live area that are on the screen */
    int64_t steps;             /* finished nodes */
    int lines;                 /* written for them */
    Json titles;               /* of tasks that are under way, by title_key() */
    Json notes;                /* how far they say they are, in the same way: drawn, not written */
    uint64_t counted;          /* when the last count was written */
    Json
        since; /* when nodes began that said so, in the same way: what is inside ends before them */
    /* When the node of a frame began that did not, for the frames that were last in their slot. */
    struct Began {
        int64_t frame, at;
    } began[SLOTS];
};

/* The title of a task that is under way, by its frame and name; given. */
static Json title_key(Json event) {
    return json_string_fmt("%lld %s", (long long)field_number(event, "frame", 0),
                           field_string(event, "node"));
}

static void add_title(const Progress *p, Buf *out, Json event) {
    Json key = title_key(event), title = json_object_get(p->titles, key);
    if (json_kind(title) == JSON_STRING) {
        buf_adds(out, ": ");
        buf_add(out, json_string_data(&title), json_string_len(title));
    }
    json_unref(key);
}

static void add_note(const Progress *p, Buf *out, Json event) {
    Json key = title_key(event), note = json_object_get(p->notes, key);
    if (json_kind(note) == JSON_STRING) {
        buf_adds(out, "  ");
        buf_add(out, json_string_data(&note), json_string_len(note));
    }
    json_unref(key);
}

/* "build", "build (parallel[1])", and for the body of a map, which is called "each[]", "each[3]". */
static void add_name(Buf *out, Json event, const char *frame_key) {
    const char *node = field_string(event, "node"), *frame = field_string(event, frame_key);
    size_t len = strlen(node);
    bool element = len > 2 && !strcmp(node + len - 2, "[]") && !strncmp(frame, "map[", 4);
    buf_reserve(out, len + 1);
    buf_add(out, node, element ? len - 2 : len);
    if (element) {
        buf_adds(out, frame + 3);
    } else if (frame[0] && strcmp(frame, "main") != 0) {
        buf_printf(out, " (%s)", frame);
    }
}

/* ---- the live area ---- */

/* What takes the area away: to its first line, and clear from there. */
static void add_clearing(Progress *p, Buf *out) {
    if (p->drawn) buf_addc(out, '\r');
    if (p->drawn > 1) buf_printf(out, "\x1b[%zuA", p->drawn - 1);
    buf_adds(out, p->drawn ? "\x1b[J" : "");
    p->drawn = 0;
}

static void put_at_once(Buf *out) {
    if (out->len) {
        fwrite(out->data, 1, out->len, stderr);
        fflush(stderr);
    }
    buf_clear(out);
}

void progress_hide(Progress *p) {
    Buf out = BUF_INIT;
    add_clearing(p, &out);
    put_at_once(&out);
}

/* Adds a line, cut to what fits: one that wraps could not be taken away again. */
static void draw_line(Progress *p, Buf *out, const char *text) {
    size_t columns = (size_t)terminal_columns(stderr) - 1, len = strlen(text);
    buf_adds(out, p->drawn ? "\n" : "");
    terminal_safe(text, utf8_offset(text, len, columns), out);
    p->drawn++;
}

/* As long as it changes in sight, tenths are enough. */
static const char *short_duration(int64_t ms, char *out) {
    if (ms >= 60000) return output_duration(ms, out);
    snprintf(out, OUTPUT_TIME_MAX, "%.1fs", (double)ms / 1000);
    return out;
}

static void draw_header(Progress *p, Buf *out, int64_t step) {
    char line[512], time[OUTPUT_TIME_MAX];
    int64_t elapsed = (int64_t)(uv_now(p->timer.loop) - p->started);
    snprintf(line, sizeof line, "%s  %lld %s  %s", p->thread, (long long)step,
             step == 1 ? "step" : "steps", short_duration(elapsed, time));
    draw_line(p, out, line);
}

static void draw_frame(Progress *p, Buf *out, Json frame) {
    int64_t since = 0;
    Json waits = field_get(frame, "waits");
    const char *doing = field_string(frame, "doing");
    char time[OUTPUT_TIME_MAX];
    Buf line = BUF_INIT;
    buf_adds(&line, "  ");
    add_name(&line, frame, "name");
    add_title(p, &line, frame);
    if (*doing && !json_string_is(waits, "work")) buf_printf(&line, "  %s", doing);
    add_note(p, &line, frame);
    if (json_time_ms(field_get(frame, "since"), &since)) {
        uv_timeval64_t now;
        uv_gettimeofday(&now);
        buf_printf(&line, "  %s",
                   short_duration(now.tv_sec * 1000 + now.tv_usec / 1000 - since, time));
    }
    draw_line(p, out, line.data);
    buf_clear(&line);
}

/* A frame that only waits for its branches is not what anybody waits for. */
static bool is_busy(Json frame) {
    Json waits = json_object_get_c(frame, "waits");
    return json_kind(json_object_get_c(frame, "node")) == JSON_STRING &&
           !json_string_is(waits, "join") && !json_string_is(waits, "map");
}

static void draw_frames(Progress *p, Buf *out, Json frames) {
    size_t n = json_array_len(frames), busy = 0;
    for (size_t i = 0; i < n; i++) {
        Json frame = json_array_get(frames, i);
        if (is_busy(frame) && ++busy <= PROGRESS_FRAMES) draw_frame(p, out, frame);
    }
    if (busy > PROGRESS_FRAMES) {
        char more[64];
        snprintf(more, sizeof more, "  and %s%zu more", n == FRAMES_ASKED ? "at least " : "",
                 busy - PROGRESS_FRAMES);
        draw_line(p, out, more);
    }
}

static void release(Progress *p) {
    json_unref(p->titles);
    json_unref(p->notes);
    json_unref(p->since);
    mem_free(p->thread);
    mem_free(p);
}

static void on_frames(void *ctx, Json answer, const Error *err) {
    Progress *p = ctx;
    Buf out = BUF_INIT;
    p->asking = false;
    if (p->over) {
        json_unref(answer);
        if (p->closed) release(p);
        return;
    }
    add_clearing(p, &out);
    if (!err && !json_truthy(field_get(answer, "settled"))) {
        draw_header(p, &out, field_number(answer, "step", 0));
        draw_frames(p, &out, field_get(answer, "frames"));
    }
    put_at_once(&out);
    json_unref(answer);
}

static void draw(uv_timer_t *timer) {
    Progress *p = timer->data;
    if (!p->asking) {
        p->asking = true;
        client_call(p->client, "run_frames",
                    OBJECT(KEY("thread", p->thread), KEY("limit", json_int(FRAMES_ASKED))),
                    on_frames, p);
    }
}

/* ---- life ---- */

Progress *progress_new(uv_loop_t *loop, Client *client, const char *thread) {
    Progress *p = mem_zalloc(sizeof *p);
    p->client = client;
    p->thread = mem_strdup(thread);
    p->titles = json_object();
    p->notes = json_object();
    p->since = json_object();
    p->live = terminal_can_redraw(stderr);
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* a line is one write, not one a word */
    uv_timer_init(loop, &p->timer);
    p->timer.data = p;
    uv_update_time(loop);
    p->started = uv_now(loop);
    if (p->live) {
        uv_timer_start(&p->timer, draw, PROGRESS_REDRAW_MS, PROGRESS_REDRAW_MS);
        uv_unref((uv_handle_t *)&p->timer);
    }
    return p;
}

static void on_closed(uv_handle_t *handle) {
    Progress *p = handle->data;
    p->closed = true;
    if (!p->asking) release(p);
}

void progress_free(Progress *p) {
    if (p) {
        progress_hide(p);
        p->over = true;
        uv_close((uv_handle_t *)&p->timer, on_closed);
    }
}

/* ---- lines ---- */

static void put_name(Json e) {
    Buf name = BUF_INIT;
    add_name(&name, e, "frame_name");
    terminal_put(stderr, name.data ? name.data : "", name.len);
    buf_clear(&name);
}

static struct Began *began_of(Progress *p, int64_t frame) {
    return &p->began[(uint64_t)frame % SLOTS];
}

static void note_begin(Progress *p, Json e) {
    int64_t frame = field_number(e, "frame", 0), at = 0;
    json_time_ms(field_get(e, "at"), &at);
    *began_of(p, frame) = (struct Began){frame, at};
}

/* Of a node with its beginning: what the debugger and the results of a check put on record comes later. */
static void note_since(Progress *p, Json e) {
    int64_t at = 0;
    if (p->live || p->lines >= PROGRESS_LINES || !json_time_ms(field_get(e, "at"), &at)) return;
    Json key = title_key(e);
    bool known = !json_is_none(json_object_get(p->since, key));
    if (!known) p->since = json_object_set(p->since, json_ref(key), json_int(at));
    json_unref(key);
}

/* 0: it is not known. */
static int64_t since_of(Progress *p, Json e) {
    int64_t frame = field_number(e, "frame", 0);
    const struct Began *began = began_of(p, frame);
    Json key = title_key(e), at = json_object_get(p->since, key);
    int64_t since = json_tag(at) == JSON_TAG_INT ? at.i : began->frame == frame ? began->at : 0;
    json_unref(key);
    return since;
}

static void write_step(Progress *p, Json e) {
    int64_t at = 0, since = since_of(p, e);
    char time[OUTPUT_TIME_MAX];
    Buf title = BUF_INIT;
    put_name(e);
    add_title(p, &title, e);
    terminal_put(stderr, title.data ? title.data : "", title.len);
    buf_clear(&title);
    fprintf(stderr, "  %s", field_string(e, "status"));
    if (since && json_time_ms(field_get(e, "at"), &at)) {
        fprintf(stderr, "  %s", output_duration(at - since, time));
    }
    fputc('\n', stderr);
}

static void drop_title(Progress *p, Json e) {
    Json key = title_key(e);
    p->titles = json_object_remove(p->titles, key);
    p->notes = json_object_remove(p->notes, key);
    p->since = json_object_remove(p->since, key);
    json_unref(key);
}

static void on_step(Progress *p, Json e) {
    Json status = field_get(e, "status");
    uint64_t now = uv_now(p->timer.loop);
    bool finished = json_string_is(status, "completed") || json_string_is(status, "failed");
    if (!finished || !field_has_text(e, "node")) {
        note_begin(p, e);
        return;
    }
    p->steps++;
    if (p->live) {
        drop_title(p, e);
        return;
    }
    if (p->lines < PROGRESS_LINES) {
        p->lines++;
        p->counted = now;
        write_step(p, e);
    } else if (now - p->counted >= COUNT_EVERY_MS) {
        p->counted = now;
        fprintf(stderr, "%lld steps\n", (long long)p->steps);
    }
    drop_title(p, e);
    note_begin(p, e); /* what follows in the frame begins now */
}

static void on_node(Progress *p, Json e) {
    Json title = field_get(e, "title");
    if (json_kind(title) == JSON_STRING && json_string_len(title)) {
        p->titles = json_object_set(p->titles, title_key(e), json_ref(title));
    }
    note_since(p, e);
    note_begin(p, e);
}

/* What a node wrote may try to move the cursor of the terminal that we draw on. */
static void put_clean(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == 0x1b && i + 1 < len && text[i + 1] == '[') {
            for (i += 2; i < len && (text[i] < '@' || text[i] > '~'); i++) {}
        } else {
            size_t control = terminal_control(text + i);
            if (!control) fputc(c, stderr);
            i += control ? control - 1 : 0;
        }
    }
}

static void put_log_line(Json e, const char *text, size_t len) {
    put_name(e);
    fputs(" | ", stderr);
    if (terminal_is(stderr)) {
        put_clean(text, len);
    } else {
        fwrite(text, 1, len, stderr);
    }
    fputc('\n', stderr);
}

/* On a terminal it stands behind its task, and is renewed in place. */
static bool take_note(Progress *p, Json e, Json text) {
    if (!p->live || !json_truthy(field_get(e, "progress"))) return false;
    size_t len = json_string_len(text);
    len -= len && json_string_data(&text)[len - 1] == '\n';
    p->notes = json_object_set(p->notes, title_key(e), json_string(json_string_data(&text), len));
    return true;
}

static void on_log(Progress *p, Json e) {
    Json text = field_get(e, "text");
    if (json_kind(text) != JSON_STRING || take_note(p, e, text)) return;
    const char *at = json_string_data(&text), *end = at + json_string_len(text);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = stop ? stop : end;
        put_log_line(e, at, (size_t)(line_end - at));
        at = line_end + 1;
    }
}

static void on_retry(Progress *p, Json e) {
    Json attempt = field_get(e, "attempt"), delay = field_get(e, "delay");
    char time[OUTPUT_TIME_MAX];
    (void)p;
    put_name(e);
    fputs("  failed", stderr);
    if (json_tag(attempt) == JSON_TAG_INT) fprintf(stderr, " (attempt %lld)", (long long)attempt.i);
    fputs(", tries again", stderr);
    if (json_kind(delay) == JSON_NUMBER) {
        int64_t ms = (int64_t)(json_to_double(delay) * 1000);
        fprintf(stderr, " in %s", output_duration(ms, time));
    }
    const char *message = json_object_text(e, "error"); /* or an object, whose sentence says it */
    terminal_say(stderr, ": %s\n",
                 message ? message : field_string(field_get(e, "error"), "message"));
}

static void on_warning(Progress *p, Json e) {
    (void)p;
    terminal_say(stderr, "warning: %s\n", field_string(e, "message"));
}

static const struct Handler {
    const char *event;
    bool writes; /* above what is drawn */
    void (*on)(Progress *p, Json event);
} handlers[] = {{"step", false, on_step},  {"node", false, on_node},      {"log", true, on_log},
                {"retry", true, on_retry}, {"warning", true, on_warning}, {NULL, false, NULL}};

void progress_event(Progress *p, Json e) {
    Json name = field_get(e, "event");
    for (const struct Handler *h = handlers; h->event; h++) {
        if (json_string_is(name, h->event)) {
            if (h->writes) progress_hide(p);
            h->on(p, e);
            return;
        }
    }
}
