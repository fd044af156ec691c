#!/usr/bin/env python3
"""Kills pawl, or lets its disk fail, at the Nth write to the store, for every N.

    sweep.py --pawl PAWL [--every K] [--store file|sqlite]... [--dialect NAME]... [--jobs N]

The program needs fault points (-Dfaults=true). For each store and each dialect (a folder beside this
file) the workflow is run once undisturbed; then once for every Kth write that this took, with a fault
at that write, and again until it ends. What came of it must be the same each time: the state, the
history, what was printed, and how often each shell command ran. Prints TAP.

The folder `debug` has a script for `pawl debug -x` beside its workflow. There the process may die inside
any command of the script. What is then in the store must be the session as it was before that command or
as it would be after it (debugging.py has the rest).
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from debugging import Sessions  # noqa: E402
from tap import Tap  # noqa: E402
from world import Broken  # noqa: E402

THREAD = "t"
TIMEOUT = 120
EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_WAITING, EXIT_STORE = 0, 1, 2, 3, 5
ANSWER = ["--decision", "approve"]
DIALECTS = ["graph", "tasks", "pipeline", "edge_agent", "debug"]


class World:
    """A folder with the workflow in it, and the commands that people would type there."""

    def __init__(self, pawl, store, dialect):
        self.pawl = pawl
        self.dialect = dialect
        self.folder = tempfile.mkdtemp(prefix="pawl-sweep-")
        self.store = {"sqlite": "sqlite:db/pawl.db", "file": "file:checkpoints"}[store]
        for name in os.listdir(os.path.join(HERE, dialect)):
            shutil.copy(os.path.join(HERE, dialect, name), self.folder)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, *words, fault=None, text=""):
        env = dict(os.environ, PAWL_STORE=self.store)
        env.pop("PAWL_FAULT", None)
        if fault:
            env["PAWL_FAULT"] = fault
        return subprocess.run([self.pawl, *words], cwd=self.folder, env=env, timeout=TIMEOUT,
                              input=text, capture_output=True, text=True)

    def start(self, fault=None):
        return self.command("run", "main.yaml", "--thread", THREAD, "--json", fault=fault)

    def resume(self, *answer, fault=None):
        return self.command("resume", THREAD, *answer, "--json", fault=fault)

    def ran(self):
        path = os.path.join(self.folder, "ran")
        return sorted(open(path).read().split("\n")) if os.path.exists(path) else []

    def printed(self):
        """What each execution of a node printed to each stream: once, and whole."""
        answer = self.command("logs", THREAD, "--json")
        if answer.returncode != 0:
            raise Broken(f"logs failed: {answer.stderr}")
        streams = {}
        for piece in map(json.loads, answer.stdout.splitlines()):
            key = (piece["node"], piece["stream"], piece["execution"])
            text = streams.setdefault(key, "")
            if len(text) != piece["offset"]:
                raise Broken(f"{key} goes on at {piece['offset']} where it has {len(text)} bytes")
            streams[key] = text + piece["text"]
        return sorted((node, stream, text) for (node, stream, _), text in streams.items())

    def outcome(self):
        shown = self.command("show", THREAD, "--json")
        history = self.command("history", THREAD, "--json")
        check = self.command("store", "check")
        for answer in (shown, history, check):
            if answer.returncode != 0:
                raise Broken(f"{answer.args[1:]} failed: {answer.stderr}")
        state = json.loads(shown.stdout)
        state.pop("at", None)
        for step in state.get("steps", {}).values():
            step.pop("seconds", None)
        # In scopes that are shared the next record has what any task set, whosever it is.
        shared = self.dialect == "tasks"
        steps = sorted((row.get("node") or "", row["status"],
                        () if shared else tuple(sorted(row.get("changed", []))))
                       for row in json.loads(history.stdout))
        return {"state": state, "history": steps, "ran": self.ran(), "logs": self.printed()}


def killed(answer):
    return answer.returncode == -signal.SIGKILL


def until_it_waits(world, fault):
    """Starts the workflow and brings it to its approval, whatever happens to the first process."""
    answer = world.start(fault)
    if not killed(answer) and answer.returncode == EXIT_WAITING:
        return answer
    check_failure(answer)
    answer = world.resume() if has_checkpoint(world) else world.start()
    if answer.returncode == EXIT_USAGE and "waits for an answer" in answer.stderr:
        return answer
    if answer.returncode == EXIT_USAGE and "already" in answer.stderr:
        answer = world.resume()
    if answer.returncode != EXIT_WAITING:
        raise Broken(f"going on gave {answer.returncode}: {answer.stderr}{answer.stdout}")
    return answer


def has_checkpoint(world):
    answer = world.command("history", THREAD, "--json")
    return answer.returncode == 0 and json.loads(answer.stdout)


def in_one_go(world, fault):
    """Starts a workflow that asks nothing and brings it to its end."""
    answer = world.start(fault)
    if not killed(answer) and answer.returncode == EXIT_DONE:
        return
    check_failure(answer)
    answer = world.resume() if has_checkpoint(world) else world.start()
    if answer.returncode == EXIT_USAGE and "already" in answer.stderr:
        answer = world.resume()
    done = answer.returncode == EXIT_USAGE and "has completed" in answer.stderr
    if answer.returncode != EXIT_DONE and not done:
        raise Broken(f"going on gave {answer.returncode}: {answer.stderr}{answer.stdout}")


def until_it_ends(world, fault):
    answer = world.resume(*ANSWER, fault=fault)
    if not killed(answer) and answer.returncode == EXIT_DONE:
        return
    check_failure(answer)
    answer = world.resume()
    if answer.returncode == EXIT_USAGE and "waits for an answer" in answer.stderr:
        answer = world.resume(*ANSWER)
    done = answer.returncode == EXIT_USAGE and "has completed" in answer.stderr
    if answer.returncode != EXIT_DONE and not done:
        raise Broken(f"going on gave {answer.returncode}: {answer.stderr}{answer.stdout}")


def check_failure(answer):
    """A process that was not killed says what went wrong, in a sentence."""
    if killed(answer):
        return
    if answer.returncode not in (EXIT_FAILED, EXIT_USAGE, EXIT_STORE) or not answer.stderr.strip():
        raise Broken(f"exit code {answer.returncode}, stderr `{answer.stderr}`: no clear error")


def one(pawl, store, dialect, phase, fault, want):
    world = World(pawl, store, dialect)
    try:
        if dialect == "debug":
            want.check(world, fault)
            return
        if dialect == "graph":
            until_it_waits(world, fault if phase == "run" else None)
            until_it_ends(world, fault if phase == "resume" else None)
        else:
            in_one_go(world, fault)
        got = world.outcome()
        for key, value in want.items():
            if got[key] != value:
                raise Broken(f"{key} differs:\n  want {value}\n  got  {got[key]}")
    finally:
        world.close()


def undisturbed(pawl, store, dialect):
    """What should come of it, and how many writes each of the commands makes."""
    world = World(pawl, store, dialect)
    counts = {}
    if dialect == "debug":
        world.close()
        return Sessions.undisturbed(lambda: World(pawl, store, dialect))
    phases = [("run", world.start)]
    if dialect == "graph":
        phases.append(("resume", lambda fault: world.resume(*ANSWER, fault=fault)))
    try:
        for phase, command in phases:
            path = os.path.join(world.folder, "counts")
            answer = command(fault=f"count:{path}")
            if answer.returncode not in (EXIT_WAITING, EXIT_DONE):
                raise Broken(f"the undisturbed {phase} gave {answer.returncode}: {answer.stderr}")
            rows = dict(line.split() for line in open(path))
            counts[phase] = {name: int(n) for name, n in rows.items()}
        return world.outcome(), counts
    finally:
        world.close()


def cases(counts, every):
    for phase, places in counts.items():
        for place, actions in (("store.write", ("kill", "eio", "enospc", "short")),
                               ("store.sync", ("kill", "eio"))):
            last = places.get(place, 0)
            for offset, action in enumerate(actions):
                # Of a session that lives on after its disk has failed less can be said: fewer do.
                stride = every * 4 if phase == "debug" and action != "kill" else every
                for n in range(1 + offset % stride, last + 1, stride):
                    yield phase, f"{place}:{action}@{n}"
            if place == "store.write" and last > 2:
                yield phase, f"{place}:enospc@{last // 2}+"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pawl", required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--store", action="append")
    parser.add_argument("--dialect", action="append", choices=DIALECTS)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    args.pawl = os.path.abspath(args.pawl)
    tap = Tap()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for dialect, store in itertools.product(args.dialect or DIALECTS,
                                                args.store or ["file", "sqlite"]):
            want, counts = undisturbed(args.pawl, store, dialect)
            if not any(places.get("store.write") for places in counts.values()):
                print("Bail out! this build has no fault points")
                return 1
            todo = [(pool.submit(one, args.pawl, store, dialect, phase, fault, want), phase, fault)
                    for phase, fault in cases(counts, args.every)]
            for future, phase, fault in todo:
                wrong = None
                try:
                    future.result()
                except (Broken, subprocess.TimeoutExpired, ValueError) as error:
                    wrong = error
                tap.case(wrong is None, f"{dialect}, {store}, {phase}: {fault}", wrong)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
