#!/usr/bin/env python3
"""Tests that a test calls and that are read when their task begins: from a URL, named by a query, or written by a task
before. Row X2 of the table of what tests mean. Prints TAP.

    tests/engine/task_files.py PAWL [WORD...]
"""

import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from debugger import Debugger, debug_tasks  # noqa: E402
from playbook import (FAILURE, SUCCESS, check, choose, concurrent, external, fails, hangs, known,
                      matrix, options, play, ran, result, says, seen, sees, sets, shell,
                      task, waits_for, works, write_test)  # noqa: E402
from world import DONE, FAILED, TIMEOUT, Broken, cases_of, paced, run_all  # noqa: E402


class Site:
    """A server on loopback: pages are texts by their path, or (status, headers, text), or functions that give one."""

    def __init__(self, tls=None, **pages):
        self.pages, self.asked, self.released = {}, [], threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.asked.append(self.path)
                page = site.pages.get(self.path, (404, {}, "there is no such page\n"))
                page = page() if callable(page) else page
                status, headers, text = page if isinstance(page, tuple) else (200, {}, page)
                body = text.encode() if isinstance(text, str) else text
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # whoever asked is gone

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # who does not trust it hangs up
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls / "cert.pem", tls / "key.pem")
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        for path, page in pages.items():
            self.pages["/" + path] = page

    def put(self, path, *tasks, **fields):
        text = json.dumps({"name": "fetched", **fields, "tasks": list(tasks)}, indent=1)
        self.pages[path] = text.replace('"cleanup":', '"cleanupTasks":')

    def hold(self, path, *tasks):
        """One that answers when it is released."""
        self.put(path, *tasks)
        text = self.pages[path]

        def page():
            self.released.wait(TIMEOUT)
            return text
        self.pages[path] = page

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def by_query(query, **config):
    return task("run_external_tasks", config, configVars={"testFile": query}, id_="e")


def kill(process):
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=TIMEOUT)


# ---- files ----


def x2_by_a_query(world):
    """X2: testFile comes from configVars, relative to the file that names it"""
    write_test(world, [says("inner"), sees("taskBasePath", "s")], name="parts/one.yaml")
    answer = play(world, sets("which", "one"), by_query('| "parts/\\(.which).yaml"'))
    inner = known(answer, "e")["outputs"]["childScope"]
    world.same((ran(world), inner["tasks"]["s"]["outputs"]["v"]), (["inner"], "parts"))


def x2_a_query_comes_before_config(world):
    """X2: configVars' testFile comes before that of config; one that gives nothing leaves it"""
    write_test(world, [says("a")], name="a.yaml")
    write_test(world, [says("b")], name="b.yaml")
    play(world, by_query('| "b.yaml"', testFile="a.yaml"), by_query("| empty", testFile="a.yaml"),
         by_query('| "a.yaml"', testFile="a.yaml"))
    world.same(ran(world), ["b", "a", "a"])


def x2_a_query_per_value(world):
    """X2: a matrix runs a file for each of its values, at the same time"""
    for name in "abc":
        write_test(world, [shell(f"echo {name} >> ran; touch at-{name}; "
                                 + waits_for("at-a", "at-b", "at-c"))], name=f"{name}.yaml")
    play(world, matrix(by_query('| .v + ".yaml"'), ["a", "b", "c"], runConcurrent=True))
    world.same(sorted(ran(world)), ["a", "b", "c"])


def x2_written_by_a_task(world):
    """X2: a file that a task before writes is read when its task begins, and its own files with it"""
    write_test(world, [says("deep")], name="sub/deep.yaml")
    text = json.dumps({"tasks": [external("deep.yaml"), says("made")], "cleanupTasks": [says("clean")]})
    check(world, external("sub/made.yaml")).gives(DONE).says("warning", "sub/made.yaml")
    answer = play(world, shell(f"cat > sub/made.yaml <<'END'\n{text}\nEND"),
                  external("sub/made.yaml", id_="e", testConfig={"x": 5}), says("after"))
    world.same((ran(world), result(answer, "e"), known(answer, "e")["outputs"]["childScope"]["x"]),
               (["deep", "made", "clean", "after"], SUCCESS, 5))


def x2_what_is_read_is_as_it_was_then(world):
    """X2: each time it is read anew"""
    write = "echo '{\"tasks\": [{\"name\": \"run_shell\", \"config\": {\"command\": \"echo %d >> ran\"}}]}' > m.yaml"
    play(world, shell(write % 1), external("m.yaml"), shell(write % 2), external("m.yaml"),
         shell(write % 1), external("m.yaml"))
    world.same(ran(world), ["1", "2", "1"])


def x2_yaml_v2(world):
    """X2: of a file that is read later, too, yes and no are booleans, and the last of two keys counts"""
    world.write("src", "config: {a: yes, b: 1, b: 2}\ntasks:\n  - name: run_shell\n    id: s\n    config:\n"
                "      envVars: {A: a, B: b}\n      command: echo \"$A $B\" >> ran\n")
    for file in ("late.yaml", "there.yaml"):
        if file == "there.yaml":
            (world.folder / file).write_text(world.read("src"))
        play(world, shell(f"cp src {file}"), external(file))
    world.same(world.read("ran").split("\n")[:2], ["true 2", "true 2"])


def x2_errors_of_a_file(world):
    """X2: what is wrong with a file that is read later fails its task, with its place"""
    for text, words in (("tasks:\n  - {name: nonsense}\n", ("late.yaml:2:", "nonsense")),
                        ("tasks: [\n", ("late.yaml:",)),
                        ("nodes: [{name: a, jq: .}]\n", ("late.yaml", "graph dialect")),
                        ("hello\n", ("late.yaml",)),
                        ("tasks: []\n", ("late.yaml:1:",)),
                        ("", ("late.yaml",)),
                        ("kind: x\ntasks: [{name: sleep, config: {duration: 0}}]\n", ("late.yaml",))):
        world.write("src", text)
        answer = play(world, shell("cp src late.yaml"), external("late.yaml", id_="e"), code=FAILED)
        (world.folder / "late.yaml").unlink()
        for word in words:
            world.same(word in answer["error"]["message"], True, f"{word} in {answer['error']['message']}")
    world.same(result(answer, "e"), FAILURE)


def x2_files_that_are_no_files(world):
    """X2: a name that is no text, empty, a folder, a FIFO or nobody's fails the task with a sentence"""
    os.mkfifo(world.folder / "fifo")
    (world.folder / "folder").mkdir()
    for query, word in (("| 7", "7"), ('| ""', "path"), ('| "folder"', "regular"), ('| "fifo"', "regular"),
                        ('| "no.yaml"', "no.yaml"), ("| [1]", "text"), ('| "ftp://x/y"', "by http:// and https:// alone"), ('| "a\nb"', "control"),
                        ('| "/dev/stdin"', "regular"), ('| "/proc/self/mem"', "/proc/self/mem"),
                        ('| "' + "x" * 9000 + '"', "path")):
        answer = play(world, by_query(query), code=FAILED)
        message = answer["error"]["message"]
        world.same(word in message and message[-1] == ".", True, f"{word} in {message}")
    play(world, task("run_external_tasks", {}, configVars={"testFile": "| null"}), code=FAILED)
    check(world, external("ftp://x/y.yaml")).gives(FAILED).says("test.yaml:", "by http:// and https:// alone")


def x2_told_once(world):
    """X2: such a task begins once, for reports and for whoever listens"""
    write_test(world, [says("a", id_="in")], name="late.yaml")
    write_test(world, [by_query('| "late.yaml"')])
    answer = world("run", "test.yaml", "--stream", "debug").gives(DONE)
    begun = [line.get("node") for line in answer.lines if line.get("type") == "node"]
    world.same(begun, ["e", "in"])


def x2_root(world):
    """X2: with --root a file that is named while the test runs is inside, as any other"""
    write_test(world, [says("in")], name="in/inner.yaml")
    write_test(world, [says("out")], name="out/outer.yaml")
    write_test(world, [by_query("file")], name="in/test.yaml")
    for file, code in (("inner.yaml", DONE), ("../out/outer.yaml", FAILED),
                       (str(world.folder / "out/outer.yaml"), FAILED)):
        answer = world("run", "in/test.yaml", "--root", "in", "--json", "--input", json.dumps({"file": file}))
        answer.gives(code)
        if code == FAILED:
            world.same("outside" in answer.json["error"]["message"], True, answer.err)
    world.same(ran(world), ["in"])


def x2_itself(world):
    """X2: a test that calls itself while it runs ends with a sentence"""
    answer = play(world, by_query('| "test.yaml"'), code=FAILED)
    world.same("nested more than" in answer["error"]["message"], True, answer["error"]["message"])


def x2_kinds_of_the_run(world):
    """X2: a file that is read later finds the kinds that the run has, and those beside it"""
    for folder, kind in ((".pawl/kinds", "one"), ("sub/.pawl/kinds", "two")):
        world.write(f"{folder}/{kind}.yaml", json.dumps({"kind": kind, "tasks": [says(kind)]}))
    os.chmod(world.folder / ".pawl", 0o700)
    text = json.dumps({"tasks": [task("one"), task("two")]})
    play(world, task("one"), shell(f"cat > sub/late.yaml <<'END'\n{text}\nEND"), external("sub/late.yaml"))
    world.same(ran(world), ["one", "one", "two"])


# ---- URLs ----


def x2_url(world):
    """X2: a URL is fetched; its config, configVars, tasks and cleanupTasks count"""
    with Site() as site:
        site.put("/t/a.yaml", sees("[.a, .b]", "s"), says("a"), config={"a": 1}, configVars={"b": "n + 1"},
                 cleanup=[says("clean")], timeout="1ms")
        check(world, external(site.url + "/t/a.yaml")).gives(DONE)
        world.same(site.asked, [], "what check asks for")
        answer = play(world, sets("n", 1), external(site.url + "/t/a.yaml", id_="e"), says("after"))
        inner = known(answer, "e")["outputs"]["childScope"]
        world.same((inner["tasks"]["s"]["outputs"]["v"], ran(world), site.asked),
                   ([1, 2], ["a", "clean", "after"], ["/t/a.yaml"]))


def x2_https(world):
    """X2: https://, where the certificate holds; the files that it names come the same way"""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", "key.pem", "-out", "cert.pem"], cwd=world.folder, check=True, capture_output=True)
    with Site(tls=world.folder) as site:
        site.put("/t/a.yaml", external("b.yaml"), says("a"),
                 task("check_http_json", {"url": site.url + "/t/b.yaml"}))
        site.put("/t/b.yaml", says("b"))
        write_test(world, [external(site.url + "/t/a.yaml")])
        answer = world("run", "test.yaml", "--json").gives(FAILED).json
        world.same((answer["error"]["kind"], "$SSL_CERT_FILE" in answer["error"]["message"]), ("tls", True),
                   answer["error"]["message"])
        world("run", "test.yaml", "-q", env={"SSL_CERT_FILE": str(world.folder / "cert.pem")}).gives(DONE)
        world.same((ran(world), site.asked), (["b", "a"], ["/t/a.yaml", "/t/b.yaml", "/t/b.yaml"]))


def x2_url_by_a_query(world):
    """X2: the URL comes from a query"""
    with Site() as site:
        site.put("/a.yaml", says("a"))
        play(world, by_query(f'| "{site.url}/" + "a.yaml"'))
        world.same(ran(world), ["a"])


def x2_relative_to_a_url(world):
    """X2: a file that a fetched one names is relative to its URL, at every depth"""
    with Site() as site:
        site.put("/t/a.yaml", external("sub/b.yaml"), external("../c.yaml?q=1"), external("/d.yaml"),
                 sees("[.testBasePath, .taskBasePath]", "s"))
        site.put("/t/sub/b.yaml", external("./b2.yaml"), says("b"))
        for path, word in (("/t/sub/b2.yaml", "b2"), ("/c.yaml?q=1", "c"), ("/d.yaml", "d")):
            site.put(path, says(word))
        answer = play(world, external(site.url + "/t/a.yaml?x=1", id_="e"), code=FAILED)
        world.same("404" in answer["error"]["message"], True, answer["error"]["message"])
        site.pages["/t/a.yaml?x=1"] = site.pages["/t/a.yaml"]
        answer = play(world, external(site.url + "/t/a.yaml?x=1", id_="e"))
        inner = known(answer, "e")["outputs"]["childScope"]["tasks"]
        world.same((ran(world), inner["s"]["outputs"]["v"]), (["b2", "b", "c", "d"], [".", site.url + "/t"]))


def x2_statuses(world):
    """X2: another status than 200 fails the task, and names it; redirects are followed"""
    with Site() as site:
        site.put("/a.yaml", says("a"))
        site.pages["/moved"] = (302, {"Location": "/a.yaml"}, "")
        site.pages["/round"] = (302, {"Location": "/round"}, "")
        site.pages["/away"] = (302, {"Location": "file:///etc/passwd"}, "")
        for status in (201, 204, 404, 500):
            site.pages[f"/{status}"] = (status, {}, "" if status == 204 else "tasks: []")
            answer = play(world, external(f"{site.url}/{status}", id_="e"), code=FAILED)
            world.same((answer["error"]["kind"], str(status) in answer["error"]["message"]), ("http", True))
        play(world, external(site.url + "/moved"))
        for path in ("/round", "/away"):
            play(world, external(site.url + path), code=FAILED)
        world.same(ran(world), ["a"])


def x2_too_large(world):
    """X2: what is larger than a file of a workflow may be is refused"""
    with Site(big=b"# " + b"x" * (17 << 20)) as site:
        answer = play(world, external(site.url + "/big"), code=FAILED)
        world.same(answer["error"]["kind"], "limit", answer["error"]["message"])


def x2_errors_of_a_url(world):
    """X2: what is wrong with what a URL gives is said with the place in it"""
    with Site(a="tasks:\n  - {name: nonsense}\n", b="<html>no test</html>", c=b"\xff\xfe\x00tasks:\n") as site:
        for path, word in (("a", "/a:2:"), ("b", "/b"), ("c", "/c")):
            answer = play(world, external(f"{site.url}/{path}"), code=FAILED)
            world.same(f"{site.url}{word}" in answer["error"]["message"], True, answer["error"]["message"])


def x2_copy(world):
    """X2: what was fetched once is there when the server is not; other runs have it, too"""
    with Site() as site:
        site.put("/a.yaml", external("b.yaml"), says("a"))
        site.put("/b.yaml", says("b"))
        url = site.url + "/a.yaml"
        play(world, external(url))
    answer = world("run", "test.yaml").gives(DONE).says("copy")
    world.same(ran(world), ["b", "a"] * 2, f"with the copy ({answer})")
    play(world, external(url.replace("a.yaml", "c.yaml")), code=FAILED)
    modes = {oct(path.stat().st_mode & 0o777) for path in (world.folder / ".pawl").rglob("fetched/*")}
    world.same(modes, {"0o600"}, "who can read the copies")


def x2_copy_of_an_answer_only(world):
    """X2: a server that answers something else is no reason to use a copy; a new answer replaces it"""
    with Site() as site:
        site.put("/a.yaml", says("one"))
        play(world, external(site.url + "/a.yaml"))
        site.pages["/a.yaml"] = (503, {}, "later")
        play(world, external(site.url + "/a.yaml"), code=FAILED)
        site.put("/a.yaml", says("two"))
        play(world, external(site.url + "/a.yaml"))
    world("run", "test.yaml", "-q").gives(DONE)
    world.same(ran(world), ["one", "two", "two"])


def x2_planted_copies(world):
    """X2: a copy that is a link, or that says it is of another URL, is none"""
    with Site() as site:
        site.put("/a.yaml", says("a"))
        play(world, external(site.url + "/a.yaml"))
    copy = next((world.folder / ".pawl").rglob("fetched/*"))
    text = copy.read_text()
    copy.write_text(text.replace("/a.yaml\n", "/b.yaml\n", 1))
    world("run", "test.yaml", "-q").gives(FAILED).says("no copy")
    (world.folder / "elsewhere").write_text(text)
    copy.unlink()
    copy.symlink_to(world.folder / "elsewhere")
    world("run", "test.yaml", "-q").gives(FAILED).says("no copy")
    world.same(ran(world), ["a"])


def x2_net(world):
    """X2: where a run may not reach the address, its task fails with a sentence, copy or not"""
    with Site() as site:
        site.put("/a.yaml", says("a"))
        play(world, external(site.url + "/a.yaml"))
        answer = world("run", "test.yaml", "--net", "public", "--json").gives(FAILED).json
        world.same(answer["error"]["kind"], "net", answer["error"]["message"])
        world.same("127.0.0.1" in answer["error"]["message"], True, answer["error"]["message"])
        world("run", "test.yaml", "--net", "127.0.0.1", "-q").gives(DONE)
        site.pages["/moved"] = (302, {"Location": site.url.replace("127.0.0.1", "127.0.0.2") + "/a.yaml"}, "")
        write_test(world, [external(site.url + "/moved")])
        world("run", "test.yaml", "--net", "127.0.0.1", "-q").gives(FAILED)
        write_test(world, [external(site.url + "/a.yaml")])
    world("run", "test.yaml", "--net", "127.0.0.1", "--json").gives(FAILED)
    world("run", "test.yaml", "-q").gives(DONE)
    world.same(ran(world), ["a"] * 3)


@paced
def x2_timeout(world):
    """X2: the timeout of the task counts for fetching, too, and what it fetches is let go"""
    with Site() as site:
        site.hold("/a.yaml", says("a"))
        answer = play(world, options(external(site.url + "/a.yaml", id_="e", timeout=world.ms(300)),
                                     ignoreFailure=True), says("b"))
        world.same((ran(world), known(answer, "e")["timeout"]), (["b"], True))


def x2_cancelled(world):
    """X2: a run that is cancelled while it fetches ends at once; one that is stopped asks again"""
    with Site() as site:
        site.hold("/a.yaml", says("a"))
        write_test(world, [external(site.url + "/a.yaml")], cleanup=[says("clean")])
        process = world.start("run", "test.yaml", "--thread", "t", "-q")
        world.until(lambda: site.asked, "it asks")
        world.cancel("t")
        process.communicate(timeout=TIMEOUT)
        world.same(ran(world), ["clean"])
        process = world.start("run", "test.yaml", "--thread", "s", "-q")
        world.until(lambda: len(site.asked) == 2, "it asks again")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=TIMEOUT)
        site.released.set()
        world("resume", "s", "-q").gives(DONE)
        world.same(ran(world), ["clean", "a", "clean"])


def x2_others_go_on(world):
    """X2: while one test is fetched, other tasks of the run go on"""
    with Site() as site:
        site.hold("/a.yaml", says("a"))
        write_test(world, [concurrent(external(site.url + "/a.yaml"), says("b"))])
        process = world.start("run", "test.yaml", "-q")
        world.wait_for("ran")
        world.same(ran(world), ["b"])
        site.released.set()
        process.communicate(timeout=TIMEOUT)
        world.same(ran(world), ["b", "a"])


# ---- what it is on record ----


def make_resumes(store):
    def case(world):
        with Site() as site:
            inner = [shell("echo in >> ran; touch at-inner; " + waits_for("go")), external("made.yaml"),
                     sees("a", "s")]
            site.put("/a.yaml", *inner, config={"a": 4}, cleanup=[says("clean")])
            site.put("/made.yaml", says("made"))
            write_test(world, [external(site.url + "/a.yaml", id_="e"), says("after")])
            process = world.start("run", "test.yaml", "--thread", "t", "-q", "--store", store)
            world.wait_for("at-inner")
            kill(process)
            site.put("/a.yaml", says("other"))
            world.write("go", "")
            answer = world("resume", "t", "--json", "--store", store).gives(DONE).json
            world.same(ran(world), ["in", "made", "clean", "after"])
            inside = known(answer, "e")["outputs"]["childScope"]["tasks"]
            world.same(inside["s"]["outputs"]["v"], 4)
            world.same(site.asked, ["/a.yaml", "/made.yaml"])
            world("store", "check", "--store", store).gives(DONE)
            history = world("history", "t", "--json", "--store", store).gives(DONE).json
            world.same(len(history) > 8, True)
    case.__doc__ = f"X2: {store}: a run goes on with what it has read after the URL has changed"
    return case


def x2_resumes_without_the_file(world):
    """X2: a run goes on in a file that is gone; a task of it that failed is tried again there"""
    write_test(world, [says("a"), shell("echo b >> ran; [ -e fixed ]")], name="sub/late.yaml")
    write_test(world, [by_query('| "sub/late.yaml"'), says("c")])
    world("run", "test.yaml", "--thread", "t", "-q").gives(FAILED)
    (world.folder / "sub/late.yaml").unlink()
    world.write("fixed", "")
    world("resume", "t", "-q").gives(FAILED).says("late.yaml")  # its task begins anew, as ever
    write_test(world, [says("a"), shell("echo b >> ran; [ -e fixed ]")], name="sub/late.yaml")
    world("resume", "t", "-q").gives(DONE)
    world.same(ran(world), ["a", "b", "a", "b", "c"])


def x2_forks_and_exports(world):
    """X2: a fork, and an import elsewhere, of a run inside such a file have the file with them"""
    write_test(world, [shell("echo in >> ran; touch at-in; " + waits_for("go")), says("in2")], name="late.yaml")
    write_test(world, [shell("true"), by_query('| "late.yaml"'), says("c")])
    process = world.start("run", "test.yaml", "--thread", "t", "-q")
    world.wait_for("at-in")
    kill(process)
    (world.folder / "late.yaml").unlink()
    world.write("go", "")
    world("fork", "t", "--thread", "f").gives(DONE)
    world("resume", "f", "-q").gives(DONE)
    world.same(ran(world), ["in", "in", "in2", "c"])
    world("store", "check").gives(DONE)


def x2_cancelled_inside(world):
    """X3: what is cancelled in a file that was read later does not clean up; the test around it does"""
    write_test(world, [shell("touch at; sleep 60")], name="late.yaml", cleanup=[says("no")])
    write_test(world, [by_query('| "late.yaml"')], cleanup=[says("yes")])
    for dead in (False, True):
        (world.folder / "at").unlink(missing_ok=True)
        thread = f"t-{dead}"
        process = world.start("run", "test.yaml", "--thread", thread, "-q")
        world.wait_for("at")
        if dead:
            kill(process)
        world.cancel(thread)
        if not dead:
            process.communicate(timeout=TIMEOUT)
    world.same(ran(world), ["yes", "yes"])


def x2_cleanup_of_a_kind_inside(world):
    """X2: a kind from outside in such a file cleans up, also when its process died while it did"""
    world.write(".pawl/kinds/k.yaml", json.dumps({"kind": "k", "tasks": [shell("touch at; sleep 60")],
                                                  "cleanupTasks": [shell("touch at-clean; " + waits_for("go")),
                                                                   says("clean")]}))
    os.chmod(world.folder / ".pawl", 0o700)
    write_test(world, [concurrent(task("k"), shell(waits_for("at")), successThreshold=1), says("b")],
               name="late.yaml")
    write_test(world, [by_query('| "late.yaml"'), says("c")])
    process = world.start("run", "test.yaml", "--thread", "t", "-q")
    world.wait_for("at-clean")
    kill(process)
    (world.folder / "late.yaml").unlink()
    world.write("go", "")
    world("resume", "t", "-q").gives(DONE)
    world.same(ran(world), ["clean", "b", "c"])


def x2_many(world):
    """X2: forty of them, one text: it is in the image once"""
    with Site() as site:
        site.put("/a.yaml", works(), description="x" * 20000)
        answer = play(world, matrix(external(site.url + "/a.yaml"), list(range(40)), runConcurrent=True, id_="m"))
        world.same((result(answer, "m"), len(site.asked)), (SUCCESS, 40))
    size = sum(path.stat().st_size for path in (world.folder / ".pawl").rglob("*") if path.is_file())
    world.same(size < 4 << 20, True, f"{size} bytes: less than 4 MB")


# ---- in the debugger ----


def x2_debugged(world):
    """X2: breakpoints in a file that is not there yet; stepping into it, back out of it"""
    write_test(world, [works(id_="one"), sets("v", 7, id_="two"), works(id_="three")], name="src.yaml")
    with debug_tasks(world, shell("cp src.yaml late.yaml", id_="copy"), external("late.yaml", id_="e"),
                     works(id_="end"), store="file:store") as d:
        d.set(task_id="two")
        stop = d.go("continue")
        world.same((stop.one["node"], d.call("frame")["file"]), ("two", "late.yaml"))
        d.call("set", path=".w", value=3)
        stop = d.go("step", kind="over")
        world.same((stop.one["node"], d.value(".v"), d.value(".w")), ("three", 7, 3))
        stop = d.go("step", kind="over")
        world.same(stop.one["node"], "end")
        world.same(d.value(".v"), None)


def x2_stepped_into(world):
    """X2: a file is stepped into, known or read by a query; inside nodes are injected, skipped and edited"""
    for number, made in enumerate((external("inner.yaml", id_="e"), by_query('| "inner.yaml"'))):
        write_test(world, [shell(f"echo {word} >> ran{number}", id_=word, title=f"The {word}")
                           for word in ("one", "two", "three")], name="inner.yaml")
        with debug_tasks(world, made, works(id_="end"), store="file:store") as d:
            world.same(d.first.one["node"], "e")
            stop = d.go("step", kind="into")
            world.same((stop.one["node"], Path(stop.one["file"]).name), ("one", "inner.yaml"))
            world.same([level["node"] for level in d.call("frame")["stack"]], ["one", "e"])
            d.call("inject", node=shell(f"echo before >> ran{number}", id_="extra"), where="before")
            d.call("inject", node=shell(f"echo after >> ran{number}", id_="more"), where="after")
            d.call("config_set", path=".config.command", value=f"echo edited >> ran{number}")
            for title in ("The two", "The three"):
                world.same(d.set(spec=title)["verified"], True)
            world.same(d.go("continue").one["node"], "two")
            world.same(d.go("skip").one["node"], "three")
            world.same(d.go("step", kind="out").one["node"], "end")
            world.same(d.go("continue").status, "completed")
        world.same(world.read(f"ran{number}").split(), ["before", "edited", "after", "three"])


def x2_title_of_a_later_file(world):
    """X2: a title is found in a file that is not there yet when the breakpoint is set"""
    write_test(world, [works(id_="one"), works(id_="two", title="The ${n}nd")], name="src.yaml")
    with debug_tasks(world, shell("cp src.yaml late.yaml"), external("late.yaml"), config={"n": 2}) as d:
        world.same(d.set(spec="The 2nd")["verified"], False)
        world.same(d.set(spec="The 3rd")["verified"], False)
        stop = d.go("continue")
        world.same((stop.one["node"], d.breakpoint(1)["type"]), ("two", "task_title"))
        world.same(d.go("continue").status, "completed")


def x2_debugged_later(world):
    """X2: another process sees the frames in such a file, and goes on"""
    write_test(world, [works(id_="one"), works(id_="two")], name="late.yaml")
    with debug_tasks(world, by_query('| "late.yaml"'), works(id_="end"), store="file:store") as d:
        d.set(task_id="two")
        world.same(d.go("continue").one["node"], "two")
        d.leave()
    (world.folder / "late.yaml").unlink()
    thread = world("runs", "--json", "--store", "file:store").json[0]["thread"]
    with Debugger(world, thread, store="file:store") as d:
        world.same(d.call("frame")["node"], "two")
        world.same(d.go("step", kind="over").one["node"], "end")


RECORDS = [make_resumes("sqlite:s.db"), make_resumes("file:s")]

if __name__ == "__main__":
    here = sys.modules["__main__"]
    sys.exit(run_all(choose(cases_of(here, "x2_") + RECORDS, sys.argv[2:]), sys.argv[1]))
