/* change.c - changes by hand to what a frame sees: by path, in a graph's state or in a task's scope. */
#include "change.h"

#include "image_read.h"
#include "json_path.h"
#include "reduce.h"
#include "scope.h"

Json change_set(Json state, Json changes, Error *err) {
    for (size_t i = 0; i < json_array_len(changes) && !json_is_none(state); i++) {
        Json change = json_array_get(changes, i), path = json_array_get(change, 0);
        if (json_array_len(change) > 1) {
            state = json_path_set(state, path, json_ref(json_array_get(change, 1)), err);
        } else {
            Json paths = ARRAY(json_ref(path));
            state = json_path_delete(state, paths, err);
            json_unref(paths);
        }
    }
    if (!json_is_none(state) && json_kind(state) != JSON_OBJECT) {
        error_set(err, ERR_USAGE, "The state is an object and cannot become anything else.");
        json_clear(&state);
    }
    return state;
}

/* What info.pending says, without the numbers; given. */
Json frame_pending(const Frame *f) {
    Json info = frame_pause(f), out = json_array();
    Json list = json_object_get_c(info, "pending");
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json one = json_array_get(list, i);
        size_t n = json_array_len(one);
        if (json_kind(json_array_get(one, 1)) == JSON_ARRAY) {
            out = json_array_push(out, json_array_slice(json_ref(one), 1, n < 3 ? n : 3));
        }
    }
    return out;
}

Json frame_will_see(const Frame *f, Error *err) {
    Json changes = frame_pending(f), state = change_set(frame_sees(f), changes, err);
    json_unref(changes);
    return state;
}

/* Variables are set in the scope that the task runs in. */
static bool change_variable(Frame *f, Json before, Json after, Json name, Error *err) {
    Json old_value = json_object_get(before, name), value = json_object_get(after, name);
    if (json_string_is(name, "tasks")) {
        return error_set(err, ERR_USAGE,
                         "`tasks` is what the engine says of the tasks: it cannot be changed.");
    }
    if (json_is_none(value)) {
        scope_unset(f, f->nlevels - 1, name);
    } else if (!json_identical(value, old_value)) {
        scope_set(f, f->nlevels - 1, json_ref(name), json_ref(value));
    }
    return true;
}

static bool change_scope(Frame *f, Json changes, Error *err) {
    Json before = frame_sees(f), after = change_set(frame_sees(f), changes, err);
    bool ok = !json_is_none(after) && value_fits(f->run->engine, after, "The state", err) &&
              value_fits_beside(f->run, changes, err);
    for (size_t i = 0; ok && i < json_array_len(changes); i++) {
        Json path = json_array_get(json_array_get(changes, i), 0);
        Json name = json_array_get(path, 0);
        ok = json_kind(name) == JSON_STRING
                 ? change_variable(f, before, after, name, err)
                 : error_set(err, ERR_USAGE, "Say which variable: a path begins with its name.");
    }
    json_unref(before);
    json_unref(after);
    return ok;
}

bool frame_change(Frame *f, Json changes, Error *err) {
    return !json_array_len(changes)      ? true
           : frame_top(f)->graph->scoped ? change_scope(f, changes, err)
                                         : level_set(f, f->nlevels - 1, changes, err);
}

/* In a level whose writes somebody takes over, what was set by hand is a write too. */
static void note_writes(Level *l, Json set) {
    for (size_t i = 0; !l->graph->scoped && !json_is_none(l->writes) && i < json_array_len(set);
         i++) {
        Json path = json_array_get(json_array_get(set, i), 0);
        Json key = json_array_get(path, 0);
        Json value = json_kind(key) == JSON_STRING ? json_object_get(l->state, key) : json_none();
        if (!json_is_none(value)) l->writes = reduce_replace(l->writes, key, value);
    }
}

bool level_set(Frame *f, uint32_t level, Json set, Error *err) {
    Level *l = &f->levels[level];
    bool elsewhere = json_is_none(l->state); /* in the scope around it, which has its own turn */
    if (!json_array_len(set) || elsewhere) return true;
    Json state = change_set(json_ref(l->state), set, err);
    if (json_is_none(state)) return false;
    if (!value_fits(f->run->engine, state, "The state", err) ||
        !value_fits_beside(f->run, set, err)) {
        json_unref(state);
        return false;
    }
    json_put(&l->state, state);
    note_writes(l, set);
    frame_mark(f);
    for (Frame *child = f->children ? f->next : NULL; child; child = child->next) {
        frame_mark(child); /* it may have shared the state that was */
    }
    return true;
}
