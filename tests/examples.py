#!/usr/bin/env python3
"""Runs every workflow in examples/ the way its own comment says. Prints TAP.

    tests/examples.py --root ROOT --pawl PAWL

In the comment at the top of a file a line such as

    #   $ pawl run approval.yaml --thread ship      [3]

is a command, with its exit code in brackets when that is not 0. The commands of a file run one after
the other in a fresh copy of its folder. A file without one is an error: every example runs.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import Tap

FOLDERS = ["workflows", "playbooks", "pipelines"]
COMMAND = re.compile(r"#\s+\$ (.*?)(?:\s+\[(\d+)\])?\s*$")
TIMEOUT = 60


def commands_of(path):
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            return
        found = COMMAND.match(line)
        if found:
            yield found.group(1), int(found.group(2) or 0)


def run_example(path, folder, pawl):
    """What went wrong, or None."""
    commands = [(f"pawl check {path.relative_to(folder)}", 0), *commands_of(path)]
    if len(commands) < 2:
        return "its comment has no command"
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "copy"
        shutil.copytree(folder, copy)
        env = dict(os.environ, PATH=f"{pawl.parent}:{os.environ['PATH']}")
        env.pop("PAWL_STORE", None)
        for command, code in commands:
            done = subprocess.run(command, shell=True, cwd=copy, env=env, timeout=TIMEOUT,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode != code:
                return f"`{command}` gave {done.returncode}, not {code}\n{done.stderr}{done.stdout}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--pawl", required=True, type=Path)
    args = parser.parse_args()
    folders = [args.root / "examples" / name for name in FOLDERS]
    files = [(path, folder) for folder in folders for path in sorted(folder.rglob("*.yaml"))]
    tap = Tap()
    for path, folder in files:
        wrong = run_example(path, folder, args.pawl.resolve())
        tap.case(wrong is None, path.relative_to(args.root), wrong)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
