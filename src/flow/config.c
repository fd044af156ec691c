#include "config.h"

#include "json_print.h"
#include "mem.h"
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
    if (!json_is_none(found)) {
        return found;
    }
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

static const Expr *find_query(const Task *task, const char *text, size_t len) {
    Json key = json_string_valid(text, len);
    const struct Placeholder *found = task->nplaceholders
                                          ? bsearch(&key, task->placeholders, task->nplaceholders,
                                                    sizeof *task->placeholders, by_text)
                                          : NULL;
    json_unref(key);
    return found ? found->query : NULL;
}

/* The first output; JSON_NONE when there is none, or, with the error set, when it fails. */
static bool run_query(Filling *f, const Expr *query, Json *out) {
    Error err = ERROR_INIT;
    *out = f->source->eval(f->source->ctx, query, f->source->vars, &err);
    if (err.code != ERR_NONE) {
        json_clear(out);
        if (f->err) {
            *f->err = err;
        }
        return false;
    }
    return true;
}

/* What a placeholder stands for, given; JSON_NONE when it is to stay as it is. */
static bool find_value(Filling *f, const char *text, const Piece *piece, Json *out) {
    const char *inside = text + piece->from;
    size_t len = piece->to - piece->from;
    *out = json_none();
    if (piece->kind == PIECE_NAME) {
        *out = json_ref(find_variable(f->source->vars, inside, len));
        return true;
    }
    const Expr *query = piece->kind == PIECE_QUERY ? find_query(f->node->task, inside, len) : NULL;
    return !query || run_query(f, query, out);
}

/* ---- filling in ---- */

/* Strings as they are, the rest as JSON. */
static bool add_value(Filling *f, Buf *out, Json value) {
    bool string = json_kind(value) == JSON_STRING;
    size_t before = out->len;
    JsonPrintOptions options = {.max_bytes = before + f->room + 1};
    if (!string) {
        json_print(value, &options, out);
    }
    size_t len = string ? json_string_len(value) : out->len - before;
    if (len > f->room) {
        return error_set(f->err, ERR_LIMIT,
                         "What is put in place of placeholders is longer than %d MB; that is the "
                         "limit.",
                         CONFIG_TEXT_MAX >> 20);
    }
    if (string) {
        buf_add(out, json_string_data(&value), len);
    }
    f->room -= len;
    return true;
}

static bool add_piece(Filling *f, const char *text, const Piece *piece, Buf *out) {
    Json value;
    if (!find_value(f, text, piece, &value)) {
        return false;
    }
    bool fine = true;
    if (!json_is_none(value)) {
        fine = add_value(f, out, value);
    } else if (piece->kind == PIECE_TEXT) {
        buf_add(out, text + piece->from, piece->to - piece->from);
    } else {
        buf_add(out, text + piece->at, piece->end - piece->at);
    }
    json_unref(value);
    return fine;
}

static bool add_pieces(Filling *f, const char *text, size_t len, Buf *out) {
    Piece piece;
    for (size_t at = 0; next_piece(text, len, &at, &piece);) {
        if (!add_piece(f, text, &piece, out)) {
            return false;
        }
    }
    return true;
}

static bool is_one_placeholder(const char *text, size_t len) {
    Piece piece;
    size_t at = 0;
    return next_piece(text, len, &at, &piece) && at == len &&
           (piece.kind == PIECE_NAME || piece.kind == PIECE_QUERY);
}

static bool fill_whole(Filling *f, Json string, Json *out) {
    const char *text = json_string_data(&string);
    Piece piece;
    size_t at = 0;
    next_piece(text, json_string_len(string), &at, &piece);
    if (!find_value(f, text, &piece, out)) {
        return false;
    }
    *out = json_is_none(*out) ? json_ref(string) : *out;
    return true;
}

static bool fill_string(Filling *f, Json string, Json *out) {
    const char *text = json_string_data(&string);
    size_t len = json_string_len(string);
    if (!has_placeholder(text, len)) {
        *out = json_ref(string);
        return true;
    }
    if (is_one_placeholder(text, len)) {
        return fill_whole(f, string, out);
    }
    Buf filled = BUF_INIT;
    bool fine = add_pieces(f, text, len, &filled);
    *out = fine ? json_string(filled.data ? filled.data : "", filled.len) : json_none();
    buf_clear(&filled);
    return fine;
}

static bool fill(Filling *f, Json value, Json *out);

static bool fill_array(Filling *f, Json value, Json *out) {
    *out = json_array();
    for (size_t i = 0; i < json_array_len(value); i++) {
        Json item;
        if (!fill(f, json_array_get(value, i), &item)) {
            json_clear(out);
            return false;
        }
        *out = json_array_push(*out, item);
    }
    return true;
}

static bool fill_object(Filling *f, Json value, Json *out) {
    Json key, item, filled;
    *out = json_object();
    for (size_t pos = 0; json_object_next(value, &pos, &key, &item);) {
        if (!fill(f, item, &filled)) {
            json_clear(out);
            return false;
        }
        *out = json_object_set(*out, json_ref(key), filled);
    }
    return true;
}

/* Of a value of the file, which is at most FLOW_DEPTH_MAX deep. */
static bool fill(Filling *f, Json value, Json *out) {
    switch (json_kind(value)) {
    case JSON_STRING: return fill_string(f, value, out);
    case JSON_ARRAY: return fill_array(f, value, out);
    case JSON_OBJECT: return fill_object(f, value, out);
    default: *out = json_ref(value); return true;
    }
}

bool config_text(const Node *node, Json text, const ConfigSource *source, Buf *out, Error *err) {
    Filling f = {node, source, err, CONFIG_TEXT_MAX};
    Json filled;
    if (!fill(&f, text, &filled)) {
        return false;
    }
    f.room = CONFIG_TEXT_MAX;
    bool fine = add_value(&f, out, filled);
    json_unref(filled);
    return fine;
}

/* ---- whole configs ---- */

static bool fill_param(Filling *f, size_t i, Param *out) {
    const ParamInfo *info = &f->node->kind->params[i];
    Json value;
    if (!fill(f, f->node->params[i].value, &value)) {
        error_wrap(f->err, "`%s`", info->name);
        return false;
    }
    json_unref(out->value);
    out->value = value;
    return true;
}

/* The query of configVars takes the place of the value, unless it gives nothing. */
static bool set_from_query(Filling *f, const struct TaskVar *var, Param *params) {
    Json value;
    Param *out = &params[var->param];
    if (!run_query(f, var->query, &value)) {
        error_wrap(f->err, "`%s` in configVars", f->node->kind->params[var->param].name);
        return false;
    }
    if (json_kind(value) > JSON_NULL) {
        json_unref(out->value);
        out->value = value;
        out->open = true;
    }
    return true;
}

static bool check_param(Filling *f, size_t i, Param *out) {
    const ParamInfo *info = &f->node->kind->params[i];
    if (info->required && json_is_none(out->value)) {
        return error_set(f->err, ERR_DATA,
                         "`%s` is missing: its query in configVars gives nothing.", info->name);
    }
    if (!out->open) {
        return true;
    }
    Json value = json_take(&out->value);
    bool fine = param_read(info, value, true, out, f->err);
    json_unref(value);
    out->open = false;
    return fine;
}

static bool resolve(Filling *f, Param *out) {
    const Node *node = f->node;
    for (size_t i = 0; i < node->kind->nparams; i++) {
        if (node->params[i].open && !fill_param(f, i, &out[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < node->task->nvars; i++) {
        if (!set_from_query(f, &node->task->vars[i], out)) {
            return false;
        }
    }
    for (size_t i = 0; i < node->kind->nparams; i++) {
        if (!check_param(f, i, &out[i])) {
            return false;
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
    if (resolve(&f, out)) {
        return true;
    }
    config_clear(node, out);
    return false;
}

void config_clear(const Node *node, Param *params) {
    for (size_t i = 0; i < node->kind->nparams; i++) {
        json_clear(&params[i].value);
    }
}
