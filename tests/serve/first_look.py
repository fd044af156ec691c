#!/usr/bin/env python3
"""What `make run` starts (examples/serve.sh): a server with the examples and a paused run, and what it says to try. Prints TAP.

    tests/serve/first_look.py PAWL
"""

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from world import PATIENCE, Broken, run_all  # noqa: E402

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "serve.sh"
USUAL = 7295


class Look:
    """The script, as somebody at a terminal has it."""

    def __init__(self, world):
        environ = {k: v for k, v in os.environ.items() if not k.startswith("PAWL_")}
        environ["PAWL_SERVER"] = "http://127.0.0.1:1"  # what is set for other work does not count
        self.process = subprocess.Popen([SCRIPT, world.pawl, world.folder / "run"], cwd=world.folder, env=environ,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, start_new_session=True)
        self.said = ""
        while "docs/api.md" not in self.said:
            if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
                self.end(signal.SIGKILL)
                raise Broken(f"it does not say what to try: {self.said}")
            piece = os.read(self.process.stdout.fileno(), 65536).decode()
            if not piece:
                raise Broken(f"it has ended: {self.said}")
            self.said += piece
        self.url = re.search(r"Pawl listens at (\S+) ", self.said)[1]
        self.demo = re.search(r"is paused, `(\S+)`", self.said)[1]
        self.commands = re.findall(r"^  (curl .*?)(?:   .*)?$", self.said, re.M)

    def end(self, how=signal.SIGINT):
        """Ctrl-C, which all of them hear."""
        os.killpg(self.process.pid, how)
        out, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out


def what_it_says_to_try(world):
    """it prints the address and what to try, all of that works, and Ctrl-C ends it cleanly; there is a paused run the next time"""
    stands = []
    for turn in range(3):
        look = Look(world)
        try:
            world.same(len(look.commands), 7, "commands to try")
            for command in look.commands:
                follows = " -N " in command
                done = subprocess.run(f"{command} -sS --fail-with-body --max-time {1 if follows else PATIENCE}", shell=True,
                                      text=True, capture_output=True, timeout=2 * PATIENCE, check=False)
                if done.returncode not in (0, 28 if follows else 0):
                    raise Broken(f"{command}: {done.returncode} {done.stdout}{done.stderr}")
                if command.endswith(f"/debug/{look.demo}"):
                    world.until(lambda command=command: json.loads(subprocess.check_output(
                        f"{command} -sS", shell=True, timeout=PATIENCE))["session"]["status"] == "paused", "it is paused")
                    stands.append((look.demo, json.loads(done.stdout)["frames"][0]["node"]))
            if turn == 1:
                subprocess.check_output(["curl", "-sS", "-X", "DELETE", f"{look.url}/api/v1/debug/{look.demo}"], timeout=PATIENCE)
                world.until(lambda: '"failed"' in world("status", "demo", "--json", cwd=world.folder / "run").out, "it ends")
        finally:
            code, rest = look.end()
        world.same((code, [w for w in ("rror", "Traceback") if w in rest]), (0, []), f"how it ends: {rest}")
    world.same(stands, [("demo", "publish"), ("demo", "upload"), ("demo-2", "publish")], "which run was paused, and where")


def where_the_port_is_taken(world):
    """where the usual port is taken it takes the next, and prints that"""
    try:
        taken = socket.create_server(("127.0.0.1", USUAL))
    except OSError:
        taken = None  # somebody else has it, which is as good
    look = Look(world)
    code, _ = look.end()
    if taken:
        taken.close()
    world.same((look.url != f"http://127.0.0.1:{USUAL}", code), (True, 0), look.url)


CASES = [what_it_says_to_try, where_the_port_is_taken]

if __name__ == "__main__":
    sys.exit(run_all(CASES, sys.argv[1]))
