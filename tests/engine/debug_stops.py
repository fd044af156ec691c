#!/usr/bin/env python3
"""Where a debug session stops a run: every field of a breakpoint, alone and with others, in
the three dialects. Prints TAP.

    tests/engine/debug_stops.py PAWL [WORD...]      only the cases with one of the words
"""

import json
import stat
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from debugger import BRANCHES, Debugger, debug, debug_tasks, says  # noqa: E402
from playbook import choose, concurrent, external, fails, matrix, options, run_tasks, sets, \
    shell, works, write_test  # noqa: E402
from world import DONE, WAITING, Broken, cases_of, run_all  # noqa: E402

LINE = """\
name: line
nodes:
  - {name: a, jq: '{n: 1}'}
  - {name: b, jq: '{n: (.n + 1), b: true}'}
  # nothing is on this line
  - name: c
    jq: |
      {n: (.n + 1)}
  - {name: d, jq: '{n: (.n + 1)}'}
"""

LOOP = """\
name: loop
state: {n: 0}
nodes:
  - {name: add, jq: '{n: (.n + 1)}'}
  - {name: other, jq: '{}'}
  - {name: end, jq: '{end: true}'}
edges:
  - {from: __start__, to: add}
  - {from: add, to: other}
  - {from: other, to: add, when: '.n < 9'}
  - {from: other, to: end}
  - {from: end, to: __end__}
"""

OUTER = """\
name: outer
nodes:
  - {name: first, jq: '{x: 1}'}
  - {name: sub, workflow: ./inner.yaml}
  - {name: again, workflow: ./inner.yaml}
  - {name: last, jq: '{last: true}'}
"""

INNER = """\
name: inner
nodes:
  - {name: first, jq: '{x: (.x + 1)}'}
  - {name: deep, jq: '{x: (.x + 1)}'}
"""

FAILING = """\
name: failing
nodes:
  - {name: good, jq: '{x: 1}'}
  - {name: bad, jq: 'error("broken here")'}
  - {name: mend, jq: '{mended: true}'}
  - {name: bad2, jq: 'error("broken there")'}
edges:
  - {from: __start__, to: good}
  - {from: good, to: bad}
  - {from: bad, to: mend, on: error}
  - {from: bad, to: __end__}
  - {from: mend, to: bad2}
  - {from: bad2, to: __end__}
"""

PIPELINE = """\
name: pipe
steps:
  - {id: one, name: One, type: script, config: {command: 'true'}}
  - {id: two, name: Two, type: script, config: {command: exit 3}, on_failure: next}
  - {id: three, name: Three, type: script, config: {command: 'true'}}
"""


def debug_outer(world, store="memory:"):
    world.write("inner.yaml", INNER)
    return debug(world, OUTER, store=store)


def stops(world, d, status="completed"):
    """(frame's name, node) of the frames that stop for their own sake, to the end of the run."""
    out = []
    for _ in range(100):
        stop = d.go("continue", frame="all")
        out += [(e["frame_name"], e["node"]) for e in stop.own]
        if stop.status:
            world.same(stop.status, status, "the run")
            return out
    raise Broken(f"the run does not come to its end: {out}")


def nodes(world, d, status="completed"):
    return [node for _, node in stops(world, d, status)]


# ---- dialects and stores ----


STORES = ("memory:", "sqlite:db/pawl.db", "file:kept")


def make_dialect(dialect, store):
    def case(world):
        if dialect == "tasks":
            d = debug_tasks(world, works(id_="one"), works(id_="two"), works(id_="three"),
                            store=store)
        elif dialect == "pipeline":
            d = debug(world, PIPELINE.replace("exit 3", "'true'"), store=store)
        else:
            d = debug(world, LINE.replace("name: b", "name: two"), store=store)
        with d:
            world.same(d.first.one["reason"], "initial")
            world.same(d.first.one["frame_name"], "main")
            one = d.set(node="two")
            world.same((one["verified"], one["enabled"], one["hit_count"]), (True, True, 0))
            stop = d.go("continue")
            world.same((stop.one["node"], stop.one["reason"], stop.one["position"],
                        stop.one["breakpoints"]), ("two", "breakpoint", "before", [one["id"]]))
            world.same(d.breakpoint(one["id"])["hit_count"], 1)
            world.same(d.go("continue").status, "completed")
            world.same(d.leave(), 0)
    case.__doc__ = f"{dialect}, {store}: it pauses before its first node, at a breakpoint, and ends"
    return case


DIALECTS = [make_dialect(dialect, store) for dialect in ("graph", "tasks", "pipeline")
            for store in STORES]


def start_at_every_kind(world):
    """it pauses before the first node, whatever that does"""
    world.write("inner.yaml", INNER.replace(".x", "1"))
    for kind in ("shell: 'true'", "jq: '{}'", "approval: 'x?'", "lua: 'return {}'",
                 "workflow: ./inner.yaml", "map: {over: '[1]', as: i}, do: {jq: '1'}",
                 "while: 'false', do: [{name: x, jq: '{}'}]", "http: 'http://127.0.0.1:1/'",
                 "sleep: 10s"):
        world.write("flow.yaml", f"nodes: [{{name: s, {kind}}}]")
        with Debugger(world, "flow.yaml", store="memory:") as d:
            first = d.wait("paused")
            world.same((first["node"], first["position"], first["reason"]),
                       ("s", "before", "initial"), kind)


def start_without_a_pause(world):
    """--no-pause: it runs to the first breakpoint that --break sets"""
    world.write("flow.yaml", LINE)
    with Debugger(world, "flow.yaml", "--no-pause", "--break", "c", store="memory:") as d:
        world.same(d.begin().one["node"], "c")


# ---- places ----


def place_node_before_and_after(world):
    """node: before it runs, and after it with what it gave back in the state"""
    with debug(world, LINE) as d:
        before, after = d.set(node="b"), d.set(node="b", position="after")
        stop = d.go("continue")
        world.same((stop.one["position"], stop.one["breakpoints"]), ("before", [before["id"]]))
        world.same(d.value("[.n, .b]"), [1, None])
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["position"], stop.one["breakpoints"]),
                   ("b", "after", [after["id"]]))
        world.same(d.value("[.n, .b]"), [2, True])
        world.same(d.go("continue").status, "completed")


def place_default_is_before(world):
    """position: before unless given"""
    with debug(world, LINE) as d:
        d.set(node="c")
        world.same(d.go("continue").one["position"], "before")


def place_name_in_any_graph(world):
    """node: a name alone is meant in every workflow that has it"""
    with debug_outer(world) as d:
        d.call("step", kind="over")
        d.still()
        files = {Path(place["file"]).name for place in d.set(node="first")["places"]}
        world.same(files, {"flow.yaml", "inner.yaml"})
        world.same(nodes(world, d), ["first", "first"])


def place_sub_name(world):
    """node: sub/name is only the one inside what `sub` holds"""
    with debug_outer(world) as d:
        d.set(node="again/first")
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["depth"]), ("first", 2))
        stack = d.call("frame", frame=1)["stack"]
        world.same([level["node"] for level in stack], ["first", "again"])
        world.same(d.go("continue").status, "completed")


def place_workflow_name(world):
    """node: WORKFLOW/name is the one in every use of that workflow"""
    with debug_outer(world) as d:
        d.set(node="inner/deep")
        world.same(nodes(world, d), ["deep", "deep"])


def place_glob(world):
    """node: a glob, alone and behind a slash"""
    with debug(world, LINE) as d:
        one = d.set(node="[bd]")
        world.same([p["node"] for p in one["places"]], ["b", "d"])
        world.same(nodes(world, d), ["b", "d"])
    with debug_outer(world) as d:
        d.set(node="sub/*")
        world.same(nodes(world, d), ["first", "deep"])


def place_star_is_every_node(world):
    """node: * stops at every node of every frame"""
    with debug_outer(world) as d:
        d.set(node="*")
        world.same(nodes(world, d), ["sub", "first", "deep", "again", "first", "deep", "last"])


def place_map_body(world):
    """node: the body of a map, in the frames of its elements"""
    text = """\
nodes:
  - {name: m, map: {over: '[1, 2]', as: item, limit: 1}, do: {jq: '$item * 2'}}
"""
    with debug(world, text) as d:
        one = d.set(node="m[]")
        world.same(one["verified"], True)
        world.same(stops(world, d), [("map[0]", "m[]"), ("map[1]", "m[]")])


def place_after_a_map_body(world):
    """node: after the body of a map, what the element gave back is told"""
    text = """\
nodes:
  - {name: m, map: {over: '[1, 2, 3]', as: item, limit: 1}, do: {jq: 'if $item > 2 then null else $item * 2 end'}}
"""
    with debug(world, text) as d:
        d.set(node="m[]", position="after")
        for result in (2, 4, None):
            stop = d.go("continue")
            world.same((stop.one["node"], stop.one["result"]), ("m[]", result))
            world.same(d.call("frame", frame=stop.one["frame"])["result"], result)


def place_loop_body(world):
    """node: inside a while, each time"""
    text = """\
state: {n: 0}
nodes:
  - name: w
    while: .n < 3
    do: [{name: inc, jq: '{n: (.n + 1)}'}]
"""
    with debug(world, text) as d:
        d.set(node="w/inc")
        world.same(nodes(world, d), ["inc", "inc", "inc"])


NESTED = (works(id_="first"),
          run_tasks(works(id_="in1"), sets("v", 1, id_="in2"), id_="group"),
          concurrent(works(id_="left"), works(id_="right"), id_="both"),
          works(id_="last"))


def place_task_id(world):
    """task_id: a task at any depth"""
    with debug_tasks(world, *NESTED) as d:
        world.same(d.set(type="task_id", task_id="in2")["verified"], True)
        d.set(task_id="right")
        world.same(stops(world, d), [("main", "in2"), ("concurrent[1]", "right")])


def place_task_index(world):
    """task_index: tasks count in the order of the file, a group before what is in it"""
    order = ["first", "group", "in1", "in2", "both", "left", "right", "last"]
    for index in (1, 3, 6, 7):
        with debug_tasks(world, *NESTED) as d:
            d.set(type="task_index", task_index=index)
            world.same(nodes(world, d), [order[index]], f"task {index}")


def place_task_index_zero(world):
    """task_index: 0 is the first one, and one past the last is not verified"""
    with debug_tasks(world, works(id_="a"), works(id_="b")) as d:
        world.same(d.set(task_index=0)["places"][0]["node"], "a")
        none = d.set(task_index=2)
        world.same(none["verified"], False)
        says(none["message"], "2")


def place_task_name(world):
    """task_name: any node of the kind, in the three dialects"""
    with debug_tasks(world, *NESTED) as d:
        d.set(type="task_name", task_name="run_shell")
        world.same(nodes(world, d), ["in2"])
    with debug_outer(world) as d:
        d.set(task_name="workflow")
        world.same(nodes(world, d), ["sub", "again"])
    with debug(world, PIPELINE) as d:
        d.set(task_name="script")
        world.same(nodes(world, d), ["two", "three"])


TITLED = (works(id_="first", title="Second"),
          run_tasks(works(title="Inner: thing"), works(id_="g", title="Greet ${who}"), title="The group"),
          works(id_="Second", title="Never meant by its name"))


def place_task_title(world):
    """task_title: as it is written, at any depth, and as it is filled in when the task is reached"""
    with debug_tasks(world, *TITLED, config={"who": "me"}) as d:
        for title in ("The group", "Inner: thing", "Greet me"):
            world.same(d.set(type="task_title", task_title=title)["verified"], True, title)
        world.same(d.set(task_title="Greet you")["verified"], True)
        world.same(nodes(world, d), ["run_tasks", "sleep", "g"])
    with debug_tasks(world, *TITLED, config={"who": "me"}) as d:
        d.set(task_title="Greet ${who}", position="after")
        world.same(nodes(world, d), ["g"])


def place_title_typed(world):
    """node: the title of a task where no node has that name, bare and in quotes"""
    for spec, want in (("The group", "run_tasks"), ("Inner: thing", "sleep"),
                       ('"Inner: thing":after', "sleep"), ("Greet me if .who", "g")):
        with debug_tasks(world, *TITLED, config={"who": "me"}) as d:
            one = d.set(spec=spec)
            world.same((one["type"], one["verified"]), ("task_title", True), spec)
            world.same(nodes(world, d), [want], spec)
    with debug_tasks(world, *TITLED) as d:
        world.same(d.set(spec="Second")["type"], "node")
        world.same(nodes(world, d), ["Second"])


def place_title_back(world):
    """task_title: going back stops at it, too, with what it saw then"""
    with debug_tasks(world, *TITLED, config={"who": "me"}) as d:
        d.set(node="Second")
        d.go("continue")
        d.set(task_title="Greet you")
        d.set(task_title="Greet me")
        world.same(d.call("reverse_continue")["node"], "g")


def place_source(world):
    """source: the node around a line of the file"""
    with debug(world, LINE) as d:
        one = d.set(type="source", file="flow.yaml", line=8)
        world.same((one["verified"], one["places"][0]["node"]), (True, "c"))
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["line"]), ("c", 6))


def place_source_moved(world):
    """source: from a line without a node to the next one, and it says so"""
    with debug(world, LINE) as d:
        one = d.set(file="flow.yaml", line=5)
        world.same((one["verified"], one["places"][0]["node"], one["places"][0]["line"]),
                   (True, "c", 6))
        says(one["message"], "6")
        world.same(nodes(world, d), ["c"])


def place_source_past_the_end(world):
    """source: behind the last node it is not verified"""
    with debug(world, LINE) as d:
        world.same(d.set(file="flow.yaml", line=100)["verified"], False)
        none = d.set(file="flaw.yaml", line=3)
        world.same(none["verified"], False)
        says(none["message"], "flaw.yaml", "flow.yaml")
        world.same(nodes(world, d), [])


def place_source_of_a_sub_workflow(world):
    """source: in the file of a sub-workflow, every use of it"""
    with debug_outer(world) as d:
        d.set(spec="inner.yaml:4")
        stop = d.go("continue")
        world.same((stop.one["node"], Path(stop.one["file"]).name, stop.one["line"]),
                   ("deep", "inner.yaml", 4))
        world.same(nodes(world, d), ["deep"])


def place_unverified(world):
    """a node that there is not: accepted, not verified, with the nearest name; never hit"""
    with debug(world, LINE.replace("name: b", "name: build")) as d:
        one = d.set(node="bild")
        world.same((one["verified"], one["places"]), (False, []))
        says(one["message"], "bild", "did you mean `build`?")
        says(d.set(task_id="buld")["message"], "buld")
        says(d.set(task_name="jqq")["message"], "jqq", "`jq`")
        world.same(nodes(world, d), [])
        world.same(d.breakpoint(one["id"])["hit_count"], 0)


def place_pipeline(world):
    """node: steps of a pipeline by their id; after them the state has their result"""
    with debug(world, PIPELINE) as d:
        d.set(node="two", position="after")
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["position"]), ("two", "after"))
        world.same(d.value(".steps.two.status"), "failed")
        world.same(d.go("continue").status, "completed")


def place_two_at_one_node(world):
    """two breakpoints at one place are one pause, which names both"""
    with debug(world, LINE) as d:
        ids = [d.set(node="b")["id"], d.set(condition=".n == 1")["id"]]
        stop = d.go("continue")
        world.same((stop.one["node"], sorted(stop.one["breakpoints"])), ("b", ids))
        world.same(d.go("continue").status, "completed")


def place_in_another_frame(world):
    """set while one branch is paused, it is hit where another branch passes"""
    with debug(world, BRANCHES) as d:
        d.call("configure", pause_all_on_breakpoint=False)
        d.set(node="a")
        d.set(node="b")
        d.go("continue")
        a, b = d.number("parallel[0]"), d.number("parallel[1]")
        d.call("frame", frame=a)
        one = d.set(node="b2")
        stop = d.go("continue", frame=b)
        world.same((stop.one["node"], stop.one["frame"], stop.one["breakpoints"]),
                   ("b2", b, [one["id"]]))
        world.same(d.frames()["parallel[0]"]["node"], "a")


# ---- conditions ----


def condition_with_a_place(world):
    """condition: at a node, over what the node sees"""
    with debug(world, LOOP) as d:
        one = d.set(node="other", condition=".n == 4")
        d.go("continue")
        world.same(d.value(".n"), 4)
        world.same(d.breakpoint(one["id"])["hit_count"], 1)
        world.same(d.go("continue").status, "completed")


def condition_without_a_place(world):
    """condition: without a place it is tried at every node"""
    with debug(world, LINE) as d:
        one = d.set(condition=".n >= 2")
        world.same((one["type"], one["verified"]), ("conditional", True))
        world.same(nodes(world, d), ["c", "d"])


def condition_in_branches_and_sub_workflows(world):
    """condition: without a place also in parallel branches, sub-workflows and maps"""
    text = BRANCHES.replace("{name: b, jq: '{log: [\"b\"]}'}",
                            "{name: b, workflow: ./inner.yaml, input: '{x: 7}', output: got}") \
        .replace("{name: a2, jq: '{log: [\"a2\"], va: 1}'}",
                 "{name: a2, map: {over: '[1, 2]', as: i, limit: 1}, do: {jq: '$i'}, output: va}")
    world.write("inner.yaml", INNER)
    with debug(world, text) as d:
        d.set(condition='.x == 8 or .log == ["a"]')
        world.same(sorted(stops(world, d)),
                   [("map[0]", "a2[]"), ("map[1]", "a2[]"), ("parallel[0]", "a2"),
                    ("parallel[1]", "deep")])


def condition_names_map_variables(world):
    """condition: may name the variables of a map around the node"""
    text = "nodes: [{name: m, map: {over: '[1, 2, 3]', as: item}, do: {jq: '$item'}}]"
    with debug(world, text) as d:
        d.set(node="m[]", condition="$item == 2 and $index == 1")
        d.set(condition="$item == 3")
        world.same(sorted(stops(world, d)), [("map[1]", "m[]"), ("map[2]", "m[]")])


def condition_truth(world):
    """condition: only false, null and no output do not hold; 0, "" and [] do"""
    for text, holds in (("false", False), ("null", False), ("empty", False), (".nothing", False),
                        ("0", True), ('""', True), ("[]", True), ("{}", True), ("true", True)):
        with debug(world, LINE) as d:
            d.set(node="b", condition=text)
            world.same(bool(d.go("continue").paused), holds, text)


def condition_that_fails(world):
    """condition: one that fails is no hit, and the listing says why"""
    with debug(world, LINE) as d:
        one = d.set(node="b", condition=".n.x.y")
        world.same(nodes(world, d), [])
        listed = d.breakpoint(one["id"])
        world.same(listed["hit_count"], 0)
        if not listed.get("message"):
            raise Broken(f"it does not say why: {listed}")


def condition_sees_after(world):
    """condition with position after: sees what the node gave back"""
    with debug(world, LINE) as d:
        d.set(node="b", position="after", condition=".b")
        d.set(node="b", condition=".b")
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["position"]), ("b", "after"))
        world.same(d.go("continue").status, "completed")


def condition_after_anywhere(world):
    """condition without a place, after: behind the node that made it hold, and those that follow"""
    with debug(world, LINE) as d:
        d.set(condition=".n >= 3", position="after")
        world.same(nodes(world, d), ["c", "d"])


def condition_on_error(world):
    """condition with position on_error: over the state, where a node fails"""
    with debug(world, FAILING) as d:
        d.set(condition=".mended", position="on_error")
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["position"], stop.one["reason"]),
                   ("bad2", "on_error", "exception"))


def condition_in_tasks(world):
    """condition: of tasks, over the variables and what tasks left"""
    with debug_tasks(world, sets("k", 5, id_="one"), works(id_="two"),
                     run_tasks(works(id_="three"), id_="group")) as d:
        d.set(task_id="three", condition=".k == 5 and .tasks.one.result == 1")
        world.same(nodes(world, d), ["three"])


def condition_bad_jq(world):
    """bad jq is refused with its position, in every field that has some; nothing is set"""
    with debug(world, LINE) as d:
        d.refuse("breakpoint_set", "condition", "line 1, column 6", node="b", condition=".n + )")
        d.refuse("breakpoint_set", "line 1, column 8", spec="b if .n == (")
        d.refuse("breakpoint_set", "error", "line 1, column", type="exception", error=".kind ==")
        d.refuse("breakpoint_set", "log_message", "line 1, column", node="b", log_message="\\(.x")
        d.refuse("breakpoint_set", "condition", "line 2, column", node="b", condition=".n and\n)")
        d.refuse("breakpoint_set", "path", state={"path": ".a | .b", "changed": True})
        d.refuse("breakpoint_set", "nosuch", condition="nosuch(1)")
        d.refuse("breakpoint_set", "$nosuch", condition="$nosuch")
        world.same(d.call("breakpoints")["breakpoints"], [])


# ---- how often ----


def hits_ignore_count(world):
    """ignore_count: the first N hits are passed over"""
    with debug(world, LOOP) as d:
        one = d.set(node="add", ignore_count=3)
        d.go("continue")
        world.same(d.value(".n"), 4)  # one was before it was set
        world.same(d.breakpoint(one["id"])["hit_count"], 4)
        d.go("continue")
        world.same(d.value(".n"), 5)


def hits_ignore_count_from_now(world):
    """ignore_count that is set later: the next N hits are passed over, in the next process too"""
    with debug(world, LOOP, "--thread", "t", store="file:kept") as d:
        one = d.set(node="other")
        for n in (1, 2):
            d.go("continue")
            world.same(d.value(".n"), n)
        changed = d.call("breakpoint_change", id=one["id"], ignore_count=3)["breakpoint"]
        world.same((changed["ignore_count"], changed["hit_count"]), (3, 2))
    with Debugger(world, "t", store="file:kept") as d:
        d.begin()
        d.go("continue")
        world.same(d.value(".n"), 6)
        d.call("breakpoint_change", id=one["id"], condition="true")
        d.go("continue")
        world.same(d.value(".n"), 7)
        d.call("breakpoint_change", id=one["id"], hit_count=0, ignore_count=1)
        d.go("continue")
        world.same((d.value(".n"), d.breakpoint(one["id"])["hit_count"]), (9, 2))


def hits_ignore_count_only_hits(world):
    """ignore_count: what does not match the condition is no hit and uses none up"""
    with debug(world, LOOP) as d:
        one = d.set(node="other", condition=".n % 2 == 0", ignore_count=2)
        d.go("continue")
        world.same(d.value(".n"), 6)
        world.same(d.breakpoint(one["id"])["hit_count"], 3)


def hits_condition(world):
    """hit_condition: ==, >=, % over the hits"""
    for text, wanted in (("== 5", [5]), (">= 7", [7, 8, 9]), ("% 3", [3, 6, 9]), ("> 7", [8, 9]),
                         ("<= 2", [1, 2]), ("< 2", [1]), ("= 4", [4])):
        with debug(world, LOOP) as d:
            d.set(node="other", hit_condition=text)
            got = []
            while not d.go("continue").status:
                got.append(d.value(".n"))
            world.same(got, wanted, text)


def hits_condition_of_matches_only(world):
    """hit_condition: counts matches of the condition alone"""
    with debug(world, LOOP) as d:
        d.set(node="other", condition=".n % 2 == 1", hit_condition="% 2")
        got = []
        while not d.go("continue").status:
            got.append(d.value(".n"))
        world.same(got, [3, 7])


def hits_ignore_and_condition(world):
    """ignore_count and hit_condition together: both have to let it through"""
    with debug(world, LOOP) as d:
        d.set(node="other", ignore_count=4, hit_condition="% 3")
        got = []
        while not d.go("continue").status:
            got.append(d.value(".n"))
        world.same(got, [6, 9])


def hits_bad_hit_condition(world):
    """hit_condition: what is none is refused, and says what there is"""
    with debug(world, LINE) as d:
        for text in ("5", "== x", "!= 3", "% 0", "== -1", "", "== 5 5"):
            d.refuse("breakpoint_set", "hit_condition", node="b", hit_condition=text)


def hits_once(world):
    """once: it is deleted when it has paused a frame, and not by hits that were passed over"""
    with debug(world, LOOP) as d:
        one = d.set(node="other", once=True, ignore_count=2)
        d.go("continue")
        world.same(d.value(".n"), 3)
        gone = [e for e in d.events if e["event"] == "breakpoint" and e["change"] == "deleted"]
        world.same([e["breakpoint"]["id"] for e in gone], [one["id"]])
        world.same(d.call("breakpoints")["breakpoints"], [])
        world.same(d.go("continue").status, "completed")


def hits_once_in_two_frames(world):
    """once: of two frames that come to it in the same turn it stops one"""
    text = "nodes: [{name: m, map: {over: '[1, 2, 3]', as: item}, do: {jq: '$item'}}]"
    with debug(world, text) as d:
        d.set(node="m[]", once=True)
        stop = d.go("continue")
        world.same(len([e for e in stop.paused if e["reason"] == "breakpoint"]), 1)
        world.same(d.go("continue", frame="all").status, "completed")


def hits_count_anew(world):
    """hit_count: is listed, and can be set back"""
    with debug(world, LOOP) as d:
        one = d.set(node="other", hit_condition="== 2")
        d.go("continue")
        d.call("breakpoint_change", id=one["id"], hit_count=0)
        d.go("continue")
        world.same(d.value(".n"), 4)
        world.same(d.breakpoint(one["id"])["hit_count"], 2)


def hits_are_told(world):
    """a hit is told: event breakpoint with change hit and the count"""
    with debug(world, LOOP) as d:
        one = d.set(node="other", ignore_count=1)
        d.go("continue")
        told = [e for e in d.events if e["event"] == "breakpoint" and e["change"] == "hit"]
        world.same([e["breakpoint"]["id"] for e in told][-1:], [one["id"]], "hits that were told")
        world.same(told[-1]["breakpoint"]["hit_count"], 2)


# ---- enabling, groups, changing, deleting ----


def set_disabled(world):
    """enabled: false is neither hit nor counted, and can be enabled later"""
    with debug(world, LOOP) as d:
        one, two = d.set(node="other", enabled=False), d.set(condition=".n == 3")
        d.go("continue")
        world.same(d.breakpoint(one["id"])["hit_count"], 0)
        world.same(d.call("breakpoint_enable", id=one["id"], enabled=True)["changed"], [one["id"]])
        d.call("breakpoint_enable", id=two["id"], enabled=False)
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["breakpoints"]), ("other", [one["id"]]))


def set_metadata(world):
    """metadata: whatever it is, it is kept and listed with the breakpoint; it has a limit"""
    mark = {"owner": "editor", "marks": [1, None, {"x": True}]}
    with debug(world, LINE, "--thread", "t", store="file:kept") as d:
        one = d.set(node="b", metadata=mark)
        world.same(one["metadata"], mark)
        d.refuse("breakpoint_set", "metadata", node="c", metadata="x" * 200000)
    with Debugger(world, "t", store="file:kept") as d:
        world.same(d.breakpoint(one["id"])["metadata"], mark)
        changed = d.call("breakpoint_change", id=one["id"], metadata=None)["breakpoint"]
        world.same(changed.get("metadata"), None)


def set_groups(world):
    """group: enabled, disabled and deleted together; others are left alone"""
    with debug(world, LINE) as d:
        b, c, other = d.set(node="b", group="g"), d.set(node="c", group="g"), d.set(node="d")
        changed = d.call("breakpoint_enable", group="g", enabled=False)["changed"]
        world.same(sorted(changed), [b["id"], c["id"]])
        world.same(d.go("continue").one["node"], "d")
        world.same(sorted(d.call("breakpoint_delete", group="g")["deleted"]), [b["id"], c["id"]])
        world.same([one["id"] for one in d.call("breakpoints")["breakpoints"]], [other["id"]])


def set_group_enabled_again(world):
    """group: enabled again, they stop"""
    with debug(world, LINE) as d:
        d.set(node="b", group="g", enabled=False)
        d.set(node="c", group="h", enabled=False)
        d.call("breakpoint_enable", group="g", enabled=True)
        world.same(nodes(world, d), ["b"])


def set_unknown_group(world):
    """group: of none, an id that is none: refused, or nothing is changed; the session goes on"""
    with debug(world, LINE) as d:
        one = d.set(node="b")
        for args in ({"group": "nobody"}, {"id": 99}, {"ids": [one["id"], 99]}):
            answer = d.ask("breakpoint_delete", **args)
            if "answer" in answer and answer.get("deleted") != []:
                raise Broken(f"{args}: {answer}")
        world.same(len(d.call("breakpoints")["breakpoints"]), 1)


def set_change(world):
    """breakpoint_change: fields change, a null takes one away, hits stay"""
    with debug(world, LOOP) as d:
        one = d.set(node="other", condition=".n == 2")
        d.go("continue")
        changed = d.call("breakpoint_change", id=one["id"], condition=None, node="end")
        changed = changed["breakpoint"]
        world.same(("condition" in changed, changed["node"], changed["hit_count"]),
                   (False, "end", 1))
        stop = d.go("continue")
        world.same((stop.one["node"], d.value(".n")), ("end", 9))


def set_change_refused(world):
    """breakpoint_change: bad fields are refused, and it stays as it was"""
    with debug(world, LINE) as d:
        one = d.set(node="b")
        d.refuse("breakpoint_change", "condition", id=one["id"], condition=".n +")
        d.refuse("breakpoint_change", "position", id=one["id"], position="sideways")
        d.refuse("breakpoint_change", "99", id=99, node="c")
        world.same(nodes(world, d), ["b"])


def set_several(world):
    """several at once: all are set or none"""
    with debug(world, LINE) as d:
        d.refuse("breakpoint_set", "line 1, column",
                 breakpoints=[{"node": "b"}, {"node": "c", "condition": "("}])
        world.same(d.call("breakpoints")["breakpoints"], [])
        made = d.call("breakpoint_set",
                      breakpoints=[{"node": "b"}, "c:after", {"spec": "if .n == 3"}])
        world.same(len(made["breakpoints"]), 3)
        world.same(nodes(world, d), ["b", "c", "d"])


def set_events(world):
    """set, changed and deleted are told"""
    with debug(world, LINE) as d:
        one = d.set(node="b")
        world.same(d.wait("breakpoint", change="set")["breakpoint"]["id"], one["id"])
        d.call("breakpoint_change", id=one["id"], condition="true")
        world.same(d.wait("breakpoint", change="changed")["breakpoint"]["condition"], "true")
        d.call("breakpoint_delete", id=one["id"])
        world.same(d.wait("breakpoint", change="deleted")["breakpoint"]["id"], one["id"])


def set_listing_given_back(world):
    """a listing can be given back as it is"""
    with debug(world, LINE) as d:
        d.set(node="b", condition=".n == 1", group="g", ignore_count=0, position="before")
        listed = d.call("breakpoints")["breakpoints"]
        d.call("breakpoint_delete", all=True)
        d.call("breakpoint_set", breakpoints=listed)
        world.same(nodes(world, d), ["b"])


def set_specs(world):
    """what people type says the same as the fields"""
    for spec, fields in (("b", {"node": "b"}), ("b:after", {"node": "b", "position": "after"}),
                         ("b:error", {"node": "b", "position": "on_error"}),
                         ("b if .n == 1", {"node": "b", "condition": ".n == 1"}),
                         ("if .n == 1", {"type": "conditional", "condition": ".n == 1"}),
                         ("error", {"type": "exception"}),
                         ("caught", {"type": "exception", "caught": True}),
                         ("changed:.n", {"type": "state"}), ("state:.n=2", {"type": "state"}),
                         ("flow.yaml:6", {"type": "source", "line": 6})):
        with debug(world, LINE) as d:
            one = d.set(spec=spec)
            world.same({key: one.get(key) for key in fields}, fields, spec)


def set_nonsense(world):
    """fields that do not go together are refused with a sentence"""
    with debug(world, LINE) as d:
        for fields in ({}, {"node": "b", "task_id": "c"}, {"type": "node"}, {"type": "source"},
                       {"file": "flow.yaml"}, {"line": 3, "node": "b"}, {"type": "state"},
                       {"type": "conditional"}, {"type": "nothing", "node": "b"},
                       {"type": "task_index"}, {"node": "b", "position": "during"},
                       {"state": {"path": ".n"}}, {"state": {"changed": True}},
                       {"state": {"path": ".n", "equals": 1, "changed": True}},
                       {"node": ""}, {"type": "node", "node": "b", "error": ".kind"},
                       {"node": "b", "group": ""},
                       {"node": "x" * 2000}, {"condition": "." + " " * 200000}):
            d.refuse("breakpoint_set", **fields)
        world.same(d.call("breakpoints")["breakpoints"], [])
        world.same(nodes(world, d), [])


# ---- log points ----


def log_does_not_pause(world):
    """log_message: is told with its values, and the frame does not pause"""
    with debug(world, LOOP) as d:
        one = d.set(node="other", log_message='n is \\(.n), "quoted"', condition=".n > 6")
        stop = d.go("continue")
        world.same((stop.status, stop.paused), ("completed", []))
        world.same([(e["message"], e["node"], e["frame"], e["breakpoint"]) for e in stop.of("log")],
                   [(f'n is {n}, "quoted"', "other", 1, one["id"]) for n in (7, 8, 9)])


def log_with_counts(world):
    """log_message with ignore_count and hit_condition: only what they let through"""
    with debug(world, LOOP) as d:
        d.set(node="other", log_message="\\(.n)", ignore_count=2, hit_condition="% 4")
        world.same([e["message"] for e in d.go("continue").of("log")], ["4", "8"])


def log_after_and_pause(world):
    """a log point and a breakpoint at one node: the log, then the pause by the breakpoint"""
    with debug(world, LINE) as d:
        d.set(node="b", log_message="passing")
        one = d.set(node="b")
        stop = d.go("continue")
        world.same([e["event"] for e in stop.events if e["event"] in ("log", "paused")],
                   ["log", "paused"])
        world.same(stop.one["breakpoints"], [one["id"]])


def log_on_state_and_error(world):
    """a log point on a change of state, and on an error, does not pause either"""
    with debug(world, FAILING) as d:
        d.set(state={"path": ".mended", "changed": True}, log_message="mended: \\(.mended)")
        d.set(type="exception", caught=True, log_message="failed")
        stop = d.go("continue")
        world.same((stop.status, stop.paused), ("failed", []))
        world.same([(e["node"], e["message"]) for e in stop.of("log")],
                   [("bad", "failed"), ("mend", "mended: true"), ("bad2", "failed")])


def log_in_frames(world):
    """a log point in parallel branches tells the frame"""
    with debug(world, BRANCHES) as d:
        d.set(node="?2", log_message="here")
        stop = d.go("continue")
        world.same(sorted((e["frame"], e["node"]) for e in stop.of("log")), [(2, "a2"), (3, "b2")])


def log_that_fails(world):
    """a log point whose expression fails says so, and the run goes on"""
    with debug(world, LINE) as d:
        d.set(node="c", log_message="value \\(.n.x)")
        stop = d.go("continue")
        world.same((stop.status, len(stop.of("log"))), ("completed", 1))


# ---- state ----


def state_changed(world):
    """state changed: after the step that changed it, with old and new, and not again"""
    with debug(world, LINE) as d:
        one = d.set(state={"path": ".b", "changed": True})
        world.same((one["type"], one["verified"]), ("state", True))
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["position"], stop.one["reason"]),
                   ("b", "after", "breakpoint"))
        world.same(stop.one["change"], {"path": ["b"], "new": True})
        world.same(d.go("continue").status, "completed")


def state_equals(world):
    """state equals: after the step that made it so; the next steps that leave it are not hits"""
    with debug(world, LOOP) as d:
        one = d.set(state={"path": ["n"], "equals": 3})
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["change"]),
                   ("add", {"path": ["n"], "old": 2, "new": 3}))
        world.same(d.go("continue").status, "completed")
        world.same(d.breakpoint(one["id"])["hit_count"], 1)


def state_equals_already(world):
    """state equals: what was so before is no step that made it so"""
    with debug(world, LINE) as d:
        d.set(node="c")
        d.go("continue")
        d.set(state={"path": ".n", "equals": 2})
        world.same(nodes(world, d), [])


def state_every_change(world):
    """state changed: each step that changes it"""
    with debug(world, LINE) as d:
        d.set(state={"path": ".n", "changed": True})
        world.same(nodes(world, d), ["a", "b", "c", "d"])


def state_deep_path(world):
    """state: a path inside objects and arrays; a change beside it is none"""
    text = """\
nodes:
  - {name: a, jq: '{o: {list: [1, {k: 1}], x: 1}}'}
  - {name: b, jq: '{o: {list: [2, {k: 1}], x: 2}}'}
  - {name: c, jq: '{o: {list: [2, {k: 2}], x: 2}}'}
  - {name: d, jq: '{o: null}'}
"""
    with debug(world, text) as d:
        d.set(state={"path": ".o.list[1].k", "changed": True})
        got = []
        while not (stop := d.go("continue")).status:
            got.append((stop.one["node"], stop.one["change"].get("old"), stop.one["change"].get("new")))
        world.same(got, [("a", None, 1), ("c", 1, 2), ("d", 2, None)])


def state_written_the_same(world):
    """state changed: a step that writes the same value is none"""
    text = "nodes: [{name: a, jq: '{v: 1}'}, {name: b, jq: '{v: 1}'}, {name: c, jq: '{v: 2}'}]"
    with debug(world, text) as d:
        d.set(state={"path": ".v", "changed": True})
        world.same(nodes(world, d), ["a", "c"])


def state_in_a_branch_and_join(world):
    """state: in a branch after the node that changed it, and not again where the branches join"""
    with debug(world, BRANCHES) as d:
        one = d.set(state={"path": ".vb", "changed": True})
        world.same(stops(world, d), [("parallel[1]", "b2")])
        world.same(d.breakpoint(one["id"])["hit_count"], 1)


def state_made_by_the_join(world):
    """state: what only the join makes so stops once, and both branches' changes are told"""
    with debug(world, BRANCHES) as d:
        d.set(state={"path": ".log", "equals": ["a", "a2", "b", "b2"]})
        got = stops(world, d)
        world.same(len(got), 1, f"stops {got}")


def state_both_branches(world):
    """state: two branches that change the same key each stop, and the join is no change more"""
    with debug(world, BRANCHES) as d:
        d.set(state={"path": ".log[0]", "changed": True})
        world.same(sorted(stops(world, d)), [("parallel[0]", "a"), ("parallel[1]", "b")])


def state_in_a_sub_workflow(world):
    """state: in a sub-workflow, and once more only if the node around it brings another value"""
    with debug_outer(world) as d:
        d.set(state={"path": ".x", "changed": True})
        world.same(nodes(world, d), ["first", "first", "deep", "first", "deep"])


APART = """\
name: apart
nodes:
  - {name: first, jq: '{x: 1, y: 7, total: 5}'}
  - {name: sub, workflow: ./part.yaml, input: '{k: .x, total: 9}', output: r}
  - {name: m, map: {over: '[1, 2]', as: i}, do: {workflow: ./part.yaml, input: '{k: $i}'}, output: ms}
  - {name: last, jq: '{total: 9}'}
"""

PART = """\
name: part
nodes:
  - {name: a, jq: '{k: (.k + 1)}'}
  - {name: b, jq: '{z: 1}'}
"""


def state_of_a_workflow_is_its_own(world):
    """state: what a sub-workflow or a map's body has is not compared with the state around it"""
    world.write("part.yaml", PART)
    with debug(world, APART) as d:
        d.go("step", kind="over")
        d.set(state={"path": ".y", "changed": True})
        d.set(state={"path": ".total", "equals": 9})
        d.set(state={"path": ".r", "changed": True})
        world.same(nodes(world, d), ["sub", "last"])
    with debug(world, APART) as d:
        d.set(state={"path": ".k", "changed": True})
        world.same(nodes(world, d), ["a", "a", "a"])


def state_of_a_workflow_in_the_next_process(world):
    """state: the levels around are known to the process that opens the run inside one"""
    world.write("part.yaml", PART)
    with debug(world, APART, "--thread", "t", store="file:kept") as d:
        d.set(node="sub/b")
        d.go("continue")
        d.set(state={"path": ".y", "changed": True})
        d.set(state={"path": ".r", "changed": True})
    with Debugger(world, "t", store="file:kept") as d:
        d.begin()
        world.same(nodes(world, d), ["sub"])


def state_of_a_workflow_back(world):
    """state: going back does not stop where a workflow returns and nothing changed"""
    world.write("part.yaml", PART)
    with debug(world, APART, store="file:kept") as d:
        d.set(node="last")
        d.go("continue")
        d.set(state={"path": ".y", "changed": True})
        answer = d.call("reverse_continue")
        world.same(answer["node"], "sub")


def state_diff_across_a_workflow(world):
    """diff node: across a sub-workflow, what it changed in the state around it"""
    world.write("part.yaml", PART)
    with debug(world, APART, store="file:kept") as d:
        for place in ("sub", "sub/b"):
            d.set(node=place, position="after")
        d.go("continue")
        diff = d.call("diff", since="node")
        world.same([one["path"] for one in diff["added"]], [["z"]])
        d.go("continue")
        diff = d.call("diff", since="node")
        world.same(([one["path"] for one in diff["added"]], diff["removed"], diff["changed"]),
                   ([["r"]], [], []))


def state_set_by_a_person(world):
    """state: a person's set is no step that changed it; the next step that does has it as old"""
    with debug(world, LINE) as d:
        d.set(node="c")
        d.go("continue")
        one = d.set(state={"path": ".n", "changed": True})
        d.call("set", path=".n", value=10)
        d.set(node="d")
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["position"]), ("c", "after"))
        world.same(stop.one["change"], {"path": ["n"], "old": 10, "new": 11})
        world.same(stop.one["breakpoints"], [one["id"]])


def state_set_by_a_person_not_again(world):
    """state: what a person set and no step changes after that stops nothing"""
    with debug(world, LINE) as d:
        d.set(node="c")
        d.go("continue")
        d.set(state={"path": ".flag", "changed": True})
        d.call("set", path=".flag", value=True)
        world.same(nodes(world, d), [])


def state_with_a_place(world):
    """state with a node: only changes by that node"""
    with debug(world, LINE) as d:
        d.set(type="state", node="c", state={"path": ".n", "changed": True})
        world.same(nodes(world, d), ["c"])


def state_with_condition_and_counts(world):
    """state with condition, ignore_count and hit_condition: hits are changes for which it holds"""
    with debug(world, LOOP) as d:
        one = d.set(state={"path": ".n", "changed": True}, condition=".n % 2 == 0", ignore_count=1,
                    hit_condition="% 2")
        got = []
        while not d.go("continue").status:
            got.append(d.value(".n"))
        world.same(got, [4, 8])
        world.same(d.breakpoint(one["id"])["hit_count"], 4)


def state_of_tasks(world):
    """state: variables and task outputs of the tasks dialect"""
    with debug_tasks(world, sets("k", 1, id_="one"), works(id_="two"), sets("k", 2, id_="three"),
                     works(id_="four")) as d:
        d.set(state={"path": ".k", "equals": 2})
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["position"], stop.one["change"]["old"]),
                   ("three", "after", 1))
        world.same(d.go("continue").status, "completed")


def state_of_a_task_that_fails(world):
    """state: a task that sets a variable and then fails is the step that changed it"""
    bad = shell("echo ::set-json k 1; exit 1", id_="bad")
    with debug_tasks(world, options(bad, ignoreFailure=True),
                     works(id_="next"), works(id_="last")) as d:
        d.set(state={"path": ".k", "changed": True})
        stop = d.go("continue")
        world.same(stop.one["node"] in ("bad", "run_task_options"), True, stop.one["node"])
        world.same(stop.one["change"]["new"], 1)
        world.same(d.go("continue").status, "completed")


def state_of_a_pipeline(world):
    """state: results of the steps of a pipeline"""
    with debug(world, PIPELINE) as d:
        d.set(state={"path": ".steps.two.status", "changed": True})
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["change"]["new"]), ("two", "failed"))
        world.same(d.go("continue").status, "completed")


# ---- errors ----


def error_uncaught(world):
    """exception: where an error is that nothing takes; one that an edge takes is passed"""
    with debug(world, FAILING) as d:
        one = d.set(type="exception")
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["position"], stop.one["reason"],
                    stop.one["breakpoints"]), ("bad2", "on_error", "exception", [one["id"]]))
        world.same((stop.one["error"]["kind"], stop.one["error"]["node"]), ("jq", "bad2"))
        says(stop.one["error"]["message"] + ".", "broken there")
        stop = d.go("continue")
        world.same((stop.status, stop.of("settled")[0]["error"]["node"]), ("failed", "bad2"))


def error_caught(world):
    """exception caught: also where an error edge takes it"""
    with debug(world, FAILING) as d:
        d.set(type="exception", caught=True)
        world.same(nodes(world, d, "failed"), ["bad", "bad2"])


def error_filter(world):
    """exception with error: jq over kind, message and node"""
    for query, wanted in (('.node == "bad"', ["bad"]), ('.message | contains("there")', ["bad2"]),
                          ('.kind == "exit"', []), ('.kind == "jq"', ["bad", "bad2"])):
        with debug(world, FAILING) as d:
            d.set(type="exception", caught=True, error=query)
            world.same(nodes(world, d, "failed"), wanted, query)


def error_with_a_place_and_condition(world):
    """exception with a node and a condition"""
    with debug(world, FAILING) as d:
        d.set(type="exception", caught=True, node="bad*", condition=".mended")
        world.same(nodes(world, d, "failed"), ["bad2"])


def error_position_on_error(world):
    """position on_error: when the node fails, caught or not; a node that does not is passed"""
    with debug(world, FAILING) as d:
        d.set(node="*", position="on_error")
        world.same(nodes(world, d, "failed"), ["bad", "bad2"])


def error_after_is_not_after_a_failure(world):
    """position after: not where the node failed"""
    with debug(world, FAILING) as d:
        d.set(node="bad*", position="after")
        d.set(node="mend", position="after")
        world.same(nodes(world, d, "failed"), ["mend"])


RETRIES = "nodes: [{name: r, jq: 'error(\"again\")', retry: {attempts: 3, delay: 1ms}}]"


def error_of_retries(world):
    """exception: an error that a retry takes is caught; the last one is not"""
    with debug(world, RETRIES) as d:
        d.set(type="exception")
        stop = d.go("continue")
        world.same((stop.one["node"], len(stop.of("retry"))), ("r", 2))
        world.same(d.go("continue").status, "failed")
    with debug(world, RETRIES) as d:
        one = d.set(type="exception", caught=True)
        world.same(nodes(world, d, "failed"), ["r", "r", "r"])
        world.same(d.breakpoint(one["id"])["hit_count"], 3)


def error_in_a_sub_workflow(world):
    """exception: in a sub-workflow, uncaught there and around it: where it was made, once"""
    world.write("inner.yaml", "nodes: [{name: x, jq: 'error(\"deep\")'}]")
    with debug(world, "nodes: [{name: sub, workflow: ./inner.yaml}]") as d:
        d.set(type="exception")
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["depth"]), ("x", 2))
        world.same(d.go("continue").status, "failed")


def error_caught_around(world):
    """exception: one that the node around takes is caught"""
    world.write("inner.yaml", "nodes: [{name: x, jq: 'error(\"deep\")'}]")
    text = """\
nodes: [{name: sub, workflow: ./inner.yaml}, {name: mend, jq: '{}'}]
edges: [{from: sub, to: mend, on: error}, {from: sub, to: __end__}, {from: mend, to: __end__}]
"""
    with debug(world, text) as d:
        d.set(type="exception")
        world.same(nodes(world, d), [])
    with debug(world, text) as d:
        d.set(type="exception", caught=True)
        world.same(nodes(world, d)[:1], ["x"])


def error_in_branches(world):
    """exception: in a branch, with the others stopped and the frame named"""
    text = BRANCHES.replace("jq: '{log: [\"b2\"], vb: 1}'", "jq: 'error(\"in b2\")'")
    with debug(world, text) as d:
        d.set("error")
        stop = d.go("continue")
        world.same((stop.one["frame_name"], stop.one["node"]), ("parallel[1]", "b2"))
        world.same(d.go("continue", frame="all").status, "failed")


def error_of_tasks(world):
    """exception: a task that fails; what run_task_options ignores or retries is caught"""
    with debug_tasks(world, options(fails(3, id_="ignored"), ignoreFailure=True),
                     options(fails(4, id_="again"), retryOnFailure=True, maxRetryCount=1)) as d:
        d.set("error")
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["error"]["exit_code"]), ("again", 4))
        world.same(nodes(world, d, "failed"), [])
    with debug_tasks(world, options(fails(3, id_="ignored"), ignoreFailure=True),
                     works(id_="end")) as d:
        d.set("caught")
        world.same(nodes(world, d)[:1], ["ignored"])


def error_of_nested_tasks(world):
    """exception: a task that fails in groups stops where it failed, and not again at each group"""
    for around in (run_tasks, concurrent):
        inner = run_tasks(fails(3, id_="bad"), id_="inner")
        with debug_tasks(world, around(inner, id_="outer")) as d:
            d.set("error")
            world.same(nodes(world, d, "failed"), ["bad"])


def error_of_a_pipeline(world):
    """exception: a step with on_failure next is caught, one without is not"""
    with debug(world, PIPELINE) as d:
        d.set("error")
        world.same(nodes(world, d), [])
    with debug(world, PIPELINE) as d:
        d.set("caught")
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["error"]["exit_code"]), ("two", 3))
    with debug(world, PIPELINE.replace(", on_failure: next", "")) as d:
        d.set("error")
        world.same(nodes(world, d, "failed"), ["two"])


def error_counts(world):
    """exception with ignore_count and once"""
    with debug(world, RETRIES) as d:
        d.set(type="exception", caught=True, ignore_count=1, once=True)
        stop = d.go("continue")
        world.same(len(stop.of("retry")), 1)
        world.same(d.go("continue").status, "failed")


def error_of_a_timeout(world):
    """exception: a node that runs out of time"""
    with debug(world, "nodes: [{name: slow, shell: sleep 60, timeout: 50ms}]") as d:
        d.set(type="exception", error='.kind == "timeout"')
        stop = d.go("continue")
        world.same((stop.one["node"], stop.one["error"]["kind"]), ("slow", "timeout"))


def error_of_a_sleep_timeout(world):
    """exception: a sleep that is longer than its timeout"""
    with debug(world, "nodes: [{name: a, jq: '{}'}, {name: slow, sleep: 60s, timeout: 30ms}]") as d:
        d.set("error")
        d.call("continue")
        world.same(d.wait("paused", node="slow")["error"]["kind"], "timeout")


# ---- several frames ----


def frames_same_turn(world):
    """two frames that pause in the same turn are both told, with pause_all_on_breakpoint or not"""
    for pause_all in (True, False):
        with debug(world, BRANCHES) as d:
            d.call("configure", pause_all_on_breakpoint=pause_all)
            d.set(node="[ab]")
            stop = d.go("continue")
            world.same(stop.places, [("parallel[0]", "a"), ("parallel[1]", "b")], str(pause_all))
            world.same(sorted(stop.of("stopped")[0]["paused"]), [2, 3])
            world.same(d.go("continue", frame="all").status, "completed")


def frames_first_is_selected(world):
    """of frames that stop together the first is selected, unless the selected one is among them"""
    for pause_all in (True, False):
        with debug(world, BRANCHES) as d:
            d.call("configure", pause_all_on_breakpoint=pause_all)
            d.set(node="[ab]")
            d.set(node="[ab]2")
            d.go("continue")
            world.same(d.call("session")["frame"], 2, f"at first, {pause_all}")
            d.call("frame", frame=3)
            d.go("continue", frame="all")
            world.same(d.call("session")["frame"], 3, f"after choosing, {pause_all}")


def frames_late_one_is_selected(world):
    """the order in which frames stop does not matter; one that was let go alone is selected"""
    text = BRANCHES.replace("{name: a, jq: '{log: [\"a\"]}'}", "{name: a, shell: sleep 0.2}")
    with debug(world, text) as d:
        d.call("configure", pause_all_on_breakpoint=False)
        d.set(node="[ab]2")
        d.go("continue")
        world.same(d.call("session")["frame"], 2, "the last to stop, and the first in number")
        d.set(node="b2", position="after")
        d.go("continue", frame=3)
        world.same(d.call("session")["frame"], 3)


def frames_hundred_in_one_turn(world):
    """a hundred frames that come to a breakpoint are all told, and counted"""
    text = "nodes: [{name: m, map: {over: '[range(100)]', as: i, limit: 100}, do: {jq: '$i'}}]"
    with debug(world, text) as d:
        d.call("configure", pause_all_on_breakpoint=False)
        one = d.set(node="m[]")
        stop = d.go("continue")
        world.same(sorted(e["frame_name"] for e in stop.paused),
                   sorted(f"map[{i}]" for i in range(100)))
        world.same(d.breakpoint(one["id"])["hit_count"], 100)
        world.same(d.go("continue", frame="all").status, "completed")


def frames_stopped_with_another(world):
    """pause_all_on_breakpoint: the others stop too, and say because of whom"""
    text = BRANCHES.replace("{name: b, jq: '{log: [\"b\"]}'}", "{name: b, sleep: 60s}")
    with debug(world, text) as d:
        d.set(node="a2")
        stop = d.go("continue")
        world.same(stop.places, [("parallel[0]", "a2"), ("parallel[1]", "b")])
        other = [e for e in stop.paused if e["node"] == "b"][0]
        world.same((other["reason"], other["because"], other["position"]),
                   ("user_pause", 2, "during"))
        world.same(d.call("session")["frame"], 2)
        d.call("skip", frame=3)


def frames_not_stopped_with_another(world):
    """pause_all_on_breakpoint off: the others go on, to their end"""
    with debug(world, BRANCHES) as d:
        d.call("configure", pause_all_on_breakpoint=False)
        d.set(node="a")
        stop = d.go("continue")
        world.same(stop.places, [("parallel[0]", "a")])
        frames = d.frames()
        world.same("parallel[1]" in frames and frames["parallel[1]"]["status"] == "paused", False)
        world.same(d.go("continue").status, "completed")


def frames_join_is_no_surprise(world):
    """after a breakpoint in a branch and a continue of all, the frame around does not stop"""
    with debug(world, BRANCHES) as d:
        d.set(node="a2")
        d.go("continue")
        stop = d.go("continue", frame="all")
        world.same((stop.paused, stop.status), ([], "completed"))


def frames_step_is_no_surprise(world):
    """the same after a step in a branch that stopped: nothing else stops at the join"""
    with debug(world, BRANCHES) as d:
        d.set(node="a", once=True)
        d.go("continue")
        d.go("step", kind="over", frame=2)
        stop = d.go("continue", frame="all")
        world.same((stop.paused, stop.status), ([], "completed"))


def frames_in_a_matrix(world):
    """a breakpoint in a concurrent matrix stops each of its frames, with what it sees"""
    with debug_tasks(world, matrix(works(id_="cell"), [1, 2, 3], runConcurrent=True)) as d:
        d.call("configure", pause_all_on_breakpoint=False)
        d.set(task_id="cell")
        stop = d.go("continue")
        world.same([name for name, _ in stop.places], ["matrix[0]", "matrix[1]", "matrix[2]"])
        paused = sorted(stop.paused, key=lambda e: e["frame_name"])
        world.same([d.value(".v", e["frame"]) for e in paused], [1, 2, 3])
        world.same(d.go("continue", frame="all").status, "completed")


def frames_condition_chooses_one(world):
    """a condition chooses one frame of many"""
    with debug_tasks(world, matrix(works(id_="cell"), [1, 2, 3], runConcurrent=True)) as d:
        d.set(task_id="cell", condition=".v == 2")
        world.same(stops(world, d), [("matrix[1]", "cell")])


def frames_cleanup(world):
    """a breakpoint on a cleanup task stops there"""
    with debug_tasks(world, works(id_="one"), cleanup=[works(id_="tidy")]) as d:
        world.same(d.set(task_id="tidy")["verified"], True)
        world.same(nodes(world, d), ["tidy"])


def frames_say_what_they_are_at(world):
    """a pause and a frame have the index, id and title of the task, whether it is of the cleanup, and its step"""
    one = dict(works(id_="one"), title="The ${v} first")
    slow = {"name": "run_shell", "id": "slow", "config": {"command": "until [ -e go ]; do sleep 0.02; done"}}
    with debug_tasks(world, one, slow, cleanup=[works(id_="tidy")]) as d:
        frame = d.call("frame")
        world.same((frame["index"], frame["id"], frame["title"], "cleanup" in frame),
                   (0, "one", "The ${v} first", False))
        stop = d.go("step", kind="over").one
        world.same((stop["index"], stop["id"], "title" in stop), (1, "slow", False))
        d.set(task_id="tidy")
        d.call("step", kind="over")
        world.same(d.call("frame")["stepping"], "over")
        world.write("go", "")
        stop = d.wait("paused")
        world.same((stop["id"], stop["cleanup"], stop["index"]), ("tidy", True, 0))
        world.same("stepping" in d.call("frame"), False)


def frames_selected_or_all(world):
    """continue and pause take a number, `selected` or `all`"""
    with debug_tasks(world, matrix(works(id_="cell"), [1, 2, 3], runConcurrent=True)) as d:
        d.set(task_id="cell")
        d.go("continue")
        chosen = d.call("session")["frame"]
        world.same(d.call("continue", frame="selected")["resumed"], [chosen])
        d.refuse("continue", "\"selected\" or", frame="none")


def set_muted(world):
    """muted, breakpoints stop nothing and count nothing, and each is as it was afterwards; errors have their own"""
    with debug(world, LOOP, "--thread", "t", store="sqlite") as d:
        kept = d.set(node="other")
        off = d.set(node="add", enabled=False)
        world.same(d.call("configure", breakpoints=False)["breakpoints"], False)
        d.go("step", kind="over")
        world.same(d.leave(), 3)
    with Debugger(world, "t", store="sqlite") as d:
        session = d.call("session")
        world.same((session["breakpoints"], session["exceptions"]), (False, True))
        world.same(d.go("continue").status, "completed")
        listed = d.call("breakpoints")["breakpoints"]
        world.same([(one["id"], one["enabled"], one["hit_count"]) for one in listed],
                   [(kept["id"], True, 0), (off["id"], False, 0)])


def set_muted_errors(world):
    """with `exceptions` off an error stops nothing, whatever is caught"""
    for on in (True, False):
        with debug(world, FAILING) as d:
            d.set(type="exception")
            d.call("configure", exceptions=on)
            stop = d.go("continue")
            world.same(bool(stop.status), not on)


def set_listed_by(world):
    """the list is of all, or of a node, a group, or those that are enabled"""
    with debug(world, LOOP) as d:
        a = d.set(node="add", group="g")["id"]
        b = d.set(node="other", enabled=False)["id"]
        c = d.set(state={"path": ".n", "equals": 3}, group="g")["id"]

        def ids(**which):
            return [one["id"] for one in d.call("breakpoints", **which)["breakpoints"]]
        world.same(ids(), [a, b, c])
        world.same(ids(node="add"), [a])
        world.same(ids(group="g"), [a, c])
        world.same(ids(enabled=False), [b])
        world.same(ids(group="g", enabled=True, node="add"), [a])
        world.same(ids(node="nowhere"), [])


def start_and_wait(world):
    """`wait` alone tells where the run has stopped, or how it ended, however quick that was"""
    world.write("flow.yaml", LOOP)
    for i in range(5):
        words = ("debug", "flow.yaml", "--no-pause", "--json", "--thread")
        lines = world(*words, f"b{i}", "--break", "other", stdin="wait\n").gives(WAITING).lines
        world.same([line["node"] for line in lines if line.get("event") == "paused"], ["other"])
        lines = world(*words, f"e{i}", stdin="wait\n").gives(DONE).lines
        world.same([line["status"] for line in lines if line.get("event") == "settled"], ["completed"])
    lines = world("debug", "b0", "--json", stdin='{"call": "continue", "wait": false}\nwait\nwait\n').gives(WAITING).lines
    world.same([line.get("reattached", False) for line in lines if line.get("event") == "paused"], [True, False])


# ---- continue while ----


def told(stop):
    return {key: value for key, value in (stop.of("settled") or [stop.one])[-1]["while"].items() if key != "error"}


def while_it_holds(world):
    """breakpoints are passed over as long as an expression holds, and hits are counted"""
    with debug(world, LOOP) as d:
        id_ = d.set(node="other")["id"]
        stop = d.go("continue", **{"while": ".n < 4"})
        world.same((stop.one["node"], d.value(".n")), ("other", 4))
        world.same(told(stop), {"expression": ".n < 4", "passed": 3, "ended": "false"})
        world.same(d.call("breakpoints")["breakpoints"][0]["hit_count"], 4)
        world.same(d.call("frame")["while"]["passed"], 3)
        world.same((d.go("continue").one["breakpoints"], d.value(".n")), ([id_], 5))  # it is over
        stop = d.go("continue", **{"while": "true"})
        world.same((stop.status, told(stop)), ("completed", {"expression": "true", "passed": 4, "ended": "run"}))


def while_is_bounded(world):
    """the limit ends it, an error does, no output does, and what is no expression is refused"""
    with debug(world, LOOP) as d:
        d.set(node="other")
        stop = d.go("continue", limit=2, **{"while": "true"})
        world.same((told(stop)["ended"], told(stop)["passed"], d.value(".n")), ("limit", 2, 3))
        stop = d.go("continue", **{"while": ".n | error"})
        world.same((told(stop)["ended"], told(stop)["passed"], d.value(".n")), ("error", 0, 4))
        world.same(stop.one["while"]["error"].startswith("At column 6"), True)
        world.same(told(d.go("continue", **{"while": "empty"}))["ended"], "false")
        says(d.refuse("continue", **{"while": ".n <"}), "At column")
        says(d.refuse("continue", **{"while": "$nobody < 3"}), "At column 1 of the expression: $nobody is not defined")
        says(d.refuse("continue", **{"while": ""}), "What is to hold is a jq expression")
        says(d.refuse("continue", limit=3), "`limit` only with `while`")
        world.same(d.value(".n"), 5)


def while_is_quick(world):
    """what is to hold has the time and the steps of a condition, and not more"""
    with debug(world, LOOP) as d:
        d.set(node="other")
        for slow in ('[range(400000) | tostring] | map(explode) | length > 0', 'last(range(10000000))'):
            stop = d.go("continue", **{"while": slow})
            world.same((told(stop)["ended"], told(stop)["passed"]), ("error", 0))
            error = stop.one["while"]["error"]  # a quick machine comes to the one, a slow one to the other
            world.same("which is the limit" in error or "more than 1000000 steps" in error, True, error)


def while_with_others(world):
    """one for once is gone when it was passed over; a log point logs; a state and an error stop as ever"""
    with debug(world, LOOP) as d:
        d.set(node="add", once=True)
        d.set(node="other", log_message="at \\(.n)")
        d.set(state={"path": ".n", "equals": 6})
        stop = d.go("continue", **{"while": ".n < 6"})
        world.same((stop.one["reason"], told(stop)["passed"]), ("breakpoint", 1))
        world.same([event["message"] for event in stop.of("log")], [f"at {n}" for n in range(1, 6)])
        stop = d.go("continue", **{"while": "true"})
        world.same(stop.status, "completed")
    with debug(world, FAILING) as d:
        d.set(type="exception")
        stop = d.go("continue", **{"while": "true"})
        world.same((stop.status, told(stop)["passed"]), ("failed", 1))


def while_in_branches(world):
    """it is for the frames that are made, and for the one that goes on where they join; one that stays ends it for all"""
    with debug(world, BRANCHES) as d:
        for node in ("a", "a2", "b", "b2", "end", "after"):
            d.set(node=node)
        stop = d.go("continue", **{"while": ".end | not"})
        world.same((stop.one["node"], told(stop)["passed"]), ("after", 5))
    with debug(world, BRANCHES) as d:
        for node in ("a", "a2", "b", "b2", "end", "after"):
            d.set(node=node)
        d.go("continue", **{"while": '(.log | length) == 0'})
        world.same(sorted(node for node in [f.get("node") for f in d.call("frames")["frames"]] if node in ("a2", "b2")) != [], True)
        stop = d.go("continue")
        while not stop.status:
            world.same(["while" in event for event in stop.paused], [False] * len(stop.paused))
            stop = d.go("continue")


def while_in_maps(world):
    """the variables of a map are in sight"""
    world.write("flow.yaml", """\
nodes:
  - {name: each, map: {over: '[1, 2, 3, 4]', as: x, limit: 1, do: {jq: '$x * 2'}}, output: out}
""")
    with Debugger(world, "flow.yaml") as d:
        d.begin()
        d.set(node="each[]")
        stop = d.go("continue", **{"while": "$x < 3"})
        world.same((d.value("$x"), told(stop)["passed"]), (3, 2))


def frames_that_have_ended(world):
    """frames that have ended are listed from the record: whose they were, and their last node"""
    for store in STORES:
        with debug(world, BRANCHES, store=store) as d:
            d.set(node="end")
            world.same(d.call("frames", all=True)["ended"], [])
            d.go("continue")
            answer = d.call("frames", all=True)
            world.same([f["frame"] for f in answer["frames"]], [1])
            ended = answer["ended"]
            world.same(sorted((f["parent"], f["path"], f["node"], f["result"]) for f in ended),
                       [(1, "main/begin[0]", "a2", "success"), (1, "main/begin[1]", "b2", "success")])
            checkpoints = [f["checkpoint"] for f in ended]
            world.same((checkpoints, "more_ended" in answer), (sorted(checkpoints), False))
            answer = d.call("frames", all=True, limit=1)
            world.same(([f["checkpoint"] for f in answer["ended"]], answer["more_ended"]), (checkpoints[1:], True))
            world.same("ended" in d.call("frames"), False)
            d.go("back", count=3)  # on the line that the run is on now
            world.same(len(d.call("frames", all=True)["ended"]) < 2, True)


def frames_fill_in_titles(world):
    """placeholders in the title of a task are filled in wherever a frame shows it, with what is pending in its config"""
    titled = dict(works(id_="two"), title="Deploy ${v} to ${{where.host}}")
    with debug_tasks(world, sets("v", "1.4"), sets("where", {"host": "eu"}), titled) as d:
        d.set(task_id="two")
        stop = d.go("continue").one
        for answer in (stop, d.call("frame"), d.call("node"), d.call("config")):
            world.same(answer["title"], "Deploy 1.4 to eu")
        d.call("set", path=".v", value="2.0")
        world.same((d.call("config")["title"], d.call("frame")["title"]), ("Deploy 2.0 to eu", "Deploy 1.4 to eu"))
        d.call("unset", path=".where")
        world.same(d.call("config")["title"], "Deploy 2.0 to <nil>")  # it is not there


def frames_external_tasks(world):
    """a breakpoint in the tasks of another file"""
    write_test(world, [works(id_="inside")], name="other.yaml")
    with debug_tasks(world, works(id_="one"), external("other.yaml")) as d:
        d.set(task_id="inside")
        d.set(type="source", file="other.yaml", line=1)
        world.same(nodes(world, d), ["inside"])


# ---- kept ----


def make_kept(store):
    def case(world):
        with debug(world, LOOP, "--thread", "t", store=store) as d:
            d.set(node="other", ignore_count=1, hit_condition="% 2", group="g")
            d.set(state={"path": ".n", "equals": 7})
            d.go("continue")
            world.same(d.value(".n"), 2)
            world.same(d.leave(), 3)
        with Debugger(world, "t", store=store) as d:
            listed = d.call("breakpoints")["breakpoints"]
            world.same([(one["type"], one["hit_count"]) for one in listed],
                       [("node", 2), ("state", 0)])
            world.same(d.call("session")["paused"], 1)
            got = []
            while not (stop := d.go("continue")).status:
                got.append((d.value(".n"), stop.one["node"]))
            world.same(got, [(4, "other"), (6, "other"), (7, "add"), (8, "other")])
    case.__doc__ = f"{store}: breakpoints, their hits and the pause are there in the next process"
    return case


def counts(answer):
    return answer["breakpoints"], answer["watches"]


def saved_by_workflow(world):
    """saved breakpoints and watches are set in another run of the same file, without their hits and once"""
    world.write("loop.yaml", LOOP)
    world.write("line.yaml", LINE)
    for store in STORES[1:]:
        with Debugger(world, "loop.yaml", store=store) as d:
            d.begin()
            d.set(node="other", condition=".n > 2", ignore_count=1, group="g", metadata={"mine": [1]})
            d.set(type="exception", enabled=False)
            d.set(state={"path": ".n", "equals": 7})
            d.call("watch_add", expression=".n")
            world.same(counts(d.call("breakpoint_saved")), (0, 0))
            says(d.refuse("breakpoint_load"), "No breakpoints were saved for loop.yaml.")
            d.go("continue")
            world.same(d.value(".n"), 4)
            world.same(counts(d.call("breakpoint_save")), (3, 1))
            world.same(d.call("breakpoint_load")["there"], 4)
        files = [path for path in world.folder.rglob("breakpoints-*") if store[:4] == "file" or "db" in str(path)]
        world.same([stat.S_IMODE(path.stat().st_mode) for path in files], [0o600])
        with Debugger(world, "./loop.yaml", store=store) as d:
            d.begin()
            world.same(counts(d.call("breakpoint_saved")), (3, 1))
            got = d.call("breakpoint_load")
            world.same((got["watches"], got["there"], got["refused"]), (1, 0, []))
            world.same([(one["type"], one["enabled"], one["hit_count"]) for one in got["breakpoints"]],
                       [("node", True, 0), ("exception", False, 0), ("state", True, 0)])
            world.same(got["breakpoints"][0]["metadata"], {"mine": [1]})
            d.go("continue")
            world.same(d.value(".n"), 4)
            document = d.call("breakpoint_save", give=True)["document"]
            d.call("breakpoint_delete", all=True)
            d.call("watch_delete", all=True)
            world.same(counts(d.call("breakpoint_save")), (0, 0))
            world.same(counts(d.call("breakpoint_saved")), (0, 0))
        with Debugger(world, "line.yaml", store=store) as d:
            d.begin()
            world.same(d.call("breakpoint_saved")["breakpoints"], 0)
            world.same(len(d.call("breakpoint_load", document=document)["breakpoints"]), 3)
        files = [path for path in world.folder.rglob("breakpoints-*")]
        world.same(files, [])


def saved_by_somebody_else(world):
    """what is no document is refused with a sentence, and breakpoints that cannot be made are named"""
    with debug(world, LOOP, store="sqlite:x.db") as d:
        good = d.call("breakpoint_save", give=True)["document"]
        for bad in ({}, {"pawl_breakpoints": 1}, {**good, "breakpoints": [1]}, {**good, "watches": [1]}, {**good, "more": 1},
                    {**good, "pawl_breakpoints": 2}, {**good, "watches": ["."] * 1001}):
            says(d.refuse("breakpoint_load", document=bad), "")
        got = d.call("breakpoint_load", document={**good, "breakpoints": [{"nod": "a"}, {"node": "other"}, {"condition": "("}],
                                                  "watches": [".n", "(", "."]})
        world.same((len(got["breakpoints"]), got["watches"]), (1, 2))
        world.same([one["breakpoint"] for one in got["refused"]], [{"nod": "a"}, {"condition": "("}])
        d.call("breakpoint_save")
        kept, = world.folder.rglob("breakpoints-*")
        for text in ("", "{", "[]", "{}", json.dumps({**good, "file": 3})):
            kept.write_text(text)
            says(d.refuse("breakpoint_load"), "")
        kept.write_text(json.dumps({**good, "file": "other.yaml"}))
        says(d.refuse("breakpoint_load"), "No breakpoints were saved")
        kept.unlink()
        kept.symlink_to("/dev/zero")
        says(d.refuse("breakpoint_load"), "")
        d.call("breakpoint_save")
        world.same((kept.is_symlink(), d.call("breakpoint_saved")["breakpoints"]), (False, 1))
    with debug(world, LOOP, store="memory:") as d:
        says(d.refuse("breakpoint_save"), "in memory")
        says(d.refuse("breakpoint_load"), "in memory")
        world.same(d.call("breakpoint_saved")["breakpoints"], 0)


def saved_at_the_prompt(world):
    """`save` and `load` at the prompt, with and without a file; who debugs the file again is told"""
    world.write("loop.yaml", LOOP)
    answer = world("debug", "loop.yaml", stdin="break other\nbreak end\nsave\nsave stops.json\n").gives(WAITING)
    answer.says("Saved 2 breakpoints for this workflow", "Saved 2 breakpoints to stops.json; `load stops.json` sets them.")
    answer = world("debug", "loop.yaml", stdin="load\nload stops.json\nload nothing\nload loop.yaml\n").gives(WAITING)
    answer.says("2 breakpoints were saved for this workflow: `load` sets them.\nFrame 1 paused", "Breakpoint 2: end",
                "2 were there already.", "nothing", "loop.yaml is not what `save` writes.")
    world.same("were saved" in world("debug", "run-1", stdin="quit\n").gives(WAITING).out, False)
    world.same("were saved" in world("debug", "loop.yaml", "--json", stdin="quit\n").gives(WAITING).out, False)


KEPT = [make_kept(store) for store in STORES[1:]]


if __name__ == "__main__":
    here = sys.modules["__main__"]
    ALL = DIALECTS + KEPT
    for prefix in ("start_", "place_", "condition_", "hits_", "set_", "log_", "state_", "error_",
                   "while_", "frames_", "saved_"):
        ALL += cases_of(here, prefix)
    sys.exit(run_all(choose(ALL, sys.argv[2:]), sys.argv[1]))
