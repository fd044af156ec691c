/* operation.c - the groups of rows, looking one up, and the way in. */
#include "operation.h"

#include "args.h"
#include "json_binary.h"
#include "json_build.h"
#include "mem.h"
#include "problems.h"
#include "session_api.h"
#include "suggest.h"

#include <assert.h>
#include <string.h>

extern const Operation admin_operations[], registry_operations[], run_operations[],
    store_operations[], workflow_operations[];

static const Operation host_operations[2];

const Operation *const operation_groups[] = {
    workflow_operations, registry_operations, run_operations,  store_operations,
    session_operations,  admin_operations,    host_operations, NULL,
};

const char *const operation_scope_names[] = {"read", "run", "debug", "admin", NULL};

/* ---- the table ---- */

const Operation *operation_next(const Operation *after) {
    size_t group = 0;
    if (!after) return operation_groups[0];
    if (after[1].name) return after + 1;
    for (; operation_groups[group]; group++) { /* the group that it is the last of */
        const Operation *last = operation_groups[group];
        while (last[1].name) last++;
        if (last == after) return operation_groups[group + 1];
    }
    return NULL;
}

const Operation *operation_find(const char *name, Error *err) {
    for (const Operation *op = operation_next(NULL); op; op = operation_next(op)) {
        if (strcmp(op->name, name) == 0) return op;
    }
    Suggestion nearest = suggestion_for(name, strlen(name));
    for (const Operation *op = operation_next(NULL); op; op = operation_next(op)) {
        suggestion_offer(&nearest, op->name);
    }
    const char *word = shown(name, strlen(name));
    error_set(err, ERR_NOT_FOUND, "There is no operation `%s`%s", word,
              did_you_mean_this(nearest.best));
    error_fact(err, "operation", word);
    error_fact(err, "suggestion", nearest.best);
    return NULL;
}

static const OperationArg *find_arg(const Operation *op, const char *name) {
    const OperationArg *a = op->args;
    while (a && a->name && strcmp(a->name, name) != 0) a++;
    return a && a->name ? a : NULL;
}

static bool asks_session(const Operation *op) {
    return op->ask || op->past;
}

bool operation_is_of_run(const Operation *op) {
    return asks_session(op) || (op->call && !op->here && find_arg(op, "thread"));
}

bool operation_acts(const Operation *op) {
    return op->call || op->stream || op->need != HOST_READS;
}

static Json arg_json(const OperationArg *a) {
    Json words = json_none();
    for (const char *const *word = a->words; word && *word; word++) {
        words = json_array_push(words, json_string_c(*word));
    }
    bool bounded = a->min || a->max;
    return OBJECT(KEY("name", a->name), KEY("type", arg_type_names[a->type]),
                  KEY("about", a->about),
                  KEY("required", a->required ? json_bool(true) : json_none()),
                  KEY("one_of", a->one_of ? json_bool(true) : json_none()),
                  KEY("nullable", a->nullable ? json_bool(true) : json_none()),
                  KEY("min", bounded ? json_int(a->min) : json_none()),
                  KEY("max", bounded && a->max != ARG_COUNTING ? json_int(a->max) : json_none()),
                  KEY("words", words));
}

Json operation_json(const Operation *op) {
    Json args = json_array();
    for (const OperationArg *a = op->args; a && a->name; a++) {
        args = json_array_push(args, arg_json(a));
    }
    return OBJECT(KEY("name", op->name), KEY("summary", op->summary),
                  KEY("scope", operation_scope_names[op->scope]), KEY("route", op->route),
                  KEY("idempotent", op->idempotent), KEY("arguments", args),
                  KEY("answer", op->answer));
}

/* ---- calls ---- */

void reply_give(Reply reply, Json answer) {
    assert(!json_is_none(answer));
    reply.give(reply.ctx, answer, NULL);
}

void reply_fail(Reply reply, const Error *err) {
    reply.give(reply.ctx, json_none(), err);
}

/* Its hooks are gone: there is nothing left to control the frames with. */
static bool is_attached(const Session *session, const char *operation, Error *err) {
    return (run_has_hooks(session_run(session)) && !session_is_detached(session)) ||
           error_set(err, ERR_WRONG_STATE,
                     "The session is over, so it cannot be asked for `%s`: the run goes on without "
                     "a debugger. Attach to it anew.",
                     operation);
}

static bool may_ask(Session *session, const Operation *op, Json args, Error *err) {
    session_touch(session);
    return args_check(op, args, err) && is_attached(session, op->name, err);
}

/* The question that has to be answered first; null: none, JSON_NONE: it cannot be asked. */
static Json question_of(Session *session, const Operation *op, Json args, Error *err) {
    return op->past ? op->past->question(session, args, err) : json_null();
}

/* What needs the store alone, of the run of a session. */
static Json read_of(Session *session, const Operation *op, Json args, Error *err) {
    Engine *engine = run_engine(session_run(session));
    Json whole = OBJECT_ADD(json_ref(args), KEY("thread", run_thread(session_run(session))));
    Json out = json_none();
    session_touch(session);
    if (!engine_store(engine)) {
        error_set(err, ERR_USAGE, "This run is not recorded, so it has no history.");
    } else if (args_check(op, whole, err)) {
        Store *store = engine_reader(engine, err);
        out = store ? op->read(store, whole, err) : json_none();
    }
    json_unref(whole);
    return out;
}

/* All of it on this thread. What the record is asked for is durable by now. */
static Json ask_now(Session *session, const Operation *op, Json args, Error *err) {
    Json question =
        may_ask(session, op, args, err) ? question_of(session, op, args, err) : json_none();
    if (json_is_none(question)) return question;
    if (json_kind(question) == JSON_NULL) return op->ask(session, args, err);
    Store *store = engine_reader(run_engine(session_run(session)), err);
    Json found = store ? op->past->read(store, question, err) : json_none();
    json_unref(question);
    if (json_is_none(found) || !op->past->act) return found;
    Json out = op->past->act(session, args, found, err);
    json_unref(found);
    return out;
}

Json session_call(Session *session, const char *name, Json args, Error *err) {
    Json out = json_none(), given = json_is_none(args) ? json_object() : args;
    const Operation *op = operation_find(name, err);
    bool reads = op && op->read && op->need == HOST_READS && find_arg(op, "thread");
    if (op && !asks_session(op) && !reads) {
        error_set(err, ERR_USAGE, "`%s` is not asked of a session.", name);
    } else if (op && json_kind(given) == JSON_OBJECT && (reads || op->past) &&
               !engine_wait_durable(run_engine(session_run(session)))) {
        error_set(err, ERR_IO, "The store failed, so what the run did last is not in it.");
    } else if (reads && json_kind(given) == JSON_OBJECT) {
        out = read_of(session, op, given, err);
    } else if (op) {
        out = ask_now(session, op, given, err);
        session_sync(session);
    }
    json_unref(given);
    return out;
}

/* A call that waits: for the disk, or for a run. */
typedef struct Waiting {
    Host *host;
    const Operation *op;
    Json args;
    Reply reply;
} Waiting;

static Waiting *waiting(Host *host, const Operation *op, Json args, Reply reply) {
    Waiting *w = mem_alloc(sizeof *w);
    *w = (Waiting){host, op, args, reply};
    return w;
}

static void on_changed(void *ctx, const Error *err) {
    Waiting *w = ctx;
    w->reply.give(w->reply.ctx, err ? json_none() : json_ref(w->args), err);
    json_unref(w->args);
    mem_free(w);
}

/* The session that `thread` means. */
static Session *session_of(Host *host, const Operation *op, Json args, Error *err) {
    Json thread = json_object_get_c(args, "thread");
    bool said = json_kind(thread) == JSON_STRING;
    HostRun *run = said ? host_find(host, json_string_data(&thread)) : NULL;
    if (!run) {
        error_set(err, said ? ERR_NOT_HELD : ERR_USAGE,
                  said ? "No debugger is attached to the run."
                       : "`%s` is asked of the session of a run: `thread` says which.",
                  op->name);
        error_fact(err, "thread", said ? json_string_data(&thread) : NULL);
    }
    return run ? host_session(run, err) : NULL;
}

/* A change that was answered for is on record. */
static void answer(Host *host, const Operation *op, Json answer, Reply reply, const Error *err) {
    if (json_is_none(answer)) {
        reply_fail(reply, err);
    } else if (op->scope == SCOPE_READ) {
        reply_give(reply, answer);
    } else {
        host_when_durable(host, on_changed, waiting(host, op, answer, reply));
    }
}

/* An operation that has the turn of a run while it waits for the store. */
typedef struct Asking {
    HostTurn turn; /* first */
    Host *host;
    const Operation *op;
    Json args, found; /* found: JSON_NONE where nothing had to be */
    Reply reply;
    int64_t session; /* its number */
    bool called_off; /* the run was, when it was asked */
    bool took;       /* its lease was taken for this */
} Asking;

static void asking_free(Asking *a) {
    host_turn_end(&a->turn);
    json_unref(a->args);
    json_unref(a->found);
    mem_free(a);
}

static void asking_fail(Asking *a, const Error *err) {
    reply_fail(a->reply, err);
    asking_free(a);
}

/* The session that was asked; NULL when something has come between. */
static Session *still_asked(const Asking *a, Error *err) {
    HostRun *run = a->turn.run;
    Session *session = run ? host_has_session(run) : NULL;
    if (!session || host_session_number(run) != a->session) {
        error_set(err, ERR_NOT_HELD, "No debugger is attached to the run any more.");
        return NULL;
    }
    if (!a->called_off && run_is_called_off(host_run(run))) {
        error_set(err, ERR_ENDED, "The run was ended before `%s` was done.", a->op->name);
        error_fact(err, "thread", run_thread(host_run(run)));
        return NULL;
    }
    return is_attached(session, a->op->name, err) ? session : NULL;
}

/* What is recorded between these two was asked for by whoever is replied to. */
static void begin_by(Run *run, const Operation *op, const char *by) {
    if (by && op->scope != SCOPE_READ) run_set_by(run, by);
}

static void end_by(Run *run, const Operation *op, const char *by) {
    if (by && op->scope != SCOPE_READ) run_set_by(run, NULL);
}

static void act(Asking *a) {
    Error err = ERROR_INIT;
    Session *session = still_asked(a, &err);
    const OperationPast *past = a->op->past;
    bool found = !json_is_none(a->found);
    if (session && found && past->act_later) {
        Run *run = session_run(session);
        begin_by(run, a->op, a->reply.by);
        past->act_later(session, a->args, a->found, a->reply);
        end_by(run, a->op, a->reply.by);
        asking_free(a);
        return;
    }
    Json out = json_none();
    if (session) {
        Run *run = session_run(session);
        begin_by(run, a->op, a->reply.by);
        out = found ? past->act(session, a->args, a->found, &err)
                    : a->op->ask(session, a->args, &err);
        end_by(run, a->op, a->reply.by);
    }
    if (a->took && a->turn.run && json_is_none(out)) {
        run_give_back(host_run(a->turn.run)); /* unless it came to life all the same */
    }
    answer(a->host, a->op, out, a->reply, &err);
    asking_free(a);
}

static void on_taken(void *ctx, Run *run, const Error *err) {
    Asking *a = ctx;
    if (err) {
        asking_fail(a, err);
        return;
    }
    a->took = run != NULL;
    act(a);
}

/* What goes on needs its lease, which it gave back when it settled. */
static void act_with_lease(Asking *a) {
    Run *run = a->turn.run ? host_run(a->turn.run) : NULL;
    if (run && engine_store(run_engine(run)) && !run_is_taken(run)) {
        run_take(run, on_taken, a);
    } else {
        act(a);
    }
}

static void on_found(void *ctx, Json found, const Error *err) {
    Asking *a = ctx;
    if (err) {
        asking_fail(a, err);
        return;
    }
    a->found = found;
    if (a->op->past->act_later) {
        act(a);
    } else {
        act_with_lease(a);
    }
}

static Asking *take_turn(Host *host, HostRun *run, const Operation *op, Json args, Reply reply) {
    Asking *a = mem_zalloc(sizeof *a);
    *a = (Asking){.host = host,
                  .op = op,
                  .args = json_ref(args),
                  .found = json_none(),
                  .reply = reply,
                  .session = host_session_number(run),
                  .called_off = run_is_called_off(host_run(run))};
    host_turn_take(run, &a->turn);
    return a;
}

/* What the store alone has to say needs nobody when it comes. */
static void read_past(Host *host, const Operation *op, Json question, Reply reply) {
    host_read_for(host,
                  &(HostRead){.read = op->past->read,
                              .done = reply.give,
                              .ctx = reply.ctx,
                              .text = reply.text,
                              .slow = op->ask_later != NULL},
                  question);
}

static void ask_session(Host *host, const Operation *op, Json args, Reply reply) {
    Error err = ERROR_INIT;
    Session *session = session_of(host, op, args, &err);
    Json own = json_object_remove(json_ref(args), json_string_c("thread"));
    Json question = session && may_ask(session, op, own, &err) ? question_of(session, op, own, &err)
                                                               : json_none();
    HostRun *run = session ? run_owner(session_run(session)) : NULL;
    if (json_is_none(question)) {
        reply_fail(reply, &err);
    } else if (json_kind(question) != JSON_NULL && !op->past->act) {
        read_past(host, op, question, reply);
    } else if (json_kind(question) != JSON_NULL) {
        host_read(host, op->past->read, question, on_found, take_turn(host, run, op, own, reply));
    } else if (op->revives && run_settled(session_run(session)) &&
               !strcmp(run_status(session_run(session)), "failed")) {
        act_with_lease(take_turn(host, run, op, own, reply));
    } else if (op->ask_later) {
        op->ask_later(host, session, own, reply);
    } else {
        Run *its = session_run(session);
        begin_by(its, op, reply.by);
        Json out = op->ask(session, own, &err);
        end_by(its, op, reply.by);
        answer(host, op, out, reply, &err);
    }
    json_unref(own);
}

/* A session's operation has no row for the run that it is asked of. */
bool operation_check(const Operation *op, Json args, Error *err) {
    if (!asks_session(op) || json_kind(args) != JSON_OBJECT) return args_check(op, args, err);
    Json own = json_object_remove(json_ref(args), json_string_c("thread"));
    bool ok = args_check(op, own, err);
    json_unref(own);
    return ok;
}

static void on_come(void *ctx) {
    Waiting *w = ctx;
    operation_call(w->host, w->op->name, w->args, w->reply);
    mem_free(w);
}

/* A run that is on its way here is waited for. */
static bool wait_for_run(Host *host, const Operation *op, Json args, Reply reply) {
    Json thread = operation_is_of_run(op) ? json_object_get_c(args, "thread") : json_none();
    Waiting *w = waiting(host, op, args, reply);
    bool waits =
        json_kind(thread) == JSON_STRING && host_await(host, json_string_data(&thread), on_come, w);
    if (waits) {
        json_ref(args);
    } else {
        mem_free(w);
    }
    return waits;
}

/* Something that is made from files. */
typedef struct Making {
    HostJob job; /* first */
    const Host *host;
    const Operation *op;
    Buf args; /* encoded */
    Json answer;
    Reply reply;
} Making;

static void make(HostJob *job, Store *store) {
    Making *m = (Making *)job;
    Json args = json_decode(m->args.data, m->args.len, &(size_t){0}, &job->err);
    (void)store;
    m->answer = json_is_none(args) ? args : m->op->make(m->host, args, &job->err);
    json_unref(args);
}

static void on_made(HostJob *job) {
    Making *m = (Making *)job;
    Reply reply = m->reply;
    reply.give(reply.ctx, m->answer, json_is_none(m->answer) ? &job->err : NULL);
    buf_clear(&m->args);
    mem_free(m);
}

static void make_from_files(Host *host, const Operation *op, Json args, Reply reply) {
    Making *m = mem_zalloc(sizeof *m);
    *m = (Making){.job = {.need = HOST_NO_STORE, .work = make, .done = on_made},
                  .host = host,
                  .op = op,
                  .answer = json_none(),
                  .reply = reply};
    json_encode(args, &m->args);
    host_ask(host, &m->job);
}

/* Borrows args. */
static void do_operation(Host *host, const Operation *op, Json args, Reply reply) {
    Error err = ERROR_INIT;
    if (op->read) {
        Json thread = op->logs ? json_none() : json_object_get_c(args, "thread");
        host_read_for(host,
                      &(HostRead){.read = op->read,
                                  .need = op->need,
                                  .thread = json_kind(thread) == JSON_STRING
                                                ? json_string_data(&thread)
                                                : NULL,
                                  .done = reply.give,
                                  .ctx = reply.ctx,
                                  .text = reply.text},
                      json_ref(args));
    } else if (op->call) {
        op->call(host, args, reply);
    } else if (op->make && op->files) {
        make_from_files(host, op, args, reply);
    } else if (op->make) {
        Json answer = op->make(host, args, &err);
        reply.give(reply.ctx, answer, json_is_none(answer) ? &err : NULL);
    } else {
        ask_session(host, op, args, reply);
    }
}

/* Somebody who asked after one that has the turn of the run. */
typedef struct Queued {
    HostTurn turn; /* first */
    Waiting waiting;
} Queued;

static void on_turn(HostTurn *turn) {
    Queued *q = (Queued *)turn;
    Waiting w = q->waiting;
    mem_free(q);
    do_operation(w.host, w.op, w.args, w.reply);
    json_unref(w.args);
}

/* What acts on a run as such, to stop it perhaps, does not wait for those who ask its session. */
static bool wait_for_turn(Host *host, const Operation *op, Json args, Reply reply) {
    Json thread = op->read || asks_session(op) ? json_object_get_c(args, "thread") : json_none();
    HostRun *run =
        json_kind(thread) == JSON_STRING ? host_find(host, json_string_data(&thread)) : NULL;
    if (!run || !host_turn_is_taken(run)) return false;
    Queued *q = mem_zalloc(sizeof *q);
    *q = (Queued){.turn = {.go = on_turn}, .waiting = {host, op, json_ref(args), reply}};
    host_turn_wait(run, &q->turn);
    return true;
}

void operation_call(Host *host, const char *name, Json args, Reply reply) {
    Error err = ERROR_INIT;
    const Operation *op = operation_find(name, &err);
    args = json_is_none(args) ? json_object() : args;
    if (!op || !operation_check(op, args, &err)) {
        reply_fail(reply, &err);
    } else if (op->stream) {
        error_set(&err, ERR_USAGE, "`%s` tells events, so it is subscribed to instead of called.",
                  name);
        reply_fail(reply, &err);
    } else if (!wait_for_run(host, op, args, reply) && !wait_for_turn(host, op, args, reply)) {
        do_operation(host, op, args, reply);
    }
    json_unref(args);
}

Json operation_now(Host *host, const char *name, Json args, Error *err) {
    const Operation *op = operation_find(name, err);
    Json out = json_none();
    args = json_is_none(args) ? json_object() : args;
    if (op && operation_check(op, args, err)) {
        Engine *engine = op->read ? host_engine(host, HOST_WRITES, err) : NULL;
        Json thread = json_object_get_c(args, "thread");
        if (engine && json_kind(thread) == JSON_STRING &&
            host_find(host, json_string_data(&thread))) {
            engine_wait_durable(engine); /* what it has done so far is in the store */
        }
        Store *store = engine ? engine_reader(engine, err) : NULL;
        Session *session = asks_session(op) ? session_of(host, op, args, err) : NULL;
        if (op->read && op->need == HOST_READS) {
            out = store ? op->read(store, args, err) : json_none();
        } else if (op->make) {
            out = op->make(host, args, err);
        } else if (!asks_session(op)) {
            error_set(err, ERR_USAGE, "`%s` is answered later, so it cannot be asked for at once.",
                      name);
        } else if (session) {
            Json own = json_object_remove(json_ref(args), json_string_c("thread"));
            out = session_call(session, name, own, err);
        }
    }
    json_unref(args);
    return out;
}

/* ---- the table itself ---- */

static Json list_operations(const Host *host, Json args, Error *err) {
    Json list = json_array();
    (void)host;
    (void)args;
    (void)err;
    for (const Operation *op = operation_next(NULL); op; op = operation_next(op)) {
        list = json_array_push(list, operation_json(op));
    }
    return OBJECT(KEY("operations", list));
}

static const Operation host_operations[2] = {
    {.name = "operations",
     .summary = "list what can be asked",
     .scope = SCOPE_READ,
     .route = "GET /operations",
     .idempotent = true,
     .answer =
         "{operations: [{name: text, summary: text, scope: text, route?: text, idempotent: bool, "
         "arguments: [{name: text, type: text, about: text, required?: bool, one_of?: bool, "
         "nullable?: bool, min?: int, max?: int, words?: [text]}], answer: text}]}",
     .make = list_operations},
    {0},
};
