/* route.c - requests to arguments and back.
 *
 * All routes are parsed once into rows of segments. A request is held against each of them: there are a hundred, most
 * differ in the number of segments, and none is longer than eight. Where several fit, the one that says more of the
 * path literally is meant: /runs/compare is no run. */
#include "route.h"

#include "args.h"
#include "json_parse.h"
#include "json_print.h"
#include "mem.h"
#include "problems.h"
#include "utf8.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENTS = 8, ROUTES = 256, NAME_MAX_LEN = 64, QUERY_FIELDS = 64 };

/* ---- other paths ---- */

/* Another path of an operation. fixed: an object that its arguments begin with. in_debug: what a debug session is to
 * begin with stands beside the rest, and not in `debug`. */
static const struct Alias {
    const char *route, *operation, *fixed;
    bool in_debug;
} aliases[] = {
    {"POST /workflows", "workflow_put", NULL, false},
    {"POST /workflows/kinds", "kinds", NULL, false},
    {"POST /workflows/schema", "schema", NULL, false},
    {"GET /threads/{thread}", "run_get", NULL, false},
    {"GET /run", "run_get", NULL, false},
    {"GET /events", "run_events", NULL, false},
    {"GET /debug/{thread}/events", "run_events", "{\"attach\":true}", false},
    {"POST /test_runs/schedule_debug", "run_start", "{\"debug\":{}}", true},
    {"DELETE /debug/{thread}/breakpoints/{id}", "breakpoint_delete", NULL, false},
    {"PUT /debug/{thread}/breakpoint-groups/{group}", "breakpoint_enable", NULL, false},
    {"DELETE /debug/{thread}/watches/{id}", "watch_delete", NULL, false},
    {"GET /debug/{thread}/state", "variables", NULL, false},
    {"GET /debug/{thread}/frames/{frame}/variables", "variables", NULL, false},
    {"POST /debug/{thread}/frames/{frame}/variables", "set", NULL, false},
    {"DELETE /debug/{thread}/frames/{frame}/variables/{path}", "revoke", NULL, false},
    {"GET /debug/{thread}/frames/{frame}/pending", "pending", NULL, false},
    {"GET /debug/{thread}/frames/{frame}/task-config", "config", NULL, false},
    {"PUT /debug/{thread}/frames/{frame}/task-config", "config_set", NULL, false},
    {"GET /debug/{thread}/task-config", "config", NULL, false},
    {"PUT /debug/{thread}/task-config", "config_set", NULL, false},
    {"POST /debug/{thread}/frames/{frame}/evaluate", "evaluate", NULL, false},
    {"POST /debug/{thread}/frames/{frame}/inject-task", "inject", NULL, false},
    {"POST /debug/{thread}/inject-task", "inject", NULL, false},
    {"GET /debug/{thread}/frames/{frame}/injected-tasks", "injected", NULL, false},
    {"GET /debug/{thread}/injected-tasks", "injected", NULL, false},
    {"DELETE /debug/{thread}/injected-tasks/{id}", "inject_remove", NULL, false},
    {"GET /debug/{thread}/frames/{frame}/history", "history", NULL, false},
    {"DELETE /debug/{thread}/variables/{path}", "unset", NULL, false},
};

/* Other names of arguments, after camelCase is folded; operation NULL: of any that has `to`. value: that word alone becomes
 * `means`. */
static const struct Synonym {
    const char *operation, *from, *to;
} synonyms[] = {
    {NULL, "frame_id", "frame"},
    {NULL, "breakpoint_id", "id"},
    {"breakpoint_set", "node_id", "node"},
    {"breakpoint_change", "node_id", "node"},
    {"step", "mode", "kind"},
    {"set", "name", "path"},
    {"unset", "name", "path"},
    {"revoke", "name", "path"},
    {"inject", "task", "node"},
    {"inject", "insert_mode", "where"},
    {"run_start", "config", "input"},
    {"run_start", "test_id", "workflow"},
};

static const struct Word {
    const char *operation, *name, *from, *to;
} words[] = {
    {"inject", "where", "before_current", "before"},
    {"inject", "where", "after_current", "after"},
};

/* Fields of a breakpoint that are a part of another: state_key and state_value of its `state`. */
static const struct Part {
    const char *from, *to, *part;
} parts[] = {
    {"state_key", "state", "path"},
    {"state_value", "state", "equals"},
};

static const char *const debug_fields[] = {"pause_on_start", "pause_all_on_breakpoint",
                                           "breakpoints", "window"};

/* ---- the routes ---- */

typedef struct Segment {
    const char *text; /* a literal, or the name of an argument */
    size_t len;
    bool arg;
} Segment;

struct Route {
    const Operation *op;
    const char *text;
    const struct Alias *alias; /* NULL: its own path */
    size_t method;             /* bytes of it */
    Segment segments[SEGMENTS];
    size_t n;
};

static Route routes[ROUTES];
static size_t nroutes;
static pthread_once_t parsed = PTHREAD_ONCE_INIT;

static void add_route(const Operation *op, const char *text, const struct Alias *alias) {
    Route *r = &routes[nroutes++];
    const char *at = strchr(text, ' ');
    *r = (Route){.op = op, .text = text, .alias = alias, .method = (size_t)(at - text)};
    for (at++; *at == '/' && r->n < SEGMENTS;) {
        const char *end = ++at;
        while (*end && *end != '/') end++;
        bool arg = *at == '{';
        r->segments[r->n++] = (Segment){at + arg, (size_t)(end - at) - 2 * arg, arg};
        at = end;
    }
}

static void parse_routes(void) {
    for (const Operation *op = operation_next(NULL); op; op = operation_next(op)) {
        if (op->route) add_route(op, op->route, NULL);
    }
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        add_route(operation_find(aliases[i].operation, NULL), aliases[i].route, &aliases[i]);
    }
}

const Route *route_next(const Route *after) {
    pthread_once(&parsed, parse_routes);
    const Route *next = after ? after + 1 : routes;
    return next < routes + nroutes ? next : NULL;
}

const char *route_text(const Route *route) {
    return route->text;
}

bool route_is_alias(const Route *route) {
    return route->alias != NULL;
}

static Json begin_args(const char *fixed) {
    return fixed ? json_parse(fixed, strlen(fixed), NULL, NULL) : json_object();
}

bool route_takes_debug(const Route *route) {
    return route->alias && route->alias->in_debug;
}

bool route_fixes(const Route *route, const char *name) {
    Json fixed = begin_args(route->alias ? route->alias->fixed : NULL);
    bool has = !json_is_none(json_object_get_c(fixed, name));
    json_unref(fixed);
    return has;
}

const Operation *route_operation(const Route *route) {
    return route->op;
}

/* How literally the path fits, a bit for each segment, the first the highest, and one more; 0: it does not. */
static unsigned fits(const Route *r, const Segment *path, size_t n) {
    unsigned how = 1;
    if (r->n != n) return 0;
    for (size_t i = 0; i < n; i++) {
        const Segment *s = &r->segments[i];
        bool same = s->len == path[i].len && !memcmp(s->text, path[i].text, s->len);
        if (s->arg ? !path[i].len : !same) return 0;
        how = how << 1 | !s->arg;
    }
    return how;
}

static size_t split(const char *path, size_t len, Segment *out) {
    size_t n = 0;
    const char *end = path + len;
    while (path < end && *path == '/') {
        const char *from = ++path;
        while (path < end && *path != '/') path++;
        if (n == SEGMENTS) return 0;
        out[n++] = (Segment){from, (size_t)(path - from), false};
    }
    return n;
}

RouteMatch route_find(const char *method, const char *path, size_t len) {
    Segment given[SEGMENTS];
    size_t n = split(path, len, given), length = strlen(method);
    unsigned best = 0;
    RouteMatch match = {.path = path, .len = len};
    for (const Route *r = route_next(NULL); n && r; r = route_next(r)) {
        unsigned how = fits(r, given, n);
        bool same = r->method == length && !memcmp(r->text, method, length);
        if (how && same && how > best) {
            best = how;
            match.route = r;
        } else if (how && !same) {
            char name[ROUTE_METHODS];
            snprintf(name, sizeof name, "%.*s", (int)r->method, r->text);
            size_t used = strlen(match.allowed);
            if (!strstr(match.allowed, name)) {
                snprintf(match.allowed + used, sizeof match.allowed - used, "%s%s",
                         used ? ", " : "", name);
            }
        }
    }
    return match;
}

/* ---- names ---- */

static const OperationArg *arg_named(const Operation *op, const char *name) {
    for (const OperationArg *a = op->args; a && a->name; a++) {
        if (!strcmp(a->name, name)) return a;
    }
    return NULL;
}

/* `pauseOnStart` as `pause_on_start`. */
static void fold(const char *name, size_t len, char out[NAME_MAX_LEN]) {
    size_t n = 0;
    for (size_t i = 0; i < len && n + 2 < NAME_MAX_LEN; i++) {
        bool upper = name[i] >= 'A' && name[i] <= 'Z';
        bool before = i > 0 && name[i - 1] >= 'A' && name[i - 1] <= 'Z';
        if (upper && i && !before) out[n++] = '_';
        out[n++] = upper ? (char)(name[i] - 'A' + 'a') : name[i];
    }
    out[n] = '\0';
}

/* What an argument is called in its row: itself, where nothing else is known. */
static const char *name_of(const Operation *op, const char *given, size_t len,
                           char folded[NAME_MAX_LEN]) {
    snprintf(folded, NAME_MAX_LEN, "%.*s", (int)len, given);
    if (arg_named(op, folded)) return folded;
    fold(given, len, folded);
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        const struct Synonym *s = &synonyms[i];
        bool its = !s->operation || !strcmp(s->operation, op->name);
        if (its && !strcmp(s->from, folded) && arg_named(op, s->to) && !arg_named(op, folded)) {
            return s->to;
        }
    }
    return folded;
}

static const struct Part *part_named(const char *name) {
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!strcmp(parts[i].from, name)) return &parts[i];
    }
    return NULL;
}

/* The fields of a breakpoint, with one that is a part of another in that. Consumes both. */
static Json with_part(Json fields, const struct Part *p, Json value) {
    Json whole = json_ref(json_object_get_c(fields, p->to));
    if (!strcmp(p->part, "path") && json_kind(value) == JSON_STRING) {
        value = json_array_push(json_array(), value); /* a name is no expression */
    }
    if (json_kind(whole) != JSON_OBJECT) json_put(&whole, json_object());
    return json_object_with(fields, p->to, json_object_with(whole, p->part, value));
}

/* The keys of an object in snake_case, and of the breakpoints in it; depth 0: it is one of those. Consumes it. */
static Json fold_keys(Json object, int depth) {
    Json out = json_object(), key, value;
    char folded[NAME_MAX_LEN];
    if (json_kind(object) == JSON_ARRAY) {
        Json list = json_array();
        for (size_t i = 0; i < json_array_len(object); i++) {
            list = json_array_push(list, fold_keys(json_ref(json_array_get(object, i)), depth));
        }
        json_unref(object);
        json_unref(out);
        return list;
    }
    if (json_kind(object) != JSON_OBJECT) {
        json_unref(out);
        return object;
    }
    for (size_t pos = 0; json_object_next(object, &pos, &key, &value);) {
        bool is_short = json_string_len(key) < NAME_MAX_LEN / 2 &&
                        !memchr(json_string_data(&key), '\0', json_string_len(key));
        if (is_short) fold(json_string_data(&key), json_string_len(key), folded);
        const struct Part *part = is_short && !depth ? part_named(folded) : NULL;
        if (part) {
            out = with_part(out, part, json_ref(value));
            continue;
        }
        if (is_short && !depth && !strcmp(folded, "node_id")) strcpy(folded, "node");
        Json name = is_short ? json_string_c(folded) : json_ref(key);
        bool inside = depth && json_string_is(name, "breakpoints");
        out = json_object_set(out, name, inside ? fold_keys(json_ref(value), 0) : json_ref(value));
    }
    json_unref(object);
    return out;
}

/* A frame of 0 is all of them, or the one that is selected. */
static Json frame_value(const OperationArg *a, Json value) {
    bool zero = json_tag(value) == JSON_TAG_INT && value.i == 0;
    if (!zero) return value;
    return a->type == ARG_FRAMES ? json_string_c("all") : json_none();
}

/* A value from a body, as its argument has it. Consumes it; JSON_NONE: as if it were not there. */
static Json meant(const Operation *op, const char *name, bool other_name, Json value) {
    const OperationArg *a = arg_named(op, name);
    if (!strcmp(name, "debug")) return fold_keys(value, 1);
    if (!strcmp(name, "breakpoints")) return fold_keys(value, 0);
    if (a && (a->type == ARG_FRAME || a->type == ARG_FRAMES)) return frame_value(a, value);
    if (other_name && a && a->type == ARG_PATH && json_kind(value) == JSON_STRING) {
        return json_array_push(json_array(), value); /* a name is no expression */
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const struct Word *w = &words[i];
        if (!strcmp(w->operation, op->name) && !strcmp(w->name, name) &&
            json_string_is(value, w->from)) {
            json_unref(value);
            return json_string_c(w->to);
        }
    }
    return value;
}

static bool is_debug_field(const char *name) {
    for (size_t i = 0; i < sizeof debug_fields / sizeof *debug_fields; i++) {
        if (!strcmp(debug_fields[i], name)) return true;
    }
    return false;
}

/* A name with a NUL in it is nobody's, and one that is too long for an argument is not cut to fit. */
static bool refuse_name(const Route *r, const char *name, size_t len, Error *err) {
    const char *word = shown(name, len);
    error_set(err, ERR_USAGE, "`%s` takes no argument `%s`.", r->op->name, word);
    return error_fact(err, "field", word);
}

/* Sets an argument; false where it is there already. Consumes args and value. */
static bool add_arg(const Route *r, Json *args, const char *name, size_t len, Json value,
                    Error *err) {
    char folded[NAME_MAX_LEN];
    const struct Part *part;
    if (len >= NAME_MAX_LEN / 2 || memchr(name, '\0', len)) {
        json_unref(value);
        return refuse_name(r, name, len, err);
    }
    const char *arg = name_of(r->op, name, len, folded);
    if ((part = part_named(arg)) && arg_named(r->op, part->to)) {
        *args = with_part(*args, part, value);
        return true;
    }
    bool other = strlen(arg) != len || memcmp(arg, name, len) != 0;
    value = meant(r->op, arg, other, value);
    if (json_is_none(value)) return true;
    if (r->alias && r->alias->in_debug && is_debug_field(arg)) {
        Json debug = json_ref(json_object_get_c(*args, "debug"));
        *args = json_object_with(*args, "debug", json_object_with(debug, arg, value));
        return true;
    }
    if (!json_is_none(json_object_get_c(*args, arg))) {
        json_unref(value);
        error_set(err, ERR_USAGE, "`%s` of `%s` is given twice.", arg, r->op->name);
        return error_fact(err, "field", arg);
    }
    *args = json_object_with(*args, arg, value);
    return true;
}

/* ---- text ---- */

static int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Appends what percent-encoded text says; false where it is no text. */
static bool decode(const char *text, size_t len, bool plus, Buf *out) {
    size_t from = out->len;
    for (size_t i = 0; i < len; i++) {
        int high = i + 2 < len && text[i] == '%' ? hex(text[i + 1]) : -1;
        int low = high >= 0 ? hex(text[i + 2]) : -1;
        if (text[i] == '%' && low < 0) return false;
        if (text[i] == '%') {
            buf_addc(out, (char)(high << 4 | low));
            i += 2;
        } else {
            buf_addc(out, plus && text[i] == '+' ? ' ' : text[i]);
        }
    }
    size_t n = out->len - from;
    return !n ||
           (!memchr(out->data + from, '\0', n) && utf8_valid_prefix(out->data + from, n) == n);
}

static void encode(const char *text, size_t len, bool path, Buf *out) {
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr(path ? "-_.~:@$!*(),;" : "-_.~:@!*(),/", c);
        if (plain && c) {
            buf_addc(out, (char)c);
        } else {
            buf_addc(out, '%');
            buf_addc(out, digits[c >> 4]);
            buf_addc(out, digits[c & 15]);
        }
    }
}

static Json parse_or_text(const char *text, size_t len) {
    Json value = json_parse(text, len, NULL, NULL);
    return json_is_none(value) ? json_string(text, len) : value;
}

static Json words_of(const char *text, size_t len) {
    Json out = json_array();
    const char *end = text + len;
    while (text < end) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *stop = comma ? comma : end;
        out = json_array_push(out, json_string(text, (size_t)(stop - text)));
        text = comma ? comma + 1 : end;
    }
    return out;
}

/* What a text of a path or a query is, by the type of its argument. */
static Json read_text(const OperationArg *a, const char *text, size_t len) {
    bool json = len && strchr("[{", text[0]);
    static const struct {
        const char *word;
        bool is;
    } truths[] = {{"", true}, {"true", true}, {"1", true}, {"false", false}, {"0", false}};
    if (!a) return json_string(text, len);
    if (a->nullable && len == 4 && !memcmp(text, "null", 4)) return json_null();
    switch (a->type) {
    case ARG_TEXT: return json_string(text, len);
    case ARG_INT:
    case ARG_NUMBER:
    case ARG_FRAME:
    case ARG_FRAMES:
    case ARG_OBJECT:
    case ARG_ANY: return parse_or_text(text, len);
    case ARG_PATH: return json ? parse_or_text(text, len) : json_string(text, len);
    case ARG_ARRAY: return json ? parse_or_text(text, len) : words_of(text, len);
    default: break;
    }
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        if (strlen(truths[i].word) == len && !memcmp(truths[i].word, text, len)) {
            return json_bool(truths[i].is);
        }
    }
    return json_string(text, len);
}

static bool no_text(Error *err, const char *where) {
    error_set(err, ERR_USAGE,
              "The %s of the request is no text: percent-encoded UTF-8 is expected.", where);
    return error_fact(err, "field", where);
}

/* ---- arguments ---- */

static bool add_path(const RouteMatch *match, Json *args, Error *err) {
    const Route *r = match->route;
    Segment given[SEGMENTS];
    Buf text = BUF_INIT;
    bool ok = true;
    size_t n = split(match->path, match->len, given);
    for (size_t i = 0; ok && i < n && i < r->n; i++) {
        const Segment *s = &r->segments[i];
        char name[NAME_MAX_LEN];
        if (!s->arg) continue;
        snprintf(name, sizeof name, "%.*s", (int)s->len, s->text);
        buf_reset(&text);
        ok = decode(given[i].text, given[i].len, false, &text) || no_text(err, "path");
        const OperationArg *a = arg_named(r->op, name);
        Json value = ok ? read_text(a, text.data ? text.data : "", text.len) : json_none();
        if (ok && a && a->type == ARG_PATH && json_kind(value) == JSON_STRING &&
            text.data[0] != '.') { /* a name */
            value = json_array_push(json_array(), value);
        }
        ok = ok && add_arg(r, args, s->text, s->len, value, err);
    }
    buf_clear(&text);
    return ok;
}

static bool add_query(const Route *r, const char *query, Json *args, Error *err) {
    Buf text = BUF_INIT;
    bool ok = true;
    size_t fields = 0;
    while (ok && query && *query) {
        size_t len = strcspn(query, "&"), name = 0;
        const char *equals = memchr(query, '=', len), *field = query;
        size_t named = equals ? (size_t)(equals - query) : len;
        query += len + (query[len] == '&');
        if (!len) continue;
        buf_reset(&text);
        if (++fields > QUERY_FIELDS) {
            ok = error_set(err, ERR_LIMIT, "The query has more than %d fields.", QUERY_FIELDS);
            break;
        }
        ok = decode(field, named, true, &text);
        name = text.len;
        ok = ok && (!equals || decode(equals + 1, len - named - 1, true, &text));
        if (!ok) {
            no_text(err, "query");
            break;
        }
        char folded[NAME_MAX_LEN];
        const char *arg = name_of(r->op, text.data ? text.data : "", name, folded);
        const OperationArg *a = arg_named(r->op, arg);
        Json value = read_text(a, text.data ? text.data + name : "", text.len - name);
        Json there = json_object_get_c(*args, arg);
        if (a && a->type == ARG_ARRAY && json_kind(there) == JSON_ARRAY &&
            json_kind(value) == JSON_ARRAY) {
            *args = json_object_with(*args, arg, json_array_concat(json_ref(there), value));
        } else {
            ok = add_arg(r, args, text.data ? text.data : "", name, value, err);
        }
    }
    buf_clear(&text);
    return ok;
}

/* The fields of an object, JSON_NONE having none. */
static bool add_fields(const Route *r, Json body, Json *args, Error *err) {
    Json key, value;
    bool ok = true;
    for (size_t pos = 0;
         ok && json_kind(body) == JSON_OBJECT && json_object_next(body, &pos, &key, &value);) {
        ok = add_arg(r, args, json_string_data(&key), json_string_len(key), json_ref(value), err);
    }
    return ok;
}

Json route_args(const RouteMatch *match, const char *query, Json body, Error *err) {
    const Route *r = match->route;
    Json args = begin_args(r->alias ? r->alias->fixed : NULL);
    bool ok = add_path(match, &args, err) && add_query(r, query, &args, err);
    if (ok && !json_is_none(body) && json_kind(body) != JSON_OBJECT) {
        ok = error_set(err, ERR_USAGE, "The body of a request is an object, {...}.");
        error_fact(err, "field", "body");
    }
    if (!ok || !add_fields(r, body, &args, err)) json_clear(&args);
    return args;
}

Json route_named_args(const Operation *op, const char *fixed, Json data, Error *err) {
    Json args = begin_args(fixed);
    if (!add_fields(&(Route){.op = op}, data, &args, err)) json_clear(&args);
    return args;
}

/* ---- requests ---- */

/* The value of an argument as text of a path or a query. */
static void add_text(Json value, bool path, Buf *out) {
    Buf text = BUF_INIT;
    if (json_kind(value) == JSON_STRING) {
        buf_add(&text, json_string_data(&value), json_string_len(value));
    } else {
        json_print(value, &(JsonPrintOptions){0}, &text);
    }
    encode(text.data ? text.data : "", text.len, path, out);
    buf_clear(&text);
}

/* A text that would be read as something else: "12" of an argument that takes any value. */
static bool is_read_otherwise(const OperationArg *a, Json value) {
    if (!a || json_kind(value) != JSON_STRING || a->type == ARG_TEXT) return false;
    Json read = read_text(a, json_string_data(&value), json_string_len(value));
    bool same = json_equal(read, value);
    json_unref(read);
    return !same;
}

/* Whether all that stands in the path is among the arguments. */
static bool has_path(const Route *r, Json args) {
    bool all = true;
    for (size_t i = 0; i < r->n; i++) {
        const Segment *s = &r->segments[i];
        Json name = json_string(s->text, s->len);
        all = all && (!s->arg || !json_is_none(json_object_get(args, name)));
        json_unref(name);
    }
    return all;
}

/* Its own path, or one that does without what is not there: /events of all runs. */
static const Route *path_for(const Operation *op, Json args) {
    const Route *r = route_next(NULL);
    while (r && (r->op != op || (r->alias && r->alias->fixed) || !has_path(r, args))) {
        r = route_next(r);
    }
    return r;
}

bool route_request(const Operation *op, Json args, RouteRequest *out) {
    const Route *r = path_for(op, args);
    Json rest = json_ref(args), key, value;
    *out = (RouteRequest){.body = json_none()};
    for (size_t i = 0; r && i < r->n; i++) {
        const Segment *s = &r->segments[i];
        buf_addc(&out->target, '/');
        if (!s->arg) {
            buf_add(&out->target, s->text, s->len);
            continue;
        }
        Json name = json_string(s->text, s->len);
        add_text(json_object_get(rest, name), true, &out->target);
        rest = json_object_remove(rest, name);
        json_unref(name);
    }
    if (!r) {
        json_unref(rest);
        return false;
    }
    bool asks = !strncmp(r->text, "GET ", 4) || !strncmp(r->text, "DELETE ", 7);
    out->method = !strncmp(r->text, "GET ", 4)      ? "GET"
                  : !strncmp(r->text, "DELETE ", 7) ? "DELETE"
                  : !strncmp(r->text, "PUT ", 4)    ? "PUT"
                                                    : "POST";
    char before = '?';
    for (size_t pos = 0; asks && json_object_next(rest, &pos, &key, &value); before = '&') {
        char folded[NAME_MAX_LEN];
        const char *name = name_of(op, json_string_data(&key), json_string_len(key), folded);
        buf_addc(&out->target, before);
        encode(json_string_data(&key), json_string_len(key), false, &out->target);
        buf_addc(&out->target, '=');
        if (is_read_otherwise(arg_named(op, name), value)) { /* in quotes it is a text */
            Buf quoted = BUF_INIT;
            json_print(value, &(JsonPrintOptions){0}, &quoted);
            encode(quoted.data, quoted.len, false, &out->target);
            buf_clear(&quoted);
        } else {
            add_text(value, false, &out->target);
        }
    }
    out->body = asks ? json_none() : json_ref(rest);
    json_unref(rest);
    return true;
}

char *route_query_text(const char *query, const char *name) {
    Buf text = BUF_INIT;
    size_t wanted = strlen(name);
    while (query && *query) {
        size_t len = strcspn(query, "&");
        if (len > wanted && query[wanted] == '=' && !memcmp(query, name, wanted)) {
            if (decode(query + wanted + 1, len - wanted - 1, true, &text)) {
                buf_addc(&text, '\0');
                return buf_detach(&text);
            }
            break;
        }
        query += len + (query[len] == '&');
    }
    buf_clear(&text);
    return NULL;
}
