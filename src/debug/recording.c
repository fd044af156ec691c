#include "recording_inside.h"

#include "mem.h"
#include "suggest.h"

/* ---- from where on it is live ---- */

/* Offers the names of a node, and of the bodies of maps inside it. */
static bool offer(const Node *node, const char *name, Suggestion *s) {
    for (; node; node = node_body(node)) {
        if (place_is_called(node, name)) {
            return true;
        }
        suggestion_offer(s, node->name);
    }
    return false;
}

static bool has_node(const Flow *flow, const char *name, Suggestion *s) {
    for (size_t i = 0; i < flow->ngraphs; i++) {
        const Graph *g = flow->graphs[i];
        for (size_t k = 0; k < g->nnodes; k++) {
            if (offer(&g->nodes[k], name, s)) {
                return true;
            }
        }
    }
    return false;
}

static bool check_live_from(const RecordingSource *source, Error *err) {
    const char *name = source->live_from;
    Suggestion s = suggestion_for(name ? name : "", name ? strlen(name) : 0);
    if (!name || has_node(source->replaying, name, &s)) {
        return true;
    }
    return error_set(err, ERR_USAGE, "No node of `%s` is called `%s`, to be live from%s%s%s",
                     source->replaying->name, name, s.best ? "; did you mean `" : ".",
                     s.best ? s.best : "", s.best ? "`?" : "");
}

/* ---- life ---- */

Recording *recording_empty(const char *live_from) {
    Recording *r = mem_zalloc(sizeof *r);
    r->outcomes = json_object();
    r->changes = json_object();
    r->counts = json_object();
    r->last = json_object();
    r->missing = json_array();
    r->live_from = live_from ? mem_strndup(live_from, strlen(live_from)) : NULL;
    return r;
}

/* The run that takes from it begins to count for itself. */
static void begin(Recording *r) {
    json_unref(r->counts);
    json_unref(r->last);
    r->counts = json_object();
    r->last = json_object();
    r->live = false;
}

Recording *recording_new(Store *store, const RecordingSource *source, Error *err) {
    if (!check_live_from(source, err)) {
        return NULL;
    }
    Recording *r = recording_empty(source->live_from);
    if (!recording_read(r, store, source, err)) {
        recording_free(r);
        return NULL;
    }
    begin(r);
    return r;
}

void recording_free(Recording *r) {
    if (!r) {
        return;
    }
    json_unref(r->outcomes);
    json_unref(r->changes);
    json_unref(r->counts);
    json_unref(r->last);
    json_unref(r->missing);
    mem_free(r->live_from);
    mem_free(r);
}

/* ---- for people ---- */

Json recording_report(const Recording *r) {
    Json report = json_object_with(json_object(), "taken", json_int(r->taken));
    report = json_object_with(report, "live", json_int(r->done));
    report = json_object_with(report, "missing", json_ref(r->missing));
    return json_object_with(report, "more", json_bool(r->more));
}

/* "frame\nnode\nnth" */
static Json listed(Json key, const char *word, Json value) {
    const char *text = json_string_data(&key);
    size_t len = json_string_len(key);
    const char *node = memchr(text, '\n', len), *nth = text + len - 1;
    while (*nth != '\n') {
        nth--;
    }
    Json one = json_object_with(json_object(), "frame", json_string(text, (size_t)(node - text)));
    one = json_object_with(one, "node", json_string(node + 1, (size_t)(nth - node - 1)));
    one = json_object_with(one, "nth", json_number_parse(nth + 1, len - (size_t)(nth + 1 - text)));
    return json_object_with(one, word, json_ref(value));
}

Json recording_list(const Recording *r) {
    Json all = json_array(), key, outcome, changes;
    for (size_t pos = 0; json_object_next(r->outcomes, &pos, &key, &outcome);) {
        Json info = json_array_get(outcome, OUTCOME_INFO);
        all = json_array_push(all, listed(key, "outcome", info));
    }
    for (size_t pos = 0; json_object_next(r->changes, &pos, &key, &changes);) {
        all = json_array_push(all, listed(key, "changes", changes));
    }
    return all;
}
