#include "json_mask.h"

#include "json_print.h"
#include "mem.h"

/* An array or object on the way down. */
typedef struct Level {
    Json in;      /* borrowed */
    Json out;     /* the same until something in it changes */
    size_t at;    /* where the next of it is */
    Json key;     /* of the one that is looked at; borrowed */
    bool changed; /* out is another value */
} Level;

typedef struct Walk {
    const Mask *mask;
    unsigned cut;
    Level *levels;
    size_t n, cap;
} Walk;

/* JSON_NONE: nothing is to be hidden in it. */
static Json mask_leaf(const Walk *w, Json value) {
    Buf text = BUF_INIT, hidden = BUF_INIT;
    Json out = json_none();
    bool found = false;
    if (json_kind(value) == JSON_STRING) {
        found =
            mask_text(w->mask, json_string_data(&value), json_string_len(value), w->cut, &hidden);
    } else if (json_kind(value) == JSON_NUMBER) {
        json_print(value, NULL, &text);
        found = mask_text(w->mask, text.data, text.len, 0, &hidden);
    }
    if (found) out = json_string(hidden.data, hidden.len);
    buf_clear(&text);
    buf_clear(&hidden);
    return out;
}

static void push(Walk *w, Json value) {
    w->levels = mem_grow(w->levels, w->n, &w->cap, sizeof *w->levels);
    w->levels[w->n++] = (Level){.in = value, .out = json_ref(value)};
}

/* The one that is looked at becomes another. Consumes it. */
static void change(Level *l, Json value) {
    l->changed = true;
    l->out = json_kind(l->in) == JSON_ARRAY ? json_array_set(l->out, l->at - 1, value)
                                            : json_object_set(l->out, json_ref(l->key), value);
}

static void change_key(const Walk *w, Level *l) {
    Json key = mask_leaf(w, l->key);
    if (json_is_none(key)) return;
    Json value = json_ref(json_object_get(l->out, l->key));
    l->changed = true;
    l->out = json_object_set(json_object_remove(l->out, l->key), key, value);
    l->key = json_none();
}

/* The next of the last level; JSON_NONE when there is none. Borrowed. */
static Json next(Level *l) {
    Json value = json_none();
    if (json_kind(l->in) == JSON_ARRAY) {
        return l->at < json_array_len(l->in) ? json_array_get(l->in, l->at++) : json_none();
    }
    return json_object_next(l->in, &l->at, &l->key, &value) ? value : json_none();
}

static bool is_leaf(Json value) {
    return json_kind(value) < JSON_ARRAY;
}

/* A level is over: what became of it is for the one below. */
static void pop(Walk *w) {
    Level over = w->levels[--w->n], *below = &w->levels[w->n - 1];
    if (over.changed) {
        change(below, over.out);
    } else {
        json_unref(over.out);
    }
    if (json_kind(below->in) == JSON_OBJECT) change_key(w, below);
}

Json json_mask(const Mask *mask, Json value, unsigned cut) {
    Walk w = {.mask = mask, .cut = cut};
    if (is_leaf(value)) {
        Json hidden = mask_leaf(&w, value);
        if (json_is_none(hidden)) return value;
        json_unref(value);
        return hidden;
    }
    push(&w, value);
    for (;;) {
        Level *l = &w.levels[w.n - 1];
        Json item = next(l);
        if (json_is_none(item)) {
            if (w.n == 1) break;
            pop(&w);
        } else if (is_leaf(item)) {
            Json hidden = mask_leaf(&w, item);
            if (!json_is_none(hidden)) change(l, hidden);
            if (json_kind(l->in) == JSON_OBJECT) change_key(&w, l);
        } else {
            push(&w, item);
        }
    }
    Json out = w.levels[0].out;
    mem_free(w.levels);
    json_unref(value);
    return out;
}
