/* lib_thread.c - what the store keeps of runs: operations with values of pawl.h, and changes by hand. */
#include "lib_inside.h"

#include "json_build.h"
#include "operation.h"

/* ---- looking ---- */

/* Answered at once, so that it can be asked for anywhere. Consumes args. */
static Json look(PawlEngine *e, const char *operation, Json args, PawlError *err) {
    Error error = ERROR_INIT;
    if (!engine_has_store(e, err)) {
        json_unref(args);
        return json_none();
    }
    Json answer = operation_now(e->host, operation, args, &error);
    lib_give_error(err, &error);
    return answer;
}

static int64_t int_of(Json object, const char *key) {
    return pawl_value_int(value_of(json_object_get_c(object, key)), 0);
}

static bool show_checkpoint(Json c, PawlCheckpointFn fn, void *ctx) {
    const char *node = json_object_text(c, "node"), *status = json_object_text(c, "status");
    Json changed = json_object_get_c(c, "changed");
    PawlCheckpoint out = {.checkpoint = int_of(c, "checkpoint"),
                          .parent = int_of(c, "parent"),
                          .step = int_of(c, "step"),
                          .frame = int_of(c, "frame"),
                          .node = node ? node : "",
                          .status = status ? status : "",
                          .changed =
                              value_of(json_is_none(changed) ? json_array() : json_ref(changed))};
    json_time_ms(json_object_get_c(c, "at"), &out.at);
    bool more = fn(ctx, &out);
    pawl_value_unref(out.changed);
    return more;
}

bool pawl_run_history(PawlEngine *e, const char *thread, PawlCheckpointFn fn, void *ctx,
                      PawlError *err) {
    for (int64_t from = 1; from;) {
        Json page = look(e, "run_history",
                         OBJECT(KEY("thread", thread ? thread : ""), KEY("from", from)), err);
        if (json_is_none(page)) return false;
        Json list = json_object_get_c(page, "checkpoints");
        from = int_of(page, "next");
        for (size_t i = 0; i < json_array_len(list); i++) {
            if (!show_checkpoint(json_array_get(list, i), fn, ctx)) {
                from = 0;
                break;
            }
        }
        json_unref(page);
    }
    return true;
}

PawlValue pawl_run_show(PawlEngine *e, const char *thread, int64_t checkpoint, PawlError *err) {
    Json args = OBJECT(KEY("thread", thread ? thread : ""),
                       KEY("checkpoint", checkpoint ? json_int(checkpoint) : json_none()));
    return value_of(answer_part(look(e, "run_state", args, err), "state"));
}

PawlValue pawl_run_list(PawlEngine *e, PawlError *err) {
    Json all = json_array(), next = json_none();
    do {
        Json page = look(e, "runs", OBJECT(KEY("after", next)), err);
        if (json_is_none(page)) {
            json_unref(all);
            return value_of(page);
        }
        all = json_array_concat(all, json_ref(json_object_get_c(page, "runs")));
        next = answer_part(page, "next");
    } while (!json_is_none(next));
    return value_of(all);
}

PawlValue pawl_run_info(PawlEngine *e, const char *thread, PawlError *err) {
    return value_of(look(e, "run_get", OBJECT(KEY("thread", thread ? thread : "")), err));
}

/* ---- changes by hand ---- */

int64_t pawl_run_update(PawlEngine *e, const char *thread, PawlValue set, const char *as_node,
                        PawlError *err) {
    Error error = ERROR_INIT;
    int64_t seq = 0;
    Json changes = changes_of(json_of(set), &error);
    RunUpdate update = {.thread = thread ? thread : "", .set = changes, .as_node = as_node};
    if (engine_has_store(e, err)) {
        bool ok = error.code == ERR_NONE && engine_update_now(e->engine, &update, &seq, &error);
        seq = ok ? seq : 0;
        lib_give_error(err, &error);
    }
    json_unref(changes);
    return seq;
}

bool pawl_run_fork(PawlEngine *e, const char *thread, int64_t checkpoint, const char *new_thread,
                   PawlError *err) {
    Error error = ERROR_INIT;
    RunRow row = {0};
    if (!engine_has_store(e, err)) return false;
    engine_fork_now(e->engine, thread ? thread : "", checkpoint, new_thread, &row, &error);
    run_row_clear(&row);
    return lib_give_error(err, &error);
}

bool pawl_run_ask_cancel(PawlEngine *e, const char *thread, PawlError *err) {
    Error error = ERROR_INIT;
    if (!engine_has_store(e, err)) return false;
    Run *cleaning = NULL;
    if (!engine_cancel_now(e->engine, thread ? thread : "", &cleaning, &error) &&
        error.code == ERR_BUSY) {
        error_clear(&error);
        engine_ask_cancel_now(e->engine, thread ? thread : "", &error);
    }
    if (cleaning) { /* nobody has it: it goes when it has settled */
        engine_add_run(e, host_adopt(e->host, cleaning), NULL, NULL)->freed = true;
    }
    return lib_give_error(err, &error);
}
