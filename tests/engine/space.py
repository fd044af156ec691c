#!/usr/bin/env python3
"""What a store takes on disk, and copies of it, while others are at work on it. Prints TAP.

    tests/engine/space.py PAWL

PAWL_TEST_ALL: many more deaths.
"""

import os
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from world import Broken, BUSY, DONE, TIMEOUT, USAGE, cases_of, run_all  # noqa: E402

STORES = ("sqlite:store.db", "file:store")
KILLS = 12 if os.environ.get("PAWL_TEST_ALL") else 4

# Writes a checkpoint with every turn, until there is a file `enough`.
WRITES = """
name: writes
config: {recursion_limit: 1000000000}
state: {n: 0}
nodes:
  - {name: count, jq: '{n: (.n + 1), text: ("x" * 1000)}', goto: [{if: '.n % 100 != 0', to: count}, {to: look}]}
  - {name: look, shell: 'test -e enough', goto: __end__}
  - {name: again, jq: '{}', goto: count}
edges:
  - {from: __start__, to: count}
  - {from: look, to: again, on: error}
"""


def writers(world, store, n=2):
    world.write("writes.yaml", WRITES)
    started = [world.start("run", "writes.yaml", "--thread", f"w{i}", "--store", store, "-q") for i in range(n)]
    for i in range(n):
        world.until(lambda i=i: world("status", f"w{i}", "--store", store).code == DONE, f"w{i} is there")
    return started


def end(world, started):
    world.write("enough", "")
    for process in started:
        process.communicate(timeout=TIMEOUT)
        if process.returncode != DONE:
            raise Broken(f"a run that was written to meanwhile came to {process.returncode}")
    (world.folder / "enough").unlink()


def forget(world):
    subprocess.run(["rm", "-rf", "store.db", "store.db-wal", "store.db-shm", "store.db-lease", "store.db-work",
                    "store"], cwd=world.folder, check=True)
    for path in world.folder.glob("copy*"):
        subprocess.run(["rm", "-rf", path], check=True)


def url_of(store, name):
    return f"{store.split(':')[0]}:{name}"


def case_backup_beside_writers(world):
    """copies that are made while others write are whole, and their runs go on"""
    for store in STORES:
        forget(world)
        started = writers(world, store)
        for i in range(5):
            world("store", "backup", f"copy{i}", "--store", store).gives(DONE)
            world("store", "check", "--store", url_of(store, f"copy{i}")).gives(DONE)
        end(world, started)
        counts = [world("show", "w0", "--json", "--store", url_of(store, f"copy{i}")).json["n"] for i in range(5)]
        if counts != sorted(counts) or counts[0] == counts[-1]:
            raise Broken(f"{store}: the copies have {counts}")
        world.write("enough", "")
        after = world("resume", "w0", "--json", "-q", "--store", url_of(store, "copy0")).gives(DONE).json
        if not after["state"]["n"] >= counts[0] or after["status"] != "completed":
            raise Broken(f"{store}: the run of a copy came to {after}")
        (world.folder / "enough").unlink()


def case_backup_of_results(world):
    """a copy has what tasks have left to be kept, and no links that were put among it"""
    world.write("t.yaml", "name: t\ntasks:\n  - name: run_shell\n    id: s\n    config:\n      command: |\n"
                "        echo summed > $PAWL_SUMMARY\n        mkdir $PAWL_RESULT_DIR/deep\n"
                "        echo kept > $PAWL_RESULT_DIR/deep/file\n")
    for store in STORES:
        forget(world)
        for thread in ("a", "b"):
            world("run", "t.yaml", "--thread", thread, "--store", store, "-q").gives(DONE)
        work = world.folder / ("store.db-work" if store.startswith("sqlite") else "store/work")
        copied = world.folder / ("copy-work" if store.startswith("sqlite") else "copy/work")
        world.same(len(list(work.glob("results-*"))), 2, "folders of results")
        (work / "other").write_text("of the work itself")
        os.symlink("/etc/passwd", work / "results-1/link")
        (world.folder / "copy.part-work").mkdir()  # of one that was killed
        answer = world("store", "backup", "copy", "--json", "--store", store).gives(DONE).json
        for run in (1, 2):
            files = {path.name: path.read_text() for path in copied.glob(f"results-{run}/**/*") if path.is_file()}
            world.same((files["file"], files["summary"].strip(), files["node"]), ("kept\n", "summed", "s"), f"of run {run}")
        world.same(sorted(path.name for path in copied.glob("*")), ["results-1", "results-2"], "the copy of the work")
        world.same((copied / "results-1/link").is_symlink(), False, "links")
        world.same(answer["bytes"] > 0, True, "bytes")
        world("store", "check", "--store", url_of(store, "copy")).gives(DONE)
        world("prune", "--runs", "--older-than", "0s", "--store", url_of(store, "copy")).gives(DONE)
        world.same(list(copied.glob("*")), [], "results of runs that were pruned")
        subprocess.run(["rm", "-rf", str(world.folder / "copy")], check=True)
        if store.startswith("sqlite"):
            world("store", "backup", "copy", "--store", store).gives(USAGE).says("copy-work already")


def case_backup_of_tokens(world):
    """a copy has the tokens of the store, and the workflows that have names"""
    for store in STORES:
        forget(world)
        world("token", "make", "ci", "--scope", "read", "--store", store).gives(DONE)
        work = world.folder / ("store.db-work" if store.startswith("sqlite") else "store/work")
        (work / "workflows").mkdir(mode=0o700)
        (work / "workflows/named").write_text("{}")
        world("store", "backup", "copy", "--store", store).gives(DONE)
        copied = world.folder / ("copy-work" if store.startswith("sqlite") else "copy/work")
        world.same(sorted(path.name for path in copied.glob("*")), ["tokens", "workflows"], "the copy of the work")
        world("token", "list", "--store", url_of(store, "copy")).gives(DONE).says("ci")
        subprocess.run(["rm", "-rf", str(world.folder / "copy"), str(world.folder / "copy-work")], check=True)


def case_compact_beside_writers(world):
    """a store is compacted while others write to it"""
    for store in STORES:
        forget(world)
        world.write("enough", "")
        world.write("writes.yaml", WRITES)
        world("run", "writes.yaml", "--thread", "old", "--store", store, "-q").gives(DONE)
        (world.folder / "enough").unlink()
        started = writers(world, store)
        for _ in range(3):
            world("prune", "--keep-last", "2", "--thread", "old", "--store", store).gives(DONE)
            answer = world("store", "compact", "--json", "--store", store).gives(DONE).json
            world.same(answer["busy"], 2 if store.startswith("file") else 0, "runs that were left as they are")
        world("prune", "--keep-last", "2", "--store", store).gives(DONE).says("w0")
        world("prune", "--keep-last", "2", "--thread", "w0", "--store", store).gives(BUSY).says("w0")
        end(world, started)
        world("store", "check", "--store", store).gives(DONE)


def killed_at(world, chance, words, seconds):
    process = world.start(*words)
    try:
        process.wait(chance.uniform(0, seconds))
    except subprocess.TimeoutExpired:
        pass
    killed = process.poll() is None
    process.kill()
    process.communicate(timeout=TIMEOUT)
    return killed


def large(world, store):
    world.write("large.yaml", "name: large\nconfig: {recursion_limit: 100000}\nstate: {n: 0}\nnodes:\n"
                "  - {name: a, jq: '{n: (.n + 1), text: ((\"x\" * 20000) + (.n | tostring))}', "
                "goto: [{if: '.n < 300', to: a}, {to: __end__}]}\n")
    for i in range(4):
        world("run", "large.yaml", "--thread", f"l{i}", "--store", store, "-q").gives(DONE)


def time_of(world, *words):
    began = time.monotonic()
    world(*words).gives(DONE)
    return time.monotonic() - began


def case_killed_backup(world):
    """a copy whose making is killed is not there, and the store is whole"""
    chance = random.Random(5)
    for store in STORES:
        forget(world)
        large(world, store)
        seconds, killed = time_of(world, "store", "backup", "copy-timed", "--store", store), 0
        for i in range(KILLS):
            killed += killed_at(world, chance, ("store", "backup", f"copy{i}", "--store", store), seconds * 1.1)
            if (world.folder / f"copy{i}").exists():
                world("store", "check", "--store", url_of(store, f"copy{i}")).gives(DONE)
            world("store", "check", "--store", store).gives(DONE)
            world("store", "backup", f"copy{i}", "--store", store)  # what was left is in nobody's way
            world("store", "check", "--store", url_of(store, f"copy{i}")).gives(DONE)
        world.same(sorted(p.name for p in world.folder.glob("*.part")), [], "what is left")
        print(f"# {store}: killed {killed} of {KILLS} times in the middle", flush=True)


def case_killed_compact(world):
    """a store whose compacting is killed is whole"""
    chance = random.Random(6)
    for store in STORES:
        forget(world)
        large(world, store)
        world("store", "backup", "copy-full", "--store", store).gives(DONE)
        killed = 0
        for i in range(KILLS):
            killed += killed_at(world, chance, ("prune", "--keep-last", "3", "--thread", f"l{i % 4}", "--store",
                                                store), 0.1)
            killed += killed_at(world, chance, ("store", "compact", "--store", store), 0.1)
            world("store", "check", "--store", store).gives(DONE)
        for i in range(4):
            world.same(world("show", f"l{i}", "--json", "--store", store).json["n"], 300)
        print(f"# {store}: killed {killed} of {2 * KILLS} times in the middle", flush=True)


def case_what_it_says(world):
    """a copy over something, an action that is none, and a database that is busy"""
    world.write("enough", "")
    world.write("writes.yaml", WRITES)
    world("run", "writes.yaml", "--store", "sqlite:store.db", "-q").gives(DONE)
    world.write("there", "x")
    world("store", "backup", "there", "--store", "sqlite:store.db").gives(USAGE).says("already")
    world.same(world.read("there"), "x")
    world("store", "backup", "--store", "sqlite:store.db").gives(USAGE).says("pawl store backup FILE")
    world("store", "shrink").gives(USAGE).says("`compact`")
    world("store", "compact", "--thread", "x").gives(USAGE).says("--thread goes with `check`")
    (world.folder / "enough").unlink()
    started = writers(world, "sqlite:store.db", 1)
    end(world, started)
    with sqlite3.connect(world.folder / "store.db", isolation_level=None) as db:
        db.execute("PRAGMA auto_vacuum = NONE")
        db.execute("VACUUM")
    db.close()
    started = [world.start("run", "writes.yaml", "--thread", "busy", "--store", "sqlite:store.db", "-q")]
    world.until(lambda: world("status", "busy", "--store", "sqlite:store.db").code == DONE, "it runs")
    world("store", "compact", "--store", "sqlite:store.db").gives(BUSY).says("under way")
    end(world, started)
    world("store", "compact", "--store", "sqlite:store.db").gives(DONE).says("The store takes")
    world("store", "check", "--store", "sqlite:store.db").gives(DONE)


if __name__ == "__main__":
    sys.exit(run_all(cases_of(sys.modules["__main__"], "case_"), sys.argv[1]))
