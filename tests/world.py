"""A folder of its own and the pawl of a build, for tests that do what people would type there.

    class Case(...): functions that take a World and raise Broken when a promise does not hold
    world.run_all(cases, pawl)      runs them, each in a fresh folder, and prints TAP

A machine may be slow. So cases wait for what they can see (wait_for, until), never for so long that it
must have happened. Where time itself is the subject, as with timeouts, a case is marked @paced and takes
its times from the world (ms, seconds, nap): what fails with short times is tried with longer ones.
"""

import ast
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tap import Tap

TIMEOUT = 120
PATIENCE = 60  # seconds for what takes milliseconds, also under a sanitizer
PACES = (1, 4, 16)
DONE, FAILED, USAGE, WAITING, BUSY, STORE = 0, 1, 2, 3, 4, 5


class Broken(Exception):
    """What was promised does not hold."""


class Skipped(Exception):
    """What a case needs is not here."""


class Facts(dict):
    """An object as the program gives it: what there is nothing to say of is left out, and reads as None."""

    def __missing__(self, key):
        return None


class Answer:
    """What a command came to."""

    def __init__(self, words, done):
        self.words, self.code = words, done.returncode
        self.out, self.err = done.stdout, done.stderr

    def __str__(self):
        return f"{' '.join(self.words)} -> {self.code}\n{self.out}{self.err}"

    @property
    def json(self):
        """Its output as a value, or the last line of it."""
        try:
            return json.loads(self.out, object_hook=Facts)
        except ValueError:
            pass
        try:
            return json.loads(self.out.strip().split("\n")[-1], object_hook=Facts)
        except ValueError as error:
            raise Broken(f"the last line is not JSON ({error}): {self}") from error

    @property
    def lines(self):
        return [json.loads(line, object_hook=Facts) for line in self.out.splitlines()]

    def gives(self, code):
        if self.code != code:
            raise Broken(f"exit code {self.code}, not {code}: {self}")
        return self

    def says(self, *parts):
        for part in parts:
            if part not in self.err + self.out:
                raise Broken(f"it does not say `{part}`: {self}")
        return self


def end_all_in(folder):
    """Kills the processes whose folder it is: a case that broke may have left commands that wait."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/cwd") == str(folder):
                os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass  # it has ended, or is somebody else's


class World:
    def __init__(self, pawl, pace=1):
        self.pawl, self.pace = os.path.abspath(pawl), pace
        self.folder = Path(tempfile.mkdtemp(prefix="pawl-test-")).resolve()

    def close(self):
        end_all_in(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def read(self, name):
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def pawl_(self, *words, env=None, stdin=None, user=None, cwd=None):
        environ = {k: v for k, v in os.environ.items() if not k.startswith("PAWL_")}
        environ.update(env or {})
        done = subprocess.run([self.pawl, *map(str, words)], cwd=cwd or self.folder, env=environ, user=user,
                              timeout=TIMEOUT, input=stdin or "", capture_output=True, text=True)
        return Answer(["pawl", *map(str, words)], done)

    __call__ = pawl_

    def same(self, got, want, what="it"):
        if got != want:
            raise Broken(f"{what} is {got!r}, not {want!r}")

    def start(self, *words):
        """In the background; what it says on standard error can be read."""
        return subprocess.Popen([self.pawl, *words], cwd=self.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def until(self, holds, what):
        """Until holds() gives something; that."""
        end = time.monotonic() + PATIENCE
        while not (found := holds()):
            if time.monotonic() > end:
                raise Broken(f"{what}: not within {PATIENCE} s")
            time.sleep(0.02)
        return found

    def wait_for(self, name):
        """Until a file is there."""
        self.until((self.folder / name).exists, f"{name} is there")

    # ---- times, at the pace of the case ----

    def seconds(self, number):
        return number * self.pace

    def ms(self, number):
        """As workflows have it."""
        return f"{number * self.pace}ms"

    def nap(self, seconds):
        time.sleep(self.seconds(seconds))

    # ---- others ----

    def cancel(self, thread, *words):
        """`pawl cancel`. It waits for a few seconds; on a slow machine the run has more."""
        answer = self("cancel", thread, *words)
        if "has not done so" in answer.err:
            self.until(lambda: self("status", thread, "--json", *words).json["status"] == "cancelled",
                       f"{thread} is cancelled")
        else:
            answer.gives(DONE)

    def open_to_all(self, uid):
        """Lets somebody else run pawl here, from a copy; whether that is possible at all."""
        self.folder.chmod(0o755)
        copy = self.folder / "pawl"
        shutil.copy(self.pawl, copy)
        copy.chmod(0o755)
        try:
            subprocess.run([copy, "version"], user=uid, cwd=self.folder, check=True,
                           capture_output=True)
        except (PermissionError, subprocess.CalledProcessError):
            return False
        self.pawl = str(copy)
        return True


def name_of(case):
    return (case.__doc__ or case.__name__.replace("_", " ")).strip().split("\n")[0]


def paced(case):
    """Marks a case whose subject is time."""
    case.paces = PACES
    return case


def try_case(case, pawl, pace):
    """What went wrong, or None; Skipped: what it needs is not here."""
    world = World(pawl, pace)
    try:
        case(world)
    except Broken as error:
        return str(error)
    except Skipped as why:
        return why
    except Exception:  # pylint: disable=broad-except
        return traceback.format_exc()
    finally:
        world.close()
    return None


def forgotten(cases):
    """Functions of the program that take a world as cases do, and that nothing in it names or runs."""
    here = sys.modules["__main__"]
    tree = ast.parse(Path(here.__file__).read_text())
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return [name for name, value in vars(here).items()
            if inspect.isfunction(value) and value.__module__ == "__main__" and value not in cases
            and list(inspect.signature(value).parameters) == ["world"] and name not in named]


def run_all(cases, pawl):
    """Exit code 0 when all promises hold."""
    tap = Tap()
    all_are_meant = len(sys.argv) == 2
    if all_are_meant and (lost := forgotten(cases)):
        tap.case(False, "every case of the file runs", f"these do not: {', '.join(lost)}")
    for case in cases:
        for pace in getattr(case, "paces", (1,)):
            if pace > 1:
                print(f"# again, with times {pace} times as long: {name_of(case)}", flush=True)
            wrong = try_case(case, pawl, pace)
            if wrong is None or isinstance(wrong, Skipped):
                break
        if isinstance(wrong, Skipped):
            tap.skip(name_of(case), wrong)
        else:
            tap.case(wrong is None, name_of(case), wrong)
    return tap.finish()


def cases_of(module, prefix):
    found = [value for name, value in vars(module).items() if name.startswith(prefix)]
    return sorted(found, key=lambda case: case.__code__.co_firstlineno)
