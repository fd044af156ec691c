#include "model.h"

#include "json_build.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "utf8.h"

#include <stdio.h>

enum {
    EXCERPT_MAX = 300,             /* bytes of others' words in a sentence */
    HEAP_MAX = 4 * MODEL_BODY_MAX, /* that a document may take once it is read */
};

static const struct {
    const char *name;
    bool passes;
} ends[MODEL_ENDS] = {
    [MODEL_ANSWERED] = {"answered", false},      [MODEL_TRUNCATED] = {"truncated", false},
    [MODEL_REFUSED] = {"refusal", true},         [MODEL_EMPTY] = {"empty", true},
    [MODEL_BROKEN] = {"broken", true},           [MODEL_TOO_LONG] = {"limit", false},
    [MODEL_RATE_LIMITED] = {"rate_limit", true}, [MODEL_OVERLOADED] = {"overloaded", true},
    [MODEL_FAILED] = {"server", true},           [MODEL_SLOW] = {"timeout", true},
    [MODEL_REJECTED] = {"request", false},       [MODEL_NO_ACCESS] = {"key", false},
};

const char *model_end_name(ModelEnd end) {
    return ends[end].name;
}

bool model_end_passes(ModelEnd end) {
    return ends[end].passes;
}

/* ---- asking ---- */

void model_question(const ModelQuestion *q, Buf *out) {
    bool chat = q->format == MODEL_CHAT, system = !json_is_none(q->system);
    Json messages = json_array();
    if (chat && system) {
        messages = json_array_push(
            messages, OBJECT(KEY("role", "system"), KEY("content", json_ref(q->system))));
    }
    messages =
        json_array_push(messages, OBJECT(KEY("role", "user"), KEY("content", json_ref(q->prompt))));
    Json body = OBJECT(KEY("model", json_ref(q->model)), KEY("max_tokens", q->max_tokens),
                       KEY("system", chat ? json_none() : json_ref(q->system)),
                       KEY("messages", messages), KEY("stream", q->stream));
    json_print(body, NULL, out);
    json_unref(body);
}

/* ---- the reader ---- */

typedef enum Mode {
    MODE_UNKNOWN, /* nothing but white space so far */
    MODE_EVENTS,
    MODE_DOCUMENT,
} Mode;

struct ModelReader {
    ModelFormat format;
    void (*on_text)(void *ctx, const char *text, size_t len);
    void *ctx;
    Mode mode;
    Buf line;      /* of a stream: what has come of the line; of a document: all of it */
    Buf data;      /* of the event under way */
    bool has_data; /* even if it is empty */
    bool after_cr; /* a newline now belongs to the line before */
    bool events;   /* at least one event made sense */
    bool complete; /* the format's own sign of the end has come */
    bool stopped;  /* something is wrong: answer.end says what */
    bool refused;
    Buf text;
    ModelAnswer answer;
};

ModelReader *model_reader_new(ModelFormat format,
                              void (*on_text)(void *ctx, const char *text, size_t len), void *ctx) {
    ModelReader *r = mem_zalloc(sizeof *r);
    r->format = format;
    r->on_text = on_text;
    r->ctx = ctx;
    return r;
}

void model_reader_free(ModelReader *r) {
    if (!r) return;
    buf_clear(&r->line);
    buf_clear(&r->data);
    buf_clear(&r->text);
    json_unref(r->answer.text);
    json_unref(r->answer.model);
    json_unref(r->answer.stop);
    json_unref(r->answer.usage);
    mem_free(r);
}

static void conclude(ModelReader *r, ModelEnd end, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The first thing that goes wrong is the one that counts. */
static void conclude(ModelReader *r, ModelEnd end, const char *fmt, ...) {
    if (r->stopped) return;
    Error err = ERROR_INIT;
    va_list args;
    va_start(args, fmt);
    error_vset_at(&err, ERR_DATA, 0, 0, fmt, args);
    va_end(args);
    r->stopped = true;
    r->answer.end = end;
    snprintf(r->answer.error, sizeof r->answer.error, "%s", err.msg);
}

/* ---- parts of JSON ---- */

static bool is_string(Json j) {
    return json_kind(j) == JSON_STRING;
}

/* Of anything: JSON_NONE when it is no object or has no such key. */
static Json get(Json j, const char *key) {
    return json_object_get_c(j, key);
}

static Json first_of(Json j) {
    return json_array_get(j, 0);
}

static Json parse(const char *text, size_t len, Error *err) {
    JsonParseOptions options = {.max_depth = MODEL_DEPTH_MAX, .max_bytes = HEAP_MAX};
    return json_parse(text, len, &options, err);
}

/* At most EXCERPT_MAX bytes of a string, as a C string in one line. Borrows. */
static const char *excerpt(Json j, char out[EXCERPT_MAX + 1]) {
    size_t len = is_string(j) ? json_string_len(j) : 0;
    size_t kept = len > EXCERPT_MAX ? EXCERPT_MAX : len;
    if (kept) memcpy(out, json_string_data(&j), kept);
    kept = utf8_valid_prefix(out, kept);
    for (size_t i = 0; i < kept; i++) {
        if ((unsigned char)out[i] < ' ') out[i] = ' ';
    }
    out[kept] = '\0';
    return out;
}

/* ---- errors that the API speaks of ---- */

/* By the `type` or `code` of an error, as both formats have them. */
static const struct {
    const char *type;
    ModelEnd end;
} error_types[] = {
    {"overloaded_error", MODEL_OVERLOADED},      {"rate_limit_error", MODEL_RATE_LIMITED},
    {"rate_limit_exceeded", MODEL_RATE_LIMITED}, {"timeout_error", MODEL_SLOW},
    {"invalid_request_error", MODEL_REJECTED},   {"not_found_error", MODEL_REJECTED},
    {"request_too_large", MODEL_REJECTED},       {"authentication_error", MODEL_NO_ACCESS},
    {"permission_error", MODEL_NO_ACCESS},       {"invalid_api_key", MODEL_NO_ACCESS},
    {"billing_error", MODEL_NO_ACCESS},          {"content_filter", MODEL_REFUSED},
};

static ModelEnd end_of_type(Json type, ModelEnd otherwise) {
    for (size_t i = 0; i < sizeof error_types / sizeof *error_types; i++) {
        if (json_string_is(type, error_types[i].type)) return error_types[i].end;
    }
    return otherwise;
}

static void take_error(ModelReader *r, Json error) {
    char words[EXCERPT_MAX + 1];
    Json said = is_string(error) ? error : get(error, "message");
    ModelEnd end = end_of_type(get(error, "code"), end_of_type(get(error, "type"), MODEL_FAILED));
    conclude(r, end, "The model's API gave up in the middle: %s",
             *excerpt(said, words) ? words : "it does not say why.");
}

ModelEnd model_error(int status, const char *body, size_t len, char *sentence, size_t size) {
    static const struct {
        int status;
        ModelEnd end;
    } known[] = {
        {401, MODEL_NO_ACCESS},  {402, MODEL_NO_ACCESS},    {403, MODEL_NO_ACCESS},
        {407, MODEL_NO_ACCESS},  {408, MODEL_SLOW},         {409, MODEL_FAILED},
        {425, MODEL_OVERLOADED}, {429, MODEL_RATE_LIMITED}, {503, MODEL_OVERLOADED},
        {504, MODEL_SLOW},       {529, MODEL_OVERLOADED},
    };
    char words[EXCERPT_MAX + 1];
    Json parsed =
        len ? parse(body, len < MODEL_ERROR_MAX ? len : MODEL_ERROR_MAX, NULL) : json_none();
    /* {error: {message}}, {error: text}, {message}, {detail} */
    Json error = get(parsed, "error"), said = json_none();
    Json texts[] = {get(error, "message"), error, get(parsed, "message"), get(parsed, "detail")};
    for (size_t i = 4; i-- > 0;) {
        if (is_string(texts[i]) && json_string_len(texts[i])) said = texts[i];
    }
    excerpt(said, words);
    snprintf(sentence, size, "The model's API answered with status %d%s%s", status,
             *words ? ": " : ".", words);
    json_unref(parsed);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].status == status) return known[i].end;
    }
    return status >= 500 ? MODEL_FAILED : MODEL_REJECTED;
}

/* ---- what an answer is made of ---- */

static void add_text(ModelReader *r, Json text) {
    if (!is_string(text) || r->stopped) return;
    size_t len = json_string_len(text);
    if (len > MODEL_TEXT_MAX - r->text.len) {
        conclude(r, MODEL_TOO_LONG, "The model's answer is longer than %d MB. Lower max_tokens.",
                 MODEL_TEXT_MAX >> 20);
        return;
    }
    buf_add(&r->text, json_string_data(&text), len);
    if (len && r->on_text) r->on_text(r->ctx, json_string_data(&text), len);
}

/* A list of {type: "text", text}, or the text itself. */
static void add_content(ModelReader *r, Json content) {
    add_text(r, content);
    size_t n = json_array_len(content);
    for (size_t i = 0; i < n; i++) {
        Json part = json_array_get(content, i);
        if (json_string_is(get(part, "type"), "text")) add_text(r, get(part, "text"));
    }
}

static void keep_string(Json *slot, Json value) {
    if (!is_string(value)) return;
    json_unref(*slot);
    *slot = json_ref(value);
}

/* Numbers that come in several parts are put together. */
static void keep_usage(ModelReader *r, Json usage) {
    Json key, value;
    size_t at = 0;
    if (json_kind(usage) != JSON_OBJECT) return;
    if (json_is_none(r->answer.usage)) r->answer.usage = json_object();
    while (json_object_next(usage, &at, &key, &value)) {
        r->answer.usage = json_object_set(r->answer.usage, json_ref(key), json_ref(value));
    }
}

/* ---- Messages ---- */

static void on_message_start(ModelReader *r, Json event) {
    Json start = get(event, "message");
    keep_string(&r->answer.model, get(start, "model"));
    keep_usage(r, get(start, "usage"));
}

static void on_block_start(ModelReader *r, Json event) {
    Json block = get(event, "content_block");
    if (json_string_is(get(block, "type"), "text")) add_text(r, get(block, "text"));
}

static void on_block_delta(ModelReader *r, Json event) {
    Json delta = get(event, "delta");
    if (json_string_is(get(delta, "type"), "text_delta")) add_text(r, get(delta, "text"));
}

static void on_message_delta(ModelReader *r, Json event) {
    keep_string(&r->answer.stop, get(get(event, "delta"), "stop_reason"));
    keep_usage(r, get(event, "usage"));
}

static void on_message_stop(ModelReader *r, Json event) {
    (void)event;
    r->complete = true;
}

static void on_error(ModelReader *r, Json event) {
    take_error(r, get(event, "error"));
}

/* Types that are not here, such as "ping", are passed over: there will be new ones. */
static const struct {
    const char *type;
    void (*take)(ModelReader *r, Json event);
} message_events[] = {
    {"message_start", on_message_start},     {"content_block_start", on_block_start},
    {"content_block_delta", on_block_delta}, {"message_delta", on_message_delta},
    {"message_stop", on_message_stop},       {"error", on_error},
};

static void messages_event(ModelReader *r, Json event) {
    Json type = get(event, "type");
    for (size_t i = 0; i < sizeof message_events / sizeof *message_events; i++) {
        if (json_string_is(type, message_events[i].type)) message_events[i].take(r, event);
    }
}

static void messages_document(ModelReader *r, Json document) {
    if (json_string_is(get(document, "type"), "error")) {
        on_error(r, document);
        return;
    }
    keep_string(&r->answer.model, get(document, "model"));
    keep_string(&r->answer.stop, get(document, "stop_reason"));
    keep_usage(r, get(document, "usage"));
    add_content(r, get(document, "content"));
    r->complete = json_kind(get(document, "content")) == JSON_ARRAY;
}

/* ---- chat completions ---- */

/* The message of a document and the delta of an event look the same. */
static void chat_part(ModelReader *r, Json part, const char *name) {
    Json choice = first_of(get(part, "choices")), said = get(choice, name);
    keep_string(&r->answer.model, get(part, "model"));
    keep_usage(r, get(part, "usage"));
    keep_string(&r->answer.stop, get(choice, "finish_reason"));
    add_content(r, get(said, "content"));
    if (is_string(get(said, "refusal"))) {
        r->refused = true;
        add_text(r, get(said, "refusal"));
    }
}

static void chat_event(ModelReader *r, Json event) {
    if (json_truthy(get(event, "error"))) {
        on_error(r, event);
    } else {
        chat_part(r, event, "delta");
    }
}

static void chat_document(ModelReader *r, Json document) {
    if (json_truthy(get(document, "error"))) {
        on_error(r, document);
        return;
    }
    chat_part(r, document, "message");
    r->complete = json_kind(get(first_of(get(document, "choices")), "message")) == JSON_OBJECT;
}

static const struct {
    void (*event)(ModelReader *r, Json event);
    void (*document)(ModelReader *r, Json document);
} formats[] = {
    [MODEL_MESSAGES] = {messages_event, messages_document},
    [MODEL_CHAT] = {chat_event, chat_document},
};

/* ---- a stream of events ---- */

/* The empty line at the end of an event. What is left of an event when the stream ends was never sent
 * whole, and is nothing. */
static void end_event(ModelReader *r) {
    static const char done[] = "[DONE]";
    Error err = ERROR_INIT;
    if (r->data.len == strlen(done) && !memcmp(r->data.data, done, strlen(done))) {
        r->complete = r->events = true;
    } else if (r->has_data) {
        Json event = parse(r->data.data ? r->data.data : "", r->data.len, &err);
        if (json_kind(event) == JSON_OBJECT) {
            r->events = true;
            formats[r->format].event(r, event);
        } else {
            conclude(r, MODEL_BROKEN, "An event of the model's answer is not a JSON object%s%s",
                     err.code ? ": " : ".", err.msg);
        }
        json_unref(event);
    }
    r->has_data = false;
    buf_reset(&r->data);
}

/* Only data counts: what an event is stands in it, too. */
static void end_line(ModelReader *r) {
    static const char field[] = "data:";
    if (!r->line.len) {
        end_event(r);
    } else if (r->line.len >= strlen(field) && !memcmp(r->line.data, field, strlen(field))) {
        const char *s = r->line.data + strlen(field);
        size_t len = r->line.len - strlen(field);
        if (len && *s == ' ') s++, len--;
        if (len >= MODEL_EVENT_MAX - r->data.len) {
            conclude(r, MODEL_TOO_LONG, "An event of the model's answer is longer than %d MB.",
                     MODEL_EVENT_MAX >> 20);
        } else {
            if (r->has_data) buf_addc(&r->data, '\n');
            r->has_data = true;
            buf_add(&r->data, s, len);
        }
    }
    buf_reset(&r->line);
}

/* Of the line under way, or of the document. */
static void add_bytes(ModelReader *r, const char *s, size_t len, const char *what, size_t most) {
    if (len > most - r->line.len) {
        conclude(r, MODEL_TOO_LONG, "%s is longer than %zu MB.", what, most >> 20);
    } else {
        buf_add(&r->line, s, len);
    }
}

/* Lines end in \n, \r\n or \r. */
static void read_events(ModelReader *r, const char *s, size_t len) {
    const char *end = s + len;
    while (s < end && !r->stopped && !r->complete) {
        if (r->after_cr && *s == '\n') {
            r->after_cr = false;
            s++;
            continue;
        }
        const char *at = s;
        while (at < end && *at != '\n' && *at != '\r') at++;
        add_bytes(r, s, (size_t)(at - s), "A line of the model's answer", MODEL_EVENT_MAX);
        r->after_cr = at < end && *at == '\r';
        if (at < end) end_line(r);
        s = at + (at < end);
    }
}

/* ---- one document ---- */

static void take_document(ModelReader *r) {
    Error err = ERROR_INIT;
    Json document = parse(r->line.data, r->line.len, &err);
    if (json_is_none(document)) {
        conclude(r, MODEL_BROKEN, "The model's answer is not JSON: %s", err.msg);
    } else {
        formats[r->format].document(r, document);
        if (!r->complete)
            conclude(r, MODEL_BROKEN, "The model's answer is not in the format asked for.");
    }
    json_unref(document);
}

/* ---- both ---- */

bool model_read(ModelReader *r, const char *s, size_t len) {
    /* White space, and the bytes of a byte order mark. */
    while (r->mode == MODE_UNKNOWN && len && *s && strchr(" \t\r\n\xEF\xBB\xBF", *s)) s++, len--;
    if (r->mode == MODE_UNKNOWN && len) {
        r->mode = *s == '{' || *s == '[' ? MODE_DOCUMENT : MODE_EVENTS;
    }
    if (r->stopped || r->complete) return false;
    if (r->mode == MODE_DOCUMENT) {
        add_bytes(r, s, len, "The model's answer", MODEL_BODY_MAX);
    } else {
        read_events(r, s, len);
    }
    return !r->stopped && !r->complete;
}

static ModelEnd end_of_stop(const ModelReader *r) {
    static const struct {
        const char *stop;
        ModelEnd end;
    } stops[] = {
        {"refusal", MODEL_REFUSED},
        {"content_filter", MODEL_REFUSED},
        {"max_tokens", MODEL_TRUNCATED},
        {"length", MODEL_TRUNCATED},
        {"model_context_window_exceeded", MODEL_TRUNCATED},
    };
    if (r->refused) return MODEL_REFUSED;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        if (json_string_is(r->answer.stop, stops[i].stop)) return stops[i].end;
    }
    return MODEL_ANSWERED;
}

/* The sign of the end has come; is it an answer? */
static void judge(ModelReader *r) {
    char words[EXCERPT_MAX + 1], stop[EXCERPT_MAX + 1];
    ModelEnd end = end_of_stop(r);
    const char *text = r->text.data ? r->text.data : "";
    excerpt(r->answer.text, words);
    excerpt(r->answer.stop, stop);
    if (end == MODEL_REFUSED) {
        conclude(r, end, "The model refused to answer%s%s", *words ? ": " : ".", words);
    } else if (end == MODEL_TRUNCATED) {
        conclude(r, end, "The model's answer was cut off (%s). Raise max_tokens, or ask for less.",
                 stop);
    } else if (strspn(text, " \t\r\n") == r->text.len) {
        conclude(r, MODEL_EMPTY, "The model gave an empty answer.");
    }
}

const ModelAnswer *model_reader_end(ModelReader *r) {
    if (r->mode == MODE_DOCUMENT && !r->stopped && !r->complete) take_document(r);
    json_unref(r->answer.text);
    r->answer.text = json_string_valid(r->text.data ? r->text.data : "", r->text.len);
    /* Of a stream of chat completions the last choice says why it stopped; not every server says [DONE]
     * after it. */
    if (r->complete || (r->format == MODEL_CHAT && !json_is_none(r->answer.stop))) {
        judge(r);
    } else if (r->events) {
        conclude(r, MODEL_BROKEN,
                 "The model's answer broke off in the middle, after %zu bytes of text.",
                 r->text.len);
    } else if (r->mode == MODE_UNKNOWN) {
        conclude(r, MODEL_EMPTY, "The model's API answered with nothing at all.");
    } else {
        conclude(r, MODEL_BROKEN,
                 "The model's API answered with neither events nor JSON. Is `endpoint` "
                 "the whole URL?");
    }
    return &r->answer;
}
