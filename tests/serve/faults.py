#!/usr/bin/env python3
"""A server that is stopped, killed or has no room on its disk loses nothing that it answered. Prints TAP.

    tests/serve/faults.py PAWL

PAWL_TEST_ALL: 200 deaths instead of 20; PAWL_SEED: at other moments.
"""

import fcntl
import http.client
import os
import random
import shutil
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from server import Server, flow_of  # noqa: E402
from world import PATIENCE, Broken, run_all  # noqa: E402

ALL = bool(os.environ.get("PAWL_TEST_ALL"))
SEED = int(os.environ.get("PAWL_SEED", "20260118"))
DEATHS = 200 if ALL else 20
FLOW = """
name: three
state: {n: 0}
nodes:
  - {name: a, jq: '{n: (.n + 1)}'}
  - {name: b, sleep: 20ms}
  - {name: c, jq: '{n: (.n + 1)}'}
"""


class Load(threading.Thread):
    """Starts runs as fast as it can, and remembers those that were answered with 201."""

    def __init__(self, server, number):
        super().__init__(daemon=True)
        self.server, self.number = server, number
        self.begun, self.other, self.stop = [], [], False
        self.start()

    def run(self):
        count = 0
        while not self.stop:
            count += 1
            thread = f"r{self.number}-{count}"
            try:
                reply = self.server.ask("POST", "/runs", {"definition": flow_of(FLOW), "thread": thread})
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)
                continue
            if reply.status == 201:
                self.begun.append(thread)
            elif reply.status != 503:
                self.other.append(reply)
            time.sleep(0.01)


def all_runs(server):
    runs, after = {}, ""
    while True:
        page = server.ask("GET", f"/runs?limit=1000{after}").gives(200).json
        runs.update({r.thread: r for r in page.runs})
        if not page.next:
            return runs
        after = f"&after={page.next}"


def nothing_is_lost(world, server, loads):
    begun = [thread for load in loads for thread in load.begun]
    odd = [str(reply) for load in loads for reply in load.other]
    if odd:
        raise Broken(f"{len(odd)} odd answers: {odd[0]}")
    if len(begun) < 20:
        raise Broken(f"only {len(begun)} runs were begun")
    missing = set(begun) - set(all_runs(server))
    if missing:
        raise Broken(f"{len(missing)} of {len(begun)} runs that were answered are not there: {sorted(missing)[:5]}")

    def ended():
        return all(r.status == "completed" for r in all_runs(server).values())
    try:
        world.until(ended, "all runs have come to their end")
    except Broken as error:
        left = [r for r in all_runs(server).values() if r.status != "completed"]
        raise Broken(f"{error}: {len(left)} have not, {left[:3]}\n{server.said[-3000:]}") from error
    for thread in random.Random(SEED).sample(begun, 10):
        world.same(server.ask("GET", f"/runs/{thread}/state?path=.n").gives(200).json.state, 2, f"n of {thread}")
    world.same(server.ask("POST", "/store/check", {}).gives(200).json.ok, True, "the store")


def killed_under_load(world):
    """SIGKILL at random moments: what was answered with 201 is there, and comes to its end"""
    chance = random.Random(SEED)
    s = Server(world, "--rate", 1000000)
    loads = [Load(s, i) for i in range(4)]
    for _ in range(DEATHS):
        time.sleep(chance.uniform(0.02, 0.6))
        s.kill()
        s.start()
    for load in loads:
        load.stop = True
    for load in loads:
        load.join(PATIENCE)
    nothing_is_lost(world, s, loads)
    s.stop()


def stopped_under_load(world):
    """SIGTERM: whoever was asking is answered or let go, and all that was begun goes on after the next start"""
    s = Server(world, "--rate", 1000000)
    loads = [Load(s, i) for i in range(4)]
    for _ in range(4):
        time.sleep(0.7)
        s.stop()
        s.start()
    for load in loads:
        load.stop = True
    for load in loads:
        load.join(PATIENCE)
    nothing_is_lost(world, s, loads)
    s.stop()


def a_run_under_way_goes_on_after_a_stop(world):
    """a run that is under way when the server is stopped goes on when it begins again, without being asked"""
    with Server(world) as s:
        s.begin("t", "name: t\nnodes:\n  - {name: a, jq: '{n: 1}'}\n  - {name: b, sleep: 3s}\n  - {name: c, jq: '{c: .n}'}\n")
        s.stop()
        s.start()
        s.until("t", "completed")
        world.same(s.ask("GET", "/runs/t/state?path=.c").json.state, 1)


GATE = """
name: gate
nodes:
  - {name: a, shell: 'echo a >> ran; while ! test -e go; do sleep 0.05; done'}
  - {name: b, shell: 'echo b >> ran'}
"""


def fill(path):
    """Until there is no room for a byte more."""
    with open(path, "wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                pass


def disk_full(world, server, disk, free):
    """Until POST /runs is refused; then free() makes room."""
    pad = "x" * 20000
    for name in ("ran", "go"):
        (world.folder / name).unlink(missing_ok=True)
    server.begin("gate", GATE)
    server.begin("looked-at", FLOW, debug={"breakpoints": [{"node": "b"}]})
    server.paused("looked-at")
    world.wait_for("ran")
    refused, there = None, []
    for i in range(600):
        reply = server.ask("POST", "/runs", {"definition": flow_of(FLOW), "input": {"pad": pad, "i": i}})
        if reply.status != 201:
            refused = reply
            break
        there.append(reply.json.thread)
    if refused is None:
        raise Broken("the disk was never full")
    refused.gives(507).has(status=507, title="Insufficient Storage")
    if len(refused.json.detail) < 20:
        raise Broken(f"507 without a sentence: {refused}")
    server.ask("GET", "/runs").gives(200)
    server.ask("GET", "/healthz", root="").gives(200)
    fill(disk / "filler")
    for method, path, body in (("PUT", "/workflows/zz", {"text": FLOW}), ("POST", "/tokens", {"name": "x", "scope": "read"}),
                               ("POST", "/store/backup", {"path": f"{disk}/copy"})):
        server.ask(method, path, body).gives(507).has(status=507, code="io", full=True)
    (disk / "filler").unlink()
    again = server.ask("POST", "/runs", {"definition": flow_of(FLOW), "input": {"pad": pad}}).gives(201, 507)
    there += [again.json.thread] if again.status == 201 else []  # a store that is opened anew may find some room
    free()
    began = server.process.pid
    begun = server.ask("POST", "/runs", {"definition": flow_of(FLOW)}).gives(201).json.thread
    server.until(begun, "completed")
    world.same(server.process.pid, began, "the process")
    world.write("go", "")
    server.until("gate", "completed")
    world.same((world.folder / "ran").read_text().split(), ["a", "b"], "what the commands of a run did that was under way")
    server.ask("POST", "/debug/looked-at/continue", {}).gives(200)
    world.until(lambda: all(r.status == "completed" for r in all_runs(server).values()), "all go on")
    if missing := set(there) - set(all_runs(server)):
        raise Broken(f"runs that were answered are not there: {missing}")


def a_full_disk(world):
    """no room: 507 with a sentence, and reading goes on; when there is room, so do all runs, in the same process"""
    for kind, name in (("sqlite", "pawl.db"), ("file", "store")):
        disk = world.folder / kind
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=3m,mode=700", "tmpfs", str(disk)]
        if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
            print("# no tmpfs can be mounted here", flush=True)
            return
        try:
            (disk / "ballast").write_bytes(b"x" * 1500000)
            with Server(world, "--store", f"{kind}:{disk}/{name}") as s:
                disk_full(world, s, disk, (disk / "ballast").unlink)
        finally:
            subprocess.run(["umount", "--lazy", str(disk)], check=False)


PLANTED = 20  # places that each would take the seconds of a command that ignores SIGTERM


def places_that_never_end(world):
    """a run whose earlier commands cannot be ended goes on, and so does the server meanwhile"""
    ask = "nodes:\n  - {name: q, approval: {prompt: Go?, options: [go]}}\n  - {name: s, shell: 'true'}\n"
    with Server(world) as s:
        number = s.begin("t", ask)["run"]
        s.until("t", "interrupted")
        held = []
        for i in range(PLANTED):
            place = world.folder / ".pawl/pawl.db-work" / f"{number}-{900 + i}.9"
            place.mkdir(mode=0o700, parents=True)
            held.append(os.open(place / "lock", os.O_RDWR | os.O_CREAT, 0o600))
            fcntl.fcntl(held[-1], fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        s.ask("POST", "/runs/t/resume", {"decision": "go"}).gives(200)
        s.until("t", "completed")
        for fd in held:
            os.close(fd)
        work = world.folder / ".pawl/pawl.db-work"
        world.until(lambda: not list(work.glob(f"{number}-9*")), "the places are gone")


CASES = [places_that_never_end, stopped_under_load, a_run_under_way_goes_on_after_a_stop, a_full_disk,
         killed_under_load]

if __name__ == "__main__":
    sys.exit(run_all(CASES, sys.argv[1]))
