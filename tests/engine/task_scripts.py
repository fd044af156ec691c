#!/usr/bin/env python3
"""Tasks that run scripts and programs: every key, default and output of run_shell, run_javascript,
run_command and sleep, and how they are ended. The names begin with the row of the table that they
are about. Prints TAP.

    tests/engine/task_scripts.py PAWL [WORD...]
"""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from playbook import (FAILURE, SUCCESS, background, check, choose, concurrent, known, play, ran, result, sees,
                      seen, shell, task, waits_for, write_test)  # noqa: E402
from world import Broken, DONE, FAILED, cases_of, paced, run_all  # noqa: E402


def javascript(script, id_="j", **config):
    return task("run_javascript", {"script": script, **config}, id_=id_)


def outputs(answer, id_):
    return known(answer, id_)["outputs"]


# ---- run_shell ----


def k7_keys(world):
    """K7: command, shell, shellArgs and envVars; shell is bash, the others are empty"""
    answer = play(world, task("run_shell", {
        "command": 'echo "::set-out-json seen [\\"$0\\", $#, $A]"', "shell": "sh",
        "shellArgs": ["-s", "one", "two words"], "envVars": {"A": "| {a: 1}"}}, id_="a"),
        shell('echo "::set-out seen $0 $#"', id_="b"))
    world.same((outputs(answer, "a")["seen"], outputs(answer, "b")["seen"]),
               (["sh", 2, {"a": 1}], "bash 0"))


def k7_command_required(world):
    """K7: command is required"""
    check(world, task("run_shell", {"shell": "sh"})).gives(FAILED).says("`command` is missing")


def k7_outputs(world):
    """K7: outputs are what lines set, and stdout and exit_code beside them"""
    answer = play(world, shell("echo hello; echo '::set-out a 1'", id_="a"))
    world.same(outputs(answer, "a"), {"a": "1", "stdout": "hello", "exit_code": 0})


def e8_progress(world):
    """E8: a script says how far it is; that is in tasks.ID, while it runs, and in the log"""
    script = ("echo '::set-progress 12/32 epochs'; touch up; until [ -e seen ]; do sleep 0.02; done; "
              "exit 1")
    look = ("until [ -e up ]; do sleep 0.02; done; sleep 0.3; touch seen")
    answer = play(world, concurrent(
        shell(script, id_="long"), shell(look), newVariableScope=False, ignoreResult=True),
        sees("| .tasks.long.progressMessage", "s"))
    world.same(seen(answer, "s"), "12 of 32 epochs")
    world("logs", answer["thread"], "long").gives(DONE).says("38%: 12 of 32 epochs")


# ---- run_javascript ----


def k8_keys(world):
    """K8: script, nodePath, nodeArgs and envVars"""
    world.write("other-node", '#!/bin/sh\necho other >> ran\nexec node "$@"\n')
    os.chmod(world.folder / "other-node", 0o755)
    answer = play(world, javascript(
        "setOutputJSON('seen', [env.A, process.execArgv])", nodePath="./other-node",
        nodeArgs=["--no-warnings", "--stack-size=900"], envVars={"A": "| [1]"}))
    world.same((outputs(answer, "j"), ran(world)),
               ({"seen": [[1], ["--no-warnings", "--stack-size=900"]]}, ["other"]))


def k8_script_required(world):
    """K8: script is required, and a nodePath that is not there is named"""
    check(world, task("run_javascript", {})).gives(FAILED).says("`script` is missing")
    answer = play(world, javascript("", nodePath="nosuchnode"), code=FAILED)
    world.same(("nosuchnode" in answer["error"]["message"], answer["error"]["kind"]),
               (True, "spawn"))


def k8_outputs(world):
    """K8: its outputs are what lines set"""
    answer = play(world, javascript("console.log('hello'); setOutput('a', 1)"))
    world.same(outputs(answer, "j"), {"a": "1"})


def x5_async(world):
    """X5: the script is the body of an async function of a CommonJS file"""
    answer = play(world, javascript("""
const fs = require('fs');                       // it may declare what it is given
const later = await new Promise((done) => setTimeout(() => done(3), 10));
setOutputJSON('seen', [later, typeof module, typeof exports, typeof __filename]);
if (later) return;
throw new Error('not here');
"""))
    world.same(outputs(answer, "j")["seen"], [3, "object", "object", "string"])


def x5_environment(world):
    """X5: its environment is PATH, envVars and the names of files, and `env` has values parsed"""
    os.environ["TASKS_TEST_WORD"] = "from outside"
    answer = play(world, javascript(
        "setOutputJSON('names', Object.keys(process.env).sort());"
        "setOutputJSON('env', {A: env.A, B: env.B, C: env.C, P: env.PATH === process.env.PATH});"
        "setOutputJSON('raw', process.env.A)",
        envVars={"A": "| {a: [1]}", "B": "| \"text\"", "C": "nobody"}), config={"x": 1})
    names = ["A", "ASSERTOOR_RESULT_DIR", "ASSERTOOR_SUMMARY", "ASSERTOOR_TEST_RESULT", "B", "C",
             "PATH", "PAWL_RESULT_DIR", "PAWL_SUMMARY", "PAWL_TEST_RESULT"]
    world.same(outputs(answer, "j"), {"names": names, "raw": '{"a":[1]}',
                                      "env": {"A": {"a": [1]}, "B": "text", "C": None, "P": True}})


def x5_setters(world):
    """X5: setVar and setOutput set texts, setVarJSON and setOutputJSON values"""
    answer = play(world, javascript("""
setVar('a', 1); setVar('b', 'two\\nlines'); setVarJSON('c', {d: [1, null]});
setOutput('e', true); setOutputJSON('f', 1.5);
console.log('::set-var g from a line');
process.stdout.write('no ::set-var h 1\\n');
"""), sees("| [.a, .b, .c, .g, .h]", "s"))
    world.same((seen(answer, "s"), outputs(answer, "j")),
               (["1", "two\nlines", {"d": [1, None]}, "from a line", None], {"e": "true", "f": 1.5}))


def x5_files(world):
    """X5: fs, path, the names of files, and functions that write them"""
    answer = play(world, javascript("""
writeResultFile('sub/a.txt', 'A'); writeSummary('short'); writeTestResult('# one\\n');
appendTestResult('# two\\n');
fs.writeFileSync(path.join(RESULT_DIR, 'b.txt'), 'B');
setOutputJSON('same', [SUMMARY_FILE === process.env.ASSERTOOR_SUMMARY,
  RESULT_DIR === process.env.ASSERTOOR_RESULT_DIR,
  TEST_RESULT_FILE === process.env.ASSERTOOR_TEST_RESULT,
  fs.readFileSync(TEST_RESULT_FILE, 'utf8')]);
"""))
    world.same(outputs(answer, "j")["same"], [True, True, True, "# one\n# two\n"])
    found = {}
    for folder in world.folder.glob(".pawl/**/results-*"):
        for file in folder.rglob("*"):
            if file.is_file():
                found[file.name] = file.read_text()
    world.same(found, {"a.txt": "A", "b.txt": "B", "summary": "short", "node": "j",
                       "test-result.md": "# one\n# two\n"})


def x5_fails(world):
    """X5: an error that nobody catches fails the task and names the line of the file"""
    answer = play(world, javascript("setVar('x', 1);\nthrow new RangeError('oops')"), code=FAILED)
    error = answer["error"]
    world.same((error["kind"], error["type"], answer["state"]["x"]), ("javascript", "RangeError", "1"))
    if "RangeError: oops (line 2 of the code, test.yaml:" not in error["message"]:
        raise Broken(error["message"])
    answer = play(world, javascript("process.exitCode = 7"), code=FAILED)
    world.same((answer["error"]["kind"], answer["error"]["exit_code"]), ("exit", 7))


def x5_vars(world):
    """X5: beside what it must have, the variables in sight are `vars`"""
    answer = play(world, shell("true", id_="s"),
                  javascript("setOutputJSON('v', [vars.a, vars.tasks.s.result])"),
                  config={"a": {"b": 1}})
    world.same(outputs(answer, "j")["v"], [{"b": 1}, SUCCESS])


# ---- files that are kept ----


def x6_secrets(world):
    """X6: what is kept has no secrets in it, whatever its name"""
    script = ('echo "has $T" | tee "$PAWL_SUMMARY" > "$PAWL_TEST_RESULT"; cd "$PAWL_RESULT_DIR"; '
              'echo "x$T" > a; mkdir sub; printf %s "$T" | base64 > sub/b; echo plain > c; '
              'eval "echo named > $T"')
    world.write("secrets/TOKEN", "quitesecret")
    play(world, task("run_shell", {"command": script,
                                   "envVars": {"T": "$secrets.TOKEN"}}),
         words=("--secrets", "secrets"))
    texts = {file.name: file.read_text() for file in world.folder.glob(".pawl/**/results-*/**/*")
             if file.is_file()}
    world.same(sorted(texts), ["a", "b", "c", "node", "summary", "test-result.md"])
    world.same((texts["summary"], texts["test-result.md"], texts["c"]),
               ('has "***"\n', 'has "***"\n', "plain\n"))
    for name, text in texts.items():
        if "quitesecret" in text or "cXVpdGVzZWNyZXQ" in text:
            raise Broken(f"the secret is in {name}: {text}")


# ---- run_command ----


def command(words, id_="c", **config):
    return task("run_command", {"command": words, **config}, id_=id_)


def k9_keys(world):
    """K9: command is a list, without a shell; its stdout has both streams, in order"""
    os.environ["TASKS_TEST_WORD"] = "from outside"
    script = 'echo a; echo b >&2; echo c; echo "$TASKS_TEST_WORD" >&2; echo "::set-var x 1"'
    answer = play(world, command(["sh", "-c", script]), command(["echo", "$HOME", "*"], id_="d"))
    world.same((outputs(answer, "c")["stdout"], answer["state"].get("x"),
                outputs(answer, "d")["stdout"], outputs(answer, "c").get("error")),
               ("a\nb\nc\nfrom outside\n::set-var x 1", None, "$HOME *", None))


def k9_fails(world):
    """K9: on failure `error` is exit status 3"""
    answer = play(world, command(["sh", "-c", "echo a; echo b >&2; exit 3"]), code=FAILED)
    world.same((outputs(answer, "c")["error"], outputs(answer, "c")["stdout"], result(answer, "c")),
               ("exit status 3", "a\nb", FAILURE))


def k9_allowed_to_fail(world):
    """K9: allowed_to_fail is false unless given"""
    answer = play(world, command(["sh", "-c", "exit 3"], allowed_to_fail=True),
                  command(["sh", "-c", "kill -KILL $$"], id_="d", allowed_to_fail=True))
    world.same((outputs(answer, "c")["error"], result(answer, "c"), outputs(answer, "d")["error"]),
               ("exit status 3", SUCCESS, "signal: killed"))


# ---- sleep ----


def k10_sleep(world):
    """K10: duration is required; it lasts so long"""
    check(world, task("sleep", {})).gives(FAILED).says("`duration` is missing")
    begun = time.monotonic()
    answer = play(world, task("sleep", {"duration": "300ms"}, id_="s"))
    world.same((result(answer, "s"), time.monotonic() - begun >= 0.3), (SUCCESS, True))


# ---- how they are ended ----


def x7_sigint(world):
    """X7: a script that is cancelled gets SIGINT and may tidy up; its summary is kept"""
    script = ("trap 'echo int >> ran; echo short > \"$PAWL_SUMMARY\"; exit 1' INT; touch up; "
              "while :; do sleep 0.05; done")
    play(world, concurrent(shell(script), shell(waits_for("up")), successThreshold=1))
    world.same(ran(world), ["int"])
    world.same([file.read_text() for file in world.folder.glob(".pawl/**/summary")], ["short\n"])


def x7_output(world):
    """X7: what a script that is cancelled says while it tidies up is in the log, the report and the summary"""
    script = "trap 'echo tidied up; exit 1' INT; touch up; while :; do sleep 0.05; done"
    for thread, made, code, fields in (
            ("race", [concurrent(shell(script, title="Slow"), shell(waits_for("up")), successThreshold=1)], DONE, {}),
            ("late", [shell(script, title="Slow")], FAILED, {"timeout": "2s"}),
            ("last", [background(shell(waits_for("up")), shell(script, title="Slow"))], DONE, {})):
        (world.folder / "up").unlink(missing_ok=True)
        write_test(world, made, **fields)
        answer = world("run", "test.yaml", "--thread", thread, "--report", "junit.xml").gives(code)
        answer.says("| tidied up")
        world("logs", thread).gives(DONE).says("| tidied up")
        if "<system-out>tidied up" not in world.read("junit.xml"):
            raise Broken(f"the report of {thread} has nothing of it: {world.read('junit.xml')}")


def x7_javascript(world):
    """X7: so does a script for Node"""
    script = ("process.on('SIGINT', () => { fs.appendFileSync('ran', 'int\\n'); process.exit(1); });"
              "fs.writeFileSync('up', ''); await new Promise((done) => setTimeout(done, 60000))")
    play(world, concurrent(javascript(script), shell(waits_for("up")), successThreshold=1))
    world.same(ran(world), ["int"])


def x7_alone(world):
    """X7: the shell alone is signalled, and who has its output open may finish"""
    script = ("(trap 'echo child-int >> ran' INT; touch up; sleep 0.7; echo late >> ran) & "
              "trap 'echo int >> ran; exit 1' INT; wait; wait")
    play(world, concurrent(shell(script), shell(waits_for("up")), successThreshold=1))
    world.same(ran(world), ["int", "late"])


def x7_ends_when_its_output_is_closed(world):
    """X7: a task ends when nobody has its output open any more; what is said by then counts"""
    answer = play(world, shell('(sleep 1; echo late; echo "::set-var late yes") & echo done', id_="a"),
                  command(["sh", "-c", "(sleep 1; echo late) & echo done"]),
                  javascript("require('child_process').spawn('sh', ['-c', 'sleep 1; echo \"::set-out late yes\"'],"
                             "{stdio: 'inherit', detached: true}).unref()"),
                  shell("sleep 60 > /dev/null 2>&1 &"))
    world.same((outputs(answer, "a")["stdout"], answer["state"]["late"], outputs(answer, "c")["stdout"],
                outputs(answer, "j")), ("done\nlate", "yes", "done\nlate", {"late": "yes"}))


@paced
def x7_timeout_of_what_is_left(world):
    """X7: the timeout of a task ends what a script has left behind, at once"""
    for made in (shell("(sleep 60; echo late >> ran) & echo done", id_="a", timeout=world.ms(700)),
                 {**command(["sh", "-c", "(sleep 60; echo late >> ran) & echo done"], id_="a"),
                  "timeout": world.ms(700)}):
        begun = time.monotonic()
        answer = play(world, made, code=FAILED)
        world.same((known(answer, "a")["timeout"], answer["error"]["kind"],
                    time.monotonic() - begun < 30), (True, "timeout", True))
        world.same(outputs(answer, "a")["stdout"], "done")


def x7_cancelled_with_what_is_left(world):
    """X7: a task that is cancelled while others hold its output ends with them"""
    script = "(sleep 60; echo late >> ran) & touch up"
    begun = time.monotonic()
    play(world, concurrent(shell(script), shell(waits_for("up") + "; sleep 0.5"), successThreshold=1))
    world.same((ran(world) if (world.folder / "ran").exists() else [], time.monotonic() - begun < 30),
               ([], True))


def x7_sigkill(world):
    """X7: what ignores SIGINT is killed five seconds later, with all of its group"""
    script = "trap '' INT; touch up; sleep 60; echo late >> ran"
    begun = time.monotonic()
    play(world, concurrent(shell(script), shell(waits_for("up")), successThreshold=1))
    if not 5 <= time.monotonic() - begun < 40:
        raise Broken(f"it took {time.monotonic() - begun:.1f} s")
    world.same(ran(world), [])


@paced
def x7_timeout(world):
    """X7: a timeout is a cancellation, too"""
    script = "trap 'echo int >> ran; exit 0' INT; while :; do sleep 0.05; done"
    answer = play(world, task("run_shell", {"command": script}, id_="a", timeout=world.ms(400)),
                  code=FAILED)
    world.same((ran(world), known(answer, "a")["timeout"], answer["error"]["kind"]),
               (["int"], True, "timeout"))


def x7_command(world):
    """X7: run_command is killed at once"""
    script = "trap 'echo int >> ran' INT TERM; touch up; while :; do sleep 0.05; done"
    begun = time.monotonic()
    play(world, concurrent(command(["sh", "-c", script]), shell(waits_for("up")),
                           successThreshold=1))
    if time.monotonic() - begun > 30:
        raise Broken("it was not killed")
    world.same(ran(world), [])


if __name__ == "__main__":
    here = sys.modules["__main__"]
    cases = [case for prefix in ("k7_", "e8_", "k8_", "x5_", "x6_", "k9_", "k10_", "x7_")
             for case in cases_of(here, prefix)]
    sys.exit(run_all(choose(cases, sys.argv[2:]), sys.argv[1]))
