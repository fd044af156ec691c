#include "sse.h"

#include <string.h>

static bool is_named(const char *name, size_t len, const char *field) {
    return strlen(field) == len && !memcmp(name, field, len);
}

static const char *text_of(Buf *text) {
    buf_addc(text, '\0');
    text->len--;
    return text->data;
}

/* An empty line: what has been said since the last one is a message, if it has data. */
static bool dispatch(SseReader *r) {
    bool goes_on = true;
    if (r->has_next_id) {
        buf_reset(&r->id);
        buf_add(&r->id, r->next_id.data ? r->next_id.data : "", r->next_id.len);
    }
    if (r->has_data) {
        SseMessage message = {r->event.len ? text_of(&r->event) : "message", text_of(&r->id),
                              text_of(&r->data), r->data.len};
        goes_on = r->host.event(r->host.ctx, &message);
    }
    buf_reset(&r->event);
    buf_reset(&r->data);
    r->has_data = r->has_next_id = false;
    return goes_on;
}

static bool take_line(SseReader *r) {
    const char *line = r->line.data;
    size_t len = r->line.len;
    if (!r->begun && len >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
        line += 3;
        len -= 3;
    }
    r->begun = true;
    if (!len) return dispatch(r);
    const char *colon = memchr(line, ':', len);
    size_t name = colon ? (size_t)(colon - line) : len;
    const char *value = colon ? colon + 1 : line + len;
    size_t rest = (size_t)(line + len - value);
    if (rest && *value == ' ') {
        value++;
        rest--;
    }
    if (is_named(line, name, "data")) {
        if (r->has_data) buf_addc(&r->data, '\n');
        buf_add(&r->data, value, rest);
        r->has_data = true;
    } else if (is_named(line, name, "event")) {
        buf_reset(&r->event);
        buf_add(&r->event, value, rest);
    } else if (is_named(line, name, "id") && !memchr(value, '\0', rest)) {
        buf_reset(&r->next_id);
        buf_add(&r->next_id, value, rest);
        r->has_next_id = true;
    }
    return true;
}

bool sse_feed(SseReader *r, const char *bytes, size_t len) {
    size_t max = r->max ? r->max : SSE_MAX;
    for (const char *at = bytes, *end = bytes + len; at < end && !r->ended;) {
        if (r->after_return && *at == '\n') at++;
        r->after_return = false;
        const char *stop = at;
        while (stop < end && *stop != '\n' && *stop != '\r') stop++;
        if ((size_t)(stop - at) > max - r->line.len - r->data.len - r->event.len) {
            r->ended = true;
            break;
        }
        buf_add(&r->line, at, (size_t)(stop - at));
        if (stop == end) break;
        r->after_return = *stop == '\r';
        r->ended = !take_line(r);
        buf_reset(&r->line);
        at = stop + 1;
    }
    return !r->ended;
}

void sse_clear(SseReader *r) {
    Buf *all[] = {&r->line, &r->data, &r->event, &r->id, &r->next_id};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) buf_clear(all[i]);
    *r = (SseReader){.host = r->host, .max = r->max};
}
