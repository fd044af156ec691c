/* dap_breakpoints.c - breakpoints of all kinds, as the client sets them.
 *
 * A client says all breakpoints of a kind at once (of a file, for those in sources). What it said before and says again
 * stays as it is, with its number and its hits; what it does not say any more is deleted; the rest is new. So a
 * number stays for as long as the client keeps the breakpoint.
 *
 * What the client wants is kept here, also while there is no run: it is set in the session of the run that comes. One that
 * cannot be set (an expression that is none, a file that the workflow has not) is no error of the request: it is
 * unverified, and says why. */
#include "dap_inside.h"

#include "ascii.h"
#include "bisect.h"
#include "inspect.h"
#include "mem.h"

/* ---- the list ---- */

static size_t index_of(const Dap *dap, int64_t id) {
    BISECT(found, dap->nbreaks, i, dap->breaks[i].id < id);
    return found;
}

static DapBreak *find(const Dap *dap, int64_t id) {
    size_t i = index_of(dap, id);
    return i < dap->nbreaks && dap->breaks[i].id == id ? &dap->breaks[i] : NULL;
}

static void break_clear(DapBreak *b) {
    json_unref(b->place);
    json_unref(b->asked);
    json_unref(b->shown);
}

static DapBreak *add(Dap *dap, BreakKind kind, Json place, Json asked) {
    dap->breaks = mem_grow(dap->breaks, dap->nbreaks, &dap->breaks_cap, sizeof *dap->breaks);
    DapBreak *b = &dap->breaks[dap->nbreaks++];
    *b = (DapBreak){
        .id = ++dap->last_break, .kind = kind, .place = json_ref(place), .asked = json_ref(asked)};
    return b;
}

static void drop(Dap *dap, size_t i) {
    break_clear(&dap->breaks[i]);
    memmove(dap->breaks + i, dap->breaks + i + 1, (dap->nbreaks - i - 1) * sizeof *dap->breaks);
    dap->nbreaks--;
}

void dap_breaks_unset(Dap *dap) {
    for (size_t i = 0; i < dap->nbreaks; i++) {
        dap->breaks[i].session = 0;
        json_clear(&dap->breaks[i].shown);
    }
}

void dap_breaks_clear(Dap *dap) {
    for (size_t i = 0; i < dap->nbreaks; i++) break_clear(&dap->breaks[i]);
    mem_free(dap->breaks);
    dap->breaks = NULL;
    dap->nbreaks = 0;
}

Json dap_break_ids(const Dap *dap, Json session_ids, BreakKind *kind) {
    Json out = json_none();
    for (size_t i = 0; i < json_array_len(session_ids); i++) {
        int64_t id = (int64_t)json_to_double(json_array_get(session_ids, i));
        for (size_t k = 0; k < dap->nbreaks; k++) {
            if (dap->breaks[k].session != id) continue;
            if (json_is_none(out)) *kind = dap->breaks[k].kind;
            out = json_array_push(json_is_none(out) ? json_array() : out,
                                  json_int(dap->breaks[k].id));
        }
    }
    return out;
}

/* ---- what the session is told ---- */

/* "5" is the fifth hit. Given. */
static Json hit_condition(Json text) {
    const char *at = json_kind(text) == JSON_STRING ? json_string_data(&text) : "";
    while (ascii_is_white(*at)) at++;
    if (!*at) return json_none();
    return ascii_is_digit(*at) ? json_string_fmt("== %s", at) : json_string_c(at);
}

static Json condition_of(Json asked) {
    Json text = json_object_get_c(asked, "condition");
    const char *at = json_kind(text) == JSON_STRING ? json_string_data(&text) : "";
    while (ascii_is_white(*at)) at++;
    return *at ? json_ref(text) : json_none();
}

/* The end of an expression in braces, which may have braces and strings inside it; NULL: there is none. */
static const char *closing(const char *at) {
    int depth = 0;
    bool quoted = false;
    for (; *at; at++) {
        if (quoted) {
            if (*at == '\\' && at[1]) {
                at++;
            } else if (*at == '"') {
                quoted = false;
            }
        } else if (*at == '"') {
            quoted = true;
        } else if (*at == '{') {
            depth++;
        } else if (*at == '}' && depth-- == 0) {
            return at;
        }
    }
    return NULL;
}

/* "at {.step}", as clients write it, is "at \(.step)" for us; what is written so already stays. Given. */
static Json log_message(Json text) {
    if (json_kind(text) != JSON_STRING || !json_string_len(text)) return json_none();
    const char *at = json_string_data(&text);
    if (strstr(at, "\\(")) return json_ref(text);
    Buf out = BUF_INIT;
    for (; *at; at++) {
        const char *end = *at == '{' ? closing(at + 1) : NULL;
        if (end && end > at + 1) {
            buf_adds(&out, "\\(");
            buf_add(&out, at + 1, (size_t)(end - at - 1));
            buf_addc(&out, ')');
            at = end;
        } else {
            if (*at == '\\') buf_addc(&out, '\\');
            buf_addc(&out, *at);
        }
    }
    Json message = json_string(out.data, out.len);
    buf_clear(&out);
    return message;
}

/* In whose name it is set: whoever comes after us knows. */
static Json with_common(Json fields, Json asked) {
    return OBJECT_ADD(fields,
                      KEY("hit_condition", hit_condition(json_object_get_c(asked, "hitCondition"))),
                      KEY("metadata", OBJECT(KEY("by", "dap"))));
}

static Json source_fields(const Dap *dap, const DapBreak *b, Error *err) {
    const char *file = sources_find(dap->sources, b->place, dap->client.uris, err);
    const char *mode = json_object_text(b->asked, "mode");
    if (!file) return json_none();
    int64_t line = dap_int(b->asked, "line", 1) + dap->client.lines_at_0;
    if (line < 1) {
        error_set(err, ERR_USAGE, "There is no line %lld.", (long long)line);
        return json_none();
    }
    return OBJECT(KEY("file", file), KEY("line", line), KEY("position", mode),
                  KEY("condition", condition_of(b->asked)),
                  KEY("log_message", log_message(json_object_get_c(b->asked, "logMessage"))));
}

static bool is_kind(const Sources *s, Json name) {
    for (size_t i = 0; i < sources_count(s); i++) {
        if (json_string_equal(sources_node(s, i)->kind, name)) return true;
    }
    return false;
}

/* A node by its name, also as a pattern or a title; or all nodes of a kind. */
static Json function_fields(const Dap *dap, const DapBreak *b, Error *err) {
    Json name = json_object_get_c(b->asked, "name");
    bool kind = !sources_named(dap->sources, name) && is_kind(dap->sources, name);
    (void)err;
    return OBJECT(KEY(kind ? "task_name" : "node", json_ref(name)),
                  KEY("condition", condition_of(b->asked)));
}

static Json data_fields(const Dap *dap, const DapBreak *b, Error *err) {
    const char *access = json_object_text(b->asked, "accessType");
    (void)dap;
    if (access && strcmp(access, "write") != 0) {
        error_set(err, ERR_USAGE, "Only writing is seen: nobody knows who reads a value.");
        return json_none();
    }
    return OBJECT(KEY("state", OBJECT(KEY("path", json_ref(json_object_get_c(b->asked, "dataId"))),
                                      KEY("changed", json_bool(true)))),
                  KEY("condition", condition_of(b->asked)));
}

/* ---- exceptions ---- */

static const struct ExceptionRow {
    const char *filter, *label, *description;
    bool by_default, caught;
    const char *error; /* jq over the error; NULL: any */
} exceptions[] = {
    {"error", "Errors",
     "Stops at every error of a node, also where a retry or an error edge takes it", false, true,
     NULL},
    {"unhandled", "Unhandled errors", "Stops at an error that nothing takes, after all retries",
     true, false, NULL},
    {"timeout", "Timeouts", "Stops where a node takes longer than it may", false, true,
     ".kind == \"timeout\""},
};
enum { EXCEPTIONS = sizeof exceptions / sizeof *exceptions };

Json dap_exception_filters_json(void) {
    Json list = json_array();
    for (size_t i = 0; i < EXCEPTIONS; i++) {
        list = json_array_push(
            list, OBJECT(KEY("filter", exceptions[i].filter), KEY("label", exceptions[i].label),
                         KEY("description", exceptions[i].description),
                         KEY("default", json_bool(exceptions[i].by_default)),
                         KEY("supportsCondition", json_bool(true)),
                         KEY("conditionDescription", "jq over the error, as .exit_code == 7")));
    }
    return list;
}

static Json exception_fields(const Dap *dap, const DapBreak *b, Error *err) {
    Json filter = json_object_get_c(b->asked, "filterId"), condition = condition_of(b->asked);
    (void)dap;
    for (size_t i = 0; i < EXCEPTIONS; i++) {
        const struct ExceptionRow *row = &exceptions[i];
        if (!json_string_is(filter, row->filter)) continue;
        if (row->error && json_kind(condition) == JSON_STRING) {
            Json both = json_string_fmt("(%s) and (%s)", row->error, json_string_data(&condition));
            json_put(&condition, both);
        } else if (row->error) {
            condition = json_string_c(row->error);
        }
        return OBJECT(KEY("type", "exception"), KEY("error", condition),
                      KEY("caught", row->caught ? json_bool(true) : json_none()));
    }
    json_unref(condition);
    error_set(err, ERR_USAGE, "There is no exception filter of that name.");
    return json_none();
}

/* By kind. */
static Json (*const fields_of[DAP_BREAK_KINDS])(const Dap *dap, const DapBreak *b, Error *err) = {
    [DAP_SOURCE] = source_fields,
    [DAP_FUNCTION] = function_fields,
    [DAP_DATA] = data_fields,
    [DAP_EXCEPTION] = exception_fields,
};

/* ---- what the client is told ---- */

static Json unverified(const char *message) {
    return OBJECT(KEY("verified", json_bool(false)), KEY("message", message));
}

/* A BREAKPOINT of the session as a Breakpoint, without its id. */
static Json shown_json(const Dap *dap, Json b) {
    Json place = json_array_get(json_object_get_c(b, "places"), 0);
    const char *file = json_object_text(place, "file");
    Json out = OBJECT(KEY("verified", json_ref(json_object_get_c(b, "verified"))),
                      KEY("message", json_ref(json_object_get_c(b, "message"))));
    if (!file || !dap->sources) return out;
    return OBJECT_ADD(out, KEY("source", sources_json(dap->sources, file, dap->client.uris)),
                      KEY("line", json_int(dap_int(place, "line", 1) - dap->client.lines_at_0)));
}

static Json break_json(const DapBreak *b) {
    Json shown =
        json_is_none(b->shown) ? unverified("It is set when there is a run.") : json_ref(b->shown);
    return OBJECT_ADD(shown, KEY("id", b->id));
}

static bool is_session(const Dap *dap) {
    return (dap->phase == DAP_OPEN || dap->phase == DAP_GOING) && dap->thread && dap->sources;
}

/* ---- setting those that are new ---- */

static void set_next(DapCall *call);

static void on_set(DapCall *call, Json answer) {
    Dap *dap = call->dap;
    DapBreak *b = find(dap, (int64_t)json_to_double(json_array_get(call->list, call->at)));
    Json found = json_object_get_c(answer, "breakpoint");
    if (b && json_is_none(answer)) {
        json_put(&b->shown, unverified(call->err.msg));
    } else if (b) {
        b->session = dap_int(found, "id", 0);
        json_put(&b->shown, shown_json(dap, found));
    }
    json_unref(answer);
    call->at++;
    set_next(call);
}

/* call->list: numbers of the breakpoints; from call->at on they are looked at. */
static void set_next(DapCall *call) {
    Dap *dap = call->dap;
    for (; call->at < json_array_len(call->list); call->at++) {
        DapBreak *b = find(dap, (int64_t)json_to_double(json_array_get(call->list, call->at)));
        Error err = ERROR_INIT;
        if (!b || b->session || !is_session(dap)) continue;
        if (dap->no_debug) {
            json_put(&b->shown, unverified("The run is not debugged."));
            continue;
        }
        Json fields = fields_of[b->kind](dap, b, &err);
        if (json_is_none(fields)) {
            json_put(&b->shown, unverified(err.msg));
            continue;
        }
        dap_try(call, "breakpoint_set", with_common(fields, b->asked), on_set);
        return;
    }
    void (*done)(DapCall *) = call->done;
    done(call);
}

void dap_breaks_set_all(DapCall *call, void (*then)(DapCall *call)) {
    Dap *dap = call->dap;
    json_put(&call->list, json_array());
    for (size_t i = 0; i < dap->nbreaks; i++) {
        call->list = json_array_push(call->list, json_int(dap->breaks[i].id));
    }
    call->at = 0;
    call->done = then;
    bool phase_open = dap->phase >= DAP_OPEN;
    if (!phase_open) dap->phase = DAP_OPEN; /* the session is there, and nobody was told yet */
    set_next(call);
}

/* ---- all of a kind ---- */

static void answer_breaks(DapCall *call) {
    Dap *dap = call->dap;
    Json list = json_array();
    for (size_t i = 0; i < json_array_len(call->list); i++) {
        const DapBreak *b = find(dap, (int64_t)json_to_double(json_array_get(call->list, i)));
        list = json_array_push(list, b ? break_json(b) : unverified("It has gone meanwhile."));
    }
    dap_answer(call, OBJECT(KEY("breakpoints", list)));
}

static void on_deleted(DapCall *call, Json answer) {
    json_unref(answer); /* that one was gone already is no error */
    call->at = 0;
    set_next(call);
}

/* One that the client has said before, and that nobody took yet. */
static DapBreak *said_before(const Dap *dap, BreakKind kind, Json place, Json asked, Json taken) {
    for (size_t i = 0; i < dap->nbreaks; i++) {
        DapBreak *b = &dap->breaks[i];
        Json key = json_string_fmt("%lld", (long long)b->id);
        bool free = json_is_none(json_object_get(taken, key));
        json_unref(key);
        if (free && b->kind == kind && json_equal(b->place, place) && json_equal(b->asked, asked)) {
            return b;
        }
    }
    return NULL;
}

/* place: of a source, what the client calls it; null otherwise. wanted: an array of what the client said. */
static void set_all(DapCall *call, BreakKind kind, Json place, Json wanted) {
    Dap *dap = call->dap;
    Json taken = json_object(), gone = json_array();
    json_put(&call->list, json_array());
    for (size_t i = 0; i < json_array_len(wanted); i++) {
        Json asked = json_array_get(wanted, i);
        DapBreak *b = said_before(dap, kind, place, asked, taken);
        if (!b) b = add(dap, kind, place, asked);
        taken = json_object_set(taken, json_string_fmt("%lld", (long long)b->id), json_bool(true));
        call->list = json_array_push(call->list, json_int(b->id));
    }
    for (size_t i = dap->nbreaks; i-- > 0;) {
        const DapBreak *b = &dap->breaks[i];
        Json key = json_string_fmt("%lld", (long long)b->id);
        bool kept = !json_is_none(json_object_get(taken, key));
        json_unref(key);
        if (kept || b->kind != kind || !json_equal(b->place, place)) continue;
        if (b->session) gone = json_array_push(gone, json_int(b->session));
        drop(dap, i);
    }
    json_unref(taken);
    call->at = 0;
    call->done = answer_breaks;
    if (json_array_len(gone) && is_session(dap)) {
        dap_try(call, "breakpoint_delete", OBJECT(KEY("ids", gone)), on_deleted);
        return;
    }
    json_unref(gone);
    set_next(call);
}

/* What names it, and nothing else that clients say of it. */
static Json source_key(Json source) {
    return OBJECT(
        KEY("path", json_object_text(source, "path")),
        KEY("name", json_object_text(source, "path") ? NULL : json_object_text(source, "name")),
        KEY("sourceReference", dap_int(source, "sourceReference", 0) > 0
                                   ? json_ref(json_object_get_c(source, "sourceReference"))
                                   : json_none()));
}

void dap_set_breakpoints(DapCall *call) {
    Json source = json_object_get_c(call->args, "source");
    Json wanted = json_object_get_c(call->args, "breakpoints");
    Json lines = json_object_get_c(call->args, "lines"), place = source_key(source);
    Json list = json_is_none(wanted) ? json_array() : json_ref(wanted);
    for (size_t i = 0; json_is_none(wanted) && i < json_array_len(lines); i++) {
        list = json_array_push(list, OBJECT(KEY("line", json_ref(json_array_get(lines, i)))));
    }
    set_all(call, DAP_SOURCE, place, list);
    json_unref(place);
    json_unref(list);
}

void dap_set_function_breakpoints(DapCall *call) {
    set_all(call, DAP_FUNCTION, json_null(), json_object_get_c(call->args, "breakpoints"));
}

void dap_set_data_breakpoints(DapCall *call) {
    set_all(call, DAP_DATA, json_null(), json_object_get_c(call->args, "breakpoints"));
}

void dap_set_exception_breakpoints(DapCall *call) {
    Json filters = json_object_get_c(call->args, "filters"), list = json_array();
    Json options = json_object_get_c(call->args, "filterOptions");
    for (size_t i = 0; i < json_array_len(filters); i++) {
        list = json_array_push(list, OBJECT(KEY("filterId", json_ref(json_array_get(filters, i)))));
    }
    for (size_t i = 0; json_kind(options) == JSON_ARRAY && i < json_array_len(options); i++) {
        list = json_array_push(list, json_ref(json_array_get(options, i)));
    }
    set_all(call, DAP_EXCEPTION, json_null(), list);
    json_unref(list);
}

/* ---- what can be watched, and where breakpoints may be ---- */

static void answer_data(DapCall *call, Json path, const char *why) {
    Json text = json_null(), words = json_string_c(why ? why : "");
    if (json_kind(path) == JSON_ARRAY && json_array_len(path)) {
        Buf out = BUF_INIT;
        json_path_text(path, SIZE_MAX, &out);
        text = json_string(out.data, out.len);
        json_put(&words, json_string_fmt("%s changes", out.data));
        buf_clear(&out);
    }
    bool found = json_kind(text) == JSON_STRING;
    Json kinds_of_access = found ? ARRAY(json_string_c("write")) : json_none();
    dap_answer(call, OBJECT(KEY("dataId", text), KEY("description", words),
                            KEY("accessTypes", kinds_of_access),
                            KEY("canPersist", found ? json_bool(true) : json_none())));
}

/* A variable of what a level sees, or a path. */
void dap_data_breakpoint_info(DapCall *call) {
    Dap *dap = call->dap;
    Json name = json_object_get_c(call->args, "name"), path = json_none();
    const Handle *h = handles_find(&dap->handles, dap_int(call->args, "variablesReference", 0));
    if (h && h->kind == HANDLE_PATH) {
        Json number =
            h->array && json_string_len(name) > 2
                ? json_number_parse(json_string_data(&name) + 1, json_string_len(name) - 2)
                : json_none();
        path = json_array_push(json_ref(h->path), json_is_none(number) ? json_ref(name) : number);
        answer_data(call, path, NULL);
    } else if (h) {
        answer_data(call, path, "This is no part of the state, so nobody writes it.");
    } else {
        path = inspect_path(name, NULL);
        answer_data(call, path, "Only a path into the state can be watched, as .a.b[0].");
    }
    json_unref(path);
}

/* Where nodes begin. */
void dap_breakpoint_locations(DapCall *call) {
    Dap *dap = call->dap;
    Json list = json_array();
    const char *file =
        sources_find(dap->sources, json_object_get_c(call->args, "source"), dap->client.uris, NULL);
    int64_t first = dap_int(call->args, "line", 1);
    int64_t last = dap_int(call->args, "endLine", first) + dap->client.lines_at_0;
    first += dap->client.lines_at_0;
    size_t number = file ? sources_number(dap->sources, file) : SIZE_MAX;
    for (size_t i = 0; file && i < sources_count(dap->sources); i++) {
        const SourceNode *node = sources_node(dap->sources, i);
        if (node->file != number || node->line < first || node->line > last) continue;
        int64_t column = sources_units(dap->sources, file, node->line, node->column);
        list = json_array_push(list,
                               OBJECT(KEY("line", json_int(node->line - dap->client.lines_at_0)),
                                      KEY("column", json_int(column - dap->client.columns_at_0))));
    }
    dap_answer(call, OBJECT(KEY("breakpoints", list)));
}

/* ---- what the session tells of them ---- */

void dap_break_event(Dap *dap, Json event) {
    Json b = json_object_get_c(event, "breakpoint"), change = json_object_get_c(event, "change");
    int64_t session = dap_int(b, "id", 0);
    bool changed = json_string_is(change, "changed"), deleted = json_string_is(change, "deleted");
    for (size_t i = 0; i < dap->nbreaks && (changed || deleted); i++) {
        DapBreak *ours = &dap->breaks[i];
        if (!session || ours->session != session) continue;
        json_put(&ours->shown, shown_json(dap, b));
        dap_tell(dap, "breakpoint",
                 OBJECT(KEY("reason", deleted ? "removed" : "changed"),
                        KEY("breakpoint", break_json(ours))));
        if (deleted) drop(dap, i);
        return;
    }
}
