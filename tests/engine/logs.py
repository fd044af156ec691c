#!/usr/bin/env python3
"""What nodes print: kept with the run, shown later and elsewhere, bounded. Prints TAP.

    tests/engine/logs.py PAWL
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from world import Broken, DONE, FAILED, TIMEOUT, USAGE, WAITING, cases_of, run_all  # noqa: E402

STORES = ("sqlite:db/pawl.db", "file:files")


def pieces(world, *words):
    return world("logs", *words, "--json").gives(DONE).lines


def text_of(world, *words):
    return "".join(piece["text"] for piece in pieces(world, *words))


def log_every_kind(world):
    """what commands, scripts and Lua print is shown by node, stream and time, in both stores"""
    world.write("w.yaml", """
state: {n: 0}
nodes:
  - {name: sh, shell: 'echo out; echo bad >&2', output: sh}
  - {name: lua, lua: 'print("from lua")'}
  - {name: py, python: 'print("from python")'}
  - {name: js, javascript: 'console.log("from js")'}
  - {name: quiet, jq: '{n: 1}'}
  - {name: each, map: {over: '[1, 2]', as: n}, do: {shell: 'echo "each $N"', env: {N: $n}}, output: each}
""")
    for store in STORES:
        world("run", "w.yaml", "--thread", "t", "-q", "--store", store).gives(DONE)
        found = sorted((p["node"], p["stream"], p["text"]) for p in pieces(world, "t", "--store", store))
        world.same(found, [("each[]", "stdout", "each 1\n"), ("each[]", "stdout", "each 2\n"),
                           ("js", "stdout", "from js\n"), ("lua", "log", "from lua\n"),
                           ("py", "stdout", "from python\n"), ("sh", "stderr", "bad\n"),
                           ("sh", "stdout", "out\n")], store)
        world.same(world("logs", "t", "sh", "--stream", "stderr", "--store", store).out, "bad\n")
        world.same(world("logs", "t", "lua", "--store", store).out, "from lua\n")
        world("logs", "t", "--store", store).gives(DONE).says("py | from python\n", "sh | out\n")
        world.same(world("logs", "t", "--since", "1h", "--store", store).out,
                   world("logs", "t", "--store", store).out)
        first = pieces(world, "t", "js", "--store", store)[0]
        later = pieces(world, "t", "--since", first["at"], "--store", store)
        if any(p["node"] == "sh" for p in later) or later[0]["node"] != "js":
            raise Broken(f"since {first['at']} there is {later}")
        frames = {p["frame"] for p in pieces(world, "t", "each[]", "--store", store)}
        world.same(len(frames), 2, "frames of the map")
        world("store", "check", "--store", store).gives(DONE)


def log_tasks_and_steps(world):
    """tasks and steps of pipelines have logs, too; lines that set something are not in them"""
    world.write("tasks.yaml", """
name: t
tasks:
  - {name: run_shell, id: one, config: {command: 'echo hello; echo "::set-output x 1"'}}
  - {name: run_command, id: two, config: {command: [sh, -c, 'echo two >&2']}}
""")
    world.write("steps.yaml", """
name: p
steps:
  - {id: build, name: Build, type: script, config: {command: 'echo building'}}
""")
    world("run", "tasks.yaml", "--thread", "t", "-q").gives(DONE)
    world.same([(p["node"], p["stream"], p["text"]) for p in pieces(world, "t")],
               [("one", "stdout", "hello\n"), ("two", "stdout", "two\n")])
    world("run", "steps.yaml", "--thread", "p", "-q").gives(DONE)
    world.same(text_of(world, "p", "build"), "building\n")


def log_of_attempts(world):
    """each attempt at a node has its own"""
    world.write("w.yaml", """
nodes:
  - name: flaky
    shell: 'if [ -e tried ]; then echo ok; else touch tried; echo not yet; exit 1; fi'
    retry: {attempts: 3, delay: 1ms}
""")
    world("run", "w.yaml", "--thread", "t", "-q").gives(DONE)
    world.same([(p["attempt"], p["text"]) for p in pieces(world, "t")], [(1, "not yet\n"), (2, "ok\n")])
    world.same(len({p["execution"] for p in pieces(world, "t")}), 2, "executions")


def log_outlives_a_kill(world):
    """a command that goes on after a kill is found, and its output is there once"""
    for store in STORES:
        world.write("w.yaml", """
nodes:
  - name: long
    shell: |
      echo first; echo second >&2
      until [ -e go ]; do sleep 0.02; done
      echo third
""")
        run = world.start("run", "w.yaml", "--thread", "t", "--store", store)
        # durable while it is under way
        world.until(lambda: "second" in world("logs", "t", "--store", store).out, "output is kept")
        run.send_signal(signal.SIGKILL)
        run.communicate(timeout=TIMEOUT)
        world.same(sorted(p["text"] for p in pieces(world, "t", "--store", store)), ["first\n", "second\n"])
        world.write("go", "")
        world("resume", "t", "-q", "--store", store).gives(DONE)
        world.same(text_of(world, "t", "--stream", "stdout", "--store", store), "first\nthird\n")
        world.same(text_of(world, "t", "--stream", "stderr", "--store", store), "second\n")
        (world.folder / "go").unlink()


def log_followed(world):
    """-f shows what another process' run prints, as it prints it, and ends with the run"""
    for store in STORES:
        world.write("w.yaml", """
nodes:
  - {name: a, shell: 'echo one; until [ -e go ]; do sleep 0.02; done; echo two'}
  - {name: b, shell: 'echo three'}
""")
        run = world.start("run", "w.yaml", "--thread", "t", "--store", store)
        world.until(lambda: world("status", "t", "--store", store).code == DONE, "the run is there")
        follower = subprocess.Popen([world.pawl, "logs", "t", "-f", "--store", store], cwd=world.folder,
                                    stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        world.same(follower.stdout.readline(), "a | one\n")
        world.write("go", "")
        world.same(follower.stdout.read(), "a | two\nb | three\n")
        world.same(follower.wait(TIMEOUT), 0, "exit code")
        run.communicate(timeout=TIMEOUT)
        (world.folder / "go").unlink()


def log_cut_in_the_middle(world):
    """of much output the beginning and the end are kept, and what is missing is said"""
    world.write("w.yaml", """
nodes:
  - name: much
    shell: 'echo begin; head -c 40000000 /dev/zero | tr "\\0" "x"; echo; echo end'
    output: much
  - {name: lua, lua: 'for i = 1, 200 do print(("y"):rep(100000)) end', output: lua}
""")
    for store in STORES:
        world("run", "w.yaml", "--thread", "t", "-q", "--store", store).gives(DONE)
        for node in ("much", "lua"):
            text = text_of(world, "t", node, "--store", store)
            if not 14 << 20 <= len(text) <= 17 << 20:
                raise Broken(f"{len(text)} bytes of {node} are kept")
            if " bytes of " not in text or " are left out here ...\n" not in text:
                raise Broken(f"it is not said that the middle of {node} is gone")
        text = text_of(world, "t", "much", "--stream", "stdout", "--store", store)
        world.same((text[:6], text[-5:]), ("begin\n", "\nend\n"), "beginning and end")
        world.same(len(world("show", "t", "--json", "--store", store).json["much"]["stdout"]), 1 << 20)
        pieces = world("logs", "t", "much", "--json", "--store", store).gives(DONE).lines
        notes = [i for i, piece in enumerate(pieces) if piece["stream"] == "log"]
        world.same(len(notes), 1, "lines about what is missing")
        before, after = pieces[notes[0] - 1], pieces[notes[0] + 1]
        gap = after["offset"] - before["offset"] - len(before["text"])
        world.same(pieces[notes[0]]["text"], f"... {gap} bytes of stdout are left out here ...\n")
        world.same(pieces[-1]["offset"] + len(pieces[-1]["text"]), 40000011, "where the stream ends")


def log_since_a_second(world):
    """a time may be without its milliseconds"""
    world.write("w.yaml", "nodes: [{name: a, shell: echo one}]\n")
    world("run", "w.yaml", "--thread", "t", "-q").gives(DONE)
    world.same(world("logs", "t", "--since", "2026-01-01T00:00:00Z").gives(DONE).out, "a | one\n")
    for wrong in ("2026-01-01T00:00:00", "2026-01-01T00:00:00.1Z", "2026-01-01"):
        world("logs", "t", "--since", wrong).gives(USAGE)


def log_pages(world):
    """thousands of pieces come back whole and in order, forwards and from the end"""
    world.write("w.yaml", """
state: {n: 0}
nodes:
  - {name: count, while: .n < 3000, max_iterations: 5000, do: [{name: line, lua: 'print(state.n + 1) return {n = state.n + 1}'}]}
config: {recursion_limit: 100000}
""")
    for store in STORES:
        world("run", "w.yaml", "--thread", "t", "-q", "--store", store).gives(DONE)
        world.same(world("logs", "t", "line", "--store", store).out,
                   "".join(f"{n}\n" for n in range(1, 3001)))
        world.same(world("logs", "t", "-n", "3", "--store", store).out,
                   "line | 2998\nline | 2999\nline | 3000\n")


def log_goes_with_the_run(world):
    """pruning takes output of what it removes, and all of it with the run"""
    world.write("w.yaml", "nodes: [{name: a, shell: 'echo one; sleep 0.01'}, {name: b, shell: 'echo two; sleep 0.01'}, "
                          "{name: c, shell: echo three}]\n")
    for store in STORES:
        world("run", "w.yaml", "--thread", "t", "-q", "--store", store).gives(DONE)
        world("prune", "--keep-last", "1", "--store", store).gives(DONE)
        world.same(text_of(world, "t", "--store", store), "three\n")
        world("prune", "--older-than", "0s", "--runs", "--store", store).gives(DONE)
        world("logs", "t", "--store", store).gives(USAGE)
        if store.startswith("file"):
            left = sorted(os.listdir(world.folder / "files" / "runs"))
            world.same(left, [], "files of runs")


def log_of_failed_and_waiting_runs(world):
    """a run that failed, or waits for somebody, has its output on record when it settles"""
    world.write("w.yaml", """
nodes:
  - {name: a, shell: echo before}
  - {name: ask, approval: {prompt: Go?, options: [yes]}}
  - {name: b, shell: 'echo why >&2; exit 3'}
""")
    world("run", "w.yaml", "--thread", "t", "-q").gives(WAITING)
    world.same(text_of(world, "t"), "before\n")
    world("resume", "t", "--decision", "yes", "-q").gives(FAILED)
    world.same(world("logs", "t", "b").out, "why\n")


def syncs(world, name, store):
    """How often the store was synced while a workflow ran; None: this build does not count."""
    counts = world.folder / f"counts-{name}"
    world("run", f"{name}.yaml", "--thread", name, "-q", "--store", store,
          env={"PAWL_FAULT": f"count:{counts}"}).gives(DONE)
    rows = dict(line.split() for line in counts.read_text().splitlines()) if counts.exists() else {}
    return int(rows["store.sync"]) if rows else None


def log_costs_no_commit(world):
    """nodes that print are committed as often as nodes that do not"""
    for name, command in (("loud", "echo a line; echo another >&2"), ("quiet", "true")):
        nodes = "".join(f"  - {{name: n{i}, shell: '{command}'}}\n" for i in range(10))
        world.write(f"{name}.yaml", f"nodes:\n{nodes}")
    for store in STORES:
        for attempt in range(5):  # one that takes longer than 250 ms, on a busy machine, makes one more
            url = store.replace("pawl.db", f"pawl{attempt}.db").replace("files", f"files{attempt}")
            for name in ("loud", "quiet"):  # makes the store, and keeps their definitions there
                world("run", f"{name}.yaml", "--thread", f"first-{name}", "-q", "--store", url).gives(DONE)
            loud, quiet = syncs(world, "loud", url), syncs(world, "quiet", url)
            if loud is None or loud <= quiet:
                break
        else:
            raise Broken(f"{loud} syncs for nodes that print, {quiet} for others, {store}")


def log_takes_little(world):
    """100 MB that one node prints take neither memory nor disk"""
    world.write("w.yaml", "nodes: [{name: much, shell: 'yes what is printed | head -c 100000000'}]\n")
    sanitized = b"__asan_init" in Path(world.pawl).read_bytes()
    for store in STORES:
        process = subprocess.Popen([world.pawl, "run", "w.yaml", "--thread", "t", "-q", "--store", store],
                                   cwd=world.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        world.same(status, 0, "how it ended")
        kept = sum(f.stat().st_blocks * 512 for f in (world.folder / store.split(":")[1].split("/")[0]).rglob("*"))
        if kept > 40 << 20 or (usage.ru_maxrss > 128 << 10 and not sanitized):
            raise Broken(f"{kept >> 20} MB on disk, {usage.ru_maxrss >> 10} MB of memory, {store}")


def log_of_what_is_inside(world):
    """a node inside of a kind, a workflow or a map is named by its path; the name of the outer one means all inside"""
    world.write("sub.yaml", "nodes: [{name: make, shell: 'echo sub'}]\n")
    world.write("kinds/build.yaml", "kind: build\nnodes: [{name: make, shell: 'echo kind'}]\n")
    world.write("w.yaml", """
nodes:
  - {name: make, shell: 'echo top'}
  - {name: use, build: {}}
  - {name: use2, build: {}}
  - {name: part, workflow: ./sub.yaml}
  - {name: each, map: {over: '[1, 2]', as: n}, do: {shell: 'echo one of them'}}
""")
    for store in STORES:
        world("run", "w.yaml", "--thread", "t", "-q", "--kinds", "kinds", "--store", store).gives(DONE)
        world.same([p["node"] for p in pieces(world, "t", "--store", store)],
                   ["make", "use/make", "use2/make", "part/make", "each[]", "each[]"])
        world.same(text_of(world, "t", "make", "--store", store), "top\n", "the node of that path alone")
        world.same(text_of(world, "t", "use2/make", "--store", store), "kind\n")
        world.same(world("logs", "t", "use", "--store", store).out, "use/make | kind\n", "what is inside")
        world.same(text_of(world, "t", "each", "--store", store).count("one of them"), 2, "elements")
        world.same(len(pieces(world, "t", "each", "-n", "1", "--store", store)), 1, "the last line of them")
        world("logs", "t", "mak", "--store", store).gives(USAGE).says("has no node `mak`; did you mean `make`?")
        for inner in ("part/make", "each[]"):
            world("logs", "t", inner, "--stream", "stderr", "--store", store).gives(DONE).says("has printed nothing")


def log_in_the_debugger(world):
    """`logs` shows the last lines, of one node or of all"""
    world.write("w.yaml", "nodes: [{name: a, shell: 'echo one; echo two'}, {name: b, shell: echo three}, "
                          "{name: c, jq: .}]\n")
    answer = world("debug", "w.yaml", "--thread", "t", "-b", "c",
                   stdin="continue\nlogs\nlogs a 1\nlogs c\nlogs nosuch\nquit\n")
    answer.says("a | one\n", "b | three\n", "Nothing was printed.", "has no node `nosuch`.")
    world.same(answer.out.count("a | two\n"), 3, "live, and twice from the record")


if __name__ == "__main__":
    sys.exit(run_all(cases_of(sys.modules[__name__], "log_"), sys.argv[1]))
