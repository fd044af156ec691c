#!/usr/bin/env python3
"""The kinds of tasks, each with every option. Prints TAP.

    tests/engine/task_kinds.py PAWL [WORD...]
"""

import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from playbook import (FAILURE, NONE, SUCCESS, Server, background, check, choose, concurrent,
                      events, external, fails, hangs, known, lingers, matrix, options, play, ran,
                      result, run_tasks, seen, sees, sets, shell, says, task, waits_for, works,
                      write_test)  # noqa: E402
from world import Broken, DONE, FAILED, cases_of, paced, run_all  # noqa: E402


# ---- every key of the kinds that hold tasks, with its default ----

NEEDED = object()
TWO = [says("a"), says("b")]
KEYS = [
    # row, kind, its keys with their defaults, what it needs, what runs then, the scopes that it shows
    ("K1", "run_tasks", {"tasks": NEEDED, "newVariableScope": False, "continueOnFailure": False,
                         "invertResult": False, "ignoreResult": False}, {"tasks": TWO}, "ab", None),
    ("K2", "run_tasks_concurrent",
     {"tasks": NEEDED, "newVariableScope": True, "successThreshold": 0, "failureThreshold": 1,
      "stopOnThreshold": True, "invertResult": False, "ignoreResult": False}, {"tasks": TWO}, "ab",
     "childScopes"),
    ("K3", "run_task_matrix",
     {"task": NEEDED, "matrixVar": "", "matrixValues": [], "runConcurrent": False,
      "successThreshold": 0, "failureThreshold": 1, "stopOnThreshold": True, "invertResult": False,
      "ignoreResult": False}, {"task": says("a")}, "", None),
    ("K4", "run_task_background",
     {"foregroundTask": NEEDED, "backgroundTask": None, "newVariableScope": False,
      "exitOnForegroundSuccess": False, "exitOnForegroundFailure": False, "onBackgroundComplete": ""},
     {"foregroundTask": says("a")}, "a", None),
    ("K5", "run_task_options",
     {"task": NEEDED, "newVariableScope": False, "retryOnFailure": False, "maxRetryCount": 0,
      "invertResult": False, "ignoreResult": False, "ignoreFailure": False, "expectFailure": False},
     {"task": says("a")}, "a", None),
    ("K6", "run_external_tasks",
     {"testFile": NEEDED, "testConfig": {}, "testConfigVars": {}, "expectFailure": False,
      "ignoreFailure": False}, {"testFile": "two.yaml"}, "ab", "childScope"),
]


def make_keys(row, kind, keys, needs, came, scopes):
    def case(world):
        schema = world("kinds", kind, "--json").gives(DONE).json[0]["schema"]
        world.same(list(schema["properties"]), list(keys), "its keys")
        world.same(schema["required"], list(needs), "what it needs")
        for key, default in keys.items():
            shown = schema["properties"][key].get("default", {} if default == {} else None)
            world.same(shown, None if default is NEEDED else default, f"the default of {key}")
        write_test(world, TWO, name="two.yaml")
        given = {key: value for key, value in keys.items() if value not in (NEEDED, None)}
        for config in (needs, {**given, **needs}):  # as if nothing were said
            (world.folder / "ran").unlink(missing_ok=True)
            answer = play(world, task(kind, config, id_="c"))
            outputs = known(answer, "c")["outputs"]
            world.same(("".join(sorted(ran(world))), result(answer, "c")), (came, SUCCESS), str(config))
            world.same(list(outputs), [scopes] if scopes else [], "the scopes that it shows")
        for key in needs:
            check(world, task(kind, {})).gives(FAILED).says(f"`{key}` is missing")
    case.__doc__ = f"{row}: {kind} has these keys, and each its default"
    case.__name__ = f"{row.lower()}_keys"
    return case


EVERY_KEY = [make_keys(*row) for row in KEYS]


# ---- run_tasks ----


def run_tasks_stops(world):
    """run_tasks stops at the first failure, which is its own"""
    answer = play(world, run_tasks(says("a"), fails(4), says("b"), id_="l"), code=FAILED)
    world.same((ran(world), result(answer, "l"), answer["error"]["exit_code"]), (["a"], FAILURE, 4))


def run_tasks_continue_on_failure(world):
    """R1: with continueOnFailure it goes on after failures, and succeeds"""
    answer = play(world, run_tasks(says("a"), fails(4), says("b"), fails(5),
                                   continueOnFailure=True, id_="l"), says("d"))
    world.same((ran(world), result(answer, "l")), (["a", "b", "d"], SUCCESS))


READINGS = [
    # what the tasks come to, config, what the container comes to
    (works, {}, SUCCESS),
    (fails, {}, FAILURE),
    (works, {"invertResult": True}, FAILURE),
    (fails, {"invertResult": True}, SUCCESS),
    (works, {"ignoreResult": True}, SUCCESS),
    (fails, {"ignoreResult": True}, SUCCESS),
    (works, {"invertResult": True, "ignoreResult": True}, SUCCESS),
    (fails, {"invertResult": True, "ignoreResult": True}, SUCCESS),
]


def read_results(world, make, rows=None):
    for inner, config, want in rows or READINGS:
        answer = play(world, make(inner(), id_="c", **config), says("after"),
                      code=DONE if want == SUCCESS else FAILED)
        world.same(result(answer, "c"), want, f"the result of {inner.__name__} with {config}")
        world.same(len(ran(world)), 1 if want == SUCCESS else 0, f"what ran after {config}")
        (world.folder / "ran").unlink(missing_ok=True)


def run_tasks_result(world):
    """K1: run_tasks: invertResult turns its result round, ignoreResult succeeds whatever comes"""
    read_results(world, run_tasks)


def run_tasks_inverted_error(world):
    """a success that is inverted fails with a sentence that says so"""
    answer = play(world, run_tasks(works(), invertResult=True), code=FAILED)
    world.same("invertResult" in answer["error"]["message"], True, answer["error"]["message"])


def run_tasks_all_skipped(world):
    """K1: a list of tasks that are all skipped succeeds"""
    answer = play(world, run_tasks(says("a", if_="false"), id_="l"))
    world.same((result(answer, "l"), ran(world)), (SUCCESS, []))


# ---- run_tasks_concurrent ----


def concurrent_at_the_same_time(world):
    """K2: tasks of run_tasks_concurrent run at the same time"""
    play(world, concurrent(*[shell(f"touch at{i}; " + waits_for("at0", "at1", "at2"))
                             for i in range(3)]))


def concurrent_result(world):
    """run_tasks_concurrent: invertResult and ignoreResult"""
    read_results(world, concurrent)
    read_results(world, lambda inner, **config: concurrent(inner, hangs(), successThreshold=1,
                                                           **config))


def concurrent_default_thresholds(world):
    """K2: unless told the first failure fails it and ends the others; else all have to end"""
    answer = play(world, concurrent(lingers("a"), shell(f"{waits_for('ran')}; exit 3"),
                                    hangs(id_="h"), id_="c"), code=FAILED)
    world.same((ran(world), result(answer, "c"), answer["error"]["exit_code"]), (["a"], FAILURE, 3))
    answer = play(world, concurrent(says("b"), shell("sleep 0.2; echo b >> ran"), id_="c"))
    world.same((ran(world), result(answer, "c")), (["a", "b", "b"], SUCCESS))


def concurrent_failure_threshold(world):
    """failureThreshold: so many failures end it; after fewer all others run"""
    answer = play(world, concurrent(fails(), shell("sleep 0.3; echo a >> ran"), fails(),
                                    failureThreshold=3, id_="c"), code=FAILED)
    world.same((result(answer, "c"), ran(world)), (FAILURE, ["a"]))
    answer = play(world, concurrent(fails(), fails(), hangs(), failureThreshold=2, id_="c"),
                  code=FAILED)
    world.same(result(answer, "c"), FAILURE)


def concurrent_success_threshold(world):
    """successThreshold: so many successes are enough, and the others are ended"""
    answer = play(world, concurrent(works(), hangs(), shell(waits_for("ran")), lingers("a"),
                                    successThreshold=2, id_="c"), says("b"))
    world.same((result(answer, "c"), ran(world)), (SUCCESS, ["a", "b"]))


def concurrent_stop_on_threshold(world):
    """stopOnThreshold false: the others are waited for, and any failure is one of the container"""
    answer = play(world, concurrent(works(), shell("sleep 0.3; echo a >> ran; exit 1"),
                                    successThreshold=1, stopOnThreshold=False, id_="c"),
                  code=FAILED)
    world.same((result(answer, "c"), ran(world)), (FAILURE, ["a"]))
    answer = play(world, concurrent(fails(), shell("sleep 0.3; echo b >> ran"),
                                    stopOnThreshold=False, id_="c"), code=FAILED)
    world.same((result(answer, "c"), ran(world)), (FAILURE, ["a", "b"]))


def concurrent_skipped(world):
    """a task that is skipped counts neither as success nor as failure"""
    answer = play(world, concurrent(works(if_="false"), works(if_="false"), id_="c"))
    world.same(result(answer, "c"), SUCCESS)


def concurrent_ended_tasks(world):
    """those that are ended early do not run any more and have no result"""
    answer = play(world, concurrent(run_tasks(lingers("x", id_="slow"), says("never")),
                                    shell(waits_for("ran")), successThreshold=1,
                                    newVariableScope=False))
    world.same((ran(world), known(answer, "slow")["running"], result(answer, "slow")),
               (["x"], False, NONE))


# ---- run_task_matrix ----


def matrix_in_order(world):
    """run_task_matrix runs its task for each value, one after the other"""
    play(world, matrix(shell("echo ${v}begin >> ran; sleep 0.05; echo ${v}end >> ran"),
                       ["a", "b", "c"]))
    world.same(ran(world), ["abegin", "aend", "bbegin", "bend", "cbegin", "cend"])


def matrix_at_the_same_time(world):
    """with runConcurrent all at the same time"""
    play(world, matrix(shell("touch at${v}; " + waits_for("at1", "at2", "at3")), [1, 2, 3],
                       runConcurrent=True))


def matrix_values(world):
    """values are of any type, and their parts are at hand"""
    inner = task("run_shell", {"command": "echo $A=$B >> ran",
                               "envVars": {"A": "v.name", "B": "v.n + 1"}})
    play(world, matrix(inner, [{"name": 1, "n": 1}, {"name": 2, "n": 2}]))
    world.same(ran(world), ["1=2", "2=3"])
    (world.folder / "ran").unlink()


def matrix_values_from_variables(world):
    """values come from a variable, by query; what is no list fails, and nothing is no values"""
    inner = task("run_task_matrix", {"task": says("${v}"), "matrixVar": "v"},
                 configVars={"matrixValues": "list | map(. + \"2\")"})
    play(world, inner, config={"list": ["a", "b"]})
    world.same(ran(world), ["a2", "b2"])
    for query in ("nobody", "| empty"):
        answer = play(world, task("run_task_matrix", {"task": says("c"), "matrixVar": "v"},
                                  configVars={"matrixValues": query}, id_="m"))
        world.same((result(answer, "m"), ran(world)), (SUCCESS, ["a2", "b2"]), f"K3: {query}")
    answer = play(world, matrix(says("c"), [1], configVars={"matrixValues": "list"}),
                  config={"list": 5}, code=FAILED)
    world.same("matrixValues" in answer["error"]["message"], True, answer["error"]["message"])


def matrix_of_nothing(world):
    """no values: it succeeds at once"""
    for concurrently in (False, True):
        answer = play(world, matrix(says("a"), [], runConcurrent=concurrently, id_="m"))
        world.same((result(answer, "m"), ran(world)), (SUCCESS, []))


def matrix_var(world):
    """K3: matrixVar names the variable, may come from a query, and without it none is set"""
    play(world, task("run_task_matrix", {"task": says("${fruit}"), "matrixValues": ["a"]},
                     configVars={"matrixVar": "name"}), config={"name": "fruit"})
    answer = play(world, task("run_task_matrix", {"task": says("b"), "matrixValues": [1]}, id_="m"))
    world.same(ran(world), ["a", "b"])
    world.same(sorted(known(answer, "m")["outputs"]["childScopes"]["0"]), ["scopeOwner"])


def matrix_result(world):
    """run_task_matrix: invertResult and ignoreResult"""
    for concurrently in (False, True):
        read_results(world, lambda inner, **config: matrix(
            inner, [1, 2], runConcurrent=concurrently, **config))


def first_fails(world, **config):
    """For values 1 to 3, of which 1 fails."""
    (world.folder / "ran").unlink(missing_ok=True)
    inner = shell('echo ${v} >> ran; [ ${v} != 1 ]')
    want = config.pop("want")
    answer = play(world, matrix(inner, [1, 2, 3], id_="m", **config),
                  code=DONE if want == SUCCESS else FAILED)
    world.same(result(answer, "m"), want, f"the result with {config}")
    return sorted(ran(world))


def matrix_thresholds(world):
    """run_task_matrix one by one: thresholds end it early, stopOnThreshold false does not"""
    world.same(first_fails(world, want=FAILURE), ["1"])
    world.same(first_fails(world, want=FAILURE, stopOnThreshold=False), ["1", "2", "3"])
    world.same(first_fails(world, want=FAILURE, failureThreshold=2), ["1", "2", "3"])
    world.same(first_fails(world, want=FAILURE, failureThreshold=0), ["1", "2", "3"])
    world.same(first_fails(world, want=SUCCESS, failureThreshold=2, successThreshold=1), ["1", "2"])
    world.same(first_fails(world, want=FAILURE, failureThreshold=2, successThreshold=3),
               ["1", "2", "3"])
    world.same(first_fails(world, want=FAILURE, failureThreshold=0, successThreshold=1,
                           stopOnThreshold=False), ["1", "2", "3"])


def matrix_concurrent_thresholds(world):
    """run_task_matrix at the same time: thresholds as those of run_tasks_concurrent"""
    every = ["1", "2", "3"]
    for config in ({"want": FAILURE, "stopOnThreshold": False},
                   {"want": FAILURE, "failureThreshold": 2},
                   {"want": FAILURE, "failureThreshold": 0},
                   {"want": FAILURE, "failureThreshold": 2, "successThreshold": 3}):
        world.same(first_fails(world, runConcurrent=True, **config), every)
    inner = shell("[ ${v} = 1 ] || sleep 60")
    answer = play(world, matrix(inner, [1, 2, 3], runConcurrent=True, successThreshold=1, id_="m"))
    world.same(result(answer, "m"), SUCCESS)
    inner = shell("[ ${v} = 1 ] && exit 1; sleep 60")
    answer = play(world, matrix(inner, [1, 2, 3], runConcurrent=True, id_="m"), code=FAILED)
    world.same(result(answer, "m"), FAILURE)


# ---- run_task_background ----


def background_foreground_counts(world):
    """the result is the foreground task's; when it ends, the background task is ended"""
    answer = play(world, background(shell(waits_for("ran")), lingers("b"), id_="b"), says("c"))
    world.same((result(answer, "b"), ran(world)), (SUCCESS, ["b", "c"]))
    answer = play(world, background(fails(6), hangs(), id_="b"), says("d"), code=FAILED)
    world.same((result(answer, "b"), answer["error"]["exit_code"]), (FAILURE, 6))
    world.same(ran(world), ["b", "c"])


BACKGROUND = [
    # onBackgroundComplete, the background task, the foreground task, the result, who decides
    (None, works, SUCCESS, "foreground"),
    (None, fails, SUCCESS, "foreground"),
    ("ignore", works, SUCCESS, "foreground"),
    ("ignore", fails, SUCCESS, "foreground"),
    ("fail", works, FAILURE, "background"),
    ("fail", fails, FAILURE, "background"),
    ("succeed", works, SUCCESS, "background"),
    ("succeed", fails, SUCCESS, "background"),
    ("failOrIgnore", works, SUCCESS, "foreground"),
    ("failOrIgnore", fails, FAILURE, "background"),
]


def make_background(word, behind, want, who):
    def case(world):
        foreground = (shell("sleep 0.4; echo f >> ran") if who == "foreground"
                      else shell("sleep 60; echo f >> ran"))
        config = {"onBackgroundComplete": word} if word else {}
        answer = play(world, background(foreground, behind(), id_="b", **config),
                      code=DONE if want == SUCCESS else FAILED)
        world.same((result(answer, "b"), ran(world)), (want, ["f"] if who == "foreground" else []))
        if want == FAILURE and not answer["error"]["message"].endswith("."):
            world.same(answer["error"]["kind"], "exit")
    case.__doc__ = (f"onBackgroundComplete {word or 'unless told'}: a background task that "
                    f"{behind.__name__} first: {'success' if want == SUCCESS else 'failure'}, "
                    f"by the {who}")
    return case


BACKGROUNDS = [make_background(*row) for row in BACKGROUND]


def background_at_the_same_time(world):
    """K4: both run at the same time"""
    play(world, background(shell("touch f; " + waits_for("f", "b")),
                           shell("touch b; " + waits_for("f", "b"))))


def background_foreground_skipped(world):
    """a foreground task that is skipped is no failure"""
    answer = play(world, background(hangs(if_="false"), hangs(), id_="b"))
    world.same(result(answer, "b"), SUCCESS)


# ---- run_task_options ----


OPTIONS = READINGS + [
    (works, {"ignoreFailure": True}, SUCCESS),
    (fails, {"ignoreFailure": True}, SUCCESS),
    (works, {"expectFailure": True}, FAILURE),
    (fails, {"expectFailure": True}, SUCCESS),
    (works, {"expectFailure": True, "ignoreResult": True}, SUCCESS),
]


def options_result(world):
    """K5: run_task_options: invertResult, ignoreResult, ignoreFailure, expectFailure"""
    read_results(world, options, OPTIONS)


def options_expected_failure_sentence(world):
    """a success where a failure was expected fails with a sentence that says so"""
    answer = play(world, options(works(), expectFailure=True), code=FAILED)
    world.same("expectFailure" in answer["error"]["message"], True, answer["error"]["message"])


def tries(until):
    return shell(f"echo x >> ran; [ $(wc -l < ran) -ge {until} ]")


def options_retry(world):
    """retryOnFailure runs a task that fails again, up to maxRetryCount times"""
    answer = play(world, options(tries(3), retryOnFailure=True, maxRetryCount=5, id_="o"))
    world.same((len(ran(world)), result(answer, "o")), (3, SUCCESS))
    (world.folder / "ran").unlink()
    answer = play(world, options(tries(9), retryOnFailure=True, maxRetryCount=2, id_="o"),
                  code=FAILED)
    world.same((len(ran(world)), result(answer, "o")), (3, FAILURE))


def options_no_retry(world):
    """without retryOnFailure, and with maxRetryCount 0, it is run once"""
    for config in ({}, {"maxRetryCount": 5}, {"retryOnFailure": True},
                   {"retryOnFailure": True, "maxRetryCount": 0},
                   {"retryOnFailure": False, "maxRetryCount": 5}):
        play(world, options(tries(9), **config), code=FAILED)
        world.same(len(ran(world)), 1, f"the number of runs with {config}")
        (world.folder / "ran").unlink()


def options_retry_warning(world):
    """retryOnFailure without maxRetryCount is warned of"""
    check(world, options(works(), retryOnFailure=True)).gives(DONE).says("warning", "maxRetryCount")


def options_retry_and_ignore(world):
    """retries come before what is ignored, and a success is not run again"""
    play(world, options(tries(9), retryOnFailure=True, maxRetryCount=2, ignoreFailure=True))
    world.same(len(ran(world)), 3)
    (world.folder / "ran").unlink()
    play(world, options(says("a"), retryOnFailure=True, maxRetryCount=2))
    world.same(ran(world), ["a"])


def options_retry_of_a_container(world):
    """what is run again may be a container, from its beginning"""
    inner = run_tasks(says("a"), shell("echo b >> ran; [ $(grep -c b ran) -ge 2 ]"))
    play(world, options(inner, retryOnFailure=True, maxRetryCount=1))
    world.same(ran(world), ["a", "b", "a", "b"])


def options_retry_is_told(world):
    """a retry is an event with the error, the attempt and the number of attempts"""
    lines = events(world, options(tries(2), retryOnFailure=True, maxRetryCount=3, id_="o"))
    retries = [e for e in lines if e["type"] == "retry"]
    world.same([(e["node"], e["attempt"], e["attempts"], e["error"]["kind"]) for e in retries],
               [("o", 1, 4, "exit")])


# ---- run_external_tasks ----


def write_other(world, *tasks, name="other.yaml", **fields):
    write_test(world, list(tasks), name=name, **fields)


def external_runs(world):
    """K6: run_external_tasks runs the tasks of another file, in order"""
    write_other(world, says("a"), says("b"))
    answer = play(world, external("other.yaml", id_="e"), says("c"))
    world.same((ran(world), result(answer, "e")), (["a", "b", "c"], SUCCESS))


def external_relative(world):
    """testFile is relative to the file that names it, at every depth"""
    write_other(world, says("deep"), name="a/b/deep.yaml")
    write_other(world, external("b/deep.yaml"), name="a/mid.yaml")
    play(world, external("a/mid.yaml"))
    world.same(ran(world), ["deep"])


def external_own_config(world):
    """X3: the other file's config are its defaults; its configVars are queries over the variables here"""
    write_other(world, sees("[.a, .b]", "s"), config={"a": 1}, configVars={"b": "n + 1"})
    answer = play(world, sets("n", 1), external("other.yaml", id_="e"), sees("[.a, .b]", "after"))
    inner = known(answer, "e")["outputs"]["childScope"]
    world.same((inner["tasks"]["s"]["outputs"]["v"], seen(answer, "after")), ([1, 2], [None, None]))


def external_test_config(world):
    """K6: testConfig comes before the other file's config"""
    write_other(world, sees("[.a, .b]", "s"), config={"a": 1, "b": 2})
    answer = play(world, external("other.yaml", id_="e", testConfig={"a": 10}))
    inner = known(answer, "e")["outputs"]["childScope"]
    world.same(inner["tasks"]["s"]["outputs"]["v"], [10, 2])


def external_test_config_vars(world):
    """X3: testConfigVars are queries over the variables here, and go before the file's configVars"""
    write_other(world, sees("[.a, .b, .c]", "s"), config={"a": 1, "b": 2, "c": 3})
    answer = play(world, sets("n", 20), external("other.yaml", id_="e", testConfig={"a": 10},
                                                 testConfigVars={"a": "n", "b": "| empty",
                                                                 "c": "nobody"}))
    inner = known(answer, "e")["outputs"]["childScope"]
    world.same(inner["tasks"]["s"]["outputs"]["v"], [20, 2, None])


def external_scope(world):
    """S1: the other file has a scope of its own, and sees what is around it before its config"""
    write_other(world, sees("a", "s"), sets("a", 5), config={"a": 1})
    answer = play(world, sets("a", 2), external("other.yaml", id_="e"), sees("a", "after"))
    inner = known(answer, "e")["outputs"]["childScope"]
    world.same((inner["tasks"]["s"]["outputs"]["v"], inner["a"], seen(answer, "after")), (2, 5, 2))


def external_fails(world):
    """a failure of the other test is one here, unless expected or ignored"""
    write_other(world, says("a"), fails(8), says("b"))
    answer = play(world, external("other.yaml", id_="e"), code=FAILED)
    world.same((result(answer, "e"), answer["error"]["exit_code"], ran(world)), (FAILURE, 8, ["a"]))
    for config in ({"expectFailure": True}, {"ignoreFailure": True}):
        world.same(result(play(world, external("other.yaml", id_="e", **config)), "e"), SUCCESS)


def external_succeeds(world):
    """a success of the other test where a failure is expected is a failure"""
    write_other(world, works())
    world.same(result(play(world, external("other.yaml", id_="e", expectFailure=True),
                           code=FAILED), "e"), FAILURE)
    world.same(result(play(world, external("other.yaml", id_="e", ignoreFailure=True)), "e"),
               SUCCESS)


def external_timeout(world):
    """X3: the other test's own timeout does not count"""
    write_other(world, shell("sleep 0.3; echo a >> ran"), timeout="50ms")
    answer = play(world, external("other.yaml", id_="e"))
    world.same((result(answer, "e"), ran(world)), (SUCCESS, ["a"]))


def external_missing(world):
    """a file that includes itself or is no test: errors at load; a missing one fails its task"""
    check(world, external("nobody.yaml")).gives(DONE).says("warning", "nobody.yaml")
    answer = play(world, options(external("nobody.yaml", id_="e"), ignoreFailure=True), says("a"))
    world.same((result(answer, "e"), ran(world)), (FAILURE, ["a"]))
    check(world, external("test.yaml")).gives(FAILED).says("test.yaml")
    world.write("graph.yaml", "nodes: [{name: a, jq: .}]\n")
    check(world, external("graph.yaml")).gives(FAILED).says("graph.yaml")
    world.write("other.yaml", json.dumps({"tasks": [task("nonsense")]}))
    check(world, external("other.yaml")).gives(FAILED).says("other.yaml:", "nonsense")


def external_cleanup(world):
    """the other test's cleanupTasks run at its end, after success and failure"""
    write_other(world, says("a"), cleanup=[says("clean")])
    play(world, external("other.yaml"), says("b"))
    world.same(ran(world), ["a", "clean", "b"])
    (world.folder / "ran").unlink()
    write_other(world, says("a"), fails(), cleanup=[fails(), says("clean")])
    play(world, external("other.yaml"), says("b"), code=FAILED, cleanup=[says("last")])
    world.same(ran(world), ["a", "clean", "last"])


@paced
def external_timeout_of_the_task(world):
    """X3: what the timeout of the task cancels does not clean up, and the task has timed out"""
    write_other(world, lingers("a"), cleanup=[says("clean")])
    answer = play(world, options(external("other.yaml", id_="e", timeout=world.ms(400)), ignoreFailure=True),
                  says("b"))
    world.same((ran(world), result(answer, "e"), known(answer, "e")["timeout"]), (["a", "b"], FAILURE, True))


@paced
def external_timeout_of_the_test_around(world):
    """X3: what the timeout of the test around cancels does not clean up; that test does"""
    write_other(world, lingers("a"), cleanup=[says("clean")])
    play(world, external("other.yaml"), timeout=world.ms(400), cleanup=[says("last")], code=FAILED)
    world.same(ran(world), ["a", "last"])


def external_that_is_ended(world):
    """X3: what is ended because a threshold was reached does not clean up"""
    write_other(world, lingers("a"), cleanup=[says("clean")])
    play(world, concurrent(external("other.yaml"), shell(waits_for("ran")), successThreshold=1),
         says("b"))
    world.same(ran(world), ["a", "b"])


def external_that_is_ended_while_it_cleans_up(world):
    """X3: the rest of a cleanup that is under way is left out, too"""
    write_other(world, works(), cleanup=[lingers("a"), says("clean")])
    play(world, background(shell(waits_for("ran")), external("other.yaml")), says("b"))
    world.same(ran(world), ["a", "b"])


# ---- run_shell ----


def shell_sets(world):
    """X1: lines set variables and outputs, as text or JSON"""
    answer = play(world, shell("""cat <<'END'
::set-var text  two words "quoted"
::set-var empty
::set-json value {"a": [1, null]}
::set-out out 7
::set-out-json json [true]
::set-output old  8
::set-output-json old_json {"n": 9007199254740993}
no ::set-var x y
::set-nothing x y
END""", id_="a"), sees("[.text, .empty, .value, .x]", "s"))
    world.same(seen(answer, "s"), ['two words "quoted"', "", {"a": [1, None]}, None])
    world.same({key: known(answer, "a")["outputs"][key]
                for key in ("out", "json", "old", "old_json", "stdout")},
               {"out": "7", "json": [True], "old": "8", "old_json": {"n": 9007199254740992},
                "stdout": "no ::set-var x y\n::set-nothing x y"})


def shell_wrong_line(world):
    """X1: a line whose JSON is none is a warning and no more"""
    answer = play(world, shell("echo '::set-json x {'; echo '::set-var y 1'", id_="a"))
    world.same((result(answer, "a"), answer["state"].get("x"), answer["state"]["y"]),
               (SUCCESS, None, "1"))
    world("logs", answer["thread"], "a").gives(DONE).says("warning: A line that sets a value")


def shell_last_line(world):
    """a last line without its end is taken too"""
    world.same(play(world, shell("printf '::set-var x 1'"))["state"]["x"], "1")


def shell_fails(world):
    """another exit code than 0 fails it; what it set stays set"""
    answer = play(world, shell("echo '::set-var x 1'; echo oops >&2; exit 7", id_="a"), code=FAILED)
    world.same((answer["error"]["kind"], answer["error"]["exit_code"], answer["error"]["stderr"]),
               ("exit", 7, "oops"))
    world.same((answer["state"]["x"], known(answer, "a")["outputs"]["exit_code"]), ("1", 7))


def shell_is_bash(world):
    """the shell is bash unless told"""
    answer = play(world, shell('a=(1 2 3); echo "::set-output n ${#a[@]} $0"', id_="a"))
    world.same(known(answer, "a")["outputs"]["n"], "3 bash")


def shell_other(world):
    """shell names another one, and shellArgs are its arguments"""
    answer = play(world, task("run_shell", {"shell": "sh", "shellArgs": ["-s", "x", "y z"],
                                            "command": 'echo "::set-output args $#:$2"'}, id_="a"),
                  task("run_shell", {"shell": "cat", "command": "as it is"}, id_="b"))
    world.same((known(answer, "a")["outputs"]["args"], known(answer, "b")["outputs"]["stdout"]),
               ("2:y z", "as it is"))


def shell_args_matter(world):
    """shellArgs [-e] ends a script at its first failure"""
    command = "false\necho a >> ran"
    play(world, task("run_shell", {"command": command}))
    play(world, task("run_shell", {"command": command, "shellArgs": ["-e"]}), code=FAILED)
    world.same(ran(world), ["a"])


def shell_missing(world):
    """a shell that is not there fails the task with its name"""
    answer = play(world, task("run_shell", {"shell": "nosuchshell", "command": ""}), code=FAILED)
    world.same((answer["error"]["kind"], "nosuchshell" in answer["error"]["message"]),
               ("spawn", True))


def shell_env(world):
    """X4: envVars are queries whose values are given as JSON; nothing leaves a variable as it is"""
    os.environ["TASKS_TEST_WORD"] = "from outside"
    answer = play(world, task("run_shell", {
        "command": 'printf "%s\\n" "$S" "$N" "$O" "$Z" "$TASKS_TEST_WORD"; declare -p E',
        "envVars": {"S": "s", "N": ".n + 1", "O": "o", "Z": "nobody", "E": "| empty",
                    "TASKS_TEST_WORD": "| empty"}}, id_="a"),
        config={"s": "x y", "n": 1, "o": {"a": [1]}}, code=FAILED)
    world.same((known(answer, "a")["outputs"]["stdout"], answer["error"]["stderr"]),
               ('"x y"\n2\n{"a":[1]}\nnull\nfrom outside', "bash: line 1: declare: E: not found"))


def shell_env_error(world):
    """X4: a query of envVars that fails while it runs stands for {}, with a warning"""
    answer = play(world, task("run_shell", {"command": 'echo "$BAD"',
                                            "envVars": {"BAD": '| error("oops")'}}, id_="a"))
    world.same(known(answer, "a")["outputs"]["stdout"], "{}")


def shell_in_the_folder(world):
    """X4: scripts run in the folder of the run, with our environment"""
    os.environ["TASKS_TEST_WORD"] = "from outside"
    answer = play(world, shell('pwd -P; echo "$TASKS_TEST_WORD"', id_="a"))
    world.same(known(answer, "a")["outputs"]["stdout"],
               f"{world.folder.resolve()}\nfrom outside")


def shell_outputs_of_its_own(world):
    """outputs called stdout and exit_code that the script sets are its own"""
    answer = play(world, shell("echo text; echo '::set-output stdout mine'", id_="a"))
    world.same(known(answer, "a")["outputs"], {"stdout": "mine", "exit_code": 0})


def shell_newline(world):
    """X4: the shell reads the command and a newline, and gets shellArgs and no more"""
    answer = play(world, task("run_shell", {"shell": "od", "shellArgs": ["-An", "-c"],
                                            "command": "a"}, id_="a"))
    world.same(known(answer, "a")["outputs"]["stdout"].split(), ["a", "\\n"])


def kept(world):
    """What is kept of the runs of the store, by its name in the folder of results."""
    found = {}
    for folder in world.folder.glob(".pawl/**/results-*"):
        for file in folder.rglob("*"):
            if file.is_file():
                found[str(file.relative_to(folder))] = file.read_text()
    return found


def shell_names_of_files(world):
    """X6: three files under two names each; envVars do not come before them"""
    script = "".join(f'echo "$PAWL_{word}" "$ASSERTOOR_{word}"\n'
                     for word in ("SUMMARY", "RESULT_DIR", "TEST_RESULT"))
    script += '[ -f "$PAWL_SUMMARY" ] && [ -d "$PAWL_RESULT_DIR" ] && [ -f "$PAWL_TEST_RESULT" ]'
    answer = play(world, task("run_shell", {"command": script, "envVars": {"PAWL_SUMMARY": "| 1"}},
                              id_="a"))
    for line in known(answer, "a")["outputs"]["stdout"].split("\n"):
        ours, theirs = line.split()
        world.same((ours, ours.startswith("/"), Path(ours).exists()), (theirs, True, False))


def shell_keeps_files(world):
    """X6: summary, results and the result of the test are kept, also when the script fails"""
    script = ('echo short > "$ASSERTOOR_SUMMARY"; cd "$ASSERTOOR_RESULT_DIR"; mkdir sub; '
              'echo r > sub/r.txt; ln -s /etc/passwd bad; echo "# two" >> "$PAWL_TEST_RESULT"; exit 3')
    answer = play(world, shell('echo "# one" >> "$ASSERTOOR_TEST_RESULT"', id_="a"),
                  shell(script, id_="b"), code=FAILED)
    found = kept(world)
    names = sorted(name.partition("/")[2] or name for name in found)
    world.same(names, ["files/sub/r.txt", "node", "summary", "test-result.md"])
    world.same(found["test-result.md"], "# one\n# two\n")
    own = [name.split("/")[0] for name in found if name.endswith("/summary")][0]
    world.same((found[f"{own}/node"], found[f"{own}/summary"]), ("b", "short\n"))
    world("logs", answer["thread"], "b").gives(DONE).says("What the task left is kept in", own)
    world.same(list(world.folder.glob(".pawl/**/task-*")), [])


def shell_keeps_nothing(world):
    """X6: an empty summary and an empty folder are not kept; and what is kept goes with the run"""
    play(world, shell("true"))
    play(world, fails(), code=FAILED)
    world.same((kept(world), list(world.folder.glob(".pawl/**/run-*"))), ({}, []))
    play(world, shell('echo x > "$PAWL_TEST_RESULT"; exit 1'), code=FAILED)
    world("prune", "--older-than", "0s", "--runs").gives(DONE)
    world.same((kept(world), list(world.folder.glob(".pawl/**/run-*"))), ({}, []))
    play(world, shell('echo x > "$PAWL_SUMMARY"'))
    world.same(len(kept(world)), 2)
    world("prune", "--older-than", "0s", "--runs").gives(DONE)
    world.same(kept(world), {})


# ---- run_command ----


def command_runs(world):
    """run_command runs a program with its arguments, without a shell"""
    answer = play(world, task("run_command", {"command": ["printf", "%s|", "a b", "$HOME", "${x}"]},
                              id_="a"), config={"x": "*"})
    world.same(known(answer, "a")["outputs"],
               {"stdout": "a b|$HOME|${x}|", "exit_code": 0})


def command_fails(world):
    """another exit code than 0 fails it; its outputs say why"""
    words = ["sh", "-c", "echo o; echo e >&2; exit 5"]
    answer = play(world, task("run_command", {"command": words}, id_="a"), says("b"), code=FAILED)
    world.same((known(answer, "a")["outputs"], result(answer, "a"), answer["error"]["exit_code"]),
               ({"stdout": "o\ne", "error": "exit status 5", "exit_code": 5}, FAILURE, 5))


def command_allowed_to_fail(world):
    """allowed_to_fail: another exit code is no failure, and is in the outputs"""
    answer = play(world, task("run_command", {"command": ["sh", "-c", "echo e >&2; exit 5"],
                                              "allowed_to_fail": True}, id_="a"), says("b"))
    world.same((known(answer, "a")["outputs"], result(answer, "a"), ran(world)),
               ({"stdout": "e", "error": "exit status 5", "exit_code": 5}, SUCCESS, ["b"]))


def command_missing(world):
    """a program that is not there is a failure, even when allowed to fail"""
    for allowed in (False, True):
        answer = play(world, task("run_command", {"command": ["nosuchprogram"],
                                                  "allowed_to_fail": allowed}), code=FAILED)
        world.same("nosuchprogram" in answer["error"]["message"], True, answer["error"]["message"])


# ---- sleep ----


def sleep_lasts(world):
    """sleep waits for its duration, in words or seconds"""
    for duration, least in (("300ms", 0.3), (1, 1.0), ("0s", 0), ("1s", 1.0)):
        begun = time.monotonic()
        answer = play(world, task("sleep", {"duration": duration}, id_="s"))
        if time.monotonic() - begun < least:
            raise Broken(f"sleep {duration} was over too soon")
        world.same(result(answer, "s"), SUCCESS)


# ---- kinds that others test: one look at each ----



def http_json(world):
    """check_http_json asks until the answer is right"""
    with Server(world) as server:
        answer = play(world, task("check_http_json", {
            "pollInterval": "10ms",
            "assertions": [{"name": "n", "query": ".n", "operator": "gte", "value": 3}]}, id_="h",
            configVars={"url": 'base + "/nth/json?200:{\\"n\\":1}|200:{\\"n\\":2}|200:{\\"n\\":3}"'}),
            config={"base": server.url})
        world.same(result(answer, "h"), SUCCESS)
        answer = play(world, task("check_http_json", {
            "url": f"{server.url}/json?{{}}", "failOnCheckMiss": True,
            "assertions": [{"name": "n", "query": ".n", "exists": True}]}, id_="h"), code=FAILED)
        world.same(result(answer, "h"), FAILURE)


def http_json_timeout(world):
    """check_http_json that never holds ends with its timeout"""
    with Server(world) as server:
        answer = play(world, task("check_http_json", {"url": f"{server.url}/status/500",
                                                      "pollInterval": "20ms"},
                                  id_="h", timeout="300ms"), code=FAILED)
        world.same((answer["error"]["kind"], known(answer, "h")["timeout"]), ("timeout", True))


def http_metrics(world):
    """check_http_metrics reads Prometheus text"""
    with Server(world) as server:
        answer = play(world, task("check_http_metrics", {
            "url": f"{server.url}/metrics",
            "assertions": [{"name": "n", "metric": "http_requests_total", "labels": {"code": "200"},
                            "operator": "eq", "value": 1027}]}, id_="h"))
        world.same(result(answer, "h"), SUCCESS)


def goes_on(server, status):
    """A check that goes on after its result is known."""
    return task("check_http_json", {"url": f"{server.url}/status/{status}", "pollInterval": "20ms",
                                    "continueOnPass": True, "failOnCheckMiss": True}, id_="fore")


def http_exit_on_foreground_success(world):
    """exitOnForegroundSuccess ends both as soon as the foreground task has succeeded"""
    with Server(world) as server:
        answer = play(world, background(goes_on(server, 200), hangs(), exitOnForegroundSuccess=True,
                                        id_="b"), says("after"))
        world.same((result(answer, "b"), ran(world)), (SUCCESS, ["after"]))
        answer = play(world, background(goes_on(server, 200), hangs(), id_="b", timeout="500ms"))
        world.same((known(answer, "b")["timeout"], result(answer, "b")), (True, SUCCESS),
                   "E6: without it goes on until its timeout, and has shown success")


def http_exit_on_foreground_failure(world):
    """exitOnForegroundFailure ends both as soon as the foreground task has failed"""
    with Server(world) as server:
        answer = play(world, background(goes_on(server, 500), hangs(), exitOnForegroundFailure=True,
                                        id_="b"), says("after"), code=FAILED)
        world.same((result(answer, "b"), known(answer, "b")["timeout"]), (FAILURE, None))
        answer = play(world, background(goes_on(server, 500), hangs(), exitOnForegroundSuccess=True,
                                        id_="b"), code=FAILED)
        world.same(result(answer, "b"), FAILURE, "the result of a miss that ends the check")


def http_counts_while_it_goes_on(world):
    """the result of a check that goes on counts for thresholds at once"""
    with Server(world) as server:
        answer = play(world, concurrent(goes_on(server, 200), hangs(), successThreshold=1, id_="c"))
        world.same(result(answer, "c"), SUCCESS)


def javascript_sets(world):
    """run_javascript sees variables and env, and sets variables and outputs"""
    script = 'setVarJSON("x", vars.a + 1); setOutputJSON("y", env.E); console.log("said")'
    answer = play(world, task("run_javascript", {"script": script, "envVars": {"E": "| [.a]"}},
                              id_="j"), sees("x", "s"), config={"a": 1})
    world.same((seen(answer, "s"), known(answer, "j")["outputs"]["y"]), (2, [1]))


def javascript_fails(world):
    """a script that throws fails its task"""
    answer = play(world, task("run_javascript", {"script": 'throw new Error("oops")'}, id_="j"),
                  code=FAILED)
    world.same((result(answer, "j"), "oops" in answer["error"]["message"]), (FAILURE, True))
    answer = play(world, task("run_javascript", {"script": "throw new Error()"}), code=FAILED)
    world.same(answer["error"]["message"].split(" (")[0], "It threw Error without a message.")


if __name__ == "__main__":
    here = sys.modules["__main__"]
    groups = ["run_tasks_", "concurrent_", "matrix_", "background_", "options_", "external_",
              "shell_", "command_", "sleep_", "http_", "javascript_"]
    cases = [case for prefix in groups for case in cases_of(here, prefix)]
    sys.exit(run_all(choose(EVERY_KEY + cases + BACKGROUNDS, sys.argv[2:]), sys.argv[1]))
