/* The work of nodes in Python and JavaScript: a call of a worker (workers.h), with code from the
 * workflow or a function of a program beside it.
 *
 * The code sees `state`, `env`, the variables in scope by their names, interrupt(value) and
 * log(...). What it returns is the result; code that returns nothing changes nothing.
 *
 * interrupt() stops the run for a person. The call is then *parked* under the step's place: the
 * worker waits. When the node starts again with one more answer and the call is still there, it
 * gets that answer and goes on; if it is not (another process, or too many others came after it),
 * the code runs from its start with all the answers so far.
 *
 * How it fails, as .error.kind:
 *
 *     python, javascript   an exception: .error has type, traceback, and the file and line to blame
 *     worker               the interpreter died (exit_code or signal) or wrote rubbish to us
 *     limit                memory, or a result that is too long
 *     spawn                there is no interpreter or no such program */
#include "edge_agent_program.h"
#include "exec.h"
#include "json_build.h"
#include "json_print.h"
#include "mem.h"
#include "safe_file.h"
#include "safe_root.h"
#include "worker_notes.h"
#include "workers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    EVALUATION_MS = 30000, /* an expression takes no longer */
    EVALUATION_MEMORY = 1 << 30,
    EVALUATION_OUTPUT = 1 << 20,
    PARKED_MAX = 32,
    LOOK_MS = 1000, /* how often, at most, it is looked whether parked calls are still wanted */
    OUTPUT_MAX = 256 << 20,
};

typedef struct Script Script;

/* For all steps of an engine. */
typedef struct Scripts {
    WorkerPool *pool;
    Script *parked; /* oldest first */
    int nparked;
    uint64_t looked; /* when, in milliseconds of the loop */
    Json edge_agent; /* the program for files of The Edge Agent; JSON_NONE: not needed so far */
} Scripts;

struct Script {
    Scripts *scripts;
    Step *step; /* NULL while it is parked */
    WorkerCall *call;
    Script *next;      /* parked */
    char *place;       /* the same */
    size_t answers;    /* that it was given */
    Json what;         /* [code, file, function] */
    uv_timer_t *timer; /* of the evaluation of an expression; NULL: it is a node's work */
};

/* The parameters of all are those of Python. */
typedef struct ScriptKind {
    KindId kind;
    const char *word; /* .error.kind of an exception */
    WorkerLanguage language;
    bool agent; /* it is for edge_agent.py, which runs it */
} ScriptKind;

static const ScriptKind script_kinds[] = {
    {KIND_PYTHON, "python", WORKER_PYTHON, false},
    {KIND_JAVASCRIPT, "javascript", WORKER_JAVASCRIPT, false},
    {KIND_EDGE_AGENT, "python", WORKER_PYTHON, true},
};

static const ScriptKind *kind_of(const Step *step) {
    const ScriptKind *kind = script_kinds;
    while (kind->kind != step_node(step)->kind->id) kind++;
    return kind;
}

/* JSON_NONE when nothing was written. */
static Json value_of(const Step *step, int index) {
    return step_param(step, index)->value;
}

static Json or_null(Json value) {
    return json_is_none(value) ? json_null() : json_ref(value);
}

/* ---- parked calls ---- */

static void free_timer(uv_handle_t *timer) {
    mem_free(timer);
}

static void script_free(Script *script) {
    if (script->timer) uv_close((uv_handle_t *)script->timer, free_timer);
    json_unref(script->what);
    mem_free(script->place);
    mem_free(script);
}

static void unpark(Script *script) {
    Script **at = &script->scripts->parked;
    while (*at && *at != script) at = &(*at)->next;
    if (!*at) return;
    *at = script->next;
    script->next = NULL;
    script->scripts->nparked--;
}

static void let_go(Script *script) {
    unpark(script);
    worker_drop(script->call);
    script_free(script);
}

/* ---- what comes from the worker ---- */

static void on_log(void *ctx, const char *stream, const char *bytes, size_t len) {
    Script *script = ctx;
    if (script->step) step_log(script->step, stream, bytes, len);
}

static void on_interrupt(void *ctx, Json value) {
    Script *script = ctx;
    Step *step = script->step;
    Error err = ERROR_INIT;
    const char *place = step_place(step, &err);
    script->step = NULL;
    step_set_data(step, NULL);
    if (place) {
        Scripts *scripts = script->scripts;
        Script **end = &scripts->parked;
        script->place = mem_strndup(place, strlen(place));
        if (scripts->nparked == PARKED_MAX) let_go(scripts->parked);
        while (*end) end = &(*end)->next;
        *end = script;
        scripts->nparked++;
    } else {
        let_go(script);
    }
    step_ask(step, "interrupt", json_ref(value), json_none());
}

/* ---- how it ended ---- */

static void succeed(Step *step, Json value) {
    JsonKind kind = json_kind(value);
    if (kind == JSON_NULL && json_is_none(step_node(step)->output)) {
        step_succeed(step, json_object());
        return;
    }
    step_succeed(step, json_ref(value));
}

/* Says where in the workflow, or in the program, the exception came up: " (line 2 of the code, a.yaml:14)",
 * " (nodes.py:14)". */
static void fail_raised(Step *step, const WorkerResult *result) {
    const ScriptKind *kind = kind_of(step);
    const Node *node = step_node(step);
    Json file = value_of(step, PYTHON_FILE);
    bool program = !json_is_none(file);
    int line = result->line;
    Buf message = BUF_INIT;
    buf_adds(&message, result->message);
    if (line && program) {
        buf_printf(&message, " (%.*s:%d)", (int)json_string_len(file), json_string_data(&file),
                   line);
    } else if (line) {
        line += step_param(step, PYTHON_CODE)->line - 1;
        buf_printf(&message, " (line %d of the code, %s:%d)", result->line, node->file, line);
    }
    Json blamed = !line ? json_none() : program ? json_ref(file) : json_string_c(node->file);
    Json details = OBJECT(KEY("type", *result->type ? result->type : NULL), KEY("file", blamed),
                          KEY("line", line ? json_int(line) : json_none()),
                          KEY("traceback", *result->traceback ? result->traceback : NULL));
    step_fail(step, kind->word, details, "%s", message.data ? message.data : "");
    buf_clear(&message);
}

/* ---- The Edge Agent ---- */

static const char *text_of(Json object, const char *key) {
    const char *text = json_object_text(object, key);
    return text ? text : "";
}

/* What edge_agent.py answers: {value}, or {failed: {type, message, line, traceback}}. False: it is that, in *out, whose
 * texts are the value's. */
static bool agent_value(const WorkerResult *result, Json *value, WorkerResult *out) {
    Json object = result->value;
    Json failed =
        json_kind(object) == JSON_OBJECT ? json_object_get_c(object, "failed") : json_none();
    *value = json_kind(object) == JSON_OBJECT ? json_object_get_c(object, "value") : json_none();
    if (json_kind(failed) != JSON_OBJECT) return !json_is_none(*value);
    Json line = json_object_get_c(failed, "line");
    *out = (WorkerResult){.end = WORKER_RAISED};
    out->type = text_of(failed, "type");
    out->message = text_of(failed, "message");
    out->traceback = text_of(failed, "traceback");
    out->line =
        json_tag(line) == JSON_TAG_INT && line.i > 0 && line.i < INT32_MAX ? (int)line.i : 0;
    return false;
}

static void agent_ended(Step *step, const WorkerResult *result) {
    WorkerResult failed = {.end = WORKER_RUBBISH};
    Json value;
    if (result->end == WORKER_RAISED) { /* what it gave is no JSON: none of its own lines says so */
        failed = *result;
        failed.line = 0;
        fail_raised(step, &failed);
    } else if (agent_value(result, &value, &failed)) {
        step_succeed(step, json_ref(value));
    } else if (failed.end == WORKER_RAISED) {
        fail_raised(step, &failed);
    } else {
        step_fail(step, "worker", json_none(), "The code has changed what runs it.");
    }
}

/* ---- the end of a call ---- */

static void on_end(void *ctx, const WorkerResult *result) {
    static const char *const words[] = {
        [WORKER_DIED] = "worker",     [WORKER_RUBBISH] = "worker",      [WORKER_LIMIT] = "limit",
        [WORKER_UNSTARTED] = "spawn", [WORKER_CANCELLED] = "cancelled",
    };
    Script *script = ctx;
    Step *step = script->step;
    unpark(script);
    script_free(script);
    if (!step) return; /* it died while it was parked: the node will start anew */
    step_set_data(step, NULL);
    bool came = result->end == WORKER_RETURNED || result->end == WORKER_RAISED;
    if (came && kind_of(step)->agent) {
        agent_ended(step, result);
    } else if (result->end == WORKER_RETURNED) {
        succeed(step, result->value);
    } else if (result->end == WORKER_RAISED) {
        fail_raised(step, result);
    } else {
        Json code = json_int(result->signal ? result->signal : result->code);
        bool died = result->end == WORKER_DIED;
        Json details =
            died ? OBJECT(KEY(result->signal ? "signal" : "exit_code", code)) : json_none();
        step_fail(step, words[result->end], details, "%s", result->message);
    }
}

/* ---- what it is given ---- */

typedef struct Given {
    Buf path; /* of the program */
    Buf function;
    Buf realm; /* who shares workers with it */
    Buf home;  /* the workflow's own folder */
    Json env, vars;
} Given;

static void give_realm(const Step *step, Given *given) {
    Json realm = step_realm(step);
    buf_add(&given->realm, json_string_data(&realm), json_string_len(realm));
    json_unref(realm);
}

/* The workflow's file is where the run was started unless it has a whole path. One that was read from a
 * standard input has no folder of its own; and in one that others can write to, others could put modules. */
static void give_home(const Step *step, Given *given) {
    const char *file = step_node(step)->file, *slash = file ? strrchr(file, '/') : NULL;
    if (!file || !*file || !strcmp(file, "-")) return;
    if (file[0] != '/') buf_printf(&given->home, "%s/", step_folder(step));
    if (slash) buf_add(&given->home, file, (size_t)(slash - file) + 1);
    int fd = open(given->home.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || !safe_folder_is_ours(fd, given->home.data, NULL)) buf_clear(&given->home);
    if (fd >= 0) close(fd);
    if (!exec_file(step, &given->home, NULL)) buf_clear(&given->home);
}

/* The program is beside the workflow's file. Its function is called like the node unless it has another
 * name. */
static bool give_program(const Step *step, Given *given, Error *err) {
    Json file = value_of(step, PYTHON_FILE), function = value_of(step, PYTHON_FUNCTION);
    const char *beside = step_node(step)->file, *slash = beside ? strrchr(beside, '/') : NULL;
    if (json_is_none(file)) return true;
    bool whole = json_string_len(file) && json_string_data(&file)[0] == '/';
    if (!whole && slash) buf_add(&given->path, beside, (size_t)(slash - beside) + 1);
    buf_add(&given->path, json_string_data(&file), json_string_len(file));
    if (json_is_none(function)) {
        buf_adds(&given->function, step_node(step)->name);
    } else {
        buf_add(&given->function, json_string_data(&function), json_string_len(function));
    }
    return exec_file(step, &given->path, err);
}

/* What the code finds in its environment of the trace that it is in; env of the node comes after it. */
static Json trace_env(Step *step) {
    TraceContext span;
    const char *state;
    char text[TRACE_TEXT];
    if (!step_trace(step, &span, &state)) return json_object();
    trace_print(&span, text);
    return OBJECT(KEY("TRACEPARENT", text), KEY("TRACESTATE", state));
}

static bool give_env(Step *step, Given *given, Error *err) {
    const Param *param = step_param(step, PYTHON_ENV);
    given->env = trace_env(step);
    for (size_t i = 0; i < param->nfields; i++) {
        const struct ParamField *field = &param->fields[i];
        Json value = step_eval(step, field->expr, err);
        if (json_is_none(value)) {
            error_wrap(err, "env.%.*s", (int)json_string_len(field->name),
                       json_string_data(&field->name));
            return false;
        }
        given->env = json_object_set(given->env, json_ref(field->name), value);
    }
    return true;
}

static bool give_all(Step *step, const ScriptKind *kind, Given *given, Error *err) {
    const Node *node = step_node(step);
    bool code = json_kind(value_of(step, PYTHON_CODE)) == JSON_STRING;
    bool file = json_kind(value_of(step, PYTHON_FILE)) == JSON_STRING;
    if (code == file) {
        return error_set(
            err, ERR_USAGE,
            code ? "The node has both code and a `file`. Take one of them out."
                 : "The node has neither code nor a `file` that has it. Write one of them: "
                   "`%s: return {}`, or `%s: {file: nodes, function: name}`.",
            kind->word, kind->word);
    }
    if (!exec_size_fits(step, PYTHON_MAX_OUTPUT, OUTPUT_MAX, err)) return false;
    give_realm(step, given);
    give_home(step, given);
    if (!give_program(step, given, err)) return false;
    given->vars = json_object();
    for (size_t i = 0; i < node->nvars; i++) {
        given->vars = json_object_with(given->vars, node->vars[i], json_ref(step_var(step, i)));
    }
    return give_env(step, given, err);
}

/* ---- starting ---- */

static Scripts *scripts_of(Step *step) {
    void **slot = step_kind_data(step, KIND_PYTHON);
    if (!*slot) {
        Scripts *scripts = mem_zalloc(sizeof *scripts);
        WorkerPoolOptions options = {.environment = step_environment(step),
                                     .notes = step_store_folder(step)};
        scripts->pool = worker_pool_new(step_loop(step), &options);
        *slot = scripts;
    }
    return *slot;
}

static size_t answers_of(const Step *step) {
    Json answers = step_answers(step);
    return json_array_len(answers);
}

static Json what_of(const Step *step) {
    Json parts[] = {or_null(value_of(step, PYTHON_CODE)), or_null(value_of(step, PYTHON_FILE)),
                    or_null(value_of(step, PYTHON_FUNCTION))};
    return json_array_from(parts, 3);
}

/* edge_agent.py as the code of a node, which keeps it as a module: each worker has it once. */
static Json edge_agent_code(Scripts *scripts) {
    if (!json_is_none(scripts->edge_agent)) return scripts->edge_agent;
    Buf code = BUF_INIT;
    Json text = json_string(edge_agent_program, edge_agent_program_len);
    buf_adds(&code, "import sys, types\nsource = ");
    json_print(text, NULL, &code); /* which Python reads as well */
    buf_adds(&code, "\nagent = sys.modules.get('_pawl_edge_agent')\n"
                    "if agent is None:\n"
                    "    agent = types.ModuleType('_pawl_edge_agent')\n"
                    "    agent.__file__ = '<edge agent>'\n"
                    "    exec(compile(source, agent.__file__, 'exec'), agent.__dict__)\n"
                    "    sys.modules['_pawl_edge_agent'] = agent\n"
                    "own = {'interrupt': interrupt, 'log': log}\n"
                    "return agent.answer('<node>', state, request, own)\n");
    json_unref(text);
    scripts->edge_agent = json_string(code.data, code.len);
    buf_clear(&code);
    return scripts->edge_agent;
}

/* Consumes what. */
static Json edge_agent_request(const char *how, Json what, Json given) {
    Json seen = json_kind(given) == JSON_OBJECT ? json_ref(given) : json_object();
    return OBJECT(KEY("request", OBJECT(KEY("how", how), KEY("what", what), KEY("given", seen))));
}

static bool call(Step *step, const ScriptKind *kind, const Given *given, Error *err) {
    Scripts *scripts = scripts_of(step);
    Script *script = mem_zalloc(sizeof *script);
    script->scripts = scripts;
    script->step = step;
    script->answers = answers_of(step);
    script->what = what_of(step);
    bool program = given->path.len > 0;
    if (!step_reserve(step, json_size(step_state(step)), err)) {
        script_free(script);
        return false;
    }
    Json how = kind->agent ? value_of(step, EDGE_AGENT_HOW) : json_none();
    Json request = kind->agent ? edge_agent_request(json_string_data(&how),
                                                    json_ref(value_of(step, PYTHON_CODE)),
                                                    value_of(step, EDGE_AGENT_GIVEN))
                               : json_none();
    WorkerOptions options = {
        .language = kind->language,
        .code = program       ? json_none()
                : kind->agent ? edge_agent_code(scripts)
                              : value_of(step, PYTHON_CODE),
        .file = program ? given->path.data : NULL,
        .function = program ? given->function.data : NULL,
        .realm = given->realm.data,
        .home = given->home.data,
        .state = step_state(step),
        .env = given->env,
        .vars = kind->agent                    ? request
                : json_object_len(given->vars) ? given->vars
                                               : json_none(),
        .answers = script->answers ? step_answers(step) : json_none(),
        .folder = step_folder(step),
        .memory = (uint64_t)step_param(step, PYTHON_MEMORY)->number,
        .max_output = (size_t)step_param(step, PYTHON_MAX_OUTPUT)->number,
        .on_log = on_log,
        .on_interrupt = on_interrupt,
        .on_end = on_end,
        .ctx = script,
    };
    script->call = worker_call(scripts->pool, &options, err);
    json_unref(request);
    if (!script->call) {
        script_free(script);
        return false;
    }
    step_set_data(step, script);
    return true;
}

/* A parked call goes on when it is what asked the question that was answered last. */
static bool go_on(Script *script, Step *step) {
    Json what = what_of(step);
    bool same = json_equal(script->what, what);
    json_unref(what);
    if (!same || answers_of(step) != script->answers + 1 || !worker_is_waiting(script->call)) {
        return false;
    }
    mem_free(script->place);
    script->place = NULL;
    script->step = step;
    script->answers++;
    step_set_data(step, script);
    worker_answer(script->call, json_array_get(step_answers(step), script->answers - 1));
    return true;
}

static void exec_script_start(Step *step) {
    const ScriptKind *kind = kind_of(step);
    Scripts *scripts = scripts_of(step);
    Error err = ERROR_INIT;
    Given given = {.path = BUF_INIT};
    Script *parked = scripts->parked;
    const char *place = parked ? step_place(step, &err) : NULL;
    while (parked && (!place || strcmp(parked->place, place) != 0)) parked = parked->next;
    if (parked) unpark(parked);
    uint64_t now = uv_now(step_loop(step));
    if (scripts->parked && now - scripts->looked >= LOOK_MS) {
        scripts->looked = now;
        for (Script *script = scripts->parked, *next; script; script = next) {
            next = script->next;
            if (!step_place_wanted(step, script->place)) let_go(script);
        }
    }
    if (parked && go_on(parked, step)) return;
    if (parked) let_go(parked);
    error_clear(&err);
    if (!give_all(step, kind, &given, &err)) {
        exec_fail_with(step, err.code == ERR_IO ? "spawn" : kind->word, &err);
    } else if (!call(step, kind, &given, &err)) {
        exec_fail_with(step, "spawn", &err);
    }
    buf_clear(&given.path);
    buf_clear(&given.function);
    buf_clear(&given.realm);
    buf_clear(&given.home);
    json_unref(given.env);
    json_unref(given.vars);
}

static void exec_script_cancel(Step *step) {
    Script *script = step_data(step);
    if (script) worker_cancel(script->call);
}

static void exec_script_freeze(Step *step, bool frozen) {
    Script *script = step_data(step);
    if (script) worker_freeze(script->call, frozen);
}

static void exec_script_drop(Step *step) {
    Script *script = step_data(step);
    if (script) let_go(script);
}

/* What a process that died has left of its calls is ended before one of them is made again. */
static void exec_script_sweep(const WorkSweep *sweep) {
    worker_notes_sweep(sweep->folder);
}

/* ---- expressions ---- */

static void evaluation_end(Script *script, Json value, const Error *err) {
    Step *step = script->step;
    script_free(script);
    step_evaluated(step, value, err);
}

static void on_evaluated(void *ctx, const WorkerResult *result) {
    Script *script = ctx;
    Error err = ERROR_INIT;
    WorkerResult failed = {.end = WORKER_RUBBISH, .message = "", .type = ""};
    Json value = json_none();
    bool returned = result->end == WORKER_RETURNED;
    if (returned && agent_value(result, &value, &failed)) {
        evaluation_end(script, json_ref(value), NULL);
        return;
    }
    const WorkerResult *why = returned ? &failed : result;
    const char *message = why->message ? why->message : "";
    bool limit = why->end == WORKER_LIMIT;
    if (why->end == WORKER_RAISED && *why->type && strcmp(why->type, "LookupError") != 0) {
        error_set(&err, ERR_RAISED, "%s: %s", why->type, message);
    } else {
        error_set(&err, limit ? ERR_LIMIT : ERR_RAISED, "%s",
                  *message ? message : "The code of a node has changed what evaluates this.");
    }
    evaluation_end(script, json_none(), &err);
}

static void on_evaluation_late(uv_timer_t *timer) {
    Script *script = timer->data;
    Error err = ERROR_INIT;
    error_set(&err, ERR_LIMIT, "The expression took longer than %g s.",
              (double)uv_timer_get_repeat(timer) / 1000);
    worker_drop(script->call);
    evaluation_end(script, json_none(), &err);
}

static void exec_script_evaluate(Step *step, const Expr *expr, Json result) {
    Scripts *scripts = scripts_of(step);
    const Foreign *foreign = expr->foreign;
    int64_t ms = step_timeout_ms(step);
    Error err = ERROR_INIT;
    Given given = {.path = BUF_INIT};
    Json request = edge_agent_request(foreign->how, json_ref(foreign->what), foreign->given);
    if (!json_is_none(result)) {
        Json inner = json_ref(json_object_get_c(request, "request"));
        inner = json_object_with(inner, "result", json_ref(result));
        request = json_object_with(request, "request", inner);
    }
    give_realm(step, &given);
    give_home(step, &given);
    Script *script = mem_zalloc(sizeof *script);
    script->scripts = scripts;
    script->step = step;
    WorkerOptions options = {
        .language = WORKER_PYTHON,
        .code = edge_agent_code(scripts),
        .realm = given.realm.data,
        .home = given.home.data,
        .state = step_state(step),
        .env = json_none(),
        .vars = request,
        .answers = json_none(),
        .folder = step_folder(step),
        .memory = EVALUATION_MEMORY,
        .max_output = EVALUATION_OUTPUT,
        .on_end = on_evaluated,
        .ctx = script,
    };
    script->call = worker_call(scripts->pool, &options, &err);
    json_unref(request);
    buf_clear(&given.realm);
    buf_clear(&given.home);
    if (!script->call) {
        evaluation_end(script, json_none(), &err);
        return;
    }
    ms = ms && ms < EVALUATION_MS ? ms : EVALUATION_MS;
    script->timer = mem_zalloc(sizeof *script->timer);
    script->timer->data = script;
    uv_timer_init(step_loop(step), script->timer);
    uv_timer_start(script->timer, on_evaluation_late, (uint64_t)ms, (uint64_t)ms);
    step_set_data(step, script);
}

static void exec_script_free(void *data) {
    Scripts *scripts = data;
    while (scripts->parked) let_go(scripts->parked);
    worker_pool_free(scripts->pool);
    json_unref(scripts->edge_agent);
    mem_free(scripts);
}

/* ---- before anything runs ---- */

static const Param *file_of(const Node *node) {
    bool script = node->kind->id == KIND_PYTHON || node->kind->id == KIND_JAVASCRIPT;
    return script                        ? &node->params[PYTHON_FILE]
           : node->kind->id == KIND_HTTP ? &node->params[HTTP_CA_FILE]
                                         : NULL;
}

static void check_file(const Flow *flow, const Node *node, const SafeRoot *root,
                       FlowProblems *problems) {
    const Param *param = file_of(node);
    Json file = param ? param->value : json_none();
    if (json_kind(file) != JSON_STRING || !json_string_len(file)) return;
    Error err = ERROR_INIT;
    Buf path = BUF_INIT, sentence = BUF_INIT;
    const char *name = json_string_data(&file), *slash = strrchr(node->file, '/');
    bool beside = node->kind->id != KIND_HTTP && name[0] != '/' && slash;
    if (beside) buf_add(&path, node->file, (size_t)(slash - node->file) + 1);
    buf_adds(&path, name);
    int fd = safe_root_open(root, path.data, O_RDONLY, &err);
    if (fd < 0 && errno == EXDEV) {
        buf_printf(&sentence, "The file `%s` cannot be used. %s", name, err.msg);
        flow_problem_add(flow, problems, node->file, param->line, param->col, sentence.data);
    }
    if (fd >= 0) close(fd);
    buf_clear(&path);
    buf_clear(&sentence);
}

void exec_check_files(const Flow *flow, const SafeRoot *root, FlowProblems *problems) {
    for (size_t g = 0; root && g < flow->ngraphs; g++) {
        for (size_t i = 0; i < flow->graphs[g]->nnodes; i++) {
            const Node *node = &flow->graphs[g]->nodes[i];
            while (node_body(node)) node = node_body(node);
            check_file(flow, node, root, problems);
        }
    }
}

const NodeWork exec_script = {.start = exec_script_start,
                              .cancel = exec_script_cancel,
                              .freeze = exec_script_freeze,
                              .drop = exec_script_drop,
                              .evaluate = exec_script_evaluate,
                              .sweep = exec_script_sweep,
                              .free_data = exec_script_free};
