/* The promises of jq.h: outputs, restarts, budgets, cancelling, slices, places, completions. */
#include "jq.h"
#include "json_test.h"
#include "sweep.h"

#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- helpers ---- */

static JqProgram *compile(const char *text) {
    Error err = ERROR_INIT;
    JqProgram *p = jq_compile(text, strlen(text), NULL, &err);
    assert_string_equal(err.msg, "");
    return p;
}

static void expect_output(JqRun *run, const char *expected) {
    Json out;
    assert_int_equal(jq_run_next(run, &out), JQ_OUTPUT);
    expect_json(out, expected);
    json_unref(out);
}

static void expect_done(JqRun *run) {
    Json out;
    assert_int_equal(jq_run_next(run, &out), JQ_DONE);
    assert_true(json_is_none(out));
}

static void expect_failure(JqRun *run, ErrorCode code, const char *part) {
    Json out;
    assert_int_equal(jq_run_next(run, &out), JQ_FAILED);
    assert_true(json_is_none(out));
    assert_int_equal(jq_run_error(run)->code, code);
    if (!strstr(jq_run_error(run)->msg, part)) {
        assert_string_equal(jq_run_error(run)->msg, part);
    }
}

/* All outputs and how it ended, as text; pauses are passed over and counted. */
static char *run_all(JqRun *run, Json input, int *pauses) {
    Buf log = BUF_INIT;
    Json out;
    JqStatus status;
    jq_run_start(run, input, NULL);
    while ((status = jq_run_next(run, &out)) == JQ_OUTPUT || status == JQ_PAUSED) {
        if (status == JQ_PAUSED) {
            *pauses += 1;
            continue;
        }
        json_print(out, NULL, &log);
        buf_addc(&log, ' ');
        json_unref(out);
    }
    buf_adds(&log, status == JQ_FAILED ? jq_run_error(run)->msg : ".");
    return buf_detach(&log);
}

/* ---- outputs and reuse ---- */

static void outputs_come_one_at_a_time(void **state) {
    (void)state;
    JqProgram *p = compile(".[] | ., . * 10");
    JqRun *run = jq_run_new(p, NULL);
    jq_run_start(run, parse("[1,2]"), NULL);
    expect_output(run, "1");
    expect_output(run, "10");
    expect_output(run, "2");
    expect_output(run, "20");
    expect_done(run);
    expect_done(run);
    jq_run_free(run);
    jq_program_free(p);
}

static void run_that_was_not_started_gives_nothing(void **state) {
    (void)state;
    JqProgram *p = compile(".");
    JqRun *run = jq_run_new(p, NULL);
    expect_done(run);
    jq_run_free(run);
    jq_program_free(p);
}

static void run_can_be_restarted_in_the_middle(void **state) {
    (void)state;
    JqProgram *p = compile(".[] as $x | [$x, .[]] | .[]");
    JqRun *run = jq_run_new(p, NULL);
    jq_run_start(run, parse("[1,2,3]"), NULL);
    expect_output(run, "1");
    jq_run_start(run, parse("[\"a longer string than fits in a value\"]"), NULL);
    expect_output(run, "\"a longer string than fits in a value\"");
    jq_run_start(run, parse("[7]"), NULL);
    expect_output(run, "7");
    expect_output(run, "7");
    expect_done(run);
    jq_run_free(run);
    jq_program_free(p);
}

static void run_is_good_again_after_an_error(void **state) {
    (void)state;
    JqProgram *p = compile("1, .a");
    JqRun *run = jq_run_new(p, NULL);
    for (int i = 0; i < 3; i++) {
        jq_run_start(run, json_int(5), NULL);
        expect_output(run, "1");
        expect_failure(run, ERR_RAISED, "Cannot index number");
        expect_done(run);
        jq_run_start(run, parse("{\"a\":2}"), NULL);
        expect_output(run, "1");
        expect_output(run, "2");
        expect_done(run);
    }
    jq_run_free(run);
    jq_program_free(p);
}

static void raised_value_is_kept_until_the_next_start(void **state) {
    (void)state;
    JqProgram *p = compile("error({a: [1]})");
    JqRun *run = jq_run_new(p, NULL);
    jq_run_start(run, json_null(), NULL);
    expect_failure(run, ERR_RAISED, "(not a string): {\"a\":[1]}");
    expect_json(jq_run_raised(run), "{\"a\":[1]}");
    jq_run_start(run, json_null(), NULL);
    assert_true(json_is_none(jq_run_raised(run)));
    jq_run_free(run);
    jq_program_free(p);
}

static void dropped_run_leaves_nothing_behind(void **state) {
    (void)state;
    const char *const texts[] = {
        "range(1e9) | [., tostring]",
        "reduce range(1e9) as $x ([]; . + [$x])",
        "[range(1e9)]",
        ".. |= [.]",
        "def f(g): [g, (. | f(g))]; f([1, 2])",
        "[.[] | {a: ., b: [.]}] | .[] | (.a, .b) |= [.]",
        "label $x | foreach repeat(.) as $y (0; . + 1; [., $y])",
        "try error([range(1000)]) catch (., .)",
        "path(.. | (., .))",
        "\"a\" * 1000 | gsub(\"a\"; \"b\", \"c\")",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        JqProgram *p = compile(texts[i]);
        JqHost host = {.budget = {.slice = 500}};
        JqRun *run = jq_run_new(p, &host);
        jq_run_start(run, parse("[[1,[2]],{\"a\":\"some text that is not short\"}]"), NULL);
        for (int n = 0; n < 5; n++) {
            Json out;
            jq_run_next(run, &out);
            json_unref(out);
        }
        jq_run_free(run);
        jq_program_free(p);
        assert_int_equal(json_heap_bytes(), 0);
    }
}

static void many_runs_share_a_program(void **state) {
    (void)state;
    enum { RUNS = 50 };
    JqProgram *p = compile(".[] | . + 1");
    JqRun *runs[RUNS];
    for (int i = 0; i < RUNS; i++) {
        runs[i] = jq_run_new(p, NULL);
        jq_run_start(runs[i],
                     json_array_push(json_array_push(json_array(), json_int(i)), json_int(-i)),
                     NULL);
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < RUNS; i++) {
            Json out;
            assert_int_equal(jq_run_next(runs[i], &out), JQ_OUTPUT);
            assert_int_equal(out.i, round ? 1 - i : i + 1);
        }
    }
    for (int i = 0; i < RUNS; i++) {
        expect_done(runs[i]);
        jq_run_free(runs[i]);
    }
    jq_program_free(p);
}

static void eval_gives_the_first_output_nothing_or_an_error(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    Json input = parse("{\"a\":[1,2]}");
    Json out = jq_eval(".a[]", input, NULL, &err);
    expect_json(out, "1");
    assert_int_equal(err.code, ERR_NONE);
    assert_true(json_is_none(jq_eval("empty", input, NULL, &err)));
    assert_int_equal(err.code, ERR_NONE);
    assert_true(json_is_none(jq_eval(".a.b", input, NULL, &err)));
    assert_int_equal(err.code, ERR_RAISED);
    assert_true(json_is_none(jq_eval(".a |", input, NULL, &err)));
    assert_int_equal(err.code, ERR_SYNTAX);
    assert_true(json_is_none(jq_eval(".a.b", input, NULL, NULL)));
    json_unref(input);
}

static void every_release_accepts_null(void **state) {
    (void)state;
    jq_program_free(NULL);
    jq_run_free(NULL);
}

/* ---- budgets ---- */

static void steps_are_counted_and_bounded(void **state) {
    (void)state;
    JqProgram *p = compile("def f: f; f");
    JqHost host = {.budget = {.steps = 10000}};
    JqRun *run = jq_run_new(p, &host);
    for (int i = 0; i < 2; i++) {
        jq_run_start(run, json_null(), NULL);
        assert_int_equal(jq_run_steps(run), 0);
        expect_failure(run, ERR_LIMIT, "The expression used more than 10000 steps");
        assert_true(jq_run_steps(run) > 10000 && jq_run_steps(run) < 20000);
        assert_true(jq_run_error(run)->line == 1);
    }
    jq_run_free(run);
    jq_program_free(p);
}

static void memory_is_bounded(void **state) {
    (void)state;
    JqProgram *p = compile("[range(1e12)]");
    JqHost host = {.budget = {.memory = (size_t)4 << 20}};
    JqRun *run = jq_run_new(p, &host);
    size_t before = json_heap_bytes();
    jq_run_start(run, json_null(), NULL);
    expect_failure(run, ERR_LIMIT, "needs more than its 4194304 bytes of memory");
    assert_int_equal(json_heap_bytes(), before);
    jq_run_free(run);
    jq_program_free(p);
}

static void depth_is_bounded(void **state) {
    (void)state;
    JqProgram *p = compile("def f: 1 + f; f");
    JqHost host = {.budget = {.depth = 1000}};
    JqRun *run = jq_run_new(p, &host);
    jq_run_start(run, json_null(), NULL);
    expect_failure(run, ERR_LIMIT, "Calls are nested more than 1000 deep");
    jq_run_free(run);
    jq_program_free(p);
}

static void deep_recursion_costs_no_c_stack(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    Json out = jq_eval("def f: if . == 0 then 0 else 1 + (. - 1 | f) end; 200000 | f", json_null(),
                       NULL, &err);
    expect_json(out, "200000");
    assert_int_equal(err.code, ERR_NONE);
}

static void tail_calls_cost_no_depth(void **state) {
    (void)state;
    JqHost host = {.budget = {.depth = 10}};
    Error err = ERROR_INIT;
    Json out = jq_eval("def f: if . == 0 then \"done\" else . - 1 | f end; 100000 | f", json_null(),
                       &host, &err);
    expect_json(out, "\"done\"");
    json_unref(out);
}

static void budget_cannot_be_caught(void **state) {
    (void)state;
    const char *const texts[] = {
        "try (def f: f; f) catch 1",
        "(def f: f; f)? // 1",
        "(def f: f; f) // 1",
        "first((try (def f: f; f) catch 1), 2)",
        ". as [$a] ?// $a | def f: f; f",
        "label $x | try (def f: f; f) catch ., break $x",
        "[.[]? | try repeat(1) catch 1], (try [repeat(1)] catch 2)",
        "try ([range(1e12)] | length) catch 1",
        "try (def f: 1 + f; f) catch 1",
        "isvalid(def f: f; f)",
    };
    JqHost host = {.budget = {.steps = 100000, .memory = (size_t)4 << 20, .depth = 10000}};
    for (size_t i = 0; i < COUNT(texts); i++) {
        Error err = ERROR_INIT;
        Json out = jq_eval(texts[i], json_null(), &host, &err);
        if (!json_is_none(out)) { /* an output before the end, as in the seventh */
            json_unref(out);
            continue;
        }
        assert_int_equal(err.code, ERR_LIMIT);
    }
}

static void run_is_good_again_after_a_limit(void **state) {
    (void)state;
    JqProgram *p = compile("if . then [range(1e12)] else \"fine\" end");
    JqHost host = {.budget = {.memory = (size_t)2 << 20}};
    JqRun *run = jq_run_new(p, &host);
    for (int i = 0; i < 3; i++) {
        jq_run_start(run, json_bool(true), NULL);
        expect_failure(run, ERR_LIMIT, "memory");
        assert_true(json_is_none(jq_run_raised(run)));
        jq_run_start(run, json_bool(false), NULL);
        expect_output(run, "\"fine\"");
        expect_done(run);
    }
    jq_run_free(run);
    jq_program_free(p);
}

static void outputs_that_were_released_do_not_count(void **state) {
    (void)state;
    JqProgram *p = compile("range(200) | [range(5000)]");
    JqHost host = {.budget = {.memory = (size_t)1 << 20}};
    JqRun *run = jq_run_new(p, &host);
    jq_run_start(run, json_null(), NULL);
    for (int i = 0; i < 200; i++) {
        Json out;
        assert_int_equal(jq_run_next(run, &out), JQ_OUTPUT);
        json_unref(out);
    }
    expect_done(run);
    jq_run_free(run);
    jq_program_free(p);
}

static void outputs_that_are_kept_do_not_count(void **state) {
    (void)state;
    JqProgram *p = compile("range(100) | [range(5000)]");
    JqHost host = {.budget = {.memory = (size_t)1 << 20}};
    JqRun *run = jq_run_new(p, &host);
    Json kept = json_array();
    jq_run_start(run, json_null(), NULL);
    for (int i = 0; i < 100; i++) {
        Json out;
        assert_int_equal(jq_run_next(run, &out), JQ_OUTPUT);
        kept = json_array_push(kept, out);
    }
    expect_done(run);
    json_unref(kept);
    jq_run_free(run);
    jq_program_free(p);
}

static void input_does_not_count(void **state) {
    (void)state;
    Json input = jq_eval("[range(200000) | tostring]", json_null(), NULL, NULL);
    JqHost host = {.budget = {.memory = (size_t)256 << 10}};
    Json out = jq_eval("[.[1:5][], length]", input, &host, NULL);
    expect_json(out, "[\"1\",\"2\",\"3\",\"4\",200000]");
    json_unref(out);
    json_unref(input);
}

/* Small in memory, beyond all bounds for whoever walks it. */
#define DOUBLED        "(reduce range(60) as $_ (1; [., .]))"
#define DOUBLED_OBJECT "(reduce range(60) as $_ ({}; {a: ., b: .}))"
#define LONG           "(reduce range(28) as $_ ([1]; . + .))"

static const char *const greedy[] = {
    "def f: f; f",
    "def f: 1 + f; f",
    "def f(g): f(g | g); f(.)",
    "def f(g): f(g, g); f(.)",
    "def f($x): [f($x + 1)]; f(1)",
    "[range(1e12)]",
    "[range(0; infinite)]",
    "[range(0; 1; 1e-300)]",
    "\"x\" * 1e9",
    "\"x\" * 1e9 | ascii",
    "[limit(1e9; repeat(1))]",
    "def d: . + . | d; \"x\" | d",
    "reduce range(40) as $i (\"x\"; . + .)",
    "[(1, 2, 3) | range(1e9)]",
    "[recurse([., .])]",
    "reduce range(1e9) as $i ([]; . + [$i])",
    "reduce range(1e9) as $i ({}; .[$i | tostring] = [range(100)])",
    "foreach range(1e9) as $i (\"\"; . + \"some text that goes on and on\"; empty)",
    "[foreach range(1e9) as $i ([]; . + [$i])]",
    "[limit(3; def f: [f]; f)]",
    "[path(repeat(.))]",
    "path(def f: .a | f; f)",
    "del(repeat(.a))",
    "(repeat(.a)) |= 1",
    "[while(true; [.])]",
    "tojson | until(false; tojson)",
    "until(. > 1e18; (. // 0) + 1)",
    "nth(1e9; range(1e10))",
    "isempty(range(1e10) | select(. < 0))",
    ".[999999999] = 0",
    "[.[536870910] = 0]",
    "null | setpath([range(100000) | \"a\"]; 1)",
    "reduce range(1000000) as $i (null; [.]) | tojson",
    "reduce range(1000000) as $i (null; [.]) | flatten",
    "reduce range(1000000) as $i (null; [.]) | [..] | length",
    DOUBLED " | tojson",
    DOUBLED " | tostring",
    DOUBLED " | @json, @text, @html, @base64",
    DOUBLED " | @csv",
    DOUBLED " | @sh",
    DOUBLED " | \"\\(.)\"",
    DOUBLED " == " DOUBLED,
    DOUBLED " < " DOUBLED,
    "[" DOUBLED ", " DOUBLED "] | sort",
    "[" DOUBLED ", " DOUBLED "] | unique",
    "[" DOUBLED ", " DOUBLED "] | group_by(.)",
    "[" DOUBLED ", " DOUBLED "] | min, max",
    "[" DOUBLED ", " DOUBLED "] | .[0] - .[1]",
    "[" DOUBLED ", " DOUBLED "] | index(.[1])",
    "[" DOUBLED ", " DOUBLED "] | .[0] as $x | .[1] | contains($x)",
    "[" DOUBLED ", " DOUBLED "] | .[0] as $x | .[1] | IN($x)",
    DOUBLED " | flatten",
    DOUBLED " | [..]",
    DOUBLED " | last(..)",
    DOUBLED " | contains([[1]])",
    DOUBLED " | unique",
    DOUBLED " | implode",
    DOUBLED " | ascii_downcase",
    DOUBLED " | to_entries",
    DOUBLED " | group_by(.)",
    DOUBLED " | [tostream]",
    DOUBLED " | fromstream(tostream)",
    DOUBLED " | join(\",\")",
    DOUBLED " | add",
    DOUBLED " | walk(.)",
    DOUBLED " | [paths]",
    DOUBLED " | getpath([range(60) | 0])",
    DOUBLED " | getpath(.)",
    DOUBLED " | del(..)",
    DOUBLED " | (.. | scalars) |= . + 1",
    DOUBLED " | splits(.)",
    DOUBLED " | error",
    DOUBLED " | debug | 1",
    DOUBLED " as $p | [1] | delpaths([$p])",
    DOUBLED_OBJECT " | tojson",
    DOUBLED_OBJECT " == " DOUBLED_OBJECT,
    DOUBLED_OBJECT " < " DOUBLED_OBJECT,
    DOUBLED_OBJECT " as $x | " DOUBLED_OBJECT " * $x",
    DOUBLED_OBJECT " as $x | " DOUBLED_OBJECT " | contains($x)",
    DOUBLED_OBJECT " | walk(.)",
    LONG " | sort | length",
    LONG " | tojson",
    LONG " | map(.) | length",
    LONG " | reverse | length",
    LONG " | unique",
    LONG " | to_entries | length",
    LONG " | any(. == 2)",
    LONG " | add, min",
    LONG " | implode",
    LONG " | join(\",\")",
    LONG " | . - [2] | length",
    LONG " | [1] - .",
    LONG " | indices(1) | length",
    LONG " | .[[1, 1]] | length",
    LONG " | @csv",
    LONG " | keys | length",
    LONG " | all",
    LONG " as $p | null | setpath($p; 1)",
    LONG " | del(.[5]) | length",
    "[" LONG ", " LONG "] | sort | length",
    "(\"a\" * 30000) | test(\"(a+)+$b\")",
    "(\"a\" * 30000) | test(\"(a+)+b\")",
    "(\"a\" * 30) | test(\"(a+)+$b\")",
    "(\"a\" * 100000) | [match(\"a\"; \"g\")]",
    "(\"a\" * 100000) | gsub(\"a\"; \"some text that is longer\")",
    "(\"a\" * 1000000) | [splits(\"a\")] | length",
    "(\"a\" * 1000000) | ascii_downcase | length",
    "(\"a\" * 1000000) | explode | implode | length",
    "(\"\\u00e9\" * 100000) | until(. == \"\"; .[1:])",
    "(\"a\" * 100000) | indices(\"a\" * 50000) | length",
    "(\"[\" * 100000) | fromjson",
    "[range(100000)] | contains([range(100000)])",
    "[range(100000)] - [range(100000)]",
    "[limit(100000; repeat(1))] | indices([limit(50000; repeat(1))])",
    "(\"a\" * 1000000) as $x | (\"a\" * 1000000) as $y | last(range(1e9) | $x == $y)",
    "(\"a\" * 1000000) as $x | last(range(1e9) | $x | startswith($x))",
    "(\"a\" * 1000000) as $x | last(range(1e9) | $x | contains(\"b\"))",
    "[range(100000)] as $x | last(range(1e9) | $x | all)",
    "[range(100000)] as $x | last(range(1e9) | $x | .[[5]])",
    "\"9\" * 1000000 | tonumber",
    "splits(\"x\" * 100000)",
    "test(\"(\" * 100000)",
    "\"a\" | test(\"a{1,1000}{1,1000}{1,1000}\")",
};

static double cpu_seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

static long peak_rss_mb(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

static void take_some(JqRun *run) {
    Json out;
    for (int n = 0; n < 1000 && jq_run_next(run, &out) == JQ_OUTPUT; n++) {
        json_unref(out);
    }
}

static void greedy_expressions_end_within_their_budget(void **state) {
    (void)state;
    uint64_t steps = (uint64_t)sweep_of(2000000, 300000);
    JqHost host = {.budget = {.steps = steps, .memory = (size_t)16 << 20, .depth = 100000}};
    for (size_t i = 0; i < COUNT(greedy); i++) {
        double before = cpu_seconds();
        long rss = peak_rss_mb();
        JqProgram *p = compile(greedy[i]);
        JqRun *run = jq_run_new(p, &host);
        jq_run_start(run, json_null(), NULL);
        take_some(run);
        jq_run_free(run);
        jq_program_free(p);
        double took = cpu_seconds() - before;
        long grown = peak_rss_mb() - rss;
        if (took > (SANITIZED ? 100 : 10) || (!SANITIZED && grown > 64) || json_heap_bytes()) {
            fail_msg("%s took %.1f s and %ld MB, and left %zu bytes", greedy[i], took, grown,
                     json_heap_bytes());
        }
    }
}

/* ---- cancelling and slices ---- */

static void *set_later(void *flag) {
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    atomic_store((atomic_bool *)flag, true);
    return NULL;
}

static void another_thread_can_cancel(void **state) {
    (void)state;
    const char *const texts[] = {"def f: f; f", "[limit(1e15; repeat(empty))]", "last(range(1e18))",
                                 "[range(1000)] | last(repeat(sort | tojson))",
                                 "try repeat(1 | empty) catch 1"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        atomic_bool cancel = false;
        JqHost host = {.budget = {.steps = JQ_NO_LIMIT}, .cancel = &cancel};
        JqProgram *p = compile(texts[i]);
        JqRun *run = jq_run_new(p, &host);
        pthread_t thread;
        jq_run_start(run, json_null(), NULL);
        pthread_create(&thread, NULL, set_later, &cancel);
        expect_failure(run, ERR_CANCELLED, "cancelled");
        pthread_join(thread, NULL);
        jq_run_free(run);
        jq_program_free(p);
    }
}

static const char *const sliced[] = {
    "range(300)",
    "[range(1000)] | map(. * 2) | add",
    "reduce range(500) as $i ({}; .[\"k\\($i % 7)\"] += $i)",
    "foreach range(200) as $i (0; . + $i; select(. % 3 == 0))",
    "def fib: if . < 2 then . else (. - 1 | fib) + (. - 2 | fib) end; 15 | fib",
    "[range(50)] | [paths], (.[] |= . + 1), del(.[range(0; 50; 2)])",
    "label $f | range(1000) | ., if . > 100 then break $f else empty end",
    "[limit(20; repeat(range(7)))], first(range(5; 10))",
    "try (range(100) | if . > 50 then error(\"x\") else . end) catch .",
    "range(20) | error",
    "[range(200) | tostring] | sort | join(\",\") | [match(\"1\\\\d\"; \"g\").string] | length",
    "def f(g): g | g | g; [range(30) | f(. + 1, . * 2)] | length",
    "[range(10)] | combinations(2) | select(.[0] == .[1])",
    "[.. | numbers] | until(length > 100; . + .)",
};

static void slices_give_the_same_outputs(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(sliced); i++) {
        JqProgram *p = compile(sliced[i]);
        int pauses = 0;
        JqRun *whole = jq_run_new(p, NULL);
        char *expected = run_all(whole, parse("[1,[2,{\"a\":3}]]"), &pauses);
        assert_int_equal(pauses, 0);
        for (uint64_t slice = 1; slice < 200; slice = slice * 3 + 1) {
            JqHost host = {.budget = {.slice = slice}};
            JqRun *run = jq_run_new(p, &host);
            char *actual = run_all(run, parse("[1,[2,{\"a\":3}]]"), &pauses);
            assert_string_equal(actual, expected);
            free(actual);
            jq_run_free(run);
        }
        assert_true(pauses > 0);
        free(expected);
        jq_run_free(whole);
        jq_program_free(p);
    }
}

/* Natives that give way: in the midst of them a run can go on, be dropped, and begin again. */
static void long_natives_give_way(void **state) {
    (void)state;
    static const char *const texts[] = {
        "[range(30000) | . * 7919 % 30011] | sort | [.[0], .[1], .[-1], length, . == (reverse | sort)]",
        "[range(12000)] | sort == .",
        "[range(30000) | {k: (. % 7), v: .}] | group_by(.k) | map([length, .[0].v, .[-1].v])",
        "[range(30000) | . % 11] | unique",
        "[range(30000) | {k: (. % 5)}] | unique_by(.k) | length",
        "[range(40000) | {name: \"a name\", n: .}] | tojson | [length, .[:40], .[-20:]]",
        "[range(40000) | [.]] | (tostring | fromjson) == .",
        "[range(20000) | {a: -.}] | try sort_by(error(\"x\")) catch .",
        "[range(30000)] | . - [range(0; 30000; 3)] | [length, .[0], .[-1]]",
        "[range(20000)] | [contains([19999, 7]), contains([20000])]",
        "[range(20000) | . % 10] | [index([7, 8, 9, 0, 1]), (indices([9, 0]) | length), rindex(3)]",
        "[range(30000) | 1] | indices([range(200) | 1]) | [length, .[-1]]",
        "[range(20000)] | [(reverse | .[0]), (tostream | select(length == 1)), (min, max, add)]",
        "[range(20000)] | ([[.], .] | transpose | length), (flatten | length), any, all",
        "reduce range(20000) as $i ({}; .[\"k\\($i)\"] = $i) | [(keys | length, .[1:3]), "
        "(to_entries | length), (with_entries(.value += 1) | .k7), (. * {k1: 0} | .k1)]",
        "[range(30000)] | del(.[range(0; 30000; 2)]) | [length, .[0]]",
        "\"abc, \" * 60000 | [length, (split(\", \") | length), ascii_upcase[:5], (explode | implode | length), "
        "index(\"c, a\"), (indices(\"bc\") | length), contains(\"cab\"), (reverse | .[:3]), endswith(\"c, \")]",
        "\"a <b> %41\" * 30000 | [(@html, @uri, @base64, @base32 | length), (@base64 | @base64d | length), "
        "(@base32 | @base32d | length), (@uri | @urid | length)]",
        "\"one two, \" * 20000 | [test(\"zwei\"), ([match(\"t(w)o\"; \"g\").offset] | length, .[-1]), "
        "(gsub(\"o\"; \"0\") | .[:9]), (capture(\"(?<x>t.o)\").x), ([scan(\"\\\\w+\")] | length), (splits(\"x\") | length)]",
        "\"x\" * 100000 | [try test(\"(\" * 4090 + \"x\" + \")\" * 4090) catch .[:30], "
        "try test(\"(?:x|\" * 4000 + \"x\" + \")*\" * 4000) catch .[:30]]",
        "[range(30000) | {a: .}] as $x | [$x == ($x | map(.)), ($x | map(.)) < $x]",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        int pauses = 0;
        JqProgram *p = compile(texts[i]);
        JqRun *whole = jq_run_new(p, NULL);
        JqRun *run = jq_run_new(p, &(JqHost){.budget = {.slice = 5000}});
        char *expected = run_all(whole, json_null(), &pauses);
        assert_int_equal(pauses, 0);
        for (int k = 5; k < 200; k += 60) { /* dropped after so many slices */
            Json out = json_none();
            jq_run_start(run, json_null(), NULL);
            for (int n = 0; n < k && jq_run_next(run, &out) == JQ_PAUSED; n++) continue;
            json_unref(out);
        }
        char *got = run_all(run, json_null(), &pauses);
        assert_string_equal(got, expected);
        if (pauses < 3) fail_msg("%s: %d pauses", texts[i], pauses);
        free(got);
        free(expected);
        jq_run_free(whole);
        jq_run_free(run);
        jq_program_free(p);
    }
}

/* What takes no longer on a large value does not end the slice. */
static void quick_operations_on_large_values_take_no_slice(void **state) {
    (void)state;
    static const char *const texts[] = {
        "[type, length, has(0), (toarray | length)]",
        "[(. + [1] | length), ({a: .} + {b: 1} | has(\"b\"))]",
    };
    Json large = json_array();
    for (int i = 0; i < 20000; i++) large = json_array_push(large, json_int(i));
    for (size_t i = 0; i < COUNT(texts); i++) {
        JqProgram *p = compile(texts[i]);
        JqRun *run = jq_run_new(p, &(JqHost){.budget = {.slice = 10000}});
        Json out = json_none();
        int pauses = 0;
        jq_run_start(run, json_ref(large), NULL);
        while (jq_run_next(run, &out) == JQ_PAUSED) pauses++;
        assert_int_equal(json_kind(out), JSON_ARRAY);
        assert_int_equal(pauses, 0);
        json_unref(out);
        jq_run_free(run);
        jq_program_free(p);
    }
    json_unref(large);
}

static double clock_seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What one call of the library does cannot be sliced: a thread does it. */
static void long_matches_give_way(void **state) {
    (void)state;
    static const char *const texts[] = {
        "\"x\" * 100000 | test(\"x*+y\")", /* reads on to the end from each place, and never goes back */
        "\"a\" * 40 | test(\"(a+)+$b\")",
        "\"a\" * 3000 | test(\"(a*?)(a*?)(a*?)b\")",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        JqProgram *p = compile(texts[i]);
        JqRun *run = jq_run_new(p, &(JqHost){.budget = {.slice = 10000}});
        Json out = json_none();
        jq_run_start(run, json_null(), NULL);
        double longest = 0, began = clock_seconds(CLOCK_MONOTONIC);
        JqStatus status = JQ_PAUSED;
        while (status == JQ_PAUSED && clock_seconds(CLOCK_MONOTONIC) - began < 0.5) {
            double before = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
            status = jq_run_next(run, &out);
            double took = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - before;
            longest = took > longest ? took : longest;
        }
        json_unref(out);
        jq_run_free(run); /* in the midst of it */
        if (longest > 0.05) fail_msg("%s: %.3f s in one slice", texts[i], longest);
        jq_program_free(p);
    }
}

static void paused_run_can_be_restarted(void **state) {
    (void)state;
    JqProgram *p = compile("last(range(1e9)), .");
    JqHost host = {.budget = {.slice = 100}};
    JqRun *run = jq_run_new(p, &host);
    Json out;
    for (int i = 0; i < 10; i++) {
        jq_run_start(run, json_int(i), NULL);
        assert_int_equal(jq_run_next(run, &out), JQ_PAUSED);
        assert_int_equal(jq_run_next(run, &out), JQ_PAUSED);
        assert_true(json_is_none(out));
    }
    jq_run_free(run);
    jq_program_free(p);
}

/* ---- places ---- */

typedef struct Place {
    const char *text;
    int line, col; /* in a file where the text starts at 10:5 */
} Place;

static const JqOptions in_file = {.line = 10, .col = 5, .file = "flow.yaml"};

static void syntax_errors_have_their_place_in_the_file(void **state) {
    (void)state;
    const Place places[] = {
        {"1 +", 10, 8},
        {".a | nosuch", 10, 10},
        {".a |\n  nosuch", 11, 3},
        {"\n\n$nosuch", 12, 1},
        {"\"abc", 10, 9},
        {".a\n| .b\n| )", 12, 3},
        {"\"\u00e9\u00e9\" | )", 10, 12},
        {"map(.a;\n.b)", 10, 5},
        {"{(1): 2}", 10, 7},
        {"break $x", 10, 5},
        {"# nothing\n  import \"a\"; .", 11, 3},
        {"[.[] |\n\n   f(1)]", 12, 4},
    };
    for (size_t i = 0; i < COUNT(places); i++) {
        Error err = ERROR_INIT;
        JqProgram *p = jq_compile(places[i].text, strlen(places[i].text), &in_file, &err);
        assert_null(p);
        assert_int_equal(err.code, ERR_SYNTAX);
        if (err.line != places[i].line || err.col != places[i].col) {
            fail_msg("%s: %d:%d instead of %d:%d: %s", places[i].text, err.line, err.col,
                     places[i].line, places[i].col, err.msg);
        }
    }
}

static void runtime_errors_have_their_place_in_the_file(void **state) {
    (void)state;
    const Place places[] = {
        {".a", 10, 5},
        {"1 | .a", 10, 9},
        {"1 |\n  .a", 11, 3},
        {"[1] |\n\nmap(.a)", 12, 5},
        {"def f: error(\"x\");\n f", 10, 12},
        {"1\n+ {}", 11, 1},
        {"{}\n| tonumber", 11, 3},
    };
    for (size_t i = 0; i < COUNT(places); i++) {
        Error err = ERROR_INIT;
        JqProgram *p = jq_compile(places[i].text, strlen(places[i].text), &in_file, &err);
        assert_string_equal(err.msg, "");
        JqRun *run = jq_run_new(p, NULL);
        jq_run_start(run, json_int(1), NULL);
        expect_failure(run, ERR_RAISED, "");
        const Error *e = jq_run_error(run);
        if (e->line != places[i].line || e->col != places[i].col) {
            fail_msg("%s: %d:%d instead of %d:%d: %s", places[i].text, e->line, e->col,
                     places[i].line, places[i].col, e->msg);
        }
        jq_run_free(run);
        jq_program_free(p);
    }
}

static void loc_knows_file_and_line(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    const char *text = "[$__loc__,\n$__loc__.line]";
    JqProgram *p = jq_compile(text, strlen(text), &in_file, &err);
    JqRun *run = jq_run_new(p, NULL);
    jq_run_start(run, json_null(), NULL);
    expect_output(run, "[{\"file\":\"flow.yaml\",\"line\":10},11]");
    jq_run_free(run);
    jq_program_free(p);
}

static void deep_nesting_is_refused_not_followed(void **state) {
    (void)state;
    enum { DEPTH = 100000 };
    const char *const opens[] = {"[",     "(",  "{a:",     "-",    "if 1 then ",
                                 "\"\\(", ".[", "def f: ", "try ", "1 as $x | "};
    for (size_t i = 0; i < COUNT(opens); i++) {
        Buf text = BUF_INIT;
        for (int n = 0; n < DEPTH; n++) {
            buf_adds(&text, opens[i]);
        }
        buf_adds(&text, ".");
        Error err = ERROR_INIT;
        JqProgram *p = jq_compile(text.data, text.len, NULL, &err);
        assert_null(p);
        assert_int_equal(err.code, ERR_SYNTAX);
        buf_clear(&text);
    }
}

/* ---- the host ---- */

static void host_variables_are_in_sight(void **state) {
    (void)state;
    const char *const names[] = {"a", "b"};
    JqOptions options = {.vars = names, .nvars = 2};
    const char *text = "[$a, $b, (def f: $a; f), (1 as $a | $a)]";
    JqProgram *p = jq_compile(text, strlen(text), &options, NULL);
    JqRun *run = jq_run_new(p, NULL);
    for (int i = 0; i < 2; i++) {
        Json vars[] = {parse("[\"a text that is not short\"]"), json_int(i)};
        jq_run_start(run, json_null(), vars);
        expect_output(run,
                      i ? "[[\"a text that is not short\"],1,[\"a text that is not short\"],1]"
                        : "[[\"a text that is not short\"],0,[\"a text that is not short\"],1]");
        json_unref(vars[0]);
        expect_done(run);
    }
    jq_run_free(run);
    jq_program_free(p);
}

static void environment_is_what_the_host_gives(void **state) {
    (void)state;
    setenv("PAWL_TEST_SECRET", "hidden", 1);
    Json out = jq_eval("[$ENV, env, $ENV.PAWL_TEST_SECRET]", json_null(), NULL, NULL);
    expect_json(out, "[{},{},null]");
    json_unref(out);
    JqHost host = {.env = parse("{\"A\":\"b\"}")};
    out = jq_eval("[$ENV, env.A]", json_null(), &host, NULL);
    expect_json(out, "[{\"A\":\"b\"},\"b\"]");
    json_unref(out);
    json_unref(host.env);
}

static void note(void *ctx, const char *kind, Json value) {
    buf_printf(ctx, "%s ", kind);
    json_print(value, NULL, ctx);
    buf_adds(ctx, "; ");
}

static void debug_goes_to_the_host(void **state) {
    (void)state;
    Buf log = BUF_INIT;
    JqHost host = {.log = note, .ctx = &log};
    const char *text = "[.[] | debug] | debug(\"a\", length) | stderr | length";
    Json input = parse("[1,\"x\"]"), out = jq_eval(text, input, &host, NULL);
    expect_json(out, "2");
    assert_string_equal(log.data, "debug 1; debug \"x\"; debug \"a\"; debug 2; stderr [1,\"x\"]; ");
    buf_clear(&log);
    json_unref(input);
}

static double half_past(void *ctx) {
    (void)ctx;
    return 1700000000.5;
}

static void clock_is_the_hosts(void **state) {
    (void)state;
    JqHost host = {.now = half_past};
    Json out = jq_eval("[now, (now | todate)]", json_null(), &host, NULL);
    expect_json(out, "[1700000000.5,\"2023-11-14T22:13:20Z\"]");
    json_unref(out);
}

static void effects_are_known(void **state) {
    (void)state;
    const struct {
        const char *text;
        unsigned effects;
    } cases[] = {
        {".a + 1", JQ_PURE},
        {"now", JQ_USES_CLOCK},
        {"debug", JQ_USES_LOG},
        {"debug(1)", JQ_USES_LOG},
        {"stderr", JQ_USES_LOG},
        {"$ENV.A", JQ_USES_ENV},
        {"env", JQ_USES_ENV},
        {"def f: now; 1", JQ_PURE},
        {"def f: now; f", JQ_USES_CLOCK},
        {"map(now) | debug", JQ_USES_CLOCK | JQ_USES_LOG},
        {"localtime", JQ_USES_CLOCK},
        {"gmtime", JQ_PURE},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        JqProgram *p = compile(cases[i].text);
        if (jq_program_effects(p) != cases[i].effects) {
            fail_msg("%s: %u", cases[i].text, jq_program_effects(p));
        }
        jq_program_free(p);
    }
}

/* ---- listings ---- */

static void builtins_are_listed_once_and_compile(void **state) {
    (void)state;
    Json list = jq_builtins();
    assert_true(json_array_len(list) > 150);
    for (size_t i = 0; i < json_array_len(list); i++) {
        Json item = json_array_get(list, i);
        char name[64];
        int arity;
        Buf call = BUF_INIT;
        buf_add(&call, json_string_data(&item), json_string_len(item));
        assert_int_equal(sscanf(call.data, "%63[^/]/%d", name, &arity), 2);
        buf_reset(&call);
        buf_adds(&call, name);
        for (int k = 0; k < arity; k++) {
            buf_adds(&call, k ? ";." : "(.");
        }
        buf_adds(&call, arity ? ")" : "");
        jq_program_free(compile(call.data));
        for (size_t k = 0; k < i; k++) {
            if (json_equal(item, json_array_get(list, k))) {
                fail_msg("%s/%d is listed twice", name, arity);
            }
        }
        buf_clear(&call);
    }
    json_unref(list);
}

/* ---- completions; ^ is the cursor ---- */

static const char orders[] =
    "{\"name\":\"n\","
    "\"items\":[{\"name\":\"a\",\"price\":3,\"odd key\":1},{\"name\":\"b\",\"z\":0}],"
    "\"meta\":{\"a\":1,\"b\":{\"c\":2}},\"Name2\":true,\"a b\":null}";

typedef struct Completed {
    const char *text;
    const char *first; /* text@from of the first few; "" when there are none */
} Completed;

static const Completed completed[] = {
    {".^", ".\"a b\"@0 Name2@1 items@1 meta@1 name@1"},
    {".na^", "name@1 Name2@1"},
    {".na^ | .b", "name@1 Name2@1"},
    {".items.^", "[]@7"},
    {".items[].^", ".\"odd key\"@8 name@9 price@9 z@9"},
    {".items[0].n^", "name@10"},
    {".items | map(.p^", "price@14"},
    {".items | map(select(.pri^", "price@21"},
    {".items | sort_by(.pr^", "price@18"},
    {".items | any(.na^; .x)", "name@14"},
    {"any(.items[]; .na^", "name@15"},
    {"with_entries(.^", "key@14 value@14"},
    {".items[0] | {na^", "name@13"},
    {".items[0] | {name, od^", "\"odd key\"@19"},
    {"{a: .me^", "meta@5"},
    {"[.items[] | .pr^", "price@13"},
    {". as $x | $^", "$x@10 $ENV@10 $__loc__@10"},
    {".items[] as $it | $it.pr^", "price@22"},
    {".items as [$first, {name: $n}] | $n^", "$n@33"},
    {"reduce .items[] as $i (.meta; .^", "a@31 b@31"},
    {"reduce .items[] as $i (.meta; . + $i.pr^", "price@37"},
    {"(reduce .items[] as $i (0; 1)) | $i^", ""},
    {"def f(g; $key): $k^", "$key@16"},
    {"def f(g; $key): g; $k^", ""},
    {"def fetch(g; $k): g; fet^", "fetch@21"},
    {"def f(given): giv^", "given@14"},
    {"def f: .items; f | .[0].pr^", "price@24"},
    {"def f: .meta; [1] | map(f^", "f@24 fabs@24"},
    {"def na^", ""},
    {"@base64^", "@base64@0 @base64d@0"},
    {"@html \"x\\(.me^", "meta@11"},
    {"sort^", "sort@0 sort_by@0"},
    {"SORT_^", "sort_by@0"},
    {".a an^", "and@3"},
    {"if .meta then .meta.^", "a@20 b@20"},
    {"if .meta then .items | .[0].pr^", "price@28"},
    {"if .meta then 1 else .meta.b.^", "c@29"},
    {"\"x \\(.meta.^", "a@11 b@11"},
    {".\"a^", ".\"a b\"@0"},
    {".meta.\"^", ".a@5 .b@5"},
    {".items |= map(.pr^", "price@15"},
    {".items # the items\n| map(.pr^", "price@26"},
    {"# a comm^", ""},
    {"\"in a str^", ""},
    {"(.items | .[0]).pr^", "price@16"},
    {".items[.meta.^", "a@13 b@13"},
    {"label $out | .na^", "name@14 Name2@14"},
    {"try .meta.^", "a@10 b@10"},
    {"limit(3; .items[] | .pr^", "price@21"},
    {".items[] | select(.name == \"b\") | .^", "name@35 z@35"},
    {".meta | to_entries[] | .k^", "key@24"},
    {".items | group_by(.name)[0][0].pr^", "price@31"},
    {".items | map({name, k: .pr^", "price@24"},
    {".nosuch.^", ""},
    {".a.b.c.d | .^", ""},
    {"def f: f; f | .^", ""},
    {"[range(1e12)] | .^", ""},
    {"impor^", ""},
    {"nul^", "null@0 nulls@0"},
    {")]} .me^", "meta@5"},
    {"..^", ""},
    {"1.^", ""},
};

static void describe(Json list, size_t n, Buf *out) {
    for (size_t i = 0; i < json_array_len(list) && i < n; i++) {
        Json item = json_array_get(list, i), text = json_object_get_c(item, "text");
        buf_adds(out, i ? " " : "");
        buf_add(out, json_string_data(&text), json_string_len(text));
        buf_printf(out, "@%d", (int)json_object_get_c(item, "from").i);
        assert_int_equal(json_kind(json_object_get_c(item, "detail")), JSON_STRING);
        assert_int_equal(json_kind(json_object_get_c(item, "kind")), JSON_STRING);
    }
}

static bool begins_with_words(const char *text, const char *words) {
    size_t n = strlen(words);
    return n ? !strncmp(text, words, n) && (text[n] == ' ' || !text[n]) : !*text;
}

static void check_completed(const Completed *c, Json input) {
    const char *mark = strchr(c->text, '^');
    size_t cursor = (size_t)(mark - c->text);
    Buf text = BUF_INIT, found = BUF_INIT;
    buf_add(&text, c->text, cursor);
    buf_adds(&text, mark + 1);
    Json list = jq_complete(text.data, text.len, cursor, NULL, input);
    describe(list, 8, &found);
    const char *actual = found.data ? found.data : "";
    if (!begins_with_words(actual, c->first)) {
        fail_msg("%s: %s instead of %s", c->text, actual, c->first);
    }
    json_unref(list);
    buf_clear(&text);
    buf_clear(&found);
}

static void completions_fit_the_cursor(void **state) {
    (void)state;
    Json input = parse(orders);
    for (size_t i = 0; i < COUNT(completed); i++) {
        check_completed(&completed[i], input);
    }
    json_unref(input);
}

static void completions_say_what_they_are(void **state) {
    (void)state;
    Json input = parse(orders);
    Json list = jq_complete(".me", 3, 3, NULL, input);
    expect_json(list, "[{\"text\":\"meta\",\"kind\":\"field\",\"from\":1,"
                      "\"detail\":\"object ({\\\"a\\\":1,\\\"b\\\":{\\\"c\\\":2}})\"}]");
    json_unref(list);
    list = jq_complete("sort_b", 6, 6, NULL, json_none());
    expect_json(
        list,
        "[{\"text\":\"sort_by\",\"kind\":\"function\",\"from\":0,\"detail\":\"sort_by(f)\"}]");
    json_unref(list);
    json_unref(input);
}

static void completions_know_the_hosts_variables(void **state) {
    (void)state;
    const char *const names[] = {"order"};
    JqOptions options = {.vars = names, .nvars = 1};
    Json list = jq_complete("$or", 3, 3, &options, json_none());
    assert_int_equal(json_array_len(list), 1);
    assert_true(json_string_is(json_object_get_c(json_array_get(list, 0), "text"), "$order"));
    json_unref(list);
}

static void completions_are_few_enough_to_read(void **state) {
    (void)state;
    Json input = jq_eval("[range(1000) | {key: \"k\\(.)\", value: .}] | from_entries", json_null(),
                         NULL, NULL);
    Json list = jq_complete(".", 1, 1, NULL, input);
    assert_int_equal(json_array_len(list), 200);
    json_unref(list);
    json_unref(input);
}

static void completion_survives_any_text_and_cursor(void **state) {
    (void)state;
    const char text[] =
        "def f($a; g): reduce .x[] as [$y, {z: $w}] (0; . + \"\\(.a.b | {c, \"d e\": .f})\")"
        " | if . then foreach 1 as $q (2; 3; .) elif $a then .\"k\" else try @base64 catch . end;"
        " f(1; .) ?// ..";
    Json input = parse("{\"a\":{\"b\":{\"c\":1}},\"x\":[[1,{\"z\":2}]]}");
    size_t stride = (size_t)sweep_of(1, 5);
    for (size_t len = 0; len < sizeof text; len++) {
        for (size_t cursor = len % stride; cursor <= len + 1; cursor += stride) {
            json_unref(jq_complete(text, len, cursor, NULL, len % 7 ? json_none() : input));
        }
    }
    json_unref(input);
}

static uint64_t steps_of(const char *text) {
    Error err = ERROR_INIT;
    JqProgram *p = jq_compile(text, strlen(text), NULL, &err);
    assert_non_null(p);
    JqRun *run = jq_run_new(p, NULL);
    jq_run_start(run, json_null(), NULL);
    Json out;
    while (jq_run_next(run, &out) == JQ_OUTPUT) {
        json_unref(out);
    }
    uint64_t steps = jq_run_steps(run);
    jq_run_free(run);
    jq_program_free(p);
    return steps;
}

static void work_inside_an_operator_is_charged_as_steps(void **state) {
    (void)state;
    static const char *const operators[] = {"==", "!=", "<", ">="};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        char text[200];
        const char *form = "[range(1500)] as $a | [range(1500)] as $b | reduce range(100) as $i "
                           "(0; if $a %s $b then . + 1 else . end)";
        snprintf(text, sizeof text, form, operators[i]);
        uint64_t steps = steps_of(text);
        assert_in_range(steps, 150000, 600000);
    }
}

/* ---- integers of any size ---- */

static void integers_are_exact_where_that_is_asked_for(void **state) {
    (void)state;
    static const struct {
        const char *text, *exact, *plain;
    } cases[] = {
        {"2 * 1000000000000000000", "2000000000000000000", NULL},
        {"32 * 1000000000000000000", "32000000000000000000", NULL},
        {"9007199254740992 + 1", "9007199254740993", "9007199254740992"},
        {"123456789012345678901234567890 + 1", "123456789012345678901234567891", NULL},
        {"1 - 123456789012345678901234567890", "-123456789012345678901234567889", NULL},
        {"-123456789012345678901234567890 % 1000", "-890", NULL},
        {"123456789012345678901234567890 % -1000", "890", NULL},
        {"123456789012345678901234567890 / 10", "12345678901234567890123456789", NULL},
        {"7 / 2", "3.5", "3.5"},
        {"6 / 2", "3", "3"},
        {"\"123456789012345678901234567890\" | tonumber * 10", "1234567890123456789012345678900",
         NULL},
        {"123456789012345678901234567890 > 123456789012345678901234567889", "true", "true"},
        {"[123456789012345678901234567890, 1] | add", "123456789012345678901234567891", NULL},
        {"9223372036854775807 + 1", "9223372036854775808", NULL},
        {"-9223372036854775808 - 1", "-9223372036854775809", NULL},
        {"-9223372036854775808 * -1", "9223372036854775808", NULL},
        {"-9223372036854775808 % -1", "0", NULL},
        {"5000000000000000000 - 5000000000000000000", "0", "0"},
        {"1.5 * 2", "3", "3"},
        {"1e3 * 10000000000000000000 == 1e22", "true", "true"},
        {"try (1000000000000000000000 / 0) catch \"no\"", "\"no\"", "\"no\""},
        {"try (1000000000000000000000 % 0) catch \"no\"", "\"no\"", "\"no\""},
        {"try (reduce range(20) as $i (10; . * .)) catch .",
         "\"Integer result too long: more than 20000 digits\"", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int exact = 0; exact < 2; exact++) {
            const char *expected = exact ? cases[i].exact : cases[i].plain;
            Error err = ERROR_INIT;
            JqProgram *p = jq_compile(cases[i].text, strlen(cases[i].text),
                                      &(JqOptions){.exact = exact}, &err);
            assert_string_equal(err.msg, "");
            JqRun *run = jq_run_new(p, NULL);
            jq_run_start(run, json_null(), NULL);
            if (expected) expect_output(run, expected);
            jq_run_free(run);
            jq_program_free(p);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(outputs_come_one_at_a_time),
        JSON_TEST(run_that_was_not_started_gives_nothing),
        JSON_TEST(run_can_be_restarted_in_the_middle),
        JSON_TEST(run_is_good_again_after_an_error),
        JSON_TEST(raised_value_is_kept_until_the_next_start),
        JSON_TEST(dropped_run_leaves_nothing_behind),
        JSON_TEST(many_runs_share_a_program),
        JSON_TEST(eval_gives_the_first_output_nothing_or_an_error),
        JSON_TEST(every_release_accepts_null),
        JSON_TEST(steps_are_counted_and_bounded),
        JSON_TEST(work_inside_an_operator_is_charged_as_steps),
        JSON_TEST(memory_is_bounded),
        JSON_TEST(depth_is_bounded),
        JSON_TEST(deep_recursion_costs_no_c_stack),
        JSON_TEST(tail_calls_cost_no_depth),
        JSON_TEST(budget_cannot_be_caught),
        JSON_TEST(run_is_good_again_after_a_limit),
        JSON_TEST(outputs_that_were_released_do_not_count),
        JSON_TEST(outputs_that_are_kept_do_not_count),
        JSON_TEST(input_does_not_count),
        JSON_TEST(greedy_expressions_end_within_their_budget),
        JSON_TEST(another_thread_can_cancel),
        JSON_TEST(slices_give_the_same_outputs),
        JSON_TEST(long_matches_give_way),
        JSON_TEST(long_natives_give_way),
        JSON_TEST(quick_operations_on_large_values_take_no_slice),
        JSON_TEST(paused_run_can_be_restarted),
        JSON_TEST(syntax_errors_have_their_place_in_the_file),
        JSON_TEST(runtime_errors_have_their_place_in_the_file),
        JSON_TEST(loc_knows_file_and_line),
        JSON_TEST(deep_nesting_is_refused_not_followed),
        JSON_TEST(host_variables_are_in_sight),
        JSON_TEST(environment_is_what_the_host_gives),
        JSON_TEST(debug_goes_to_the_host),
        JSON_TEST(clock_is_the_hosts),
        JSON_TEST(effects_are_known),
        JSON_TEST(builtins_are_listed_once_and_compile),
        JSON_TEST(completions_fit_the_cursor),
        JSON_TEST(completions_say_what_they_are),
        JSON_TEST(completions_know_the_hosts_variables),
        JSON_TEST(completions_are_few_enough_to_read),
        JSON_TEST(completion_survives_any_text_and_cursor),
        JSON_TEST(integers_are_exact_where_that_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
