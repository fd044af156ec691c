#!/usr/bin/env python3
"""Proves that the layers hold: an include that goes up does not compile. Prints TAP.

    tests/layers.py ROOT BUILD LAYER:BELOW,BELOW...

For every pair of layers, a file that includes a header of the one is compiled with exactly the
flags of the other. It must compile if the one is named beside the other in meson.build, and must
not if it is not. No source may get around that with a path in its include, and none may be left
out of the table. Nothing that runs workflows reads the folder or the environment of its process, and
nothing below the doors names a command, an option or a variable of the command line.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import Tap


def flags_of(build, root, layer):
    """The command that compiles a source of the layer, without its input and output."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = (Path(entry["directory"]) / entry["file"]).resolve()
        of_layer = f"layer-{layer}." in entry["output"]  # and not of a program beside it
        if source.parent == root / "src" / layer and of_layer:
            words = shlex.split(entry["command"])
            kept, skip = [], False
            for word in words:
                if skip or word in ("-c", "-MD", "-MQ", "-MF", "-o"):
                    skip = word in ("-MQ", "-MF", "-o") and not skip
                elif word != entry["file"]:
                    kept.append(word)
            return kept
    return None


def try_include(flags, build, header):
    """Compiles a file that lies outside of all layers and includes the header."""
    with tempfile.TemporaryDirectory(prefix="pawl-layers-") as folder:
        source = Path(folder) / "probe.c"
        source.write_text(f'#include "{header}"\nextern int probe;\n')
        return subprocess.run(
            [*flags, "-fdiagnostics-color=never", "-fsyntax-only", source],
            cwd=build, capture_output=True, text=True, env=dict(os.environ, LC_ALL="C"),
        )


def not_found(result, header):
    """It failed, and for the right reason."""
    complaint = rf"fatal error: '?{re.escape(header)}'?( file not found|: No such file)"
    return result.returncode != 0 and re.search(complaint, result.stderr) is not None


def header_of(root, layer):
    """A header that only this layer has."""
    headers = sorted(p.name for p in (root / "src" / layer).glob("*.h"))
    return headers[0] if headers else None


def check_pairs(tap, root, build, layers):
    for layer, below in layers.items():
        flags = flags_of(build, root, layer)
        for other in layers:
            header = header_of(root, other)
            if other == layer or not flags or not header:
                continue
            result = try_include(flags, build, header)
            if other in below:
                tap.case(result.returncode == 0, f"{layer} sees {other} ({header})", result.stderr)
            else:
                tap.case(not_found(result, header), f"{layer} does not see {other} ({header})",
                         result.stderr)


def searched(flags, build):
    """The folders under src/ that a command line tells the compiler to search."""
    folders = [flags[i + 1] for i, flag in enumerate(flags) if flag in ("-iquote", "-I")]
    folders += [flag[2:] for flag in flags if re.match(r"-I.", flag)]
    return [(build / folder).resolve() for folder in folders]


def check_folders(tap, root, build, layers):
    """All headers at once: what the compiler searches is the layer's own folder and those below."""
    for layer, below in layers.items():
        flags = flags_of(build, root, layer)
        if not flags:
            continue
        allowed = {root / "src" / name for name in [layer, *below]}
        beyond = [f for f in searched(flags, build)
                  if (root == f or f.is_relative_to(root / "src")) and f not in allowed]
        tap.case(not beyond, f"{layer} searches only its own folder and those below",
                 "\n".join(map(str, beyond)))


def check_sources(tap, root, build):
    """A source that no table names would never be compiled, and a test never run."""
    compiled = {
        (Path(entry["directory"]) / entry["file"]).resolve()
        for entry in json.loads((build / "compile_commands.json").read_text())
    }
    sources = [source for folder in ("src", "tests", "fuzz")
               for source in sorted((root / folder).rglob("*.c")) if "node_modules" not in source.parts]
    forgotten = [str(source.relative_to(root)) for source in sources if source not in compiled]
    tap.case(not forgotten, "every source and every test is in a table", "\n".join(forgotten))


def check_paths(tap, root):
    """Includes with a folder in them would go around the layers."""
    bad = []
    for source in sorted((root / "src").rglob("*.[chy]")):
        for number, line in enumerate(source.read_text().splitlines(), 1):
            if re.match(r'\s*#\s*include\s*"[^"]*/', line):
                bad.append(f"{source.relative_to(root)}:{number}: {line.strip()}")
    tap.case(not bad, "no source includes by a path", "\n".join(bad))


# Who may look at the process it runs in: what people start, the library, and what is named here.
PROCESS_ITSELF = re.compile(r"\b(getcwd|get_current_dir_name|environ|(secure_)?getenv|uv_cwd"
                            r"|uv_os_(getenv|environ))\b")
MAY_LOOK = ["cli", "console", "lib"]
EXCEPTIONS = {
    "base/fault.c": "PAWL_FAULT, which builds for users do not read",
    "store/store.c": "TMPDIR, for the folder of a store that is in memory",
}


def check_process(tap, root, layers):
    """A run carries its folder and its environment: what does its work reads neither elsewhere."""
    bad = []
    for layer in layers:
        for source in sorted((root / "src" / layer).glob("*.[ch]")):
            name = f"{layer}/{source.name}"
            if layer in MAY_LOOK or name in EXCEPTIONS:
                continue
            for number, line in enumerate(code_of(source).splitlines(), 1):
                if PROCESS_ITSELF.search(line):
                    bad.append(f"{name}:{number}: {line.strip()}")
    tap.case(not bad, "nothing that runs workflows reads the folder or environment of its process",
             "\n".join(bad))


# What only those who talk to people name; the others say what is wrong, by a code and facts (base/error.h).
COMMAND_LINE = re.compile(r"`pawl |(?<![\w-])--[a-z]{2,}|\bPAWL_[A-Z]+")
DOORS = ["console", "cli", "serve", "lib"]
NOT_OF_OURS = {
    "base/fault.c": "PAWL_FAULT, which builds for users do not read",
    "host/secrets.c": "PAWL_KEY_FILE of the environment",
    "host/secrets.h": "PAWL_SECRET_... of the environment",
    "io/workers.c": "options of interpreters; PAWL_WORKERS of the run's environment",
    "io/worker_program.c": "PAWL_PYTHON and PAWL_NODE of the run's environment",
    "host/host.c": "variables that runs inherit always, or never",
    "exec/exec_pipeline.c": "variables that the commands of a pipeline get",
    "exec/exec_task_shell.c": "PAWL_NODE of the run's environment, and variables that scripts get",
}


def check_sentences(tap, root, layers):
    """The way out of an error is added by the door that it leaves by."""
    bad = []
    for layer in [name for name in layers if name not in DOORS]:
        for source in sorted((root / "src" / layer).glob("*.[ch]")):
            name = f"{layer}/{source.name}"
            text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), source.read_text(),
                          flags=re.S)
            for number, line in enumerate(text.splitlines(), 1):
                literals = " ".join(re.findall(r'"((?:\\.|[^"\\])*)"', line))
                if name not in NOT_OF_OURS and COMMAND_LINE.search(literals):
                    bad.append(f"{name}:{number}: {line.strip()}")
    tap.case(not bad, "no sentence below the doors names a command or an option", "\n".join(bad))


def code_of(source):
    """The text of a source without its comments and strings, line by line as it was."""
    text = source.read_text()
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"',
                  lambda match: re.sub(r"[^\n]", " ", match.group()), text, flags=re.S)


def check_names(tap, root, layers):
    """Two headers of one name would hide which layer is meant."""
    seen = {}
    for layer in layers:
        for header in (root / "src" / layer).glob("*.h"):
            seen.setdefault(header.name, []).append(layer)
    twice = [f"{name} is in {', '.join(where)}" for name, where in seen.items() if len(where) > 1]
    tap.case(not twice, "every header has a name of its own", "\n".join(twice))


ALONE = re.compile(r"^( +(?:if|for|while) \(.*\) )\{\n +([^{}/\n]*;)\n +\}$", re.M)
NESTED = re.compile(r"(?:if|for|while|switch|do)\b")


def check_layout(tap, root):
    """What clang-format leaves open: a short statement stands beside its condition."""
    bad = [f"{source.relative_to(root)}: {found[1].strip()}"
           for source in sorted((root / "src").rglob("*.c"))
           for found in ALONE.finditer(source.read_text())
           if len(found[1] + found[2]) <= 100 and not NESTED.match(found[2])]
    tap.case(not bad, "a short statement stands on the line of its condition", "\n".join(bad))


def engine_rows(root):
    """The table of ARCHITECTURE.md that says who may call whom inside engine/: names, the top row first."""
    text = (root / "ARCHITECTURE.md").read_text()
    part = text.partition("### Inside `engine/`")[2].partition("\n#")[0]
    return [re.findall(r"`([\w.]+)`", line.split("|")[1]) for line in part.splitlines()
            if line.startswith("| `")]


def check_engine(tap, root):
    """A file of engine/ includes headers of its own row and of those below, and no others."""
    row_of = {name: i for i, row in enumerate(engine_rows(root)) for name in row}
    folder = root / "src" / "engine"

    def row(file):
        return row_of.get(file, row_of.get(file[:-2]))

    files = sorted(p for p in folder.glob("*.[ch]"))
    bad = [f"{p.name} is in no row" for p in files if row(p.name) is None]
    for source in [p for p in files if not bad]:
        for name in re.findall(r'#include "(\w+\.h)"', source.read_text()):
            if (folder / name).exists() and row(name) < row(source.name):
                bad.append(f"{source.name} includes {name}, which is above it")
    tap.case(row_of and not bad, "files of engine/ include no header above them", "\n".join(bad))


def main():
    root, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    layers = {}
    for row in sys.argv[3:]:
        name, below = row.split(":")
        layers[name] = below.split(",") if below else []
    tap = Tap()
    check_pairs(tap, root, build, layers)
    check_folders(tap, root, build, layers)
    check_sources(tap, root, build)
    check_paths(tap, root)
    check_names(tap, root, layers)
    check_process(tap, root, layers)
    check_sentences(tap, root, layers)
    check_engine(tap, root)
    check_layout(tap, root)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
