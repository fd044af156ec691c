#!/usr/bin/env python3
"""Runs the examples in the documents and compares what they print. Prints TAP.

    tests/docs.py --root ROOT --pawl PAWL

An example is a block fenced as ```console in README.md or docs/*.md; its form is that of
tests/transcript.py, and a line `...` stands for any lines. The blocks of a document run one after
the other in one folder, which has the project's examples/ and build/pawl in it. A block that must
not run (it installs, builds or talks to the network) has this line before it:

    <!-- not run -->

A session of the debugger stands there as a person sees it: what follows `(pawl) ` in it is typed, that
is, given to `pawl debug` with -x, which shows the commands as the terminal does.
"""

import argparse
import os
import re
import socket
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import transcript  # noqa: E402
from tap import Tap  # noqa: E402
from world import end_all_in  # noqa: E402

MARKER = "<!-- not run -->"
SERVER_PORT = "7295"
PROMPT = "(pawl) "


def blocks_of(path):
    """(first line, numbered lines, whether to run it) for each console block."""
    block, run, before = None, True, ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if block is None:
            if re.fullmatch(r"\s*```console\s*", line):
                block, run = [], before != MARKER
            elif line.strip():
                before = line.strip()
        elif line.strip() == "```":
            yield block[0][0] if block else number, block, run
            block, before = None, ""
        else:
            block.append((number, line))


def timeless(line):
    """Times differ from run to run: how long, when (also as a number of milliseconds)."""
    line = re.sub(r"\d+\.\d\ds\b", "0.00s", line)
    line = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "2026-01-01T00:00:00.000Z", line)
    return re.sub(r"\b1[78]\d{11}\b", "1700000000000", line)


def agrees(step, out, err, code):
    """As transcript.same(), but `...` stands for any number of lines, times may differ, and a
    terminal shows both streams as one: lines without a mark may have come from either."""
    if code != step.code:
        return False
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..."
        else re.escape(timeless(line[:-7])).replace(r"\*", ".*") + r"\n" if line.endswith(" (glob)")
        else re.escape(timeless(line)) + r"\n"
        for line in step.out
    )
    got = "".join(timeless(line) + "\n" for line in (out if step.err else out + err))
    want_err = [timeless(line) for line in step.err]
    got_err = [timeless(line) for line in err]
    return bool(re.fullmatch(pattern, got)) and (
        not step.err or transcript.same(want_err, got_err))


def command_of(step, folder):
    """What to run: a session of the debugger gets what is typed in it from a file."""
    typed = [line[len(PROMPT):] + "\n" for line in step.out if line.startswith(PROMPT)]
    if not typed or not step.command.startswith("pawl debug") or " -x " in step.command:
        return step.command
    script = Path(folder) / ".typed"
    script.write_text("".join(typed))
    return f"{step.command} -x {script}"


def free_port():
    """A server in a document listens where it always does; here several documents are read at a time."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def run_block(lines, folder, env, port):
    good = True
    for step in transcript.parse(lines):
        command = command_of(step, folder).replace(SERVER_PORT, port)
        out, err, code = transcript.run(command, folder, env)
        out = [line.replace(port, SERVER_PORT) for line in transcript.show(out)]
        err = [line.replace(port, SERVER_PORT) for line in transcript.show(err)]
        # Documents seldom spell out an exit code.
        if agrees(step, out, err, step.code if step.code == 0 else code):
            continue
        good = False
        print(f"# line {step.line}: $ {step.command}")
        for line in transcript.format_step(step, out, err, code)[1:]:
            print(f"#     {line}")
    return good


def routes_of(folder):
    """The routes in the rows of the table of operations."""
    for path in sorted(folder.glob("*_operations.c")):
        yield from re.findall(r'"((?:GET|POST|PUT|DELETE) /[^"]*)"', path.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--pawl", required=True)
    args = parser.parse_args()
    tap = Tap()
    for path in [args.root / "README.md", *sorted((args.root / "docs").glob("*.md"))]:
        if not path.exists():
            continue
        with tempfile.TemporaryDirectory(prefix="pawl-docs-", ignore_cleanup_errors=True) as folder:
            os.symlink(args.root / "examples", Path(folder) / "examples")
            os.mkdir(Path(folder) / "build")
            os.symlink(os.path.abspath(args.pawl), Path(folder) / "build" / "pawl")
            env = transcript.environment(folder, args.pawl)
            port = free_port()
            for first, lines, run in blocks_of(path):
                if not run:
                    continue
                tap.case(run_block(lines, folder, env, port), f"{path.name}:{first}")
            end_all_in(os.path.realpath(folder))
    for route in routes_of(args.root / "src" / "api"):
        tap.case(route in (args.root / "docs" / "api.md").read_text(), f"api.md lists {route}")
    return tap.finish("there is no example yet")


if __name__ == "__main__":
    sys.exit(main())
