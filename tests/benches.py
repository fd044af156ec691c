#!/usr/bin/env python3
"""Runs each benchmark of the engine for a moment: what it measures still runs. Times are not looked at. Prints TAP.

    tests/benches.py BUILD NAME...
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from tap import Tap

TIMEOUT = 240


def complaint(program, words):
    """What is wrong with a short run of it; empty: nothing is."""
    with tempfile.TemporaryDirectory(prefix="pawl-bench-") as folder:
        (Path(folder) / "bench/out").mkdir(parents=True)
        try:
            ran = subprocess.run([program, "--quick", *words], cwd=folder, timeout=TIMEOUT, text=True,
                                 stdin=subprocess.DEVNULL, capture_output=True, check=False)
        except subprocess.TimeoutExpired:
            return f"it took more than {TIMEOUT} s"
        left = sorted(path.name for path in Path(folder).iterdir() if path.name != "bench")
    if ran.returncode:
        return f"it ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}"
    if not ran.stdout.strip():
        return "it printed no figure"
    return f"it left {left} behind" if left else ""


def main():
    build, names = Path(sys.argv[1]).resolve(), sys.argv[2:]
    tap = Tap()
    for name in names:
        bench, _, what = name.partition(":")
        wrong = complaint(build / "bench" / f"short_{bench}", [what] if what else [])
        tap.case(not wrong, f"{name} runs", wrong)
    sys.exit(tap.finish())


if __name__ == "__main__":
    main()
