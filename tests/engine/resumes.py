#!/usr/bin/env python3
"""Going on, back and elsewhere: what a resume takes up, and what it must not lose. Prints TAP.

    tests/engine/resumes.py PAWL
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from world import (Broken, DONE, FAILED, TIMEOUT, USAGE, WAITING, cases_of, paced,
                   run_all)  # noqa: E402


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=TIMEOUT)


def held(until, begun="begun"):
    """A command that says that it has begun and goes on when a file is there."""
    return f"touch {begun}; until [ -e {until} ]; do sleep 0.02; done"


@paced
def resume_container_that_timed_out_at_a_join(world):
    """a node around branches that timed out is resumed where it was, with its time again"""
    world.write("in.yaml", """
nodes:
  - {name: p, jq: '{x: 1}'}
  - {name: a, shell: 'echo a >> ran; if [ -e quick ]; then :; else sleep 60; fi'}
  - {name: b, shell: echo b >> ran}
  - {name: z, jq: '{z: 1}'}
edges: [{from: p, to: [a, b], fan_in: z}, {from: a, to: z}, {from: b, to: z}, {from: z, to: __end__}]
""")
    world.write("out.yaml", f"nodes: [{{name: s, workflow: in.yaml, timeout: {world.ms(1000)}}}, "
                "{name: last, jq: '{last: true}'}]\n")
    answer = world("run", "out.yaml", "--thread", "t", "--json").gives(FAILED)
    world.same(answer.json["error"]["kind"], "timeout")
    world.write("quick", "")
    state = world("resume", "t", "--json").gives(DONE).json["state"]
    world.same((state["z"], state["last"]), (1, True))
    world.same(sorted(world.read("ran").split()), ["a", "a", "b"], "what ran")


def resume_beside_others(world):
    """other processes come and go while a run is resumed, and take nothing away from it"""
    world.write("w.yaml", f"""
nodes:
  - {{name: ask, approval: {{prompt: Go?, options: [yes]}}}}
  - {{name: a, shell: '{held("go")}'}}
  - {{name: b, jq: '{{b: 1}}'}}
""")
    world.write("one.yaml", "nodes: [{name: one, jq: '{n: 1}'}]\n")
    world("run", "w.yaml", "--thread", "t", "-q").gives(WAITING)
    first = world.start("resume", "t", "--decision", "yes", "-q")
    world.wait_for("begun")
    world("run", "one.yaml", "--thread", "u", "-q").gives(DONE)
    world("update", "u", "--set", "k=1").gives(DONE)
    held_open = world.folder / ".pawl" / "pawl.db-wal"
    world.same(held_open.exists(), True, "the log of the database that it writes to")
    world.write("go", "")
    world.same(first.wait(TIMEOUT), DONE)
    world.same(world("status", "t", "--json").json["status"], "completed")
    world.same(world("status", "u", "--json").json["status"], "completed")
    world("store", "check").gives(DONE)


@paced
def resume_map_that_timed_out_keeps_its_elements(world):
    """elements of a map that were done are not done again after its timeout"""
    world.write("m.yaml", """
nodes:
  - name: m
    map: {over: '[1, 2, 3]', as: n, limit: 1}
    do: {shell: 'echo "$N" >> ran; [ -e quick ] || [ "$N" = 1 ] || sleep 60', env: {N: $n}}
    timeout: """ + world.ms(1000) + "\n")
    world("run", "m.yaml", "--thread", "t", "-q").gives(FAILED)
    world.write("quick", "")
    world("resume", "t", "-q").gives(DONE)
    world.same(world.read("ran").split(), ["1", "2", "2", "3"], "what ran")


def reload_with_another_kind_of_node(world):
    """a node that became another kind begins anew with --reload"""
    for kind in ("sleep: 10ms", "jq: '{b: 2}'", "lua: 'return {b = 2}'", "shell: echo new"):
        name = kind.split(":", maxsplit=1)[0]
        world.write("w.yaml", f"nodes:\n  - {{name: a, shell: '{held('go')}'}}\n")
        for mark in ("begun", "go"):
            (world.folder / mark).unlink(missing_ok=True)
        process = world.start("run", "w.yaml", "--thread", name)
        world.wait_for("begun")
        kill(process)
        world.write("go", "")
        world.write("w.yaml", f"nodes:\n  - {{name: a, {kind}}}\n")
        world("resume", name, "--reload", "-q").gives(DONE)


def reload_keeps_to_its_own_graph(world):
    """with --reload a run in a sub-workflow stays in that one, whatever else was added"""
    for number in (1, 2):
        world.write(f"x{number}.yaml", "nodes: [{name: ask, approval: ok}, "
                    f"{{name: fin, jq: '{{from: {number}}}'}}]\n")
    world.write("m.yaml", "nodes: [{name: s1, workflow: x1.yaml}, {name: s2, jq: '{}'}]\n")
    world("run", "m.yaml", "--thread", "t", "-q").gives(WAITING)
    world.write("m.yaml", "nodes: [{name: s0, workflow: x2.yaml}, {name: s1, workflow: x1.yaml}]\n")
    answer = world("resume", "t", "--reload", "--value", "1", "--json").gives(DONE)
    world.same(answer.json["state"]["from"], 1)


def reducers_of_expressions_in_sub_workflows(world):
    """an expression as reducer works through a sub-workflow, and in a map of them"""
    world.write("in.yaml", """
state: {best: {default: 0, reduce: '[$old, $new] | max'}, log: {default: [base], reduce: append}}
nodes: [{name: a, jq: '{best: 5, log: [x]}'}, {name: b, jq: '{best: 3}'}]
""".replace("[x]", '["x"]'))
    world.write("out.yaml", """
state: {best: {default: 1, reduce: '[$old, $new] | max'}}
nodes:
  - {name: s, workflow: in.yaml, input: '{}'}
  - {name: m, map: {over: '[1]'}, do: {workflow: in.yaml, input: '{}'}}
""")
    state = world("run", "out.yaml", "--json").gives(DONE).json["state"]
    world.same(state["best"], 5)
    world.same(state["m"], [{"best": 5, "log": ["base", "x"]}])


def set_is_on_record_before_work_starts(world):
    """what --set changed is durable before a command starts with it"""
    world.write("w.yaml", f"""
nodes:
  - {{name: a, shell: '{held("go")}'}}
  - {{name: b, shell: 'echo "$X"; {held("on", "seen")}', env: {{X: .x}}, output: b}}
""")
    first = world.start("run", "w.yaml", "--thread", "t")
    world.wait_for("begun")
    kill(first)
    second = world.start("resume", "t", "--set", "x=42")
    world.write("go", "")
    world.wait_for("seen")
    kill(second)
    world.write("on", "")
    state = world("resume", "t", "--json").gives(DONE).json["state"]
    world.same((state["x"], state["b"]["stdout"]), (42, "42"))


def set_reaches_branches(world):
    """--set without an answer reaches the branches that are under way"""
    world.write("w.yaml", """
nodes:
  - {name: s, jq: '{}'}
  - {name: a, shell: 'touch begun; if [ -e quick ]; then :; else sleep 60; fi'}
  - {name: a2, jq: '{seen: .x}'}
  - {name: b, jq: '{b: 1}'}
  - {name: j, jq: '{}'}
edges: [{from: s, to: [a, b], fan_in: j}, {from: a, to: a2}, {from: a2, to: j}, {from: b, to: j},
  {from: j, to: __end__}]
""")
    first = world.start("run", "w.yaml", "--thread", "t")
    world.wait_for("begun")
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=TIMEOUT)
    world.write("quick", "")
    state = world("resume", "t", "--set", "x=7", "--json").gives(DONE).json["state"]
    world.same((state["x"], state["seen"]), (7, 7))


def set_replaces_past_a_reducer(world):
    """--set in a branch replaces also a key with a reducer; --value goes through it"""
    text = """
state: {log: {default: [], reduce: append}}
nodes:
  - {name: s, jq: '{log: ["s"]}'}
  - {name: a, jq: '{log: ["a"]}', interrupt: before}
  - {name: b, jq: '{b: 1}'}
  - {name: j, jq: '{}'}
edges: [{from: s, to: [a, b], fan_in: j}, {from: a, to: j}, {from: b, to: j}, {from: j, to: __end__}]
"""
    world.write("w.yaml", text)
    for thread, words, want in (("one", ["--set", 'log=["edited"]'], ["edited", "a"]),
                                ("two", ["--value", '{"log": ["more"]}'], ["s", "more", "a"])):
        world("run", "w.yaml", "--thread", thread, "--store", "sqlite:db", "-q").gives(WAITING)
        answer = world("resume", thread, *words, "--store", "sqlite:db", "--json").gives(DONE)
        world.same(answer.json["state"]["log"], want)


def stop_twice_then_resume(world):
    """a command that was being ended when its process died is started again"""
    world.write("w.yaml", "nodes:\n  - {name: a, shell: \"trap 'touch told' TERM; touch begun; "
                "until [ -e quick ]; do sleep 0.02; done; echo x\", output: a}\n")
    process = world.start("run", "w.yaml", "--thread", "t")
    world.wait_for("begun")
    process.send_signal(signal.SIGINT)
    world.wait_for("told")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=TIMEOUT)
    world.write("quick", "")
    world.same(world("resume", "t", "--json").gives(DONE).json["state"]["a"]["stdout"], "x")


def cancel_ends_what_a_dead_process_left(world):
    """cancelling a run whose process died ends the command that it left running"""
    world.write("w.yaml", "nodes:\n  - {name: a, shell: 'echo $$ > it; mv it pid; exec sleep 77'}\n")
    process = world.start("run", "w.yaml", "--thread", "t")
    world.wait_for("pid")
    kill(process)
    pid = int(world.read("pid"))
    world.same(os.path.exists(f"/proc/{pid}"), True, "the command lives")
    world("cancel", "t").gives(DONE)
    world.same(os.path.exists(f"/proc/{pid}"), False, "the command lives after the cancel")
    world.same(world("status", "t", "--json").json["status"], "cancelled")


@paced
def back_in_time_has_the_time_that_was_left(world):
    """going back to a sleep or into a timeout has the time that was left then"""
    world.write("in.yaml", f"nodes: [{{name: nap, sleep: {world.ms(600)}}}, "
                "{name: x, jq: '{x: 1}'}]\n")
    world.write("w.yaml", f"nodes: [{{name: s, workflow: in.yaml, timeout: {world.ms(900)}}}]\n")
    world("run", "w.yaml", "--thread", "t", "-q").gives(DONE)
    world.nap(0.5)
    rows = world("history", "t", "--json").json
    entered = next(row["checkpoint"] for row in rows if row["status"] == "entered")
    for words in (["resume", f"t@{entered}"], ["fork", f"t@{entered}", "--thread", "copy"]):
        begun = time.monotonic()
        answer = world(*words, *(["-q"] if words[0] == "resume" else []))
        if words[0] == "fork":
            answer = world("resume", "copy", "-q")
        answer.gives(DONE)
        if time.monotonic() - begun < world.seconds(0.5):
            raise Broken("it did not sleep again")


@paced
def late_answers(world):
    """an approval whose time is up is not waited for, and takes no answer"""
    world.write("w.yaml", f"""
nodes:
  - {{name: ask, approval: {{prompt: 'ok?', options: ['yes']}}, timeout: {world.ms(300)}}}
""" + """
  - {name: late, jq: '{late: .error.kind}'}
edges: [{from: ask, to: __end__}, {from: ask, to: late, on: error}, {from: late, to: __end__}]
""")
    world("run", "w.yaml", "--thread", "t", "-q").gives(WAITING)
    world.nap(0.5)
    world("resume", "t", "--decision", "yes").gives(USAGE).says("time to answer")
    world.same(world("resume", "t", "--json").gives(DONE).json["state"]["late"], "timeout")


def folder_of_a_run(world):
    """commands run in the folder that the run was started in, wherever it is resumed"""
    world.write("sub/w.yaml", "nodes:\n  - {name: a, approval: 'ok?'}\n"
                "  - {name: b, shell: pwd, output: b}\n")
    (world.folder / "other").mkdir()
    world("run", "sub/w.yaml", "--thread", "t", "--store", "sqlite:st.db", "-q").gives(WAITING)
    done = subprocess.run([world.pawl, "resume", "t", "--value", "1", "--reload", "--json", "--store",
                           "sqlite:../st.db"], cwd=world.folder / "other", capture_output=True,
                          text=True, timeout=60)
    if str(world.folder.resolve()) + '"' not in done.stdout:
        raise Broken(done.stdout + done.stderr)


def many_branches_at_once(world):
    """hundreds of commands in parallel need no hundreds of processes at once"""
    names = [f"b{i}" for i in range(400)]
    nodes = "".join(f"  - {{name: {n}, shell: 'true', output: {n}}}\n" for n in names)
    world.write("w.yaml", f"nodes:\n  - {{name: s, jq: '{{}}'}}\n{nodes}  - {{name: j, jq: '{{ok: 1}}'}}\n"
                f"edges:\n  - {{from: s, to: [{', '.join(names)}], fan_in: j}}\n"
                "  - {from: j, to: __end__}\n")
    state = world("run", "w.yaml", "--json").gives(DONE).json["state"]
    world.same((len(state), state["ok"]), (401, 1))


def shown_state_inside_a_loop(world):
    """the state that is shown is the one that a loop has come to"""
    world.write("w.yaml", """
nodes:
  - name: l
    while: (.n // 0) < 1
    do: [{name: k, jq: '{n: 1}'}, {name: ask, approval: 'ok?'}]
""")
    world.same(world("run", "w.yaml", "--thread", "t", "--json").gives(WAITING).json["state"], {"n": 1})
    world.same(world("show", "t", "--json").json, {"n": 1})
    world("update", "t", "--set", "m=5").gives(DONE)
    world.same(world("show", "t", "--json").json, {"n": 1, "m": 5})
    state = world("resume", "t", "--value", "1", "--json").gives(DONE).json["state"]
    world.same((state["n"], state["m"]), (1, 5))


def work_folders_are_removed(world):
    """nothing is left of commands that are done, also after a crash"""
    world.write("w.yaml", f"nodes:\n  - {{name: a, shell: '{held('go')}'}}\n"
                "  - {name: b, shell: 'true'}\n")
    process = world.start("run", "w.yaml", "--thread", "t")
    world.wait_for("begun")
    kill(process)
    world.write("go", "")
    world("resume", "t", "-q").gives(DONE)
    left = list((world.folder / ".pawl").glob("*work*/*"))
    world.same(left, [], "what is left")


if __name__ == "__main__":
    here = sys.modules["__main__"]
    cases = []
    for prefix in ("resume_", "reload_", "reducers_", "set_", "stop_", "cancel_", "back_", "late_",
                   "folder_", "many_", "shown_", "work_"):
        cases += cases_of(here, prefix)
    sys.exit(run_all(cases, sys.argv[1]))
