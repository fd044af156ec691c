/* What kinds from outside are given: schemas, defaults, sentences; and where kinds are found. */
#include "flow_fixture.h"
#include "json_print.h"
#include "kind_inputs.h"
#include "kind_listing.h"

#define HEAD "kind: k\nnodes: [{name: n, jq: '{}'}]\ninputs: "

/* The kind of a file with these inputs. */
static Flow *kind_with(const char *inputs) {
    FlowProblems problems = {0};
    Buf text = BUF_INIT;
    buf_printf(&text, HEAD "%s\n", inputs);
    Flow *flow = try_files((const File[]){{"k.yaml", text.data}, {0}}, &problems);
    char *wrong = problems_text(&problems);
    if (!flow) fail_msg("%s", wrong);
    mem_free(wrong);
    flow_problems_clear(&problems);
    buf_clear(&text);
    return flow;
}

/* What comes of the inputs, or the sentence. */
static void gives(const char *inputs, const char *given, bool lenient, const char *want) {
    Flow *flow = kind_with(inputs);
    Error err = ERROR_INIT;
    Json value = json_parse(given, strlen(given), NULL, NULL);
    Json got = inputs_fill(flow->main->outside, value, lenient, &err);
    char *text = json_is_none(got) ? mem_strdup(err.msg) : json_to_text(got);
    const char *head = "The inputs of the kind `k` (k.yaml:3): ";
    bool headed = strncmp(text, head, strlen(head)) == 0;
    assert_string_equal(headed ? text + strlen(head) : text, want);
    mem_free(text);
    json_unref(got);
    json_unref(value);
    flow_unref(flow);
}

static void test_defaults(void **state) {
    (void)state;
    const char *inputs = "{properties: {a: {type: integer, default: 1}, b: {default: [x]}, c: {}}}";
    gives(inputs, "{}", false, "{\"a\":1,\"b\":[\"x\"]}");
    gives(inputs, "{\"c\":null,\"a\":2}", false, "{\"c\":null,\"a\":2,\"b\":[\"x\"]}");
    gives("{}", "{}", false, "{}");
}

static void test_words(void **state) {
    (void)state;
    static const struct {
        const char *schema, *given, *want;
    } cases[] = {
        {"{type: string}", "1", "`a` must be a string; it is 1."},
        {"{type: integer}", "1.5", "`a` must be an integer; it is 1.5."},
        {"{type: integer}", "2.0", NULL},
        {"{type: number}", "1.5", NULL},
        {"{type: [integer, 'null']}", "null", NULL},
        {"{type: [integer, 'null']}", "\"x\"", "`a` must be an integer or null; it is \"x\"."},
        {"{type: [array, object, boolean]}", "1",
         "`a` must be an array, an object or a boolean; it is 1."},
        {"{enum: [a, 1, [2]]}", "[2]", NULL},
        {"{enum: [a, 1, [2]]}", "\"b\"", "`a` must be one of \"a\", 1, [2]; it is \"b\"."},
        {"{minimum: 2, maximum: 3}", "1", "`a` must be at least 2; it is 1."},
        {"{minimum: 2, maximum: 3}", "3.5", "`a` must be at most 3; it is 3.5."},
        {"{minimum: 2}", "\"text\"", NULL},
        {"{minLength: 2}", "\"\xc3\xa4\"",
         "`a` must be at least 2 characters long; it is \"\xc3\xa4\"."},
        {"{maxItems: 1}", "[1,2]", "`a` must be at most 1 elements long; it is [1,2]."},
        {"{items: {properties: {p: {type: integer}}}}", "[{\"p\":1},{\"p\":\"x\"}]",
         "`a[1].p` must be an integer; it is \"x\"."},
        {"{properties: {p: {}}, additionalProperties: false}", "{\"q\":1}",
         "`q` is no key of `a`; did you mean `p`?"},
        {"{properties: {p: {}}}", "{\"q\":1}", NULL},
        {"{required: [p]}", "{}", "`a.p` is missing."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf inputs = BUF_INIT, given = BUF_INIT;
        buf_printf(&inputs, "{properties: {a: %s}}", cases[i].schema);
        buf_printf(&given, "{\"a\":%s}", cases[i].given);
        gives(inputs.data, given.data, false, cases[i].want ? cases[i].want : given.data);
        buf_clear(&inputs);
        buf_clear(&given);
    }
}

static void test_others(void **state) {
    (void)state;
    gives("{properties: {epochs: {}}}", "{\"epoch\":1}", false,
          "`epoch` is no input; did you mean `epochs`?");
    gives("{additionalProperties: false}", "{\"z\":1}", false, "`z` is no input.");
    gives("{additionalProperties: true}", "{\"z\":1}", false, "{\"z\":1}");
    gives("{properties: {a: {}}, required: [a]}", "{}", false, "`a` is missing.");
}

/* A text that reads as JSON of the type stands for it, where texts come from commands. */
static void test_lenient(void **state) {
    (void)state;
    const char *inputs = "{properties: {n: {type: integer}, s: {type: string}, a: {type: array}}}";
    gives(inputs, "{\"n\":\"5\",\"s\":\"5\",\"a\":\"[1]\"}", true,
          "{\"n\":5,\"s\":\"5\",\"a\":[1]}");
    gives(inputs, "{\"n\":\"5\"}", false, "`n` must be an integer; it is \"5\".");
    gives(inputs, "{\"n\":\"x\"}", true, "`n` must be an integer; it is \"x\".");
}

static void refuses(const char *text, const char *want) {
    FlowProblems problems = {0};
    Flow *flow = try_files((const File[]){{"k.yaml", text}, {0}}, &problems);
    char *wrong = problems_text(&problems);
    assert_null(flow);
    assert_string_equal(wrong, want);
    mem_free(wrong);
    flow_problems_clear(&problems);
}

static void test_bad_schemas(void **state) {
    (void)state;
    refuses(HEAD "[a]\n", "k.yaml:3:9: `inputs` must be a map (`key: value`).\n");
    refuses(HEAD "{type: array}\n", "k.yaml:3:16: The inputs are an object: `type: object`.\n");
    refuses(HEAD "{propertes: {}}\n",
            "k.yaml:3:10: `propertes` is no key of `inputs`; did you mean `properties`?\n");
    refuses(HEAD "{properties: {a: {default: 1, type: string}}}\n",
            "k.yaml:3:36: The default does not fit: `a` must be a string; it is 1.\n");
    refuses(HEAD "{properties: {a: {items: {default: 1}}}}\n",
            "k.yaml:3:35: `default` is no key of what is inside an input.\n");
    refuses(HEAD "{properties: {a: {minimum: x, minItems: -1, enum: []}}}\n",
            "k.yaml:3:36: `minimum` must be a number.\n"
            "k.yaml:3:49: `minItems` must be a whole number.\n"
            "k.yaml:3:59: `enum` must be a list of values.\n");
    refuses(HEAD "{required: [z]}\n",
            "k.yaml:3:21: `z` is required, but it is not among the `properties`.\n");
    refuses(
        "kind: k\ninputs: {properties: {tasks: {}}}\ntasks: [{name: sleep, config: {duration: 1s}}]\n",
        "k.yaml:2:23: An input cannot be called `tasks`: that is what the tasks themselves are.\n");
    refuses(
        "kind: other\nnodes: [{name: n, jq: '{}'}]\n",
        "k.yaml:1:7: A kind is found by the name of its file, so `other` has to be in `other.yaml`.\n");
}

/* A stored definition has the folders that were named, and finds the same files in them. */
static void test_definition(void **state) {
    (void)state;
    static const char *const folders[] = {"none", "lib"};
    FlowProblems problems = {0};
    Json files = json_object();
    files = json_object_with(files, "f", json_string_c("nodes: [{name: a, uses: k}]"));
    files = json_object_with(files, "lib/k.yaml",
                             json_string_c("kind: k\nsteps: [{id: s, type: l, config: {}}]"));
    files =
        json_object_with(files, "lib/l.yaml",
                         json_string_c("kind: l\ntasks: [{name: sleep, config: {duration: 1s}}]"));
    FlowFiles given = {files, "no"};
    FlowReader reader = flow_files_reader(&given);
    reader.kinds = folders;
    reader.nkinds = 2;
    Flow *flow = flow_load("f", &reader, &problems);
    assert_non_null(flow);
    assert_true(flow->has_tasks);
    const Node *node = &flow->main->nodes[0];
    assert_string_equal(node->kind->name, "k");
    assert_string_equal(node_inside(node, 0)->dialect, "pipeline");
    assert_false(node_is_leaf(node));
    Json definition = flow_definition(flow);
    Flow *again = flow_load_definition(definition, &problems);
    assert_non_null(again);
    assert_int_equal(again->ngraphs, flow->ngraphs);
    Json list = kinds_outside(folders, 2, &reader);
    assert_int_equal(json_array_len(list), 2);
    assert_string_equal(json_object_text(json_array_get(list, 1), "file"), "lib/l.yaml");
    json_unref(list);
    flow_unref(again);
    flow_unref(flow);
    json_unref(definition);
    json_unref(files);
    flow_problems_clear(&problems);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),    cmocka_unit_test(test_words),
        cmocka_unit_test(test_others),      cmocka_unit_test(test_lenient),
        cmocka_unit_test(test_bad_schemas), cmocka_unit_test(test_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
