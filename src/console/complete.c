/* complete.c - what Tab offers. */
#include "console_inside.h"

#include <string.h>

/* The part of the line that is being typed, and what could stand in its place. */
typedef struct Offer {
    size_t from; /* in the line */
    const char *typed;
    size_t len;
    Json items; /* [[from, text], ...] */
} Offer;

/* Consumes the text. */
static void add_item(Offer *o, size_t from, Json text) {
    Json pair = json_array_push(json_array_push(json_array(), json_int((int64_t)from)), text);
    o->items = json_array_push(o->items, pair);
}

static bool fits(const Offer *o, const char *name, size_t len) {
    return o->len <= len && memcmp(name, o->typed, o->len) == 0;
}

static void offer_commands(Offer *o) {
    const ConsoleCommand *c;
    for (size_t i = 0; (c = commands_at(i)); i++) {
        if (fits(o, c->name, strlen(c->name))) {
            add_item(o, o->from, json_string_fmt("%s ", c->name));
        }
    }
}

static void offer_words(Offer *o, const char *words) {
    for (const char *at = words; *at;) {
        size_t n = strcspn(at, " ");
        if (fits(o, at, n)) {
            add_item(o, o->from, json_string_fmt("%.*s ", (int)n, at));
        }
        at += n + (at[n] == ' ');
    }
}

static void offer_nodes(Offer *o, Console *c) {
    Json answer = console_ask(c, "nodes", json_none()), nodes = field_get(answer, "nodes");
    for (size_t i = 0; i < field_items(nodes); i++) {
        Json name = field_get(json_array_get(nodes, i), "name");
        if (field_is_text(name) && fits(o, json_string_data(&name), json_string_len(name))) {
            add_item(o, o->from, json_ref(name));
        }
    }
    json_unref(answer);
}

/* Items of jq say themselves what they replace; only those of one place can be offered together. */
static void offer_jq(Offer *o, Console *c, const char *what) {
    Json args = OBJECT(KEY("text", json_string(o->typed, o->len)),
                       KEY("cursor", json_int((int64_t)o->len)), KEY("what", what));
    Json answer = console_ask(c, "complete", args), found = field_get(answer, "items");
    Json place = json_none();
    for (size_t i = 0; i < field_items(found); i++) {
        Json item = json_array_get(found, i), at = field_get(item, "from");
        Json text = field_get(item, "text");
        place = i ? place : at;
        if (json_tag(at) == JSON_TAG_INT && at.i >= 0 && (size_t)at.i <= o->len &&
            json_identical(at, place) && field_is_text(text)) {
            add_item(o, o->from + (size_t)at.i, json_ref(text));
        }
    }
    json_unref(answer);
}

Json console_complete(void *console, const char *line, size_t cursor) {
    Completion c = commands_completion(line, cursor);
    Offer o = {c.from, line + c.from, cursor - c.from, json_array()};
    switch (c.offers) {
    case OFFERS_NOTHING: break;
    case OFFERS_COMMAND: offer_commands(&o); break;
    case OFFERS_WORDS: offer_words(&o, c.words); break;
    case OFFERS_NODE: offer_nodes(&o, console); break;
    case OFFERS_EXPRESSION: offer_jq(&o, console, "expression"); break;
    case OFFERS_PATH: offer_jq(&o, console, "path"); break;
    }
    return o.items;
}
