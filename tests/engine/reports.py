#!/usr/bin/env python3
"""What a run says of its tasks at its end, and `--report`: JUnit's XML, whatever the tasks do. Prints TAP.

    tests/engine/reports.py PAWL [WORD...]
"""

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from playbook import (background, choose, concurrent, fails, hangs, matrix, options, run_tasks,
                      shell, task, waits_for, works, write_test)  # noqa: E402
from world import Broken, DONE, FAILED, TIMEOUT, USAGE, WAITING, cases_of, run_all  # noqa: E402

CHILDREN = {"testsuites": {"testsuite"}, "testsuite": {"properties", "testcase"},
            "properties": {"property"}, "property": set(),
            "testcase": {"failure", "error", "skipped", "system-out"},
            "failure": set(), "error": set(), "skipped": set(), "system-out": set()}
NEEDED = {"testsuites": {"tests", "failures", "errors", "skipped", "time"},
          "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"},
          "testcase": {"name", "classname", "time"}, "failure": {"message", "type"},
          "error": {"message", "type"}, "skipped": {"message"}, "property": {"name", "value"}}


def check_element(element):
    for name in NEEDED.get(element.tag, set()):
        if name not in element.attrib:
            raise Broken(f"<{element.tag}> has no {name}")
    for child in element:
        if child.tag not in CHILDREN[element.tag]:
            raise Broken(f"<{child.tag}> in <{element.tag}>")
        check_element(child)


def read_report(world, name="junit.xml"):
    """The suite, after a look at its form: as XML, by the well-known elements, and by its own counts."""
    path = world.folder / name
    if shutil.which("xmllint"):
        done = subprocess.run(["xmllint", "--noout", str(path)], capture_output=True, text=True)
        world.same((done.returncode, done.stderr), (0, ""), "xmllint")
    root = ET.parse(path).getroot()
    world.same(root.tag, "testsuites")
    check_element(root)
    suite = root[0]
    cases = suite.findall("testcase")
    for element in (root, suite):
        world.same([int(element.get(key)) for key in ("tests", "failures", "errors", "skipped")],
                   [len(cases)] + [sum(case.find(tag) is not None for case in cases)
                                   for tag in ("failure", "error", "skipped")], "the counts")
    world.same([file.name for file in world.folder.glob("*.new")], [], "what is left of writing")
    return suite


def play(world, *tasks, code=DONE, words=(), **fields):
    write_test(world, list(tasks), **fields)
    answer = world("run", "test.yaml", "--report", "junit.xml", *words).gives(code)
    return read_report(world), answer


def verdicts(suite):
    def verdict(case):
        for tag in ("failure", "error", "skipped"):
            if case.find(tag) is not None:
                return tag
        return "passed"
    return {case.get("name"): verdict(case) for case in suite.findall("testcase")}


def says(text, title, code=0):
    return shell(f"echo {text}; exit {code}", title=title)


def report_passes(world):
    """a run that passes: titles, classes, what was printed"""
    suite, answer = play(world, says("one", "First"), run_tasks(says("two", "Second"), title="Inner"))
    world.same(verdicts(suite), {"First": "passed", "Second": "passed"})
    world.same([case.get("classname") for case in suite.findall("testcase")], ["test", "test.Inner"])
    world.same([case.findtext("system-out") for case in suite.findall("testcase")], ["one", "two"])
    answer.says("2 tasks: 2 passed, 0 failed, 0 skipped", "Inner / Second")


def report_fails(world):
    """a failure has the sentence of the error, its kind and where it is"""
    suite, answer = play(world, says("one", "First"), shell("echo last words; echo oops >&2; exit 4",
                                                            title="Breaks"),
                         says("never", "Never"), code=FAILED,
                         cleanup=[shell("exit 1", title="Cleans")])
    world.same(verdicts(suite), {"First": "passed", "Breaks": "failure", "Cleans": "skipped"})
    failure = suite.find("testcase/failure")
    world.same((failure.get("message"), failure.get("type"), "test.yaml:" in failure.text),
               ("Command exited with code 4: oops", "exit", True))
    answer.says("1 failed", "| last words", "| oops")


def report_allowed(world):
    """what fails inside of something that allows it is no failure"""
    suite, answer = play(world, options(says("x", "Expected", 1), expectFailure=True),
                         options(shell("[ -e again ] || { touch again; exit 1; }", title="Retried"),
                                 retryOnFailure=True, maxRetryCount=2),
                         concurrent(says("a", "A"), shell("exit 1", title="B"), failureThreshold=0,
                                    ignoreResult=True))
    world.same({name: verdict for name, verdict in verdicts(suite).items() if name != "Retried"},
               {"Expected": "skipped", "A": "passed", "B": "skipped"})
    answer.says("allowed", "0 failed")


def report_times_of_what_is_ended(world):
    """what was ended early took the time until its container was over, or the run"""
    waits = "touch up; while :; do sleep 0.05; done"
    begins = "while [ ! -e up ]; do sleep 0.05; done; sleep 0.5"
    suite, answer = play(world, concurrent(shell(waits, title="Slow"), shell(begins, title="Fast"), successThreshold=1),
                         shell("sleep 1.5", title="After"))
    took = {case.get("name"): float(case.get("time")) for case in suite.findall("testcase")}
    if not 0.5 <= took["Slow"] <= float(suite.get("time")) - 1.5:
        raise Broken(f"times: {took}")
    if "0.00s  Slow" in answer.err:
        raise Broken(f"it says 0.00s: {answer}")
    suite, _ = play(world, shell("sleep 60", title="Hangs"), code=FAILED, timeout="1s")
    took = {case.get("name"): float(case.get("time")) for case in suite.findall("testcase")}
    if not 0.5 <= took["Hangs"] <= 30:
        raise Broken(f"times: {took}")


def report_titles(world):
    """a task has its title however soon it ends: at once, skipped, or failed before it began"""
    tasks = [works(title="At once ${v}"), shell("exit 1", title="Passed over ${v}", if_="| false"),
             run_tasks(works(), title="Held ${v}", if_="| false"),
             task("sleep", title="Never began ${v}", configVars={"duration": "v"})]
    titles = ["At once x", "Passed over x", "Held x", "Never began x"]
    suite, answer = play(world, *tasks, config={"v": "x"}, code=FAILED)
    world.same(list(verdicts(suite).items()), list(zip(titles, ["passed", "skipped", "skipped", "failure"])))
    answer.says("sleep: At once x  completed", "sleep-2: Never began x  failed")
    lines = world("run", "test.yaml", "--stream", "events").gives(FAILED).lines
    world.same([e["title"] for e in lines if e.get("event", e.get("type")) == "node"], titles)


def report_titles_in_kinds(world):
    """titles of tasks inside a kind from outside are there, too"""
    world.write("kinds/pause.yaml", "kind: pause\ntasks:\n  - {name: sleep, title: Inner, config: {duration: 0}}\n")
    suite, answer = play(world, task("pause", title="Outer"), kinds=["kinds"])
    world.same(verdicts(suite), {"Inner": "passed"})
    answer.says("Outer / Inner")


def report_container_fails(world):
    """a container that fails by itself is a case of its own"""
    suite, _ = play(world, run_tasks(says("a", "Inner"), invertResult=True, title="Outer"), code=FAILED)
    world.same(verdicts(suite), {"Inner": "passed", "Outer": "failure"})


def report_parallel(world):
    """frames at the same time: each case has its own output and its own container"""
    inner = [concurrent(*[says(f"{name}{i}", f"{name}{i}") for i in range(3)], title=name)
             for name in ("L", "R")]
    suite, _ = play(world, concurrent(*inner, title="All"))
    for case in suite.findall("testcase"):
        name = case.get("name")
        world.same((case.get("classname"), case.findtext("system-out")), (f"test.All.{name[0]}", name))
    world.same(len(suite.findall("testcase")), 6)


def report_matrix_and_background(world):
    """a matrix has a case for each value; what is ended early counts as skipped"""
    suite, _ = play(world, matrix(shell("true", title="Value ${v}"), [1, 2]),
                    background(shell(waits_for("up"), title="Front"),
                               shell("touch up; sleep 60", title="Back")))
    world.same(verdicts(suite), {"Value 1": "passed", "Value 2": "passed", "Front": "passed",
                                 "Back": "skipped"})


def report_bad_bytes(world):
    """control characters, escape sequences, invalid UTF-8 and markup are fine in XML"""
    script = ("printf 'a\\001\\033[31mred\\033[0m\\377<b>&\"]]>\\r\\n\\357\\277\\277\\302\\205\\tend\\n'; "
              "printf 'err\\001or <&>\\n' >&2; exit 1")
    suite, _ = play(world, shell(script, title='<"&\'>\u0001\ttitle'), code=FAILED)
    case = suite.find("testcase")
    out = case.findtext("system-out")
    world.same("ared\ufffd<b>&\"]]>\n" in out and "\tend" in out, True, out)
    world.same("err?or <&>" in case.find("failure").get("message"), True)
    world.same(case.get("name").startswith('<"&\'>'), True)


def report_secrets(world):
    """secrets are masked in it"""
    world.write("secrets/TOKEN", "quitesecret")
    play(world, task("run_shell", {"command": 'echo "$T"; echo "bad $T" >&2; exit 1',
                                   "envVars": {"T": "$secrets.TOKEN"}}, title="t"), code=FAILED,
         words=("--secrets", "secrets"))
    text = world.read("junit.xml")
    world.same(("quitesecret" in text, "***" in text), (False, True))


def report_long_output(world):
    """of much output the end is kept"""
    suite, _ = play(world, shell("seq 100000; echo end", title="t"))
    out = suite.findtext("testcase/system-out")
    world.same((out.endswith("\nend"), len(out) < 20000), (True, True))


def report_quiet(world):
    """it is written with -q, --json and --stream, too, and then nothing is said"""
    for words in (("-q",), ("-q", "--json"), ("--stream", "events")):
        suite, answer = play(world, says("one", "First"), words=words)
        world.same((verdicts(suite), "tasks:" in answer.err), ({"First": "passed"}, False))
        (world.folder / "junit.xml").unlink()


def report_interrupted(world):
    """it is written when the run is stopped with Ctrl-C, and says that it is not over"""
    write_test(world, [says("one", "First"), shell("touch up; sleep 60", title="Long")])
    process = world.start("run", "test.yaml", "--report", "junit=result.txt", "--thread", "t")
    world.wait_for("up")
    process.send_signal(signal.SIGTERM)
    process.wait()
    suite = read_report(world, "result.txt")
    world.same(verdicts(suite), {"First": "passed", "Long": "skipped", "test": "error"})
    world.same(suite.find("testcase/error").get("type"), "interrupted")


def report_timeout(world):
    """a test that runs out of time has an error in its report"""
    suite, _ = play(world, says("one", "First"), hangs(title="Long"), timeout="500ms", code=FAILED)
    seen = verdicts(suite)
    world.same((seen["First"], set(seen.values()) & {"failure", "error"} != set()), ("passed", True))


def report_graph(world):
    """nodes of a graph are cases, too; without a summary"""
    world.write("graph.yaml", "name: g\nnodes:\n  - {name: a, shell: echo hi}\n  - {name: b, shell: exit 2}\n")
    answer = world("run", "graph.yaml", "--report", "junit.xml").gives(FAILED)
    world.same(verdicts(read_report(world)), {"a": "passed", "b": "failure"})
    world.same("tasks:" in answer.err, False)


def report_words(world):
    """a name that says no format, a folder that is not there and one that is a folder are refused"""
    write_test(world, [says("one", "First")])
    for value, part in (("report.txt", "junit=FILE"), ("junit=", "names no file"),
                        ("nowhere/junit.xml", "no folder"), ("junit=.", "is a folder"),
                        ("tap=x.xml.tap", "junit=FILE")):
        world("run", "test.yaml", "--report", value).gives(USAGE).says("--report", part)
    world.same((world.folder / "ran").exists(), False)


def report_replaced(world):
    """an earlier report stays until the new one is there"""
    world.write("junit.xml", "old")
    suite, _ = play(world, says("one", "First"))
    world.same(verdicts(suite), {"First": "passed"})


def report_unwritable(world):
    """a report that cannot be written is said, and the run does not pass as if nothing were wrong"""
    if os.geteuid() == 0:
        return  # nothing is unwritable
    os.makedirs(world.folder / "shut", exist_ok=True)
    os.chmod(world.folder / "shut", 0o500)
    write_test(world, [says("one", "First")])
    world("run", "test.yaml", "--report", "shut/junit.xml").gives(FAILED).says("cannot be written")
    os.chmod(world.folder / "shut", 0o700)


# ---- resumed, and on a terminal ----


def report_of_a_resume(world):
    """`pawl resume --report` writes what became of the tasks that it ran"""
    write_test(world, [shell("echo one"), shell("[ -e fixed ]", title="Two")])
    world("run", "test.yaml", "--thread", "t", "-q", "--report", "junit.xml").gives(FAILED)
    world.same([case.get("name") for case in read_report(world).findall("testcase")], ["run_shell", "Two"])
    world.write("fixed", "")
    world("resume", "t", "-q", "--report", "again.xml").gives(DONE)
    suite = read_report(world, "again.xml")
    world.same(([case.get("name") for case in suite.findall("testcase")], suite.get("failures")), (["Two"], "0"))
    world("resume", "t", "--report", "junit.txt").gives(USAGE).says("junit.txt")


def report_of_lines_as_they_come(world):
    """the line of a node has the time of all of it: also of a list, and when a debugger has looked in meanwhile"""
    write_test(world, [run_tasks(task("sleep", {"duration": "300ms"}), task("sleep", {"duration": "200ms"}), id_="list"),
                       shell("touch at; " + waits_for("go"), id_="long")])
    process = world.start("run", "test.yaml", "--thread", "t")
    world.wait_for("at")
    begun = time.monotonic()
    world.write("look.txt", "break nobody\nbreak list\n")
    world("debug", "t", "-x", "look.txt")
    world.until(lambda: time.monotonic() - begun > 0.5, "it has taken its time")
    world.write("go", "")
    lines = process.communicate(timeout=TIMEOUT)[1]
    for node, least in (("list", 0.5), ("long", 0.5)):
        took = float(re.search(rf"^{node}  completed  ([0-9.]+)s", lines, re.MULTILINE)[1])
        if took < least:
            raise Broken(f"{node} takes {took} s: {lines}")


def read_terminal(world, *words, until=None):
    """What it writes to a terminal, with the controls in it."""
    main, side = pty.openpty()
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen([world.pawl, *words], cwd=world.folder, env=environ, stdin=side, stdout=side,
                               stderr=side)
    os.close(side)
    seen = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
        if until and until in seen:
            world.write("go", "")
    process.wait()
    os.close(main)
    return seen.decode(errors="replace")


def report_of_progress_on_a_terminal(world):
    """on a terminal progress stands behind its task and is renewed there; elsewhere it is a line"""
    script = "echo '::set-progress 11/32 epochs'; echo '::set-progress 12/32 epochs'; " + waits_for("go")
    write_test(world, [shell(script, title="Watch")])
    seen = read_terminal(world, "run", "test.yaml", "--store", "memory:", until=b"12 of 32 epochs")
    drawn = [line for line in seen.split("\n") if "12 of 32" in line and "Watch" in line]
    if not drawn:
        raise Broken(f"nothing behind the task: {seen!r}")
    if "%: 1" in seen.split("test: completed")[0].replace("Watch  34%", "").replace("Watch  38%", ""):
        raise Broken(f"it is written as a line: {seen!r}")
    answer = world("run", "test.yaml", "--store", "memory:").gives(DONE)
    answer.says("run_shell | 34%: 11 of 32 epochs", "run_shell | 38%: 12 of 32 epochs")


if __name__ == "__main__":
    here = sys.modules["__main__"]
    sys.exit(run_all(choose(cases_of(here, "report_"), sys.argv[2:]), sys.argv[1]))
