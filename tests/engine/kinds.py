#!/usr/bin/env python3
"""Kinds from outside: files that workflows of every dialect use by their names, whatever dialect they are of
themselves. Prints TAP.

    tests/engine/kinds.py PAWL [WORD...]
"""

import json
import os
import shutil
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from debugger import Debugger  # noqa: E402
from playbook import choose  # noqa: E402
from world import Broken, DONE, FAILED, TIMEOUT, USAGE, WAITING, cases_of, paced, run_all  # noqa: E402

DIALECTS = ("graph", "tasks", "pipeline")
PAIRS = [(outer, inner) for outer in DIALECTS for inner in DIALECTS]

HEAD = """\
kind: greet
about: Greets somebody.
inputs:
  type: object
  required: [who]
  properties:
    who: {type: string, description: whom to greet}
    times: {type: integer, minimum: 1, default: 2}
"""

# What each does: a command that greets. COMMAND is put in for its body; it sees WHO and TIMES.
BODIES = {
    "graph": """\
outputs: {text: .said.stdout, times: .times}
nodes:
  - {name: say, shell: |COMMAND|, env: {WHO: .who, TIMES: .times}, output: said}
  - {name: after, jq: '{ready: true}'}
""",
    "tasks": """\
outputs: {text: tasks.say.outputs.stdout, times: times}
tasks:
  - {name: run_shell, id: say, config: {envVars: {WHO_JSON: who, TIMES: times}, command: |COMMAND|}}
  - {name: run_shell, id: after, config: {command: 'true'}}
""",
    "pipeline": """\
outputs: {text: .steps.say.stdout, times: .times}
steps:
  - {id: say, name: Say, type: script, config: {env: {WHO: .who, TIMES: .times}, command: |COMMAND|}}
  - {id: after, name: After, type: script, config: {command: 'true'}}
""",
}
SETUP = {"graph": "", "tasks": 'WHO=$(echo "$WHO_JSON" | tr -d \\"); ', "pipeline": ""}
GREETING = 'echo "hello $WHO $TIMES"'


def kind_of(inner, command=GREETING, head=HEAD):
    return head + BODIES[inner].replace("|COMMAND|", json.dumps(SETUP[inner] + command))


def uses(outer, kind="greet", more="", **inputs):
    """A workflow of a dialect with one node `use` of a kind, and one after it."""
    if outer == "graph":
        given = {k: json.dumps(v) if isinstance(v, str) else v for k, v in inputs.items()}
        return (f"name: main\nstate: {{around: 1}}\nnodes:\n  - {{name: use, uses: {kind}, with: {json.dumps(given)}, output: got{more}}}\n"
                "  - {name: last, jq: '{last: true}'}\n")
    if outer == "tasks":
        return (f"name: main\nconfig: {{around: 1}}\ntasks:\n  - {{name: {kind}, id: use, config: {json.dumps(inputs)}{more}}}\n"
                "  - {name: run_shell, id: last, config: {command: 'true'}}\n")
    return (f"name: main\nsteps:\n  - {{id: use, name: Use, type: {kind}, config: {json.dumps(inputs)}{more}}}\n"
            "  - {id: last, name: Last, type: script, config: {command: 'true'}}\n")


def result_of(outer, state):
    return (state["got"] if outer == "graph" else state["tasks"]["use"]["outputs"] if outer == "tasks"
            else state["steps"]["use"]["outputs"])


def put(world, outer, inner, command=GREETING, **more):
    world.write(".pawl/kinds/greet.yaml", kind_of(inner, command))
    world.write("flow.yaml", uses(outer, who="Ada", **more))


def each(pairs, case):
    """A case for each pair of dialects, in a folder of its own."""
    def made(pair):
        outer, inner = pair

        def one(world):
            case(world, outer, inner)
        one.__doc__ = f"{case.__doc__} ({inner} in {outer})"
        one.__code__ = one.__code__.replace(co_firstlineno=case.__code__.co_firstlineno)
        return one
    return [made(pair) for pair in pairs]


def forget(world):
    shutil.rmtree(world.folder / ".pawl/pawl.db-work", ignore_errors=True)
    for path in (world.folder / ".pawl").glob("pawl.db*"):
        if path.is_file():
            path.unlink()


def text_of(result):
    return result["text"].strip()


def back(d):
    d.go("back")
    return [level.get("node") for level in d.call("frame")["stack"]]  # none past the last of a list


# ---- in all dialects ----

def pair_runs(world, outer, inner):
    """checks and runs, with what it is given, defaults, and what it gives back"""
    put(world, outer, inner)
    world("check", "flow.yaml").gives(DONE).says("fine")
    state = world("run", "flow.yaml", "--json", "-q").gives(DONE).json["state"]
    got = result_of(outer, state)
    world.same(text_of(got), "hello Ada 2", "the text")
    world.same(got["times"], 2, "the default")


def pair_steps(world, outer, inner):
    """is stepped into, out of and over, and gone back in"""
    put(world, outer, inner)
    with Debugger(world, "flow.yaml") as d:
        world.same(d.begin().nodes, ["use"], "the first stop")
        stop = d.go("step", kind="into")
        world.same((stop.nodes, Path(stop.one["file"]).name), (["say"], "greet.yaml"), "inside")
        world.same([level["node"] for level in d.call("frame")["stack"]], ["say", "use"], "the stack")
        world.same(d.call("evaluate", expression=".who")["results"], ["Ada"], "what it sees")
        seen = set(d.call("evaluate", expression="keys")["results"][0])
        world.same(seen - {"steps", "tasks"}, {"who", "times"}, "what is in sight")
        world.same(d.go("step", kind="over").nodes, ["after"], "over")
        world.same(back(d), ["say", "use"], "back")
        world.same(d.go("step", kind="out").nodes, ["last"], "out")
        world.same(back(d)[-1], "use", "back into it")
        world.same(d.go("continue").status, "completed", "the end")
    with Debugger(world, "flow.yaml") as d:
        d.begin()
        world.same(d.go("step", kind="over").nodes, ["last"], "over all of it")
        d.call("breakpoint_set", node="use/after")
        d.call("breakpoint_set", type="task_name", task_name="greet")
    again = world("check", ".pawl/kinds/greet.yaml").gives(DONE)
    again.says("fine")


def pair_resumes(world, outer, inner):
    """goes on after a kill inside, with the file changed or gone"""
    for what in ("changed", "gone"):
        forget(world)
        (world.folder / "begun").unlink(missing_ok=True)
        (world.folder / "go").unlink(missing_ok=True)
        put(world, outer, inner, "touch begun; while [ ! -e go ]; do sleep 0.05; done; " + GREETING)
        process = world.start("run", "flow.yaml", "--thread", "t", "-q")
        world.wait_for("begun")
        world.until(lambda: world("status", "t", "--json").json["status"] == "running", "it is on record")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=TIMEOUT)
        path = world.folder / ".pawl/kinds/greet.yaml"
        if what == "changed":
            path.write_text(path.read_text().replace("hello", "other").replace("kind: greet", "kind: other"))
        else:
            path.unlink()
        world.write("go", "")
        state = world("resume", "t", "--json", "-q").gives(DONE).json["state"]
        world.same(text_of(result_of(outer, state)), "hello Ada 2", f"the text with the file {what}")


def pair_fails(world, outer, inner):
    """fails with both places, and can be tried again"""
    put(world, outer, inner, "[ -e fixed ] || exit 3; " + GREETING)
    failed = world("run", "flow.yaml", "--thread", "t", "--json", "-q").gives(FAILED)
    error = failed.json["error"]
    world.same((Path(error["file"]).name, error["node"]), ("greet.yaml", "say"), "where it failed")
    used = error["used_at"][0]
    world.same((used["file"], used["node"], used["kind"]), ("flow.yaml", "use", "greet"), "where it is used")
    world("run", "flow.yaml", "-q").gives(FAILED).says(".pawl/kinds/greet.yaml:11:5: error: node say", "flow.yaml:" + ("3" if outer == "pipeline" else "4") + ":5: in the "
                                                       "kind greet, used by node use")
    world.write("fixed", "")
    state = world("resume", "t", "--json", "-q").gives(DONE).json["state"]
    world.same(text_of(result_of(outer, state)), "hello Ada 2", "the text then")


def pair_refuses(world, outer, inner):
    """refuses inputs that do not fit, before it runs and while it does, naming the kind's file"""
    put(world, outer, inner)
    for inputs, sentence in (({"who": "Ada", "times": "x" if outer != "graph" else True}, "`times` must be an integer"),
                             ({"who": "Ada", "times": 0}, "`times` must be at least 1"),
                             ({}, "`who` is missing"),
                             ({"who": "Ada", "tims": 1}, "did you mean `times`?")):
        world.write("flow.yaml", uses(outer, **inputs))
        bad = world("check", "--strict", "flow.yaml").gives(FAILED).says(sentence)
        if "must" in sentence:
            bad.says(".pawl/kinds/greet.yaml:4")
    if outer == "graph":
        world.write("flow.yaml", uses(outer, who="Ada").replace('"who": "\\"Ada\\""', '"who": ".nothing"'))
    elif outer == "tasks":
        world.write("flow.yaml", uses(outer, who="Ada").replace("id: use,", "id: use, configVars: {times: '| \"many\"'},"))
    else:
        return
    error = world("run", "flow.yaml", "--json", "-q").gives(FAILED).json["error"]
    world.same((error["kind"], error["node"], error["file"]), ("input", "use", "flow.yaml"), "the error")
    if ".pawl/kinds/greet.yaml:4" not in error["message"] or "must be" not in error["message"]:
        raise Broken(f"it does not say where: {error}")


def pair_is_cancelled(world, outer, inner):
    """is cancelled inside; nothing is left behind, and a test inside cleans up"""
    put(world, outer, inner, "touch begun; exec sleep 600")
    path = world.folder / ".pawl/kinds/greet.yaml"
    if inner == "tasks":
        path.write_text(path.read_text() + "cleanupTasks:\n  - {name: run_shell, config: {command: 'touch cleaned'}}\n")
    process = world.start("run", "flow.yaml", "--thread", "t", "-q")
    world.wait_for("begun")
    world.cancel("t")
    process.communicate(timeout=TIMEOUT)
    world.same(world("status", "t", "--json").json["status"], "cancelled", "the status")
    world.same((world.folder / "cleaned").exists(), inner == "tasks", "it has cleaned up")


def pair_has_a_timeout(world, outer, inner):
    """has the time that its node has; a test inside cleans up all the same"""
    put(world, outer, inner, "exec sleep 600", more=f", timeout: {world.ms(400)}")
    path = world.folder / ".pawl/kinds/greet.yaml"
    if inner == "tasks":
        path.write_text(path.read_text() + "cleanupTasks:\n  - {name: run_shell, config: {command: 'touch cleaned'}}\n")
    error = world("run", "flow.yaml", "--json", "-q").gives(FAILED).json["error"]
    world.same((error["kind"], error["node"], error["used_at"]), ("timeout", "use", None), "the error")
    world.same((world.folder / "cleaned").exists(), inner == "tasks", "it has cleaned up")


# ---- what dialects make of it ----

@paced
def one_cleans_up_further_in(world):
    """a test further in cleans up when the node around all of it runs out of time, and then that is tried again"""
    world.write(".pawl/kinds/wrap.yaml", "kind: wrap\nnodes:\n  - {name: w, greet: {who: '\"Ada\"'}}\n")
    for outer, more, times in (("graph", ", retry: {attempts: 2, delay: 10ms}", 2), ("tasks", "", 1), ("pipeline", "", 1)):
        (world.folder / "cleaned").unlink(missing_ok=True)
        world.write(".pawl/kinds/greet.yaml", kind_of("tasks", "exec sleep 600") +
                    "cleanupTasks:\n  - {name: run_shell, config: {command: 'echo x >> cleaned'}}\n")
        world.write("flow.yaml", uses(outer, kind="wrap", more=f", timeout: {world.ms(400)}{more}"))
        process = world.start("run", "flow.yaml", "-q")
        process.communicate(timeout=TIMEOUT)
        world.same((process.returncode, world.read("cleaned")), (FAILED, "x\n" * times), f"in {outer}")


def one_has_attempts_and_error_edges(world):
    """a node of a graph has its attempts and its error edge when what is inside fails, of whatever dialect"""
    for inner in DIALECTS:
        (world.folder / "n").unlink(missing_ok=True)
        put(world, "graph", inner, "echo x >> n; [ $(wc -l < n) -ge 3 ] || exit 3; " + GREETING)
        world.write("flow.yaml", uses("graph", who="Ada", more=", retry: {attempts: 3, delay: 10ms}"))
        state = world("run", "flow.yaml", "--json", "-q").gives(DONE).json["state"]
        world.same(text_of(state["got"]), "hello Ada 2", f"the text at the third attempt of {inner}")
        put(world, "graph", inner, "exit 3")
        world.write("flow.yaml", uses("graph", who="Ada") + "  - {name: mend, jq: '{mended: .error.node}'}\nedges:\n"
                    "  - {from: use, to: mend, on: error}\n  - {from: use, to: last}\n  - {from: mend, to: last}\n"
                    "  - {from: __start__, to: use}\n  - {from: last, to: __end__}\n")
        state = world("run", "flow.yaml", "--json", "-q").gives(DONE).json["state"]
        world.same(state["mended"], "say", f"what the error edge of {inner} sees")


def one_is_read_by_containers(world):
    """a task that fails inside counts for the containers around it, of whatever dialect the kind is"""
    for inner in DIALECTS:
        put(world, "tasks", inner, "exit 3")
        use = "{name: greet, id: use, config: {who: Ada}}"
        world.write("flow.yaml", "tasks:\n"
                    f"  - {{name: run_task_options, id: o, config: {{expectFailure: true, task: {use}}}}}\n"
                    f"  - {{name: run_tasks_concurrent, id: c, config: {{failureThreshold: 2, successThreshold: 1, tasks: [{use}, "
                    "{name: run_shell, config: {command: 'true'}}]}}\n"
                    f"  - {{name: run_tasks, id: r, config: {{ignoreResult: true, tasks: [{use}]}}}}\n")
        state = world("run", "flow.yaml", "--json", "-q").gives(DONE).json["state"]
        world.same([state["tasks"][id_]["result"] for id_ in "ocr"], [1, 1, 1], f"results with {inner}")


def one_goes_on_in_a_pipeline(world):
    """a step that fails inside lets the pipeline go on with on_failure: next, and says so"""
    for inner in DIALECTS:
        put(world, "pipeline", inner, "exit 3", more=", on_failure: next")
        state = world("run", "flow.yaml", "--json", "-q").gives(DONE).json["state"]
        use = state["steps"]["use"]
        world.same((use["status"], use["error"]), ("failed", "Command exited with code 3"), "the step")
        world.same(state["steps"]["last"]["status"], "completed", "the step after it")


def one_is_mapped_over(world):
    """a map does it for each element, with the element among its inputs"""
    for inner in DIALECTS:
        world.write(".pawl/kinds/greet.yaml", kind_of(inner))
        world.write("flow.yaml", "name: m\nstate: {all: [a, b, c]}\nnodes:\n"
                    "  - {name: each, map: {over: .all, as: one, limit: 2}, do: {greet: {who: $one, times: '$index + 1'}}}\n")
        state = world("run", "flow.yaml", "--json", "-q").gives(DONE).json["state"]
        world.same([text_of(got) for got in state["each"]], ["hello a 1", "hello b 2", "hello c 3"], inner)


def one_is_in_another(world):
    """kinds use kinds, of their own folder too, and what is used where is told outwards"""
    world.write("elsewhere/inner.yaml", "kind: inner\ninputs: {properties: {n: {type: integer}}}\noutputs: {n: .n}\n"
                "nodes:\n  - {name: deep, jq: 'if .n > 2 then error(\"too deep\") else {n: (.n + 1)} end'}\n")
    world.write("elsewhere/middle.yaml", "kind: middle\ninputs: {properties: {n: {type: integer}}}\n"
                "outputs: {n: tasks.i.outputs.n}\ntasks:\n  - {name: inner, id: i, configVars: {n: n}}\n")
    world.write("elsewhere/outer.yaml", "kind: outer\ninputs: {properties: {n: {type: integer}}}\n"
                "outputs: {n: .steps.m.outputs.n}\nsteps:\n  - {id: m, name: M, type: middle, config: {n: 2}}\n")
    world.write("flow.yaml", "nodes:\n  - {name: a, outer: {n: 1}}\n")
    world("check", "flow.yaml").gives(FAILED).says("There is no kind of node `outer`")
    state = world("run", "flow.yaml", "--kinds", "elsewhere", "--json", "-q").gives(DONE).json["state"]
    world.same(state, {"n": 3}, "the state")
    world.write("flow.yaml", "config: {kinds: elsewhere}\nnodes:\n  - {name: a, outer: {n: 1}}\n")
    text = (world.folder / "elsewhere/outer.yaml").read_text()
    world.write("elsewhere/outer.yaml", text.replace("n: 2", "n: 3"))
    error = world("run", "flow.yaml", "--json", "-q").gives(FAILED).json["error"]
    world.same([(u["kind"], u["node"]) for u in error["used_at"]], [("inner", "i"), ("middle", "m"), ("outer", "a")],
               "where it is used")


def one_asks(world):
    """an approval and interrupts inside stop the run, and the answer goes on inside"""
    for outer in DIALECTS:
        forget(world)
        world.write(".pawl/kinds/greet.yaml", HEAD + "outputs: {text: .decision}\nconfig: {interrupt_before: [say]}\nnodes:\n"
                    "  - {name: ask, approval: {prompt: 'Greet \\(.who)?', options: [yes, no]}}\n"
                    "  - {name: say, jq: '{}'}\n")
        world.write("flow.yaml", uses(outer, who="Ada"))
        store = ("--store", "sqlite:.pawl/pawl.db")
        got = world("run", "flow.yaml", "--thread", "t", "--json", "-q", *store).gives(WAITING).json
        world.same(got["interrupts"][0]["prompt"], "Greet Ada?", "the question")
        world("resume", "t", "--decision", "no", "-q").gives(WAITING)
        state = world("resume", "t", "--json", "-q").gives(DONE).json["state"]
        world.same(text_of(result_of(outer, state)), "no", f"the answer in {outer}")


def one_can_be_changed_inside(world):
    """inside, values can be set and nodes injected"""
    for outer, inner in PAIRS:
        forget(world)
        put(world, outer, inner)
        with Debugger(world, "flow.yaml", "--thread", "t") as d:
            d.begin()
            d.go("step", kind="into")
            d.call("set", path=["who"], value="Eve")
            text = {"graph": "lua: 'return {times = 7}'", "tasks": "{name: run_shell, config: {command: 'echo ::set-json times 7'}}",
                    "pipeline": "{type: script, name: extra, config: {command: 'true'}}"}[inner]
            d.call("inject", text=text, where="before")
            stop = d.go("continue")
            world.same(stop.status, "completed", f"{inner} in {outer}")
        state = world("show", "t", "--json").json
        got = result_of(outer, state)
        world.same(text_of(got), "hello Eve " + ("2" if inner == "pipeline" else "7"), f"{inner} in {outer}")


def pair_is_worked_on_inside(world, outer, inner):
    """is stepped into; there a node is skipped, one is sent elsewhere, a value is set and a node injected"""
    put(world, outer, inner, "echo say >> ran; " + GREETING)
    path = world.folder / ".pawl/kinds/greet.yaml"
    path.write_text(path.read_text().replace("jq: '{ready: true}'", "shell: echo after >> ran")
                    .replace("command: 'true'", "command: echo after >> ran"))
    extra = {"graph": "{name: extra, shell: echo extra >> ran}",
             "tasks": "{name: run_shell, id: extra, config: {command: echo extra >> ran}}",
             "pipeline": "{id: extra, name: Extra, type: script, config: {command: echo extra >> ran}}"}[inner]
    with Debugger(world, "flow.yaml", "--thread", "t") as d:
        d.begin()
        world.same(d.go("step", kind="into").nodes, ["say"], "into")
        d.call("breakpoint_set", node="use/after")
        d.call("breakpoint_set", node="last")
        world.same(d.go("skip").nodes, ["after"], "skipped")
        world.same(d.go("goto", node="say").nodes, ["say"], "sent back")
        world.same([level["node"] for level in d.call("frame")["stack"]], ["say", "use"], "the stack")
        d.call("set", path=["who"], value="Eve")
        d.call("inject", text=extra, where="before")
        world.same(d.go("continue").nodes, ["after"], "the breakpoint")
        world.same(d.go("skip").nodes, ["last"], "skipped, and out")
        world.same(d.go("continue").status, "completed", "the end")
    world.same(world.read("ran").split(), ["extra", "say"], "what ran")
    world.same(text_of(result_of(outer, world("show", "t", "--json").json)), "hello Eve 2", "what it gave back")


def one_is_replayed(world):
    """a replay takes what is on record of the nodes inside, and both runs are alike"""
    for outer, inner in PAIRS:
        forget(world)
        (world.folder / "n").unlink(missing_ok=True)
        put(world, outer, inner, "echo x >> n; " + GREETING)
        world("run", "flow.yaml", "--thread", "t", "-q").gives(DONE)
        world("run", "flow.yaml", "--replay", "t", "--thread", "u", "-q").gives(DONE)
        world.same(world.read("n"), "x\n", f"{inner} in {outer}: what ran")
        world("diff", "--runs", "t", "u").gives(DONE)


# ---- where they are found ----

def found_in_order(world):
    """--kinds comes before config.kinds, that before .pawl/kinds; the kinds of Pawl itself come first"""
    def kind(folder, name, says):
        world.write(f"{folder}/{name}.yaml", f"kind: {name}\noutputs: {{from: .x}}\nnodes:\n  - {{name: n, jq: '{{x: \"{says}\"}}'}}\n")
    kind("one", "k", "--kinds")
    world.write("empty/README", "no kinds here")
    kind("two", "k", "config")
    kind(".pawl/kinds", "k", "beside")
    kind(".pawl/kinds", "sleep", "a file")
    flow = "CONFIGnodes:\n  - {name: a, uses: k}\n  - {name: b, sleep: 1ms}\n"
    world.write("flow.yaml", flow.replace("CONFIG", "config: {kinds: [none, two]}\n"))
    for words, says in ((("--kinds", "empty", "--kinds", "one"), "--kinds"), ((), "config")):
        state = world("run", "flow.yaml", *words, "--json", "-q").gives(DONE).json["state"]
        world.same(state["from"], says, "where it came from")
    world.write("flow.yaml", flow.replace("CONFIG", ""))
    state = world("run", "flow.yaml", "--json", "-q").gives(DONE).json["state"]
    world.same(state["from"], "beside", "where it came from")
    world("check", "flow.yaml", "--kinds", "none").gives(USAGE).says("--kinds takes a folder, and none is none.")
    world.write("sub/flow.yaml", "kinds: ../two\ntasks:\n  - {name: k, id: a}\n")
    state = world("run", "sub/flow.yaml", "--json", "-q").gives(DONE).json["state"]
    world.same(state["tasks"]["a"]["outputs"]["from"], "config", "where it came from")


def found_inside_the_root(world):
    """a folder outside of --root is refused; what is no kind is not shown"""
    world.write("in/flow.yaml", "nodes:\n  - {name: a, uses: k}\n")
    world.write("out/k.yaml", "kind: k\nnodes:\n  - {name: n, jq: '{}'}\n")
    world("check", "--root", "in", "--kinds", "out", "in/flow.yaml").gives(FAILED).says("outside of the folder")
    world.write("in/.pawl/kinds/k.yaml", "password: hunter2\n")
    answer = world("check", "in/flow.yaml").gives(FAILED).says("is not a kind")
    if "hunter2" in answer.out + answer.err:
        raise Broken(f"it shows what is in the file: {answer}")


def found_where_others_cannot_write(world):
    """.pawl/kinds is looked into by itself, so it has to be ours alone; a folder that is named is the user's choice"""
    world.write(".pawl/kinds/k.yaml", "kind: k\nnodes:\n  - {name: n, jq: '{x: 1}'}\n")
    world.write("flow.yaml", "nodes:\n  - {name: a, uses: k}\n")
    world("check", "flow.yaml").gives(DONE)
    (world.folder / ".pawl/kinds").chmod(0o777)
    world("check", "flow.yaml").gives(FAILED).says("The kind `k` is not used. Others can write to .pawl/kinds.")
    listed = [kind for kind in world("kinds", "--json").gives(DONE).json if kind["name"] == "k"]
    world.same([(kind["error"], kind.get("schema")) for kind in listed], [("Others can write to .pawl/kinds.", None)], "what is listed")
    listed = [kind for kind in world("kinds", "--json", "--kinds", ".pawl/kinds").gives(DONE).json if kind["name"] == "k"]
    world.same([kind.get("error") for kind in listed], [None], "what is listed of a folder that is named")
    world("run", "flow.yaml", "--store", "memory:").gives(USAGE)
    world("check", "flow.yaml", "--kinds", ".pawl/kinds").gives(DONE)


def found_again_after_a_reload(world):
    """resume --reload takes the kind as it is now, from the folders of the start"""
    world.write("lib/ask.yaml", "kind: ask\noutputs: {said: .decision, by: .by}\nnodes:\n"
                "  - {name: q, approval: {prompt: '?'}}\n  - {name: z, jq: '{by: 1}'}\n")
    world.write("flow.yaml", "nodes:\n  - {name: a, uses: ask}\n")
    world("run", "flow.yaml", "--kinds", "lib", "--thread", "t", "-q").gives(WAITING)
    text = (world.folder / "lib/ask.yaml").read_text()
    world.write("lib/ask.yaml", text.replace("by: 1", "by: 2"))
    world("resume", "t", "--decision", "x", "--reload", "--json", "-q").gives(DONE)
    world.same(world("show", "t", "--json").json["by"], 2, "what the new version gives")


def found_among_many(world):
    """a folder of 200 kinds costs a check that uses one of them nothing"""
    def check():
        """The processor time of a check: what else runs on the machine does not count."""
        process = world.start("check", "flow.yaml")
        process.stderr.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        world.same(process.returncode, DONE, "the exit code")
        return used.ru_utime + used.ru_stime
    text = kind_of("graph")
    world.write(".pawl/kinds/greet.yaml", text)
    world.write("flow.yaml", uses("graph", who="Ada"))
    before = min(check() for _ in range(5))
    for i in range(200):
        world.write(f".pawl/kinds/greet{i}.yaml", text.replace("kind: greet", f"kind: greet{i}"))
    after = min(check() for _ in range(5))
    print(f"# {1000 * before:.1f} ms with one kind, {1000 * after:.1f} ms with 201", flush=True)
    if after - before > 0.02:
        raise Broken(f"{before} s, and with 200 more {after} s")


def found_bad(world):
    """bad kinds are refused at their place and at that of their use; so are circles, with the chain"""
    world.write(".pawl/kinds/k.yaml", "kind: k\ninputs: {properties: {n: {typ: integer}}}\nnodes:\n  - {name: n, jq: '.a |'}\n")
    world.write(".pawl/kinds/other.yaml", "kind: another\nnodes:\n  - {name: n, jq: '{}'}\n")
    world.write(".pawl/kinds/plain.yaml", "nodes:\n  - {name: n, jq: '{}'}\n")
    world.write(".pawl/kinds/a.yaml", "kind: a\nnodes:\n  - {name: n, uses: b}\n")
    world.write(".pawl/kinds/b.yaml", "kind: b\ntasks:\n  - {name: a}\n")
    world.write("flow.yaml", "nodes:\n" + "".join(f"  - {{name: {n}, uses: {k}}}\n" for n, k in
                (("x", "k"), ("y", "other"), ("z", "plain"), ("v", "a"), ("w", "othre"))))
    answer = world("check", "flow.yaml").gives(FAILED)
    answer.says("flow.yaml:2:21: error: The kind `k` cannot be used: .pawl/kinds/k.yaml has errors.",
                ".pawl/kinds/k.yaml:2:27: error: `typ` is no key of an input; did you mean `type`?",
                "`another` has to be in `another.yaml`", "a kind says its name: `kind: plain`",
                "The kind includes itself: .pawl/kinds/a.yaml -> .pawl/kinds/b.yaml -> .pawl/kinds/a.yaml.",
                "did you mean `other`?")
    world("run", ".pawl/kinds/a.yaml").gives(USAGE)


def found_to_be_no_workflow(world):
    """a kind cannot be run by itself, nor be included by its path"""
    world.write(".pawl/kinds/greet.yaml", kind_of("graph"))
    world("run", ".pawl/kinds/greet.yaml").gives(USAGE).says("is a kind")
    world.write("flow.yaml", "nodes:\n  - {name: a, workflow: .pawl/kinds/greet.yaml}\n")
    world("check", "flow.yaml").gives(FAILED).says("it is used by its name, not by its path")


def takes_other_inputs(world):
    """additionalProperties: true lets others through, in every dialect"""
    for outer in DIALECTS:
        world.write(".pawl/kinds/any.yaml", "kind: any\ninputs: {additionalProperties: true, properties: {a: {type: integer, default: 1}}}\n"
                    "outputs: {text: '.b | tostring', a: .a}\nnodes:\n  - {name: n, jq: '{}'}\n")
        world.write("flow.yaml", uses(outer, kind="any", b=[1, 2]))
        state = world("run", "flow.yaml", "--json", "-q").gives(DONE).json["state"]
        world.same(result_of(outer, state), {"text": "[1,2]", "a": 1}, outer)
    world.write("flow.yaml", "config: {x: 5}\ntasks:\n  - {name: any, id: use, configVars: {b: x}, config: {c: 1}}\n")
    state = world("run", "flow.yaml", "--json", "-q").gives(DONE).json["state"]
    world.same(state["tasks"]["use"]["outputs"]["text"], "5", "from a query")


def main():
    module = sys.modules[__name__]
    cases = []
    for case in cases_of(module, "pair_"):
        made = each(PAIRS, case)
        cases += [paced(one) for one in made] if case is pair_has_a_timeout else made
    for prefix in ("one_", "found_", "takes_"):
        cases += cases_of(module, prefix)
    return run_all(choose(cases, sys.argv[2:]), sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
