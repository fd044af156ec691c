/* commands_session.c - what is written behind the commands for the session itself. */
#include "commands_rows.h"

#include "json_duration.h"
#include "mem.h"

#include <string.h>

static bool read_switch(Piece p, Json *value, Error *err) {
    if (!piece_is(p, "on") && !piece_is(p, "off")) {
        return error_set(err, ERR_USAGE, "It is on or off, not `%.*s`.", QUOTED(p));
    }
    *value = json_bool(piece_is(p, "on"));
    return true;
}

/* Seconds of "30m", "90", "1h 30m" or "off". */
static bool read_seconds(Piece p, Json *value, Error *err) {
    int64_t ms;
    if (piece_is(p, "off")) {
        *value = json_int(0);
        return true;
    }
    Json number = json_number_parse(p.text, p.len);
    Json text = json_is_none(number) ? piece_json(p) : number;
    bool ok = json_duration(text, &ms) && ms >= 0;
    json_unref(text);
    if (!ok) {
        return error_set(err, ERR_USAGE, "`%.*s` is no length of time; it is as 30m, 90s or 2h.",
                         QUOTED(p));
    }
    *value = json_number((double)ms / 1000);
    return true;
}

static const struct SessionOption {
    const char *name, *field;
    bool (*read)(Piece p, Json *value, Error *err);
} session_options[] = {
    {"pause-all", "pause_all_on_breakpoint", read_switch},
    {"auto-resume", "auto_resume", read_switch},
    {"idle", "idle_limit", read_seconds},
    {"steps", "steps", read_switch},
    {NULL, NULL, NULL},
};

bool read_option(WordReader *r, Order *o, Error *err) {
    Json value;
    if (reader_at_end(r)) {
        o->operation = "session";
        return true;
    }
    Piece name = reader_next(r), text = reader_rest(r);
    for (const struct SessionOption *s = session_options; s->name; s++) {
        if (piece_is(name, s->name)) {
            if (!s->read(text, &value, err)) {
                return false;
            }
            order_put(o, s->field, value);
            return true;
        }
    }
    return error_set(err, ERR_USAGE, "There is no option `%.*s`.", QUOTED(name));
}

bool read_extend(WordReader *r, Order *o, Error *err) {
    Json seconds;
    Piece text = reader_rest(r);
    if (!text.len) {
        return true;
    }
    if (!read_seconds(text, &seconds, err)) {
        return false;
    }
    order_put(o, "seconds", seconds);
    return true;
}

bool read_replay(WordReader *r, Order *o, Error *err) {
    return reader_at_end(r) || read_goto(r, o, err);
}

bool read_export(WordReader *r, Order *o, Error *err) {
    Piece path = reader_rest(r);
    if (!path.len || memchr(path.text, '\0', path.len)) {
        return reader_lacks(r, "the file to write", err);
    }
    o->text = mem_strndup(path.text, path.len);
    return true;
}

bool read_help(WordReader *r, Order *o, Error *err) {
    Piece topic = reader_next(r);
    const Word *word = topic.len ? words_find(topic.text, topic.len, err) : NULL;
    if (topic.len && !word) {
        return false;
    }
    o->text = word ? mem_strndup(word->name, strlen(word->name)) : NULL;
    return reader_ends(r, err);
}

bool read_abort(WordReader *r, Order *o, Error *err) {
    o->everything = true;
    return reader_ends(r, err);
}
