#!/usr/bin/env python3
"""What containers make of the results of their tasks: a table, a row for each case, by its id. Prints TAP.

    tests/engine/task_results.py PAWL [WORD...]
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from playbook import (FAILURE, SUCCESS, Server, background, choose, concurrent, external, fails,
                      hangs, matrix, options, play, ran, result, run_tasks, says, shell,
                      task, works)  # noqa: E402
from world import DONE, FAILED, cases_of, run_all  # noqa: E402

NO = ".no == true"  # an `if` that is false
skipped = lambda: works(if_=NO)  # noqa: E731
late = lambda word, code=0: shell(f"sleep 0.4; echo {word} >> ran; exit {code}")  # noqa: E731
bad = lambda: task("sleep", {"duration": 1}, configVars={"duration": '| "soon"'})  # noqa: E731
by_value = shell("[ \"$V\" != 1 ]")  # of a matrix: 1 fails
by_value["config"]["envVars"] = {"V": "v"}
said = shell("echo $V >> ran; [ \"$V\" != 1 ]")
said["config"]["envVars"] = {"V": "v"}


def inside(**config):
    return external("other.yaml", **config)


S, F = SUCCESS, FAILURE
OTHER = {"tasks": [says("a"), fails(), says("b")]}
FINE = {"tasks": [says("a")]}
ROWS = [
    # id, what it is, the task, its result, what ran (None: whatever), the other file
    ("R1", "a child fails: stop", run_tasks(says("a"), fails(), says("b")), F, "a"),
    ("R1", "continueOnFailure: all run, success",
     run_tasks(says("a"), fails(), says("b"), continueOnFailure=True), S, "ab"),
    ("R1", "continueOnFailure, the last one fails",
     run_tasks(says("a"), fails(), continueOnFailure=True), S, "a"),
    ("R2", "ignoreResult: success, and stops there",
     run_tasks(says("a"), fails(), says("b"), ignoreResult=True), S, "a"),
    ("R2", "invertResult swaps a failure", run_tasks(fails(), invertResult=True), S, ""),
    ("R2", "invertResult swaps a success", run_tasks(works(), invertResult=True), F, ""),
    ("R2", "ignoreResult comes before invertResult",
     run_tasks(works(), invertResult=True, ignoreResult=True), S, ""),
    ("R2", "invertResult with continueOnFailure, a child fails",
     run_tasks(fails(), says("a"), invertResult=True, continueOnFailure=True), F, "a"),
    ("R2", "invertResult with continueOnFailure, none fails",
     run_tasks(says("a"), invertResult=True, continueOnFailure=True), F, "a"),
    ("R3", "successThreshold reached: success, the rest is cancelled",
     concurrent(works(), hangs(), successThreshold=1), S, ""),
    ("R3", "successThreshold comes before failureThreshold",
     concurrent(fails(), shell("sleep 0.3"), failureThreshold=2, successThreshold=1), S, ""),
    ("R3", "failureThreshold reached: failure, the rest is cancelled",
     concurrent(fails(), hangs()), F, ""),
    ("R3", "failureThreshold 2 reached",
     concurrent(fails(), fails(), hangs(), failureThreshold=2), F, ""),
    ("R3", "stopOnThreshold false waits for the rest",
     concurrent(fails(), late("a"), stopOnThreshold=False), F, "a"),
    ("R3", "of a matrix at the same time",
     matrix(shell("[ \"$V\" = 1 ] || sleep 60") | {"config": {
         "command": "[ \"$V\" = 1 ] || sleep 60", "envVars": {"V": "v"}}}, [1, 2, 3],
            runConcurrent=True, successThreshold=1), S, ""),
    ("R4", "all ended, none failed", concurrent(works(), works()), S, ""),
    ("R4", "skipped children count as neither", concurrent(skipped(), skipped()), S, ""),
    ("R4", "any failure fails it, whatever the thresholds",
     concurrent(works(), fails(), works(), failureThreshold=5, successThreshold=3), F, ""),
    ("R5", "failureThreshold 2, one of three fails",
     concurrent(fails(), late("a"), works(), failureThreshold=2), F, "a"),
    ("R5", "failureThreshold 0, one fails, after all have ended",
     concurrent(fails(), late("a"), failureThreshold=0), F, "a"),
    ("R5", "failureThreshold 2 of a matrix",
     matrix(said, [1, 2, 3], failureThreshold=2), F, "123"),
    ("R5", "failureThreshold 0 of a matrix at the same time",
     matrix(by_value, [1, 2, 3], failureThreshold=0, runConcurrent=True), F, ""),
    ("R6", "successThreshold 3 of two that succeed",
     concurrent(works(), works(), successThreshold=3), S, ""),
    ("R6", "successThreshold 2, one succeeds, one is skipped",
     concurrent(works(), skipped(), successThreshold=2), S, ""),
    ("R7", "successThreshold 1 without stop, one succeeds, then one fails",
     concurrent(works(), late("a", 1), successThreshold=1, stopOnThreshold=False), F, "a"),
    ("R8", "no values", matrix(says("a"), []), S, ""),
    ("R8", "no values at the same time", matrix(says("a"), [], runConcurrent=True), S, ""),
    ("R8", "no values, inverted", matrix(says("a"), [], invertResult=True), F, ""),
    ("R8", "ignoreResult: a failure is a success", concurrent(fails(), ignoreResult=True), S, ""),
    ("R8", "invertResult swaps", concurrent(fails(), invertResult=True), S, ""),
    ("R8", "ignoreResult comes before invertResult",
     concurrent(works(), ignoreResult=True, invertResult=True), S, ""),
    ("R9", "a child that fails before it starts counts",
     concurrent(bad(), hangs()), F, ""),
    ("R10", "each value waits for the one before, and after a stop the rest does not start",
     matrix(said, [0, 1, 2]), F, "01"),
    ("R10", "successThreshold stops it, too",
     matrix(said, [0, 2, 3], successThreshold=2), S, "02"),
    ("R11", "the foreground task has failed", background(fails(), hangs()), F, ""),
    ("R11", "the foreground task has succeeded", background(works(), hangs()), S, ""),
    ("R11", "the foreground task is skipped", background(skipped(), hangs()), S, ""),
    ("R11", "there is no background task",
     task("run_task_background", {"foregroundTask": fails()}), F, ""),
    ("R12", "fail: failure", background(hangs(), works(), onBackgroundComplete="fail"), F, ""),
    ("R12", "succeed: success",
     background(hangs(), fails(), onBackgroundComplete="succeed"), S, ""),
    ("R12", "success: success",
     background(hangs(), fails(), onBackgroundComplete="success"), S, ""),
    ("R12", "failOrIgnore, it failed",
     background(hangs(), fails(), onBackgroundComplete="failOrIgnore"), F, ""),
    ("R12", "failOrIgnore, it succeeded",
     background(late("a"), works(), onBackgroundComplete="failOrIgnore"), S, "a"),
    ("R12", "ignore", background(late("a"), fails(), onBackgroundComplete="ignore"), S, "a"),
    ("R12", "nothing", background(late("a"), fails()), S, "a"),
    ("R12", "any other text",
     background(late("a"), fails(), onBackgroundComplete="explode"), S, "a"),
    ("R14", "ignoreResult", options(fails(), ignoreResult=True), S, ""),
    ("R14", "ignoreFailure", options(fails(), ignoreFailure=True), S, ""),
    ("R14", "expectFailure, it failed", options(fails(), expectFailure=True), S, ""),
    ("R14", "expectFailure, it succeeded", options(works(), expectFailure=True), F, ""),
    ("R14", "invertResult and expectFailure swap once",
     options(fails(), expectFailure=True, invertResult=True), S, ""),
    ("R14", "the same of a success",
     options(works(), expectFailure=True, invertResult=True), F, ""),
    ("R14", "ignoreFailure comes before the swap",
     options(fails(), ignoreFailure=True, expectFailure=True), S, ""),
    ("R14", "and does not touch a success",
     options(works(), ignoreFailure=True, expectFailure=True), F, ""),
    ("R14", "ignoreResult comes first",
     options(works(), ignoreResult=True, expectFailure=True), S, ""),
    ("R14", "retries come first",
     options(shell("echo x >> ran; exit 1"), retryOnFailure=True, maxRetryCount=2,
             expectFailure=True), S, "xxx"),
    ("R15", "a task fails", inside(), F, "a", OTHER),
    ("R15", "ignoreFailure: all tasks run", inside(ignoreFailure=True), S, "ab", OTHER),
    ("R15", "expectFailure, a task fails", inside(expectFailure=True), S, "a", OTHER),
    ("R15", "expectFailure, none fails", inside(expectFailure=True), F, "a", FINE),
    ("R15", "expectFailure with ignoreFailure never succeeds",
     inside(expectFailure=True, ignoreFailure=True), F, "ab", OTHER),
]


def make_row(number, what, made, want, came=None, other=None):
    def case(world):
        world.write("other.yaml", json.dumps(other or FINE))
        answer = play(world, {**made, "id": "c"}, code=DONE if want == SUCCESS else FAILED,
                      config={"no": False})
        world.same(result(answer, "c"), want, "the result")
        world.same("".join(ran(world)), came, "what ran")
        if want == FAILURE:
            world.same(bool(answer["error"]["message"]), True, "there is a sentence")
    case.__doc__ = f"{number}: {made['name']}: {what}"
    return case


# ---- while a task still runs ----


def monitor(server, status, **config):
    """A check that goes on: its result follows the answers."""
    return task("check_http_json", {"url": f"{server.url}/status/{status}", "pollInterval": "50ms",
                                    "continueOnPass": True, "failOnCheckMiss": True, **config})


def shown_success_of_foreground(world):
    """R13: exitOnForegroundSuccess ends it as soon as the foreground task shows success"""
    with Server(world) as server:
        inner = background(monitor(server, 200), hangs(), exitOnForegroundSuccess=True, id_="b")
        world.same(result(play(world, inner), "b"), SUCCESS)


def shown_result_is_passed_on(world):
    """R13: without it the changes of the foreground task are the container's own while it runs"""
    with Server(world) as server:
        inner = background(monitor(server, 200), hangs())
        answer = play(world, concurrent(inner, hangs(), successThreshold=1, id_="c"))
        world.same(result(answer, "c"), SUCCESS)


def shown_result_for_the_time_being(world):
    """R3: a threshold that is reached without stopOnThreshold is the result for the time being"""
    inner = concurrent(works(), hangs(), successThreshold=1, stopOnThreshold=False)
    answer = play(world, concurrent(inner, hangs(), successThreshold=1, id_="c"))
    world.same(result(answer, "c"), SUCCESS)


if __name__ == "__main__":
    here = sys.modules["__main__"]
    cases = [make_row(*row) for row in ROWS] + cases_of(here, "shown_")
    sys.exit(run_all(choose(cases, sys.argv[2:]), sys.argv[1]))
