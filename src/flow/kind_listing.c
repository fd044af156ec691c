#include "kind_listing.h"

#include "json_build.h"
#include "json_path.h"
#include "kind_schema.h"
#include "loader.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

Json kinds_rows(int dialect) {
    Json list = json_array();
    for (size_t i = 0; i < KIND_COUNT; i++) {
        const Kind *kind = &kinds[i];
        if (kind->hidden || (dialect >= 0 && (int)kind->dialect != dialect)) continue;
        list = json_array_push(
            list, OBJECT(KEY("name", kind->name), KEY("dialect", dialect_name(kind->dialect)),
                         KEY("help", kind->help), KEY("schema", kind_schema(kind))));
    }
    return list;
}

/* ---- files ---- */

/* Names of files, sorted later. */
typedef struct Names {
    char **items;
    size_t n, cap;
} Names;

static void add_name(void *to, const char *file) {
    Names *names = to;
    size_t len = kind_name_len(file);
    if (!len || names->n >= FLOW_FILES_MAX) return;
    names->items = mem_grow(names->items, names->n, &names->cap, sizeof *names->items);
    names->items[names->n++] = mem_strndup(file, len);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static Json hidden_in(const char *name) {
    Json list = json_none();
    for (int dialect = 0; dialect < DIALECT_COUNT; dialect++) {
        const Kind *row = kind_find((DialectId)dialect, name);
        if (!row || row->hidden) continue;
        list = json_is_none(list) ? json_array() : list;
        list = json_array_push(list, json_string_c(dialect_name((DialectId)dialect)));
    }
    return list;
}

static Json outputs_of(const OutsideKind *kind) {
    Json list = json_array();
    for (size_t i = 0; i < kind->noutputs; i++) {
        list = json_array_push(list, json_ref(kind->outputs[i].name));
    }
    return list;
}

/* The inputs as a schema that says what the loader does: others are refused unless it says otherwise. */
static Json inputs_schema(const OutsideKind *kind) {
    Json schema = json_object_with(json_ref(kind->inputs), "type", json_string_c("object"));
    if (!json_is_none(json_object_get_c(schema, "additionalProperties"))) return schema;
    return json_object_with(schema, "additionalProperties", json_bool(false));
}

/* What is wrong with a file as a whole has no line. */
static Json problem_text(const FlowProblem *p) {
    return p->line ? json_string_fmt("%s:%d:%d: %s", p->file, p->line, p->col, p->msg)
                   : json_string_fmt("%s: %s", p->file, p->msg);
}

static Json kind_in(const char *folder, const char *name, const FlowReader *reader) {
    FlowProblems problems = {0};
    Buf path = BUF_INIT;
    size_t len = strlen(folder);
    buf_printf(&path, "%s%s%s.yaml", folder, len && folder[len - 1] != '/' ? "/" : "", name);
    Flow *flow = flow_load(path.data, reader, &problems);
    const OutsideKind *kind = flow ? flow->main->outside : NULL;
    const FlowProblem *p = problems.n ? &problems.items[0] : NULL;
    Json error = kind ? json_none()
                 : p  ? problem_text(p)
                      : json_string_fmt("%s does not say `kind: %s`.", path.data, name);
    Json row = OBJECT(KEY("name", name), KEY("dialect", "any"),
                      KEY("help", kind ? kind->about : "a kind with errors"),
                      KEY("schema", kind ? inputs_schema(kind) : json_none()),
                      KEY("outputs", kind ? outputs_of(kind) : json_none()), KEY("file", path.data),
                      KEY("error", error), KEY("hidden", hidden_in(name)));
    flow_unref(flow);
    flow_problems_clear(&problems);
    buf_clear(&path);
    return row;
}

/* One in a folder that others can write to: nothing of it is read, since it is not used either. */
static Json left_alone(const char *folder, const char *name, const Error *why) {
    return OBJECT(KEY("name", name), KEY("dialect", "any"), KEY("help", "a kind that is not used"),
                  KEY("file", json_string_fmt("%s/%s.yaml", folder, name)), KEY("error", why->msg),
                  KEY("hidden", hidden_in(name)));
}

/* Folders that were named are trusted; others are looked into by themselves. */
Json kinds_outside(const char *const *folders, size_t n, const FlowReader *reader) {
    Json list = json_array(), seen = json_object();
    for (size_t i = 0; i < n && reader->list; i++) {
        Names names = {0};
        Error why = ERROR_INIT;
        bool trusted = i < reader->nkinds || !reader->is_ours ||
                       reader->is_ours(reader->ctx, *folders[i] ? folders[i] : ".", &why);
        reader->list(reader->ctx, *folders[i] ? folders[i] : ".", add_name, &names);
        if (names.n) qsort(names.items, names.n, sizeof *names.items, by_text);
        for (size_t k = 0; k < names.n; k++) {
            if (json_is_none(json_object_get_c(seen, names.items[k]))) {
                seen = json_object_with(seen, names.items[k], json_null());
                list =
                    json_array_push(list, trusted ? kind_in(folders[i], names.items[k], reader)
                                                  : left_alone(folders[i], names.items[k], &why));
            }
            mem_free(names.items[k]);
        }
        mem_free(names.items);
    }
    json_unref(seen);
    return list;
}

/* ---- in the schema of a dialect ---- */

/* Pushes to the array, or sets in the object, that is at a path of keys: "$defs/node/oneOf". Consumes value. */
static Json put_at(Json schema, const char *path, const char *key, Json value) {
    Json at = json_array();
    for (const char *p = path; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL) {
        at = json_array_push(at, json_string(p, strcspn(p, "/")));
    }
    Json there = json_path_get(schema, at, NULL);
    there =
        key ? json_object_with(json_kind(there) == JSON_OBJECT ? there : json_object(), key, value)
            : json_array_push(json_kind(there) == JSON_ARRAY ? there : json_array(), value);
    schema = json_path_set(schema, at, there, NULL);
    json_unref(at);
    return schema;
}

/* In a graph the values are jq, so that anything may stand for them. */
static Json graph_inputs(Json inputs, const char *help) {
    Json properties = json_object_get_c(inputs, "properties"), name, value, own = json_object();
    for (size_t pos = 0; json_object_next(properties, &pos, &name, &value);) {
        Json about = json_object_get_c(value, "description");
        own = json_object_set(own, json_ref(name), OBJECT(KEY("description", json_ref(about))));
    }
    return OBJECT(
        KEY("type", ARRAY(json_string_c("object"), json_string_c("null"))),
        KEY("description", help), KEY("properties", own),
        KEY("additionalProperties", json_ref(json_object_get_c(inputs, "additionalProperties"))));
}

static Json with_graph_kind(Json schema, Json kind) {
    static const char *const nodes[] = {"node", "body"};
    const char *name = json_object_text(kind, "name"), *help = json_object_text(kind, "help");
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        Buf at = BUF_INIT;
        buf_printf(&at, "$defs/%s/properties/uses/enum", nodes[i]);
        schema = put_at(schema, at.data, NULL, json_string_c(name));
        buf_reset(&at);
        buf_printf(&at, "$defs/%s/properties", nodes[i]);
        schema =
            put_at(schema, at.data, name, graph_inputs(json_object_get_c(kind, "schema"), help));
        buf_reset(&at);
        buf_printf(&at, "$defs/%s/oneOf", nodes[i]);
        schema = put_at(schema, at.data, NULL, OBJECT(KEY("required", ARRAY(json_string_c(name)))));
        buf_clear(&at);
    }
    return schema;
}

/* What stands under `config`: of a task there may be placeholders in it, and queries beside it. */
static Json with_config_kind(Json schema, Json kind, bool tasks) {
    const char *name = json_object_text(kind, "name");
    const char *key = tasks ? "name" : "type", *item = tasks ? "task" : "step";
    Json inputs = json_object_get_c(kind, "schema");
    Json own = tasks ? graph_inputs(inputs, json_object_text(kind, "help"))
                     : json_object_with(json_ref(inputs), "description",
                                        json_ref(json_object_get_c(kind, "help")));
    Json ref = json_string_fmt("#/$defs/config_%s", name);
    Json is = OBJECT(KEY(key, OBJECT(KEY("const", name))));
    Json config = OBJECT(KEY("config", OBJECT(KEY("$ref", ref))));
    Json rule = OBJECT(KEY("if", OBJECT(KEY("properties", is))),
                       KEY("then", OBJECT(KEY("properties", config))));
    Buf at = BUF_INIT;
    buf_printf(&at, "config_%s", name);
    schema = put_at(schema, "$defs", at.data, own);
    buf_reset(&at);
    buf_printf(&at, "$defs/%s/properties/%s/enum", item, key);
    schema = put_at(schema, at.data, NULL, json_string_c(name));
    buf_reset(&at);
    buf_printf(&at, "$defs/%s/allOf", item);
    schema = put_at(schema, at.data, NULL, rule);
    buf_clear(&at);
    return schema;
}

static bool is_hidden(Json kind, const char *dialect) {
    Json list = json_object_get_c(kind, "hidden");
    for (size_t i = 0; i < json_array_len(list); i++) {
        if (json_string_is(json_array_get(list, i), dialect)) return true;
    }
    return false;
}

Json schema_with_kinds(Json schema, const char *dialect, Json outside) {
    for (size_t i = 0; !json_is_none(schema) && i < json_array_len(outside); i++) {
        Json kind = json_array_get(outside, i);
        if (json_is_none(json_object_get_c(kind, "schema")) || is_hidden(kind, dialect)) continue;
        schema = !strcmp(dialect, "graph")
                     ? with_graph_kind(schema, kind)
                     : with_config_kind(schema, kind, !strcmp(dialect, "tasks"));
    }
    return schema;
}
