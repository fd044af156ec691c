#!/usr/bin/env python3
"""What happens to runs, as Server-Sent Events: every event once and in order, whoever dies meanwhile. Prints TAP.

    tests/serve/events.py PAWL

PAWL_TEST_ALL: more clients, more deaths.
"""

import json
import os
import socket
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from server import API, Events, Server  # noqa: E402
from world import DONE, PATIENCE, Broken, run_all  # noqa: E402

ALL = bool(os.environ.get("PAWL_TEST_ALL"))
CLIENTS = 100 if ALL else 20
DEATHS = 10 if ALL else 3
NODES = 40

LONG = "name: long\nnodes:\n" + "".join(
    f"  - {{name: n{i}, shell: 'sleep 0.05; echo line {i}'}}\n" for i in range(NODES))
ASK = """
name: ask
nodes:
  - {name: first, jq: '{n: 1}'}
  - {name: q, approval: {prompt: Go?, options: [go, stay]}, output: said}
  - {name: last, jq: '{end: true}'}
"""
GATE = """
name: gate
nodes:
  - {name: a, jq: '{n: 1}'}
  - {name: b, shell: 'touch began; while ! test -e go; do sleep 0.05; done'}
  - {name: c, jq: '{c: .n}'}
"""
SHORT = "name: short\nnodes:\n  - {name: a, jq: '{n: 1}'}\n"


class Follower(threading.Thread):
    """An EventSource: comes back with the last id whenever its stream ends, until the run has ended or stop is set."""

    def __init__(self, server, path, ends="run.completed"):
        super().__init__(daemon=True)
        self.server, self.path, self.ends = server, path, ends
        self.events, self.last, self.connections = [], None, 0
        self.stop, self.done, self.problem = False, False, None
        self.start()

    def run(self):
        end = time.monotonic() + 3 * PATIENCE
        while not self.done and not self.stop and time.monotonic() < end:
            try:
                self.follow()
            except OSError:
                time.sleep(0.05)
            except Exception as error:  # pylint: disable=broad-except
                self.problem = repr(error)
                return

    def follow(self):
        with Events(self.server, self.path, self.last, timeout=5 * PATIENCE) as stream:
            self.connections += 1
            if stream.status == 204:
                self.done = True
                return
            if stream.status != 200:
                time.sleep(0.1)
                return
            for event in stream:
                self.last = stream.last
                self.events.append(event)
                if event.name == self.ends:
                    self.done = True
                    return
        time.sleep(0.02)

    def finish(self):
        self.join(3 * PATIENCE)
        if self.problem or not self.done:
            raise Broken(f"{self.path} after {self.connections} connections: {self.problem}, "
                         f"last {self.last}: {self.events[-5:]}")
        return self


def steps(events):
    return [e.data.node for e in events if e.name == "node.completed"]


def check_whole(world, follower, nodes):
    """Each step once, in order, and one end."""
    follower.finish()
    world.same(steps(follower.events), nodes, f"steps of {follower.path} ({follower.connections} connections)")
    cursors = [e.data.cursor for e in follower.events if isinstance(e.data.cursor, int)
               and e.name in ("node.completed", "run.started", "run.resumed")]
    world.same(cursors, sorted(set(cursors)), "cursors")
    world.same(len([e for e in follower.events if e.name == "run.completed"]), 1, "ends")


def every_event_once_over_deaths(world):
    """clients that reconnect with Last-Event-ID have each event of their run once and in order, however often the server dies"""
    s = Server(world, "--rate", 100000)
    threads = [f"t{i}" for i in range(4)]
    for thread in threads:
        s.begin(thread, LONG)
    clients = [Follower(s, f"/runs/{threads[i % 4]}/events?from=0") for i in range(CLIENTS)]
    for i in range(DEATHS):
        time.sleep(0.8 + i % 2 * 0.3)
        s.kill()
        time.sleep(0.05)
        s.start()
    nodes = [f"n{i}" for i in range(NODES)]
    for thread in threads:
        s.until(thread, "completed")
    for client in clients:
        check_whole(world, client, nodes)
    if max(c.connections for c in clients) < 2:
        raise Broken("nobody had to come back")
    s.stop()


def every_event_of_all_runs_once(world):
    """the stream of all runs goes on from its id over deaths of the server, each event of each run once"""
    s = Server(world, "--rate", 100000)
    clients = [Follower(s, "/events", ends="none") for _ in range(5)]
    world.until(lambda: all(c.connections for c in clients), "they listen")
    time.sleep(0.3)
    for i in range(6):
        s.begin(f"t{i}", LONG)
    first = Follower(s, "/events", ends="none")
    world.until(lambda: all(c.last for c in clients), "each has a place")
    for i in range(DEATHS):
        time.sleep(0.7)
        s.kill()
        s.start()
    for i in range(6):
        s.until(f"t{i}", "completed")

    def all_there():
        return all(sum(e.name == "run.completed" for e in c.events) >= 6 for c in clients)
    world.until(all_there, "each has heard the ends of all runs")
    time.sleep(0.5)
    for c in [*clients, first]:
        c.stop = True
    for c in clients:
        for i in range(6):
            own = [e for e in c.events if e.data.thread == f"t{i}"]
            world.same(steps(own), [f"n{j}" for j in range(NODES)], f"steps of t{i} in /events")
            world.same(sum(e.name == "run.completed" for e in own), 1, f"ends of t{i}")
    s.stop()


def a_run_that_waits_goes_on(world):
    """the stream of a run that waits stays open and goes on with it: resumed here, by its number, and by another process"""
    with Server(world) as s:
        for thread, path, resume in (
                ("here", "here", lambda: s.ask("POST", "/runs/here/resume", {"decision": "go"}).gives(200)),
                ("by-number", "2", lambda: s.ask("POST", "/runs/2/resume", {"decision": "go"}).gives(200)),
                ("there", "there", lambda: world("resume", "there", "--decision", "go").gives(DONE))):
            run = s.begin(thread, ASK)
            s.until(thread, "interrupted")
            if path == "2":
                world.same(run.run, 2)
            client = Follower(s, f"/runs/{path}/events?from=0")
            world.until(lambda c=client: [e for e in c.events if e.name == "run.interrupted"], "it waits")
            time.sleep(1.5)  # it rests by now
            resume()
            check_whole(world, client, ["first", "q", "last"])
            world.same(client.connections, 1, "connections")
            world.same({e.data.thread for e in client.events}, {thread}, "the thread in its events")


def whoever_comes_back_after_the_end_is_told_so(world):
    """Last-Event-ID of the end is answered with 204, and one before it with the rest"""
    with Server(world) as s:
        s.begin("t", SHORT)
        s.until("t", "completed")
        with s.events("/runs/t/events?from=0") as stream:
            events = list(stream)
        world.same(events[-1].name, "run.completed")
        world.same(s.events("/runs/t/events", last=events[-1].id).status, 204)
        with s.events("/runs/t/events", last=events[-2].id) as stream:
            world.same([e.name for e in stream][-1:], ["run.completed"])
        for rubbish in ("x", "-1", "9" * 30, "{", "1.x", '{"since": 5}', "4.", " "):
            for path in ("/runs/t/events", "/events"):
                if rubbish.strip():
                    with s.events(path, last=rubbish, timeout=10) as stream:
                        world.same(stream.status, 400, f"{path} with {rubbish}")
        s.ask("GET", "/runs/nobody/events").gives(404)
        s.ask("GET", "/runs/t/events?types=nonsense").gives(400)
        s.ask("GET", "/runs/t/events?types=run.nonsense").gives(400)


def types_in_both_vocabularies(world):
    """types: names outside, their beginnings, words inside, and both at once"""
    with Server(world) as s:
        s.begin("t", SHORT)
        s.until("t", "completed")
        whole = [e.name for e in s.events("/runs/t/events?from=0")]

        def names(types):
            with s.events(f"/runs/t/events?from=0&types={types}") as stream:
                world.same(stream.status, 200)
                return [e.name for e in stream]
        world.same(names("node.completed"), ["node.completed"])
        world.same(names("run"), [n for n in whole if n.startswith("run.")])
        world.same(names("run.*,node.*"), [n for n in whole if n.startswith(("run.", "node."))])
        world.same(names("node"), [n for n in whole if n.startswith("node.")])
        world.same(names("step"), [n for n in whole if n in ("node.completed", "run.started")])
        world.same(names("step,run.completed"), [n for n in whole if n in ("node.completed", "run.started",
                                                                             "run.completed")])
        world.same(names("settled"), ["run.completed"])


def how_far_a_node_is(world):
    """a line that says how far a node is comes as node.progress, with the percent, to those who want logs too"""
    text = ("id: t\ntasks:\n  - {name: run_shell, id: a, config: {command: "
            "'echo begun; echo \"::set-progress 12/32 done\"; echo over'}}\n")
    with Server(world) as s:
        s.begin("t", text, debug={"pause_on_start": True})
        s.paused("t")
        streams = [s.events(f"/runs/t/events?types={types}") for types in ("node", "log", "node.progress", "run,log")]
        s.ask("POST", "/debug/t/continue", {}).gives(200)
        told = [[(e.name, e.data.text, e.data.percent) for e in stream if not e.name.startswith("run.")] for stream in streams]
        notes = ("node.progress", "38%: 12 of 32 done\n", 37.5)
        world.same(told[2], [notes])
        for one in (told[1], told[3]):
            world.same("".join(text for name, text, _ in one if name == "log"), "begun\nover\n")
            world.same([e for e in one if e[0] != "log"], [notes])
        world.same([e[0] for e in told[0]][:3], ["node.started", "node.progress", "node.completed"])


def starts_that_are_listened_to(world):
    """a start with Accept: text/event-stream tells what Pawl-Listen asks for, by the same names, and refuses what is none"""
    with Server(world) as s:
        body = {"definition": {"main": "w.yaml", "files": {"w.yaml": SHORT}}}

        def names(listen, accept="text/event-stream"):
            reply = s.ask("POST", "/runs", body, {"Accept": accept, "Pawl-Listen": listen})
            return reply.status, [line[7:] for line in reply.body.decode().split("\n") if line.startswith("event: ")]
        world.same(names("types=run.completed"), (200, ["answer", "run.completed"]))
        world.same(names("types=run.completed", "text/html, TEXT/EVENT-STREAM")[0], 200)
        world.same(names("types=run", "text/event-stream;q=0, */*"), (201, []))
        world.same(names("types=node"), (200, ["answer", "node.started", "node.completed"]))
        for wrong in ("types=nope", "bogus=1", "values=maybe"):
            world.same(names(wrong), (400, []), wrong)
        world.same(len(s.ask("GET", "/runs").json.runs), 4)


def what_is_printed_says_where_it_is(world):
    """`log` events have the execution, the stream and the place in it that the record has of the same text"""
    text = ("name: talks\nnodes:\n  - {name: a, shell: 'for i in $(seq 5); do echo a\u00e4$i; echo e$i >&2; sleep 0.05; done'}\n"
            "  - {name: b, shell: 'echo b'}\n")
    with Server(world) as s:
        reply = s.ask("POST", "/runs", {"definition": {"main": "w.yaml", "files": {"w.yaml": text}}, "thread": "t"},
                      {"Accept": "text/event-stream", "Pawl-Listen": "types=log"})
        told = [json.loads(line[6:]) for line in reply.body.decode().split("\n") if line.startswith("data: ")][1:]
        record, heard = {}, {}
        for piece in s.ask("GET", "/runs/t/logs").json.logs:
            key = (piece.execution, piece.stream)
            world.same(piece.offset, len(record.get(key, b"")), "pieces follow each other")
            record[key] = record.get(key, b"") + piece.text.encode()
        for one in told:
            key, said = (one["execution"], one["stream"]), one["text"].encode()
            world.same(record[key][one["offset"]:one["offset"] + len(said)], said, "what the record has there")
            heard[key] = heard.get(key, b"") + said
        world.same(len(record), 3, "streams that were printed to")
        world.same(heard, record, "all that was told")


def what_is_printed_is_followed(world):
    """GET /runs/ID/logs?follow: each piece once and in order, over deaths of the server, with a filter, until the run ends"""
    lines = 12
    text = ("name: talks\nnodes:\n"
            f"  - {{name: a, shell: 'for i in $(seq {lines}); do echo a$i; sleep 0.1; done'}}\n"
            "  - {name: q, approval: {prompt: Go?, options: [go]}}\n"
            "  - {name: b, shell: 'echo b1; echo b2 >&2'}\n")

    def printed(client, node=None):
        return "".join(e.data.text for e in client.events if e.name == "log" and node in (None, e.data.node))
    s = Server(world, "--rate", 100000)
    s.begin("t", text)
    clients = [Follower(s, "/runs/t/logs?follow", ends="none") for _ in range(5)]
    one = Follower(s, "/runs/t/logs?follow=true&node=b&stream=stderr", ends="none")
    world.until(lambda: all("a3" in printed(c) for c in clients), "it prints")
    s.kill()
    s.start()
    s.until("t", "interrupted")
    late = Follower(s, "/runs/t/logs?follow&last=2", ends="none")
    world.until(lambda: f"a{lines}" in printed(late), "the last lines are told")
    s.ask("POST", "/runs/t/resume", {"decision": "go"}).gives(200)
    for c in (*clients, one, late):
        c.finish()  # by 204, when it came back after the end
    said = "".join(f"a{i}\n" for i in range(1, lines + 1))
    for c in clients:
        world.same((printed(c, "a"), printed(c, "b")), (said, "b1\nb2\n"), "what was heard")
        world.same({(e.data.run, e.data.thread) for e in c.events}, {(1, "t")})
    world.same(max(c.connections for c in clients) > 1, True, "somebody came back")
    world.same(printed(one), "b2\n")
    world.same(printed(late), f"a{lines - 1}\na{lines}\nb1\nb2\n")
    last = clients[0].events[-1].id
    world.same(s.events("/runs/t/logs", last=last).status, 204, "Accept alone")
    with s.events("/runs/t/logs", last=str(int(last) - 1)) as stream:
        world.same(len(list(stream)), 1)
    for path, last, status in (("/runs/nobody/logs?follow", None, 404), ("/runs/t/logs?follow=maybe", None, 400),
                               ("/runs/t/logs?follow&node=nope", None, 404), ("/runs/t/logs?follow", "x", 400),
                               ("/runs/t/logs?follow", "9" * 30, 400), ("/runs/t/logs?follow&bogus=1", None, 400)):
        world.same(s.events(path, last=last, timeout=10).status, status, f"{path} {last}")
    world.same(s.ask("GET", "/runs/t/logs?follow=false").gives(200).json.run.thread, "t")
    s.curl("HEAD", "/runs/t/logs?follow", None, "--max-time", "5").gives(200)
    s.begin("u", text)
    open_ones = [s.events("/runs/u/logs?follow") for _ in range(20)]
    for stream in open_ones[::2]:
        stream.close()
    s.stop()
    for stream in open_ones[1::2]:
        list(stream)


def a_run_of_another_process(world):
    """a run that `pawl run` holds is shown, followed and controlled here, and taken over when that process is killed"""
    world.write("gate.yaml", GATE)
    with Server(world) as s:
        other = world.start("run", "gate.yaml", "--thread", "t")
        world.wait_for("began")
        world.same((s.run("t").status, str(other.pid) in (s.run("t").owner or "")), ("running", True), "the run")
        client = Follower(s, "/runs/t/events?from=0")
        world.until(lambda: "a" in steps(client.events), "its events come here")
        s.ask("POST", "/debug/t/breakpoints", {"node": "c"}).gives(200)
        world.write("go", "")
        frame = s.paused("t")[0]
        world.same((frame.node, str(other.pid) in (s.run("t").owner or "")), ("c", True), "where it stands, and who has it")
        s.until("t", "paused")  # on record: otherwise it comes to the breakpoint once more, in the server
        other.kill()
        other.wait()
        s.ask("POST", "/debug/t/continue", {}).gives(200).has(resumed=[1])
        s.until("t", "completed")
        check_whole(world, client, ["a", "b", "c"])
        other.stderr.close()


def a_run_whose_process_is_killed(world):
    """a run that `pawl run` had in the middle of a node goes on here when that is killed, without being asked, each step once"""
    world.write("gate.yaml", GATE)
    with Server(world) as s:
        other = world.start("run", "gate.yaml", "--thread", "t")
        world.wait_for("began")
        client = Follower(s, "/runs/t/events?from=0")
        world.until(lambda: "a" in steps(client.events), "its events come here")
        other.kill()
        other.wait()
        other.stderr.close()
        world.until(lambda: f"pid {s.process.pid}" in (s.run("t").owner or ""), "the server has it")
        world.write("go", "")
        check_whole(world, client, ["a", "b", "c"])
        world.same(s.run("t").status, "completed")


def orphans_are_all_taken_over(world):
    """more runs than are taken over at once, whose server was killed, all come to their end"""
    count = 300 if ALL else 150
    gate = GATE.replace("touch began; ", "")
    s = Server(world, "--rate", 100000)
    for i in range(count):
        s.begin(f"t{i}", gate.replace("shell: 'while ! test -e go; do sleep 0.05; done'", "sleep: 2s"))
    s.kill()
    s.start()
    world.until(lambda: not [r for r in s.ask("GET", "/runs?limit=1000").json.runs if r.status != "completed"],
                "all have come to their end")
    s.stop()


def a_client_that_never_reads(world):
    """one that takes nothing is let go of, and the others get everything"""
    with Server(world, "--rate", 100000) as s:
        deaf = []
        for _ in range(3):
            line = socket.create_connection(("127.0.0.1", s.port))
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.sendall(f"GET {API}/events?values=true HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            deaf.append(line)
        big = "name: big\nstate: {n: 0, pad: '" + "x" * 100000 + "'}\nnodes:\n" \
              "  - {name: a, while: '.n < 60', do: [{name: k, jq: '{n: (.n + 1), log: .pad}'}]}\n"
        s.begin("t", big)
        client = Follower(s, "/runs/t/events?from=0")
        client.finish()
        s.until("t", "completed")
        world.same(len([n for n in steps(client.events) if n.endswith("k")]), 60, "steps that the other heard of")
        for line in deaf:
            line.close()
        world.until(lambda: s.ask("GET", "/server").json.load.streams == 0, "nobody listens any more")


def from_now_on(world):
    """without an id and `from` nothing is told of what was before, also where the run waits"""
    with Server(world) as s:
        s.begin("t", ASK)
        s.until("t", "interrupted")
        client = Follower(s, "/runs/t/events")
        world.until(lambda: client.events, "how it stands is told")
        time.sleep(2.5)  # looks of the server at streams that rest
        world.same([e.name for e in client.events], ["run.interrupted"])
        s.ask("POST", "/runs/t/resume", {"decision": "go"}).gives(200)
        client.finish()
        world.same(steps(client.events), ["q", "last"])


def the_end_of_a_run_is_told_once(world):
    """whoever comes back to /events by an id has run.completed once of each run"""
    with Server(world) as s:
        first = Follower(s, "/events", ends="none")
        world.until(lambda: first.connections, "it listens")
        time.sleep(0.2)
        for i in range(3):
            s.begin(f"t{i}", SHORT)
        world.until(lambda: sum(e.name == "run.completed" for e in first.events) == 3, "the ends")
        last = first.last
        s.begin("late", SHORT)
        s.until("late", "completed")
        with s.events("/events", last=last, timeout=2) as stream:
            names = []
            try:
                for event in stream:
                    names.append((event.name, event.data.thread))
            except OSError:
                pass
        world.same([n for n in names if n[0] == "run.completed"], [("run.completed", "late")])
        first.stop = True


def from_the_beginning_in_two_goes(world):
    """who reads all runs from=0 and is cut off goes on by an id, and has each step once"""
    with Server(world, "--rate", 100000) as s:
        count = 60
        for i in range(count):
            s.begin(f"t{i}", SHORT)
        s.until(f"t{count - 1}", "completed")
        time.sleep(0.1)
        got, last = [], None
        with s.events("/events?from=0") as stream:
            for event in stream:
                got.append(event)
                last = event.id or last
                if len(got) == 50:
                    break
        with s.events("/events", last=last, timeout=3) as stream:
            try:
                for event in stream:
                    got.append(event)
            except OSError:
                pass
        ends = sorted(e.data.thread for e in got if e.name == "node.completed")
        world.same(ends, sorted(f"t{i}" for i in range(count)))


def a_place_among_many_runs_is_short(world):
    """an id of /events names the runs of the last moment, however many are under way"""
    with Server(world, "--rate", 100000) as s:
        client = Follower(s, "/events", ends="none")
        world.until(lambda: client.connections, "it listens")
        for i in range(300):
            s.begin(f"t{i}", "name: t\nnodes:\n  - {name: a, jq: '{n: 1}'}\n  - {name: b, sleep: 100s}\n")
        s.begin("last", SHORT)
        world.until(lambda: any(e.name == "run.completed" for e in client.events), "the last is heard of")
        if len(client.last) > 2000:
            raise Broken(f"an id has {len(client.last)} bytes")
        client.stop = True


def a_slow_reader_has_all(world):
    """who reads slower than the record can be told has all of it, to the end"""
    with Server(world, "--rate", 100000) as s:
        count = 20000 if ALL else 4000
        s.begin("t", "name: t\nstate: {n: 0, pad: '" + "x" * 10000 + "'}\nconfig: {recursion_limit: 1000000}\nnodes:\n"
                f"  - {{name: a, while: '.n < {count}', max_iterations: {count}, do: [{{name: k, jq: '{{n: (.n + 1)}}'}}]}}\n")
        s.until("t", "completed")
        line = socket.create_connection(("127.0.0.1", s.port))
        line.settimeout(PATIENCE)
        line.sendall(f"GET {API}/runs/t/events?from=0&values=true HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        time.sleep(4)  # all of it could be there by now
        seen, tail = 0, b""
        while not tail.endswith(b"0\r\n\r\n"):
            piece = line.recv(65536)
            if not piece:
                raise Broken(f"it was cut off after {seen} of {count} steps")
            seen += (tail[-24:] + piece).count(b"event: node.completed") - tail[-24:].count(b"event: node.completed")
            tail = (tail + piece)[-200:]
        if seen < count:
            raise Broken(f"{seen} of {count} steps were told, and then the end")
        line.close()


def a_run_that_is_deleted_ends_its_streams(world):
    """the stream of a run that waits ends when the run is deleted, with the reason"""
    with Server(world) as s:
        s.begin("t", ASK)
        s.until("t", "interrupted")
        with s.events("/runs/t/events", timeout=60) as stream:
            told = iter(stream)
            world.same(next(told).name, "run.interrupted")
            s.ask("POST", "/runs/t/drop", {})
            s.ask("DELETE", "/runs/t").gives(200)
            world.same([(e.name, e.data.code) for e in told], [("problem", "not_found")])


CASES = [what_is_printed_says_where_it_is, what_is_printed_is_followed, how_far_a_node_is, starts_that_are_listened_to, from_the_beginning_in_two_goes, from_now_on, the_end_of_a_run_is_told_once, a_place_among_many_runs_is_short, a_slow_reader_has_all,
         a_run_that_is_deleted_ends_its_streams, every_event_once_over_deaths, every_event_of_all_runs_once, a_run_that_waits_goes_on,
         whoever_comes_back_after_the_end_is_told_so, types_in_both_vocabularies, a_run_of_another_process, a_run_whose_process_is_killed,
         orphans_are_all_taken_over, a_client_that_never_reads]

if __name__ == "__main__":
    sys.exit(run_all(CASES, sys.argv[1]))
