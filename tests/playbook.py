"""Playbooks of the tasks dialect, for the tests that play them: short ways to write tasks, to run
them and to ask what became of them. Files are written as JSON, which is YAML too.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

from world import Broken, DONE, TIMEOUT

TESTS = Path(__file__).resolve().parent
NONE, SUCCESS, FAILURE = None, 1, 2  # a task that has set no result has none
SOON = 45  # seconds in which everything is over that does not wait for the minute of hangs()


# ---- tasks ----


def task(kind, config=None, **envelope):
    """A task; if_ is `if`, id_ is `id`."""
    made = {"name": kind} if config is None else {"name": kind, "config": config}
    made.update({key.rstrip("_"): value for key, value in envelope.items()})
    return made


def shell(command, **envelope):
    """A script. Variables of the test that it names as ${x} are in its environment, without quotes."""
    names = sorted(set(re.findall(r"\$\{([a-z_]+)\}", command)))
    config = {"command": "".join(f"{n}=${{{n}%\\\"}}; {n}=${{{n}#\\\"}}; " for n in names) + command}
    if names:
        config["envVars"] = {name: name for name in names}
    return task("run_shell", config, **envelope)


def works(**envelope):
    return task("sleep", {"duration": 0}, **envelope)


def fails(code=1, **envelope):
    return shell(f"exit {code}", **envelope)


def hangs(**envelope):
    return task("sleep", {"duration": "1m"}, **envelope)


def says(word, **envelope):
    return shell(f"echo {word} >> ran", **envelope)


def lingers(word, **envelope):
    """A command that is not to come to its end."""
    return shell(f"echo {word} >> ran; sleep 60; echo late >> ran", **envelope)


def sets(name, value, **envelope):
    return shell(f"cat <<'END'\n::set-json {name} {json.dumps(value)}\nEND", **envelope)


def sees(query, id_, **envelope):
    """What a query gives there, as the output `v`. What is no path is an expression."""
    query = query if re.match(r"[.|\w]", query) and not query.startswith("if ") else "| " + query
    config = {"command": 'echo "::set-output-json v $V"', "envVars": {"V": query}}
    return task("run_shell", config, id_=id_, **envelope)


def waits_for(*files):
    return "until " + " && ".join(f"[ -e {name} ]" for name in files) + "; do sleep 0.02; done"


def group(kind, *tasks, **config):
    envelope = {key: config.pop(key) for key in ("id_", "timeout", "if_", "title") if key in config}
    return task(kind, {"tasks": list(tasks), **config}, **envelope)


def run_tasks(*tasks, **config):
    return group("run_tasks", *tasks, **config)


def concurrent(*tasks, **config):
    return group("run_tasks_concurrent", *tasks, **config)


def holding(kind, config):
    envelope = {key: config.pop(key) for key in ("id_", "timeout", "if_", "configVars")
                if key in config}
    return task(kind, config, **envelope)


def matrix(inner, values, **config):
    return holding("run_task_matrix",
                   {"task": inner, "matrixVar": "v", "matrixValues": values, **config})


def background(foreground, behind, **config):
    return holding("run_task_background",
                   {"foregroundTask": foreground, "backgroundTask": behind, **config})


def options(inner, **config):
    return holding("run_task_options", {"task": inner, **config})


def external(file, **config):
    return holding("run_external_tasks", {"testFile": file, **config})


# ---- playing them ----


def write_test(world, tasks, name="test.yaml", **fields):
    text = json.dumps({"name": "test", **fields, "tasks": tasks}, indent=1)
    world.write(name, text.replace('"cleanup":', '"cleanupTasks":'))


def play(world, *tasks, code=DONE, words=(), **fields):
    write_test(world, list(tasks), **fields)
    begun = time.monotonic()
    answer = world("run", "test.yaml", "--json", *words).gives(code)
    if time.monotonic() - begun > SOON:
        raise Broken(f"it took {time.monotonic() - begun:.0f} s: {answer}")
    return answer.json


def check(world, *tasks, **fields):
    write_test(world, list(tasks), **fields)
    return world("check", "test.yaml")


def known(answer, id_):
    """What tasks.ID is in the end."""
    return answer["state"]["tasks"][id_]


def result(answer, id_):
    return known(answer, id_)["result"]


def seen(answer, id_):
    return known(answer, id_)["outputs"]["v"]


def ran(world):
    return world.read("ran").split()


def events(world, *tasks, code=DONE, **fields):
    write_test(world, list(tasks), **fields)
    return world("run", "test.yaml", "--stream", "events").gives(code).lines


def start_and_wait(world, *tasks, at, **fields):
    write_test(world, list(tasks), **fields)
    process = world.start("run", "test.yaml", "--thread", "t")
    world.wait_for(at)
    return process


class Server:
    """The server of tests/http_server.py, on loopback."""

    def __init__(self, world):
        self.process = subprocess.Popen([sys.executable, str(TESTS / "http_server.py"),
                                         str(world.folder)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{json.loads(self.process.stdout.readline())['http']}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=TIMEOUT)


def choose(cases, words):
    """Those whose name or promise has one of the words; all without words."""
    return [case for case in cases if not words
            or any(word in case.__name__ or word in (case.__doc__ or "") for word in words)]
