#!/usr/bin/env python3
"""Installs into a temporary folder and uses what is there. Prints TAP.

    tests/install.py ROOT BUILD

A program is compiled through pkg-config against the shared and against the static library and run;
the names that the libraries export are held against those that pawl.h declares.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import Tap

PROGRAM = r"""
#include <pawl.h>
#include <stdio.h>
#include <string.h>

/* A name of the library's inside: no program must have to stay clear of it. */
int jq_compile(void) { return 7; }

static bool print_line(void *ctx, const char *text, size_t len) {
    (void)ctx;
    printf("%.*s\n", (int)len, text);
    return true;
}

int main(void) {
    PawlError err;
    const char *input = "{\"items\":[{\"price\":3},{\"price\":4}]}";
    const PawlLimits small = {.steps = 10000};
    PawlExpr *expr = pawl_expr_compile(".items[] | .price + 1", &err);
    bool ok = expr && pawl_expr_eval(expr, input, strlen(input), NULL, print_line, NULL, &err);
    pawl_expr_free(expr);
    PawlExpr *bad = pawl_expr_compile(".a | |", &err);
    printf("%s %d %d\n", bad ? "compiled" : "refused", err.code == PAWL_SYNTAX, err.line);
    expr = pawl_expr_compile("def f: f; f", &err);
    pawl_expr_eval(expr, "1", 1, &small, print_line, NULL, &err);
    printf("%d %d %d\n", ok, err.code == PAWL_LIMIT, jq_compile());
    pawl_expr_free(expr);
    return 0;
}
"""
EXPECTED = "4\n5\nrefused 1 1\n1 1 7\n"

# Where each thing must be, below the prefix.
INSTALLED = [
    "bin/pawl",
    "include/pawl.h",
    "share/man/man1/pawl.1",
    "share/bash-completion/completions/pawl",
    "share/zsh/site-functions/_pawl",
    "share/fish/vendor_completions.d/pawl.fish",
]


def exported(nm_flags, library):
    text = subprocess.run(["nm", *nm_flags, "--defined-only", library],
                          capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in text.splitlines() if len(line.split()) >= 3}


def declared(header):
    return set(re.findall(r"^PAWL_API [^;(]*?\b(pawl_\w+)\(", header.read_text(), re.M))


def pkg_config(destdir, prefix, libdir, *flags):
    env = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=str(destdir),
               PKG_CONFIG_PATH=f"{libdir}/pkgconfig")
    result = subprocess.run(["pkg-config", *flags, "pawl"], env=env, capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else None


def private_libraries(destdir, prefix, libdir):
    """What libpawl.a needs, as shared libraries: theirs, static, need more than is installed here."""
    names = pkg_config(destdir, prefix, libdir, "--print-requires-private") or ""
    packages = [line.split()[0] for line in names.splitlines()]
    result = subprocess.run(["pkg-config", "--libs", *packages], capture_output=True, text=True)
    return [*shlex.split(result.stdout), "-lm", "-lpthread"]


def readelf(binary, *flags):
    return subprocess.run(["readelf", "-W", *flags, binary], capture_output=True, text=True,
                          check=True).stdout


def protections(binary):
    """What each protection is called, and whether the binary has it."""
    segments, dynamic = readelf(binary, "-l"), readelf(binary, "-d")
    symbols = readelf(binary, "--dyn-syms")
    stack = re.search(r"GNU_STACK.*", segments)
    yield "it can be loaded anywhere (PIE)", "Flags:" in dynamic and bool(
        re.search(r"FLAGS_1.*\bPIE\b", dynamic))
    yield "what is relocated cannot be written (full RELRO)", bool(
        "GNU_RELRO" in segments and re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", dynamic))
    yield "the stack cannot be run", bool(stack and "E" not in stack.group().split()[-2])
    yield "frames are guarded (stack protector)", "__stack_chk_fail" in symbols
    yield "copies are checked (FORTIFY_SOURCE)", "__memcpy_chk" in symbols or "__snprintf_chk" in symbols
    if os.uname().machine == "x86_64":
        endbr64 = b"\xf3\x0f\x1e\xfa"
        yield ("jumps land where they may (control-flow protection)",
               Path(binary).read_bytes().count(endbr64) > 1000)


def compile_and_run(tap, folder, words, libdir, how):
    binary = Path(folder) / how
    command = [*shlex.split(os.environ.get("CC", "cc")), "-std=c11", "-Wall", "-Wextra",
               "-Wno-missing-prototypes", str(Path(folder) / "program.c"), "-o", str(binary), *words]
    build = subprocess.run(command, capture_output=True, text=True)
    if not tap.case(build.returncode == 0, f"a program links to the {how} library", build.stderr):
        return
    run = subprocess.run([binary], capture_output=True, text=True,
                         env=dict(os.environ, LD_LIBRARY_PATH=str(libdir)))
    tap.case(run.stdout == EXPECTED and run.returncode == 0, f"and runs ({how})",
             f"exit code {run.returncode}\n{run.stdout}{run.stderr}")


def main():
    root, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    tap = Tap()
    folder = tempfile.mkdtemp(prefix="pawl-install-")
    destdir = Path(folder) / "root"
    try:
        install = subprocess.run(
            ["meson", "install", "-C", build, "--no-rebuild", "--destdir", destdir],
            capture_output=True, text=True)
        if not tap.case(install.returncode == 0, "it installs", install.stdout + install.stderr):
            return tap.finish()
        prefix = next(destdir.rglob("bin/pawl")).parent.parent
        for name in INSTALLED:
            tap.case((prefix / name).exists() and (prefix / name).stat().st_size > 0, name)
        libdir = next(prefix.rglob("libpawl.a")).parent
        options = json.loads((build / "meson-info/intro-buildoptions.json").read_text())
        if {o["name"]: o["value"] for o in options}["b_sanitize"] in ("none", []):
            for what, there in protections(prefix / "bin/pawl"):
                tap.case(there, what)

        names = declared(prefix / "include" / "pawl.h")
        tap.case(len(names) > 0, "the header declares functions")
        for flags, library in ((["-D"], "libpawl.so"), (["-g"], "libpawl.a")):
            found = exported(flags, libdir / library)
            tap.case(found == names, f"{library} exports what the header declares",
                     f"only in the library: {sorted(found - names)}\n"
                     f"only in the header: {sorted(names - found)}")

        (Path(folder) / "program.c").write_text(PROGRAM)
        shared = pkg_config(destdir, prefix, libdir, "--cflags", "--libs")
        if tap.case(shared is not None, "pkg-config knows pawl"):
            compile_and_run(tap, folder, shlex.split(shared), libdir, "shared")
            words = [f"-I{prefix}/include", str(libdir / "libpawl.a"),
                     *private_libraries(destdir, prefix, libdir)]
            compile_and_run(tap, folder, words, libdir, "static")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
