/* session_change.c - changes that wait for the frame to go on: variables, config, further nodes. */
#include "session_inside.h"

#include "json_path.h"

static void tell_changed(Session *s, const Frame *f, const char *what) {
    Json event = json_object_with(session_event_new("changed"), "frame", json_int(frame_id(f)));
    session_tell(s, json_object_with(event, "what", json_string_c(what)));
}

/* ---- variables ---- */

/* [[id, path, value], [id, path], ...]: the list that a pause has. Borrowed; JSON_NONE: none. */
static Json pending_of(const Frame *f) {
    Json info = frame_pause(f);
    Json list = json_kind(info) == JSON_OBJECT ? json_object_get_c(info, "pending") : json_none();
    bool valid = json_kind(list) == JSON_ARRAY;
    for (size_t i = 0; valid && i < json_array_len(list); i++) {
        Json one = json_array_get(list, i);
        valid = json_kind(one) == JSON_ARRAY && json_kind(json_array_get(one, 1)) == JSON_ARRAY;
    }
    return valid ? list : json_none();
}

static size_t pending_len(const Frame *f) {
    Json list = pending_of(f);
    return json_is_none(list) ? 0 : json_array_len(list);
}

static void set_pending(Session *s, Frame *f, Json list) {
    Json info = json_ref(frame_pause(f));
    frame_set_pause(f, json_object_with(info, "pending", list));
    session_record(s);
    tell_changed(s, f, "variables");
}

Json session_pending(const Frame *f) {
    Json list = pending_of(f), out = json_array();
    for (size_t i = 0; i < pending_len(f); i++) {
        Json one = json_array_get(list, i);
        Json change = json_object_with(json_object(), "id", json_ref(json_array_get(one, 0)));
        change = json_object_with(change, "path", json_ref(json_array_get(one, 1)));
        if (json_array_len(one) > 2) {
            change = json_object_with(change, "value", json_ref(json_array_get(one, 2)));
        }
        out = json_array_push(out, change);
    }
    return out;
}

static bool may_change(Json path, Error *err) {
    return json_array_len(path) > 0 ||
           error_set(err, ERR_USAGE, "Say what to change: a path such as .name or .items[0].");
}

static bool is_engines(const Frame *f, Json path, Error *err) {
    return frame_graph(f, frame_depth(f) - 1)->scoped &&
           json_string_is(json_array_get(path, 0), "tasks") &&
           !error_set(err, ERR_USAGE,
                      "`tasks` is what the engine says of the tasks: it cannot be changed.");
}

bool session_set(Session *s, Frame *f, Json path, Json value, Error *err) {
    enum { PENDING_MAX = 1000 };
    if (!may_change(path, err) || is_engines(f, path, err)) {
        return false;
    }
    if (pending_len(f) >= PENDING_MAX) {
        return error_set(err, ERR_USAGE, "At most %d changes can wait in one frame.", PENDING_MAX);
    }
    Json change = json_array_push(json_array(), json_int(session_next_number(s, "next_change")));
    change = json_array_push(change, json_ref(path));
    if (!json_is_none(value)) {
        change = json_array_push(change, json_ref(value));
    }
    Json list = pending_of(f);
    list = json_array_push(json_is_none(list) ? json_array() : json_ref(list), change);
    Json info = json_object_with(json_ref(frame_pause(f)), "pending", json_ref(list));
    Json before = json_ref(frame_pause(f));
    frame_set_pause(f, info);
    Error why = ERROR_INIT;
    Json state = session_state(s, f, &why);
    bool ok =
        !json_is_none(state) || error_set(err, ERR_USAGE, "That cannot be changed: %s.", why.msg);
    json_unref(state);
    if (ok) {
        session_number(s, "next_change");
        set_pending(s, f, list);
        json_unref(before);
    } else {
        frame_set_pause(f, before);
        json_unref(list);
    }
    return ok;
}

bool session_revoke(Session *s, Frame *f, int64_t id) {
    Json list = pending_of(f), kept = json_array();
    size_t n = pending_len(f);
    for (size_t i = 0; i < n; i++) {
        Json one = json_array_get(list, i);
        if (id && image_int(one, 0) != id) {
            kept = json_array_push(kept, json_ref(one));
        }
    }
    bool any = json_array_len(kept) < n;
    if (any) {
        set_pending(s, f, kept);
    } else {
        json_unref(kept);
    }
    return any || !id;
}

Json session_state(Session *s, Frame *f, Error *err) {
    (void)s;
    return frame_will_see(f, err);
}

/* ---- further nodes ---- */

static bool inject(Session *s, Frame *f, const Injection *injection, Error *err) {
    if (!frame_inject(f, injection, err)) {
        return false;
    }
    session_number(s, "next_injection");
    const Flow *flow = frame_injection_flow(f, injection->id);
    if (flow) {
        breakpoints_add_flow(s->breakpoints, flow);
    }
    session_record(s);
    return true;
}

Json session_inject(Session *s, Frame *f, InjectWhere where, Json name, Json node, Error *err) {
    Injection injection = {session_next_number(s, "next_injection"), where, name, node};
    if (!inject(s, f, &injection, err)) {
        return json_none();
    }
    tell_changed(s, f, "injected");
    Json all = frame_injections(f);
    Json last = json_ref(json_array_get(all, json_array_len(all) - 1));
    json_unref(all);
    return last;
}

static Json injected_in(Json out, const Frame *f) {
    Json all = frame_injections(f);
    for (size_t i = 0; i < json_array_len(all); i++) {
        Json one = json_array_get(all, i);
        if (!json_string_is(json_object_get_c(one, "where"), "instead")) {
            out = json_array_push(out,
                                  json_object_with(json_ref(one), "frame", json_int(frame_id(f))));
        }
    }
    json_unref(all);
    return out;
}

Json session_injected(const Session *s, const Frame *f) {
    Json out = json_array();
    if (f) {
        return injected_in(out, f);
    }
    for (f = run_next_frame(s->run, NULL); f; f = run_next_frame(s->run, f)) {
        out = injected_in(out, f);
    }
    return out;
}

bool session_uninject(Session *s, int64_t id) {
    for (Frame *f = run_next_frame(s->run, NULL); f; f = run_next_frame(s->run, f)) {
        if (frame_drop_injection(f, id)) {
            session_record(s);
            tell_changed(s, f, "injected");
            return true;
        }
    }
    return false;
}

/* ---- config ---- */

/* The node that is to run instead; *id is its injection. JSON_NONE: the one of the file does. */
static Json edited(const Frame *f, int64_t *id) {
    Json all = frame_injections(f), found = json_none();
    *id = 0;
    for (size_t i = 0; i < json_array_len(all); i++) {
        Json one = json_array_get(all, i);
        if (json_string_is(json_object_get_c(one, "where"), "instead")) {
            found = json_ref(json_object_get_c(one, "node"));
            *id = json_object_get_c(one, "id").i;
        }
    }
    json_unref(all);
    return found;
}

Json session_config(const Session *s, const Frame *f) {
    int64_t id;
    (void)s;
    const Node *node = frame_node(f, frame_depth(f) - 1);
    Json own = edited(f, &id);
    return json_is_none(own) && node ? json_ref(node->source) : own;
}

bool session_config_set(Session *s, Frame *f, Json path, Json value, Error *err) {
    int64_t id;
    if (!may_change(path, err)) {
        return false;
    }
    Json old = edited(f, &id), source = session_config(s, f);
    json_unref(old);
    if (json_kind(source) != JSON_OBJECT) {
        json_unref(source);
        return error_set(err, ERR_USAGE, "Frame %lld stands at no node whose config can be edited.",
                         (long long)frame_id(f));
    }
    Json node = json_path_set(source, path, json_ref(value), err);
    if (json_is_none(node)) {
        return false;
    }
    Injection injection = {session_next_number(s, "next_injection"), INJECT_INSTEAD, json_null(),
                           node};
    bool ok = inject(s, f, &injection, err);
    json_unref(node);
    if (ok && id) {
        frame_drop_injection(f, id);
    }
    if (ok) {
        session_record(s);
        tell_changed(s, f, "config");
    }
    return ok;
}

bool session_config_reset(Session *s, Frame *f, Error *err) {
    int64_t id;
    json_unref(edited(f, &id));
    if (!id) {
        return error_set(err, ERR_USAGE, "The config of this node was not edited.");
    }
    frame_drop_injection(f, id);
    session_record(s);
    tell_changed(s, f, "config");
    return true;
}
