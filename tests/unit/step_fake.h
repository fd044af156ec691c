/* step_fake.h - the functions of step.h without an engine, for tests of the work of node kinds.
 *
 *     Step step;
 *     fake_init(&step, KIND_SHELL, "{\"n\":1}");
 *     fake_set_expr(&step, SHELL_CWD, "\"/usr\"");
 *     fake_run(&step);                              prepare(), start(), and the loop until it is over
 *     assert_string_equal(step.result, "...");
 *     fake_clear(&step);
 *
 * What came of a step is text: the result as JSON, a failure as "kind: sentence", a question to a
 * person as "ask: PROMPT OPTIONS". What it set on the way is in step.set, as "var NAME=JSON;" and
 * "out NAME=JSON;", and what it logged in step.log, each piece as "stream|bytes".
 *
 * What steps of one engine share is in `fake`: the loop and the slots of the kinds. FAKE_TEST() opens
 * it for each test and closes it after, and then nothing may be left: no handle in the loop, no byte
 * of JSON. fake_next_process() is the end of a process, and the next one begins. fake_main() has the
 * folder that all of them run in.
 */
#ifndef PAWL_TESTS_STEP_FAKE_H
#define PAWL_TESTS_STEP_FAKE_H

#include "errand.h"
#include "exec.h"
#include "json_test.h"
#include "mem.h"
#include "process.h"

#include <unistd.h>

enum { FAKE_PARAMS = 24, FAKE_FIELDS = 4, FAKE_VARS = 4 };

struct Step {
    Node node;
    Param params[FAKE_PARAMS];
    Expr exprs[FAKE_PARAMS + FAKE_FIELDS];
    struct ParamField fields[FAKE_FIELDS];
    const char *names[FAKE_VARS]; /* of vars; node.nvars says how many there are */
    Json state, vars[FAKE_VARS];
    const char *const *more; /* the names of what step_eval_with() is given */
    int64_t timeout;
    uint64_t deadline, turn_end; /* of pure work, as uv_hrtime() counts; 0: none */
    bool interactive;
    const char *folder;
    Bounds bounds;
    const char *definition; /* NULL: that of all others */
    const char *place;      /* NULL: there is none */
    char own_place[100];
    void *data;
    bool drops_data; /* the kind is expected to have no data any more when the step ends */
    Json memo, answers;
    bool again; /* it was answered, and is to start once more */

    bool joins_log; /* pieces of stdout in a row are one, however the pipe cut them */
    bool in_stdout;
    Buf log, set;
    TaskResult task_result;

    bool done;
    char *result;
    Json details;      /* of a failure */
    const char *asked; /* the reason; NULL: nobody was asked */
    Json prompt, options;
};

static struct {
    char root[64]; /* the folder of the tests */
    int places;
    uv_loop_t loop;
    void *kind_data[KIND_COUNT];
    bool holds_errands;   /* they begin with fake_errands(), and not before */
    Errand *held;         /* one that waits for that */
    const char *unwanted; /* the place that nobody comes back to */
    size_t json_before;   /* bytes that a test before this one, which failed, left behind */
} fake;

/* ---- step.h: what the work sees ---- */

const Node *step_node(const Step *step) {
    return &step->node;
}

const Param *step_param(const Step *step, int index) {
    return &step->params[index];
}

Json step_state(const Step *step) {
    return step->state;
}

Json step_var(const Step *step, size_t index) {
    return step->vars[index];
}

uv_loop_t *step_loop(const Step *step) {
    (void)step;
    return &fake.loop;
}

const char *step_thread(const Step *step) {
    (void)step;
    return "fake";
}

const char *step_folder(const Step *step) {
    return step->folder;
}

Json step_realm(const Step *step) {
    return json_string_c(step->definition ? step->definition : "definition");
}

bool step_trace(const Step *step, TraceContext *out, const char **state) {
    (void)step;
    (void)out;
    *state = NULL;
    return false;
}

const char *const *step_environment(const Step *step) {
    (void)step;
    extern char **environ;
    return (const char *const *)environ;
}

const Bounds *step_bounds(const Step *step) {
    return &step->bounds;
}

const Graph *step_graph(const Step *step, size_t i) {
    return i == 0 ? step->node.graph : NULL;
}

int64_t step_timeout_ms(const Step *step) {
    return step->timeout;
}

uint64_t step_deadline(const Step *step) {
    return step->deadline;
}

uint64_t step_turn_end(const Step *step) {
    return step->turn_end;
}

void step_took_long(Step *step) {
    (void)step;
}

bool step_is_interactive(const Step *step) {
    return step->interactive;
}

static Json fake_eval(const char *text, Json input, const JqOptions *options, const Json *vars,
                      Error *err) {
    JqHost host = {.budget = {.steps = 100000}};
    JqProgram *program = jq_compile(text, strlen(text), options, err);
    if (!program) return json_none();
    JqRun *run = jq_run_new(program, &host);
    jq_run_start(run, json_ref(input), vars);
    Json out = json_none();
    JqStatus status = jq_run_next(run, &out);
    if (status == JQ_FAILED) *err = *jq_run_error(run);
    if (status != JQ_OUTPUT) out = json_none();
    jq_run_free(run);
    jq_program_free(program);
    return out;
}

Json step_query(Step *step, const Expr *query, Error *err) {
    Error own = ERROR_INIT;
    return fake_eval(query->text, step->state, NULL, NULL, err ? err : &own);
}

Json step_eval_with(Step *step, const Expr *expr, const Json *more, size_t n, Error *err) {
    const char *names[2 * FAKE_VARS];
    Json vars[2 * FAKE_VARS];
    size_t nvars = 0;
    assert_true(n <= FAKE_VARS);
    for (size_t i = 0; i < step->node.nvars; i++, nvars++) {
        names[nvars] = step->names[i];
        vars[nvars] = step->vars[i];
    }
    for (size_t i = 0; i < n; i++, nvars++) {
        names[nvars] = step->more[i];
        vars[nvars] = more[i];
    }
    Error why = ERROR_INIT;
    Json out =
        fake_eval(expr->text, step->state, &(JqOptions){.vars = names, .nvars = nvars}, vars, &why);
    if (!json_is_none(out)) return out;
    if (why.code == ERR_NONE) error_set(&why, ERR_RAISED, "The expression gives no result.");
    if (err) *err = why;
    return out;
}

Json step_eval(Step *step, const Expr *expr, Error *err) {
    return step_eval_with(step, expr, NULL, 0, err);
}

bool step_eval_slice(Step *step, const Expr *expr, Json *out, Error *err) {
    *out = step_eval(step, expr, err);
    return true;
}

bool step_text(Step *step, const Expr *expr, Buf *out, Error *err);

bool step_long_text(Step *step, const Expr *expr, StepText *out, Error *err) {
    bool fine = step_text(step, expr, &out->text, err);
    out->len = out->text.len;
    return fine;
}

void step_text_clear(StepText *text) {
    buf_clear(&text->text);
    *text = (StepText){0};
}

bool step_text(Step *step, const Expr *expr, Buf *out, Error *err) {
    Json value = step_eval(step, expr, err);
    if (json_is_none(value)) return false;
    if (json_kind(value) == JSON_STRING) {
        buf_add(out, json_string_data(&value), json_string_len(value));
    } else {
        json_print(value, NULL, out);
    }
    json_unref(value);
    return true;
}

bool step_reserve(Step *s, uint64_t bytes, Error *err) {
    (void)s;
    (void)bytes;
    (void)err;
    return true;
}

const char *step_place(Step *step, Error *err) {
    if (!step->place) error_set(err, ERR_USAGE, "There is no place.");
    return step->place;
}

bool step_place_wanted(Step *step, const char *place) {
    (void)step;
    return !fake.unwanted || strcmp(place, fake.unwanted) != 0;
}

void step_set_progress(Step *step, double percent, const char *message) {
    buf_printf(&step->set, "progress %g %s;", percent, message);
}

const char *step_run_folder(Step *step, Error *err) {
    (void)step;
    (void)err;
    return fake.root;
}

const char *step_results_folder(Step *step, Error *err) {
    static char path[80];
    (void)step;
    (void)err;
    snprintf(path, sizeof path, "%s/kept", fake.root);
    return path;
}

const char *step_store_folder(Step *step) {
    (void)step;
    return fake.root;
}

void step_set_data(Step *step, void *data) {
    step->data = data;
}

void *step_data(const Step *step) {
    return step->data;
}

void **step_kind_data(Step *step, KindId kind) {
    (void)step;
    return &fake.kind_data[kind];
}

Json step_memo(const Step *step) {
    return step->memo;
}

Json step_answers(const Step *step) {
    return step->answers;
}

/* ---- step.h: what comes of it ---- */

bool step_log_is_behind(const Step *s) {
    (void)s;
    return false;
}

void step_log(Step *step, const char *stream, const char *bytes, size_t len) {
    bool is_stdout = strcmp(stream, "stdout") == 0;
    bool goes_on = step->joins_log && step->in_stdout && is_stdout;
    if (!goes_on) buf_printf(&step->log, "%s|", stream);
    buf_add(&step->log, bytes, len);
    step->in_stdout = is_stdout;
}

void step_log_progress(Step *step, double percent, const char *message) {
    Buf line = BUF_INIT;
    step_set_progress(step, percent, message);
    buf_printf(&line, "%.0f%%%s%s\n", percent, *message ? ": " : "", message);
    step_log(step, "log", line.data, line.len);
    buf_clear(&line);
}

void step_log_cut(Step *step, const char *stream, uint64_t left_out) {
    if (!left_out) return;
    buf_printf(&step->log, "log|... %llu bytes of %s are left out here ...\n",
               (unsigned long long)left_out, stream);
    step->in_stdout = false;
}

bool step_has_secrets(const Step *step) {
    (void)step;
    return false;
}

void step_write_mask(Step *step, Buf *out) {
    (void)step;
    (void)out;
}

Mask *step_copy_mask(Step *step) {
    (void)step;
    return NULL;
}

/* Each has a list of its own, which goes with it. */
static void fake_errands(Errand *errand) {
    Errands *errands = errands_new(&fake.loop);
    errands_add(errands, errand);
    errands_leave(errands, false);
    fake.held = NULL;
}

void step_errand(Step *step, Errand *errand) {
    (void)step;
    if (!fake.holds_errands) {
        fake_errands(errand);
        return;
    }
    assert_null(fake.held);
    fake.held = errand;
}

bool step_discard(Step *step, const char *path) {
    Errands *errands = errands_new(step_loop(step));
    bool gone = errands_discard(errands, path, fake.root);
    errands_leave(errands, false);
    return gone;
}

bool step_mask(Step *step, const char *text, size_t len, unsigned cut, Buf *out) {
    (void)step;
    (void)text;
    (void)len;
    (void)cut;
    (void)out;
    return false;
}

/* No test of these asks for evaluations; edge_agent.py is tried through the program. */
void step_evaluated(Step *step, Json value, const Error *err) {
    (void)step;
    (void)err;
    json_unref(value);
}

static void fake_note_set(Step *step, const char *what, Json name, Json value) {
    assert_false(step->done);
    buf_printf(&step->set, "%s %s=", what, json_string_data(&name));
    json_print(value, NULL, &step->set);
    buf_addc(&step->set, ';');
    json_unref(name);
    json_unref(value);
}

void step_set_var(Step *step, Json name, Json value) {
    fake_note_set(step, "var", name, value);
}

void step_set_output(Step *step, Json name, Json value) {
    fake_note_set(step, "out", name, value);
}

void step_set_result(Step *step, TaskResult result) {
    step->task_result = result;
}

void step_forgive(Step *step, Json result) {
    (void)step;
    json_unref(result);
}

static void fake_end(Step *step, char *result) {
    assert_false(step->done);
    if (step->drops_data) assert_null(step->data);
    step->done = true;
    step->result = result;
}

void step_ask(Step *step, const char *reason, Json prompt, Json options) {
    Buf out = BUF_INIT;
    buf_adds(&out, "ask: ");
    json_print(prompt, NULL, &out);
    if (!json_is_none(options)) {
        buf_addc(&out, ' ');
        json_print(options, NULL, &out);
    }
    step->asked = reason;
    step->prompt = prompt;
    step->options = options;
    fake_end(step, buf_detach(&out));
}

void step_answer(Step *step, Json answer) {
    assert_false(step->done);
    assert_null(step->data);
    step->answers = json_array_push(step->answers, answer);
    step->again = true;
}

void step_enter(Step *step, Flow *flow) {
    fake_end(step, mem_strdup(flow->path));
    flow_unref(flow);
}

void step_succeed(Step *step, Json result) {
    fake_end(step, json_to_text(result));
    json_unref(result);
}

void step_fail(Step *step, const char *kind, Json details, const char *fmt, ...) {
    char text[2000];
    Buf out = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    buf_printf(&out, "%s: %s", kind, text);
    step->details = details;
    fake_end(step, buf_detach(&out));
}

void step_fail_with(Step *step, const char *kind, const Error *err) {
    step_fail(step, kind, json_none(), "%s", err->msg);
}

/* ---- one step ---- */

static void fake_init(Step *step, KindId kind, const char *state) {
    memset(step, 0, sizeof *step);
    step->node.kind = &kinds[kind];
    step->node.vars = step->names;
    step->state = parse(state);
    step->answers = json_array();
    step->folder = fake.root;
    snprintf(step->own_place, sizeof step->own_place, "%s/%d", fake.root, ++fake.places);
    step->place = step->own_place;
}

/* Consumes value. */
TEST_UNUSED static void fake_set(Step *step, int index, Json value) {
    json_unref(step->params[index].value);
    step->params[index].value = value;
}

TEST_UNUSED static void fake_set_expr(Step *step, int index, const char *text) {
    fake_set(step, index, json_string_c(text));
    step->exprs[index].text = text;
    step->params[index].expr = &step->exprs[index];
}

/* A field of a parameter that is an object of expressions. Of one parameter only. */
TEST_UNUSED static void fake_add_field(Step *step, int index, const char *name, const char *text) {
    Param *param = &step->params[index];
    size_t i = param->nfields++;
    assert_true(i < FAKE_FIELDS);
    Expr *expr = &step->exprs[FAKE_PARAMS + i];
    expr->text = text;
    step->fields[i] = (struct ParamField){json_string_c(name), expr};
    param->fields = step->fields;
}

/* A variable of the node. Consumes value. */
TEST_UNUSED static void fake_add_var(Step *step, const char *name, Json value) {
    size_t i = step->node.nvars++;
    assert_true(i < FAKE_VARS);
    step->names[i] = name;
    step->vars[i] = value;
}

static const NodeWork *fake_work(const Step *step) {
    const NodeWork *work = exec_work[step->node.kind->id];
    assert_non_null(work);
    return work;
}

TEST_UNUSED static void fake_prepare(Step *step) {
    Error err = ERROR_INIT;
    if (!fake_work(step)->prepare) return;
    json_unref(step->memo);
    step->memo = fake_work(step)->prepare(step, &err);
    if (json_is_none(step->memo)) fail_msg("%s", err.msg);
}

TEST_UNUSED static void fake_start(Step *step) {
    fake_prepare(step);
    step->deadline = step->timeout ? uv_hrtime() + (uint64_t)step->timeout * 1000000 : 0;
    fake_work(step)->start(step);
}

TEST_UNUSED static void fake_wait(Step *step) {
    while (!step->done) {
        if (step->again) {
            step->again = false;
            fake_work(step)->start(step);
        } else {
            uv_run(&fake.loop, UV_RUN_ONCE);
        }
    }
}

TEST_UNUSED static void fake_run(Step *step) {
    fake_start(step);
    fake_wait(step);
}

TEST_UNUSED static void fake_wait_for_log(Step *step) {
    while (!step->log.len) uv_run(&fake.loop, UV_RUN_ONCE);
}

TEST_UNUSED static void fake_cancel(Step *step) {
    fake_work(step)->cancel(step);
}

TEST_UNUSED static void fake_drop(Step *step) {
    fake_work(step)->drop(step);
    assert_false(step->done);
}

/* What was printed into a Buf, "" when nothing was. */
TEST_UNUSED static const char *fake_text(const Buf *buf) {
    return buf->data ? buf->data : "";
}

static void fake_forget_end(Step *step) {
    mem_free(step->result);
    json_unref(step->details);
    json_unref(step->prompt);
    json_unref(step->options);
    step->result = NULL;
    step->details = step->prompt = step->options = json_none();
    step->asked = NULL;
    step->done = false;
}

/* A person answers, and the step starts again. Consumes value. */
TEST_UNUSED static void fake_answer(Step *step, Json value) {
    fake_forget_end(step);
    step->answers = json_array_push(step->answers, value);
    fake_work(step)->start(step);
    fake_wait(step);
}

static void fake_clear(Step *step) {
    if (step->place) process_forget(step->place);
    for (int i = 0; i < FAKE_PARAMS; i++) json_unref(step->params[i].value);
    for (int i = 0; i < FAKE_FIELDS; i++) json_unref(step->fields[i].name);
    for (int i = 0; i < FAKE_VARS; i++) json_unref(step->vars[i]);
    json_unref(step->state);
    json_unref(step->memo);
    json_unref(step->answers);
    json_unref(step->node.output);
    buf_clear(&step->log);
    buf_clear(&step->set);
    fake_forget_end(step);
}

/* ---- what steps share ---- */

static void fake_open(void) {
    fake.unwanted = NULL;
    assert_int_equal(uv_loop_init(&fake.loop), 0);
}

/* Ends what the kinds keep. After it nothing may be left in the loop, which is given some time for
 * it: a test that failed leaves things behind. */
static void fake_close(void) {
    for (size_t kind = 0; kind < KIND_COUNT; kind++) {
        void **slot = &fake.kind_data[kind];
        if (*slot) exec_work[kind]->free_data(*slot);
        *slot = NULL;
    }
    uint64_t last = uv_hrtime() + 5000000000;
    while (uv_run(&fake.loop, UV_RUN_NOWAIT) && uv_hrtime() < last) usleep(1000);
    assert_int_equal(uv_loop_close(&fake.loop), 0);
}

TEST_UNUSED static void fake_next_process(void) {
    fake_close();
    fake_open();
}

static int fake_set_up(void **state) {
    (void)state;
    fake.json_before = json_heap_bytes();
    fake_open();
    return 0;
}

static int fake_tear_down(void **state) {
    (void)state;
    fake_close();
    return json_heap_bytes() == fake.json_before ? 0 : -1;
}

#define FAKE_TEST(f) cmocka_unit_test_setup_teardown(f, fake_set_up, fake_tear_down)

static int fake_end_root(int failed) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", fake.root);
    return system(command) != 0 || failed;
}

/* Runs the tests, an array, in a folder that is there as long. */
#define fake_main(tests)                                     \
    (alarm(120), strcpy(fake.root, "/tmp/pawl-step-XXXXXX"), \
     mkdtemp(fake.root) ? fake_end_root(cmocka_run_group_tests(tests, NULL, NULL)) : 1)

#endif
