#include "config.h"

#include "json_build.h"
#include "json_print.h"
#include "kind_inputs.h"
#include "number_text.h"
#include "placeholder.h"

#include <stdlib.h>
#include <string.h>

typedef struct Filling {
    const Node *node;
    const ConfigSource *source;
    Buf *out;
} Filling;

/* ---- titles ---- */

static int by_text(const void *key, const void *item) {
    return json_string_compare(*(const Json *)key, ((const struct Placeholder *)item)->text);
}

static bool has_room(const Filling *f) {
    return f->out->len < CONFIG_TEXT_MAX;
}

/* As Go's %v writes it: lists are [1 2], objects map[a:1 b:2] in the order of their keys, null is <nil>, doubles 3 and
 * 1e+21. Recursion is bounded by TITLE_DEPTH_MAX. */
static void add_value(Filling *f, Json value, int depth) {
    JsonKind kind = json_kind(value);
    if (!has_room(f) || depth > TITLE_DEPTH_MAX) return;
    if (kind == JSON_NULL) {
        buf_adds(f->out, "<nil>");
    } else if (kind == JSON_STRING) {
        buf_add(f->out, json_string_data(&value), json_string_len(value));
    } else if (kind == JSON_ARRAY) {
        buf_addc(f->out, '[');
        for (size_t i = 0; i < json_array_len(value) && has_room(f); i++) {
            if (i) buf_addc(f->out, ' ');
            add_value(f, json_array_get(value, i), depth + 1);
        }
        buf_addc(f->out, ']');
    } else if (kind == JSON_OBJECT) {
        Json keys = json_object_keys(value, true);
        buf_adds(f->out, "map[");
        for (size_t i = 0; i < json_array_len(keys) && has_room(f); i++) {
            Json key = json_array_get(keys, i);
            if (i) buf_addc(f->out, ' ');
            buf_add(f->out, json_string_data(&key), json_string_len(key));
            buf_addc(f->out, ':');
            add_value(f, json_object_get(value, key), depth + 1);
        }
        buf_addc(f->out, ']');
        json_unref(keys);
    } else if (number_is_double(value)) {
        add_shortest(json_to_double(value), f->out);
    } else {
        json_print(value, NULL, f->out);
    }
}

/* What the query gives, `?` when that is nothing or it is no query, the sentence of its error. */
static void add_query(Filling *f, const char *text, size_t len) {
    const Task *task = f->node->task;
    Json key = json_string_valid(text, len);
    const struct Placeholder *found = task->nplaceholders
                                          ? bsearch(&key, task->placeholders, task->nplaceholders,
                                                    sizeof *task->placeholders, by_text)
                                          : NULL;
    Error err = ERROR_INIT;
    Json value = found && found->query
                     ? f->source->eval(f->source->ctx, found->query, f->source->vars, &err)
                     : json_none();
    if (err.code != ERR_NONE) {
        buf_adds(f->out, err.msg);
    } else if (json_is_none(value)) {
        buf_addc(f->out, '?');
    } else {
        add_value(f, value, 0);
    }
    json_unref(value);
    json_unref(key);
}

void config_text(const Node *node, Json title, const ConfigSource *source, Buf *out) {
    Filling f = {node, source, out};
    const char *text = json_string_data(&title);
    size_t len = json_string_len(title);
    TextPart part;
    for (size_t at = 0; next_part(text, len, &at, &part);) {
        Json name = json_string_valid(text + part.from, part.to - part.from);
        Json value = part.kind == PART_NAME ? json_object_get(source->vars, name) : json_none();
        if (part.kind == PART_QUERY) {
            add_query(&f, text + part.from, part.to - part.from);
        } else if (!json_is_none(value)) {
            add_value(&f, value, 0);
        } else {
            buf_add(out, text + part.at, part.end - part.at);
        }
        json_unref(name);
    }
    if (!has_room(&f)) out->len = CONFIG_TEXT_MAX;
}

/* ---- whole configs ---- */

bool query_error_is_value(const Error *err) {
    return err->code == ERR_RAISED || err->code == ERR_DATA;
}

/* What null means for a field that has a value already: texts, numbers and booleans stay, lists and objects become
 * empty. JSON_NONE: it stays. */
static Json emptied(const Kind *kind, const ParamInfo *info) {
    switch (info->type) {
    case PARAM_WORDS:
    case PARAM_STATUSES:
    case PARAM_OBJECTS: return json_array();
    case PARAM_OBJECT: return json_object();
    case PARAM_VALUE: return kind->outside ? json_none() : json_null();
    default: return json_none();
    }
}

static bool takes_object(const ParamInfo *info) {
    return info->type == PARAM_OBJECT || info->type == PARAM_VALUE;
}

static bool is_integer_field(const ParamInfo *info) {
    return info->type == PARAM_INT || info->type == PARAM_COUNT || info->type == PARAM_STATUSES;
}

/* A double that is the value of a field is its decimal text from now on, which an integer does not take. Lengths of
 * time are taken with fractions, and numbers by kinds from outside that want them: large ones are exact there.
 * Consumes *value. */
static bool settle_double(const Kind *kind, const ParamInfo *info, Json *value, Error *err) {
    Buf text = BUF_INIT;
    add_decimal(json_to_double(*value), &text);
    bool whole = text.len == strspn(text.data, "-0123456789"), fine = true;
    Json name = json_string_c(info->name);
    bool wanted =
        kind->outside && info->type == PARAM_VALUE && input_fits(kind->outside, name, *value, NULL);
    json_unref(name);
    if (is_integer_field(info) && whole) {
        fine = error_set(err, ERR_DATA,
                         "`%s` must be an integer, and its query in configVars gives the double "
                         "%s.0.",
                         info->name, text.data);
        json_clear(value);
    } else if (wanted && whole) {
        json_put(value, json_number_parse(text.data, text.len));
    } else if (!wanted && !is_integer_field(info) && info->type != PARAM_DURATION) {
        json_put(value, json_string(text.data, text.len));
    }
    buf_clear(&text);
    return fine;
}

/* The query of configVars takes the place of the field; what it gives is read afterwards. */
static bool apply(const Kind *kind, const struct TaskVar *var, const ConfigSource *source,
                  Param *param, Error *err) {
    const ParamInfo *info = &kind->params[var->param];
    Error failed = ERROR_INIT;
    Json value = source->eval(source->ctx, var->query, source->vars, &failed);
    if (failed.code != ERR_NONE) {
        json_unref(value);
        if (!query_error_is_value(&failed) || !takes_object(info)) {
            if (err) *err = failed;
            error_wrap(err, "`%s` in configVars", info->name);
            return false;
        }
        value = json_object();
    }
    bool null = json_kind(value) == JSON_NULL;
    if (null) value = emptied(kind, info);
    if (json_is_none(value)) return true;
    if (number_is_double(value) && !settle_double(kind, info, &value, err)) return false;
    value = with_big_as_text(value);
    if (!null && json_kind(value) == JSON_OBJECT && json_kind(param->value) == JSON_OBJECT) {
        Json added = value;
        value = json_object_merge(json_ref(param->value), added);
        json_unref(added);
    }
    json_put(&param->value, value);
    param->open = true;
    return true;
}

static bool resolve(const Node *node, const ConfigSource *source, Param *out, Error *err) {
    const Kind *kind = node->kind;
    const Task *task = node->task;
    for (size_t i = 0; i < task->nvars; i++) {
        if (!apply(kind, &task->vars[i], source, &out[task->vars[i].param], err)) return false;
    }
    for (size_t i = 0; i < kind->nparams; i++) {
        const ParamInfo *info = &kind->params[i];
        if (info->required && json_is_none(out[i].value)) {
            return error_set(err, ERR_DATA,
                             "`%s` is missing: its query in configVars gives nothing.", info->name);
        }
        if (out[i].open) {
            Json value = json_take(&out[i].value);
            bool fine = param_read(info, value, true, &out[i], err);
            json_unref(value);
            out[i].open = false;
            if (!fine) return false;
        }
    }
    return true;
}

bool config_resolve(const Node *node, const ConfigSource *source, Param *out, Error *err) {
    for (size_t i = 0; i < node->kind->nparams; i++) {
        out[i] = node->params[i];
        json_ref(out[i].value);
    }
    if (resolve(node, source, out, err)) return true;
    config_clear(node, out);
    return false;
}

void config_clear(const Node *node, Param *params) {
    for (size_t i = 0; i < node->kind->nparams; i++) json_clear(&params[i].value);
}
