#!/usr/bin/env python3
"""Nodes in Python and JavaScript, also hostile ones, through the program. Prints TAP.

    tests/engine/workers.py PAWL
"""

import json
import shutil
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from world import Broken, DONE, FAILED, TIMEOUT, WAITING, cases_of, paced, run_all  # noqa: E402

STORE = ("--store", "sqlite:db/pawl.db")


def indented(code, by):
    return "".join(" " * by + line + "\n" for line in code.strip("\n").split("\n"))


def flow_of(code, more="", language="python"):
    """One node of code; what goes wrong with it ends in the state as `wrong`."""
    return f"""
name: one
nodes:
  - name: work
    {language}: |
{indented(code, 6)}{more}
  - {{name: done, jq: '{{done: true}}'}}
  - {{name: caught, jq: '{{wrong: .error}}'}}
edges:
  - {{from: __start__, to: work}}
  - {{from: work, to: done}}
  - {{from: work, to: caught, on: error}}
  - {{from: done, to: __end__}}
  - {{from: caught, to: __end__}}
"""


def state_of(world, code, *words, more="", language="python", env=None):
    world.write("one.yaml", flow_of(code, more, language))
    return world("run", "one.yaml", *words, env=env).gives(DONE).json


def wrong_of(world, code, kind, *parts, more="", language="python", env=None):
    state = state_of(world, code, more=more, language=language, env=env)
    error = state.get("wrong") or {}
    world.same(error.get("kind"), kind, f"the kind of {error}")
    for part in parts:
        if part not in error["message"]:
            raise Broken(f"it does not say `{part}`: {error}")
    return error


def count_of(world, name):
    return len(world.read(name))


def lives(pid):
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rsplit(")", 1)[1].split()[0] not in "ZX"


def gone(world, pid):
    world.until(lambda: not lives(pid), f"process {pid} is gone")


# ---- what works ----


def case_state_in_update_out(world):
    """state goes in, the update comes out, in both languages"""
    state = state_of(world, 'return {"n": state["a"] + 1}', "--input", '{"a": 1}')
    world.same(state["n"], 2)
    state = state_of(world, "return {n: state.a + 1}", "--input", '{"a": 1}', language="javascript")
    world.same(state["n"], 2)


def case_exception_has_a_place(world):
    """an exception names its line in the workflow"""
    error = wrong_of(world, "x = 1\nreturn {}['k']", "python", "KeyError: 'k'", "line 2 of the code")
    line = world.read("one.yaml").split("\n").index("      return {}['k']") + 1
    world.same(error["line"], line)
    wrong_of(world, "\n\nthrow new Error('no')", "javascript", "Error: no", language="javascript")


def case_map_uses_the_pool(world):
    """ten thousand calls through map: one start, and the results in order"""
    world.write("map.yaml", """
name: many
nodes:
  - name: each
    map: {over: '[range(10000)]', as: n, limit: 8}
    do: {python: 'import os; return [n * 2, os.getpid()]'}
    output: results
  - {name: sum, jq: '{ok: ([.results[][0]] == [range(10000) * 2]), workers: ([.results[][1]] | unique | length), results: null}'}
""")
    state = world("run", "map.yaml", "-q", env={"PAWL_WORKERS": "3"}).gives(DONE).json
    world.same(state["ok"], True)
    if not 1 <= state["workers"] <= 3:
        raise Broken(f"{state['workers']} workers")


def case_program(world):
    """functions of a program lie beside the workflow, wherever it is run from"""
    world.write("sub/nodes.py", "from pawl import node, serve\n@node\ndef f(state): return {'n': 7}\nserve()\n")
    world.write("sub/flow.yaml", "name: f\nnodes:\n  - {name: f, python: {file: nodes.py}}\n")
    world.same(world("run", "sub/flow.yaml").gives(DONE).json["n"], 7)
    world.write("sub/nodes.py", "import pawl\nx = = 1\n")
    world("run", "sub/flow.yaml").gives(FAILED).says("SyntaxError", "nodes.py:2")


def case_check_compiles(world):
    """`pawl check` says where Python and JavaScript does not compile, runs none of it, and is content without an interpreter"""
    fine = {
        "python": ["open('ran', 'w')", "await f()\nreturn {}", "async with a as b: pass", "yield 1", "# nothing",
                   "state = 1\nif x:\n    return", '"""\n a\n"""', "import missing", "x = 'é'"],
        "javascript": ["require('fs').writeFileSync('ran', '')", "await f(); return {}", "// nothing", "let a = 1",
                       "const {a, ...b} = state", "return import('x')"],
    }
    for language, codes in fine.items():
        world.write("fine.json", json.dumps({"nodes": [{"name": f"n{i}", language: code} for i, code in enumerate(codes)]}))
        world("check", "fine.json").gives(DONE)
    if (world.folder / "ran").exists():
        raise Broken("code was run")
    for language, code, says, line in (
            ("python", "x = 1\ndef f(:\n  pass", "This is no Python: invalid syntax", 1),
            ("python", "if x:\nreturn 1", "This is no Python: expected an indented block", 1),
            ("python", "return 'a", "This is no Python: ", 0),
            ("python", "x = 1\n\nbreak", "This is no Python: 'break' outside loop", 2),
            ("python", "x = " + "(" * 300 + ")" * 300, "This is no Python: ", 0),
            ("javascript", "let y = 2\nlet x = ;", "This is no JavaScript: Unexpected token ';'", 1),
            ("javascript", "if (x) {", "This is no JavaScript: ", 0),
            ("javascript", "let a; let a", "This is no JavaScript: Identifier 'a' has already been declared", 0)):
        world.write("one.yaml", flow_of(code, language=language))
        place = world.read("one.yaml").split("\n").index("      " + code.split("\n", maxsplit=1)[0]) + 1
        world("check", "one.yaml").gives(FAILED).says(f"one.yaml:{place + line}:", "error: " + says)
        world("check", "one.yaml", env={"PAWL_PYTHON": "/nowhere", "PAWL_NODE": "/nowhere"}).gives(DONE)
    world.write("test.yaml", "tasks:\n- {name: run_javascript, config: {script: 'let x = ;'}}\n")
    world("check", "test.yaml").gives(FAILED).says("test.yaml:2:", "This is no JavaScript")
    world.write("test.yaml", "tasks:\n- {name: run_javascript, config: {script: 'let x: int = 1', nodePath: ts-node}}\n")
    world("check", "test.yaml").gives(DONE)


def case_nothing_from_the_folder(world):
    """modules in the current folder are not loaded in place of Python's own, those beside the workflow are loaded"""
    for name in ("json", "types", "asyncio", "traceback", "ast", "linecache", "site", "sitecustomize"):
        world.write(f"{name}.py", "open('stolen', 'w').close()\n")
    world.write("sub/helper.py", "x = 7\n")
    world.write("sub/json.py", "raise ImportError('not this one')\n")
    world.write("sub/own.yaml", flow_of("import helper, json\nreturn {'n': helper.x, 'm': json.loads('1')}"))
    state = world("run", "sub/own.yaml", env={"PYTHONPATH": "."}).gives(DONE).json
    world.same((state.get("n"), state.get("m")), (7, 1), f"{state}")
    wrong_of(world, "await 1", "python", "TypeError", env={"PYTHONPATH": "."})
    world.write("plain.yaml", flow_of("import helper"))
    world("run", "plain.yaml").gives(DONE).says("No module named 'helper'")
    if (world.folder / "stolen").exists():
        raise Broken("a module of the current folder was loaded")


def case_hostile_messages(world):
    """a message of another shape, and an exception without a name, fail the node and nothing else"""
    write = "import os, time, pawl\nc = pawl._worker.call\nt = getattr(c, 'token', None) or c.number\n"
    for error in ("4702111234474983745", "null", '"text"'):
        code = write + "import json\nos.write(3, (json.dumps({'call': t})[:-1] + ', \"error\": %s}\\n').encode())\ntime.sleep(20)"
        wrong_of(world, code % error, "worker", "descriptor 3")
    wrong_of(world, "raise type('', (Exception,), {})()", "python", "neither a name nor a message")
    wrong_of(world, "const e = new Error(''); e.name = ''; throw e", "javascript", "neither a name nor a message",
             language="javascript")


def case_task(world):
    """run_javascript sets variables and outputs"""
    world.write("tasks.yaml", """
id: t
name: t
tasks:
  - {name: run_javascript, id: js, config: {script: 'setVarJSON("a", vars.x + env.Y); setOutput("b", 1); return {c: 2}', envVars: {Y: x}}}
  - {name: run_shell, config: {command: 'echo "$A$B" > out', envVars: {A: .a, B: .tasks.js.outputs}}}
config: {x: 20}
""")
    world("run", "tasks.yaml").gives(DONE)
    world.same(world.read("out").strip(), '40{"b":"1","c":2}')


# ---- asking ----

ASK = """
name: ask
config: {checkpointer: sqlite}
nodes:
  - name: ask
    LANGUAGE: |
CODE
"""
CODES = {
    "python": """
with open("ran", "a") as out: out.write("x")
a = interrupt({"q": 1})
b = interrupt({"q": a})
return {"answers": [a, b]}
""",
    "javascript": """
require('fs').appendFileSync('ran', 'x');
const a = interrupt({q: 1});
const b = await interrupt({q: a});
return {answers: [a, b]};
""",
}


def case_interrupt(world):
    """interrupt() stops the run; another process goes on with the answers so far"""
    for language, code in CODES.items():
        (world.folder / "ran").unlink(missing_ok=True)
        world.write("ask.yaml", ASK.replace("LANGUAGE", language).replace("CODE", indented(code, 6)))
        world("run", "ask.yaml", "--thread", language, *STORE).gives(WAITING).says('"q":1')
        world("resume", language, "--value", '"first"', *STORE).gives(WAITING).says('"q":"first"')
        answer = world("resume", language, "--value", "2", *STORE).gives(DONE)
        world.same(answer.json["answers"], ["first", 2])
        world.same(count_of(world, "ran"), 3, "the number of starts")


# ---- what does not ----


def case_dies(world):
    """a worker that dies is a node error, and the retry policy decides"""
    wrong_of(world, "import os\nos._exit(3)", "worker", "exit code 3")
    wrong_of(world, "process.abort()", "worker", "signal 6", language="javascript")
    state = state_of(world, """
with open("tries", "a") as out: out.write("x")
if len(open("tries").read()) < 3: os._exit(1)
return {"n": 1}
""", more="    retry: {attempts: 3, delay: 0s}")
    world.same(state["n"], 1)
    world.same(count_of(world, "tries"), 3)


@paced
def case_hangs(world):
    """a worker that hangs is ended at its timeout, and leaves nothing"""
    for code, language in (
        ("import os, signal, time\nsignal.signal(15, signal.SIG_IGN)\n"
         "open('pid', 'w').write(str(os.getpid()))\nwhile True: pass", "python"),
        ("require('fs').writeFileSync('pid', String(process.pid));\nfor (;;) {}", "javascript"),
    ):
        wrong_of(world, code, "timeout", more=f"    timeout: {world.ms(1000)}", language=language)
        gone(world, int(world.read("pid")))


def case_rubbish(world):
    """rubbish on the protocol is a node error, and the next call has a fresh worker"""
    wrong_of(world, "import os\nos.write(3, b'rubbish\\n')\nreturn {}", "worker", "descriptor 3")
    wrong_of(world, "require('fs').writeSync(3, '{]')", "worker", "descriptor 3", language="javascript")


def case_prints(world):
    """a worker that prints 100 MB is neither stopped nor remembered"""
    code = "import os\nline = b'x' * 999 + b'\\n'\nfor i in range(100000): os.write(1, line)\nreturn {'n': 1}"
    start = time.monotonic()
    world.same(state_of(world, code, "-q", more="    max_output: 10K")["n"], 1)
    if time.monotonic() - start > 60:
        raise Broken("it took too long")


def case_forks(world):
    """what a worker forks ends with it, and holds up nothing"""
    code = """
import os, time
child = os.fork()
if child == 0:
    time.sleep(600)
return {"child": child}
"""
    start = time.monotonic()
    child = state_of(world, code)["child"]
    if time.monotonic() - start > 30:
        raise Broken("the fork held it up")
    gone(world, child)


def case_eats_memory(world):
    """a worker that eats memory is ended"""
    wrong_of(world, "x = []\nwhile True: x.append('a' * 100000)", "limit", "128M", more="    memory: 128M")
    wrong_of(world, "const x = []; for (let i = 0;; i++) x.push({i});", "limit", "128M",
             more="    memory: 128M", language="javascript")


def case_no_interpreter(world):
    """a missing interpreter is a sentence that says what to do"""
    wrong_of(world, "return {}", "spawn", "PAWL_PYTHON", env={"PAWL_PYTHON": "/nowhere"})
    wrong_of(world, "return {}", "spawn", "node is needed", "PAWL_NODE", language="javascript",
             env={"PATH": "/nowhere"})


def case_pawl_is_killed(world):
    """workers end when pawl is killed, and the node runs again when the run is resumed"""
    world.write("one.yaml", """
name: one
nodes:
  - name: work
    python: |
      import os, time
      with open("pids", "a") as out: out.write(str(os.getpid()) + "\\n")
      while not os.path.exists("go"): pass
      return {"n": 1}
""")
    running = world.start("run", "one.yaml", "--thread", "t", *STORE)
    world.until(lambda: world.read("pids").endswith("\n"), "the worker runs")
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=TIMEOUT)
    gone(world, int(world.read("pids")))
    world.write("go", "")
    world.same(world("resume", "t", *STORE).gives(DONE).json["n"], 1)


def case_what_a_killed_call_started_is_ended(world):
    """what a call started ends before the call is made again after pawl was killed"""
    code = {"python": """
      import os, subprocess
      before = [int(line) for line in open("pids")] if os.path.exists("pids") else []
      def lives(pid):
          try: return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX"
          except OSError: return False
      alive = [pid for pid in before if lives(pid)]
      child = subprocess.Popen(["sleep", "300"])
      with open("pids", "a") as out: out.write(f"{child.pid}\\n")
      while not os.path.exists("go"): pass
      child.kill()
      return {"alive": len(alive)}
""", "javascript": """
      const fs = require('fs');
      const before = fs.existsSync('pids') ? fs.readFileSync('pids', 'utf8').trim().split('\\n') : [];
      const alive = before.filter((pid) => {
        try { return !/^ [ZX]/.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').pop()); }
        catch (error) { return false; }
      });
      const child = require('child_process').spawn('sleep', ['300']);
      fs.appendFileSync('pids', `${child.pid}\\n`);
      while (!fs.existsSync('go')) await new Promise((done) => setTimeout(done, 5));
      child.kill();
      return {alive: alive.length};
"""}
    for language, text in code.items():
        for name in ("pids", "go"):
            (world.folder / name).unlink(missing_ok=True)
        world.write("one.yaml", f"name: one\nnodes:\n  - name: work\n    {language}: |{text}")
        running = world.start("run", "one.yaml", "--thread", language, *STORE)
        world.until(lambda: world.read("pids").endswith("\n"), "the code runs")
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=TIMEOUT)
        left = int(world.read("pids"))
        if not lives(left):
            raise Broken("what it started has ended with it: the case shows nothing")
        world.write("go", "")
        world.same(world("resume", language, *STORE).gives(DONE).json["alive"], 0, "what was left")
        notes = [p.name for p in world.folder.rglob("worker-*")]
        world.same(notes, [], "the notes of workers")


def case_queued(world):
    """Twenty thousand calls that wait for a worker end together when their time is up"""
    world.write("one.yaml", """
name: one
nodes:
  - name: work
    map: {over: '[range(20000)]', limit: 20000}
    timeout: 1s
    do: {python: 'import time; time.sleep(60)'}
""")
    world("run", "one.yaml", "--store", "memory:", "-q").gives(FAILED).says("timeout")


def case_another_answer(world):
    """A node that failed on an answer is given another one"""
    world.write("one.yaml", """
name: one
nodes:
  - name: work
    python: |
      n = interrupt("how many?")
      return {"twice": n * 2 if isinstance(n, int) else int("no number")}
""")
    world("run", "one.yaml", "--thread", "t", *STORE).gives(WAITING)
    world("resume", "t", "--value", '"many"', *STORE).gives(FAILED).says("--value JSON")
    world("resume", "t", *STORE).gives(FAILED)
    world.same(world("resume", "t", "--value", "21", *STORE).gives(DONE).json["twice"], 42)


def case_injected_code_has_a_process_of_its_own(world):
    """code that a debugger puts in, or edits, shares no process with the workflow's own"""
    world.write("pids.yaml", """
nodes:
  - {name: one, python: 'import os; return os.getpid()', output: one}
  - {name: two, python: 'import os; return os.getpid()', output: two}
  - {name: three, python: 'import os; return os.getpid()', output: three}
""")
    told = world("debug", "pids.yaml", "--store", "memory:", "-x", "-", stdin="""next
inject put: {python: 'import os; return os.getpid()', output: put}
next
config set .python = "import os; return os.getpid() + 0"
next
next
print [.one, .put, .two, .three]
""")
    one, put, two, three = json.loads(next(line for line in told.out.splitlines() if line.startswith("[")))
    world.same((one == three, len({one, put, two})), (True, 3), f"processes: {told}")


DOCUMENTED = """
config:
  checkpoint_dir: ./checkpoints  # File-based
  # OR
  checkpointer: memory           # In-memory (for testing)
  interrupt_before: [approval_node]

nodes:
  - name: prepare
    run: return {"data": "prepared"}

  - name: approval_node
    run: return {"approved": state.get("approved", False)}

  - name: finalize
    run: return {"result": "done"}

edges:
  - from: __start__
    to: prepare
  - from: prepare
    to: approval_node
  - from: approval_node
    to: finalize
  - from: finalize
    to: __end__
"""


def case_documented(world):
    """A file as people have them (code that YAML alone would not take) stops, resumes, completes"""
    world.write("agent.yaml", DOCUMENTED)
    world("run", "agent.yaml", "--thread", "t").gives(WAITING).says("approval_node")
    done = world("resume", "t", "--store", "file:checkpoints", "--set", "approved=true").gives(DONE)
    world.same(done.json, {"data": "prepared", "approved": True, "result": "done"})


def main():
    if not shutil.which("python3") or not shutil.which("node"):
        print("1..0 # SKIP python3 and node are needed")
        return 0
    return run_all(cases_of(sys.modules[__name__], "case_"), sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
