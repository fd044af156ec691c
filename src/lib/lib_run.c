/* lib_run.c - starting runs, going on with them, and looking at them. */
#include "lib_inside.h"

#include "hooks.h"
#include "json_build.h"
#include "lifecycle.h"

#include <limits.h>
#include <unistd.h>

/* ---- starting ---- */

static bool bound(const PawlFlow *flow, Error *error) {
    const Node *node = flow_unbound(flow);
    Json name = node ? node->params[CALLBACK_NAME].value : json_none();
    return !node || error_set(error, ERR_USAGE,
                              "Node `%s` calls the function `%.*s`, which is not bound: "
                              "pawl_flow_bind() does that.",
                              node->name, (int)json_string_len(name), json_string_data(&name));
}

static bool can_wait(const PawlEngine *e, const PawlFlow *flow, Error *error) {
    return e->has_store || !flow->flow->has_interrupts ||
           error_set(error, ERR_USAGE,
                     "The flow `%s` has interrupts, and this engine has no store in which a run "
                     "could wait: give pawl_engine_open() one, at least \"memory:\".",
                     flow->flow->name);
}

PawlRun *pawl_run_start(PawlEngine *e, PawlFlow *flow, const PawlStart *start, PawlError *err) {
    Error error = ERROR_INIT;
    PawlStart s = start ? *start : (PawlStart){0};
    Json input = json_of(s.input);
    char folder[PATH_MAX];
    RunStart run_start = {.thread = s.thread,
                          .input = input,
                          .mode = s.interactive ? "interactive" : NULL,
                          .folder = getcwd(folder, sizeof folder)};
    engine_sweep(e);
    Run *run = bound(flow, &error) && can_wait(e, flow, &error)
                   ? engine_start_now(e->engine, flow->flow, &run_start, &error)
                   : NULL;
    json_unref(input);
    lib_give_error(err, &error);
    return run ? engine_add_run(e, host_adopt(e->host, run), flow, s.data) : NULL;
}

/* ---- the definition that a run goes on with ---- */

/* JSON_NONE when it cannot be had: engine_resume_now() has the words. */
static Json stored_definition(PawlEngine *e, const PawlResume *r) {
    StoredRun stored = {0};
    Store *store = engine_reader(e->engine, NULL);
    bool ok = store && r->thread && stored_run_read(store, r->thread, r->checkpoint, &stored, NULL);
    Json definition = ok ? json_ref(stored.definition) : json_none();
    stored_run_clear(&stored);
    return definition;
}

static bool unchanged(const PawlResume *r, Json stored, Error *error) {
    Json ours = flow_definition(r->flow->flow);
    bool same = r->reload || json_is_none(stored) || json_equal(ours, stored);
    json_unref(ours);
    return same || error_set(error, ERR_USAGE,
                             "The flow is not the one that thread `%s` was started with: build it "
                             "as it was, or take this one with PawlResume.reload.",
                             r->thread);
}

static bool needs_no_functions(const PawlResume *r, const PawlFlow *flow, Error *error) {
    const Node *node = flow_unbound(flow);
    return !node || error_set(error, ERR_USAGE,
                              "Node `%s` of thread `%s` is a function of the program that started "
                              "it: build the same flow and give it in PawlResume.flow.",
                              node->name, r->thread);
}

/* The flow to go on with, held for the caller; NULL with *error set. Where the store cannot say
 * what the definition is, engine_resume_now() will say why: any flow does. */
PawlFlow *flow_to_resume(PawlEngine *e, const PawlResume *r, Error *error) {
    Json stored = stored_definition(e, r);
    PawlFlow *flow = NULL;
    PawlError err = {0};
    if (r->flow) {
        flow = unchanged(r, stored, error) && bound(r->flow, error) ? flow_hold(r->flow) : NULL;
    } else if (!json_is_none(stored)) {
        flow = flow_of_definition(stored, &err);
        if (!flow) {
            error_set(error, ERR_DATA,
                      "The workflow stored with thread `%s` does not load here: %s", r->thread,
                      err.message);
        } else if (!needs_no_functions(r, flow, error)) {
            pawl_flow_free(flow);
            flow = NULL;
        }
    }
    json_unref(stored);
    return flow;
}

/* ---- going on ---- */

/* {key: value} as [[["key"], value]]. */
Json changes_of(Json set, Error *error) {
    Json out = json_array(), key, value;
    bool fine = json_kind(set) == JSON_ARRAY;
    for (size_t pos = 0; json_object_next(set, &pos, &key, &value);) {
        Json pair[] = {json_array_push(json_array(), json_ref(key)), json_ref(value)};
        out = json_array_push(out, json_array_from(pair, 2));
    }
    for (size_t i = 0; fine && i < json_array_len(set); i++) {
        Json pair = json_array_get(set, i);
        fine = json_array_len(pair) == 2 && json_kind(json_array_get(pair, 0)) == JSON_ARRAY;
    }
    if (fine) {
        json_unref(out);
        return set;
    }
    if (!json_is_none(set) && json_kind(set) != JSON_OBJECT) {
        error_set(error, ERR_USAGE,
                  "`set` is an object of keys and values, or an array of [path, value] where each "
                  "path is an array.");
    }
    json_unref(set);
    return out;
}

static PawlRun *resume_with(PawlEngine *e, const PawlResume *r, Json set, Error *error) {
    PawlFlow *flow = error->code == ERR_NONE ? flow_to_resume(e, r, error) : NULL;
    if (error->code != ERR_NONE) return NULL;
    RunResume resume = {
        .thread = r->thread ? r->thread : "",
        .seq = r->checkpoint,
        .interrupt = r->interrupt,
        .value = json_of(r->value),
        .decision = r->decision,
        .set = set,
        .reload = flow ? flow->flow : NULL,
    };
    Run *run = engine_resume_now(e->engine, &resume, error);
    PawlRun *out = run && flow ? engine_add_run(e, host_adopt(e->host, run), flow, r->data) : NULL;
    pawl_flow_free(flow);
    return out;
}

PawlRun *pawl_run_resume(PawlEngine *e, const PawlResume *r, PawlError *err) {
    Error error = ERROR_INIT;
    PawlRun *run = NULL;
    Json set = changes_of(json_of(r->set), &error);
    engine_sweep(e);
    if (!r->thread || !*r->thread) {
        error_set(&error, ERR_USAGE,
                  "PawlResume.thread is missing: it names the run to go on with.");
        lib_give_error(err, &error);
    } else if (engine_has_store(e, err)) {
        run = resume_with(e, r, set, &error);
        lib_give_error(err, &error);
    }
    json_unref(set);
    json_unref(json_of(r->value));
    return run;
}

/* ---- ending ---- */

void pawl_run_cancel(PawlRun *r) {
    r->wants_cancel = true;
    engine_wish(r);
}

void pawl_run_stop(PawlRun *r) {
    r->wants_stop = true;
    engine_wish(r);
}

void pawl_run_free(PawlRun *r) {
    if (r) engine_let_go(r);
}

/* ---- looking ---- */

PawlStatus pawl_run_status(const PawlRun *r) {
    _Static_assert((int)PAWL_CANCELLED == (int)RUN_CANCELLED &&
                       (int)PAWL_STOPPED == (int)RUN_STOPPED,
                   "statuses have the same numbers");
    return (PawlStatus)run_status_find(run_status(r->run));
}

const char *pawl_status_name(PawlStatus status) {
    return (unsigned)status <= PAWL_CANCELLED ? run_status_names[status] : "";
}

bool pawl_run_settled(const PawlRun *r) {
    return run_settled(r->run);
}

const char *pawl_run_thread(const PawlRun *r) {
    return run_thread(r->run);
}

int64_t pawl_run_checkpoint(const PawlRun *r) {
    return run_checkpoint(r->run);
}

int64_t pawl_run_step(const PawlRun *r) {
    return run_step(r->run);
}

PawlValue pawl_run_state(const PawlRun *r) {
    return value_of(run_state(r->run));
}

PawlValue pawl_run_error(const PawlRun *r) {
    const Error *error = run_store_error(r->run);
    if (!error) return value_of(run_error(r->run));
    if (json_is_none(r->store_error)) {
        ((PawlRun *)r)->store_error =
            OBJECT(KEY("kind", "store"), KEY("message", (const char *)error->msg));
    }
    return value_of(r->store_error);
}

PawlValue pawl_run_interrupts(const PawlRun *r) {
    return value_of(run_interrupts(r->run));
}

void *pawl_run_data(const PawlRun *r) {
    return r->data;
}

PawlEngine *pawl_run_engine(const PawlRun *r) {
    return r->engine;
}
