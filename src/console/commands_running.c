/* commands_running.c - what is written behind the commands that let frames go. */
#include "commands_rows.h"

#include <string.h>

bool read_nothing(WordReader *r, Order *o, Error *err) {
    (void)o;
    return reader_ends(r, err);
}

bool read_frame_if_any(WordReader *r, Order *o, Error *err) {
    int64_t frame;
    if (reader_at_end(r)) {
        return true;
    }
    if (!reader_number(r, "the number of a frame", &frame, err)) {
        return false;
    }
    order_put_number(o, "frame", frame);
    return reader_ends(r, err);
}

bool read_frame_or_all(WordReader *r, Order *o, Error *err) {
    if (reader_takes(r, "all")) {
        order_put(o, "frame", json_string_c("all"));
        return reader_ends(r, err);
    }
    return read_frame_if_any(r, o, err);
}

bool read_next(WordReader *r, Order *o, Error *err) {
    order_put(o, "kind", json_string_c("over"));
    return read_frame_if_any(r, o, err);
}

bool read_step(WordReader *r, Order *o, Error *err) {
    order_put(o, "kind", json_string_c("into"));
    return read_frame_if_any(r, o, err);
}

bool read_finish(WordReader *r, Order *o, Error *err) {
    order_put(o, "kind", json_string_c("out"));
    return read_frame_if_any(r, o, err);
}

bool read_back(WordReader *r, Order *o, Error *err) {
    int64_t count;
    if (reader_at_end(r)) {
        return true;
    }
    if (!reader_number(r, "how many steps", &count, err)) {
        return false;
    }
    if (count < 1) {
        return error_set(err, ERR_USAGE, "`back` takes at least one step.");
    }
    order_put_number(o, "count", count);
    return reader_ends(r, err);
}

bool read_skip(WordReader *r, Order *o, Error *err) {
    Piece text = reader_rest(r);
    Error why = ERROR_INIT;
    if (!text.len) {
        return true;
    }
    Json output = piece_value(text, &why);
    if (json_is_none(output)) {
        return piece_refuse_value(text, &why, err);
    }
    order_put(o, "output", output);
    return true;
}

bool read_goto(WordReader *r, Order *o, Error *err) {
    int64_t checkpoint;
    Piece place = reader_rest(r);
    if (!place.len) {
        return reader_lacks(r, "a node, or @ and a checkpoint", err);
    }
    if (piece_checkpoint(place, false, &checkpoint)) {
        order_put_number(o, "checkpoint", checkpoint);
    } else if (place.text[0] == '@') {
        return error_set(err, ERR_USAGE,
                         "Behind the @ stands the number of a checkpoint, not `%.*s`.",
                         QUOTED(place));
    } else {
        order_put(o, "node", piece_json(place));
    }
    return true;
}

/* Interrupts are called i and a number. */
static bool is_interrupt(Piece p) {
    int64_t number;
    return p.len > 1 && p.text[0] == 'i' && piece_number((Piece){p.text + 1, p.len - 1}, &number);
}

bool read_answer(WordReader *r, Order *o, Error *err) {
    if (is_interrupt(reader_peek(r))) {
        order_put(o, "interrupt", piece_json(reader_next(r)));
    }
    Piece text = reader_rest(r);
    if (!text.len) {
        return true; /* some ask for nothing but to be let go */
    }
    Json value = piece_value(text, NULL);
    if (!json_is_none(value)) {
        order_put(o, "value", value);
        return true;
    }
    if (strchr("{[\"", text.text[0])) {
        Error why = ERROR_INIT;
        json_unref(piece_value(text, &why));
        return piece_refuse_value(text, &why, err);
    }
    order_put(o, "decision", piece_json(text));
    return true;
}
