#!/usr/bin/env python3
"""How a debug session moves the frames of a run: steps, pausing and going on, skipping and ending,
in the three dialects; and that nothing that is asked wrongly ends it. Prints TAP.

    tests/engine/debug_steps.py PAWL [WORD...]      only the cases with one of the words
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from debugger import BRANCHES, Debugger, debug, debug_tasks, says  # noqa: E402
from playbook import background, choose, concurrent, fails, hangs, matrix, ran, run_tasks, \
    works  # noqa: E402
from playbook import says as echoes  # noqa: E402
from world import Broken, DONE, cases_of, paced, run_all  # noqa: E402

OUTER = """\
name: outer
nodes:
  - {name: first, jq: '{x: 1}'}
  - {name: sub, workflow: ./inner.yaml}
  - {name: last, jq: '{last: true}'}
"""

INNER = """\
name: inner
nodes:
  - {name: one, jq: '{x: (.x + 1)}'}
  - {name: two, workflow: ./innermost.yaml}
  - {name: three, jq: '{x: (.x + 1)}'}
"""

INNERMOST = """\
name: innermost
nodes:
  - {name: deep, jq: '{x: (.x + 10)}'}
  - {name: deeper, jq: '{x: (.x + 10)}'}
"""

LINE = """\
name: line
nodes:
  - {name: a, jq: '{n: 1}'}
  - {name: b, jq: '{n: (.n + 1)}'}
  - {name: c, jq: '{n: (.n + 1)}'}
  - {name: d, jq: '{n: (.n + 1)}'}
"""

PIPELINE = """\
name: pipe
steps:
  - {id: one, type: script, config: {command: echo one >> ran}}
  - {id: two, type: script, config: {command: echo two >> ran}}
  - {id: three, type: script, config: {command: echo three >> ran}}
"""

SLEEPY = """\
name: sleepy
nodes:
  - {name: begin, jq: '{}'}
  - {name: a, sleep: 60s}
  - {name: b, sleep: 60s}
  - {name: end, jq: '{end: true}'}
edges:
  - {from: __start__, to: begin}
  - {from: begin, to: [a, b], fan_in: end}
  - {from: a, to: end}
  - {from: b, to: end}
  - {from: end, to: __end__}
"""


def debug_nested(world, store="memory:"):
    world.write("inner.yaml", INNER)
    world.write("innermost.yaml", INNERMOST)
    return debug(world, OUTER, store=store)


def debug_branches(world, *at, pause_all=False, text=BRANCHES):
    """Paused at these nodes, one a branch."""
    d = debug(world, text)
    d.call("configure", pause_all_on_breakpoint=pause_all)
    ids = [d.set(node=node)["id"] for node in at]
    d.go("continue")
    d.call("breakpoint_delete", ids=ids)
    return d


def until(world, d, *nodes):
    """To a node that is passed once."""
    for node in nodes:
        id_ = d.set(node=node, once=True)["id"]
        world.same(d.go("continue").one["breakpoints"], [id_])


def walk(world, d, kind):
    """Nodes at which it stops, stepping to the end."""
    out = []
    for _ in range(100):
        stop = d.go("step", kind=kind)
        if stop.status:
            world.same(stop.status, "completed")
            return out
        world.same({e["reason"] for e in stop.own}, {"step"})
        out += stop.nodes
    raise Broken(f"it does not come to an end: {out}")


# ---- steps, nested ----


def step_over_nested(world):
    """over: the nodes of the same level; a sub-workflow is one step"""
    with debug_nested(world) as d:
        world.same(walk(world, d, "over"), ["sub", "last"])


def step_into_nested(world):
    """into: every node, those of sub-workflows too"""
    with debug_nested(world) as d:
        world.same(walk(world, d, "into"), ["sub", "one", "two", "deep", "deeper", "three", "last"])


def step_out_nested(world):
    """out: to where the level is left, level by level, then to the end"""
    with debug_nested(world) as d:
        until(world, d, "deep")
        world.same(walk(world, d, "out"), ["three", "last"])


def step_kinds_differ(world):
    """over, into and out end in three different places from the same node"""
    ends = {}
    for kind in ("over", "into", "out"):
        with debug_nested(world) as d:
            until(world, d, "two")
            stop = d.go("step", kind=kind)
            ends[kind] = (stop.one["node"], stop.one["depth"])
            world.same((stop.of("resumed")[0]["how"], stop.one["reason"]), (f"step {kind}", "step"))
    world.same(ends, {"over": ("three", 2), "into": ("deep", 3), "out": ("last", 1)})


def step_over_the_end_of_a_level(world):
    """over at the last node of a sub-workflow: the next node around it"""
    with debug_nested(world) as d:
        until(world, d, "deeper")
        world.same(d.go("step", kind="over").one["node"], "three")
        world.same(d.go("step", kind="over").one["node"], "last")


def step_out_of_the_outermost(world):
    """out of the outermost level: the run ends"""
    with debug_nested(world) as d:
        world.same(d.go("step", kind="out").status, "completed")


def step_in_a_loop(world):
    """a while: over passes all of it, into stops in each turn, out leaves it"""
    text = """\
state: {n: 0}
nodes:
  - name: w
    while: .n < 3
    do: [{name: inc, jq: '{n: (.n + 1)}'}, {name: nop, jq: '{}'}]
  - {name: end, jq: '{}'}
"""
    with debug(world, text) as d:
        world.same(walk(world, d, "over"), ["end"])
    with debug(world, text) as d:
        world.same(walk(world, d, "into"), ["inc", "nop"] * 3 + ["end"])
    with debug(world, text) as d:
        until(world, d, "nop")
        stop = d.go("step", kind="out")
        world.same((stop.one["node"], d.value(".n")), ("end", 3))


def step_breakpoint_ends_it(world):
    """a breakpoint inside what a step passes stops there, and the step is over"""
    with debug_nested(world) as d:
        until(world, d, "sub")
        d.set(node="deep", once=True)
        stop = d.go("step", kind="over")
        world.same((stop.one["node"], stop.one["reason"]), ("deep", "breakpoint"))
        world.same(d.go("continue").status, "completed")


def step_after_a_pause_behind_a_node(world):
    """over from a pause after a node: the next node"""
    with debug(world, LINE) as d:
        d.set(node="b", position="after")
        d.go("continue")
        stop = d.go("step", kind="over")
        world.same((stop.one["node"], stop.one["position"]), ("c", "before"))


def step_from_an_error(world):
    """over from an error: where the error edge leads"""
    text = """\
nodes: [{name: bad, jq: 'error("x")'}, {name: no, jq: '{}'}, {name: mend, jq: '{}'}]
edges:
  - {from: bad, to: mend, on: error}
  - {from: bad, to: no}
  - {from: no, to: __end__}
  - {from: mend, to: __end__}
"""
    with debug(world, text) as d:
        d.set("caught")
        d.go("continue")
        world.same(d.go("step", kind="over").one["node"], "mend")


def step_into_tasks(world):
    """tasks: children of run_tasks are in their parent's frame; over, into and out differ"""
    ends = {}
    for kind in ("over", "into", "out"):
        with debug_tasks(world, run_tasks(works(id_="p"), run_tasks(works(id_="x"), id_="inner"),
                                          works(id_="q"), id_="group"), works(id_="last")) as d:
            until(world, d, "inner")
            stop = d.go("step", kind=kind)
            ends[kind] = (stop.one["frame_name"], stop.one["node"])
    world.same(ends, {"over": ("main", "q"), "into": ("main", "x"), "out": ("main", "last")})


def step_pipeline(world):
    """pipeline: over goes from step to step, and nothing runs before its time"""
    with debug(world, PIPELINE) as d:
        world.same(ran(world), [])
        world.same(d.go("step", kind="over").one["node"], "two")
        world.same(ran(world), ["one"])
        world.same(d.go("step", kind="into").one["node"], "three")
        world.same(ran(world), ["one", "two"])
        world.same(d.go("step", kind="out").status, "completed")
        world.same(ran(world), ["one", "two", "three"])


def step_retry_is_no_step(world):
    """over a node that is tried again: one step, not one an attempt"""
    text = "nodes: [{name: r, shell: '[ -e once ] || { touch once; exit 1; }', " \
           "retry: {attempts: 2, delay: 1ms}}, {name: end, jq: '{}'}]"
    with debug(world, text) as d:
        stop = d.go("step", kind="over")
        world.same((stop.nodes, len(stop.of("retry"))), (["end"], 1))


# ---- steps and frames ----


def branch_over(world):
    """over at the node that makes branches: both stop nowhere, the frame at the join"""
    with debug(world, BRANCHES) as d:
        stop = d.go("step", kind="over")
        world.same(stop.places, [("main", "end")])


def branch_into(world):
    """into at the node that makes branches: each stops at its first node"""
    with debug(world, BRANCHES) as d:
        stop = d.go("step", kind="into")
        world.same(stop.places, [("parallel[0]", "a"), ("parallel[1]", "b")])


def branch_over_inside(world):
    """over in a branch: the next node of that branch alone"""
    with debug_branches(world, "a", "b") as d:
        a = d.number("parallel[0]")
        stop = d.go("step", kind="over", frame=a)
        world.same(stop.places, [("parallel[0]", "a2")])
        world.same(d.frames()["parallel[1]"]["node"], "b")


def branch_out(world):
    """out of a branch: in the frame around it, where that goes on"""
    with debug_branches(world, "a", "b") as d:
        a, b = d.number("parallel[0]"), d.number("parallel[1]")
        d.go("continue", frame=b)
        stop = d.go("step", kind="out", frame=a)
        world.same(stop.places, [("main", "end")])
        world.same(stop.one["reason"], "step")


def branch_kinds_differ(world):
    """over, into and out from the same node of a branch end in different places"""
    text = BRANCHES.replace(
        "{name: a, jq: '{log: [\"a\"]}'}",
        "{name: a, workflow: ./innermost.yaml, input: '{x: 1}', output: got}")
    ends = {}
    for kind in ("over", "into", "out"):
        world.write("innermost.yaml", INNERMOST)
        with debug_branches(world, "a", "b", text=text) as d:
            a, b = d.number("parallel[0]"), d.number("parallel[1]")
            if kind == "out":
                d.go("continue", frame=b)
            stop = d.go("step", kind=kind, frame=a)
            ends[kind] = (stop.one["frame_name"], stop.one["node"])
    world.same(ends, {"over": ("parallel[0]", "a2"), "into": ("parallel[0]", "deep"),
                      "out": ("main", "end")})


def branch_over_its_end(world):
    """over at the last node of a branch: it ends, and the step goes on in the frame around it"""
    with debug_branches(world, "a2", "b2") as d:
        a, b = d.number("parallel[0]"), d.number("parallel[1]")
        stop = d.go("step", kind="over", frame=a)
        world.same((stop.paused, [e["frame"] for e in stop.of("frame")]), ([], [a]))
        stop = d.go("continue", frame=b)
        world.same((stop.places, stop.one["reason"]), ([("main", "end")], "step"))
        world.same(d.go("step", kind="over").one["node"], "after")


def branch_into_its_end(world):
    """into at the last node of a branch: the same"""
    with debug_branches(world, "a2", "b2") as d:
        a, b = d.number("parallel[0]"), d.number("parallel[1]")
        d.go("continue", frame=b)
        world.same(d.go("step", kind="into", frame=a).places, [("main", "end")])


def branch_both_step(world):
    """both branches step over their ends: the frame around stops once"""
    with debug_branches(world, "a2", "b2") as d:
        a, b = d.number("parallel[0]"), d.number("parallel[1]")
        d.go("step", kind="over", frame=a)
        stop = d.go("step", kind="over", frame=b)
        world.same(stop.places, [("main", "end")])
        world.same(d.go("continue").status, "completed")


def branch_end_without_a_step(world):
    """the end of a branch that does not step stops nothing"""
    with debug_branches(world, "a2", "b2") as d:
        d.go("continue", frame=d.number("parallel[0]"))
        stop = d.go("continue", frame=3)
        world.same((stop.paused, stop.status), ([], "completed"))


def branch_concurrent_tasks(world):
    """run_tasks_concurrent: over passes it, into stops in each of its frames, out ends after it"""
    def begin():
        return debug_tasks(world, concurrent(run_tasks(works(id_="x"), works(id_="y"), id_="g"),
                                             works(id_="z"), id_="both"), works(id_="last"))
    with begin() as d:
        world.same(d.go("step", kind="over").places, [("main", "last")])
    with begin() as d:
        stop = d.go("step", kind="into")
        world.same(stop.places, [("concurrent[0]", "g"), ("concurrent[1]", "z")])
        d.go("continue", frame=d.number("concurrent[1]"))
        g = d.number("concurrent[0]")
        world.same(d.go("step", kind="into", frame=g).own[-1]["node"], "x")
        world.same(d.go("step", kind="over", frame=g).own[-1]["node"], "y")
        world.same(d.go("step", kind="out", frame=g).places, [("main", "last")])


def branch_map(world):
    """map: over passes all elements, into stops at each element"""
    text = "nodes: [{name: m, map: {over: '[1, 2]', as: i}, do: {jq: '$i'}}, {name: end, jq: '{}'}]"
    with debug(world, text) as d:
        world.same(d.go("step", kind="over").places, [("main", "end")])
    with debug(world, text) as d:
        world.same(d.go("step", kind="into").places, [("map[0]", "m[]"), ("map[1]", "m[]")])
        d.go("continue", frame=2)
        world.same(d.go("step", kind="out", frame=3).places, [("main", "end")])


# ---- names ----


def name_parallel(world):
    """frames: main, and parallel[i] made by the node before; they are told as they come and go"""
    with debug_branches(world, "a", "b") as d:
        frames = d.frames()
        world.same(sorted(frames), ["main", "parallel[0]", "parallel[1]"])
        world.same([(frames[name]["parent"], frames[name]["made_by"])
                    for name in ("parallel[0]", "parallel[1]")], [(1, "begin"), (1, "begin")])
        world.same((frames["main"]["frame"], frames["main"].get("parent")), (1, None))
        for i in (0, 1):
            told = d.told("frame", name=f"parallel[{i}]", status="created")
            world.same([(e["frame"], e["parent"]) for e in told],
                       [(frames[f"parallel[{i}]"]["frame"], 1)])
        d.finish()
        for i in (0, 1):
            number = frames[f"parallel[{i}]"]["frame"]
            world.same(len(d.told("frame", status="completed", frame=number)), 1)


def name_completed_has_name(world):
    """frames: the event of a frame's end has its name and its parent too"""
    with debug_branches(world, "a", "b") as d:
        d.finish()
        ends = [e for e in d.events if e["event"] == "frame" and e["status"] == "completed"
                and e["frame"] > 1]
        world.same(sorted((e.get("name"), e.get("parent")) for e in ends),
                   [("parallel[0]", 1), ("parallel[1]", 1)])


def name_concurrent(world):
    """frames: concurrent[i]"""
    with debug_tasks(world, concurrent(works(id_="x"), works(id_="y"), id_="both")) as d:
        d.set(node="[xy]")
        d.go("continue")
        frames = d.frames()
        world.same(sorted(frames), ["concurrent[0]", "concurrent[1]", "main"])
        world.same({frames[n]["made_by"] for n in ("concurrent[0]", "concurrent[1]")}, {"both"})


def name_background(world):
    """frames: background and foreground"""
    with debug_tasks(world, background(works(id_="front"), hangs(id_="behind"))) as d:
        d.set(task_id="front")
        d.set(task_id="behind")
        stop = d.go("continue")
        world.same(stop.places, [("background", "behind"), ("foreground", "front")])
        world.same(d.go("continue", frame="all").status, "completed")


def name_matrix(world):
    """frames: matrix[i] of a concurrent one; a sequential one stays in its frame"""
    with debug_tasks(world, matrix(works(id_="cell"), [1, 2], runConcurrent=True)) as d:
        d.set(task_id="cell")
        world.same([name for name, _ in d.go("continue").places], ["matrix[0]", "matrix[1]"])
    with debug_tasks(world, matrix(works(id_="cell"), [1, 2])) as d:
        d.set(task_id="cell")
        world.same(d.go("continue").places, [("main", "cell")])
        world.same(d.go("continue").places, [("main", "cell")])


def name_map(world):
    """frames: map[i]"""
    with debug(world, "nodes: [{name: m, map: {over: '[1, 2, 3]', as: i}, do: {jq: '$i'}}]") as d:
        d.set(node="m[]")
        world.same([name for name, _ in d.go("continue").places], ["map[0]", "map[1]", "map[2]"])


# ---- going on and pausing ----


def going_choose_which(world):
    """pause_all_on_breakpoint off: the person chooses which frame advances"""
    with debug_branches(world, "a", "b") as d:
        a, b = d.number("parallel[0]"), d.number("parallel[1]")
        d.set(node="?2")
        world.same(d.go("continue", frame=b).answer["resumed"], [b])
        frames = d.frames()
        world.same((frames["parallel[0]"]["node"], frames["parallel[1]"]["node"]), ("a", "b2"))
        world.same(d.go("continue", frame=a).places, [("parallel[0]", "a2")])


def going_selected_alone(world):
    """pause_all_on_breakpoint off: continue without a frame is the selected one; on: all"""
    with debug_branches(world, "a", "b") as d:
        d.set(node="?2")
        b = d.number("parallel[1]")
        d.call("frame", frame=b)
        world.same(d.go("continue").answer["resumed"], [b])
        d.call("configure", pause_all_on_breakpoint=True)
        world.same(sorted(d.call("continue")["resumed"]), [2, 3])


def going_all(world):
    """continue all: every frame that is paused"""
    with debug_branches(world, "a", "b") as d:
        stop = d.go("continue", frame="all")
        world.same((sorted(stop.answer["resumed"]), stop.status), ([2, 3], "completed"))


def going_pause_one(world):
    """pause of one frame: it stops where it is, the others go on"""
    with debug(world, SLEEPY) as d:
        d.set(node="[ab]")
        d.go("continue")
        d.call("continue", frame="all")
        world.same(d.call("pause", frame=2), {"answer": "pause", "request_id": next(d.numbers) - 1,
                                              "paused": [2], "later": []})
        told = d.wait("paused", frame=2, reason="user_pause")
        world.same((told["node"], told["position"]), ("a", "during"))
        world.same(d.call("frame", frame=3)["status"] in ("sleeping", "working"), True)
        d.has_none("paused", frame=3, reason="user_pause")


def going_pause_all(world):
    """pause without a frame, and of all: every frame stops"""
    for args in ({}, {"frame": "all"}):
        with debug(world, SLEEPY) as d:
            d.call("continue")
            d.wait("frame", name="parallel[1]", status="created")
            world.same(sorted(d.call("pause", **args)["paused"]), [2, 3])
            stop = d.still()
            world.same(stop.places, [("parallel[0]", "a"), ("parallel[1]", "b")])
            world.same({e["reason"] for e in stop.paused}, {"user_pause"})


def step_several(world):
    """count: so many steps, one after the other; a breakpoint ends them, and so does the run"""
    with debug(world, LINE) as d:
        stop = d.go("step", kind="over", count=3)
        world.same((stop.one["node"], stop.one["reason"], len(stop.paused)), ("d", "step", 1))
    with debug(world, LINE) as d:
        d.set(node="b")
        stop = d.go("step", kind="into", count=3)
        world.same((stop.one["node"], stop.one["reason"]), ("b", "breakpoint"))
        world.same(d.go("continue").status, "completed")
    with debug(world, LINE) as d:
        world.same(d.go("step", kind="over", count=9).status, "completed")
        d.refuse("step", kind="over", count=0)


def step_several_in_the_next_process(world):
    """count: what is left of it is there for whoever opens the run"""
    text = LINE.replace("name: b, jq: '{n: (.n + 1)}'", "name: b, approval: 'ok?', output: b")
    with debug(world, text, "--thread", "t", store="file:kept") as d:
        d.call("step", kind="over", count=3)
        d.wait("waiting")
    with Debugger(world, "t", store="file:kept") as d:
        d.begin()
        world.same(d.go("answer", value=1).one["node"], "d")


def step_several_from_a_branch(world):
    """count: a branch that ends hands what is left to the frame around it"""
    with debug_branches(world, "a2") as d:
        stop = d.go("step", kind="over", count=2)
        world.same((stop.one["node"], stop.one["frame_name"]), ("after", "main"))


def going_on_after_a_step_that_ended_a_branch(world):
    """continue after a step that ended its branch: the join does not stop the run"""
    for frame in ("all", None):
        with debug_branches(world, "a2", "b2", pause_all=True) as d:
            d.go("step", kind="over")
            world.same(len(d.frames()), 2, "the frames that are left")
            stop = d.go("continue", frame=frame)
            world.same((stop.paused, stop.status), ([], "completed"))


def going_on_with_a_step_after_skip(world):
    """skip at a node that a step came to: the next node; at a breakpoint it goes on"""
    with debug(world, LINE) as d:
        d.go("step", kind="over")
        stop = d.go("skip")
        world.same((stop.one["node"], stop.one["reason"]), ("c", "step"))
    with debug(world, LINE) as d:
        d.set(node="b")
        d.go("continue")
        world.same(d.go("skip").status, "completed")


def going_pause_selects_one_that_is_paused(world):
    """pause selects a frame that stands still: the one that was selected, or else the first"""
    with debug(world, SLEEPY) as d:
        d.call("continue")
        d.wait("frame", name="parallel[1]", status="created")
        d.go("pause")
        world.same(d.call("session")["frame"], 2)
        d.call("frame", frame=3)
        d.call("continue", frame="all")
        d.go("pause")
        world.same(d.call("session")["frame"], 3)
        d.call("skip")


@paced
def going_pause_and_continue(world):
    """pause all, continue all: the run ends, the frame around the branches does not stop again"""
    with debug(world, SLEEPY.replace("60s", world.ms(300))) as d:
        d.call("continue")
        d.wait("frame", name="parallel[1]", status="created")
        d.go("pause")
        stop = d.go("continue", frame="all")
        world.same((stop.paused, stop.status), ([], "completed"))


def going_pause_a_command(world):
    """pause while a command runs: at once, or before the next node; the command is done once"""
    text = "nodes: [{name: s, shell: 'echo s >> ran; touch begun; " \
           "until [ -e go ]; do sleep 0.02; done'}, {name: t, jq: '{}'}]"
    with debug(world, text) as d:
        d.call("continue")
        world.wait_for("begun")
        answer = d.call("pause")
        world.same(sorted(answer["paused"] + answer["later"]), [1])
        world.write("go", "")
        world.same(d.still().one["reason"], "user_pause")
        world.same(d.finish().status, "completed")
        world.same(ran(world), ["s"])


@paced
def going_clocks_stand_still(world):
    """timeouts stand still while a frame is paused"""
    text = f"nodes: [{{name: s, shell: 'sleep {world.seconds(0.2)}', timeout: {world.ms(600)}}}, " \
           "{name: t, jq: '{}'}]"
    with debug(world, text) as d:
        d.call("continue")
        d.go("pause")
        world.nap(0.8)
        world.same(d.go("continue").status, "completed")


@paced
def going_run_clock_stands_still(world):
    """the timeout of the run and of a task around stand still while a frame below is paused"""
    config = f"config: {{timeout: {world.ms(500)}}}\n"
    with debug(world, LINE.replace("nodes:", f"{config}nodes:", 1)) as d:
        world.nap(0.7)
        world.same(d.go("continue").status, "completed")
    both = concurrent(works(id_="x"), works(id_="y"), id_="g", timeout=world.ms(500))
    with debug_tasks(world, both) as d:
        d.set(task_id="x")
        d.go("continue")
        world.nap(0.7)
        d.finish()


def going_pause_a_frame_that_joins(world):
    """a frame that was told to pause while it waits for its branches does so after them, as the answer says"""
    with debug_branches(world, "a", "b") as d:
        answer = d.call("pause", frame=1)
        world.same((answer["paused"], answer["later"]), ([], [1]))
        d.call("continue", frame=d.number("parallel[0]"))
        d.call("continue", frame=d.number("parallel[1]"))
        stop = d.still()
        world.same((stop.places, stop.one["reason"]), ([("main", "end")], "user_pause"))


def going_on_instead_of_a_pause(world):
    """continue all: a frame that was told to pause after its branches goes on as well"""
    with debug_branches(world, "a", "b") as d:
        d.call("pause", frame=1)
        stop = d.go("continue", frame="all")
        world.same((stop.paused, stop.status), ([], "completed"))


def going_pause_a_frame_that_waits(world):
    """a frame that was told to pause while it waits for an answer does so after it, whatever stops meanwhile"""
    text = """
nodes:
  - {name: begin, jq: '{}'}
  - {name: ask, approval: {prompt: ok?}, output: a}
  - {name: then, jq: '{then: 1}'}
  - {name: b, jq: '{b: 1}'}
  - {name: b2, jq: '{b2: 1}'}
  - {name: end, jq: '{end: 1}'}
edges:
  - {from: __start__, to: begin}
  - {from: begin, to: [ask, b], fan_in: end}
  - {from: ask, to: then}
  - {from: then, to: end}
  - {from: b, to: b2}
  - {from: b2, to: end}
  - {from: end, to: __end__}
"""
    with debug(world, text) as d:
        d.set("b")
        d.set("b2")
        d.go("continue")
        frames = {f["node"]: f for f in d.frames().values()}
        world.same((frames["ask"]["status"], frames["b"]["status"]), ("waiting", "paused"))
        world.same(d.call("pause", frame=frames["ask"]["frame"])["later"], [frames["ask"]["frame"]])
        world.same(d.go("continue", frame=frames["b"]["frame"]).nodes, ["b2"])
        stop = d.go("answer", decision="yes")
        world.same([(e["node"], e["reason"]) for e in stop.own], [("then", "user_pause")])
        world.same(d.go("continue", frame="all").status, "completed")


@paced
def going_sleep_stands_still(world):
    """a sleep goes on with what was left of it"""
    text = f"nodes: [{{name: a, jq: '{{}}'}}, {{name: s, sleep: {world.ms(500)}}}, " \
           "{name: t, jq: '{}'}]"
    with debug(world, text) as d:
        d.call("configure", steps=True)
        d.call("continue")
        d.wait("node", node="s")
        d.go("pause")
        world.nap(0.7)
        begun = time.monotonic()
        world.same(d.go("continue").status, "completed")
        if time.monotonic() - begun < world.seconds(0.2):
            raise Broken("the sleep went on while the frame was paused")


def going_not_paused(world):
    """a command for a frame that is not paused says what the frame is doing"""
    with debug(world, SLEEPY) as d:
        d.call("configure", pause_all_on_breakpoint=False)
        d.set(node="b")
        d.call("continue")
        d.wait("paused", node="b")
        says(d.refuse("step", kind="over", frame=2), "Frame 2", "not paused", "`a`")
        says(d.refuse("skip", frame=1), "Frame 1", "waits for its branches", "2, 3")
        says(d.refuse("continue", frame=2), "Frame 2", "`a`")
        says(d.refuse("retry", frame=3), "Frame 3")
        says(d.refuse("set", path=".x", value=1, frame=2), "Frame 2")
        says(d.refuse("step", kind="over", frame=99), "no frame 99")
        world.same(d.call("session")["paused"], 1)


def going_ended_frame(world):
    """a command for a frame that has ended says so"""
    with debug_branches(world, "a", "b") as d:
        d.call("continue", frame=2)
        d.wait("frame", frame=2, status="completed")
        says(d.refuse("continue", frame=2), "Frame 2 has ended")
        says(d.refuse("frame", frame=2), "Frame 2 has ended")


def going_run_is_over(world):
    """after the end commands are refused with what became of the run, and looking still works"""
    with debug(world, LINE) as d:
        world.same(d.finish().status, "completed")
        for operation, args in (("continue", {"frame": 1}), ("step", {"kind": "over"}),
                                ("skip", {})):
            says(d.refuse(operation, **args), "completed")
        world.same(d.call("session")["status"], "ended")
        world.same(len(d.call("history")["steps"]) >= 4, True)


def going_paused_is_told_first(world):
    """the paused event is out before the resume: for every frame they alternate"""
    with debug(world, BRANCHES) as d:
        d.set(node="*")
        for _ in range(20):
            if d.go("continue", frame="all").status:
                break
        turns = {}
        for event in d.events:
            if event["event"] in ("paused", "resumed"):
                turns.setdefault(event["frame"], []).append(event["event"])
        for frame, words in turns.items():
            world.same(words, ["paused", "resumed"] * (len(words) // 2), f"frame {frame}")
        world.same(sum(map(len, turns.values())), 14)


def going_answer_comes_first(world):
    """an answer does not wait for what comes of it, and has the id of its call"""
    with debug(world, "nodes: [{name: a, jq: '{}'}, {name: s, sleep: 60s}]") as d:
        answer = d.ask_line(json.dumps({"call": "continue", "request_id": "mine", "wait": False}))
        world.same((answer["answer"], answer["request_id"], answer["resumed"]), ("continue", "mine", [1]))


def going_session_is_told(world):
    """the session is told when it begins, and when it ends by detach, before the run goes on"""
    with debug(world, LINE) as d:
        world.same(len(d.told("session", status="attached")), 1)
        d.call("detach")
        d.wait("session", status="detached")


def going_changes_are_told(world):
    """changed: variables, config, injected nodes and the selection are told"""
    with debug(world, LINE) as d:
        d.call("set", path=".x", value=1)
        d.wait("changed", what="variables", frame=1)
        d.call("config_set", path=".jq", value="{n: 5}")
        d.wait("changed", what="config", frame=1)
        d.call("inject", node={"name": "extra", "jq": "{}"})
        d.wait("changed", what="injected", frame=1)
    with debug_branches(world, "a", "b") as d:
        other = ({2, 3} - {d.call("session")["frame"]}).pop()
        d.call("frame", frame=other)
        world.same(d.call("session")["frame"], other)
        d.wait("changed", what="selected", frame=other)


def going_ids_come_back(world):
    """every answer has the id of its call, also of those that have an id of their own"""
    with debug(world, LINE) as d:
        d.call("watch_add", expression=".n")
        for operation in ("session", "frames", "breakpoints", "watches", "export"):
            answer = d.ask_line(json.dumps({"call": operation, "request_id": "mine"}))
            world.same(answer.get("request_id"), "mine", operation)


def going_interrupts(world):
    """a frame that waits for a person is told, answered through the session, and goes on"""
    text = "nodes: [{name: ask, approval: {prompt: 'ok?', options: [y, n]}}, {name: t, jq: '{}'}]"
    with debug(world, text) as d:
        stop = d.go("continue")
        world.same([(e["node"], e["prompt"], e["options"]) for e in stop.of("waiting")],
                   [("ask", "ok?", ["y", "n"])])
        d.refuse("answer", "maybe", decision="maybe")
        says(d.refuse("answer"), 'at `ask` waits for an answer ("ok?").')
        says(d.refuse("step", kind="over"), "waits for an answer at `ask`")
        stop = d.go("answer", decision="y")
        world.same((stop.paused, stop.status), ([], "completed"))


def going_interrupts_of_two(world):
    """with two questions open, `answer` without an id says which ones there are"""
    text = """
nodes: [{name: b, jq: '{}'}, {name: p, approval: {prompt: p}}, {name: q, approval: {prompt: q}}, {name: j, jq: '{}'}]
edges: [{from: b, to: [p, q], fan_in: j}, {from: p, to: j}, {from: q, to: j}, {from: j, to: __end__}]
"""
    with debug(world, text) as d:
        ids = {e["node"]: e["interrupt"] for e in d.go("continue").of("waiting")}
        world.same(d.refuse("answer", value=1),
                   "2 frames wait for an answer: "
                   f"{ids['p']} (`p`), {ids['q']} (`q`).")


def going_interrupt_that_asks_nothing(world):
    """one that only stopped says what it can be told"""
    text = "nodes: [{name: j, jq: '{}', interrupt: before}]"
    with debug(world, text) as d:
        d.go("continue")
        world.same(d.refuse("answer", value=5),
                   "`j` asked nothing, it only stopped: give no answer, or an object to merge into the state.")
        world.same(d.go("answer").status, "completed")


# ---- skip, retry, goto, back ----


def move_skip(world):
    """skip: the node counts as skipped and does nothing"""
    with debug(world, LINE) as d:
        until(world, d, "b")
        d.set(node="c")
        world.same(d.go("skip").one["node"], "c")
        world.same(d.value(".n"), 1)
        steps = d.call("history")["steps"]
        world.same([s["result"] for s in steps if s["node"] == "b"][-1], "skipped")


def move_skip_with_output(world):
    """skip with an output: that is what it gave back"""
    with debug(world, LINE) as d:
        until(world, d, "b")
        d.set(node="c")
        d.go("skip", output={"n": 40})
        world.same(d.value(".n"), 40)


def move_skip_in_the_dialects(world):
    """skip: a task and a step of a pipeline; their commands do not run"""
    with debug_tasks(world, echoes("one", id_="one"), echoes("two", id_="two")) as d:
        world.same(d.go("skip").status, "completed")
        world.same(ran(world), ["two"])
    world.write("ran", "")
    with debug(world, PIPELINE) as d:
        world.same(d.go("skip").status, "completed")
        world.same(ran(world), ["two", "three"])


def move_skip_an_error(world):
    """skip after an error: the node is passed over, and the run goes on"""
    with debug(world, "nodes: [{name: bad, jq: 'error(1)'}, {name: end, jq: '{end: true}'}]") as d:
        d.set("error")
        d.go("continue")
        world.same(d.go("skip").status, "completed")


def move_retry(world):
    """retry after an error: the node runs again, with what was set"""
    with debug(world, "nodes: [{name: v, jq: 'if .fine then {v: 1} else error(\"no\") end'}]") as d:
        d.set("error")
        world.same(d.go("continue").one["position"], "on_error")
        d.call("set", path=".fine", value=True)
        world.same(d.go("retry").status, "completed")


def move_retry_without_an_error(world):
    """retry where nothing failed is refused"""
    with debug(world, LINE) as d:
        d.refuse("retry")
        world.same(d.call("session")["paused"], 1)


def move_goto(world):
    """goto: the frame stands before another node, still paused; one that is none is refused"""
    with debug(world, LINE) as d:
        until(world, d, "b")
        world.same(d.call("goto", node="d")["node"], "d")
        d.refuse("goto", "nowhere", node="nowhere")
        world.same(d.call("frame", frame=1)["node"], "d")
        world.same(d.go("continue").status, "completed")
        world.same(d.value(".n"), 2)


def move_back(world):
    """back: the step before, with the state of then; the other future stays in the history"""
    for store in ("memory:", "sqlite:db/pawl.db", "file:kept"):
        with debug(world, LINE, store=store) as d:
            until(world, d, "d")
            world.same(d.value(".n"), 3)
            world.same(d.go("back").answer["node"], "c", store)
            world.same(d.value(".n"), 2)
            world.same(d.go("back", count=2).answer["node"], "a")
            world.same(d.finish().status, "completed")
            world.same(d.value(".n"), 4)


def move_back_and_on_at_once(world):
    """back and at once continue: what is told after the continue is still true then"""
    for i in range(5):
        with debug(world, LINE, store=f"file:kept{i}") as d:
            until(world, d, "d")
            d.call("back")
            d.call("continue")
            d.wait("settled")
            world.same([e for e in d.told("stopped") if not e["paused"] and not e["waiting"]], [])


def move_reverse(world):
    """reverse_continue: to the last hit before here; without one to the beginning"""
    with debug(world, LINE) as d:
        one = d.set(node="b")
        d.go("continue")
        until(world, d, "d")
        back = d.call("reverse_continue")
        world.same((back["node"], back["breakpoints"]), ("b", [one["id"]]))
        back = d.call("reverse_continue")
        world.same((back["node"], back["breakpoints"]), ("a", []))


# ---- ending ----


def end_detach(world):
    """detach: the run goes on to its end, past all breakpoints, in every dialect"""
    with debug(world, LINE) as d:
        d.set(node="*")
        d.call("detach")
        world.same(d.wait("settled")["status"], "completed")
        world.same(d.leave(), 0)
    with debug_tasks(world, concurrent(echoes("x", id_="x"), echoes("y", id_="y"))) as d:
        d.set(node="[xy]")
        d.go("continue")
        d.call("detach")
        world.same(d.wait("settled")["status"], "completed")
        world.same(sorted(ran(world)), ["x", "y"])
    world.write("ran", "")
    with debug(world, PIPELINE) as d:
        d.call("detach")
        world.same(d.wait("settled")["status"], "completed")
        world.same(ran(world), ["one", "two", "three"])


def end_detach_leaves_no_session(world):
    """detach: the run that is kept has no paused frame and no session any more"""
    with debug(world, LINE, "--thread", "t", store="file:kept") as d:
        d.set(node="c")
        d.call("detach")
        d.leave()
    world.same(world("status", "t", "--json", "--store", "file:kept").gives(DONE).json["status"],
               "completed")


def end_abort_graph(world):
    """abort: a graph whose frames are paused is cancelled, and every frame completes"""
    text = "nodes: [{name: m, map: {over: '[range(5)]', as: i}, do: {shell: echo x >> ran}}]"
    for store in ("memory:", "sqlite:db/pawl.db", "file:kept"):
        with debug(world, text, store=store) as d:
            d.set(node="m[]")
            world.same(len(d.go("continue").paused), 5)
            stop = d.go("abort")
            world.same(stop.status, "cancelled", store)
            world.same([e["status"] for e in stop.of("session")], ["aborted"])
            world.same(d.call("session")["paused"], 0)
            world.same(ran(world), [])
            world.same(d.leave(), 1)


def end_abort_tells_frames(world):
    """abort: the five frames that were paused, and their parent, are told to have completed"""
    text = "nodes: [{name: m, map: {over: '[range(5)]', as: i}, do: {jq: '$i'}}]"
    with debug(world, text) as d:
        d.set(node="m[]")
        d.go("continue")
        d.go("abort")
        told = [event["frame"] for event in d.told("frame", status="completed")]
        world.same(sorted(told)[-5:], [2, 3, 4, 5, 6])


def end_abort_runs_cleanup(world):
    """abort: while five frames are paused all end, and the cleanup tasks run"""
    for store in ("memory:", "sqlite:db/pawl.db", "file:kept"):
        world.write("ran", "")
        with debug_tasks(world, concurrent(*[echoes(f"w{i}", id_=f"w{i}") for i in range(5)]),
                         echoes("later"), cleanup=[echoes("tidy", id_="tidy"), echoes("tidy2")],
                         store=store) as d:
            d.set(node="w?")
            d.set(task_id="tidy")
            world.same(len(d.go("continue").paused), 5)
            world.same(d.go("abort").status, "cancelled", store)
            world.same(ran(world), ["tidy", "tidy2"])
            world.same(d.leave(), 1)


def end_abort_in_cleanup(world):
    """abort: of a test that is paused in its cleanup, which runs to its end without another pause"""
    for store in ("memory:", "sqlite:db/pawl.db", "file:kept"):
        for first in (works(), fails()):
            world.write("ran", "")
            with debug_tasks(world, first, cleanup=[echoes("tidy", id_="tidy"), echoes("tidy2", id_="tidy2")],
                             store=store) as d:
                d.set(node="tidy*")
                world.same(d.go("continue").nodes, ["tidy"])
                d.call("set", path=".x", value=1)
                stop = d.go("abort")
                world.same((stop.status, stop.paused, ran(world)), ("cancelled", [], ["tidy", "tidy2"]), store)
                world.same(d.leave(), 1)


def end_abort_in_cleanup_of_a_kind(world):
    """abort: of a run that is paused in what a kind from outside cleans up, with a graph and a test around it"""
    world.write(".pawl/kinds/k.yaml", json.dumps({"kind": "k", "tasks": [works()],
                                                  "cleanupTasks": [echoes("b", id_="b"), echoes("c", id_="c")]}))
    (world.folder / ".pawl").chmod(0o700)
    for cleanup in ([], [echoes("last", id_="last")]):
        world.write("ran", "")
        more = {"cleanup": cleanup} if cleanup else {}
        with debug_tasks(world, {"name": "k"}, echoes("never"), **more) as d:
            d.set(node="b")
            d.set(node="c")
            d.set(node="last")
            world.same(d.go("continue").one["node"], "b")
            stop = d.go("abort")
            world.same((stop.status, stop.paused, ran(world)),
                       ("cancelled", [], ["b", "c"] + (["last"] if cleanup else [])))
    world.write("ran", "")
    with debug(world, "nodes: [{name: x, k: {}}, {name: y, shell: echo never >> ran}]") as d:
        d.set(node="b")
        world.same(d.go("continue").one["node"], "b")
        world.same((d.go("abort").status, ran(world)), ("cancelled", ["b", "c"]))


def end_abort_at_an_error_in_cleanup(world):
    """abort: of a test that is paused on an error of its cleanup, or behind one of its tasks"""
    with debug_tasks(world, works(), cleanup=[fails(id_="bad"), echoes("tidy")]) as d:
        d.set("error")
        world.same(d.go("continue").one["node"], "bad")
        world.same((d.go("abort").status, ran(world)), ("cancelled", ["tidy"]))
    world.write("ran", "")
    with debug_tasks(world, works(), cleanup=[echoes("a", id_="a"), echoes("b", id_="b")]) as d:
        d.set(node="a", position="after")
        d.go("continue")
        world.same((d.go("abort").status, ran(world)), ("cancelled", ["a", "b"]))


def end_back_from_a_cancelled_cleanup(world):
    """back into a run that was cancelled in its cleanup: breakpoints hold it again"""
    with debug_tasks(world, works(id_="w"), cleanup=[echoes("a", id_="a"), echoes("b", id_="b")],
                     store="file:kept", words=("--thread", "t")) as d:
        d.set(node="b")
        world.same(d.go("continue").one["node"], "b")
        world("cancel", "t", "--store", "file:kept").gives(DONE)
        d.wait("settled", status="cancelled")
        rows = {s["node"]: s["checkpoint"] for s in d.call("history")["steps"]}
        d.call("goto", checkpoint=rows["w"])
        world.same(d.go("continue").one["node"], "b")


def end_abort_then_orders(world):
    """abort: afterwards no frame can be let go, and nothing of the run is done any more"""
    text = "nodes: [{name: m, map: {over: '[range(5)]', as: i}, do: {shell: echo x >> ran}}]"
    with debug(world, text) as d:
        d.set(node="m[]")
        d.go("continue")
        d.go("abort")
        for operation, args in (("continue", {"frame": 3}), ("step", {"kind": "over", "frame": 4}),
                                ("skip", {"frame": 5}),
                                ("set", {"path": ".x", "value": 1, "frame": 6})):
            answer = d.ask(operation, **args)
            if "answer" in answer:
                raise Broken(f"{operation} of a cancelled run: {answer}")
            says(answer["error"])
        world.same(d.leave(), 1)
    world.same(ran(world), [])


def end_abort_at_an_error(world):
    """abort: from a pause on an error, and from one behind a node"""
    with debug_tasks(world, fails(id_="bad"), cleanup=[echoes("tidy")]) as d:
        d.set("error")
        d.go("continue")
        world.same(d.go("abort").status, "cancelled")
        world.same(ran(world), ["tidy"])
    with debug(world, LINE) as d:
        d.set(node="b", position="after")
        d.go("continue")
        world.same(d.go("abort").status, "cancelled")


def end_abort_of_an_ended_run(world):
    """abort: of a run that has ended is refused, whoever looks at it, and changes nothing"""
    for text, status in ((LINE, "completed"), ("nodes: [{name: bad, shell: exit 3}]", "failed")):
        with debug(world, text, "--thread", status, store="file:kept") as d:
            world.same(d.go("continue").status, status)
            says(d.refuse("abort"), status, "nothing to cancel")
            world.same(d.leave(), 0 if status == "completed" else 1)
        with Debugger(world, status, store="file:kept") as d:
            says(d.refuse("abort"), status, "nothing to cancel")
            world.same(d.call("session")["run_status"], status)


def end_of_a_test_that_failed(world):
    """the end of a test that failed and has cleaned up: its frame has ended, live and looked at"""
    with debug_tasks(world, fails(id_="bad"), cleanup=[echoes("tidy")], store="file:kept",
                     words=("--thread", "t")) as d:
        world.same(d.go("continue").status, "failed")
        world.same(d.call("frame")["status"], "done")
        says(d.refuse("step", kind="over"), "it has ended")
        says(d.refuse("node"), "it has ended")
        world.same(d.leave(), 1)
    with Debugger(world, "t", store="file:kept") as d:
        world.same(d.call("frame")["status"], "done")


def end_abort_while_running(world):
    """abort: while a frame sleeps and another is paused"""
    with debug(world, SLEEPY) as d:
        d.call("configure", pause_all_on_breakpoint=False)
        d.set(node="b")
        d.call("continue")
        d.wait("paused", node="b")
        d.call("abort")
        world.same(d.wait("settled")["status"], "cancelled")


def end_abort_of_a_pipeline(world):
    """abort: of a pipeline that is paused"""
    with debug(world, PIPELINE) as d:
        world.same(d.go("abort").status, "cancelled")
        world.same(ran(world), [])


def end_cancelled_parent(world):
    """frames whose parent is cancelled complete: a threshold is reached while others are paused"""
    with debug_tasks(world, concurrent(works(id_="x"), echoes("y", id_="y"), echoes("z", id_="z"),
                                       successThreshold=1, id_="any"), works(id_="last")) as d:
        d.call("configure", pause_all_on_breakpoint=False)
        d.set(node="[xyz]")
        world.same(len(d.go("continue").paused), 3)
        d.set(task_id="last")
        stop = d.go("continue", frame=d.number("concurrent[0]"))
        world.same(stop.places, [("main", "last")])
        world.same(sorted(d.frames()), ["main"])
        world.same(ran(world), [])
        world.same(sorted(e["frame"] for e in d.events if e["event"] == "frame"
                          and e["status"] == "completed"), [2, 3, 4])
        world.same(d.go("continue").status, "completed")


def end_background_cancelled(world):
    """frames whose parent is cancelled complete: the background of a foreground that ends"""
    with debug_tasks(world, background(works(id_="front"), echoes("behind", id_="behind")),
                     works(id_="last")) as d:
        d.call("configure", pause_all_on_breakpoint=False)
        d.set(task_id="behind")
        d.set(task_id="last")
        d.call("continue")
        d.wait("paused", node="last")
        world.same(sorted(d.frames()), ["main"])
        world.same(d.go("continue").status, "completed")
        world.same(ran(world), [])


def end_failed_parent(world):
    """frames whose parent fails complete: a branch that fails beside one that is paused"""
    text = BRANCHES.replace("jq: '{log: [\"b\"]}'", "jq: 'error(\"b\")'")
    with debug(world, text) as d:
        d.call("configure", pause_all_on_breakpoint=False)
        d.set(node="[ab]")
        d.go("continue")
        d.call("continue", frame=d.number("parallel[1]"))
        world.same(d.wait("settled")["status"], "failed")
        says(d.ask("continue", frame="all")["error"])


def make_kept(store):
    def case(world):
        with debug(world, BRANCHES, "--thread", "t", store=store) as d:
            d.call("configure", pause_all_on_breakpoint=False)
            d.set(node="[ab]")
            d.go("continue")
            d.call("set", path=".mine", value=1, frame=2)
            world.same(d.leave(), 3)
        with Debugger(world, "t", store=store) as d:
            frames = d.frames()
            world.same([frames[name]["status"] for name in ("parallel[0]", "parallel[1]")],
                       ["paused", "paused"])
            world.same(d.call("pending", frame=2)["pending"][0]["path"], ["mine"])
            d.set(node="?2")
            world.same(d.go("step", kind="over", frame=2).places, [("parallel[0]", "a2")])
            world.same(d.value(".mine", 2), 1)
            world.same(d.call("session")["pause_all_on_breakpoint"], False)
            d.finish()
    case.__doc__ = f"{store}: paused frames, changes and options are there in the next process"
    return case


KEPT = [make_kept(store) for store in ("sqlite:db/pawl.db", "file:kept")]


# ---- the idle limit ----


def idle_stays_parked(world):
    """idle limit: the session ends, the frames stay parked, and the run can be gone on with"""
    for store in ("sqlite:db/pawl.db", "file:kept"):
        with debug(world, LINE, "--thread", "t", store=store) as d:  # stands before a
            d.call("configure", idle_limit=0.2)
            d.wait("session", status="expired")
        world.same(world("status", "t", "--json", "--store", store).json["status"], "paused")
        answer = world("resume", "t", "--json", "--store", store).gives(DONE)
        world.same(answer.json["state"]["n"], 4)


def idle_expired_leaves(world):
    """idle limit: when it has passed the program leaves, and the run stays paused for others"""
    with debug(world, PIPELINE, "--thread", "t", store="file:kept") as d:
        d.call("configure", idle_limit=0.2)
        d.wait("session", status="expired")
        world.same(d.leave(), 3)
    world.same(ran(world), [])
    world("resume", "t", "--store", "file:kept").gives(DONE)
    world.same(ran(world), ["one", "two", "three"])


def idle_auto_resume(world):
    """auto_resume: after the limit the session detaches, and the run goes on; its end is told"""
    with debug(world, LINE) as d:
        d.set(node="*")
        d.call("configure", auto_resume=True, idle_limit=0.2)
        d.wait("session", status="expired")
        world.same(d.wait("settled")["status"], "completed")


def idle_auto_resume_runs(world):
    """auto_resume: the run that goes on does what is left of it"""
    with debug(world, PIPELINE) as d:
        d.set(node="*")
        d.call("configure", auto_resume=True, idle_limit=0.2)
        d.wait("session", status="expired")
        world.wait_for("ran")
    world.same(ran(world)[:1], ["one"])


def idle_is_of_who_attaches(world):
    """idle limit and auto_resume are not kept: who opens a run only looks, whatever its record asks for"""
    with debug(world, PIPELINE, "--thread", "t", store="file:kept") as d:
        d.call("configure", auto_resume=True, idle_limit=600)
        world.same(d.leave(), 3)
    with Debugger(world, "t", store="file:kept") as d:
        session = d.call("session")
        world.same((session["auto_resume"], session["idle_limit"]), (False, 3600))
    world.same(ran(world), [])


def idle_of_the_command_line(world):
    """--idle and --auto-resume: a second is enough; a fraction of one is taken too"""
    world.write("flow.yaml", LINE)
    with Debugger(world, "flow.yaml", "--idle", "0.2", "--auto-resume", store="memory:") as d:
        world.same(d.wait("settled")["status"], "completed")


def idle_zero(world):
    """idle limit 0: none"""
    with debug(world, LINE, "--idle", "0") as d:
        session = d.call("session")
        world.same((session["idle_limit"], session.get("expires_in")), (0, None))


def idle_default(world):
    """idle limit: an hour unless given"""
    with debug(world, LINE) as d:
        session = d.call("session")
        world.same((session["idle_limit"], 3000 <= session["expires_in"] <= 3600), (3600, True))


@paced
def idle_begins_anew(world):
    """idle limit: every command lets it begin anew, extend makes it longer"""
    with debug(world, LINE) as d:
        d.call("configure", idle_limit=world.seconds(0.4))
        for _ in range(4):
            world.nap(0.2)
            d.call("session")
        d.has_none("session", status="expired")
        d.call("extend", seconds=60)
        world.nap(0.6)
        d.has_none("session", status="expired")
        world.same(d.call("session")["status"], "paused")


# ---- wrong arguments ----


WRONG = {"int": ["x", 1.5, [], None], "number": ["x", {}, True], "bool": ["yes", 1, None],
         "text": [1, [], None], "frame": ["x", 0, -1, 1.5, [], "all"], "frames": ["x", 0, []],
         "path": [1, {}, True], "array": [{}, "x"], "object": [[], "x"], "any": []}
GOOD = {"int": 1, "number": 1, "bool": True, "text": "x", "frame": 1, "frames": 1, "path": ".x",
        "array": [], "object": {}, "any": 1}


def needed(row):
    """The arguments that an operation must have, each with a value that it takes."""
    return {a["name"]: a["words"][0] if a.get("words") else GOOD[a["type"]]
            for a in row["arguments"] if a.get("required")}


def session_rows(d):
    """The rows of the table that are asked of a session. The prompt says whose itself."""
    return [{**row, "arguments": [a for a in row["arguments"] if a["name"] != "thread"]}
            for row in d.call("operations")["operations"]
            if "/debug/{thread}" in row.get("route", "") and row["name"] != "run_open"]


def wrong_every_operation(world):
    """every operation with an extra, missing or wrong argument: a sentence that names both"""
    with debug(world, LINE) as d:
        table = session_rows(d)
        world.same(len(table) > 40, True)
        for row in table:
            name, takes = row["name"], row["arguments"]
            says(d.refuse(name, nonsense_=1), f"`{name}`", "nonsense_")
            good = needed(row)
            if takes and (good or any(a.get("one_of") for a in takes)):
                d.refuse(name, f"`{name}`")
            for missing in good:
                says(d.refuse(name, **{k: v for k, v in good.items() if k != missing}), f"`{name}`")
            for argument in takes:
                for value in WRONG[argument["type"]]:
                    if value is None and argument.get("nullable"):
                        continue
                    line = {"call": name, "args": {**good, argument["name"]: value}, "wait": False}
                    answer = d.ask_line(json.dumps(line))
                    if "answer" in answer:
                        raise Broken(f"{line} is not refused: {answer}")
                    says(answer["error"], name, argument["name"])
        world.same(d.call("session")["paused"], 1)
        world.same(d.finish().status, "completed")


def wrong_bounds(world):
    """every number outside its bounds is refused and says them"""
    with debug(world, LINE) as d:
        for row in session_rows(d):
            for a in row["arguments"]:
                good = needed(row)
                if a["type"] in ("int", "number") and "min" in a:
                    says(d.refuse(row["name"], **{**good, a["name"]: a["min"] - 1}), a["name"],
                         str(a["min"]))
        world.same(d.call("session")["paused"], 1)


def wrong_words(world):
    """an argument that is one of some words: another is refused, and they are listed"""
    with debug(world, LINE) as d:
        for row in session_rows(d):
            for a in row["arguments"]:
                good = needed(row)
                if a.get("words"):
                    says(d.refuse(row["name"], **{**good, a["name"]: "sideways"}), a["name"],
                         "sideways", *a["words"])


def wrong_lines(world):
    """lines that are no calls: answered with a sentence each, and the session goes on"""
    with debug(world, LINE) as d:
        for line in ('{"call": "sesion"}', '{"call": 1}', "{}", '{"call": "step", "args": []}',
                     '{"call": "session", "extra": 1}', '{"call": "session"', '{"call": ""}',
                     '{"call": "session", "args": {"\\u0000": 1}}', "no such command", "{{{",
                     '{"call": "' + "x" * 5000 + '"}', '{"args": {}}', "\\x00\\xff"):
            answer = d.ask_line(line)
            if "answer" in answer:
                raise Broken(f"{line} is answered with {answer}")
            says(answer["error"])
        says(d.ask_line('{"call": "sesion"}')["error"], "sesion", "session")
        world.same(d.call("session")["paused"], 1)


def wrong_paths(world):
    """paths that are none are refused; those of what is not there too, or give nothing"""
    with debug(world, LINE) as d:
        for path in (".a[", "a b", ".a | .b", [True], [[1]], [None], ".a[1.5]", ""):
            answer = d.ask("set", path=path, value=1)
            if "answer" in answer:
                raise Broken(f"set {path!r} is answered with {answer}")
            says(answer["error"])
        world.same(d.call("pending")["pending"], [])


if __name__ == "__main__":
    here = sys.modules["__main__"]
    ALL = list(KEPT)
    for prefix in ("step_", "branch_", "name_", "going_", "move_", "end_", "idle_", "wrong_"):
        ALL += cases_of(here, prefix)
    sys.exit(run_all(choose(ALL, sys.argv[2:]), sys.argv[1]))
