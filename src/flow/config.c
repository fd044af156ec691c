#include "config.h"

#include "json_print.h"
#include "placeholder.h"

#include <stdlib.h>
#include <string.h>

typedef struct Filling {
    const Node *node;
    const ConfigSource *source;
    Error *err;
    size_t room; /* of CONFIG_TEXT_MAX */
} Filling;

/* ---- what placeholders stand for ---- */

static Json step_into(Json value, const char *name, size_t len) {
    Json key = json_string_valid(name, len), found = json_none();
    if (json_kind(value) == JSON_OBJECT) {
        found = json_object_get(value, key);
    } else if (json_kind(value) == JSON_ARRAY && len < 10 && strspn(name, "0123456789") >= len) {
        found = json_array_get(value, (size_t)strtoul(name, NULL, 10));
    }
    json_unref(key);
    return found;
}

/* The variable of that name, or else what is at that path; borrowed, JSON_NONE when there is none. */
static Json find_variable(Json vars, const char *name, size_t len) {
    Json found = step_into(vars, name, len);
    if (!json_is_none(found)) return found;
    for (const char *p = name, *end = name + len; p < end && !json_is_none(vars);) {
        const char *dot = memchr(p, '.', (size_t)(end - p));
        size_t part = (size_t)((dot ? dot : end) - p);
        vars = step_into(vars, p, part);
        p += part + 1;
    }
    return vars;
}

static int by_text(const void *key, const void *item) {
    return json_string_compare(*(const Json *)key, ((const struct Placeholder *)item)->text);
}

/* The first output; JSON_NONE when there is none, or, with the error set, when it fails. */
static bool run_query(Filling *f, const Expr *query, Json *out) {
    Error err = ERROR_INIT;
    *out = f->source->eval(f->source->ctx, query, f->source->vars, &err);
    if (err.code != ERR_NONE) {
        json_clear(out);
        if (f->err) *f->err = err;
        return false;
    }
    return true;
}

/* What a placeholder stands for, given; JSON_NONE when it is to stay as it is. */
static bool find_value(Filling *f, const char *text, const TextPart *part, Json *out) {
    const char *inside = text + part->from;
    size_t len = part->to - part->from;
    const Task *task = f->node->task;
    *out = json_none();
    if (part->kind == PART_NAME) *out = json_ref(find_variable(f->source->vars, inside, len));
    if (part->kind != PART_QUERY || !task->nplaceholders) return true;
    Json key = json_string_valid(inside, len);
    const struct Placeholder *found =
        bsearch(&key, task->placeholders, task->nplaceholders, sizeof *task->placeholders, by_text);
    json_unref(key);
    return !found || !found->query || run_query(f, found->query, out);
}

/* ---- filling in ---- */

/* Strings as they are, the rest as JSON. */
static bool add_value(Filling *f, Buf *out, Json value) {
    bool string = json_kind(value) == JSON_STRING;
    size_t before = out->len;
    JsonPrintOptions options = {.max_bytes = before + f->room + 1};
    if (!string) json_print(value, &options, out);
    size_t len = string ? json_string_len(value) : out->len - before;
    if (len > f->room) {
        return error_set(f->err, ERR_LIMIT,
                         "What is put in place of placeholders is longer than %d MB; that is the "
                         "limit.",
                         CONFIG_TEXT_MAX >> 20);
    }
    if (string) buf_add(out, json_string_data(&value), len);
    f->room -= len;
    return true;
}

/* A string that is one placeholder becomes the value itself, whatever that is. */
static bool fill_string(Filling *f, Json string, Json *out) {
    const char *text = json_string_data(&string);
    size_t len = json_string_len(string);
    TextPart part;
    *out = json_ref(string);
    if (!has_placeholder(text, len)) return true;
    Buf filled = BUF_INIT;
    bool fine = true;
    for (size_t at = 0; fine && next_part(text, len, &at, &part);) {
        Json value;
        fine = find_value(f, text, &part, &value);
        bool all = part.at == 0 && at == len;
        if (fine && all && (part.kind == PART_NAME || part.kind == PART_QUERY)) {
            if (!json_is_none(value)) json_put(out, value);
            return true;
        }
        if (fine && !json_is_none(value)) {
            fine = add_value(f, &filled, value);
        } else if (fine && part.kind == PART_TEXT) {
            buf_add(&filled, text + part.from, part.to - part.from);
        } else if (fine) {
            buf_add(&filled, text + part.at, part.end - part.at);
        }
        json_unref(value);
    }
    json_put(out, fine ? json_string(filled.data ? filled.data : "", filled.len) : json_none());
    buf_clear(&filled);
    return fine;
}

/* Of a value of the file, which is at most FLOW_DEPTH_MAX deep. */
static bool fill(Filling *f, Json value, Json *out) {
    JsonKind kind = json_kind(value);
    if (kind == JSON_STRING) return fill_string(f, value, out);
    *out = kind == JSON_ARRAY    ? json_array()
           : kind == JSON_OBJECT ? json_object()
                                 : json_ref(value);
    bool fine = true;
    Json key, item, filled;
    for (size_t i = 0; fine && kind == JSON_ARRAY && i < json_array_len(value); i++) {
        fine = fill(f, json_array_get(value, i), &filled);
        *out = fine ? json_array_push(*out, filled) : *out;
    }
    for (size_t pos = 0;
         fine && kind == JSON_OBJECT && json_object_next(value, &pos, &key, &item);) {
        fine = fill(f, item, &filled);
        *out = fine ? json_object_set(*out, json_ref(key), filled) : *out;
    }
    if (!fine) json_clear(out);
    return fine;
}

bool config_text(const Node *node, Json text, const ConfigSource *source, Buf *out, Error *err) {
    Filling f = {node, source, err, CONFIG_TEXT_MAX};
    Json filled;
    if (!fill(&f, text, &filled)) return false;
    f.room = CONFIG_TEXT_MAX;
    bool fine = add_value(&f, out, filled);
    json_unref(filled);
    return fine;
}

/* ---- whole configs ---- */

static bool resolve(Filling *f, Param *out) {
    const Kind *kind = f->node->kind;
    const Task *task = f->node->task;
    Json value;
    for (size_t i = 0; i < kind->nparams; i++) {
        if (!f->node->params[i].open) continue;
        if (!fill(f, f->node->params[i].value, &value)) {
            error_wrap(f->err, "`%s`", kind->params[i].name);
            return false;
        }
        json_put(&out[i].value, value);
    }
    /* The query of configVars takes the place of the value, unless it gives nothing. */
    for (size_t i = 0; i < task->nvars; i++) {
        Param *param = &out[task->vars[i].param];
        if (!run_query(f, task->vars[i].query, &value)) {
            error_wrap(f->err, "`%s` in configVars", kind->params[task->vars[i].param].name);
            return false;
        }
        if (json_kind(value) > JSON_NULL) {
            json_put(&param->value, value);
            param->open = true;
        }
    }
    for (size_t i = 0; i < kind->nparams; i++) {
        const ParamInfo *info = &kind->params[i];
        if (info->required && json_is_none(out[i].value)) {
            return error_set(f->err, ERR_DATA,
                             "`%s` is missing: its query in configVars gives nothing.", info->name);
        }
        if (out[i].open) {
            value = json_take(&out[i].value);
            bool fine = param_read(info, value, true, &out[i], f->err);
            json_unref(value);
            out[i].open = false;
            if (!fine) return false;
        }
    }
    return true;
}

bool config_resolve(const Node *node, const ConfigSource *source, Param *out, Error *err) {
    Filling f = {node, source, err, CONFIG_TEXT_MAX};
    for (size_t i = 0; i < node->kind->nparams; i++) {
        out[i] = node->params[i];
        json_ref(out[i].value);
    }
    if (resolve(&f, out)) return true;
    config_clear(node, out);
    return false;
}

void config_clear(const Node *node, Param *params) {
    for (size_t i = 0; i < node->kind->nparams; i++) json_clear(&params[i].value);
}
