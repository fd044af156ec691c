#!/usr/bin/env python3
"""Runs the transcripts in tests/cli/*.t with the built program and prints TAP.

    tests/cli/run.py --pawl build/release/pawl [--accept] [FILE.t...]

A file holds cases. A case is a title at the margin and, indented by four spaces, commands with what
they print (the form is in tests/transcript.py):

    Adds two numbers
        $ pawl eval -n '1 + 1'
        2

A line at the margin that starts with # is a comment. Each case starts in an empty folder of its own
with pawl first in PATH; its commands share the folder. --accept writes what came into the files:
look at the difference before you believe it.
"""

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import transcript  # noqa: E402
from tap import Tap  # noqa: E402
from world import end_all_in  # noqa: E402

INDENT = "    "


@dataclass
class Case:
    title: str
    lines: list = field(default_factory=list)  # (number, text without the indent)


def cases_of(path):
    cases = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith(INDENT):
            if not cases:
                sys.exit(f"{path}:{number}: a case needs a title first.")
            cases[-1].lines.append((number, line[len(INDENT):]))
        elif not line.strip():
            if cases and cases[-1].lines:
                cases[-1].lines.append((number, ""))
        elif not line.startswith("#"):
            cases.append(Case(line.strip()))
    return cases


def run_case(case, pawl, accepted):
    """Prints what differs; adds (lines to replace, new lines) to accepted. True if all agree."""
    agrees = True
    with tempfile.TemporaryDirectory(prefix="pawl-cli-", ignore_cleanup_errors=True) as folder:
        env = transcript.environment(folder, pawl)
        steps = transcript.parse(case.lines)
        for index, step in enumerate(steps):
            difference = transcript.check(step, folder, env)
            if not difference:
                continue
            agrees = False
            expected, got = difference
            for mark, lines in (("expected", expected), ("got", got)):
                print(f"# line {step.line}, {mark}:")
                for line in lines:
                    print(f"#     {line}")
            end = steps[index + 1].line if index + 1 < len(steps) else case.lines[-1][0] + 1
            accepted.append((step.line, end, got))
        end_all_in(os.path.realpath(folder))
    return agrees


def accept(path, changes):
    lines = path.read_text().splitlines()
    for start, end, got in sorted(changes, reverse=True):
        while end > start and not lines[end - 2].strip():
            end -= 1
        lines[start - 1:end - 1] = [INDENT + line if line else "" for line in got]
    path.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pawl", required=True, help="the program under test")
    parser.add_argument("--accept", action="store_true", help="write what came into the files")
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    files = args.files or sorted(Path(__file__).parent.glob("*.t"))

    tap = Tap()
    for path in files:
        changes = []
        for case in cases_of(path):
            tap.case(run_case(case, args.pawl, changes), f"{path.stem}: {case.title}")
        if args.accept and changes:
            accept(path, changes)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
