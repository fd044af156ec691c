/* config.h - the config of a task at the moment it begins.
 *
 * A task's config is read when the file is loaded, and checked against the parameters of its kind as
 * far as it can be. What has placeholders in it, and what configVars names, is known only when the
 * task begins:
 *
 *   1. every string of the config: `${name}` becomes the variable of that name (or a.b.c: a path), and
 *      stays as it is when there is none; `${{query}}` becomes what the query gives, and stays as it
 *      is when that is nothing. A string that is one placeholder and nothing else becomes the value
 *      itself, whatever its type; inside a longer text strings stand as they are and the rest as
 *      JSON. `$${` is a `${` that is left alone. Keys of objects are not touched, nor is anything
 *      looked at a second time.
 *   2. configVars: each query that gives something other than null takes the place of its field.
 *   3. the values are checked against the types of the parameters. Where text was put in place of a
 *      number, a boolean, a list or an object, text that reads as one in JSON is taken for it; where
 *      something else was put in place of text, it stands there as JSON.
 *
 * Tasks inside the config (PARAM_TASK, PARAM_TASKS, PARAM_TEST) are not touched: they have a turn of
 * their own. Neither are queries (PARAM_QUERIES), which see the variables themselves.
 *
 * A query is jq over the variables that may lack its leading dot: `tasks.setup.outputs.epoch`. It gets
 * one when it begins with a word, or with `|`, unless the word
 *
 *   - has `(` or `::` behind it: a call, `range(3)`;
 *   - is one of the language: if, try, reduce, foreach, def, label, import, include, true, false,
 *     null, not, empty, now;
 *   - is the name of a jq function without arguments and a single `|` is behind it: `keys | length`.
 *
 * So a variable may be called like a function (`max`, `first > 2`), and whatever begins with something
 * else than a word (`.a`, `[...]`, `{...}`, `"..."`, `$x`, `-1`, `@json`) is jq as it stands.
 */
#ifndef PAWL_CONFIG_H
#define PAWL_CONFIG_H

#include "flow.h"

enum { CONFIG_TEXT_MAX = 64 << 20 }; /* bytes that the placeholders of a config may come to */

typedef struct ConfigSource {
    Json vars; /* the variables in sight, an object; borrowed */
    /* The first output of a query on vars, given; JSON_NONE without *err set when it has none. */
    Json (*eval)(void *ctx, const Expr *query, Json vars, Error *err);
    void *ctx;
} ConfigSource;

/* Fills kind->nparams of out. False, with a sentence that names the field, after clearing them. */
bool config_resolve(const Node *node, const ConfigSource *source, Param *out, Error *err);
void config_clear(const Node *node, Param *params);

/* A text of the task (its title) with the placeholders filled in. */
bool config_text(const Node *node, Json text, const ConfigSource *source, Buf *out, Error *err);

/* Reads a value by the type of a parameter: sets out->value (given) and out->number. lenient: text
 * that reads as JSON of the type is taken for it. False, with a sentence that begins with the name of
 * the parameter. */
bool param_read(const ParamInfo *info, Json value, bool lenient, Param *out, Error *err);

/* Where a query needs a dot put in; SIZE_MAX when it needs none. */
size_t query_dot(const char *text, size_t len);

#endif
