/* Workflows that do not load: each problem with its place and its sentence. */
#include "flow_fixture.h"

#define KINDS                                                                               \
    "jq, lua, shell, python, javascript, http, action, sleep, approval, workflow, map and " \
    "while"

/* ---- text ---- */

static bool serve_nul(void *ctx, const char *path, Buf *out, Error *err) {
    (void)ctx, (void)path, (void)err;
    buf_add(out, "a: \0b\n", 6);
    return true;
}

static void text_that_is_no_yaml_has_a_place(void **state) {
    (void)state;
    static const Case cases[] = {
        {"nodes:\n\t- name: a\n",
         "2:1: A tab stands where YAML indents; indent with spaces only.\n"},
        {"nodes:\n  - name: a\n\tjq: .\n",
         "3:1: A tab stands where YAML indents; indent with spaces only.\n"},
        {"nodes: [1,\n", "2:1: This is not YAML: did not find expected node content.\n"},
        {"a: \"\\q\"\n", "1:5: This is not YAML: invalid escape 'q' in double-quoted string.\n"},
        {"", "1:1: The file is empty.\n"},
        {"# nothing\n", "1:1: The file is empty.\n"},
        {"[1]", "1:1: A workflow file must be a map (`key: value`).\n"},
        {"nodes: [{name: a, jq: .}]\n---\nnodes: []\n",
         "2:1: A second document starts here; a workflow file holds one document.\n"},
        {"a: é \xFF\n", "1:6: This is not UTF-8 text; save the file as UTF-8.\n"},
        {"a: \x01\n", "1:4: The control character U+0001 cannot stand in YAML; remove it, or write "
                      "it as an escape in double quotes.\n"},
        {"# x\n%YAML 1.2\n%TAG ! x\n---\na: 1\n",
         "3:1: No directive but %YAML can be used here.\n"},
        {"nodes: !x [1]", "1:11: The only tag that can be used here is !!str.\n"},
        {"nodes: [{name: a, jq: ., <<: {}}]",
         "1:26: Merge keys (`<<`) are not part of YAML 1.2; write the keys out.\n"},
        {"? [a]\n: 1\n", "1:3: A key must be a word or a text, not a list or a map.\n"},
        {"a: *b\n", "1:4: There is no anchor `&b` before this.\n"},
        {"a: &a [*a]\n", "1:8: This alias is inside of what it stands for.\n"},
    };
    RUN(cases);
    FlowProblems problems = {0};
    FlowReader reader = {.read = serve_nul};
    expect_problems(flow_load("f", &reader, &problems), &problems,
                    "1:4: The control character U+0000 cannot stand in YAML; remove it, or write "
                    "it as an escape in double quotes.\n");
}

static void repeated_keys_are_found_in_small_and_large_maps(void **state) {
    (void)state;
    expect("nodes: [{name: a, jq: ., jq: .}]\n",
           "1:26: `jq` is here a second time; the first is in line 1.\n");
    expect("state: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1, j: 1,\n c: 2, j: 3}\n"
           "nodes: [{name: a, jq: .}]\n",
           "2:2: `c` is here a second time; the first is in line 1.\n"
           "2:8: `j` is here a second time; the first is in line 1.\n");
}

static void an_anchor_bomb_is_refused(void **state) {
    (void)state;
    expect(
        "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
        "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
        "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
        "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
        "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
        "f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
        "5:29: The workflow has more than 100000 values (aliases followed); that is the limit.\n");
}

static void deep_nesting_is_refused_with_and_without_aliases(void **state) {
    (void)state;
    Buf text = BUF_INIT;
    for (int i = 0; i < 600; i++) {
        buf_addc(&text, '[');
    }
    expect(text.data, "1:401: This is nested more than 400 levels deep.\n");
    buf_reset(&text);
    buf_adds(&text, "a0: &a0 []\n");
    for (int i = 1; i < 450; i++) {
        buf_printf(&text, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    }
    expect(text.data, "401:14: With this alias the file is nested too deeply.\n");
    buf_clear(&text);
}

/* ---- the top ---- */

static void a_file_needs_nodes_and_knows_its_keys(void **state) {
    (void)state;
    static const Case cases[] = {
        {"nodez: []\n",
         "1:1: `nodez` is no key of a workflow; did you mean `nodes`?\n"
         "1:1: A workflow needs `nodes`, `tasks` or `steps`: the list of what it does.\n"},
        {"nodes: []\n", "1:8: There are no nodes; a workflow has at least one.\n"},
        {"nodes: x\n", "1:8: The nodes must be a list (`- name: ...`).\n"},
        {"nodes: [x]\n", "1:9: A node must be a map (`key: value`).\n"},
        {"taskz: []\n", "1:1: `taskz` is no key of a workflow; did you mean `tasks`?\n"
                        "1:1: A workflow needs `nodes`, `tasks` or `steps`: the list of what it "
                        "does.\n"},
        {"steps: []\nnodes: []\ntasks: []\n",
         "3:1: A file has either `nodes` (a graph), `tasks` (a test) or `steps` (a pipeline), but "
         "this one has `nodes` and `tasks`; make it two files.\n"},
        {"name: [x]\nxyzzy: 1\nnodes: [{name: a, jq: .}]\n",
         "1:7: `name` must be a text.\n2:1: `xyzzy` is no key of a workflow.\n"},
    };
    RUN(cases);
}

static void state_and_config_are_checked(void **state) {
    (void)state;
    static const Case cases[] = {
        {"state: 5\nnodes: [{name: a, jq: .}]\n", "1:8: `state` must be a map (`key: value`).\n"},
        {"state:\n  a: {reduce: apend}\n  b: {reduce: $old +}\n  c: {reduce: [1]}\n"
         "nodes: [{name: a, jq: .}]\n",
         "2:15: There is no reducer `apend`; did you mean `append`?\n"
         "3:21: Unexpected end of the expression.\n"
         "4:15: `reduce` must be replace, append, add, merge, union or an expression over $old and "
         "$new.\n"},
        {"state:\n  a: {default: [], reducer: append}\n  b: {reducer: add}\n  c: {reduce: add, x: 1}\n"
         "  d: {reducer: of things}\n  e: {reducer: add, x: 1}\nnodes: [{name: a, jq: .}]\n",
         "2:20: `reducer` is no key of a declaration, which has `default` and `reduce`; did you mean `reduce`?\n"
         "3:7: `reducer` is no key of a declaration, which has `default` and `reduce`; did you mean `reduce`?\n"
         "4:20: `x` is no key of a declaration, which has `default` and `reduce`.\n"},
        {"config:\n  intrrupt_before: [a]\n  interrupt_after: [aa, b]\n  checkpointer: postgres\n"
         "  timeout: soon\n  recursion_limit: 0\nnodes: [{name: a, jq: .}]\n",
         "2:3: `intrrupt_before` is no key of `config`; did you mean `interrupt_before`?\n"
         "3:21: There is no node `aa`; did you mean `a`?\n"
         "3:25: There is no node `b`; did you mean `a`?\n"
         "4:17: `checkpointer: postgres` is not part of this build; use memory, file or sqlite.\n"
         "5:12: `timeout` must be a length of time such as 250ms, 90s or 1h30m, not `soon`.\n"
         "6:20: `recursion_limit` must be a whole number from 1 to 1000000000.\n"},
        {"config: {mode: interactiv}\nnodes: [{name: a, jq: .}]\n",
         "1:16: `mode` must be autonomous or interactive, not `interactiv`; did you mean "
         "`interactive`?\n"},
        {"config: {checkpointer: sqlit}\nnodes: [{name: a, jq: .}]\n",
         "1:24: `checkpointer` must be memory, file or sqlite, not `sqlit`; did you mean "
         "`sqlite`?\n"},
    };
    RUN(cases);
}

/* ---- nodes ---- */

static void names_are_checked(void **state) {
    (void)state;
    static const Case cases[] = {
        {"nodes:\n- jq: .\n", "2:3: A node needs a name: `name: build`.\n"},
        {"nodes:\n- {name: a, jq: .}\n- {name: a, jq: .}\n",
         "3:10: There is another node `a`, in line 2; names must be unique.\n"},
        {"nodes: [{name: __end__, jq: .}]\n",
         "1:16: `__end__` is where every graph starts or ends; give this node another name.\n"},
        {"nodes: [{name: a b, jq: .}]\n",
         "1:16: The name of a node is made of letters, digits, `_`, `.` and `-`, up to 200 of them; "
         "`a b` is not.\n"},
        {"nodes: [{name: , jq: .}]\n", "1:14: `name` must be a text.\n"},
    };
    RUN(cases);
}

static void a_node_has_one_kind_that_there_is(void **state) {
    (void)state;
    static const Case cases[] = {
        {"nodes:\n- name: a\n  shel: make\n",
         "3:3: There is no kind of node `shel`; the kinds are " KINDS "; did you mean `shell`?\n"},
        {"nodes:\n- name: a\n  agent: x\n",
         "3:3: There is no kind of node `agent`; the kinds are " KINDS ".\n"},
        {"nodes:\n- name: a\n  output: x\n",
         "2:3: This node does not say what it does; give it a key that is one of the kinds " KINDS
         ".\n"},
        {"nodes:\n- name: a\n  jq: .\n  shell: make\n",
         "4:3: A node does one thing, but this one has `jq` and `shell`; make it two nodes.\n"},
        {"nodes: [{name: a, uses: shel, with: {x: 1}}]\n",
         "1:25: There is no kind `shel`; the kinds are " KINDS "; did you mean `shell`?\n"},
        {"nodes: [{name: a, uses: shell, with: {shell: x, evn: 1}, cwd: /}]\n",
         "1:49: `evn` is no key of a shell node; did you mean `env`?\n"
         "1:58: `cwd` is no key of a shell node.\n"},
        {"nodes: [{name: a, run: return 1, language: luaa}]\n",
         "1:44: There is no language `luaa`; the languages are python, javascript, lua, jq and "
         "shell; did you mean `lua`?\n"},
        {"nodes: [{name: a, jq: ., language: lua, with: {}}]\n",
         "1:26: `language` goes with `run`, which is not here.\n"
         "1:41: `with` goes with `uses`, which is not here.\n"},
    };
    RUN(cases);
}

static void code_is_here_or_in_a_file(void **state) {
    (void)state;
    static const Case cases[] = {
        {"nodes:\n- name: a\n  uses: python\n",
         "3:3: A python node needs code (`python`), or a `file` with a function for it.\n"},
        {"nodes:\n- name: a\n  run: {env: {A: 1}}\n  language: javascript\n",
         "3:3: A javascript node needs code (`javascript`), or a `file` with a function for it.\n"},
        {"nodes:\n- name: a\n  run: return 1\n  file: x.py\n",
         "4:3: There is both code and a `file` here; a node runs one of them.\n"},
        {"nodes:\n- name: a\n  run: return 1\n  function: f\n",
         "4:3: `function` goes with `file`, which is not here.\n"},
        {"nodes:\n- name: a\n  python: {fiel: x.py}\n",
         "3:3: A python node needs code (`python`), or a `file` with a function for it.\n"
         "3:12: `fiel` is no key of a python node; did you mean `file`?\n"},
    };
    RUN(cases);
}

static void an_action_asks_somebody(void **state) {
    (void)state;
    static const Case cases[] = {
        {"nodes:\n- name: a\n  action: x\n  model: m\n",
         "4:3: `model` needs an `endpoint`: the URL of the API that has the model.\n"},
        {"nodes:\n- name: a\n  action: x\n  endpoint: m\n",
         "4:3: `endpoint` needs a `model`: the name of the one to ask.\n"},
        {"nodes:\n- name: a\n  action: {prompt: x, command: ask, model: m, endpoint: u}\n",
         "3:37: There is both a `command` and a `model` here; an action asks one of them.\n"},
        {"nodes:\n- name: a\n  action: x\n  mode: autonomous\n",
         "4:9: Nobody answers this without a person: give it a `command`, or a `model` with its "
         "`endpoint`.\n"},
        {"nodes:\n- name: a\n  action: x\n  system: be nice\n  env: {A: .}\n  stream: false\n",
         "5:3: warning: `env` does nothing without `command`, which is not here.\n"
         "6:3: warning: `stream` does nothing without `model`, which is not here.\n"},
        {"nodes:\n- name: a\n  action: x\n  confirm: $respones\n",
         "4:12: $respones is not defined.\n"},
    };
    RUN(cases);
}

static void hidden_kinds_are_not_offered(void **state) {
    (void)state;
    static const Case cases[] = {
        {"nodes:\n- name: a\n  callbac: x\n",
         "3:3: There is no kind of node `callbac`; the kinds are " KINDS ".\n"},
        {"nodes: [{name: a, uses: callbac}]\n",
         "1:25: There is no kind `callbac`; the kinds are " KINDS ".\n"},
        {"nodes:\n- name: a\n  jq: .\n  callbac: 1\n", "4:3: `callbac` is no key of a jq node.\n"},
        {"nodes:\n- name: a\n  run_shell: ls\n",
         "3:3: There is no kind of node `run_shell`; the kinds are " KINDS ".\n"},
    };
    RUN(cases);
}

static void statuses_counts_and_words_are_checked(void **state) {
    (void)state;
    static const Case cases[] = {
        {"nodes:\n- name: a\n  http: 'http://x/'\n  expect: [200, 99]\n  redirects: -1\n"
         "  insecure: yes\n  method: GETT\n",
         "4:17: `expect` must be an HTTP status, or a list of them, from 100 to 599.\n"
         "5:14: `redirects` must be a whole number from 0 to 1000000000.\n"
         "6:13: `insecure` must be true or false.\n"
         "7:11: `method` must be one of: GET POST PUT PATCH DELETE HEAD OPTIONS.\n"},
        {"nodes:\n- name: a\n  http: 'http://x/'\n  expect: []\n",
         "4:11: `expect` must be an HTTP status, or a list of them, from 100 to 599.\n"},
        {"nodes:\n- name: a\n  http: 'http://x/'\n  expect: ok\n",
         "4:11: `expect` must be an HTTP status, or a list of them, from 100 to 599.\n"},
    };
    RUN(cases);
}

static void mended_lines_keep_their_places(void **state) {
    (void)state;
    static const Case cases[] = {
        {"nodes:\n- name: a\n  jq: .x | {a: 1, b: ]}\n", "3:22: Unexpected ']'.\n"},
        {"nodes:\n- name: a\n  run: return {\"a\": 1}\n  title: a: b\n",
         "4:11: This is not YAML: invalid nested block mapping on the same line.\n"},
        {"nodes:\n- name: a\n  run: return {\"a\": 1, \"b\": 2}\n  outptu: x\n",
         "4:3: `outptu` is no key of a python node; did you mean `output`?\n"},
        {"nodes:\n- name: a\n  name: b\n  run: return {\"a\": 1}\n",
         "3:3: `name` is here a second time; the first is in line 2.\n"},
        {"nodes: [{name: a, run: return {\"a\": 1}}]\n",
         "1:31: This is not YAML: missing comma in flow mapping.\n"},
    };
    RUN(cases);
}

static void a_memory_checkpointer_beside_a_folder_is_a_warning(void **state) {
    (void)state;
    expect("config: {checkpoint_dir: x, checkpointer: memory}\nnodes: [{name: a, jq: .}]\n",
           "1:29: warning: `checkpointer: memory` is not used: there is a `checkpoint_dir`, where "
           "files are kept.\n");
}

static void parameters_are_checked_by_their_type(void **state) {
    (void)state;
    static const Case cases[] = {
        {"nodes:\n- name: a\n  shell: make\n  parse: jsn\n  max_output: lots\n  envv: {A: 1}\n  env: "
         "[1]\n",
         "4:10: `parse` must be one of: json.\n"
         "5:15: `max_output` must be a size in bytes such as 4096, 64K or 1M.\n"
         "6:3: `envv` is no key of a shell node; did you mean `env`?\n"
         "7:8: `env` must be a map (`key: value`).\n"},
        {"nodes: [{name: a, sleep: 5 parsecs}, {name: b, sleep: [1]}]\n",
         "1:26: `sleep` must be a length of time such as 250ms, 90s or 1h30m, not `5 parsecs`.\n"
         "1:55: `sleep` must be a length of time such as 250ms, 90s or 1h30m.\n"},
        {"nodes: [{name: a, approval: {options: x}}]\n",
         "1:19: `prompt` is missing, which an approval node needs: what the person is asked.\n"
         "1:39: `options` must be a list of words.\n"},
        {"nodes: [{name: a, map: {over: .x, as: 1x, limit: 0}}]\n",
         "1:19: `do` is missing, which a map node needs: what to do with each element.\n"
         "1:39: `as` must be a word of letters, digits and underscores, not `1x`.\n"
         "1:50: `limit` must be a whole number from 1 to 1000000000.\n"},
        {"nodes: [{name: a, map: {over: .x, do: {name: x, jq: ., output: y}}}]\n",
         "1:40: `name` cannot be said in the body of a map; say it for the map.\n1:56: `output` cannot be said in the body of a map: each result goes into the array that the map gives, whose `output` says where that goes.\n"},
        {"nodes: [{name: a, map: {over: .x, limit: 1}, limit: 2, do: [1]}]\n",
         "1:46: `limit` is given twice.\n1:60: `do` must be a map (`key: value`).\n"},
        {"nodes: [{name: a, while: .x, do: []}]\n",
         "1:34: There are no nodes; a workflow has at least one.\n"},
        {"nodes: [{name: a, lua: }]\n", "1:22: `lua` must be a text.\n"},
    };
    RUN(cases);
}

static void what_every_node_has_is_checked(void **state) {
    (void)state;
    static const Case cases[] = {
        {"nodes: [{name: a, jq: ., timeout: -1, output: [x], interrupt: befor}]\n",
         "1:35: `timeout` must be a length of time such as 250ms, 90s or 1h30m, not `-1`.\n"
         "1:47: `output` must be a text.\n"
         "1:63: `interrupt` must be before or after, not `befor`; did you mean `before`?\n"},
        {"nodes: [{name: a, jq: ., retry: {attempts: 0, dely: 1s, factor: 0.5, max: x, if: '|'}}]\n",
         "1:44: `attempts` must be a whole number from 1 to 1000000.\n"
         "1:47: `dely` is no key of `retry`; did you mean `delay`?\n"
         "1:65: `factor` must be a number from 1 to 1000.\n"
         "1:75: `max` must be a length of time such as 250ms, 90s or 1h30m, not `x`.\n"
         "1:83: Unexpected '|'; expected end of the expression.\n"},
        {"nodes: [{name: a, jq: ., retry: often}]\n",
         "1:33: `attempts` must be a whole number from 1 to 1000000.\n"},
        {"nodes: [{name: a, jq: ., fan_in: maybe}]\n",
         "1:34: `fan_in` of a node must be true or false.\n"},
    };
    RUN(cases);
}

/* ---- expressions ---- */

static void bad_jq_is_shown_where_it_is(void **state) {
    (void)state;
    static const Case cases[] = {
        {"nodes:\n- name: a\n  jq: .a | lenth\n",
         "3:12: lenth/0 is not defined; did you mean length?\n"},
        {"nodes:\n- name: a\n  jq: '.a | lenth'\n",
         "3:13: lenth/0 is not defined; did you mean length?\n"},
        {"nodes:\n- name: a\n  jq: '\"it''s é\" | lenth'\n",
         "3:20: lenth/0 is not defined; did you mean length?\n"},
        {"nodes:\n- name: a\n  jq: \"\\\"\\x41\\u00e9\\\" | lenth\"\n",
         "3:25: lenth/0 is not defined; did you mean length?\n"},
        {"nodes:\n- name: a\n  jq: |\n    .a\n      | lenth\n",
         "5:9: lenth/0 is not defined; did you mean length?\n"},
        {"nodes:\n- name: a\n  jq: |\n\n\n    .a\n    | lenth\n",
         "7:7: lenth/0 is not defined; did you mean length?\n"},
        {"nodes:\n- name: a\n  jq: >-\n    .a\n    | lenth\n",
         "5:7: lenth/0 is not defined; did you mean length?\n"},
        {"nodes:\n- name: a\n  jq: .a\n    | lenth\n",
         "4:7: lenth/0 is not defined; did you mean length?\n"},
        {"nodes:\n- name: a\n  jq: \"\n    .a\n    | lenth\"\n",
         "5:7: lenth/0 is not defined; did you mean length?\n"},
        {"nodes: [{name: a, jq: '  '}]\n", "1:24: There is no expression here.\n"},
        {"nodes: [{name: a, jq: $item}]\n", "1:23: $item is not defined.\n"},
        {"nodes: [{name: a, jq: state.x is None}]\n",
         "1:31: Unexpected name; expected end of the expression. Expressions are jq: the state is "
         "`.`, so `state.name` is `.name`.\n"},
        {"nodes: [{name: a, jq: '.x && .y'}]\n",
         "1:27: A character that means nothing here: '&'. Expressions are jq: `&&` is `and`.\n"},
        {"nodes: [{name: a, jq: \"{{ x }}\"}]\n",
         "1:25: Unexpected '{'. Expressions are jq: this looks like a template: write the "
         "expression itself, such as `.name`.\n"},
        {"nodes: [{name: a, shell: 'true', env: {A: hello world}}]\n",
         "1:49: Unexpected name; expected end of the expression. Expressions are jq: a text stands in double quotes, and "
         "in YAML those in single ones, as '\"hello world\"'.\n"},
        {"nodes: [{name: a, shell: 'true', env: {A: /usr/bin}}]\n",
         "1:43: Unexpected '/'; expected end of the expression. Expressions are jq: a text stands in double quotes, and "
         "in YAML those in single ones, as '\"/usr/bin\"'.\n"},
        {"nodes: [{name: a, shell: 'true', env: {A: release-2.4}}]\n",
         "1:43: release/0 is not defined; did you mean reverse? Expressions are jq: a text stands in double quotes, and "
         "in YAML those in single ones, as '\"release-2.4\"'.\n"},
        {"nodes: [{name: a, shell: 'true', env: {A: no such/thing.txt}}]\n",
         "1:46: Unexpected name; expected end of the expression. Expressions are jq: a text stands in double quotes, and "
         "in YAML those in single ones, as '\"no such/thing.txt\"'.\n"},
        {"nodes: [{name: a, shell: 'true', env: {A: .x and no}}]\n",
         "1:50: no/0 is not defined; did you mean not?\n"},
        {"nodes: [{name: a, jq: \".x == 'y'\"}]\n",
         "1:30: A character that means nothing here: '''. Expressions are jq: texts stand in double "
         "quotes.\n"},
        {"nodes: [{name: a, jq: ., retries: 3}]\nedges: [{from: START, to: a}, {from: a, to: END, if: .x}]\n",
         "1:26: `retries` is no key of a jq node; did you mean `retry`?\n"
         "2:16: There is no node `START`; did you mean `__start__`?\n"
         "2:45: There is no node `END`; did you mean `__end__`?\n"
         "2:50: `if` is no key of an edge; did you mean `when`?\n"},
    };
    RUN(cases);
}

static void bad_jq_in_a_template_is_shown_where_it_is(void **state) {
    (void)state;
    static const Case cases[] = {
        {"nodes:\n- name: a\n  approval: Ship \\(.x | lenth)?\n",
         "3:25: lenth/0 is not defined; did you mean length?\n"},
        {"nodes:\n- name: a\n  approval: \"a \\\"b\\\" \\\\(.x | lenth)?\"\n",
         "3:30: lenth/0 is not defined; did you mean length?\n"},
        {"nodes:\n- name: a\n  approval: |\n    say \"x\"\n    \"y\" \\(lenth)\n",
         "5:11: lenth/0 is not defined; did you mean length?\n"},
        {"nodes:\n- name: a\n  approval: a \\(.x\n",
         "3:15: This `\\(` has no `)` that closes it.\n"},
        {"nodes:\n- name: a\n  approval: a \\(\"b \\(1)\n",
         "3:15: This `\\(` has no `)` that closes it.\n"},
    };
    RUN(cases);
}

static void an_expression_has_a_largest_size(void **state) {
    (void)state;
    Buf text = BUF_INIT;
    buf_adds(&text, "nodes: [{name: a, jq: '.");
    for (int i = 0; i < 60000; i++) {
        buf_adds(&text, "|.");
    }
    buf_adds(&text, "'}]");
    expect(text.data, "1:24: This is longer than 100 KB, the limit for an expression.\n");
    buf_clear(&text);
}

/* ---- edges ---- */

#define AB "nodes: [{name: alpha, jq: .}, {name: beta, jq: .}]\nedges:\n"

static void edges_go_from_and_to_nodes_that_exist(void **state) {
    (void)state;
    static const Case cases[] = {
        {AB "- {from: alhpa, to: beta}\n",
         "3:10: There is no node `alhpa`; did you mean `alpha`?\n"},
        {AB "- {from: alpha, to: [beta, gamma]}\n", "3:28: There is no node `gamma`.\n"},
        {AB "- {from: alpha, to: [beta, beta]}\n- {from: beta, to: __end__}\n",
         "3:28: `beta` is named twice in one edge.\n"},
        {AB "- {to: beta}\n", "3:3: An edge needs `from`.\n"},
        {AB "- {from: alpha}\n", "3:3: An edge needs `to`.\n"},
        {AB "- {from: alpha, to: []}\n", "3:21: `to` names no node.\n"},
        {AB "- {from: __end__, to: beta}\n- {from: alpha, to: beta}\n- {from: beta, to: __end__}\n",
         "3:10: Nothing comes after `__end__`.\n"},
        {AB "- {from: alpha, to: __start__}\n",
         "3:21: Nothing leads back to `__start__`; name the first node instead.\n"},
        {AB "- {from: alpha, to: beta, wen: .x}\n- {from: beta, to: __end__}\n",
         "3:27: `wen` is no key of an edge; did you mean `when`?\n"},
        {AB "- {from: alpha, to: beta, when: .x |}\n", "3:37: Unexpected end of the expression.\n"},
        {AB "- {from: alpha, to: beta, on: eror}\n- {from: alpha, to: beta}\n- {from: beta, to: "
            "__end__}\n",
         "3:31: `on` can only be `error`.\n"},
        {AB "- {from: alpha, to: [alpha, beta], fan_in: bta}\n",
         "3:44: There is no node `bta`; did you mean `beta`?\n"},
        {AB "- {from: alpha, to: beta, fan_in: beta}\n- {from: beta, to: __end__}\n",
         "3:35: `fan_in` says where parallel branches join, but this edge has one target; add "
         "`parallel: true` or more targets.\n"},
        {AB "- {from: alpha, to: beta, parallel: true, when: .x}\n- {from: beta, to: __end__}\n",
         "3:37: `parallel: true` and `when` do not go together; write one edge with `to: [a, b]` and "
         "the condition.\n"},
        {AB "- 5\n", "3:3: An edge (`{from: a, to: b}`) must be a map (`key: value`).\n"},
        {"nodes: [{name: a, jq: .}]\nedges: {from: a, to: b}\n",
         "2:8: The edges must be a list (`- {from: a, to: b}`).\n"},
        {"nodes: [{name: a, jq: ., goto: [{if: .x, too: b}, {to: c}, d]}]\n",
         "1:33: A rule of `goto` needs `to`: the node to go to.\n"
         "1:42: `too` is no key of a rule of `goto`; did you mean `to`?\n"
         "1:56: There is no node `c`; did you mean `a`?\n"
         "1:60: A rule of `goto` (`{if: ..., to: ...}`) must be a map (`key: value`).\n"},
    };
    RUN(cases);
}

static void an_edge_after_one_that_always_holds_is_never_taken(void **state) {
    (void)state;
    expect(AB "- {from: alpha, to: beta}\n- {from: alpha, to: __end__}\n- {from: beta, to: "
              "__end__}\n",
           "4:3: This edge is never taken: the one in line 3 has no condition and comes first. "
           "Parallel branches are written `to: [a, b]`.\n");
    expect("nodes: [{name: a, jq: ., goto: b}, {name: b, jq: .}]\n"
           "edges: [{from: a, to: b, when: .x}, {from: b, to: __end__}]\n",
           "2:9: This edge is never taken: the one in line 1 has no condition and comes first. "
           "Parallel branches are written `to: [a, b]`.\n");
}

static void nodes_that_nothing_leads_to_are_found(void **state) {
    (void)state;
    expect(AB "- {from: alpha, to: __end__}\n",
           "1:38: Node `beta` is never reached from __start__.\n");
    expect("nodes: [{name: a, jq: ., goto: c}, {name: b, jq: .}, {name: c, jq: .}]\n",
           "1:43: Node `b` is never reached from __start__.\n");
}

static void a_dead_end_is_a_warning(void **state) {
    (void)state;
    expect(AB "- {from: alpha, to: beta}\n",
           "1:38: warning: No edge leads on from `beta`, so the run ends after it; write `{from: "
           "beta, to: __end__}` if that is meant.\n");
}

/* ---- workflows in workflows ---- */

static void a_workflow_that_includes_itself_is_refused_with_the_chain(void **state) {
    (void)state;
    expect_files((const File[]){{"./a.yaml", "nodes: [{name: x, workflow: ./a.yaml}]"}, {0}},
                 "./a.yaml:1:29: The workflow includes itself: ./a.yaml -> ./a.yaml.\n");
    expect_files(
        (const File[]){{"a.yaml", "nodes: [{name: x, workflow: d/b.yaml}]"},
                       {"d/b.yaml", "nodes: [{name: x, workflow: c.yaml}]"},
                       {"d/c.yaml", "nodes: [{name: x, workflow: ../d/b.yaml}]"},
                       {0}},
        "d/c.yaml:1:29: The workflow includes itself: d/b.yaml -> d/c.yaml -> d/b.yaml.\n");
}

static void problems_of_other_files_name_them(void **state) {
    (void)state;
    expect_files((const File[]){{"a.yaml", "nodes: [{name: x, workflow: none.yaml}]"}, {0}},
                 "a.yaml:1:29: The workflow `none.yaml` cannot be used. There is no such file.\n");
    static const char *const folders[][2] = {
        {".", "."}, {"./", "."}, {"x/..", "."}, {"..", ".."}, {"d/", "d/"}};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char text[100], want[100];
        snprintf(text, sizeof text, "nodes: [{name: n, workflow: %s}]", folders[i][0]);
        snprintf(want, sizeof want,
                 "a.yaml:1:29: The workflow `%s` cannot be used. There is no such file.\n",
                 folders[i][1]);
        expect_files((const File[]){{"a.yaml", text}, {0}}, want);
    }
    expect_files(
        (const File[]){{"d/a.yaml",
                        "nodes: [{name: x, workflow: b.yaml}, {name: y, workflow: b.yaml},\n"
                        " {name: z, jq: '|'}]"},
                       {"d/b.yaml", "nodes: [{name: x, jq: foo}]"},
                       {0}},
        "d/a.yaml:2:17: Unexpected '|'; expected end of the expression.\n"
        "d/b.yaml:1:23: foo/0 is not defined. Expressions are jq: a key of the state is written `.foo`, "
        "a text `\"foo\"`.\n");
}

static bool serve_chain(void *ctx, const char *path, Buf *out, Error *err) {
    (void)ctx, (void)err;
    buf_printf(out, "nodes: [{name: x, workflow: %d.yaml}]", atoi(path) + 1);
    return true;
}

static void workflows_in_workflows_end_somewhere(void **state) {
    (void)state;
    FlowProblems problems = {0};
    FlowReader reader = {.read = serve_chain};
    assert_null(flow_load("0.yaml", &reader, &problems));
    assert_int_equal(problems.n, 1);
    assert_string_equal(problems.items[0].file, "100.yaml");
    assert_string_equal(
        problems.items[0].msg,
        "Nodes in nodes and workflows in workflows are nested more than 100 levels deep.");
    flow_problems_clear(&problems);
}

static void interrupts_need_a_checkpointer(void **state) {
    (void)state;
    static const File files[] = {
        {"f", "config:\n  interrupt_before: approve\nnodes: [{name: approve, jq: .}]\n"}, {0}};
    FlowProblems problems = {0};
    Flow *flow = try_files(files, &problems);
    assert_int_equal(problems.n, 0);
    assert_true(flow_needs_checkpointer(flow, NULL));
    assert_true(flow_needs_checkpointer(flow, &problems));
    char *got = problems_text(&problems);
    assert_string_equal(
        got, "2:21: Interrupts are defined (`interrupt_before: approve`) but there is "
             "no checkpointer: set `config.checkpoint_dir` for files or "
             "`config.checkpointer` (memory, file or sqlite), or name a store when it is run.\n");
    free(got);
    flow_unref(flow);
    flow_problems_clear(&problems);
    flow = try_load("nodes: [{name: a, approval: x}]", &problems);
    assert_false(flow_needs_checkpointer(flow, NULL));
    flow_unref(flow);
}

/* ---- lists of problems ---- */

static void a_problem_prints_with_its_line_and_a_caret(void **state) {
    (void)state;
    FlowProblems problems = {0};
    Buf out = BUF_INIT;
    try_files((const File[]){{"f.yaml", "nodes:\n- {name: é, jq: .}\n"}, {0}}, &problems);
    flow_problem_print(&problems.items[0], false, &out);
    assert_string_equal(out.data,
                        "f.yaml:2:10: error: The name of a node is made of letters, digits, "
                        "`_`, `.` and `-`, up to 200 of them; `é` is not.\n"
                        "    - {name: é, jq: .}\n"
                        "             ^\n");
    buf_reset(&out);
    flow_problem_print(&problems.items[0], true, &out);
    assert_non_null(strstr(out.data, "\x1b[1;31merror:\x1b[0m"));
    Json json = flow_problem_json(&problems.items[0]);
    char *text = json_to_text(json);
    assert_string_equal(text,
                        "{\"file\":\"f.yaml\",\"line\":2,\"col\":10,\"severity\":\"error\","
                        "\"message\":\"The name of a node is made of letters, digits, `_`, `.` "
                        "and `-`, up to 200 of them; `é` is not.\"}");
    free(text);
    json_unref(json);
    buf_clear(&out);
    flow_problems_clear(&problems);
}

static void a_long_line_is_cut_around_the_place(void **state) {
    (void)state;
    FlowProblems problems = {0};
    Buf text = BUF_INIT, out = BUF_INIT;
    buf_printf(&text, "state: {a: %0200d}\nnodes: [{name: a, description: %0150d, jqq: .}]\n", 1,
               1);
    try_load(text.data, &problems);
    flow_problem_print(&problems.items[0], false, &out);
    const char *line = strchr(out.data, '\n') + 1, *caret = strchr(line, '\n') + 1;
    assert_int_equal(strncmp(line, "    ...000", 10), 0);
    assert_int_equal(strncmp(line + strcspn(caret, "^"), "jqq", 3), 0);
    buf_clear(&text);
    buf_clear(&out);
    flow_problems_clear(&problems);
}

static void a_hundred_problems_are_enough(void **state) {
    (void)state;
    FlowProblems problems = {0};
    Buf text = BUF_INIT;
    buf_adds(&text, "nodes:\n");
    for (int i = 0; i < 150; i++) {
        buf_printf(&text, "- {name: n%d, jq: '|'}\n", i);
    }
    try_load(text.data, &problems);
    assert_int_equal(problems.n, FLOW_PROBLEMS_MAX + 1);
    assert_int_equal(problems.errors, FLOW_PROBLEMS_MAX + 1);
    assert_string_equal(problems.items[FLOW_PROBLEMS_MAX].msg,
                        "There are 50 more problems; mend these first.");
    /* A further workflow adds to the same list. */
    try_files((const File[]){{"g", "tasks: []"}, {0}}, &problems);
    assert_int_equal(problems.n, FLOW_PROBLEMS_MAX + 2);
    buf_clear(&text);
    flow_problems_clear(&problems);
    assert_int_equal(problems.n, 0);
}

static void files_larger_than_the_limit_are_refused(void **state) {
    (void)state;
    Buf text = BUF_INIT;
    memset(buf_reserve(&text, FLOW_FILE_MAX + 1), '#', FLOW_FILE_MAX + 1);
    buf_advance(&text, FLOW_FILE_MAX + 1);
    expect(text.data, "1:1: The file is larger than 16 MB, the limit for a workflow.\n");
    buf_clear(&text);
}

static void what_the_parser_is_slow_at_is_refused(void **state) {
    (void)state;
    Buf text = BUF_INIT;
    buf_adds(&text, "nodes:\n");
    memset(buf_reserve(&text, FLOW_LINE_MAX + 1), '{', FLOW_LINE_MAX + 1);
    buf_advance(&text, FLOW_LINE_MAX + 1);
    expect(text.data, "2:1: This line is longer than 1 MB; break it up.\n");
    buf_reset(&text);
    buf_adds(&text, "a: |\n");
    memset(buf_reserve(&text, 1 << 20), '\n', 1 << 20);
    buf_advance(&text, 1 << 20);
    expect(text.data, "20001:1: There are too many empty lines before this; remove some.\n");
    buf_clear(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(text_that_is_no_yaml_has_a_place),
        JSON_TEST(repeated_keys_are_found_in_small_and_large_maps),
        JSON_TEST(an_anchor_bomb_is_refused),
        JSON_TEST(deep_nesting_is_refused_with_and_without_aliases),
        JSON_TEST(a_file_needs_nodes_and_knows_its_keys),
        JSON_TEST(state_and_config_are_checked),
        JSON_TEST(names_are_checked),
        JSON_TEST(a_node_has_one_kind_that_there_is),
        JSON_TEST(parameters_are_checked_by_their_type),
        JSON_TEST(code_is_here_or_in_a_file),
        JSON_TEST(an_action_asks_somebody),
        JSON_TEST(hidden_kinds_are_not_offered),
        JSON_TEST(statuses_counts_and_words_are_checked),
        JSON_TEST(mended_lines_keep_their_places),
        JSON_TEST(a_memory_checkpointer_beside_a_folder_is_a_warning),
        JSON_TEST(what_every_node_has_is_checked),
        JSON_TEST(bad_jq_is_shown_where_it_is),
        JSON_TEST(bad_jq_in_a_template_is_shown_where_it_is),
        JSON_TEST(an_expression_has_a_largest_size),
        JSON_TEST(edges_go_from_and_to_nodes_that_exist),
        JSON_TEST(an_edge_after_one_that_always_holds_is_never_taken),
        JSON_TEST(nodes_that_nothing_leads_to_are_found),
        JSON_TEST(a_dead_end_is_a_warning),
        JSON_TEST(a_workflow_that_includes_itself_is_refused_with_the_chain),
        JSON_TEST(problems_of_other_files_name_them),
        JSON_TEST(workflows_in_workflows_end_somewhere),
        JSON_TEST(interrupts_need_a_checkpointer),
        JSON_TEST(a_problem_prints_with_its_line_and_a_caret),
        JSON_TEST(a_long_line_is_cut_around_the_place),
        JSON_TEST(a_hundred_problems_are_enough),
        JSON_TEST(files_larger_than_the_limit_are_refused),
        JSON_TEST(what_the_parser_is_slow_at_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
