#!/usr/bin/env python3
"""Time and the debugger: back in the history, after the end, across kill -9, and clocks that stand still
while a frame is paused. Prints TAP.

    tests/engine/debug_time.py PAWL
"""

import copy
import json
import os
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from debugger import BRANCHES as FORK, Debugger, debug, debug_tasks  # noqa: E402
from playbook import Server, choose, sets, shell  # noqa: E402
from world import Broken, DONE, FAILED, TIMEOUT, USAGE, WAITING, cases_of, paced, run_all  # noqa: E402

CHAIN = "state: {n: 1}\nnodes:\n" + "".join(
    f"  - {{name: s{i}, jq: '{{n: (.n * 2 + {i}), seen: ((.seen // []) + [{i}])}}'}}\n" for i in range(1, 9))

STORES = ("sqlite:st.db", "file:st")


def debugger(world, text, thread="t", store=None):
    world.write("w.yaml", text)
    d = Debugger(world, "w.yaml", "--thread", thread, store=store)
    d.begin()
    return d


def at(world, node, text, **more):
    d = debugger(world, text, **more)
    d.set(node, once=True)
    world.same(d.go("continue").one["node"], node, "where it stopped")
    return d


def with_store(store):
    return ["--store", store] if store else []


def state_of(world, thread="t", store=None):
    return world("show", thread, "--json", *with_store(store)).gives(DONE).json


def next_event(d, name, operation, **args):
    """The first one of that name that comes after the answer."""
    d.call(operation, **args)
    d.taken.update(range(d.read_to))
    return d.wait(name)


def ended(d, status="completed", operation="continue", **args):
    """Lets it go to its end, past nothing."""
    event = next_event(d, "settled", operation, **args)
    pauses = [e for e in d.lines[d.read_to:] if e.get("event") == "paused"]
    if event["status"] != status or pauses:
        raise Broken(f"the run should be {status} now: {event}\n{d.transcript()}")
    return event


def finish(d):
    d.call("breakpoint_delete", all=True)
    return ended(d, frame="all")


def node_now(d):
    frame = d.call("frame")
    if frame["status"] != "paused":
        raise Broken(f"it is not paused: {frame}")
    return frame["node"]


def steps_of(d, **args):
    return [(s["node"], s["result"]) for s in d.call("history", **args)["steps"]]


def kill(d):
    d.process.kill()
    d.process.wait(timeout=TIMEOUT)
    for thread in d.threads:
        thread.join(timeout=5)


def reopened(world, thread="t", store=None):
    return Debugger(world, thread, store=store)


# ---- back in the history ----


def back_five_times_and_another_way(world):
    """five steps back, a change, and on: both futures are in the history, and diff shows where they part"""
    with at(world, "s7", CHAIN) as d:
        before = d.value(".n")
        nodes = []
        for _ in range(5):
            answer = d.call("back")
            nodes.append(answer["node"])
            world.same(node_now(d), answer["node"], "where it is")
        world.same(nodes, ["s6", "s5", "s4", "s3", "s2"])
        world.same(d.value("[.n, .seen]"), [3, [1]], "the state then")
        d.call("set", path=".n", value=1000)
        ended(d)
        world.same([s[0] for s in steps_of(d)], [f"s{i}" for i in range(1, 9)], "the line that it is on")
    state = state_of(world)
    world.same((state["seen"], state["n"] > 64000), ([1, 2, 3, 4, 5, 6, 7, 8], True))
    rows = world("history", "t", "--json").json
    done = [r for r in rows if r["status"] == "completed"]
    world.same([r["node"] for r in done], [f"s{i}" for i in (1, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6, 7, 8)],
               "both futures")
    old = [r["checkpoint"] for r in done if r["node"] == "s6"][0]
    world.same(world("show", f"t@{old}", "--json").json["n"], before, "the old future")
    parted = world("diff", "--runs", f"t@{old}", "t", "--json").gives(1).json
    world.same((parted["same"], parted["steps"], parted["a"]["node"]), (False, 1, "s2"))
    world.same(parted["diff"]["changed"][0]["path"], ["n"])
    world("diff", f"t@{old}", "t").gives(DONE).says(".n:")
    world("store", "check").gives(DONE)


def back_and_what_is_told(world):
    """after back and goto the next order is told from its own beginning: nothing old comes behind it"""
    with at(world, "s7", CHAIN) as d:
        there = d.call("session")["checkpoint"]
        for operation, args in (("back", {}), ("goto", {"checkpoint": there}), ("goto", {"node": "s2"}),
                                ("reverse_continue", {})):
            d.call(operation, **args)
            stop = d.go("step", kind="over")
            if len(stop.paused) != 1 or [e["paused"] for e in stop.of("stopped")] != [[1]]:
                raise Broken(f"after {operation} a step tells: {stop}")


def back_at_once(world):
    """back with a count is as many single steps; one too many is refused and changes nothing"""
    with at(world, "s7", CHAIN) as d:
        d.refuse("back", count=7)
        world.same(node_now(d), "s7")
        world.same(d.call("back", count=6)["node"], "s1")
        d.refuse("back", "beginning")
        ended(d)
    world.same(state_of(world)["seen"], [1, 2, 3, 4, 5, 6, 7, 8])


def back_and_forward_the_same(world):
    """back without a change and forward again: the same result"""
    with at(world, "s8", CHAIN) as d:
        d.call("back", count=3)
        world.same([next_event(d, "paused", "step", kind="over")["node"] for _ in range(2)], ["s6", "s7"])
        ended(d)
    world("run", "w.yaml", "--thread", "u", "-q").gives(DONE)
    world.same(state_of(world), state_of(world, "u"))
    world("diff", "--runs", "t", "u").gives(DONE).says("the same")


TASKS = """
id: test
config: {n: 1}
tasks:
  - {name: run_shell, id: a, config: {command: 'echo a >> ran; echo "::set-json n 2"'}}
  - {name: run_tasks, id: c, config: {tasks: [
      {name: run_shell, id: b, config: {envVars: {N: n}, command: 'echo "b $N" >> ran'}},
      {name: run_shell, id: e, config: {envVars: {N: n}, command: 'echo "e $N" >> ran'}}]}}
  - {name: run_shell, id: z, config: {command: echo z >> ran}}
"""

STEPS = """
steps:
  - {id: a, type: script, config: {command: echo a >> ran}}
  - {id: b, type: script, config: {command: echo b >> ran}}
  - {id: z, type: script, config: {command: echo z >> ran}}
"""


def back_to_before_what_failed(world):
    """from a pause at an error, or in the midst of a node, `back` leads to before that node; the next one further"""
    world.write("in.yaml", "nodes: [{name: x, shell: 'exit 3'}]\n")
    first = {"shell": "{name: x, shell: 'exit 3'}", "jq": "{name: x, jq: 'error(\"no\")'}",
             "workflow": "{name: s, workflow: ./in.yaml}"}
    for thread, node in first.items():
        world.write(f"{thread}.yaml", f"nodes: [{{name: p, jq: '{{}}'}}, {{name: q, jq: '{{}}'}}, {node}]\n")
        world("run", f"{thread}.yaml", "--thread", thread, "--break", "error", "-q").gives(WAITING)
        with Debugger(world, thread) as d:
            world.same(d.call("back")["node"], "x", "where the first leads")
            world.same(d.call("back")["node"], "s" if thread == "workflow" else "q", "where the next leads")
            d.call("goto", checkpoint=1)
            world.same(d.call("frame")["node"], "p", "at the beginning")
        world.write("alone.yaml", f"nodes: [{node}]\n")
        world("run", "alone.yaml", "--thread", f"{thread}-alone", "--break", "error", "-q").gives(WAITING)
        with Debugger(world, f"{thread}-alone") as d:
            world.same(d.call("back")["node"], "x", "the first of all")


def back_in_a_test(world):
    """back over tasks, also inside a list of them: they are done again, with what was changed"""
    with at(world, "z", TASKS) as d:
        nodes = [d.call("back")["node"]]
        while nodes[-1] != "b":
            nodes.append(d.call("back")["node"])
            if len(nodes) > 4:
                raise Broken(f"it never comes to b: {nodes}")
        world.same(nodes[-2:], ["e", "b"])
        d.call("set", path=".n", value=9)
        ended(d)
    world.same(world.read("ran").split("\n"), ["a", "b 2", "e 2", "b 9", "e 9", "z", ""], "what ran")


def back_in_a_pipeline(world):
    """back over a step of a pipeline: it is done again"""
    with at(world, "z", STEPS) as d:
        world.same(d.call("back")["node"], "b")
        world.same(d.value(".steps | keys"), ["a"])
        ended(d)
    world.same(world.read("ran"), "a\nb\nb\nz\n", "what ran")


BRANCHES = """
state: {log: {default: [], reduce: append}}
nodes:
  - {name: s, jq: '{k: 1}'}
  - {name: a1, jq: '{log: ["a1 \\(.k)"]}'}
  - {name: a2, jq: '{log: ["a2 \\(.k)"]}'}
  - {name: b1, jq: '{log: ["b1 \\(.k)"]}'}
  - {name: b2, jq: '{log: ["b2 \\(.k)"]}'}
  - {name: c1, jq: '{log: ["c1 \\(.k)"]}'}
  - {name: c2, jq: '{log: ["c2 \\(.k)"]}'}
  - {name: j, jq: '{joined: (.log | length)}'}
edges:
  - {from: s, to: [a1, b1, c1], fan_in: j}
  - {from: a1, to: a2}
  - {from: b1, to: b2}
  - {from: c1, to: c2}
  - {from: [a2, b2, c2], to: j}
  - {from: j, to: __end__}
"""


def back_over_an_edited_node(world):
    """back over a node whose config was edited stands before it in its own file, still edited"""
    for kind, text, path, node in (
            ("graph", EDITED, ".env.N", "b"),
            ("pure", EDITED, ".jq", "c"),
            ("tasks", TASKS, ".config.command", "e"),
            ("steps", STEPS, ".config.command", "b")):
        line = 1 + next(i for i, row in enumerate(text.split("\n")) if f"name: {node}," in row
                        or f"id: {node}," in row)
        with at(world, node, text, thread=kind) as d:
            value = {"graph": "7", "pure": "{c: 7}"}.get(kind, "echo edited >> ran")
            d.call("config_set", path=path, value=value)
            d.go("step", kind="over")
            nodes = [d.call("back")["node"]]
            while nodes[-1] != node and len(nodes) < 3:  # over the end of the list that holds it
                nodes.append(d.call("back")["node"])
            world.same(nodes[-1], node, kind)
            frame = d.call("frame")
            world.same([frame[key] for key in ("node", "position", "file", "line", "depth", "edited")],
                       [node, "before", "w.yaml", line, 2 if kind == "tasks" else 1, True], kind)
            paused = d.told("paused", node=node)[-1]
            world.same((paused["file"], paused["line"], paused["edited"]), ("w.yaml", line, True), kind)
            source = d.call("source")
            world.same((source["file"], source["current"]), ("w.yaml", line), f"{kind}: the source")
            if f"{node}," not in source["lines"][line - source["first"]]:
                raise Broken(f"the text is not that of the file: {source}")
            world.same(d.call("config")["edited"], True, f"{kind}: its config")
            ended(d)
        with reopened(world, kind) as d:
            d.call("goto", checkpoint=[s for s in d.call("history")["steps"] if s["edited"]][0]["parent"])
            world.same((node_now(d), d.call("frame")["edited"]), (node, True), f"{kind}, later")
            d.call("config_reset")
            world.same("edited" in d.call("frame"), False, f"{kind}: taken back")
            ended(d)
            world.same([s["edited"] for s in d.call("history")["steps"] if s["node"] == node], [False], kind)
    world.same(state_of(world, "graph")["b"]["stdout"], "b 1")
    world.same(state_of(world, "pure")["c"], 1)


EDITED = """
state: {n: 1}
nodes:
  - {name: a, jq: '{a: 1}'}
  - {name: b, shell: 'echo "b $N"', env: {N: .n}, output: b}
  - {name: c, jq: '{c: .n}'}
  - {name: z, jq: '{z: 1}'}
"""


def edited_node_that_fails_is_in_its_file(world):
    """an edited node that fails, or is stopped while it runs, is shown in the workflow's file"""
    with at(world, "b", EDITED) as d:
        d.call("config_set", path=".shell", value="exit 3")
        d.set(type="exception")
        stop = d.go("continue").one
        world.same([stop[key] for key in ("node", "position", "file", "line", "edited")],
                   ["b", "on_error", "w.yaml", 5, True])
        world.same((stop["error"]["file"], stop["error"]["line"]), ("w.yaml", 5), "the error")
        node = d.call("node")
        world.same((node["file"], node["line"], node.get("injected")), ("w.yaml", 5, None), "the node")
        world.same([(s["file"], s["line"]) for s in d.call("frame")["stack"]], [("w.yaml", 5)] * 2)
        d.call("config_set", path=".env.N", value="error(\"no\")")
        stop = d.go("retry").one
        world.same((stop["error"]["file"], stop["error"]["line"]), ("w.yaml", 5), "of an expression")


def edited_loop_shows_its_body_in_the_file(world):
    """what is inside an edited node stands where it does in the file"""
    text = """
nodes:
  - name: l
    while: (.n // 0) < 2
    do:
      - {name: add, jq: '{n: ((.n // 0) + 1)}'}
      - {name: say, jq: '{said: .n}'}
"""
    with debugger(world, text) as d:
        d.call("config_set", path=".while", value="(.n // 0) < 3")
        d.set("say")
        stop = d.go("continue").one
        world.same([stop[key] for key in ("node", "file", "line")], ["say", "w.yaml", 7])
        world.same([(s["node"], s["line"]) for s in d.call("frame")["stack"]],
                   [("say", 7), ("l", 3), ("l", 3)])
        world.same(d.call("source")["current"], 7)
        world.same(d.call("back")["node"], "add")
        world.same(d.call("frame")["line"], 6)
        finish(d)
    world.same(state_of(world)["n"], 3)


def back_over_a_node_that_one_was_injected_before(world):
    """back over a node stands before it, not in what was injected before it"""
    with at(world, "c", EDITED) as d:
        d.call("inject", name="note", node={"jq": "{n: 5}"})
        d.go("step", kind="over")
        d.go("step", kind="over")
        world.same(node_now(d), "z")
        world.same((d.call("back")["node"], d.value(".n")), ("c", 5))
        world.same((d.call("back")["node"], d.value(".n")), ("note", 1))
        ended(d)
    world.same(state_of(world)["c"], 5)


def back_over_a_join(world):
    """back over a join is to the last step of the branches, which then come to the same result"""
    with at(world, "j", BRANCHES) as d:
        back = d.call("back")
        world.same((back["node"] in ("a2", "b2", "c2"), back["frame"] > 1), (True, True))
        finish(d)
    world.same(state_of(world)["joined"], 6)


def back_out_of_the_branches(world):
    """back from the first node of a branch is to before the branches"""
    with at(world, "b1", BRANCHES) as d:
        for _ in range(8):
            if d.call("back")["node"] == "s":
                break
        world.same(node_now(d), "s")
        world.same(list(d.frames()), ["main"])
        d.call("set", path=".x", value=1)
        finish(d)
    state = state_of(world)
    world.same((state["joined"], state["x"]), (6, 1))


NESTED = """\
name: nested
state: {n: 0}
nodes:
  - {name: first, jq: '{a: 1}'}
  - {name: loop, while: .n < 2, do: [{name: inc, jq: '{n: (.n + 1)}'}, {name: note, jq: '{b: .n}'}]}
  - {name: each, map: {over: '[1]', as: i}, do: {jq: $i}}
  - {name: last, jq: '{c: 1}'}
"""


def back_out_of_what_was_entered(world):
    """back takes back a step into a loop, a map or a workflow: it stands before that node again"""
    world.write("inner.yaml", "name: inner\nnodes: [{name: inside, jq: '{x: 1}'}]")
    flow = NESTED + "  - {name: sub, workflow: ./inner.yaml, output: sub}\n"
    for node, inside in (("loop", "inc"), ("each", "each[]"), ("sub", "inside")):
        with debug(world, flow) as d:
            d.set(node=node)
            d.go("continue")
            world.same(d.go("step", kind="into").one["node"], inside)
            world.same(d.call("back")["node"], node)
            world.same(d.call("frame")["position"], "before")
            world.same(d.go("step", kind="into").one["node"], inside, "again")
            d.finish()


def back_through_what_holds_others(world):
    """back through a loop is always somewhere: between its turns and behind them during the loop"""
    places = []
    with debug(world, NESTED) as d:
        d.set(node="each")
        d.go("continue")
        for _ in range(7):
            answer = d.call("back")
            frame = d.call("frame")
            world.same(answer["node"], frame["node"])
            places.append((frame["position"], frame["node"]))
        d.finish()
    world.same(places, [("during", "loop"), ("before", "note"), ("during", "loop"),
                        ("before", "note"), ("before", "inc"), ("before", "loop"),
                        ("before", "first")])


def reverse_to_a_hit(world):
    """reverse-continue stops where a breakpoint would have hit last, also one that was set later"""
    with debugger(world, CHAIN) as d:
        d.set("s2")
        d.set("s7")
        d.go("continue")
        d.go("continue")
        later = d.set("s4 if .seen == [1, 2, 3]")["id"]
        answer = d.call("reverse_continue")
        world.same((answer["node"], answer["breakpoints"]), ("s4", [later]))
        world.same(d.value(".seen"), [1, 2, 3])
        answer = d.call("reverse_continue")
        world.same((answer["node"], answer["breakpoints"]), ("s2", [1]))
        answer = d.call("reverse_continue")
        world.same((answer["node"], answer["breakpoints"]), ("s1", []))
        finish(d)
    world.same(state_of(world)["seen"], [1, 2, 3, 4, 5, 6, 7, 8])


def reverse_to_after_and_states(world):
    """reverse-continue knows breakpoints after a node, conditions anywhere and changes of the state"""
    with at(world, "s8", CHAIN) as d:
        after = d.set("s5:after")["id"]
        answer = d.call("reverse_continue")
        world.same(answer["breakpoints"], [after])
        world.same(d.value(".seen"), [1, 2, 3, 4, 5])
        d.call("breakpoint_delete", all=True)
        any_ = d.set("if .n == 3")["id"]
        world.same((d.call("reverse_continue")["breakpoints"], d.value(".n")), ([any_], 3))
        finish(d)


MAPS = """
nodes:
  - {name: m, map: {over: '[1, 2, 3, 4]', as: x, limit: 1}, do: {jq: '$x * 2'}}
  - {name: o, map: {over: '[1, 2]', as: x, limit: 1}, do: {map: {over: '[10, 20]', as: y, limit: 1}, do: {jq: '$x + $y'}}}
  - {name: z, jq: '{z: 1}'}
"""


def reverse_to_an_element_of_a_map(world):
    """reverse-continue knows the variables of maps: a condition on one is hit as on the way there"""
    with at(world, "z", MAPS) as d:
        for spec, node, variables, want in (("o[][] if $x == 1 and $y == 20", "o[][]", "[$x, $y]", [1, 20]),
                                            ("m[] if $x == 3", "m[]", "[$x, $index]", [3, 2]),
                                            ("if $x == 2 and $index == 1", "m[]", "[$x, $index]", [2, 1])):
            id_ = d.set(spec)["id"]
            answer = d.call("reverse_continue")
            world.same((answer["node"], answer["breakpoints"]), (node, [id_]), spec)
            world.same(d.value(variables), want, spec)
            d.call("breakpoint_delete", all=True)
        finish(d)
    state = state_of(world)
    world.same((state["m"], state["o"]), ([2, 4, 6, 8], [[11, 21], [12, 22]]))


def reverse_to_a_change_at_a_place(world):
    """reverse-continue knows changes of the state at one node, and under a condition"""
    with at(world, "s8", CHAIN) as d:
        d.set(node="s5", state={"path": ".seen", "changed": True})
        world.same((d.call("reverse_continue")["breakpoints"], d.value(".seen")), ([2], [1, 2, 3, 4, 5]))
        d.set(state={"path": ".seen", "changed": True}, condition=".seen | length == 2")
        world.same((d.call("reverse_continue")["breakpoints"], d.value(".seen")), ([3], [1, 2]))


def reverse_to_an_error(world):
    """reverse-continue knows errors, by an expression over them"""
    text = """
nodes:
  - {name: bad, shell: exit 3}
  - {name: y, jq: '{y: 1}'}
  - {name: z, jq: '{z: 1}'}
edges: [{from: bad, to: y, on: error}, {from: bad, to: __end__}, {from: y, to: z}, {from: z, to: __end__}]
"""
    with at(world, "z", text) as d:
        no = d.set(type="exception", error='.kind == "timeout"', caught=True)["id"]
        yes = d.set(type="exception", error='.kind == "exit"', caught=True)["id"]
        answer = d.call("reverse_continue")
        world.same((answer["node"], answer["breakpoints"]), ("bad", [yes]), f"not {no}")


def reverse_to_the_end_of_a_branch(world):
    """reverse-continue knows what is after the last node of a branch, with what that branch then saw"""
    with at(world, "after", FORK) as d:
        for spec, node in (('a2:after if .va == 1 and .log == ["a", "a2"]', "a2"), ("b2:after", "b2"),
                           ("changed:.va", "a2")):
            id_ = d.set(spec)["id"]
            world.same(d.call("reverse_continue")["breakpoints"], [id_], spec)
            world.same([s["node"] for s in d.call("history", limit=1)["steps"]], [node], spec)
            d.call("breakpoint_delete", all=True)
            d.set("after")
            d.go("continue")
            d.call("breakpoint_delete", all=True)
        d.set("a2:after if .vb == 1")
        world.same(d.call("reverse_continue")["breakpoints"], [], "what only the other branch saw")
        finish(d)


def reverse_says_what_it_is_after(world):
    """where the frame of the node has ended by then, reverse-continue names both, and what stands there says so"""
    with at(world, "after", FORK) as d:
        for node, branch in (("a2", 0), ("b2", 1)):
            frame = [s for s in d.call("history")["steps"] if s["node"] == node][0]["frame"]
            id_ = d.set(f"{node}:after")["id"]
            answer = d.call("reverse_continue")
            path = answer["after"].pop("path")
            world.same((answer["after"], answer["breakpoints"]), ({"frame": frame, "node": node}, [id_]))
            world.same(path.endswith(f"[{branch}]"), True, f"the branch in {path}")
            here = d.call("frame")
            world.same((here["frame"], here["because"]), (answer["frame"], frame), "why it stopped")
            d.call("breakpoint_delete", all=True)
            d.set("after")
            d.go("continue")
            d.call("breakpoint_delete", all=True)
        d.set("a2")
        world.same("after" in d.call("reverse_continue"), False, "before a node its frame is there")
        d.call("breakpoint_delete", all=True)
        finish(d)


def reverse_to_before_a_join(world):
    """reverse-continue stops after the last step of all when the run has gone on since: a join, a loop"""
    with at(world, "end", FORK) as d:
        last = d.call("history", limit=1)["steps"][0]["node"]
        id_ = d.set(f"{last}:after")["id"]
        world.same(d.call("reverse_continue")["breakpoints"], [id_])
        world.same(d.call("reverse_continue")["breakpoints"], [], "again: it stood there")
    text = "nodes:\n  - {name: a, jq: '{n: 0}'}\n  - {name: w, while: .n < 2, do: [{name: i, jq: '{n: (.n + 1)}'}]}\n"
    with at(world, "i", text, thread="loop") as d:
        id_ = d.set("a:after")["id"]
        answer = d.call("reverse_continue")
        world.same((answer["breakpoints"], answer["node"]), ([id_], "w"))


def reverse_to_the_end_of_an_element(world):
    """reverse-continue knows what is after an element of a map"""
    with at(world, "z", MAPS) as d:
        id_ = d.set("m[]:after if $x == 3")["id"]
        answer = d.call("reverse_continue")
        world.same((answer["breakpoints"], answer["after"]["node"]), ([id_], "m[]"))
        world.same(answer["after"]["path"], "main/m[2]", "the element")
        last = d.call("history", limit=1)["steps"][0]
        world.same(last["node"], "m[]")
        world.same(len(d.call("history")["steps"]), 3, "elements that are done")
        finish(d)
    world.same(state_of(world)["m"], [2, 4, 6, 8])


def reverse_to_an_injected_node(world):
    """reverse-continue knows nodes that were injected, also in a session that was opened later"""
    with at(world, "s4", CHAIN) as d:
        d.call("inject", name="note", node={"jq": "{note: .n}"})
        d.call("inject", name="round", node={"while": "(.turns // 0) < 2", "do": [
            {"name": "turn", "jq": "{turns: ((.turns // 0) + 1)}"}]})
        d.set("s8")
        d.go("continue")
        d.call("breakpoint_delete", all=True)
        here = d.set("note")["id"]
        answer = d.call("reverse_continue")
        world.same((answer["node"], answer["breakpoints"]), ("note", [here]))
        world.same(d.breakpoint(here)["verified"], True)
        d.call("breakpoint_delete", all=True)
        d.set("s8")
        d.go("continue")
        d.call("breakpoint_delete", all=True)
        d.leave()
    with Debugger(world, "t") as d:
        d.begin()
        for spec in ("note:after if .note == 19", "turn if .turns == 1"):
            id_ = d.set(spec)["id"]
            world.same(d.call("reverse_continue")["breakpoints"], [id_], spec)
            d.call("breakpoint_delete", all=True)
            d.set("s8")
            d.go("continue")
            d.call("breakpoint_delete", all=True)
        finish(d)


def reverse_past_what_is_disabled(world):
    """reverse-continue does not stop at a breakpoint that is disabled, or only logs"""
    with at(world, "s8", CHAIN) as d:
        d.set("s6", log_message="x")
        off = d.set("s5")["id"]
        d.call("breakpoint_enable", id=off, enabled=False)
        on = d.set("s3")["id"]
        answer = d.call("reverse_continue")
        world.same((answer["node"], answer["breakpoints"]), ("s3", [on]))


def goto_a_checkpoint(world):
    """goto of a checkpoint goes back to it, or forward again to the future that was left"""
    with at(world, "s7", CHAIN) as d:
        there = d.call("session")["checkpoint"]
        rows = {s["node"]: s["checkpoint"] for s in d.call("history")["steps"]}
        d.call("goto", checkpoint=rows["s3"])
        world.same((node_now(d), d.value(".seen")), ("s4", [1, 2, 3]))
        d.call("set", path=".n", value=0)
        d.go("step", kind="over")
        d.call("goto", checkpoint=there)
        world.same((node_now(d), d.value(".seen")), ("s7", [1, 2, 3, 4, 5, 6]))
        d.refuse("goto", "999", checkpoint=999)
        ended(d)
    world("run", "w.yaml", "--thread", "u", "-q").gives(DONE)
    world.same(state_of(world), state_of(world, "u"))


# ---- after the end ----


def past_of_a_completed_run(world):
    """a completed run: its history, differences and states; back into it, and another end"""
    world.write("w.yaml", CHAIN)
    world("run", "w.yaml", "--thread", "t", "-q").gives(DONE)
    was = state_of(world)
    with reopened(world) as d:
        session = d.call("session")
        world.same((session["run_status"], session["thread"]), ("completed", "t"))
        rows = {s["node"]: s["checkpoint"] for s in d.call("history")["steps"]}
        world.same(list(rows), [f"s{i}" for i in range(1, 9)])
        world.same(d.call("evaluate", checkpoint=rows["s2"], expression=".seen")["results"], [[1, 2]])
        world.same(d.value(".n"), was["n"], "the last state")
        changed = d.call("diff", **{"from": rows["s7"], "to": rows["s8"]})
        world.same([c["path"] for c in changed["changed"]], [["n"]])
        d.refuse("continue", "completed")
        world.same(d.call("back")["node"], "s8")
        d.call("set", path=".n", value=0)
        ended(d)
    world.same((was["n"] != 8, state_of(world)["n"]), (True, 8))
    world.same(world("status", "t", "--json").json["status"], "completed")


def past_goto_of_a_completed_run(world):
    """a completed run: goto of a checkpoint in the middle, and step on from there"""
    world.write("w.yaml", CHAIN)
    world("run", "w.yaml", "--thread", "t", "-q").gives(DONE)
    with reopened(world) as d:
        rows = {s["node"]: s["checkpoint"] for s in d.call("history")["steps"]}
        d.call("goto", checkpoint=rows["s4"])
        world.same(node_now(d), "s5")
        world.same(next_event(d, "paused", "step", kind="over")["node"], "s6")
        world.same(d.leave(), 3, "the exit code")
    world.same(world("status", "t", "--json").json["status"], "paused")
    world("resume", "t", "-q").gives(DONE)
    world.same(state_of(world)["seen"], [1, 2, 3, 4, 5, 6, 7, 8])


def past_goto_the_end_of_a_completed_run(world):
    """goto of the checkpoint where a run completed says that it ended there, from wherever it comes"""
    world.write("w.yaml", CHAIN)
    world("run", "w.yaml", "--thread", "t", "-q").gives(DONE)
    was = state_of(world)
    with reopened(world) as d:
        end = d.call("session")["checkpoint"]
        for _ in range(2):
            answer = d.call("goto", checkpoint=end)
            world.same((answer.get("node"), answer["ended"]), (None, "completed"))
            world.same(d.frames()["main"]["status"], "done", "its frame")
            d.refuse("step", "has ended. The run is completed.", kind="over")
            world.same("ended" in d.call("back"), False, "whether it has ended in the middle")
        d.call("goto", checkpoint=end)
    world.same(world("status", "t", "--json").json["status"], "completed")
    world.same(state_of(world), was)


def past_goto_the_end_of_a_failed_run(world):
    """goto of the checkpoint where a run failed stands at its error, and retry brings it to life"""
    world.write("w.yaml", """
nodes:
  - {name: a, jq: '{a: 1}'}
  - {name: b, shell: 'test -e mended'}
""")
    world("run", "w.yaml", "--thread", "t", "-q").gives(1)
    with reopened(world) as d:
        end = d.call("session")["checkpoint"]
        d.call("back")
        answer = d.call("goto", checkpoint=end)
        world.same((answer.get("node"), answer["ended"]), ("b", "failed"))
        world.same(d.frames()["main"]["status"], "failed", "its frame")
        world.write("mended", "")
        ended(d, operation="retry")


def past_of_a_run_that_was_aborted(world):
    """a run that was aborted and goes back stops at its breakpoints again, and keeps its session"""
    world.write("w.yaml", CHAIN)
    with Debugger(world, "w.yaml", "--thread", "t") as d:
        d.begin()
        d.set("s6")
        d.go("step", kind="over")
        world.same(d.go("abort").status, "cancelled")
        d.refuse("goto", checkpoint=9999)
        d.go("back")
        world.same(d.go("continue").one["node"], "s6")
    with reopened(world) as d:
        world.same([b["node"] for b in d.call("breakpoints")["breakpoints"]], ["s6"])
        d.call("detach")
        world.same(d.leave(), DONE)
    world.same(world("status", "t", "--json").json["status"], "completed")


def past_of_a_completed_run_left_alone(world):
    """who only looks at a run that has ended leaves it as it is"""
    world.write("w.yaml", CHAIN)
    world("run", "w.yaml", "--thread", "t", "-q").gives(DONE)
    before = world("status", "t", "--json").json
    with reopened(world) as d:
        d.call("history")
        world.same(d.leave(), 0, "the exit code")
    after = world("status", "t", "--json").json
    world.same(after["status"], "completed")
    world.same(after["checkpoint"], before["checkpoint"], "the checkpoint")


def past_of_a_failed_run(world):
    """a failed run is opened at its error: edited and retried it completes, with both attempts"""
    for kind, text, change in (
            ("graph", "state: {n: 1}\nnodes: [{name: a, jq: '{a: 1}'}, {name: bad, shell: 'test $N = 2', "
             "env: {N: .n}}, {name: z, jq: '{z: 1}'}]\n", {"path": ".n", "value": 2}),
            ("tasks", "config: {n: 1}\ntasks: [{name: run_shell, id: a, config: {command: 'true'}}, "
             "{name: run_shell, id: bad, config: {command: test $N = 2, envVars: {N: n}}}, "
             "{name: run_shell, id: z, config: {command: 'true'}}]\n", {"path": ".n", "value": 2}),
            ("steps", "steps: [{id: a, type: script, config: {command: 'true'}}, "
             "{id: bad, type: script, config: {command: test -e mended}}, "
             "{id: z, type: script, config: {command: 'true'}}]\n", None)):
        world.write("w.yaml", text)
        (world.folder / "mended").unlink(missing_ok=True)
        world("run", "w.yaml", "--thread", kind, "-q").gives(FAILED)
        with reopened(world, kind) as d:
            frame = d.call("frame")
            world.same((frame["node"], frame["status"]), ("bad", "failed"), kind)
            world.same(d.call("session")["error"]["kind"], "exit", kind)
            if change:
                d.call("set", **change)
            world.write("mended", "")
            ended(d, operation="retry")
            world.same(steps_of(d), [("a", "success"), ("bad", "failure"), ("bad", "success"),
                                     ("z", "success")], kind)
        world.same(world("status", kind, "--json").json["status"], "completed", kind)


def past_of_a_failed_run_another_way(world):
    """a failed run: one step back from the error, and another way on"""
    world.write("w.yaml", "state: {n: 1}\nnodes: [{name: a, jq: '{n: (.n + 1)}'}, {name: bad, shell: "
                "'test $N = 30', env: {N: .n}}]\n")
    world("run", "w.yaml", "--thread", "t", "-q").gives(FAILED)
    with reopened(world) as d:
        nodes = [d.call("back")["node"]]
        if nodes[0] == "bad":
            nodes.append(d.call("back")["node"])
        world.same(nodes[-1], "a")
        d.call("set", path=".n", value=29)
        ended(d)
    world.same(state_of(world)["n"], 30)


def past_of_a_cancelled_run(world):
    """a cancelled run: its history and its states; back into it, and to its end"""
    with at(world, "s4", CHAIN) as d:
        ended(d, "cancelled", "abort")
        d.leave()
    with reopened(world) as d:
        world.same(d.call("session")["run_status"], "cancelled")
        rows = {s["node"]: s["checkpoint"] for s in d.call("history")["steps"]}
        world.same(d.call("evaluate", checkpoint=rows["s3"], expression=".seen")["results"], [[1, 2, 3]])
        d.refuse("continue")
        d.call("goto", checkpoint=rows["s3"])
        world.same(node_now(d), "s4")
        ended(d)
    world.same(state_of(world)["seen"], [1, 2, 3, 4, 5, 6, 7, 8])
    world.same(world("status", "t", "--json").json["status"], "completed")


# ---- one node again, and all of it elsewhere ----

SHELLS = """
state: {n: 1}
nodes:
  - {name: a, shell: 'echo "a $N" >> ran; echo $((N + 1))', env: {N: .n}, parse: json, output: n}
  - {name: b, shell: 'echo "b $N" >> ran; echo $((N * 10))', env: {N: .n}, parse: json, output: n}
  - {name: c, shell: 'echo "c $N" >> ran; echo $((N + 5))', env: {N: .n}, parse: json, output: n}
"""


def replay_of_one_node(world):
    """one node is replayed on its recorded input, as a new run of one node"""
    world.write("w.yaml", SHELLS)
    world("run", "w.yaml", "--thread", "t", "-q").gives(DONE)
    with reopened(world) as d:
        (world.folder / "ran").unlink()
        answer = d.call("replay", node="b", new_thread="again")
        world.same(answer["thread"], "again")
        event = d.wait("replayed", thread="again")
        world.same((event["status"], event["node"]), ("completed", "b"))
        diff = event["diff"]
        world.same((diff["added"], diff["removed"], diff["changed"]), ([], [], []))
        world.same(world.read("ran"), "b 2\n", "what ran")
        d.refuse("replay", "`b`", node="bb")
    world.same(state_of(world, "again")["n"], 20)
    rows = world("history", "again", "--json").json
    world.same([r["node"] for r in rows if r["status"] == "completed"], ["b"])
    world.same(state_of(world)["n"], 25, "the run that it is of")


AGAIN = """\
state: {n: 5, who: you}
nodes:
  - {name: a, shell: 'echo $WHO $N', env: {WHO: .who, N: .n}, output: said}
  - {name: b, jq: '{n: (.n + 1)}'}
  - {name: each, map: {over: '[1, 2]', do: {jq: '$item * .n'}}, output: out}
"""


def replay_with_another_input(world):
    """a node is replayed on what it saw with some of it changed, with other keys than are written, or both; the run stays"""
    for store in STORES:
        with debugger(world, AGAIN, store=store) as d:
            ended(d)
            before = state_of(world, store=store)

            def again(thread, node, **how):
                d.call("replay", node=node, new_thread=thread, **how)
                event = d.wait("replayed", thread=thread)
                return event["status"], state_of(world, thread, store=store)
            status, state = again("input", "a", input={"who": "me", "new": [1]})
            world.same((status, state["said"]["stdout"], state["new"]), ("completed", "me 5", [1]))
            status, state = again("config", "a", config={"shell": "echo bye $WHO", "output": "other"})
            world.same((status, state["other"]["stdout"], "said" in state), ("completed", "bye you", False))
            status, state = again("both", "b", input={"n": 10}, config={"jq": "{n: (.n * 2)}"})
            world.same((status, state["n"]), ("completed", 20))
            status, state = again("kind", "b", config={"jq": None, "shell": "exit 3"})
            world.same((status, state["n"]), ("failed", 5))
            status, state = again("map", "each", input={"n": 100})
            world.same(state["out"], [100, 200])
            d.refuse("replay", "cannot be used", node="b", config={"jq": "{"})
            d.refuse("replay", "body of a map", node="each[]", config={"jq": "1"})
            d.refuse("replay", "`input`", node="b", input=[1])
            world.same(state_of(world, store=store), before)
            threads = {run["thread"] for run in world("runs", "--json", "--store", store).gives(DONE).json}
            world.same(threads, {"t", "input", "config", "both", "kind", "map"})
        with Debugger(world, "both", store=store) as d:  # and it is gone on with as any replay is
            d.wait("session")
            world.same(d.call("session")["run_status"], "completed")


def replay_of_a_task_with_another_input(world):
    """a task sees other variables, and does something else"""
    with debug_tasks(world, sets("x", 1), shell('echo "$V"', id_="say", env={"V": "${{x}}"})) as d:
        ended(d)
        for thread, how in (("i", {"input": {"x": 7}}), ("c", {"config": {"id": None}})):
            d.call("replay", node="say", new_thread=thread, **how)
            world.same(d.wait("replayed", thread=thread)["status"], "completed")
        d.refuse("replay", "`tasks`", node="say", input={"tasks": 1})


def replay_can_be_opened(world):
    """a replay, one that failed and a fork of one are opened like any run, and still run one node only"""
    text = "nodes:\n  - {name: a, jq: '{n: 1}'}\n  - {name: b, jq: '{n: (.n + 1)}'}\n" \
           "  - {name: bad, jq: 'if .mended then {} else error(\"no\") end'}\n" \
           "  - {name: more, jq: '{more: true}'}\n"
    with debugger(world, text, store="file:kept") as d:
        world.same(d.go("continue").status, "failed")
        for node, status in (("b", "completed"), ("bad", "failed")):
            d.call("replay", node=node, new_thread=f"again-{node}")
            world.same(d.wait("replayed", thread=f"again-{node}")["status"], status)
    world("fork", "again-bad", "--thread", "forked", "--store", "file:kept").gives(0)
    with Debugger(world, "again-b", store="file:kept") as d:
        world.same(d.call("session")["run_status"], "completed")
        d.call("back")
        world.same(d.go("continue").status, "completed")
        world.same([one["node"] for one in d.call("history")["steps"]], ["b"])
    for thread in ("again-bad", "forked"):
        with Debugger(world, thread, store="file:kept") as d:
            d.call("set", path=".mended", value=True)
            world.same(d.go("retry").status, "completed")
            world.same(d.value(".more"), None)


def replay_that_is_under_way(world):
    """a debugger may be left while a replay is under way: both end, and the replay can be gone on with"""
    world.write("w.yaml", "nodes: [{name: a, shell: 'echo >> began; test -e go || sleep 60'}]\n")
    world.write("go", "")
    world("run", "w.yaml", "--thread", "t", "-q").gives(DONE)
    for name in ("go", "began"):
        (world.folder / name).unlink()
    with reopened(world) as d:
        d.call("replay", node="a", new_thread="again")
        world.wait_for("began")
    world.same(world("status", "again", "--json").json["status"], "stopped")


def replay_live_from(world):
    """a rerun takes recorded results up to a node, and works from there on"""
    world.write("w.yaml", SHELLS)
    world("run", "w.yaml", "--thread", "t", "-q").gives(DONE)
    (world.folder / "ran").unlink()
    world("run", "w.yaml", "--thread", "u", "--replay", "t", "--live-from", "c", "-q").gives(DONE)
    world.same(world.read("ran"), "c 20\n", "what ran")
    world("diff", "--runs", "t", "u").gives(DONE).says("the same")
    world.write("w.yaml", SHELLS.replace("N + 5", "N + 6"))
    world("run", "w.yaml", "--thread", "v", "--replay", "t", "--live-from", "c", "-q").gives(DONE)
    parted = world("diff", "--runs", "t", "v", "--json").gives(1).json
    world.same((parted["steps"], parted["b"]["node"], parted["diff"]["changed"]),
               (2, "c", [{"path": ["n"], "old": 25, "new": 26}]))


def replay_of_a_debugged_run(world):
    """a run that was paused, stepped and left is replayed like any other"""
    with at(world, "b", SHELLS) as d:
        d.go("step", kind="over")
        finish(d)
    (world.folder / "ran").unlink()
    world("run", "w.yaml", "--thread", "u", "--replay", "t", "-q").gives(DONE)
    world.same(world.read("ran"), "", "what ran")
    world.same(state_of(world, "u"), state_of(world))
    world("diff", "--runs", "t", "u").gives(DONE).says("the same")


def replay_after_back(world):
    """after `back` and `goto @N` results are taken again, and what is live is done again"""
    world.write("w.yaml", SHELLS)
    world("run", "w.yaml", "--thread", "t", "-q").gives(DONE)
    (world.folder / "ran").unlink()
    with Debugger(world, "w.yaml", "--thread", "u", "--replay", "t", "--live-from", "c") as d:
        d.begin()
        d.go("step", kind="over")
        d.call("back")
        world.same(d.go("step", kind="over").one["node"], "b", "after a, once more")
        d.go("step", kind="over")
        d.call("back", count=2)
        world.same(world.read("ran"), "", "what ran up to c")
        ended(d)
        world.same(world.read("ran"), "c 20\n", "what ran with c")
        d.call("goto", checkpoint=1)
        ended(d)
        world.same(world.read("ran"), "c 20\n" * 2, "what ran from the beginning")
    world.same(state_of(world, "u"), state_of(world))


def replay_after_back_is_done_where_a_person_wants_it(world):
    """a node that is edited in a replay is done; back before that, its result is taken again"""
    world.write("w.yaml", SHELLS)
    world("run", "w.yaml", "--thread", "t", "-q").gives(DONE)
    (world.folder / "ran").unlink()
    with Debugger(world, "w.yaml", "--thread", "u", "--replay", "t") as d:
        d.begin()
        d.call("config_set", path=".shell", value="echo mine >> ran; echo 7")
        d.go("step", kind="over")
        world.same(world.read("ran"), "mine\n", "what ran")
        d.call("goto", checkpoint=1)
        ended(d)
        world.same(world.read("ran"), "mine\n", "what ran after that")
    world.same(state_of(world, "u"), state_of(world))


# ---- runs that people had a part in, again with what is on record ----

PURE = """
state: {n: 1, k: 0, log: {reduce: append, default: []}}
nodes:
  - {name: a, jq: '{n: (.n + 1), log: ["a"]}'}
  - {name: sub, workflow: sub.yaml, input: '{n: .n}', output: sub}
  - {name: loop, while: '.k < 2', do: [{name: k, jq: '{k: (.k + 1), log: ["k"]}'}]}
  - {name: each, map: '[1, 2]', output: all, do: {jq: '$item + 1'}}
  - {name: sh, shell: 'echo sh >> ran; echo $N', env: {N: .n}, parse: json, output: out}
  - {name: l, jq: '{l: .n, log: ["l"]}'}
  - {name: r, jq: '{r: .n, log: ["r"]}'}
  - {name: z, jq: '{z: [.n, .l, .r], log: ["z"]}'}
edges:
  - {from: __start__, to: a}
  - {from: a, to: sub}
  - {from: sub, to: loop}
  - {from: loop, to: each}
  - {from: each, to: sh}
  - {from: sh, to: a, when: .n < 3}
  - {from: sh, to: [l, r]}
  - {from: l, to: z}
  - {from: r, to: z}
"""
PURE_SUB = "nodes:\n  - {name: i, jq: '{i: (.n + 1)}'}\n  - {name: j, jq: '{j: .i}'}\n"

CAUGHT = """
state: {n: 1}
nodes:
  - {name: a, jq: 'if .ok then {n: 2} else error("no") end'}
  - {name: b, jq: '{b: .error.message, n: (.n + 1)}'}
edges:
  - {from: __start__, to: a}
  - {from: a, to: b, on: error}
  - {from: a, to: __end__}
"""

PLAYED = """
tasks:
  - {name: run_shell, id: one, config: {command: 'echo one >> ran; echo ::set-json v 5'}}
  - name: run_tasks
    id: list
    if: '.v < 100'
    config:
      tasks:
        - {name: run_shell, id: inner, config: {envVars: {V: v}, command: 'echo inner >> ran; echo ::set-json x $V'}}
  - {name: run_shell, id: last, config: {envVars: {X: '.x // 0'}, command: 'echo last >> ran; echo ::set-json y $X'}}
"""


def edit(path, value):
    return "config_set", {"path": path, "value": value}


def put(path, value):
    return "set", {"path": path, "value": value}


def inject(where, **node):
    return "inject", {"where": where, "node": node}


def skip(**output):
    return "skip", output


def comes_to(state):
    """A final state; of a test without the times of its tasks."""
    tasks = {id_: (task["outputs"], task["result"]) for id_, task in state.get("tasks", {}).items()}
    return {**state, "tasks": tasks}


def run_by_hand(world, thread, stop, orders):
    """A run that is stopped once (None: at its beginning), where the orders are given, and then goes on to
    its end."""
    with Debugger(world, "w.yaml", "--thread", thread) as d:
        d.begin()
        if stop:
            d.set(once=True, **(stop if isinstance(stop, dict) else {"spec": stop}))
            d.go("continue")
        for name, args in orders:
            if name in ("skip", "retry"):
                d.go(name, **args)
            else:
                d.call(name, **args)
        while not d.told("settled"):  # an error may stop it once more
            d.go("continue", frame="all")


def go_to(d, checkpoint):
    """Back there, and from there to the end once more."""
    d.call("goto", checkpoint=checkpoint)
    while d.call("session")["run_status"] == "running":
        d.go("continue", frame="all")


def goes_back(world, thread, recorded, state):
    """With the results of another run it comes to the same state, also from earlier checkpoints."""
    with Debugger(world, "w.yaml", "--thread", thread, "--replay", recorded) as d:
        d.begin()
        while d.call("session")["run_status"] == "running":
            d.go("continue", frame="all")
        last = d.call("session")["checkpoint"]
        for checkpoint in range(1, last, 1 + last // 3):
            go_to(d, checkpoint)
            world.same(comes_to(state_of(world, thread)), state, f"{recorded} after checkpoint {checkpoint}")


def follows(world, text, *cases):
    """Each run, (breakpoint, order...), comes to the same with its recorded results, also when it goes back:
    nothing is done again, and without the orders it comes to something else."""
    world.write("w.yaml", "name: w\n" + text)
    world.write("sub.yaml", PURE_SUB)
    world("run", "w.yaml", "--thread", "plain", "-q")
    plain = comes_to(state_of(world, "plain"))
    for i, (stop, *orders) in enumerate(cases):
        run_by_hand(world, f"hand{i}", stop, orders)
        (world.folder / "ran").unlink(missing_ok=True)
        world("run", "w.yaml", "--thread", f"again{i}", "--replay", f"hand{i}", "-q")
        by_hand = comes_to(state_of(world, f"hand{i}"))
        if by_hand == plain:
            raise Broken(f"{stop} {orders} changes nothing")
        world.same(comes_to(state_of(world, f"again{i}")), by_hand, f"the run after {stop} {orders}")
        goes_back(world, f"back{i}", f"hand{i}", by_hand)
        world.same(world.read("ran"), "", f"what ran again after {stop} {orders}")


def after(node, condition="true"):
    return {"node": node, "position": "after", "condition": condition}


def replay_takes_what_an_edited_config_gave(world):
    """the results of nodes whose config was edited are taken, whatever their kind"""
    follows(world, PURE,
            ("a if .n == 2", edit(".jq", '{n: 7, log: ["mine"]}')),
            ("a if .n == 2", edit(".jq", "{n: (.n * 3)}"), put(".n", 5)),
            ("sub if .n == 3", edit(".input", "{n: 70}")),
            ("sub", edit(".output", "other")),
            ("i if .n == 3", edit(".jq", "{i: 70}")),
            ("loop", edit(".while", ".k < 4")),
            ("k if .k == 1", edit(".jq", '{k: 5, log: ["mine"]}')),
            ("each if .n == 3", edit(".map", "[5]")),
            ("sh if .n == 3", edit(".shell", "echo 70")),
            ("l", edit(".jq", '{l: 70, log: ["mine"]}')))


def replay_takes_what_a_person_gave_instead(world):
    """what was skipped is skipped again, and gives back what a person gave for it"""
    follows(world, PURE,
            ("a if .n == 2", skip(output={"n": 7})),
            ("sub if .n == 3", skip()),
            ("sub if .n == 3", skip(output=7)),
            ("each if .n == 3", skip(output=[7])),
            ("each[] if .n == 3", skip(output=7)),
            ("loop", skip()),
            ("sh if .n == 3", skip(output=7)),
            ("r", skip(output={"r": 7})))


def replay_makes_changes_again(world):
    """what a person set before and after nodes is set again, whatever their kind"""
    follows(world, PURE,
            ("a if .n == 2", put(".n", 7)),
            (after("a", ".n == 3"), put(".n", 7)),
            ("sub if .n == 3", put(".n", 7)),
            (after("sub", ".n == 3"), put(".sub", 7)),
            ("i if .n == 3", put(".n", 7)),
            ("loop", put(".k", 7)),
            (after("loop"), put(".log", ["mine"])),
            ("k if .k == 1", put(".k", 7)),
            ("each", put(".x", 7), ("unset", {"path": ".log"})),
            (after("each", ".n == 3"), put(".all", 7)),
            ("sh if .n == 3", put(".n", 7)),
            (after("sh", ".n == 3"), put(".out", 7)),
            ("l", put(".n", 7)),
            (after("r"), put(".log", ["mine"])),
            (after("z"), put(".n", 7)))


def replay_has_what_was_injected(world):
    """what an injected node left is there again, though the node is not"""
    follows(world, PURE,
            ("a if .n == 2", inject("before", jq="{n: 7}")),
            ("a if .n == 2", inject("after", jq="{n: 7}")),
            (None, inject("before", shell="echo injected >> ran", output="s")),
            ("sub", inject("before", name="i", jq="{n: 7}"), inject("after", jq="{x: .n}")),
            ("loop", inject("before", name="k", map="[1]", output="m", do={"jq": "."})),
            ("sh", inject("after", workflow="sub.yaml", output="w")),
            ("l", inject("before", jq="{n: 7}"), inject("before", jq="{x: .n}")),
            ("r", inject("after", jq='{log: ["mine"]}')),
            ("a if .n == 2", inject("before", jq="{n: 7}"), edit(".jq", "{n: (.n + 70)}")))


def goto(node):
    return "goto", {"node": node}


def replay_goes_where_a_person_went(world):
    """where a frame was sent elsewhere it goes there again: before a node, after it, inwards and outwards"""
    follows(world, PURE,
            ("a if .n == 2", goto("l")),
            ("sub", goto("each")),
            (after("a", ".n == 3"), goto("l")),
            (after("a", ".n == 3"), goto("a")),
            (after("sh", ".n == 3"), goto("a")),
            ("i if .n == 3", goto("j")),
            ("j if .n == 3", goto("loop")),
            ("j if .n == 3", put(".n", 7), goto("i")),
            ("j if .n == 3", put(".n", 7), goto("sub")),
            (after("i", ".n == 3"), goto("each")),
            ("k if .k == 1", goto("sh")),
            (after("k", ".k == 1"), goto("each")),
            ("l", goto("r")),
            ("sh if .n == 3", goto("l"), goto("r"), put(".n", 7)))


def replay_follows_errors_by_hand(world):
    """so it is after an error: retried, edited, skipped, left for elsewhere or to its course with a change"""
    caught = {"type": "exception", "caught": True}
    follows(world, CAUGHT,
            (caught, put(".ok", True), ("retry", {})),
            (caught, edit(".jq", "{n: 7}"), ("retry", {})),
            (caught, skip(output={"n": 7})),
            (caught, put(".n", 7)),
            (caught, goto("b")),
            (None, edit(".jq", 'error("mine")')))


HELD = """
state: {n: 1, k: 0, x: 1, list: [1, 2], log: {reduce: append, default: []}}
nodes:
  - {name: sub, workflow: sub.yaml, input: '{n: (.x + .n)}', output: sub}
  - {name: loop, while: 'if .k == .n and .ok != 1 then error("no") else .k < 3 end',
     do: [{name: k, shell: 'echo k >> ran; echo $K', env: {K: '.k + 1'}, parse: json, output: k},
          {name: said, shell: 'echo said >> ran; echo $K', env: {K: '.k * .n'}, parse: json, output: log}]}
  - {name: each, map: '.list | map(. + 1)', output: all,
     do: {shell: 'echo each >> ran; echo $I', env: {I: '$item * .n'}, parse: json}}
"""


def replay_follows_a_loop_by_hand(world):
    """so it is of a loop that failed between its turns, was changed and tried again"""
    error = {"type": "exception"}
    follows(world, HELD, (error, put(".ok", 1), ("retry", {})), (error, put(".n", 7), ("retry", {})))


def replay_follows_a_workflow_that_could_not_begin(world):
    """so it is of a workflow inside whose input was wrong"""
    error = {"type": "exception"}
    text = HELD.replace("{n: 1, k: 0, x: 1, list: [1, 2],", "{n: 1, k: 0, x: a, ok: 1, list: [1, 2],")
    follows(world, text, (error, put(".x", 1), ("retry", {})), (error, put(".x", 7), ("retry", {})))


def replay_follows_a_map_that_could_not_begin(world):
    """so it is of a map over what is no list"""
    text = HELD.replace("list: [1, 2],", "list: 7, ok: 1,")
    follows(world, text, ({"type": "exception"}, put(".list", [1, 2]), ("retry", {})))


def replay_follows_a_map_whose_result_did_not_fit(world):
    """so it is of a map whose elements were all done before it failed"""
    text = HELD.replace("list: [1, 2],", "list: [1, 2], ok: 1, all: {reduce: add, default: 1},")
    follows(world, text, ({"type": "exception"}, put(".all", []), put(".n", 7), ("retry", {})))


def replay_follows_what_was_resumed(world):
    """so it is of a run that failed in a loop and was resumed with a change"""
    world.write("w.yaml", "name: w\n" + HELD)
    world.write("sub.yaml", PURE_SUB)
    world("run", "w.yaml", "--thread", "t", "-q").gives(FAILED)
    world("resume", "t", "--set", "ok=1", "-q").gives(DONE)
    (world.folder / "ran").unlink()
    world("run", "w.yaml", "--thread", "u", "--replay", "t", "-q").gives(DONE)
    world.same(state_of(world, "u"), state_of(world))
    world.same(world.read("ran"), "", "what ran again")


def replay_follows_a_list_of_tasks_by_hand(world):
    """so it is of a list of tasks that failed, was changed and tried again"""
    text = PLAYED.replace("echo inner >> ran;", "echo inner >> ran; [ $V -gt 6 ] || exit 3;")
    follows(world, text, ({"node": "list", "position": "on_error"}, put(".v", 7), ("retry", {})))


def replay_follows_tests_by_hand(world):
    """so it is of the tasks of a test"""
    follows(world, PLAYED,
            (None, edit(".config.command", "echo one >> ran; echo ::set-json v 7")),
            (None, edit(".config.command", "exit 7")),
            ("list", edit(".config.tasks[0].config.command", "echo ::set-json x 7")),
            ("list", edit(".if", "false")),
            (None, put(".v", 200), skip(output={"o": 7})),
            ("list", skip()),
            ("last", put(".x", 7)),
            (after("one"), put(".v", 7)),
            ("list", put(".v", 7)),
            (after("list"), put(".x", 7)),
            ("inner", put(".v", 7)),
            (after("inner"), put(".x", 7)),
            (after("last"), put(".y", 7)),
            (None, goto("list")),
            ("list", goto("last")),
            (after("one"), goto("last")),
            ("inner", goto("last")),
            (after("inner"), put(".x", 7), goto("last")),
            ("list", inject("before", name="run_shell", config={"command": "echo ::set-json v 7"})),
            ("list", inject("after", name="run_shell", config={"command": "echo ::set-json x 7"})),
            ("last", inject("after", name="run_shell", config={"command": "echo ::set-json y 7"})))


def export_and_open(world):
    """an exported session is one document, which shows the same offline"""
    with at(world, "c", SHELLS) as d:
        d.call("watch_add", expression=".n")
        d.set("c if .n > 3")
        document = {k: v for k, v in d.call("export").items() if k not in ("answer", "request_id")}
        steps = d.call("history")["steps"]
    world.write("export.json", json.dumps(document))
    for folder in (".pawl",):
        for path in sorted((world.folder / folder).rglob("*"), reverse=True):
            path.unlink() if not path.is_dir() else path.rmdir()
    (world.folder / "w.yaml").unlink()
    with Debugger(world, "--open", "export.json") as d:
        world.same(d.call("history")["steps"], steps, "the history")
        world.same(d.call("evaluate", checkpoint=steps[0]["checkpoint"], expression=".n")["results"], [2])
        world.same([w["expression"] for w in d.call("watches")["watches"]], [".n"])
        world.same([b.get("condition") for b in d.call("breakpoints")["breakpoints"]], [".n > 3"])
        world.same((d.call("frame")["node"], d.value(".n")), ("c", 20))
        if not any("name: b" in line for line in d.call("source", line=4, file="w.yaml")["lines"]):
            raise Broken("the source is not there")


def export_writes_to_files_of_ours(world):
    """`export` writes a file, or over one of ours; it neither follows a link nor waits for a FIFO"""
    world.write("w.yaml", "nodes: [{name: a, jq: .}]\n")
    world.write("there.json", "x" * 100000)
    world.write("victim", "kept")
    os.symlink("victim", world.folder / "link.json")
    os.mkfifo(world.folder / "fifo.json")
    answer = world("debug", "w.yaml", stdin="export new.json\nexport there.json\nexport link.json\nexport fifo.json\nquit\n")
    for name in ("new.json", "there.json"):
        world.same(json.loads((world.folder / name).read_text())["thread"] is not None, True, name)
    world.same((world.folder / "victim").read_text(), "kept", "where the link leads")
    answer.says("link.json cannot be written", "fifo.json cannot be written")


def export_that_is_none(world):
    """a file that is no export is refused in a sentence, and is a mistake of the command line"""
    with at(world, "c", SHELLS) as d:
        document = {k: v for k, v in d.call("export").items() if k not in ("answer", "request_id")}
    text = json.dumps(document)
    world.write("cut.json", text[:-40])
    world.write("odd.json", '{"a": 1}')
    world.write("empty.json", "")
    for name in ("cut.json", "odd.json", "empty.json", "nothing.json"):
        world("debug", "--open", name, stdin="history\n").gives(USAGE).says("pawl debug:")


def export_that_is_damaged(world):
    """a damaged export is refused or shown; nothing breaks"""
    with at(world, "c", SHELLS) as d:
        text = json.dumps({k: v for k, v in d.call("export").items() if k not in ("answer", "request_id")})
    dice = random.Random(3)
    for _ in range(25):
        at_ = dice.randrange(len(text))
        world.write("bad.json", text[:at_] + dice.choice('0"{[,x]}') + text[at_ + 1:])
        answer = world("debug", "--open", "bad.json", stdin="history\nstate\ncontinue\n")
        if not 0 <= answer.code <= 3:
            raise Broken(str(answer))


def export_that_is_crafted(world):
    """an export whose values are of other types, or stand where they cannot, is refused or shown; nothing breaks"""
    with at(world, "c", SHELLS) as d:
        d.call("watch_add", expression=".n")
        document = {k: v for k, v in d.call("export").items() if k not in ("answer", "request_id")}
    wait, top = [1, "1", 3], [1, "1", 2, 0, 0]
    changes = {
        "a watch that is a number": [[0, 7, "watches"], {"1": 4702111234474983745}],
        "a breakpoint that is a number": [[0, 7, "breakpoints"], {"1": 7}],
        "children without a node": [top, None, wait, ["tasks", [0], 0, 0, 0, None]],
        "an option that is no text": [wait, ["interrupt", "i1", "approval", "ok?", [7, None, {}]]],
        "a question without a node": [top, None, wait, ["interrupt", "i1", "approval", "ok?", ["yes"]]],
        "a cleanup of nothing": [wait, ["cleaning", None, None]],
        "frames without end": [[0, 2], 9223372036854775807],
        "a frame of that number": [[1, "9223372036854775807"], [1, 0, [["c", None, None, 0, 0, 0, 0]], None]],
        "a memo that is none": [wait, ["work", "1.1", 7, [{"call": 1, "error": 7}]]],
        "an attempt past the last": [[1, "1", 2, 0, 4], 9223372036854775807],
        "a place elsewhere": [wait, ["work", "../../1", {}, []]],
    }
    commands = "info session\nframes\nwatch\nstate\nwhere\nnext\nback\nhistory\ncontinue\n"
    for what, change in changes.items():
        changed = copy.deepcopy(document)
        rows = changed["checkpoints"]
        rows[-1][7] += [[change[i], change[i + 1]] for i in range(0, len(change), 2)]
        rows[-1][8] = None
        world.write("bad.json", json.dumps(changed))
        answer = world("debug", "--open", "bad.json", stdin=commands)
        if not 0 <= answer.code <= 3:
            raise Broken(f"{what}: {answer}")


# ---- across kill -9 ----

def prepare_three(d, world):
    """Three frames, each paused at its second node, with all that can be there."""
    for node in ("a2", "b2", "c2"):
        d.set(node)
    while True:
        paused = {f["node"]: f["frame"] for f in d.frames().values() if f["status"] == "paused"}
        if set(paused) == {"a2", "b2", "c2"}:
            break
        if not paused or set(paused) & {"j"}:
            raise Broken(f"they are elsewhere: {paused}")
        behind = [number for node, number in paused.items() if node not in ("a2", "b2", "c2")]
        d.go("continue", frame=behind[0])
    d.call("watch_add", expression=".k")
    d.call("watch_add", expression=".log | length")
    d.call("set", frame=paused["a2"], path=".k", value=10)
    d.call("set", frame=paused["b2"], path=".k", value=10)
    d.call("set", frame=paused["b2"], path=".extra", value=[1])
    d.call("inject", frame=paused["c2"], name="note", node={"jq": '{note: "n"}'})
    d.call("inject", frame=paused["c2"], where="after", name="more", node={"jq": '{more: "m"}'})
    d.call("config_set", frame=paused["a2"], path=".jq", value='{log: ["edited \\(.k)"]}')
    d.call("breakpoint_set", node="j", condition=".never")
    d.call("frame", frame=paused["b2"])
    return paused


def picture(d):
    """Everything that has to be the same afterwards."""
    frames = [{k: v for k, v in f.items() if k not in ("since",)} for f in d.call("frames")["frames"]]
    numbers = [f["frame"] for f in frames if f["status"] == "paused"]
    return {
        "frames": frames,
        "pending": {n: d.call("pending", frame=n)["pending"] for n in numbers},
        "injected": d.call("injected")["injected"],
        "breakpoints": [{k: v for k, v in b.items() if k != "places"}
                        for b in d.call("breakpoints")["breakpoints"]],
        "watches": {n: d.call("watches", frame=n)["watches"] for n in numbers},
        "config": {n: d.call("config", frame=n) | {"request_id": 0} for n in numbers},
        "id": d.call("session")["id"],
    }


def last_of_three(d):
    """To the end; that nothing stops it on the way is a case of its own."""
    d.call("breakpoint_delete", all=True)
    for _ in range(3):
        if d.go("continue", frame="all").status:
            return
    raise Broken(f"it does not end:\n{d.transcript()}")


def killed_not_but_let_go(world):
    """frames that are let go together run to the end: the join is not stopped by what is over"""
    with debugger(world, BRANCHES) as d:
        prepare_three(d, world)
        finish(d)


def kill_three_paused(world, store):
    with debugger(world, BRANCHES, "never-killed", store) as d:
        prepare_three(d, world)
        last_of_three(d)
    d = debugger(world, BRANCHES, "t", store)
    prepare_three(d, world)
    before = picture(d)
    d.call("history")  # reads the store, so that all is in it
    kill(d)
    with reopened(world, store=store) as d:
        after = picture(d)
        for part, was in before.items():
            if part == "id":
                continue
            world.same(after[part], was, part)
        last_of_three(d)
    world.same(state_of(world, "t", store), state_of(world, "never-killed", store), "the result")
    state = state_of(world, "t", store)
    world.same((state["log"], state["note"], state["more"], state["extra"]),
               (["a1 1", "edited 10", "b1 1", "b2 10", "c1 1", "c2 1"], "n", "m", [1]))
    world("store", "check", *with_store(store)).gives(DONE)


def killed_and_told_again(world):
    """whoever comes back is told each frame that is paused, and then that all stands still"""
    d = debugger(world, BRANCHES)
    prepare_three(d, world)
    d.call("history")
    before = [(f["frame"], f["node"], f["position"], f["reason"], f["line"])
              for f in d.call("frames")["frames"] if f["status"] == "paused"]
    kill(d)
    with reopened(world) as d:
        stop = d.begin()
        world.same([(e["frame"], e["node"], e["position"], e["reason"], e["line"])
                    for e in stop.paused], before, "what is told")
        world.same({e["reattached"] for e in stop.paused}, {True})
        world.same(stop.events[-1]["paused"], [frame[0] for frame in before])


def killed_with_three_frames_paused_sqlite(world):
    """kill -9 with three paused frames, changes, watches, injected nodes: all is there again (sqlite)"""
    kill_three_paused(world, STORES[0])


def killed_with_three_frames_paused_file(world):
    """kill -9 with three paused frames, changes, watches, injected nodes: all is there again (file)"""
    kill_three_paused(world, STORES[1])


def status_of_killed(world, store):
    d = debugger(world, BRANCHES, "t", store)
    paused = prepare_three(d, world)
    d.call("history")
    kill(d)
    where = with_store(store)
    report = world("status", "t", "--json", *where).json
    world.same((report["status"], report["owner"]), ("paused", None))
    pauses = {f["frame"]: f["node"] for f in report["frames"] if "pause" in f}
    world.same(pauses, {number: node for node, number in paused.items()}, "what is paused")
    advice = f"Look and step with: pawl debug t --store {store}\n"
    told = world("status", "t", *where).gives(DONE)
    told.says("paused", *[f"paused before {node} " for node in paused], advice)
    world.same([row["status"] for row in world("runs", "--json", *where).json], ["paused"])
    world.same(len(world("runs", "--status", "paused", "--json", *where).json), 1, "runs that are paused")
    world.same(world("runs", "--status", "stopped", "--json", *where).json, [], "runs that are stopped")
    world("fork", "t", "--thread", "other", *where).gives(DONE)
    world.same(world("status", "other", "--json", *where).json["status"], "paused", "the fork")


def killed_is_paused_sqlite(world):
    """after kill -9 a run says that it is paused, where, and how to go on (sqlite)"""
    status_of_killed(world, STORES[0])


def killed_is_paused_file(world):
    """after kill -9 a run says that it is paused, where, and how to go on (file)"""
    status_of_killed(world, STORES[1])


def killed_with_a_frame_chosen(world):
    """the frame that a person chose is still the selected one after a kill"""
    d = debugger(world, BRANCHES)
    paused = prepare_three(d, world)
    d.call("frame", frame=paused["a2"])
    world.same(d.call("frames")["selected"], paused["a2"])
    d.call("history")  # reads the store, so that all is in it
    kill(d)
    with reopened(world) as d:
        world.same(d.call("frames")["selected"], paused["a2"], "the selected frame")


def killed_after_an_answer(world):
    """each change is on record by itself: a kill after it, without another pause, loses nothing"""
    for number, (operation, args, check) in enumerate((
            ("set", {"path": ".n", "value": 77}, lambda d: d.value(".n") == 77),
            ("watch_add", {"expression": ".n"}, lambda d: len(d.call("watches")["watches"]) == 1),
            ("breakpoint_set", {"node": "s5"}, lambda d: len(d.call("breakpoints")["breakpoints"]) == 1),
            ("inject", {"text": "jq: '{}'"}, lambda d: len(d.call("injected")["injected"]) == 1),
            ("config_set", {"path": ".jq", "value": "{}"}, lambda d: d.call("config").get("edited")),
            ("back", {}, lambda d: d.call("frame")["node"] == "s2"),
            ("goto", {"node": "s8"}, lambda d: d.call("frame")["node"] == "s8"))):
        d = at(world, "s3", CHAIN, thread=f"t{number}")
        d.call(operation, **args)
        d.call("history")  # reads the store, so that all is in it
        kill(d)
        with reopened(world, f"t{number}") as d:
            world.same(bool(check(d)), True, f"{operation} is on record")


def step_to_the_end(d, orders):
    """Steps until the run has ended."""
    for kind in orders:
        if d.go("step", kind=kind).status:
            return
    finish(d)


LONG = "state: {n: 1}\nnodes:\n" + "".join(
    f"  - {{name: s{i}, jq: '{{n: ((.n * 3 + {i}) % 10007), seen: ((.seen // []) + [{i}])}}'}}\n"
    for i in range(1, 25))


def killed_while_stepping(world):
    """killed at any moment while it is stepped, attached again and finished: the same result"""
    world.write("w.yaml", LONG)
    world("run", "w.yaml", "--thread", "want", "-q").gives(DONE)
    want = state_of(world, "want")
    dice = random.Random(7)
    for store in STORES:
        for number in range(6):
            thread = f"t{number}"
            d = debugger(world, LONG, thread, store)
            for _ in range(dice.randrange(15)):
                d.go("step", kind=dice.choice(["over", "into"]))
            d.send('{"call": "step", "args": {"kind": "over"}, "wait": false}\n' * dice.randrange(4))
            time.sleep(dice.random() * 0.01)
            kill(d)
            with reopened(world, thread, store) as d:
                node_now(d)
                finish(d)
            world.same(state_of(world, thread, store), want, f"the result of {thread} in {store}")


def killed_while_stepping_in_branches(world):
    """the same with branches, each stepped by itself"""
    world.write("w.yaml", BRANCHES)
    world("run", "w.yaml", "--thread", "want", "-q").gives(DONE)
    want = state_of(world, "want")
    dice = random.Random(11)
    for number in range(8):
        thread, store = f"t{number}", STORES[number % 2]
        d = debugger(world, BRANCHES, thread, store)
        for _ in range(dice.randrange(10)):
            paused = [f["frame"] for f in d.frames().values() if f["status"] == "paused"]
            if d.go("step", kind=dice.choice(["over", "into", "out"]), frame=dice.choice(paused)).status:
                break
        kill(d)
        with reopened(world, thread, store) as d:
            if d.call("session")["run_status"] != "completed":
                last_of_three(d)
        world.same(state_of(world, thread, store), want, f"the result of {thread} in {store}")


def killed_while_it_runs(world):
    """killed while it runs on after a breakpoint: opened again it stands, and its breakpoints hold"""
    text = "nodes:\n  - {name: a, shell: 'echo a >> ran; touch begun; " \
           "until [ -e go ]; do sleep 0.02; done; echo 1', output: a}\n" \
           "  - {name: b, jq: '{b: 1}'}\n  - {name: c, jq: '{c: 1}'}\n"
    d = debugger(world, text)
    d.set("c")
    d.call("continue")
    world.wait_for("begun")
    kill(d)
    world.write("go", "")
    with reopened(world) as d:
        if d.call("session")["status"] == "paused":
            d.call("continue")
        world.same(d.wait("paused", node="c")["reason"], "breakpoint")
        finish(d)
    world.same((world.read("ran"), state_of(world)["c"]), ("a\n", 1))


# ---- clocks ----


FROZEN = "TD"  # D: a shell that was stopped between fork and exec of what it starts


def process_state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def wait_for_state(world, pid, wanted):
    world.until(lambda: process_state(pid) in wanted, f"process {pid} is one of {wanted}")


IN_NODE = {
    "graph": "nodes:\n  - {name: a, timeout: TIME, shell: 'COMMAND'}\n  - {name: z, jq: '{z: 1}'}\n",
    "tasks": "tasks:\n  - {name: run_shell, id: a, timeout: TIME, config: {command: 'COMMAND'}}\n"
             "  - {name: run_shell, id: z, config: {command: 'true'}}\n",
    "steps": "steps:\n  - {id: a, type: script, timeout: TIME, config: {command: 'COMMAND'}}\n"
             "  - {id: z, type: script, config: {command: 'true'}}\n",
    "python": "nodes:\n  - name: a\n    timeout: TIME\n    python: |\n"
              "      import os, time\n"
              "      open('pid', 'w').write(str(os.getpid()))\n      os.rename('pid', 'begun')\n"
              "      for i in range(4): time.sleep(PIECE)\n"
              "      open('ran', 'a').write('done\\n')\n  - {name: z, jq: '{z: 1}'}\n",
    "javascript": "nodes:\n  - name: a\n    timeout: TIME\n    javascript: |\n"
                  "      const fs = require('fs');\n"
                  "      fs.writeFileSync('pid', `${process.pid}`); fs.renameSync('pid', 'begun');\n"
                  "      for (let i = 0; i < 4; i++)\n"
                  "        await new Promise(done => setTimeout(done, 1000 * PIECE));\n"
                  "      fs.appendFileSync('ran', 'done\\n');\n  - {name: z, jq: '{z: 1}'}\n",
}
SCRIPTS = ("python", "javascript")


def in_node(world, dialect):
    """A workflow with a command, or a script, of 400 ms that has a second for it."""
    piece = str(world.seconds(0.1))
    command = ("echo $$ > pid; mv pid begun; "
               f"for i in 1 2 3 4; do sleep {piece}; done; echo done >> ran")
    text = IN_NODE[dialect].replace("TIME", world.ms(1000))
    return text.replace("COMMAND", command).replace("PIECE", piece)


def pause_in_a_command(d, world):
    """Its process, frozen."""
    d.call("continue")
    world.wait_for("begun")
    answer = d.call("pause")
    world.same((answer["paused"], answer["later"]), ([1], []), "what is paused at once")
    d.wait("paused", node="a", reason="user_pause")
    pid = int(world.read("begun"))
    wait_for_state(world, pid, FROZEN)
    return pid


def clock_in_a_command(world, dialect):
    with debugger(world, in_node(world, dialect)) as d:
        pid = pause_in_a_command(d, world)
        world.nap(1.3)
        world.same((process_state(pid) in FROZEN, world.read("ran")), (True, ""), "it is frozen")
        world.same(d.call("frame")["status"], "paused")
        ended(d)
        world.same(steps_of(d), [("a", "success"), ("z", "success")])
    world.same(world.read("ran"), "done\n", "what ran")


def clock_in_a_command_graph(world):
    """a command with a timeout of 1 s, frozen for longer, completes (graph)"""
    clock_in_a_command(world, "graph")


def clock_in_a_command_tasks(world):
    """a command with a timeout of 1 s, frozen for longer, completes (tasks)"""
    clock_in_a_command(world, "tasks")


def clock_in_a_command_steps(world):
    """a command with a timeout of 1 s, frozen for longer, completes (pipeline)"""
    clock_in_a_command(world, "steps")


def clock_in_a_script_python(world):
    """Python with a timeout of 1 s, frozen for longer, completes"""
    clock_in_a_command(world, "python")


def clock_in_a_script_javascript(world):
    """JavaScript with a timeout of 1 s, frozen for longer, completes"""
    clock_in_a_command(world, "javascript")


def clock_in_a_script_that_is_left(world):
    """a frozen script ends with its process; when the run goes on it is begun anew, once"""
    for dialect in SCRIPTS:
        (world.folder / "begun").unlink(missing_ok=True)
        (world.folder / "ran").unlink(missing_ok=True)
        patient = in_node(world, dialect).replace(world.ms(1000), world.ms(9000))
        with debugger(world, patient, dialect) as d:
            pid = pause_in_a_command(d, world)
            world.same(d.leave(), 3, "the exit code")
        is_gone(world, pid)
        with reopened(world, dialect) as d:
            frame = d.call("frame")
            world.same((frame["status"], frame["node"], frame["position"]), ("paused", "a", "during"))
            ended(d)
        world.same((world.read("ran"), state_of(world, dialect)), ("done\n", {"z": 1}))


def clock_in_a_script_that_asks(world):
    """a script that is frozen asks its question after that"""
    with debugger(world, "nodes:\n  - name: a\n    python: |\n"
                  "      import os, time\n      open('begun', 'w').close()\n"
                  "      while not os.path.exists('go'): time.sleep(0.01)\n"
                  "      return {'said': interrupt('well?')}\n") as d:
        d.call("continue")
        world.wait_for("begun")
        world.same(d.call("pause")["paused"], [1], "what is paused at once")
        d.wait("paused", node="a", position="during")
        world.write("go", "")
        world.nap(0.2)
        world.same(d.call("frame")["status"], "paused")
        d.call("continue")
        d.wait("waiting", node="a")
        next_event(d, "settled", "answer", value="so")
    world.same(state_of(world), {"said": "so"})


def clock_in_a_command_across_a_kill(world):
    """a frozen command stays frozen across a kill, and completes after continue"""
    for dialect, store in (("graph", STORES[0]), ("tasks", STORES[1]), ("steps", STORES[0])):
        (world.folder / "begun").unlink(missing_ok=True)
        (world.folder / "ran").unlink(missing_ok=True)
        d = debugger(world, in_node(world, dialect), thread=dialect, store=store)
        pid = pause_in_a_command(d, world)
        d.call("history")  # reads the store, so that all is in it
        kill(d)
        world.nap(1.2)
        world.same((process_state(pid) in FROZEN, world.read("ran")), (True, ""),
                   "it is frozen after the kill")
        with reopened(world, dialect, store) as d:
            frame = d.call("frame")
            world.same((frame["status"], frame["node"]), ("paused", "a"))
            world.same(process_state(pid) in FROZEN, True, "it is frozen when the run is opened")
            ended(d)
            world.same(steps_of(d), [("a", "success"), ("z", "success")])
        world.same(world.read("ran"), "done\n", "what ran")


def clock_in_a_command_again_and_again(world):
    """one command is frozen, let go and frozen again, by one process after the other"""
    d = debugger(world, in_node(world, "graph"))
    pid = pause_in_a_command(d, world)
    for _ in range(2):
        d.call("continue")
        time.sleep(0.05)
        d.call("pause")
        wait_for_state(world, pid, FROZEN)
        world.nap(0.5)
        world.same((process_state(pid) in FROZEN, world.read("ran")), (True, ""), "it is frozen")
        d.call("history")  # reads the store, so that all is in it
        kill(d)
        d = reopened(world)
    with d:
        ended(d)
    world.same(world.read("ran"), "done\n", "what ran")


def is_gone(world, pid):
    def gone():
        try:
            return process_state(pid) in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            return True
    world.until(gone, f"process {pid} is gone")


def clock_of_a_command_that_is_left(world):
    """skip, goto and back end a frozen command"""
    text = in_node(world, "graph").replace("nodes:\n", "nodes:\n  - {name: f, jq: '{f: 1}'}\n")
    for number, (operation, args) in enumerate((("skip", {}), ("goto", {"node": "z"}), ("back", {}))):
        (world.folder / "begun").unlink(missing_ok=True)
        with debugger(world, text, f"t{number}") as d:
            pid = pause_in_a_command(d, world)
            if operation == "skip":
                ended(d, operation="skip")
                is_gone(world, pid)
                continue
            world.same(d.call(operation, **args)["node"], "z" if operation == "goto" else "a")
            is_gone(world, pid)
            world.same(next_event(d, "settled", "continue")["status"], "completed")
        world.same(state_of(world, f"t{number}")["z"], 1)
    world.same(world.read("ran"), "done\n", "what ran: only what was gone back to")


def clock_of_a_node_that_was_paused_in_its_midst(world):
    """the time of a node counts what it worked before a pause and after it, and not the pause"""
    world.write("w.yaml", "nodes: [{name: a, shell: 'touch begun; for i in $(seq 40); do sleep 0.1; done'}]\n")
    process = world.start("run", "w.yaml", "--thread", "t", "-q")
    world.until((world.folder / "begun").exists, "it is under way")
    with Debugger(world, "t") as d:
        d.call("pause")
        d.wait("paused")
        time.sleep(5)
        next_event(d, "settled", "continue")
    process.communicate(timeout=TIMEOUT)
    with Debugger(world, "t") as d:
        took = [s["took"] for s in d.call("history")["steps"] if s["node"] == "a"][-1]
    if not 3900 <= took < 9000:  # the nap in which it was paused ends meanwhile, by the kernel's clock
        raise Broken(f"a node that worked for four seconds, and stood still for five, took {took} ms")


def clock_of_what_cannot_be_frozen(world):
    """work that cannot be frozen is let finish, and its frame stops before the next node"""
    with Server(world) as server, \
         debugger(world, f"nodes:\n  - {{name: a, http: '{server.url}/drip/2/{round(world.seconds(300))}'}}\n"
                  "  - {name: z, jq: '{z: 1}'}\n") as d:
        d.call("continue")
        world.until(lambda: d.call("frame")["status"] == "working", "it is under way")
        answer = d.call("pause")
        world.same((answer["paused"], answer["later"]), ([], [1]))
        world.same(d.wait("paused", reason="user_pause")["node"], "z")
        ended(d)


def clock_in_a_command_left_and_resumed(world):
    """a frozen command that was left is taken up by `pawl resume`, and cancelled by `pawl cancel`"""
    with debugger(world, in_node(world, "graph")) as d:
        pause_in_a_command(d, world)
        world.same(d.leave(), 3, "the exit code")
    world("resume", "t", "-q").gives(DONE)
    world.same(world.read("ran"), "done\n", "what ran")
    (world.folder / "begun").unlink()
    with debugger(world, in_node(world, "graph"), "u") as d:
        pid = pause_in_a_command(d, world)
        d.leave()
    world("cancel", "u").gives(DONE)
    is_gone(world, pid)
    world.same(world.read("ran"), "done\n", "what ran")


def clock_of_an_aborted_command(world):
    """a frozen command is ended by abort, at once"""
    with debugger(world, in_node(world, "graph")) as d:
        pid = pause_in_a_command(d, world)
        begun = time.monotonic()
        ended(d, "cancelled", "abort")
        world.same(time.monotonic() - begun < 3, True, "it was quick")
    is_gone(world, pid)
    world.same(world.read("ran"), "", "what ran")


def clock_before_a_node(world):
    """a node with a timeout, paused before it and inside it for longer, completes"""
    world.write("in.yaml", "nodes: [{name: i, jq: '{i: 1}'}, {name: k, jq: '{k: 1}'}]\n")
    with debugger(world, f"nodes: [{{name: s, workflow: in.yaml, timeout: {world.ms(600)}}}, "
                  "{name: z, jq: '{z: 1}'}]\n") as d:
        world.nap(0.7)
        world.same(next_event(d, "paused", "step", kind="into")["node"], "i")
        world.nap(0.8)
        world.same(next_event(d, "paused", "step", kind="over")["node"], "k")
        world.nap(0.8)
        ended(d)
    world.same(state_of(world), {"i": 1, "k": 1, "z": 1})


def clock_inside_across_a_kill(world):
    """the timeout around a paused frame stands still across a kill"""
    world.write("in.yaml", "nodes: [{name: i, jq: '{i: 1}'}, {name: k, jq: '{k: 1}'}]\n")
    d = debugger(world, f"nodes: [{{name: s, workflow: in.yaml, timeout: {world.ms(600)}}}]\n")
    d.go("step", kind="into")
    kill(d)
    world.nap(0.8)
    with reopened(world) as d:
        world.same(node_now(d), "i")
        world.nap(0.4)
        ended(d)
    world.same(state_of(world), {"i": 1, "k": 1})


def clock_of_a_container_of_tasks(world):
    """the timeout of a list of tasks stands still while one of them is paused"""
    with debugger(world, """
tasks:
  - {name: run_tasks, id: c, timeout: TIME, config: {tasks: [
      {name: run_shell, id: i, config: {command: 'true'}},
      {name: run_shell, id: k, config: {command: echo k >> ran}}]}}
""".replace("TIME", world.ms(600))) as d:
        d.set("k")
        d.go("continue")
        world.nap(0.9)
        ended(d)
    world.same(world.read("ran"), "k\n", "what ran")


def clock_still_runs_out(world):
    """the time that was left is all that there is: a timeout comes after the pause, not never"""
    with debugger(world, f"nodes: [{{name: a, timeout: {world.ms(700)}, "
                  "shell: 'touch begun; sleep 60'}]\n") as d:
        d.call("continue")
        world.wait_for("begun")
        d.call("pause")
        world.nap(0.8)
        begun = time.monotonic()
        stop = ended(d, "failed")
        took = time.monotonic() - begun
        world.same(stop["error"]["kind"], "timeout")
        if not world.seconds(0.2) < took < world.seconds(3):
            raise Broken(f"the rest of {world.ms(700)} took {took:.2f} s")


def paused_nap(world, d, node):
    """Lets it run, pauses it in its wait after 200 ms, for 900 ms; how long the rest takes then."""
    d.call("continue")
    d.wait("retry", node=node) if node == "again" else None
    world.nap(0.2)
    world.same(d.call("pause")["paused"], [1], "what is paused at once")
    d.wait("paused", node=node)
    world.nap(0.9)
    world.same(d.call("frame")["status"], "paused")
    return time.monotonic()


def rest_is(world, begun, least, most):
    took = time.monotonic() - begun
    if not world.seconds(least) <= took <= world.seconds(most):
        raise Broken(f"the rest took {took:.2f} s, not {least} to {most} times {world.pace}")


def nap(world):
    return (f"nodes: [{{name: first, jq: '{{}}'}}, {{name: nap, sleep: {world.ms(800)}}}, "
            "{name: z, jq: '{z: 1}'}]\n")


def again(world):
    return ("nodes: [{name: again, shell: 'echo x >> ran; test -e mended', "
            f"retry: {{attempts: 2, delay: {world.ms(800)}}}}}]\n")


def clock_of_a_sleep(world):
    """a sleep does not run down while it is paused"""
    with debugger(world, nap(world)) as d:
        begun = paused_nap(world, d, "nap")
        ended(d)
        rest_is(world, begun, 0.35, 3)


def clock_of_a_sleep_that_is_first(world):
    """a run stops before its first node, also if that one sleeps"""
    with debugger(world, f"nodes: [{{name: nap, sleep: {world.ms(400)}}}, "
                  "{name: z, jq: '{z: 1}'}]\n") as d:
        world.same(node_now(d), "nap")
        begun = time.monotonic()
        ended(d)
        rest_is(world, begun, 0.35, 3)


def clock_of_a_sleep_across_a_kill(world):
    """a paused sleep has the time that was left, across a kill"""
    d = debugger(world, nap(world))
    paused_nap(world, d, "nap")
    kill(d)
    with reopened(world) as d:
        world.same(node_now(d), "nap")
        begun = time.monotonic()
        ended(d)
        rest_is(world, begun, 0.3, 3)


def clock_of_a_back_off(world):
    """the wait before a retry does not run down while it is paused"""
    with debugger(world, again(world)) as d:
        begun = paused_nap(world, d, "again")
        world.same(world.read("ran"), "x\n", "what ran while it was paused")
        world.write("mended", "")
        ended(d)
        rest_is(world, begun, 0.35, 3)
    world.same(world.read("ran"), "x\nx\n", "what ran")


def clock_of_a_back_off_across_a_kill(world):
    """the wait before a retry has the time that was left, across a kill"""
    d = debugger(world, again(world))
    paused_nap(world, d, "again")
    kill(d)
    world.write("mended", "")
    with reopened(world) as d:
        begun = time.monotonic()
        ended(d)
        rest_is(world, begun, 0.3, 3)
    world.same(world.read("ran"), "x\nx\n", "what ran")


def clock_of_the_run(world):
    """the timeout of the whole run stands still while it is paused, across a kill too"""
    for text, thread in ((f"config: {{timeout: {world.ms(700)}}}\n"
                          "nodes: [{name: a, jq: '{}'}, {name: z, jq: '{z: 1}'}]\n", "g"),
                         (f"timeout: {world.ms(700)}\n"
                          "tasks: [{name: run_shell, id: a, config: {command: 'true'}}, "
                          "{name: run_shell, id: z, config: {command: 'true'}}]\n", "k")):
        d = at(world, "z", text, thread=thread)
        world.nap(0.8)
        world.same(d.call("frame")["status"], "paused", thread)
        kill(d)
        world.nap(0.2)
        with reopened(world, thread) as d:
            world.nap(0.6)
            world.same(node_now(d), "z", thread)
            ended(d)
        world.same(world("status", thread, "--json").json["status"], "completed", thread)


def clock_of_other_branches(world):
    """a branch that is not paused keeps its own time: its timeout comes, that of the paused one does not"""
    text = """
nodes:
  - {name: s, jq: '{}'}
  - {name: a, workflow: in.yaml, timeout: TIME}
  - {name: b, shell: 'sleep 60', timeout: TIME}
  - {name: late, jq: '{late: .error.kind}'}
  - {name: j, jq: '{}'}
edges: [{from: s, to: [a, b], fan_in: j}, {from: a, to: j}, {from: b, to: late, on: error}, {from: b, to: j},
        {from: late, to: j}, {from: j, to: __end__}]
""".replace("TIME", world.ms(500))
    world.write("in.yaml", "nodes: [{name: i, jq: '{i: 1}'}]\n")
    with debugger(world, text) as d:
        d.call("configure", pause_all_on_breakpoint=False)
        d.set("i")
        d.call("continue")
        paused = d.wait("paused", node="i")
        world.nap(0.9)
        world.same(d.call("frame", frame=paused["frame"])["status"], "paused")
        ended(d, frame="all")
    state = state_of(world)
    world.same((state["i"], state["late"]), (1, "timeout"))


def back_to_the_end_of_a_list(world):
    """where a frame is past the last node, it says so, and names none"""
    world.write("other.yaml", "tasks: [{name: run_shell, config: {command: exit 1}}]\n"
                "cleanupTasks: [{name: sleep, config: {duration: 0}}]\n")
    world.write("test.yaml", "tasks: [{name: run_external_tasks, config: {testFile: other.yaml}}]\n")
    world.write("commands", "continue\nback\nwhere\n")
    said = world("debug", "test.yaml", "--store", "memory:", "-x", "commands").out
    if "paused during \n" in said or "paused at the end" not in said:
        raise Broken(said)


if __name__ == "__main__":
    here = sys.modules["__main__"]
    cases = []
    for prefix in ("back_", "edited_", "reverse_", "goto_", "past_", "replay_", "export_", "killed_"):
        cases += cases_of(here, prefix)
    cases += [paced(case) for case in cases_of(here, "clock_") if case is not clock_in_a_command]
    sys.exit(run_all(choose(cases, sys.argv[2:]), sys.argv[1]))
