"""A folder of its own and the pawl of a build, for tests that do what people would type there.

    class Case(...): functions that take a World and raise Broken when a promise does not hold
    world.run_all(cases, pawl)      runs them, each in a fresh folder, and prints TAP
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
import traceback
from pathlib import Path

from tap import Tap

TIMEOUT = 120
DONE, FAILED, USAGE, WAITING = 0, 1, 2, 3


class Broken(Exception):
    """What was promised does not hold."""


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
            return json.loads(self.out)
        except ValueError:
            pass
        try:
            return json.loads(self.out.strip().split("\n")[-1])
        except ValueError as error:
            raise Broken(f"the last line is not JSON ({error}): {self}") from error

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def gives(self, code):
        if self.code != code:
            raise Broken(f"exit code {self.code}, not {code}: {self}")
        return self

    def says(self, *parts):
        for part in parts:
            if part not in self.err + self.out:
                raise Broken(f"it does not say `{part}`: {self}")
        return self


class World:
    def __init__(self, pawl):
        self.pawl = os.path.abspath(pawl)
        self.folder = Path(tempfile.mkdtemp(prefix="pawl-test-"))

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def read(self, name):
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def pawl_(self, *words, env=None, stdin=None, user=None):
        environ = {k: v for k, v in os.environ.items() if not k.startswith("PAWL_")}
        environ.update(env or {})
        done = subprocess.run([self.pawl, *map(str, words)], cwd=self.folder, env=environ, user=user,
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

    def wait_for(self, name):
        """Until a file is there."""
        path, end = self.folder / name, time.monotonic() + 30
        while not path.exists():
            if time.monotonic() > end:
                raise Broken(f"{name} never came")
            time.sleep(0.02)

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


def run_all(cases, pawl):
    """Exit code 0 when all promises hold."""
    tap = Tap()
    for case in cases:
        world, wrong = World(pawl), None
        try:
            case(world)
        except Broken as error:
            wrong = str(error)
        except Exception:  # pylint: disable=broad-except
            wrong = traceback.format_exc()
        finally:
            world.close()
        tap.case(wrong is None, name_of(case), wrong)
    return tap.finish()


def cases_of(module, prefix):
    found = [value for name, value in vars(module).items() if name.startswith(prefix)]
    return sorted(found, key=lambda case: case.__code__.co_firstlineno)
