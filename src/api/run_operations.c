/* run_operations.c - what can be done with runs: start, go on, stop, change. Looking at them is in
 * run_reading.c; both are in the one table. */
#include "operation.h"

#include "args.h"
#include "flow_bounds.h"
#include "image.h"
#include "json_binary.h"
#include "json_build.h"
#include "mem.h"
#include "registry.h"
#include "run_reading.h"
#include "subscription.h"
#include "things.h"

#include <string.h>
#include <unistd.h>

/* ---- answers ---- */

/* A run in memory, as RUN. */
static Json held_json(const HostRun *r) {
    const Run *run = host_run(r);
    return OBJECT(
        KEY("run", run_number(run)), KEY("thread", run_thread(run)),
        KEY("workflow", run_flow(run)->name), KEY("status", run_status(run)),
        KEY("checkpoint", run_checkpoint(run) ? json_int(run_checkpoint(run)) : json_none()));
}

/* A reply that is given once something has come of the run. */
typedef struct Asked {
    Reply reply;
    Host *host;
    char *thread; /* NULL: it does not matter */
} Asked;

static Asked *asked(Host *host, const char *thread, Reply reply) {
    Asked *a = mem_zalloc(sizeof *a);
    *a = (Asked){.reply = reply, .host = host, .thread = mem_strdup(thread)};
    return a;
}

static void asked_free(Asked *a) {
    mem_free(a->thread);
    mem_free(a);
}

/* Why breakpoints of the session are at no node, a sentence each; JSON_NONE: there are none. */
static Json doubts_of(HostRun *run) {
    Session *session = host_has_session(run);
    Json none = json_object(), answer = json_none();
    if (session) answer = operation_find("breakpoints", NULL)->ask(session, none, NULL);
    json_unref(none);
    Json list = json_is_none(answer) ? json_none() : json_object_get_c(answer, "breakpoints"),
         out = json_none();
    for (size_t i = 0; !json_is_none(list) && i < json_array_len(list); i++) {
        Json b = json_array_get(list, i), message = json_object_get_c(b, "message");
        if (!json_truthy(json_object_get_c(b, "verified")) && json_kind(message) == JSON_STRING) {
            out = json_array_push(out, json_ref(message));
        }
    }
    json_unref(answer);
    return out;
}

static void on_begun(void *ctx, HostRun *run, const Error *err) {
    Asked *a = ctx;
    const Session *session = run ? host_has_session(run) : NULL;
    if (run) {
        reply_give(a->reply, OBJECT_ADD(held_json(run),
                                        KEY("session", session ? session_id(session) : json_none()),
                                        KEY("doubts", doubts_of(run))));
    } else {
        reply_fail(a->reply, err);
    }
    asked_free(a);
}

/* ---- starting ---- */

static const char *const mode_words[] = {"autonomous", "interactive", NULL};

static HostDebug debug_of(Json args) {
    Json given = json_object_get_c(args, "debug");
    if (json_kind(given) != JSON_OBJECT) return (HostDebug){.breakpoints = json_none()};
    Json all = json_object_get_c(given, "pause_all_on_breakpoint");
    return (HostDebug){.wanted = true,
                       .awaits_window = json_truthy(json_object_get_c(given, "window")),
                       .pause_on_start = json_truthy(json_object_get_c(given, "pause_on_start")),
                       .pause_all = json_is_none(all)  ? 0
                                    : json_truthy(all) ? 1
                                                       : -1,
                       .breakpoints = json_object_get_c(given, "breakpoints")};
}

/* The workflow that was sent: its files, as a stored definition has them. */
static Flow *flow_of(const Host *host, Json definition, Error *err) {
    FlowProblems problems = {0};
    Flow *flow = flow_load_definition(definition, &problems);
    if (!flow) problems_error(&problems, "The definition is no workflow.", err);
    flow_problems_clear(&problems);
    if (flow && flow_is_allowed(flow, host_bounds(host), err)) return flow;
    flow_unref(flow);
    return NULL;
}

/* The same for one that was sent, or is meant by its name. On a thread. folder: the store's; NULL: the store is asked. */
static Flow *find_flow(const Host *host, const char *folder, Store *store, Json args, Error *err) {
    const char *name = json_object_text(args, "workflow");
    if (!name) return flow_of(host, json_object_get_c(args, "definition"), err);
    if (!folder) folder = store_folder(store, err);
    if (!folder) return NULL;
    Registry registry = {host_workflows(host), folder, host_workflow_bounds(host), NULL};
    Json definition = registry_definition(&registry, name, args_int(args, "version", 0), err);
    Flow *flow = json_is_none(definition) ? NULL : flow_of(host, definition, err);
    json_unref(definition);
    return flow;
}

/* What a run begins with is loaded first, on another thread: the results that another run had, which are read with a
 * workflow of that thread's own, and a workflow that is long. */
typedef struct Loading {
    HostJob job; /* first */
    Host *host;
    const char *folder; /* of the store; NULL: not known yet */
    HostComing *coming;
    Buf args; /* encoded */
    Flow *flow;
    Recording *recording; /* NULL: none is wanted */
    Json input, mode;     /* of the recorded run, where its own workflow runs again; JSON_NONE */
    void (*then)(Host *host, Json args, const struct Loading *loaded, Reply reply);
    Reply reply;
} Loading;

typedef void (*LoadedFn)(Host *host, Json args, const Loading *loaded, Reply reply);

/* Loading it would keep the loop busy for milliseconds. */
static bool is_long(Json args) {
    enum { LONG = 16 << 10 };
    Json files = json_object_get_c(json_object_get_c(args, "definition"), "files"), key, text;
    size_t bytes = 0;
    for (size_t pos = 0; json_object_next(files, &pos, &key, &text);) {
        bytes += json_string_len(text);
    }
    return bytes > LONG;
}

/* What a run began with: the state at its first checkpoint. */
static bool read_beginning(Loading *l, Store *store, const StoredRun *stored, Error *err) {
    Json first = image_load(store, &stored->row, 1, NULL, err);
    if (json_is_none(first)) return false;
    l->input = image_state(first);
    l->mode = json_ref(json_array_get(json_array_get(first, IMAGE_RUN), IMAGE_MODE));
    json_unref(first);
    return true;
}

/* The recorded run is run again as it was, unless another workflow was named or sent. */
static void read_recording(Loading *l, Store *store, Json args, bool again, Error *err) {
    Json replay = json_object_get_c(args, "replay");
    const char *thread = json_object_text(replay, "thread");
    StoredRun stored = {0};
    Flow *ran = NULL;
    bool found = stored_run_read(store, thread ? thread : "", args_int(replay, "checkpoint", 0),
                                 &stored, err);
    if (found) ran = stored_run_flow(&stored, err);
    if (ran && again) {
        l->flow = flow_is_allowed(ran, host_bounds(l->host), err) ? flow_ref(ran) : NULL;
    }
    if (ran && l->flow && (!again || read_beginning(l, store, &stored, err))) {
        RecordingSource source = {.run = stored.row.run,
                                  .seq = stored.seq,
                                  .flow = ran,
                                  .replaying = l->flow,
                                  .live_from = json_object_text(replay, "live_from")};
        l->recording = recording_new(store, &source, err);
    }
    flow_unref(ran);
    stored_run_clear(&stored);
}

static void load(HostJob *job, Store *store) {
    Loading *l = (Loading *)job;
    Json args = json_decode(l->args.data, l->args.len, &(size_t){0}, &job->err);
    bool again =
        args_has(args, "replay") && !args_has(args, "definition") && !args_has(args, "workflow");
    if (!json_is_none(args) && !again) {
        l->flow = find_flow(l->host, l->folder, store, args, &job->err);
    }
    if ((l->flow || again) && args_has(args, "replay")) {
        read_recording(l, store, args, again, &job->err);
    }
    json_unref(args);
}

static void on_loaded(HostJob *job) {
    Loading *l = (Loading *)job;
    if (job->err.code == ERR_NONE) {
        Json args = json_decode(l->args.data, l->args.len, &(size_t){0}, NULL);
        l->then(l->host, args, l, l->reply);
        json_unref(args);
    } else {
        reply_fail(l->reply, &job->err);
    }
    host_expected(l->coming);
    flow_unref(l->flow);
    json_unref(l->input);
    json_unref(l->mode);
    buf_clear(&l->args);
    mem_free(l);
}

/* Calls then() once, at once or later; `loaded` is for that call, and its recording is taken. */
static void load_first(Host *host, Json args, LoadedFn then, Reply reply) {
    bool recording = args_has(args, "replay"), named = args_has(args, "workflow");
    if (!recording && !named && !is_long(args)) {
        Error err = ERROR_INIT;
        Loading now = {.flow = flow_of(host, json_object_get_c(args, "definition"), &err),
                       .input = json_none(),
                       .mode = json_none()};
        if (now.flow) {
            then(host, args, &now, reply);
        } else {
            reply_fail(reply, &err);
        }
        flow_unref(now.flow);
        return;
    }
    /* To open the store for a name takes longer than all the rest, and once its folder is known nothing asks for it. */
    const char *folder = named ? host_store_folder(host, NULL) : NULL;
    Loading *l = mem_zalloc(sizeof *l);
    *l = (Loading){.job = {.need = named && !folder ? HOST_CREATES
                                   : recording      ? HOST_READS
                                                    : HOST_NO_STORE,
                           .work = load,
                           .done = on_loaded},
                   .host = host,
                   .folder = folder,
                   .coming = host_expect(host, json_object_text(args, "thread")),
                   .input = json_none(),
                   .mode = json_none(),
                   .then = then,
                   .reply = reply};
    json_encode(args, &l->args);
    host_ask(host, &l->job);
}

static void start_with(Host *host, Json args, const Loading *loaded, Reply reply) {
    HostStart start = {
        .flow = loaded->flow,
        .run = {.thread = json_object_text(args, "thread"),
                .input = args_has(args, "input") ? json_object_get_c(args, "input") : loaded->input,
                .mode = json_kind(loaded->mode) == JSON_STRING ? json_string_data(&loaded->mode)
                                                               : json_object_text(args, "mode"),
                .traceparent = json_object_text(args, "traceparent"),
                .tracestate = json_object_text(args, "tracestate"),
                .by = reply.by},
        .debug = debug_of(args),
        .recording = loaded->recording};
    host_start(host, &start, on_begun, asked(host, NULL, reply));
}

static void run_start(Host *host, Json args, Reply reply) {
    load_first(host, args, start_with, reply);
}

/* The new run is this process's: the other one is only read, wherever it is. */
static void run_replay(Host *host, Json args, Reply reply) {
    Error err = ERROR_INIT;
    if (args_has(args, "definition") && args_has(args, "workflow")) {
        error_set(&err, ERR_USAGE,
                  "`run_replay` takes one of `definition` and `workflow`, not both.");
        reply_fail(reply, &err);
        return;
    }
    Json from = OBJECT(KEY("thread", json_ref(json_object_get_c(args, "thread"))),
                       KEY("checkpoint", json_ref(json_object_get_c(args, "checkpoint"))),
                       KEY("live_from", json_ref(json_object_get_c(args, "live_from"))));
    Json start =
        OBJECT(KEY("replay", from), KEY("thread", json_ref(json_object_get_c(args, "new_thread"))),
               KEY("input", json_ref(json_object_get_c(args, "input"))),
               KEY("definition", json_ref(json_object_get_c(args, "definition"))),
               KEY("workflow", json_ref(json_object_get_c(args, "workflow"))),
               KEY("version", json_ref(json_object_get_c(args, "version"))));
    load_first(host, start, start_with, reply);
    json_unref(start);
}

/* Whether `set` is [[path, value], ...], a path being an array; [path] alone takes something away. */
static bool check_set(Json set, Error *err) {
    for (size_t i = 0; !json_is_none(set) && i < json_array_len(set); i++) {
        Json change = json_array_get(set, i);
        size_t n = json_array_len(change);
        if (n < 1 || n > 2 || json_kind(json_array_get(change, 0)) != JSON_ARRAY) {
            return error_set(err, ERR_USAGE,
                             "`set` takes pairs of a path and a value, [[\"a\", 0], 1], and number "
                             "%zu is none.",
                             i + 1);
        }
    }
    return true;
}

/* ---- going on ---- */

static void resume_with(Host *host, Json args, const Loading *loaded, Reply reply) {
    Error err = ERROR_INIT;
    const char *thread = json_object_text(args, "thread"),
               *interrupt = json_object_text(args, "interrupt");
    HostRun *held = host_find(host, thread);
    held = held && run_settled(host_run(held)) ? NULL : held; /* it was let go of */
    Flow *reload = loaded->flow;
    RunResume resume = {.thread = thread,
                        .seq = args_int(args, "checkpoint", 0),
                        .interrupt = interrupt,
                        .value = json_object_get_c(args, "value"),
                        .decision = json_object_text(args, "decision"),
                        .set = json_object_get_c(args, "set"),
                        .reload = reload,
                        .by = reply.by};
    if (!check_set(resume.set, &err)) {
        reply_fail(reply, &err);
    } else if (!held) {
        host_resume(host, &resume, on_begun, asked(host, NULL, reply));
    } else if (resume.seq || reload) {
        error_set(&err, ERR_BUSY, "Thread `%s` is under way, so it can only be answered.",
                  run_thread(host_run(held)));
        error_fact(&err, "thread", run_thread(host_run(held)));
        reply_fail(reply, &err);
    } else if (!interrupt && !run_waiting_count(host_run(held))) {
        error_set(&err, ERR_BUSY, "Thread `%s` is being run by pid %lld, and waits for no answer.",
                  run_thread(host_run(held)), (long long)getpid());
        error_fact(&err, "thread", run_thread(host_run(held)));
        error_fact_int(&err, "pid", getpid());
        reply_fail(reply, &err);
    } else if (run_answer(host_run(held), &resume, &err)) {
        reply_give(reply, held_json(held));
    } else {
        reply_fail(reply, &err);
    }
}

static void run_resume(Host *host, Json args, Reply reply) {
    if (args_has(args, "definition")) {
        load_first(host, args, resume_with, reply);
    } else {
        resume_with(host, args, &(Loading){0}, reply);
    }
}

static void run_open(Host *host, Json args, Reply reply) {
    HostDebug debug = debug_of(args);
    debug.wanted = true;
    debug.view_only = args_bool(args, "view_only", false);
    host_open(host, json_object_text(args, "thread"), &debug, on_begun, asked(host, NULL, reply));
}

/* ---- ending ---- */

static HostRun *held_of(Host *host, Json args, Error *err) {
    const char *thread = json_object_text(args, "thread");
    HostRun *held = host_find(host, thread);
    if (!held) {
        error_set(err, ERR_NOT_HELD, "This process does not have the run `%s`.", thread);
        error_fact(err, "thread", thread);
    }
    return held;
}

static void run_stop_call(Host *host, Json args, Reply reply) {
    Error err = ERROR_INIT;
    HostRun *held = held_of(host, args, &err);
    if (!held) {
        reply_fail(reply, &err);
        return;
    }
    run_stop(host_run(held));
    reply_give(reply, held_json(held));
}

/* Waits until the run has settled, and says how. */
static void on_settled(void *ctx, Subscription *s) {
    Asked *a = ctx;
    Json event;
    while (subscription_next(s, &event)) {
        if (json_string_is(json_object_get_c(event, "event"), "settled")) {
            reply_give(a->reply,
                       OBJECT(KEY("run", json_ref(json_object_get_c(event, "run"))),
                              KEY("thread", json_ref(json_object_get_c(event, "thread"))),
                              KEY("status", json_ref(json_object_get_c(event, "status"))),
                              KEY("checkpoint", json_ref(json_object_get_c(event, "checkpoint")))));
            json_unref(event);
            subscription_end(s);
            asked_free(a);
            return;
        }
        json_unref(event);
    }
    if (subscription_is_over(s)) { /* the run went with its host */
        Error gone = ERROR_INIT;
        error_set(&gone, ERR_BUSY, "The host has ended.");
        reply_fail(a->reply, &gone);
        subscription_end(s);
        asked_free(a);
    }
}

static void answer_when_settled(Host *host, const char *thread, Reply reply) {
    SubscriptionSpec spec = {.thread = thread,
                             .types = 1u << EVENT_SETTLED,
                             .from = -1,
                             .ready = on_settled,
                             .ctx = asked(host, NULL, reply)};
    host_subscribe(host, &spec, NULL);
}

/* One that nobody had: it is cancelled, or its cleanup tasks run now. */
static void on_cancelled(void *ctx, Run *cleaning, const Error *err) {
    Asked *a = ctx;
    if (err) {
        reply_fail(a->reply, err);
    } else if (cleaning) {
        host_adopt(a->host, cleaning);
        answer_when_settled(a->host, run_thread(cleaning), a->reply);
    } else {
        run_answer_stored(a->host, a->thread, a->reply);
    }
    asked_free(a);
}

/* A test's cleanup tasks run first, so the answer may take its time. */
static void run_cancel_call(Host *host, Json args, Reply reply) {
    Error err = ERROR_INIT;
    RunCancel how = {json_object_text(args, "thread"), reply.by,
                     args_bool(args, "skip_cleanup", false)};
    HostRun *held = host_find(host, how.thread);
    Engine *engine = NULL;
    if (held && !run_settled(host_run(held))) {
        answer_when_settled(host, run_thread(host_run(held)), reply);
        run_set_by(host_run(held), reply.by);
        (how.at_once ? run_cancel_at_once : run_cancel)(host_run(held));
        run_leave_by(host_run(held));
    } else if ((engine = host_engine(host, HOST_WRITES, &err))) {
        engine_cancel(engine, &how, on_cancelled, asked(host, how.thread, reply));
    } else {
        reply_fail(reply, &err);
    }
}

/* ---- changing ---- */

/* The row is of the run that was changed, or of the new one. */
static void on_changed(void *ctx, const RunRow *row, const Error *err) {
    Asked *a = ctx;
    if (err) {
        reply_fail(a->reply, err);
    } else {
        run_answer_stored(a->host, row->thread, a->reply);
    }
    asked_free(a);
}

static void run_fork(Host *host, Json args, Reply reply) {
    Error err = ERROR_INIT;
    RunFork fork = {json_object_text(args, "thread"), args_int(args, "checkpoint", 0),
                    json_object_text(args, "new_thread"), reply.by};
    Engine *engine = host_engine(host, HOST_WRITES, &err);
    if (engine) {
        engine_fork(engine, &fork, on_changed, asked(host, NULL, reply));
    } else {
        reply_fail(reply, &err);
    }
}

static void run_update(Host *host, Json args, Reply reply) {
    Error err = ERROR_INIT;
    Json set = args_has(args, "set") ? json_ref(json_object_get_c(args, "set")) : json_array();
    RunUpdate update = {json_object_text(args, "thread"), args_int(args, "checkpoint", 0), set,
                        json_object_text(args, "as_node"), reply.by};
    Engine *engine = check_set(set, &err) ? host_engine(host, HOST_WRITES, &err) : NULL;
    if (engine) {
        engine_update(engine, &update, on_changed, asked(host, NULL, reply));
    } else {
        reply_fail(reply, &err);
    }
    json_unref(set);
}

/* What the frames of a held run are doing now, for those who watch. */
static void run_frames_call(Host *host, Json args, Reply reply) {
    Error err = ERROR_INIT;
    HostRun *held = held_of(host, args, &err);
    if (held) {
        const Run *run = host_run(held);
        reply_give(reply, OBJECT(KEY("thread", run_thread(run)), KEY("step", run_step(run)),
                                 KEY("settled", run_settled(run)), KEY("resting", host_rests(held)),
                                 KEY("frames", run_frames(run, args_size(args, "limit", 100)))));
    } else {
        reply_fail(reply, &err);
    }
}

/* Whoever looks at a run that has settled is done with it. */
static void run_drop(Host *host, Json args, Reply reply) {
    Error err = ERROR_INIT;
    HostRun *held = held_of(host, args, &err);
    if (held && run_settled(host_run(held))) {
        Json answer = held_json(held);
        host_drop(held);
        reply_give(reply, answer);
        return;
    }
    if (held) error_set(&err, ERR_BUSY, "The run has not ended, so it is not let go of.");
    reply_fail(reply, &err);
}

/* ---- rows ---- */

static const char *const status_words[] = {"pending",     "running",   "stopped",
                                           "interrupted", "paused",    "completed",
                                           "failed",      "cancelled", NULL};

#define DEBUG_ARG                                                                              \
    {                                                                                          \
        "debug", ARG_OBJECT,                                                                   \
            .about =                                                                           \
                "a debug session from the start: {pause_on_start?, pause_all_on_breakpoint?, " \
                "breakpoints?, window? (somebody is about to attach: it waits for that)}",     \
            .shape = "{pause_on_start?: bool, pause_all_on_breakpoint?: bool, "                \
                     "breakpoints?: [object], window?: bool}"                                  \
    }

#define RUN_SHAPE \
    "{run: int, thread: text, status: text, workflow?: text, checkpoint?: int, session?: text, doubts?: [text]}"

const Operation run_operations[] = {
    {.name = "run_start",
     .summary = "start a run of a workflow",
     .scope = SCOPE_RUN,
     .route = "POST /runs",
     .args = ARGS(
         {"definition", ARG_OBJECT, .about = "the workflow: {main, files: {path: text}}",
          .one_of = true, .shape = DEFINITION_SHAPE},
         {"workflow", ARG_TEXT, .about = "the name of one that the host knows", .one_of = true},
         {"version", ARG_INT, .about = "of the named one; left out, the newest", .min = 1,
          .max = ARG_COUNTING},
         {"thread", ARG_TEXT, .about = "the name of the run; left out, one is made"},
         {"input", ARG_OBJECT, .about = "what the state starts with"},
         {"mode", ARG_TEXT, .about = "left out, as the workflow says, or else autonomous",
          .words = mode_words},
         {"replay", ARG_OBJECT,
          .about = "the results of another run: {thread, checkpoint?, live_from?}",
          .shape = "{thread: text, checkpoint?: int(1..), live_from?: text}"},
         {"traceparent", ARG_TEXT,
          .about = "the W3C trace context that the run is in, 00-TRACE-SPAN-FLAGS"},
         {"tracestate", ARG_TEXT, .about = "what goes with it: 512 bytes at most"}, DEBUG_ARG),
     .answer = RUN_SHAPE,
     .call = run_start},
    {.name = "run_resume",
     .summary = "go on with a run, or answer what it asks",
     .scope = SCOPE_RUN,
     .route = "POST /runs/{thread}/resume",
     .args = ARGS(
         THREAD_ARG, CHECKPOINT_ARG("checkpoint", "where it stands"),
         {"value", ARG_ANY, .about = "the answer to an interrupt"},
         {"decision", ARG_TEXT, .about = "the answer to an approval: one of its options"},
         {"interrupt", ARG_TEXT, .about = "the id of what is answered; left out, the only one"},
         {"set", ARG_ARRAY, .about = "[path, value] pairs to set in the state first"},
         {"definition", ARG_OBJECT, .about = "the workflow to go on with; left out, the stored one",
          .shape = DEFINITION_SHAPE}),
     .answer = RUN_SHAPE,
     .call = run_resume},
    {.name = "run_open",
     .summary = "take a run for a debugger; nothing goes on by itself",
     .scope = SCOPE_DEBUG,
     .route = "POST /debug/{thread}",
     .idempotent = true,
     .args =
         ARGS(THREAD_ARG, DEBUG_ARG, {"view_only", ARG_BOOL, .about = "nothing of it may be done"}),
     .answer = RUN_SHAPE,
     .call = run_open},
    {.name = "run_stop",
     .summary = "stop a run so that it can be resumed",
     .scope = SCOPE_RUN,
     .route = "POST /runs/{thread}/stop",
     .idempotent = true,
     .args = ARGS(THREAD_ARG),
     .answer = RUN_SHAPE,
     .call = run_stop_call},
    {.name = "run_cancel",
     .summary = "end a run for good; its cleanup tasks run",
     .scope = SCOPE_RUN,
     .route = "POST /runs/{thread}/cancel",
     .args = ARGS(THREAD_ARG, {"skip_cleanup", ARG_BOOL,
                               .about = "its cleanup tasks do not run, or are ended"}),
     .answer = "RUN|" RUN_SHAPE,
     .call = run_cancel_call},
    {.name = "run_fork",
     .summary = "make a new run that begins where another stands",
     .scope = SCOPE_RUN,
     .route = "POST /runs/{thread}/fork",
     .args =
         ARGS(THREAD_ARG, CHECKPOINT_ARG("checkpoint", "where it stands"),
              {"new_thread", ARG_TEXT, .about = "the name of the new run; left out, one is made"}),
     .answer = "RUN",
     .call = run_fork},
    {.name = "run_replay",
     .summary = "start a run that takes the results of another instead of doing its work again",
     .scope = SCOPE_RUN,
     .route = "POST /runs/{thread}/replay",
     .args =
         ARGS(THREAD_ARG, CHECKPOINT_ARG("checkpoint", "where it stands"),
              {"live_from", ARG_TEXT,
               .about = "from this node on everything is done again; left out, nothing is"},
              {"new_thread", ARG_TEXT, .about = "the name of the new run; left out, one is made"},
              {"input", ARG_OBJECT,
               .about = "what the state starts with; left out, as the other run's did with its own "
                        "workflow"},
              {"definition", ARG_OBJECT,
               .about = "the workflow: {main, files: {path: text}}; left out, the other run's own",
               .shape = DEFINITION_SHAPE},
              {"workflow", ARG_TEXT, .about = "instead: the name of one that the host knows"},
              {"version", ARG_INT, .about = "of the named one; left out, the newest", .min = 1,
               .max = ARG_COUNTING}),
     .answer = RUN_SHAPE,
     .call = run_replay,
     .here = true},
    {.name = "run_update",
     .summary = "change the state of a run by hand",
     .scope = SCOPE_RUN,
     .route = "POST /runs/{thread}/state",
     .args = ARGS(THREAD_ARG, CHECKPOINT_ARG("checkpoint", "where it stands"),
                  {"set", ARG_ARRAY, .about = "[path, value] pairs"},
                  {"as_node", ARG_TEXT,
                   .about = "the run stands after this node, as if it had given them back"}),
     .answer = "RUN",
     .call = run_update},
    {.name = "run_import",
     .summary = "read a run that was exported into the store",
     .scope = SCOPE_ADMIN,
     .route = "POST /runs/import",
     .args = ARGS({"document", ARG_OBJECT, .about = "what `export` gave", .required = true}),
     .answer = "RUN",
     .read = import_run,
     .need = HOST_CREATES},
    {.name = "run_drop",
     .summary = "let go of a run that has ended",
     .scope = SCOPE_RUN,
     .route = "POST /runs/{thread}/drop",
     .idempotent = true,
     .args = ARGS(THREAD_ARG),
     .answer = RUN_SHAPE,
     .call = run_drop},
    {.name = "run_frames",
     .summary = "say what the frames of a run that is under way are doing",
     .scope = SCOPE_READ,
     .route = "GET /runs/{thread}/frames",
     .idempotent = true,
     .args = ARGS(THREAD_ARG, {"limit", ARG_INT, .about = "at most so many; left out, 100",
                               .min = 1, .max = 10000}),
     .answer = "{thread: text, step: int, settled: bool, resting: bool, frames: [DOING]}",
     .call = run_frames_call},
    {.name = "run_events",
     .summary = "tell what happens to a run, or to all",
     .scope = SCOPE_READ,
     .route = "GET /runs/{thread}/events",
     .args = ARGS(
         {"thread", ARG_TEXT, .about = "the run; left out, all that the host holds"},
         {"types", ARG_ARRAY, .about = "names of types of events; left out, all"},
         {"from", ARG_ANY,
          .about =
              "the cursor of the last event that was seen; of all runs {since, runs: {number: cursor}}; "
              "left out, only what happens from now on"},
         {"values", ARG_BOOL, .about = "with what nodes gave back, and the state"},
         {"attach", ARG_BOOL, .about = "as a debugger: the session's events, and the run stays"},
         {"names", ARG_BOOL,
          .about = "a debugger's events name their run, session and time, as all others do"}),
     .answer = "{subscription: int, since?: time}",
     .stream = true},

    {.name = "runs",
     .summary = "list the runs, the one that changed last first",
     .scope = SCOPE_READ,
     .route = "GET /runs",
     .idempotent = true,
     .args =
         ARGS({"status", ARG_TEXT, .about = "only those that are there", .words = status_words},
              {"workflow", ARG_TEXT, .about = "only those of the workflow with this name"},
              {"search", ARG_TEXT,
               .about = "only those with this text in their name or their workflow's, in small "
                        "letters or capitals"},
              {"since", ARG_TEXT, .about = "only those that changed at this time or later"},
              {"before", ARG_TEXT, .about = "only those that changed last before this time"},
              {"after", ARG_TEXT, .about = "goes on from where the last answer ended: its `next`"},
              LIMIT_ARG("1000, and fewer where many were looked at: `next` says whether there are "
                        "more")),
     .answer = "{runs: [RUN], next?: text}",
     .read = stored_runs},
    {.name = "run_get",
     .summary = "show where a run is and what it waits for",
     .scope = SCOPE_READ,
     .route = "GET /runs/{thread}",
     .idempotent = true,
     .args =
         ARGS({"thread", ARG_TEXT,
               .about = "the run: its name, or its number; left out, the one that changed last"},
              {"state", ARG_BOOL, .about = "with its state"}),
     .answer = "RUN",
     .read = stored_run},
    {.name = "run_history",
     .summary = "list the checkpoints of a run",
     .scope = SCOPE_READ,
     .route = "GET /runs/{thread}/history",
     .idempotent = true,
     .args =
         ARGS(THREAD_ARG,
              {"from", ARG_INT, .about = "the first checkpoint; left out, 1", .min = 1,
               .max = ARG_COUNTING},
              {"last", ARG_INT, .about = "only the last so many", .min = 1, .max = ARG_COUNTING},
              {"values", ARG_BOOL, .about = "with what the nodes gave back"},
              {"edges", ARG_BOOL, .about = "with the edges that were taken, and why"},
              LIMIT_ARG("1000")),
     .answer = "{run: RUN, checkpoints: [CHECKPOINT], next?: int}",
     .read = stored_history},
    {.name = "run_checkpoint",
     .summary = "show one checkpoint of a run, with the state there",
     .scope = SCOPE_READ,
     .route = "GET /runs/{thread}/checkpoints/{checkpoint}",
     .idempotent = true,
     .args = ARGS(THREAD_ARG, {"checkpoint", ARG_INT, .about = "its number", .required = true,
                               .min = 1, .max = ARG_COUNTING}),
     .answer = "CHECKPOINT",
     .read = stored_checkpoint},
    {.name = "run_interrupts",
     .summary = "list what a run asks",
     .scope = SCOPE_READ,
     .route = "GET /runs/{thread}/interrupts",
     .idempotent = true,
     .args = ARGS(THREAD_ARG),
     .answer = "{thread: text, interrupts: [INTERRUPT]}",
     .read = stored_interrupts},
    {.name = "run_logs",
     .summary = "read what the nodes of a run printed",
     .scope = SCOPE_READ,
     .route = "GET /runs/{thread}/logs",
     .idempotent = true,
     .args = run_logs_args,
     .answer = "{run: RUN, logs: [LOG], next: int, more?: bool, dropped?: int}",
     .read = stored_logs,
     .logs = true},
    {.name = "run_state",
     .summary = "show the state of a run, or a part of it",
     .scope = SCOPE_READ,
     .route = "GET /runs/{thread}/state",
     .idempotent = true,
     .args = run_state_args,
     .answer = "{thread: text, checkpoint: int, state?: VALUE}",
     .read = stored_state},
    {.name = "run_variables",
     .summary = "show the state of a run, large parts of it in pages",
     .scope = SCOPE_READ,
     .route = "GET /runs/{thread}/variables",
     .idempotent = true,
     .args = run_variables_args,
     .answer = "VARIABLES",
     .read = stored_variables},
    {.name = "run_search",
     .summary = "find a text in keys and values of the state of a run",
     .scope = SCOPE_READ,
     .route = "GET /runs/{thread}/search",
     .idempotent = true,
     .args = run_search_args,
     .answer = "FOUND",
     .read = stored_search},
    {.name = "run_definition",
     .summary = "give the workflow that a run goes on with",
     .scope = SCOPE_READ,
     .route = "GET /runs/{thread}/definition",
     .idempotent = true,
     .lasting = true,
     .args = run_state_args,
     .answer = "{definition: {main: text, files: {*: text}, ...}, folder?: text}",
     .read = stored_definition},
    {.name = "run_diff",
     .summary = "compare the states at two checkpoints",
     .scope = SCOPE_READ,
     .route = "GET /runs/{thread}/diff",
     .idempotent = true,
     .args = run_compare_args,
     .answer = "CHANGES",
     .read = stored_diff},
    {.name = "run_compare",
     .summary = "find where two runs part",
     .scope = SCOPE_READ,
     .route = "GET /runs/compare",
     .idempotent = true,
     .args = run_compare_args,
     .answer = "{same: bool, steps: int, frame?: text, a?: MOMENT, b?: MOMENT, diff?: CHANGES}",
     .read = stored_compare},
    {.name = "run_graph",
     .summary = "draw the workflow of a run",
     .scope = SCOPE_READ,
     .route = "GET /runs/{thread}/graph",
     .idempotent = true,
     .args = ARGS(THREAD_ARG, CHECKPOINT_ARG("checkpoint", "where it stands"),
                  {"format", ARG_TEXT, .about = "left out, mermaid", .words = draw_words}),
     .answer = "{text: text}",
     .read = draw_run},
    {.name = "run_delete",
     .summary = "remove a run that nobody has, with its checkpoints and logs",
     .scope = SCOPE_ADMIN,
     .route = "DELETE /runs/{thread}",
     .args = ARGS(THREAD_ARG),
     .answer = "{run: int, thread: text}",
     .read = delete_run,
     .need = HOST_WRITES},
    {.name = "run_ask_cancel",
     .summary = "leave word for whoever has a run that it is to be cancelled",
     .scope = SCOPE_RUN,
     .route = "POST /runs/{thread}/ask_cancel",
     .idempotent = true,
     .args = run_state_args,
     .answer = "RUN",
     .read = ask_cancel,
     .need = HOST_WRITES},
    {.name = "run_prune",
     .summary = "remove checkpoints and runs that are no longer wanted",
     .scope = SCOPE_ADMIN,
     .route = "POST /runs/prune",
     .args = ARGS({"thread", ARG_TEXT, .about = "only this run; left out, all"},
                  {"keep_last", ARG_INT, .about = "newest checkpoints of each run to keep",
                   .min = 1, .max = ARG_COUNTING},
                  {"older_than", ARG_INT, .about = "only what is at least so many milliseconds old",
                   .min = 0, .max = ARG_COUNTING},
                  {"finished_runs", ARG_BOOL, .about = "runs that ended before that go whole"}),
     .answer =
         "{runs: int, removed_runs: int, removed: int, kept: int, folded: int, busy: [{thread: text, message: text}], "
         "errors: [{thread: text, message: text}]}",
     .read = prune_runs,
     .need = HOST_WRITES},
    {0},
};
