#include "progress.h"

#include "json_print.h"
#include "looks.h"
#include "mem.h"
#include "output.h"
#include "terminal.h"
#include "utf8.h"
#include "wait.h"

#include <stdio.h>
#include <string.h>

enum { SLOTS = 256, FRAMES_ASKED = 1000, COUNT_EVERY_MS = 1000 };

struct Progress {
    uv_timer_t timer;
    bool live;        /* draws on a terminal; plain lines otherwise */
    const Run *run;   /* NULL before the first event */
    uint64_t started; /* on the loop's clock */
    size_t drawn;     /* lines of the live area that are on the screen */
    int64_t steps;    /* finished nodes */
    int lines;        /* written for them */
    uint64_t counted; /* when the last count was written */
    /* When the node of a frame began, for the frames that were last in their slot. */
    struct Began {
        int64_t frame, at;
    } began[SLOTS];
};

/* "build", "build (parallel[1])", and for the body of a map, which is called "each[]", "each[3]". */
static void add_names(Buf *out, const char *node, const char *frame) {
    size_t len = strlen(node);
    bool element = len > 2 && !strcmp(node + len - 2, "[]") && frame && !strncmp(frame, "map[", 4);
    buf_reserve(out, len + 1);
    buf_add(out, node, element ? len - 2 : len);
    if (element) {
        buf_adds(out, frame + 3);
    } else if (frame && frame[0] && strcmp(frame, "main") != 0) {
        buf_printf(out, " (%s)", frame);
    }
}

/* ---- the live area ---- */

/* What takes the area away: to its first line, and clear from there. */
static void add_clearing(Progress *p, Buf *out) {
    if (p->drawn) {
        buf_addc(out, '\r');
    }
    if (p->drawn > 1) {
        buf_printf(out, "\x1b[%zuA", p->drawn - 1);
    }
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
    if (ms >= 60000) {
        return output_duration(ms, out);
    }
    snprintf(out, OUTPUT_TIME_MAX, "%.1fs", (double)ms / 1000);
    return out;
}

static void draw_header(Progress *p, Buf *out) {
    char line[512], time[OUTPUT_TIME_MAX];
    int64_t elapsed = (int64_t)(uv_now(p->timer.loop) - p->started);
    snprintf(line, sizeof line, "%s  %lld %s  %s", run_thread(p->run), (long long)run_step(p->run),
             run_step(p->run) == 1 ? "step" : "steps", short_duration(elapsed, time));
    draw_line(p, out, line);
}

static int64_t now_ms(void) {
    uv_timeval64_t now;
    uv_gettimeofday(&now);
    return now.tv_sec * 1000 + now.tv_usec / 1000;
}

static size_t text_of(const Json *value, const char **text) {
    bool is_text = json_kind(*value) == JSON_STRING;
    *text = is_text ? json_string_data(value) : "";
    return is_text ? json_string_len(*value) : 0;
}

static void add_name(Buf *out, Json node, Json frame) {
    const char *name, *place;
    size_t len = text_of(&node, &name), place_len = text_of(&frame, &place);
    char *node_text = mem_strndup(name, len), *frame_text = mem_strndup(place, place_len);
    add_names(out, node_text, frame_text);
    mem_free(node_text);
    mem_free(frame_text);
}

static void draw_frame(Progress *p, Buf *out, Json frame) {
    Json since = json_object_get_c(frame, "since");
    Json waits = json_object_get_c(frame, "waits");
    char time[OUTPUT_TIME_MAX];
    Buf line = BUF_INIT;
    buf_adds(&line, "  ");
    add_name(&line, json_object_get_c(frame, "node"), json_object_get_c(frame, "name"));
    if (look_words(waits) && wait_named(waits) != WAIT_WORK) {
        buf_printf(&line, "  %s", look_words(waits));
    }
    if (json_tag(since) == JSON_TAG_INT && since.i > 0) {
        buf_printf(&line, "  %s", short_duration(now_ms() - since.i, time));
    }
    draw_line(p, out, line.data);
    buf_clear(&line);
}

/* A frame that only waits for its branches is not what anybody waits for. */
static bool is_busy(Json frame) {
    Json waits = json_object_get_c(frame, "waits");
    return json_kind(json_object_get_c(frame, "node")) == JSON_STRING &&
           wait_named(waits) != WAIT_JOIN && wait_named(waits) != WAIT_MAP;
}

static void draw_frames(Progress *p, Buf *out) {
    Json frames = run_frames(p->run, FRAMES_ASKED);
    size_t n = json_array_len(frames), busy = 0;
    for (size_t i = 0; i < n; i++) {
        Json frame = json_array_get(frames, i);
        if (is_busy(frame) && ++busy <= PROGRESS_FRAMES) {
            draw_frame(p, out, frame);
        }
    }
    if (busy > PROGRESS_FRAMES) {
        char more[64];
        snprintf(more, sizeof more, "  and %s%zu more", n == FRAMES_ASKED ? "at least " : "",
                 busy - PROGRESS_FRAMES);
        draw_line(p, out, more);
    }
    json_unref(frames);
}

static void draw(uv_timer_t *timer) {
    Progress *p = timer->data;
    Buf out = BUF_INIT;
    add_clearing(p, &out);
    if (p->run && !run_settled(p->run)) {
        draw_header(p, &out);
        draw_frames(p, &out);
    }
    put_at_once(&out);
}

/* ---- life ---- */

Progress *progress_new(uv_loop_t *loop) {
    Progress *p = mem_zalloc(sizeof *p);
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
    mem_free(handle->data);
}

void progress_free(Progress *p) {
    if (p) {
        progress_hide(p);
        p->run = NULL;
        uv_close((uv_handle_t *)&p->timer, on_closed);
    }
}

/* ---- lines ---- */

static void put_name(const Event *e) {
    Buf name = BUF_INIT;
    add_names(&name, e->node, e->frame_name);
    terminal_put(stderr, name.data, name.len);
    buf_clear(&name);
}

static void note_begin(Progress *p, const Event *e) {
    p->began[(uint64_t)e->frame % SLOTS] = (struct Began){e->frame, e->at};
}

static void write_step(Progress *p, const Event *e) {
    struct Began *began = &p->began[(uint64_t)e->frame % SLOTS];
    char time[OUTPUT_TIME_MAX];
    put_name(e);
    fprintf(stderr, "  %s", e->status);
    if (began->at && began->frame == e->frame) {
        fprintf(stderr, "  %s", output_duration(e->at - began->at, time));
    }
    fputc('\n', stderr);
}

static void write_count(Progress *p) {
    uint64_t now = uv_now(p->timer.loop);
    if (now - p->counted >= COUNT_EVERY_MS) {
        p->counted = now;
        fprintf(stderr, "%lld steps\n", (long long)p->steps);
    }
}

static void write_line(Progress *p, const Event *e) {
    if (p->lines < PROGRESS_LINES) {
        p->lines++;
        p->counted = uv_now(p->timer.loop);
        write_step(p, e);
    } else {
        write_count(p);
    }
}

static void on_step(Progress *p, const Event *e) {
    bool finished = e->status && (!strcmp(e->status, "completed") || !strcmp(e->status, "failed"));
    if (!finished || !e->node || !e->node[0]) {
        return;
    }
    p->steps++;
    if (p->live) {
        return;
    }
    write_line(p, e);
    note_begin(p, e); /* what follows in the frame begins now */
}

/* What a node wrote may try to move the cursor of the terminal that we draw on. */
static void put_clean(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == 0x1b && i + 1 < len && text[i + 1] == '[') {
            for (i += 2; i < len && (text[i] < '@' || text[i] > '~'); i++) {}
        } else if (!terminal_is_control(text + i)) {
            fputc(c, stderr);
        } else {
            i += c == 0xC2;
        }
    }
}

static void put_log_line(const Event *e, const char *text, size_t len) {
    put_name(e);
    fputs(" | ", stderr);
    if (terminal_is(stderr)) {
        put_clean(text, len);
    } else {
        fwrite(text, 1, len, stderr);
    }
    fputc('\n', stderr);
}

static void on_log(Progress *p, const Event *e) {
    Json text = json_object_get_c(e->data, "text");
    (void)p;
    if (json_kind(text) != JSON_STRING) {
        return;
    }
    const char *at = json_string_data(&text), *end = at + json_string_len(text);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = stop ? stop : end;
        put_log_line(e, at, (size_t)(line_end - at));
        at = line_end + 1;
    }
}

static void put_field(const Event *e, const char *key) {
    Json value = json_object_get_c(e->data, key);
    if (json_kind(value) == JSON_OBJECT) { /* an error: its sentence says it */
        value = json_object_get_c(value, "message");
    }
    if (json_kind(value) == JSON_STRING) {
        terminal_put(stderr, json_string_data(&value), json_string_len(value));
    }
}

static void on_retry(Progress *p, const Event *e) {
    Json attempt = json_object_get_c(e->data, "attempt"),
         delay = json_object_get_c(e->data, "delay");
    char time[OUTPUT_TIME_MAX];
    (void)p;
    put_name(e);
    fputs("  failed", stderr);
    if (json_tag(attempt) == JSON_TAG_INT) {
        fprintf(stderr, " (attempt %lld)", (long long)attempt.i);
    }
    fputs(", tries again", stderr);
    if (json_kind(delay) == JSON_NUMBER) {
        int64_t ms = (int64_t)(json_to_double(delay) * 1000);
        fprintf(stderr, " in %s", output_duration(ms, time));
    }
    fputs(": ", stderr);
    put_field(e, "error");
    fputc('\n', stderr);
}

static void on_warning(Progress *p, const Event *e) {
    (void)p;
    fputs("warning: ", stderr);
    put_field(e, "message");
    fputc('\n', stderr);
}

static void (*const handlers[EVENT_COUNT])(Progress *, const Event *) = {
    [EVENT_NODE] = note_begin, [EVENT_STEP] = on_step,       [EVENT_LOG] = on_log,
    [EVENT_RETRY] = on_retry,  [EVENT_WARNING] = on_warning,
};

void progress_event(Progress *p, const Event *e) {
    bool writes = e->type == EVENT_LOG || e->type == EVENT_RETRY || e->type == EVENT_WARNING;
    p->run = e->run;
    if (writes) {
        progress_hide(p);
    }
    if (handlers[e->type]) {
        handlers[e->type](p, e);
    }
}
