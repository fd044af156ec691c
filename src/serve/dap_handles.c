#include "dap_handles.h"

#include "mem.h"

Handle handle_copy(const Handle *handle) {
    json_ref(handle->path);
    json_ref(handle->value);
    json_ref(handle->expression);
    return *handle;
}

void handle_clear(Handle *handle) {
    json_unref(handle->path);
    json_unref(handle->value);
    json_unref(handle->expression);
    *handle = (Handle){0};
}

/* Of the oldest half nobody will ask any more. */
static void make_room(Handles *h) {
    size_t gone = h->n / 2;
    for (size_t i = 0; i < gone; i++) handle_clear(&h->items[i]);
    memmove(h->items, h->items + gone, (h->n - gone) * sizeof *h->items);
    h->n -= gone;
    h->first += (int64_t)gone;
}

int64_t handles_add(Handles *h, Handle handle) {
    if (h->n >= HANDLES_MAX) make_room(h);
    h->items = mem_grow(h->items, h->n, &h->cap, sizeof *h->items);
    h->items[h->n++] = handle;
    return h->first + (int64_t)h->n;
}

const Handle *handles_find(const Handles *h, int64_t id) {
    if (id <= h->first || id > h->first + (int64_t)h->n) return NULL;
    const Handle *found = &h->items[id - h->first - 1];
    return found->kind == HANDLE_NONE ? NULL : found;
}

void handles_begin(Handles *h, int64_t id) {
    if (handles_find(h, id)) json_put(&h->items[id - h->first - 1].path, json_array());
}

void handles_drop(Handles *h, int64_t thread) {
    bool all_gone = true;
    for (size_t i = 0; i < h->n; i++) {
        Handle *one = &h->items[i];
        bool goes = one->thread && (thread == HANDLES_ALL || one->thread == thread);
        if (goes) handle_clear(one);
        all_gone = all_gone && one->kind == HANDLE_NONE;
    }
    if (all_gone) {
        h->first += (int64_t)h->n;
        h->n = 0;
    }
}

void handles_clear(Handles *h) {
    for (size_t i = 0; i < h->n; i++) handle_clear(&h->items[i]);
    mem_free(h->items);
    *h = (Handles){.first = h->first + (int64_t)h->n};
}
