/* Evaluations that end in time. What else there is to them, the tests of the engine have. */
#include "evaluator.h"
#include "flow_fixture.h"

#include <uv.h>

enum { QUERY_NS = 20000000 };

/* A test whose one task has a query that would take hours. */
static Flow *slow_test(void) {
    return load("tasks: [{name: sleep, if: '| last(range(1e15)) > 0', config: {duration: 0}}]");
}

static const Expr *query_of(const Flow *flow) {
    return flow->main->nodes[0].task->when;
}

static Evaluator *evaluator_of(const Flow *flow) {
    static const JqHost host;
    Evaluator *m = evaluator_new(flow, &host);
    evaluator_set_query_time(m, QUERY_NS);
    return m;
}

static void expect_slow(Json out, const Error *err) {
    assert_true(json_is_none(out));
    assert_int_equal(err->code, ERR_LIMIT);
    assert_string_equal(err->msg, "The query took longer than 0.02 s.");
}

static void a_query_has_its_own_time(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    Flow *flow = slow_test();
    Evaluator *m = evaluator_of(flow);
    Json vars = json_object();
    expect_slow(evaluator_query(m, query_of(flow), vars, &err), &err);
    json_unref(vars);
    evaluator_free(m);
    flow_unref(flow);
}

static bool over(void *ctx) {
    (*(int *)ctx)++;
    return true;
}

/* In slices, too: it counts from where it began. */
static void so_has_one_that_goes_on_in_later_turns(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    int turns = 0;
    Flow *flow = slow_test();
    Evaluator *m = evaluator_of(flow);
    Json vars = json_object(), out = json_none();
    Replay replay = {0};
    uint64_t begun = uv_hrtime();
    evaluator_set_clock(m, &(EvaluatorClock){.look = over, .ctx = &turns});
    do {
        error_clear(&err);
        evaluator_begin(m, &replay);
        out = evaluator_query(m, query_of(flow), vars, &err);
        evaluator_end(m);
    } while (replay.is_later);
    expect_slow(out, &err);
    assert_true(turns > 1);
    assert_true(uv_hrtime() - begun >= QUERY_NS);
    replay_clear(&replay);
    json_unref(vars);
    evaluator_free(m);
    flow_unref(flow);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_has_its_own_time),
        cmocka_unit_test(so_has_one_that_goes_on_in_later_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
