/* dap_threads.c - threads, stacks and scopes, and the texts of sources.
 *
 * The list of threads is kept from what the session tells, so that it costs nothing to ask for it however many
 * frames there are. Stacks and scopes are asked for when the client wants them. */
#include "dap_inside.h"

#include "bisect.h"
#include "mem.h"

/* ---- the list ---- */

static size_t place_of(const Dap *dap, int64_t id) {
    BISECT(found, dap->nthreads, i, dap->threads[i].id < id);
    return found;
}

DapThread *dap_thread(Dap *dap, int64_t id) {
    size_t i = place_of(dap, id);
    return i < dap->nthreads && dap->threads[i].id == id ? &dap->threads[i] : NULL;
}

DapThread *dap_thread_add(Dap *dap, int64_t id, Json name) {
    DapThread *there = dap_thread(dap, id);
    if (!there) {
        size_t i = place_of(dap, id);
        dap->threads =
            mem_grow(dap->threads, dap->nthreads, &dap->threads_cap, sizeof *dap->threads);
        memmove(dap->threads + i + 1, dap->threads + i, (dap->nthreads - i) * sizeof *dap->threads);
        dap->nthreads++;
        there = &dap->threads[i];
        *there = (DapThread){.id = id};
    }
    if (json_kind(name) == JSON_STRING) json_put(&there->name, json_ref(name));
    return there;
}

void dap_thread_remove(Dap *dap, int64_t id) {
    size_t i = place_of(dap, id);
    if (i == dap->nthreads || dap->threads[i].id != id) return;
    json_unref(dap->threads[i].name);
    memmove(dap->threads + i, dap->threads + i + 1, (dap->nthreads - i - 1) * sizeof *dap->threads);
    dap->nthreads--;
}

void dap_threads_clear(Dap *dap) {
    for (size_t i = 0; i < dap->nthreads; i++) json_unref(dap->threads[i].name);
    dap->nthreads = 0;
}

void dap_threads_take(Dap *dap, Json answer) {
    Json frames = json_object_get_c(answer, "frames");
    dap_threads_clear(dap);
    for (size_t i = 0; i < json_array_len(frames); i++) {
        Json frame = json_array_get(frames, i);
        DapThread *thread =
            dap_thread_add(dap, dap_int(frame, "frame", 0), json_object_get_c(frame, "name"));
        thread->paused = json_string_is(json_object_get_c(frame, "status"), "paused");
    }
}

/* "main", "parallel[1]"; several frames may have the same. A run that has ended has one all the same, to look at. */
void dap_threads(DapCall *call) {
    Dap *dap = call->dap;
    Json list = json_array();
    for (size_t i = 0; i < dap->nthreads; i++) {
        const DapThread *t = &dap->threads[i];
        const char *name = json_kind(t->name) == JSON_STRING ? json_string_data(&t->name) : "frame";
        Json shown =
            t->id == 1 ? json_string_c(name) : json_string_fmt("%s (%lld)", name, (long long)t->id);
        list = json_array_push(list, OBJECT(KEY("id", t->id), KEY("name", shown)));
    }
    if (!dap->nthreads && dap->post_mortem) {
        list = json_array_push(list, OBJECT(KEY("id", json_int(1)), KEY("name", "main")));
    }
    dap_answer(call, OBJECT(KEY("threads", list)));
}

/* ---- stacks ---- */

static Json line_json(const Dap *dap, Json place) {
    return json_int(dap_int(place, "line", 1) - dap->client.lines_at_0);
}

static Json column_json(const Dap *dap, Json place) {
    const char *file = json_object_text(place, "file");
    int64_t column =
        sources_units(dap->sources, file, dap_int(place, "line", 1), dap_int(place, "column", 1));
    return json_int(column - dap->client.columns_at_0);
}

static Json place_json(const Dap *dap, Json frame, Json place) {
    const char *file = json_object_text(place, "file");
    Json source = file ? sources_json(dap->sources, file, dap->client.uris) : json_none();
    if (json_is_none(source)) { /* an injected node has no place */
        return OBJECT_ADD(frame, KEY("line", json_int(0)), KEY("column", json_int(0)));
    }
    return OBJECT_ADD(frame, KEY("source", source), KEY("line", line_json(dap, place)),
                      KEY("column", column_json(dap, place)));
}

/* "`upload` (shell)"; a level that stands between two nodes has the name of its workflow. */
static Json level_name(Json level, Json title) {
    const char *node = json_object_text(level, "node"), *kind = json_object_text(level, "kind");
    const char *workflow = json_object_text(level, "workflow");
    if (!node) return json_string_fmt("%s", workflow && workflow[0] ? workflow : "workflow");
    if (json_kind(title) == JSON_STRING) {
        return json_string_fmt("%s (%s): %s", node, kind ? kind : "node", json_string_data(&title));
    }
    return json_string_fmt("%s (%s)", node, kind ? kind : "node");
}

static Json level_json(Dap *dap, const DapCall *call, Json frame, size_t i) {
    Json level = json_array_get(json_object_get_c(frame, "stack"), i);
    Json title = i ? json_none() : json_object_get_c(frame, "title");
    int64_t id = handles_add(
        &dap->handles,
        (Handle){.kind = HANDLE_LEVEL,
                 .thread = call->number,
                 .frame = dap_int(level, "frame", 0),
                 .depth = i ? dap_int(level, "depth", 0) : 0,
                 .top = i == 0,
                 .from = !i && json_string_is(json_object_get_c(frame, "position"), "before"),
                 .value = i ? json_none() : json_ref(json_object_get_c(frame, "error"))});
    Json out = OBJECT(KEY("id", id), KEY("name", level_name(level, title)));
    out = place_json(dap, out, level);
    bool can = dap_int(level, "frame", 0) == call->number && json_object_text(level, "node");
    return OBJECT_ADD(out, KEY("canRestart", json_bool(can)));
}

/* The last of a stack: what the run is, for which there is no place. */
static Json run_level_json(Dap *dap, const DapCall *call) {
    int64_t id =
        handles_add(&dap->handles,
                    (Handle){.kind = HANDLE_LEVEL, .thread = call->number, .frame = 0, .depth = 0});
    const char *workflow =
        json_kind(dap->workflow) == JSON_STRING ? json_string_data(&dap->workflow) : "run";
    return OBJECT(KEY("id", id), KEY("name", json_string_fmt("%s: %s", workflow, dap->thread)),
                  KEY("line", json_int(0)), KEY("column", json_int(0)),
                  KEY("canRestart", json_bool(false)), KEY("presentationHint", "label"));
}

static void stack_answer(DapCall *call, Json frame) {
    Dap *dap = call->dap;
    size_t levels = json_array_len(json_object_get_c(frame, "stack")), total = levels + 1;
    int64_t start = dap_int(call->args, "startFrame", 0), wanted = dap_int(call->args, "levels", 0);
    size_t from = start > 0 ? (size_t)start : 0, n = wanted > 0 ? (size_t)wanted : total;
    Json list = json_array();
    for (size_t i = from; i < total && n; i++, n--) {
        list = json_array_push(list, i < levels ? level_json(dap, call, frame, i)
                                                : run_level_json(dap, call));
    }
    dap_answer(call, OBJECT(KEY("stackFrames", list), KEY("totalFrames", (int64_t)total)));
}

static void on_stack(DapCall *call, Json answer) {
    Json frame = json_object_get_c(answer, "frame");
    stack_answer(call, frame);
    json_unref(answer);
}

void dap_stack_trace(DapCall *call) {
    Dap *dap = call->dap;
    call->number = dap_int(call->args, "threadId", 0);
    if (dap_thread(dap, call->number)) {
        dap_ask(call, "stack", OBJECT(KEY("frame", call->number)), on_stack);
    } else if (dap->post_mortem && call->number == 1) {
        stack_answer(call, json_none());
    } else {
        dap_fail_with(call, "There is no thread %lld.", (long long)call->number);
    }
}

/* ---- scopes ---- */

static Json scope(Dap *dap, const char *name, const char *hint, bool expensive, Handle handle) {
    return OBJECT(KEY("name", name), KEY("presentationHint", hint),
                  KEY("variablesReference", handles_add(&dap->handles, handle)),
                  KEY("expensive", json_bool(expensive)));
}

static Handle lazy(const Handle *level, int what) {
    return (Handle){.kind = HANDLE_LAZY,
                    .thread = level->thread,
                    .frame = level->frame,
                    .depth = level->depth,
                    .top = level->top,
                    .what = what};
}

/* What the innermost level has besides its state. */
static Json own_scopes(Dap *dap, const Handle *level, Json list) {
    if (json_kind(level->value) == JSON_OBJECT) {
        Handle error = {
            .kind = HANDLE_VALUE, .thread = level->thread, .value = json_ref(level->value)};
        list = json_array_push(list, scope(dap, "Error", NULL, false, error));
    }
    list = json_array_push(list, scope(dap, "Node config", NULL, false, lazy(level, LAZY_CONFIG)));
    return list;
}

void dap_scopes(DapCall *call) {
    Dap *dap = call->dap;
    int64_t id = dap_int(call->args, "frameId", 0);
    const Handle *found = handles_find(&dap->handles, id);
    Json list = json_array();
    if (!found || found->kind != HANDLE_LEVEL) {
        json_unref(list);
        dap_fail_with(call, "There is no stack frame %lld any more: its thread has gone on.",
                      (long long)id);
        return;
    }
    Handle level = *found; /* making others may move it */
    json_ref(level.value);
    if (level.frame) {
        Handle state = {.kind = HANDLE_PATH,
                        .thread = level.thread,
                        .frame = level.frame,
                        .depth = level.depth,
                        .top = level.top,
                        .path = json_array()};
        list = json_array_push(list, scope(dap, "State", "locals", false, state));
        if (level.top) list = own_scopes(dap, &level, list);
    } else {
        list = json_array_push(list, scope(dap, "Run", NULL, false, lazy(&level, LAZY_RUN)));
    }
    if (level.top || !level.frame) {
        list = json_array_push(list, scope(dap, "Outputs", NULL, true, lazy(&level, LAZY_OUTPUTS)));
        list = json_array_push(list, scope(dap, "History", NULL, true, lazy(&level, LAZY_HISTORY)));
    }
    json_unref(level.value);
    dap_answer(call, OBJECT(KEY("scopes", list)));
}

/* ---- what failed ---- */

static void on_failed(DapCall *call, Json answer) {
    Json error = json_object_get_c(json_object_get_c(answer, "frame"), "error");
    const char *kind = json_object_text(error, "kind"),
               *message = json_object_text(error, "message");
    const char *trace = json_object_text(error, "traceback");
    if (!trace) trace = json_object_text(error, "stderr");
    if (!message) {
        dap_fail_with(call, "Nothing has failed in thread %lld.", (long long)call->number);
    } else {
        Json details =
            OBJECT(KEY("message", message), KEY("typeName", kind), KEY("stackTrace", trace));
        dap_answer(call,
                   OBJECT(KEY("exceptionId", kind ? kind : "error"), KEY("description", message),
                          KEY("breakMode", "unhandled"), KEY("details", details)));
    }
    json_unref(answer);
}

void dap_exception_info(DapCall *call) {
    call->number = dap_int(call->args, "threadId", 0);
    if (dap_thread(call->dap, call->number)) {
        dap_ask(call, "stack", OBJECT(KEY("frame", call->number)), on_failed);
    } else {
        dap_fail_with(call, "There is no thread %lld.", (long long)call->number);
    }
}

/* ---- sources ---- */

void dap_source(DapCall *call) {
    Dap *dap = call->dap;
    Error err = ERROR_INIT;
    Json source = json_object_get_c(call->args, "source");
    Json reference =
        OBJECT(KEY("sourceReference", json_ref(json_object_get_c(call->args, "sourceReference"))));
    bool number = dap_int(call->args, "sourceReference", 0) > 0 || json_is_none(source);
    const char *file =
        sources_find(dap->sources, number ? reference : source, dap->client.uris, &err);
    json_unref(reference);
    if (!file) {
        dap_fail(call, &err);
        return;
    }
    Json text = sources_text(dap->sources, sources_number(dap->sources, file));
    dap_answer(call, OBJECT(KEY("content", json_ref(text)), KEY("mimeType", "text/x-yaml")));
}

void dap_loaded_sources(DapCall *call) {
    Dap *dap = call->dap;
    Json list = json_array();
    for (size_t i = 0; i < sources_files(dap->sources); i++) {
        list = json_array_push(
            list, sources_json(dap->sources, sources_file(dap->sources, i), dap->client.uris));
    }
    dap_answer(call, OBJECT(KEY("sources", list)));
}
