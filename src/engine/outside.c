#include "outside.h"

#include "advance.h"
#include "control.h"
#include "fail.h"
#include "kind_inputs.h"
#include "record.h"
#include "schedule.h"
#include "steer.h"
#include "task_status.h"
#include "tasks.h"
#include "work.h"

/* ---- several expressions, in slices ---- */

/* What the turns before have come to, while they go on: kept with the step. */
static Json gathered(Frame *f, size_t *next) {
    *next = frame_goes_on(f) ? f->step->edge : 0;
    return frame_goes_on(f) ? json_take(&f->step->result) : json_object();
}

/* The value of one more. JSON_NONE: it failed, or goes on in a later turn, which then has *so_far. */
static Json gather(Frame *f, const Sliced *what, Json *so_far, Error *err) {
    Json value = frame_eval_slice(f, what, err);
    if (frame_goes_on(f)) {
        f->step->result = json_take(so_far);
    } else if (!json_is_none(value) && !value_fits(f->run->engine, value, "The value", err)) {
        json_clear(&value);
    }
    return value;
}

/* ---- beginning ---- */

static void outside_begin(Frame *f, const Node *node);

static void begin_again(Frame *f) {
    outside_begin(f, frame_top(f)->node);
}

/* Of a node of a graph: its parameters are expressions over the state. */
static Json evaluated_inputs(Frame *f, const Node *node, Error *err) {
    Json vars[FRAME_VARS_MAX];
    size_t i;
    Json given = gathered(f, &i);
    for (; i < node->kind->nparams; i++) {
        const Expr *expr = node->params[i].expr;
        if (!expr) continue;
        Sliced what = {expr, frame_top(f)->state, frame_variables(f, node, vars), i, begin_again};
        Json value = gather(f, &what, &given, err);
        if (frame_goes_on(f)) return json_none();
        if (json_is_none(value)) {
            error_wrap(err, "the input `%s`", node->kind->params[i].name);
            json_unref(given);
            return value;
        }
        given = json_object_with(given, node->kind->params[i].name, value);
    }
    return given;
}

/* Of a step: its parameters are values. */
static Json written_inputs(const Node *node) {
    Json given = json_object();
    for (size_t i = kinds[KIND_OUTSIDE].nparams; i < node->kind->nparams; i++) {
        Json value = node->params[i].value;
        if (!json_is_none(value)) {
            given = json_object_with(given, node->kind->params[i].name, json_ref(value));
        }
    }
    return given;
}

/* Of a task: they were resolved when it began, and are with its level; inside they would be read as what a container
 * remembers. */
static Json resolved_inputs(Frame *f) {
    Level *l = frame_top(f);
    Json given = json_kind(l->writes) == JSON_OBJECT ? json_ref(l->writes) : json_object();
    level_set_memo(f, l, json_none());
    return given;
}

static void enter_test(Frame *f, const Node *node, Json state) {
    Error err = ERROR_INIT;
    list_enter(f, node_inside(node, 0), state);
    if (test_set_vars(f, &err)) {
        frame_record(f, node, "entered", json_none());
        return;
    }
    Json error = fail_error(f, NULL, "configVars", &err, json_none());
    list_leave(f);
    frame_fail(f, error, FAIL_NODE);
}

static void outside_begin(Frame *f, const Node *node) {
    Error err = ERROR_INIT;
    const Graph *graph = node_inside(node, 0);
    Json given = node->task                                ? resolved_inputs(f)
                 : node->kind->dialect == DIALECT_PIPELINE ? written_inputs(node)
                                                           : evaluated_inputs(f, node, &err);
    if (frame_goes_on(f)) return;
    Json inputs = json_is_none(given)
                      ? given
                      : inputs_fill(node->kind->outside, given, node->task != NULL, &err);
    json_unref(given);
    if (json_is_none(inputs)) {
        frame_fail_with(f, "input", &err);
        return;
    }
    Json state = graph_initial_state(graph, inputs);
    json_unref(inputs);
    start_clock(f, node_time_ms(node));
    if (graph->scoped) {
        enter_test(f, node, state);
        return;
    }
    level_push(f, graph, state, false);
    if (frame_go_on(f)) frame_record(f, node, "entered", json_none());
}

/* ---- ending ---- */

static Json step_result(const Node *node, Json result) {
    return OBJECT(KEY("steps", OBJECT(KEY(node->name, result))));
}

Json outside_failed(const Node *node, Json error) {
    Json message = json_object_get_c(error, "message");
    return step_result(node, OBJECT(KEY("status", "failed"), KEY("error", json_ref(message))));
}

static void leave(Frame *f) {
    level_pop(f);
    frame_set_wait(f, json_null());
}

/* The outputs, by what the graph ended with. */
static void give_back(Frame *f) {
    const OutsideKind *kind = frame_top(f)->graph->outside;
    const Node *node = f->levels[f->nlevels - 2].node;
    Error err = ERROR_INIT;
    size_t i;
    Json outputs = gathered(f, &i), seen = frame_sees(f), error = json_none();
    for (; i < kind->noutputs && json_is_none(error); i++) {
        Sliced what = {kind->outputs[i].expr, seen, NULL, i, control_level_done};
        Json value = gather(f, &what, &outputs, &err);
        if (frame_goes_on(f)) {
            json_unref(seen);
            return;
        }
        if (json_is_none(value)) {
            Json name = kind->outputs[i].name;
            error_wrap(&err, "the output `%.*s` of the kind `%s`", (int)json_string_len(name),
                       json_string_data(&name), kind->name);
            error =
                fail_error(f, NULL, "output", &err, OBJECT(KEY("node", json_ref(node->name_json))));
        } else {
            outputs = json_object_set(outputs, json_ref(kind->outputs[i].name), value);
        }
    }
    json_unref(seen);
    leave(f);
    if (!json_is_none(error)) {
        json_unref(outputs);
        frame_fail(f, error, FAIL_NODE);
    } else if (node->kind->dialect == DIALECT_PIPELINE) {
        frame_finish(
            f, step_result(node, OBJECT(KEY("status", "completed"), KEY("outputs", outputs))));
    } else {
        frame_finish(f, outputs);
    }
}

void outside_list_ended(Frame *f) {
    if (verdict_result(frame_top(f)) != TASK_FAILURE) {
        give_back(f);
        return;
    }
    Json error = json_ref(verdict_error(frame_top(f)));
    leave(f);
    fail_inside(f, error);
    json_unref(error);
}

const Steering steer_outside = {.begin = outside_begin, .level_done = give_back};
