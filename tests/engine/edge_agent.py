#!/usr/bin/env python3
"""Files of The Edge Agent: each row of what they mean (A1 to A22), by its id; debugging, crashes and bad input; and
the public files, where they are at hand. Prints TAP.

    tests/engine/edge_agent.py PAWL

The public files are read from $PAWL_TEST_DATA/edge-agent, or from ../shared/data/edge-agent beside the checkout.
"""

import importlib.util
import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from debugger import Debugger  # noqa: E402
from world import Broken, DONE, FAILED, Skipped, WAITING, cases_of, run_all  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
HAS_JINJA = importlib.util.find_spec("jinja2") is not None
MARK = "state_schema: {}\n"  # what makes a file one of them

ECHO = """\
kind: NAME
inputs: {type: object, additionalProperties: true}
outputs: {given: .}
nodes: [{name: echo, jq: '{}'}]
"""


def rendered(world, values, head="", **given):
    """What an action is given for each of the values."""
    world.write(".pawl/kinds/echo.yaml", ECHO.replace("NAME", "echo"))
    text = head + "nodes: [{name: a, uses: echo, with: %s}]\n" % json.dumps(values)
    return run(world, text, **(given or {"none": None}))["given"]


def jinja(case):
    """Marks a case of templates, which are only there with Jinja."""
    case.needs_jinja = True
    return case


def put(world, text, name="a.yaml"):
    world.write(name, text if text.startswith("nodes:\n  - {plain") else MARK + text)
    return name


def run(world, text, *words, code=DONE, **given):
    answer = world("run", put(world, text), "-q", "--store", "memory:", *words,
                   *(["--input", json.dumps(given)] if given else []))
    answer.gives(code)
    return json.loads(answer.out) if code == DONE else answer


def refused(world, text, *parts):
    world("check", put(world, text)).gives(FAILED).says(*parts)


def warnings(world, text):
    answer = world("check", put(world, text)).gives(DONE)
    return [line.split("warning: ")[1] for line in answer.out.splitlines() if "warning: " in line]


# ---- A1 to A10: what only describes, and actions ----


def case_a1(world):
    """A1: state_schema sets no defaults and checks no types, and is said once"""
    world.write("a.yaml", "state_schema: {n: int, s: {type: str, default: x}}\nnodes:\n"
                "  - {name: a, run: 'return {\"n\": \"text\"}'}\n")
    said = world("check", "a.yaml").gives(DONE).says("`state_schema` only describes")
    world.same(said.out.count("warning"), 1, "the number of warnings")
    world.same(json.loads(world("run", "a.yaml", "-q", "--store", "memory:").gives(DONE).out), {"n": "text"})


@jinja
def case_a2(world):
    """A2: uses finds a kind, with its texts as templates, and output says where the result goes"""
    world.write(".pawl/kinds/my.echo.yaml", ECHO.replace("NAME", "my.echo"))
    got = run(world, """\
initial_state: {n: 2, who: Ada}
nodes:
  - {name: a, uses: my.echo, with: {n: '{{ state.n }}', text: 'hi {{ state.who }}', deep: [{x: '{{ state.n + 1 }}'}], one: 1}}
  - {name: b, uses: my.echo, with: {x: plain}, output: under}
  - {name: c, uses: my.echo, with: {x: '{{ state.missing }}'},
     output: {x: '{{ result.given.x }}', n: '{{ state.n }}', t: 'is {{ result.given }}', lit: 5}}
  - {name: d, uses: jq, with: {jq: '[.n, 2]'}}
""")
    world.same(got["given"], {"n": 2, "text": "hi Ada", "deep": [{"x": 3}], "one": 1}, "what an object is merged as")
    world.same(got["under"], {"given": {"x": "plain"}}, "under")
    world.same((got["x"], got["t"], got["lit"]), ("", "is {'x': None}", 5), "an object of templates")
    world.same(got["result"], [2, 2], "what is no object")


def case_a2_unknown(world):
    """A2: an action that there is no kind for is refused, with where to put one"""
    refused(world, "nodes: [{name: a, uses: llm.call, with: {x: 1}}]\n", "There is no action `llm.call`", "llm.call.yaml",
            ".pawl/kinds")


def case_a2_inputs(world):
    """A2: a kind that takes no other inputs refuses one that it does not know"""
    world.write(".pawl/kinds/k.yaml", "kind: k\ninputs: {type: object, properties: {x: {type: integer}}}\noutputs: {}\n"
                "nodes: [{name: n, jq: '{}'}]\n")
    refused(world, "nodes: [{name: a, uses: k, with: {y: 1}}]\n", "`y` is no key")
    refused(world, "nodes: [{name: a, uses: k, with: {x: [1]}}]\n", "an input of the kind `k`")
    refused(world, "nodes: [{name: a, uses: shell, with: {shell: 'echo {{ state.x }}'}}]\n", "cannot be a template")


@jinja
def case_a3(world):
    """A3: settings can be read in templates, and are said once to do nothing else"""
    head = "settings: {llm: {model: m1}, memory: {}}\n"
    world.same(len([w for w in warnings(world, head + "nodes: [{name: a}]\n") if "settings" in w]), 1, "how often it is said")
    world.same(rendered(world, {"m": "{{ settings.llm.model }}"}, head), {"m": "m1"})


def case_a4(world):
    """A4: Prolog is refused with a sentence"""
    for node in ("language: prolog, run: 'return(x, 1).'", "run: {type: prolog, code: 'return(x, 1).'}"):
        refused(world, "nodes: [{name: a, %s}]\n" % node, "Nodes in Prolog cannot be run")


CONDITIONS = [  # edge, state, whether it is taken
    ("when: 'state.n > 1'", {"n": 2}, True),
    ("when: '{{ state.n > 1 }}'", {"n": 1}, False),
    ("when: n", {"n": 0}, False),
    ("when: n", {"n": "x"}, True),
    ("when: '!n'", {"n": []}, True),
    ("when: '!n'", {}, True),
    ("when: missing", {}, False),
    ("when: 'true'", {}, True),
    ("when: 'False'", {}, False),
    ("condition: 'state.n == 1'", {"n": 1}, True),
    ("condition: 'state.n == 1', when: false", {"n": 1}, False),
    ("condition: 'state.n == 1', when: false", {"n": 2}, True),
    ("condition: {type: expression, value: 'state.n == 1'}", {"n": 1}, True),
    ("condition: n, when: false", {"n": 1}, False),
    ("when: \"state.get('n', 5) == 5\"", {}, True),
    ("when: \"state.get('n') in ['a', 'b']\"", {"n": "b"}, True),
    ("when: 'not state.n'", {"n": ""}, True),
    ("when: 'state.a == none'", {}, True),
    ("when: 'variables.v == 3 and state.items == 1'", {"items": 1}, True),
    ("when: 'state._x == 1'", {"_x": 1}, True),
    ("when: 'state._x'", {}, False),
]
JINJA_CONDITIONS = [
    ("when: 'state.n is defined and state.n | length > 1'", {"n": "ab"}, True),
    ("when: 'n: {{ state.n }}'", {}, True),
    ("when: '{{ state.n }}{{ state.m }}'", {"n": "", "m": ""}, False),
    ("when: '{% if state.n %}yes{% endif %}'", {"n": 1}, True),
    ("when: '{% if state.n %}yes{% endif %}'", {"n": 0}, False),
]


def takes(world, edge, state, env=None):
    put(world, "variables: {v: 3}\nnodes: [{name: a}, {name: yes, run: 'return {\"took\": True}', goto: __end__}, "
        "{name: no, run: 'return {\"took\": False}'}]\nedges: [{from: a, to: yes, %s}, {from: a, to: no}]\n" % edge)
    answer = world("run", "a.yaml", "-q", "--store", "memory:", "--input", json.dumps(state), env=env).gives(DONE)
    return json.loads(answer.out)["took"]


def case_a5(world):
    """A5, A19: conditions of edges, in every way that they are written"""
    for edge, state, want in CONDITIONS + (JINJA_CONDITIONS if HAS_JINJA else []):
        world.same(takes(world, edge, state), want, f"{edge} of {state}")


def case_a5_bad(world):
    """A5: conditions that are none are refused"""
    for edge in ("condition: {type: other, value: x}", "condition: {type: expression}", "when: 5", "when: ''",
                 "condition: x, when: maybe"):
        refused(world, "nodes: [{name: a}, {name: b}]\nedges: [{from: a, to: b, %s}, {from: a, to: __end__}]\n" % edge,
                "error")


GOTOS = [  # if, state, whether it is taken
    ("state.n == 1", {"n": 1}, True), ("state.n", {"n": 0}, False), ("state.n", {"n": "No"}, False),
    ("state.n", {}, False), ("state.n", {"n": "none"}, False), ("state.n", {"n": "x"}, True),
    ("1 / 0", {}, False), ("result.status == 'x'", {}, False), ("env.PAWL_TEST_NOT_SET", {}, False),
]


def case_a5_goto(world):
    """A5, A19: rules of goto are rendered to text, and an error is false"""
    for rule, state, want in GOTOS:
        got = run(world, "nodes:\n  - {name: a, goto: [{if: %s, to: yes}, {to: no}]}\n"
                  "  - {name: yes, run: 'return {\"took\": True}', goto: __end__}\n"
                  "  - {name: no, run: 'return {\"took\": False}'}\n" % json.dumps(rule), **(state or {"x": 1}))
        world.same(got["took"], want, f"{rule} of {state}")


def case_a6(world):
    """A6: initial_state has defaults, over which the input goes at the top level"""
    text = "initial_state: {a: 1, b: {c: 2, d: 3}}\nnodes: [{name: x}]\n"
    world.same(run(world, text), {"a": 1, "b": {"c": 2, "d": 3}})
    world.same(run(world, text, b={"c": 5}), {"a": 1, "b": {"c": 5}})


def case_a7_a8_a9_a10_a13(world):
    """A7, A8, A9, A10, A13: what nothing reads is said once for each construct, not for each node"""
    said = warnings(world, """\
version: "1.0"
extraction_schema: {}
validation_constraints: []
semantic_probes: []
validation_logging: {}
data: {p: q}
checkpoint: {}
interrupt_before: [a]
config: {raise_exceptions: true, max_execution_time: 5}
nodes:
  - {name: a, action: x.y, params: {z: 1}, next: b, outputs: [q], inputs: [r], condition: c}
  - {name: b, action: x.z, params: {z: 1}, paths: []}
  - {name: c, run: 'return {}', output: there}
edges:
  - {from: a, to: b, parallel_strategy: process}
  - {from: b, to: c, parallel_strategy: process, stream_mode: x}
""")
    for key in ("version", "extraction_schema", "validation_constraints", "semantic_probes", "validation_logging", "data",
                "checkpoint", "interrupt_before", "raise_exceptions", "max_execution_time", "action", "params", "next",
                "outputs", "inputs", "condition", "paths", "output", "parallel_strategy", "stream_mode"):
        world.same(len([w for w in said if f"`{key}`" in w]), 1, f"how often `{key}` is said")
    world.same(len(said), 21, "all that is said")  # and state_schema


def case_a8_refused(world):
    """A8: keys that change what a node does, and are not understood, are errors"""
    for key in ("on_error: {mode: retry}", "parallel_each: x", "strategy: {matrix: {}}"):
        refused(world, "nodes: [{name: a, run: 'return {}', %s}]\n" % key, "is not understood")


def case_a9(world):
    """A9: a node that only has an action does nothing"""
    world.same(run(world, "nodes: [{name: a, action: llm.call, with: {x: 1}}]\n", n=1), {"n": 1})


def case_a10(world):
    """A10: an error that nobody takes fails the run, whatever raise_exceptions says"""
    for word in ("true", "false"):
        run(world, "config: {raise_exceptions: %s}\nnodes: [{name: a, run: 'raise ValueError(\"no\")'}]\n" % word,
            code=FAILED).says("no")


# ---- A11: branches that are counted when it runs ----

EACH = """\
nodes:
  - name: each
    type: dynamic_parallel
    items: '{{ state.xs }}'
    fan_in: collect
%s
  - {name: collect, run: 'return {"got": [[r.branch, r.success, r.state.get("y"), r.error] for r in parallel_results]}'}
"""


def each(body):
    return EACH % "\n".join("    " + line for line in body.strip().split("\n"))


def case_a11_steps(world):
    """A11: steps for each item, in order; a branch that fails fails nothing"""
    got = run(world, each("""
max_concurrency: 2
steps:
  - {name: half, run: 'return {"h": 12 // state["item"]}'}
  - {run: 'return {"y": state["h"] + state["index"] + state["base"]}'}
"""), xs=[1, 0, 3], base=100)
    world.same([one[:3] for one in got["got"]], [["each[0]", True, 112], ["each[1]", False, None], ["each[2]", True, 106]])
    if "by zero" not in got["got"][1][3]:
        raise Broken(f"the error is not told: {got['got'][1]}")
    world.same("y" in got, False, "that something is merged")
    world.same(sorted(got["parallel_results"][1]), ["branch", "error", "state", "success", "timing_ms"])
    world.same(got["parallel_results"][1]["state"], {"item": 0, "index": 1}, "the state of a branch that failed")


def case_a11_names(world):
    """A11: item_var and index_var name the keys, and parallel_config has the other two as well"""
    got = run(world, each("""
item_var: x
index_var: i
parallel_config: {max_concurrency: 1, fail_fast: true}
steps: [{name: s, run: 'return {"y": 10 // state["x"] + state["i"]}'}]
"""), xs=[5, 0, 2])
    world.same([one[:3] for one in got["got"]], [["each[0]", True, 2], ["each[1]", False, None], ["each[2]", False, None]])
    world.same(got["got"][2][3], "Cancelled due to fail_fast")


def case_a11_nothing(world):
    """A11: no items, or null, are no branches; what is no list is an error"""
    body = "steps: [{name: s, run: 'return {}'}]"
    for given in ({"xs": []}, {"xs": None}, {"other": 1}):
        world.same(run(world, each(body), **given)["got"], [])
    for wrong in (5, "ab", {"a": 1}):
        run(world, each(body), code=FAILED, xs=wrong).says("to give a list")


def case_a11_action(world):
    """A11: an action for each item"""
    world.write(".pawl/kinds/twice.yaml", "kind: twice\ninputs: {type: object, properties: {n: {type: integer}}}\n"
                "outputs: {y: .n * 2}\nnodes: [{name: n, jq: '{}'}]\n")
    got = run(world, each("action: {uses: twice, with: {n: '{{ state.item }}'}}"), xs=[1, 2])
    world.same([one[2] for one in got["got"]], [2, 4])


def case_a11_subgraph(world):
    """A11: another file for each item, which begins with its input alone"""
    world.write("sub.yaml", "nodes: [{name: n, run: 'return {\"y\": sorted(state), \"k\": state[\"k\"]}'}]\n")
    got = run(world, each("subgraph: sub.yaml\ninput: {k: '{{ state.item }}', c: 1}"), xs=[7])
    world.same(got["got"][0][2], ["c", "k"])


@jinja
def case_a11_limit(world):
    """A11: max_concurrency may be a template"""
    got = run(world, each("max_concurrency: '{{ state.most }}'\nsteps: [{name: s, run: 'return {\"y\": 1}'}]"), xs=[1] * 5, most="2")
    world.same(len(got["got"]), 5)


def case_a11_bad(world):
    """A11: what is missing, or there twice, is refused"""
    good = "type: dynamic_parallel, items: '{{ state.xs }}', fan_in: b, steps: [{run: 'return {}'}]"
    for part, instead, says in (("items: '{{ state.xs }}', ", "", "`items` is missing"),
                                ("fan_in: b, ", "", "`fan_in` is missing"),
                                ("fan_in: b", "fan_in: c", "There is no node `c`"),
                                (", steps: [{run: 'return {}'}]", "", "exactly one of"),
                                ("steps:", "action: {uses: jq}, steps:", "exactly one of"),
                                ("steps: [{run: 'return {}'}]", "action: {with: {}}", "needs `uses`"),
                                ("steps: [{run: 'return {}'}]", "steps: []", "has no nodes"),
                                ("steps:", "max_concurrency: 0, steps:", "`max_concurrency`")):
        refused(world, "nodes: [{name: a, %s}, {name: b}]\n" % good.replace(part, instead), says)


# ---- A12 to A18 ----


@jinja
def case_a12(world):
    """A12: variables are constants in templates, in Python, and as ${x} in mixed text"""
    head = "variables: {v: 3, who: Ada}\n"
    world.same(run(world, head + "nodes: [{name: a, run: 'return {\"py\": variables.v + variables[\"v\"]}'}]\n"), {"py": 6})
    world.same(rendered(world, {"t": "{{ variables.v }}", "m": "a ${who} ${unknown}"}, head), {"t": 3, "m": "a Ada ${unknown}"})


@jinja
def case_a13(world):
    """A13: data can be read in templates"""
    world.same(rendered(world, {"p": "{{ data.p }}"}, "data: {p: [1, 2]}\n"), {"p": [1, 2]})


def case_a14(world):
    """A14: nodes that are never reached and edges that are never taken are warnings"""
    said = warnings(world, "nodes: [{name: a}, {name: b}, {name: c}]\n"
                    "edges: [{from: a, to: c}, {from: a, to: c, when: 'state.x == 1'}, {from: c, to: __end__}]\n")
    world.same(len([w for w in said if "never" in w]), 2, "warnings")


def case_a14_ours(world):
    """A14: in a graph of ours both stay errors, and so do unknown keys"""
    world.write("ours.yaml", "nodes: [{name: a, jq: '{}'}, {name: b, jq: '{}'}]\nedges: [{from: a, to: __end__}]\n")
    world("check", "ours.yaml").gives(FAILED).says("never reached")
    world.write("ours.yaml", "version: 1\nnodes: [{name: a, jq: '{}', next: b}]\n")
    world("check", "ours.yaml").gives(FAILED).says("`version` is no key", "`next` is no key")


FORK = """\
nodes:
  - {name: a, run: 'return {"base": 1}'}
  - {name: b1, run: 'return {"v": state["base"] + 1}'}
  - {name: b2, run: 'return {"v": state["base"] + 2}'}
  - {name: b22, run: 'return {"w": state["v"] * 10}'}
  - {name: join, fan_in: true, run: 'return {"got": [[r.branch, r.success, r.get("v"), r.state.get("w"), r["error"]] for r in parallel_results]}'}
edges:
  - {from: a, to: b1, type: parallel, fan_in: join}
  - {from: a, to: b2, type: parallel, fan_in: join}
  - {from: b1, to: join}
"""


def case_a15(world):
    """A15: parallel edges merge nothing; the fan-in has the state of each branch"""
    got = run(world, FORK)
    world.same(got["got"], [["b1", True, 2, None, None], ["b2", True, 3, 30, None]])
    world.same("v" in got or "w" in got, False, "that something is merged")


def case_a15_fails(world):
    """A15: a branch that fails ends the run"""
    run(world, FORK.replace('return {"v": state["base"] + 2}', 'raise ValueError("no")'), code=FAILED).says("no")


def case_a15_bad(world):
    """A15: a parallel edge needs a fan_in"""
    refused(world, FORK.replace("type: parallel, fan_in: join}", "type: parallel}", 1), "`fan_in` is missing")


def case_a16(world):
    """A16: a node without work passes on; an expression has a key; other languages, and script"""
    got = run(world, """\
initial_state: {n: 2}
nodes:
  - {name: nothing}
  - {name: e1, run: {type: expression, value: "state['n'] * 3"}}
  - {name: e2, run: {type: expression, value: "len(json.dumps(state))", output_key: chars}}
  - {name: lua, run: {type: lua, code: 'return {lua = state.n + 1}'}}
  - {name: lua2, language: lua, run: 'return {lua2 = true}'}
  - {name: s, script: 'return {"script": 1}'}
""")
    world.same(got, {"n": 2, "result": 6, "chars": 21, "lua": 3, "lua2": True, "script": 1})
    for bad in ("run: {type: expression}", "run: {type: lua}", "run: {code: x}", "language: cobol, run: x"):
        refused(world, "nodes: [{name: a, %s}]\n" % bad, "error")


def case_a17(world):
    """A17: interrupts without a store are refused, and the message says how to name one"""
    text = "nodes: [{name: a}, {name: b, run: 'return {\"b\": 1}'}]\nconfig: {interrupt_before: [b]}\n"
    refused(world, text, "no checkpointer", "config.checkpoint_dir", "name a store")
    world("run", put(world, text), "-q", "--store", "file:runs", "--thread", "t").gives(WAITING)
    world.same(json.loads(world("resume", "t", "-q", "--store", "file:runs").gives(DONE).out), {"b": 1})


def case_a18(world):
    """A18: steps run in order; a while_loop stops at its limit and goes on"""
    got = run(world, """\
initial_state: {n: 0, m: 0}
nodes:
  - name: stepped
    steps:
      - {name: one, run: 'return {"one": 1}'}
      - {run: 'return {"two": state["one"] + 1}'}
  - {name: w, type: while_loop, condition: '{{ state.n < 3 }}', max_iterations: 10, body: [{run: 'return {"n": state["n"] + 1}'}, {name: x, run: 'state["m"] += state["n"]'}]}
  - {name: limit, type: while_loop, condition: 'state.n > 0', max_iterations: 2, body: [{name: l, run: 'return {"n": state["n"] + 10}'}]}
  - {name: never, type: while_loop, condition: 'state.n == 0', max_iterations: 2, body: [{name: l, run: 'return {"bad": 1}'}]}
  - {name: last, run: 'return {"last": True}'}
""")
    world.same(got, {"n": 23, "m": 6, "one": 1, "two": 2, "last": True})


def case_a18_bad(world):
    """A18: a loop needs all three, and there is none inside another"""
    good = "type: while_loop, condition: x, max_iterations: 3, body: [{run: 'return {}'}]"
    for part, instead, says in (("condition: x, ", "", "`condition` is missing"), ("max_iterations: 3, ", "", "`max_iterations` is missing"),
                                ("iterations: 3", "iterations: 1001", "from 1 to 1000"), ("iterations: 3", "iterations: 0", "from 1 to 1000"),
                                (", body: [{run: 'return {}'}]", "", "`body` is missing"), ("[{run: 'return {}'}]", "[]", "has no nodes"),
                                ("[{run: 'return {}'}]", "[{%s}]" % good, "cannot be inside another")):
        refused(world, "nodes: [{name: a, %s}]\n" % good.replace(part, instead), says)


# ---- A20 to A22 ----


@jinja
def case_a20(world):
    """A20: one expression gives the value itself, anything else text; blocks and filters"""
    got = rendered(world, {
        "list": "{{ state.l }}", "object": " {{ state.o }} ", "missing": "{{ state.zz.y }}", "text": "a{{ state.l }}b",
        "two": "{{ state.s }}{{ state.s }}", "loop": "{% for x in state.l %}{{ x }};{% endfor %}",
        "if": "{% if state.n %}yes{% else %}no{% endif %}", "json": "{{ state.o | tojson }}", "from": "{{ state.j | fromjson }}",
        "upper": "{{ state.s | upper }}", "default": "{{ state.zz | default('d', true) }}", "items": "{{ state.items }}",
        "env": "{{ env.HOME is string }}",
    }, l=[1, 2], o={"k": "v"}, s="x", n=None, j='{"a": 1}', items=[3])
    want = {"list": [1, 2], "object": {"k": "v"}, "missing": None, "text": "a[1, 2]b", "two": "xx", "loop": "1;2;", "if": "no",
            "json": '{"k": "v"}', "from": {"a": 1}, "upper": "X", "default": "d", "items": [3], "env": True}
    world.same({key: got[key] for key in want}, want)


@jinja
def case_a20_sandbox(world):
    """A20: templates cannot reach the interpreter, and what is no template says so with its place"""
    world.write(".pawl/kinds/echo.yaml", ECHO.replace("NAME", "echo"))
    bad = "nodes: [{name: a, uses: echo, with: {x: \"%s\"}}]\n"
    world.same(rendered(world, {"x": "{{ ''.__class__.__mro__ }}", "y": "{{ state.__class__.__init__.__globals__ }}"}),
               {"x": None, "y": None}, "what the interpreter has")
    run(world, bad % "{{ state.x | }}", code=FAILED).says("The template cannot be rendered", "a.yaml:2")
    run(world, bad % "{% for x in range(99999999) %}{% endfor %}", code=FAILED)


def case_a20_without(world):
    """A20: without Jinja plain expressions work, and templates are refused by the name of the package"""
    world.write("python", "#!/bin/sh\nexec python3 -S \"$@\"\n").chmod(0o755)
    env = {"PAWL_PYTHON": str(world.folder / "python")}
    for edge, state, want in CONDITIONS:
        world.same(takes(world, edge, state, env), want, f"{edge} of {state}")
    world.write(".pawl/kinds/echo.yaml", ECHO.replace("NAME", "echo"))
    text = "nodes: [{name: a, uses: echo, with: {v: '%s'}}]\n"
    put(world, text % "{{ state.x + 1 }}")
    answer = world("run", "a.yaml", "-q", "--store", "memory:", "--input", '{"x": 1}', env=env).gives(DONE)
    world.same(json.loads(answer.out)["given"]["v"], 2)
    for template in ("a {{ state.x }}", "{% if state.x %}y{% endif %}", "{{ state.x | upper }}", "{{ state.x is defined }}"):
        put(world, text % template)
        world("run", "a.yaml", "-q", "--store", "memory:", "--input", '{"x": 1}', env=env).gives(FAILED).says("python3-jinja2")


def case_a21(world):
    """A21: goto goes before edges, edges before the order; the last node ends"""
    said = "nodes:\n" + "".join(
        "  - {name: %s, run: 'return {\"way\": state[\"way\"] + \"%s\"}'%s}\n" % (name, name, more)
        for name, more in (("a", ""), ("b", ", goto: d"), ("c", ""), ("d", ""), ("e", "")))
    world.same(run(world, said, way="")["way"], "abde")
    world.same(run(world, said + "edges: [{from: b, to: c}, {from: d, to: __end__}]\n", way="")["way"], "abd")
    world.same(run(world, said.replace(", goto: d", "") + "edges: [{from: c, to: e}]\n", way="")["way"], "abce")
    world.same(run(world, said + "edges: [{from: __start__, to: c}, {to: d, type: entry}]\n", way="")["way"], "cde")
    world.same(run(world, said + "edges: [{from: a, type: finish}]\n", way="")["way"], "a")


def case_a21_start(world):
    """A21: edges from __start__ have conditions, too"""
    text = ("nodes: [{name: a, run: 'return {\"way\": \"a\"}', goto: __end__}, {name: b, run: 'return {\"way\": \"b\"}'}]\n"
            "edges: [{from: __start__, to: a, when: 'state.n == 1'}, {to: b, type: entry, condition: 'state.n == 2'}]\n")
    world.same(run(world, text, n=1)["way"], "a")
    world.same(run(world, text, n=2)["way"], "b")
    run(world, text, code=FAILED, n=3).says("None of the edges")


def case_a21_none_holds(world):
    """A21: the first edge that holds; none is an error; an edge to the end keeps its condition"""
    text = "nodes: [{name: a}, {name: b, run: 'return {\"b\": 1}'}]\nedges: [{from: a, to: __end__, when: 'state.n == 1'}, {from: a, to: b, when: 'state.n == 2'}]\n"
    world.same(run(world, text, n=1), {"n": 1})
    world.same(run(world, text, n=2), {"n": 2, "b": 1})
    run(world, text, code=FAILED, n=3).says("None of the edges from `a` holds")


def case_a21_bad(world):
    """A21: goto as an object, and edges that lead nowhere, are refused"""
    refused(world, "nodes: [{name: a, goto: {to: a}}]\n", "`goto` is the name of a node, or a list")
    refused(world, "nodes: [{name: a, goto: b}]\n", "There is no node `b`")
    refused(world, "nodes: [{name: a, goto: [{if: x}]}]\n", "needs `to`")
    refused(world, "nodes: [{name: a}]\nedges: [{from: a, to: [{to: b}]}]\n", "must be a name")


def case_a22(world):
    """A22: changes in place stay; without return local variables are the result; json is there"""
    got = run(world, """\
initial_state: {n: 1, l: [], o: {a: 1}}
nodes:
  - name: place
    run: |
      state["n"] += 1
      state["l"].append(json.loads("[1]"))
      state["o"]["b"] = 2
      return {"back": True}
  - name: locals
    run: |
      import math
      twice = state["n"] * 2
      _hidden = 3
  - {name: number, run: 'return 5'}
  - {name: none, run: 'return None'}
  - {name: same, run: "state['same'] = 1\\nreturn state"}
""")
    world.same(got, {"n": 2, "l": [[1]], "o": {"a": 1, "b": 2}, "back": True, "twice": 4, "result": 5, "same": 1})


@jinja
def case_a22_locals(world):
    """A22: code without return is a module: functions and classes see each other; what is no data stays there"""
    got = run(world, """\
nodes:
  - name: a
    run: |
      import re
      class Point:
          def __init__(self, x): self.x = double(x)
      double = lambda x: 2 * x
      points = [Point(n) for n in range(3)]
      loop = []
      loop.append(loop)
      odd = {"m": re.match("a", "a")}
      xs = [point.x for point in points]
      pair = (1, [2])
""")
    world.same(got, {"xs": [0, 2, 4], "pair": [1, [2]]})


def case_a22_rendered(world):
    """A22: code is rendered as a template first"""
    world.same(run(world, "variables: {v: 3}\nnodes: [{name: a, run: 'return {\"x\": {{ variables.v }} + {{ state.n }}}'}]\n", n=4),
               {"n": 4, "x": 7})


def case_a22_errors(world):
    """A22: errors have their line in the file; actions cannot be called from code"""
    run(world, "nodes:\n  - name: a\n    run: |\n      x = 1\n      raise KeyError('gone')\n", code=FAILED).says("gone", "a.yaml:6")
    run(world, "nodes: [{name: a, run: 'return actions[\"llm.call\"]()'}]\n", code=FAILED).says("cannot be called from code")
    run(world, "nodes: [{name: a, run: 'return {\"x\": object()}'}]\n", code=FAILED).says("JSON")
    run(world, "nodes: [{name: a, run: 'raise Exception'}]\n", code=FAILED).says("It raised Exception without a message. (line 1")
    run(world, "nodes:\n  - name: a\n    run: |\n      class T(type): __name__ = property(lambda s: 1/0)\n"
        "      class E(Exception, metaclass=T): pass\n      raise E\n", code=FAILED).says("without a name")
    run(world, "nodes: [{name: a, run: 'return (('}]\n", code=FAILED).says("never closed")


# ---- together ----


def case_marks(world):
    """Each construct that only these files have makes a file one of them, and nothing else does"""
    for text in ("settings: {}\nnodes: [{name: a}]\n", "variables: {}\nnodes: [{name: a}]\n", "initial_state: {}\nnodes: [{name: a}]\n",
                 "nodes: [{name: a, run: {type: expression, value: '1'}}]\n", "config: {raise_exceptions: true}\nnodes: [{name: a}]\n",
                 "nodes: [{name: a}]\nedges: [{from: a, to: __end__, condition: x}, {from: a, to: __end__}]\n",
                 "nodes: [{name: a}]\nedges: [{from: a, to: __end__, when: '{{ state.x }}'}, {from: a, to: __end__}]\n",
                 "nodes: [{name: a, goto: [{if: '{{ state.x }}', to: __end__}, {to: __end__}]}]\n",
                 "nodes: [{name: a, uses: echo, with: {x: '{{ state.x }}', y: plain text}}]\n",
                 "nodes: [{name: a, uses: echo, with: {deep: [{x: 'Say {{ state.x | upper }}'}]}}]\n",
                 "nodes: [{name: a, uses: echo, with: {x: '{% if state.x %}1{% endif %}'}}]\n",
                 "nodes: [{name: a, uses: echo, output: {got: plain}}]\n",
                 "nodes: [{name: a, run: 'return {}'}, {name: b, uses: echo}]\n"
                 "edges: [{from: a, to: b, when: \"state.x == 'a'\"}, {from: a, to: __end__}, {from: b, to: __end__}]\n",
                 "nodes: [{name: a, run: 'return {}', goto: [{if: \"state.x in ['a']\", to: __end__}, {to: __end__}]}]\n"):
        world.write(".pawl/kinds/echo.yaml", ECHO.replace("NAME", "echo"))
        world.write("m.yaml", text)
        world("check", "m.yaml").gives(DONE)
    for text, says in (("nodes: [{name: a}]\n", "does not say what it does"),
                       ("nodes: [{name: a, jq: '{}'}]\nedges: [{from: a, to: __end__, when: 'state.x'}]\n", "Expressions are jq"),
                       ("nodes: [{name: a, uses: echo, with: {x: plain text}}]\n", "Expressions are jq"),
                       ("nodes: [{name: a, jq: '{}', type: x}]\n", "`type` is no key")):
        world.write("m.yaml", text)
        world("check", "m.yaml").gives(FAILED).says(says)
    for when in ('contains("{{")', '. == "state.x {% \\"{{"', '"\\("{{")" == .', '.state.x'):
        world.write("m.yaml", "nodes: [{name: a, run: 'return {}', goto: [{if: %s, to: __end__}, {to: b}]}, {name: b, uses: echo, with: {x: %s}}]\n"
                    "edges: [{from: b, to: __end__, when: %s}, {from: b, to: __end__}]\n" % ((json.dumps(".x | " + when),) * 3))
        world("run", "m.yaml", "--input", '{"x": "text"}').gives(FAILED if when == ".state.x" else DONE)


def case_debug(world):
    """Breakpoints by name, stepping into branches and loops, changes before a condition"""
    put(world, each("steps: [{name: work, run: 'return {\"y\": state[\"item\"]}'}]") + "  - {name: after, run: 'return {\"n\": 1}'}\n"
        "  - {name: yes, run: 'return {\"took\": True}', goto: __end__}\n  - {name: no, run: 'return {\"took\": False}'}\n"
        "edges: [{from: after, to: yes, when: 'state.n == 5'}, {from: after, to: no}]\n")
    with Debugger(world, "a.yaml", "--input", '{"xs": [1, 2]}', store="memory:") as d:
        d.begin()
        d.call("breakpoint_set", node="work")
        d.call("breakpoint_set", node="after", position="after")
        stop = d.go("continue")
        world.same(sorted(set(stop.nodes)), ["work"], "where it stops")
        stop = d.go("continue")
        while "after" not in stop.nodes:
            stop = d.go("continue")
        d.call("set", path=".n", value=5)
        stop = d.go("continue")
        world.same(stop.status, "completed")


def case_debug_into(world):
    """Steps go into branches, loops and steps; a look at the config shows what is written"""
    world.write(".pawl/kinds/echo.yaml", ECHO.replace("NAME", "echo"))
    put(world, each("steps: [{name: work, run: 'return {\"y\": state[\"item\"]}'}]") + "  - {name: use, uses: echo, with: {x: '{{ state.xs }}', y: plain}}\n"
        "  - {name: loop, type: while_loop, condition: '{{ state.n < 1 }}', max_iterations: 3, body: [{name: up, run: 'state[\"n\"] += 1'}]}\n"
        "  - {name: both, steps: [{name: one, run: 'return {}'}]}\n")
    with Debugger(world, "a.yaml", "--input", '{"xs": [1], "n": 0}', store="memory:") as d:
        nodes = d.begin().nodes
        for _ in range(12):
            stop = d.go("step", kind="into")
            if stop.status:
                break
            nodes += stop.nodes
            if nodes[-1] == "use":
                world.same(d.call("config")["raw"]["with"]["x"], "{{ state.xs }}", "the config that is shown")
        world.same(stop.status, "completed", "how it ends")
        world.same(nodes, ["each", "each[]", "work", "collect", "use", "echo", "loop", "up", "both", "one"], "where it stops")


def case_debug_changes(world):
    """Nodes are edited, skipped and injected, in the way of the file or in ours"""
    put(world, "variables: {v: 3}\ninitial_state: {n: 1}\nnodes:\n  - {name: a, run: 'state[\"n\"] += 1'}\n  - {name: b, run: 'return {\"b\": 1}'}\n"
        "  - {name: c, run: 'return {\"c\": 1}'}\n")
    with Debugger(world, "a.yaml", store="memory:") as d:
        world.same(d.begin().nodes, ["a"])
        d.call("config_set", path=".run", value='state["n"] += 10 * variables.v')
        d.call("inject", name="first", node={"run": 'state["first"] = state["n"]'})
        d.call("inject", name="ours", node={"jq": "{ours: (.n + 1)}"})
        d.call("inject", where="after", name="rule", node={"uses": "jq", "with": {"jq": "{rule: .n}"}})
        stop = d.go("step", kind="over")
        while stop.nodes[-1] != "b":
            stop = d.go("step", kind="over")
        world.same(d.call("evaluate", expression=".")["results"][0], {"n": 31, "first": 1, "ours": 2, "rule": 31}, "the state")
        d.call("skip")
        world.same(d.go("continue").status, "completed")


def case_paused_and_cancelled(world):
    """A run is paused, let go on and cancelled while a condition is evaluated"""
    slow = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}" if HAS_JINJA else "sum(range(10 ** 12))"
    put(world, "nodes: [{name: a, run: 'print(1)'}, {name: b}]\nedges: [{from: a, to: b, when: %s}]\n" % json.dumps(slow))
    process = world.start("run", "a.yaml", "-q", "--store", "file:runs", "--thread", "t")
    world.until(lambda: "a" in world("history", "t", "--store", "file:runs").out, "the node is done")
    world.cancel("t", "--store", "file:runs")
    process.communicate()
    with Debugger(world, "a.yaml", store="memory:") as d:
        d.begin()
        d.call("continue")
        d.wait("output", node="a")
        world.nap(1)
        world.same(d.go("pause").nodes, ["a"], "where it stands")
        d.call("continue")


def case_killed(world):
    """A run that was killed while a condition was evaluated goes on where it was"""
    put(world, """\
nodes:
  - {name: a, run: 'return {"a": state.get("a", 0) + 1}'}
  - {name: b, run: 'return {"b": 1}'}
edges:
  - {from: a, to: b, when: "SLOW"}
""".replace("SLOW", "{% for a in range(3000) %}{% for b in range(3000) %}{% endfor %}{% endfor %}{% if state.a == 1 %}y{% endif %}"
            if HAS_JINJA else "sum(range(90000000)) > 0 and state.a == 1"))
    process = world.start("run", "a.yaml", "-q", "--store", "file:runs", "--thread", "t")
    world.until(lambda: "a" in world("history", "t", "--store", "file:runs").out, "the node is done")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    got = json.loads(world("resume", "t", "-q", "--store", "file:runs").gives(DONE).out)
    world.same(got, {"a": 1, "b": 1})


def case_endless(world):
    """A condition that never ends, and code that never does, end with the node's time"""
    slow = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}" if HAS_JINJA else "sum(range(10 ** 12))"
    run(world, "nodes: [{name: a, timeout: 1s, run: 'return {}'}]\nedges: [{from: a, to: __end__, when: %s}]\n" % json.dumps(slow),
        code=FAILED).says("took longer than 1 s")
    run(world, "nodes: [{name: a, timeout: 500ms, run: 'while True: pass'}]\n", code=FAILED).says("timeout")


# ---- the public files ----


def public_files():
    given = os.environ.get("PAWL_TEST_DATA")
    folder = (Path(given) if given else ROOT.parent / "shared" / "data") / "edge-agent"
    return folder, sorted(folder.rglob("*.yaml")) if folder.is_dir() else []


def actions_of(text):
    return {line.split("uses:")[1].split("#")[0].strip(" \"'},") for line in text.splitlines() if "uses:" in line}


EXCUSED = {  # of the public files: why they are refused
    "broken/": "broken on purpose",
    "unreferenced_node.yaml": "A14: nothing in it tells it from a graph of ours",
    "parity-test-interactive.yaml": "A17: interrupts without a store",
}
NEEDS = ("uses:", "action:", "subprocess", "streams:", "open(", "requests", "os.", "interrupt:")
# Of those that need nothing: what they are given, and what their states have in the end, or the sentence that they fail with.
PREDICTED = {
    "basic/simple-workflow.yaml": ({"input": "abc"}, {"output": "ABC"}),
    "yaml/analysis_subgraph.yaml": ({"data_source": {"name": "n", "type": "t"}, "config": {"include_statistics": True}},
                                    {"source_name": "n", "source_type": "t", "index": 0, "data_loaded": True, "analysis_complete": True}),
    # A11: `output` of a dynamic_parallel is not read, so that the report finds nothing under that name
    "yaml/dynamic_parallel_fail_fast.yaml": ({}, {"report": {"passed_count": 0, "failed_count": 0, "passed_items": []}}),
    "dx_001_2/auto_trace_off.yaml": ({}, {"result": "ok"}),
    "dx_001_2/simple.yaml": ({"value": 7}, {"result": "value=7"}),
    "heartbeat/parallel_fanout.yaml": ({}, {"count": 1 + 2 + 3}),
    "fixtures/hierarchical_ltm_config.yaml": ({"input": "x"}, {"output": "Processed: x"}),
    "fixtures/hierarchical_ltm_missing_required.yaml": ({}, {}),
    "strict_known_bad/dead_state_key.yaml": ({}, "None of the edges from `classify` holds"),
    "strict_known_good/no_edges_implicit.yaml": ({}, {"out": "b"}),
    "fixtures/interruptible_workflow.yaml": ({"approved": True, "count": 2}, {"count": 3, "step": "completed", "status": "success"}),
    "overlay/base_large_array.yaml": ({}, {"step": 15}),
}


def case_public(world):
    """Of the public files at least 85 % pass check, with stubs for their actions; the rest is listed"""
    folder, files = public_files()
    if not files:
        raise Skipped(f"there are no files in {folder} (set PAWL_TEST_DATA)")
    for action in set().union(*(actions_of(path.read_text()) for path in files)):
        world.write(f"kinds/{action}.yaml", ECHO.replace("NAME", action))
    passed, left = 0, []
    for path in files:
        name = str(path.relative_to(folder))
        answer = world("check", "--kinds", "kinds", path)
        if answer.code == DONE:
            passed += 1
            continue
        why = [reason for part, reason in EXCUSED.items() if part in name]
        if not why:
            raise Broken(f"{name} is refused: {answer}")
        left.append(f"{name}: {why[0]}")
    print(f"# {passed} of {len(files)} pass")
    for line in left:
        print(f"#   {line}")
    if passed < 0.85 * len(files):
        raise Broken(f"only {passed} of {len(files)} pass")


def case_public_runs(world):
    """The public files that need nothing outside run to the result that is predicted for them"""
    folder, files = public_files()
    if not files:
        raise Skipped(f"there are no files in {folder} (set PAWL_TEST_DATA)")
    ran = 0
    for path in files:
        name, text = str(path.relative_to(folder)), path.read_text()
        if any(word in text for word in NEEDS) or any(part in name for part in EXCUSED):
            continue
        given, want = next((row for part, row in PREDICTED.items() if name.endswith(part)), ({}, {}))
        answer = world("run", path, "-q", "--store", "memory:", "--input", json.dumps(given))
        if isinstance(want, str):
            answer.gives(FAILED).says(want)
        else:
            state = answer.gives(DONE).json
            world.same({key: state[key] for key in want}, want, f"what {name} comes to")
        ran += 1
    print(f"# {ran} of {len(files)} need nothing outside, and ran")


def main(pawl):
    cases = cases_of(sys.modules[__name__], "case_")
    if not HAS_JINJA:
        print("# skipped: the cases of templates, since jinja2 is not installed")
        cases = [case for case in cases if not getattr(case, "needs_jinja", False)]
    return run_all(cases, pawl)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
