/* commands_running.c - letting frames go, back and elsewhere. */
#include "console_inside.h"

#include <string.h>

/* ---- on ---- */

static bool read_frame_or_all(CommandReader *r) {
    return reader_takes(r, "all") ? reader_put(r, "frame", json_string_c("all")) && reader_ends(r)
                                  : read_frame(r);
}

/* [FRAME | all] [while EXPR] */
static bool read_continue(CommandReader *r) {
    if (reader_takes(r, "all")) {
        reader_put(r, "frame", json_string_c("all"));
    } else if (!reader_at_end(r) && !span_is(reader_peek(r), "while") &&
               !reader_put_number(r, "frame",
                                  "the number of a frame, or `while` and what is to hold")) {
        return false;
    }
    return reader_takes(r, "while") ? reader_put_rest(r, "while", "what is to hold behind `while`")
                                    : reader_ends(r);
}

/* [N] [frame FRAME] */
static bool read_step(CommandReader *r) {
    int64_t count;
    if (!reader_at_end(r) && !span_is(reader_peek(r), "frame")) {
        if (!reader_number(r, "how many steps, or `frame` and its number", &count)) return false;
        if (count < 1) return error_set(r->err, ERR_USAGE, "It takes at least one step.");
        reader_put(r, "count", json_int(count));
    }
    return reader_takes(r, "frame")
               ? reader_put_number(r, "frame", "the number of a frame") && reader_ends(r)
               : reader_ends(r);
}

static bool read_skip(CommandReader *r) {
    Span text = reader_rest(r);
    Error why = ERROR_INIT;
    if (!text.len) return true;
    Json output = span_value(text, &why);
    return json_is_none(output) ? reader_no_value(r, text, &why) : reader_put(r, "output", output);
}

static void view_resumed(View *v, Json answer) {
    if (!json_array_len(field_get(answer, "resumed"))) view_hint(v, "Nothing is paused.");
}

void view_pausing(View *v, Json answer) {
    Json later = field_get(answer, "later");
    bool several = json_array_len(later) > 1;
    if (json_array_len(later)) {
        view_puts(v, several ? "Frames " : "Frame ");
        view_numbers(v, later);
        view_puts(v,
                  several ? " stop before their next nodes.\n" : " stops before its next node.\n");
    } else if (!json_array_len(field_get(answer, "paused"))) {
        view_hint(v, "Nothing is running.");
    }
}

/* [ID] [JSON | DECISION]: interrupts are called i and a number. */
static bool read_answer(CommandReader *r) {
    int64_t number;
    Span id = reader_peek(r);
    if (id.len > 1 && id.text[0] == 'i' && span_number((Span){id.text + 1, id.len - 1}, &number)) {
        reader_put(r, "interrupt", span_string(reader_next(r)));
    }
    Span text = reader_rest(r);
    if (!text.len) {
        return true; /* some ask for nothing but to be let go */
    }
    Error why = ERROR_INIT;
    Json value = span_value(text, &why);
    if (!json_is_none(value)) return reader_put(r, "value", value);
    return strchr("{[\"", text.text[0]) ? reader_no_value(r, text, &why)
                                        : reader_put(r, "decision", span_string(text));
}

static void view_answered(View *v, Json answer) {
    view_format(v, answer, "[Answered {answered}.\n]");
}

/* ---- back and elsewhere ---- */

static bool read_back(CommandReader *r) {
    int64_t count;
    if (reader_at_end(r)) return true;
    if (!reader_number(r, "how many steps", &count)) return false;
    if (count < 1) return error_set(r->err, ERR_USAGE, "`back` takes at least one step.");
    return reader_put(r, "count", json_int(count)) && reader_ends(r);
}

static void view_moved(View *v, Json answer) {
    Json after = field_get(answer, "after"), ended = field_get(answer, "ended");
    view_format(v, answer, "[At checkpoint {checkpoint}]");
    Json points = field_get(answer, "breakpoints");
    view_breakpoint_ids(v, points);
    if (json_kind(points) == JSON_ARRAY && !json_array_len(points) && json_is_none(after)) {
        view_puts(v, ", the start: no breakpoint would have stopped the run before");
    }
    if (field_has_text(after, "node")) { /* a breakpoint was hit in a frame that is gone here */
        view_format(v, after,
                    " after `{node}`[ in frame {frame}][ ({path})], which has ended with it");
    }
    if (field_is_text(ended)) { /* no frame stands at a node */
        view_format(v, answer, ", where the run has {ended}");
    }
    if (json_string_is(ended, "completed")) {
        view_puts(v, ": nothing comes after it, and `back` goes back into it");
    }
    Json others = field_get(answer, "others");
    if (json_array_len(others)) { /* the run goes back as a whole */
        view_puts(v, json_array_len(others) > 1 ? "; frames " : "; frame ");
        view_numbers(v, others);
        view_puts(v, " went back, too");
    }
    view_puts(v, json_is_none(field_get(answer, "checkpoint")) ? "" : ".\n");
}

/* ---- the rows ---- */

const ConsoleCommand running_commands[] = {
    {"run", "r start", "", "start the workflow anew, when the run has ended",
     "The file is read again; breakpoints and watches are kept.", .flags = COMMAND_GOES,
     .act = console_do_run},
    {"continue", "c cont", "[FRAME | all] [while EXPR]", "go on until something stops",
     "Without a frame: all of them when all stop together (option pause-all), the selected one "
     "otherwise. With `while`, breakpoints are passed over as long as EXPR holds of what the node there "
     "sees, at most a thousand of them.",
     "continue while .tries < 5", .flags = COMMAND_GOES | COMMAND_REPEATS, .offers = OFFERS_FRAME,
     .words = "all while", .read = read_continue, .operation = "continue", .view = view_resumed},
    {"next", "n over", "[N] [frame FRAME]", "go to the next node, over what is inside this one",
     .flags = COMMAND_GOES | COMMAND_REPEATS, .words = "frame", .read = read_step,
     .operation = "step", .args = "{\"kind\":\"over\"}", .view = view_resumed},
    {"step", "s into", "[N] [frame FRAME]",
     "go to the next node, also inside this one and in its branches",
     .flags = COMMAND_GOES | COMMAND_REPEATS, .words = "frame", .read = read_step,
     .operation = "step", .args = "{\"kind\":\"into\"}", .view = view_resumed},
    {"finish", "fin out", "[N] [frame FRAME]", "go on until this level is left",
     .flags = COMMAND_GOES | COMMAND_REPEATS, .words = "frame", .read = read_step,
     .operation = "step", .args = "{\"kind\":\"out\"}", .view = view_resumed},
    {"back", "reverse-step reverse-next reverse-stepi rs rn rsi", "[N]", "go back by N steps",
     "What came after stays in the history, as a line of its own.", "back 2",
     .flags = COMMAND_MOVES | COMMAND_REPEATS, .read = read_back, .operation = "back",
     .view = view_moved},
    {"reverse-continue", "rc", "", "go back to where a breakpoint would have stopped",
     .flags = COMMAND_MOVES | COMMAND_REPEATS, .operation = "reverse_continue", .view = view_moved},
    {"skip", "", "[JSON]", "pass over the node, as if it had given JSON", NULL,
     "skip {\"answer\": 42}", .flags = COMMAND_GOES, .read = read_skip, .operation = "skip",
     .view = view_resumed},
    {"retry", "", "[FRAME]", "run the node that failed again", .flags = COMMAND_GOES,
     .offers = OFFERS_FRAME, .read = read_frame, .operation = "retry", .view = view_resumed},
    {"goto", "jump j", "NODE | @CHECKPOINT", "stand before another node, or at a checkpoint", NULL,
     "goto @12", .flags = COMMAND_MOVES, .offers = OFFERS_NODE, .read = read_goto,
     .operation = "goto", .view = view_moved},
    {"pause", "interrupt", "[FRAME | all]", "stop what is running",
     "Ctrl-C does it while the prompt waits.", .flags = COMMAND_GOES, .offers = OFFERS_FRAME,
     .words = "all", .read = read_frame_or_all, .operation = "pause", .view = view_pausing},
    {"wait", "", "", "wait until something stops, or the run ends", .flags = COMMAND_GOES,
     .act = console_do_wait},
    {"answer", "", "[ID] [JSON | DECISION]", "answer what the run asks a person", NULL,
     "answer approve", .flags = COMMAND_GOES, .read = read_answer, .operation = "answer",
     .view = view_answered},
    {0},
};
