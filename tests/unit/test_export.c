/* Runs as documents: out of one store, through text, into another. */
#include "engine_host.h"
#include "export.h"
#include "hooks.h"
#include "json_binary.h"
#include "json_diff.h"
#include "json_path.h"
#include "lineage.h"
#include "store_run.h"
#include "stored_flow.h"

static RunRow row_of(Store *s, const char *thread) {
    RunRow row = {0};
    Error err = ERROR_INIT;
    if (!store_find(s, thread, &row, &err)) fail_msg("%s", err.msg);
    return row;
}

static Json export_thread(const char *thread) {
    Json document = export_run(host.store, thread, &host.err);
    if (json_is_none(document)) fail_msg("%s", host.err.msg);
    return document;
}

/* As a file has it. */
static Json through_text(Json document) {
    char *text = json_to_text(document);
    Json back = parse(text);
    free(text);
    json_unref(document);
    return back;
}

static Store *other_store(const char *url) {
    Store *s = store_open(url, STORE_CREATE, &host.err);
    if (!s) fail_msg("%s", host.err.msg);
    return s;
}

static RunRow import_into(Store *s, Json document) {
    RunRow row = {0};
    Error err = ERROR_INIT;
    if (!export_import(s, document, &row, &err)) fail_msg("%s", err.msg);
    json_unref(document);
    return row;
}

static bool history_line(void *ctx, const Checkpoint *c) {
    buf_printf(ctx, "%lld<%lld %lld.%lld at %lld %s %s %d\n", (long long)c->seq,
               (long long)c->parent, (long long)c->step, (long long)c->frame, (long long)c->at,
               c->node, c->status, c->snapshot != NULL);
    return true;
}

static void expect_same_history(Store *a, int64_t x, Store *b, int64_t y) {
    Buf one = BUF_INIT, two = BUF_INIT;
    assert_true(store_history(a, x, 1, history_line, NULL, &one, &host.err));
    assert_true(store_history(b, y, 1, history_line, NULL, &two, &host.err));
    assert_string_equal(one.data, two.data);
    buf_clear(&one);
    buf_clear(&two);
}

static void expect_same_images(Store *a, int64_t x, Store *b, int64_t y, int64_t last) {
    for (int64_t seq = 1; seq <= last; seq++) {
        Json one = chain_image(a, x, seq, NULL, &host.err);
        Json two = chain_image(b, y, seq, NULL, &host.err);
        assert_true(json_equal(one, two));
        json_unref(one);
        json_unref(two);
    }
}

static void fail_on_problem(void *ctx, const char *thread, int64_t seq, const char *sentence) {
    (void)ctx;
    fail_msg("%s@%lld: %s", thread, (long long)seq, sentence);
}

static void expect_sound(Store *s) {
    CheckReport report;
    CheckHost check = {.problem = fail_on_problem};
    assert_true(chain_check(s, 0, &check, &report, &host.err));
}

#define BRANCHED                                                                       \
    "nodes:\n  - {name: s, jq: '{s: 1}'}\n  - {name: a, shell: 'echo 1', output: a}\n" \
    "  - {name: b, workflow: sub.yaml, output: b}\n"                                   \
    "  - {name: m, map: {over: '[1, 2.50, 3]', as: x}, do: {jq: '$x * 2'}}\n"          \
    "edges:\n  - {from: __start__, to: s}\n  - {from: s, to: [a, b], fan_in: m}\n"     \
    "  - {from: [a, b], to: m}\n  - {from: m, to: __end__}\n"

/* Branches, a sub-workflow, a map, and a second line from the middle. */
static void run_branched(void) {
    host_file("sub.yaml", "nodes: [{name: p, jq: '{p: 1.0}'}, {name: q, jq: '{q: \"ä\"}'}]\n");
    expect_run(host_run(BRANCHED, NULL), "completed", NULL);
    host_fresh();
    host_resume(&(RunResume){.thread = "t", .seq = 4});
    host_fresh();
}

static void round_trip(const char *url) {
    run_branched();
    RunRow from = row_of(host.store, "t");
    Store *s = other_store(url);
    RunRow to = import_into(s, through_text(export_thread("t")));
    assert_string_equal(to.thread, "t");
    assert_string_equal(to.status, "completed");
    assert_string_equal(to.workflow, from.workflow);
    assert_string_equal(to.definition, from.definition);
    assert_int_equal(to.head, from.head);
    assert_int_equal(to.last, from.last);
    assert_int_equal(to.updated, from.updated);
    assert_false(store_is_leased(s, to.run));
    expect_same_history(host.store, from.run, s, to.run);
    expect_same_images(host.store, from.run, s, to.run, from.last);
    expect_sound(s);
    run_row_clear(&from);
    run_row_clear(&to);
    store_close(s);
}

static void a_run_comes_back_as_it_was(void **state) {
    (void)state;
    round_trip("memory:");
}

static void a_run_comes_back_into_stores_that_last(void **state) {
    (void)state;
    round_trip(strcmp(host.url, "memory:") ? "memory:" : "sqlite:other.db");
}

static void a_run_comes_back_into_a_file_store(void **state) {
    (void)state;
    round_trip("file:others");
}

static void the_document_says_what_it_is(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{x: 1}'}]\n", NULL);
    host_fresh();
    Json d = export_thread("t"), keys = json_object_keys(d, false);
    expect_json(keys, "[\"pawl_export\", \"version\", \"exported_at\", \"thread\", \"workflow\","
                      "\"status\", \"head\", \"created\", \"updated\", \"definition\","
                      "\"definitions\", \"checkpoints\"]");
    expect_json(json_object_get_c(d, "pawl_export"), "1");
    expect_json(json_object_get_c(d, "thread"), "\"t\"");
    expect_json(json_object_get_c(d, "head"), "2");
    Json rows = json_object_get_c(d, "checkpoints"), row = json_array_get(rows, 1);
    assert_int_equal(json_array_len(rows), 2);
    assert_int_equal(json_array_len(row), 10);
    expect_json(json_array_get(row, 5), "\"a\"");
    expect_json(json_array_get(row, 6), "\"completed\"");
    expect_json(json_array_get(row, 8), "null");
    expect_json(json_array_get(row, 9), "[]");
    json_unref(keys);
    json_unref(d);
}

/* ---- what can be done with it then ---- */

static void an_imported_run_goes_on(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{x: 1}'}, {name: q, approval: {prompt: p}}, {name: b, jq: "
             "'{y: .x}'}]\n",
             NULL);
    host_fresh();
    Json document = through_text(export_thread("t"));
    document = json_object_with(document, "thread", json_string_c("u"));
    RunRow row = import_into(host.store, document);
    assert_string_equal(row.status, "interrupted");
    run_row_clear(&row);
    Run *run = host_resume(&(RunResume){.thread = "u", .decision = "approved"});
    assert_string_equal(run_status(run), "completed");
    host_fresh();
    expect_row("t", "interrupted");
    run = host_resume(&(RunResume){.thread = "u", .seq = 2, .decision = NULL});
    assert_string_equal(run_status(run), "interrupted");
}

static void a_workflow_that_was_taken_later_comes_along(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{x: 1}'}, {name: b, jq: error(\"no\")}]\n", NULL);
    host_fresh();
    Flow *mended = host_flow("nodes: [{name: a, jq: '{x: 1}'}, {name: b, jq: '{y: 1}'}]\n");
    host_resume(&(RunResume){.thread = "t", .reload = mended});
    flow_unref(mended);
    host_fresh();
    Json document = through_text(export_thread("t"));
    assert_int_equal(json_object_len(json_object_get_c(document, "definitions")), 2);
    Store *s = other_store("memory:");
    RunRow row = import_into(s, document);
    Json image = chain_image(s, row.run, row.head, NULL, &host.err);
    Flow *flow = stored_flow(s, &row, image, &host.err);
    assert_non_null(flow);
    flow_unref(flow);
    json_unref(image);
    run_row_clear(&row);
    store_close(s);
}

static void a_pruned_run_can_be_exported(void **state) {
    (void)state;
    run_branched();
    RunRow row = row_of(host.store, "t");
    PruneReport report = {0};
    assert_true(chain_prune(host.store, &row, &(PruneRule){.keep_last = 4}, &report, &host.err));
    assert_true(report.removed > 0);
    run_row_clear(&row);
    Store *s = other_store("memory:");
    row = import_into(s, through_text(export_thread("t")));
    expect_sound(s);
    run_row_clear(&row);
    store_close(s);
}

static void a_run_is_found_by_its_thread_whatever_it_is_called(void **state) {
    (void)state;
    host_start("nodes: [{name: a, jq: '{x: 1}'}]\n", "2.", NULL);
    host_go();
    host_fresh();
    host_start("nodes: [{name: b, jq: '{x: 2}'}]\n", "other", NULL);
    host_go();
    host_fresh();
    Json document = export_thread("2.");
    expect_json(json_object_get_c(document, "thread"), "\"2.\"");
    json_unref(document);
    expect_gives(export_run(host.store, "77", &host.err), "(none)");
    expect_contains(host.err.msg, "77");
}

static void a_run_without_a_checkpoint_has_nothing_to_export(void **state) {
    (void)state;
    RunRow row = {0};
    assert_true(store_create_run(host.store, "t", "w", "none", &row, &host.err));
    expect_gives(export_run(host.store, "t", &host.err), "(none)");
    expect_contains(host.err.msg, "nothing to export");
    run_row_clear(&row);
}

/* Who started a run is of the store that it was started in: no document says it, and none is believed. */
static void who_started_a_run_stays_at_home(void **state) {
    (void)state;
    host_file("sub.yaml", "nodes: [{name: p, jq: '{p: 1.0}'}, {name: q, jq: '{q: 1}'}]\n");
    Flow *flow = host_flow(BRANCHED);
    Run *run =
        engine_start_now(host.engine, flow, &(RunStart){.thread = "t", .by = "ann"}, &host.err);
    assert_non_null(run);
    flow_unref(flow);
    host_go();
    host_fresh();
    RunRow row = row_of(host.store, "t");
    Json image = chain_image(host.store, row.run, row.head, NULL, &host.err);
    expect_json(json_array_get(json_array_get(image, IMAGE_RUN), IMAGE_STARTER), "\"ann\"");
    json_unref(image);
    for (int pruned = 0; pruned < 2; pruned++) {
        PruneReport report = {0};
        assert_true(!pruned || chain_prune(host.store, &row, &(PruneRule){.keep_last = 4}, &report,
                                           &host.err));
        Json document = through_text(export_thread("t"));
        char *text = json_to_text(json_object_get_c(document, "checkpoints"));
        if (strstr(text, "null,\"ann\"]")) fail_msg("%s", text);
        free(text);
        Store *s = other_store("memory:");
        RunRow to = import_into(s, document);
        expect_sound(s);
        run_row_clear(&to);
        store_close(s);
    }
    run_row_clear(&row);
}

/* ---- what is no export ---- */

static bool has_run(void *ctx, const RunRow *row) {
    (void)row;
    *(bool *)ctx = true;
    return false;
}

/* Consumes the document. */
static void expect_refused(Store *s, Json document, const char *part) {
    RunRow row = {0};
    Error err = ERROR_INIT;
    bool any = false;
    assert_false(export_import(s, document, &row, &err));
    expect_contains(err.msg, part);
    size_t len = strlen(err.msg);
    if (err.msg[len - 1] != '.') fail_msg("no sentence: %s", err.msg);
    assert_true(store_runs(s, has_run, &any, &err));
    assert_false(any);
    json_unref(document);
}

static void what_is_no_export_is_refused_with_a_sentence(void **state) {
    (void)state;
    static const struct {
        const char *path, *value, *part;
    } rows[] = {
        {"[]", "null", "not an export"},
        {"[]", "[]", "not an export"},
        {"[]", "{}", "not an export"},
        {"[\"pawl_export\"]", "2", "format 2"},
        {"[\"pawl_export\"]", "\"1\"", "not an export"},
        {"[\"version\"]", "1", "`version`"},
        {"[\"exported_at\"]", "\"x\"", "`exported_at`"},
        {"[\"thread\"]", "5", "`thread`"},
        {"[\"thread\"]", "\"5\"", "a number names the run"},
        {"[\"thread\"]", "\"a\\u0000b\"", "`thread`"},
        {"[\"thread\"]", "\"\"", "thread"},
        {"[\"workflow\"]", "null", "`workflow`"},
        {"[\"status\"]", "\"odd\"", "cannot be `odd`"},
        {"[\"head\"]", "1.5", "`head`"},
        {"[\"head\"]", "99", "stands at checkpoint 99"},
        {"[\"created\"]", "null", "`created`"},
        {"[\"updated\"]", "[]", "`updated`"},
        {"[\"definition\"]", "\"x\"", "its workflow is not in it"},
        {"[\"definitions\"]", "[]", "its workflow is not in it"},
        {"[\"definitions\", \"more\"]", "7", "it is none"},
        {"[\"definitions\", \"more\"]", "{\"main\": \"x\", \"files\": {\"x\": \"nodes: 1\"}}",
         "does not load here"},
        {"[\"definitions\", \"more\"]",
         "{\"main\": \"x\", \"files\": {\"x\": \"nodes: [{name: a, jq: .}]\"}}",
         "not the one that it was"},
        {"[\"checkpoints\"]", "{}", "no checkpoints"},
        {"[\"checkpoints\"]", "[]", "no checkpoints"},
        {"[\"checkpoints\", 1]", "5", "item 1"},
        {"[\"checkpoints\", 1]", "[1, 2]", "item 1"},
        {"[\"checkpoints\", 1, 0]", "\"2\"", "item 1"},
        {"[\"checkpoints\", 1, 0]", "1", "checkpoint 1 does not have a number that is higher"},
        {"[\"checkpoints\", 0, 0]", "0", "checkpoint 0 does not have a number that is higher"},
        {"[\"checkpoints\", 0, 0]", "-4", "checkpoint -4 does not"},
        {"[\"checkpoints\", 1, 1]", "2", "has a parent that is not one of those before"},
        {"[\"checkpoints\", 1, 1]", "-1", "has a parent that is not one of those before"},
        {"[\"checkpoints\", 1, 0]", "5", "checkpoint 3 does not"},
        {"[\"checkpoints\", 0, 1]", "1", "has a parent that is not one of those before"},
        {"[\"checkpoints\", 1, 3]", "-1", "below zero"},
        {"[\"checkpoints\", 1, 5]", "null", "not a text"},
        {"[\"checkpoints\", 1, 6]", "\"a\\u0000\"", "not a text"},
        {"[\"checkpoints\", 1, 7]", "5", "checkpoint 2"},
        {"[\"checkpoints\", 1, 7]", "[5]", "checkpoint 2"},
        {"[\"checkpoints\", 1, 7]", "[[[7, 7], 5]]", "checkpoint 2"},
        {"[\"checkpoints\", 1, 7]", "[[[], 5]]", "does not hold a run"},
        {"[\"checkpoints\", 1, 7]", "[[[1, \"1\"]]]", "does not hold a run"},
        {"[\"checkpoints\", 1, 7]", "[[[1, \"1\", 2, 0, 1], 5]]", "does not hold a run"},
        {"[\"checkpoints\", 1, 7]", "[[[1, \"2\"], []]]", "does not hold a run"},
        {"[\"checkpoints\", 1, 7]", "[[[0], []]]", "does not hold a run"},
        {"[\"checkpoints\", 1, 7]", "[[[1], null]]", "does not hold a run"},
        {"[\"checkpoints\", 1, 7]", "[[[0, 5], \"odd\"]]", "a workflow that is not in it"},
        {"[\"checkpoints\", 1, 7]",
         "[[[0], [null, null, 2, \"autonomous\", 0, null, null, null, null, null, null, \"eve\"]]]",
         "says who started the run"},
        {"[\"checkpoints\", 1, 8]", "{}", "not what its change makes"},
    };
    host_run("nodes: [{name: a, jq: '{x: 1}'}, {name: b, jq: '{y: 1}'}]\n", NULL);
    host_fresh();
    Json document = through_text(export_thread("t"));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Store *s = other_store("memory:");
        Json path = parse(rows[i].path), value = parse(rows[i].value);
        Json changed = json_path_set(json_ref(document), path, value, NULL);
        assert_false(json_is_none(changed));
        expect_refused(s, changed, rows[i].part);
        json_unref(path);
        store_close(s);
    }
    json_unref(document);
}

static void a_run_that_waits_for_branches_that_are_gone_is_refused(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{x: 1}'}, {name: q, approval: {prompt: p}}]\n"
             "edges: [{from: __start__, to: [a, q]}]\n",
             NULL);
    host_fresh();
    Json document = through_text(export_thread("t"));
    Json checkpoints = json_object_get_c(document, "checkpoints");
    Json last[] = {json_string_c("checkpoints"), json_int((int64_t)json_array_len(checkpoints) - 1),
                   json_int(7)};
    Json path = json_array_from(last, 3), gone = parse("[[[1, \"3\"]]]");
    Json patch = json_array_concat(json_path_get(document, path, NULL), gone);
    document = json_path_set(document, path, patch, NULL);
    document = json_object_with(document, "thread", json_string_c("u"));
    RunRow row = import_into(host.store, document);
    assert_null(engine_open_now(host.engine, "u", json_object(), &host.err));
    assert_string_equal(host.err.msg, "Frame 1 waits for branches that are not there.");
    run_row_clear(&row);
    json_unref(path);
}

/* Each change doubles the image, which costs nothing to write. */
static void an_image_that_grows_without_end_is_refused(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{x: [1], y: [1]}'}]\n", NULL);
    host_fresh();
    Json document = through_text(export_thread("t"));
    Json once = parse("[[[1, \"1\", 2, 0, 1, \"x\"], [1, 2]],"
                      "[[1, \"1\", 2, 0, 1, \"x\", 0], \"copy\", [1, \"1\", 2, 0, 1, \"y\"]],"
                      "[[1, \"1\", 2, 0, 1, \"x\", 1], \"copy\", [1, \"1\", 2, 0, 1, \"y\"]],"
                      "[[1, \"1\", 2, 0, 1, \"y\"], \"copy\", [1, \"1\", 2, 0, 1, \"x\"]]]");
    Json path = parse("[\"checkpoints\", 1, 7]");
    Json patch = json_ref(json_path_get(document, path, NULL)), was = patch;
    for (int i = 0; i < 60; i++) patch = json_array_concat(patch, json_ref(once));
    document = json_path_set(document, path, patch, NULL);
    Store *s = other_store("memory:");
    expect_refused(s, document, "MB");
    store_close(s);
    json_unref(was);
    json_unref(once);
    json_unref(path);
}

static void a_thread_that_is_there_stays_as_it_is(void **state) {
    (void)state;
    host_run("nodes: [{name: a, jq: '{x: 1}'}]\n", NULL);
    host_fresh();
    RunRow row = {0};
    Json document = export_thread("t");
    assert_false(export_import(host.store, document, &row, &host.err));
    expect_contains(host.err.msg, "already");
    json_unref(document);
    expect_sound_store();
}

/* ---- length ---- */

static void a_hundred_thousand_checkpoints_go_there_and_back(void **state) {
    (void)state;
    enum { ROUND = 500, ROUNDS = 200 };
    host_run("nodes: [{name: a, jq: '{x: 1}'}]\n", NULL);
    host_fresh();
    Json document = through_text(export_thread("t"));
    Json rows = json_ref(json_object_get_c(document, "checkpoints"));
    Json last = json_ref(json_array_get(rows, 1));
    for (int64_t seq = 3; seq <= (int64_t)ROUND * ROUNDS; seq++) {
        Json row = json_array_set(json_ref(last), 0, json_int(seq));
        row = json_array_set(row, 1, json_int(seq % ROUND ? seq - 1 : seq / 2)); /* forks */
        row = json_array_set(row, 8, json_null());
        Json patch = parse("[[[1, \"1\", 2, 0, 1, \"n\"], 0]]");
        Json change = json_array_set(json_ref(json_array_get(patch, 0)), 1, json_int(seq));
        rows = json_array_push(rows, json_array_set(row, 7, json_array_set(patch, 0, change)));
    }
    document = json_object_with(document, "checkpoints", rows);
    json_unref(last);
    Store *s = other_store("memory:");
    uint64_t begin = uv_hrtime();
    RunRow row = import_into(s, document);
    uint64_t in = uv_hrtime() - begin;
    Json again = export_run(s, row.thread, &host.err);
    assert_int_equal(json_array_len(json_object_get_c(again, "checkpoints")), ROUND * ROUNDS);
    print_message("# in %d ms, out %d ms\n", (int)(in / 1000000),
                  (int)((uv_hrtime() - begin - in) / 1000000));
    json_unref(again);
    run_row_clear(&row);
    store_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_ALL(a_run_comes_back_as_it_was),
        TEST(a_run_comes_back_into_stores_that_last),
        TEST(a_run_comes_back_into_a_file_store),
        TEST(the_document_says_what_it_is),
        TEST_ALL(an_imported_run_goes_on),
        TEST(a_workflow_that_was_taken_later_comes_along),
        TEST_ALL(a_pruned_run_can_be_exported),
        TEST_ALL(who_started_a_run_stays_at_home),
        TEST(a_run_is_found_by_its_thread_whatever_it_is_called),
        TEST(a_run_without_a_checkpoint_has_nothing_to_export),
        TEST(what_is_no_export_is_refused_with_a_sentence),
        TEST(a_run_that_waits_for_branches_that_are_gone_is_refused),
        TEST(an_image_that_grows_without_end_is_refused),
        TEST_ALL(a_thread_that_is_there_stays_as_it_is),
        TEST(a_hundred_thousand_checkpoints_go_there_and_back),
    };
    return RUN_TESTS(tests);
}
