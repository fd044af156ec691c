#include "worker_texts.h"

enum { PIECE = 1 << 15 }; /* of a kept text that goes to the sink at once */

static void forget(WorkerTexts *texts, WorkerText *item) {
    texts->bytes -= item->text.len;
    json_clear(&item->value);
    buf_clear(&item->text);
}

void worker_texts_clear(WorkerTexts *texts) {
    for (int i = 0; i < WORKER_TEXTS; i++) forget(texts, &texts->items[i]);
}

/* The one that was not used for longest; with full, of those that hold a text. */
static WorkerText *least_used(WorkerTexts *texts, bool full, const WorkerText *but) {
    WorkerText *least = NULL;
    for (int i = 0; i < WORKER_TEXTS; i++) {
        WorkerText *item = &texts->items[i];
        if (item == but || (full && json_is_none(item->value))) continue;
        if (!least || item->used < least->used) least = item;
    }
    return least;
}

/* ---- printing ---- */

typedef struct Printing {
    WorkerTexts *texts;
    JsonSink sink;
    void *ctx;
    Buf *keep; /* a copy goes there; NULL: nowhere */
} Printing;

static bool to_both(void *ctx, const char *text, size_t len) {
    Printing *p = ctx;
    buf_add(p->keep, text, len);
    return p->sink(p->ctx, text, len);
}

static bool is_large(Json value) {
    return json_on_heap(value) && json_size(value) >= WORKER_TEXT_LARGE;
}

static bool has_large_member(Json object) {
    Json key, value;
    for (size_t at = 0; json_object_next(object, &at, &key, &value);) {
        if (is_large(value)) return true;
    }
    return false;
}

static void print_value(Printing *p, Json value, int levels);

static void print_members(Printing *p, Json object, int levels) {
    Json key, value;
    char before = '{';
    for (size_t at = 0; json_object_next(object, &at, &key, &value);) {
        Buf text = BUF_INIT;
        buf_addc(&text, before);
        json_print(key, NULL, &text);
        buf_addc(&text, ':');
        p->sink(p->ctx, text.data, text.len);
        buf_clear(&text);
        print_value(p, value, levels - 1);
        before = ',';
    }
    p->sink(p->ctx, "}", 1);
}

static void print_value(Printing *p, Json value, int levels) {
    WorkerTexts *texts = p->texts;
    WorkerText *item = NULL;
    if (!is_large(value)) {
        json_print_to(value, NULL, p->sink, p->ctx);
        return;
    }
    for (int i = 0; i < WORKER_TEXTS && !item; i++) {
        item = json_identical(texts->items[i].value, value) ? &texts->items[i] : NULL;
    }
    if (item) { /* it is kept */
        item->used = ++texts->clock;
        for (size_t at = 0; at < item->text.len; at += PIECE) {
            size_t left = item->text.len - at;
            p->sink(p->ctx, item->text.data + at, left < PIECE ? left : PIECE);
        }
        return;
    }
    if (levels > 0 && json_kind(value) == JSON_OBJECT && has_large_member(value)) {
        print_members(p, value, levels);
        return;
    }
    item = least_used(texts, false, NULL);
    forget(texts, item);
    p->keep = &item->text;
    json_print_to(value, NULL, to_both, p);
    item->value = json_ref(value);
    item->used = ++texts->clock;
    texts->bytes += item->text.len;
    for (WorkerText *other = item; other && texts->bytes > WORKER_TEXTS_BYTES;) {
        other = least_used(texts, true, item);
        if (other) forget(texts, other);
    }
    if (texts->bytes > WORKER_TEXTS_BYTES) forget(texts, item);
}

void worker_texts_print(WorkerTexts *texts, Json value, JsonSink sink, void *ctx) {
    Printing p = {texts, sink, ctx, NULL};
    print_value(&p, value, WORKER_TEXT_LEVELS);
}
