/* console_tab.c - what Tab offers. */
#include "console_inside.h"

#include <string.h>

static Json add_item(Json items, size_t from, Json text) {
    Json pair = json_array_push(json_array_push(json_array(), json_int((int64_t)from)), text);
    return json_array_push(items, pair);
}

static bool begins(const char *name, size_t name_len, const char *typed, size_t len) {
    return len <= name_len && memcmp(name, typed, len) == 0;
}

static Json offer_commands(size_t from, const char *typed, size_t len) {
    Json items = json_array();
    for (const Word *w = debug_words; w->name; w++) {
        if (begins(w->name, strlen(w->name), typed, len)) {
            items = add_item(items, from, json_string_fmt("%s ", w->name));
        }
    }
    return items;
}

static Json offer_words(const char *words, size_t from, const char *typed, size_t len) {
    Json items = json_array();
    for (const char *at = words; *at;) {
        size_t n = strcspn(at, " ");
        if (begins(at, n, typed, len)) {
            items = add_item(items, from, json_string_fmt("%.*s ", (int)n, at));
        }
        at += n + (at[n] == ' ');
    }
    return items;
}

static Json offer_nodes(Console *t, size_t from, const char *typed, size_t len) {
    Json items = json_array(), answer = console_ask(t, "nodes", json_none());
    Json nodes = field_get(answer, "nodes");
    for (size_t i = 0; i < field_items(nodes); i++) {
        Json name = field_get(json_array_get(nodes, i), "name");
        bool fits = json_kind(name) == JSON_STRING &&
                    begins(json_string_data(&name), json_string_len(name), typed, len);
        if (fits) {
            items = add_item(items, from, json_ref(name));
        }
    }
    json_unref(answer);
    return items;
}

/* Items of jq say themselves what they replace; only those of one place can be offered together. */
static Json offer_jq(Console *t, const char *what, size_t from, const char *typed, size_t len) {
    Json args = json_object_with(json_object(), "text", json_string(typed, len)),
         items = json_array();
    args = json_object_with(args, "cursor", json_int((int64_t)len));
    args = json_object_with(args, "what", json_string_c(what));
    Json answer = console_ask(t, "complete", args), found = field_get(answer, "items");
    Json place = field_get(json_array_get(found, 0), "from");
    for (size_t i = 0; i < field_items(found); i++) {
        Json item = json_array_get(found, i), at = field_get(item, "from"),
             text = field_get(item, "text");
        bool fits = json_tag(at) == JSON_TAG_INT && at.i >= 0 && (size_t)at.i <= len &&
                    json_identical(at, place) && json_kind(text) == JSON_STRING;
        if (fits) {
            items = add_item(items, from + (size_t)at.i, json_ref(text));
        }
    }
    json_unref(answer);
    return items;
}

Json console_complete(void *ctx, const char *line, size_t cursor) {
    Console *t = ctx;
    WordCompletion c = words_completion(line, cursor);
    const char *typed = line + c.from;
    size_t len = cursor - c.from;
    switch (c.offers) {
    case OFFERS_COMMAND: return offer_commands(c.from, typed, len);
    case OFFERS_WORDS: return offer_words(c.words, c.from, typed, len);
    case OFFERS_NODE: return offer_nodes(t, c.from, typed, len);
    case OFFERS_EXPRESSION: return offer_jq(t, "expression", c.from, typed, len);
    case OFFERS_PATH: return offer_jq(t, "path", c.from, typed, len);
    default: return json_array();
    }
}
