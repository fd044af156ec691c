#!/usr/bin/env python3
"""What the operator of a server lets workflows do: kinds of nodes, a folder, variables, addresses. Prints TAP.

    tests/serve/policy.py PAWL
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from server import Server, flow_of  # noqa: E402
from world import USAGE, WAITING, Broken, run_all  # noqa: E402

SAFE = "name: safe\nnodes:\n  - {name: a, jq: '{n: 1}'}\n"
SHELL = "name: bad\nnodes:\n  - {name: a, jq: '{n: 1}'}\n  - {name: b, shell: 'echo x > ran'}\n"
ASK = """
name: ask
nodes:
  - {name: q, approval: {prompt: Go?, options: [go, stay]}, output: said}
  - {name: b, shell: 'echo x > ran; pwd', output: out}
"""


def kinds_that_run(world):
    """--allow-kinds: a workflow with another kind is not begun, put or called fine, however deep the node is"""
    world.write("flows/there.yaml", SHELL)
    world.write("flows/good.yaml", SAFE)
    deep = {
        "in a map": "nodes:\n  - {name: m, map: '[1]', do: {shell: 'echo x > ran'}}\n",
        "in a loop": "nodes:\n  - {name: w, while: 'false', do: [{name: s, shell: 'echo x > ran'}]}\n",
        "a task": "id: t\ntasks:\n  - {name: run_shell, config: {command: 'echo x > ran'}}\n",
        "a task in a task": "id: t\ntasks:\n  - name: run_tasks\n    config:\n      tasks:\n"
                            "        - {name: run_shell, config: {command: 'echo x > ran'}}\n",
        "python": "nodes:\n  - {name: p, python: 'open(\"ran\", \"w\")'}\n",
    }
    with Server(world, "--workflows", "flows", "--allow-kinds", "jq,approval,map", "--allow-kinds",
                "while,run_tasks,workflow") as s:
        for name, text in {"at the top": SHELL, **deep}.items():
            reply = s.ask("POST", "/runs", {"definition": flow_of(text)}).gives(403)
            reply.has(code="forbidden")
            if not reply.json.kind or "allowed are: jq, " not in reply.json.detail:
                raise Broken(f"{name}: {reply}")
            s.ask("PUT", "/workflows/mine", {"text": text}).gives(403)
            checked = s.ask("POST", "/workflows/check", {"definition": flow_of(text)}).gives(200).json
            world.same(checked.ok, False, f"check of {name}")
        line = s.ask("POST", "/runs", {"definition": flow_of(SHELL)}).json
        world.same((line.kind, line.node, line.line), ("shell", "b", 4))
        s.ask("POST", "/runs", {"workflow": "there"}).gives(403)
        s.ask("POST", "/runs", {"workflow": "good", "thread": "g"}).gives(201)
        s.until("g", "completed")
        parts = {"main": "a.yaml", "files": {"a.yaml": "nodes:\n  - {name: w, workflow: b.yaml}\n", "b.yaml": SHELL}}
        s.ask("POST", "/runs", {"definition": parts}).gives(403)
        parts["files"]["b.yaml"] = SAFE
        s.ask("POST", "/runs", {"definition": parts, "thread": "p"}).gives(201)
        s.until("p", "completed")
        s.ask("POST", "/runs/g/resume", {"definition": flow_of(SHELL)}).gives(403, 409)
    if (world.folder / "ran").exists():
        raise Broken("a node of a kind that does not run here has run")
    world("serve", "--allow-kinds", "jq,shel").gives(USAGE).says("did you mean `shell`")
    world("serve", "--allow-kinds", "jq,,shell").gives(USAGE)


def kinds_that_come_later(world):
    """--allow-kinds: a node that is injected, edited, or of a run that another process began does not run either"""
    world.write("ask.yaml", ASK)
    world("run", "ask.yaml", "--thread", "t", "--quiet").gives(WAITING)
    with Server(world, "--allow-kinds", "jq,approval") as s:
        s.ask("POST", "/runs/t/resume", {"decision": "go"}).gives(200)
        error = s.until("t", "failed").error
        world.same((error.kind, error.node), ("forbidden", "b"))
        s.begin("d", SAFE, debug={"pause_on_start": True})
        s.paused("d")
        reply = s.ask("POST", "/debug/d/injected", {"node": {"shell": "echo x > ran"}, "where": "before"})
        if reply.status < 300:
            s.ask("POST", "/debug/d/continue", {})
            s.ask("POST", "/debug/d/continue", {})
        s.ask("DELETE", "/debug/d")
        s.until("d", "completed", "failed", "paused")
    if (world.folder / "ran").exists():
        raise Broken("a node of a kind that does not run here has run")


def folder_of_runs(world):
    """--folder: runs begin in it; neither cwd, nor a file, nor a link, nor a run from elsewhere leads out of it"""
    inside, outside = world.folder / "inside", world.folder / "outside"
    (inside / "sub").mkdir(parents=True)
    outside.mkdir()
    world.write("outside/x.py", "def main(state):\n    return {'leaked': 1}\n")
    world.write("outside/ask.yaml", ASK)
    world.write("flows/where.yaml", "nodes:\n  - {name: a, shell: pwd, output: out}\n")
    os.symlink(outside, inside / "link")
    world("run", "outside/ask.yaml", "--thread", "t", "--quiet").gives(WAITING)
    with Server(world, "--folder", "inside", "--workflows", "flows") as s:
        def out_of(text, thread):
            s.begin(thread, text)
            run = s.until(thread, "completed", "failed")
            return run.error or s.ask("GET", f"/runs/{thread}/state").json.state["out"]["stdout"].strip()

        world.same(out_of("nodes:\n  - {name: a, shell: pwd, output: out}\n", "a"), str(inside))
        world.same(out_of("nodes:\n  - {name: a, shell: pwd, cwd: sub, output: out}\n", "b"), str(inside / "sub"))
        world.same(out_of(f"nodes:\n  - {{name: a, shell: pwd, cwd: {inside}/sub, output: out}}\n", "c"), str(inside / "sub"))
        for i, cwd in enumerate(("..", "../outside", "sub/../..", "link", str(outside), "/")):
            error = out_of(f"nodes:\n  - {{name: a, shell: 'pwd; touch ran', cwd: '{cwd}', output: out}}\n", f"o{i}")
            if not isinstance(error, dict) or "outside of the folder inside" not in error["message"]:
                raise Broken(f"cwd {cwd}: {error}")
        for i, file in enumerate(("../outside/x.py", "link/x.py", str(outside / "x.py"))):
            s.begin(f"f{i}", f"nodes:\n  - {{name: a, python: {{file: '{file}'}}, output: out}}\n")
            world.same(s.until(f"f{i}", "completed", "failed").status, "failed", f"a script at {file}")
        s.ask("POST", "/runs", {"workflow": "where", "thread": "w"}).gives(201)
        s.until("w", "completed")
        world.same(s.ask("GET", "/runs/w/state").json.state["out"]["stdout"].strip(), str(inside))
        s.ask("POST", "/runs/t/resume", {"decision": "go"}).gives(200)
        error = s.until("t", "failed").error
        world.same(error.kind, "forbidden")
        s.ask("POST", "/workflows/check", {"path": "../outside/ask.yaml"}).gives(200).has(ok=False)
    if list(world.folder.rglob("ran")):
        raise Broken("a command has run outside of the folder")
    world("serve", "--folder", "inside", "--root", "inside").gives(USAGE).says("--root")
    world("serve", "--folder", "nowhere").gives(USAGE)


def variables_and_addresses(world):
    """what runs inherit is what --env names, and requests go to public addresses alone unless --net says otherwise"""
    flow = "nodes:\n  - {name: a, shell: 'echo \"$OPEN-$CLOSED-$PAWL_SECRET_X\"', output: out}\n"
    env = {"OPEN": "o", "CLOSED": "c", "PAWL_SECRET_X": "s"}

    def said(*words):
        with Server(world, *words, env=env) as s:
            thread = f"t{s.port}"
            s.begin(thread, flow)
            s.until(thread, "completed")
            return s.ask("GET", f"/runs/{thread}/state").json.state["out"]["stdout"].strip()

    world.same(said(), "--")
    world.same(said("--env", "OPEN"), "o--")
    world.same(said("--env", "OPEN,CLOSED"), "o-c-")
    with Server(world) as s:
        for i, url in enumerate((f"http://127.0.0.1:{s.port}/healthz", f"http://localhost:{s.port}/healthz",
                                 f"http://2130706433:{s.port}/", f"http://[::ffff:127.0.0.1]:{s.port}/")):
            s.begin(f"n{i}", "nodes:\n  - {name: a, http: '" + url + "', output: out}\n")
            error = s.until(f"n{i}", "failed").error
            if "is none that requests may go to" not in error.message:
                raise Broken(f"{url}: {json.dumps(error)}")
    with Server(world, "--net", "127.0.0.0/8") as s:
        s.begin("allowed", f"nodes:\n  - {{name: a, http: 'http://127.0.0.1:{s.port}/healthz', output: out}}\n")
        s.until("allowed", "completed")


def names_of_a_folder(world):
    """--workflows: what counts is listed, what does not with the reason, and a folder that is gone is no missing workflow"""
    flows = world.folder / "flows"
    flow = "nodes:\n  - {name: a, jq: '1'}\n"
    for name in ("good.yaml", "dup.yaml", "dup.yml", "sp ace.yaml", "ünï.yaml", "UPPER.YAML", "sub/part.yaml", "notes.txt"):
        world.write(f"flows/{name}", flow)
    os.mkfifo(flows / "fifo.yaml")
    (flows / "gone.yaml").symlink_to("nowhere")
    (flows / "linked.yaml").symlink_to("good.yaml")
    (flows / "dir.yaml").mkdir()
    with Server(world, "--workflows", "flows") as s:
        listed = s.ask("GET", "/workflows").gives(200).json
        world.same([w.name for w in listed.workflows], ["dup", "good", "linked"])
        why = {one.file: one.why for one in listed.left_out}
        world.same(sorted(why), sorted(["dup.yml", "sp ace.yaml", "ünï.yaml", "UPPER.YAML", "fifo.yaml", "gone.yaml",
                                        "dir.yaml"]))
        for name, words in (("dup.yml", "dup.yaml"), ("sp ace.yaml", "letters, digits"), ("UPPER.YAML", "small letters"),
                            ("fifo.yaml", "a FIFO"), ("gone.yaml", "leads nowhere"), ("dir.yaml", "a folder")):
            if words not in why[name]:
                raise Broken(f"{name} is left out because {why[name]!r}")
        for name, words in (("fifo", "fifo.yaml is a FIFO"), ("gone", "a link that leads nowhere"), ("dir", "is a folder")):
            for refused in (s.ask("GET", f"/workflows/{name}"), s.ask("POST", "/runs", {"workflow": name})):
                refused.gives(404).says(words)
                if "did you mean" in refused.json.detail:
                    raise Broken(f"it suggests something: {refused}")
        s.ask("GET", "/workflows/goood").gives(404).says("did you mean `good`")
        s.ask("GET", "/workflows/fif").gives(404).has(suggestion=None)
        flows.rename(world.folder / "elsewhere")
        said = s.ask("GET", "/workflows").gives(500).has(code="io").json.detail
        world.same(s.ask("GET", "/workflows/good").gives(500).json.detail, said)
        world.same(s.ask("POST", "/runs", {"workflow": "good"}).gives(500).has(code="io").json.detail, said)


CASES = [names_of_a_folder, kinds_that_run, kinds_that_come_later, folder_of_runs, variables_and_addresses]

if __name__ == "__main__":
    sys.exit(run_all(CASES, sys.argv[1]))
