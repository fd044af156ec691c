/* Recordings: what executions came to, from the history of real runs; and runs that take it from there.
 *
 * Shell nodes say `echo >> did`, so that the lines of that file count what was done. */
#include "engine_host.h"

#include "json_build.h"
#include "recording_inside.h"
#include "session.h"
#include "store_chain.h"
#include "travel.h"

#define DID "echo x >> did; "

/* ---- making recordings ---- */

static RecordingSource source_of(const Flow *flow, const char *thread) {
    RunRow row = {0};
    assert_true(store_find(host.store, thread, &row, &host.err));
    RecordingSource source = {row.run, row.head, flow, flow, NULL};
    run_row_clear(&row);
    return source;
}

static Recording *recorded(const Flow *flow, const char *live_from) {
    RecordingSource source = source_of(flow, "t");
    source.live_from = live_from;
    Recording *r = recording_new(host.store, &source, &host.err);
    if (!r) fail_msg("%s", host.err.msg);
    return r;
}

/* What a recording holds, [{frame, node, nth, outcome}] in the order of the line: outcome is an info, or null
 * for what came to nothing. Then [{frame, node, nth, changes: {before, after, goto: [when, node]}}]. A key is
 * "frame\nnode\nnth". */
static Json listed(Json key, const char *word, Json value) {
    const char *text = json_string_data(&key);
    size_t len = json_string_len(key);
    const char *node = memchr(text, '\n', len), *nth = text + len - 1;
    while (*nth != '\n') {
        nth--;
    }
    return OBJECT(KEY("frame", json_string(text, (size_t)(node - text))),
                  KEY("node", json_string(node + 1, (size_t)(nth - node - 1))),
                  KEY("nth", json_number_parse(nth + 1, len - (size_t)(nth + 1 - text))),
                  KEY(word, json_ref(value)));
}

static Json recording_list(const Recording *r) {
    Json all = json_array(), key, outcome, changes;
    for (size_t pos = 0; json_object_next(r->outcomes, &pos, &key, &outcome);) {
        Json info = json_array_get(outcome, OUTCOME_INFO);
        all = json_array_push(all, listed(key, "outcome", info));
    }
    for (size_t pos = 0; json_object_next(r->changes, &pos, &key, &changes);) {
        all = json_array_push(all, listed(key, "changes", changes));
    }
    return all;
}

/* "frame node nth outcome" a line, of what thread "t" recorded; then the same of changes. */
static char *listing(const char *yaml) {
    Flow *flow = host_flow(yaml);
    Recording *r = recorded(flow, NULL);
    Json all = recording_list(r);
    Buf out = BUF_INIT;
    buf_adds(&out, "");
    for (size_t i = 0; i < json_array_len(all); i++) {
        Json one = json_array_get(all, i), frame = json_object_get_c(one, "frame");
        Json node = json_object_get_c(one, "node");
        Json changes = json_object_get_c(one, "changes");
        char *outcome =
            json_to_text(json_is_none(changes) ? json_object_get_c(one, "outcome") : changes);
        buf_printf(&out, "%.*s %.*s %d %s\n", (int)json_string_len(frame), json_string_data(&frame),
                   (int)json_string_len(node), json_string_data(&node),
                   (int)json_object_get_c(one, "nth").i, outcome);
        free(outcome);
    }
    json_unref(all);
    recording_free(r);
    flow_unref(flow);
    buf_addc(&out, '\0');
    return buf_detach(&out);
}

static void expect_listing(const char *yaml, const char *want) {
    char *got = listing(yaml);
    assert_string_equal(got, want);
    mem_free(got);
}

static void expect_listed(const char *yaml, const char *part) {
    char *got = listing(yaml);
    expect_contains(got, part);
    mem_free(got);
}

/* Runs it, and expects this of the recording. */
static void run_and_expect(const char *yaml, const char *want) {
    host_run(yaml, NULL);
    expect_listing(yaml, want);
}

/* ---- running again ---- */

typedef struct Again {
    char *state, *status;
    Json report;
} Again;

/* At every node, before and after it, a person does this to the frame that stopped there. */
typedef void (*AtStop)(Session *s, Frame *f);

static void go_on(Session *s, Frame *f) {
    if (!session_go(s, f, (SessionGo){.how = LET_GO}, &host.err)) fail_msg("%s", host.err.msg);
}

static Frame *parked_of(const Run *run) {
    Frame *f = run_next_frame(run, NULL);
    while (f && !frame_is_parked(f)) f = run_next_frame(run, f);
    return f;
}

static bool stops_on_errors; /* too */

static void run_debugged(Run *run, Recording *r, AtStop act) {
    Json breakpoints = parse("[{\"node\": \"*\"}, {\"node\": \"*\", \"position\": \"after\"}]");
    if (stops_on_errors)
        breakpoints = json_array_push(breakpoints, parse("{\"type\": \"exception\"}"));
    SessionOptions options = {.breakpoints = breakpoints, .pause_all = -1, .recording = r};
    Session *s = session_attach(run, &options, &host.err);
    if (!s) fail_msg("%s", host.err.msg);
    while (!run_settled(run)) {
        uv_run(&host.loop, UV_RUN_ONCE);
        Frame *f = run_settled(run) ? NULL : parked_of(run);
        if (f) act(s, f);
    }
    session_free(s);
    json_unref(breakpoints);
}

static Again run_again_with(const char *recorded_yaml, const char *yaml, const char *live_from,
                            AtStop act) {
    Flow *flow = host_flow(recorded_yaml), *now = host_flow(yaml);
    RecordingSource source = source_of(flow, "t");
    source.replaying = now;
    source.live_from = live_from;
    Recording *r = recording_new(host.store, &source, &host.err);
    if (!r) fail_msg("%s", host.err.msg);
    host_fresh();
    Run *run = engine_start_now(host.engine, now, &(RunStart){.thread = NULL}, &host.err);
    assert_non_null(run);
    if (act) {
        run_debugged(run, r, act);
    } else {
        run_set_hooks(run, &recording_hooks, r);
        host_go();
    }
    assert_true(run_settled(run));
    const char *status = run_status(run);
    Again again = {json_to_text(run_state(run)), mem_strndup(status, strlen(status)),
                   recording_report(r)};
    run_set_hooks(run, NULL, NULL);
    run_free(run);
    recording_free(r);
    flow_unref(flow);
    flow_unref(now);
    return again;
}

static Again run_again(const char *recorded_yaml, const char *yaml, const char *live_from) {
    return run_again_with(recorded_yaml, yaml, live_from, NULL);
}

static void again_clear(Again *a) {
    free(a->state);
    mem_free(a->status);
    json_unref(a->report);
}

/* The same value, whatever the order of keys: what ran together came to its end in another order. */
static void expect_equal(const char *got, const char *want) {
    Json a = parse(got), b = parse(want);
    if (!json_equal(a, b)) assert_string_equal(got, want);
    json_unref(a);
    json_unref(b);
}

static void expect_same_with(const char *yaml, const char *status, int taken, AtStop act) {
    size_t did = lines_of("did");
    char *state = host_state_at("t", 0);
    Again a = run_again_with(yaml, yaml, NULL, act);
    char *report = json_to_text(a.report);
    assert_string_equal(a.status, status);
    expect_equal(a.state, state);
    assert_int_equal(lines_of("did"), did);
    assert_int_equal(json_object_get_c(a.report, "taken").i, taken);
    expect_contains(report, "\"live\":0,\"missing\":[],\"more\":false");
    free(report);
    free(state);
    again_clear(&a);
}

static bool waits_for_a_person(const Run *run) {
    Frame *f = run_next_frame(run, NULL);
    while (f && strcmp(frame_status(f), "waiting") != 0) f = run_next_frame(run, f);
    return f != NULL;
}

static void let_all_go(Session *s) {
    Run *run = session_run(s);
    while (!run_settled(run)) {
        Frame *f = parked_of(run);
        if (f) go_on(s, f);
        if (waits_for_a_person(run)) fail_msg("The run waits for a person.");
        if (!f) uv_run(&host.loop, UV_RUN_ONCE);
    }
}

/* Back at a checkpoint, and from there to the end once more. */
static void expect_same_from(Session *s, int64_t seq, const char *state, const char *status) {
    Run *run = session_run(s);
    host.settled = 0;
    assert_true(engine_wait_durable(host.engine));
    Json question = session_ask_checkpoint(s, seq, &host.err);
    Json place = travel_to(engine_reader(host.engine, &host.err), question, &host.err);
    Json at = json_is_none(place) ? place : session_go_to(s, place, &host.err);
    if (json_is_none(at)) fail_msg("@%d: %s", (int)seq, host.err.msg);
    json_unref(question);
    json_unref(place);
    json_unref(at);
    let_all_go(s);
    assert_string_equal(run_status(run), status);
    char *got = json_to_text(run_state(run));
    expect_equal(got, state);
    free(got);
}

/* The same from each checkpoint of the run that takes its results, with these breakpoints. */
static void expect_same_from_everywhere(const char *yaml, const char *status, const char *breaks) {
    size_t did = lines_of("did");
    char *state = host_state_at("t", 0);
    Flow *flow = host_flow(yaml);
    Recording *r = recorded(flow, NULL);
    host_fresh();
    Run *run = engine_start_now(host.engine, flow, &(RunStart){.thread = NULL}, &host.err);
    assert_non_null(run);
    Json breakpoints = parse(breaks);
    Session *s = session_attach(
        run, &(SessionOptions){.breakpoints = breakpoints, .pause_all = -1, .recording = r},
        &host.err);
    assert_non_null(s);
    json_unref(breakpoints);
    let_all_go(s);
    for (int64_t seq = 1, end = run_checkpoint(run); seq <= end; seq++) {
        expect_same_from(s, seq, state, status);
        if (lines_of("did") != did) fail_msg("something was done again after @%d", (int)seq);
    }
    Json report = recording_report(r);
    assert_int_equal(json_object_get_c(report, "live").i, 0);
    json_unref(report);
    session_free(s);
    run_free(run);
    recording_free(r);
    flow_unref(flow);
    free(state);
}

/* The last run of thread "t" run again: the same end, without doing anything, whether a debugger stops it
 * everywhere or not, and from wherever it goes back to. */
static void expect_same_again(const char *yaml, const char *status, int taken) {
    expect_same_with(yaml, status, taken, NULL);
    expect_same_with(yaml, status, taken, go_on);
    expect_same_from_everywhere(yaml, status, "[]");
    expect_same_from_everywhere(yaml, status, "[{\"node\": \"*\"}]");
}

/* ---- what nodes gave back ---- */

#define LINE                                                                 \
    "nodes:\n"                                                               \
    "  - {name: a, shell: '" DID "echo one', output: a}\n"                   \
    "  - {name: b, shell: '" DID "echo same'}\n"                             \
    "  - {name: c, shell: '" DID "echo same'}\n"                             \
    "  - {name: j, jq: '{sum: 3}'}\n"                                        \
    "  - {name: d, shell: '" DID "echo [1,2]', parse: json, output: list}\n" \
    "  - {name: z, sleep: 0.01}\n"

static void a_result_is_what_the_node_gave_back(void **state) {
    (void)state;
    run_and_expect(LINE, "main a 0 {\"status\":\"completed\",\"result\":"
                         "{\"stdout\":\"one\",\"exit_code\":0}}\n"
                         "main b 0 {\"status\":\"completed\",\"result\":"
                         "{\"stdout\":\"same\",\"exit_code\":0}}\n"
                         "main c 0 {\"status\":\"completed\",\"result\":"
                         "{\"stdout\":\"same\",\"exit_code\":0}}\n"
                         "main d 0 {\"status\":\"completed\",\"result\":[1,2]}\n"
                         "main z 0 {\"status\":\"completed\",\"result\":{}}\n");
    expect_same_again(LINE, "completed", 5);
}

#define KEYS                                          \
    "state:\n"                                        \
    "  log: {reduce: append, default: [0]}\n"         \
    "  sum: {reduce: add, default: 1}\n"              \
    "  text: {reduce: add, default: a}\n"             \
    "  half: {reduce: add, default: 0.5}\n"           \
    "  deep: {reduce: merge, default: {x: {y: 1}}}\n" \
    "  set: {reduce: union, default: [1]}\n"          \
    "  max: {reduce: '[$old, $new] | max', default: 1}\n"

#define NODE_OF(name, json) "  - {name: " name ", shell: \"" DID "echo '" json "'\", parse: json}\n"

#define REDUCED                                                                                   \
    KEYS "nodes:\n" NODE_OF("log", "{\\\"log\\\": 7}") NODE_OF("logs", "{\\\"log\\\": [[8], 9]}") \
        NODE_OF("sum", "{\\\"sum\\\": 41}") NODE_OF("text", "{\\\"text\\\": \\\"bc\\\"}")         \
            NODE_OF("half", "{\\\"half\\\": 0.25}")                                               \
                NODE_OF("deep", "{\\\"deep\\\": {\\\"x\\\": {\\\"z\\\": 2}}}")                    \
                    NODE_OF("set", "{\\\"set\\\": [1, 2]}")                                       \
                        NODE_OF("max", "{\\\"max\\\": 5, \\\"plain\\\": true}")

static void what_went_through_a_reducer_is_what_was_put_to_it(void **state) {
    (void)state;
    run_and_expect(
        REDUCED, "main log 0 {\"status\":\"completed\",\"result\":{\"log\":7}}\n"
                 "main logs 0 {\"status\":\"completed\",\"result\":{\"log\":[[8],9]}}\n"
                 "main sum 0 {\"status\":\"completed\",\"result\":{\"sum\":41}}\n"
                 "main text 0 {\"status\":\"completed\",\"result\":{\"text\":\"bc\"}}\n"
                 "main half 0 {\"status\":\"completed\",\"result\":{\"half\":0.25}}\n"
                 "main deep 0 {\"status\":\"completed\",\"result\":{\"deep\":{\"x\":{\"z\":2}}}}\n"
                 "main set 0 {\"status\":\"completed\",\"result\":{\"set\":[1,2]}}\n"
                 "main max 0 {\"status\":\"completed\",\"result\":{\"max\":5,\"plain\":true}}\n");
    expect_same_again(REDUCED, "completed", 8);
}

/* ---- branches and elements ---- */

#define BRANCHES                                                                                 \
    KEYS "nodes:\n"                                                                              \
         "  - {name: plan, jq: '{p: 1}'}\n" NODE_OF(                                             \
             "left", "{\\\"log\\\": 7, \\\"max\\\": 3, \\\"l\\\": 1}")                           \
             NODE_OF("left2",                                                                    \
                     "{\\\"log\\\": 8, \\\"max\\\": 9}") "  - {name: right, shell: '" DID        \
                                                         "echo r', output: r}\n"                 \
                                                         "  - {name: end, jq: '{e: .log}'}\n"    \
                                                         "edges:\n"                              \
                                                         "  - {from: __start__, to: plan}\n"     \
                                                         "  - {from: plan, to: [left, right]}\n" \
                                                         "  - {from: left, to: left2}\n"         \
                                                         "  - {from: left2, to: end}\n"          \
                                                         "  - {from: right, to: end}\n"          \
                                                         "  - {from: end, to: __end__}\n"

static void a_branch_that_ends_leaves_what_its_last_node_gave_back(void **state) {
    (void)state;
    host_run(BRANCHES, NULL);
    expect_listed(BRANCHES, "main/plan[0] left 0 {\"status\":\"completed\",\"result\":"
                            "{\"log\":7,\"max\":3,\"l\":1}}\n");
    expect_listed(BRANCHES, "main/plan[0] left2 0 {\"status\":\"completed\",\"result\":"
                            "{\"log\":8,\"max\":9}}\n");
    expect_listed(BRANCHES, "main/plan[1] right 0 {\"status\":\"completed\",\"result\":"
                            "{\"stdout\":\"r\",\"exit_code\":0}}\n");
    expect_same_again(BRANCHES, "completed", 3);
}

#define START_BRANCHES                                   \
    "nodes:\n"                                           \
    "  - {name: a, shell: '" DID "echo a', output: a}\n" \
    "  - {name: b, shell: '" DID "echo b', output: b}\n" \
    "edges:\n"                                           \
    "  - {from: __start__, to: [a, b]}\n"

static void branches_of_the_beginning_have_a_name(void **state) {
    (void)state;
    host_run(START_BRANCHES, NULL);
    expect_listed(START_BRANCHES, "main/__start__[1] b 0 {\"status\":\"completed\"");
    expect_same_again(START_BRANCHES, "completed", 2);
}

#define MAP                  \
    "nodes:\n"               \
    "  - name: each\n"       \
    "    map: '[3, 1, 2]'\n" \
    "    output: all\n"      \
    "    limit: 2\n"         \
    "    do: {shell: '" DID "echo $N', env: {N: '$item * 2'}, parse: json}\n"

static void an_element_gives_back_its_result(void **state) {
    (void)state;
    host_run(MAP, NULL);
    expect_listed(MAP, "main/each[0] each[] 0 {\"status\":\"completed\",\"result\":6}\n");
    expect_listed(MAP, "main/each[2] each[] 0 {\"status\":\"completed\",\"result\":4}\n");
    expect_same_again(MAP, "completed", 3);
}

/* ---- levels ---- */

static const char *const sub = "nodes:\n"
                               "  - {name: a, shell: '" DID "echo $N', env: {N: .n}, output: a}\n"
                               "  - name: each\n"
                               "    map: '[1, 2]'\n"
                               "    output: m\n"
                               "    do: {shell: '" DID "echo $item', parse: json, env: "
                               "{item: $item}}\n";

#define OUTER                                                \
    "nodes:\n"                                               \
    "  - {name: one, workflow: sub.yaml, input: '{n: 1}'}\n" \
    "  - {name: two, workflow: sub.yaml, input: '{n: 2}', output: two}\n"

static void nodes_of_workflows_inside_have_their_own_places(void **state) {
    (void)state;
    host_file("sub.yaml", sub);
    host_run(OUTER, NULL);
    expect_listed(OUTER, "main one/a 0 {\"status\":\"completed\",\"result\":{\"stdout\":\"1\"");
    expect_listed(OUTER, "main two/a 0 {\"status\":\"completed\",\"result\":{\"stdout\":\"2\"");
    expect_listed(OUTER, "main/two/each[1] each[] 0 {\"status\":\"completed\",\"result\":2}");
    expect_same_again(OUTER, "completed", 6);
}

#define LOOP                                              \
    "state: {n: 0, log: {reduce: append, default: []}}\n" \
    "nodes:\n"                                            \
    "  - name: loop\n"                                    \
    "    while: .n < 3\n"                                 \
    "    do:\n"                                           \
    "      - {name: inc, jq: '{n: (.n + 1)}'}\n"          \
    "      - {name: say, shell: \"" DID "echo $N\", env: {N: .n}, parse: json, output: log}\n"

static void the_turns_of_a_loop_are_counted(void **state) {
    (void)state;
    host_run(LOOP, NULL);
    expect_listing(LOOP, "main loop/say 0 {\"status\":\"completed\",\"result\":1}\n"
                         "main loop/say 1 {\"status\":\"completed\",\"result\":2}\n"
                         "main loop/say 2 {\"status\":\"completed\",\"result\":3}\n");
    expect_same_again(LOOP, "completed", 3);
}

#define FORKS_AFTER                                                             \
    "state: {n: 0}\n"                                                           \
    "nodes:\n"                                                                  \
    "  - {name: in, workflow: sub.yaml, input: '{n: 1}'}\n"                     \
    "  - {name: l, shell: '" DID "echo l', output: l}\n"                        \
    "  - {name: r, shell: '" DID "echo r', output: r}\n"                        \
    "  - {name: loop, while: .n < 2, do: [{name: inc, jq: '{n: (.n + 1)}'}]}\n" \
    "  - {name: l2, shell: '" DID "echo l2', output: l2}\n"                     \
    "  - {name: r2, shell: '" DID "echo r2', output: r2}\n"                     \
    "edges:\n"                                                                  \
    "  - {from: __start__, to: in}\n"                                           \
    "  - {from: in, to: [l, r]}\n"                                              \
    "  - {from: l, to: loop}\n"                                                 \
    "  - {from: r, to: loop}\n"                                                 \
    "  - {from: loop, to: [l2, r2]}\n"

static void branches_after_nodes_that_hold_others_have_their_places(void **state) {
    (void)state;
    host_file("sub.yaml", sub);
    expect_run(host_run(FORKS_AFTER, NULL), "completed", NULL);
    expect_listed(FORKS_AFTER, "main/in[0] l 0 {\"status\":\"completed\"");
    expect_listed(FORKS_AFTER, "main/loop[1] r2 0 {\"status\":\"completed\"");
    expect_same_again(FORKS_AFTER, "completed", 7);
}

#define CYCLE                                                          \
    "state: {n: 0}\n"                                                  \
    "nodes:\n"                                                         \
    "  - {name: inc, jq: '{n: (.n + 1)}'}\n"                           \
    "  - {name: each, map: '[.n, .n]', output: all, do: {shell: '" DID \
    "echo $N', env: {N: $item}, parse: json}}\n"                       \
    "edges:\n"                                                         \
    "  - {from: __start__, to: inc}\n"                                 \
    "  - {from: inc, to: each}\n"                                      \
    "  - {from: each, to: inc, when: .n < 3}\n"                        \
    "  - {from: each, to: __end__}\n"

static void frames_of_a_node_that_is_come_to_again_are_told_apart(void **state) {
    (void)state;
    host_run(CYCLE, NULL);
    expect_listed(CYCLE, "main/each[1] each[] 0 {\"status\":\"completed\",\"result\":1}\n");
    expect_listed(CYCLE, "main/each#3[1] each[] 0 {\"status\":\"completed\",\"result\":3}\n");
    expect_same_again(CYCLE, "completed", 6);
}

/* A run that took its results has turns that begin without a record. */
#define TIGHT                                 \
    "state: {n: {reduce: add, default: 0}}\n" \
    "nodes:\n"                                \
    "  - name: loop\n"                        \
    "    while: .n < 3\n"                     \
    "    do: [{name: one, shell: '" DID "echo 1', parse: json, output: n}]\n"

static void a_run_that_was_replayed_is_a_recording_too(void **state) {
    (void)state;
    host_run(TIGHT, NULL);
    char *want = listing(TIGHT);
    Flow *flow = host_flow(TIGHT);
    Recording *r = recorded(flow, NULL);
    host_fresh();
    Run *run = engine_start_now(host.engine, flow, &(RunStart){.thread = "second"}, &host.err);
    run_set_hooks(run, &recording_hooks, r);
    host_go();
    expect_run(run, "completed", "{\"n\":3}");
    run_set_hooks(run, NULL, NULL);
    RecordingSource source = source_of(flow, "second");
    Recording *second = recording_new(host.store, &source, &host.err);
    Json a = recording_list(r), b = recording_list(second);
    char *text = json_to_text(a);
    expect_json(b, text);
    assert_int_equal(json_array_len(b), 3);
    free(text);
    json_unref(a);
    json_unref(b);
    recording_free(second);
    recording_free(r);
    flow_unref(flow);
    mem_free(want);
}

/* ---- failures ---- */

#define ERROR_EDGE                                    \
    "nodes:\n"                                        \
    "  - {name: a, shell: '" DID "exit 3'}\n"         \
    "  - {name: b, jq: '{code: .error.exit_code}'}\n" \
    "edges:\n"                                        \
    "  - {from: __start__, to: a}\n"                  \
    "  - {from: a, to: b, on: error}\n"               \
    "  - {from: a, to: __end__}\n"

static void a_failure_with_an_error_edge_has_its_error(void **state) {
    (void)state;
    host_run(ERROR_EDGE, NULL);
    expect_listed(ERROR_EDGE,
                  "main a 0 {\"status\":\"failed\",\"error\":{\"kind\":\"exit\",\"message\":");
    expect_same_again(ERROR_EDGE, "completed", 1);
}

#define FAILS "nodes:\n  - {name: a, shell: '" DID "test -e ok && echo fine', output: a}\n"

static void a_failure_that_ended_the_run_ends_it_again(void **state) {
    (void)state;
    host_run(FAILS, NULL);
    expect_listed(FAILS, "main a 0 {\"status\":\"failed\",\"error\":{\"kind\":\"exit\"");
    expect_same_again(FAILS, "failed", 1);
}

static void a_node_that_was_tried_again_is_as_it_ended(void **state) {
    (void)state;
    host_run(FAILS, NULL);
    host_file("ok", "");
    expect_run(host_go_on(), "completed", NULL);
    expect_listing(FAILS, "main a 0 {\"status\":\"completed\",\"result\":"
                          "{\"stdout\":\"fine\",\"exit_code\":0}}\n");
    expect_same_again(FAILS, "completed", 1);
}

#define ATTEMPTS                                                                      \
    "nodes:\n"                                                                        \
    "  - {name: a, shell: '" DID "test $(wc -l < did) -ge 3 && echo ok', output: a, " \
    "retry: {attempts: 5, delay: 0}}\n"

static void attempts_are_not_recorded_one_by_one(void **state) {
    (void)state;
    host_run(ATTEMPTS, NULL);
    expect_listing(ATTEMPTS, "main a 0 {\"status\":\"completed\",\"result\":"
                             "{\"stdout\":\"ok\",\"exit_code\":0}}\n");
    expect_same_again(ATTEMPTS, "completed", 1);
}

#define GIVES_UP                                                              \
    "nodes:\n"                                                                \
    "  - {name: a, shell: '" DID "exit 1', retry: {attempts: 3, delay: 0}}\n" \
    "  - {name: b, jq: '{b: .error.exit_code}'}\n"                            \
    "edges:\n"                                                                \
    "  - {from: __start__, to: a}\n"                                          \
    "  - {from: a, to: b, on: error}\n"                                       \
    "  - {from: a, to: __end__}\n"

static void a_failure_that_is_taken_is_not_tried_again(void **state) {
    (void)state;
    expect_run(host_run(GIVES_UP, NULL), "completed", NULL);
    assert_int_equal(lines_of("did"), 3);
    expect_same_again(GIVES_UP, "completed", 1);
}

#define TAKEN_AROUND                                                       \
    "nodes:\n"                                                             \
    "  - {name: in, workflow: sub.yaml, retry: {attempts: 2, delay: 0}}\n" \
    "  - {name: after, jq: '{after: 1}'}\n"                                \
    "edges:\n"                                                             \
    "  - {from: __start__, to: in}\n"                                      \
    "  - {from: in, to: after, on: error}\n"                               \
    "  - {from: in, to: __end__}\n"

static void an_error_that_a_node_around_takes_is_of_the_one_that_failed(void **state) {
    (void)state;
    host_file("sub.yaml", "nodes:\n  - {name: a, shell: '" DID "echo a', output: a}\n"
                          "  - {name: b, shell: '" DID "exit 4'}\n");
    host_run(TAKEN_AROUND, NULL);
    expect_listed(TAKEN_AROUND, "main in/a 1 {\"status\":\"completed\"");
    expect_listed(TAKEN_AROUND, "main in/b 0 {\"status\":\"failed\",\"error\":{\"kind\":\"exit\"");
    expect_listed(TAKEN_AROUND, "main in/b 1 {\"status\":\"failed\",\"error\":{\"kind\":\"exit\"");
    expect_same_again(TAKEN_AROUND, "completed", 4);
}

#define MAP_FAILS                                                              \
    "nodes:\n"                                                                 \
    "  - {name: each, map: '[0, 1]', limit: 1, output: all, do: {shell: '" DID \
    "exit $N', env: {N: $item}}}\n"                                            \
    "  - {name: after, jq: '{after: .error.node}'}\n"                          \
    "edges:\n"                                                                 \
    "  - {from: __start__, to: each}\n"                                        \
    "  - {from: each, to: after, on: error}\n"                                 \
    "  - {from: each, to: __end__}\n"

static void an_error_that_a_map_takes_is_of_its_element(void **state) {
    (void)state;
    expect_run(host_run(MAP_FAILS, NULL), "completed", NULL);
    expect_listed(MAP_FAILS, "main/each[0] each[] 0 {\"status\":\"completed\"");
    expect_listed(MAP_FAILS, "main/each[1] each[] 0 {\"status\":\"failed\"");
    expect_same_again(MAP_FAILS, "completed", 2);
}

/* All are at work when the last of them fails. */
#define LAST_FAILS                                                                            \
    "nodes:\n"                                                                                \
    "  - {name: each, map: '[0, 1, 2]', output: all, do: {shell: 'touch at$N; [ $N = 2 ] || " \
    "sleep 60; until [ -e at0 -a -e at1 ]; do sleep 0.02; done; exit 1', env: {N: $item}}}\n" \
    "  - {name: after, jq: '{after: 1}'}\n"                                                   \
    "edges:\n"                                                                                \
    "  - {from: __start__, to: each}\n"                                                       \
    "  - {from: each, to: after, on: error}\n"                                                \
    "  - {from: each, to: __end__}\n"

static void the_element_that_failed_is_told_from_those_that_were_ended(void **state) {
    (void)state;
    expect_run(host_run(LAST_FAILS, NULL), "completed", NULL);
    expect_listed(LAST_FAILS, "main/each[0] each[] 0 null\n");
    expect_listed(LAST_FAILS, "main/each[1] each[] 0 null\n");
    expect_listed(LAST_FAILS, "main/each[2] each[] 0 {\"status\":\"failed\"");
}

#define MAP_RETRIED                                                       \
    "nodes:\n"                                                            \
    "  - name: each\n"                                                    \
    "    map: '[0, 1, 2]'\n"                                              \
    "    retry: {attempts: 2, delay: 0}\n"                                \
    "    output: all\n"                                                   \
    "    do: {shell: 'if [ -e ok ]; then echo $N; elif [ $N = 0 ]; then " \
    "until [ -e at1 -a -e at2 ]; do sleep 0.02; done; touch ok; exit 1; " \
    "else touch at$N; sleep 60; fi', env: {N: $item}, parse: json}\n"

static void what_was_ended_is_not_mistaken_for_the_next_attempt(void **state) {
    (void)state;
    expect_run(host_run(MAP_RETRIED, NULL), "completed", "{\"all\":[0,1,2]}");
    expect_listed(MAP_RETRIED, "main/each[0] each[] 0 {\"status\":\"failed\"");
    expect_listed(MAP_RETRIED, "main/each[1] each[] 0 null\n");
    expect_listed(MAP_RETRIED, "main/each#1.1[1] each[] 0 {\"status\":\"completed\",\"result\":1}");
    Again a = run_again(MAP_RETRIED, MAP_RETRIED, NULL);
    assert_string_equal(a.state, "{\"all\":[0,1,2]}");
    assert_int_equal(json_object_get_c(a.report, "taken").i, 4);
    again_clear(&a);
}

/* ---- people ---- */

#define APPROVAL                                                                 \
    "nodes:\n"                                                                   \
    "  - {name: ask, approval: {prompt: Go?, options: [yes, no]}, output: ok}\n" \
    "  - {name: j, jq: '{said: .ok.decision}'}\n"

static void an_approval_is_answered_as_it_was(void **state) {
    (void)state;
    host_run(APPROVAL, NULL);
    expect_listing(APPROVAL, "main ask 0 null\n");
    expect_run(host_answer(NULL, "yes", NULL), "completed", NULL);
    expect_listed(APPROVAL, "main ask 0 {\"status\":\"completed\",\"result\":"
                            "{\"decision\":\"yes\",\"at\":");
    expect_same_again(APPROVAL, "completed", 1);
}

#define STOPS                                                 \
    "config: {interrupt_before: [a], interrupt_after: [b]}\n" \
    "nodes:\n"                                                \
    "  - {name: a, jq: '{a: .x}'}\n"                          \
    "  - {name: b, shell: '" DID "echo b', output: b}\n"      \
    "  - {name: c, jq: '{c: .y}'}\n"

static void what_people_said_at_interrupts_is_taken(void **state) {
    (void)state;
    host_run(STOPS, NULL);
    host_answer(NULL, NULL, "{\"x\": 1}");
    expect_listed(STOPS, "main a 0 {\"status\":\"completed\",\"result\":{\"a\":1}}\n");
    expect_listed(STOPS, "main a 0 {\"before\":[{\"x\":1}]}\n");
    expect_listed(STOPS, "main b 0 {\"status\":\"completed\",\"result\":{\"stdout\":\"b\"");
    expect_run(host_answer(NULL, NULL, "{\"y\": 2}"), "completed", NULL);
    expect_listed(STOPS, "main b 0 {\"after\":[{\"y\":2}]}\n");
    expect_same_again(STOPS, "completed", 2);
}

/* ---- a debugger ---- */

typedef struct Stop {
    const char *node;
    HookPosition position;
    bool stopped;
} Stop;

static HookVerdict stop_once(void *ctx, const HookPlace *place, Json *info) {
    Stop *stop = ctx;
    (void)info;
    if (stop->stopped || place->position != stop->position || strcmp(place->node->name, stop->node))
        return HOOK_GO;
    stop->stopped = true;
    return HOOK_PARK;
}

/* A run of thread "t" that is stopped at a node once, and let go in a way. */
static const char *pending; /* what is said of the next pause; NULL: nothing */

static void run_injected(const char *yaml, Stop stop, const Injection *injection, const LetGo *go) {
    RunHooks hooks = recording_hooks;
    Flow *flow = host_flow(yaml);
    hooks.at = stop_once;
    Run *run = engine_start_now(host.engine, flow, &(RunStart){.thread = "t"}, &host.err);
    run_set_hooks(run, &hooks, &stop);
    run_hold(run, true);
    Frame *parked = NULL;
    while (!parked) {
        uv_run(&host.loop, UV_RUN_ONCE);
        for (Frame *f = NULL; !parked && (f = run_next_frame(run, f));)
            parked = frame_is_parked(f) ? f : NULL;
    }
    if (injection && !frame_inject(parked, injection, &host.err)) fail_msg("%s", host.err.msg);
    if (pending) frame_set_pause(parked, parse(pending));
    pending = NULL;
    if (!frame_let_go(parked, go, &host.err)) fail_msg("%s", host.err.msg);
    if (go->how == LET_GOTO && !frame_let_go(parked, &(LetGo){.how = LET_GO}, &host.err))
        fail_msg("%s", host.err.msg);
    run_hold(run, false);
    host_go();
    expect_run(run, "completed", NULL);
    run_set_hooks(run, NULL, NULL);
    run_free(run);
    flow_unref(flow);
}

static void run_stopped(const char *yaml, Stop stop, const LetGo *go) {
    run_injected(yaml, stop, NULL, go);
}

#define STEPS                                            \
    "nodes:\n"                                           \
    "  - {name: a, jq: '{a: .x}'}\n"                     \
    "  - {name: b, shell: '" DID "echo b', output: b}\n" \
    "  - {name: c, jq: '{c: .y}'}\n"

static void what_a_person_changed_while_it_was_stopped_is_taken(void **state) {
    (void)state;
    pending = "{\"pending\": [[1, [\"x\"], 1]]}";
    run_stopped(STEPS, (Stop){"a", HOOK_BEFORE, false}, &(LetGo){.how = LET_GO});
    expect_listed(STEPS, "main a 0 {\"before\":[[[\"x\"],1]]}\n");
    expect_same_again(STEPS, "completed", 1);
}

static void what_a_person_changed_after_it_is_taken(void **state) {
    (void)state;
    pending = "{\"pending\": [[1, [\"y\"], 1]]}";
    run_stopped(STEPS, (Stop){"b", HOOK_AFTER, false}, &(LetGo){.how = LET_GO});
    expect_listed(STEPS, "main b 0 {\"after\":[[[\"y\"],1]]}\n");
    expect_same_again(STEPS, "completed", 1);
}

static void what_a_person_skipped_is_skipped(void **state) {
    (void)state;
    run_stopped(STEPS, (Stop){"b", HOOK_BEFORE, false}, &(LetGo){.how = LET_SKIP});
    expect_listing(STEPS, "main b 0 {\"status\":\"skipped\"}\n");
    expect_same_again(STEPS, "completed", 1);
}

static void where_a_person_sent_a_frame_it_goes_again(void **state) {
    (void)state;
    run_stopped(STEPS, (Stop){"b", HOOK_BEFORE, false},
                &(LetGo){.how = LET_GOTO, .node = "c", .info = json_none()});
    expect_listing(STEPS, "main b 0 {\"goto\":[\"before\",\"c\"]}\n");
    expect_same_again(STEPS, "completed", 0);
}

static void a_node_that_a_person_sent_a_frame_back_to_is_come_to_once_more(void **state) {
    (void)state;
    run_stopped(STEPS, (Stop){"b", HOOK_AFTER, false},
                &(LetGo){.how = LET_GOTO, .node = "b", .info = json_none()});
    expect_listed(STEPS, "main b 0 {\"status\":\"completed\"");
    expect_listed(STEPS, "main b 1 {\"status\":\"completed\"");
    expect_listed(STEPS, "main b 0 {\"goto\":[\"after\",\"b\"]}\n");
    expect_same_again(STEPS, "completed", 2);
}

/* In another version of the workflow. */
static void where_a_node_is_no_more_a_frame_takes_the_edges(void **state) {
    (void)state;
    run_stopped(STEPS, (Stop){"b", HOOK_AFTER, false},
                &(LetGo){.how = LET_GOTO, .node = "a", .info = json_none()});
    Again a = run_again(
        STEPS, "nodes: [{name: b, shell: 'echo b', output: b}, {name: c, jq: '{c: 3}'}]", NULL);
    expect_equal(a.state, "{\"b\":{\"stdout\":\"b\",\"exit_code\":0},\"c\":3}");
    again_clear(&a);
}

static void what_a_person_gave_instead_is_its_result(void **state) {
    (void)state;
    Json output = parse("{\"stdout\": \"mine\"}");
    run_stopped(STEPS, (Stop){"b", HOOK_BEFORE, false},
                &(LetGo){.how = LET_SKIP, .output = output});
    json_unref(output);
    expect_listing(STEPS, "main b 0 {\"status\":\"completed\",\"result\":{\"stdout\":\"mine\"}}\n");
    expect_same_again(STEPS, "completed", 1);
}

static void an_element_that_was_stopped_after_has_its_result(void **state) {
    (void)state;
    run_stopped(MAP, (Stop){"each[]", HOOK_AFTER, false}, &(LetGo){.how = LET_GO});
    expect_listed(MAP, "main/each[0] each[] 0 {\"status\":\"completed\",\"result\":6}\n");
    expect_listed(MAP, "main/each[1] each[] 0 {\"status\":\"completed\",\"result\":2}\n");
    expect_same_again(MAP, "completed", 3);
}

static void what_was_injected_before_a_node_is_part_of_it(void **state) {
    (void)state;
    Injection injection = {1, INJECT_BEFORE, json_none(), parse("{\"jq\": \"{y: 7}\"}")};
    run_injected(STEPS, (Stop){"b", HOOK_BEFORE, false}, &injection, &(LetGo){.how = LET_GO});
    json_unref(injection.node);
    expect_listed(STEPS, "main b 0 {\"before\":[{\"y\":7}]}\n");
    expect_same_again(STEPS, "completed", 1);
}

static void what_ran_instead_of_a_node_is_its_result(void **state) {
    (void)state;
    Json node = parse("{\"shell\": \"echo other\", \"output\": \"b\"}");
    Injection injection = {1, INJECT_INSTEAD, json_none(), node};
    run_injected(STEPS, (Stop){"b", HOOK_BEFORE, false}, &injection, &(LetGo){.how = LET_GO});
    json_unref(node);
    expect_listed(STEPS, "main b 0 {\"status\":\"completed\",\"result\":{\"stdout\":\"other\"");
    expect_same_again(STEPS, "completed", 1);
}

static void what_ran_instead_of_a_pure_node_is_its_result(void **state) {
    (void)state;
    Json node = parse("{\"name\": \"a\", \"jq\": \"{a: 7}\"}");
    Injection injection = {1, INJECT_INSTEAD, json_none(), node};
    run_injected(STEPS, (Stop){"a", HOOK_BEFORE, false}, &injection, &(LetGo){.how = LET_GO});
    json_unref(node);
    expect_listed(STEPS, "main a 0 {\"status\":\"completed\",\"result\":{\"a\":7}}\n");
    expect_same_again(STEPS, "completed", 2);
}

#define INNER                                                                   \
    "state: {log: {reduce: append, default: []}}\n"                             \
    "nodes:\n"                                                                  \
    "  - {name: in, workflow: inner.yaml, input: '{x: .x}', output: in}\n"      \
    "  - {name: loop, while: .n < 2, do: [{name: inc, jq: '{n: (.n + 1)}'}]}\n" \
    "  - {name: end, jq: '{end: [.in, .n, .y]}'}\n"

static void expect_change(const char *node, HookPosition position, const char *want) {
    host_file("inner.yaml", "nodes: [{name: i, jq: '{i: .x}'}]\n");
    pending = "{\"pending\": [[1, [\"x\"], 1], [2, [\"n\"], 1]]}";
    run_stopped(INNER, (Stop){node, position, false}, &(LetGo){.how = LET_GO});
    expect_listing(INNER, want);
    expect_same_again(INNER, "completed", 0);
}

static void what_a_person_changed_before_a_node_that_holds_others_is_changed(void **state) {
    (void)state;
    expect_change("in", HOOK_BEFORE, "main in 0 {\"before\":[[[\"x\"],1],[[\"n\"],1]]}\n");
}

static void what_a_person_changed_after_a_node_that_holds_others_is_changed(void **state) {
    (void)state;
    expect_change("loop", HOOK_AFTER, "main loop 0 {\"after\":[[[\"x\"],1],[[\"n\"],1]]}\n");
}

static void what_was_injected_after_a_node_goes_through_the_reducers(void **state) {
    (void)state;
    host_file("inner.yaml", "nodes: [{name: i, jq: '{i: .x}'}]\n");
    Json node = parse("{\"jq\": \"{log: [7], y: 8}\"}");
    Injection injection = {1, INJECT_AFTER, json_none(), node};
    run_injected(INNER, (Stop){"in", HOOK_BEFORE, false}, &injection, &(LetGo){.how = LET_GO});
    json_unref(node);
    expect_listing(INNER, "main in 0 {\"after\":[{\"log\":[7],\"y\":8}]}\n");
    expect_same_again(INNER, "completed", 0);
}

/* ---- tasks ---- */

#define SCRIPT(text) "config: {command: \"" DID text "\"}"

#define TASKS                                                                                                                             \
    "tasks:\n"                                                                                                                            \
    "  - {name: run_shell, id: one, " SCRIPT(                                                                                             \
        "echo ::set-json v 5; echo hi") "}\n"                                                                                             \
                                        "  - {name: run_shell, id: two, if: '.v == 6', " SCRIPT(                                          \
                                            "true") "}\n"                                                                                 \
                                                    "  - name: run_tasks\n"                                                               \
                                                    "    id: list\n"                                                                      \
                                                    "    config:\n"                                                                       \
                                                    "      ignoreResult: true\n"                                                          \
                                                    "      continueOnFailure: true\n"                                                     \
                                                    "      tasks:\n"                                                                      \
                                                    "        - {name: run_shell, id: three, " SCRIPT(                                     \
                                                        "echo ::set-output o 1; exit 3") "}\n"                                            \
                                                                                         "        - {name: run_shell, id: four, " SCRIPT( \
                                                                                             "exit 4") "}\n"                              \
                                                                                                       "        - {name: sleep, config: {duration: 0.01}}\n"

static void tasks_leave_variables_outputs_and_errors(void **state) {
    (void)state;
    expect_run(host_run(TASKS, NULL), "completed", NULL);
    expect_listed(TASKS, "main one 0 {\"status\":\"completed\",\"set\":[[[\"v\"],5]],\"outputs\":"
                         "{\"stdout\":\"hi\",\"exit_code\":0}}\n");
    expect_listed(TASKS, "main two 0 {\"status\":\"skipped\"}\n");
    expect_listed(TASKS, "main list/three 0 {\"status\":\"failed\",\"error\":{\"kind\":\"exit\","
                         "\"message\":\"Command exited with code 3\"");
    expect_listed(TASKS, "\"outputs\":{\"o\":\"1\",\"stdout\":\"\",\"exit_code\":3}}\n");
    expect_listed(TASKS, "main list/sleep 0 {\"status\":\"completed\"}\n");
}

/* Only the first error of a list that goes on is in the state. */
static void a_failure_that_the_state_says_nothing_of_has_its_error(void **state) {
    (void)state;
    host_run(TASKS, NULL);
    expect_listed(TASKS, "main list/four 0 {\"status\":\"failed\",\"error\":{\"kind\":\"exit\","
                         "\"message\":\"Command exited with code 4\"");
}

#define SHARED                                                                          \
    "tasks:\n"                                                                          \
    "  - name: run_tasks_concurrent\n"                                                  \
    "    config:\n"                                                                     \
    "      newVariableScope: false\n"                                                   \
    "      tasks:\n"                                                                    \
    "        - {name: run_shell, id: a, " SCRIPT(                                       \
        "echo ::set-json v 1; touch set") "}\n"                                         \
                                          "        - {name: run_shell, id: b, " SCRIPT( \
                                              "until [ -e set ]; do sleep 0.02; done; echo ::set-json mine 1") "}\n"

static void a_task_leaves_the_variables_that_it_set_itself(void **state) {
    (void)state;
    expect_run(host_run(SHARED, NULL), "completed", NULL);
    expect_listed(SHARED, "[0] a 0 {\"status\":\"completed\",\"set\":[[[\"v\"],1]],");
    expect_listed(SHARED, "[1] b 0 {\"status\":\"completed\",\"set\":[[[\"mine\"],1]],");
    expect_same_again(SHARED, "completed", 2);
}

static void tasks_are_the_same_again(void **state) {
    (void)state;
    expect_run(host_run(TASKS, NULL), "completed", NULL);
    expect_same_again(TASKS, "completed", 5);
}

#define TASK_FAILS                                                                               \
    "tasks:\n"                                                                                   \
    "  - {name: run_shell, id: a, " SCRIPT("test -e ok") "}\n"                                   \
                                                         "  - {name: run_shell, id: b, " SCRIPT( \
                                                             "true") "}\n"

static void a_task_that_was_tried_again_is_as_it_ended(void **state) {
    (void)state;
    expect_run(host_run(TASK_FAILS, NULL), "failed", NULL);
    expect_listed(TASK_FAILS, "main a 0 {\"status\":\"failed\"");
    host_file("ok", "");
    expect_run(host_go_on(), "completed", NULL);
    expect_listed(TASK_FAILS, "main a 0 {\"status\":\"completed\"");
    expect_same_again(TASK_FAILS, "completed", 2);
}

#define TOGETHER                                                                                               \
    "tasks:\n"                                                                                                 \
    "  - name: run_tasks_concurrent\n"                                                                         \
    "    id: all\n"                                                                                            \
    "    config:\n"                                                                                            \
    "      failureThreshold: 0\n"                                                                              \
    "      ignoreResult: true\n"                                                                               \
    "      tasks:\n"                                                                                           \
    "        - {name: run_shell, id: a, " SCRIPT(                                                              \
        "echo ::set-json v 1") "}\n"                                                                           \
                               "        - {name: run_shell, id: b, " SCRIPT(                                   \
                                   "exit 2") "}\n"                                                             \
                                             "  - name: run_task_matrix\n"                                     \
                                             "    id: m\n"                                                     \
                                             "    config:\n"                                                   \
                                             "      runConcurrent: true\n"                                     \
                                             "      matrixVar: x\n"                                            \
                                             "      matrixValues: [10, 20]\n"                                  \
                                             "      task: {name: run_shell, id: one, config: {command: \"" DID \
                                             "echo ::set-json y $X\", envVars: {X: x}}}\n"                     \
                                             "  - {name: run_shell, id: last, " SCRIPT(                        \
                                                 "echo ::set-var w end") "}\n"

static void tasks_that_ran_together_leave_their_scopes(void **state) {
    (void)state;
    expect_run(host_run(TOGETHER, NULL), "completed", NULL);
    expect_listed(TOGETHER, "main/all[0] a 0 {\"status\":\"completed\",\"set\":[[[\"v\"],1]]");
    expect_listed(TOGETHER, "main/all[1] b 0 {\"status\":\"failed\",\"error\":{\"kind\":\"exit\"");
    expect_listed(TOGETHER, "main/m[1] one 0 {\"status\":\"completed\",\"set\":[[[\"y\"],20]]");
    expect_listed(TOGETHER, "main last 0 {\"status\":\"completed\",\"set\":[[[\"w\"],\"end\"]]");
}

static void tasks_that_ran_together_are_the_same_again(void **state) {
    (void)state;
    expect_run(host_run(TOGETHER, NULL), "completed", NULL);
    expect_same_again(TOGETHER, "completed", 5);
}

#define BACKGROUND                                                                                       \
    "tasks:\n"                                                                                           \
    "  - name: run_task_background\n"                                                                    \
    "    config:\n"                                                                                      \
    "      foregroundTask: {name: run_shell, id: fore, " SCRIPT(                                         \
        "until [ -e behind ]; do sleep 0.02; done") "}\n"                                                \
                                                    "      backgroundTask: {name: run_shell, id: back, " \
                                                    "config: {command: touch behind; sleep 60}}\n"

static void what_was_ended_by_others_is_done_and_said_to_be_unfinished(void **state) {
    (void)state;
    expect_run(host_run(BACKGROUND, NULL), "completed", NULL);
    char *got = listing(BACKGROUND);
    expect_contains(got, "[0] fore 0 {\"status\":\"completed\"");
    expect_contains(got, "[1] back 0 null\n");
    mem_free(got);
    Again a = run_again(BACKGROUND, BACKGROUND, NULL);
    assert_string_equal(a.status, "completed");
    assert_int_equal(lines_of("did"), 1);
    again_clear(&a);
}

#define CLEANUP                                                         \
    "tasks:\n"                                                          \
    "  - {name: run_shell, id: a, " SCRIPT(                             \
        "exit 1") "}\n"                                                 \
                  "cleanupTasks:\n"                                     \
                  "  - {name: run_shell, id: c, " SCRIPT(               \
                      "exit 2") "}\n"                                   \
                                "  - {name: run_shell, id: d, " SCRIPT( \
                                    "echo ::set-json d 1") "}\n"

static void cleanup_tasks_are_recorded_too(void **state) {
    (void)state;
    expect_run(host_run(CLEANUP, NULL), "failed", NULL);
    expect_listed(CLEANUP, "main a 0 {\"status\":\"failed\",\"error\":{\"kind\":\"exit\"");
    expect_listed(CLEANUP, "main __start__/c 0 {\"status\":\"failed\",\"error\":");
    expect_listed(CLEANUP, "main __start__/d 0 {\"status\":\"completed\",\"set\":[[[\"d\"],1]]");
    expect_same_again(CLEANUP, "failed", 3);
}

/* ---- pipelines ---- */

#define PIPELINE                                                        \
    "steps:\n"                                                          \
    "  - {id: one, type: script, config: {command: '" DID "echo 1'}}\n" \
    "  - {id: two, type: script, config: {command: '" DID "echo 2'}}\n"

static void steps_of_a_pipeline_are_recorded(void **state) {
    (void)state;
    expect_run(host_run(PIPELINE, NULL), "completed", NULL);
    expect_listed(PIPELINE, "main two 0 {\"status\":\"completed\",\"result\":{\"steps\":");
    expect_same_again(PIPELINE, "completed", 2);
}

/* ---- from where on it is live ---- */

static void everything_is_live_from_a_node_on(void **state) {
    (void)state;
    host_run(LINE, NULL);
    size_t did = lines_of("did");
    Again a = run_again(LINE, LINE, "c");
    expect_json(a.report, "{\"taken\":2,\"live\":3,\"missing\":[],\"more\":false}");
    assert_int_equal(lines_of("did"), did + 2);
    again_clear(&a);
}

static void a_node_in_another_frame_makes_all_live(void **state) {
    (void)state;
    host_run(BRANCHES, NULL);
    Again a = run_again(BRANCHES, BRANCHES, "left");
    expect_json(json_object_get_c(a.report, "taken"), "0");
    expect_json(json_object_get_c(a.report, "live"), "3");
    again_clear(&a);
}

static void a_task_is_named_by_its_id_too(void **state) {
    (void)state;
    host_run(TASKS, NULL);
    Flow *flow = host_flow(TASKS);
    recording_free(recorded(flow, "three"));
    recording_free(recorded(flow, "sleep"));
    flow_unref(flow);
}

static void an_unknown_node_to_be_live_from_is_refused_with_the_nearest(void **state) {
    (void)state;
    host_run(MAP, NULL);
    Flow *flow = host_flow(MAP);
    RecordingSource source = source_of(flow, "t");
    source.live_from = "eahc";
    assert_null(recording_new(host.store, &source, &host.err));
    assert_int_equal(host.err.code, ERR_USAGE);
    expect_contains(host.err.msg, "did you mean `each`?");
    source.live_from = "nothing-like-it";
    assert_null(recording_new(host.store, &source, &host.err));
    expect_contains(host.err.msg, "is called `nothing-like-it`, to be live from.");
    source.live_from = "each[]";
    recording_free(recording_new(host.store, &source, &host.err));
    flow_unref(flow);
}

/* ---- other versions ---- */

static void what_the_recording_lacks_is_done_and_reported(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: a, shell: 'echo 1', output: a}\n", NULL);
    Again a = run_again("nodes:\n  - {name: a, shell: 'echo 1', output: a}\n",
                        "nodes:\n  - {name: a, shell: '" DID "echo 2', output: x}\n"
                        "  - {name: b, shell: '" DID "echo 3', output: b}\n",
                        NULL);
    expect_json(a.report, "{\"taken\":1,\"live\":1,\"missing\":[{\"frame\":\"main\",\"node\":\"b\","
                          "\"unfinished\":false}],\"more\":false}");
    assert_string_equal(a.state, "{\"x\":{\"stdout\":\"1\",\"exit_code\":0},"
                                 "\"b\":{\"stdout\":\"3\",\"exit_code\":0}}");
    again_clear(&a);
}

static void a_node_of_another_kind_is_done(void **state) {
    (void)state;
    host_run("nodes:\n  - {name: a, sleep: 0.01}\n", NULL);
    Again a = run_again("nodes:\n  - {name: a, sleep: 0.01}\n",
                        "nodes:\n  - {name: a, shell: '" DID "echo 2'}\n", NULL);
    assert_int_equal(lines_of("did"), 1);
    again_clear(&a);
}

static void a_history_without_its_beginning_is_refused(void **state) {
    (void)state;
    host_run(LINE, NULL);
    RunRow row = {0};
    PruneReport report = {0};
    Flow *flow = host_flow(LINE);
    host_fresh();
    assert_true(store_find(host.store, "t", &row, &host.err));
    assert_true(chain_prune(host.store, &row, &(PruneRule){.keep_last = 2}, &report, &host.err));
    RecordingSource source = source_of(flow, "t");
    assert_null(recording_new(host.store, &source, &host.err));
    assert_int_equal(host.err.code, ERR_USAGE);
    expect_contains(host.err.msg, "what came of those is not on record");
    run_row_clear(&row);
    flow_unref(flow);
}

/* As the version of the store before results wrote them. */
static void a_history_that_does_not_say_what_nodes_gave_back_is_refused(void **state) {
    (void)state;
    host_run(LINE, NULL);
    Flow *flow = host_flow(LINE);
    host_fresh();
    RecordingSource source = source_of(flow, "t");
    StoreBatch batch = STORE_BATCH_INIT;
    Checkpoint c;
    assert_true(store_checkpoint(host.store, source.run, 3, &c, &host.err));
    c.result = NULL;
    c.result_len = 0;
    store_batch_checkpoint(&batch, &c);
    assert_true(store_lease(host.store, source.run, &host.err));
    assert_true(store_commit(host.store, &batch, &host.err));
    store_release(host.store, source.run);
    store_batch_clear(&batch);
    assert_null(recording_new(host.store, &source, &host.err));
    assert_int_equal(host.err.code, ERR_USAGE);
    expect_contains(host.err.msg, "Checkpoint 3 of run 1 does not say what its node gave back");
    flow_unref(flow);
}

/* ---- by hand ---- */

#define ONE_SHELL \
    "nodes:\n  - {name: a, jq: '{a: .x}'}\n  - {name: b, shell: 'echo b', output: b}\n"

/* The hook is asked for each node once, whatever else happens there. */
static void a_place_that_is_asked_for_again_is_the_same_execution(void **state) {
    (void)state;
    host_run(LOOP, NULL);
    Flow *flow = host_flow(ONE_SHELL), *loop = host_flow(LOOP);
    Recording *r = recorded(loop, NULL);
    host_fresh();
    Run *run = engine_start_now(host.engine, flow, &(RunStart){.thread = "x"}, &host.err);
    Frame *frame = run_frame(run, 1);
    Json info = json_none();
    HookPlace place = {.run = run, .frame = frame, .node = frame_node(frame, 0)};
    assert_int_equal(recording_come_to(r, &place, &info), HOOK_GO);
    assert_int_equal(recording_take(r, &place, &info), HOOK_GO);
    place.again = true;
    assert_int_equal(recording_come_to(r, &place, &info), HOOK_GO);
    assert_int_equal(recording_take(r, &place, &info), HOOK_GO);
    Json report = recording_report(r);
    expect_json(report, "{\"taken\":0,\"live\":0,\"missing\":[],\"more\":false}");
    json_unref(report);
    recording_free(r);
    flow_unref(flow);
    flow_unref(loop);
}

/* ---- a debugger that looks at it ---- */

#define TURNS                                                      \
    "state: {n: 0, log: {reduce: append, default: []}}\n"          \
    "nodes:\n"                                                     \
    "  - name: loop\n"                                             \
    "    while: .n < 3\n"                                          \
    "    do:\n"                                                    \
    "      - {name: say, shell: '" DID "date +%N', output: log}\n" \
    "      - {name: inc, jq: '{n: (.n + 1)}'}\n"

static int stops; /* before `say` so far */

/* Stopped before it, and for how many times. */
static bool is_before_say(const Frame *f) {
    const Node *node = frame_node(f, frame_depth(f) - 1);
    bool is = node && !strcmp(node->name, "say") && frame_position(f) == HOOK_BEFORE;
    stops += is && !frame_injected(f);
    return is && !frame_injected(f);
}

static void skip_the_first(Session *s, Frame *f) {
    if (is_before_say(f) && stops == 1) {
        assert_true(session_go(s, f, (SessionGo){.how = LET_SKIP}, &host.err));
    } else {
        go_on(s, f);
    }
}

static void edit_the_first(Session *s, Frame *f) {
    Json path = parse("[\"shell\"]"), value = parse("\"echo mine\"");
    if (is_before_say(f) && stops == 1) {
        assert_true(session_config_set(s, f, path, value, &host.err));
    }
    json_unref(path);
    json_unref(value);
    go_on(s, f);
}

static void inject_at_the_first(Session *s, Frame *f) {
    Json node = parse("{\"jq\": \"{injected: true}\"}");
    if (is_before_say(f) && stops == 1) {
        Json done = session_inject(s, f, INJECT_BEFORE, json_null(), node, &host.err);
        assert_false(json_is_none(done));
        json_unref(done);
    }
    json_unref(node);
    go_on(s, f);
}

/* What came of the log when a person did something at the first turn of the recorded run. */
static void expect_turns(AtStop act, const char *first, const char *report) {
    stops = 0;
    host_run(TURNS, NULL);
    char *before = host_state_at("t", 0);
    Again a = run_again_with(TURNS, TURNS, NULL, act);
    Json was = parse(before), is = parse(a.state);
    Json old_log = json_object_get_c(was, "log"), log = json_object_get_c(is, "log");
    size_t n = json_array_len(log);
    assert_int_equal(n, first ? 3 : 2);
    assert_true(json_equal(json_array_get(log, n - 1), json_array_get(old_log, 2)));
    assert_true(json_equal(json_array_get(log, n - 2), json_array_get(old_log, 1)));
    if (first && *first) {
        expect_json(json_object_get_c(json_array_get(log, 0), "stdout"), first);
    } else if (first) {
        assert_true(json_equal(json_array_get(log, 0), json_array_get(old_log, 0)));
    }
    expect_json(a.report, report);
    json_unref(was);
    json_unref(is);
    free(before);
    again_clear(&a);
}

static void a_person_who_skips_a_turn_has_the_others_from_the_recording(void **state) {
    (void)state;
    expect_turns(skip_the_first, NULL, "{\"taken\":2,\"live\":0,\"missing\":[],\"more\":false}");
}

static void a_node_that_a_person_edits_is_done(void **state) {
    (void)state;
    expect_turns(edit_the_first, "\"mine\"",
                 "{\"taken\":2,\"live\":1,\"missing\":[],\"more\":false}");
}

static void what_a_person_injects_runs_before_the_recorded_result_is_taken(void **state) {
    (void)state;
    expect_turns(inject_at_the_first, "", "{\"taken\":3,\"live\":0,\"missing\":[],\"more\":false}");
}

static void retry_the_error(Session *s, Frame *f) {
    if (frame_position(f) == HOOK_ON_ERROR) {
        host_file("ok", "");
        assert_true(session_go(s, f, (SessionGo){.how = LET_RETRY}, &host.err));
    } else {
        go_on(s, f);
    }
}

static void a_recorded_failure_that_a_person_retries_is_done(void **state) {
    (void)state;
    host_run(FAILS, NULL);
    stops_on_errors = true;
    Again a = run_again_with(FAILS, FAILS, NULL, retry_the_error);
    stops_on_errors = false;
    assert_string_equal(a.status, "completed");
    expect_json(a.report, "{\"taken\":1,\"live\":1,\"missing\":[],\"more\":false}");
    again_clear(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_ALL(a_result_is_what_the_node_gave_back),
        TEST(what_went_through_a_reducer_is_what_was_put_to_it),
        TEST_ALL(a_branch_that_ends_leaves_what_its_last_node_gave_back),
        TEST(branches_of_the_beginning_have_a_name),
        TEST(an_element_gives_back_its_result),
        TEST(nodes_of_workflows_inside_have_their_own_places),
        TEST(the_turns_of_a_loop_are_counted),
        TEST(branches_after_nodes_that_hold_others_have_their_places),
        TEST(frames_of_a_node_that_is_come_to_again_are_told_apart),
        TEST(a_run_that_was_replayed_is_a_recording_too),
        TEST(a_failure_with_an_error_edge_has_its_error),
        TEST(a_failure_that_ended_the_run_ends_it_again),
        TEST(a_node_that_was_tried_again_is_as_it_ended),
        TEST(attempts_are_not_recorded_one_by_one),
        TEST(a_failure_that_is_taken_is_not_tried_again),
        TEST(an_error_that_a_node_around_takes_is_of_the_one_that_failed),
        TEST(an_error_that_a_map_takes_is_of_its_element),
        TEST(the_element_that_failed_is_told_from_those_that_were_ended),
        TEST(what_was_ended_is_not_mistaken_for_the_next_attempt),
        TEST_ALL(an_approval_is_answered_as_it_was),
        TEST(what_people_said_at_interrupts_is_taken),
        TEST(what_a_person_changed_while_it_was_stopped_is_taken),
        TEST(what_a_person_changed_after_it_is_taken),
        TEST(what_a_person_skipped_is_skipped),
        TEST(where_a_person_sent_a_frame_it_goes_again),
        TEST(a_node_that_a_person_sent_a_frame_back_to_is_come_to_once_more),
        TEST(where_a_node_is_no_more_a_frame_takes_the_edges),
        TEST(what_a_person_gave_instead_is_its_result),
        TEST(an_element_that_was_stopped_after_has_its_result),
        TEST(what_was_injected_before_a_node_is_part_of_it),
        TEST(what_ran_instead_of_a_node_is_its_result),
        TEST(what_ran_instead_of_a_pure_node_is_its_result),
        TEST(what_a_person_changed_before_a_node_that_holds_others_is_changed),
        TEST(what_a_person_changed_after_a_node_that_holds_others_is_changed),
        TEST(what_was_injected_after_a_node_goes_through_the_reducers),
        TEST(tasks_leave_variables_outputs_and_errors),
        TEST(a_failure_that_the_state_says_nothing_of_has_its_error),
        TEST(a_task_leaves_the_variables_that_it_set_itself),
        TEST(tasks_are_the_same_again),
        TEST(a_task_that_was_tried_again_is_as_it_ended),
        TEST(tasks_that_ran_together_leave_their_scopes),
        TEST(tasks_that_ran_together_are_the_same_again),
        TEST(what_was_ended_by_others_is_done_and_said_to_be_unfinished),
        TEST(cleanup_tasks_are_recorded_too),
        TEST(steps_of_a_pipeline_are_recorded),
        TEST(everything_is_live_from_a_node_on),
        TEST(a_node_in_another_frame_makes_all_live),
        TEST(a_task_is_named_by_its_id_too),
        TEST(an_unknown_node_to_be_live_from_is_refused_with_the_nearest),
        TEST(what_the_recording_lacks_is_done_and_reported),
        TEST(a_node_of_another_kind_is_done),
        TEST(a_history_without_its_beginning_is_refused),
        TEST(a_history_that_does_not_say_what_nodes_gave_back_is_refused),
        TEST(a_place_that_is_asked_for_again_is_the_same_execution),
        TEST(a_person_who_skips_a_turn_has_the_others_from_the_recording),
        TEST(a_node_that_a_person_edits_is_done),
        TEST(what_a_person_injects_runs_before_the_recorded_result_is_taken),
        TEST(a_recorded_failure_that_a_person_retries_is_done),
    };
    return RUN_TESTS(tests);
}
