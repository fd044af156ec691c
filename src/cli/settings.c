#include "settings.h"

#include "engine.h"
#include "inputs.h"
#include "jq.h"
#include "json_parse.h"
#include "json_path.h"
#include "options.h"

#include <string.h>

enum { PATH_STEPS = 100000 }; /* of the budget: a path is no place to compute */

/* ---- --set ---- */

/* "user.name" to ["user", "name"]; JSON_NONE on error. */
static Json path_of(const char *text, size_t len, Error *err) {
    Buf program = BUF_INIT;
    JqHost host = {.budget = {.steps = PATH_STEPS}};
    buf_adds(&program, "path(");
    buf_adds(&program, len && text[0] == '.' ? "" : ".");
    buf_add(&program, text, len);
    buf_adds(&program, ")");
    Json path = jq_eval(program.data, json_null(), &host, err);
    buf_clear(&program);
    bool good = json_kind(path) == JSON_ARRAY;
    for (size_t i = 0; good && i < json_array_len(path); i++) {
        JsonKind kind = json_kind(json_array_get(path, i));
        good = kind == JSON_STRING || kind == JSON_NUMBER || kind == JSON_OBJECT;
    }
    if (!good) {
        json_clear(&path);
        if (!err->code) error_set(err, ERR_USAGE, "it does not lead to one place");
    }
    return path;
}

/* With this equals sign between the two: a path that is none is worse than a value that is none. */
typedef enum Split { SPLIT_BAD_PATH, SPLIT_BAD_VALUE, SPLIT_GOOD } Split;

static Split try_split(const char *text, const char *equals, Json *set, Error *err) {
    Json path = path_of(text, (size_t)(equals - text), err);
    if (json_is_none(path)) return SPLIT_BAD_PATH;
    Json value = json_parse(equals + 1, strlen(equals + 1), NULL, err);
    if (json_is_none(value)) {
        json_unref(path);
        return SPLIT_BAD_VALUE;
    }
    *set = json_array_push(*set, json_array_from((Json[]){path, value}, 2));
    return SPLIT_GOOD;
}

/* Messages of jq and JSON end with a stop or not; inside ours they have none. */
static const char *without_stop(Error *err) {
    size_t len = strlen(err->msg);
    if (len && err->msg[len - 1] == '.') err->msg[len - 1] = '\0';
    return err->msg;
}

static bool complain_value(const Command *command, const char *option, const char *text,
                           Error *err) {
    return options_complain(command,
                            "--%s: `%s` is not JSON (%s); a string is written with its quotes, as "
                            "'\"text\"'.",
                            option, text, without_stop(err));
}

bool settings_add(const Command *command, const char *text, Json *set) {
    const char *equals = strchr(text, '=');
    Error first = ERROR_INIT, err;
    if (!equals || equals == text) {
        return options_complain(command,
                                "--set takes a path and a value: --set path=json, not `%s`.", text);
    }
    Split split = try_split(text, equals, set, &first);
    for (const char *at = equals; split == SPLIT_BAD_PATH && (at = strchr(at + 1, '='));) {
        error_clear(&err); /* keys in quotes may hold an equals sign */
        if (try_split(text, at, set, &err) == SPLIT_GOOD) return true;
    }
    if (split == SPLIT_BAD_VALUE) return complain_value(command, "set", equals + 1, &first);
    return split == SPLIT_GOOD ||
           options_complain(command,
                            "--set: `%.*s` is not a path (%s); paths look like user.name, items[0] "
                            "or .\"odd key\".",
                            (int)(equals - text), text, without_stop(&first));
}

Json settings_apply(Json into, Json set, Error *err) {
    size_t n = json_is_none(set) ? 0 : json_array_len(set);
    for (size_t i = 0; i < n && !json_is_none(into); i++) {
        Json pair = json_array_get(set, i);
        into = json_path_set(into, json_array_get(pair, 0), json_ref(json_array_get(pair, 1)), err);
    }
    return into;
}

/* ---- --value and --input ---- */

bool settings_value(const Command *command, const Option *option, const char *text, Json *value) {
    Error err = ERROR_INIT;
    json_unref(*value);
    *value = json_parse(text, strlen(text), NULL, &err);
    return !json_is_none(*value) || complain_value(command, option->name, text, &err);
}

bool settings_text(const Command *command, const char *path, Json *value) {
    Buf text = BUF_INIT;
    Error err = ERROR_INIT;
    bool ok = inputs_read_file(path, &text, &err) || options_refuse(command, &err);
    if (ok) {
        size_t len = text.len;
        len -= len && text.data[len - 1] == '\n';
        json_unref(*value);
        *value = json_string(text.data ? text.data : "", len);
    }
    buf_clear(&text);
    return ok;
}

/* What is more than the state of a run may be is not read to its end. A value takes a little more on the heap than it
 * counts for. */
static const JsonParseOptions of_a_state = {.max_bytes = (size_t)(2 * ENGINE_STATE_MAX)};

static bool input_fits(const Command *command, Json value, const Error *err) {
    bool fits = json_is_none(value) ? err->code != ERR_LIMIT : json_size(value) <= ENGINE_STATE_MAX;
    return fits ||
           options_complain(command, "the input is too large: the state of a run may have %d MB.",
                            (int)(ENGINE_STATE_MAX >> 20));
}

static bool read_input(const Command *command, const char *path, Json *value) {
    Buf text = BUF_INIT;
    Error err = ERROR_INIT;
    if (!inputs_read_file(path, &text, &err)) {
        buf_clear(&text);
        return options_refuse(command, &err);
    }
    *value = json_parse(text.data ? text.data : "", text.len, &of_a_state, &err);
    buf_clear(&text);
    if (!input_fits(command, *value, &err)) return false;
    return !json_is_none(*value) ||
           options_complain(command, "the input in %s is not JSON: %s.",
                            strcmp(path, "-") ? path : "<stdin>", without_stop(&err));
}

static bool parse_input(const Command *command, const char *text, Json *value) {
    Error err = ERROR_INIT;
    *value = json_parse(text, strlen(text), NULL, &err);
    return !json_is_none(*value) ||
           options_complain(
               command,
               "--input: `%s` is not JSON (%s); write an object, as '{\"key\": 1}', or "
               "@FILE.",
               text, without_stop(&err));
}

bool settings_input(const Command *command, const char *text, Json *value) {
    bool from_file = text[0] == '@' || !strcmp(text, "-");
    json_clear(value);
    bool ok = from_file ? read_input(command, text + (text[0] == '@'), value)
                        : parse_input(command, text, value);
    if (ok && json_kind(*value) != JSON_OBJECT) {
        return options_complain(command, "the input of a run is an object; this is of kind %s.",
                                json_kind_name(json_kind(*value)));
    }
    return ok;
}

bool settings_start(const Command *command, const char *given, Json set, Json *input) {
    Error err = ERROR_INIT;
    if (given && !settings_input(command, given, input)) return false;
    if (json_is_none(set)) return true;
    *input = settings_apply(json_is_none(*input) ? json_object() : *input, set, &err);
    return !json_is_none(*input) || options_complain(command, "--set: %s.", err.msg);
}
