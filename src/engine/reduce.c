#include "reduce.h"

#include "frame.h"

#include "evaluator.h"

/* The parts of an entry in writes. */
enum { WRITE_VALUE, WRITE_NODE, WRITE_REPLACES };

static bool replaces(Json entry) {
    return !json_is_none(entry) && json_array_len(entry) > WRITE_REPLACES;
}

typedef struct Target {
    const Graph *graph;
    Evaluator *m;
    Json *state, *writes;
    Error *err;
} Target;

static Reduce reduce_of(const StateKey *key) {
    return key ? key->reduce : REDUCE_REPLACE;
}

/* The value that the state has after one more is put to it. */
static bool put_state(const Target *t, const StateKey *key, Json name, Json value) {
    Json next, old_value = json_object_get(*t->state, name);
    if (reduce_of(key) == REDUCE_REPLACE) {
        next = json_ref(value);
    } else if (key->reduce == REDUCE_EXPR) {
        Json vars[] = {json_is_none(old_value) ? json_null() : old_value, value};
        next = evaluator_run(t->m, key->expr, *t->state, vars, t->err);
    } else {
        next = evaluator_reduce(t->m, key->reduce, false, old_value, value, t->err);
    }
    if (json_is_none(next)) {
        error_wrap(t->err, "the reducer of `%s`", json_string_data(&name));
        return false;
    }
    *t->state = json_object_set(*t->state, json_ref(name), next);
    return true;
}

static Json joined(const Target *t, const StateKey *key, Json old_value, Json value) {
    if (reduce_of(key) == REDUCE_REPLACE) return json_ref(value);
    if (key->reduce == REDUCE_EXPR) return json_array_push(json_ref(old_value), json_ref(value));
    return json_is_none(old_value)
               ? json_ref(value)
               : evaluator_reduce(t->m, key->reduce, true, old_value, value, t->err);
}

static bool put_write(const Target *t, const StateKey *key, Json name, Json value, Json writer) {
    if (json_is_none(*t->writes)) return true;
    Json entry = json_object_get(*t->writes, name);
    if (replaces(entry)) { /* then what the state has now is what it will be */
        *t->writes = reduce_replace(*t->writes, name, json_object_get(*t->state, name));
        return true;
    }
    Json before = json_is_none(entry) ? entry : json_array_get(entry, WRITE_VALUE);
    Json next = joined(t, key, before, value);
    if (json_is_none(next)) return false;
    *t->writes = json_object_set(*t->writes, json_ref(name), ARRAY(next, json_ref(writer)));
    return true;
}

Json reduce_replace(Json writes, Json name, Json value) {
    return json_object_set(
        writes, json_ref(name),
        ARRAY(json_is_none(value) ? json_null() : json_ref(value), json_null(), json_bool(true)));
}

static void put_replaced(const Target *t, Json name, Json value) {
    *t->state = json_object_set(*t->state, json_ref(name), json_ref(value));
    if (!json_is_none(*t->writes)) *t->writes = reduce_replace(*t->writes, name, value);
}

static bool put(const Target *t, Json name, Json value, Json writer) {
    const StateKey *key = t->graph->nkeys ? graph_key(t->graph, name) : NULL;
    return put_state(t, key, name, value) && put_write(t, key, name, value, writer);
}

bool reduce_update(const Graph *graph, Evaluator *m, Json update, Json writer, Json *state,
                   Json *writes, Error *err) {
    Target t = {graph, m, state, writes, err};
    Json name, value;
    for (size_t pos = 0; json_object_next(update, &pos, &name, &value);) {
        if (!put(&t, name, value, writer)) return false;
    }
    return true;
}

/* What was written through an expression is a list of values, each for itself. */
static bool put_all(const Target *t, Json name, Json values, Json writer) {
    for (size_t i = 0; i < json_array_len(values); i++) {
        if (!put(t, name, json_array_get(values, i), writer)) return false;
    }
    return true;
}

bool reduce_writes(const Graph *graph, Evaluator *m, Json theirs, Json *state, Json *writes,
                   Error *err) {
    Target t = {graph, m, state, writes, err};
    Json name, entry;
    for (size_t pos = 0; json_object_next(theirs, &pos, &name, &entry);) {
        const StateKey *key = graph_key(graph, name);
        Json value = json_array_get(entry, WRITE_VALUE), writer = json_array_get(entry, WRITE_NODE);
        if (replaces(entry)) {
            put_replaced(&t, name, value);
            continue;
        }
        bool listed = reduce_of(key) == REDUCE_EXPR && json_kind(value) == JSON_ARRAY;
        bool ok = listed ? put_all(&t, name, value, writer) : put(&t, name, value, writer);
        if (!ok) return false;
    }
    return true;
}

static bool complain(Json key, Json one, Json other, Error *err) {
    const char *name = json_string_data(&key);
    return error_set(
        err, ERR_DATA,
        "Nodes `%s` and `%s` wrote `%s` in parallel branches, and the state says no way to join the "
        "two: give `%s` a reducer (state: {%s: {reduce: append}}) or let one write elsewhere.",
        json_string_data(&one), json_string_data(&other), name, name, name);
}

bool reduce_no_conflict(const Graph *graph, Json all, Error *err) {
    Json seen = json_object(), name, entry;
    bool ok = true;
    for (size_t i = 0; ok && i < json_array_len(all); i++) {
        Json writes = json_array_get(all, i);
        for (size_t pos = 0; ok && json_object_next(writes, &pos, &name, &entry);) {
            Json writer = json_array_get(entry, WRITE_NODE), other = json_object_get(seen, name);
            if (json_kind(writer) == JSON_NULL ||
                reduce_of(graph_key(graph, name)) != REDUCE_REPLACE) {
                continue;
            }
            ok = json_is_none(other) || complain(name, other, writer, err);
            seen = json_object_set(seen, json_ref(name), json_ref(writer));
        }
    }
    json_unref(seen);
    return ok;
}

Json reduce_result(Json writes, Json state) {
    Json out = json_object(), name, entry;
    for (size_t pos = 0; json_object_next(writes, &pos, &name, &entry);) {
        Json value = json_object_get(state, name);
        out = json_object_set(out, json_ref(name),
                              json_is_none(value) ? json_null() : json_ref(value));
    }
    return out;
}

Json reduce_written(const Graph *graph, Json writes) {
    Json out = json_object(), name, entry;
    for (size_t pos = 0; json_object_next(writes, &pos, &name, &entry);) {
        Json value = json_array_get(entry, WRITE_VALUE);
        bool listed = reduce_of(graph_key(graph, name)) == REDUCE_EXPR && !replaces(entry) &&
                      json_kind(value) == JSON_ARRAY && json_array_len(value);
        value = listed ? json_array_get(value, json_array_len(value) - 1) : value;
        out = json_object_set(out, json_ref(name), json_ref(value));
    }
    return out;
}

static bool put_inner(const Target *t, const Level *inner, Json name, Json entry, Json writer) {
    const StateKey *key = graph_key(t->graph, name), *its = graph_key(inner->graph, name);
    Json final = json_object_get(inner->state, name), value = json_array_get(entry, WRITE_VALUE);
    final = json_is_none(final) ? json_null() : final;
    if (replaces(entry)) {
        put_replaced(t, name, final);
        return true;
    }
    if (reduce_of(key) == REDUCE_REPLACE) return put(t, name, final, writer);
    bool listed = reduce_of(its) == REDUCE_EXPR && json_kind(value) == JSON_ARRAY;
    return listed ? put_all(t, name, value, writer) : put(t, name, value, writer);
}

bool reduce_inner(Level *outer, const Level *inner, Evaluator *m, Error *err) {
    Target t = {outer->graph, m, &outer->state, &outer->writes, err};
    Json name, entry;
    for (size_t pos = 0; json_object_next(inner->writes, &pos, &name, &entry);) {
        if (!put_inner(&t, inner, name, entry, outer->node->name_json)) return false;
    }
    return true;
}
