"""A debug session of the built program, through pipes: `pawl debug ... --json`, one JSON object a
line each way.

    with Debugger(world, "flow.yaml", store="memory:") as d:
        d.begin()                                   until it stands still for the first time
        d.call("breakpoint_set", node="b")          the answer; Broken when it is an error
        d.refuse("step", kind="sideways")           the sentence of the error; Broken without one
        stop = d.go("continue")                     until nothing goes on by itself any more
        stop.nodes, stop.paused, stop.status
        d.wait("log", node="b")                     one event that was not waited for before

Nothing is waited for longer than PATIENCE; what came until then is in the complaint.
"""

import itertools
import json
import os
import subprocess
import threading
import time

from playbook import write_test
from world import PATIENCE, Broken

# Two branches of two nodes; each of the second ones writes a key of its own.
BRANCHES = """\
name: branches
state: {log: {default: [], reduce: append}}
nodes:
  - {name: begin, jq: '{shared: 1}'}
  - {name: a, jq: '{log: ["a"]}'}
  - {name: a2, jq: '{log: ["a2"], va: 1}'}
  - {name: b, jq: '{log: ["b"]}'}
  - {name: b2, jq: '{log: ["b2"], vb: 1}'}
  - {name: end, jq: '{end: true}'}
  - {name: after, jq: '{after: true}'}
edges:
  - {from: __start__, to: begin}
  - {from: begin, to: [a, b], fan_in: end}
  - {from: a, to: a2}
  - {from: a2, to: end}
  - {from: b, to: b2}
  - {from: b2, to: end}
  - {from: end, to: after}
  - {from: after, to: __end__}
"""


class Stop:
    """What came of an order: events until all frames stood still or the run had ended."""

    def __init__(self, answer, events):
        self.answer, self.events = answer, events

    def of(self, name):
        return [event for event in self.events if event.get("event") == name]

    @property
    def paused(self):
        return self.of("paused")

    @property
    def nodes(self):
        """Nodes at which frames paused, in the order in which they were told."""
        return [event["node"] for event in self.paused]

    @property
    def places(self):
        """(frame's name, node), sorted: several frames stop in no order that is promised."""
        return sorted((event["frame_name"], event["node"]) for event in self.paused)

    @property
    def own(self):
        """Those that did not stop because another frame did."""
        return [event for event in self.paused if "because" not in event]

    @property
    def one(self):
        """The only one that paused for its own sake."""
        if len(self.own) != 1:
            raise Broken(f"one frame should have paused: {self}")
        return self.own[0]

    @property
    def status(self):
        """How the run settled; None when it has not."""
        settled = self.of("settled")
        return settled[-1]["status"] if settled else None

    def __str__(self):
        return "\n".join(json.dumps(event) for event in self.events)


class Debugger:
    def __init__(self, world, *words, store=None, env=None):
        self.world, self.lines, self.news = world, [], threading.Condition()
        self.read_to, self.taken, self.over = 0, set(), False
        self.numbers = itertools.count(1)
        words = ["debug", *map(str, words), "--json", *(["--store", store] if store else [])]
        environ = {k: v for k, v in os.environ.items() if not k.startswith("PAWL_")}
        environ.update(env or {})
        self.process = subprocess.Popen(
            [world.pawl, *words], cwd=world.folder, env=environ, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.said = []  # on standard error
        self.threads = [threading.Thread(target=self._read, daemon=True),
                        threading.Thread(target=self._read_errors, daemon=True)]
        for thread in self.threads:
            thread.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.close(check=kind is None)

    # ---- lines ----

    def _read(self):
        for line in self.process.stdout:
            with self.news:
                try:
                    self.lines.append(json.loads(line))
                except ValueError:
                    self.lines.append({"garbage": line})
                self.news.notify_all()
        with self.news:
            self.over = True
            self.news.notify_all()

    def _read_errors(self):
        self.said += list(self.process.stderr)

    def _await(self, find, what, patience=PATIENCE):
        """What find(lines) gives, once it is not None."""
        end = time.monotonic() + patience
        with self.news:
            while (found := find(self.lines)) is None:
                left = end - time.monotonic()
                if left <= 0 or self.over:
                    why = "the program has ended" if self.over else f"not within {patience} s"
                    raise Broken(f"{what}: {why}. What it said:\n{self.transcript()}")
                self.news.wait(left)
        return found

    def transcript(self):
        return "\n".join([json.dumps(line) for line in self.lines[-40:]] + self.said)

    def send(self, text):
        """A line as it is."""
        try:
            self.process.stdin.write(text + "\n")
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise Broken(f"nobody reads {text!r}:\n{self.transcript()}") from error

    # ---- calls ----

    def ask(self, operation, /, **args):
        """The line that answers a call, an error or not. A frame that is None is left out."""
        if args.get("frame", 0) is None:
            del args["frame"]
        return self.ask_line(json.dumps({"call": operation, "args": args, "wait": False,
                                         "request_id": next(self.numbers)}), operation)

    def ask_line(self, text, what=None):
        """The same for any line that is answered."""
        at = len(self.lines)

        def find(lines):
            for i in range(at, len(lines)):
                if "event" not in lines[i]:
                    return i
            return None

        self.send(text)
        self.read_to = self._await(find, f"an answer to {what or text}") + 1
        return self.lines[self.read_to - 1]

    def call(self, operation, /, **args):
        answer = self.ask(operation, **args)
        if answer.get("answer") != operation:
            raise Broken(f"{operation} {args} is answered with {answer}")
        return answer

    def refuse(self, operation, /, *parts, **args):
        """The sentence with which it is refused, which has these parts."""
        answer = self.ask(operation, **args)
        if "answer" in answer:  # of a session, with an `error` of its own
            raise Broken(f"{operation} {args} is not refused: {answer}")
        return says(answer["error"], *parts)

    # ---- events ----

    @property
    def events(self):
        return [line for line in self.lines if "event" in line]

    def wait(self, name, patience=PATIENCE, /, **fields):
        """The first event of that name, with these fields, that was not taken before; takes it."""
        def find(lines):
            for i, line in enumerate(lines):
                if i not in self.taken and line.get("event") == name \
                        and all(line.get(key) == value for key, value in fields.items()):
                    return i
            return None
        found = self._await(find, f"event {name} {fields or ''}", patience)
        self.taken.add(found)
        return self.lines[found]

    def _until_still(self, begin, answer, what):
        def find(lines):
            for i in range(begin, len(lines)):
                if is_still(lines[i]):
                    return i
            return None
        end = self._await(find, f"a stop after {what}") + 1
        self.taken.update(range(begin, end))
        return Stop(answer, self.lines[begin:end])

    def begin(self):
        """Until the run stands still for the first time."""
        return self._until_still(0, {}, "the start")

    def go(self, operation, /, **args):
        """Calls, and waits until all frames stand still or the run has ended."""
        answer = self.call(operation, **args)
        return self._until_still(self.read_to, answer, f"{operation} {args}")

    def still(self):
        """The same, after orders that were given with call()."""
        return self._until_still(self.read_to, {}, "that")

    def told(self, name, /, **fields):
        """All such events so far, taken or not."""
        return [event for event in self.events if event["event"] == name
                and all(event.get(key) == value for key, value in fields.items())]

    def has_none(self, name, /, **fields):
        """No such event has come that was not taken."""
        self.call("session")
        for i, line in enumerate(self.lines):
            if i not in self.taken and line.get("event") == name \
                    and all(line.get(key) == value for key, value in fields.items()):
                raise Broken(f"there should be no such event: {line}")

    # ---- short ways ----

    def set(self, spec=None, **fields):
        """A breakpoint, as it is listed."""
        if spec is not None:
            fields["spec"] = spec
        return self.call("breakpoint_set", **fields)["breakpoint"]

    def breakpoint(self, id_):
        for one in self.call("breakpoints")["breakpoints"]:
            if one["id"] == id_:
                return one
        raise Broken(f"there is no breakpoint {id_}")

    def frames(self):
        """By name."""
        return {frame["name"]: frame for frame in self.call("frames")["frames"]}

    def number(self, name):
        frames = self.frames()
        if name not in frames:
            raise Broken(f"no frame is called {name}: {sorted(frames)}")
        return frames[name]["frame"]

    def value(self, expression, frame=None):
        """The first result of an expression there."""
        return self.call("evaluate", expression=expression, frame=frame)["results"][0]

    def finish(self, status="completed"):
        """Goes on without breakpoints until the run has ended so."""
        self.call("breakpoint_delete", all=True)
        stop = self.go("continue", frame="all")
        if stop.status != status:
            raise Broken(f"the run should be {status} now: {stop}")
        return stop

    # ---- ending ----

    def leave(self, patience=PATIENCE):
        """The end of the input; the exit code."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            code = self.process.wait(timeout=patience)
        except subprocess.TimeoutExpired as error:
            self.process.kill()
            raise Broken(f"it does not end:\n{self.transcript()}") from error
        for thread in self.threads:
            thread.join(timeout=patience)
        return code

    def close(self, check=True):
        """Ends it, if it has not; a crash is always told."""
        code = self.process.poll()
        if code is None or self.threads[0].is_alive():
            if not check:
                self.process.kill()
            code = self.leave()
        self.process.stdout.close()
        self.process.stderr.close()
        text = "".join(self.said)
        if "Sanitizer" in text or "runtime error" in text or (check and code < 0):
            raise Broken(f"the program broke, exit code {code}:\n{self.transcript()}")


def debug(world, text, *words, store="memory:", name="flow.yaml"):
    """A session of a workflow that stands at its beginning; what it said until then is d.first."""
    world.write(name, text)
    d = Debugger(world, name, *words, store=store)
    d.first = d.begin()
    return d


def debug_tasks(world, *tasks, store="memory:", words=(), **fields):
    """The same of a test with these tasks."""
    write_test(world, list(tasks), **fields)
    d = Debugger(world, "test.yaml", *words, store=store)
    d.first = d.begin()
    return d


def is_still(line):
    """Whether it says that no frame goes on by itself; one that names none is from earlier."""
    stopped = line.get("event") == "stopped" and (line["paused"] or line["waiting"])
    return stopped or line.get("event") == "settled"


def says(sentence, *parts):
    """A finished sentence with these parts in it."""
    for part in parts:
        if part not in sentence:
            raise Broken(f"it does not say `{part}`: {sentence}")
    if not sentence or sentence[-1] not in ".?":
        raise Broken(f"this is no finished sentence: {sentence}")
    return sentence
