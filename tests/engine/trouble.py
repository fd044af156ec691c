#!/usr/bin/env python3
"""What goes wrong around a run ends in a sentence, and costs nobody else anything. Prints TAP.

    tests/engine/trouble.py PAWL
"""

import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from world import Broken, BUSY, DONE, FAILED, STORE, USAGE, WAITING, TIMEOUT, cases_of, run_all  # noqa: E402

NOBODY = 65534
ASK = """
name: ask
nodes:
  - {name: first, jq: '{word: "recognisable"}'}
  - {name: ask, approval: 'go on?'}
  - {name: last, jq: '{done: true}'}
"""
STORES = {"sqlite": "sqlite:db/pawl.db", "file": "file:db"}


def each_store(world, check):
    for name, url in STORES.items():
        world.write("ask.yaml", ASK)
        subprocess.run(["rm", "-rf", str(world.folder / "db")], check=True)
        for thread in ("t", "other"):
            world("run", "ask.yaml", "--thread", thread, "--store", url, "-q").gives(WAITING)
        check(name, url)


def others_go_on(world, url):
    world("resume", "other", "--value", "1", "--store", url).gives(DONE)


# ---- stores ----


def store_two_processes_on_one_thread(world):
    """a second process on one thread is refused, and told who has it"""
    world.write("slow.yaml", "name: slow\nnodes:\n  - {name: wait, shell: 'touch begun; sleep 60'}\n")
    for url in STORES.values():
        (world.folder / "begun").unlink(missing_ok=True)
        first = world.start("run", "slow.yaml", "--thread", "t", "--store", url)
        world.wait_for("begun")
        world("resume", "t", "--store", url).gives(BUSY).says("`t`", str(first.pid))
        world("run", "slow.yaml", "--thread", "t", "--store", url).gives(USAGE).says("`t`")
        world.cancel("t", "--store", url)
        first.communicate(timeout=TIMEOUT)
        world.same(first.returncode, FAILED, "exit code of the cancelled run")
        world.same(world("status", "t", "--json", "--store", url).json["status"], "cancelled")
        subprocess.run(["rm", "-rf", str(world.folder / "db")], check=True)


def store_of_a_newer_version(world):
    """a store that a newer version wrote is refused with both versions"""
    def check(name, url):
        if name == "sqlite":
            with sqlite3.connect(world.folder / "db" / "pawl.db") as db:
                db.execute("PRAGMA user_version = 7")
            db.close()
        else:
            path = world.folder / "db" / "format"
            path.write_text(re.sub(r"\d+", "7", path.read_text()))
        world("resume", "t", "--value", "1", "--store", url).gives(STORE).says("newer version", "7")
        world("run", "ask.yaml", "--store", url).gives(STORE).says("newer version")
    each_store(world, check)


def store_truncated(world):
    """a database that was cut off is an error that names it"""
    def check(name, url):
        path = world.folder / "db" / ("pawl.db" if name == "sqlite" else "runs/1.run")
        path.write_bytes(path.read_bytes()[:path.stat().st_size // 2])
        answer = world("resume", "t", "--value", "1", "--store", url)
        if answer.code not in (STORE, USAGE) or not answer.err.strip().endswith("."):
            raise Broken(f"no clear error: {answer}")
        if name == "file":
            others_go_on(world, url)
    each_store(world, check)


def store_flipped_bytes(world):
    """a checkpoint with flipped bytes is named, and other threads go on"""
    def check(name, url):
        if name == "sqlite":
            path = world.folder / "db" / "pawl.db"
        else:
            path = world.folder / "db" / "runs" / "1.run"
        data = bytearray(path.read_bytes())
        at = re.search(rb'[^"]recognisable', data).start() + 1  # in quotes it is the workflow's text
        data[at] ^= 0x20
        path.write_bytes(bytes(data))
        broken = [thread for thread in ("t", "other")
                  if world("show", f"{thread}@2", "--store", url).code != DONE]
        world.same(len(broken), 1, "the number of damaged threads")
        world("show", f"{broken[0]}@2", "--store", url).gives(STORE).says(
            "damaged", "2", f"`{broken[0]}`")
        world("store", "check", "--store", url).gives(FAILED).says(broken[0])
        whole = "other" if broken[0] == "t" else "t"
        world("resume", whole, "--value", "1", "--store", url).gives(DONE)
    each_store(world, check)


def store_with_rows_that_are_damaged(world):
    """`store check` finds what is wrong with the row of a run, and with what has none"""
    cases = {
        "status = 'banana'": "t: Its status, `banana`, is none",
        "status = 'failed'": "t: Its status is `failed`, which is not what checkpoint",
        "workflow = 'else'": "t: It is said to be of the workflow `else`, and is of `ask`.",
        "workflow = X'00ff'": "the row of run 1 is damaged",
        "thread = ''": "The name of run 1 is damaged.",
        "updated = 'x'": "the row of run 1 is damaged",
        "last = 1e300": "the row of run 1 is damaged",
        "cancel = 7": "the row of run 1 is damaged",
        "owner = X'ff'": "the row of run 1 is damaged",
        "run = 77": "has checkpoints of a run 1, whose row is missing",
    }
    rest = {
        "DELETE FROM runs WHERE thread = 't'": "has output of a run 1, whose row is missing",
        "UPDATE logs SET id = id + (50 << 36) WHERE id >> 36 = 1": "has output of a run 51, whose row is missing",
        "DELETE FROM sqlite_sequence": "has lost the number given last, which was at least 2",
        "DROP INDEX runs_resting; SELECT 1": "all is well",
    }
    world.write("ask.yaml", ASK.replace("jq:", "shell: 'echo printed'}\n  - {name: then, jq:", 1))
    for thread in ("t", "other"):
        world("run", "ask.yaml", "--thread", thread, "--store", STORES["sqlite"], "-q").gives(WAITING)
    with contextlib.closing(sqlite3.connect(world.folder / "db/pawl.db")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = (world.folder / "db/pawl.db").read_bytes()
    everything = {f"UPDATE runs SET {change} WHERE thread = 't'": says for change, says in cases.items()} | rest
    for sql, says in everything.items():
        subprocess.run(["rm", "-rf", str(world.folder / "db")], check=True)
        (world.folder / "db").mkdir(mode=0o700)
        (world.folder / "db/pawl.db").write_bytes(whole)
        with contextlib.closing(sqlite3.connect(world.folder / "db/pawl.db")) as db:
            db.executescript(sql)
        world("store", "check", "--store", STORES["sqlite"]).gives(DONE if "well" in says else FAILED).says(says)


def store_with_files_that_are_damaged(world):
    """`store check` finds every byte that was changed in a store of files, but those of its indices"""
    for thread in ("t", "other"):
        world.write("ask.yaml", ASK)
        world("run", "ask.yaml", "--thread", thread, "--store", STORES["file"], "-q").gives(WAITING)
    db = world.folder / "db"
    names = [path for path in db.rglob("*") if path.is_file() and path.suffix not in (".idx", ".lgx")
             and path.name not in ("lease", "format")]
    world.same(len(names), 6, "files with something in them")
    for path in names:
        whole = path.read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 16)):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x15]) + whole[at + 1:])
            world("store", "check", "--store", STORES["file"]).gives(FAILED)
        path.write_bytes(whole)
    world("store", "check", "--store", STORES["file"]).gives(DONE)


def store_in_a_read_only_folder(world):
    """a store is for its owner alone; where others are let in, reading works, writing says what to do"""
    if os.geteuid() != 0 or not world.open_to_all(NOBODY):
        return  # there is nobody to try it as

    def check(name, url):
        del name
        world("show", "t", "--json", "--store", url, user=NOBODY).gives(STORE).says("Permission denied")
        for path in [world.folder / "db", *(world.folder / "db").rglob("*")]:
            world.same(path.stat().st_mode & 0o077, 0, f"what others may do with {path.name}")
            path.chmod(0o755 if path.is_dir() else 0o644)  # its owner lets them look
        world("show", "t", "--json", "--store", url, user=NOBODY).gives(DONE)
        world("history", "t", "--json", "--store", url, user=NOBODY).gives(DONE)
        world("resume", "t", "--value", "1", "--store", url, user=NOBODY).gives(STORE).says("db")
        world("run", "ask.yaml", "--store", "sqlite:new/pawl.db", user=NOBODY).gives(STORE).says(
            "new", "--store")
        others_go_on(world, url)
    each_store(world, check)


def store_with_a_part_that_is_none(world):
    """a FIFO where a part of a store would be is refused at once, by who looks too; so is a part that others can write"""
    world.write("one.yaml", "name: one\nnodes:\n  - {name: a, jq: '{x: 1}'}\n")
    store = ("--store", "sqlite:db/pawl.db")
    world("run", "one.yaml", *store, "--thread", "t").gives(DONE)
    (world.folder / "db/pawl.db").chmod(0o666)
    world("run", "one.yaml", *store).gives(STORE).says("Others can write to db/pawl.db")
    (world.folder / "db/pawl.db").chmod(0o600)
    os.mkfifo(world.folder / "db/pawl.db-journal")
    for words in (("runs",), ("show", "t"), ("run", "one.yaml")):
        world(*words, *store).gives(STORE).says("pawl.db-journal is neither a file nor a folder")


def store_that_brings_code_along(world):
    """a view or a trigger in a database is not run: reading it ends with a sentence, and so does writing"""
    world.write("one.yaml", "name: one\nnodes:\n  - {name: a, jq: '{x: 1}'}\n")
    world("run", "one.yaml", "--store", "sqlite:db/pawl.db", "--thread", "t").gives(DONE)
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c"
    with contextlib.closing(sqlite3.connect(world.folder / "db/pawl.db")) as db:
        db.execute("PRAGMA legacy_alter_table=ON")
        columns = [row[1] for row in db.execute("PRAGMA table_info(runs)")]
        db.execute("ALTER TABLE runs RENAME TO runs_before")
        db.execute(f"CREATE VIEW runs({', '.join(columns)}) AS SELECT {', '.join(['n'] * len(columns))} "
                   f"FROM ({endless})")
        db.commit()
    for words in (("runs",), ("show", "t"), ("store", "check"), ("run", "one.yaml")):
        answer = world(*words, "--store", "sqlite:db/pawl.db")
        if answer.code <= 0 or "views or triggers" not in answer.err:
            raise Broken(f"{words}: {answer}")
    with contextlib.closing(sqlite3.connect(world.folder / "db/pawl.db")) as db:
        db.execute("DROP VIEW runs")
        db.commit()
    for words in (("runs",), ("show", "t"), ("store", "check")):
        answer = world(*words, "--store", "sqlite:db/pawl.db")
        if answer.code <= 0 or "no such table" not in answer.err:
            raise Broken(f"{words}: {answer}")


def store_that_was_planted(world):
    """a store that another user has prepared is refused, and nothing is written through its links"""
    world.write("shell.yaml", "name: s\nnodes:\n  - {name: a, shell: 'echo ran >> ran'}\n")
    stores = {"sqlite": ("sqlite:db/pawl.db", "db/pawl.db", ("", "-lease", "-work", "-wal", "-shm")),
              "file": ("file:db", "db", ("/format", "/lease", "/runs", "/threads", "/work", "/batches"))}
    folder = world.folder / "db"
    for url, start, parts in stores.values():
        for part in parts:
            subprocess.run(["rm", "-rf", str(folder)], check=True)
            folder.mkdir(mode=0o700)
            world.write("victim", "precious\n")
            (world.folder / "elsewhere").mkdir(exist_ok=True)
            target = "elsewhere" if part in ("-work", "/runs", "/threads", "/work", "/batches") else "victim"
            (world.folder / (start + part)).symlink_to(world.folder / target)
            world("run", "shell.yaml", "--store", url).gives(STORE).says("is a link", "--store")
            world.same(world.read("victim"), "precious\n", f"what {part} stands for")
            world.same(list((world.folder / "elsewhere").iterdir()), [], f"what {part} stands for")
        subprocess.run(["rm", "-rf", str(folder)], check=True)
        folder.mkdir()
        folder.chmod(0o777)
        world("run", "shell.yaml", "--store", url).gives(STORE).says("Others can write to", "--store")
        folder.chmod(0o1777)  # as /tmp is
        if start != "db":
            world("run", "shell.yaml", "--store", url, "--thread", "t").gives(DONE)
        if os.geteuid() != 0:
            continue  # only root can make files of others
        subprocess.run(["rm", "-rf", str(folder), str(world.folder / "ran")], check=True)
        world("run", "shell.yaml", "--store", url, "--thread", "t").gives(DONE)
        (world.folder / "ran").unlink()
        subprocess.run(["chown", "-R", str(NOBODY), str(folder)], check=True)
        for words in (("run", "shell.yaml"), ("resume", "t"), ("cancel", "t")):
            world(*words, "--store", url).gives(STORE).says("belongs to another user", "--store")
        world.same(world.read("ran"), "")
        world("runs", "--store", url).gives(DONE).says("t")


def store_that_is_something_else(world):
    """a file that is no store is left alone"""
    world.write("notes.txt", "these are my notes\n" * 100)
    world("runs", "--store", "sqlite:notes.txt").gives(STORE).says("notes.txt")
    world("runs", "--store", "http://example.org").gives(USAGE).says("sqlite:", "file:")
    world.same(world.read("notes.txt"), "these are my notes\n" * 100)


def store_long_run_forks_and_prunes(world):
    """a long run can be looked at anywhere, forked, pruned; the store agrees after each"""
    world.write("long.yaml", """
name: long
state: {n: 0}
config: {recursion_limit: 1000000}
nodes:
  - {name: count, jq: '{n: (.n + 1), last: (.n % 7)}'}
edges:
  - {from: count, to: __end__, when: .n >= 20000}
  - {from: count, to: count}
""")
    for url in ("sqlite:long/pawl.db", "file:longer"):
        at = ["--store", url]
        world("run", "long.yaml", "--thread", "t", *at, "-q").gives(DONE)
        for seq in (1, 2, 777, 12345, 20001):
            world.same(world("show", f"t@{seq}", "--json", *at).json["n"], seq - 1)
        before = world("history", "t", "--json", *at).out
        world("resume", "t@5000", "--set", "n=19990", *at, "-q").gives(DONE)
        after = world("history", "t", "--json", *at).json
        world.same(before.rstrip("\n]") in world("history", "t", "--json", *at).out, True,
                   "the old line is there")
        world.same(after[20001]["parent"], 5000)
        world.same(world("show", "t@20001", "--json", *at).json["n"], 20000)
        world("store", "check", *at).gives(DONE)
        world("fork", "t@700", "--thread", "copy", *at).gives(DONE)
        world.same(world("show", "copy", "--json", *at).json["n"], 699)
        world("resume", "copy", "--set", "n=19999", *at, "-q").gives(DONE)
        world("prune", "--keep-last", "100", "--thread", "t", *at).gives(DONE)
        rows = world("history", "t", "--json", *at).json
        world.same(len(rows), 100)
        world.same(world("show", f"t@{rows[0]['checkpoint']}", "--json", *at).code, DONE)
        world("show", "t@777", *at).gives(USAGE).says("777")
        world("store", "check", *at).gives(DONE)


# ---- bad workflows ----

BAD = [
    ("a missing node", "nodes:\n  - {name: a, jq: .}\nedges:\n  - {from: a, to: bee}\n", 4, "bee"),
    ("a duplicate name", "nodes:\n  - {name: a, jq: .}\n  - {name: a, jq: .}\n", 3, "`a`"),
    ("an unreachable node", "nodes:\n  - {name: a, jq: .}\n  - {name: b, jq: .}\nedges:\n"
     "  - {from: a, to: __end__}\n", 3, "never reached"),
    ("an edge from nowhere", "nodes:\n  - {name: a, jq: .}\nedges:\n  - {from: x, to: a}\n", 4, "`x`"),
    ("a bad duration", "nodes:\n  - {name: a, sleep: 5 parsecs}\n", 2, "5 parsecs"),
    ("bad jq", "nodes:\n  - {name: a, jq: '{x: }'}\n", 2, ""),
    ("an unknown kind", "nodes:\n  - {name: a, shel: ls}\n", 2, "shell"),
    ("tabs", "nodes:\n\t- name: a\n", 2, "tab"),
    ("an unknown key", "nodes:\n  - {name: a, jq: .}\nconfig: {intrrupt_before: [a]}\n", 3,
     "interrupt_before"),
    ("a second edge that is never taken", "nodes:\n  - {name: a, jq: .}\n  - {name: b, jq: .}\n"
     "edges:\n  - {from: a, to: b}\n  - {from: a, to: __end__}\n  - {from: b, to: __end__}\n", 6,
     "to: ["),
]


def make_bad(title, text, line, word):
    def case(world):
        world.write("bad.yaml", text)
        answer = world("check", "bad.yaml").gives(1)
        place = re.search(r"^bad\.yaml:(\d+):(\d+): error", answer.out + answer.err, re.M)
        if not place:
            raise Broken(f"no place: {answer}")
        world.same(int(place.group(1)), line, "the line")
        answer.says(word, "^")
        world.same(world("check", "bad.yaml", "--json").gives(1).json[0]["line"], line)
        world("run", "bad.yaml").gives(USAGE)
    case.__doc__ = f"pawl check names line and column of {title}"
    return case


BADS = [make_bad(*row) for row in BAD]


def bad_huge_file(world):
    """a file of 100 MB is refused at once"""
    with open(world.folder / "huge.yaml", "w", encoding="utf-8") as out:
        out.write("nodes:\n")
        for _ in range(100):
            out.write("  - {name: a, jq: .}\n" * 50000)
    world("check", "huge.yaml").says("huge.yaml", "16 MB")


def bad_anchor_bomb(world):
    """an anchor bomb is refused at once"""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for i in range(1, 12):
        lines.append(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]")
    world.write("bomb.yaml", "\n".join([*lines, "nodes: *a11", ""]))
    world("check", "bomb.yaml").gives(1).says("bomb.yaml:")


def bad_timeouts_of_expressions(world):
    """jq and Lua that loop are ended when the node's timeout is over"""
    for work in ("jq: 'last(range(1e12))'", "jq: '[range(1e8) | tostring] | length'", "jq: '{a: (def f: f; f)}'",
                 "lua: 'while true do end'", "shell: 'echo {{ last(range(1e12)) }}'"):
        world.write("late.yaml", f"name: late\nnodes:\n  - {{name: a, {work}, timeout: 100ms}}\n")
        begin = time.monotonic()
        answer = world("run", "late.yaml", "--store", "memory:").gives(FAILED)
        if "shell" not in work:
            answer.says("It took longer than its timeout of 0.1 s")
        if time.monotonic() - begin > 8:
            raise Broken(f"{work} took {time.monotonic() - begin:.1f} s")


def bad_cycle(world):
    """a cycle without an exit ends at the recursion limit, with the names of its nodes"""
    world.write("cycle.yaml", """
nodes:
  - {name: ping, jq: '{n: ((.n // 0) + 1)}'}
  - {name: pong, jq: '{}'}
edges:
  - {from: ping, to: pong}
  - {from: pong, to: ping}
""")
    answer = world("run", "cycle.yaml", "--json").gives(FAILED)
    world.same(answer.json["error"]["kind"], "recursion")
    answer.says("`ping`", "`pong`", "recursion_limit")


# ---- hostile commands ----


def run_shell(world, command, extra=""):
    world.write("cmd.sh", command)
    world.write("shell.yaml", f"name: shell\nnodes:\n  - {{name: cmd, shell: . ./cmd.sh{extra}}}\n")
    begun = time.monotonic()
    answer = world("run", "shell.yaml", "--thread", f"t{begun}", "--json")
    return answer, time.monotonic() - begun


def shell_that_prints_a_gigabyte(world):
    """a command that prints 1 GB ends, and what is kept of it is bounded"""
    answer, _ = run_shell(world, "head -c 1000000000 /dev/zero | tr '\\0' 'x'")
    state = answer.gives(DONE).json["state"]
    world.same((len(state["stdout"]), state["truncated"], state["stdout_bytes"]),
               (1 << 20, True, 1000000000))
    size = sum(p.stat().st_size for p in world.folder.rglob("*") if p.is_file())
    if size > 20 << 20:
        raise Broken(f"{size} bytes are left in the folder")


def shell_that_ignores_sigterm(world):
    """a command that ignores SIGTERM is killed when its time is up"""
    answer, took = run_shell(world, "trap '' TERM; while :; do sleep 1; done", ", timeout: 300ms")
    error = answer.gives(FAILED).json["error"]
    world.same((error["kind"], "exit_code" in error, "signal" in error), ("timeout", False, False))
    if took > 60:
        raise Broken(f"it took {took:.0f} s")


def shell_that_leaves_children_behind(world):
    """a command that leaves a child behind with its output open does not hold up the run"""
    answer, took = run_shell(world, "sleep 300 & echo $! > child; echo done")
    world.same(answer.gives(DONE).json["state"]["stdout"], "done")
    if took > 60:
        raise Broken(f"it took {took:.0f} s")
    child = int(world.read("child"))
    world.until(lambda: not os.path.exists(f"/proc/{child}"), "the child is gone")


def shell_that_closes_its_output(world):
    """a command that closes its output early is waited for all the same"""
    answer, _ = run_shell(world, "echo said; exec >&- 2>&-; sleep 0.3; touch finished")
    world.same(answer.gives(DONE).json["state"]["stdout"], "said")
    world.same((world.folder / "finished").exists(), True)


# ---- being told to stop ----


def stop_with_ctrl_c(world):
    """Ctrl-C leaves the run resumable and says how"""
    world.write("slow.yaml", "name: slow\nnodes:\n"
                "  - {name: once, shell: echo once >> ran}\n"
                "  - {name: wait, shell: 'touch begun; if [ -e again ]; then :; else sleep 60; fi'}\n")
    first = world.start("run", "slow.yaml", "--thread", "t")
    world.wait_for("begun")
    first.send_signal(signal.SIGINT)
    _, err = first.communicate(timeout=TIMEOUT)
    world.same(first.returncode, WAITING, "the exit code")
    if "pawl resume t" not in err:
        raise Broken(f"it does not say how to resume: {err}")
    world.write("again", "")
    world("resume", "t").gives(DONE)
    world.same(world.read("ran"), "once\n", "what ran")


def shell_cannot_look_into_the_engine(world):
    """a command cannot read the memory, environment or descriptors of the engine, unless that is asked for"""
    user = NOBODY if os.geteuid() == 0 else None  # root may look at everything
    if user and not world.open_to_all(user):
        return  # there is nobody to try it as
    world.folder.chmod(0o777)
    world.write("look.yaml", """
nodes:
  - name: look
    shell: |
      engine=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$PPID/status)
      for f in environ maps mem auxv smaps; do head -c 1 /proc/$engine/$f >/dev/null 2>&1 && echo $f; done
      ls /proc/$engine/fd >/dev/null 2>&1 && echo fd
      head -c 1 /proc/$$/environ >/dev/null && echo own
    output: seen
""")
    for env, want in ((None, ["own"]), ({"PAWL_DUMPABLE": "1"}, ["environ", "maps", "auxv", "smaps", "fd", "own"])):
        answer = world("run", "look.yaml", "--store", "memory:", user=user, env=env).gives(DONE)
        seen = [word for word in answer.json["seen"]["stdout"].split() if word != "mem"]  # its first byte is unmapped
        world.same(seen, want, "what a command sees of the engine")


def stop_not_under_nohup(world):
    """a run under nohup goes on when its terminal closes"""
    world.write("slow.yaml", "nodes:\n  - {name: wait, shell: 'touch begun; "
                "until [ -e go ]; do sleep 0.02; done'}\n")
    words = ["env", "--ignore-signal=HUP", world.pawl, "run", "slow.yaml", "--thread", "t"]
    with subprocess.Popen(words, cwd=world.folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        world.wait_for("begun")
        process.send_signal(signal.SIGHUP)
        world.write("go", "")
        world.same(process.wait(TIMEOUT), DONE, "the exit code")


def bad_workflow_that_is_no_file(world):
    """a FIFO as a workflow, or as a part of one, is refused at once; a pipe that a shell opens is read"""
    os.mkfifo(world.folder / "pipe.yaml")
    world.write("around.yaml", "nodes:\n  - {name: a, workflow: pipe.yaml}\n")
    world("check", "pipe.yaml").gives(USAGE).says("not a regular file")
    world("check", "around.yaml").gives(FAILED).says("not a regular file")
    world("check", "/dev/stdin", stdin="nodes:\n  - {name: a, jq: .}\n").gives(DONE)


def bad_export_or_commands_that_are_no_file(world):
    """a FIFO or a device as an export, or as a file of commands, is refused at once; a pipe is read"""
    os.mkfifo(world.folder / "pipe")
    world.write("a.yaml", "nodes:\n  - {name: a, jq: '{x: 1}'}\n")
    for path in ("pipe", "/dev/zero", "."):
        world("debug", "--open", path).gives(USAGE).says("a regular file is expected")
        world("debug", "a.yaml", "--store", "memory:", "-x", path).gives(USAGE).says(
            "a regular file is expected")
    for words in (("run", "a.yaml", "--input", "@pipe"), ("eval", "-n", "-f", "pipe"), ("eval", "-n", "--rawfile", "a", "pipe", ".")):
        world(*words).gives(USAGE).says("pipe is a FIFO, and a regular file is expected")
    world("run", "a.yaml", "--store", "memory:", "-q", "--input", "@/dev/stdin", stdin='{"y": 2}').gives(DONE)
    world("debug", "a.yaml", "--store", "memory:", "-x", "/dev/stdin", stdin="print 6 * 7\n").says("42")
    world("debug", "--open", "/dev/stdin", stdin="{}").gives(USAGE).says("pawl debug:")


def bad_part_that_is_no_workflow(world):
    """a file that a workflow names and that is none is not shown"""
    world.write("secret", "password: hunter2\n- [\n")
    world.write("around.yaml", "nodes:\n  - {name: a, workflow: secret}\n")
    answer = world("check", "around.yaml").gives(FAILED).says("`secret` is not a workflow")
    if "hunter2" in answer.out + answer.err or "password" in answer.out + answer.err:
        raise Broken(str(answer))


def bad_aliases_of_a_large_text(world):
    """aliases count by the bytes that they stand for"""
    world.write("bomb.yaml", "nodes:\n  - {name: a, jq: .}\nstate:\n  a: &a '%s'\n  b: [%s]\n"
                % ("x" * 900000, ",".join(["*a"] * 2000)))
    world("check", "bomb.yaml").gives(FAILED).says("aliases followed")


if __name__ == "__main__":
    here = sys.modules["__main__"]
    cases = (cases_of(here, "store_") + BADS + cases_of(here, "bad_") + cases_of(here, "shell_")
             + cases_of(here, "stop_"))
    sys.exit(run_all(cases, sys.argv[1]))
