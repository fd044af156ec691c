#!/usr/bin/env python3
"""Installs the library and uses it as the programs of others would. Prints TAP.

    tests/embed.py ROOT BUILD

examples/embed is built by its own Makefile, through pkg-config, against what was installed: as it is,
with AddressSanitizer, and to be run under valgrind. The program of docs/embedding.md is built and run,
too, and the header is read by a C++ compiler.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import Tap

TIMEOUT = 120

EXPECTED = """\
unit says: the unit tests are done
unit says: the unit tests are done
release-1 is interrupted
it asks: "Ship it?"
to choose from: ["ship","hold"]
release-1 is completed
{"checks":["unit tests ran","lint is clean","unit tests ran","lint is clean"],"version":"1.2.0",\
"bugs":0,"failures":0,"passed":true,"__route__":{"tests":"approve"},"decision":"ship","shipped":true}
   1               started      ["checks"]
   2  plan         completed    ["version","bugs"]
   3  tests        entered      []
   4  lint         completed    ["checks"]
   5  unit         completed    ["failures","checks"]
   6  verdict      joined       ["failures","checks"]
   7  verdict      completed    ["passed"]
   8  tests        completed    ["checks","failures","passed"]
   9  tests.route  completed    ["__route__"]
  10  fix          completed    ["bugs"]
  11  tests        entered      []
  12  lint         completed    ["checks"]
  13  unit         completed    ["failures","checks"]
  14  verdict      joined       ["failures","checks"]
  15  verdict      completed    ["passed"]
  16  tests        completed    ["checks","failures","passed"]
  17  tests.route  completed    ["__route__"]
  18  approve      interrupted  []
  19  approve      answered     []
  20  approve      completed    ["decision"]
  21  ship         completed    ["shipped"]
"""

DEBUGGED = """\
paused before price
  the total: 15
  the item: {"price":4,"quantity":-2}
paused before bill
  the total: 23
  changed: [{"path":["total"],"old":15,"new":23},{"path":["item","quantity"],"old":-2,"new":2}]
bill-1 is paused
stands at "bill"
stands at "price"
bill-1 is completed
the total: 19
"""

CPLUSPLUS = r"""
#include <pawl.h>
#include <cstdio>

static PawlValue twice(void *, PawlCall *call) {
    PawlValue n = pawl_object_get(pawl_call_state(call), "n");
    return pawl_object_set(pawl_object(), "n", pawl_int(2 * pawl_value_int(n, 0)));
}

int main() {
    PawlError err{};
    PawlGraph *graph = pawl_graph_new("twice");
    pawl_graph_add_node(graph, "twice", twice, nullptr);
    PawlFlow *flow = pawl_graph_compile(graph, &err);
    pawl_graph_free(graph);
    PawlEngine *engine = pawl_engine_open("memory:", nullptr, &err);
    PawlStart start{};
    start.input = pawl_object_set(pawl_object(), "n", pawl_int(21));
    PawlRun *run = flow && engine ? pawl_run_start(engine, flow, &start, &err) : nullptr;
    if (!run || !pawl_engine_run(engine, &err)) {
        std::fputs(err.message, stderr);
        return 1;
    }
    PawlValue n = pawl_object_get(pawl_run_state(run), "n");
    std::printf("%d\n", static_cast<int>(pawl_value_int(n, 0)));
    pawl_engine_close(engine);
    pawl_flow_free(flow);
}
"""


PROGRAMS = (("release", EXPECTED), ("debug", DEBUGGED))


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, **options)


def words(result):
    return f"exit code {result.returncode}\n{result.stdout}{result.stderr}"


class Installed:
    """The library below a folder, and how programs find it there."""

    def __init__(self, folder, build):
        self.destdir = Path(folder) / "root"
        self.result = run(["meson", "install", "-C", build, "--no-rebuild", "--destdir",
                           self.destdir])
        if self.result.returncode == 0:
            libdir = next(self.destdir.rglob("libpawl.so")).parent
            self.env = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=str(self.destdir),
                            PKG_CONFIG_PATH=f"{libdir}/pkgconfig", LD_LIBRARY_PATH=str(libdir))

    def flags(self):
        return shlex.split(run(["pkg-config", "--cflags", "--libs", "pawl"], env=self.env).stdout)


class Example:
    """A copy of examples/embed, built by its Makefile."""

    def __init__(self, folder, root, installed):
        self.installed = installed
        self.folder = Path(folder) / "example"
        shutil.copytree(root / "examples" / "embed", self.folder)

    def build(self, *variables):
        run(["make", "clean"], cwd=self.folder)
        return run(["make", *variables], cwd=self.folder, env=self.installed.env)

    def run(self, program, store, *before, **env):
        for rest in ("example.db", "example.db-wal", "example.db-shm"):
            (self.folder / rest).unlink(missing_ok=True)
        shutil.rmtree(self.folder / "runs", ignore_errors=True)
        return run([*before, f"./{program}", store], cwd=self.folder,
                   env=dict(self.installed.env, **env))


def check_example(tap, example):
    build = example.build()
    if not tap.case(build.returncode == 0, "the examples build through pkg-config", words(build)):
        return
    for program, expected in PROGRAMS:
        check_program(tap, example, program, expected)


def check_program(tap, example, program, expected):
    for store in ("sqlite:example.db", "file:runs"):
        result = example.run(program, store)
        tap.case(result.returncode == 0 and result.stdout == expected and not result.stderr,
                 f"{program} stops, goes on and completes ({store})", words(result))
    if shutil.which("valgrind"):
        result = example.run(program, "sqlite:example.db", "valgrind", "--quiet",
                             "--leak-check=full", "--errors-for-leak-kinds=definite,indirect",
                             "--error-exitcode=99")
        tap.case(result.returncode == 0 and result.stdout == expected,
                 f"{program}: valgrind has no complaint", words(result))
    else:
        tap.skip(f"{program}: valgrind has no complaint", "valgrind is not installed")


def check_sanitized(tap, example):
    build = example.build("CFLAGS=-std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Werror -g -O1 "
                          "-fsanitize=address,undefined -fno-sanitize-recover=all")
    if not tap.case(build.returncode == 0, "they build with sanitizers", words(build)):
        return
    for program, expected in PROGRAMS:
        result = example.run(program, "sqlite:example.db", ASAN_OPTIONS="detect_leaks=1")
        tap.case(result.returncode == 0 and result.stdout == expected,
                 f"{program}: sanitizers have no complaint", words(result))


def compile_and_run(tap, installed, folder, source, compiler, expected, title):
    binary = Path(folder) / "program"
    build = run([*compiler, str(source), "-o", str(binary), *installed.flags()],
                env=installed.env)
    if not tap.case(build.returncode == 0, f"{title} builds", words(build)):
        return
    result = run([binary], cwd=folder, env=installed.env)
    tap.case(result.returncode == 0 and result.stdout == expected, f"{title} runs", words(result))


def check_document(tap, installed, folder, root):
    """The first program of the page, and what the page says that it prints."""
    page = (root / "docs" / "embedding.md").read_text()
    found = re.search(r"```c\n(.*?int main.*?)```\n.*?```text\n(.*?)```", page, re.S)
    if not tap.case(found is not None, "docs/embedding.md has a program"):
        return
    source = Path(folder) / "page.c"
    source.write_text(found.group(1))
    compiler = [*shlex.split(os.environ.get("CC", "cc")), "-std=c11", "-Wall", "-Wextra", "-Werror"]
    compile_and_run(tap, installed, folder, source, compiler, found.group(2),
                    "the program of docs/embedding.md")


def check_cplusplus(tap, installed, folder):
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    if not shutil.which(compiler[0]):
        tap.skip("a program in C++ builds", "there is no C++ compiler")
        return
    source = Path(folder) / "program.cc"
    source.write_text(CPLUSPLUS)
    compile_and_run(tap, installed, folder, source,
                    [*compiler, "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"], "42\n",
                    "a program in C++")


def main():
    root, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="pawl-embed-") as folder:
        installed = Installed(folder, build)
        if not tap.case(installed.result.returncode == 0, "it installs", words(installed.result)):
            return tap.finish()
        example = Example(folder, root, installed)
        check_example(tap, example)
        check_sanitized(tap, example)
        check_document(tap, installed, folder, root)
        check_cplusplus(tap, installed, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
