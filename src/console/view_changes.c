/* view_changes.c - what is pending, and nodes that were added. */
#include "view_rows.h"

void show_pending(const Show *s, Json args, Json answer, Buf *out) {
    Json list = field_get(answer, "pending");
    (void)args;
    if (!field_items(list)) {
        say_hint(s, "Nothing is pending.", out);
        return;
    }
    buf_adds(out, "When the frame goes on:\n");
    for (size_t i = 0; i < field_items(list); i++) {
        Json change = json_array_get(list, i), value = field_get(change, "value");
        say_field("  ", change, "id", ": ", out);
        say_path(field_get(change, "path"), out);
        buf_adds(out, json_is_none(value) ? " is removed" : " = ");
        if (!json_is_none(value)) {
            say_json(value, SAY_LINE, out);
        }
        buf_addc(out, '\n');
    }
}

static void add_injected(const Show *s, Json injected, Buf *out) {
    say_field("Node ", injected, "id", ", ", out);
    say_name(s, field_get(injected, "name"), out);
    say_field(", runs ", injected, "where", " the current one: ", out);
    say_json(field_get(injected, "node"), SAY_LINE, out);
    buf_addc(out, '\n');
}

void show_inject(const Show *s, Json args, Json answer, Buf *out) {
    (void)args;
    add_injected(s, field_get(answer, "injected"), out);
}

void show_injected(const Show *s, Json args, Json answer, Buf *out) {
    Json list = field_get(answer, "injected");
    (void)args;
    for (size_t i = 0; i < field_items(list); i++) {
        add_injected(s, json_array_get(list, i), out);
    }
    if (!field_items(list)) {
        say_hint(s, "No node is injected.", out);
    }
}

void show_removed(const Show *s, Json args, Json answer, Buf *out) {
    (void)s;
    (void)args;
    say_field("Removed ", answer, "removed", ".\n", out);
}
