/* param_read.c - a JSON value, by the type of a parameter: the same when a file is loaded and when a
 * task begins. */
#include "config.h"

#include "json_duration.h"
#include "json_parse.h"
#include "json_print.h"
#include "loader.h"
#include "suggest.h"

#include <string.h>

enum {
    WHOLE_MAX = 1000000000,
    STATUS_MIN = 100,
    STATUS_MAX = 599,
};

typedef struct Reading {
    const ParamInfo *info;
    bool lenient;
    ParamSpot *where;
    Error *err;
} Reading;

typedef bool (*ReadFn)(const Reading *r, Json value, Param *out);

/* "`name` must be ...": the sentence goes on from there. */
static bool refuse(const Reading *r, const char *must_be) {
    return error_set(r->err, ERR_DATA, "`%s` must be %s.", r->info->name, must_be);
}

static bool refuse_shown(const Reading *r, const char *must_be, Json value) {
    if (json_kind(value) == JSON_STRING) {
        return error_set(r->err, ERR_DATA, "`%s` must be %s, not `%s`.", r->info->name, must_be,
                         shown(json_string_data(&value), json_string_len(value)));
    }
    if (json_kind(value) == JSON_ARRAY || json_kind(value) == JSON_OBJECT) {
        return refuse(r, must_be);
    }
    char text[JSON_DESCRIBE_MAX];
    return error_set(r->err, ERR_DATA, "`%s` must be %s, not `%s`.", r->info->name, must_be,
                     json_excerpt(value, text));
}

/* ---- text ---- */

/* JSON_NONE when it would be too long: shared parts can make a small value a long text. */
static Json as_text(Json value) {
    if (json_kind(value) == JSON_STRING) {
        return json_ref(value);
    }
    Buf text = BUF_INIT;
    JsonPrintOptions options = {.max_bytes = CONFIG_TEXT_MAX};
    json_print(value, &options, &text);
    Json string = text.len > CONFIG_TEXT_MAX ? json_none() : json_string(text.data, text.len);
    buf_clear(&text);
    return string;
}

static bool can_be_text(const Reading *r, Json value) {
    JsonKind kind = json_kind(value);
    return kind >= JSON_FALSE && (kind <= JSON_STRING || r->lenient);
}

static bool read_text(const Reading *r, Json value, Param *out) {
    if (!can_be_text(r, value)) {
        return refuse(r, "a text");
    }
    Json text = as_text(value);
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

static bool is_word(Json text) {
    const char *s = json_string_data(&text);
    size_t len = json_string_len(text), i = 0;
    for (; i < len; i++) {
        bool letter = ((s[i] | 32) >= 'a' && (s[i] | 32) <= 'z') || s[i] == '_';
        if (!letter && (i == 0 || s[i] < '0' || s[i] > '9')) {
            return false;
        }
    }
    return len > 0;
}

static bool read_name(const Reading *r, Json value, Param *out) {
    if (!read_text(r, value, out)) {
        return false;
    }
    if (is_word(out->value)) {
        return true;
    }
    refuse_shown(r, "a word of letters, digits and underscores", out->value);
    json_clear(&out->value);
    return false;
}

/* Index of the text among the words; -1 when it is none. */
static int find_enum(const char *words, Json text) {
    const char *s = json_string_data(&text);
    int i = 0;
    for (const char *w = words; *w; i++) {
        size_t len = strcspn(w, " ");
        if (len == json_string_len(text) && memcmp(w, s, len) == 0) {
            return i;
        }
        w += len + (w[len] == ' ');
    }
    return -1;
}

static bool read_enum(const Reading *r, Json value, Param *out) {
    int i = json_kind(value) == JSON_STRING ? find_enum(r->info->words, value) : -1;
    if (i < 0) {
        return error_set(r->err, ERR_DATA, "`%s` must be one of: %s.", r->info->name,
                         r->info->words);
    }
    out->number = i;
    out->value = json_ref(value);
    return true;
}

static bool read_words(const Reading *r, Json value, Param *out) {
    bool fine = json_kind(value) == JSON_ARRAY;
    Json words = json_array();
    for (size_t i = 0; fine && i < json_array_len(value); i++) {
        Param word = {0};
        fine = read_text(r, json_array_get(value, i), &word);
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
    if (kind != JSON_TRUE && kind != JSON_FALSE) {
        return refuse(r, "true or false");
    }
    out->value = value;
    out->number = kind == JSON_TRUE;
    return true;
}

/* Arithmetic may give 3.0. */
static Json as_whole(const Reading *r, Json value) {
    bool number = r->lenient && json_kind(value) == JSON_NUMBER;
    return number ? json_number(json_to_double(value)) : value;
}

static bool read_whole(const Reading *r, Json value, int64_t min, Param *out) {
    Json whole = as_whole(r, value);
    if (json_tag(whole) != JSON_TAG_INT || whole.i < min || whole.i > WHOLE_MAX) {
        return error_set(r->err, ERR_DATA, "`%s` must be a whole number from %d to %d.",
                         r->info->name, (int)min, WHOLE_MAX);
    }
    out->value = whole;
    out->number = whole.i;
    return true;
}

static bool read_int(const Reading *r, Json value, Param *out) {
    return read_whole(r, value, 1, out);
}

static bool read_count(const Reading *r, Json value, Param *out) {
    return read_whole(r, value, 0, out);
}

static bool read_size(const Reading *r, Json value, Param *out) {
    if (!json_byte_count(value, &out->number)) {
        return refuse(r, "a size in bytes such as 4096, 64K or 1M");
    }
    out->value = json_ref(value);
    return true;
}

static bool read_duration(const Reading *r, Json value, Param *out) {
    if (!json_duration(value, &out->number)) {
        return refuse_shown(r, "a length of time such as 250ms, 90s or 1h30m", value);
    }
    out->value = json_ref(value);
    return true;
}

static bool is_status(const Reading *r, Json value) {
    Json whole = as_whole(r, value);
    return json_tag(whole) == JSON_TAG_INT && whole.i >= STATUS_MIN && whole.i <= STATUS_MAX;
}

static bool refuse_statuses(const Reading *r) {
    return error_set(r->err, ERR_DATA,
                     "`%s` must be an HTTP status, or a list of them, from %d to %d.",
                     r->info->name, STATUS_MIN, STATUS_MAX);
}

static bool read_statuses(const Reading *r, Json value, Param *out) {
    bool list = json_kind(value) == JSON_ARRAY;
    size_t n = list ? json_array_len(value) : 1;
    Json statuses = json_array();
    bool fine = n > 0;
    for (size_t i = 0; fine && i < n; i++) {
        Json status = list ? json_array_get(value, i) : value;
        fine = is_status(r, status);
        if (fine) {
            statuses = json_array_push(statuses, as_whole(r, status));
        } else if (list) {
            r->where->item = (int)i;
        }
    }
    if (!fine) {
        json_unref(statuses);
        return refuse_statuses(r);
    }
    out->value = statuses;
    return true;
}

/* ---- values ---- */

static bool read_value(const Reading *r, Json value, Param *out) {
    (void)r;
    out->value = json_ref(value);
    return true;
}

static bool read_object(const Reading *r, Json value, Param *out) {
    if (json_kind(value) != JSON_OBJECT) {
        return refuse(r, "a map (`key: value`)");
    }
    out->value = json_ref(value);
    return true;
}

/* ---- lists of objects ---- */

static const ParamInfo *find_field(const ParamInfo *info, Json name) {
    for (size_t i = 0; i < info->nfields; i++) {
        if (json_string_is(name, info->fields[i].name)) {
            return &info->fields[i];
        }
    }
    return NULL;
}

static bool refuse_key(const Reading *r, Json name) {
    const char *text = json_string_data(&name);
    size_t len = json_string_len(name);
    Suggestion nearest = suggestion_for(text, len);
    for (size_t i = 0; i < r->info->nfields; i++) {
        suggestion_offer(&nearest, r->info->fields[i].name);
    }
    return error_set(r->err, ERR_DATA, "`%s` is no key of it%s", shown(text, len),
                     did_you_mean_this(nearest.best));
}

static bool check_fields(const Reading *r, Json object) {
    Json name, value;
    for (size_t pos = 0, i = 0; json_object_next(object, &pos, &name, &value); i++) {
        if (!find_field(r->info, name)) {
            r->where->field = (int)i;
            r->where->unknown = true;
            return refuse_key(r, name);
        }
    }
    return true;
}

static int field_index(Json object, const char *name) {
    Json key, value;
    int i = 0;
    for (size_t pos = 0; json_object_next(object, &pos, &key, &value); i++) {
        if (json_string_is(key, name)) {
            return i;
        }
    }
    return -1;
}

/* The field as it is read; JSON_NONE without an error when there is none. */
static bool read_field(const Reading *r, const ParamInfo *field, Json object, Json *out) {
    Json value = json_object_get_c(object, field->name);
    Param param = {0};
    if (json_is_none(value)) {
        *out = field->fallback ? json_parse(field->fallback, strlen(field->fallback), NULL, NULL)
                               : json_none();
        return !field->required ||
               error_set(r->err, ERR_DATA, "`%s` is missing: %s.", field->name, field->help);
    }
    ParamSpot inside;
    bool fine = param_read_at(field, value, r->lenient, &param, &inside, r->err);
    if (!fine) {
        r->where->field = field_index(object, field->name);
    }
    *out = param.value;
    return fine;
}

static Json read_fields(const Reading *r, Json object) {
    Json out = json_object(), value;
    for (size_t i = 0; i < r->info->nfields; i++) {
        const ParamInfo *field = &r->info->fields[i];
        if (!read_field(r, field, object, &value)) {
            json_unref(out);
            return json_none();
        }
        if (!json_is_none(value)) {
            out = json_object_with(out, field->name, value);
        }
    }
    return out;
}

/* The object with defaults in place; JSON_NONE with the error set when it is not right. */
static Json read_item(const Reading *r, Json item) {
    if (json_kind(item) != JSON_OBJECT) {
        error_set(r->err, ERR_DATA, "it must be a map (`key: value`).");
        return json_none();
    }
    return check_fields(r, item) ? read_fields(r, item) : json_none();
}

static bool read_objects(const Reading *r, Json value, Param *out) {
    if (json_kind(value) != JSON_ARRAY) {
        return refuse(r, "a list of maps");
    }
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

static const ReadFn readers[] = {
    [PARAM_JQ] = read_value,          [PARAM_TEMPLATE] = read_text,
    [PARAM_TEXT] = read_text,         [PARAM_NAME] = read_name,
    [PARAM_BOOL] = read_bool,         [PARAM_INT] = read_int,
    [PARAM_SIZE] = read_size,         [PARAM_DURATION] = read_duration,
    [PARAM_ENUM] = read_enum,         [PARAM_WORDS] = read_words,
    [PARAM_JQ_OBJECT] = read_object,  [PARAM_WORKFLOW] = read_text,
    [PARAM_NODE] = read_value,        [PARAM_NODES] = read_value,
    [PARAM_COUNT] = read_count,       [PARAM_VALUE] = read_value,
    [PARAM_OBJECT] = read_object,     [PARAM_QUERIES] = read_object,
    [PARAM_STATUSES] = read_statuses, [PARAM_OBJECTS] = read_objects,
    [PARAM_TASK] = read_value,        [PARAM_TASKS] = read_value,
    [PARAM_TEST] = read_text,
};

#define KINDS(a, b) (1u << (a) | 1u << (b))

/* What text is taken for when it reads as such: bits of JsonKind. */
static unsigned taken_for(ParamType type) {
    switch (type) {
    case PARAM_BOOL: return KINDS(JSON_TRUE, JSON_FALSE);
    case PARAM_INT:
    case PARAM_COUNT: return KINDS(JSON_NUMBER, JSON_NUMBER);
    case PARAM_STATUSES: return KINDS(JSON_NUMBER, JSON_ARRAY);
    case PARAM_WORDS:
    case PARAM_OBJECTS: return KINDS(JSON_ARRAY, JSON_ARRAY);
    case PARAM_OBJECT: return KINDS(JSON_OBJECT, JSON_OBJECT);
    default: return 0;
    }
}

/* The value itself, or what its text says; given. */
static Json meant(const ParamInfo *info, Json value) {
    unsigned wanted = taken_for(info->type);
    if (!wanted || json_kind(value) != JSON_STRING) {
        return json_ref(value);
    }
    Json parsed = json_parse(json_string_data(&value), json_string_len(value), NULL, NULL);
    if (wanted & (1u << json_kind(parsed)) & ~1u) {
        return parsed;
    }
    json_unref(parsed);
    return json_ref(value);
}

bool param_read_at(const ParamInfo *info, Json value, bool lenient, Param *out, ParamSpot *where,
                   Error *err) {
    *where = (ParamSpot){-1, -1, false};
    Reading r = {info, lenient, where, err};
    Json taken = lenient ? meant(info, value) : json_ref(value);
    bool fine = readers[info->type](&r, taken, out);
    json_unref(taken);
    return fine;
}

bool param_read(const ParamInfo *info, Json value, bool lenient, Param *out, Error *err) {
    ParamSpot where;
    return param_read_at(info, value, lenient, out, &where, err);
}
