#!/usr/bin/env python3
"""Runs tests/run on programs that misbehave. Prints TAP.

    tests/runner.py ROOT
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tap import Tap

GOOD = "echo ok 1 - fine; echo 1..1"
# Has left the group, and keeps the output open for longer than anybody waits.
DAEMON = "setsid sleep 60 & "
PYTHON = "/usr/bin/python3"
SOON = 30  # seconds; the sleeps are longer


def run(root, command, timeout=60, before=(), builds=("one",), suite="twice", **env):
    """What tests/run says of one program, its exit code, and how long it took."""
    with tempfile.TemporaryDirectory(prefix="pawl-runner-") as folder:
        for build in builds:
            info = Path(folder) / build / "meson-info"
            info.mkdir(parents=True)
            test = {"name": "it", "cmd": ["sh", "-c", command], "env": {}, "workdir": folder,
                    "timeout": timeout, "is_parallel": True, "suite": ["pawl:" + suite]}
            (info / "intro-tests.json").write_text(json.dumps([test]))
        environ = {k: v for k, v in os.environ.items() if k != "PAWL_TEST_ALL"} | env
        start = time.monotonic()
        done = subprocess.run([*before, root / "tests" / "run", *builds], cwd=folder, env=environ,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        return done.stdout + done.stderr, done.returncode, time.monotonic() - start


def main(root):
    tap = Tap()
    root = Path(root).resolve()

    said, code, _ = run(root, GOOD)
    tap.case(code == 0 and "1 passed, 0 failed" in said, "a good program is counted", said)

    said, code, took = run(root, GOOD + "; sleep 60", timeout=1)
    tap.case(code == 1 and "took more than 1 s" in said and "1 passed, 1 failed" in said
             and took < SOON, "one that outlives its time is reported, with what it printed", said)

    said, code, took = run(root, f"{DAEMON} {GOOD}; sleep 60", timeout=1)
    tap.case(code == 1 and "took more than 1 s" in said and "1 passed, 1 failed" in said
             and took < SOON, "also when a daemon of its own holds its output open", said)

    said, code, took = run(root, DAEMON + GOOD)
    tap.case(code == 0 and took < SOON, "a daemon that is left behind is not waited for", said)

    said, code, _ = run(root, "kill -SEGV $$")
    tap.case(code == 1 and "was killed by SIGSEGV" in said, "a program that is killed is named", said)

    ignored = ["env", "--ignore-signal=INT,HUP,QUIT"]
    said, code, _ = run(root, f"{GOOD}; kill -INT $$; kill -HUP $$; exit 9", before=ignored)
    tap.case("was killed by SIGINT" in said,
             "programs can be interrupted though the runner is a script's background job", said)

    both = {"builds": ("one", "two")}
    said, _, _ = run(root, GOOD, **both)
    tap.case("2 passed, 0 failed" in said, "a program runs in each of the builds", said)

    said, _, _ = run(root, GOOD, suite="once", **both)
    tap.case("two/it" in said and "1 passed, 0 failed" in said,
             "one of the suite `once` runs in the last of them", said)

    said, _, _ = run(root, GOOD, suite="once", PAWL_TEST_ALL="1", **both)
    tap.case("2 passed, 0 failed" in said, "and in all with PAWL_TEST_ALL", said)

    said, _, _ = run(root, "readlink $(command -v python3); echo not ok 1; echo 1..1")
    if Path(PYTHON).exists():
        tap.case(PYTHON in said, "python3 is the one of the system", said)
    else:
        tap.skip("python3 is the one of the system", f"there is no {PYTHON}")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
