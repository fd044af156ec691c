#!/usr/bin/env python3
"""Why a run went where it went: the record has the edge that was taken, and what each condition gave that was tried
before it. Prints TAP.

    tests/engine/edges.py PAWL
"""

import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from debugger import Debugger  # noqa: E402
from world import DONE, FAILED, WAITING, cases_of, run_all  # noqa: E402

STORES = ("sqlite:x.db", "file:x")

FLOW = """\
state: {n: 0}
nodes:
  - {name: count, jq: '{n: (.n + 1)}'}
  - {name: odd, jq: '{last: "odd"}'}
  - {name: even, jq: '{last: "even"}'}
  - {name: bad, shell: exit 3}
  - {name: saved, jq: '{saved: true}'}
edges:
  - {from: __start__, to: count, when: .n == 0}
  - {from: __start__, to: __end__}
  - {from: count, to: bad, when: .n > 3}
  - {from: count, to: odd, when: .n % 2 == 1}
  - {from: count, to: even, when: .last}
  - {from: odd, to: count}
  - {from: even, to: count}
  - {from: bad, to: __end__}
  - {from: bad, to: saved, on: error, when: '.error.kind == "exit"'}
  - {from: saved, to: __end__}
"""


def short(edge):
    """count -> odd: [false, true]"""
    gave = [row["gave"] if "gave" in row else (row.get("type", "error"), row.get("size", row.get("error")))
            for row in edge["tried"]]
    return (edge["from"], *edge["to"], gave) + (("error",) if edge.get("error") else ())


def choices(world, thread="t", store=None):
    rows = world("history", thread, "-v", "--json", *(["--store", store] if store else [])).gives(DONE).json
    return [(row.get("node", ""), [short(edge) for edge in row["edges"]]) for row in rows if "edges" in row]


WENT = [
    ("", [("__start__", "count", [True])]),
    ("count", [("count", "odd", [False, True])]),
    ("count", [("count", "even", [False, False, "odd"])]),
    ("count", [("count", "odd", [False, True])]),
    ("count", [("count", "bad", [True])]),
    ("bad", [("bad", "saved", [True], "error")]),
]


def edges_are_on_record(world):
    """each checkpoint has the edge that was taken and what the conditions gave, whatever the store"""
    world.write("flow.yaml", FLOW)
    for store in STORES:
        world("run", "flow.yaml", "--thread", "t", "--store", store, "-q").gives(DONE)
        world.same(choices(world, store=store), WENT, store)
        world("store", "check", "--store", store).gives(DONE)


def edges_of_one_way_are_not(world):
    """where there is one edge and no condition, nothing is said"""
    world.write("flow.yaml", "nodes: [{name: a, jq: '{}'}, {name: b, jq: '{}'}]\n")
    world("run", "flow.yaml", "--thread", "t", "-q").gives(DONE)
    world.same(choices(world), [])


def edges_by_the_last(world):
    """the edge without a condition is taken when those before it gave false"""
    world.write("flow.yaml", """\
nodes: [{name: a, jq: '{n: 1}'}, {name: b, jq: '{}'}, {name: c, jq: '{}'}]
edges:
  - {from: __start__, to: a}
  - {from: a, to: b, when: .n > 1}
  - {from: a, to: c}
  - {from: b, to: __end__}
  - {from: c, to: __end__}
""")
    world("run", "flow.yaml", "--thread", "t", "-q").gives(DONE)
    world.same(choices(world), [("a", [("a", "c", [False])])])


def edges_after_a_question(world):
    """an edge that is chosen when somebody has answered is in the checkpoint that comes next"""
    world.write("flow.yaml", """\
config: {interrupt_after: [a], checkpointer: sqlite}
nodes: [{name: a, jq: '{n: 1}'}, {name: b, jq: '{}'}, {name: c, jq: '{}'}]
edges:
  - {from: __start__, to: a}
  - {from: a, to: b, when: .n > 1}
  - {from: a, to: c, when: .n}
  - {from: b, to: __end__}
  - {from: c, to: __end__}
""")
    world("run", "flow.yaml", "--thread", "t", "-q").gives(WAITING)
    world.same(choices(world), [])
    world("resume", "t", "-q", "--set", "n=1").gives(DONE)
    world.same([edges for _, edges in choices(world)], [[("a", "c", [False, 1])]])


def edges_inside(world):
    """in a sub-workflow, and in the branches of a parallel edge"""
    world.write("inner.yaml", """\
nodes: [{name: x, jq: '{x: 1}'}, {name: y, jq: '{y: 1}'}]
edges:
  - {from: __start__, to: y, when: .n > 5}
  - {from: __start__, to: x, when: .n > 0}
  - {from: x, to: y, when: .x == 1}
  - {from: y, to: __end__}
""")
    world.write("flow.yaml", """\
state: {n: 1}
nodes:
  - {name: a, jq: '{}'}
  - {name: sub, workflow: ./inner.yaml}
  - {name: b, jq: '{b: 1}'}
  - {name: c, jq: '{c: 1}'}
  - {name: end, jq: '{}'}
edges:
  - {from: __start__, to: a}
  - {from: a, to: [sub, b], when: .n == 1, fan_in: end}
  - {from: a, to: end}
  - {from: sub, to: end}
  - {from: b, to: c, when: .b}
  - {from: c, to: end}
  - {from: end, to: __end__}
""")
    world("run", "flow.yaml", "--thread", "t", "-q").gives(DONE)
    told = sorted(str(edge) for _, edges in choices(world) for edge in edges)
    world.same(told, sorted(str(edge) for edge in (
        ("a", "sub", "b", [True]), ("__start__", "x", [False, True]), ("x", "y", [True]), ("b", "c", [1]))))


def edges_of_large_values(world):
    """of a condition that gives a large value the record has what it is and how large, beside the values that were given"""
    world.write("flow.yaml", """\
nodes:
  - {name: a, jq: '{list: [range(5000)], text: ("x" * 300), object: {string: 300}, none: null}'}
  - {name: b, jq: '{}'}
  - {name: c, jq: '{}'}
edges:
  - {from: __start__, to: a}
  - {from: a, to: __end__, when: .none}
  - {from: a, to: b, when: .list}
  - {from: b, to: a, when: '.text == 1'}
  - {from: b, to: c, when: .object}
  - {from: c, to: __end__, when: .text}
""")
    world("run", "flow.yaml", "--thread", "t", "-q").gives(DONE)
    world.same(choices(world), [("a", [("a", "b", [None, ("array", 5000)])]),
                                ("b", [("b", "c", [False, ("object", 1)])]),
                                ("c", [("c", "__end__", [("string", 300)])])])
    out = world("history", "t", "-v").gives(DONE)
    out.says("b (.none: null, .list: an array of 5000 elements)")
    out.says("c (.text == 1: false, .object: an object of 1 key)")
    out.says("__end__ (.text: a text of 300 bytes)")


def edges_that_fail(world):
    """a condition that fails is told with its error, and what was tried before it; so is where none holds"""
    flow = """\
nodes: [{name: a, jq: '{n: 1, text: "no"}'}, {name: b, jq: '{}'}, {name: c, jq: '{}'}]
edges:
  - {from: __start__, to: a}
  - {from: a, to: b, when: .n > 5}
  - {from: a, to: b, when: .nothing}
  - {from: a, to: c, when: %s}
  - {from: a, to: __end__, when: .n == 1}
  - {from: b, to: __end__}
  - {from: c, to: __end__}
"""
    rows = ((".text + 1", "cannot be added"), ("empty", "gives no result"))
    for store in STORES:
        for i, (when, why) in enumerate(rows):
            thread = f"t{i}"
            world.write("flow.yaml", flow % json.dumps(when))
            world("run", "flow.yaml", "--thread", thread, "-q", "--store", store).gives(FAILED)
            (node, [edge]), = choices(world, thread, store)
            world.same((node, edge[0], edge[1][:2], edge[1][2][0]), ("a", "a", [False, None], "error"), when)
            assert why in edge[1][2][1], edge
            out = world("history", thread, "-v", "--store", store).gives(DONE)
            out.says(f"nowhere (.n > 5: false, .nothing: null, {when}: failed: ")
            with Debugger(world, thread, "--store", store) as d:
                last = d.call("edges")["last"]
                world.same((last["from"], last["to"], len(last["tried"])), ("a", [], 3))
        world.write("flow.yaml", (flow % "'.n > 7'").replace(".n == 1", ".n == 2"))
        world("run", "flow.yaml", "--thread", "none", "-q", "--store", store).gives(FAILED)
        world.same(choices(world, "none", store), [("a", [("a", [False, None, False, False])])])


def edges_that_fail_at_the_start(world):
    """the condition of an edge from the start, and inside a sub-workflow"""
    world.write("sub.yaml", """\
nodes: [{name: x, jq: '{}'}]
edges: [{from: __start__, to: x, when: .n == 2}, {from: __start__, to: x, when: '.n | error'}, {from: x, to: __end__}]
""")
    world.write("flow.yaml", "state: {n: 1}\nnodes: [{name: s, workflow: ./sub.yaml}]\n")
    for name in ("sub", "flow"):
        world("run", name + ".yaml", "--thread", name, "-q", "--input", '{"n": 1}').gives(FAILED)
        told = [edges for _, edges in choices(world, name)]
        world.same([(e[0], e[1][0], e[1][1][0]) for edges in told for e in edges], [("__start__", False, "error")], name)


def edges_of_long_conditions(world):
    """a condition that takes many turns is told as the others are"""
    world.write("flow.yaml", """\
nodes: [{name: a, jq: '{n: 1}'}, {name: b, jq: '{}'}]
edges:
  - {from: __start__, to: a}
  - {from: a, to: __end__, when: .nothing}
  - {from: a, to: __end__, when: 'reduce range(300000) as $i (0; . + $i) < 0'}
  - {from: a, to: b, when: 'reduce range(300000) as $i (0; . + 1)'}
  - {from: b, to: __end__}
""")
    world("run", "flow.yaml", "--thread", "t", "-q").gives(DONE)
    world.same([edges for _, edges in choices(world)], [[("a", "b", [None, False, 300000])]])


def edges_outlive_a_kill(world):
    """a run that was killed tells of the edges before and after it"""
    world.write("flow.yaml", FLOW.replace("jq: '{saved: true}'", "shell: touch here; sleep 60"))
    process = world.start("run", "flow.yaml", "--thread", "t", "-q")
    world.wait_for("here")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    world.same(choices(world), WENT)
    world("cancel", "t").gives(DONE)


def edges_outlive_pruning(world):
    """what is kept of a pruned run still says where it went"""
    world.write("flow.yaml", FLOW)
    world("run", "flow.yaml", "--thread", "t", "-q").gives(DONE)
    world("prune", "--keep-last", "3").gives(DONE)
    world.same(choices(world), WENT[-2:])
    world("store", "check").gives(DONE)


def edges_in_an_export(world):
    """a run that was exported and imported says the same"""
    world.write("flow.yaml", FLOW)
    with Debugger(world, "flow.yaml", "--thread", "t") as d:
        d.begin()
        d.call("breakpoint_set", spec="saved")
        d.go("continue")
        document = d.call("export")
    world.write("run.json", json.dumps(document))
    before = [edges for _, edges in choices(world)]
    world.same([edge for edges in before for edge in edges if edge[0] != "__start__"],
               [edge for _, edges in WENT[1:] for edge in edges])
    with Debugger(world, "--open", "run.json") as d:
        d.wait("stopped")
        world.same(short(d.call("edges")["last"]), before[-1][-1])


def edges_in_the_debugger(world):
    """a paused frame is told the edges from its node, and the choice that it came by"""
    world.write("flow.yaml", FLOW)
    with Debugger(world, "flow.yaml", "--thread", "t") as d:
        d.begin()
        d.call("breakpoint_set", spec="even")
        d.go("continue")
        answer = d.call("edges")
        world.same(answer["node"], "even")
        world.same(answer["edges"], [{"to": ["count"]}])
        world.same(short(answer["last"]), ("count", "even", [False, False, "odd"]))
        d.go("step", kind="over")
        answer = d.call("edges")
        world.same([row.get("when") for row in answer["edges"]], [".n > 3", ".n % 2 == 1", ".last"])
        d.go("back", count=2)
        world.same(short(d.call("edges")["last"])[:2], ("count", "odd"))


def edges_of_a_branch(world):
    """a branch that has chosen nothing itself is told the choice of the frame around it"""
    world.write("flow.yaml", """\
state: {n: 1}
nodes: [{name: a, jq: '{}'}, {name: b, jq: '{b: 1}'}, {name: c, jq: '{c: 1}'}, {name: end, jq: '{}'}]
edges:
  - {from: __start__, to: a}
  - {from: a, to: [b, c], when: .n == 1, fan_in: end}
  - {from: a, to: end}
  - {from: b, to: end}
  - {from: c, to: end}
  - {from: end, to: __end__}
""")
    with Debugger(world, "flow.yaml", "--thread", "t") as d:
        d.begin()
        d.call("breakpoint_set", spec="b")
        d.go("continue")
        world.same(short(d.call("edges")["last"]), ("a", "b", "c", [True]))


def main():
    return run_all(cases_of(sys.modules[__name__], "edges_"), sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
