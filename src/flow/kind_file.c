/* kind_file.c - kinds from outside: files that others use by their names.
 *
 *     kind: check_finality                      check_finality.yaml in a folder of kinds
 *     about: Waits until the chain is final.
 *     inputs: {type: object, properties: {epochs: {type: integer, default: 1}}}
 *     outputs: {epoch: .epoch}
 *     tasks: [...]                              or nodes:, steps:
 *
 * A name that no row of kind_rows.h has is looked for as NAME.yaml, by opening it: in the folders that the reader names,
 * then in those of the file that uses it, then in those of the file that named that one, and so on. The folders of a
 * file are the ones that it says itself (`config.kinds` of a graph, `kinds` of a test or a pipeline) and `.pawl/kinds`
 * beside it; of a kind, first the folder that it is in. No folder is listed, so a folder of many costs nothing; only
 * to suggest a name for one that is not found.
 *
 * The file is loaded once, whatever its dialect, as a part of the workflow: its text is in the definition, and the same
 * look-up among the stored texts finds it again. For each dialect that it is used in a Kind is made of it, with a
 * parameter for each input. */
#include "loader.h"

#include "json_print.h"
#include "kind_inputs.h"
#include "mem.h"
#include "path.h"
#include "suggest.h"

#include <stdio.h>
#include <string.h>

enum { KIND_NAME_MAX = 100 };

const char *const kind_file_keys[] = {"kind", "about", "inputs", "outputs", NULL};

typedef struct KindFile {
    OutsideKind outside;
    const Kind *kinds[DIALECT_COUNT]; /* made when first used there */
    bool bad;                         /* it has errors, which were reported */
} KindFile;

/* ---- names ---- */

static bool is_kind_name(const char *text, size_t len) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return len > 0 && len <= KIND_NAME_MAX && text[0] != '.' && strspn(text, allowed) == len;
}

/* The name that a file of kinds stands for; 0 when it is none. */
size_t kind_name_len(const char *file) {
    size_t len = strlen(file);
    bool yaml = len > 5 && strcmp(file + len - 5, ".yaml") == 0;
    char name[KIND_NAME_MAX + 1];
    if (!yaml || len - 5 > KIND_NAME_MAX) return 0;
    memcpy(name, file, len - 5);
    name[len - 5] = '\0';
    return is_kind_name(name, len - 5) ? len - 5 : 0;
}

/* ---- what a schema can say ---- */

static bool is_count(Json value) {
    return json_tag(value) == JSON_TAG_INT && value.i >= 0;
}

static bool is_number(Json value) {
    return json_kind(value) == JSON_NUMBER;
}

static const char *const type_names[] = {"string", "number", "integer", "boolean",
                                         "array",  "object", "null",    NULL};

static void check_type(Loader *ld, const YamlNode *value) {
    const YamlNode *word;
    for (size_t at = 0; (word = next_name(ld, value, "`type`", &at));) {
        if (!has_name(type_names, word->text, word->len)) {
            report_at(ld->reporter, word->spot,
                      "There is no type `%s`; the types are string, number, integer, boolean, "
                      "array, object and null%s",
                      shown(word->text, word->len),
                      did_you_mean(word->text, word->len, type_names));
        }
    }
}

/* Words whose value is a number. */
static const struct {
    const char *name;
    bool (*fits)(Json value);
    const char *must;
} number_words[] = {
    {"minimum", is_number, "a number"},        {"maximum", is_number, "a number"},
    {"minLength", is_count, "a whole number"}, {"maxLength", is_count, "a whole number"},
    {"minItems", is_count, "a whole number"},  {"maxItems", is_count, "a whole number"},
};

static const char *const object_words[] = {
    "type", "properties", "required", "additionalProperties", "title", "description", NULL};
static const char *const value_words[] = {
    "enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "items", NULL};
static const char *const default_word[] = {"default", NULL};

/* depth 0: the inputs as a whole; 1: one of them. Recursion is bounded by the depth of the file. */
static void check_schema(Loader *ld, const YamlNode *schema, int depth) {
    static const char *const what[] = {"`inputs`", "an input", "what is inside an input"};
    if (!expect_map(ld, schema, depth ? "A schema" : "`inputs`")) return;
    const char *known[KEYS_MAX];
    size_t n = add_keys(known, 0, (KeyList){.names = object_words});
    if (depth) n = add_keys(known, n, (KeyList){.names = value_words});
    if (depth == 1) n = add_keys(known, n, (KeyList){.names = default_word});
    check_keys(ld, schema, (KeyList){.names = known}, what[depth < 2 ? depth : 2]);
    const YamlNode *type = yaml_get(schema, "type"), *words = yaml_get(schema, "enum");
    const YamlNode *items = yaml_get(schema, "items"), *required = yaml_get(schema, "required");
    const YamlNode *properties = key_map(ld, schema, "properties");
    bool closed;
    if (type) check_type(ld, type);
    if (type && !depth && !yaml_is(type, "object")) {
        report_at(ld->reporter, type->spot, "The inputs are an object: `type: object`.");
    }
    key_text(ld, schema, "title");
    key_text(ld, schema, "description");
    key_bool(ld, schema, "additionalProperties", &closed);
    if (depth && words && (words->kind != YAML_LIST || words->n == 0)) {
        report_at(ld->reporter, words->spot, "`enum` must be a list of values.");
    }
    for (size_t i = 0; depth && i < sizeof number_words / sizeof *number_words; i++) {
        const YamlNode *value = yaml_get(schema, number_words[i].name);
        Json number = value ? yaml_json(value) : json_none();
        if (value && !number_words[i].fits(number)) {
            report_at(ld->reporter, value->spot, "`%s` must be %s.", number_words[i].name,
                      number_words[i].must);
        }
        json_unref(number);
    }
    for (size_t at = 0; required && !yaml_is_null(required) && required->kind != YAML_LIST &&
                        next_name(ld, required, "`required`", &at);) {
        report_at(ld->reporter, required->spot, "`required` must be a list of names.");
    }
    const YamlNode *name;
    for (size_t at = 0; required && required->kind == YAML_LIST &&
                        (name = next_name(ld, required, "`required`", &at));) {
        if (!depth && !(properties && yaml_get(properties, name->text))) {
            report_at(ld->reporter, name->spot,
                      "`%s` is required, but it is not among the `properties`.",
                      shown(name->text, name->len));
        }
    }
    if (depth && items) check_schema(ld, items, depth + 1);
    for (size_t i = 0; properties && i < properties->n; i++) {
        check_schema(ld, properties->pairs[i].value, depth + 1);
    }
}

/* ---- the head of such a file ---- */

/* What the body of the kind has for itself. */
static const char *reserved_name(const Dialect *dialect) {
    return !strcmp(dialect->name, "tasks")      ? "tasks"
           : !strcmp(dialect->name, "pipeline") ? "steps"
                                                : "";
}

static void load_inputs(Loader *ld, const LoadedFile *file, const YamlNode *inputs) {
    OutsideKind *kind = &file->kind->outside;
    int col;
    yaml_line_col(inputs->spot.file, inputs->spot.at, &kind->line, &col);
    size_t errors = ld->reporter->list->errors;
    check_schema(ld, inputs, 0);
    bool fine = errors == ld->reporter->list->errors;
    Json schema = yaml_json(inputs);
    kind->inputs = json_kind(keep(ld, schema)) == JSON_OBJECT ? schema : kind->inputs;
    const YamlNode *properties = yaml_get(inputs, "properties");
    if (properties && properties->n > INPUTS_MAX) {
        report_at(ld->reporter, properties->spot, "A kind can have %d inputs at most.", INPUTS_MAX);
    }
    for (size_t i = 0; properties && properties->kind == YAML_MAP && i < properties->n; i++) {
        const YamlNode *name = properties->pairs[i].key, *value = properties->pairs[i].value;
        const YamlNode *otherwise = yaml_get(value, "default");
        const char *reserved = reserved_name(file->dialect);
        if (yaml_is(name, reserved)) {
            report_at(ld->reporter, name->spot,
                      "An input cannot be called `%s`: that is what the %s themselves are.",
                      reserved, reserved);
        }
        if (name->len == 0 || memchr(name->text, '\0', name->len)) {
            report_at(ld->reporter, name->spot, "An input needs a name.");
        }
        if (!otherwise || !fine) continue;
        Json key = json_string_valid(name->text, name->len), given = yaml_json(otherwise);
        Error err = ERROR_INIT;
        if (!input_fits(kind, key, given, &err)) {
            report_at(ld->reporter, otherwise->spot, "The default does not fit: %s.", err.msg);
        }
        json_unref(given);
        json_unref(key);
    }
}

bool load_kind_head(Loader *ld, LoadedFile *file, const YamlNode *root) {
    const YamlPair *said = yaml_pair(root, "kind");
    if (!said && !file->kind_name) return true;
    if (!said) {
        report_at(ld->reporter, root->spot,
                  "This file is used as a kind, and a kind says its name: `kind: %s`.",
                  file->kind_name);
        return false;
    }
    const char *name = field_text(ld, said->value, "`kind`"), *base = strrchr(file->path, '/');
    base = base ? base + 1 : file->path;
    if (!name) return false;
    size_t own = kind_name_len(base);
    if (strcmp(file->path, "-") != 0 && (own != said->value->len || memcmp(base, name, own) != 0)) {
        report_at(ld->reporter, said->value->spot,
                  "A kind is found by the name of its file, so `%s` has to be in `%s.yaml`.",
                  shown(name, said->value->len), shown(name, said->value->len));
    }
    const YamlNode *inputs = yaml_get(root, "inputs");
    file->kind = arena_alloc(ld->arena, sizeof *file->kind);
    OutsideKind *kind = &file->kind->outside;
    const char *about = key_text(ld, root, "about");
    int col;
    *kind = (OutsideKind){.name = name, .about = about ? about : "a kind from outside"};
    kind->file = file->path;
    yaml_line_col(said->key->spot.file, said->key->spot.at, &kind->line, &col);
    kind->inputs = keep(ld, json_object());
    if (inputs && !yaml_is_null(inputs)) load_inputs(ld, file, inputs);
    return true;
}

void load_kind_end(Loader *ld, LoadedFile *file, const YamlNode *root) {
    if (!file->kind) return;
    const YamlNode *outputs = key_map(ld, root, "outputs");
    OutsideKind *kind = &file->kind->outside;
    struct KindOutput *items =
        arena_alloc(ld->arena, (outputs ? outputs->n + 1 : 1) * sizeof *items);
    bool queries = !strcmp(file->dialect->name, "tasks");
    for (size_t i = 0; outputs && i < outputs->n; i++) {
        const YamlPair *pair = &outputs->pairs[i];
        items[i].name = keep(ld, json_string_valid(pair->key->text, pair->key->len));
        items[i].expr =
            queries ? load_query(ld, pair->value, NULL) : load_expr(ld, pair->value, (Scope){0});
    }
    kind->outputs = items;
    kind->noutputs = outputs ? outputs->n : 0;
    if (file->graph) {
        kind->graph = &file->graph->graph;
        file->graph->graph.outside = kind;
    }
}

void kind_is_bad(LoadedFile *file) {
    if (file->kind) file->kind->bad = true;
}

/* ---- folders ---- */

void load_kind_folders(Loader *ld, LoadedFile *file, const YamlNode *map) {
    const YamlNode *folders = yaml_get(map, "kinds"), *name;
    if (!folders || yaml_is_null(folders)) return;
    size_t n = folders->kind == YAML_LIST ? folders->n : 1;
    file->kinds = arena_alloc(ld->arena, (n + 1) * sizeof *file->kinds);
    for (size_t at = 0; (name = next_name(ld, folders, "`kinds`", &at));) {
        if (field_text(ld, name, "`kinds`") && name->len) file->kinds[file->nkinds++] = name->text;
    }
}

/* The folders in which a file finds kinds, one after the other. */
typedef struct Folders {
    Loader *ld;
    const LoadedFile *file; /* whose turn it is */
    size_t given, own;      /* of the reader's, of the file's: behind us */
    int stage;              /* of the file: BESIDE, the last was FLOW_KIND_FOLDER */
} Folders;

enum { BESIDE = 2 };

static const char *next_folder(Folders *at) {
    const FlowReader *reader = at->ld->reader;
    if (reader && at->given < reader->nkinds) return reader->kinds[at->given++];
    while (at->file) {
        const LoadedFile *file = at->file;
        if (at->stage == 0) {
            at->stage++;
            if (file->kind || file->kind_name) return beside(at->ld, file, "");
        }
        if (at->own < file->nkinds) return beside(at->ld, file, file->kinds[at->own++]);
        if (at->stage == 1) {
            at->stage++;
            return beside(at->ld, file, FLOW_KIND_FOLDER);
        }
        *at = (Folders){at->ld, file->from, at->given, 0, 0};
    }
    return NULL;
}

const char *const *flow_kind_folders(const Flow *flow, size_t *n) {
    const FlowImpl *impl = (const FlowImpl *)flow;
    *n = impl->nkinds;
    return impl->kinds;
}

void keep_kind_folders(Loader *ld) {
    FlowImpl *flow = ld->flow;
    Folders at = {ld, flow->nfiles ? flow->files[0] : NULL, 0, 0, 0};
    size_t n = (ld->reader ? ld->reader->nkinds : 0) + 2 + (at.file ? at.file->nkinds : 0);
    flow->kinds = arena_alloc(ld->arena, n * sizeof *flow->kinds);
    flow->nkinds_given = ld->reader ? ld->reader->nkinds : 0;
    for (const char *folder; flow->nkinds < n && (folder = next_folder(&at));) {
        flow->kinds[flow->nkinds++] = arena_strndup(ld->arena, folder, strlen(folder));
    }
}

/* ---- finding one ---- */

/* The file of a kind; NULL with *found when there is one that cannot be used, which was reported. */
/* Whoever can write to a folder that is looked into by itself could have his commands done. */
static bool is_trusted(Loader *ld, const char *folder, const YamlNode *word) {
    const FlowReader *reader = ld->reader;
    Error err = ERROR_INIT;
    if (!reader || !reader->is_ours || reader->is_ours(reader->ctx, folder, &err)) return true;
    report_at(ld->reporter, word->spot,
              "The kind `%s` is not used. %s Name the folder (`config.kinds`) if you trust it.",
              word->text, err.msg);
    return false;
}

static LoadedFile *find_kind_file(const NodeContext *c, const YamlNode *word, bool *found) {
    Loader *ld = c->ld;
    Folders at = {ld, c->file, 0, 0, 0};
    for (const char *folder; (folder = next_folder(&at));) {
        size_t len = strlen(folder);
        Buf path = BUF_INIT;
        buf_printf(&path, "%s%s%s.yaml", folder, len && folder[len - 1] != '/' ? "/" : "",
                   word->text);
        char *tidy = arena_strndup(ld->arena, path.data, path.len);
        path_tidy(tidy);
        buf_clear(&path);
        LoadedFile *file =
            open_part(&(PartFile){ld, c->file, word->spot, tidy, word->text, false}, found);
        if (file && at.stage == BESIDE && !is_trusted(ld, folder, word)) {
            *found = true;
            return NULL;
        }
        if (file || *found) return file;
    }
    return NULL;
}

static const char *param_help(Json schema, const char **kept, Loader *ld) {
    Json text = json_object_get_c(schema, "description");
    if (json_kind(text) != JSON_STRING || !json_string_len(text)) return "an input of the kind";
    *kept = arena_strndup(ld->arena, json_string_data(&text), json_string_len(text));
    return *kept;
}

static ParamInfo input_param(Loader *ld, const OutsideKind *kind, DialectId dialect, Json name) {
    Json schema = input_schema(kind, name), otherwise = json_object_get_c(schema, "default");
    Json required = json_object_get_c(kind->inputs, "required");
    const char *help = NULL;
    ParamInfo info = {.name =
                          arena_strndup(ld->arena, json_string_data(&name), json_string_len(name)),
                      .type = dialect == DIALECT_GRAPH               ? PARAM_JQ
                              : schema_allows_only(schema, "string") ? PARAM_TEXT
                                                                     : PARAM_VALUE,
                      .help = param_help(schema, &help, ld)};
    for (size_t i = 0; i < json_array_len(required); i++) {
        bool named =
            json_is_none(otherwise) && json_string_is(json_array_get(required, i), info.name);
        info.required = info.required || named;
    }
    if (!json_is_none(otherwise)) {
        char *text = json_to_text(otherwise);
        info.fallback = arena_strndup(ld->arena, text, strlen(text));
        mem_free(text);
    }
    return info;
}

/* The kind as nodes of a dialect are of it. */
static const Kind *make_kind(Loader *ld, KindFile *file, DialectId dialect) {
    const OutsideKind *outside = &file->outside;
    const Kind *row = &kinds[KIND_OUTSIDE];
    Json declared = json_object_get_c(outside->inputs, "properties"), name, schema;
    size_t n = dialect == DIALECT_PIPELINE ? row->nparams : 0;
    bool tasks = outside->graph && outside->graph->scoped;
    if (file->kinds[dialect]) return file->kinds[dialect];
    Kind *kind = arena_alloc(ld->arena, sizeof *kind);
    ParamInfo *params =
        arena_alloc(ld->arena, (n + json_object_len(declared) + 1) * sizeof *params);
    if (n) memcpy(params, row->params, n * sizeof *params);
    for (size_t pos = 0; json_object_next(declared, &pos, &name, &schema);) {
        params[n++] = input_param(ld, outside, dialect, name);
    }
    *kind = (Kind){.id = KIND_OUTSIDE,
                   .name = outside->name,
                   .params = params,
                   .nparams = n,
                   .dialect = dialect,
                   .order = tasks ? INSIDE_IN_ORDER : INSIDE_AS_SAID,
                   .shape = SHAPE_FILE,
                   .result_is_object = true,
                   .help = outside->about,
                   .outside = outside};
    file->kinds[dialect] = kind;
    return kind;
}

const Kind *find_kind(const NodeContext *c, DialectId dialect, const YamlNode *word, bool *found) {
    *found = false;
    if (word->kind != YAML_SCALAR || memchr(word->text, '\0', word->len)) return NULL;
    const Kind *row = kind_find(dialect, word->text);
    if (row) {
        *found = true;
        return row;
    }
    if (!is_kind_name(word->text, word->len)) return NULL;
    LoadedFile *file = find_kind_file(c, word, found);
    if (!file) return NULL;
    *found = true;
    if (!file->kind || file->kind->bad || !file->graph) {
        report_at(c->ld->reporter, word->spot, "The kind `%s` cannot be used: %s has errors.",
                  word->text, file->path);
        return NULL;
    }
    return make_kind(c->ld, file->kind, dialect);
}

/* ---- inputs that are not declared ---- */

static size_t add_others(Loader *ld, ParamInfo *params, size_t n, DialectId dialect,
                         const YamlNode *map) {
    for (size_t i = 0; map && map->kind == YAML_MAP && i < map->n; i++) {
        const YamlNode *key = map->pairs[i].key;
        size_t from = dialect == DIALECT_PIPELINE ? kinds[KIND_OUTSIDE].nparams : 0, k = from;
        while (k < n && !yaml_is(key, params[k].name)) k++;
        if (k == n && key->len && !memchr(key->text, '\0', key->len)) {
            params[n++] = (ParamInfo){.name = arena_strndup(ld->arena, key->text, key->len),
                                      .type = dialect == DIALECT_GRAPH ? PARAM_JQ : PARAM_VALUE,
                                      .help = "an input that the kind does not declare"};
        }
    }
    return n;
}

const Kind *kind_with_more(Loader *ld, const Kind *kind, const YamlNode *a, const YamlNode *b) {
    if (!kind->outside || !inputs_take_others(kind->outside)) return kind;
    size_t most = kind->nparams + (a ? a->n : 0) + (b ? b->n : 0);
    if (most > INPUTS_MAX) {
        report_at(ld->reporter, (a ? a : b)->spot, "A kind can be given %d inputs at most.",
                  INPUTS_MAX);
        return kind;
    }
    ParamInfo *params = arena_alloc(ld->arena, (most + 1) * sizeof *params);
    if (kind->nparams) memcpy(params, kind->params, kind->nparams * sizeof *params);
    size_t n = add_others(ld, params, kind->nparams, kind->dialect, a);
    n = add_others(ld, params, n, kind->dialect, b);
    if (n == kind->nparams) return kind;
    Kind *more = arena_alloc(ld->arena, sizeof *more);
    *more = *kind;
    more->params = params;
    more->nparams = n;
    return more;
}

/* ---- what is known of inputs before anything runs ---- */

void check_input(const NodeContext *c, const Node *node, size_t i, const YamlPair *given) {
    const Kind *kind = node->kind;
    const ParamInfo *info = &kind->params[i];
    const Param *param = &node->params[i];
    if (!kind->outside || !given || param->open || json_is_none(param->value)) return;
    if (info->type == PARAM_JQ && json_kind(param->value) == JSON_STRING) return;
    if (param->expr && param->expr->foreign) return;
    Error err = ERROR_INIT;
    Json name = json_string_c(info->name);
    if (!input_fits(kind->outside, name, param->value, &err)) {
        report_at(c->ld->reporter, given->value->spot, "%s (an input of the kind `%s`, %s:%d).",
                  err.msg, kind->name, kind->outside->file, kind->outside->line);
    }
    json_unref(name);
}

/* ---- suggestions ---- */

typedef struct Nearest {
    Suggestion of;
    char best[KIND_NAME_MAX + 1];
} Nearest;

static void offer_file(void *to, const char *file) {
    Nearest *nearest = to;
    char name[KIND_NAME_MAX + 1];
    size_t len = kind_name_len(file);
    if (!len) return;
    memcpy(name, file, len);
    name[len] = '\0';
    suggestion_offer(&nearest->of, name);
    if (nearest->of.best == name) {
        memcpy(nearest->best, name, len + 1);
        nearest->of.best = nearest->best;
    }
}

const char *nearest_of_all(const NodeContext *c, DialectId dialect, const YamlNode *word) {
    Nearest nearest = {.of = suggestion_for(word->text, word->len)};
    Folders at = {c->ld, c->file, 0, 0, 0};
    const FlowReader *reader = c->ld->reader;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (is_shown(&kinds[i], dialect)) suggestion_offer(&nearest.of, kinds[i].name);
    }
    for (const char *folder; reader && reader->list && (folder = next_folder(&at));) {
        reader->list(reader->ctx, *folder ? folder : ".", offer_file, &nearest);
    }
    return did_you_mean_this(nearest.of.best);
}
