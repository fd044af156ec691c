/* Where output comes from: the supervisor tells us of each piece, but drops what we are too slow to
 * take, while the file in the place has no holes. So a piece that we are told of is read from the
 * file, at the end of what we have seen: as long as nothing is dropped it is the same piece, and the
 * streams keep their order; once something was, we catch up, and never take the end of one line for
 * the end of another. The rest is in the result. */
#define _GNU_SOURCE
#include "exec_command.h"

#include "errand.h"
#include "exec.h"
#include "folders.h"
#include "json_build.h"
#include "mask.h"
#include "mem.h"
#include "process_place.h"
#include "utf8.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STDERR_TAIL = 2048, /* bytes of stderr that an error carries */
    LINE_TAIL = 200,    /* bytes of its last line in the sentence */
    CATCH_UP = 1 << 20, /* bytes that are read at once after a gap */
    REST_MS = 1,        /* and for so long, when it is over, before the loop has its turn */
    LOGGED = 16 << 20,  /* bytes of a stream for the log, whatever its result takes */
};

/* A NULL-terminated list of C strings. */
typedef struct Texts {
    char **items;
    size_t n, cap;
} Texts;

typedef struct Stream {
    uint64_t seen; /* bytes that the kind was given */
    Utf8Pieces logged;
} Stream;

struct StepCommand {
    Step *step;
    const CommandKind *kind;
    void *data;
    Process *process;
    Texts args, env; /* env: "NAME=value", or "NAME" for one that is not to be there */
    char *program;
    char *shown_folder; /* as it was set, for the sentence; NULL: the run's */
    char *folder;       /* where that is */
    StepText input;
    bool has_input;
    size_t max_output;
    int64_t timeout; /* milliseconds; 0: none */
    Stream streams[2];
    uv_idle_t *rest; /* takes the rest of what it wrote; NULL: it is not over, or it was little */
    const ProcessResult *result; /* when it is over; the process's */
    uint64_t caught_up;          /* when we last did, in milliseconds of the loop; 0: never */
    bool own_env;                /* nothing of the run's but PATH */
    bool cancelled;              /* by us */
    bool again;                  /* started a second time, so never a third */
};

static const char *const stream_names[2] = {"stdout", "stderr"};

/* ---- lists ---- */

static void texts_push(Texts *texts, char *text) {
    texts->items = mem_grow(texts->items, texts->n + 1, &texts->cap, sizeof *texts->items);
    texts->items[texts->n++] = text;
    texts->items[texts->n] = NULL;
}

static void texts_clear(Texts *texts) {
    for (size_t i = 0; i < texts->n; i++) mem_free(texts->items[i]);
    mem_free(texts->items);
    *texts = (Texts){0};
}

/* ---- what it is given ---- */

StepCommand *command_new(Step *step, const CommandKind *kind) {
    StepCommand *command = mem_zalloc(sizeof *command);
    const char *folder = step_folder(step);
    command->step = step;
    command->kind = kind;
    command->folder = mem_strndup(folder, strlen(folder));
    command->max_output = COMMAND_OUTPUT;
    command->timeout = step_timeout_ms(step);
    if (!kind->is_part) step_set_data(step, command);
    return command;
}

/* What is needed to start it. */
static void forget_given(StepCommand *command) {
    texts_clear(&command->args);
    texts_clear(&command->env);
    step_text_clear(&command->input);
}

static void on_rest_closed(uv_handle_t *rest) {
    mem_free(rest);
}

void command_free(StepCommand *command) {
    if (!command) return;
    if (command->rest) uv_close((uv_handle_t *)command->rest, on_rest_closed);
    if (command->data && command->kind->free_data) command->kind->free_data(command->data);
    process_free(command->process);
    forget_given(command);
    mem_free(command->program);
    mem_free(command->shown_folder);
    mem_free(command->folder);
    mem_free(command);
}

static bool refuse_nul(const char *what, const char *text, size_t len, Error *err) {
    return !len || !memchr(text, '\0', len) ||
           error_set(err, ERR_DATA,
                     "%s holds a NUL character, which no command can be given. Take it out.", what);
}

bool command_add_arg(StepCommand *command, const char *what, const char *text, size_t len,
                     Error *err) {
    if (!refuse_nul(what, text, len, err)) return false;
    if (!command->program) command->program = mem_strndup(text, len);
    texts_push(&command->args, mem_strndup(text, len));
    return true;
}

bool command_add_shell(StepCommand *command, Json text, Error *err) {
    return command_add_arg(command, "The shell", "sh", 2, err) &&
           command_add_arg(command, "The shell", "-c", 2, err) &&
           command_add_arg(command, "The command", json_string_data(&text), json_string_len(text),
                           err);
}

/* Runs, and so their commands, are started in a folder that they are confined to. One that is not there is said so when the
 * command is started. */
static bool confine(StepCommand *command, const SafeRoot *root, Error *err) {
    Error why = ERROR_INIT;
    errno = 0;
    char *there = safe_root_path(root, command->folder, &why);
    if (!there && errno == EXDEV) {
        if (err) *err = why;
        return false;
    }
    if (there) {
        mem_free(command->folder);
        command->folder = mem_strdup(there);
    }
    mem_free(there);
    return true;
}

bool command_set_folder(StepCommand *command, const char *what, const char *path, size_t len,
                        Error *err) {
    if (!refuse_nul(what, path, len, err)) return false;
    Buf folder = BUF_INIT;
    const Bounds *bounds = step_bounds(command->step);
    bool whole = len && path[0] == '/';
    if (!whole) buf_adds(&folder, step_folder(command->step));
    if (!whole && len) buf_addc(&folder, '/');
    buf_add(&folder, path, len);
    mem_free(command->folder);
    mem_free(command->shown_folder);
    command->folder = buf_detach(&folder);
    command->shown_folder = mem_strndup(path, len);
    return !bounds->inside || confine(command, bounds->root, err);
}

static bool env_name_fits(const char *param, Json name, Error *err) {
    size_t len = json_string_len(name);
    const char *s = json_string_data(&name);
    if (len && !memchr(s, '=', len) && !memchr(s, '\0', len)) return true;
    return error_set(err, ERR_DATA,
                     "%s has a variable named \"%.*s\"; a name cannot be empty or hold '=' or NUL.",
                     param, (int)len, s);
}

/* The entry for the variable of another entry, or NULL. */
static char **env_find(const StepCommand *command, const char *entry) {
    size_t len = strcspn(entry, "=");
    for (size_t i = 0; i < command->env.n; i++) {
        char **own = &command->env.items[i];
        if (strcspn(*own, "=") == len && !memcmp(*own, entry, len)) return own;
    }
    return NULL;
}

static void env_put(StepCommand *command, char *entry) {
    char **old = env_find(command, entry);
    if (old) {
        mem_free(*old);
        *old = entry;
    } else {
        texts_push(&command->env, entry);
    }
}

bool command_set_env(StepCommand *command, const char *param, Json name, const char *value,
                     size_t len, Error *err) {
    if (!env_name_fits(param, name, err)) return false;
    Buf entry = BUF_INIT;
    buf_add(&entry, json_string_data(&name), json_string_len(name));
    if (len && memchr(value, '\0', len)) {
        error_set(err, ERR_DATA, "%s.%s holds a NUL character, which no variable can. Take it out.",
                  param, entry.data);
        buf_clear(&entry);
        return false;
    }
    buf_addc(&entry, '=');
    buf_add(&entry, value, len);
    env_put(command, buf_detach(&entry));
    return true;
}

bool command_unset_env(StepCommand *command, const char *param, Json name, Error *err) {
    if (!env_name_fits(param, name, err)) return false;
    env_put(command, mem_strndup(json_string_data(&name), json_string_len(name)));
    return true;
}

void command_clear_env(StepCommand *command) {
    command->own_env = true;
}

bool command_set_env_of(StepCommand *command, int param, Error *err) {
    const Param *env = step_param(command->step, param);
    bool fine = true;
    for (size_t i = 0; i < env->nfields && fine; i++) {
        Json name = env->fields[i].name;
        Buf value = BUF_INIT;
        fine = step_text(command->step, env->fields[i].expr, &value, err);
        if (!fine) error_wrap(err, "env.%.*s", (int)json_string_len(name), json_string_data(&name));
        fine = fine && command_set_env(command, "env", name, value.data, value.len, err);
        buf_clear(&value);
    }
    return fine;
}

void command_set_input(StepCommand *command, const char *bytes, size_t len) {
    step_text_clear(&command->input);
    command_add_input(command, bytes, len);
}

void command_add_input(StepCommand *command, const char *bytes, size_t len) {
    assert(!command->input.is_file);
    buf_add(&command->input.text, bytes, len);
    command->input.len = command->input.text.len;
    command->has_input = true;
}

bool command_set_input_of(StepCommand *command, int param, Error *err) {
    const Expr *expr = step_param(command->step, param)->expr;
    step_text_clear(&command->input);
    command->has_input = expr != NULL;
    if (!expr || step_long_text(command->step, expr, &command->input, err)) return true;
    error_wrap(err, "%s", step_node(command->step)->kind->params[param].name);
    return false;
}

void command_set_max_output(StepCommand *command, size_t bytes) {
    command->max_output = bytes;
}

void command_set_timeout(StepCommand *command, int64_t ms) {
    command->timeout = ms;
}

/* ---- the log ---- */

void command_log(StepCommand *command, int stream, const char *bytes, size_t len) {
    Buf text = BUF_INIT;
    utf8_pieces_add(&command->streams[stream - 1].logged, bytes, len, &text);
    if (text.len) step_log(command->step, stream_names[stream - 1], text.data, text.len);
    buf_clear(&text);
}

/* ---- what it writes ---- */

static void give_output(StepCommand *command, int stream, const char *bytes, size_t len) {
    command->streams[stream - 1].seen += len;
    (command->kind->output ? command->kind->output : command_log)(command, stream, bytes, len);
}

static size_t max_kept(const StepCommand *command) {
    return command->max_output > LOGGED ? command->max_output : LOGGED;
}

/* Up to max bytes of what is in the file and was not seen. */
static size_t read_unseen(const StepCommand *command, int stream, Buf *out, size_t max) {
    uint64_t seen = command->streams[stream - 1].seen;
    size_t kept = max_kept(command), left = seen < kept ? kept - (size_t)seen : 0;
    const char *place = step_place(command->step, NULL);
    max = max < left ? max : left; /* behind it is the ring of process.h */
    return place && max ? process_place_read_some(place, stream - 1, seen, max, out) : 0;
}

/* Once in a turn of the loop, however many pieces there were in it: each of them shows the same gap. */
static bool may_catch_up(StepCommand *command) {
    uint64_t now = uv_now(step_loop(command->step)) + 1, before = command->caught_up;
    command->caught_up = now;
    return now != before;
}

/* Where the disk is behind, it is read later. */
static void on_output(void *ctx, int stream, const char *bytes, size_t len) {
    StepCommand *command = ctx;
    Buf text = BUF_INIT;
    if (step_log_is_behind(command->step)) return;
    size_t n = len ? read_unseen(command, stream, &text, len) : 0;
    bool gap = n && (n != len || memcmp(text.data, bytes, len) != 0);
    if (n) give_output(command, stream, text.data, n);
    buf_reset(&text);
    n = gap && may_catch_up(command) ? read_unseen(command, stream, &text, CATCH_UP) : 0;
    if (n) give_output(command, stream, text.data, n);
    buf_clear(&text);
}

/* A piece of what we have not seen at the end; of a process that we found, that is all of it. False: there is no more. */
static bool take_piece(StepCommand *command, const ProcessResult *result) {
    const Buf *kept[2] = {&result->out, &result->err};
    const uint64_t lens[2] = {result->out_len, result->err_len};
    for (int i = 0; i < 2; i++) {
        uint64_t seen = command->streams[i].seen;
        if (seen < kept[i]->len) {
            size_t n = kept[i]->len - (size_t)seen;
            give_output(command, i + 1, kept[i]->data + seen, n < CATCH_UP ? n : CATCH_UP);
            return true;
        }
        Buf more = BUF_INIT;
        size_t n = seen < lens[i] ? read_unseen(command, i + 1, &more, CATCH_UP) : 0;
        if (n) give_output(command, i + 1, more.data, n);
        buf_clear(&more);
        if (n) return true;
    }
    return false;
}

/* The end of what was more than is kept: there it says why it failed. */
static void take_tails(StepCommand *command, const ProcessResult *result) {
    const Buf *tails[2] = {&result->out_tail, &result->err_tail};
    const uint64_t lens[2] = {result->out_len, result->err_len};
    for (int i = 0; i < 2; i++) {
        uint64_t seen = command->streams[i].seen, beyond = lens[i] > seen ? lens[i] - seen : 0;
        size_t len = tails[i]->len < beyond ? tails[i]->len : (size_t)beyond;
        if (len) step_log_cut(command->step, stream_names[i], beyond - len);
        const char *end = len ? tails[i]->data + tails[i]->len - len : NULL;
        Buf hidden_tail = BUF_INIT;
        bool hides = len && step_mask(command->step, end, len, MASK_CUT_FRONT, &hidden_tail);
        if (hides) {
            command_log(command, i + 1, hidden_tail.data, hidden_tail.len);
        } else if (len) {
            command_log(command, i + 1, end, len);
        }
        buf_clear(&hidden_tail);
    }
}

static size_t without_newlines(const Buf *text) {
    size_t len = text->len;
    while (len && text->data[len - 1] == '\n') len--;
    return len;
}

/* At most max bytes of the end of [s, s + len), not starting inside a character. */
static const char *tail(const char *s, size_t *len, size_t max) {
    size_t skip = *len > max ? *len - max : 0;
    while (skip && skip < *len && ((unsigned char)s[skip] & 0xC0) == 0x80) skip++;
    *len -= skip;
    return s + skip;
}

Json command_text(const Buf *kept, size_t max) {
    size_t len = without_newlines(kept);
    const char *text = tail(kept->data ? kept->data : "", &len, max ? max : SIZE_MAX);
    return json_string(text, len);
}

Json command_end_text(const ProcessResult *result, int stream, size_t max) {
    const Buf *kept = stream == 1 ? &result->out : &result->err;
    const Buf *rest = stream == 1 ? &result->out_tail : &result->err_tail;
    uint64_t len = stream == 1 ? result->out_len : result->err_len;
    Buf text = BUF_INIT;
    if (kept->len + rest->len == len) { /* there is nothing between them */
        buf_add(&text, kept->data, kept->len);
    }
    buf_add(&text, rest->data, rest->len);
    Json end = command_text(&text, max);
    buf_clear(&text);
    return end;
}

/* ---- how it failed ---- */

bool command_succeeded(const ProcessResult *result) {
    return result->end == PROCESS_EXITED && result->code == 0;
}

/* "1h30m", "2s", "250ms". */
static void add_duration(int64_t ms, Buf *out) {
    static const struct {
        int64_t ms;
        const char *name;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}};
    if (ms <= 0) buf_adds(out, "0ms");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (ms >= units[i].ms) buf_printf(out, "%" PRId64 "%s", ms / units[i].ms, units[i].name);
        ms %= units[i].ms;
    }
}

static bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool run_folder_is_gone(const StepCommand *command) {
    bool whole = command->shown_folder && command->shown_folder[0] == '/';
    return !whole && !is_folder(step_folder(command->step));
}

static void add_unstarted(const StepCommand *command, int error, Buf *out) {
    const char *in = command->shown_folder;
    if (run_folder_is_gone(command)) {
        buf_printf(
            out,
            "The folder %s, where the run was started and its commands run, is not there any "
            "more. Put it back%s.",
            step_folder(command->step),
            command->kind->takes_cwd ? ", or give the node a cwd that is a whole path" : "");
    } else if (error == ENOENT && command->program && is_folder(command->folder)) {
        buf_printf(out, "Cannot start %s: there is no such %s.", command->program,
                   strchr(command->program, '/')
                       ? "file, or not the program that its first line names"
                       : "program in PATH");
    } else {
        buf_printf(out, "Cannot start the command%s%s: %s.", in ? " in " : "", in ? in : "",
                   strerror(error));
    }
}

static const struct EndRow {
    const char *word;
    const char *code; /* the key for result->code; NULL: it says nothing */
    bool silent;      /* no output goes with it */
} ends[] = {
    [PROCESS_EXITED] = {"exit", "exit_code"}, [PROCESS_SIGNALED] = {"signal", "signal"},
    [PROCESS_TIMEOUT] = {"timeout", NULL},    [PROCESS_ENDED] = {"cancelled", NULL, true},
    [PROCESS_LOST] = {"lost", NULL, true},    [PROCESS_FAILED] = {"spawn", NULL, true},
};

Json command_details(const StepCommand *command, const ProcessResult *result) {
    const struct EndRow *end = &ends[result->end];
    size_t most = command->kind->error_stdout;
    if (end->silent) return json_none();
    return OBJECT(
        KEY(end->code ? end->code : "exit_code", end->code ? json_int(result->code) : json_none()),
        KEY("stdout", most ? command_end_text(result, 1, most) : command_text(&result->out, 0)),
        KEY("stderr",
            command->kind->joined ? json_none() : command_end_text(result, 2, STDERR_TAIL)));
}

char *command_failure(const StepCommand *command, const ProcessResult *result) {
    const CommandKind *kind = command->kind;
    Buf out = BUF_INIT;
    const Buf *whole = kind->joined ? &result->out : &result->err;
    const Buf *end = kind->joined ? &result->out_tail : &result->err_tail;
    const Buf *text = end->len ? end : whole;
    size_t len = without_newlines(text), from = len;
    while (from && text->data[from - 1] != '\n') from--;
    len -= from;
    const char *last = tail(text->data ? text->data + from : "", &len, LINE_TAIL); /* line */
    if (result->end != PROCESS_FAILED) buf_adds(&out, kind->subject ? kind->subject : "Command");
    switch (result->end) {
    case PROCESS_EXITED:
        buf_printf(&out, " exited with code %d", result->code);
        if (len) buf_adds(&out, ": ");
        utf8_repair(&out, last, len);
        break;
    case PROCESS_SIGNALED:
        buf_printf(&out, " was ended by signal %d (%s)", result->code, strsignal(result->code));
        break;
    case PROCESS_TIMEOUT:
        buf_printf(&out, " ran longer than its %s of ", kind->timeout ? kind->timeout : "timeout");
        add_duration(command->timeout, &out);
        buf_adds(&out, " and was ended");
        break;
    case PROCESS_ENDED: buf_adds(&out, " was ended because the run was."); break;
    case PROCESS_LOST:
        buf_adds(&out, result->damaged
                           ? " was started, but what it left of its output and its end is damaged: "
                             "something else than its supervisor changed the files. It may have "
                             "done its work, or a part of it."
                           : " was started, but nobody saw how it ended: its supervisor was "
                             "killed, or the machine stopped. It may have done its work, or a part "
                             "of it.");
        break;
    case PROCESS_FAILED: add_unstarted(command, result->code, &out); break;
    }
    return buf_detach(&out);
}

const char *command_failure_word(const StepCommand *command, const ProcessResult *result) {
    bool gone = result->end == PROCESS_FAILED && run_folder_is_gone(command);
    return gone ? command->kind->word : ends[result->end].word;
}

void command_fail(StepCommand *command, const ProcessResult *result) {
    const char *word = command_failure_word(command, result);
    char *sentence = command_failure(command, result);
    step_fail(command->step, word, command_details(command, result), "%s", sentence);
    mem_free(sentence);
}

/* ---- its life ---- */

static void start(StepCommand *command);

/* Texts that are cut where something was left out. */
static void hide_in(StepCommand *command, const Buf *text, unsigned cut, Buf *out, uint64_t *len) {
    if (text->len && step_mask(command->step, text->data, text->len, cut, out)) {
        *len -= text->len - out->len;
    } else {
        buf_add(out, text->data, text->len);
    }
}

/* The result without secrets. The supervisor has hidden those that were known when the command began; here are those
 * of now, before texts are cut, since a part of a secret is not found any more. */
static ProcessResult hidden(StepCommand *command, const ProcessResult *result) {
    ProcessResult out = *result;
    out.out = out.err = out.out_tail = out.err_tail = (Buf)BUF_INIT;
    /* A secret may begin in the head and end in the tail, even if nothing is left out between them. */
    unsigned out_back = result->out_len > result->out.len ? MASK_CUT_BACK : 0;
    unsigned err_back = result->err_len > result->err.len ? MASK_CUT_BACK : 0;
    hide_in(command, &result->out, out_back, &out.out, &out.out_len);
    hide_in(command, &result->err, err_back, &out.err, &out.err_len);
    hide_in(command, &result->out_tail, MASK_CUT_FRONT, &out.out_tail, &out.out_len);
    hide_in(command, &result->err_tail, MASK_CUT_FRONT, &out.err_tail, &out.err_len);
    return out;
}

static void hidden_clear(ProcessResult *result) {
    buf_clear(&result->out);
    buf_clear(&result->err);
    buf_clear(&result->out_tail);
    buf_clear(&result->err_tail);
}

static void end_with(StepCommand *command, const ProcessResult *result) {
    if (command->rest) uv_idle_stop(command->rest);
    command->result = result;
    take_tails(command, result);
    for (int i = 0; i < 2; i++) { /* the beginning of a character that goes no further */
        Buf rest = BUF_INIT;
        utf8_pieces_end(&command->streams[i].logged, &rest);
        if (rest.len) step_log(command->step, stream_names[i], rest.data, rest.len);
        buf_clear(&rest);
    }
    if (!command->kind->finish || !command->kind->finish(command, result)) {
        command_finished(command);
    }
}

void command_finished(StepCommand *command) {
    const ProcessResult *result = command->result;
    bool secrets = step_has_secrets(command->step);
    ProcessResult masked = secrets ? hidden(command, result) : *result;
    command->kind->end(command, &masked);
    if (secrets) hidden_clear(&masked);
    command_free(command);
}

/* The trace that the command is in, unless it was given another. */
static void give_trace(StepCommand *command) {
    TraceContext span;
    const char *state;
    char text[TRACE_TEXT];
    if (!step_trace(command->step, &span, &state) || env_find(command, "TRACEPARENT=")) return;
    Buf parent = BUF_INIT, more = BUF_INIT;
    trace_print(&span, text);
    buf_printf(&parent, "TRACEPARENT=%s", text);
    buf_adds(&more, "TRACESTATE");
    if (state) buf_printf(&more, "=%s", state);
    env_put(command, buf_detach(&parent));
    env_put(command, buf_detach(&more));
}

/* Until all is taken, or the others on the loop have waited long enough. */
static bool take_rest(StepCommand *command, const ProcessResult *result) {
    uint64_t until = uv_hrtime() + REST_MS * UINT64_C(1000000);
    while (take_piece(command, result)) {
        if (uv_hrtime() >= until) return false;
    }
    return true;
}

static void on_rest(uv_idle_t *rest) {
    StepCommand *command = rest->data;
    if (take_rest(command, command->result)) end_with(command, command->result);
}

static void on_exit_(void *ctx, const ProcessResult *result) {
    StepCommand *command = ctx;
    /* Somebody was ending it when we came; that says nothing about this attempt. */
    if (result->end == PROCESS_ENDED && process_attached(command->process) && !command->cancelled &&
        !command->again) {
        process_free(command->process);
        command->process = NULL;
        command->again = true;
        start(command);
        return;
    }
    if (take_rest(command, result)) {
        end_with(command, result);
        return;
    }
    command->result = result;
    command->rest = mem_zalloc(sizeof *command->rest);
    command->rest->data = command;
    uv_idle_init(step_loop(command->step), command->rest);
    uv_idle_start(command->rest, on_rest);
}

/* The run's, with what the command was given instead. Borrows its texts. */
static const char **environment(const StepCommand *command) {
    const char *const *run = step_environment(command->step);
    size_t n = 0, count = 0;
    while (run[count]) count++;
    const char **all = mem_alloc((count + command->env.n + 1) * sizeof *all);
    for (; *run; run++) {
        bool wanted = !command->own_env || !strncmp(*run, "PATH=", 5);
        if (wanted && !env_find(command, *run)) all[n++] = *run;
    }
    for (size_t i = 0; i < command->env.n; i++) {
        if (strchr(command->env.items[i], '=')) all[n++] = command->env.items[i];
    }
    all[n] = NULL;
    return all;
}

/* Ends the step before its command has run. */
static void end_unstarted(StepCommand *command, const char *word, const Error *err) {
    Step *step = command->step;
    if (command->kind->refused) {
        command->kind->refused(command, err);
        command_free(command);
        return;
    }
    step_set_data(step, NULL);
    command_free(command);
    exec_fail_with(step, word, err);
}

static void start(StepCommand *command) {
    Error err = ERROR_INIT;
    Buf mask = BUF_INIT;
    give_trace(command);
    const char **env = environment(command);
    step_write_mask(command->step, &mask);
    ProcessOptions options = {
        .place = step_place(command->step, &err),
        .argv = (const char *const *)command->args.items,
        .search = environment_get(step_environment(command->step), "PATH"),
        .env = env,
        .cwd = command->folder,
        .input = !command->has_input || command->input.is_file ? NULL
                 : command->input.len                          ? command->input.text.data
                                                               : "",
        .input_len = command->input.len,
        .input_is_file = command->input.is_file,
        .input_file = command->input.file,
        .mask = mask.data,
        .mask_len = mask.len,
        .max_output = command->max_output,
        .max_kept = max_kept(command),
        .timeout_ms = (uint64_t)command->timeout,
        .grace_ms = command->kind->grace_ms,
        .end_signal = command->kind->end_signal,
        .end_alone = command->kind->end_alone,
        .lingers = command->kind->lingers,
        .joined = command->kind->joined,
        .on_output = on_output,
        .on_exit = on_exit_,
        .ctx = command,
    };
    if (options.place && command->again) process_forget(options.place);
    if (options.place) command->process = process_start(step_loop(command->step), &options, &err);
    mem_free(env);
    if (mask.data) explicit_bzero(mask.data, mask.cap);
    buf_clear(&mask);
    if (!command->process) {
        end_unstarted(command, "spawn", &err);
    } else if (!process_attached(command->process)) {
        forget_given(command);
    }
}

void command_start(StepCommand *command, bool given, const Error *err) {
    if (given) {
        start(command);
    } else {
        end_unstarted(command, command->kind->word, err);
    }
}

void command_freeze(Step *step, bool frozen) {
    StepCommand *command = step_data(step);
    if (command && command->process) process_freeze(command->process, frozen);
}

void command_end(StepCommand *command) {
    if (!command->process) return;
    command->cancelled = true;
    process_end(command->process);
}

void command_stop(Step *step) {
    StepCommand *command = step_data(step);
    if (command) command_end(command);
}

void command_drop(Step *step) {
    command_free(step_data(step));
}

/* Places that nobody wants any more. */
typedef struct Ending {
    Errand errand; /* first */
    Texts places;
} Ending;

static void end_places(Errand *errand) {
    const Texts *places = &((Ending *)errand)->places;
    process_stop_places((const char *const *)places->items, places->n, NULL, NULL);
    for (size_t i = 0; i < places->n; i++) process_forget(places->items[i]);
}

static void on_ended(Errand *errand) {
    texts_clear(&((Ending *)errand)->places);
    mem_free(errand);
}

void command_sweep(const WorkSweep *sweep) {
    Ending *ending = NULL;
    char prefix[32];
    size_t len = (size_t)snprintf(prefix, sizeof prefix, "%lld-", (long long)sweep->run);
    DIR *dir = opendir(sweep->folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (strncmp(name, prefix, len) != 0 || sweep->wants(sweep->ctx, name + len)) continue;
        if (!ending) {
            ending = mem_zalloc(sizeof *ending);
            ending->errand = (Errand){.work = end_places, .done = on_ended};
        }
        texts_push(&ending->places, path_join(sweep->folder, name));
    }
    if (dir) closedir(dir);
    if (ending) errands_add(sweep->endings, &ending->errand);
}

Step *command_step(const StepCommand *command) {
    return command->step;
}

void command_set_data(StepCommand *command, void *data) {
    command->data = data;
}

void *command_data(const StepCommand *command) {
    return command->data;
}
