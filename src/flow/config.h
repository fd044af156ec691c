/* config.h - the config of a task at the moment it begins.
 *
 * A task's config is read when the file is loaded, and checked against the parameters of its kind. What configVars
 * names is known only when the task begins:
 *
 *   1. each query of configVars takes the place of its field: keys of an object are added to those that are there,
 *      anything else replaces them. One that gives nothing leaves the field as it is; null leaves texts, numbers and
 *      booleans, and makes lists and objects empty. One that fails gives `{}`, which is an error where the
 *      field cannot be an object.
 *   2. a double that is the whole value arrives as decimal text without an exponent (number_text.h), which integers
 *      do not take; integers past 64 bits are texts, too.
 *   3. what came of it is checked against the types of the parameters. Text that reads as a number, a boolean or a
 *      list in JSON is taken for it.
 *
 * Placeholders are for titles alone: `${x}` in a command is the shell's. `${name}` is the variable of that name, and
 * stays as it is when there is none; `${{query}}` is what the query gives, `?` when that is nothing.
 *
 * A query is jq over the variables. It begins with a dot, which it gets where it lacks one, whatever follows:
 * `tasks.setup.outputs.epoch`, `| EXPRESSION`. So `true` is a field, and calls need `| ` before them. A variable
 * (`$secrets.TOKEN`) stands as it is.
 */
#ifndef PAWL_CONFIG_H
#define PAWL_CONFIG_H

#include "flow.h"

enum {
    CONFIG_TEXT_MAX = 64 << 20, /* bytes of a title */
    TITLE_DEPTH_MAX = 100,
};

typedef struct ConfigSource {
    Json vars; /* the variables in sight, an object; borrowed */
    /* The first output of a query on vars, given; JSON_NONE without *err set when it has none. */
    Json (*eval)(void *ctx, const Expr *query, Json vars, Error *err);
    void *ctx;
} ConfigSource;

/* Fills kind->nparams of out. False, with a sentence that names the field, after clearing them. */
bool config_resolve(const Node *node, const ConfigSource *source, Param *out, Error *err);
void config_clear(const Node *node, Param *params);

/* The title of the task with the placeholders filled in. */
void config_text(const Node *node, Json title, const ConfigSource *source, Buf *out);

/* A query that ends with this error gives an empty object instead; others (limits, secrets) are errors. */
bool query_error_is_value(const Error *err);

/* Reads a value by the type of a parameter: sets out->value (given) and out->number. lenient: text
 * that reads as JSON of the type is taken for it. False, with a sentence that begins with the name of
 * the parameter. */
bool param_read(const ParamInfo *info, Json value, bool lenient, Param *out, Error *err);

/* Where a query needs a dot put in; SIZE_MAX when it needs none. */
size_t query_dot(const char *text, size_t len);

#endif
