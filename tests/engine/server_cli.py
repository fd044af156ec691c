#!/usr/bin/env python3
"""Every command against a server: the same answers as here, whatever becomes of the connection. Prints TAP.

    tests/engine/server_cli.py PAWL [WORD...]

The server is a process of its own with a store of its own; its clients run in another folder.
"""

import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from playbook import choose  # noqa: E402
from world import (DONE, FAILED, PATIENCE, STORE, USAGE, WAITING, Broken, cases_of, run_all)  # noqa: E402

FLOW = """
name: flow
nodes:
  - {name: one, shell: 'echo hello', output: a}
  - {name: two, jq: '{n: 2}'}
  - {name: ask, approval: {prompt: Go on?, options: [yes, no]}, output: said}
  - {name: three, jq: '{n: 3}'}
"""
SLOW = """
name: slow
nodes:
  - {name: first, shell: 'echo begun; touch began; until test -e go; do sleep 0.05; done; echo over'}
  - {name: then, jq: '{n: 1}'}
"""
STEPS = """break two
continue
print .a.stdout
set .n = 5
step
variables
history
continue
answer yes
"""
TIMES = ("at", "created", "updated", "took", "bytes")


class Server:
    """`pawl serve` in a folder of its own; it can be killed, and comes back at the same port."""

    def __init__(self, world, *words, env=None):
        self.world, self.words, self.env = world, words, env
        self.folder = world.folder / "server"
        self.folder.mkdir(exist_ok=True)
        self.port, self.process = 0, None
        self.close_world, world.close = world.close, self.close
        self.start()

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        self.close_world()

    def start(self):
        environ = {k: v for k, v in os.environ.items() if not k.startswith("PAWL_")}
        self.process = subprocess.Popen(
            [self.world.pawl, "serve", "--listen", f"127.0.0.1:{self.port}", "--json", *self.words],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            env={**environ, **(self.env or {})})
        line = self.process.stdout.readline()
        if not line:
            raise Broken("the server does not start")
        self.url = json.loads(line)["url"]
        self.port = int(self.url.rsplit(":", 1)[1])

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait(PATIENCE)

    def __call__(self, *words, env=None, stdin=None):
        environ = {"PAWL_SERVER": self.url, "HOME": str(self.world.folder), **(env or {})}
        return self.world(*words, env=environ, stdin=stdin)

    def popen(self, *words, **more):
        environ = {k: v for k, v in os.environ.items() if not k.startswith("PAWL_")}
        environ.update(PAWL_SERVER=self.url, HOME=str(self.world.folder))
        return subprocess.Popen([self.world.pawl, *words], cwd=self.world.folder, env=environ,
                                stdin=more.get("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def go(self):
        (self.folder / "go").touch()

    def began(self):
        self.world.until((self.folder / "began").exists, "the first node has begun")


def plain(value):
    """Without what differs from one time to the next."""
    if isinstance(value, dict):
        return {k: "*" if k in TIMES else plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else value


def ended(process):
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def test_answers_are_the_same_as_here(world):
    server = Server(world)
    world.write("w.yaml", FLOW)
    commands = [
        (WAITING, "run", "w.yaml", "--thread", "t", "--json"), (DONE, "status", "t", "--json"),
        (DONE, "status", "--json"), (DONE, "runs", "--json"),
        (DONE, "runs", "--search", "T", "--status", "interrupted", "--since", "1h", "--json"),
        (DONE, "resume", "t", "--decision", "yes", "--json"), (DONE, "history", "t", "--json", "--values"),
        (DONE, "history", "t", "-v", "--json"), (DONE, "show", "t"), (DONE, "show", "t@2", "--json"),
        (DONE, "logs", "t", "--json"), (DONE, "logs", "t", "one"), (DONE, "logs", "t", "-f"),
        (DONE, "fork", "t@4", "--thread", "f", "--json"), (DONE, "update", "f", "--set", "n=9", "--json"),
        (DONE, "diff", "t", "f", "--json"), (FAILED, "diff", "--runs", "t", "f", "--json"),
        (DONE, "cancel", "f", "--json"), (USAGE, "cancel", "t", "--json"),
        (USAGE, "resume", "t", "--json"), (USAGE, "status", "nope", "--json"),
        (USAGE, "run", "w.yaml", "--thread", "t", "--json"),
        (WAITING, "run", "w.yaml", "--thread", "r", "--replay", "t", "--live-from", "ask", "--json"),
        (WAITING, "run", "w.yaml", "--thread", "s", "--stream", "updates"),
        (WAITING, "run", "w.yaml", "--thread", "v", "--stream", "values"),
        (WAITING, "run", "w.yaml", "--thread", "b", "--break", "two", "--json"),
        (DONE, "check", "w.yaml", "--json"), (DONE, "check", "w.yaml"),
        (DONE, "graph", "w.yaml"), (DONE, "graph", "--run", "t"), (DONE, "graph", "w.yaml", "--format", "mermaid"),
        (DONE, "kinds", "--json"), (DONE, "kinds", "jq"), (DONE, "schema", "tasks"),
        (DONE, "store", "check", "--json"), (DONE, "store", "info", "--json"),
        (DONE, "prune", "--keep-last", "2", "--json"), (DONE, "secret", "list", "--json"),
        (DONE, "token", "list", "--json"),
    ]
    for code, *words in commands:
        there, here = server(*words).gives(code), world(*words).gives(code)
        if "--json" in words or "--stream" in words:
            try:
                got, want = [plain(x) for x in (there.json, here.json)]
            except Broken:
                got, want = there.out, here.out
            if "--stream" in words:
                got, want = ([plain(x) for x in a.lines] for a in (there, here))
        else:
            got, want = there.out, here.out
        text = [json.dumps(x, sort_keys=True).replace(str(server.folder) + "/", "") for x in (got, want)]
        if words[0] == "show":
            continue  # the time of the answer is in the state
        if text[0] != text[1]:
            raise Broken(f"{' '.join(words)}\n{text[0]}\n{text[1]}\n{there.err}{here.err}")


def test_a_debug_session_says_the_same(world):
    server = Server(world)
    world.write("w.yaml", FLOW)
    world.write("steps.txt", STEPS)
    words = ("debug", "w.yaml", "--thread", "d", "-x", "steps.txt")
    there, here = server(*words).gives(DONE), world(*words).gives(DONE)
    times = [[line for line in a.out.splitlines() if "success" not in line] for a in (there, here)]
    world.same(times[0], times[1], "what the prompt says")
    server("debug", "w.yaml", "--thread", "e", "--break", "two", "--no-pause", "-x", "-",
           stdin="print .a.stdout\nquit\n").gives(WAITING).says("hello")
    answer = server("debug", "e", "--json", "-x", "-", stdin="print .a.stdout\ncontinue\nanswer yes\n").gives(DONE)
    answers = [x["answer"] for x in answer.lines if "answer" in x]
    world.same(answers, ["evaluate", "continue", "answer"], "the answers")
    server("debug", "w.yaml", "--thread", "q", "-x", "-", stdin="quit\n").gives(WAITING).says("pawl debug q")
    for _ in range(2):  # of a run that has ended
        server("debug", "d", "-x", "-", stdin="print .a.stdout\nquit\n").gives(DONE).says("hello")
    if "--store" in server("debug", "q", "-x", "-", stdin="quit\n").err:
        raise Broken("a way out names a store")


def test_the_way_out_names_the_server_when_it_was_an_option(world):
    server = Server(world)
    world.write("w.yaml", FLOW)
    home = {"HOME": str(world.folder)}
    answer = world("run", "w.yaml", "--thread", "t", "--server", server.url, env=home).gives(WAITING)
    answer.says(f"pawl resume t --server {server.url} --decision yes")
    world("status", "x", "--server", server.url, env=home).gives(USAGE).says(f"`pawl runs --server {server.url}`")
    if "--server" in server("status", "t").gives(DONE).out:
        raise Broken("--server is named although PAWL_SERVER says it")
    if (world.folder / ".pawl").exists():
        raise Broken("a store was made here")


def test_what_only_makes_sense_here_says_so(world):
    server = Server(world)
    for words in (("store", "compact"), ("store", "backup", "x.db"), ("secret", "set", "X"),
                  ("secret", "remove", "X"), ("kinds", "--kinds", ".")):
        server(*words).gives(USAGE).says("on this machine alone")
    world.write("w.yaml", FLOW)
    server("run", "w.yaml", "--otlp", "http://127.0.0.1:4318").gives(USAGE).says("--otlp has no place")
    server("run", "w.yaml", "--thread", "t", env={"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}).gives(WAITING)
    world("serve", "--server", server.url).gives(USAGE).says("no server for it to ask")
    world("eval", "--server", server.url, ".").gives(USAGE).says("no server for it to ask")
    world("runs", "--server", server.url, "--store", "file:x").gives(USAGE).says("do not go together")


def test_what_runs_goes_on_when_its_command_is_interrupted(world):
    server = Server(world)
    world.write("s.yaml", SLOW)
    run = server.popen("run", "s.yaml", "--thread", "t")
    server.began()
    world.until(lambda: server("status", "t", "--json").json["status"] == "running", "it runs")
    time.sleep(0.5)
    run.send_signal(signal.SIGINT)
    code, _, err = ended(run)
    world.same(code, WAITING, "the exit code")
    for part in ("The server goes on with t", "pawl logs t -f", "pawl cancel t"):
        if part not in err:
            raise Broken(f"it does not say {part}: {err}")
    world.same(server("status", "t", "--json").json["status"], "running", "the run")
    logs = server.popen("logs", "t", "-f")
    server.go()
    code, out, err = ended(logs)
    world.same((code, out), (DONE, "first | begun\nfirst | over\n"), f"what logs -f says ({err})")
    world.same(server("status", "t", "--json").json["status"], "completed", "the run")


def test_a_server_that_is_killed_and_comes_back_is_followed(world):
    server = Server(world)
    world.write("s.yaml", SLOW)
    run = server.popen("run", "s.yaml", "--thread", "t", "--stream", "updates")
    logs = None
    server.began()
    logs = server.popen("logs", "t", "-f")
    time.sleep(0.3)
    server.kill()
    time.sleep(0.5)
    server.start()
    server.go()
    code, out, err = ended(run)
    world.same(code, DONE, f"the exit code of run: {err}{out}")
    steps = [json.loads(line) for line in out.splitlines()]
    names = [s.get("node") for s in steps if s.get("node")]
    if names.count("then") != 1 or names.count("first") != 1:
        raise Broken(f"not each step once: {out}")
    code, out, err = ended(logs)
    world.same(code, DONE, f"the exit code of logs: {err}")


def test_a_debug_session_outlives_its_server(world):
    server = Server(world)
    world.write("w.yaml", FLOW)
    prompt = server.popen("debug", "w.yaml", "--thread", "t", "--json", stdin=subprocess.PIPE)
    lines = []

    def until(holds, what):
        while line := prompt.stdout.readline():
            lines.append(json.loads(line))
            if holds(lines[-1]):
                return
        raise Broken(f"{what} never came: {lines} {prompt.stderr.read()}")

    def say(text):
        prompt.stdin.write(text + "\n")
        prompt.stdin.flush()

    watchdog = threading.Timer(PATIENCE, prompt.kill)
    watchdog.start()
    until(lambda e: e.get("event") == "stopped", "the first stop")
    say("break two")
    until(lambda e: e.get("answer") == "breakpoint_set", "the breakpoint")
    server.kill()
    time.sleep(0.3)
    server.start()
    until(lambda e: e.get("event") == "paused" and e.get("reattached"), "the session")
    say("continue")
    until(lambda e: e.get("event") == "paused" and e["node"] == "two", "the breakpoint's pause")
    say("quit")
    prompt.stdin.close()
    world.same(prompt.wait(PATIENCE), WAITING, "the exit code")
    watchdog.cancel()


def test_tokens_are_asked_for_kept_and_forgotten(world):
    (world.folder / "server").mkdir()
    made = subprocess.run([world.pawl, "token", "make", "me", "--scope", "admin"], text=True,
                          cwd=world.folder / "server", capture_output=True, check=True)
    token = made.stdout.strip()
    server = Server(world, "--auth")
    server("runs").gives(USAGE).says("asks for a token", f"`pawl login {server.url}`")
    server("runs", env={"PAWL_TOKEN": "pawl_wrong"}).gives(USAGE).says("does not accept the token")
    server("runs", env={"PAWL_TOKEN": token}).gives(DONE)
    server("login", server.url, stdin="pawl_wrong\n").gives(USAGE).says("does not accept the token")
    server("login", server.url, stdin="\n").gives(USAGE).says("one word")
    kept = world.folder / ".config/pawl/servers"
    if kept.exists():
        raise Broken("a wrong token was kept")
    server("login", server.url, stdin=token + "\n").gives(DONE).says("is kept in")
    world.same(oct(kept.stat().st_mode & 0o777), "0o600", "the mode of the file")
    server("runs").gives(DONE)
    world("runs", "--server", server.url.upper().replace("HTTP", "http") + "/",
          env={"HOME": str(world.folder)}).gives(DONE)
    world.write("w.yaml", FLOW)
    server("run", "w.yaml", "--thread", "t").gives(WAITING)
    server("runs", env={"PAWL_TOKEN": "pawl_wrong"}).gives(USAGE)
    server("login", "--remove", server.url).gives(DONE)
    server("login", "--remove", server.url).gives(USAGE).says("No token is kept")
    server("runs").gives(USAGE).says("asks for a token")
    world("runs", "--server", "http://192.0.2.1:7295", env={"PAWL_TOKEN": token}).gives(USAGE).says(
        "The token is not sent", "plain http", "--plain")
    open_server = Server(world)
    world("login", open_server.url, env={"HOME": str(world.folder)}).gives(DONE).says("lets everybody in")


class Other(http.server.BaseHTTPRequestHandler):
    """Something else that speaks HTTP."""

    seen = []

    def do_GET(self):  # pylint: disable=invalid-name
        Other.seen.append((self.path, self.headers.get("Authorization")))
        moves = self.path.startswith("/moved")
        self.send_response(302 if moves else 200)
        if moves:
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html>hello</html>")

    do_POST = do_GET

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def test_what_is_no_server_of_ours_is_said_to_be_none(world):
    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    home, url = {"HOME": str(world.folder), "PAWL_TOKEN": "pawl_x"}, f"http://127.0.0.1:{web.server_port}"
    world("runs", "--server", url, env=home).gives(STORE).says("is no Pawl server")
    world("runs", "--server", url + "/moved", env=home).gives(STORE).says("Name that address")
    if any(path == "/elsewhere" for path, _ in Other.seen):
        raise Broken("a redirect was followed with a token")
    world.write("w.yaml", FLOW)
    world("run", "w.yaml", "--server", url, env=home).gives(STORE).says("is no Pawl server")
    # a proxy is not told the token of a server on this machine
    world("runs", "--server", url, env={**home, "http_proxy": "http://127.0.0.1:1"}).gives(STORE).says(
        "is no Pawl server")
    web.shutdown()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
        world("runs", "--server", nobody, env=home).gives(STORE).says("Cannot connect")
        world("run", "w.yaml", "--server", nobody, env=home).gives(STORE).says("Cannot connect")
    for bad in ("localhost:7295", "ftp://x", "http://", "http://me:secret@x", "http://x?y"):
        answer = world("runs", "--server", bad, env=home).gives(USAGE)
        if "secret" in answer.err:
            raise Broken(f"it shows a password: {answer}")


def test_certificates_are_checked(world):
    if not shutil.which("openssl"):
        return
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem",
                    "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1"],
                   cwd=world.folder, check=True, capture_output=True)
    server = Server(world, "--tls-cert", str(world.folder / "cert.pem"), "--tls-key",
                    str(world.folder / "key.pem"))
    server("runs").gives(STORE).says("The certificate of", "--ca")
    world.write("w.yaml", FLOW)
    server("run", "w.yaml", "--thread", "t", "--ca", "cert.pem").gives(WAITING)
    server("resume", "t", "--decision", "yes", "--ca", "cert.pem", "--json").gives(DONE)
    server("debug", "t", "--ca", "cert.pem", "-x", "-", stdin="print .n\nquit\n").says("3")
    server("runs", "--ca", "nowhere.pem").gives(STORE)


if __name__ == "__main__":
    sys.exit(run_all(choose(cases_of(sys.modules["__main__"], "test_"), sys.argv[2:]), sys.argv[1]))
