#!/usr/bin/env python3
"""Tests of systems whose process dies, or that are taken up elsewhere: what they come to, and how
often each command runs, is what it would have been. Prints TAP.

    tests/engine/task_resumes.py PAWL [WORD...]
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from debugger import Debugger  # noqa: E402
from playbook import (SUCCESS, background, choose, concurrent, external, fails, hangs,
                      known, lingers, matrix, options, play, ran, result, run_tasks, says,
                      sees, sets, shell, start_and_wait, task, waits_for, works,
                      write_test)  # noqa: E402
from world import Broken, DONE, FAILED, TIMEOUT, USAGE, WAITING, cases_of, paced, run_all  # noqa: E402

STORES = {"sqlite": "sqlite:db/pawl.db", "file": "file:db"}


def gate(word, then="", **envelope):
    """A command that counts itself, says that it is there, and waits while it is held."""
    return shell(f"echo {word} >> ran; touch at-{word}; "
                 f"while [ -e hold-{word} ]; do sleep 0.02; done; {then}", **envelope)


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=TIMEOUT)


def clear(world):
    for path in [*world.folder.glob("at-*"), *world.folder.glob("hold-*"), world.folder / "ran"]:
        path.unlink(missing_ok=True)


def outcome(world, thread, words=()):
    """What a run came to: status, error, variables, and what ran."""
    status = world("status", thread, "--json", *words).gives(DONE).json
    state = world("show", thread, "--json", *words).gives(DONE).json
    return {"status": status["status"], "error": status["error"], "state": state,
            "ran": sorted(ran(world))}


def undisturbed(world, words=()):
    world("run", "test.yaml", "--thread", "calm", "-q", *words)
    calm = outcome(world, "calm", words)
    clear(world)
    return calm


# ---- playbooks, with the places where they are to be held ----

COUNTED = ("n=$(grep -c '^o' ran); echo o$n >> ran; touch at-o$n; "
           "while [ -e hold-o$n ]; do sleep 0.02; done; echo \"::set-output n $n\"; [ $n = 2 ]")


def write_other(world):
    write_test(world, [gate("e1", "echo '::set-var inner 1'"), gate("e2", id_="e2")],
               name="other.yaml", config={"own": 1}, cleanup=[gate("e3"), fails(), gate("e4")])


PLAYBOOKS = {
    "run_tasks": (
        [run_tasks(gate("a", "echo '::set-var x 1'"), gate("b", id_="b"),
                   newVariableScope=True, id_="l"), gate("c")], {}, "abc"),
    "run_tasks_concurrent": (
        [concurrent(run_tasks(gate("a", "echo '::set-var x 1'"), sees("x", "s"), gate("b")),
                    gate("c", "echo '::set-output n 7'", id_="c"),
                    run_tasks(gate("d"), sets("x", 2)), id_="t"), gate("e")], {}, "acdbe"),
    "thresholds of run_tasks_concurrent": (
        [concurrent(gate("a", "exit 1"), gate("b", "exit 1"), gate("c"), gate("d"),
                    failureThreshold=0, successThreshold=2, stopOnThreshold=False,
                    ignoreResult=True, id_="t"),
         gate("e")], {}, "abcde"),
    "run_task_matrix": (
        [matrix(gate("m${v}", "echo '::set-var x ${v}'"), [1, 2, 3], id_="t")], {},
        ["m1", "m2", "m3"]),
    "a concurrent run_task_matrix": (
        [matrix(run_tasks(gate("m${v}", "echo '::set-var x ${v}'"), gate("n${v}")), [1, 2, 3],
                runConcurrent=True, id_="t")], {}, ["m1", "m2", "m3", "n1", "n2", "n3"]),
    "run_task_background": (
        [background(run_tasks(gate("f"), shell(waits_for("at-done")), gate("g")),
                    gate("b", "touch at-done"), onBackgroundComplete="ignore", id_="t"),
         gate("h")], {}, "bfgh"),
    "a background task that decides": (
        [background(hangs(), gate("b", "exit 1"), onBackgroundComplete="failOrIgnore", id_="t")],
        {"cleanup": [gate("c")]}, "bc"),
    "run_task_options": (
        [says("o-"),
         options(shell(COUNTED, id_="o"), retryOnFailure=True, maxRetryCount=5, id_="t"),
         gate("a")], {}, ["o1", "o2", "a"]),
    "run_external_tasks": (
        [external("other.yaml", testConfig={"x": 1}, id_="t"), gate("a")], {},
        ["e1", "e2", "e3", "e4", "a"]),
    "cleanup after success": (
        [gate("a", "echo '::set-var x 1'")],
        {"cleanup": [gate("b"), fails(), concurrent(gate("c"), gate("d")), gate("e")]}, "abcde"),
    "cleanup after failure": (
        [gate("a", "exit 5", id_="a"), says("never")],
        {"cleanup": [gate("b"), matrix(gate("m${v}"), [1, 2]), gate("e")]},
        ["a", "b", "m1", "m2", "e"]),
    "containers in containers": (
        [concurrent(
            options(run_tasks(gate("a"), matrix(gate("b${v}"), [1, 2]),
                              background(gate("c"), hangs())), ignoreFailure=True),
            run_tasks(concurrent(gate("d"), gate("e"), newVariableScope=False),
                      options(gate("f", "exit 1"), expectFailure=True)), id_="t")],
        {"cleanup": [gate("z")]}, ["a", "d", "e", "b1", "b2", "c", "f", "z"]),
}


def begin(world, name):
    tasks, fields, gates = PLAYBOOKS[name]
    write_other(world)
    write_test(world, tasks, **fields)
    return list(gates)


def make_killed_once(name):
    def case(world):
        for at, word in enumerate(begin(world, name)):
            calm = undisturbed(world) if at == 0 else calm
            thread = f"t-{word}"
            world.write(f"hold-{word}", "")
            process = world.start("run", "test.yaml", "--thread", thread, "-q")
            world.wait_for(f"at-{word}")
            kill(process)
            process = world.start("resume", thread, "-q")
            time.sleep(0.2)
            (world.folder / f"hold-{word}").unlink()
            process.communicate(timeout=TIMEOUT)
            world.same(outcome(world, thread), calm, f"killed at {word}, it")
            clear(world)
        world("store", "check").gives(DONE)
    case.__doc__ = f"{name}: killed while a command runs and resumed, it is as if nothing had been"
    return case


def make_killed_everywhere(name, store):
    def case(world):
        words = ["--store", STORES[store]]
        gates = begin(world, name)
        calm = undisturbed(world, words)
        for word in gates:
            world.write(f"hold-{word}", "")
        process = world.start("run", "test.yaml", "--thread", "t", "-q", *words)
        for word in gates:
            world.wait_for(f"at-{word}")
            kill(process)
            (world.folder / f"hold-{word}").unlink()
            time.sleep(0.1)  # mostly it has ended by itself before somebody takes up the run
            process = world.start("resume", "t", "-q", *words)
        process.communicate(timeout=TIMEOUT)
        world.same(outcome(world, "t", words), calm, "killed at every command, it")
        world("store", "check", *words).gives(DONE)
    case.__doc__ = f"{name}: killed at every command, in {store}, it is as if nothing had been"
    return case


KILLED = ([make_killed_once(name) for name in PLAYBOOKS]
          + [make_killed_everywhere(name, store) for store in STORES for name in PLAYBOOKS])


# ---- time ----


@paced
def time_of_sleeps(world):
    """a sleep goes on after the process died, and is over when it would have been"""
    write_test(world, [concurrent(task("sleep", {"duration": world.ms(1000)}, id_="s"),
                                  shell("touch begun; sleep 0.2; echo a >> ran"),
                                  newVariableScope=False), says("b")])
    process = world.start("run", "test.yaml", "--thread", "t", "-q")
    world.wait_for("begun")
    kill(process)
    world.nap(1.2)
    begun = time.monotonic()
    answer = world("resume", "t", "--json").gives(DONE).json
    world.same((result(answer, "s"), ran(world)), (SUCCESS, ["a", "b"]))
    if time.monotonic() - begun > world.seconds(0.9):
        raise Broken("the sleep began anew")


@paced
def time_of_tasks(world):
    """the timeout of a task holds across the death of the process"""
    process = start_and_wait(world, options(lingers("a", id_="a", timeout=world.ms(600)),
                                            ignoreFailure=True), says("b"), at="ran")
    kill(process)
    world.nap(0.7)
    answer = world("resume", "t", "--json").gives(DONE).json
    world.same((known(answer, "a")["timeout"], ran(world)), (True, ["a", "b"]))


@paced
def time_of_tests(world):
    """a test whose time was up while no process ran it ends with its cleanup"""
    process = start_and_wait(world, lingers("a"), says("b"), at="ran", timeout=world.ms(600),
                             cleanup=[says("c")])
    kill(process)
    world.nap(0.7)
    answer = world("resume", "t", "--json").gives(FAILED).json
    world.same((answer["error"]["kind"], ran(world)), ("timeout", ["a", "c"]))


@paced
def time_of_cleanup(world):
    """a resume in the cleanup does not bring back the test's timeout"""
    world.write("hold-c", "")
    process = start_and_wait(world, works(), at="at-c", timeout=world.ms(400),
                             cleanup=[gate("c"), says("d")])
    kill(process)
    world.nap(0.5)
    (world.folder / "hold-c").unlink()
    answer = world("resume", "t", "--json").gives(DONE).json
    world.same((answer["status"], ran(world)), ("completed", ["c", "d"]))


# ---- cancelling ----


def cancel_then_killed_in_cleanup(world):
    """a cancelled run that dies in its cleanup: the cleanup goes on with whoever takes it up"""
    write_test(world, [gate("a"), says("never")], cleanup=[gate("b"), says("c")])
    for word in "ab":
        world.write(f"hold-{word}", "")
    process = world.start("run", "test.yaml", "--thread", "t", "-q")
    world.wait_for("at-a")
    asked = world.start("cancel", "t")
    world.wait_for("at-b")
    kill(process)
    (world.folder / "hold-b").unlink()
    asked.communicate(timeout=TIMEOUT)
    world("cancel", "t")
    world.same((ran(world), world("status", "t", "--json").json["status"]),
               (["a", "b", "c"], "cancelled"))


def cancel_of_a_dead_run_in_its_cleanup(world):
    """`pawl cancel` of a run that died in its cleanup runs the rest of it, and nothing twice"""
    for first, thread in ((works(), "fine"), (fails(), "failed")):
        clear(world)
        write_test(world, [first], cleanup=[says("a"), gate("b"), says("c")])
        world.write("hold-b", "")
        process = world.start("run", "test.yaml", "--thread", thread, "-q")
        world.wait_for("at-b")
        kill(process)
        (world.folder / "hold-b").unlink()
        world("cancel", thread)
        world.same(ran(world), ["a", "b", "c"], f"what ran when the test was {thread}")


def write_kind(world, **fields):
    """A kind from outside, which cleans up whatever ends it: other than a test that is called."""
    world.write(".pawl/kinds/k.yaml", json.dumps({"kind": "k", **fields}))
    os.chmod(world.folder / ".pawl", 0o700)


def cancel_of_a_dead_run_that_ended_a_kind(world):
    """`pawl cancel` of a run that died while a kind in it cleaned up: both clean up, and it is cancelled"""
    write_kind(world, tasks=[gate("a")], cleanupTasks=[gate("b")])
    for word in ("a", "b"):
        world.write(f"hold-{word}", "")
    write_test(world, [concurrent({"name": "k"}, shell(waits_for("at-a")), successThreshold=1)],
               cleanup=[says("c")])
    process = world.start("run", "test.yaml", "--thread", "t", "-q")
    world.wait_for("at-b")
    kill(process)
    (world.folder / "hold-b").unlink()
    world.cancel("t")
    world.same(ran(world)[-2:], ["b", "c"])


def cancel_of_a_run_whose_only_cleanup_is_a_kinds(world):
    """`pawl cancel` lets a kind in it clean up, also when it has no cleanupTasks itself"""
    for dead in (False, True):
        clear(world)
        write_kind(world, tasks=[hangs()], cleanupTasks=[says("b")])
        write_test(world, [says("a"), {"name": "k"}, says("x")])
        thread = "dead" if dead else "live"
        process = world.start("run", "test.yaml", "--thread", thread, "-q")
        world.wait_for("ran")
        world.until(lambda: world("status", thread, "--json").json["frames"][0]["node"] != "a",
                    "a is done")
        if dead:
            kill(process)
        world.cancel(thread)
        process.communicate(timeout=TIMEOUT)
        world.same((ran(world), world("status", thread, "--json").json["status"]),
                   (["a", "b"], "cancelled"), f"when its process is {thread}")


def cancel_of_a_run_paused_in_its_cleanup(world):
    """`pawl cancel` of a run that is paused in its cleanup runs the rest of it, and it is cancelled"""
    for first in (works(), fails()):
        for at in ("before", "after"):
            clear(world)
            thread = f"{at}-{first['name']}"
            write_test(world, [first], cleanup=[shell("echo a >> ran", id_="a"), says("b")])
            world("run", "test.yaml", "--thread", thread, "--break", f"a:{at}", "-q").gives(WAITING)
            world("cancel", thread).gives(DONE).says("cancelled")
            world.same(ran(world), ["a", "b"], f"what ran of {thread}")
            world("cancel", thread).gives(USAGE).says("cancelled already")


def cancel_of_a_run_paused_in_the_cleanup_of_a_kind(world):
    """`pawl cancel` of a run that is paused where a kind in it cleans up goes on with that"""
    for cleanup in ([], [says("c")]):
        clear(world)
        write_kind(world, tasks=[works()], cleanupTasks=[shell("echo a >> ran", id_="a"), says("b")])
        write_test(world, [{"name": "k"}, says("never")], **({"cleanup": cleanup} if cleanup else {}))
        thread = "with" if cleanup else "without"
        world("run", "test.yaml", "--thread", thread, "--break", "a", "-q").gives(WAITING)
        world("cancel", thread).gives(DONE)
        world.same(ran(world), ["a", "b"] + (["c"] if cleanup else []), f"what ran {thread} a cleanup of its own")


def cancel_of_a_run_that_another_process_paused(world):
    """`pawl cancel` of a run that a debugger in another process has paused in its cleanup"""
    write_test(world, [works()], cleanup=[shell("echo a >> ran", id_="a"), shell("echo b >> ran", id_="b")])
    with Debugger(world, "test.yaml", "--thread", "t", store="file:kept") as d:
        d.begin()
        d.set(node="a")
        d.set(node="b")
        d.go("continue")
        world("cancel", "t", "--store", "file:kept").gives(DONE).says("cancelled")
        world.same(d.wait("settled")["status"], "cancelled")
        world.same(ran(world), ["a", "b"])


def cancel_of_a_dead_run_in_containers(world):
    """`pawl cancel` of a dead run ends what it left running, in containers too, then cleans up"""
    tasks, _, _ = PLAYBOOKS["containers in containers"]
    write_test(world, tasks, cleanup=[says("z")])
    for word in ("a", "d", "e"):
        world.write(f"hold-{word}", "")
    process = world.start("run", "test.yaml", "--thread", "t", "-q")
    for word in ("a", "d", "e"):
        world.wait_for(f"at-{word}")
    kill(process)
    world.cancel("t")
    for word in ("a", "d", "e"):
        (world.folder / f"hold-{word}").unlink()
    time.sleep(0.2)
    world.same((sorted(ran(world)), ran(world)[-1]), (["a", "d", "e", "z"], "z"))
    world.same(world("status", "t", "--json").json["status"], "cancelled")


# ---- after a failure ----


def failed_root_task_again(world):
    """a resume of a failed test without cleanupTasks runs the failed root task again"""
    write_test(world, [says("a"), shell("echo b >> ran; [ -e fixed ]", id_="b"), says("c")])
    world("run", "test.yaml", "--thread", "t", "-q").gives(FAILED)
    world("status", "t").says("pawl resume t")
    world("resume", "t", "-q").gives(FAILED)
    world.write("fixed", "")
    answer = world("resume", "t", "--json").gives(DONE).json
    world.same((ran(world), result(answer, "b")), (["a", "b", "b", "b", "c"], SUCCESS))


def failed_containers_again(world):
    """a failed root task that is a container begins anew, in every kind"""
    inner = run_tasks(shell("echo x >> ran"), shell("[ -e fixed ]"))
    write_test(world, [inner], name="other.yaml")
    for name, make in (("tasks", inner), ("concurrent", concurrent(inner)),
                       ("matrix", matrix(inner, [1])), ("background", background(inner, hangs())),
                       ("options", options(inner)), ("external", external("other.yaml"))):
        for path in ("ran", "fixed"):
            (world.folder / path).unlink(missing_ok=True)
        write_test(world, [make, says("after")])
        world("run", "test.yaml", "--thread", name, "-q").gives(FAILED)
        world.write("fixed", "")
        world("resume", name, "-q").gives(DONE)
        world.same(ran(world), ["x", "x", "after"], f"what ran with {name}")


@paced
def failed_timeout_again(world):
    """a test without cleanupTasks that ran out of time has its time again"""
    write_test(world, [says("a"), shell("echo b >> ran; [ -e fixed ] || sleep 60")],
               timeout=world.ms(600))
    world("run", "test.yaml", "--thread", "t", "-q").gives(FAILED)
    world.write("fixed", "")
    world("resume", "t", "-q").gives(DONE)
    world.same(ran(world), ["a", "b", "b"])


def failed_with_values(world):
    """variables can be set by hand before the failed task is tried again"""
    write_test(world, [shell("exit ${code}")],
               config={"code": 3})
    world("run", "test.yaml", "--thread", "t", "-q").gives(FAILED)
    world("resume", "t", "--set", "code=0", "-q").gives(DONE)


def failed_with_another_file(world):
    """the file can be mended and taken with --reload"""
    write_test(world, [says("a"), shell("echo b >> ran; exit 1", id_="b")])
    world("run", "test.yaml", "--thread", "t", "-q").gives(FAILED)
    write_test(world, [says("a"), shell("echo mended >> ran", id_="b"), says("c")])
    world("resume", "t", "--reload", "-q").gives(DONE)
    world.same(ran(world), ["a", "b", "mended", "c"])


def failed_with_cleanup(world):
    """a resume of a failed test whose cleanupTasks have run is refused with a sentence"""
    write_test(world, [says("a"), fails()], cleanup=[says("c")])
    world("run", "test.yaml", "--thread", "t", "-q").gives(FAILED)
    answer = world("resume", "t").gives(USAGE)
    answer.says("`t`", "cleanup", "t@SEQ")
    world.same((ran(world), "pawl resume t\n" in world("status", "t").out), (["a", "c"], False))
    world("run", "test.yaml", "--thread", "u").gives(FAILED)
    world.same("Try again from there" in world("run", "test.yaml").err, False,
               "a resume is offered that would be refused")


def completed(world):
    """a resume of a completed test is refused with a sentence"""
    play(world, says("a"), cleanup=[says("c")], words=["--thread", "t"])
    world("resume", "t").gives(USAGE).says("has completed")
    world.same(ran(world), ["a", "c"])


# ---- looking at runs, going back, elsewhere ----


def rows_of(world, thread="t"):
    return world("history", thread, "--json").gives(DONE).json


def row_at(world, node, status):
    for row in rows_of(world):
        if (row["node"], row["status"]) == (node, status):
            return row["checkpoint"]
    raise Broken(f"no row has {node} {status}: {rows_of(world)}")


# b ends when a is on record: what comes after a has begun.
TOUR = [sets("n", 1), concurrent(run_tasks(says("a", id_="a"), shell("touch past-a", id_="a2")),
                                 run_tasks(shell(f"{waits_for('past-a')}; echo b >> ran", id_="b"),
                                           sets("x", 2)), id_="c"),
        matrix(works(id_="m"), [1, 2], id_="mm"), options(fails(id_="f"), expectFailure=True),
        sees("n", "s")]


def look_history(world):
    """the history has every task with how it began and ended"""
    play(world, *TOUR, cleanup=[works(id_="z")], words=["--thread", "t"])
    rows = rows_of(world)
    world.same([row["checkpoint"] for row in rows], list(range(1, len(rows) + 1)))
    found = [(row["node"], row["status"]) for row in rows]
    for want in ((None, "started"), ("c", "entered"), ("a", "started"), ("a", "completed"),
                 ("a2", "completed"), ("c", "completed"), ("mm", "entered"), ("f", "failed"),
                 ("run_task_options", "completed"), (None, "cleanup"), ("z", "completed"),
                 (None, "completed")):
        if want not in found:
            raise Broken(f"{want} is not in {found}")


def look_show(world):
    """every checkpoint shows the variables as they were"""
    play(world, *TOUR, cleanup=[works(id_="z")], words=["--thread", "t"])
    states = [world("show", f"t@{row['checkpoint']}", "--json").gives(DONE).json
              for row in rows_of(world)]
    world.same(("n" in states[0], states[-1]["n"]), (False, 1))
    counts = [len(state.get("tasks", {})) for state in states]
    world.same((counts, counts[-1]), (sorted(counts), 5), "how many tasks are known")


def look_fork_everywhere(world):
    """a fork at any checkpoint, resumed, comes to what the first run came to"""
    play(world, *TOUR, cleanup=[works(id_="z")], words=["--thread", "t"])
    want = world("show", "t", "--json").json
    rows = rows_of(world)
    for row in rows[:-1]:
        thread = f"fork-{row['checkpoint']}"
        world("fork", f"t@{row['checkpoint']}", "--thread", thread).gives(DONE)
        answer = world("resume", thread, "--json").gives(DONE).json
        world.same(answer["state"], want, f"the fork at {row['checkpoint']} ({row['status']})")
    world.same(world("show", "t", "--json").json, want, "the first run")
    world("store", "check").gives(DONE)


def look_back_everywhere(world):
    """a resume from any checkpoint comes to what the run came to at first"""
    play(world, *TOUR, cleanup=[works(id_="z")], words=["--thread", "t"])
    want, last = world("show", "t", "--json").json, len(rows_of(world))
    for seq in range(1, last):
        answer = world("resume", f"t@{seq}", "--json").gives(DONE).json
        world.same(answer["state"], want, f"the run from {seq}")
    world("store", "check").gives(DONE)


def look_back_into_a_container(world):
    """going back into a container with children runs again what had not ended there, and no more"""
    play(world, *TOUR, words=["--thread", "t"])
    world.same(ran(world), ["a", "b"])
    seq = row_at(world, "a", "completed")
    (world.folder / "ran").unlink()
    world.write("ran", "")
    world("resume", f"t@{seq}", "-q").gives(DONE)
    world.same(ran(world), ["b"], "what ran from there")
    rows = rows_of(world)
    world.same(seq in [row["parent"] for row in rows], True, "the parent is in the history")


def look_back_after_failure(world):
    """a failed test with cleanupTasks goes on from an earlier checkpoint, and cleans up again"""
    write_test(world, [says("a", id_="a"), shell("echo b >> ran; [ -e fixed ]"), says("d")],
               cleanup=[says("c")])
    world("run", "test.yaml", "--thread", "t", "-q").gives(FAILED)
    world.write("fixed", "")
    world("resume", f"t@{row_at(world, 'a', 'completed')}", "-q").gives(DONE)
    world.same(ran(world), ["a", "b", "c", "b", "d", "c"])


def look_fork_with_other_values(world):
    """a fork goes its own way with other variables; diff shows what became different"""
    prints = task("run_command", configVars={"command": '| ["printf", "%s", .n]'}, id_="p")
    write_test(world, [works(id_="first"), prints], config={"n": 1})
    world("run", "test.yaml", "--thread", "t", "-q").gives(DONE)
    world("fork", f"t@{row_at(world, 'first', 'completed')}", "--thread", "u").gives(DONE)
    answer = world("resume", "u", "--set", "n=2", "--json").gives(DONE).json
    world.same(known(answer, "p")["outputs"]["stdout"], "2")
    paths = [change["path"] for change in world("diff", "t", "u", "--json").json["changed"]]
    world.same((len(paths), any("stdout" in json.dumps(path) for path in paths)), (2, True))


def look_diff(world):
    """diff of two checkpoints shows what tasks changed; of one with itself, nothing"""
    play(world, *TOUR, words=["--thread", "t"])
    seq = row_at(world, "c", "completed")
    added = world("diff", f"t@{seq}", "t", "--json").gives(DONE).json["added"]
    world.same([name for name in ("mm", "s") if name not in json.dumps(added)], [], "missing")
    world.same(world("diff", "t", "t").gives(DONE).out, "")


def look_update(world):
    """variables that are changed by hand in the middle of containers are seen by what runs then"""
    write_test(world, [concurrent(gate("a"), run_tasks(gate("b"), shell("echo n=${n} >> ran"),
                                                       newVariableScope=True))])
    for word in "ab":
        world.write(f"hold-{word}", "")
    process = world.start("run", "test.yaml", "--thread", "t", "-q")
    for word in "ab":
        world.wait_for(f"at-{word}")
    kill(process)
    world("update", "t", "--set", "n=5").gives(DONE)
    for word in "ab":
        (world.folder / f"hold-{word}").unlink()
    world("resume", "t", "-q").gives(DONE)
    world.same(sorted(ran(world)), ["a", "b", "n=5"])


def look_status(world):
    """status of a run in containers says what each of its tasks does"""
    write_test(world, [concurrent(gate("a", id_="a"), hangs(id_="h"),
                                  run_tasks(works(), gate("b", id_="b")))])
    for word in "ab":
        world.write(f"hold-{word}", "")
    process = world.start("run", "test.yaml", "--thread", "t", "-q")
    for word in "ab":
        world.wait_for(f"at-{word}")
    live = world("status", "t", "--json").gives(DONE).json
    kill(process)
    dead = world("status", "t", "--json").gives(DONE).json
    for status in (live, dead):
        nodes = [frame["node"] for frame in status["frames"]]
        world.same([n for n in ("a", "b", "h") if n not in nodes], [], f"missing in {nodes}")
    world("status", "t").gives(DONE).says("a", "b", "h", "pawl resume t")
    world.cancel("t")


def look_status_of_a_failure(world):
    """status of a failed test says which task failed, and why"""
    write_test(world, [run_tasks(shell("echo oops >&2; exit 3", id_="deep"))])
    world("run", "test.yaml", "--thread", "t", "-q").gives(FAILED)
    world("status", "t").gives(DONE).says("failed", "deep", "oops")
    error = world("status", "t", "--json").json["error"]
    world.same((error["node"], error["exit_code"]), ("deep", 3))


if __name__ == "__main__":
    here = sys.modules["__main__"]
    groups = ["time_", "cancel_", "failed_", "completed", "look_"]
    cases = KILLED + [case for prefix in groups for case in cases_of(here, prefix)]
    sys.exit(run_all(choose(cases, sys.argv[2:]), sys.argv[1]))
