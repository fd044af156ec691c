#!/usr/bin/env python3
"""Whoever follows runs is told every event once and in order, whatever becomes of the processes that have them.
Prints TAP.

    tests/engine/subscriptions.py PAWL [WORD...]

A hundred subscribers follow some runs through the sockets of their processes. Those are killed at arbitrary moments
and the runs resumed; the subscribers come back with the cursors of what they heard last. What they have heard in the
end is compared with the record, as another process tells it. PAWL_TEST_ALL: many more deaths.
"""

import json
import os
import random
import selectors
import signal
import socket
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from playbook import choose  # noqa: E402
from world import Broken, PATIENCE, cases_of, run_all  # noqa: E402

SUBSCRIBERS, RUNS = 100, 4
DEATHS = 60 if os.environ.get("PAWL_TEST_ALL") else 3  # of the process of each run
FLOW = """
config: {recursion_limit: 1000000}
state: {n: {default: 0}, seen: {default: [], reduce: append}}
nodes:
  - {name: tick, jq: '{n: (.n + 1)}'}
  - {name: left, jq: '{left: .n, seen: ["l\\(.n)"]}'}
  - {name: right, jq: '{right: .n}'}
  - {name: both, jq: '{sum: (.left + .right), seen: .seen[-5:] | map(.) | .[0:1]}'}
  - {name: each, map: {over: '[1, 2]', as: x}, do: {jq: '$x + .n'}, output: each}
  - {name: pace, shell: 'sleep 0.02; test -e stop && echo stop || true', output: pace}
  - {name: last, jq: '{last: .n}'}
  - {name: wait, shell: 'until test -e end; do sleep 0.05; done'}
edges:
  - {from: __start__, to: tick}
  - {from: tick, to: [left, right], fan_in: both}
  - {from: [left, right], to: both}
  - {from: both, to: each}
  - {from: each, to: pace}
  - {from: pace, to: last, when: '.pace.stdout | startswith("stop")'}
  - {from: pace, to: tick}
  - {from: last, to: wait}
  - {from: wait, to: __end__}
"""
KEEPER = "nodes: [{name: keep, shell: 'until test -e done; do sleep 0.05; done'}]\n"


def socket_of(world, pid):
    return world.folder / f".pawl/pawl.db-work/host-{pid}.sock"


class Subscriber:
    """Follows one run, or all; whoever asks for values may be told the state. `reads` False: never does."""

    def __init__(self, thread=None, reads=True, place=0, **args):
        self.args = dict(args, **({"thread": thread} if thread else {}))
        self.thread, self.reads, self.place = thread, reads, place
        self.events, self.rest, self.socket, self.over, self.refused = [], b"", None, False, None
        self.settled, self.said = set(), []

    def connect(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.rest, self.over, self.refused = b"", False, None
        call = {"request_id": 1, "call": "run_events", "args": dict(self.args)}
        call["args"]["from"] = self.place
        try:
            self.socket.settimeout(PATIENCE)
            self.socket.connect(str(path))
            self.socket.sendall(json.dumps(call).encode() + b"\n")
        except OSError:
            self.close()
        return self.socket is not None

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None

    def read(self):
        """What has come; at the end of the connection, or of the subscription, it is closed."""
        try:
            data = self.socket.recv(1 << 16)
        except OSError:
            data = b""
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in map(json.loads, lines):
            self.take(line)
        if not data or self.over or self.refused:
            self.close()

    def heard(self, node):
        return any(event.get("node") == node for event in self.events[-8:])

    def take(self, line):
        if "error" in line and "request_id" in line:
            self.refused = line["error"]
        elif line.get("over"):
            self.over = True
        elif line.get("event") == "settled":
            self.settled.add(line["thread"])
        elif line.get("event") == "dropped":
            self.place = line["cursor"]
            self.said.append(line)
        elif line.get("event") == "warning":
            self.said.append(line)
        elif "cursor" in line:
            line.pop("subscription")
            self.events.append(line)
            self.place = line["cursor"] if self.thread else self.place


class Host:
    """A process that has a run: ended by us, and begun again."""

    def __init__(self, world, thread):
        self.world, self.thread = world, thread
        self.process = world.start("run", "flow.yaml", "--thread", thread)

    def path(self):
        path = socket_of(self.world, self.process.pid)
        return path if self.process.poll() is None and path.exists() else None

    def die(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stderr.close()
        self.process = self.world.start("resume", self.thread)


class Following:
    """The subscribers, and the hosts that they follow: all turns of the wheel."""

    def __init__(self, world, hosts, subscribers):
        self.world, self.hosts, self.subscribers = world, hosts, subscribers
        self.selector = selectors.DefaultSelector()

    def turn(self):
        for s in self.subscribers:
            path = None if s.socket else self.hosts[s.thread].path()
            if path and s.connect(path) and s.reads:
                self.selector.register(s.socket, selectors.EVENT_READ, s)
        for key, _ in self.selector.select(0.02):
            fd = key.fileobj.fileno()
            key.data.read()
            if key.data.socket is None:
                self.selector.unregister(fd)

    def until(self, holds, what):
        end = time.monotonic() + 2 * PATIENCE
        while not holds():
            if time.monotonic() > end:
                raise Broken(f"{what}: not in time\n{self.scene()}")
            self.turn()

    def scene(self):
        """How the processes and the subscribers are, for whoever looks into a failure."""
        lines = []
        for thread, host in self.hosts.items():
            code = host.process.poll()
            lines.append(f"{thread}: " + ("runs" if code is None else
                                          f"ended with {code}: {host.process.stderr.read()}"))
        for i, s in enumerate(self.subscribers):
            if s.reads and not s.heard("last"):
                last = json.dumps(s.events[-1:])[:200]
                lines.append(f"subscriber {i} of {s.thread}, {s.args}, connected {s.socket is not None}, "
                             f"refused {s.refused}, at {s.place}: {last}, said {s.said[-2:]}")
        return "\n".join(lines)


def whole_record(world, keeper, ends):
    """{thread: events} with values, as a process tells them that has none of the runs; until it has told of all
    those that ended."""
    world.until(socket_of(world, keeper.pid).exists, "there is a socket")
    reader = Subscriber(types=["step", "interrupt", "settled"], values=True)
    reader.connect(socket_of(world, keeper.pid))
    while not ends <= reader.settled:
        if not reader.socket:
            raise Broken(f"the record ends early: {reader.refused}, {reader.said[-2:]}, "
                         f"{len(reader.events)} events, over {reader.over}")
        reader.read()
    reader.close()
    record = {}
    for event in reader.events:
        record.setdefault(event["thread"], []).append(event)
    return record


def plain(event):
    return {key: value for key, value in event.items() if key not in ("update", "state", "edges")}


def kinds_of_subscribers():
    """Some with values, some for steps alone, some for what is live too; two never read."""
    kinds = [dict(values=True), dict(types=["step"], values=True), dict(types=["step", "interrupt"]),
             dict(), dict(types=["step", "node", "log", "settled"])]
    for i in range(SUBSCRIBERS):
        yield Subscriber(f"r{i % RUNS}", reads=i >= 2, **kinds[i // RUNS % len(kinds)])


def test_deaths(world):
    """a hundred subscribers hear each event once and in order, though the processes are killed and resumed"""
    seed = int(os.environ.get("PAWL_TEST_SEED", time.time_ns() % 1000000))
    chance = random.Random(seed)
    world.write("flow.yaml", FLOW)
    world.write("keeper.yaml", KEEPER)
    hosts = {f"r{i}": Host(world, f"r{i}") for i in range(RUNS)}
    subscribers = list(kinds_of_subscribers())
    readers = [s for s in subscribers if s.reads]
    follow = Following(world, hosts, subscribers)
    follow.until(lambda: all(s.events for s in readers), "everybody has heard something")
    for _ in range(DEATHS * RUNS):
        begun = time.monotonic()
        moment = chance.uniform(0, 0.4)
        follow.until(lambda: time.monotonic() > begun + moment, "time goes by")
        hosts[chance.choice(sorted(hosts))].die()
    world.write("stop", "")
    follow.until(lambda: all(s.heard("last") for s in readers),
                 f"all have heard of the last step (seed {seed})")
    world.write("end", "")
    for host in hosts.values():
        follow.until(lambda at=host: at.process.poll() is not None, "the runs end")
    keeper = world.start("run", "keeper.yaml")
    record = whole_record(world, keeper, set(hosts))
    for s in readers:
        wanted = record[s.thread][:len(s.events)]
        wanted = wanted if s.args.get("values") else list(map(plain, wanted))
        for got, want in zip(s.events, wanted):
            if got != want:
                raise Broken(f"{s.thread}, seed {seed}: {json.dumps(got)[:1500]}\nis not\n"
                             f"{json.dumps(want)[:1500]}")
        world.same(len(s.events), len(wanted), f"what was heard of {s.thread} (seed {seed})")
    heard = sum(len(s.events) for s in readers)
    print(f"# {heard} events heard, {DEATHS * RUNS} deaths, seed {seed}", flush=True)
    for thread, events in record.items():
        if thread in hosts:
            numbers = [event["checkpoint"] for event in events]
            world.same(numbers, list(range(1, len(numbers) + 1)), f"the record of {thread}")
    for host in hosts.values():
        host.process.stderr.close()
    world.write("done", "")
    keeper.wait()
    keeper.stderr.close()


if __name__ == "__main__":
    sys.exit(run_all(choose(cases_of(sys.modules["__main__"], "test_"), sys.argv[2:]), sys.argv[1]))
