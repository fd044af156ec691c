#define _GNU_SOURCE /* wcwidth */

#include "prompt.h"

#include "mem.h"
#include "safe_file.h"
#include "terminal.h"
#include "utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROMPT_TEXT "(pawl) "

enum { CTRL_C = 3, READ_PIECE = 4096 };

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT};
enum { NSIGNALS = sizeof watched / sizeof watched[0] };

/* A text that lines are taken from. */
typedef struct Lines {
    Buf text;
    size_t at;
} Lines;

struct Prompt {
    PromptHost host;
    uv_signal_t signals[NSIGNALS];
    uv_poll_t poll;
    int open; /* handles that are not closed yet */

    int interrupts;
    bool over, given_up, resized, continued;

    Lines *scripts; /* one for each of the host's; those of standard input are empty */
    size_t script, nscripts;

    Lines input; /* bytes of standard input that nobody has taken yet */
    bool polls;  /* its readiness can be waited for; a plain file is always ready */
    bool readable, ended;

    bool person;     /* at a terminal, in and out */
    EditLine *el;    /* NULL: lines are not edited */
    History *lines;  /* with it */
    bool editing;    /* a line is on the screen */
    const char *ask; /* what stands before it */
    bool confirming; /* it is a question, to which Ctrl-C says no */
    bool refused;
};

/* ---- saying ---- */

static void write_out(Prompt *p, const char *text, size_t len) {
    if (fwrite(text, 1, len, stdout) != len || fflush(stdout) != 0) {
        p->over = true; /* nobody reads any more */
    }
}

/* Takes the line that is typed off the screen; EL_REFRESH brings it back. */
static void hide_line(Prompt *p) {
    const LineInfoW *line = el_wline(p->el);
    size_t column = strlen(p->ask); /* of the cursor, as if the line did not wrap */
    for (const wchar_t *c = line->buffer; c < line->cursor; c++) {
        int width = wcwidth(*c);
        column += width > 0 ? (size_t)width : 0;
    }
    size_t rows = column / (size_t)terminal_columns(stdout);
    fputc('\r', stdout);
    if (rows) fprintf(stdout, "\x1b[%zuA", rows);
    fputs("\x1b[J", stdout);
}

void prompt_write(Prompt *p, const char *text, size_t len) {
    if (!len) return;
    if (p->editing) hide_line(p);
    write_out(p, text, len);
    if (p->editing) el_set(p->el, EL_REFRESH, NULL);
}

/* ---- the loop ---- */

static void on_signal(uv_signal_t *handle, int signum) {
    Prompt *p = handle->data;
    p->interrupts += signum == SIGINT;
    p->over |= signum == SIGTERM || signum == SIGHUP;
    p->resized |= signum == SIGWINCH;
    p->continued |= signum == SIGCONT;
}

static void on_readable(uv_poll_t *handle, int status, int events) {
    Prompt *p = handle->data;
    (void)status; /* read() will say what is wrong */
    (void)events;
    p->readable = true;
    uv_poll_stop(handle);
}

static void fill(Prompt *p) {
    Lines *in = &p->input;
    if (in->at) {
        memmove(in->text.data, in->text.data + in->at, in->text.len - in->at);
        in->text.len -= in->at;
        in->at = 0;
    }
    ssize_t n = read(STDIN_FILENO, buf_reserve(&in->text, READ_PIECE), READ_PIECE);
    p->readable = false;
    if (n > 0) {
        buf_advance(&in->text, (size_t)n);
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        p->ended = true;
    }
}

/* One turn of the loop; then there may be input. */
static void turn(Prompt *p) {
    if (p->polls) uv_poll_start(&p->poll, UV_READABLE, on_readable);
    uv_run(p->host.loop, p->polls ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    if (p->polls) uv_poll_stop(&p->poll);
    if (p->resized && p->el) {
        el_resize(p->el);
        p->resized = false;
    }
    if (p->continued && p->editing) { /* the shell has had the terminal meanwhile */
        el_set(p->el, EL_PREP_TERM, 0);
        el_set(p->el, EL_PREP_TERM, 1);
        el_set(p->el, EL_REFRESH, NULL);
    }
    p->continued = false;
    p->given_up |= p->host.turned(p->host.ctx);
    if (p->readable || !p->polls) fill(p);
}

static bool gives_up(const Prompt *p) {
    return p->over || p->given_up;
}

/* ---- lines as they are ---- */

/* What is left of a line that is too long is no command, and is answered as none. */
static void refuse_line(Buf *out) {
    buf_reset(out);
    buf_adds(out, "(a line that is too long)");
}

/* False: no whole line is there. */
static bool take_line(Lines *lines, bool last, Buf *out) {
    if (lines->at == lines->text.len) return false;
    const char *from = lines->text.data + lines->at;
    size_t left = lines->text.len - lines->at;
    const char *newline = memchr(from, '\n', left);
    if (!newline && !last) return false;
    size_t len = newline ? (size_t)(newline - from) : left;
    buf_add(out, from, len);
    lines->at += len + (newline != NULL);
    return true;
}

static bool read_plain(Prompt *p, Buf *out) {
    Lines *in = &p->input;
    bool dropping = false; /* a line that is too long, until its end */
    while (!gives_up(p) && !(p->interrupts && !p->person)) {
        if (take_line(in, p->ended, out)) {
            if (dropping || out->len > PROMPT_LINE_MAX) refuse_line(out);
            return true;
        }
        if (p->ended) return false;
        if (in->text.len - in->at > PROMPT_LINE_MAX) {
            in->at = in->text.len;
            dropping = true;
        } else {
            turn(p);
        }
    }
    return false;
}

/* ---- scripts ---- */

/* Whether lines are typed now: there are no scripts, or one of them is "-". */
static bool reads_stdin(const Prompt *p) {
    return !p->nscripts || !strcmp(p->host.scripts[p->script], "-");
}

/* All of them: one that cannot be read is known before the first of them does anything. */
static bool load_scripts(Prompt *p, Error *err) {
    const char *const *paths = p->host.scripts;
    while (paths && paths[p->nscripts]) p->nscripts++;
    p->scripts = mem_zalloc((p->nscripts + 1) * sizeof *p->scripts);
    for (size_t i = 0; i < p->nscripts; i++) {
        if (strcmp(paths[i], "-") != 0 &&
            !safe_read_given(paths[i], PROMPT_SCRIPT_MAX, &p->scripts[i].text, err)) {
            return false;
        }
    }
    return true;
}

/* A line of a script, with an echo as if it were typed. */
static bool read_script(Prompt *p, Buf *out) {
    bool found = take_line(&p->scripts[p->script], true, out);
    if (out->len > PROMPT_LINE_MAX) refuse_line(out);
    if (found && !p->host.bare) {
        Buf echo = BUF_INIT;
        buf_printf(&echo, PROMPT_TEXT "%s\n", out->data ? out->data : "");
        write_out(p, echo.data, echo.len);
        buf_clear(&echo);
    }
    return found;
}

/* ---- the line editor: characters in ---- */

static Prompt *prompt_of(EditLine *el) {
    void *p = NULL;
    el_get(el, EL_CLIENTDATA, &p);
    return p;
}

/* Characters come whole, unless the input ends within one. */
static int next_char(EditLine *el, wchar_t *out) {
    Prompt *p = prompt_of(el);
    Lines *in = &p->input;
    for (; !gives_up(p); turn(p)) {
        if (p->interrupts) {
            p->interrupts = 0;
            *out = CTRL_C;
            return 1;
        }
        const char *at = in->text.data + in->at;
        size_t left = in->text.len - in->at;
        if (left && (p->ended || utf8_unfinished(at, left) < left)) {
            int32_t cp;
            in->at += utf8_decode(at, at + left, &cp);
            *out = cp < 0 ? UTF8_REPLACEMENT : (wchar_t)cp;
            return 1;
        }
        if (p->ended) return 0;
    }
    return 0;
}

static char *prompt_text(EditLine *el) {
    return (char *)(uintptr_t)prompt_of(el)->ask; /* libedit only reads it */
}

/* Ctrl-C: the line stays on the screen for the eye, and a new one begins. */
static unsigned char clear_line(EditLine *el, int ch) {
    Prompt *p = prompt_of(el);
    const LineInfo *line = el_line(el);
    Buf text = BUF_INIT;
    (void)ch;
    buf_printf(&text, "%s%.*s^C\n", p->ask, (int)(line->lastchar - line->buffer), line->buffer);
    hide_line(p);
    write_out(p, text.data, text.len);
    buf_clear(&text);
    const LineInfoW *typed = el_wline(el);
    int all = (int)(typed->lastchar - typed->buffer);
    el_cursor(el, (int)(typed->lastchar - typed->cursor));
    el_deletestr(el, all);
    p->refused = p->confirming;
    if (p->refused) return CC_EOF;
    el_set(el, EL_REFRESH, NULL);
    return CC_NORM;
}

/* ---- the line editor: Tab ---- */

/* Bytes that all items begin with. */
static size_t common_length(Json items) {
    Json first = json_array_get(items, 0);
    size_t len = json_string_len(first);
    for (size_t i = 1; i < json_array_len(items); i++) {
        Json each = json_array_get(items, i);
        size_t n = 0, max = json_string_len(each);
        while (n < len && n < max && json_string_data(&first)[n] == json_string_data(&each)[n]) n++;
        len = n;
    }
    return utf8_valid_prefix(json_string_data(&first), len);
}

/* In columns; nothing of the items drives the terminal. */
static void list_items(Prompt *p, Json items) {
    enum { LISTED_MAX = 200 };
    size_t all = json_array_len(items), n = all < LISTED_MAX ? all : LISTED_MAX, widest = 1;
    Buf *texts = mem_zalloc(n * sizeof *texts), out = BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        Json text = json_array_get(items, i);
        terminal_safe(json_string_data(&text), json_string_len(text), &texts[i]);
        size_t shown = terminal_text_columns(texts[i].data, texts[i].len);
        widest = shown > widest ? shown : widest;
    }
    size_t width = widest + 2, columns = (size_t)terminal_columns(stdout) / width;
    for (size_t i = 0; i < n; i++) {
        bool last = i + 1 == n || columns < 2 || (i + 1) % columns == 0;
        size_t shown = terminal_text_columns(texts[i].data, texts[i].len);
        buf_add(&out, texts[i].data, texts[i].len);
        buf_printf(&out, "%*s%s", last ? 0 : (int)(width - shown), "", last ? "\n" : "");
        buf_clear(&texts[i]);
    }
    if (all > n) buf_printf(&out, "and %zu more\n", all - n);
    prompt_write(p, out.data, out.len);
    mem_free(texts);
    buf_clear(&out);
}

/* Puts what all items share in place of what was typed; false when that is nothing new. */
static bool insert_common(EditLine *el, const char *line, size_t from, size_t cursor, Json items) {
    Json first = json_array_get(items, 0);
    size_t len = common_length(items), typed = cursor - from;
    if (len <= typed && (len < typed || memcmp(line + from, json_string_data(&first), len) == 0)) {
        return false;
    }
    char *text = mem_strndup(json_string_data(&first), len);
    el_deletestr(el, (int)utf8_length(line + from, typed));
    el_insertstr(el, text);
    mem_free(text);
    return true;
}

static unsigned char complete(EditLine *el, int ch) {
    Prompt *p = prompt_of(el);
    const LineInfo *info = el_line(el);
    size_t cursor = (size_t)(info->cursor - info->buffer), from = cursor;
    char *line = mem_strndup(info->buffer, (size_t)(info->lastchar - info->buffer));
    Json items = p->host.complete(p->host.ctx, line, cursor, &from);
    size_t n = json_array_len(items);
    bool inserted = n && insert_common(el, line, from, cursor, items);
    (void)ch;
    if (n > 1 && !inserted) list_items(p, items);
    json_unref(items);
    mem_free(line);
    return !n ? CC_ERROR : inserted ? CC_REFRESH : CC_NORM;
}

/* ---- the line editor: what it remembers ---- */

/* NULL: there is no place for it. Given. */
static char *history_path(void) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    Buf path = BUF_INIT;
    if (state && state[0] == '/') {
        buf_printf(&path, "%s/pawl/debug_history", state);
    } else if (home && home[0] == '/') {
        buf_printf(&path, "%s/.local/state/pawl/debug_history", home);
    }
    return path.data ? buf_detach(&path) : NULL;
}

/* A history that cannot be kept is no reason to say anything. */
static void save_history(Prompt *p) {
    HistEvent event;
    char *path = history_path();
    for (char *at = path; at && (at = strchr(at + 1, '/'));) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file) {
        history(p->lines, &event, H_SAVE_FP, file);
        fclose(file);
    } else if (fd >= 0) {
        close(fd);
    }
    mem_free(path);
}

/* ---- the line editor: life ---- */

static void open_editor(Prompt *p) {
    static const char *const keys[][2] = {
        {"^I", "pawl-complete"},           {"^C", "pawl-clear"},
        {"^R", "em-inc-search-prev"},      {"^W", "ed-delete-prev-word"},
        {"\\e[3~", "ed-delete-next-char"}, {"\\e[1~", "ed-move-to-beg"},
        {"\\e[4~", "ed-move-to-end"},      {"\\e[1;5C", "em-next-word"},
        {"\\e[1;5D", "ed-prev-word"},
    };
    /* libedit shows what the locale can: without one in UTF-8 people's names would be numbers. */
    if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1) setlocale(LC_CTYPE, "C.UTF-8");
    p->el = el_init("pawl", stdin, stdout, stderr);
    if (!p->el) return;
    HistEvent event;
    char *path = history_path();
    p->lines = history_init();
    history(p->lines, &event, H_SETSIZE, PROMPT_HISTORY);
    history(p->lines, &event, H_SETUNIQUE, 1);
    if (path) history(p->lines, &event, H_LOAD, path);
    mem_free(path);
    el_set(p->el, EL_CLIENTDATA, p);
    el_set(p->el, EL_EDITOR, "emacs");
    el_set(p->el, EL_PROMPT, prompt_text);
    el_set(p->el, EL_GETCFN, next_char);
    el_set(p->el, EL_HIST, history, p->lines);
    el_wset(p->el, EL_ADDFN, L"pawl-complete", L"Complete what is typed", complete);
    el_wset(p->el, EL_ADDFN, L"pawl-clear", L"Begin a new line", clear_line);
    el_source(p->el, NULL);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        el_set(p->el, EL_BIND, keys[i][0], keys[i][1], NULL);
    }
}

/* ---- lines ---- */

static bool read_stdin(Prompt *p, const char *ask, Buf *out) {
    p->ask = ask;
    if (!p->el) {
        write_out(p, ask, p->person ? strlen(ask) : 0);
        return read_plain(p, out);
    }
    int n = 0;
    p->editing = true;
    const char *line = el_gets(p->el, &n);
    p->editing = false;
    bool whole = line && n > 0 && line[n - 1] == '\n';
    if (whole) {
        buf_add(out, line, (size_t)n - 1);
    } else if (!p->refused) {
        write_out(p, "\n", 1);
    }
    return whole;
}

char *prompt_line(Prompt *p, size_t *len) {
    Buf out = BUF_INIT;
    bool found = false, more = true;
    p->given_up = false;
    while (!found && more && !gives_up(p)) {
        bool typed = reads_stdin(p);
        found = typed ? read_stdin(p, PROMPT_TEXT, &out) : read_script(p, &out);
        more = p->script + 1 < p->nscripts && !(typed && p->interrupts);
        p->script += !found && more && !gives_up(p);
    }
    *len = out.len;
    if (!found) {
        buf_clear(&out);
        return NULL;
    }
    HistEvent event;
    if (p->el && reads_stdin(p) && out.len && strspn(out.data, " \t") < out.len) {
        history(p->lines, &event, H_ENTER, out.data);
    }
    buf_reserve(&out, 1); /* an empty line is a text, too */
    buf_advance(&out, 0);
    return buf_detach(&out);
}

static size_t commands_in(const Lines *lines) {
    size_t n = 0;
    for (size_t at = lines->at; at < lines->text.len;) {
        const char *from = lines->text.data + at;
        const char *newline = memchr(from, '\n', lines->text.len - at);
        size_t len = newline ? (size_t)(newline - from) : lines->text.len - at, blank = 0;
        while (blank < len && strchr(" \t\r", from[blank]) && from[blank]) blank++;
        n += blank < len && from[blank] != '#';
        at += len + 1;
    }
    return n;
}

size_t prompt_left(const Prompt *p) {
    size_t n = commands_in(&p->input);
    for (size_t i = p->script; i < p->nscripts; i++) n += commands_in(&p->scripts[i]);
    return n;
}

bool prompt_confirm(Prompt *p, const char *question) {
    char ask[200];
    if (!p->person || !reads_stdin(p)) return true;
    snprintf(ask, sizeof ask, "%s (y or n) ", question);
    char first = '\0';
    int interrupts = p->interrupts;
    p->confirming = true;
    p->refused = false;
    for (bool found = true;
         found && p->interrupts == interrupts && !(first && strchr("nNyY", first));) {
        Buf line = BUF_INIT;
        found = read_stdin(p, ask, &line);
        first = found && line.len ? line.data[0] : '\0';
        buf_clear(&line);
    }
    p->confirming = p->refused = false;
    return first == 'y' || first == 'Y';
}

/* ---- life ---- */

static void free_memory(Prompt *p) {
    for (size_t i = 0; i < p->nscripts; i++) buf_clear(&p->scripts[i].text);
    mem_free(p->scripts);
    buf_clear(&p->input.text);
    mem_free(p);
}

Prompt *prompt_new(const PromptHost *host, Error *err) {
    Prompt *p = mem_zalloc(sizeof *p);
    p->host = *host;
    if (!load_scripts(p, err)) {
        free_memory(p);
        return NULL;
    }
    p->person = !host->bare && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < NSIGNALS; i++) {
        uv_signal_init(host->loop, &p->signals[i]);
        p->signals[i].data = p;
        uv_signal_start(&p->signals[i], on_signal, watched[i]);
        p->open++;
    }
    /* libuv makes what it polls non-blocking, which everybody who shares it would see: the shell's
     * terminal, and our own standard output on it. Polling needs no such thing. */
    int flags = fcntl(STDIN_FILENO, F_GETFL);
    p->polls = flags >= 0 && uv_poll_init(host->loop, &p->poll, STDIN_FILENO) == 0;
    p->poll.data = p;
    p->open += p->polls;
    if (flags >= 0) fcntl(STDIN_FILENO, F_SETFL, flags);
    if (p->person && terminal_can_redraw(stdout)) open_editor(p);
    return p;
}

static void on_closed(uv_handle_t *handle) {
    Prompt *p = handle->data;
    p->open--;
}

void prompt_free(Prompt *p) {
    if (!p) return;
    if (p->el) {
        save_history(p);
        el_end(p->el);
        history_end(p->lines);
    }
    for (int i = 0; i < NSIGNALS; i++) uv_close((uv_handle_t *)&p->signals[i], on_closed);
    if (p->polls) uv_close((uv_handle_t *)&p->poll, on_closed);
    while (p->open) uv_run(p->host.loop, UV_RUN_NOWAIT);
    free_memory(p);
}

bool prompt_edits(const Prompt *p) {
    return p->person;
}

int prompt_interrupts(Prompt *p) {
    int n = p->interrupts;
    p->interrupts = 0;
    return n;
}

bool prompt_is_over(const Prompt *p) {
    return p->over;
}
