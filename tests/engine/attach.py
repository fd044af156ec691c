#!/usr/bin/env python3
"""A run is debugged from outside, through the socket beside its store. Prints TAP.

    tests/engine/attach.py PAWL
"""

import json
import os
import pty
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from debugger import BRANCHES, Debugger, says  # noqa: E402
from playbook import choose  # noqa: E402
from world import (Broken, BUSY, DONE, FAILED, PATIENCE, TIMEOUT, WAITING, cases_of,
                   run_all)  # noqa: E402

FLOW = """
name: slow
nodes:
  - {name: a, shell: 'touch began; while ! test -e go; do sleep 0.02; done'}
  - {name: b, jq: '{b: 1}'}
  - {name: c, jq: '{c: 1}'}
"""
TWO = """
name: two
nodes:
  - {name: start, jq: '{}'}
  - {name: a, shell: 'touch began; while ! test -e go; do sleep 0.02; done'}
  - {name: wait, shell: 'while ! test -e b-may; do sleep 0.02; done'}
  - {name: b, jq: '{b: 1}'}
  - {name: end, jq: '{}'}
edges:
  - {from: __start__, to: start}
  - {from: start, to: [a, wait], fan_in: end}
  - {from: a, to: end}
  - {from: wait, to: b}
  - {from: b, to: end}
  - {from: end, to: __end__}
"""
SOCKETS = ".pawl/pawl.db-work/host-*.sock"


def socket_of(world):
    """The one of the process that has the run; those of processes that are gone do not answer."""
    return max(world.folder.glob(SOCKETS), key=lambda path: path.stat().st_mtime)


class Client:
    """A window: a connection to the process that has the run, attached to its session."""

    def __init__(self, world, thread="t"):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(str(socket_of(world)))
        self.lines = self.socket.makefile("r")
        self.calls, self.events, self.thread, self.over = 0, [], thread, False
        self.hello = self.line()
        self.first = self.call("run_events", attach=True)

    def line(self):
        """The next one; None at the end, of the session or of the process."""
        if self.events:  # that came before an answer
            return self.events.pop(0)
        text = "" if self.over else self.lines.readline()
        line = json.loads(text) if text else None
        if line is not None and line.pop("subscription", None) and line.get("over"):
            self.over = True
            return None
        return line

    def say(self, text):
        """The answer; events may come before it at any time, and so may the end of the session."""
        self.socket.sendall(text.encode() + b"\n")
        while text := self.lines.readline():
            line = json.loads(text)
            if "event" not in line and "over" not in line:
                return line
            line.pop("subscription")
            if "over" in line:
                self.over = True
            else:
                self.events.append(line)
        raise Broken("what was said was not answered")

    def call(self, operation, **args):
        self.calls += 1
        args = dict(args, thread=self.thread)
        answer = self.say(json.dumps({"request_id": self.calls, "call": operation, "args": args}))
        if answer.get("request_id") != self.calls:
            raise Broken(f"{operation} has the answer {answer}")
        return answer

    def until(self, event):
        while (line := self.line()) is not None:
            if line.get("event") == event:
                return line
        raise Broken(f"{event} never came")

    def rest(self):
        return list(iter(self.line, None))

    def leave(self):
        self.lines.close()
        self.socket.close()


class Prompt:
    """`pawl debug` as people see it, through pipes: all that it says is in one text."""

    def __init__(self, world, *words):
        self.text, self.seen, self.news, self.over = "", 0, threading.Condition(), False
        self.start([world.pawl, *words], world.folder)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def start(self, words, folder):
        self.process = subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.reads, self.writes = self.process.stdout.fileno(), self.process.stdin.fileno()

    def _read(self):
        while piece := self._piece():
            with self.news:
                self.text += piece.decode()
                self.news.notify_all()
        with self.news:
            self.over = True
            self.news.notify_all()

    def _piece(self):
        try:
            return os.read(self.reads, 65536)
        except OSError:  # a terminal that nobody has any more
            return b""

    def until(self, *parts):
        """Until it has said these, one after the other, after what was waited for before."""
        with self.news:
            for part in parts:
                self.news.wait_for(lambda: self.over or part in self.text[self.seen:], PATIENCE)
                at = self.text.find(part, self.seen)
                if at < 0:
                    raise Broken(f"it does not say `{part}` after character {self.seen}:\n{self.text}")
                self.seen = at + len(part)

    def type(self, text):
        os.write(self.writes, text.encode())

    def say(self, *lines):
        self.type("".join(line + "\n" for line in lines))

    def end_input(self):
        self.process.stdin.close()

    def leave(self):
        """The end of the input; the exit code."""
        self.end_input()
        code = self.process.wait(timeout=PATIENCE)
        self.thread.join(timeout=PATIENCE)
        if code < 0 or "Sanitizer" in self.text or "runtime error" in self.text:
            raise Broken(f"the program broke, exit code {code}:\n{self.text}")
        return code


class Terminal(Prompt):
    """The same at a terminal."""

    def start(self, words, folder):
        self.reads, end = pty.openpty()
        self.writes = self.reads
        environ = {**os.environ, "TERM": "xterm", "HOME": str(folder), "NO_COLOR": "1"}
        self.process = subprocess.Popen(words, cwd=folder, stdin=end, stdout=end, stderr=end,
                                        env=environ, start_new_session=True)
        os.close(end)

    def end_input(self):
        pass


def begin(world, *words):
    world.write("slow.yaml", FLOW)
    process = world.start("run", "slow.yaml", "--thread", "t", *words)
    world.wait_for("began")
    return process


def end(world, process, code):
    """What it said on standard error."""
    _, said = process.communicate(timeout=TIMEOUT)
    world.same(process.returncode, code, f"the exit code ({said})")
    if list(world.folder.glob(SOCKETS)):
        raise Broken("the socket is still there")
    return said


def go_on(world):
    world.write("go", "")


def paused_at_c(world):
    process = begin(world, "--break", "c")
    client = Client(world)
    go_on(world)
    world.same(client.until("paused")["node"], "c")
    return process, client


def attach_and_continue(world):
    """a client sees a breakpoint hit and lets the run go on"""
    process, client = paused_at_c(world)
    world.same("subscription" in client.first["answer"], True)
    world.same(client.call("continue")["answer"], {"resumed": [1]})
    world.same(client.until("settled")["status"], "completed")
    world.same(client.rest(), [])
    if "Paused before c" not in end(world, process, DONE):
        raise Broken("the pause was not said")


def attach_without_being_asked_for(world):
    """any run can be attached to and paused"""
    process = begin(world)
    client = Client(world)
    client.call("breakpoint_set", spec="c")
    go_on(world)
    world.same(client.until("paused")["node"], "c")
    client.call("continue")
    client.rest()
    end(world, process, DONE)


def attach_for_its_user_alone(world):
    """the socket is for its user"""
    process = begin(world)
    world.same(stat.S_IMODE(socket_of(world).stat().st_mode), 0o600)
    go_on(world)
    end(world, process, DONE)


def attach_from_two_places(world):
    """two clients both hear a pause, whoever asked for it; an answer goes to the one that asked"""
    process = begin(world, "--break", "b")
    first, second = Client(world), Client(world)
    go_on(world)
    world.same([c.until("paused")["node"] for c in (first, second)], ["b", "b"])
    world.same(second.call("step", kind="over")["answer"], {"resumed": [1]})
    told = [first.until("paused"), second.until("paused")]
    world.same((told[0]["node"], told[0]), ("c", told[1]))
    world.same(first.call("select", frame=1)["request_id"], 2)
    world.same("error" in second.call("step", kind="over", frame=7), True, "an error")
    world.same(first.call("continue")["answer"], {"resumed": [1]})
    for client in (first, second):
        lines = client.rest()
        world.same([line for line in lines if "request_id" in line], [], "answers of others")
        world.same(lines[-1]["status"], "completed")
    end(world, process, DONE)


def attach_second_and_be_told(world):
    """who comes second is told of the paused frames, and the first is not told again"""
    process, first = paused_at_c(world)
    first.until("stopped")
    second = Client(world)
    told = second.until("paused")
    world.same((told["node"], told["reattached"], "to" in told), ("c", True, False))
    world.same(second.until("stopped")["paused"], [1])
    first.call("session")
    world.same(first.events, [], "what the first was told")
    first.call("continue")
    for client in (first, second):
        client.rest()
    if end(world, process, DONE).count("Paused before c") != 1:
        raise Broken("the pause was said again")


def attach_and_leave_another(world):
    """a client that goes leaves the other one, and the run is held for it"""
    process, first = paused_at_c(world)
    second = Client(world)
    second.until("stopped")
    first.leave()
    world.same(second.call("step", kind="over")["answer"], {"resumed": [1]})
    world.same(second.until("settled")["status"], "completed")
    end(world, process, DONE)


def attach_too_often(world):
    """who comes when there is no room is told so, and costs the others nothing"""
    process, first = paused_at_c(world)
    others = [Client(world) for _ in range(15)]
    extra = Client(world)
    says(extra.first["error"]["message"], "16 debuggers are attached")
    world.same(extra.first["error"]["code"], "busy")
    others[0].leave()
    world.until(lambda: "answer" in Client(world).first, "there is room again")
    first.call("continue")
    first.rest()
    end(world, process, DONE)


def attach_and_detach_for_all(world):
    """detaching ends the session for all who are attached, and the run goes on"""
    process, first = paused_at_c(world)
    second = Client(world)
    second.until("stopped")
    world.same(second.call("detach")["answer"], {})
    world.same(second.rest(), [{"event": "session", "status": "detached"}])
    world.same(first.rest()[-1], {"event": "session", "status": "detached"})
    end(world, process, DONE)


def attach_and_leave(world):
    """a client that goes leaves the run paused; without it the run goes on"""
    process, client = paused_at_c(world)
    client.leave()
    said = end(world, process, WAITING)
    if "pawl debug t" not in said or "pawl resume t" not in said:
        raise Broken(f"it does not say how to go on: {said}")
    world("status", "t").says("paused before c")
    world("resume", "t").gives(DONE)


def attach_to_a_paused_frame(world):
    """a client is told of frames that were paused before it came, while others run"""
    world.write("two.yaml", TWO)
    process = world.start("run", "two.yaml", "--thread", "t")
    world.wait_for("began")
    first = Client(world)
    first.call("configure", pause_all_on_breakpoint=False)
    first.call("breakpoint_set", spec="b")
    world.write("b-may", "")
    told = first.until("paused")
    world.same((told["node"], "reattached" in told), ("b", False))
    first.leave()
    second = Client(world)
    again = second.until("paused")
    world.same(again, {**told, "checkpoint": again["checkpoint"], "reattached": True})
    second.call("continue", frame="all")
    go_on(world)
    second.rest()
    if end(world, process, DONE).count("Paused before b") != 1:
        raise Broken("the pause was said again")


def attach_and_detach(world):
    """detaching ends the session, and the breakpoints with it"""
    process = begin(world, "--break", "c")
    client = Client(world)
    world.same(client.call("detach")["answer"], {})
    world.same(client.rest()[-1], {"event": "session", "status": "detached"})
    go_on(world)
    end(world, process, DONE)


def attach_and_abort(world):
    """aborting cancels a run that is paused"""
    process, client = paused_at_c(world)
    client.call("abort")
    world.same(client.until("settled")["status"], "cancelled")
    end(world, process, FAILED)


def attach_until_it_expires(world):
    """a client that does nothing is left when its time is up; the frames stay paused"""
    process, client = paused_at_c(world)
    client.call("configure", idle_limit=0.5)
    world.same(client.rest()[-1], {"event": "session", "status": "expired"})
    end(world, process, WAITING)


def patient_client(world):
    """Of a process that does not listen yet."""
    def connect():
        try:
            return Client(world)
        except (ConnectionRefusedError, FileNotFoundError):
            return None
    return world.until(connect, "somebody listens")


def attach_after_a_crash(world):
    """the socket of a process that was killed goes when the next one listens"""
    process = begin(world)
    process.kill()
    process.communicate(timeout=TIMEOUT)
    left = socket_of(world)
    process = world.start("resume", "t")
    client = patient_client(world)
    world.same(client.hello["hello"]["pid"], process.pid)
    world.same((left.exists(), socket_of(world).name), (False, f"host-{process.pid}.sock"))
    go_on(world)
    client.rest()
    end(world, process, DONE)


def attach_with_a_script(world):
    """commands that the process of the run did not live to see are counted, and not left out silently"""
    commands = 5000
    for thread, flow, code in (("t", FLOW, DONE), ("u", FLOW.replace("{c: 1}", "error"), FAILED)):
        world.write("slow.yaml", flow)
        world.write("script", "break c\nwait\ncontinue\n" + "print .b\n\n# nothing\n" * commands)
        process = world.start("run", "slow.yaml", "--thread", thread)
        world.wait_for("began")
        threading.Timer(world.seconds(0.2), go_on, [world]).start()
        answer = world("debug", thread, "-x", "script").gives(code or WAITING)
        left = commands - answer.out.count("(pawl) print")
        answer.says("The process that had the run has gone", f"`pawl debug {thread}` comes back to it.",
                    f"{left} commands were not done: the session was over before them.")
        end(world, process, code)
        (world.folder / "began").unlink()
        (world.folder / "go").unlink()


def attach_left_over_is_pruned(world):
    """the socket that a killed process left goes when the next one listens; files that are none stay"""
    process = begin(world)
    process.kill()
    process.wait()
    left = socket_of(world)
    other = left.with_name("host-4999999.sock")
    other.touch()
    go_on(world)
    world("resume", "t").gives(DONE)
    world.same((left.exists(), other.exists()), (False, True))


def attach_and_stop(world):
    """Ctrl-C stops a run that is being debugged"""
    process, client = paused_at_c(world)
    process.send_signal(signal.SIGINT)
    world.same(client.until("settled")["status"], "stopped")
    end(world, process, WAITING)
    world("status", "t").gives(DONE).says("paused\n", "paused before c: breakpoint 1", "pawl debug t\n")


REPLAYED = """
name: slow
nodes:
  - {name: a, ALIVE}
  - {name: b, shell: 'echo b >> ran; echo 1', output: b}
  - {name: c, shell: 'echo c >> ran; echo 2', output: c}
  - {name: d, shell: 'echo d >> ran; echo 3', output: d}
"""


def replaying(world):
    """A run that takes what another gave, but for its first node, which is of another kind there."""
    world.write("slow.yaml", REPLAYED.replace("ALIVE", "jq: '{}'"))
    world("run", "slow.yaml", "--thread", "recorded", "-q").gives(DONE)
    (world.folder / "ran").unlink()
    waits = "shell: 'touch began; while ! test -e go; do sleep 0.02; done'"
    world.write("slow.yaml", REPLAYED.replace("ALIVE", waits))
    process = world.start("run", "slow.yaml", "--thread", "t", "--replay", "recorded")
    world.wait_for("began")
    return process


def attach_to_a_replay(world):
    """a run that takes recorded results takes them in front of a debugger too, and after it has left"""
    process = replaying(world)
    client = Client(world, "t")
    world.same("error" in client.call("breakpoint_set", node="b"), False, "an error")
    world.write("go", "")
    world.same(client.until("paused")["node"], "b")
    client.call("step", kind="over")
    world.same(client.until("paused")["node"], "c")
    client.say('{"request_id": 1, "call": "detach", "args": {"thread": "t"}}\n'
               '{"request_id": 2, "call": "frames", "args": {"thread": "t"}}')
    client.rest()
    client.leave()
    world.same("3 results were taken from recorded, 1 done anew." in end(world, process, DONE), True)
    world.same(world.read("ran"), "", "what was done again")
    world.same(world("show", "t", "--json").json["d"]["stdout"], "3")


def attach_with_rubbish(world):
    """what is no call is answered, and costs nothing else"""
    process = begin(world)
    client = Client(world)
    world.same(client.say("{oh")["error"]["code"], "syntax")
    world.same(client.say("[1]")["error"]["code"], "usage")
    world.same(client.say('{"request_id": 7, "call": "nothing"}')["request_id"], 7)
    world.same("answer" in client.call("session"), True)
    client.leave()
    go_on(world)
    end(world, process, DONE)


# ---- a run that `pawl debug` has ----

LINE = """
name: line
nodes:
  - {name: a, jq: '{a: 1}'}
  - {name: b, jq: '{b: 1}'}
  - {name: c, jq: '{c: 1}'}
  - {name: d, jq: '{d: 1}'}
"""


def at_a(world):
    """`pawl debug`, for a program, of a run that stands at its beginning."""
    world.write("line.yaml", LINE)
    owner = Debugger(world, "line.yaml", "--thread", "t")
    owner.begin()
    return owner


def share_and_step(world):
    """a run that `pawl debug` has is joined from another process: what one does both see"""
    with at_a(world) as owner:
        with Debugger(world, "t") as other:
            world.same(other.wait("paused", node="a")["reattached"], True)
            other.wait("stopped", paused=[1])
            world.same(other.go("step", kind="over").nodes, ["b"])
            owner.wait("paused", node="b")
            world.same(owner.go("step", kind="over").nodes, ["c"])
            other.wait("paused", node="c")
            other.set("d")
            world.same([b["node"] for b in owner.call("breakpoints")["breakpoints"]], ["d"])
            world.same(owner.go("continue").nodes, ["d"])
            other.wait("paused", node="d", reason="breakpoint")
            world.same(other.leave(), WAITING)
        owner.has_none("paused", reattached=True)
        world.same(owner.value("[.a, .b, .c]"), [1, 1, 1])
        world.same(owner.go("continue").status, "completed")
        world.same(owner.leave(), DONE)


def share_a_run_that_was_opened(world):
    """a run that `pawl debug THREAD` has opened is shared as one that it has started"""
    at_a(world).leave()
    with Debugger(world, "t") as owner:
        owner.wait("paused", node="a", reattached=True)
        with Debugger(world, "t") as other:
            other.wait("paused", node="a", reattached=True)
            other.wait("stopped", paused=[1])
            world.same(other.go("step", kind="over").nodes, ["b"])
            owner.wait("paused", node="b")
            world.same(other.call("session")["paused"], 1)


def share_after_the_end(world):
    """a run that has ended is brought back by one, and the other sees it"""
    with at_a(world) as owner, Debugger(world, "t") as other:
        other.wait("stopped")
        world.same(other.go("continue").status, "completed")
        owner.wait("settled", status="completed")
        other.call("back")
        owner.wait("paused", node="d")
        world.same(owner.go("continue").status, "completed")
        other.wait("settled", status="completed")


def share_what_has_ended(world):
    """a run that has ended is joined where somebody still looks at it"""
    with at_a(world) as owner:
        world.same(owner.go("continue").status, "completed")
        with Debugger(world, "t") as other:
            world.same(other.call("session")["run_status"], "completed")
            other.call("back")
            owner.wait("paused", node="d")
            owner.go("continue")
            other.wait("settled", status="completed")
    with Debugger(world, "t") as again:  # by itself: nobody is there any more
        world.same(again.call("session")["run_status"], "completed")
        world.same(again.leave(), DONE)


def share_until_the_prompt_quits(world):
    """who is attached to a `pawl debug` that leaves is told so, and how to come back"""
    owner = at_a(world)
    other = Prompt(world, "debug", "t")
    other.until("paused before `a`")
    world.same(owner.leave(), WAITING)
    owner.close()
    other.until("has gone", "`pawl debug t` comes back to it.")
    world.same(other.leave(), WAITING)
    with Debugger(world, "t") as again:
        again.wait("paused", node="a", reattached=True)
        again.finish()


def share_and_kill_the_prompt(world):
    """the same when it is killed"""
    owner = at_a(world)
    other = Prompt(world, "debug", "t")
    other.until("paused before `a`")
    owner.process.kill()
    owner.close(check=False)
    other.until("has gone", "`pawl debug t` comes back to it.")
    world.same(other.leave(), WAITING)


def share_until_one_detaches(world):
    """who detaches elsewhere ends the session at the prompt too; the run goes on in its process"""
    world.write("line.yaml", LINE)
    owner = Prompt(world, "debug", "line.yaml", "--thread", "t")
    owner.until("paused before `a`")
    with Debugger(world, "t") as other, Debugger(world, "t") as third:
        third.wait("stopped")
        other.call("detach")
        world.same((other.leave(), third.leave()), (WAITING, WAITING))
        third.wait("session", status="detached")
    owner.until("Somebody detached the session elsewhere.", '"d": 1')
    world.same(owner.leave(), DONE)


def share_after_letting_go(world):
    """a run that `pawl debug` was told to let go can be attached to as that of `pawl run`"""
    world.write("slow.yaml", FLOW)
    owner = Prompt(world, "debug", "slow.yaml", "--thread", "t")
    owner.until("paused before `a`")
    owner.say("detach")
    world.wait_for("began")
    client = Client(world)
    client.call("breakpoint_set", spec="c")
    go_on(world)
    world.same(client.until("paused")["node"], "c")
    owner.until("Paused before c: breakpoint 1")
    client.leave()
    owner.until("pawl debug t", "pawl resume t")
    world.same(owner.leave(), WAITING)
    world("resume", "t", "-q").gives(DONE)


def share_where_it_ended(world):
    """who goes to where the run had ended takes those along who wait for it to stop"""
    world.write("slow.yaml", FLOW)
    go_on(world)
    with Debugger(world, "slow.yaml", "--thread", "t") as owner:
        owner.begin()
        end = owner.go("continue").of("settled")[0]["checkpoint"]
        (world.folder / "go").unlink()
        (world.folder / "began").unlink()
        owner.go("goto", checkpoint=2)
        with Debugger(world, "t") as other:
            other.begin()
            owner.send("continue")
            world.wait_for("began")
            world.same(other.go("goto", checkpoint=end).status, "completed")
            owner.wait("settled", status="completed")
            world.same(owner.call("session")["status"], "ended")
            world.same(other.leave(), DONE)
        world.same(owner.leave(), DONE)


def share_and_run_again(world):
    """`run` leaves those who are attached to the old run, and the new one can be attached to"""
    with at_a(world) as owner:
        with Debugger(world, "t") as other:
            other.wait("stopped")
            owner.go("continue")
            other.wait("settled", status="completed")
            owner.send("run")
            owner.wait("paused", node="a", reason="initial")
            world.same(other.leave(), DONE)
        thread = owner.call("session")["thread"]
        with Debugger(world, thread) as other:
            other.wait("paused", node="a", reattached=True)
            other.wait("stopped", paused=[1])
            world.same(other.go("step", kind="over").nodes, ["b"])
            owner.wait("paused", node="b")


def share_a_failed_run_that_is_tried_again(world):
    """a run that had failed and was tried again from elsewhere is not begun anew while it runs"""
    world.write("once.yaml", "nodes:\n  - {name: a, shell: 'test -e mended || exit 1; touch began; "
                "while ! test -e go; do sleep 0.02; done'}\n")
    with Debugger(world, "once.yaml", "--thread", "t") as owner:
        owner.begin()
        world.same(owner.go("continue").status, "failed")
        world.write("mended", "")
        with Debugger(world, "t") as other:
            world.same(other.call("session")["run_status"], "failed")
            other.call("retry")
            world.wait_for("began")
            says(owner.ask_line("run")["error"], "The run has not ended yet")
            go_on(world)
            owner.wait("settled", status="completed")
            other.wait("settled", status="completed")
            world.same(other.leave(), DONE)
        world.same(owner.leave(), DONE)


def share_nothing_in_memory(world):
    """a run in memory, and one from an export, listen nowhere"""
    with at_a(world) as owner:
        document = world.write("export.json", json.dumps(owner.call("export")))
        owner.finish()
    with Debugger(world, "line.yaml", store="memory:") as one, \
            Debugger(world, "--open", document) as two:
        one.begin()
        two.call("session")
        world.same(list(world.folder.rglob("*.sock")), [])


def share_in_front_of_people(world):
    """what another window does is shown at the prompt, and a command that waits is over then"""
    world.write("slow.yaml", FLOW)
    owner = Prompt(world, "debug", "slow.yaml", "--thread", "t")
    owner.until("paused before `a`")
    with Debugger(world, "t") as other:
        other.wait("stopped")
        owner.say("continue")
        world.wait_for("began")
        other.go("pause", frame="all")
        owner.until("Frame 1 paused during `a`")
        owner.say("print 6 * 7")
        owner.until("42")
        go_on(world)
        other.go("step", kind="over")
        owner.until("Frame 1 paused before `b`", "    5    - {name: b")
    owner.say("print .b, 66 + 11", "next")
    owner.until("77", "Frame 1 paused before `c`")
    world.same(owner.leave(), WAITING)


def share_the_selected_frame(world):
    """a window is told that another one selects a frame, and not what it chose itself"""
    world.write("branches.yaml", BRANCHES)
    owner = Prompt(world, "debug", "branches.yaml", "--thread", "t")
    owner.until("paused before `begin`")
    owner.say("step")
    owner.until("Frame 3 (parallel[1]) paused")
    with Debugger(world, "t") as other:
        other.wait("stopped")
        owner.say("frame 3", "print 6 * 7")
        owner.until("Frame 3 (parallel[1]) paused", "42")
        other.call("frame", frame=2)
        owner.until("Frame 2 is selected now")
        world.same(owner.text.count("is selected now"), 1)
    world.same(owner.leave(), WAITING)


def share_a_terminal(world):
    """a line that is being typed stays as it is when another window does something"""
    world.write("line.yaml", LINE)
    terminal = Terminal(world, "debug", "line.yaml", "--thread", "t")
    terminal.until("paused before `a`", "(pawl) ")
    terminal.type("print .a + 4")
    terminal.until("print .a + 4")
    with Debugger(world, "t") as other:
        other.wait("stopped")
        other.go("step", kind="over")
        terminal.until("paused before `b`", "(pawl) ", "print .a + 4")
    terminal.type("1\n")
    terminal.until("42")
    terminal.type("quit\n")
    terminal.until("The run stays as it is.")
    world.same(terminal.leave(), WAITING)


def share_with_many_at_once(world):
    """scripts that race in several windows all come to their ends"""
    world.write("line.yaml", LINE)
    world.write("moves", "next\nback\ncontinue\nback 2\nstep\nframes\npause\nskip\nback\n" * 3)
    owner = Prompt(world, "debug", "line.yaml", "--thread", "t", "--break", "c")
    owner.until("paused before `a`")
    others = [Prompt(world, "debug", "t", "-x", "moves") for _ in range(3)]
    owner.say(*world.read("moves").splitlines())
    for other in others:
        other.leave()
    owner.say("print 6 * 7")
    owner.until("\n42\n")
    owner.leave()


def attach_not_to_cancel(world):
    """a run of another process is cancelled, however long its cleanup takes, and says who has it meanwhile"""
    world.write("t.yaml", """
id: t
tasks: [{name: run_shell, id: w, config: {command: "touch began; sleep 60"}}]
cleanupTasks: [{name: run_shell, id: c, config: {command: "sleep 6; touch cleaned"}}]
""")
    first = world.start("run", "t.yaml", "--thread", "t")
    world.wait_for("began")
    busy = world("update", "t", "--set", "n=1", "--json").gives(BUSY).json["error"]
    world.same((busy["code"], busy["holder"]), ("busy", f"pid {first.pid}"))
    answer = world("cancel", "t", "--json").gives(DONE)
    world.same(answer.json["status"], "cancelled")
    world.same((world.folder / "cleaned").exists(), True, "whether its cleanup is done")
    first.wait(TIMEOUT)


def attach_not_to_answer(world):
    """a question of a run that another process has is answered with changes of the state, as any other"""
    world.write("w.yaml", """
nodes:
  - {name: s, jq: '{}'}
  - {name: a, approval: {prompt: 'A?', options: [ok]}, output: a}
  - {name: b, jq: '{seen: .k}'}
  - {name: c, shell: 'touch began; while ! test -e go; do sleep 0.02; done'}
  - {name: m, jq: '{}'}
edges: [{from: s, to: [a, c], fan_in: m}, {from: a, to: b}, {from: b, to: m}, {from: c, to: m}]
""")
    first = world.start("run", "w.yaml", "--thread", "t", "--json")
    world.wait_for("began")
    world.until(lambda: world("status", "t", "--json").json["interrupts"], "the question")
    other = world.start("resume", "t", "--decision", "ok", "--set", "k=7", "-q")
    world.until(lambda: any(r["status"] == "updated" for r in world("history", "t", "--json").json),
                "the change on record")
    world.write("go", "")
    world.same((other.wait(TIMEOUT), first.wait(TIMEOUT)), (DONE, DONE))
    state = world("show", "t", "--json").json
    world.same((state["k"], state["seen"]), (7, 7))


def attach_to_what_status_names(world):
    """status of a run that a debugger has paused names a way that works while that process has it"""
    world.write("w.yaml", "nodes: [{name: a, jq: '{a: 1}'}, {name: b, jq: '{b: 1}'}]\n")
    with Debugger(world, "w.yaml", "--thread", "t") as d:
        d.begin()
        world("status", "t").says("pawl debug t", "`detach`")
    world("status", "t").says("pawl resume t")


if __name__ == "__main__":
    here = sys.modules["__main__"]
    ALL = cases_of(here, "attach_") + cases_of(here, "share_")
    sys.exit(run_all(choose(ALL, sys.argv[2:]), sys.argv[1]))
