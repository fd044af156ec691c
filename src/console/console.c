/* console.c - a console: its life, waiting until something stops, a line that was typed and what is ordered of the
 * session, what Tab offers. */
#include "console_inside.h"

#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "safe_file.h"
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the session ---- */

Json target_call(Target *target, const char *operation, Json args, Error *err) {
    if (!target->call) {
        json_unref(args);
        error_set(err, ERR_USAGE, "The debug session is over.");
        return json_none();
    }
    return target->call(target->self, operation, args, err);
}

void target_close(Target *target) {
    if (target->call) target->close(target->self);
    *target = (Target){0};
}

void console_set(char **slot, char *text) {
    mem_free(*slot);
    *slot = text;
}

static char *text_of(Json v) {
    bool text = json_kind(v) == JSON_STRING && json_string_len(v) > 0;
    return text ? mem_strndup(json_string_data(&v), json_string_len(v)) : NULL;
}

Json console_ask(Console *c, const char *operation, Json args) {
    return target_call(c->target, operation, args, NULL);
}

/* An order that nobody typed. The answer, given; JSON_NONE after saying what is wrong. Consumes args. view NULL:
 * the answer is not shown. */
static Json ask_and_show(Console *c, const char *operation, Json args, CommandView *view) {
    Error err = ERROR_INIT;
    Order order = {.line = operation,
                   .len = strlen(operation),
                   .operation = operation,
                   .args = args,
                   .view = view};
    Json answer = target_call(c->target, operation, json_ref(args), &err);
    if (json_is_none(answer)) {
        console_put_error(c, &order, false, &err);
    } else if (view) {
        console_put_answer(c, &order, answer);
    }
    order_clear(&order);
    return answer;
}

/* ---- waiting ---- */

static void leave(Console *c, ConsoleEnd end) {
    c->ending = true;
    c->end = end;
}

/* Ctrl-C while frames run. */
static void interrupt(Console *c) {
    uint64_t now = uv_now(c->host.loop);
    bool twice = c->interrupted && now - c->interrupted < CONSOLE_TWICE_MS;
    c->interrupted = now ? now : 1;
    if (prompt_edits(c->prompt)) {
        prompt_write(c->prompt, "\n", 1); /* behind the ^C that the terminal shows */
    }
    if (twice) {
        leave(c, CONSOLE_QUIT);
        return;
    }
    Json answer = ask_and_show(c, "pause", OBJECT(KEY("frame", "all")), view_pausing);
    if (!json_is_none(answer) && !json_array_len(field_get(answer, "paused")) &&
        !json_array_len(field_get(answer, "later"))) {
        c->came |= CAME_STOP | CAME_REPLAY;
    }
    json_unref(answer);
}

static void turn(Console *c, uv_run_mode mode) {
    uv_run(c->host.loop, mode);
    console_flush(c);
    int interrupts = prompt_interrupts(c->prompt);
    for (int i = 0; i < interrupts && !c->ending; i++) interrupt(c);
    if (c->gone || prompt_is_over(c->prompt)) leave(c, c->gone ? CONSOLE_GONE : CONSOLE_QUIT);
}

static void drain(Console *c) {
    for (int i = 0; i < 3 && !c->ending; i++) turn(c, UV_RUN_NOWAIT);
}

static bool waits_on(const Console *c, unsigned until) {
    return !c->ending && !(c->came & until);
}

static void on_grace(uv_timer_t *timer) {
    Console *c = timer->data;
    c->grace_over = true;
}

/* A moment for what is on its way. */
static void give_grace(Console *c, unsigned until, uint64_t ms) {
    c->grace_over = false;
    uv_timer_start(&c->grace, on_grace, ms, 0);
    while (!c->grace_over && waits_on(c, until)) turn(c, UV_RUN_ONCE);
    uv_timer_stop(&c->grace);
}

/* ---- where frames stand ---- */

/* Unless an event has told it. */
static void show_place(Console *c, Json answer) {
    Json frame = field_get(answer, "frame"), session = json_none();
    console_flush(c);
    if (c->host.json || (c->came & CAME_PAUSE)) return;
    if (json_is_none(frame)) {
        session = console_ask(c, "session", json_none());
        frame = field_get(session, "frame");
    }
    Json place = json_tag(frame) == JSON_TAG_INT
                     ? console_ask(c, "frame", OBJECT(KEY("frame", frame)))
                     : json_none();
    if (json_kind(place) == JSON_OBJECT) {
        Buf text = BUF_INIT;
        View v = console_view(c, &text);
        place = json_object_remove(place, json_string_c("stack"));
        view_frame(&v, place);
        view_end_line(&v);
        console_view_around(c, &v, place);
        console_put(c, &text);
    }
    json_unref(place);
    json_unref(session);
}

/* The other frames that stand still, for one who has not seen them stop. */
static void show_company(Console *c) {
    if (c->host.json) return;
    Json answer = console_ask(c, "frames", json_none()), frames = field_get(answer, "frames");
    int64_t selected = field_number(answer, "selected", 0), n = 0;
    int64_t more = field_number(answer, "more", 0);
    Buf text = BUF_INIT;
    View v = console_view(c, &text);
    for (size_t i = 0; i < json_array_len(frames); i++) {
        Json f = json_array_get(frames, i);
        bool other = field_number(f, "frame", 0) != selected;
        if (!other || !json_string_is(field_get(f, "status"), "paused")) continue;
        if (++n <= CONSOLE_COMPANY) view_place(&v, f);
    }
    if (n + more > CONSOLE_COMPANY && n) {
        view_printf(&v, "and %lld more frames (`frames` lists them)\n",
                    (long long)(n + more - CONSOLE_COMPANY));
    }
    console_put(c, &text);
    json_unref(answer);
}

static void show_new_place(Console *c, Json answer) {
    console_set(&c->list_file, NULL);
    give_grace(c, CAME_PAUSE | CAME_STOP | CAME_SETTLED | CAME_OVER, CONSOLE_GRACE_MS);
    drain(c);
    show_place(c, answer);
    show_company(c);
}

/* What became of a run that nothing was said of. */
static void show_standing(Console *c) {
    Json session = console_ask(c, "session", json_none());
    Json answer = console_ask(c, "frames", json_none()), frames = field_get(answer, "frames");
    if (json_string_is(field_get(session, "status"), "ended")) {
        console_event(c, OBJECT(KEY("event", "settled"),
                                KEY("status", json_ref(field_get(session, "run_status"))),
                                KEY("error", json_ref(field_get(session, "error")))));
        console_flush(c);
    } else if (json_array_len(frames) == 1) {
        show_place(c, json_array_get(frames, 0));
    } else if (!c->host.json) {
        Buf text = BUF_INIT;
        View v = console_view(c, &text);
        view_frames(&v, answer);
        console_put(c, &text);
    }
    json_unref(session);
    json_unref(answer);
}

static void wait_for(Console *c, unsigned until) {
    console_flush(c);
    while (waits_on(c, until)) turn(c, UV_RUN_ONCE);
    if (c->pause_all && (c->came & CAME_PAUSE)) { /* the others stop where they come to */
        give_grace(c, CAME_STOP | CAME_SETTLED | CAME_OVER,
                   prompt_edits(c->prompt) ? CONSOLE_PERSON_GRACE_MS : CONSOLE_GRACE_MS);
    }
    drain(c);
    bool told = c->came & (CAME_PAUSE | CAME_WAIT | CAME_SETTLED | CAME_OVER);
    if ((c->came & CAME_STOP) && !told && !c->ending) { /* frames stood still all the time */
        show_standing(c);
    }
}

/* ---- orders ---- */

static void note_session(Console *c, Json session) {
    c->pause_all = json_truthy(field_get(session, "pause_all_on_breakpoint"));
    if (!c->file) c->file = text_of(field_get(session, "file"));
}

/* What an answer changes of what the console knows. */
static void take_note(Console *c, const char *operation, Json answer) {
    Json first = field_get(answer, "first");
    int64_t lines = (int64_t)json_array_len(field_get(answer, "lines"));
    bool moved = !strcmp(operation, "back") || !strcmp(operation, "goto") ||
                 !strcmp(operation, "reverse_continue");
    c->stands = c->stands || moved;
    if (!strcmp(operation, "session") || !strcmp(operation, "configure")) {
        note_session(c, answer);
    } else if (!strcmp(operation, "source") && json_tag(first) == JSON_TAG_INT && lines) {
        console_set(&c->list_file, text_of(field_get(answer, "file")));
        c->list_line = first.i + lines + lines / 2;
    }
}

/* One that is there is written over if it is a regular file of ours: others may have left a link or a FIFO. */
static bool write_document(const char *path, Json document, Error *err) {
    int fd = safe_create(AT_FDCWD, path, err);
    if (fd < 0 && errno == EEXIST) {
        error_clear(err);
        fd = safe_open(AT_FDCWD, path, O_WRONLY, SAFE_OURS, err);
        if (fd >= 0 && ftruncate(fd, 0)) error_set(err, ERR_IO, "%s", strerror(errno));
    }
    if (err->code != ERR_NONE) {
        if (fd >= 0) close(fd);
        error_wrap(err, "%s cannot be written", path);
        return false;
    }
    FILE *file = fdopen(fd, "wb");
    char *text = json_to_text(document);
    bool ok = file && fputs(text, file) >= 0 && fputc('\n', file) != EOF;
    ok = file && fclose(file) == 0 && ok;
    mem_free(text);
    return ok || error_set(err, ERR_IO, "%s cannot be written: %s.", path, strerror(errno));
}

/* What was asked for goes into a file, and what is said of it is its name instead. Breakpoints are a part of their
 * answer. */
static bool export_answer(const char *path, Json *answer, Error *err) {
    Json part = field_get(*answer, "document");
    if (!write_document(path, json_is_none(part) ? *answer : part, err)) return false;
    Json said = json_is_none(part)
                    ? json_object()
                    : json_object_remove(json_ref(*answer), json_string_c("document"));
    json_put(answer, OBJECT_ADD(said, KEY("file", path)));
    return true;
}

/* Whether something comes of what was asked: frames go on, or stop, or the run ends. */
static bool lets_go(const char *operation, Json answer) {
    bool always = !strcmp(operation, "abort") || !strcmp(operation, "answer");
    return (always && !json_is_none(answer)) || json_array_len(field_get(answer, "resumed")) ||
           json_array_len(field_get(answer, "paused")) ||
           json_array_len(field_get(answer, "later"));
}

/* Waits for what comes of an order, unless it has let go of nothing. */
static void follow(Console *c, const Order *order, Json answer) {
    const char *operation = order->operation;
    bool abort = !strcmp(operation, "abort"), replay = !strcmp(operation, "replay");
    if (!strcmp(operation, "detach")) {
        leave(c, CONSOLE_DETACHED);
    } else if ((order->flags & COMMAND_GOES) && (replay || lets_go(operation, answer))) {
        wait_for(c, abort ? CAME_SETTLED | CAME_OVER : replay ? CAME_REPLAY | CAME_OVER : CAME_ANY);
    } else if (order->flags & COMMAND_MOVES) {
        show_new_place(c, answer);
    } else {
        drain(c);
    }
}

/* Calls, shows, and waits for what comes of it. */
static void obey(Console *c, const Order *order) {
    Error err = ERROR_INIT;
    console_flush(c);
    c->interrupted = 0;
    c->shown = 0;
    c->came &= CAME_OVER;
    c->chosen = strcmp(order->operation, "frame") ? 0 : field_number(order->args, "frame", 0);
    bool stood = c->stands && commands_operation_goes(order->operation);
    c->stands = c->stands && !stood;
    Json answer = target_call(c->target, order->operation, json_ref(order->args), &err);
    bool ok = !json_is_none(answer), exports = order->text != NULL;
    c->stands = c->stands || (stood && !lets_go(order->operation, answer));
    if (ok && exports) ok = export_answer(order->text, &answer, &err);
    if (ok) {
        take_note(c, order->operation, answer);
        console_put_answer(c, order, answer);
    } else {
        console_put_error(c, order, false, &err);
    }
    if (ok && !exports) follow(c, order, answer);
    json_unref(answer);
}

bool console_call(Console *c, const char *operation, Json args, bool shown) {
    Json answer = ask_and_show(c, operation, args, shown ? commands_view(operation) : NULL);
    bool ok = !json_is_none(answer);
    if (ok) take_note(c, operation, answer);
    json_unref(answer);
    return ok;
}

/* ---- lines ---- */

/* `frame` alone is about the selected one. */
static void name_selected(Console *c, Order *order) {
    if (!strcmp(order->operation, "frame") && json_is_none(field_get(order->args, "frame"))) {
        Json session = console_ask(c, "session", json_none()), frame = field_get(session, "frame");
        if (json_tag(frame) == JSON_TAG_INT) {
            order->args = OBJECT_ADD(order->args, KEY("frame", frame));
        }
        json_unref(session);
    }
}

static void do_command(Console *c, const char *line, size_t len) {
    CommandContext context = {c->file, c->list_file, c->list_line};
    Error err = ERROR_INIT;
    Order order;
    if (!commands_read(&context, line, len, &order, &err)) {
        console_put_error(c, &order, true, &err);
    } else if (order.command) {
        bool repeats = order.flags & COMMAND_REPEATS;
        if (!repeats || c->again != line) {
            console_set(&c->again, repeats ? mem_strndup(line, len) : NULL);
        }
        const char *question = order.everything ? order.command->asks : NULL;
        if (question && !prompt_confirm(c->prompt, question)) {
            /* it was not meant */
        } else if (order.operation) {
            name_selected(c, &order);
            obey(c, &order);
        } else {
            order.command->act(c, &order);
        }
    }
    order_clear(&order);
}

/* {"call", "args"?, "request_id"?, "wait"?} */
static bool check_call(Json request, Error *err) {
    static const char *const words[][2] = {
        {"call", ""}, {"args", ""}, {"request_id", ""}, {"wait", ""}, {NULL, NULL}};
    Json key, value, args = field_get(request, "args");
    for (size_t pos = 0; json_object_next(request, &pos, &key, &value);) {
        if (!field_word(key, words)) {
            return error_set(
                err, ERR_USAGE,
                "A call is {\"call\": OPERATION, \"args\": {...}}, with \"request_id\" "
                "and \"wait\" at will, and nothing else.");
        }
    }
    if (json_kind(field_get(request, "call")) != JSON_STRING) {
        return error_set(err, ERR_USAGE, "\"call\" has to be the name of an operation.");
    }
    return json_is_none(args) || json_kind(args) == JSON_OBJECT ||
           error_set(err, ERR_USAGE, "\"args\" has to be an object.");
}

static void do_call(Console *c, const char *line, size_t len) {
    Error err = ERROR_INIT;
    Json request = json_parse(line, len, NULL, &err), args = field_get(request, "args");
    Order order = {.line = line,
                   .len = len,
                   .args = json_none(),
                   .id = json_ref(field_get(request, "request_id"))};
    if (json_is_none(request)) {
        Error cause = err;
        error_set(&err, ERR_USAGE, "The line is not JSON: %s.", cause.msg);
    }
    if (json_is_none(request) || !check_call(request, &err)) {
        console_put_error(c, &order, false, &err);
    } else {
        char *operation = text_of(field_get(request, "call"));
        bool waits = json_tag(field_get(request, "wait")) != JSON_TAG_FALSE;
        order.operation = operation ? operation : "";
        order.args = json_is_none(args) ? json_object() : json_ref(args);
        order.flags = waits && commands_operation_goes(order.operation) ? COMMAND_GOES : 0;
        obey(c, &order);
        mem_free(operation);
    }
    order_clear(&order);
    json_unref(request);
}

static void do_line(Console *c, const char *line, size_t len) {
    size_t at = 0;
    while (at < len && strchr(" \t\r", line[at]) && line[at]) at++;
    if (c->host.json && at < len && line[at] == '{') {
        do_call(c, line, len);
    } else if (at == len && c->again && prompt_edits(c->prompt)) {
        do_command(c, c->again, strlen(c->again));
    } else {
        do_command(c, line, len);
    }
}

/* ---- what the prompt does itself ---- */

void console_do_help(Console *c, const Order *order) {
    Buf text = BUF_INIT;
    int width = terminal_width(stdout);
    if (order->text) {
        commands_explain(commands_find(order->text, strlen(order->text), NULL), width, &text);
    } else {
        commands_help(width, &text);
    }
    Order answered = *order;
    answered.operation = "help";
    Json answer = OBJECT(KEY("text", json_string(text.data, text.len)));
    console_put_answer(c, &answered, answer);
    json_unref(answer);
    buf_clear(&text);
}

void console_do_quit(Console *c, const Order *order) {
    (void)order;
    leave(c, CONSOLE_QUIT);
}

/* That frames stand still is told when it is on record, which may be later than it is so: what has come to pass and was
 * not told is waited for, too. */
void console_do_wait(Console *c, const Order *order) {
    enum { UNTOLD_MS = 30000 };
    (void)order;
    console_flush(c);
    c->came &= CAME_OVER;
    Json session = console_ask(c, "session", json_none()), status = field_get(session, "status");
    bool ended = json_string_is(status, "ended"), told = ended ? c->status[0] : c->stands;
    if (json_string_is(status, "running")) {
        wait_for(c, CAME_ANY);
    } else if (!told && !json_is_none(session)) {
        give_grace(c, CAME_STOP | CAME_SETTLED | CAME_OVER, UNTOLD_MS);
        if (c->came & CAME_ANY) wait_for(c, CAME_ANY);
    } else {
        console_notice(c, "Nothing is running.");
    }
    json_unref(session);
}

/* The file is read here: the process that has the run need not see it. */
void console_do_load(Console *c, const Order *order) {
    enum { FILE_MAX = 16 << 20 };
    Error err = ERROR_INIT;
    Buf text = BUF_INIT;
    Json document = json_none();
    if (order->text && safe_read_given(order->text, FILE_MAX, &text, &err)) {
        document = json_parse(text.data ? text.data : "", text.len, NULL, NULL);
        if (json_kind(document) != JSON_OBJECT) {
            error_set(&err, ERR_DATA, "%s is not what `save` writes.", order->text);
        }
    }
    if (err.code) {
        console_put_error(c, order, false, &err);
    } else {
        Order load = *order;
        load.operation = "breakpoint_load";
        load.text = NULL;
        load.args = OBJECT(KEY("document", json_ref(document)));
        obey(c, &load);
        json_unref(load.args);
    }
    json_unref(document);
    buf_clear(&text);
}

void console_do_run(Console *c, const Order *order) {
    Error err = ERROR_INIT;
    bool ended = !strcmp(c->status, "completed") || !strcmp(c->status, "failed") ||
                 !strcmp(c->status, "cancelled");
    if (!ended) {
        error_set(&err, ERR_USAGE,
                  "The run has not ended yet: `continue` goes on with it, `abort` ends it.");
    } else {
        c->came = 0;
        c->host.restart(c->host.ctx, &err);
    }
    if (err.code) {
        console_put_error(c, order, false, &err);
        return;
    }
    c->status[0] = '\0';
    wait_for(c, CAME_ANY);
}

/* ---- what Tab offers ---- */

/* The part of the line that is being typed, and what could stand in its place. */
typedef struct Offer {
    const char *typed;
    size_t len;
    Json items;
} Offer;

/* What begins as it is typed, once. */
static void offer(Offer *o, const char *text, size_t len, const char *end) {
    if (o->len > len || memcmp(text, o->typed, o->len) != 0) return;
    Json item = json_string_fmt("%.*s%s", (int)len, text, end);
    bool new = true;
    for (size_t i = 0; new &&i < json_array_len(o->items); i++) {
        new = !json_equal(json_array_get(o->items, i), item);
    }
    o->items = new ? json_array_push(o->items, json_ref(item)) : o->items;
    json_unref(item);
}

static void offer_words(Offer *o, const char *words) {
    for (size_t n; (n = strcspn(words, " ")); words += n + (words[n] == ' ')) {
        offer(o, words, n, words[n - 1] == ':' ? "" : " ");
    }
}

/* Their names, and the titles of tasks. */
static void offer_nodes(Offer *o, Console *c, bool titles) {
    Json answer = console_ask(c, "nodes", json_none()), nodes = field_get(answer, "nodes");
    for (size_t i = 0; i < json_array_len(nodes); i++) {
        Json name = field_get(json_array_get(nodes, i), "name");
        Json title = titles ? field_get(json_array_get(nodes, i), "title") : json_none();
        if (field_is_text(name)) offer(o, json_string_data(&name), json_string_len(name), "");
        if (field_is_text(title)) offer(o, json_string_data(&title), json_string_len(title), "");
    }
    json_unref(answer);
}

static void offer_frames(Offer *o, Console *c) {
    Json answer = console_ask(c, "frames", json_none()), frames = field_get(answer, "frames");
    for (size_t i = 0; i < json_array_len(frames); i++) {
        char number[24];
        int n = snprintf(number, sizeof number, "%lld",
                         (long long)field_number(json_array_get(frames, i), "frame", 0));
        offer(o, number, (size_t)n, " ");
    }
    json_unref(answer);
}

static void offer_found(Offer *o, Console *c, const char *what, size_t *from) {
    size_t place = 0;
    Json args = OBJECT(KEY("text", json_string(o->typed, o->len)),
                       KEY("cursor", json_int((int64_t)o->len)), KEY("what", what));
    Json answer = console_ask(c, "complete", args);
    json_unref(o->items);
    o->items = commands_offered(field_get(answer, "items"), o->typed, o->len, &place);
    *from += place;
    json_unref(answer);
}

static Json complete(void *console, const char *line, size_t cursor, size_t *from) {
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
    case OFFERS_WORDS: offer_words(&o, c.words); break;
    case OFFERS_NODE: offer_nodes(&o, console, false); break;
    case OFFERS_BREAK:
        offer_nodes(&o, console, true);
        offer_words(&o, "caught changed: error if state:");
        break;
    case OFFERS_EXPRESSION: offer_found(&o, console, "expression", from); break;
    case OFFERS_PATH: offer_found(&o, console, "path", from); break;
    case OFFERS_CONFIG: offer_found(&o, console, "config", from); break;
    case OFFERS_FRAME:
        offer_frames(&o, console);
        if (c.words) offer_words(&o, c.words);
        break;
    }
    return o.items;
}

/* ---- life ---- */

/* The loop has turned while somebody types. */
static bool on_turned(void *ctx) {
    Console *c = ctx;
    console_flush(c);
    return c->came & CAME_OVER;
}

Console *console_new(const ConsoleHost *host, Error *err) {
    Console *c = mem_zalloc(sizeof *c);
    PromptHost prompt = {.loop = host->loop,
                         .turned = on_turned,
                         .complete = complete,
                         .ctx = c,
                         .scripts = host->scripts,
                         .bare = host->json};
    c->prompt = prompt_new(&prompt, err);
    if (!c->prompt) {
        mem_free(c);
        return NULL;
    }
    c->host = *host;
    c->events = json_array();
    c->colour = !host->json && terminal_has_colour(stdout);
    uv_timer_init(host->loop, &c->grace);
    c->grace.data = c;
    return c;
}

static void on_timer_closed(uv_handle_t *handle) {
    Console *c = handle->data;
    c->closed = true;
}

void console_free(Console *c) {
    if (!c) return;
    uv_close((uv_handle_t *)&c->grace, on_timer_closed);
    while (!c->closed) uv_run(c->host.loop, UV_RUN_NOWAIT);
    prompt_free(c->prompt);
    json_unref(c->events);
    mem_free(c->file);
    mem_free(c->list_file);
    mem_free(c->again);
    mem_free(c);
}

void console_open(Console *c, Target *target) {
    c->target = target;
    console_set(&c->file, NULL);
    console_set(&c->list_file, NULL);
}

/* ---- the whole ---- */

/* Where a run stands that was there before us. */
static void look_around(Console *c, Json session) {
    Json status = field_get(session, "status"), run_status = field_get(session, "run_status");
    bool stands = json_tag(field_get(session, "frame")) == JSON_TAG_INT;
    bool ended = json_string_is(status, "ended");
    if (json_string_is(status, "running")) {
        char *thread = text_of(field_get(session, "thread"));
        console_notice(c, "%s is running; `pause` stops it, `wait` waits until it stops.",
                       thread ? thread : "The run");
        mem_free(thread);
    } else if (stands && !ended) {
        show_place(c, session);
        show_company(c);
    } else if (!c->host.json) {
        Buf text = BUF_INIT;
        View v = console_view(c, &text);
        view_session(&v, session);
        view_end_line(&v);
        console_put(c, &text);
    }
    if (ended) console_note_status(c, run_status);
    if (json_string_is(run_status, "failed") && !c->host.json) {
        show_place(c, session);
        /* A test that failed and has cleaned up stands at no node. */
        Json frame = console_ask(c, "frame", json_none());
        bool failed = json_string_is(field_get(frame, "status"), "failed");
        console_notice(
            c, "%s",
            failed
                ? "`retry` runs it again, after `set` or `config set` if need be; `back` goes back."
                : "`back` goes back into it.");
        json_unref(frame);
    }
}

ConsoleEnd console_go(Console *c, ConsoleBegin begin) {
    char *line;
    size_t len;
    Json session = console_ask(c, "session", json_none());
    if (!json_is_none(session)) note_session(c, session);
    if (begin == CONSOLE_WAITS) {
        wait_for(c, CAME_ANY);
    } else if (begin == CONSOLE_MOVED) {
        show_new_place(c, session);
    } else {
        look_around(c, session);
    }
    json_unref(session);
    while (!c->ending && !(c->came & CAME_OVER) && (line = prompt_line(c->prompt, &len))) {
        do_line(c, line, len);
        mem_free(line);
    }
    console_flush(c);
    ConsoleEnd end = c->ending ? c->end : CONSOLE_QUIT;
    bool asked = end == CONSOLE_DETACHED;
    end = c->gone ? CONSOLE_GONE : end;
    end = c->over ? c->over : end; /* what the session said goes before how its target closed */
    if (end == CONSOLE_DETACHED && !asked) {
        console_notice(c, "Somebody detached the session elsewhere.");
    }
    bool cut = end != CONSOLE_QUIT && !asked;
    c->left = cut ? prompt_left(c->prompt) : 0;
    if (end == CONSOLE_GONE && c->host.json) {
        console_event(c, OBJECT(KEY("event", "session"), KEY("status", "gone"),
                                KEY("left", (int64_t)c->left)));
        console_flush(c);
    }
    return end;
}

size_t console_left(const Console *c) {
    return c->left;
}

const char *console_status(const Console *c) {
    return c->status;
}

int console_interrupts(Console *c) {
    return prompt_interrupts(c->prompt);
}

bool console_is_over(const Console *c) {
    return prompt_is_over(c->prompt);
}
