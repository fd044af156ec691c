#!/usr/bin/env python3
"""Tests of systems (the tasks dialect): the test as a whole, the envelope of tasks, scopes,
placeholders and cleanup. The kinds are in task_kinds.py, what becomes of a test whose process dies
in task_resumes.py. Prints TAP.

    tests/engine/tasks.py PAWL [WORD...]
"""

import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from playbook import (FAILURE, NONE, SUCCESS, Server, background, check, choose, concurrent, events,
                      external, fails, hangs, known, lingers, matrix, options, play, ran, result,
                      run_tasks, seen, sees, sets, shell, says, start_and_wait, task, waits_for,
                      works, write_test)  # noqa: E402
from world import (Broken, DONE, FAILED, TIMEOUT, USAGE, WAITING, cases_of, paced,
                   run_all)  # noqa: E402


def runs_in(pid, folder):
    try:
        return os.readlink(f"/proc/{pid}/cwd") == str(folder)
    except OSError:
        return False


# ---- the test as a whole ----


def test_runs_in_order(world):
    """F6: root tasks run one after the other, and their test completes"""
    answer = play(world, says("a"), says("b"), says("c"))
    world.same((answer["status"], ran(world)), ("completed", ["a", "b", "c"]))


def test_stops_at_first_failure(world):
    """F6: root tasks stop at the first failure, which is the error of the test"""
    answer = play(world, says("a"), fails(3, id_="broken"), says("b"), code=FAILED)
    world.same(answer["status"], "failed")
    world.same((answer["error"]["node"], answer["error"]["exit_code"]), ("broken", 3))
    world.same(ran(world), ["a"])


def e1_unknown_kind(world):
    """E1: an unknown kind is an error at load that names the kinds there are"""
    answer = check(world, task("run_shel", {"command": "true"})).gives(FAILED)
    answer.says("run_shel", "did you mean `run_shell`", "run_tasks", "run_tasks_concurrent",
                "run_task_matrix", "run_task_background", "run_task_options", "run_external_tasks",
                "run_command", "run_javascript", "sleep", "check_http_json", "check_http_metrics")
    world("run", "test.yaml").gives(USAGE)


def e1_unknown_kind_inside(world):
    """E1: inside a container an unknown kind fails that when it starts; check says it at once"""
    held = [run_tasks(says("inner"), task("slep"), id_="c"), concurrent(says("inner"), task("slep"), id_="c"),
            matrix(task("slep"), [1, 2], id_="c"), options(task("slep"), id_="c"),
            background(says("inner"), task("slep"), id_="c"), run_tasks(run_tasks(task("slep"), id_="c"))]
    for made in held:
        (world.folder / "ran").unlink(missing_ok=True)
        answer = play(world, says("before"), made, says("after"), code=FAILED,
                      cleanup=[says("cleans")])
        world.same((answer["error"]["node"], answer["error"]["kind"]), ("c", "kind"))
        world.same(("`slep`" in answer["error"]["message"], result(answer, "c") if "c" in
                    answer["state"]["tasks"] else FAILURE), (True, FAILURE))
        world.same(ran(world), ["before", "cleans"])
        world("check", "test.yaml").gives(FAILED).says("error", "There is no kind of task `slep`",
                                                       "did you mean `sleep`?")
        world("run", "--strict", "test.yaml").gives(USAGE).says("`slep`")


def e1_unknown_kind_never_started(world):
    """E1: a container that never starts does no harm; the run says it once, as a warning"""
    write_test(world, [says("a"), run_tasks(task("slep"), if_="| false"), says("b")])
    world("run", "test.yaml", "--thread", "t").gives(DONE).says("warning", "no kind of task `slep`")
    world.same(ran(world), ["a", "b"])
    write_test(world, [fails(), run_tasks(task("slep"))])
    world("run", "test.yaml").gives(FAILED)
    world("graph", "test.yaml").gives(DONE)


def e1_unknown_kind_in_a_file(world):
    """E1: so it is in a file that another test calls, among its cleanupTasks, too"""
    for fields in ({"tasks": [says("in"), task("slep")]}, {"tasks": [says("in")], "cleanupTasks": [task("slep")]}):
        world.write("other.yaml", json.dumps(fields))
        play(world, external("other.yaml", if_="| false"), says("a"))
        answer = play(world, says("b"), external("other.yaml", id_="e"), says("c"), code=FAILED)
        world.same((answer["error"]["kind"], result(answer, "e"), ran(world)), ("kind", FAILURE, ["a", "b"]))
        check(world, external("other.yaml")).gives(FAILED).says("other.yaml:", "no kind of task `slep`")
        (world.folder / "ran").unlink()


def e1_alias(world):
    """E1: generate_random_mnemonic is get_random_mnemonic, at any depth"""
    world.write("kinds/get_random_mnemonic.yaml", "kind: get_random_mnemonic\noutputs: {words: tasks.w.outputs.words}\n"
                "tasks:\n  - {name: run_shell, id: w, config: {command: 'echo ::set-out words a b c'}}\n")
    answer = play(world, task("generate_random_mnemonic", id_="old"), task("get_random_mnemonic", id_="new"),
                  run_tasks(task("generate_random_mnemonic", id_="inner")), kinds=["kinds"])
    for id_ in ("old", "new", "inner"):
        world.same(known(answer, id_)["outputs"], {"words": "a b c"})
    check(world, task("generate_random_mnemonic")).gives(FAILED).says("no kind of task `generate_random_mnemonic`")


def test_unknown_keys(world):
    """F9: unknown keys of a test, a task and a config are warnings with a suggestion"""
    check(world, works(), cleanupTask=[works()]).gives(DONE).says("warning", "`cleanupTasks`")
    check(world, works(titel="x")).gives(DONE).says("warning", "`title`")
    check(world, shell("true", configVar={})).gives(DONE).says("warning", "`configVars`")
    check(world, task("run_shell", {"comand": "true"})).gives(FAILED).says("`command`")
    play(world, works(titel="x"), says("a"), disable=True)
    world.same(ran(world), ["a"])


def test_strict(world):
    """F9: with --strict they are errors, for check and for run"""
    write_test(world, [works(titel="x")])
    world("check", "--strict", "test.yaml").gives(FAILED).says("error", "`title`")
    world("run", "--strict", "test.yaml").gives(USAGE).says("error", "`title`")
    write_test(world, [works(title="x")])
    world("run", "--strict", "test.yaml").gives(DONE)


def test_old_keys(world):
    """F10: old keys are warned of, and do nothing"""
    old = {"stopChildOnResult": True, "failTaskCount": 1, "succeedTaskCount": 1,
           "failOnUndecided": True}
    check(world, concurrent(works(), **old)).gives(DONE).says("old key", "`failureThreshold`")
    play(world, concurrent(works(), works(), **old), run_tasks(works(), **old),
         matrix(works(), [1, 2], **old), options(works(), exitOnResult=True))


def test_description_keys(world):
    """F2: version and tags are there for people"""
    answer = check(world, works(), version="1.0.0", tags=["a", "b"], description="c").gives(DONE)
    world.same("warning" in answer.out + answer.err, False, "there is a warning")


def test_wrong_files(world):
    """what is missing or of the wrong type in a config is an error at load"""
    check(world, task("run_shell", {})).gives(FAILED).says("`command`", "missing")
    check(world, task("sleep")).gives(FAILED).says("`duration`")
    check(world, task("sleep", {"duration": "5 parsecs"})).gives(FAILED).says("5 parsecs")
    check(world, run_tasks()).gives(FAILED).says("at least one")
    check(world, run_tasks(works(), continueOnFailure="maybe")).gives(FAILED).says(
        "continueOnFailure")
    check(world, concurrent(works(), failureThreshold=-1)).gives(FAILED).says("failureThreshold")
    check(world, task("run_command", {"command": []})).gives(FAILED).says("`command`")
    check(world).gives(FAILED)
    check(world, works(id_="a"), works(id_="a")).gives(DONE).says("warning", "`a`")


def test_same_id_in_other_lists(world):
    """ids are unique in their list only; the inner one is seen inside"""
    answer = play(world, shell("echo '::set-output n outer'", id_="a"),
                  run_tasks(shell("echo '::set-output n inner'", id_="a"),
                            sees("tasks.a.outputs.n", "in"), newVariableScope=True, id_="list"),
                  sees("tasks.a.outputs.n", "out"))
    world.same(seen(answer, "out"), "outer")
    inner = known(answer, "list")["outputs"]["childScope"]["tasks"]
    world.same(inner["in"]["outputs"]["v"], "inner")


@paced
def test_timeout(world):
    """F3: a test that takes longer than its timeout fails"""
    answer = play(world, lingers("a"), says("b"), timeout=world.ms(500), code=FAILED)
    world.same((answer["error"]["kind"], ran(world)), ("timeout", ["a"]))


def f3_durations(world):
    """F3: a length of time has units; a number alone is seconds, and 0 or nothing is no limit"""
    for timeout in ("90s", "1h30m", "1.5h", "1m0.5s", "90", 90, "500us", "500\u00b5s", "500\u03bcs", "9000000ns"):
        check(world, works(), timeout=timeout).gives(DONE)
    for timeout in ("5 parsecs", "s", "1h30", "-1s", "5\u00e9", "5\u00b5", "5" + "\u00b5" * 20):
        check(world, works(), timeout=timeout).gives(FAILED).says("`timeout`")
    for timeout in (0, "0s", None):
        play(world, shell("sleep 0.05; echo a >> ran"), timeout=timeout)
    world.same(ran(world), ["a"] * 3)


def f4_config(world):
    """F4: defaults of variables are of any type, as YAML has them"""
    world.write("test.yaml", """\
config: {hex: 0x10, octal: 0o20, old: 020, binary: 0b10000, long: 1_000,
         wide: 0x123456789012345678901234567890, yes_: yes, on_: on, day: 2024-01-01, none: , list: [1, {a: b}]}
tasks: [{name: run_shell, config: {command: 'true'}}]
""")
    seen = world("run", "test.yaml", "--json").gives(DONE).json["state"]
    want = {"hex": 16, "octal": 16, "old": 16, "binary": 16, "long": 1000,
            "wide": "0x123456789012345678901234567890", "yes_": "yes", "on_": "on",
            "day": "2024-01-01T00:00:00Z", "none": None, "list": [1, {"a": "b"}]}
    world.same({key: seen[key] for key in want}, want)


def e4_config(world):
    """E4: config is read by the type of each field: texts as written, booleans, durations; it may be missing"""
    world.write("test.yaml", """\
tasks:
- name: run_command
  config: {command: [sh, -c, 'echo "$@" >> ran', sh, 0x12, 1e3, 123456789012345678901234567890, 1.10, yes, 2024-01-01]}
- name: run_tasks
  config: {continueOnFailure: yes, invertResult: off, tasks: [{name: run_shell, config: {command: exit 1}}]}
- name: run_task_options
  config: {ignoreFailure: on, invertResult: no, task: {name: run_shell, config: {command: exit 1}}}
- {name: sleep, config: {duration: 1500us}}
- {name: run_shell, configVars: {command: '| "echo no config >> ran"'}}
""")
    world("run", "test.yaml").gives(DONE)
    world.same(world.read("ran"), "0x12 1e3 123456789012345678901234567890 1.10 yes 2024-01-01\nno config\n")


def e4_short_words(world):
    """E4: y and n are booleans where one is wanted, and 2.0 is an integer; elsewhere they are what they were"""
    world.write("test.yaml", """\
config: {y: y, n: n, two: 2.0}
tasks:
- name: run_task_options
  config: {invertResult: y, ignoreFailure: N, maxRetryCount: 2.0, task: {name: run_shell, config: {command: exit 1}}}
- {name: run_command, id: c, configVars: {command: '| ["printf", "%s %s", .y, .n]'}}
""")
    answer = world("run", "test.yaml", "--json").gives(DONE).json
    world.same(known(answer, "c")["outputs"]["stdout"], "y n")
    check(world, options(works(), maxRetryCount=2.5)).gives(FAILED).says("whole number")
    check(world, options(works(), invertResult="maybe")).gives(FAILED).says("true or false")


def e4_texts_in_maps(world):
    """E4: headers and labels are texts as written"""
    words = "{a: 0x10, b: 1e3, c: 007, d: yes, e: 2024-01-01, f: 1.50, g: }"
    with Server(world) as server:
        world.write("test.yaml", f"""\
tasks:
- name: check_http_json
  id: h
  config:
    url: {server.url}/echo
    headers: {words}
    assertions: [{{name: headers, query: .headers, exists: true}}]
""")
        answer = world("run", "test.yaml", "--json").gives(DONE).json
        headers = known(answer, "h")["outputs"]["values"]["headers"]
        headers = headers if isinstance(headers, dict) else dict(headers)
        world.same([headers.get(key) for key in "abcdefg"], ["0x10", "1e3", "007", "yes", "2024-01-01", "1.50", ""])
        world.write("test.yaml", f"""\
tasks:
- name: check_http_metrics
  config:
    url: {server.url}/metrics
    failOnCheckMiss: true
    missingSeries: fail
    assertions: [{{name: m, metric: http_requests_total, labels: {{code: 0200}}, operator: gt, value: 0}}]
""")
        world("run", "test.yaml").gives(FAILED).says('"0200"')


def e4_inputs_of_kinds(world):
    """E4: what a kind from outside is given is read by the types that it declares, inside of lists and maps, too"""
    texts = {"type": "array", "items": {"type": "string"}}
    world.write("kinds/k.yaml", json.dumps({
        "kind": "k", "outputs": {"v": "| [.text, .maybe, .texts, .map, .flag, .any]"},
        "inputs": {"type": "object", "properties": {
            "text": {"type": "string"}, "maybe": {"type": ["null", "string"]}, "texts": texts, "flag": {"type": "boolean"}, "any": {},
            "map": {"type": "object", "properties": {"key": {"type": "string"}, "flags": {"items": {"type": ["boolean", "string"]}}}}}},
        "tasks": [works()]}))
    world.write("test.yaml", """\
kinds: [kinds]
tasks:
- name: k
  id: k
  config:
    {text: 0x10, maybe: 1e3, texts: [0x10, true, 1.50, a], flag: yes, any: 0x10, map: {key: 007, flags: [on, n, 5], more: 0x10}}
""")
    answer = world("run", "test.yaml", "--json").gives(DONE).json
    world.same(known(answer, "k")["outputs"]["v"], ["0x10", "1e3", ["0x10", "true", "1.50", "a"],
                                                    {"key": "007", "flags": ["on", "n", "5"], "more": 16}, True, 16])
    check(world, task("k", {"flag": "maybe"}), kinds=["kinds"]).gives(FAILED).says("`flag` must be a boolean")
    check(world, task("k", {"texts": [[]]}), kinds=["kinds"]).gives(FAILED).says("`texts[0]` must be a string")
    check(world, run_tasks(works(), continueOnFailure="perhaps")).gives(FAILED).says("true or false")


def test_urls_of_other_schemes(world):
    """URLs that no request can be made to are errors at load, whatever follows the scheme; others are not looked at"""
    for url in ("ftp://x/y", "file:///etc/passwd", "ws://h"):
        check(world, task("check_http_json", {"url": url})).gives(FAILED).says(url, "http://")
        for node in ({"http": url + "/\\(.a)"}, {"action": "?", "model": "m", "endpoint": url}):
            world.write("g.yaml", json.dumps({"nodes": [{"name": "a", **node}]}))
            world("check", "g.yaml").gives(FAILED).says(url, "http://")
    for url in ("HTTPS://x", "\\(.base)/x", "ht\\(.rest)", "http:/x", "localhost:80"):
        world.write("g.yaml", json.dumps({"nodes": [{"name": "a", "http": url}]}))
        world("check", "g.yaml").gives(DONE)


def test_schedule(world):
    """F8: a schedule is read and kept, and does not hold up a run"""
    schedule = {"startup": True, "cron": ["0 */6 * * *", "@daily"], "skipQueue": True}
    answer = check(world, works(), schedule=schedule).gives(DONE).says("`schedule` starts nothing")
    world.same(answer.err.count("starts nothing") + answer.out.count("starts nothing"), 1)
    world.same(play(world, works(), schedule=schedule)["status"], "completed")
    check(world, works(), schedule={"cron": "0 * *"}).gives(FAILED).says("0 * *")
    check(world, works(), schedule={"startup": "soon"}).gives(FAILED).says("`startup`")
    check(world, works(), schedule={"crom": "@daily"}).gives(DONE).says("warning", "`cron`")


def test_names(world):
    """F1: a test is called by its name, or else by its id, or else by its file; it has a task at least"""
    for fields, name in (({"name": "A test", "id": "a"}, "A test"), ({"id": "a"}, "a"), ({}, "t")):
        world.write("t.yaml", json.dumps({**fields, "tasks": [works()]}))
        thread = world("run", "t.yaml", "--json").gives(DONE).json["thread"]
        world.same(world("status", thread, "--json").json["workflow"], name)
    world.write("t.yaml", json.dumps({"name": "A test", "id": "a", "tasks": []}))
    world("check", "t.yaml").gives(FAILED).says("at least one")


def test_input(world):
    """F4: variables given with the run come before the test's config"""
    answer = play(world, sees("[.a, .b]", "s"), config={"a": 1, "b": 2},
                  words=["--input", '{"b": 3}'])
    world.same(seen(answer, "s"), [1, 3])
    answer = play(world, sees("a", "s"), config={"a": 1}, words=["--set", "a=5"])
    world.same(seen(answer, "s"), 5)


# ---- the envelope: title, if, timeout, configVars ----


def envelope_title(world):
    """E3: a title has its placeholders filled in, of work and of containers alike"""
    tasks = [shell("true", id_="a", title="Start ${n} of ${{.n + 1}}, ${nobody}"),
             run_tasks(works(), id_="b", title="List ${n}")]
    titles = {e["node"]: e.get("title") for e in events(world, *tasks, config={"n": 4})
              if e["type"] == "node"}
    world.same((titles["a"], titles["b"]), ("Start 4 of 5, ${nobody}", "List 4"))


TITLES = [
    # id, as written, what it becomes
    ("P2", "${n} ${s} ${nobody} ${o.a} ${}", "4 a b ${nobody} ${o.a} ${}"),
    ("P3", "${{n}} ${{.o.a}} ${{| .l | length}}", "4 1 3"),
    ("P3", "${{| empty}} ${{n +}} ${{(.n)}}", "? ? ?"),
    ("P3", "${{nobody}} ${{z}}", "<nil> <nil>"),
    ("P3", "${{o}} ${{l}}", "map[a:1 b:[2 map[c:true]]] [1 x <nil>]"),
    ("P3", '${{| error("oops")}}', "oops"),
    ("P3", "$${n} $$ $n ${{n}", "$4 $$ $n ${{n}"),
    ("P3", "${{| 1e21}} ${{| 3.0}} ${{| 1234567.0}} ${{| 1234567}} ${{| 7 / 2}}",
     "1e+21 3 1.234567e+06 1234567 3.5"),
]


def make_title(number, text, want):
    def case(world):
        config = {"n": 4, "s": "a b", "o": {"b": [2, {"c": True}], "a": 1}, "l": [1, "x", None],
                  "z": None}
        titles = [e.get("title") for e in events(world, shell("true", id_="a", title=text), config=config)
                  if e["type"] == "node"]
        world.same(titles[:1], [want])
    case.__doc__ = f"{number}: the title {text}"
    return case


TITLED = [make_title(*row) for row in TITLES]


def fill_not_in_config(world):
    """E3, P1: ${x} and ${{x}} in a command are the shell's"""
    play(world, task("run_shell", {"command": 'n=7; echo "${n}" >> ran'}),
         task("run_command", {"command": ["sh", "-c", 'echo "$0" >> ran', "${n}-${{n}}"]}),
         config={"n": 1})
    world.same(ran(world), ["7", "${n}-${{n}}"])


def envelope_if_true(world):
    """`if` lets a task run on true"""
    play(world, says("a", if_=".n > 0"), says("b", if_="n > 0"), says("c", if_="| true"),
         config={"n": 1})
    world.same(ran(world), ["a", "b", "c"])


def envelope_if_false(world):
    """a task whose `if` is false is skipped, and the list goes on"""
    answer = play(world, says("a", if_="n > 1", id_="a"), says("b"), config={"n": 1})
    world.same(ran(world), ["b"])
    world.same({key: known(answer, "a")[key] for key in ("started", "running", "result")},
               {"started": True, "running": False, "result": NONE})


def envelope_if_not_boolean(world):
    """a task whose `if` is no boolean is skipped with a warning"""
    for query in ('"true"', "true", "1", "null", "| empty", "nobody", "| {}", "| []"):
        lines = events(world, says("never", id_="a", if_=query))
        warnings = [e for e in lines if e["type"] == "warning"]
        world.same([(e["node"], "`if`" in e["message"]) for e in warnings], [("a", True)], query)
        world("run", "test.yaml").gives(DONE).says("warning", "`a`")
    world.same(ran(world), [])


def envelope_if_error(world):
    """E7: a task whose `if` fails is skipped with a warning that says why"""
    for query, why in (('| error("oops")', "oops"), (".n | keys", "keys")):
        lines = events(world, says("a", id_="a", if_=query), says("b"), config={"n": 1})
        warnings = [e["message"] for e in lines if e["type"] == "warning"]
        world.same([("`if`" in m, why in m) for m in warnings], [(True, True)], str(warnings))
    world.same(ran(world), ["b", "b"])
    check(world, works(if_="(.n)")).gives(FAILED).says("write `| EXPRESSION`")


def envelope_if_of_container(world):
    """`if` of a container skips all that is in it, in every kind"""
    world.write("other.yaml", json.dumps({"tasks": [says("e")]}))
    play(world, run_tasks(says("a"), if_="false"), concurrent(says("b"), if_="false"),
         matrix(says("c"), [1], if_="false"), background(says("d"), says("d"), if_="false"),
         options(says("o"), if_="false"), external("other.yaml", if_="false"))
    world.same(ran(world), [])


def envelope_if_sees_tasks(world):
    """`if` sees what became of tasks before"""
    play(world, options(fails(id_="a"), ignoreFailure=True, id_="o"),
         says("failed", if_="tasks.a.result == 2"), says("fine", if_="tasks.a.result == 1"),
         says("ignored", if_="tasks.o.result == 1"))
    world.same(ran(world), ["failed", "ignored"])


LATE = [
    ("run_shell", lambda t: lingers("x", id_="late", timeout=t)),
    ("run_command", lambda t: task("run_command", {"command": ["sleep", "60"]}, id_="late",
                                   timeout=t)),
    ("sleep", lambda t: hangs(id_="late", timeout=t)),
    ("run_tasks", lambda t: run_tasks(works(), lingers("x"), id_="late", timeout=t)),
    ("run_tasks_concurrent", lambda t: concurrent(works(), lingers("x"), hangs(), id_="late",
                                                  timeout=t)),
    ("run_task_matrix", lambda t: matrix(lingers("x"), [1, 2], id_="late", timeout=t)),
    ("a concurrent run_task_matrix", lambda t: matrix(lingers("x"), [1, 2], runConcurrent=True,
                                                      id_="late", timeout=t)),
    ("run_task_background", lambda t: background(lingers("x"), lingers("y"), id_="late",
                                                 timeout=t)),
    ("run_task_options", lambda t: options(lingers("x"), retryOnFailure=True, maxRetryCount=9,
                                           id_="late", timeout=t)),
    ("run_external_tasks", lambda t: external("other.yaml", id_="late", timeout=t)),
]


def make_late(name, make):
    def case(world):
        world.write("other.yaml", json.dumps({"tasks": [lingers("x")]}))
        answer = play(world, make("300ms"), says("after"), code=FAILED)
        world.same(answer["error"]["kind"], "timeout")
        late = known(answer, "late")
        world.same({key: late[key] for key in ("result", "timeout", "running", "started")},
                   {"result": FAILURE, "timeout": True, "running": False, "started": True})
        world.same([word for word in ran(world) if word not in ("x", "y")], [])
        answer = play(world, options(make("300ms"), ignoreFailure=True), says("after"))
        world.same((ran(world)[-1], known(answer, "late")["timeout"]), ("after", True))
        quick = options(works(), id_="late", timeout="30s")
        world.same(known(play(world, quick), "late")["timeout"], None)
    case.__doc__ = f"a timeout ends {name}, which has failed, and all that it holds"
    return case


LATES = [make_late(*row) for row in LATE]


@paced
def envelope_timeout_of_an_attempt(world):
    """a timeout of the task inside run_task_options is for each attempt"""
    inner = shell("echo x >> ran; [ $(wc -l < ran) -ge 3 ] || sleep 60", timeout=world.ms(400))
    play(world, options(inner, retryOnFailure=True, maxRetryCount=5))
    world.same(ran(world), ["x", "x", "x"])


def envelope_config_vars(world):
    """configVars puts what its queries give in place of fields, with their types"""
    play(world, task("run_command", {"command": ["false"]},
                     configVars={"command": '| ["sh", "-c", "echo \\(.n) >> ran"]'}),
         config={"n": 7})
    world.same(ran(world), ["7"])
    play(world, options(fails(), configVars={"ignoreFailure": "yes"}),
         config={"yes": True})


def envelope_config_vars_required(world):
    """a field that is needed may come from configVars alone"""
    play(world, task("run_shell", configVars={"command": "script"}),
         config={"script": "echo a >> ran"})
    world.same(ran(world), ["a"])
    answer = play(world, task("run_shell", configVars={"command": "nobody"}), code=FAILED)
    world.same("`command`" in answer["error"]["message"], True, "the error names the field")


def envelope_config_vars_nothing(world):
    """Q3: a query of configVars that gives null or nothing leaves a text, number or boolean as it is"""
    for query in ("nobody", "| null", "| empty", "tasks.nobody.outputs.x"):
        play(world, task("run_shell", {"command": "echo kept >> ran"},
                         configVars={"command": query}))
    world.same(ran(world), ["kept"] * 4)
    play(world, task("sleep", {"duration": "1m"}, configVars={"duration": "zero"}),
         config={"zero": 0})


def envelope_config_vars_false(world):
    """false is a value: configVars puts it in place of true"""
    play(world, run_tasks(works(), invertResult=True), code=FAILED)
    play(world, task("run_tasks", {"tasks": [works()], "invertResult": True},
                     configVars={"invertResult": "no"}), config={"no": False})


def envelope_config_vars_null(world):
    """Q3: null makes lists and objects empty"""
    world.write("other.yaml", json.dumps({"tasks": [works()]}))
    answer = play(world, task("run_shell", {"command": 'echo "$#" >> ran', "shellArgs": ["-s", "x"]},
                              configVars={"shellArgs": "nobody"}),
                  matrix(says("v"), [1, 2], configVars={"matrixValues": "nobody"}, id_="m"),
                  external("other.yaml", testConfig={"a": 1}, configVars={"testConfig": "nobody"},
                           id_="e"))
    world.same((ran(world), result(answer, "m")), (["0"], SUCCESS))
    world.same("a" in known(answer, "e")["outputs"]["childScope"], False, "a is there")


def envelope_config_vars_objects(world):
    """E5: keys of an object are added to the static ones, lists replace them"""
    world.write("other.yaml", json.dumps({"tasks": [works()]}))
    answer = play(world, external("other.yaml", testConfig={"a": 1, "b": 2}, id_="e",
                                  configVars={"testConfig": "| {b: 3, c: 4}"}),
                  matrix(works(), [1, 2, 3], configVars={"matrixValues": "| [7]"}, id_="m"))
    scope = known(answer, "e")["outputs"]["childScope"]
    world.same([scope[name] for name in "abc"], [1, 3, 4])
    world.same(list(known(answer, "m")["outputs"]["childScopes"]), ["0"])


def envelope_config_vars_failing_query(world):
    """Q4: a query that fails gives an empty object, which an object or an untyped field takes"""
    world.write("other.yaml", json.dumps({"tasks": [works()]}))
    answer = play(world, external("other.yaml", testConfig={"a": 1}, id_="e",
                                  testConfigVars={"b": '| error("x")', "c": "| nope(1)"},
                                  configVars={"testConfig": '| error("x")'}))
    scope = known(answer, "e")["outputs"]["childScope"]
    world.same([scope[name] for name in "abc"], [1, {}, {}])


def envelope_config_vars_error(world):
    """Q4: for a text that is a failure of the task, and the error names the field"""
    answer = play(world, task("run_shell", {"command": "echo ran >> ran"}, id_="a",
                              configVars={"command": '| error("oops")'}), code=FAILED)
    world.same((ran(world), result(answer, "a")), ([], FAILURE))
    for part in ("command", "oops"):
        if part not in answer["error"]["message"]:
            raise Broken(f"the error is {answer['error']}")


def envelope_config_vars_wrong_type(world):
    """a value of the wrong type from configVars fails the task, and the error names the field"""
    answer = play(world, task("run_tasks", {"tasks": [says("a")]},
                              configVars={"continueOnFailure": "list"}),
                  config={"list": [1]}, code=FAILED)
    world.same(("continueOnFailure" in answer["error"]["message"], ran(world)), (True, []))


def envelope_config_vars_at_load(world):
    """configVars of what is no field, or holds tasks or queries, is an error at load"""
    check(world, works(configVars={"duratoin": "x"})).gives(DONE).says("warning", "`duration`")
    check(world, run_tasks(works()) | {"configVars": {"tasks": "x"}}).gives(FAILED).says("`tasks`")
    check(world, shell("true", configVars={"envVars": "x"})).gives(FAILED).says("`envVars`")
    check(world, works(configVars={"duration": "1 +"})).gives(FAILED).says("test.yaml:")


# ---- what is known of tasks: tasks.ID ----


def known_success(world):
    """tasks.ID of a task that succeeded"""
    world.same(known(play(world, works(id_="a")), "a"),
               {"outputs": {}, "result": SUCCESS, "started": True, "running": False,
                "progress": 100, "progressMessage": ""})


def known_failure(world):
    """tasks.ID of a task that failed, with the outputs that it set before"""
    answer = play(world, shell("echo '::set-output n 7'; exit 5", id_="a"), code=FAILED)
    world.same(known(answer, "a"),
               {"outputs": {"n": "7", "stdout": "", "exit_code": 5}, "result": FAILURE,
                "started": True, "running": False, "progress": 100, "progressMessage": ""})


def known_before(world):
    """E2: a task is known from when it is made: those of the file at once, others with their list"""
    fresh = {"outputs": {}, "started": False, "running": False, "progress": 0,
             "progressMessage": ""}
    answer = play(world, sees("[.tasks.b, .tasks.c, .tasks.d, .tasks.e.outputs.x]", "s"),
                  works(id_="b"), works(),
                  run_tasks(sees("[.tasks.c, .tasks.d]", "t"), works(id_="d")),
                  cleanup=[works(id_="c")])
    world.same(seen(answer, "s"), [fresh, fresh, None, None])
    world.same(seen(answer, "t"), [fresh, fresh])
    world.same(sorted(answer["state"]["tasks"]), ["b", "c", "d", "s", "t"])


def known_skipped(world):
    """E8: a skipped task has started, and has no result"""
    answer = play(world, works(id_="a", if_="no"), config={"no": False})
    world.same(known(answer, "a"), {"outputs": {}, "started": True, "running": False, "progress": 0,
                                    "progressMessage": ""})


def known_same_id(world):
    """E2: the same id again in a scope replaces the first"""
    answer = play(world, shell("echo '::set-output n 1'", id_="a"),
                  run_tasks(shell("echo '::set-output n 2'", id_="a")))
    world.same(known(answer, "a")["outputs"]["n"], "2")


def known_running(world):
    """a task that runs is running, and its result is none, for those beside it"""
    answer = play(world, background(
        run_tasks(shell(waits_for("begun")), sees("tasks.g.outputs.backgroundScope.tasks.b", "s")),
        shell("touch begun; sleep 60", id_="b"), id_="g"))
    was = seen(answer, "s")
    world.same({key: was[key] for key in ("result", "started", "running", "timeout")},
               {"result": NONE, "started": True, "running": True, "timeout": None})
    inner = known(answer, "g")["outputs"]["backgroundScope"]["tasks"]["b"]
    world.same(inner["running"], False, "running, after it was ended")


def known_outputs_at_once(world):
    """variables and outputs are there for others while their script still runs"""
    script = f"echo '::set-var x 1'; echo '::set-output y 2'; touch said; {waits_for('read')}"
    look = task("run_shell", {"command": 'echo "::set-output-json v [$X, $Y]"; [ $X != null ]',
                              "envVars": {"X": "x", "Y": "tasks.b.outputs.y"}}, id_="s")
    look = options(look, retryOnFailure=True, maxRetryCount=50)
    answer = play(world, concurrent(
        shell(script, id_="b"), run_tasks(shell(waits_for("said")), look, shell("touch read")),
        newVariableScope=False))
    world.same(seen(answer, "s"), ["1", "2"])


def known_progress(world):
    """progress of a container is the part of its tasks that has ended"""
    answer = play(world, run_tasks(works(), sees("tasks.l.progress", "half"), id_="l"),
                  run_tasks(sees("tasks.m.progress", "none"), works(), works(), works(), id_="m"))
    world.same((seen(answer, "half"), seen(answer, "none")), (50, 0))
    look = task("run_shell", {"command": '[ "$P" -ge 75 ]', "envVars": {"P": "tasks.c.progress"}})
    three_quarters = options(look, retryOnFailure=True, maxRetryCount=50)
    answer = play(world, concurrent(works(), works(), works(),
                                    run_tasks(three_quarters, sees("tasks.c.progress", "s")),
                                    newVariableScope=False, id_="c"))
    world.same((seen(answer, "s"), known(answer, "c")["progress"]), (75, 100))
    answer = play(world, matrix(sees("tasks.m.progress", "s"), [1, 2, 3, 4], id_="m"))
    scopes = known(answer, "m")["outputs"]["childScopes"]
    world.same([scopes[str(i)]["tasks"]["s"]["outputs"]["v"] for i in range(4)], [0, 25, 50, 75])


def known_again(world):
    """a task that is run again begins with nothing known of the time before"""
    answer = play(world, options(shell('echo x >> ran; [ $(wc -l < ran) -ge 2 ] && exit 0;'
                                       "echo '::set-output first 1'; exit 1", id_="a"),
                                 retryOnFailure=True, maxRetryCount=1))
    world.same((known(answer, "a")["outputs"], result(answer, "a")),
               ({"stdout": "", "exit_code": 0}, SUCCESS))


# ---- scopes ----


def scope_defaults(world):
    """F4: the test's config is what a look-up comes to last, and a write goes before it"""
    answer = play(world, sees("a", "before"), sets("a", 2), sees("a", "after"), config={"a": 1})
    world.same((seen(answer, "before"), seen(answer, "after")), (1, 2))


def scope_test_config_vars(world):
    """F5: the test's configVars are queries over its config and those before them; nothing sets nothing"""
    answer = play(world, sees("[.a, .b, .c, .d]", "s"), config={"a": 1, "c": 3},
                  configVars={"b": "a + 1", "d": ".b + 1", "c": "| empty"})
    world.same(seen(answer, "s"), [1, 2, 3, 3])


def scope_test_config_vars_and_input(world):
    """F5: values given with the run win, and the queries do not see them"""
    answer = play(world, sees("[.a, .b, .c]", "s"), config={"a": 1},
                  configVars={"b": "a + 1", "c": "a + 2"}, words=["--input", '{"a": 5, "c": 6}'])
    world.same(seen(answer, "s"), [5, 2, 6])


def scope_test_config_vars_error(world):
    """Q4: a query of the test's configVars that fails gives an empty object"""
    answer = play(world, sees("b", "s"), configVars={"b": '| error("oops")'})
    world.same(seen(answer, "s"), {})


def scope_base_paths(world):
    """S5: testBasePath and taskBasePath are the folders of the test and of the file that is called"""
    write_test(world, [sees("[.testBasePath, .taskBasePath]", "s")], name="deep/other.yaml")
    answer = play(world, sees("[.testBasePath, .taskBasePath]", "s"),
                  external("deep/other.yaml", id_="e"))
    inner = known(answer, "e")["outputs"]["childScope"]["tasks"]["s"]["outputs"]["v"]
    world.same((seen(answer, "s"), inner), ([".", "."], [".", "deep"]))


def scope_owner(world):
    """S4: a scope that a container made has scopeOwner, its number"""
    answer = play(world, concurrent(sees("scopeOwner", "s"), id_="a"),
                  matrix(sees("[.v, .scopeOwner]", "s"), [7], id_="b"), sees("scopeOwner", "out"))
    first = known(answer, "a")["outputs"]["childScopes"]["0"]
    world.same(first["tasks"]["s"]["outputs"]["v"], first["scopeOwner"])
    world.same(isinstance(first["scopeOwner"], int), True, "it is a number")
    second = known(answer, "b")["outputs"]["childScopes"]["0"]
    world.same((second["v"], second["tasks"]["s"]["outputs"]["v"]), (7, [7, second["scopeOwner"]]))
    world.same(seen(answer, "out"), None)


def scope_live(world):
    """S4: what is set inside is seen in the container's output while it runs"""
    look = task("run_shell", {"command": '[ "$X" = 5 ]',
                              "envVars": {"X": "tasks.c.outputs.childScopes.[\"0\"].x"}})
    play(world, concurrent(shell(f"echo '::set-json x 5'; {waits_for('read')}"),
                           run_tasks(options(look, retryOnFailure=True, maxRetryCount=100),
                                     shell("touch read")), id_="c"))


def scope_shared_by_run_tasks(world):
    """S2: children of run_tasks share the scope around them"""
    answer = play(world, sets("a", 1),
                  run_tasks(sees("a", "inside"), sets("a", 2), sets("b", 3), works(id_="t")),
                  sees("[.a, .b, .tasks.t.result]", "after"))
    world.same((seen(answer, "inside"), seen(answer, "after")), (1, [2, 3, SUCCESS]))


def scope_new_in_run_tasks(world):
    """S2: with newVariableScope what run_tasks sets stays inside; what is outside is seen inside"""
    answer = play(world, sets("a", 1), works(id_="outer"),
                  run_tasks(sees("[.a, .tasks.outer.result]", "first"), sets("a", 2), sets("b", 3),
                            sees("[.a, .b]", "last"), newVariableScope=True, id_="l"),
                  sees("[.a, .b, .tasks.first]", "after"))
    inner = known(answer, "l")["outputs"]["childScope"]
    world.same([inner["tasks"][name]["outputs"]["v"] for name in ("first", "last")],
               [[1, SUCCESS], [2, 3]])
    world.same(seen(answer, "after"), [1, None, None])


def scope_writes_touch_the_nearest(world):
    """S2: a write touches the nearest scope: through lists that share it, not beyond"""
    answer = play(world, sets("a", 0),
                  run_tasks(run_tasks(run_tasks(sets("a", 1))), sees("a", "in"),
                            newVariableScope=True, id_="l"),
                  sees("a", "out"))
    inner = known(answer, "l")["outputs"]["childScope"]
    world.same((inner["a"], inner["tasks"]["in"]["outputs"]["v"], seen(answer, "out")), (1, 1, 0))


def scope_of_concurrent(world):
    """each task of run_tasks_concurrent has a scope of its own unless told"""
    peek = run_tasks(shell(waits_for("set")), sees("x", "s"))
    answer = play(world, sets("x", 0),
                  concurrent(run_tasks(sets("x", 1), shell("touch set")), peek, id_="c"),
                  sees("x", "after"))
    scopes = known(answer, "c")["outputs"]["childScopes"]
    world.same((scopes["0"]["x"], scopes["1"]["tasks"]["s"]["outputs"]["v"], seen(answer, "after")),
               (1, 0, 0))


def scope_of_concurrent_shared(world):
    """with newVariableScope false they share the one around them"""
    peek = run_tasks(shell(waits_for("set")), sees("x", "s"))
    answer = play(world, sets("x", 0),
                  concurrent(run_tasks(sets("x", 1), shell("touch set")), peek, id_="c",
                             newVariableScope=False), sees("x", "after"))
    world.same((seen(answer, "s"), seen(answer, "after")), (1, 1))
    world.same("childScopes" in known(answer, "c")["outputs"], False, "childScopes are there")


def scope_of_matrix(world):
    """run_task_matrix has a new scope for each value, with the value in it"""
    for concurrently in (False, True):
        inner = run_tasks(sees("[.v, .x]", "before"), sets("x", 1), sets("v", "other"))
        answer = play(world, matrix(inner, [7, 8], runConcurrent=concurrently, id_="m"),
                      sees("[.v, .x]", "after"))
        scopes = known(answer, "m")["outputs"]["childScopes"]
        world.same([scopes[n]["tasks"]["before"]["outputs"]["v"] for n in "01"],
                   [[7, None], [8, None]])
        world.same(seen(answer, "after"), [None, None])


def scope_of_background(world):
    """S3: a background task has a scope of its own always, the foreground task with newVariableScope"""
    for own, after in ((False, [1, None]), (True, [None, None])):
        answer = play(world, background(run_tasks(shell(waits_for("set")), sets("a", 1)),
                                        run_tasks(sets("b", 2), shell("touch set")),
                                        newVariableScope=own, id_="b"), sees("[.a, .b]", "after"))
        world.same(seen(answer, "after"), after, f"newVariableScope {own}")
        (world.folder / "set").unlink()
    scopes = known(answer, "b")["outputs"]
    world.same((scopes["foregroundScope"]["a"], scopes["backgroundScope"]["b"]), (1, 2))


def scope_of_what_is_ended(world):
    """S4: a task that is ended before it sets anything has shown its scope all the same"""
    answer = play(world, background(shell(waits_for("begun")), lingers("b; touch begun"), id_="b"),
                  concurrent(fails(), hangs(), id_="c"),
                  code=FAILED)
    world.same(sorted(known(answer, "b")["outputs"]), ["backgroundScope"])
    world.same(sorted(known(answer, "c")["outputs"]["childScopes"]), ["0", "1"])
    for container in (run_tasks(hangs(), newVariableScope=True, id_="l"),
                      options(hangs(), newVariableScope=True, id_="l")):
        answer = play(world, {**container, "timeout": "100ms"}, code=FAILED)
        world.same(sorted(known(answer, "l")["outputs"]), ["childScope"])


def scope_of_options(world):
    """run_task_options shares the scope around it unless newVariableScope"""
    for own, after in ((False, 1), (True, None)):
        answer = play(world, options(sets("a", 1), newVariableScope=own, id_="o"),
                      sees("a", "after"))
        world.same(seen(answer, "after"), after, f"newVariableScope {own}")
    world.same(known(answer, "o")["outputs"]["childScope"]["a"], 1)


def scope_of_attempts(world):
    """attempts of run_task_options that share the scope see what the ones before set"""
    count = task("run_shell", {"command": 'echo "::set-json n $((N + 1))"; [ "$N" = 2 ]',
                               "envVars": {"N": ".n // 0"}})
    answer = play(world, options(count, retryOnFailure=True, maxRetryCount=5))
    world.same(answer["state"]["n"], 3)


def scope_tasks_inside_are_not_seen_outside(world):
    """S2: tasks in a scope of their own are known inside it only; children see those around them"""
    answer = play(world, works(id_="outer"),
                  run_tasks(works(id_="inner"), newVariableScope=True), sees("tasks", "s"))
    world.same(sorted(seen(answer, "s")), ["outer", "s"])


def scope_child_scopes_of_containers_inside(world):
    """childScopes nest as the containers do"""
    answer = play(world, concurrent(concurrent(sets("x", 1), id_="in"), id_="out"))
    outer = known(answer, "out")["outputs"]["childScopes"]
    world.same(outer["0"]["tasks"]["in"]["outputs"]["childScopes"]["0"]["x"], 1)


# ---- placeholders and queries ----


def query_dots(world):
    """Q1: queries get a leading dot when they lack one, whatever they are"""
    config = {"a": 1, "max": 2, "first": [3], "keys": 9, "o": {"b": 4}}
    rows = (("a", 1), (".a", 1), ("o.b", 4), ("max", 2), ("first[0] + 1", 4),
            ("first[0] > 2", True), ("| .a", 1), ("| [.a, .max]", [1, 2]), ("| {a: .a}", {"a": 1}),
            ('"o".b', 4), ('"t"', None), ("true", None), ("null", None), ("5", 0.5),
            ("| range(3)", 0), ("| if .a then 5 else 6 end", 5), ("keys | . + 1", 10),
            ("keys", 9), ("not", None), ("nobody", None), ("a as $x | $x + 1", 2),
            ("first.[0]", 3), ("o.[\"b\" | tostring]", 4))
    inner = [task("run_shell", {"command": 'echo "::set-output-json v $V"', "envVars": {"V": query}},
                  id_=f"s{i}") for i, (query, _) in enumerate(rows)]
    answer = play(world, *inner, config=config)
    for i, (query, value) in enumerate(rows):
        world.same(seen(answer, f"s{i}"), value, query)


def query_input(world):
    """Q2: the input is all variables in sight and tasks, in one object; the first result counts"""
    answer = play(world, sets("b", 2), works(id_="t"),
                  run_tasks(sets("c", 3), sees("[.a, .b, .c, .tasks.t.result, type]", "s"),
                            sees("| .a, .b, error", "first"), sees("| empty, 5", "second"),
                            newVariableScope=True, id_="l"), config={"a": 1})
    inner = known(answer, "l")["outputs"]["childScope"]["tasks"]
    world.same([inner[name]["outputs"]["v"] for name in ("s", "first", "second")],
               [[1, 2, 3, SUCCESS, "object"], 1, 5])


def query_used_in_files(world):
    """Q6: what files use: childScopes by a number, slices, capture, ltrimstr, range, repeated texts"""
    rows = (("tasks.m.outputs.childScopes.[.i | tostring].tasks.in.outputs.v", 8),
            ("s[2:]", "ab"), ("l[1:]", [2, 3]), ("l[:-1] | length", 2), ('s | capture("x(?<d>.)")', {"d": "a"}),
            ('s | ltrimstr("0x")', "ab"), ("| [range(2)]", [0, 1]), ("| [range(1; .i + 3)]", [1, 2, 3]),
            ('| "00" * 11', "00" * 11))
    answer = play(world, matrix(sees("v", "in"), [7, 8], id_="m"),
                  *[sees(query, f"s{i}") for i, (query, _) in enumerate(rows)],
                  config={"i": 1, "s": "0xab", "l": [1, 2, 3]})
    for i, (query, value) in enumerate(rows):
        world.same(seen(answer, f"s{i}"), value, query)


def query_refused(world):
    """Q1: what cannot stand behind a dot is an error at load that says how it is written"""
    for query in ("(.a)", "range(3)", "{a: .a}", "if .a then 1 else 2 end", "@json"):
        check(world, works(if_=query)).gives(FAILED).says("`| EXPRESSION`")
    check(world, works(if_="true")).gives(DONE).says("warning", "`| true`")
    check(world, works(if_="| nope(1)")).gives(DONE).says("warning", "nope/1 is not defined")


def query_undefined(world):
    """Q4: a query that calls what is not defined, a variable too, is a warning, and gives an empty object"""
    for query, says in (("| nope(1)", "nope/1 is not defined"), ("| $nope.a", "$nope is not defined"), ("| input", "input")):
        check(world, works(if_=query)).gives(DONE).says("warning", says, "gives `{}`")
        answer = play(world, task("run_shell", {"command": 'echo "$A"', "envVars": {"A": query}}, id_="a"))
        world.same(known(answer, "a")["outputs"]["stdout"], "{}", query)
    check(world, works(if_="| $secrets.A")).gives(FAILED).says("$secrets cannot be used here")


def query_texts(world):
    """a text in place of a query is told how it is written"""
    for text in ("hello world", "http://host/path", "some words - more"):
        answer = check(world, task("run_shell", {"command": "true", "envVars": {"A": text}})).gives(FAILED)
        answer.says(f'a text is written `| "{text}"`')


def query_exact_integers(world):
    """Q5: integers are exact at any size, a quotient that comes out even is one, else a double"""
    config = {"wei": 1000000000000000000, "many": "123456789012345678901234567890"}
    queries = {"A": ("wei * 32", "32000000000000000000"), "B": ("many | tonumber + 1", "123456789012345678901234567891"),
               "C": ("wei * 32 / 32", "1000000000000000000"), "D": ("| (.wei * 32 + 7) % 10", "7"),
               "E": ("wei * 32 > .wei", "true"), "F": ("| 7 / 2", "3.5")}
    show = task("run_shell", {"command": 'echo "$A $B $C $D $E $F" >> ran',
                              "envVars": {name: query for name, (query, _) in queries.items()}})
    play(world, show, config=config)
    world.same(ran(world), [value for _, value in queries.values()])


def query_exact_in_the_debugger(world):
    """Q5: what a debugger evaluates in a test is as exact as its queries: conditions, watches, now and back then"""
    write_test(world, [shell(f"echo {id_}", id_=id_) for id_ in "abc"], config={"wei": 1000000000000000000})
    world.write("commands", "break b if .wei * 32 + 1 == 32000000000000000000\nbreak c if .wei * 32 + 1 > 32000000000000000000\n"
                "watch .wei * 31 + 7\ncontinue\nprint .wei * 32 + 5\nprint @1 .wei * 32 + 9\nfinish\n")
    answer = world("debug", "test.yaml", "-x", "commands").gives(DONE)
    answer.says("breakpoint 2", "31000000000000000007", "32000000000000000005",
                "32000000000000000009")
    if "breakpoint 1," in answer.out:
        raise Broken(f"it compares doubles: {answer}")


def query_doubles_in_fields(world):
    """Q5: a double that is the whole value of a field is decimal text; integer fields refuse it"""
    for query, text in (("| 1e18 * 1e18", "1" + "0" * 36), ("| 1e21", "1" + "0" * 21),
                        ("| 1.23456789", "1.234568"), ("| 1e-7", "0"), ("| 3.0", "3")):
        answer = play(world, task("run_shell", {"command": "x", "shell": "cat"}, id_="a",
                                  configVars={"command": query}))
        world.same(known(answer, "a")["outputs"]["stdout"], text, query)
    world.write("test.yaml", "config: {a: 2.0}\ntasks:\n  - name: run_task_options\n    configVars: {maxRetryCount: a}\n"
                "    config: {task: {name: sleep, config: {duration: 0}}}\n")
    world("run", "test.yaml").gives(FAILED).says("`maxRetryCount` must be an integer", "2.0")


def query_doubles_in_kinds(world):
    """Q5: a kind from outside gets digits for an integer and a text, and the number itself where it wants one"""
    world.write("kinds/k.yaml", json.dumps({
        "kind": "k", "outputs": {"v": "tasks.s.outputs.stdout"},
        "inputs": {"type": "object", "properties": {"wei": {"type": "integer"}, "text": {"type": "string"},
                                                    "share": {"type": "number"}}},
        "tasks": [task("run_shell", {"command": 'echo "$WEI $TEXT $SHARE"',
                                     "envVars": {"WEI": "wei", "TEXT": "text", "SHARE": "share"}}, id_="s")]}))
    answer = play(world, task("k", id_="k", configVars={
        "wei": "| 1e18 * 1e18", "text": "| 1e21", "share": "| 1 / 3"}), kinds=["kinds"])
    world.same(known(answer, "k")["outputs"]["v"], f'{10 ** 36} "{10 ** 21}" {1 / 3}')


def query_big_integers_in_variables(world):
    """Q5: an integer past 64 bits that is kept in a variable is text when it is read again"""
    big = {"big": "| 1000000000000000000 * 1000000000000000000", "small": "| 1000000000000000000 * 9",
           "inside": "| [{a: (9223372036854775807 + 1)}]"}
    look = '[(.big | type), .big + "x", (.small | type), (.inside[0].a | type)]'
    want = ["string", "1" + "0" * 36 + "x", "number", "string"]
    write_test(world, [sees(look, "s")], name="other.yaml")
    answer = play(world, sees(look, "s"), external("other.yaml", testConfigVars=big, id_="e"), configVars=big)
    inner = known(answer, "e")["outputs"]["childScope"]["tasks"]["s"]["outputs"]["v"]
    world.same((seen(answer, "s"), inner), (want, want))


# ---- cleanupTasks ----


def cleanup_after_success(world):
    """F7: cleanupTasks run after success, in order, and see variables and tasks"""
    answer = play(world, sets("a", 1), works(id_="t"), says("a"),
                  cleanup=[says("c1"), sees("[.a, .tasks.t.result]", "s"), says("c2")])
    world.same((ran(world), seen(answer, "s"), answer["status"]),
               (["a", "c1", "c2"], [1, SUCCESS], "completed"))


def cleanup_after_failure(world):
    """F7: cleanupTasks run after a failure, which stays the error"""
    answer = play(world, says("a"), fails(9, id_="t"), says("b"),
                  cleanup=[sees("tasks.t.result", "s"), says("c")], code=FAILED)
    world.same((ran(world), seen(answer, "s"), answer["status"], answer["error"]["exit_code"],
                answer["error"]["node"]), (["a", "c"], FAILURE, "failed", 9, "t"))


def cleanup_that_fails(world):
    """F7: a cleanup task that fails changes nothing, and the next ones still run"""
    for first, code in ((works(), DONE), (fails(9), FAILED)):
        answer = play(world, first, cleanup=[says("a"), fails(3, id_="x"), says("b"),
                                             run_tasks(fails(), says("never")), says("c")],
                      code=code)
        world.same((ran(world), result(answer, "x")), (["a", "b", "c"], FAILURE))
        world.same((answer["error"] or {}).get("exit_code"), None if code == DONE else 9)
        (world.folder / "ran").unlink()


@paced
def cleanup_after_timeout(world):
    """F7: cleanupTasks run after the timeout of the test, and outside of it"""
    late = shell(f"sleep {world.seconds(0.8)}; echo c1 >> ran")
    answer = play(world, lingers("a", id_="t"), says("b"), timeout=world.ms(500),
                  cleanup=[late, says("c2")], code=FAILED)
    world.same((ran(world), answer["error"]["kind"], known(answer, "t")["running"]),
               (["a", "c1", "c2"], "timeout", False))
    (world.folder / "ran").unlink()
    answer = play(world, works(), timeout=world.ms(500), cleanup=[late, says("c2")])
    world.same((ran(world), answer["status"]), (["c1", "c2"], "completed"))


@paced
def cleanup_after_timeout_inside(world):
    """it ends whatever is under way, however deep, before the cleanup"""
    inner = concurrent(run_tasks(lingers("a"), says("x")), matrix(lingers("b"), [1, 2]),
                       background(lingers("c"), hangs()))
    play(world, run_tasks(inner, says("x")), says("x"), timeout=world.ms(700), cleanup=[says("last")],
         code=FAILED)
    world.same((sorted(ran(world)), ran(world)[-1]), (["a", "b", "c", "last"], "last"))


def cleanup_own_timeouts(world):
    """timeouts of cleanup tasks hold"""
    answer = play(world, works(), cleanup=[hangs(timeout="200ms", id_="x"), says("a")])
    world.same((ran(world), known(answer, "x")["timeout"]), (["a"], True))


def cleanup_is_marked(world):
    """the history says where cleanup begins, and so does the drawing"""
    play(world, works(id_="a"), cleanup=[works(id_="c")], words=["--thread", "t"])
    rows = world("history", "t", "--json").json
    words = [(row["node"], row["status"]) for row in rows]
    at = words.index((None, "cleanup"))
    world.same((("a", "completed") in words[:at], ("c", "completed") in words[at:]), (True, True))
    world("graph", "test.yaml").gives(DONE).says("cleanup")


def cleanup_containers(world):
    """containers work in cleanupTasks as elsewhere"""
    play(world, fails(), cleanup=[concurrent(says("a"), says("b")), matrix(says("${v}"), ["c"]),
                                  options(fails(), ignoreFailure=True), says("d", if_="false")],
         code=FAILED)
    world.same(sorted(ran(world)), ["a", "b", "c"])


def cleanup_checks(world):
    """what is wrong in cleanupTasks is an error at load"""
    check(world, works(), cleanup=[task("nonsense")]).gives(FAILED).says("nonsense")
    check(world, works(), cleanup=[]).gives(DONE)



def cleanup_after_cancel(world):
    """`pawl cancel` of a run ends its tasks, then cleanupTasks run, and it is cancelled"""
    process = start_and_wait(world, lingers("a", id_="a"), says("b"), at="ran",
                             cleanup=[fails(), shell("sleep 1.3; echo c >> ran"), says("d")])
    world.cancel("t")
    process.communicate(timeout=TIMEOUT)
    world.same((process.returncode, ran(world)), (FAILED, ["a", "c", "d"]))
    world.same(world("status", "t", "--json").json["status"], "cancelled")
    world("resume", "t").gives(USAGE).says("cancelled")


def cleanup_after_cancel_inside(world):
    """`pawl cancel` in the middle of containers ends all of them first"""
    inner = concurrent(run_tasks(lingers("a"), says("x")), background(lingers("b"), hangs()),
                       options(lingers("c"), retryOnFailure=True, maxRetryCount=3))
    process = start_and_wait(world, run_tasks(inner, says("x")), says("x"), at="ran",
                             cleanup=[says("last")])
    world.until(lambda: len(ran(world)) == 3, "all three run")
    world.cancel("t")
    process.communicate(timeout=TIMEOUT)
    world.same((sorted(ran(world)), ran(world)[-1]), (["a", "b", "c", "last"], "last"))


def cleanup_after_cancel_of_a_dead_run(world):
    """`pawl cancel` of a run whose process died runs cleanupTasks too"""
    process = start_and_wait(world, lingers("a"), says("b"), at="ran", cleanup=[says("c")])
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=TIMEOUT)
    world.cancel("t")
    world.same((ran(world), world("status", "t", "--json").json["status"]),
               (["a", "c"], "cancelled"))


def cleanup_not_after_ctrl_c(world):
    """Ctrl-C leaves the run resumable: cleanupTasks run when it has ended, once"""
    process = start_and_wait(world, shell(f"echo a >> ran; {waits_for('go')}"), says("b"),
                             at="ran", cleanup=[says("c")])
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=TIMEOUT)
    world.same((process.returncode, "c" in ran(world)), (WAITING, False))
    world.write("go", "")
    world("resume", "t").gives(DONE)
    world.same(ran(world)[-2:], ["b", "c"])
    world.same(ran(world).count("c"), 1)


def cleanup_cancel_during_it(world):
    """`pawl cancel` of a run that cleans up already lets it finish that, and it is cancelled"""
    process = start_and_wait(world, says("a"), at="cleaning",
                             cleanup=[shell("touch cleaning; sleep 1.3; echo c >> ran"), says("d")])
    world.cancel("t")
    process.communicate(timeout=TIMEOUT)
    world.same((process.returncode, ran(world)), (FAILED, ["a", "c", "d"]))
    world.same(world("status", "t", "--json").json["status"], "cancelled")


def cleanup_left_out(world):
    """F7: `pawl cancel --no-cleanup` leaves cleanupTasks out: of a run that goes on, that died, that waits, and of kinds in it"""
    world.write("kinds/k.yaml", json.dumps({"kind": "k", "tasks": [lingers("in")], "cleanupTasks": [says("never")]}))
    inner = {"lingers": lingers("in"), "kind": task("k"), "paused": shell("echo in >> ran", id_="p")}
    for name, made in inner.items():
        for dead in (False, True):
            (world.folder / "ran").unlink(missing_ok=True)
            thread = f"{name}-{dead}"
            write_test(world, [says("a"), concurrent(made, says("a"))], cleanup=[says("never")], kinds=["kinds"])
            process = world.start("run", "test.yaml", "--thread", thread, *(("--break", "p:after") if name == "paused" else ()))
            if name == "paused":  # what is beside it may not have begun: it pauses, too
                process.communicate(timeout=TIMEOUT)
            else:
                world.until(lambda: sorted(ran(world)) == ["a", "a", "in"], "it has begun")
            if dead and name != "paused":
                process.send_signal(signal.SIGKILL)
                process.communicate(timeout=TIMEOUT)
            begun = sorted(ran(world))
            world.same(begun[-1], "in")
            world("cancel", thread, "--no-cleanup").gives(DONE).says("cancelled")
            process.communicate(timeout=TIMEOUT)
            world.same((sorted(ran(world)), world("status", thread, "--json").json["status"]), (begun, "cancelled"))
            world("resume", thread).gives(USAGE).says("cancelled")


def cleanup_left_out_midway(world):
    """F7: `pawl cancel --no-cleanup` ends cleanupTasks that run, also those that a dead process left"""
    for dead in (False, True):
        (world.folder / "ran").unlink(missing_ok=True)
        write_test(world, [says("a"), fails()], cleanup=[says("b"), lingers("c"), says("never")])
        thread = f"t-{dead}"
        process = world.start("run", "test.yaml", "--thread", thread)
        world.until(lambda: ran(world) == ["a", "b", "c"], "it cleans up")
        if dead:
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=TIMEOUT)
        world("cancel", thread, "--no-cleanup").gives(DONE).says("cancelled")
        process.communicate(timeout=TIMEOUT)
        world.same((ran(world), world("status", thread, "--json").json["status"]), (["a", "b", "c"], "cancelled"))
        world.until(lambda: not [name for name in os.listdir("/proc") if name.isdigit() and runs_in(name, world.folder)],
                    "its commands are gone")


# ---- many and deep ----


def many_tasks(world):
    """10,000 tasks run at the same time"""
    write_test(world, [concurrent(*[works() for _ in range(10000)], id_="c"), says("a")])
    answer = world("run", "test.yaml", "--json").gives(DONE).json
    world.same((result(answer, "c"), ran(world)), (SUCCESS, ["a"]))


def many_values(world):
    """a matrix of 2,000 values, at the same time and one after the other"""
    for concurrently in (True, False):
        write_test(world, [matrix(works(), list(range(2000)), runConcurrent=concurrently, id_="m")])
        answer = world("run", "test.yaml", "--json").gives(DONE).json
        world.same(result(answer, "m"), SUCCESS)


def nested(levels, inner, **config):
    for _ in range(levels):
        inner = run_tasks(inner, **config)
    return inner


def deep_lists(world):
    """50 lists in one another work, and a variable set inside is seen outside"""
    write_test(world, [nested(50, sets("a", 1)), sees("a", "s")])
    world.same(seen(world("run", "test.yaml", "--json").gives(DONE).json, "s"), 1)


def deep_scopes(world):
    """50 scopes in one another: the innermost sees the outermost, and changes none of them"""
    inner = shell("echo ${a} >> ran; echo '::set-var a 2'")
    write_test(world, [sets("a", 1), nested(50, inner, newVariableScope=True), sees("a", "s")])
    answer = world("run", "test.yaml", "--json").gives(DONE).json
    world.same((ran(world), seen(answer, "s")), (["1"], 1))


def deep_frames(world):
    """30 concurrent lists in one another work"""
    inner = says("a")
    for _ in range(30):
        inner = concurrent(inner, works())
    write_test(world, [inner])
    world("run", "test.yaml", "--json").gives(DONE)
    world.same(ran(world), ["a"])


def deep_refused(world):
    """what is nested too deep is refused with a sentence"""
    write_test(world, [nested(200, works())])
    world("check", "test.yaml").gives(FAILED).says("deep")


if __name__ == "__main__":
    here = sys.modules["__main__"]
    groups = ["e1_", "e4_", "f3_", "f4_", "test_", "envelope_", "known_", "scope_", "fill_", "query_", "cleanup_",
              "many_", "deep_"]
    cases = [case for prefix in groups for case in cases_of(here, prefix)]
    sys.exit(run_all(choose(cases + LATES + TITLED, sys.argv[2:]), sys.argv[1]))
