/* schema.c - JSON Schema for editors, made from the tables that the loader uses.
 *
 * The schema says which keys there are, what they hold and what they mean. It accepts everything that
 * the loader accepts; the loader refuses more (jq that does not compile, names that do not exist). */
#include "flow.h"
#include "kind_schema.h"
#include "loader.h"

#include "json_build.h"
#include "json_parse.h"

#include <stdio.h>
#include <string.h>

static Json parsed(const char *text) {
    return json_parse(text, strlen(text), NULL, NULL);
}

static Json words_array(const char *const *words) {
    Json a = json_array();
    for (; *words; words++) a = json_array_push(a, json_string_c(*words));
    return a;
}

static Json any_of(Json a, Json b) {
    return OBJECT(KEY("anyOf", json_array_from((Json[]){a, b}, 2)));
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
    {"language", "{\"enum\":[\"python\",\"javascript\",\"lua\",\"jq\",\"shell\"]}",
     "the language of `run`; python unless given"},
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
    {"mode", "{\"enum\":[\"autonomous\",\"interactive\"]}",
     "who answers what could be asked of a model"},
    {"net", REF("names"), "where requests may go: any, public, hosts and ranges of addresses"},
    {"kinds", REF("names"), "folders of kinds from outside, relative to this file"},
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
    return json_object_with(schema, "description", json_string_c(help));
}

static Json properties(const Property *rows) {
    Json o = json_object();
    for (; rows->name; rows++) {
        if (rows->schema) {
            o = json_object_with(o, rows->name, described(parsed(rows->schema), rows->help));
        }
    }
    return o;
}

static Json closed_object(Json props) {
    return OBJECT(KEY("type", "object"), KEY("properties", props),
                  KEY("additionalProperties", json_bool(false)));
}

/* ---- kinds ---- */

/* The kind at *at or after it that a file of the dialect can name; NULL past the last. */
static const Kind *next_kind(DialectId dialect, size_t *at) {
    while (*at < KIND_COUNT && (kinds[*at].dialect != dialect || kinds[*at].hidden)) ++*at;
    return *at < KIND_COUNT ? &kinds[(*at)++] : NULL;
}

/* How a type is written. What refers to other parts of a file's schema has another form for a
 * schema that stands alone. */
typedef struct TypeRow {
    const char *name, *schema, *alone;
} TypeRow;

#define LIST_OF(item) "{\"type\":\"array\",\"items\":" item "}"
#define A_MAP         "{\"type\":\"object\"}"
#define STATUS        "{\"type\":\"integer\",\"minimum\":100,\"maximum\":599}"

static const TypeRow types[] = {
    [PARAM_JQ] = {"jq", "{}", NULL},
    [PARAM_TEMPLATE] = {"template", TEXT, NULL},
    [PARAM_TEXT] = {"text", TEXT, NULL},
    [PARAM_NAME] = {"word", "{\"type\":\"string\",\"pattern\":\"^[A-Za-z_][A-Za-z0-9_]*$\"}", NULL},
    [PARAM_BOOL] = {"boolean", "{\"type\":\"boolean\"}", NULL},
    [PARAM_INT] = {"number from 1", "{\"type\":\"integer\",\"minimum\":1}", NULL},
    [PARAM_SIZE] = {"size", "{\"type\":[\"integer\",\"string\"]}", NULL},
    [PARAM_DURATION] = {"duration", REF("duration"), duration_schema},
    [PARAM_ENUM] = {"word", NULL, NULL},
    [PARAM_WORDS] = {"list of texts", LIST_OF(TEXT), NULL},
    [PARAM_JQ_OBJECT] = {"map of jq", A_MAP, NULL},
    [PARAM_WORKFLOW] = {"file", TEXT, NULL},
    [PARAM_NODE] = {"node", REF("body"), A_MAP},
    [PARAM_NODES] = {"list of nodes",
                     "{\"type\":\"array\",\"minItems\":1,\"items\":" REF("node") "}",
                     LIST_OF(A_MAP)},
    [PARAM_COUNT] = {"number from 0", "{\"type\":\"integer\",\"minimum\":0}", NULL},
    [PARAM_VALUE] = {"any value", "{}", NULL},
    [PARAM_OBJECT] = {"map", A_MAP, NULL},
    [PARAM_QUERIES] = {"map of queries", "{\"type\":\"object\",\"additionalProperties\":" TEXT "}",
                       NULL},
    [PARAM_STATUSES] = {"status, or list", "{\"anyOf\":[" STATUS "," LIST_OF(STATUS) "]}", NULL},
    [PARAM_OBJECTS] = {"list of maps", NULL, NULL},
    [PARAM_TASK] = {"task", REF("task"), A_MAP},
    [PARAM_TASKS] = {"list of tasks", LIST_OF(REF("task")), LIST_OF(A_MAP)},
    [PARAM_TEST] = {"file", TEXT, NULL},
};

const char *param_type_name(ParamType type) {
    return types[type].name;
}

/* What surrounds a parameter. */
typedef enum Form {
    FORM_FILE,  /* the schema of a file */
    FORM_TASK,  /* the same, of a task: configVars may give what is required */
    FORM_ALONE, /* a kind's own */
} Form;

static Json param_schema(const ParamInfo *info, Form form);

static Json with_params(Json props, const ParamInfo *params, size_t n, Form form) {
    for (size_t i = 0; i < n; i++) {
        props = json_object_with(props, params[i].name, param_schema(&params[i], form));
        if (params[i].alias) {
            props = json_object_with(props, params[i].alias, param_schema(&params[i], form));
        }
    }
    return props;
}

static Json with_required(Json schema, const ParamInfo *params, size_t n) {
    Json names = json_array();
    for (size_t i = 0; i < n; i++) {
        if (params[i].required && !params[i].alias) {
            names = json_array_push(names, json_string_c(params[i].name));
        }
    }
    return json_object_with(schema, "required", names);
}

static Json type_schema(const ParamInfo *info, Form form) {
    const TypeRow *row = &types[info->type];
    if (info->type == PARAM_ENUM) {
        Json words = json_array();
        for (const char *w = info->words; *w;) {
            size_t len = strcspn(w, " ");
            words = json_array_push(words, json_string(w, len));
            w += len + (w[len] == ' ');
        }
        return OBJECT(KEY("enum", words));
    }
    if (info->type == PARAM_OBJECTS) {
        Json item = closed_object(with_params(json_object(), info->fields, info->nfields, form));
        return OBJECT(KEY("type", "array"),
                      KEY("items", with_required(item, info->fields, info->nfields)));
    }
    return parsed(form == FORM_ALONE && row->alone ? row->alone : row->schema);
}

static Json param_schema(const ParamInfo *info, Form form) {
    Json o = type_schema(info, form);
    return OBJECT_ADD(o, KEY("x-type", form == FORM_ALONE ? param_type_name(info->type) : NULL),
                      KEY("default", info->fallback ? parsed(info->fallback) : json_none()),
                      KEY("description", info->help));
}

/* The parameters from one on, as an object that holds nothing else. */
static Json params_schema(const Kind *kind, size_t from, Form form) {
    return closed_object(
        with_params(json_object(), kind->params + from, kind->nparams - from, form));
}

size_t kind_config_start(const Kind *kind) {
    return kind->dialect == DIALECT_PIPELINE && !kind->hidden ? STEP_CONTINUES + 1 : 0;
}

Json kind_schema(const Kind *kind) {
    size_t from = kind_config_start(kind);
    return with_required(params_schema(kind, from, FORM_ALONE), kind->params + from,
                         kind->nparams - from);
}

/* ---- nodes ---- */

/* Whether a kind before has a parameter of the name that takes the same. */
static bool is_repeated(const ParamInfo *info, const char *name) {
    const Kind *kind;
    for (size_t at = 0; (kind = next_kind(DIALECT_GRAPH, &at));) {
        for (size_t i = 0; i < kind->nparams; i++) {
            const ParamInfo *other = &kind->params[i];
            if (other == info) return false;
            if (strcmp(other->name, name) == 0 && other->type == info->type &&
                (info->type != PARAM_ENUM || strcmp(other->words, info->words) == 0)) {
                return true;
            }
        }
    }
    return false;
}

/* A name may mean one thing to one kind and another to the next. */
static Json add_beside(Json props, const ParamInfo *info, const char *name) {
    Json there = json_object_get_c(props, name);
    if (json_is_none(there)) return json_object_with(props, name, param_schema(info, FORM_FILE));
    if (is_repeated(info, name)) return props;
    Json any = json_object_get_c(there, "anyOf");
    any = json_is_none(any) ? ARRAY(json_ref(there)) : json_ref(any);
    any = json_array_push(any, param_schema(info, FORM_FILE));
    return json_object_with(props, name, OBJECT(KEY("anyOf", any)));
}

/* Parameters of all kinds may stand beside the key of the kind, whose own value is the first of them, or
 * all of them. */
static Json with_kinds(Json props) {
    const Kind *kind;
    for (size_t at = 0; (kind = next_kind(DIALECT_GRAPH, &at));) {
        for (size_t i = 0; i < kind->nparams; i++) {
            props = add_beside(props, &kind->params[i], kind->params[i].name);
            if (kind->params[i].alias) {
                props = add_beside(props, &kind->params[i], kind->params[i].alias);
            }
        }
    }
    for (size_t at = 0; (kind = next_kind(DIALECT_GRAPH, &at));) {
        Json value =
            any_of(param_schema(&kind->params[0], FORM_FILE), params_schema(kind, 0, FORM_FILE));
        props = json_object_with(props, kind->name, described(value, kind->help));
    }
    return props;
}

static Json kind_names(DialectId dialect) {
    Json a = json_array();
    const Kind *kind;
    for (size_t at = 0; (kind = next_kind(dialect, &at));) {
        a = json_array_push(a, json_string_c(kind->name));
    }
    return OBJECT(KEY("enum", a));
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
    props = json_object_with(
        props, "uses",
        described(kind_names(DIALECT_GRAPH), "the kind; its parameters are under `with`"));
    /* One of the keys that say what a node does. */
    Json says = json_array();
    const Kind *kind;
    for (size_t at = 0; (kind = next_kind(DIALECT_GRAPH, &at));) {
        Json key = ARRAY(json_string_c(kind->name));
        says = json_array_push(says, OBJECT(KEY("required", key)));
    }
    says = json_array_push(says, parsed("{\"required\":[\"run\"]}"));
    says = json_array_push(says, parsed("{\"required\":[\"uses\"]}"));
    return OBJECT_ADD(closed_object(with_kinds(props)),
                      KEY("required", body ? json_none() : parsed("[\"name\"]")),
                      KEY("oneOf", says));
}

/* ---- a graph ---- */

static Json state_schema(void) {
    Json reduce =
        any_of(OBJECT(KEY("enum", words_array(reduce_names))),
               described(parsed("{\"type\":\"string\"}"), "a jq expression over $old and $new"));
    Json key = any_of(closed_object(OBJECT(KEY("default", json_object()), KEY("reduce", reduce))),
                      described(json_object(), "a default value"));
    return OBJECT(KEY("type", parsed("[\"object\",\"null\"]")), KEY("additionalProperties", key));
}

/* What a file says of itself that is a kind from outside. */
static const Property kind_properties[] = {
    {"kind", TEXT, "the file is a kind of this name, for others to use"},
    {"about", TEXT, "what the kind does, for people"},
    {"inputs", "{\"type\":[\"object\",\"null\"]}", "what it takes: a JSON Schema of an object"},
    {"outputs", "{\"type\":[\"object\",\"null\"]}", "what it gives back: keys with jq expressions"},
    {0},
};

/* A file: the schema of what is in it, which names others under $defs. */
static Json file_schema(const char *title, Json props, const char *required, Json defs) {
    Json own = properties(kind_properties);
    props = json_object_merge(props, own);
    json_unref(own);
    return OBJECT(KEY("$schema", "https://json-schema.org/draft/2020-12/schema"),
                  KEY("title", title), KEY("type", "object"), KEY("properties", props),
                  KEY("additionalProperties", json_bool(false)),
                  KEY("required", ARRAY(json_string_c(required))), KEY("$defs", defs));
}

static Json graph_schema(void) {
    Json stores =
        described(OBJECT(KEY("enum", words_array(checkpointers))), config_properties[0].help);
    Json config = json_object_with(properties(config_properties), "checkpointer", stores);
    Json defs =
        OBJECT(KEY("node", node_schema(false)), KEY("body", node_schema(true)),
               KEY("edge", OBJECT_ADD(closed_object(properties(edge_properties)),
                                      KEY("required", parsed("[\"from\",\"to\"]")))),
               KEY("config",
                   OBJECT_ADD(closed_object(config), KEY("type", parsed("[\"object\",\"null\"]")))),
               KEY("retry", any_of(parsed("{\"type\":\"integer\",\"minimum\":1}"),
                                   closed_object(properties(retry_properties)))),
               KEY("interrupt", parsed(interrupt_schema)), KEY("goto", parsed(target_schema)),
               KEY("rule", parsed(rule_schema)), KEY("names", parsed(name_or_names)),
               KEY("duration", parsed(duration_schema)));
    Json props = json_object_with(properties(graph_properties), "state",
                                  described(state_schema(), graph_properties[2].help));
    return file_schema("A Pawl workflow: nodes and edges", props, "nodes", defs);
}

/* ---- tasks and steps ---- */

/* What stands under `config` for a kind is in $defs as config_KIND. */
static Json with_configs(Json defs, DialectId dialect, Form form) {
    char name[100];
    const Kind *kind;
    for (size_t at = 0; (kind = next_kind(dialect, &at));) {
        size_t from = kind_config_start(kind);
        Json schema = params_schema(kind, from, form);
        if (form == FORM_TASK) { /* configVars may give what is required */
            schema = json_object_with(schema, "type", parsed("[\"object\",\"null\"]"));
        } else {
            schema = with_required(schema, kind->params + from, kind->nparams - from);
        }
        snprintf(name, sizeof name, "config_%s", kind->name);
        defs = json_object_with(defs, name, described(schema, kind->help));
    }
    return defs;
}

/* For each kind: if `key` names it, then `config` is that of the kind. */
static Json with_rules(Json schema, DialectId dialect, const char *key) {
    Json rules = json_array();
    const Kind *kind;
    for (size_t at = 0; (kind = next_kind(dialect, &at));) {
        Json is = OBJECT(KEY(key, OBJECT(KEY("const", kind->name))));
        Json ref = json_string_fmt("#/$defs/config_%s", kind->name);
        Json config = OBJECT(KEY("config", OBJECT(KEY("$ref", ref))));
        rules = json_array_push(rules, OBJECT(KEY("if", OBJECT(KEY("properties", is))),
                                              KEY("then", OBJECT(KEY("properties", config)))));
    }
    return json_object_with(schema, "allOf", rules);
}

/* ---- tasks ---- */

#define TASK_LIST "{\"type\":[\"array\",\"null\"],\"items\":" REF("task") "}"
#define QUERIES   "{\"type\":[\"object\",\"null\"],\"additionalProperties\":" TEXT "}"

static const Property task_properties[] = {
    {"name", TEXT, "the kind"},
    {"id", TEXT, "its key in `tasks`, for the queries of others"},
    {"title", TEXT, "for people; with placeholders"},
    {"config", "{\"type\":[\"object\",\"null\"]}", "what the kind takes"},
    {"configVars", QUERIES, "fields of `config` that are queries over the variables"},
    {"timeout", REF("duration"), "how long it may take"},
    {"if", "{}", "a query: the task runs only if it gives true"},
    {0},
};

static const Property test_properties[] = {
    {"id", TEXT, "what the test is called by programs"},
    {"name", TEXT, "what it is called by people; the name of the file unless given"},
    {"description", TEXT, "for people"},
    {"version", "{}", "for people"},
    {"tags", "{}", "for people"},
    {"timeout", REF("duration"), "how long the tasks may take; cleanup is not counted"},
    {"config", "{\"type\":[\"object\",\"null\"]}", "variables and their defaults"},
    {"configVars", QUERIES, "variables that are queries over others"},
    {"tasks", TASK_LIST, "what it does, in order, up to the first failure"},
    {"cleanupTasks", TASK_LIST, "what is done in the end, whatever happened"},
    {"schedule", "{\"type\":[\"object\",\"null\"]}", "when it is to be run; read and kept"},
    {"kinds", "{\"type\":[\"string\",\"array\",\"null\"],\"items\":{\"type\":\"string\"}}",
     "folders of kinds from outside, relative to this file"},
    {0},
};

/* The keys of the loader's own list: a row may be missing, a key may not. */
static Json listed_properties(const char *const *keys, const Property *rows) {
    Json all = properties(rows), o = json_object();
    for (; *keys; keys++) {
        Json schema = json_object_get_c(all, *keys);
        o = json_object_with(o, *keys, json_is_none(schema) ? json_object() : json_ref(schema));
    }
    json_unref(all);
    return o;
}

static Json tasks_schema(void) {
    Json props = json_object_with(listed_properties(task_keys, task_properties), "name",
                                  described(kind_names(DIALECT_TASKS), task_properties[0].help));
    Json task = OBJECT_ADD(closed_object(props), KEY("required", parsed("[\"name\"]")));
    Json defs = OBJECT(KEY("task", with_rules(task, DIALECT_TASKS, "name")));
    defs = with_configs(defs, DIALECT_TASKS, FORM_TASK);
    defs = json_object_with(defs, "duration", parsed(duration_schema));
    return file_schema("A Pawl test: tasks", listed_properties(test_keys, test_properties), "tasks",
                       defs);
}

/* ---- pipelines ---- */

#define LABEL "{\"type\":[\"string\",\"number\",\"boolean\"],\"minLength\":1}"

static const Property step_properties[] = {
    {"type", TEXT, "what runs it"},
    {"id", "{\"type\":[\"string\",\"number\"],\"pattern\":\"^[A-Za-z0-9_.-]{1,200}$\"}",
     "the key of its result in `steps`; made from `name` unless given"},
    {"name", TEXT, "for people"},
    {"description", TEXT, "for people"},
    {"config", "{\"type\":\"object\"}", "what the type takes"},
    {"timeout", REF("duration"), "how long it may take"},
    {"on_success", "{\"type\":\"string\",\"pattern\":\"^(next|stop|merge:.+)$\"}",
     "next (unless given), stop or merge:BRANCH"},
    {"on_failure", "{\"type\":\"string\",\"pattern\":\"^(next|stop|trigger:.+)$\"}",
     "next, stop (unless given) or trigger:CARD"},
    {"continue_in_context", "{\"type\":\"boolean\"}",
     "true: the next step finds the home folder as this one leaves it; false: this one finds it "
     "empty"},
    {"requires",
     "{\"anyOf\":[{\"type\":\"array\",\"minItems\":1,\"items\":" LABEL "},"
     "{\"type\":\"object\",\"minProperties\":1,\"additionalProperties\":" LABEL "}]}",
     "labels that a runner must have"},
    {0},
};

static const Property trigger_properties[] = {
    {"type", "{\"enum\":[\"push\",\"card_complete\"]}", "what starts the pipeline"},
    {"config",
     "{\"type\":\"object\",\"additionalProperties\":false,"
     "\"properties\":{\"branches\":" REF("names") "}}",
     "of push: the branches, which may be patterns"},
    {"on_pass", "{\"enum\":[\"merge\",\"nothing\"]}", "what is done with the card's branch"},
    {"on_fail", "{\"enum\":[\"fail\",\"reject\",\"nothing\"]}", "what becomes of the card"},
    {0},
};

static const Property pipeline_properties[] = {
    {"name", TEXT, "the name of the pipeline; that of the file unless given"},
    {"description", TEXT, "for people"},
    {"timeout", REF("duration"), "how long a run may take"},
    {"steps", "{\"type\":\"array\",\"minItems\":1,\"items\":" REF("step") "}",
     "what it does, in order"},
    {"triggers", "{\"type\":[\"array\",\"null\"],\"items\":" REF("trigger") "}",
     "what starts it; checked and kept"},
    {"kinds", REF("names"), "folders of kinds from outside, relative to this file"},
    {0},
};

static Json pipeline_schema(void) {
    Json props = json_object_with(properties(step_properties), "type",
                                  described(kind_names(DIALECT_PIPELINE), step_properties[0].help));
    Json step =
        OBJECT_ADD(closed_object(props), KEY("required", parsed("[\"type\",\"config\"]")),
                   KEY("anyOf", parsed("[{\"required\":[\"name\"]},{\"required\":[\"id\"]}]")));
    Json defs = OBJECT(KEY("step", with_rules(step, DIALECT_PIPELINE, "type")),
                       KEY("trigger", OBJECT_ADD(closed_object(properties(trigger_properties)),
                                                 KEY("required", parsed("[\"type\"]")))));
    defs = with_configs(defs, DIALECT_PIPELINE, FORM_FILE);
    defs = OBJECT_ADD(defs, KEY("names", parsed(name_or_names)),
                      KEY("duration", parsed(duration_schema)));
    return file_schema("A Pawl pipeline: steps", properties(pipeline_properties), "steps", defs);
}

/* ---- the whole ---- */

Json flow_schema(const char *dialect) {
    return strcmp(dialect, "graph") == 0      ? graph_schema()
           : strcmp(dialect, "tasks") == 0    ? tasks_schema()
           : strcmp(dialect, "pipeline") == 0 ? pipeline_schema()
                                              : json_none();
}
