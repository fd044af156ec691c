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
    assert_int_equal(err->code, ERR_RAISED); /* as one that raises an error */
    assert_string_equal(err->msg, "The query took longer than 0.02 s.");
}

static void q2_a_query_has_its_own_time(void **state) {
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

/* What it works counts, and not the time between its slices. False: it had too few of them, on a machine that did other things
 * meanwhile. */
static bool waits_between_turns(void) {
    Error err = ERROR_INIT;
    int turns = 0;
    Flow *flow = slow_test();
    Evaluator *m = evaluator_of(flow);
    Json vars = json_object(), out = json_none();
    Replay replay = {0};
    uint64_t begun = uv_hrtime(), waited = 0;
    evaluator_set_clock(m, &(EvaluatorClock){.look = over, .ctx = &turns});
    do {
        error_clear(&err);
        evaluator_begin(m, &replay);
        out = evaluator_query(m, query_of(flow), vars, &err);
        evaluator_end(m);
        assert_true(replay.worked < QUERY_NS || !replay.is_later);
        for (uint64_t since = uv_hrtime(); turns < 3 && uv_hrtime() - since < QUERY_NS;) waited++;
    } while (replay.is_later);
    expect_slow(out, &err);
    if (turns > 3) {
        assert_true(waited > 0);
        assert_true(uv_hrtime() - begun >= 3 * (uint64_t)QUERY_NS);
    }
    replay_clear(&replay);
    json_unref(vars);
    evaluator_free(m);
    flow_unref(flow);
    return turns > 3;
}

static void q2_so_has_one_that_goes_on_in_later_turns(void **state) {
    int tries = 0;
    (void)state;
    while (!waits_between_turns()) assert_true(++tries < 1000);
}

static bool never_over(void *ctx) {
    (void)ctx;
    return false;
}

/* Where it cannot be sliced it has one: it would hold up everybody else. */
static void q2_a_query_that_is_sliced_has_no_limit_of_steps(void **state) {
    (void)state;
    Flow *flow = load("tasks: [{name: sleep, if: '| reduce range(20000000) as $i (0; . + 1)', "
                      "config: {duration: 0}}]");
    for (int sliced = 0; sliced < 2; sliced++) {
        Error err = ERROR_INIT;
        Evaluator *m = evaluator_of(flow);
        Json vars = json_object();
        Replay replay = {0};
        evaluator_set_query_time(m, UINT64_MAX);
        evaluator_set_clock(m, &(EvaluatorClock){.look = never_over});
        if (sliced) evaluator_begin(m, &replay);
        Json out = evaluator_query(m, query_of(flow), vars, &err);
        if (sliced) evaluator_end(m);
        assert_int_equal(err.code, sliced ? ERR_NONE : ERR_RAISED);
        assert_string_equal(err.msg, sliced ? "" : "The query used more than 50000000 steps.");
        assert_true(sliced ? json_to_double(out) == 2e7 : json_is_none(out));
        json_unref(out);
        replay_clear(&replay);
        json_unref(vars);
        evaluator_free(m);
    }
    flow_unref(flow);
}

/* A task's own timeout is a limit. */
static void a_deadline_is_no_error_of_a_query(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    Flow *flow = slow_test();
    Evaluator *m = evaluator_of(flow);
    Json vars = json_object();
    evaluator_set_query_time(m, UINT64_MAX);
    evaluator_set_deadline(m, uv_hrtime() + QUERY_NS);
    assert_true(json_is_none(evaluator_query(m, query_of(flow), vars, &err)));
    assert_int_equal(err.code, ERR_LIMIT);
    json_unref(vars);
    evaluator_free(m);
    flow_unref(flow);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(q2_a_query_that_is_sliced_has_no_limit_of_steps),
        cmocka_unit_test(a_deadline_is_no_error_of_a_query),
        cmocka_unit_test(q2_a_query_has_its_own_time),
        cmocka_unit_test(q2_so_has_one_that_goes_on_in_later_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
