/* fields.c - reads the small pieces that maps are made of, and says what is wrong with them. */
#include "loader.h"

#include "ascii.h"
#include "json_duration.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

bool expect_map(Loader *ld, const YamlNode *node, const char *what) {
    if (node->kind == YAML_MAP) return true;
    report_at(ld->reporter, node->spot, "%s must be a map (`key: value`).", what);
    return false;
}

bool has_name(const char *const *names, const char *text, size_t len) {
    while (names && *names && !text_is(text, len, *names)) names++;
    return names && *names;
}

size_t add_keys(const char *names[KEYS_MAX], size_t n, KeyList keys) {
    const char *const *lists[] = {keys.names, keys.more};
    for (int i = 0; i < 2; i++) {
        for (const char *const *name = lists[i]; name && *name; name++) names[n++] = *name;
    }
    for (size_t i = 0; i < keys.nparams; i++) {
        names[n++] = keys.params[i].name;
        names[n] = keys.params[i].alias;
        n += names[n] != NULL;
    }
    for (size_t i = 0; keys.kinds && i < KIND_COUNT; i++) {
        if (is_shown(&kinds[i], DIALECT_GRAPH)) names[n++] = kinds[i].name;
    }
    assert(n < KEYS_MAX);
    names[n] = NULL;
    return n;
}

void check_keys(Loader *ld, const YamlNode *map, KeyList known, const char *where) {
    const char *names[KEYS_MAX];
    add_keys(names, 0, known);
    for (size_t i = 0; i < map->n; i++) {
        const YamlNode *key = map->pairs[i].key;
        if (!has_name(names, key->text, key->len)) {
            report_at(ld->reporter, key->spot, "`%s` is no key of %s%s", shown(key->text, key->len),
                      where, did_you_mean(key->text, key->len, names));
        }
    }
}

const char *field_text(Loader *ld, const YamlNode *node, const char *what) {
    if (node->kind != YAML_SCALAR || yaml_is_null(node)) {
        report_at(ld->reporter, node->spot, "%s must be a text.", what);
        return NULL;
    }
    if (memchr(node->text, '\0', node->len)) {
        report_at(ld->reporter, node->spot, "%s cannot hold the character NUL.", what);
        return NULL;
    }
    return node->text;
}

bool field_bool(Loader *ld, const YamlNode *node, const char *what, bool *out) {
    Json value = yaml_json(node);
    bool ok = json_kind(value) == JSON_TRUE || json_kind(value) == JSON_FALSE;
    if (ok) {
        *out = json_truthy(value);
    } else {
        report_at(ld->reporter, node->spot, "%s must be true or false.", what);
    }
    json_unref(value);
    return ok;
}

bool field_int(Loader *ld, const YamlNode *node, const char *what, int64_t max, int64_t *out) {
    Json value = yaml_json(node);
    bool ok = json_tag(value) == JSON_TAG_INT && value.i >= 1 && value.i <= max;
    if (ok) {
        *out = value.i;
    } else {
        report_at(ld->reporter, node->spot, "%s must be a whole number from 1 to %lld.", what,
                  (long long)max);
    }
    json_unref(value);
    return ok;
}

/* "`key`", for sentences. In a static place. */
static const char *quoted(const char *key) {
    static _Thread_local char what[64];
    snprintf(what, sizeof what, "`%s`", key);
    return what;
}

const char *key_text(Loader *ld, const YamlNode *map, const char *key) {
    const YamlNode *value = yaml_get(map, key);
    return value ? field_text(ld, value, quoted(key)) : NULL;
}

bool key_bool(Loader *ld, const YamlNode *map, const char *key, bool *out) {
    const YamlNode *value = yaml_get(map, key);
    return value && field_bool(ld, value, quoted(key), out);
}

bool key_duration(Loader *ld, const YamlNode *map, const char *key, int64_t *ms) {
    const YamlNode *node = yaml_get(map, key);
    if (!node) return false;
    Json value = yaml_json(node);
    bool ok = json_duration(value, ms), scalar = node->kind == YAML_SCALAR;
    if (!ok) {
        report_at(ld->reporter, node->spot,
                  "`%s` must be a length of time such as 250ms, 90s or 1h30m%s%s%s.", key,
                  scalar ? ", not `" : "", scalar ? shown(node->text, node->len) : "",
                  scalar ? "`" : "");
    }
    json_unref(value);
    return ok;
}

const YamlNode *key_map(Loader *ld, const YamlNode *map, const char *key) {
    const YamlNode *value = yaml_get(map, key);
    return value && !yaml_is_null(value) && expect_map(ld, value, quoted(key)) ? value : NULL;
}

const YamlNode *next_name(Loader *ld, const YamlNode *node, const char *what, size_t *at) {
    bool list = node->kind == YAML_LIST;
    while (*at < (list ? node->n : 1)) {
        const YamlNode *item = list ? node->items[*at] : node;
        ++*at;
        if (item->kind == YAML_SCALAR && !yaml_is_null(item)) return item;
        report_at(ld->reporter, item->spot, "%s must be a name, or a list of names.", what);
    }
    return NULL;
}

bool expect_items(Loader *ld, const YamlNode *node, const char *none, const char *no_list) {
    bool list = node->kind == YAML_LIST;
    if (!list || node->n == 0) {
        report_at(ld->reporter, node->spot, "%s", list || yaml_is_null(node) ? none : no_list);
    }
    return list && node->n > 0;
}
