"""The family `debug` of sweep.py: a script of `pawl debug -x` that dies inside one of its commands.

Undisturbed, each beginning of the script is run once, down to none of it at all. That gives, for each
number of commands: the session, as somebody sees it who comes back to it, and the end that the run comes
to when it then goes on without a debugger.

Of a process that was killed, its output says how many commands were answered; with the next one it was
busy. So the store must have either so many commands or one more. A command that lets the run go on has a
middle as well: breakpoints are then those of before or after, and every frame stands at a node that there
is. The run must come to the end that it comes to after the one number of commands or the other; that
includes what the nodes' commands did, and how often.
"""
import concurrent.futures
import json
import os
import signal

from world import Broken

PROMPT = "(pawl) "
GOING = {"continue", "next", "step", "finish", "skip", "retry", "back"}
EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_WAITING = 0, 1, 2, 3
ENDS = {"completed", "failed", "skipped"}
FRAMES = 4  # of the workflow
INJECTED = {"extra", "more"}


def script_of(world):
    with open(os.path.join(world.folder, "script")) as file:
        return file.read().splitlines()


def run_script(world, commands, fault=None):
    with open(os.path.join(world.folder, "part"), "w") as file:
        file.write("".join(command + "\n" for command in commands))
    return world.command("debug", "main.yaml", "--thread", "t", "-x", "part", fault=fault)


def ask(world, *calls):
    """The answers of a session that somebody comes back to, and leaves again."""
    lines = "".join(json.dumps({"call": name, "args": args}) + "\n" for name, args in calls)
    answer = world.command("debug", "t", "--json", text=lines)
    if answer.returncode not in (EXIT_WAITING, EXIT_DONE, EXIT_FAILED):
        raise Broken(f"coming back gave {answer.returncode}: {answer.stderr}{answer.stdout}")
    found = [row for row in map(json.loads, answer.stdout.splitlines()) if "event" not in row]
    if len(found) != len(calls):
        raise Broken(f"not every call was answered: {answer.stdout}{answer.stderr}")
    return found


def view_of(world):
    """Frames, breakpoints, what is pending and what was injected; without what depends on the time."""
    frames, breakpoints, nodes, injected, *changes = ask(
        world, ("frames", {}), ("breakpoints", {}), ("nodes", {}), ("injected", {}),
        *(("pending", {"frame": n + 1}) for n in range(FRAMES)))
    rows = [[frame.get(key) for key in ("name", "status", "node", "position", "pending", "injected")]
            for frame in frames["frames"]]
    return {"frames": sorted(rows, key=str),
            "pending": [row.get("pending", []) for row in changes],  # of a frame that is not paused: none
            "breakpoints": breakpoints["breakpoints"],
            "injected": [[row["id"], row["where"], row["name"]] for row in injected["injected"]],
            "nodes": {node["name"] for node in nodes["nodes"]}}


def end_of(world):
    """Lets it go on without a debugger; what came of it."""
    answer = world.command("resume", "t", "--json")
    over = answer.returncode == EXIT_USAGE and "has completed" in answer.stderr
    if answer.returncode not in (EXIT_DONE, EXIT_FAILED) and not over:
        raise Broken(f"going on gave {answer.returncode}: {answer.stderr}{answer.stdout}")
    outcome = world.outcome()
    return {"state": outcome["state"].get("state", outcome["state"]), "ran": outcome["ran"],
            "ends": [row[:2] for row in outcome["history"] if row[1] in ENDS]}


def answered(answer):
    """How many commands the process had said something of when it died; None: none was begun."""
    shown = answer.stdout.count("\n" + PROMPT)
    return shown - 1 if shown else None


class Sessions:
    """What should come of each beginning of the script."""

    def __init__(self, commands):
        self.commands, self.views, self.ends = commands, [], []

    @classmethod
    def undisturbed(cls, make_world):
        world = make_world()
        try:
            sessions = cls(script_of(world))
            counts, last = sessions.count(world), len(sessions.commands)
        finally:
            world.close()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            worlds = (make_world() for _ in range(last + 1))
            rows = list(pool.map(sessions.beginning, worlds, range(last + 1)))
        sessions.views, sessions.ends = zip(*rows)
        return sessions, {"debug": counts}

    def count(self, world):
        path = os.path.join(world.folder, "counts")
        answer = run_script(world, self.commands, f"count:{path}")
        if answer.returncode != EXIT_DONE:
            raise Broken(f"the undisturbed session gave {answer.returncode}: {answer.stdout}")
        with open(path) as file:
            return {name: int(n) for name, n in map(str.split, file)}

    def beginning(self, world, n):
        try:
            run_script(world, self.commands[:n])
            return view_of(world), end_of(world)
        finally:
            world.close()

    def check(self, world, fault):
        answer = run_script(world, self.commands, fault)
        if not has_run(world):
            answer = run_script(world, self.commands)
            if answer.returncode != EXIT_DONE:
                raise Broken(f"starting anew gave {answer.returncode}: {answer.stderr}{answer.stdout}")
        before, after = self.span(answer)
        self.check_view(view_of(world), before, after)
        got = end_of(world)
        if got not in self.ends[before:after + 1]:
            raise Broken(f"after {before} to {after} commands the end differs:\n"
                         f"  want {self.ends[before]}\n    or {self.ends[after]}\n  got  {got}")

    def span(self, answer):
        """The least and the most commands that may be on record."""
        last = len(self.commands)
        if answer.returncode == EXIT_DONE:
            return last, last
        done = answered(answer)
        if answer.returncode == -signal.SIGKILL:
            return (0, 0) if done is None else (done, min(done + 1, last))
        # It lives on after its disk has failed, and has an answer for every command that follows.
        if not answer.stderr.strip() and "rror" not in answer.stdout:
            raise Broken(f"exit code {answer.returncode} without a word: {answer.stdout}")
        return 0, last

    def check_view(self, view, before, after):
        for _, _, node, *_ in view["frames"]:
            if node is not None and node not in view["nodes"] | INJECTED:
                raise Broken(f"a frame stands at {node}, which is no node")
        if view in self.views[before:after + 1]:
            return
        ids = self.ids(view)
        for n in range(before, after + 1):
            going = n < len(self.commands) and self.commands[n].split()[0] in GOING
            if going and self.ids(self.views[n + 1]) <= ids <= self.ids(self.views[n]):
                return
        raise Broken(f"after {before} to {after} commands the session differs:\n"
                     f"  want {self.views[before]}\n    or {self.views[after]}\n  got  {view}")

    @staticmethod
    def ids(view):
        return {row["id"] for row in view["breakpoints"]}


def has_run(world):
    answer = world.command("history", "t", "--json")
    return answer.returncode == EXIT_DONE and bool(json.loads(answer.stdout))
