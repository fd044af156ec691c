/* What assistants are told: the rows of tools against the table of operations, answers that are cut, and headers. */
#include "json_test.h"
#include "mcp_headers.h"
#include "mcp_rpc.h"
#include "mcp_shrink.h"
#include "mcp_tools.h"
#include "mem.h"

static bool has_arg(const Operation *op, const char *name, size_t len) {
    for (const OperationArg *a = op->args; a && a->name; a++) {
        if (strlen(a->name) == len && !strncmp(a->name, name, len)) return true;
    }
    return len == 6 && !strncmp(name, "thread", len) && operation_is_of_run(op);
}

/* A row that names what there is not would be a tool without an argument. */
static void rows_point_into_the_table_of_operations(void **state) {
    (void)state;
    for (const McpTool *t = mcp_tools; t->name; t++) {
        const Operation *op = t->operation ? operation_find(t->operation, NULL) : NULL;
        assert_true(!t->operation || op);
        assert_true(op || t->call);
        assert_true(t->about && t->title && t->answer && t->group);
        for (const char *at = t->takes ? t->takes : ""; *at;) {
            size_t len = strcspn(at, " ");
            if (!op || !has_arg(op, at, len)) fail_msg("%s takes %.*s", t->name, (int)len, at);
            at += len + strspn(at + len, " ");
        }
        /* who may call it may also ask for what it asks for */
        if (op && !t->call) assert_true(t->scope >= op->scope);
        assert_true(t->changes || t->scope == SCOPE_READ);
        assert_true(!t->destroys || t->changes);
    }
}

/* A tool that reads on has to take what `cut` says. */
static void tools_that_read_on_take_a_path(void **state) {
    (void)state;
    for (const McpTool *t = mcp_tools; t->name; t++) {
        const McpTool *reader = mcp_tools;
        if (!t->reader) continue;
        while (reader->name && strcmp(reader->name, t->reader) != 0) reader++;
        assert_non_null(reader->name);
        bool takes = reader->takes && strstr(reader->takes, "path");
        for (const OperationArg *a = reader->own; a && a->name; a++)
            takes |= !strcmp(a->name, "path");
        assert_true(takes);
    }
}

/* However large it is: some step fits, and what is kept is of the type that it was. */
static void large_values_are_cut_until_they_fit(void **state) {
    (void)state;
    Json list = json_array(), object = json_object();
    char text[4001];
    memset(text, 'x', 4000);
    text[4000] = '\0';
    for (int i = 0; i < 2000; i++) list = json_array_push(list, json_string_c(text));
    for (int i = 0; i < 500; i++) {
        snprintf(text, sizeof text, "key %d", i);
        object = json_object_with(object, text, json_ref(list));
    }
    json_unref(list);
    size_t before = SIZE_MAX;
    bool fitted = false;
    for (int step = 0; step < SHRINK_STEPS; step++) {
        Json cuts, kept = shrink_value(object, step, 25000, &cuts);
        if (!json_is_none(kept)) {
            char *printed = json_to_text(kept);
            assert_int_equal(json_kind(kept), JSON_OBJECT);
            assert_true(json_array_len(cuts) > 0 && json_array_len(cuts) <= SHRINK_CUTS_MAX);
            assert_true(strlen(printed) <= before);
            before = strlen(printed);
            fitted |= before <= 25000;
            mem_free(printed);
            json_unref(cuts);
        }
        json_unref(kept);
    }
    assert_true(fitted);
    json_unref(object);
}

static void texts_are_cut_between_characters(void **state) {
    static const char text[] = "ab\xe2\x82\xac\xe2\x82\xac";
    static const size_t kept[] = {0, 1, 2, 2, 2, 5, 5, 5, 8, 8};
    (void)state;
    for (size_t max = 0; max < sizeof kept / sizeof *kept; max++) {
        assert_int_equal(shrink_text(text, 8, max), kept[max]);
    }
}

static void headers_say_what_the_body_says(void **state) {
    static const char call[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a b\","
        "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}";
    static const struct {
        McpHeaders headers;
        bool match;
    } rows[] = {
        {{"2026-07-28", "tools/call", "a b"}, true},
        {{"2026-07-28", "tools/call", "=?base64?YSBi?="}, true},
        {{"2026-07-28", "tools/call", "=?base64?YSBi"}, false},
        {{"2026-07-28", "tools/call", "=?base64?YSB?="}, false},
        {{"2026-07-28", "tools/call", "=?base64?====?="}, false},
        {{"2026-07-28", "tools/call",
          "=?base64?"
          "?="},
         false},
        {{"2026-07-28", "tools/call", "=?base64?="}, false},
        {{"2026-07-28", "tools/call", "A B"}, false},
        {{"2026-07-28", "tools/call", NULL}, false},
        {{"2026-07-28", "tools/list", "a b"}, false},
        {{"2026-07-28", NULL, "a b"}, false},
        {{"2025-11-25", "tools/call", "a b"}, false},
        {{NULL, "tools/call", "a b"}, false},
    };
    (void)state;
    Json message = parse(call);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Error err = ERROR_INIT;
        bool match = mcp_headers_match(&rows[i].headers, message, &err);
        if (match != rows[i].match) fail_msg("row %zu: %s", i, err.msg);
        assert_true(match || err.msg[0]);
    }
    json_unref(message);
}

static void ids_are_texts_and_whole_numbers(void **state) {
    static const struct {
        const char *message;
        bool fine;
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":-9007199254740991,\"method\":\"m\"}", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"m\"}", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"m\"}", true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1e300,\"method\":\"m\"}", false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"m\"}", false},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", false},
        {"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"m\"}", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        RpcMessage read;
        Error err = ERROR_INIT;
        Json message = parse(rows[i].message);
        if (rpc_read(message, &read, &err) != rows[i].fine) fail_msg("%s", rows[i].message);
        json_unref(message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(rows_point_into_the_table_of_operations),
        JSON_TEST(tools_that_read_on_take_a_path),
        JSON_TEST(large_values_are_cut_until_they_fit),
        JSON_TEST(texts_are_cut_between_characters),
        JSON_TEST(headers_say_what_the_body_says),
        JSON_TEST(ids_are_texts_and_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
