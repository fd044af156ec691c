#!/usr/bin/env python3
"""Interrupts stop a run until somebody resumes it: the acceptance criteria of LangGraph-compatible
interrupts by number, then interrupts in parallel branches and sub-workflows. Prints TAP.

    tests/engine/interrupts.py PAWL
"""

import itertools
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from world import Broken, DONE, TIMEOUT, USAGE, WAITING, cases_of, run_all  # noqa: E402

STORE = ["--store", "file:checkpoints"]

NODES = """
nodes:
  - {name: prepare, jq: '{data: "prepared", steps: ((.steps // 0) + 1)}'}
  - {name: decide, jq: '{approved: (.approved // false), steps: (.steps + 1)}'}
  - {name: finalize, jq: '{result: "done", steps: (.steps + 1)}'}
edges:
  - {from: __start__, to: prepare}
  - {from: prepare, to: decide}
  - {from: decide, to: finalize}
  - {from: finalize, to: __end__}
"""


def workflow(world, config, name="flow.yaml"):
    lines = "".join(f"  {line}\n" for line in config)
    world.write(name, f"name: flow\n{'config:' if config else ''}\n{lines}{NODES}")
    return name


def stopped_before(world):
    workflow(world, ["checkpoint_dir: ./checkpoints", "interrupt_before: [decide]"])
    return world("run", "flow.yaml", "--thread", "t", "--json").gives(WAITING)


# ---- the criteria, by number ----


def ac_01(world):
    """AC 1: interrupt_before stops before the node is executed"""
    answer = stopped_before(world).json
    world.same(answer["status"], "interrupted")
    world.same(answer["interrupts"][0]["node"], "decide")
    world.same(answer["state"], {"data": "prepared", "steps": 1})


def ac_02(world):
    """AC 2: interrupt_after stops after the node was executed"""
    workflow(world, ["checkpoint_dir: ./checkpoints", "interrupt_after: [decide]"])
    answer = world("run", "flow.yaml", "--json").gives(WAITING).json
    world.same(answer["interrupts"][0]["node"], "decide")
    world.same(answer["state"], {"data": "prepared", "steps": 2, "approved": False})


def ac_03(world):
    """AC 3: the last event is the interrupt, with type, node, state and checkpoint"""
    workflow(world, ["checkpoint_dir: ./checkpoints", "interrupt_before: [decide]"])
    for mode in ("updates", "values", "events", "debug"):
        event = world("run", "flow.yaml", "--stream", mode).gives(WAITING).lines[-1]
        world.same(event["type"], "interrupt", mode)
        world.same(event["node"], "decide")
        world.same(event["state"], {"data": "prepared", "steps": 1})
        world.same(event["checkpoint"], 3)


def ac_04(world):
    """AC 4: interrupts need a checkpointer"""
    workflow(world, ["interrupt_before: [decide]"])
    world("run", "flow.yaml").gives(USAGE).says("no checkpointer")
    world("run", "flow.yaml", "--store", "file:elsewhere").gives(WAITING)


def ac_05(world):
    """AC 5: without one it is refused before anything runs"""
    workflow(world, ["interrupt_after: [finalize]"])
    world("check", "flow.yaml").gives(1).says("flow.yaml:3:", "no checkpointer")
    world("run", "flow.yaml").gives(USAGE)
    world.same((world.folder / ".pawl").exists(), False, "a store")


def ac_06(world):
    """AC 6: checkpoint_dir keeps checkpoints as files in that folder"""
    stopped_before(world)
    if not any((world.folder / "checkpoints").rglob("*")):
        raise Broken("there is nothing in ./checkpoints")
    world("resume", "t", *STORE).gives(DONE)


def ac_07(world):
    """AC 7: checkpointer: memory keeps them in memory"""
    workflow(world, ["checkpointer: memory", "interrupt_before: [decide]"])
    answer = world("run", "flow.yaml", "--json").gives(WAITING)
    world.same(answer.json["interrupts"][0]["node"], "decide")
    world.same(list(world.folder.iterdir()), [world.folder / "flow.yaml"], "the folder")


def ac_08(world):
    """AC 8: either of the two is enough"""
    for config in (["checkpoint_dir: ./checkpoints"], ["checkpointer: memory"],
                   ["checkpointer: sqlite"], ["checkpointer: file"]):
        workflow(world, [*config, "interrupt_before: [decide]"])
        world("check", "flow.yaml").gives(DONE)
        world("run", "flow.yaml").gives(WAITING)


def ac_09(world):
    """AC 9: checkpoints are kept by their number, and all can be listed and read"""
    stopped_before(world)
    rows = world("history", "t", "--json", *STORE).gives(DONE).json
    world.same([row["checkpoint"] for row in rows], [1, 2, 3])
    world.same(world("show", "t@1", "--json", *STORE).json, {})
    world.same(world("show", "t@2", "--json", *STORE).json, {"data": "prepared", "steps": 1})


def ac_10(world):
    """AC 10: resume goes on from the checkpoint"""
    stopped_before(world)
    answer = world("resume", "t@3", "--json", *STORE).gives(DONE).json
    world.same(answer["status"], "completed")
    world.same(answer["state"]["result"], "done")


def ac_11(world):
    """AC 11: a resumed run streams its events"""
    stopped_before(world)
    events = world("resume", "t", "--stream", "updates", *STORE).gives(DONE).lines
    world.same([e["node"] for e in events if e["type"] == "update" and e.get("update")],
               ["decide", "finalize"])
    world.same(events[-1]["type"], "final")


def ac_12(world):
    """AC 12: resume without a thread is a clear error"""
    world("resume").gives(USAGE).says("THREAD")


def ac_13(world):
    """AC 13: the state is the one of the checkpoint"""
    stopped_before(world)
    answer = world("resume", "t", "--set", "approved=true", "--json", *STORE).gives(DONE).json
    world.same(answer["state"],
               {"data": "prepared", "steps": 3, "approved": True, "result": "done"})


def ac_14(world):
    """AC 14: a resumed run goes on to the next interrupt, or to the end"""
    workflow(world, ["checkpoint_dir: ./checkpoints", 'interrupt_before: "*"'])
    answer = world("run", "flow.yaml", "--thread", "t", "--json").gives(WAITING)
    for node in ("prepare", "decide", "finalize"):
        world.same(answer.json["interrupts"][0]["node"], node)
        answer = world("resume", "t", "--json", *STORE)
    world.same(answer.gives(DONE).json["state"]["steps"], 3)


def ac_15(world):
    """AC 15: the YAML says which checkpointer; it is required when interrupts are defined"""
    for place in ("interrupt: before", "interrupt: after", "interrupt: [before, after]"):
        world.write("flow.yaml", f"nodes:\n  - {{name: a, jq: '{{}}', {place}}}\n")
        world("check", "flow.yaml").gives(1).says("flow.yaml:2:", "no checkpointer")


def ac_16(world):
    """AC 16: the message names both ways out"""
    workflow(world, ["interrupt_before: [decide]"])
    world("check", "flow.yaml").gives(1).says("checkpoint_dir", "checkpointer")


def ac_17(world):
    """AC 17: config.checkpoint resumes from a checkpoint"""
    stopped_before(world)
    workflow(world, ["checkpoint_dir: ./checkpoints", "interrupt_before: [decide]",
                     "checkpoint: t@3"])
    world.same(world("run", "flow.yaml", "--json").gives(DONE).json["state"]["result"], "done")


def ac_18(world):
    """AC 18: clear error: interrupts without a checkpointer"""
    workflow(world, ["interrupt_before: [decide]"])
    answer = world("check", "flow.yaml", "--json").gives(1).json
    problem = answer[0]
    world.same((problem["line"], "interrupt_before: decide" in problem["message"]), (3, True))


def ac_19(world):
    """AC 19: clear error: nothing that could be resumed"""
    workflow(world, [])
    world("run", "flow.yaml", "--thread", "t").gives(DONE)
    world("resume", "t").gives(USAGE).says("has completed", "t@SEQ")


def ac_20(world):
    """AC 20: clear error: no such thread, no such checkpoint, no store"""
    world("resume", "t").gives(USAGE).says("There is no store")
    stopped_before(world)
    world("resume", "tt", *STORE).gives(USAGE).says("no thread `tt`", "`t`")
    world("resume", "t@99", *STORE).gives(USAGE).says("no checkpoint 99")
    world("show", "t@99", *STORE).gives(USAGE).says("no checkpoint 99")


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0x55
    path.write_bytes(bytes(data))


def ac_21(world):
    """AC 21: clear error: a damaged checkpoint is named, other threads go on"""
    stopped_before(world)
    world("run", "flow.yaml", "--thread", "other", *STORE).gives(WAITING)
    damaged = world.folder / "checkpoints" / "runs" / "1.run"
    flip(damaged, damaged.read_bytes().index(b"prepared"))
    world("resume", "t", *STORE).gives(5).says("damaged", "`t`")
    world("resume", "other", *STORE).gives(DONE)


# ---- parallel branches and sub-workflows ----

MANY = """
name: many
state: {answers: {default: [], reduce: append}}
nodes:
  - {name: begin, shell: echo begin >> ran}
  - {name: a, shell: echo a >> ran}
  - {name: ask_a, approval: 'a?', output: got_a}
  - {name: note_a, shell: echo note_a >> ran}
  - {name: b, shell: echo b >> ran}
  - {name: ask_b, approval: 'b?', output: got_b}
  - {name: c, workflow: ./inner.yaml, output: got_c}
  - {name: end, shell: echo end >> ran}
edges:
  - {from: __start__, to: begin}
  - {from: begin, to: [a, b, c], fan_in: end}
  - {from: a, to: ask_a}
  - {from: ask_a, to: note_a}
  - {from: note_a, to: end}
  - {from: b, to: ask_b}
  - {from: ask_b, to: end}
  - {from: c, to: end}
  - {from: end, to: __end__}
"""

INNER = """
name: inner
nodes:
  - {name: before, shell: echo before >> ran}
  - {name: ask_c, approval: {prompt: 'c?', options: ['yes', 'no']}}
  - {name: after, shell: echo after >> ran}
"""


def answer_in_order(world, order):
    world.write("many.yaml", MANY)
    world.write("inner.yaml", INNER)
    answer = world("run", "many.yaml", "--thread", "t", "--json").gives(WAITING).json
    ids = {row["node"]: row["id"] for row in answer["interrupts"]}
    world.same(sorted(ids), ["ask_a", "ask_b", "ask_c"])
    for position, node in enumerate(order):
        last = position == len(order) - 1
        words = ["--decision", "yes"] if node == "ask_c" else ["--value", json.dumps({"n": node})]
        answer = world("resume", "t", "--interrupt", ids[node], *words, "--json")
        open_now = {row["node"]: row["id"] for row in answer.gives(DONE if last else WAITING)
                    .json["interrupts"]}
        world.same(open_now, {n: ids[n] for n in order[position + 1:]}, "what is still open")
    state = answer.json["state"]
    world.same(state["got_a"]["value"], {"n": "ask_a"})
    world.same(state["got_b"]["value"], {"n": "ask_b"})
    world.same(state["got_c"]["decision"], "yes")
    world.same(sorted(world.read("ran").split()),
               sorted(["begin", "a", "note_a", "b", "before", "after", "end"]), "what ran")
    world("store", "check").gives(DONE)


def make_order(order):
    def case(world):
        answer_in_order(world, order)
    case.__doc__ = f"three branches and a sub-workflow are answered in the order {', '.join(order)}"
    return case


ORDERS = [make_order(order) for order in itertools.permutations(["ask_a", "ask_b", "ask_c"])]


def branch_one_answer_wakes_one_frame(world):
    """with several open an answer needs the id, and wakes only that frame"""
    world.write("many.yaml", MANY)
    world.write("inner.yaml", INNER)
    world("run", "many.yaml", "--thread", "t").gives(WAITING)
    world("resume", "t", "--value", "1").gives(USAGE).says("Several interrupts are open", "ask_b")
    world("resume", "t", "--interrupt", "i99", "--value", "1").gives(USAGE).says("i99", "ask_a")
    world.same("note_a" in world.read("ran"), False, "note_a ran")


def branch_wrong_decision(world):
    """a decision that is not offered is refused, and nothing changes"""
    world.write("one.yaml", INNER)
    answer = world("run", "one.yaml", "--thread", "t", "--json").gives(WAITING).json
    world("resume", "t", "--decision", "maybe").gives(USAGE).says("maybe", "yes, no")
    world("resume", "t").gives(USAGE).says("waits for an answer", "--decision yes|no")
    world.same(world("status", "t", "--json").json["checkpoint"], answer["checkpoint"])


def branch_memory_says_so(world):
    """a run in memory that waits says that no other process can resume it"""
    workflow(world, ["checkpointer: memory", "interrupt_before: [decide]"])
    world("run", "flow.yaml").gives(WAITING).says("memory")


def branch_asks_while_another_works(world):
    """a question is told, and answered, while another branch still works"""
    world.write("two.yaml", "name: two\nnodes:\n  - {name: begin, jq: '{}'}\n"
                "  - {name: ask, approval: {prompt: 'well?', options: ['yes', 'no']}}\n"
                "  - {name: next, shell: touch next}\n"
                "  - {name: slow, shell: 'while ! test -e go; do sleep 0.05; done'}\n"
                "edges:\n  - {from: begin, to: [ask, slow]}\n  - {from: ask, to: next}\n")
    with open(world.folder / "said", "w", encoding="utf-8") as said, \
            subprocess.Popen([world.pawl, "run", "two.yaml", "--thread", "t"], cwd=world.folder,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said) as running:
        try:
            world.until(lambda: "Waiting at ask: well?" in world.read("said"), "the question is told")
        except Broken:
            running.kill()
            raise
        command = next(line for line in world.read("said").splitlines() if "--decision yes" in line)
        answering = world.start(*command.split()[1:])
        world.wait_for("next")
        world.same(world("status", "t", "--json").json["status"], "running")
        world.write("go", "")
        answering.communicate(timeout=TIMEOUT)
        world.same((running.wait(TIMEOUT), answering.returncode), (DONE, DONE), "the exit codes")


if __name__ == "__main__":
    here = sys.modules["__main__"]
    sys.exit(run_all(cases_of(here, "ac_") + ORDERS + cases_of(here, "branch_"), sys.argv[1]))
