/* schema.c - JSON Schema for editors, made from the tables that the loader uses.
 *
 * The schema says which keys there are, what they hold and what they mean. It accepts everything that
 * the loader accepts; the loader refuses more (jq that does not compile, names that do not exist). */
#include "flow.h"
#include "loader.h"

#include "json_parse.h"

#include <string.h>

static Json set(Json o, const char *key, Json value) {
    return json_object_set(o, json_string_c(key), value);
}

static Json parsed(const char *text) {
    return json_parse(text, strlen(text), NULL, NULL);
}

static Json words_array(const char *const *words) {
    Json a = json_array();
    for (; *words; words++) {
        a = json_array_push(a, json_string_c(*words));
    }
    return a;
}

/* ---- parts that have no table ---- */

static const char duration_schema[] =
    "{\"type\":[\"string\",\"number\"],\"pattern\":\"^ *[0-9.]+ *([a-z]+ *([0-9.]+ *[a-z]+ *)*)?$\"}";
static const char name_or_names[] =
    "{\"anyOf\":[{\"type\":[\"string\",\"number\"]},"
    "{\"type\":\"array\",\"items\":{\"type\":[\"string\",\"number\"]}}]}";
static const char target_schema[] =
    "{\"anyOf\":[{\"$ref\":\"#/$defs/names\"},{\"$ref\":\"#/$defs/rule\"},"
    "{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/rule\"}}]}";
static const char rule_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"to\"],\"properties\":{"
    "\"if\":{\"description\":\"a jq condition; without it the rule always holds\"},"
    "\"to\":{\"$ref\":\"#/$defs/names\"}}}";
static const char interrupt_schema[] =
    "{\"anyOf\":[{\"enum\":[\"before\",\"after\"]},"
    "{\"type\":\"array\",\"items\":{\"enum\":[\"before\",\"after\"]}}]}";

/* A key whose value is described by a piece of schema. */
typedef struct Property {
    const char *name, *schema, *help;
} Property;

#define REF(name) "{\"$ref\":\"#/$defs/" name "\"}"
#define TEXT      "{\"type\":[\"string\",\"number\",\"boolean\"]}"

static const Property node_properties[] = {
    {"name", TEXT, "what edges, interrupts and the history call it"},
    {"description", TEXT, "for people"},
    {"title", TEXT, "for people"},
    {"run", TEXT, "code, in the language that `language` names"},
    {"language", "{\"enum\":[\"lua\",\"jq\",\"shell\"]}", "the language of `run`"},
    {"uses", NULL, "the kind, when the parameters are under `with`"},
    {"with", "{\"type\":\"object\"}", "the parameters of the kind that `uses` names"},
    {"output", TEXT, "key of the state for the result; without it an object is merged"},
    {"timeout", REF("duration"), "how long it may take"},
    {"retry", REF("retry"), "what to do when it fails"},
    {"interrupt", REF("interrupt"), "stop for a person before it or after it"},
    {"goto", REF("goto"), "where to go on: a name, or rules that are tried in order"},
    {"fan_in", "{\"type\":\"boolean\"}", "parallel branches that lead here join here"},
    {0},
};

static const Property retry_properties[] = {
    {"attempts", "{\"type\":\"integer\",\"minimum\":1}", "how often it is tried in all"},
    {"delay", REF("duration"), "the pause before the second attempt (1s)"},
    {"factor", "{\"type\":\"number\",\"minimum\":1}", "how much longer each pause is (2)"},
    {"max", REF("duration"), "the longest pause (30s)"},
    {"if", "{}", "a jq condition over the state with .error; without it always"},
    {0},
};

static const Property config_properties[] = {
    {"checkpointer", NULL, "where the history is kept"},
    {"checkpoint_dir", TEXT, "the folder for a history in files"},
    {"checkpoint", TEXT, "a thread, or THREAD@SEQ, to go on from"},
    {"interrupt_before", REF("names"), "nodes to stop before, or \"*\""},
    {"interrupt_after", REF("names"), "nodes to stop after, or \"*\""},
    {"recursion_limit", "{\"type\":\"integer\",\"minimum\":1}", "steps that a run may take"},
    {"timeout", REF("duration"), "how long a run may take"},
    {0},
};

static const Property edge_properties[] = {
    {"from", REF("names"), "a node, several, or __start__"},
    {"to", REF("names"), "a node or __end__; several are parallel branches"},
    {"when", "{}", "a jq condition; without it the edge is always taken"},
    {"fan_in", TEXT, "where the parallel branches join"},
    {"parallel", "{\"type\":\"boolean\"}", "one of several parallel branches"},
    {"on", "{\"const\":\"error\"}", "taken when the node fails"},
    {"description", TEXT, "for people"},
    {0},
};

static const Property graph_properties[] = {
    {"name", TEXT, "the name of the workflow; that of the file unless given"},
    {"description", TEXT, "for people"},
    {"state", NULL, "keys of the state: defaults, and how results join what is there"},
    {"config", REF("config"), "how it runs"},
    {"nodes", "{\"type\":\"array\",\"minItems\":1,\"items\":" REF("node") "}", "what it does"},
    {"edges", "{\"type\":\"array\",\"items\":" REF("edge") "}",
     "what leads where; without it the nodes run in order"},
    {0},
};

static Json described(Json schema, const char *help) {
    return set(schema, "description", json_string_c(help));
}

static Json properties(const Property *rows) {
    Json o = json_object();
    for (; rows->name; rows++) {
        if (rows->schema) {
            o = set(o, rows->name, described(parsed(rows->schema), rows->help));
        }
    }
    return o;
}

static Json closed_object(Json props) {
    Json o = set(json_object(), "type", json_string_c("object"));
    o = set(o, "properties", props);
    return set(o, "additionalProperties", json_bool(false));
}

/* ---- kinds ---- */

static Json enum_schema(const ParamInfo *info) {
    Json a = json_array();
    for (const char *w = info->words; *w;) {
        size_t len = strcspn(w, " ");
        a = json_array_push(a, json_string(w, len));
        w += len + (w[len] == ' ');
    }
    return set(json_object(), "enum", a);
}

static const char *const param_schemas[] = {
    [PARAM_JQ] = "{}",
    [PARAM_TEMPLATE] = TEXT,
    [PARAM_TEXT] = TEXT,
    [PARAM_NAME] = "{\"type\":\"string\",\"pattern\":\"^[A-Za-z_][A-Za-z0-9_]*$\"}",
    [PARAM_BOOL] = "{\"type\":\"boolean\"}",
    [PARAM_INT] = "{\"type\":\"integer\",\"minimum\":1}",
    [PARAM_SIZE] = "{\"type\":[\"integer\",\"string\"]}",
    [PARAM_DURATION] = REF("duration"),
    [PARAM_WORDS] = "{\"type\":\"array\",\"items\":" TEXT "}",
    [PARAM_JQ_OBJECT] = "{\"type\":\"object\"}",
    [PARAM_WORKFLOW] = TEXT,
    [PARAM_NODE] = REF("body"),
    [PARAM_NODES] = "{\"type\":\"array\",\"minItems\":1,\"items\":" REF("node") "}",
};

static Json param_schema(const ParamInfo *info) {
    Json o = info->type == PARAM_ENUM ? enum_schema(info) : parsed(param_schemas[info->type]);
    if (info->fallback) {
        o = set(o, "default", parsed(info->fallback));
    }
    return described(o, info->help);
}

static Json kind_object(const Kind *kind) {
    Json props = json_object();
    for (size_t i = 0; i < kind->nparams; i++) {
        props = set(props, kind->params[i].name, param_schema(&kind->params[i]));
        if (kind->params[i].alias) {
            props = set(props, kind->params[i].alias, param_schema(&kind->params[i]));
        }
    }
    return closed_object(props);
}

/* The value of the kind's own key: the first parameter, or all of them. */
static Json kind_value(const Kind *kind) {
    Json any = json_array_push(json_array(), param_schema(&kind->params[0]));
    any = json_array_push(any, kind_object(kind));
    return described(set(json_object(), "anyOf", any), kind->help);
}

/* Parameters of all kinds may stand beside the key of the kind. */
static Json with_kinds(Json props) {
    for (size_t i = 0; i < KIND_COUNT; i++) {
        for (size_t k = 0; k < kinds[i].nparams; k++) {
            const ParamInfo *info = &kinds[i].params[k];
            const char *names[] = {info->name, info->alias};
            for (size_t m = 0; m < 2 && names[m]; m++) {
                if (json_is_none(json_object_get_c(props, names[m]))) {
                    props = set(props, names[m], param_schema(info));
                }
            }
        }
    }
    /* `do` is a node for one kind and a list for another. */
    props =
        set(props, "do",
            parsed("{\"anyOf\":[" REF("body") ",{\"type\":\"array\",\"items\":" REF("node") "}]}"));
    for (size_t i = 0; i < KIND_COUNT; i++) {
        props = set(props, kinds[i].name, kind_value(&kinds[i]));
    }
    return props;
}

static Json kind_names(void) {
    Json a = json_array();
    for (size_t i = 0; i < KIND_COUNT; i++) {
        a = json_array_push(a, json_string_c(kinds[i].name));
    }
    return set(json_object(), "enum", a);
}

/* One of the keys that say what a node does. */
static Json one_kind(void) {
    Json any = json_array();
    for (size_t i = 0; i < KIND_COUNT; i++) {
        Json key = json_array_push(json_array(), json_string_c(kinds[i].name));
        any = json_array_push(any, set(json_object(), "required", key));
    }
    any = json_array_push(any, parsed("{\"required\":[\"run\"]}"));
    return json_array_push(any, parsed("{\"required\":[\"uses\"]}"));
}

static Json node_schema(bool body) {
    static const char *const not_in_body[] = {"name",      "output", "goto",
                                              "interrupt", "fan_in", NULL};
    Json props = properties(node_properties);
    for (const char *const *key = not_in_body; body && *key; key++) {
        Json name = json_string_c(*key);
        props = json_object_remove(props, name);
        json_unref(name);
    }
    props =
        set(props, "uses", described(kind_names(), "the kind; its parameters are under `with`"));
    Json o = closed_object(with_kinds(props));
    if (!body) {
        o = set(o, "required", parsed("[\"name\"]"));
    }
    return set(o, "oneOf", one_kind());
}

/* ---- the whole ---- */

static Json state_schema(void) {
    Json any = json_array_push(json_array(), set(json_object(), "enum", words_array(reduce_names)));
    any = json_array_push(
        any, described(parsed("{\"type\":\"string\"}"), "a jq expression over $old and $new"));
    Json props = set(json_object(), "default", json_object());
    props = set(props, "reduce", set(json_object(), "anyOf", any));
    Json value = json_array_push(json_array(), closed_object(props));
    value = json_array_push(value, described(json_object(), "a default value"));
    Json o = set(json_object(), "type", parsed("[\"object\",\"null\"]"));
    return set(o, "additionalProperties", set(json_object(), "anyOf", value));
}

static Json retry_schema(void) {
    Json any = json_array_push(json_array(), parsed("{\"type\":\"integer\",\"minimum\":1}"));
    any = json_array_push(any, closed_object(properties(retry_properties)));
    return set(json_object(), "anyOf", any);
}

static Json config_schema(void) {
    Json props = properties(config_properties);
    Json names = set(json_object(), "enum", words_array(checkpointers));
    props = set(props, "checkpointer", described(names, config_properties[0].help));
    return set(closed_object(props), "type", parsed("[\"object\",\"null\"]"));
}

static Json definitions(void) {
    Json defs = set(json_object(), "node", node_schema(false));
    defs = set(defs, "body", node_schema(true));
    defs = set(
        defs, "edge",
        set(closed_object(properties(edge_properties)), "required", parsed("[\"from\",\"to\"]")));
    defs = set(defs, "config", config_schema());
    defs = set(defs, "retry", retry_schema());
    defs = set(defs, "interrupt", parsed(interrupt_schema));
    defs = set(defs, "goto", parsed(target_schema));
    defs = set(defs, "rule", parsed(rule_schema));
    defs = set(defs, "names", parsed(name_or_names));
    return set(defs, "duration", parsed(duration_schema));
}

static Json graph_schema(void) {
    Json props = properties(graph_properties);
    props = set(props, "state", described(state_schema(), graph_properties[2].help));
    Json o = set(json_object(), "$schema",
                 json_string_c("https://json-schema.org/draft/2020-12/schema"));
    o = set(o, "title", json_string_c("A Pawl workflow: nodes and edges"));
    Json object = closed_object(props);
    o = set(o, "type", json_string_c("object"));
    o = set(o, "properties", json_ref(json_object_get_c(object, "properties")));
    json_unref(object);
    o = set(o, "additionalProperties", json_bool(false));
    o = set(o, "required", parsed("[\"nodes\"]"));
    return set(o, "$defs", definitions());
}

typedef struct SchemaRow {
    const char *dialect;
    Json (*make)(void);
} SchemaRow;

static const SchemaRow schemas[] = {{"graph", graph_schema}};

Json flow_schema(const char *dialect) {
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        if (strcmp(schemas[i].dialect, dialect) == 0) {
            return schemas[i].make();
        }
    }
    return json_none();
}
