#!/usr/bin/env python3
"""Playbooks that people have, read as they stand: every kind that is not Pawl's is a stub. They are in
$PAWL_TEST_DATA/assertoor/playbooks, or in ../shared/data/assertoor/playbooks beside the checkout; where there
are none, this says so. Prints TAP.

    tests/engine/playbooks.py PAWL [WORD...]
"""

import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from playbook import choose  # noqa: E402
from tap import Tap  # noqa: E402
from world import DONE, run_all  # noqa: E402

NAME = re.compile(r"""^\s*(?:-\s+)?name:\s*["']?([a-z0-9_]+)["']?\s*$""", re.MULTILINE)
STUB = """kind: {name}
about: Stands for a kind that needs more than this machine.
inputs: {{type: object, additionalProperties: true}}
tasks: [{{name: sleep, config: {{duration: 0}}}}]
"""


def data():
    given = os.environ.get("PAWL_TEST_DATA")
    root = Path(__file__).resolve().parents[2]
    # a worktree stands beside the checkout, or the folder is the checkout's neighbour
    folder = Path(given) if given else root / ".." / "shared" / "data"
    return folder / "assertoor" / "playbooks"


def kinds_of(path):
    return set(NAME.findall(path.read_text(encoding="utf-8")))


def write_stubs(world, names):
    (world.folder / "kinds").mkdir()
    own = {row["name"] for row in world("kinds", "--json").gives(DONE).json}
    for name in names - own:
        world.write(f"kinds/{name}.yaml", STUB.format(name=name))
    return own


def make_check(path, shown):
    def case(world):
        write_stubs(world, kinds_of(path))
        world("check", str(path.resolve()), "--kinds", "kinds").gives(DONE)
    case.__doc__ = f"{shown} passes `pawl check`"
    case.__name__ = "check_" + shown
    return case


# Those that are made of generic tasks only, and what the rules say comes of them: what `sudo` gives, whether all of
# the run completes, how often it is called, and the summary of the one task.
GENERIC = [
    # X6: what is written to $ASSERTOOR_SUMMARY is kept
    ("dev/shell-test.yaml", 0, DONE, 0, "Hello\n"),
    # X4: the last command decides about a script, and that one ends in `|| true`: failures before it do not count
    ("dev/execution-spec-tests-dependencies.yaml", 0, DONE, 4, None),
    ("dev/execution-spec-tests-dependencies.yaml", 1, DONE, 4, None),
]


def make_run(path, shown, sudo, code, calls, summary):
    def case(world):
        tool = world.write("bin/sudo", f'#!/bin/sh\necho "$@" >> "{world.folder}/calls"\nexit {sudo}\n')
        tool.chmod(0o755)
        env = {"PATH": f"{tool.parent}:{os.environ['PATH']}"}
        answer = world("run", str(path.resolve()), "--json", env=env).gives(code).json
        world.same(answer["status"], "completed")
        world.same(len(world.read("calls").splitlines()), calls, "how often sudo is called")
        kept = [file.read_text() for file in world.folder.rglob("results-*/**/summary*")]
        world.same(kept, [summary] if summary else [], "the summary that is kept")
    case.__doc__ = f"{shown} runs to what the rules predict, when sudo gives {sudo}"
    case.__name__ = "run_" + shown
    return case


def main():
    folder = data()
    files = sorted(folder.rglob("*.yaml")) if folder.is_dir() else []
    if not files:
        tap = Tap()
        tap.skip("playbooks that people have", "they are not here (set PAWL_TEST_DATA)")
        return tap.finish()
    cases = [make_check(path, str(path.relative_to(folder))) for path in files]
    cases += [make_run(folder / row[0], *row) for row in GENERIC if (folder / row[0]).is_file()]
    return run_all(choose(cases, sys.argv[2:]), sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
