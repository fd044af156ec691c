#!/usr/bin/env python3
"""check_http_json and check_http_metrics through the program, against a server on loopback: keys, defaults,
outputs and what is refused. The names begin with the row of the table that they are about; the rules of
assertions, case by case, are in tests/unit/test_exec_check.c. Prints TAP.

    tests/engine/task_checks.py PAWL [WORD...]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from playbook import (FAILURE, SUCCESS, Server, check, choose, known, play, result, task)  # noqa: E402
from world import DONE, FAILED, cases_of, paced, run_all  # noqa: E402

ONE = [{"name": "a", "query": ".a", "operator": "eq", "value": 1}]
UP = [{"name": "up", "metric": "up", "operator": "eq", "value": 1}]


def json_check(url, id_="c", timeout=None, **config):
    envelope = {"timeout": timeout} if timeout else {}
    return task("check_http_json", {"url": url, "pollInterval": "20ms", **config}, id_=id_, **envelope)


def metrics_check(url, id_="c", **config):
    return task("check_http_metrics", {"url": url, "pollInterval": "20ms", "assertions": UP, **config},
                id_=id_)


def outputs(answer, id_="c"):
    return known(answer, id_)["outputs"]


def refused(world, kind, config, *words):
    check(world, task(kind, {"url": "http://127.0.0.1:1/", **config})).gives(FAILED).says(*words)


def k11_defaults(world):
    """K11: GET, status 200, 10s, 5s, 10MB, no body, no assertions"""
    shown = world("kinds", "check_http_json").gives(DONE).out
    for key, value in (("method", "GET"), ("pollInterval", "10s"), ("requestTimeout", "5s"),
                       ("maxResponseSize", "10MB"), ("failOnCheckMiss", "false"),
                       ("continueOnPass", "false"), ("assertions", "[]")):
        line = [text for text in shown.split("\n") if key in text]
        world.same(bool(line), True, f"{key} in what it takes")
        world.same(value in shown, True, f"the default of {key}")
    with Server(world) as server:
        world.same(outputs(play(world, json_check(f"{server.url}/status/200"))),
                   {"passedAssertions": [], "failedAssertions": [], "values": {}, "httpStatus": 200,
                    "responseErrors": 0, "parseErrors": 0, "assertionErrors": 0})


def k11_outputs_of_a_failure(world):
    """K11: what failed is in the outputs, too"""
    with Server(world) as server:
        answer = play(world, json_check(
            f"{server.url}/json?" + '{"a":2,"b":[1]}', failOnCheckMiss=True,
            assertions=ONE + [{"name": "b", "query": ".b", "operator": "gt", "value": 0},
                              {"name": "c", "query": ".b", "operator": "contains", "value": 1}]),
            code=FAILED)
        world.same(outputs(answer), {"passedAssertions": ["c"], "failedAssertions": ["a", "b"],
                                     "values": {"a": 2, "b": [1], "c": [1]}, "httpStatus": 200,
                                     "responseErrors": 0, "parseErrors": 0, "assertionErrors": 1})


def k11_sizes(world):
    """K11: MB is decimal, MiB binary"""
    with Server(world) as server:
        for size, length, code in (("1KB", 1000, DONE), ("1KB", 1001, FAILED), ("1KiB", 1024, DONE),
                                   ("1KiB", 1025, FAILED), (1001, 1001, DONE)):
            play(world, json_check(f"{server.url}/bytes/{length}", maxResponseSize=size,
                                   failOnCheckMiss=True), code=code)
    refused(world, "check_http_json", {"maxResponseSize": "1 elephant"}, "a size in bytes")


@paced
def h1_misses_without_end(world):
    """H1: a miss is asked again until the timeout; lists and values are empty then"""
    with Server(world) as server:
        answer = play(world, json_check(f"{server.url}/json?nonsense", assertions=ONE,
                                        timeout=world.ms(400)), code=FAILED)
        seen = outputs(answer)
        world.same((known(answer, "c")["timeout"], seen["values"], seen["failedAssertions"],
                    seen["parseErrors"] > 1), (True, {}, [], True))


def h1_asks_at_once(world):
    """H1: it asks at once, and then after each pollInterval"""
    with Server(world) as server:
        answer = play(world, task("check_http_json", {"url": f"{server.url}/status/200",
                                                      "pollInterval": "1h"}, id_="c"))
        world.same(result(answer, "c"), SUCCESS)


def h1_fails_and_ends(world):
    """H1: with failOnCheckMiss a miss is a failure and the end, also with continueOnPass"""
    with Server(world) as server:
        for more in ({}, {"continueOnPass": True}):
            answer = play(world, json_check(f"{server.url}/status/500", failOnCheckMiss=True, **more),
                          code=FAILED)
            world.same((result(answer, "c"), answer["error"]["kind"]), (FAILURE, "check"))


def h2_refused(world):
    """H2: HEAD with assertions and both status keys are refused"""
    refused(world, "check_http_json", {"method": "HEAD", "assertions": ONE}, "HEAD has no body")
    refused(world, "check_http_json", {"expectStatus": 200, "expectStatuses": [200]},
            "`expectStatus` and `expectStatuses`")


def h2_nulls(world):
    """H2, H3: null is as nothing, also beside what may not stand with it"""
    with Server(world) as server:
        answer = play(world, json_check(f"{server.url}/status/204", id_="c", body=None, bodyRaw=None, headers=None,
                                        expectStatus=None, expectStatuses=[204], assertions=None),
                      json_check(f'{server.url}/json?{{"a":1}}', id_="d", assertions=[
                          {"name": "n", "query": ".a", "exists": True, "operator": None, "value": None},
                          {"name": "m", "query": ".a", "exists": None, "operator": "eq", "value": 1, "allowMissing": None}]))
        world.same(known(answer, "c")["outputs"]["httpStatus"], 204)


def h2_head(world):
    """H2: HEAD without assertions is fine"""
    with Server(world) as server:
        play(world, json_check(f"{server.url}/status/200", method="HEAD"))


def h3_refused(world):
    """H3: what an assertion has to have is said before anything runs"""
    for assertion, words in (
            ({"query": ".a", "exists": True}, "`name` is missing"),
            ({"name": "n", "exists": True}, "`query` is missing"),
            ({"name": "n", "query": ".a"}, "says nothing"),
            ({"name": "n", "query": ".a", "value": 1}, "says nothing"),
            ({"name": "n", "query": ".a", "operator": "eq"}, "no `value`"),
            ({"name": "n", "query": ".a", "operator": "eq", "value": None}, "no `value`"),
            ({"name": "n", "query": ".a", "operator": "is", "value": 1}, "one of: eq neq"),
            ({"name": "n", "query": ".a", "exists": True, "operator": "eq", "value": 1}, "asks one"),
            ({"name": "n", "query": ".a |", "exists": True}, "error"),
            ({"name": "n", "query": "a.b", "exists": True}, "a/0")):
        refused(world, "check_http_json", {"assertions": [assertion]}, words)
    refused(world, "check_http_json", {"assertions": ONE + ONE}, "Two assertions are called `a`")


def f9_unknown_keys_of_an_assertion(world):
    """F9: a key of an assertion that nobody reads is a warning, an error with --strict; the task runs"""
    odd = [{**ONE[0], "operater": "eq", "description": "x"}]
    tested = json_check("http://127.0.0.1:1/", assertions=odd)
    answer = check(world, tested).gives(DONE)
    answer.says("warning", "`operater` is no key", "did you mean `operator`?", "`description` is no key")
    world("check", "--strict", "test.yaml").gives(FAILED).says("error", "`operater` is no key")
    with Server(world) as server:
        url = f"{server.url}/json?" + '{"a":1}'
        play(world, json_check(url, assertions=odd))
        checked = json_check(url)
        checked["configVars"] = {"assertions": "odd"}
        answer = play(world, checked, config={"odd": odd})
        world.same(outputs(answer)["passedAssertions"], ["a"])


def k12_defaults(world):
    """K12: 10s, 5s, 10MB, wait, wait, fail; assertions are required"""
    shown = world("kinds", "check_http_metrics").gives(DONE).out
    for value in ("10s", "5s", "10MB", "missingMetric", "missingSeries", "resetBehavior", "wait",
                  "rebaseline"):
        world.same(value in shown, True, f"{value} in what it takes")
    refused(world, "check_http_metrics", {}, "`assertions` is missing")
    refused(world, "check_http_metrics", {"assertions": []}, "one or more")


def k12_outputs(world):
    """K12: passedAssertions, failedAssertions (null when none), values, deltas, baselines and counts"""
    with Server(world) as server:
        world.same(outputs(play(world, metrics_check(f"{server.url}/metrics"))),
                   {"passedAssertions": ["up"], "failedAssertions": None, "values": {"up": 1},
                    "deltas": {}, "baselines": {}, "scrapeErrors": 0, "assertionErrors": 0})
        answer = play(world, metrics_check(f"{server.url}/status/500", failOnCheckMiss=True),
                      code=FAILED)
        world.same((outputs(answer)["scrapeErrors"], outputs(answer)["passedAssertions"]), (1, []))


def h6_refused(world):
    """H6: name, metric and operator are required, and names are unique"""
    for missing in ("name", "metric", "operator"):
        assertion = {key: value for key, value in UP[0].items() if key != missing}
        refused(world, "check_http_metrics", {"assertions": [assertion]}, f"`{missing}` is missing")
    refused(world, "check_http_metrics", {"assertions": UP + UP}, "Two assertions are called `up`")
    refused(world, "check_http_metrics", {"assertions": [dict(UP[0], operator="contains")]},
            "one of: eq neq")


def h6_missing(world):
    """H6: missingMetric and missingSeries of the task and of the assertion"""
    with Server(world) as server:
        absent = dict(UP[0], metric="absent")
        other = dict(UP[0], metric="http_requests_total", labels={"code": "500"})
        for config, code in (
                ({"assertions": [absent], "missingMetric": "pass"}, DONE),
                ({"assertions": [absent], "missingMetric": "fail", "failOnCheckMiss": True}, FAILED),
                ({"assertions": [dict(absent, missingMetric="pass")], "missingMetric": "fail"}, DONE),
                ({"assertions": [other], "missingSeries": "pass"}, DONE),
                ({"assertions": [other], "missingSeries": "fail", "failOnCheckMiss": True}, FAILED)):
            play(world, metrics_check(f"{server.url}/metrics", **config), code=code)


if __name__ == "__main__":
    here = sys.modules["__main__"]
    cases = [case for prefix in ("f9_", "k11_", "h1_", "h2_", "h3_", "k12_", "h6_")
             for case in cases_of(here, prefix)]
    sys.exit(run_all(choose(cases, sys.argv[2:]), sys.argv[1]))
