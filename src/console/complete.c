/* complete.c - what Tab offers. */
#include "console_inside.h"

#include <string.h>

/* The part of the line that is being typed, and what could stand in its place. */
typedef struct Offer {
    const char *typed;
    size_t len;
    Json items;
} Offer;

/* What begins as it is typed. */
static void offer(Offer *o, const char *text, size_t len, const char *end) {
    if (o->len <= len && memcmp(text, o->typed, o->len) == 0) {
        o->items = json_array_push(o->items, json_string_fmt("%.*s%s", (int)len, text, end));
    }
}

static void offer_nodes(Offer *o, Console *c) {
    Json answer = console_ask(c, "nodes", json_none()), nodes = field_get(answer, "nodes");
    for (size_t i = 0; i < field_items(nodes); i++) {
        Json name = field_get(json_array_get(nodes, i), "name");
        if (field_is_text(name)) {
            offer(o, json_string_data(&name), json_string_len(name), "");
        }
    }
    json_unref(answer);
}

/* Items of jq say themselves what they replace; only those of one place can be offered together. */
static void offer_jq(Offer *o, Console *c, const char *what, size_t *from) {
    Json args = OBJECT(KEY("text", json_string(o->typed, o->len)),
                       KEY("cursor", json_int((int64_t)o->len)), KEY("what", what));
    Json answer = console_ask(c, "complete", args), found = field_get(answer, "items");
    int64_t place = -1;
    for (size_t i = 0; i < field_items(found); i++) {
        Json item = json_array_get(found, i), text = field_get(item, "text");
        int64_t at = field_number(item, "from", -1);
        place = i ? place : at;
        if (at >= 0 && at <= (int64_t)o->len && at == place && field_is_text(text)) {
            o->items = json_array_push(o->items, json_ref(text));
        }
    }
    *from += place > 0 ? (size_t)place : 0;
    json_unref(answer);
}

Json console_complete(void *console, const char *line, size_t cursor, size_t *from) {
    Completion c = commands_completion(line, cursor);
    Offer o = {line + c.from, cursor - c.from, json_array()};
    const ConsoleCommand *command;
    *from = c.from;
    switch (c.offers) {
    case OFFERS_NOTHING: break;
    case OFFERS_COMMAND:
        for (size_t i = 0; (command = commands_at(i)); i++) {
            offer(&o, command->name, strlen(command->name), " ");
        }
        break;
    case OFFERS_WORDS:
        for (size_t n; (n = strcspn(c.words, " ")); c.words += n + (c.words[n] == ' ')) {
            offer(&o, c.words, n, " ");
        }
        break;
    case OFFERS_NODE: offer_nodes(&o, console); break;
    case OFFERS_EXPRESSION: offer_jq(&o, console, "expression", from); break;
    case OFFERS_PATH: offer_jq(&o, console, "path", from); break;
    }
    return o.items;
}
