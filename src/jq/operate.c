/* operate.c - what single instructions do. */
#include "machine.h"

#include "json_path.h"
#include "json_print.h"

/* ---- paths ---- */

void extend_path(JqRun *m, Json key, Json value) {
    m->path = json_array_push(m->path, json_ref(key));
    json_unref(m->path_value);
    m->path_value = json_ref(value);
}

bool check_access(JqRun *m, Json target, Json key) {
    if (json_identical(target, m->path_value)) return true;
    char what[JSON_DESCRIBE_MAX], where[JSON_DESCRIBE_MAX];
    m->off_path = true;
    jq_fail(m, "Invalid path expression near attempt to access element %s of %s",
            json_excerpt(key, what), json_excerpt(target, where));
    return false;
}

static bool check_iteration(JqRun *m, Json target) {
    if (json_identical(target, m->path_value)) return true;
    char what[JSON_DESCRIBE_MAX];
    m->off_path = true;
    jq_fail(m, "Invalid path expression near attempt to iterate through %s",
            json_excerpt(target, what));
    return false;
}

bool check_result(JqRun *m, Json result) {
    if (json_identical(result, m->path_value)) return true;
    char what[JSON_DESCRIBE_MAX];
    jq_fail(m, "Invalid path expression with result %s", json_excerpt(result, what));
    return false;
}

/* ---- operations; each gives JSON_NONE after raising an error ---- */

/* Apart from do_index(): what it needs of the stack is not to be paid for by every field. */
static Json index_any(JqRun *m, Json target, Json key) {
    if (json_tag(target) == JSON_TAG_ARRAY && json_tag(key) == JSON_TAG_ARRAY) {
        return jq_places(m, target, key);
    }
    Error err;
    error_clear(&err);
    Json v = json_index(target, key, &err);
    return json_is_none(v) ? jq_fail_error(m, &err) : v;
}

Json do_index(JqRun *m, Json target, Json key) {
    if (following(m) && !check_access(m, target, key)) return json_none();
    Json v = is_field(target, key) ? field(target, key) : index_any(m, target, key);
    if (following(m) && !json_is_none(v)) extend_path(m, key, v);
    return v;
}

Json do_slice(JqRun *m, Json target, Json from, Json to) {
    if (json_tag(target) == JSON_TAG_STRING && !jq_charge(m, json_string_len(target) / 16)) {
        return json_none();
    }
    Json key = following(m) ? json_slice_key(from, to) : json_none();
    Json v = json_none();
    if (!following(m) || check_access(m, target, key)) {
        Error err;
        error_clear(&err);
        v = json_slice(target, from, to, &err);
        if (json_is_none(v)) {
            jq_fail_error(m, &err);
        } else if (following(m)) {
            extend_path(m, key, v);
        }
    }
    json_unref(key);
    return v;
}

/* Starts iterating: *counter becomes the number of elements left and where we are. */
bool do_each(JqRun *m, Json target, Json *counter) {
    JsonKind kind = json_kind(target);
    if (following(m) && !check_iteration(m, target)) return false;
    if (kind != JSON_ARRAY && kind != JSON_OBJECT) {
        char what[JSON_DESCRIBE_MAX];
        jq_fail(m, "Cannot iterate over %s", json_describe(target, what));
        return false;
    }
    uint64_t len = kind == JSON_ARRAY ? json_array_len(target) : json_object_len(target);
    *counter = json_int((int64_t)(len << 32));
    return true;
}

/* The element we are at; the caller has seen to it that there is one. */
Json each_element(JqRun *m, Json target, Json *counter) {
    size_t at = (uint32_t)counter->i, left = (uint64_t)counter->i >> 32;
    Json key, value;
    if (json_tag(target) == JSON_TAG_ARRAY) {
        value = json_array_get(target, at);
        key = json_int((int64_t)at++);
    } else {
        json_object_next(target, &at, &key, &value);
    }
    counter->i = (int64_t)((uint64_t)(left - 1) << 32 | at);
    json_ref(value);
    if (following(m)) extend_path(m, key, value);
    return value;
}

/* A bound as arithmetic sees it: literals that keep their text would be read again at each step. */
bool settle_bound(JqRun *m, Json *bound) {
    if (json_kind(*bound) != JSON_NUMBER) {
        jq_fail(m, "Range bounds must be numeric");
        return false;
    }
    if (json_tag(*bound) != JSON_TAG_INT) {
        Json number = json_number(json_to_double(*bound));
        json_unref(*bound);
        *bound = number;
    }
    return true;
}

/* 1, 0: whether the limit lets anything through; -1 after an error. */
int check_limit(JqRun *m, Json n) {
    int order = json_compare(n, json_int(0));
    if (order < 0) jq_fail(m, "limit doesn't support negative count");
    return order;
}

Json do_equal(JqRun *m, Json a, Json b, bool negated) {
    bool equal;
    return jq_equal(m, a, b, &equal) ? json_bool(equal != negated) : json_none();
}

Json do_compare(JqRun *m, Opcode op, Json a, Json b) {
    int order;
    if (!jq_compare(m, a, b, &order)) return json_none();
    bool result = op == OP_LT   ? order < 0
                  : op == OP_LE ? order <= 0
                  : op == OP_GT ? order > 0
                                : order >= 0;
    return json_bool(result);
}

Json do_concat(JqRun *m, const Json *parts, size_t n) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) total += json_string_len(parts[i]);
    if (total > JSON_STRING_MAX) {
        return jq_fail(m, "The string would be longer than %d bytes", JSON_STRING_MAX);
    }
    if (!jq_room(m, 2 * total) || !jq_charge(m, total / 64)) return json_none();
    buf_reset(&m->scratch);
    for (size_t i = 0; i < n; i++) {
        buf_add(&m->scratch, json_string_data(&parts[i]), json_string_len(parts[i]));
    }
    return json_string_valid(m->scratch.data ? m->scratch.data : "", m->scratch.len);
}

bool keys_are_strings(JqRun *m, const Json *pairs, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (json_kind(pairs[2 * i]) != JSON_STRING) {
            jq_fail(m, "Object keys must be strings");
            return false;
        }
    }
    return true;
}

Json do_get_path(JqRun *m, Json target, Json path) {
    if (following(m) && !check_access(m, target, path)) return json_none();
    Error err;
    error_clear(&err);
    Json v = json_path_get(target, path, &err);
    if (json_is_none(v)) return jq_fail_error(m, &err);
    if (following(m)) {
        m->path = json_array_concat(m->path, json_ref(path));
        json_unref(m->path_value);
        m->path_value = json_ref(v);
    }
    return v;
}

void keep_path(JqRun *m, Json *pair, Json path, Json value) {
    json_unref(pair[0]);
    json_unref(pair[1]);
    pair[0] = m->path;
    pair[1] = m->path_value;
    m->path = path;
    m->path_value = value;
}

void restore_path(JqRun *m, const Json *pair) {
    json_unref(m->path);
    json_unref(m->path_value);
    m->path = json_ref(pair[0]);
    m->path_value = json_ref(pair[1]);
}
