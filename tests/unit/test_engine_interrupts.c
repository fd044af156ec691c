/* Stopping for a person, and answers. Each answer is taken by a fresh engine, as a new process
 * would; finished nodes count their executions in files, and never run again. */
#include "engine_host.h"

/* ---- before and after ---- */

#define THREE_STEPS                                            \
    "nodes:\n  - {name: a, shell: 'echo x >> a', output: a}\n" \
    "  - {name: b, shell: 'echo x >> b', output: b}\n"         \
    "  - {name: c, shell: 'echo x >> c', output: c}\n"

static void an_interrupt_before_a_node_stops_there(void **state) {
    (void)state;
    Run *run = host_run("config: {interrupt_before: [b]}\n" THREE_STEPS, NULL);
    expect_run(run, "interrupted", NULL);
    expect_row("t", "interrupted");
    assert_string_equal(interrupt_at(run, "b"), "i3");
    assert_int_equal(lines_of("a"), 1);
    assert_int_equal(lines_of("b"), 0);
    run = host_go_on();
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("a"), 1);
    assert_int_equal(lines_of("b"), 1);
    assert_int_equal(lines_of("c"), 1);
}

static void an_interrupt_after_a_node_stops_when_it_is_done(void **state) {
    (void)state;
    Run *run = host_run("config: {interrupt_after: [b]}\n" THREE_STEPS, NULL);
    expect_run(run, "interrupted", NULL);
    assert_int_equal(lines_of("b"), 1);
    assert_int_equal(lines_of("c"), 0);
    expect_run(host_go_on(), "completed", NULL);
    assert_int_equal(lines_of("b"), 1);
    assert_int_equal(lines_of("c"), 1);
}

static void interrupts_everywhere_stop_at_each_node_once(void **state) {
    (void)state;
    Run *run =
        host_run("config: {interrupt_before: '*', interrupt_after: '*'}\n" THREE_STEPS, NULL);
    for (int stops = 1; stops <= 6; stops++) {
        expect_run(run, "interrupted", NULL);
        assert_int_equal(open_interrupts(run), 1);
        run = host_go_on();
    }
    expect_run(run, "completed", NULL);
    assert_int_equal(lines_of("a") + lines_of("b") + lines_of("c"), 3);
    expect_sound_store();
}

static void the_last_events_are_the_interrupt_and_settled(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{}', interrupt: before}]\n", NULL);
    assert_string_equal(host_log(), "start\nstep started\nstep a interrupted\n"
                                    "interrupt a before\nsettled interrupted\n");
}

static void an_interrupt_after_the_last_node_in_a_branch_holds_the_join(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: a, jq: '{a: 1}', interrupt: after}\n"
                        "  - {name: b, jq: '{b: 1}'}\n  - {name: j, jq: '{j: [.a, .b]}'}\n"
                        "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
                        "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n",
                        NULL);
    expect_run(run, "interrupted", "{}");
    expect_run(host_go_on(), "completed", "{\"a\": 1, \"b\": 1, \"j\": [1, 1]}");
}

static void values_given_at_an_interrupt_are_merged_into_the_state(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{y: .x}', interrupt: before}]\n", "{\"x\": 1}");
    host_fresh();
    expect_contains(host_refused(&(RunResume){.thread = "t", .value = json_int(3)}),
                    "`a` asked nothing");
    expect_run(host_answer(NULL, NULL, "{\"x\": 5}"), "completed", "{\"x\": 5, \"y\": 5}");
}

static void interrupts_in_a_loop_come_each_round(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - name: l\n"
                        "    while: '.n < 3'\n"
                        "    do: [{name: i, jq: '{n: (.n + 1)}', interrupt: before}]\n",
                        "{\"n\": 0}");
    for (int i = 0; i < 3; i++) {
        expect_run(run, "interrupted", NULL);
        run = host_go_on();
    }
    expect_run(run, "completed", "{\"n\": 3}");
}

/* ---- approvals ---- */

#define ASK "nodes: [{name: q, approval: {prompt: 'Ship \\(.v)?', options: [yes, no]}}]\n"

static void an_approval_asks_and_takes_the_answer(void **state) {
    (void)state;
    Run *run = host_run(ASK, "{\"v\": 7}");
    Json open = run_interrupts(run);
    expect_json(open, "[{\"id\": \"i2\", \"node\": \"q\", \"frame\": 1, \"prompt\": \"Ship 7?\","
                      "\"options\": [\"yes\", \"no\"], \"reason\": \"approval\"}]");
    json_unref(open);
    hold_clock();
    host.clock = 5000;
    run = host_answer(NULL, "yes", NULL);
    expect_run(run, "completed", "{\"v\": 7, \"decision\": \"yes\", \"at\": 5000}");
}

static void answers_have_several_forms(void **state) {
    (void)state;
    static const struct {
        const char *decision, *value, *want;
    } forms[] = {
        {"yes", NULL, "{\"decision\": \"yes\", \"at\": 5}"},
        {NULL, "\"no\"", "{\"decision\": \"no\", \"at\": 5}"},
        {"yes", "\"because\"", "{\"decision\": \"yes\", \"value\": \"because\", \"at\": 5}"},
        {"yes", "{\"n\": 1}", "{\"decision\": \"yes\", \"value\": {\"n\": 1}, \"at\": 5}"},
        {NULL, "{\"decision\": \"no\", \"by\": \"me\"}",
         "{\"decision\": \"no\", \"by\": \"me\", \"at\": 5}"},
        {NULL, "42", "{\"decision\": null, \"value\": 42, \"at\": 5}"},
        {NULL, "{\"n\": 1}", "{\"decision\": null, \"value\": {\"n\": 1}, \"at\": 5}"},
    };
    host.held = true;
    host.clock = 5;
    host_run("nodes: [{name: q, approval: {prompt: p, options: [yes, no]}, output: r}]\n", NULL);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char thread[24];
        RunRow row = {0};
        snprintf(thread, sizeof thread, "f%zu", i);
        assert_true(engine_fork_now(host.engine, "t", 0, thread, &row, &host.err));
        run_row_clear(&row);
        host_fresh();
        Json value = forms[i].value ? parse(forms[i].value) : json_none();
        Run *run = host_resume(
            &(RunResume){.thread = thread, .decision = forms[i].decision, .value = value});
        json_unref(value);
        expect_run(run, "completed", NULL);
        expect_json(json_object_get_c(run_state(run), "r"), forms[i].want);
    }
}

static void answers_that_do_not_fit_are_refused(void **state) {
    (void)state;
    host_run(ASK, "{\"v\": 7}");
    host_fresh();
    expect_contains(host_refused(&(RunResume){.thread = "t"}), "i2 at `q` waits for an answer");
    expect_contains(host.err.facts, "\"interrupt\":\"i2\",\"options\":\"yes|no\"");
    expect_contains(host_refused(&(RunResume){.thread = "t", .decision = "maybe"}),
                    "`maybe` is not one of the options of `q`: yes, no.");
    Json word = json_string_c("maybe");
    expect_contains(host_refused(&(RunResume){.thread = "t", .value = word}), "not one of");
    expect_contains(host_refused(&(RunResume){.thread = "t", .interrupt = "i9", .decision = "yes"}),
                    "No interrupt `i9` is open; these are: i2 (`q`).");
    json_unref(word);
    expect_row("t", "interrupted");
    expect_run(host_answer("i2", "no", NULL), "completed", NULL);
}

static void an_answer_where_nothing_was_asked_is_refused(void **state) {
    (void)state;
    Run *run = host_run("nodes: [{name: a, shell: 'exit 1'}]\n", NULL);
    expect_run(run, "failed", NULL);
    host_fresh();
    expect_contains(host_refused(&(RunResume){.thread = "t", .decision = "yes"}),
                    "No interrupt is open in this run");
}

static void an_answer_is_not_taken_twice(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: p, approval: {prompt: one}, output: p}\n"
             "  - {name: q, approval: {prompt: two}, output: q}\n",
             NULL);
    Run *run = host_answer("i2", "yes", NULL);
    expect_run(run, "interrupted", NULL);
    host_fresh();
    expect_contains(host_refused(&(RunResume){.thread = "t", .interrupt = "i2", .decision = "yes"}),
                    "No interrupt `i2` is open");
    expect_run(host_answer(NULL, "yes", NULL), "completed", NULL);
}

static void a_prompt_that_fails_is_an_error_of_the_node(void **state) {
    (void)state;
    Run *run =
        host_run("nodes: [{name: q, approval: {prompt: 'x \\(.a - 1)'}}]\n", "{\"a\": \"b\"}");
    expect_failed(run, "jq", "cannot be subtracted");
    assert_string_equal(run_error_text(run, "node"), "q");
}

static void a_map_of_approvals_asks_for_each_element(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n"
                        "  - name: m\n"
                        "    map: {over: '[10, 20, 30]', as: x, limit: 2}\n"
                        "    do: {approval: {prompt: 'ok \\($x)?'}}\n"
                        "  - {name: r, jq: '{m: [.m[].decision]}'}\n",
                        NULL);
    assert_int_equal(open_interrupts(run), 2);
    Json open = run_interrupts(run);
    char last[16], first[16];
    for (size_t i = 0; i < 2; i++) {
        Json one = json_array_get(open, i), id = json_object_get_c(one, "id");
        bool is_first = json_string_is(json_object_get_c(one, "prompt"), "ok 10?");
        snprintf(is_first ? first : last, 16, "%.*s", (int)json_string_len(id),
                 json_string_data(&id));
    }
    json_unref(open);
    run = host_answer(last, "second", NULL);
    expect_run(run, "interrupted", NULL);
    assert_int_equal(open_interrupts(run), 2);
    run = host_answer(first, "first", NULL);
    assert_int_equal(open_interrupts(run), 1);
    run = host_answer(NULL, "third", NULL);
    expect_run(run, "completed", "{\"m\": [\"first\", \"second\", \"third\"]}");
    expect_sound_store();
}

/* ---- several at once ---- */

#define FOUR                                                                              \
    "nodes:\n"                                                                            \
    "  - {name: s, shell: 'echo x >> s', output: s}\n"                                    \
    "  - {name: a, approval: {prompt: a}, output: a}\n"                                   \
    "  - {name: a2, shell: 'echo x >> a2', output: a2}\n"                                 \
    "  - {name: b0, shell: 'echo x >> b0', output: b0}\n"                                 \
    "  - {name: b, approval: {prompt: b}, output: b}\n"                                   \
    "  - {name: c, jq: '{c: 1}', interrupt: before}\n"                                    \
    "  - {name: w, workflow: sub.yaml, output: w}\n"                                      \
    "  - {name: j, jq: '{r: [.a.decision, .b.decision, .c, .w.q.decision]}'}\n"           \
    "edges:\n  - {from: __start__, to: s}\n  - {from: s, to: [a, b0, c, w], fan_in: j}\n" \
    "  - {from: a, to: a2}\n  - {from: b0, to: b}\n  - {from: [a2, b, c, w], to: j}\n"    \
    "  - {from: j, to: __end__}\n"

static const char *const asked[] = {"a", "b", "c", "q"};

static void start_four(void) {
    host_file("sub.yaml", "nodes:\n  - {name: w1, shell: 'echo x >> w1', output: w1}\n"
                          "  - {name: q, approval: {prompt: q}, output: q}\n"
                          "  - {name: w2, shell: 'echo x >> w2', output: w2}\n");
    Run *run = host_run(FOUR, NULL);
    expect_run(run, "interrupted", NULL);
    assert_int_equal(open_interrupts(run), 4);
}

static void answer_four(const char *thread, const int *order) {
    Run *run = NULL;
    for (int i = 0; i < 4; i++) {
        const char *node = asked[order[i]];
        host_fresh();
        RunRow row = {0};
        assert_true(store_find(host.store, thread, &row, &host.err));
        Json image = chain_image(host.store, row.run, row.head, NULL, &host.err);
        Json open = image_interrupts(image);
        assert_int_equal(json_array_len(open), 4 - i);
        char id[32] = "";
        for (size_t k = 0; k < json_array_len(open); k++) {
            Json one = json_array_get(open, k), name = json_object_get_c(one, "id");
            if (json_string_is(json_object_get_c(one, "node"), node))
                snprintf(id, sizeof id, "%.*s", (int)json_string_len(name),
                         json_string_data(&name));
        }
        json_unref(open);
        json_unref(image);
        run_row_clear(&row);
        assert_true(*id);
        bool asks = strcmp(node, "c") != 0;
        run = host_resume(
            &(RunResume){.thread = thread, .interrupt = id, .decision = asks ? node : NULL});
        expect_run(run, i < 3 ? "interrupted" : "completed", NULL);
    }
    expect_json(json_object_get_c(run_state(run), "r"), "[\"a\", \"b\", 1, \"q\"]");
}

static void open_interrupts_are_answered_in_every_order(void **state) {
    (void)state;
    start_four();
    int round = 0;
    for (int p = 0; p < 256; p++) {
        int order[] = {p & 3, p >> 2 & 3, p >> 4 & 3, p >> 6 & 3};
        if ((1 << order[0] | 1 << order[1] | 1 << order[2] | 1 << order[3]) != 15) continue;
        char thread[24];
        RunRow row = {0};
        snprintf(thread, sizeof thread, "order%d", ++round);
        assert_true(engine_fork_now(host.engine, "t", 0, thread, &row, &host.err));
        run_row_clear(&row);
        answer_four(thread, order);
        assert_int_equal(lines_of("s"), 1);
        assert_int_equal(lines_of("b0"), 1);
        assert_int_equal(lines_of("w1"), 1);
        assert_int_equal(lines_of("a2"), round);
        assert_int_equal(lines_of("w2"), round);
    }
    assert_int_equal(round, 24);
    expect_sound_store();
}

static void several_open_interrupts_want_an_id(void **state) {
    (void)state;
    start_four();
    host_fresh();
    expect_contains(host_refused(&(RunResume){.thread = "t", .decision = "x"}),
                    "Several interrupts are open, and it is not said which one: ");
    assert_int_equal(count_of(host.err.msg, "(`"), 4);
}

static void without_an_answer_those_that_only_stopped_go_on(void **state) {
    (void)state;
    start_four();
    Run *run = host_go_on();
    expect_run(run, "interrupted", NULL);
    assert_int_equal(open_interrupts(run), 3);
    host_fresh();
    expect_contains(host_refused(&(RunResume){.thread = "t"}), "Several interrupts are open");
}

static void open_interrupts_are_listed_in_the_order_of_their_branches(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: a, approval: {prompt: a}, output: a}\n"
                        "  - {name: b, approval: {prompt: b}, output: b}\n"
                        "  - {name: c, approval: {prompt: c}, output: c}\n"
                        "edges:\n  - {from: __start__, to: [a, b, c]}\n"
                        "  - {from: [a, b, c], to: __end__}\n",
                        NULL);
    for (int i = 0; i < 2; i++) {
        Json open = run_interrupts(run), nodes = json_array();
        for (size_t k = 0; k < json_array_len(open); k++)
            nodes = json_array_push(nodes,
                                    json_ref(json_object_get_c(json_array_get(open, k), "node")));
        json_unref(open);
        expect_json(nodes, i ? "[\"a\", \"c\"]" : "[\"a\", \"b\", \"c\"]");
        json_unref(nodes);
        if (!i) run = host_answer(interrupt_at(run, "b"), "yes", NULL);
    }
}

/* ---- values set first ---- */

static Run *resume_with_set(const char *id, const char *decision, const char *set) {
    host_fresh();
    Json values = parse(set);
    Run *run = host_resume(
        &(RunResume){.thread = "t", .interrupt = id, .decision = decision, .set = values});
    json_unref(values);
    return run;
}

static void values_are_set_before_the_run_goes_on(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{y: (.x.deep + 1)}', interrupt: before}]\n",
             "{\"x\": {\"deep\": 1}}");
    Run *run = resume_with_set(NULL, NULL, "[[[\"x\", \"deep\"], 5], [[\"z\"], [1]]]");
    expect_run(run, "completed", "{\"x\": {\"deep\": 5}, \"z\": [1], \"y\": 6}");
}

static void values_set_in_a_branch_are_that_branchs_and_reach_the_join(void **state) {
    (void)state;
    Run *run = host_run("nodes:\n  - {name: a, jq: '{a: .x}', interrupt: before}\n"
                        "  - {name: b, jq: '{b: .x}', interrupt: before}\n"
                        "  - {name: j, jq: '{j: .x}'}\n"
                        "edges:\n  - {from: __start__, to: [a, b], fan_in: j}\n"
                        "  - {from: [a, b], to: j}\n  - {from: j, to: __end__}\n",
                        "{\"x\": 1}");
    run = resume_with_set(interrupt_at(run, "a"), NULL, "[[[\"x\"], 9]]");
    expect_run(run, "interrupted", NULL);
    expect_run(host_go_on(), "completed", "{\"x\": 9, \"a\": 9, \"b\": 1, \"j\": 9}");
}

static void values_that_cannot_be_set_refuse_the_resume(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{}', interrupt: before}]\n", "{\"x\": 1}");
    host_fresh();
    Json bad = parse("[[[\"x\", \"y\"], 1]]"), whole = parse("[[[], 3]]");
    host_refused(&(RunResume){.thread = "t", .set = bad});
    expect_contains(host_refused(&(RunResume){.thread = "t", .set = whole}), "is an object");
    json_unref(bad);
    json_unref(whole);
    expect_run(host_go_on(), "completed", "{\"x\": 1}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_ALL(an_interrupt_before_a_node_stops_there),
        TEST_ALL(an_interrupt_after_a_node_stops_when_it_is_done),
        TEST_ALL(interrupts_everywhere_stop_at_each_node_once),
        TEST_ALL(the_last_events_are_the_interrupt_and_settled),
        TEST_ALL(an_interrupt_after_the_last_node_in_a_branch_holds_the_join),
        TEST_ALL(values_given_at_an_interrupt_are_merged_into_the_state),
        TEST(interrupts_in_a_loop_come_each_round),
        TEST_ALL(an_approval_asks_and_takes_the_answer),
        TEST_ALL(answers_have_several_forms),
        TEST_ALL(answers_that_do_not_fit_are_refused),
        TEST_ALL(an_answer_where_nothing_was_asked_is_refused),
        TEST_ALL(an_answer_is_not_taken_twice),
        TEST(a_prompt_that_fails_is_an_error_of_the_node),
        TEST_ALL(a_map_of_approvals_asks_for_each_element),
        TEST_ALL(open_interrupts_are_answered_in_every_order),
        TEST(several_open_interrupts_want_an_id),
        TEST(without_an_answer_those_that_only_stopped_go_on),
        TEST_ALL(open_interrupts_are_listed_in_the_order_of_their_branches),
        TEST_ALL(values_are_set_before_the_run_goes_on),
        TEST_ALL(values_set_in_a_branch_are_that_branchs_and_reach_the_join),
        TEST(values_that_cannot_be_set_refuse_the_resume),
    };
    return RUN_TESTS(tests);
}
