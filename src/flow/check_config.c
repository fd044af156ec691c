/* check_config.c - what can be said of the config of check_http_json and check_http_metrics before anything runs. */
#include "loader.h"
#include "url.h"

#include <string.h>

/* A text that the config says as it is; NULL: it says none. */
static const YamlNode *text_of(const YamlNode *map, const char *key) {
    const YamlNode *value = map && map->kind == YAML_MAP ? yaml_get(map, key) : NULL;
    return value && value->kind == YAML_SCALAR ? value : NULL;
}

/* Null is nothing. */
static const YamlPair *given(const YamlNode *map, const char *key) {
    const YamlPair *pair = yaml_pair(map, key);
    return pair && !yaml_is_null(pair->value) ? pair : NULL;
}

void check_url(Loader *ld, const YamlNode *url) {
    if (url->kind != YAML_SCALAR || !url_is_other(url->text)) return;
    report_at(ld->reporter, url->spot,
              "`%s` cannot be asked for: requests are made by http:// and https:// alone.",
              shown(url->text, url->len));
}

static void check_json_assertion(Loader *ld, const YamlNode *item) {
    const YamlNode *query = text_of(item, "query");
    const YamlPair *exists = given(item, "exists"), *op = given(item, "operator");
    const YamlPair *value = given(item, "value");
    if (query) load_expr(ld, query, (Scope){0}); /* for its problems */
    if (exists && (op || value)) {
        report_at(ld->reporter, exists->key->spot,
                  "`exists` asks whether there is a value, `%s` which; an assertion asks one.",
                  op ? "operator" : "value");
    } else if (!exists && !op) {
        report_at(ld->reporter, item->spot,
                  "This assertion says nothing: give it `exists`, or an `operator` and a `value`.");
    } else if (op && !value) {
        report_at(
            ld->reporter, op->key->spot,
            "This assertion has an `operator` and no `value` to compare with; whether there is "
            "one is asked with `exists`.");
    }
}

static bool same_text(const YamlNode *a, const YamlNode *b) {
    return a && b && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static void check_name(Loader *ld, const YamlNode *list, size_t i) {
    enum { LOOKED_AT = 1000 }; /* more are refused when it runs */
    const YamlNode *name = text_of(list->items[i], "name");
    for (size_t k = 0; k < i && i < LOOKED_AT; k++) {
        if (same_text(name, text_of(list->items[k], "name"))) {
            report_at(ld->reporter, name->spot,
                      "Two assertions are called `%.*s`; each needs a name of its own.",
                      (int)name->len, name->text);
            return;
        }
    }
}

void check_http_config(Loader *ld, const Kind *kind, const YamlNode *config) {
    bool json = kind->id == KIND_CHECK_HTTP_JSON;
    const YamlPair *assertions = config ? yaml_pair(config, "assertions") : NULL;
    const YamlNode *list =
        assertions && assertions->value->kind == YAML_LIST ? assertions->value : NULL;
    for (size_t i = 0; list && i < list->n; i++) {
        if (list->items[i]->kind != YAML_MAP) continue;
        if (json) check_json_assertion(ld, list->items[i]);
        check_name(ld, list, i);
    }
    if (!json && list && !list->n) {
        report_at(ld->reporter, list->spot, "`assertions` is empty; it needs one or more.");
    }
    const YamlNode *url = text_of(config, "url");
    if (url) check_url(ld, url);
    const YamlNode *method = json ? text_of(config, "method") : NULL;
    if (method && yaml_is(method, "HEAD") && list && list->n) {
        report_at(ld->reporter, method->spot,
                  "An answer to HEAD has no body, so that there is nothing to assert: take the "
                  "assertions out, or use GET.");
    }
    const YamlPair *many = json && config ? given(config, "expectStatuses") : NULL;
    if (many && given(config, "expectStatus")) {
        report_at(ld->reporter, many->key->spot,
                  "There are both `expectStatus` and `expectStatuses`: take one of them out.");
    }
}
