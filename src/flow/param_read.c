/* param_read.c - a JSON value, by the type of a parameter: the same when a file is loaded and when a
 * task begins. */
#include "config.h"

#include "ascii.h"
#include "json_build.h"
#include "json_duration.h"
#include "json_parse.h"
#include "json_print.h"
#include "loader.h"

#include <string.h>

enum {
    WHOLE_MAX = 1000000000,
    STATUS_MIN = 100,
    STATUS_MAX = 599,
};

typedef struct Reading {
    const ParamInfo *info;
    bool lenient;
    ParamFault *where;
    Error *err;
} Reading;

typedef bool (*ReadFn)(const Reading *r, Json value, Param *out);

/* "`name` must be ...": the sentence goes on from there. */
static bool refuse(const Reading *r, const char *must_be) {
    return error_set(r->err, ERR_DATA, "`%s` must be %s.", r->info->name, must_be);
}

static bool refuse_shown(const Reading *r, const char *must_be, Json value) {
    char text[JSON_DESCRIBE_MAX];
    if (json_kind(value) == JSON_ARRAY || json_kind(value) == JSON_OBJECT) {
        return refuse(r, must_be);
    }
    return error_set(r->err, ERR_DATA, "`%s` must be %s, not `%s`.", r->info->name, must_be,
                     json_kind(value) == JSON_STRING
                         ? shown(json_string_data(&value), json_string_len(value))
                         : json_excerpt(value, text));
}

/* As it is. */
static bool take(Param *out, Json value) {
    out->value = json_ref(value);
    return true;
}

/* ---- text ---- */

static bool read_text(const Reading *r, Json value, Param *out) {
    JsonKind kind = json_kind(value);
    if (kind < JSON_FALSE || kind > JSON_STRING) return refuse(r, "a text");
    Json text = json_ref(value);
    if (kind != JSON_STRING) {
        /* Shared parts can make a small value a long text. */
        Buf printed = BUF_INIT;
        JsonPrintOptions options = {.max_bytes = CONFIG_TEXT_MAX};
        json_print(value, &options, &printed);
        json_put(&text, printed.len > CONFIG_TEXT_MAX ? json_none()
                                                      : json_string(printed.data, printed.len));
        buf_clear(&printed);
    }
    if (json_is_none(text)) {
        return error_set(r->err, ERR_LIMIT, "`%s` is longer than %d MB; that is the limit.",
                         r->info->name, CONFIG_TEXT_MAX >> 20);
    }
    if (memchr(json_string_data(&text), '\0', json_string_len(text))) {
        json_unref(text);
        return error_set(r->err, ERR_DATA, "`%s` cannot hold the character NUL.", r->info->name);
    }
    out->value = text;
    return true;
}

static bool read_name(const Reading *r, Json value, Param *out) {
    if (!read_text(r, value, out)) return false;
    const char *s = json_string_data(&out->value);
    size_t len = json_string_len(out->value), i = 0;
    while (i < len && ascii_is_name(s[i])) i++;
    if (len > 0 && i == len && !ascii_is_digit(*s)) return true;
    refuse_shown(r, "a word of letters, digits and underscores", out->value);
    json_clear(&out->value);
    return false;
}

static bool read_enum(const Reading *r, Json value, Param *out) {
    size_t len;
    int64_t i = 0;
    for (const char *w = r->info->words; *w && json_kind(value) == JSON_STRING; i++) {
        len = strcspn(w, " ");
        if (len == json_string_len(value) && memcmp(w, json_string_data(&value), len) == 0) {
            out->number = i;
            out->value = json_ref(value);
            return true;
        }
        w += len + (w[len] == ' ');
    }
    return error_set(r->err, ERR_DATA, "`%s` must be one of: %s.", r->info->name, r->info->words);
}

static bool read_words(const Reading *r, Json value, Param *out) {
    bool fine = json_kind(value) == JSON_ARRAY;
    Json words = json_array();
    for (size_t i = 0; fine && i < json_array_len(value); i++) {
        Param word = {0};
        Json item = json_array_get(value, i);
        if (r->lenient && json_kind(item) == JSON_NULL) item = json_string_c("");
        fine = read_text(r, item, &word);
        if (fine) {
            words = json_array_push(words, word.value);
        } else {
            r->where->item = (int)i;
        }
    }
    if (!fine) {
        json_unref(words);
        return refuse(r, "a list of words");
    }
    out->value = words;
    return true;
}

/* ---- numbers ---- */

static bool read_bool(const Reading *r, Json value, Param *out) {
    JsonKind kind = json_kind(value);
    if (r->lenient && kind == JSON_STRING) {
        bool on = json_string_is(value, "yes") || json_string_is(value, "on");
        bool off = json_string_is(value, "no") || json_string_is(value, "off");
        value = on || off ? json_bool(on) : value;
        kind = json_kind(value);
    }
    if (kind != JSON_TRUE && kind != JSON_FALSE) return refuse(r, "true or false");
    out->value = value;
    out->number = kind == JSON_TRUE;
    return true;
}

/* Arithmetic may give 3.0. */
static Json as_whole(const Reading *r, Json value) {
    bool number = r->lenient && json_kind(value) == JSON_NUMBER;
    return number ? json_number(json_to_double(value)) : value;
}

/* An int or a count. */
static bool read_whole(const Reading *r, Json value, Param *out) {
    Json whole = as_whole(r, value);
    int min = r->info->type == PARAM_INT ? 1 : 0;
    if (json_tag(whole) != JSON_TAG_INT || whole.i < min || whole.i > WHOLE_MAX) {
        return error_set(r->err, ERR_DATA, "`%s` must be a whole number from %d to %d.",
                         r->info->name, min, WHOLE_MAX);
    }
    out->value = whole;
    out->number = whole.i;
    return true;
}

static bool read_size(const Reading *r, Json value, Param *out) {
    if (!json_byte_count(value, r->info->decimal, &out->number)) {
        return refuse(r, r->info->decimal ? "a size in bytes such as 4096, 64KB or 1MiB"
                                          : "a size in bytes such as 4096, 64K or 1M");
    }
    if (r->info->most && out->number > r->info->most) {
        return error_set(r->err, ERR_LIMIT, "`%s` must be at most %lldM.", r->info->name,
                         r->info->most >> 20);
    }
    return take(out, value);
}

static bool read_duration(const Reading *r, Json value, Param *out) {
    return json_duration(value, &out->number)
               ? take(out, value)
               : refuse_shown(r, "a length of time such as 250ms, 90s or 1h30m", value);
}

static bool read_statuses(const Reading *r, Json value, Param *out) {
    bool list = json_kind(value) == JSON_ARRAY;
    size_t n = list ? json_array_len(value) : 1;
    Json statuses = json_array();
    bool fine = n > 0;
    for (size_t i = 0; fine && i < n; i++) {
        Json status = as_whole(r, list ? json_array_get(value, i) : value);
        fine = json_tag(status) == JSON_TAG_INT && status.i >= STATUS_MIN && status.i <= STATUS_MAX;
        if (fine) {
            statuses = json_array_push(statuses, status);
        } else if (list) {
            r->where->item = (int)i;
        }
    }
    if (!fine) {
        json_unref(statuses);
        return error_set(r->err, ERR_DATA,
                         "`%s` must be an HTTP status, or a list of them, from %d to %d.",
                         r->info->name, STATUS_MIN, STATUS_MAX);
    }
    out->value = statuses;
    return true;
}

/* ---- values ---- */

static bool read_value(const Reading *r, Json value, Param *out) {
    (void)r;
    return take(out, value);
}

static bool read_object(const Reading *r, Json value, Param *out) {
    return json_kind(value) == JSON_OBJECT ? take(out, value) : refuse(r, "a map (`key: value`)");
}

/* ---- lists of objects ---- */

/* The field as it is read; JSON_NONE without an error when there is none. Null is as nothing. */
static bool read_field(const Reading *r, const ParamInfo *field, Json object, Json *out) {
    Json value = json_object_get_c(object, field->name), key, other;
    if (json_is_none(value) || json_kind(value) == JSON_NULL) {
        *out = field->fallback ? json_parse(field->fallback, strlen(field->fallback), NULL, NULL)
                               : json_none();
        return !field->required ||
               error_set(r->err, ERR_DATA, "`%s` is missing: %s.", field->name, field->help);
    }
    Param param = {0};
    ParamFault inside;
    bool fine = param_read_at(field, value, r->lenient, &param, &inside, r->err);
    for (size_t pos = 0, i = 0; !fine && json_object_next(object, &pos, &key, &other); i++) {
        if (json_string_is(key, field->name)) r->where->field = (int)i;
    }
    *out = param.value;
    return fine;
}

/* The object with defaults in place, and without keys that are no fields; JSON_NONE with the error set when it is not
 * right. */
static Json read_item(const Reading *r, Json item) {
    bool fine = json_kind(item) == JSON_OBJECT ||
                error_set(r->err, ERR_DATA, "it must be a map (`key: value`).");
    Json out = json_object(), value;
    for (size_t i = 0; fine && i < r->info->nfields; i++) {
        fine = read_field(r, &r->info->fields[i], item, &value);
        out = fine ? OBJECT_ADD(out, KEY(r->info->fields[i].name, value)) : out;
    }
    if (!fine) json_clear(&out);
    return out;
}

static bool read_objects(const Reading *r, Json value, Param *out) {
    if (json_kind(value) != JSON_ARRAY) return refuse(r, "a list of maps");
    Json list = json_array();
    for (size_t i = 0; i < json_array_len(value); i++) {
        Json item = read_item(r, json_array_get(value, i));
        if (json_is_none(item)) {
            r->where->item = (int)i;
            error_wrap(r->err, "`%s`, item %zu", r->info->name, i + 1);
            json_unref(list);
            return false;
        }
        list = json_array_push(list, item);
    }
    out->value = list;
    return true;
}

/* ---- all ---- */

/* How a type is read, and which kinds of JSON a text is taken for when it reads as one of them. */
static const struct {
    ReadFn read;
    JsonKind taken, also;
} readers[] = {
    [PARAM_JQ] = {read_value},
    [PARAM_TEMPLATE] = {read_text},
    [PARAM_TEXT] = {read_text},
    [PARAM_NAME] = {read_name},
    [PARAM_BOOL] = {read_bool, JSON_TRUE, JSON_FALSE},
    [PARAM_INT] = {read_whole, JSON_NUMBER},
    [PARAM_SIZE] = {read_size},
    [PARAM_DURATION] = {read_duration},
    [PARAM_ENUM] = {read_enum},
    [PARAM_WORDS] = {read_words, JSON_ARRAY},
    [PARAM_JQ_OBJECT] = {read_object},
    [PARAM_WORKFLOW] = {read_text},
    [PARAM_NODE] = {read_value},
    [PARAM_NODES] = {read_value},
    [PARAM_COUNT] = {read_whole, JSON_NUMBER},
    [PARAM_VALUE] = {read_value},
    [PARAM_OBJECT] = {read_object, JSON_OBJECT},
    [PARAM_QUERIES] = {read_object},
    [PARAM_STATUSES] = {read_statuses, JSON_NUMBER, JSON_ARRAY},
    [PARAM_OBJECTS] = {read_objects, JSON_ARRAY},
    [PARAM_TASK] = {read_value},
    [PARAM_TASKS] = {read_value},
    [PARAM_TEST] = {read_text},
};

bool param_read_at(const ParamInfo *info, Json value, bool lenient, Param *out, ParamFault *where,
                   Error *err) {
    *where = (ParamFault){-1, -1};
    Reading r = {info, lenient, where, err};
    JsonKind taken = readers[info->type].taken, also = readers[info->type].also;
    Json parsed = json_none();
    if (lenient && taken && json_kind(value) == JSON_STRING) {
        parsed = json_parse(json_string_data(&value), json_string_len(value), NULL, NULL);
        bool meant =
            !json_is_none(parsed) && (json_kind(parsed) == taken || json_kind(parsed) == also);
        value = meant ? parsed : value;
    }
    bool fine = readers[info->type].read(&r, value, out);
    json_unref(parsed);
    return fine;
}

bool param_read(const ParamInfo *info, Json value, bool lenient, Param *out, Error *err) {
    ParamFault where;
    return param_read_at(info, value, lenient, out, &where, err);
}
