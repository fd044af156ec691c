#include "commands_rows.h"

#include "mem.h"
#include "suggest.h"

#include <string.h>

/* ---- the table ---- */

const Word debug_words[] = {
    {"break", "b br", WORDS_BREAKPOINTS, "breakpoint_set", "SPEC", "stop at a place",
     "SPEC is NODE, NODE:after, NODE:error, FILE:LINE, LINE (of the main file), changed:PATH for the "
     "step that changes the state there, state:PATH=JSON for the one that makes it so, error for what "
     "nobody handles, caught for every error; with `if EXPR` behind it only when that holds. `if EXPR` "
     "alone is tried at every node. A NODE may have * and ? in it, and be OUTER/NODE.",
     "break deploy if .tries > 2", 0, OFFERS_NODE, NULL, read_break},
    {"tbreak", "tb", WORDS_BREAKPOINTS, "breakpoint_set", "SPEC", "stop at a place, once", NULL,
     "tbreak flow.yaml:12", 0, OFFERS_NODE, NULL, read_tbreak},
    {"catch", "", WORDS_BREAKPOINTS, "breakpoint_set", "[error|caught] [if EXPR]",
     "stop where a node fails",
     "`caught` also stops where a retry or an error edge takes the error. EXPR looks at the error: "
     ".kind, .message, .node.",
     "catch if .kind == \"timeout\"", 0, OFFERS_WORDS, "error caught if", read_catch},
    {"logpoint", "log dprintf", WORDS_BREAKPOINTS, "breakpoint_set", "PLACE TEXT",
     "write a text there and go on",
     "TEXT is the inside of a jq string. A PLACE with blanks in it stands in quotes.",
     "logpoint build tries: \\(.tries)", 0, OFFERS_NODE, NULL, read_logpoint},
    {"condition", "cond", WORDS_BREAKPOINTS, "breakpoint_change", "N [EXPR]",
     "stop at breakpoint N only when EXPR holds", "Without EXPR it always stops.",
     "condition 1 .x > 3", 0, OFFERS_NOTHING, NULL, read_condition},
    {"ignore", "", WORDS_BREAKPOINTS, "breakpoint_change", "N COUNT",
     "pass over the next hits of breakpoint N", NULL, "ignore 1 9", 0, OFFERS_NOTHING, NULL,
     read_ignore},
    {"hits", "", WORDS_BREAKPOINTS, "breakpoint_change", "N [== M | >= M | % M]",
     "stop at breakpoint N at these hits only", NULL, "hits 1 % 10", 0, OFFERS_NOTHING, NULL,
     read_hits},
    {"group", "", WORDS_BREAKPOINTS, "breakpoint_change", "N [NAME]",
     "put breakpoint N in a group, or take it out", NULL, "group 1 deploying", 0, OFFERS_NOTHING,
     NULL, read_group},
    {"delete", "d del", WORDS_BREAKPOINTS, "breakpoint_delete", "[N... | group NAME]",
     "delete breakpoints", "Without arguments, all of them.", "delete 1 3", WORD_ASKS, OFFERS_WORDS,
     "group", read_selection},
    {"enable", "en", WORDS_BREAKPOINTS, "breakpoint_enable", "[N... | group NAME]",
     "make breakpoints stop again", "Without arguments, all of them.", "enable group deploying", 0,
     OFFERS_WORDS, "group", read_enable},
    {"disable", "dis", WORDS_BREAKPOINTS, "breakpoint_enable", "[N... | group NAME]",
     "keep breakpoints, but let them not stop", "Without arguments, all of them.", "disable 2", 0,
     OFFERS_WORDS, "group", read_disable},
    {"watch", "display", WORDS_BREAKPOINTS, "watch_add", "[EXPR]",
     "show a value whenever a frame stops",
     "Without an expression, shows the values now. `break changed:PATH` stops when one changes.",
     "watch .items | length", 0, OFFERS_EXPRESSION, NULL, read_watch},
    {"unwatch", "undisplay", WORDS_BREAKPOINTS, "watch_delete", "[N]", "show a value no longer",
     "Without a number, none of them.", "unwatch 1", 0, OFFERS_NOTHING, NULL, read_id_or_all},

    {"run", "r start", WORDS_RUNNING, NULL, "", "start the workflow anew, when the run has ended",
     "The file is read again; breakpoints and watches are kept.", NULL, WORD_GOES, OFFERS_NOTHING,
     NULL, read_nothing},
    {"continue", "c cont", WORDS_RUNNING, "continue", "[FRAME | all]",
     "go on until something stops",
     "Without a frame: all of them when all stop together (option pause-all), the selected one "
     "otherwise.",
     "continue all", WORD_GOES | WORD_REPEATS, OFFERS_WORDS, "all", read_frame_or_all},
    {"next", "n over", WORDS_RUNNING, "step", "[FRAME]",
     "go to the next node, over what is inside this one", NULL, NULL, WORD_GOES | WORD_REPEATS,
     OFFERS_NOTHING, NULL, read_next},
    {"step", "s into", WORDS_RUNNING, "step", "[FRAME]",
     "go to the next node, also inside this one and in its branches", NULL, NULL,
     WORD_GOES | WORD_REPEATS, OFFERS_NOTHING, NULL, read_step},
    {"finish", "fin out", WORDS_RUNNING, "step", "[FRAME]", "go on until this level is left", NULL,
     NULL, WORD_GOES | WORD_REPEATS, OFFERS_NOTHING, NULL, read_finish},
    {"back", "reverse-step reverse-next reverse-stepi rs rn rsi", WORDS_RUNNING, "back", "[N]",
     "go back by N steps", "What came after stays in the history, as a line of its own.", "back 2",
     WORD_MOVES | WORD_REPEATS, OFFERS_NOTHING, NULL, read_back},
    {"reverse-continue", "rc", WORDS_RUNNING, "reverse_continue", "",
     "go back to where a breakpoint would have stopped", NULL, NULL, WORD_MOVES | WORD_REPEATS,
     OFFERS_NOTHING, NULL, read_nothing},
    {"skip", "", WORDS_RUNNING, "skip", "[JSON]", "pass over the node, as if it had given JSON",
     NULL, "skip {\"answer\": 42}", WORD_GOES, OFFERS_NOTHING, NULL, read_skip},
    {"retry", "", WORDS_RUNNING, "retry", "[FRAME]", "run the node that failed again", NULL, NULL,
     WORD_GOES, OFFERS_NOTHING, NULL, read_frame_if_any},
    {"goto", "jump j", WORDS_RUNNING, "goto", "NODE | @CHECKPOINT",
     "stand before another node, or at a checkpoint", NULL, "goto @12", WORD_MOVES, OFFERS_NODE,
     NULL, read_goto},
    {"pause", "interrupt", WORDS_RUNNING, "pause", "[FRAME | all]", "stop what is running",
     "Ctrl-C does it while the prompt waits.", NULL, WORD_GOES, OFFERS_WORDS, "all",
     read_frame_or_all},
    {"wait", "", WORDS_RUNNING, NULL, "", "wait until something stops, or the run ends", NULL, NULL,
     WORD_GOES, OFFERS_NOTHING, NULL, read_nothing},
    {"answer", "", WORDS_RUNNING, "answer", "[ID] [JSON | DECISION]",
     "answer what the run asks a person", NULL, "answer approve", WORD_GOES, OFFERS_NOTHING, NULL,
     read_answer},

    {"print", "p pp evaluate", WORDS_LOOKING, "evaluate", "[@CHECKPOINT] EXPR",
     "evaluate a jq expression on what the node sees",
     "A line that begins with a dot is printed too.", "print .items | map(.name)", WORD_REPEATS,
     OFFERS_EXPRESSION, NULL, read_print},
    {"state", "vars variables", WORDS_LOOKING, "variables", "[@CHECKPOINT] [PATH] [+OFFSET]",
     "show the state, or what is at a path",
     "A large value is shown by its parts; +100 shows the "
     "parts from there on.",
     "state .items +100", 0, OFFERS_PATH, NULL, read_state},
    {"summary", "", WORDS_LOOKING, "summary", "[@CHECKPOINT]",
     "list the keys of the state, their types and sizes", NULL, NULL, 0, OFFERS_NOTHING, NULL,
     read_summary},
    {"search", "", WORDS_LOOKING, "search", "[@CHECKPOINT] TEXT",
     "find keys and values in the state", NULL, "search timeout", 0, OFFERS_NOTHING, NULL,
     read_search},
    {"largest", "", WORDS_LOOKING, "largest", "[N]", "list the largest parts of the state", NULL,
     NULL, 0, OFFERS_NOTHING, NULL, read_limit},
    {"diff", "", WORDS_LOOKING, "diff", "[pause | node | start | A B]",
     "show what changed in the state",
     "Since the last pause (unless told), across the last node, since the start, or between two "
     "checkpoints.",
     "diff 3 7", 0, OFFERS_WORDS, "node pause start", read_diff},
    {"config", "", WORDS_LOOKING, "config", "[set PATH = JSON | reset]",
     "show or edit what the node is told to do", "An edit is for this one execution.",
     "config set .timeout = 60", 0, OFFERS_WORDS, "set reset", read_config},
    {"frames", "threads", WORDS_LOOKING, "frames", "", "list the frames of the run", NULL, NULL, 0,
     OFFERS_NOTHING, NULL, read_nothing},
    {"frame", "f thread", WORDS_LOOKING, "frame", "[N]", "choose a frame, and show where it stands",
     NULL, "frame 2", 0, OFFERS_NOTHING, NULL, read_frame_if_any},
    {"backtrace", "bt where w", WORDS_LOOKING, "frame", "", "show the levels of the selected frame",
     NULL, NULL, 0, OFFERS_NOTHING, NULL, read_nothing},
    {"info", "i", WORDS_LOOKING, NULL,
     "breakpoints | config | frames | injected | node | nodes | pending | session | stack | watches",
     "tell about something", NULL, "info breakpoints", 0, OFFERS_WORDS,
     "breakpoints config frames injected node nodes pending session stack watches", read_info},
    {"history", "", WORDS_LOOKING, "history", "[N] [@CHECKPOINT] [all]",
     "list the last steps of the run",
     "N of them, those before a checkpoint, or `all` checkpoints.", "history 20", 0, OFFERS_WORDS,
     "all", read_history},
    {"graph", "", WORDS_LOOKING, "graph", "[mermaid | dot | json]", "draw the workflow", NULL, NULL,
     0, OFFERS_WORDS, "dot json mermaid", read_graph},
    {"list", "l", WORDS_LOOKING, "source", "[LINE | FILE:LINE]", "show the workflow's text",
     "Around the current line first, then what follows.", "list 12", WORD_REPEATS, OFFERS_NOTHING,
     NULL, read_list},

    {"set", "", WORDS_CHANGING, "set", "PATH = JSON", "change the state when the frame goes on",
     "It is pending until then: `info pending` lists it, `revoke` takes it back.",
     "set .user.name = \"Ada\"", 0, OFFERS_PATH, NULL, read_setting},
    {"unset", "", WORDS_CHANGING, "unset", "PATH",
     "remove something from the state in the same way", NULL, "unset .errors", 0, OFFERS_PATH, NULL,
     read_unset},
    {"revoke", "", WORDS_CHANGING, "revoke", "[N]", "take back what is pending", NULL, NULL, 0,
     OFFERS_NOTHING, NULL, read_id_or_all},
    {"inject", "", WORDS_CHANGING, "inject", "[before | after] [NAME:] NODE",
     "run another node before or after this one", "NODE is written as in the file, on one line.",
     "inject before probe: {shell: env}", 0, OFFERS_WORDS, "after before", read_inject},
    {"uninject", "", WORDS_CHANGING, "inject_remove", "N", "remove an injected node", NULL, NULL, 0,
     OFFERS_NOTHING, NULL, read_uninject},

    {"option", "", WORDS_SESSION, "configure",
     "[pause-all | auto-resume | steps on|off, idle TIME]", "see or change how the session works",
     "pause-all: when a frame stops, all do. idle: how long nobody may do anything before the session "
     "is over (`off`: for ever); then frames stay paused, or with auto-resume go on. steps: tell of "
     "every node.",
     "option idle 30m", 0, OFFERS_WORDS, "auto-resume idle pause-all steps", read_option},
    {"extend", "", WORDS_SESSION, "extend", "[TIME]", "let the idle time begin anew", NULL,
     "extend 2h", 0, OFFERS_NOTHING, NULL, read_extend},
    {"export", "", WORDS_SESSION, "export", "FILE", "write the run with its history to a file",
     "`pawl debug --open FILE` shows it anywhere.", "export run.json", 0, OFFERS_NOTHING, NULL,
     read_export},
    {"replay", "", WORDS_SESSION, "replay", "[@CHECKPOINT | NODE]",
     "run one node again on the input that it had",
     "It is a run of its own; this one stays as it is.", "replay @7", WORD_GOES, OFFERS_NODE, NULL,
     read_replay},
    {"abort", "kill k", WORDS_SESSION, "abort", "", "cancel the run; its cleanup tasks run", NULL,
     NULL, WORD_GOES | WORD_ASKS, OFFERS_NOTHING, NULL, read_abort},
    {"detach", "", WORDS_SESSION, "detach", "", "let the run go on without a debugger", NULL, NULL,
     WORD_GOES, OFFERS_NOTHING, NULL, read_nothing},
    {"quit", "q exit", WORDS_SESSION, NULL, "", "leave; the run stays paused in its store", NULL,
     NULL, 0, OFFERS_NOTHING, NULL, read_nothing},
    {"help", "h", WORDS_SESSION, NULL, "[COMMAND]", "list the commands, or explain one", NULL, NULL,
     0, OFFERS_COMMAND, NULL, read_help},
    {0},
};

/* ---- finding ---- */

static bool is_among(const char *words, Piece p) {
    for (const char *at = words; *at;) {
        size_t n = strcspn(at, " ");
        if (n == p.len && memcmp(at, p.text, n) == 0) {
            return true;
        }
        at += n + (at[n] == ' ');
    }
    return false;
}

static const Word *find_exactly(Piece p) {
    for (const Word *w = debug_words; w->name; w++) {
        if (piece_is(p, w->name) || is_among(w->aliases, p)) {
            return w;
        }
    }
    return NULL;
}

static bool begins_with(const char *name, Piece p) {
    return p.len <= strlen(name) && memcmp(name, p.text, p.len) == 0;
}

static void refuse_several(Piece p, Error *err) {
    Buf names = BUF_INIT;
    for (const Word *w = debug_words; w->name; w++) {
        if (begins_with(w->name, p)) {
            buf_printf(&names, "%s%s", names.len ? ", " : "", w->name);
        }
    }
    error_set(err, ERR_USAGE, "`%.*s` may be one of %s.", QUOTED(p), names.data);
    buf_clear(&names);
}

static void refuse_unknown(Piece p, Error *err) {
    Suggestion nearest = suggestion_for(p.text, p.len);
    for (const Word *w = debug_words; w->name; w++) {
        suggestion_offer(&nearest, w->name);
    }
    if (nearest.best) {
        error_set(err, ERR_USAGE, "There is no command `%.*s`; did you mean `%s`?", QUOTED(p),
                  nearest.best);
    } else {
        error_set(err, ERR_USAGE, "There is no command `%.*s`; `help` lists them.", QUOTED(p));
    }
}

const Word *words_find(const char *name, size_t len, Error *err) {
    Piece p = {name, len};
    const Word *found = find_exactly(p);
    size_t n = 0;
    if (found) {
        return found;
    }
    for (const Word *w = debug_words; w->name; w++) {
        if (begins_with(w->name, p)) {
            found = w;
            n++;
        }
    }
    if (n > 1) {
        refuse_several(p, err);
    } else if (n == 0) {
        refuse_unknown(p, err);
    }
    return n == 1 ? found : NULL;
}

bool words_operation_goes(const char *operation) {
    for (const Word *w = debug_words; w->name; w++) {
        if ((w->flags & WORD_GOES) && w->operation && !strcmp(w->operation, operation)) {
            return true;
        }
    }
    return false;
}

/* ---- lines ---- */

static const Word *find_word(WordReader *r, Error *err) {
    Piece name = reader_name(r);
    if (name.text[0] == '.') {
        return words_find("print", 5, err);
    }
    r->at += name.len;
    return piece_is(name, "?") ? words_find("help", 4, err) : words_find(name.text, name.len, err);
}

bool words_read(const WordContext *context, const char *line, size_t len, Order *order,
                Error *err) {
    Piece text = piece_between(line, line + len);
    WordReader r = {.context = context, .at = text.text, .end = text.text + text.len};
    *order = (Order){.args = json_object()};
    if (!text.len || text.text[0] == '#') {
        return true;
    }
    order->word = r.word = find_word(&r, err);
    if (!order->word) {
        return false;
    }
    order->operation = order->word->operation;
    return order->word->read(&r, order, err);
}

void order_clear(Order *order) {
    json_clear(&order->args);
    mem_free(order->text);
    *order = (Order){0};
}
