#!/usr/bin/env python3
"""Secrets: given to work, and found nowhere else. Prints TAP.

    tests/engine/secrets.py PAWL
"""

import base64
import json
import os
import pty
import shutil
import signal
import stat
import subprocess
import sys
import termios
import urllib.parse
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from world import Broken, DONE, FAILED, TIMEOUT, USAGE, WAITING, run_all  # noqa: E402

TOKEN = 'hunter2/t0k+n "quoted" \u00e9'
PLAIN = "pl4in-s3cret-value-0815"
ENV = {"PAWL_SECRET_TOKEN": TOKEN, "PAWL_SECRET_PLAIN": PLAIN}
STORES = ("file:runs", "sqlite:runs.db")


def forms(value):
    """What must be nowhere: as it is, encoded, and large parts of it."""
    raw = value.encode()
    found = [raw, urllib.parse.quote(value, safe="").encode(), json.dumps(value).encode()[1:-1],
             json.dumps(value, ensure_ascii=False).encode()[1:-1], raw[:8], raw[-8:]]
    for before in range(3):  # what encodes the value alone, wherever it stands
        encoded = base64.b64encode(b"x" * before + raw)
        found.append(encoded[4 if before else 0:][:12])
    return found


def search(world, *texts, values=(TOKEN, PLAIN)):
    """Looks in every file below the folder of the case, and in the texts."""
    places = [(str(path), path.read_bytes()) for path in world.folder.rglob("*")
              if path.is_file() and not path.is_symlink() and path.name not in ("pawl", "given")]
    places += [(f"text {i}", text.encode()) for i, text in enumerate(texts)]
    for where, data in places:
        for value in values:
            for form in forms(value):
                if form in data:
                    at = data.index(form)
                    raise Broken(f"{form!r} is in {where}: {data[max(0, at - 80):at + 80]!r}")


def look_everywhere(world, thread, store, *more):
    """Everything that tells of a run, and every file."""
    asked = [("status", thread, "--json"), ("history", thread, "--json"), ("history", thread), ("runs", "--json"),
             ("show", thread), ("show", thread, "--json"), ("store", "check", "--json"),
             ("logs", thread), ("logs", thread, "--json")]
    texts = list(more)
    for words in asked:
        answer = world(*words, "--store", store)
        texts += [answer.out, answer.err]
    search(world, *texts)
    return texts


@contextmanager
def server(world):
    """tests/http_server.py; its ports."""
    script = Path(__file__).resolve().parents[1] / "http_server.py"
    folder = world.folder.parent / (world.folder.name + "-http")
    folder.mkdir()
    with subprocess.Popen([sys.executable, script, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.stdin.close()
            process.wait(TIMEOUT)
            subprocess.run(["rm", "-rf", folder], check=True)


# ---- commands and scripts ----


PRINTS = r"""
name: prints
nodes:
  - name: command
    shell: |
      test ${#TOKEN} -gt 20 || exit 7
      echo "token is $TOKEN"
      echo "user:$TOKEN" | base64
      printf %s "$TOKEN" | base64 -w 12
      echo "and $PLAIN on stderr" >&2
      for c in p l 4 i n - s 3 c r e t - v a l u e - 0 8 1 5; do printf %s $c; sleep 0.005; done
      echo; cat
    env: {TOKEN: $secrets.TOKEN, PLAIN: '"x" + $secrets.PLAIN'}
    stdin: '{a: $secrets.TOKEN}'
    output: command
  - name: parsed
    shell: 'printf "{\"token\": \"%s\", \"n\": [1, {\"%s\": 2}]}" "$PLAIN" "$PLAIN"'
    parse: json
    env: {PLAIN: $secrets.PLAIN}
    output: parsed
  - name: late
    shell: 'echo "what a file has: $(cat given)"'
    output: late
  - name: python
    python: |
      print("python has", env["T"])
      log("logs", env["T"])
      return {"python": {"token": env["T"], env["T"]: [env["T"].upper()]}}
    env: {T: $secrets.TOKEN}
"""


def values_are_nowhere(world):
    """what commands and scripts print of a secret is hidden in the store, in events and in results"""
    world.write("prints.yaml", PRINTS)
    world.write("given", PLAIN)
    for store in STORES:
        for stream in ("events", "values", "debug"):
            thread = f"t-{stream}"
            ran = world("run", "prints.yaml", "--store", store, "--thread", thread, "--stream", stream, env=ENV)
            ran.gives(DONE)
            look_everywhere(world, thread, store, ran.out, ran.err)
        state = ran.lines[-1]["state"]
        world.same(state["parsed"], {"token": "***", "n": [1, {"***": 2}]}, "what was parsed")
        world.same(state["late"]["stdout"], "what a file has: ***", "what another node prints")
        world.same("token is ***\n" in state["command"]["stdout"], True, "what the command printed")
        world.same(state["command"]["stdout"].endswith('\n{"a":"***"}'), True, "what it read")
        world.same(state["python"]["token"], "***", "what the script gave back")


def exports_and_debuggers(world):
    """a debugger shows no secret: config, logs, state, errors, exports"""
    world.write("prints.yaml", PRINTS)
    world.write("given", PLAIN)
    commands = "\n".join(["break command", "break python", "config", "config --json", "print .", "info error", "next",
                          "config", "eval $secrets.TOKEN", "watch $secrets.TOKEN", "watch .command",
                          "break late if $secrets.PLAIN == 1", "continue", "config", "print .command", "logs",
                          "history", "export run.json", "continue", "print .", "export all.json"]) + "\n"
    told = world("debug", "prints.yaml", "--store", "file:runs", "--thread", "d", "-x", "-", stdin=commands, env=ENV)
    told.says("***", "$secrets cannot be used here")
    world.same("Watch 1: $secrets" in told.out, False, "a watch of a secret is taken")
    look_everywhere(world, "d", "file:runs", told.out, told.err)
    told = world("debug", "prints.yaml", "--store", "sqlite:runs.db", "--thread", "d", "--json", "-x", "-",
                 stdin=commands, env=ENV)
    look_everywhere(world, "d", "sqlite:runs.db", told.out, told.err)


FAILS = r"""
  - name: a
    shell: 'head -c 3000 /dev/zero | tr "\0" x >&2; echo "no: $TOKEN" >&2; exit 3'
    env: {TOKEN: $secrets.TOKEN}
  - {name: b, run: 'raise ValueError("bad " + env["T"])', env: {T: $secrets.TOKEN}}
  - {name: c, javascript: 'throw new Error("bad " + env.T)', env: {T: $secrets.TOKEN}}
  - {name: d, http: 'http://127.0.0.1:1/\($secrets.PLAIN)?q=\($secrets.TOKEN | @uri)', output: d}
  - {name: e, http: '\("ftp")://\($secrets.PLAIN)/', output: e}
  - {name: f, shell: 'true', env: {A: '$secrets.TOKEN + 1'}}
  - {name: g, shell: 'true', env: {A: 'error($secrets.PLAIN)'}}
  - {name: h, shell: 'exit 1', env: {A: '$secrets.PLAIN'}, retry: {attempts: 2, delay: 10ms}}
  - {name: i, shell: 'echo "{$TOKEN"', parse: json, env: {TOKEN: $secrets.PLAIN}, output: i}
"""


def errors_have_none(world):
    """errors name no secret: exit codes, tracebacks, URLs, expressions that fail"""
    for name in "abcdefghi":  # each by itself, as the error of its run
        world.write(f"{name}.yaml", "nodes:\n" + block_of(name))
        for store in STORES:
            ran = world("run", f"{name}.yaml", "--store", store, "--thread", name, "--stream", "events", env=ENV)
            ran.gives(FAILED)
            look_everywhere(world, name, store, ran.out, ran.err)


def block_of(name):
    """The lines of a node of FAILS."""
    blocks = FAILS.split("\n  - ")[1:]
    return "  - " + next(b for b in blocks if b.startswith((f"name: {name}\n", f"{{name: {name},"))) + "\n"


def cut_texts_have_no_part_of_one(world):
    """where output is cut, no part of a secret is left: the end of stderr, of long lines, of what is kept"""
    world.write("cut.yaml", r"""
nodes:
  - name: cut
    shell: |
      i=0; while [ $i -lt 300 ]; do printf "%s" "$P"; i=$((i + 1)); done
      i=0; while [ $i -lt 300 ]; do printf "%s" "$P" >&2; i=$((i + 1)); done
      printf x; printf yz >&2
      exit 1
    max_output: MAX
    env: {P: $secrets.PLAIN}
""")
    text = world.read("cut.yaml")
    for size in (1000, 1001, 1007, 1013, 7000):
        world.write("cut.yaml", text.replace("MAX", str(size)))
        ran = world("run", "cut.yaml", "--store", "file:runs", "--stream", "events", env=ENV).gives(FAILED)
        search(world, ran.out, ran.err)


# ---- requests ----


def requests_carry_secrets(world):
    """url, headers and body carry a secret to the server, and what it repeats is hidden"""
    with server(world) as ports:
        world.write("asks.yaml", f"""
name: asks
nodes:
  - name: ask
    http: 'http://127.0.0.1:{ports["http"]}/echo?p=\\($secrets.PLAIN)&t=\\($secrets.TOKEN | @uri)'
    headers:
      Authorization: '"Basic " + ("user:" + $secrets.PLAIN | @base64)'
      X-Plain: $secrets.PLAIN
    body: '{{token: $secrets.TOKEN, n: 1}}'
    output: answer
  - name: wrong
    http: 'http://127.0.0.1:{ports["http"]}/status/500'
    headers: {{X-Plain: $secrets.PLAIN}}
    body: $secrets.TOKEN
    output: none
""")
        given = {"TOKEN": TOKEN, "PLAIN": PLAIN}
        for store in STORES:
            ran = world("run", "asks.yaml", "--store", store, "--thread", "t", "--stream", "events", env=ENV)
            ran.gives(FAILED)
            look_everywhere(world, "t", store, ran.out, ran.err)
            body = ran.lines[-1]["state"]["answer"]["body"]
            world.same(json.loads(body["body"])["token"] if isinstance(body["body"], str) else body["body"]["token"],
                       "***", "the body that the server repeats")
            world.same(body["headers"]["x-plain"], "***", "the header that it repeats")
        # The server really got them: it says so in what only it can know, the length.
        world.write("count.yaml", f"""
nodes:
  - name: ask
    http: 'http://127.0.0.1:{ports["http"]}/echo'
    headers: {{X-Plain: $secrets.PLAIN}}
    body: $secrets.PLAIN
    output: answer
  - {{name: see, jq: '{{length: .answer.body.headers["content-length"]}}'}}
""")
        ran = world("run", "count.yaml", "--store", "memory:", env=ENV).gives(DONE)
        world.same(str(ran.json["length"]), str(len(given["PLAIN"])), "the length of the body")


def checks_carry_secrets(world):
    """tasks carry secrets in envVars, arguments, and in url, headers and body of checks"""
    with server(world) as ports:
        world.write("test.yaml", f"""
id: test
config: {{user: me}}
tasks:
  - name: run_shell
    id: shell
    config:
      command: |
        echo "has $TOKEN"
        echo "::set-var printed $TOKEN"
        echo "::set-output-json printed {{\\"a\\": $TOKEN}}"
      envVars: {{TOKEN: $secrets.TOKEN}}
  - {{name: run_command, id: command, configVars: {{command: '| ["echo", "arg", $secrets.PLAIN]'}}}}
  - {{name: run_command, id: words, configVars: {{command: '| ["echo", $secrets.PLAIN, "x\\($secrets.PLAIN)y"]'}}}}
  - {{name: run_javascript, id: js, config: {{script: 'console.log(env.T); setVar("js", env.T); return {{t: env.T}}',
      envVars: {{T: $secrets.TOKEN}}}}}}
  - name: check_http_json
    id: check
    config:
      method: POST
      assertions:
        - {{name: mixed, query: '.headers["x-mixed"]', operator: contains, value: Bearer}}
        - {{name: plain, query: '.headers["x-plain"] | length', operator: eq, value: {len(PLAIN)}}}
    configVars:
      url: '| "http://127.0.0.1:{ports["http"]}/echo?k=" + $secrets.PLAIN'
      headers: '| {{"X-Plain": $secrets.PLAIN, "X-Mixed": "Bearer \\($secrets.PLAIN)"}}'
      body: '| {{token: $secrets.TOKEN}}'
""")
        for store in STORES:
            ran = world("run", "test.yaml", "--store", store, "--thread", "t", "--stream", "events", env=ENV)
            ran.gives(DONE)
            look_everywhere(world, "t", store, ran.out, ran.err)
            state = ran.lines[-1]["state"]
            world.same(state["tasks"]["command"]["outputs"]["stdout"], "arg ***", "the arguments")
            world.same(state["tasks"]["words"]["outputs"]["stdout"], "*** x***y", "the words")
            world.same(state["js"], "***", "the variable")
            world.same(state["tasks"]["check"]["outputs"]["values"]["mixed"], "Bearer ***", "the header")


def pipelines_have_them(world):
    """steps of a pipeline get secrets by env"""
    world.write("ci.yaml", """
steps:
  - {name: Build, type: script, config: {command: 'echo "$TOKEN"; echo "$TOKEN" | base64; test "$CI" = true',
      env: {TOKEN: $secrets.PLAIN, LEVEL: '"1"'}}}
  - {name: Fails, type: script, config: {command: 'echo "$T" >&2; exit 4', env: {T: $secrets.TOKEN}}, on_failure: next}
""")
    for store in STORES:
        ran = world("run", "ci.yaml", "--store", store, "--thread", "t", "--stream", "events", env=ENV).gives(DONE)
        look_everywhere(world, "t", store, ran.out, ran.err)
        world.same(ran.lines[-1]["state"]["steps"]["build"]["stdout"].startswith("***\n***"), True, "what it printed")


def models_get_their_key(world):
    """the key of a model is a secret; what the API repeats of it is hidden, and so is what a script asks a person"""
    with server(world) as ports:
        world.write("model.yaml", f"""
nodes:
  - name: model
    action: Say something
    model: some
    endpoint: 'http://127.0.0.1:{ports["http"]}/echo?k=\\($secrets.PLAIN)'
    key: $secrets.PLAIN
    attempts: 1
    backoff: 10ms
""")
        world.write("asks.yaml", "nodes:\n  - {name: ask, python: 'return {\"a\": interrupt({\"is\": env[\"T\"]})}', "
                    "env: {T: $secrets.TOKEN}}\n")
        for store in STORES:
            for name in ("model", "asks"):
                ran = world("run", f"{name}.yaml", "--store", store, "--thread", name, "--stream", "events", env=ENV)
                ran.gives(WAITING)
                look_everywhere(world, name, store, ran.out, ran.err)
            ran = world("run", "model.yaml", "--store", "memory:", "--json")
            ran.says("There is no secret PLAIN.")


def tasks_in_a_debugger(world):
    """the config of tasks and requests is shown with *** for secrets"""
    world.write("test.yaml", """
id: test
tasks:
  - {name: run_command, configVars: {command: '| ["echo", "x" + $secrets.PLAIN]'}}
  - {name: run_shell, config: {command: 'true', envVars: {T: $secrets.TOKEN}}}
  - {name: check_http_json, config: {failOnCheckMiss: true}, configVars: {url: '| "http://127.0.0.1:1/" + $secrets.PLAIN'}}
""")
    told = world("debug", "test.yaml", "--store", "file:runs", "--thread", "d", "-x", "-",
                 stdin="config\nnext\nconfig\nnext\nconfig\nnext\ninfo error\nlogs\n", env=ENV)
    told.says("x***", '"T":"***"', "http://127.0.0.1:1/***")
    look_everywhere(world, "d", "file:runs", told.out, told.err)


def injected_nodes(world):
    """a node that a debugger puts in may use a secret that the workflow does not"""
    world.write("plain.yaml", "nodes:\n  - {name: a, jq: .}\n  - {name: b, shell: 'cat given'}\n")
    world.write("given", PLAIN)
    node = '{"shell": "echo $T", "env": {"T": "$secrets.PLAIN"}, "output": "seen"}'
    wrong = '{"jq": "{a: $secrets.PLAIN}"}'
    told = world("debug", "plain.yaml", "--store", "file:runs", "--thread", "d", "-x", "-", env=ENV,
                 stdin=f"inject before {wrong}\ninject before {node}\nnext\nnext\nprint .\ncontinue\n")
    told.says("$secrets cannot be used here", "***")
    look_everywhere(world, "d", "file:runs", told.out, told.err)


# ---- where they come from ----


ONE = "nodes:\n  - {name: a, shell: 'printf %s \"$T\" | wc -c', env: {T: $secrets.ONE}, output: a}\n"


def sources_in_order(world):
    """a folder goes before variables, and those before the store"""
    world.write("one.yaml", ONE)
    key = {"PAWL_KEY_FILE": str(world.folder / "keys" / "key")}

    def length(*options, **env):
        ran = world("run", "one.yaml", "--store", "file:runs", *options, env={**key, **env}).gives(DONE)
        return int(ran.json["a"]["stdout"])

    world("secret", "set", "ONE", "--store", "file:runs", stdin="in the store\n", env=key).gives(DONE)
    world.same(length(), 12, "of the store")
    world.same(length(PAWL_SECRET_ONE="environment"), 11, "of the environment")
    world.write("given/ONE", "in the folder!\n")
    world.same(length("--secrets", "given", PAWL_SECRET_ONE="environment"), 14, "of the folder")
    (world.folder / "given" / "ONE").chmod(0o666)
    world("run", "one.yaml", "--store", "file:runs", "--secrets", "given", env=key).gives(FAILED).says(
        "The secret ONE cannot be read from the folder given.")
    world("secret", "remove", "ONE", "--store", "file:runs", env=key).gives(DONE)
    world("run", "one.yaml", "--store", "file:runs", env=key).gives(FAILED).says(
        "There is no secret ONE.", "pawl secret set ONE --store file:runs", "PAWL_SECRET_ONE", "--secrets")


def missing_ones(world):
    """a missing secret is an error of kind `secret` that names it, and a later resume finds it"""
    world.write("one.yaml", ONE)
    ran = world("run", "one.yaml", "--thread", "t", "--json").gives(FAILED)
    error = ran.lines[-1]["error"] if "error" in ran.lines[-1] else ran.json["error"]
    world.same((error["kind"], error["secret"], error["node"]), ("secret", "ONE", "a"), "the error")
    world("resume", "t", env={"PAWL_SECRET_ONE": "value"}).gives(DONE)
    for value, says in (("abc", "fewer than 4 bytes"), ("", "fewer than 4 bytes")):
        world("run", "one.yaml", "--store", "memory:", env={"PAWL_SECRET_ONE": value}).gives(FAILED).says(says)


def never_inherited(world):
    """what is in the environment of pawl as a secret is not in that of its commands"""
    world.write("env.yaml", "nodes:\n  - {name: a, shell: env, env: {T: $secrets.PLAIN}, output: a}\n")
    ran = world("run", "env.yaml", "--store", "file:runs", env=ENV).gives(DONE)
    world.same("PAWL_SECRET" in ran.out, False, "a secret is inherited")
    search(world, ran.out, ran.err)


def forms_and_parts(world):
    """a secret that is JSON or has lines is hidden in parts, too"""
    secret = json.dumps({"user": "me", "password": "swordfish-0815"})
    pem = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n9w0BAQEFAASCBKcwggSj\n-----END KEY-----"
    world.write("parts.yaml", """
nodes:
  - {name: a, shell: 'echo "$P"', env: {P: '$secrets.DOC | fromjson | .password'}, output: a}
  - {name: b, shell: 'echo "$P" | sed -n "s/^/  /;2p"', env: {P: $secrets.PEM}, output: b}
""")
    ran = world("run", "parts.yaml", "--store", "file:runs",
                env={"PAWL_SECRET_DOC": secret, "PAWL_SECRET_PEM": pem}).gives(DONE)
    world.same(ran.json["a"]["stdout"], "***", "a part of a document")
    world.same(ran.json["b"]["stdout"], "  ***", "a line of several")
    search(world, ran.out, ran.err, values=("swordfish-0815", "MIIEvQIBADANBgkqhkiG"))


# ---- the store's own ----


def the_secret_command(world):
    """`pawl secret` sets, lists and removes; the value comes from standard input alone"""
    env = {"HOME": str(world.folder), "PAWL_STORE": "file:runs"}
    world("secret", "set", "A", stdin="first secret\n", env=env).gives(DONE).says("made the key")
    world("secret", "set", "B", stdin="second\nsecret", env=env).gives(DONE)
    world.same(world("secret", "list", env=env).gives(DONE).out, "A\nB\n", "the list")
    world.same([one["name"] for one in world("secret", "list", "--json", env=env).json], ["A", "B"], "as JSON")
    key = world.folder / ".config/pawl/key"
    world.same(stat.S_IMODE(key.stat().st_mode), 0o600, "the mode of the key file")
    world.same(stat.S_IMODE(key.parent.stat().st_mode), 0o700, "the mode of its folder")
    search(world, values=("first secret", "second\nsecret"))
    for path in (world.folder / "runs").rglob("*"):
        world.same(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, f"rights of others to {path}")
    world("secret", "remove", "A", env=env).gives(DONE)
    world("secret", "remove", "A", env=env).gives(USAGE).says("The store has no secret A.", "pawl secret list")
    for words in ((), ("put", "A"), ("set",), ("list", "A"), ("set", "1A"), ("set", "A-B"), ("set", "A", "value")):
        world("secret", *words, stdin="text", env=env).gives(USAGE)
    for value, says in (("abc\n", "3 bytes"), ("x" * 70000, "64 KB"), ("a\0bcdef", "NUL")):
        world("secret", "set", "C", stdin=value, env=env).gives(USAGE).says(says)
    world("secret", "set", "C", "--store", "memory:", stdin="value", env=env).gives(USAGE)


def refused_ones_leave_nothing(world):
    """a secret that cannot be kept makes no store; one for a store that is not there makes it"""
    env = {"HOME": str(world.folder)}
    world.write("open/key", "")
    (world.folder / "open/key").chmod(0o644)
    world.write("file", "")
    for store, made in (("sqlite:new/pawl.db", "new"), ("file:new", "new")):
        for words, value in ((("1A",), "value"), (("A",), "abc"), (("A",), "a\0bcdef"),
                             (("A", "--key-file", "open/key"), "value"), (("A", "--key-file", "file/key"), "value")):
            world("secret", "set", *words, "--store", store, stdin=value, env=env)
            world.same((world.folder / made).exists(), False, f"what {words} with {value!r} has made")
        world("secret", "set", "A", "--store", store, stdin="value", env=env).gives(DONE)
        world.same(world("secret", "list", "--store", store, env=env).gives(DONE).out, "A\n", "the list")
        shutil.rmtree(world.folder / made)
    world("secret", "set", "A", "--store", "file:file/store", stdin="value", env=env, ).says("pawl secret: ")


def typed_in(world):
    """at a terminal `pawl secret set` asks, and shows nothing of what is typed"""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(world.folder)
        words = ["pawl", "secret", "set", "TYPED", "--store", "file:runs", "--key-file", "key"]
        os.execve(world.pawl, words, os.environ)
    shown = b""
    while b"Value: " not in shown:
        shown += os.read(terminal, 1000)
    world.until(lambda: not termios.tcgetattr(terminal)[3] & termios.ECHO, "the terminal shows nothing")
    os.write(terminal, PLAIN.encode() + b"\n")
    try:
        while more := os.read(terminal, 1000):
            shown += more
    except OSError:
        pass  # it has ended
    os.close(terminal)
    world.same(os.waitpid(pid, 0)[1], 0, "the exit code")
    world.write("one.yaml", ONE.replace("ONE", "TYPED"))
    ran = world("run", "one.yaml", "--store", "file:runs", "--key-file", "key").gives(DONE)
    world.same(ran.json["a"]["stdout"], str(len(PLAIN)), "the length of the value")
    search(world, shown.decode(), ran.out)


def keys_are_guarded(world):
    """a key file that is lost, another, damaged or open to others is refused, with what to do"""
    env = {"HOME": str(world.folder), "PAWL_STORE": "sqlite:runs.db"}
    world.write("one.yaml", ONE)
    world("secret", "set", "ONE", stdin="the value", env=env).gives(DONE)
    world("run", "one.yaml", env=env).gives(DONE)
    key = world.folder / ".config/pawl/key"
    right = key.read_text()

    def refused(*parts):
        world("run", "one.yaml", env=env).gives(FAILED).says(*parts)
        world("secret", "set", "TWO", stdin="another", env=env).gives(FAILED).says(*parts)

    key.chmod(0o644)
    refused("can be used by others: its mode is 0644", "chmod 600")
    key.chmod(0o600)
    key.write_text(right[:20] + ("0" if right[20] != "0" else "1") + right[21:])
    refused("holds another key", "--key-file")
    key.write_text(right[:40])
    refused("holds no key")
    key.unlink()
    refused("is not there", "Put it back")
    world.same(world("secret", "list", env=env).gives(DONE).out, "ONE\n", "the list needs no key")
    elsewhere = world.write("elsewhere", right)
    elsewhere.chmod(0o600)
    world("run", "one.yaml", "--key-file", "elsewhere", env=env).gives(DONE)
    for path in world.folder.rglob("secrets"):
        kept = json.loads(path.read_text())
        value = base64.b64decode(kept["secrets"]["ONE"]["value"])
        kept["secrets"]["ONE"]["value"] = base64.b64encode(value[:-1] + bytes([value[-1] ^ 1])).decode()
        path.write_text(json.dumps(kept))
    world("run", "one.yaml", "--key-file", "elsewhere", env=env).gives(FAILED).says("damaged")


# ---- other processes ----


def a_resume_needs_them_again(world):
    """the record keeps names alone: a resume in another process needs the value"""
    world.write("wait.yaml", """
nodes:
  - {name: first, shell: 'echo "$T"', env: {T: $secrets.PLAIN}, output: first}
  - {name: ask, approval: 'go on?'}
  - {name: then, shell: 'echo "$T"', env: {T: $secrets.PLAIN}, output: then}
""")
    world("run", "wait.yaml", "--thread", "t", "-q", env=ENV).gives(WAITING)
    world("resume", "t", "--value", "1").gives(FAILED).says("There is no secret PLAIN.")
    ran = world("resume", "t", env=ENV).gives(DONE)
    world.same(ran.json["then"]["stdout"], "***", "what it printed")
    search(world, ran.out, ran.err)


def work_under_way_is_kept(world):
    """a resume without the secret of a command that still runs is refused, and costs it nothing"""
    world.write("w.yaml", """
nodes:
  - name: a
    shell: 'echo begun >> marks; until [ -e go ]; do sleep 0.02; done; echo ended >> marks; echo $T'
    env: {T: $secrets.PLAIN}
    output: a
""")
    for store in ("file:runs", "sqlite:runs.db"):
        world.write("given/PLAIN", PLAIN)
        process = world.start("run", "w.yaml", "--thread", "t", "--store", store, "--secrets", "given")
        world.wait_for("marks")
        process.kill()
        process.communicate(timeout=TIMEOUT)
        world("resume", "t", "--store", store).gives(FAILED).says("`a`", "was under way", "There is no secret PLAIN.")
        world.same(world("status", "t", "--store", store, "--json").json["status"], "stopped")
        world.write("go", "")
        world("resume", "t", "--store", store, "-q", env=ENV).gives(DONE)
        world.same((world.folder / "marks").read_text(), "begun\nended\n", "how often it ran")
        (world.folder / "marks").unlink()
        (world.folder / "go").unlink()


def is_closed_to_others(world):
    """stores, their sockets and the places of commands are for their owner alone"""
    world.write("slow.yaml", "nodes:\n  - {name: slow, shell: 'echo $T; touch begun; "
                "until [ -e go ]; do sleep 0.02; done', env: {T: $secrets.PLAIN}}\n")
    for store in STORES:
        with subprocess.Popen([world.pawl, "run", "slow.yaml", "--store", store], cwd=world.folder,
                              env={**os.environ, **ENV}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
            world.wait_for("begun")
            base = store.split(":")[1]
            paths = [path for path in world.folder.rglob("*")
                     if str(path.relative_to(world.folder)).startswith(base)]
            world.same(any(stat.S_ISSOCK(path.stat().st_mode) for path in paths), True, "there is a socket")
            for path in paths:
                world.same(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, f"rights of others to {path}")
            world.write("go", "")
            world.same(first.wait(TIMEOUT), DONE, "the exit code")
        (world.folder / "go").unlink()
        (world.folder / "begun").unlink()


def found_commands_are_masked(world):
    """the output of a command that outlived its process is hidden by the one that finds it"""
    for store in STORES:
        world.write("slow.yaml", """
nodes:
  - name: slow
    shell: 'echo "before $T"; touch begun; until [ -e go ]; do sleep 0.02; done; echo "after $T"; exit 3'
    env: {T: $secrets.PLAIN}
""")
        environ = {**os.environ, **ENV}
        with subprocess.Popen([world.pawl, "run", "slow.yaml", "--thread", "t", "--store", store], cwd=world.folder,
                              env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
            world.wait_for("begun")
            first.send_signal(signal.SIGKILL)
        search(world)  # also what the command has printed so far, in the files of its place
        world.write("go", "")
        ran = world("resume", "t", "--store", store, "--stream", "events", env=ENV).gives(FAILED)
        ran.says("before ***", "after ***")
        look_everywhere(world, "t", store, ran.out, ran.err)
        (world.folder / "go").unlink()
        (world.folder / "begun").unlink()


CASES = [
    values_are_nowhere, exports_and_debuggers, errors_have_none, cut_texts_have_no_part_of_one, requests_carry_secrets,
    checks_carry_secrets, pipelines_have_them, models_get_their_key, tasks_in_a_debugger, injected_nodes,
    sources_in_order, missing_ones, never_inherited, forms_and_parts, the_secret_command,
    refused_ones_leave_nothing, typed_in, keys_are_guarded,
    is_closed_to_others, a_resume_needs_them_again, work_under_way_is_kept, found_commands_are_masked,
]

if __name__ == "__main__":
    sys.exit(run_all(CASES, sys.argv[1]))
