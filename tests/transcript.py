"""Commands and what they print, as a terminal shows them: the form that tests and documents share.

A transcript is lines:

    $ command             run by sh; further lines of the command start with "> "
    text                  what it writes to standard output
    2> text               what it writes to standard error
    [3]                   its exit code, when that is not 0

An expected line may end in a mark:

    text (no-eol)         the last line, without a newline
    a*b (glob)            * stands for anything, ? for one character
    pattern (re)          a regular expression
    \\x1b[1m (esc)         bytes that cannot be shown, escaped as in Python

The two streams are compared one by one; how they interleave does not matter.
"""

import fnmatch
import os
import re
import signal
import subprocess
from dataclasses import dataclass, field

from world import end_all_in

TIMEOUT = 120


@dataclass
class Step:
    command: str
    line: int
    out: list = field(default_factory=list)
    err: list = field(default_factory=list)
    code: int = 0


def parse(numbered_lines):
    """Steps of a transcript, from (line number, line) pairs."""
    steps = []
    in_command = False
    for number, line in numbered_lines:
        exit_code = re.fullmatch(r"\[(\d+)\]", line)
        if line.startswith("$ "):
            steps.append(Step(line[2:], number))
            in_command = True
            continue
        if not steps:
            raise ValueError(f"line {number}: text before the first command: {line}")
        step = steps[-1]
        if in_command and (line.startswith("> ") or line == ">"):
            step.command += "\n" + line[2:]
            continue
        in_command = False
        if exit_code:
            step.code = int(exit_code.group(1))
        elif line.startswith("2> ") or line == "2>":
            step.err.append(line[3:])
        else:
            step.out.append(line)
    for step in steps:
        while step.out and step.out[-1] == "":
            step.out.pop()
    return steps


def show(data):
    """Bytes as the lines of a transcript."""
    lines = []
    for raw in re.findall(rb"[^\n]*\n|[^\n]+", data):
        mark = "" if raw.endswith(b"\n") else " (no-eol)"
        raw = raw.removesuffix(b"\n")
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            text = None
        if text is None or not all(c.isprintable() for c in text.replace("\t", "")):
            text = raw.decode("latin-1").encode("unicode_escape").decode()
            mark = " (esc)" + mark
        lines.append(text + mark)
    return lines


def same_line(expected, got):
    if expected == got:
        return True
    if expected.endswith(" (glob)"):
        return fnmatch.fnmatchcase(got, expected[:-7].replace("[", "[[]"))
    if expected.endswith(" (re)"):
        return re.fullmatch(expected[:-5], got) is not None
    return False


def same(expected, got):
    while got and got[-1] == "" and not (expected and expected[-1] == ""):
        got = got[:-1]
    return len(expected) == len(got) and all(map(same_line, expected, got))


def rest_of(process):
    """What it wrote until it was killed. Who has left its group may hold the pipes open for ever."""
    try:
        return process.communicate(timeout=10)
    except subprocess.TimeoutExpired as error:
        return error.stdout or b"", error.stderr or b""


def run(command, cwd, env):
    """Standard output, standard error and exit code; a time-out is exit code 124."""
    process = subprocess.Popen(
        ["sh", "-c", command], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=TIMEOUT)
        return out, err, process.returncode
    except subprocess.TimeoutExpired:
        end_all_in(os.path.realpath(cwd))
        os.killpg(process.pid, signal.SIGKILL)
        out, err = rest_of(process)
        return out, err + f"stopped after {TIMEOUT} s\n".encode(), 124


def environment(folder, pawl):
    """The surroundings of a command: our program first in PATH, and nothing that colours it."""
    env = {
        "PATH": os.path.dirname(os.path.abspath(pawl)) + os.pathsep + os.environ.get("PATH", ""),
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
    }
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        if name in os.environ:
            env[name] = os.environ[name]
    return env


def format_step(step, out, err, code):
    lines = step.command.split("\n")
    text = ["$ " + lines[0], *("> " + line for line in lines[1:])]
    text += out + ["2> " + line if line else "2>" for line in err]
    return text + ([f"[{code}]"] if code else [])


def check(step, cwd, env):
    """Runs a step. Returns what was expected and what came, or None when they agree."""
    out, err, code = run(step.command, cwd, env)
    out, err = show(out), show(err)
    if code == step.code and same(step.out, out) and same(step.err, err):
        return None
    return format_step(step, step.out, step.err, step.code), format_step(step, out, err, code)
