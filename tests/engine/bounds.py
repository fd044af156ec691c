#!/usr/bin/env python3
"""What a run may reach: variables, files and addresses. Prints TAP.

    tests/engine/bounds.py PAWL
"""

import http.server
import os
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from world import Broken, DONE, FAILED, TIMEOUT, USAGE, WAITING, cases_of, run_all  # noqa: E402

MEMORY = ("--store", "memory:")


# ---- variables ----


def variables_of(world, *options, env=None):
    """The names that a command and a script see."""
    world.write("env.yaml", """
nodes:
  - {name: command, shell: env, output: c}
  - {name: script, python: 'import os; return sorted(os.environ)', output: s}
""")
    answer = world("run", "env.yaml", *MEMORY, *options, env=env).gives(DONE).json
    command = {line.split("=")[0] for line in answer["c"]["stdout"].splitlines()}
    return command, set(answer["s"])


def env_is_inherited_but_for_secrets(world):
    """a run inherits the environment of whoever starts it, but for PAWL_SECRET_... and the token for a server"""
    seen = variables_of(world, env={"ONE": "1", "PAWL_SECRET_KEY": "hunter2", "PAWL_SECRET_": "x", "PAWL_TOKEN": "pawl_x"})
    for names in seen:
        world.same("ONE" in names and "PATH" in names, True, "what is inherited is there")
        world.same([name for name in names if name.startswith(("PAWL_SECRET_", "PAWL_TOKEN"))], [], "secrets")


def env_names_what_is_inherited(world):
    """--env names what is inherited, besides what every program needs"""
    given = {"ONE": "1", "TWO": "2", "THREE": "3", "PAWL_SECRET_KEY": "x", "PAWL_TOKEN": "pawl_x", "TZ": "UTC"}
    for names in variables_of(world, "--env", "ONE,TWO", "--env", "PAWL_SECRET_KEY,PAWL_TOKEN", env=given):
        names -= {"PWD", "SHLVL", "_", "OLDPWD", "LC_CTYPE"}  # of the shell and of Python themselves
        world.same(names - {"HOME", "LANG", "TMPDIR"}, {"PATH", "TZ", "ONE", "TWO"}, "what is inherited")


def env_names_by_how_they_begin(world):
    """--env NAME* is all that begin so, and never a secret"""
    given = {"ONE_A": "1", "ONE_B": "2", "ONE": "3", "TWO_A": "4", "PAWL_SECRET_KEY": "x", "TZ": "UTC"}
    for options, expected in ((("ONE_*",), {"ONE_A", "ONE_B"}), (("ONE*,TWO_A",), {"ONE_A", "ONE_B", "ONE", "TWO_A"}),
                              (("PAWL_*",), set())):
        for names in variables_of(world, *(word for text in options for word in ("--env", text)), env=given):
            names = {name for name in names if name.startswith(("ONE", "TWO", "PAWL_SECRET"))}
            world.same(names, expected, f"what --env {options} lets through")


def env_holds_for_who_resumes_and_debugs(world):
    """--env is of the process that runs it: resume and debug take it, too"""
    world.write("wait.yaml", "nodes:\n  - {name: ask, approval: 'go on?'}\n  - {name: see, shell: env, output: e}\n")
    world("run", "wait.yaml", "--thread", "t", "-q").gives(WAITING)
    state = world("resume", "t", "--value", "1", "--env", "ONE", "--json", env={"ONE": "1", "TWO": "2"}).gives(DONE)
    world.same("ONE=1" in state.out and "TWO=2" not in state.out, True, "what the resumed run inherits")
    world.write("see.yaml", "nodes:\n  - {name: see, shell: env, output: e}\n")
    told = world("debug", "see.yaml", *MEMORY, "--env", "ONE", "-x", "-", stdin="next\nprint .e.stdout\n",
                 env={"ONE": "1", "TWO": "2"})
    world.same("ONE=1" in told.out and "TWO=2" not in told.out, True, "what the debugged run inherits")


def env_of_a_run_elsewhere(world):
    """who asks for bounds of a run that another process has is told whose hold"""
    world.write("slow.yaml", "nodes:\n  - {name: ask, approval: ok}\n  - {name: w, shell: 'touch begun; "
                "until [ -e go ]; do sleep 0.02; done'}\n")
    world("run", "slow.yaml", "--thread", "t", "-q").gives(WAITING)
    first = world.start("resume", "t", "--value", "1")
    world.wait_for("begun")
    told = world("debug", "t", "--net", "public", "-x", "-", stdin="detach\n")
    told.says("pawl debug: another process has the run")
    world.write("go", "")
    world.same(first.wait(TIMEOUT), DONE, "the exit code")


def env_takes_names(world):
    """--env with a value in it is refused, and so is a pattern that is none"""
    world.write("a.yaml", "nodes:\n  - {name: a, jq: .}\n")
    for text in ("A=1", "", "A,,B", ",", "*A", "A*B", "A**", "A[BC]", "A?", "A B", "A, B"):
        world("run", "a.yaml", *MEMORY, "--env", text).gives(USAGE).says("--env takes names", "NAME*")


# ---- files ----

PART = "nodes:\n  - {name: b, jq: '{part: true}'}\n"


def make_tree(world):
    world.write("out/part.yaml", PART)
    world.write("out/code.py", "from pawl import node\n@node\ndef s(state):\n    return {'ran': True}\n")
    world.write("in/part.yaml", PART)
    world.write("in/code.py", "from pawl import node\n@node\ndef s(state):\n    return {'ran': True}\n")
    os.symlink("../out/part.yaml", world.folder / "in/away.yaml")
    os.symlink(world.folder / "out/part.yaml", world.folder / "in/whole.yaml")
    os.symlink("part.yaml", world.folder / "in/near.yaml")
    os.symlink("../out/code.py", world.folder / "in/away.py")


def root_confines_parts(world):
    """with --root neither a path nor a link leads to a workflow outside"""
    make_tree(world)
    whole = world.folder / "out/part.yaml"
    for part in ("../out/part.yaml", "away.yaml", "whole.yaml", whole, "../in/../out/part.yaml"):
        world.write("in/main.yaml", f"nodes:\n  - {{name: a, workflow: {part}}}\n")
        world("run", "in/main.yaml", *MEMORY).gives(DONE)
        for words in (("run", *MEMORY), ("check",), ("graph",), ("debug", *MEMORY, "-x", "-")):
            answer = world(*words, "in/main.yaml", "--root", "in").says("outside of the folder in")
            world.same(answer.code in (FAILED, USAGE), True, "it is refused")
    for part in ("part.yaml", "near.yaml", "../in/part.yaml", world.folder / "in/part.yaml"):
        world.write("in/main.yaml", f"nodes:\n  - {{name: a, workflow: {part}}}\n")
        world("run", "in/main.yaml", *MEMORY, "--root", "in").gives(DONE)
        world("run", world.folder / "in/main.yaml", *MEMORY, "--root", world.folder / "in").gives(DONE)


def root_confines_tests_and_the_workflow_itself(world):
    """with --root the workflow, and the testFile of a test, are inside as well"""
    make_tree(world)
    world("run", "out/part.yaml", *MEMORY, "--root", "in").gives(USAGE).says("outside of the folder in")
    world("run", "in/away.yaml", *MEMORY, "--root", "in").gives(USAGE).says("outside of the folder in")
    world("run", "/dev/stdin", *MEMORY, "--root", "in", stdin=PART).gives(USAGE).says("outside")
    world("run", "-", *MEMORY, "--root", "in", stdin=PART).gives(DONE)
    world("run", "in/part.yaml", *MEMORY, "--root", "nowhere").gives(USAGE).says("--root", "nowhere")
    world.write("out/test.yaml", "tasks:\n  - {name: run_shell, config: {command: 'true'}}\n")
    world.write("in/test.yaml", "tasks:\n  - {name: run_external_tasks, config: {testFile: ../out/test.yaml}}\n")
    world("check", "in/test.yaml").gives(DONE)
    world("check", "in/test.yaml", "--root", "in").gives(FAILED).says("outside of the folder in")


def root_confines_scripts(world):
    """with --root the files of scripts are inside, also of a run that was started without"""
    make_tree(world)
    for name in ("../out/code.py", "away.py", world.folder / "out/code.py"):
        world.write("in/main.yaml", f"nodes:\n  - {{name: s, python: {{file: {name}}}}}\n")
        world("run", "in/main.yaml", *MEMORY).gives(DONE)
        world("run", "in/main.yaml", *MEMORY, "--root", "in").gives(USAGE).says("outside of the folder in")
        world("check", "in/main.yaml", "--root", "in").gives(FAILED).says("outside of the folder in")
        answer = world("graph", "in/main.yaml", "--root", "in", "--json").gives(FAILED)
        world.same(answer.json["error"]["problems"][0]["line"], 2)
    world.write("in/main.yaml", "nodes:\n  - {name: s, python: {file: code.py}}\n")
    world("run", "in/main.yaml", *MEMORY, "--root", "in").gives(DONE).says('"ran": true')
    world.write("in/ask.yaml", "nodes:\n  - {name: ask, approval: ok}\n  - {name: s, python: {file: ../out/code.py}}\n")
    world("run", "in/ask.yaml", "--thread", "t", "-q").gives(WAITING)
    world("resume", "t", "--value", "1", "--root", "in").gives(FAILED).says("outside of the folder in")
    world("resume", "t").gives(DONE)


def root_confines_what_is_read_again(world):
    """--reload and `run` of the debugger read inside; so do nodes that are put in"""
    make_tree(world)
    world.write("in/ask.yaml", "nodes:\n  - {name: ask, approval: ok}\n  - {name: b, workflow: part.yaml}\n")
    world("run", "in/ask.yaml", "--thread", "t", "-q").gives(WAITING)
    (world.folder / "in/part.yaml").unlink()
    os.symlink("../out/part.yaml", world.folder / "in/part.yaml")
    world("resume", "t", "--value", "1", "--reload", "--root", "in").gives(USAGE).says("outside")
    world.write("in/a.yaml", "nodes:\n  - {name: a, jq: .}\n")
    told = world("debug", "in/a.yaml", *MEMORY, "--root", "in", "-x", "-",
                 stdin="inject x: {workflow: ../out/part.yaml}\n")
    told.says("outside of the folder in")


def root_does_not_wait_for_a_pipe(world):
    """a FIFO where a stored workflow was read from is not waited for by who resumes"""
    world.write("ask.yaml", "nodes:\n  - {name: ask, approval: ok}\n")
    world("run", "ask.yaml", "--thread", "t", "-q").gives(WAITING)
    (world.folder / "ask.yaml").unlink()
    os.mkfifo(world.folder / "ask.yaml")
    world("resume", "t", "--value", "1").gives(DONE)


# ---- addresses ----


class Server:
    """Answers on loopback, and counts."""

    def __init__(self):
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked += 1
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(b'{"ok": true}')

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.asked = 0
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()

    def url(self, host="127.0.0.1"):
        return f"http://{host}:{self.http.server_address[1]}/"


def ask_yaml(url, config=""):
    return f"{config}nodes:\n  - {{name: ask, http: '{url}', output: a}}\n"


def expect_asked(world, server, asked, *words):
    before = server.asked
    answer = world("run", *words, "-q")
    if (answer.code == DONE) != asked or server.asked - before != asked:
        raise Broken(f"{words}: asked {server.asked - before} times, {answer}")
    if not asked:
        answer.says("is none that requests may go to here")


def net_is_any_unless_told(world):
    """--net says where requests go: anywhere, to public addresses, to hosts and ranges"""
    with Server() as server:
        for host in ("127.0.0.1", "127.1", "2130706433", "localhost", "0.0.0.0"):
            world.write("ask.yaml", ask_yaml(server.url(host)))
            expect_asked(world, server, True, "ask.yaml", *MEMORY)
            expect_asked(world, server, True, "ask.yaml", *MEMORY, "--net", "any")
            expect_asked(world, server, False, "ask.yaml", *MEMORY, "--net", "public")
            expect_asked(world, server, False, "ask.yaml", *MEMORY, "--net", "public,10.0.0.0/8")
            expect_asked(world, server, True, "ask.yaml", *MEMORY, "--net", "public,127.0.0.0/8,localhost,0.0.0.0")
        world("run", "ask.yaml", *MEMORY, "--net", "http://x").gives(USAGE).says("--net: `http://x` is none of")


def net_of_a_workflow_narrows(world):
    """config.net narrows what whoever runs it allows, and never widens it"""
    with Server() as server:
        for written in ("public", "[public, 10.0.0.0/8]", "'public, example.org'", "[]"):
            world.write("ask.yaml", ask_yaml(server.url(), f"config: {{net: {written}}}\n"))
            expect_asked(world, server, False, "ask.yaml", *MEMORY)
            expect_asked(world, server, False, "ask.yaml", *MEMORY, "--net", "127.0.0.1")
        for written in ("any", "127.0.0.1", "[public, 127.0.0.0/8]"):
            world.write("ask.yaml", ask_yaml(server.url(), f"config: {{net: {written}}}\n"))
            expect_asked(world, server, True, "ask.yaml", *MEMORY)
            expect_asked(world, server, False, "ask.yaml", *MEMORY, "--net", "public")
        world.write("ask.yaml", ask_yaml(server.url(), "config:\n  net: [public, 'a b']\n"))
        world("check", "ask.yaml").gives(FAILED).says("ask.yaml:2:18", "`a b` is none of")


def net_of_all_workflows_around_a_node(world):
    """a part of a workflow goes where it, and all around it, may go"""
    with Server() as server:
        url = server.url()
        world.write("inner.yaml", ask_yaml(url, "config: {net: any}\n"))
        world.write("middle.yaml", "config: {net: public}\nnodes:\n  - {name: m, workflow: inner.yaml}\n")
        world.write("outer.yaml", "nodes:\n  - {name: o, workflow: middle.yaml}\n")
        expect_asked(world, server, True, "inner.yaml", *MEMORY)
        expect_asked(world, server, False, "outer.yaml", *MEMORY)
        world.write("narrow.yaml", ask_yaml(url, "config: {net: public}\n"))
        world.write("wide.yaml", "nodes:\n  - {name: part, workflow: narrow.yaml}\n")
        expect_asked(world, server, False, "wide.yaml", *MEMORY)
        world.write("each.yaml", f"config: {{net: public}}\nstate: {{items: [1]}}\nnodes:\n"
                    f"  - {{name: each, map: .items, do: {{http: '{url}'}}, output: a}}\n")
        expect_asked(world, server, False, "each.yaml", *MEMORY)


def net_holds_for_nodes_that_are_put_in(world):
    """a node that a debugger puts in is bound as well"""
    with Server() as server:
        world.write("a.yaml", "config: {net: public}\nnodes:\n  - {name: a, jq: .}\n")
        told = world("debug", "a.yaml", *MEMORY, "-x", "-",
                     stdin=f"inject x: {{http: '{server.url()}'}}\nnext\nnext\n")
        told.says("is none that requests may go to here")
        world.same(server.asked, 0, "requests")


def net_holds_for_models_and_checks(world):
    """actions and checks are held to it, and do not try again"""
    with Server() as server:
        world.write("act.yaml", f"nodes:\n  - {{name: act, action: hello, endpoint: '{server.url()}', "
                    "model: m, format: chat, output: a}\n")
        world("run", "act.yaml", *MEMORY, "--net", "public").gives(WAITING).says("is none that requests may go to")
        world.write("check.yaml", f"tasks:\n  - {{name: check_http_json, config: {{url: '{server.url()}', "
                    "pollInterval: 10ms, assertions: [{name: ok, query: .ok, exists: true}]}, timeout: 20s}\n")
        world("run", "check.yaml", *MEMORY, "--net", "public").gives(FAILED).says("is none that requests may go to")
        world.same(server.asked, 0, "requests")


if __name__ == "__main__":
    here = sys.modules["__main__"]
    cases = cases_of(here, "env_") + cases_of(here, "root_") + cases_of(here, "net_")
    sys.exit(run_all(cases, sys.argv[1]))
