/* dap_variables.c - values: looking into them, setting them, evaluating, completing.
 *
 * What a node sees may be of any size, so nothing of it is held here: a handle says where a value is (its level
 * and its path), and each look asks for one page of it, with the beginning of every value as text. Only what an expression
 * came to is kept, as a value.
 *
 * A page has as many children as the client asks for. Where it asks for all of a large container, or where that is an object,
 * whose children clients do not page, it gets *parts*: pseudo-variables that stand for a hundred children each, or for
 * a hundred parts.
 *
 * What is set is pending until the frame goes on, and is seen at once: `set` of the session does both. The session tells
 * that too (`changed`), which becomes `invalidated` for the client, whoever set it. */
#include "dap_inside.h"

#include "ascii.h"
#include "inspect.h"
#include "json_parse.h"
#include "mem.h"
#include "utf8.h"

#include <stdio.h>

/* ---- a variable ---- */

/* "{"a":1,...}", cut at so many characters. Given. */
static Json shown_text(Json value, size_t chars) {
    JsonPrintOptions options = {.max_bytes = UTF8_BYTES_MAX * (chars + 1)};
    Buf text = BUF_INIT;
    bool whole = json_print(value, &options, &text);
    size_t end = utf8_valid_prefix(text.data, text.len);
    size_t cut = utf8_offset(text.data, end, chars);
    if (!whole || cut < text.len) {
        text.len = cut;
        buf_adds(&text, "...");
    }
    Json out = json_string(text.data, text.len);
    buf_clear(&text);
    return out;
}

static bool is_container(Json type) {
    return json_string_is(type, "array") || json_string_is(type, "object");
}

/* What is said of one: a key or an index; its type, length and text. */
typedef struct Shown {
    Json key, type, text; /* borrowed */
    int64_t length;
} Shown;

static Json name_of(Json key) {
    return json_kind(key) == JSON_STRING
               ? json_ref(key)
               : json_string_fmt("[%lld]", (long long)json_to_double(key));
}

/* Of a value at a path, as a jq path; "." is the whole. Given. */
static Json path_text(Json path) {
    Buf text = BUF_INIT;
    json_path_text(path, SIZE_MAX, &text);
    Json out = json_string(text.len ? text.data : ".", text.len ? text.len : 1);
    buf_clear(&text);
    return out;
}

/* `EXPR | .a[0]`; JSON_NONE when the handle has no expression. */
static Json expression_text(const Handle *h, Json path) {
    if (h->kind == HANDLE_PATH && !h->checkpoint) return path_text(path);
    if (h->kind != HANDLE_VALUE || json_kind(h->expression) != JSON_STRING) return json_none();
    Json inner = path_text(path);
    Json out =
        json_string_fmt("%s | %s", json_string_data(&h->expression), json_string_data(&inner));
    json_unref(inner);
    return out;
}

/* How many children, in the words of the protocol: only what clients page is counted. Consumes out. */
static Json with_counts(const Dap *dap, Json out, Json type, int64_t length) {
    bool counts = dap->client.paging && json_string_is(type, "array");
    return OBJECT_ADD(out, KEY("indexedVariables", counts ? json_int(length) : json_none()));
}

/* reference: of its children; 0: it has none. */
static Json variable(const Dap *dap, const Shown *shown, int64_t reference, Json evaluate) {
    Json out = OBJECT(KEY("name", name_of(shown->key)), KEY("value", json_ref(shown->text)),
                      KEY("type", dap->client.types ? json_ref(shown->type) : json_none()),
                      KEY("evaluateName", evaluate), KEY("variablesReference", reference));
    return reference ? with_counts(dap, out, shown->type, shown->length) : out;
}

static bool has_children(const Shown *shown) {
    return is_container(shown->type) && shown->length > 0;
}

/* ---- pages ---- */

/* What of a container is to be shown. */
typedef struct Page {
    size_t from, to; /* children */
    size_t part;     /* shown as parts of so many each; 0: as they are */
} Page;

/* Which children of `total` a request means, those of the handle's part. */
static Page page_of(const DapCall *call, const Handle *h, size_t total, bool array) {
    const Dap *dap = call->dap;
    int64_t start = dap_int(call->args, "start", 0), count = dap_int(call->args, "count", 0);
    const char *filter = json_object_text(call->args, "filter");
    size_t from = h->to ? h->from : 0, to = h->to && h->to < total ? h->to : total;
    bool none = filter && strcmp(filter, array ? "indexed" : "named") != 0;
    if (none || start < 0 || (uint64_t)start >= to - from) {
        return (Page){.from = to, .to = to};
    }
    bool paged = array && dap->client.paging && (count > 0 || start > 0);
    from += (size_t)start;
    if (count > 0 && (size_t)count < to - from) to = from + (size_t)count;
    if (paged || to - from <= DAP_CHUNK) {
        if (to - from > DAP_PAGE_MAX) to = from + DAP_PAGE_MAX;
        return (Page){.from = from, .to = to};
    }
    size_t part = DAP_CHUNK;
    while ((to - from + part - 1) / part > DAP_CHUNK) part *= DAP_CHUNK;
    return (Page){.from = from, .to = to, .part = part};
}

static Json parts_json(Dap *dap, const Handle *h, Page page) {
    Json list = json_array();
    Handle whole = handle_copy(h);
    for (size_t from = page.from; from < page.to; from += page.part) {
        Handle part = handle_copy(&whole);
        part.from = from;
        part.to = page.to - from < page.part ? page.to : from + page.part;
        Json name = json_string_fmt("[%zu..%zu]", part.from, part.to - 1);
        Json out = OBJECT(KEY("name", name), KEY("value", ""),
                          KEY("variablesReference", handles_add(&dap->handles, part)),
                          KEY("presentationHint", OBJECT(KEY("kind", "virtual"))));
        list = json_array_push(list, out);
    }
    handle_clear(&whole);
    return list;
}

static void answer_list(DapCall *call, Json list) {
    dap_answer(call, OBJECT(KEY("variables", list)));
}

/* ---- of a value that is at hand ---- */

/* The path to a child; consumes the path. */
static Json path_with(Json path, Json key) {
    return json_array_push(path, json_ref(key));
}

/* Where a value was written last can be asked for of what a level has under a name now. 0: it cannot. */
static int64_t location_of(Dap *dap, const Handle *h, Json path) {
    if (h->kind != HANDLE_PATH || h->checkpoint || json_array_len(path) != 1) return 0;
    return handles_add(&dap->handles, (Handle){.kind = HANDLE_PLACE,
                                               .thread = h->thread,
                                               .frame = h->frame,
                                               .depth = h->depth,
                                               .path = json_ref(path)});
}

static Json with_location(Json variable, int64_t location) {
    return location ? OBJECT_ADD(variable, KEY("valueLocationReference", location)) : variable;
}

static Json child_json(Dap *dap, const Handle *h, Json key, Json value) {
    size_t length = json_kind(value) == JSON_ARRAY    ? json_array_len(value)
                    : json_kind(value) == JSON_OBJECT ? json_object_len(value)
                                                      : 0;
    Shown shown = {.key = key,
                   .type = json_string_c(json_kind_name(json_kind(value))),
                   .text = shown_text(value, DAP_PREVIEW),
                   .length = (int64_t)length};
    Json path = path_with(json_kind(h->path) == JSON_ARRAY ? json_ref(h->path) : json_array(), key);
    Json evaluate = expression_text(h, path);
    int64_t reference = 0;
    if (has_children(&shown)) {
        Handle child = handle_copy(h);
        json_put(&child.path, json_ref(path));
        child.from = child.to = 0;
        child.array = json_kind(value) == JSON_ARRAY;
        if (h->kind != HANDLE_PATH) json_put(&child.value, json_ref(value));
        reference = handles_add(&dap->handles, child);
    }
    Json out = variable(dap, &shown, reference, evaluate);
    out = with_location(out, location_of(dap, h, path));
    json_unref(path);
    json_unref(shown.type);
    json_unref(shown.text);
    return out;
}

/* The children of a value, page.from to page.to. h is the handle of the value; copied, since making others may move it. */
static Json children_json(Dap *dap, const Handle *of, Json value, Page page) {
    Handle h = handle_copy(of);
    Json list = json_array(), step, child;
    bool array = json_kind(value) == JSON_ARRAY;
    size_t pos = array ? page.from : 0, i = array ? page.from : 0;
    for (; i < page.to && inspect_next(value, &pos, &step, &child); i++) {
        if (i >= page.from) list = json_array_push(list, child_json(dap, &h, step, child));
    }
    handle_clear(&h);
    return list;
}

static void answer_value(DapCall *call, const Handle *h, Json value) {
    bool array = json_kind(value) == JSON_ARRAY;
    size_t total = array ? json_array_len(value) : json_object_len(value);
    Page page = page_of(call, h, total, array);
    answer_list(call, page.part ? parts_json(call->dap, h, page)
                                : children_json(call->dap, h, value, page));
}

/* ---- of what a level sees ---- */

/* Arguments of `variables` and `evaluate` for the level of a handle. */
static Json level_args(const Handle *h) {
    return OBJECT(KEY("frame", h->frame ? json_int(h->frame) : json_none()),
                  KEY("depth", h->depth ? json_int(h->depth) : json_none()),
                  KEY("checkpoint", h->checkpoint ? json_int(h->checkpoint) : json_none()));
}

static void too_late(DapCall *call) {
    dap_fail_with(call, "This is not to be seen any more: its thread has gone on.");
}

static const Handle *handle_of(DapCall *call) {
    return handles_find(&call->dap->handles, dap_int(call->args, "variablesReference", 0));
}

/* A child as `variables` lists it. */
static Json listed_json(Dap *dap, const Handle *h, Json child) {
    Json key = json_object_get_c(child, "key");
    Shown shown = {.key = key,
                   .type = json_object_get_c(child, "type"),
                   .text = json_object_get_c(child, "preview"),
                   .length = dap_int(child, "length", 0)};
    Json path = path_with(json_ref(h->path), key);
    Json evaluate = expression_text(h, path);
    int64_t reference = 0, location = location_of(dap, h, path);
    if (has_children(&shown)) {
        Handle inner = handle_copy(h);
        json_put(&inner.path, json_ref(path));
        inner.from = inner.to = 0;
        inner.array = json_string_is(shown.type, "array");
        reference = handles_add(&dap->handles, inner);
    }
    Json out = variable(dap, &shown, reference, evaluate);
    json_unref(path);
    return with_location(out, location);
}

static void on_page(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    const Handle *found = handle_of(call);
    Json children = json_object_get_c(answer, "children"),
         value = json_object_get_c(answer, "value");
    if (!found) {
        too_late(call);
    } else if (!json_is_none(children)) {
        Handle h = handle_copy(found);
        size_t total = (size_t)dap_int(answer, "total", 0);
        Page page =
            page_of(call, &h, total, json_string_is(json_object_get_c(answer, "type"), "array"));
        Json list = page.part ? parts_json(dap, &h, page) : json_array();
        for (size_t i = 0; !page.part && i < json_array_len(children) && page.from + i < page.to;
             i++) {
            list = json_array_push(list, listed_json(dap, &h, json_array_get(children, i)));
        }
        handle_clear(&h);
        answer_list(call, list);
    } else {
        Handle h = handle_copy(found);
        answer_value(call, &h, value);
        handle_clear(&h);
    }
    json_unref(answer);
}

/* So many are asked for as may be shown. How many there are is not known before. */
static void look_at_path(DapCall *call, const Handle *h) {
    int64_t start = dap_int(call->args, "start", 0), count = dap_int(call->args, "count", 0);
    size_t offset = (h->to ? h->from : 0) + (start > 0 ? (size_t)start : 0);
    size_t limit = h->to ? h->to - h->from : DAP_CHUNK;
    Page page = page_of(call, h, h->to, h->array);
    if (h->to && page.part) { /* parts of a part: nothing of them is shown yet */
        answer_list(call, parts_json(call->dap, h, page));
        return;
    }
    if (count > 0) limit = (size_t)count;
    limit = limit > DAP_PAGE_MAX ? DAP_PAGE_MAX : limit < 1 ? 1 : limit;
    dap_ask(call, "variables",
            OBJECT_ADD(level_args(h), KEY("path", json_ref(h->path)), KEY("offset", offset),
                       KEY("limit", limit), KEY("preview", json_int(DAP_PREVIEW))),
            on_page);
}

/* ---- scopes that are asked for when they are looked into ---- */

/* A child that has a name, and is itself the whole that paths below it begin at. */
static Json part_json(Dap *dap, const Handle *at, Json name, Json value) {
    Json one = child_json(dap, at, name, value);
    int64_t reference = dap_int(one, "variablesReference", 0);
    if (reference) handles_begin(&dap->handles, reference);
    return one;
}

static void on_config(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    const Handle *found = handle_of(call);
    if (!found) {
        json_unref(answer);
        too_late(call);
        return;
    }
    static const struct {
        const char *key, *name;
        HandleKind kind;
    } parts[] = {{"resolved", "resolved", HANDLE_VALUE},
                 {"raw", "as written", HANDLE_WRITTEN},
                 {"error", "error", HANDLE_VALUE}};
    Json list = json_array();
    Handle level = *found;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        Json value = json_object_get_c(answer, parts[i].key), name = json_string_c(parts[i].name);
        Handle at = {.kind = parts[i].kind, .thread = level.thread, .frame = level.frame};
        if (!json_is_none(value)) list = json_array_push(list, part_json(dap, &at, name, value));
        json_unref(name);
    }
    json_unref(answer);
    answer_list(call, list);
}

static void on_session(DapCall *call, Json answer) {
    const Handle *found = handle_of(call);
    Handle at = {.kind = HANDLE_VALUE, .thread = found ? found->thread : 0};
    Page all = {.to = SIZE_MAX};
    Json list = children_json(call->dap, &at, answer, all);
    json_unref(answer);
    answer_list(call, list);
}

/* One step of the history; what it gave back, or what was seen then, is asked for when it is looked into. */
static Json step_json(Dap *dap, const Handle *scope, Json step, bool output) {
    const char *node = json_object_text(step, "node"), *result = json_object_text(step, "result");
    int64_t seq = dap_int(step, "checkpoint", 0), took = dap_int(step, "took", -1);
    Json changed = json_object_get_c(step, "changed");
    Buf text = BUF_INIT;
    buf_adds(&text, result ? result : json_object_text(step, "status"));
    if (took >= 0) buf_printf(&text, " in %lld ms", (long long)took);
    for (size_t i = 0; i < json_array_len(changed) && text.len < 200; i++) {
        Json key = json_array_get(changed, i);
        buf_printf(&text, "%s%.60s", i ? ", " : ": ", json_string_data(&key));
    }
    Handle h = {.kind = output ? HANDLE_LAZY : HANDLE_PATH,
                .thread = scope->thread,
                .frame = output ? 0 : dap_int(step, "frame", 0),
                .checkpoint = seq,
                .what = LAZY_OUTPUT,
                .path = json_array()};
    Json name = output ? json_string_c(node ? node : "")
                       : json_string_fmt("%lld %s", (long long)seq, node ? node : "");
    Json out = OBJECT(KEY("name", name), KEY("value", json_string(text.data, text.len)),
                      KEY("variablesReference", handles_add(&dap->handles, h)));
    buf_clear(&text);
    return out;
}

static void on_history(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    const Handle *found = handle_of(call);
    Json steps = json_object_get_c(answer, "steps"), list = json_array(), seen = json_object();
    Handle scope = found ? *found : (Handle){0};
    bool outputs = scope.what == LAZY_OUTPUTS;
    /* newest first; of a node that was done several times, in Outputs, the last */
    for (size_t i = json_array_len(steps); found && i-- > 0;) {
        Json step = json_array_get(steps, i), node = json_object_get_c(step, "node");
        bool skip = outputs &&
                    (json_kind(node) != JSON_STRING || !json_is_none(json_object_get(seen, node)));
        if (skip) continue;
        if (outputs) seen = json_object_set(seen, json_ref(node), json_bool(true));
        list = json_array_push(list, step_json(dap, &scope, step, outputs));
    }
    json_unref(seen);
    json_unref(answer);
    answer_list(call, list);
}

static void on_output(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    const Handle *found = handle_of(call);
    Json first = json_array_get(json_object_get_c(answer, "checkpoints"), 0);
    Json update = json_object_get_c(first, "update"), list = json_array();
    Handle at = {.kind = HANDLE_VALUE, .thread = found ? found->thread : 0};
    if (json_kind(update) == JSON_OBJECT || json_kind(update) == JSON_ARRAY) {
        json_unref(list);
        list = children_json(dap, &at, update, (Page){.to = DAP_PAGE_MAX});
    } else if (!json_is_none(update)) {
        Json name = json_string_c("value");
        list = json_array_push(list, child_json(dap, &at, name, update));
        json_unref(name);
    }
    json_unref(answer);
    answer_list(call, list);
}

static void look_lazily(DapCall *call, const Handle *h) {
    Json frame = h->frame ? json_int(h->frame) : json_none();
    switch (h->what) {
    case LAZY_CONFIG: dap_ask(call, "config", OBJECT(KEY("frame", frame)), on_config); break;
    case LAZY_RUN: dap_ask(call, "session", json_none(), on_session); break;
    case LAZY_OUTPUT:
        dap_ask(call, "run_history",
                OBJECT(KEY("from", h->checkpoint), KEY("limit", json_int(1)),
                       KEY("values", json_bool(true))),
                on_output);
        break;
    default: dap_ask(call, "history", OBJECT(KEY("limit", json_int(DAP_CHUNK))), on_history);
    }
}

/* ---- variables ---- */

void dap_variables(DapCall *call) {
    const Handle *h = handle_of(call);
    if (!h) {
        too_late(call);
    } else if (h->kind == HANDLE_PATH) {
        Handle at = handle_copy(h);
        look_at_path(call, &at);
        handle_clear(&at);
    } else if (h->kind == HANDLE_LAZY) {
        Handle at = *h;
        look_lazily(call, &at);
    } else if (h->kind == HANDLE_VALUE || h->kind == HANDLE_WRITTEN) {
        Handle at = handle_copy(h);
        answer_value(call, &at, at.value);
        handle_clear(&at);
    } else {
        dap_fail_with(call, "There is nothing to look into.");
    }
}

/* ---- evaluate ---- */

/* The level that a request is about: of its stack frame, or of the thread that was told of last. */
bool dap_level(DapCall *call, Handle *out) {
    Dap *dap = call->dap;
    int64_t id = dap_int(call->args, "frameId", 0);
    const Handle *found = id ? handles_find(&dap->handles, id) : NULL;
    if (id && (!found || found->kind != HANDLE_LEVEL)) {
        too_late(call);
        return false;
    }
    *out = found ? *found : (Handle){.kind = HANDLE_LEVEL, .thread = dap->focus, .top = true};
    if (!found) out->frame = dap_thread(dap, dap->focus) ? dap->focus : 0;
    out->path = out->value = out->expression = json_none();
    return true;
}

static void answer_result(DapCall *call, Json text, Json type, int64_t length, int64_t reference) {
    Dap *dap = call->dap;
    Json out =
        OBJECT(KEY("result", text),
               KEY("type", dap->client.types && !json_is_none(type) ? json_ref(type) : json_none()),
               KEY("variablesReference", reference));
    dap_answer(call, reference ? with_counts(dap, out, type, length) : out);
}

static bool is_context(const DapCall *call, const char *name) {
    return json_string_is(json_object_get_c(call->args, "context"), name);
}

static size_t result_chars(const DapCall *call) {
    return is_context(call, "clipboard") ? SIZE_MAX / 8
           : is_context(call, "repl")    ? 64 << 10
                                         : DAP_PREVIEW;
}

/* A value that an expression came to. Consumes it. */
static void answer_computed(DapCall *call, Json value, Json expression) {
    Dap *dap = call->dap;
    Handle level;
    if (!dap_level(call, &level)) {
        json_unref(value);
        return;
    }
    bool array = json_kind(value) == JSON_ARRAY;
    size_t n = array ? json_array_len(value) : json_object_len(value);
    Json type = json_string_c(json_kind_name(json_kind(value)));
    Json text;
    if (is_context(call, "clipboard")) {
        JsonPrintOptions pretty = {.indent = 2};
        Buf out = BUF_INIT;
        json_print(value, &pretty, &out);
        text = json_string(out.data, out.len);
        buf_clear(&out);
    } else {
        text = shown_text(value, result_chars(call));
    }
    int64_t reference = 0;
    if (n && (array || json_kind(value) == JSON_OBJECT)) {
        reference = handles_add(&dap->handles, (Handle){.kind = HANDLE_VALUE,
                                                        .thread = level.thread,
                                                        .array = array,
                                                        .path = json_array(),
                                                        .value = json_ref(value),
                                                        .expression = json_ref(expression)});
    }
    answer_result(call, text, type, (int64_t)n, reference);
    json_unref(type);
    json_unref(value);
}

/* Several outputs are an array of them. */
static void on_evaluated(DapCall *call, Json answer) {
    Json results = json_object_get_c(answer, "results");
    Json omitted = json_object_get_c(answer, "omitted");
    size_t n = json_array_len(results);
    if (!json_is_none(omitted) && !n) {
        answer_result(call, json_ref(json_object_get_c(omitted, "preview")),
                      json_object_get_c(omitted, "type"), 0, 0);
    } else if (!n) {
        answer_result(call, json_string_c("(no output)"), json_none(), 0, 0);
    } else if (n == 1) {
        answer_computed(call, json_ref(json_array_get(results, 0)),
                        json_object_get_c(call->args, "expression"));
    } else {
        Json all = json_string_fmt("[%s]", json_object_text(call->args, "expression"));
        answer_computed(call, json_ref(results), all);
        json_unref(all);
    }
    json_unref(answer);
}

static void evaluate(DapCall *call, const Handle *level) {
    Json expression = json_object_get_c(call->args, "expression");
    dap_ask(call, "evaluate",
            OBJECT_ADD(level_args(level), KEY("expression", json_ref(expression))), on_evaluated);
}

/* What stands at a path is shown as a variable is: a page at a time, and it can be set. */
static void on_looked(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    Handle level;
    if (!dap_level(call, &level)) {
        json_unref(answer);
        return;
    }
    if (json_is_none(answer)) {
        if (is_context(call, "hover")) {
            dap_fail(call, &call->err);
        } else {
            evaluate(call, &level);
        }
        return;
    }
    Json path = json_object_get_c(answer, "path"), type = json_object_get_c(answer, "type");
    Json value = json_object_get_c(answer, "value");
    Json preview = json_object_get_c(answer, "preview");
    int64_t length = dap_int(answer, "length", 0), reference = 0;
    Json text = json_is_none(value) ? json_ref(preview) : shown_text(value, result_chars(call));
    if (is_container(type) && length) {
        reference = handles_add(&dap->handles, (Handle){.kind = HANDLE_PATH,
                                                        .thread = level.thread,
                                                        .frame = level.frame,
                                                        .depth = level.depth,
                                                        .top = level.top,
                                                        .array = json_string_is(type, "array"),
                                                        .path = json_ref(path)});
    }
    answer_result(call, text, type, length, reference);
    json_unref(answer);
}

/* A path as people write it in passing: with its first dot, or in a hover without. Given; JSON_NONE: it is none. */
static Json plain_path(const DapCall *call, Json expression) {
    const char *text = json_string_data(&expression);
    bool hover = is_context(call, "hover"),
         word = ascii_is_name(text[0]) && !ascii_is_digit(text[0]);
    if (text[0] != '.' && !(hover && word)) return json_none();
    return inspect_path(expression, NULL);
}

bool dap_print(DapCall *call, const char *line) {
    Json expression = json_string_c(line + strcspn(line, " ") + 0);
    call->args = json_object_with(call->args, "expression", expression);
    call->args = json_object_with(call->args, "context", json_string_c("console"));
    dap_evaluate(call);
    return true;
}

void dap_evaluate(DapCall *call) {
    Handle level;
    if (!dap_level(call, &level) || dap_console(call)) return;
    Json expression = json_object_get_c(call->args, "expression");
    Json path = is_context(call, "clipboard") ? json_none() : plain_path(call, expression);
    if (json_is_none(path)) {
        evaluate(call, &level);
    } else {
        dap_try(call, "variables",
                OBJECT_ADD(level_args(&level), KEY("path", path), KEY("limit", json_int(1)),
                           KEY("preview", json_int(DAP_PREVIEW))),
                on_looked);
    }
}

/* ---- setting ---- */

/* What is to be set: call->kept = {path, operation, frame}; call->list = the value. */
static void on_set(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    Json value = call->list, path = json_object_get_c(call->kept, "path");
    const Handle *found = handles_find(&dap->handles, dap_int(call->kept, "handle", 0));
    bool array = json_kind(value) == JSON_ARRAY;
    size_t n = array ? json_array_len(value) : json_object_len(value);
    Json type = json_string_c(json_kind_name(json_kind(value)));
    int64_t reference = 0;
    if (found && n && (array || json_kind(value) == JSON_OBJECT)) {
        Handle child = handle_copy(found);
        json_put(&child.path, json_ref(path));
        if (child.kind == HANDLE_WRITTEN) json_put(&child.value, json_ref(value));
        child.kind = child.kind == HANDLE_LEVEL ? HANDLE_PATH : child.kind;
        child.from = child.to = 0;
        child.array = array;
        reference = handles_add(&dap->handles, child);
    }
    Json out = OBJECT(KEY("value", shown_text(value, DAP_PREVIEW)),
                      KEY("type", dap->client.types ? json_ref(type) : json_none()),
                      KEY("variablesReference", reference));
    out = reference ? with_counts(dap, out, type, (int64_t)n) : out;
    json_unref(type);
    json_unref(answer);
    dap_answer(call, out);
}

static void set_value(DapCall *call) {
    bool config = dap_bool(call->kept, "config");
    dap_ask(call, config ? "config_set" : "set",
            OBJECT(KEY("path", json_ref(json_object_get_c(call->kept, "path"))),
                   KEY("frame", json_ref(json_object_get_c(call->kept, "frame"))),
                   KEY("value", json_ref(call->list))),
            on_set);
}

/* It was no JSON: the first output of an expression, then. */
static void on_value(DapCall *call, Json answer) {
    Json results = json_object_get_c(answer, "results");
    const char *text = json_object_text(call->args, "value");
    if (!json_array_len(results)) {
        dap_fail_with(
            call, "`%.200s` is no JSON (a text has its quotes, as \"text\"), nor an expression: %s",
            text, json_is_none(answer) ? call->err.msg : "it has no output.");
    } else {
        json_put(&call->list, json_ref(json_array_get(results, 0)));
        set_value(call);
    }
    json_unref(answer);
}

/* The handle that the path begins at is a level, a path or a part of the config. Consumes the path. */
static void set_at(DapCall *call, int64_t handle, Json path) {
    const Handle *h = handles_find(&call->dap->handles, handle);
    Json text = json_object_get_c(call->args, "value");
    call->kept = OBJECT(KEY("path", path), KEY("handle", handle), KEY("frame", h->frame),
                        KEY("config", json_bool(h->kind == HANDLE_WRITTEN)));
    call->list = json_parse(json_string_data(&text), json_string_len(text),
                            &(JsonParseOptions){.strict = true, .max_depth = WIRE_DEPTH_MAX}, NULL);
    if (!json_is_none(call->list)) {
        set_value(call);
    } else {
        dap_try(
            call, "evaluate",
            OBJECT_ADD(level_args(h), KEY("expression", json_ref(text)), KEY("limit", json_int(1))),
            on_value);
    }
}

/* Whether what a handle is about can be changed; false after saying why not. */
static bool can_set(DapCall *call, const Handle *h) {
    if (!h) {
        too_late(call);
    } else if (h->checkpoint) {
        dap_fail_with(call, "This is what was seen then: `Step Back` goes there, to change it.");
    } else if ((h->kind == HANDLE_PATH || h->kind == HANDLE_LEVEL) && !h->top) {
        dap_fail_with(call, "Only what the node at the top of the stack sees can be changed.");
    } else if (h->kind != HANDLE_PATH && h->kind != HANDLE_LEVEL && h->kind != HANDLE_WRITTEN) {
        dap_fail_with(call,
                      "This is a result, and no variable: the state can be changed, and the node's "
                      "config as it is written.");
    } else {
        return true;
    }
    return false;
}

/* A child by the name that it is listed with: a key, or "[3]" of an array. Given; JSON_NONE: there is none. */
static Json key_of(const Handle *h, Json name) {
    if (!h->array) return json_ref(name);
    const char *text = json_string_data(&name);
    size_t len = json_string_len(name), brackets = text[0] == '[' && text[len - 1] == ']';
    Json number = json_number_parse(text + brackets, len - 2 * brackets);
    if (json_tag(number) == JSON_TAG_INT) return number;
    json_unref(number);
    return json_none();
}

void dap_set_variable(DapCall *call) {
    const Handle *h = handle_of(call);
    if (!can_set(call, h)) return;
    Json name = json_object_get_c(call->args, "name");
    Json key = json_string_len(name) ? key_of(h, name) : json_none();
    if (json_is_none(key)) {
        dap_fail_with(call, "There is no child `%.100s`.", json_object_text(call->args, "name"));
        return;
    }
    Json path = path_with(json_kind(h->path) == JSON_ARRAY ? json_ref(h->path) : json_array(), key);
    json_unref(key);
    set_at(call, dap_int(call->args, "variablesReference", 0), path);
}

/* The path in an expression, with its first dot or without. Given; JSON_NONE with a sentence: it is none. */
void dap_set_expression(DapCall *call) {
    Dap *dap = call->dap;
    Error err = ERROR_INIT;
    Handle level;
    Json path = inspect_path(json_object_get_c(call->args, "expression"), &err);
    if (json_is_none(path)) {
        dap_fail_with(call, "Only a path can be set, as .a.b[0]: %s", err.msg);
        return;
    }
    bool there = dap_level(call, &level);
    if (!there || !can_set(call, &level)) {
        json_unref(path);
        return;
    }
    set_at(call, handles_add(&dap->handles, level), path);
}

/* ---- where a value was written ---- */

static void on_written(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    const char *file = json_object_text(answer, "file"), *node = json_object_text(answer, "node");
    Json source = file ? sources_json(dap->sources, file, dap->client.uris) : json_none();
    if (!json_is_none(source)) {
        dap_answer(call,
                   OBJECT(KEY("source", source), KEY("line", json_int(dap_int(answer, "line", 1) -
                                                                      dap->client.lines_at_0))));
    } else if (node) {
        dap_fail_with(call, "`%s` wrote it, which is not in the workflow's files.", node);
    } else {
        dap_fail_with(call, "It was there when the run began, as far as its record goes back.");
    }
    json_unref(answer);
}

void dap_locations(DapCall *call) {
    const Handle *h =
        handles_find(&call->dap->handles, dap_int(call->args, "locationReference", 0));
    if (!h || h->kind != HANDLE_PLACE) {
        too_late(call);
        return;
    }
    dap_ask(call, "written",
            OBJECT(KEY("path", json_ref(h->path)), KEY("frame", h->frame),
                   KEY("depth", h->depth ? json_int(h->depth) : json_none())),
            on_written);
}
