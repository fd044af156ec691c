#!/usr/bin/env python3
"""What a person changes in a run that stands still, and what of it can be looked at. Prints TAP.

    tests/engine/debug_changes.py PAWL
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from debugger import Debugger, debug_tasks, says  # noqa: E402
from playbook import choose, sets, shell, task  # noqa: E402
from world import Broken, DONE, cases_of, run_all  # noqa: E402

GRAPH = """
name: flow
state: {n: 1, who: {name: Ann, tags: [x, y]}}
nodes:
  - {name: one, jq: '{n: (.n + 1)}'}
  - {name: say, shell: 'echo "n is $N" | tee -a ran', env: {N: .n}, output: said}
  - {name: last, jq: '{last: .n}'}
"""

TASKS = """
id: test
config: {n: 1, who: {name: Ann}}
tasks:
  - {name: run_shell, id: one, config: {command: 'echo "::set-json n 2"'}}
  - {name: run_command, id: say, configVars: {command: '| ["sh", "-c", "echo n is $1 | tee -a ran", "sh", (.n | tostring)]'}}
  - {name: run_shell, id: last, config: {envVars: {N: n}, command: 'echo "::set-json last $N"'}}
"""

STEPS = """
name: ci
steps:
  - {id: one, type: script, config: {command: echo one >> ran}}
  - {id: say, type: script, config: {command: echo say | tee -a ran}}
  - {id: last, type: script, config: {command: echo last >> ran}}
"""


def debugger(world, text=GRAPH, thread="t", *words, **more):
    world.write("w.yaml", text)
    d = Debugger(world, "w.yaml", "--thread", thread, *words, **more)
    d.begin()
    return d


def at(world, node, text=GRAPH, **more):
    """Stopped before a node."""
    d = debugger(world, text, **more)
    d.set(node, once=True)
    world.same(d.go("continue").one["node"], node, "where it stopped")
    return d


def state_of(world, thread="t"):
    return world("show", thread, "--json").gives(DONE).json


def steps_of(d, **args):
    """(node, result) of what ran."""
    return [(s["node"], s["result"]) for s in d.call("history", **args)["steps"]]


def ended(d, status="completed", operation="continue", **args):
    stop = d.go(operation, **args)
    if stop.status != status:
        raise Broken(f"the run should be {status} now: {stop}\n{d.transcript()}")
    return stop


# ---- variables ----


def set_is_pending_and_seen_at_once(world):
    """a set variable is pending: listed, seen by whoever looks, and not in the store yet"""
    with at(world, "say") as d:
        world.same(d.call("set", path=".n", value=40)["pending"],
                   [{"id": 1, "path": ["n"], "value": 40, "before": 2}])
        world.same(d.call("set", path=["who", "tags", 1], value={"z": None})["pending"][1],
                   {"id": 2, "path": ["who", "tags", 1], "value": {"z": None}, "before": "y"})
        world.same(len(d.call("pending")["pending"]), 2, "what is pending")
        world.same(d.frames()["main"]["pending"], 2, "what the frame says of it")
        world.same(d.value("[.n, .who.tags[1].z]"), [40, None], "what an expression sees")
        world.same(d.call("variables", path=".n")["value"], 40)
        world.same(state_of(world)["n"], 2, "n in the store")
        d.wait("changed", what="variables")


def set_comes_before_the_config_is_resolved(world):
    """a set variable is in the config of the node that the frame stands at (graph)"""
    with at(world, "say") as d:
        d.call("set", path=".n", value=40)
        world.same(d.call("config")["resolved"]["env"], {"N": 40}, "the config that is shown")
        ended(d)
    state = state_of(world)
    world.same((state["said"]["stdout"], state["n"], state["last"]), ("n is 40", 40, 40))
    world.same(world.read("ran"), "n is 40\n", "what ran")


def set_comes_before_the_config_is_resolved_tasks(world):
    """a set variable is in the config of the task that the frame stands at (tasks)"""
    with at(world, "say", TASKS) as d:
        d.call("set", path=".n", value=40)
        world.same(d.call("config")["resolved"]["command"][-1], "40", "the config that is shown")
        ended(d)
    world.same(world.read("ran"), "n is 40\n", "what ran")
    world.same(state_of(world)["last"], 40)


def set_in_a_pipeline(world):
    """a set variable stays in the state of a pipeline"""
    with at(world, "say", STEPS) as d:
        d.call("set", path=".steps.one.exit_code", value=7)
        d.call("set", path=".mine", value=[1])
        ended(d)
    state = state_of(world)
    world.same((state["steps"]["one"]["exit_code"], state["mine"]), (7, [1]))
    world.same(state["steps"]["last"]["status"], "completed")


def set_in_a_scope_of_a_task(world):
    """a variable of a scope inside a test is changed there, and nowhere else"""
    text = """
id: test
config: {n: 1}
tasks:
  - name: run_tasks
    id: inner
    config:
      newVariableScope: true
      tasks:
        - {name: run_shell, id: put, config: {command: 'echo "::set-json n 2"'}}
        - {name: run_shell, id: say, config: {envVars: {N: n}, command: 'echo "in $N" >> ran'}}
  - {name: run_shell, id: after, config: {envVars: {N: n}, command: 'echo "out $N" >> ran'}}
"""
    with at(world, "say", text) as d:
        world.same(d.value(".n"), 2)
        d.call("set", path=".n", value=30)
        ended(d)
    world.same(world.read("ran"), "in 30\nout 1\n", "what ran")


def set_is_in_the_history(world):
    """a change that was made by hand is in the history with the key that it changed"""
    with at(world, "say") as d:
        d.call("set", path=".by_hand", value=1)
        d.call("step", kind="over")
        d.still()
        rows = d.call("history", all=True)["steps"]
        by = [row for row in rows if "by_hand" in row["changed"]]
        world.same(len(by), 1, f"how many rows of {rows} changed it")
        world.same(by[0]["node"], "say", "the node of it")
    rows = world("history", "t", "--json").json
    world.same(sum("by_hand" in row["changed"] for row in rows), 1, "rows that name it")


def set_in_order(world):
    """changes are applied in the order in which they were made"""
    with at(world, "say") as d:
        d.call("set", path=".a", value={"x": 1})
        d.call("set", path=".a.y", value=2)
        d.call("unset", path=".a.x")
        d.call("set", path=".n", value=5)
        d.call("set", path=".n", value=6)
        world.same(d.value("[.a, .n]"), [{"y": 2}, 6])
        ended(d)
    state = state_of(world)
    world.same((state["a"], state["n"]), ({"y": 2}, 6))


def set_that_cannot_be(world):
    """a change that does not fit is refused with a sentence, and nothing is pending"""
    with at(world, "say") as d:
        d.refuse("set", path=".n.deeper", value=1)
        d.refuse("set", path=".who[0]", value=1)
        d.refuse("set", path=".", value=1)
        d.refuse("set", path=".a[", value=1)
        d.refuse("set", "value", path=".n")
        d.refuse("set", "path", value=1)
        d.refuse("unset", path="")
        world.same(d.call("pending")["pending"], [])
        d.refuse("revoke", "no pending change 1; there are none.", id=1)
        world.same(d.call("set", path=".n", value=2)["pending"][0]["id"], 1, "its number")
        d.refuse("revoke", "no pending change 7; the only one is 1.", id=7)
        ended(d)
    world.same(state_of(world)["last"], 2)


def set_what_the_engine_says(world):
    """what the engine says of the tasks cannot be set: refused at once, not when the frame goes on"""
    with at(world, "say", TASKS) as d:
        d.refuse("set", "tasks", path=".tasks.one.result", value=2)
        world.same(d.call("pending")["pending"], [])
        ended(d)


def set_reaches_one_branch(world):
    """a change in a branch is that branch's own until it is merged"""
    text = """
nodes:
  - {name: s, jq: '{n: 1}'}
  - {name: a, jq: '{a: .n}'}
  - {name: b, jq: '{b: .n}'}
  - {name: j, jq: '{}'}
edges: [{from: s, to: [a, b], fan_in: j}, {from: a, to: j}, {from: b, to: j}, {from: j, to: __end__}]
"""
    with debugger(world, text) as d:
        d.set("a")
        d.set("b")
        d.go("continue")
        frames = {f["node"]: f["frame"] for f in d.frames().values() if f["status"] == "paused"}
        world.same(sorted(frames), ["a", "b"], "what is paused")
        d.call("set", frame=frames["a"], path=".n", value=100)
        world.same(d.value(".n", frames["b"]), 1, "n of the other branch")
        ended(d, frame="all")
    state = state_of(world)
    world.same((state["a"], state["b"], state["n"]), (100, 1, 100))


def unset_takes_away(world):
    """unset takes a key away before the node runs, and one that is not there is no matter"""
    with at(world, "last") as d:
        world.same(d.call("unset", path=".who.name")["pending"], [{"id": 1, "path": ["who", "name"], "before": "Ann"}])
        d.call("unset", path=".n")
        world.same(d.value('[has("n"), .who]'), [False, {"tags": ["x", "y"]}])
        ended(d)
    state = state_of(world)
    world.same(("n" in state, state["last"], state["who"]), (False, None, {"tags": ["x", "y"]}))


def unset_in_a_test(world):
    """unset takes a variable of a test away, and its default is seen again"""
    with at(world, "say", TASKS) as d:
        d.call("unset", path=".n")
        ended(d)
    if world.read("ran") not in ("n is 1\n", "n is null\n"):
        raise Broken(f"n is still there: {world.read('ran')}")


def revoke_one_and_all(world):
    """a pending change is revoked by its number, or all are; then nothing of it happens"""
    with at(world, "say") as d:
        d.call("set", path=".n", value=40)
        d.call("set", path=".m", value=1)
        d.call("unset", path=".who")
        world.same([p["id"] for p in d.call("revoke", id=1)["pending"]], [2, 3])
        d.refuse("revoke", "no pending change 1", "pending", id=1)
        world.same(d.value("[.n, .m, .who]"), [2, 1, None])
        world.same(d.call("revoke", all=True)["pending"], [])
        world.same(d.value("[.n, .m, .who.name]"), [2, None, "Ann"])
        ended(d)
    world.same(state_of(world), {"n": 2, "who": {"name": "Ann", "tags": ["x", "y"]},
                                 "said": {"stdout": "n is 2", "exit_code": 0}, "last": 2})


def set_survives_a_restart(world):
    """what is pending is there for whoever opens the run again"""
    with at(world, "say") as d:
        d.call("set", path=".n", value=40)
        d.call("unset", path=".who")
        world.same(d.leave(), 3, "the exit code of leaving")
    with Debugger(world, "t") as d:
        world.same(d.call("pending")["pending"],
                   [{"id": 1, "path": ["n"], "value": 40, "before": 2}, {"id": 2, "path": ["who"]}])
        ended(d)
    world.same(world.read("ran"), "n is 40\n", "what ran")
    world.same("who" in state_of(world), False, "who")


def set_is_applied_by_a_resume_without_a_debugger(world):
    """`pawl resume` of a paused run applies what is pending"""
    with at(world, "say") as d:
        d.call("set", path=".n", value=40)
        d.leave()
    world.same(world("resume", "t", "--json").gives(DONE).json["state"]["last"], 40)
    world.same(world.read("ran"), "n is 40\n", "what ran")


def set_and_detach(world):
    """what is pending is applied when the debugger lets go"""
    with at(world, "say") as d:
        d.call("set", path=".n", value=40)
        d.send('{"call": "detach"}')
        world.same(d.leave(), 0, "the exit code")
    world.same((state_of(world)["last"], world.read("ran")), (40, "n is 40\n"))


def set_when_it_runs(world):
    """what is changed needs a paused frame; the sentence says what the frame is doing"""
    with debugger(world, "nodes: [{name: nap, shell: 'touch begun; sleep 60'}]\n") as d:
        d.call("continue")
        world.wait_for("begun")
        for operation, args in (("set", {"path": ".a", "value": 1}), ("unset", {"path": ".a"}),
                                ("config_set", {"path": ".shell", "value": "true"}),
                                ("inject", {"text": "jq: '{}'"}), ("skip", {}), ("retry", {}),
                                ("goto", {"node": "nap"}), ("step", {"kind": "over"})):
            d.refuse(operation, "nap", frame=1, **args)
        ended(d, "cancelled", "abort")


# ---- config ----

LOOP = """
name: loop
nodes:
  - name: l
    while: (.n // 0) < 3
    do:
      - {name: add, jq: '{n: ((.n // 0) + 1)}'}
      - {name: say, shell: 'echo "$T $N" >> ran', env: {N: .n, T: '"plain"'}}
"""


def config_edit_is_for_one_execution(world):
    """an edited config is that of one execution: the next time round it is as written"""
    with at(world, "say", LOOP) as d:
        answer = d.call("config_set", path=".env.T", value='"edited"')
        world.same((answer["edited"], answer["resolved"]["env"]), (True, {"N": 1, "T": "edited"}))
        d.call("config_set", path=["shell"], value='echo "$T! $N" >> ran')
        world.same(d.call("config")["raw"]["env"]["T"], '"edited"', "both edits are there")
        world.same(d.frames()["main"]["injected"], 0, "injected nodes")
        d.wait("changed", what="config")
        ended(d)
    world.same(world.read("ran"), "edited! 1\nplain 2\nplain 3\n", "what ran")


def config_resolves_queries_of_tasks(world):
    """config: envVars of a task are shown as they would be now; one that fails is said"""
    queries = {"A": ".n + 1", "B": ".missing // empty", "C": ".o"}
    say = task("run_shell", {"command": "true", "envVars": queries}, id_="say")
    with debug_tasks(world, sets("n", 4, id_="one"), sets("o", {"x": 1}, id_="two"), say) as d:
        d.set(task_id="say")
        d.go("continue")
        world.same(d.call("config").get("resolved", {}).get("envVars"), {"A": 5, "C": {"x": 1}})
        d.call("set", path=".n", value={})
        answer = d.call("config")
        world.same(("resolved" in answer, "object" in answer["error"]), (False, True))


def config_reset_takes_it_back(world):
    """config_reset takes the edit back; without an edit it is refused"""
    with at(world, "say") as d:
        d.refuse("config_reset", "not edited")
        d.call("config_set", path=".env.N", value="99")
        world.same("edited" in d.call("config_reset"), False, "whether it is edited")
        ended(d)
    world.same(world.read("ran"), "n is 2\n", "what ran")


def config_that_cannot_be(world):
    """an edit that makes no node is refused, and what was edited before stays"""
    with at(world, "say") as d:
        d.call("config_set", path=".env.N", value="7")
        d.refuse("config_set", path=".env.N", value="(")
        d.refuse("config_set", "jq", path=".jq", value="1")
        d.refuse("config_set", path=".shel", value="x")
        d.refuse("config_set", path=".", value={})
        d.refuse("config_set", path=".timeout", value="soon")
        world.same(d.call("config")["raw"]["env"], {"N": "7"})
        ended(d)
    world.same(world.read("ran"), "n is 7\n", "what ran")
    world.same(state_of(world)["last"], 2)


def config_edit_keeps_the_way_on(world):
    """an edited node still goes on as its edges say, and has its output and its timeout"""
    text = """
nodes:
  - {name: a, shell: exit 1, timeout: 20s, output: a}
  - {name: bad, jq: '{way: "bad"}'}
  - {name: good, jq: '{way: "good"}'}
edges: [{from: a, to: bad, on: error}, {from: a, to: good, when: .a.stdout == "x"}, {from: a, to: bad},
        {from: bad, to: __end__}, {from: good, to: __end__}]
"""
    with debugger(world, text) as d:
        d.call("config_set", path=".shell", value="echo x")
        ended(d)
    world.same(state_of(world), {"a": {"stdout": "x", "exit_code": 0}, "way": "good"})


def config_edit_has_its_own_retry(world):
    """an edited node is tried again as its own config says, and not as the written one does on top"""
    text = """
nodes:
  - {name: a, shell: 'echo try >> ran; exit 1', retry: {attempts: 2, delay: 1ms}}
  - {name: bad, jq: '{way: "bad"}'}
edges: [{from: a, to: bad, on: error}, {from: a, to: __end__}, {from: bad, to: __end__}]
"""
    for path, value, tries in ((".retry.attempts", 3, 3), (".retry", 1, 1), (".timeout", "20s", 2)):
        with debugger(world, text, f"t{tries}") as d:
            d.call("config_set", path=path, value=value)
            ended(d)
        world.same(world.read("ran"), "try\n" * tries, f"what ran with {path} {value}")
        world.same(state_of(world, f"t{tries}")["way"], "bad", "the way on")
        (world.folder / "ran").unlink()


def config_edit_of_what_holds_others_has_its_own_retry(world):
    """the same of an edited map or workflow, when something inside it fails"""
    world.write("sub.yaml", "name: sub\nnodes: [{name: i, shell: 'echo try >> ran; exit 1'}]\n")
    for what in ("map: '[1]', do: {shell: 'echo try >> ran; exit 1'}", "workflow: sub.yaml"):
        text = f"nodes: [{{name: a, {what}, output: o, retry: {{attempts: 2, delay: 1ms}}}}]\n"
        thread = what[:3]
        with debugger(world, text, thread) as d:
            d.call("config_set", path=".retry.attempts", value=3)
            ended(d, "failed")
        world.same(world.read("ran"), "try\n" * 3, f"what ran of {what}")
        (world.folder / "ran").unlink()


def config_edit_that_fails_at_a_breakpoint(world):
    """an edited node stops on its errors where a breakpoint says so, at each attempt, as any other"""
    text = "nodes: [{name: a, shell: 'echo try >> ran; exit 1', retry: {attempts: 2, delay: 1ms}}]\n"
    with debugger(world, text) as d:
        d.call("config_set", path=".retry.attempts", value=3)
        d.set("error", caught=True)
        for attempt in range(3):
            stop = d.go("continue").one
            world.same((stop["node"], stop["position"], stop.get("edited")), ("a", "on_error", True),
                       f"where attempt {attempt + 1} stops")
        ended(d, "failed")
    world.same(world.read("ran"), "try\n" * 3, "what ran")


def config_edit_that_fails_the_run(world):
    """where nothing takes the error of an edited node the run fails there, and retry runs the edit again"""
    text = "nodes: [{name: a, shell: 'false'}, {name: b, jq: '{b: 1}'}]\n"
    with debugger(world, text) as d:
        d.call("config_set", path=".shell", value="echo try >> ran; test -e mended")
        ended(d, "failed")
        world.write("mended", "")
        ended(d, operation="retry")
    world.same((world.read("ran"), state_of(world)["b"]), ("try\n" * 2, 1), "what ran")


def config_edit_inside_an_injected_node(world):
    """an edited node inside an injected one stops on its error, which would be passed over otherwise"""
    world.write("sub.yaml", "name: sub\nnodes: [{name: i, shell: 'exit 1'}]\n")
    with at(world, "say") as d:
        d.call("inject", name="more", node={"workflow": "sub.yaml"})
        d.set("i")
        d.go("continue")
        d.call("config_set", path=".shell", value="exit 2")
        stop = d.go("continue").one
        world.same((stop["node"], stop["position"]), ("i", "on_error"))
        ended(d)


def config_edit_keeps_the_reducers(world):
    """what a list of nodes inside an edited node writes goes through the reducers of the workflow"""
    text = """
state: {log: {reduce: append, default: []}, top: {reduce: '[$old, $new] | max', default: 5}}
nodes:
  - {name: a, jq: '{log: ["a"]}'}
  - {name: loop, while: '(.log | length) < 3', do: [{name: k, jq: '{log: ["k"], top: 1}'}]}
"""
    with at(world, "loop", text) as d:
        d.call("config_set", path=".while", value="(.log | length) < 4")
        ended(d)
    world.same(state_of(world), {"log": ["a", "k", "k", "k"], "top": 5})


def config_edit_survives_a_restart(world):
    """an edited config is there for whoever opens the run again, or resumes it"""
    for way in ("debug", "resume"):
        with at(world, "say", LOOP, thread=way) as d:
            d.call("config_set", path=".env.T", value='"edited"')
            d.leave()
        if way == "debug":
            with Debugger(world, way) as d:
                world.same(d.call("config").get("edited"), True, "whether it is edited")
                ended(d)
        else:
            world("resume", way, "-q").gives(DONE)
        world.same(world.read("ran"), "edited 1\nplain 2\nplain 3\n", f"what ran ({way})")
        (world.folder / "ran").unlink()


def config_edit_of_tasks_and_steps(world):
    """the config of a task and of a step can be edited too"""
    with at(world, "say", TASKS) as d:
        d.call("config_set", path=".configVars.command",
               value='| ["sh", "-c", "echo other $0 >> ran", .n]')
        ended(d)
    world.same(world.read("ran"), "other 2\n", "what ran of the test")
    (world.folder / "ran").unlink()
    with at(world, "say", STEPS, thread="u") as d:
        d.call("config_set", path=".config.command", value="echo other >> ran")
        ended(d)
    world.same(world.read("ran"), "one\nother\nlast\n", "what ran of the pipeline")
    world.same(sorted(state_of(world, "u")["steps"]), ["last", "one", "say"])


def config_edit_of_a_task_has_what_is_beside_it(world):
    """what was injected beside a task whose config is edited runs, and a breakpoint after it is hit"""
    beside, edited = "echo beside >> ran", "echo edited >> ran"
    for text, thread, node, path, value in (
            (GRAPH, "g", {"shell": beside}, ".shell", edited),
            (TASKS, "k", shell(beside), ".configVars.command", f'| ["sh", "-c", "{edited}"]'),
            (STEPS, "p", {"type": "script", "config": {"command": beside}}, ".config.command", edited)):
        (world.folder / "ran").unlink(missing_ok=True)
        with at(world, "say", text, thread=thread) as d:
            for where in ("before", "after"):
                d.call("inject", name=where, node=node, where=where)
            d.call("config_set", path=path, value=value)
            d.set("say:after")
            stop = d.go("continue").one
            world.same((stop["node"], stop["position"]), ("say", "after"), thread)
            world.same(world.read("ran").split()[-2:], ["beside", "edited"], f"before it in {thread}")
            ended(d)
        world.same([line for line in world.read("ran").split() if line in ("beside", "edited")],
                   ["beside", "edited", "beside"], f"what ran in {thread}")


def config_shows_raw_expressions_and_resolved(world):
    """config shows the node as written, its expressions with their place, and what they come to"""
    with at(world, "say") as d:
        config = d.call("config")
        world.same(config["raw"], {"name": "say", "shell": 'echo "n is $N" | tee -a ran',
                                   "env": {"N": ".n"}, "output": "said"})
        one = config["expressions"][0]
        world.same((one["path"], one["text"], one["line"]), (["env", "N"], ".n", 6))
        world.same(config["resolved"]["env"], {"N": 2})
    with at(world, "say", TASKS, thread="u") as d:
        config = d.call("config")
        world.same(config["raw"]["configVars"]["command"][-4:], "ng)]")
        world.same([e["path"] for e in config["expressions"]], [["configVars", "command"]])
        world.same(config["resolved"]["command"][-1], "2")


def config_that_does_not_resolve(world):
    """config says what is wrong where an expression fails, and the node is still shown"""
    text = "nodes: [{name: a, shell: 'echo $X', env: {X: '.who | keys | error(\"no\")'}}]\n"
    with debugger(world, text) as d:
        config = d.call("config")
        world.same("resolved" in config, False, "resolved")
        if not config.get("error"):
            raise Broken(f"there is no error: {config}")
        d.call("set", path=".who", value={})
        d.call("config_set", path=".env.X", value=".who")
        world.same(d.call("config")["resolved"]["env"], {"X": {}})
        ended(d)


# ---- injected nodes ----


def inject_before_and_after(world):
    """a node injected before runs before the node, one after it runs after it"""
    with at(world, "say") as d:
        one = d.call("inject", text="note: {jq: '{n: (.n * 10), note: 1}'}")["injected"]
        world.same((one["where"], one["name"]), ("before", "note"))
        two = d.call("inject", where="after", name="more", node={"shell": "echo more $N >> ran",
                                                                   "env": {"N": ".said.stdout"}})
        world.same((two["injected"]["where"], two["injected"]["name"]), ("after", "more"))
        world.same([i["id"] for i in d.call("injected")["injected"]], [1, 2])
        world.same(d.frames()["main"]["injected"], 2, "what the frame says of it")
        ended(d)
        steps = d.call("history")["steps"]
        world.same([(s["node"], s["injected"], s["result"]) for s in steps],
                   [("one", False, "success"), ("note", True, "success"), ("say", False, "success"),
                    ("more", True, "success"), ("last", False, "success")])
        world.same(d.call("injected")["injected"], [], "what is left")
    world.same(world.read("ran"), "n is 20\nmore n is 20\n", "what ran")
    state = state_of(world)
    world.same((state["n"], state["note"], state["last"]), (20, 1, 20))


def inject_several_in_order(world):
    """several nodes injected at one place run in the order in which they were given"""
    with at(world, "say") as d:
        for name in ("p", "q", "r"):
            d.call("inject", where="before", name=name, node={"shell": f"echo {name} >> ran"})
        for name in ("x", "y"):
            d.call("inject", where="after", name=name, node={"shell": f"echo {name} >> ran"})
        ended(d)
    world.same(world.read("ran").split("\n"), ["p", "q", "r", "n is 2", "x", "y", ""], "what ran")


def inject_and_break(world):
    """an injected node can be broken on, before and after it, by its name"""
    with at(world, "say") as d:
        d.call("inject", name="note", node={"jq": "{note: .n}"})
        d.call("inject", where="after", name="more", node={"jq": "{more: .n}"})
        world.same(d.set("note")["verified"], True, "note is known")
        d.set("more:after")
        stop = d.go("continue").one
        world.same((stop["node"], stop["position"]), ("note", "before"))
        d.call("set", path=".n", value=7)
        stop = d.go("continue").one
        world.same((stop["node"], stop["position"]), ("more", "after"))
        world.same(d.value("[.note, .more]"), [7, 7])
        ended(d)


def inject_and_break_later(world):
    """a breakpoint that was set before its node was injected holds for it"""
    with at(world, "say") as d:
        world.same(d.set("note")["verified"], False, "note is not known")
        d.call("inject", name="note", node={"jq": "{note: .n}"})
        world.same(d.call("breakpoints")["breakpoints"][-1]["verified"], True, "note is known then")
        world.same(d.go("continue").one["node"], "note")
        ended(d)


def inject_and_step_into(world):
    """a step into stops at an injected node before, and one after"""
    with at(world, "say") as d:
        d.call("inject", name="note", node={"jq": "{note: .n}"})
        d.call("inject", where="after", name="more", node={"jq": "{more: .n}"})
        nodes = [d.go("step", kind="into").one["node"] for _ in range(4)]
        world.same(nodes, ["note", "say", "more", "last"])
        ended(d)


def inject_and_remove(world):
    """an injected node that was removed does not run"""
    with at(world, "say") as d:
        d.call("inject", name="note", node={"shell": "echo note >> ran"})
        d.call("inject", name="keep", node={"shell": "echo keep >> ran"})
        d.call("inject", where="after", name="more", node={"shell": "echo more >> ran"})
        world.same(d.call("inject_remove", id=1)["removed"], 1)
        world.same(d.call("inject_remove", id=3)["removed"], 3)
        d.refuse("inject_remove", "no injected node 1", id=1)
        world.same([i["name"] for i in d.call("injected")["injected"]], ["keep"])
        ended(d)
        d.refuse("inject_remove", "no injected node 2", id=2)
    world.same(world.read("ran"), "keep\nn is 2\n", "what ran")


def inject_one_that_fails(world):
    """an injected node that fails, fails the run like any other, and can be retried"""
    with at(world, "say") as d:
        d.call("inject", name="bad", node={"shell": "test -e mended"})
        d.set("error")
        stop = d.go("continue").one
        world.same((stop["node"], stop["reason"]), ("bad", "exception"))
        world.same(stop["error"]["kind"], "exit")
        world.write("mended", "")
        ended(d, operation="retry")
        world.same([(s["node"], s["result"], s["injected"]) for s in d.call("history")["steps"]],
                   [("one", "success", False), ("bad", "failure", True), ("bad", "success", True),
                    ("say", "success", False), ("last", "success", False)])


def inject_one_that_fails_and_is_not_caught(world):
    """an injected node that fails stops the frame, breakpoint or not, and does not cost the run"""
    with at(world, "say") as d:
        d.call("inject", name="bad", node={"shell": "exit 4"})
        world.same(d.go("continue").one["node"], "bad", "where it stops")
        ended(d)
        world.same(("bad", "failure") in steps_of(d), True, f"the failure in {steps_of(d)}")
    world.same(world.read("ran"), "n is 2\n", "what ran")


def inject_at_the_error_of_an_injected_node(world):
    """what is injected where an injected node failed runs in its place"""
    with at(world, "say") as d:
        d.call("inject", name="bad", node={"shell": "exit 4"})
        world.same(d.go("continue").one["node"], "bad", "where it stops")
        d.call("inject", name="other", node={"shell": "echo other >> ran"})
        d.call("inject", where="after", name="more", node={"shell": "echo more >> ran"})
        ended(d)
    world.same(world.read("ran"), "other\nmore\nn is 2\n", "what ran")


def inject_one_that_fails_and_is_skipped(world):
    """after an injected node failed, skip goes on with the node that it was injected at"""
    with at(world, "say") as d:
        d.call("inject", name="bad", node={"shell": "exit 4"})
        d.set("error")
        d.go("continue")
        ended(d, operation="skip")
    world.same(world.read("ran"), "n is 2\n", "what ran")


def inject_that_cannot_be(world):
    """what is no node is refused with a sentence, and nothing is injected"""
    with at(world, "say") as d:
        d.refuse("inject", text="jq: '('")
        d.refuse("inject", text="- [")
        d.refuse("inject", text="")
        d.refuse("inject", text="nonsense: 1")
        d.refuse("inject", node={"jq": ".", "shell": "true"})
        d.refuse("inject", node={})
        d.refuse("inject", "where", where="beside", text="jq: '{}'")
        d.refuse("inject")
        world.same(d.call("injected")["injected"], [])
        world.same(d.call("inject", text="jq: '{}'")["injected"]["id"], 1, "its number")
        d.call("inject", text="jq: '{}'")
        d.refuse("inject_remove", "has not begun; the numbers are 1 and 2.", id=3)
        ended(d)


def inject_after_an_element(world):
    """after the body of a map there is no place for a node: that is refused, and before it there is"""
    with stops_in(world, "each[]") as d:
        d.refuse("inject", "or after the map", where="after", name="note", node={"jq": "{}"})
        world.same(d.call("injected")["injected"], [], "what is to run")
        d.call("inject", name="note", node={"shell": "touch noted"})
        ended(d, frame="all")
    world.same(world.read("noted"), "", "what ran")


def inject_in_the_last_node(world):
    """a node injected after the last one runs before the end"""
    with at(world, "last") as d:
        d.call("inject", where="after", name="more", node={"jq": "{more: .last}"})
        ended(d)
    world.same(state_of(world)["more"], 2)


def inject_in_a_branch_and_a_loop(world):
    """an injected node runs once, in the frame and in the round in which it was injected"""
    with at(world, "say", LOOP) as d:
        d.call("inject", name="note", node={"shell": "echo note >> ran"})
        d.call("inject", where="after", name="more", node={"shell": "echo more >> ran"})
        ended(d)
    world.same(world.read("ran"), "note\nplain 1\nmore\nplain 2\nplain 3\n", "what ran")


MAPS = """
name: maps
nodes:
  - name: outer
    map: '["a", "b"]'
    as: x
    do:
      map: '[1]'
      as: y
      do: {workflow: sub.yaml, input: '{n: $y, x: $x}'}
  - name: lines
    map: '["c", "d"]'
    as: x
    do: {while: (.k // 0) < 2, do: [{name: line, shell: 'echo "$X" >> ran', env: {X: $x}},
                                    {name: count, jq: '{k: ((.k // 0) + 1)}'}]}
"""

INNER = """
name: inner
nodes:
  - name: each
    map: '[.n]'
    as: z
    do: {shell: 'echo "$Z" >> ran', env: {Z: $z}}
"""


def stops_in(world, node, text=MAPS, thread="t"):
    """Stopped in the first of the elements of a map that come to a node."""
    world.write("sub.yaml", INNER)
    d = debugger(world, text, thread)
    d.set(node, once=True)
    world.same(d.go("continue").own[0]["node"], node, "where it stopped")
    return d


def inject_knows_the_variables_of_maps(world):
    """an injected node knows the variables of the maps around it, and only those that its neighbour does"""
    for node, expression, want in (
            ("outer[][]", "[$x, $y, $index]", ["a", 1, 0]), ("line", "[$x, $index]", ["c", 0]),
            ("each[]", "[$z, $index]", [1, 0])):
        with stops_in(world, node, thread=node) as d:
            d.refuse("inject", "$w", name="note", node={"jq": "$w"})
            if node == "each[]":
                d.refuse("inject", "$y", name="note", node={"jq": "$y"})
            d.call("inject", name="note", node={"jq": f"{{note: {expression}}}"})
            d.call("inject", name="more", node={
                "map": "[7]", "as": "w", "output": "more",
                "do": {"shell": "echo \"$W\" > more", "env": {"W": f"({expression} + [$w]) | tojson"}}})
            d.set("note")
            world.same(d.go("continue").one["node"], "note", "where it stopped")
            world.same(d.value(expression), want, f"what is seen before the node injected at {node}")
            ended(d, frame="all")
        world.same(json.loads(world.read("more")), want + [7], f"what is seen in a map injected at {node}")


def inject_knows_the_variables_after_its_node(world):
    """a node that is injected after another knows the variables of the map around both"""
    with stops_in(world, "line") as d:
        d.call("inject", where="after", name="more", node={"shell": "echo \"$X\" > more", "env": {"X": "$x"}})
        ended(d, frame="all")
    world.same(world.read("more"), "c\n", "what it saw")


def inject_knows_the_variables_after_a_restart(world):
    """an injected node still knows the variables of maps when another process goes on with the run"""
    for way in ("waits", "runs"):
        with stops_in(world, "line", thread=way) as d:
            d.call("inject", name="note", node={"shell": "echo \"note $X\" >> ran", "env": {"X": "$x"}})
            if way == "runs":
                d.set("note", once=True)
                world.same(d.go("continue").one["node"], "note", "where it stopped")
            d.leave()
        world("resume", way, "-q").gives(DONE)
        world.same(sorted(world.read("ran").split("\n"))[1:],
                   ["1", "1", "c", "c", "d", "d", "note c"], f"what ran when it {way}")
        (world.folder / "ran").unlink()


def config_edit_knows_the_variables_of_maps(world):
    """an edited node in a loop in a map still has the variables of the map, and so has its retry"""
    text = MAPS.replace("env: {X: $x}", "env: {X: $x}, retry: {attempts: 2, if: $x == \"c\", delay: 1ms}")
    with stops_in(world, "line", text) as d:
        world.same(d.call("config_set", path=".env.X", value="$x + $x")["resolved"]["env"], {"X": "cc"})
        ended(d, frame="all")
    world.same(sorted(world.read("ran").split("\n"))[1:], ["1", "1", "c", "cc", "d", "d"], "what ran")


def inject_tasks_and_steps(world):
    """a task is injected in a test, and a step in a pipeline"""
    with at(world, "say", TASKS) as d:
        d.call("inject", node={"name": "run_shell", "id": "note",
                               "config": {"command": "echo note >> ran; echo '::set-json n 9'"}})
        d.call("inject", where="after", node={"name": "run_shell", "id": "more",
                                              "config": {"command": "echo more >> ran"}})
        ended(d)
        world.same([s["node"] for s in d.call("history")["steps"]],
                   ["one", "note", "say", "more", "last"])
    world.same(world.read("ran"), "note\nn is 9\nmore\n", "what ran of the test")
    (world.folder / "ran").unlink()
    with at(world, "say", STEPS, thread="u") as d:
        d.call("inject", text="{id: note, type: script, config: {command: echo note >> ran}}")
        d.call("inject", where="after",
               text="{id: more, type: script, config: {command: echo more >> ran}}")
        ended(d)
    world.same(world.read("ran"), "one\nnote\nsay\nmore\nlast\n", "what ran of the pipeline")
    world.same(state_of(world, "u")["steps"]["note"]["status"], "completed")


def inject_survives_a_restart(world):
    """injected nodes run after a restart too, with and without a debugger"""
    for way in ("debug", "resume"):
        with at(world, "say", thread=way) as d:
            d.call("inject", name="note", node={"shell": "echo note >> ran"})
            d.call("inject", where="after", name="more", node={"shell": "echo more >> ran"})
            d.leave()
        if way == "debug":
            with Debugger(world, way) as d:
                world.same([i["name"] for i in d.call("injected")["injected"]], ["note", "more"])
                d.set("more")
                world.same(d.go("continue").one["node"], "more")
                ended(d)
        else:
            world("resume", way, "-q").gives(DONE)
        world.same(world.read("ran"), "note\nn is 2\nmore\n", f"what ran ({way})")
        (world.folder / "ran").unlink()


# ---- skip, retry, goto ----


def skip_without_output(world):
    """a skipped node does nothing, and is in the history as skipped"""
    for text, thread in ((GRAPH, "g"), (TASKS, "k"), (STEPS, "p")):
        with at(world, "say", text, thread=thread) as d:
            stop = ended(d, operation="skip")
            world.same(stop.of("resumed")[0]["how"], "skip")
            world.same(("say", "skipped") in steps_of(d), True, f"say is skipped in {steps_of(d)}")
        world.same("say" in world.read("ran"), False, "say ran")
    world.same("said" in state_of(world, "g"), False, "an output")
    world.same(state_of(world, "g")["last"], 2)


def skip_with_output(world):
    """a skipped node with an output: the rest of the run sees it as the node's"""
    text = GRAPH.replace("last: .n", "last: .said.stdout")
    with at(world, "say", text) as d:
        ended(d, operation="skip", output={"stdout": "by hand", "exit_code": 0})
        world.same(("say", "skipped") in steps_of(d), True, f"say is skipped in {steps_of(d)}")
    world.same(state_of(world)["last"], "by hand")
    world.same(world.read("ran"), "", "what ran")


def skip_with_an_output_that_does_not_fit(world):
    """an output without a place does not end the run: the frame is still there to be helped"""
    with debugger(world) as d:
        if "error" not in d.ask("skip", output=5):
            d.still()
        world.same(d.call("session")["run_status"], "running", "the run")
        world.same(d.frames()["main"]["status"], "paused")
        ended(d, operation="skip", output={"n": 50})
    world.same(state_of(world)["last"], 50)


def skip_with_output_of_a_task(world):
    """a skipped task with an output: its outputs are what was given"""
    text = TASKS.replace("{N: n}", "{N: tasks.say.outputs.x}")
    with at(world, "say", text) as d:
        ended(d, operation="skip", output={"x": 5})
    world.same(state_of(world)["last"], 5)


def skip_a_container(world):
    """a loop, a sub-workflow and a list of tasks are skipped as a whole"""
    world.write("in.yaml", "nodes: [{name: i, shell: echo i >> ran}]\n")
    with debugger(world, LOOP) as d:
        ended(d, operation="skip")
    with debugger(world, "nodes: [{name: s, workflow: in.yaml}, {name: z, jq: '{z: 1}'}]\n", "u") as d:
        ended(d, operation="skip")
    with debugger(world, """
tasks:
  - {name: run_tasks, id: c, config: {tasks: [{name: run_shell, id: i, config: {command: echo i >> ran}}]}}
  - {name: run_shell, id: z, config: {command: 'echo "::set-json z 1"'}}
""", "v") as d:
        ended(d, operation="skip")
    world.same(world.read("ran"), "", "what ran")
    world.same((state_of(world, "u")["z"], state_of(world, "v")["z"]), (1, 1))


def skip_after_an_error(world):
    """a node that failed is skipped: the run goes on"""
    with debugger(world, GRAPH.replace('echo "n is', 'exit 3; echo "n is')) as d:
        d.set("error")
        world.same(d.go("continue").one["reason"], "exception")
        ended(d, operation="skip", output={"stdout": "x"})
    world.same(state_of(world)["said"], {"stdout": "x"})


def retry_with_an_edited_state(world):
    """after an error and an edited state, retry completes the run; the history shows both attempts"""
    text = GRAPH.replace('echo "n is', 'test "$N" = 5 && echo "n is')
    text = text.replace("shell: 'test", "shell: 'set -e; test")
    with debugger(world, text) as d:
        d.set("error")
        stop = d.go("continue").one
        world.same((stop["node"], stop["reason"], stop["error"]["kind"]), ("say", "exception", "exit"))
        d.call("set", path=".n", value=5)
        ended(d, operation="retry")
        world.same(steps_of(d), [("one", "success"), ("say", "failure"), ("say", "success"),
                                 ("last", "success")])
    world.same(state_of(world)["last"], 5)
    rows = world("history", "t", "--json").json
    world.same([r["status"] for r in rows if r["node"] == "say" and r["status"] in
                ("failed", "completed")], ["failed", "completed"])


def retry_with_an_edited_config(world):
    """after an error and an edited config, retry runs what was edited"""
    for text, path, thread in (
            (GRAPH.replace("echo \"n is", "exit 3; echo \"n is"), ".shell", "g"),
            (TASKS.replace("""configVars: {command: '| ["sh", "-c", "echo n is $1 | tee -a ran", "sh", (.n | tostring)]'}""",
                           "config: {command: [sh, -c, exit 3]}"), ".config.command[2]", "k"),
            (STEPS.replace("echo say | tee -a ran", "exit 3"), ".config.command", "p")):
        with debugger(world, text, thread) as d:
            d.set("error")
            stop = d.go("continue").one
            world.same((stop["node"], stop["reason"]), ("say", "exception"), thread)
            d.call("config_set", path=path, value=f"echo mended {thread} >> mended")
            ended(d, operation="retry")
            world.same([s for s in steps_of(d) if s[0] == "say"],
                       [("say", "failure"), ("say", "success")], thread)
    world.same(world.read("mended"), "mended g\nmended k\nmended p\n", "what ran")


def retry_without_an_error(world):
    """retry is refused where nothing has failed"""
    with at(world, "say") as d:
        d.refuse("retry")
        ended(d)


def retry_again_and_again(world):
    """a retry that fails stops there again, and the next one may succeed"""
    with debugger(world, "nodes: [{name: a, shell: 'echo a >> ran; test -e mended'}]\n") as d:
        d.set("error")
        d.go("continue")
        for _ in range(2):
            world.same(d.go("retry").one["reason"], "exception")
        world.write("mended", "")
        ended(d, operation="retry")
        world.same(steps_of(d), [("a", "failure")] * 3 + [("a", "success")])
    world.same(world.read("ran"), "a\n" * 4, "what ran")


def goto_forward_and_back(world):
    """goto leaves nodes out, or runs them once more, on the state as it is"""
    with at(world, "say") as d:
        world.same(d.call("goto", node="last")["node"], "last")
        world.same(d.frames()["main"]["node"], "last")
        d.call("goto", node="one")
        world.same(d.frames()["main"]["node"], "one")
        ended(d)
    world.same((state_of(world)["last"], world.read("ran")), (3, "n is 3\n"))


def goto_and_what_was_set(world):
    """what is pending is not lost by a goto"""
    with at(world, "say") as d:
        d.call("set", path=".n", value=40)
        d.call("goto", node="last")
        world.same(d.value(".n"), 40, "n after the goto")
        ended(d)
    world.same(state_of(world)["last"], 40)


def goto_in_tests_and_pipelines(world):
    """goto works among tasks and among steps"""
    for text, thread in ((TASKS, "k"), (STEPS, "p")):
        (world.folder / "ran").unlink(missing_ok=True)
        with at(world, "say", text, thread=thread) as d:
            d.call("goto", node="last")
            ended(d)
        world.same("say" in world.read("ran") or "n is" in world.read("ran"), False, "say ran")


def goto_nowhere(world):
    """goto of a node that is not there, or not at this level, is refused with the nearest name"""
    with at(world, "say", LOOP) as d:
        d.refuse("goto", "`add`", node="ad")
        d.refuse("goto", "nowhere", node="nowhere")
        world.same(d.frames()["main"]["node"], "say")


def goto_out_of_a_loop(world):
    """goto of a node around the frame's own leaves what is inside; if it is allowed, it works"""
    with at(world, "say", LOOP) as d:
        if "error" in d.ask("goto", node="l"):
            return
        world.same((d.frames()["main"]["node"], d.frames()["main"]["depth"]), ("l", 1))
        ended(d)
    world.same(world.read("ran"), "plain 2\nplain 3\n", "what ran")


def goto_tells_where_it_stands(world):
    """goto tells of a pause as whole as any other, before whatever is asked next"""
    with at(world, "say") as d:
        d.call("goto", node="last")
        d.call("session")
        event = [e for e in d.events if e["event"] == "paused"][-1]
        world.same((event["node"], event.get("kind"), event.get("position"), event.get("line")),
                   ("last", "jq", "before", 7))


# ---- looking ----


def evaluate_when_paused(world):
    """any expression can be evaluated in a paused frame; a bad one is refused with its place"""
    with at(world, "say") as d:
        answer = d.call("evaluate", expression=".n, .who.tags[]")
        world.same((answer["results"], answer["more"]), ([2, "x", "y"], False))
        answer = d.call("evaluate", expression="range(1000)", limit=3)
        world.same((answer["results"], answer["more"]), ([0, 1, 2], True))
        says(d.refuse("evaluate", "column", expression=".n +"))
        world.same("boom" in d.ask("evaluate", expression='error("boom")')["error"], True, "boom")
        d.refuse("evaluate", expression="[range(1e9)] | length")
        world.same(d.call("evaluate", expression="empty")["results"], [])
        world.same(d.call("evaluate", checkpoint=1, expression=".n")["results"], [1])


def evaluate_when_running(world):
    """an expression can be evaluated while the frame runs, on what it had last"""
    with debugger(world, "state: {n: 3}\nnodes: [{name: a, jq: '{n: 4}'}, "
                  "{name: nap, shell: 'touch begun; while [ ! -e go ]; do sleep 0.02; done'}]\n") as d:
        d.call("continue")
        world.wait_for("begun")
        world.same(d.call("session")["status"], "running")
        world.same(d.value(".n", 1), 4)
        world.same(d.call("variables", frame=1, path=".n")["value"], 4)
        world.same(d.frames()["main"]["status"] == "paused", False, "it is paused")
        world.write("go", "")
        world.same(d.wait("settled")["status"], "completed")


def watches_at_each_pause(world):
    """watches are evaluated at each pause; one that fails says so and disturbs nothing"""
    with debugger(world) as d:
        world.same(d.call("watch_add", expression=".n")["watch"], {"id": 1, "expression": ".n"})
        d.call("watch_add", expression=".n | keys")
        d.refuse("watch_add", expression=".n +")
        seen = []
        for _ in range(3):
            watches = d.call("watches")["watches"]
            seen.append(watches[0]["results"])
            world.same("error" in watches[1] and "results" not in watches[1], True, "an error")
            d.go("step", kind="over")
        world.same(seen, [[1], [2], [2]])
        d.refuse("watch_delete", id=9)
        world.same(d.call("watch_delete", id=1)["deleted"], [1])
        world.same(d.call("watch_delete", all=True)["deleted"], [2])
        world.same(d.call("watches")["watches"], [])


def watches_survive_a_restart(world):
    """watches are there for whoever opens the run again, with their numbers"""
    with at(world, "say") as d:
        d.call("watch_add", expression=".n * 2")
        d.call("watch_add", expression=".who.name")
        d.call("watch_delete", id=1)
        d.leave()
    with Debugger(world, "t") as d:
        world.same(d.call("watches")["watches"],
                   [{"id": 2, "expression": ".who.name", "results": ["Ann"]}])
        world.same(d.call("watch_add", expression=".n")["watch"]["id"], 3)


def completions(world):
    """completions: keys of the state, nodes of the workflow, functions of the language"""
    with at(world, "say") as d:
        texts = [i["text"] for i in d.call("complete", text=".who.na")["items"]]
        world.same(any("name" in t for t in texts), True, f"name in {texts}")
        texts = [i["text"] for i in d.call("complete", text="sa", what="node")["items"]]
        world.same(texts, ["say"])
        texts = [i["text"] for i in d.call("complete", text="to_ent")["items"]]
        world.same("to_entries" in texts, True, f"to_entries in {texts}")
        items = d.call("complete", text=".w | .n", cursor=2)["items"]
        world.same([(i["text"], i["from"]) for i in items if "who" in i["text"]] != [], True,
                   f"who in {items}")
        d.call("set", path=".brand_new", value=1)
        texts = [i["text"] for i in d.call("complete", text=".bra")["items"]]
        world.same(any("brand_new" in t for t in texts), True, f"what is pending in {texts}")
        world.same(d.call("complete", text=".nothing_like_it")["items"], [])
        texts = [i["text"] for i in d.call("complete", text=".", what="config")["items"]]
        world.same(("env" in texts, "shell" in texts, "who" in texts), (True, True, False), texts)
        texts = [i["text"] for i in d.call("complete", text=".env.", what="config")["items"]]
        world.same(texts, ["N"])


BIG = """
nodes:
  - name: make
    jq: '{list: [range(2500) | {i: ., text: "item \\(.)"}], long: ("x" * 50000),
          odd: {"a key": [1, "Needle"]}, small: {a: 1}}'
  - {name: look, jq: '{}'}
"""


def variables_by_pages(world):
    """variables are read by path and page; small values whole"""
    with at(world, "look", BIG) as d:
        world.same(d.call("variables", path=".small")["value"], {"a": 1})
        page = d.call("variables", path=".list", offset=2400, limit=200)
        world.same((page["type"], page["total"], len(page["children"])), ("array", 2500, 100))
        world.same((page["children"][0]["key"], page["children"][0]["type"]), (2400, "object"))
        page = d.call("variables", path=".list")
        world.same(len(page["children"]), 100, "children of a page")
        world.same(d.call("variables", path=["list", -1, "text"])["value"], "item 2499")
        world.same(d.call("variables", path='.odd."a key"[1]')["value"], "Needle")
        whole = d.call("variables")
        world.same(sorted(c["key"] for c in whole["children"]), ["list", "long", "odd", "small"])
        d.refuse("variables", "`list`", path=".lst")
        d.refuse("variables", path=".list[2500]")
        d.refuse("variables", "limit", path=".list", limit=-1)
        world.same(d.call("variables", checkpoint=1)["value"], {}, "the state at the beginning")


def variables_summary_search_and_largest(world):
    """summary, search and the largest keys"""
    with at(world, "look", BIG) as d:
        summary = d.call("summary")
        world.same([(k["key"], k["type"]) for k in summary["keys"]],
                   [("list", "array"), ("long", "string"), ("odd", "object"), ("small", "object")])
        world.same(summary["total"], 4)
        found = d.call("search", text="needle")
        world.same([(f["path"], f["where"]) for f in found["found"]], [(["odd", "a key", 1], "value")])
        world.same(d.call("search", text="a key")["found"][0]["where"], "key")
        found = d.call("search", text="item", limit=5)
        world.same((len(found["found"]), found["more"]), (5, True))
        world.same(d.call("search", text="nothing like it")["found"], [])
        world.same(d.call("search", text="item", checkpoint=1)["found"], [])
        largest = d.call("largest", limit=2)["largest"]
        world.same([one["path"] for one in largest], [["list"], ["long"]])
        if not largest[0]["size"] > largest[1]["size"] >= 50000:
            raise Broken(f"sizes that cannot be: {largest}")


# ---- differences ----


def diff_since_pause_node_and_start(world):
    """differences since the last pause, across the last node, and since the start"""
    text = """
state: {a: 0, gone: 1}
nodes:
  - {name: p, jq: '{a: 1}'}
  - {name: q, jq: '{b: 2}'}
  - {name: r, jq: '{c: 3}'}
  - {name: s, jq: '{d: 4}'}
"""
    with debugger(world, text) as d:
        d.call("unset", path=".gone")
        d.set("q")
        d.set("s")
        d.go("continue")
        d.go("continue")

        def paths(**args):
            diff = d.call("diff", **args)
            return {part: [one["path"] for one in diff[part]] for part in ("added", "removed", "changed")}
        world.same(paths(), {"added": [["b"], ["c"]], "removed": [], "changed": []}, "since the pause")
        world.same(paths(since="pause"), paths(), "what is left out")
        world.same(paths(since="node"), {"added": [["c"]], "removed": [], "changed": []},
                   "across the last node")
        world.same(paths(since="start"),
                   {"added": [["b"], ["c"]], "removed": [["gone"]], "changed": [["a"]]}, "since the start")
        diff = d.call("diff", since="start")
        world.same((diff["changed"], diff["removed"]),
                   ([{"path": ["a"], "old": 0, "new": 1}], [{"path": ["gone"], "old": 1}]))


def diff_between_checkpoints(world):
    """differences between any two checkpoints, in either direction, and up to now"""
    with at(world, "last") as d:
        rows = {s["node"]: s["checkpoint"] for s in d.call("history")["steps"]}
        one = d.call("diff", **{"from": 1, "to": rows["one"]})
        world.same((one["from"], one["to"], one["changed"]),
                   (1, rows["one"], [{"path": ["n"], "old": 1, "new": 2}]))
        back = d.call("diff", **{"from": rows["say"], "to": rows["one"]})
        world.same([r["path"] for r in back["removed"]], [["said"]])
        d.call("set", path=".n", value=9)
        now = d.call("diff", **{"from": rows["say"]})
        world.same(now["changed"], [{"path": ["n"], "old": 2, "new": 9}], "with what is pending")
        d.refuse("diff", "999", **{"from": 999})
        d.refuse("diff", "from", to=1)
        d.refuse("diff", since="pause", **{"from": 1})
        world.same(world("diff", f"t@{rows['one']}", "t@1", "--json").json["changed"],
                   [{"path": ["n"], "old": 2, "new": 1}], "the same from outside")


def diff_of_what_was_set(world):
    """a change by hand is part of the difference across its node, and since the pause"""
    with at(world, "say") as d:
        d.call("set", path=".by_hand", value=1)
        d.go("step", kind="over")
        added = [one["path"] for one in d.call("diff")["added"]]
        world.same(sorted(added), [["by_hand"], ["said"]], "since the pause")


def diff_of_what_is_pending(world):
    """what is pending is part of the difference up to now, whatever that is counted from"""
    with at(world, "say") as d:
        d.call("set", path=".by_hand", value=1)
        for args in ({"from": 1}, {"since": "start"}, {"since": "pause"}):
            world.same({"path": ["by_hand"], "new": 1} in d.call("diff", **args)["added"], True,
                       f"by_hand with {args}")


def history_pages_and_results(world):
    """the history of a frame: results, times, whether it paused; by pages"""
    with debugger(world, GRAPH.replace("{name: last", "{name: bad, shell: exit 1, retry: {attempts: 2, "
                                       "delay: 1ms}}\n  - {name: last")) as d:
        d.go("step", kind="over")
        d.go("step", kind="over")
        ended(d, "failed")
        steps = d.call("history")["steps"]
        world.same([(s["node"], s["result"], s["paused"]) for s in steps],
                   [("one", "success", True), ("say", "success", True), ("bad", "failure", True)])
        if any(s.get("took", -1) < 0 for s in steps) or not steps[-1]["current"]:
            raise Broken(f"times, or the current one: {steps}")
        page = d.call("history", limit=1)
        world.same(([s["node"] for s in page["steps"]], page["more"]), (["bad"], True))
        page = d.call("history", before=steps[1]["checkpoint"])
        world.same(([s["node"] for s in page["steps"]], page["more"]), (["one"], False))


def changes_of(d, **args):
    """(node, keys that it changed) of what ran."""
    return [(s["node"], s["changed"]) for s in d.call("history", **args)["steps"]]


def history_of_injected_nodes_says_what_each_changed(world):
    """each node has its own changes, also the one that others were injected before and after"""
    one, say, last = ("one", ["n"]), ("say", ["said"]), ("last", ["last"])
    with at(world, "say", thread="say") as d:
        d.call("inject", name="note", node={"jq": "{note: 1}"})
        d.call("inject", where="after", name="more", node={"jq": "{more: 1}"})
        ended(d)
        world.same(changes_of(d), [one, ("note", ["note"]), say, ("more", ["more"]), last])
    with at(world, "last", thread="last") as d:
        d.call("inject", name="note", node={"jq": "{note: 1}"})
        d.call("inject", name="two", node={"shell": "true", "output": "two"})
        d.call("inject", where="after", name="more", node={"shell": "true", "output": "more"})
        d.call("inject", where="after", name="most", node={"jq": "{most: 1}"})
        ended(d)
        world.same(changes_of(d), [one, say, ("note", ["note"]), ("two", ["two"]), last,
                                   ("more", ["more"]), ("most", ["most"])])
    rows = world("history", "last", "--json").gives(DONE).json
    world.same([row["changed"] for row in rows if row.get("node") == "last" and row["status"] == "completed"],
               [["last"]], "what `pawl history` says of it")


def history_of_injected_tasks_says_what_each_changed(world):
    """the same of the tasks of a test"""
    with debugger(world, TASKS) as d:
        d.call("inject", where="after", name="more", node={
            "name": "run_shell", "id": "more", "config": {"command": "echo '::set-json more 1'"}})
        ended(d)
        changed = dict(changes_of(d))
        world.same([(node, key) for node in ("one", "more", "last") for key in ("n", "more", "last")
                    if key in changed[node]], [("one", "n"), ("more", "more"), ("last", "last")])


def history_of_an_edited_node_says_what_it_changed(world):
    """a node whose config was edited for one execution has its changes, and is marked as edited"""
    with at(world, "say") as d:
        d.call("config_set", path=".env.N", value="7")
        ended(d)
        world.same(changes_of(d), [("one", ["n"]), ("say", ["said"]), ("last", ["last"])])
        world.same([(s["node"], s["injected"], s["edited"]) for s in d.call("history")["steps"]],
                   [("one", False, False), ("say", False, True), ("last", False, False)])


def history_of_what_holds_others_says_what_each_changed(world):
    """what holds others has the keys that it changed where it is, injected or not"""
    world.write("sub.yaml", "state: {x: 1}\nnodes: [{name: a, jq: '{x: 2}'}, {name: b, jq: '{y: .x}'}]\n")
    inside = [("a", ["x"]), ("b", ["y"])]
    with at(world, "z", "nodes: [{name: s, workflow: sub.yaml, output: s}, {name: z, jq: '{z: 1}'}]\n") as d:
        d.call("inject", name="again", node={"workflow": "sub.yaml", "output": "again"})
        ended(d)
        world.same(changes_of(d), [*inside, ("s", ["s"]), *inside, ("again", ["again"]), ("z", ["z"])])
        world.same([s["node"] for s in d.call("history")["steps"] if s["injected"]], ["again"])


TURNS = """\
state: {log: {default: [], reduce: append}, n: 0}
nodes:
  - name: w
    while: .n < 2
    do: [{name: inc, jq: '{n: (.n + 1)}'}, {name: put, jq: '{log: [.n], last: .n}'}]
  - {name: z, jq: '{z: 1}'}
"""


def history_of_a_loop_says_what_each_changed(world):
    """a turn that hands on what it wrote gives nothing to the node that the next turn begins with"""
    turn = [("inc", ["n"]), ("put", ["log", "last"])]
    with at(world, "z", TURNS) as d:
        world.same(sorted(map(str, changes_of(d))), sorted(map(str, [*turn, *turn, ("w", [])])))
    rows = [row for row in world("history", "t", "--json").gives(DONE).json if row["status"] == "completed"]
    world.same([row["changed"] for row in rows if row.get("node") == "inc"], [["n"], ["n"]], "`pawl history`")


def history_of_branches_says_what_each_changed(world):
    """the last node of a branch has what it changed itself, be it a loop or a workflow"""
    world.write("sub.yaml", "nodes: [{name: x, jq: '{x: 2}'}, {name: y, jq: '{y: .x}'}]\n")
    text = TURNS.replace("  - {name: z,", "  - {name: a, jq: '{log: [1], a: 1}'}\n"
                        "  - {name: a2, jq: '{log: [2], a2: 1}'}\n  - {name: s, workflow: sub.yaml}\n"
                        "  - {name: z,")
    text += ("edges: [{from: __start__, to: [a, w, s], fan_in: z}, {from: a, to: a2}, {from: a2, to: z},\n"
             "        {from: w, to: z}, {from: s, to: z}, {from: z, to: __end__}]\n")
    with at(world, "z", text) as d:
        changed = dict(changes_of(d))
        world.same({node: sorted(keys) for node, keys in changed.items()},
                   {"a": ["a", "log"], "a2": ["a2", "log"], "inc": ["n"], "put": ["last", "log"],
                    "w": [], "x": ["x"], "y": ["y"], "s": ["x", "y"]})
        joined = [row for row in d.call("history", all=True)["steps"] if row["status"] == "joined"]
        world.same([sorted(row["changed"]) for row in joined],
                   [["a", "a2", "last", "log", "n", "x", "y"]], "what the branches had changed")


def history_of_what_is_no_step_names_nothing(world):
    """what is only handed outwards is no change: to the next turn, and from an injected node"""
    text = TURNS.replace("do: [", "do: [{name: run, shell: 'true', output: ran}, ")
    with at(world, "run", text) as d:
        d.call("inject", name="note", node={"jq": "{note: 1}"})
        ended(d)
        rows = d.call("history", all=True, limit=1000)["steps"]
        told = [row for row in rows if "result" not in row and "parent" in row]
        world.same([row for row in told if row["changed"]], [], "rows that are no steps and name keys")
        world.same({"entered", "resumed"} - {row["status"] for row in told}, set(), "what was looked at")
    rows = world("history", "t", "--json").gives(DONE).json
    world.same([row for row in rows if row["changed"] and row["status"] in ("entered", "resumed")], [])


FORKED = """
nodes:
  - {name: begin, jq: '{}'}
  - {name: a, sleep: 1s}
  - {name: b, sleep: 1s}
  - {name: end, jq: '{}'}
edges:
  - {from: __start__, to: begin}
  - {from: begin, to: [a, b], fan_in: end}
  - {from: a, to: end}
  - {from: b, to: end}
  - {from: end, to: __end__}
"""


def history_a_join_takes_no_time(world):
    """what comes after a join took its own time, and not that of the branches"""
    with debugger(world, FORKED) as d:
        ended(d)
        took = {step["node"]: step["took"] for step in d.call("history")["steps"]}
        world.same((took["a"] >= 900, took["end"] < 800), (True, True), took)


def history_standing_still_takes_no_time(world):
    """the time in which a node was frozen is not part of what it took; nor of what is around it"""
    text = """
nodes:
  - {name: alone, shell: 'touch begun; sleep 0.3'}
  - name: m
    map: {over: '[1]', as: i}
    do: {shell: 'touch inside; sleep 0.3'}
"""
    with debugger(world, text) as d:
        for mark in ("begun", "inside"):
            d.call("continue")
            world.wait_for(mark)
            d.go("pause")
            world.nap(2)
        ended(d)
        took = {step["node"]: step["took"] for step in d.call("history")["steps"]}
        world.same({node: ms < 1900 for node, ms in took.items()},
                   {"alone": True, "m": True, "m[]": True}, took)


def history_of_a_pause_before_an_injected_node(world):
    """a node that was paused at is said to be, also when another one is injected before it"""
    with at(world, "say") as d:
        d.call("inject", where="before", name="extra", node={"jq": "{}"})
        ended(d)
        paused = {step["node"]: step["paused"] for step in d.call("history")["steps"]}
        world.same((paused["say"], paused["extra"]), (True, False))


def history_of_an_injected_task(world):
    """an injected task is listed by the name that it was given, or its id"""
    with at(world, "say", TASKS) as d:
        made = [d.call("inject", node={"name": "run_shell", "config": {"command": "true"}, **more}, **name)
                for name, more in (({"name": "extra"}, {}), ({}, {"id": "mine"}))]
        world.same([one["injected"]["name"] for one in made], ["extra", "mine"])
        ended(d)
        world.same([s["node"] for s in d.call("history")["steps"] if s.get("injected")], ["extra", "mine"])


if __name__ == "__main__":
    here = sys.modules["__main__"]
    cases = []
    for prefix in ("set_", "unset_", "revoke_", "config_", "inject_", "skip_", "retry_", "goto_",
                   "evaluate_", "watches_", "completions", "variables_", "diff_", "history_"):
        cases += cases_of(here, prefix)
    sys.exit(run_all(choose(cases, sys.argv[2:]), sys.argv[1]))
