#!/usr/bin/env python3
"""A run is debugged from outside, through the socket beside its store. Prints TAP.

    tests/engine/attach.py PAWL
"""

import json
import signal
import socket
import stat
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from debugger import says  # noqa: E402
from world import (Broken, DONE, FAILED, PATIENCE, TIMEOUT, WAITING, cases_of,
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
SOCKET = ".pawl/pawl.db-work/debug-1.sock"


class Client:
    def __init__(self, world, path=SOCKET):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(str(world.folder / path))
        self.lines = self.socket.makefile("r")
        self.calls, self.events = 0, []
        self.first = self.line()

    def line(self):
        """The next one; None at the end."""
        text = self.lines.readline()
        return json.loads(text) if text else None

    def say(self, text):
        """The answer; events may come before it at any time."""
        self.socket.sendall(text.encode() + b"\n")
        while (line := self.line()) is not None:
            if "event" not in line:
                return line
            self.events.append(line)
        raise Broken(f"{text} was not answered")

    def call(self, operation, **args):
        self.calls += 1
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


def begin(world, *words):
    world.write("slow.yaml", FLOW)
    process = world.start("run", "slow.yaml", "--thread", "t", *words)
    world.wait_for("began")
    return process


def end(world, process, code):
    """What it said on standard error."""
    _, said = process.communicate(timeout=TIMEOUT)
    world.same(process.returncode, code, f"the exit code ({said})")
    if (world.folder / SOCKET).exists():
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
    world.same(client.first["hello"]["thread"], "t")
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
    world.same(stat.S_IMODE((world.folder / SOCKET).stat().st_mode), 0o600)
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
    world.same(first.call("select", frame=1)["request_id"], 1)
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
    world.same((extra.first["error"]["code"], extra.rest()), ("busy", []))
    others[0].leave()
    world.until(lambda: "hello" in Client(world).first, "there is room again")
    first.call("continue")
    first.rest()
    end(world, process, DONE)


def attach_and_detach_for_all(world):
    """detaching ends the session for all who are attached, and the run goes on"""
    process, first = paused_at_c(world)
    second = Client(world)
    second.until("stopped")
    world.same(second.call("detach")["answer"], {})
    world.same(second.rest(), [])
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
    world.same(client.rest(), [])
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
    """the socket of a process that was killed is replaced by the next"""
    process = begin(world)
    process.kill()
    process.communicate(timeout=TIMEOUT)
    if not (world.folder / SOCKET).exists():
        raise Broken("nothing was left behind, so this shows nothing")
    process = world.start("resume", "t")
    client = patient_client(world)
    world.same(client.first["hello"]["pid"], process.pid)
    go_on(world)
    client.rest()
    end(world, process, DONE)


def attach_left_over_is_pruned(world):
    """the socket that a killed process left goes with its run, and no other one"""
    process = begin(world)
    process.kill()
    process.wait()
    other = world.folder / SOCKET.replace("debug-1", "debug-2")
    other.touch()
    world("cancel", "t").gives(DONE)
    world("prune", "--runs", "--older-than", "30d").gives(DONE)
    if not (world.folder / SOCKET).exists():
        raise Broken("nothing was left behind, so this shows nothing")
    time.sleep(0.05)
    world("prune", "--runs", "--older-than", "1ms").gives(DONE)
    world.same((world("runs", "--json").json, (world.folder / SOCKET).exists(), other.exists()),
               ([], False, True))


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
    client = Client(world, ".pawl/pawl.db-work/debug-2.sock")
    world.same("error" in client.call("breakpoint_set", node="b"), False, "an error")
    world.write("go", "")
    world.same(client.until("paused")["node"], "b")
    client.call("step", kind="over")
    world.same(client.until("paused")["node"], "c")
    client.say('{"request_id": 1, "call": "detach"}\n{"request_id": 2, "call": "frames"}')
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


if __name__ == "__main__":
    sys.exit(run_all(cases_of(sys.modules["__main__"], "attach_"), sys.argv[1]))
